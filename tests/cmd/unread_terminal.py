#!/usr/bin/env python3
"""Runs a command that draws or prints on a terminal, which nobody reads.

    unread_terminal.py [--pipe] [--stderr FILE] SIGNAL KEYS COMMAND...

With KEYS the command draws: what it draws first is read, then the KEYS are pressed in turn until the
terminal is full and the command waits for room in it. Without ("") it prints until then. Then SIGNAL
is sent to it, by its name. The command is to end, with nothing of it left behind, not its BPF
programs either, and the terminal's modes are to be as they were. With --pipe, standard output is a
pipe. Prints how it ended: "exit 0", "signal 9".
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

POLL_OR_WRITE = ("7", "1", "271", "73", "64")  # of x86-64 and arm64; "271" and "73": ppoll(2)


def fail(message, pid):
    os.killpg(pid, signal.SIGKILL)
    print(f"# {message}")
    sys.exit(1)


def soon(what, condition, pid):
    """What would wait for a reader waits for ever, and what does not has ended within a second."""
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            fail(f"in vain: {what}", pid)
        time.sleep(0.02)


def group(pid):
    """Processes of the group that have not ended."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                state, _, pgrp = file.read().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(pgrp) == pid and state not in "ZX":
            found.append(int(name))
    return found


def programs_of(pid):
    """The ids of BPF programs that a process holds, itself or by links."""
    ids = set()
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{name}", encoding="utf-8") as file:
                ids.update(re.findall(r"^prog_id:\s*([0-9]+)$", file.read(), re.M))
        except OSError:
            continue
    return ids


def loaded(ids):
    """Those of them that the kernel still has."""
    if not ids:
        return ids
    command = [os.environ["PERF_BPF"], "prog", "list"]
    text = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return ids & set(re.findall(r"^([0-9]+):", text, re.M))


def fill(room):
    try:
        os.write(room, b"x")
    except BlockingIOError:
        pass


def main():
    args = sys.argv[1:]
    is_pipe = args[0] == "--pipe" and bool(args.pop(0))
    stderr = args[1] if args[0] == "--stderr" else None
    args = args[2:] if stderr else args
    how, keys, command = args[0], [key.encode() for key in args[1]], args[2:]
    # Held open, so that the terminal does not end with the command.
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
    before = termios.tcgetattr(slave)
    ends = os.pipe() if is_pipe else (master, slave)
    if is_pipe:
        fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, 4096)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in range(3):
            os.dup2(ends[1] if fd == 1 else slave, fd)
        if stderr:
            os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
        os.environ["TERM"] = "xterm"
        os.execvp(command[0], command)
    # What is drawn first is read: so it takes keys.
    drawn = b""

    def draws():
        nonlocal drawn
        if select.select([master], [], [], 0.05)[0]:
            drawn += os.read(master, 65536)
        return b"\x1b[?1049h" in drawn and drawn.count(b"\x1b[K") >= 60
    if keys:
        soon("it draws", draws, pid)

    room = os.open(os.ttyname(slave), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)

    def waits_for_reader():
        if not waits(pid):
            pass
        elif not select.select([], [ends[1]], [], 0)[1]:
            return True
        elif not is_pipe:
            fill(room)  # of a terminal one byte may be left, and the end of a line needs two
        if keys:
            os.write(master, keys[0])
            keys.append(keys.pop(0))
        return False
    soon("it waits for who reads", waits_for_reader, pid)
    programs = programs_of(pid)
    os.kill(pid, signal.Signals[how])
    ended = []

    def has_ended():
        ended[:] = os.waitpid(pid, os.WNOHANG)
        return ended[0]
    soon("it ends", has_ended, pid)
    soon("nothing of it is left", lambda: not group(pid), pid)
    soon("its programs are unloaded", lambda: not loaded(programs), pid)
    if termios.tcgetattr(slave) != before:
        fail("the terminal has other modes", pid)
    code = os.waitstatus_to_exitcode(ended[1])
    print(f"exit {code}" if code >= 0 else f"signal {-code}")


def waits(pid):
    """It sleeps in poll(2) or write(2), for the terminal; for keys it would in epoll_wait(2)."""
    with open(f"/proc/{pid}/syscall", encoding="utf-8") as file:
        words = file.read().split()
    return words and words[0] in POLL_OR_WRITE


main()
