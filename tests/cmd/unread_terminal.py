#!/usr/bin/env python3
"""Runs a command that draws on a terminal, which nobody reads once it has drawn there.

    unread_terminal.py SIGNAL KEYS COMMAND...

The KEYS are pressed in turn until the terminal is full and the command waits for room in it. Then
SIGNAL is sent to it, by its name. The command is to end, with nothing of it left behind, and the
terminal's modes are to be as they were. Prints how it ended: "exit 0", "signal 9".
"""
import fcntl
import os
import pty
import select
import signal
import struct
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


def main():
    how, keys, command = sys.argv[1], [key.encode() for key in sys.argv[2]], sys.argv[3:]
    # Held open, so that the terminal does not end with the command.
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
    before = termios.tcgetattr(slave)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in range(3):
            os.dup2(slave, fd)
        os.environ["TERM"] = "xterm"
        os.execvp(command[0], command)
    # What is drawn first is read: so it takes keys.
    drawn = b""

    def draws():
        nonlocal drawn
        if select.select([master], [], [], 0.05)[0]:
            drawn += os.read(master, 65536)
        return b"\x1b[?1049h" in drawn and drawn.count(b"\x1b[K") >= 60
    soon("it draws", draws, pid)

    def waits_for_reader():
        if not select.select([], [slave], [], 0)[1] and waits(pid):
            return True
        os.write(master, keys[0])
        keys.append(keys.pop(0))
        return False
    soon("it waits for who reads", waits_for_reader, pid)
    os.kill(pid, signal.Signals[how])
    ended = []

    def has_ended():
        ended[:] = os.waitpid(pid, os.WNOHANG)
        return ended[0]
    soon("it ends", has_ended, pid)
    soon("nothing of it is left", lambda: not group(pid), pid)
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
