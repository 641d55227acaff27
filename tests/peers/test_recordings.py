#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Recordings of perf here, of perf of Debian sid, and of perf-bpf, read by perf and by perf-bpf.

Each recording of recordings/recordings.txt is made by each of the three; on each, report and
script are run with each of the option sets of recordings/options.txt, by perf (of the version that
recorded; perf here reads those of perf-bpf) and by perf-bpf. A table tells how many are the same,
differ, and are not supported. recordings/expected.txt holds the differences that are known: who is
right, and why. The test fails on others.

A recording that recordings.txt says "some" or "few" of gets every fourth or every sixteenth set,
each one others. ALL=1 runs all sets on all. RECORDINGS="flat group" and RECORDERS="perf sid ours"
choose some, and OPTIONS="report -s *" chooses option sets; DETAILS=FILE gets the outcome of each.

FOLDER (~/.cache/perf-bpf/recordings) keeps the recordings, and what each program printed for them,
by the recording, the version of the program, the options and the running kernel. So a run that was
ended goes on where it was, and the next one runs perf-bpf only. The recordings of perf-bpf are made
again when it has changed, unless KEEP=1. Remove the folder to record all again.
"""
import collections
import concurrent.futures
import fnmatch
import hashlib
import itertools
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import threading
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "recordings"))
sys.dont_write_bytecode = True
import same_output  # noqa: E402
TOP = os.path.dirname(os.path.dirname(HERE))
OURS = os.environ.get("PERF_BPF", os.path.join(TOP, "build", "perf-bpf"))
FOLDER = os.environ.get("FOLDER", os.path.expanduser("~/.cache/perf-bpf/recordings"))
# The build-id cache of the recordings is theirs: files that change later keep their names.
ENVIRONMENT = {**os.environ, "PAGER": "cat", "HOME": os.path.join(FOLDER, "home")}
LIMIT = 15  # seconds for one run
PARTS = {"all": 1, "some": 4, "few": 16}
OUTCOMES = ["same", "ours right", "perf right", "neither", "not supported", "perf refuses",
            "perf hangs", "unjudged"]

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


def hash_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Outputs:
    """What programs printed, in FOLDER/outputs.db."""

    def __init__(self):
        self.lock, self.hashes = threading.Lock(), {}
        self.db = sqlite3.connect(os.path.join(FOLDER, "outputs.db"), check_same_thread=False,
                                  isolation_level=None, timeout=60)
        self.db.execute("PRAGMA synchronous = OFF")
        self.db.execute("CREATE TABLE IF NOT EXISTS outputs (key TEXT PRIMARY KEY, program TEXT,"
                        " status INT, out BLOB, err BLOB) WITHOUT ROWID")
        with open("/proc/kallsyms", encoding="utf-8") as file:
            text = [line for line in file if line.endswith(" _text\n")]
        self.kernel = os.uname().version + "".join(text)
        self.cached_files = "\0".join(sorted(
            path for path, _, _ in os.walk(os.path.join(FOLDER, "home", ".debug"))))

    def hash(self, path):
        with self.lock:
            if path not in self.hashes:
                self.hashes[path] = hash_of(path)
            return self.hashes[path]

    def version(self, program):
        if program == OURS:
            return f"ours {self.hash(program)}"
        with self.lock:
            if program not in self.hashes:
                self.hashes[program] = subprocess.run([program, "--version"], text=True, check=True,
                                                      capture_output=True).stdout.strip()
            return self.hashes[program]

    def get(self, program, command, options, path):
        version = self.version(program)
        parts = [self.hash(path), version, self.kernel, command, options]
        if "-v" in options.split():  # tells which file has the symbols: one of the cache, or another
            parts.append(self.cached_files)
        key = "\0".join(parts)
        key = hashlib.sha256(key.encode()).hexdigest()
        with self.lock:
            row = self.db.execute("SELECT status, out, err FROM outputs WHERE key = ?",
                                  (key,)).fetchone()
        if not row:
            status, out, err = run(program, command, options, path)
            row = status, zlib.compress(out, 1), zlib.compress(err, 1)
            with self.lock:
                self.db.execute("INSERT OR REPLACE INTO outputs VALUES (?, ?, ?, ?, ?)",
                                (key, version, *row))
        return row[0], *(zlib.decompress(text).decode(errors="replace") for text in row[1:])

    def forget_older(self):
        """Outputs of other builds of perf-bpf."""
        self.db.execute("DELETE FROM outputs WHERE program LIKE 'ours %' AND program <> ?",
                        (self.version(OURS),))


def record(program, options, path, work):
    words = shlex.split(options)
    to_pipe = "-o" in words
    command = [program, "record", "-q", *words, *([] if to_pipe else ["-o", path]), "--", "sh", work]
    with open(path if to_pipe else os.devnull, "wb") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, check=False, timeout=120,
                              env=ENVIRONMENT)
    if done.returncode:
        if os.path.exists(path):
            os.unlink(path)
        return done.stderr.decode(errors="replace").strip()
    return None


def run(program, command, options, path):
    words = [program, command, *(["--stdio"] if command == "report" else []), *shlex.split(options)]
    try:
        done = subprocess.run([*words, "-i", path], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=LIMIT, check=False, env=ENVIRONMENT)
    except subprocess.TimeoutExpired:
        return None, b"", b""
    return done.returncode, done.stdout, done.stderr


def better_in_newer_perf(name, options):
    """What perf 6.1 does wrong and newer perf, which reads older recordings too, does right; or None"""
    if name == "dwarf":
        return "perf 6.1 ends call chains early, or goes on in data"
    if re.search(r"(^| )(-d|--dsos|-S|--comms) ", options):
        # In a row it counts what a filter hides, if the row's first sample is shown, and hides the
        # row otherwise.
        return "perf 6.1 counts samples that the filter hides in rows that it shows"
    return None


def as_newer_perf(outputs, newer, case, perf, ours):
    _, name, model, path, command, options = case
    fault = better_in_newer_perf(name, options)
    if not newer or model == newer or not fault:
        return "unjudged", ""
    theirs = outputs.get(newer, command, options, path)
    want, got = (same_output.printed_lines("sid", command, options, text)
                 for text in (theirs[1], ours))
    who, why = same_output.judge_outputs(want, got)
    if theirs[0] or not who:
        return "unjudged", same_output.first_difference(want, got)
    if "(inlined)" in perf:
        fault += ", and calls functions inlined that have another name in DWARF"
    if who == "perf":
        return "perf right", why
    why = f" ({why})" if why else ""
    return "ours right", f"{fault}; newer perf prints what perf-bpf prints{why}"


def ends_programs_at_once(outputs, case):
    """Whether perf reads that a BPF program was unloaded as without a time, so as soon as it is read:
    the size of the record, which Linux set too large, hides its time."""
    shown = outputs.get(case[2], "script", "--show-bpf-events", case[3])
    return bool(re.search(r" 0\.000000: PERF_RECORD_KSYMBOL .* flags 0x1 ", shown[1]))


def compare(outputs, newer, case):
    _, outcome, why = compare_outputs(outputs, newer, case)
    name, command, options = case[1], *case[4:]
    if outcome != "unjudged" or (name != "dwarf" and case[0] != "sid") or command != "report" or \
            "--no-inline" in options:
        return case, outcome, why
    # The rows of inlined functions, whose call chains script has, too.
    without = (*case[:5], f"{options} --no-inline".strip())
    _, outcome, reason = compare_outputs(outputs, newer, without)
    if outcome == "unjudged":
        return case, outcome, why
    reason = f" (without them: {reason})" if reason else ""
    return case, "ours right", f"perf's search tree takes inlined functions for others{reason}"


def compare_outputs(outputs, newer, case):
    recorder, name, model, path, command, options = case
    # perf 6.1 shows inlined functions only in the call chains of copied stacks.
    if recorder != "sid" and name != "dwarf":
        options = f"{options} --no-inline".strip()
    theirs = outputs.get(model, command, options, path)
    if theirs[0] is None:
        return case, "perf hangs", ""
    ours = outputs.get(OURS, command, options, path)
    if ours[0] is None:
        return case, "unjudged", "ours does not end"
    refused = theirs[0] or not re.search(r"^[^#\n]", theirs[1], re.M)
    if ours[0] == 2 or (ours[0] and not ours[1]):
        if refused:
            return case, "same", ""
        return case, "not supported", (ours[2].strip().split("\n") or [""])[0]
    if theirs[0] and ours[1]:
        return case, "perf refuses", (theirs[2].strip().split("\n") or [""])[0]
    want, got = (same_output.printed_lines(recorder, command, options, out[1])
                 for out in (theirs, ours))
    who, why = same_output.judge_outputs(want, got)
    if not who and same_output.has_programs_as_unknown(want, got) and \
            ends_programs_at_once(outputs, case):
        return case, "ours right", "perf ends BPF programs before their samples, as it does not read " \
            "the time of records whose size Linux set too large"
    if not who:
        outcome, why = as_newer_perf(outputs, newer, (*case[:5], options), theirs[1], ours[1])
        return case, outcome, why or same_output.first_difference(want, got)
    return case, {"ours": "ours right", "perf": "perf right"}.get(who, who), why


def judge(known, what, outcome, why):
    """The outcome and the reason that expected.txt has for a difference."""
    for pattern, who, reason in known:
        if outcome == "unjudged" and fnmatch.fnmatchcase(what, pattern):
            return ("neither" if who == "neither" else f"{who} right"), reason
    return outcome, re.sub(r"^perf-bpf[^:]*: ", "", why) if outcome == "not supported" else why


def read_expected():
    """(pattern, "ours", "perf" or "neither", reason)"""
    known = []
    for line in lines_of("expected.txt"):
        pattern, _, verdict = line.partition(" => ")
        who, _, reason = verdict.partition(": ")
        if who not in ("ours", "perf", "neither"):
            sys.exit(f"expected.txt: who is right? {line}")
        known.append((pattern.strip(), who, reason.strip()))
    return known


def remove_old_recordings():
    """Those that another build of perf-bpf made."""
    made_by, program = os.path.join(FOLDER, "ours.hash"), hash_of(OURS)
    if os.path.exists(made_by):
        with open(made_by, encoding="utf-8") as file:
            if file.read() == program or os.environ.get("KEEP"):
                return
    for name in os.listdir(FOLDER):
        if fnmatch.fnmatchcase(name, "ours-*.data"):
            os.unlink(os.path.join(FOLDER, name))
    with open(made_by, "w", encoding="utf-8") as file:
        file.write(program)


def make_recordings(found):
    work = os.path.join(FOLDER, "work.sh")
    with open(work, "w", encoding="utf-8") as file:
        file.write(WORK)
    if "ours" in found:
        remove_old_recordings()
    wanted = os.environ.get("RECORDINGS", "").split()
    made, failed = [], []
    for line in lines_of("recordings.txt"):
        name, amount, options = line.split(" ", 2)
        for recorder, (program, model) in found.items():
            path = os.path.join(FOLDER, f"{recorder}-{name}.data")
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


def compare_all(made, newer):
    """Prints the outcome of each case; returns the number of cases and of unjudged differences."""
    outputs, known = Outputs(), read_expected()
    outputs.forget_older()
    wanted = os.environ.get("OPTIONS", "*")
    sets = [(*line.split(" ", 1), "")[:2] for line in lines_of("options.txt")]
    cases = [(*m, *s) for m, (part, parts) in made for i, s in enumerate(sets)
             if i % parts == part and fnmatch.fnmatchcase(" ".join(s).strip(), wanted)]
    table, classes, news = {}, collections.defaultdict(list), []
    details = open(os.environ.get("DETAILS", os.devnull), "w", encoding="utf-8", buffering=1)
    with details, concurrent.futures.ThreadPoolExecutor(2 * os.cpu_count()) as pool:
        for case, outcome, why in pool.map(lambda case: compare(outputs, newer, case), cases):
            recorder, name, _, _, command, options = case
            what = f"{recorder} {name} {command} {options}".strip()
            outcome, why = judge(known, what, outcome, why)
            if outcome == "unjudged":
                news.append(f"{what}: {why}")
            elif outcome != "same":
                classes[f"{outcome}: {why}"].append(what)
            table.setdefault((recorder, name), collections.Counter())[outcome] += 1
            print(f"{outcome}\t{what}\t{why}", file=details)
    print_table(table)
    for reason, cases_of in sorted(classes.items(), key=lambda item: -len(item[1])):
        print("#", f"{len(cases_of):5} {reason}, e.g. {cases_of[0]}")
    for new in news:
        print("# unjudged:", new)
    return len(cases), len(news)


def run_with_copied_kallsyms():
    """Runs this test again where /proc/kallsyms is a copy: writing that file takes the kernel two
    thirds of the time of a short run of perf-bpf, and half of perf's."""
    copy = os.path.join(FOLDER, "kallsyms")
    shutil.copyfile("/proc/kallsyms", copy)
    os.environ["KALLSYMS_COPY"] = copy
    command = 'mount --bind "$KALLSYMS_COPY" /proc/kallsyms; exec "$@"'
    os.execvp("unshare", ["unshare", "-m", "sh", "-c", command, "sh", sys.executable, *sys.argv])


def main():
    if not os.geteuid() and "KALLSYMS_COPY" not in os.environ:
        os.makedirs(FOLDER, exist_ok=True)
        run_with_copied_kallsyms()
    print("1..1")
    if os.geteuid():
        print("ok 1 - recordings # skip recording needs root")
        return 0
    found, absent = recorders()
    if not found:
        print(f"ok 1 - recordings # skip {absent['perf']}")
        return 0
    os.makedirs(os.path.join(FOLDER, "home"), exist_ok=True)
    made, failed = make_recordings(found)
    for line in [f"{name} is left out: {why}" for name, why in absent.items()] + failed:
        print("#", line)
    compared, unjudged = compare_all(made, found.get("sid", [None])[0])
    failed = unjudged or not compared
    print("not ok" if failed else "ok", "1 - recordings are read as perf reads them")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
