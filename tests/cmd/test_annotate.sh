#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# perf-bpf annotate: the samples of each instruction. made_recording.py writes the recordings: what is
# shown must be exactly what was written. That of perf and those of BPF programs are golden ones.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../golden/golden.sh"
. "$(dirname "$0")/made.sh"

# Not /tmp/perf-…: perf takes such a path for the names of a JIT.
enter() {
	[ "$(uname -m)" = x86_64 ] || skip "the code is for x86-64"
	cd "$(mktemp -d "$FILES/XXXXXX")" || exit 1
}

needs_disassembler() {
	"$PERF_BPF" annotate -i data >/dev/null 2>disassembler || :
	! grep 'built without capstone' disassembler || skip "$(cat disassembler)"
}

# A loop of two instructions in main, at 0x401006 and 0x401008, and another function.
write_loop() {
	enter
	cat >loop.S <<-'END'
			.text
			.globl main
			.type main,@function
		main:
			mov $200000000, %ecx
			nop
		1:	dec %ecx
			jnz 1b
			xor %eax,%eax
			ret
			.size main,.-main
			.type other,@function
		other:	ret
			.size other,.-other
			.section .note.GNU-stack,"",@progbits
	END
	link loop loop.S
	made build-id="$(build_id loop),$PWD/loop" "$(code_of loop)" \
		0x401000=1 0x401006=9 0x401008=7 0x40100d=5
	printf '%s\n' '401000 1' '401006 9' '401008 7' >wanted
	needs_disassembler
}

# instructions PROGRAM FUNCTION: their addresses
instructions() {
	objdump -d --disassemble="$2" "$1" | sed -nE 's/^ +([0-9a-f]+):\t.*\t.*/\1/p'
}

# A function of C with one loop.
write_program() {
	enter
	cat >work.c <<'END'
static volatile unsigned sink;
__attribute__((noinline)) static void spend(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink * 31 + i; /* the hot line */
}
int main(void)
{
	spend(60000000);
	return 0;
}
END
	write_work
}

# Of spend in work.c: its first instruction has one sample, the second two, and so on.
write_work() {
	local n=0 words=() at
	link work work.c
	for at in $(instructions work spend); do
		n=$((n + 1))
		words+=("0x$at=$n")
		echo "$at $n"
	done >wanted
	[ $n -gt 5 ] || fail "spend has $n instructions"
	made "$(code_of work)" "${words[@]}"
	needs_disassembler
}

# counts FILE: "ADDRESS NUMBER" of what an output has a number for that is not 0
counts() {
	sed -nE 's/^ +([0-9.]+) : +([0-9a-f]+):.*/\2 \1/p' "$1" | grep -vE ' 0(\.00)?$' | sort
}

test_the_samples_of_each_instruction() {
	write_loop
	"$PERF_BPF" annotate -i data -n main >out 2>err
	assert_contains out " Samples |	Source code & Disassembly of loop for cpu-clock:u (17 samples, percent: local period)"
	[ "$(grep -cE ' : +[0-9a-f]+:' out)" = 6 ] || fail "these are not the six instructions"
	counts out | diff wanted - || fail "other numbers"
}

test_what_the_percentages_are_of() {
	write_loop
	"$PERF_BPF" annotate -i data --show-total-period main >periods 2>err
	counts periods >got
	awk '{ print $1, $2 * 500000 }' wanted | diff - got || fail "the periods are not those of the samples"
	for type in local-period local-hits global-period global-hits; do
		"$PERF_BPF" annotate -i data --percent-type $type >shares 2>err
		assert_contains shares "percent: ${type/-/ })"
		sed '/<other>/,$d' shares >of_main
		counts of_main >got
		awk -v type=$type '{ of = type ~ /local/ ? 17 : 22;  printf "%s %.2f\n", $1, 100 * $2 / of }' wanted |
			diff - got || fail "--percent-type $type"
	done
	# perf takes the words in either order
	"$PERF_BPF" annotate -i data --percent-type hits-global >shares 2>err
	assert_contains shares "percent: global hits)"
	expect_status 2 "$PERF_BPF" annotate -i data --percent-type local
	assert_contains err "'local' is not local-period"
}

