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

# Parameters whose registers are used again, of threads and of calls within calls: what they were at
# the entry, for the call that the point is in.
test_values_at_function_entry() {
	need_uprobes
	cat >entry.c <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		#include <unistd.h>
		long total;
		#define CALLED __attribute__((noipa))
		CALLED void use(long v)
		{
			__atomic_add_fetch(&total, v, 5);
		}
		CALLED long price(long key, long count, int wait)
		{
			char byte;
			if (count > 0)
				price(key + 100, count - 1, 0);
			if (wait)
				total += write(1, "w", 1) + read(0, &byte, 1);
			use(key);
			use(4);
			use(3); /* here */
			return total;
		}
		static void *run(void *arg)
		{
			for (long i = 1; i <= 40; i++)
				price((long)arg, i % 4, 0);
			return NULL;
		}
		int main(int argc, char **argv)
		{
			pthread_t threads[2];
			if (argc > 1)
				return price(atoi(argv[1]), 0, 1) == 0;
			for (long i = 0; i < 2; i++)
				pthread_create(&threads[i], NULL, run, (void *)(i + 1));
			for (long i = 0; i < 2; i++)
				pthread_join(threads[i], NULL);
			return 0;
		}
	END
	gcc -g -O2 -pthread -o entry entry.c
	local here
	here=$(grep -n here entry.c | cut -d: -f1)
	"$PERF_BPF" probe -x ./entry "entry.c:$here count" >out
	assert_contains out "arg2@entry s64"
	record_values entry "entry.c:$here key count"
	sort values | uniq -c | sed 's/^ *//' >got
	# Ten times each of 0, 1, 2 and 3; within a call the key is higher, and the count is lower.
	for key in 1 2; do
		for from in 0 1 2 3; do
			for deep in $(seq 0 $from); do
				for _ in $(seq 10); do
					echo "key=$((key + deep * 100)) count=$((from - deep))"
				done
			done
		done
	done | sort | uniq -c | sed 's/^ *//' >expected
	diff expected got || fail "other values"

	# As a section of a program.
	command -v clang >/dev/null || return 0
	cat >sums.bpf.c <<-END
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		long sum, errors;
		SEC("exec=$PWD/entry;entry.c:$here count")
		int sum_up(void *ctx, int err, long count)
		{
			__sync_fetch_and_add(&sum, count);
			__sync_fetch_and_add(&errors, err != 0);
			return 0;
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	"$PERF_BPF" run sums.bpf.c --json -- ./entry >out 2>err || fail "$(cat err)"
	# 2 threads * 10 * (0 + 1 + 0 + 2 + 1 + 0 + 3 + 2 + 1 + 0)
	assert_contains out '"variable":"sum","value":200}'
	assert_contains out '"variable":"errors","value":0}'

	# A call that began before: nobody knows.
	mkfifo go
	./entry 7 <go >waits &
	local pid=$!
	exec 7>go
	soon test -s waits
	"$PERF_BPF" record -q -p $pid -o t.data -e "probe:exec=./entry;values=entry.c:$here count" 2>err &
	local recorder=$!
	soon waits_for_events $recorder
	echo >&7
	wait $pid
	exec 7>&-
	wait $recorder || fail "$(cat err)"
	"$PERF_BPF" script -i t.data -F trace >values
	assert_contains values "count=0(fault)"
}

# Debian 12's libdw cannot unpack sections that zstd compressed.
test_sections_compressed_by_zstd() {
	need_uprobes
	cat >packed.c <<-'END'
		__attribute__((noinline)) int twice(int number)
		{
			int result = number * 2;
			return result;
		}
		int main(int argc, char **argv)
		{
			return twice(argc) + twice(20) == 0;
		}
	END
	{ echo 'static const char *unused[] = {'; seq 3000 | sed 's/.*/"text &",/'; echo '};'; } >more.c
	cat more.c >>packed.c
	gcc -g3 -O0 -o plain packed.c
	objcopy --compress-debug-sections=zstd plain packed 2>err || skip "objcopy: $(cat err)"
	readelf -tW packed | grep -q ZSTD || skip "this objcopy does not compress by zstd"
	record_values packed 'packed.c:4 number result'
	assert_equal "$(tr '\n' ' ' <values)" "number=1 result=2 number=20 result=40 "
	"$PERF_BPF" probe -x ./packed -L twice >out
	assert_contains out "3  return result;"

	# Of a separate debug file.
	objcopy --only-keep-debug packed packed.debug
	objcopy --strip-all --add-gnu-debuglink=packed.debug packed apart
	record_values apart 'twice number'
	assert_equal "$(tr '\n' ' ' <values)" "number=1 number=20 "

	# Damaged in the middle of a section, or of another size than it says.
	local offset
	offset=$(readelf -SW packed | sed -n 's/.* \.debug_info *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
	cp packed damaged
	printf '\377\377\377\377' | dd of=damaged bs=1 seek=$((0x$offset + 40)) conv=notrunc 2>/dev/null
	expect_status 1 "$PERF_BPF" probe -x ./damaged 'twice number'
	assert_contains err "cannot decompress its debug information"
	cp packed short
	printf '\001\000\000\000' | dd of=short bs=1 seek=$((0x$offset + 8)) conv=notrunc 2>/dev/null
	expect_status 1 "$PERF_BPF" probe -x ./short 'twice number'
	assert_contains err "cannot decompress its debug information"
	cp packed huge
	printf '\000\000\000\000\001' | dd of=huge bs=1 seek=$((0x$offset + 8)) conv=notrunc 2>/dev/null
	expect_status 1 "$PERF_BPF" probe -x ./huge 'twice number'
	assert_contains err "its compressed debug information would take more than"
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

# Strings that do not end with 0, but have a length; each is shorter than the text that it is in.
test_strings_of_cxx() {
	need_uprobes
	command -v g++ >/dev/null || skip "g++ is not installed"
	cat >views.cc <<-'END'
		#include <string>
		#include <string_view>
		__attribute__((noinline)) size_t take(std::string_view v, const std::string &s,
						      std::string_view &r, int k)
		{
			__asm__ volatile("" ::: "memory");
			return v.size() + s.size() + r.size() + k; // here
		}
		int main()
		{
			std::string base = "abcdefgh";
			for (int i = 0; i < 3; i++) {
				std::string_view inner(base.data() + i, 3);
				take(std::string_view(base).substr(0, i * 2), base, inner, i);
			}
			std::string longer(300, 'x');
			std::string_view all(longer);
			take(all, "", all, 3);
		}
	END
	local options
	for options in -O0 -O2; do
		g++ -std=c++17 -g $options -o views views.cc
		record_values views "views.cc:$(grep -n '// here' views.cc | cut -d: -f1) v:string \
			s:string r:string k"
		sort -u values >once
		assert_equal "$(grep -v k=3 once)" 'v="" s="abcdefgh" r="abc" k=0
v="ab" s="abcdefgh" r="bcd" k=1
v="abcd" s="abcdefgh" r="cde" k=2'
		# what does not fit is marked
		grep -q '^v="x*\.\.\." s="" r="x*\.\.\." k=3$' once || fail "$(cat once)"
	done
}

test_strings_of_fortran() {
	need_uprobes
	command -v gfortran >/dev/null || skip "gfortran is not installed"
	cat >named.f90 <<-'END'
		module names
		  integer :: total = 0
		contains
		  subroutine take(name, n)
		    character(len=*), intent(in) :: name
		    integer, intent(in) :: n
		    total = total + n + len(name) ! here
		  end subroutine
		end module
		program main
		  use names
		  character(len=8) :: whole = 'abcdefgh'
		  call take(whole(1:3), 1)
		  call take(whole(4:8), 2)
		end program
	END
	gfortran -g -O0 -o named named.f90
	record_values named "named.f90:$(grep -n '! here' named.f90 | cut -d: -f1) name:string n"
	assert_equal "$(sort -u values)" 'name="abc" n=1
name="defgh" n=2'
	cp values with_type
	record_values named "named.f90:$(grep -n '! here' named.f90 | cut -d: -f1) name n"
	diff with_type values || fail "the type is not known without :string"
}

test_strings_of_rust() {
	need_uprobes
	command -v rustc >/dev/null || skip "rustc is not installed"
	cat >texts.rs <<-'END'
		use std::hint::black_box;
		#[inline(never)]
		fn take(a: &str, b: String, c: &[u8], d: [u8; 2], e: Option<&str>, n: usize) -> usize {
		    let k = n + 1;
		    black_box(a.len() + b.len() + c.len() + d[0] as usize + e.map_or(0, |x| x.len()) + k) // here
		}
		fn main() {
		    let base = String::from("hello world");
		    for i in 1..3 {
		        let e = if i == 1 { Some(&base[0..4]) } else { None };
		        take(&base[..i * 3], format!("own{}", i), &base.as_bytes()[i..i + 2], [64 + i as u8, 90], e, i);
		    }
		}
	END
	rustc -g -o texts texts.rs 2>err || skip "rustc cannot build the program: $(cat err)"
	record_values texts 'texts::take:2 a:string b:string c:string d d:string e:string n'
	assert_equal "$(sort -u values)" \
		'a="hel" b="own1" c="el" d={41 5a} d_2="AZ" e="hell" n=1
a="hello " b="own2" c="ll" d={42 5a} d_2="BZ" e=""(fault) n=2'
}

test_strings_of_go_and_d() {
	need_uprobes
	if command -v go >/dev/null; then
		cat >texts.go <<-'END'
			package main
			type person struct { name string; age int }
			var total int
			//go:noinline
			func take(who string, p *person, n int) { total += len(who) + len(p.name) + n }
			func main() {
				p := &person{"Ada Lovelace"[:3], 36}
				for i := 1; i < 3; i++ {
					take("gopher"[:i*2], p, i)
				}
			}
		END
		export HOME=$PWD GOCACHE=$PWD/cache
		go build -o texts_go texts.go || skip "go cannot build the program"
		record_values texts_go 'main.take who:string p->name:string n'
		assert_equal "$(cat values)" 'who="go" name="Ada" n=1
who="goph" name="Ada" n=2'
	fi
	if command -v gdc >/dev/null; then
		cat >texts.d <<-'END'
			int total;
			void take(string who, int n)
			{
				total += who.length + n; // here
			}
			void main()
			{
				string whole = "abcdef";
				take(whole[0 .. 2], 1);
				take(whole[2 .. 6], 2);
			}
		END
		gdc -g -O0 -o texts_d texts.d
		record_values texts_d "texts.d:$(grep -n '// here' texts.d | cut -d: -f1) who:string n"
		assert_equal "$(sort -u values)" 'who="ab" n=1
who="cdef" n=2'
	fi
	command -v go >/dev/null || command -v gdc >/dev/null || skip "neither go nor gdc is installed"
}

run_tests
