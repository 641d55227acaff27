#!/usr/bin/env bash
# perf-bpf annotate: the samples of each instruction, of workloads that know where their time goes.
. "$(dirname "$0")/../tap.sh"

PERF=$(command -v perf || true)
# Not /tmp/perf-…: perf takes such a path for the names of a JIT.
FILES=$(mktemp -d "${TMPDIR:-/tmp}/annotate-of-perf-bpf.XXXXXX")

enter() {
	cd "$(mktemp -d "$FILES/XXXXXX")" || exit 1
}

tests_end() {
	rm -rf "$FILES"
}

needs_disassembler() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	"$PERF_BPF" annotate -i "$1" >/dev/null 2>disassembler || :
	! grep 'built without capstone' disassembler || skip "$(cat disassembler)"
}

# A loop of two instructions, in a function of which they are nearly all of the time.
record_loop() {
	[ "$(uname -m)" = x86_64 ] || skip "the program is for x86-64"
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
			.section .note.GNU-stack,"",@progbits
	END
	gcc -Wl,--build-id=sha1 -o loop loop.S
	"$PERF_BPF" record -q -N -e cpu-clock:u -c 500000 "$@" -o data ./loop
	needs_disassembler data
}

# record_program NAME: a function of C with one loop, built with debug information.
record_program() {
	enter
	cat >"$1.c" <<'END'
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
	gcc -O1 -g -Wl,--build-id=sha1 -o "$1" "$PWD/$1.c"
	"$PERF_BPF" record -q -N -e cpu-clock:u -c 500000 -o data "./$1"
	needs_disassembler data
}

# counts FILE: "ADDRESS NUMBER" of what an output has a number for that is not 0
counts() {
	sed -nE 's/^ +([0-9.]+) : +([0-9a-f]+):.*/\2 \1/p' "$1" | grep -vE ' 0(\.00)?$' | sort
}

test_the_samples_of_each_instruction() {
	record_loop
	"$PERF_BPF" annotate -i data -n main >out 2>err
	assert_contains out " Samples |	Source code & Disassembly of loop for cpu-clock:u ("
	[ "$(grep -cE ' : +[0-9a-f]+:' out)" = 6 ] || fail "these are not the six instructions"
	"$PERF_BPF" script -i data -F ip,sym -S main >ips
	entry=$(nm loop | awk '$3 == "main" { print $1 }')
	# An address in the process and in the file have the same place in their page.
	while read -r ip _; do
		printf '%x\n' $((0x$entry - 0x$entry % 4096 + 0x$ip % 4096))
	done <ips | sort | uniq -c | awk '{ print $2, $1 }' | sort >wanted
	[ -s wanted ] || fail "the workload has no samples"
	counts out >got
	diff wanted got || fail "the numbers are not those of script"
	total=$(awk '{ n += $2 } END { print n }' wanted)
	assert_contains out "cpu-clock:u ($total samples, percent: local period)"
	loop=$(grep -E 'decl|jne' out | awk '{ n += $1 } END { print n }')
	[ "$loop" -gt 0 ] || fail "no sample is in the loop"
}

test_what_the_percentages_are_of() {
	record_loop
	"$PERF_BPF" annotate -i data -n main >numbers 2>err
	"$PERF_BPF" annotate -i data --show-total-period main >periods 2>err
	counts numbers | awk '{ print $1, $2 * 500000 }' >wanted
	counts periods >got
	diff wanted got || fail "the periods are not those of the samples"
	# The function's, or all: the loader has samples, too, or none.
	function=$(counts numbers | awk '{ n += $2 } END { print n }')
	all=$("$PERF_BPF" script -i data -F ip | grep -c .)
	for type in local-period local-hits global-period global-hits; do
		"$PERF_BPF" annotate -i data --percent-type $type >shares 2>err
		assert_contains shares "percent: ${type/-/ })"
		of=$function
		[ "${type%-*}" = local ] || of=$all
		counts numbers | awk -v of="$of" '{ printf "%s %.2f\n", $1, 100 * $2 / of }' >wanted
		sed -n '/<main>:/,/^ Percent/p' shares >of_main
		counts of_main >got
		diff wanted got || fail "--percent-type $type"
	done
	# perf takes the words in either order
	"$PERF_BPF" annotate -i data --percent-type hits-global >shares 2>err
	assert_contains shares "percent: global hits)"
	expect_status 2 "$PERF_BPF" annotate -i data --percent-type local
	assert_contains err "'local' is not local-period"
}

