#!/usr/bin/env bash
# Processes in containers: in other PID and mount namespaces, seen from inside and from outside.
. "$(dirname "$0")/../tap.sh"

needs() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	unshare --pid --fork --mount-proc true 2>/dev/null || skip "cannot make namespaces"
	# unshare ignores SIGTERM, and takes its child along (--kill-child)
	trap 'kill -KILL $(jobs -p) 2>/dev/null || true' EXIT
}

# The command of a measurement that a process has samples in.
UNTIL_USED="$SRC/tests/cmd/until_used 50"

# build COLOUR: a program that spends its time in COLOUR_work(), and calls getppid(), in COLOUR_call(),
# and openat(): as often as it is told, or without end
build() {
	cat >work.c <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <unistd.h>
		volatile unsigned long n;
		__attribute__((noinline)) void WORK(void)
		{
			for (int i = 0; i < 1000000; i++)
				n += i;
		}
		__attribute__((noinline)) void CALL(void)
		{
			n += getppid();
		}
		int main(int argc, char **argv)
		{
			printf("%d\n", getpid());
			fflush(stdout);
			for (int i = 0; argc < 2 || i < atoi(argv[1]); i++) {
				WORK();
				CALL();
				open("/nonexistent", O_RDONLY);
			}
		}
	END
	gcc -g -O1 -fno-omit-frame-pointer -DWORK="$1_work" -DCALL="$1_call" -o "$1" work.c
}

# in_pid_ns: runs standard input as a script with functions of this file, in a PID namespace.
# Processes there have low ids, which on the host belong to the kernel's threads.
in_pid_ns() {
	{
		echo '. "$SRC/tests/tap.sh"; set -eu'
		cat
	} >inside.sh
	SRC=$SRC PERF_BPF=$PERF_BPF UNTIL_USED=$UNTIL_USED \
		unshare --pid --fork --kill-child --mount-proc bash inside.sh
}

test_run_in_a_pid_namespace() {
	needs
	build blue
	in_pid_ns <<-'END'
		./blue >pid &
		soon test -s pid
		pid=$(cat pid)
		[ $pid -lt 100 ] || fail "this is not a new PID namespace"
		expect_status 0 "$PERF_BPF" run profile -F 999 --folded -p $pid -- $UNTIL_USED $pid
		assert_contains out 'blue_work'
		expect_status 0 "$PERF_BPF" run syscount --json -p $pid -- $UNTIL_USED $pid
		python3 - $pid <<-'PYTHON'
			import json, sys
			tables = [json.loads(l) for l in open("out") if l.startswith("{")]
			table, = [t for t in tables if t["map"] == "by_process"]
			pids = {row["pid"] for row in table["rows"]}
			assert pids == {int(sys.argv[1])}, table
		PYTHON
		# all tasks: those outside of the namespace have no id in it
		expect_status 0 "$PERF_BPF" run syscount --json -- $UNTIL_USED $pid
		grep -q "\"pid\":$pid\\b" out || fail "the process is missing"
	END
}

test_top_in_a_pid_namespace() {
	needs
	build blue
	in_pid_ns <<-'END'
		./blue >pid &
		soon test -s pid
		pid=$(cat pid)
		for by in -p -t; do
			: >table
			"$PERF_BPF" top --stdio -d 0.1 -e cpu-clock:u -s pid,symbol $by $pid >table &
			top=$!
			soon grep -q "blue_work" table
			kill -INT $top
			wait $top
			! grep '[0-9]%' table | grep -v "$pid:blue" || fail "another process has samples"
		done
	END
}

test_a_nested_pid_namespace() {
	needs
	build red
	in_pid_ns <<-'END'
		unshare --pid --fork --kill-child --mount-proc ./red >pid &
		soon test -s pid
		assert_equal "$(cat pid)" 1
		pid=$(pgrep -x red)
		[ $pid != 1 ] || fail "this is not the outer namespace"
		expect_status 0 "$PERF_BPF" run profile -F 999 --folded -p $pid -- $UNTIL_USED $pid
		assert_contains out 'red_work'
		"$PERF_BPF" trace -p $pid 2>calls &
		trace=$!
		soon grep -q "red/$pid getppid" calls
		kill -INT $trace
	END
}

