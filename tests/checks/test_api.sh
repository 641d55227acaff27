#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Holds doc/api.md, the headers and the library together.
. "$(dirname "$0")/../tap.sh"
TABLE=$SRC/doc/api.md

# rows STATUS...: the calls of the table that are one of these
rows() {
	for status in "$@"; do
		sed -n "s/^| \`\([a-z0-9_]*\)\` | [^|]* | $status |.*/\1/p" "$TABLE"
	done | sort
}

declared() {
	for h in bpf btf libbpf libbpf_legacy perf_bpf; do
		# Declarations may go on over lines; the name stands before the first '('.
		{ tr '\n\t' '  ' <"$SRC/include/bpf/$h.h"; echo; } | sed 's/LIBBPF_API/\n&/g' |
			sed -n 's/^LIBBPF_API [^(;]*[ *]\([a-z_0-9]*\)(.*/\1/p'
	done | sort -u
}

exports_of() {
	nm -D --defined-only "$1" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort -u
}

test_each_declared_call_has_its_row() {
	declared >declared
	rows same different ours >rows
	comm -23 declared rows >missing
	while read -r name; do
		if row=$(grep "^| \`$name\` .* | absent | " "$TABLE"); then
			echo "# doc/api.md: it is declared now: make its row"
			echo "# $(sed 's/ | absent | .*/ | same | |/' <<<"$row")"
		else
			echo "# doc/api.md lacks a row (of libbpf: its version and same or different;"
			echo "# else '-' and ours), in the section of its kind, sorted:"
			echo "# | \`$name\` | - | ours | |"
		fi
	done <missing
	[ ! -s missing ] || fail "$(wc -l <missing) to change in doc/api.md"
	comm -13 declared rows >extra
	[ ! -s extra ] || fail "in doc/api.md, but in no header (absent?): $(cat extra)"
}

test_what_is_there_is_exported_and_what_is_absent_is_not() {
	exports_of "$BUILD/libperfbpf.so" >exported
	rows same different ours >there
	rows absent >absent
	comm -23 there exported >missing
	[ ! -s missing ] || fail "not exported: $(cat missing)"
	comm -12 absent exported >extra
	[ ! -s extra ] || fail "absent in doc/api.md, and exported: $(cat extra)"
	[ "$(wc -l <there)" -gt 300 ] || fail "only $(wc -l <there) rows were found"
}

test_each_call_stands_in_a_manual_page() {
	exports_of "$BUILD/libperfbpf.so" >exported
	grep -ohE '\b[a-z_0-9]+\b' "$SRC"/man/libperfbpf*.3 | sort -u >words
	comm -23 exported words >missing
	[ ! -s missing ] || fail "in no man/libperfbpf*.3: $(cat missing)"
	# And no page names a call that is not there.
	grep -ohE '^\.(It )?Fn .*' "$SRC"/man/libperfbpf-{object,syscall}.3 |
		grep -oE '\b(libbpf|bpf|perf_bpf|btf)_[a-z_0-9]+' | sort -u |
		grep -vxE 'bpf_object__for_each_(program|map)' >named
	comm -13 exported named >extra
	[ ! -s extra ] || fail "named in a page, but not there: $(cat extra)"
}

test_rows_are_well_formed() {
	grep '^| `' "$TABLE" >rows
	! grep -vE '^\| `[a-z0-9_]+` \| ([01]\.[0-9]+\.[0-9]+|-) \| (same|different|absent|ours) \|( [^|]+)? \|$' rows ||
		fail "malformed, see above"
	! grep -E '\| (different|absent) \| \|$' rows || fail "a remark is missing, see above"
	! grep -E '\| - \| (same|different|absent) |\| [01][0-9.]* \| ours ' rows ||
		fail "'-' and ours go together, see above"
	sort rows | cut -d'|' -f2 | uniq -d >twice
	[ ! -s twice ] || fail "twice: $(cat twice)"
	# Sorted within each section.
	awk '/^## / { section++ } /^\| `/ { gsub("`", "", $2); print section, $2 }' "$TABLE" >order
	LC_ALL=C sort -c -k1,1n -k2,2 order || fail "not sorted"
}

