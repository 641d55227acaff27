#!/usr/bin/env bash
# The program as people call it, by perf and on a terminal: Ctrl-C, Ctrl-Z, fg, and pipes that close.
. "$(dirname "$0")/../tap.sh"

# The shells, each on a terminal; see terminal.py for what is done there.
on_terminal() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	command -v python3 >/dev/null || skip "no python3"
	export PERF_BPF
	local shell ran=0
	for shell in "bash --norc --noprofile -i" "dash -i"; do
		command -v "${shell%% *}" >/dev/null || continue
		ran=$((ran + 1))
		mkdir "$ran" # each in a folder of its own
		(cd "$ran" && PATH=$(dirname "$PERF_BPF"):$PATH \
			python3 "$SRC/tests/cmd/terminal.py" "$shell" "$1") || fail "$shell: $1"
	done
	[ $ran -gt 0 ] || skip "neither bash nor dash is installed"
}

test_run_says_what_it_waits_for() {
	on_terminal message
}

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
