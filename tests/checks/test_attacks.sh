#!/usr/bin/env bash
# Each attack in the threat model of the service (doc/security.md) names the tests that try it.
. "$(dirname "$0")/../tap.sh"

attacks() {
	sed -n '/^| attack | what prevents it | tests |/,/^$/p' "$SRC/doc/security.md" | sed 1,2d | grep .
}

test_each_attack_has_tests() {
	local name tests
	[ "$(attacks | wc -l)" -gt 20 ] || fail "the table of attacks is not found"
	attacks | awk -F ' \\| ' '{ print $NF }' | sed 's/ |$//; s/,//g' >tests
	while read -r tests; do
		[ -n "$tests" ] || fail "an attack has no test"
		for name in $tests; do
			grep -qx "test_$name() {" "$SRC/tests/cmd/test_delegate.sh" "$SRC/tests/cmd/test_delegate_trace.sh" ||
				fail "there is no test '$name'"
		done
	done <tests
}

run_tests
