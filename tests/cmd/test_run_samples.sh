#!/usr/bin/env bash
# perf-bpf run with perf_event programs, beside a workload that knows its page faults.
. "$(dirname "$0")/../tap.sh"

# The workload is known by its name: one run of these tests at a time.
exec 9<"$0"
flock -w 600 9 || exit 1

# At the same addresses each time, so that the stacks have the same places in their map.
WORK='setarch -R ./pbt_faults'

# Touches pages one by one: each is a fault, in touch(), called by once() or twice().
make_workload() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	cat >pbt_faults.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/mman.h>
		#include <sys/resource.h>
		#include <unistd.h>
		static volatile char *at;
		__attribute__((noinline)) void touch(int n)
		{
			for (int i = 0; i < n; i++, at += 4096)
				*at = 1;
		}
		__attribute__((noinline)) void once(int n) { touch(n); __asm__ volatile(""); }
		__attribute__((noinline)) void twice(int n) { touch(2 * n); __asm__ volatile(""); }
		static void *thread(void *arg) { once(atoi(arg)); return NULL; }
		int main(int argc, char **argv)
		{
			pthread_t id;
			/* with an argument more: when the line comes, and in a thread as well */
			if (argc > 2 && getchar() == EOF)
				return 1;
			int n = atoi(argv[1]);
			size_t size = (4 * n + 16) * 4096;
			struct rusage before, after;
			at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			madvise((void *)at, size, MADV_NOHUGEPAGE);
			getrusage(RUSAGE_SELF, &before);
			once(n);
			twice(n);
			getrusage(RUSAGE_SELF, &after);
			printf("%ld\n", after.ru_minflt - before.ru_minflt);
			if (argc > 2) {
				pthread_create(&id, NULL, thread, argv[1]);
				pthread_join(id, NULL);
			}
			return 0;
		}
	END
	gcc -O0 -no-pie -fno-omit-frame-pointer -o pbt_faults pbt_faults.c -lpthread
	cat >faults.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		#include <bpf/bpf_tracing.h>
		#include <bpf/perf_bpf_prog.h>
		const volatile __u64 from, to; /* of touch() */
		PERF_BPF_STACKS(faults, 1024, "faults", "page faults");
		SEC("perf_event/page-faults/period=1/")
		int on_fault(struct bpf_perf_event_data *ctx)
		{
			__u64 ip = PT_REGS_IP(&ctx->regs);
			if (perf_bpf_wanted() && (!to || (ip >= from && ip < to)))
				perf_bpf_user_stack_add(ctx, faults, 1);
			return 0;
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	# which event is the command line's matter; nobody is asked about
	sed 's|perf_event/page-faults/period=1/|perf_event|; s/perf_bpf_wanted() && //' \
		faults.bpf.c >any.bpf.c
	# faults in touch() alone: what else the process does has stacks that may take a place
	set -- $(nm -S pbt_faults | grep ' T touch$')
	TOUCH="--json --set from=$((0x$1)) --set to=$((0x$1 + 0x$2))"
}

# touched FILE: how many faults in touch() by way of once() and twice()
touched() {
	python3 - "$1" <<-'END'
		import json, sys
		r, = [json.loads(l) for l in open(sys.argv[1]) if l.startswith("{")]
		sums = {"once": 0, "twice": 0}
		for s in r["stacks"]:
		    names = [f["name"] for f in s["frames"]]
		    if names[0] == "touch":
		        sums[names[1]] += s["count"]
		print(sums["once"], sums["twice"])
	END
}

test_every_fault_is_a_sample() {
	make_workload
	"$PERF_BPF" run $TOUCH faults.bpf.c --comm pbt_faults -- $WORK 300 >out
	assert_equal "$(touched out)" "300 600"
	[ "$(head -1 out)" -ge 900 ] || fail "the workload counted $(head -1 out) itself"
	"$PERF_BPF" run $TOUCH any.bpf.c -e page-faults -c 1 -- $WORK 300 >out
	assert_equal "$(touched out)" "300 600"
	# each tenth: the first of the whole process may be any of ten, on each CPU
	"$PERF_BPF" run $TOUCH any.bpf.c -e page-faults -c 10 -- taskset -c 0 $WORK 300 >out
	python3 - $(touched out) <<-'END'
		import sys
		once, twice = map(int, sys.argv[1:3])
		assert abs(once - 30) <= 2 and abs(twice - 60) <= 2, (once, twice)
	END
}

test_a_process_and_the_threads_it_starts() {
	make_workload
	mkfifo line
	$WORK 200 more <line >counted &
	pid=$!
	exec 3>line
	soon grep -q pbt_faults /proc/$pid/comm
	soon grep -q '^State:.S' /proc/$pid/status # it waits for the line
	"$PERF_BPF" run $TOUCH any.bpf.c -e page-faults -c 1 -p $pid --verbose >out 2>err &
	run=$!
	soon grep -q 'program on_fault is attached' err
	./pbt_faults 50 >/dev/null # another one
	echo go >&3
	exec 3>&-
	wait $pid || fail "the workload ended with $?"
	wait $run || fail "run ended with $?: $(cat err)" # by itself, as the process has
	assert_equal "$(touched out)" "400 400"
}

test_by_time() {
	make_workload
	# A second of its own CPU time is some 200 samples of it, however long that takes. No more come
	# from the clock of one CPU than the time that went by has.
	cat >pbt_burns.c <<-'END'
		#include <stdio.h>
		#include <time.h>
		static double now(clockid_t clock)
		{
			struct timespec t;
			clock_gettime(clock, &t);
			return t.tv_sec + t.tv_nsec / 1e9;
		}
		int main(void)
		{
			double start = now(CLOCK_MONOTONIC);
			while (now(CLOCK_PROCESS_CPUTIME_ID) < 1)
				;
			printf("%f\n", now(CLOCK_MONOTONIC) - start);
			return 0;
		}
	END
	gcc -O1 -o pbt_burns pbt_burns.c
	"$PERF_BPF" run any.bpf.c -F 200 --json -- taskset -c 0 ./pbt_burns >out
	python3 - <<-'END'
		import json
		seconds, = [float(l) for l in open("out") if not l.startswith("{")]
		r, = [json.loads(l) for l in open("out") if l.startswith("{")]
		mine = sum(s["count"] for s in r["stacks"] if s["label"] == "pbt_burns")
		# what begins and ends the process is some milliseconds of it
		assert 20 <= mine <= (seconds + 0.5) * 200, (mine, seconds)
	END
}

test_what_is_wrong_is_named() {
	make_workload
	expect_status 1 "$PERF_BPF" run any.bpf.c -e page-fault -- true
	assert_contains err "page-fault"
	assert_contains err "page-faults"
	expect_status 0 "$PERF_BPF" run any.bpf.c -e minor-faults,page-faults -F 1000000000 -- true
	assert_equal "$(grep -c -e "-F 1000000000 is above the kernel's limit" err)" 1
	expect_status 2 "$PERF_BPF" run any.bpf.c -F 10 -c 10 -- true
	assert_contains err "-F and -c cannot be used together"
	expect_status 1 "$PERF_BPF" run any.bpf.c -p 999999999 -- true
	assert_contains err "process 999999999 does not exist"
	expect_status 1 "$PERF_BPF" run any.bpf.c --comm x -- true
	assert_contains err "none of the programs supports -p"
	expect_status 1 "$PERF_BPF" run "$SRC/tests/cmd/run.bpf.c" -F 10 -- true
	assert_contains err "none of the programs runs on samples"
}

run_tests
