#!/usr/bin/env bash
# script and report unwind copies of stacks (--call-graph dwarf) of programs without frame pointers.
. "$(dirname "$0")/../tap.sh"
# perf reads the build-id cache in the user's home, and so do we here.
BUILDID_CACHE_OF_PERF=yes

PERF=$(command -v perf || true)
UNWOUND=$BUILD/tests/cmd/unwound
TRACEFS=/sys/kernel/tracing

need_perf() {
	[ -n "$PERF" ] || skip "linux-perf is not installed"
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -d $TRACEFS/events ] || mount -t tracefs nodev $TRACEFS 2>/dev/null || true
	[ -d $TRACEFS/events ] || skip "tracefs cannot be mounted"
}

# record_stack WHICH OPTION...: the stack of each getppid() that unwound makes
record_stack() {
	local which=$1
	shift
	"$PERF" record -q -o "$which.data" -e syscalls:sys_enter_getppid --call-graph dwarf "$@" -- \
		"$UNWOUND" "$which" 2>record.err || fail "perf record: $(cat record.err)"
}

# frames FILE: the functions of user space of each sample, in a line
frames() {
	"$PERF_BPF" script --no-inline -i "$1" -F ip,sym 2>err |
		awk 'NF == 0 && n { print ""; n = 0 }
			$1 !~ /^ffffffff/ && NF { printf "%s%s", n++ ? " " : "", $2 }
			END { if (n) print "" }'
}

# The way from main to the start of a process, whatever the C library calls it.
assert_frames() {
	local which=$1 want=$2
	frames "$which.data" >mine
	sed 's/^[^ ]*getppid[^ ]* //; s/__libc_start_[^ ]* //g' mine >known
	assert_equal "$(sort -u known)" "$want"
}

test_stacks() {
	need_perf
	record_stack recurse
	local calls='recurse recurse recurse recurse recurse recurse recurse recurse recurse recurse'
	assert_frames recurse "hit $calls recurse main _start"
	assert_equal "$(wc -c <err)" 0
	record_stack thread
	frames thread.data >mine
	grep -qE 'hit recurse recurse recurse recurse thread_main start_thread (__)?clone3?$' mine ||
		fail "not to the thread's start: $(cat mine)"
	record_stack sort
	frames sort.data >mine
	grep -qE 'hit compare .*sort main .*_start$' mine || fail "not through qsort: $(cat mine)"
}

# The handler's caller is the trampoline by its own address; what it interrupted follows.
test_signals() {
	need_perf
	for which in signal altstack; do
		record_stack $which
		frames $which.data >mine
		if [ $which = signal ]; then
			grep -qE 'hit handler [^ ]+ .*interrupted with_signal main .*_start$' mine ||
				fail "$which: $(cat mine)"
		else
			# The copy is of the handler's stack alone.
			grep -qE 'hit handler [^ ]+ ' mine || fail "$which: $(cat mine)"
		fi
		"$PERF_BPF" script --no-inline -i $which.data -F ip,sym,symoff 2>err >offsets
		grep -q '__restore_rt+0x0$' offsets || [ "$(uname -m)" != x86_64 ] ||
			fail "the trampoline has no name: $(cat offsets)"
	done
}

# A call that is its function's last instruction belongs to that function.
test_calls_that_do_not_return() {
	need_perf
	record_stack exit
	assert_frames exit "hit never_returns calls_exit main _start"
}

test_incomplete_stacks() {
	need_perf
	record_stack large
	frames large.data >mine
	assert_contains mine "hit large_frame"
	assert_contains err "large.data: 1 of 1 stacks are incomplete"
	assert_contains err "--call-graph dwarf,SIZE"
	record_stack large --call-graph dwarf,16384
	assert_frames large "hit large_frame main _start"
	assert_equal "$(wc -c <err)" 0
	# The limit of frames is not a fault of the stack.
	record_stack deep --call-graph dwarf,65528
	frames deep.data >mine
	assert_equal "$(wc -w <mine)" 127
	assert_equal "$(wc -c <err)" 0
	"$PERF_BPF" script --no-inline --max-stack 250 -i deep.data -F ip,sym 2>err >mine
	assert_contains mine _start
	assert_equal "$(grep -c recurse mine)" 141
}

# Code without unwind information is left by its frame pointer.
test_generated_code() {
	need_perf
	[ "$(uname -m)" = x86_64 ] || skip "the generated code is of x86-64"
	record_stack generated
	frames generated.data >mine
	grep -qE 'hit \[unknown\] generated main .*_start$' mine || fail "$(cat mine)"
}

