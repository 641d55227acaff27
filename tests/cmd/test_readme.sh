#!/usr/bin/env bash
# What the README tells a new user to type, on a fresh clone.
. "$(dirname "$0")/../tap.sh"

# on_path: "perf-bpf …" runs this build's program; there is no perf.
on_path() {
	mkdir bin
	ln -s "$PERF_BPF" bin/perf-bpf
	printf '#!/bin/sh\necho "perf: command not found" >&2\nexit 127\n' >bin/perf
	chmod +x bin/perf
	PATH=$PWD/bin:$PATH
}

# block LANGUAGE HEADING: the first block of the language below the heading in the README.
block() {
	awk -v lang="$1" -v heading="$2" '
		/^```/ { if (inside) exit; inside = below && $0 == "```" lang; next }
		/^#+ / && !inside { below = substr($0, index($0, " ") + 1) == heading }
		inside' "$SRC/README.md"
}

test_the_program_at_the_top_and_its_commands_work() {
	[ "$(id -u)" = 0 ] || skip "loading a BPF program takes root"
	on_path
	block c perf-bpf >slow_writes.bpf.c
	grep -q write_ends slow_writes.bpf.c
	block sh perf-bpf | sed 's/sleep 4/sleep 1/' >commands
	assert_equal "$(grep -c '^perf-bpf' commands)" 4
	bash -e commands >out 2>err || { cat out err; fail "a command fails"; }
	[ -s perf.data ]
}

test_questions_at_the_prompt_are_answered() {
	[ "$(id -u)" = 0 ] || skip "loading a BPF program takes root"
	on_path
	block sh "A question at the prompt" >commands
	assert_equal "$(grep -c '^perf-bpf' commands)" 4
	bash -e commands >out 2>err || { cat out err; fail "a command fails"; }
	assert_contains out 'args->ret by comm:'
	grep -q 'ls opens ' out || { cat out; fail "no file is opened"; }
}

test_the_tour_works() {
	[ "$(id -u)" = 0 ] || skip "loading a BPF program takes root"
	on_path
	cp -r "$SRC/examples" .
	block sh "A tour in eight lines" >commands
	assert_equal "$(grep -c '^perf-bpf' commands)" 8
	bash -e -o pipefail commands >out 2>err || { cat out err; fail "a command fails"; }
	grep -q '"type":"sample"' out || { cat out err; fail "no JSON"; }
	grep -q malloc out || { cat out err; fail "the report does not name malloc"; }
	grep -q 'time in the run queue (us):' out && grep -q 'sizes of writes (bytes):' out || { cat out err; fail "no histogram"; }
}

test_arguments_by_name() {
	[ "$(id -u)" = 0 ] || skip "probing a program takes root"
	on_path
	cp -r "$SRC/examples" .
	# functions of the kernel cannot be probed on each machine
	block sh "Arguments by name" | grep -v vfs_write >commands
	assert_equal "$(grep -c '^perf-bpf' commands)" 4
	bash -e -o pipefail commands >out 2>err || { cat out err; fail "a command fails"; }
	grep -q grace out || { cat out err; fail "no names of customers"; }
}

# Building a clone is tests/clone.
test_the_demo_works_in_a_fresh_clone() {
	git -C "$SRC" rev-parse HEAD >/dev/null 2>&1 || skip "this is not a git repository"
	[ "$(id -u)" = 0 ] || skip "the demo takes root"
	git clone -q "$SRC" clone 2>err || { cat err; fail "git clone failed"; }
	clone/tools/demo "$PERF_BPF" >out 2>err || { cat out err; fail "the demo failed"; }
	assert_contains out "the 5 of 1234 bytes were kept"
	[ -z "$(git -C clone status --porcelain)" ] || fail "the demo leaves files behind"
}

run_tests
