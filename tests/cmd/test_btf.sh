#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# BTF of the running kernel and of what clang makes, end to end.
source "$(dirname "$0")/../tap.sh"
LAYOUT=$BUILD/tests/unit/btf_layout
KERNEL=/sys/kernel/btf/vmlinux

need_kernel_btf() {
	[ -r $KERNEL ] || skip "this kernel has no BTF"
}

# check_layout BTF N: the dump compiles without a warning, and every Nth struct keeps its layout
check_layout() {
	"$LAYOUT" header "$1" >x.h
	"$LAYOUT" vars "$1" x.h "$2" >x.c
	clang -target bpf -g -O0 -Wall -Werror -Wno-unused -c x.c -o x.o
	"$LAYOUT" compare "$1" x.o "$2" >differences || {
		sed 's/^/# /' differences | tail -40
		fail "the layout differs"
	}
}

test_kernel_types_keep_their_layout_as_c() {
	need_kernel_btf
	check_layout $KERNEL 16
	grep -q '^struct task_struct {' x.h
	[ "$(head -1 x.h)" = "#ifndef __VMLINUX_H__" ]
}

test_odd_layouts_survive_as_c() {
	cat >odd.c <<-END
		typedef unsigned char u8;
		typedef unsigned long u64;
		enum tiny { T1 = 1 } __attribute__((mode(byte)));
		enum wide { W1 = 0x123456789ab, W2 = -5 };
		struct fwd;
		struct holes { char a; u64 b; u8 c; short d; char e; } h;
		struct packed { char a; int b; short c; } __attribute__((packed)) p;
		struct bits { int a : 3; unsigned b : 30; u64 c : 40; u8 d : 2, : 3, e : 3; int : 0; u8 f : 1; } b;
		struct lines { int a; int b __attribute__((aligned(64))); } l;
		struct uses { char x; struct lines l; struct packed p; struct lines m[2]; } u;
		union big { char a; u64 b[3]; int c __attribute__((aligned(128))); } n;
		struct around { char a; union big b; char c; } r;
		struct packed_bits { u8 a : 3; u64 b : 50; int c : 20; u8 d; } __attribute__((packed)) pb;
		struct anon { int a; union { struct { int b, c; }; u64 d; }; struct { char e; } f; } an;
		struct fns { int (*f)(struct fns *, const char *const *, ...); void (*(*g)(int))(char *[4]); int (*(*h)(void))[4];
			int (*arr[3])(void); struct fwd *w; enum tiny t; enum wide v; } fn;
		struct tail { u64 a; char b[]; } t;
		struct deep { int m[2][3]; const volatile int *volatile const q; const char s[7]; } de;
		struct wide16 { char a; __int128 b; _Bool c; } w16;
		struct huge_gap { char a; char b __attribute__((aligned(4096))); } hg;
	END
	clang -target bpf -g -O0 -c odd.c -o odd.o
	check_layout odd.o 1
	assert_contains differences "14 compared, 0 different"
}

# random_structs SEED N: N structs and unions of random members, each a variable too
random_structs() {
	python3 - "$1" "$2" <<-'END'
		import random, sys
		rnd = random.Random(int(sys.argv[1]))
		ints = [("char", 8), ("unsigned char", 8), ("short", 16), ("int", 32), ("unsigned", 32),
		        ("long", 64), ("unsigned long", 64), ("_Bool", 8)]
		print("typedef int (*fn_t)(void *, ...);\nenum en { EN_A, EN_B = 7 };")
		made = []

		def member(i, depth):
		    kind = rnd.randrange(12)
		    name = f"m{depth}_{i}"
		    if kind < 4:
		        return f"{rnd.choice(ints)[0]} {name};"
		    if kind < 7:
		        type, bits = rnd.choice(ints)
		        width = 1 if type == "_Bool" else rnd.randint(1, bits)
		        if rnd.random() < 0.1:
		            return f"{type} : 0;"
		        return f"{type} {name if rnd.random() < 0.9 else ''} : {width};"
		    if kind == 7:
		        return f"{rnd.choice(['fn_t', 'void *', 'enum en', 'char *const', '__int128'])} {name};"
		    if kind == 8:
		        return f"{rnd.choice(ints)[0]} {name}[{rnd.randint(1, 5)}];"
		    if kind == 9 and made:
		        return f"{rnd.choice(made)} {name};"
		    if kind == 10 and depth < 3:
		        body = " ".join(member(10 * i + k, depth + 1) for k in range(rnd.randint(1, 3)))
		        attr = rnd.choice(["", "", "__attribute__((packed))"])
		        return f"{rnd.choice(['struct', 'union'])} {{ long x{depth}_{i}; {body} }} {attr} {name};"
		    return f"{rnd.choice(ints)[0]} {name} __attribute__((aligned({rnd.choice([2, 8, 16, 64])})));"

		for n in range(int(sys.argv[2])):
		    what = "union" if rnd.random() < 0.2 else "struct"
		    members = " ".join(member(i, 0) for i in range(rnd.randint(1, 9)))
		    attr = rnd.choice(["", "", "__attribute__((packed))", "__attribute__((packed, aligned(4)))",
		                       "__attribute__((aligned(32)))"])
		    print(f"{what} r{n} {{ int first{n}; {members} }} {attr} v{n};")
		    made.append(f"{what} r{n}")
	END
}

test_random_layouts_survive_as_c() {
	local seed
	for seed in 1 2 3; do
		random_structs $seed 150 >random.c
		clang -target bpf -g -O0 -w -c random.c -o random.o
		check_layout random.o 1
		assert_contains differences "150 compared, 0 different"
	done
}

test_kernel_takes_btf_and_gives_it_back() {
	need_kernel_btf
	"$LAYOUT" roundtrip 2>err || fail "roundtrip ended with $?: $(cat err)"
	assert_contains err "Invalid name"
}

run_tests
