#!/usr/bin/env bash
# perf-bpf run with perf_event programs, beside a workload that knows its page faults.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

# The workload is known by its name: one run of these tests at a time.
exec 9<"$0"
flock -w 600 9 || exit 1

# At the same addresses each time, so that the stacks have the same places in their map.
WORK='setarch -R ./pbt_faults'
# By one function, and twice as many by another one.
FAULTS='in work_left faults 300 , in work_right faults 600'

# Touches pages one by one: each is a fault, in work_touch(), called below work_left() or work_right().
make_workload() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	workload_as pbt_faults
	# faults in work_touch() alone: what else the process does has stacks that may take a place
	set -- $(nm -S pbt_faults | grep ' t work_touch$')
	TOUCH="--json --set from=$((0x$1)) --set to=$((0x$1 + 0x$2))"
}

# touched FILE: how many faults in work_touch() below work_left() and work_right()
touched() {
	python3 - "$1" <<-'END'
		import json, sys
		r, = [json.loads(l) for l in open(sys.argv[1]) if l.startswith("{")]
		sums = {"work_left": 0, "work_right": 0}
		for s in r["stacks"]:
		    names = [f["name"] for f in s["frames"]]
		    if names[0] == "work_touch":
		        sums[next(name for name in names if name in sums)] += s["count"]
		print(*sums.values())
	END
}

test_every_fault_is_a_sample() {
	make_workload
	"$PERF_BPF" run $TOUCH "$OBJECTS/run_samples_faults.bpf.o" --comm pbt_faults -- $WORK $FAULTS , counts >out
	assert_equal "$(touched out)" "300 600"
	assert_contains out 'faults 900'
	"$PERF_BPF" run $TOUCH "$OBJECTS/run_samples_any.bpf.o" -e page-faults -c 1 -- $WORK $FAULTS , counts >out
	assert_equal "$(touched out)" "300 600"
	# each tenth: the first of the whole process may be any of ten, on each CPU
	"$PERF_BPF" run $TOUCH "$OBJECTS/run_samples_any.bpf.o" -e page-faults -c 10 -- taskset -c 0 $WORK $FAULTS , counts >out
	python3 - $(touched out) <<-'END'
		import sys
		once, twice = map(int, sys.argv[1:3])
		assert abs(once - 30) <= 2 and abs(twice - 60) <= 2, (once, twice)
	END
}

test_a_process_and_the_threads_it_starts() {
	make_workload
	work_start ./pbt_faults
	"$PERF_BPF" run $TOUCH "$OBJECTS/run_samples_any.bpf.o" -e page-faults -c 1 -p $WORK_PID --verbose >out 2>err &
	run=$!
	soon grep -q 'program on_fault is attached' err
	./pbt_faults in work_left faults 50 # another one
	work in work_left faults 200 , in work_right faults 400 , threads 1 in work_left faults 200
	work_end
	wait $run || fail "run ended with $?: $(cat err)" # by itself, as the process has
	assert_equal "$(touched out)" "400 400"
}

test_by_time() {
	make_workload
	# A second of its own CPU time is some 200 samples of it, however long that takes. No more come
	# from the clock of one CPU than the time that went by has.
	workload_as pbt_burns
	local start=$EPOCHREALTIME
	"$PERF_BPF" run "$OBJECTS/run_samples_any.bpf.o" -F 200 --json -- taskset -c 0 ./pbt_burns burn 1000 >out
	python3 - "$start" "$EPOCHREALTIME" <<-'END'
		import json, sys
		seconds = float(sys.argv[2]) - float(sys.argv[1])
		r, = [json.loads(l) for l in open("out") if l.startswith("{")]
		mine = sum(s["count"] for s in r["stacks"] if s["label"] == "pbt_burns")
		assert 20 <= mine <= seconds * 200, (mine, seconds)
	END
}

test_what_is_wrong_is_named() {
	make_workload
	expect_status 1 "$PERF_BPF" run "$OBJECTS/run_samples_any.bpf.o" -e page-fault -- true
	assert_contains err "page-fault"
	assert_contains err "page-faults"
	expect_status 0 "$PERF_BPF" run "$OBJECTS/run_samples_any.bpf.o" -e minor-faults,page-faults -F 1000000000 -- true
	assert_equal "$(grep -c -e "-F 1000000000 is above the kernel's limit" err)" 1
	expect_status 2 "$PERF_BPF" run "$OBJECTS/run_samples_any.bpf.o" -F 10 -c 10 -- true
	assert_contains err "-F and -c cannot be used together"
	expect_status 1 "$PERF_BPF" run "$OBJECTS/run_samples_any.bpf.o" -p 999999999 -- true
	assert_contains err "process 999999999 does not exist"
	expect_status 1 "$PERF_BPF" run "$OBJECTS/run_samples_any.bpf.o" --comm x -- true
	assert_contains err "none of the programs supports -p"
	expect_status 1 "$PERF_BPF" run "$SRC/tests/cmd/run.bpf.c" -F 10 -- true
	assert_contains err "none of the programs runs on samples"
}

run_tests
