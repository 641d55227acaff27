#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# perf-bpf trace --where: conditions that run in the kernel, against a workload that counts for
# itself what they select.
. "$(dirname "$0")/../tap.sh"
WORK=$BUILD/tests/cmd/trace_work

make_workload() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	cat >pbw_calls.c <<-'END'
		#define _GNU_SOURCE
		#include <errno.h>
		#include <fcntl.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/syscall.h>
		#include <time.h>
		#include <unistd.h>

		static int opens, etc, failed_etc, creates, long_names, writes, large, digits, roots, naps, quick;

		static void open_it(const char *path, int flags)
		{
			int fd = syscall(SYS_openat, AT_FDCWD, path, flags, 0600);

			opens++;
			etc += !strncmp(path, "/etc/", 5);
			failed_etc += !strncmp(path, "/etc/", 5) && fd < 0;
			creates += (flags & O_CREAT) != 0;
			long_names += strlen(path) > 150 && path[150] == 'x';
			if (fd >= 0 && !strcmp(path, "/etc/passwd")) {
				char buf[8];

				roots += syscall(SYS_read, fd, buf, 4) == 4 && !memcmp(buf, "root", 4);
			}
			syscall(SYS_close, fd);
		}

		static void write_it(int fd, const char *text, size_t size)
		{
			syscall(SYS_write, fd, text, size);
			writes++;
			large += size > 4096;
			digits += size == 10 && !memcmp(text, "0123456789", 10);
		}

		/* In ms, from before the call until after it. */
		static double nap_for(long ns)
		{
			struct timespec nap = {0, ns}, from, to;

			clock_gettime(CLOCK_MONOTONIC, &from);
			syscall(SYS_nanosleep, &nap, NULL);
			clock_gettime(CLOCK_MONOTONIC, &to);
			naps++;
			return (to.tv_sec - from.tv_sec) * 1e3 + (to.tv_nsec - from.tv_nsec) / 1e6;
		}

		int main(void)
		{
			static char zeros[16384], name[300] = "/nonexistent/";
			int null = open("/dev/null", O_WRONLY);

			memset(name + 13, 'x', 200);
			for (int i = 0; i < 20; i++) {
				open_it("/etc/passwd", O_RDONLY);
				open_it("/etc/nonexistent", O_RDONLY);
				open_it("/nonexistent/etc/pbw", O_RDWR | O_CREAT);
				if (i % 3)
					open_it(name, O_RDONLY);
				write_it(null, zeros, i * 512);
				write_it(null, "0123456789", 10);
				write_it(null, "012345678x", 10);
				write_it(-1, "0123456789", 10);
			}
			/* One that is long; then as many as it takes until one was certainly short: a
			   process that has to wait for a CPU is late. */
			nap_for(20000000);
			while (!quick)
				quick = nap_for(1) < 19.5;
			dprintf(1, "opens=%d etc=%d failed_etc=%d creates=%d long_names=%d writes=%d large=%d "
			       "digits=%d roots=%d naps=%d pid=%d\n", opens, etc, failed_etc, creates,
			       long_names, writes, large, digits, roots, naps, getpid());
			syscall(SYS_exit_group, 7);
		}
	END
	gcc -O1 -static -o pbw_calls pbw_calls.c || skip "cannot build the workload"
}

# trace OPTION...: the lines of the workload are in ./lines
trace() {
	local status=0
	"$PERF_BPF" trace --log lines "$@" -- ./pbw_calls >out 2>err || status=$?
	[ $status = 7 ] || { sed 's/^/# | /' err; fail "trace $* ended with $status"; }
}

# of NAME: what the workload counted
of() { sed -n "s/.*\b$1=\([0-9]*\).*/\1/p" out; }

# selects N [OPTION...] CONDITION: so many lines, N of what the workload counted or a number;
# "some": at least one and not all of the workload's naps
selects() {
	local want=$1
	shift
	trace "${@:1:$#-1}" --tool_stats --where "${@: -1}"
	local got
	got=$(wc -l <lines)
	case $want in
	some) [ "$got" -lt 1 ] || [ "$got" -ge "$(of naps)" ] || want=$got ;;
	*[a-z]*) want=$(of "$want") ;;
	esac
	[ "$got" = "$want" ] || { head -5 lines | sed 's/^/# | /'; fail "${*: -1}: $got lines, wanted $want"; }
	# what is not selected is not in the ring
	grep -qE "records: $want \(" err || fail "${*: -1}: not $want records: $(grep records err)"
	! grep -q LOST err || fail "$(cat err)"
}

