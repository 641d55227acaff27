#!/usr/bin/env python3
"""strace's own test programs: each makes system calls and prints what strace must say of them.

Debian's source package has them in tests/; tests/gen_tests.in lists the options for each. They are
built once, in the cache, and run under perf-bpf trace --strace. The lines are compared without the
blanks before " = ", because the column of results is an option of strace (-a), without the number
of the process in front of them, which strace has in another form in a file, and without the line
of the exit, because exit_group is not among the calls of a test. Where strace names the commands of
several devices ("A or B"), one of them is enough. Tests that have a script of their
own are run where it only chooses calls and lines (SCRIPTS). Tests for options that perf-bpf does
not have are left out, and counted by option, those of other scripts by script.

PEERS_ONLY=GLOB runs some of the tests, PEERS_TABLE=FILE keeps the table.
"""
import collections
import fnmatch
import itertools
import os
import re
import shlex
import subprocess
import sys
import tempfile

from lib.common import BUILD, ONLY, say, skip_all, tap
from lib.packages import fetch

SECONDS = 20
# Fewer that agree are a regression. What differs is listed with its first line.
LEAST = 325
# perf-bpf's name of an option.
SAME = {
    "-v": "--no-abbrev", "--no-abbrev": "--no-abbrev",
    "-x": "--strings-in-hex=non-ascii", "--strings-in-hex=non-ascii": "--strings-in-hex=non-ascii",
    "-xx": "--strings-in-hex", "--strings-in-hex": "--strings-in-hex",
    "--strings-in-hex=all": "--strings-in-hex",
    "-Xraw": "--const-print-style=raw", "-Xverbose": "--const-print-style=verbose",
    "-Xabbrev": "--const-print-style=abbrev",
    "-y": "-y", "-z": "--where=ret >= 0", "-Z": "--failure", "--failed-only": "--failure",
}
# Options that change nothing that is compared: children are always followed.
IGNORED = r"-a\d+|--columns=\d+|-everbose=.*|-q+|--quiet=.*|-f"
# The scripts of strace's tests that only choose calls and drop lines from the beginning of the
# log: the calls, and what of the lines is compared. NAME is the test's.
PRCTL_START = (r"prctl\(0xffffffff( /\* PR_\?\?\? \*/)?, "
               r"0xfffffffe, 0xfffffffd, 0xfffffffc, 0xfffffffb\)")
SCRIPTS = {
    "ioctl.test": ("ioctl", lambda lines: without(r"ioctl\([012][,<]", lines)),
    "fadvise64.test": ("fadvise64", lambda lines: without(r"fadvise64\([0123],", lines)),
    "prctl.sh": ("prctl", lambda lines: after(PRCTL_START, lines)),
    "arch_prctl.sh": ("arch_prctl", lambda lines: after(
        r"arch_prctl\(0xffffffff( /\* ARCH_\?\?\? \*/)?, 0xfffffffe\)", lines)),
    "faccessat.test": ("faccessat", lambda lines: since(r"faccessat\(-1, NULL,", lines)),
    "faccessat2.test": ("faccessat2", lambda lines: since(r"faccessat2\(-1, NULL,", lines)),
    "execve.test": ("execve", lambda lines: [line for line in lines if "test.execve" in line]),
    "getuid.test": ("NAME", lambda lines: [line for line, _ in itertools.groupby(lines)]),
    "ipc.sh": ("%ipc", None),
    "ipc_msgbuf.test": ("msgget,msgsnd,msgrcv,msgctl", None),
    "personality.test": ("personality", None),
}


def without(pattern, lines):
    return [line for line in lines if not re.match(pattern, line)]


def since(pattern, lines):
    return list(itertools.dropwhile(lambda line: not re.match(pattern, line), lines))


def after(pattern, lines):
    return since(pattern, lines)[1:]


def build(place):
    """None, or why the programs could not be built."""
    if os.path.exists(os.path.join(place, "tests", "accept4")):
        return None
    for command in (["./configure", "--disable-gcc-Werror", "--disable-mpers",
                     "--without-libunwind"],
                    ["make", "-k", "-C", "tests", "check", "TESTS="]):
        run = subprocess.run(command, cwd=place, capture_output=True, text=True)
    if os.path.exists(os.path.join(place, "tests", "accept4")):
        return None
    return f"{command[0]}: {run.stderr.strip().splitlines()[-1:]}"


Case = collections.namedtuple("Case", "name program calls options redirects keep patterns")


def options_of(words):
    """(calls, perf-bpf's options, redirections) of a test's strace options; or which is missing."""
    calls, options, redirects, i = None, [], [], 0
    while i < len(words):
        word = words[i]
        if word in ("-e", "-s", "-a", "-X"):
            i += 1
            word += words[i] if i < len(words) else ""
        if word.startswith(("-etrace=", "--trace=")):
            calls = word.split("=", 1)[1]
        elif re.fullmatch(r"-s\d+", word):
            options += ["--string-size", word[2:]]
        elif re.fullmatch(r"(-e|--)signals?=.*", word):
            options += ["-e", "signal=" + word.split("=", 1)[1]]
        elif word in SAME:
            options.append(SAME[word])
        elif re.fullmatch(r"\d*[<>]+[\w/]+", word):
            redirects.append(word)
        elif word in ("<", ">"):
            i += 1
            redirects.append(word + words[i])
        elif not re.fullmatch(IGNORED, word):
            return None, word
        i += 1
    return (calls, options, redirects), None


