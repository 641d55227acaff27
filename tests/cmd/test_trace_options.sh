#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Options of trace that select processes and CPUs, and that change what is printed.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"
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

# Opens and closes files, each as descriptor 3, and reads or passes them; then waits.
make_opener() {
	cat >opener.c <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <poll.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/eventfd.h>
		#include <sys/mman.h>
		#include <sys/socket.h>
		#include <sys/wait.h>
		#include <unistd.h>

		static char buf[8];

		static void look(const char *path)
		{
			int fd = open(path, O_RDONLY | O_CLOEXEC);

			read(fd, buf, 1);
			close(fd);
		}

		static void pass(int to, int fd)
		{
			char control[CMSG_SPACE(sizeof(fd))] = {0};
			struct iovec iov = {buf, 1};
			struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
					   .msg_controllen = sizeof(control)};
			struct cmsghdr *head = CMSG_FIRSTHDR(&m);

			head->cmsg_level = SOL_SOCKET;
			head->cmsg_type = SCM_RIGHTS;
			head->cmsg_len = CMSG_LEN(sizeof(fd));
			memcpy(CMSG_DATA(head), &fd, sizeof(fd));
			sendmsg(to, &m, 0);
		}

		static int take(int from)
		{
			char control[CMSG_SPACE(sizeof(int))];
			struct iovec iov = {buf, 1};
			struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
					   .msg_controllen = sizeof(control)};
			int fd;

			recvmsg(from, &m, 0);
			memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
			return fd;
		}

		int main(int argc, char **argv)
		{
			int pair[2], pipes[2], fd;

			for (int i = 0; i < 20; i++) {
				look("one");
				look("two");
			}
			close(socket(AF_UNIX, SOCK_STREAM, 0));
			socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
			fd = open("one", O_RDONLY);
			pass(pair[0], fd);
			close(fd);
			fd = open("two", O_RDONLY);
			int taken = take(pair[1]);
			read(taken, buf, 2);
			if (!fork()) {
				read(fd, buf, 2);
				dup2(taken, fd);
				read(fd, buf, 3);
				_exit(0);
			}
			wait(NULL);
			read(fd, buf, 4);
			pipe(pipes);
			struct pollfd polled = {pipes[0], POLLIN};
			poll(&polled, 1, 0);
			int copy = fcntl(pipes[0], F_DUPFD, 40);
			close(copy);
			int memory = memfd_create("some", 0);
			write(memory, buf, 1);
			write(eventfd(0, 0), "12345678", 8);
			unlink("gone");
			int gone = open("gone", O_CREAT | O_RDWR, 0600);
			unlink("gone");
			write(gone, buf, 2);
			if (argc > 1)
				pause();
			return 0;
		}
	END
	gcc -w -O1 -o opener opener.c
	: >one
	: >two
}

# Whichever calls are traced, a descriptor has the file that it had at that call.
test_paths_are_those_of_the_call() {
	make_opener
	dir=$(pwd -P)
	trace -e read -- ./opener
	is 20 "read\(fd: 3<$dir/one>, buf: [^,]*, count: 1\)"
	is 20 "read\(fd: 3<$dir/two>, buf: [^,]*, count: 1\)"
	is 1 "read\(fd: [0-9]+<$dir/one>, buf: [^,]*, count: 2\)"
	is 1 "read\(fd: [0-9]+<$dir/two>, buf: [^,]*, count: 2\)"
	is 1 "read\(fd: [0-9]+<$dir/one>, buf: [^,]*, count: 3\)"
	is 1 "read\(fd: [0-9]+<$dir/two>, buf: [^,]*, count: 4\)"
	trace -- ./opener
	is 21 "openat\(.*filename: \"one\", .* = [0-9]+<$dir/one>\$"
	is 21 "openat\(.*filename: \"two\", .* = [0-9]+<$dir/two>\$"
	is 1 ' socket\(.* = 3<socket:\[[0-9]+\]>$'
}

# Descriptors in memory, and files without a place in the tree, as strace prints them.
test_paths_of_other_files() {
	make_opener
	dir=$(pwd -P)
	trace --strace -y -- ./opener
	is 1 '^socketpair\(.*, \[3<socket:\[[0-9]+\]>, 4<socket:\[[0-9]+\]>\]\) = 0'
	is 1 "^sendmsg\(3<socket:.*cmsg_data=\[5<$dir/one>\]"
	is 1 "^recvmsg\(4<socket:.*cmsg_data=\[6<$dir/one>\]"
	is 1 '^pipe2?\(\[7<pipe:\[[0-9]+\]>, 8<pipe:\[[0-9]+\]>\]'
	is 1 '^poll\(\[\{fd=7<pipe:\[[0-9]+\]>, events=POLLIN'
	is 1 '^fcntl\(7<pipe:\[[0-9]+\]>, F_DUPFD, 40\) += 40<pipe:\[[0-9]+\]>'
	is 1 '^write\(9</memfd:some>\(deleted\), '
	is 1 '^write\(10<anon_inode:\[eventfd\]>, '
	is 1 "^write\(11<$dir/gone>\(deleted\), "
}

