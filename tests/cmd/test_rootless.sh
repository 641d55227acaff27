#!/usr/bin/env bash
# The commands as a user who has only CAP_BPF and CAP_PERFMON, or is root of a user namespace: each
# works, or says what is missing.
. "$(dirname "$0")/../tap.sh"

NOBODY=65534
ONLY_TWO=+bpf,+perfmon

# A copy of the binary that other users can run, and a folder that they can write to.
prepare() {
	[ "$(id -u)" = 0 ] || skip "only root can become nobody"
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	chmod 711 "$top" .
	cp "$PERF_BPF" perf-bpf
	mkdir home
	chown $NOBODY home
	as_nobody "" ./perf-bpf --version >/dev/null 2>&1 || skip "nobody cannot run a copy in $PWD"
}

# as_nobody CAPS COMMAND...: with these capabilities and no others, also in what it executes
as_nobody() {
	local caps=-all${1:+,$1}
	shift
	setpriv --reuid $NOBODY --regid $NOBODY --clear-groups --bounding-set "$caps" \
		--inh-caps "$caps" --ambient-caps "$caps" env HOME="$PWD/home" "$@"
}

with_two() {
	as_nobody $ONLY_TWO ./perf-bpf "$@"
}

need_two() {
	as_nobody $ONLY_TWO true 2>/dev/null || skip "this kernel has no CAP_BPF and CAP_PERFMON"
	with_two features bpf.syscall >/dev/null || skip "CAP_BPF does not allow bpf(2) here"
}

tracefs_is_closed() {
	! as_nobody "" ls "$(tracefs)/events" >/dev/null 2>&1
}

tracefs() {
	"$PERF_BPF" features host.tracefs | sed -n 's/.*(at \(.*\)).*/\1/p'
}

# In no case is somebody blamed who did nothing.
blames_nobody() {
	! grep -E 'security module|seccomp|boot a kernel|only root' err ||
		fail "'$*' blames what is not the cause"
}

# expect WHAT COMMAND...
expect() {
	local what=$1 status=0
	shift
	with_two "$@" >out 2>err || status=$?
	blames_nobody "$@"
	case $what in
	works)
		[ $status = 0 ] || { sed 's/^/# | /' err; fail "'$*' ended with $status"; }
		;;
	tracefs)
		if tracefs_is_closed; then
			assert_equal "$* $status" "$* 1"
			assert_contains err "this user cannot read $(tracefs): run as root or with CAP_DAC_READ_SEARCH"
		else
			assert_equal "$* $status" "$* 0"
		fi
		;;
	CAP_*)
		assert_equal "$* $status" "$* 1"
		assert_contains err "hint: run as root or with $what"
		;;
	esac
}

# What each command does with the two capabilities.
test_two_capabilities() {
	local libc
	prepare
	need_two
	libc=$(awk '$2 ~ /x/ && /libc.so/ { print $6 }' /proc/self/maps | head -n 1)
	while read -r what command; do
		# shellcheck disable=SC2086
		expect "$what" $command
	done <<-EOT
		works record -q -o home/own -e task-clock -- true
		works record -q -o home/all -a -e cpu-clock -- true
		works record -q -o home/chains -g -e cpu-clock -p 1 -- true
		tracefs record -q -o home/point -e sched:sched_process_exec -- true
		works script -i home/all
		works report -i home/all
		works annotate -i home/all
		works probe exec=$libc;malloc
		tracefs trace --record home/calls -- true
		works trace -s -- true
		works probe -F vfs_re*
		works btf dump vmlinux
		works btf show vmlinux -C list_head
		works features
		works watch --timeout 100ms
		CAP_SYS_ADMIN prog list
		CAP_SYS_ADMIN prog list id 1
		CAP_SYS_ADMIN map list
		CAP_SYS_ADMIN link list
		CAP_SYS_ADMIN btf list
		CAP_SYS_ADMIN map dump id 1
		CAP_SYS_ADMIN map update id 1 key 1 value 1
		CAP_SYS_ADMIN map delete id 1 key 1
		CAP_SYS_ADMIN prog dump xlated id 1
		CAP_SYS_ADMIN prog profile id 1 -- true
		CAP_SYS_ADMIN prog pin id 1 home/pinned
		CAP_SYS_ADMIN link detach id 1
		CAP_SYS_ADMIN btf dump id 1
		CAP_SYS_ADMIN run --cost runqlat -- true
		CAP_SYS_ADMIN run --max-overhead 1% runqlat -- true
	EOT
	tracefs_is_closed || return 0
	expect tracefs prog tracelog
}

is_watched() {
	"$PERF_BPF" features >/dev/null 2>&1 # loads some
	grep -q ' load ' watched
}

