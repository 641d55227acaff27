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

# What follows is perf's: it forks us, waits for our end, and dies of Ctrl-C at once.
with_perf() {
	command -v perf >/dev/null || skip "perf is not installed"
	on_terminal "$1"
}

test_ctrl_c_ends_a_recording_before_the_prompt_returns() {
	with_perf ctrl_c_record
}

test_ctrl_c_shows_the_results_before_the_prompt_returns() {
	with_perf ctrl_c_run
}

test_ctrl_c_ends_a_script_after_the_recording() {
	with_perf script
}

test_ctrl_c_ends_a_profile() {
	with_perf ctrl_c_profile
}

test_ctrl_z_and_fg_of_a_recording() {
	with_perf ctrl_z_record
	rm -r [12]
	with_perf ctrl_z_twice
}

test_ctrl_z_and_fg_of_a_run() {
	with_perf ctrl_z_run
	rm -r [12]
	with_perf live
}

test_bg_leaves_the_terminal_to_the_shell() {
	with_perf background
	rm -r [12]
	with_perf ampersand
}

test_a_workload_in_the_background_stops_for_its_input() {
	with_perf reads_in_background
}

test_the_terminal_stays_with_a_pipeline() {
	with_perf pipeline
}

test_a_killed_perf_ends_the_recording() {
	with_perf killed_perf
}

test_a_signal_to_perf_bpf_is_no_failure_of_perf() {
	with_perf killed_child
	cd 1
	PATH=$(dirname "$PERF_BPF"):$PATH
	setsid perf bpf record -o d -e cpu-clock -- sh -c ': >begun; exec sleep 100' </dev/null >out 2>&1 &
	perf=$!
	soon test -e begun
	kill "$(pgrep -P "$perf" -x perf-bpf)"
	status=0
	wait "$perf" || status=$?
	assert_equal $status 143
	assert_contains out "Captured and wrote"
	! grep FATAL out || fail "perf complains"
}

test_run_ends_with_the_processes_that_are_named() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	sleep 100 & first=$!
	sleep 100 & second=$!
	"$PERF_BPF" run syscount -p $first,$second --json >out 2>err &
	run=$!
	soon loaded_by $run
	kill $first
	wait $first || true
	[ -d /proc/$run ] || fail "it ended with the first of two"
	kill $second
	wait $run || fail "it failed"
	assert_contains out '"name"'
	[ ! -s err ] || fail "$(cat err)"
	# a thread: the last one of a process is its first here
	sleep 100 & third=$!
	"$PERF_BPF" run syscount -t $third >out 2>err &
	run=$!
	soon loaded_by $run
	kill $third
	wait $run || fail "it failed"
}

# Whether a process has BPF links.
loaded_by() {
	readlink "/proc/$1/fd/"* | grep -q 'anon_inode:.*perf_event'
}

test_run_refuses_processes_that_are_not_there() {
	command -v python3 >/dev/null || skip "no python3"
	sleep 0 &
	wait $!
	expect_status 1 "$PERF_BPF" run syscount -p $!
	assert_contains err "process $! does not exist"
	expect_status 1 "$PERF_BPF" run syscount -t $!
	assert_contains err "thread $! does not exist"
	expect_status 1 "$PERF_BPF" run syscount -p 1x
	assert_contains err "-p: '1x' is not a list of process ids"
	# it has ended, but nobody has waited for it
	python3 -c 'if 1:
		import os, time
		child = os.fork()
		if child == 0:
			os._exit(0)
		os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
		with open("zombie.new", "w") as file:
			print(child, file=file)
		os.rename("zombie.new", "zombie")
		time.sleep(100)' &
	soon test -e zombie
	expect_status 1 "$PERF_BPF" run syscount -p "$(cat zombie)"
	assert_contains err "does not exist"
	kill $!
}

