#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The built-in programs and bpftrace, side by side over one workload.

builtins_work.c waits until both are attached, does one thing under a name of its own, and
says what it counted. The script for bpftrace asks the same question of the kernel in its own
words: counts, names, paths and sums must be the same, and those of the workload.
Durations may differ by what lies between two programs at one event. Functions are the
workload's own: bpftrace does not name those of a process that has ended.

PEERS_ONLY=GLOB tries some of the programs.
"""
import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from lib.common import BUILD, ONLY, SRC, say, skip_all

PERF_BPF = os.environ.get("PERF_BPF") or os.path.join(BUILD, "perf-bpf")
NOW = '/comm == "pbt_now"/'
# Both ends of a script: bpftrace is attached when both have been seen.
MARK = 'tracepoint:syscalls:sys_enter_getpgid /pid == %d/ { printf("mark%d\\n"); }\n'


def events(ours):
    return [r["event"] for r in ours if r["kind"] == "event"]


def rows(ours, name, *columns):
    found = [r for r in ours if r["map"] == name and r["kind"] == "table"][-1]["rows"]
    return {tuple(row.get(c + "_text", row.get(c)) for c in columns): row for row in found}


def hist(ours, name):
    """{low: count} of all histograms of a map"""
    out = {}
    for h in [r for r in ours if r["map"] == name][-1].get("hists", []):
        for b in h["buckets"]:
            out[b["low"]] = out.get(b["low"], 0) + b["count"]
    return out


def peer_hist(maps, name):
    """bpftrace: 0 is a bucket, 1 another, then powers of two; without min: below 0"""
    return {b.get("min", 0): b["count"] for b in maps.get(name, []) if b["count"]}


def stacks(ours, name):
    return [r for r in ours if r["map"] == name][-1]


def near(a, b, share=0.05, least=0):
    return abs(a - b) <= max(least, share * max(a, b))


def check_opens(ours, maps, lines, said):
    mine = [(e["path"], e["fd"] if e["fd"] >= 0 else e["error"]) for e in events(ours)]
    theirs = [(m[1], int(m[2])) for m in (re.match(r"(pbt_\S+) (-?\d+)$", l) for l in lines) if m]
    assert mine == theirs and len(mine) == 13, (mine, theirs)
    return f"{len(mine)} opens: paths, descriptors and errors"


def check_execs(ours, maps, lines, said):
    mine = [(e["pid"], e["arguments"]) for e in events(ours) if "pbt exec" in e["arguments"]]
    theirs = [(int(m[1]), m[2]) for m in (re.match(r"(\d+) (true .*)$", l) for l in lines) if m]
    strip = [(pid, re.sub(r"[\"']", "", text)) for pid, text in mine]
    assert strip == theirs and len(mine) == 5, (mine, theirs)
    return f"{len(mine)} programs: process and arguments"


def check_calls(ours, maps, lines, said):
    mine = {k[0]: v["calls"] for k, v in rows(ours, "by_syscall", "syscall").items()}
    theirs = {int(k): v for k, v in maps["@calls"].items()}
    numbers = {"getpriority": 140, "sched_yield": 24, "close": 3}
    assert all(mine[n] == theirs[i] for n, i in numbers.items()), (mine, theirs)
    assert mine["getpriority"] == 300 and mine["close"] == 7, mine
    failed = {(k[0], k[1]): v["calls"] for k, v in rows(ours, "failures", "syscall",
                                                        "error").items()}
    assert failed == {("close", "EBADF"): maps["@failed"]["3"]}, (failed, maps)
    return f"{sum(mine.values())} calls, {sum(failed.values())} failed"


def check_mallocs(ours, maps, lines, said):
    mine, theirs = hist(ours, "sizes"), peer_hist(maps, "@sizes")
    assert mine == theirs and sum(mine.values()) == 259, (mine, theirs)
    total = rows(ours, "bytes", "comm")[("pbt_now",)]["bytes"]
    assert total == maps["@bytes"], (total, maps)
    return f"{sum(mine.values())} blocks, {total} bytes"


def check_writes(ours, maps, lines, said):
    name = "sizes" if any(r["map"] == "sizes" for r in ours) else "writes"
    mine, theirs = hist(ours, name), peer_hist(maps, "@sizes")
    assert mine == theirs and sum(mine.values()) == 1000, (mine, theirs)
    return f"{sum(mine.values())} writes by size"


def check_connects(ours, maps, lines, said):
    mine = {k: v["connects"] for k, v in rows(ours, "connects", "address", "port").items()}
    theirs = {tuple(k.rsplit(",", 1)): v for k, v in maps["@connects"].items()}
    mine = {(a, str(p)): n for (a, p), n in mine.items()}
    assert mine == theirs and sum(mine.values()) == said["connects"], (mine, theirs)
    return f"{sum(mine.values())} connections by address and port"


def check_retransmits(ours, maps, lines, said):
    port = str(said["port"])
    mine = sum(v["segments"] for k, v in rows(ours, "retransmits", "to_port", "from_port").items()
               if str(k[0]) == port)
    theirs = maps.get("@retransmits", {}).get(port, 0)
    assert mine == theirs > 0, (mine, maps, ours)
    return f"{mine} segments to the workload's port"


def check_drops(ours, maps, lines, said):
    mine = max((v["packets"], k[0]) for k, v in rows(ours, "drops", *drop_key(ours)).items())
    theirs = max((v, k) for k, v in maps["@drops"].items())
    assert mine[0] >= 500 and theirs[0] >= 500 and near(mine[0], theirs[0], 0.1), (mine, theirs)
    assert mine[1].split("+")[0] == theirs[1].split("+")[0], (mine, theirs)
    return f"{mine[0]} packets dropped in {theirs[1]} ({theirs[0]})"


def drop_key(ours):
    found = [r for r in ours if r["map"] == "drops"][-1]
    return [c["name"] for c in found["columns"] if c.get("key")]


def check_packets(ours, maps, lines, said):
    mine = sum(e["device"] == "lo" and e["length"] == 777 + 28 for e in events(ours))
    theirs = maps["@packets"]
    assert mine == theirs == 500, (mine, theirs)
    return f"{mine} packets of the workload"


def check_sleeps(ours, maps, lines, said):
    mine, theirs = stacks(ours, "off_cpu")["total"], maps["@us"]
    assert near(mine, theirs, 0.02, 2000), (mine, theirs)
    assert 0.9 * 300000 <= mine <= said["us"], (mine, said)
    assert any(f["name"] == "do_nanosleep" for s in stacks(ours, "off_cpu")["stacks"]
               for f in s["frames"]), ours
    return f"{mine} us off CPU ({theirs}; {said['us']} by the workload)"


def check_runqlat(ours, maps, lines, said):
    mine, theirs = hist(ours, "latency"), peer_hist(maps, "@us")
    assert sum(mine.values()) == sum(theirs.values()) >= 10, (mine, theirs)
    # a wait at the edge of a range may be in the next one
    at, ranges = 0, sorted(set(mine) | set(theirs))
    for low in ranges:
        at += mine.get(low, 0) - theirs.get(low, 0)
        assert abs(at) <= 3, (mine, theirs)
    return f"{sum(mine.values())} waits"


def check_disk(ours, maps, lines, said):
    mine, theirs = hist(ours, "latency"), peer_hist(maps, "@us")
    assert sum(mine.values()) == sum(theirs.values()) >= said["writes"] == 64, (mine, theirs)
    return f"{sum(mine.values())} requests"


def check_heat(ours, maps, lines, said):
    found = [r for r in ours if r["map"] == "latency"][-1]
    mine = sum(map(sum, found["counts"]))
    theirs = sum(peer_hist(maps, "@us").values())
    assert mine == theirs >= said["writes"] == 64, (found, theirs)
    return f"{mine} requests"


def check_faults(ours, maps, lines, said):
    found = [r for r in ours if r["kind"] == "stacks"][-1]
    mine = sum(s["count"] for s in found["stacks"]
               if any(f["name"] == "faults" for f in s["frames"]))
    assert mine == said["faults"] >= 512, (mine, said)
    assert found["total"] == maps["@faults"], (found["total"], maps)
    return f"{found['total']} faults, {mine} in the function ({said['faults']} by getrusage)"


def check_profile(ours, maps, lines, said):
    found = stacks(ours, "samples")
    total, theirs = found["total"], maps["@samples"]
    mine = sum(s["count"] for s in found["stacks"]
               if any(f["name"] == "pbt_spin" for f in s["frames"]))
    # 2 seconds of CPU time at 99 Hz; four times the deviation of what is met by chance
    assert mine > 0.9 * total and abs(total - 198) < 60 and abs(theirs - 198) < 60, \
        (mine, total, theirs)
    return f"{total} samples ({theirs}), {mine} in the function"


def check_locks(ours, maps, lines, said):
    mine = [r for r in ours if r["map"] == "contentions"][-1]["count"]
    assert mine == maps["@waits"] >= said["waits"] > 0, (mine, maps, said)
    us = stacks(ours, "waits")["total"]
    assert near(us, maps["@us"], 0.05, 20 * mine), (us, maps)
    return f"{mine} waits, {us} us ({maps['@us']})"


OPEN = "".join(f"tracepoint:syscalls:sys_enter_{name} {NOW} {{ @path[tid] = args->{path}; }}\n"
               f"tracepoint:syscalls:sys_exit_{name} {NOW} "
               "{ printf(\"%s %d\\n\", str(@path[tid]), args->ret); delete(@path[tid]); }\n"
               for name, path in (("open", "filename"), ("openat", "filename"),
                                  ("creat", "pathname")))
CALLS = (f"tracepoint:raw_syscalls:sys_enter {NOW} {{ @calls[args->id] = count(); }}\n"
         "tracepoint:raw_syscalls:sys_exit /comm == \"pbt_now\" && args->ret < 0/ "
         "{ @failed[args->id] = count(); }\n")
MALLOCS = "".join(f"uprobe:LIBC:{name} {NOW} {{ @sizes = hist({size}); @bytes = sum({size}); }}\n"
                  for name, size in (("malloc", "arg0"), ("calloc", "arg0 * arg1")))
WRITES = f"tracepoint:syscalls:sys_enter_write {NOW} {{ @sizes = hist(args->count); }}\n"
CONNECTS = "".join("tracepoint:sock:inet_sock_set_state /comm == \"pbt_now\" && "
                   f"args->newstate == 2 && args->family == {family}/ "
                   f"{{ @connects[ntop({family}, args->{address}), args->dport] = count(); }}\n"
                   for family, address in ((2, "daddr"), (10, "daddr_v6")))
RETRANSMITS = "tracepoint:tcp:tcp_retransmit_skb { @retransmits[args->dport] = count(); }\n"
DROPS = "tracepoint:skb:kfree_skb { @drops[ksym(args->location)] = count(); }\n"
PACKETS = """tracepoint:net:netif_receive_skb /args->len == 805 && str(args->name) == "lo"/ {
	@packets = count();
}
"""
SLEEPS = """tracepoint:sched:sched_switch /args->prev_comm == "pbt_now"/ { @off[args->prev_pid] = nsecs; }
tracepoint:sched:sched_switch /@off[args->next_pid]/ {
	@us = sum((nsecs - @off[args->next_pid]) / 1000); delete(@off[args->next_pid]);
}
"""
RUNQLAT = """tracepoint:sched:sched_wakeup, tracepoint:sched:sched_wakeup_new /args->comm == "pbt_now"/ {
	@ready[args->pid] = nsecs;
}
tracepoint:sched:sched_switch /args->prev_comm == "pbt_now" && args->prev_state == 0/ {
	@ready[args->prev_pid] = nsecs;
}
tracepoint:sched:sched_switch /@ready[args->next_pid]/ {
	@us = hist((nsecs - @ready[args->next_pid]) / 1000); delete(@ready[args->next_pid]);
}
"""
DISK = """tracepoint:block:block_rq_issue /comm == "pbt_now"/ { @begun[args->dev, args->sector] = nsecs; }
tracepoint:block:block_rq_complete /@begun[args->dev, args->sector]/ {
	@us = hist((nsecs - @begun[args->dev, args->sector]) / 1000);
	delete(@begun[args->dev, args->sector]);
}
"""
FAULTS = f"tracepoint:exceptions:page_fault_user {NOW} {{ @faults = count(); }}\n"
PROFILE = f"profile:hz:99 {NOW} {{ @samples = count(); }}\n"
LOCKS = f"""tracepoint:lock:contention_begin {NOW} {{ @begun[tid, args->lock_addr] = nsecs; }}
tracepoint:lock:contention_end /@begun[tid, args->lock_addr]/ {{
	@us = sum((nsecs - @begun[tid, args->lock_addr] + 500) / 1000); @waits = count();
	delete(@begun[tid, args->lock_addr]);
}}
"""

COMM = ["--comm", "pbt_now"]
SPECS = {
    "opensnoop": ("opens", COMM, OPEN, check_opens),
    "execsnoop": ("execs", [], "tracepoint:syscalls:sys_enter_execve "
                  f"{NOW} {{ printf(\"%d \", pid); join(args->argv); }}\n", check_execs),
    "syscount": ("calls", COMM, CALLS, check_calls),
    "mallocsizes": ("mallocs", COMM, MALLOCS, check_mallocs),
    "write_sizes": ("writes", COMM, WRITES, check_writes),
    "tracex4": ("writes", COMM, WRITES, check_writes),
    "tcpconnect": ("connects", COMM, CONNECTS, check_connects),
    "tcpretrans": ("retrans", [], RETRANSMITS, check_retransmits),
    "dropmon": ("drops", [], DROPS, check_drops),
    "tracex1": ("drops", [], PACKETS, check_packets),
    "tracex2": ("drops", [], DROPS, check_drops),
    "offcputime": ("sleeps", COMM, SLEEPS, check_sleeps),
    "runqlat": ("sleeps", COMM, RUNQLAT, check_runqlat),
    "biolatency": ("disk", COMM, DISK, check_disk),
    "tracex3": ("disk", COMM, DISK, check_heat),
    "pagefaults": ("faults", COMM, FAULTS, check_faults),
    "profile": ("spin", COMM, PROFILE, check_profile),
    "lockcontention": ("locks", COMM, LOCKS, check_locks),
    "cachemisses": (None, [], "", None),
}


def missing(script):
    """Why bpftrace cannot ask this here; None: it can"""
    for group, name in re.findall(r"tracepoint:(\w+):(\w+)", script):
        if not any(os.path.isdir(f"{root}/events/{group}/{name}")
                   for root in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")):
            return f"this kernel has no tracepoint {group}:{name}"
    return None


def libc():
    maps = open("/proc/self/maps", encoding="utf-8").read()
    return re.search(r"/\S*/libc\.so\.6", maps).group(0)


class Peer:
    """bpftrace with a script, attached"""

    def __init__(self, script):
        marks = [MARK % (os.getpid(), i) for i in range(2)]
        script = marks[0] + script.replace("LIBC", libc()) + marks[1]
        env = os.environ | {"BPFTRACE_STRLEN": "128", "BPFTRACE_MAP_KEYS_MAX": "16384"}
        self.err = tempfile.TemporaryFile("w+")
        self.proc = subprocess.Popen(["bpftrace", "-f", "json", "-e", script], env=env,
                                     stdout=subprocess.PIPE, stderr=self.err)
        self.maps, self.lines = {}, []
        os.set_blocking(self.proc.stdout.fileno(), False)
        self.rest = ""
        end = time.monotonic() + 60
        while not {"mark0", "mark1"} <= set(self.lines):
            if self.proc.poll() is not None or time.monotonic() > end:
                self.err.seek(0)
                raise RuntimeError(f"bpftrace is not attached: {self.err.read()[-500:]}")
            os.getpgid(0)
            time.sleep(0.1)
            self.see((self.proc.stdout.read() or b"").decode())

    def see(self, text):
        *lines, self.rest = (self.rest + text).split("\n")
        printed = ""
        for line in filter(None, lines):
            r = json.loads(line)
            if r["type"] in ("printf", "join"):
                printed += r["data"] + ("\n" if r["type"] == "join" else "")
            elif r["type"] in ("map", "hist", "stats"):
                self.maps.update(r["data"])
            elif r["type"] == "lost_events":
                raise RuntimeError(f"bpftrace lost events: {line}")
        self.lines += printed.splitlines()

    def end(self):
        self.proc.send_signal(signal.SIGINT)
        os.set_blocking(self.proc.stdout.fileno(), True)
        self.see(self.proc.stdout.read().decode() + "\n")
        self.proc.wait(60)


def run(name, work):
    """Both over the workload: what ours printed, bpftrace's maps and lines, and what was said."""
    mode, options, script, _ = SPECS[name]
    go = os.path.join(os.path.dirname(work), f"go-{name}")
    os.mkfifo(go)
    ours = subprocess.Popen([PERF_BPF, "run", name, *options, "--json", "--", work, mode, go],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            cwd=os.path.dirname(work))
    peer = None
    try:
        peer = Peer(script)
        end = time.monotonic() + 60
        while True: # the workload opens it when perf-bpf is attached
            try:
                fd = os.open(go, os.O_WRONLY | os.O_NONBLOCK)
                break
            except OSError:
                if ours.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"perf-bpf run {name}: {ours.communicate()[1]}") from None
                time.sleep(0.1)
        os.write(fd, b"x")
        out, err = ours.communicate(timeout=60)
        os.close(fd)
        if ours.returncode:
            raise RuntimeError(f"perf-bpf run {name} ended with {ours.returncode}: {err}")
        peer.end()
    finally:
        for proc in [ours] + ([peer.proc] if peer else []):
            if proc.poll() is None:
                proc.terminate() # perf-bpf ends the workload
                proc.wait(60)
    lines = out.splitlines()
    said = dict(l.split() for l in lines if re.fullmatch(r"\w+ \d+", l))
    return ([json.loads(l) for l in lines if l.startswith("{")], peer.maps, peer.lines,
            {k: int(v) for k, v in said.items()})


