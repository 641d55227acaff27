#!/usr/bin/env bash
# record: what it writes of a workload that counts for itself, read by perf.
. "$(dirname "$0")/../tap.sh"

TRACEFS=/sys/kernel/tracing
PERF=$(command -v perf || true)
COUNTED=$BUILD/tests/cmd/counted
# A system call that nobody else makes meanwhile.
EVENT=syscalls:sys_enter_getpriority
export PERF_BPF_CACHE_DIR=${PERF_BPF_CACHE_DIR:-/tmp/perf-bpf-test-cache}

need() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -n "$PERF" ] || skip "linux-perf is not installed"
	[ -d $TRACEFS/events ] || mount -t tracefs nodev $TRACEFS 2>/dev/null || true
	[ -d $TRACEFS/events/syscalls ] || skip "tracefs or its syscall events cannot be had"
}

need_clang() {
	need
	ls /usr/bin/clang* >/dev/null 2>&1 || skip "clang is not installed"
}

# record OPTION...: must end well
record() {
	"$PERF_BPF" record "$@" >record.out 2>record.err ||
		{ sed 's/^/# | /' record.err; fail "record $*"; }
}

# who FILE: the numbers that the samples of the workload (counted) hold, a line each
who() {
	"$PERF" script -i "$1" -F comm,event,trace 2>perf.err |
		sed -n 's/^ *counted .*getpriority: .*who: 0x\([0-9a-f]*\).*/\1/p' |
		while read -r hex; do echo $((16#$hex)); done
}

# assert_who FILE FROM TO [STEP]: exactly these
assert_who() {
	who "$1" | sort -n >got
	seq "$2" "${4:-1}" "$3" >want
	cmp -s got want || fail "$1: $(wc -l <got) samples from $(head -1 got) to $(tail -1 got)," \
		"wanted $(wc -l <want) from $2 to $3"
}

# The program that keeps every call whose number is at least `from`.
write_program() {
	cat >keep.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>

		const volatile unsigned int from = 90;

		SEC("tracepoint/syscalls/sys_enter_getpriority")
		int pbt_keep(struct trace_event_raw_sys_enter *ctx)
		{
			return (unsigned int)ctx->args[1] >= from;
		}

		char _license[] SEC("license") = "Dual BSD/GPL";
	END
}

not_loaded() {
	! "$BUILD"/tests/cmd/loaded "$1"
}

# Our programs are gone from the kernel; it may take a moment after a kill.
assert_no_programs() {
	soon not_loaded "$1"
}

# samples_are N FILE: the workload's, so far
samples_are() {
	[ "$(who "$2" | wc -l)" -ge "$1" ]
}

test_tracepoint_of_workload() {
	need
	record -e $EVENT -o t.data -- "$COUNTED" 1000
	assert_who t.data 0 999
	assert_contains record.err "(1000 samples, $(stat -c %s t.data) bytes, 0 lost) ]"
}

test_system_wide() {
	need
	record -e $EVENT -a -o t.data -- "$COUNTED" 500
	assert_who t.data 0 499
	"$PERF_BPF" script -i t.data >ours
	assert_equal "$(grep -c "counted .*sys_enter_getpriority" ours)" 500
}

test_filter() {
	need
	record -e $EVENT --filter 'who >= 10 && who < 20' -o t.data -- "$COUNTED" 100
	assert_who t.data 10 19
	record -a -e $EVENT --filter 'who == 7' -e sched:sched_process_exit -o t.data -- "$COUNTED" 100
	assert_who t.data 7 7
	[ "$("$PERF" script -i t.data -F comm,event 2>&1 | grep -c 'counted.*sched_process_exit')" -ge 1 ] ||
		fail "the other event was filtered too"
}

test_filter_errors() {
	need
	expect_status 1 "$PERF_BPF" record -e $EVENT --filter 'whom == 1' -o t.data -- true
	assert_contains err "rejects --filter 'whom == 1'"
	assert_contains err "which, who"
	expect_status 1 "$PERF_BPF" record -e dummy --filter 'x == 1' -o t.data -- true
	assert_contains err "does not support the event 'dummy'"
	expect_status 1 "$PERF_BPF" record --filter 'x == 1' -o t.data -- true
	assert_contains err "does not follow an event"
}

test_program_filters() {
	need_clang
	write_program
	record -e keep.bpf.c -o t.data -- "$COUNTED" 100
	assert_who t.data 90 99
	record -e keep.bpf.c -a -o t.data -- "$COUNTED" 100
	assert_who t.data 90 99
	assert_no_programs pbt_keep
}

test_constants() {
	need_clang
	write_program
	record -e keep.bpf.c/from=42/ -o t.data -- "$COUNTED" 100
	assert_who t.data 42 99
	record -e keep.bpf.c/from=0x5f/ -o t.data -- "$COUNTED" 100
	assert_who t.data 95 99
	expect_status 1 "$PERF_BPF" record -e keep.bpf.c/form=1/ -o t.data -- true
	assert_contains err "keep.bpf.c/form=1/: the program has no global variable 'form'"
	assert_contains err "did you mean 'from'?"
	expect_status 1 "$PERF_BPF" record -e keep.bpf.c/from=5000000000/ -o t.data -- true
	assert_contains err "5000000000 does not fit into 32 unsigned bits"
	expect_status 1 "$PERF_BPF" record -e keep.bpf.c/from=-1/ -o t.data -- true
	assert_contains err "-1 is negative, but the type is unsigned"
}

test_object_option_both_forms() {
	need_clang
	write_program
	record --object keep.bpf.c -a -o t.data -- "$COUNTED" 100
	assert_who t.data 90 99
	# As perf bpf record of 2015 had it.
	record --object keep.bpf.c -o t.data -- -a "$COUNTED" 100
	assert_who t.data 90 99
	record --object keep.bpf.c -o t.data -- -a -- "$COUNTED" 100
	assert_who t.data 90 99
}

# An event of the command line that a program filters too is there once.
test_program_and_event_merge() {
	need_clang
	write_program
	record -e $EVENT -e keep.bpf.c -o t.data -- "$COUNTED" 100
	assert_who t.data 90 99
	record -e keep.bpf.c -e $EVENT -o t.data -- "$COUNTED" 100
	assert_who t.data 90 99
	record -e keep.bpf.c --filter 'who == 95' -o t.data -- "$COUNTED" 100
	assert_who t.data 95 95
}

# All that is not 0 keeps an event; the kernel by itself looks at the lowest bit.
test_even_return_value() {
	need_clang
	write_program
	sed 's/return .*/return (unsigned int)ctx->args[1] >= from ? 2 : 0;/' keep.bpf.c >even.bpf.c
	record -e even.bpf.c -o t.data -- "$COUNTED" 100
	assert_who t.data 90 99
	# With two ways out, and a subprogram behind.
	cat >sub.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>

		static __noinline int pbt_half(unsigned int v)
		{
			return bpf_get_prandom_u32() ? v / 2 * 2 : v + 1;
		}

		SEC("tracepoint/syscalls/sys_enter_getpriority")
		int pbt_sub(struct trace_event_raw_sys_enter *ctx)
		{
			unsigned int who = ctx->args[1];

			if (who == 3)
				return 256;
			return who > 95 ? pbt_half(who) : 0;
		}

		char _license[] SEC("license") = "GPL";
	END
	record -e sub.bpf.c -o t.data -- "$COUNTED" 100
	assert_equal "$(who t.data | sort -n | tr '\n' ' ')" "3 96 97 98 99 "
}

# Two programs at one tracepoint: both must let an event through.
test_two_programs() {
	need_clang
	write_program
	sed 's/pbt_keep/pbt_odd/; s/>= from/\& 1/' keep.bpf.c >odd.bpf.c
	record -e keep.bpf.c,odd.bpf.c -o t.data -- "$COUNTED" 100
	assert_who t.data 91 99 2
	# More programs than there are CPUs.
	sed 's/pbt_keep/pbt_third/; s/>= from/\& 2/' keep.bpf.c >third.bpf.c
	record -e keep.bpf.c,odd.bpf.c,third.bpf.c -o t.data -- "$COUNTED" 100
	assert_who t.data 91 99 4
}

test_output_and_map_terms() {
	need_clang
	cat >out.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>

		struct {
			__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
			__uint(key_size, 4);
			__uint(value_size, 4);
		} pbt_channel SEC(".maps");

		struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 8);
			__type(key, u32);
			__type(value, u32);
		} pbt_values SEC(".maps");

		SEC("tracepoint/syscalls/sys_enter_getpriority")
		int pbt_out(struct trace_event_raw_sys_enter *ctx)
		{
			u32 who = ctx->args[1] & 7;
			u32 *value = bpf_map_lookup_elem(&pbt_values, &who);
			char comm[16] = "";

			/* nice(1) makes this call, too, whoever runs it meanwhile */
			bpf_get_current_comm(comm, sizeof(comm));
			if (value && *value && comm[0] == 'c' && comm[1] == 'o' && comm[2] == 'u') {
				u64 out[] = {0x1122334455667788ull, *value};
				bpf_perf_event_output(ctx, &pbt_channel, BPF_F_CURRENT_CPU, out,
						      sizeof(out));
			}
			return 0;
		}

		char _license[] SEC("license") = "GPL";
	END
	record -e 'out.bpf.c/map:pbt_values.value[1-2,5]=1,map:pbt_values.value[5]=9/' -a -o t.data \
		-- "$COUNTED" 80
	"$PERF" script -i t.data >out 2>&1
	assert_equal "$(grep -c pbt_channel: out)" 30
	assert_equal "$(grep -c '88 77 66 55 44 33 22 11' out)" 30
	assert_equal "$(grep -c 'getpriority: ' out)" 0
	assert_equal "$(grep -c '0008: 09 00 00 00' out)" 10
	# Without a term, the map is all zero: nothing comes out.
	record -e out.bpf.c -o t.data -- "$COUNTED" 80
	assert_contains record.err "(0 samples"
	expect_status 1 "$PERF_BPF" record -e 'out.bpf.c/map:pbt_values.value[8]=1/' -o t.data -- true
	assert_contains err "index 8 is beyond the map's 8 elements"
	expect_status 1 "$PERF_BPF" record -e 'out.bpf.c/map:pbt_values.value=-1/' -o t.data -- true
	assert_contains err "-1 is negative, but the type is unsigned"
	expect_status 1 "$PERF_BPF" record -e 'out.bpf.c/map:pbt_value.value=1/' -o t.data -- true
	assert_contains err "did you mean 'pbt_values'?"
	# Another event's fds in the map: not ours to record.
	record -e 'out.bpf.c/map:pbt_channel.event=mine,map:pbt_values.value=3/' \
		-e bpf-output/no-inherit,name=mine/ -a -o t.data -- "$COUNTED" 80
	"$PERF" script -i t.data >out 2>&1
	assert_equal "$(grep -c 'mine:' out)" 80
	assert_no_programs pbt_out
}

