#!/usr/bin/env bash
# What the commands keep of their privileges, phase by phase, in /proc/PID/status.
. "$(dirname "$0")/../tap.sh"

DAC_OVERRIDE=1 DAC_READ_SEARCH=2 FOWNER=3 KILL=5 IPC_LOCK=14 SYS_PTRACE=19 SYS_ADMIN=21 SYSLOG=34
PERFMON=38 BPF=39

# status PID NAME: the value
status() {
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status"
}

# expected CAP...: those of them that we have, as the kernel prints them
expected() {
	local set=0 cap
	for cap; do
		set=$((set | 1 << cap))
	done
	printf '%016x\n' $((set & 0x$(status self CapPrm)))
}

is_confined() {
	[ "$(status "$1" Seccomp)" = 2 ] && [ "$(status "$1" NoNewPrivs)" = 1 ]
}

# assert_sets PID SET: what it may use, and nothing that a program it executes could get
assert_sets() {
	local name
	for name in CapPrm CapEff; do
		assert_equal "$name $(status "$1" $name)" "$name $2"
	done
	for name in CapInh CapAmb CapBnd; do
		assert_equal "$name $(status "$1" $name)" "$name 0000000000000000"
	done
}

need_seccomp() {
	has host.seccomp || skip "the kernel has no seccomp"
}

# reader NAME COMMAND...: runs it with a recording that does not arrive; its pid is in $pid
reader() {
	mkfifo "$1"
	exec {hold}<>"$1"
	"${@:2}" <"$1" >/dev/null 2>"$1.err" {hold}>&- &
	pid=$!
	soon is_confined $pid
}

end_reader() {
	kill -KILL $pid
	wait $pid 2>/dev/null || :
	exec {hold}>&-
}

test_readers_drop_all_but_reading() {
	local command
	need_seccomp
	for command in script report trace; do
		reader $command "$PERF_BPF" $command -i -
		assert_sets $pid "$(expected $DAC_READ_SEARCH $SYSLOG)"
		end_reader
	done
}

test_report_keeps_what_its_output_files_need() {
	need_seccomp
	mkdir ours theirs
	chown 4242 theirs
	reader ours.fifo "$PERF_BPF" report -i - --html ours/page.html
	assert_sets $pid "$(expected $DAC_READ_SEARCH $SYSLOG)"
	end_reader
	reader theirs.fifo "$PERF_BPF" report -i - --html theirs/page.html
	assert_sets $pid "$(expected $DAC_OVERRIDE $DAC_READ_SEARCH $FOWNER $SYSLOG)"
	end_reader
}

test_other_users_are_confined() {
	need_seccomp
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	chmod 711 "$top" . # the binary's folder may be closed to others, not its descriptor
	exec {binary}<"$PERF_BPF"
	setpriv --reuid 4242 --clear-groups "/proc/self/fd/$binary" --version >/dev/null 2>&1 ||
		skip "other users cannot run $PERF_BPF"
	reader script setpriv --reuid 4242 --clear-groups "/proc/self/fd/$binary" script -i -
	assert_equal "$(status $pid CapPrm)" 0000000000000000
	assert_equal "$(status $pid CapEff)" 0000000000000000
	end_reader
}

# The sets of this shell, and of a command that a measured one starts.
own_privileges() {
	grep -E '^(Cap|NoNewPrivs|Seccomp)' "/proc/$1/status"
}

test_record_keeps_what_recording_needs() {
	need_seccomp
	"$PERF_BPF" record -q -o perf.data -e task-clock -- sleep 100 &
	pid=$!
	soon is_confined $pid
	assert_sets $pid "$(expected $DAC_READ_SEARCH $KILL $IPC_LOCK $SYS_PTRACE $SYS_ADMIN $SYSLOG $PERFMON $BPF)"
	kill -INT $pid
	wait $pid || :
	expect_status 0 "$PERF_BPF" script
}

# The process of $pid that finds probe points is in $finder.
finder_is_confined() {
	finder=$(pgrep -P $pid -x perf-bpf-finder) && is_confined "$finder"
}

