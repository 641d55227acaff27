#!/usr/bin/env python3
"""Newer kernels' own BPF test programs, with this library and with a newer libbpf.

tools/testing/selftests/bpf/progs of Debian's linux-source packages of trixie
(6.12) and sid are compiled against our <bpf/...> headers alone, with vmlinux.h of
the same suite's kernel, by clang-19 and clang-22, and loaded on the kernels of
these suites in QEMU, as test_selftests.py does it; sid's here, too. The peer is
sid's libbpf, unpacked from its package, not installed. What it opens and loads,
this library must open and load.

PEERS_ONLY=GLOB tries some of the objects, PEERS_SOURCES="sid" some of the sources,
PEERS_GUESTS="sid" some of the kernels ("" none), PEERS_TABLE=FILE keeps the table.
"""
import os
import platform
import re
import shutil
import sys
import tempfile

from lib.clients import build_static
from lib.common import skip_all
from lib.debs import fetch
from lib.guests import compare, kernel_btf
from lib.objects import compile_all
from lib.report import Report
from lib.rows import Comparison, left_out, load
from lib.trees import of_suite, version

SOURCES = os.environ.get("PEERS_SOURCES", "trixie sid").split()
GUESTS = os.environ.get("PEERS_GUESTS", "trixie sid").split()
# Suite of the sources, compilers in the order in which they are tried, and the kernels.
SETS = (("trixie", ["clang-19", "clang-22", "clang"], ["trixie", "sid"]),
        ("sid", ["clang-22", "clang-19", "clang"], ["sid"]))


def libbpf():
    """(folder usr, its version) of the newest libbpf."""
    place, why = fetch("sid", "libbpf-dev", ("libbpf1",))
    if not place:
        skip_all(why)
    with open(os.path.join(place, "usr/include/bpf/libbpf_version.h")) as f:
        numbers = re.findall(r"#define LIBBPF_M\w+_VERSION (\d+)", f.read())
    return os.path.join(place, "usr"), "libbpf " + ".".join(numbers)


def here(objects, clients, peer, work):
    """The comparison on the running kernel."""
    paths = [path for _, path in objects]
    ours = load(clients[0], paths)
    leave_out = os.path.join(work, "left-out")
    with open(leave_out, "w") as f:
        f.write(left_out(ours))
    cmp = Comparison(peer)
    cmp.add_all(ours, load(clients[1], paths, leave_out))
    return cmp


def main():
    if os.geteuid() != 0:
        skip_all("loading takes root")
    if not any(shutil.which(c) for c in SETS[0][1]):
        skip_all("no clang")
    usr, peer = libbpf()
    report = Report(f"Newer kernels' own BPF test programs, with this library and with {peer}\n"
                    "(make check-peers; PEERS_TABLE=doc/selftests-newer.txt "
                    "tests/peers/test_newer_selftests.py keeps the table)")
    for suite, compilers, kernels in SETS:
        if suite not in SOURCES:
            continue
        top, why = of_suite(suite)
        btf = kernel_btf(suite)
        if not top or not btf:
            report.skip(f"{suite}'s programs", why or "its kernel cannot be had")
            continue
        what = f"{version(top)}'s programs"
        compiled = compile_all(top, btf, compilers)
        report.compiled(what, compiled)
        with tempfile.TemporaryDirectory(prefix="perf-bpf-peers-") as work:
            clients = build_static(work, usr)
            if suite == "sid":
                report.comparison(f"{what} on {platform.release()}",
                                  here(compiled.objects, clients, peer, work))
            report.guests(what, compare([s for s in kernels if s in GUESTS], compiled.objects,
                                        clients, peer, work))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
