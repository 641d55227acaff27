#!/usr/bin/env bash
# perf-bpf run --live, on a terminal of tmux: what stands on it, at several sizes.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/tmux.sh"

PROG=$SRC/tests/cmd/run.bpf.c

# There are so many lines, none wrapped, in order, from a head to a foot.
small_is_right() {
	t capture-pane -p >small
	[ "$(wc -l <small)" = 12 ] && head -1 small | grep -q '^run.bpf.c  ' &&
		tail -1 small | grep -qE '^1-10/[0-9]+  q quit' && python3 - <<-'END'
			lines = open("small", encoding="utf-8").read().split("\n")[:12]
			if not (all(len(l) <= 20 for l in lines) and lines[2] == "" and lines[3] == "masks (mask):" and
			        lines[4].startswith("[0]") and lines[5].startswith("[1]") and lines[6].startswith("[2, 4)")):
			    exit(1)
		END
}

# A terminal of a size, with a shell that has written "before".
begin() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	printf '#include <stdlib.h>\n#include <sys/stat.h>\nint main(int n, char **v) { while (--n) umask(atoi(v[n])); }\n' \
		>pbt_live.c
	gcc -O1 -o pbt_live pbt_live.c
	mkfifo go end # two: what is read from the first must not be its end once more
	cat >run.sh <<-END
		cd "$TMP"
		trap : INT
		"$PERF_BPF" run "$PROG" --comm pbt_live "\$@" \
			-- sh -c 'echo \$\$ >workload; ./pbt_live 0 1 2 9 10 49 50 511 1 1; : >counted; read x <go; ./pbt_live 1; : >again; read x <end'
		echo "status \$?" >status
	END
	open_terminal "$1" "$2"
}

start() {
	t send-keys "sh run.sh --live $*" Enter
	wait_for test -e counted
}

# The workload's descendants' parent: perf-bpf itself.
pid_of_run() {
	local shell
	shell=$(t display-message -p '#{pane_pid}')
	for pid in $(pgrep -P "$(pgrep -P "$shell" | head -1)"); do
		[ "$(cat "/proc/$pid/comm")" != perf-bpf ] || echo "$pid"
	done | head -1
}

result_is_left() {
	screen_has "umask calls: 11 calls" || screen_has "root(0)  PBT_ODD"
}

test_sizes() {
	begin 80 24
	start --map calls --map by_log2 --map by_key --map by_pid
	wait_for line_is 2 "umask calls: 10 calls"
	mode_is alternate_on 1 || fail "not on the second screen"
	wait_for screen_has "[1]         3 |@@"
	wait_for screen_has "q quit  p pause  s sort: value  c since start"
	t resize-window -x 20 -y 12
	wait_for line_is 2 "umask calls: 10 cal…"
	wait_for small_is_right
	t resize-window -x 200 -y 60
	wait_for screen_has "root(0)  PBT_ODD   pbt_live      6"
	wait_for line_is 2 "umask calls: 10 calls"
	t resize-window -x 2 -y 1
	t resize-window -x 80 -y 24
	wait_for line_is 2 "umask calls: 10 calls"
	# it goes on
	echo >go
	wait_for test -e again
	wait_for line_is 2 "umask calls: 11 calls"
	echo >end
	wait_for test -s status
	assert_equal "$(cat status)" "status 0"
	wait_for is_back
	# what was found out stays
	wait_for result_is_left
	takes_lines
}

test_keys() {
	begin 80 24
	start --map by_log2 --map calls --map by_key --interval 200ms
	wait_for screen_has "umask calls: 10 calls"
	t send-keys p
	wait_for screen_has "  paused"
	echo >go
	wait_for test -e again
	t send-keys s
	wait_for screen_has "s sort: uid"
	wait_for screen_has "umask calls: 10 calls" # it does not go on while paused
	t send-keys p
	wait_for screen_has "umask calls: 11 calls"
	t send-keys s s s
	wait_for screen_has "s sort: calls"
	t send-keys s
	wait_for screen_has "s sort: sum"
	t send-keys s
	wait_for screen_has "s sort: value"
	t send-keys c
	wait_for screen_has "c since last interval"
	wait_for screen_has "umask calls: 0 calls"
	t send-keys c
	wait_for screen_has "umask calls: 11 calls"
	t resize-window -x 80 -y 8
	wait_for line_is 2 "umask calls: 11 calls"
	t send-keys Down Down
	wait_for line_is 2 "masks (mask):"
	t send-keys End
	wait_for screen_has "PBT_EVEN"
	t send-keys Home
	wait_for line_is 2 "umask calls: 11 calls"
	t send-keys q
	wait_for is_back
	wait_for test -s status
	takes_lines
}

test_signals() {
	begin 60 20
	start --map calls
	wait_for line_is 2 "umask calls: 10 calls"
	t send-keys C-z
	wait_for is_back
	wait_for screen_has before
	wait_for shell_has_terminal # else what is typed may be read by what stops
	t send-keys fg Enter
	wait_for mode_is alternate_on 1
	wait_for line_is 2 "umask calls: 10 calls"
	t send-keys C-c
	wait_for is_back
	wait_for screen_has "umask calls: 10 calls"
	takes_lines
}

# Nobody of ours is left to put the terminal right, but it is.
test_kill() {
	begin 60 20
	start --map calls
	wait_for line_is 2 "umask calls: 10 calls"
	pid=$(pid_of_run)
	[ -n "$pid" ] || fail "which process is it?"
	kill -KILL "$pid"
	wait_for is_back
	wait_for test -s status
	assert_equal "$(cat status)" "status 137"
	takes_lines
	kill "$(cat workload)" # whose parent could not
}

test_events_stand_below() {
	begin 80 20
	start --map calls --map events
	wait_for line_is 2 "umask calls: 10 calls"
	wait_for screen_has "PBT_ODD   pbt_live"
	wait_for screen_has "masks as they come: 10 events, 0 lost"
	t send-keys q
	wait_for is_back
}

# Without a terminal, or on one that can nothing, looks come one below the other.
test_pipes_and_dumb_terminals() {
	begin 60 20
	echo >go &
	first=$!
	: >out
	(wait_for test -e again && wait_for grep -q '^---' out && echo >end) &
	second=$!
	sh run.sh --live --interval 50ms --map calls >out 2>err
	wait $first $second
	grep -qE '^--- [0-9:]{8} ---$' out || fail "no looks"
	assert_contains out "umask calls: 11 calls"
	! grep -q "$(printf '\033')" out || fail "escape sequences in a pipe"
	rm -f counted again status
	t send-keys "TERM=dumb sh run.sh --live --interval 100ms --map calls" Enter
	wait_for test -e counted
	wait_for screen_has "--- "
	mode_is alternate_on 0 || fail "the second screen on a dumb terminal"
	wait_for screen_has "umask calls: 10 calls"
	t send-keys C-c
	wait_for test -s status
	expect_status 2 "$PERF_BPF" run "$PROG" --live --json -- true
	assert_contains err "--live"
}

# Its results are not printed either, below a screen that takes nothing.
test_terminal_that_nobody_reads() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	assert_equal "$(PERF_BPF=$PERF_BPF "$SRC/tests/cmd/unread_terminal.py" SIGTERM p "$PERF_BPF" run "$PROG" --live --interval 50ms -p $$)" "exit 0"
}

run_tests
