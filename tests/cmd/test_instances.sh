#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# One program loaded several times, each with a prologue of its own.
. "$(dirname "$0")/../tap.sh"

test_each_instance_does_its_own() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	compile_bpf "$SRC/tests/vm/instances.bpf.c" instances.bpf.o
	status=0
	"$BUILD/tests/vm/instances" instances.bpf.o >tap 2>&1 || status=$?
	sed 's/^/# | /' tap
	assert_equal $status 0
	! grep -q '^not ok' tap || fail "an instance is not what it should be"
	assert_equal "$(grep -c '^ok' tap)" 9
}

run_tests
