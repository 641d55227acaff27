#!/usr/bin/env bash
# Events have the time and the names of the moment, not of the reading.
. "$(dirname "$0")/../tap.sh"

need_root() {
	[ "$(id -u)" = 0 ] || skip "loading a BPF program takes root"
}

# What happens while perf-bpf does not read: the workload is its child, and stops it.
cat_workload() {
	need_root
	cat >workload.py <<-'END'
		import os, signal, sys, time
		reader = os.getppid()
		os.kill(reader, signal.SIGSTOP)
		def name(text):
		    open("/proc/self/comm", "w").write(text)
		for i in range(3):
		    name(f"pbt_name{i}")
		    before = time.time_ns()
		    try:
		        os.open(f"pbt-not-there{i}", os.O_RDONLY)
		    except OSError:
		        pass
		    print(before, time.time_ns(), f"pbt_name{i}", os.getpid(), flush=True)
		    time.sleep(0.5)
		name("pbt_later")
		os.kill(reader, signal.SIGCONT)
	END
}

test_the_time_and_the_name_are_those_of_the_event() {
	cat_workload
	"$PERF_BPF" run opensnoop --comm pbt_name0,pbt_name1,pbt_name2 --json -- \
		python3 workload.py >out
	cat >check.py <<-'END'
		import json
		want = [l.split() for l in open("out") if l[0] != "{"]
		got = [l for l in map(json.loads, (l for l in open("out") if l[0] == "{"))
		       if l["kind"] == "event" and l["event"]["path"].startswith("pbt-not-there")]
		assert len(want) == len(got) == 3, (want, got)
		for (before, after, comm, pid), line in zip(want, got):
		    # the clocks are read one after the other
		    assert int(before) - 1000000 <= line["time_ns"] <= int(after) + 1000000, (before, after, line)
		    assert line["time_of"] == "event", line
		    assert line["event"]["comm"] == comm, line
		    assert line["event"]["pid"] == int(pid) and "pid_text" not in line["event"], line
	END
	python3 check.py
	"$PERF_BPF" run opensnoop --comm pbt_name0,pbt_name1,pbt_name2 -- python3 workload.py >out
	assert_equal "$(grep -c '^time  *pid  *comm ' out)" 1
	grep pbt-not-there0 out >line
	read -r before after _ pid < <(grep ' pbt_name0 ' out | grep '^[0-9]* ')
	grep -qE "^[0-9:]{8}\.[0-9]{6}  +$pid  pbt_name0 " line || { cat line; fail "not pid and name"; }
	# the clocks are read one after the other: it may be a second before or after
	for ns in $((before - 1000000)) $((after + 1000000)); do
		date -d "@${ns%?????????}" +%T
	done >seconds
	grep -qx "$(cut -c 1-8 line)" seconds || fail "$(cat line) is not at $(cat seconds)"
}

# time_program MEMBER CLOCK: events of faccessat(2), with that member
time_program() {
	need_root
	cat >times.bpf.c <<-END
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		#include <bpf/perf_bpf_prog.h>
		struct pbt_event { $1; perf_bpf_pid tgid; char comm[16]; perf_bpf_pid other; };
		PERF_BPF_EVENTS(events, struct pbt_event, 65536, "calls");
		SEC("tracepoint/syscalls/sys_enter_umask")
		int on_call(struct trace_event_raw_sys_enter *ctx)
		{
			struct pbt_event e = {};
			if (!perf_bpf_wanted())
				return 0;
			e.ts = $2;
			e.tgid = bpf_get_current_pid_tgid() >> 32;
			e.other = 1;
			bpf_get_current_comm(e.comm, sizeof(e.comm));
			perf_bpf_event_output(&events, &e, sizeof(e));
			return 0;
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	cat >workload.py <<-'END'
		import os, signal, time
		reader = os.getppid()
		open("/proc/self/comm", "w").write("pbt_times")
		os.kill(reader, signal.SIGSTOP)
		before = time.time_ns()
		os.umask(0)
		print(before, time.time_ns(), flush=True)
		time.sleep(0.3)
		os.kill(reader, signal.SIGCONT)
	END
	"$PERF_BPF" run times.bpf.c --comm pbt_times --json -- python3 workload.py >out
	"$PERF_BPF" run times.bpf.c --comm pbt_times -- python3 workload.py >text
	cat >check.py <<-'END'
		import json, sys
		(before, after), = [map(int, l.split()) for l in open("out") if l[0] != "{"]
		line, = [l for l in map(json.loads, (l for l in open("out") if l[0] == "{")) if l["kind"] == "event"]
		in_time = before - 1000000 <= line["time_ns"] <= after + 1000000
		print(line["time_of"], in_time, "ts" in line["event"])
		assert "tgid_text" not in line["event"] and "other_text" in line["event"], line
	END
}

test_a_time_of_an_own_program() {
	time_program '__u64 ts' 'bpf_ktime_get_ns()'
	assert_equal "$(python3 check.py)" "event True True"
	assert_equal "$(grep -c '^time  *ts  *tgid  *comm  *other$' text)" 1
	time_program 'perf_bpf_time ts' 'bpf_ktime_get_ns()'
	assert_equal "$(python3 check.py)" "event True False"
	assert_equal "$(grep -c '^time  *tgid  *comm  *other$' text)" 1
	time_program '__u64 ts' 'bpf_ktime_get_boot_ns()'
	assert_equal "$(python3 check.py)" "event True True"
}

# What is no time of the kernel in ns is not taken for one.
test_a_member_that_is_no_time() {
	for value in 'bpf_ktime_get_ns() / 1000' 0 '~0ull'; do
		time_program '__u64 ts' "$value"
		assert_equal "$(python3 check.py)" "reading False True"
		assert_equal "$(grep -c '^time_read  *ts  *tgid  *comm  *other$' text)" 1
	done
	time_program '__u32 ts' 'bpf_ktime_get_ns()'
	assert_equal "$(python3 check.py)" "reading False True"
}

run_tests
