#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What bpftrace reads of a USDT probe's arguments and what we read of them.
# (Variables relative to the instruction pointer are left out: bpftrace 0.17
# reads them wrongly. tests/cmd/test_usdt.sh has them.)
. "$(dirname "$0")/../tap.sh"
CLIENT=$BUILD/tests/vm/usdt_client

test_sums_are_bpftraces() {
	[ "$(id -u)" = 0 ] || skip "attaching takes root"
	[ -x "$CLIENT" ] || skip "built without <sys/sdt.h> (package systemtap-sdt-dev)"
	command -v bpftrace >/dev/null || skip "no bpftrace"
	compile_bpf "$SRC/tests/vm/usdt.bpf.c" usdt.bpf.o
	cat >marks.c <<-'E'
		#include <sys/sdt.h>
		int main(int argc, char **argv)
		{
			int table[8] = {1, -2, 3, -4, 5, -6, 7, -argc};
			for (volatile int i = 0; i < 100; i++) {
				long n = i;
				int at = i & 7;
				__asm__ volatile("" : "+r"(at), "+m"(table));
				STAP_PROBE5(perfbpf_peer, mark, n, (short)(i - 50), table[at], (unsigned char)i, i);
				STAP_PROBE5(perfbpf_peer, mark, 7L, (short)-1, table[at], 200, i);
			}
			return 0;
		}
	E
	gcc -O2 -o marks marks.c
	readelf -n marks 2>/dev/null | sed -n 's/.*Arguments: /# /p'
	bpftrace -c ./marks -e 'usdt:./marks:perfbpf_peer:mark {
		@n = count(); @a = sum(arg0); @b = sum(arg1); @c = sum(arg2); @d = sum(arg3); @e = sum(arg4);
	}' >theirs 2>log || { cat log; fail "bpftrace"; }
	"$CLIENT" usdt.bpf.o pid -1 "$PWD/marks" perfbpf_peer mark >ours &
	pid=$!
	for _ in $(seq 100); do
		grep -q attached ours && break
		sleep 0.05
	done
	./marks
	wait $pid
	# bpftrace prints sums of negative numbers as unsigned ones of 64 bits.
	their=$(for v in n a b c d e; do
		printf '%d ' "$(sed -n "s/^@$v: //p" theirs | awk '{ print $1 }' |
			python3 -c 'v = int(input()); print(v - 2**64 if v >= 2**63 else v)')"
	done)
	our=$(sed -n 's/^calls \([0-9]*\) errors 0 count 5 /\1 /p' ours)
	echo "# $our"
	assert_equal "$our " "$their"
}

run_tests
