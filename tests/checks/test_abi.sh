#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What a program was compiled for stays: the binary interface of the last
# release (the newest abi/perf-bpf-VERSION.txt) is part of today's. New things
# are fine, and so is a struct that grew at its end.
. "$(dirname "$0")/../tap.sh"

needs_tools() {
	command -v ctags >/dev/null || skip "universal-ctags is not installed"
	gcc --version 2>/dev/null | grep -q 'Free Software' || skip "gcc -aux-info is gcc's"
}

last_release() {
	ls "$SRC"/abi/perf-bpf-*.txt | sort -V | tail -n 1
}

# compare OLD NEW: what is gone or changed
compare() {
	awk '
		{ key = $1 " " $2; value = $0; sub(/^[^ ]+ [^ ]+ /, "", value) }
		FNR == NR { now[key] = value; next }
		!(key in now) { print "gone: " $0; next }
		$1 == "struct" && now[key] + 0 > value + 0 { next }
		now[key] != value { print "changed: " $0 "; now: " now[key] }
	' "$2" "$1"
}

test_the_last_release_is_part_of_it() {
	needs_tools
	old=$(last_release)
	"$SRC/tools/abi" >now
	[ "$(wc -l <now)" -gt 600 ] || fail "tools/abi found only $(wc -l <now) things"
	compare "$old" now >broken
	if [ -s broken ]; then
		sed 's/^/# /' broken
		version=$(basename "$old" .txt)
		fail "programs compiled for ${version#perf-bpf-} would break" \
			"(if it is not tagged yet, and this is meant: tools/abi >abi/$version.txt)"
	fi
}

test_what_is_exported_is_what_it_lists() {
	needs_tools
	"$SRC/tools/abi" | sed -n 's/^function \([^ ]*\) .*/\1/p' | sort >listed
	nm -D --defined-only "$BUILD/libperfbpf.so" |
		awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort >exported
	diff listed exported || fail "< in the headers, > exported"
}

test_the_comparison_sees_what_breaks() {
	cat >old <<-'END'
		enum A 1
		function f int f (int)
		function g int g (void)
		member s.a 0 4
		struct s 16
	END
	sed 's/^struct s 16/struct s 24/' old >now
	echo "function h int h (void)" >>now
	[ -z "$(compare old now)" ] || fail "a struct that grew, a function more: $(compare old now)"
	for change in 's/^enum A 1/enum A 2/' '/^function g/d' 's/f (int)/f (long)/' \
		's/s\.a 0/s.a 8/' 's/^struct s 16/struct s 8/'; do
		sed "$change" old >now
		[ "$(compare old now | wc -l)" = 1 ] || fail "not seen: $change"
	done
}

test_the_version_has_a_changelog() {
	version=$(sed -n "s/^ *version: '\([0-9.]*\)',$/\1/p" "$SRC/meson.build" | head -n 1)
	grep -qE "^## $version, [0-9]{4}-[0-9]{2}-[0-9]{2}$" "$SRC/CHANGELOG.md" ||
		fail "CHANGELOG.md has no section '$version, DATE'"
	assert_equal "$(sed -n '1s/^perf-bpf (\(.*\)) .*/\1/p' "$SRC/debian/changelog")" "$version"
	[ "$(printf '%s\n' "perf-bpf-$version.txt" "$(basename "$(last_release)")" | sort -V | tail -n 1)" = \
		"perf-bpf-$version.txt" ] || fail "abi/ has a later version than meson.build"
}

run_tests
