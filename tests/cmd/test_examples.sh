#!/usr/bin/env bash
# Each example is compiled, loaded, and does what its first lines say.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"
EXAMPLES=$SRC/examples

need_root() {
	[ "$(id -u)" = 0 ] || skip "loading a BPF program takes root"
}

# record EXAMPLE[/PARAMETERS/] OPTION... -- COMMAND...: into ./perf.data, script's lines in ./lines
record() {
	local example=$1
	shift
	"$PERF_BPF" record -o perf.data -e "$EXAMPLES/$example" "$@" >log 2>&1 ||
		{ cat log; fail "$example is not recorded"; }
	# A host whose own programs are at the tracepoint filters ours, as record says.
	! grep "programs\? of other processes" log >others || skip "$(head -n 1 others)"
	"$PERF_BPF" script -i perf.data >lines 2>log || { cat log; fail "script fails"; }
}

# A command of a name that nothing else on the machine has.
own_command() {
	ln -s "$(type -P "$2")" "$1"
	PATH=$PWD:$PATH
}

test_every_example_says_how_to_run_it() {
	for example in "$EXAMPLES"/*.bpf.c; do
		grep -qE "^ \*	perf-bpf (record .*examples/$(basename "$example")|run (examples/$(basename "$example")|$(basename "$example" .bpf.c)))" "$example" ||
			fail "$(basename "$example") does not say how to run it"
		grep -q "test_.*$(basename "$example" .bpf.c)" "$SRC/tests/cmd/test_examples.sh" ||
			fail "$(basename "$example") has no test"
	done
}

# ---- the examples that count: perf-bpf run NAME ----

# own_python NAME: a Python of a name that nothing else on the machine has.
own_python() {
	[ -x /usr/bin/python3 ] || skip "no /usr/bin/python3"
	ln -s /usr/bin/python3 "$1"
	PATH=$PWD:$PATH
}

# runs NAME OPTION... -- COMMAND...: the maps of perf-bpf run NAME go to ./json.
runs() {
	need_root
	"$PERF_BPF" run "$@" >json 2>log || { cat json log; fail "perf-bpf run $1 fails"; }
	# A busy machine may start more programs than can be followed; the test's own has its names.
	! grep -v "records of mapped files were lost" log || fail "perf-bpf run $1 warns"
}

# holds CODE: m[MAP] is the map's last line of ./json. rows(MAP, COLUMN...) are the cells of its
# table, texts before numbers; slots(MAP) the counts of its histogram by the range's low end.
holds() {
	python3 - "$1" <<-'END' || fail "the numbers are wrong"
		import json, sys, time
		m = {}
		events = []
		for line in (json.loads(l) for l in open("json") if l.startswith("{")):
		    if line["kind"] == "event":
		        assert line["time_of"] == "event" and 0 <= time.time_ns() - line["time_ns"] < 120e9, line
		        events.append(line["event"])
		    else:
		        m[line["map"]] = line
		def rows(name, *columns):
		    return sorted(tuple(r.get(c + "_text", r.get(c)) for c in columns) for r in m[name]["rows"])
		def slots(name, n=0):
		    hists = m[name]["hists"]
		    return {b["low"]: b["count"] for b in hists[n]["buckets"]} if hists else {}
		try:
		    exec(sys.argv[1])
		except (AssertionError, KeyError):
		    print(open("json").read())
		    raise
	END
}

test_what_is_built_in_is_listed_and_documented() {
	"$PERF_BPF" run --list >list
	! grep -nE '^.{81}' list || fail "wider than 80 columns"
	"$PERF_BPF" run --list --json >json
	names=$(python3 -c 'import json
for p in map(json.loads, open("json")):
    assert p["answers"] and p["needs"], p
    print(p["name"])')
	for name in $names; do
		grep -q "^$name  *[A-Z]" list || fail "$name is not in the list"
		"$PERF_BPF" run --source "$name" | cmp - "$EXAMPLES/$name.bpf.c"
		grep -q "^\.It Ic $name$" "$SRC/man/perf-bpf-run.1" || fail "perf-bpf-run(1) has no $name"
	done
	for example in $(grep -lE '^ \* Needs:' "$EXAMPLES"/*.bpf.c); do
		assert_contains list "$(basename "$example" .bpf.c)"
	done
	for name in $(sed -n 's/^\.It Ic //p' "$SRC/man/perf-bpf-run.1"); do
		grep -q "^$name " list || fail "perf-bpf-run(1) has $name, which is not built in"
	done
}

test_a_name_that_is_none() {
	expect_status 1 "$PERF_BPF" run runqlatt
	assert_contains err "unknown built-in program 'runqlatt'"
	assert_contains err "hint: did you mean 'runqlat'?"
	expect_status 1 "$PERF_BPF" run --source xyzzy
	assert_contains err "'perf-bpf run --list' lists the programs"
	# A file needs a '/' or an ending.
	echo nonsense >xyzzy
	expect_status 1 "$PERF_BPF" run xyzzy
	assert_contains err "hint: to use the file of this name, write './xyzzy'"
	expect_status 1 "$PERF_BPF" run ./xyzzy
	assert_contains err "./xyzzy"
	grep -q "built-in" err && fail "./xyzzy is taken for a name"
	need_root
	echo nonsense >syscount
	expect_status 0 "$PERF_BPF" run syscount --comm pbx_none -- true
	expect_status 1 "$PERF_BPF" run ./syscount -- true
}

# The sources as somebody would use them who copied them: with this kernel's own vmlinux.h.
test_the_sources_compile_and_load() {
	need_root
	"$PERF_BPF" run --list --json | sed 's/^{"name":"\([^"]*\)".*/\1/' >names
	cat >try.sh <<-'END'
		"$PERF_BPF" run --source "$1" >"$1.bpf.c"
		# What a busy machine does in a millisecond may be too much for their maps.
		# Events are not looked at: any process may open a file of the name warnings.pyc.
		"$PERF_BPF" run "./$1.bpf.c" --duration 1ms >"$1.out" 2>"$1.err" &&
			! grep warning "$1.err" | grep -vE 'were lost|updates .*failed' && exit 0
		[ "$1" = cachemisses ] && grep -q "this machine" "$1.err" && exit 0
		sed "s/^/$1: /" "$1.err"
		exit 1
	END
	PERF_BPF=$PERF_BPF PERF_BPF_CACHE_DIR=$PWD/cache xargs -P 2 -n 1 sh try.sh <names
}

