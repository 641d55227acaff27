#!/usr/bin/env bash
# perf-bpf trace: against a workload that counts for itself, against strace, and against perf trace.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

# Opens: 3 that succeed, 5 that fail; getppid: 7; two sleeps; getppid of a child: 13, of a thread: 11. The
# ids of the child and of the process are printed.
CALLS="./pbt_calls opens 3 /etc/passwd , call openat 5 -100 /nonexistent/pbt 66 0640 , call getppid 7
	, sleeps 2 30000 , forks 1 call getppid 13 + pid , threads 1 call getppid 11 , pid ,"

make_workload() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	workload_as pbt_calls
}

# The workload's status is 7.
trace() {
	local status=0
	"$PERF_BPF" trace --log lines "$@" >out 2>err || status=$?
	[ $status = 7 ] || { sed 's/^/# | /' err; fail "trace $* ended with $status"; }
}

pid() { sed -n 2p out; }
child() { sed -n 1p out; }

# lines_of PATTERN: how many lines match
lines_of() { grep -cE -- "$1" lines || true; }

test_calls_are_lines_with_their_arguments() {
	make_workload
	trace -e openat,getppid,nanosleep -- $CALLS exit 7
	pid=$(pid) child=$(child)
	at='^ *-?[0-9]+\.[0-9]{3} \( *[0-9]+\.[0-9]{3} ms\): '
	assert_equal "$(lines_of "${at}pbt_calls/$pid openat\(dfd: CWD, filename: \"/etc/passwd\".*\) += [0-9]+</etc/passwd>\$")" 3
	assert_equal "$(lines_of "${at}pbt_calls/$pid openat\(dfd: CWD, filename: \"/nonexistent/pbt\", flags: (CREAT\|RDWR|RDWR\|CREAT).*\) += -1 ENOENT \(No such file or directory\)\$")" 5
	assert_equal "$(lines_of "${at}pbt_calls/$pid getppid\(\) +=")" 7
	assert_equal "$(lines_of "${at}pbt_calls/$child getppid\(\) += $pid")" 13
	assert_equal "$(lines_of "getppid\(\)")" 31
	# perf's column of results
	assert_equal "$(sed -n "s/^.*: pbt_calls\/$pid getppid()\( *\)= .*/\1/p" lines | awk '{ print length($0) }' | sort -u)" 61
	! grep -vE "openat|getppid|nanosleep" lines || fail "other calls"
}

test_only_what_fails_and_what_takes_long() {
	make_workload
	trace -e openat,getppid --failure -- $CALLS exit 7
	assert_equal "$(lines_of /nonexistent/pbt)" 5
	! grep -v ENOENT lines || fail "calls that did not fail"
	trace -e openat,getppid,nanosleep --duration 20 -- $CALLS exit 7
	assert_equal "$(lines_of 'nanosleep')" 2
}

test_children_are_followed_unless_not_wanted() {
	make_workload
	trace -e getppid --no-inherit -- $CALLS exit 7
	assert_equal "$(lines_of "pbt_calls/$(pid) getppid\(\)")" 7
	assert_equal "$(lines_of 'getppid\(\)')" 18 # its threads are not children
	trace -e getppid --no-comm -- $CALLS exit 7
	assert_equal "$(lines_of "ms\): $(child) getppid")" 13
}

# check EXPRESSION: calls is the list of lines, by JSON; sums and errors are the summary's rows
check() {
	python3 - "$(pid)" "$(child)" "$1" <<-'END'
		import json, sys
		pid, child = int(sys.argv[1]), int(sys.argv[2])
		lines = [json.loads(l) for l in open("lines")]
		calls = [l for l in lines if l.get("type") == "call"]
		sums, errors, hists = [], [], []
		for l in lines:
		    if l.get("schema") == "perf-bpf-trace/1":
		        if l["summary"] == "calls": sums = l["rows"]
		        if l["summary"] == "errors": errors = l["rows"]
		        if l["summary"] == "durations": hists = l["hists"]
		def of(rows, **want):
		    return [r for r in rows if all(r.get(k) == v for k, v in want.items())]
		assert eval(sys.argv[3]), (sums, errors, calls[:3])
	END
}

