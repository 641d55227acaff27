#!/usr/bin/env bash
# Small files of others that claim, or become, something huge when they are read: each command ends with
# less than 512 MB and 20 seconds of CPU time, and says which limit was met.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/made.sh"

NOBODY=65534

needs() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	command -v objcopy >/dev/null || skip "objcopy is not installed"
	command -v python3 >/dev/null || skip "no python3"
}

# bounded COMMAND...: it ends within the limits, in $status, ./out and ./err
bounded() {
	MOST_CPU_SECONDS=20 "$SRC/tests/cmd/limited.py" status "$@" >out 2>err ||
		fail "'$*': $(tail -n 3 err)"
	status=$(cat status)
	[ "$status" -le 1 ] || fail "'$*' ended with $status: $(tail -n 3 err)"
}

# build [OPTION...]: ./work, whose code is in order_place(), and its recording
build() {
	cat >work.c <<-'END'
		volatile unsigned long n;
		__attribute__((noinline)) void order_place(int a) { for (;;) n += a; }
		int main(void) { order_place(3); }
	END
	link work work.c "$@"
	made "$(code_of work)" 0x401000=5
}

# assemble NAME: the same in assembly, with a function of this name in place of order_place()
assemble() {
	cat >work.s <<-END
		.text
		.globl $1, main
		.type main, @function
		.type $1, @function
		$1: inc %rax
		jmp $1
		.size $1, . - $1
		main: jmp $1
		.size main, . - main
		.section .note.GNU-stack,"",@progbits
	END
	link work work.s
	made "$(code_of work)" 0x401000=5
}

# expand_lines ROWS FILE
expand_lines() {
	objcopy -O binary --only-section=.debug_line --set-section-flags .debug_line=alloc "$2" lines
	"$SRC/tests/cmd/line_bomb.py" "$1" <lines >more-lines
	objcopy --update-section .debug_line=more-lines "$2"
}

# reads_lines TEXT: all that reads line tables; each says TEXT once
reads_lines() {
	local command
	for command in "report -i data -s srcline" "script -i data -F ip,sym,srcline" "annotate -i data -l order_place"; do
		# shellcheck disable=SC2086
		bounded "$PERF_BPF" $command
		assert_equal "$command: $status" "$command: 0"
		assert_equal "$command: $(grep -c "$1" err)" "$command: 1"
	done
	bounded "$PERF_BPF" probe -x ./work -L order_place
	assert_contains err "$1"
}

test_rows_of_line_tables() {
	needs
	build -gdwarf-4
	expand_lines 12000000 work
	cp work expanded
	objcopy --compress-debug-sections=zlib work
	reads_lines 'its line tables have more than'
	# not compressed, and of another user
	mv expanded work
	chown $NOBODY work
	reads_lines 'its line tables have more than 3145728 rows'
}

test_compressed_debug_information() {
	needs
	build -gdwarf-4
	expand_lines 40000000 work
	objcopy --compress-debug-sections=zlib work
	reads_lines 'its compressed debug information would take more than'

	build -gdwarf-4 -static-pie # which has .dynsym
	objcopy --only-keep-debug work work.debug
	objcopy -O binary --only-section=.debug_str --set-section-flags .debug_str=alloc work.debug more
	truncate -s +40M more
	objcopy --update-section .debug_str=more --compress-debug-sections=zlib work.debug
	objcopy --strip-debug --add-gnu-debuglink=work.debug work
	reads_lines 'its compressed debug information would take more than'
}

# The checksum of .gnu_debuglink is that of all bytes of the file.
test_a_debuglink_to_a_hole() {
	needs
	build -static-pie -Wl,--build-id=none
	cp work work.debug
	objcopy --strip-debug --add-gnu-debuglink=work.debug work
	rm work.debug
	truncate -s 200G work.debug
	chown $NOBODY work work.debug
	reads_lines 'work.debug: not used: it is mostly a hole'
}

