#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a recording as from a pipe, with samples at the given addresses:

    made_recording.py WORD... >data

The words; the header's come first:
    release=TEXT arch=TEXT           of the header
    build-id=HEX[,PATH]              of PATH, or of the kernel
    kernel=ADDRESS                   where the kernel has _text (0xffffffff81000000)
    pid=N                            of the process for what follows (5000007, which no process has)
    map=ADDRESS,LENGTH,OFFSET,PATH[,BUILD-ID]
                                     of the process or, at high addresses, the kernel
    ADDRESS=N                        N samples of the process

The event is a clock on the CPU, every 500,000 events; of user space, if the first sample is there."""
import re
import struct
import sys

KERNEL, USER = 1, 2  # PERF_RECORD_MISC_KERNEL, _USER
HAS_SIZE, HAS_BUILD_ID = 1 << 15, 1 << 14  # PERF_RECORD_MISC_BUILD_ID_SIZE, _MMAP_BUILD_ID
IP, TID, TIME, PERIOD = 1, 2, 4, 256
EXCLUDE_KERNEL, EXCLUDE_HV, USE_CLOCKID, MONOTONIC = 1 << 5, 1 << 6, 1 << 25, 1
FEATURES = {"release": 4, "arch": 6}  # HEADER_OSRELEASE, HEADER_ARCH


def padded(text, to=8):
    data = text.encode() + b"\0"
    return data + b"\0" * (-len(data) % to)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def side(address):
    return KERNEL if address >> 63 else USER


def mapping(address, length, offset, path, build_id=""):
    misc = side(address)
    owner = (-1, 0) if misc == KERNEL else (pid, pid)
    where = struct.pack("<iiQQQ", *owner, address, length, offset)
    if build_id:
        data = bytes.fromhex(build_id)
        return record(10, misc | HAS_BUILD_ID, where + struct.pack("<B3x20sII", len(data), data, 5, 2) + padded(path))
    return record(1, misc, where + padded(path))


def feature(number, text):
    string = padded(text, 64)
    return record(80, 0, struct.pack("<QI", number, len(string)) + string + b"\0" * 4)


def build_id(text):
    hexadecimal, _, path = text.partition(",")
    data = bytes.fromhex(hexadecimal)
    return record(67, (USER if path else KERNEL) | HAS_SIZE, struct.pack("<i", -1) + data.ljust(20, b"\0") +
                  struct.pack("<B3x", len(data)) + padded(path or "[kernel.kallsyms]\0\0\0"))


words = [word.split("=", 1) for word in sys.argv[1:]]
named = dict(words)
pid = 5000007
text = int(named.get("kernel", "0xffffffff81000000"), 0)
first = next(int(name, 0) for name, _ in words if name[0].isdigit())
out = b"PERFILE2" + struct.pack("<Q", 16)
for name in FEATURES.keys() & named.keys():
    out += feature(FEATURES[name], named[name])
flags = USE_CLOCKID | (EXCLUDE_KERNEL | EXCLUDE_HV if side(first) == USER else 0)
attr = struct.pack("<IIQQQQQ", 1, 128, 0, 500000, IP | TID | TIME | PERIOD, 0, flags)
attr = attr.ljust(92, b"\0") + struct.pack("<I", MONOTONIC)
out += record(64, 0, attr.ljust(128, b"\0") + struct.pack("<Q", 1))
out += b"".join(build_id(value) for name, value in words if name == "build-id")
out += mapping(text, 0x2000000, text, "[kernel.kallsyms]_text")
time = 1000000000
for name, value in words:
    if name == "pid":
        pid = int(value)
    elif name == "map":
        numbers, _, path = re.fullmatch("((\\w+,){3})(.*)", value).groups()
        path, _, identity = path.partition(",")
        out += mapping(*(int(n, 0) for n in numbers.split(",")[:3]), path, identity)
    elif name[0].isdigit():
        for _ in range(int(value)):
            time += 1000000
            out += record(9, side(int(name, 0)), struct.pack("<QiiQQ", int(name, 0), pid, pid, time, 500000))
sys.stdout.buffer.write(out)
