#!/usr/bin/env bash
# perf-bpf approve and the service perf-bpf delegate: what root has approved works for users without
# privileges, and each attack of doc/security.md fails.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"
. "$(dirname "$0")/delegate_service.sh"

# assert_loaded N NAME: so many programs of this name are loaded. The names are those of this test.
loaded() {
	[ "$("$PERF_BPF" prog list -j | tr '{' '\n' | grep -c "\"name\":\"$2\"")" = "$1" ]
}

# A program whose name and content no other test has, on a tracepoint that every call passes. Its cost
# depends on how many calls are made beside the test: it is approved without a limit of that.
make_program() {
	cat >home/"$1".bpf.c <<-END
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		#include <bpf/perf_bpf_prog.h>

		int step = 1;
		PERF_BPF_TABLE(seen, __u32, __u64, 64, "calls", "calls by user");

		SEC("raw_tp/sys_enter")
		int $1(void *ctx)
		{
			__u32 uid = (__u32)bpf_get_current_uid_gid();
			__u64 one = step, *n;

			if (!perf_bpf_wanted())
				return 0;
			n = bpf_map_lookup_elem(&seen, &uid);
			if (n)
				__sync_fetch_and_add(n, one);
			else
				bpf_map_update_elem(&seen, &uid, &one, BPF_ANY);
			return 0;
		}

		char _license[] SEC("license") = "GPL";
	END
	compile_bpf home/"$1".bpf.c home/"$1".bpf.o -I.
	chmod 644 home/"$1".bpf.o
}

prepare_program() {
	"$PERF_BPF" btf dump vmlinux --format=c >vmlinux.h
	make_program "$1"
}

test_a_user_runs_what_is_approved() {
	begin
	approve runqlat --for user:$NOBODY >id
	need_unprivileged_reading "$(object)" runqlat
	expect_status 0 as $NOBODY ./perf-bpf run runqlat -- true
	assert_contains out "time in the run queue"
	grep -qE "uid $NOBODY, pid [0-9]+\): runqlat: runs, approval $(cat id), target own" service.log ||
		fail "$(cat service.log)"
	soon grep -q "runqlat: ended by the user" service.log
}

test_an_object_with_parameters() {
	begin
	prepare_program pbd_param
	approve home/pbd_param.bpf.o --max-overhead 100% --for user:$NOBODY --set step=1000 >/dev/null
	need_unprivileged_reading home/pbd_param.bpf.o pbd_param.bpf.o
	expect_status 0 as $NOBODY ./perf-bpf run --json home/pbd_param.bpf.o -- true
	# thousands: each call counts 1,000
	grep -oE '"calls":[0-9]+' out >calls || fail "$(cat out)"
	! grep -vE '000$' calls || fail "the approved parameter has no effect"
	expect_status 2 as $NOBODY ./perf-bpf run --set step=7 home/pbd_param.bpf.o -- true
	assert_contains err "--set cannot be used here"
}

# make_recorded NAME: puts out the user of each call, and filters a tracepoint.
make_recorded() {
	"$PERF_BPF" btf dump vmlinux --format=c >vmlinux.h
	cat >home/"$1".bpf.c <<-END
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		#include <bpf/perf_bpf_prog.h>

		int least = 0;
		perf_output_map();

		SEC("raw_tp/sys_enter")
		int $1(void *ctx)
		{
			__u32 uid = (__u32)bpf_get_current_uid_gid();

			if (perf_bpf_wanted() && uid >= least)
				perf_output(ctx, &uid, sizeof(uid));
			return 0;
		}

		SEC("tracepoint/sched/sched_process_exec")
		int $1_exec(void *ctx)
		{
			return perf_bpf_wanted();
		}

		char _license[] SEC("license") = "GPL";
	END
	compile_bpf home/"$1".bpf.c home/"$1".bpf.o -I.
	chmod 644 home/"$1".bpf.o
}

need_recording() {
	as $NOBODY ./perf-bpf record -q -o home/probe -e "$1" -- true 2>probe || {
		! grep -q "cannot load it" probe || ! grep -q "cannot be identified" service.log ||
			skip "the kernel has no pid descriptors of sockets (6.5)"
		fail "$(cat probe service.log)"
	}
}