# What reads binaries and their debug information for probes attaches nothing.
test_probe_points_are_found_with_the_right_to_read() {
	need_seccomp
	local command definition="exec=$BUILD/tests/cmd/counted;main"
	cat >probe.bpf.c <<-END
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		SEC("$definition") int pbt_probe(void *ctx) { return 0; }
		char _license[] SEC("license") = "GPL";
	END
	for command in "record -q -o perf.data -e probe:$definition" "trace -e probe:$definition" "run probe.bpf.c"; do
		"$PERF_BPF" $command -- sleep 100 >/dev/null 2>err &
		pid=$!
		soon finder_is_confined
		assert_sets "$finder" "$(expected $DAC_READ_SEARCH $SYS_PTRACE $SYSLOG)"
		kill -KILL $pid $(pgrep -P $pid -x sleep)
		wait $pid 2>/dev/null || :
		soon eval "! kill -0 $finder 2>/dev/null"
	done
}

# After the recording binaries are read: with less than while it runs. To be seen in that phase it
# writes to a pipe that is full what it drops.
test_record_keeps_less_at_its_end() {
	need_seccomp
	mkfifo pipe
	exec {hold}<>pipe
	# of BPF programs that others unload meanwhile it would warn before that
	"$PERF_BPF" record -v --no-bpf-event -o perf.data -e task-clock -- sleep 100 2>pipe {hold}>&- &
	pid=$!
	soon is_confined $pid
	assert_equal "$(status $pid Seccomp_filters)" 1
	# it says so next, and could not go on if there was no room for that
	local line=
	until [[ $line = *'while recording: capabilities kept: '* ]]; do
		read -r -t 60 line <&$hold || fail "it does not say what it drops"
	done
	dd if=/dev/zero of=pipe bs=1 oflag=nonblock status=none 2>full && fail "the pipe is not full"
	kill -INT $pid
	soon at_its_end $pid
	assert_sets $pid "$(expected $DAC_READ_SEARCH $KILL $SYS_PTRACE $SYSLOG)"
	exec {all}<pipe {hold}>&-
	tr -d '\0' <&$all >rest & # ends when record has closed it
	wait $pid || :
	wait $!
	exec {all}<&-
	grep -q 'before binaries are read: capabilities kept: ' rest || fail "it does not say what it drops"
	expect_status 0 "$PERF_BPF" script
}
at_its_end() {
	[ "$(status "$1" Seccomp_filters)" = 2 ]
}

# It reads the symbols of programs that start later, and opens no more events.
test_top_keeps_what_symbols_need() {
	need_seccomp
	cat >late.c <<-'END'
		static volatile char pages[4096 * 20];
		__attribute__((noinline)) void pbt_touch(void)
		{
			for (int i = 0; i < 20; i++)
				pages[i * 4096] = 1;
		}
		int main(void) { pbt_touch(); return 0; }
	END
	gcc -O0 -o pbt_late late.c
	: >out
	"$PERF_BPF" top --stdio -d 0.2 -e page-faults:u -c 1 --comms pbt_late -v >out 2>err &
	pid=$!
	soon is_confined $pid
	assert_sets $pid "$(expected $DAC_READ_SEARCH $SYS_PTRACE $SYSLOG $PERFMON $IPC_LOCK $SYS_ADMIN)"
	late_is_shown() {
		./pbt_late
		grep -q '\[\.\] pbt_touch' out
	}
	soon late_is_shown
	kill -INT $pid
	wait $pid || fail "top: $?: $(cat err)"
	assert_contains err 'privileges dropped when sampling has started: '
	# events of threads are not opened again
	"$PERF_BPF" top --stdio -d 0.2 -e page-faults:u -p $$ >out 2>err &
	pid=$!
	soon is_confined $pid
	assert_sets $pid "$(expected $DAC_READ_SEARCH $SYS_PTRACE $SYSLOG)"
	kill -INT $pid
	wait $pid || fail "top -p: $?: $(cat err)"
}