# The same percentages at the same addresses, the same headings and summaries.
test_as_perf() {
	[ -n "$PERF" ] || skip "linux-perf is not installed"
	command -v objdump >/dev/null || skip "binutils are not installed, which perf annotate runs"
	record_program work
	"$PERF" annotate -i data --stdio --no-source spend >theirs 2>theirs.err || :
	[ -s theirs ] || skip "perf annotate prints nothing: $(cat theirs.err)"
	for options in --no-source "--no-source -n" "--no-source --show-total-period" \
		"--no-source --percent-type local-hits" "--no-source --percent-type global-period" \
		"--no-source -P" "-l" "-l -P" "-M intel"; do
		# shellcheck disable=SC2086
		"$PERF" annotate -i data --stdio $options spend >theirs 2>/dev/null
		# shellcheck disable=SC2086
		"$PERF_BPF" annotate -i data --stdio $options spend >ours 2>err
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
	record_program work
	"$PERF_BPF" annotate -i data spend >out 2>err
	# Its text is before the instructions that have the samples.
	grep -qE $': 5 +\t\tsink = sink \\* 31 \\+ i; /\\* the hot line \\*/$' out ||
		fail "the hot line is not shown"
	awk '/: +[0-9]+ +\t/ || / : 1?[0-9] / { line = $0 }
		/^ +[0-9.]+ : / && $1 > 0 { n[line ~ /hot line|for \(/] += $1 }
		END { exit !(n[1] > 50) }' out || fail "samples are at other lines: $(cat out)"
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
	gcc -O1 -g -Wl,--build-id=sha1 -o work "$PWD/work.c"
	"$PERF_BPF" record -q -N -e cpu-clock:u -c 500000 -o data ./work
	needs_disassembler data
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
	record_program work
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
	record_program work
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
	record_loop
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
	record_loop
	sed -i 's/nop/nop; nop/' loop.S
	gcc -Wl,--build-id=sha1 -o loop loop.S
	"$PERF_BPF" annotate -i data >out 2>err || :
	! grep '<main>' out || fail "the code of another build was shown"
	assert_contains err "has changed since it was recorded"
}

test_functions_that_are_not_there() {
	record_loop
	expect_status 1 "$PERF_BPF" annotate -i data no_such_function
	assert_contains err "no samples in a function 'no_such_function'"
	assert_contains err "hint: "
	expect_status 2 "$PERF_BPF" annotate -i data one two
}

# A program that has most of the samples: source line, BPF instructions, machine instructions.
test_bpf_programs() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	enter
	cat >heavy.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		char LICENSE[] SEC("license") = "Dual BSD/GPL";
		volatile unsigned long total;
		SEC("raw_tp/sys_enter")
		int annotate_heavy(void *ctx)
		{
			unsigned long s = bpf_ktime_get_ns();
			if ((__u32)bpf_get_current_pid_tgid() == 0)
				return 0;
			for (int i = 0; i < 2000; i++)
				s = s * 31 + (s >> 7); /* the hot line */
			total += s;
			return 0;
		}
	END
	"$PERF_BPF" record -q -N -e cpu-clock -c 250000 --object heavy.bpf.c -o data \
		-- dd if=/dev/zero of=/dev/null bs=1 count=20000 status=none >record.out 2>&1 ||
		fail "perf-bpf record: $(cat record.out)"
	needs_disassembler data
	name=$("$PERF_BPF" report -i data -s sym 2>/dev/null | grep -o 'bpf_prog_[0-9a-f]*_annotate_heavy') ||
		fail "the program is not in the report"
	"$PERF_BPF" annotate -i data -n "$name" >out 2>err || fail "$(cat err)"
	assert_contains out "Source code & Disassembly of $name for cpu-clock ("
	grep -qE ': [0-9]+ +s = s \* 31 \+ \(s >> 7\); /\* the hot line \*/$' out ||
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
	assert_contains out "heavy.bpf.c:12"
	! grep -E ': +[0-9]+: \(' out || fail "--no-source shows BPF instructions"
}

