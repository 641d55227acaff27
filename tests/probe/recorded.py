#!/usr/bin/env python3
"""Records the programs of generate.py by real uprobes, and compares.

    recorded.py PERF_BPF FIRST LAST ["COMPILER FLAGS"]...

For each seed and each compiler: the program is made, all its points that there
are become events of one "perf-bpf record", and every value in "script --json"
is compared with what the program itself printed. Prints what was wrong, and a
last line of sums; fails if anything was, or if a function that cannot be inlined
was not seen as often as the program called it.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT = ["gcc -O2 -gdwarf-5", "clang -O2 -gdwarf-4"]


class Sums:
    def __init__(self):
        self.compared = self.absent = self.passes = self.points = self.nowhere = 0
        self.programs = 0
        self.wrong = []


def run(argv, **kw):
    return subprocess.run(argv, capture_output=True, text=True, check=False, **kw)


def build(seed, how, where):
    mutate = ["--mutate-inlined"] if how.startswith("gcc") else []
    subprocess.run([sys.executable, os.path.join(HERE, "generate.py"), str(seed), where] + mutate,
                   check=True)
    for command in (f"{how} -g -w -c prog.c", "gcc -O1 -w -c truth.c",
                    f"{how} -g -w prog.o truth.o -o prog"):
        subprocess.run(command.split(), cwd=where, check=True)


def read_points(where):
    points = {}
    with open(os.path.join(where, "points"), encoding="ascii") as f:
        for line in f:
            number, kind, definition = line.rstrip("\n").split(" ", 2)
            points[int(number)] = (kind, definition)
    return points


def text_of(definition, number):
    return f"exec=./prog;force=yes;g:e{number}={definition}"


def there_are(perf_bpf, where, points, sums):
    """The points that can be found; a function that is nowhere out of line has no return."""
    found = []
    for number, (kind, definition) in points.items():
        r = run([perf_bpf, "probe", "-q", text_of(definition, number)], cwd=where)
        if r.returncode == 0:
            found.append(number)
        elif "core dumped" in r.stderr or r.returncode not in (1,):
            sums.wrong.append(f"{definition}: ended with {r.returncode}: {r.stderr.strip()}")
        else:
            sums.nowhere += 1
    return found


def told_by(stdout):
    told = {}
    for line in stdout.splitlines():
        number, ident, arg, value = line.split(" ", 3)
        told.setdefault((int(number), int(ident)), {})[int(arg)] = value
    return told


def same(value, told):
    """value: of the JSON; told: as generate.py says."""
    if told.startswith("s:"):
        if not isinstance(value, str):
            return False
        return value.encode("utf-8", "surrogateescape").hex() == told[2:]
    if told.startswith("b:"):
        if isinstance(value, list):
            return bytes(value).hex() == told[2:]
        if isinstance(value, str):  # an array of char is its text
            data = value.encode("utf-8", "surrogateescape")
            want = bytes.fromhex(told[2:])
            return want.split(b"\0")[0] == data
        if isinstance(value, (int, float)):
            size = len(told[2:]) // 2
            if isinstance(value, float) or size in (4, 8):
                pack = struct.pack("<f" if size == 4 else "<d", value).hex()
                if pack == told[2:]:
                    return True
            return isinstance(value, int) and value.to_bytes(size, "little").hex() == told[2:]
        return False
    if isinstance(value, str):
        value = int(value, 16)
    if not isinstance(value, int):
        return False
    return value & (1 << 64) - 1 == int(told, 16)


def compare(samples, told, points, source, sums, label):
    last_id = {}  # of a function: its entry's id
    hits = {}
    for sample in samples:
        m = re.fullmatch(r"g:e(\d+)", sample.get("event", ""))
        if not m:
            continue
        number = int(m.group(1))
        kind, definition = points[number]
        function = re.match(r"\w+", definition).group(0)
        fields = sample["fields"]
        if kind == "return":
            ident = last_id.get(function)
        else:
            ident = fields.get("a0")
        if kind == "entry":
            last_id[function] = ident
            hits[number] = hits.get(number, 0) + 1
        if ident is None:
            sums.absent += len(fields)
            continue
        want = told.get((number, ident))
        if want is None:
            sums.wrong.append(f"{label}: {definition}: a hit with id {ident}, which the program "
                              f"never had: {json.dumps(fields)}")
            continue
        sums.passes += 1
        for name, value in fields.items():
            arg = int(name[1:])
            if value is None:
                sums.absent += 1
            elif arg not in want:
                sums.wrong.append(f"{label}: {definition}: argument {arg} was never told")
            elif not same(value, want[arg]):
                sums.wrong.append(f"{label}: {definition}: {name} is {value}, and was {want[arg]}")
            else:
                sums.compared += 1
    out_of_line = set(re.findall(r"__attribute__\(\(noinline\)\) [^\n(]*\b\*?(f\d+)\(", source))
    calls = {}
    for number, _ in told:
        calls[number] = calls.get(number, 0) + 1
    for number, (kind, definition) in points.items():
        function = re.match(r"\w+", definition).group(0)
        if kind == "entry" and function in out_of_line and number in calls and \
                hits.get(number, 0) != calls[number]:
            sums.wrong.append(f"{label}: {definition}: {calls[number]} calls, "
                              f"{hits.get(number, 0)} seen")


def judge(perf_bpf, seed, how, sums):
    label = f"seed {seed}, {how}"
    with tempfile.TemporaryDirectory() as where:
        build(seed, how, where)
        with open(os.path.join(where, "prog.c"), encoding="ascii") as f:
            source = f.read()
        points = read_points(where)
        found = there_are(perf_bpf, where, points, sums)
        events = []
        for number in found:
            events += ["-e", "probe:" + text_of(points[number][1], number)]
        r = run([perf_bpf, "record", "-q", "-B", "-o", "data"] + events + ["./prog"], cwd=where)
        if r.returncode or "lost" in r.stderr:
            sums.wrong.append(f"{label}: record ended with {r.returncode}: {r.stderr.strip()}")
            return
        s = run([perf_bpf, "script", "--json", "-i", "data"], cwd=where)
        if s.returncode:
            sums.wrong.append(f"{label}: script ended with {s.returncode}: {s.stderr.strip()}")
            return
        samples = [json.loads(line) for line in s.stdout.splitlines()]
        sums.programs += 1
        sums.points += len(found)
        compare(samples, told_by(r.stdout), points, source, sums, label)


def main():
    perf_bpf = os.path.abspath(sys.argv[1])
    first, last = int(sys.argv[2]), int(sys.argv[3])
    sums = Sums()
    for seed in range(first, last + 1):
        for how in sys.argv[4:] or DEFAULT:
            judge(perf_bpf, seed, how, sums)
    for line in sums.wrong[:20]:
        print(line)
    print(f"{sums.programs} programs, {sums.points} points ({sums.nowhere} that are nowhere), "
          f"{sums.passes} hits: {sums.compared} values compared, {sums.absent} not to be read, "
          f"{len(sums.wrong)} wrong")
    return 1 if sums.wrong or not sums.compared else 0


if __name__ == "__main__":
    sys.exit(main())
