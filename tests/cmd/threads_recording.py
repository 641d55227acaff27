#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""threads_recording.py N >data: writes a recording of a process with N threads that are there at the
same time, as `record -o -` does. Thread number I, counted from 0, has the name tI % 1000 and 1 + I % 3
samples."""
import struct
import sys

IP, TID, TIME, PERIOD = 1, 2, 4, 256
PID = 100000


def record(kind, body):
    return struct.pack("<IHH", kind, 2, 8 + len(body)) + body


n = int(sys.argv[1])
attr = struct.pack("<IIQQQQQ", 1, 136, 0, 1000000, IP | TID | TIME | PERIOD, 0, 1 << 40)
out = [b"PERFILE2" + struct.pack("<Q", 16), record(64, attr.ljust(136, b"\0") + struct.pack("<Q", 1))]
for i in range(n):
    tid = PID + i
    if i:
        out.append(record(7, struct.pack("<iiiiQ", PID, PID, tid, PID, 0)))
    out.append(record(3, struct.pack("<ii8s", PID, tid, b"t%d" % (i % 1000))))
time = 1000000000
for turn in range(3):
    for i in range(n):
        if turn <= i % 3:
            time += 1000
            out.append(record(9, struct.pack("<QiiQQ", 0x401000 + turn, PID, PID + i, time, 1000000)))
sys.stdout.buffer.write(b"".join(out))
