# SPDX-License-Identifier: BSD-2-Clause
# A terminal of tmux for tests; sourced after tap.sh. What is on it is waited for, never a time.

t() {
	tmux -S "$TMP/tmux" -f /dev/null "$@"
}

# Up to a minute, until the command that is given succeeds. What is further down on the screen is
# waited for, too: tmux may be asked when it has read a part of what was written.
wait_for() {
	local end=$((SECONDS + 60))
	while [ $SECONDS -lt $end ]; do
		"$@" && return 0
		sleep 0.1
	done
	t capture-pane -p 2>/dev/null | sed 's/^/# | /'
	fail "in vain: $*"
}

screen_has() {
	t capture-pane -p | grep -qF -- "$1"
}

line_is() {
	[ "$(t capture-pane -p | sed -n "$1p")" = "$2" ]
}

mode_is() {
	[ "$(t display-message -p "#{$1}")" = "$2" ]
}

is_back() {
	mode_is alternate_on 0 && mode_is cursor_flag 1
}

# No job of the shell is in the foreground: its group (pgrp) is that of the terminal (tpgid).
shell_has_terminal() {
	awk '{ exit $5 != $8 }' "/proc/$(t display-message -p '#{pane_pid}')/stat"
}

# The terminal takes lines again, and shows them.
takes_lines() {
	t send-keys 'stty -a >modes' Enter
	wait_for test -s modes
	grep -q '[^-]icanon' modes || fail "no lines are taken"
	grep -qE '(^|[ ;])echo( |;)' modes || fail "nothing is echoed"
}

# open_terminal COLUMNS ROWS [TERM]: with a shell that has written "before"
open_terminal() {
	command -v tmux >/dev/null || skip "no tmux"
	env -u TMUX LC_ALL=C.UTF-8 tmux -S "$TMP/tmux" -f /dev/null new-session -d -x "$1" -y "$2" \
		"cd '$TMP'; ${3:+TERM=$3} PS1= exec sh" || fail "tmux"
	trap 't kill-server 2>/dev/null || true' EXIT
	t send-keys 'echo "be"fore' Enter
	wait_for screen_has before
}
