#!/usr/bin/env bash
# Which function of a binary a name means, in the sections of programs and in definitions; and which
# functions are refused because a probe would see none of their calls, or end the program.
. "$(dirname "$0")/../tap.sh"

need() {
	[ "$(id -u)" = 0 ] || skip "probes need root"
	command -v clang >/dev/null || skip "clang is not installed"
	has attach.uprobe || skip "this kernel has no uprobes"
}

# program NAME SECTION: it counts its runs.
program() {
	cat >"$1.bpf.c" <<-END
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		int runs;
		SEC("$2")
		int pbt_named(void *ctx)
		{
			__sync_fetch_and_add(&runs, 1);
			return 0;
		}
		char LICENSE[] SEC("license") = "GPL";
	END
}

# counts SECTION N: its program runs so often while ./named runs.
counts() {
	program counted "$1"
	"$PERF_BPF" run counted.bpf.c --json -- ./named >out 2>err || fail "$(cat err)"
	assert_contains out "\"variable\":\"runs\",\"value\":$2}"
}

# Functions whose names have the signs that separate the parts of sections and definitions, as
# compilers of Go, Rust and D make them. Each is called as often as its name says.
build_named() {
	cat >named.c <<-'END'
		int calls;
		#define CALLED(name) __attribute__((noinline)) void name(int n) { calls += n; }
		CALLED(one) CALLED(two) CALLED(three) CALLED(four) CALLED(five)
		int main(void)
		{
			one(1);
			for (int i = 0; i < 2; i++)
				two(i);
			for (int i = 0; i < 3; i++)
				three(i);
			for (int i = 0; i < 4; i++)
				four(i);
			for (int i = 0; i < 5; i++)
				five(i);
			return 0;
		}
	END
	gcc -g -O1 -c -o plain.o named.c
	objcopy --redefine-sym 'one=main.Sum[go.shape.int_0]' --redefine-sym 'two=type:.eq.main.Pair' \
		--redefine-sym 'three=main.(*Cart).Add' --redefine-sym 'four=gtk+2' plain.o named.o
	gcc -o named named.o
}

test_names_with_signs() {
	need
	build_named
	counts "uprobe/$PWD/named:main.Sum[go.shape.int_0]" 1
	counts "uprobe/$PWD/named:type:.eq.main.Pair" 2
	counts "uprobe/$PWD/named:main.(*Cart).Add" 3
	counts "uprobe/$PWD/named:gtk+2" 4
	counts "exec=$PWD/named;main.Sum[go.shape.int_0]" 1
	counts "exec=$PWD/named;main.(*Cart).Add" 3
	has attach.uprobe_multi || return 0
	counts "uprobe.multi/$PWD/named:main.Sum[go.shape.int_0]" 1
	counts "uprobe.multi/$PWD/named:main.Sum[go.shape.*" 1
	counts "uprobe.multi/$PWD/named:main.(*Cart).Add" 3
	counts "uprobe.multi/$PWD/named:type:.eq.*" 2
}

# The symbol is that of the resolver, which runs once.
test_indirect_functions() {
	need
	cat >indirect.c <<-'END'
		static int chosen(void)
		{
			return 0;
		}
		static int (*resolve(void))(void)
		{
			return chosen;
		}
		int pbt_indirect(void) __attribute__((ifunc("resolve")));
		int main(void)
		{
			return pbt_indirect() + pbt_indirect();
		}
	END
	gcc -g -O1 -o indirect indirect.c 2>err || skip "no indirect functions: $(cat err)"
	program indirect "uprobe/$PWD/indirect:pbt_indirect"
	for command in run record; do
		local with=()
		[ $command = run ] || with=(-o t.data -e)
		expect_status 1 "$PERF_BPF" $command "${with[@]}" indirect.bpf.c -- ./indirect
		assert_contains err "pbt_indirect of $PWD/indirect is an indirect function (IFUNC)"
		assert_contains err "probe -x $PWD/indirect -F \"*pbt_indirect*\""
	done
	expect_status 1 "$PERF_BPF" probe -x ./indirect pbt_indirect
	assert_contains err "it is an indirect function (IFUNC)"
	has attach.uprobe_multi || return 0
	program indirect "uprobe.multi/$PWD/indirect:pbt_indirect"
	expect_status 1 "$PERF_BPF" run indirect.bpf.c -- ./indirect
	assert_contains err "is an indirect function (IFUNC)"
}