test_perf_event_program() {
	need_clang
	cat >cpu.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>

		const volatile unsigned int keep = 0;

		SEC("perf_event")
		int pbt_cpu(struct bpf_perf_event_data *ctx)
		{
			return keep;
		}

		char _license[] SEC("license") = "GPL";
	END
	record -e cpu.bpf.c/keep=1/ -e cpu-clock -c 1000000 -o t.data -- "$COUNTED" 10 100000 burn
	[ "$("$PERF" script -i t.data 2>&1 | grep -c cpu-clock)" -ge 5 ] || fail "no samples were kept"
	record -e cpu.bpf.c/keep=0/ -e cpu-clock,task-clock -c 1000000 -o t.data -- \
		"$COUNTED" 10 100000 burn
	assert_contains record.err "(0 samples"
	# A section that names its event filters that one only, and adds it.
	sed 's|SEC("perf_event")|SEC("perf_event/cpu-clock")|' cpu.bpf.c >one.bpf.c
	record -e one.bpf.c -e cpu-clock,task-clock -c 1000000 -o t.data -- "$COUNTED" 10 100000 burn
	"$PERF" script -i t.data >out 2>&1
	assert_equal "$(grep -c cpu-clock: out)" 0
	[ "$(grep -c task-clock: out)" -ge 5 ] || fail "task-clock was filtered too"
}

test_uprobe_program() {
	need_clang
	# The second word of pt_regs that differs by machine stays out of this.
	cat >up.bpf.c <<-END
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>

		SEC("uprobe/$COUNTED:burn_cpu")
		int pbt_up(struct pt_regs *ctx)
		{
			return bpf_ktime_get_ns() != 0;
		}

		char _license[] SEC("license") = "GPL";
	END
	record -e up.bpf.c -o t.data -- "$COUNTED" 30 1 burn
	assert_equal "$("$PERF" script -i t.data 2>&1 | grep -c 'burn_cpu')" 30
	assert_no_programs pbt_up
}

test_raw_tracepoint_runs_beside() {
	need_clang
	cat >raw.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>

		struct {
			__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
			__uint(key_size, 4);
			__uint(value_size, 4);
		} __bpf_stdout__ SEC(".maps");

		SEC("raw_tp/sched_process_exit")
		int pbt_raw(struct bpf_raw_tracepoint_args *ctx)
		{
			char comm[16];

			bpf_get_current_comm(comm, sizeof(comm));
			if (comm[0] == 'c' && comm[1] == 'o' && comm[2] == 'u' && comm[3] == 'n')
				bpf_perf_event_output(ctx, &__bpf_stdout__, BPF_F_CURRENT_CPU, comm,
						      sizeof(comm));
			return 0;
		}

		char _license[] SEC("license") = "GPL";
	END
	record -e raw.bpf.c -e $EVENT -o t.data -- sh -c "'$COUNTED' 5; true"
	assert_who t.data 0 4
	"$PERF" script -i t.data >out 2>&1
	[ "$(grep -c '__bpf_stdout__:' out)" -ge 1 ] || fail "the program put nothing out"
}

test_loaded_program_by_fd_and_id() {
	need_clang
	command -v bpftool >/dev/null || skip "bpftool, which loads a program, is not installed"
	mount | grep -q ' /sys/fs/bpf ' || mount -t bpf bpf /sys/fs/bpf || skip "no bpffs"
	write_program
	"$BUILD"/tests/cmd/compile_file -o keep.bpf.o keep.bpf.c >log 2>&1 || fail "$(cat log)"
	local pin=/sys/fs/bpf/pbt_test_$$
	bpftool prog load keep.bpf.o $pin >log 2>&1 || skip "bpftool cannot load it"
	trap 'rm -f '$pin EXIT
	local id
	id=$(bpftool prog show pinned $pin | head -1 | cut -d: -f1)
	record -e "$EVENT|bpf_pin=$pin|" -o t.data -- "$COUNTED" 100
	assert_who t.data 90 99
	record -e "$EVENT|bpf_id=$id|" -o t.data -- "$COUNTED" 100
	assert_who t.data 90 99
	expect_status 1 "$PERF_BPF" record -e "$EVENT|bpf_fd=0|" -o t.data -- true
	assert_contains err "not a BPF program"
	expect_status 1 "$PERF_BPF" record -e "$EVENT|bpf_id=2147483647|" -o t.data -- true
	assert_contains err "bpftool prog"
}

