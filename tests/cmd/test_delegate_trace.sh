#!/usr/bin/env bash
# perf-bpf trace for users without privileges, by the service perf-bpf delegate: what root has
# approved works, and each attack of doc/security.md fails.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"
. "$(dirname "$0")/delegate_service.sh"

# Needs the approval, and no session that counts.
need_tracing() {
	as $NOBODY ./perf-bpf trace -e exit_group -- true >probe 2>&1 && return
	if grep -q "too old\|cannot read" probe; then
		skip "this kernel lets users without privileges read no maps (5.19)"
	fi
	! grep -q "cannot be identified" service.log || skip "the kernel has no pid descriptors of sockets (6.5)"
	! grep -q "no task storage" service.log || skip "the kernel has no task storage for tracing programs"
	fail "$(cat probe service.log)"
}

begin_trace() {
	begin
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	cp "$BUILD/tests/cmd/trace_work" .
	# without a limit: programs at all calls are as expensive as what runs beside them makes calls
	approve trace --for user:$NOBODY --max-overhead 100% "$@" >id
	need_tracing
	soon no_session
}

# The program of trace_attacks, with the rights of another user and of nobody's group.
make_secret() {
	echo pbt_secret_content >secret
	chown $OTHER secret
	chmod 600 secret
	cp trace_attacks suid
	chown $OTHER suid
	chmod 4755 suid
	! as $NOBODY cat secret 2>/dev/null || fail "everybody can read the secret"
	as $NOBODY ./suid secret secret >/dev/null || skip "set-user-ID programs do not work in $PWD"
}

test_a_user_traces_what_is_approved() {
	begin_trace
	expect_status 3 as $NOBODY ./perf-bpf trace -e 'getppid,openat,exit_group' -- \
		sh -c './trace_work calls 20; exit 3'
	[ "$(grep -c 'getppid()' err)" -ge 20 ] || fail "$(cat err)"
	grep -q 'openat(.*= -1 ENOENT' err || fail "$(cat err)"
	grep -qE 'exit_group\(.*3\)' err || fail "$(cat err)"
	grep -qE "uid $NOBODY, pid [0-9]+\): trace: traces, approval $(cat id), target own" service.log ||
		fail "$(cat service.log)"
	soon grep -q "trace: ended by the user" service.log
	soon no_session
	# the list of approvals
	approve --list >list
	assert_contains list "$(cat id)  trace  for user:nobody  command trace  target own"
	approve --list -j >list
	assert_contains list '"command":"trace"'
}

# What root sees of the same workload, and nothing is lost.
test_the_same_as_root_sees() {
	begin_trace
	local calls='getppid,openat,write,close'
	expect_status 0 as $NOBODY ./perf-bpf trace --strace -e "$calls" --log home/users -- ./trace_work calls 50
	expect_status 0 ./perf-bpf trace --strace -e "$calls" --log roots -- ./trace_work calls 50
	# names and arguments; ids and addresses differ
	for who in home/users roots; do
		sed -E 's/^[^a-z]*//; s/0x[0-9a-f]+/ADDRESS/g; s/[0-9]+/N/g' $who >$who.calls
	done
	cmp home/users.calls roots.calls || fail "$(diff home/users.calls roots.calls | head -20)"
	[ "$(wc -l <roots.calls)" -ge 200 ] || fail "$(cat roots.calls)"
}

test_summary() {
	begin_trace
	expect_status 0 as $NOBODY ./perf-bpf trace -s --csv -- ./trace_work calls 30
	cp out csv
	grep -qE 'getppid' csv || fail "$(cat csv err)"
	expect_status 0 as $NOBODY ./perf-bpf trace -s --summary-mode total --errno-summary -- ./trace_work calls 30
	awk '$1 == "openat" && $3 >= 30 { found = 1 } END { exit !found }' err || fail "$(cat err)"
	grep -q ENOENT err || fail "$(cat err)"
	expect_status 0 as $NOBODY ./perf-bpf trace -s --summary-mode cgroup -- ./trace_work calls 30
	grep -q getppid err || fail "$(cat err)"
}

test_a_recording_of_calls() {
	begin_trace
	expect_status 0 as $NOBODY ./perf-bpf trace -e getppid --record home/data -- ./trace_work calls 25
	assert_equal "$(stat -c %u home/data)" $NOBODY
	expect_status 0 as $NOBODY ./perf-bpf trace -i home/data
	[ "$(cat out err | grep -c 'getppid()')" -ge 25 ] || fail "$(cat out err)"
}

