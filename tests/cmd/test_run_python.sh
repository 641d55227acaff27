#!/usr/bin/env bash
# run --call-graph dwarf: functions of Python in user stacks, of each version that is installed.
. "$(dirname "$0")/../tap.sh"

need_root() {
	[ "$(id -u)" = 0 ] || skip "loading a BPF program takes root"
}

# Python 3.$1, as a distribution or pyenv(1) installs it; nothing if it is not there.
python_of() {
	local path

	for path in /usr/bin/python3."$1" "$HOME"/.pyenv/versions/3."$1".*/bin/python3."$1"; do
		if [ -x "$path" ] && "$path" -c 'import threading, ctypes' 2>/dev/null; then
			echo "$path"
			return
		fi
	done
}

# Each part burns CPU time of its thread; the lines are counted below.
workload() {
	cat >work.py <<-'END'
		import ctypes, sys, threading, time

		def spin():
		    n = 0
		    for i in range(2000):
		        n += i

		def burn(ms):
		    end = time.thread_time() + ms / 1000
		    while time.thread_time() < end:
		        spin()

		class Shop:
		    def buy(self):
		        burn(300)

		def generate():
		    for i in range(2):
		        burn(100)
		        yield i

		def consume():
		    for i in generate():
		        pass

		def recurse(n):
		    if n:
		        recurse(n - 1)
		    else:
		        burn(100)

		def by_list(x):
		    burn(50)
		    return x

		def sort():
		    sorted([2, 1], key=by_list)

		def by_libc(a, b):
		    burn(50)
		    return 0

		def call_libc():
		    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(by_libc)
		    ctypes.CDLL(None).qsort((ctypes.c_int * 2)(2, 1), 2, 4, compare)

		def in_thread():
		    burn(100)

		def übung():
		    burn(50)

		def main():
		    Shop().buy()
		    consume()
		    recurse(5)
		    sort()
		    call_libc()
		    threads = [threading.Thread(target=in_thread) for i in range(2)]
		    for thread in threads:
		        thread.start()
		    for thread in threads:
		        thread.join()
		    übung()

		main()
	END
}

# profiles COMMAND...: the stacks of the command of that name, as JSON.
profiles() {
	"$PERF_BPF" run profile -e cpu-clock -F 999 --call-graph dwarf --comm "$(basename "$1")" \
		--json -- "$@" >json 2>log || { cat json log; fail "perf-bpf run profile fails"; }
}

# stacks CODE: stacks is a list of (count, [function...]), the outermost first; note is their note.
stacks() {
	python3 - "$1" <<-'END' || { cat log; fail "the stacks are wrong"; }
		import json, re, sys
		m = [json.loads(l) for l in open("json") if l.startswith("{")][-1]
		stacks = [(s["count"], [f["name"] for f in s["frames"]][::-1]) for s in m["stacks"]]
		note = m["note"]
		def ends(text):
		    found = re.search(r"(\d+) " + text, note)
		    return int(found[1]) if found else 0
		def count(is_right):
		    return sum(n for n, names in stacks if is_right(names))
		try:
		    exec(sys.argv[1])
		except BaseException:
		    print(note)
		    for n, names in stacks[:5]:
		        print(n, names)
		    raise
	END
}

