#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Recordings of perf here, of perf of Debian sid, and of perf-bpf, read by perf and by perf-bpf.

Each recording of recordings/recordings.txt is made by each of the three; on each, report and
script are run with each of the option sets of recordings/options.txt, by perf (of the version that
recorded; perf here reads those of perf-bpf) and by perf-bpf. A table tells how many are the same,
differ, and are not supported. recordings/expected.txt holds the differences that are known: who is
right, and why. The test fails on others.

A recording that recordings.txt says "some" or "few" of gets every fourth or every sixteenth set,
each one others. ALL=1 runs all sets on all: hours. RECORDINGS="flat group" and RECORDERS="perf sid ours" choose some;
DETAILS=FILE gets each run. FOLDER=PATH keeps the recordings, and uses those that it has.
"""
import collections
import concurrent.futures
import fnmatch
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
OURS = os.environ.get("PERF_BPF", os.path.join(TOP, "build", "perf-bpf"))
LIMIT = 15  # seconds for one run
PARTS = {"all": 1, "some": 4, "few": 16}
OUTCOMES = ["same", "differs", "known", "not supported", "perf refuses", "perf hangs"]

# Processes that fork, exec, allocate, fault pages in and open files, for about half a second.
WORK = """
for i in 1 2; do sh -c 'i=0; while [ $i -lt 15000 ]; do i=$((i+1)); done; exec ls / >/dev/null' & done
i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done
wait
"""


def lines_of(name):
    with open(os.path.join(HERE, "recordings", name), encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]


def recorders():
    """NAME -> (program, the program whose output is the model); absent ones have a reason."""
    found, absent = {"ours": (OURS, "perf")}, {}
    if shutil.which("perf"):
        found["perf"] = ("perf", "perf")
    else:
        return {}, {"perf": "linux-perf is not installed"}
    fetch = subprocess.run([os.path.join(TOP, "tests/vm/fetch-perf"), "sid"], text=True,
                           capture_output=True, check=False)
    if fetch.returncode == 0:
        found["sid"] = (fetch.stdout.strip(), fetch.stdout.strip())
    else:
        absent["sid"] = fetch.stdout.strip() or fetch.stderr.strip()
    wanted = os.environ.get("RECORDERS", "perf sid ours").split()
    return {name: found[name] for name in wanted if name in found}, absent


def record(program, options, path, work):
    words = shlex.split(options)
    to_pipe = "-o" in words
    command = [program, "record", "-q", *words, *([] if to_pipe else ["-o", path]), "--", "sh", work]
    with open(path if to_pipe else os.devnull, "wb") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, check=False, timeout=120)
    return None if done.returncode == 0 else done.stderr.decode(errors="replace").strip()


def run(program, command, options, path):
    words = [program, command, *(["--stdio"] if command == "report" else []), *shlex.split(options)]
    try:
        done = subprocess.run([*words, "-i", path], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=LIMIT, check=False, env={**os.environ, "PAGER": "cat"})
    except subprocess.TimeoutExpired:
        return None, "", ""
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def normal(recorder, command, text):
    """Without perf's tip, blank comments, blanks at the ends, and what perf takes from memory it
    never wrote: what is behind "[...]". Newer perf has wider columns, names the entries of
    indirect functions in a PLT, where perf 6.1 and perf-bpf print "@plt", and the types of attrs."""
    text = re.sub(r"\n# \((?:Tip|Cannot).*", "\n", text, flags=re.S)
    lines = [line.rstrip() for line in text.split("\n")]
    if command == "report":
        lines = [re.sub(r"\[\.\.\.\].*$", "[...]", line) for line in lines if line not in ("", "#")]
    if recorder == "sid":
        lines = [re.sub(r"[^\s(\[]*@plt", "@plt", " ".join(line.split())) for line in lines
                 if not re.match(r"^# [ .]*$", line)]
        lines = [re.sub(r"(\w) \(PERF_\w+\)", r"\1", line) for line in lines]
    return lines


def unordered(lines):
    """Newer perf marks kernel functions that it only met as callers as those of a program: [.]."""
    return sorted(re.sub(r"^[ |`-]*", "", line).replace("[k]", "[.]") for line in lines)


def first_difference(want, got):
    for a, b in zip(want + ["(end)"], got + ["(end)"]):
        if a != b:
            return f"perf: {a[:100]} | ours: {b[:100]}"
    return f"{len(want)} lines of perf's, {len(got)} of ours"


def compare(case):
    recorder, name, model, path, command, options = case
    # Newer perf makes frames of inlined functions.
    theirs = run(model, command, options + (" --no-inline" if recorder == "sid" else ""), path)
    if theirs[0] is None:
        return case, "perf hangs", ""
    ours = run(OURS, command, options, path)
    if ours[0] is None:
        return case, "differs", "ours does not end"
    refused = theirs[0] or not re.search(r"^[^#\n]", theirs[1], re.M)
    if ours[0] == 2 or (ours[0] and not ours[1]):
        if refused:
            return case, "same", ""
        return case, "not supported", (ours[2].strip().split("\n") or [""])[0]
    if theirs[0] and ours[1]:
        return case, "perf refuses", (theirs[2].strip().split("\n") or [""])[0]
    want, got = (normal(recorder, command, out[1]) for out in (theirs, ours))
    if want == got:
        return case, "same", ""
    if command == "report" and unordered(want) == unordered(got):
        return case, "known", "the order of branches that have the same share, and newer perf's letter"
    return case, "differs", first_difference(want, got)


def known_reason(known, case):
    recorder, name, _, _, command, options = case
    for pattern, reason in known:
        if fnmatch.fnmatchcase(f"{recorder} {name} {command} {options}".strip(), pattern):
            return reason
    return None


def make_recordings(found, folder):
    work = os.path.join(folder, "work.sh")
    with open(work, "w", encoding="utf-8") as file:
        file.write(WORK)
    wanted = os.environ.get("RECORDINGS", "").split()
    made, failed = [], []
    for line in lines_of("recordings.txt"):
        name, amount, options = line.split(" ", 2)
        for recorder, (program, model) in found.items():
            path = os.path.join(folder, f"{recorder}-{name}.data")
            if wanted and name not in wanted:
                continue
            why = None if os.path.exists(path) else record(program, options, path, work)
            if why is None:
                parts = PARTS["all" if os.environ.get("ALL") else amount]
                made.append(((recorder, name, model, path), (len(made) % parts, parts)))
            else:
                failed.append(f"{recorder} does not record '{name}': {why.splitlines()[0] if why else ''}")
    return made, failed


def print_table(table):
    print("#", f"{'recorded by':12}{'recording':14}" + "".join(f"{o:>15}" for o in OUTCOMES))
    totals = collections.Counter()
    for (recorder, name), counts in table.items():
        totals.update(counts)
        print("#", f"{recorder:12}{name:14}" + "".join(f"{counts[o]:15}" for o in OUTCOMES))
    print("#", f"{'all':26}" + "".join(f"{totals[o]:15}" for o in OUTCOMES))


def main():
    if os.geteuid():
        print("1..1\nok 1 - recordings # skip recording needs root")
        return 0
    found, absent = recorders()
    if not found:
        print(f"1..1\nok 1 - recordings # skip {absent['perf']}")
        return 0
    with tempfile.TemporaryDirectory(prefix="recordings.") as folder:
        made, failed = make_recordings(found, os.environ.get("FOLDER", folder))
        known = [tuple(part.strip() for part in line.split(" => ", 1))
                 for line in lines_of("expected.txt")]
        sets = [line.split(" ", 1) if " " in line else [line, ""] for line in lines_of("options.txt")]
        cases = [(*m, *s) for m, (part, parts) in made for i, s in enumerate(sets)
                 if i % parts == part]
        table, classes, news = {}, collections.defaultdict(list), []
        details = open(os.environ.get("DETAILS", os.devnull), "w", encoding="utf-8")
        with details, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for case, outcome, why in pool.map(compare, cases):
                recorder, name, _, _, command, options = case
                what = f"{recorder} {name} {command} {options}".strip()
                if outcome == "differs" and known_reason(known, case):
                    outcome = "known"
                    classes[f"differs: {known_reason(known, case)}"].append(what)
                elif outcome == "differs":
                    news.append(f"{what}: {why}")
                elif outcome == "not supported":
                    classes[f"not supported: {re.sub(r'^perf-bpf[^:]*: ', '', why)}"].append(what)
                table.setdefault((recorder, name), collections.Counter())[outcome] += 1
                print(f"{outcome}\t{what}\t{why}", file=details)
        print("1..1")
        for line in [f"{name} is left out: {why}" for name, why in absent.items()] + failed:
            print("#", line)
        print_table(table)
        for reason, cases_of in sorted(classes.items(), key=lambda item: -len(item[1])):
            print("#", f"{len(cases_of):5} {reason}")
        for new in news:
            print("# new:", new)
        print("not ok" if news or not cases else "ok", "1 - recordings are read as perf reads them")
    return bool(news or not cases)


if __name__ == "__main__":
    sys.exit(main())