test_trace_in_a_pid_namespace() {
	needs
	build blue
	in_pid_ns <<-'END'
		./blue >pid &
		soon test -s pid
		pid=$(cat pid)
		"$PERF_BPF" trace -p $pid 2>calls &
		trace=$!
		soon grep -q "blue/$pid getppid" calls
		kill -INT $trace
		wait $trace || true
		! grep -v "blue/$pid " calls || fail "another process was traced"
	END
}

# The program of a probe selects by the ids of the namespace, and its samples have them.
test_probes_in_a_pid_namespace() {
	needs
	has attach.uprobe || skip "the kernel has no uprobes"
	build blue
	in_pid_ns <<-'END'
		probe='probe:exec=./blue;blue_work'
		./blue >pid &
		./blue >other &
		soon test -s pid
		soon test -s other
		pid=$(cat pid) other=$(cat other)
		for by in -p -t "-i -p"; do
			expect_status 0 "$PERF_BPF" record -q -N -o data -e "$probe" $by $pid -- $UNTIL_USED $pid
			expect_status 0 "$PERF_BPF" script -i data -F pid,tid
			assert_equal "$(sort -u out | tr -d ' ')" "$pid/$pid"
		done
		expect_status 0 "$PERF_BPF" record -q -N -o data -e "$probe" -a -- $UNTIL_USED $pid $other
		expect_status 0 "$PERF_BPF" script -i data -F pid
		assert_equal "$(sort -un out | tr -d ' ' | paste -sd' ')" "$(printf '%s\n' $pid $other | sort -n | paste -sd' ')"
		expect_status 0 "$PERF_BPF" script -i data --json
		grep -o '"common_pid":[0-9]*' out | sort -u >ids || true
		[ ! -s ids ] || ! grep -vE ":($pid|$other)\$" ids || fail "ids of the host"
		# a child of the command, and one in a namespace of its own
		for ns in "" "unshare --pid --fork"; do
			expect_status 0 "$PERF_BPF" record -q -N -o data -e "$probe" -- sh -c "$ns ./blue 5 >child; true"
			expect_status 0 "$PERF_BPF" script -i data -F comm,pid
			assert_equal "$(wc -l <out)" 5
			[ -n "$ns" ] || assert_equal "$(awk '{ print $1, $2 }' out | sort -u)" "blue $(cat child)"
			! grep -E "blue +(0|1)\$" out || fail "the id of another namespace"
		done
	END
}

# Programs that filter events, or put out samples of their own, ask for the ids of the namespace.
test_objects_in_a_pid_namespace() {
	needs
	has attach.raw_tp || skip "the kernel has no raw tracepoints"
	build blue
	"$PERF_BPF" btf dump vmlinux --format=c >vmlinux.h
	cat >of_pid.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		#include <bpf/perf_bpf_prog.h>
		int wanted_pid;
		perf_output_map();
		SEC("raw_tp/sys_enter")
		int of_pid(void *ctx)
		{
			__u64 ids = perf_bpf_pid_tgid();
			if (perf_bpf_wanted() && ids >> 32 == wanted_pid)
				perf_output(ctx, &ids, sizeof(ids));
			return 0;
		}
		char _license[] SEC("license") = "GPL";
	END
	compile_bpf of_pid.bpf.c of_pid.bpf.o -I.
	in_pid_ns <<-'END'
		./blue >pid &
		./blue >other &
		soon test -s pid
		soon test -s other
		pid=$(cat pid) other=$(cat other)
		expect_status 0 "$PERF_BPF" record -q -N -o data -e "of_pid.bpf.o/wanted_pid=$pid/" -a -- $UNTIL_USED $pid $other
		expect_status 0 "$PERF_BPF" script -i data -F pid
		assert_equal "$(sort -u out | tr -d ' ')" $pid
		# -p selects what the kernel samples; -i says that of programs, too
		expect_status 0 "$PERF_BPF" record -q -N -o data -i -e "of_pid.bpf.o/wanted_pid=$pid/" -p $other -- $UNTIL_USED $other
		expect_status 0 "$PERF_BPF" script -i data -F pid
		assert_equal "$(cat out)" ""
	END
}