# Python 3.$1: every stack of the workload is one that the program can have, with its lines; the
# shares are those of the burned time.
are_right() {
	local python

	python=$(python_of "$1")
	[ -n "$python" ] || skip "Python 3.$1 is not installed"
	workload
	profiles "$python" work.py
	stacks "
minor = $1
method = 'Shop.buy' if minor > 10 else 'buy'
lines = {'spin': 3, 'burn': 8, method: 14, 'generate': 17, 'consume': 22, 'recurse': 26, 'by_list': 32,
         'sort': 36, 'by_libc': 39, 'call_libc': 43, 'in_thread': 47, 'übung': 50, 'main': 53, '<module>': 1,
         '<listcomp>': 59, 'main.<locals>.<listcomp>': 59} # the comprehension has a name up to 3.11
ways = [['<module>', 'main'] + way for way in
        [[method], ['consume', 'generate'], ['recurse'] * 6, ['sort', 'by_list'], ['call_libc', 'by_libc'],
         ['übung']]] + [['in_thread']]
ms = {method: 300, 'generate': 200, 'recurse': 100, 'by_list': 100, 'by_libc': 50, 'in_thread': 200, 'übung': 50}
seen = dict.fromkeys(ms, 0)
burns = incomplete = 0
for n, names in stacks:
    own = [name[:-1].split(' (work.py:') for name in names if name.endswith(')') and ' (work.py:' in name]
    for name, line in own:
        assert lines[name] == int(line), (name, line)
    own = [name for name, line in own]
    if 'burn' not in own:
        continue
    if own[0] not in ('<module>', 'in_thread'): # the tables of a library were not loaded
        incomplete += n
        continue
    at = own.index('burn')
    assert own[:at] in ways, (n, names)
    assert own[at + 1:] in ([], ['spin']), (n, names)
    # Native frames are between those of Python: what sorts, and what calls back.
    if 'by_list' in own:
        first = names.index('sort (work.py:36)')
        assert any('.py:' not in name for name in names[first + 1:names.index('by_list (work.py:32)')]), (n, names)
    assert 'by_libc' not in own or 'qsort' in ' '.join(names), (n, names)
    burns += n
    seen[own[at - 1]] += n
assert burns >= 100, burns
share, total = re.match(r'([\d.]+) % of (\d+) user stacks', note).groups()
assert incomplete <= (100.1 - float(share)) / 100 * int(total) + 1, (incomplete, note)
for name, expected in ms.items():
    share = seen[name] / burns - expected / sum(ms.values())
    assert abs(share) < 0.02 + 2 / burns ** 0.5, (name, seen)
named, total = re.search(r'([\d.]+) % of (\d+) stacks of Python have all names', note).groups()
assert float(named) >= 90 and int(total) >= burns, note
assert not ends('could not be read') and not ends('have functions'), note"
}

test_python_3_9() { need_root; are_right 9; }
test_python_3_10() { need_root; are_right 10; }
test_python_3_11() { need_root; are_right 11; }
test_python_3_12() { need_root; are_right 12; }
test_python_3_13() { need_root; are_right 13; }

any_python() {
	for minor in 11 13 12 10 9; do
		python=$(python_of $minor)
		[ -z "$python" ] || return 0
	done
	skip "Python 3.9 to 3.13 is not installed"
}

# What a program waits for; and where there is no room for names, the interpreter's frames stay.
test_other_programs_and_no_room() {
	need_root
	any_python
	cat >waits.py <<-'END'
		import time
		def waits():
		    time.sleep(0.01)
		def main():
		    for i in range(30):
		        waits()
		main()
	END
	"$PERF_BPF" run offcputime --call-graph dwarf --comm "${python##*/}" --json -- "$python" waits.py >json 2>log ||
		{ cat log; fail "perf-bpf run offcputime fails"; }
	stacks "
slept = count(lambda names: any(n.startswith('waits (waits.py:2)') for n in names))
right = [['<module> (waits.py:1)', 'main (waits.py:4)', 'waits (waits.py:2)']]
whole = count(lambda names: [n for n in names if 'waits.py' in n] in right)
assert whole == slept and slept >= 200000, (whole, slept)"
	workload
	"$PERF_BPF" run profile -e cpu-clock -F 999 --call-graph dwarf --comm "${python##*/}" --json \
		--map-entries perf_bpf_python_functions=2 -- "$python" work.py >json 2>log ||
		{ cat log; fail "perf-bpf run profile fails"; }
	grep -q "functions of Python had no room; for more room use --map-entries perf_bpf_python_functions=8" log ||
		{ cat log; fail "it is not said that there is no room"; }
	stacks "
assert ends('have functions for which there was no room') >= 100, note
assert len({name for n, names in stacks for name in names if '.py:' in name or '<frozen' in name}) <= 2, stacks
assert count(lambda names: '_PyEval_EvalFrameDefault' in names) >= 100"
}

