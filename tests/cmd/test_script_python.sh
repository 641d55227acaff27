#!/usr/bin/env bash
# script -s: Python scripts get from a recording what perf gives them.
. "$(dirname "$0")/../tap.sh"
RECORDINGS=scripted
. "$(dirname "$0")/../golden/golden.sh"
. "$(dirname "$0")/script_python.sh"

SCRIPTS=${PERF_EXEC_PATH:-/usr/lib/perf-core}/scripts/python

# calls.data: system calls and what the scheduler does; cpu.data: a profile with call chains
recordings() {
	cp "$FILES/calls.data" .
	cp "$FILES/cpu.data" .
}

script() {
	"$PERF_BPF" script --kallsyms "$FILES/kallsyms" "$@"
}

# same FILE SCRIPT OPTION...: what perf printed when it ran the script, which is not short
same() {
	local file=$1 mine=0
	[ "$2" = "$FILES/$(basename "$2")" ] || cp "$2" "$FILES"
	set -- --no-inline "${@:3}" -s "$(basename "$2")"
	perf_text script -i "$file" "$@" >theirs
	golden script -i "$file" "$@" >mine 2>mine.err </dev/null || mine=$?
	[ $mine = 0 ] || fail "$*: ended with $mine: $(tail -3 mine.err)"
	[ "$(wc -c <theirs)" -gt 200 ] || fail "perf: $* printed $(cat theirs)"
	cmp -s theirs mine || fail "$file $*: $(diff theirs mine | head -10)"
}

test_arguments_are_perfs() {
	write_show
	same calls.data show.py --comms rbpf_work,rbpf_twin
	for what in switch exec unhandled; do
		assert_contains mine "-- $what"
	done
	same cpu.data show.py
	assert_contains mine "-- event"
	assert_contains mine "'sym_off'"
	assert_equal "$(head -1 mine) $(tail -1 mine)" "begin end"
}

# perf's own scripts, with its modules and with ours. Those of system calls have their names with ours.
test_scripts_of_perf() {
	local script
	[ -d "$SCRIPTS" ] || skip "there are no scripts of perf in $SCRIPTS"
	same calls.data "$SCRIPTS/check-perf-trace.py"
	PERF_EXEC_PATH=/nonexistent golden script -i calls.data -s check-perf-trace.py >mine
	cmp theirs mine || fail "our modules differ: $(diff theirs mine | head -10)"
	same cpu.data "$SCRIPTS/stackcollapse.py"
	for script in failed-syscalls-by-pid syscall-counts; do
		PERF_EXEC_PATH=/nonexistent golden script -i calls.data -s "$SCRIPTS/$script.py" >out
		grep -q 'write\|openat' out || fail "$script has no names: $(cat out)"
	done
}

test_a_script_to_begin_with() {
	expect_status 0 golden script -i calls.data -g python
	assert_contains out "generated Python script: perf-script.py"
	same calls.data "$FILES/perf-script.py" --comms rbpf_copy
	assert_contains mine "sched__sched_switch"
	assert_contains mine "prev_state=S" # by flag_str()
	recordings
	expect_status 0 "$PERF_BPF" script -i calls.data -g other-name.py
	assert_contains out "generated Python script: other-name.py"
	cmp "$FILES/perf-script.py" other-name.py
	# one's own link is followed, as with all output files; those of others: test_planted.sh
	echo precious >other
	ln -sf other perf-script.py
	expect_status 0 script -i calls.data -g python
	cmp other other-name.py
	[ -L perf-script.py ] || fail "the link was replaced"
	expect_status 2 "$PERF_BPF" script -i calls.data -g perl
	expect_status 2 "$PERF_BPF" script -i calls.data -g script.pl
	expect_status 2 "$PERF_BPF" script -i calls.data -g .py
	expect_status 2 "$PERF_BPF" script -i calls.data -g python argument
	assert_contains err "'argument': -g takes no arguments"
}

test_scripts_that_are_not_there() {
	own_scripts
	expect_status 2 "$PERF_BPF" script report mien
	assert_contains err "perf has no script named 'mien'"
	assert_contains err "did you mean 'mine'?"
	expect_status 2 "$PERF_BPF" script report
	assert_contains err "the name of the script is missing"
	expect_status 2 "$PERF_BPF" script mine
	assert_contains err "the script 'mine' needs arguments: <comm> [more]"
	PERF_EXEC_PATH=/nonexistent expect_status 1 "$PERF_BPF" script -l
	assert_contains err "cannot open /nonexistent/scripts/python/bin"
	assert_contains err "hint: perf's scripts come with perf"
}

test_ways_to_end() {
	recordings
	cat >fails.py <<-'END'
		def trace_unhandled(name, context, fields):
		    raise KeyError("mine")
	END
	expect_status 1 script -i calls.data -s fails.py
	assert_contains err "KeyError: 'mine'"
	assert_contains err 'fails.py", line 2'
	! grep -q script_driver err || fail "our own frames are shown: $(cat err)"
	cat >exits.py <<-'END'
		import sys
		def trace_unhandled(name, context, fields):
		    print(sys.argv[1:])
		    sys.exit(5)
	END
	expect_status 5 script -i calls.data -s python:exits.py one two
	assert_equal "$(cat out)" "['one', 'two']"
	write_show
	head -c 20000 calls.data >cut.data
	expect_status 1 script -i cut.data -s show.py
	assert_contains err "truncated"
	assert_equal "$(tail -1 out)" "end"
	cat calls.data | script -s show.py >mine
	script -i calls.data -s show.py >other
	cmp mine other || fail "a pipe is read in another way"
	script -i calls.data -s show.py 2>err | head -1 >out
	assert_equal "$(cat out err)" "begin"
}

# The script has the rights of the user; the process that reads the recording does not.
test_rights() {
	recordings
	cat >rights.py <<-'END'
		import os, sys
		def field(pid, name):
		    return next(l.split()[1] for l in open(f"/proc/{pid}/status") if l.startswith(name + ":"))
		def children():
		    for task in os.listdir(f"/proc/{os.getpid()}/task"):
		        yield from open(f"/proc/{os.getpid()}/task/{task}/children").read().split()
		def trace_unhandled(name, context, fields):
		    for pid in children():
		        print(open(f"/proc/{pid}/comm").read().strip(), field(pid, "Seccomp"),
		              int(field(pid, "CapEff"), 16) & 1 << 21)  # CAP_SYS_ADMIN
		    print("script", field("self", "Seccomp"), field("self", "CapEff"))
		    open("written", "w").write("by the script\n")
		    sys.exit()
	END
	expect_status 0 script -i calls.data -s rights.py
	cat >want <<-END
		perf-bpf 2 0
		script $(awk '/^Seccomp:/ { print $2 }' /proc/self/status) $(awk '/^CapEff/ { print $2 }' /proc/self/status)
	END
	diff want out || fail "the rights are others"
	assert_equal "$(cat written)" "by the script"
}

test_what_cannot_be_run() {
	expect_status 1 "$PERF_BPF" script -s none.py
	assert_contains err "cannot read the script none.py"
	expect_status 2 "$PERF_BPF" script -s some.pl
	assert_contains err "only Python scripts can be run"
	expect_status 2 script -s show.py --json
	assert_contains err "-s and -g cannot be used with --json"
	echo >empty.py
	mkdir bin
	PATH=$PWD/bin expect_status 1 "$(realpath "$PERF_BPF")" script -s empty.py
	assert_contains err "cannot run python3"
	assert_contains err "hint: install Python 3"
}

run_tests
