#!/usr/bin/env bash
# script: on recordings of linux-perf, line by line what perf script prints.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../golden/golden.sh"

# same FILE OPTION...: both print the same. perf 6.1 does not show inlined functions in chains of
# frame pointers; test_inlines.sh compares those of unwound stacks.
same() {
	local mine=0
	set -- -i "$1" --no-inline "${@:2}"
	perf_text script "$@" >theirs
	golden script "$@" >mine 2>mine.err </dev/null || mine=$?
	[ $mine = 0 ] || fail "script $*: ended with $mine: $(cat mine.err)"
	[ -s theirs ] || fail "perf script $*: printed nothing"
	if ! cmp -s theirs mine; then
		diff theirs mine | head -20 | sed 's/^/# /'
		fail "script $*: differs from perf script in $(diff theirs mine | grep -c '^[<>]') lines"
	fi
}

test_wrong_numbers() {
	for n in -5 5x 99999999999 0 ' 3' ''; do
		expect_status 2 golden script --max-stack="$n"
		assert_contains err "--max-stack: '$n' is not a number of at least 1"
	done
}

test_many_events() {
	same many
	same many -G
	same many --ns
	same many -F comm,tid,time,event,ip,sym,dso,symoff
	same many -F +pid,+misc
	same many -F +flags,-comm,-dso
	same many -F trace:comm,trace,ip -F sw:comm,ip,sym
	same many -F pid,event,ip,sym
	same many -F trace:time,period,event -F sw:time,period,event
	same many --show-task-events --show-mmap-events -F +misc,+pid
	same many --show-bpf-events --show-lost-events
	same many --comms rbpf_copy,rbpf_twin
	same many --header-only
}

test_call_chains() {
	same many-g
	same many-g -G
	same many-g --max-stack 3
	same many-g -F comm,tid,time,event,ip,sym,dso
	same many-g -F trace:comm,trace,ip -F sw:comm,ip,sym
	same many-g --show-task-events --show-mmap-events
	grep -q '^	 *[0-9a-f]* [a-z_].*+0x.*(\[kernel.kallsyms\])$' mine || fail "no kernel symbols"
	wc -l <mine >whole
	same many-g --stop-bt do_syscall_64,asm_exc_page_fault
	[ "$(wc -l <mine)" -lt "$(cat whole)" ] || fail "no call chain was cut off"
	expect_status 2 golden script -i many-g --stop-bt ,main
	assert_contains err "--stop-bt: ',main' has an empty name"
}

test_short_lines() {
	same many -L
	same many -L --show-task-events
	same many -L -F trace:comm,cpu,event -F sw:comm,event --demangle
}

# Lines of records of both kinds count, samples and what --show-... adds.
# The time of day, by the clock of the recording and in the local time zone.
test_time_of_day() {
	local zone
	for zone in UTC Asia/Kolkata America/Los_Angeles; do
		export TZ=$zone
		same since -F comm,tid,tod,time,event
		same since -F tod,trace,ip --ns
		same since -F +tod --reltime --show-task-events
	done
	perf_text script -i since -F tod | head -n 1 >first
	export TZ=UTC
	golden script --json -F tod -i since | head -n 1 >json
	ns=$(sed -n 's/.*"tod":\([0-9]*\).*/\1/p' json)
	assert_equal "$(TZ=America/Los_Angeles date -d "@${ns%?????????}" '+%F %H:%M:%S').${ns: -9:6}" \
		"$(sed 's/ *$//' first)"
	! golden script --json -i since | grep '"tod"' || fail "it was not asked for"
	expect_status 1 golden script -F +tod -i flat
	assert_contains err "record with -k"
}

test_times_since_others() {
	for option in --reltime --deltatime; do
		same many $option
		same many $option --ns -F comm,time
		same many $option --show-task-events --show-mmap-events
		expect_status 2 golden script -i many --json $option
	done
	expect_status 2 golden script -i many --reltime --deltatime
	assert_contains err "choose one of --reltime and --deltatime"
}

