#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a recording of processes with given names, as `record -o -` does:

    named_recording.py [-n ROWS] PATH NAME... >data

Each NAME is a process with samples in PATH, the first with the most. With -n, processes "p1" and so
on are added, with a sample each, until there are so many."""
import struct
import sys

IP, TID, TIME, PERIOD = 1, 2, 4, 256
args = sys.argv[1:]
rows = 0
if args[0] == "-n":
    rows = int(args[1])
    args = args[2:]
path, names = args[0], args[1:]


def padded(text):
    data = text.encode("utf-8", "surrogateescape") + b"\0"
    return data + b"\0" * (-len(data) % 8)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


out = [b"PERFILE2" + struct.pack("<Q", 16)]
# A clock on the CPU, every million events.
attr = struct.pack("<IIQQQQQ", 1, 136, 0, 1000000, IP | TID | TIME | PERIOD, 0, 1 << 40)
out.append(record(64, 0, attr.ljust(136, b"\0") + struct.pack("<Q", 1)))
time = 1000000000
samples = len(names)
for pid in range(1, max(rows, len(names)) + 1):
    name = names[pid - 1] if pid <= len(names) else "p%d" % pid
    out.append(record(3, 0, struct.pack("<ii", pid, pid) + padded(name)))
    out.append(record(1, 2, struct.pack("<iiQQQ", pid, pid, 0x400000, 0x10000, 0) + padded(path)))
    for _ in range(max(samples - pid + 1, 1)):
        time += 1000000
        out.append(record(9, 2, struct.pack("<QiiQQ", 0x401000, pid, pid, time, 1000000)))
sys.stdout.buffer.write(b"".join(out))
