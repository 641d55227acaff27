#!/usr/bin/env bash
# Of what record keeps samples and other records: --all-user, --all-kernel, --per-thread,
# --no-bpf-event, and -C with a task that is on another CPU.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

PERF=$(command -v perf || true)

# Prints its own and its thread's id, and touches 50 pages in each, for the first time.
THREADS="./pbt_threads tid , faults 50 , threads 1 tid + faults 50"

build_threads() {
	workload_as pbt_threads
}

record() {
	"$PERF_BPF" record -q -e page-faults -c 1 -o t.data "$@" >ids
}

# samples_of NAME: of the thread that printed NAME, those of the pages that it touched
samples_of() {
	local tid
	tid=$(sed -n "$([ "$1" = main ] && echo 1 || echo 2)p" ids)
	"$PERF_BPF" script -i t.data -F tid,ip,sym | awk -v tid="$tid" '$1 == tid && $NF == "work_touch"' | wc -l
}

modes() {
	"$PERF_BPF" script -i t.data -F misc,tid | awk '{ print $2 }' | sort -u | tr '\n' ' '
}

test_levels() {
	build_threads
	record --all-user -- $THREADS
	assert_equal "$(samples_of main)" 50
	assert_equal "$(modes)" "U "
	"$PERF_BPF" script -i t.data --header-only >head
	grep -q 'name = page-faults.* exclude_kernel = 1' head || fail "$(grep page-faults head)"
	record --all-kernel -- $THREADS
	assert_equal "$(samples_of thread)" 0
	"$PERF_BPF" script -i t.data -F misc,tid | awk '{ print $2 }' >seen
	assert_equal "$(grep -vc K seen)" 0
	# the last word has the option, as in perf
	"$PERF_BPF" record -q -e page-faults:k -c 1 --all-user -o t.data -- $THREADS >ids
	assert_equal "$(samples_of main)" 50
	expect_status 2 "$PERF_BPF" record --all-user --all-kernel true
	assert_contains err "choose one of --all-user and --all-kernel"
}

test_one_ring_for_each_thread() {
	build_threads
	record -- $THREADS
	assert_equal "$(samples_of thread)" 50
	record --per-thread -- $THREADS
	assert_equal "$(samples_of main)" 50
	"$PERF_BPF" script -i t.data -F tid | tr -d ' ' | sort -u >seen
	assert_equal "$(cat seen)" "$(head -n 1 ids)"
	"$PERF_BPF" script -i t.data --show-mmap-events >out
	assert_contains out "pbt_threads"
	grep -q 'PERF_RECORD_MMAP2 .*pbt_threads' out || fail "no mapping of the program"
	if [ -n "$PERF" ]; then
		# without symbols: perf takes a path below /tmp/perf-... for the names of a JIT
		"$PERF_BPF" script -i t.data -F comm,tid,time,period,event,ip >ours
		"$PERF" script -i t.data -F comm,tid,time,period,event,ip >theirs
		diff ours theirs || fail "perf reads it differently"
	fi
	# to a pipe, and two events: the samples have ids, which belong to a thread each
	"$PERF_BPF" record -q -e page-faults -e minor-faults -c 1 --per-thread -o - \
		-- sh -c "exec $THREADS >ids" 2>err >t.pipe || fail "$(cat err)"
	"$PERF_BPF" script -i t.pipe -F event | sort | uniq -c >events
	assert_equal "$(wc -l <events)" 2
	"$PERF_BPF" record -e dummy -C 0 --per-thread -o t.data true 2>err
	assert_contains err "-a, -C and --cgroup override --per-thread"
}

# The threads are there before it; the recording ends when both have ended.
test_threads_that_run_already() {
	mkfifo go1 go2
	bash -c 'read -r line <go1; exec true' &
	local first=$!
	bash -c 'read -r line <go2; exec true' &
	local second=$!
	"$PERF_BPF" record -q -e page-faults -c 1 --per-thread -p "$first,$second" -o t.data 2>log &
	local recorder=$!
	soon waits_for_events "$recorder"
	echo >go1
	echo >go2
	wait "$first" "$second"
	wait "$recorder" || fail "$(cat log)"
	"$PERF_BPF" script -i t.data -F tid | tr -d ' ' | sort -u >seen
	printf '%s\n' "$first" "$second" | sort >wanted
	assert_equal "$(cat seen)" "$(cat wanted)"
}

