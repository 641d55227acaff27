#!/usr/bin/env bash
# report: on recordings of linux-perf, line by line what perf report --stdio prints.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../golden/golden.sh"

# same NAME OPTION...: both print the same, but for perf's tip at the end and blank
# comments, and for "(inlined)" at "[...]", the sum of what is not shown: perf takes that
# from memory it never wrote (init_rem_hits() of tools/perf/ui/stdio/hist.c, 6.1), so that
# it comes and goes. perf 6.1 does not show inlined functions in chains of frame pointers.
same() {
	local name=$1 mine=0
	shift
	set -- -i "$name" --no-inline "$@"
	perf_text report --stdio "$@" | sed '/^# (.*)$/,$d; /^#$/d; s/\[\.\.\.\] (inlined)/[...]/' >theirs
	golden report "$@" 2>mine.err </dev/null >mine.all || mine=$?
	[ $mine = 0 ] || fail "report $*: ended with $mine: $(cat mine.err)"
	sed '/^#$/d' mine.all >mine
	[ "$(wc -l <theirs)" -gt 3 ] || fail "perf report $*: printed nothing"
	[ -z "${LINELESS-}" ] || sed -Ei "$LINELESS" theirs mine
	if ! cmp -s theirs mine; then
		diff theirs mine | head -20 | sed 's/^/# /'
		fail "report $*: differs from perf report in $(diff theirs mine | grep -c '^[<>]') lines"
	fi
}

# Lines of the source, and offsets where there are none, as in the kernel.
test_lines_of_addresses() {
	for options in "-g address" "-g caller,address,0" "--no-children -g flat,address" \
		"-g fractal,0,callee,address" "-g folded,address,0" "-g graph,address -v"; do
		# perf takes the file of what has no line (assembly) from the symbol table
		LINELESS='s/_start (work\.c:0|\+[0-9]+)/_start/' same clock $options
		grep -q ' work\.c:[1-9][0-9]*' mine || fail "$options: no lines"
		grep -q ' +[1-9][0-9]*' mine || fail "$options: no offsets"
	done
	same clock -g caller
	! grep -q 'work\.c:' mine || fail "functions have lines"
}

# Of each recorder.
test_flat_profile_is_perfs() {
	for name in flat flat.7.2 flat.ours; do
		same $name
		same $name -n --show-total-period
		same $name -v
		same $name --show-cpu-utilization
	done
}

test_call_trees_are_perfs() {
	same clock
	grep -q -- '--deeper$' mine || fail "no tree in the report"
	# perf 7.2 has another mark for callers in the kernel
	same clock.7.2 --no-children
	same clock.ours
	same clock.ours --no-children -g caller
	same clock --no-children
	same clock --no-children -G
	same clock -g graph,0.5,callee
	same clock -g fractal,1
	same clock -g flat
	same clock -g folded,0,callee
	same clock -g period
	same clock -g count,2
	same clock -g none
	same clock --max-stack 3
}

test_sort_keys_and_columns_are_perfs() {
	for keys in comm dso sym comm,dso dso,sym comm,dso,symbol pid cpu time +cpu overhead,comm \
		symbol_size sym,symbol_size; do
		same clock -s $keys
	done
	same clock -F overhead,comm,sym,sample
	same clock -F +period
	same clock -s parent -p 'left|right'
	same clock -x -p 'left|right' -s comm,dso,sym
	same clock -t ,
	same clock -w 12,8,7
}

# Symbols are not looked up then, but for the width of a column.
test_tables_without_functions_are_perfs() {
	for name in clock users small many-g jobs.7.2; do
		same $name -s dso -g none
		same $name -s comm,dso -g none
		same $name -s comm,dso -g none --no-children
		same $name -s pid,dso -g none
	done
	! grep -q 'frame pointers' err || fail "symbols were looked up for a hint: $(cat err)"
}

