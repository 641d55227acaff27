"""The live half of test_sweep.py: the values that "perf-bpf record" records at the same points, of a
run that is the same as that of gdb: no randomization, an empty environment, the same input. What the
kernel gives the process at random is recorded, and gdb gives it to its own."""
import json
import os
import re
import shlex
import struct
import subprocess

LIMIT = 1800  # seconds for a program that must end, on a machine that does much else


PREEMPTED = "0xfffffffffffffade"  # see test_sweep.py


def possible():
    return os.geteuid() == 0 and os.environ.get("SWEEP_LIVE") != "no"


def record(perf_bpf, program, chosen, most):
    """({index of a point: [the fields of each of its first hits]}, the random bytes that the kernel
    gave the process). chosen: [(definition, point)]. Not of a point whose address two points of its
    definition have: a sample does not say which. Nor of one that perf-bpf refuses."""
    if not possible():
        return {}, None
    words = list(dict.fromkeys(w for w, point in chosen if not point.get("refused")))
    by_point, several = {}, set()
    for i, (definition, point) in enumerate(chosen):
        if point.get("refused"):
            continue
        key = (words.index(definition), program["base"] + int(point["address"], 16))
        if key in by_point:
            several.add(key)
        by_point[key] = i
    data = os.path.join(program["where"], "live.data")
    argv = [perf_bpf, "record", "-q", "-m", "16M", "-o", data]
    for i, definition in enumerate(words):
        argv += ["-e", f"probe:force=yes;exec={program['exe']};s{i}x={definition}"]
    above = program["random"]["random"] - program["random"]["stack"]
    argv += ["-e", f"probe:exec={program['exe']};random={program['main']} low=+{above}(%sp):x64 "
             f"high=+{above + 8}(%sp):x64"]
    line = (f"exec setarch -R env -i {' '.join(program['environment'])} {shlex.quote(program['exe'])} {program['args']} "
            f"<{shlex.quote(program['input'])} >/dev/null 2>&1")
    done = subprocess.run([*argv, "--", "/bin/sh", "-c", line], capture_output=True, text=True,
                          errors="replace", check=False, timeout=LIMIT)
    if not os.path.exists(data):
        raise RuntimeError(f"record: {done.stderr[-600:]}")
    given = None
    out = {i: [] for key, i in by_point.items() if key not in several}
    shown = subprocess.Popen([perf_bpf, "script", "--json", "-i", data], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, errors="replace")
    last, left_out = None, False
    with shown:
        for text in shown.stdout:
            sample = json.loads(text)
            if sample.get("event", "").endswith(":random"):
                given = [int(str(sample["fields"][name]), 0) for name in ("low", "high")]
            event = re.fullmatch(r"probe_[^:]*:s(\d+)x(_\d+)?", sample.get("event") or "")
            if sample["type"] != "sample" or not event:
                continue
            point = by_point.get((int(event.group(1)), int(sample["ip"], 16)))
            fields = sample["fields"]
            now = (sample["ip"], fields.get("sp__"))
            flagged, again, last = fields.get("guard__") == PREEMPTED, now == last, now
            # Between the probe and the look at the guard the runtime may ask, too.
            if flagged or ("sp__" in fields and again and not left_out):
                left_out = flagged
                continue
            left_out = False
            if point in out and len(out[point]) < most:
                out[point].append(sample["fields"])
    os.unlink(data)
    if not given:
        raise RuntimeError("main() was not recorded")
    return out, b"".join(n.to_bytes(8, "little") for n in given).hex()


def bytes_of(field, value, arg):
    """A field of the JSON as the bytes of gdb's value, hexadecimal; None: it was not read."""
    if field is None:
        return None
    if "text" in value:
        return field.encode("utf-8", "surrogateescape")[:120].hex() if isinstance(field, str) else None
    if isinstance(field, list):
        return bytes(field).hex()
    size = value.get("size") or len(value["bytes"]) // 2
    if isinstance(field, str) and re.fullmatch(r"0x[0-9a-f]+", field):
        field = int(field, 16)
    if isinstance(field, str):
        return f"text {field}"
    if "float" in value:
        return struct.pack("<f" if size == 4 else "<d", float(field)).hex()
    return (int(field) & (1 << 8 * size) - 1).to_bytes(size, "little").hex()
