#!/usr/bin/env bash
# script: on recordings of linux-perf, line by line what perf script prints.
. "$(dirname "$0")/../tap.sh"
# perf reads the build-id cache in the user's home, and so do we here.
BUILDID_CACHE_OF_PERF=yes

TRACEFS=/sys/kernel/tracing
PERF=$(command -v perf || true)

need_perf() {
	[ -n "$PERF" ] || skip "linux-perf is not installed"
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -d $TRACEFS/events ] || mount -t tracefs nodev $TRACEFS 2>/dev/null || true
	[ -d $TRACEFS/events ] || skip "tracefs cannot be mounted"
}

# A workload with forks, exec, threads of work, files and page faults.
write_workload() {
	cat >work.sh <<-'END'
		for i in 1 2 3; do (cat /etc/passwd >/dev/null; sleep 0.01) & done
		wait
		i=0
		while [ $i -lt 3000 ]; do i=$((i + 1)); done
		ls -R /usr/share/doc/bash /etc/apt >/dev/null 2>&1
		exec dd if=/dev/zero of=/dev/null bs=512 count=200 status=none
	END
}

# record FILE OPTION...: what perf records of the workload
record() {
	local file=$1
	shift
	[ -e work.sh ] || write_workload
	"$PERF" record -q -o "$file" "$@" -- bash work.sh 2>record.err ||
		fail "perf record $*: $(cat record.err)"
}

# unescape: what acts on a terminal, as perf prints it. Any process of the machine may have such a name,
# which events of the scheduler tell; test_hostile_names looks at ours.
unescape() {
	python3 -c '
import re, sys
sys.stdout.buffer.write(re.sub(rb"\\x([01][0-9a-f]|7f|[89a-f][0-9a-f])", lambda m: bytes.fromhex(m[1].decode()),
                               sys.stdin.buffer.read()))'
}

# same FILE OPTION...: both print the same. perf 6.1 does not show inlined functions in chains of
# frame pointers; test_inlines.sh compares those of unwound stacks.
same() {
	local file=$1 mine=0 theirs=0
	shift
	set -- --no-inline "$@"
	"$PERF" script -i "$file" "$@" >theirs 2>theirs.err </dev/null || theirs=$?
	"$PERF_BPF" script -i "$file" "$@" >mine 2>mine.err </dev/null || mine=$?
	[ $mine = 0 ] || fail "script $*: ended with $mine: $(cat mine.err)"
	[ $theirs = 0 ] || fail "perf script $*: ended with $theirs: $(cat theirs.err)"
	[ -s theirs ] || fail "perf script $*: printed nothing"
	if ! cmp -s theirs mine && ! cmp -s <(unescape <theirs) <(unescape <mine); then
		diff theirs mine | head -20 | sed 's/^/# /'
		fail "script $*: differs from perf script in $(diff theirs mine | grep -c '^[<>]') lines"
	fi
}

EVENTS=(-e sched:sched_switch -e syscalls:sys_enter_openat -e syscalls:sys_enter_write
	-e 'sched:sched_process_*' -e sched:sched_wakeup -e kmem:kmalloc
	-e cpu-clock -e page-faults -e context-switches)

test_wrong_numbers() {
	for n in -5 5x 99999999999 0 ' 3' ''; do
		expect_status 2 "$PERF_BPF" script --max-stack="$n"
		assert_contains err "--max-stack: '$n' is not a number of at least 1"
	done
}

test_every_event_of_this_kernel_prints_as_libtraceevent_prints_it() {
	[ "$(id -u)" = 0 ] || skip "reading tracefs needs root"
	[ -d $TRACEFS/events ] || mount -t tracefs nodev $TRACEFS || skip "no tracefs"
	# The library leaks on formats that it cannot parse; our own leaks show in the unit run.
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 TRACE_EVENTS=$TRACEFS/events \
		"$BUILD/tests/unit/test_perf_format" >log 2>&1 || { cat log; fail "test_perf_format failed"; }
	assert_contains log "events,"
}

