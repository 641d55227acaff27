#!/usr/bin/env bash
# perf-bpf run --cost and --max-overhead: what programs cost, and that it ends.
. "$(dirname "$0")/../tap.sh"

# A program that takes its time and one that does not, on a call that the workload
# makes; both count every run, whoever made it. The workload: at least N calls, and
# calls for SECONDS, with work of its own between; it prints how many, and how long.
make_burner() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -d /sys/kernel/tracing/events/syscalls/sys_enter_getpriority ] ||
		[ -d /sys/kernel/debug/tracing/events/syscalls/sys_enter_getpriority ] ||
		skip "no syscalls:sys_enter_getpriority"
	cat >burn.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		#include <bpf/perf_bpf_prog.h>
		PERF_BPF_COUNT(burnt, "runs", "of pbt_burn");
		PERF_BPF_COUNT(light, "runs", "of pbt_light");
		SEC("tracepoint/syscalls/sys_enter_getpriority") int pbt_burn(void *ctx)
		{
			unsigned long long x = 0;
			perf_bpf_count(&burnt, 1);
			for (int i = 0; i < 4000; i++)
				x ^= bpf_get_prandom_u32();
			return x == 1;
		}
		SEC("tracepoint/syscalls/sys_enter_getpriority") int pbt_light(void *ctx)
		{
			perf_bpf_count(&light, 1);
			return 0;
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	cat >pbt_calls.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/resource.h>
		#include <time.h>
		static double now(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_MONOTONIC, &t);
			return t.tv_sec + t.tv_nsec / 1e9;
		}
		int main(int argc, char **argv)
		{
			long n = atol(argv[1]), done = 0;
			double start = now();
			for (; done < n || now() < start + atof(argv[2]); done++) {
				getpriority(PRIO_PROCESS, 0);
				for (volatile int k = 0; k < 20000; k++)
					;
			}
			printf("calls %ld\nseconds %.9f\n", done, now() - start);
			return argc > 3 ? atoi(argv[3]) : 0;
		}
	END
	gcc -O1 -o pbt_calls pbt_calls.c
	# until.sh N TEXT FILE COMMAND...: the command again and again, until the file has so many
	# lines with the text. How soon that is depends on who else wants the CPUs.
	cat >until.sh <<-'END'
		n=$1 text=$2 file=$3 end=$(($(date +%s) + 60))
		shift 3
		until [ "$(grep -cF "$text" "$file")" -ge "$n" ] || [ "$(date +%s)" -gt $end ]; do
			"$@" >/dev/null
		done
	END
}

# check FILE CODE: m has the last lines of the maps by name, cost the programs' rows,
# text what stands beside them.
check() {
	python3 - "$1" "$2" <<-'END'
		import json, os, re, sys
		text = open(sys.argv[1]).read()
		lines = [json.loads(l) for l in text.splitlines() if l.startswith("{")]
		m = {l["map"]: l for l in lines if l["last"]}
		cost = {r["program"]: r for r in m.get("(cost)", {"rows": []})["rows"]}
		seconds = float(re.search("^seconds (.+)$", text, re.M).group(1))
		calls = int(re.search("^calls (\\d+)$", text, re.M).group(1))
		exec(sys.argv[2])
	END
}

