#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# arm64: all is built for it, and a kernel of it runs the tests that the other
# kernels run (guest/run-tests). The unit tests run meanwhile, most of them
# without a kernel (guest/run-unit).
. "$(dirname "$0")/../tap.sh"
BUILD=$SRC/build-arm64
ARCH=arm64
CC=aarch64-linux-gnu-gcc
. "$SRC/tests/vm/guests.sh"
suite=${KERNEL:-trixie}-arm64

work=$(mktemp -d "${TMPDIR:-/tmp}/perf-bpf-arm64.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}
for tool in qemu-system-aarch64 $CC meson cpio clang; do
	command -v $tool >/dev/null || skip_all "no $tool"
done
SYSROOT=$("$HERE/fetch-sysroot" $ARCH 2>fetch) || skip_all "${SYSROOT:-fetch-sysroot failed}"
"$HERE/fetch-kernel" "$suite" >kernel 2>fetch || skip_all "$(cat kernel)"
export SYSROOT STRIP=aarch64-linux-gnu-strip

# Not all of it: what is run there.
build() {
	[ -e "$BUILD/build.ninja" ] || meson setup "$BUILD" "$SRC" --buildtype=plain -Dc_args=-O1 \
		-Ddefault_library=static --cross-file "$SYSROOT/meson.ini" \
		--cross-file "$HERE/cross-arm64.ini" || return
	ninja -C "$BUILD" build.ninja || return # of an earlier tree, it has other tests
	units=$(meson introspect "$BUILD" --targets | python3 -c 'import json, sys
for target in json.load(sys.stdin):
    if "/tests/unit/" in target["defined_in"] and target["name"].startswith("test_"):
        print("tests/unit/" + target["name"])') || return
	ninja -C "$BUILD" perf-bpf tests/vm/{client,instances,testmod_client,ways,usdt_client} \
		tests/cmd/{attached,refused,object_client,kinds_client,trace_client,trace_work} tests/probe/dwarf-oracle $units
}
if ! build >build.log 2>&1; then
	tail -n 40 build.log | sed 's/^/# /'
	echo "not ok 1 - arm64 builds"
	echo "1..1"
	exit 1
fi
echo "ok $((++numbered)) - arm64 builds"
CC="$CC --sysroot=$SYSROOT"
# A random program, made by a compiler, whose values the oracle compares.
oracle() { # SEED HOW...
	local name seed=$1
	shift
	name=$(echo "$seed $*" | sed 's/aarch64-linux-gnu-//; s/--[a-z]*=[^ ]*//g' | tr -s ' ' '_')
	case $1 in
	*gcc) "$SRC/tests/probe/generate.py" "$seed" "$name" --mutate-inlined ;;
	*) "$SRC/tests/probe/generate.py" "$seed" "$name" ;;
	esac
	"$@" -g -w -c "$name/prog.c" -o "$name/prog.o"
	$CC -O1 -w "$name/prog.o" "$name/truth.c" -o "$name/prog"
	extra+=("$name/prog=oracle/$name/prog" "$name/points=oracle/$name/points")
}

set -e
extra=("$BUILD/tests/probe/dwarf-oracle=bin/dwarf-oracle")
oracle 1 $CC -O0
oracle 2 $CC -O2 -gdwarf-4
oracle 3 $CC -Os
# At a line, -O2 of clang may not have computed yet what the lines before it say
# (seeds 4, 6, 8, 11, 12: an instruction of the line is scheduled before them); in
# this one nothing is moved.
oracle 7 clang --target=aarch64-linux-gnu --sysroot="$SYSROOT" -O2
oracle 5 clang --target=aarch64-linux-gnu --sysroot="$SYSROOT" -O0 -gdwarf-4
$CC -O2 -g -o shop "$SRC/tests/cmd/probe_shop.c"
$CC -O2 -g -fno-ipa-icf -fno-ipa-ra -o probed_args "$SRC/tests/cmd/probed.c"
bpf ../cmd/probed.bpf.c probed_args.bpf.o
extra+=(shop=debug/shop probed_args=debug/probed probed_args.bpf.o=debug/probed.bpf.o)
# Of the unit tests, these ask the kernel more than an emulator of programs knows.
in_guest=" probe_events sym sys call_recording hist "
# Who opens an output follows its path from "/", which the emulator takes for the folder of
# libraries.
opens_output='\<(output_find|data_writer_open|file_series_new)\('
# Whether a test of a unit test program needs the guest.
needs_guest() {
	local name tests
	tests=$(sed -n "s/^$1!\?[[:space:]]\+//p" "$SRC/tests/unit/rooms.txt")
	for name in ${tests:-$1}; do
		if [[ $in_guest == *" $name "* ]] || grep -qE "$opens_output" "$SRC/tests/unit/test_$name.c"; then
			return 0
		fi
	done
	return 1
}
here=()
for unit in $units; do
	if needs_guest "${unit##*/test_}"; then
		extra+=("$BUILD/$unit=unit/${unit##*/}")
	else
		here+=("$BUILD/$unit")
	fi
done
make_initramfs "${extra[@]}"
set +e
run_guest "$suite" &
if command -v qemu-aarch64-static >/dev/null; then
	SRC=$SRC RUNNER="qemu-aarch64-static -L $SYSROOT" "$HERE/guest/run-unit" "${here[@]}" >guest.units
else
	echo "ok - unit tests # SKIP no qemu-aarch64-static" >guest.units
fi
wait
report "$suite"
report_lines arm64 guest.units
echo "1..$numbered"
