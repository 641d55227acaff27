#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a recording with samples in code that the kernel writes when it runs, as `record -o -` does:

    trampoline_recording.py >data

At 0xffffffffc0400000 are 0x100 bytes of ftrace's out-of-line code and behind them a BPF program, each
announced by a KSYMBOL record: 4 and 2 samples, the first of them called by ftrace's code. Another
sample comes before the first record, and one after ftrace's code has been taken back."""
import struct
import sys

KERNEL = 1  # PERF_RECORD_MISC_KERNEL
IP, TID, TIME, CALLCHAIN, PERIOD = 1, 2, 4, 32, 256
PERF_CONTEXT_KERNEL = (1 << 64) - 128
BPF, OOL, UNREGISTER = 1, 2, 1
CODE, SIZE = 0xFFFFFFFFC0400000, 0x100
time = 1000000000


def record(kind, body):
    sys.stdout.buffer.write(struct.pack("<IHH", kind, KERNEL if kind in (1, 9) else 0, 8 + len(body)) + body)


def padded(name):
    data = name.encode() + b"\0"
    return data + b"\0" * (-len(data) % 8)


def now():
    global time
    time += 1000000
    return time


def ksymbol(address, kind, flags, name):
    # With sample_id: the thread and the time.
    record(17, struct.pack("<QIHH", address, SIZE, kind, flags) + padded(name) +
           struct.pack("<iiQ", 0, 0, now()))


def sample(*addresses):
    chain = [PERF_CONTEXT_KERNEL, *addresses]
    record(9, struct.pack("<QiiQQQ", addresses[0], 7, 7, now(), 1000000, len(chain)) +
           struct.pack("<%dQ" % len(chain), *chain))


sys.stdout.buffer.write(b"PERFILE2" + struct.pack("<Q", 16))
# A clock on the CPU, every million events.
attr = struct.pack("<IIQQQQQ", 1, 136, 0, 1000000, IP | TID | TIME | CALLCHAIN | PERIOD, 0, 1 << 18)
record(64, attr.ljust(136, b"\0") + struct.pack("<Q", 1))
name = padded("[kernel.kallsyms]_text")
record(1, struct.pack("<iiQQQ", -1, 0, 0xFFFFFFFF81000000, 0x1000000, 0xFFFFFFFF81000000) + name +
       struct.pack("<iiQ", 0, 0, now()))
record(3, struct.pack("<ii8s", 7, 7, b"ooltest") + struct.pack("<iiQ", 7, 7, now()))
sample(CODE + 8)
ksymbol(CODE, OOL, 0, "ftrace_trampoline")
ksymbol(CODE + SIZE, BPF, 0, "bpf_prog_6deef7357e7b4530_traced")
for offset in (0, 8, 8, SIZE - 1):
    sample(CODE + offset)
sample(CODE + SIZE, CODE + 0x20)
sample(CODE + SIZE + 4)
ksymbol(CODE, OOL, UNREGISTER, "ftrace_trampoline")
sample(CODE + 8)