test_json() {
	make_workload
	trace --json -e openat,getppid,exit_group -- $CALLS exit 7
	check 'len(of(calls, syscall="getppid", pid=pid)) == 7 + 11'
	check 'len(of(calls, syscall="getppid", pid=child, ret=pid)) == 13'
	check 'len(of(calls, syscall="openat", tid=pid, error="ENOENT")) == 5'
	check 'all(c["args"]["filename"] == "/nonexistent/pbt" for c in of(calls, error="ENOENT", tid=pid) if "pbt" in c["args"]["filename"])'
	check 'all(0 <= c["duration_ns"] < 60e9 for c in calls if "no_exit" not in c)'
	check '[c["no_exit"] for c in of(calls, syscall="exit_group")] == [True, True]'
	check 'all(c["comm"] == "pbt_calls" for c in of(calls, pid=child))'
}

# Without --log, JSON is what a pipe to jq reads; messages are not among it.
test_json_goes_to_standard_output() {
	make_workload
	"$PERF_BPF" trace --json -e getppid -- sh -c "${CALLS//$'\n'/} exit 7 >calls.out" >lines 2>err || [ $? = 7 ] ||
		fail "$(cat err)"
	mv calls.out out
	check 'len(of(calls, syscall="getppid", pid=pid)) == 7 + 11'
	[ ! -s err ] || fail "$(cat err)"
}

