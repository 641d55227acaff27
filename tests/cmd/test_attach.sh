#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every way of attaching that this kernel has, by a program written for the
# library's public API; tests/vm does the same on other kernels.
. "$(dirname "$0")/../tap.sh"
CLIENT=$BUILD/tests/vm/client

object() {
	[ "$(id -u)" = 0 ] || skip "attaching takes root"
	compile_bpf "$SRC/tests/vm/attach.bpf.c" attach.bpf.o
}

# counts FEATURE PROGRAM
counts() {
	object
	has "$1" || skip "this kernel has no $1"
	tap "$CLIENT" attach.bpf.o check "$2"
}

test_tracepoint() { counts attach.tracepoint on_tracepoint; }
test_tracepoint_by_its_name() { counts attach.tracepoint on_colon; }
test_raw_tp() { counts attach.raw_tp on_raw_tp; }
test_tp_btf() { counts attach.tp_btf on_tp_btf; }
test_kprobe() { counts attach.kprobe on_kprobe; }
test_kretprobe() { counts attach.kretprobe on_kretprobe; }
test_fentry() { counts attach.fentry on_fentry; }
test_fexit() { counts attach.fexit on_fexit; }
test_uprobe() { counts attach.uprobe on_uprobe; }
test_uretprobe() { counts attach.uretprobe on_uretprobe; }
test_perf_event() { counts perf.all_cpus on_perf_event; }

test_cookies() {
	object
	has bpf.cookie || skip "this kernel has no cookies"
	tap "$CLIENT" attach.bpf.o cookie on_tracepoint_cookie 0xfedcba9876543210
	tap "$CLIENT" attach.bpf.o cookie on_uprobe_cookie 0xffffffffffffffff
	! has attach.kprobe || tap "$CLIENT" attach.bpf.o cookie on_kprobe_cookie 1
}

test_a_pinned_link_outlives_its_handle() {
	object
	has bpf.perf_link || skip "this kernel has no links to perf events"
	mkdir bpffs
	mount -t bpf bpf bpffs 2>/dev/null || skip "no bpf file system can be mounted"
	trap 'umount "$TMP/bpffs"' EXIT
	tap "$CLIENT" attach.bpf.o pin on_tracepoint "$TMP/bpffs/tracepoint"
	tap "$CLIENT" attach.bpf.o pin on_raw_tp "$TMP/bpffs/raw_tp"
	mkdir plain
	status=0
	"$CLIENT" attach.bpf.o pin on_raw_tp "$TMP/plain/link" >tap || status=$?
	assert_equal $status 1
	assert_contains tap "the link: '$TMP/plain/link' is not in a BPF file system"
	assert_contains tap "mount -t bpf bpf"
}

test_a_link_keeps_its_program_when_another_is_refused() {
	object
	tap "$CLIENT" attach.bpf.o update on_tracepoint on_colon
}

test_what_is_missing_is_named_with_the_nearest() {
	object
	tap "$CLIENT" attach.bpf.o refuse no_tracepoint "hint: did you mean 'syscalls:sys_enter_read'"
	tap "$CLIENT" attach.bpf.o refuse no_tracepoint \
		"attach.bpf.o: program no_tracepoint (section tracepoint/syscalls/sys_enter_raed): unknown tracepoint syscalls:sys_enter_raed"
	tap "$CLIENT" attach.bpf.o refuse no_raw_tp "hint: did you mean 'sched_switch'"
	tap "$CLIENT" attach.bpf.o refuse no_symbol "hint: did you mean 'workload_step'"
	tap "$CLIENT" attach.bpf.o refuse no_library "no library libno-such-library.so.9 in /lib"
	if has attach.kprobe; then
		tap "$CLIENT" attach.bpf.o refuse no_function "hint: did you mean 'vfs_read'"
	else
		tap "$CLIENT" attach.bpf.o refuse no_function "this kernel has no kprobes"
	fi
}

test_kill_leaves_nothing() {
	object
	programs="on_tracepoint on_raw_tp on_uprobe on_uretprobe"
	! has attach.tp_btf || programs="$programs on_tp_btf"
	! has attach.kprobe || programs="$programs on_kprobe on_kretprobe"
	! has attach.fentry || programs="$programs on_fentry on_fexit"
	# shellcheck disable=SC2086
	"$CLIENT" attach.bpf.o hold $programs >held &
	pid=$!
	trap 'kill -9 $pid 2>/dev/null || :' EXIT
	soon grep -q '^held' held
	ids=$(sed -n 's/^prog //p' held)
	assert_equal "$(echo "$ids" | wc -w)" "$(echo "$programs" | wc -w)"
	for id in $ids; do
		bpftool prog show id "$id" >/dev/null 2>&1 || fail "program $id is not there"
	done
	kill -9 $pid
	wait $pid 2>/dev/null || :
	# shellcheck disable=SC2086
	"$CLIENT" - gone $ids || fail "a program outlived its process"
	! "$PERF_BPF" link list | grep -q "pids client($pid)" || fail "a link outlived its process"
	for f in /sys/kernel/tracing/[uk]probe_events; do
		! grep -q "$TMP" "$f" 2>/dev/null || fail "$f holds one of ours"
	done
}

run_tests
