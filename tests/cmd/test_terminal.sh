#!/usr/bin/env bash
# The program as people call it, by perf and on a terminal: Ctrl-C, Ctrl-Z, fg, and pipes that close.
. "$(dirname "$0")/../tap.sh"

# unread COMMAND...: its status, written to ./status, when nobody reads its output any more.
unread() {
	mkfifo unread
	{ exec 9>unread; touch opened; soon test -e closed; status=0
		"$@" >&9 2>err || status=$?; echo $status >status; } &
	exec 8<unread
	soon test -e opened
	exec 8<&-
	touch closed
	wait
	rm unread opened closed
}

test_output_that_nobody_reads_ends_a_command_quietly() {
	for command in --help "features" "script --help" "map --help" "run --list"; do
		unread "$PERF_BPF" $command
		assert_equal "$command: $(cat status)" "$command: 0"
		[ ! -s err ] || { cat err; fail "$command complains"; }
	done
	# perf reads a death by SIGPIPE as a failure to run perf-bpf
	command -v perf >/dev/null || skip "perf is not installed"
	PATH=$(dirname "$PERF_BPF"):$PATH
	unread perf bpf features
	assert_equal "$(cat status)" 0
	[ ! -s err ] || { cat err; fail "perf complains"; }
}

test_a_run_whose_output_nobody_reads_writes_its_files() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	unread "$PERF_BPF" run syscount --interval 50ms --html page.html
	assert_equal "$(cat status)" 0
	[ ! -s err ] || { cat err; fail "run complains"; }
	[ -s page.html ] || fail "no page was written"
}

run_tests
