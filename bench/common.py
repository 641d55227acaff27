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
        self.dir = tempfile.TemporaryDirectory(prefix="bench-perf-bpf-")
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


def find_guest(suite):
    """The folder of a kernel for a guest, or None, with the reason printed."""
    fetched = subprocess.run([os.path.join(SRC, "tests/vm/fetch-kernel"), suite],
                             stdout=subprocess.PIPE, text=True)
    if fetched.returncode:
        print(f"no guest: {fetched.stdout.strip()}")
        return None
    return fetched.stdout.strip()


def run_in_guest(bench, kernel, script, files, seconds=900, icount=False):
    """(release, what the script wrote) of a QEMU guest that has perf-bpf and the files,
    {TARGET: SOURCE}, with the libraries they need; icount: its clock counts instructions."""
    run_tests = bench.write("run-tests", script)
    os.chmod(run_tests, 0o755)
    initramfs, out = bench.path("initramfs"), bench.path("guest")
    subprocess.run([os.path.join(SRC, "tests/vm/make-initramfs"), initramfs,
                    f"{PERF_BPF}=bin/perf-bpf", f"{run_tests}=run-tests",
                    *(f"{source}={target}" for target, source in files.items())], check=True)
    booted = subprocess.run([os.path.join(SRC, "tests/vm/boot"), kernel, initramfs, out,
                             str(seconds)],
                            env=os.environ | ({"GUEST_ICOUNT": "1"} if icount else {}))
    with open(out, encoding="utf-8", errors="replace") as f:
        text = f.read()
    release = re.search(r"guest: up (\S+)", text)
    if booted.returncode or not release:
        sys.exit(f"the guest failed:\n{text[-2000:]}")
    return release.group(1), text
