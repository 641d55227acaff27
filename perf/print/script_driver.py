# SPDX-License-Identifier: BSD-2-Clause
"""Runs a Python script on a recording, with the interface of perf script -s.

    python3 DRIVER FD run SCRIPT ARGUMENT...
    python3 DRIVER FD write SCRIPT    a script to begin with, as perf script -g does

FD is a pipe with the lines of python_sample.c; "end" is the last one of a recording that could be
read, else the reader has said what is wrong, and the exit status is 1. The script gets the calls
trace_begin(), SYSTEM__EVENT(...) of tracepoints or else trace_unhandled(...), process_event(dict) of
other events, context_switch(...), throttle(...), unthrottle(...) and trace_end(), as far as it
defines them, and the modules perf_trace_context, Core, Util and EventClass, unless it finds files of
these names.
"""
import collections
import errno
import importlib.abc
import importlib.machinery
import json
import keyword
import os
import signal
import struct
import sys
import traceback
import types

# linux/perf_event.h: PERF_MEM_DATA_SRC_NONE, of samples without the word, and perf's text of it
NO_DATA_SRC = 0x5080021
NO_DATA_SRC_TEXT = "|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A"

flag_names = collections.defaultdict(dict)  # [event][field]: (delimiter, {value: name})
symbol_names = collections.defaultdict(dict)  # [event][field]: {value: name}
syscalls = {}


# ---- the modules ----

def autodict():
    return collections.defaultdict(autodict)


def flag_str(event_name, field_name, value):
    delimiter, names = flag_names[event_name].get(field_name, ("", {}))
    if not value:
        return names.get(0, "")
    found = []
    for bits, name in sorted(names.items()):
        if bits and value & bits == bits:
            found.append(name)
            value &= ~bits
    return f" {delimiter} ".join(found) if delimiter else "".join(found)


def symbol_str(event_name, field_name, value):
    return symbol_names[event_name].get(field_name, {}).get(value, "")


def define_flag_field(event_name, field_name, delimiter):
    _, names = flag_names[event_name].get(field_name, ("", {}))
    flag_names[event_name][field_name] = (delimiter, names)


def define_flag_value(event_name, field_name, value, name):
    flag_names[event_name].setdefault(field_name, ("", {}))[1][value] = name


def define_symbolic_field(event_name, field_name):
    symbol_names[event_name].setdefault(field_name, {})


def define_symbolic_value(event_name, field_name, value, name):
    symbol_names[event_name].setdefault(field_name, {})[value] = name


# include/linux/trace_events.h: enum trace_flag_type
TRACE_FLAGS = {0x01: "IRQS_OFF", 0x02: "IRQS_NOSUPPORT", 0x04: "NEED_RESCHED", 0x08: "HARDIRQ",
               0x10: "SOFTIRQ"}


def trace_flag_str(value):
    if not value:
        return "NONE"
    return " | ".join(name for bit, name in TRACE_FLAGS.items() if value & bit)


def taskState(state):
    return {0: "R", 1: "S", 2: "D", 64: "DEAD"}.get(state, "Unknown")


class EventHeaders:
    def __init__(self, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
                 common_callchain):
        self.cpu = common_cpu
        self.secs = common_secs
        self.nsecs = common_nsecs
        self.pid = common_pid
        self.comm = common_comm
        self.callchain = common_callchain

    def ts(self):
        return self.secs * 10**9 + self.nsecs

    def ts_format(self):
        return f"{self.secs}.{self.nsecs // 1000}"


NSECS_PER_SEC = 1000000000


def avg(total, n):
    return total / n


def nsecs(secs, nanoseconds):
    return secs * NSECS_PER_SEC + nanoseconds


def nsecs_secs(time):
    return time / NSECS_PER_SEC


def nsecs_nsecs(time):
    return time % NSECS_PER_SEC


def nsecs_str(time):
    return f"{int(nsecs_secs(time)):5d}.{nsecs_nsecs(time):09d}"


def add_stats(sums, key, value):
    least, most, mean, count = sums.get(key, (value, value, value, 0))
    sums[key] = (min(least, value), max(most, value), (mean + value) / 2 if count else value,
                 count + 1)


def clear_term():
    print("\x1b[H\x1b[2J")


def syscall_name(number):
    return syscalls.get(number, str(number))


def strerror(number):
    return errno.errorcode.get(abs(number), f"Unknown {number} errno")


