#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Attaching on real kernels, 5.10 to the newest, in QEMU: see guest/run-tests.
# All kernels run the same tests from the same initramfs, two at a time.
. "$(dirname "$0")/../tap.sh"
. "$SRC/tests/vm/guests.sh"
KERNELS=${KERNELS:-"bullseye bookworm trixie sid"}

# What the guests need and no kernel is run without.
why_not() {
	[ "$(uname -m)" = x86_64 ] || { echo "the guests are x86-64"; return; }
	for tool in qemu-system-x86_64 cpio clang busybox; do
		command -v $tool >/dev/null || { echo "no $tool"; return; }
	done
	[ -x "$BUILD/tests/vm/client" ] || echo "no $BUILD/tests/vm/client"
}

work=$(mktemp -d "${TMPDIR:-/tmp}/perf-bpf-vm.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
reason=$(why_not)
if [ -n "$reason" ]; then
	echo "1..0 # SKIP $reason"
	exit 0
fi
set -e
make_initramfs
set +e
running=()
for suite in $KERNELS; do
	run_guest "$suite" &
	running+=($!)
	if [ ${#running[@]} = 2 ]; then
		wait "${running[0]}"
		running=("${running[@]:1}")
	fi
done
wait "${running[@]}"
for suite in $KERNELS; do
	report "$suite"
done
echo "1..$numbered"