# A recording has them as well, and --strace prints them only with -y.
test_paths_in_a_recording() {
	make_opener
	dir=$(pwd -P)
	trace -e read --record t.data -- ./opener
	expect_status 0 "$PERF_BPF" trace -i t.data --log lines
	is 20 "read\(fd: 3<$dir/two>, buf: [^,]*, count: 1\)"
	expect_status 0 "$PERF_BPF" trace --strace -i t.data --log lines
	is 0 "two"
	expect_status 0 "$PERF_BPF" trace --strace -y -i t.data --log lines
	is 20 "read\(3<$dir/two>, [^,]*, 1\)"
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
	workload_as pbt_nameless
	trace -S -- ./pbt_nameless call 1000 1 1 2
	is 1 ' pbt_nameless/[0-9]+ syscall_1000\(arg0: 0x1, arg1: 0x2.*\) += -1 ENOSYS '
	is 1 '^   syscall_1000 +1 +1 '
	trace --strace -e all -- ./pbt_nameless call 1000 1 1 2
	is 1 '^syscall_0x3e8\(0x1, 0x2.*\) += -1 ENOSYS '
	trace -e '!close' -- ./pbt_nameless call 1000 1 1 2
	is 1 ' syscall_1000\('
	trace -e close,getppid -- ./pbt_nameless call 1000 1 1 2
	is 0 'syscall_'
}

# Also where the kernel does not have them: it says so at the exit.
test_x32_calls() {
	[ "$(uname -m)" = x86_64 ] || skip "this is for x86-64"
	workload_as pbt_x32 # getpid and execve
	expect_status 0 "$PERF_BPF" trace --json -e getpid@x32,execve@x32 -- ./pbt_x32 repeat 3 call 0x40000027 1 + call 0x40000208 1 /no/such 0 0
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

# -o is text, as that of perf trace and strace; of "trace record" it is the recording.
test_files() {
	trace -e getppid true
	expect_status 0 "$PERF_BPF" trace -e getppid -o text -- "$WORK" calls 3
	assert_equal "$(grep -c ' getppid() ' text)" 6
	expect_status 0 "$PERF_BPF" trace --strace -e getppid -o - -- "$WORK" calls 3
	assert_equal "$(grep -c '^getppid() ' out)" 6
	expect_status 0 "$PERF_BPF" trace record -e getppid -o recording --log empty -- "$WORK" calls 3
	expect_status 0 "$PERF_BPF" trace -i recording -o text
	assert_equal "$(grep -c ' getppid() ' text)" 6
	expect_status 0 "$PERF_BPF" trace -e getppid --record recording2 -- "$WORK" calls 3
	expect_status 0 "$PERF_BPF" trace -i recording2 -o text
	assert_equal "$(grep -c ' getppid() ' text)" 6
}

# strace -f -c -e trace=…
test_options_of_strace() {
	trace --strace -f -e trace=getppid,openat -- "$WORK" calls 3
	is 6 '^getppid\(\) '
	! grep -vE '^(\[pid +[0-9]+\] )?(getppid|openat|[-+]{3} )' lines || fail "other calls"
	trace --strace -e 'trace=!getppid' -e signal=none -- "$WORK" calls 3
	is 0 '^getppid'
	trace -f -c -e trace=getppid --strace -- "$WORK" calls 3
	is 1 '^ +getppid +3 +0 '
	is 1 '^ +getppid \(32\) +3 +0 '
	is 0 "$WORK"
	trace --strace -e status=failed -e t=openat -- "$WORK" calls 3
	! grep -vE ' = -1 |^\+\+\+ ' lines || fail "calls that did not fail"
	trace --strace -e raw=all -e trace=openat -- "$WORK" calls 1
	is 1 '^openat\(0xffffff9c, 0x[0-9a-f]+.* = -1 ENOENT'
	expect_status 2 "$PERF_BPF" trace -e trace=getppid true
	assert_contains err "for --strace"
	expect_status 2 "$PERF_BPF" trace -c true
	assert_contains err "-c is for --strace"
	expect_status 2 "$PERF_BPF" trace --strace -e signal=SIGNOT true
	assert_contains err "'SIGNOT' is not a signal"
	expect_status 2 "$PERF_BPF" trace --strace -e inject=openat:error=EIO true
	assert_contains err "does not change what it traces"
}

# has_calls FILE N: that many getppid can be read
has_calls() {
	"$PERF_BPF" trace -i "$1" --log lines 2>/dev/null || :
	[ "$(grep -c ' trace_work/.* getppid()' lines)" = "$2" ]
}

test_a_recording_that_is_killed() {
	local tracer worker
	trace -e getppid true
	"$PERF_BPF" trace -e getppid --record t.data -- sh -c "echo \$\$ >pid; $WORK threads 1 50; exec sleep 1000" 2>err &
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
