#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Holds <bpf/usdt.bpf.h> and libperfbpf-usdt(3) together.
. "$(dirname "$0")/../tap.sh"
PAGE=$SRC/man/libperfbpf-usdt.3

test_the_manual_names_what_programs_use() {
	grep -oE '^__weak __hidden [a-z]+ bpf_usdt_[a-z_]+' "$SRC/include/bpf/usdt.bpf.h" |
		sed 's/.* //' >declared
	[ "$(wc -l <declared)" = 4 ] || fail "$(wc -l <declared) functions are declared"
	while read -r name; do
		grep -q "^\.It Fn $name ctx" "$PAGE" || fail "$name is not explained"
	done <declared
	for name in BPF_USDT BPF_USDT_MAX_SPEC_CNT BPF_USDT_MAX_IP_CNT; do
		grep -q "#define $name\b" "$SRC/include/bpf/usdt.bpf.h" || fail "there is no $name"
		grep -q "$name" "$PAGE" || fail "$name is not named"
	done
}

test_the_examples_compile() {
	{
		printf '#include <linux/bpf.h>\n#include <linux/ptrace.h>\n'
		printf '#include <bpf/bpf_helpers.h>\n#include <bpf/usdt.bpf.h>\n'
		sed -n '/^\.Bd -literal -offset/,/^\.Ed/{/^\./d;p}' "$PAGE"
	} >example.bpf.c
	assert_contains example.bpf.c "BPF_USDT(on_gc"
	clang -O2 -g -target bpf -D__TARGET_ARCH_x86 -Werror -I"$SRC/include" -I"$BUILD/include" \
		-I"/usr/include/$(uname -m)-linux-gnu" -c example.bpf.c -o example.bpf.o
	{
		printf '#include <bpf/libbpf.h>\n#include <string.h>\n#include <unistd.h>\n'
		printf 'int example(struct bpf_program *prog);\nint example(struct bpf_program *prog)\n{\n'
		sed -n '/^\.Sh EXAMPLES/,/^\.Ed/{/^\./d;p}' "$PAGE"
		printf '\treturn 0;\n}\n'
	} >example.c
	assert_contains example.c bpf_program__attach_usdt
	cc -Wall -Werror -I"$SRC/include" -c example.c -o example.o
}

test_the_page_is_well_formed() {
	! command -v mandoc >/dev/null || mandoc -Tlint -W error "$PAGE"
	man -l --warnings "$PAGE" >page 2>warnings </dev/null
	[ ! -s warnings ] || fail "$(cat warnings)"
	assert_contains page bpf_usdt_arg_size
}

run_tests