EVTYPE_GENERIC, EVTYPE_PEBS, EVTYPE_PEBS_LL, EVTYPE_IBS = range(4)


class PerfEvent:
    event_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_GENERIC):
        self.name, self.comm, self.dso, self.symbol = name, comm, dso, symbol
        self.raw_buf, self.ev_type = raw_buf, ev_type
        PerfEvent.event_num += 1

    def show(self):
        print(f"PMU event: name={self.name:12s}, symbol={self.symbol:24s}, comm={self.comm:8s}, "
              f"dso={self.dso:12s}")


class PebsEvent(PerfEvent):
    """A record of PEBS with registers: ten words."""
    pebs_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_PEBS):
        (self.flags, self.ip, self.ax, self.bx, self.cx, self.dx, self.si, self.di, self.bp,
         self.sp) = struct.unpack("10Q", raw_buf[:80])
        PerfEvent.__init__(self, name, comm, dso, symbol, raw_buf, ev_type)
        PebsEvent.pebs_num += 1


class PebsNHM(PebsEvent):
    """The same with the latency of a load."""
    pebs_nhm_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_PEBS_LL):
        self.status, self.dla, self.dse, self.lat = struct.unpack("4Q", raw_buf[144:176])
        PebsEvent.__init__(self, name, comm, dso, symbol, raw_buf, ev_type)
        PebsNHM.pebs_nhm_num += 1


def create_event(name, comm, dso, symbol, raw_buf):
    kind = {144: PebsEvent, 176: PebsNHM}.get(len(raw_buf), PerfEvent)
    return kind(name, comm, dso, symbol, raw_buf)


def common_pc(context):
    return context.common("common_preempt_count")


def common_flags(context):
    return context.common("common_flags")


def common_lock_depth(context):
    return context.common("common_lock_depth")


# The reader sends what these return only if the script has their names; see script_python.c.
def perf_sample_insn(context):
    insn = context.line.get("insn")
    return bytes.fromhex(insn) if insn else None


def perf_sample_srcline(context):
    return perf_sample_srccode(context)[:2]


def perf_sample_srccode(context):
    file, line, text = [*context.line.get("source", ()), None, None, None][:3]
    return file, line or 0, text


def perf_set_itrace_options(_context, _options):
    return -1  # there is no hardware trace to decode


def perf_config_get(_name):
    return None


MODULES = {
    "Core": (autodict, flag_str, symbol_str, define_flag_field, define_flag_value,
             define_symbolic_field, define_symbolic_value, trace_flag_str, taskState,
             EventHeaders),
    "Util": (avg, nsecs, nsecs_secs, nsecs_nsecs, nsecs_str, add_stats, clear_term, syscall_name,
             strerror),
    "EventClass": (PerfEvent, PebsEvent, PebsNHM, create_event),
    "perf_trace_context": (common_pc, common_flags, common_lock_depth, perf_sample_insn,
                           perf_sample_srcline, perf_sample_srccode, perf_set_itrace_options,
                           perf_config_get),
}
CONSTANTS = {
    # linux/futex.h
    "Util": {"NSECS_PER_SEC": NSECS_PER_SEC, "FUTEX_WAIT": 0, "FUTEX_WAKE": 1,
             "FUTEX_PRIVATE_FLAG": 128, "FUTEX_CLOCK_REALTIME": 256, "FUTEX_CMD_MASK": ~384},
    "EventClass": {"EVTYPE_GENERIC": EVTYPE_GENERIC, "EVTYPE_PEBS": EVTYPE_PEBS,
                   "EVTYPE_PEBS_LL": EVTYPE_PEBS_LL, "EVTYPE_IBS": EVTYPE_IBS},
}


