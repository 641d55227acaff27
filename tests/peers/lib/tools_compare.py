"""What two runs of a tool over the same workload must have in common."""
import re

TIMES = [(r"\b\d+:\d\d:\d\d\b", "TIME"), (r"\b\d+\.\d+\b", "N.N")]


def times(line):
    for pattern, text in TIMES:
        line = re.sub(pattern, text, line)
    return re.sub(r"\s+", " ", line).strip()


class Rows:
    """The lines that are about the workload: the same in both, times apart."""

    def __init__(self, pick, lines=None, says=None, blank=()):
        self.pick, self.lines, self.says, self.blank = pick, lines, says, blank

    def rows(self, text):
        rows = []
        for line in text:
            if not re.search(self.pick, line):
                continue
            for pattern in self.blank:
                line = re.sub(pattern, "~", line)
            rows.append(times(line))
        return sorted(rows)

    def check(self, a, b, work):
        a, b = self.rows(a), self.rows(b)
        if a != b:
            only_a = [r for r in a if r not in b]
            only_b = [r for r in b if r not in a]
            return f"{len(a)} and {len(b)} lines: '{(only_a or a or [''])[0]}' and " \
                   f"'{(only_b or b or [''])[0]}'"
        if self.lines is not None and len(a) != work.get(self.lines):
            return f"{len(a)} lines, and the workload counts {work.get(self.lines)} {self.lines}"
        if self.says and not any(self.says.format(**work) in row for row in a):
            return f"no line says '{self.says.format(**work)}'"
        return "" if a else "nothing of the workload"

    def tell(self, a, work):
        n = len(self.rows(a))
        if self.lines:
            return f"{n} lines, as the workload counts"
        return f"'{self.says.format(**work)}'" if self.says else f"{n} lines"


class Sum:
    """A column of numbers (of histograms: the counts), summed: in both about the same, for
    neither begins and ends exactly when the other does. Where only the workload counts,
    exactly what it counted, or nearly (of a disk: another may read for it, and it a
    directory). Of what others can add to, at least nearly that: a kernel that is a guest can
    leave out runs of all programs for some milliseconds, in both alike."""
    COUNTS = r"->\s*\d+\s*:\s*(\d+)"

    def __init__(self, exactly=None, nearly=None, least=None, column=COUNTS):
        self.exactly, self.nearly, self.least, self.column = exactly, nearly, least, column

    def sum(self, text):
        return sum(int(m.group(1)) for m in (re.search(self.column, line) for line in text) if m)

    def check(self, a, b, work):
        a, b = self.sum(a), self.sum(b)
        want = work.get(self.exactly or self.nearly or self.least, 0)
        good = a and abs(a - b) <= 5 + max(a, b) // 5 and min(a, b) >= want * 9 // 10
        if self.exactly:
            good = want and a == b == want
        elif self.nearly:
            good = abs(a - b) <= 2 and want * 9 // 10 <= a <= want * 11 // 10
        return "" if good else f"{a} and {b}" + (
            f", and the workload counts {want}" if want else "")

    def tell(self, a, work):
        n = self.sum(a)
        return f"{n}, as the workload counts" if self.exactly else f"about {n}"


class Same:
    """Of a tool that sums up the whole machine, or for which nothing happens here: what
    it is about, and its first column's or each line's form."""

    def __init__(self, pick=r"[A-Za-z]", form=True):
        self.pick, self.form = pick, form

    def forms(self, text):
        lines = [times(l) for l in text if re.search(self.pick, l)]
        return sorted({re.sub(r"\d+", "0", l) for l in lines})

    def check(self, a, b, work):
        a, b = self.forms(a), self.forms(b)
        return "" if a and a == b else f"'{(a or [''])[-1]}' and '{(b or [''])[-1]}'"

    def tell(self, a, work):
        return "the same form"


class Stacks:
    """Stacks of the workload: both have the functions that it spends its time in."""

    def __init__(self, *functions):
        self.functions = functions

    def check(self, a, b, work):
        for name in self.functions:
            for who, text in (("ours", a), ("libbpf's", b)):
                if not any(re.search(rf"\b{name}\b", line) for line in text):
                    return f"{who} has no '{name}'"
        return ""

    def tell(self, a, work):
        return "stacks with " + ", ".join(self.functions)