test_many_events() {
	need_perf
	record a.data "${EVENTS[@]}"
	same a.data
	same a.data -G
	same a.data --ns
	same a.data -F comm,tid,time,event,ip,sym,dso,symoff
	same a.data -F +pid,+misc
	same a.data -F +flags,-comm,-dso
	same a.data -F trace:comm,trace,ip -F sw:comm,ip,sym
	same a.data -F pid,event,ip,sym
	same a.data -F trace:time,period,event -F sw:time,period,event
	same a.data --show-task-events --show-mmap-events -F +misc,+pid
	same a.data --show-bpf-events --show-lost-events
	same a.data --comms bash,sleep
	same a.data --header-only
}

# Whatever the kernel's own subsystems say while the workload runs.
test_whole_subsystems() {
	need_perf
	local events= s
	for s in irq timer signal task workqueue writeback skb net sock tcp block ext4 jbd2 mmap; do
		[ ! -d $TRACEFS/events/$s ] || events=$events,$s:*
	done
	write_workload
	"$PERF" record -q -a -o sub.data -e "${events#,}" -- bash work.sh 2>record.err ||
		fail "$(cat record.err)"
	same sub.data
	[ "$(awk '{ print $5 }' mine | sort -u | wc -l)" -gt 5 ] || fail "hardly any event"
}

test_call_chains() {
	need_perf
	record g.data -g "${EVENTS[@]}"
	same g.data
	same g.data -G
	same g.data --max-stack 3
	same g.data -F comm,tid,time,event,ip,sym,dso
	same g.data -F trace:comm,trace,ip -F sw:comm,ip,sym
	same g.data --show-task-events --show-mmap-events
	grep -q '^	 *[0-9a-f]* [a-z_].*+0x.*(\[kernel.kallsyms\])$' mine || fail "no kernel symbols"
	wc -l <mine >whole
	same g.data --stop-bt do_syscall_64,asm_exc_page_fault
	[ "$(wc -l <mine)" -lt "$(cat whole)" ] || fail "no call chain was cut off"
	expect_status 2 "$PERF_BPF" script -i g.data --stop-bt ,main
	assert_contains err "--stop-bt: ',main' has an empty name"
}

test_short_lines() {
	need_perf
	record l.data -e syscalls:sys_enter_openat -e cpu-clock -e page-faults
	same l.data -L
	same l.data -L --show-task-events
	same l.data -L -F trace:comm,cpu,event -F sw:comm,event --demangle
}

# Lines of records of both kinds count, samples and what --show-... adds.
# The time of day, by the clock of the recording and in the local time zone.
test_time_of_day() {
	local zone
	need_perf
	record k.data -k CLOCK_MONOTONIC -e cpu-clock -F 500 -e sched:sched_process_fork
	for zone in UTC Asia/Kolkata America/Los_Angeles; do
		export TZ=$zone
		same k.data -F comm,tid,tod,time,event
		same k.data -F tod,trace,ip --ns
		same k.data -F +tod --reltime --show-task-events
	done
	"$PERF" script -i k.data -F tod | head -n 1 >first
	export TZ=UTC
	"$PERF_BPF" script --json -F tod -i k.data | head -n 1 >json
	ns=$(sed -n 's/.*"tod":\([0-9]*\).*/\1/p' json)
	assert_equal "$(TZ=America/Los_Angeles date -d "@${ns%?????????}" '+%F %H:%M:%S').${ns: -9:6}" \
		"$(sed 's/ *$//' first)"
	! "$PERF_BPF" script --json -i k.data | grep '"tod"' || fail "it was not asked for"
	record t.data -e cpu-clock -F 500
	expect_status 1 "$PERF_BPF" script -F +tod -i t.data
	assert_contains err "record with -k"
}