class Modules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Asked last: a file of the same name comes first."""

    def find_spec(self, name, _path, _target=None):
        return importlib.machinery.ModuleSpec(name, self) if name in MODULES else None

    def exec_module(self, module):
        name = module.__name__
        vars(module).update({thing.__name__: thing for thing in MODULES[name]})
        vars(module).update(CONSTANTS.get(name, {}))
        if name == "perf_trace_context":
            module.perf_script_context = CONTEXT


# ---- events and samples ----

def is_printable(data):
    """As perf tells a string from bytes: it ends in NUL, and what is before the first is text."""
    if not data or data[-1] != 0:
        return False
    return all(32 <= c < 127 or 9 <= c <= 13 for c in data[:data.index(0)])


class Field:
    def __init__(self, described, order):
        self.order = order
        self.name = described["name"]
        self.offset, self.size = described["offset"], described["size"]
        self.signed, self.is_string = described["signed"], described["string"]
        self.dynamic, self.relative = described["dynamic"], described["relative"]
        self.get = self.array if described["array"] else self.number

    def number(self, raw):
        return int.from_bytes(raw[self.offset:self.offset + self.size], self.order,
                              signed=self.signed)

    def array(self, raw):
        start, length = self.offset, self.size
        if self.dynamic:
            where = int.from_bytes(raw[start:start + length], self.order)
            if self.relative:
                start += length
            else:
                start = 0
            start, length = start + (where & 0xffff), where >> 16
        data = raw[start:start + length]
        if self.is_string and is_printable(data):
            return data[:data.index(0)].decode("ascii")
        self.is_string = False  # from here on, as in perf
        return bytearray(data)


def call(script, name, *arguments):
    """A function that the script has or not."""
    if name in script:
        script[name](*arguments)


class Event:
    def __init__(self, described, script):
        self.name = described["name"]
        self.attr = bytes.fromhex(described["attr"])
        self.read_format = described["read_format"]
        self.is_defined = False
        form = described.get("format")
        self.is_tracepoint = form is not None
        if not form:
            self.handler = script.get("process_event")
            return
        order = sys.byteorder
        if form["swap"]:
            order = "big" if order == "little" else "little"
        self.symbols = form["symbols"]
        self.full_name = f"{form['system']}__{form['tracepoint']}"
        fields = [(f["common"], Field(f, order)) for f in form["fields"]]
        self.common = {field.name: field for common, field in fields if common}
        self.fields = [field for common, field in fields if not common]
        self.handler = script.get(self.full_name)
        self.unhandled = None if self.handler else script.get("trace_unhandled")
        called = self.handler or self.unhandled
        given = 8 + len(self.fields) if self.handler else 3
        code = getattr(called, "__code__", None)
        self.wants_sample = code is not None and code.co_argcount == given + 1

    def define(self, script):
        """Before the first call of a handler, the names of flags: by functions that the script has
        from Core, its own or perf's."""
        self.is_defined = True
        for s in self.symbols:
            kind = "flag" if "delimiter" in s else "symbolic"
            place = self.full_name, s["field"]
            more = (s["delimiter"],) if "delimiter" in s else ()
            for value, name in s["values"]:
                call(script, f"define_{kind}_value", *place, value, name)
            call(script, f"define_{kind}_field", *place, *more)


class Context:
    """What the functions of perf_trace_context are given: the sample that is handled. As in perf
    there is one, which scripts also import as perf_script_context."""

    event, line, raw = None, {}, b""

    def common(self, name):
        field = self.event.common.get(name) if self.event and self.event.is_tracepoint else None
        return field.get(self.raw) if field else 0


CONTEXT = Context()


def chain_of(line):
    chain = []
    for frame in line.get("chain", ()):
        entry = {"ip": frame["ip"]}
        if "symbol" in frame:
            entry["sym"] = frame["symbol"]
            entry["sym_off"] = frame["offset"]
        if "dso" in frame:
            entry["dso"] = frame["dso"]
        chain.append(entry)
    return chain


def read_values(words, read_format):
    """Of PERF_SAMPLE_READ: time_enabled, time_running and the counters."""
    enabled, running, with_id, group, lost = (read_format >> bit & 1 for bit in range(5))
    words = iter(words)
    result = {}
    n = next(words, 0) if group else 1
    first = None if group else next(words, 0)
    if enabled:
        result["time_enabled"] = next(words, 0)
    if running:
        result["time_running"] = next(words, 0)
    values = []
    for _ in range(min(n, 4096)):
        value = next(words, None) if group else first
        if value is None:
            break
        entry = (next(words, 0) if with_id else 0, value)
        values.append(entry + (next(words, 0),) if lost else entry)
    result["values"] = values
    return result


def end_name(end):
    symbol = end.get("symbol")
    return f"{symbol['name']}+0x{end['offset']:x}" if symbol else "[unknown]"


