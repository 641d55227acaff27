#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Options of record that say what is read, and when: --mmap-flush, --synth, --no-samples, --dry-run,
# --sample-mem-info, --switch-output-event.
. "$(dirname "$0")/../tap.sh"

TRACEFS=/sys/kernel/tracing
COUNTED=$BUILD/tests/cmd/counted
# System calls that nobody else makes meanwhile.
EVENT=syscalls:sys_enter_getpriority
RARE=syscalls:sys_enter_sched_rr_get_interval

need() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -d $TRACEFS/events ] || mount -t tracefs nodev $TRACEFS 2>/dev/null || true
	[ -d $TRACEFS/events/syscalls ] || skip "tracefs or its syscall events cannot be had"
}

record() {
	"$PERF_BPF" record -N "$@" >record.out 2>record.err ||
		{ sed 's/^/# | /' record.err; fail "record $*"; }
}

# assert_calls FILE FROM TO [OPTION...]: the samples have these numbers, in order
assert_calls() {
	"$PERF_BPF" script -i "$1" -F event,trace "${@:4}" >text 2>err || { cat err; fail "$1 cannot be read"; }
	sed -n 's/.*getpriority: .*who: 0x0*\([0-9a-f]*\).*/\1/p' text | while read -r n; do echo $((16#${n:-0})); done >numbers
	seq "$2" "$3" | cmp -s - numbers || { cat text | head -n 5; fail "$1: $(wc -l <numbers) calls, wanted $2 to $3"; }
}

# All of it is less than a quarter of the ring, so that it is read once, at the end.
test_mmap_flush() {
	need
	record --no-buffering --mmap-flush 1M -m 1M -e $EVENT -o t.data -- "$COUNTED" 500
	assert_calls t.data 0 499
	assert_contains record.err 'Woken up 1 times'
	# without it, what is in the ring is read while the workload runs
	# shellcheck disable=SC2016
	record --no-buffering -m 1M -e $EVENT -o t.data -- sh -c '"$0" 1
		until "$1" script -i t.data 2>/dev/null | grep -q getpriority; do sleep 0.05; done
		"$0" 1' "$COUNTED" "$PERF_BPF"
	! grep -q 'Woken up 1 times' record.err || fail "without it, too"
	expect_status 2 "$PERF_BPF" record --mmap-flush x -o t.data -- true
}

# has PATTERN: the dump of t.data has such records
has_record() {
	grep -qE "$1" dump
}

synth() {
	record -a "$@" -e $EVENT -o t.data -- "$COUNTED" 10
	"$PERF_BPF" script -i t.data -D >dump 2>/dev/null
	assert_calls t.data 0 9 --comms counted # nice(1) makes this call, too, whoever runs it meanwhile
}

test_synth() {
	need
	sleep 1000 &
	local before=$! comm map
	comm="PERF_RECORD_COMM: sleep:$before/$before"
	map="PERF_RECORD_MMAP2 $before/$before: .*/sleep"
	soon grep -q sleep /proc/$before/comm
	synth
	has_record "$comm" && has_record "$map" || { kill $before; fail "the process is missing"; }
	synth --synth=no
	! has_record "$comm" && ! has_record "$map" || { kill $before; fail "--synth=no"; }
	has_record 'PERF_RECORD_MMAP.* -1/0' || { kill $before; fail "--synth=no: the kernel is missing"; }
	synth --synth=task
	has_record "$comm" && ! has_record "$map" || { kill $before; fail "--synth=task"; }
	synth --synth=cgroup,mmap
	has_record "$comm" && has_record "$map" || { kill $before; fail "--synth=mmap"; }
	kill $before
	expect_status 2 "$PERF_BPF" record --synth=tasks -o t.data -- true
	assert_contains err "unknown type 'tasks'"
}

test_no_samples() {
	need
	record -n -e cpu-clock -o t.data -- "$COUNTED" 100 1000 burn
	assert_contains record.err '(0 samples'
	"$PERF_BPF" report --tasks -i t.data >text
	assert_contains text counted
}

test_dry_run() {
	need
	"$PERF_BPF" record --dry-run -e $EVENT -o t.data -- touch ran || fail "it failed"
	[ ! -e ran ] && [ ! -e t.data ] || fail "it was more than a trial"
	expect_status 1 "$PERF_BPF" record --dry-run -e syscalls:sys_enter_getpriorit -o t.data -- touch ran
	assert_contains err 'sys_enter_getpriority'
}

test_sample_mem_info() {
	need
	record --sample-mem-info -e cpu-clock -o t.data -- "$COUNTED" 1
	"$PERF_BPF" report -i t.data --header-only >text
	grep -qE '# event : name = cpu-clock.*sample_type = [A-Z_|]*DATA_SRC' text || { grep '# event' text; fail "no DATA_SRC"; }
}

test_switch_output_event() {
	need
	[ -d "$TRACEFS/events/${RARE/://}" ] || skip "there is no event $RARE"
	cat >work.c <<-'END'
		#include <glob.h>
		#include <sys/syscall.h>
		#include <unistd.h>

		static size_t files(void)
		{
			glob_t g;
			size_t n = glob("t.data.2*", 0, NULL, &g) ? 0 : g.gl_pathc;

			globfree(&g);
			return n;
		}

		int main(void)
		{
			char interval[16];

			for (long n = 0; n < 300; n++) {
				const size_t before = files();

				syscall(SYS_getpriority, 7, n);
				if (n % 100 != 99 || n == 299)
					continue;
				syscall(SYS_sched_rr_get_interval, 0, interval);
				while (files() == before)
					usleep(1000);
			}
			return 0;
		}
	END
	gcc -O1 -o work work.c
	record --switch-output-event $RARE -e $EVENT -o t.data -- ./work
	local n=0 file
	for file in t.data.2*; do
		assert_calls "$file" $((n * 100)) $((n * 100 + 99))
		! grep -q rr_get_interval text || fail "the event was recorded"
		n=$((n + 1))
	done
	assert_equal "$n" 3
	expect_status 1 "$PERF_BPF" record --switch-output-event syscalls:nothing -e $EVENT -o t.data -- true
	assert_contains err '--switch-output-event'
}

run_tests
