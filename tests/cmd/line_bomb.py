#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""line_bomb.py ROWS <LINES >OUT: adds rows to the first table of a section .debug_line, each by an
opcode of one byte."""
import struct
import sys

table = sys.stdin.buffer.read()
length = struct.unpack_from("<I", table)[0]
program = table[4:4 + length]
assert program.endswith(b"\x00\x01\x01")  # DW_LNE_end_sequence
program = program[:-3] + b"\x4b" * int(sys.argv[1]) + b"\x00\x01\x01"
sys.stdout.buffer.write(struct.pack("<I", len(program)) + program + table[4 + length:])