test_pid_and_tid() {
	need
	"$COUNTED" 1000000 1000 thread >ids &
	local pid=$! tid
	trap "kill $pid 2>/dev/null || :" EXIT
	soon test -s ids
	tid=$(cut -d' ' -f1 ids)
	# Until both have slept so often: a call comes before each sleep.
	cat >until.sh <<-'END'
		slept() { sed -n 's/^voluntary_ctxt_switches:\t//p' "/proc/$1/task/$2/status"; }
		main=$(($(slept $1 $1) + 20)) other=$(($(slept $1 $2) + 20))
		until [ $(slept $1 $1) -ge $main ] && [ $(slept $1 $2) -ge $other ]; do sleep 0.05; done
	END
	record -e $EVENT -p $pid -o p.data -- sh until.sh $pid "$tid"
	record -e $EVENT -t "$tid" -o t.data -- sh until.sh $pid "$tid"
	record -e $EVENT -t $pid -o m.data -- sh until.sh $pid "$tid"
	kill $pid
	wait $pid || true
	who p.data >p
	who t.data >t
	who m.data >m
	[ "$(awk '$1 >= 100000' p | wc -l)" -ge 10 ] || fail "-p left the thread out"
	[ "$(awk '$1 < 100000' p | wc -l)" -ge 10 ] || fail "-p left the main thread out"
	[ "$(awk '$1 >= 100000' t | wc -l)" -ge 10 ] || fail "-t holds nothing of the thread"
	assert_equal "$(awk '$1 < 100000' t | wc -l)" 0
	[ "$(awk '$1 < 100000' m | wc -l)" -ge 10 ] || fail "-t holds nothing of the main thread"
	assert_equal "$(awk '$1 >= 100000' m | wc -l)" 0
}

# Recording ends with the process; then there is nothing to wait for.
test_pid_that_ends() {
	need
	# It begins to end when a call of it is recorded.
	cat >ends.sh <<-'END'
		until [ -e recorded ]; do "$1" 1; sleep 0.05; done
		exec "$1" 3000
	END
	bash ends.sh "$COUNTED" &
	local pid=$!
	timeout 300 "$PERF_BPF" record --no-buffering -e $EVENT -p $pid -o t.data 2>err &
	local recorder=$!
	trap "kill $pid $recorder 2>/dev/null || :" EXIT
	soon samples_are 1 t.data
	touch recorded
	wait $pid
	wait $recorder || fail "$(cat err)"
	who t.data >got
	assert_equal "$(tail -1 got)" 2999
}

test_no_inherit() {
	need
	record -e $EVENT -o t.data -- "$COUNTED" 50 0 fork
	assert_equal "$(who t.data | wc -l)" 100
	record -i -e $EVENT -o t.data -- "$COUNTED" 50 0 fork
	assert_who t.data 0 49
}

test_cpu_list() {
	need
	local last
	last=$(($(nproc) - 1))
	record -e $EVENT -C $last -o t.data -- taskset -c $last "$COUNTED" 100
	assert_who t.data 0 99
	expect_status 1 "$PERF_BPF" record -e $EVENT -C 4095 -o t.data -- true
	assert_contains err "CPU 4095"
	[ $last -gt 0 ] || return 0
	record -e $EVENT -C 0 -o t.data -- taskset -c $last "$COUNTED" 100
	assert_equal "$(who t.data | wc -l)" 0
}

test_callgraph_and_build_ids() {
	need
	record -g -c 500000 -e cpu-clock:u -o t.data -- "$COUNTED" 10 200000 burn
	"$PERF" script -i t.data -F comm,ip,sym >out 2>&1
	[ "$(grep -c burn_cpu out)" -ge 5 ] || fail "burn_cpu was not sampled"
	grep -q 'work\|main' out || fail "no callers"
	"$PERF" buildid-list -i t.data >ids 2>&1
	assert_contains ids "$COUNTED"
	"$PERF" report -i t.data --stdio >report 2>&1
	assert_contains report burn_cpu
}

test_period_and_frequency() {
	need
	# A tracepoint gives each of its events, whatever the period: as with perf.
	record -c 10 -e $EVENT -o t.data -- "$COUNTED" 1000
	"$PERF" report --header-only -i t.data >out 2>&1
	assert_contains out "{ sample_period, sample_freq } = 10"
	record -F 500 -e cpu-clock -o t.data -- true
	"$PERF" report --header-only -i t.data >out 2>&1
	assert_contains out "{ sample_period, sample_freq } = 500"
	record -e cpu-clock/freq=77/ -F 500 -o t.data -- true
	"$PERF" report --header-only -i t.data >out 2>&1
	assert_contains out "{ sample_period, sample_freq } = 77"
	expect_status 1 "$PERF_BPF" record --strict-freq -F 2000000000 -e cpu-clock -o t.data -- true
	assert_contains err "perf_event_max_sample_rate"
	# The kernel may lower its limit at any time, but not to more than it was. Clocks at that
	# rate leave a loaded machine no time for anything else, for minutes.
	limit=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	expect_status 0 "$PERF_BPF" record -F 2000000000 -e page-faults -e minor-faults -o t.data -- true
	assert_equal "$(grep -c "is above the kernel's limit: using [0-9]* Hz" err)" 1
	"$PERF" report --header-only -i t.data >out 2>&1
	used=$(sed -n 's/.*{ sample_period, sample_freq } = \([0-9]*\).*/\1/p' out | head -n 1)
	[ "$used" -gt 0 ] && [ "$used" -le "$limit" ] || fail "$used Hz, the limit is $limit"
}

test_delay() {
	need
	# 50 at once, then 1 now and then until one is in the file, then 20.
	cat >late.sh <<-END
		'$COUNTED' 50
		date +%s%N >counted
		until '$PERF' script -i t.data 2>/dev/null | grep -q getpriority; do
			'$COUNTED' 1
			sleep 0.1
		done
		'$COUNTED' 20
	END
	local began
	began=$(date +%s%N)
	record -D 3000 -e $EVENT -o t.data -- sh late.sh
	who t.data | sort -n | uniq >got
	# The first 50 are recorded only where the machine took 3 s to get to them.
	local last=19
	[ $(($(cat counted) - began)) -lt 3000000000 ] || last=49
	awk -v last=$last '$1 > last' got >late
	[ ! -s late ] || fail "$(cat got)"
	head -n 20 got | cmp - <(seq 0 19) || fail "$(cat got)"
	record -D -1 -e $EVENT -o t.data -- "$COUNTED" 50
	assert_contains record.err "(0 samples"
}

test_compression() {
	need
	record -z -e $EVENT -o t.data -- "$COUNTED" 5000
	assert_who t.data 0 4999
	"$PERF_BPF" script -i t.data >ours
	assert_equal "$(grep -c getpriority ours)" 5000
	record -e $EVENT -o plain.data -- "$COUNTED" 5000
	[ "$(stat -c %s t.data)" -lt $(($(stat -c %s plain.data) / 2)) ] || fail "it is not smaller"
}

