#!/usr/bin/env bash
# Instructions on which the kernel places no uprobe: nothing may be recorded there without a word.
. "$(dirname "$0")/../tap.sh"

FILES=$(mktemp -d "${TMPDIR:-/tmp}/refused-of-perf-bpf.XXXXXX")
tests_end() {
	rm -rf "$FILES"
}

need_x86_64() {
	[ "$(uname -m)" = x86_64 ] || skip "the instructions are those of x86-64"
	[ -x "$FILES/insns" ] ||
		gcc -O1 -g -D_GNU_SOURCE -o "$FILES/insns" "$SRC/tests/cmd/probed_insns.c"
	cp "$FILES/insns" .
}

need_uprobes() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	"$PERF_BPF" features attach.uprobe >/dev/null || skip "this kernel has no uprobes"
}

# A function of C++ with an instance that begins with a locked instruction, and one that does not.
templates() {
	cat >pairs.cc <<-'END'
		template <typename T> struct Pair {
			T n;
			__attribute__((naked, noinline)) static T take(Pair *p, T more);
		};
		template <> __attribute__((naked, noinline)) int Pair<int>::take(Pair *p, int more)
		{
			__asm__("lock incl (%rdi); mov (%rdi), %eax; add %esi, %eax; ret");
		}
		template <> __attribute__((naked, noinline)) long Pair<long>::take(Pair *p, long more)
		{
			__asm__("incq (%rdi); mov (%rdi), %rax; add %rsi, %rax; ret");
		}
		int main()
		{
			Pair<int> a = {1};
			Pair<long> b = {2};
			long sum = 0;
			for (int i = 0; i < 5; i++)
				sum += Pair<int>::take(&a, i) + Pair<long>::take(&b, i);
			return sum != 65;
		}
	END
	g++ -O1 -g -o pairs pairs.cc || skip "g++ cannot make the program"
}

# What the kernel itself makes of each instruction. It may support more one day; never less.
test_instructions_as_the_kernel_has_them() {
	need_x86_64
	need_uprobes
	./insns >kernel
	"$PERF_BPF" probe -q --json -x ./insns 'begins_*' >ours
	python3 - <<-'END' || fail "see above"
		import json, sys
		kernel = dict(line.split() for line in open("kernel"))
		ours = {p["function"][7:]: p.get("refused") for p in json.load(open("ours"))["points"]}
		bad = [n for n in kernel if n not in ours]
		for name, verdict in kernel.items():
		    refused = ours.get(name)
		    # Newer kernels support this no-op, and may run the others correctly one day.
		    lenient = name.startswith(("nop10", "avx_", "system", "flags", "repeat"))
		    if verdict == "absent" or (verdict == "counted" and refused and lenient):
		        continue
		    if (verdict != "counted") != bool(refused):
		        bad.append(name)
		for name in bad:
		    print(f"# {name}: the kernel: {kernel[name]}; ours: {ours.get(name)}")
		n = sum(v == "refused" for v in kernel.values())
		print(f"# {len(kernel)} instructions, {n} refused")
		sys.exit(bool(bad) or n < 20)
	END
}

# One point: an error that has the instruction, its reason, and the next instruction.
test_a_point_that_is_refused() {
	need_x86_64
	need_uprobes
	local next
	expect_status 1 "$PERF_BPF" record -e 'probe:exec=./insns;begins_locked' -o none ./insns locked
	assert_contains err "begins_locked: cannot place a uprobe on the instruction 'lock orq"
	assert_contains err "it has a lock prefix"
	[ ! -e none ] || fail "there is a recording"
	next=$(sed -n 's/.*can be probed is \(begins_locked+[0-9]*\).*/\1/p' err)
	[ -n "$next" ] || fail "no hint: $(cat err)"
	"$PERF_BPF" record -q -e "probe:exec=./insns;$next" ./insns locked
	"$PERF_BPF" script >samples
	assert_equal "$(grep -c begins_locked samples)" 1
	# a probe at the return needs the first instruction, too
	expect_status 1 "$PERF_BPF" record -e 'probe:exec=./insns;begins_locked%return' -o none ./insns
	assert_contains err "cannot place a uprobe on the function's first instruction 'lock orq"
	expect_status 1 "$PERF_BPF" record -e 'probe:exec=./insns;begins_notrack' -o none ./insns
	assert_contains err "it has the prefix notrack"
	expect_status 1 "$PERF_BPF" record -e 'probe:exec=./insns;begins_avx_equal' -o none ./insns
	assert_contains err "does not run it correctly with a uprobe, which would break the program"
	expect_status 1 "$PERF_BPF" record -e 'probe:exec=./insns;begins_locked*' -o none ./insns
	assert_contains err "none of the 2 probe points can be used: begins_locked"
}

