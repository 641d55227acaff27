#!/usr/bin/env bash
# Recordings compared, as perf diff --stdio does.
. "$(dirname "$0")/../tap.sh"
RECORDINGS=compared
. "$(dirname "$0")/../golden/golden.sh"

# same N OPTION...: of the first N recordings, both print the same
same() {
	local n=$1 files=()
	shift
	for i in $(seq "$n"); do files+=("$i.data"); done
	same_files "${files[@]}" "$@"
}

same_files() {
	perf_text diff "$@" >theirs
	golden diff "$@" >mine 2>mine.err </dev/null || fail "diff $*: $(cat mine.err)"
	[ "$(wc -l <theirs)" -gt 2 ] || fail "perf diff $*: printed nothing"
	cmp -s theirs mine || {
		diff theirs mine | head -20 | sed 's/^/# /'
		fail "diff $*: differs from perf diff"
	}
}

test_methods_are_perfs() {
	for method in delta delta-abs ratio wdiff:2,3 wdiff:1,-1; do
		same 2 -c $method
		same 3 -c $method -o 2 -p -F
	done
	same 2
	grep -qE '^ +[0-9.]+% +[+-][0-9.]+%  rbpf_work +\[\.\] beta$' mine || fail "beta is not compared"
	grep -qE '^ +\+[0-9.]+%  rbpf_work +\[\.\] gamma_$' mine || fail "gamma_ has a baseline"
}

test_columns_are_perfs() {
	same 3
	assert_contains mine "#  [0] 1.data (Baseline)"
	assert_contains mine "Delta Abs/2"
	same 2 -b
	! grep -q gamma_ mine || fail "-b shows what is not in the baseline"
	same 3 -b -p -F
	same 3 -o 0
	same 2 -q
	same 3 -q
	same 2 -t ,
	same 2 -t ';' -c ratio -p -F
}

test_keys_and_filters_are_perfs() {
	for keys in dso sym symbol comm comm,dso comm,dso,sym pid cpu time; do
		same 2 -s $keys
	done
	same 2 -C rbpf_work
	same 2 -C rbpf_work --percentage relative -F
	same 3 -d rbpf_work --percentage relative
	same 2 -S alpha,gamma_ -p
	same 2 --time 10%-50%
}

# A function that has moved in a new build is still compared with itself.
test_binaries_may_be_built_anew() {
	same_files old.data new.data
	grep -qE '^ +[0-9.]+% +-[0-9.]+%  job +\[\.\] alpha$' mine || fail "alpha is not one row"
}

# By type and config; what only one recording has is compared with nothing.
test_events_are_matched() {
	same_files 1.data faults.data
	same_files faults.data 1.data -c ratio
	assert_contains mine "# Event 'context-switches'"
}

test_values_for_programs() {
	golden diff --json 1.data 2.data >json
	golden diff -t ';' -q 1.data 2.data >text
	python3 - <<-'END' || fail "--json has other values than the text"
		import json
		rows = json.loads(open("json").readline())["rows"]
		lines = [l.rstrip("\n").split(";") for l in open("text") if l.strip()]
		for row, line in zip(rows, lines):
		    base = "" if row["baseline"] is None else "%.2f" % row["baseline"]
		    delta = "" if row["delta"] is None else "%+.2f%%" % row["delta"]
		    assert [base, delta, row["dso"]] == [f.strip() for f in line[:3]], (row, line)
	END
	golden diff --csv 1.data 2.data 3.data >csv
	assert_contains csv "event,baseline_0,delta_1,delta_2,dso,symbol"
}

test_which_recordings() {
	cp "$FILES/1.data" "$FILES/perf.data.old"
	cp "$FILES/2.data" "$FILES/perf.data"
	same_files -q
	same_files -q 3.data
	expect_status 2 golden diff -o 2
	assert_contains err "--order: '2' is not a number from 0 to 1"
	expect_status 2 golden diff -c ratios
	assert_contains err "--compute: unknown method 'ratios'"
	expect_status 2 golden diff -c wdiff:0,1
	assert_contains err "'wdiff:0,1' has invalid weights"
	expect_status 2 golden diff -s overhead
	assert_contains err "unknown sort key 'overhead'"
	expect_status 2 golden diff --time 1,2:3,4:5,6
	assert_contains err "has 3 parts for 2 recordings"
	expect_status 1 golden diff perf.data nothing.data
	assert_contains err "nothing.data: cannot open"
	# what is there of a truncated recording is compared, and the status says so
	head -c $(($(stat -c %s "$FILES/perf.data") / 2)) "$FILES/perf.data" >cut.data
	expect_status 1 golden diff perf.data.old "$PWD/cut.data"
	assert_contains err "cut.data: the recording is truncated"
	assert_contains out "alpha"
	# a time of its own for each
	golden diff --time 0%-50%:50%-100% -p -q perf.data perf.data >halves
	golden report -i perf.data --time 50%-100% -F period,dso,sym -q >second
	[ "$(awk '/alpha/ { print $4 }' halves)" = "$(awk '/alpha/ { print $1 }' second)" ] ||
		fail "the second half is another"
}

run_tests
