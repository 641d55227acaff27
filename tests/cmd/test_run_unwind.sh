#!/usr/bin/env bash
# run --call-graph dwarf: user stacks of programs without frame pointers, walked in the kernel.
. "$(dirname "$0")/../tap.sh"

need_root() {
	[ "$(id -u)" = 0 ] || skip "loading a BPF program takes root"
}

# Each part burns CPU time until the process has used as many milliseconds as the argument says.
burner() {
	cat >burn.h <<-'END'
		#include <stdlib.h>
		#include <time.h>
		#ifdef __clang__
		#define NOINLINE __attribute__((noinline))
		#else
		#define NOINLINE __attribute__((noipa))
		#endif
		static volatile unsigned long sink;
		static inline int is_over(int ms)
		{
			struct timespec t;
			for (int i = 0; i < 20000; i++)
				sink += i;
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
			return t.tv_sec * 1000 + t.tv_nsec / 1000000 >= ms;
		}
	END
}

# profiles COMMAND...: the stacks of the command of that name, as JSON.
profiles() {
	"$PERF_BPF" run profile -e cpu-clock -F 999 --call-graph dwarf --comm "$(basename "$1")" \
		--json -- "$@" >json 2>log || { cat json log; fail "perf-bpf run profile fails"; }
}

# stacks CODE: stacks is a list of (count, [function...]), the innermost first; loaded is how many
# stacks were taken when the tables were there, ends(TEXT) how many of the note have that end.
stacks() {
	python3 - "$1" <<-'END' || { cat log; fail "the stacks are wrong"; }
		import json, re, sys
		m = [json.loads(l) for l in open("json") if l.startswith("{")][-1]
		stacks = [(s["count"], [f["name"] for f in s["frames"]]) for s in m["stacks"]]
		total = int(re.search(r"% of (\d+) user stacks", m["note"])[1])
		def ends(text):
		    found = re.search(r"(\d+) " + text, m["note"])
		    return int(found[1]) if found else 0
		loaded = total - ends("were taken before")
		def count(is_right):
		    return sum(n for n, names in stacks if is_right(names))
		try:
		    exec(sys.argv[1])
		except BaseException:
		    print(m["note"])
		    for n, names in stacks[:20]:
		        print(n, names)
		    raise
	END
}

STARTS="('main', '_start', 'start_thread', 'clone', 'clone3', '__clone3', 'thread_start')"

# Nothing but the samples before the tables were loaded may be incomplete.
are_complete() {
	stacks "
starts = $STARTS
reached = count(lambda names: any(n in starts for n in names))
assert loaded >= 30, loaded
assert reached >= 0.95 * loaded, (reached, loaded, total)
share = float(re.match(r'([\d.]+) %', m['note'])[1])
assert abs(share / 100 * total - (loaded - ends('have more') - ends('lead to') - ends('do not fit'))) <= 1 + total / 1000, share"
}

