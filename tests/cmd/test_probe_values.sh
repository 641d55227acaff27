#!/usr/bin/env bash
# Values of variables by their DWARF: what optimizing compilers leave of them, and what other
# languages make of strings.
. "$(dirname "$0")/../tap.sh"

need_uprobes() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	has attach.uprobe || skip "this kernel has no uprobes"
}

# record_values FILE DEFINITION [ARG...]: the values at each hit, a line each
record_values() {
	local file=$1 definition=$2
	shift 2
	"$PERF_BPF" record -q -o t.data -e "probe:exec=./$file;values=$definition" "./$file" "$@" \
		>/dev/null 2>err || fail "$(cat err)"
	"$PERF_BPF" script -i t.data -F trace | sed 's/^ *//; s/ *$//' >values
}

# Of one struct a member is gone, of the other only the padding.
test_structs_in_pieces() {
	need_uprobes
	cat >pieces.c <<-'END'
		#include <stdio.h>
		struct pair { long a, b; };
		struct padded { int a; char b; };
		__attribute__((noinline)) static long use(long x)
		{
			__asm__ volatile("" : "+r"(x));
			return x + 1;
		}
		__attribute__((noinline)) long run(long n)
		{
			struct pair p = {n + 1, use(n)};
			struct padded q = {(int)n * 3, (char)n};
			long r = use(p.a);
			r += use(q.a) + use(q.b);
			r += use(p.a);
			return r;
		}
		int main(void)
		{
			return run(1) + run(2) == 0;
		}
	END
	gcc -g -O2 -o pieces pieces.c
	"$PERF_BPF" probe -x ./pieces -V run:5 >out
	grep -q "struct padded	q$" out || skip "the compiler has no q there: $(cat out)"
	record_values pieces 'run:5 q q.a q.b'
	assert_equal "$(head -1 values)" "q={03 00 00 00 01 00 00 00} a=3 b=1"
	grep -q "struct pair	p	(partly optimized out (the members that are left can be read))" out ||
		skip "the compiler keeps all of p: $(cat out)"
	"$PERF_BPF" probe -x ./pieces 'run:5 $vars' >out
	assert_contains out "cannot be read: partly optimized out"
	expect_status 1 "$PERF_BPF" probe -x ./pieces 'run:5 p'
	assert_contains err "cannot read 'p' in run: partly optimized out"
	record_values pieces 'run:5 p.a'
	assert_equal "$(tr '\n' ' ' <values)" "a=2 a=3 "
}

# A parameter of an inlined copy that is in memory: by the debug information alone, its value may be
# stored there only after the copy's first instruction.
test_values_that_are_not_sure() {
	need_uprobes
	cat >copies.c <<-'END'
		static inline __attribute__((always_inline)) int take(int n)
		{
			return n + 1;
		}
		int main(void)
		{
			volatile int sum = 0;
			for (int i = 1; i < 4; i++)
				sum += take(i * 5);
			return sum == 0;
		}
	END
	gcc -O0 -g -o copies copies.c
	expect_status 1 "$PERF_BPF" probe -x ./copies 'take n'
	assert_contains err "possibly only after the first instruction of the inlined copy"
	assert_contains err "unsure=yes; reads it anyway"
	"$PERF_BPF" record -q -o t.data -e 'probe:exec=./copies;unsure=yes;take n' ./copies 2>err ||
		fail "$(cat err)"
	"$PERF_BPF" script -i t.data -F trace | tr -d ' \n' >values
	assert_equal "$(cat values)" "n=5n=10n=15"
}

# g++ does not say how classes are passed and returned; their members tell.
test_returned_classes() {
	need_uprobes
	command -v g++ >/dev/null || skip "g++ is not installed"
	cat >classes.cc <<-'END'
		#define CALLED __attribute__((noinline))
		struct Plain { long a, b; };
		struct Destroyed { long a, b; ~Destroyed() { __asm__ volatile(""); } };
		struct Copied {
			int a, b;
			Copied(int x) : a(x), b(-x) {}
			Copied(const Copied &o) : a(o.a), b(o.b) { __asm__ volatile(""); }
		};
		struct Defaulted {
			int a, b;
			Defaulted() = default;
			Defaulted(const Defaulted &) = default;
			~Defaulted() = default;
		};
		struct Fixed {
			int a, b;
			Fixed(int x) : a(x), b(-x) {}
			Fixed(const Fixed &) = delete;
		};
		struct Virtual { long a; virtual long get() { return a; } };
		struct Member { Destroyed d; };
		struct Derived : Plain { };
		template <class T> struct Wrapped {
			T a, b;
			Wrapped(T x) : a(x), b(-x) {}
			template <class U> Wrapped(const Wrapped<U> &o) : a(o.a), b(o.b) {}
		};
		CALLED Plain plain(int i) { return {i, -i}; }
		CALLED Destroyed destroyed(int i) { Destroyed d; d.a = i; d.b = -i; return d; }
		CALLED Copied copied(int i) { return Copied(i); }
		CALLED Defaulted defaulted(int i) { Defaulted d; d.a = i; d.b = -i; return d; }
		CALLED Fixed fixed(int i) { return Fixed(i); }
		CALLED Virtual virtually(int i) { Virtual v; v.a = i; return v; }
		CALLED Member member(int i) { Member m; m.d.a = i; m.d.b = -i; return m; }
		CALLED Derived derived(int i) { Derived d; d.a = i; d.b = -i; return d; }
		CALLED Wrapped<int> wrapped(int i) { return Wrapped<int>(i); }
		CALLED long given(Copied c, int after) { return c.a * 2 + c.b + after; }
		CALLED long handed(Plain p, int after) { return p.a * 2 + p.b + after; }
		int main()
		{
			long t = 0;
			for (int i = 7; i < 9; i++)
				t += plain(i).a + destroyed(i).a + copied(i).a + defaulted(i).a +
				     fixed(i).a + virtually(i).a + member(i).d.a + derived(i).b +
				     wrapped(i).a + given(Copied(i), -i) + handed(plain(i + 2), -i);
			return t == 0;
		}
	END
	local class
	for options in "-O1 -g" "-O0 -g" "-O2 -gdwarf-4"; do
		# shellcheck disable=SC2086 # several options
		g++ -std=c++17 $options -o classes classes.cc
		for class in destroyed copied defaulted fixed derived wrapped; do
			record_values classes "$class%return \$retval.a \$retval.b"
			assert_equal "$options $class $(tr '\n' ' ' <values)" \
				"$options $class a=7 b=-7 a=8 b=-8 "
		done
		record_values classes 'virtually%return $retval.a'
		assert_equal "$(tr '\n' ' ' <values)" "a=7 a=8 "
		record_values classes 'member%return $retval.d.a $retval.d.b'
		assert_equal "$(tr '\n' ' ' <values)" "a=7 b=-7 a=8 b=-8 "
		record_values classes 'given c.a c.b after'
		assert_equal "$(tr '\n' ' ' <values)" "a=7 b=-7 after=-7 a=8 b=-8 after=-8 "
		record_values classes 'handed p.a p.b after'
		assert_equal "$(tr '\n' ' ' <values)" "a=9 b=-9 after=-7 a=10 b=-10 after=-8 "
	done
}

run_tests
