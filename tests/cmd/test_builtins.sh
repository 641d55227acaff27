#!/usr/bin/env bash
# The built-in programs against workloads that count for themselves: 32-bit calls, the functions
# that each of them must not miss, and what perf-bpf does itself. test_examples.sh has their counts.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

need_root() {
	[ "$(id -u)" = 0 ] || skip "loading a BPF program takes root"
}

WORK=(./workload)

# runs NAME OPTION...: beside the command $WORK; the maps go to ./json, what the command prints to ./said
runs() {
	need_root
	"$PERF_BPF" run "$@" --json -- "${WORK[@]}" >out 2>log || { cat out log; fail "run $1 fails"; }
	grep '^{' out >json || true
	grep -v '^{' out >said || true
}

# holds CODE: with events, m[MAP] and said, the words that the workload printed
holds() {
	python3 - "$1" <<-'END' || fail "the numbers are wrong"
		import json, sys
		m, events = {}, []
		for line in map(json.loads, open("json")):
		    if line["kind"] == "event":
		        events.append(line["event"])
		    else:
		        m[line["map"]] = line
		def rows(name, *columns):
		    return sorted(tuple(r.get(c + "_text", r.get(c)) for c in columns) for r in m[name]["rows"])
		def slots(name):
		    return {b["low"]: b["count"] for h in m[name]["hists"] for b in h["buckets"]}
		said = open("said").read().split()
		try:
		    exec(sys.argv[1])
		except Exception:
		    print(open("json").read())
		    raise
	END
}

# int $0x80 from 64-bit code is a 32-bit call; 0: this kernel has none
call_32_bit() {
	[ "$(uname -m)" = x86_64 ] || skip "32-bit calls of x86 only"
	"$WORKLOAD" call32 20 1 2>/dev/null || skip "this kernel has no 32-bit calls"
}

test_syscount_names_calls_by_their_table() {
	call_32_bit
	# 20 is getpid, and of 64-bit calls writev; 6 is close, lstat; getpid of x32 is ENOSYS where there is none
	WORK=("$WORKLOAD" name pbt_32 , call32 20 7 , call32 6 5 -1 , call getppid 3 , call 0x40000027 4 , name pbt_64)
	runs syscount --comm pbt_32
	holds 'calls = dict(rows("by_syscall", "syscall", "calls"))
assert calls == {"32-bit getpid": 7, "32-bit close": 5, "getppid": 3, "x32 getpid": 4, "prctl": 1}, calls
failures = rows("failures", "syscall", "error", "calls")
assert ("32-bit close", "EBADF", 5) in failures, failures
assert rows("by_process", "comm", "calls") == [("pbt_32", 20)]'
}

# write(2) of 32-bit calls has a tracepoint of its own, which is that of all calls.
test_write_sizes_of_32_bit_calls() {
	call_32_bit
	# number 4 of 64-bit calls is stat
	exec 8>/dev/null
	WORK=("$WORKLOAD" name pbt_writes , call32 4 9 8 zeros 1500 , call write 4 8 zeros 3000 , call 4 1 / zeros
		, name pbt_done)
	runs write_sizes --comm pbt_writes
	holds 'assert {k: n for k, n in slots("sizes").items() if n} == {1024: 9, 2048: 4}, slots("sizes")
assert m["bytes"]["count"] == 9 * 1500 + 4 * 3000
assert rows("writers", "comm", "writes") == [("pbt_writes", 13)]'
}

