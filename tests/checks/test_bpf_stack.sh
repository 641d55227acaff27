#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The programs that are built in need no more stack than every kernel gives them: tools/bpf-stack.
. "$(dirname "$0")/../tap.sh"

# Another compiler may need some more than this one.
MARGIN=32

test_programs_that_are_built_in() {
	local object objects
	objects=$(find "$BUILD/trace" "$BUILD/progs" "$BUILD/probe" -name '*.bpf.o')
	[ -n "$objects" ] || skip "no programs were built: there is no clang"
	for object in $objects; do
		"$SRC/tools/bpf-stack" --limit $((512 - MARGIN)) "$object" >chains 2>err ||
			fail "$(cat err; sort -rn chains | head -1)"
		[ -s chains ] || fail "$object: no chain was found"
	done
}

# The tool, on programs whose needs are known.
test_a_chain_that_is_too_deep_is_found() {
	command -v clang >/dev/null || skip "there is no clang"
	cat >deep.bpf.c <<-'END'
		#define SEC(name) __attribute__((section(name), used))
		#define OUTSIDE(room) __asm__ volatile("" : : "r"(room) : "memory")
		static __attribute__((noinline)) int inner(int n)
		{
			char room[100 + MORE]; /* in words: 104 */
			OUTSIDE(room);
			return n;
		}
		__attribute__((noinline)) int middle(int n)
		{
			char room[200];
			OUTSIDE(room);
			return inner(n);
		}
		SEC("socket") int shallow(void *ctx) { return 0; }
		SEC("socket") int deep(void *ctx)
		{
			long room[16];
			OUTSIDE(room);
			return middle(7);
		}
	END
	clang -target bpf -O2 -DMORE=0 -c deep.bpf.c -o deep.bpf.o
	"$SRC/tools/bpf-stack" deep.bpf.o >chains
	assert_equal "$(sort -n chains)" "32 of 512: shallow 32
480 of 512: deep 128, middle 224, inner 128"
	clang -target bpf -O2 -DMORE=64 -c deep.bpf.c -o deep.bpf.o
	expect_status 1 "$SRC/tools/bpf-stack" deep.bpf.o
	assert_contains err "needs 544 bytes of stack"
}

run_tests
