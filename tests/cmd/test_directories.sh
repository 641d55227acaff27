#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Recordings that are directories: those of perf record --threads.
. "$(dirname "$0")/../tap.sh"
RECORDINGS=directories
. "$(dirname "$0")/../golden/golden.sh"
. "$(dirname "$0")/numbers.sh"

test_of_perf() {
	assert_numbers "$PERF_BPF" "$FILES/t.dir" 3000
	[ ! -s err ] || { cat err; fail "a warning"; }
	"$PERF_BPF" report --stdio -i "$FILES/t.dir" --header -I -F sample >text
	assert_contains text '# directory data version : 1'
	grep -qE '^ +3000 *$' text || { cat text; fail "report counts otherwise"; }
}

test_of_perf_compressed() {
	assert_numbers "$PERF_BPF" "$FILES/z.dir" 3000
}

test_damaged() {
	local n
	cp -r "$FILES/t.dir" .
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
	cp -r "$FILES/t.dir" .
	mkfifo t.dir/data.7
	expect_status 1 "$PERF_BPF" script -i t.dir
	assert_contains err 't.dir/data.7'
	rm t.dir/data.7
	mv t.dir/data there
	ln -s ../there t.dir/data
	expect_status 1 "$PERF_BPF" script -i t.dir
}

run_tests