test_run_keeps_what_looking_needs() {
	need_seccomp
	"$PERF_BPF" run -q syscount >/dev/null 2>err &
	pid=$!
	soon is_confined $pid
	assert_sets $pid "$(expected $DAC_READ_SEARCH $KILL $SYS_PTRACE $SYSLOG $BPF)"
	kill -INT $pid
	wait $pid || fail "run ended with $?: $(cat err)"
}

# confined_by EXPECTED COMMAND...: what COMMAND keeps. If it would end at once it needs -v: it says what
# it drops to a pipe that is full, so it is still there to be looked at.
confined_by() {
	local hold
	rm -f pipe
	mkfifo pipe
	exec {hold}<>pipe
	dd if=/dev/zero of=pipe bs=4096 oflag=nonblock status=none 2>full && fail "the pipe is not full"
	"${@:2}" 2>pipe >/dev/null {hold}>&- &
	pid=$!
	soon is_confined $pid
	assert_sets $pid "$1"
	kill -KILL $pid
	wait $pid 2>/dev/null || :
	exec {hold}>&-
}

test_inspectors_keep_what_finding_objects_needs() {
	need_seccomp
	local command finds="$DAC_READ_SEARCH $SYS_ADMIN $SYSLOG $PERFMON $BPF"
	for command in map prog link btf; do
		confined_by "$(expected $finds $SYS_PTRACE)" "$PERF_BPF" $command list -v
	done
	for command in "map dump 1" "map lookup 1 key 0" "map update 1 key 0 value 0" \
		"map delete 1 key 0" "link detach 1" "btf dump id 1"; do
		confined_by "$(expected $finds)" "$PERF_BPF" $command -v
	done
	confined_by "$(expected $finds $DAC_OVERRIDE)" "$PERF_BPF" prog pin 1 /sys/fs/bpf/none -v
	for command in "btf dump vmlinux" "btf show file $PERF_BPF -C struct"; do
		confined_by "$(expected $DAC_READ_SEARCH $SYSLOG)" "$PERF_BPF" $command -v
	done
}

test_inspectors_of_a_program() {
	need_seccomp
	local run id finds="$DAC_READ_SEARCH $SYS_ADMIN $SYSLOG $PERFMON $BPF"
	"$PERF_BPF" run -q syscount >/dev/null 2>err &
	run=$!
	soon is_confined $run
	id=$("$PERF_BPF" prog list | awk -v user="($run)" '/^[0-9]+: / { id = $1 + 0 } index($0, user) { print id; exit }')
	confined_by "$(expected $finds)" "$PERF_BPF" prog dump xlated $id -v
	confined_by "$(expected $finds)" "$PERF_BPF" prog dump xlated $id file code -v
	confined_by "$(expected $finds $KILL)" "$PERF_BPF" prog profile $id
	kill -INT $run
	wait $run || fail "run ended with $?: $(cat err)"
}

test_probe_keeps_what_reading_needs() {
	need_seccomp
	local command
	for command in "-F" "-x $PERF_BPF -F" "-x $PERF_BPF -V main" "-x $PERF_BPF main" \
		"exec=$PERF_BPF;place=main"; do
		DEBUGINFOD_URLS= confined_by "$(expected $DAC_READ_SEARCH $SYSLOG)" \
			"$PERF_BPF" probe -v $command
	done
	# how the kernel's functions can be attached to is tried
	DEBUGINFOD_URLS= confined_by "$(expected $DAC_READ_SEARCH $SYS_ADMIN $SYSLOG $PERFMON $BPF)" \
		"$PERF_BPF" probe -v vfs_read
}

test_watch_keeps_what_finding_programs_needs() {
	need_seccomp
	confined_by "$(expected $DAC_READ_SEARCH $KILL $SYS_ADMIN $SYSLOG $PERFMON $BPF)" "$PERF_BPF" watch
	# the commands that it runs are the user's
	"$PERF_BPF" watch --exec true -v >out 2>err &
	pid=$!
	soon [ -s out ]
	! is_confined $pid || fail "watch --exec is confined"
	kill -INT $pid
	wait $pid || fail "watch ended with $?: $(cat err)"
}

