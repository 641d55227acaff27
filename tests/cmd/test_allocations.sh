#!/usr/bin/env bash
# Commands whose memory fails, at each allocation in turn: an error, or the whole output.
. "$(dirname "$0")/../tap.sh"

PERF=$(command -v perf || true)
TRACEFS=/sys/kernel/tracing
# make check takes every so many allocations; 1: all of them.
STEP=${ALLOCATIONS_STEP:-9}
# How many allocations at the end of a recording are tried.
LAST=40
# What is printed there is also seen when the test passes.
exec 3>&1

# preload VARIABLE=VALUE... -- COMMAND...: for the command's own allocations. A process that loads the
# library starts its children without it, so timeout is the outer command.
preload() {
	local vars=()
	while [ "$1" != -- ]; do
		vars+=("$1")
		shift
	done
	shift
	timeout 120 env ASAN_OPTIONS=verify_asan_link_order=0:allocator_may_return_null=1 "${vars[@]}" \
		LD_PRELOAD="$BUILD/tests/cmd/fail_allocation.so" "$@" </dev/null
}

# libdw_ends STATUS: libdw 0.188 asserts that it has memory where it enlarges a hash table, and ends by
# a signal in dwarf_tag() when it has no memory for an abbreviation, which perf-bpf cannot prevent.
# perf-bpf itself has no assertions.
libdw_ends() {
	if [ "$1" = 134 ]; then
		grep -q '/dynamicsizehash_concurrent\.c:[0-9]*: .*: Assertion ' err
	else
		[ "$1" = 139 ] && grep -q '^SIGSEGV in .*/libdw[-.]' err
	fi
}

# same_export: the file $made, if there is to be one
same_export() {
	[ -z "${made:-}" ] || cmp -s "$made" export.want
}

# sweep OPTION...: of perf-bpf. A signal, a hang, or another output with status 0 is a failure.
sweep() {
	local count status bad=0 asserts=0
	[ -z "${SANITIZED:-}" ] || skip "the sanitizer has an allocator of its own"
	preload FAIL_ALLOCATION_COUNT="$PWD/count" -- "$PERF_BPF" "$@" >want 2>err || fail "$* fails: $(cat err)"
	[ -z "${made:-}" ] || mv "$made" export.want
	count=$(cat count)
	[ "$count" -gt 50 ] || fail "$count allocations are too few: they are not seen"
	for ((i = 1; i <= count; i += STEP)); do
		status=0
		[ -z "${made:-}" ] || rm -f "$made"
		preload FAIL_ALLOCATION=$i -- "$PERF_BPF" "$@" >got 2>err || status=$?
		if libdw_ends $status; then
			asserts=$((asserts + 1))
		elif [ $status -ge 124 ]; then
			echo "# $*: allocation $i of $count: status $status: $(tail -n 1 err)"
			bad=1
		elif [ $status = 0 ] && { ! cmp -s got want || ! same_export; }; then
			echo "# $*: allocation $i of $count: status 0, but another output"
			bad=1
		fi
	done
	[ $asserts = 0 ] || echo "# $*: libdw ends the process at $asserts of $count allocations" >&3
	[ $bad = 0 ] || fail "allocations that fail are not errors"
}

# sweep_some CHECK OPTION...: the same of a command with thousands of allocations, or one that attaches
# to the kernel and ends by itself. With status 0, what came of it passes CHECK, which looks at the files
# got, err and live.data. make check takes 6 allocations, and make check-all 200.
sweep_some() {
	local check=$1 count status bad=0 ended=0 runs=$((STEP > 1 ? 6 : 200))
	shift
	[ -z "${SANITIZED:-}" ] || skip "the sanitizer has an allocator of its own"
	rm -f live.data
	preload FAIL_ALLOCATION_COUNT="$PWD/count" -- "$PERF_BPF" "$@" >got 2>err || fail "$* fails: $(cat err)"
	$check || fail "$*: not what is expected: $(cat err)"
	count=$(cat count)
	[ "$count" -gt 50 ] || fail "$count allocations are too few: they are not seen"
	for ((i = 0; i < runs; i++)); do
		# not a multiple of the rounds of a loop
		local n=$((1 + i * count / runs + i % 7)) status=0
		rm -f live.data
		preload FAIL_ALLOCATION=$n -- "$PERF_BPF" "$@" >got 2>err || status=$?
		if libdw_ends $status; then
			ended=$((ended + 1))
		elif [ $status -ge 124 ]; then
			echo "# $*: allocation $n of $count: status $status: $(tail -n 1 err)"
			bad=1
		elif [ $status = 0 ] && ! $check; then
			echo "# $*: allocation $n of $count: status 0, but not what is expected: $(tail -n 2 err)"
			bad=1
		fi
	done
	[ $ended = 0 ] || echo "# $*: libdw ends the process at $ended of $count allocations" >&3
	[ $bad = 0 ] || fail "allocations that fail are not errors"
}

