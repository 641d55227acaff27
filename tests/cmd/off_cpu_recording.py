#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a recording of `perf record --off-cpu -g` as perf 7.2 makes it (tools/perf/util/
bpf_off_cpu.c): what a sample of offcpu-time is about stands in its raw data.

    off_cpu_recording.py PATH [damaged] >data

A clock's sample at 0x401010 of PATH; thread 12 of process 11 slept 7 ms, called from 0x401020 and
0x401030 (a sample in time, of a kernel that saw thread 99 leave), thread 11 slept 3 ms in sum; both are
in the cgroup /web. With "damaged", a third one says that it has more frames than its data."""
import struct
import sys

IP, TID, TIME, CALLCHAIN, CPU, PERIOD, RAW = 1, 2, 4, 32, 128, 256, 1024
IDENTIFIER, CGROUP = 1 << 16, 1 << 21
USER, SUMS = (1 << 64) - 512, 0xFFFFFFFF00000000


def padded(text):
    data = text.encode() + b"\0"
    return data + b"\0" * (-len(data) % 8)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def event(number, kind, config, sample_type, name):
    attr = struct.pack("<IIQQQQQ", kind, 136, config, 1, sample_type, 0, 0)
    ids = struct.pack("<Q", number)
    return record(64, 0, attr.ljust(136, b"\0") + ids) + record(
        78, 0, struct.pack("<QQ", 2, number) + padded(name))


def off_cpu(misc, time, tgid, tid, ns, frames, n=None):
    what = struct.pack("<IIQQ", tgid, tid, ns, n or len(frames) + 1)
    what += struct.pack("<%dQ" % (len(frames) + 1), USER, *frames)
    what += struct.pack("<Q", 5) + b"\0\0\0\0"
    head = struct.pack("<QQiiQIIQ", 2, 0, 99 if time < SUMS else 0, 99 if time < SUMS else 0, time, 0, 0, 1)
    raw = struct.pack("<I", len(what)) + what
    return record(9, misc, head + raw + struct.pack("<Q", 0))


path = sys.argv[1]
out = [b"PERFILE2" + struct.pack("<Q", 16)]
common = IDENTIFIER | IP | TID | TIME | PERIOD
out.append(event(1, 1, 0, common | CALLCHAIN, "cpu-clock"))
out.append(event(2, 1, 10, common | CPU | RAW | CGROUP, "offcpu-time"))
for tid in (11, 12):
    out.append(record(3, 0, struct.pack("<ii", 11, tid) + padded("sleeper")))
out.append(record(1, 2, struct.pack("<iiQQQ", 11, 11, 0x401000, 0x1000, 0x1000) + padded(path)))
out.append(record(19, 0, struct.pack("<Q", 5) + padded("/web")))
out.append(record(9, 2, struct.pack("<QQiiQQQQQ", 1, 0x401010, 11, 11, 1000000, 1, 2, USER, 0x401010)))
out.append(off_cpu(1, 2000000, 11, 12, 7000000, [0x401020, 0x401030]))
if "damaged" in sys.argv:
    out.append(off_cpu(2, 3000000, 11, 12, 1000000, [0x401020], n=1 << 40))
out.append(off_cpu(2, SUMS, 11, 11, 3000000, [0x401030]))
sys.stdout.buffer.write(b"".join(out))