# A CPU that comes back needs new events.
test_run_keeps_what_events_on_cpus_need() {
	need_seccomp
	"$PERF_BPF" run -q profile >/dev/null 2>err &
	pid=$!
	soon is_confined $pid
	assert_sets $pid "$(expected $DAC_READ_SEARCH $KILL $SYS_PTRACE $SYSLOG $BPF $PERFMON $IPC_LOCK $SYS_ADMIN)"
	kill -INT $pid
	wait $pid || fail "run ended with $?: $(cat err)"
}

# Paths of descriptors and symbols are in /proc/PID of others; a summary needs neither.
test_trace_keeps_what_looking_needs() {
	need_seccomp
	local keeps="$DAC_READ_SEARCH $SYSLOG $BPF"
	trace_keeps "$(expected $keeps)" "$PERF_BPF" trace
	trace_keeps "$(expected $keeps $SYS_PTRACE $PERFMON $IPC_LOCK $SYS_ADMIN)" "$PERF_BPF" trace --strace -e sched:sched_process_exit
	trace_keeps "$(expected $keeps $SYS_PTRACE)" "$PERF_BPF" trace --strace -e sched:sched_process_exit -p $$
	trace_keeps "$(expected $keeps $SYS_PTRACE)" "$PERF_BPF" trace --record perf.data
	trace_keeps "$(expected $keeps $KILL)" "$PERF_BPF" trace -- sleep 100
	trace_keeps "$(expected $keeps $KILL)" "$PERF_BPF" trace -s -- sleep 100
	trace_keeps "$(expected $keeps)" "$PERF_BPF" trace -s
	! has host.landlock || assert_contains err 'files are read-only (Landlock ABI '
	trace_keeps "$(expected $keeps)" "$PERF_BPF" trace --strace -p $$
	! has host.landlock || assert_contains err 'files are read-only (Landlock ABI '
}
trace_keeps() {
	"${@:2:2}" -v "${@:4}" >/dev/null 2>err &
	pid=$!
	soon is_confined $pid
	assert_sets $pid "$1"
	soon grep -q 'tracing has started' err
	kill -INT $pid
	local status=0
	wait $pid || status=$?
	case "$status: $*" in
	0:* | *": "*" sleep 100") ;; # the command was ended
	*) fail "'${*:2}' ended with $status: $(tail -3 err)" ;;
	esac
	assert_contains err 'privileges dropped when tracing has started: capabilities kept: '
}

# With -D nothing is attached, so everything is still needed.
test_trace_with_a_delay_drops_later() {
	need_seccomp
	"$PERF_BPF" trace -s -D 1000000 >/dev/null 2>err &
	pid=$!
	soon waits_for_events $pid
	! is_confined $pid || fail "it is confined before it has attached anything"
	kill -INT $pid
	wait $pid || fail "trace ended with $?: $(cat err)"
	trace_keeps "$(expected $DAC_READ_SEARCH $SYSLOG $BPF)" "$PERF_BPF" trace -s -D 10
}

# What it still reads of processes that are another user's.
test_trace_reads_what_other_users_have() {
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	chmod 711 "$top" .
	mkdir theirs
	cat >work.c <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <sys/prctl.h>
		#include <unistd.h>
		__attribute__((noinline)) int their_work(int fd) { char c; return (int)pread(fd, &c, 1, 0) + 1; }
		int main(void)
		{
			int fd = open("theirs/data", O_RDONLY), n = 0;
			prctl(PR_SET_DUMPABLE, 0);
			puts("ready"); /* the loader has made its calls of pread64 */
			fclose(stdout);
			while (fd >= 0) { n += their_work(fd); usleep(1000); }
			return n & 1;
		}
	END
	cc -O0 -fno-omit-frame-pointer work.c -o theirs/work
	echo data >theirs/data
	chmod 711 theirs/work
	chown -R 4242 theirs
	chmod 700 theirs
	setpriv --reuid 4242 --clear-groups theirs/work >ready &
	work=$!
	soon test -s ready
	expect_status 0 "$PERF_BPF" trace -p $work -e pread64 --call-graph dwarf --max-events 2
	assert_contains err "$PWD/theirs/data"
	assert_contains err their_work
	expect_status 0 "$PERF_BPF" trace -p $work -e pread64 --strace -y --max-events 2
	assert_contains err "$PWD/theirs/data"
	kill $work
}

