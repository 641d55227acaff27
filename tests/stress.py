"""Runs scripts many times under conditions in which tests fail that depend on luck.

Each run has one of the conditions, in turn: as authors of tests would otherwise try by hand.
"""
import os
import random
import signal
import subprocess
import sys
import threading
import time

import rerun
import tap

RUNS = 20
RECORDERS = {"perf-bpf", "perf"}


def busy():
    return subprocess.Popen([sys.executable, "-c", "while True: pass"])


class Condition:
    """What is beside a run, or done to it, while it lasts."""
    name = "beside two busy loops"
    prefix = []  # in front of the command of the job

    def __init__(self):
        self.loops, self.over = [], threading.Event()

    def begin(self, job):
        self.loops = [busy(), busy()]

    def end(self):
        self.over.set()
        for loop in self.loops:
            loop.kill()
            loop.wait()


class OneCpu(Condition):
    name = "on one CPU"

    @property
    def prefix(self):
        return ["taskset", "-c", str(random.choice(sorted(os.sched_getaffinity(0))))]

    def begin(self, job):
        pass


class Idle(Condition):
    name = "as SCHED_IDLE beside two busy loops"
    prefix = ["chrt", "--idle", "0"]


class Repeated(Condition):
    """Something that is done again and again."""

    def begin(self, job):
        self.thread = threading.Thread(target=self.repeat, args=(job,))
        self.thread.start()

    def repeat(self, job):
        while not self.over.is_set():
            self.act(job)

    def end(self):
        super().end()
        self.thread.join()


class Stopped(Repeated):
    name = "with a recorder that is stopped at random"

    def act(self, job):
        self.over.wait(random.uniform(0.01, 0.3))
        for pid in processes(job, RECORDERS):
            try:
                os.kill(pid, signal.SIGSTOP)
                time.sleep(random.uniform(0.01, 0.2))
            except ProcessLookupError:
                continue
            finally:
                resume(pid)


class Cold(Repeated):
    name = "with dropped caches"

    def act(self, job):
        try:
            with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
                f.write("3")
        except OSError:
            pass  # without the right to it, this run has no special condition
        self.over.wait(0.5)


def resume(pid):
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        pass


def processes(job, names):
    """Those of the job whose command has one of the names, in random order."""
    found = []
    if not job.process:
        return found
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as f:
                if f.read().strip() in names and job.belongs(pid):
                    found.append(pid)
        except OSError:
            pass
    return random.sample(found, len(found))


CONDITIONS = [Condition, OneCpu, Idle, Stopped, Cold]


class Tally:
    """How often each test of a program passed, and where it failed."""

    def __init__(self, label):
        self.label, self.runs, self.failures = label, 0, {}

    def add(self, job, condition):
        self.runs += 1
        report = tap.Report(job.text)
        failed = {test.name: test.output for test in report.tests if test.outcome == tap.FAILED}
        if not failed and (job.status != 0 or len(report.tests) != report.plan or job.left or job.files):
            failed = {"the whole program": [f"# ended with {job.status}, left {job.left + job.files}",
                                            *job.text.splitlines()[-20:]]}
        for name, output in failed.items():
            self.failures.setdefault(name, []).append((condition, output))
        return failed

    def show(self):
        if not self.failures:
            print(f"{self.label}: each of {self.runs} runs passed")
        for name, found in self.failures.items():
            failure = rerun.Failure(None, name, found[0][1])
            print(f"{self.label}: {name}: failed {len(found)} of {self.runs} runs "
                  f"(first: {found[0][0]}: {failure.first_line()})")


def stress(jobs, run, runs=RUNS):
    """jobs are functions that make a job; run(job) runs one alone. Returns whether all passed."""
    tallies = []
    for make in jobs:
        tallies.append(Tally(make().label))
        for i in range(runs):
            condition, job = CONDITIONS[i % len(CONDITIONS)](), make()
            job.argv = [*condition.prefix, *job.argv]
            condition.begin(job)
            try:
                run(job)
            finally:
                condition.end()
            failed = tallies[-1].add(job, condition.name)
            print(f"{'FAIL' if failed else 'ok  '} {job.label}: run {i + 1} of {runs}, {condition.name} "
                  f"({job.seconds:.1f} s)", flush=True)
            for output in failed.values():
                print(*("    " + line for line in output), sep="\n", flush=True)
    for tally in tallies:
        tally.show()
    failed = sum(bool(tally.failures) for tally in tallies)
    print(f"{len(tallies) - failed} passed, {failed} failed")
    return not failed
