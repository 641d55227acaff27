#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Real recordings by perf, through our reader and writer, and back to perf.
. "$(dirname "$0")/../tap.sh"

REWRITE=$BUILD/tests/unit/rewrite-perfdata

need_perf() {
	command -v perf >/dev/null || skip "perf is not installed"
	[ "$(id -u)" = 0 ] || skip "needs root"
}

tracefs() {
	[ -e /sys/kernel/tracing/events ] || mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null ||
		skip "tracefs cannot be mounted"
}

# A workload with forks, exec, reads, writes and page faults.
workload() {
	cat >work.sh <<'WORK'
for i in 1 2 3 4 5 6 7 8; do
	dd if=/dev/zero of=/dev/null bs=1 count=300 2>/dev/null &
	ls / >/dev/null
done
wait
WORK
}

# FILE OPTIONS... : the workload, its own processes only. A BPF program that filters a
# tracepoint does so for everybody: with tests beside this one, count on no tracepoint's samples.
record() {
	local file=$1
	shift
	workload
	perf record -q -o "$file" "$@" -- sh work.sh 2>perf.err || { cat perf.err; fail "perf record"; }
}

# What perf shows of a file, with nothing of the file's own in it.
shown() {
	perf script --ns -i "$1" 2>err || { cat err; fail "perf script $1"; }
}

# Without what depends on the order in which maps and names come.
shown_bare() {
	perf script --ns -F tid,time,event -i "$1" 2>err || { cat err; fail "perf script $1"; }
}

same_for_perf() {
	shown "$1" >want
	shown "$2" >got
	[ -s want ] || fail "nothing was recorded"
	cmp want got || { diff want got | head -20; fail "perf script shows $2 otherwise than $1"; }
}

test_perf_reads_what_we_wrote() {
	need_perf
	tracefs
	record in.data -e syscalls:sys_enter_read,sched:sched_process_exec,cpu-clock -g
	"$REWRITE" in.data out.data ledger
	same_for_perf in.data out.data
	# The last line is a tip, another one each time.
	perf report --stdio -i in.data 2>/dev/null | grep -v '(Tip: ' >want
	perf report --stdio -i out.data 2>/dev/null | grep -v '(Tip: ' >got
	cmp want got || fail "perf report differs"
	perf evlist -i in.data | grep -v 'Tip: ' >want
	perf evlist -i out.data | grep -v 'Tip: ' >got
	cmp want got || fail "perf evlist differs"
	perf buildid-list -i in.data | sort >want
	perf buildid-list -i out.data | sort >got
	[ -s want ] || fail "no build-ids"
	cmp want got || fail "perf buildid-list differs"
	perf report --header-only -i in.data | grep -E '^# (hostname|os release|nrcpus|cmdline|event)' >want
	perf report --header-only -i out.data | grep -E '^# (hostname|os release|nrcpus|cmdline|event)' >got
	cmp want got || fail "the headers differ"
	perf script -D -i out.data 2>&1 | grep -q "failed to process" && fail "a record is refused"
	true
}

test_perf_reads_what_we_compressed() {
	need_perf
	tracefs
	record in.data -e syscalls:sys_enter_read,cpu-clock -g
	"$REWRITE" in.data out.data zstd=3
	same_for_perf in.data out.data
	[ "$(stat -c %s out.data)" -lt "$(stat -c %s in.data)" ] || fail "it is not smaller"
}

test_we_read_what_perf_compressed() {
	need_perf
	tracefs
	record in.data -z -e syscalls:sys_enter_read,cpu-clock -g
	"$REWRITE" in.data out.data
	same_for_perf in.data out.data
}

test_pipes_both_ways() {
	need_perf
	tracefs
	workload
	perf record -q -o - -e syscalls:sys_enter_read,cpu-clock -- sh work.sh >in.pipe 2>/dev/null
	perf script --ns -i - <in.pipe 2>/dev/null >want
	[ -s want ] || fail "nothing was recorded"
	for options in "" zstd=1; do
		"$REWRITE" - - $options <in.pipe >out.pipe
		cat out.pipe | perf script --ns -i - >got 2>err || { cat err; fail "perf script"; }
		cmp want got || fail "perf script shows our pipe otherwise ($options)"
		cat in.pipe | "$REWRITE" - - $options | cat >again.pipe
		cmp out.pipe again.pipe || fail "a pipe is read otherwise than a file"
	done
	# From the pipe form to the file form.
	"$REWRITE" in.pipe out.data
	shown out.data >got
	cmp want got || fail "perf script shows the file otherwise"
}