# Each implementation of an indirect function is named.
test_implementations_of_indirect_functions() {
	need
	cat >indirect.c <<-'END'
		__attribute__((noinline)) int pbt_sum_plain(int n) { return n; }
		__attribute__((noinline)) int __pbt_sum_fast(int n) { return n; }
		static int (*resolve(void))(int)
		{
			return __pbt_sum_fast;
		}
		int pbt_sum(int n) __attribute__((ifunc("resolve")));
		int main(void)
		{
			return pbt_sum(0) + pbt_sum(0);
		}
	END
	gcc -g -O1 -o indirect indirect.c 2>err || skip "no indirect functions: $(cat err)"
	program indirect "uprobe/$PWD/indirect:pbt_sum"
	expect_status 1 "$PERF_BPF" run indirect.bpf.c -- ./indirect
	assert_contains err "attach to an implementation: "
	assert_contains err "pbt_sum_plain"
	assert_contains err "__pbt_sum_fast"
	expect_status 1 "$PERF_BPF" probe -x ./indirect pbt_sum
	assert_contains err "probe an implementation: "
	assert_contains err "__pbt_sum_fast"
	program counted "uprobe/$PWD/indirect:__pbt_sum_fast"
	"$PERF_BPF" run counted.bpf.c --json -- ./indirect >out 2>err || fail "$(cat err)"
	assert_contains out '"variable":"runs","value":2}'
}

# The symbols of a stripped program are where its build-id or .gnu_debuglink says, or packed in it.
# Sections of programs look there as definitions do.
test_symbols_of_stripped_programs() {
	need
	build_named
	local id debug=/usr/lib/debug/.build-id
	gcc -Wl,--build-id=sha1 -o whole named.o
	objcopy --only-keep-debug whole whole.debug
	linked() { # NAME OPTIONS...: stripped, with a link to whole.debug
		objcopy -g -x --strip-all --add-gnu-debuglink=whole.debug "${@:2}" whole "$1"
	}
	stripped() { # NAME: ./NAME counts as the program that was not stripped does
		mv "$1" named
		counts "uprobe/$PWD/named:main.(*Cart).Add" 3
		counts "exec=$PWD/named;main.(*Cart).Add" 3
		has attach.uprobe_multi || return 0
		counts "uprobe.multi/$PWD/named:main.(*Cart).A*" 3
	}
	linked beside
	stripped beside
	mkdir .debug
	mv whole.debug .debug/
	cp .debug/whole.debug .
	linked below
	rm whole.debug
	stripped below

	# By its checksum, where there is no build-id; a file with another one is not used.
	cp .debug/whole.debug whole.debug
	objcopy --remove-section .note.gnu.build-id whole.debug
	linked checksum --remove-section .note.gnu.build-id
	rm -r .debug
	stripped checksum
	printf x >>whole.debug
	program counted "uprobe/$PWD/named:five"
	expect_status 1 "$PERF_BPF" run counted.bpf.c -- ./named
	assert_contains err "has no function five"
	rm whole.debug

	command -v xz >/dev/null || skip "xz is not installed; the other places are checked"
	strip -g -o mini whole
	xz -k mini
	objcopy --strip-all --add-section .gnu_debugdata=mini.xz whole packed
	stripped packed

	id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
	[ -w /usr/lib/debug ] || skip "no /usr/lib/debug; the other places are checked"
	mkdir -p "$debug/${id:0:2}"
	local file="$debug/${id:0:2}/${id:2}.debug"
	trap 'rm -f "$file"; rmdir --ignore-fail-on-non-empty -p "${file%/*}" 2>/dev/null' RETURN
	objcopy --only-keep-debug whole "$file"
	strip -s -o by_id whole
	stripped by_id
}

