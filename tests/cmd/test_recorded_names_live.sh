#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What record keeps for names: the command, build ids, and copies of the files that ran.
. "$(dirname "$0")/../tap.sh"

PERF=$(command -v perf || true)
# Not /tmp/perf-…: perf takes such a path for the names of a JIT.
FILES=$(mktemp -d "${TMPDIR:-/tmp}/names-of-perf-bpf.XXXXXX")

tests_end() {
	rm -rf "$FILES"
}
need_perf() {
	[ -n "$PERF" ] || skip "linux-perf is not installed"
	[ "$(id -u)" = 0 ] || skip "recording needs root"
}
# build NAME FILE: a program that spends its time in the function NAME
build() {
	cat >"$1.c" <<-END
		static volatile unsigned sink;
		__attribute__((noinline)) static void $1(unsigned n)
		{
			for (unsigned i = 0; i < n; i++)
				sink = sink * 31 + i;
		}
		int main(void)
		{
			for (int i = 0; i < 40; i++)
				$1(1000000);
			return 0;
		}
	END
	gcc -O1 -g -Wl,--build-id=sha1 -o "$2" "$1.c"
}
# What our recorder writes before the exec is what perf writes.
test_the_workload_before_its_exec() {
	need_perf
	"$PERF_BPF" record -q -e cpu-clock -e sched:sched_process_exec -o data true
	"$PERF_BPF" script -i data --show-task-events >out
	[ "$(grep -c 'PERF_RECORD_COMM: perf-exec:' out)" = 1 ] || {
		cat out
		fail "no record COMM of perf-exec"
	}
	assert_contains out "PERF_RECORD_COMM exec: true:"
	! grep -E '^ *:[0-9]+ ' out || fail "a sample has no name"
	! grep -E '^ *perf-bpf ' out || fail "a sample of the workload has our name"
}
# Its name must be there before the first event, however late the child runs.
test_a_workload_that_is_late() {
	LD_PRELOAD=$BUILD/tests/cmd/late_workload.so ASAN_OPTIONS=verify_asan_link_order=0 \
		"$PERF_BPF" record -q -e sched:sched_process_exec -o data true
	"$PERF_BPF" script -i data --show-task-events >out
	assert_equal "$(grep -c 'PERF_RECORD_COMM: perf-exec:' out)" 1
	! grep -E '^ *perf-bpf ' out || fail "a sample of the workload has our name"
}
test_command_line_begins_with_the_program() {
	need_perf
	"$PERF_BPF" record -q -e cpu-clock -o data true
	"$PERF_BPF" script -i data --header-only >out
	grep '^# cmdline' out >line || fail "the header has no command line"
	assert_equal "$(cat line)" "# cmdline : $(readlink -f "$PERF_BPF") record -q -e cpu-clock -o data true "
	"$PERF" script -i data --header-only 2>/dev/null | grep '^# cmdline' >theirs
	cmp line theirs
}
# rows COMMAND...: the DSOs and symbols of a report
rows() {
	"$@" 2>/dev/null </dev/null | awk '!/^#/ && NF { print $2, $4 }' | grep -v kernel | sort -u
}
# After a rebuild, a recording of ours has the names of then, as one of perf has.
test_names_after_a_rebuild() {
	need_perf
	cd "$FILES"
	mkdir home
	export HOME=$PWD/home PERF_BUILDID_DIR=
	build names_of_then work
	"$PERF_BPF" record -q -e cpu-clock:u -c 500000 -o kept ./work 2>err || fail "$(cat err)"
	[ -d home/.debug/.build-id ] || fail "the build-id cache was not filled"
	cp -r home/.debug first
	"$PERF_BPF" record -q -N -e cpu-clock:u -c 500000 -o other ./work
	diff -r home/.debug first || fail "-N wrote to the cache"
	"$PERF_BPF" report -i kept -s dso,sym >before
	assert_contains before names_of_then
	build names_of_now work
	"$PERF_BPF" report -i kept -s dso,sym >after
	cmp before after || fail "the report changes with the file"
	rows "$PERF_BPF" report -i kept -s dso,sym >mine
	rows "$PERF" report --stdio -i kept -s dso,sym >theirs
	diff theirs mine || fail "perf finds other names in our cache"
	"$PERF_BPF" script -i kept -F ip,sym >out
	assert_contains out names_of_then

	# Elsewhere: by the configuration, and by what perf sets.
	rm -r home/.debug
	printf '[buildid]\n\tdir = %s\n' "$PWD/first" >config
	PERF_CONFIG=$PWD/config "$PERF_BPF" report -i kept -s dso,sym >after
	assert_contains after names_of_then
	PERF_BUILDID_DIR=$PWD/first "$PERF_BPF" report -i kept -s dso,sym >after
	assert_contains after names_of_then
	"$PERF_BPF" report -i kept -s dso,sym >after
	! grep -e names_of_then -e names_of_now after || fail "names without the file"
	printf '[record]\n\tbuild-id = no-cache\n' >config
	PERF_CONFIG=$PWD/config "$PERF_BPF" record -q -e cpu-clock:u -o other ./work
	[ ! -e home/.debug ] || fail "record.build-id = no-cache was ignored"
	printf '[record]\n\tbuild-id = sometimes\n' >config
	PERF_CONFIG=$PWD/config expect_status 1 "$PERF_BPF" record -q -e cpu-clock:u -o other ./work
	assert_contains err "record.build-id has the invalid value 'sometimes'"
}
# The symbols of the kernel that was recorded are kept.
test_kallsyms_are_kept() {
	need_perf
	export PERF_BUILDID_DIR=$PWD/ids
	"$PERF_BPF" record -q -e cpu-clock -c 250000 -o data dd if=/dev/zero of=/dev/null count=100000 2>err
	[ "$(awk '$1 !~ /^0*$/ { print; exit }' /proc/kallsyms)" ] || skip "kallsyms hides the addresses"
	kept=$(find ids/.build-id/ -name '[0-9a-f]*' -type l -exec ls {}/kallsyms ';' 2>/dev/null)
	# programs of BPF come and go
	cmp <(grep -vE "\[(bpf|__builtin__.*)\]" "$kept") <(grep -vE "\[(bpf|__builtin__.*)\]" /proc/kallsyms) ||
		fail "the copy of /proc/kallsyms differs"
}
# A process in another mount namespace, whose file is not what is at its path here.
test_build_id_of_the_file_that_ran() {
	need_perf
	mkdir inside at
	build names_of_inside inside/work
	build names_of_outside at/work
	unshare -m true 2>/dev/null || skip "no mount namespaces"
	"$PERF_BPF" record -q -e cpu-clock:u -c 500000 -o data \
		unshare -m sh -c "mount --bind $PWD/inside $PWD/at && exec $PWD/at/work"
	"$PERF" buildid-list -i data >ids
	wrong=$(file -b at/work | sed 's/.*BuildID\[sha1\]=\([0-9a-f]*\).*/\1/')
	[ ${#wrong} = 40 ] || skip "no file(1) that prints build ids"
	! grep "$wrong" ids || fail "the recording has the build id of another file"
}

run_tests
