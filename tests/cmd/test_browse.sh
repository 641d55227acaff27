#!/usr/bin/env bash
# perf-bpf report and annotate on a terminal of tmux: the browser.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/tmux.sh"

# A recording with call chains: "d" of a program whose functions are known.
record() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	cat >work.c <<-'END'
		#include <sys/prctl.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		static volatile char pages[300][4096];
		__attribute__((noinline)) void pbt_touch(void)
		{
			for (int i = 0; i < 200; i++)
				pages[i][1] = 1; /* PBT_LINE */
		}
		__attribute__((noinline)) void pbt_quiet(void) { __asm__(""); }
		__attribute__((noinline)) void pbt_caller(void)
		{
			for (int i = 100; i < 300; i++)
				pages[i][1] = 1;
			pbt_quiet(); /* PBT_CALL */
		}
		__attribute__((noinline)) void pbt_inner(long n) { while (n--) syscall(SYS_getpid); __asm__(""); }
		__attribute__((noinline)) void pbt_outer(long n) { pbt_inner(n); __asm__(""); }
		int main(int n, char **v)
		{
			pbt_touch();
			pbt_caller();
			pbt_outer(60);
			prctl(PR_SET_NAME, "pbt\033]2;X\a");
			pbt_outer(40);
		}
	END
	gcc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o pbt_work work.c
	"$PERF_BPF" record -q -g "$@" -o d -- ./pbt_work
}

start() {
	start_command report "$@"
}

start_command() {
	t send-keys "$PERF_BPF $*; echo status \$? >status" Enter
}

quit() {
	t send-keys "${1:-q}"
	wait_for test -s status
	assert_equal "$(cat status)" "status 0"
	wait_for is_back
	rm status
}

# line_has LINE TEXT: a line of the screen
line_has() {
	t capture-pane -p | sed -n "$1p" | grep -qF -- "$2"
}

chosen_is() {
	t capture-pane -p | tail -1 | grep -q " $1 *\$"
}

test_keys() {
	record -c 1 -e syscalls:sys_enter_getpid
	open_terminal 80 24
	start -i d --no-children -s comm,dso,sym
	wait_for screen_has "Samples: 100 of event 'syscalls:sys_enter_getpid'"
	wait_for screen_has "Overhead  Command"
	wait_for screen_has "60.00%  pbt_work"
	# what a process calls itself does not reach the terminal
	wait_for screen_has '40.00%  pbt\x1b]2;X\x07'
	wait_for chosen_is 1/2
	t send-keys E
	wait_for screen_has "pbt_outer"
	t send-keys C
	wait_for chosen_is 1/2
	t send-keys Down t
	wait_for screen_has 'Thread: pbt\x1b]2;X\x07'
	wait_for chosen_is 1/1
	t send-keys Escape
	wait_for chosen_is 1/2
	t send-keys / n o n e Enter
	wait_for screen_has "Filter: none"
	t send-keys Left
	wait_for chosen_is 1/2
	# by other keys
	t send-keys s End Enter c p u , x Enter
	wait_for screen_has "unknown sort key 'x'"
	t send-keys s End Enter c o m m Enter
	wait_for screen_has "60.00%  pbt_work"
	t send-keys s Enter
	wait_for screen_has "Symbol"
	t send-keys P
	wait_for screen_has "Printed to perf.hist.0"
	assert_contains perf.hist.0 "60.00%  pbt_work"
	t send-keys h
	wait_for screen_has "perf-bpf report: keys"
	t send-keys q
	wait_for screen_has "Overhead"
	t send-keys Escape
	wait_for screen_has "Do you really want to exit?"
	quit y
	takes_lines
	! t display-message -p '#{pane_title}' | grep -qx X || fail "it reached the terminal"
}

