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

# A parameter that lives on only as its value at the entry: what is recorded, there and where the
# register has another value, is what gdb says that it was (NAME@entry).
test_values_at_the_entry() {
	command -v gdb >/dev/null || skip "gdb is not installed"
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	cat >entry.c <<-'END'
		#include <stdio.h>
		long total;
		__attribute__((noipa)) void use(long v)
		{
			total += v;
		}
		__attribute__((noipa)) long price(long key, long count)
		{
			use(key);
			use(count);
			total++; /* here */
			use(3);
			return total;
		}
		int main(void)
		{
			for (long i = 1; i <= 9; i++)
				price(i * 37, i - 5);
			return 0;
		}
	END
	local here build
	here=$(grep -n here entry.c | cut -d: -f1)
	for build in "gcc -gdwarf-5" "gcc -gdwarf-4"; do
		$build -O2 -o entry entry.c
		cat >ask.gdb <<-END
			set breakpoint pending off
			break entry.c:$here
			commands
			silent
			printf "key=%ld count=%ld\\n", key@entry, count@entry
			continue
			end
			run
		END
		gdb -q -batch -x ask.gdb ./entry 2>gdb.err | grep '^key=' >theirs
		[ "$(wc -l <theirs)" = 9 ] || skip "this gdb has no values at the entry: $(head -n 1 gdb.err)"
		"$PERF_BPF" record -q -o entry.data -e 'probe:exec=./entry;price key count' ./entry 2>err ||
			fail "$build: $(cat err)"
		"$PERF_BPF" script -i entry.data | sed -n 's/.*probe_entry:price: \(key=.*\)/\1/p' >ours
		diff theirs ours || fail "$build: gdb has other values"
		"$PERF_BPF" probe -x ./entry 'price:4 key count' >shown
		grep -q '@entry' shown || fail "$build: no value is kept at the entry: $(cat shown)"
		"$PERF_BPF" record -q -o entry.data -e 'probe:exec=./entry;price:4 key count' ./entry 2>err ||
			fail "$build: $(cat err)"
		"$PERF_BPF" script -i entry.data -F trace | sed 's/^ *//' >ours
		diff theirs ours || fail "$build: gdb has other values behind the entry"
	done
}

run_tests
