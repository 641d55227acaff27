#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a recording as from a pipe, with samples in this host's kernel, in a module that is not here
and in the vdso:

    host_recording.py TEXT ADDRESS [RELEASE ARCHITECTURE [BUILD-ID]] >data

TEXT is where the kernel has _text, ADDRESS in one of its functions. With a release and an architecture the
recording has a header; with a build-id it has that of the kernel."""
import struct
import sys

KERNEL, USER = 1, 2  # PERF_RECORD_MISC_KERNEL, _USER
HAS_SIZE = 1 << 15  # PERF_RECORD_MISC_BUILD_ID_SIZE
IP, TID, TIME, PERIOD = 1, 2, 4, 256
OSRELEASE, ARCH = 4, 6  # HEADER_OSRELEASE, HEADER_ARCH
MODULE, VDSO = 0xFFFFFFFFC0F00000, 0x7FFF00000000


def padded(text, to=8):
    data = text.encode() + b"\0"
    return data + b"\0" * (-len(data) % to)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def mapping(misc, pid, address, size, pgoff, path):
    return record(1, misc, struct.pack("<iiQQQ", pid, pid if pid > 0 else 0, address, size, pgoff) +
                  padded(path))


def feature(number, text):
    string = padded(text, 64)
    return record(80, 0, struct.pack("<QI", number, len(string)) + string + b"\0" * 4)


text, address = int(sys.argv[1], 16), int(sys.argv[2], 16)
out = b"PERFILE2" + struct.pack("<Q", 16)
for number, value in zip((OSRELEASE, ARCH), sys.argv[3:5]):
    out += feature(number, value)
# A clock on the CPU, every million events.
attr = struct.pack("<IIQQQQQ", 1, 136, 0, 1000000, IP | TID | TIME | PERIOD, 0, 1 << 40)
out += record(64, 0, attr.ljust(136, b"\0") + struct.pack("<Q", 1))
if len(sys.argv) > 5:
    build_id = bytes.fromhex(sys.argv[5])
    out += record(67, KERNEL | HAS_SIZE, struct.pack("<i", -1) + build_id.ljust(20, b"\0") +
                  struct.pack("<B3x", len(build_id)) + padded("[kernel.kallsyms]\0\0\0"))
out += mapping(KERNEL, -1, text, 0x2000000, text, "[kernel.kallsyms]_text")
out += mapping(KERNEL, -1, MODULE, 0x5000, 0, "/lib/modules/3.4.0/kernel/drivers/pbfoo/pbfoo.ko")
out += record(3, 0, struct.pack("<ii", 7, 7) + padded("hosttest"))
out += mapping(USER, 7, VDSO, 0x2000, 0, "[vdso]")
time = 1000000000
for misc, ip in [(KERNEL, address), (KERNEL, MODULE + 0x5C7)] + [(USER, VDSO + i)
                                                                for i in range(0, 0x2000, 16)]:
    time += 1000000
    out += record(9, misc, struct.pack("<QiiQQ", ip, 7, 7, time, 1000000))
sys.stdout.buffer.write(out)
