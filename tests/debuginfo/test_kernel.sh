#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Probes of a kernel by its DWARF, on Debian's 6.1 in QEMU: inlined functions,
# lines, locals. The kernel's package -dbg, 260 MB, is fetched once.
. "$(dirname "$0")/../tap.sh"
VM=$SRC/tests/vm

test_6_1() {
	local tool kernel
	[ "$(uname -m)" = x86_64 ] || skip "the guest is x86-64"
	for tool in qemu-system-x86_64 cpio busybox mke2fs; do
		command -v $tool >/dev/null || [ -x /usr/sbin/$tool ] || skip "no $tool"
	done
	kernel=$("$VM/fetch-kernel" bookworm debug 2>fetch.log) || skip "${kernel:-fetch-kernel failed}"
	"$VM/make-initramfs" initramfs "$BUILD/perf-bpf=bin/perf-bpf" \
		"$BUILD/tests/vm/client=bin/client" "$VM/guest/run-debuginfo=run-tests"
	mkdir disk
	cp "$kernel/vmlinux" disk/
	truncate -s "$(($(stat -c %s disk/vmlinux) + (128 << 20)))" disk.img
	PATH=$PATH:/usr/sbin mke2fs -q -t ext4 -F -d disk disk.img
	rm -r disk
	GUEST_DISK=$PWD/disk.img "$VM/boot" "$kernel" initramfs guest || :
	tr -d '\r' <guest >told
	sed 's/^/# /' told
	grep -q '^guest: done' told || { tail -n 30 guest.console; fail "the guest did not come to its end"; }
	! grep '^not ok' told || fail "see above"
	[ "$(grep -c '^ok' told)" = 6 ] || fail "$(grep -c '^ok' told) checks, wanted 6"
}

run_tests