test_another_namespaces_proc() {
	needs
	echo 'expect_status 1 "$PERF_BPF" run profile -p 1 --duration 1
	assert_contains err "shows the processes of another PID namespace"
	assert_contains err "mount -t proc"' >inside
	{ echo '. "$SRC/tests/tap.sh"; set -eu'; cat inside; } >inside.sh
	SRC=$SRC PERF_BPF=$PERF_BPF unshare --pid --fork --kill-child bash inside.sh
}

# Two programs at one path, each in its mount namespace.
test_files_of_another_mount_namespace() {
	needs
	build blue
	build red
	cp red app
	unshare -m sh -c 'mount --bind blue app && exec ./app' >pid &
	soon test -s pid
	pid=$(cat pid)
	expect_status 0 "$PERF_BPF" record -q -N -B -e cpu-clock:u -o data -p $pid -- $UNTIL_USED $pid
	# nothing of it was kept: no names, rather than those of the file outside
	expect_status 0 "$PERF_BPF" report -i data -s sym
	! grep red_work out || fail "names of the file outside"
	expect_status 0 "$PERF_BPF" run profile -F 999 --folded -p $pid -- $UNTIL_USED $pid
	assert_contains out blue_work
	! grep red_work out || fail "names of the file outside"
	# what is recorded without -B is right later, too
	expect_status 0 "$PERF_BPF" record -q -e cpu-clock:u -o data -p $pid -- $UNTIL_USED $pid
	kill -KILL $pid
	wait $! || true
	expect_status 0 "$PERF_BPF" report -i data -s sym
	assert_contains out blue_work
}

# The file of a process that has ended cannot be found any more, so it is opened while the process runs.
test_names_of_ended_processes_below_another_root() {
	needs
	build blue
	mkdir root
	gcc -g -O1 -static -fno-omit-frame-pointer -DWORK=blue_work -DCALL=blue_call -o root/blue work.c ||
		skip "no static libc"
	rm blue
	"$PERF_BPF" run profile -F 999 --comm blue --folded -- chroot root /blue 3000 >out 2>err || fail "$(cat err)"
	assert_contains out blue_work
	export PERF_BUILDID_DIR=$PWD/cache
	for ids in "" --no-buildid-mmap; do
		expect_status 0 "$PERF_BPF" record -q $ids -e cpu-clock:u -F 999 -o data -- chroot root /blue 3000
		mv root/blue root/later
		expect_status 0 "$PERF_BPF" report -i data -s comm,sym
		mv root/later root/blue
		assert_contains out blue_work
		rm -r cache data
	done
	# The process has ended when top shows its samples.
	"$PERF_BPF" top --stdio -z -d 2 -e cpu-clock:u -F 999 -s comm,sym >top 2>err &
	top=$!
	soon test -s top
	chroot root /blue 3000 >/dev/null
	soon grep -q blue_work top
	kill $top
	wait $top || true
}

# The same process ids and paths in two containers, with different programs.
test_two_containers() {
	needs
	build blue
	build red
	echo none >app
	for c in blue red; do
		cat >enter <<-END
			mount --bind $c app
			chmod +x app
			./app >$c.pid &
			read -r go <$c.go
			for what in run record; do
				[ \$what = run ] || "$PERF_BPF" record -q -e cpu-clock:u -o $c.data -p \$! -- $UNTIL_USED \$!
				[ \$what = run ] || "$PERF_BPF" report -i $c.data -s pid,sym >$c.record
				[ \$what = record ] || "$PERF_BPF" run profile -F 999 --folded -p \$! -- $UNTIL_USED \$! >$c.run
			done 2>$c.err
			: >$c.done
			read -r go <$c.go
		END
		mkfifo $c.go
		cp enter enter.$c
		unshare --pid --fork --kill-child -m --mount-proc bash ./enter.$c &
		eval $c=\$!
	done
	soon test -s blue.pid
	soon test -s red.pid
	assert_equal "$(cat blue.pid)" "$(cat red.pid)"
	for c in blue red; do
		other=$([ $c = blue ] && echo red || echo blue)
		for pid in $(pgrep -x app); do
			[ "$(readlink /proc/$pid/ns/pid)" = "$(readlink "/proc/${!c}/ns/pid_for_children")" ] ||
				continue
			expect_status 0 "$PERF_BPF" record -q -e cpu-clock:u -o outer -p $pid -- $UNTIL_USED $pid
			expect_status 0 "$PERF_BPF" report -i outer -s pid,sym
			assert_contains out ${c}_work
			assert_contains out $pid:app
			! grep ${other}_work out || fail "the program of the other container"
			expect_status 0 "$PERF_BPF" run profile -F 999 --folded -p $pid -- $UNTIL_USED $pid
			assert_contains out ${c}_work
			! grep ${other}_work out || fail "the program of the other container"
			echo $c >>seen
		done
		echo go >$c.go
		soon test -e $c.done
		assert_contains $c.run ${c}_work
		assert_contains $c.record ${c}_work
		assert_contains $c.record "$(cat $c.pid):app"
		echo end >$c.go
	done
	assert_equal "$(sort seen | tr '\n' ' ')" "blue red "
}