# The same percentages at the same addresses, the same headings and summaries.
test_as_perf() {
	for options in --no-source "--no-source -n" "--no-source --show-total-period" \
		"--no-source --percent-type local-hits" "--no-source --percent-type global-period" \
		"--no-source -P" "-l" "-l -P" "-M intel"; do
		# shellcheck disable=SC2086
		perf_text annotate -i flat --stdio $options spin >theirs
		# shellcheck disable=SC2086
		golden annotate -i flat --stdio $options spin >ours 2>err || skip "$(cat err)"
		for f in theirs ours; do
			counts $f >$f.counts
			grep -E '^-|Source code & Disassembly|^Sorted summary|^ +[0-9.]+ [^ :]+:[0-9]+$' \
				$f >$f.heads
		done
		[ -s theirs.counts ] || fail "perf annotate $options has no numbers"
		diff theirs.counts ours.counts || fail "annotate $options: other numbers than perf"
		diff theirs.heads ours.heads || fail "annotate $options: other headings than perf"
	done
}

test_source_lines() {
	write_program
	"$PERF_BPF" annotate -i data spend >out 2>err
	# Its text is before the instructions that have the samples.
	grep -qE $': 5 +\t\tsink = sink \\* 31 \\+ i; /\\* the hot line \\*/$' out ||
		fail "the hot line is not shown"
	# each instruction is below its line
	sed -nE 's/^ +: ([0-9]+) .*/line \1/p; s/^ +[0-9.]+ : +([0-9a-f]+):.*/\1/p' out |
		awk '$1 == "line" { n = $2; next } { print $1, n }' >got
	while read -r at _; do
		echo "$at $(addr2line -e work "0x$at" | sed 's/.*://; s/ .*//')"
	done <wanted | diff - got || fail "other lines"
	"$PERF_BPF" annotate -i data --no-source spend >out 2>err
	! grep 'hot line' out || fail "--no-source shows the source"
	"$PERF_BPF" annotate -i data -l -P --no-source spend >out 2>err
	assert_contains out "// $PWD/work.c:5"
	assert_contains out "Sorted summary for file $PWD/work"
	rm work.c
	"$PERF_BPF" annotate -i data spend >out 2>err
	assert_contains out "$PWD/work.c:5"
}

# What is inlined has the line of its own code, below its function and the calls that lead to it.
test_inlined_functions() {
	enter
	cat >work.c <<-'END'
		#define INLINE static inline __attribute__((always_inline))
		static volatile unsigned sink;
		INLINE void leaf(unsigned n)
		{
			for (unsigned i = 0; i < n; i++)
				sink = sink * 31 + i; /* the hot line */
		}
		INLINE void middle(unsigned n)
		{
			sink++; /* of middle */
			leaf(n);
		}
		__attribute__((noinline)) static void spend(unsigned n)
		{
			middle(n);
			sink--; /* of spend */
		}
		int main(void)
		{
			spend(60000000);
			return 0;
		}
	END
	write_work
	"$PERF_BPF" annotate -i data spend >out 2>err || fail "$(cat err)"
	local head='leaf() (called by middle() at work.c:11, by spend() at work.c:15):'
	assert_contains out " $head"
	assert_contains out " middle() (called by spend() at work.c:15):"
	# The function of each source line is the one of the last head.
	awk -v leaf="$head" '/\):$/ { sub(/^ *: +/, ""); head = $0; next }
		/the hot line/ { if (head != leaf) exit 1; hot++ }
		/of middle/ && head !~ /^middle/ { exit 1 }
		/of spend/ { if (head != "spend():") exit 1; own++ }
		END { exit !(hot && own) }' out || fail "a line is below another function: $(cat out)"
	"$PERF_BPF" annotate -i data --no-source spend >out 2>err
	! grep leaf out || fail "--no-source shows functions"
}

