"""Reads TAP: the outcome of each test of a program, and what was printed about it."""
import re

LINE = re.compile(r"^(ok|not ok)\b\s*\d*\s*(?:-\s*)?(.*?)(?:\s*#\s*(skip|todo)\S*\s*(.*))?$", re.I)
PLAN = re.compile(r"^1\.\.(\d+)(?:\s*#\s*skip\S*\s*(.*))?", re.I)

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


class Test:
    """One line of TAP. output is what stands between the line before and this one, and the
    comments that follow it: cmocka says after the line why a test failed, tap.sh before it."""

    def __init__(self, name, outcome, reason, output):
        self.name, self.outcome, self.reason, self.output = name, outcome, reason, output


class Report:
    """What a program printed. plan is None if it did not say how many tests it has; skipped is
    the reason of a program that skips all of them."""

    def __init__(self, text):
        self.tests, self.plan, self.skipped = [], None, None
        before, last = [], None
        for line in text.splitlines():
            plan = PLAN.match(line)
            m = LINE.match(line)
            if plan:
                self.plan = (self.plan or 0) + int(plan.group(1))
                if int(plan.group(1)) == 0:
                    self.skipped = plan.group(2) or "no reason given"
            elif m:
                last = self.read(m, before)
                self.tests.append(last)
                before = []
            else:
                before.append(line)
                if last and line.startswith("#"):
                    last.output.append(line)
        self.after = before  # what follows the last test

    @staticmethod
    def read(m, before):
        name, reason = m.group(2), m.group(4)
        if m.group(3) and m.group(3).lower() == "skip":
            if not name:  # cmocka: the name comes after SKIP, the reason is what was printed before
                name, reason = reason, before[-1].lstrip("# ") if before else ""
            return Test(name, SKIPPED, reason or "no reason given", before)
        return Test(name, PASSED if m.group(1) == "ok" else FAILED, None, before)

    def outcome(self, name):
        """Of the test with this name, or None if it did not run."""
        return next((test.outcome for test in self.tests if test.name == name), None)

    def complete(self):
        return self.plan is not None and len(self.tests) == self.plan