# Processes name themselves, and files are named by anybody: no name acts on a terminal or forges a
# line.
test_hostile_names() {
	local option
	for option in "script" "script -D" "script --header --show-task-events --show-mmap-events" \
		"script -F comm,pid,ip,sym,dso,trace,event" "report" "report --header -g caller -n" \
		"report --sort comm,dso,sym -t ," "report --csv" "report --folded"; do
		golden $option -i hostile.ours >out 2>err || fail "$option: $(cat err)"
		[ -s out ] || fail "$option: printed nothing"
		! tr -d '\r' <out | LC_ALL=C grep -n $'[\001-\010\013-\037\177]\|^ *forged' >bad ||
			fail "$option: $(cat -v bad | head -3)"
	done
	golden script -i hostile.ours >out
	assert_contains out '\x1b]0;title\x07'
	assert_contains out 'b\x1b[31m\x0aforged'
}

# Texts of usual sizes are kept from line to line; these are longer.
test_long_names() {
	same long
	same long -F +pid
	golden script -i odd-comm.ours -F comm,pid,tid,cpu,time >out
	grep -cE '^ *\\x01\\x02\\x03\\x04\\x05\\x06\\x07\\x08\\x0e\\x0f\\x10\\x11\\x12\\x13\\x14 +([0-9]+)/\1 +\[[0-9]{3}\] +[0-9]+\.[0-9]{6}: *$' out >n ||
		fail "$(head -3 out)"
	[ "$(cat n)" -gt 5 ] || fail "$(cat n) lines of the odd name"
}

test_compressed() {
	same compressed
}

# The offset in the file, which is the address of call chains; the kernel has none.
test_offsets_in_binaries() {
	golden script -i chains -F ip,sym,dsoff >out
	awk '/\+0x[0-9a-f]+\)$/ && $NF !~ /\[/ {
		split($NF, part, "\\+0x"); n++
		if (part[2] != $1 ")") print "offset " part[2] " of " $0
	} END { if (n < 3) print n + 0 " offsets" }' out >wrong
	[ ! -s wrong ] || fail "$(head -3 wrong)"
	golden script -i chains -F ip,sym,dso,dsoff >other
	cmp out other
	golden script -i chains -F ip,sym,dso >other
	! grep -q '+0x' other || fail "the offset is printed without -F dsoff"
}

test_addresses() {
	same addresses
	same addresses -F comm,addr,sym,symoff,dso
	same addresses -F +addr,+ip
}

test_registers() {
	same registers -F +iregs
}

test_strings_of_tracepoints() {
	same strings
	assert_contains mine "filename=./a_name_with_%d_in_it"
}

# Addresses of a process that a tracepoint prints by %ps: a name would hide them.
test_addresses_of_a_process_stay() {
	same faults
	grep -q 'ip=0x[0-9a-f]* error_code' mine || fail "no address is printed"
}

test_pipe() {
	for pipe in writes.pipe writes-g.pipe; do
		perf_text script --no-inline -i $pipe >theirs
		golden script --no-inline -i - <"$FILES/$pipe" >mine
		[ -s theirs ] || fail "perf script printed nothing"
		cmp theirs mine || fail "$pipe: differs: $(diff -a theirs mine | head -5)"
		golden script --no-inline -i $pipe | cmp theirs - || fail "$pipe: differs as a file"
		cat "$FILES/$pipe" | golden script --no-inline >mine
		cmp theirs mine || fail "$pipe on stdin: differs"
	done
}

test_time_span() {
	golden script -i many -F time | tr -d ' :' >times
	local n from to
	n=$(wc -l <times)
	from=$(sed -n "$((n / 3))p" times)
	to=$(sed -n "$((n * 2 / 3))p" times)
	same many --time "$from,$to"
	[ "$(wc -l <mine)" -lt "$n" ] || fail "--time left out nothing"
	same many --time "$from,"
	same many --time ",$to"
}

