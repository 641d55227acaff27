#!/usr/bin/env bash
# What is on the screen of the browser: of any terminal, size, locale and name. Nothing is attached:
# the recordings are written by named_recording.py.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/tmux.sh"

make_recording() {
	"$SRC/tests/cmd/named_recording.py" "$@"
}

# start [VARIABLE=VALUE...] FILE
start() {
	local file=${*: -1}
	t send-keys "${*:1:$#-1} $PERF_BPF report -i $file -s comm,dso,sym; echo status \$? >status" Enter
}

quit() {
	t send-keys q
	wait_for test -s status
	assert_equal "$(cat status)" "status 0"
	wait_for is_back
	t send-keys clear Enter
	rm status
}

# has_colours WHETHER: in what is on the screen, by the attributes of a colour
has_colours() {
	[ "$(t capture-pane -p -e | grep -c "$(printf '\033\\[[0-9;]*3[0-7]m')")" -gt 0 ] && [ "$1" = yes ] ||
		{ ! t capture-pane -p -e | grep -q "$(printf '\033\\[[0-9;]*3[0-7]m')" && [ "$1" = no ]; }
}

# Characters of two columns and of none, and what a terminal could take for a command: columns stay
# columns, and nothing reaches the terminal.
test_names() {
	make_recording /opt/lib "$(printf '中文字符')" "$(printf 'e\xcc\x81te\xcc\x81')" \
		"$(printf 'x\033[2J\033]2;T\ay')" "$(printf 'rtl\xe2\x80\xaeabc')" \
		"$(printf 'bad\xffbyte')" "$(printf 'tab\tnl\nx')" plain >names
	open_terminal 80 24
	start names
	wait_for line_is 24 "$(printf '%-76s%s' 'h help  Enter open or menu  a annotate  / filter  q quit' '1/7')"
	wait_for line_is 1 "Samples: 28 of event 'cpu-clock:HG', Event count (approx.): 28000000"
	t capture-pane -p | sed -n 2,9p >lines
	cat >expected <<'END'
  Overhead  Command                Shared Object     Symbol
    25.00%  中文字符               lib               [.] 0x0000000000001000
    21.43%  ete                    lib               [.] 0x0000000000001000
    17.86%  x\x1b[2J\x1b]2;T\x07y  lib               [.] 0x0000000000001000
    14.29%  rtl\xe2\x80\xaeabc     lib               [.] 0x0000000000001000
    10.71%  bad\xffbyte            lib               [.] 0x0000000000001000
     7.14%  tab\x09nl\x0ax         lib               [.] 0x0000000000001000
     3.57%  plain                  lib               [.] 0x0000000000001000
END
	diff -u expected lines || fail "the columns (+) are not where they should be (-)"
	# other characters than ASCII where there are none
	quit
	start LC_ALL=C names
	wait_for screen_has "25.00%  ????"
	t send-keys m
	wait_for screen_has "| Zoom into ???? thread"
	wait_for screen_has "+-------"
	! t capture-pane -p | LC_ALL=C grep -q '[^ -~]' || fail "$(t capture-pane -p)"
	t send-keys Escape
	quit
	! t display-message -p '#{pane_title}' | grep -qx T || fail "it reached the terminal"
}

# reversed WHETHER TEXT: what is on the screen in reverse (attribute 7), or is not
reversed() {
	t capture-pane -p -e | python3 -c '
import re, sys
on, found = False, []
for part in re.split("(\033\\[[0-9;]*m)", sys.stdin.read()):
	if part.startswith("\033"):
		for code in part[2:-1].split(";"):
			on = code == "7" or (on and code not in ("", "0", "27"))
	elif sys.argv[2] in part:
		found.append(on)
sys.exit(found != [sys.argv[1] == "yes"])' "$@"
}

# What is chosen in a menu can be told from the other items, on all terminals.
test_chosen_item() {
	make_recording /opt/lib a b c >some
	open_terminal 80 24
	for kind in TERM=vt100 TERM=xterm-256color "TERM=xterm NO_COLOR=1"; do
		start "$kind" some
		wait_for screen_has " 1/3"
		t send-keys m
		wait_for reversed no "Zoom into a thread"
		wait_for reversed yes "Sort by..."
		t send-keys Down Down
		wait_for reversed no "Sort by..."
		wait_for reversed yes "Zoom into a thread"
		t send-keys Escape
		quit
	done
}

# What terminals can do differs; any of them may become smaller and larger.
test_terminals_and_sizes() {
	make_recording -n 300 /opt/lib a b c >many
	open_terminal 80 24
	for kind in TERM=vt100 TERM=linux TERM=xterm-256color TERM=screen "TERM=xterm NO_COLOR=1"; do
		start "$kind" many
		wait_for screen_has " 1/300"
		case $kind in
		*vt100 | *NO_COLOR*) wait_for has_colours no ;;
		*) wait_for has_colours yes ;;
		esac
		t resize-window -x 20 -y 5
		wait_for line_is 5 "h help        1/300"
		wait_for line_is 1 "Samples: 303 of eve…"
		wait_for line_is 3 "     0.99%  a"
		t send-keys End
		wait_for line_is 5 "h help      300/300"
		t resize-window -x 200 -y 60
		wait_for screen_has "Event count (approx.): 303000000"
		wait_for line_is 60 "$(printf '%-192s%s' 'h help  Enter open or menu  a annotate  / filter  q quit' '300/300')"
		t resize-window -x 80 -y 24
		wait_for line_is 24 "$(printf '%-72s%s' 'h help  Enter open or menu  a annotate  / filter  q quit' '300/300')"
		quit
	done
}