test_cxx_server_reaches_the_start_of_its_threads() {
	need_root
	command -v c++ >/dev/null || skip "no C++ compiler"
	burner
	cat >pbt_server.cc <<-'END'
		#include "burn.h"
		#include <csignal>
		#include <cstring>
		#include <map>
		#include <string>
		#include <thread>
		#include <vector>
		static int ms;
		NOINLINE static int compare(const void *a, const void *b)
		{
			for (int i = 0; i < 50; i++)
				sink += i;
			return *(const int *)a - *(const int *)b;
		}
		struct Handler {
			virtual ~Handler() = default;
			virtual void handle(int depth) = 0;
		};
		struct Parse : Handler {
			NOINLINE void handle(int depth) override;
		};
		struct Execute : Handler {
			NOINLINE void handle(int depth) override;
		};
		void Parse::handle(int depth)
		{
			if (depth)
				Execute().handle(depth - 1);
			sink++;
		}
		void Execute::handle(int depth)
		{
			alignas(64) char row[512];
			memset(row, depth, sizeof(row));
			for (int i = 0; i < 300; i++)
				sink += row[i];
			if (depth)
				Parse().handle(depth - 1);
			sink++;
		}
		NOINLINE static void on_signal(int)
		{
			for (int i = 0; i < 30000; i++)
				sink += i;
		}
		NOINLINE static void serve()
		{
			do {
				int values[200];
				std::map<std::string, int> rows;
				Parse().handle(12);
				for (int &value : values)
					value = rand();
				qsort(values, 200, sizeof(*values), compare);
				for (int i = 0; i < 100; i++)
					rows[std::to_string(i)] = i;
				raise(SIGUSR1);
			} while (!is_over(ms));
		}
		int main(int argc, char **argv)
		{
			std::vector<std::thread> threads;
			ms = atoi(argv[1]);
			signal(SIGUSR1, on_signal);
			for (int i = 0; i < 2; i++)
				threads.emplace_back(serve);
			serve();
			for (std::thread &thread : threads)
				thread.join();
			return 0;
		}
	END
	c++ -O2 -fomit-frame-pointer -pthread -o pbt_server pbt_server.cc || fail "it is not compiled"
	profiles ./pbt_server 900
	are_complete
	# A signal interrupts its handler's caller, in its own thread.
	stacks "
whole = count(lambda names: 'on_signal' in names and 'serve' in names and
              names.index('on_signal') < names.index('serve'))
assert whole >= 10, whole
assert count(lambda names: 'on_signal' in names) - whole <= total - loaded"
	# By frame pointers, they are not.
	"$PERF_BPF" run profile -e cpu-clock -F 999 --call-graph fp --comm pbt_server --json -- \
		./pbt_server 100 >json 2>log || fail "perf-bpf run profile fails"
	! grep '"note".*complete' json || fail "a share is shown that was not counted"
}

test_rust_program_reaches_main() {
	need_root
	command -v rustc >/dev/null || skip "rustc is not installed"
	rustc -O -o pbt_rust "$SRC/bench/unwind_work.rs" 2>rustc.err || skip "rustc does not work here"
	profiles ./pbt_rust 1
	are_complete
}

# Stacks of more frames than there is room for are cut, and counted.
test_deep_recursion_is_cut() {
	need_root
	burner
	cat >pbt_deep.c <<-'END'
		#include "burn.h"
		NOINLINE static int deep(int n, int ms)
		{
			int over = 0;
			if (n)
				over = deep(n - 1, ms);
			else
				while (!is_over(ms))
					;
			sink++;
			return over;
		}
		int main(int argc, char **argv)
		{
			deep(60, 200);
			return deep(300, 500);
		}
	END
	gcc -O1 -fno-optimize-sibling-calls -fomit-frame-pointer -o pbt_deep pbt_deep.c || fail "it is not compiled"
	profiles ./pbt_deep
	stacks "
assert ends('have more than 127 frames') >= 30, m['note']
assert ends('do not fit') == 0 and ends('lead to') == 0, m['note']
assert max(names.count('deep') for n, names in stacks) == 127
whole = count(lambda names: names.count('deep') == 61)
assert whole and whole == count(lambda names: names.count('deep') == 61 and 'main' in names)"
}

# A library that is mapped later, in a process that has run another program before.
test_later_mappings_are_loaded() {
	need_root
	burner
	cat >late.c <<-'END'
		#include "burn.h"
		NOINLINE void in_library(int ms)
		{
			while (!is_over(ms))
				;
			sink++;
		}
	END
	cat >pbt_late.c <<-'END'
		#include "burn.h"
		#include <dlfcn.h>
		#include <unistd.h>
		NOINLINE static void before(int ms)
		{
			while (!is_over(ms))
				;
			sink++;
		}
		NOINLINE static void after(void (*fn)(int), int ms)
		{
			fn(ms);
			sink++;
		}
		int main(int argc, char **argv)
		{
			before(argc == 1 ? 200 : 400);
			if (argc == 1)
				execl(argv[0], argv[0], "again", NULL);
			after(dlsym(dlopen("./late.so", RTLD_NOW), "in_library"), 900);
			return 0;
		}
	END
	gcc -O2 -fomit-frame-pointer -shared -fPIC -o late.so late.c &&
		gcc -O2 -fomit-frame-pointer -o pbt_late pbt_late.c -ldl || fail "it is not compiled"
	profiles ./pbt_late
	are_complete
	stacks "
whole = count(lambda names: 'in_library' in names and 'after' in names and 'main' in names)
assert whole >= 20, whole
assert count(lambda names: 'in_library' in names) - whole <= total - loaded"
}