test_paths() {
	make_workload
	selects etc 'openat.filename ~ "/etc/*"'
	selects failed_etc 'openat.filename ~ "/etc/*" && ret < 0'
	selects failed_etc 'openat.filename ~ "/etc/*" && error == ENOENT'
	selects 0 'openat.filename ~ "/etc/*" && error == EACCES'
	selects 20 'openat.filename == "/etc/passwd"'
	selects 20 'openat.filename ~ "/*[m-o]on?xistent/etc/*w"'
	selects 20 -e openat 'filename ~ "*passwd" && !(ret < 0)'
	selects 20 'ret >= 0 && openat.filename !~ "/nonex*" && !(openat.filename == "/dev/null")'
	# what a call does not have is neither true nor false
	selects etc '!(openat.filename !~ "/etc/*")'
	selects 20 -e openat,write 'openat.filename == "/etc/passwd"'
}

test_patterns_of_more_than_64_characters() {
	make_workload
	local x
	x=$(printf 'x%.0s' $(seq 200))
	selects long_names "openat.filename == '/nonexistent/$x'"
	selects long_names "openat.filename ~ '/*/${x%xx}*'"
	selects 0 "openat.filename == '/nonexistent/${x%x}'"
	selects 0 "openat.filename == '/nonexistent/${x%x}y'"
	selects long_names "openat.filename ~ '*${x%x}?'"
	expect_status 2 "$PERF_BPF" trace --where "openat.filename == '$x$x'" true
	assert_contains err "at most 255 characters"
}

test_numbers() {
	make_workload
	selects large 'write.count > 4096'
	selects large -e write '!(count <= 4096)'
	selects large '4096 < write.count'
	selects large 'write.count > 4096.5'
	selects large 'write.ret >= 4097'
	selects large -e write 'ret >= 4097'
	selects 20 'write.fd == -1'
	selects 20 'write.fd < 0'
	selects creates 'openat.flags & O_CREAT'
	selects creates 'openat.flags & 0100 != 0'
	selects creates 'openat.flags & (O_CREAT & O_CREAT) == O_CREAT && openat.dfd == AT_FDCWD'
	# of the short naps only one is known to be short; none of these conditions holds for all
	selects some -e nanosleep 'duration >= 20'
	assert_contains lines '.tv_nsec: 20000000 }'
	selects some -e nanosleep 'duration < 19.5'
	assert_contains lines '.tv_nsec: 1 }'
	! grep -F '.tv_nsec: 20000000 }' lines || fail "a nap of 20 ms is less than 19.5 ms"
	selects naps -e nanosleep 'duration > 0'
}

test_texts_of_buffers() {
	make_workload
	selects digits 'write.buf == "0123456789"'
	selects 20 'write.buf ~ "0*9" && ret > 0'
	selects 60 -e write 'buf ~ "0*" && fd != 1'
	selects roots 'read.buf == "root"'
	selects roots -e read,write 'buf ~ "ro?t"'
}

test_whom() {
	make_workload
	selects 40 -e write 'write.buf == "0123456789" && comm == "pbw_calls" && uid == 0'
	selects 0 -e write 'comm == "pbw_call"'
	trace -e write
	selects 0 -e write 'pid == 1 || tid == 1'
	selects 40 -e write 'pid > 1 && uid < 1 && gid == 0 && count == 10 && buf ~ "*9"'
}

# A call that does not end has no result; without a condition on that it is shown.
test_calls_that_do_not_end() {
	make_workload
	selects 1 'exit_group.error_code == 7'
	selects 0 'exit_group.error_code == 7 && ret == 0'
	selects 1 'exit_group.error_code == 7 || ret == 123456'
	"$PERF_BPF" trace -e ppoll --where 'pid > 0' --log lines -- "$WORK" killed >out 2>err || fail "$(cat err)"
	assert_equal "$(grep -c ' ppoll(' lines)" 1
	"$PERF_BPF" trace -e ppoll --where 'ret <= 0' --log lines -- "$WORK" killed >out 2>err || fail "$(cat err)"
	assert_equal "$(wc -l <lines)" 0
}

test_execve_by_the_name_before_it() {
	make_workload
	trace --where 'execve.filename ~ "*/pbw_calls" && ret == 0'
	assert_equal "$(grep -c 'execve(' lines)" 1
	assert_equal "$(wc -l <lines)" 1
}

