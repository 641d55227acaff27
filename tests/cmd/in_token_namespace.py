#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""in_token_namespace.py FOLDER COMMAND...: runs the command as root of a user namespace, with a BPF
file system mounted at FOLDER that delegates everything to it. Ends with 77 if the kernel cannot."""
import ctypes
import os
import socket
import sys

CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT = 429, 430, 431, 432  # the same on x86-64 and arm64
SET_STRING, CREATE = 1, 6
libc = ctypes.CDLL(None, use_errno=True)


def call(number, *args):
    result = libc.syscall(number, *args)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"system call {number}")
    return result


def inside(other, folder, command):
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "unshare")
    other.send(b"x")
    other.recv(1)
    context = call(FSOPEN, b"bpf", 0)
    socket.send_fds(other, [b"x"], [context])
    if not other.recv(1):
        os._exit(77)
    mount = call(FSMOUNT, context, 0, 0)
    call(MOVE_MOUNT, mount, b"", -100, folder.encode(), 4)  # MOVE_MOUNT_F_EMPTY_PATH
    os.execvp(command[0], command)


def main():
    here, there = socket.socketpair()
    pid = os.fork()
    if not pid:
        here.close()
        try:
            inside(there, sys.argv[1], sys.argv[2:])
        except OSError as error:
            print(error, file=sys.stderr)
        os._exit(77)
    there.close()
    try:
        here.recv(1)
        for name, text in ("setgroups", "deny"), ("uid_map", "0 0 1"), ("gid_map", "0 0 1"):
            with open(f"/proc/{pid}/{name}", "w") as file:
                file.write(text)
        here.send(b"x")
        context = socket.recv_fds(here, 1, 1)[1][0]
        for option in b"delegate_cmds", b"delegate_maps", b"delegate_progs", b"delegate_attachs":
            call(FSCONFIG, context, SET_STRING, option, b"any", 0)
        call(FSCONFIG, context, CREATE, None, None, 0)
        here.send(b"x")
    except (OSError, IndexError) as error:
        print(error, file=sys.stderr)
    here.close()
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


main()