test_a_running_process() {
	begin_trace
	(exec setpriv --reuid $NOBODY --regid $NOBODY --clear-groups \
		sh -c 'while :; do kill -0 $$; done') &
	clients=$!
	expect_status 0 as $NOBODY ./perf-bpf trace -p $clients -e kill --max-events 20
	assert_equal "$(grep -c 'kill(' err)" 20
}

test_who_may_and_what_for() {
	begin
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	expect_status 1 as $NOBODY ./perf-bpf trace --record home/data -- true
	assert_contains err "the service refuses 'trace': it is not approved for this user"
	assert_contains err "perf-bpf approve trace --for USER"
	[ ! -e home/data ] || fail "a file was written"
	approve runqlat --for user:$NOBODY >/dev/null
	expect_status 1 as $NOBODY ./perf-bpf trace -- true
	assert_contains err "it is not approved for this user"
	approve trace --for group:$GROUP >/dev/null
	expect_status 1 as $NOBODY ./perf-bpf trace -- true
	assert_contains err "it is not approved for this user"
	approve trace --for user:$NOBODY >/dev/null
	need_tracing
	expect_status 0 as $OTHER --groups=$GROUP ./perf-bpf trace -e getppid -- true
	# a program of this name, and other copies than those of the service
	status=0
	as $NOBODY ./trace_attacks "$PERF_BPF_DELEGATE_SOCKET" other-program >out || status=$?
	assert_equal $status 3
	assert_contains out "it has changed since it was approved"
	status=0
	as $NOBODY ./trace_attacks "$PERF_BPF_DELEGATE_SOCKET" other-calls >out || status=$?
	assert_equal $status 3
	assert_contains out "the service is another version of perf-bpf"
}

test_what_cannot_be_approved() {
	begin
	expect_status 2 approve trace --for user:$NOBODY --command run
	assert_contains err "--command: 'trace' has none"
	expect_status 2 approve runqlat --for user:$NOBODY --command trace
	assert_contains err "--command: 'trace' has none"
	expect_status 2 approve trace --for user:$NOBODY --set x=1
	assert_contains err "'trace' has no variables"
	approve trace --for user:$NOBODY --command trace >/dev/null
}

test_options_that_need_privileges() {
	begin_trace
	cp "$BUILD/progs/runqlat.bpf.o" home
	chmod 644 home/runqlat.bpf.o
	refused() { # refused REASON OPTION...
		local reason=$1
		shift
		expect_status 2 as $NOBODY ./perf-bpf trace "$@" -- true
		assert_contains err "$reason"
	}
	refused "-e sched:sched_switch cannot be used without privileges" -e sched:sched_switch
	refused "-e home/runqlat.bpf.o cannot be used without privileges" -e home/runqlat.bpf.o
	refused "it needs perf events" -F all
	refused "it needs perf events" --sched -s
	refused "it needs perf events" -g
	refused "the service does not support conditions" --where 'openat.ret < 0'
	tree=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
	[ -z "$tree" ] || refused "the approval sets which processes are traced" --cgroup "$tree"
	refused "the service starts tracing immediately" -D 10
	refused "the service chooses the size of the ring" -m 1M
	refused "--dump-map cannot be used without privileges" --dump-map pids
	soon no_session
}

# Root's calls while a user traces everything that it may: nothing of them.
test_own_processes_only() {
	begin_trace --target own
	(exec sh -c 'while :; do [ -e /nonexistent/roots_name ]; done') &
	loop=$!
	clients="${clients:-} $loop"
	mkfifo wait
	chmod 666 wait
	ran() { awk '{ print $14 + $15 }' "/proc/$loop/stat"; } # ticks of user and system time
	ran_since() { [ "$(ran)" -gt $(($1 + 2)) ]; }
	seen() { # seen PID TEXT: how many records a client that asks for root's calls sees
		rm -f seen # what the client before said is not what this one says
		as $NOBODY ./trace_attacks "$PERF_BPF_DELEGATE_SOCKET" sees "$1" "$2" <wait >seen &
		seer=$!
		exec 7>wait
		soon grep -q holds seen
		# calls of root and of the user during this time
		soon ran_since "$(ran)"
		as $NOBODY sh -c 'i=0; while [ $i -lt 50 ]; do [ -e /nonexistent/users_name ]; i=$((i + 1)); done'
		exec 7>&-
		wait $seer || fail "$(cat seen)"
		sed -n 's/^found: //p' seen
	}
	assert_equal "$(seen 0 roots_name)" 0
	[ "$(seen 0 users_name)" -ge 1 ] || fail "$(cat seen)"
	assert_equal "$(seen $loop roots_name)" 0
	assert_contains seen "records: 0"
	# the same client sees them if root has approved that
	approve trace --for user:$NOBODY --target all --max-overhead 100% >/dev/null
	[ "$(seen $loop roots_name)" -gt 0 ] || fail "$(cat seen)"
}