# The user's samples and no others: of root's calls and programs there is nothing in the file.
test_a_user_records_what_is_approved() {
	begin
	make_recorded pbd_rec
	approve home/pbd_rec.bpf.o --max-overhead 100% --for user:$NOBODY --command record --set least=1 >id
	need_recording home/pbd_rec.bpf.o
	cp /bin/true pbd_secret
	(while :; do ./pbd_secret; done) &
	clients=$!
	expect_status 7 as $NOBODY ./perf-bpf record -o home/data -e home/pbd_rec.bpf.o -- sh -c 'ls >/dev/null; exit 7'
	kill $clients
	assert_equal "$(stat -c %u home/data)" $NOBODY
	expect_status 0 as $NOBODY ./perf-bpf script -i home/data -F comm,pid,event
	awk '{ print $1, $3 }' out | sort -u >seen
	for line in "ls __bpf_stdout__:" "ls sched:sched_process_exec:" "sh sched:sched_process_exec:"; do
		grep -qx "$line" seen || fail "$line: $(cat seen)"
	done
	# the file has the name of each process in /proc, also of root's: samples are what matters
	! grep pbd_secret seen || fail "what root runs is in the recording: $(cat seen)"
	expect_status 0 as $NOBODY ./perf-bpf script -i home/data
	grep 'BPF output: 0000:' out | awk '{ print $4, $5, $6, $7 }' | sort -u >users
	assert_equal "$(cat users)" "fe ff 00 00"
	grep -qE "uid $NOBODY, pid [0-9]+\): pbd_rec.bpf.o: records, approval $(cat id), target own" service.log ||
		fail "$(cat service.log)"
	soon grep -q "pbd_rec.bpf.o: ended by the user" service.log
	# no addresses of the kernel
	expect_status 0 as $NOBODY ./perf-bpf script -i home/data --header-only
	grep 'event : name' out >events
	! grep 'IP|' events || fail "$(cat events)"
	! perf --version >/dev/null 2>&1 || {
		perf script -f -i home/data -F comm,event 2>/dev/null | awk '{ print $1, $2 }' | sort -u >perfs
		cmp perfs seen || fail "$(diff perfs seen)"
	}
	soon loaded 0 pbd_rec
}

test_recording_is_refused() {
	begin
	make_recorded pbd_ref
	prepare_program pbd_run
	approve home/pbd_run.bpf.o --max-overhead 100% --for user:$NOBODY >/dev/null
	expect_status 1 as $NOBODY ./perf-bpf record -o home/data -e home/pbd_ref.bpf.o -- true
	assert_contains err "the service refuses 'pbd_ref.bpf.o': it is not approved for this user"
	assert_contains err "--command record"
	expect_status 1 as $NOBODY ./perf-bpf record -o home/data -e home/pbd_run.bpf.o -- true
	assert_contains err "it is approved for another command"
	[ ! -e home/data ] || fail "a file was written"
	approve home/pbd_ref.bpf.o --max-overhead 100% --for user:$NOBODY --command record >id
	need_recording home/pbd_ref.bpf.o
	expect_status 1 as $OTHER ./perf-bpf record -o home/other -e home/pbd_ref.bpf.o -- true
	assert_contains err "it is not approved for this user"
	expect_status 1 as $NOBODY ./perf-bpf run home/pbd_ref.bpf.o -- true
	assert_contains err "it is approved for another command"
	for option in "-p $$" "-F 99" "-g" "--all-cgroups" "-e page-faults"; do
		# shellcheck disable=SC2086
		expect_status 2 as $NOBODY ./perf-bpf record -o home/data -e home/pbd_ref.bpf.o $option -- true
	done
	expect_status 1 as $NOBODY ./perf-bpf record -o home/data -e home/pbd_ref.bpf.o/least=0/ -- true
	# changed, and without the approval
	sed -i 's/int least = 0/int least = 1/' home/pbd_ref.bpf.c
	compile_bpf home/pbd_ref.bpf.c home/pbd_ref.bpf.o -I.
	expect_status 1 as $NOBODY ./perf-bpf record -o home/data -e home/pbd_ref.bpf.o -- true
	assert_contains err "it has changed since it was approved"
	approve --list >list
	assert_contains list "pbd_ref.bpf.o  for user:nobody  command record  target own"
	sed -i 's/if (perf_bpf_wanted() && uid/if (uid/; s/return perf_bpf_wanted()/return 1/' home/pbd_ref.bpf.c
	compile_bpf home/pbd_ref.bpf.c home/pbd_ref.bpf.o -I.
	expect_status 1 approve home/pbd_ref.bpf.o --for user:$NOBODY --command record
	assert_contains err "it does not call perf_bpf_wanted()"
}

# The service has programs only: all else is refused for its own reason, as without a service.
test_recording_without_a_program() {
	local paranoid
	begin
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
	while IFS='|' read -r reason options; do
		[ -n "$options" ] || continue
		# shellcheck disable=SC2086
		expect_status 1 as $NOBODY ./perf-bpf record -o home/data $options -- true
		assert_contains err "$reason"
		! grep -E 'No such file|at a time' err || fail "'$options'"
	done <<-EOT
		run as root or with CAP_BPF and CAP_PERFMON|--off-cpu
		run as root or with CAP_BPF|-e probe:exec=$PWD/perf-bpf;main
		belongs to another user|-e cpu-clock:u -p 1
		$([ "$paranoid" -lt 2 ] || echo "run as root or with CAP_PERFMON|-e cpu-clock:k")
		$([ "$paranoid" -lt 1 ] || echo "run as root or with CAP_PERFMON|-a")
		$([ "$paranoid" -lt 1 ] || echo "run as root or with CAP_PERFMON|-a -e cpu-clock:u")
	EOT
	! grep refused service.log | grep -v 'no request' || fail "the service was asked"
}

