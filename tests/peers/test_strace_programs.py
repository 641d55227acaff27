#!/usr/bin/env python3
"""The calls of real programs as perf-bpf trace --strace and as strace print them.

strace runs each program, and perf-bpf traces strace and its children: so both see the same calls of
the same processes, and the lines of each thread are compared one by one, with addresses, numbers
and results. curl reads from a server of Python's on the loopback interface; pgbench runs against a
PostgreSQL server whose processes are traced, too.

Left out are lines about signals and exits, which are not calls, and what a process does before the
first program of its own. What may differ is listed in KNOWN.

PEERS_ONLY=GLOB runs some of the programs, PEERS_TABLE=FILE keeps the lines that differ.
"""
import collections
import difflib
import fnmatch
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from lib.common import BUILD, ONLY, say, skip_all, tap

SECONDS = 170
# strace, with its log of each process; perf-bpf has the number of a thread in front of each line.
TRACED = '"$PERF_BPF" trace --strace -m 64M --log ours -- strace -f -o theirs'
CURL = r"""
python3 -m http.server --bind 127.0.0.1 --directory . 0 >port 2>server &
server=$!
until port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' port) && [ "$port" ]; do sleep 0.1; done
%s curl -s -o got "http://127.0.0.1:$port/file"
kill $server
cmp file got
""" % TRACED
PGBENCH = r"""
cat >session <<-'END'
	postgres -D data -k "$PWD" -c listen_addresses= >server 2>&1 &
	until pg_isready -q -h "$PWD"; do sleep 0.2; done
	pgbench -q -i -h "$PWD" postgres && pgbench -c 2 -t 20 -h "$PWD" postgres
	kill -INT $!
	wait
END
own="setpriv --reuid postgres --regid postgres --clear-groups"
mkdir data && chown postgres . data
$own initdb -D data >/dev/null
%s $own sh session
grep -q 'transactions actually processed: 40/40' out
""" % TRACED
# Calls that may differ, and how strace's line becomes ours.
KNOWN = [
    # the mask is in the signal's frame on the stack, which is not copied
    (r"rt_sigreturn\(\{mask=~?\[[^]]*\]\}\)", "rt_sigreturn()"),
    # eight pieces of memory are copied for a call; the time that is left would be the ninth
    (r"(pselect6\(.*), left \{[^}]*\}\)$", r"\1)"),
]


def lines_of(path, pattern):
    """{thread: its lines} of a log; parts of a call that was interrupted are put together."""
    threads, parts = collections.defaultdict(list), {}
    for line in open(path, encoding="utf-8", errors="replace"):
        m = re.match(pattern, line.rstrip("\n"))
        if not m or m.group(2).startswith(("+++ ", "--- ")):
            continue
        thread, text = int(m.group(1)), m.group(2)
        if text.endswith(" <unfinished ...>"):
            parts[thread] = text.removesuffix(" <unfinished ...>")
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", text)
        if resumed:
            text = parts.pop(thread, "") + resumed.group(1)
        text = re.sub(r"\) +(= )", r") \1", text)
        for theirs, ours in KNOWN:
            text = re.sub(theirs, ours, text)
        threads[thread].append(text)
    return threads


def from_first(ours, theirs):
    """Ours from the call that strace saw first: before it the process was strace's."""
    for i, line in enumerate(ours):
        if theirs and line == theirs[0]:
            return ours[i:]
    return ours


def compare(folder):
    """(calls, those that agree, [lines that differ])"""
    ours = lines_of(os.path.join(folder, "ours"), r"\[pid +(\d+)\] (.*)")
    theirs = lines_of(os.path.join(folder, "theirs"), r"(\d+) +(.*)")
    total = same = 0
    differ = []
    for thread, want in sorted(theirs.items()):
        got = from_first(ours.get(thread, []), want)
        matcher = difflib.SequenceMatcher(None, want, got, autojunk=False)
        total += len(want)
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag == "equal":
                same += b - a
                continue
            differ += [f"{thread} strace {line}" for line in want[a:b]]
            differ += [f"{thread} ours   {line}" for line in got[c:d]]
    return total, same, differ


def run(name, script):
    """(whether all agree, what to say)"""
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o755)
        with open(os.path.join(work, "file"), "wb") as f:
            f.write(bytes(range(256)) * 4096)
        path = ":".join([os.environ["PATH"], *glob.glob("/usr/lib/postgresql/*/bin")])
        with open(os.path.join(work, "out"), "w") as out:
            child = subprocess.Popen(["sh", "-eu", "-c", script], cwd=work, stdout=out,
                                     stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                     start_new_session=True,
                                     env={**os.environ, "PATH": path,
                                          "PERF_BPF": os.path.join(BUILD, "perf-bpf")})
            try:
                status = child.wait(SECONDS)
            except subprocess.TimeoutExpired:
                status = "none in time"
            finally:
                try:
                    os.killpg(child.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                child.wait()
        text = open(os.path.join(work, "out"), errors="replace").read()
        if status != 0:
            return False, [f"{name}: status {status}: {text[-600:]}"]
        total, same, differ = compare(work)
    return total > 0 and not differ, [f"{name}: {same} of {total} calls are the same"] + differ


def main():
    if os.geteuid():
        skip_all("tracing needs root")
    if not shutil.which("strace"):
        skip_all("strace is not installed")
    programs = {"curl": (CURL, "curl"), "pgbench": (PGBENCH, "pgbench")}
    results, table = [], []
    for name, (script, needed) in programs.items():
        if not fnmatch.fnmatch(name, ONLY):
            continue
        if not shutil.which(needed):
            say(f"{name}: {needed} is not installed")
            continue
        good, lines = run(name, script)
        table += lines
        for line in lines[:20]:
            say(line[:300])
        results.append((good, f"{name}: the same calls, arguments and results as strace"))
    if os.environ.get("PEERS_TABLE"):
        with open(os.environ["PEERS_TABLE"], "w", encoding="utf-8") as f:
            f.write("\n".join(table) + "\n")
    if not results:
        skip_all("neither curl nor pgbench is installed")
    return tap(results)


if __name__ == "__main__":
    sys.exit(main())