# An address means the function that has it, also for the names of variables.
test_addresses() {
	need
	build_named
	local three five
	three=$(nm named | sed -n 's/^0*\([0-9a-f]*\) T main.(\*Cart).Add$/0x\1/p')
	five=$(nm named | sed -n 's/^0*\([0-9a-f]*\) T five$/0x\1/p')
	counts "exec=$PWD/named;$three" 3
	"$PERF_BPF" record -q -o t.data -e "probe:exec=./named;$five n" ./named 2>err || fail "$(cat err)"
	"$PERF_BPF" script -i t.data -F event,trace | sed 's/^ *//' >out
	seq 0 4 | sed "s/^/probe_named:abs_${five#0x}: n=/" >expected
	diff expected out || fail "other values"
	expect_status 1 "$PERF_BPF" probe -x ./named 0x7000000
	assert_contains err "./named: no function contains the address 0x7000000"
}

# A probe at a return replaces the return address, which ends a Go program: the return instructions
# are probed in place of it, and what is only known as a return is refused.
test_returns_of_go() {
	need
	cat >go.c <<-'END'
		__attribute__((noinline)) int pbt_many(int n)
		{
			return n + 1;
		}
		int main(int argc, char **argv)
		{
			return pbt_many(argc) - argc - 1;
		}
	END
	gcc -g -O1 -o plain go.c
	for section in .go.buildinfo .note.go.buildid .gopclntab; do
		echo go >note
		objcopy --add-section "$section=note" plain go
		expect_status 1 "$PERF_BPF" probe -x ./go 'pbt_many%return $retval'
		assert_contains err "\$retval is not known in a Go program"
		assert_contains err "%ax for the first"
		"$PERF_BPF" record -q -o t.data -e 'probe:exec=./go;pbt_many%return n=%ax:s32' -- ./go \
			2>err || fail "$(cat err)"
		"$PERF_BPF" script -i t.data -F event,trace | sed 's/^ *//' >values
		assert_equal "$(cat values)" "probe_go:pbt_many__return: n=2"
		program returns "uretprobe/$PWD/go:pbt_many"
		expect_status 1 "$PERF_BPF" run returns.bpf.c -- ./go
		assert_contains err "go is a Go program: a probe at the return of a function would end it"
		assert_contains err "probe its return instructions"
		expect_status 1 "$PERF_BPF" record -o t.data -e returns.bpf.c -- ./go
		assert_contains err "is a Go program"
	done
	"$PERF_BPF" probe -x ./go pbt_many >out
	assert_contains out "pbt_many"
	has attach.uprobe_multi || return 0
	program returns "uretprobe.multi/$PWD/go:pbt_*"
	expect_status 1 "$PERF_BPF" run returns.bpf.c -- ./go
	assert_contains err "is a Go program"
}

# Each way out of a function of Go, also while the goroutine's stack grows.
test_return_instructions_of_go() {
	need
	command -v go >/dev/null || skip "no Go compiler is installed"
	cat >deep.go <<-'END'
		package main

		import "fmt"

		//go:noinline
		func deep(n int) (sum int) {
			var room [64]int
			room[n%64] = n
			if n == 0 {
				return 7
			}
			if n == 300 {
				return deep(n-1) * 2
			}
			return deep(n-1) + room[n%64]
		}
		func main() {
			fmt.Println(deep(300))
		}
	END
	export HOME=$PWD GOCACHE=$PWD/cache
	go build -o deep deep.go || skip "go cannot build the program"
	"$PERF_BPF" record -q -o t.data -e 'probe:exec=./deep;main.deep%return sum=%ax:s64' ./deep \
		>printed 2>err || fail "$(cat err)"
	assert_equal "$(cat printed)" "$(((299 * 300 / 2 + 7) * 2))"
	"$PERF_BPF" script -i t.data -F trace | sed 's/^ *//' >values
	awk 'BEGIN {for (n = s = 0; n < 300; n++) print "sum=" (s += n) + 7; print "sum=" (s + 7) * 2}' \
		>expected
	diff expected values || fail "other results"
	"$PERF_BPF" probe -x ./deep -V 'main.deep%return' >out
	! grep 'has returned' out || fail "variables as of a return"
}

# points FILE DEFINITION N: it has so many probe points.
points() {
	"$PERF_BPF" probe -q --json -x "$1" "$2" >points 2>err || fail "$2: $(cat err)"
	assert_equal "$2: $(python3 -c 'import json
print(len(json.load(open("points"))["points"]))')" "$2: $3"
}

# line TEXT: the number of the line that has it
line() {
	grep -n -F -m1 "$2" "$1" | cut -d: -f1
}

