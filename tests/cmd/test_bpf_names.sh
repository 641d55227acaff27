#!/usr/bin/env bash
# BPF programs in profiles: their names and lines, and how much of the time is theirs.
. "$(dirname "$0")/../tap.sh"

exec 3>&1 # for figures

ATTACHED=$BUILD/tests/cmd/attached

need() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

# The half of a workload's time is that of a program: it spends as long in its own code as its system
# calls, which run the program, have taken.
make_half() {
	cat >half.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		volatile unsigned pbt_sum;
		static __attribute__((noinline)) int pbt_spin(int n)
		{
			for (int i = 0; i < 4000; i++)
				pbt_sum += i ^ n; /* PBT_LINE */
			return 0;
		}
		SEC("tp/syscalls/sys_enter_getppid") int pbt_half(void *ctx) { return pbt_spin(3); }
		char LICENSE[] SEC("license") = "GPL";
	END
	compile_bpf half.bpf.c half.o
	cat >half.c <<-'END'
		#include <sys/syscall.h>
		#include <time.h>
		#include <unistd.h>
		static long now(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
			return t.tv_sec * 1000000000 + t.tv_nsec;
		}
		int main(void)
		{
			const long start = now();
			while (now() - start < 1500000000) {
				const long before = now();
				for (int i = 0; i < 1000; i++)
					syscall(SYS_getppid);
				const long after = now();
				while (now() - after < after - before)
					;
			}
			return 0;
		}
	END
	gcc -O1 -o half half.c
}

# The share that the kernel counts as the program's (run_time_ns), and that of its samples, of the
# same run: within 5 points.
test_half_of_the_time() {
	need
	make_half
	# other tasks' time is in run_time_ns if they preempt the program
	local calm="chrt -f 1"
	$calm true 2>/dev/null || calm=
	$calm "$ATTACHED" half.o 0 "$PERF_BPF" record -q -e cpu-clock -c 250000 -o d -- ./half >counted || fail "attached: $?"
	"$PERF_BPF" report -i d -s sym --json >out
	"$PERF_BPF" report -i d -s sym,srcline >lines
	python3 - <<-'END' >shares || fail "$(cat shares counted lines)"
		import json, re
		name, _, run_time, count = open("counted").read().split()
		assert name == "pbt_half" and int(count) > 100
		rows = []
		for line in open("out"):
		    rows += json.loads(line).get("rows", [])
		of = lambda r: r.get("symbol", "")
		total = sum(r["overhead"] for r in rows)
		ours = sum(r["overhead"] for r in rows if re.search(r"bpf_prog_[0-9a-f]{16}_pbt_(half|spin)", of(r)))
		sampled, counted = 100 * ours / total, 100 * int(run_time) / total
		print("sampled %.1f %%, counted %.1f %%" % (sampled, counted))
		assert total > 1e9 and 30 < counted < 60, total
		assert abs(sampled - counted) <= 5
	END
	echo "# $(cat shares)" >&3
	# by the line in which it spends its time
	local line
	line=$(grep -n PBT_LINE half.bpf.c | cut -d: -f1)
	grep -E "bpf_prog_[0-9a-f]{16}_pbt_spin +half.bpf.c:($line|$((line - 1)))" lines >of_the_line || fail "$(cat lines)"
	awk '{ sum += $1 } END { exit !(sum > 25) }' of_the_line || fail "$(cat lines)"
}

run_tests
