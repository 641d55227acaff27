#!/usr/bin/env python3
"""Objects by the thousand: what opening them finds, with this library and with libbpf.

6.1's selftests and samples (package linux-source-6.1) are compiled by every
clang that is here and by gcc-bpf, with other levels of optimization, other
instruction sets, without debug information, for the other byte order; stripped
of DWARF, and linked in pairs by bpftool. Each object is opened by both
libraries, in a process of its own: whether it opens, its programs (section,
types, flags, instructions), its maps (all attributes, the first value), must be
the same. Nothing is loaded. The peer is sid's libbpf where it can be had, else
the one that is installed.

PEERS_ONLY=GLOB tries some of the objects, PEERS_TABLE=FILE keeps the table.
"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

from lib.clients import build_static
from lib.common import ARCH, skip_all
from lib.debs import fetch
from lib.guests import kernel_btf
from lib.objects import FLAGS, compile_all
from lib.report import Report
from lib.trees import SAMPLES, SELFTESTS, installed

PROGS = SELFTESTS + "/progs/*.c"


def flags(*changes):
    """FLAGS with other levels, and without -g where "-g0" is asked for."""
    kept = [f for f in FLAGS if not any(f[:2] == c[:2] and f[1] in "Om" for c in changes)]
    return [f for f in kept if f != "-g" or "-g0" not in changes] + list(changes)


BIG = [f if f != "bpf" else "bpfeb" for f in FLAGS]
GCC = ["-g", "-gbtf", "-O2", "-std=gnu11", "-fno-strict-aliasing", "-w", "-fpermissive",
       "-mcpu=v3", f"-D__TARGET_ARCH_{ARCH}"]
# The samples are built with the kernel's own headers, which name these.
OLD = ["-Du8=__u8", "-Du16=__u16", "-Du32=__u32", "-Du64=__u64", "-DTASK_COMM_LEN=16"]
# Name, compilers, flags, sources.
VARIANTS = (
    ("clang -O2 v3", ["clang-14", "clang"], FLAGS, PROGS),
    ("clang-14 -O1 v1", ["clang-14"], flags("-O1", "-mcpu=v1"), PROGS),
    ("clang-14 -Os v2", ["clang-14"], flags("-Os", "-mcpu=v2"), PROGS),
    ("clang-16 without -g", ["clang-16"], flags("-g0"), PROGS),
    ("clang-19 -O2 v4", ["clang-19"], flags("-mcpu=v4"), PROGS),
    ("clang-22 -O1 v4", ["clang-22"], flags("-O1", "-mcpu=v4"), PROGS),
    ("clang-19 big-endian", ["clang-19"], BIG, PROGS),
    ("gcc-bpf -O2", ["bpf-gcc"], GCC, PROGS),
    ("samples, clang", ["clang"], FLAGS, SAMPLES + "/*.bpf.c"),
    ("samples, clang, old ones", ["clang"], FLAGS + OLD, SAMPLES + "/*_kern.c"),
    ("samples, clang-19 without -g", ["clang-19"], flags("-g0") + OLD, SAMPLES + "/*_kern.c"),
)


def stripped(objects, work):
    folder = os.path.join(work, "stripped")
    os.mkdir(folder)
    made = []
    for name, path in objects:
        out = os.path.join(folder, name + ".o")
        run = subprocess.run(["llvm-strip", "-g", path, "-o", out], capture_output=True)
        if run.returncode == 0:
            made.append((name, out))
    return made


def linked(objects, work):
    """Neighbours by name, joined by bpftool's linker; many do not go together."""
    folder = os.path.join(work, "linked")
    os.mkdir(folder)
    made = []
    for (a, first), (b, second) in zip(objects, objects[1:]):
        name = f"{a}+{b}"[:200]
        out = os.path.join(folder, name + ".o")
        run = subprocess.run(["bpftool", "gen", "object", out, first, second], capture_output=True)
        if run.returncode == 0 and os.path.exists(out):
            made.append((name, out))
    return made


def describe(client, objects):
    """{object: lines}"""
    found, paths = {}, [path for _, path in objects]
    for start in range(0, len(paths), 100):
        run = subprocess.run([client, "describe", *paths[start:start + 100]], capture_output=True,
                             text=True, errors="replace")
        lines = []
        for line in run.stdout.splitlines():
            if line.startswith("object\t"):
                lines = found.setdefault(line.split("\t")[1][:-2], [])
            else:
                lines.append(line)
    return found


