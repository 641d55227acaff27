#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Golden recordings of perf through our reader and writer, and back to perf.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../golden/golden.sh"
. "$(dirname "$0")/made.sh"

REWRITE=$BUILD/tests/unit/rewrite-perfdata

# in.data is a recording of system calls, the scheduler, the clock and page faults, with call chains
need_perf() {
	command -v perf >/dev/null || skip "perf is not installed"
	ln -s "$FILES/many-g" in.data
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
	"$REWRITE" "$FILES/addresses" out.data zstd=3
	same_for_perf "$FILES/addresses" out.data
	[ "$(stat -c %s out.data)" -lt "$(stat -c %s "$FILES/addresses")" ] || fail "it is not smaller"
}

test_we_read_what_perf_compressed() {
	need_perf
	"$REWRITE" "$FILES/compressed" out.data
	same_for_perf "$FILES/compressed" out.data
}

# With build ids in the records of mappings.
test_pipes_both_ways() {
	need_perf
	for pipe in "$FILES"/{exec,writes,rounds}.pipe; do
		perf script --ns -i - <"$pipe" 2>/dev/null >want
		[ -s want ] || fail "nothing was recorded"
		for options in "" zstd=1; do
			"$REWRITE" - - $options <"$pipe" >out.pipe
			perf script --ns -i - <out.pipe >got 2>err || { cat err; fail "perf script"; }
			cmp want got || fail "perf script shows our pipe otherwise ($pipe $options)"
			# shellcheck disable=SC2002
			cat "$pipe" | "$REWRITE" - - $options | cat >again.pipe
			cmp out.pipe again.pipe || fail "a pipe is read otherwise than a file"
		done
		# From the pipe form to the file form, and again.
		"$REWRITE" "$pipe" out.data
		shown out.data >got
		cmp want got || fail "perf script shows the file otherwise"
		"$REWRITE" out.data again.data
		same_for_perf out.data again.data
	done
}

# perf inject adds the build ids of the files that samples are in.
test_a_pipe_that_perf_injected() {
	need_perf
	cd "$FILES" # perf takes /tmp/perf-… for the names of a JIT
	unset PERF_BUILDID_DIR # perf knows no other cache than ~/.debug, where it may have debug symbols
	printf '%s\n' 'void work(void) {}' 'int main(void) { return 0; }' >work.c
	link work work.c
	made "$(code_of work)" 0x401000=3 0x401001=2
	mv data in.pipe
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
	printf '%s\n' switches 'event 0x187 0' 'comm 5000007 work' 'in 5000007 1' 'sample 5000007 2 0x1' 'out 5000007 3' |
		"$BUILD/tests/unit/write-samples" switches.data
	for file in in.data switches.data "$FILES"/{namespaces,addresses,reads}; do
		"$REWRITE" $file ours.data ledger
		for written in $file ours.data; do
			perf script -D -i $written 2>/dev/null |
				sed -n 's/^\(0x[0-9a-f]*\)@.* \(\[0x[0-9a-f]*\]\): event: \([0-9]*\).*/\1 \2 \3/p' |
				sort >want
			"$REWRITE" $written dump | sort >got
			[ "$(wc -l <want)" -ge 4 ] || fail "perf shows $(wc -l <want) records"
			cmp want got || { diff want got | head; fail "records of $written"; }
		done
	done
}

test_a_full_disk_leaves_a_file_perf_reads() {
	need_perf
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

run_tests
