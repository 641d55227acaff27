#!/usr/bin/env bash
# Names in recordings: of the file that ran, whatever is at its path by now or for others.
. "$(dirname "$0")/../tap.sh"

PERF=$(command -v perf || true)
# Not /tmp/perf-…: perf takes such a path for the names of a JIT.
FILES=$(mktemp -d "${TMPDIR:-/tmp}/names-of-perf-bpf.XXXXXX")

tests_end() {
	rm -rf "$FILES"
}

need_perf() {
	[ -n "$PERF" ] || skip "linux-perf is not installed"
	[ "$(id -u)" = 0 ] || skip "recording needs root"
}

# build NAME FILE: a program that spends its time in the function NAME
build() {
	cat >"$1.c" <<-END
		static volatile unsigned sink;
		__attribute__((noinline)) static void $1(unsigned n)
		{
			for (unsigned i = 0; i < n; i++)
				sink = sink * 31 + i;
		}
		int main(void)
		{
			for (int i = 0; i < 40; i++)
				$1(1000000);
			return 0;
		}
	END
	gcc -O1 -g -Wl,--build-id=sha1 -o "$2" "$1.c"
}

# Two mount namespaces have different programs at one path. perf 6.1 gives both the names of one.
test_two_builds_at_one_path() {
	need_perf
	mkdir first second at home
	build names_of_first first/work
	build names_of_second second/work
	unshare -m true 2>/dev/null || skip "no mount namespaces"
	cat >both <<-END
		for d in first second; do
			unshare -m sh -c "mount --bind \$PWD/\$d \$PWD/at && exec \$PWD/at/work"
		done
	END
	"$PERF" record -q -N -B --buildid-mmap -e cpu-clock:u -c 500000 -o data sh ./both 2>err ||
		skip "perf record --buildid-mmap: $(head -n 1 err)"
	for f in first/work second/work; do
		HOME=$PWD/home "$PERF" buildid-cache --add "$PWD/$f" || fail "perf buildid-cache"
	done
	export PERF_BUILDID_DIR=$PWD/home/.debug
	for sort in dso,sym sym; do
		"$PERF_BPF" report -i data -s $sort >out
		assert_contains out names_of_first
		assert_contains out names_of_second
	done
	"$PERF_BPF" script -i data -F ip,sym >out
	assert_contains out names_of_first
	assert_contains out names_of_second
}

# perf prints the kernel's symbols also with --symfs /.
test_symfs_of_the_root_is_none() {
	need_perf
	"$PERF" record -q -N -e cpu-clock -c 250000 -o data dd if=/dev/zero of=/dev/null count=100000 2>/dev/null
	"$PERF_BPF" report -i data -s dso,sym >without
	grep -q '\[k\] [a-z_]' without || skip "the kernel's symbols are not visible here"
	mkdir deeper
	for root in / // "$PWD/deeper/$(echo "$PWD/deeper" | sed 's|[^/]*|..|g')"; do
		"$PERF_BPF" report -i data -s dso,sym --symfs "$root" >with
		cmp with without || fail "--symfs $root changes the report"
	done
	"$PERF_BPF" report -i data -s dso,sym --symfs "$PWD/deeper" >with
	! cmp -s with without || fail "--symfs of an empty folder changes nothing"
}

test_a_label_in_a_function_is_not_a_function() {
	need_perf
	[ "$(uname -m)" = x86_64 ] || skip "the program is for x86-64"
	cat >label.S <<-'END'
			.text
			.globl main
			.type main,@function
		main:
			mov $40000000, %ecx
		inner_label:
			dec %ecx
			jnz inner_label
			xor %eax,%eax
			ret
			.size main,.-main
			.section .note.GNU-stack,"",@progbits
	END
	gcc -o label label.S
	"$PERF" record -q -N -e cpu-clock:u -c 500000 -o data ./label 2>/dev/null
	"$PERF_BPF" report -i data -s dso,sym >out
	assert_contains out "[.] main"
	! grep inner_label out || fail "a label took the samples of its function"
}

# What our recorder writes before the exec is what perf writes.
test_the_workload_before_its_exec() {
	need_perf
	"$PERF_BPF" record -q -e cpu-clock -e sched:sched_process_exec -o data true
	"$PERF_BPF" script -i data --show-task-events >out
	[ "$(grep -c 'PERF_RECORD_COMM: perf-exec:' out)" = 1 ] || {
		cat out
		fail "no record COMM of perf-exec"
	}
	assert_contains out "PERF_RECORD_COMM exec: true:"
	! grep -E '^ *:[0-9]+ ' out || fail "a sample has no name"
	! grep -E '^ *perf-bpf ' out || fail "a sample of the workload has our name"
}

# Its name must be there before the first event, however late the child runs.
test_a_workload_that_is_late() {
	LD_PRELOAD=$BUILD/tests/cmd/late_workload.so ASAN_OPTIONS=verify_asan_link_order=0 \
		"$PERF_BPF" record -q -e sched:sched_process_exec -o data true
	"$PERF_BPF" script -i data --show-task-events >out
	assert_equal "$(grep -c 'PERF_RECORD_COMM: perf-exec:' out)" 1
	! grep -E '^ *perf-bpf ' out || fail "a sample of the workload has our name"
}

test_command_line_begins_with_the_program() {
	need_perf
	"$PERF_BPF" record -q -e cpu-clock -o data true
	"$PERF_BPF" script -i data --header-only >out
	grep '^# cmdline' out >line || fail "the header has no command line"
	assert_equal "$(cat line)" "# cmdline : $(readlink -f "$PERF_BPF") record -q -e cpu-clock -o data true "
	"$PERF" script -i data --header-only 2>/dev/null | grep '^# cmdline' >theirs
	cmp line theirs
}