# A binary may name any file as its source.
test_source_files_of_others() {
	write_program
	chmod 711 "$FILES" .
	chown 65534 work.c
	"$PERF_BPF" annotate -i data spend >out 2>err
	! grep 'hot line' out || fail "the source file of another user was read"
	assert_contains out "$PWD/work.c:5"
	chown 65534 work
	"$PERF_BPF" annotate -i data spend >out 2>err
	assert_contains out "the hot line"
	rm work.c
	mkfifo work.c
	timeout 20 "$PERF_BPF" annotate -i data spend >out 2>err || fail "a FIFO as source: $(cat err)"
	assert_contains out "$PWD/work.c:5"
	rm work.c
	for _ in 1 2 3 4; do echo; done >work.c
	printf 'hot \033[31m line\n' >>work.c
	"$PERF_BPF" annotate -i data spend >out 2>err
	assert_contains out 'hot \x1b[31m line'
}

# Sources that are elsewhere than the debug information says: as objdump has --prefix, which perf runs.
test_source_files_elsewhere() {
	write_program
	mkdir -p away/deep
	mv work.c away/deep
	depth=$(tr -cd / <<<"$PWD" | wc -c)
	"$PERF_BPF" annotate -i data --prefix "$PWD/away" spend >out 2>err
	assert_contains out "$PWD/away$PWD/work.c:5" # where it was looked for
	! grep 'hot line' out || fail "the file is not there"
	for prefix in "$PWD/away/deep" "$PWD/away/deep/" away/deep; do
		for strip in "$depth" 99; do
			"$PERF_BPF" annotate -i data --prefix $prefix --prefix-strip $strip spend >out 2>err
			grep -q 'the hot line' out || fail "--prefix $prefix --prefix-strip $strip: $(cat out)"
		done
	done
	mkdir -p "away/${PWD##*/}"
	mv away/deep/work.c "away/${PWD##*/}"
	"$PERF_BPF" annotate -i data --prefix away --prefix-strip $((depth - 1)) spend >out 2>err
	assert_contains out "the hot line"
	# lines keep their names
	"$PERF_BPF" annotate -i data -l -P --prefix away --prefix-strip 99 spend >out 2>err
	assert_contains out "// $PWD/work.c:5"
	expect_status 2 "$PERF_BPF" annotate -i data --prefix-strip 1
	assert_contains err "--prefix-strip needs --prefix"
	expect_status 2 "$PERF_BPF" annotate -i data --prefix away --prefix-strip=-1
	assert_contains err "--prefix-strip: '-1' is not a number"
	# of others, only what they can read
	chown 65534 "away/${PWD##*/}/work.c"
	"$PERF_BPF" annotate -i data --prefix "$PWD/away" --prefix-strip $((depth - 1)) spend >out 2>err
	! grep 'hot line' out || fail "the source file of another user was read"
}

test_notations_and_bytes() {
	write_loop
	"$PERF_BPF" annotate -i data main >out 2>err
	grep -qE 'movl +\$0xbebc200, %ecx$' out || fail "not AT&T's notation: $(cat out)"
	"$PERF_BPF" annotate -i data -M intel main >out 2>err
	grep -qE 'mov +ecx, 0xbebc200$' out || fail "not Intel's notation: $(cat out)"
	grep -qE 'jne .* <main\+0x6>$' out || fail "the target of the jump has no name"
	"$PERF_BPF" annotate -i data --asm-raw main >out 2>err
	grep -qE ': b9 00 c2 eb 0b +movl' out || fail "the bytes are not shown"
	expect_status 2 "$PERF_BPF" annotate -i data -M masm
	assert_contains err "'masm' is neither att nor intel"
}

test_a_binary_that_was_built_again() {
	write_loop
	sed -i 's/nop/nop; nop/' loop.S
	link loop loop.S
	"$PERF_BPF" annotate -i data >out 2>err || :
	! grep '<main>' out || fail "the code of another build was shown"
	assert_contains err "has changed since it was recorded"
}