# kernel_build_id: from the notes of the running kernel
kernel_build_id() {
	python3 - <<-'END'
		import struct
		notes, at = open("/sys/kernel/notes", "rb").read(), 0
		while at + 12 <= len(notes):
		    n, size, kind = struct.unpack_from("III", notes, at)
		    start = at + 12 + (n + 3 & ~3)
		    if kind == 3 and notes[at + 12:at + 16] == b"GNU\0":
		        print(notes[start:start + size].hex())
		    at = start + (size + 3 & ~3)
	END
}

# An image with a function where the samples are, as linked, and at another address (KASLR).
test_kernel_code_of_its_image() {
	[ "$(uname -m)" = x86_64 ] || skip "the code is for x86-64"
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	enter
	"$PERF_BPF" record -q -N -e cpu-clock:k -c 250000 -o data dd if=/dev/zero of=/dev/null count=200000 2>/dev/null
	needs_disassembler data
	text=$("$PERF_BPF" script -i data --show-mmap-events |
		sed -nE 's/.* @ (0x)?([0-9a-f]+)\]: x \[kernel.kallsyms\]_text$/\2/p')
	[ "${#text}" = 16 ] || skip "the address of the kernel is not visible here"
	# The address with the most samples, in the kernel proper.
	read -r samples ip < <("$PERF_BPF" script -i data -F ip,sym --dsos '[kernel.kallsyms]' 2>/dev/null |
		awk '{ print $1 }' | sort | uniq -c | sort -rn) || skip "no sample is in the kernel"
	cat >image.S <<-'END'
			.text
			.type fake_function,@function
		fake_function:
			.fill 32, 1, 0x90
			.size fake_function,.-fake_function
			.section .head.text,"ax"
			.globl _text
		_text:	nop
	END
	gcc -c -o image.o image.S
	for moved in 0 0x1000000; do
		at=$(printf 0x%x $((0x$ip - 16 - moved)))
		ld -o vmlinux -Ttext="$at" --section-start=.head.text="$(printf 0x%x $((0x$text - moved)))" \
			-e _text --build-id=0x"$(kernel_build_id)" image.o
		"$PERF_BPF" annotate -i data -k vmlinux -n fake_function >out 2>err || fail "$(cat err)"
		assert_contains out ": ${at#0x} <fake_function>:"
		# There may be samples at other addresses of the function, too.
		counts out >got
		assert_contains got "$(printf %x $((0x$ip - moved))) $samples"
	done
	ld -o vmlinux -e _text --build-id=0x00112233445566778899aabbccddeeff00112233 image.o
	"$PERF_BPF" annotate -i data -k vmlinux -n >out 2>err || :
	! grep fake_function out || fail "the image of another kernel was used"
}

