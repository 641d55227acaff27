#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Arguments by DWARF in random programs, in many compilers' ways; and a large
# real binary, whose debug information gdb reads too.
. "$(dirname "$0")/../tap.sh"
ASK=$BUILD/tests/probe/dwarf-ask

test_values_of_random_programs() {
	"$SRC/tests/probe/oracle.sh" "$BUILD/tests/probe/dwarf-oracle" "${FIRST_SEED:-1}" \
		"${LAST_SEED:-6}"
}

# The entry of each function is where gdb has it, in a binary made of one unit by LTO.
test_a_real_binary() {
	[ -x /usr/bin/python3.11 ] || skip "python3.11 is not installed"
	command -v gdb >/dev/null || skip "gdb is not installed"
	"$ASK" /usr/bin/python3.11 'inlines=no;PyList_*' >out 2>err ||
		skip "no debug information for python3.11: $(tail -n 1 err)"
	gdb -q -batch -ex 'info functions -n ^PyList_' /usr/bin/python3.11 >/dev/null 2>&1
	sed -n 's/^\(PyList_[A-Za-z]*\)+0 .* at \(0x[0-9a-f]*\) .*/info address \1\n/p' out |
		sed '/^$/d' >ask.gdb
	[ "$(wc -l <ask.gdb)" -ge 10 ] || fail "few functions"
	gdb -q -batch -x ask.gdb /usr/bin/python3.11 2>/dev/null |
		sed -n 's/^Symbol "\([A-Za-z_]*\)" is a function at address \(0x[0-9a-f]*\)\..*/\1 \2/p' | sort >gdb.out
	sed -n 's/^\(PyList_[A-Za-z]*\)+0 .* at \(0x[0-9a-f]*\) \1+0$/\1 \2/p' out | sort >own.out
	[ -s own.out ] || fail "nothing to compare"
	comm -23 own.out gdb.out >wrong
	[ ! -s wrong ] || { cat wrong; fail "gdb has other addresses"; }
}

run_tests
