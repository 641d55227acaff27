#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# In which states of an object (opened, prepared, loaded) calls are allowed, and what they answer
# (tests/cmd/states_client.c). "0+EACCES": the call works, but the object does not load after it.
. "$(dirname "$0")/../tap.sh"

bpf() { # SOURCE OUTPUT
	${CLANG:-clang} -O2 -g --target=bpf -I"$SRC/include" -I"$BUILD/include" \
		-idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$1" -o "$2"
}
states() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
	bpf "$SRC/tests/bpf/states.bpf.c" states.o
}

# libbpf 1.7 prints the same but for three lines: there a program whose autoload is set after
# prepare is loaded as it is in the file, without relocations (0+EACCES), a program that was unloaded
# after prepare is loaded without instructions (0+EFAULT), and a map that is not created has the
# descriptor of something else (0).
test_calls() {
	states
	mount | grep -q ' /sys/fs/bpf type bpf' || mount -t bpf bpf /sys/fs/bpf ||
		skip "no bpf file system can be mounted"
	"$BUILD/tests/cmd/states_client" states.o >got 2>err || fail "$(cat got err)"
	# kernels before 6.18 have no exclusive maps
	sed -i 's/set_exclusive_program: 0+E[A-Z0-9]* /set_exclusive_program: 0 /' got
	cat >wanted <<-'END'
		bpf_object__prepare: 0 EINVAL EINVAL
		bpf_object__load: 0 0 EINVAL
		bpf_object__set_kversion: 0 0 EINVAL
		bpf_object__btf_fd: EPERM 0 0
		bpf_program__fd: ENOENT ENOENT 0
		bpf_program__set_autoload false: 0 0 EINVAL
		bpf_program__set_autoload true: 0 0 EINVAL
		bpf_program__set_type: 0 0 EBUSY
		bpf_program__set_expected_attach_type: 0 0 EBUSY
		bpf_program__set_attach_target: 0 0 EINVAL
		bpf_program__set_flags: 0 0 EBUSY
		bpf_program__set_log_level: 0 0 EBUSY
		bpf_program__set_log_buf: 0 0 EBUSY
		bpf_program__set_insns: 0 0 EBUSY
		bpf_map__fd: EPERM 0 0
		bpf_map__set_type: 0 EBUSY EBUSY
		bpf_map__set_max_entries: 0 EBUSY EBUSY
		bpf_map__set_map_flags: 0 EBUSY EBUSY
		bpf_map__set_map_extra: 0 EBUSY EBUSY
		bpf_map__set_numa_node: 0 EBUSY EBUSY
		bpf_map__set_key_size: 0 EBUSY EBUSY
		bpf_map__set_value_size: 0 EBUSY EBUSY
		bpf_map__set_ifindex: 0 EBUSY EBUSY
		bpf_map__set_autocreate: 0 EBUSY EBUSY
		bpf_map__set_autoattach: EINVAL EINVAL EINVAL
		bpf_map__reuse_fd: 0 0 0
		bpf_map__set_inner_map_fd: 0 0 0
		bpf_map__set_exclusive_program: 0 EINVAL EINVAL
		bpf_map__set_pin_path: 0 0 0
		bpf_map__pin: EINVAL 0 0
		bpf_map__unpin: ENOENT ENOENT ENOENT
		bpf_map__update_elem: ENOENT 0 0
		bpf_map__lookup_elem: ENOENT ENOENT ENOENT
		bpf_map__delete_elem: ENOENT ENOENT ENOENT
		bpf_map__get_next_key: ENOENT ENOENT ENOENT
		bpf_program__insns: 0 0 0
		bpf_program__pin: EINVAL EINVAL 0
		bpf_program__unload: 0 0 0
		bpf_program__set_autoattach: 0 0 0
		bpf_program__assoc_struct_ops: EINVAL EINVAL EINVAL
		bpf_program__attach_raw_tracepoint: EINVAL EINVAL EINVAL
		bpf_object__pin_maps: ENOENT 0 0
		bpf_object__pin_programs: ENOENT ENOENT EINVAL
		bpf_object__token_fd: EPERM EPERM EPERM
		data: bpf_map__initial_value: 0 0 0
		data: bpf_map__set_initial_value: 0 EBUSY EBUSY
		data: bpf_map__set_value_size: 0 EBUSY EBUSY
		not created: bpf_map__fd: EPERM EPERM EPERM
		not created: bpf_map__set_max_entries: 0 EBUSY EBUSY
		not created: bpf_map__set_key_size: 0 EBUSY EBUSY
		not created: bpf_map__set_value_size: 0 EBUSY EBUSY
		not created: bpf_map__set_map_flags: 0 EBUSY EBUSY
		not created: bpf_map__set_autocreate: 0 EBUSY EBUSY
		not created: bpf_map__set_pin_path: 0 0 0
		not created: bpf_map__reuse_fd: 0 0 0
		reused: bpf_map__set_max_entries: EBUSY EBUSY EBUSY
		reused: bpf_map__set_autocreate: EBUSY EBUSY EBUSY
	END
	diff wanted got || fail "these calls differ"
}

test_programs_that_are_set_late() {
	states
	"$BUILD/tests/cmd/states_client" states.o run >got 2>err || fail "$(cat got err)"
	printf '%s\n' "prog 7 off 5" "prog 7 off 5" "prog without autoload: ENOENT" >wanted
	diff wanted got || fail "the programs differ"
}

# A function in .text is a subprogram, also when it is all there is.
test_a_lone_function_in_text() {
	states
	echo 'int lone(void *ctx) { return 1; } char LICENSE[] __attribute__((section("license"))) = "GPL";' >lone.c
	bpf lone.c lone.o
	"$BUILD/tests/cmd/object_client" load lone.o >out 2>err || fail "$(cat out err)"
}

run_tests