test_times_are_perfs() {
	for opts in --ns "--time-quantum 1ms" "--time-quantum 500us --ns" "--time-quantum 1s" \
		"--time-quantum 1500000"; do
		same flat -s time $opts
	done
	for wrong in 0 0ms ms 1h -1ms 1.5ms; do
		expect_status 2 golden report -i flat --time-quantum=$wrong
		assert_contains err "--time-quantum: '$wrong' is not a time"
	done
}

# The events of this machine have no weights: rows are those of 0. Of the kernel perf 6.1 has another
# size than that of its code.
test_numbers_of_samples_are_perfs() {
	for keys in addr addr,sym weight local_weight,sym weight,ins_lat,local_ins_lat \
		code_page_size,sym dso,code_page_size,weight; do
		same numbers -s $keys
	done
	same users -s dso_size
	same users -s comm,dso_size,dso
}

# A key that perf 6.1 does not have.
test_digits_of_commands() {
	same jobs.7.2 -s comm_nodigit
	same jobs.7.2 -F sample,comm_nodigit,dso
	grep -q ' job<N>-a ' mine || fail "the jobs have no rows: $(cat mine)"
}

# With the caller first, perf drops the callers instead of the callees: here they are dropped alike,
# so that the rows are those of the other order.
test_callees_are_ignored() {
	same clock --no-children --ignore-callees '^(left|right)$'
	grep -q ' left *$' mine || fail "left has no row"
	same clock --children -g callee --ignore-callees 'deeper'
	same clock --no-children --ignore-callees 'no such function'
	same clock --no-children -g none --ignore-callees 'no such function'
	# The model is script's chains: a sample at the first or last instruction of a function has no
	# frame of its caller, so that there may be no work in it.
	golden script --json --no-inline -i clock -F ip,sym >script
	for order in callee caller; do
		golden report -i clock --ignore-callees '^work$' -g $order >report
		grep ' *[0-9.]*%.*%' report >$order || fail "$order: no rows"
		golden report --json --no-inline -i clock --ignore-callees '^work$' -g $order -s sym >json
		python3 - <<-'END' || fail "$order: other callees are ignored"
			import collections, json
			names = "work", "deeper", "left", "right", "spin", "touch", "fresh", "say"
			want, got = collections.Counter(), collections.Counter()
			for s in map(json.loads, open("script")):
			    if s["type"] == "sample":
			        chain = [f.get("sym") for f in s["chain"]]
			        want["work" if "work" in chain else chain[0]] += 1
			table, = (r for r in map(json.loads, open("json")) if r["kind"] == "table")
			for row in table["rows"]:
			    got[row["symbol"]] += row["sample"]
			print([(name, want[name], got[name]) for name in names])
			assert want["work"] and all(want[name] == got[name] for name in names)
		END
	done
	sort callee | diff - <(sort caller) || fail "the rows depend on the order of the chains"
	expect_status 2 golden report -i clock --ignore-callees '('
	assert_contains err "--ignore-callees: '('"
	expect_status 2 golden report -i flat --ignore-callees work
	assert_contains err "--ignore-callees needs call chains"
}

# rows FILE: the table's rows without their padding, which perf chooses by the field's type
rows() {
	sed '/^#/d; s/^ *//; s/ *$//; s/  */ /g; /^$/d' "$1" | LC_ALL=C sort
}

test_fields_of_tracepoints_are_keys() {
	for keys in ret id,comm ret,id sys_exit_write.ret raw_syscalls:sys_enter.id/raw; do
		perf_text report --stdio -i fields -s $keys >theirs
		golden report -i fields -s $keys >mine </dev/null
		rows theirs >theirs.rows
		rows mine >mine.rows
		[ "$(wc -l <mine.rows)" -ge 3 ] || fail "-s $keys: printed nothing"
		diff theirs.rows mine.rows | sed 's/^/# /'
		cmp -s theirs.rows mine.rows || fail "-s $keys: rows differ from perf report's"
	done
	# numbers in their order, where shares are the same
	golden report -i fields -s ret/raw -t, >mine </dev/null
	assert_equal "$(grep -c '^# Overhead, *ret' mine)" 1
	expect_status 2 golden report -i fields -s rett
	assert_contains err "unknown sort key 'rett'"
	assert_contains err "did you mean 'ret'"
	expect_status 2 golden report -i fields -s raw_syscalls:sys_exit.ret
	assert_contains err "unknown sort key"
}