# At its limits the service ends the recording, whose file is complete.
test_a_recording_has_limits() {
	begin
	make_recorded pbd_lim
	# without a limit: on a busy machine even "true" may be recorded for longer
	approve home/pbd_lim.bpf.o --max-overhead 100% --for user:$NOBODY --command record >id
	need_recording home/pbd_lim.bpf.o
	approve --revoke "$(cat id)"
	approve home/pbd_lim.bpf.o --max-overhead 100% --for user:$NOBODY --command record --max-duration 300ms >id
	expect_status 3 as $NOBODY timeout 60 ./perf-bpf record -o home/data -e home/pbd_lim.bpf.o
	assert_contains err "the service has detached home/pbd_lim.bpf.o: the approved time is over"
	expect_status 0 as $NOBODY ./perf-bpf script -i home/data
	soon loaded 0 pbd_lim
	approve --revoke "$(cat id)"
	approve home/pbd_lim.bpf.o --for user:$NOBODY --command record --max-overhead 0.00001% >id
	(exec setpriv --reuid $NOBODY --regid $NOBODY --clear-groups \
		sh -c 'while :; do kill -0 $$; done') &
	clients=$!
	expect_status 3 as $NOBODY timeout 60 ./perf-bpf record -o home/data -e home/pbd_lim.bpf.o
	assert_contains err "it used more CPU time than approved"
	end_work=$clients clients=
	kill $end_work
	approve --revoke "$(cat id)"
	approve home/pbd_lim.bpf.o --max-overhead 100% --for user:$NOBODY --command record >id
	as $NOBODY timeout 60 ./perf-bpf record -v -o home/data -e home/pbd_lim.bpf.o >out 2>err &
	reader=$!
	soon grep -q "the service records" err
	soon loaded 1 pbd_lim
	approve --revoke "$(cat id)"
	status=0
	wait $reader || status=$?
	assert_equal $status 3
	assert_contains err "the approval was revoked"
	soon loaded 0 pbd_lim
}

# Nothing that is passed can be made to show more, or to go on.
test_rings_cannot_be_changed() {
	begin
	make_recorded pbd_ring
	approve home/pbd_ring.bpf.o --max-overhead 100% --for user:$NOBODY --command record --target=all >/dev/null
	need_recording home/pbd_ring.bpf.o
	attack rings home/pbd_ring.bpf.o pbd_ring.bpf.o >out || fail "$(cat out)"
	assert_contains out "ok: samples after the session"
	grep -qE '^rings: [1-9]' out || fail "$(cat out)"
	soon loaded 0 pbd_ring
}

# has_mapping FILE DSO: a process has mapped it
has_mapping() {
	"$PERF_BPF" script -f -i "$1" --show-mmap-events 2>/dev/null | grep MMAP | grep -q "$2"
}

# What is mapped is recorded of the user's processes until they execute a set-user-ID program; of the
# kernel's symbols there is nothing.
test_what_is_mapped() {
	begin
	make_recorded pbd_mapped
	approve home/pbd_mapped.bpf.o --max-overhead 100% --for user:$NOBODY --command record >/dev/null
	need_recording home/pbd_mapped.bpf.o
	echo 'int main(void) { return 0; }' >mapped.c
	gcc -o pbd_plain mapped.c
	cp pbd_plain pbd_suid
	chmod 4755 pbd_suid
	# root's recording of the CPUs has all of that
	expect_status 0 ./perf-bpf record -q -a -o data -e home/pbd_mapped.bpf.o -- \
		setpriv --reuid $NOBODY --regid $NOBODY --clear-groups sh -c './pbd_suid; ./pbd_plain'
	for name in /pbd_plain /pbd_suid kernel.kallsyms; do
		has_mapping data $name || fail "$name is not in root's recording"
	done
	expect_status 0 as $NOBODY ./perf-bpf record -q -o home/data -e home/pbd_mapped.bpf.o -- \
		sh -c './pbd_suid; ./pbd_plain'
	has_mapping home/data /pbd_plain || fail "the user's program is not in the recording"
	! has_mapping home/data /pbd_suid || fail "a set-user-ID program is in the recording"
	! has_mapping home/data kernel.kallsyms || fail "the kernel is in the recording"
	expect_status 0 "$PERF_BPF" script -f -i home/data --show-bpf-events
	! grep -E 'KSYMBOL|BPF_EVENT' out || fail "symbols of BPF programs are in the recording"
}