# The kernel's counts are those of the workload: 5 writes of 1234 bytes, 7 of 512.
write_workload() {
	own_command "$1" dd
	cat >workload.sh <<-END
		$1 if=/dev/zero of=/dev/null bs=1234 count=5 status=none
		$1 if=/dev/zero of=/dev/null bs=512 count=7 status=none
	END
}

test_write_sizes() {
	write_workload pbt_sizes
	runs write_sizes --comm pbt_sizes --json -- sh workload.sh
	holds 'assert slots("sizes") == {512: 7, 1024: 5}
assert m["bytes"]["count"] == 5 * 1234 + 7 * 512
assert rows("writers", "comm", "writes") == [("pbt_sizes", 5), ("pbt_sizes", 7)]'
	runs write_sizes --comm pbt_sizes --set min_size=1000 --json -- sh workload.sh
	holds 'assert m["bytes"]["count"] == 6170'
}

# By what this kernel has: fentry, a kprobe, or the tracepoint.
test_tracex4() {
	write_workload pbt_tracex4
	runs tracex4 --comm pbt_tracex4 --json -- sh workload.sh
	holds 'assert slots("writes") == {512: 7, 1024: 5}'
	"$PERF_BPF" run tracex4 -v -- true 2>log >out
	assert_equal "$(grep -c 'program tracex4_.* is attached' log)" 1
	assert_equal "$(grep -c 'program tracex4_.* is skipped' log)" 2
}

# What nobody has read when a socket is closed is dropped, by who closes it.
cat_drops() {
	cat >drops.py <<-'END'
		import socket
		a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
		for _ in range(9):
		    a.send(b"dropped")
		b.close()
	END
}

test_tracex2() {
	cat_drops
	own_python pbt_tracex2
	echo 'import os
os.write(os.open("/dev/null", os.O_WRONLY), bytes(70000))' >>drops.py
	runs tracex2 --comm pbt_tracex2 --json -- pbt_tracex2 drops.py
	holds 'assert slots("writes")[65536] == 1
assert [n for place, n in rows("drops", "function", "packets") if place.startswith("unix_release")] == [9]'
}

# It has no filter: others may have dropped packets there as well.
test_dropmon() {
	cat_drops
	runs dropmon --json -- python3 drops.py
	holds 'assert sum(n for place, n in rows("drops", "function", "packets") if place.startswith("unix_release")) >= 9'
}

