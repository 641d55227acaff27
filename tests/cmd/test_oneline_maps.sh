#!/usr/bin/env bash
# perf-bpf run 'EVENT { BODY }': maps with names, statistics, and events other than tracepoints.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"
. "$(dirname "$0")/oneline.sh"

# The workload is known by its name: one run of these tests at a time.
exec 9<"$0"
flock -w 600 9 || exit 1

test_values_are_kept_from_one_event_to_the_next() {
	make_workload
	run 'syscalls:sys_enter_umask { asked[tid] = args->mask; } syscalls:sys_exit_umask { sum(take(asked, tid)); count(asked[tid]); }' \
		--json -- ./pbt_line call umask 3 5 , call umask 1 9
	holds '
assert m["sums"]["count"] == 24 and rows("counts", "asked", "value") == [(0, 4)], m
assert "asked" not in m, m'
}

test_maps_with_names_are_shown() {
	make_workload
	run 'syscalls:sys_enter_umask { seen[args->mask, comm]++; total[comm] += args->mask; total[comm] -= 1; last[pid] = args->mask; } syscalls:sys_exit_umask { if (seen[5, "pbt_line"] == 3) count(); }' \
		--json -- ./pbt_line call umask 3 5 , call umask 2 9 , pid
	pid=$(grep -x '[0-9]*' json)
	holds "
assert rows('seen', 'mask', 'comm', 'value') == [(5, 'pbt_line', 3), (9, 'pbt_line', 2)], m
assert rows('total', 'comm', 'value') == [('pbt_line', 28)], m
assert rows('last', 'pid', 'value') == [($pid, 9)], m
assert m['counts']['count'] == 3, m"
}

test_strings_are_keys_and_values() {
	make_workload
	echo x >a.txt
	echo x >b.txt
	run 'syscalls:sys_enter_openat { path[tid] = str(args->filename); opens[str(args->filename)]++; } syscalls:sys_exit_openat { count(path[tid]); drop(path, tid); }' \
		--json -- ./pbt_line opens 2 a.txt , opens 3 b.txt
	holds '
for name, key in ("opens", "filename"), ("counts", "path"):
    got = [r for r in rows(name, key, "value") if r[0] in ("a.txt", "b.txt")]
    assert got == [("a.txt", 2), ("b.txt", 3)], m[name]'
}

test_statistics() {
	make_workload
	run 'syscalls:sys_enter_umask { avg(args->mask, comm); stats(args->mask); min(args->mask); max(args->mask, comm); }' \
		--json -- ./pbt_line call umask 3 5 , call umask 1 9 , call umask 1 1
	holds '
assert rows("averages", "comm", "count", "sum") == [("pbt_line", 5, 25)], m
assert rows("stats", "count", "sum", "least", "largest") == [(5, 25, 1, 9)], m
assert rows("minima", "least") == [(1,)] and rows("maxima", "comm", "largest") == [("pbt_line", 9)], m'
}

test_linear_histograms() {
	make_workload
	run 'syscalls:sys_enter_umask { lhist(args->mask, 2, 32, 10); lhist(args->mask - 100, -95, -45, 10, comm); }' \
		--json -- ./pbt_line call umask 1 1 , call umask 2 5 , call umask 3 12 , call umask 4 50
	holds '
assert [(b["low"], b["high"], b["count"]) for b in m["lhist"]["hists"][0]["buckets"] if b["count"]] == [
	(-1 << 63, 1, 1), (2, 11, 2), (12, 21, 3), (32, (1 << 63) - 1, 4)], m["lhist"]
h, = m["lhist_2"]["hists"]
assert h["key"]["comm"] == "pbt_line", h
assert [(b["low"], b["high"], b["count"]) for b in h["buckets"] if b["count"]] == [
	(-1 << 63, -96, 1), (-95, -86, 5), (-55, -46, 4)], h'
}

test_heat_maps_stacks_and_named_values() {
	make_workload
	run 'syscalls:sys_enter_umask { heat(args->mask); stacks(); stacks(args->mask); emit(who = comm, mask = args->mask, half = (unsigned)args->mask / 2); }' \
		--json -- ./pbt_line in work_outer call umask 3 6
	holds '
assert sum(sum(c) for c in m["heat"]["counts"]) == 3, m["heat"]
assert sum(s["count"] for s in m["stacks"]["stacks"]) == 3, m
assert sum(s["count"] for s in m["stacks_2"]["stacks"]) == 18, m
assert [(e["who"], e["mask"], e["half"]) for e in events("events")] == [("pbt_line", 6, 3)] * 3, events("events")'
}