test_sizes() {
	record -c 1 -e syscalls:sys_enter_getpid
	open_terminal 200 60
	start -i d --no-children -s sym,dso
	wait_for foot_is 60 200 "h help  Enter open or menu  a annotate  / filter  q quit"
	wait_for screen_has "100.00%  [.] syscall"
	t resize-window -x 30 -y 5
	wait_for foot_is 5 30 "h help       "
	t resize-window -x 80 -y 24
	wait_for foot_is 24 80 "h help  Enter open or menu  a annotate  / filter  q quit"
	mode_is alternate_on 1 || fail "not the second screen"
	t send-keys C-c
	wait_for test -s status
	assert_equal "$(cat status)" "status 0"
	wait_for is_back
	takes_lines
}

# foot_is ROW COLUMNS TEXT: the last row, with the place at its end
foot_is() {
	t capture-pane -p | python3 -c '
import sys
lines = sys.stdin.read().split("\n")
row, columns, text = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
if lines[row:] != [""] or max(map(len, lines)) > columns:
	sys.exit(1)
last = lines[row - 1]
sys.exit(not (last.startswith(text) and last.endswith(" 1/1") and len(last) == columns - 1))' "$@"
}

test_events_and_code() {
	record -c 1 -e syscalls:sys_enter_getpid -e page-faults:u
	open_terminal 100 30
	start -i d --no-children
	# which of the events
	wait_for screen_has "Events"
	t send-keys Down Enter
	wait_for screen_has "of event 'page-faults:u'"
	wait_for screen_has "[.] pbt_touch"
	t send-keys /
	wait_for screen_has "Show only symbols"
	t send-keys p b t _ t o u Enter
	wait_for chosen_is 1/1
	t send-keys a
	wait_for screen_has "Source code & Disassembly of pbt_work for page-faults:u"
	wait_for screen_has "PBT_LINE"
	t capture-pane -p >code
	grep -qE '^ +100\.00 │ .* mov' code || fail "$(cat code)"
	t send-keys q Tab
	wait_for screen_has "of event 'syscalls:sys_enter_getpid'"
	quit
}

# The options of the code: what percentages are of, and sources that were moved.
test_options_of_code() {
	record -c 1 -e page-faults:u
	"$PERF_BPF" annotate -i d pbt_touch >/dev/null 2>why || skip "$(cat why)"
	mkdir away
	mv work.c away
	open_terminal 100 30
	start -i d --no-children -s sym --percent-type global-hits --prefix "$PWD/away" --prefix-strip 99
	wait_for screen_has "of event 'page-faults:u'"
	t send-keys / p b t _ t o u Enter
	wait_for chosen_is 1/1
	t send-keys a
	wait_for screen_has "[Percent: global hits]"
	wait_for screen_has "PBT_LINE"
	t send-keys q
	wait_for screen_has "Overhead"
	quit
	start_command annotate -i d --percent-type global-period pbt_touch
	wait_for screen_has "[Percent: global period]"
	wait_for screen_has "work.c:7"
	quit
}