# What the header of a file says comes as records, before the first sample.
# A pipe that ends before its first sample has a header all the same, as in perf.
test_header_before_an_error() {
	for bytes in 24 1000; do
		head -c $bytes "$FILES/exec.pipe" >cut
		expect_status 1 golden script --header -i - <cut
		assert_contains err "ends in the middle of a record"
		assert_contains out "# captured on"
		mv out script.out
		expect_status 1 golden report --header-only -i - <cut
		cmp out script.out || fail "$bytes bytes: report has another header"
	done
}

test_header_of_a_pipe() {
	for words in "script --header" "script --header-only" "report --stdio --header-only"; do
		perf_text $words -i exec.pipe >theirs
		golden $words -i exec.pipe >mine
		grep -q '^# captured on' theirs || fail "$words: perf has no header"
		diff theirs mine >differences || fail "$words: $(head -4 differences)"
	done
	grep -q '^# cmdline : ' mine || fail "the features are missing"
}

# A field that no sample has is not printed as 0.
test_fields_that_a_pipe_lacks() {
	# with more than one round of records: those behind the first one are handed out, too
	for field in addr +cpu phys_addr; do
		expect_status 1 golden script -F $field -i rounds.pipe
		assert_contains err "samples of 'cpu-clock' have no "
		[ ! -s out ] || fail "-F $field: printed $(head -n 1 out)"
	done
}

test_raw_dump() {
	perf_text script -D -i multi >theirs
	golden script -D --no-inline -i multi >mine
	grep -aq 'FINISHED_INIT: unhandled!' theirs || fail "perf dumped nothing"
	cmp theirs mine || fail "differs: $(diff theirs mine | head -5)"
}

# same_dump FILE TEXT [OPTION...]: script -D and report -D print what perf prints, and TEXT is in it
same_dump() {
	local file=$1 text=$2
	shift 2
	for command in "script -D -G" "report -D"; do
		perf_text $command "$@" -i "$file" >theirs
		golden $command "$@" -i "$file" >mine
		grep -aqF "$text" theirs || fail "$file: $command of perf has no '$text'"
		cmp theirs mine || fail "$file: $command differs: $(diff theirs mine | head -5)"
	done
	grep -q '^ *SAMPLE events: ' mine || fail "$file: report -D printed no sums"
}

# Pipes, compressed records, values of groups, registers and stacks, data sources, losses.
test_raw_dump_of_other_recordings() {
	same_dump exec.pipe '@pipe [0x'
	same_dump exec.pipe ']: PERF_RECORD_TRACING_DATA'
	# what a record of a pipe says of the recorder stands behind it
	same_dump exec.pipe 'PERF_RECORD_FEATURE# hostname : ' --header
	same_dump exec.pipe 'PERF_RECORD_FEATURE# hostname : ' --header -I
	same_dump exec.pipe 'PERF_RECORD_FEATURE# hostname : ' -I
	same_dump compressed 'event: 9'
	same_dump values '.... group nr 3'
	same_dump small-stacks '... ustack: size '
	same_dump small-stacks '... user regs: mask 0x'
	same_dump per-thread 'PERF_RECORD_CPU_MAP: -1'
	same_dump namespaces ' - nr_namespaces: '
	same_dump namespaces 'PERF_RECORD_CGROUP cgroup: '
	same_dump namespaces '... time enabled : '
	same_dump namespaces '... time enabled : ' --time 0,1
	same_dump losses ': lost:'
	same_dump losses ': lost samples :'
	same_dump many.ours 'PERF_RECORD_SAMPLE'
}

