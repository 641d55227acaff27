#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Options of trace that select processes and CPUs, and that change what is printed.
. "$(dirname "$0")/../tap.sh"
WORK=$BUILD/tests/cmd/trace_work

# trace OPTION... -- COMMAND: ./lines and ./err
trace() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	expect_status 0 "$PERF_BPF" trace --log lines "$@"
}

# is N PATTERN: so many lines of ./lines match
is() {
	local n
	n=$(grep -cE -- "$2" lines || :)
	[ "$n" = "$1" ] || { head -20 lines | sed 's/^/# | /'; fail "$n lines match '$2', wanted $1"; }
}

# Also of a command that has ended before its calls are read: those that it has from us.
test_paths_of_descriptors() {
	local dir
	[ "$(id -u)" = 0 ] || skip "needs root"
	dir=$(pwd -P)
	expect_status 0 "$PERF_BPF" trace --log lines -- sh -c 'echo said' </dev/null
	is 1 " sh/[0-9]+ write\(fd: 1<$dir/out>, buf: \"said.n\", count: 5\) += 5$"
	expect_status 0 "$PERF_BPF" trace --log lines -- sh -c 'echo said >&2' </dev/null
	is 1 " sh/[0-9]+ write\(fd: 1<$dir/err>, buf: \"said.n\", count: 5\) += 5$"
}

# With -v: all programs are attached, not only the first one.
started() { grep -q 'tracing has started' err; }

# perf trace -e *mmsg,open*: whole names of calls, with what they point to; also of all processes.
test_globs() {
	trace -e '*mmsg,open*' -- "$WORK" io
	is 1 ' sendmmsg\(fd: [0-9]+.*"first".*vlen: 2.*\) += 2$'
	is 0 'ms\): [^ ]+ (write|sendmsg|readv|close|mmap)\('
	trace -a -e '*mmsg,open*' -- "$WORK" calls 2
	is 2 ' trace_work/[0-9]+ openat\(dfd: CWD, filename: "/nonexistent/of/trace_work"'
	trace -e '!open*,write,getppid' -- "$WORK" calls 2
	is 0 ' (openat|write|getppid)\('
	is 2 ' close\(fd: -7\) '
	trace -e %memory -- "$WORK" calls 2
	is 0 ' (openat|write|getppid|close)\('
	[ -s lines ] || fail "no call of the class"
}

# A number that no call of the build machine's headers has.
test_calls_without_names() {
	cat >pbt_nameless.c <<-'END'
		#include <unistd.h>

		int main(void)
		{
			syscall(1000, 1, 2);
			return 0;
		}
	END
	gcc -O1 -o pbt_nameless pbt_nameless.c
	trace -S -- ./pbt_nameless
	is 1 ' pbt_nameless/[0-9]+ syscall_1000\(arg0: 0x1, arg1: 0x2.*\) += -1 ENOSYS '
	is 1 '^   syscall_1000 +1 +1 '
	trace --strace -e all -- ./pbt_nameless
	is 1 '^syscall_0x3e8\(0x1, 0x2.*\) += -1 ENOSYS '
	trace -e '!close' -- ./pbt_nameless
	is 1 ' syscall_1000\('
	trace -e close,getppid -- ./pbt_nameless
	is 0 'syscall_'
}

# Also where the kernel does not have them: it says so at the exit.
test_x32_calls() {
	[ "$(uname -m)" = x86_64 ] || skip "this is for x86-64"
	cat >pbt_x32.c <<-'END'
		#include <unistd.h>

		int main(void)
		{
			char path[] = "/no/such"; /* in memory: what the kernel does not read may not be */

			for (int i = 0; i < 3; i++) {
				syscall(0x40000000 + 39); /* getpid */
				syscall(0x40000000 + 520, path, (char **)0, (char **)0); /* execve */
			}
			return 0;
		}
	END
	gcc -O1 -o pbt_x32 pbt_x32.c
	expect_status 0 "$PERF_BPF" trace --json -e getpid@x32,execve@x32 -- ./pbt_x32
	cp out lines
	is 3 '"abi":"x32","syscall":"getpid"'
	is 3 '"abi":"x32","syscall":"execve","args":\{"filename":"/no/such"'
}