def main():
    if os.geteuid():
        skip_all("loading BPF programs takes root")
    if not shutil.which("bpftrace"):
        skip_all("bpftrace is not installed: tools/deps peers")
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        skip_all("this kernel has no BTF")
    names = [n for n in SPECS if fnmatch.fnmatch(n, ONLY)]
    print(f"1..{len(names)}")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="perf-bpf-builtins-", dir="/var/tmp") as folder:
        work = os.path.join(folder, "pbt_peer")
        subprocess.run(["cc", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
                        "-pthread", "-o", work, os.path.join(SRC, "tests/peers/builtins_work.c")],
                       check=True)
        for i, name in enumerate(names, 1):
            why = missing(SPECS[name][2])
            if not SPECS[name][0]:
                why = "its peers need a hardware counter of cache misses, as it does"
            if why:
                print(f"ok {i} - {name} # SKIP {why}", flush=True)
                continue
            try:
                say(f"{name}: {SPECS[name][3](*run(name, work))}")
                print(f"ok {i} - {name}", flush=True)
            except (AssertionError, RuntimeError, LookupError, ValueError,
                    subprocess.TimeoutExpired) as error:
                failed += 1
                say(f"{name}: {type(error).__name__}: {str(error)[:3000]}")
                print(f"not ok {i} - {name}", flush=True)
    return 1 if failed else 0


sys.exit(main())