# A program that only looks like an interpreter, whose structures are loops, wild pointers and texts
# with control characters.
test_hostile_process() {
	need_root
	[ "$(uname -m)" = x86_64 ] || skip "the program is for x86-64"
	cat >fake.c <<-'END'
		#include <stdint.h>
		#include <stdlib.h>
		#include <string.h>
		#include <time.h>
		/* As 3.11 has them. */
		uint64_t _PyRuntime[512], PyCode_Type[8], PyUnicode_Type[8];
		static uint64_t interpreter[32], thread[64], cframe[8], frame[32], code[32], name[64], file[16];
		static volatile unsigned long sink;
		static int is_over(int ms)
		{
			struct timespec t;
			for (int i = 0; i < 20000; i++)
				sink += i;
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
			return t.tv_sec * 1000 + t.tv_nsec / 1000000 >= ms;
		}
		__attribute__((noipa)) void _PyEval_EvalFrameDefault(int ms)
		{
			uint64_t own[4] = {0};
			own[1] = (uint64_t)frame;
			own[2] = (uint64_t)own;	/* the caller's is itself */
			thread[56 / 8] = (uint64_t)own;
			asm volatile("" ::"r"(own) : "memory");
			while (!is_over(ms))
				;
			asm volatile("" ::"r"(own) : "memory");
		}
		static void text(uint64_t *at, const char *s, uint64_t length)
		{
			at[1] = (uint64_t)PyUnicode_Type;
			at[2] = length;
			at[4] = 1 << 2 | 1 << 5 | 1 << 6;
			strcpy((char *)at + 48, s);
		}
		int main(int argc, char **argv)
		{
			uint64_t self;
			asm("mov %%fs:0, %0" : "=r"(self));
			_PyRuntime[40 / 8] = (uint64_t)interpreter;
			interpreter[0] = (uint64_t)interpreter;
			interpreter[16 / 8] = (uint64_t)thread;
			thread[1] = (uint64_t)thread;
			thread[152 / 8] = self;
			frame[32 / 8] = (uint64_t)code;
			frame[48 / 8] = (uint64_t)frame; /* without end */
			code[1] = (uint64_t)PyCode_Type;
			code[72 / 8] = 7;
			code[112 / 8] = (uint64_t)file;
			code[128 / 8] = (uint64_t)name;
			text(name, "a\033[31m;b\nc", 10);
			text(file, "/x/evil.py", 10);
			_PyEval_EvalFrameDefault(100);
			code[1]++; /* another type */
			code[72 / 8] = 8;
			_PyEval_EvalFrameDefault(200);
			code[1]--;
			name[2] = 1ull << 40;
			code[72 / 8] = 9;
			_PyEval_EvalFrameDefault(300);
			name[2] = 10000; /* the first bytes */
			code[72 / 8] = 10;
			_PyEval_EvalFrameDefault(400);
			name[2] = 10;
			code[72 / 8] = 11;
			code[128 / 8] = 0xdead000000000000;
			_PyEval_EvalFrameDefault(500);
			code[128 / 8] = (uint64_t)name;
			thread[152 / 8]++; /* another thread's; the list has no end */
			_PyEval_EvalFrameDefault(600);
			return 0;
		}
	END
	gcc -O2 -fomit-frame-pointer -rdynamic -o python3.11 fake.c || fail "it is not compiled"
	profiles ./python3.11
	stacks "
evil = [(n, names) for n, names in stacks if any('evil.py' in name for name in names)]
whole = [n for n, names in evil if names.count('a\x1b[31m;b\nc (evil.py:7)') > 120]
cut = [n for n, names in evil if len(names[0]) > 90 and names[0].endswith('... (evil.py:10)')]
assert sum(whole) >= 20 and sum(cut) >= 20, evil
assert sum(whole) + sum(cut) == sum(n for n, names in evil), evil
assert ends('do not fit the interpreter') >= 40, note
assert ends('could not be read') >= 20, note
assert ends('are of threads') >= 20, note
assert ends('have more frames') >= 40, note
assert count(lambda names: 'evil' not in ''.join(names) and '_PyEval_EvalFrameDefault' in names and 'main' in names) >= 60"
	"$PERF_BPF" run profile -e cpu-clock -F 999 --call-graph dwarf --comm python3.11 --folded -- ./python3.11 >out 2>log ||
		{ cat log; fail "perf-bpf run profile fails"; }
	! grep -q "$(printf '\033')" out || fail "control characters are printed"
	grep -q 'evil.py:7' out || fail "the name is missing"
}

# An interpreter of another version is said.
test_unsupported_version() {
	need_root
	cat >fake.c <<-'END'
		#include <time.h>
		long _PyRuntime[8], PyCode_Type[8], PyUnicode_Type[8];
		static volatile unsigned long sink;
		__attribute__((noipa)) void _PyEval_EvalFrameDefault(void)
		{
			struct timespec t;
			do {
				for (int i = 0; i < 20000; i++)
					sink += i;
				clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
			} while (t.tv_nsec < 200000000);
		}
		int main(void)
		{
			_PyEval_EvalFrameDefault();
			return 0;
		}
	END
	gcc -O2 -rdynamic -o python3.99 fake.c || fail "it is not compiled"
	profiles ./python3.99
	grep -q "python3.99: frames of Python have no names: version 3.99, or this build of it, is not supported" log ||
		{ cat log; fail "it is not said"; }
	stacks "assert count(lambda names: '_PyEval_EvalFrameDefault' in names) >= 50"
}

run_tests
