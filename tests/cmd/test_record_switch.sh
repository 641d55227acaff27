#!/usr/bin/env bash
# record --switch-output: several files of one recording, each of which has all that is needed to
# read it, and all together what the workload has counted.
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
	workload_as pbt_switch
}

# record N signal|wait OPTION...: of calls, also of children with another name, until the recorder has
# completed N files, for each of which it gets a signal, or which come by themselves. ./calls has the number.
record() {
	local n=$1 way=$2 have before calls=2000
	shift 2
	work_start "$PERF_BPF" record -N -m 4M -e $EVENT -g "$@" -o t.data -- ./pbt_switch
	before=$(newest)
	work call getpriority 1000
	for ((have = 0; have < n; )); do
		[ $way = wait ] || kill -USR2 "$WORK_PID"
		until [ "$(newest)" != "$before" ]; do
			work call getpriority 50 , forks 1 name pbt_short + call getpriority 10 , \
				forks 1 name pbt_child + call getpriority 1 + sleeps 1 20000
			calls=$((calls + 61))
		done
		before=$(newest)
		have=$((have + 1))
	done
	work call getpriority 1000
	work_end || { sed 's/^/# | /' work.err; fail "record $*"; }
	mv work.err record.err
	echo $calls >calls
	assert_contains record.err ', 0 lost)'
	[ ! -e t.data ] || fail "t.data has no date"
	[ -z "$(find . -name '.perf-bpf.*')" ] || fail "a file has no name"
	ls t.data.2* >files
}

newest() {
	find . -name 't.data.2*' | sort | tail -n 1
}

# assert_complete READER CODE: in each file, the tasks have their names, and their code the one that
# the pattern is for: all files together have as many such samples as there were calls. Other
# processes may call meanwhile, of which -a has samples.
assert_complete() {
	local file n bad sum=0
	while read -r file; do
		"$1" script -i "$file" -F comm,ip,sym,dso >text 2>err || { cat err; fail "$file cannot be read"; }
		awk -v RS= -v code="$2" '!/^ *pbt_(switch|child|short)[ \n]/ { next }
			{ n++ } $0 !~ code { bad++ } END { print n + 0, bad + 0 }' text >counts
		read -r n bad <counts
		[ "$bad" = 0 ] || { head -n 12 text; fail "$file: $bad of $n samples have no code"; }
		sum=$((sum + n))
	done <files
	assert_equal "$sum" "$(cat calls)"
}

# perf takes a binary below /tmp/perf-... for the list of a JIT's functions.
assert_complete_for_all() {
	assert_complete "$PERF_BPF" ' work_calls [(].*/pbt_switch[)]'
	[ -z "$PERF" ] || assert_complete "$PERF" ' [(].*/pbt_switch[)]'
}

test_by_signal() {
	need
	record 3 signal --switch-output
	[ "$(wc -l <files)" -ge 4 ] || fail "$(cat files)"
	assert_complete_for_all
	assert_equal "$(sed -n 's/^\[ perf-bpf record: Dump \(.*\) \]$/\1/p' record.err)" "$(cat files)"
	grep -qE 'Captured and wrote .* t\.data\.<timestamp> \(' record.err || fail "$(cat record.err)"
}

test_by_time() {
	need
	record 2 wait --switch-output=1s
	[ "$(wc -l <files)" -ge 3 ] || fail "$(cat files)"
	assert_complete_for_all
}

# Compressed, by the size of what is in the file.
test_by_size() {
	need
	record 3 wait --switch-output=20K -z
	[ "$(wc -l <files)" -ge 4 ] || fail "$(cat files)"
	assert_complete_for_all
}

# Of all processes, those that began before the recording and in an earlier file have their names.
test_of_the_whole_system() {
	need
	record 2 signal -a --switch-output=signal
	[ "$(wc -l <files)" -ge 3 ] || fail "$(cat files)"
	assert_complete_for_all
	sleep 1000 &
	local before=$!
	soon grep -q sleep /proc/$before/comm
	rm t.data.2*
	record 2 signal -a --switch-output=signal
	kill $before
	while read -r file; do
		"$PERF_BPF" report --tasks -i "$file" | grep -qE "^ +$before .* sleep$" || fail "$file does not have the process $before"
	done <files
}

test_only_the_last_files_stay() {
	need
	record 4 signal --switch-output --switch-max-files=2
	sed -n 's/^\[ perf-bpf record: Dump \(.*\) \]$/\1/p' record.err >dumped
	[ "$(wc -l <dumped)" -ge 5 ] || fail "$(cat dumped)"
	assert_equal "$(cat files)" "$(tail -n 2 dumped)"
	assert_equal "$(sort -u dumped | wc -l)" "$(wc -l <dumped)"
}

test_what_cannot_be_switched() {
	need
	expect_status 2 "$PERF_BPF" record --switch-output -o - -- true
	expect_status 2 "$PERF_BPF" record --switch-output=5 -o t.data -- true
	expect_status 2 "$PERF_BPF" record --switch-max-files=5 -o t.data -- true
	expect_status 1 "$PERF_BPF" record --switch-output -o /dev/null -- true
	assert_contains err "'/dev/null' is not a regular file"
	[ ! -e t.data ] || fail "a recording was begun"
}

run_tests