# How often it got a CPU is counted by the scheduler, too: at least what it waited for itself, at
# most what the zombie has in the end. The kernel of some hosted machines calls no tracepoint while
# process 1 runs: perf there sees each switch to one of its threads, and none from them. So what may
# have been in its time, a wakeup in each millisecond and two at each switch, may be missing.
test_runqlat() {
	[ -r /proc/self/schedstat ] || skip "this kernel has no /proc/PID/schedstat"
	own_python pbt_runqlat
	cat >sleeps.py <<-'END'
		import glob, time
		def of_process_1():
		    stats = [open(name).read().split() for name in glob.glob("/proc/1/task/*/schedstat")]
		    return sum(int(s[0]) // 1000000 + 2 * int(s[2]) for s in stats)
		got_cpu = lambda: int(open("/proc/self/schedstat").read().split()[2])
		before, before_1 = got_cpu(), of_process_1()
		for _ in range(50):
		    time.sleep(0.001)
		print(got_cpu() - before, of_process_1() - before_1)
	END
	cat >parent.py <<-'END'
		import os, sys
		pid = os.fork()
		if pid == 0:
		    os.execvp("pbt_runqlat", ["pbt_runqlat", "sleeps.py"])
		os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
		open("most", "w").write(open(f"/proc/{pid}/schedstat").read().split()[2])
		os.wait()
	END
	need_root
	"$PERF_BPF" run runqlat --comm pbt_runqlat --json -- python3 parent.py >out
	grep '^{' out >json
	read -r least hidden < <(grep -v '^{' out)
	[ "$least" -ge 50 ] || fail "it slept $least times"
	holds "n = sum(slots('latency').values())
assert max(1, $least - $hidden) <= n <= $(cat most), (n, $least, $hidden, $(cat most))
assert m['latency_by_comm']['hists'][0]['key']['comm'] == 'pbt_runqlat'
assert m['latency_by_comm']['hists'][0]['total'] == n"
}

test_syscount() {
	own_python pbt_syscount
	cat >calls.py <<-'END'
		import os
		for _ in range(37):
		    os.getppid()
		for _ in range(11):
		    try:
		        os.getpgid(1 << 28)
		    except OSError:
		        pass
	END
	runs syscount --comm pbt_syscount --json -- pbt_syscount calls.py
	holds 'calls = dict(rows("by_syscall", "syscall", "calls"))
assert calls["getppid"] == 37 and calls["getpgid"] == 11
assert [r[2] for r in rows("failures", "syscall", "error", "calls") if r[:2] == ("getpgid", "ESRCH")] == [11]
(row,) = m["by_process"]["rows"]
assert row["comm"] == "pbt_syscount" and row["calls"] == sum(calls.values())'
}

test_opensnoop() {
	own_python pbt_opens
	cat >opens.py <<-'END'
		import os
		for i in range(5):
		    os.close(os.open(f"there{i}", os.O_CREAT | os.O_WRONLY))
		for i in range(3):
		    try:
		        os.open("pbt-not-there", os.O_RDONLY)
		    except OSError:
		        pass
	END
	runs opensnoop --comm pbt_opens --json -- pbt_opens opens.py
	holds 'assert sorted(e["path"] for e in events if e["fd"] >= 0 and e["path"].startswith("there")) == [f"there{i}" for i in range(5)]
assert all(e["comm"] == "pbt_opens" for e in events)
assert [(e["fd"], e["error_text"]) for e in events if e["path"] == "pbt-not-there"] == 3 * [(-1, "ENOENT")]
assert m["opens"]["total"] == len(events) and m["opens"]["lost"] == 0'
	runs opensnoop --comm pbt_opens --set only_failed=true --json -- pbt_opens opens.py
	holds 'assert events and all(e["error"] < 0 for e in events)'
}

test_execsnoop() {
	own_command pbt_exec true
	cat >execs.sh <<-'END'
		pbt_exec first 'two words' ''
		pbt_exec "$(printf %0300d 0)"
		/no/such/program 2>/dev/null
		exec pbt_exec
	END
	runs execsnoop --comm pbt_exec --json -- sh execs.sh
	holds 'assert [e["arguments"] for e in events] == ["pbt_exec first two words ", ("pbt_exec " + 300 * "0")[:255], "pbt_exec"], events
assert [e["comm"] for e in events] == 3 * ["pbt_exec"] and all(e["uid"] == 0 for e in events)
assert events[0]["parent"] == events[1]["parent"] == events[2]["pid"]
assert [e["parent_comm"] for e in events] == ["sh", "sh", "perf-bpf"], events'
}

# Packets of a size that nobody else sends, over lo.
test_tracex1() {
	size=$((20000 + $$ % 20000))
	cat >packets.py <<-END
		import socket
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.bind(("127.0.0.1", 0))
		for _ in range(21):
		    s.sendto(bytes($size), s.getsockname())
		    s.recv(65536)
	END
	runs tracex1 --json -- python3 packets.py
	holds "assert [(e['device'], e['protocol']) for e in events if e['length'] == $size + 28] == 21 * [('lo', 0x800)]"
	runs tracex1 --set device=pbt0 --json -- python3 packets.py
	holds 'assert not events'
}

test_tcpconnect() {
	own_python pbt_connect
	cat >connect.py <<-'END'
		import socket
		with socket.create_server(("127.0.0.1", 0)) as server:
		    port = server.getsockname()[1]
		    for _ in range(3):
		        socket.create_connection(("127.0.0.1", port)).close()
		ipv6 = 0
		try:
		    with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
		        ipv6 = server.getsockname()[1]
		        for _ in range(2):
		            socket.create_connection(("::1", ipv6)).close()
		except OSError:
		    pass # no IPv6
		open("ports", "w").write(f"{port} {ipv6}\n")
	END
	runs tcpconnect --comm pbt_connect --json -- pbt_connect connect.py
	read -r port ipv6 <ports
	holds "want = [('127.0.0.1', '$port', 3)] + ([('::1', '$ipv6', 2)] if $ipv6 else [])
assert rows('connects', 'address', 'port', 'connects') == want"
}

# A server whose filter drops everything does not answer, and SYN is sent again. (A full queue of
# the server does not do: with SYN cookies it may answer, and drop the last step of the handshake.)
# If process 1 runs, it may hide some (see test_runqlat), so they are not sent at one time.
test_tcpretrans() {
	cat >again.py <<-'END'
		import ctypes, glob, select, socket, struct, time
		def segments_again(s):  # tcpi_total_retrans of struct tcp_info
		    return struct.unpack_from("I", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 100)[0]
		def time_of_process_1():
		    return sum(int(open(name).read().split()[0]) for name in glob.glob("/proc/1/task/*/schedstat"))
		before_1 = time_of_process_1()
		server = socket.socket()
		server.bind(("127.0.0.1", 0))
		drop = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
		server.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HL", 1, ctypes.addressof(drop)))
		server.listen(8)
		clients = []
		for _ in range(4):
		    s = socket.socket()
		    s.setblocking(False)
		    s.connect_ex(server.getsockname())
		    clients.append(s)
		    time.sleep(0.02)
		while not any(segments_again(s) for s in clients):
		    time.sleep(0.05)
		server.setsockopt(socket.SOL_SOCKET, 27, 0)  # SO_DETACH_FILTER: the next ones arrive
		# With all of them connected nothing is sent again, so that the numbers stay.
		served = [server.accept() for _ in clients]
		for s in clients:
		    select.select([], [s], [])
		again = {s.getsockname()[1]: segments_again(s) for s in clients if segments_again(s)}
		for s in clients:  # without a farewell, which could be sent again, too
		    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
		    s.close()
		open("again", "w").write(repr((server.getsockname()[1], again, time_of_process_1() > before_1)))
	END
	runs tcpretrans --json -- python3 again.py
	holds 'port, again, may_miss = eval(open("again").read())
got = {r[0]: r[4] for r in rows("retransmits", "from_port", "to_port", "from", "state", "segments") if r[1] == str(port)}
assert again and all(n <= again.get(port, 0) for port, n in got.items()), (got, again)
assert got == again or may_miss and sum(got.values()) >= sum(again.values()) / 2, (got, again)
assert {r[1:] for r in rows("retransmits", "to_port", "to", "from", "state") if r[0] == str(port)} == {("127.0.0.1", "127.0.0.1", "SYN_SENT")}'
}

# direct_writes NAME COMMAND: 50 direct writes of a block each, one after the other: a request each.
# On a block device of its own: what others have queued on theirs may be started by an
# interrupt while dd runs, and counts as dd's.
direct_writes() {
	own_command "$2" dd
	file=$(mktemp /dev/shm/perf-bpf-test.XXXXXX)
	truncate -s 1M "$file"
	device=$(losetup --find --show "$file" 2>log) || { rm -f "$file"; skip "no loop device: $(cat log)"; }
	trap 'losetup -d "$device"; rm -f "$file"' EXIT
	runs "$1" --comm "$2" --json -- "$2" if=/dev/zero of="$device" bs=4k count=50 \
		oflag=direct conv=notrunc status=none
}

test_biolatency() {
	direct_writes biolatency pbt_bio
	holds 'assert [h["total"] for h in m["latency"]["hists"]
    if h["key"]["device_text"] == "'"$(stat -c %Hr:%Lr "$device")"'"] == [50]'
}