test_times_since_others() {
	need_perf
	record a.data "${EVENTS[@]}"
	for option in --reltime --deltatime; do
		same a.data $option
		same a.data $option --ns -F comm,time
		same a.data $option --show-task-events --show-mmap-events
		expect_status 2 "$PERF_BPF" script -i a.data --json $option
	done
	expect_status 2 "$PERF_BPF" script -i a.data --reltime --deltatime
	assert_contains err "choose one of --reltime and --deltatime"
}

test_all_cpus() {
	need_perf
	write_workload
	# Not what else runs here: its programs can be removed between the two.
	local names=bash,cat,dd,ls,sleep,timeout,swapper
	"$PERF" record -q -a -g -o sys.data -e cpu-clock -e sched:sched_switch \
		-- timeout 120 taskset -c 0 bash work.sh 2>record.err || fail "$(cat record.err)"
	same sys.data --comms "$names"
	same sys.data -G -C 0 --comms "$names"
}

# Processes name themselves, and files are named by anybody: no name acts on a terminal or forges a
# line.
test_hostile_names() {
	need_perf
	local name=$'b\033[31m\nforged 1 2' option
	cp "$(command -v dd)" "$name"
	cat >work.sh <<-'END'
		printf '\033]0;title\007' >/proc/$$/comm
		i=0
		while [ $i -lt 30000 ]; do i=$((i + 1)); done
		"./$1" if=/dev/zero of=/dev/null bs=1M count=2000 status=none
	END
	"$PERF_BPF" record -q -g -e cpu-clock -e sched:sched_process_exec -o t.data -- \
		bash work.sh "$name" 2>err || fail "$(cat err)"
	for option in "script" "script -D" "script --header --show-task-events --show-mmap-events" \
		"script -F comm,pid,ip,sym,dso,trace,event" "report" "report --header -g caller -n" \
		"report --sort comm,dso,sym -t ," "report --csv" "report --folded"; do
		"$PERF_BPF" $option -i t.data >out 2>err || fail "$option: $(cat err)"
		[ -s out ] || fail "$option: printed nothing"
		! tr -d '\r' <out | LC_ALL=C grep -n $'[\001-\010\013-\037\177]\|^ *forged' >bad ||
			fail "$option: $(cat -v bad | head -3)"
	done
	"$PERF_BPF" script -i t.data >out
	assert_contains out '\x1b]0;title\x07'
	assert_contains out 'b\x1b[31m\x0aforged'
}

# Texts of usual sizes are kept from line to line; these are longer.
test_long_names() {
	need_perf
	local name
	name=$(printf 'n%.0s' {1..80})
	record long.data -e "cpu-clock/name=$name/" -e "task-clock/name=$name.2/"
	same long.data
	same long.data -F +pid
	cat >work.sh <<-'END'
		printf '\001\002\003\004\005\006\007\010\016\017\020\021\022\023\024' >/proc/$$/comm
		i=0
		while [ $i -lt 30000 ]; do i=$((i + 1)); done
	END
	"$PERF_BPF" record -q --sample-cpu -e cpu-clock -o odd.data -- bash work.sh 2>err || fail "$(cat err)"
	"$PERF_BPF" script -i odd.data -F comm,pid,tid,cpu,time >out
	grep -cE '^ *\\x01\\x02\\x03\\x04\\x05\\x06\\x07\\x08\\x0e\\x0f\\x10\\x11\\x12\\x13\\x14 +([0-9]+)/\1 +\[[0-9]{3}\] +[0-9]+\.[0-9]{6}: *$' out >n ||
		fail "$(head -3 out)"
	[ "$(cat n)" -gt 5 ] || fail "$(cat n) lines of the odd name"
}

test_compressed() {
	need_perf
	record z.data -z -g -e cpu-clock -e page-faults -e syscalls:sys_enter_write
	same z.data
}

