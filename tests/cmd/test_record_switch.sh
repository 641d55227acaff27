#!/usr/bin/env bash
# record --switch-output: several files of one recording, each of which has all that is needed to
# read it, and all together what the workload has counted.
. "$(dirname "$0")/../tap.sh"

TRACEFS=/sys/kernel/tracing
PERF=$(command -v perf || true)
# A system call that nobody else makes meanwhile.
EVENT=syscalls:sys_enter_getpriority

need() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -d $TRACEFS/events ] || mount -t tracefs nodev $TRACEFS 2>/dev/null || true
	[ -d $TRACEFS/events/syscalls ] || skip "tracefs or its syscall events cannot be had"
	command -v gcc >/dev/null || skip "gcc is not installed"
}

# pbt_switch FILES signal|wait: calls, as do a child of another name and many short-lived ones, and
# prints the number of all calls. It goes on until the recorder has completed so many files, for each
# of which it sends a signal, or waits.
build_work() {
	cat >pbt_switch.c <<-'END'
		#include <glob.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/prctl.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <unistd.h>

		static struct shared { int stop; unsigned long calls; } *shared;

		static __attribute__((noinline)) void call_it(void)
		{
			long r = SYS_getpriority;

			__atomic_fetch_add(&shared->calls, 1, __ATOMIC_RELAXED);
			__asm__ volatile("syscall" : "+a"(r) : "D"(0L), "S"(0L) : "rcx", "r11", "memory");
		}

		static void calls(int n, const char *name)
		{
			if (name)
				prctl(PR_SET_NAME, name);
			while (n--)
				call_it();
		}

		static void other(int n, const char *name)
		{
			if (!fork()) {
				calls(n, name);
				_exit(0);
			}
		}

		/* How often the newest file was another one than before. */
		static unsigned switches(void)
		{
			static char newest[64];
			static unsigned n;
			glob_t g;

			if (!glob("t.data.2*", 0, NULL, &g) && strcmp(newest, g.gl_pathv[g.gl_pathc - 1])) {
				snprintf(newest, sizeof(newest), "%s", g.gl_pathv[g.gl_pathc - 1]);
				n++;
			}
			globfree(&g);
			return n;
		}

		int main(int argc, char **argv)
		{
			const unsigned wanted = atoi(argv[1]);

			shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
			const pid_t child = fork();
			if (!child) {
				while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
					calls(1, "pbt_child");
					usleep(2000);
				}
				_exit(0);
			}
			calls(1000, NULL);
			for (unsigned now = switches(), asked = wanted; now < wanted; now = switches()) {
				if (!strcmp(argv[2], "signal") && now != asked)
					kill(getppid(), SIGUSR2);
				asked = now;
				calls(50, NULL);
				other(10, "pbt_short");
				while (waitpid(-1, NULL, WNOHANG) > 0)
					;
				usleep(20000);
			}
			calls(1000, NULL);
			shared->stop = 1;
			while (wait(NULL) > 0)
				;
			printf("%lu\n", shared->calls);
			return 0;
		}
	END
	gcc -O1 -fno-omit-frame-pointer -o pbt_switch pbt_switch.c
}

# record N WAY OPTION...
record() {
	local n=$1 way=$2
	shift 2
	"$PERF_BPF" record -N -m 4M -e $EVENT -g "$@" -o t.data -- ./pbt_switch $n $way >calls 2>record.err ||
		{ sed 's/^/# | /' record.err; fail "record $*"; }
	assert_contains record.err ', 0 lost)'
	[ ! -e t.data ] || fail "t.data has no date"
	[ -z "$(find . -name '.perf-bpf.*')" ] || fail "a file has no name"
	ls t.data.2* >files
}

# assert_complete READER CODE: in each file, the tasks have their names, and their code the one that
# the pattern is for: all files together have as many such samples as there were calls. Other
# processes may call meanwhile, of which -a has samples.
assert_complete() {
	local file n bad sum=0
	while read -r file; do
		"$1" script -i "$file" -F comm,ip,sym,dso >text 2>err || { cat err; fail "$file cannot be read"; }
		awk -v RS= -v code="$2" '!/^ *pbt_(switch|child|short)[ \n]/ { next }
			{ n++ } $0 !~ code { bad++ } END { print n + 0, bad + 0 }' text >counts
		read -r n bad <counts
		[ "$bad" = 0 ] || { head -n 12 text; fail "$file: $bad of $n samples have no code"; }
		sum=$((sum + n))
	done <files
	assert_equal "$sum" "$(cat calls)"
}

# perf takes a binary below /tmp/perf-... for the list of a JIT's functions.
assert_complete_for_all() {
	assert_complete "$PERF_BPF" ' call_it [(].*/pbt_switch[)]'
	[ -z "$PERF" ] || assert_complete "$PERF" ' [(].*/pbt_switch[)]'
}

test_by_signal() {
	need
	build_work
	record 3 signal --switch-output
	[ "$(wc -l <files)" -ge 4 ] || fail "$(cat files)"
	assert_complete_for_all
	assert_equal "$(sed -n 's/^\[ perf-bpf record: Dump \(.*\) \]$/\1/p' record.err)" "$(cat files)"
	grep -qE 'Captured and wrote .* t\.data\.<timestamp> \(' record.err || fail "$(cat record.err)"
}

test_by_time() {
	need
	build_work
	record 2 wait --switch-output=1s
	[ "$(wc -l <files)" -ge 3 ] || fail "$(cat files)"
	assert_complete_for_all
}

# Compressed, by the size of what is in the file.
test_by_size() {
	need
	build_work
	record 3 wait --switch-output=20K -z
	[ "$(wc -l <files)" -ge 4 ] || fail "$(cat files)"
	assert_complete_for_all
}

# Of all processes, those that began before the recording and in an earlier file have their names.
test_of_the_whole_system() {
	need
	build_work
	record 2 signal -a --switch-output=signal
	[ "$(wc -l <files)" -ge 3 ] || fail "$(cat files)"
	assert_complete_for_all
	sleep 1000 &
	local before=$!
	soon grep -q sleep /proc/$before/comm
	rm t.data.2*
	record 2 signal -a --switch-output=signal
	kill $before
	while read -r file; do
		"$PERF_BPF" report --tasks -i "$file" | grep -qE "^ +$before .* sleep$" || fail "$file does not have the process $before"
	done <files
}

test_only_the_last_files_stay() {
	need
	build_work
	record 4 signal --switch-output --switch-max-files=2
	sed -n 's/^\[ perf-bpf record: Dump \(.*\) \]$/\1/p' record.err >dumped
	[ "$(wc -l <dumped)" -ge 5 ] || fail "$(cat dumped)"
	assert_equal "$(cat files)" "$(tail -n 2 dumped)"
	assert_equal "$(sort -u dumped | wc -l)" "$(wc -l <dumped)"
}

test_what_cannot_be_switched() {
	need
	expect_status 1 "$PERF_BPF" record --switch-output -o - -- true
	expect_status 2 "$PERF_BPF" record --switch-output=5 -o t.data -- true
	expect_status 2 "$PERF_BPF" record --switch-max-files=5 -o t.data -- true
	expect_status 1 "$PERF_BPF" record --switch-output -o /dev/null -- true
	assert_contains err "'/dev/null' is not a regular file"
	[ ! -e t.data ] || fail "a recording was begun"
}

run_tests
