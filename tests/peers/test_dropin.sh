#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs as Debian ships them, linked with libbpf.so.1: they are run with
# libbpf, and with this library under that name. What is installed as
# libperfbpf.so.0 cannot stand in: its symbols have versions of its own, and the
# loader wants libbpf's. So the archive is linked anew, without versions, which
# the loader takes with a warning.
. "$(dirname "$0")/../tap.sh"

# The stand-in, as ./lib/libbpf.so.1
stand_in() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	mkdir lib
	cc -shared -o lib/libbpf.so.1 -Wl,-soname,libbpf.so.1 -Wl,--whole-archive \
		"$BUILD/libperfbpf.a" -Wl,--no-whole-archive -lelf -lz
}

# needs PROGRAM...: skips unless they are there, are linked with libbpf, and we have all they call
needs() {
	local program path symbol
	nm -D --defined-only lib/libbpf.so.1 | awk '{ print $3 }' | sort >have
	for program in "$@"; do
		path=$(PATH=$PATH:/usr/sbin:/sbin command -v "$program") || skip "no $program"
		ldd "$path" | grep -q libbpf.so.1 || skip "this $program is not linked with libbpf.so.1"
		nm -D --undefined-only "$path" | sed -n 's/.* U \([a-z_0-9]*\)@LIBBPF_.*/\1/p' |
			sort >wants
		missing=$(comm -23 wants have | tr '\n' ' ')
		[ -z "$missing" ] || skip "$program needs ${missing% }"
	done
}

# with LIBRARY COMMAND...: to the file LIBRARY; what the loader warns of is left out
with() {
	local who=$1
	shift
	LD_LIBRARY_PATH=$([ "$who" = libbpf ] || echo "$TMP/lib") "$@" 2>&1 |
		grep -v 'no version information available' >"$who" || :
}

test_tc_and_ip_load_objects() {
	stand_in
	needs tc ip
	cat >net.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 1);
			__type(key, int);
			__type(value, long);
		} seen SEC(".maps");
		SEC("tc") int dropin_tc(struct __sk_buff *skb)
		{
			int key = 0;
			long *n = bpf_map_lookup_elem(&seen, &key);

			if (n)
				__sync_fetch_and_add(n, 1);
			return 0;
		}
		SEC("xdp") int dropin_xdp(struct xdp_md *ctx) { return XDP_PASS; }
		char LICENSE[] SEC("license") = "GPL";
	END
	compile_bpf net.bpf.c net.o
	for library in libbpf ours; do
		with $library unshare -n sh -c '
			ip link set lo up
			tc qdisc add dev lo clsact
			tc filter add dev lo ingress bpf da obj net.o sec tc
			tc filter show dev lo ingress
			ip link set dev lo xdpgeneric obj net.o sec xdp
			ip link show dev lo'
		sed -i 's/ id [0-9]*//' $library
	done
	grep -q "name dropin_tc" libbpf && grep -q "name dropin_xdp" libbpf ||
		skip "this kernel does not take it from libbpf: $(grep -i error libbpf | head -n 1)"
	diff libbpf ours
}

test_bpftrace_counts() {
	stand_in
	needs bpftrace
	echo "import os; [os.getppid() for i in range(1234)]" >calls.py
	for library in libbpf ours; do
		with $library bpftrace -c "$(readlink -f /usr/bin/python3) $TMP/calls.py" -e \
			'tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @calls = count(); }
			 uprobe:/bin/true:main { @mains = count(); }
			 profile:hz:49 /pid == cpid/ { @samples[comm] = count(); }'
		grep -q "^@calls: 1234$" $library || { cat $library; fail "$library: not 1234"; }
	done
}

# A small program, and one with thousands of types.
test_pahole_writes_the_same_btf() {
	stand_in
	needs pahole
	echo 'struct a { int x; struct b { long y[3]; } *b; }; struct a a; int main(void) { return a.x; }' >a.c
	cc -g -o small a.c
	cp "$BUILD/perf-bpf" large
	for program in small large; do
		for library in libbpf ours; do
			cp $program $program.$library
			with $library pahole -J $program.$library
			[ ! -s $library ] || { cat $library; fail "pahole -J with $library"; }
			objcopy -O binary --only-section=.BTF --set-section-flags .BTF=alloc \
				$program.$library btf.$library
			with $library pahole -F btf $program.$library
		done
		[ -s btf.ours ] || fail "$program: no BTF"
		cmp btf.libbpf btf.ours
		diff libbpf ours
	done
	grep -q "struct bpf_object {" ours
}

run_tests
