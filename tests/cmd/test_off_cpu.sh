#!/usr/bin/env bash
# record --off-cpu: how long tasks sleep, compared with what a workload measures itself.
. "$(dirname "$0")/../tap.sh"

PERF=$(command -v perf || true)
# Sums come last, with times behind all others.
REAL_TIMES="0,18446744000"

# perf takes files of /tmp/perf-* for maps of JIT compilers.
FILES=$(mktemp -d "${TMPDIR:-/tmp}/off-cpu-of-perf-bpf.XXXXXX")
tests_end() {
	rm -rf "$FILES"
}

need() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ "$(uname -m)" = x86_64 ] || skip "the workload is for x86-64"
	command -v gcc >/dev/null || skip "gcc is not installed"
	cat >sleeper.c <<-'END'
		#define _GNU_SOURCE
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <time.h>
		#include <unistd.h>

		struct slept {
			long ns;
			int n, tid;
		};

		/* The frame of the sleep is that of the function. */
		#define SLEEPER(name)                                                                        \
			static __attribute__((noinline)) void name(struct slept *s, long ms)                  \
			{                                                                                     \
				struct timespec for_ = {0, ms * 1000000}, a, b;                               \
				long r = SYS_nanosleep;                                                       \
				clock_gettime(CLOCK_MONOTONIC, &a);                                           \
				__asm__ volatile("syscall" : "+a"(r) : "D"(&for_), "S"(0L)                    \
						 : "rcx", "r11", "memory");                                   \
				clock_gettime(CLOCK_MONOTONIC, &b);                                           \
				s->ns += (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec;          \
				s->n++;                                                                       \
			}
		SLEEPER(short_sleep)
		SLEEPER(long_sleep)

		static __attribute__((noinline)) void *sleep_long(void *arg)
		{
			struct slept *s = arg;

			s->tid = (int)syscall(SYS_gettid);
			for (int i = 0; i < 3; i++)
				long_sleep(s, 60);
			return NULL;
		}

		int main(int argc, char **argv)
		{
			struct slept here = {.tid = getpid()}, there = {0}, child = {0};
			pthread_t thread;

			for (;;) {
				if (argc == 1)
					break;
				short_sleep(&here, 2);
			}
			pthread_create(&thread, NULL, sleep_long, &there);
			for (int i = 0; i < 20; i++)
				short_sleep(&here, 5);
			pthread_join(thread, NULL);
			fflush(stdout);
			pid_t pid = fork();
			if (!pid) {
				child.tid = getpid();
				for (int i = 0; i < 10; i++)
					short_sleep(&child, 5);
				printf("%d short_sleep %ld\n", child.tid, child.ns);
				return 0;
			}
			waitpid(pid, NULL, 0);
			printf("%d short_sleep %ld\n%d long_sleep %ld\n", here.tid, here.ns, there.tid, there.ns);
			return 0;
		}
	END
	gcc -O1 -g -fno-omit-frame-pointer -pthread -o "$FILES/sleeper" sleeper.c
}

# sums FILE: what script says: thread, function and sum of each, in the form of the workload
sums() {
	"$PERF_BPF" script -i "$1" -F tid,period,ip,sym >lines
	sums_of_lines
}

sums_of_lines() {
	python3 - <<-'END'
		sums, at = {}, None
		for line in open("lines"):
		    words = line.split()
		    if not words:
		        at = None
		    elif at is None:
		        at = words
		        first = True
		    else:
		        if first and words[-1] in ("short_sleep", "long_sleep"):
		            key = at[0], words[-1]
		            sums[key] = sums.get(key, 0) + int(at[1])
		        first = False
		for (tid, name), ns in sorted(sums.items()):
		    print(tid, name, ns)
	END
}

# record FILE [OPTION...]: the workload's sums are in `want`. Each sleep is a little shorter than what
# the process sees of it, and takes as long as it asked for.
record() {
	expect_status 0 "$PERF_BPF" record -q -N --off-cpu --off-cpu-thresh 20 -e dummy -o "$1" "${@:2}" -- "$FILES/sleeper"
	sort out >want
}

# Of about one sleep in 1,000, the program at sched_switch sees the beginning only: that of a sleeper
# that gets the CPU of process 1, where the kernel calls no tracepoint for that one (test_examples.sh,
# runqlat). These are counted.
lost() {
	"$PERF_BPF" report --stdio -i "$1" 2>/dev/null | sed -n 's/^# Total Lost Samples: //p' | head -n 1
}

