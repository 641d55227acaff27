#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Holds what <bpf/libbpf.h> has of attaching and links and libperfbpf-attach(3)
# together.
source "$(dirname "$0")/../tap.sh"

PAGE=$SRC/man/libperfbpf-attach.3
NAMES='\b(bpf_program__attach|bpf_link__)[a-z0-9_]*'

test_the_manual_names_every_function_and_nothing_else() {
	grep -oE "$NAMES\(" "$SRC/include/bpf/libbpf.h" | tr -d '(' | sort -u >declared
	[ "$(wc -l <declared)" -gt 30 ] || fail "only $(wc -l <declared) declarations were found"
	grep -oE "$NAMES" "$PAGE" | sort -u >named
	diff declared named || fail "< is declared only, > is named only"
}

test_the_manual_names_every_attach_mode() {
	grep -oE '\bPROBE_ATTACH_MODE_[A-Z]+' "$SRC/include/bpf/libbpf.h" | sort -u >declared
	grep -oE '\bPROBE_ATTACH_MODE_[A-Z]+' "$PAGE" | sort -u >named
	[ -s declared ] && diff declared named
}

test_the_example_compiles() {
	{
		printf '#include <bpf/libbpf.h>\n#include <unistd.h>\n'
		printf 'int example(const struct bpf_program *prog);\n'
		printf 'int example(const struct bpf_program *prog)\n{\n'
		sed -n '/^\.Bd/,/^\.Ed/{/^\./d;p}' "$PAGE"
		printf '\treturn 0;\n}\n'
	} >example.c
	grep -q attach_kprobe_multi example.c || fail "the page has no example"
	cc -Wall -Werror -I"$SRC/include" -c example.c -o example.o
}

test_the_page_is_well_formed() {
	! command -v mandoc >/dev/null || mandoc -Tlint -W error "$PAGE"
	man -l --warnings "$PAGE" >page 2>warnings </dev/null
	[ ! -s warnings ] || fail "$(cat warnings)"
	assert_contains page bpf_program__attach_kprobe_multi_opts
}

run_tests
