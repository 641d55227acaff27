#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Names in recordings: of the file that ran, whatever is at its path by now or for others.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/made.sh"

PERF=$(command -v perf || true)

# Two mount namespaces have different programs at one path. perf 6.1 gives both the names of one.
test_two_builds_at_one_path() {
	local n id words=()
	for n in first second; do
		echo "void names_of_$n(void) {} int main(void) { return 0; }" >$n.c
		link $n $n.c
		id=$(build_id $n)
		mkdir -p "ids/.build-id/${id:0:2}/${id:2}"
		cp $n "ids/.build-id/${id:0:2}/${id:2}/elf"
		words+=(pid=$((5000001 + ${#words[@]})) "$(code_of at/work "$id")" 0x401000=2)
	done
	made "${words[@]}"
	export PERF_BUILDID_DIR=$PWD/ids
	for sort in dso,sym sym; do
		"$PERF_BPF" report -i data -s $sort >out
		[ "$(grep -cE '50.00% .*\[\.\] names_of_(first|second)' out)" = 2 ] || fail "$(cat out)"
	done
	"$PERF_BPF" script -i data -F ip,sym | awk '{ print $2 }' >out
	printf 'names_of_%s\n' first first second second | diff - out || fail "script"
}

test_symfs_of_the_root_is_none() {
	host_recording data
	"$PERF_BPF" report -i data -s dso,sym >without
	assert_contains without "[k] vfs_read"
	mkdir deeper
	for root in / // "$PWD/deeper/$(echo "$PWD/deeper" | sed 's|[^/]*|..|g')"; do
		"$PERF_BPF" report -i data -s dso,sym --symfs "$root" >with
		cmp with without || fail "--symfs $root changes the report"
	done
	"$PERF_BPF" report -i data -s dso,sym --symfs "$PWD/deeper" >with
	! cmp -s with without || fail "--symfs of an empty folder changes nothing"
}

test_a_label_in_a_function_is_not_a_function() {
	cat >label.S <<-'END'
			.text
			.globl main
			.type main,@function
		main:
			nop
		inner_label:
			nop
			ret
			.size main,.-main
			.section .note.GNU-stack,"",@progbits
	END
	link label label.S
	made "$(code_of label)" 0x401000=1 0x401001=5 0x401002=1
	"$PERF_BPF" report -i data -q -s dso,sym >out
	assert_equal "$(tr -s ' ' <out | sed '/^$/d; s/ *$//')" " 100.00% label [.] main"
}

# Code that the kernel writes when it runs has the name that its KSYMBOL record gives it, from then on
# until it is taken back: of ftrace (type 2, out of line) as of BPF programs.
test_code_of_ftrace() {
	"$SRC/tests/cmd/trampoline_recording.py" >data
	"$PERF_BPF" report -i data --stdio -q --no-children -g none -F overhead,dso,sym >out
	cat >expected <<-'END'
		50.00% ftrace_trampoline [k] ftrace_trampoline
		25.00% [unknown] [k] 0xffffffffc0400008
		25.00% bpf_prog_6deef7357e7b4530_traced [k] bpf_prog_6deef7357e7b4530_traced
	END
	awk 'NF { $1 = $1; print }' out | sort -k1,1r -k2,2 | diff expected - || fail "the table (>)"
	"$PERF_BPF" script -i data -F ip,sym,symoff,dso | awk 'NF { $1 = $1; print }' >out
	cat >expected <<-'END'
		ffffffffc0400008 [unknown] ([unknown])
		ffffffffc0400000 ftrace_trampoline+0x0 (ftrace_trampoline)
		ffffffffc0400008 ftrace_trampoline+0x8 (ftrace_trampoline)
		ffffffffc0400008 ftrace_trampoline+0x8 (ftrace_trampoline)
		ffffffffc04000ff ftrace_trampoline+0xff (ftrace_trampoline)
		ffffffffc0400100 bpf_prog_6deef7357e7b4530_traced+0x0 (bpf_prog_6deef7357e7b4530_traced)
		ffffffffc0400020 ftrace_trampoline+0x20 (ftrace_trampoline)
		ffffffffc0400104 bpf_prog_6deef7357e7b4530_traced+0x4 (bpf_prog_6deef7357e7b4530_traced)
		ffffffffc0400008 [unknown] ([unknown])
	END
	diff expected out || fail "the samples (>)"
	! "$PERF_BPF" annotate -i data --stdio ftrace_trampoline 2>err || fail "it has code"
	assert_contains err "cannot annotate ftrace_trampoline: recordings contain only the code of BPF programs"
	! "$PERF_BPF" annotate -i data --stdio bpf_prog_6deef7357e7b4530_traced 2>err || fail "it has code"
	assert_contains err "the recording does not have the program's code"
	[ -n "$PERF" ] || return 0
	for command in "report --stdio -g --no-children" "report --stdio --children" "script"; do
		"$PERF" $command -i data 2>/dev/null | grep -vE '^# \(Tip|^#?$' >theirs
		"$PERF_BPF" $command -i data 2>/dev/null | grep -vE '^#?$' >ours
		diff theirs ours || fail "$command: not as perf (<)"
	done
}
# host_recording FILE [WORD...]: with samples in this host's kernel, in a module that is not here and in
# the vdso
host_recording() {
	local file=$1 text i words=()
	shift
	text=$(awk '$3 == "_text" { print $1 }' /proc/kallsyms)
	function=$(awk '$3 == "vfs_read" { print $1 }' /proc/kallsyms)
	[ -n "$function" ] && [ -n "${text//0/}" ] || skip "the addresses of the kernel are not visible"
	for ((i = 0x7fff00000000; i < 0x7fff00002000; i += 16)); do
		words+=($i=1)
	done
	"$SRC/tests/cmd/made_recording.py" "$@" kernel=0x$text \
		map=0xffffffffc0f00000,0x5000,0,/lib/modules/3.4.0/kernel/drivers/pbfoo/pbfoo.ko \
		'map=0x7fff00000000,0x2000,0,[vdso]' "0x$function=1" 0xffffffffc0f005c7=1 "${words[@]}" >"$file"
}
build_id_of_kernel() {
	python3 -c '
import struct
notes, at = open("/sys/kernel/notes", "rb").read(), 0
while at < len(notes):
    n, size, kind = struct.unpack_from("<III", notes, at)
    name, at = notes[at + 12:at + 12 + n], at + 12 + (n + 3) // 4 * 4
    if kind == 3 and name == b"GNU\0":
        print(notes[at:at + size].hex())
    at += (size + 3) // 4 * 4
'
}
# commands FILE: what reads a recording shows
commands() {
	"$PERF_BPF" report -i "$1" -s dso,sym
	"$PERF_BPF" report -i "$1" --json
	"$PERF_BPF" script -i "$1"
	"$PERF_BPF" diff -s dso,sym "$1" "$1"
	"$PERF_BPF" annotate -i "$1" vfs_read 2>&1 || :
}
# The kernel, its modules and the vdso of this host are used if it was recorded.
test_names_of_the_recorded_host() {
	local release machine id
	command -v python3 >/dev/null || skip "no python3"
	release=$(uname -r)
	machine=$(uname -m)
	id=$(build_id_of_kernel)
	[ -n "$id" ] || skip "this kernel has no build-id"
	host_recording pipe
	host_recording here release="$release" arch="$machine"
	host_recording built-here release=5.4.149 arch=s390x build-id="$id"
	for file in pipe here built-here; do
		commands $file >out 2>err
		grep -q vfs_read out || fail "$file: no names of the kernel"
		grep -q '__vdso_\|__kernel_' out || fail "$file: no names of the vdso"
		! grep warning err || fail "$file"
	done
	host_recording release release=5.4.149 arch="$machine"
	host_recording machine release="$release" arch=s390x
	host_recording built-there release="$release" arch="$machine" build-id=000102030405060708090a0b0c0d0e0f10111213
	for file in release machine built-there; do
		commands $file >out 2>err
		# shellcheck disable=SC2016
		! grep '__vdso_\|__kernel_\|vfs_read+\|\] vfs_read' out || fail "$file: names of this host"
		"$PERF_BPF" report -i $file -s dso,sym >out 2>err
		assert_equal "$(grep -c 'warning: kernel addresses are shown without symbols' err)" 1
		assert_contains err --kallsyms
		grep -q "\[k\] 0x0*$function" out || fail "$file: the address is not shown"
		# as in perf: the offset in a module that is not here
		grep -q '\[pbfoo\] *\[k\] 0x0*5c7' out || fail "$file: $(grep pbfoo out)"
	done
	"$PERF_BPF" report -i release -s dso,sym >out 2>err
	assert_contains err "the recording is of Linux 5.4.149 ($machine), this host runs $release ($machine)"
	"$PERF_BPF" report --kallsyms /proc/kallsyms -i release -s dso,sym >out
	assert_contains out vfs_read
}

run_tests