# same_rows NAME OPTION...: rows and columns are perf's
same_rows() {
	perf_text report --stdio -i "$@" >theirs
	golden report -i "$1" "${@:2}" >mine </dev/null || fail "${*:2}: $?"
	rows theirs >theirs.rows
	rows mine >mine.rows
	[ "$(wc -l <mine.rows)" -ge 2 ] || fail "${*:2}: printed nothing"
	diff theirs.rows mine.rows | sed 's/^/# /'
	cmp -s theirs.rows mine.rows || fail "${*:2}: rows differ from perf report's"
	diff <(grep '^# Overhead' theirs | tr -s ' ') <(grep '^# Overhead' mine | tr -s ' ') ||
		fail "${*:2}: other columns"
}

# All fields of each event as keys, and fields as they are stored.
test_raw_trace() {
	for how in --raw-trace "-s trace --raw-trace" "-s ret,comm --raw-trace" "-s trace_fields/raw" \
		"-s syscalls:sys_enter_write.*/raw" "-s comm,sys_exit_write.*/raw"; do
		same_rows raw $how
	done
	for how in "-s comm,trace_fields" "-s sched_process_exit.*" --raw-trace; do
		same_rows named $how
	done
	# each event has the names of its own
	golden report -i raw --raw-trace --json >json </dev/null
	python3 - json <<-'END' || fail "$(head -c 2000 json)"
		import json, sys
		tables = [t for t in map(json.loads, open(sys.argv[1])) if t["kind"] == "table"]
		names = [[c["name"] for c in t["columns"]] for t in tables]
		assert names == [["overhead", "__syscall_nr/raw", "ret/raw", "sample"],
			["overhead", "__syscall_nr/raw", "fd/raw", "buf/raw", "count/raw", "sample"]], names
	END
	# nothing changes where there are no tracepoints
	golden report -i flat >mine </dev/null
	golden report -i flat --raw-trace </dev/null | diff mine - || fail "not the same"
}

# An event without call chains has those of the other, whose samples are beside its own. The rings have
# room for all of both, whenever perf reads: it would lose more of one event than of the other.
test_reference_call_graph() {
	# perf shows no chains of functions that have samples of their own
	same ref --show-ref-call-graph -g none
	grep -q "event 'minor-faults/call-graph=no/', show reference callgraph$" mine || fail "$(cat mine)"
	same ref --show-ref-call-graph -s comm,sym -g none
	# both events have the same chains
	for children in --children --no-children; do
		golden report -i ref $children -s sym --show-ref-call-graph >both
		sed -n "/of event 'page-faults/,/^# Samples.*minor/p" both | grep -v '^#' | grep . >first
		sed -n "/of event 'minor-faults/,\$p" both | grep -v '^#' | grep . >second
		grep -q -- '--deeper' first || fail "$(cat both)"
		diff first second || fail "$children: the chains are others"
	done
	golden report -i ref --no-children -s sym >both
	! sed -n "/of event 'minor-faults/,\$p" both | grep -- '--' || fail "there are chains"
	# each thread has its own; a sample before the first chain has none
	golden report -i refs --no-children -s sym --show-ref-call-graph >both
	sed -n "/of event 'page-faults/,/^# Samples.*minor/p" both | grep -v '^#' | grep -v '^$' >first.rows
	sed -n "/of event 'minor-faults/,\$p" both | grep -v '^#' | grep -v '^$' | diff first.rows - ||
		fail "the chains are those of other threads"
	expect_status 2 golden report -i flat --show-ref-call-graph
	assert_contains err "--show-ref-call-graph needs call chains"
}

