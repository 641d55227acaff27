#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""limited.py STATUS COMMAND...: runs COMMAND with at most 1 GB of data and writes its exit status to
the file STATUS. Fails, with the reason, if COMMAND needs more than 512 MB or does not end; with
$MOST_CPU_SECONDS also if it needs more of them. With the sanitizers nothing is limited or measured but
that it ends."""
import os
import resource
import subprocess
import sys

LIMIT, MOST_KB, SECONDS = 1 << 30, 512 << 10, 120


def limit():
    if "SANITIZED" not in os.environ:
        resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))


def main():
    try:
        status = subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL, timeout=SECONDS,
                                preexec_fn=limit, check=False).returncode
    except subprocess.TimeoutExpired:
        sys.exit("it does not end")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime
    if used.ru_maxrss > MOST_KB and "SANITIZED" not in os.environ:
        sys.exit(f"it needed {used.ru_maxrss >> 10} MB")
    if seconds > float(os.environ.get("MOST_CPU_SECONDS", "inf")) and "SANITIZED" not in os.environ:
        sys.exit(f"it needed {seconds:.1f} seconds of CPU time")
    with open(sys.argv[1], "w", encoding="ascii") as f:
        f.write(f"{status}\n")


main()