# What code of an attacker can do in each command; doc/security.md says the same.
test_what_is_left_to_an_attacker() {
	need_seccomp
	has host.landlock || skip "the kernel has no Landlock"
	[ -z "${SANITIZED:-}" ] || skip "the sanitizers need more system calls"
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	local victim root command can all
	setpriv --reuid 4242 --clear-groups sleep 1000 &
	victim=$!
	sleep 1000 &
	root=$!
	soon grep -q '^Uid:.4242' /proc/$victim/status
	soon grep -q sleep /proc/$victim/comm
	soon grep -q sleep /proc/$root/comm
	echo secret >secret
	chown 4242 secret
	chmod 600 secret
	all="read_file create_file change_file change_mode read_memory change_memory"
	all+=" change_root trace_process signal_process signal_root read_map change_map"
	all+=" find_map make_map load_program attach_program sample_everybody connect mount"
	all+=" run_new_code start_process execute"
	while IFS=: read -r command can; do
		printf '#!\n' >target
		chmod 755 target
		rm -f created
		"$BUILD/tests/cmd/taken_over" "$command" $victim $root >out 2>err || fail "$command: $(cat err)"
		assert_equal "$command:$(cat out)" "$command:${can:+ $can}"
	done <<-END
		nothing:$all
		report, of files below --symfs:read_file
		report:read_file
		report --html:read_file create_file change_file
		report, the browser:read_file signal_root
		the process that reads the kernel's code:
		the process that opens perf maps:read_file read_memory
		the process that demangles names:
		the process that finds probe points:read_file read_memory
		record:read_file read_memory signal_process signal_root read_map change_map find_map attach_program sample_everybody
		record, at its end:read_file read_memory signal_process signal_root
		record, the process that copies files:create_file change_file
		record --switch-output:read_file read_memory signal_process signal_root read_map change_map find_map attach_program sample_everybody
		record --switch-output, the process that creates files:create_file change_file
		run:read_file read_memory signal_process signal_root read_map change_map
		run, with events on CPUs:read_file read_memory signal_process signal_root read_map change_map find_map attach_program sample_everybody
		run, with maps of maps:read_file read_memory signal_process signal_root read_map change_map find_map
		run --html, the process that writes files:read_file create_file change_file
		run --openmetrics, the server:
		trace:read_file read_memory signal_process signal_root read_map
		trace, with events on CPUs:read_file read_memory signal_process signal_root read_map change_map find_map attach_program sample_everybody
		trace -s:read_file read_map
		top:read_file read_memory signal_root
		top, of all processes:read_file read_memory signal_root attach_program sample_everybody
		top, of very many threads:read_file read_memory signal_root read_map change_map find_map attach_program sample_everybody
		watch:read_file signal_process signal_root read_map find_map
		probe:read_file
		probe, of the kernel:read_file change_map make_map load_program attach_program sample_everybody
		map dump:read_file read_map find_map
		map update:read_file read_map change_map find_map
		map list:read_file read_memory read_map find_map
	END
	kill $victim $root
}