# A reader that is stopped: what had no room in the ring is counted by call, to the last one, and
# the sums do not miss any.
test_losses_are_exact() {
	make_workload
	printf 'kill -STOP $PPID\n%s 20000\nkill -CONT $PPID\n' "$BUILD/tests/cmd/counted" >lossy.sh
	"$PERF_BPF" trace -m 16K -S -e getpriority --log lines -- sh lossy.sh >out 2>err || fail "$(cat err)"
	local shown lost
	shown=$(lines_of ' getpriority\(')
	lost=$(sed -n 's/^LOST \([0-9]*\) events: \([0-9]*\) getpriority; .*/\2/p' err)
	[ "${lost:-0}" -gt 0 ] || fail "nothing was lost: $(cat err)"
	assert_equal $((shown + lost)) 20000
	assert_equal "$(awk '$1 == "getpriority" { print $2 }' lines)" 20000
	"$PERF_BPF" trace -m 16K --json -e getpriority -- sh lossy.sh >lines 2>err || fail "$(cat err)"
	assert_contains err "LOST "
	shown=$(grep -c '"type":"call"' lines)
	lost=$(python3 -c 'import json, sys
for line in map(json.loads, open("lines")):
    if line.get("type") == "lost" and line["kind"] == "events":
        assert {c["syscall"] for c in line["calls"]} == {"getpriority"}
        assert sum(c["n"] for c in line["calls"]) == line["n"]
        assert len({c["cpu"] for c in line["calls"]}) == len(line["calls"])
        print(line["n"])')
	assert_equal $((shown + ${lost:-0})) 20000
}

# trace -i shows the calls that trace --record recorded: as many, with the same results, and what their
# arguments pointed to. perf, which does not know about the latter, reads them all the same.
test_recordings_are_shown() {
	make_workload
	trace -e openat,getppid --record t.data -- $CALLS exit 7
	pid=$(pid)
	"$PERF_BPF" trace -i t.data >lines 2>&1 || fail "$(cat lines)"
	assert_equal "$(lines_of 'getppid\(\)')" 31
	assert_equal "$(lines_of "pbt_calls/$pid openat\(.*filename: \"/nonexistent/pbt\".*\) += -1 ENOENT \(No such file or directory\)\$")" 5
	command -v perf >/dev/null || skip "perf is not installed"
	perf script -i t.data >lines 2>err || fail "$(cat err)"
	assert_equal "$(lines_of 'sys_enter: NR 110 ')" 31
	assert_equal "$(lines_of 'sys_exit: NR 257 = -2$')" "$(lines_of 'sys_exit: NR 257 = -')"
}

# The summary of a recording is that of the trace which wrote it, in every number.
test_recordings_are_summed_up() {
	make_workload
	local mode
	for mode in thread total; do
		trace -S --json --errno-summary --histograms --summary-mode $mode --record t.data -- $CALLS exit 7
		grep '"summary"' lines | sed 's/"time_ns":[0-9]*//' >live
		"$PERF_BPF" trace -s --json --errno-summary --histograms --summary-mode $mode -i t.data |
			sed 's/"time_ns":[0-9]*//' >recorded
		cmp live recorded || fail "$mode: the summaries differ"
		assert_contains recorded '"syscall":"getppid"'
	done
}

# A recording that is truncated shows what is left of it, and is an error.
test_truncated_recordings() {
	make_workload
	trace -e getppid --record t.data -- $CALLS exit 7
	head -c -50 t.data >cut.data
	expect_status 1 "$PERF_BPF" trace -i cut.data
	assert_contains err "cut.data: the recording is truncated: header features are missing"
	assert_equal "$(grep -c 'getppid()' err)" 31
	read -r offset size < <(od -An -t u8 -j 40 -N 16 t.data) # of the events
	head -c $((offset + size / 2)) t.data >cut.data
	expect_status 1 "$PERF_BPF" trace -i cut.data
	assert_contains err "bytes of events are missing"
}

test_summary_is_what_the_workload_did() {
	make_workload
	trace -s --json --errno-summary --histograms -- $CALLS exit 7
	check 'of(sums, syscall="getppid", tid=pid)[0]["calls"] == 7'
	check 'of(sums, syscall="getppid", tid=child)[0]["calls"] == 13'
	check 'sum(r["calls"] for r in of(sums, syscall="getppid", pid=pid)) == 18'
	check 'of(sums, syscall="nanosleep", tid=pid)[0]["min_ns"] >= 30000000'
	check 'of(sums, syscall="openat", tid=pid)[0]["errors"] == sum(r["count"] for r in of(errors, syscall="openat", tid=pid))'
	check 'of(errors, syscall="openat", tid=pid, errno_text="ENOENT")[0]["count"] >= 5'
	check 'all(r["min_ns"] <= r["avg_ns"] <= r["max_ns"] <= r["total_ns"] for r in sums)'
	check 'len(hists) == len(sums) and sum(h["total"] for h in hists) <= sum(r["calls"] for r in sums)'
	trace -s --summary-mode total -- $CALLS exit 7
	assert_contains lines " Summary of events:"
	assert_equal "$(awk '$1 == "getppid" { print $2 }' lines)" 31
	grep -qE '^   openat +[0-9]+ +[0-9]+( +[0-9]+\.[0-9]{3}){4} +[0-9]+\.[0-9]{2}%$' lines ||
		fail "not perf's layout"
	trace -S -e getppid -- $CALLS exit 7
	assert_equal "$(lines_of 'getppid\(\)')" 31
	assert_contains lines " pbt_calls ($(pid)), 7 events"
}

# A struct that has no form of its own; with --force-btf also one that has, and an enumerator as the
# integer that it is in BTF.
test_structs_by_btf() {
	make_workload
	[ -e /sys/kernel/tracing/events/syscalls/sys_enter_setxattrat ] || skip "no setxattrat"
	cat >pbt_btf.c <<-'END'
		#include <fcntl.h>
		#include <time.h>
		#include <unistd.h>

		int main(void)
		{
			/* on the stack: the pages of constants may not be in memory yet */
			char path[] = "/nonexistent", name[] = "user.pbt";
			struct timespec nap = {0, 1000};
			struct {
				unsigned long value;
				unsigned int size, flags;
			} args = {0x1234, 5, 6};

			syscall(463, AT_FDCWD, path, 0, name, &args, sizeof(args));
			clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
			return 7;
		}
	END
	gcc -o pbt_btf pbt_btf.c
	trace -e setxattrat,clock_nanosleep -- ./pbt_btf
	assert_contains lines "uargs: { .value: 4660, .size: 5, .flags: 6 }, usize: 16"
	assert_contains lines "clock_nanosleep(which_clock: MONOTONIC, rqtp: { .tv_sec: 0, .tv_nsec: 1000 })"
	trace --strace -e setxattrat -- ./pbt_btf
	assert_contains lines '"user.pbt", {value=4660, size=5, flags=6}, 16)'
	trace --force-btf -e clock_nanosleep -- ./pbt_btf
	assert_contains lines "clock_nanosleep(which_clock: 1, rqtp: { .tv_sec: 0, .tv_nsec: 1000 })"
	trace --json -e setxattrat -- ./pbt_btf
	assert_contains lines '"uargs":{"value":4660,"size":5,"flags":6}'
}

# The kernel takes an int from the lower half of a register; the program does the same, and copies
# 16 bytes, not as much as a record can have.
test_counts_that_are_ints() {
	make_workload
	cat >pbt_int.c <<-'END'
		#include <netinet/in.h>
		#include <sys/syscall.h>
		#include <unistd.h>

		int main(void)
		{
			struct sockaddr_in at[1024] = {{.sin_family = AF_INET, .sin_port = 0x901f}};

			for (int i = 0; i < 100; i++)
				syscall(SYS_connect, -1, at, 0xdeadbeef00000000ul + sizeof(at[0]));
			return 7;
		}
	END
	gcc -o pbt_int pbt_int.c
	trace --strace -e connect --tool_stats -- ./pbt_int
	assert_equal "$(lines_of 'sin_port=htons\(8080\), sin_addr=inet_addr\("0.0.0.0"\)}, 16\) = -1 EBADF')" 100
	bytes=$(sed -n 's/.*records: [0-9]* (\([0-9]*\) bytes.*/\1/p' err)
	[ "$bytes" -gt 10000 ] && [ "$bytes" -lt 40000 ] || fail "100 records have $bytes bytes"
}

# The memory of fcntl's argument is copied only for the commands that have any: the argument of the
# others may be an address by accident, or one that faults, which takes longer than the call.
test_commands_of_fcntl() {
	make_workload
	cat >pbt_fcntl.c <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <sys/mman.h>
		#include <sys/syscall.h>
		#include <unistd.h>

		int main(void)
		{
			struct flock lock = {F_WRLCK, SEEK_SET, 10, 5}, got = {F_RDLCK, SEEK_SET, 1, 1};
			struct f_owner_ex owner = {F_OWNER_PID, 0};
			int fd = memfd_create("pbt", 0);

			for (int i = 0; i < 100; i++)
				syscall(SYS_fcntl, -1, F_DUPFD, &lock);
			syscall(SYS_fcntl, fd, F_SETLK, &lock);
			syscall(SYS_fcntl, fd, F_OFD_GETLK, &got);
			syscall(SYS_fcntl, fd, F_GETLK, &lock);
			syscall(SYS_fcntl, fd, F_GETOWN_EX, &owner);
			syscall(SYS_fcntl, fd, F_SETOWN_EX, &owner);
			return 7;
		}
	END
	gcc -o pbt_fcntl pbt_fcntl.c
	trace --strace -e fcntl --tool_stats -- ./pbt_fcntl
	assert_equal "$(lines_of '\(-1, F_DUPFD, -?[0-9]+\) += -1 EBADF')" 100
	assert_contains lines "F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=10, l_len=5}) = 0"
	assert_contains lines "F_OFD_GETLK, {l_type=F_UNLCK, l_whence=SEEK_SET, l_start=1, l_len=1, l_pid=0}) = 0"
	assert_contains lines "F_GETLK, {l_type=F_UNLCK, l_whence=SEEK_SET, l_start=10, l_len=5, l_pid=0}) = 0"
	assert_contains lines "F_GETOWN_EX, {type=F_OWNER_TID, pid=0}) = 0"
	assert_contains lines "F_SETOWN_EX, {type=F_OWNER_TID, pid=0}) = 0"
	bytes=$(sed -n 's/.*records: [0-9]* (\([0-9]*\) bytes.*/\1/p' err)
	[ "$bytes" -gt 8800 ] && [ "$bytes" -lt 10500 ] || fail "105 records have $bytes bytes"
}

# The workload runs in two cgroups, once and twice; the third is gone when the sums are printed.
test_summary_by_cgroup() {
	make_workload
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$root" ] || skip "no cgroup2 is mounted"
	one=$root/pbt_one_$$ two=$root/pbt_two_$$ gone=$root/pbt_gone_$$
	mkdir "$one" "$two" "$gone" || skip "no cgroup can be made"
	trap 'rmdir "$one" "$two" "$gone" 2>/dev/null || :' EXIT
	id=$(stat -c %i "$gone")
	cat >in_cgroups <<-END
		for cgroup in $one $two $two $gone; do
			sh -c 'echo \$\$ >'\$cgroup'/cgroup.procs && exec ${CALLS//$'\n'/} exit 7 >/dev/null'
		done
		while [ -d $gone ] && ! rmdir $gone 2>/dev/null; do sleep 0.1; done
		echo 0
		echo 0
		exit 7
	END
	trace -s --summary-mode cgroup --json --errno-summary -- bash ./in_cgroups
	check 'of(sums, syscall="getppid", cgroup="/'"${one##*/}"'")[0]["calls"] == 31'
	check 'of(sums, syscall="getppid", cgroup="/'"${two##*/}"'")[0]["calls"] == 62'
	check 'of(sums, syscall="getppid", cgroup="id:'"$id"'")[0]["calls"] == 31'
	check 'of(errors, syscall="openat", cgroup="/'"${two##*/}"'", errno_text="ENOENT")[0]["count"] >= 10'
	check 'of(sums, syscall="nanosleep", cgroup="/'"${two##*/}"'")[0]["min_ns"] >= 30000000'
	rmdir "$two"
	expect_status 2 "$PERF_BPF" trace -i t.data -s --summary-mode cgroup
	assert_contains err "a recording does not have the cgroups of calls"
	cp in_cgroups all
	sed -i "s,^for.*,for cgroup in $one; do," all
	trace -s --summary-mode cgroup -- bash ./all
	assert_equal "$(awk '$1 == "cgroup" { here = $2 == "/'"${one##*/}"'," } here && $1 == "getppid" { print $2 }' lines)" 31
}

# The counts of all calls, of both: "CALLS ERRORS NAME".
test_summary_is_strace_c() {
	make_workload
	command -v strace >/dev/null || skip "strace is not installed"
	trace -s --summary-mode total -- $CALLS exit 7
	awk '$6 ~ /^[0-9.]+$/ && $8 ~ /%$/ || $7 ~ /%$/ { print $2, $3, $1 }' lines | sort -k3 >ours
	strace -fc -U calls,errors,name -o theirs $CALLS exit 7 >out || true
	awk 'NF == 2 && $1 ~ /^[0-9]+$/ { print $1, 0, $2 } NF == 3 && $1 ~ /^[0-9]+$/ { print $1, $2, $3 }' theirs |
		grep -v ' total$' | sort -k3 >strace
	# a thread's exit, and exit_group, are no calls of strace -c; a futex depends on time
	for f in ours strace; do
		grep -vE ' (exit|exit_group|futex|rt_sigprocmask)$' $f >$f.same
	done
	diff -u strace.same ours.same || fail "strace -c (-) and trace -s (+) differ"
}

test_status_is_the_commands() {
	make_workload
	expect_status 1 "$PERF_BPF" trace --log lines false
	expect_status 143 "$PERF_BPF" trace --log lines -- $CALLS kill 15
	expect_status 255 "$PERF_BPF" trace --log lines /nonexistent/command
	assert_contains err "/nonexistent/command"
}

test_strace_says_how_it_ended() {
	make_workload
	trace --strace -e getppid,exit_group -- $CALLS exit 7
	assert_contains lines "+++ exited with 7 +++"
	grep -qE "^\[pid +$(child)\] getppid\(\) +=" lines || fail "the child's lines are not marked"
	expect_status 137 "$PERF_BPF" trace --strace --log lines -- $CALLS kill 9
	assert_contains lines "+++ killed by SIGKILL +++"
}

test_ends_after_so_many_lines() {
	make_workload
	timeout 60 "$PERF_BPF" trace --max-events 5 --log lines yes >/dev/null || true
	assert_equal "$(wc -l <lines)" 5
}

test_nobody_reads() {
	make_workload
	timeout 60 "$PERF_BPF" trace yes 2>&1 >/dev/null | head -n 1 >first
	grep -q 'ms): yes/' first || fail "no line: $(cat first)"
}

sleeper() {
	sleep 1000 &
	sleeper=$!
}

tracing() { [ -s lines ]; }

test_ctrl_c_ends_it_with_all_lines() {
	make_workload
	sh -c 'while :; do /bin/true; done' &
	busy=$!
	"$PERF_BPF" trace -p $busy --log lines -S 2>err &
	tracer=$!
	soon tracing
	kill -INT $tracer
	status=0
	wait $tracer || status=$?
	kill $busy
	assert_equal $status 0
	assert_contains lines "Summary of events"
	assert_equal "$(tail -c 1 lines | od -An -c | tr -d ' ')" '\n'
}

test_unknown_calls_and_options() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	expect_status 2 "$PERF_BPF" trace -e openatt true
	assert_contains err "openatt"
	assert_contains err "'openat'"
	expect_status 2 "$PERF_BPF" trace --duration 1x true
	expect_status 2 "$PERF_BPF" trace --string-size -1 true
	expect_status 2 "$PERF_BPF" trace --summary-mode cpu true
	expect_status 2 "$PERF_BPF" trace -u nobody_of_this_name true
	expect_status 2 "$PERF_BPF" trace -p 999999999 true
	expect_status 2 "$PERF_BPF" trace --json --strace true
}