# A set-user-ID program has the uid of who started it, and reads what that user cannot.
test_set_user_id_programs() {
	begin_trace
	make_secret
	local all='-e all --string-size 4096'
	# what is looked for is there
	./perf-bpf trace $all --log roots -- setpriv --reuid $NOBODY --regid $NOBODY --clear-groups \
		./suid secret secret ./trace_work calls 1 || fail "$(cat roots)"
	for name in pbt_secret_content secret_name secret_back getppid; do
		grep -q $name roots || fail "root does not see $name"
	done
	for format in "--log home/log" "--strace --log home/log" "--record home/log"; do
		rm -f home/log
		expect_status 0 as $NOBODY ./perf-bpf trace $all $format -- ./suid secret secret ./trace_work calls 1
		for name in pbt_secret_content secret_name secret_back; do
			! grep -qa $name home/log || fail "$format: the user sees $name"
		done
	done
	# the user's own again: from the exec of a program that is not set-user-ID
	expect_status 0 as $NOBODY ./perf-bpf trace $all --strace --log home/log -- \
		./suid secret secret ./trace_work calls 1
	grep -q 'getppid()' home/log || fail "$(cat home/log)"
	grep -q 'execve("./suid"' home/log || fail "$(cat home/log)"
	# nor are its calls counted
	expect_status 0 as $NOBODY ./perf-bpf trace -s --summary-mode total --csv -- ./suid secret secret
	! grep -qE '^"?(openat|read|setresuid)' out || fail "$(cat out)"
}

# Who is not dumpable is not traced either, as by ptrace(2), nor who has a capability.
test_what_the_user_could_not_trace() {
	begin_trace
	workload_as workload
	expect_status 0 as $NOBODY ./perf-bpf trace -e open,openat --log home/log -- ./workload opens 1 /nonexistent/before , dumpable 0 , opens 1 /nonexistent/hidden_name
	grep -q before home/log || fail "$(cat home/log)"
	! grep -q hidden_name home/log || fail "a process that is not dumpable is seen"
	# root starts these, as the user
	cp workload named
	start() { # start NAME SETPRIV-OPTION...: of the program $program
		local name=$1
		shift
		# by a shell: setpriv itself still has capabilities when it executes a program
		(exec setpriv --reuid $NOBODY --clear-groups "$@" sh -c 'exec "$@"' sh ./$program forever opens 1 "/nonexistent/$name") &
		clients="${clients:-} $!"
		soon grep -q $program "/proc/$!/comm"
	}
	local program=named
	start plain_name --regid $NOBODY
	start group_name --regid $OTHER
	start caps_name --regid $NOBODY --inh-caps +net_raw --ambient-caps +net_raw
	# who may execute it, but not read it
	install -m 711 named unread
	program=unread
	start unread_name --regid $NOBODY
	program=capable
	cp named capable
	! setcap cap_net_raw=ep capable || start filecaps_name --regid $NOBODY
	expect_status 0 as $NOBODY ./perf-bpf trace -a -e open,openat --max-events 5000 --log home/log
	grep -q plain_name home/log || fail "the user's process is not seen"
	! grep -q group_name home/log || fail "a process of another group is seen"
	! grep -q caps_name home/log || fail "a process with a capability is seen"
	! grep -q unread_name home/log || fail "a program that the user cannot read is seen"
	# root sees their calls; of the first ones perhaps the end alone
	for pid in $clients; do
		./perf-bpf trace -p $pid -e open,openat --max-events 3000 --log roots 2>err || fail "$(cat err)"
		cat roots >>seen
	done
	for name in plain_name group_name /caps_name unread_name; do
		grep -q "$name" seen || fail "root does not see $name"
	done
}

