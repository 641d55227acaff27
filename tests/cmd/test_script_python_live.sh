#!/usr/bin/env bash
# script -s: what records, and reads it by Python scripts. test_script_python.sh reads golden recordings.
. "$(dirname "$0")/../tap.sh"
BUILDID_CACHE_OF_PERF=yes

SCRIPTS=${PERF_EXEC_PATH:-/usr/lib/perf-core}/scripts/python
TRACEFS=/sys/kernel/tracing
PERF=$(command -v perf || true)
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

. "$(dirname "$0")/script_python.sh"

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

# The names of system calls in perf's own scripts are there only if python-audit is.
test_names_of_system_calls() {
	need_perf
	[ -d "$SCRIPTS" ] || skip "there are no scripts of perf in $SCRIPTS"
	"$PERF" record -q -o calls.data -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -- ls / /nonexistent \
		>/dev/null 2>record.err || [ -s calls.data ] || fail "perf record: $(cat record.err)"
	PERF_EXEC_PATH=${SCRIPTS%/scripts/python} "$PERF_BPF" script -i calls.data \
		-s "$SCRIPTS/failed-syscalls-by-pid.py" 2>err | sort >mine
	"$PERF" script -i calls.data -s "$SCRIPTS/failed-syscalls-by-pid.py" 2>err | sort >theirs
	[ "$(wc -l <theirs)" -gt 5 ] || fail "perf printed $(cat theirs)"
	cmp theirs mine || fail "failed-syscalls-by-pid: $(diff theirs mine | head -10)"
}

run_tests