# The offset in the file, which is the address of call chains; the kernel has none.
test_offsets_in_binaries() {
	need_perf
	record c.data -g -e cpu-clock:u
	"$PERF_BPF" script -i c.data -F ip,sym,dsoff >out
	awk '/\+0x[0-9a-f]+\)$/ && $NF !~ /\[/ {
		split($NF, part, "\\+0x"); n++
		if (part[2] != $1 ")") print "offset " part[2] " of " $0
	} END { if (n < 3) print n + 0 " offsets" }' out >wrong
	[ ! -s wrong ] || fail "$(head -3 wrong)"
	"$PERF_BPF" script -i c.data -F ip,sym,dso,dsoff >other
	cmp out other
	"$PERF_BPF" script -i c.data -F ip,sym,dso >other
	! grep -q '+0x' other || fail "the offset is printed without -F dsoff"
}

test_addresses() {
	need_perf
	record d.data -d -c 1 -e page-faults
	same d.data
	same d.data -F comm,addr,sym,symoff,dso
	same d.data -F +addr,+ip
}

test_registers() {
	need_perf
	record r.data --intr-regs=ax,ip,sp -e cpu-clock
	same r.data -F +iregs
}

test_strings_of_tracepoints() {
	need_perf
	cp "$(type -P true)" "$TMP/a_name_with_%d_in_it"
	cat >work.sh <<-END
		"$TMP/a_name_with_%d_in_it"
		cat "$TMP/no such file" 2>/dev/null
		true
	END
	record s.data -e sched:sched_process_exec -e sched:sched_process_fork -e task:task_rename
	same s.data
	assert_contains mine "filename=$TMP/a_name_with_%d_in_it"
}

# Addresses of a process that a tracepoint prints by %ps: a name would hide them.
test_addresses_of_a_process_stay() {
	need_perf
	[ -d $TRACEFS/events/exceptions ] || skip "no exceptions:* here"
	record u.data -e exceptions:page_fault_user
	same u.data
	grep -q 'ip=0x[0-9a-f]* error_code' mine || fail "no address is printed"
}

test_pipe() {
	need_perf
	write_workload
	for with in "" -g; do
		"$PERF" record -q -o - $with -e syscalls:sys_enter_write -e page-faults \
			-- bash work.sh >pipe.data 2>record.err || fail "$(cat record.err)"
		"$PERF" script --no-inline -i - <pipe.data >theirs 2>/dev/null
		"$PERF_BPF" script --no-inline -i - <pipe.data >mine
		[ -s theirs ] || fail "perf script printed nothing"
		cmp theirs mine || fail "pipe $with: differs: $(diff -a theirs mine | head -5)"
		cat pipe.data | "$PERF_BPF" script --no-inline >mine
		cmp theirs mine || fail "pipe $with on stdin: differs"
	done
}

test_time_span() {
	need_perf
	record t.data "${EVENTS[@]}"
	"$PERF_BPF" script -i t.data -F time | tr -d ' :' >times
	local n from to
	n=$(wc -l <times)
	from=$(sed -n "$((n / 3))p" times)
	to=$(sed -n "$((n * 2 / 3))p" times)
	same t.data --time "$from,$to"
	[ "$(wc -l <mine)" -lt "$n" ] || fail "--time left out nothing"
	same t.data --time "$from,"
	same t.data --time ",$to"
}

# What the header of a file says comes as records, before the first sample.
test_header_of_a_pipe() {
	need_perf
	"$PERF" record -q -o - -e cpu-clock -- ls / >p.data 2>/dev/null
	for words in "script --header" "script --header-only" "report --stdio --header-only"; do
		"$PERF" $words -i p.data 2>/dev/null >theirs
		"$PERF_BPF" $words -i p.data >mine
		grep -q '^# captured on' theirs || fail "$words: perf has no header"
		diff theirs mine >differences || fail "$words: $(head -4 differences)"
	done
	grep -q '^# cmdline : ' mine || fail "the features are missing"
}