test_functions_that_are_not_there() {
	write_loop
	expect_status 1 "$PERF_BPF" annotate -i data no_such_function
	assert_contains err "no samples in a function 'no_such_function'"
	assert_contains err "hint: "
	expect_status 2 "$PERF_BPF" annotate -i data one two
}

# A program that has most of the samples: source line, BPF instructions, machine instructions.
test_bpf_programs() {
	cd "$FILES"
	cp bpf.ours data
	needs_disassembler
	name=bpf_prog_$(golden report -i data -s sym | grep -oE '[0-9a-f]*_rbpf_heavy' | sort -u)
	"$PERF_BPF" annotate -i data -n "$name" >out 2>err || fail "$(cat err)"
	assert_contains out "Source code & Disassembly of $name for cpu-clock ("
	grep -qE ': [0-9]+ +\s*s = s \* 31 \+ \(s >> 7\); /\* the hot line \*/$' out ||
		fail "no source line: $(head -n 40 out)"
	grep -qE ': +[0-9]+: \([0-9a-f]{2}\) r[0-9] \*= 31$' out || fail "no BPF instruction"
	grep -qE '^ +[0-9]+ :   ffff[0-9a-f]+: ' out || fail "no machine instruction"
	# Each BPF instruction is shown once, in order.
	sed -nE 's/^ +: +([0-9]+): \(.*/\1/p' out >numbers
	sort -un numbers | cmp - numbers || fail "BPF instructions are missing or repeated"
	# All samples of the function are at its instructions.
	samples=$(sed -nE 's/.* \(([0-9]+) samples.*/\1/p' out)
	[ "$samples" -gt 0 ] || fail "the function has no samples"
	assert_equal "$(awk '/^ +[0-9]+ : +ffff/ { n += $1 } END { print n }' out)" "$samples"
	# The line's share, by -l, is that of its instructions.
	"$PERF_BPF" annotate -i data -l --no-source "$name" >out 2>err
	assert_contains out "heavy.bpf.c:18"
	! grep -E ': +[0-9]+: \(' out || fail "--no-source shows BPF instructions"
}

# With this one the kernel was built that ran when the recordings below were written. Each has 5 samples
# in one function.
KERNEL_BUILD_ID=3f1a9e0d5b7c2468ace013579bdf02468ace1357
KERNEL_SAMPLE=ffffffff81200010

# link_kernel FILE FUNCTION [MOVED [BUILD-ID]]: an image with a function where the samples are, linked
# at an address that is lower by MOVED (KASLR)
link_kernel() {
	cat >image.S <<-END
			.text
			.type $2,@function
		$2:
			.fill 32, 1, 0x90
			.size $2,.-$2
			.section .head.text,"ax"
			.globl _text
		_text:	nop
	END
	gcc -c -o image.o image.S
	ld -o "$1" -Ttext="$(printf 0x%x $((0x$KERNEL_SAMPLE - 16 - ${3:-0})))" -e _text \
		--section-start=.head.text="$(printf 0x%x $((0xffffffff81000000 - ${3:-0})))" \
		--build-id="0x${4:-$KERNEL_BUILD_ID}" image.o
}

write_kernel() {
	enter
	made build-id=$KERNEL_BUILD_ID 0x$KERNEL_SAMPLE=5
	needs_disassembler
}

test_kernel_code_of_its_image() {
	write_kernel
	for moved in 0 0x1000000; do
		link_kernel vmlinux fake_function $moved
		"$PERF_BPF" annotate -i data -k vmlinux -n fake_function >out 2>err || fail "$(cat err)"
		assert_contains out ": $(printf %x $((0x$KERNEL_SAMPLE - 16 - moved))) <fake_function>:"
		assert_equal "$(counts out)" "$(printf %x $((0x$KERNEL_SAMPLE - moved))) 5"
	done
	link_kernel vmlinux fake_function 0 00112233445566778899aabbccddeeff00112233
	"$PERF_BPF" annotate -i data -k vmlinux -n >out 2>err || :
	! grep fake_function out || fail "the image of another kernel was used"
}

