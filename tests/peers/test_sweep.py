#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every variable of functions of real programs, at their entries and on lines, as gdb reads it.

Programs in C, C++, Rust, Go, Ada, Fortran and D are built in many ways. Functions that are run, and lines of them,
are chosen by a fixed seed. "perf-bpf probe --json" says where each variable is there; gdb stops the
program at the same addresses, reads the variables itself, and evaluates what perf-bpf
said. Then "perf-bpf record" records the same points in a second run of the program, with the same
addresses and the same input. The first hits of each point are compared, value by value, once for
the locations and once for the recorded values:

    same      both have the same value
    wrong     they differ: none may
    ours not  gdb has a value, perf-bpf says that it is not available
    gdb not   the other way round

Points on whose instruction the kernel places no uprobe, as perf-bpf says, are counted apart, if gdb
shows the same instruction there.

Besides the variables of the function (and its static ones), some global variables are compared, and
the strings that variables are.

Of the programs in languages/ all functions are compared, and more lines of each: a table at the end
has their numbers. Of the others, SWEEP_FUNCTIONS and SWEEP_SEED change how many, and which; PEERS_ONLY is a glob of builds.
SWEEP_JOBS builds are compared at a time: by default, as many as there are CPUs.
SWEEP_LIVE=no records nothing, as does a user who is not root.
"""
import concurrent.futures
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
from lib import sweep_live
from lib.common import BUILD, ONLY, SRC, say, skip_all, tap

PERF_BPF = os.environ.get("PERF_BPF") or os.path.join(BUILD, "perf-bpf")
FUNCTIONS = int(os.environ.get("SWEEP_FUNCTIONS", "240"))
SEED = int(os.environ.get("SWEEP_SEED", "1"))
JOBS = int(os.environ.get("SWEEP_JOBS") or os.cpu_count())
LINES = 2  # of a function
LINES_OF_LANGUAGES = 4  # of a function of the programs in languages/
GLOBALS = 3  # of a place
HITS = 5  # that are compared
CUT = b"...".hex()  # the end of a recorded string that was cut, to make room for others
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

# The program, and how it is built.
WAYS = [
    ("lua", "gcc -O0 -g"),
    ("lua", "gcc -O1 -g -gdwarf-4"),
    ("lua", "gcc -O2 -g"),
    ("lua", "gcc -O3 -g"),
    ("lua", "gcc -O3 -g -flto"),
    ("lua", "gcc -O2 -g -gsplit-dwarf"),
    ("lua", "gcc -Os -g"),
    ("lua", "gcc -Og -g -no-pie -fno-pie"),
    ("lua", "clang -O2 -g"),
    ("lua", "clang -O1 -g -gdwarf-4"),
    ("lzip", "g++ -O0 -g"),
    ("lzip", "g++ -O2 -g"),
    ("lzip", "clang++ -O2 -g"),
    ("shapes", "g++ -std=c++17 -O0 -g"),
    ("shapes", "g++ -std=c++17 -O2 -g -flto"),
    ("shapes", "g++ -std=c++17 -O3 -g"),
    ("shapes", "clang++ -std=c++17 -O1 -g"),
    ("shapes.rs", "rustc -g -C opt-level=0"),
    ("shapes.rs", "rustc -g -C opt-level=2"),
    ("shapes.rs", "rustc -g -C opt-level=3 -C lto=fat -C codegen-units=1"),
    ("stock.go", "go build"),
    ("stock.adb", "gnatmake -O2 -g"),
    ("stock.adb", "gnatmake -O0 -g"),
    ("stock.f90", "gfortran -O2 -g -fno-inline"),
    ("stock.f90", "gfortran -O0 -g"),
    ("stock.d", "gdc -O2 -g"),
    ("stock.d", "ldc2 -O2 -g"),
    ("stock.rs", "rustc -g -C opt-level=2"),
    ("stock.cc", "g++ -std=c++17 -O2 -g"),
]
# The functions that are a program's own, by their symbols.
OWN = {"stock.go": "main.", "stock.adb": "stock__", "stock.f90": "__stock_MOD_", "stock.d": "_D5stock",
       "stock.rs": "_ZN5stock", "stock.cc": "_ZN"}
# One thread, and no work of the runtime that depends on time.
PREEMPTED = -1314  # stackguard0 of a goroutine that is to give way (stackPreempt in runtime/stack.go)
GUARD = "guard__=+16(%r14):x64 sp__=%sp:x64"  # at an entry; it is run again then
GO_ENVIRONMENT = ["GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1"]


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
    if program == "shapes":
        return ([os.path.join(SRC, "tests/peers/sweep_shapes.cc")], ["-w"], "", ""), None
    if program in OWN:
        return ([os.path.join(SRC, "tests/peers/languages", program)], [], "", ""), None
    return ([os.path.join(SRC, "tests/peers/sweep_shapes.rs")], [], "", ""), None


def compile_in(where, how, exe, files, options):
    """Compilers that write more than one file do it in where."""
    compiler, *flags = how.split()
    if compiler == "gnatmake":
        files = [shutil.copy(f, where) for f in files]
    if compiler in ("gcc", "g++", "clang", "clang++"):
        files = [*files, "-lm", "-ldl"]
    out = ["-of=" + exe] if compiler == "ldc2" else ["-o", exe]
    env = {**os.environ, "GOCACHE": os.path.join(where, "cache"), "GO111MODULE": "off"}
    return run([compiler, *flags, *options, *out, *files], cwd=where, env=env)


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
    done = compile_in(where, how, exe, files, options)
    if done.returncode:
        return None, f"{how}: {done.stderr.strip().splitlines()[-1:]}"
    with open(os.path.join(where, "input"), "w", encoding="utf-8") as f:
        f.write(text)
    is_go = compiler == "go"
    # Go's main.main has a stack of its own.
    return {"exe": exe, "args": args, "input": os.path.join(where, "input"), "where": where,
            "main": "_rt0_amd64_linux" if is_go else "main", "own": OWN.get(program),
            "views": program in OWN and compiler in ("g++", "gnatmake", "gfortran", "gdc"),
            "environment": GO_ENVIRONMENT if is_go else [],
            "base": 0 if is_pinned(exe) else BASE}, None


def is_pinned(exe):
    """Whether the program is always at its own addresses (ET_EXEC)."""
    with open(exe, "rb") as f:
        return f.read(18)[16] == 2


# ---- what perf-bpf says ----

def show(program, *words):
    done = run([PERF_BPF, "probe", "-q", "--json", "-x", program["exe"], *words])
    try:
        return json.loads(done.stdout) if not done.returncode else None
    except ValueError:
        return None


def with_gdb(program, points, **more):
    """What lib/gdb_values.py writes."""
    plan, out = (os.path.join(program["where"], f) for f in ("plan", "gdb.out"))
    with open(plan, "w", encoding="utf-8") as f:
        json.dump({"program": program["exe"], "args": program["args"], "input": program["input"],
                   "base": program["base"], "main": program["main"], "hits": HITS,
                   "environment": program["environment"], "points": points, "out": out, **more}, f)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib/gdb_values.py")
    done = run(["gdb", "-q", "-nx", "-batch", "-x", script], env={**os.environ, "PLAN": plan},
               timeout=sweep_live.LIMIT)
    if not os.path.exists(out):
        raise RuntimeError(f"gdb: {done.stdout[-300:]} {done.stderr[-300:]}")
    with open(out, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def functions_that_run(program):
    """Names of functions out of line that are called. Sets program["random"]."""
    found = show(program, "--no-inlines", "*")
    # Of what a compiler's own library brings only what was made for this program.
    points = [p for p in (found or {}).get("points", []) if p["source"] == "dwarf" and
              not p["offset"] and "/rustc/" not in (p.get("file") or "") and
              p["symbol"].startswith(program["own"] or "")]
    program["random"], *hits = with_gdb(
        program, [{"address": int(p["address"], 16)} for p in points], where=True)
    # While the runtime starts threads, gdb may stop twice at one entry of Go's main.main.
    return sorted({points[h["point"]]["symbol"] for h in hits} - {"main.main"})


TEXT = re.compile(r"(const )?char (\*( const)?|\[\d+\])|(const )?(std::)?(__cxx11::)?string( &)?")


def fields_of(program, place, dice):
    """(what the probe fetches at a place, which of these are global variables)."""
    found = show(program, "-V", place)
    listed = {v["name"]: v["type"] for p in (found or {}).get("points", []) for v in p["variables"]}
    own = {n: t for n, t in listed.items() if n.isidentifier()}
    found = show(program, "--externs", "-V", place) if own else None
    outer = {v["name"]: v["type"] for p in (found or {}).get("points", []) for v in p["variables"]
             if v["name"].isidentifier() and v["name"] not in listed}
    chosen = dice.sample(sorted(outer), min(GLOBALS, len(outer)))
    own = dict(list(own.items())[:60])
    fields = list(own) + chosen
    for name, kind in [*own.items(), *((n, outer[n]) for n in chosen)]:
        if TEXT.fullmatch(kind):
            fields.append(f"{name}__text={name}:string")
    return fields, chosen


def code_at(exe, address):
    """The first bytes of a function of a 64-bit program."""
    with open(exe, "rb") as f:
        data = f.read()
    begin, size, n = *struct.unpack_from("<Q", data, 32), *struct.unpack_from("<HH", data, 54)
    for at in range(begin, begin + n * size, size):
        kind, _, offset, start, _, length = struct.unpack_from("<IIQQQQ", data, at)
        if kind == 1 and start <= address < start + length:
            return data[offset + address - start:][:16]
    return b""


def checks_stack(program, name):
    """Whether a function of Go begins by a look at its goroutine's guard (cmp 16(%r14), REG)."""
    if not program["environment"]:
        return False
    shown = show(program, "--no-inlines", name)
    points = (shown or {}).get("points", [])
    return bool(points) and b"\x3b\x66\x10" in code_at(program["exe"], int(points[0]["address"], 16))