# need_tracefs: and the right to attach
need_tracefs() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -d $TRACEFS/events ] || mount -t tracefs nodev $TRACEFS 2>/dev/null || true
	[ -d $TRACEFS/events ] || skip "tracefs cannot be mounted"
}

COUNTED=$BUILD/tests/cmd/counted

recording() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -n "$PERF" ] || skip "linux-perf is not installed"
	"$PERF" record -q -g -e cpu-clock,page-faults -o p.data -- ls / >/dev/null 2>err ||
		skip "perf cannot record: $(tail -n 1 err)"
}

# Without inlined functions: where the debug information of the libraries is installed, libdw itself
# ends by a signal when it has no memory for an abbreviation (dwarf_tag() of libdw 0.188), and each of
# thousands of allocations is one run.
test_script() {
	recording
	sweep script --no-inline -i p.data
}

# Of a kernel whose symbols are not to be used: there are few allocations.
test_json() {
	STEP=$((STEP > 1 ? 2 : 1)) sweep script --json --no-inline -i "$SRC/fuzz/corpus/perfdata/chains"
	sweep report --json --no-inline -i "$SRC/fuzz/corpus/perfdata/chains"
	sweep script --json -i "$SRC/fuzz/corpus/perfdata/tracepoint"
}

# What is written to files.
test_export() {
	local data=$SRC/fuzz/corpus/perfdata/chains
	for option in --html --pprof; do
		made=export sweep report --no-inline $option export -i "$data"
	done
	for option in --firefox --perfetto; do
		made=export STEP=$((STEP > 1 ? 2 : 1)) sweep script --no-inline $option export -i "$data"
	done
}

# All of those that capstone would make by itself; it does not test them.
test_disassembly() {
	[ -z "${SANITIZED:-}" ] || skip "the sanitizer has an allocator of its own"
	preload FAIL_ALLOCATION_OF=/libcapstone -- "$BUILD/tests/unit/test_disasm" >got 2>&1 ||
		fail "$(cat got)"
}

is_as_wanted() {
	cmp -s got want
}

# Source lines by libdw: most allocations are in a loop.
test_lines() {
	recording
	"$PERF_BPF" script --no-inline -F ip,srcline -i p.data >want
	sweep_some is_as_wanted script --no-inline -F ip,srcline -i p.data
	"$PERF_BPF" annotate --stdio -i p.data >want
	sweep_some is_as_wanted annotate --stdio -i p.data
}

test_diff() {
	recording
	"$PERF" record -q -g -e cpu-clock,page-faults -o q.data -- ls / >/dev/null 2>err
	"$PERF_BPF" diff p.data q.data >want
	sweep_some is_as_wanted diff p.data q.data
}

# Formats of tracepoints: there are few allocations.
test_tracepoints() {
	STEP=$(((STEP + 2) / 3)) sweep script -i "$SRC/fuzz/corpus/perfdata/tracepoint"
	grep -q 'sched:sched_process_exit: comm=true pid=4800 prio=120 group_dead=true$' want || fail "$(cat want)"
}

test_report() {
	recording
	sweep report --no-inline -i p.data
	sweep report --no-inline --json -i p.data
}