# Names of C++ and Rust in the kernel, of an image and of a list of symbols.
test_demangle_kernel() {
	[ "$(uname -m)" = x86_64 ] || skip "the code is for x86-64"
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	enter
	"$PERF_BPF" record -q -N -e cpu-clock:k -c 250000 -o data dd if=/dev/zero of=/dev/null count=200000 2>/dev/null
	needs_disassembler data
	text=$("$PERF_BPF" script -i data --show-mmap-events |
		sed -nE 's/.* @ (0x)?([0-9a-f]+)\]: x \[kernel.kallsyms\]_text$/\2/p')
	[ "${#text}" = 16 ] || skip "the address of the kernel is not visible here"
	read -r samples ip < <("$PERF_BPF" script -i data -F ip,sym --dsos '[kernel.kallsyms]' 2>/dev/null |
		awk '{ print $1 }' | sort | uniq -c | sort -rn) || skip "no sample is in the kernel"
	cat >image.S <<-'END'
			.text
			.type _ZN3pbt4workEi,@function
		_ZN3pbt4workEi:
			.fill 32, 1, 0x90
			.size _ZN3pbt4workEi,.-_ZN3pbt4workEi
			.section .head.text,"ax"
			.globl _text
		_text:	nop
	END
	gcc -c -o image.o image.S
	ld -o vmlinux -Ttext="0x$(printf %x $((0x$ip - 16)))" --section-start=.head.text="0x$text" \
		-e _text --build-id=0x"$(kernel_build_id)" image.o
	printf '%s T %s\n' "$text" _text "$(printf %x $((0x$ip - 16)))" _ZN3pbt4workEi \
		"$(printf %x $((0x$ip + 16)))" _RNvCsd4dp2R6Vnbk_7mycrate4main >kallsyms
	for names in "-k vmlinux" "--kallsyms kallsyms"; do
		"$PERF_BPF" report -i data -s sym $names >out 2>err
		assert_contains out "[k] _ZN3pbt4workEi"
		"$PERF_BPF" report -i data -s sym $names --demangle-kernel >out 2>err
		grep -qE "\[k\] pbt::work *$" out || fail "$names: $(cat out)"
		"$PERF_BPF" script -i data -F ip,sym $names --demangle-kernel >out 2>err
		assert_contains out "$ip pbt::work"
		"$PERF_BPF" report -v -i data -s sym $names --demangle-kernel >out 2>err
		assert_contains out "pbt::work(int)"
		# the other option is for programs
		"$PERF_BPF" report -i data -s sym $names --demangle >out 2>err
		assert_contains out "[k] _ZN3pbt4workEi"
		"$PERF_BPF" report -i data -s sym $names --no-demangle --demangle-kernel >out 2>err
		assert_contains out "[k] pbt::work"
	done
	grep -q 'mycrate::main' <("$PERF_BPF" report -i data -s sym --kallsyms kallsyms --demangle-kernel 2>&1) ||
		fail "no name of Rust"
	"$PERF_BPF" annotate -i data -k vmlinux --demangle-kernel -n pbt::work >out 2>err || fail "$(cat err)"
	assert_contains out "<pbt::work>:"
	[ -n "$PERF" ] || return 0
	for how in "" --demangle-kernel; do
		"$PERF" report --stdio -i data -s sym -k vmlinux $how 2>/dev/null </dev/null |
			grep -oE '\[k\] (_ZN)?3?pbt.*work[^ ]*' >theirs || :
		"$PERF_BPF" report -i data -s sym -k vmlinux $how 2>/dev/null |
			grep -oE '\[k\] (_ZN)?3?pbt.*work[^ ]*' >mine
		diff theirs mine || fail "$how"
	done
}

