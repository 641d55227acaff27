#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# System calls as the program of trace sends and sums them, compared with workloads that make
# known calls. The numbers are those of x86-64.
. "$(dirname "$0")/../tap.sh"
CLIENT=$BUILD/tests/cmd/trace_client
WORK=$BUILD/tests/cmd/trace_work

# openat, with the path; getppid, close; write, with what is written; getppid of 32-bit programs
OPENAT="-c 0/257/4/1,0,1,0,0"
WRITE="-c 0/1/3/3,4,1,2,1"
PPID_="-c 0/110/0"
CALLS="$OPENAT $WRITE $PPID_ -c 0/3/1 -c 1/64/0"

# n_32 N: how many of N calls by int $0x80 there are: all, or none where the kernel has none of i386
n_32() {
	"$WORK" i386 && echo "$1" || echo 0
}

# trace OPTION... -- COMMAND: ./out
trace() {
	[ "$(id -u)" = 0 ] || skip "tracing takes root"
	[ "$(uname -m)" = x86_64 ] || skip "the numbers of the calls are those of x86-64"
	expect_status 0 "$CLIENT" "$@"
}

# lines PATTERN: how many lines of ./out match
lines() {
	grep -cE -- "$1" out || :
}

# is N PATTERN: so many lines of ./out match
is() {
	local n
	n=$(lines "$2")
	[ "$n" = "$1" ] || { head -40 out | sed 's/^/# | /'; fail "$n lines match '$2', wanted $1"; }
}

# field NAME PATTERN: the number NAME=… summed over the lines that match
field() {
	grep -E -- "$2" out | sed -n "s/.* $1=\([0-9]*\).*/\1/p" | awk '{n += $1} END {print n + 0}'
}

# all SHOWN N: of N calls so many are shown, and the others are counted as lost. Where the kernel has no
# memory for the state or the row of a thread at once, it has for a later call: they are few.
all() {
	local lost
	lost=$(field n '^lost kind=[13] ')
	assert_equal "$(($1 + lost))" "$2"
	[ $((lost * 20)) -le "$2" ] || fail "$lost of $2 calls are lost"
	is 0 '^lost kind=[024]'
}

test_every_call_with_its_arguments_and_result() {
	trace $CALLS -- "$WORK" calls 50
	is 50 '^call abi=0 nr=110 flags=0 .* ret=[0-9]+ ns=[0-9]+ args=$'
	is 50 '^call abi=0 nr=257 flags=0 .* ret=-2 .* args=ffffff9c,[0-9a-f]+,0,0 piece=1,0,0,0,0,0,0:/nonexistent/of/trace_work$'
	is 50 '^call abi=0 nr=1 flags=0 .* ret=10 .* piece=1,0,0,0,0,0,10:0123456789$'
	is 50 '^call abi=0 nr=3 flags=0 .* ret=-9 .* args=fffffff9$'
	is "$(n_32 50)" '^call abi=1 nr=64 flags=0 '
	is 0 '^lost'
	is 1 '^records .* unseen_entry=0 unseen_exit=0$'
}

test_threads_each_with_its_id() {
	trace $PPID_ -- "$WORK" threads 8 500
	all "$(lines '^call abi=0 nr=110 flags=0 ')" 4000
	assert_equal "$(grep -o ' tid=[0-9]*' out | sort -u | wc -l)" 8
	[ -z "$(grep -o ' tid=[0-9]*' out | sort | uniq -c | awk '$1 > 500')" ] || fail "a thread has too many calls"
	assert_equal "$(grep -o ' pid=[0-9]*' out | sort -u | wc -l)" 1
}

test_threads_that_are_preempted() {
	trace $PPID_ -S -- "$WORK" preempted 8 100000
	is 1 '^sum .* nr=110 .* errors=0 unfinished=0 '
	all "$(field calls '^sum')" "$(sed -n 's/^getppid=//p' out)"
}

test_ten_thousand_short_processes() {
	trace $PPID_ -q -- "$WORK" forks 10000
	is 1 '^records .* unseen_entry=0 unseen_exit=0$'
	all "$(field n '^records')" 10000
}