# A file that was replaced is not used: its unwind information would lead anywhere.
test_file_of_another_build() {
	need_perf
	export PERF_BUILDID_DIR=$PWD/cache # ~/.debug may have the file that is recorded
	cp "$UNWOUND" copy
	"$PERF" record -q --buildid-all -N -o copy.data -e syscalls:sys_enter_getppid \
		--call-graph dwarf -- ./copy exit 2>record.err || fail "$(cat record.err)"
	frames copy.data >mine
	assert_contains mine "hit never_returns calls_exit main"
	cp "$(command -v cat)" copy
	frames copy.data >mine
	# what is taken for a frame pointer there may lead out of the stack's copy
	grep -qE '1 of 1 stacks are incomplete: they (lead to code without unwind|need more of the stack)' err ||
		fail "$(cat err)"
	assert_equal "$(cut -d' ' -f2- mine)" "[unknown]"
}

# A recording of another architecture: its samples are all shown, and its stacks are not unwound by the
# registers of this one.
test_recording_of_another_architecture() {
	need_perf
	local machine sample
	machine=$(uname -m)
	record_stack deep
	python3 - "$machine" <<-'END'
		import sys
		data, name = open("deep.data", "rb").read(), sys.argv[1].encode() + b"\0\0"
		other = b"s390x" + bytes(len(name) - 5)
		assert data.count(name) == 1
		open("other.data", "wb").write(data.replace(name, other))
	END
	expect_status 0 "$PERF_BPF" script --header-only -i other.data
	assert_contains out "# arch : s390x"
	expect_status 0 "$PERF_BPF" script -F comm,event -i deep.data
	sample=$(grep -c getppid out)
	[ "$sample" -gt 0 ] || fail "no samples"
	for command in "script" "report --stdio -g" "annotate --stdio" "report --json" "script --json"; do
		# shellcheck disable=SC2086
		expect_status 0 "$PERF_BPF" $command -i other.data
	done
	assert_equal "$(grep -c '"type":"sample"' out)" "$sample"
	expect_status 0 "$PERF_BPF" diff deep.data other.data
	frames other.data >mine
	! grep -q main mine || fail "unwound by the registers of $machine: $(cat mine)"
	grep -q 'stacks are incomplete: they are of an architecture that is not unwound' err || fail "$(cat err)"
}

# Our recorder's copies: perf's attributes, and the same frames from perf and from us.
test_recorded() {
	need_perf
	local event=syscalls:sys_enter_getppid
	for options in "--call-graph dwarf" "--call-graph dwarf,65521" "-z --call-graph dwarf" \
		"-a --call-graph dwarf"; do
		"$PERF_BPF" record -q $options -e $event -o r.data -- "$UNWOUND" recurse 2>err ||
			fail "$options: $(cat err)"
		"$PERF_BPF" script --no-inline -i r.data --comm unwound -F ip,sym 2>/dev/null >mine
		assert_equal "$(grep -c recurse mine)" 11
		assert_contains mine _start
	done
	"$PERF_BPF" record -q --call-graph dwarf,65521 -e $event -o r.data -- "$UNWOUND" sort
	"$PERF" evlist -v -i r.data >attr
	assert_contains attr "exclude_callchain_user: 1"
	assert_contains attr "sample_stack_user: 65528"
	[ "$(uname -m)" != x86_64 ] || assert_contains attr "sample_regs_user: 0xff0fff"
	"$PERF" script --no-inline -i r.data 2>/dev/null >theirs
	"$PERF_BPF" script --no-inline -i r.data 2>/dev/null >mine
	diff theirs mine >diff.out || fail "another stack than perf's: $(head diff.out)"
	# The files that a stack leads through have their build ids, not only the one that was hit.
	"$PERF" buildid-list -i r.data >ids
	assert_contains ids "$UNWOUND"

	"$PERF_BPF" record -q -e "$event/call-graph=dwarf,stack-size=1000/" -e cpu-clock/call-graph=fp/ \
		-o t.data -- "$UNWOUND" sort
	"$PERF" evlist -v -i t.data >attr
	assert_equal "$(grep -c 'sample_stack_user: 1000$' attr)" 1
	assert_equal "$(grep -c STACK_USER attr)" 1
}

