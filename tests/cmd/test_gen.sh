#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Skeletons: headers by perf-bpf gen and by bpftool, the same client compiled
# with both, as C and as C++, and run on our library; it prints the same.
. "$(dirname "$0")/../tap.sh"

# object NAME [FLAG...]: ./NAME.bpf.o
object() {
	local name=$1
	shift
	compile_bpf "$SRC/tests/bpf/$name.bpf.c" "$name.bpf.o" "$@"
}

# client NAME COMPILER FOLDER [FLAG...]: ./client of NAME_client.c, with the headers in FOLDER
client() {
	local name=$1 compiler=$2 folder=$3
	shift 3
	$compiler -Wall -Wextra -Werror -g -I"$folder" -I"$SRC/tests/bpf" "$@" \
		-isystem "$SRC/include" "$SRC/tests/cmd/${name}_client.c" -x none -o client \
		"$BUILD/libperfbpf.a" ${SANITIZED:+-fsanitize=address,undefined} -lelf -lz
}

needs_root() {
	[ "$(id -u)" = 0 ] || skip "loading takes root"
}

# Headers by us in ./ours and by bpftool in ./theirs.
headers() {
	mkdir -p ours theirs
	"$PERF_BPF" gen skeleton "$1.bpf.o" name "$1" -o "ours/$1.skel.h"
	"$PERF_BPF" gen subskeleton "$1.bpf.o" name "$1_lib" -o "ours/$1_lib.subskel.h"
	command -v bpftool >/dev/null || return 0
	bpftool gen skeleton "$1.bpf.o" name "$1" >"theirs/$1.skel.h"
	bpftool gen subskeleton "$1.bpf.o" name "$1_lib" >"theirs/$1_lib.subskel.h"
}

maps_wanted() {
	cat <<-END
		$(stat -c %s maps.bpf.o) bytes, the second to the fourth ELF
		object maps, maps samples maps.rodata
		text constant, start 7, named 1122334455667788, wanted 1234
		data stays in place
		count gives 34, seen 1
		and then 307
		before: link count none, link loop none
		attached: link count there, link loop none
		again 0, the same link
		detached: link count none, link loop none
		at once: loaded
	END
}

# runs WANTED-FUNCTION WHAT
runs() {
	expect_status 0 ./client
	$1 | diff - out || fail "$2"
}

test_maps_programs_and_links() {
	needs_root
	object maps
	headers maps
	client skeleton gcc ours -std=gnu11 -Wpedantic
	runs maps_wanted "ours as C"
	client skeleton "g++ -x c++" ours -std=c++11 -Wpedantic
	{ maps_wanted; echo "as C++: load 0, attach 0"; } >wanted
	runs "cat wanted" "ours as C++"
	[ -e theirs/maps.skel.h ] || skip "bpftool is not installed: ours were compared"
	client skeleton gcc theirs
	runs maps_wanted "bpftool's as C"
	client skeleton "g++ -x c++" theirs
	runs "cat wanted" "bpftool's as C++"
}

globals_wanted() {
	cat <<-END
		first 1, flag 1, wide w, colour 1, both 7
		1 2 3 4 5 6 pairs 1/2 3/4 nameless 5/6
		limit 10, yes 0, bytes 1 2 3
		options come later
		the library's: 1 1 6 4 w
		options: version 1, CONFIG_BPF 1
		words 1084 1 1 1, point 11,12, small -3, pointers 0 0 0
		through the library's: 1084
	END
}

# 2 + 60 + 4 + 5 + 7 = 78; 78 + 1000 + 3 + 0 + 1 + 1 + 1 = 1084
test_variables_of_every_shape() {
	needs_root
	object globals
	headers globals
	client globals gcc ours -std=gnu11 -Wpedantic
	runs globals_wanted "ours as C"
	client globals "g++ -x c++" ours
	runs globals_wanted "ours as C++"
	[ -e theirs/globals.skel.h ] || skip "bpftool is not installed: ours were compared"
	client globals gcc theirs -DNEEDS_TYPEDEFS
	runs globals_wanted "bpftool's as C"
}

test_other_compilers_and_standards_take_the_headers() {
	object globals
	headers globals
	cat >both.c <<-'END'
		#include "globals.h"
		#include "globals.skel.h"
		#include "globals_lib.subskel.h"
	END
	for compiler in "gcc -std=gnu99" "gcc -m64 -std=c17 -Wpedantic" "clang -std=gnu11 -Wpedantic" \
		"clang -x c++ -std=c++17" "g++ -x c++ -std=c++20 -Wpedantic"; do
		$compiler -Wall -Wextra -Werror -Iours -I"$SRC/tests/bpf" -isystem "$SRC/include" \
			-fsyntax-only both.c || fail "$compiler"
	done
	# Another layout than the object's is refused.
	sed -i 's/struct pair pairs\[2\]/struct pair pairs[3]/' ours/globals.skel.h
	! gcc -Iours -I"$SRC/tests/bpf" -I"$SRC/include" -fsyntax-only both.c 2>err ||
		fail "an array that is too long went through"
	assert_contains err "unexpected size of pairs"
	assert_contains err "unexpected place of colour"
}

