#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# perf's own tests of record, report and script, with perf-bpf in its place; and files that newer
# perf makes of recordings.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/perf_tests.sh"

run() { perf_test "$1" record report script annotate diff top; }

test_header() { run header; }
test_evlist() { run evlist; }
test_data_validation() { run data_validation; }
test_data_file_offset_diagnostics() { run data_file_offset_diagnostics; }
test_dwarf_unwind_multithreaded() { run test_dwarf_unwind_multithreaded; }
test_hierarchy() { run perf-report-hierarchy; }
test_compressed() { run record+zstd_comp_decomp; }
# It counts records of the type that this perf writes.
test_compressed_by_thread() {
	printf '[record]\n\tcompressed2 = true\n' >config
	PERF_CONFIG=$PWD/config run record+zstd_comp_decomp_multi_record
	grep -q '^Produced [0-9]* compressed records' out || fail "$(cat out)"
}
test_sideband() { run record_sideband; }
test_off_cpu() { run record_offcpu; }
test_inlined_functions() { run addr2line_inlines; }

test_record() { run record; }
test_filters_of_samples() { run record_bpf_filter; }
test_script() { run script; }
test_python_scripts() { run script_python; }
test_scripts_by_name() { run test_task_analyzer; }
test_annotate() { run annotate; }
test_diff() { run diff; }
test_top() { run top; }
test_pipes() { run pipe_test; }
test_build_ids() { run buildid; }
test_inject_callchains() { run inject-callchain; }
test_weak_terms() { run record_weak_term; }
test_data_converter() {
	run test_perf_data_converter_json
	run test_perf_data_converter_ctf
}
# The others compare what is printed while recording, where perf's name stands.
test_options_of_report() { perf_test perftool-testsuite_report report; }

# All tests that this perf has are in the list; those that pass, and no others, are among the tests here.
test_all_tests_are_listed() {
	local perf tests
	perf=$("$SRC/tests/vm/fetch-perf" sid) || skip "$perf"
	tests=${perf%/*}/usr/lib/perf-core/tests/shell
	[ -d "$tests" ] || skip "this perf comes without its tests"
	(cd "$tests" && { ls -- *.sh | sed 's/\.sh$//'; ls -d coresight; }) | sort >theirs
	sed '/^#/d' "$SRC/tests/peers/perf_shell_tests.txt" >list
	awk '$2 != "passes" && !($2 == "no:" && NF > 2)' list >odd
	[ ! -s odd ] || fail "neither passes nor has a reason: $(cat odd)"
	cut -d ' ' -f 1 list | sort >ours
	diff theirs ours >missing || fail "the list differs: $(tr '\n' ' ' <missing)"
	grep -hoE '\b(run|perf_test) [a-z][a-z0-9_+-]*' \
		"$SRC"/tests/peers/test_perf_{recordings,trace}.sh | cut -d ' ' -f 2 | sort -u >run
	sed -n 's/ passes$//p' list | sort >passes
	diff passes run >missing || fail "run, and in the list as passing: $(tr '\n' ' ' <missing)"
}

# Of a pipe, perf inject of 7.2 makes a file whose events are over the table of build ids.
test_a_file_that_perf_injected() {
	local perf
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	perf=$("$SRC/tests/vm/fetch-perf" sid) || skip "$perf"
	"$perf" record -q -e cpu-clock -o - -- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done' \
		>in.pipe 2>/dev/null
	"$perf" inject -b -i in.pipe -o injected
	"$PERF_BPF" script -i in.pipe >want
	[ -s want ] || fail "nothing was recorded"
	"$PERF_BPF" script -i injected >got 2>err
	cmp want got || { diff want got | head -20; fail "the file is shown otherwise"; }
	assert_equal "$(cat err)" ""
}

test_page_names_all_options() {
	local perf command
	perf=$("$SRC/tests/vm/fetch-perf" sid) || skip "$perf"
	for command in record report script; do
		"$perf" $command -h 2>&1 | sed -n 's/^ \{4,8\}\(-[A-Za-z0-9], \)\{0,1\}--\([A-Za-z][A-Za-z0-9-]*\).*/\2/p' |
			sort -u >options
		[ "$(wc -l <options)" -ge 40 ] || fail "perf $command -h: $(wc -l <options) options"
		sed -n "/^\.Sh PERF ${command^^}$/,/^\.El$/p" "$SRC/man/perf-bpf-perf-options.7" |
			sed -n 's/^\.It .*Fl -//p' | sort -u >page
		comm -23 options page >missing
		[ ! -s missing ] || fail "perf $command has $(tr '\n' ' ' <missing)"
	done
}

run_tests