test_without_privilege() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	cp "$PERF_BPF" ./perf-bpf-copy
	chmod 755 . ./perf-bpf-copy
	expect_status 1 setpriv --reuid 65534 --clear-groups ./perf-bpf-copy trace true
	assert_contains err "CAP_BPF"
}

programs() { "$PERF_BPF" prog | grep -c "pids.*perf-bpf($1)" || true; }
no_programs() { [ "$(programs "$1")" = 0 ]; }
some_programs() { [ "$(programs "$1")" != 0 ]; }

test_nothing_is_left_after_kill_9() {
	make_workload
	sleeper
	"$PERF_BPF" trace -p $sleeper --log lines 2>err &
	tracer=$!
	soon some_programs $tracer
	"$PERF_BPF" prog | grep "pids.*perf-bpf($tracer)" -B3 | sed -n 's/^\([0-9]*\): .*/\1/p' >ids
	kill -9 $tracer
	wait $tracer || true
	kill $sleeper
	soon no_programs $tracer
	for id in $(cat ids); do
		gone() { ! "$PERF_BPF" prog show id $id >/dev/null 2>&1; }
		soon gone
	done
}

test_we_are_left_out() {
	make_workload
	"$PERF_BPF" trace -a -v --log lines -- $CALLS exit 7 >out 2>err || true
	grep -qE 'not traced: process [0-9]+ \(perf-bpf\)' err || fail "perf-bpf is not named"
	self=$(sed -n 's/.*not traced: process \([0-9]*\) (perf-bpf).*/\1/p' err | tail -n 1)
	! grep -q ": perf-bpf/$self " lines || fail "perf-bpf traces itself"
	# Others may make more calls than there is room for, but not of this one.
	"$PERF_BPF" trace -a -e getppid --log lines -- $CALLS exit 7 >out 2>err || true
	assert_equal "$(lines_of "pbt_calls/$(pid) getppid")" 7
}

