#!/usr/bin/env python3
"""The kernel's own BPF test programs, loaded with this library and with libbpf.

tools/testing/selftests/bpf/progs of Debian's package linux-source-6.1 are
compiled against our <bpf/...> headers, with vmlinux.h of Debian's 6.1 (of the
running kernel, where that cannot be had), by clang and, what that cannot, by
clang-19. Each program of each object is then loaded by itself, by one client
that is built twice (tests/peers/loader.c): here, and on Debian's 5.10, 6.1, 6.12
and newest kernel in QEMU. What libbpf loads, this library must load; every row
that differs is printed with its reason. Opening and loading are
timed, and their memory is taken, with the libraries in turn.

Sources and objects are kept in ${XDG_CACHE_HOME:-~/.cache}/perf-bpf/peers; an
object is compiled again when a source, our headers or the kernel change.
PEERS_ONLY=GLOB tries some of the objects, PEERS_GUESTS="bookworm" some of the
kernels ("" none), PEERS_TABLE=FILE keeps the table.
"""
import os
import platform
import shutil
import sys
import tempfile

from lib.clients import build_clients, build_static
from lib.common import skip_all
from lib.guests import compare, kernel_btf
from lib.objects import compile_all
from lib.report import Report
from lib.rows import Comparison, left_out, load
from lib.timing import loaded_by_both, time_all
from lib.trees import installed

GUESTS = os.environ.get("PEERS_GUESTS", "bullseye bookworm trixie sid").split()
TITLE = ("The kernel's own BPF test programs, with this library and with libbpf 1.1\n"
         "(make check-peers; PEERS_TABLE=doc/selftests.txt tests/peers/test_selftests.py "
         "keeps the table)")


def here(objects, clients, work):
    """The comparison on the running kernel, and {object: [program]} that both load."""
    paths = [path for _, path in objects]
    ours = load(clients[0], paths)
    leave_out = os.path.join(work, "left-out")
    with open(leave_out, "w") as f:
        f.write(left_out(ours))
    cmp = Comparison("libbpf 1.1")
    theirs = load(clients[1], paths, leave_out)
    cmp.add_all(ours, theirs)
    return cmp, loaded_by_both(ours, theirs)


def timed(objects, programs, work, report):
    """How fast objects are opened and loaded, and the memory for it."""
    for timing in time_all(objects, programs, build_clients(work, "timer")):
        report.add(*timing.table())
        for good, name in timing.checks():
            report.check(good, name)


def main():
    if os.geteuid() != 0:
        skip_all("loading takes root")
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        skip_all("this kernel has no BTF")
    if not shutil.which("clang-19") and not shutil.which("clang"):
        skip_all("no clang")
    top, why = installed()
    if not top:
        skip_all(why)
    report = Report(TITLE)
    compiled = compile_all(top, kernel_btf("bookworm") or "/sys/kernel/btf/vmlinux",
                           ["clang", "clang-19"])
    report.compiled("6.1's programs", compiled)
    with tempfile.TemporaryDirectory(prefix="perf-bpf-peers-") as work:
        clients = build_clients(work)
        cmp, programs = here(compiled.objects, clients, work)
        report.comparison(f"6.1's programs on {platform.release()}", cmp)
        timed(compiled.objects, programs, work, report)
        report.guests("6.1's programs", compare(GUESTS, compiled.objects, build_static(work),
                                                "libbpf 1.1", work))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