# Each way to open a file, paths of all lengths, and 32-bit calls.
test_opensnoop_sees_every_open() {
	call_32_bit
	local n path
	WORK=("$WORKLOAD" name pbt_opens , call 85 1 pbt-creat 0600 , call 2 1 pbt-open 0 , call openat 1 -100 pbt-openat 0
		, call 437 1 -100 pbt-openat2 zeros 24 , call32 8 1 pbt-creat-32 0600 , call32 5 1 pbt-open-32 0
		, call32 295 1 -100 pbt-openat-32 0)
	# "./" as often as it takes
	for n in 100 254 255 256 1000 4094 4095 4096 5000; do
		printf -v path '%*s' $((n / 2)) ""
		path=${path// /./}.
		WORK+=(, call openat 1 -100 "${path:0:n-8}/pbt-end" 0 , say "$n")
	done
	WORK+=(, name pbt_done)
	runs opensnoop --comm pbt_opens
	holds 'short = [(e["path"], e["fd"] >= 0, e.get("error_text")) for e in events if len(e["path"]) < 20]
assert short == [("pbt-creat", True, None), ("pbt-open", False, "ENOENT"), ("pbt-openat", False, "ENOENT"),
    ("pbt-openat2", False, "ENOENT"), ("pbt-creat-32", True, None), ("pbt-open-32", False, "ENOENT"),
    ("pbt-openat-32", False, "ENOENT")], short
paths = [e["path"] for e in events if len(e["path"]) >= 20]
want = [int(n) for n in said]
assert len(want) == len(paths) >= 6, (want, paths)
for n, path in zip(want, paths):
    if n < 4096:
        assert len(path) == n and path.endswith("/pbt-end"), (n, len(path))
    else:
        assert len(path) == 4095 and path.endswith("..."), (n, len(path))
assert max(want) > 4096 and m["opens"]["lost"] == 0'
}

# What perf-bpf does itself is not of interest: it would show how it shows.
test_perf_bpf_is_not_shown() {
	cat >workload <<-'END'
		#!/usr/bin/python3
		import os, time
		open("/proc/self/comm", "w").write("pbt_self")
		print(os.getppid(), flush=True)
		for i in range(20):
		    try:
		        os.open(f"pbt-{i}", os.O_RDONLY)
		    except OSError:
		        pass
		    time.sleep(0.03)
	END
	chmod +x workload
	runs syscount opensnoop profile --interval 0.2
	# others may open more files than the ring has room for
	holds 'seen = {e["path"] for e in events if e["comm"] == "pbt_self" and e["path"].startswith("pbt-")}
assert len(seen) + m["opens"]["lost"] >= 20 and events, (seen, m["opens"]["lost"])
assert not [e for e in events if e["pid"] == int(said[0])], said
pids = {r["pid"] for r in m["by_process"]["rows"]}
assert int(said[0]) not in pids and len(pids) > 0
assert {r["comm"] for r in m["by_process"]["rows"]} >= {"pbt_self"}'
}

test_mallocsizes_counts_each_function_once() {
	cat >workload.c <<-'END'
		#define _GNU_SOURCE
		#include <malloc.h>
		#include <stdlib.h>
		#include <sys/prctl.h>
		/* By pointers: the compiler must leave the calls as they are. */
		void *(*volatile p_malloc)(size_t) = malloc;
		void *(*volatile p_calloc)(size_t, size_t) = calloc;
		void *(*volatile p_realloc)(void *, size_t) = realloc;
		void *(*volatile p_reallocarray)(void *, size_t, size_t) = reallocarray;
		int (*volatile p_posix_memalign)(void **, size_t, size_t) = posix_memalign;
		void *(*volatile p_aligned_alloc)(size_t, size_t) = aligned_alloc;
		void *(*volatile p_memalign)(size_t, size_t) = memalign;
		int main(void)
		{
			void *p = p_malloc(1), *small = NULL;
			prctl(PR_SET_NAME, "pbt_mallocs");
			for (int i = 0; i < 3; i++)
				free(p_malloc(1 << 10));
			for (int i = 0; i < 4; i++)
				free(p_calloc(2, 1 << 10));
			for (int i = 0; i < 5; i++)
				p = p_realloc(p, 1 << 12);
			for (int i = 0; i < 6; i++)
				free(p_realloc(NULL, 1 << 13)); /* calls malloc() */
			for (int i = 0; i < 7; i++)
				p = p_reallocarray(p, 2, 1 << 13); /* calls realloc() */
			for (int i = 0; i < 8; i++)
				free(p_reallocarray(NULL, 4, 1 << 13)); /* and that malloc() */
			for (int i = 0; i < 9; i++)
				if (!p_posix_memalign(&small, 64, 1 << 16))
					free(small);
			for (int i = 0; i < 10; i++)
				free(p_aligned_alloc(64, 1 << 17));
			for (int i = 0; i < 11; i++)
				free(p_memalign(64, 1 << 18));
			for (int i = 0; i < 12; i++)
				free(p_memalign(8, 1 << 19)); /* calls malloc() */
			p = p_realloc(p, 0); /* frees */
			free(p_calloc((size_t)1 << 40, (size_t)1 << 40));
			for (int i = 0; i < 13; i++) { /* of one size, one after the other */
				small = p_realloc(NULL, 1 << 20);
				free(p_malloc(1 << 20));
				free(small);
			}
			prctl(PR_SET_NAME, "pbt_done");
			return 0;
		}
	END
	gcc -O1 -o workload workload.c
	runs mallocsizes --comm pbt_mallocs
	holds 'want = {1 << 10: 3, 1 << 11: 4, 1 << 12: 5, 1 << 13: 6, 1 << 14: 7, 1 << 15: 8, 1 << 16: 9,
    1 << 17: 10, 1 << 18: 11, 1 << 19: 12, 1 << 20: 26}
got = {low: n for low, n in slots("sizes").items() if n}
assert got == want, got
assert rows("bytes", "comm", "bytes") == [("pbt_mallocs", sum(k * v for k, v in want.items()))]'
}