# Threads unwind stacks, and read ahead, where there is more than one CPU: 700 stacks of 8 KiB. The
# maps of a second process, and its name, change between them. A ring has room for all of them.
test_the_same_on_one_cpu() {
	need_perf
	command -v taskset >/dev/null || skip "taskset is not installed"
	local cpu options
	cpu=$(taskset -pc $$ | sed 's/.*: *//; s/[-,].*//')
	"$PERF_BPF" record -q -m 16M -e syscalls:sys_enter_write --call-graph dwarf,8192 -o w.data -- sh -c '
		dd if=/dev/zero of=/dev/null bs=1 count=350 2>/dev/null
		dd if=/dev/zero of=/dev/null bs=1 count=350 2>/dev/null' 2>err || fail "$(cat err)"
	[ "$(stat -c %s w.data)" -gt $((5 << 20)) ] || fail "only $(stat -c %s w.data) bytes"
	for options in script "script --json" "script --show-task-events --show-mmap-events" \
		"script --time 10%-80%" "report --stdio" "report --stdio --no-children -G" \
		"report --folded" "report --stdio -g caller,srcline" "report --stdio --comm dd"; do
		taskset -c "$cpu" "$PERF_BPF" $options -i w.data >one 2>one.err || fail "$(cat one.err)"
		"$PERF_BPF" $options -i w.data >all 2>all.err || fail "$options: $(cat all.err)"
		cmp one all || fail "$options: $(diff one all | head -5)"
		cmp one.err all.err || fail "$options: $(diff one.err all.err | head -5)"
	done
	# whoever reads may stop early
	"$PERF_BPF" script -i w.data 2>err | head -1 >line
	assert_equal "$(wc -l <line) $(wc -c <err)" "1 0"
	# what there is of a recording that was cut off
	head -c $((3 << 20)) w.data >cut.data
	for options in script "report --stdio"; do
		expect_status 1 taskset -c "$cpu" "$PERF_BPF" $options -i cut.data
		cp out one
		cp err one.err
		expect_status 1 "$PERF_BPF" $options -i cut.data
		cmp one out && cmp one.err err || fail "$options of a part differs"
	done
}

test_registers() {
	need_perf
	[ "$(uname -m)" = x86_64 ] || skip "the names are of x86-64"
	local event=syscalls:sys_enter_getppid
	"$PERF_BPF" record --user-regs='?' >names
	assert_equal "$(cat names)" \
		"AX BX CX DX SI DI BP SP IP FLAGS CS SS R8 R9 R10 R11 R12 R13 R14 R15"
	"$PERF_BPF" record -q --user-regs=IP,ax -e $event -o r.data -- "$UNWOUND" sort
	"$PERF_BPF" script --no-inline -i r.data -F ip,uregs >mine
	"$PERF" script -i r.data -F ip,uregs >theirs
	cmp theirs mine
	grep -q 'ABI:2 *AX:0x[0-9a-f]* *IP:0x' mine || fail "$(cat mine)"
	# What unwinding needs at least is added.
	"$PERF_BPF" record -q --user-regs -e $event -o r.data -- "$UNWOUND" sort
	"$PERF_BPF" script -i r.data -F uregs | head -1 >regs
	for name in IP SP AX; do
		grep -qw "$name:0x[0-9a-f]*" regs || fail "--user-regs lacks $name: $(cat regs)"
	done
	"$PERF_BPF" record -q --user-regs=bp --call-graph dwarf -e $event -o r.data -- "$UNWOUND" sort
	"$PERF" evlist -v -i r.data >attr
	assert_contains attr "sample_regs_user: 0x1c0"
}

test_wrong_options() {
	for size in 0 -8 65529 8k x 99999999999999999999; do
		expect_status 2 "$PERF_BPF" record --call-graph "dwarf,$size" -- true
		assert_contains err "--call-graph dwarf: invalid stack size '$size'"
		assert_contains err "a number of bytes from 1 to 65528"
	done
	expect_status 2 "$PERF_BPF" trace --call-graph lbr -- true
	assert_contains err "--call-graph lbr is not supported"
	expect_status 2 "$PERF_BPF" record --call-graph dwarfs -- true
	assert_contains err "invalid mode 'dwarfs'"
	expect_status 2 "$PERF_BPF" script --unwind-style=gdb
	assert_contains err "'gdb' is neither libdw nor libunwind"
	expect_status 2 "$PERF_BPF" record --user-regs=ip,,sp -- true
	assert_contains err "'' is not a register"
	expect_status 1 "$PERF_BPF" record -e cpu-clock/stack-size=70000/ -- true
	assert_contains err "between 1 and 65528"
}

