#!/usr/bin/env bash
# script -s: Python scripts get from a recording what perf gives them.
. "$(dirname "$0")/../tap.sh"
BUILDID_CACHE_OF_PERF=yes

TRACEFS=/sys/kernel/tracing
PERF=$(command -v perf || true)
SCRIPTS=${PERF_EXEC_PATH:-/usr/lib/perf-core}/scripts/python
FILES=$(mktemp -d "${TMPDIR:-/tmp}/scripts-of-perf-bpf.XXXXXX")
tests_end() {
	rm -rf "$FILES"
}

need_perf() {
	[ -n "$PERF" ] || skip "linux-perf is not installed"
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	"$PERF" version --build-options 2>/dev/null | grep -q 'libpython: \[ on' ||
		skip "this perf runs no Python scripts"
	[ -d $TRACEFS/events ] || mount -t tracefs nodev $TRACEFS 2>/dev/null || true
	[ -d $TRACEFS/events ] || skip "tracefs cannot be mounted"
}

# calls.data: a workload's system calls; cpu.data: its profile with call chains
recordings() {
	need_perf
	if [ -e "$FILES/cpu.data" ]; then
		cp "$FILES"/*.data .
		return
	fi
	cat >work.sh <<-'END'
		ls / /nonexistent >/dev/null 2>&1
		sleep 0.01 # a switch that is a sleep, whether bash waits for a child or not
		i=0
		while [ $i -lt 300 ]; do i=$((i + 1)); done
	END
	"$PERF" record -q -o calls.data -e raw_syscalls:sys_enter,raw_syscalls:sys_exit \
		-e syscalls:sys_enter_openat,sched:sched_process_exec,sched:sched_switch,kmem:kfree -- bash work.sh 2>record.err ||
		fail "perf record: $(cat record.err)"
	"$PERF" record -q -g -o cpu.data -e cpu-clock -c 100000 -- bash work.sh 2>record.err ||
		fail "perf record -g: $(cat record.err)"
	cp calls.data cpu.data "$FILES"
}

# Everything that a script is given, by name. Negative numbers of less than 64 bits, which perf gives
# without their sign, are not among the fields. perf 6.1 does not have three of the members, and the
# end of the kernel's map is a guess of each.
write_show() {
	cat >show.py <<-'END'
		ours = ("id", "stream_id", "map_pgoff", "dso_map_end", "ins_lat")
		def trace_begin():
		    print("begin")
		def trace_end():
		    print("end")
		def show(d, indent=""):
		    for k in sorted(d):
		        v = len(d[k]) > 0 if k == "attr" else d[k]
		        if isinstance(v, dict):
		            print(indent + k)
		            show(v, indent + "  ")
		        elif k not in ours:
		            print(indent + k, type(v).__name__, repr(v))
		def process_event(d):
		    print("-- event")
		    show(d)
		def trace_unhandled(name, context, fields, sample):
		    print("-- unhandled", name)
		    show(fields)
		    show(sample)
		def sched__sched_switch(name, context, cpu, s, ns, pid, comm, chain, *fields):
		    print("-- switch", name, cpu, s, ns, pid, comm, chain, fields)
		def sched__sched_process_exec(name, context, cpu, s, ns, pid, comm, chain, filename, child,
		                              old_pid, sample):
		    print("-- exec", name, cpu, s, ns, pid, comm, chain, filename, child, old_pid)
		    show(sample)
	END
}

# same FILE SCRIPT ARGUMENT...: both perfs run it with the same output, which is not short. Without
# inlined functions: with the debug information of libc, perf takes minutes for them.
same() {
	local file=$1 script=$2 theirs=0 mine=0
	shift 2
	"$PERF" script --no-inline -i "$file" -s "$script" "$@" >theirs 2>theirs.err </dev/null || theirs=$?
	"$PERF_BPF" script --no-inline -i "$file" -s "$script" "$@" >mine 2>mine.err </dev/null || mine=$?
	[ $theirs = 0 ] || fail "perf: ${script##*/} ended with $theirs: $(tail -3 theirs.err)"
	[ $mine = 0 ] || fail "${script##*/} ended with $mine: $(tail -3 mine.err)"
	[ "$(wc -c <theirs)" -gt 200 ] || fail "perf: ${script##*/} printed $(cat theirs)"
	cmp -s theirs mine || fail "${script##*/}: $(diff theirs mine | head -10)"
}

