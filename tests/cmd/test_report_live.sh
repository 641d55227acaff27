#!/usr/bin/env bash
# report: what depends on this machine and its kernel. test_report.sh reads golden recordings.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../golden/golden.sh"

PERF=$(command -v perf || true)

need_perf() {
	[ -n "$PERF" ] || skip "linux-perf is not installed"
	[ "$(id -u)" = 0 ] || skip "recording needs root"
}

record_clock() {
	need_perf
	[ -e "$FILES/live" ] ||
		"$PERF" record -q -N -o "$FILES/live" -e cpu-clock -c 250000 -g -- "$(golden_program rbpf_work)" \
			2>record.err || fail "perf record: $(cat record.err)"
}

# An image at the addresses of the running kernel: the functions of a recording, with a line for
# each 8 bytes of them.
kernel_image() { # NAME: of the recording; makes ./vmlinux
	"$PERF" script -i "$FILES/$1" -F ip 2>/dev/null | sed -n 's/^[[:space:]]*\(f[0-9a-f]\{15\}\).*/\1/p' |
		sort -u >addresses
	[ -s addresses ] || skip "the recording has no addresses of the kernel"
	python3 - <<-'END'
		from bisect import bisect_right
		symbols = sorted((int(a, 16), name) for a, kind, name, *module in
		                 map(str.split, open("/proc/kallsyms")) if not module and kind in "tTwW")
		base, = (a for a, name in symbols if name == "_text")
		starts = sorted({a for a, name in symbols})
		names = dict(symbols)
		wanted = {bisect_right(starts, int(a, 16)) - 1 for a in open("addresses")}
		with open("vmlinux.s", "w") as out:
		    print('.file 1 "kernel.c"\n.text\n.globl _text\n_text:', file=out)
		    line, at = 0, base
		    for i in sorted(wanted & set(range(len(starts) - 1))):
		        start, size = starts[i], starts[i + 1] - starts[i]
		        name = f"{names[start]}.of_{i}" # several may have one name
		        print(f".skip {start - at:#x}\n.type {name}, @function\n{name}:", file=out)
		        for n in range(0, size, 8):
		            line += 1
		            print(f".loc 1 {line}\n.rept {min(8, size - n)}\nnop\n.endr", file=out)
		        print(f".size {name}, . - {name}", file=out)
		        at = start + size
		open("base", "w").write(f"{base:#x}")
	END
	gcc -g -c -o vmlinux.o vmlinux.s &&
		ld -nostdlib -Ttext="$(cat base)" -e "$(cat base)" --build-id="0x$(build_id_of_kernel)" -o vmlinux vmlinux.o ||
		skip "the image of the kernel does not link here"
}

build_id_of_kernel() {
	readelf -n /sys/kernel/notes 2>/dev/null | sed -n 's/.*Build ID: //p' | grep . ||
		python3 -c '
import struct
data, at = open("/sys/kernel/notes", "rb").read(), 0
while at + 12 <= len(data):
    n, d, kind = struct.unpack_from("3I", data, at)
    end = at + 12 + (n + 3 & ~3)
    if kind == 3 and data[at + 12:at + 15] == b"GNU":
        print(data[end:end + d].hex())
    at = end + (d + 3 & ~3)'
}

# With debug information of the kernel its addresses have lines too.
test_lines_of_the_kernel() {
	command -v addr2line >/dev/null || skip "perf needs addr2line (binutils) for lines"
	record_clock
	kernel_image live
	for options in "-g address" "-g flat,address" "-g folded,address,0"; do
		"$PERF" report --stdio --no-inline -k vmlinux $options -i "$FILES/live" 2>/dev/null </dev/null |
			sed '/^# (.*)$/,$d; /^#$/d; s/\[\.\.\.\] (inlined)/[...]/' >theirs
		"$PERF_BPF" report --no-inline -k vmlinux $options -i "$FILES/live" 2>mine.err </dev/null |
			sed '/^#$/d' >mine
		# perf takes the file of what has no line (assembly) from the symbol table
		sed -Ei 's/_start (work\.c:0|\+[0-9]+)/_start/' theirs mine
		diff theirs mine >diff.out || fail "$options: $(head diff.out)"
		grep -q ' kernel\.c:[1-9][0-9]*' mine || fail "$options: no lines of the kernel"
	done
}

# perf reads from our recordings what the machine is.
test_recorded_topology() {
	need_perf
	"$PERF_BPF" record -q -N -o "$FILES/topology" -- true
	"$PERF_BPF" report -i "$FILES/topology" --header-only -I | grep -E '^# (sibling|CPU|node|  ?L)' >mine
	"$PERF" report -i "$FILES/topology" --header-only -I 2>/dev/null | grep -E '^# (sibling|CPU|node|  ?L)' >theirs
	grep -q '^# sibling threads : ' theirs || fail "perf finds no threads"
	grep -q '^# CPU 0: Core ID ' theirs || fail "perf finds no CPU 0"
	diff theirs mine || fail "not as perf has it"
}

test_kernel_symbols_only_of_the_recorded_kernel() {
	record_clock
	# The kernel's build-id in the file is changed: nothing on this machine has it.
	id=$(od -An -tx1 -v /sys/kernel/notes | tr -d ' \n' | sed 's/.*474e5500\(.\{40\}\).*/\1/')
	python3 - "$FILES/live" "$(od -An -tx1 -v /sys/kernel/notes | tr -d ' \n')" <<-'END' || skip "the recording has no build-id of the kernel"
		import sys
		notes = bytes.fromhex(sys.argv[2])
		at = notes.find(b"\x03\0\0\0GNU\0")
		ident = notes[at + 8:at + 28]
		data = open(sys.argv[1], "rb").read()
		if at < 0 or ident not in data:
		    sys.exit(1)
		open("other", "wb").write(data.replace(ident, bytes(b ^ 0x55 for b in ident)))
	END
	"$PERF_BPF" report -i other -s dso,sym -g none >out 2>err
	assert_contains err "kernel addresses are shown without symbols"
	grep -q '\[kernel.kallsyms\] *\[k\] 0xffff' out || fail "kernel addresses are named by another kernel"
	"$PERF_BPF" report -i other --kallsyms /proc/kallsyms -s dso,sym -g none >out 2>err
	grep -q '\[kernel.kallsyms\] *\[k\] [a-z_]' out || fail "--kallsyms was not used"
}

run_tests
