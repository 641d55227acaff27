#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Recordings of other kernels and of newer versions of perf: what perf-bpf does not write itself.
. "$(dirname "$0")/../tap.sh"

make_recording() {
	"$SRC/tests/cmd/other_recording.py" /opt/prog >data
}

report() {
	"$PERF_BPF" report -i data "$@"
}

# Kernels 3.12 to 3.15, and that of CentOS 7, have neither prot nor flags before the name.
test_mmap2_without_prot_and_flags() {
	make_recording
	report -q --stdio -s dso >out 2>err || fail "$(cat err)"
	grep -qE '100\.00% +prog *$' out || fail "$(cat out)"
	"$PERF_BPF" script -i data --show-mmap-events 2>/dev/null >out
	assert_contains out 'PERF_RECORD_MMAP2 7/7: [0x400000(0x10000) @ 0 08:01 1234 0]: --xp /opt/prog' ||
		fail "$(cat out)"
	# a program that reads all of it finds nothing damaged
	expect_status 0 "$PERF_BPF" script -i data
}

test_the_header() {
	make_recording
	TZ=UTC report --header-only -I >out 2>err
	assert_contains out '# clockid: monotonic (1)'
	assert_contains out '# reference time: 2023-11-14 22:13:20.123456 = 1700000000.123456 (TOD) = 5.000000042 (monotonic)'
	assert_contains out '# e_machine : 183'
	assert_contains out '#   e_flags : 5'
	assert_contains out '# cacheline size: 128'
}

# The number of samples, not of records, under the event that lost them.
test_lost_samples_of_an_event() {
	make_recording
	report --stats >out 2>err
	sed -n '/cpu-clock.* stats:/,$p' out >event
	grep -qE '^ +LOST_SAMPLES events: +42$' event || fail "$(cat out)"
	grep -qE '^ +LOST_SAMPLES events: +1 ' out || fail "$(cat out)"
}

# Said once, however often it comes.
test_aux_data_is_named() {
	make_recording
	for command in "report --stdio" script; do
		# shellcheck disable=SC2086
		"$PERF_BPF" $command -i data >/dev/null 2>err
		assert_equal "$(grep -c 'hardware trace data (AUX), such as of Intel PT or Arm SPE, is not decoded' err)" 1
	done
}

test_names_of_ocaml() {
	cat >caml.c <<-'END'
		__attribute__((noinline)) void camlStdlib__List__map_123(void) { for (volatile long i = 0; i < 300000000; i++); }
		int main(void) { camlStdlib__List__map_123(); }
	END
	gcc -O1 -o caml caml.c
	"$PERF_BPF" record -q -e cpu-clock:u -o caml.data -- ./caml 2>err || skip "$(cat err)"
	"$PERF_BPF" report -q --stdio -i caml.data -s sym >out
	grep -qE ' Stdlib\.List\.map_123 *$' out || fail "$(cat out)"
	"$PERF_BPF" report -q --stdio --no-demangle -i caml.data -s sym >out
	grep -qE ' camlStdlib__List__map_123 *$' out || fail "$(cat out)"
}

run_tests