test_filters_are_perfs() {
	same clock -c rbpf_work
	same clock -c rbpf_work,rbpf_other
	# with children, perf 6.1 counts other samples in rows of callers
	same clock -d rbpf_work --no-children
	same clock -S spin --no-children
	same clock -S spin,touch --percentage relative --no-children
	same clock --percent-limit 3
	same clock -U
	same clock -q
	# TEXT is for the name of each entry, not for those that it called
	for opts in spin "spin --no-children" "spin --percentage relative" "--symbol-filter ft" \
		"--symbol-filter ft -g none -c rbpf_work"; do
		same clock $opts
	done
	# -x without -p: by perf's pattern for parents, which nothing here matches
	same clock -x
	same clock -x -s comm --no-children
	same clock -x -s parent,comm
}

test_several_events_forks_and_exec_are_perfs() {
	same multi
	same multi --no-children
	same multi -s comm,sym -g none
	# the address behind a function is that of a sample of the row's own process
	same multi -v
	same multi --no-group
	same multi
	grep -q "of event 'page-faults'" mine || fail "an event is missing"
	grep -q '^ .*rbpf_other' mine || fail "the process after exec is missing"
}

test_tracepoints_are_perfs() {
	same trace
	grep -q 'count: 0x' mine || fail "the fields are missing"
	same trace -s comm,trace
	same trace -s comm,dso,sym
}

# Without BPF programs of others, which the file lists when they are loaded just then.
test_header_is_perfs() {
	same head --header
	same head --header-only
	same head --header-only -I
}

# A record that is too short for its type is named with its place, as perf 7.2 does.
test_short_record_is_named() {
	cp "$FILES/flat.ours" short
	place=$(golden report -D -i "$PWD/short" 2>/dev/null | awk '/PERF_RECORD_MMAP2/ { print $2; exit }')
	python3 - short "$place" <<-'END'
		import struct, sys
		with open(sys.argv[1], "r+b") as f:
		    f.seek(int(sys.argv[2], 16) + 6)
		    f.write(struct.pack("=H", 16))
	END
	expect_status 1 golden report -i "$PWD/short"
	assert_contains err "at offset $place: MMAP2 (10): "
}

# A column for each event of a group; rows that only one of them has, too.
test_groups_are_perfs() {
	same group
	grep -q "of events 'anon group { cpu-clock, page-faults }'" mine || fail "no group"
	same group.ours
	same group.7.2 --no-children
	same group --no-group
	grep -q "of events 'cpu-clock'" mine || fail "the leader's table is not as perf has it"
	for words in "-s comm -g none" "-n --show-total-period --no-children -g none" \
		"-w 4,5,6 -g none" "-t, -g none" "--percent-limit 1 -g caller"; do
		same group $words
	done
	same group -v
	same reads
	same reads --percentage relative --comms rbpf_other
	same single --group
	grep -q "of events 'cpu-clock, page-faults'" mine || fail "no group was made"
}

# By the shares of another event of the group; a member that there is not leaves the leader alone.
test_groups_by_another_event() {
	for words in "0 -s comm" "1 -s sym" "1 -s comm,dso" "2 -s comm"; do
		same group --no-children -g none --group-sort-idx $words
	done
	# the event outside the group has a table of its own
	golden report -i group --no-children -g none -s sym --group-sort-idx 1 -t, |
		awk '/^# Samples/ { group = /anon group/ } group && /^ *[0-9]/ { print $2 }' >shares
	sort -c -g -r shares || fail "the rows are not in the order of the second event"
	[ "$(sort -u shares | wc -l)" -gt 1 ] || fail "the second event has one share only"
}

# The samples of one socket: each machine has one with the number 0.
test_samples_of_a_socket() {
	same sockets --socket-filter 0 -s comm,socket
	grep -q '^# Processor Socket: 0' mine || fail "the head does not name the socket"
	golden report -i sockets --socket-filter 200 -q >mine
	if grep % mine; then
		fail "samples of a socket that there is not"
	fi
	if golden report -i sockets --socket-filter x 2>err; then
		fail "a socket that is not a number"
	fi
	assert_contains err "--socket-filter: 'x' is not a number"
}