# The code of functions, live samples and the stacks of system calls, in the same way.
test_views_of_two_containers() {
	local c other pid
	needs
	build blue
	build red
	echo none >app
	cat >views <<-'END'
		# NAME PID: the files NAME.annotate, NAME.stacks and NAME.top
		"$PERF_BPF" record -q -e cpu-clock:u -o $1.data -p $2 -- $UNTIL_USED $2
		"$PERF_BPF" annotate -i $1.data --stdio >$1.annotate
		"$PERF_BPF" trace -e getppid --call-graph dwarf -p $2 -- $UNTIL_USED $2 2>$1.stacks
		"$PERF_BPF" top --stdio -d 0.1 -e cpu-clock:u -p $2 >$1.top &
		top=$!
		until grep -q _work $1.top; do
			kill -0 $top
			sleep 0.02
		done
		kill $top
		wait $top
	END
	export PERF_BPF UNTIL_USED
	for c in blue red; do
		cat >enter.$c <<-END
			mount --bind $c app
			chmod +x app
			./app >$c.pid &
			read -r go <$c.go
			bash -e views $c.inside \$! 2>$c.err
			: >$c.done
			read -r go <$c.go
		END
		mkfifo $c.go
		unshare --pid --fork --kill-child -m --mount-proc bash ./enter.$c &
		eval $c=\$!
	done
	soon test -s blue.pid
	soon test -s red.pid
	assert_equal "$(cat blue.pid)" "$(cat red.pid)"
	for c in blue red; do
		other=$([ $c = blue ] && echo red || echo blue)
		for pid in $(pgrep -x app); do
			[ "$(readlink /proc/$pid/ns/pid)" = "$(readlink "/proc/${!c}/ns/pid_for_children")" ] ||
				continue
			bash -e views $c.outside $pid 2>err || fail "$(cat err)"
			echo $c >>seen
		done
		echo go >$c.go
		soon test -e $c.done
		for from in outside inside; do
			assert_contains $c.$from.annotate ${c}_work
			assert_contains $c.$from.top ${c}_work
			assert_contains $c.$from.stacks ${c}_call
			! grep -E "${other}_(work|call)" $c.$from.* || fail "the program of the other container"
		done
		echo end >$c.go
	done
	assert_equal "$(sort seen | tr '\n' ' ')" "blue red "
}