# The pid of the process that connected is that of one of root's when the request comes.
test_a_pid_that_is_used_again() {
	local asks pid reuses status=0 reuse=0
	begin
	make_recorded pbd_reuse
	approve home/pbd_reuse.bpf.o --max-overhead 100% --for user:$NOBODY --command record >/dev/null
	need_recording home/pbd_reuse.bpf.o
	mkfifo asks.wait lives
	chmod 666 asks.wait
	attack reused home/pbd_reuse.bpf.o pbd_reuse.bpf.o <asks.wait >asks 2>&1 &
	asks=$!
	exec 7>asks.wait
	soon grep -q holds asks
	pid=$(sed 's/holds //' asks)
	./trace_attacks reuse "$pid" sh -c 'echo runs; exec cat' <lives >reuse 2>&1 7>&- &
	reuses=$!
	exec 8>lives
	soon is_reused
	exec 7>&-
	wait $asks || status=$?
	exec 8>&-
	wait $reuses || reuse=$?
	[ $reuse != 4 ] || skip "another process has got the pid"
	[ $reuse != 5 ] || skip "$(cat reuse)"
	assert_equal $status 0
	assert_contains asks "ok: a process that has got the id of the one that connected"
	assert_contains service.log "the process that asked cannot be identified"
}

is_reused() {
	grep -q runs reuse || ! kill -0 $reuses
}

# Only processes of the user: root's are counted by nobody's program in no case.
test_own_processes_only() {
	begin
	prepare_program pbd_own
	approve home/pbd_own.bpf.o --max-overhead 100% --for user:$NOBODY >/dev/null
	need_unprivileged_reading home/pbd_own.bpf.o pbd_own.bpf.o
	expect_status 0 as $NOBODY ./perf-bpf run --json home/pbd_own.bpf.o -- true
	grep -q "\"calls\":" out || fail "$(cat out)"
	! grep -oE '\[[0-9]+,[0-9]+\]|"key":[0-9]+' out | grep -vE "$NOBODY" || fail "$(cat out)"
}

# Processes with the user's uid that the user could not trace with ptrace(2): set-user-ID programs,
# those that are not dumpable, those of another group, those with a capability. $plain is one that the
# user could trace. $others: their pids, separated by "|".
begin_others() {
	workload_as busy
	cp busy suid
	chown root suid
	chmod 4755 suid
	others=
	start() { # start NAME SETPRIV-OPTION... COMMAND...: $started
		local name=$1
		shift
		(exec setpriv --reuid $NOBODY --clear-groups "$@") &
		started=$!
		clients="${clients:-} $started"
		soon grep -qx "$name" "/proc/$started/comm"
		others="$others${others:+|}$started"
	}
	start suid --regid $NOBODY ./suid forever sleeps 1 1000
	grep -q "^Uid:.$NOBODY.0" "/proc/$started/status" || skip "set-user-ID programs do not work in $PWD"
	start busy --regid $NOBODY ./busy dumpable 0 , forever sleeps 1 1000
	start busy --regid 0 ./busy forever sleeps 1 1000
	start busy --regid $NOBODY --inh-caps +net_raw --ambient-caps +net_raw ./busy forever sleeps 1 1000
	local before=$others
	start busy --regid $NOBODY ./busy forever sleeps 1 1000
	plain=$started others=$before
	# the workload of the user: until all of them have run beside it
	cat >all_ran <<-'END'
		#!/bin/bash
		calls() { awk '/^voluntary/ { print $2 }' "/proc/$1/status"; }
		declare -A before
		for pid; do before[$pid]=$(calls $pid); done
		for pid; do
			until [ "$(calls $pid)" -gt $((before[$pid] + 5)) ]; do :; done
		done
	END
	chmod 755 all_ran
}