# Options of perf that change nothing here.
test_accepted_options() {
	golden report -i flat >wanted
	golden report -i flat -m --stdio-color never --asm-raw -M intel --no-source >got
	cmp wanted got || fail "what is accepted changes the report"
	same flat --ignore-vmlinux -s sym
	if golden report -i flat --stdio-color always 2>err; then
		fail "text with colors"
	fi
	assert_contains err "--stdio-color: text has no colors"
	golden script -i flat --merge-callchains -F ip >got || fail "script"
	"$PERF_BPF" record --dry-run --num-thread-synthesize 2 -o none -- true || fail "record"
	if "$PERF_BPF" top --num-thread-synthesize 0 2>err; then
		fail "top without threads"
	fi
	assert_contains err "--num-thread-synthesize: '0' is not a number from 1 on"
}

# Newer types of records are counted too: none of them is in a recording of this perf.
test_numbers_of_records_are_perfs() {
	for name in flat group flat.ours; do
		same $name --stats
		same $name --stats -c rbpf_work
		perf_text report --stats --no-skip-empty -i "$name" >theirs
		golden report --stats --no-skip-empty -i "$name" | sed '/COMPRESSED2/d' >mine
		diff theirs mine >diff.out || { cat diff.out; fail "--no-skip-empty differs"; }
		grep -q 'LOST events: *0' mine || fail "types without records are missing"
	done
	expect_status 2 golden report --stats --json -i flat
	assert_contains err "--stats cannot be used with --json"
}

# perf 6.1 has children in the order of a hash table.
test_tasks_are_perfs() {
	for name in flat group; do
		for what in --tasks --mmaps; do
			perf_text report $what -i "$name" | sort >theirs
			golden report $what -i "$name" >mine.all
			sort mine.all >mine
			[ "$(wc -l <theirs)" -gt 3 ] || fail "perf printed nothing"
			diff theirs mine >diff.out || { cat diff.out; fail "$what of $name differs"; }
			assert_equal "$(head -1 mine.all)" "#      pid      tid     ppid  comm"
		done
	done
	expect_status 0 golden report --tasks --header -i flat
	assert_contains out "# hostname"
	expect_status 2 golden report --mmaps --csv -i flat
	assert_contains err "--mmaps cannot be used with"
}

# perf writes its list without ends of lines.
test_counts_of_threads_are_perfs() {
	for name in counts counts.7.2 counts.ours; do
		for style in normal raw; do
			perf_text report --stdio -T --pretty $style -i "$name" >theirs.all
			echo >>theirs.all
			sed -n '/^#  *PID/,$p' theirs.all | tr -s ' \n' '\n\n' >theirs
			golden report -T --pretty $style -i "$name" |
				sed -n '/^#  *PID/,$p' >mine.all
			tr -s ' \n' '\n\n' <mine.all >mine
			[ "$(wc -l <theirs)" -gt 6 ] || fail "perf printed nothing"
			cmp -s theirs mine || fail "$style of $name differs: $(diff theirs mine)"
		done
	done
	expect_status 0 golden report -T -i flat
	assert_contains err "has no counts of threads; record --stat writes them"
	expect_status 2 golden report -T --json -i flat
	assert_contains err "--threads cannot be used with --json"
	expect_status 2 golden report -T --pretty nice -i flat
	assert_contains err "'nice' is neither normal nor raw"
}