test_tracex3() {
	direct_writes tracex3 pbt_tracex3
	holds 'heat = m["latency"]
total = sum(r["count"] for r in heat["ranges"])
assert 50 <= total <= 100, heat
assert sum(sum(slot) for slot in heat["counts"]) == total, heat'
}

# Names that were read by the program are there to be read by the probe.
test_getenv_names() {
	workload_as pbt_getenv
	runs "$EXAMPLES/getenv_names.bpf.c" --comm pbt_getenv --json -- ./pbt_getenv getenvs 7 PBT_SEVEN , getenvs 3 PBT_THREE
	holds 'assert rows("asked_for", "comm", "name", "calls") == [
    ("pbt_getenv", "PBT_SEVEN", 7), ("pbt_getenv", "PBT_THREE", 3)]'
}

test_mallocsizes() {
	workload_as pbt_malloc
	runs mallocsizes --comm pbt_malloc --json -- ./pbt_malloc mallocs 13 5000000 , mallocs 6 40000000
	holds 'large = {low: n for low, n in slots("sizes").items() if low >= 1 << 20}
assert large == {1 << 22: 13, 1 << 25: 6}
assert rows("bytes", "comm", "bytes")[0][1] >= 13 * 5000000 + 6 * 40000000'
}

# A thread that is looked at by a name that it has for a while only; what is in one function has
# frames of its own: the system call is made right there.
cat_stacks() {
	cat >stacks.h <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/prctl.h>
		#include <sys/resource.h>
		#include <sys/syscall.h>
		#include <time.h>
		#include <unistd.h>
		static void named(const char *name) { prctl(PR_SET_NAME, name); }
		static long long now(void)
		{
			struct timespec ts;
			clock_gettime(CLOCK_MONOTONIC, &ts);
			return ts.tv_sec * 1000000000ll + ts.tv_nsec;
		}
		static inline __attribute__((always_inline)) long call(long nr, long a, long b, long c)
		{
		#ifdef __x86_64__
			long ret;
			__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c)
					 : "rcx", "r11", "memory");
			return ret;
		#else
			return syscall(nr, a, b, c);
		#endif
		}
	END
}

