#!/usr/bin/env bash
# script: what is about this kernel's events, and the whole system; test_script.sh reads golden recordings.
. "$(dirname "$0")/../tap.sh"
# perf reads the build-id cache in the user's home, and so do we here.
BUILDID_CACHE_OF_PERF=yes

TRACEFS=/sys/kernel/tracing
PERF=$(command -v perf || true)

need_perf() {
	[ -n "$PERF" ] || skip "linux-perf is not installed"
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -d $TRACEFS/events ] || mount -t tracefs nodev $TRACEFS 2>/dev/null || true
	[ -d $TRACEFS/events ] || skip "tracefs cannot be mounted"
}

# A workload with forks, exec, threads of work, files and page faults.
write_workload() {
	cat >work.sh <<-'END'
		for i in 1 2 3; do (cat /etc/passwd >/dev/null; sleep 0.01) & done
		wait
		i=0
		while [ $i -lt 3000 ]; do i=$((i + 1)); done
		ls -R /usr/share/doc/bash /etc/apt >/dev/null 2>&1
		exec dd if=/dev/zero of=/dev/null bs=512 count=200 status=none
	END
}

# unescape: what acts on a terminal, as perf prints it. Any process of the machine may have such a name,
# which events of the scheduler tell; test_hostile_names looks at ours.
unescape() {
	python3 -c '
import re, sys
sys.stdout.buffer.write(re.sub(rb"\\x([01][0-9a-f]|7f|[89a-f][0-9a-f])", lambda m: bytes.fromhex(m[1].decode()),
                               sys.stdin.buffer.read()))'
}

# same FILE OPTION...: both print the same. perf 6.1 does not show inlined functions in chains of
# frame pointers; test_inlines.sh compares those of unwound stacks.
same() {
	local file=$1 mine=0 theirs=0
	shift
	set -- --no-inline "$@"
	"$PERF" script -i "$file" "$@" >theirs 2>theirs.err </dev/null || theirs=$?
	"$PERF_BPF" script -i "$file" "$@" >mine 2>mine.err </dev/null || mine=$?
	[ $mine = 0 ] || fail "script $*: ended with $mine: $(cat mine.err)"
	[ $theirs = 0 ] || fail "perf script $*: ended with $theirs: $(cat theirs.err)"
	[ -s theirs ] || fail "perf script $*: printed nothing"
	if ! cmp -s theirs mine && ! cmp -s <(unescape <theirs) <(unescape <mine); then
		diff theirs mine | head -20 | sed 's/^/# /'
		fail "script $*: differs from perf script in $(diff theirs mine | grep -c '^[<>]') lines"
	fi
}

test_every_event_of_this_kernel_prints_as_libtraceevent_prints_it() {
	[ "$(id -u)" = 0 ] || skip "reading tracefs needs root"
	[ -d $TRACEFS/events ] || mount -t tracefs nodev $TRACEFS || skip "no tracefs"
	# The library leaks on formats that it cannot parse; our own leaks show in the unit run.
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 TRACE_EVENTS=$TRACEFS/events \
		"$BUILD/tests/unit/test_perf_format" >log 2>&1 || { cat log; fail "test_perf_format failed"; }
	assert_contains log "events,"
}

# Whatever the kernel's own subsystems say while the workload runs.
test_whole_subsystems() {
	need_perf
	local events= s
	for s in irq timer signal task workqueue writeback skb net sock tcp block ext4 jbd2 mmap; do
		[ ! -d $TRACEFS/events/$s ] || events=$events,$s:*
	done
	write_workload
	"$PERF" record -q -a -o sub.data -e "${events#,}" -- bash work.sh 2>record.err ||
		fail "$(cat record.err)"
	same sub.data
	[ "$(awk '{ print $5 }' mine | sort -u | wc -l)" -gt 5 ] || fail "hardly any event"
}

test_all_cpus() {
	need_perf
	write_workload
	# Not what else runs here: its programs can be removed between the two.
	local names=bash,cat,dd,ls,sleep,timeout,swapper
	"$PERF" record -q -a -g -o sys.data -e cpu-clock -e sched:sched_switch \
		-- timeout 120 taskset -c 0 bash work.sh 2>record.err || fail "$(cat record.err)"
	same sys.data --comms "$names"
	same sys.data -G -C 0 --comms "$names"
}

# Where an interrupt takes the 10 us of this period, the workload hardly runs: its time is limited.
test_throttled() {
	need_perf
	"$PERF" record -q -o f.data -e cpu-clock -c 10000 -- timeout 0.5 dd if=/dev/zero of=/dev/null bs=1 2>/dev/null || :
	# samples in the vdso: perf prints the temporary file that it copied it to
	"$PERF" script -D -G -i f.data 2>/dev/null | sed 's,/tmp/perf-vdso\.so-[A-Za-z0-9]*,[vdso],' >theirs
	grep -aq PERF_RECORD_THROTTLE theirs || skip "the kernel throttles nothing"
	"$PERF_BPF" script -D -G -i f.data | cmp theirs - || fail "script -D differs"
}

run_tests