# The tables of -p are loaded before the first sample, and not used for another program.
test_tables_of_targets_are_loaded_first() {
	need_root
	burner
	cat >pbt_target.c <<-'END'
		#include "burn.h"
		#include <stdio.h>
		#include <unistd.h>
		NOINLINE static void inner(int ms)
		{
			while (!is_over(ms))
				;
			sink++;
		}
		int main(int argc, char **argv)
		{
			char c;
			fclose(fopen("ready", "w"));
			if (read(0, &c, 1) == 1)
				inner(300);
			if (argc == 1)
				execl(argv[0], argv[0], "again", NULL);
			return 0;
		}
	END
	gcc -O2 -fomit-frame-pointer -o pbt_target pbt_target.c || fail "it is not compiled"
	mkfifo go
	./pbt_target again <go &
	target=$!
	exec 9>go
	soon test -e ready
	"$PERF_BPF" run profile -e cpu-clock -F 999 --call-graph dwarf -p $target --json --verbose >json 2>log &
	run=$!
	soon grep -q "is attached" log
	echo x >&9
	wait $run || { cat log; fail "perf-bpf run profile fails"; }
	wait $target
	exec 9>&-
	stacks "
assert total >= 30 and not ends('were taken before'), m['note']
assert count(lambda names: 'inner' in names and 'main' in names) >= 30, m['note']"
	# It has run another program meanwhile.
	rm ready
	bash -c 'read -r; exec ./pbt_target again' <go &
	target=$!
	exec 9>go
	"$PERF_BPF" run profile -e cpu-clock -F 999 --call-graph dwarf -p $target --json --verbose >json 2>log &
	run=$!
	soon grep -q "is attached" log
	printf 'x\nx' >&9
	wait $run || { cat log; fail "perf-bpf run profile fails"; }
	wait $target
	exec 9>&-
	stacks "
whole = count(lambda names: 'inner' in names and 'main' in names)
assert whole >= 20, (whole, m['note'])
assert count(lambda names: 'inner' in names) - whole <= total - loaded, m['note']"
}

# Another library is mapped where one was: its frames are of another size, and its callers are found
# once the kernel's record of it was read.
test_mappings_that_are_replaced() {
	need_root
	burner
	cat >library.c <<-'END'
		#include "burn.h"
		#define CALLED_(name) name##_library
		#define CALLED(name) CALLED_(name)
		#define SKIP_(size) asm(".text\n.skip " #size)
		#define SKIP(size) SKIP_(size)
		SKIP(BEFORE);
		NOINLINE void CALLED(NAME)(int ms)
		{
			volatile char room[SIZE];
			for (int i = 0; i < SIZE; i++)
				room[i] = i;
			while (!is_over(ms))
				;
			sink += room[ms % SIZE];
		}
		void called(int ms)
		{
			CALLED(NAME)(ms);
			sink++;
		}
		SKIP(AFTER);
	END
	cat >pbt_replace.c <<-'END'
		#include "burn.h"
		#include <dlfcn.h>
		#include <stdio.h>
		NOINLINE static unsigned long runs(const char *path, int ms)
		{
			void *library = dlopen(path, RTLD_NOW);
			void (*called)(int) = (void (*)(int))dlsym(library, "called");
			called(ms);
			dlclose(library);
			sink++;
			return (unsigned long)called / 4096;
		}
		int main(void)
		{
			unsigned long first = runs("./first.so", 400), second = runs("./second.so", 1100);
			fprintf(stderr, "%s\n", first == second ? "the same place" : "another place");
			return 0;
		}
	END
	local build="gcc -O2 -fomit-frame-pointer -fno-toplevel-reorder -shared -fPIC"
	$build -DNAME=first -DSIZE=200 -DBEFORE=64 -DAFTER=2048 -o first.so library.c &&
		$build -DNAME=second -DSIZE=1000 -DBEFORE=2048 -DAFTER=64 -o second.so library.c &&
		gcc -O2 -fomit-frame-pointer -o pbt_replace pbt_replace.c -ldl || fail "it is not compiled"
	profiles ./pbt_replace
	assert_contains log "the same place"
	stacks "
whole = count(lambda names: names[:4] == ['second_library', 'called', 'runs', 'main'])
assert whole >= 20, (whole, m['note'])"
}

