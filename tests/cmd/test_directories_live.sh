#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Recordings of our own that are directories, and what becomes of earlier recordings.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"
. "$(dirname "$0")/numbers.sh"

TRACEFS=/sys/kernel/tracing
PERF=$(command -v perf || true)
# A system call that nobody else makes meanwhile.
EVENT=syscalls:sys_enter_getpriority

need() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -d $TRACEFS/events ] || mount -t tracefs nodev $TRACEFS 2>/dev/null || true
	[ -d $TRACEFS/events/syscalls ] || skip "tracefs or its syscall events cannot be had"
	workload_as pbt_numbers
}

# record OPTION... -- COMMAND...: to t.dir
record() {
	"$PERF_BPF" record -N --threads="$1" -m 4M -e $EVENT -o t.dir "${@:2}" >out 2>record.err ||
		{ sed 's/^/# | /' record.err; fail "record --threads=$*"; }
	assert_contains record.err ', 0 lost)'
}

# assert_own N: all calls, in order, read by perf, too
assert_own() {
	assert_numbers "$PERF_BPF" t.dir "$1"
	[ ! -s err ] || { cat err; fail "a warning"; }
	[ -z "$PERF" ] || assert_numbers "$PERF" t.dir "$1"
	assert_contains record.err "($1 samples"
	# What the last line counts is what there is.
	assert_equal "$(cat t.dir/data t.dir/data.* | wc -c)" "$(grep -oE '[0-9]+ bytes' record.err | cut -d ' ' -f 1)"
}

test_own() {
	local cpus spec
	need
	for spec in cpu core package numa; do
		record $spec -- ./pbt_numbers $(numbered_calls 3000)
		assert_own 3000
	done
	[ "$(stat -c %a t.dir)" = 700 ] || fail "others can read the directory"
	# the calls of pbt_numbers only: nice(1) makes them, too, whoever runs it meanwhile
	record cpu --filter 'which == 7' -a -z -- ./pbt_numbers $(numbered_calls 3000)
	assert_own 3000
	cpus=$(cat /sys/devices/system/cpu/online)
	record "0/$cpus" --tail-synthesize -- ./pbt_numbers $(numbered_calls 1000)
	assert_own 1000
	record "$cpus/0" --overwrite -- ./pbt_numbers $(numbered_calls 1000)
	assert_own 1000
}

