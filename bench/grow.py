# SPDX-License-Identifier: BSD-2-Clause
"""A recording, made longer: its samples are repeated with later times.

To record ten million samples takes hours, and what a reader does with the thousandth million is
what it did with the first. The rounds of the recorder stay as long as they were: a longer one
would need more memory. The time must be at the same place in the samples of all events.

The ends of processes are left out: perf of Debian sid forgets a process that has ended, with its
name and its maps, and would not unwind the stacks that are repeated behind it.
"""
import struct

EXIT, SAMPLE, FINISHED_ROUND = 4, 9, 68
IP, TID, TIME, IDENTIFIER = 1, 2, 4, 1 << 16


def records(data, start, end):
    while start < end:
        kind, _, size = struct.unpack_from("<IHH", data, start)
        yield kind, data[start:start + size]
        start += size


def grow(source, target, size):
    """Writes a recording of at least size bytes; how many samples it has."""
    with open(source, "rb") as file:
        data = file.read()
    attr_size, attrs, attrs_size, start, length = struct.unpack_from("<QQQQQ", data, 16)
    fields = {struct.unpack_from("<Q", data, attrs + i + 24)[0] & (IDENTIFIER | IP | TID | TIME)
              for i in range(0, attrs_size, attr_size)}
    assert len(fields) == 1 and min(fields) & TIME, "the time is not at one place in all samples"
    at = 8 * (min(fields) & ~TIME).bit_count() + 8
    repeated = [(kind, bytearray(record))
                for kind, record in records(data, start, start + length)
                if kind in (SAMPLE, FINISHED_ROUND)]
    samples = [record for kind, record in repeated if kind == SAMPLE]
    times = [struct.unpack_from("<Q", sample, at)[0] for sample in samples]
    span = max(times) - min(times) + 1000
    n = len(samples)
    with open(target, "wb", buffering=1 << 20) as out:  # a recorder writes all of a ring at once
        out.write(data[:start])
        for kind, record in records(data, start, start + length):
            if kind != EXIT:
                out.write(record)
        while out.tell() < size:
            for i, sample in enumerate(samples):
                times[i] += span
                struct.pack_into("<Q", sample, at, times[i])
            for _, record in repeated:
                out.write(record)
            out.write(struct.pack("<IHH", FINISHED_ROUND, 0, 8))
            n += len(samples)
        moved = out.tell() - (start + length)
        # the features follow the data; their table has the offset and size of each
        count = sum(word.bit_count() for word in struct.unpack_from("<QQQQ", data, 72))
        for i in range(count):
            offset, size = struct.unpack_from("<QQ", data, start + length + 16 * i)
            out.write(struct.pack("<QQ", offset + moved, size))
        out.write(data[start + length + 16 * count:])
        out.seek(48)
        out.write(struct.pack("<Q", length + moved))
    return n