test_children_only_if_they_are_to_be_followed() {
	trace $PPID_ -n -q -- "$WORK" forks 20
	is 1 '^records n=0 '
	trace $PPID_ -- sh -c "sh -c '$WORK forks 3; :'; :"
	is 3 '^call .* comm=trace_work '
}

test_exit_is_sent_at_its_entry() {
	trace -c 0/231/1! -- "$WORK" forks 3
	is 4 '^call abi=0 nr=231 flags=2 .* args=0$'
	is 1 '^records n=4 unseen_entry=0 unseen_exit=4$'
}

test_killed_in_a_call() {
	trace -c 0/271/5 -- "$WORK" killed
	is 1 '^call abi=0 nr=271 flags=130 .* args=0,0,0,0,0$'
	is 1 '^records n=1 unseen_entry=0 unseen_exit=1$'
}

test_vfork() {
	trace $PPID_ -c 0/58/0 -- "$WORK" vfork
	is 2 '^call abi=0 nr=110 flags=0 '
	is 1 '^call abi=0 nr=58 flags=0 .* ret=[1-9]'
	is 1 '^records n=3 unseen_entry=0 unseen_exit=0$'
}

test_execve_by_another_thread() {
	trace $PPID_ -c 0/59/3/1,0,0,0,0/6,0,1,0,32 -- "$WORK" exec
	is 1 '^call abi=0 nr=59 flags=0 .* ret=0 .*:/proc/self/exe piece=1,1,0,0,0,0,3: piece=1,1,0,0,1,0,0:trace_work piece=1,1,0,0,1,1,0:calls piece=1,1,0,0,1,2,0:1$'
	is 1 '^call abi=0 nr=110 flags=0 '
	is 1 '^records .* unseen_entry=0 unseen_exit=0$'
}

test_restarted() {
	trace -c 0/0/3 -- "$WORK" restart
	is 1 '^call abi=0 nr=0 flags=0 .* ret=-512 '
	is 1 '^call abi=0 nr=0 flags=4 .* ret=1 '
}

test_iovecs_and_messages() {
	trace -c 0/20/3/7,4,1,2,0 -c 0/19/3/7,13,1,2,0 -c 0/46/3/8,4,1,0,0 -c 0/47/3/8,13,1,0,0 \
		-c 0/307/4/9,4,1,2,0 -c 0/55/5/4,1,3,4,0 -- "$WORK" io
	local two='piece=1,0,0,0,4,0,5:first piece=1,0,0,2,4,1,34:the\\x20second\\x20buffer,\\x20which\\x20is\\x20long'
	local both='piece=1,0,0,0,4,X,5:first piece=1,0,0,2,4,X,34:the\\x20second\\x20buffer,\\x20which\\x20is\\x20long'
	local got='firstthe\\x20second\\x20buffer,\\x20which\\x20is'
	is 1 "^call abi=0 nr=20 .* ret=39 .* piece=1,0,0,0,0,0,32:[^ ]* $two$"
	is 1 "^call abi=0 nr=19 .* ret=39 .* piece=1,0,1,0,0,0,16:[^ ]* piece=1,0,1,2,4,0,39:$got$"
	is 1 "^call abi=0 nr=46 .* ret=39 .* piece=1,0,0,0,0,0,56:[^ ]* piece=1,0,0,0,3,0,32:[^ ]* ${both//X/0}$"
	is 1 "^call abi=0 nr=47 .* ret=39 .* piece=1,0,1,0,3,0,16:[^ ]* piece=1,0,1,2,4,0,39:$got$"
	is 1 "^call abi=0 nr=307 .* ret=2 .* ${both//X/0} piece=1,0,0,0,0,1,64:[^ ]* piece=1,0,0,0,3,1,32:[^ ]* ${both//X/1}$"
	is 1 '^call abi=0 nr=46 .* ret=-[0-9]+ .* piece=1,0,0,0,2,0,18:\\x01\\x00trace_work\\x20name\\x00 '
	is 1 '^call abi=0 nr=55 .* ret=0 .* piece=3,0,1,0,0,0,4:\\x02\\x00\\x00\\x00$'
}