def at_address(program, point):
    """Where the variables are by the address alone. Of the states that an address has (location views
    of gcc) gdb has the last one; at a line perf-bpf has the one in which the line begins."""
    words = " ".join(a["name"] for a in point["args"] if a["name"].isidentifier() and
                     not a["name"].endswith("__text"))
    shown = show(program, f"force=yes;{point['symbol']}+{point['offset']} {words}")
    points = [p for p in (shown or {}).get("points", []) if p["address"] == point["address"] and
              p.get("inlined") == point.get("inlined")]
    return {a["name"]: a.get("place") for a in points[0]["args"]} if points else {}


def choose(program, count, dice):
    """[(definition, its point, global variables)] at the entries and on some lines of functions
    that are run; how many functions."""
    names = functions_that_run(program)
    dice.shuffle(names)
    chosen, n = [], 0
    for name in names:
        if n == count:
            break
        places = [name]
        found = []
        lines = show(program, "-L", name)
        if lines and lines.get("lines"):
            below = [n - lines["first"] for n in lines["lines"][1:]]
            most = LINES_OF_LANGUAGES if program["own"] else LINES
            places += [f"{name}:{n}" for n in dice.sample(below, min(most, len(below)))]
        for place in places:
            fields, outer = fields_of(program, place, dice)
            guard = [GUARD] if place == name and checks_stack(program, name) else []
            if fields:
                fields += guard
            words = f"{place} {' '.join(fields)}"
            shown = show(program, f"force=yes;{words}") if fields else None
            if not shown:
                words, outer = " ".join([place, "$vars", *guard]), []
                shown = show(program, f"force=yes;{words}")
            points = [p for p in (shown or {}).get("points", []) if p["args"]]
            for point in points:
                point["at"] = at_address(program, point) if program["views"] and place != name else {}
            found += [(words, p, outer) for p in points]
        n += bool(found)
        chosen += found
    return chosen, n


