"""Judges a test that failed by running it again: a fault fails again, bad luck does not.

What failed is run again after everything else, alone on the machine, RUNS times, each time from
the start of its program with only that test. If it passes each time, it counts as passed and is
listed as unsteady. Some failures are certain whenever they are seen, so they are never run again:
crashes, findings of a sanitizer or fuzzer, and what a test leaves behind.
"""
import re

import tap

RUNS = 3
# More failures than that are a fault of the change, not luck: they are not run again.
MOST_FAILURES = 10

CERTAIN = re.compile(
    r"Segmentation fault|Bus error|Illegal instruction|Floating point exception|core dumped"
    r"|\bAborted\b|Test failed with exception|(Address|Leak|Memory|Thread|UndefinedBehavior)Sanitizer"
    r"|runtime error: |ended with (99|13[1-9]|-\d+|signal \d+)\b|left running: ")


# A shell's line about a crash of linux-perf, with which our output is compared.
OF_PERF = re.compile(r'(?:Aborted|Segmentation fault) +(?:\(core dumped\) +)?(?:"\$PERF"|perf) ')


def is_certain(output):
    """Whether these lines show what is never luck: a crash, but of perf, or a finding."""
    return any(CERTAIN.search(line) and not OF_PERF.search(line) for line in output)


class Failure:
    """A test that failed: the job whose output says so, its name, and what was printed about it.
    A failure without a test's name is about the whole program and is not run again."""

    def __init__(self, job, name, output, test=None):
        self.job, self.name, self.output, self.test = job, name, output, test

    def certain(self):
        return self.test is None or self.job.again is None or is_certain(self.output)

    def first_line(self):
        """What says most about it: the last comment that is not the time that the test took."""
        lines = [line.lstrip("# ") for line in self.output
                 if line.startswith("#") and not re.search(r": \d+ ms$", line)]
        return lines[-1] if lines else "no output"


def passed_again(failure, run):
    """run(job) runs one job alone and returns when it ended."""
    for _ in range(RUNS):
        job = failure.job.again(failure.test)
        run(job)
        report = tap.Report(job.text)
        if (report.outcome(failure.test) != tap.PASSED or job.left or job.files
                or is_certain(job.text.splitlines())):
            return False
    return True