# A field that no sample has is not printed as 0.
test_fields_that_a_pipe_lacks() {
	need_perf
	# with more than one round of records: those behind the first one are handed out, too
	"$PERF" record -q -o - -m 1 -c 100000 -e cpu-clock -- \
		sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done' >p.data 2>/dev/null
	for field in addr +cpu phys_addr; do
		expect_status 1 "$PERF_BPF" script -F $field -i p.data
		assert_contains err "samples of 'cpu-clock' have no "
		[ ! -s out ] || fail "-F $field: printed $(head -n 1 out)"
	done
}

test_raw_dump() {
	need_perf
	record r.data -g -e cpu-clock -e syscalls:sys_enter_write
	"$PERF" script -D -i r.data >theirs 2>/dev/null
	"$PERF_BPF" script -D --no-inline -i r.data >mine
	grep -aq 'FINISHED_INIT: unhandled!' theirs || fail "perf dumped nothing"
	cmp theirs mine || fail "differs: $(diff theirs mine | head -5)"
}

# same_dump FILE TEXT [OPTION...]: script -D and report -D print what perf prints, and TEXT is in it
same_dump() {
	local file=$1 text=$2
	shift 2
	for command in "script -D -G" "report -D"; do
		# samples in the vdso: perf prints the temporary file that it copied it to
		"$PERF" $command "$@" -i "$file" 2>/dev/null |
			sed 's,/tmp/perf-vdso\.so-[A-Za-z0-9]*,[vdso],' >theirs
		"$PERF_BPF" $command "$@" -i "$file" >mine
		grep -aqF "$text" theirs || fail "$file: $command of perf has no '$text'"
		cmp theirs mine || fail "$file: $command differs: $(diff theirs mine | head -5)"
	done
	grep -q '^ *SAMPLE events: ' mine || fail "$file: report -D printed no sums"
}

# Pipes, compressed records, values of groups, registers and stacks, data sources.
test_raw_dump_of_other_recordings() {
	need_perf
	"$PERF" record -q -o - -e cpu-clock,sched:sched_process_exec -- sh -c 'exec ls /' \
		>p.data 2>/dev/null
	same_dump p.data '@pipe [0x'
	same_dump p.data ']: PERF_RECORD_TRACING_DATA'
	# what a record of a pipe says of the recorder stands behind it
	same_dump p.data 'PERF_RECORD_FEATURE# hostname : ' --header
	same_dump p.data 'PERF_RECORD_FEATURE# hostname : ' --header -I
	same_dump p.data 'PERF_RECORD_FEATURE# hostname : ' -I
	record z.data -z -g -e cpu-clock,page-faults
	same_dump z.data 'event: 9'
	record g.data -e '{cpu-clock,task-clock,page-faults}:S'
	same_dump g.data '.... group nr 3'
	record w.data --call-graph dwarf,512 -d -e page-faults
	same_dump w.data '... ustack: size '
	same_dump w.data '... user regs: mask 0x'
	record t.data --per-thread -e page-faults
	same_dump t.data 'PERF_RECORD_CPU_MAP: -1'
	record n.data --namespaces --all-cgroups -s -e cpu-clock
	same_dump n.data ' - nr_namespaces: '
	same_dump n.data 'PERF_RECORD_CGROUP cgroup: '
	same_dump n.data '... time enabled : '
	same_dump n.data '... time enabled : ' --time 0,1
	# perf is stopped meanwhile, so that the ring is full whatever else the machine does. A LOST
	# record is written in front of the first record that has room again, on the same CPU.
	"$PERF" record -q -o l.data -m 1 -e 'syscalls:sys_*_read,syscalls:sys_*_write' -- taskset -c 0 sh -c 'kill -STOP $PPID
			dd if=/dev/zero of=/dev/null bs=1 count=100000
			kill -CONT $PPID
			until grep -q "^State:.S" /proc/$PPID/status; do sleep 0.1; done
			dd if=/dev/zero of=/dev/null bs=1 count=5' 2>/dev/null
	same_dump l.data ': lost:'
	same_dump l.data ': lost samples :'
	# Where an interrupt takes the 10 us of this period, the workload hardly runs: its time is limited.
	"$PERF" record -q -o f.data -e cpu-clock -c 10000 -- timeout 0.5 dd if=/dev/zero of=/dev/null bs=1 2>/dev/null || :
	"$PERF" script -D -i f.data >theirs 2>/dev/null
	grep -aq PERF_RECORD_THROTTLE theirs || skip "the kernel throttles nothing"
	same_dump f.data 'PERF_RECORD_THROTTLE'
}