test_runs_and_time_are_counted() {
	make_burner
	began=$(date +%s%N)
	"$PERF_BPF" run burn.bpf.c --cost --json -- ./pbt_calls 3000 0 >out
	ended=$(date +%s%N)
	check out "began, ended = $began, $ended"'
assert calls == 3000 and set(cost) == {"pbt_burn", "pbt_light"}, m
for program, counted in (("pbt_burn", "burnt"), ("pbt_light", "light")):
    c = cost[program]
    # every run is there, others may have made some too
    assert c["runs"] == m[counted]["count"] >= calls, (c, m)
    assert abs(c["ns_per_run"] - c["time_ns"] / c["runs"]) < 0.001, c
    # of the time that it was attached: all the time of the calls, and no more than there was
    assert 100 * c["time_ns"] / (ended - began) - 0.001 <= c["cpu_percent"] <= \
        100 * c["time_ns"] / seconds / 1e9 + 0.001, (c, seconds)
    assert abs(c["total_percent"] * os.sysconf("SC_NPROCESSORS_ONLN") - c["cpu_percent"]) < \
        0.001 * (1 + os.sysconf("SC_NPROCESSORS_ONLN")), c
    assert c["missed"] == 0, c
# 4,000 calls of a helper in each run
assert cost["pbt_burn"]["ns_per_run"] > 4000, cost
assert cost["pbt_burn"]["time_ns"] > 4 * cost["pbt_light"]["time_ns"], cost'
	"$PERF_BPF" run burn.bpf.c --cost -- ./pbt_calls 10 0 >out
	grep -qE '^program +runs +time_ns +ns_per_run +cpu_percent +total_percent +missed$' out ||
		fail "no table: $(cat out)"
	"$PERF_BPF" run burn.bpf.c -- ./pbt_calls 10 0 >out
	! grep -q "Cost of" out || fail "it was not asked for"
}