test_maps_of_struct_ops_have_links() {
	object struct_ops
	headers struct_ops
	cat >links.c <<-'END'
		#include "struct_ops.skel.h"
		int attached(const struct struct_ops *skel);
		int attached(const struct struct_ops *skel)
		{
			return skel->links.plain && skel->links.on_init && skel->maps.plain;
		}
	END
	gcc -Wall -Wextra -Werror -Iours -I"$SRC/include" -c links.c -o links.o
	assert_contains ours/struct_ops.skel.h ".link = &obj->links.plain;"
}

test_headers_and_programs_of_libbpf() {
	needs_root
	object maps
	headers maps
	[ -e /usr/include/bpf/libbpf.h ] || skip "libbpf-dev is not installed"
	# Our header on libbpf.
	gcc -Wall -Wextra -Iours "$SRC/tests/cmd/skeleton_client.c" -o theirs_runs -lbpf
	expect_status 0 ./theirs_runs
	maps_wanted | diff - out || fail "our header on libbpf"
	# A program of libbpf 1.1, whose tables have smaller elements, on our library.
	gcc -Wall -Wextra -Iours -c "$SRC/tests/cmd/skeleton_client.c" -o old.o
	gcc old.o -o client "$BUILD/libperfbpf.a" ${SANITIZED:+-fsanitize=address,undefined} -lelf -lz
	runs maps_wanted "a program compiled for libbpf"
}

test_struct_ops() {
	needs_root
	bpftool btf dump file /sys/kernel/btf/vmlinux 2>/dev/null |
		grep -q "'BPF_LINK_TYPE_STRUCT_OPS' val=" || skip "no struct_ops by links (6.4)"
	object struct_ops
	"$PERF_BPF" gen skeleton struct_ops.bpf.o name control >control.skel.h
	client struct_ops "gcc" .
	expect_status 0 ./client
	client struct_ops "g++ -x c++" .
	expect_status 0 ./client
}

test_c_files_are_compiled() {
	object globals
	"$PERF_BPF" gen skeleton globals.bpf.o name globals >object.h
	PERF_BPF_CACHE_DIR=$PWD/cache expect_status 0 \
		"$PERF_BPF" gen skeleton "$SRC/tests/bpf/globals.bpf.c" name globals
	for header in object.h out; do
		sed -n '/^struct globals {/,/^};/p' $header >$header.struct
	done
	[ "$(wc -l <out.struct)" -gt 40 ] || fail "$(cat out.struct)"
	diff object.h.struct out.struct
}

test_names() {
	object maps
	mv maps.bpf.o slow-writes.bpf.o
	expect_status 0 "$PERF_BPF" gen skeleton slow-writes.bpf.o
	assert_contains out "struct slow_writes_bpf {"
	assert_contains out "#ifndef __SLOW_WRITES_BPF_SKEL_H__"
	expect_status 1 "$PERF_BPF" gen skeleton slow-writes.bpf.o name 2nd
	assert_contains err "'2nd' is not a valid struct name"
	expect_status 0 "$PERF_BPF" gen subskeleton slow-writes.bpf.o name mine
	assert_contains out "#ifndef __MINE_SUBSKEL_H__"
}

test_files_are_written_whole_or_not() {
	object maps
	umask 027
	expect_status 0 "$PERF_BPF" gen skeleton maps.bpf.o name maps -o maps.skel.h
	[ ! -s out ] || fail "something went to standard output"
	"$PERF_BPF" gen skeleton maps.bpf.o name maps | cmp - maps.skel.h
	assert_equal "$(stat -c %a maps.skel.h)" 640
	echo no object >broken.o
	expect_status 1 "$PERF_BPF" gen skeleton broken.o -o maps.skel.h
	assert_contains err "broken.o"
	"$PERF_BPF" gen skeleton maps.bpf.o name maps | cmp - maps.skel.h
	assert_equal "$(ls | sort | tr '\n' ' ')" "broken.o err maps.bpf.o maps.skel.h out "
	expect_status 1 "$PERF_BPF" gen skeleton maps.bpf.o -o no/such/folder.h
	assert_contains err "no/such/folder.h"
}

test_errors_say_what_to_do() {
	expect_status 2 "$PERF_BPF" gen
	assert_contains err "hint: perf-bpf gen skeleton FILE"
	expect_status 2 "$PERF_BPF" gen skelton x.o
	assert_contains err "did you mean 'skeleton'"
	expect_status 2 "$PERF_BPF" gen skeleton
	assert_contains err "gen skeleton: the file is missing"
	expect_status 2 "$PERF_BPF" gen skeleton x.o nam y
	assert_contains err "unexpected argument 'nam'"
	expect_status 1 "$PERF_BPF" gen skeleton no-such.o
	assert_contains err "no-such.o"
}

run_tests