# rows COMMAND...: the DSOs and symbols of a report
rows() {
	"$@" 2>/dev/null </dev/null | awk '!/^#/ && NF { print $2, $4 }' | grep -v kernel | sort -u
}

# After a rebuild, a recording of ours has the names of then, as one of perf has.
test_names_after_a_rebuild() {
	need_perf
	cd "$FILES"
	mkdir home
	export HOME=$PWD/home PERF_BUILDID_DIR=
	build names_of_then work
	"$PERF_BPF" record -q -e cpu-clock:u -c 500000 -o kept ./work 2>err || fail "$(cat err)"
	[ -d home/.debug/.build-id ] || fail "the build-id cache was not filled"
	cp -r home/.debug first
	"$PERF_BPF" record -q -N -e cpu-clock:u -c 500000 -o other ./work
	diff -r home/.debug first || fail "-N wrote to the cache"
	"$PERF_BPF" report -i kept -s dso,sym >before
	assert_contains before names_of_then
	build names_of_now work
	"$PERF_BPF" report -i kept -s dso,sym >after
	cmp before after || fail "the report changes with the file"
	rows "$PERF_BPF" report -i kept -s dso,sym >mine
	rows "$PERF" report --stdio -i kept -s dso,sym >theirs
	diff theirs mine || fail "perf finds other names in our cache"
	"$PERF_BPF" script -i kept -F ip,sym >out
	assert_contains out names_of_then

	# Elsewhere: by the configuration, and by what perf sets.
	rm -r home/.debug
	printf '[buildid]\n\tdir = %s\n' "$PWD/first" >config
	PERF_CONFIG=$PWD/config "$PERF_BPF" report -i kept -s dso,sym >after
	assert_contains after names_of_then
	PERF_BUILDID_DIR=$PWD/first "$PERF_BPF" report -i kept -s dso,sym >after
	assert_contains after names_of_then
	"$PERF_BPF" report -i kept -s dso,sym >after
	! grep -e names_of_then -e names_of_now after || fail "names without the file"
	printf '[record]\n\tbuild-id = no-cache\n' >config
	PERF_CONFIG=$PWD/config "$PERF_BPF" record -q -e cpu-clock:u -o other ./work
	[ ! -e home/.debug ] || fail "record.build-id = no-cache was ignored"
	printf '[record]\n\tbuild-id = sometimes\n' >config
	PERF_CONFIG=$PWD/config expect_status 1 "$PERF_BPF" record -q -e cpu-clock:u -o other ./work
	assert_contains err "record.build-id has the invalid value 'sometimes'"
}

# The symbols of the kernel that was recorded are kept.
test_kallsyms_are_kept() {
	need_perf
	export PERF_BUILDID_DIR=$PWD/ids
	"$PERF_BPF" record -q -e cpu-clock -c 250000 -o data dd if=/dev/zero of=/dev/null count=100000 2>err
	[ "$(awk '$1 !~ /^0*$/ { print; exit }' /proc/kallsyms)" ] || skip "kallsyms hides the addresses"
	kept=$(find ids/.build-id/ -name '[0-9a-f]*' -type l -exec ls {}/kallsyms ';' 2>/dev/null)
	# programs of BPF come and go
	cmp <(grep -vE "\[(bpf|__builtin__.*)\]" "$kept") <(grep -vE "\[(bpf|__builtin__.*)\]" /proc/kallsyms) ||
		fail "the copy of /proc/kallsyms differs"
}

# A process in another mount namespace, whose file is not what is at its path here.
test_build_id_of_the_file_that_ran() {
	need_perf
	mkdir inside at
	build names_of_inside inside/work
	build names_of_outside at/work
	unshare -m true 2>/dev/null || skip "no mount namespaces"
	"$PERF_BPF" record -q -e cpu-clock:u -c 500000 -o data \
		unshare -m sh -c "mount --bind $PWD/inside $PWD/at && exec $PWD/at/work"
	"$PERF" buildid-list -i data >ids
	wrong=$(file -b at/work | sed 's/.*BuildID\[sha1\]=\([0-9a-f]*\).*/\1/')
	[ ${#wrong} = 40 ] || skip "no file(1) that prints build ids"
	! grep "$wrong" ids || fail "the recording has the build id of another file"
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

# host_recording FILE [RELEASE ARCHITECTURE [BUILD-ID]]
host_recording() {
	local file=$1 text
	shift
	text=$(awk '$3 == "_text" { print $1 }' /proc/kallsyms)
	function=$(awk '$3 == "vfs_read" { print $1 }' /proc/kallsyms)
	[ -n "$function" ] && [ -n "${text//0/}" ] || skip "the addresses of the kernel are not visible"
	"$SRC/tests/cmd/host_recording.py" "$text" "$function" "$@" >"$file"
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
	host_recording here "$release" "$machine"
	host_recording built-here 5.4.149 s390x "$id"
	for file in pipe here built-here; do
		commands $file >out 2>err
		grep -q vfs_read out || fail "$file: no names of the kernel"
		grep -q '__vdso_\|__kernel_' out || fail "$file: no names of the vdso"
		! grep warning err || fail "$file"
	done
	host_recording release 5.4.149 "$machine"
	host_recording machine "$release" s390x
	host_recording built-there "$release" "$machine" 000102030405060708090a0b0c0d0e0f10111213
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
