#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The libraries give what the public headers declare, and nothing else;
# the headers stand alone, in C and in C++.
. "$(dirname "$0")/../tap.sh"

headers() {
	(cd "$SRC/include" && ls bpf/{bpf,btf,libbpf,libbpf_common,libbpf_legacy,libbpf_version,perf_bpf}.h)
}

test_exports_are_what_the_headers_declare() {
	for h in $(headers); do
		# Declarations may go on over lines; the name stands before the first '('.
		{ tr '\n\t' '  ' <"$SRC/include/$h"; echo; } | sed 's/LIBBPF_API/\n&/g' |
			sed -n 's/^LIBBPF_API [^(;]*[ *]\([a-z_0-9]*\)(.*/\1/p'
	done | sort -u >declared
	nm -D --defined-only "$BUILD/libperfbpf.so" |
		awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort -u >exported
	[ "$(wc -l <declared)" -gt 200 ] || fail "only $(wc -l <declared) declarations were found"
	diff declared exported || fail "< is declared only, > is exported only"
}

test_the_archive_gives_what_the_shared_library_gives() {
	nm -D --defined-only "$BUILD/libperfbpf.so" |
		awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >shared
	nm -g --defined-only "$BUILD/libperfbpf.a" | awk 'NF == 3 { print $3 }' | sort -u >static
	diff shared static || fail "< is in the shared library only, > in the archive only"
}

# A program may have functions and variables of the names that the library has inside, and gets of
# a static library what it uses.
test_names_within_the_library_are_free() {
	nm --defined-only "$BUILD/libperfbpf.a" | awk '$2 == "t" && $3 !~ /\./ { print $3 }' |
		sort -u >inside
	[ "$(grep -cx "error_new\|pin_fd" inside)" = 2 ] || fail "no error_new, no pin_fd"
	{
		echo '#include <bpf/bpf.h>'
		grep -vx 'main' inside | sed 's/.*/int &(void) { return 1; }/'
		echo 'int main(void) { __u32 id; return bpf_prog_get_next_id(0, &id) == -1000; }'
	} >names.c
	cc -w -fno-builtin -I"$SRC/include" -o names names.c "$BUILD/libperfbpf.a" -lz
	./names
	echo '#include <bpf/bpf.h>
		int main(void) { __u32 id; return bpf_prog_get_next_id(0, &id) == -1000; }' >small.c
	cc -I"$SRC/include" -o small small.c "$BUILD/libperfbpf.a" -lz -Wl,--gc-sections
	strip small
	[ "$(stat -c %s small)" -lt 60000 ] || fail "a small program has $(stat -c %s small) bytes"
}

test_no_data_is_exported() {
	nm -D --defined-only "$BUILD/libperfbpf.so" | awk '$2 != "T" && $2 != "A"' >data
	[ ! -s data ] || fail "$(cat data)"
}

# Their libraries define these, and more with each version.
test_no_function_has_a_name_of_libdw_or_libelf() {
	nm -g --defined-only "$BUILD"/libperfbpf{-app,-internal}.a 2>nm.err | awk 'NF == 3 { print $3 }' |
		grep -E '^(dwarf|dwfl|dwelf|elf|elf32|elf64|gelf)_' >theirs || :
	[ ! -s theirs ] || fail "give these the prefix pb_: $(tr '\n' ' ' <theirs)"
}

# The program is linked from archives: of two functions of a name the linker takes the first it meets.
test_no_two_functions_have_the_same_name() {
	nm -A --defined-only "$BUILD/libperfbpf-app.a" "$BUILD/libperfbpf-internal.a" "$BUILD"/perf-bpf.p/*.o 2>/dev/null |
		awk 'NF > 1 && $(NF - 1) ~ /^[TDBR]$/ { print $NF }' | sort >defined
	[ "$(wc -l <defined)" -gt 500 ] || fail "only $(wc -l <defined) symbols were found"
	[ -z "$(uniq -d defined)" ] || fail "twice: $(uniq -d defined)"
}

test_each_header_stands_alone() {
	for h in $(headers); do
		echo "#include <$h>" >one.c
		cc -Wall -Wextra -Werror -std=gnu11 \
			-I"$SRC/include" -fsyntax-only one.c || fail "$h in C"
		command -v c++ >/dev/null || continue
		c++ -x c++ -Wall -I"$SRC/include" -fsyntax-only one.c || fail "$h in C++"
	done
}

test_options_macros_in_c() {
	cat >opts.c <<-'END'
		#include <bpf/bpf.h>
		#include <bpf/libbpf.h>
		#include <stdio.h>
		int main(void)
		{
			LIBBPF_OPTS(bpf_kprobe_opts, opts, .bpf_cookie = 7, .retprobe = true);
			LIBBPF_OPTS(bpf_map_create_opts, none);
			const unsigned char *bytes = (void *)&opts;
			int set = 0;

			for (size_t i = 0; i < sizeof(opts); i++)
				set += bytes[i] != 0;
			LIBBPF_OPTS_RESET(opts, .offset = 3);
			printf("%d %d %zu %d\n", set, none.map_flags, opts.offset, opts.retprobe);
			return opts.sz != sizeof(opts);
		}
	END
	cc -Wall -Werror -O2 -I"$SRC/include" opts.c -o opts
	assert_equal "$(./opts)" "3 0 3 0" # sz, the cookie, retprobe: no other byte
}

run_tests
