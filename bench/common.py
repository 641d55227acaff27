# SPDX-License-Identifier: BSD-2-Clause
"""What the benchmarks share: the workload, paired runs, medians, the table."""
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SRC = os.environ.get("SRC", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PERF_BPF = os.environ.get("PERF_BPF", os.path.join(SRC, "build/perf-bpf"))


def find_perf():
    perf = shutil.which("perf")
    if not perf:
        sys.exit("perf is not installed: apt-get install linux-perf")
    return perf


class Bench:
    def __init__(self):
        self.dir = tempfile.TemporaryDirectory(prefix="perf-bpf-bench-")
        self.work = self.path("work")
        subprocess.run(["cc", "-O2", "-o", self.work, os.path.join(SRC, "bench/work.c")],
                       check=True)

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text)
        return self.path(name)

    def run(self, argv, stdout=subprocess.DEVNULL):
        """(seconds, CPU seconds of the process and what it waited for, stderr)."""
        with tempfile.TemporaryFile(mode="w+", errors="replace") as err:
            start = time.monotonic()
            proc = subprocess.Popen(argv, stdout=stdout, stderr=err, cwd=self.dir.name)
            _, status, usage = os.wait4(proc.pid, 0)
            seconds = time.monotonic() - start
            proc.returncode = os.waitstatus_to_exitcode(status)
            err.seek(0)
            text = err.read()
        if proc.returncode != 0:
            sys.exit(f"{' '.join(argv)} ended with {proc.returncode}:\n{text}")
        return seconds, usage.ru_utime + usage.ru_stime, text

    def work_result(self):
        """(seconds, CPU seconds) as the workload itself has them."""
        with open(self.path("work.out"), encoding="utf-8") as f:
            return tuple(float(x) for x in f.read().split())


def count_samples(path):
    """The samples in a file, as perf counts them."""
    out = subprocess.run([find_perf(), "report", "--stats", "-i", path], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return int(re.search(r"SAMPLE events:\s+(\d+)", out).group(1))


def median(values):
    return statistics.median(values)


def table(head, rows):
    widths = [max(len(str(r[i])) for r in [head] + rows) for i in range(len(head))]
    for row in [head] + rows:
        print("  ".join(str(c).ljust(w) if i == 0 else str(c).rjust(w)
                        for i, (c, w) in enumerate(zip(row, widths))))