# Names of C++ and Rust in the kernel, of an image and of a list of symbols.
test_demangle_kernel() {
	write_kernel
	link_kernel vmlinux _ZN3pbt4workEi
	printf '%s T %s\n' ffffffff81000000 _text ffffffff81200000 _ZN3pbt4workEi \
		ffffffff81200020 _RNvCsd4dp2R6Vnbk_7mycrate4main >kallsyms
	made build-id=$KERNEL_BUILD_ID 0x$KERNEL_SAMPLE=5 0xffffffff81200020=1
	for names in "-k vmlinux" "--kallsyms kallsyms"; do
		"$PERF_BPF" report -i data -s sym $names >out 2>err
		assert_contains out "[k] _ZN3pbt4workEi"
		"$PERF_BPF" report -i data -s sym $names --demangle-kernel >out 2>err
		grep -qE "\[k\] pbt::work *$" out || fail "$names: $(cat out)"
		"$PERF_BPF" script -i data -F ip,sym $names --demangle-kernel >out 2>err
		assert_contains out "$KERNEL_SAMPLE pbt::work"
		"$PERF_BPF" report -v -i data -s sym $names --demangle-kernel >out 2>err
		assert_contains out "pbt::work(int)"
		# the other option is for programs
		"$PERF_BPF" report -i data -s sym $names --demangle >out 2>err
		assert_contains out "[k] _ZN3pbt4workEi"
		"$PERF_BPF" report -i data -s sym $names --no-demangle --demangle-kernel >out 2>err
		assert_contains out "[k] pbt::work"
	done
	"$PERF_BPF" report -i data -s sym --kallsyms kallsyms --demangle-kernel >out
	assert_contains out mycrate::main
	"$PERF_BPF" annotate -i data -k vmlinux --demangle-kernel -n pbt::work >out 2>err || fail "$(cat err)"
	assert_contains out "<pbt::work>:"
}

# A recording as record --kcore makes it: its directory has the kernel's symbols and code.
test_kernel_code_in_the_recording() {
	write_kernel
	mkdir -p dir/kcore_dir
	cp data dir/data
	at=$((0x$KERNEL_SAMPLE - 16))
	printf '%s %s %s\n' ffffffff81000000 T _text ffffffff81000000 T _stext "$(printf %x $at)" T pbt_recorded \
		"$(printf %x $((at + 32)))" T pbt_behind ffffffffffff0000 T _etext >dir/kcore_dir/kallsyms
	: >dir/kcore_dir/modules
	# one segment of 32 times nop
	python3 - $at >dir/kcore_dir/kcore <<-'END'
		import struct, sys
		at = int(sys.argv[1]) & (1 << 64) - 1
		sys.stdout.buffer.write(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 4, 62, 1, 0, 64, 0, 0, 64,
			56, 1, 0, 0, 0) + struct.pack("<IIQQQQQQ", 1, 5, 120, at, 0, 32, 32, 4096) + b"\x90" * 32)
	END
	"$PERF_BPF" annotate -i dir -n pbt_recorded >out 2>err || fail "$(cat err)"
	assert_equal "$(counts out)" "$KERNEL_SAMPLE 5"
	[ "$(grep -c 'nop$' out)" = 32 ] || fail "$(cat out)"
	"$PERF_BPF" report -i dir -s sym >out 2>err
	assert_contains out "[k] pbt_recorded"
	# what is given goes before it
	"$PERF_BPF" report -i dir -s sym --kallsyms /proc/kallsyms >out 2>err
	! grep pbt_recorded out || fail "--kallsyms is ignored"
	# names alone; what could wait, or is elsewhere, is not opened
	if [ "$(id -u)" = 0 ]; then
		chown 65533 dir/kcore_dir/kallsyms
		expect_status 1 "$PERF_BPF" report --stdio -i dir
		assert_contains err "kcore_dir/kallsyms: it belongs to user 65533"
		expect_status 0 "$PERF_BPF" report --stdio -f -i dir
		chown 0 dir/kcore_dir/kallsyms
	fi
	mv dir/kcore_dir/kcore .
	"$PERF_BPF" report -i dir -s sym >out 2>err
	assert_contains out "[k] pbt_recorded"
	! "$PERF_BPF" annotate -i dir -n pbt_recorded >out 2>err || fail "code of the running kernel: $(cat out)"
	mkfifo dir/kcore_dir/kcore
	! timeout 20 "$PERF_BPF" report -i dir -s sym >out 2>err || fail "a FIFO is read"
	assert_contains err "kcore_dir/kcore"
	rm dir/kcore_dir/kcore
	ln -s "$PWD/kcore" dir/kcore_dir/kcore
	! "$PERF_BPF" report -i dir -s sym >out 2>err || fail "a link is followed"
	echo "no image" >kcore
	rm dir/kcore_dir/kcore
	cp kcore dir/kcore_dir
	! "$PERF_BPF" report -i dir -s sym >out 2>err || fail "not an image: $(cat out)"
	assert_contains err "not an image of a 64-bit kernel"
}