# All that the user has, with children; neither others nor what comes later by itself.
test_processes_of_a_user() {
	local user=48711
	[ "$(id -u)" = 0 ] || skip "recording another user needs root"
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	build_threads
	chmod 755 . pbt_threads
	mkfifo go
	setpriv --reuid $user --clear-groups bash -c "read -r line <&7; $THREADS; true" 7<>go >ids &
	local first=$!
	soon grep -q "^Uid:	$user" "/proc/$first/status"
	"$PERF_BPF" record -q -e page-faults -c 1 -u $user -o t.data 2>log &
	local recorder=$!
	trap "kill $first $recorder 2>/dev/null || :" EXIT
	soon waits_for_events "$recorder"
	$THREADS >/dev/null
	echo >go
	wait "$first"
	wait "$recorder" || fail "$(cat log)"
	assert_equal "$(samples_of main)" 50
	assert_equal "$(samples_of thread)" 50
	"$PERF_BPF" script -i t.data -F pid | tr -d ' ' | sort -u >seen
	head -n 1 ids | cat - <(echo "$first") | sort >wanted
	assert_equal "$(cat seen)" "$(cat wanted)"
	# Probes are recorded of these processes, too.
	setpriv --reuid $user --clear-groups bash -c "read -r line <&7; $THREADS; true" 7<>go >ids &
	first=$!
	soon grep -q "^Uid:	$user" "/proc/$first/status"
	"$PERF_BPF" record -q -e "probe:exec=./pbt_threads;main" -u $user -o t.data 2>log &
	recorder=$!
	soon waits_for_events "$recorder"
	$THREADS >/dev/null
	echo >go
	wait "$first"
	wait "$recorder" || fail "$(cat log)"
	"$PERF_BPF" script -i t.data -F pid | tr -d ' ' >seen
	assert_equal "$(cat seen)" "$(head -n 1 ids)"
	expect_status 1 "$PERF_BPF" record -q -e page-faults -u $user -o t.data
	assert_contains err "there are no processes of this user"
	expect_status 1 "$PERF_BPF" record -q -e page-faults -u nosuchuser -o t.data
	assert_contains err "nosuchuser"
}

test_without_bpf_events() {
	local loader=$BUILD/tests/cmd/program_loader
	[ "$(id -u)" = 0 ] || skip "loading programs needs root"
	"$PERF_BPF" record -q -e dummy -o t.data -- "$loader" pbtn 3 100 0 >/dev/null
	"$PERF_BPF" script -i t.data --show-bpf-events >with
	assert_contains with "PERF_RECORD_BPF_EVENT"
	"$PERF_BPF" record -q -e dummy --no-bpf-event -o t.data -- "$loader" pbtn 3 100 0 >/dev/null
	"$PERF_BPF" script -i t.data --show-bpf-events >without
	assert_equal "$(grep -c PERF_RECORD_BPF_EVENT without)" 0
	"$PERF_BPF" report -i t.data --header-only >head
	assert_equal "$(grep -c bpf_prog_info head)" 0
}

# What maps and begins on a CPU that is not recorded may come to one that is.
test_mappings_on_other_cpus() {
	[ "$(nproc)" -ge 2 ] && taskset -c 1 true || skip "needs the CPUs 0 and 1"
	"$PERF_BPF" record -q -e cpu-clock -c 10000000 -C 0 -o t.data -- taskset -c 1 cat /dev/null
	"$PERF_BPF" script -i t.data --show-mmap-events -C 1 >out
	grep -q 'cat .*PERF_RECORD_MMAP2' out || fail "no mappings on CPU 1"
	"$PERF_BPF" script -i t.data -F cpu >cpus
	assert_equal "$(grep -vc '\[000\]' cpus)" 0
}

run_tests