# assert_sums FILE: are in `want`, but for what is said to be lost; the three long sleeps have samples of
# their own
assert_sums() {
	local lost
	lost=$(lost "$1")
	sums "$1" >got
	python3 - "$lost" <<-'END' || fail "$(paste want got)"
		import sys
		lost = int(sys.argv[1])
		def read(name):
		    return {tuple(l.split()[:2]): int(l.split()[2]) for l in open(name)}
		want, got = read("want"), read("got")
		assert len(want) == 3 and want.keys() == got.keys(), (want, got)
		asked = {"short_sleep": 50e6, "long_sleep": 180e6}
		for key, ns in want.items():
		    one = {"short_sleep": 5e6, "long_sleep": 60e6}[key[1]]
		    assert asked[key[1]] * 0.8 - lost * one <= got[key] <= ns, (key, ns, got[key])
	END
	"$PERF_BPF" script -i "$1" --time "$REAL_TIMES" -F event,period,ip,sym >direct
	[ $(($(grep -c ' long_sleep$' direct) + lost)) -ge 3 ] || fail "$(cat direct)"
	awk '/offcpu-time/ && $1 < 20000000 { exit 1 }' direct || fail "$(cat direct)"
}

test_sums_are_those_of_the_workload() {
	need
	record data
	assert_sums data
	"$PERF_BPF" report --header-only -i data >header
	assert_contains header "event : name = offcpu-time"
	! grep -E "time of last sample : 18446" header || fail "the time of sums counts"
	expect_status 0 "$PERF_BPF" report -i data --stdio -F period,sym --no-children -g none
	assert_contains out long_sleep
}

# The sleeps are in the file of the ring, the sums in that of the directory; no ring of theirs is
# overwritten.
test_with_other_forms() {
	need
	record t.dir --threads
	assert_sums t.dir
	record o.data --overwrite
	assert_sums o.data
	record z.data -z
	assert_sums z.data
}

test_refused() {
	expect_status 2 "$PERF_BPF" record --off-cpu --switch-output -e dummy -o t.data -- touch ran
	assert_contains err "--off-cpu cannot be used with --switch-output"
	[ ! -e ran ] && [ ! -e t.data ] || fail "something was recorded"
}

test_threshold() {
	need
	expect_status 0 "$PERF_BPF" record -q -N --off-cpu --off-cpu-thresh 100000 -e dummy -o data -- "$FILES/sleeper"
	"$PERF_BPF" script -i data --time "$REAL_TIMES" >direct
	[ ! -s direct ] || fail "a sample that is not a sum: $(cat direct)"
	[ "$(sums data | wc -l)" = 3 ] || fail "$(sums data)"
	expect_status 0 "$PERF_BPF" record -q -N --off-cpu --off-cpu-thresh 0 -e dummy -o data -- "$FILES/sleeper"
	"$PERF_BPF" script -i data --time "18446744000," >sums
	[ ! -s sums ] || fail "a sum: $(cat sums)"
	"$PERF_BPF" script -i data -F ip,sym >lines
	[ $(($(grep -cE 'short_sleep|long_sleep' lines) + $(lost data))) -ge 33 ] || fail "$(cat lines)"
}

# --call-graph dwarf would not change these stacks.
test_no_hint_at_dwarf() {
	need
	"$PERF_BPF" record -N --off-cpu --off-cpu-thresh 0 -e dummy -o data -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.01; done' 2>err || fail "$(cat err)"
	! grep "frame pointers" err || fail "a hint"
	"$PERF_BPF" report --stdio -i data >out 2>err
	[ "$(grep -c offcpu-time out)" -ge 1 ] || fail "$(cat out)"
	! grep "frame pointers" err || fail "a hint in report"
}

test_as_perf_reads_it() {
	need
	[ -n "$PERF" ] || skip "no perf"
	expect_status 0 "$PERF_BPF" record -q -N --off-cpu --off-cpu-thresh 20 -e dummy -o data -- "$FILES/sleeper"
	sums data >ours
	perf script -i data -F tid,period,ip,sym >lines 2>err
	sums_of_lines >theirs
	assert_equal "$(cat theirs)" "$(cat ours)"
	[ -s ours ] || fail "nothing was recorded"
	perf report -i data --stdio --no-children -g none -F period,comm,sym 2>/dev/null | grep -E '^ +[0-9]' >theirs
	"$PERF_BPF" report -i data --stdio --no-children -g none -F period,comm,sym | grep -E '^ +[0-9]' >ours
	assert_equal "$(cat ours)" "$(cat theirs)"
}

switched() {
	local pid
	for pid; do
		[ "$(awk '/^voluntary/ { print $2 }' "/proc/$pid/status")" -ge 20 ] || return 1
	done
}