# perf gives the interrupted instruction and the trampoline one byte less than they have, and ends
# in rt_sigreturn, where it finds no rule. Where the copy ends, it adds a frame without a name. It
# does not follow frame pointers out of generated code.
test_same_as_perf() {
	need_perf
	for which in recurse thread sort exit deep; do
		record_stack $which --call-graph dwarf,65528
		for options in "" "--max-stack 5"; do
			"$PERF" script --no-inline $options -i $which.data 2>/dev/null >theirs
			"$PERF_BPF" script --no-inline $options -i $which.data 2>/dev/null >mine
			diff theirs mine >diff.out || {
				head diff.out
				fail "$which $options: another stack than perf's"
			}
		done
		for options in "--no-children" "--children" "--no-children -G" "--max-stack 4"; do
			"$PERF" report --stdio --no-inline $options -i $which.data 2>/dev/null |
				sed '/^# (Tip/d; /^ *$/d; /^#$/d' >theirs
			"$PERF_BPF" report --no-inline $options -i $which.data 2>/dev/null |
				sed '/^ *$/d; /^#$/d' >mine
			diff theirs mine >diff.out || {
				head diff.out
				fail "report $which $options: other than perf's"
			}
		done
	done
}

# record and report give a hint where stacks end for want of frame pointers, and only there.
test_missing_frame_pointers() {
	need_perf
	cat >asks.c <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		#include <unistd.h>
		#define NOINLINE __attribute__((noinline, noclone))
		static volatile int sink;
		NOINLINE static void asks(int n)
		{
			while (n--)
				sink += getppid();
			sink++;
		}
		NOINLINE static void calls(int depth, int n)
		{
			if (depth)
				calls(depth - 1, n);
			else
				asks(n);
			sink++;
		}
		static void *thread(void *arg)
		{
			calls(5, 40);
			sink++;
			return arg;
		}
		NOINLINE static void begins(void)
		{
			pthread_t id;
			pthread_create(&id, NULL, thread, NULL);
			pthread_join(id, NULL);
			calls(5, 60);
			sink++;
		}
		int main(void)
		{
			begins();
			return 0;
		}
	END
	local hint='100 of 100 user stacks end in code without frame pointers'
	local with='-fno-omit-frame-pointer -fno-optimize-sibling-calls' record="-e syscalls:sys_enter_getppid"
	# shellcheck disable=SC2086
	gcc -O2 $with -pthread -o with asks.c && gcc -O2 $with -pthread -static -o static asks.c &&
		gcc -O2 -fomit-frame-pointer -pthread -o without asks.c || fail "it is not compiled"
	cp with stripped
	strip stripped static
	for which in with stripped static; do
		# shellcheck disable=SC2086
		"$PERF_BPF" record $record -g -o $which.data -- ./$which 2>record.err || fail "$(cat record.err)"
		"$PERF_BPF" report -i $which.data >report 2>err || fail "$(cat err)"
		! grep "frame pointers" record.err err || fail "$which has frame pointers"
	done
	# shellcheck disable=SC2086
	"$PERF_BPF" record $record -g -o without.data -- ./without 2>record.err || fail "$(cat record.err)"
	assert_contains record.err "$hint; use --call-graph dwarf"
	"$PERF_BPF" report -i without.data >report 2>err || fail "$(cat err)"
	assert_contains err "$hint; record with --call-graph dwarf"
	"$PERF_BPF" report -g none --no-children -i without.data >report 2>err || fail "$(cat err)"
	! grep "frame pointers" err || fail "a hint without call chains"
	# shellcheck disable=SC2086
	"$PERF_BPF" record -q $record -g -o quiet.data -- ./without 2>record.err || fail "$(cat record.err)"
	! grep "frame pointers" record.err || fail "a hint with -q"
	# shellcheck disable=SC2086
	"$PERF_BPF" record $record --call-graph dwarf -o copies.data -- ./without 2>record.err || fail "$(cat record.err)"
	"$PERF_BPF" report -i copies.data >report 2>err || fail "$(cat err)"
	! grep "frame pointers" record.err err || fail "copies of stacks need no frame pointers"
}

# The limit counts for the kernel's frames, too: with callers first, the outermost are kept.
test_limit_of_kernel_frames() {
	need_perf
	"$PERF" record -q -o limit.data -e sched:sched_process_exit --call-graph dwarf -- \
		"$UNWOUND" exit 2>record.err || fail "perf record: $(cat record.err)"
	for options in "--children -s sym" "--no-children -s sym" "--no-children -G -s sym"; do
		for max in 1 2 3; do
			"$PERF" report --stdio --no-inline $options --max-stack $max -i limit.data \
				2>/dev/null | sed '/^# (Tip/d; /^ *$/d; /^#$/d' >theirs
			"$PERF_BPF" report --no-inline $options --max-stack $max -i limit.data 2>/dev/null |
				sed '/^ *$/d; /^#$/d' >mine
			diff theirs mine >diff.out || {
				head diff.out
				fail "$options --max-stack $max: other than perf's"
			}
		done
	done
	[ "$(uname -m)" != x86_64 ] || assert_contains mine entry_SYSCALL
}

run_tests