def settle(line):
    """A line without what the libraries keep for themselves, or None.

    What holds types and the name's length is libbpf's own (it adds a type for
    kernel functions, and cuts names at 15 bytes); a struct_ops map's value is
    filled when it is loaded, as is .kconfig's; a single function in .text was a
    program before libbpf 1.5.
    """
    kind, name, rest = (line.split("\t") + ["", ""])[:3]
    if kind == "holds" or (kind == "program" and "section .text " in rest):
        return None
    if kind == "map":
        if "type 26 " in rest or name.endswith(".kconfig"):
            rest = re.sub(r" data .*", "", rest)
        if name.startswith(".bss."):
            name = name[:15]
    return f"{kind}\t{name}\t{rest}"


def differences(ours, theirs):
    """{how they differ: [object]}"""
    found = collections.defaultdict(list)
    opened = failed = 0
    for name, lines in theirs.items():
        own = ours.get(name, ["open\tnothing was said\t"])
        own_open = [l for l in own if l.startswith("open\t")]
        their_open = [l for l in lines if l.startswith("open\t")]
        if their_open:
            failed += 1
            if not own_open:
                found["opened by ours only: " + their_open[0].split("\t")[2][:100]].append(name)
        elif own_open:
            found["opened by libbpf only: " + " ".join(own_open[0].split("\t")[1:])[:200]].append(
                name)
        else:
            opened += 1
            a = [s for s in map(settle, own) if s]
            b = [s for s in map(settle, lines) if s]
            for mine, other in zip(a, b):
                if mine != other:
                    found[f"{mine}\n    libbpf: {other}"].append(name)
                    break
            else:
                if len(a) != len(b):
                    found[f"{len(a)} programs and maps, libbpf {len(b)}"].append(name)
    return found, opened, failed


def main():
    top, why = installed()
    if not top:
        skip_all(why)
    btf = kernel_btf("bookworm") or "/sys/kernel/btf/vmlinux"
    if not os.path.exists(btf):
        skip_all("no kernel's BTF to write vmlinux.h from")
    place, _ = fetch("sid", "libbpf-dev", ("libbpf1",))
    report = Report("Compiled in many ways: what opening finds, with this library and with libbpf\n"
                    "(make check-peers; PEERS_TABLE=doc/variants.txt tests/peers/test_variants.py "
                    "keeps the table)")
    total = 0
    with tempfile.TemporaryDirectory(prefix="perf-bpf-peers-") as work:
        clients = build_static(work, place and os.path.join(place, "usr"))

        def compare(what, objects, compiled):
            nonlocal total
            if not objects:
                return report.skip(what, compiled)
            ours, theirs = (describe(c, objects) for c in clients)
            found, opened, failed = differences(ours, theirs)
            total += len(theirs)
            report.add(f"{what}: {compiled}; {opened} opened by both, {failed} not by libbpf, "
                       f"{sum(map(len, found.values()))} differ")
            worse = 0
            for how, names in found.items():
                report.lines += [f"  {', '.join(names[:8])}"
                                 f"{f' and {len(names) - 8} more' if len(names) > 8 else ''}:",
                                 f"    {how}"]
                worse += not how.startswith("opened by ours only")
            return report.check(opened > 0 and not worse, f"{what}: the same is found")

        for what, compilers, options, sources in VARIANTS:
            if not any(shutil.which(c) for c in compilers):
                report.skip(what, f"no {compilers[0]}")
                continue
            made = compile_all(top, btf, compilers, options, sources)
            compare(what, made.objects, f"{len(made.objects)} objects, "
                                        f"{len(made.failed)} do not compile")
            if what == VARIANTS[0][0]:
                if shutil.which("llvm-strip"):
                    objects = stripped(made.objects, work)
                    compare("stripped", objects, f"{len(objects)} objects")
                if shutil.which("bpftool"):
                    objects = linked(made.objects, work)
                    compare("linked by bpftool", objects, f"{len(objects)} pairs that link")
        report.add(f"{total} objects")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