# The pid that the user named belongs to a process of root then.
test_a_pid_that_is_used_again() {
	begin_trace
	(exec setpriv --reuid $NOBODY --regid $NOBODY --clear-groups sleep 1000) &
	sleeper=$!
	clients="${clients:-} $sleeper"
	mkfifo wait
	chmod 666 wait
	as $NOBODY ./trace_attacks "$PERF_BPF_DELEGATE_SOCKET" sees $sleeper reused_name <wait >seen &
	seer=$!
	exec 7>wait
	soon grep -q holds seen
	kill $sleeper
	wait $sleeper || :
	status=0
	./trace_attacks reuse $sleeper sh -c 'for i in 1 2 3; do [ -e /nonexistent/reused_name ]; done' \
		>reuse 2>&1 || status=$?
	exec 7>&-
	wait $seer || fail "$(cat seen)"
	[ $status != 4 ] || skip "another process has got the pid"
	[ $status != 5 ] || skip "$(cat reuse)"
	# sh's test fails, as it should
	assert_contains seen "found: 0"
}

test_own_cgroup_only() {
	begin_trace
	local tree
	tree=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
	[ -n "$tree" ] || skip "there is no cgroup v2"
	approve --revoke "$(cat id)"
	approve trace --for user:$NOBODY --target cgroup --max-overhead 100% >/dev/null
	group=$tree/pbt-$$
	mkdir "$group" || skip "no cgroups can be made in $tree"
	trap 'end_service; rmdir "$group"' EXIT
	(echo $BASHPID >"$tree/cgroup.procs" && as $NOBODY ./perf-bpf trace -e getppid -- true) \
		>out 2>err && fail "it traces the root cgroup"
	assert_contains err "this process has no cgroup of its own"
	(exec setpriv --reuid $NOBODY --regid $NOBODY --clear-groups \
		sh -c 'while :; do kill -0 $$; done') &
	clients="${clients:-} $!"
	(echo $BASHPID >"$group/cgroup.procs" &&
		as $NOBODY ./perf-bpf trace -a -e kill,getppid --log home/log -- ./trace_work calls 10) || fail "$(cat home/log)"
	grep -q 'getppid()' home/log || fail "$(cat home/log)"
	! grep -q 'kill(' home/log || fail "$(cat home/log)"
}

# Numbers as the user knows them.
test_in_a_pid_namespace() {
	begin_trace
	expect_status 0 unshare -pf --mount-proc setpriv --reuid $NOBODY --regid $NOBODY --clear-groups \
		--bounding-set=-all --inh-caps=-all env HOME="$PWD/home" \
		./perf-bpf trace -e getpid,getppid,exit_group --json -- sh -c 'echo $$; exec ./trace_work calls 3'
	pid=$(head -n 1 out)
	[ "$pid" -lt 100 ] || fail "$pid is not of a new namespace"
	grep -q "\"pid\":$pid\b" out || fail "$(cat out)"
	! grep '"pid":' out | grep -v "\"pid\":$pid\b" || fail "$(cat out)"
}

test_limits() {
	begin_trace
	approve --revoke "$(cat id)"
	approve trace --for user:$NOBODY --max-overhead 100% --max-duration 300ms >id
	expect_status 3 as $NOBODY timeout 60 ./perf-bpf trace -a -e getppid
	assert_contains err "the service has ended the trace: the approved time is over"
	soon no_session
	approve --revoke "$(cat id)"
	approve trace --for user:$NOBODY --max-overhead 0.00001% >id
	(exec setpriv --reuid $NOBODY --regid $NOBODY --clear-groups \
		sh -c 'while :; do kill -0 $$; done') &
	loop=$!
	clients="${clients:-} $loop"
	expect_status 3 as $NOBODY timeout 60 ./perf-bpf trace -s -p $loop
	assert_contains err "it used more CPU time than approved"
	grep -q 'kill' err || fail "there is no summary: $(cat err)"
	approve --revoke "$(cat id)"
	approve trace --for user:$NOBODY --max-overhead 100% >id
	as $NOBODY timeout 60 ./perf-bpf trace -v -p $loop -e kill --failure >out 2>err &
	reader=$!
	soon grep -q "the service traces by approval $(cat id)" err
	approve --revoke "$(cat id)"
	status=0
	wait $reader || status=$?
	assert_equal $status 3
	assert_contains err "the approval was revoked"
	soon no_session
}

