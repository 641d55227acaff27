#!/usr/bin/env bash
# Of what record keeps samples and other records: -C with a task that is on another CPU.
. "$(dirname "$0")/../tap.sh"

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
