#!/usr/bin/env python3
"""Programs that use a module in every way, with this library and with a newer libbpf.

tests/vm/testmod_client.c is built with either and run in QEMU, on sid's kernel with the
kernel's test module bpf_testmod (tests/vm/fetch-testmod): types of the module, functions,
variables, struct_ops, tracepoints, fentry, kprobes. Both have to see what the module's source
says, and to print the same. The peer is sid's libbpf, unpacked from its package.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from lib import guests
from lib.clients import build_static
from lib.common import ARCH, BUILD, SRC, say, skip_all, tap
from lib.debs import fetch

SUITE = "sid"


def compile_object(out):
    subprocess.run(["clang", "-O2", "-g", "-target", "bpf", f"-D__TARGET_ARCH_{ARCH}",
                    "-I" + os.path.join(SRC, "include"), "-I" + os.path.join(BUILD, "include"),
                    "-idirafter", f"/usr/include/{os.uname().machine}-linux-gnu",
                    "-c", os.path.join(SRC, "tests/vm/testmod.bpf.c"), "-o", out], check=True)


def needs():
    """(the kernel's folder, usr of libbpf), or no test."""
    reason = guests.why_not() or (None if shutil.which("clang") else "no clang")
    if reason:
        skip_all(reason)
    folder, why = guests.kernel(SUITE)
    if not folder or not guests.testmod(SUITE)[0]:
        skip_all(why or guests.testmod(SUITE)[1])
    place, why = fetch(SUITE, "libbpf-dev", ("libbpf1",))
    if not place:
        skip_all(why)
    return folder, os.path.join(place, "usr")


def main():
    folder, usr = needs()
    with tempfile.TemporaryDirectory(prefix="perf-bpf-peers-") as work:
        ours, theirs = build_static(work, usr, "../vm/testmod_client")
        compile_object(os.path.join(work, "testmod.o"))
        initramfs, output = os.path.join(work, "initramfs"), os.path.join(work, "output")
        subprocess.run([os.path.join(guests.VM, "make-initramfs"), initramfs,
                        os.path.join(guests.VM, "guest/run-testmod") + "=run-tests",
                        f"{ours}=bin/testmod_client", f"{theirs}=bin/testmod_libbpf",
                        os.path.join(work, "testmod.o") + "=tests/testmod.o"], check=True)
        guests.add_own(SUITE, folder, initramfs)
        run = subprocess.run([os.path.join(guests.VM, "boot"), folder, initramfs, output,
                              str(guests.BOOT_SECONDS)])
        with open(output, errors="replace") as f:
            text = f.read().replace("\r", "")
    for line in re.findall(r"^# (.*)", text, re.M):
        say(line)
    results = [(not bad, name) for bad, name in re.findall(r"^(not )?ok - (.*)", text, re.M)]
    results.append((run.returncode == 0, f"{SUITE}: the guest came to its end"))
    return tap(results)


if __name__ == "__main__":
    sys.exit(main())