test_functions_of_programs() {
	make_workload
	run 'uprobe:./pbt_line:work_step { sum(args->n); count(args->order->id); count(str(args->order->who)); } uretprobe:./pbt_line:work_step { sum(retval); }' \
		--json -- ./pbt_line steps 5
	# n and order->id are 0 to 4
	holds '
assert m["sums"]["count"] == 10 and m["sums_2"]["count"] == 20, m
assert rows("counts", "id", "value") == [(i, 1) for i in range(5)], m
assert rows("counts_2", "who", "value") == [("somebody", 5)], m'
}

test_probe_definitions() {
	make_workload
	run 'probe:exec=./pbt_line;work_step n id=order->id who=order->who:string { if (n > 1) sum(id, who); print(n, who); }' \
		--json -- ./pbt_line steps 5
	holds '
assert rows("sums", "who", "value") == [("somebody", 9)], m
assert [(e["n"], e["who"]) for e in events("prints")] == [(i, "somebody") for i in range(5)], events("prints")'
}

test_clocks() {
	make_workload
	run 'cpu-clock/freq=997/ { count(comm); stacks(); } interval:1ms { count(); }' --json -- ./pbt_line burn 300
	holds '
(comm, n), = rows("counts", "comm", "value")
assert comm == "pbt_line" and n > 0, m
assert any("work_burn" in str(s) for s in m["stacks"]["stacks"]), m["stacks"]
assert m["counts_2"]["count"] > 0, m'
}

test_intervals_are_for_no_task() {
	make_workload
	# this shell waits, and never runs
	run -p $$ 'interval:1ms { count(); print(elapsed); } cpu-clock { count(); }' --json -- sleep 0.5
	holds '
assert m["counts"]["count"] > 0, m
last = [e["elapsed"] for e in events("prints")]
assert last == sorted(last), last'
}

test_begin_and_names_of_events() {
	make_workload
	run 'begin { limit[0] = 5; printf("begins"); } syscalls:sys_*_umask { if (limit[0] == 5) count(event); }' \
		--json -- ./pbt_line call umask 3 5
	holds '
assert len(events("lines")) == 1, m
assert rows("counts", "event", "value") == [("syscalls:sys_enter_umask", 3), ("syscalls:sys_exit_umask", 3)], m'
}

test_elapsed_counts_from_the_start() {
	make_workload
	before=$(python3 -c 'import time; print(time.monotonic_ns())')
	run 'syscalls:sys_enter_umask { print(elapsed, nsecs); }' --json -- ./pbt_line call umask 2 5
	# between them elapsed was 0; it is read before nsecs, or behind it
	holds "
at = [e['nsecs'] - e['elapsed'] for e in events('prints')]
assert len(at) == 2 and all($before < t < e['nsecs'] for t, e in zip(at, events('prints'))), events('prints')
assert all(e['elapsed'] > 0 for e in events('prints')), events('prints')"
}

test_constants_have_their_names() {
	make_workload
	echo x >a.txt
	# open(2) and openat(2) are the same flags; -2 is ENOENT
	run 'syscalls:sys_enter_openat { if (args->dfd == AT_FDCWD && args->flags & (O_WRONLY | O_RDWR)) count(args->flags & O_CREAT); }
		syscalls:sys_exit_openat { if (args->ret == -ENOENT) count(); hist(O_CREAT); }' --json -- \
		./pbt_line opens 3 a.txt , opens 2 no.txt
	holds '
assert "rows" in m["counts"] and not m["counts"]["rows"] and m["counts_2"]["count"] >= 2, m
assert slots(m["hist"]["hists"][0])[0][:2] == (64, 127), m'
	run 'syscalls:sys_enter_umask { if (args->mask == O_CREAT) count(SIGKILL); else count(AF_INET6, EAGAIN); }' \
		--json -- ./pbt_line call umask 2 64 , call umask 3 65
	holds '
assert [r["value"] for r in m["counts"]["rows"]] == [2], m
assert rows("counts", "value1", "value") == [(9, 2)], m
assert rows("counts_2", "value1", "value2", "value") == [(10, 11, 3)], m'
}

run_tests
