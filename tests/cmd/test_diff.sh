#!/usr/bin/env bash
# Recordings compared, as perf diff --stdio does. Without linux-perf there is nothing to compare with.
. "$(dirname "$0")/../tap.sh"
# perf reads the build-id cache in the user's home, and so do we here.
BUILDID_CACHE_OF_PERF=yes

PERF=$(command -v perf || true)
FILES=$(mktemp -d "${TMPDIR:-/tmp}/diff-of-perf-bpf.XXXXXX")
tests_end() {
	rm -rf "$FILES"
}

# build NAME OPTION...: a program that spends its arguments in three functions
build() {
	local name=$1
	shift
	cat >"$FILES/work.c" <<-'END'
		#include <stdlib.h>
		#include <sys/mman.h>
		static volatile unsigned sink;
		#ifdef MORE
		__attribute__((noinline)) void another(void) { for (int i = 0; i < 1000; i++) sink += i * i; }
		#endif
		__attribute__((noinline)) void alpha(int n) { for (int i = 0; i < n; i++) sink = sink * 31 + i; }
		__attribute__((noinline)) void beta(int n) { for (int i = 0; i < n; i++) sink = sink * 37 + i; }
		__attribute__((noinline)) void gamma_(int n) { for (int i = 0; i < n; i++) sink = sink * 41 + i; }
		/* at all times: perf has no number for what begins after a recording without such events */
		__attribute__((noinline)) void fault(char *page) { madvise(page, 4096, MADV_DONTNEED); *page = 1; }
		int main(int argc, char **argv)
		{
		#ifdef MORE
			another();
		#endif
			char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			for (int i = 0; i < 400; i++) {
				fault(page);
				alpha(atoi(argv[1]));
				beta(atoi(argv[2]));
				if (atoi(argv[3])) /* a call that does nothing may be hit by the clock */
					gamma_(atoi(argv[3]));
			}
			return 0;
		}
	END
	mkdir -p "$(dirname "$FILES/$name")"
	gcc -O1 "$@" -o "$FILES/$name" "$FILES/work.c" || skip "the workload does not build here"
}

need_recordings() {
	[ -n "$PERF" ] || skip "linux-perf is not installed"
	[ ! -e "$FILES/3.data" ] || return 0
	build work
	record 1.data work 30000 10000 0
	record 2.data work 10000 20000 5000
	record 3.data work 15000 15000 10000
}

# record FILE PROGRAM ARGUMENT...
record() {
	local file=$1 program=$2
	shift 2
	"$PERF" record -q -N -o "$FILES/$file" -e cpu-clock/period=250000,name=cpu-clock/ \
		-e minor-faults/period=3,name=minor-faults/ -- "$FILES/$program" "$@" 2>record.err ||
		fail "perf record: $(cat record.err)"
}

# same N OPTION...: of the first N recordings, both print the same
same() {
	local n=$1 files=()
	shift
	for i in $(seq "$n"); do files+=("$FILES/$i.data"); done
	same_files "${files[@]}" "$@"
}

same_files() {
	"$PERF" diff "$@" >theirs 2>theirs.err </dev/null || fail "perf diff $*: $(cat theirs.err)"
	"$PERF_BPF" diff "$@" >mine 2>mine.err </dev/null || fail "diff $*: $(cat mine.err)"
	[ "$(wc -l <theirs)" -gt 2 ] || fail "perf diff $*: printed nothing"
	cmp -s theirs mine || {
		diff theirs mine | head -20 | sed 's/^/# /'
		fail "diff $*: differs from perf diff"
	}
}

test_methods_are_perfs() {
	need_recordings
	for method in delta delta-abs ratio wdiff:2,3 wdiff:1,-1; do
		same 2 -c $method
		same 3 -c $method -o 2 -p -F
	done
	same 2
	grep -qE '^ +[0-9.]+% +[+-][0-9.]+%  work +\[\.\] beta$' mine || fail "beta is not compared"
	grep -qE '^ +\+[0-9.]+%  work +\[\.\] gamma_$' mine || fail "gamma_ has a baseline"
}

