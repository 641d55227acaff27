#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""limited.py STATUS COMMAND...: runs COMMAND with at most 1 GB of data and writes its exit status to
the file STATUS. Fails, with the reason, if COMMAND needs more than 512 MB or does not end. With the
sanitizers memory is neither limited nor measured."""
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
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    if peak > MOST_KB and "SANITIZED" not in os.environ:
        sys.exit(f"it needed {peak >> 10} MB")
    with open(sys.argv[1], "w", encoding="ascii") as f:
        f.write(f"{status}\n")


main()
