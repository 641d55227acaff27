#!/usr/bin/env bash
# A fresh clone builds, as the README says, without a warning, and leaves no file behind.
. "$(dirname "$0")/../tap.sh"

test_a_fresh_clone_builds_and_shows_its_demo() {
	git -C "$SRC" rev-parse HEAD >/dev/null 2>&1 || skip "this is not a git repository"
	git clone -q "$SRC" clone 2>err || { cat err; fail "git clone failed"; }
	# BUILD is of tests/run, and would be the folder that the clone builds in.
	env -u BUILD -u MAKEFLAGS make -C clone all >log 2>&1 || { tail -n 50 log; fail "make failed"; }
	clone/build/perf-bpf --version
	! grep -E 'warning:' log || fail "the build warns"
	[ "$(id -u)" = 0 ] || skip "the demo takes root"
	clone/tools/demo clone/build/perf-bpf >out 2>err || { cat out err; fail "the demo failed"; }
	assert_contains out "the 5 of 1234 bytes were kept"
	[ -z "$(git -C clone status --porcelain)" ] || fail "building leaves files behind"
}

run_tests