# The id of a process that has ended becomes another's, which is not traced; a child with a new id is.
test_ids_that_are_used_again() {
	needs
	cat >reuse.c <<-'END'
		#define _GNU_SOURCE
		#include <linux/sched.h>
		#include <signal.h>
		#include <stdint.h>
		#include <stdio.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <time.h>
		#include <unistd.h>
		enum { FIRST = 30000, SECOND, CHILD };
		/* as fork(), with this id */
		static pid_t fork_as(pid_t id)
		{
			struct clone_args args = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&id, .set_tid_size = 1};
			return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
		}
		/* Its caller is in the stack, above the function of libc, which has no frame. */
		__attribute__((noinline)) static void nap(void)
		{
			const struct timespec time = {.tv_nsec = 10000000};
			for (int i = 0; i < 5; i++)
				syscall(SYS_nanosleep, &time, NULL);
		}
		#define NAP(n) __attribute__((noinline)) static void nap_##n(void) { nap(); __asm__ volatile(""); }
		NAP(1)
		NAP(2)
		NAP(3)
		NAP(4)
		static void (*const naps[])(void) = {nap_1, nap_2, nap_3, nap_4};
		__attribute__((noinline)) void work(int n)
		{
			syscall(SYS_getpgid, 4000000 + n);
			naps[n - 1]();
		}
		int main(void)
		{
			int one[2], two[2];
			char c, line[8];
			if (pipe(one) || pipe(two))
				return 1;
			const pid_t first = fork_as(FIRST);
			if (!first)
				return read(one[0], &c, 1) == 1 ? work(1), 0 : 1;
			const pid_t second = fork_as(SECOND);
			if (!second) {
				if (read(two[0], &c, 1) != 1)
					return 1;
				if (!fork_as(CHILD))
					return work(3), 0;
				wait(NULL);
				return work(4), 0;
			}
			if (first < 0 || second < 0)
				return perror("clone3"), 1;
			puts("ready");
			fflush(stdout);
			if (read(0, line, sizeof(line)) <= 0 || write(one[1], "", 1) != 1 || waitpid(first, NULL, 0) != first)
				return 1;
			const pid_t again = fork_as(FIRST);
			if (!again)
				return work(2), 0;
			if (again != first || waitpid(again, NULL, 0) != again || write(two[1], "", 1) != 1 ||
			    waitpid(second, NULL, 0) != second)
				return 1;
			puts("done");
		}
	END
	gcc -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o reuse reuse.c
	mkfifo go
	in_pid_ns <<-'END'
		exec 3<>go
		cat >use <<-'SH'
			echo go >go
			until grep -q done said; do
				kill -0 $1 || grep -q done said # it may have ended since
				sleep 0.02
			done
		SH
		# measure COMMAND...: of the two processes
		measure() {
			: >said
			./reuse <go >said 3<&- &
			reuse=$!
			soon grep -q ready said
			expect_status 0 "$@" -- sh -e use $reuse
			wait $reuse
		}
		for by in -p -t "-i -p"; do
			! has attach.uprobe || measure "$PERF_BPF" record -q -N -o data -e 'probe:exec=./reuse;work n' $by 30000,30001
			! has attach.uprobe || expect_status 0 "$PERF_BPF" script -i data -F trace
			! has attach.uprobe || assert_equal "$by: $(grep -o 'n=[0-9]' out | paste -sd ' ')" \
				"$by: $([ "$by" = "-i -p" ] && echo n=1 n=4 || echo n=1 n=3 n=4)"
			measure "$PERF_BPF" record -q -N -o data --off-cpu -e dummy $by 30000,30001
			expect_status 0 "$PERF_BPF" script -i data -F ip,sym
			assert_equal "$by: $(grep -o 'nap_[0-9]' out | sort -u | paste -sd ' ')" \
				"$by: $([ "$by" = "-i -p" ] && echo nap_1 nap_4 || echo nap_1 nap_3 nap_4)"
		done
		for by in -p -t; do
			measure "$PERF_BPF" trace --log calls -e getpgid $by 30000,30001
			assert_equal "$by: $(grep -o 400000[0-9] calls | paste -sd ' ')" "$by: 4000001 4000003 4000004"
		done
	END
}