test_watch_without_the_right_to_read() {
	prepare
	need_two
	with_two watch >watched 2>said &
	pid=$!
	soon is_watched
	kill -INT "$(pgrep -P $pid || echo $pid)"
	wait $pid || fail "$(cat said)"
	assert_contains watched "reading it needs CAP_SYS_ADMIN"
	! grep -q "before it could be read" watched || fail "$(cat watched)"
	assert_contains said "(0 gone before they could be read)"
}

# make_object NAME SECTION: a program that puts out something
make_object() {
	cat >"$1.bpf.c" <<-END
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		#include <bpf/perf_bpf_prog.h>
		perf_output_map();
		SEC("$2")
		int put(void *ctx)
		{
			__u32 one = 1;
			perf_output(ctx, &one, sizeof(one));
			return 1;
		}
		char _license[] SEC("license") = "GPL";
	END
	compile_bpf "$1.bpf.c" home/"$1.bpf.o" -I.
	chmod 644 home/"$1.bpf.o"
}

# What record does with objects and probes.
test_two_capabilities_for_objects() {
	local libc
	prepare
	need_two
	has attach.raw_tp || skip "the kernel has no raw tracepoints"
	libc=$(awk '$2 ~ /x/ && /libc.so/ { print $6 }' /proc/self/maps | head -n 1)
	"$PERF_BPF" btf dump vmlinux --format=c >vmlinux.h
	make_object raw raw_tp/sched_process_exec
	make_object point tracepoint/sched/sched_process_exec
	make_object clock perf_event
	expect works record -q -o home/raw -e home/raw.bpf.o -- true
	expect works record -q -o home/clock -e cpu-clock -e home/clock.bpf.o -- true
	expect tracefs record -q -o home/point -e home/point.bpf.o -- true
	has attach.uprobe_multi || return 0
	expect works record -q -o home/probe -e "probe:exec=$libc;malloc bytes=\$arg1" -- ls /
	make_object alloc "uprobe/$libc:malloc"
	expect works run home/alloc.bpf.o -- ls /
	# its event is a perf event, which needs more in some kernels
	with_two record -q -o home/alloc -e home/alloc.bpf.o -- ls / >out 2>err || {
		blames_nobody record
		assert_contains err "hint: run as root or with CAP_SYS_ADMIN"
	}
}

test_two_capabilities_for_the_built_ins() {
	prepare
	need_two
	has attach.raw_tp || skip "the kernel has no raw tracepoints"
	while read -r what names; do
		for name in $names; do
			expect "$what" run "$name" -- true
		done
	done <<-EOT
		works execsnoop offcputime profile runqlat tcpconnect tcpretrans
		tracefs opensnoop syscount tracex2
	EOT
}

# The perf events of uprobes need CAP_SYS_ADMIN in some kernels, where links do not.
test_uprobes_by_links() {
	prepare
	need_two
	has attach.uprobe_multi || skip "the kernel has no uprobe.multi"
	expect works run mallocsizes -- ls /
	assert_contains out "blocks asked of malloc()"
}

test_uprobes_without_links() {
	prepare
	need_two
	has attach.uprobe || skip "the kernel has no uprobes"
	with_two features attach.uprobe >out 2>err || :
	blames_nobody features
	grep -q 'uprobe *yes' out || grep -q CAP_SYS_ADMIN out || fail "$(cat out)"
}

test_features_name_what_is_missing() {
	prepare
	need_two
	has perf.syscalls || skip "the kernel has no tracepoints of system calls"
	tracefs_is_closed || skip "tracefs can be read by everybody"
	with_two features perf.syscalls >out || :
	tr -s ' \n' ' ' <out >joined
	assert_contains joined "this user cannot read $(tracefs)"
	! grep CONFIG_FTRACE_SYSCALLS joined || fail "the kernel is blamed"
}

# One of the two: the other is named, alone.
test_the_missing_one_is_named() {
	prepare
	need_two
	as_nobody +perfmon ./perf-bpf run runqlat -- true 2>err && fail "it loaded without CAP_BPF"
	assert_contains err "hint: run as root or with CAP_BPF;"
	as_nobody +bpf ./perf-bpf run runqlat -- true 2>err && fail "it loaded without CAP_PERFMON"
	assert_contains err "run as root or with CAP_PERFMON"
	! grep CAP_BPF err || fail "CAP_BPF is there"
}

test_addresses_of_the_kernel() {
	prepare
	need_two
	[ "$(cat /proc/sys/kernel/kptr_restrict)" = 0 ] || skip "kernel.kptr_restrict is set"
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ] || skip "perf events are allowed to all"
	with_two features host.kallsyms >out || :
	tr -s ' \n' ' ' <out >joined
	assert_contains joined "run as root or with CAP_SYSLOG"
}