# Functions within functions: the line belongs to the inner one.
test_lines_of_inner_functions() {
	cat >inner.c <<-'END'
		int total;
		int main(int argc, char **argv)
		{
			int base = argc * 10;
			int __attribute__((noinline)) add(int x)
			{
				int y = x + base;
				total += y; /* in add */
				return y * 2;
			}
			for (int i = 0; i < 3; i++)
				add(i);
			return total == 0;
		}
	END
	gcc -g -O0 -o inner inner.c
	points ./inner "inner.c:$(line inner.c 'in add') x" 1
	assert_contains points '"function":"add'
	command -v g++ >/dev/null || return 0
	cat >local.cc <<-'END'
		int total;
		int main(int argc, char **)
		{
			struct Local {
				int q;
				__attribute__((noinline)) int run(int k)
				{
					total += q * k; // in run
					return total;
				}
			} local{argc};
			auto both = [argc](int x) __attribute__((noinline)) {
				total += x; // in the lambda
				return total + argc;
			};
			union Either {
				int i;
				__attribute__((noinline)) int get(int m)
				{
					total += m; // in get
					return i;
				}
			} either{argc};
			return local.run(argc) + both(argc) + either.get(argc) == 0;
		}
	END
	g++ -g -O0 -o local local.cc
	points ./local "local.cc:$(line local.cc 'in run') k" 1
	points ./local "local.cc:$(line local.cc 'in the lambda') x" 1
	points ./local "local.cc:$(line local.cc 'in get') m" 1
}

test_lines_of_other_languages() {
	if command -v gfortran >/dev/null; then
		cat >shapes.f90 <<-'END'
			module shapes
			  integer :: total = 0
			contains
			  subroutine step(n)
			    integer, intent(in) :: n
			    total = total + n ! in step
			  end subroutine
			end module
			program main
			  use shapes
			  call step(2)
			end program
		END
		gfortran -g -O0 -o shapes shapes.f90
		points ./shapes "shapes.f90:$(line shapes.f90 'in step') n" 1
	fi
	if command -v gnatmake >/dev/null; then
		cat >nested.adb <<-'END'
			procedure Nested is
			   Total : Integer := 0;
			   procedure Add (N : Integer) is
			   begin
			      Total := Total + N; -- in Add
			   end Add;
			begin
			   Add (3);
			end Nested;
		END
		gnatmake -q -g -O0 nested.adb
		points ./nested "nested.adb:$(line nested.adb 'in Add') n" 2
	fi
	command -v gfortran >/dev/null || command -v gnatmake >/dev/null ||
		skip "neither gfortran nor gnatmake is installed"
}