# What the command cannot write, a process writes that reads nothing else.
test_files_are_written_by_a_process_of_their_own() {
	need_seccomp
	mkdir theirs
	chown 4242 theirs
	"$PERF_BPF" run -q syscount --html theirs/page.html -- sleep 1000 >/dev/null 2>err &
	pid=$!
	soon is_confined $pid
	assert_sets $pid "$(expected $DAC_READ_SEARCH $KILL $SYS_PTRACE $SYSLOG $BPF)"
	assert_sets "$(writer_of $pid)" "$(expected $DAC_OVERRIDE $DAC_READ_SEARCH $FOWNER)"
	kill -INT $pid
	wait $pid || :
	assert_contains theirs/page.html '</html>'

	PERF_BUILDID_DIR=$PWD/cache "$PERF_BPF" record -q -o perf.data -e task-clock -- sleep 1000 2>err &
	pid=$!
	soon is_confined $pid
	assert_sets "$(writer_of $pid)" 0000000000000000
	kill -KILL "$(writer_of $pid)" # what it was asked for is missing, and nothing else
	kill -INT $pid
	wait $pid || :
	expect_status 0 "$PERF_BPF" script
}
# writer_of PID: the process that writes its files, without standard streams and descriptors of ours
writer_of() {
	local writer
	writer=$(pgrep -P "$1" -x perf-bpf-files)
	is_confined "$writer" || fail "the process that writes files is not confined"
	! readlink /proc/$writer/fd/* | grep -vE "^(/dev/null|socket:|$PWD/cache)" ||
		fail "the process that writes files has more open than it needs"
	echo "$writer"
}

# Requests are read by a process that has nothing: no capabilities, and no descriptors of ours.
test_the_metrics_server_has_no_privileges() {
	need_seccomp
	"$PERF_BPF" run syscount --openmetrics 127.0.0.1:0 --html page.html >/dev/null 2>err &
	pid=$!
	soon is_confined $pid
	local server
	server=$(pgrep -P $pid -x perf-bpf)
	is_confined "$server" || fail "the server is not confined"
	assert_sets "$server" 0000000000000000
	! readlink /proc/$server/fd/* | grep -vE '^(/dev/null|socket:|anon_inode:\[(eventpoll|timerfd)\]$)' ||
		fail "the server has more open than it needs"
	python3 -c 'import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1]).read().decode())' \
		"$(grep -o 'http://.*' err)" >metrics
	assert_contains metrics perf_bpf_syscount
	kill -INT $pid
	wait $pid || fail "run ended with $?: $(cat err)"
	[ ! -e /proc/$server ] || fail "the server did not end"
	assert_contains page.html '</html>'
}

test_the_workload_keeps_everything() {
	own_privileges self >wanted
	expect_status 0 "$PERF_BPF" record -o perf.data -e task-clock -- grep -E '^(Cap|NoNewPrivs|Seccomp)' /proc/self/status
	diff wanted out || fail "the workload of record has lost something"
	expect_status 0 "$PERF_BPF" run -q syscount --json -- grep -E '^(Cap|NoNewPrivs|Seccomp)' /proc/self/status
	grep -v '^{' out | diff wanted - || fail "the workload of run has lost something"
}

record() {
	"$PERF_BPF" record -q -o perf.data -e task-clock -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done' ||
		fail "record: $?"
}

test_output_files_are_written() {
	record
	mkdir theirs
	chown 4242 theirs
	chmod 700 theirs
	expect_status 0 "$PERF_BPF" report --html page.html --pprof theirs/profile
	assert_contains page.html '</html>'
	[ -s theirs/profile ] || fail "the profile was not written"
	expect_status 0 "$PERF_BPF" report --html /dev/stdout
	assert_contains out '</html>'
	expect_status 0 "$PERF_BPF" report --html /dev/stderr
	assert_contains err '</html>'
}

test_verbose_says_what_was_dropped() {
	record
	expect_status 0 "$PERF_BPF" script -v
	assert_contains err 'privileges dropped before the recording is opened: '
	has host.seccomp && assert_contains err 'system calls are filtered'
	has host.landlock && assert_contains err 'files are read-only (Landlock ABI '
	expect_status 0 "$PERF_BPF" report -vv --html page.html
	has host.landlock && assert_contains err 'files are read-only except in the directories of the output files'
	expect_status 0 "$PERF_BPF" script
	! grep privileges err || fail "it says so without -v"
}

# Binaries that only their owner can read are still found by root.
test_files_of_other_users_have_symbols() {
	mkdir -m 700 theirs
	cat >work.c <<-'END'
		volatile long sum;
		__attribute__((noinline)) void their_work(void) { for (long i = 0; i < 300000000; i++) sum += i; }
		int main(void) { their_work(); return 0; }
	END
	cc -O1 work.c -o theirs/work
	chmod 700 theirs/work
	chown -R 4242 theirs
	"$PERF_BPF" record -q -N -o perf.data -e task-clock -- theirs/work
	expect_status 0 "$PERF_BPF" report -s symbol
	assert_contains out their_work
}

run_tests
