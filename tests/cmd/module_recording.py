#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a recording with samples in a kernel module, as `record -o -` does:

    module_recording.py PATH ADDRESS SIZE OFFSET=SAMPLES... >data

PATH is the module's file and ADDRESS where the kernel has its .text."""
import struct
import sys

KERNEL = 1  # PERF_RECORD_MISC_KERNEL
IP, TID, TIME, PERIOD = 1, 2, 4, 256


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def mapping(address, size, pgoff, path):
    name = path.encode() + b"\0"
    name += b"\0" * (-len(name) % 8)
    return record(1, KERNEL, struct.pack("<iiQQQ", -1, 0, address, size, pgoff) + name)


path, address, size = sys.argv[1], int(sys.argv[2], 0), int(sys.argv[3], 0)
out = b"PERFILE2" + struct.pack("<Q", 16)
# A clock on the CPU, every million events.
attr = struct.pack("<IIQQQQQ", 1, 136, 0, 1000000, IP | TID | TIME | PERIOD, 0, 1 << 40)
out += record(64, 0, attr.ljust(136, b"\0") + struct.pack("<Q", 1))
out += mapping(0xFFFFFFFF81000000, 0x1000000, 0xFFFFFFFF81000000, "[kernel.kallsyms]_text")
out += mapping(address, size, 0, path)
out += record(3, 0, struct.pack("<ii8s", 7, 7, b"modtest"))
time = 1000000000
for arg in sys.argv[4:]:
    offset, samples = (int(x, 0) for x in arg.split("="))
    for _ in range(samples):
        time += 1000000
        out += record(9, KERNEL, struct.pack("<QiiQQ", address + offset, 7, 7, time, 1000000))
sys.stdout.buffer.write(out)