test_arguments_are_perfs() {
	recordings
	write_show
	same calls.data show.py
	for what in switch exec unhandled; do
		assert_contains mine "-- $what"
	done
	same cpu.data show.py
	assert_contains mine "-- event"
	assert_contains mine "'sym_off'"
	assert_equal "$(head -1 mine) $(tail -1 mine)" "begin end"
}

# perf's own scripts, with its modules and with ours. Those of system calls have their names with
# ours, and with perf's only if python-audit is there.
test_scripts_of_perf() {
	local script
	recordings
	[ -d "$SCRIPTS" ] || skip "there are no scripts of perf in $SCRIPTS"
	same calls.data "$SCRIPTS/check-perf-trace.py"
	PERF_EXEC_PATH=/nonexistent "$PERF_BPF" script -i calls.data -s "$SCRIPTS/check-perf-trace.py" \
		>mine
	cmp theirs mine || fail "our modules differ: $(diff theirs mine | head -10)"
	same cpu.data "$SCRIPTS/stackcollapse.py"
	PERF_EXEC_PATH=${SCRIPTS%/scripts/python} "$PERF_BPF" script -i calls.data \
		-s "$SCRIPTS/failed-syscalls-by-pid.py" 2>err | sort >mine
	"$PERF" script -i calls.data -s "$SCRIPTS/failed-syscalls-by-pid.py" 2>err | sort >theirs
	cmp theirs mine || fail "failed-syscalls-by-pid: $(diff theirs mine | head -10)"
	for script in failed-syscalls-by-pid syscall-counts; do
		PERF_EXEC_PATH=/nonexistent "$PERF_BPF" script -i calls.data -s "$SCRIPTS/$script.py" >out
		grep -q 'statx\|openat' out || fail "$script has no names: $(cat out)"
	done
}

test_a_script_to_begin_with() {
	recordings
	expect_status 0 "$PERF_BPF" script -i calls.data -g python
	assert_contains out "generated Python script: perf-script.py"
	same calls.data ./perf-script.py
	assert_contains mine "sched__sched_switch"
	assert_contains mine "prev_state=S" # by flag_str()
	expect_status 0 "$PERF_BPF" script -i calls.data -g other-name.py
	assert_contains out "generated Python script: other-name.py"
	cmp perf-script.py other-name.py
	# one's own link is followed, as with all output files; those of others: test_planted.sh
	echo precious >other
	ln -sf other perf-script.py
	expect_status 0 "$PERF_BPF" script -i calls.data -g python
	cmp other other-name.py
	[ -L perf-script.py ] || fail "the link was replaced"
	expect_status 2 "$PERF_BPF" script -i calls.data -g perl
	expect_status 2 "$PERF_BPF" script -i calls.data -g script.pl
	expect_status 2 "$PERF_BPF" script -i calls.data -g .py
	expect_status 2 "$PERF_BPF" script -i calls.data -g python argument
	assert_contains err "'argument': -g takes no arguments"
}

