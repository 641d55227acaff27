"""Finds what tests leave behind in the kernel: BPF programs, maps, links, and probe events.

Other programs run on the machine, and several tests at a time. So an object is a leak of a job
only if it appeared while the job ran, outlives every job that ran when it appeared, and no
living process holds it.
"""
import ctypes
import glob
import os
import platform
import struct
import time

SYS_BPF = {"x86_64": 321, "aarch64": 280}.get(platform.machine())
OBJ_GET_INFO_BY_FD = 15
# Of each type: the commands of bpf(2) for the next id and for a descriptor, the line of
# /proc/PID/fdinfo that names it, and where the name is in its struct bpf_*_info.
TYPES = {"program": (11, 13, "prog_id:", 64), "map": (12, 14, "map_id:", 24), "link": (31, 30, "link_id:", None)}
EVENTS = ["/sys/kernel/tracing/uprobe_events", "/sys/kernel/tracing/kprobe_events"]
# The kernel frees programs after a grace period of RCU.
SECONDS_TO_FREE = 5


def bpf(command, attr):
    """Returns the result of bpf(2), negative on failure; attr is a ctypes buffer."""
    if SYS_BPF is None:
        return -1
    return ctypes.CDLL(None).syscall(SYS_BPF, command, ctypes.byref(attr), len(attr))


def ids(kind):
    found, number = set(), 0
    while True:
        attr = ctypes.create_string_buffer(struct.pack("III", number, 0, 0), 16)
        if bpf(TYPES[kind][0], attr) < 0:
            return found
        number = struct.unpack_from("I", attr.raw, 4)[0]
        found.add((kind, number))


def name_of(kind, number):
    offset = TYPES[kind][3]
    fd = bpf(TYPES[kind][1], ctypes.create_string_buffer(struct.pack("III", number, 0, 0), 16))
    if fd < 0:
        return ""
    info = ctypes.create_string_buffer(256)
    attr = ctypes.create_string_buffer(struct.pack("IIQ", fd, len(info), ctypes.addressof(info)), 16)
    done = bpf(OBJ_GET_INFO_BY_FD, attr)
    os.close(fd)
    if done < 0 or offset is None:
        return ""
    return info.raw[offset:offset + 16].split(b"\0")[0].decode(errors="replace")


def probe_events():
    found = set()
    for path in EVENTS:
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                found |= {("probe event", line.split()[0]) for line in f if line.strip()}
        except OSError:
            pass
    return found


def objects():
    return set().union(*map(ids, TYPES)) | probe_events()


def held():
    """The objects that processes hold by a descriptor."""
    names = {entry[2].encode(): kind for kind, entry in TYPES.items()}
    found = set()
    for path in glob.iglob("/proc/[0-9]*/fdinfo/*"):
        try:
            with open(path, "rb") as f:
                for line in f.read(4096).splitlines():
                    word, _, value = line.partition(b":")
                    kind = names.get(word + b":")
                    if kind and value.strip().isdigit():
                        found.add((kind, int(value)))
        except OSError:  # it ended meanwhile
            pass
    return found


class Watch:
    """Follows which objects appear while which jobs run."""

    def __init__(self):
        self.known = objects()
        self.suspects = {}  # of an object that appeared: the labels of the jobs that ran then

    def look(self, labels):
        """Objects that are new appeared while the jobs with these labels ran."""
        now = objects()
        for thing in now - self.known:
            if labels:
                self.suspects[thing] = set(labels)
        self.suspects = {thing: jobs for thing, jobs in self.suspects.items() if thing in now}
        self.known = now

    def left_behind(self):
        """Returns what outlives all jobs, now that none runs: texts, each with the labels of the
        jobs that may have made it."""
        until = time.monotonic() + SECONDS_TO_FREE
        while self.suspects and time.monotonic() < until:
            time.sleep(0.05)
            self.look([])
        left = set(self.suspects) - held() if self.suspects else set()
        return [(describe(*thing), self.suspects[thing]) for thing in sorted(left, key=str)]


def describe(kind, number):
    name = name_of(kind, number) if kind in TYPES else ""
    return f"{kind} {number}" + (f" '{name}'" if name else "")