test_arrays_of_strings() {
	trace -c 0/59/3/6,0,1,0,64 -- "$WORK" strings
	local array string='piece=1,0,0,0,1,[0-9]*,0:string'
	for array in 0,0,0,16:16 0,0,0,33:33 2,0,0,256:64 1,0,0,20:20; do
		is 1 "^call abi=0 nr=59 .* piece=1,0,0,${array%:*}:( $string){${array#*:}}\$"
	done
	# one that cannot be read: the array is read again at the exit
	is 1 '^call abi=0 nr=59 .* piece=1,0,0,0,0,0,3: [^ ]*:string piece=1,0,1,1,1,1,0: [^ ]*:string piece=1,0,1,0,0,0,3: [^ ]*:string piece=1,0,1,1,1,1,0: [^ ]*:string$'
}

test_long_strings_are_cut_and_kept_whole_up_to_that() {
	local name
	name=/$(printf 'x%.0s' $(seq 3000))
	trace $OPENAT -- sh -c "cat $name; :"
	is 1 "piece=1,0,0,0,0,0,0:$name\$"
	expect_status 0 "$CLIENT" -c 0/257/4/1,4,1,0,0 -s 100 -- sh -c "cat $name; :"
	is 1 "piece=1,0,0,2,0,0,0:${name:0:100}\$"
	expect_status 0 "$CLIENT" -c 0/1/3/3,4,1,2,1 -s 10000 -- \
		sh -c 'dd if=/dev/zero bs=9000 count=1 status=none'
	assert_equal "$(sed -n 's/.* ret=9000 .* piece=1,0,0,0,0,0,9000://p' out | tr -d '\n')" \
		"$(printf '\\x00%.0s' $(seq 9000))"
}

test_a_name_that_is_not_in_memory_is_read_at_the_exit() {
	printf '/some/name\0' >name
	dd if=/dev/zero bs=4096 count=4 of=name conv=notrunc oflag=append 2>/dev/null
	sync name
	dd of=name oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null
	trace $OPENAT -- "$WORK" fault name
	is 1 'ret=-2 .* piece=1,0,[01],0,0,0,0:/some/name$'
	# nothing is at that address
	is 1 'ret=-14 .* piece=1,0,1,1,0,0,0:$'
}

test_inside_of_a_call_at_the_beginning_and_at_the_end() {
	local pid
	mkfifo in
	"$WORK" inside <in >ready 9>closed &
	pid=$!
	exec 8>in
	soon grep -q ready ready
	soon grep -q '^0 ' "/proc/$pid/syscall" # it printed that before it is in the read
	trace -c 0/0/3/5,3,1,0,1 -c 0/271/5 -p "$pid" -- sh -c "echo x >&8; for i in \$(seq 600); do
		grep -q '^271 ' /proc/$pid/syscall && exit; sleep 0.1; done"
	kill "$pid"
	is 1 "^call abi=0 nr=0 flags=1 pid=$pid .* ret=1 .* piece=1,0,1,0,0,0,1:x\$"
	is 1 "^call abi=0 nr=271 flags=2 pid=$pid .* comm=trace_work "
	is 1 '^records n=2 unseen_entry=1 unseen_exit=1$'
}

# The program at the exits is attached first and detached last: until the other one is attached, and
# after that is detached, all exits are without an entry. strace makes each take 20 ms. Threads that nap
# are in a call then, also those that wait for a CPU.
test_threads_have_one_call_without_its_entry() {
	[ "$(id -u)" = 0 ] || skip "tracing takes root"
	[ "$(uname -m)" = x86_64 ] || skip "the numbers of the calls are those of x86-64"
	"$WORK" naps 4 9>closed &
	pid=$!
	trap 'kill $pid' EXIT
	nap() { [ "$(cat "/proc/$pid/task"/*/syscall | grep -c '^35 ')" -ge 2 ]; }
	soon nap
	# a process that is traced cannot look for leaks
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 expect_status 0 strace -o calls -e trace=bpf,close \
		-e inject=bpf,close:delay_exit=20000 "$CLIENT" -c 0/35/2 -p "$pid" -- true
	grep -q DELAYED calls || skip "this strace does not delay calls"
	sed -n "s/^call .* nr=35 flags=1 pid=$pid tid=\([0-9]*\) .*/\1/p" out >late
	[ -s late ] || fail "no thread was in a call: $(tail -1 out)"
	[ -z "$(sort late | uniq -d)" ] || fail "$(wc -l <late) calls without their entry"
}