test_columns_are_perfs() {
	need_recordings
	same 3
	assert_contains mine "#  [0] $FILES/1.data (Baseline)"
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
	need_recordings
	for keys in dso sym symbol comm comm,dso comm,dso,sym pid cpu time; do
		same 2 -s $keys
	done
	same 2 -C work
	same 2 -C work --percentage relative -F
	same 3 -d work,libc.so.6,ld-linux-x86-64.so.2 --percentage relative
	same 2 -S alpha,gamma_ -p
	same 2 --time 10%-50%
}

# A function that has moved in a new build is still compared with itself.
test_binaries_may_be_built_anew() {
	need_recordings
	build old/job
	build new/job -DMORE
	[ "$(nm "$FILES/old/job" | grep ' alpha')" != "$(nm "$FILES/new/job" | grep ' alpha')" ] ||
		skip "the functions are where they were"
	record old.data old/job 20000 10000 100
	record new.data new/job 10000 20000 100
	same_files "$FILES/old.data" "$FILES/new.data"
	grep -qE '^ +[0-9.]+% +-[0-9.]+%  job +\[\.\] alpha$' mine || fail "alpha is not one row"
}

# By type and config; what only one recording has is compared with nothing.
test_events_are_matched() {
	need_recordings
	"$PERF" record -q -N -o "$FILES/faults.data" -e minor-faults -c 2 -e context-switches \
		-- "$FILES/work" 1 1 1 2>record.err || fail "perf record: $(cat record.err)"
	same_files "$FILES/1.data" "$FILES/faults.data"
	same_files "$FILES/faults.data" "$FILES/1.data" -c ratio
	assert_contains mine "# Event 'context-switches'"
}

test_values_for_programs() {
	need_recordings
	"$PERF_BPF" diff --json "$FILES/1.data" "$FILES/2.data" >json
	"$PERF_BPF" diff -t ';' -q "$FILES/1.data" "$FILES/2.data" >text
	python3 - <<-'END' || fail "--json has other values than the text"
		import json
		rows = json.loads(open("json").readline())["rows"]
		lines = [l.rstrip("\n").split(";") for l in open("text") if l.strip()]
		for row, line in zip(rows, lines):
		    base = "" if row["baseline"] is None else "%.2f" % row["baseline"]
		    delta = "" if row["delta"] is None else "%+.2f%%" % row["delta"]
		    assert [base, delta, row["dso"]] == [f.strip() for f in line[:3]], (row, line)
	END
	"$PERF_BPF" diff --csv "$FILES/1.data" "$FILES/2.data" "$FILES/3.data" >csv
	assert_contains csv "event,baseline_0,delta_1,delta_2,dso,symbol"
}

test_which_recordings() {
	need_recordings
	cp "$FILES/1.data" perf.data.old
	cp "$FILES/2.data" perf.data
	cp "$FILES/3.data" 3.data
	same_files -q
	same_files -q 3.data
	expect_status 2 "$PERF_BPF" diff -o 2
	assert_contains err "--order: '2' is not a number from 0 to 1"
	expect_status 2 "$PERF_BPF" diff -c ratios
	assert_contains err "--compute: unknown method 'ratios'"
	expect_status 2 "$PERF_BPF" diff -c wdiff:0,1
	assert_contains err "'wdiff:0,1' has invalid weights"
	expect_status 2 "$PERF_BPF" diff -s overhead
	assert_contains err "unknown sort key 'overhead'"
	expect_status 2 "$PERF_BPF" diff --time 1,2:3,4:5,6
	assert_contains err "has 3 parts for 2 recordings"
	expect_status 1 "$PERF_BPF" diff perf.data nothing.data
	assert_contains err "nothing.data: cannot open"
	# what is there of a truncated recording is compared, and the status says so
	head -c $(($(stat -c %s perf.data) / 2)) perf.data >cut.data
	expect_status 1 "$PERF_BPF" diff perf.data.old cut.data
	assert_contains err "cut.data: the recording is truncated"
	assert_contains out "alpha"
	# a time of its own for each
	"$PERF_BPF" diff --time 0%-50%:50%-100% -p -q perf.data perf.data >halves
	"$PERF_BPF" report -i perf.data --time 50%-100% -F period,dso,sym -q >second
	[ "$(awk '/alpha/ { print $4 }' halves)" = "$(awk '/alpha/ { print $1 }' second)" ] ||
		fail "the second half is another"
}

run_tests