# More processes than there is room for: those that have ended give theirs back, and where all run,
# those that are sampled get it.
test_more_processes_than_there_is_room_for() {
	need_root
	burner
	cat >pbt_many.c <<-'END'
		#include "burn.h"
		#include <sys/wait.h>
		#include <unistd.h>
		NOINLINE static void one(int ms)
		{
			while (!is_over(ms))
				;
			sink++;
		}
		NOINLINE static void last(int ms)
		{
			one(ms);
			sink++;
		}
		int main(int argc, char **argv)
		{
			int n = atoi(argv[1]), done[2];
			char c;
			pipe(done);
			for (int i = 0; i < n; i++) {
				if (!fork()) {
					one(8);
					close(done[1]);
					return argc > 2 && read(done[0], &c, 1);
				}
				if (argc == 2)
					wait(NULL);
			}
			if (!fork()) {
				last(700);
				return 0;
			}
			close(done[1]);
			while (wait(NULL) > 0)
				;
			return 0;
		}
	END
	gcc -O2 -fomit-frame-pointer -o pbt_many pbt_many.c || fail "it is not compiled"
	for how in "60" "20 beside"; do
		# shellcheck disable=SC2086
		"$PERF_BPF" run profile -e cpu-clock -F 999 --call-graph dwarf --comm pbt_many \
			--map-entries perf_bpf_unwind_tasks=8 --json -- ./pbt_many $how >json 2>log ||
			{ cat log; fail "perf-bpf run profile fails"; }
		stacks "
whole = count(lambda names: 'last' in names and names[names.index('last') + 1:][:1] == ['main'])
assert whole >= 30, ('$how', whole, m['note'])"
	done
}

test_static_programs() {
	need_root
	burner
	cat >pbt_static.c <<-'END'
		#include "burn.h"
		NOINLINE static void inner(int ms)
		{
			while (!is_over(ms))
				;
			sink++;
		}
		NOINLINE static void outer(int ms)
		{
			inner(ms);
			sink++;
		}
		int main(void)
		{
			outer(300);
			return 0;
		}
	END
	for how in -static-pie -static -no-pie; do
		gcc -O2 -fomit-frame-pointer $how -o pbt_static pbt_static.c || fail "it is not compiled"
		profiles ./pbt_static
		are_complete
		stacks "
assert count(lambda names: 'inner' in names and 'outer' in names and 'main' in names) >= 30"
	done
	# A file whose table has no room is said.
	"$PERF_BPF" run profile -e cpu-clock -F 999 --call-graph dwarf --comm pbt_static \
		--map-entries perf_bpf_unwind_rows=4 -- ./pbt_static >out 2>log || { cat log; fail "perf-bpf run fails"; }
	grep -q "the unwind tables of [1-9][0-9]* files had no room; for more room use --map-entries perf_bpf_unwind_rows=16" log ||
		{ cat log; fail "it is not said that there is no room"; }
}