# The functions of perf_trace_context that look at the code of a sample, and the place of its address.
test_code_of_samples() {
	need_perf
	# Not in /tmp/perf-...: perf takes such a path for the names of a JIT.
	cat >"$FILES/loop.c" <<-'END'
		int main(int argc, char **argv)
		{
		    volatile unsigned n = 0;
		    while (n < 200000000)
		        n++; /* the counter */
		    return argc == 9;
		}
	END
	gcc -O1 -g -o "$FILES/loop" "$FILES/loop.c"
	"$PERF" record -q -o loop.data -e cpu-clock:u -c 1000000 -- "$FILES/loop" 2>record.err ||
		fail "perf record: $(cat record.err)"
	cat >code.py <<-'END'
		from perf_trace_context import *
		def process_event(d):
		    if d.get("symbol") != "main":
		        return
		    print(d["symbol"], d["symoff"], perf_sample_insn(perf_script_context),
		          perf_sample_srcline(perf_script_context), perf_sample_srccode(perf_script_context))
	END
	same loop.data code.py
	grep -q "loop.c', 5, .*the counter" mine || fail "no line of the source: $(head -3 mine)"
	"$PERF" record -q -d -o addr.data -e page-faults -c 1 -- "$FILES/loop" 2>record.err ||
		fail "perf record: $(cat record.err)"
	cat >addr.py <<-'END'
		ours = ("addr_map_pgoff", "addr_dso_map_end")
		def process_event(d):
		    s = d["sample"]
		    print([(k, s[k]) for k in sorted(s) if k.startswith("addr") and k not in ours])
	END
	same addr.data addr.py
	assert_contains mine "('addr_correlates_sym', True)"
	assert_contains mine "('addr_dso', "
}

# A BPF program in a call chain: what it prints is an event.
test_bpf_programs_in_call_chains() {
	need_perf
	[ -d $TRACEFS/events/bpf_trace ] || skip "this kernel has no event of what BPF programs print"
	cat >prints.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		char LICENSE[] SEC("license") = "GPL";
		SEC("raw_tp/sched_process_exec") int pbt_prints(void *ctx)
		{
			bpf_printk("exec");
			return 0;
		}
	END
	write_show
	"$PERF_BPF" run prints.bpf.c -- "$PERF" record -q -g -o bpf.data -e bpf_trace:bpf_trace_printk -- \
		sh -c '/bin/true; /bin/true' >record.out 2>record.err || fail "perf record: $(cat record.err)"
	same bpf.data show.py
	grep -q "'name': 'bpf_prog_[0-9a-f]*_pbt_prints'}" mine || fail "the program is not in the chain: $(cat mine)"
}

# A tree of perf's scripts with one script, so that the tests need none of perf's.
own_scripts() {
	local dir=tree/scripts/python

	mkdir -p $dir/bin
	echo 'word = "arguments"' >$dir/beside.py
	cat >$dir/mine.py <<-'END'
		import sys
		from beside import word
		def trace_begin():
		    print(word, sys.argv[1:])
		def sched__sched_process_exec(name, context, cpu, s, ns, pid, comm, *rest):
		    print("exec", comm)
	END
	cat >$dir/bin/mine-record <<-'END'
		#!/bin/sh
		perf record -e sched:sched_process_exec "$@"
	END
	cat >$dir/bin/mine-report <<-'END'
		#!/bin/sh
		# description: a script of mine
		# args: <comm> [more]
		perf script -s "$PERF_EXEC_PATH"/scripts/python/mine.py -- "$@"
	END
	export PERF_EXEC_PATH=$PWD/tree
}

test_scripts_by_name() {
	need_perf
	own_scripts
	expect_status 0 "$PERF_BPF" script -l
	assert_equal "$(sed -n 2p out)" "  mine <comm> [more]                   a script of mine"
	expect_status 0 "$PERF_BPF" script record mine -q -o "a file" -- sh -c 'exec true "a b"'
	expect_status 0 "$PERF_BPF" script -i "a file" report mine one 'two 2'
	assert_equal "$(head -1 out)" "arguments ['one', 'two 2']"
	grep -qx "exec true" out || fail "the script saw $(cat out)"
	expect_status 0 "$PERF_BPF" script -i "a file" -s mine.py
	grep -qx "exec true" out || fail "mine.py saw $(cat out)"
	# what it records goes to its report by a pipe; <comm> is an argument of the report
	expect_status 0 "$PERF_BPF" script mine one sh -c 'echo printed; exec true'
	assert_equal "$(head -1 out)" "arguments ['one']"
	grep -qx "exec true" out || fail "the script saw $(cat out)"
	grep -qx printed err || fail "the workload printed $(cat err)"
}

