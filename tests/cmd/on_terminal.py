#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs a command on a terminal, prints what it prints there, and ends with its status.

    on_terminal.py COMMAND...
"""
import os
import pty
import sys


def main():
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[1], sys.argv[1:])
    out = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # EIO: the command has ended
            break
        if not part:
            break
        out += part
    sys.stdout.write(out.decode().replace("\r\n", "\n"))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


sys.exit(main())