# Single samples of a row, and what happened around them.
test_samples() {
	record -c 1 -e page-faults:u -e syscalls:sys_enter_getpid
	open_terminal 120 30
	start -i d --no-children -s sym
	wait_for screen_has "Events"
	t send-keys Enter
	wait_for screen_has "of event 'page-faults:u'"
	t send-keys m
	wait_for screen_has "Sort by..."
	! screen_has "individual samples" || fail "samples that were not kept"
	t send-keys q
	quit
	start -i d --no-children -s sym --samples 4
	wait_for screen_has "Events"
	t send-keys Enter
	wait_for screen_has "of event 'page-faults:u'"
	t send-keys / p b t _ t o u Enter
	wait_for chosen_is 1/1
	t send-keys m
	wait_for screen_has "Show context for individual samples with source"
	t send-keys End Up Up Up Up Up Enter
	wait_for screen_has ": CPU "
	t capture-pane -p | grep -oE '[0-9]+\.[0-9]{9}: CPU [0-9]+ tid [0-9]+' >samples
	assert_equal "$(wc -l <samples)" 4
	sort -c samples || fail "not by time"
	# they are samples of this row
	"$PERF_BPF" script -i d --ns -F tid,cpu,time,event,ip,sym -G |
		sed -nE 's/^ *([0-9]+) \[0*([0-9]+)\] +([0-9.]+): +page-faults:u: +[0-9a-f]+ pbt_touch$/\3: CPU \2 tid \1/p' |
		grep -cxFf samples >found
	assert_equal "$(cat found)" 4
	time=$(sed -n '2s/:.*//p' samples)
	t send-keys Down Enter
	wait_for cursor_is_on "$time:"
	t send-keys Home
	wait_for screen_has "page-faults:u:"
	t send-keys q
	wait_for chosen_is 1/1
	# with the source
	t send-keys m End Up Up Up Enter
	wait_for screen_has ": CPU "
	t send-keys Enter
	wait_for screen_has "work.c:8"
	t send-keys / P B T _ L I N E Enter
	wait_for screen_has "PBT_LINE"
	t send-keys q
	wait_for chosen_is 1/1
	quit
	# a caller has those of what it called
	start -i d -s sym --samples 4
	wait_for screen_has "Events"
	t send-keys Enter
	wait_for screen_has "of event 'page-faults:u'"
	t send-keys / m a i n Enter
	wait_for screen_has "Filter: main"
	t send-keys m
	wait_for screen_has "Show context for individual samples"
	t send-keys q
	quit
}

# Jumps and calls of the code are followed, and left again.
test_jumps_and_calls() {
	record -c 1 -e page-faults:u -e syscalls:sys_enter_getpid
	"$PERF_BPF" annotate -i d pbt_touch >/dev/null 2>why || skip "$(cat why)"
	open_terminal 100 30
	start -i d --no-children -s sym
	wait_for screen_has "Events"
	t send-keys Enter
	wait_for screen_has "of event 'page-faults:u'"
	t send-keys / m a i n Enter
	wait_for screen_has "Filter: main"
	t send-keys Escape
	wait_for chosen_is "1/[0-9]*"
	t send-keys / p b t _ t o u Enter
	wait_for chosen_is 1/1
	t send-keys a
	wait_for screen_has "Source code & Disassembly of pbt_work"
	# the loop, and its jump
	wait_for screen_has "┌─→"
	t send-keys / j n e Enter
	wait_for cursor_is_on "↑ jne"
	t send-keys Enter
	wait_for cursor_is_on "┌─→"
	t send-keys P
	wait_for screen_has "Printed to perf.annotation.0"
	assert_contains perf.annotation.0 "PBT_LINE"
	t send-keys q
	wait_for screen_has "of event 'page-faults:u'"
	quit
}

test_annotate() {
	record -c 1 -e page-faults:u
	"$PERF_BPF" annotate -i d pbt_touch >text 2>why || skip "$(cat why)"
	assert_contains text " Percent |	Source code & Disassembly of pbt_work"
	open_terminal 100 30
	# the functions, and the code of one
	start_command annotate -i d
	wait_for screen_has "Overhead       Samples  Symbol"
	wait_for screen_has "[.] pbt_touch"
	t send-keys / p b t _ t o u Enter
	wait_for chosen_is 1/1
	t send-keys Enter
	wait_for line_has 1 "pbt_work  [Percent: local period]"
	wait_for line_has 1 "pbt_touch  "
	# blue is hard to read on black
	t capture-pane -p -e | grep -q "$(printf '\033\\[35m')" || fail "no addresses in magenta"
	! t capture-pane -p -e | grep -q "$(printf '\033\\[34m')" || fail "something is blue"
	t send-keys Left
	wait_for screen_has "Filter: pbt_tou"
	quit
	# of one function only; a call leads to one without samples, and back
	start_command annotate -i d -n pbt_caller
	wait_for screen_has " Samples │ Source code & Disassembly of pbt_work for page-faults:u"
	t send-keys / c a l l q Enter
	wait_for cursor_is_on "→ callq  pbt_quiet"
	t send-keys Enter
	wait_for line_has 1 "pbt_quiet  "
	t send-keys Escape
	wait_for cursor_is_on "→ callq  pbt_quiet"
	quit
	# text
	start_command annotate -i d --stdio pbt_touch '>/dev/null; clear;' "$PERF_BPF" annotate -i d --stdio pbt_touch '| tail -3'
	wait_for test -s status
	wait_for screen_has "0.00 : "
	mode_is alternate_on 0 || fail "not text"
	rm status
	start_command annotate -i d pbt_none
	wait_for test -s status
	assert_equal "$(cat status)" "status 1"
	wait_for screen_has "d has no samples in a function 'pbt_none'"
	takes_lines
}