# until_switched PID...: the command of a recording in which each process sleeps often
until_switched() {
	cat >until_switched <<-'END'
		count() { awk '/^voluntary/ { print $2 }' "/proc/$1/status"; }
		for pid; do
			n=$(count $pid)
			until [ "$(count $pid)" -ge $((n + 5)) ]; do sleep 0.01; done
		done
	END
}

# threads [OPTION...]: whose sleeps are recorded, of the two processes
threads() {
	"$PERF_BPF" record -q -N --off-cpu -e dummy -o data "$@" -- sh until_switched $one $two
	sums data | cut -d' ' -f1 | grep -x -e $one -e $two | sort -u | paste -sd,
}

test_of_whom() {
	local root user=48712
	local -a cpus
	need
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	until_switched
	"$FILES/sleeper" on &
	one=$!
	chmod 755 "$FILES"
	(cd "$FILES" && exec setpriv --reuid $user --clear-groups ./sleeper on) &
	two=$!
	trap 'kill -KILL $one $two' EXIT
	soon switched $one $two
	assert_equal "$(threads -p $one)" $one
	assert_equal "$(threads -t $two)" $two
	assert_equal "$(threads -a)" "$(printf '%s\n' $one $two | sort | paste -sd,)"
	assert_equal "$(threads)" ""
	assert_equal "$(threads -u $user)" $two
	mapfile -t cpus < <(python3 -c 'import os; print(*os.sched_getaffinity(0), sep="\n")')
	if [ ${#cpus[@]} -gt 1 ]; then
		taskset -pc "${cpus[0]}" $one >/dev/null
		taskset -pc "${cpus[1]}" $two >/dev/null
		assert_equal "$(threads -C "${cpus[0]}")" $one
		assert_equal "$(threads -C "${cpus[1]}")" $two
	fi
	# nothing while events are disabled
	expect_status 0 "$PERF_BPF" record -q -N --off-cpu -e dummy -D -1 -o data -a -- sh until_switched $one $two
	assert_equal "$(sums data)" ""
	root=/sys/fs/cgroup/unified
	[ -e $root/cgroup.controllers ] || root=/sys/fs/cgroup
	[ -e $root/cgroup.controllers ] && [ ! -e /sys/fs/cgroup/perf_event ] &&
		group=$(mktemp -d $root/pbt-off-cpu.XXXXXX 2>/dev/null) || return 0
	trap 'kill -KILL $one $two; wait 2>/dev/null; rmdir $group' EXIT
	echo $two >$group/cgroup.procs
	assert_equal "$(threads -G $group)" $two
	"$PERF_BPF" record -q -N --off-cpu --all-cgroups -e dummy -o data -p $one,$two -- sh until_switched $one $two
	"$PERF_BPF" script -i data -F tid,cgroup | grep -E "^ *$two +${group#$root}" >lines || fail "no cgroup"
}

test_without_inheritance() {
	need
	expect_status 0 "$PERF_BPF" record -q -N -i --off-cpu -e dummy -o data -- "$FILES/sleeper"
	child=$(head -n 1 out | cut -d' ' -f1)
	sums data >got
	[ -s got ] || fail "nothing was recorded"
	! grep "^$child " got || fail "the child is recorded"
}

# Of whom and where, from the raw data: as perf 7.2 reads it.
test_recordings_of_perf() {
	local lines
	"$SRC/tests/cmd/off_cpu_recording.py" /opt/prog >theirs.data
	lines=" sleeper 11 0.001000: 1 cpu-clock: 1010 [unknown] sleeper 12 0.002000: 7000000 offcpu-time: 1020 [unknown] 1030 [unknown]"
	lines="$lines sleeper 11 18446744069.414584: 3000000 offcpu-time: 1030 [unknown] "
	"$PERF_BPF" script -i theirs.data -F comm,tid,time,period,event,ip >out 2>err
	assert_equal "$(tr -s ' \n\t' ' ' <out)" "${lines# }"
	assert_equal "$(cat err)" ""
	"$PERF_BPF" report -q --stdio -i theirs.data --no-children -g none -F period,pid,dso,cgroup >out
	assert_equal "$(grep -c ' 7000000  *12:sleeper  *prog  */web *$' out)" 1
	# more frames than bytes: left out, and said
	"$SRC/tests/cmd/off_cpu_recording.py" /opt/prog damaged >bad.data
	expect_status 1 "$PERF_BPF" script -i bad.data -F comm,tid,time,period,event,ip
	assert_equal "$(tr -s ' \n\t' ' ' <out)" "${lines# }"
	assert_contains err "the call chain ends past the end of the raw data; skipping it"
	assert_contains err "damaged records were skipped: 1"
}

run_tests