def branches_of(line):
    """brstack and brstacksym"""
    numbers, names = [], []
    for b in line.get("branches", ()):
        flags = b["flags"]
        mispred, predicted, in_tx, abort = (bool(flags >> bit & 1) for bit in range(4))
        numbers.append({"from": b["from"]["ip"], "to": b["to"]["ip"], "mispred": mispred,
                        "predicted": predicted, "in_tx": in_tx, "abort": abort,
                        "cycles": flags >> 4 & 0xffff,
                        "from_dsoname": b["from"].get("dso", "[unknown]"),
                        "to_dsoname": b["to"].get("dso", "[unknown]")})
        names.append({"from": end_name(b["from"]), "to": end_name(b["to"]),
                      "pred": "M" if mispred else "P" if predicted else "-",
                      "in_tx": "X" if in_tx else "-", "abort": "A" if abort else "-"})
    return numbers, names


def place_of(at, prefix):
    place = {}
    if "dso" in at:
        place.update(dso=at["dso"], dso_bid=at["build_id"], dso_map_start=at["start"],
                     dso_map_end=at["end"], map_pgoff=at["pgoff"])
    if "symbol" in at:
        place.update(symbol=at["symbol"]["name"], symoff=at["offset"])
    return {prefix + name: value for name, value in place.items()}


def sample_dict(event, line, raw, callchain):
    sample = {name: line.get(name, 0)
              for name in ("id", "stream_id", "pid", "tid", "cpu", "ip", "time", "period",
                           "phys_addr", "addr")}
    sample.update(read_values(line.get("read", ()), event.read_format))
    sample["weight"] = line.get("weight", 0)
    sample["transaction"] = line.get("transaction", 0)
    sample["ins_lat"] = line.get("ins_lat", 0)
    sample["datasrc"] = line.get("data_src", NO_DATA_SRC)
    sample["datasrc_decode"] = line.get("data_src_text", NO_DATA_SRC_TEXT)
    sample["cpu"] &= 0xffffffff  # unsigned in perf: -1 where it is not recorded
    sample["cpumode"] = line["cpumode"]
    brstack, brstacksym = branches_of(line)
    result = {"ev_name": event.name, "attr": event.attr, "sample": sample, "raw_buf": raw,
              "comm": line.get("comm", "")}
    result.update(place_of(line["at"], ""))
    if "addr_at" in line:
        sample["addr_correlates_sym"] = True
        sample.update(place_of(line["addr_at"], "addr_"))
    result.update(callchain=callchain, brstack=brstack, brstacksym=brstacksym)
    result.update(iregs=line.get("iregs", ""), uregs=line.get("uregs", ""))
    return result


def on_tracepoint(event, line, script):
    called = event.handler or event.unhandled
    if not called:
        return
    if not event.is_defined:
        event.define(script)
    raw = CONTEXT.raw
    seconds, nanoseconds = divmod(line["time"], NSECS_PER_SEC)
    pid = event.common["common_pid"].get(raw) if "common_pid" in event.common else line["pid"]
    comm, callchain = line.get("comm", ""), chain_of(line)
    arguments = [event.full_name, CONTEXT]
    if event.handler:
        arguments += [line["cpu"], seconds, nanoseconds, pid, comm, callchain]
        arguments += [field.get(raw) for field in event.fields]
    else:
        arguments.append({"common_cpu": line["cpu"], "common_s": seconds,
                          "common_ns": nanoseconds, "common_pid": pid, "common_comm": comm,
                          "common_callchain": callchain,
                          **{field.name: field.get(raw) for field in event.fields}})
    if event.wants_sample:
        arguments.append(sample_dict(event, line, raw, callchain))
    called(*arguments)


def on_sample(event, line, script):
    CONTEXT.event, CONTEXT.line, CONTEXT.raw = event, line, bytes.fromhex(line.get("raw", ""))
    if event.is_tracepoint:
        on_tracepoint(event, line, script)
    elif event.handler:
        event.handler(sample_dict(event, line, CONTEXT.raw, chain_of(line)))


def on_switch(script, time, cpu, pid, tid, other_pid, other_tid, out, preempted):
    call(script, "context_switch", time, cpu, pid, tid, other_pid, other_tid, -1, out, preempted)


# ---- a script to begin with ----