test_pipe() {
	need
	"$PERF_BPF" record -e $EVENT -o - -- "$COUNTED" 500 2>err >t.pipe || fail "$(cat err)"
	"$PERF" script -i - -F trace <t.pipe >out 2>perf.err
	assert_equal "$(grep -c 'who:' out)" 500
	"$PERF_BPF" script -i - <t.pipe >ours
	assert_equal "$(grep -c 'who:' ours)" 500
	# What the workload prints is not a part of the recording.
	"$PERF_BPF" record -q -e cpu-clock:u -o - -- sh -c 'echo printed' 2>err >t.pipe || fail "$(cat err)"
	assert_equal "$(cat err)" printed
	expect_status 0 "$PERF_BPF" script -i t.pipe
	assert_equal "$(cat err)" ""
	# A reader that goes away ends the recording, not with a signal.
	set +e
	timeout 120 "$PERF_BPF" record -e $EVENT -a -o - -- "$COUNTED" 4000 500 2>err | head -c 100 >/dev/null
	local status=${PIPESTATUS[0]}
	set -e
	assert_equal "$status" 1
	assert_contains err "Broken pipe"
}

test_max_size_and_rings() {
	need
	record --max-size 200K -m 64K -e $EVENT -o t.data -- "$COUNTED" 200000
	[ "$(stat -c %s t.data)" -lt 3000000 ] || fail "--max-size did not end it"
	"$PERF" script -i t.data >/dev/null 2>err || fail "$(cat err)"
	expect_status 2 "$PERF_BPF" record -m 0 -o t.data -- true
	assert_contains err "invalid ring size '0'"
	# So few have room in one page, whenever they are read.
	record -m 1 -e $EVENT -o t.data -- "$COUNTED" 10
	assert_who t.data 0 9
}

# One sample is in the file before there is any other.
test_no_buffering() {
	need
	"$PERF_BPF" record --no-buffering -e $EVENT -o t.data -- "$COUNTED" 1 600000000 2>err &
	local pid=$!
	trap "kill $pid 2>/dev/null || :" EXIT
	soon samples_are 1 t.data
	kill -TERM $pid
	wait $pid || :
	assert_who t.data 0 0
}

# A ring of one page loses most; each loss is accounted for, in the file too.
test_ledger() {
	need
	record -m 1 -e $EVENT -o t.data -- "$COUNTED" 300000
	local samples lost
	samples=$(sed -n 's/.*(\([0-9]*\) samples.*/\1/p' record.err)
	lost=$(sed -n 's/.* \([0-9]*\) lost: .*) \]/\1/p' record.err)
	[ "$lost" -gt 0 ] || skip "nothing was lost"
	has perf.lost || skip "this kernel does not count lost samples: $(tail -1 record.err)"
	assert_contains record.err "$lost lost: $lost of $EVENT, no room in the ring"
	assert_equal $((samples + lost)) 300000
	assert_equal "$(who t.data | wc -l)" "$samples"
	"$PERF_BPF" report -i t.data 2>err | grep "Total Lost Samples" >out
	assert_contains out "Total Lost Samples: $lost"
	"$PERF_BPF" script --json -i t.data 2>/dev/null | grep '"type":"lost' >json || fail "no loss in our JSON"
	"$PERF" script -D -i t.data 2>/dev/null | grep -c PERF_RECORD_LOST >out || true
	[ "$(cat out)" -gt 0 ] || fail "the file does not tell of losses"
}

# The recorder does not read while the workload, which lives in its own rings, ends processes.
test_lost_side_band_is_not_samples() {
	need
	has perf.lost || skip "this kernel does not count lost samples"
	cat >work.sh <<-'END'
		touch begun
		until [ -e flood ]; do sleep 0.05; done
		for i in $(seq 300); do /bin/true; done
		touch flooded
		# Nothing else is recorded from here on: there is room for what follows.
		read -r line <go
		exec "$1" 10
	END
	mkfifo go
	# On one CPU: the kernel says what a ring has lost when the next record comes into that ring.
	"$PERF_BPF" record -m 1 -e $EVENT -o t.data -- taskset -c 0 bash work.sh "$COUNTED" 2>record.err &
	local pid=$!
	trap "kill -9 $pid 2>/dev/null || :" EXIT
	soon [ -e begun ]
	kill -STOP $pid
	touch flood
	soon [ -e flooded ]
	kill -CONT $pid
	soon waits_for_events $pid
	echo >go
	wait $pid || fail "$(cat record.err)"
	assert_contains record.err "(10 samples,"
	assert_contains record.err " 0 lost: and "
	assert_contains record.err "side-band records (comm, mmap, fork, exit)"
	"$PERF_BPF" report -i t.data >out 2>err
	assert_contains out "Total Lost Samples: 0"
	assert_contains err "side-band records (comm, mmap, fork, exit) were lost"
	"$PERF_BPF" script --json -i t.data >json 2>err
	grep '"kind":"side-band"' json >out || fail "the file's ledger has no side-band records"
}

# Kernels before 6.0 do not count by event; here, one that refuses to.
old_record() {
	LD_PRELOAD=$BUILD/tests/cmd/no_perf_lost.so ASAN_OPTIONS=verify_asan_link_order=0 \
		"$PERF_BPF" record "$@" 2>record.err
}

test_losses_of_older_kernels() {
	need
	old_record -e $EVENT -o t.data -- "$COUNTED" 1000 || fail "$(cat record.err)"
	assert_contains record.err "(1000 samples, $(stat -c %s t.data) bytes, 0 lost) ]"
	# The ring is full when the workload ends: no record says what was lost then.
	cat >work.sh <<-'END'
		touch begun
		until [ -e flood ]; do sleep 0.05; done
		"$1" 10000
	END
	old_record -m 8 -e $EVENT -o t.data -- bash work.sh "$COUNTED" &
	local pid=$!
	soon [ -e begun ]
	local recorder=$(pgrep -P $pid perf-bpf || echo $pid)
	trap "kill -9 $recorder 2>/dev/null || :" EXIT
	kill -STOP $recorder
	touch flood
	soon workload_ended $recorder
	kill -CONT $recorder
	wait $pid || fail "$(cat record.err)"
	assert_contains record.err "bytes, lost samples not counted"
	rm begun flood
	# It is not full at the end: the sum of the LOST records is an upper limit.
	# On one CPU: the kernel writes such a record into the ring that has room again.
	echo 'touch flooded; read -r line <go; exec "$1" 10' >>work.sh
	mkfifo go
	old_record -m 8 -e $EVENT -o t.data -- taskset -c 0 bash work.sh "$COUNTED" &
	pid=$!
	soon [ -e begun ]
	recorder=$(pgrep -P $pid perf-bpf || echo $pid)
	kill -STOP $recorder
	touch flood
	soon [ -e flooded ]
	kill -CONT $recorder
	soon waits_for_events $recorder # it has read what was there
	echo >go
	wait $pid || fail "$(cat record.err)"
	local samples lost
	samples=$(sed -n 's/.*(\([0-9]*\) samples.*/\1/p' record.err)
	lost=$(sed -n 's/.* up to \([0-9]*\) lost: .*/\1/p' record.err)
	assert_contains record.err "up to $lost lost: $lost samples and side-band records"
	[ "$lost" -ge $((10010 - samples)) ] || fail "$samples samples and $lost lost are too few"
}

# workload_ended RECORDER: its child waits to be reaped
workload_ended() {
	ps -o stat= --ppid "$1" | grep -q ^Z
}