# What is lost on the way to a socket that drops everything is sent again: first by a tail loss
# probe, then by the timer. The kernel counts both.
# Whether the kernel sends a probe before the timeout depends on how long earlier answers took; its
# own count of this network namespace (TCPLossProbes) tells whether it did. The kernel of some hosted
# machines calls no tracepoint while process 1 runs, also for a timer: if it ran, one may be missing.
test_tcpretrans_tells_probes_and_timeouts() {
	unshare -n true 2>/dev/null || skip "cannot make a network namespace"
	cat >workload <<-'END'
		#!/usr/bin/env -S unshare -n /usr/bin/python3
		import ctypes, glob, socket, struct, subprocess, time
		def info(s, at):  # a number of struct tcp_info
		    return struct.unpack_from("I", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), at)[0]
		def again(s):  # tcpi_total_retrans
		    return info(s, 100)
		def probes():
		    names, counts = [l.split() for l in open("/proc/net/netstat") if l.startswith("TcpExt")]
		    return int(counts[names.index("TCPLossProbes")])
		def time_of_process_1():
		    return sum(int(open(name).read().split()[0]) for name in glob.glob("/proc/1/task/*/schedstat"))
		before_1 = time_of_process_1()
		subprocess.check_call(["ip", "link", "set", "lo", "up"])
		frames = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
		frames.bind(("lo", 0))
		frames.setblocking(False)
		def sent(c):  # how often "lost" left (PACKET_OUTGOING)
		    n = 0
		    while True:
		        try:
		            frame, (_, _, kind, *_) = frames.recvfrom(256)
		        except BlockingIOError:
		            return n
		        port = struct.unpack_from("!H", frame, 34)[0] if len(frame) > 36 else 0
		        n += kind == 4 and port == c.getsockname()[1] and frame.endswith(b"lost")
		server = socket.create_server(("127.0.0.1", 0))
		print(server.getsockname()[1])
		while not probes():
		    c = socket.create_connection(server.getsockname())
		    r, _ = server.accept()
		    for _ in range(20):  # the time to the other side is known
		        c.send(b"x"), r.recv(1), r.send(b"y"), c.recv(1)
		    drop = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
		    r.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HL", 1, ctypes.addressof(drop)))
		    c.send(b"lost")
		    while again(c) < 3:
		        time.sleep(0.01)
		    r.setsockopt(socket.SOL_SOCKET, 27, 0)  # SO_DETACH_FILTER: the next one arrives
		    while info(c, 24) or info(r, 24):  # tcpi_unacked: only then no other one follows
		        time.sleep(0.01)
		    print(c.getsockname()[1], again(c), sent(c))
		print(probes(), int(time_of_process_1() > before_1))
	END
	chmod +x workload
	runs tcpretrans
	# The kernel counts attempts; one that fails (no memory, a full queue) was not sent again.
	holds 'server, *said, probes, may_miss = map(int, said)
got = [r for r in m["retransmits"]["rows"]
       if server in (r["from_port"], r["to_port"]) and r["state_text"] == "ESTABLISHED"]
missing = 0
for port, again, sent in zip(*[iter(said)] * 3):
    assert again >= 3, said
    n = sum(r["segments"] for r in got if r["from_port"] == port)
    assert n <= sent - 1, said
    missing += sent - 1 - n
assert missing <= may_miss, (said, missing)
seen = sum(r["segments"] for r in got if r["kind_text"] == "LOSS_PROBE")
assert probes > 0 and probes - missing <= seen <= probes, (said, probes, seen)'
}