# Lines as both print them: without addresses, ids of processes, names of temporary files, and the
# calls whose results differ in each run. strace adds dates to times, and a second name to FICLONE.
normal() {
	grep -vE '^(\[pid +[0-9]+\] |[0-9]+ +)?(\+\+\+|---) ' "$1" |
		sed -E 's/^(\[pid +[0-9]+\] |[0-9]+ +)//; s/0x[0-9a-f]{6,}/ADDR/g; s/\) += /) = /
			s/\b[0-9]{9,}\b/N/g; s/ \/\* [0-9]{4}-[^*]*\*\///g; s/^(set_tid_address|get[ptg]id|getppid)(\(.*) = [0-9]+$/\1\2 = N/
			s/\.git\/t[A-Za-z0-9]{6}"/.git\/TEMPORARY"/g' |
		grep -vE '^(getrandom|sysinfo|getrusage|times)\(|FICLONE'
}

# same_as_strace COMMAND...: each is run in a folder of its own, the second time, when its caches are warm
same_as_strace() {
	for dir in before peer1 peer2; do
		rm -rf $dir
		mkdir $dir
	done
	(cd before && "$@" >/dev/null 2>&1 </dev/null) || true
	(cd peer1 && strace -f -e signal=none -o ../strace.out "$@" >/dev/null 2>&1 </dev/null) || true
	(cd peer2 && "$PERF_BPF" trace --strace --log ../ours.out -- "$@" >/dev/null 2>&1 </dev/null) || true
	normal strace.out | sed "s|$PWD/peer1|DIR|g" >strace.same
	normal ours.out | sed "s|$PWD/peer2|DIR|g" >ours.same
	[ "$(wc -l <strace.same)" -gt 20 ] || fail "strace printed only: $(cat strace.out)"
	diff -u strace.same ours.same >diff || {
		sed 's/^/# /' diff | cut -c1-160 | head -40
		fail "$*: strace (-) and trace --strace (+) differ"
	}
}