# A program reads an event that a term opens for it.
test_event_for_a_map() {
	need_clang
	cat >read.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>

		struct {
			__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
			__uint(key_size, 4);
			__uint(value_size, 4);
		} pbt_clock SEC(".maps");

		SEC("tracepoint/syscalls/sys_enter_getpriority")
		int pbt_read(void *ctx)
		{
			struct bpf_perf_event_value value = {};

			return !bpf_perf_event_read_value(&pbt_clock, BPF_F_CURRENT_CPU, &value,
							  sizeof(value)) && value.enabled;
		}

		char _license[] SEC("license") = "GPL";
	END
	record -a -e read.bpf.c/map:pbt_clock.event=cs/ -o t.data -- "$COUNTED" 50
	assert_who t.data 0 49
	expect_status 1 "$PERF_BPF" record -e read.bpf.c/map:pbt_clock.event=css/ -o t.data -- true
	assert_contains err "unknown event 'css'"
}

test_ledger_of_outputs() {
	need_clang
	cat >burst.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>

		struct {
			__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
			__uint(key_size, 4);
			__uint(value_size, 4);
		} pbt_burst SEC(".maps");

		SEC("tracepoint/syscalls/sys_enter_getpriority")
		int pbt_out(void *ctx)
		{
			u64 words[32] = {};
			char comm[16] = "";

			bpf_get_current_comm(comm, sizeof(comm));
			if (comm[0] != 'c' || comm[1] != 'o' || comm[2] != 'u')
				return 0; /* nice(1), for example */
			for (int i = 0; i < 16; i++)
				bpf_perf_event_output(ctx, &pbt_burst, BPF_F_CURRENT_CPU, words,
						      sizeof(words));
			return 0;
		}

		char _license[] SEC("license") = "GPL";
	END
	# A page holds fewer outputs than one run of the program makes.
	record -m 1 -e burst.bpf.c -a -o t.data -- "$COUNTED" 100
	local samples lost
	samples=$(sed -n 's/.*(\([0-9]*\) samples.*/\1/p' record.err)
	lost=$(sed -n 's/.* \([0-9]*\) BPF outputs to pbt_burst.*/\1/p' record.err)
	[ -n "$lost" ] || skip "this kernel does not count lost samples: $(tail -1 record.err)"
	assert_equal $((samples + lost)) 1600
}

# A program whose event comes while another one runs on that CPU is skipped: the
# kernel counts that, and so do we, in what is printed and in the file.
test_ledger_of_programs() {
	need_clang
	[ -d $TRACEFS/events/timer/hrtimer_expire_entry ] || skip "no timer:hrtimer_expire_entry"
	cat >missed.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>

		static long step(u32 index, void *ctx)
		{
			return bpf_ktime_get_ns() == 0;
		}

		/* Long enough for the timer's interrupts to fall into it. */
		SEC("tracepoint/syscalls/sys_enter_getpriority")
		int pbt_outer(void *ctx)
		{
			bpf_loop(1 << 19, step, 0, 0);
			return 1;
		}

		SEC("tracepoint/timer/hrtimer_expire_entry")
		int pbt_missed(void *ctx)
		{
			return 0;
		}

		char _license[] SEC("license") = "GPL";
	END
	"$PERF_BPF" record -e missed.bpf.c -a -o t.data -- "$COUNTED" 60 2>record.err ||
		skip "this kernel has no bpf_loop(): $(head -1 record.err)"
	grep -q 'runs of program' record.err || skip "this kernel does not count skipped runs here"
	grep -qE '[1-9][0-9]* runs of program pbt_missed skipped by the kernel' record.err ||
		fail "$(cat record.err)"
	grep -q pbt_missed t.data || fail "the file's ledger does not name the program"
}

# None of the recorder's own writes, however much it writes.
test_does_not_record_itself() {
	need
	"$PERF_BPF" record -a -e syscalls:sys_enter_write,cpu-clock,page-faults,raw_syscalls:sys_enter \
		-o t.data -- "$COUNTED" 100 2000 2>err &
	local pid=$!
	wait $pid || fail "$(cat err)"
	"$PERF" script -i t.data -F pid,event >out 2>perf.err
	[ "$(wc -l <out)" -ge 100 ] || fail "there is nothing in the file"
	assert_equal "$(awk -v p=$pid '$1 == p' out | wc -l)" 0
}

test_workload_status() {
	need
	expect_status 3 "$PERF_BPF" record -e $EVENT -o t.data -- sh -c 'exit 3'
	expect_status 255 "$PERF_BPF" record -e $EVENT -o t.data -- no-such-command-here
	assert_contains err "Failed to collect '$EVENT' for the 'no-such-command-here' workload: No such"
	set +e
	"$PERF_BPF" record -q -e $EVENT -o t.data -- sh -c 'kill -9 $$' 2>err
	assert_equal $? 137
}

# The kernel exchanges the counters of a parent and a child when it switches from one to the other,
# also in the middle of the calls, and who has the first ones then has no record when it ends: a
# thread's count may be any part of all calls.
test_counts_of_threads() {
	need
	record -s -e $EVENT -c 1000000 -o s.data -- sh -c '"$0" 1000; "$0" 300; true' "$COUNTED"
	"$PERF_BPF" report -T -i s.data >out 2>err
	sed -n '/^#  *PID/,$p' out >mine
	assert_equal "$(awk 'NR > 1 && $3 > 1300' mine)" ""
	"$PERF" report --stdio -T -i s.data 2>perf.err | sed -n '/^#  *PID/,$p' >theirs
	diff theirs mine || fail "perf reads other counts"
	[ "$(wc -l <mine)" -gt 1 ] || fail "no thread has a count"
	record --running-time -e "{$EVENT,page-faults}:S" -c 1 -o r.data -- "$COUNTED" 10
	"$PERF" evlist -v -i r.data >evlist 2>perf.err
	assert_contains evlist "read_format: TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP"
	assert_equal "$("$PERF_BPF" script -i r.data | grep -c getpriority)" 10
}

test_interrupt() {
	need_clang
	write_program
	"$COUNTED" 1000000 1000 &
	local work=$! pid status=0
	trap "kill $work 2>/dev/null || :" EXIT
	"$PERF_BPF" record -e keep.bpf.c/from=0/ -p $work -o t.data 2>err &
	pid=$!
	soon samples_are 100 t.data
	kill -INT $pid
	wait $pid || status=$?
	kill $work
	wait $work || true
	assert_equal $status 130
	[ "$(who t.data | wc -l)" -ge 100 ] || fail "it holds $(who t.data | wc -l) samples"
	assert_contains err "samples,"
	assert_no_programs pbt_keep
}

is_stopped() {
	grep -q '^State:.T' "/proc/$1/status"
}

# What was written up to the last round is there, and nothing is left behind.
test_kill() {
	need_clang
	write_program
	"$COUNTED" 1000000 1000 &
	local work=$! pid
	trap "kill $work 2>/dev/null || :" EXIT
	"$PERF_BPF" record -e keep.bpf.c/from=0/ -p $work -o t.data 2>err &
	pid=$!
	soon samples_are 100 t.data
	kill -STOP $pid # at the end of what it does: a write that is killed halfway is another test's
	soon is_stopped $pid
	kill -9 $pid
	wait $pid || true
	kill $work
	wait $work || true
	[ "$(who t.data | wc -l)" -ge 100 ] || fail "it holds $(who t.data | wc -l) samples"
	expect_status 1 "$PERF_BPF" script -i t.data
	assert_contains err "t.data: the recording was not finished"
	assert_equal "$(grep -c getpriority out)" "$(who t.data | wc -l)"
	expect_status 1 "$PERF_BPF" report -i t.data
	assert_contains err "t.data: the recording was not finished"
	assert_contains out "# Total Lost Samples: not counted"
	expect_status 1 "$PERF_BPF" report -i t.data --json
	! grep lost_samples out || fail "losses were not counted"
	assert_no_programs pbt_keep
}

