#!/usr/bin/env bash
# record: whatever ends it, and however it writes: what reads the recording says that its end is missing,
# and nothing stays in the kernel.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

COUNTED=$BUILD/tests/cmd/counted
export PERF_BPF_CACHE_DIR=${PERF_BPF_CACHE_DIR:-/tmp/perf-bpf-test-cache}

need() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -d /sys/kernel/tracing/events ] || mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null || true
	[ -d /sys/kernel/tracing/events/syscalls ] || skip "tracefs or its syscall events cannot be had"
}

not_loaded() {
	! "$BUILD"/tests/cmd/loaded "$1"
}

# What is written, or, of rings that are read at the end, that it records.
is_recording() {
	case $mode in
	--overwrite) [ "$(sed -n 's/^Seccomp:[[:space:]]*//p' "/proc/$pid/status")" != 0 ] ;;
	*) [ "$(find "$1"* -type f -name '*data*' -exec cat {} + 2>/dev/null | wc -c)" -ge 100000 ] ;;
	esac
}

are_gone() {
	local one
	for one; do
		[ ! -e "/proc/$one" ] || return 1
	done
}

# assert_unfinished FILE: every reader says so, and shows what there is
assert_unfinished() {
	local command commands=("script -i" "report -i")
	[ -n "$mode" ] || commands+=("script --header-only -i" "report --json -i" "diff $1" "annotate -i")
	for command in "${commands[@]}"; do
		# shellcheck disable=SC2086
		expect_status 1 "$PERF_BPF" $command "$1"
		assert_contains err "$1: the recording was not finished"
		case $mode,$command in
		--overwrite,*) ;;
		*,script\ -i) [ "$(grep -c getpriority out)" -ge 100 ] || fail "$mode: $command shows nothing" ;;
		*,report\ -i) assert_contains out "# Total Lost Samples: not counted" ;;
		esac
	done
}

test_kill_in_each_mode() {
	local pid children mode file
	need
	"$COUNTED" 100000000 100 &
	work=$!
	trap 'kill $work 2>/dev/null || :' EXIT
	mkfifo fifo
	# no file is switched meanwhile: t.data would have nothing in it yet, or not be there
	for mode in "" -z --threads --switch-output=1h --overwrite pipe "pipe -z"; do
		file=t.data
		rm -rf t.data*
		case $mode in
		pipe*)
			cat fifo >t.data &
			file=fifo
			;;
		esac
		# shellcheck disable=SC2086
		"$PERF_BPF" record -e "$OBJECTS/record_killed_keep.bpf.o" --no-buffering -p $work -o $file ${mode#pipe} >out 2>record.err &
		pid=$!
		soon is_recording t.data
		children=$(pgrep -P $pid || :)
		kill -9 $pid
		wait $pid || :
		wait %?fifo 2>/dev/null || :
		# shellcheck disable=SC2086
		soon are_gone $children
		soon not_loaded pbt_killed
		[ -z "$(find . -name '.perf-bpf*')" ] || fail "$mode: files were left: $(ls -A)"
		assert_unfinished t.data
	done
}

# assert_full ERROR DIRECTORY BLOCKS OPTION...: record, with that limit for the size of a file, says that it could not write, and readers that the end is
# missing. The workload goes on until then: what a late recorder has compressed of a full ring has room.
# Rings that are overwritten are written when the workload has ended, and are larger than the file.
assert_full() {
	local file workload='while :; do "$0" 20000; done'
	[ "$4" != --overwrite ] || workload='"$0" 20000'
	# shellcheck disable=SC2016
	expect_status 1 bash -c 'ulimit -f "$0"; exec "$@"' "$3" "$PERF_BPF" record --no-buffering -m 1M \
		-e syscalls:sys_enter_getpriority "${@:4}" -o "$2/t.data" -- sh -c "$workload" "$COUNTED"
	assert_contains err "cannot write: $1"
	assert_contains err ' not written)'
	for file in "$2"/t.data*; do
		expect_status 1 "$PERF_BPF" script -i "$file"
		assert_contains err "$file: the recording was not finished"
		expect_status 1 "$PERF_BPF" report -i "$file"
	done
}

test_full_disk_in_each_mode() {
	local mode
	need
	mkdir full limited
	mount -t tmpfs -o size=200k none full || skip "tmpfs cannot be mounted"
	trap 'umount "$TMP/full"' EXIT
	for mode in -z --switch-output=1h --switch-output=60K --overwrite --threads; do
		assert_full 'No space left on device' full unlimited "$mode"
		rm -rf full/*
		case $mode in
		*60K) ;; # none of its files is so large
		*) assert_full 'File too large' limited 100 "$mode" ;;
		esac
		rm -rf limited/*
	done
}

run_tests