compile_stacks() { # NAME, from stdin
	cat_stacks
	cat >"$1.c"
	gcc -O0 -fno-omit-frame-pointer -I. -pthread -o "$1" "$1.c"
}

# Each page is touched once.
test_pagefaults() {
	runs pagefaults --comm pbt_touches --json -- "$WORKLOAD" name pbt_touches , faults 299 , name pbt_faults
	holds 'faults = [s for s in m["faults"]["stacks"] if s["frames"][0]["name"] == "work_touch"]
assert sum(s["count"] for s in faults) == 299, m["faults"]
assert any(f["name"] == "main" for f in faults[0]["frames"])'
}

# It burns half a second of its own CPU time; the clock's samples are at most those of the time that
# went by.
test_profile() {
	# on one CPU, so that its samples are of one clock
	local start=${EPOCHREALTIME//[.,]/} ms
	runs profile -e cpu-clock --comm pbt_burns --json -- taskset -c 0 "$WORKLOAD" name pbt_burns , burn 500 , name pbt_profile
	ms=$(((${EPOCHREALTIME//[.,]/} - start) / 1000))
	holds "burns = [s for s in m['samples']['stacks'] if any(f['name'] == 'work_burn' for f in s['frames'])]
n = sum(s['count'] for s in burns)
assert 10 <= n <= $ms * 99 / 1000 + 1, (n, $ms)
assert any(f['name'] == 'main' for f in burns[0]['frames'])"
	runs profile --comm pbt_burns --json -- "$WORKLOAD" name pbt_burns , burn 500 # cycles, or cpu-clock
	holds "assert sum(s['count'] for s in m['samples']['stacks']) > 0"
}

test_cachemisses() {
	need_root
	if ! "$PERF_BPF" features perf.hardware >features; then
		expect_status 1 "$PERF_BPF" run cachemisses -- true
		assert_contains err "hint: "
		grep -q "cannot open cache-misses: this machine" err || { cat err; fail "it does not say why"; }
		skip "this machine counts no cache misses: $(head -n 1 err)"
	fi
	own_python pbt_misses
	runs cachemisses -F 999 --comm pbt_misses --json -- pbt_misses -c '
x = list(range(5000000))
x.sort(key=lambda v: v * 7919 % 5000011)'
	holds 'assert m["misses"]["total"] > 0'
}

# It sleeps at least so long, and is off the CPU at most as long as the calls take.
test_offcputime() {
	local start=${EPOCHREALTIME//[.,]/} most
	runs offcputime --comm pbt_sleeps --json -- "$WORKLOAD" name pbt_sleeps , sleeps 20 5000 , name pbt_offcpu
	most=$((${EPOCHREALTIME//[.,]/} - start))
	holds "waits = [s for s in m['off_cpu']['stacks'] if any(f['name'] == 'work_sleep' for f in s['frames'])]
us = sum(s['count'] for s in waits)
assert 50000 <= us <= $most, (us, m['off_cpu'])
# it may have lost its CPU to others elsewhere, too, and for longer
assert any(f['name'].endswith('nanosleep') for s in waits for f in s['frames'] if f['kernel'])
assert not any(f['name'].startswith('bpf_') for s in waits for f in s['frames'])"
}

# What has ended does not wait: it takes no room, and whoever gets its id does not inherit the time.
test_what_has_ended_does_not_wait() {
	cp /bin/sleep pbt_short # it waits, also where nothing takes its CPU
	"$PERF_BPF" run offcputime --comm pbt_short --map-entries waiting=64 -- \
		bash -c 'for i in {1..200}; do ./pbt_short 0.001; done' >out 2>err || fail "$(cat err)"
	! grep waiting err || fail "there is no room"
	grep -q pbt_short out || fail "$(head -20 out)"
}

# Two processes wait at one time, and there is room for one: what is missing is told.
test_what_is_kept_between_events_may_not_fit() {
	workload_as pbt_waits
	"$PERF_BPF" run offcputime --comm pbt_waits --map-entries waiting=1 -- ./pbt_waits pauses 2 >out 2>err
	grep -qE 'offcputime: [1-9][0-9]* updates of map waiting failed; max_entries is 1; to make it larger use --map-entries waiting=4' err ||
		fail "$(cat err)"
}

# Two threads and one file: while one reads, the other waits to learn the position in it. Whenever
# it gave up its CPU of its own will it waited for that lock.
test_lockcontention() {
	[ -e /sys/kernel/tracing/events/lock/contention_begin ] ||
		skip "this kernel has no tracepoints of locks"
	compile_stacks pbt_locks <<-'END'
		#include "stacks.h"
		static int fd;
		static volatile int begun, done;
		static void *reads(void *unused)
		{
			static char buf[32 << 20];
			while (!done) {
				lseek(fd, 0, SEEK_SET);
				begun = 1;
				if (read(fd, buf, sizeof(buf)) <= 0)
					return "read";
			}
			return NULL;
		}
		int main(int argc, char **argv)
		{
			struct rusage before, after;
			long calls = 0; /* that waited: one can sleep more than once */
			pthread_t thread;
			fd = open("sparse", O_RDWR | O_CREAT, 0600);
			if (fd < 0 || ftruncate(fd, 32 << 20) || pthread_create(&thread, NULL, reads, NULL))
				return 1;
			while (!begun)
				usleep(1000);
			named("pbt_waits");
			getrusage(RUSAGE_THREAD, &before);
			long long start = now();
			do {
				lseek(fd, 0, SEEK_CUR);
				getrusage(RUSAGE_THREAD, &after);
				calls += after.ru_nvcsw > before.ru_nvcsw;
				before = after;
				/* where it spins for the lock it may never sleep */
			} while (calls < 5 && now() - start < (calls ? 3 : 30) * 1000000000ll);
			printf("%ld %lld\n", calls, (now() - start) / 1000);
			named("pbt_locks");
			done = 1;
			return pthread_join(thread, NULL);
		}
	END
	runs lockcontention --comm pbt_waits --json -- ./pbt_locks
	read -r least most < <(grep -v '^{' json)
	holds "assert m['contentions']['count'] >= max(1, $least), m
us = sum(s['count'] for s in m['waits']['stacks'])
assert 0 < us <= $most + m['contentions']['count'], (us, $most)
assert any(f['name'] == 'ksys_lseek' for s in m['waits']['stacks'] for f in s['frames']), m['waits']"
}

# A thread holds a mutex until another one waits for it in futex(2), and 20 ms more.
test_lockcontention_of_mutexes() {
	compile_stacks pbt_mutex <<-'END'
		#include "stacks.h"
		#include <stdlib.h>
		enum { TIMES = 5, HELD_US = 20000 };
		static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
		static volatile int tid, turn;
		static volatile long long us;
		static int waits_in_futex(void)
		{
			char path[64], line[128] = "";
			snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
			FILE *file = fopen(path, "r");
			char *got = file ? fgets(line, sizeof(line), file) : NULL;
			if (file)
				fclose(file);
			return got && atoi(line) == SYS_futex;
		}
		static void *waits(void *unused)
		{
			named("pbt_waits");
			tid = syscall(SYS_gettid);
			for (int i = 1; i <= TIMES; i++) {
				while (turn != i)
					usleep(100);
				long long start = now();
				pthread_mutex_lock(&mutex);
				us += (now() - start) / 1000 + 1;
				turn = 0;
				pthread_mutex_unlock(&mutex);
			}
			named("pbt_mutex");
			return NULL;
		}
		int main(void)
		{
			pthread_t thread;
			if (pthread_create(&thread, NULL, waits, NULL))
				return 1;
			for (int i = 1; i <= TIMES; i++) {
				pthread_mutex_lock(&mutex);
				turn = i;
				while (!waits_in_futex())
					usleep(100);
				usleep(HELD_US);
				pthread_mutex_unlock(&mutex);
				while (turn)
					usleep(100);
			}
			pthread_join(thread, NULL);
			printf("%d %d %lld\n", TIMES, TIMES * HELD_US, (long long)us);
			return 0;
		}
	END
	runs lockcontention --comm pbt_waits --json -- ./pbt_mutex
	read -r times least most < <(grep -v '^{' json)
	holds "assert m['futexes']['count'] >= $times, m['futexes']
us = sum(s['count'] for s in m['futex_waits']['stacks'])
assert $least <= us <= $most + m['futexes']['count'], (us, $least, $most)
assert 'contentions' in m and 'waits' in m"
	# a futex that has another value is not waited for
	cat >pbt_other.c <<-'END'
		#include <sys/syscall.h>
		#include <unistd.h>
		int main(void)
		{
			int word = 1;
			for (int i = 0; i < 100; i++)
				syscall(SYS_futex, &word, 0, 2, 0, 0, 0);
			return 0;
		}
	END
	gcc -o pbt_other pbt_other.c
	runs lockcontention --comm pbt_other --json -- ./pbt_other
	holds "assert m['futexes']['count'] == 0, m['futexes']"
}

# ---- the examples that filter what is recorded ----

test_write_1234() {
	need_root
	record write_1234.bpf.c -- sh -c '
		dd if=/dev/zero of=/dev/null bs=1234 count=5 status=none
		dd if=/dev/zero of=/dev/null bs=512 count=7 status=none'
	assert_equal "$(grep -c 'sys_enter_write:.*0x0*4d2' lines)" 5
	assert_equal "$(wc -l <lines)" 5
	record write_1234.bpf.c/wanted=512/ -- sh -c '
		dd if=/dev/zero of=/dev/null bs=1234 count=5 status=none
		dd if=/dev/zero of=/dev/null bs=512 count=7 status=none'
	assert_equal "$(grep -c 'sys_enter_write:.*0x0*200' lines)" 7
	assert_equal "$(wc -l <lines)" 7
}

# The reader sleeps before it reads: a write into its full pipe takes as long. That the writer waits
# can be seen. What is quick may be held up on a busy machine, and the writer knows when it was.
test_slow_writes() {
	need_root
	cat >workload <<-'END'
		import os, time
		end, to = os.pipe()
		os.write(to, bytes(65536))
		if os.fork() == 0:
		    while open(f"/proc/{os.getppid()}/syscall").read().split()[0] not in ("1", "64"):
		        time.sleep(0.01)
		    time.sleep(1.2)
		    os.read(end, 65536)
		    os._exit(0)
		os.write(to, b"slow")
		os.wait()
		held = 0
		for _ in range(3):
		    start = time.monotonic()
		    os.write(to, b"quick")
		    held += time.monotonic() - start >= 1
		open("held", "w").write(str(held))
	END
	record slow_writes.bpf.c/min_us=1000000/ -- /usr/bin/python3 workload
	assert_equal "$(grep -c 'sys_exit_write:.*0x0*4$' lines)" 1
	[ "$(grep -c 'sys_exit_write:.*0x0*5$' lines)" -le "$(cat held)" ] || { cat lines; fail "a quick one"; }
}

test_openat_by_comm() {
	need_root
	echo >wanted.txt
	own_command pbx_cat cat
	record openat_by_comm.bpf.c --clang-opt '-DCOMM=\"pbx_cat\"' -- \
		sh -c 'pbx_cat wanted.txt; cat wanted.txt'
	grep -q 'pbx_cat.*sys_enter_openat:' lines || { cat lines; fail "nothing of pbx_cat"; }
	assert_equal "$(grep -vc '^ *pbx_cat ' lines)" 0
}

# Two that want the same CPU take it from each other.
test_preempted() {
	need_root
	own_command pbx_spin sh
	# They spin until the kernel has taken the CPU from one of them, which it counts.
	cat >spin.sh <<-'END'
		pids=
		for i in 1 2 3; do
			taskset -c 0 pbx_spin -c 'while :; do :; done' &
			pids="$pids $!"
		done
		taken() {
			for pid in $pids; do
				grep -q pbx_spin /proc/$pid/comm &&
					grep -q '^nonvoluntary_ctxt_switches:.*[0-9][0-9]$' /proc/$pid/status && return 0
			done
			return 1
		}
		until taken; do sleep 0.05; done
		kill $pids
	END
	record preempted.bpf.c -a -- sh spin.sh
	grep -q 'prev_comm=pbx_spin' lines || fail "no pbx_spin was preempted"
	! grep -v 'prev_state=R' lines || fail "somebody left of his own will"
}

test_kernel_samples() {
	need_root
	record kernel_samples.bpf.c -e cpu-clock -F 999 -- \
		dd if=/dev/zero of=/dev/null bs=1M count=3000 status=none
	"$PERF_BPF" script -i perf.data -F event,ip >addresses
	[ "$(wc -l <addresses)" -gt 10 ] || fail "$(wc -l <addresses) samples"
	! grep -v ' ffff[0-9a-f]*$' addresses || fail "a sample of user mode"
}

test_exec_output() {
	need_root
	own_command pbx_execed true
	record exec_output.bpf.c -a -- sh -c 'pbx_execed; sleep 0.1'
	grep -q '__bpf_stdout__' lines || { cat lines; fail "no output event"; }
	"$PERF_BPF" script -i perf.data --json >json
	local name
	name=$(printf pbx_execed | od -An -tx1 | tr -d ' \n')
	grep -q "\"raw\":\"[0-9a-f]*${name}00" json || fail "the file's name is not in the output"
}

test_large_malloc() {
	need_root
	record large_malloc.bpf.c/min_size=12345678/ -- /usr/bin/python3 -c '
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
for size in (10, 12345678, 1000, 23456789):
    libc.malloc(ctypes.c_size_t(size))'
	assert_equal "$(grep -c 'malloc' lines)" 2
}

# Of a hundred reads of one size every tenth. The program counts those of the whole machine by
# their size, so this one is larger than any that others use.
test_every_nth() {
	need_root
	record 'every_nth.bpf.c/map:settings.value[0]=10/' -- /usr/bin/python3 -c '
import ctypes, os
read = ctypes.CDLL(None).read
fd = os.open("/dev/null", os.O_RDONLY)
for _ in range(100):
    read(fd, None, ctypes.c_size_t(0x32dcd500000))'
	assert_equal "$(grep -c 'sys_enter_read:.*0x0*32dcd500000' lines)" 10
}

# Python collects at its end, too: what is asked for is the difference.
test_python_gc() {
	need_root
	readelf -n /usr/bin/python3 2>/dev/null | grep 'Name: gc__start' >probes ||
		skip "this Python has no USDT probes"
	"$PERF_BPF" features bpf.cookie >/dev/null || skip "this kernel has no cookies"
	for times in 0 5; do
		record python_gc.bpf.c/generation=2/ -- /usr/bin/python3 -c "
import gc
gc.disable()
for _ in range($times):
    gc.collect(0), gc.collect(1), gc.collect(2)"
		wc -l <lines >lines.$times
		[ "$(grep -c 'sdt_python:gc__start:' lines)" = "$(cat lines.$times)" ] ||
			{ cat lines; fail "other events are recorded"; }
	done
	assert_equal "$(($(cat lines.5) - $(cat lines.0)))" 5
}

run_tests
