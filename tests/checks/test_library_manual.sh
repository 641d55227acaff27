#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Holds the library's headers and its manual pages of section 3 together.
source "$(dirname "$0")/../tap.sh"

API=$SRC/include/bpf
MAN=$SRC/man

# same_names PAGE PATTERN AT_LEAST: the functions of libbpf.h that match, and those the page names
same_names() {
	grep -oE "$2\(" "$API/libbpf.h" | tr -d '(' | sort -u >declared
	[ "$(wc -l <declared)" -gt "$3" ] || fail "only $(wc -l <declared) declarations were found"
	grep -oE "$2" "$MAN/libperfbpf-$1.3" | sort -u >named
	diff declared named || fail "libperfbpf-$1(3): < is declared only, > is named only"
}

# The lines of the page's displays, from the line that matches FROM on.
displays() { # PAGE [FROM]
	sed -n "/${2:-^\.Bd}/,/^\.Ed/{/^\./d;s/\\\\en/\\\\n/;p}" "$MAN/libperfbpf-$1.3"
}

# builds WORD < example.c: a function's body holds WORD and compiles
builds() {
	cat >example.c
	assert_contains example.c "$1"
	cc -Wall -Werror -I"$SRC/include" -c example.c -o example.o
}

test_every_page_is_well_formed() {
	for page in "$MAN"/*.3; do
		! command -v mandoc >/dev/null || mandoc -Tlint -W error "$page"
		man -l --warnings "$page" >page 2>warnings </dev/null
		[ ! -s warnings ] || fail "$page: $(cat warnings)"
		assert_contains page SYNOPSIS
	done
}

test_attaching_has_every_function_and_nothing_else() {
	same_names attach '\b(bpf_program__attach|bpf_link__)[a-z0-9_]*' 30
}

test_attaching_has_every_mode() {
	grep -oE '\bPROBE_ATTACH_MODE_[A-Z]+' "$API/libbpf.h" | sort -u >declared
	grep -oE '\bPROBE_ATTACH_MODE_[A-Z]+' "$MAN/libperfbpf-attach.3" | sort -u >named
	[ -s declared ] && diff declared named
}

test_attaching_has_an_example_that_compiles() {
	{
		printf '#include <bpf/libbpf.h>\n#include <unistd.h>\n'
		printf 'int example(const struct bpf_program *prog);\n'
		printf 'int example(const struct bpf_program *prog)\n{\n'
		displays attach
		printf '\treturn 0;\n}\n'
	} | builds attach_kprobe_multi
}

test_rings_have_every_function_and_nothing_else() {
	same_names ring '\b(user_ring_buffer|ring_buffer|ring|perf_buffer)__[a-z0-9_]+' 30
}

test_rings_have_an_example_that_compiles() {
	{
		printf '#include <bpf/libbpf.h>\n'
		printf 'int example(int fd, ring_buffer_sample_fn print_event);\n'
		printf 'int example(int fd, ring_buffer_sample_fn print_event)\n{\n'
		displays ring
		printf '\treturn 0;\n}\n'
	} | builds ring_buffer__poll
}

test_btf_has_every_function_and_nothing_else() {
	sed -n 's/^LIBBPF_API .*[ *]\(btf[a-z_]*__[a-z0-9_]*\)(.*/\1/p' "$API/btf.h" |
		sort -u >declared
	[ "$(wc -l <declared)" -gt 60 ] || fail "only $(wc -l <declared) declarations were found"
	grep -oE '\bbtf(_[a-z]+)?__[a-z0-9_]+' "$MAN/libperfbpf-btf.3" | sort -u >named
	diff declared named || fail "libperfbpf-btf(3): < is declared only, > is named only"
	# older names stand in libperfbpf-object(3)
	nm -D --defined-only "$BUILD/libperfbpf.so" | awk '{print $3}' | sed 's/@.*//' |
		grep '^btf' | grep -vwFf <(grep -oE 'btf[a-z_]*__get_raw_data' "$API/libbpf_legacy.h") |
		sort -u >exported
	diff declared exported || fail "< is declared only, > is exported only"
}

test_btf_has_an_example_that_runs() {
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	{
		printf '#include <bpf/btf.h>\n#include <stdio.h>\nint main(void)\n{\n'
		displays btf
		printf '\treturn 0;\n}\n'
	} >example.c
	cc -Wall -Werror -I"$SRC/include" example.c -o example -L"$BUILD" -lperfbpf
	LD_LIBRARY_PATH=$BUILD ./example >offset
	grep -qE '^[0-9]+$' offset
}

test_usdt_has_what_programs_use() {
	grep -oE '^__weak __hidden [a-z]+ bpf_usdt_[a-z_]+' "$API/usdt.bpf.h" | sed 's/.* //' >declared
	[ "$(wc -l <declared)" = 4 ] || fail "$(wc -l <declared) functions are declared"
	while read -r name; do
		grep -q "^\.It Fn $name ctx" "$MAN/libperfbpf-usdt.3" || fail "$name is not explained"
	done <declared
	for name in BPF_USDT BPF_USDT_MAX_SPEC_CNT BPF_USDT_MAX_IP_CNT; do
		grep -q "#define $name\b" "$API/usdt.bpf.h" || fail "there is no $name"
		grep -q "$name" "$MAN/libperfbpf-usdt.3" || fail "$name is not named"
	done
}

test_usdt_has_examples_that_compile() {
	{
		printf '#include <linux/bpf.h>\n#include <linux/ptrace.h>\n'
		printf '#include <bpf/bpf_helpers.h>\n#include <bpf/usdt.bpf.h>\n'
		displays usdt '^\.Bd -literal -offset'
	} >example.bpf.c
	assert_contains example.bpf.c "BPF_USDT(on_gc"
	compile_bpf example.bpf.c example.bpf.o -Werror
	{
		printf '#include <bpf/libbpf.h>\n#include <string.h>\n#include <unistd.h>\n'
		printf 'int example(struct bpf_program *prog);\nint example(struct bpf_program *prog)\n{\n'
		displays usdt '^\.Sh EXAMPLES'
		printf '\treturn 0;\n}\n'
	} | builds bpf_program__attach_usdt
}

run_tests
