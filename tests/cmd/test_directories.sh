#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Recordings that are directories (perf record --threads).
. "$(dirname "$0")/../tap.sh"

TRACEFS=/sys/kernel/tracing
PERF=$(command -v perf || true)
# A system call that nobody else makes meanwhile.
EVENT=syscalls:sys_enter_getpriority

need() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -d $TRACEFS/events ] || mount -t tracefs nodev $TRACEFS 2>/dev/null || true
	[ -d $TRACEFS/events/syscalls ] || skip "tracefs or its syscall events cannot be had"
	command -v gcc >/dev/null || skip "gcc is not installed"
	# Numbered calls of one thread that goes from one CPU to the next, a hundred on each.
	gcc -O1 -fno-omit-frame-pointer -o pbt_numbers -x c - <<-'END'
		#define _GNU_SOURCE
		#include <sched.h>
		#include <stdlib.h>
		#include <sys/syscall.h>

		static __attribute__((noinline)) void call_it(long n)
		{
			long r = SYS_getpriority;

			__asm__ volatile("syscall" : "+a"(r) : "D"(7L), "S"(n) : "rcx", "r11", "memory");
		}

		int main(int argc, char **argv)
		{
			cpu_set_t all;
			int cpu = 0;

			sched_getaffinity(0, sizeof(all), &all);
			for (long n = 0; n < atol(argv[1]); n++) {
				cpu_set_t one;

				if (n % 100 == 0) {
					do
						cpu = (cpu + 1) % CPU_SETSIZE;
					while (!CPU_ISSET(cpu, &all));
					CPU_ZERO(&one);
					CPU_SET(cpu, &one);
					sched_setaffinity(0, sizeof(one), &one);
				}
				call_it(n);
			}
			return 0;
		}
	END
}

need_perf() {
	need
	[ -n "$PERF" ] || skip "perf is not installed"
	"$PERF" record -h 2>&1 | grep -q -- --threads || skip "this perf has no record --threads"
}

# perf_records OPTION...: to t.dir
perf_records() {
	"$PERF" record -q --threads "$@" -m 4M -e $EVENT -o t.dir -- ./pbt_numbers 3000 >out 2>&1 ||
		{ sed 's/^/# | /' out; fail "perf record --threads $*"; }
	[ -d t.dir ] && [ -e t.dir/data.0 ] || fail "perf has written no directory"
}

# assert_numbers READER DIR N: all calls, in order
assert_numbers() {
	"$1" script -i "$2" -F comm,trace >text 2>err || { cat err; fail "$2 cannot be read"; }
	sed -n 's/ *pbt_numbers .*which: 0x0*7, who: 0x0*\([0-9a-f]*\).*/\1/p' text | while read -r n; do echo $((16#${n:-0})); done >numbers
	seq 0 $(($3 - 1)) | cmp - numbers || fail "$1: $(wc -l <numbers) calls, or another order"
}

test_of_perf() {
	need_perf
	perf_records
	assert_numbers "$PERF_BPF" t.dir 3000
	[ ! -s err ] || { cat err; fail "a warning"; }
	"$PERF_BPF" report --stdio -i t.dir --header -I -F sample >text
	assert_contains text '# directory data version : 1'
	grep -qE '^ +3000 *$' text || { cat text; fail "report counts otherwise"; }
}

test_of_perf_compressed() {
	need_perf
	perf_records -z -a
	assert_numbers "$PERF_BPF" t.dir 3000
}

test_damaged() {
	local n
	need_perf
	perf_records
	expect_status 1 "$PERF_BPF" script -i t.dir/data
	assert_contains err 'name the directory'
	# In the middle of a record: what there is is shown.
	truncate -s 20001 t.dir/data.0
	expect_status 1 "$PERF_BPF" script -i t.dir
	n=$(grep -c pbt_numbers out)
	[ "$n" -gt 100 ] && [ "$n" -lt 3000 ] || fail "$n samples"
	assert_contains err 't.dir/data.0: offset'
	assert_contains err 'a record ends past the end of the data'
	rm t.dir/data.*
	expect_status 1 "$PERF_BPF" script -i t.dir
	assert_contains err 'no files of events'
	rm t.dir/data
	expect_status 1 "$PERF_BPF" script -i t.dir
	assert_contains err "is not a recording of perf record --threads"
}

# Who has made the directory does not choose what is opened.
test_planted() {
	need_perf
	perf_records
	mkfifo t.dir/data.7
	expect_status 1 "$PERF_BPF" script -i t.dir
	assert_contains err 't.dir/data.7'
	rm t.dir/data.7
	mv t.dir/data there
	ln -s ../there t.dir/data
	expect_status 1 "$PERF_BPF" script -i t.dir
}

run_tests