HEAD = '''\
# Run it by: perf-bpf script -s FILE.py
#
# Each function below is called for each sample of its event. common_callchain is a list, empty
# without call chains; perf_sample_dict has what the sample holds besides its fields. A function whose
# last parameter is left out is not given it.

import os
import sys

sys.path.append(os.environ["PERF_EXEC_PATH"] + "/scripts/python/Perf-Trace-Util/lib/Perf/Trace")

from perf_trace_context import *
from Core import *


def trace_begin():
    print("in trace_begin")


def trace_end():
    print("in trace_end")

'''
TAIL = '''
# Tracepoints without a function of their own
def trace_unhandled(event_name, context, event_fields_dict, perf_sample_dict):
    print(" ".join(f"{name}={value}" for name, value in sorted(event_fields_dict.items())))


# Events that are not tracepoints
def process_event(param_dict):
    print(param_dict["ev_name"], param_dict["comm"], param_dict.get("symbol", "[unknown]"))


def print_header(event_name, cpu, secs, nsecs, pid, comm):
    print(f"{event_name:20s} {cpu:5d} {secs:5d}.{nsecs:09d} {pid:8d} {comm:20s} ", end="")
'''


def template_of(event):
    name = event.full_name
    names = ["event_name", "context", "common_cpu", "common_secs", "common_nsecs", "common_pid",
             "common_comm", "common_callchain"]
    names += [field.name for field in event.fields] + ["perf_sample_dict"]
    named = {s["field"]: "flag_str" if "delimiter" in s else "symbol_str" for s in event.symbols}
    values = []
    for field in event.fields:
        text = field.name
        if field.name in named:
            text = f'{named[field.name]}("{name}", "{field.name}", {field.name})'
        values.append(f'    print("{field.name}=", {text}, sep="", end=" ")')
    return "\n".join([
        "", f"def {name}(" + (",\n" + " " * (len(name) + 5)).join(names) + "):",
        "    print_header(event_name, common_cpu, common_secs, common_nsecs, common_pid, "
        "common_comm)", *values, "    print()", ""])


def is_name(text):
    return text.isidentifier() and not keyword.iskeyword(text)


def write_template(lines, path, where):
    """Whether there is something to read. where: descriptor of the directory, and the name in it."""
    functions = []
    for text in lines:
        line = json.loads(text)
        if "event" in line:
            event = Event(line, {})
            if event.is_tracepoint and all(map(is_name, [event.full_name, *(
                    field.name for field in event.fields)])):
                functions.append(template_of(event))
        elif "e" in line or "end" in line:
            break
    else:
        return False  # the reader has said why
    # written beside it, so that a link of this name is not followed
    directory, name = where.split("/", 1)
    directory, new = int(directory), f".perf-bpf.{os.getpid()}"
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=directory)
    with open(fd, "w", encoding="utf-8") as out:
        out.write(HEAD + "\n".join(functions) + TAIL)
    os.replace(new, name, src_dir_fd=directory, dst_dir_fd=directory)
    print(f"generated Python script: {path}")
    return True


# ---- the script ----

def read_lines(lines, script):
    """Whether it was all."""
    events = {}
    for text in lines:
        line = json.loads(text)
        if "e" in line:
            on_sample(events[line["e"]], line, script)
        elif "event" in line:
            events[line["event"]] = Event(line, script)
        elif "switch" in line:
            on_switch(script, *line["switch"])
        elif "syscalls" in line:
            syscalls.update((int(number), name) for number, name in line["syscalls"].items())
        elif "end" in line:
            return True
        else:
            for name, values in line.items():
                call(script, name, *values)
    return False


def run(lines, path):
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    script = vars(module)
    with open(path, "rb") as source:
        exec(compile(source.read(), path, "exec"), script)
    script["perf_script_context"] = CONTEXT
    call(script, "trace_begin")
    complete = read_lines(lines, script)
    call(script, "trace_end")
    return complete


def print_error():
    """Without the frames of this file."""
    kind, error, trace = sys.exc_info()
    while trace and trace.tb_frame.f_globals is globals():
        trace = trace.tb_next
    traceback.print_exception(kind, error, trace)


def main():
    fd, mode, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    sys.argv = sys.argv[3:]
    if sys.path and sys.path[0] == os.path.dirname(__file__):
        del sys.path[0]
    if mode == "run":  # what is in the directory of a file that is written may be anybody's
        sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    sys.meta_path.append(Modules())
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends the process that reads the recording
    with open(fd, encoding="utf-8") as lines:
        try:
            complete = run(lines, path) if mode == "run" else write_template(lines, path, mode)
        except Exception:
            print_error()
            sys.exit(1)
    sys.exit(0 if complete else 1)


main()