test_hierarchies_are_perfs() {
	for name in flat clock clock.ours group; do
		for keys in comm dso,sym comm,dso,sym '{comm,dso},sym' pid,cpu +cpu overhead,comm \
			comm,overhead symbol time,comm; do
			same $name --hierarchy -s "$keys"
		done
		same $name --hierarchy
		same $name --hierarchy -t, -n -s comm,dso
		same $name --hierarchy -w 4,5 --show-total-period --show-cpu-utilization
		same $name --hierarchy -v -s dso,sym
	done
	# a command is shown, and none of its objects has as much
	golden report --json --hierarchy -i clock >out
	local limit=$(python3 - out <<-'END'
		import json, sys

		table = next(r for r in map(json.loads, open(sys.argv[1])) if r["kind"] == "table")
		most = {level: max(row["overhead"] for row in table["rows"] if row["level"] == level)
		        for level in (1, 2)}
		assert most[2] < most[1], most
		print("%.2f" % ((most[1] + most[2]) / 2 / table["period"] * 100))
	END
	)
	same clock --hierarchy --percent-limit "$limit" -g none
	grep -q "^ *no entry >= $limit%\$" mine || fail "nothing says that rows are hidden"
	same clock --hierarchy -c rbpf_work
	grep -q 'Command / Shared Object' mine || fail "the level of commands is missing"
	same clock --hierarchy -c rbpf_work --percentage relative -g caller -s comm,dso
	same clock --hierarchy -s comm,sym -g folded
	same clock --hierarchy -s parent,sym -p 'left|right' -x
	same clock --hierarchy -G -s sym
	same group --hierarchy --no-group -s comm,dso
}

# Rows of the lower levels are parts of those of the upper ones, also when a filter hides samples.
test_hierarchies_as_data() {
	for opts in "" "-d rbpf_work" "-S spin,touch"; do
		golden report --json --hierarchy $opts -i clock >out
		python3 - out <<-'END' || fail "--hierarchy --json $opts: the rows do not add up"
			import json, sys

			table = next(r for r in map(json.loads, open(sys.argv[1])) if r["kind"] == "table")
			rows, keys = table["rows"], ["comm", "dso", "symbol"]
			sums = {}
			for row in rows:
			    path = tuple(row[key] for key in keys[:row["level"]])
			    assert all(row[key] is None for key in keys[row["level"]:]), row
			    sums[path[:-1]] = sums.get(path[:-1], 0) + row["overhead"]
			assert sums[()] == table["shown_period"], sums[()]
			for row in rows:
			    path = tuple(row[key] for key in keys[:row["level"]])
			    assert row["level"] == 3 or sums[path] == row["overhead"], row
			assert {row["level"] for row in rows} == {1, 2, 3}
		END
	done
	expect_status 2 golden report --hierarchy -F comm -i clock
	assert_contains err "--hierarchy and --fields cannot be used together"
}

test_groups_as_data() {
	golden report --json -i group >out
	python3 - out <<-'END' || fail "the table of the group is wrong"
		import json, sys

		def once(pairs):
		    assert len(dict(pairs)) == len(pairs), pairs
		    return dict(pairs)

		results = [json.loads(line, object_pairs_hook=once) for line in open(sys.argv[1])]
		tables = [r for r in results if r["kind"] == "table"]
		stacks = {r["event"]: r for r in results if r["kind"] == "stacks"}
		assert [t["event"] for t in tables] == [
		    "minor-faults", "anon group { cpu-clock, page-faults }"], tables
		for event in tables[1]["events"]:
		    name = event["event"]
		    total = sum(row[name + ":overhead"] for row in tables[1]["rows"])
		    percent = sum(row[name + ":overhead_percent"] for row in tables[1]["rows"])
		    assert total == event["period"] == stacks[name]["total"], name
		    assert abs(percent - 100) < 0.1, (name, percent)
	END
	golden report --csv -i group -s comm >out
	assert_contains out ",cpu-clock:overhead,page-faults:overhead,comm"
	golden report --csv --no-group -i group -s comm >out
	grep -q cpu-clock: out && fail "there is still a group"
	true
}

test_pipe_is_read() {
	# Without a list of build ids at its head, chains of one weight in two binaries come in the
	# order of perf's memory.
	golden report --no-inline -g folded -i - <"$FILES/piped" | sed '/^#$/d' | sort >mine
	perf_text report --stdio -g folded -i piped | sed '/^# (.*)$/,$d; /^#$/d' | sort >theirs
	grep -q ';deeper;' theirs || fail "perf printed no chains"
	diff theirs mine >diff.out || { head -20 diff.out; fail "differs from perf report"; }
	grep -q deeper mine || fail "no symbols"
}

