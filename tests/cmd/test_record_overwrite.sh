#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# record --overwrite and --tail-synthesize: the last calls of a workload that numbers them, all, in
# order, and none twice.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

TRACEFS=/sys/kernel/tracing
PERF=$(command -v perf || true)
# A system call that nobody else makes meanwhile.
EVENT=syscalls:sys_enter_getpriority

need() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -d $TRACEFS/events ] || mount -t tracefs nodev $TRACEFS 2>/dev/null || true
	[ -d $TRACEFS/events/syscalls ] || skip "tracefs or its syscall events cannot be had"
	workload_as pbt_last
	workload_as pbt_next
}

# calls FROM TO: the workload's command for the calls with these numbers
calls() {
	echo call getpriority $(($2 - $1)) 7 "i+$1"
}

# record OPTION... -- COMMAND...
record() {
	"$PERF_BPF" record -N -g "$@" >out 2>record.err ||
		{ sed 's/^/# | /' record.err; fail "record $*"; }
}

# assert_last READER FILE LAST LEAST: the numbers in the file end with LAST, without a gap; there
# are LEAST or more.
assert_last() {
	local n
	"$1" script -i "$2" -F event,trace >text 2>err || { cat err; fail "$2 cannot be read"; }
	sed -n 's/.*which: 0x0*7, who: 0x0*\([0-9a-f]*\).*/\1/p' text | while read -r n; do echo $((16#${n:-0})); done >numbers
	awk 'NR > 1 && $1 != last + 1 { print "after " last " comes " $1 } { last = $1 }' numbers >gaps
	[ ! -s gaps ] || { head -n 5 gaps; fail "$1: numbers in $2"; }
	assert_equal "$(tail -n 1 numbers)" "$3"
	[ "$(wc -l <numbers)" -ge "$4" ] || fail "$1: $2 has $(wc -l <numbers) calls"
}

assert_last_for_all() {
	assert_last "$PERF_BPF" "$@"
	[ -z "$PERF" ] || assert_last "$PERF" "$@"
}

test_the_last_calls_are_kept() {
	need
	record --overwrite -m 64K -e $EVENT -o t.data -- ./pbt_last cpu , $(calls 0 20000)
	assert_last_for_all t.data 19999 200
	[ "$(wc -l <numbers)" -lt 20000 ] || fail "nothing was overwritten"
	grep -qE '\([0-9]+ samples, [0-9]+ bytes, only the last part: [0-9]+ bytes of older records overwritten\)' record.err ||
		fail "$(cat record.err)"
	"$PERF_BPF" script -i t.data >text 2>err
	assert_contains err 'the recording has only the last samples'
	"$PERF_BPF" report -i t.data --stdio >text 2>err
	assert_contains err 'the recording has only the last samples'
}

# perf writes the newest first.
test_files_of_perf_are_read() {
	need
	[ -n "$PERF" ] || skip "perf is not installed"
	"$PERF" record -q --overwrite -m 16 -g -e $EVENT -o t.data -- ./pbt_last cpu , $(calls 0 20000) >out 2>&1 || fail "$(cat out)"
	assert_last_for_all t.data 19999 200
}

# Where there is room for all, none is missing, and nobody is warned.
test_all_calls_are_kept() {
	need
	record --overwrite -m 4M -z -e $EVENT -o t.data -- ./pbt_last cpu , $(calls 0 500)
	assert_last_for_all t.data 499 500
	assert_contains record.err ', 0 lost)'
	"$PERF_BPF" script -i t.data >text 2>err
	assert_equal "$(cat err)" ""
}

# The records of processes are in the file before the samples that are older.
test_older_samples_have_their_names() {
	need
	record --overwrite -m 64K -e $EVENT -o t.data -- ./pbt_last cpu , $(calls 0 100) , \
		exec ./pbt_next $(calls 100 200) , forks 1000 exit 0
	assert_last_for_all t.data 199 200
	for reader in "$PERF_BPF" $PERF; do
		"$reader" script -i t.data -F comm,ip,sym,dso 2>/dev/null |
			awk -v RS= '/work_calls|\/pbt_/ { n[$1 " " (index($0, "/" $1 ")") ? "right" : "wrong")]++ }
				END { for (name in n) print name, n[name] }' | sort >names
		assert_equal "$(cat names)" "$(printf 'pbt_last right 100\npbt_next right 100')"
	done
}

test_by_event() {
	local exits lost
	need
	[ -d $TRACEFS/events/syscalls/sys_exit_getpriority ] || skip "there is no sys_exit_getpriority"
	record -m 512K -e "$EVENT/overwrite/,syscalls:sys_exit_getpriority" -o t.data -- ./pbt_last cpu , $(calls 0 10000)
	assert_last_for_all t.data 9999 200
	[ "$(wc -l <numbers)" -lt 10000 ] || fail "nothing was overwritten"
	exits=$("$PERF_BPF" script -i t.data -F event,trace 2>/dev/null | grep -c sys_exit_getpriority)
	lost=$(grep -oE '[0-9]+ of syscalls:sys_exit_getpriority' record.err | cut -d ' ' -f 1 || true)
	assert_equal $((exits + ${lost:-0})) 10000
	record --overwrite -m 4M -e "$EVENT/no-overwrite/" -o t.data -- ./pbt_last cpu , $(calls 0 500)
	assert_last_for_all t.data 499 500
	assert_contains record.err ', 0 lost)'
}

# Each file has the last calls before it was asked for.
files_of() {
	local calls=$1 n=0 file
	rm -f t.data*
	work_start "$PERF_BPF" record -N -g --overwrite --switch-output -m 64K -e $EVENT -o t.data -- ./pbt_last
	work cpu
	for n in 0 1 2; do
		[ $n = 0 ] || kill -USR2 "$WORK_PID"
		[ $n = 0 ] || soon has_files $n
		work "$(calls $((n * calls)) $(((n + 1) * calls)))"
	done
	work_end || fail "$(cat work.err)"
	n=0
	for file in t.data.2*; do
		n=$((n + 1))
		assert_last_for_all "$file" $((calls * n - 1)) $((calls < 200 ? calls : 200))
		[ "$(wc -l <numbers)" -le "$calls" ] || fail "$file has what another file has"
		"$PERF_BPF" script -i "$file" -F comm,ip,sym 2>/dev/null | awk -v RS= '!/pbt_last.*work_calls/' >bad
		[ ! -s bad ] || { head -n 8 bad; fail "$file: samples without a name"; }
	done
	assert_equal "$n" 3
}

has_files() {
	[ "$(find . -name 't.data.2*' | wc -l)" = "$1" ]
}

test_a_file_for_each_signal() {
	need
	files_of 5000
	files_of 100
}

# offsets_of PATTERN: in the file, of the records of that kind.
offsets_of() {
	awk -v pattern="$1" '$0 ~ pattern { for (i = 1; i <= NF; i++) if ($i ~ /^0x[0-9a-f]+$/ && $(i + 1) ~ /^\[0x/) { print $i; break } }' dump
}

test_tail_synthesize() {
	need
	sleep 1000 &
	local before=$! sleeper samples
	soon grep -q sleep /proc/$before/comm
	record --tail-synthesize -a -e $EVENT -o t.data -- ./pbt_last cpu , $(calls 0 100)
	kill $before
	"$PERF_BPF" script -i t.data -D >dump 2>/dev/null
	sleeper=$(offsets_of "PERF_RECORD_COMM: sleep:$before/$before" | head -n 1)
	samples=$(offsets_of 'PERF_RECORD_SAMPLE' | tail -n 1)
	[ -n "$sleeper" ] && [ -n "$samples" ] || { head -n 50 dump | cut -c1-150; fail "the records are missing"; }
	[ $((sleeper)) -gt $((samples)) ] || fail "the process is at $sleeper, the last sample at $samples"
	"$PERF_BPF" report --tasks -i t.data | grep -qE "^ +$before .* sleep$" || fail "the process is not known"
	assert_last_for_all t.data 99 100
}

run_tests
