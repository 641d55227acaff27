#!/usr/bin/env bash
# perf-bpf prog: what it shows and pins, beside what bpftool says.
. "$(dirname "$0")/../tap.sh"

M=/sys/fs/bpf/pbt_prog_$$

prog() {
	"$PERF_BPF" prog "$@"
}

# Programs pinned under $M; nothing of them outlives the test.
make_progs() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	command -v bpftool >/dev/null || skip "bpftool is not installed"
	mount | grep -q ' /sys/fs/bpf type bpf' || mount -t bpf bpf /sys/fs/bpf ||
		skip "no bpf file system can be mounted"
	cat >progs.bpf.c <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 1);
			__type(key, int);
			__type(value, long);
		} pbt_counts SEC(".maps");
		SEC("raw_tp/task_rename") int pbt_counting(void *ctx)
		{
			int key = 0;
			long *n = bpf_map_lookup_elem(&pbt_counts, &key);
			if (n)
				++*n;
			return 0;
		}
		SEC("socket") int pbt_none(void *ctx) { return 0; }
		char LICENSE[] SEC("license") = "GPL";
	END
	clang -g -O2 --target=bpf -I"$SRC/include" -I"$BUILD/include" \
		-I"/usr/include/$(gcc -print-multiarch)" -c progs.bpf.c -o progs.bpf.o
	trap 'rm -rf "$M"' EXIT
	mkdir "$M"
	bpftool prog loadall progs.bpf.o "$M"
}

test_the_list_is_bpftools() {
	make_progs
	for name in pbt_counting pbt_none; do
		prog list pinned "$M/$name" >ours
		bpftool prog show pinned "$M/$name" >theirs
		diff -w ours theirs || fail "$name"
		prog list -j "$M/$name" >ours
		bpftool -j prog show pinned "$M/$name" >theirs
		python3 -c '
import json
ours, theirs = json.load(open("ours"))[0], json.load(open("theirs"))
theirs.pop("orphaned", None)
# the boot is reckoned from two clocks, which are read one after the other
assert abs(ours.pop("loaded_at") - theirs.pop("loaded_at")) <= 1
assert ours == theirs, (ours, theirs)' || fail "$name"
	done
	prog list "$M/pbt_counting" >ours
	assert_contains ours "map_ids "
	prog --json >all
	tag=$(prog list -j "$M/pbt_counting" | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["tag"])')
	prog list tag "$tag" | grep -q "name pbt_counting  tag $tag" || fail "by tag"
	python3 -c '
import json, sys
assert "pbt_counting" in [p["name"] for p in json.load(open("all")) if p["tag"] == sys.argv[1]]' "$tag"
}

test_a_program_is_pinned() {
	make_progs
	prog pin pinned "$M/pbt_none" "$M/again"
	prog list -j "$M/again" >again
	prog list -j "$M/pbt_none" >first
	cmp again first || fail "another program"
	expect_status 1 prog pin "$M/pbt_none" "$M/again"
	assert_contains err "$M/again: the program cannot be pinned here: File exists"
	expect_status 1 prog pin "$M/pbt_none" "$PWD/file"
	assert_contains err "hint: the file must lie in a bpf file system"
}

test_what_is_wrong_is_named() {
	make_progs
	expect_status 1 prog list 4294967295
	assert_contains err "there is no program with the id 4294967295"
	expect_status 1 prog list name pbt_countin
	assert_contains err "no program is called 'pbt_countin'"
	assert_contains err "'pbt_counting'"
	expect_status 2 prog pin "$M/pbt_none"
	assert_contains err "pinned to which file?"
	expect_status 2 prog pim 1
	assert_contains err "did you mean 'pin'?"
}

run_tests
