#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Attaching on real kernels, 5.10 to the newest, in QEMU: see guest/run-tests.
# All kernels run the same tests from the same initramfs, two at a time.
. "$(dirname "$0")/../tap.sh"
HERE=$SRC/tests/vm
KERNELS="bullseye bookworm trixie sid"

# What the guests need and no kernel is run without.
why_not() {
	[ "$(uname -m)" = x86_64 ] || { echo "the guests are x86-64"; return; }
	for tool in qemu-system-x86_64 cpio clang busybox; do
		command -v $tool >/dev/null || { echo "no $tool"; return; }
	done
	[ -x "$BUILD/tests/vm/client" ] || echo "no $BUILD/tests/vm/client"
}

# One kernel: its output to guest.SUITE, or the reason why there is none to skip.SUITE.
run_guest() {
	local suite=$1 kernel
	kernel=$("$HERE/fetch-kernel" "$suite" 2>fetch."$suite") || {
		echo "${kernel:-fetch-kernel failed}" >skip."$suite"
		return
	}
	"$HERE/boot" "$kernel" initramfs guest."$suite" || :
}

numbered=0
report() {
	local suite=$1 release line
	if [ -e skip."$suite" ]; then
		echo "ok $((++numbered)) - $suite # SKIP $(cat skip."$suite")"
		return
	fi
	release=$(sed -n 's/^guest: up \([0-9]*\.[0-9]*\).*/\1/p' guest."$suite" | head -n 1)
	while read -r line; do
		case $line in
		"ok - "*) echo "ok $((++numbered)) - ${release:-$suite} ${line#ok - }" ;;
		"not ok - "*) echo "not ok $((++numbered)) - ${release:-$suite} ${line#not ok - }" ;;
		"#"*) echo "$line" ;;
		esac
	done < <(tr -d '\r' <guest."$suite")
	if grep -q '^guest: done' guest."$suite"; then
		echo "ok $((++numbered)) - ${release:-$suite} the guest came to its end"
	else
		tail -n 30 guest."$suite".console guest."$suite".qemu 2>/dev/null | tr -d '\r' | sed 's/^/# /'
		echo "not ok $((++numbered)) - ${release:-$suite} the guest came to its end"
	fi
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
bpf() { # SOURCE OUTPUT OPTIONS...
	local source=$1 output=$2
	shift 2
	clang -O2 -g -target bpf -D__TARGET_ARCH_x86 -I"$SRC/include" -I"$BUILD/include" \
		-I/usr/include/x86_64-linux-gnu "$@" -c "$HERE/$source" -o "$output"
}
bpf attach.bpf.c attach.bpf.o
objects=(attach.bpf.o=tests/attach.bpf.o)
for kind in tracepoint kprobe kretprobe uprobe fentry; do
	bpf record.bpf.c $kind.bpf.o -D${kind^^}
	objects+=("$kind.bpf.o=tests/$kind.bpf.o")
done
for name in maps legacy short core newer refused; do
	bpf ../bpf/$name.bpf.c $name.bpf.o
	objects+=("$name.bpf.o=tests/$name.o")
done
objects+=("$BUILD/tests/cmd/object_client=bin/object_client")
"$HERE/make-initramfs" initramfs "$BUILD/tests/vm/client=bin/client" "$BUILD/perf-bpf=bin/perf-bpf" \
	"${objects[@]}"
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
