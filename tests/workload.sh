# SPDX-License-Identifier: BSD-2-Clause
# The workload that command tests drive (tests/workload/workload.c has its commands), and the BPF objects that
# the build has compiled for them. A script sources this after tap.sh.
#
#	workload_as NAME	./NAME is a copy of the workload: its command and its file have that name
#	work_start [COMMAND...]	starts it, or COMMAND, which runs it, in the background, as $WORK_PID; it
#				waits for commands
#	work COMMAND [, COMMAND]...	has it run these, prints what it prints, and returns when they are done
#	work_end		ends it
WORKLOAD=$BUILD/tests/workload/workload
OBJECTS=$BUILD/tests/bpf

workload_as() {
	cp "$WORKLOAD" "$1"
}

work_start() {
	local line
	mkfifo work.commands work.answers
	"${@:-$WORKLOAD}" <work.commands >work.answers 2>work.err &
	WORK_PID=$!
	exec {work_commands}>work.commands {work_answers}<work.answers
	rm work.commands work.answers
	read -r line <&"$work_answers" && [ "$line" = ready ] || fail "the workload does not start: $(cat work.err)"
}

work() {
	local line
	echo "$*" >&"$work_commands"
	while read -r line <&"$work_answers"; do
		[ "$line" != ok ] || return 0
		echo "$line"
	done
	fail "the workload has ended: $(cat work.err)"
}

# Programs that the test has started since have inherited the FIFO: its end does not come.
work_end() {
	echo "exit 0" >&"$work_commands"
	exec {work_commands}>&- {work_answers}<&-
	wait "$WORK_PID"
}
