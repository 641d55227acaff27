#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every variable of functions of real programs, at their entries and on lines, as gdb reads it.

Programs in C, C++ and Rust are built in many ways. Functions that are run, and lines of them,
are chosen by a fixed seed. "perf-bpf probe --json" says where each variable is there; gdb stops the
program at the same addresses, reads the variables itself, and evaluates what perf-bpf
said. The first hits of each point are compared, value by value:

    same      both have the same value
    wrong     they differ: none may
    ours not  gdb has a value, perf-bpf says that it is not available
    gdb not   the other way round

That the code in the kernel reads what these places say, tests/peers/test_probes.sh shows.

SWEEP_FUNCTIONS and SWEEP_SEED change how many, and which; PEERS_ONLY is a glob of builds.
"""
import fnmatch
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib import packages
from lib.common import BUILD, ONLY, SRC, say, skip_all, tap

PERF_BPF = os.environ.get("PERF_BPF") or os.path.join(BUILD, "perf-bpf")
FUNCTIONS = int(os.environ.get("SWEEP_FUNCTIONS", "200"))
SEED = int(os.environ.get("SWEEP_SEED", "1"))
LINES = 2  # of a function
HITS = 5  # that are compared
BASE = 0x555555554000  # of a position-independent program without randomization

LUA = """
local t = {}
for i = 1, 40 do t[i] = (i * 7919) % 101; t["k" .. i] = i / 3 end
table.sort(t, function(a, b) return a > b end)
local s = string.rep("ab-", 5)
local n = 0
for w in string.gmatch(s, "%a+") do n = n + #w end
local function fib(k) if k < 2 then return k end return fib(k - 1) + fib(k - 2) end
local co = coroutine.wrap(function(a) for i = 1, 3 do a = coroutine.yield(a + i) end end)
for i = 1, 3 do co(i) end
print(n, fib(8), string.format("%5.2f %d %s %q", 3.25, 42, "x", "y"), table.concat({1, 2, 3}, ","))
print(pcall(error, {code = 2}), select("#", 1, nil, 3), #s, s:upper(), s:find("b", 1, true))
print(math.floor(2.5), 7 // 2, 7 % 3, 2 ^ 0.5, 1 << 4, tostring(nil), tonumber("0x1F"))
local m = setmetatable({}, {__index = function(_, k) return k .. "!" end, __len = function() return 9 end})
print(m.foo, #m, next({}), type(print), rawlen({1, 2}), load("return 1 + 1")())
goto done
::done::
collectgarbage()
for k, v in pairs({a = 1, b = 2}) do n = n + v end
print(utf8.char(228, 8364), utf8.len("\\u{e4}x"), os.time{year=2020, month=1, day=1, hour=12} > 0)
"""

# The program, and how it is built. lua with -O0 is not among them: gdb did not come to its end in
# 100 seconds.
WAYS = [
    ("lua", "gcc -O1 -g -gdwarf-4"),
    ("lua", "gcc -O2 -g"),
    ("lua", "gcc -O3 -g -flto"),
    ("lua", "gcc -O2 -g -gsplit-dwarf"),
    ("lua", "gcc -Os -g"),
    ("lua", "gcc -Og -g -no-pie -fno-pie"),
    ("lua", "clang -O2 -g"),
    ("lua", "clang -O1 -g -gdwarf-4"),
    ("lzip", "g++ -O0 -g"),
    ("lzip", "g++ -O2 -g"),
    ("lzip", "clang++ -O2 -g"),
    ("app", "g++ -O0 -g"),
    ("app", "g++ -O2 -g -flto"),
    ("app", "clang++ -O1 -g"),
    ("shop.rs", "rustc -g -C opt-level=0"),
    ("shop.rs", "rustc -g -C opt-level=2"),
]


def run(argv, **kw):
    return subprocess.run(argv, capture_output=True, text=True, check=False, errors="replace", **kw)


# ---- the programs ----

def sources(program):
    """(files, options, arguments, standard input), or why not."""
    if program == "lua":
        place, why, _ = packages.fetch("lua5.4", ("src/",), ("bookworm", "trixie"))
        if not place:
            return None, why
        src = os.path.join(place, "src")
        if not os.path.isdir(src):
            src = place
        files = [os.path.join(src, f) for f in sorted(os.listdir(src)) if f.endswith(".c") and
                 f not in ("luac.c", "onelua.c", "ltests.c")]
        return (files, ["-DLUA_USE_POSIX", "-Dluai_makeseed(L)=1", "-w"], "-", LUA), None
    if program == "lzip":
        place, why, _ = packages.fetch("lzip", ("",), ("bookworm", "trixie"))
        if not place:
            return None, why
        files = [os.path.join(place, f) for f in sorted(os.listdir(place)) if f.endswith(".cc")]
        return (files, ["-w", '-DPROGVERSION="1"'], "-c -9", LUA * 3), None
    if program == "app":
        return ([os.path.join(SRC, "tests/probe/app.cc")], ["-w"], "", ""), None
    return ([os.path.join(SRC, "tests/probe/shop.rs")], [], "", ""), None


def build(program, how, where):
    """What to run, or (None, why not)."""
    found, why = sources(program)
    if not found:
        return None, why
    files, options, args, text = found
    compiler = how.split()[0]
    if not shutil.which(compiler):
        return None, f"{compiler} is not installed"
    exe = os.path.join(where, program.split(".")[0])
    # Rust's file is one; others are linked with the mathematical functions.
    end = [] if compiler == "rustc" else ["-lm", "-ldl"]
    done = run([*how.split(), *options, "-o", exe, *files, *end], cwd=where)
    if done.returncode:
        return None, f"{how}: {done.stderr.strip().splitlines()[-1:]}"
    with open(os.path.join(where, "input"), "w", encoding="utf-8") as f:
        f.write(text)
    return {"exe": exe, "args": args, "input": os.path.join(where, "input"), "where": where,
            "base": 0 if "-no-pie" in how else BASE}, None


# ---- what perf-bpf says ----

def show(program, *words):
    done = run([PERF_BPF, "probe", "-q", "--json", "-x", program["exe"], *words])
    try:
        return json.loads(done.stdout) if not done.returncode else None
    except ValueError:
        return None


def with_gdb(program, points):
    """What lib/gdb_values.py writes."""
    plan, out = (os.path.join(program["where"], f) for f in ("plan", "gdb.out"))
    with open(plan, "w", encoding="utf-8") as f:
        json.dump({"program": program["exe"], "args": program["args"], "input": program["input"],
                   "base": program["base"], "hits": HITS, "points": points, "out": out}, f)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib/gdb_values.py")
    done = run(["gdb", "-q", "-nx", "-batch", "-x", script], env={**os.environ, "PLAN": plan},
               timeout=600)
    if not os.path.exists(out):
        raise RuntimeError(f"gdb: {done.stdout[-300:]} {done.stderr[-300:]}")
    with open(out, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def functions_that_run(program):
    """Names of functions out of line that are called."""
    found = show(program, "--no-inlines", "*")
    # Of what a compiler's own library brings only what was made for this program.
    points = [p for p in (found or {}).get("points", []) if p["source"] == "dwarf" and
              not p["offset"] and "/rustc/" not in (p.get("file") or "")]
    hits = with_gdb(program, [{"address": int(p["address"], 16)} for p in points])
    return sorted({points[h["point"]]["symbol"] for h in hits})


def choose(program, count, dice):
    """Points at the entries and on some lines of functions that are run."""
    names = functions_that_run(program)
    dice.shuffle(names)
    chosen = []
    for name in names[:count]:
        places = [name]
        lines = show(program, "-L", name)
        if lines and lines.get("lines"):
            below = [n - lines["first"] for n in lines["lines"][1:]]
            places += [f"{name}:{n}" for n in dice.sample(below, min(LINES, len(below)))]
        for place in places:
            found = show(program, "-V", place)
            listed = [v["name"] for p in (found or {}).get("points", []) for v in p["variables"]]
            fields = list(dict.fromkeys(v for v in listed if v.isidentifier()))[:60]
            shown = show(program, f"force=yes;{place} {' '.join(fields)}") if fields else None
            shown = shown or (show(program, f"force=yes;{place} $vars") if fields else None)
            chosen += [(place, p) for p in (shown or {}).get("points", [])]
    return chosen, min(count, len(names))


# ---- comparing ----

class Sums:
    def __init__(self):
        self.functions = self.points = self.hits = self.same = self.ours_not = self.gdb_not = 0
        self.wrong, self.reasons = [], {}

    def add(self, other):
        for name in ("functions", "points", "hits", "same", "ours_not", "gdb_not"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.wrong += other.wrong
        for why, n in other.reasons.items():
            self.reasons[why] = self.reasons.get(why, 0) + n

    def text(self):
        return (f"{self.functions} functions, {self.points} points, {self.hits} hits: {self.same} "
                f"same, {len(self.wrong)} wrong, {self.ours_not} ours not, {self.gdb_not} gdb not")


def bytes_of(value):
    """As gdb's value is in memory, little endian."""
    if "int" in value:
        return (value["int"] & (1 << 8 * value["size"]) - 1).to_bytes(value["size"], "little").hex()
    if "float" in value:
        return struct.pack("<f" if value["size"] == 4 else "<d", value["float"]).hex()
    return value["bytes"]


def compare_hit(place, point, hit, sums):
    args = {a["name"]: a for a in point["args"]}
    for name, value in hit["values"].items():
        arg = args.get(name)
        if not arg or "skip" in value:
            continue
        if "gone" in value:
            sums.gdb_not += "place" in arg
        elif "place" not in arg:
            sums.ours_not += 1
            why = re.sub(r"'[^']*'|[0-9]+", "N", arg.get("obstacle", "?"))[:70]
            sums.reasons[why] = sums.reasons.get(why, 0) + 1
        else:
            ours = hit["ours"].get(name)
            if ours is None:
                continue
            if ours == bytes_of(value):
                sums.same += 1
                continue
            sums.wrong.append(
                f"{place} at {point['address']} ({point['symbol']}+{point['offset']}"
                f"{', inlined ' + point['inlined'] if point.get('inlined') else ''}): {name}: "
                f"'{arg['place']}' is {ours}, gdb has {bytes_of(value)}")


def sweep(program, how, count, dice, where):
    target, why = build(program, how, where)
    if not target:
        return None, why
    sums = Sums()
    chosen, sums.functions = choose(target, count, dice)
    plan = [{"address": int(p["address"], 16), "function": p["symbol"], "inlined": p.get("inlined"),
             "slots": not p["offset"] and ("-O0" in how or "opt-level=0" in how),
             "args": [[a["name"], a.get("place")] for a in p["args"]]} for _, p in chosen]
    seen = set()
    for hit in with_gdb(target, plan):
        sums.hits += 1
        seen.add(hit["point"])
        compare_hit(*chosen[hit["point"]], hit, sums)
    sums.points = len(seen)
    return sums, None


def main():
    for tool in ("gdb", "gcc"):
        if not shutil.which(tool):
            skip_all(f"{tool} is not installed")
    ways = [(p, h) for p, h in WAYS if fnmatch.fnmatchcase(f"{p} {h}", ONLY) or ONLY == "*"]
    each = max(1, -(-FUNCTIONS // max(1, len(ways))))
    total, results = Sums(), []
    for program, how in ways:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="perf-bpf-sweep.") as where:
            try:
                sums, why = sweep(program, how, each, random.Random(SEED), where)
            except (RuntimeError, subprocess.TimeoutExpired) as e:
                say(f"{program}: {how}: {e}")
                results.append((False, f"{program}: {how}"))
                continue
        name = f"{program}: {how}"
        if not sums:
            say(f"{name}: skipped: {why}")
            results.append((True, f"{name} # SKIP {why}"))
            continue
        total.add(sums)
        say(f"{name}: {sums.text()} ({time.monotonic() - began:.0f} s)")
        for line in sums.wrong[:int(os.environ.get("SWEEP_SHOW", "8"))]:
            say("  " + line)
        results.append((not sums.wrong and sums.same > 0, name))
    say(f"all: {total.text()}")
    for why, n in sorted(total.reasons.items(), key=lambda x: -x[1])[:8]:
        say(f"  ours not: {n} {why}")
    return tap(results)


if __name__ == "__main__":
    sys.exit(main())