test_shown_before_anything_is_recorded() {
	need_x86_64
	"$PERF_BPF" probe -n -x ./insns begins_locked >out
	assert_contains out "begins_locked+0: cannot be attached: cannot place a uprobe on the instruction"
	"$PERF_BPF" probe --json -x ./insns begins_locked >out
	assert_contains out '"refused":"cannot place a uprobe on the instruction'
	"$PERF_BPF" probe --json -x ./insns begins_mov >out
	! grep -q refused out || fail "$(cat out)"
}

# Of several points the others are recorded, and those are counted and named.
test_points_beside_refused_ones() {
	need_x86_64
	need_uprobes
	"$PERF_BPF" record -e 'probe:exec=./insns;begins_*' ./insns mov 2>err
	assert_contains err "probe points are skipped: begins_"
	assert_equal "$(grep -c 'probe points are skipped' err)" 1
	"$PERF_BPF" script >samples
	assert_equal "$(grep -c begins_ samples)" 1
	templates
	"$PERF_BPF" record -e 'probe:exec=./pairs;Pair<*>::take more' ./pairs 2>err
	assert_contains err "1 probe point is skipped: Pair<int>::take: cannot place a uprobe"
	"$PERF_BPF" script -F event,trace >samples
	assert_equal "$(grep -c 'more=' samples)" 5
}

# Programs for a function, and for many.
test_programs_with_a_section() {
	need_x86_64
	need_uprobes
	program one "uprobe/$PWD/insns:begins_locked"
	expect_status 1 "$PERF_BPF" run one.bpf.c -- ./insns locked
	assert_contains err "cannot place a uprobe on the instruction at function begins_locked of"
	assert_contains err "(f0 48 83 4c): it has a lock prefix"
	program one "uprobe/$PWD/insns:begins_mov"
	"$PERF_BPF" run one.bpf.c --json -- ./insns mov >out
	assert_contains out '"count":1}'
	# in the middle of "push %r12"
	program one "uprobe/$PWD/insns:begins_push_r12+1"
	expect_status 1 "$PERF_BPF" run one.bpf.c -- ./insns push_r12
	assert_contains err "begins_push_r12+1 is in the middle of an instruction"
	program one "uprobe/$PWD/insns:begins_push_r12+2"
	"$PERF_BPF" run one.bpf.c --json -- ./insns push_r12 >out
	assert_contains out '"count":1}'
	"$PERF_BPF" features attach.uprobe_multi >/dev/null || return 0
	program many "uprobe.multi/$PWD/insns:begins_*"
	"$PERF_BPF" run many.bpf.c --json -- ./insns mov >out
	assert_contains out '"count":1}'
	program many "uprobe.multi/$PWD/insns:begins_locked*"
	expect_status 1 "$PERF_BPF" run many.bpf.c -- ./insns mov
	assert_contains err "cannot place a uprobe on the instruction"
}

# program NAME SECTION: it counts its runs.
program() {
	cat >"$1.bpf.c" <<-END
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>
		struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 1);
			__type(key, unsigned);
			__type(value, unsigned long);
		} runs SEC(".maps");
		SEC("$2")
		int count(void *ctx)
		{
			unsigned key = 0;
			unsigned long *n = bpf_map_lookup_elem(&runs, &key);
			if (n)
				__sync_fetch_and_add(n, 1);
			return 0;
		}
		char LICENSE[] SEC("license") = "GPL";
	END
}