# ---- comparing ----

class Sums:
    NUMBERS = ("functions", "points", "hits", "same", "by_line", "ours_not", "gdb_not", "elsewhere",
               "refused")

    def __init__(self):
        for name in self.NUMBERS:
            setattr(self, name, 0)
        self.wrong, self.reasons, self.examples = [], {}, {}

    def add(self, other):
        for name in self.NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.wrong += other.wrong
        for why, n in other.reasons.items():
            self.reasons[why] = self.reasons.get(why, 0) + n
        self.examples = {**other.examples, **self.examples}

    def not_ours(self, why, example):
        self.ours_not += 1
        why = re.sub(r"'[^']*'|\b[0-9]+\b", "N", why)
        why = re.sub(r"(xmm|\br)[0-9]+", r"\1N", why)[:90]
        self.reasons[why] = self.reasons.get(why, 0) + 1
        self.examples.setdefault(why, example)

    def text(self):
        lost = f", {self.elsewhere} hits in a frame that gdb names otherwise" if self.elsewhere else ""
        lost += f", {self.by_line} by the line and not the address" if self.by_line else ""
        lost += f", {self.refused} points refused, said so" if self.refused else ""
        return (f"{self.functions} functions, {self.points} points, {self.hits} hits: {self.same} "
                f"same, {len(self.wrong)} wrong, {self.ours_not} ours not, {self.gdb_not} gdb not{lost}")


def bytes_of(value):
    """As gdb's value is in memory, little endian."""
    if "int" in value:
        return (value["int"] & (1 << 8 * value["size"]) - 1).to_bytes(value["size"], "little").hex()
    if "float" in value:
        return struct.pack("<f" if value["size"] == 4 else "<d", value["float"]).hex()
    return value["text"] if "text" in value else value["bytes"]