test_nothing_stays_when_a_side_is_killed() {
	begin_trace
	mkfifo wait
	chmod 666 wait
	as $NOBODY ./trace_attacks "$PERF_BPF_DELEGATE_SOCKET" sees 0 x <wait >seen &
	seer=$!
	exec 7>wait
	soon grep -q holds seen
	programs=$(programs_of "$(pgrep -P $service)")
	[ -n "$programs" ] || fail "the session has no programs"
	kill -KILL $seer
	wait $seer || :
	exec 7>&-
	soon are_gone $programs
	soon grep -q "trace: ended by the user" service.log
	soon no_session
	rm seen
	as $NOBODY ./trace_attacks "$PERF_BPF_DELEGATE_SOCKET" sees 0 x <wait >seen &
	seer=$!
	exec 7>wait
	soon grep -q holds seen
	programs=$(programs_of "$(pgrep -P $service)")
	[ -n "$programs" ] || fail "the session has no programs"
	kill -KILL $service
	wait $service || :
	# what the client has stays, also the program of its iterator
	kill -KILL $seer
	wait $seer || :
	exec 7>&-
	soon are_gone $programs
}

# programs_of PID: the ids of its BPF programs
programs_of() {
	sed -n 's/^prog_id:[[:space:]]*//p' /proc/"$1"/fdinfo/* | sort -u
}

are_gone() {
	local id
	for id; do
		! ./perf-bpf prog list id "$id" >/dev/null 2>&1 || return 1
	done
}

# The most that a session can have in the kernel's memory is small, whatever the user asks for.
test_maps_are_limited() {
	local mode
	begin_trace
	mkfifo wait
	chmod 666 wait
	for mode in thread cgroup; do
		rm -f ready
		as $NOBODY ./perf-bpf trace -s --summary-mode $mode --errno-summary -- \
			sh -c 'echo ready; read -r line <wait' >ready 2>err &
		reader=$!
		exec 7<>wait
		soon grep -q ready ready
		sed -n 's/^max_entries:[[:space:]]*//p' "/proc/$(pgrep -P $service)"/fdinfo/* | sort -n >entries
		# the ring, whose size is in bytes, is the largest
		[ "$(grep -c . entries)" -gt 5 ] || fail "$(cat entries)"
		assert_equal "$mode: $(awk '$1 > 16384' entries)" "$mode: "
		echo end >&7
		wait $reader || fail "$(cat err)"
		exec 7>&-
		soon no_session
	done
}

# What is passed can be read only, and no map is among it that selects or has addresses.
test_maps_cannot_be_written() {
	begin_trace
	as $NOBODY ./trace_attacks "$PERF_BPF_DELEGATE_SOCKET" writes >out || fail "$(cat out)"
	grep -q '^ok: make a mapping writable' out || fail "$(cat out)"
	assert_equal "$(sed -n 's/^map //p' out | sort | tr '\n' ' ')" \
		"cgroup_rows errnos lost ring rows stores thread_rows "
}

test_no_addresses_of_the_kernel() {
	begin_trace
	as $NOBODY ./trace_attacks "$PERF_BPF_DELEGATE_SOCKET" running >out || fail "$(cat out)"
	assert_contains out "ok: an address of the kernel in a state"
	assert_contains out "writes: 1"
}

test_privileges_of_a_session() {
	begin_trace
	has host.seccomp || skip "the kernel has no seccomp"
	soon no_session
	mkfifo wait
	chmod 666 wait
	as $NOBODY ./trace_attacks "$PERF_BPF_DELEGATE_SOCKET" sees 0 x <wait >seen &
	seer=$!
	exec 7>wait
	soon grep -q holds seen
	session=$(pgrep -P $service)
	soon grep -q '^Seccomp:.*2' "/proc/$session/status"
	caps=0x$(sed -n 's/^CapPrm:[[:space:]]*//p' "/proc/$session/status")
	for cap in 38 21 16 12; do
		[ $(((caps >> cap) & 1)) = 0 ] || fail "capability $cap is kept"
	done
	exec 7>&-
	wait $seer || fail "$(cat seen)"
}

run_tests
