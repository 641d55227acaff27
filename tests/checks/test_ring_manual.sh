#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Holds what <bpf/libbpf.h> has of rings and libperfbpf-ring(3) together.
source "$(dirname "$0")/../tap.sh"

PAGE=$SRC/man/libperfbpf-ring.3
NAMES='\b(user_ring_buffer|ring_buffer|ring|perf_buffer)__[a-z0-9_]+'

declared() {
	grep -oE "$NAMES\(" "$SRC/include/bpf/libbpf.h" | tr -d '(' | sort -u >declared
	[ "$(wc -l <declared)" -gt 30 ] || fail "only $(wc -l <declared) declarations were found"
}

test_the_manual_names_every_function_and_nothing_else() {
	declared
	grep -oE "$NAMES" "$PAGE" | sort -u >named
	diff declared named || fail "< is declared only, > is named only"
}

test_the_example_compiles() {
	{
		printf '#include <bpf/libbpf.h>\n'
		printf 'int example(int fd, ring_buffer_sample_fn print_event);\n'
		printf 'int example(int fd, ring_buffer_sample_fn print_event)\n{\n'
		sed -n '/^\.Bd/,/^\.Ed/{/^\./d;p}' "$PAGE"
		printf '\treturn 0;\n}\n'
	} >example.c
	grep -q ring_buffer__poll example.c || fail "the page has no example"
	cc -Wall -Werror -I"$SRC/include" -c example.c -o example.o
}

test_the_page_is_well_formed() {
	! command -v mandoc >/dev/null || mandoc -Tlint -W error "$PAGE"
	man -l --warnings "$PAGE" >page 2>warnings </dev/null
	[ ! -s warnings ] || fail "$(cat warnings)"
	assert_contains page ring_buffer__poll
}

run_tests
