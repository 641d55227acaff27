#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The golden recordings: perf still prints what is kept beside them, and the tests that read them
# pass on ones that are made anew.
. "$(dirname "$0")/../tap.sh"

# make_golden OPTION...: skips where there is no such perf
make_golden() {
	local status=0
	"$SRC/tests/golden/make" "$@" >out 2>&1 || status=$?
	[ $status != 77 ] || skip "$(tail -n 1 out)"
	[ $status = 0 ] || { sed 's/^/# /' out; fail "tests/golden/make $* ended with $status"; }
}

test_text_is_perfs() {
	mkdir golden
	cp "$SRC"/tests/golden/*.tar.xz golden
	make_golden --texts golden
	for archive in "$SRC"/tests/golden/texts/*.tar.xz; do
		mkdir kept new
		tar -C kept -xJf "$archive"
		tar -C new -xJf "golden/texts/${archive##*/}"
		diff -r kept new >diff.out || { head -n 40 diff.out; fail "${archive##*/} differs"; }
		[ -n "$(ls kept)" ] || fail "${archive##*/} is empty"
		rm -r kept new
	done
}

test_recordings_made_anew() {
	mkdir golden
	make_golden golden
}

run_tests