has_lines() {
	[ "$(wc -l <"$2")" -ge "$1" ]
}

# Programs that are loaded and unloaded during a recording: each has its records, and its code is in
# the file, also if it was gone at the end; or it is counted as one that was gone too early.
test_programs_that_come_and_go() {
	need
	local loader=$BUILD/tests/cmd/program_loader gone lost
	# Each of these is unloaded when the recorder has nothing more to read.
	mkfifo go
	"$PERF_BPF" record -q -e cpu-clock -o slow.data -- sh -c "'$loader' pbts 20 100 - <go >ids" 2>err &
	local pid=$! i
	trap "kill $pid 2>/dev/null || :" EXIT
	exec 3>go
	for i in $(seq 20); do
		soon has_lines "$i" ids
		soon waits_for_events $pid
		echo >&3
	done
	exec 3>&-
	wait $pid || fail "$(cat err)"
	"$PERF_BPF" report -i slow.data --header-only >out
	assert_equal "$(sed -n 's/^# bpf_prog_info \([0-9]*\): bpf_prog_[0-9a-f]*_pbts[0-9]* .*/\1/p' out)" "$(cat ids)"
	"$PERF_BPF" record -v -e cpu-clock -o fast.data -- sh -c "'$loader' pbtf 500 1000 0 >ids" 2>err || fail "$(cat err)"
	"$PERF_BPF" report -i fast.data --header-only | sed -n 's/^# bpf_prog_info \([0-9]*\): bpf_prog_[0-9a-f]*_pbtf.*/\1/p' >read
	gone=$(sed -n 's/^perf-bpf: \([0-9]*\) BPF programs* w.* unloaded before .*/\1/p' err)
	lost=$(sed -n 's/.*warning: \([0-9]*\) records of loads and unloads .*/\1/p' err)
	# programs of other tests may be among those that were gone
	[ $(($(wc -l <read) + ${gone:-0} + ${lost:-0})) -ge 500 ] || fail "$(wc -l <read) programs are in the file, $(cat err)"
	"$PERF_BPF" record -e cpu-clock -o again.data -- sh -c "'$loader' pbtf 500 1000 0 >/dev/null" 2>err || fail "$(cat err)"
	! grep 'unloaded before' err || fail "the programs of others are mentioned without -v"
	"$PERF_BPF" script --show-bpf-events -i fast.data >out
	while read -r id; do
		grep -q "PERF_RECORD_BPF_EVENT.*type 1, flags 0, id $id\$" out || fail "no record of program $id"
	done <ids
	assert_equal "$(grep -c 'PERF_RECORD_KSYMBOL.*flags 0x0 name bpf_prog_[0-9a-f]*_pbtf' out)" 500
}

# A copy that ends too early.
test_truncated() {
	need
	"$PERF_BPF" record -q -e $EVENT -o t.data -- "$COUNTED" 1000 2>err || fail "$(cat err)"
	# where the events end; the size of what follows them depends on what the kernel has loaded
	local offset size
	read -r offset size < <(od -An -t u8 -j 40 -N 16 t.data)
	head -c $((offset + size - 20000)) t.data >cut.data
	expect_status 1 "$PERF_BPF" script -i cut.data
	assert_contains err "cut.data: the recording is truncated: "
	[ "$(wc -l <out)" -ge 100 ] || fail "only $(wc -l <out) lines are shown"
	expect_status 1 "$PERF_BPF" report -i cut.data
	assert_contains err "bytes of events are missing"
	assert_contains out "# Total Lost Samples: not counted"
	# The events are whole, and what follows them is not.
	head -c -50 t.data >cut.data
	expect_status 1 "$PERF_BPF" report -i cut.data
	assert_contains err "cut.data: the recording is truncated: header features are missing"
	assert_contains out "# Total Lost Samples: 0"
	"$PERF_BPF" script -i t.data >out 2>err || fail "$(cat err)"
	# Wherever it ends: what is left is shown, and whoever asks for whatever is told.
	size=$(stat -c %s t.data)
	for offset in 0 1 103 104 $(seq $((size % 977)) $((size / 24)) $((size - 1))) $((size - 1)); do
		head -c "$offset" t.data >cut.data
		for options in script "script --header-only" report "report --header-only" "diff t.data"; do
			# shellcheck disable=SC2086
			case $options in
			diff*) expect_status 1 "$PERF_BPF" $options cut.data ;;
			*) expect_status 1 "$PERF_BPF" $options -i cut.data ;;
			esac
			assert_contains err "cut.data"
		done
	done
}

# A file that is made shorter while it is read: an error, not a signal.
test_shrinks_while_it_is_read() {
	need
	"$PERF_BPF" record -q -e $EVENT -o t.data -- "$COUNTED" 30000 2>err || fail "$(cat err)"
	mkfifo pipe
	"$PERF_BPF" script -i t.data >pipe 2>err &
	local pid=$! status=0 lines
	{
		read -r line
		truncate -s 100000 t.data
		lines=$(wc -l)
	} <pipe
	wait $pid || status=$?
	assert_equal $status 1
	assert_contains err "a file became shorter while it was read"
	[ "$lines" -ge 100 ] || fail "only $lines lines are shown"
}

# Copies of stacks are read where the file is mapped, by several threads.
test_shrinks_while_stacks_are_read() {
	need
	# until so much is in the file: a recorder that is late loses what has no room in the rings
	"$PERF_BPF" record -q -e cpu-clock:u -F 10000 --call-graph dwarf -o t.data -- sh -c '
		while [ "$(stat -c %s t.data)" -le 10000000 ]; do
			i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done
		done' 2>err || fail "$(cat err)"
	mkfifo pipe
	"$PERF_BPF" script -i t.data >pipe 2>err &
	local pid=$! status=0
	{
		read -r line
		truncate -s 3000000 t.data
		cat >/dev/null
	} <pipe
	wait $pid || status=$?
	assert_equal $status 1
	assert_contains err "a file became shorter while it was read"
}

# The pipe form, to who reads it at the time.
test_fifo() {
	need
	mkfifo pipe
	cat pipe >t.data &
	local pid=$!
	record -e $EVENT -o pipe -- "$COUNTED" 1000
	wait $pid
	assert_equal "$("$PERF_BPF" script -i - <t.data | grep -c getpriority)" 1000
	# A reader that goes away ends the recording.
	head -c 20000 pipe >part &
	pid=$!
	expect_status 1 "$PERF_BPF" record -e $EVENT -o pipe -- sh -c "while :; do '$COUNTED' 1000; done"
	assert_contains err "pipe: cannot write: Broken pipe"
	wait $pid # it closes the pipe first, and then writes what it has of it
	assert_equal "$(stat -c %s part)" 20000
	# So does Ctrl-C where there is none yet.
	"$PERF_BPF" record -e $EVENT -o pipe -- "$COUNTED" 1000 >out 2>err &
	pid=$!
	soon blocks_sigterm $pid
	kill $pid
	local status=0
	wait $pid || status=$?
	assert_equal $status 1
	assert_contains err "cannot write 'pipe': no process reads it"
}