# A module is a file that was not linked, and may be packed.
test_code_of_a_kernel_module() {
	enter
	cat >made.c <<-'END'
		extern int outside(int), counter;
		static int table[16];
		__attribute__((noinline, section(".text.other"))) int elsewhere(int n) { return counter + n; }
		__attribute__((noinline)) int callee(int n) { return n * 3 + table[n & 15]++; }
		int spend(int n)
		{
			int sum = 0;
			for (int i = 0; i < n; i++)
				sum += outside(callee(i)) + elsewhere(i);
			return sum;
		}
	END
	gcc -O1 -fno-pic -mcmodel=kernel -fno-asynchronous-unwind-tables -c -o made.ko made.c
	start=$(nm made.ko | awk '$3 == "spend" { print "0x" $1 }')
	gzip -k made.ko
	xz -k made.ko 2>/dev/null || :
	zstd -q made.ko 2>/dev/null || :
	# write_module FILE: where the kernel has it
	write_module() {
		made map="0xffffffffc0100000,0x4000,0,$PWD/$1" "$(printf '0xffffffffc01%05x=3' $((start + 4)))" \
			"$(printf '0xffffffffc01%05x=5' $((start + 17)))" 0xffffffffc0100000=2
	}
	for file in made.ko*; do
		write_module "$file"
		[ "$file" != made.ko ] || needs_disassembler
		"$PERF_BPF" annotate -i data -n --no-source >out 2>err || fail "$file: $(cat err)"
		counts out >got
		printf '%s\n' "$(printf %x $((start + 4))) 3" "$(printf %x $((start + 17))) 5" "0 2" |
			sort | diff - got || fail "$file: other numbers"
		for name in callee outside elsewhere; do
			grep -qE "call.* <$name>$" out || fail "$file: the call of $name has no name: $(cat out)"
		done
		grep -qE ', %rax, 4\).* <\.bss>$' out || fail "$file: data has no name: $(cat out)"
		grep -qE 'jne .* <spend\+0x[0-9a-f]+>$' out || fail "$file: a jump has no name: $(cat out)"
	done
	if command -v perf >/dev/null; then
		write_module made.ko
		# Of what begins at 0, perf shows the code of all sections.
		perf annotate -i data --stdio --no-source -n spend >theirs 2>/dev/null
		"$PERF_BPF" annotate -i data --no-source -n spend >out 2>err
		counts out >got
		counts theirs | diff - got || fail "other numbers than perf"
	fi
	# half of it
	truncate -s 200 made.ko.gz
	write_module made.ko.gz
	"$PERF_BPF" annotate -i data >out 2>err || :
	[ ! -s out ] || fail "a damaged module has code: $(cat out)"
}