# perf inject adds the build ids of the files that samples are in.
test_a_pipe_that_perf_injected() {
	need_perf
	unset PERF_BUILDID_DIR # perf knows no other cache than ~/.debug, where it may have debug symbols
	workload
	# each has samples in its files, whose build ids inject adds; of cpu-clock there may be none
	perf record -q -o - -e page-faults -c 1 -- sh work.sh >in.pipe 2>/dev/null
	perf inject -b -i - -o - <in.pipe >injected 2>perf.err || { cat perf.err; fail "perf inject"; }
	shown injected >want
	[ -s want ] || fail "nothing was recorded"
	"$PERF_BPF" script --ns -i injected >got 2>err
	cmp want got || { diff want got | head -20; fail "perf-bpf script shows it otherwise"; }
	assert_equal "$(cat err)" ""
	"$PERF_BPF" script -D -i injected >dump
	assert_contains dump PERF_RECORD_BUILD_ID
	"$PERF_BPF" report -i injected >report 2>err
	assert_equal "$(cat err)" ""
}

test_a_killed_recorder_leaves_a_file_perf_reads() {
	need_perf
	tracefs
	record in.data -e syscalls:sys_enter_read,page-faults -c 1
	shown_bare in.data >want
	local some=0
	for n in 1 2 3 5 9; do
		expect_status 9 "$REWRITE" in.data out.data rounds=100 kill-after=$n
		shown_bare out.data >got
		# A prefix of the whole, up to the order of the last round.
		[ "$(wc -l <got)" -le "$(wc -l <want)" ] || fail "more than there was"
		sort want >want.sorted
		sort got >got.sorted
		[ -z "$(comm -13 want.sorted got.sorted)" ] || fail "what perf shows was not recorded"
		some=$((some + $(wc -l <got)))
		perf report --header-only -i out.data | grep -q '^# hostname' || fail "no header"
	done
	[ "$some" -gt 0 ] || fail "nothing survived"
}

test_every_record_where_perf_finds_it() {
	need_perf
	tracefs
	record in.data -e syscalls:sys_enter_read,cpu-clock --switch-events --namespaces -d
	"$REWRITE" in.data ours.data ledger
	for file in in.data ours.data; do
		perf script -D -i $file 2>/dev/null |
			sed -n 's/^\(0x[0-9a-f]*\)@.* \(\[0x[0-9a-f]*\]\): event: \([0-9]*\).*/\1 \2 \3/p' |
			sort >want
		"$REWRITE" $file dump | sort >got
		[ "$(wc -l <want)" -gt 100 ] || fail "perf shows $(wc -l <want) records"
		cmp want got || { diff want got | head; fail "records of $file"; }
	done
}

test_a_full_disk_leaves_a_file_perf_reads() {
	need_perf
	tracefs
	record in.data -e syscalls:sys_enter_read,page-faults -c 1
	shown_bare in.data >want
	"$REWRITE" in.data whole.data rounds=50
	mkdir disk
	# room for half: what stands before the data depends on the machine's tracing files
	mount -t tmpfs -o size=$(($(stat -c %s whole.data) / 2)) nodev disk || skip "tmpfs cannot be mounted"
	local status=0
	"$REWRITE" in.data disk/out.data rounds=50 2>err || status=$?
	perf script --ns -F tid,time,event -i disk/out.data >got 2>perf.err || status=perf
	"$REWRITE" disk/out.data dump >dump || status=reader
	umount disk
	assert_equal "$status" 1
	assert_contains err "No space left on device"
	[ -s got ] || fail "nothing survived"
	sort want >want.sorted
	sort got >got.sorted
	[ -z "$(comm -13 want.sorted got.sorted)" ] || fail "what perf shows was not recorded"
}

test_build_ids_in_mmap_records() {
	need_perf
	record in.data --buildid-mmap -e cpu-clock -g
	"$REWRITE" in.data out.data
	same_for_perf in.data out.data
}

run_tests