# The code is in a segment that is mapped writable: the kernel skips such mappings.
test_code_that_is_writable() {
	need_x86_64
	need_uprobes
	cat >own.c <<-'END'
		__attribute__((noinline)) int own(int n)
		{
			__asm__ volatile("" ::: "memory");
			return n + 1;
		}
		int main(void)
		{
			return own(1) != 2;
		}
	END
	gcc -O1 -g -o own own.c
	cp own other
	python3 - <<-'END'
		import struct
		data = bytearray(open("own", "rb").read())
		table, = struct.unpack_from("<Q", data, 32)
		size, n = struct.unpack_from("<HH", data, 54)
		for at in range(table, table + n * size, size):
		    kind, flags = struct.unpack_from("<II", data, at)
		    if kind == 1 and flags & 1:
		        struct.pack_into("<I", data, at + 4, flags | 2)
		open("own", "r+b").write(data)
	END
	./own || skip "code cannot be writable here"
	expect_status 1 "$PERF_BPF" record -e 'probe:exec=./own;own n' -o none ./own
	assert_contains err "own: the code is in a writable segment"
	"$PERF_BPF" record -q -e 'probe:exec=./other;own n' ./other
	"$PERF_BPF" script -F trace >samples
	assert_equal "$(grep -c n=1 samples)" 1
}

# A file that a debug package has in /usr/lib/debug is mapped by no program.
test_files_without_code() {
	cat >own.c <<-'END'
		int main(void)
		{
			return 0;
		}
	END
	gcc -O1 -g -o own own.c
	objcopy --only-keep-debug own own.debug
	"$PERF_BPF" probe -n -x ./own main >out
	assert_contains out ": by uprobe"
	"$PERF_BPF" probe -n -x ./own.debug main >out
	assert_contains out "cannot be attached: the file does not contain the code, only debug information"
	need_uprobes
	expect_status 1 "$PERF_BPF" record -e 'probe:exec=./own.debug;main' -o none ./own
	assert_contains err "main: the file does not contain the code"
}

# Built again while it runs: the process has the old file, the probe is in the new one.
test_a_program_that_was_replaced() {
	need_uprobes
	cat >own.c <<-'END'
		#include <stdio.h>
		__attribute__((noinline)) void own(int n)
		{
			__asm__ volatile("" : : "r"(n) : "memory");
		}
		int main(void)
		{
			fgetc(fopen("go", "r"));
			own(1);
			return 0;
		}
	END
	gcc -O1 -g -o own own.c
	local pid
	mkfifo go
	./own &
	pid=$!
	soon runs_own $pid
	"$PERF_BPF" record -p $pid -e 'probe:exec=./own;own n' -- true 2>err
	! grep -q "still runs" err || fail "$(cat err)"
	cp own other
	mv other own
	"$PERF_BPF" record -p $pid -e 'probe:exec=./own;own n' -- true 2>err
	assert_contains err "own: process $pid still runs the file that was there before"
	program one "exec=$PWD/own;own"
	"$PERF_BPF" run -p $pid one.bpf.c -- true >out 2>err
	assert_contains err "own: process $pid still runs the file that was there before"
	echo >go
	wait $pid
}

runs_own() {
	grep -q "$PWD/own" "/proc/$1/maps"
}

# libdw itself goes on as if the section was not there: lines would be unknown, and no error told why.
test_a_section_that_cannot_be_decompressed() {
	python3 - >shop.c <<-'END'
		print("volatile int sum;\nint shop_total(int a)\n{")
		for i in range(300):
		    print(f"\tsum += a * {i};\n" + "\n" * (i % 7))
		print("\treturn sum;\n}\nint main(int argc, char **argv) { return shop_total(argc); }")
	END
	gcc -g -gz=zlib -O0 -o shop shop.c || skip "gcc cannot compress debug information"
	expect_status 0 "$PERF_BPF" probe -x ./shop -L shop_total
	python3 - shop <<-'END' || skip "the section is not compressed"
		import struct, sys
		data = bytearray(open(sys.argv[1], "rb").read())
		at, = struct.unpack_from("<Q", data, 40)
		size, n, names = struct.unpack_from("<HHH", data, 58)
		sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(n)]
		for name, kind, flags, addr, offset, length, *rest in sections:
		    name = data[sections[names][4] + name:].split(b"\0")[0]
		    if name == b".debug_line" and flags & 0x800:
		        data[offset + 24 + 2:offset + 24 + 40] = b"\xff" * 38
		        open(sys.argv[1], "wb").write(data)
		        sys.exit(0)
		sys.exit(1)
	END
	expect_status 1 "$PERF_BPF" probe -x ./shop -L shop_total
	assert_contains err "shop: cannot decompress its debug information"
}

run_tests