test_raw_dump_of_report() {
	same_dump multi 'FINISHED_INIT: unhandled!'
	same_dump multi 'FINISHED_INIT: unhandled!' --header
	# what a filter leaves one value stands above the records
	for options in "--comm nobody" "--comm nobody --dso x,y" "--dso x" "--comm nobody --dso x -q" \
		"-s pid --comm nobody"; do
		perf_text report -D -i multi $options >theirs
		golden report -D -i multi $options >mine
		[ "$options" = "-s pid --comm nobody" ] || grep -aqE '^# (comm: nobody|dso: x)$' theirs ||
			fail "$options: perf has no line of the filter"
		cmp theirs mine || fail "$options differ: $(diff theirs mine | head -5)"
	done
	for export in --json --csv --folded --html=x --pprof=x; do
		expect_status 2 golden report -D $export -i multi
		assert_contains err "--dump-raw-trace cannot be used with"
	done
	golden report -D -i multi 2>err | head -n 1 >out
	[ ! -s err ] || fail "a closed pipe: $(cat err)"
}

test_bpf_output_bytes() {
	same out.ours
	assert_contains mine "BPF string: \"from below\""
}

# Recordings of perf-bpf, and of perf 7.2, which prints other blanks.
test_other_recorders() {
	for options in "" "--show-task-events --show-mmap-events" \
		"-F comm,pid,tid,time,event,ip,sym,dso,symoff"; do
		for name in many.ours many-g.ours; do
			same $name $options
		done
		perf_text script -i many.7.2 --no-inline $options | tr -s ' ' >theirs
		golden script -i many.7.2 --no-inline $options | tr -s ' ' >mine
		[ "$(wc -l <mine)" -gt 1000 ] || fail "many.7.2 $options: printed $(wc -l <mine) lines"
		diff theirs mine >diff.out || fail "many.7.2 $options: $(head diff.out)"
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
	golden script --json -i many-g >json
	perf_text script -G -i many-g -F comm,pid,tid,time,event >text
	json json "
assert len(samples) == $(wc -l <text), (len(samples), $(wc -l <text))
for line, s in zip(open('text', encoding='utf-8', errors='surrogateescape'), samples):
    comm, rest = line.strip().rsplit(None, 3)[0], line.split()
    assert line[:16].strip() == s['comm'] or s['comm'] in line, (line, s)
    assert rest[-1].rstrip(':') == s['event'], (line, s)
    assert '%d.%06d:' % (s['time'] // 10**9, s['time'] % 10**9 // 1000) == rest[-2], (line, s)
    assert '%d/%d' % (s['pid'], s['tid']) in line, (line, s)
writes = [s for s in samples if s['event'] == 'syscalls:sys_enter_write' and s['comm'] == 'rbpf_copy']
assert len([s for s in writes if s['fields']['count'] == 512]) == 200, len(writes)
assert all(type(s['fields']['fd']) is int and s['fields']['buf'].startswith('0x') for s in writes)
assert all(s['trace'].startswith('fd: 0x') for s in writes)
forks = [s for s in samples if s['event'] == 'sched:sched_process_exec']
assert any(s['fields']['filename'].endswith('/rbpf_twin') for s in forks), forks
chains = [s['chain'] for s in samples if 'chain' in s]
assert len(chains) == len(samples)
assert any(e.get('sym') == 'do_syscall_64' and e['dso'] == '[kernel.kallsyms]' for c in chains for e in c)
assert all(int(e['ip'], 16) >= 0 for c in chains for e in c)
"
	golden script --json -i many-g --show-task-events --show-mmap-events >json
	json json "
kinds = {x['type'] for x in r}
assert {'comm', 'fork', 'exit', 'mmap2', 'sample'} <= kinds, kinds
assert any(x['type'] == 'comm' and x['exec'] and x['comm'] == 'rbpf_twin' for x in r)
assert any(x['type'] == 'mmap2' and x['filename'].endswith('/rbpf_twin') for x in r)
"
	golden script --json -F comm,time -i many-g >json
	json json "assert all(set(s) == {'type', 'comm', 'time'} for s in samples)"
}

test_json_of_odd_names() {
	golden script --json -i odd-name >json
	json json "
name = b'odd\"\\\\\\xff\\x01\\xc3\\xa9'
want = name.decode('utf-8', 'surrogateescape')
assert any(s['comm'] == want for s in samples), {s['comm'] for s in samples}
assert any(s.get('fields', {}).get('filename', '').encode('utf-8', 'surrogateescape').endswith(name) for s in samples)
"
}

test_losses_are_said() {
	perf_text script --show-lost-events -i losses | grep PERF_RECORD_LOST >theirs
	golden script --show-lost-events -i losses 2>err | grep PERF_RECORD_LOST >mine
	cmp theirs mine || fail "the losses differ"
	grep -q 'losses: [0-9]* .* lost while recording' err || fail "not said: $(cat err)"
	golden script --json -i losses 2>/dev/null | grep '"type":"lost"' >json
	assert_equal "$(wc -l <json)" "$(wc -l <theirs)"
}

# Each sample with a copy of its stack has a frame; test_unwind.sh looks at the others.
test_stacks_that_are_unwound() {
	golden script -i stacks --no-inline -F tid,time,ip,sym >mine 2>err
	perf_text script -i stacks --no-inline -F tid,time,ip,sym >theirs
	awk '/^ *[0-9]+ +[0-9.]+:/ { head = $0; getline; print head, $1 }' mine >mine.first
	awk '/^ *[0-9]+ +[0-9.]+:/ { head = $0; getline; print head, $1 }' theirs >theirs.first
	diff theirs.first mine.first >diff.out || { head diff.out; fail "other first frames"; }
	awk 'NF == 0 && last ~ /: *$/ { exit 1 } { last = $0 }' mine || fail "a sample without a frame"
	perf_text script -i stacks -G >theirs
	golden script -G -i stacks >mine 2>err
	cmp theirs mine
	assert_equal "$(wc -c <err)" 0
	perf_text report --stdio -i stacks --no-children -g none -F overhead,comm,dso,sym |
		grep -v '^#' >theirs
	golden report -i stacks --no-children -g none -F overhead,comm,dso,sym 2>err |
		grep -v '^#' >mine
	diff theirs mine || fail "other shares"
	assert_equal "$(wc -c <err)" 0
}

test_errors() {
	expect_status 1 golden script -i no.data
	assert_contains err "no.data"
	expect_status 2 golden script -F comm,tiem -i flat
	assert_contains err "unknown field 'tiem'"
	assert_contains err "'time'"
	expect_status 2 golden script -F callindent -i flat
	assert_contains err "does not support field 'callindent'"
	expect_status 2 golden script -F comm,-time -i flat
	expect_status 1 golden script -F +addr -i flat
	assert_contains err "samples of 'cpu-clock"
	expect_status 2 golden script --time 9,8 -i flat
	expect_status 2 golden script -C nine -i flat
	expect_status 1 golden script -C 0 -i flat
	assert_contains err "samples of 'cpu-clock' have no CPU"
	expect_status 2 golden script --json --header -i flat
	assert_contains err "--header cannot be used with --json"
	expect_status 2 golden script flat
	head -c 100 "$FILES/flat" >cut.data
	expect_status 1 golden script -i "$PWD/cut.data"
	assert_contains err "cut.data"
	head -c $(($(stat -c %s "$FILES/flat") / 2)) "$FILES/flat" >half.data
	local status=0
	golden script -i "$PWD/half.data" >out 2>err || status=$?
	[ $status -le 1 ] || fail "half a file ends with $status"
	[ -s err ] || fail "half a file is read without a word"
}

test_reader_goes_away() {
	local status
	golden script -D -i addresses 2>err | head -n 1 >out
	status=${PIPESTATUS[0]}
	assert_equal "$status" 0
	assert_equal "$(wc -c <err)" 0
	status=0
	golden script -i addresses >/dev/full 2>err || status=$?
	assert_equal "$status" 1
	assert_contains err "cannot write the output: No space left on device"
}

run_tests