# bomb_name KIND: a name of some hundred bytes. type: a type that has each level twice; pack: the same
# in a pack expansion without a pack, which prints nothing; rust: with references of Rust
bomb_name() {
	python3 -c '
import sys
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
def sequence(n):
    text = "" if n else "0"
    while n:
        n, digit = divmod(n, 36)
        text = DIGITS[digit] + text
    return text
def reference(n):
    return "S" + (sequence(n - 1) if n else "") + "_"
kind = sys.argv[1]
name = "_Z5orderI" + ("Dp" if kind == "pack" else "") + "1AIiiE"
if kind == "rust":
    name = "_RNvC5order5place"
    name = "_RI" + name[2:] + "TmmE"
    at = len(name) - 6
    for level in range(28):
        here = len(name) - 2
        back = "".join("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[d]
                       for d in ([(at - 1) // 62] if at > 62 else []) + [(at - 1) % 62])
        name += "TB%s_B%s_E" % (back, back)
        at = here
    print(name + "E")
else:
    for level in range(40):
        one = reference(2 + level)
        name += reference(1) + "I" + one + one + "E"
    print(name + "Evv")
' "$1"
}

# A name of 400 bytes for gigabytes, or for hours.
test_names_that_expand() {
	local kind name command
	needs
	for kind in type pack; do
		name=$(bomb_name $kind)
		[ ${#name} -lt 1000 ] || fail "the name has ${#name} bytes"
		assemble "$name"
		chown $NOBODY work
		for command in "report -i data -s dso,symbol" "script -i data -F ip,sym" "annotate -i data" \
			"diff -s dso,symbol data data"; do
			# shellcheck disable=SC2086
			bounded "$PERF_BPF" $command
			assert_equal "$kind: $command: $status" "$kind: $command: 0"
			assert_equal "$kind: $command: $(grep -c 'to demangle and is shown as it is: _Z5orderI' err)" \
				"$kind: $command: 1"
		done
		bounded "$PERF_BPF" report -i data -s symbol
		assert_contains out "${name:0:60}"
		bounded "$PERF_BPF" probe -x ./work -F
	done
}

# Scopes within each other, a byte each: libdw reads all that is within a scope to find what is behind it.
test_scopes_within_each_other() {
	local command
	needs
	[ "$(uname -m)" = x86_64 ] || skip "its code is for x86_64"
	build
	gcc -O1 -S -o work.s work.c
	cat >>work.s <<-'END'
		.section .debug_abbrev,"",@progbits
		abbreviations:
		# a unit, a function and a block: tag, children, attributes and their forms
		.uleb128 1, 0x11
		.byte 1
		.uleb128 0x3, 8, 0x11, 1, 0x12, 6, 0, 0
		.uleb128 2, 0x2e
		.byte 1
		.uleb128 0x3, 8, 0x11, 1, 0x12, 6, 0, 0
		.uleb128 3, 0x0b
		.byte 1
		.uleb128 0, 0
		.byte 0
		.section .debug_info,"",@progbits
		.long end - begin
		begin: .value 4
		.long abbreviations
		.byte 8
		.uleb128 1
		.string "work.c"
		.quad order_place
		.long 100
		.uleb128 2
		.string "order_place"
		.quad order_place
		.long 50
		.fill 20000000, 1, 3
		.fill 20000002, 1, 0
		end:
	END
	link work work.s
	made "$(code_of work)" 0x401000=5
	chown $NOBODY work
	for command in "probe -x ./work -L order_place" "probe -x ./work -V order_place" \
		"record -q -o probed -e probe:exec=./work;order_place -- true"; do
		# shellcheck disable=SC2086
		bounded "$PERF_BPF" $command
		assert_equal "$command: $status" "$command: 1"
		assert_contains err "are nested too deeply"
	done
	for command in "report -i data -s srcline" "script -i data -F ip,sym,srcline" "annotate -i data order_place"; do
		# shellcheck disable=SC2086
		bounded "$PERF_BPF" $command
		assert_equal "$command: $status" "$command: 0"
	done
}

# A command that waits for a process which does not answer, or for a FIFO, ends by a signal.
test_signals_end_what_waits() {
	local name keeper sig
	needs
	[ "$(uname -m)" = x86_64 ] || skip "its code is for x86_64"
	name=$(bomb_name type)
	cat >bomb.s <<-END
		.text
		.globl main
		.globl $name
		.type $name, @function
		$name: inc %rax
		jmp $name
		.size $name, . - $name
		main: jmp $name
		.section .note.GNU-stack,"",@progbits
	END
	gcc -o bomb bomb.s
	./bomb &
	bomb=$!
	for sig in INT TERM; do
		"$PERF_BPF" top --stdio -d 0.5 -e cpu-clock:u -p $bomb >out 2>err &
		top=$!
		soon pgrep -P $top -x perf-bpf-keeper >/dev/null
		keeper=$(pgrep -P $top -x perf-bpf-keeper)
		kill -STOP $keeper
		soon waits_for_an_answer $top
		kill -$sig $top
		wait $top && status=0 || status=$?
		assert_equal $status $((128 + $(kill -l $sig)))
		assert_contains err "ended by a signal while it was busy"
		soon eval "! kill -0 $keeper 2>/dev/null"
	done
	kill $bomb
	mkfifo fifo
	for command in "report -i fifo" "script -i fifo" "annotate -i fifo" "trace -i fifo"; do
		# shellcheck disable=SC2086
		"$PERF_BPF" $command >out 2>err &
		reader=$!
		soon grep -q . /proc/$reader/wchan
		kill -TERM $reader
		wait $reader && status=0 || status=$?
		assert_equal "$command: $status" "$command: 143"
	done
}
# waits_for_an_answer PID: in read(2) or recvfrom(2)
waits_for_an_answer() {
	[[ $(cut -d' ' -f1 "/proc/$1/syscall") =~ ^(0|45|47)$ ]]
}

# A name with many references that is a real one is demangled, before and after a bomb.
test_names_with_references() {
	needs
	local real=_Z4findRKSt3mapISt6vectorISsSaISsEES_IS1_S1_St4lessIS1_ESaISt4pairIKS1_S1_EEES4_SaIS5_IS6_S9_EEERKS1_S1_S1_S1_S1_
	assemble $real
	bounded "$PERF_BPF" report -i data -s symbol
	assert_contains out '[.] find'
}

# Each symbol is one of many at an address, with a name of a million bytes that all share.
test_symbols_that_share_a_name() {
	needs
	build
	python3 -c '
import struct, sys
data = bytearray(open("work", "rb").read())
shoff, = struct.unpack_from("<Q", data, 40)
count, = struct.unpack_from("<H", data, 60)
for i in range(count):
    head = shoff + 64 * i
    kind, = struct.unpack_from("<I", data, head + 4)
    if kind == 2:  # SHT_SYMTAB
        offset, size, link = struct.unpack_from("<QQI", data, head + 24)
        strings = shoff + 64 * link
        at, length = struct.unpack_from("<QQ", data, strings + 24)
        names = bytes(data[at:at + length]) + b"x" * 1000000 + b"\0"
        symbols = bytes(data[offset:offset + size])
        main = [symbols[k:k + 24] for k in range(0, size, 24) if symbols[k + 4] & 15 == 2][-1]
        symbols += (struct.pack("<I", length) + main[4:]) * 300000
        for where, text in ((strings, names), (head, symbols)):
            struct.pack_into("<QQ", data, where + 24, len(data), len(text))
            data += text
        break
open("work", "wb").write(data)
'
	chown $NOBODY work
	bounded "$PERF_BPF" report -i data -s dso,symbol
	assert_equal "$(grep -c 'many of its symbols share long names' err)" 1
}

run_tests