# A recording as record --kcore makes it: its directory has the kernel's symbols and code.
test_kernel_code_in_the_recording() {
	[ "$(uname -m)" = x86_64 ] || skip "the code is for x86-64"
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	enter
	"$PERF_BPF" record -q -N -e cpu-clock:k -c 250000 -o data dd if=/dev/zero of=/dev/null count=200000 2>/dev/null
	needs_disassembler data
	read -r samples ip < <("$PERF_BPF" script -i data -F ip,sym --dsos '[kernel.kallsyms]' 2>/dev/null |
		awk '{ print $1 }' | sort | uniq -c | sort -rn) || skip "no sample is in the kernel"
	text=$("$PERF_BPF" script -i data --show-mmap-events |
		sed -nE 's/.* @ (0x)?([0-9a-f]+)\]: x \[kernel.kallsyms\]_text$/\2/p')
	[ "${#text}" = 16 ] || skip "the address of the kernel is not visible here"
	mkdir -p dir/kcore_dir
	cp data dir/data
	at=$((0x$ip - 16))
	printf '%s %s %s\n' "$text" T _text "$text" T _stext "$(printf %x $at)" T pbt_recorded \
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
	counts out >got
	assert_contains got "$ip $samples"
	[ "$(grep -c 'nop$' out)" = 32 ] || fail "$(cat out)"
	"$PERF_BPF" report -i dir -s sym >out 2>err
	assert_contains out "[k] pbt_recorded"
	if [ -n "$PERF" ]; then
		"$PERF" report --stdio -i dir -s sym </dev/null 2>/dev/null >theirs
		assert_contains theirs "[k] pbt_recorded"
	fi
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
	[ "$(uname -m)" = x86_64 ] || skip "the code is for x86-64"
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
	for file in made.ko*; do
		"$SRC/tests/cmd/module_recording.py" "$PWD/$file" 0xffffffffc0100000 0x4000 \
			$((start + 4))=3 $((start + 17))=5 0=2 >data
		[ "$file" != made.ko ] || needs_disassembler data
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
	if [ -n "$PERF" ] && command -v objdump >/dev/null; then
		"$SRC/tests/cmd/module_recording.py" "$PWD/made.ko" 0xffffffffc0100000 0x4000 \
			$((start + 4))=3 $((start + 17))=5 0=2 >data
		# Of what begins at 0, perf shows the code of all sections.
		"$PERF" annotate -i data --stdio --no-source -n spend >theirs 2>/dev/null
		"$PERF_BPF" annotate -i data --no-source -n spend >out 2>err
		counts out >got
		counts theirs | diff - got || fail "other numbers than perf"
	fi
	# half of it
	truncate -s 200 made.ko.gz
	"$SRC/tests/cmd/module_recording.py" "$PWD/made.ko.gz" 0xffffffffc0100000 0x4000 0=2 >data
	"$PERF_BPF" annotate -i data >out 2>err || :
	[ ! -s out ] || fail "a damaged module has code: $(cat out)"
}