# Copies of stacks, which script unwinds.
test_stacks() {
	need_tracefs
	[ -z "${SANITIZED:-}" ] || skip "the sanitizer has an allocator of its own"
	"$PERF_BPF" record -q -N -e syscalls:sys_enter_getppid --call-graph dwarf -o s.data -- \
		"$BUILD/tests/cmd/unwound" recurse
	echo 'ffffffff81000000 T _text' >kallsyms
	sweep script --no-inline --kallsyms kallsyms -i s.data -F ip,sym
	grep -q recurse want || fail "the stacks are not unwound"
}

test_probe() {
	sweep probe -x "$BUILD/tests/cmd/counted" -V main
}

# The line that says what was recorded and lost is whole, or says that there was no memory for it. It is
# made of the last allocations. How many there are before depends on how often the rings were read, so
# the range begins below the fewest of several runs, and goes on until the line has failed.
test_end_of_recording() {
	local fewest=1000000 most=0 count seen=0
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -z "${SANITIZED:-}" ] || skip "the sanitizer has an allocator of its own"
	set -- "$PERF_BPF" record -N -e page-faults -o e.data -- true
	for ((i = 0; i < 5; i++)); do
		preload FAIL_ALLOCATION_COUNT="$PWD/count" -- "$@" >got 2>err || fail "$* fails: $(cat err)"
		count=$(cat count)
		fewest=$((count < fewest ? count : fewest)) most=$((count > most ? count : most))
	done
	for ((i = fewest > LAST ? fewest - LAST : 1; i <= most || (!seen && i <= most + 200); i++)); do
		preload FAIL_ALLOCATION=$i -- "$@" >got 2>err || true
		! grep -vE '^(\[ perf-bpf record: (Woken up [0-9]+ times to write data|Captured and wrote .*\)|Wrote [0-9].*) \]|perf-bpf: .*|hint: .*)$' err ||
			fail "allocation $i of $fewest to $most"
		! grep -q 'out of memory while listing' err || seen=$((seen + 1))
	done
	[ $seen -gt 0 ] || fail "no allocation of the line failed"
}

# all_are_recorded: the calls of the workload, under its name
all_are_recorded() {
	"$PERF_BPF" script -i live.data -F comm,event >events 2>script.err &&
		[ "$(grep -c '^ *counted .*getpriority' events)" = 50 ]
}

test_record() {
	need_tracefs
	sweep_some all_are_recorded record -e syscalls:sys_enter_getpriority -o live.data -- "$COUNTED" 50
	sweep_some all_are_recorded record -a -g -e syscalls:sys_enter_getpriority -o live.data -- "$COUNTED" 50
	! grep pbt_ $TRACEFS/uprobe_events $TRACEFS/kprobe_events 2>/dev/null || fail "probes are left"
}

all_are_traced() {
	[ "$(grep -c 'getpriority(' err)" = 50 ]
}

test_trace() {
	need_tracefs
	sweep_some all_are_traced trace -e getpriority -- "$COUNTED" 50
	"$PERF_BPF" trace -e getpriority --record t.data -- "$COUNTED" 50 2>err || fail "$(cat err)"
	"$PERF_BPF" trace -i t.data >want
	sweep_some is_as_wanted trace -i t.data
}

all_are_counted() {
	grep -q '"getpriority".*50' got || grep -A3 getpriority got | grep -qw 50
}

test_run() {
	need_tracefs
	sweep_some all_are_counted run -q syscount --comm counted --csv -- "$COUNTED" 50
}

all_are_seen() {
	[ "$(grep -c '"load".*"pbtal[0-9]"' got)" = 3 ] && [ "$(grep -c '"unload".*"pbtal[0-9]"' got)" = 3 ]
}

test_watch() {
	need_tracefs
	sweep_some all_are_seen watch -q --json -- "$BUILD/tests/cmd/program_loader" pbtal 3 100 0
}

# Options that are lost must not be a command that is run.
test_options() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -z "${SANITIZED:-}" ] || skip "the sanitizer has an allocator of its own"
	echo precious >perf.data
	for i in $(seq 12); do
		preload FAIL_ALLOCATION="$i" -- "$PERF_BPF" record -e page-faults -o other.data -- true \
			>got 2>err || true
		cmp -s perf.data <(echo precious) || fail "allocation $i: perf.data was replaced"
	done
}

run_tests