test_raw_dump_of_report() {
	need_perf
	record r.data -g -e cpu-clock -e syscalls:sys_enter_write
	same_dump r.data 'FINISHED_INIT: unhandled!'
	same_dump r.data 'FINISHED_INIT: unhandled!' --header
	# what a filter leaves one value stands above the records
	for options in "--comm nobody" "--comm nobody --dso x,y" "--dso x" "--comm nobody --dso x -q" \
		"-s pid --comm nobody"; do
		"$PERF" report -D -i r.data $options 2>/dev/null >theirs
		"$PERF_BPF" report -D -i r.data $options >mine
		[ "$options" = "-s pid --comm nobody" ] || grep -aqE '^# (comm: nobody|dso: x)$' theirs ||
			fail "$options: perf has no line of the filter"
		cmp theirs mine || fail "$options differ: $(diff theirs mine | head -5)"
	done
	for export in --json --csv --folded --html=x --pprof=x; do
		expect_status 2 "$PERF_BPF" report -D $export -i r.data
		assert_contains err "--dump-raw-trace cannot be used with"
	done
	"$PERF_BPF" report -D -i r.data 2>err | head -n 1 >out
	[ ! -s err ] || fail "a closed pipe: $(cat err)"
}

test_bpf_output_bytes() {
	need_perf
	"$PERF_BPF" record --help >/dev/null 2>&1 || skip "record is not built in"
	skip_without_clang
	cat >out.bpf.c <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		struct {
			__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
			__uint(key_size, 4);
			__uint(value_size, 4);
		} __bpf_stdout__ SEC(".maps");
		SEC("tracepoint/syscalls/sys_enter_write")
		int on_write(void *ctx)
		{
			char text[11] = "from below";
			bpf_perf_event_output(ctx, &__bpf_stdout__, BPF_F_CURRENT_CPU, text, sizeof(text));
			return 1;
		}
		char LICENSE[] SEC("license") = "Dual BSD/GPL";
	END
	write_workload
	"$PERF_BPF" record -q -N -o o.data -e out.bpf.c -- bash work.sh >record.out 2>&1 ||
		fail "$(cat record.out)"
	same o.data
	assert_contains mine "BPF string: \"from below\""
}

skip_without_clang() {
	command -v clang >/dev/null || skip "clang is not installed"
}

# Our recordings, read by both.
test_our_recordings() {
	need_perf
	"$PERF_BPF" record --help >/dev/null 2>&1 || skip "record is not built in"
	write_workload
	for with in "" -g; do
		"$PERF_BPF" record -q -N -o o.data $with "${EVENTS[@]}" -- bash work.sh >record.out 2>&1 ||
			fail "record $with: $(cat record.out)"
		same o.data
		same o.data --show-task-events --show-mmap-events
		same o.data -F comm,pid,tid,time,event,ip,sym,dso,symoff
	done
}

# json FILE COMMAND: runs python over the records, as `r`
json() {
	python3 - "$1" "$2" <<-'END'
		import json, sys
		r = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
		samples = [x for x in r if x["type"] == "sample"]
		exec(sys.argv[2])
	END
}