# A program of one's own, with the header.
test_own_program() {
	need_root
	burner
	cat >own.bpf.c <<-'END'
		#include <bpf/perf_bpf_unwind.h>
		#include <bpf/perf_bpf_prog.h>

		PERF_BPF_STACKS(samples, 4096, "samples", "stacks");
		PERF_BPF_COUNT(frames, "frames", "frames of stacks");
		struct {
			__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
			__uint(max_entries, 1);
			__type(key, __u32);
			__type(value, struct perf_bpf_stack);
		} own SEC(".maps") PERF_BPF_SHOW("none");

		SEC("perf_event")
		int sample(void *ctx)
		{
			struct perf_bpf_stack *stack;
			__u32 zero = 0;
			long size;

			if (!perf_bpf_wanted())
				return 0;
			perf_bpf_user_stack_add(ctx, samples, 1);
			stack = bpf_map_lookup_elem(&own, &zero);
			if (!stack)
				return 0;
			size = perf_bpf_user_stack(stack->ips);
			if (size > 0)
				perf_bpf_count(&frames, size / 8);
			return 0;
		}

		license(GPL);
	END
	cat >pbt_own.c <<-'END'
		#include "burn.h"
		int main(void)
		{
			while (!is_over(400))
				;
			return 0;
		}
	END
	gcc -O2 -fomit-frame-pointer -o pbt_own pbt_own.c || fail "it is not compiled"
	"$PERF_BPF" run own.bpf.c -e cpu-clock -F 999 --call-graph dwarf --comm pbt_own --json -- ./pbt_own >json 2>log ||
		{ cat log; fail "perf-bpf run fails"; }
	python3 - <<-'END' || { cat json; fail "the stacks are wrong"; }
		import json, re
		m = {l["map"]: l for l in map(json.loads, open("json"))}
		stacks = m["samples"]["stacks"]
		whole = sum(s["count"] for s in stacks if any(f["name"] == "main" for f in s["frames"]))
		assert whole >= 30, whole
		# Each sample is walked twice; the second time, its frames are counted: _start,
		# __libc_start_main, __libc_start_call_main, main.
		note = m["samples"]["note"]
		walked = int(re.search(r"% of (\d+) user stacks", note)[1])
		before = re.search(r"(\d+) were taken before", note)
		loaded = walked - (int(before[1]) if before else 0)
		assert loaded >= 60, note
		assert m["frames"]["count"] >= 3 * (loaded // 2), (m["frames"], note)
	END
}

# Programs at tracepoints: the registers are those of the system call, or of the page fault.
test_other_builtin_programs() {
	need_root
	burner
	cat >pbt_waits.c <<-'END'
		#include "burn.h"
		#include <sys/mman.h>
		NOINLINE static void waits(void)
		{
			nanosleep(&(struct timespec){0, 10000000}, NULL);
			sink++;
		}
		NOINLINE static void touches(void)
		{
			char *p = mmap(NULL, 40960, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			madvise(p, 40960, MADV_NOHUGEPAGE);
			for (int i = 0; i < 10; i++)
				p[i * 4096] = 1;
			munmap(p, 40960);
			sink++;
		}
		NOINLINE static void middle(int n)
		{
			for (int i = 0; i < n; i++) {
				touches();
				waits();
			}
			sink++;
		}
		int main(void)
		{
			middle(60);
			return 0;
		}
	END
	gcc -O2 -fomit-frame-pointer -o pbt_waits pbt_waits.c || fail "it is not compiled"
	"$PERF_BPF" run offcputime pagefaults --call-graph dwarf --comm pbt_waits --json -- ./pbt_waits >both 2>log ||
		{ cat log; fail "perf-bpf run fails"; }
	grep '"map":"off_cpu"' both >json
	grep '"map":"faults"' both >faults
	stacks "
slept = [(n, names) for n, names in stacks if 'waits' in names]
assert sum(n for n, names in slept) >= 300000, slept
whole = sum(n for n, names in slept if names[names.index('waits'):][:3] == ['waits', 'middle', 'main'])
assert whole >= 300000, (whole, slept)
faults = [(s['count'], [f['name'] for f in s['frames']]) for s in json.loads(open('faults').read())['stacks']]
touched = sum(n for n, names in faults if names[:3] == ['touches', 'middle', 'main'])
assert touched >= 300, (touched, faults)"
}

# The note on unwound stacks is under a map of a program that unwinds, not under the first one.
test_note_is_under_the_program_that_unwinds() {
	need_root
	cp /bin/sh pbt_noted
	expect_status 0 "$PERF_BPF" run "$BUILD/tests/bpf/losses_stacks.bpf.o" profile -e cpu-clock -F 999 --comms pbt_noted \
		--call-graph dwarf --json -- ./pbt_noted -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; cat /dev/null'
	python3 - <<-'END' || { cat out; fail "the note is not where it belongs"; }
		import json
		last = [r for r in map(json.loads, open("out")) if r.get("last") and r["kind"] == "stacks"]
		noted = [r for r in last if "user stacks are complete" in r.get("note", "")]
		assert [r["map"] for r in last][0] == "calls", last
		assert [r["map"] for r in noted] == ["samples"], noted
		assert noted[0].get("note_good", False) == noted[0]["note"].startswith("100.0 %"), noted
	END
}

test_refused() {
	need_root
	expect_status 2 "$PERF_BPF" run profile --call-graph lbr
	! "$PERF_BPF" run opensnoop --call-graph dwarf --duration 1 >out 2>&1 ||
		fail "opensnoop has no stacks"
	assert_contains out "none of the programs supports --call-graph dwarf"
}

run_tests