# A name that is not in memory when the call begins is compared when it ends.
test_a_name_that_is_not_in_memory() {
	make_workload
	printf '/some/name\0' >name
	dd if=/dev/zero bs=4096 count=4 of=name conv=notrunc oflag=append status=none
	sync name
	dd of=name oflag=nocache conv=notrunc,fdatasync count=0 status=none
	"$PERF_BPF" trace --where "openat.filename == '/some/name'" --log lines -- "$WORK" fault name >out 2>err ||
		fail "$(cat err)"
	assert_equal "$(grep -c 'filename: "/some/name"' lines)" 1
	assert_equal "$(wc -l <lines)" 1
}

test_sums_have_only_what_is_selected() {
	make_workload
	trace -s --summary-mode total --where 'write.count > 4096 || openat.filename ~ "/etc/*"'
	assert_equal "$(awk '$1 == "write" { print $2 }' lines)" "$(of large)"
	assert_equal "$(awk '$1 == "openat" { print $2, $3 }' lines)" "$(of etc) $(of failed_etc)"
	assert_equal "$(grep -cE '%$' lines)" 2
	trace -s --errno-summary --where 'error == EBADF'
	assert_equal "$(awk '$1 == "write" { print $2, $3 }' lines)" "20 20"
}

# wrong COLUMN MESSAGE CONDITION [OPTION...]
wrong() {
	local column=$1 message=$2 condition=$3
	shift 3
	expect_status 2 "$PERF_BPF" trace "$@" --where "$condition" true
	assert_contains err "$message"
	assert_contains err "column $column:"
	grep -qF '\___ ' err || fail "no mark: $(cat err)"
}

test_wrong_conditions_have_a_mark() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	wrong 1 "unknown system call 'opennat'" 'opennat.filename == "x"'
	assert_contains err "'openat'"
	wrong 1 "openat has no argument 'filenam'" 'openat.filenam == "x"'
	assert_contains err "'filename'"
	wrong 1 "openat has no argument 'rett'" 'openat.rett < 0'
	assert_contains err "'ret'"
	wrong 6 "none of the traced system calls has an argument 'cuont'" '1 && cuont > 3' -e write
	assert_contains err "'count'"
	wrong 1 "openat is not traced" 'openat.filename == "x"' -e write
	wrong 1 "is a string but is used as a number" 'openat.filename > 3'
	wrong 1 "is a number but is used as a string" 'write.count == "x"'
	wrong 8 "'~' takes a pattern" 'comm ~ ret'
	wrong 15 "expected a value here" 'write.count > '
	wrong 14 "this comparison has no argument" 'ret < 0 || 1 == 2'
	wrong 10 "a duration can be compared only with a number" 'duration > count' -e write
	wrong 1 "not true for any traced call" 'openat.filename == "x" && write.count > 3'
	wrong 1 "have no elements" 'args[1] == 3'
}

# replays N CONDITION: of ./calls.data
replays() {
	expect_status 0 "$PERF_BPF" trace -i calls.data --log lines --where "$2"
	local want=$1 got
	case $want in *[a-z]*) want=$(sed -n "s/.*\b$1=\([0-9]*\).*/\1/p" counts) ;; esac
	got=$(wc -l <lines)
	[ "$got" = "$want" ] || { head -5 lines | sed 's/^/# | /'; fail "$2: $got lines, wanted $want"; }
}

test_of_a_recording() {
	make_workload
	trace --record calls.data
	mv out counts
	replays etc 'openat.filename ~ "/etc/*"'
	replays failed_etc 'openat.filename ~ "/etc/*" && error == ENOENT'
	replays 20 'openat.filename == "/etc/passwd"'
	replays creates 'openat.flags & O_CREAT'
	replays large 'write.count > 4096'
	replays digits 'write.buf == "0123456789"'
	replays roots 'read.buf == "root"'
	replays naps 'nanosleep.rqtp != 0 && duration > 0'
	replays etc '!(openat.filename !~ "/etc/*")'
	replays etc 'comm == "pbw_calls" && openat.filename ~ "/etc/*" && ret < 100'
	# a text that was cut: 32 of 16384 bytes do not say what follows
	replays 0 'write.count > 100 && (write.buf ~ "*x" || write.buf !~ "*x")'
	replays 0 'write.count > 100 && write.buf ~ "0*"'
	# the summary has what is selected
	expect_status 0 "$PERF_BPF" trace -i calls.data -s --log lines --where 'openat.filename ~ "/etc/*"'
	assert_equal "$(awk '$1 == "openat" { print $2 }' lines)" "$(sed -n 's/.*\betc=\([0-9]*\).*/\1/p' counts)"
	expect_status 2 "$PERF_BPF" trace -i calls.data --where 'uid == 0'
	assert_contains err "does not have uid"
}

run_tests
