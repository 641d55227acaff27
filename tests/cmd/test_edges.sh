#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What the library's calls answer at their edges (tests/cmd/api_client.c): as libbpf's do.
. "$(dirname "$0")/../tap.sh"

# answers NAME [FOLDER]
answers() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	${CLANG:-clang} -O2 -g --target=bpf -I"$SRC/include" -I"$BUILD/include" \
		-idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$SRC/tests/bpf/api.bpf.c" -o api.o
	"$BUILD/tests/cmd/api_client" "$1" api.o "${2:-}" >out 2>&1 || fail "$(cat out)"
}

test_names_of_sections() { answers names; }
test_probes_of_unknown_types() { answers probes; }
test_before_loading() { answers before_load; }
test_raw_tracepoints_without_a_name() { answers no_name; }
test_logs_into_buffers() { answers logs; }

test_pins() {
	mkdir bpffs
	mount -t bpf bpf bpffs 2>/dev/null || skip "no bpf file system can be mounted"
	trap 'umount "$TMP/bpffs"' EXIT
	answers pins "$TMP/bpffs"
}

run_tests
