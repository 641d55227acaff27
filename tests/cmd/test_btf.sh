#!/usr/bin/env bash
# perf-bpf btf: what it shows, beside what bpftool and pahole say.
. "$(dirname "$0")/../tap.sh"

btf() {
	"$PERF_BPF" btf "$@"
}

need() {
	for tool; do
		command -v "$tool" >/dev/null || skip "$tool is not installed"
	done
}

make_object() {
	need clang
	cat >types.c <<-'END'
		typedef unsigned char u8;
		typedef unsigned u32;
		enum e { A, B };
		struct in { int x; char c; };
		struct bits { u32 a:1; u32 b:3; u32 :4; u32 c:8; u32 :0; u32 d:5; unsigned long e:40; };
		struct mixed { char a; int b; char c; long d:3; unsigned e:7; u8 f:1; u8 :2; u8 g:3; short h;
			struct in i; struct { int p; union { long q; int r:5; }; }; void (*fn)(int, void *);
			enum e en; char name[100]; struct mixed *next; const volatile u32 z;
			struct { int k; char l; } named; char tail; struct in flex[]; };
		struct packed { char a; int b; char c; } __attribute__((packed));
		struct nothing {};
		struct nested { union { struct { int a; char b; }; long c; }; int d; };
		struct bits bits; struct mixed mixed; struct packed packed; struct nothing nothing;
		struct nested nested;
		struct whole { u32 x:3, y:29; char c; unsigned long after; } whole; /* no bit is left over */
	END
	clang -g -O2 --target=bpf -c types.c -o types.o
}

# pahole's remarks about what is to be written in C and about the members' own types (1.25 and
# later), and blanks, are not the layout.
layout() {
	sed -E -e '/\/\* (Bitfield combined|Force alignment|forced alignments)/d' \
		-e '/\/\* (XXX last struct has|member types with) /d' \
		-e '/^\s*[a-z].* :[0-9]+;$/d' -e 's/ __attribute__\(\(__aligned__\([0-9]+\)\)\)//' "$1" |
		tr -s ' \t\n' ' '
}

same_layout() {
	btf show "$1" -C "$2" --sizes >ours
	pahole -F btf -C "$2" "$1" >theirs 2>/dev/null
	[ -s theirs ] || fail "pahole does not know $2"
	layout ours >ours.layout
	layout theirs >theirs.layout
	cmp ours.layout theirs.layout || { diff ours theirs; fail "$2 lies otherwise"; }
}

test_a_struct_lies_as_pahole_says() {
	need pahole
	make_object
	for type in bits mixed packed nothing nested whole; do
		same_layout types.o $type
	done
	btf show types.o -C bits --sizes >ours
	grep -qE $'^\tu32 +c:8; +/\\*     0: 8  4 \\*/$' ours || { cat ours; fail "bitfield"; }
	assert_contains ours "bit holes: 3, sum bit holes: 47 bits"
}

test_the_kernels_structs_lie_as_pahole_says() {
	need pahole
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	for type in list_head sk_buff task_struct sock file inode page net_device; do
		same_layout /sys/kernel/btf/vmlinux $type
	done
}

test_a_layout_as_json() {
	make_object
	btf show types.o -C mixed --sizes --json >json
	python3 - <<-'END'
		import json
		d = json.load(open("json"))
		assert (d["kind"], d["name"], d["size"], d["packed"]) == ("struct", "mixed", 176, False), d
		m = {x["name"]: x for x in d["members"]}
		assert m["a"] == {"offset": 0, "size": 1, "type": "char", "name": "a", "hole": 3}, m["a"]
		assert (m["e"]["offset"], m["e"]["bit_offset"], m["e"]["bits"]) == (8, 11, 7), m["e"]
		assert m["i"]["padding"] == 3 and m["h"]["hole"] == 2
		p, union = m[""]["members"]
		assert (p["offset"], p["hole"]) == (24, 4) and [x["name"] for x in union["members"]] == ["q", "r"]
		assert d["sum_holes"] == sum(x.get("hole", 0) for x in d["members"])
	END
}

test_types_as_bpftool_dumps_them() {
	need bpftool
	make_object
	for form in "" -j; do
		btf dump $form types.o >ours
		bpftool $form btf dump file types.o >theirs
		diff ours <(cat theirs)
	done
	[ -r /sys/kernel/btf/vmlinux ] || return 0
	btf dump vmlinux >ours
	bpftool btf dump file /sys/kernel/btf/vmlinux >theirs
	cmp ours theirs
	btf dump vmlinux --json >json
	python3 -c '
import json
types = json.load(open("json"))["types"]
assert [t["id"] for t in types] == list(range(1, len(types) + 1)) and len(types) > 10000
task, = [t for t in types if t["kind"] == "STRUCT" and t["name"] == "task_struct"]
assert len(task["members"]) == task["vlen"] > 100'
}

test_types_as_c_compile() {
	need clang pahole
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	btf dump vmlinux --format=c >vmlinux.h
	printf '%s\n' '#include "vmlinux.h"' 'struct task_struct task; struct sk_buff skb;' >all.c
	clang -g -O2 --target=bpf -Wno-everything -c all.c -o all.o
	for type in list_head sk_buff; do
		btf show all.o -C $type --sizes | sed 's/unsigned long/long unsigned int/' >ours
		btf show vmlinux -C $type --sizes >theirs
		diff -w ours theirs
	done
	make_object
	btf show types.o -C in >c
	assert_equal "$(cat c)" $'struct in {\n\tint x;\n\tchar c;\n};'
}

test_the_list_is_bpftools() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	need bpftool
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	btf list id 1 >ours
	bpftool btf list id 1 >theirs
	diff <(grep -v pids ours) <(grep -v pids theirs)
	btf list --json >json
	python3 -c '
import json, os
vmlinux, = [b for b in json.load(open("json")) if b.get("name") == "vmlinux"]
assert vmlinux["kernel"] and vmlinux["size"] == os.stat("/sys/kernel/btf/vmlinux").st_size'
	btf dump id 1 | head -1 >by_id
	btf dump vmlinux | head -1 >by_name
	cmp by_id by_name
}

test_what_is_wrong_is_named() {
	make_object
	expect_status 2 btf dump
	assert_contains err "use 'id ID', 'file FILE' or 'vmlinux'"
	expect_status 1 btf dump nothing.o
	assert_contains err "nothing.o: cannot read BTF from this file: No such file"
	echo 'int x;' >plain.c
	clang -c plain.c -o plain.o
	expect_status 1 btf dump plain.o
	assert_contains err "the file has no section .BTF"
	printf 'noise%.0s' $(seq 60) >noise
	expect_status 1 btf dump noise
	assert_contains err "noise: cannot read BTF from this file"
	expect_status 1 btf show types.o -C mixd --sizes
	assert_contains err "unknown type 'mixd'"
	assert_contains err "did you mean 'mixed'?"
	expect_status 2 btf show types.o --sizes
	assert_contains err "use -C NAME"
	expect_status 2 btf show types.o -C e --sizes
	assert_contains err "neither a struct nor a union"
	expect_status 2 btf dump types.o --format=c --json
	assert_contains err "--format=c cannot be combined with --json"
	expect_status 2 btf dump types.o --format=d
	expect_status 2 btf dump types.o more
	assert_contains err "unexpected argument 'more'"
	expect_status 2 btf lst
	assert_contains err "did you mean 'list'?"
}

run_tests