test_the_missing_capability_is_named() {
	trace -e getppid true
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	local caps without
	cp "$PERF_BPF" ./perf-bpf-copy
	chmod 755 . ./perf-bpf-copy
	for without in BPF:perfmon PERFMON:bpf; do
		caps=+${without#*:}
		expect_status 1 setpriv --reuid 65534 --clear-groups --inh-caps "$caps" --ambient-caps "$caps" \
			./perf-bpf-copy trace -e getppid true
		assert_contains err "CAP_${without%:*}"
	done
}

test_one_thread() {
	trace -e getppid true
	cat >pbt_two.c <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <sys/syscall.h>
		#include <unistd.h>

		static void *second(void *fifo)
		{
			char byte;

			printf("%ld\n", syscall(SYS_gettid));
			fflush(stdout);
			if (read(open(fifo, O_RDONLY), &byte, 1) != 1)
				return fifo;
			for (int i = 0; i < 13; i++)
				syscall(SYS_getppid);
			return NULL;
		}

		int main(int argc, char **argv)
		{
			void *failed;
			pthread_t t;

			if (pthread_create(&t, NULL, second, argv[1]) || pthread_join(t, &failed))
				return 1;
			for (int i = 0; i < 7; i++)
				syscall(SYS_getppid);
			return failed != NULL;
		}
	END
	gcc -O1 -pthread -o pbt_two pbt_two.c
	mkfifo go
	./pbt_two go >tid &
	soon test -s tid
	"$PERF_BPF" trace -v -t "$(cat tid)" -e getppid --log lines 2>err &
	soon started
	echo >go
	wait
	is 13 'getppid\(\)'
	is 13 .
}

test_after_a_delay() {
	local delay begun
	trace -e getppid true
	cat >delayed.sh <<-END
		"$WORK" threads 1 7
		cut -d ' ' -f 1 /proc/uptime | tr -d . >ended
		while [ ! -e go ]; do sleep 0.1; done
		"$WORK" threads 1 11
	END
	for delay in 2000 8000 20000; do
		rm -f go ended err
		begun=$(cut -d ' ' -f 1 /proc/uptime | tr -d .)
		"$PERF_BPF" trace -v -D $delay -e getppid --log lines -- sh delayed.sh 2>err &
		soon started
		touch go
		wait
		# the delay begins after $begun; calls that were made so early are not traced
		[ $(($(cat ended) - begun)) -lt $((delay / 10)) ] || continue
		is 11 'getppid\(\)'
		return
	done
	skip "the first calls were made only after 20 s"
}

test_processes_that_are_left_out() {
	trace -e getppid true
	mkfifo go
	sh -c "read x <go; exec $WORK threads 1 7" &
	trace -a -e getppid --filter-pids $! -- sh -c "echo >go; while [ -e /proc/$! ]; do sleep 0.1; done
		$WORK threads 1 11"
	is 11 'trace_work/[0-9]+ getppid\(\)'
	expect_status 2 "$PERF_BPF" trace --filter-pids 999999999 true
	assert_contains err "--filter-pids"
}

test_cpus() {
	expect_status 1 "$PERF_BPF" trace -C 0,4095 true
	assert_contains err "CPU 4095 of -C 0,4095 is not online"
	[ "$(nproc)" -gt 1 ] || skip "there is one CPU"
	trace -C 1 -e getppid -- sh -c "taskset -c 0 $WORK threads 1 7; taskset -c 1 $WORK threads 1 11"
	is 11 'trace_work/[0-9]+ getppid\(\)'
}

test_users() {
	trace -u 65533 -e getppid -- sh -c "$WORK threads 1 7; setpriv --reuid 65533 $WORK threads 1 9"
	is 9 'getppid\(\)'
}

test_cgroups() {
	local group=/sys/fs/cgroup/unified
	[ -e $group/cgroup.procs ] || group=/sys/fs/cgroup
	[ -e $group/cgroup.procs ] || skip "cgroups of version 2 are not mounted"
	group=$group/trace_options.$$
	mkdir -p $group/below
	trace -G $group -e getppid -- sh -c "$WORK threads 1 7
		echo 0 >$group/below/cgroup.procs; $WORK threads 1 9; echo 0 >${group%/*}/cgroup.procs"
	rmdir $group/below $group
	is 9 'getppid\(\)'
	expect_status 1 "$PERF_BPF" trace -G /etc true
	assert_contains err "'/etc' is not a cgroup"
}

test_output() {
	trace --raw -e openat -- "$WORK" calls 1
	is 1 'openat\(dfd: 0xffffff9c, filename: 0x[0-9a-f]+.*\) += -1 ENOENT'
	trace --string-size 5 -e write -- "$WORK" calls 2
	is 2 'write\(.*"01234"\.\.\.'
	trace --strace -y -- sh -c 'read x </etc/passwd'
	is 1 '^dup2\(3</etc/passwd>, 0\)'
	expect_status 0 "$PERF_BPF" trace --tool_stats -e getppid --log lines -- "$WORK" threads 1 5
	grep -qE '^ +lines: 5$' err || fail "$(cat err)"
	before=$(awk '{ print int($1 * 1000) }' /proc/uptime)
	trace -T -e getppid -- "$WORK" threads 1 1
	awk -v before="$before" '$1 < before { exit 1 }' lines || fail "not the time since boot: $(cat lines)"
}

# has_calls FILE N: that many getppid can be read
has_calls() {
	"$PERF_BPF" trace -i "$1" --log lines 2>/dev/null || :
	[ "$(grep -c ' trace_work/.* getppid()' lines)" = "$2" ]
}

test_a_recording_that_is_killed() {
	local tracer worker
	trace -e getppid true
	"$PERF_BPF" trace -e getppid -o t.data -- sh -c "echo \$\$ >pid; $WORK threads 1 50; exec sleep 1000" 2>err &
	tracer=$!
	soon test -s pid
	worker=$(cat pid)
	trap "kill -9 $tracer $worker 2>/dev/null || :" EXIT
	soon has_calls t.data 50
	kill -9 $tracer
	wait $tracer || :
	expect_status 1 "$PERF_BPF" trace -i t.data --log lines
	assert_contains err "t.data: the recording was not finished"
	is 50 'trace_work/[0-9]+ getppid\(\) '
	expect_status 1 "$PERF_BPF" trace -s -i t.data --log lines
	is 1 '^   getppid +50 '
	expect_status 1 "$PERF_BPF" script -i t.data
	assert_contains err "t.data: the recording was not finished"
	assert_equal "$(grep -c '^ *trace_work .*raw_syscalls:sys_exit: ' out)" 50
	command -v perf >/dev/null || return 0
	perf script -i t.data >out 2>err || fail "perf script: $(cat err)"
	assert_equal "$(grep -c '^ *trace_work .*raw_syscalls:sys_exit: ' out)" 50
}

test_sizes_of_the_ring() {
	local size
	for size in 0 x -1 1X; do
		expect_status 2 "$PERF_BPF" trace -m "$size" true
	done
	for size in 1 64K 4M; do
		trace -m $size -e getppid -- "$WORK" threads 1 5
		is 5 'getppid\(\)'
	done
}

run_tests