test_json() {
	need_perf
	# with room for all of it, whenever perf reads
	record j.data -m 16M -g "${EVENTS[@]}"
	"$PERF_BPF" script --json -i j.data >json
	"$PERF" script -G -i j.data -F comm,pid,tid,time,event >text 2>/dev/null
	json json "
assert len(samples) == $(wc -l <text), (len(samples), $(wc -l <text))
for line, s in zip(open('text', encoding='utf-8', errors='surrogateescape'), samples):
    comm, rest = line.strip().rsplit(None, 3)[0], line.split()
    assert line[:16].strip() == s['comm'] or s['comm'] in line, (line, s)
    assert rest[-1].rstrip(':') == s['event'], (line, s)
    assert '%d.%06d:' % (s['time'] // 10**9, s['time'] % 10**9 // 1000) == rest[-2], (line, s)
    assert '%d/%d' % (s['pid'], s['tid']) in line, (line, s)
writes = [s for s in samples if s['event'] == 'syscalls:sys_enter_write' and s['comm'] == 'dd']
assert len([s for s in writes if s['fields']['count'] == 512]) == 200, len(writes)
assert all(type(s['fields']['fd']) is int and s['fields']['buf'].startswith('0x') for s in writes)
assert all(s['trace'].startswith('fd: 0x') for s in writes)
forks = [s for s in samples if s['event'] == 'sched:sched_process_exec']
assert any(s['fields']['filename'].endswith('/dd') for s in forks), forks
chains = [s['chain'] for s in samples if 'chain' in s]
assert len(chains) == len(samples)
assert any(e.get('sym') == 'do_syscall_64' and e['dso'] == '[kernel.kallsyms]' for c in chains for e in c)
assert all(int(e['ip'], 16) >= 0 for c in chains for e in c)
"
	"$PERF_BPF" script --json -i j.data --show-task-events --show-mmap-events >json
	json json "
kinds = {x['type'] for x in r}
assert {'comm', 'fork', 'exit', 'mmap2', 'sample'} <= kinds, kinds
assert any(x['type'] == 'comm' and x['exec'] and x['comm'] == 'dd' for x in r)
assert any(x['type'] == 'mmap2' and x['filename'].endswith('/dd') for x in r)
"
	"$PERF_BPF" script --json -F comm,time -i j.data >json
	json json "assert all(set(s) == {'type', 'comm', 'time'} for s in samples)"
}

test_json_of_odd_names() {
	need_perf
	local name=$'odd "\\\xff\x01\xc3\xa9'
	cp "$(type -P true)" "$TMP/$name"
	printf '%s\n' "'$TMP/$name'" >work.sh
	record n.data -e sched:sched_process_exec -e page-faults
	"$PERF_BPF" script --json -i n.data >json
	json json "
name = b'odd \"\\\\\\xff\\x01\\xc3\\xa9'
want = name.decode('utf-8', 'surrogateescape')
assert any(s['comm'] == want for s in samples), {s['comm'] for s in samples}
assert any(s.get('fields', {}).get('filename', '').encode('utf-8', 'surrogateescape').endswith(name) for s in samples)
"
}

test_losses_are_said() {
	need_perf
	# Rings of one page and 600,000 system calls: some do not fit.
	"$PERF" record -q -m 1 -o lost.data -c 1 -e 'raw_syscalls:*' -e syscalls:sys_enter_write \
		-- dd if=/dev/zero of=/dev/null bs=1 count=200000 status=none 2>record.err ||
		fail "$(cat record.err)"
	{ "$PERF" script --show-lost-events -i lost.data 2>theirs.err || echo $? >failed; } |
		grep PERF_RECORD_LOST >theirs || :
	[ ! -e failed ] || fail "perf script: ended with $(cat failed): $(tail -n 2 theirs.err)"
	[ -s theirs ] || skip "nothing was lost"
	"$PERF_BPF" script --show-lost-events -i lost.data 2>err | grep PERF_RECORD_LOST >mine
	cmp theirs mine || fail "the losses differ"
	grep -q 'lost.data: [0-9]* .* lost while recording' err || fail "not said: $(cat err)"
	"$PERF_BPF" script --json -i lost.data 2>/dev/null | grep '"type":"lost"' >json
	assert_equal "$(wc -l <json)" "$(wc -l <theirs)"
}

# Each sample with a copy of its stack has a frame; test_unwind.sh looks at the others.
test_stacks_that_are_unwound() {
	need_perf
	# with room for all stacks, whenever perf reads: losses are said
	record w.data -m 16M --call-graph dwarf -e cpu-clock
	"$PERF_BPF" script -i w.data --no-inline -F tid,time,ip,sym >mine 2>err
	"$PERF" script -i w.data --no-inline -F tid,time,ip,sym >theirs 2>/dev/null
	awk '/^ *[0-9]+ +[0-9.]+:/ { head = $0; getline; print head, $1 }' mine >mine.first
	awk '/^ *[0-9]+ +[0-9.]+:/ { head = $0; getline; print head, $1 }' theirs >theirs.first
	diff theirs.first mine.first >diff.out || { head diff.out; fail "other first frames"; }
	awk 'NF == 0 && last ~ /: *$/ { exit 1 } { last = $0 }' mine || fail "a sample without a frame"
	"$PERF" script -i w.data -G >theirs 2>/dev/null
	"$PERF_BPF" script -G -i w.data >mine 2>err
	cmp theirs mine
	assert_equal "$(wc -c <err)" 0
	"$PERF" report --stdio -i w.data --no-children -g none -F overhead,comm,dso,sym 2>/dev/null |
		grep -v '^#' >theirs
	"$PERF_BPF" report -i w.data --no-children -g none -F overhead,comm,dso,sym 2>err |
		grep -v '^#' >mine
	diff theirs mine || fail "other shares"
	assert_equal "$(wc -c <err)" 0
}

test_errors() {
	need_perf
	record e.data -e cpu-clock
	expect_status 1 "$PERF_BPF" script -i no.data
	assert_contains err "no.data"
	expect_status 2 "$PERF_BPF" script -F comm,tiem -i e.data
	assert_contains err "unknown field 'tiem'"
	assert_contains err "'time'"
	expect_status 2 "$PERF_BPF" script -F callindent -i e.data
	assert_contains err "does not support field 'callindent'"
	expect_status 2 "$PERF_BPF" script -F comm,-time -i e.data
	expect_status 1 "$PERF_BPF" script -F +addr -i e.data
	assert_contains err "samples of 'cpu-clock"
	expect_status 2 "$PERF_BPF" script --time 9,8 -i e.data
	expect_status 2 "$PERF_BPF" script -C nine -i e.data
	expect_status 1 "$PERF_BPF" script -C 0 -i e.data
	assert_contains err "samples of 'cpu-clock' have no CPU"
	expect_status 2 "$PERF_BPF" script --json --header -i e.data
	assert_contains err "--header cannot be used with --json"
	expect_status 2 "$PERF_BPF" script e.data
	head -c 100 e.data >cut.data
	expect_status 1 "$PERF_BPF" script -i cut.data
	assert_contains err "cut.data"
	head -c $(($(stat -c %s e.data) / 2)) e.data >half.data
	local status=0
	"$PERF_BPF" script -i half.data >out 2>err || status=$?
	[ $status -le 1 ] || fail "half a file ends with $status"
	[ -s err ] || fail "half a file is read without a word"
}

test_reader_goes_away() {
	need_perf
	record p.data -c 1 -e page-faults -e syscalls:sys_enter_write
	local status
	"$PERF_BPF" script -D -i p.data 2>err | head -n 1 >out
	status=${PIPESTATUS[0]}
	assert_equal "$status" 0
	assert_equal "$(wc -c <err)" 0
	status=0
	"$PERF_BPF" script -i p.data >/dev/full 2>err || status=$?
	assert_equal "$status" 1
	assert_contains err "cannot write the output: No space left on device"
}

run_tests