test_no_call_of_libbpf_is_left_out() {
	# Debian's is older; what it has, 1.7 has.
	lib=$(ls /usr/lib/*/libbpf.so.1 /usr/lib/libbpf.so.1 2>/dev/null | head -n 1)
	[ -n "$lib" ] || skip "libbpf is not installed"
	exports_of "$lib" >theirs
	rows same different absent >ours
	comm -23 theirs ours >missing
	[ ! -s missing ] || fail "not in doc/api.md: $(cat missing)"
	assert_equal "$(wc -l <ours)" 356 # lines of libbpf.map up to LIBBPF_1.7.0
}

# prototypes FLAG...: of the functions in ./both, as the headers have them, without names of parameters
prototypes() {
	printf '#include <bpf/bpf.h>\n#include <bpf/btf.h>\n#include <bpf/libbpf.h>\n' >all.c
	gcc -w "$@" -aux-info all.protos -fsyntax-only all.c
	sed -n 's/^.*\*\/ extern \(.*[ *]\([a-z_0-9]*\) (.*\)$/\2 \1/p' all.protos | sort -u |
		join both - | sed 's/, \.\.\./,.../'
}

# What libbpf itself changed after 1.1, in 1.2 and 1.4.
CHANGED="bpf_btf_load bpf_map__initial_value bpf_prog_load"

# Programs are compiled against either: where both declare a function, its type is one.
test_prototypes_agree_with_libbpf() {
	[ -e /usr/include/bpf/libbpf.h ] || skip "libbpf-dev is not installed"
	gcc --version | grep -qi gcc || skip "gcc -aux-info is gcc's"
	declared >both
	prototypes >theirs
	declared >both
	prototypes -I"$SRC/include" >ours
	join <(cut -d' ' -f1 theirs) <(cut -d' ' -f1 ours) |
		grep -vxF "$(tr ' ' '\n' <<<"$CHANGED")" >both
	[ "$(wc -l <both)" -gt 250 ] || fail "only $(wc -l <both) are in both"
	diff <(join both theirs) <(join both ours) || fail "< libbpf's, > ours"
}

# What goes with calls that doc/api.md says are absent, and macros for headers of old kernels.
ABSENT='bpf_(linker|tc|xdp)_|bpf_linker|bpf_xdp_|gen_loader|BPF_TC_|BTF_KIND_|bpf_object__gen_loader'
ABSENT="$ABSENT|MAPS_RELAX_COMPAT|LIBBPF_DEPRECATED_SINCE|libbpf_set_memlock_rlim|bpf_prog_test_run_attr"

# names FLAG...: macros, types, members, enumerators and inline functions that libbpf's headers
# and what these include declare
names() {
	for h in bpf btf libbpf libbpf_common libbpf_legacy libbpf_version; do
		printf '#include <bpf/%s.h>\n' $h
	done >names.c
	gcc "$@" -E -dM names.c | sed -n 's/^#define \([A-Za-z0-9][A-Za-z_0-9]*\).*/macro \1/p'
	gcc "$@" -E -P names.c >names.i
	ctags --language-force=C --kinds-C=egstufmp -x --_xformat='%N %K %{scope}' names.i |
		awk -v absent="^($ABSENT)" '$1 !~ /^__anon/ && $3 !~ absent { print $2, $1 }'
}

# A client that names a macro or a struct, and not only calls, compiles too.
test_no_name_of_libbpfs_headers_is_left_out() {
	[ -e /usr/include/bpf/libbpf.h ] || skip "libbpf-dev is not installed"
	command -v ctags >/dev/null || skip "no ctags (package universal-ctags)"
	names | sort -u >theirs
	names -I"$SRC/include" | sort -u >ours
	[ "$(wc -l <theirs)" -gt 2000 ] || fail "only $(wc -l <theirs) names were found"
	comm -23 theirs ours | grep -vE "^[a-z]+ ($ABSENT)" >missing || :
	[ ! -s missing ] || fail "libbpf's headers have, and ours lack: $(tr '\n' ',' <missing)"
}

# What only newer headers of libbpf have, and what skeletons and clients name.
test_names_of_newer_headers() {
	cat >client.c <<-'END'
		#include <bpf/bpf.h>
		#include <bpf/btf.h>
		#include <bpf/libbpf.h>
		#include <bpf/libbpf_version.h>
		#if LIBBPF_MAJOR_VERSION < 1
		#error
		#endif
		struct kconfig { enum libbpf_tristate value; };
		static const struct kconfig all[] = {{TRI_NO}, {TRI_YES}, {TRI_MODULE}};
		const char *const section = BTF_BASE_ELF_SEC;
		int main(void)
		{
			fprintf(stderr, "%zu %zu\n", (size_t)BPF_LOG_BUF_SIZE, sizeof(all));
			return 0;
		}
	END
	cc -Wall -Werror -I"$SRC/include" client.c -o client
	assert_equal "$(./client 2>&1)" "16777215 12"
}

run_tests