test_what_a_full_ring_loses_is_counted_by_call() {
	trace $CALLS -w -r 65536 -- "$WORK" calls 5000
	local which
	for which in 'abi=0 nr=110 ' 'abi=1 nr=64 ' 'abi=0 nr=1 '; do
		[ "$which" != 'abi=1 nr=64 ' ] || [ "$(n_32 1)" = 1 ] || continue
		assert_equal $(($(lines "^call $which") + $(field n "^lost kind=0 .* $which"))) 5000
		[ "$(field n "^lost kind=0 .* $which")" -gt 4000 ] || fail "little of $which is lost"
	done
	is 0 '^lost kind=[1234]'
}

test_threads_without_memory_for_their_state() {
	trace $PPID_ -q -H 3 -- "$WORK" threads 8 100000
	[ "$(field n '^lost kind=1 .* nr=110 ')" -gt 0 ] || fail "every thread had a state"
	is 0 '^lost kind=[234]'
	assert_equal $(($(field n '^records') + $(field n '^lost'))) 800000
	trace $PPID_ -S -H 3 -- "$WORK" threads 8 100000
	assert_equal $(($(field calls '^sum') + $(field unfinished '^sum') + $(field n '^lost kind=1'))) 800000
}

# Of 8 children, which nothing but their parent says that they are traced.
test_children_without_memory_for_their_state() {
	trace $PPID_ -q -H 3 -- "$WORK" children 8 20000
	[ "$(field n '^lost kind=1 .* nr=110 ')" -gt 0 ] || fail "every child had a state"
	assert_equal $(($(field n '^records') + $(field n '^lost'))) 160000
	trace $PPID_ -S -H 3 -- "$WORK" children 8 20000
	[ "$(field n '^lost kind=1 .* nr=110 ')" -gt 0 ] || fail "every child had a state"
	assert_equal $(($(field calls '^sum') + $(field unfinished '^sum') + $(field n '^lost kind=1'))) 160000
}

# 512 calls can keep large arguments at a time.
test_arguments_without_memory() {
	trace $WRITE -s 1000 -- "$WORK" blocked 520
	is 520 '^call abi=0 nr=1 .* ret=1000 '
	is 8 '^call abi=0 nr=1 flags=8 .* args=[0-9a-f]+,[0-9a-f]+,3e8$'
	is 512 '^call abi=0 nr=1 flags=0 .* piece=1,0,0,0,0,0,1000:'
	assert_equal "$(field n '^lost kind=2 .* nr=1 ')" 8
	is 0 '^lost kind=[0134]'
}

test_rows_without_memory() {
	trace $PPID_ -S -T -M 3 -- "$WORK" threads 5 300
	# where the kernel has no memory for a state or a row at once, a later call gets it
	is 3 '^sum .* nr=110 '
	assert_equal $(($(field calls '^sum .* nr=110 ') + $(field n '^lost .* nr=110 '))) 1500
	[ "$(field n '^lost kind=3 .* nr=110 ')" -ge 600 ] || fail "two threads have no row"
	is 0 '^lost kind=[024]'
	# the errors of openat or of close have no row, but their calls are in the sums
	trace $OPENAT -c 0/3/1 -S -M 1 -- "$WORK" calls 50
	is 1 '^errno '
	is 0 '^lost kind=[0123]'
	assert_equal $(($(field n '^errno') + $(field n '^lost kind=4'))) "$(field errors '^sum')"
	[ "$(field n '^lost kind=4')" -ge 50 ] || fail "no error is lost"
}