# The line of the screen in reverse, but for the first and the last one.
cursor_is_on() {
	t capture-pane -p -e | sed '1d;$d' | grep -F "$(printf '\033[7m')" | grep -qF -- "$1"
}

test_where_there_is_no_browser() {
	record -c 1 -e syscalls:sys_enter_getpid
	open_terminal 100 30 dumb
	start -i d --no-children
	wait_for test -s status
	wait_for screen_has "# Samples: 100  of event"
	mode_is alternate_on 0 || fail "the second screen on a dumb terminal"
	t send-keys "export TERM=screen; clear; rm status" Enter
	start -i d --stdio
	wait_for test -s status
	wait_for screen_has "# Samples: 100  of event"
	# no terminal at all
	"$PERF_BPF" report -i d --tui </dev/null >out
	assert_contains out "# Samples: 100  of event"
}

# However it ends, the terminal is as it was.
test_killed() {
	record -c 1 -e syscalls:sys_enter_getpid
	open_terminal 80 24
	start -i d
	wait_for screen_has "Children"
	kill -KILL "$(pgrep -P "$(t display-message -p '#{pane_pid}')" perf-bpf | head -1)"
	wait_for test -s status
	assert_equal "$(cat status)" "status 137"
	wait_for is_back
	takes_lines
	rm status
	# Ctrl-Z and fg
	start -i d
	wait_for screen_has "Children"
	t send-keys C-z
	wait_for is_back
	wait_for test -s status
	rm status
	t send-keys 'clear; fg; echo status $? >status' Enter
	wait_for screen_has "Children"
	quit
}

# Who looks at the screen does not read it: it is stopped, or the connection hangs.
test_terminal_that_nobody_reads() {
	local recording=$SRC/fuzz/corpus/perfdata/chains
	for signal in SIGINT SIGTERM; do
		assert_equal "$(PERF_BPF=$PERF_BPF "$SRC/tests/cmd/unread_terminal.py" $signal hq "$PERF_BPF" report -i "$recording")" "exit 0"
	done
	assert_equal "$(PERF_BPF=$PERF_BPF "$SRC/tests/cmd/unread_terminal.py" SIGKILL hq "$PERF_BPF" report -i "$recording")" "signal 9"
}

# perf's digits: rows of a group by the event that is pressed; V: the DSOs of frames.
test_keys_of_groups_and_frames() {
	record -e '{syscalls:sys_enter_getpid/period=1/,page-faults/period=1/u}'
	open_terminal 120 30
	start -i d -s sym -g caller --no-children
	wait_for screen_has "of events 'anon group { "
	wait_for line_has 3 "[.] syscall"
	t send-keys 1
	wait_for screen_has "Sorted by event 1 of the group"
	wait_for line_has 3 pbt_touch
	t send-keys 2
	wait_for screen_has "The group has the events 0 to 1"
	t send-keys 0
	wait_for line_has 3 "[.] syscall"
	t send-keys E
	wait_for screen_has "pbt_outer"
	! screen_has "pbt_outer pbt_work" || fail "the DSO is shown at first"
	t send-keys V
	wait_for screen_has "pbt_outer pbt_work"
	t send-keys r
	wait_for screen_has "perf-bpf script -i RECORDING -s SCRIPT.py"
	quit
}

run_tests
