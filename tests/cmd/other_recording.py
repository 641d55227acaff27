#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a recording with what perf-bpf does not write itself, as a pipe: other_recording.py PATH >data

MMAP2 records without prot and flags, as the first kernels that had them; LOST_SAMPLES; AUX data; a
branch filter of all branches; and the features CLOCK_DATA, E_MACHINE and CLN_SIZE. The samples are at
0x401000 in PATH."""
import struct
import sys

IP, TID, TIME, PERIOD = 1, 2, 4, 256
MMAP2, SAMPLE, LOST_SAMPLES = 10, 9, 13
HEADER_ATTR, AUXTRACE, HEADER_FEATURE = 64, 71, 80
SAMPLE_ID_ALL = 1 << 18
BRANCH_ANY = 8
path = sys.argv[1]


def padded(text):
    data = text.encode() + b"\0"
    return data + b"\0" * (-len(data) % 8)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def kernel(kind, misc, body, time):
    return record(kind, misc, body + struct.pack("<iiQ", 7, 7, time))


def feature(number, body):
    return record(HEADER_FEATURE, 0, struct.pack("<Q", number) + body)


attr = bytearray(136)
struct.pack_into("<IIQQQQQ", attr, 0, 1, 136, 0, 1000000, IP | TID | TIME | PERIOD, 0, SAMPLE_ID_ALL)
struct.pack_into("<Q", attr, 72, BRANCH_ANY)
out = [b"PERFILE2" + struct.pack("<Q", 16), record(HEADER_ATTR, 0, bytes(attr) + struct.pack("<Q", 1))]
out.append(feature(29, struct.pack("<IIQQ", 1, 1, 1700000000123456789, 5000000042)))
out.append(feature(33, struct.pack("<II", 183, 5)))
out.append(feature(34, struct.pack("<I", 128) + bytes(4)))
mapping = struct.pack("<iiQQQIIQQ", 7, 7, 0x400000, 0x10000, 0, 8, 1, 1234, 0)
out.append(kernel(MMAP2, 2, mapping + padded(path), 1))
out.append(kernel(LOST_SAMPLES, 0, struct.pack("<Q", 42), 2))
for i in range(2):
    out.append(record(AUXTRACE, 0, struct.pack("<QQQIIII", 16, 0, 0, 0, 7, 0, 0)) + bytes(16))
for time in range(3, 8):
    out.append(record(SAMPLE, 2, struct.pack("<QiiQQ", 0x401000, 7, 7, time, 1000000)))
sys.stdout.buffer.write(b"".join(out))
