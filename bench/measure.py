# SPDX-License-Identifier: BSD-2-Clause
"""What a program takes whose output is kept, and whether two outputs are the same."""
import itertools
import os
import subprocess
import sys
import time


def measure(argv, out):
    """Elapsed seconds, CPU seconds and peak RSS in MiB. What is in out is overwritten."""
    with open(os.open(out, os.O_RDWR | os.O_CREAT, 0o600), "r+b", buffering=0) as to:
        start = time.monotonic()
        proc = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=to,
                                stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(proc.pid, 0)
        seconds = time.monotonic() - start
        proc.returncode = os.waitstatus_to_exitcode(status)
        to.truncate(to.tell())
    if proc.returncode:
        sys.exit(f"{' '.join(argv)} ended with {proc.returncode}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def lines(path):
    """Without the comments that perf alone has, and empty ones between them."""
    with open(path, "rb") as file:
        for line in file:
            if line.strip() not in (b"", b"#") and not line.startswith((b"# (", b"# To display")):
                yield line


def same(a, b):
    return all(x == y for x, y in itertools.zip_longest(lines(a), lines(b)))