test_errors_say_what_to_do() {
	expect_status 1 golden report -i no_such_file
	assert_contains err "no_such_file"
	assert_contains err "No such file or directory"
	assert_contains err "hint: "
	assert_contains err "record"
	expect_status 2 golden report -i flat -s comm,symbl
	assert_contains err "unknown sort key 'symbl'"
	assert_contains err "did you mean 'symbol'"
	assert_contains err "dso, symbol"
	expect_status 2 golden report -i flat -g graph
	assert_contains err "has none"
	assert_contains err "record with -g"
	expect_status 2 golden report -i flat -g garbage
	assert_contains err "'garbage'"
	expect_status 2 golden report -i flat --time 5
	assert_contains err "START,STOP"
	head -c 3000 "$FILES/flat" >cut
	status=0
	golden report -i "$PWD/cut" >out 2>err || status=$?
	[ $status = 0 ] || [ $status = 1 ] || fail "a cut file ended with $status"
	status=0
	golden report -i flat >/dev/full 2>err || status=$?
	[ $status = 1 ] || fail "a full disk ended it with $status"
	assert_contains err "No space left on device"
	echo rubbish >rubbish
	expect_status 1 golden report -i "$PWD/rubbish"
	assert_contains err rubbish
}

# A recording of our own, in which a BPF program burns most of the time.
test_bpf_programs_have_names() {
	same bpf.ours
	same bpf.ours --no-children
	grep -q '\[k\] bpf_prog_[0-9a-f]*_rbpf_heavy$' mine || fail "the program is not in the report"
	same bpf.ours --no-children -v -g none
}

# Cut and flipped recordings: a report or an error, never a crash or a hang.
test_damaged_recordings_are_no_danger() {
	cp "$FILES/kallsyms" .
	python3 - "$PERF_BPF" "$FILES/small" >log <<-'END' || { tail -n 20 log; fail "it did not survive"; }
		import subprocess, sys
		whole = open(sys.argv[2], "rb").read()
		step = max(1, len(whole) // 120)
		runs = 0
		def run(data, what):
		    global runs
		    runs += 1
		    open("damaged", "wb").write(data)
		    p = subprocess.run([sys.argv[1], "report", "-i", "damaged", "--kallsyms", "kallsyms", "-g", "fractal,0"],
		                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)
		    if p.returncode not in (0, 1, 2) or b"Sanitizer" in p.stderr or b"runtime error" in p.stderr:
		        print(what, p.returncode, p.stderr.decode(errors="replace"))
		        sys.exit(1)
		    if p.returncode == 1 and b"error:" not in p.stderr:
		        print(what, "failed without a word")
		        sys.exit(1)
		for at in range(0, len(whole), step):
		    flipped = bytearray(whole)
		    flipped[at] ^= 0xff
		    run(flipped, f"byte {at} flipped")
		    run(whole[:at], f"cut at {at}")
		print(runs, "runs")
	END
	grep -q 'runs$' log || fail "nothing ran"
}

test_closed_pipe_ends_it_quietly() {
	golden report -i clock -g fractal,0 2>err | head -n 1 >out
	assert_contains out "#"
	[ ! -s err ] || fail "it complained: $(cat err)"
}

# As perf: C++ functions have their parameters with -v alone.
test_parameters() {
	local function='shop::touch(char*, unsigned long)'
	golden report -v -s sym -i touch >out 2>err
	assert_contains out "$function"
	golden report -s sym -i touch >out 2>err
	assert_contains out "shop::touch"
	! grep -qF "$function" out || fail "parameters without -v: $(cat out)"
	for options in "" -v; do
		perf_text script --no-inline $options -F ip,sym -i touch >theirs
		golden script --no-inline $options -F ip,sym -i touch 2>/dev/null >out
		diff theirs out >diff.out || fail "script $options: $(head diff.out)"
	done
	assert_contains out "$function"
}

run_tests