# A JIT compiler writes names, not code.
test_code_of_a_jit() {
	[ "$(uname -m)" = x86_64 ] || skip "the code is for x86-64"
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	enter
	cat >jit.c <<-'END'
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <unistd.h>
		int main(void)
		{
			/* mov $200000000, %ecx; dec %ecx; jnz; ret */
			static const unsigned char loop[] = {0xb9, 0, 0xc2, 0xeb, 0xb, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
			char *code = mmap(NULL, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			char path[64];
			snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
			FILE *names = fopen(path, "w");
			if (code == MAP_FAILED || !names)
				return 1;
			fprintf(names, "%lx %zx made_by_jit\n", (unsigned long)code, sizeof(loop));
			fclose(names);
			puts(path);
			fflush(stdout);
			memcpy(code, loop, sizeof(loop));
			((void (*)(void))code)();
			return 0;
		}
	END
	gcc -o jit jit.c
	"$PERF_BPF" record -q -N -e cpu-clock:u -c 500000 -o data ./jit >names || fail "the workload failed"
	"$PERF_BPF" report -i data -s sym >report
	expect_status 1 "$PERF_BPF" annotate -i data made_by_jit
	rm -f "$(cat names)"
	assert_contains report made_by_jit
	assert_contains err "cannot annotate made_by_jit"
	assert_contains err "not their code"
}

# check_jit_code RECORDING: has the samples of the loop and its lines
check_jit_code() {
	"$PERF_BPF" annotate -i "$1" -n made_by_jit >out 2>err || fail "$(cat err)"
	grep -qE '^ +[1-9][0-9]* : +[0-9a-f]+: jne ' out || fail "$1: no samples at the loop: $(cat out)"
	awk '/\/src\/loop\.jit:1[123]$/ { line = $NF } / movl / { n += line ~ /:11$/ } / (decl|jne) / { n += line ~ /:12$/ }
		END { exit n != 3 }' out || fail "$1: other lines: $(cat out)"
}

# A JIT compiler that writes a dump has names, code and lines; perf inject makes files of them.
test_code_of_a_jit_with_a_dump() {
	[ "$(uname -m)" = x86_64 ] || skip "the code is for x86-64"
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	enter
	cat >jit.c <<-'END'
		#include <elf.h>
		#include <stdint.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <time.h>
		#include <unistd.h>
		static uint64_t now(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_MONOTONIC, &t);
			return t.tv_sec * 1000000000ull + t.tv_nsec;
		}
		struct head { uint32_t magic, version, size, machine, pad, pid; uint64_t time, flags; };
		struct code { uint32_t id, size; uint64_t time; uint32_t pid, tid; uint64_t vma, addr, n, index; };
		struct lines { uint32_t id, size; uint64_t time, addr, n; };
		struct line { uint64_t addr; int32_t line, discriminator; };
		int main(void)
		{
			/* mov $200000000, %ecx; dec %ecx; jnz; ret */
			static const unsigned char loop[] = {0xb9, 0, 0xc2, 0xeb, 0xb, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
			static const char name[] = "made_by_jit", file[] = "/src/loop.jit";
			char *code = mmap(NULL, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), path[64];
			uint64_t at = (uintptr_t)code;
			int pid = getpid();
			snprintf(path, sizeof(path), "jit-%d.dump", pid);
			FILE *f = fopen(path, "w+");
			if (code == MAP_FAILED || !f)
				return 1;
			struct head head = {0x4a695444, 1, sizeof(head), EM_X86_64, 0, pid, now(), 0};
			fwrite(&head, sizeof(head), 1, f);
			fflush(f);
			/* perf looks for this mapping */
			if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0) == MAP_FAILED)
				return 1;
			struct line line[] = {{at, 11, 0}, {at + 5, 12, 0}, {at + 9, 13, 0}};
			struct lines lines = {2, sizeof(lines) + 3 * (sizeof(*line) + sizeof(file)), now(), at, 3};
			fwrite(&lines, sizeof(lines), 1, f);
			for (int i = 0; i < 3; i++) {
				fwrite(&line[i], sizeof(*line), 1, f);
				fwrite(file, sizeof(file), 1, f);
			}
			struct code load = {0, sizeof(load) + sizeof(name) + sizeof(loop), now(), pid, pid, at, at,
					    sizeof(loop), 1};
			fwrite(&load, sizeof(load), 1, f);
			fwrite(name, sizeof(name), 1, f);
			fwrite(loop, sizeof(loop), 1, f);
			fclose(f);
			memcpy(code, loop, sizeof(loop));
			((void (*)(void))code)();
			return 0;
		}
	END
	gcc -o jit jit.c
	"$PERF_BPF" record -q -N -k mono -e cpu-clock:u -c 500000 -o data ./jit 2>err || fail "record: $(cat err)"
	needs_disassembler data
	check_jit_code data
	counts out | sort -k 2n >ours
	"$PERF_BPF" report -i data -s sym,srcline --stdio >report 2>err
	grep -qE 'made_by_jit +loop\.jit:12' report || fail "no lines in the report: $(cat report)"
	# Of a dump of another user, nothing is read.
	chown 65534 jit-*.dump
	expect_status 1 "$PERF_BPF" annotate -i data made_by_jit
	chown 0 jit-*.dump
	[ -n "$PERF" ] || return 0
	"$PERF" inject --jit -i data -o injected 2>err || skip "perf inject --jit: $(tail -n 1 err)"
	ls jitted-*.so >/dev/null 2>&1 || skip "this perf makes no file of the code"
	check_jit_code injected
	# at other addresses, those of the file
	counts out | sort -k 2n >theirs
	diff <(awk '{ print $2 }' ours) <(awk '{ print $2 }' theirs) || fail "other numbers than in perf's files"
}

# The code of the kernel is in its vmlinux only.
test_code_that_cannot_be_had() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	"$PERF_BPF" record -q -N -e cpu-clock:k -c 250000 -o data dd if=/dev/zero of=/dev/null count=200000 2>/dev/null
	needs_disassembler data
	"$PERF_BPF" report -i data -s dso,sym >report
	grep -q '\[k\] [a-z_]' report || skip "the kernel's symbols are not visible here"
	if "$PERF_BPF" annotate -i data -d '[kernel.kallsyms]' >out 2>err; then
		assert_contains out "Source code & Disassembly of"
	else
		assert_contains err "found no vmlinux"
		assert_contains err "with -k"
		[ "$(grep -c 'found no vmlinux' err)" = 1 ] || fail "the reason is repeated: $(cat err)"
	fi
}

run_tests