# As probe -F prints them, or as the source has them; also functions that are only inlined.
# gcc's clones have no debug information of their own names: lines and variables of the function.
# Their parameters may be of a subtype, which has no size of its own.
test_clones() {
	command -v gnatmake >/dev/null || skip "gnatmake is not installed"
	cat >clones.adb <<-'END'
		with Interfaces; use Interfaces;
		with Ada.Text_IO;
		procedure Clones is
		   subtype Small is Integer range -9 .. 9;
		   Total : Integer := 0;
		   procedure Add (N : Small; Wide : Integer_16; Fixed : Integer) is
		   begin
		      Total := Total + N * Fixed; -- in Add
		      Total := Total + Integer (Wide);
		   end Add;
		   pragma No_Inline (Add);
		begin
		   for I in 1 .. 3 loop
		      Add (I, Integer_16 (-I), 7);
		   end loop;
		   Ada.Text_IO.Put_Line (Total'Image);
		end Clones;
	END
	gnatmake -q -g -O2 clones.adb
	local clone
	clone=$(nm clones | sed -n 's/.* t \(clones__add\.[0-9.a-z]*\)$/\1/p')
	[ -n "$clone" ] || fail "this compiler makes no clone: $(nm clones)"
	"$PERF_BPF" probe -x ./clones -L "$clone" >out
	assert_contains out "in Add"
	"$PERF_BPF" probe -x ./clones -V "$clone" >out
	assert_contains out "clones__small	n"
	! grep 'small.*(\|wide.*(' out || fail "a variable of a subtype is not available"
	need
	"$PERF_BPF" record -q -o t.data -e "probe:exec=./clones;$clone n wide" ./clones \
		>/dev/null 2>err || fail "$(cat err)"
	"$PERF_BPF" script -i t.data -F trace | sed 's/^ *//' >out
	printf 'n=%d wide=%d\n' 1 -1 2 -2 3 -3 >expected
	diff expected out || fail "other values"
}

test_names_of_templates() {
	command -v g++ >/dev/null || skip "g++ is not installed"
	cat >templates.cc <<-'END'
		int total;
		template <class T> struct S {
			T v;
			__attribute__((noinline)) int out(int k) { return total += k; }
			__attribute__((always_inline)) int in(int k) { return total += k * 3; }
		};
		template <class T> __attribute__((always_inline)) inline int fi(T x, int k)
		{
			total += k;
			return x != T();
		}
		int main(int argc, char **)
		{
			S<int *> a{&argc};
			S<char> b{0};
			return a.out(1) + a.in(argc) + b.out(2) + b.in(argc) + fi<int *>(&argc, argc) +
			       fi<long>(3, argc) == 0;
		}
	END
	g++ -g -O2 -o templates templates.cc
	points ./templates 'S<int*>::out k' 1
	points ./templates 'S<int*>::in k' 1
	points ./templates 'S<*>::in k' 2
	points ./templates 'fi<long> k' 1
	points ./templates 'fi<int*> k' 1
	points ./templates 'fi k' 2
}

# A name of Go looks like a file's.
test_lines_of_go() {
	command -v go >/dev/null || skip "no Go compiler is installed"
	cat >calls.go <<-'END'
		package main

		import "fmt"

		//go:noinline
		func many(a, b, c, d, e, f, g, h, i, j, k, l int) int {
			s := a + b
			s += k * l
			return s + c + d + e + f + g + h + i + j
		}
		func main() {
			fmt.Println(many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12))
		}
	END
	export HOME=$PWD GOCACHE=$PWD/cache
	go build -gcflags='-N -l' -o calls calls.go || skip "go cannot build the program"
	"$PERF_BPF" probe -x ./calls -L main.many >out
	assert_contains out "      2  s += k * l"
	points ./calls 'main.many:2 a l' 1
	need
	"$PERF_BPF" record -q -o t.data -e 'probe:exec=./calls;main.many:3 a j k l s ~r0' ./calls \
		>/dev/null 2>err || fail "$(cat err)"
	"$PERF_BPF" script -i t.data -F trace | sed 's/^ *//; s/ *$//' >out
	assert_equal "$(cat out)" "a=1 j=10 k=11 l=12 s=135 r0=0"
}

# run -p with uprobes that do not ask who calls: the calls of this process, and of all its threads.
test_uprobes_of_one_process() {
	need
	cat >waits.c <<-'END'
		#include <pthread.h>
		#include <unistd.h>
		__attribute__((noinline)) void pbt_one(void)
		{
			__asm__ volatile("" ::: "memory");
		}
		static void *thread(void *arg)
		{
			for (int i = 0; i < 5; i++)
				pbt_one();
			return arg;
		}
		int main(void)
		{
			pthread_t other;
			char line;
			if (read(0, &line, 1) != 1)
				return 1;
			pbt_one();
			return pthread_create(&other, NULL, thread, NULL) || pthread_join(other, NULL);
		}
	END
	gcc -g -O1 -pthread -o waits waits.c
	local section
	for section in uprobe uprobe.multi; do
		has attach.uprobe_multi || [ $section = uprobe ] || continue
		program one "$section/$PWD/waits:pbt_one"
		rm -f go stranger
		mkfifo go stranger
		./waits <go &
		local pid=$!
		./waits <stranger &
		local other=$!
		exec 7>go 8>stranger
		"$PERF_BPF" run -p $pid one.bpf.c --json >out 2>err &
		local runner=$!
		soon program_is_attached
		echo >&8
		wait $other
		echo >&7
		wait $pid
		exec 7>&- 8>&-
		wait $runner || fail "$(cat err)"
		assert_contains out '"variable":"runs","value":6}'
	done
}

program_is_attached() {
	"$PERF_BPF" prog list name pbt_named >progs 2>&1 && waits_for_events "$runner"
}

run_tests
