#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# perf-bpf trace --where: conditions that run in the kernel, against a workload that counts for
# itself what they select.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"
WORK=$BUILD/tests/cmd/trace_work

# What ./pbw_calls does. The C library opens files in /etc, so these are in ./etc.
CALLS="repeat 20 opens 1 etc/passwd + opens 1 etc/nonexistent +
	call openat 1 -100 /nonexistent/etc/pbw 0102 +
	call write 1 9 0123456789 10 + call write 1 9 012345678x 10 + call write 1 -1 0123456789 10 ,
	call write 9 9 zeros 4096 , call write 11 9 zeros 4097 ,
	call openat 13 -100 $(printf '/nonexistent/%s' "$(printf 'x%.0s' {1..200})") 0 ,
	sleeps 1 20000 , sleeps 50 1 , exit 7"
CALLS=$(tr '\n\t' '  ' <<<"$CALLS" | tr -s ' ')
etc=40 failed_etc=20 creates=20 long_names=13 large=11 digits=40 roots=20 naps=51

make_workload() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	workload_as pbw_calls
	mkdir etc
	printf root >etc/passwd
}

# trace OPTION...: the lines of the workload are in ./lines
trace() {
	local status=0
	"$PERF_BPF" trace --log lines "$@" -- ./pbw_calls $CALLS 9>/dev/null >out 2>err || status=$?
	[ $status = 7 ] || { sed 's/^/# | /' err; fail "trace $* ended with $status"; }
}

# selects N [OPTION...] CONDITION: so many lines
selects() {
	local want=$1
	shift
	trace "${@:1:$#-1}" --tool_stats --where "${@: -1}"
	assert_lines "$want" "${@: -1}"
	# what is not selected is not in the ring
	grep -qE "records: $want \(" err || fail "${*: -1}: not $want records: $(grep records err)"
	! grep -q LOST err || fail "$(cat err)"
}

# assert_lines N WHAT
assert_lines() {
	[ "$(wc -l <lines)" = "$1" ] || { head -5 lines | sed 's/^/# | /'; fail "$2: $(wc -l <lines) lines, wanted $1"; }
}

test_paths() {
	make_workload
	selects $etc 'openat.filename ~ "etc/*"'
	selects $failed_etc 'openat.filename ~ "etc/*" && ret < 0'
	selects $failed_etc 'openat.filename ~ "etc/*" && error == ENOENT'
	selects 0 'openat.filename ~ "etc/*" && error == EACCES'
	selects 20 'openat.filename == "etc/passwd"'
	selects 20 'openat.filename ~ "/*[m-o]on?xistent/etc/*w"'
	selects 20 -e openat 'filename ~ "*passwd" && !(ret < 0)'
	selects 20 'ret >= 0 && openat.filename !~ "/*" && !(openat.filename == "etc/none")'
	# what a call does not have is neither true nor false
	selects $etc '!(openat.filename !~ "etc/*")'
	selects 20 -e openat,write 'openat.filename == "etc/passwd"'
}

test_patterns_of_more_than_64_characters() {
	make_workload
	local x
	x=$(printf 'x%.0s' $(seq 200))
	selects $long_names "openat.filename == '/nonexistent/$x'"
	selects $long_names "openat.filename ~ '/*/${x%xx}*'"
	selects 0 "openat.filename == '/nonexistent/${x%x}'"
	selects 0 "openat.filename == '/nonexistent/${x%x}y'"
	selects $long_names "openat.filename ~ '*${x%x}?'"
	expect_status 2 "$PERF_BPF" trace --where "openat.filename == '$x$x'" true
	assert_contains err "at most 255 characters"
}

# durations: of the lines, in ms
durations() {
	sed -nE 's/^ *[0-9.]+ \( *([0-9.]+) ms\).*/\1/p' lines
}

test_numbers() {
	make_workload
	selects $large 'write.count > 4096'
	selects $large -e write '!(count <= 4096)'
	selects $large '4096 < write.count'
	selects $large 'write.count > 4096.5'
	selects $large 'write.ret >= 4097'
	selects $large -e write 'ret >= 4097'
	selects 20 'write.fd == -1'
	selects 20 'write.fd < 0'
	selects $creates 'openat.flags & O_CREAT'
	selects $creates 'openat.flags & 0100 != 0'
	selects $creates 'openat.flags & (O_CREAT & O_CREAT) == O_CREAT && openat.dfd == AT_FDCWD'
	# a process that has to wait for a CPU is late
	local long short
	trace -e nanosleep --where 'duration >= 19.5'
	durations >long
	long=$(grep -c . long)
	awk '$1 < 19.5 { exit 1 }' long || fail "shorter ones: $(cat long)"
	trace -e nanosleep --where 'duration < 19.5'
	durations >short
	short=$(grep -c . short)
	awk '$1 >= 19.5 { exit 1 }' short || fail "longer ones: $(cat short)"
	[ "$long" -ge 1 ] && [ "$short" -ge 1 ] && [ "$short" -lt $naps ] || fail "$long long and $short short naps"
	selects $naps -e nanosleep 'duration > 0'
}

test_texts_of_buffers() {
	make_workload
	selects $digits 'write.buf == "0123456789"'
	selects 20 'write.buf ~ "0*9" && ret > 0'
	selects 60 -e write 'buf ~ "0*" && fd != 1'
	selects $roots 'read.buf == "root"'
	selects $roots -e read,write 'buf ~ "ro?t"'
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
	trace -s --summary-mode total --where 'write.count > 4096 || openat.filename ~ "etc/*"'
	assert_equal "$(awk '$1 == "write" { print $2 }' lines)" $large
	assert_equal "$(awk '$1 == "openat" { print $2, $3 }' lines)" "$etc $failed_etc"
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
	assert_lines "$1" "$2"
}

test_of_a_recording() {
	make_workload
	trace --record calls.data
	replays $etc 'openat.filename ~ "etc/*"'
	replays $failed_etc 'openat.filename ~ "etc/*" && error == ENOENT'
	replays 20 'openat.filename == "etc/passwd"'
	replays $creates 'openat.flags & O_CREAT'
	replays $large 'write.count > 4096'
	replays $digits 'write.buf == "0123456789"'
	replays $roots 'read.buf == "root"'
	replays $naps 'nanosleep.rqtp != 0 && duration > 0'
	replays $etc '!(openat.filename !~ "etc/*")'
	replays $etc 'comm == "pbw_calls" && openat.filename ~ "etc/*" && ret < 100'
	# a text that was cut: 32 of 16384 bytes do not say what follows
	replays 0 'write.count > 100 && (write.buf ~ "*x" || write.buf !~ "*x")'
	replays 0 'write.count > 100 && write.buf ~ "0*"'
	# the summary has what is selected
	expect_status 0 "$PERF_BPF" trace -i calls.data -s --log lines --where 'openat.filename ~ "etc/*"'
	assert_equal "$(awk '$1 == "openat" { print $2 }' lines)" $etc
	expect_status 2 "$PERF_BPF" trace -i calls.data --where 'uid == 0'
	assert_contains err "does not have uid"
}

run_tests