# A thread for each CPU, which runs there; the workload ends when it has seen them.
test_own_threads() {
	local -a cpus
	need
	cat >see.sh <<-'END'
		recorder=$1
		shift
		for cpu in "$@"; do
			until grep -qx "Cpus_allowed_list:[[:space:]]$cpu" /proc/$recorder/task/*/status; do sleep 0.01; done
		done
	END
	mapfile -t cpus < <(tr ',' '\n' </sys/devices/system/cpu/online | while IFS=- read -r a b; do seq "$a" "${b:-$a}"; done)
	# shellcheck disable=SC2016
	record cpu -- sh -c 'exec timeout 60 sh see.sh "$PPID" "$@"' sh "${cpus[@]}"
}

# The kernel's symbols and code, where it has /proc/kcore; else nothing is changed.
test_own_kcore() {
	need
	echo earlier >mine
	if ! head -c 1 /proc/kcore >/dev/null 2>&1; then
		expect_status 1 "$PERF_BPF" record -q --kcore -e cpu-clock:k -o mine true
		assert_contains err "--kcore: cannot open '/proc/kcore'"
		assert_equal "$(cat mine)" earlier
		[ ! -e mine.old ] || fail "the earlier recording was renamed"
	else
		"$PERF_BPF" record -q --kcore -e cpu-clock:k -o mine dd if=/dev/zero of=/dev/null count=100000 2>err
		assert_equal "$(cat mine.old)" earlier
		assert_equal "$(stat -c %a mine/kcore_dir/kcore)" 400
		cmp mine/kcore_dir/modules /proc/modules
		"$PERF_BPF" annotate -i mine -n >out 2>err || skip "$(cat err)"
		grep -q 'ffff' out || fail "$(head out)"
	fi
	expect_status 2 "$PERF_BPF" record -q --kcore --switch-output=1s -e cpu-clock -o new true
	assert_contains err "--kcore cannot be used with --switch-output"
}

# The directory of a recording with the kernel is one of a recording, and nothing else is.
test_own_of_earlier_with_kcore() {
	need
	mkdir -p mine/kcore_dir mine.old/kcore_dir
	touch mine/data mine.old/data mine/kcore_dir/kcore mine.old/kcore_dir/{kcore,kallsyms,modules}
	"$PERF_BPF" record -q --threads -e $EVENT -o mine ./pbt_numbers $(numbered_calls 100)
	[ -e mine.old/kcore_dir/kcore ] || fail "the earlier recording is not kept"
	[ ! -e mine.old/kcore_dir/kallsyms ] || fail "the one before it is not removed"
	touch mine.old/kcore_dir/other
	expect_status 1 "$PERF_BPF" record -q --threads -e $EVENT -o mine ./pbt_numbers $(numbered_calls 100)
	assert_contains err "has other files than those of a recording"
	[ -e mine.old/kcore_dir/other ] && [ -e mine.old/kcore_dir/kcore ] || fail "files are gone"
}

test_own_of_earlier() {
	need
	record cpu -- ./pbt_numbers $(numbered_calls 100)
	record cpu -- ./pbt_numbers $(numbered_calls 200)
	assert_numbers "$PERF_BPF" t.dir.old 100
	record cpu -- ./pbt_numbers $(numbered_calls 300)
	assert_numbers "$PERF_BPF" t.dir.old 200
	assert_own 300
	touch t.dir.old/mine
	expect_status 1 "$PERF_BPF" record --threads -e $EVENT -o t.dir -- touch ran
	assert_contains err 'has other files than those of a recording'
	[ ! -e ran ] && [ -e t.dir.old/mine ] || fail "something was recorded, or removed"
	assert_own 300
}

# The recording before the last one goes only when the last one takes its place.
test_the_one_before_stays_if_nothing_replaces_it() {
	need
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	chmod 711 "$top" .
	cp "$PERF_BPF" perf-bpf
	mkdir -m 1777 sticky
	as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
	as_nobody ./perf-bpf --version >/dev/null 2>&1 || skip "nobody cannot run a copy in $PWD"
	echo mine >mine
	as_nobody cp /dev/stdin sticky/data.old <mine
	echo theirs >sticky/data
	chmod 666 sticky/data
	expect_status 1 as_nobody ./perf-bpf record -e cpu-clock:u -o sticky/data -- touch ran
	assert_contains err "sticky/data: cannot rename the earlier recording"
	[ ! -e ran ] && cmp mine sticky/data.old || fail "the one before is gone"
}

# A file in the place of a directory, and of the one before; and a directory in that of files.
test_own_of_earlier_and_files() {
	local i
	need
	record cpu -- ./pbt_numbers $(numbered_calls 100)
	record cpu -- ./pbt_numbers $(numbered_calls 200)
	for i in 300 400; do
		expect_status 0 "$PERF_BPF" record -q -e $EVENT -o t.dir -- ./pbt_numbers $(numbered_calls $i)
	done
	[ -f t.dir ] && [ -f t.dir.old ] || fail "$(ls -ld t.dir t.dir.old)"
	assert_numbers "$PERF_BPF" t.dir.old 300
	assert_numbers "$PERF_BPF" t.dir 400
	record cpu -- ./pbt_numbers $(numbered_calls 500)
	assert_numbers "$PERF_BPF" t.dir.old 400
	assert_own 500
	# a directory that is not a recording stays
	mkdir other
	touch other/mine
	for i in --threads --no-threads; do
		expect_status 1 "$PERF_BPF" record ${i#--no-threads} -e $EVENT -o other -- touch ran
		assert_contains err "other: 'other' has other files than those of a recording"
	done
	[ ! -e ran ] && [ -e other/mine ] || fail "something was recorded, or removed"
}

# One error, and what fits can be read.
test_own_disk_is_full() {
	local n
	need
	mkdir disk
	mount -t tmpfs -o size=600k tmpfs disk
	expect_status 1 "$PERF_BPF" record -N --threads -m 4M -e $EVENT -o disk/t.dir -- ./pbt_numbers $(numbered_calls 20000)
	assert_equal "$(grep -c 'No space left' err)" 1
	grep -qE 'disk/t.dir/data\.[0-9]+: cannot write' err || { cat err; fail "which file?"; }
	expect_status 1 "$PERF_BPF" script -i disk/t.dir -F comm,trace
	n=$(grep -c pbt_numbers out || true)
	assert_contains err 'was not finished'
	umount disk
	[ "$n" -lt 20000 ] || fail "$n samples"
}

# What could not begin leaves nothing, and the earlier recording is not lost by a second try.
test_own_disk_has_no_room_to_begin() {
	need
	local i
	mkdir disk
	mount -t tmpfs -o nr_inodes=$((1 + 2 + $(getconf _NPROCESSORS_ONLN) + 1)) tmpfs disk || skip "tmpfs cannot be mounted"
	trap 'umount "$TMP/disk"' EXIT
	"$PERF_BPF" record -q --threads -e $EVENT -o disk/t.dir -- ./pbt_numbers $(numbered_calls 100)
	for i in 1 2; do
		expect_status 1 "$PERF_BPF" record --threads -e $EVENT -o disk/t.dir -- touch ran
		assert_contains err "disk/t.dir: cannot create a file: No space left on device"
		[ ! -e disk/t.dir ] && [ ! -e ran ] || fail "something was recorded"
		assert_numbers "$PERF_BPF" disk/t.dir.old 100
	done
}

test_own_refused() {
	need
	local option
	for option in --switch-output --per-thread --timestamp-filename; do
		expect_status 2 "$PERF_BPF" record --threads -o t.dir $option -e $EVENT -- touch ran
		assert_contains err '--threads'
	done
	expect_status 2 "$PERF_BPF" record --threads -o - -e $EVENT -- touch ran
	assert_contains err '--threads does not work with a pipe'
	for option in x 0 0/ 0/x 0/0:0/0 99999/0; do
		expect_status 2 "$PERF_BPF" record --threads=$option -e $EVENT -o t.dir -- touch ran
		assert_contains err "--threads=$option"
	done
	[ ! -e ran ] && [ ! -e t.dir ] || fail "something was recorded"
}

run_tests