# What was not sent, because its route is gone, was not sent again. Of four connections, one after the
# other: process 1, if it runs, may hide some. And what the kernel tries while the route goes may be sent or not.
test_tcpretrans_leaves_out_what_failed() {
	unshare -n true 2>/dev/null || skip "cannot make a network namespace"
	cat >workload <<-'END'
		#!/usr/bin/env -S unshare -n /usr/bin/python3
		import ctypes, glob, socket, struct, subprocess, time
		def again(c):
		    return struct.unpack_from("I", c.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 100)[0]
		def backoff(c):  # timeouts in a row
		    return c.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[4]
		def time_of_process_1():
		    return sum(int(open(name).read().split()[0]) for name in glob.glob("/proc/1/task/*/schedstat"))
		before_1 = time_of_process_1()
		subprocess.check_call(["ip", "link", "set", "lo", "up"])
		subprocess.check_call(["ip", "address", "add", "10.9.8.7/24", "dev", "lo"])
		server = socket.create_server(("10.9.8.7", 0))
		clients, served = [], []
		for _ in range(4):
		    c = socket.create_connection(server.getsockname(), source_address=("10.9.8.7", 0))
		    r, _ = server.accept()
		    for _ in range(20):
		        c.send(b"x"), r.recv(1), r.send(b"y"), c.recv(1)
		    drop = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
		    r.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HL", 1, ctypes.addressof(drop)))
		    c.send(b"lost")
		    while not again(c):
		        time.sleep(0.001)
		    clients.append(c)
		    served.append(r)
		sure = sum(map(again, clients))
		subprocess.check_call(["ip", "link", "set", "lo", "down"])
		subprocess.check_call(["ip", "address", "flush", "dev", "lo"])
		while min(map(backoff, clients)) < 3:
		    time.sleep(0.05)
		print(int(time_of_process_1() > before_1), sure, sum(map(again, clients)), *(c.getsockname()[1] for c in clients))
	END
	chmod +x workload
	runs tcpretrans
	holds 'may_miss, sure, again, *ports = map(int, said)
got = sum(r[2] for r in rows("retransmits", "from_port", "from", "segments") if r[0] in ports and r[1] == "10.9.8.7")
assert sure >= 4 and (sure / 2 if may_miss else sure) <= got <= again, (may_miss, sure, got, again)'
}

# --cgroup: those in descendants are in it, those beside it are not; what is none is refused.
test_cgroups_and_their_descendants() {
	local root
	need_root
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$root" ] || skip "no cgroup2 is mounted"
	C=$root/pbt_cgroup_$$
	mkdir "$C" || skip "no cgroup can be made"
	mkdir -p "$C/wanted/child/grandchild" "$C/wanted2"
	trap 'rmdir "$C/wanted/child/grandchild" "$C/wanted/child" "$C/wanted" "$C/wanted2" "$C"' EXIT
	cat >in.sh <<-'END'
		echo $$ >"$1/cgroup.procs"
		exec ./pbt_in call getpgid "$2" 0 , sleeps 20 1000
	END
	workload_as pbt_in # it waits for a CPU after each sleep; process 1 may hide some
	cat >workload <<-END
		#!/bin/sh
		sh in.sh $C/wanted 10
		sh in.sh $C/wanted/child 200
		sh in.sh $C/wanted/child/grandchild 3000
		sh in.sh $C/wanted2 40000
		sh in.sh $C 50000
		./pbt_in call getpgid 60000 0 , sleeps 20 1000
	END
	chmod +x workload
	count='calls = dict(rows("by_syscall", "syscall", "calls")).get("getpgid")
assert calls == %s, calls'
	runs syscount --comm pbt_in --cgroup "$C/wanted"
	holds "$(printf "$count" 3210)"
	runs syscount --comm pbt_in --cgroup "$C/wanted/child/grandchild,$C/wanted2"
	holds "$(printf "$count" 43000)"
	runs syscount --comm pbt_in --cgroup "$(stat -c %i "$C/wanted/child")"
	holds "$(printf "$count" 3200)"
	# sched_switch asks for another task than the current one
	runs runqlat --cgroup "$C/wanted"
	holds 'assert "pbt_in" in [h["key"]["comm"] for h in m["latency_by_comm"]["hists"]]'
	runs runqlat --comm pbt_in --cgroup "$C/wanted/child/grandchild"
	holds 'assert m["latency_by_comm"]["hists"][0]["total"] >= 1'
	mkdir empty
	expect_status 1 "$PERF_BPF" run syscount --cgroup "$PWD/empty" -- true
	assert_contains err "--cgroup: '$PWD/empty' is not a cgroup"
	expect_status 1 "$PERF_BPF" run syscount --cgroup /tmp -- true
	assert_contains err "hint: give a directory in "
	v1=$(awk '$3 == "cgroup" { print $2; exit }' /proc/mounts)
	[ -z "$v1" ] || expect_status 1 "$PERF_BPF" run syscount --cgroup "$v1" -- true
	[ -z "$v1" ] || assert_contains err "is a directory of cgroup v1"
}