# It reads the signal when it is ready to. The shell's child that becomes it blocks the signal, too,
# for a moment, and would end by it.
blocks_sigterm() {
	local name mask
	read -r name mask < <(sed -n 's/^\(Name\|SigBlk\):\t//p' "/proc/$1/status" | paste -sd' ')
	[ "$name" = perf-bpf ] && [ $((0x$mask >> 14 & 1)) = 1 ]
}

# write_filling FILE: a workload, filling.sh, whose first samples are in the file before it makes
# more than fits into it. The rings of its recording hold more than the file, too, so that its end
# is met whenever they are read.
write_filling() {
	cat >filling.sh <<-END
		'$COUNTED' 700
		until [ "\$(stat -c %s $1)" -ge 40000 ]; do sleep 0.05; done
		'$COUNTED' 300000
	END
}

# RLIMIT_FSIZE ends a recording as a full disk does, and not the recorder by SIGXFSZ.
test_file_size_limit() {
	need
	write_filling t.data
	(
		ulimit -f 100
		expect_status 1 "$PERF_BPF" record --no-buffering -m 1M -e $EVENT -o t.data -- sh filling.sh
	)
	assert_contains err "t.data: cannot write: File too large"
	assert_contains err " not written)"
	expect_status 1 "$PERF_BPF" script -i t.data
	assert_contains err "t.data: the recording was not finished"
	[ "$(wc -l <out)" -ge 100 ] || fail "only $(wc -l <out) lines can be read"
}

test_full_disk() {
	need
	mkdir small
	mount -t tmpfs -o size=1m none small || skip "tmpfs cannot be mounted"
	trap 'umount "$TMP/small"' EXIT
	write_filling small/t.data
	expect_status 1 "$PERF_BPF" record --no-buffering -m 2M -e $EVENT -o small/t.data -- sh filling.sh
	assert_contains err "No space left on device"
	assert_contains err "small/t.data"
	assert_contains err " not written)"
	! grep -F ", 0 lost" err || fail "what was not written is not lost"
	local n
	n=$(who small/t.data | wc -l)
	[ "$n" -ge 100 ] || fail "only $n samples can be read"
	assert_contains err "($n samples"
	expect_status 1 "$PERF_BPF" script -i small/t.data
	assert_contains err "the recording was not finished"
	assert_equal "$(grep -c getpriority out)" "$n"
}

test_typos() {
	need
	expect_status 1 "$PERF_BPF" record -e syscalls:sys_enter_getpriorty -o t.data -- true
	assert_contains err "unknown tracepoint"
	assert_contains err "'syscalls:sys_enter_getpriority'"
	expect_status 1 "$PERF_BPF" record -e cpu-clok -o t.data -- true
	assert_contains err "did you mean 'cpu-clock'?"
	expect_status 1 "$PERF_BPF" record -e nothing-here.bpf.c -o t.data -- true
	assert_contains err "nothing-here.bpf.c"
	expect_status 1 "$PERF_BPF" record -e cs -p 2147483647 -o t.data
	assert_contains err "process 2147483647 does not exist"
	# no software event has branch records
	expect_status 1 "$PERF_BPF" record -e cpu-clock --call-graph lbr -o t.data -- true
	assert_contains err "does not keep calls as branch records"
	assert_contains err "use --call-graph dwarf"
	[ ! -e t.data ] || fail "a failed start left a file"
}

test_not_root() {
	need
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	local paranoid
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
	[ "$paranoid" -ge 2 ] || skip "perf_event_paranoid is $paranoid"
	chmod 755 "$TMP" "$(dirname "$TMP")"
	mkdir -m 777 open
	cp "$PERF_BPF" "$COUNTED" open/ || skip "the binaries cannot be copied"
	set +e
	setpriv --reuid 65534 --regid 65534 --clear-groups open/perf-bpf record -a -e cpu-clock \
		-o open/t.data -- true >out 2>err
	local status=$?
	set -e
	assert_equal $status 1
	assert_contains err "perf_event_paranoid"
	# One's own user space can be recorded.
	setpriv --reuid 65534 --regid 65534 --clear-groups open/perf-bpf record -e cpu-clock \
		-o open/t.data -- open/counted 10 100000 burn >out 2>err || fail "$(cat err)"
	assert_contains err "only in user space"
	"$PERF" report --header-only -f -i open/t.data >header 2>&1
	assert_contains header "cpu-clock:u"
}

# The kernel lets the leader of a group alone be pinned.
test_weak_groups() {
	need
	expect_status 1 "$PERF_BPF" record -q -e '{cs,faults:D}' -o t.data -- true
	"$PERF_BPF" record -v -e '{cs,faults:D}:W' -c 1 -o t.data -- sh -c true 2>err
	assert_contains err "the kernel rejects faults:D in the group of cs"
	"$PERF_BPF" report --header-only -i t.data >out
	! grep '^# group' out || fail "a group that the kernel rejects"
	"$PERF_BPF" script -F event -i t.data >events
	assert_contains events faults:D
	# each is the leader of a group of its own, which its own samples read
	expect_status 0 "$PERF_BPF" record -q -e '{cs/period=3/,faults/period=2/D}:SWu' -o t.data -- sh -c true
	"$PERF_BPF" script -D -i t.data >dump
	assert_contains dump "sample_read"
	"$PERF_BPF" report --header-only -i t.data >out
	assert_equal "$(grep -c '^# event : name = .*sample_period, sample_freq } = [32], .*disabled = 1,.* enable_on_exec = 1' out)" 2
	"$PERF_BPF" record -v -e '{cs,faults}:W' -o t.data -- true 2>err
	"$PERF_BPF" report --header-only -i t.data >out
	assert_contains out "# group"
	! grep "rejects" err || fail "a group that the kernel opens"
	expect_status 1 "$PERF_BPF" record -q -e 'cs:W' -o t.data -- true
	assert_contains err "the modifier W is for groups"
}

test_groups() {
	need
	record -e 'page-faults,{cpu-clock,minor-faults}' -e "{$EVENT,major-faults}:S" -o t.data \
		-- "$COUNTED" 10
	"$PERF" evlist -g -i t.data 2>&1 | grep -v '^# Tip' >out
	diff - out <<-END || fail "other groups"
		page-faults
		{cpu-clock,minor-faults}
		{$EVENT,major-faults}
	END
	"$PERF" report --header-only -i t.data | grep '^# group' >want
	"$PERF_BPF" report --header-only -i t.data | grep '^# group' >got
	diff want got || fail "differs from perf report"
}

test_header() {
	need
	record -e $EVENT,cpu-clock -o t.data -- "$COUNTED" 10
	"$PERF" report --header-only -i t.data >out 2>&1
	assert_contains out "# hostname : $(uname -n)"
	assert_contains out "# os release : $(uname -r)"
	assert_contains out "# arch : $(uname -m)"
	assert_contains out "-e $EVENT,cpu-clock -o t.data"
	assert_contains out "name = $EVENT"
	assert_contains out "# time of first sample"
	assert_contains out "tracepoint = 2"
}