def is_same(ours, theirs):
    """Of bytes, those that both know; None: there are none."""
    if not isinstance(ours, str):
        return False
    if ".." not in ours + theirs:
        return ours == theirs
    pairs = [(ours[i:i + 2], theirs[i:i + 2]) for i in range(0, len(theirs), 2)]
    known = [(a, b) for a, b in pairs if ".." not in (a, b)]
    return all(a == b for a, b in known) and len(ours) == len(theirs) if known else None


def is_nan(value):
    """gdb does not keep its other bits."""
    return "float" in value and value["float"] != value["float"]


def is_nan_of(ours):
    if ours == "text nan":
        return True
    if not isinstance(ours, str) or not re.fullmatch("[0-9a-f]{8}|[0-9a-f]{16}", ours):
        return False
    number = struct.unpack("<f" if len(ours) == 8 else "<d", bytes.fromhex(ours))[0]
    return number != number


GO_HEAP = re.compile(".{8}c0000000")  # the arena of Go's heap and stacks, little endian


def without_heap(text):
    """Without addresses of Go's heap and stacks, which are other ones in another run."""
    words = [text[i:i + 16] for i in range(0, len(text), 16)]
    return "".join("." * 16 if GO_HEAP.fullmatch(word) else word for word in words)


def compare_hit(words, point, hit, sums, recorded=None):
    """The locations of perf-bpf, as gdb evaluated them, or the fields that were recorded."""
    args = {a["name"]: a for a in point["args"]}
    for name, value in hit["values"].items():
        arg = args.get(name)
        example = f"{words.split()[0]} at {point['address']}: {name}"
        if not arg or "skip" in value:
            continue
        if "gone" in value:
            sums.gdb_not += "place" in arg
            continue
        if "place" not in arg:
            if recorded is None:
                sums.not_ours(arg.get("obstacle", "?"), example)
            continue
        theirs = bytes_of(value)
        if "bytes" in value and re.search(" string( of length .*)?$", arg["place"]):
            # An array of characters is shown as the text that it holds.
            value = {"text": bytes.fromhex(theirs).split(b"\0")[0][:120].hex()}
            theirs = value["text"]
        if recorded is None:
            ours = hit["ours"].get(name)
        else:
            ours = sweep_live.bytes_of(recorded.get(name), value, arg)
            if recorded.get(name, 0) is None:
                sums.not_ours("recorded as a fault", f"{example}: {arg['place']}")
                continue
            if ours is None and not isinstance(recorded.get(name, 0), int):
                continue
        if recorded is not None and point["go"] and isinstance(ours, str) and "text" not in value:
            ours, theirs = without_heap(ours), without_heap(theirs)
        if ours is None:
            if recorded is not None:
                sums.not_ours("recorded, but it could not be read", f"{example}: {arg['place']}")
            continue
        same = is_same(ours, theirs)
        if "text" in value and recorded is not None and ours.endswith(CUT):
            same = same or theirs.startswith(ours[:-len(CUT)])
        if same or (is_nan(value) and is_nan_of(ours)):
            sums.same += 1
        elif (same is False and point["at"].get(name, arg["place"]) != arg["place"] and
              is_same(hit["ours"].get(name + "__at", theirs), theirs)):
            sums.by_line += 1
        elif same is False and point["made_by_clang"] and arg["place"].startswith("%sp+"):
            # On the stack, before the frame register is set by which clang says where: gdb reads
            # by what the register was in the caller.
            sums.gdb_not += 1
        elif same is False:
            sums.wrong.append(
                f"{words.split()[0]} at {point['address']} ({point['symbol']}+{point['offset']}"
                f"{', inlined ' + point['inlined'] if point.get('inlined') else ''}), hit "
                f"{hit['hit']}: {name}: '{arg['place']}' is {ours}, gdb has {theirs}")


def check_refused(program, points, sums):
    """perf-bpf says why the kernel would not place a uprobe there: is it that instruction?"""
    for point in points:
        shown = run(["gdb", "-q", "-nx", "-batch", "-ex", f"x/i {point['address']}", program["exe"]])
        found = re.search(r":\t(\S.*)", shown.stdout)
        said = re.search(r"instruction '(\S+)", point["refused"])
        if found and said and re.sub("[bwlq]$", "", said.group(1)) in found.group(1):
            sums.refused += 1
        else:
            sums.wrong.append(f"{point['address']}: {point['refused']}, gdb has {shown.stdout.strip()}")