# with_file_capabilities VARIABLE=VALUE... ARGUMENT...: nobody runs a copy with capabilities of its own
with_file_capabilities() {
	command -v setcap >/dev/null || skip "setcap is not installed"
	setcap cap_bpf,cap_perfmon=ep perf-bpf 2>/dev/null || skip "no file capabilities in $PWD"
	as_nobody +bpf,+perfmon true # they must be in the bounding set
	setpriv --reuid $NOBODY --regid $NOBODY --clear-groups --inh-caps=-all env HOME="$PWD/home" \
		PATH="$PWD/home:$PATH" "$@"
}

test_file_capabilities_load_programs() {
	prepare
	need_two
	with_file_capabilities ./perf-bpf run runqlat -- true >out 2>err || {
		! grep -q "run as root" err || skip "file capabilities have no effect in $PWD"
		cat err
		fail "it did not load"
	}
	# the workload has none of them
	with_file_capabilities ./perf-bpf run -q runqlat -- grep Cap /proc/self/status >out
	grep -q CapEff out || fail "$(cat out)"
	! grep -E 'Cap(Prm|Eff|Amb):.*[1-9a-f]' out || fail "the workload has capabilities"
}

# Who runs it decides neither which compiler it runs nor where it looks for files: a program that
# is named clang leaves a mark.
test_file_capabilities_ignore_the_environment() {
	prepare
	need_two
	local evil=$PWD/home/clang mark=$PWD/home/mark
	printf '#!/bin/sh\necho >>%s\nexit 1\n' "$mark" >"$evil"
	chmod 755 "$evil"
	printf '[llvm]\nclang-path = %s\n' "$evil" >home/.perfconfig
	cp home/.perfconfig home/other
	chown -R $NOBODY home
	echo 'int x;' >home/none.bpf.c
	as_nobody $ONLY_TWO ./perf-bpf run home/none.bpf.c >out 2>err || :
	[ -e "$mark" ] || fail "the compiler of .perfconfig is not used without file capabilities"
	rm "$mark"
	with_file_capabilities PERF_CONFIG="$PWD/home/other" LIBBPF_BPF_TOKEN_PATH="$PWD/home" \
		./perf-bpf run -v home/none.bpf.c >out 2>err || :
	grep -q "file capabilities" err || skip "file capabilities have no effect in $PWD"
	[ ! -e "$mark" ] || fail "the compiler of the environment was run"
	! grep -q "BPF token" err || fail "a token of the environment was used"
}

# A BPF file system that delegates to a user namespace (6.9) is enough to load programs there.
test_a_token_of_a_user_namespace() {
	local status=0
	[ "$(id -u)" = 0 ] || skip "needs root"
	has attach.raw_tp || skip "the kernel has no raw tracepoints"
	mkdir mounted
	in_namespace() {
		LIBBPF_BPF_TOKEN_PATH=$1 python3 "$SRC/tests/cmd/in_token_namespace.py" "$PWD/mounted" "${@:2}"
	}
	in_namespace "$PWD/mounted" true 2>err || status=$?
	[ $status != 77 ] || skip "the kernel has no BPF tokens: $(cat err)"
	in_namespace "$PWD/mounted" "$PERF_BPF" run execsnoop -- sh -c 'exec true' >out 2>err || {
		cat err
		fail "it did not load"
	}
	assert_contains out "exec true"
	in_namespace "$PWD/mounted" "$PERF_BPF" trace -e getppid -- python3 -c 'import os; os.getppid()' >out 2>&1 || fail "$(cat out)"
	assert_contains out "getppid"
	# without it, nothing is loaded
	in_namespace "" "$PERF_BPF" run execsnoop -- true >out 2>err && fail "it loaded without a token"
	assert_contains err "user namespace"
}

# What the service for other users would lack in such a namespace: see doc/security.md.
test_what_a_token_does_not_give() {
	local status=0
	[ "$(id -u)" = 0 ] || skip "needs root"
	mkdir mounted
	in_namespace() {
		LIBBPF_BPF_TOKEN_PATH=$PWD/mounted python3 "$SRC/tests/cmd/in_token_namespace.py" \
			"$PWD/mounted" "$@"
	}
	in_namespace true 2>err || status=$?
	[ $status != 77 ] || skip "the kernel has no BPF tokens: $(cat err)"
	in_namespace "$PERF_BPF" features 'bpf.stats' >out 2>&1 || :
	grep -q "refused" out || fail "the time of programs is counted: $(cat out)"
	in_namespace "$PERF_BPF" map list >out 2>err && fail "maps are opened by their ids"
	assert_contains err "user namespace"
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 0 ] || return 0
	in_namespace "$PERF_BPF" record -o data -e sched:sched_process_exec -- true >out 2>err &&
		fail "a tracepoint is recorded"
	assert_contains err "user namespace"
}

