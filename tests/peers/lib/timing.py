"""Opening and loading, timed with the libraries in turn, and their memory.

Each object is opened, and the programs of it that both libraries load are
loaded, by processes of each library in turn. What counts is the fastest of all
times, of the first ones of the processes also (everything is cold then), and
the largest peak of memory.
"""
import math
import subprocess

from lib.rows import WHOLE

ROUNDS = 3  # of processes, each of the two libraries in turn
TIMES = {"open": 7, "load": 2}  # in a process
ENOUGH = 100  # objects that a mean is held against its goal for


class Times:
    """Of one object by one library."""

    def __init__(self):
        self.first = self.fastest = math.inf
        self.peak = 0

    def add(self, line):
        first, fastest, peak = (int(word) for word in line.split())
        self.first = min(self.first, first)
        self.fastest = min(self.fastest, fastest)
        self.peak = max(self.peak, peak)


def pair(timers, what, path, programs=()):
    """[ours, libbpf's]; None: one of them cannot."""
    both = [Times(), Times()]
    for _ in range(ROUNDS):
        for timer, times in zip(timers, both):
            run = subprocess.run([timer, what, str(TIMES[what]), path, *programs],
                                 capture_output=True, text=True, timeout=600)
            if run.returncode:
                return None
            times.add(run.stdout)
    return both


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def loaded_by_both(ours, theirs):
    """{object: [program]} of what the clients printed."""
    found = {}
    for name, rows in theirs.items():
        programs = [program for program, row in rows.items()
                    if program != WHOLE and row.loaded and program in ours.get(name, {}) and ours[name][program].loaded]
        if programs:
            found[name] = programs
    return found


class Timing:
    """All objects by both, for one of "open" and "load"."""

    def __init__(self, name, goal):
        self.name, self.goal = name, goal
        self.rows = []  # (object, ours, libbpf's)

    def add(self, name, times):
        if times:
            self.rows.append((name, *times))

    def ratios(self, which):
        return [getattr(theirs, which) / getattr(ours, which) for _, ours, theirs in self.rows]

    @property
    def speed(self):
        return geometric_mean(self.ratios("fastest"))

    @property
    def memory(self):
        return 1 / geometric_mean(self.ratios("peak"))

    def table(self):
        if not self.rows:
            return [f"{self.name}: nothing to time"]
        ratios = self.ratios("fastest")
        slowest = sorted(zip(ratios, (name for name, _, _ in self.rows)))[:3]
        return [f"{self.name}: {self.speed:.2f} times as fast as libbpf (geometric mean of "
                f"{len(ratios)} objects, paired; {min(ratios):.2f} to {max(ratios):.2f}); the "
                f"first time in a process: {geometric_mean(self.ratios('first')):.2f} times",
                "  least: " + ", ".join(f"{name} {ratio:.2f}" for ratio, name in slowest),
                f"  peak memory: {self.memory:.2f} of libbpf's (geometric mean; at most "
                f"{1 / min(self.ratios('peak')):.2f})"]

    def checks(self):
        """[(whether it is good, name)]"""
        if len(self.rows) < ENOUGH:
            return []
        return [(self.speed >= self.goal, f"{self.name} is {self.goal} times as fast as libbpf"),
                (self.memory <= 1, f"{self.name} takes no more memory than libbpf")]


def time_all(objects, programs, timers):
    """[Timing]: objects are (name, path), programs those to be loaded of each."""
    opening, loading = Timing("opening", 2.0), Timing("opening and loading", 1.3)
    for name, path in objects:
        opening.add(name, pair(timers, "open", path))
        if name in programs:
            loading.add(name, pair(timers, "load", path, programs[name]))
    return [opening, loading]