# Probes, the programs of objects and the trace of one container, from outside and from inside: the
# function that is probed is one of a library that both use.
test_probes_of_two_containers() {
	local c other pid libc
	needs
	has attach.uprobe || skip "the kernel has no uprobes"
	build blue
	build red
	echo none >app
	for c in blue red; do
		cat >enter.$c <<-END
			mount --bind $c app
			chmod +x app
			./app >$c.pid &
			libc=\$(awk '\$2 ~ /x/ && /libc.so/ { print \$6 }' /proc/self/maps)
			echo "\$libc" >libc
			read -r go <$c.go
			"$PERF_BPF" record -q -N -o $c.data -e "probe:exec=\$libc;getppid" -p \$! -- $UNTIL_USED \$! 2>$c.err
			"$PERF_BPF" script -i $c.data -F comm,pid,sym >$c.probe
			"$PERF_BPF" trace -e getppid -p \$! -- $UNTIL_USED \$! 2>$c.trace
			: >$c.done
			read -r go <$c.go
		END
		mkfifo $c.go
		unshare --pid --fork --kill-child -m --mount-proc bash ./enter.$c &
		eval $c=\$!
	done
	soon test -s blue.pid
	soon test -s red.pid
	assert_equal "$(cat blue.pid)" "$(cat red.pid)"
	for c in blue red; do
		other=$([ $c = blue ] && echo red || echo blue)
		for pid in $(pgrep -x app); do
			[ "$(readlink /proc/$pid/ns/pid)" = "$(readlink "/proc/${!c}/ns/pid_for_children")" ] ||
				continue
			# the function has its name from the mapping of the process
			expect_status 0 "$PERF_BPF" record -q -N -g -o outer -e "probe:exec=$(cat libc);getppid" -p $pid -- $UNTIL_USED $pid
			expect_status 0 "$PERF_BPF" script -i outer -F pid
			assert_equal "$(grep . out | sort -u | tr -d ' ')" $pid
			"$PERF_BPF" trace -e getppid -p $pid -- $UNTIL_USED $pid 2>trace
			assert_contains trace "app/$pid getppid"
			! grep getppid trace | grep -vE "until_used/|app/$pid " || fail "another process was traced"
			echo $c >>seen
		done
		echo go >$c.go
		soon test -e $c.done
		assert_equal "$(awk '{ print $1, $2 }' $c.probe | sort -u)" "app $(cat $c.pid)"
		assert_contains $c.trace "app/$(cat $c.pid) getppid"
		! grep getppid $c.trace | grep -vE "until_used/|app/$(cat $c.pid) " || fail "another process was traced"
		echo end >$c.go
	done
	assert_equal "$(sort seen | tr '\n' ' ')" "blue red "
}

# Functions of a JIT: the file is named by the id inside of the container, and the container's links
# lead to files inside of it.
test_perf_map_in_a_container() {
	local pid
	needs
	cat >jit.c <<-'END'
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <unistd.h>
		int main(void)
		{
			/* dec %edi; jnz to the start; ret */
			static const unsigned char loop[] = {0xff, 0xcf, 0x75, 0xfc, 0xc3};
			void *code = mmap(NULL, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			char path[64];
			memcpy(code, loop, sizeof(loop));
			snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
			FILE *f = fopen(path, "w");
			fprintf(f, "%lx 1000 jitted_loop\n", (unsigned long)code);
			fclose(f);
			printf("%d\n", getpid());
			fflush(stdout);
			for (;;)
				((void (*)(int))code)(1000000);
		}
	END
	[ "$(uname -m)" = x86_64 ] || skip "its code is for x86_64"
	mkdir -p root/files
	gcc -O1 -static -o root/jit jit.c || skip "no static libc"
	ln -s /files root/tmp
	unshare --pid --fork --kill-child chroot root /jit >pid &
	soon test -s pid
	assert_equal "$(cat pid)" 1
	pid=$(pgrep -P $!)
	expect_status 0 "$PERF_BPF" run profile -F 999 --folded -p $pid -- $UNTIL_USED $pid
	assert_contains out jitted_loop
	"$PERF_BPF" top --stdio -d 0.1 -e cpu-clock:u -p $pid -s sym >top &
	top=$!
	soon grep -q jitted_loop top
	kill $top
	wait $top || true
	# Another process opens it for those that have given up the right to.
	expect_status 0 "$PERF_BPF" record -q -e cpu-clock:u -o data -p $pid -- $UNTIL_USED $pid
	for command in "report -s sym" "report --json" "script -F ip,sym"; do
		expect_status 0 "$PERF_BPF" $command -i data
		assert_contains out jitted_loop
	done
	# Not one of another user, and not that of a later process.
	chown 4242 root/files/perf-1.map
	expect_status 0 "$PERF_BPF" report -i data -s sym
	! grep jitted_loop out || fail "names of another user"
	assert_contains err "it belongs to user 4242"
	chown 0 root/files/perf-1.map
	touch -d "2001-01-01" data
	expect_status 0 "$PERF_BPF" report -i data -s sym
	! grep jitted_loop out || fail "names of a later process"
}

run_tests
