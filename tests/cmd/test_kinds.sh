#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs that are no tracing (tests/bpf/{arena,kinds,struct_ops}.bpf.c), attached by the library
# and doing what they are for; each in a network namespace of its own.
. "$(dirname "$0")/../tap.sh"
CLIENT=$BUILD/tests/cmd/kinds_client

# kind NAME [OBJECT [FLAG...]]
kind() {
	local kind=$1 got=0 object=${2:-kinds}
	shift $(($# > 1 ? 2 : 1))
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	${CLANG:-clang} -O2 -g -target bpf -D__TARGET_ARCH_x86 -I"$SRC/include" -I"$BUILD/include" \
		-idirafter "/usr/include/$(uname -m)-linux-gnu" "$@" \
		-c "$SRC/tests/bpf/$object.bpf.c" -o "$object.o"
	"$CLIENT" "$object.o" "$kind" >out 2>err || got=$?
	[ $got != 77 ] || skip "$(sed -n 's/^skip: //p' out)"
	[ $got = 0 ] || { cat out err; fail "$kind: $got"; }
}

# needs ENUMERATOR VERSION: skips where the kernel's BTF does not have it
needs() {
	bpftool btf dump file /sys/kernel/btf/vmlinux 2>/dev/null | grep -q "'$1' val=" ||
		skip "this kernel has no $1 ($2)"
}

# arena FLAG... : compiled by the newest clang there is
arena() {
	needs BPF_MAP_TYPE_ARENA 6.9
	CLANG=$(compgen -c clang- | grep -E '^clang-[0-9]+$' | sort -t- -k2n | tail -n 1)
	[ "${CLANG#clang-}" -ge 19 ] || skip "no clang 19 or newer, which knows address spaces"
	kind arena arena -mcpu=v4 "$@"
}
test_modules() {
	kind needs_a_module
	kind type_of_a_module
	kind module_without_admin
	kind symbol_of_a_module
}
test_arena() { arena; }
test_arena_at_a_place() { arena -DPLACE=0x300000000000; }
test_arena_that_does_not_fit() {
	refused() { # TEXT FLAG...
		local text=$1
		shift
		"$CLANG" -O2 -g -target bpf -mcpu=v4 -I"$SRC/include" -I"$BUILD/include" \
			-idirafter "/usr/include/$(uname -m)-linux-gnu" "$@" \
			-c "$SRC/tests/bpf/arena.bpf.c" -o arena.o
		expect_status 1 "$BUILD/tests/cmd/object_client" load arena.o
		assert_contains err "$text"
	}
	arena
	refused "the object has two arenas, 'arena' and 'other'" -DTWO
	refused "section .addr_space.1: offset 0x0: the object has variables in address space 1, but no arena" -DKIND=2
	refused "5016 bytes of variables do not fit into the 4096 bytes of arena 'arena'" -DPAGES=1 -DLARGE=5000
}
test_cgroup() { kind cgroup; }
test_cgroup_in_order() {
	bpftool btf dump file /sys/kernel/btf/vmlinux format c 2>/dev/null |
		sed -n '/^union bpf_attr {/,/link_create;/p' | grep -q '} cgroup;' ||
		skip "this kernel does not order the programs of a cgroup (6.17)"
	kind cgroup_in_order
}
test_exclusive() {
	bpftool btf dump file /sys/kernel/btf/vmlinux format c 2>/dev/null |
		grep -q excl_prog_hash_size || skip "this kernel has no exclusive maps (6.18)"
	kind exclusive
}
test_freplace() { kind freplace; }
test_handlers() { kind handlers; }
test_iter() { kind iter; }
test_iter_of_a_map() { kind iter_of_a_map; }
test_kfunc_of_a_module() { kind kfunc_of_a_module; }
test_larger_data() { kind larger_data; }
test_lsm() { kind lsm; }
test_lsm_cgroup() { needs BPF_LSM_CGROUP 6.0; kind lsm_cgroup; }
test_netfilter() { needs BPF_NETFILTER 6.4; kind netfilter; }
test_netkit() { needs BPF_NETKIT_PRIMARY 6.7; kind netkit; }
test_netns() { kind netns; }
test_sockmap() { needs BPF_LINK_TYPE_SOCKMAP 6.10; kind sockmap; }
test_struct_ops() { needs BPF_MAP_TYPE_STRUCT_OPS 5.6; kind struct_ops struct_ops; }
test_struct_ops_link() { needs BPF_LINK_TYPE_STRUCT_OPS 6.4; kind struct_ops_link struct_ops; }
test_tcx() { needs BPF_TCX_INGRESS 6.6; kind tcx; }
test_token() { needs BPF_TOKEN_CREATE 6.9; kind token; }
test_xdp() { kind xdp; }

run_tests