# A JIT compiler writes names, not code.
test_code_of_a_jit() {
	enter
	local pid=$((5000000 + $$))
	echo "7f0000001000 a made_by_jit" >"/tmp/perf-$pid.map"
	made pid=$pid map=0x7f0000001000,0x1000,0,//anon 0x7f0000001005=3
	"$PERF_BPF" report -i data -s sym >report
	expect_status 1 "$PERF_BPF" annotate -i data made_by_jit
	rm -f "/tmp/perf-$pid.map"
	assert_contains report made_by_jit
	assert_contains err "cannot annotate made_by_jit"
	assert_contains err "not their code"
}

# check_jit_code RECORDING: has the samples of the loop and its lines
check_jit_code() {
	"$PERF_BPF" annotate -i "$1" -n made_by_jit >out 2>err || fail "$(cat err)"
	sed -nE 's/^ +([0-9]+) : .*: ([a-z]+) .*/\1 \2/p' out | sort >numbers
	printf '%s\n' "0 movl" "3 decl" "4 jne" | diff - numbers || fail "$1: $(cat out)"
	awk '/\/src\/loop\.jit:1[123]$/ { line = $NF } / movl / { n += line ~ /:11$/ } / (decl|jne) / { n += line ~ /:12$/ }
		END { exit n != 3 }' out || fail "$1: other lines: $(cat out)"
}

# A JIT compiler that writes a dump has names, code and lines; perf inject makes files of them.
test_code_of_a_jit_with_a_dump() {
	enter
	local pid=5000007
	python3 - $pid >jit-$pid.dump <<-'END'
		import struct, sys
		pid, at = int(sys.argv[1]), 0x7f0000001000
		# mov $200000000, %ecx; dec %ecx; jnz; ret
		name, file, loop = b"made_by_jit\0", b"/src/loop.jit\0", bytes.fromhex("b900c2eb0bffc975fcc3")
		lines = b"".join(struct.pack("<Qii", at + offset, line, 0) + file for offset, line in [(0, 11), (5, 12), (9, 13)])
		sys.stdout.buffer.write(struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, pid, 1, 0) +
			struct.pack("<IIQQQ", 2, 32 + len(lines), 2, at, 3) + lines +
			struct.pack("<IIQIIQQQQ", 0, 56 + len(name + loop), 3, pid, pid, at, at, len(loop), 1) + name + loop)
	END
	made map=0x7f0000001000,0x1000,0,//anon map=0x7f0000002000,0x1000,0,"$PWD/jit-$pid.dump" \
		0x7f0000001005=3 0x7f0000001007=4
	needs_disassembler
	check_jit_code data
	"$PERF_BPF" report -i data -s sym,srcline --stdio >report 2>err
	grep -qE 'made_by_jit +loop\.jit:12' report || fail "no lines in the report: $(cat report)"
	if command -v perf >/dev/null; then
		"$BUILD/tests/unit/rewrite-perfdata" data data.file
		perf inject --jit -i data.file -o injected 2>err || fail "perf inject --jit: $(cat err)"
		ls jitted-*.so >/dev/null || fail "perf made no file of the code: $(cat err)"
		check_jit_code injected
	fi
	# Of a dump of another user, nothing is read.
	[ "$(id -u)" = 0 ] || return 0
	chown 65534 jit-*.dump
	expect_status 1 "$PERF_BPF" annotate -i data made_by_jit
}

# The code of the kernel is in its vmlinux only.
test_code_that_cannot_be_had() {
	write_kernel
	printf '%s T %s\n' ffffffff81000000 _text ffffffff81200000 fake_function ffffffff81200020 _etext >kallsyms
	expect_status 1 "$PERF_BPF" annotate --kallsyms kallsyms -i data -d '[kernel.kallsyms]'
	assert_contains err "found no vmlinux"
	assert_contains err "with -k"
	[ "$(grep -c 'found no vmlinux' err)" = 1 ] || fail "the reason is repeated: $(cat err)"
}

run_tests
