#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# perf-bpf trace -F and --sched, against a workload that touches pages that it counts, and against
# perf trace.
. "$(dirname "$0")/../tap.sh"

# pbf_touch() touches 40 pages of new memory, then 5 of a file from its third page on. Their
# addresses, and what the kernel counted meanwhile, are in ./said.
ready() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	cat >pbf_work.c <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/mman.h>
		#include <sys/resource.h>
		#include <time.h>
		#include <unistd.h>

		#define PAGE 4096

		__attribute__((noinline)) void pbf_touch(volatile char *at, int n)
		{
			for (int i = 0; i < n; i++)
				(void)at[i * PAGE];
		}

		static void touch(const char *what, char *at, int n)
		{
			struct rusage before, after;

			if (at == MAP_FAILED)
				exit(1);
			madvise(at, n * PAGE, MADV_NOHUGEPAGE); /* a fault for each page of memory */
			pbf_touch(at, 0); /* its code is there, too */
			getrusage(RUSAGE_SELF, &before);
			pbf_touch(at, n);
			getrusage(RUSAGE_SELF, &after);
			printf("%s %p %ld %ld\n", what, (void *)at, after.ru_minflt - before.ru_minflt,
			       after.ru_majflt - before.ru_majflt);
		}

		int main(int argc, char **argv)
		{
			int fd = open(argv[1], O_RDONLY);
			struct timespec t;

			if (argc > 2 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
				return 1;
			touch("memory", mmap(0, 40 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 40);
			/* the kernel touches a page of memory */
			char *read_to = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (read_to == MAP_FAILED || read(fd, read_to, 1) != 1)
				return 1;
			printf("read %p\n", (void *)read_to);
			touch("file", mmap(0, 5 * PAGE, PROT_READ, MAP_PRIVATE, fd, 2 * PAGE), 5);
			/* Each look at this clock is an event of the scheduler. Many of them would not
			   have room in the ring. */
			do {
				for (volatile int i = 0; argc > 3 && i < 1000000; i++)
					;
				clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
			} while (argc > 3 && t.tv_sec < 1 && t.tv_nsec < 300000000);
			return getppid() < 0;
		}
	END
	gcc -O1 -static -o pbf_work pbf_work.c || skip "cannot build the workload"
	head -c 65536 /dev/zero >pbf_file
	sync pbf_file
}

trace() { # OPTION...: the lines are in ./lines
	expect_status 0 "$PERF_BPF" trace --log lines "$@"
	cp out said
}

# field N of the line of "memory" or "file"
said() { awk -v what="$1" -v n="$2" '$1 == what { print $n }' said; }

# Faults of this kind in pbf_touch that have this behind "=> "
faults() { grep -cE "^ *[0-9.]+ \( 0\.000 ms\): pbf_work/[0-9]+ $1fault \[pbf_touch\+0x[0-9a-f]+\] => $2 \(d\.\)\$" lines || true; }

test_every_fault_with_its_place() {
	ready
	cat pbf_file >/dev/null
	trace -F all --no-syscalls -- ./pbf_work pbf_file
	assert_equal "$(faults min '//anon@0x[0-9a-f]+')" "$(said memory 3)"
	[ "$(said memory 3)" -ge 40 ] || fail "$(cat said)"
	# each of the pages
	for i in 0 17 39; do
		assert_equal "$(faults min "//anon@$(printf '%#x' $(($(said memory 2) + i * 4096)))")" 1
	done
	# of the file by their offset in it
	assert_equal "$(faults '(min|maj)' "$PWD/pbf_file@0x[0-9a-f]+")" "$(($(said file 3) + $(said file 4)))"
	assert_equal "$(faults '(min|maj)' "$PWD/pbf_file@0x2000")" 1
	# what the kernel touched is looked for in the process, not among the kernel's addresses
	grep -qE "minfault \[[^]]+\] => //anon@$(said read 2) \(dk\)\$" lines || fail "$(grep k\) lines)"
	! grep -F 'getppid()' lines || fail "calls are printed"
}

test_a_recording_has_the_faults() {
	ready
	expect_status 0 "$PERF_BPF" trace -F min -e getppid --record t.data -- ./pbf_work pbf_file
	cp out said
	expect_status 0 "$PERF_BPF" trace -i t.data --log lines
	assert_equal "$(faults min '//anon@0x[0-9a-f]+')" "$(said memory 3)"
	assert_equal "$(faults min "//anon@$(printf '%#x' "$(said memory 2)")")" 1
	assert_equal "$(grep -c 'getppid()' lines)" 1
	# the summary counts them while it is recorded
	expect_status 0 "$PERF_BPF" trace -F min -S -e getppid --record t.data --log lines -- ./pbf_work pbf_file
	expect_status 0 "$PERF_BPF" trace -i t.data --log faults
	assert_equal "$(grep -cE "^ pbf_work \([0-9]+\), 1 events, 100\.0%, $(grep -c 'minfault \[' faults) minfaults\$" lines)" 1
}

test_among_the_calls() {
	ready
	trace -F min -e getppid,getrusage -- ./pbf_work pbf_file
	# getrusage, the memory's faults, getrusage
	assert_equal "$(grep -oE 'getrusage|pbf_touch.* => //anon|getppid' lines | sed 's/.*anon/anon/' | uniq | head -3 | tr '\n' ' ')" \
		"getrusage anon getrusage "
	! grep -q majfault lines || fail "$(grep majfault lines)"
	trace -F min -S -e getppid -- ./pbf_work pbf_file
	assert_equal "$(grep -cE "^ pbf_work \([0-9]+\), 1 events, 100\.0%, $(grep -c 'minfault \[' lines) minfaults\$" lines)" 1
}

test_major_faults() {
	ready
	trace -F maj --no-syscalls -- ./pbf_work pbf_file evict
	[ "$(said file 4)" -gt 0 ] || skip "this file system keeps its pages: no fault waited for a device"
	assert_equal "$(faults maj "$PWD/pbf_file@0x[0-9a-f]+")" "$(said file 4)"
	! grep -q minfault lines || fail "$(grep minfault lines)"
}

test_json_and_call_chains() {
	ready
	expect_status 0 "$PERF_BPF" trace --json -F min --no-syscalls --call-graph fp -- ./pbf_work pbf_file
	grep -vE '^\{' out >said
	grep -E '^\{' out >events
	python3 - "$(said memory 2)" "$(said memory 3)" <<-'END' || fail "$(grep pbf_touch events | head -2)"
		import json, sys
		start, n = int(sys.argv[1], 16), int(sys.argv[2])
		faults = [e for e in map(json.loads, open('events')) if e.get('event') == 'minor-faults']
		ours = [e for e in faults if start <= int(e['data']['addr'], 16) < start + 40 * 4096]
		assert len(ours) == n
		assert all(e['code']['sym'] == 'pbf_touch' and e['chain'][0]['sym'] == 'pbf_touch' for e in ours)
		assert all(e['data']['dso'] == '//anon' for e in ours)
	END
}

test_runtime_of_threads() {
	ready
	trace --sched -s -e getppid -- ./pbf_work pbf_file keep spin
	local ms=$(sed -nE 's/^ pbf_work \([0-9]+\), 1 events, 100\.0%, ([0-9]+)\.[0-9]+ msec$/\1/p' lines)
	# 300 ms, of which the scheduler does not report those before the end of the last tick
	[ "${ms:-0}" -ge 200 ] || fail "$(cat lines)"
	expect_status 0 "$PERF_BPF" trace --json --sched -s -e getppid -- ./pbf_work pbf_file keep spin
	grep -E '"summary":"threads"' out | grep -qE '"comm":"pbf_work","major_faults":0,"minor_faults":0,"runtime_ns":[0-9]{9,}' ||
		fail "$(cat out)"
}

test_what_cannot_be_together() {
	ready
	expect_status 2 "$PERF_BPF" trace -F some true
	assert_contains err "expected all, maj or min"
	expect_status 2 "$PERF_BPF" trace --no-syscalls true
	assert_contains err "there is nothing else to trace"
}

# The lines of faults in pbf_touch, without times and addresses of memory. Whether a page of the file is
# still in memory depends on what else the machine does.
normal() {
	grep pbf_touch |
		sed -E 's/^ *[0-9.]+ //; s,/[0-9]+ ,/N ,; s/anon@0x[0-9a-f]+/anon@N/; s/ (maj|min)fault (.*pbf_file@)/ fault \2/'
}
test_as_perf_trace() {
	ready
	command -v perf >/dev/null || skip "perf is not installed"
	# perf takes a file whose path begins with /tmp/perf- for a list of symbols of a JIT compiler
	local dir=$(mktemp -d /tmp/pbf.XXXXXX)
	mv pbf_work pbf_file "$dir"
	cat "$dir/pbf_file" >/dev/null
	# On one CPU: perf reads one ring after the other. Of a process that moves between CPUs it may show
	# what it does before it has read its name and what it has mapped.
	taskset -c 0 perf trace -F all --no-syscalls -- "$dir/pbf_work" "$dir/pbf_file" 2>theirs >/dev/null
	"$PERF_BPF" trace --log lines -F all --no-syscalls -- "$dir/pbf_work" "$dir/pbf_file" >said
	rm -r "$dir"
	# With the first page of a file, the kernel maps those around it that nobody else uses at that
	# moment. The others are faults of their own, in one run and not in the next.
	first_of_file() { sed '/pbf_file@0x/{/pbf_file@0x2000 /!d}'; }
	normal <theirs | first_of_file >theirs.normal
	normal <lines | first_of_file >ours.normal
	[ "$(wc -l <theirs.normal)" -ge 41 ] || skip "perf trace printed $(wc -l <theirs.normal) lines"
	diff -u theirs.normal ours.normal || fail "perf trace (-) and we (+) differ"
}

run_tests