# A DSO with a name as the kernel has them for BPF programs leaves little of 80 columns: the keys of
# perf scroll to the rest.
test_scroll_columns() {
	make_recording /opt/bpf_prog_6deef7357e7b4530_handle_request_of_client_abcdef server worker >wide
	open_terminal 80 24
	start wide
	wait_for line_is 2 "$(printf '%-79s>' '  Overhead  Command  Shared Object')"
	wait_for line_is 3 "    66.67%  server   bpf_prog_6deef7357e7b4530_handle_request_of_client_abcdef"
	wait_for screen_has "h help  Enter open or menu  Right scroll"
	t send-keys Right
	wait_for line_is 2 "$(printf '%-79s>' '  Overhead  Shared Object                                              Symbol')"
	wait_for line_is 3 "    66.67%  bpf_prog_6deef7357e7b4530_handle_request_of_client_abcdef  [.] 0x000"
	t send-keys Right
	wait_for line_is 2 "  Overhead  Symbol"
	wait_for line_is 3 "    66.67%  [.] 0x0000000000001000"
	# a larger screen has all columns, a smaller one is where it was
	t resize-window -x 200 -y 60
	wait_for line_is 3 "    66.67%  server   bpf_prog_6deef7357e7b4530_handle_request_of_client_abcdef  [.] 0x0000000000001000"
	t resize-window -x 80 -y 24
	wait_for line_is 3 "    66.67%  [.] 0x0000000000001000"
	t send-keys Left Left
	wait_for line_is 2 "$(printf '%-79s>' '  Overhead  Command  Shared Object')"
	quit
}

test_many_rows_and_none() {
	make_recording -n 10000 /opt/lib a >many
	open_terminal 100 30
	start many
	wait_for screen_has " 1/10000"
	t send-keys End
	wait_for screen_has " 10000/10000"
	t send-keys Home NPage
	wait_for screen_has " 28/10000"
	# no row is left, and all are there again
	t send-keys / n o n e Enter
	wait_for screen_has "No rows; Esc zooms out"
	t send-keys h
	wait_for screen_has "perf-bpf report: keys"
	t send-keys q Escape
	wait_for screen_has " 1/10000"
	# of a zoom by socket a key is needed
	t send-keys S
	wait_for screen_has "A row can have several sockets: sort by socket first"
	t send-keys i
	wait_for screen_has "# captured on"
	t send-keys q
	wait_for screen_has " 1/10000"
	quit
	# without any sample there is nothing to browse
	make_recording /opt/lib >none
	start none
	wait_for test -s status
	wait_for screen_has "none has no samples"
	mode_is alternate_on 0 || fail "an empty browser"
}

# Buttons of the mouse, as xterm sends them; modes are given back, also after kill -9.
test_mouse() {
	make_recording -n 10000 /opt/lib a >many
	open_terminal 100 30
	start many
	wait_for screen_has " 1/10000"
	wait_for mode_is mouse_standard_flag 1
	t send-keys -l $'\033[<0;20;7M'
	wait_for screen_has " 5/10000"
	t send-keys -l $'\033[<65;20;7M'
	wait_for screen_has " 8/10000"
	t send-keys -l $'\033[<2;20;7M'
	wait_for screen_has "Exit"
	t send-keys -l $'\033[<0;1;1M'
	wait_for screen_has " 8/10000"
	t send-keys M
	wait_for mode_is mouse_standard_flag 0
	wait_for screen_has "The mouse selects text of the terminal"
	t send-keys M
	wait_for mode_is mouse_standard_flag 1
	quit
	mode_is mouse_standard_flag 0 || fail "the mouse still sends keys"
	start many
	wait_for mode_is mouse_standard_flag 1
	kill -KILL "$(pgrep -o -P "$(t display-message -p '#{pane_pid}')")"
	wait_for mode_is mouse_standard_flag 0
	wait_for is_back
}

# A terminal that is closed ends the browser, also if SIGHUP is ignored, as after nohup.
test_closed_terminal() {
	local pid
	make_recording /opt/lib a b c >some
	open_terminal 80 24
	t send-keys "trap '' HUP" Enter
	start some
	wait_for screen_has " 1/3"
	pid=$(pgrep -o -P "$(t display-message -p '#{pane_pid}')" perf-bpf)
	grep -q '^SigIgn:.*[13579bdf]$' "/proc/$pid/status" || fail "SIGHUP is not ignored"
	t kill-server
	has_ended() { ! grep -qs '^State:[^Z]*$' "/proc/$pid/status"; }
	soon has_ended
}

run_tests