test_run_shows_what_the_user_could_trace() {
	begin
	"$PERF_BPF" btf dump vmlinux --format=c >vmlinux.h
	make_program pbd_may
	sed -i 's/(__u32)bpf_get_current_uid_gid()/bpf_get_current_pid_tgid() >> 32/; s/64, "calls"/1024, "calls"/' home/pbd_may.bpf.c
	compile_bpf home/pbd_may.bpf.c home/pbd_may.bpf.o -I.
	approve home/pbd_may.bpf.o --for user:$NOBODY --max-overhead 100% >/dev/null
	need_unprivileged_reading home/pbd_may.bpf.o pbd_may.bpf.o
	begin_others
	expect_status 0 as $NOBODY ./perf-bpf run --csv home/pbd_may.bpf.o -- ./all_ran ${others//|/ } $plain
	cut -d, -f2 out >pids # their calls can be as many as a pid
	grep -qxE "$plain" pids || fail "the user's process is not seen: $(cat out)"
	! grep -xE "$others" pids || fail "seen, but the user could not trace it (of $others): $(ps -o pid,comm,euid -p "${others//|/,}")"
	# approved for all processes, they are there
	approve home/pbd_may.bpf.o --for user:$NOBODY --max-overhead 100% --target=all >/dev/null
	expect_status 0 as $NOBODY ./perf-bpf run --csv home/pbd_may.bpf.o -- ./all_ran ${others//|/ } $plain
	for pid in ${others//|/ }; do
		cut -d, -f2 out | grep -x "$pid" >seen || fail "$pid is not seen: $(cat out)"
	done
}

test_record_has_what_the_user_could_trace() {
	begin
	make_recorded pbd_has
	approve home/pbd_has.bpf.o --for user:$NOBODY --command record --set least=1 --max-overhead 100% >/dev/null
	need_recording home/pbd_has.bpf.o
	begin_others
	expect_status 0 as $NOBODY ./perf-bpf record -o home/data -e home/pbd_has.bpf.o -- ./all_ran ${others//|/ } $plain
	expect_status 0 as $NOBODY ./perf-bpf script -i home/data -F pid
	sort -u out >pids
	grep -qwE "$plain" pids || fail "the user's process is not seen: $(cat pids)"
	! grep -wE "$others" pids || fail "seen, but the user could not trace it (of $others)"
}

# An object that was compiled before perf_bpf_wanted() checked this.
test_older_programs_are_not_approved_for_own_processes() {
	begin
	prepare_program pbd_old
	cp -r "$SRC/include" older
	sed -i s/perf_bpf_owner/perf_bpf_ignored/g older/bpf/perf_bpf_prog.h
	HEADERS=older compile_bpf home/pbd_old.bpf.c home/pbd_old.bpf.o -I.
	expect_status 1 approve home/pbd_old.bpf.o --for user:$NOBODY
	assert_contains err "the program does not check which processes a user may see"
	approve home/pbd_old.bpf.o --max-overhead 100% --for user:$NOBODY --target=all >/dev/null
}

test_all_processes() {
	begin
	prepare_program pbd_all
	approve home/pbd_all.bpf.o --max-overhead 100% --for user:$NOBODY --target=all >/dev/null
	need_unprivileged_reading home/pbd_all.bpf.o pbd_all.bpf.o
	soon loaded 0 pbd_all # the kernel frees it after the process has ended
	# root's calls: this shell's, while the program is attached
	attack_begins held holds home/pbd_all.bpf.o pbd_all.bpf.o
	id=$("$PERF_BPF" prog list -j | tr '{' '\n' | sed -n 's/.*"id":\([0-9]*\).*"name":"pbd_all".*/\1/p')
	map=$("$PERF_BPF" prog list id "$id" -j | sed -n 's/.*"map_ids":\[\([0-9,]*\)\].*/\1/p')
	for m in ${map//,/ }; do
		"$PERF_BPF" map dump id "$m" >>dumped 2>/dev/null || :
	done
	end_client
	grep -q 'key.*\b0\b' dumped || fail "$(cat dumped)"
}

# The cgroup of the process that asks; the root of the hierarchy is everybody's.
test_own_cgroup_only() {
	begin
	local tree
	tree=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
	[ -n "$tree" ] || skip "there is no cgroup v2"
	prepare_program pbd_cgroup
	approve home/pbd_cgroup.bpf.o --max-overhead 100% --for user:$NOBODY --target=cgroup >/dev/null
	group=$tree/pbd-$$
	mkdir "$group" || skip "no cgroups can be made in $tree"
	trap 'end_service; rmdir "$group"' EXIT
	(echo $BASHPID >"$tree/cgroup.procs" && as $NOBODY ./perf-bpf run home/pbd_cgroup.bpf.o -- true) \
		>out 2>err && fail "it runs for the root cgroup"
	assert_contains err "this process has no cgroup of its own"
	as_of_group() {
		echo $BASHPID >"$group/cgroup.procs" && as $NOBODY ./perf-bpf run --json "$@"
	}
	(as_of_group home/pbd_cgroup.bpf.o -- true) >out 2>err || {
		! grep -q "no cgroup of its own" err || skip "the kernel has no pid descriptors of sockets (6.5)"
		! grep -q "read the map" err || skip "this kernel lets users without privileges read no maps (5.19)"
		fail "$(cat err)"
	}
	grep -q '"calls":' out || fail "$(cat out)"
	# this shell and the service make calls, too, but not in the cgroup
	assert_equal "$(python3 -c 'import json; print([r["key"] for r in json.load(open("out"))["rows"]])')" "[$NOBODY]"
}

test_only_for_whom_it_is_approved() {
	begin
	expect_status 1 as $NOBODY ./perf-bpf run runqlat -- true
	assert_contains err "the service refuses 'runqlat': it is not approved for this user"
	assert_contains err "perf-bpf approve"
	approve runqlat --for user:$OTHER >/dev/null
	expect_status 1 as $NOBODY ./perf-bpf run runqlat -- true
	assert_contains err "it is not approved for this user"
	approve runqlat --for group:$GROUP >/dev/null
	expect_status 1 as $NOBODY ./perf-bpf run runqlat -- true
	need_unprivileged_reading "$(object)" runqlat
	expect_status 0 as $NOBODY --groups=$GROUP ./perf-bpf run runqlat -- true
	expect_status 0 as $OTHER ./perf-bpf run runqlat -- true
	grep -q "refused: it is not approved" service.log || fail "$(cat service.log)"
}

test_a_changed_program_is_refused() {
	begin
	prepare_program pbd_change
	approve home/pbd_change.bpf.o --max-overhead 100% --for user:$NOBODY >/dev/null
	sed -i 's/int step = 1/int step = 2/' home/pbd_change.bpf.c
	compile_bpf home/pbd_change.bpf.c home/pbd_change.bpf.o -I.
	expect_status 1 as $NOBODY ./perf-bpf run home/pbd_change.bpf.o -- true
	assert_contains err "it has changed since it was approved"
}

test_revoked() {
	begin
	approve runqlat --for user:$NOBODY >id
	approve --list >list
	assert_contains list "$(cat id)  runqlat  for user:"
	approve --list -j >list
	assert_contains list '"target":"own","max_overhead_percent":2,"max_duration_ms":600000'
	approve --revoke "$(cat id)"
	assert_equal "$(approve --list)" ""
	[ -z "$(ls store)" ] || fail "$(ls store)"
	expect_status 1 as $NOBODY ./perf-bpf run runqlat -- true
	expect_status 1 approve --revoke 0123456789abcdef
	assert_contains err "there is no approval"
}

# A session of another approval goes on.
test_revoked_while_it_runs() {
	begin
	prepare_program pbd_revoked
	prepare_program pbd_stays
	approve home/pbd_revoked.bpf.o --max-overhead 100% --for user:$NOBODY >id
	approve home/pbd_stays.bpf.o --max-overhead 100% --for user:$NOBODY >/dev/null
	need_unprivileged_reading home/pbd_revoked.bpf.o pbd_revoked.bpf.o
	attack_begins stays holds home/pbd_stays.bpf.o pbd_stays.bpf.o
	as $NOBODY timeout 60 ./perf-bpf run -v home/pbd_revoked.bpf.o >out 2>err &
	reader=$!
	# it says so itself: the log and the list may still have the session of who asked before
	soon grep -q "the service runs home/pbd_revoked.bpf.o" err
	soon loaded 1 pbd_revoked
	approve --revoke "$(cat id)"
	status=0
	wait $reader || status=$?
	assert_equal $status 3
	assert_contains err "the service has detached home/pbd_revoked.bpf.o: the approval was revoked"
	soon loaded 0 pbd_revoked
	loaded 1 pbd_stays || fail "the other session has ended"
	end_client
}

# Every call of the user takes more than 0.00001 % of the CPUs' time.
test_over_its_cost() {
	begin
	prepare_program pbd_cost
	approve home/pbd_cost.bpf.o --for user:$NOBODY --max-overhead 0.00001% >/dev/null
	need_unprivileged_reading home/pbd_cost.bpf.o pbd_cost.bpf.o
	(exec setpriv --reuid $NOBODY --regid $NOBODY --clear-groups \
		sh -c 'while :; do kill -0 $$; done') &
	clients=$!
	expect_status 3 as $NOBODY timeout 60 ./perf-bpf run home/pbd_cost.bpf.o
	assert_contains err "the service has detached home/pbd_cost.bpf.o: it used more CPU time than approved"
	assert_contains out "calls by user"
	soon loaded 0 pbd_cost
}

# The service ends it, also if the client does not read what it is sent.
test_over_its_time() {
	begin
	prepare_program pbd_time
	approve home/pbd_time.bpf.o --max-overhead 100% --for user:$NOBODY --max-duration 500ms >/dev/null
	need_unprivileged_reading home/pbd_time.bpf.o pbd_time.bpf.o
	expect_status 3 as $NOBODY timeout 60 ./perf-bpf run home/pbd_time.bpf.o
	assert_contains err "the approved time is over"
	attack_begins held holds home/pbd_time.bpf.o pbd_time.bpf.o
	soon loaded 0 pbd_time
	kill -0 $client || fail "the client has ended by itself"
	end_client
}

test_nothing_stays_when_a_side_is_killed() {
	begin
	prepare_program pbd_kill
	approve home/pbd_kill.bpf.o --max-overhead 100% --for user:$NOBODY >/dev/null
	need_unprivileged_reading home/pbd_kill.bpf.o pbd_kill.bpf.o
	attack_begins held holds home/pbd_kill.bpf.o pbd_kill.bpf.o
	soon loaded 1 pbd_kill # a session of before may still be ending
	end_client
	soon loaded 0 pbd_kill
	soon grep -q "pbd_kill.bpf.o: ended by the user" service.log

	attack_begins held holds home/pbd_kill.bpf.o pbd_kill.bpf.o
	kill -KILL $service
	wait $service || :
	# the maps that the client has stay, the program does not run
	soon loaded 0 pbd_kill
	end_client
	# and a new service replaces the socket
	start_service
	expect_status 0 as $NOBODY ./perf-bpf run home/pbd_kill.bpf.o -- true
}

test_messages_that_are_not_requests() {
	begin
	approve runqlat --for user:$NOBODY >/dev/null
	attack garbage >out || fail "$(cat out)"
	assert_equal "$(grep -c ^ok out)" 10
	attack silent >out || fail "$(cat out)"
	attack passes-fd "$(object)" runqlat >out || fail "$(cat out)"
	need_unprivileged_reading home/object.o runqlat
	attack talks home/object.o runqlat >out || fail "$(cat out)"
	# it answers all the same, and no line of its log is the users'
	expect_status 0 as $NOBODY ./perf-bpf run runqlat -- true
	! grep -E '^root|shadow' service.log || fail "a user has written to the log"
}

# What is passed can be read and not be changed: the filter that restricts the program is in a map.
test_maps_cannot_be_written() {
	begin
	approve runqlat --for user:$NOBODY >/dev/null
	need_unprivileged_reading "$(object)" runqlat
	attack writes home/object.o runqlat >out || fail "$(cat out)"
	grep -qE '^maps: [1-9]' out || fail "$(cat out)"
	rm store/*
	approve execsnoop --for user:$NOBODY >/dev/null
	attack writes "$(object)" execsnoop >out || fail "$(cat out)"
	grep -q '^ok: update' out || fail "$(cat out)"
}

test_sessions_are_limited() {
	local i
	begin
	approve runqlat --max-overhead 100% --for user:$NOBODY >/dev/null
	approve runqlat --max-overhead 100% --for user:$OTHER >/dev/null
	need_unprivileged_reading "$(object)" runqlat
	# sessions of before may not have been reaped yet: until four are held at once
	for i in 1 2 3 4; do
		soon hold_one "$i"
	done
	expect_status 1 as $NOBODY ./perf-bpf run runqlat -- true
	assert_contains err "too many sessions are running"
	expect_status 0 as $OTHER ./perf-bpf run runqlat -- true
}

# hold_one N: keeps a session in the background; false: it was refused
hold_one() {
	attack_begins "held.$1" holds home/object.o runqlat
	grep -q holds "held.$1"
}

# hold_of UID: keeps a session of this user in the background; false: it was refused
hold_of() {
	rm -f "held.$1" # what the one before said is not what this one says
	(exec setpriv --reuid "$1" --regid "$1" --groups=$GROUP ./delegate_attacks \
		"$PERF_BPF_DELEGATE_SOCKET" holds home/object.o runqlat >"held.$1" 2>&1) &
	clients="${clients:-} $!"
	soon grep -qE 'holds|refused' "held.$1"
	grep -q holds "held.$1"
}

test_sessions_of_all_users_are_limited() {
	local user
	begin
	approve runqlat --max-overhead 100% --for user:$NOBODY >/dev/null
	approve runqlat --max-overhead 100% --for group:$GROUP >/dev/null
	need_unprivileged_reading "$(object)" runqlat
	for user in 1 2 3 4 5 6 7 8; do
		for _ in 1 2 3 4; do
			soon hold_of $((5000 + user))
		done
	done
	expect_status 1 as $NOBODY ./perf-bpf run runqlat -- true
	assert_contains err "too many sessions are running"
	# one less
	kill -KILL ${clients##* }
	soon as $NOBODY ./perf-bpf run runqlat -- true >out 2>err
}

# Ids that /etc/subuid gives to a user share that user's sessions.
test_sessions_of_subordinate_ids_are_the_users() {
	local id
	[ "$(readlink /proc/self/ns/mnt)" != "$(readlink /proc/1/ns/mnt)" ] || skip "it changes /etc/subuid: run it by tests/run"
	[ -f /etc/subuid ] || skip "there is no /etc/subuid"
	begin
	approve runqlat --max-overhead 100% --for user:$NOBODY >/dev/null
	approve runqlat --max-overhead 100% --for group:$GROUP >/dev/null
	need_unprivileged_reading "$(object)" runqlat
	echo "$NOBODY:5001:8" >subuid
	mount --bind subuid /etc/subuid
	for id in 5001 5002 5003 5004; do
		soon hold_of $id
	done
	! hold_of 5005 || fail "a fifth session of one user's ids is served"
	assert_contains held.5005 refused
	expect_status 1 as $NOBODY ./perf-bpf run runqlat -- true
	assert_contains err "too many sessions are running"
	soon hold_of 5009
	umount /etc/subuid
}

test_the_store_is_roots() {
	begin
	approve runqlat --for user:$NOBODY >id
	chmod 777 store
	expect_status 1 as $NOBODY ./perf-bpf run runqlat -- true
	assert_contains err "the service cannot load it"
	soon grep -q "others than root can write to it" service.log
	chmod 700 store
	assert_equal "$(stat -c %a store/*.approval)" 600
	# an approval that was edited, and an object that is another one
	sed -i 's/^target own/target all/' store/*.approval
	expect_status 1 as $NOBODY ./perf-bpf run runqlat -- true
	soon grep -q "it was changed after it was approved" service.log
	sed -i 's/^target all/target own/' store/*.approval
	echo more >>"$(echo store/*.o)"
	expect_status 1 as $NOBODY ./perf-bpf run runqlat -- true
	assert_contains err "the stored object is not the one that was approved"
}

# A socket that another user listens at is not asked.
test_a_service_of_another_user() {
	begin
	end_service
	mkdir pretended
	chmod 777 pretended
	export PERF_BPF_DELEGATE_SOCKET=pretended/sock
	attack_begins listens pretends
	expect_status 1 as $OTHER ./perf-bpf run runqlat -- true
	end_client
	assert_contains err "the service does not run as root"
}

test_a_socket_path_that_is_too_long() {
	begin
	local path
	path=$(printf '%0108d' 0)
	mkdir "$path" # for the client, something has to be there
	expect_status 1 ./perf-bpf delegate --socket "$path" --store "$PWD/store"
	assert_contains err "$path: the path of a socket has at most 107 bytes"
	assert_contains err "hint: use a shorter path, or one relative to the current directory"
	PERF_BPF_DELEGATE_SOCKET=$path expect_status 1 as $NOBODY ./perf-bpf run runqlat -- true
	assert_contains err "$path: the path of a socket has at most 107 bytes"
}

test_what_cannot_be_approved() {
	begin
	prepare_program pbd_no
	expect_status 1 as $NOBODY ./perf-bpf approve runqlat --for user:$NOBODY --store "$PWD/home/store"
	assert_contains err "only root can approve programs"
	expect_status 1 as $NOBODY ./perf-bpf delegate --socket "$PWD/home/sock"
	assert_contains err "must be started by root"
	expect_status 2 approve runqlat
	assert_contains err "--for is missing"
	expect_status 2 approve runqlat --for no_such_user_
	assert_contains err "there is no user or group 'no_such_user_'"
	expect_status 1 approve runqlat --for user:$NOBODY --set no_such_variable=1
	sed -i 's/if (!perf_bpf_wanted())/if (0)/' home/pbd_no.bpf.c
	compile_bpf home/pbd_no.bpf.c home/pbd_no.bpf.o -I.
	expect_status 1 approve home/pbd_no.bpf.o --for user:$NOBODY
	assert_contains err "it does not call perf_bpf_wanted()"
	approve home/pbd_no.bpf.o --for user:$NOBODY --target=all >/dev/null
	expect_status 2 approve runqlat --for user:$NOBODY --target=others
	expect_status 2 approve runqlat --for user:$NOBODY --max-overhead=0
}

# What the processes of the service may do, once they serve a user.
test_privileges_of_a_session() {
	begin
	has host.seccomp || skip "the kernel has no seccomp"
	approve runqlat --max-overhead 100% --for user:$NOBODY >/dev/null
	soon no_session # of who asked whether the service listens
	attack_begins held holds "$(object)" runqlat
	session=$(pgrep -P $service)
	soon grep -q '^Seccomp:.*2' "/proc/$session/status"
	grep -q '^NoNewPrivs:.*1' "/proc/$session/status"
	# no CAP_PERFMON, CAP_SYS_ADMIN, CAP_SYS_MODULE, CAP_NET_ADMIN
	caps=0x$(sed -n 's/^CapPrm:[[:space:]]*//p' "/proc/$session/status")
	for cap in 38 21 16 12; do
		[ $(((caps >> cap) & 1)) = 0 ] || fail "capability $cap is kept"
	done
	end_client
}

run_tests