# What is wrong with a source is told under its name, and by what it should be.
test_wrong_sources() {
	need_clang
	write_program
	: >nothing.bpf.c
	expect_status 1 "$PERF_BPF" record -e nothing.bpf.c -o t.data -- "$COUNTED" 1
	assert_contains err "error: nothing.bpf.c: contains no BPF program"
	sed 's|SEC("tracepoint.*")|SEC("perf_event/cpu-clok")|' keep.bpf.c >clock.bpf.c
	expect_status 1 "$PERF_BPF" record -e clock.bpf.c -o t.data -- "$COUNTED" 1
	assert_contains err "error: clock.bpf.c: program pbt_keep (section perf_event/cpu-clok): "
	assert_contains err "did you mean 'cpu-clock'?"
	sed 's|getpriority|getprioritty|' keep.bpf.c >event.bpf.c
	expect_status 1 "$PERF_BPF" record -e event.bpf.c -o t.data -- "$COUNTED" 1
	assert_contains err "error: event.bpf.c: program pbt_keep (section"
	assert_contains err "did you mean '$EVENT'"
	sed 's|return .*|return *(int *)ctx->args[1];|' keep.bpf.c >refused.bpf.c
	expect_status 1 "$PERF_BPF" record -e refused.bpf.c -o t.data -- "$COUNTED" 1
	assert_contains err "error: refused.bpf.c:"
	assert_contains err ": program pbt_keep (section"
	sed 's|tracepoint/|tracepont/|' keep.bpf.c >section.bpf.c
	expect_status 1 "$PERF_BPF" record -e section.bpf.c -o t.data -- "$COUNTED" 1
	assert_contains err "did you mean 'tracepoint'?"
	! grep "is loaded" err || fail "a program that cannot be loaded is called loaded"
	expect_status 1 "$PERF_BPF" record -C '' -o t.data -- "$COUNTED" 1
	assert_contains err "-C '' is not a list of CPUs"
}

# The kernel asks all the programs of a tracepoint: what comes of that is said.
test_two_programs_at_one_tracepoint() {
	need_clang
	write_program
	sed 's/>= from/< from/' keep.bpf.c >low.bpf.c
	record -e keep.bpf.c/from=50/,low.bpf.c/from=70/ -o t.data -- "$COUNTED" 100
	assert_contains record.err "warning: 2 programs filter $EVENT: an event is recorded only if every"
	assert_who t.data 50 69
	record -e keep.bpf.c/from=50/ -o t.data -- "$COUNTED" 100
	! grep "programs filter" record.err || fail "one program is nothing to warn of"
}

# An event that others filter is not what it seems: that is said.
test_strangers_program() {
	need_clang
	write_program
	"$PERF_BPF" record -q -e keep.bpf.c/from=50/ -a -o other.data 2>other.err &
	local other=$!
	has_program() { bpftool perf 2>/dev/null | grep -q "^pid $other "; }
	soon has_program
	record -e $EVENT -o t.data -- "$COUNTED" 100
	kill -INT $other
	wait $other || true
	assert_contains record.err "BPF program of other processes is attached to $EVENT"
	assert_who t.data 50 99
}

# build_spin NAME: a program whose function of that name spins; all are of one layout
build_spin() {
	command -v gcc >/dev/null || skip "gcc is not installed"
	cat >"$1.c" <<-END
		#include <time.h>
		__attribute__((noinline)) void $1(void)
		{
			const clock_t end = clock() + CLOCKS_PER_SEC / 2;
			while (clock() < end)
				for (volatile int i = 0; i < 1000000; i++) ;
		}
		int main(void) { $1(); return 0; }
	END
	gcc -O1 -g -Wl,--build-id -o "$1" "$1.c"
}

# The program's file is another one at the end of the recording: its names would be wrong.
test_replaced_binary() {
	need
	build_spin blue_work
	build_spin hot_red_work
	for options in "" "-a" "--buildid-mmap" "-z"; do
		cp blue_work prog
		cp hot_red_work other
		record $options -e cpu-clock -o t.data -- sh -c './prog; mv other prog'
		"$PERF_BPF" report -i t.data --comm prog >out 2>err
		! grep red_work out || fail "record $options: names of the new file"
		assert_contains err "prog has changed since it was recorded"
		! "$PERF" report -i t.data --comm prog 2>/dev/null | grep red_work || fail "perf names the new file"
		cp blue_work prog
		"$PERF_BPF" report -i t.data --comm prog >out 2>err
		assert_contains out "blue_work"
		! grep changed err || fail "$(cat err)"
	done
	# As the recorder of before did.
	cp hot_red_work other
	record --no-buildid-mmap -e cpu-clock -o t.data -- sh -c './prog; mv other prog'
	"$PERF_BPF" script --show-mmap-events --json -i t.data >json
	! grep '"type":"mmap' json | grep -q build_id || fail "mappings have build ids"
	"$PERF_BPF" report -i t.data --comm prog >out 2>err
	grep -q red_work out || fail "this test proves nothing: the names are right without build ids"
}

# A process that ran before: its file is gone, and another mount namespace has another one.
test_build_ids_of_mappings_before() {
	need
	[ -r /proc/self/map_files ] || skip "no /proc/PID/map_files"
	build_spin blue_work
	cp "$COUNTED" prog
	readelf -n prog | sed -n 's/.*Build ID: //p' >want
	[ -s want ] || skip "the compiler adds no build ids"
	./prog 100000 100000 thread >ids &
	local pid=$!
	trap "kill $pid 2>/dev/null || :" EXIT
	soon [ -s ids ] # it runs, and has its libraries
	mv blue_work prog
	record -a -e $EVENT -o t.data -- true
	kill $pid
	"$PERF_BPF" script --show-mmap-events --json -i t.data | grep '"type":"mmap' | grep "\"pid\":$pid," >json || fail "no mappings"
	grep '/prog' json | grep -q "\"build_id\":\"$(cat want)\"" || fail "$(cat json)"
	# One DSO, not one with an id and one without.
	grep libc.so json | grep -q build_id || fail "a library has no build id: $(cat json)"
}

# The same program, but it comes when the recording has begun, and may go before it ends.
stranger_during_recording() {
	need_clang
	write_program
	printf '%s\n' 'touch begun' 'until [ -e go ]; do sleep 0.05; done' '"$1" 100' >work.sh
	"$PERF_BPF" record -e $EVENT "$@" -o t.data -- bash work.sh "$COUNTED" 2>record.err &
	local recorder=$!
	soon [ -e begun ]
	"$PERF_BPF" record -q -e keep.bpf.c/from=50/ -a -o other.data 2>other.err &
	local other=$!
	has_program() { bpftool perf 2>/dev/null | grep -q "^pid $other "; }
	soon has_program
	if [ "${GONE:-}" ]; then
		soon grep -q "BPF program of other processes" record.err
		kill -INT $other
		wait $other || true
		touch go
		wait $recorder || fail "$(cat record.err)"
		assert_who t.data 0 99
	else
		touch go
		wait $recorder || fail "$(cat record.err)"
		kill -INT $other
		wait $other || true
		assert_who t.data 50 99
	fi
	assert_contains record.err "1 BPF program of other processes is attached to $EVENT since the recording started"
	assert_equal "$(grep -c 'only events that' record.err)" 1
	assert_contains record.err "0 lost: $EVENT filtered by 1 BPF program of other processes) ]"
	"$PERF_BPF" script --json -i t.data >json 2>err
	grep '"kind":"filtered"' json | grep -q '"programs":1' || fail "the file does not tell of it"
	assert_contains err "BPF programs of other processes filtered $EVENT while it was recorded"
	"$PERF_BPF" report -i t.data >out 2>err
	assert_contains err "BPF programs of other processes filtered $EVENT while it was recorded"
}

test_strangers_program_during_recording() {
	stranger_during_recording
}

test_strangers_program_that_goes_again() {
	GONE=1 stranger_during_recording -a
}

run_tests