def sweep(program, how, count, dice, where):
    """(sums of the locations, sums of the recorded values), or (None, why not)."""
    target, why = build(program, how, where)
    if not target:
        return None, why
    sums, live = Sums(), Sums()
    chosen, sums.functions = choose(target, count, dice)
    for _, point, _ in chosen:
        point["go"] = target["environment"] == GO_ENVIRONMENT
        point["made_by_clang"] = "clang" in how and not point["offset"] and not point.get("inlined")
    plan = [{"address": int(p["address"], 16), "function": p["symbol"], "inlined": p.get("inlined"),
             "slots": not p["offset"] and ("-O0" in how or "opt-level=0" in how),
             "preempted": PREEMPTED if any(a["name"] == "guard__" for a in p["args"]) else None,
             "args": [[a["name"], a.get("place")] for a in p["args"]] +
                     [[name + "__at", place] for name, place in p["at"].items()],
             "globals": outer}
            for _, p, outer in chosen]
    recorded, given = sweep_live.record(PERF_BPF, target, [(w, p) for w, p, _ in chosen], HITS)
    hits = with_gdb(target, plan, random=given)
    for hit in hits:
        words, point, _ = chosen[hit["point"]]
        sums.hits += 1
        sums.elsewhere += not hit["values"]
        compare_hit(words, point, hit, sums)
        fields = recorded.get(hit["point"], [])
        if hit["hit"] < len(fields):
            live.hits += 1
            compare_hit(words, point, hit, live, fields[hit["hit"]])
        elif hit["point"] in recorded:
            live.wrong.append(f"{words.split()[0]} at {point['address']}: hit {hit['hit']} was not recorded")
    check_refused(target, [p for _, p, _ in chosen if p.get("refused")], sums)
    sums.points = len({hit["point"] for hit in hits})
    live.points = len({hit["point"] for hit in hits if recorded.get(hit["point"])})
    live.functions = len({chosen[i][1]["symbol"] for i in recorded})
    return (sums, live), None


def try_way(program, how, count):
    """(both sums or None, why not, whether that is a failure, seconds)"""
    began = time.monotonic()
    failed = False
    with tempfile.TemporaryDirectory(prefix="perf-bpf-sweep.") as where:
        try:
            both, why = sweep(program, how, count, random.Random(SEED), where)
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            both, why, failed = None, str(e), True
    return both, why, failed, time.monotonic() - began


def table(rows):
    """Of the programs in languages/, by their locations and as they were recorded."""
    say("program: points; values of gdb, same, by the line, refused, wrong; recorded: same, by the line, wrong")
    for name, sums, live in rows:
        values = sums.same + sums.by_line + sums.ours_not + len(sums.wrong)
        say(f"{name}: {sums.points}; {values}, {sums.same}, {sums.by_line}, {sums.ours_not}, "
            f"{len(sums.wrong)}; {live.same}, {live.by_line}, {len(live.wrong)}")
        for why, n in sorted(sums.reasons.items(), key=lambda x: -x[1]):
            say(f"    {n} {why}")


def main():
    for tool in ("gdb", "gcc"):
        if not shutil.which(tool):
            skip_all(f"{tool} is not installed")
    ways = [(p, h) for p, h in WAYS if fnmatch.fnmatchcase(f"{p} {h}", ONLY) or ONLY == "*"]
    each = max(1, -(-FUNCTIONS // max(1, len(ways))))
    total, total_live, results, by_program = Sums(), Sums(), [], []
    for program in dict.fromkeys(p for p, _ in ways):
        sources(program)  # fetches what is missing; not by two at a time
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for (program, how), (both, why, failed, took) in zip(
                ways, pool.map(lambda way: try_way(*way, 1000 if way[0] in OWN else each), ways)):
            name = f"{program}: {how}"
            if not both:
                say(f"{name}: {why}" if failed else f"{name}: skipped: {why}")
                results.append((not failed, name if failed else f"{name} # SKIP {why}"))
                continue
            sums, live = both
            total.add(sums)
            total_live.add(live)
            say(f"{name}: {sums.text()} ({took:.0f} s)")
            say(f"  recorded: {live.text()}")
            if program in OWN:
                by_program.append((name, sums, live))
            for line in (sums.wrong + live.wrong)[:int(os.environ.get("SWEEP_SHOW", "8"))]:
                say("  " + line)
            good = not sums.wrong and not live.wrong and sums.same > 0
            results.append((good and (live.same > 0 or not sweep_live.possible()), name))
    table(by_program)
    say(f"all: {total.text()}")
    say(f"all recorded: {total_live.text()}")
    for one, what in ((total, "ours not"), (total_live, "not recorded")):
        for why, n in sorted(one.reasons.items(), key=lambda x: -x[1])[:16]:
            say(f"  {what}: {n} {why} ({one.examples[why]})")
    return tap(results)


if __name__ == "__main__":
    sys.exit(main())
