#!/usr/bin/env python3
"""BCC's libbpf-tools, unchanged, with this library and with libbpf.

Debian's source package bpfcc holds them. Their own Makefile builds all of them
twice: with this library, installed, by what pkg-config says of it; and with
Debian's libbpf-dev (with a newer libbpf, of the tools' own release, those that
ask for more). Each is then run for two seconds, both builds at the same time
over one workload that counts for itself (tests/peers/tools_work.c), and what
they print must be the same, times apart, and what the workload counts. What
libbpf cannot attach on this kernel is run in guests with Debian's 6.1 and 6.12.

Sources and builds are kept in ${XDG_CACHE_HOME:-~/.cache}/perf-bpf/peers.
PEERS_ONLY=GLOB tries some of the tools, PEERS_GUESTS="trixie ..." (or "") some of
the guests, PEERS_TABLE=FILE keeps the table.
"""
import fnmatch
import os
import platform
import shutil
import sys
import tempfile

from lib import guests
from lib.common import ONLY, say, skip_all
from lib.packages import fetch
from lib.report import Report
from lib.tools_build import build_libbpf, build_ours, tools_of
from lib.tools_run import build_runner, run_guests, run_here
from lib.tools_specs import specs_of

GUESTS = os.environ.get("PEERS_GUESTS", "bookworm trixie").split()


class Row:
    """A tool as it is run: where, and what came of it."""

    def __init__(self, spec):
        self.spec = spec
        self.places = {}  # kernel -> (good, words)

    def add(self, kernel, run):
        self.places[kernel] = run.check(self.spec) if run else (False, "it was not run")
        if run and self.places[kernel][0] is False:
            say(f"{self.spec.name} on {kernel}: the workload counts {run.work}")
            for who, text in (("ours", run.ours), ("libbpf's", run.theirs)):
                say(f"{who} prints")
                say("\n".join("  | " + line for line in text[:40]))

    @property
    def ran(self):
        return any(good is not None for good, _ in self.places.values())

    @property
    def wrong(self):
        return [f"{self.spec.name}: {kernel}: {words}"
                for kernel, (good, words) in self.places.items() if good is False]


def table_of(tools, ours, peers, rows):
    built_with = {t: next((p.label for p in peers if p.has(t)), "") for t in tools}
    same = sum(1 for r in rows if r.ran and not r.wrong)
    lines = [f"{len(tools)} tools: {sum(map(ours.has, tools))} build with ours, "
             + ", ".join(f"{sum(map(p.has, tools))} with {p.label}" for p in peers),
             f"{len(rows)} ways of running them: {same} the same with ours and with libbpf, "
             f"{sum(1 for r in rows if r.wrong)} not, {sum(1 for r in rows if not r.ran)} run "
             "with neither"]
    lines += [""]
    for row in rows:
        tool = row.spec.tool
        lines.append(f"{row.spec.name}   (ours {'builds' if ours.has(tool) else 'does not build'}; "
                     f"{built_with[tool] or 'no libbpf builds'})")
        if not ours.has(tool):
            lines.append(f"    not built with ours: {ours.failed.get(tool, '')}")
        for kernel, (good, words) in row.places.items():
            verdict = {True: "the same", False: "NOT THE SAME", None: "neither"}[good]
            lines.append(f"    {kernel}: {verdict}: {words}")
    for peer in peers:
        if peer.failed:
            lines += ["", f"not built with {peer.label}: {len(peer.failed)}"]
            lines += [f"  {tool}: {why}" for tool, why in sorted(peer.failed.items())]
    return lines


def main():
    if os.geteuid() != 0:
        skip_all("loading takes root")
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        skip_all("this kernel has no BTF")
    for tool in ("clang", "llvm-strip", "make", "pkg-config", "meson"):
        if not shutil.which(tool):
            skip_all("no " + tool)
    if not shutil.which("bpftool") and not os.path.exists("/usr/sbin/bpftool"):
        skip_all("no bpftool")
    place, version, suite = fetch("bpfcc", ("libbpf-tools/",))
    if not place:
        skip_all("no source package bpfcc: " + version)
    sources = os.path.join(place, "libbpf-tools")
    tools = [t for t in tools_of(sources) if fnmatch.fnmatch(t, ONLY)]
    ours = build_ours(sources, version)
    peers = build_libbpf(sources, version, suite)
    if not peers:
        skip_all("no libbpf to compare with (package libbpf-dev)")

    def paths(spec):
        return (ours.path(spec.tool),
                next(p.path(spec.tool) for p in peers if p.has(spec.tool)))

    rows = [Row(spec) for tool in tools for spec in specs_of(tool)]
    able = [r for r in rows if ours.has(r.spec.tool) and any(p.has(r.spec.tool) for p in peers)]
    report = Report(f"BCC's libbpf-tools ({version}) with this library and with libbpf\n"
                    "(make check-peers; PEERS_TABLE=doc/libbpf-tools.txt tests/run --only "
                    "libbpf_tools peers\nkeeps the table)")
    kernels = [platform.release()]
    with tempfile.TemporaryDirectory(prefix="perf-bpf-peers-") as folder:
        build_runner(folder)
        for row in able:
            row.add(kernels[0], run_here(row.spec, *paths(row.spec), folder))
        # What did not attach here may elsewhere.
        left = [r for r in able if not r.ran]
        why = guests.why_not() if left else "nothing is left to run there"
        if not GUESTS or why:
            report.skip("guests", why or "PEERS_GUESTS names none")
        else:
            ran = run_guests(GUESTS, [r.spec for r in left], [paths(r.spec) for r in left], folder)
            for guest, (release, runs) in ran.items():
                if not release:
                    report.skip(f"the guest of {guest}", runs)
                    continue
                kernels.append(release)
                for i, row in enumerate(left):
                    row.add(release, runs.get(i))

    report.lines += ["", *table_of(tools, ours, peers, rows)]
    report.check(tools and all(ours.has(t) for t in tools if any(p.has(t) for p in peers)),
                 "what builds with libbpf builds with ours")
    for kernel in kernels:
        tried = [r.places[kernel] for r in rows if kernel in r.places]
        report.check(any(good for good, _ in tried) and all(good is not False for good, _ in tried),
                     f"{kernel}: the tools print with ours what they print with libbpf")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