test_run_knows_a_command_among_its_programs() {
	expect_status 2 "$PERF_BPF" run syscount sleep 1
	assert_contains err "'sleep' is not a BPF program"
	assert_contains err "hint: write the command after '--': perf-bpf run syscount -- sleep 1"
	expect_status 1 "$PERF_BPF" run syscount runqlta
	assert_contains err "did you mean 'runqlat'?"
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

# full [--both] COMMAND...: starts it in $pid with an output (--both: and an error output) that
# is a full pipe, and waits until it writes. SIGINT does for it what it does at a terminal.
full() {
	local fds=1
	[ "$1" != --both ] || { fds=2; shift; }
	rm -f full
	mkfifo full
	exec {hold}<>full
	dd if=/dev/zero of=full bs=4096 oflag=nonblock status=none 2>/dev/null && fail "the pipe is not full"
	if [ $fds = 2 ]; then
		env --default-signal=INT "$@" >full 2>&1 {hold}>&- &
	else
		env --default-signal=INT "$@" >full 2>err {hold}>&- &
	fi
	pid=$!
	soon waits_for_room $pid
}

# In write(2), or in poll(2) for it; not in epoll_wait(2).
waits_for_room() {
	grep -qE 'pipe_write|poll_schedule' "/proc/$1/wchan"
}

has_ended() {
	! grep -q '^State:[[:space:]]*[^Z]' "/proc/$1/status" 2>/dev/null
}

# ends_by_sigint STATUS: at once, and none of its programs stays in the kernel.
ends_by_sigint() {
	local status=0 programs
	programs=$("$PERF_BPF" prog list | awk -v user="($pid)" '
		/^[0-9]+: / { id = $1 }
		/^\tpids / && index($0, user) { print "^" id }')
	kill -INT $pid
	soon has_ended $pid
	wait $pid || status=$?
	exec {hold}>&-
	assert_equal "$status" "$1"
	[ -z "$programs" ] || soon are_unloaded "$programs"
}

are_unloaded() {
	! "$PERF_BPF" prog list | grep -q "$1"
}

test_ctrl_c_ends_a_command_whose_output_nobody_reads() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	env --default-signal=INT true 2>/dev/null || skip "env has no --default-signal"
	"$PERF_BPF" record -q -o perf.data -e task-clock -c 1000000 -- sh -c \
		'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'
	full "$PERF_BPF" script -i perf.data
	ends_by_sigint 130
	full "$PERF_BPF" report -i perf.data
	ends_by_sigint 130
	full "$PERF_BPF" record -o - -e task-clock -- sleep 1000
	ends_by_sigint 1
	assert_contains err 'the reader of the output does not read it'
	full "$PERF_BPF" run -q syscount --interval 50ms
	ends_by_sigint 0
	full --both "$PERF_BPF" run syscount --interval 50ms
	ends_by_sigint 0
	full --both "$PERF_BPF" watch
	ends_by_sigint 0
	full --both "$PERF_BPF" trace -e openat -- sh -c 'echo $$ >workload; while :; do read x </dev/null; done'
	ends_by_sigint 0
	soon has_ended "$(cat workload)"
}

# At its end as well: Ctrl-C came while there was room, and then there is none.
test_ctrl_c_ends_a_recording_whose_reader_has_stopped() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	env --default-signal=INT true 2>/dev/null || skip "env has no --default-signal"
	rm -f full
	mkfifo full
	exec {hold}<>full
	env --default-signal=INT "$PERF_BPF" record -o - -e task-clock -- sleep 1000 >full 2>err {hold}>&- &
	pid=$!
	soon grep -q epoll "/proc/$pid/wchan"
	dd if=/dev/zero of=full bs=4096 oflag=nonblock status=none 2>/dev/null && fail "the pipe is not full"
	ends_by_sigint 1
	assert_contains err 'the reader of the output does not read it'
}

# What the reader does not take in time is lost in the rings, and counted.
test_what_a_slow_reader_does_not_take_is_counted() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -d /sys/kernel/tracing/events/syscalls ] || skip "tracefs with events of system calls is not mounted"
	mkfifo slow
	exec {hold}<>slow
	"$PERF_BPF" record -m 8 -o - -e syscalls:sys_enter_getpriority -- \
		"$BUILD/tests/cmd/counted" 20000 >slow 2>err {hold}>&- &
	pid=$!
	soon has_worked $pid # more than the pipe and the rings hold, and nothing was read
	"$PERF_BPF" script -i - -F comm <slow 2>script.err {hold}>&- >lines &
	local script=$!
	exec {hold}>&-
	wait $pid || fail "record: $(cat err)"
	wait $script || :
	local lost
	lost=$(sed -n 's/.*samples, [0-9]* bytes, \([0-9]*\) lost.*/\1/p' err)
	[ "${lost:-0}" -gt 0 ] || fail "nothing was lost: $(cat err)"
	assert_equal $(($(wc -l <lines) + lost)) 20000
}
# The workload waits to be reaped, or all has ended.
has_worked() {
	ps -o stat= --ppid "$1" | grep -q ^Z || has_ended "$1"
}

# ends_unread HOW... COMMAND...: it ends by one signal, though nobody reads what it prints; see
# unread_terminal.py.
ends_unread() {
	assert_equal "$(PERF_BPF=$PERF_BPF "$SRC/tests/cmd/unread_terminal.py" "$@")" "exit 0"
}

# A process that makes many system calls, $busy, until the test ends.
begin_busy() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	command -v python3 >/dev/null || skip "no python3"
	python3 -c 'if 1:
		import os
		open("busy", "w").close()
		while True:
			os.stat("/")' &
	busy=$!
	trap "kill $busy" EXIT
	soon test -e busy
}

test_trace_that_nobody_reads() {
	begin_busy
	ends_unread SIGTERM "" "$PERF_BPF" trace -p $busy
	ends_unread --pipe --stderr err SIGINT "" "$PERF_BPF" trace --json -p $busy
	grep -qE '^perf-bpf: warning: [1-9][0-9]* lines of output \([0-9]+ bytes\) were not written: nobody read them$' err ||
		{ cat err; fail "nothing is said of what was not written"; }
}

test_top_that_nobody_reads() {
	begin_busy
	ends_unread SIGINT "" "$PERF_BPF" top --stdio -d 0.1 -e cpu-clock -p $busy
	ends_unread --pipe --stderr err SIGTERM "" "$PERF_BPF" top --stdio -d 0.1 -e cpu-clock -p $busy
	assert_contains err "were not written: nobody read them"
}

test_run_that_nobody_reads() {
	begin_busy
	ends_unread SIGTERM "" "$PERF_BPF" run syscount --interval 10ms -p $busy
	ends_unread --pipe --stderr err SIGINT "" "$PERF_BPF" run syscount --interval 10ms --json -p $busy
	assert_contains err "were not written: nobody read them"
}

test_watch_that_nobody_reads() {
	begin_busy
	local loads="while :; do '$PERF_BPF' features; done >loads 2>&1"
	ends_unread SIGTERM "" "$PERF_BPF" watch -- sh -c "$loads"
	ends_unread --pipe --stderr err SIGINT "" "$PERF_BPF" watch --json -- sh -c "$loads"
	assert_contains err "were not written: nobody read them"
}

run_tests