def case_of(name, words):
    """(the case, None), or (None, which option or script is missing)"""
    calls, keep, patterns, program = re.sub("-.*", "", name), None, False, name
    if words and words[0].startswith("+"):
        script = words[0][1:]
        if script not in SCRIPTS:
            return None, script
        calls, keep = SCRIPTS[script]
        patterns, words = keep is None, words[1:]
        if script == "getuid.test":
            program = name.removesuffix("-creds")
            calls = "%creds" if name.endswith("-creds") else name
    elif words and not words[0].startswith("-"):
        return None, words[0]
    options, missing = options_of(words)
    if missing:
        return None, missing
    return Case(name, program, options[0] or calls, *options[1:], keep, patterns), None


def cases(tests):
    """The cases, and how many are left out by which option or script."""
    found, left = [], collections.Counter()
    for line in open(os.path.join(tests, "gen_tests.in"), encoding="utf-8"):
        words = shlex.split(line, comments=True)
        if not words or not fnmatch.fnmatch(words[0], ONLY):
            continue
        case, missing = case_of(words[0], words[1:])
        if missing:
            left[re.sub(r"[=:].*", "", missing)] += 1
        else:
            found.append(case)
    return found, left


def squeeze(text):
    lines = [re.sub(r"^(\[pid +\d+\]|\d+) +(?=[a-z+])", "", line) for line in text.splitlines()]
    return [re.sub(r"\) +(= )", r") \1", line) for line in lines
            if not line.startswith("+++ exited with ")]


def is_same(want, have):
    """Whether a line is the same, or has one of the names between which " or " stands."""
    if want == have or " or " not in want:
        return want == have
    return have in (re.sub(r"\w+ or (\w+)", r"\1", want), re.sub(r"(\w+) or \w+", r"\1", want))


def compare_patterns(patterns, lines):
    """Each pattern matches a line, or with "!" none: strace's match_grep."""
    text = "\n".join(lines) + "\n"
    for pattern in patterns:
        grep = subprocess.run(["grep", "-Exq", "-e", pattern.removeprefix("!")], input=text,
                              text=True, env={"LC_ALL": "C"})
        if (grep.returncode == 0) == pattern.startswith("!"):
            return False, f"want {pattern}\n    have {lines[:1]}"
    return bool(patterns), "the test printed nothing"


def run(tests, case):
    """(whether it agrees, why not)"""
    program = os.path.join(tests, case.program)
    if not os.path.exists(program):
        return None, "not built"
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "test")
        os.mkdir(folder)
        os.symlink(program, os.path.join(work, case.program))
        command = [os.path.join(BUILD, "perf-bpf"), "trace", "--strace", "-e", case.calls, "--log",
                   "log", *case.options, f"../{case.program}"]
        script = 'exec "$@" ' + " ".join(["</dev/null", *case.redirects])
        try:
            ran = subprocess.run(["sh", "-c", script, "sh", *command], cwd=folder,
                                 capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return False, f"did not end in {SECONDS} seconds"
        if ran.returncode == 77:
            return None, "it cannot run here"
        want = squeeze(ran.stdout.decode(errors="replace"))
        log = os.path.join(folder, "log")
        got = squeeze(open(log, errors="replace").read()) if os.path.exists(log) else []
    if case.patterns:
        return compare_patterns(want, got)
    if case.keep:
        got = case.keep(got)
    if want and len(want) == len(got) and all(map(is_same, want, got)):
        return True, None
    for a, b in zip(want, got):
        if not is_same(a, b):
            return False, f"want {a}\n    have {b}"
    return False, f"{len(want)} lines expected, {len(got)} printed: " + \
        ran.stderr.decode(errors="replace")[:200]


def main():
    if os.geteuid():
        skip_all("tracing needs root")
    place, version, _ = fetch("strace", ("",), ("bookworm",))
    if not place:
        skip_all(version)
    why = build(place)
    if why:
        skip_all(why)
    tests = os.path.join(place, "tests")
    found, left = cases(tests)
    agree, differ, absent = [], [], []
    for case in found:
        good, why = run(tests, case)
        if good is None:
            absent.append((case.name, why))
        elif good:
            agree.append(case.name)
        else:
            differ.append((case.name, why))
    lines = [f"strace {version}: {len(agree)} of {len(agree) + len(differ)} tests agree; "
             f"{len(absent)} cannot run here, {sum(left.values())} have options that are missing"]
    lines += [f"  {name}: {why}" for name, why in differ + absent]
    lines += [f"  {n} with {option}" for option, n in left.most_common()]
    if os.environ.get("PEERS_TABLE"):
        with open(os.environ["PEERS_TABLE"], "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
    for line in lines:
        say(line[:400])
    return tap([(bool(agree) and (ONLY != "*" or len(agree) >= LEAST),
                 f"at least {LEAST} of strace's tests agree")])


if __name__ == "__main__":
    sys.exit(main())
