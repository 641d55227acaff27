#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Holds <bpf/btf.h>, libperfbpf-btf(3) and the library together.
source "$(dirname "$0")/../tap.sh"

declared() {
	sed -n 's/^LIBBPF_API .*[ *]\(btf[a-z_]*__[a-z0-9_]*\)(.*/\1/p' "$SRC/include/bpf/btf.h" | sort -u
}

test_every_function_is_in_the_manual() {
	declared >declared
	[ "$(wc -l <declared)" -gt 60 ] || fail "only $(wc -l <declared) declarations were found"
	while read -r name; do
		grep -qw -- "$name" "$SRC/man/libperfbpf-btf.3" || fail "$name is not in the manual"
	done <declared
}

test_the_manual_names_nothing_else() {
	declared >declared
	grep -oE '\bbtf(_[a-z]+)?__[a-z0-9_]+' "$SRC/man/libperfbpf-btf.3" | sort -u >named
	comm -13 declared named >extra
	[ ! -s extra ] || fail "not in btf.h: $(cat extra)"
}

test_the_library_exports_them_all() {
	declared >declared
	nm -D --defined-only "$BUILD/libperfbpf.so" | awk '{print $3}' | sed 's/@.*//' |
		grep '^btf' | sort -u >exported
	diff declared exported
}

test_the_example_compiles_and_agrees_with_c() {
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	{
		printf '#include <bpf/btf.h>\n#include <stdio.h>\nint main(void)\n{\n'
		sed -n '/^\.Bd/,/^\.Ed/{/^\./d;s/\\en/\\n/;p}' "$SRC/man/libperfbpf-btf.3"
		printf '\treturn 0;\n}\n'
	} >example.c
	cc -Wall -Werror -I"$SRC/include" example.c -o example -L"$BUILD" -lperfbpf
	LD_LIBRARY_PATH=$BUILD ./example >offset
	grep -qE '^[0-9]+$' offset
}

test_the_page_is_well_formed() {
	command -v mandoc >/dev/null && mandoc -Tlint -W error "$SRC/man/libperfbpf-btf.3"
	man -l --warnings "$SRC/man/libperfbpf-btf.3" >page 2>warnings </dev/null
	[ ! -s warnings ] || fail "$(cat warnings)"
	assert_contains page btf__find_by_name
}

run_tests