# What fails where tracefs cannot be read, and not before.
unreadable_tracefs() {
	tracefs_is_closed || return 0
	cat <<-EOT
		record -o home/point -e syscalls:sys_enter_getppid -- true
		record -o home/point -e sched:sched_process_exec -- true
		top --stdio -e sched:sched_process_exec
		trace -e sched:sched_process_exec -- true
	EOT
}

# The same for a user without any capability, who is not in a namespace.
test_unreadable_tracefs() {
	prepare
	tracefs_is_closed || skip "tracefs can be read by everybody"
	while read -r command; do
		# shellcheck disable=SC2086
		as_nobody "" ./perf-bpf $command >out 2>err && fail "'$command' worked"
		blames_nobody "$command"
		assert_contains err "this user cannot read $(tracefs): run as root or with CAP_DAC_READ_SEARCH"
	done <<-EOT
		$(unreadable_tracefs)
	EOT
}

# What a user without any capability is told, who has no service either.
test_no_capability_at_all() {
	prepare
	has attach.raw_tp || skip "the kernel has no raw tracepoints"
	"$PERF_BPF" btf dump vmlinux --format=c >vmlinux.h
	make_object raw raw_tp/sched_process_exec
	export PERF_BPF_DELEGATE_SOCKET=$PWD/none
	while read -r command; do
		# shellcheck disable=SC2086
		as_nobody "" ./perf-bpf $command >out 2>err && fail "'$command' worked"
		blames_nobody "$command"
		assert_contains err "run as root or with CAP_BPF and CAP_PERFMON"
		assert_contains err "or ask root to approve the program: man perf-bpf-approve"
	done <<-EOT
		run runqlat -- true
		trace -- true
		trace -s -- true
		record -o home/raw -e home/raw.bpf.o -- true
	EOT
	# nothing that could be approved
	as_nobody "" ./perf-bpf record -o home/off --off-cpu -- true 2>err && fail "it was recorded"
	assert_contains err "run as root or with CAP_BPF and CAP_PERFMON"
	! grep -q approve err || fail "$(cat err)"
	# a socket that nobody listens at
	touch none
	as_nobody "" ./perf-bpf run runqlat -- true 2>err && fail "it was run"
	assert_contains err "systemctl start perf-bpf.socket"
}

# The kernel wants CAP_PERFMON for namespaces, whatever perf_event_paranoid is.
test_namespaces_need_a_capability() {
	prepare
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || skip "users may not record"
	as_nobody "" ./perf-bpf record --namespaces -o home/data -- true 2>err && fail "it was recorded"
	assert_contains err "recording namespaces needs CAP_PERFMON"
	! grep sysctl err || fail "another setting does not help"
	as_nobody "" ./perf-bpf features perf.namespaces >out && fail "$(cat out)"
	tr -s ' \n' ' ' <out >joined
	assert_contains joined "recording namespaces needs CAP_PERFMON; run as root or with CAP_PERFMON"
}

# The longest hints are whole.
test_hints_of_features_are_whole() {
	prepare
	tracefs_is_closed || skip "tracefs can be read by everybody"
	as_nobody "" ./perf-bpf features host.tracefs >out && fail "$(cat out)"
	tr -s ' \n' ' ' <out >joined
	assert_contains joined "mount -o remount,gid=GROUP,mode=750 $(tracefs)"
}

# Root of a user namespace has all capabilities, which do not count for the kernel's BPF.
test_root_of_a_user_namespace() {
	prepare
	as_nobody "" unshare -Ur true 2>/dev/null || skip "nobody cannot make a user namespace"
	local paranoid
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
	while read -r command; do
		# shellcheck disable=SC2086
		as_nobody "" unshare -Ur ./perf-bpf $command >out 2>err && fail "'$command' worked"
		blames_nobody "$command"
		assert_contains err "user namespace"
		assert_contains err "outside of the namespace"
		! grep 'hint: run as root' err || fail "'$command': it is root already"
	done <<-EOT
		run runqlat -- true
		trace -- true
		prog list
		map list
		$(unreadable_tracefs)
	EOT
	[ "$paranoid" -ge 1 ] || return 0
	as_nobody "" unshare -Ur ./perf-bpf record -a -o home/all -e cpu-clock -- true 2>err &&
		fail "all CPUs were recorded"
	blames_nobody record
	assert_contains err "outside of the namespace"
}

run_tests