test_scripts_that_are_not_there() {
	own_scripts
	expect_status 2 "$PERF_BPF" script report mien
	assert_contains err "perf has no script named 'mien'"
	assert_contains err "did you mean 'mine'?"
	expect_status 2 "$PERF_BPF" script report
	assert_contains err "the name of the script is missing"
	expect_status 2 "$PERF_BPF" script mine
	assert_contains err "the script 'mine' needs arguments: <comm> [more]"
	PERF_EXEC_PATH=/nonexistent expect_status 1 "$PERF_BPF" script -l
	assert_contains err "cannot open /nonexistent/scripts/python/bin"
	assert_contains err "hint: perf's scripts come with perf"
}

test_ways_to_end() {
	recordings
	cat >fails.py <<-'END'
		def trace_unhandled(name, context, fields):
		    raise KeyError("mine")
	END
	expect_status 1 "$PERF_BPF" script -i calls.data -s fails.py
	assert_contains err "KeyError: 'mine'"
	assert_contains err 'fails.py", line 2'
	! grep -q script_driver err || fail "our own frames are shown: $(cat err)"
	cat >exits.py <<-'END'
		import sys
		def trace_unhandled(name, context, fields):
		    print(sys.argv[1:])
		    sys.exit(5)
	END
	expect_status 5 "$PERF_BPF" script -i calls.data -s python:exits.py one two
	assert_equal "$(cat out)" "['one', 'two']"
	write_show
	head -c 20000 calls.data >cut.data
	expect_status 1 "$PERF_BPF" script -i cut.data -s show.py
	assert_contains err "truncated"
	assert_equal "$(tail -1 out)" "end"
	cat calls.data | "$PERF_BPF" script -s show.py >mine
	"$PERF_BPF" script -i calls.data -s show.py >other
	cmp mine other || fail "a pipe is read in another way"
	"$PERF_BPF" script -i calls.data -s show.py 2>err | head -1 >out
	assert_equal "$(cat out err)" "begin"
}

# The script has the rights of the user; the process that reads the recording does not.
test_rights() {
	recordings
	cat >rights.py <<-'END'
		import os, sys
		def field(pid, name):
		    return next(l.split()[1] for l in open(f"/proc/{pid}/status") if l.startswith(name + ":"))
		def children():
		    for task in os.listdir(f"/proc/{os.getpid()}/task"):
		        yield from open(f"/proc/{os.getpid()}/task/{task}/children").read().split()
		def trace_unhandled(name, context, fields):
		    for pid in children():
		        print(open(f"/proc/{pid}/comm").read().strip(), field(pid, "Seccomp"),
		              int(field(pid, "CapEff"), 16) & 1 << 21)  # CAP_SYS_ADMIN
		    print("script", field("self", "Seccomp"), field("self", "CapEff"))
		    open("written", "w").write("by the script\n")
		    sys.exit()
	END
	expect_status 0 "$PERF_BPF" script -i calls.data -s rights.py
	cat >want <<-END
		perf-bpf 2 0
		script $(awk '/^Seccomp:/ { print $2 }' /proc/self/status) $(awk '/^CapEff/ { print $2 }' /proc/self/status)
	END
	diff want out || fail "the rights are others"
	assert_equal "$(cat written)" "by the script"
}

test_what_cannot_be_run() {
	expect_status 1 "$PERF_BPF" script -s none.py
	assert_contains err "cannot read the script none.py"
	expect_status 2 "$PERF_BPF" script -s some.pl
	assert_contains err "only Python scripts can be run"
	expect_status 2 "$PERF_BPF" script -s show.py --json
	assert_contains err "-s and -g cannot be used with --json"
	echo >empty.py
	mkdir bin
	PATH=$PWD/bin expect_status 1 "$(realpath "$PERF_BPF")" script -s empty.py
	assert_contains err "cannot run python3"
	assert_contains err "hint: install Python 3"
}

run_tests