# What a profile says of programs is what the kernel counted of them: about half of the time
# of this workload is spent in two programs, at lines that are known.
test_shares_of_a_profile_agree_with_run_time() {
	make_burner
	[ "$(cat /proc/sys/net/core/bpf_jit_enable)" != 0 ] || skip "programs are interpreted"
	cat >half.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		SEC("tracepoint/syscalls/sys_enter_getpriority") int pbt_more(void *ctx)
		{
			unsigned long long x = 0;
			for (int i = 0; i < 6000; i++)
				x ^= bpf_get_prandom_u32(); /* line of pbt_more */
			return x == 1;
		}
		SEC("tracepoint/syscalls/sys_enter_getpriority") int pbt_less(void *ctx)
		{
			unsigned long long x = 0;
			for (int i = 0; i < 2000; i++)
				x ^= bpf_get_prandom_u32(); /* line of pbt_less */
			return x == 1;
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	cat >half.c <<-'END'
		#include <stdio.h>
		#include <sys/resource.h>
		#include <time.h>
		static double cpu(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
			return t.tv_sec + t.tv_nsec / 1e9;
		}
		/* As long in its own code as in the calls. */
		int main(void)
		{
			double inside = 0, start = cpu();
			while (cpu() < start + 2) {
				double before = cpu();
				for (int i = 0; i < 20; i++)
					getpriority(PRIO_PROCESS, 0);
				double after = cpu();
				for (inside += after - before; cpu() < after + (after - before);)
					;
			}
			printf("cpu %.9f\n", cpu());
			return inside == 0;
		}
	END
	gcc -O1 -o pbt_half half.c
	"$PERF_BPF" run half.bpf.c --cost --json -- \
		"$PERF_BPF" record -q -g -e cpu-clock -c 500000 -o data ./pbt_half >out 2>err
	assert_equal "$(cat err)" ""
	"$PERF_BPF" script -i data -F comm,ip,sym >samples
	for name in pbt_more pbt_less; do
		symbol=$(grep -oE -m 1 "bpf_prog_[0-9a-f]{16}_$name" samples) || fail "$name has no samples"
		"$PERF_BPF" annotate -i data "$symbol" >$name.lines || fail "$symbol is not annotated"
	done
	python3 - <<-'END'
		import json, re
		text = open("out").read()
		cost = {r["program"]: r["time_ns"] for l in text.splitlines() if l.startswith("{")
		        for m in [json.loads(l)] if m["map"] == "(cost)" and m["last"] for r in m["rows"]}
		cpu = float(re.search("^cpu (.+)$", text, re.M).group(1))
		# what a program calls is in its time, as in run_time_ns
		samples = [s for s in open("samples").read().split("\n\n") if "pbt_half" in s]
		assert len(samples) > 1000, len(samples)
		shares = {}
		for name in "pbt_more", "pbt_less":
		    within = sum(bool(re.search(r" bpf_prog_[0-9a-f]{16}_%s\b" % name, s)) for s in samples)
		    shares[name] = 100 * within / len(samples), 100 * cost[name] / 1e9 / cpu
		    # all that was sampled in the program itself is at one line or the two of its loop
		    percent, line = {}, None
		    for l in open(name + ".lines"):
		        if m := re.match(r" +: (\d+) +(\S.*)", l):
		            line = m[2]
		        elif m := re.match(r" +(\d+\.\d+) : ", l):
		            percent[line] = percent.get(line, 0) + float(m[1])
		    loop = {"pbt_more": "i < 6000;", "pbt_less": "i < 2000;"}[name]
		    assert sum(v for k, v in percent.items() if "line of " + name in k or loop in k) > 90, percent
		assert all(abs(a - b) < 5 for a, b in shares.values()), shares
		assert 35 < sum(a for a, b in shares.values()) < 65, shares
	END
}

# With --clear each look has what was added since the last one: in all it is the same.
test_cost_since_the_last_look() {
	make_burner
	: >out
	"$PERF_BPF" run burn.bpf.c --cost --json --interval 100ms --clear -- \
		sh until.sh 2 '"(cost)"' out ./pbt_calls 0 0.1 >out
	python3 - <<-'END'
		import json
		lines = [json.loads(l) for l in open("out") if l.startswith("{")]
		costs = [l for l in lines if l["map"] == "(cost)"]
		assert len(costs) >= 2, len(costs)
		runs = sum(r["runs"] for l in costs for r in l["rows"] if r["program"] == "pbt_burn")
		counted = sum(l["count"] for l in lines if l["map"] == "burnt")
		assert runs == counted > 0, (runs, counted)
	END
}

test_a_program_that_costs_too_much_is_detached() {
	make_burner
	local until='sh until.sh 1 "is detached" err ./pbt_calls 0 0.3'
	# it takes most of what the workload gets of a CPU, and that is more than 4 % on a busy
	# machine too; the light one takes less than 1 % of it, whatever that is, and goes on
	limit=$(python3 -c 'import os; print("%.3g" % (2.5 / os.sysconf("SC_NPROCESSORS_ONLN")))')
	expect_status 3 "$PERF_BPF" run burn.bpf.c --max-overhead "$limit%" --json -- \
		sh -c "$until; ./pbt_calls 100 0"
	cat err
	grep -qE 'program pbt_burn is detached: it used [0-9.e+]+ % of all CPUs. time; --max-overhead allows '"$limit %" err ||
		fail "it does not say which, and what it cost"
	! grep -q 'pbt_light is detached' err || fail "the other one went too"
	check out '
assert "pbt_burn was detached: it used " in m["(cost)"]["note"], m
assert cost["pbt_burn"]["runs"] == m["burnt"]["count"] > 0, (cost, m)
assert cost["pbt_light"]["runs"] == m["light"]["count"] >= calls, (cost, calls)
assert m["burnt"]["count"] < m["light"]["count"], m'
	# the status of the command goes first
	expect_status 9 "$PERF_BPF" run burn.bpf.c --max-overhead "$limit" -- sh -c "$until; exit 9"
	assert_contains err "pbt_burn is detached"
	# what costs less stays
	expect_status 0 "$PERF_BPF" run burn.bpf.c --max-overhead 100% -- ./pbt_calls 0 1.2
	! grep -q detached err out || fail "it was detached"
}

# At samples: a program has a link for each CPU, and all of them are of one row.
test_programs_at_samples() {
	make_burner
	sed -i 's,"tracepoint/syscalls/sys_enter_getpriority") int pbt_burn,"perf_event/page-faults") int pbt_burn,' \
		burn.bpf.c
	cat >pbt_faults.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/mman.h>
		#include <time.h>
		int main(int argc, char **argv)
		{
			puts("seconds 0\ncalls 0");
			for (time_t end = time(NULL) + atoi(argv[1]); time(NULL) <= end;) {
				char *p = mmap(NULL, 64 << 12, PROT_WRITE | PROT_READ,
					       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
				for (int i = 0; i < 64; i++)
					p[i << 12] = 1;
				munmap(p, 64 << 12);
			}
			return 0;
		}
	END
	gcc -O1 -o pbt_faults pbt_faults.c
	expect_status 0 "$PERF_BPF" run burn.bpf.c --cost -c 1 --json -- ./pbt_faults 0
	check out '
assert cost["pbt_burn"]["runs"] == m["burnt"]["count"] >= 64, (cost, m)'
	limit=$(python3 -c 'import os; print("%.3g" % (2.5 / os.sysconf("SC_NPROCESSORS_ONLN")))')
	expect_status 3 "$PERF_BPF" run burn.bpf.c --max-overhead "$limit%" -c 1 --json -- \
		sh -c 'sh until.sh 1 "is detached" err ./pbt_faults 0; ./pbt_faults 0'
	cat err
	assert_contains err "program pbt_burn is detached: it used "
	check out '
assert cost["pbt_burn"]["runs"] == m["burnt"]["count"] > 0, (cost, m)'
}

test_without_a_command_it_ends_with_the_last_program() {
	make_burner
	sed -i '/^SEC.*pbt_light/,/^}/d' burn.bpf.c
	./pbt_calls 0 600 >calls &
	pid=$!
	trap 'kill $pid' EXIT
	expect_status 3 "$PERF_BPF" run burn.bpf.c --max-overhead 0.01% --duration 300
	assert_contains err "no program is attached any more"
	kill -0 $pid || fail "it did not end before the calls did"
}

test_bad_limits() {
	for limit in 0 -1 101% x 2%% ''; do
		! "$PERF_BPF" run x.bpf.c --max-overhead "$limit" 2>err || fail "'$limit' is taken"
		assert_contains err "expected a share of all CPUs' time such as 2%"
	done
	[ "$(id -u)" = 0 ] || skip "needs root"
	make_burner
	[ "$(cat /proc/sys/kernel/bpf_stats_enabled)" = 0 ] || skip "statistics are on"
	chmod 755 "$TMP"
	# CAP_BPF and CAP_PERFMON load it, and may not ask for statistics
	expect_status 1 setpriv --bounding-set=-sys_admin "$PERF_BPF" run burn.bpf.c --cost \
		-- ./pbt_calls 1 0
	assert_contains err "the kernel does not collect the cost of programs"
	assert_contains err "hint: run as root or with CAP_SYS_ADMIN, or type: sysctl kernel.bpf_stats_enabled=1"
}

# A program that runs into itself: each of its runs makes one that the kernel leaves
# out. (Where it does not, the program's own depth ends it.)
test_runs_left_out_are_told() {
	make_burner
	# older kernels hold a lock while they tell of a print
	"$PERF_BPF" btf show /sys/kernel/btf/vmlinux -C bpf_bprintf_data >struct 2>&1 ||
		skip "a print within a print hangs this kernel"
	cat >again.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		#include <bpf/perf_bpf_prog.h>
		PERF_BPF_COUNT(prints, "prints", "within a print");
		int depth;
		SEC("raw_tp/bpf_trace_printk") int pbt_again(void *ctx)
		{
			if (!perf_bpf_wanted() || depth)
				return 0;
			depth = 1;
			perf_bpf_count(&prints, 1);
			bpf_printk("again");
			depth = 0;
			return 0;
		}
		SEC("tracepoint/syscalls/sys_enter_getpriority") int pbt_first(void *ctx)
		{
			if (perf_bpf_wanted())
				bpf_printk("first");
			return 0;
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	"$PERF_BPF" run again.bpf.c --comm pbt_calls --json -- ./pbt_calls 25 0 >out
	grep -q '"(missed)"' out || skip "this kernel does not leave such runs out"
	check out '
rows = m["(missed)"]["rows"]
assert m["prints"]["count"] == 25, m
assert rows == [{"program": "pbt_again", "missed": 25}], rows'
	"$PERF_BPF" run again.bpf.c --comm pbt_calls --cost --json -- ./pbt_calls 25 0 >out
	check out '
assert "(missed)" not in m, m
assert cost["pbt_again"]["missed"] == 25 and cost["pbt_first"]["missed"] == 0, cost'
	"$PERF_BPF" run again.bpf.c --comm pbt_calls -- ./pbt_calls 25 0 >out
	assert_contains out "Runs skipped by the kernel:"
	grep -qE '^pbt_again +25$' out || fail "$(cat out)"
}

run_tests
