#!/usr/bin/env bash
# The program as others call it: by perf, and with what is no command.
. "$(dirname "$0")/../tap.sh"

test_perf_runs_it_as_a_command_of_its_own() {
	command -v perf >/dev/null || skip "perf is not installed"
	PATH=$(dirname "$PERF_BPF"):$PATH
	expect_status 0 perf bpf --version
	assert_equal "$(cat out)" "$("$PERF_BPF" --version)"
	expect_status 0 perf bpf script --help
	"$PERF_BPF" script --help >help
	cmp out help
	expect_status 2 perf bpf scirpt
	assert_contains err "did you mean 'script'?"
	expect_status 1 perf bpf script -i /no/such/file
}

test_a_mistyped_option_is_told_its_neighbours() {
	expect_status 2 "$PERF_BPF" run --timoeut 1 x.bpf.c
	assert_contains err "perf-bpf run has no option --timoeut"
	assert_contains err "did you mean '--timeout'?"
	expect_status 2 "$PERF_BPF" record -Q true
	assert_contains err "perf-bpf record has no option -Q"
	assert_contains err "did you mean -q (--quiet)? 'perf-bpf record --help' lists all options"
	expect_status 2 "$PERF_BPF" trace -aZ true
	assert_contains err "perf-bpf trace has no option -Z"
	assert_contains err "hint: 'perf-bpf trace --help' lists them"
	expect_status 2 "$PERF_BPF" trace $'-\e[2J' true
	assert_contains err "has no option of byte 0x1b"
	expect_status 2 "$PERF_BPF" script --jsn=3
	assert_contains err "did you mean '--json'"
	# What only looks like an option: a value, a beginning of a name, a word of the command's.
	expect_status 1 "$PERF_BPF" script --inp /no/such/file
	assert_contains err "/no/such/file"
	expect_status 1 "$PERF_BPF" script -i --jsn
	assert_contains err "No such file"
	expect_status 1 "$PERF_BPF" record -q -o t.data -e no-such-event -- ls --jsn
	assert_contains err "no-such-event"
}

test_a_full_disk_is_told() {
	[ -c /dev/full ] || skip "there is no /dev/full"
	for command in --help --version help; do
		status=0
		"$PERF_BPF" $command >/dev/full 2>err || status=$?
		assert_equal $status 1
		assert_contains err "No space left on device"
	done
}

run_tests