test_sums_need_no_ring() {
	trace $CALLS -S -- "$WORK" calls 20000
	is 1 '^sum .* abi=0 nr=110 calls=20000 errors=0 unfinished=0 .* slots=20000$'
	is "$(n_32 1)" '^sum .* abi=1 nr=64 calls=20000 errors=0 unfinished=0 .* slots=20000$'
	is 1 '^errno tid=0 abi=0 nr=3 err=9 n=20000$'
	is 1 '^errno tid=0 abi=0 nr=257 err=2 n=2000[0-9]$'
	is 1 '^records n=0 '
	# total within calls times min and max; the squares fit: Cauchy's inequality
	awk '$1 == "sum" {
		for (i = 2; i <= NF; i++) { split($i, kv, "="); v[kv[1]] = kv[2] }
		if (v["total"] < v["calls"] * v["min"] || v["total"] > v["calls"] * v["max"] ||
		    v["squares"] * v["calls"] < v["total"] ^ 2 * 0.999999 ||
		    v["squares"] > v["total"] * v["max"] * 1.000001) { print; bad = 1 }
	} END { exit bad }' out || fail "the sums do not fit together"
}

test_sums_by_thread() {
	trace $PPID_ -S -T -- "$WORK" threads 5 300
	is 5 '^sum tid=[1-9][0-9]* pid=[1-9][0-9]* comm=trace_work abi=0 nr=110 '
	is 5 '^sum '
	all "$(field calls '^sum')" 1500
	[ -z "$(awk '/^sum/ && !/ calls=([12]?[0-9]?[0-9]|300) /' out)" ] || fail "a thread has too many calls"
	trace $PPID_ -S -T -- "$WORK" forks 2000
	all "$(lines '^sum tid=[1-9][0-9]* .* nr=110 calls=1 ')" 2000
}

test_failed_calls_and_long_ones() {
	trace $CALLS -f -- "$WORK" calls 10
	is 10 '^call abi=0 nr=257 '
	is 10 '^call abi=0 nr=3 '
	is 20 '^call .* ret=-'
	trace -c 0/230/4 $PPID_ -m 20000000 -- sh -c "sleep 0.05; $WORK calls 3"
	is 1 '^call abi=0 nr=230 '
	# another one has to have waited for a CPU
	is 0 '^call .* ns=[01]?[0-9]{1,7} '
}

test_users_and_cgroups() {
	trace $PPID_ -a -u 65533 -q -- sh -c "$WORK calls 7; setpriv --reuid 65533 $WORK calls 9"
	is 1 '^records n=9 '
	local group=/sys/fs/cgroup/unified
	[ -e $group/cgroup.procs ] || group=/sys/fs/cgroup
	[ -e $group/cgroup.procs ] || skip "cgroups of version 2 are not mounted"
	group=$group/trace_source.$$
	mkdir -p $group/below
	trace $PPID_ -a -g $group -q -- sh -c "$WORK calls 7
		echo 0 >$group/below/cgroup.procs; $WORK calls 9; echo 0 >${group%/*}/cgroup.procs"
	rmdir $group/below $group
	is 1 '^records n=9 '
}

test_excluded_processes_and_oneself() {
	# sh execs the last command of -c, so its id is that of the first workload
	trace $PPID_ -a -- sh -c "$WORK calls 5 & wait; exec $WORK calls 6"
	is 11 '^call abi=0 nr=110 .* comm=trace_work '
	is 0 ' comm=trace_client '
	mkfifo go
	sh -c "read x <go; exec $WORK calls 5" &
	trace $PPID_ -a -x $! -- sh -c "echo >go; while [ -e /proc/$! ]; do sleep 0.1; done
		exec $WORK calls 6"
	is 6 '^call abi=0 nr=110 .* comm=trace_work '
	wait $!
}

test_nothing_stays_loaded() {
	trace $PPID_ -- "$WORK" calls 1
	gone() {
		! "$PERF_BPF" prog list 2>/dev/null | grep -E '\btrace_(enter|exit|fork)\b'
	}
	soon gone
}

run_tests