test_coreutils_as_strace_prints_them() {
	make_workload
	command -v strace >/dev/null || skip "strace is not installed"
	same_as_strace ls -l /etc
	same_as_strace cat /etc/passwd
	same_as_strace cp /etc/passwd copy
	same_as_strace mkdir -p a/b/c
	same_as_strace touch -d 2020-01-01 file
	same_as_strace ln -s target link
	same_as_strace stat /etc/passwd
	same_as_strace wc /etc/passwd
	same_as_strace id
	same_as_strace date +%Y
	same_as_strace rm -f nothing
}

test_git_and_sqlite_as_strace_prints_them() {
	make_workload
	command -v strace >/dev/null || skip "strace is not installed"
	command -v sqlite3 >/dev/null || skip "sqlite3 is not installed"
	same_as_strace git init -q
	same_as_strace sqlite3 db 'select count(*) from sqlite_master' # no journal, which has random numbers
	same_as_strace /usr/bin/python3 -S -c 'import json, os; print(json.dumps(os.listdir("/")))'
}

test_maps_are_shown() {
	make_workload
	"$PERF_BPF" trace -a -v -s --log lines --dump-map pids_filtered -- $CALLS exit 7 >out 2>err || true
	for pid in $(sed -n 's/.*not traced: process \([0-9]*\) .*/\1/p' err); do
		grep -qE "\"key\": $pid,?\$" err || fail "process $pid is not in the map"
	done
	expect_status 2 "$PERF_BPF" trace --dump-map pids_filterd true
	assert_contains err "'pids_filtered'"
}

test_32_bit_calls() {
	make_workload
	[ "$(uname -m)" = x86_64 ] || skip "this is for x86-64"
	"$WORKLOAD" call32 64 1 2>/dev/null || skip "this kernel has no 32-bit calls"
	# 64 is getppid; 4 is write here and stat for 64 bits
	trace --json -- "$WORKLOAD" call32 64 3 , call32 4 1 -1 0 0 , exit 7
	printf "0\n0\n" >out
	check 'len(of(calls, syscall="getppid", abi="32")) == 3'
	check '[c["error"] for c in of(calls, syscall="write", abi="32")] == ["EBADF"]'
	check 'not of(calls, syscall="semget")'
}

run_tests