# How long it waited for its CPU, and how often it got one, by the kernel's own count: a thread that
# sets its timer, and loses the CPU between that and its sleep, waits as well. The kernel of some
# hosted machines calls no tracepoint while process 1 runs (see test_examples.sh): each time that it got
# a CPU, a wakeup and the switch from it may be missing.
test_runqlat_counts_all_waits() {
	need_root
	[ -r /proc/self/schedstat ] || skip "this kernel has no /proc/PID/schedstat"
	cat >workload.c <<-'END'
		#define _GNU_SOURCE
		#include <glob.h>
		#include <sched.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/mman.h>
		#include <sys/prctl.h>
		#include <sys/wait.h>
		#include <time.h>
		#include <unistd.h>
		static void schedstat(pid_t pid, long *ns, long *times)
		{
			char path[64];
			FILE *f;
			snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
			f = fopen(path, "r");
			if (!f || fscanf(f, "%*d %ld %ld", ns, times) != 2)
				exit(1);
			fclose(f);
		}
		/* How often the threads of process 1 got a CPU. */
		static long times_of_process_1(void)
		{
			long sum = 0, times;
			glob_t found = {0};
			glob("/proc/1/task/*/schedstat", 0, NULL, &found);
			for (size_t i = 0; i < found.gl_pathc; i++) {
				FILE *f = fopen(found.gl_pathv[i], "r");
				if (f && fscanf(f, "%*d %*d %ld", &times) == 1)
					sum += times;
				if (f)
					fclose(f);
			}
			globfree(&found);
			return sum;
		}
		int main(void)
		{
			struct sched_param param = {.sched_priority = 10};
			struct timespec tick = {.tv_nsec = 30000}, nap = {.tv_nsec = 1};
			long ns, times, of_1 = times_of_process_1();
			/* of the child, when it has its name */
			long *before = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
			cpu_set_t cpus;
			pid_t pid, rival;
			CPU_ZERO(&cpus);
			CPU_SET(0, &cpus);
			sched_setaffinity(0, sizeof(cpus), &cpus);
			if (!(rival = fork())) {
				sched_setscheduler(0, SCHED_FIFO, &param);
				for (;;)
					nanosleep(&tick, NULL);
			}
			if (!(pid = fork())) {
				prctl(PR_SET_NAME, "pbt_waits");
				schedstat(getpid(), &before[0], &before[1]);
				prctl(PR_SET_TIMERSLACK, 1);
				for (int i = 0; i < 20000; i++)
					nanosleep(&nap, NULL);
				_exit(0);
			}
			siginfo_t info;
			waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
			schedstat(pid, &ns, &times);
			kill(rival, SIGKILL);
			while (wait(NULL) > 0)
				;
			printf("%ld %ld %ld %ld %ld\n", ns, times, before[0], before[1],
			       times_of_process_1() - of_1);
			return 0;
		}
	END
	gcc -O1 -o workload workload.c
	runs runqlat --comm pbt_waits
	# what was before it had its name is not counted
	holds 'ns, times, ns_before, times_before, of_1 = map(int, said)
h, = [h for h in m["latency_by_comm"]["hists"] if h["key"]["comm"] == "pbt_waits"]
print(h["total"], times, times_before, of_1)
assert times - times_before - 2 * (of_1 + 1) <= h["total"] <= times, (h["total"], times, times_before, of_1)
low = sum(b["low"] * b["count"] for b in h["buckets"])
high = sum((b["high"] + 1) * b["count"] for b in h["buckets"])
assert low * 1000 <= ns * 1.2 + 1e6, (low, ns)
assert ns - ns_before <= high * 1000 * 1.2 + 1e6, (ns, ns_before, high)'
}

run_tests
