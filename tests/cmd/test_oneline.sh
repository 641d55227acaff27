#!/usr/bin/env bash
# perf-bpf run 'EVENT { BODY }': its numbers against those of a workload that counts for itself.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"
. "$(dirname "$0")/oneline.sh"

# The workload is known by its name: one run of these tests at a time.
exec 9<"$0"
flock -w 600 9 || exit 1

test_histograms_of_a_field_by_key() {
	make_workload
	run 'syscalls:sys_exit_umask { hist(args->ret, comm); hist(args->ret - 1); }' --json -- \
		./pbt_line call umask 1 5 , call umask 3 9 , call umask 1 0
	# the former mask is returned: the shell's 18, then 5, 9, 9, 9
	holds '
h, = m["hist"]["hists"]
assert h["key"]["comm"] == "pbt_line" and slots(h) == [(4, 7, 1), (8, 15, 3), (16, 31, 1)], h
assert m["hist"]["title"] == "args->ret by comm"
assert not m["hist_negative"]["rows"]
assert slots(m["hist_2"]["hists"][0]) == [(4, 7, 1), (8, 15, 3), (16, 31, 1)]
assert m["hist_2_negative"]["count"] == 0'
}

test_values_below_0_are_counted_apart() {
	make_workload
	run 'syscalls:sys_exit_close { hist(args->ret, comm); hist(args->ret); }' --json -- \
		./pbt_line call close 7 -1
	holds '
assert rows("hist_negative", "comm", "value") == [("pbt_line", 7)], m
assert m["hist_2_negative"]["count"] == 7, m'
}

test_counts_and_sums() {
	make_workload
	run 'syscalls:sys_enter_umask { count(); count(args->mask, comm); sum(args->mask); sum(args->mask, pid, tid); if (args->mask == 3) count(); }' \
		--json -- ./pbt_line call umask 4 3 , call umask 2 10 , pid
	pid=$(grep -x '[0-9]*' json)
	holds "
assert m['counts']['count'] == 6 and m['counts_3']['count'] == 4, m
assert rows('counts_2', 'mask', 'comm', 'value') == [(3, 'pbt_line', 4), (10, 'pbt_line', 2)], m
assert m['sums']['count'] == 32, m
assert rows('sums_2', 'pid', 'pid_text', 'tid', 'value') == [($pid, 'pbt_line($pid)', $pid, 32)], m"
}

test_events_have_fields_and_strings() {
	make_workload
	echo x >a.txt
	run 'syscalls:sys_enter_openat { if (args->flags == 0) print(args->dfd, str(args->filename), pid); }' \
		--json -- ./pbt_line opens 2 a.txt , pid
	pid=$(grep -x '[0-9]*' json)
	holds "
assert [(e['dfd'], e['filename'], e['pid']) for e in events('prints') if e['filename'] == 'a.txt'] == \
	[(-100, 'a.txt', $pid)] * 2, events('prints')"
	run 'syscalls:sys_enter_openat { if (args->flags == 0) printf("%s[%d] opens %-8s|%#x %5d%%\n", comm, pid, str(args->filename, 16), 255, -4); }' \
		-- ./pbt_line opens 2 a.txt , pid
	pid=$(grep -x '[0-9]*' json)
	assert_equal "$(grep -cxF "pbt_line[$pid] opens a.txt   |0xff    -4%" json)" 2
}

test_strings_are_compared() {
	make_workload
	run 'syscalls:sys_enter_umask { if (comm == "pbt_line") count(); if (comm != "pbt_line") count(); if (comm == "pbt_lin") count(); }' \
		--json -- ./pbt_line call umask 3 18
	holds 'assert [m[n]["count"] for n in ("counts", "counts_2", "counts_3")] == [3, 0, 0], m'
}

test_stacks() {
	make_workload
	run 'syscalls:sys_enter_umask { count(ustack); } syscalls:sys_exit_umask { count(args->ret, ustack); }' \
		--json -- ./pbt_line in work_outer,work_inner call umask 6 7
	holds '
assert sum(s["count"] for s in m["counts"]["stacks"]) == 6, m
assert any("work_inner" in str(s) for s in m["counts"]["stacks"]), m["counts"]
assert sum(r["value"] for r in m["counts_2"]["rows"]) == 6, m
assert all("work_outer" in r["ustack_text"] for r in m["counts_2"]["rows"]), m["counts_2"]'
}

test_several_events_and_globs_share_maps() {
	make_workload
	run 'syscalls:sys_enter_umask, syscalls:sys_exit_umask { count(); } syscalls:sys_enter_[gs]etprior* { count(args->which); }' \
		--json -- ./pbt_line call umask 3 18 , call 140 4 0 , call 141 2 1
	holds '
assert m["counts"]["count"] == 6, m
assert rows("counts_2", "which", "value") == [(0, 4), (1, 2)], m'
}

test_the_source_runs_by_itself() {
	make_workload
	text='syscalls:sys_enter_umask { if (args->mask > 4) { count(args->mask); } else hist(args->mask, comm); }'
	"$PERF_BPF" run --source "$text" >grown.bpf.c
	run grown.bpf.c --json -- ./pbt_line call umask 2 3 , call umask 5 9
	mv json of_file
	run "$text" --json -- ./pbt_line call umask 2 3 , call umask 5 9
	holds '
assert rows("counts", "mask", "value") == [(9, 5)], m
assert slots(m["hist"]["hists"][0]) == [(2, 3, 2)], m'
	for file in json of_file; do
		sed -E 's/"(time_ns|span_ns)":[0-9]*,//g' $file >$file.same
	done
	diff json.same of_file.same || fail "the C file counts something else"
}

test_a_file_and_stdin() {
	make_workload
	printf '#!/usr/bin/env -S perf-bpf run\n// how often\nsyscalls:sys_enter_umask {\n\tcount(args->mask); // each\n\t/* } */\n}\n' >masks
	run masks --json -- ./pbt_line call umask 2 3
	holds 'assert rows("counts", "mask", "value") == [(3, 2)], m'
	run - --json -- ./pbt_line call umask 2 3 <masks
	holds 'assert rows("counts", "mask", "value") == [(3, 2)], m'
}

test_other_outputs() {
	make_workload
	text='syscalls:sys_enter_umask { count(args->mask); hist(args->mask); }'
	run "$text" --csv -- ./pbt_line call umask 2 3
	grep -q '^counts,.*3,2' json || grep -q '3,2$' json || { cat json; fail "no CSV"; }
	run "$text" --html page.html -- ./pbt_line call umask 2 3
	assert_contains page.html 'syscalls:sys_enter_umask by args-'
	run "$text" --cost -- ./pbt_line call umask 2 3
	grep -q on_sys_enter_umask json || { cat json; fail "no cost"; }
	run "$text" -- ./pbt_line call umask 2 3
	assert_contains json 'syscalls:sys_enter_umask by args->mask:'
}

test_full_maps_are_said() {
	make_workload
	"$PERF_BPF" run --comm pbt_line --map-entries counts=2 'syscalls:sys_enter_umask { count(args->mask); }' \
		-- ./pbt_line call umask 1 1 , call umask 1 2 , call umask 4 3 >json 2>err
	assert_contains json 'full: 4 updates failed'
}

# refused TEXT COLUMN MESSAGE: it is an error at that column of the text.
refused() {
	local status=0
	"$PERF_BPF" run "$1" -- true >out 2>err || status=$?
	[ $status = 2 ] || { cat err; fail "'$1' ended with $status"; }
	assert_contains err "program, column $2:"
	assert_contains err "$3"
	! grep -q 'generated\|bpf\.c' err || { cat err; fail "'$1': the C file is named"; }
}

test_wrong_programs_name_the_column() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	refused 'syscalls:sys_exit_reed { count(); }' 1 "'syscalls:sys_exit_read'"
	refused 'syscalls:sys_exit_read { count(args->rte); }' 38 "did you mean 'ret'?"
	refused 'syscalls:sys_exit_read { cuont(); }' 26 "did you mean 'count'?"
	refused 'syscalls:sys_exit_read { count(; }' 31 "this '(' is not closed"
	refused 'syscalls:sys_exit_read { count()); }' 33 "no '(' is open here"
	refused 'syscalls:sys_exit_read { count(); ' 24 "this brace is not closed"
	refused 'syscalls:sys_exit_read { }' 25 "this body is empty"
	refused 'syscalls:sys_exit_read { hist(); }' 31 "a value is missing here"
	refused 'syscalls:sys_exit_read { hist(comm); }' 31 "this is a string, not a number"
	refused 'syscalls:sys_exit_read { count(1,,2); }' 34 "a value is missing here"
	refused 'syscalls:sys_exit_read { printf("%d %d", 1); }' 37 "the value for this conversion is missing"
	refused 'syscalls:sys_exit_read { printf("%d", comm); }' 34 "this conversion is for numbers"
	refused 'syscalls:sys_exit_read { printf("%d", 1, 2); }' 42 "the format has no conversion for this value"
	refused 'read { count(); }' 1 "'read' is not an event"
}

# What clang and the verifier say is about the typed text.
test_messages_of_the_compiler_name_the_column() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	refused 'syscalls:sys_exit_read { count(); int x = coom; }' 43 "did you mean 'comm'?"
	refused 'syscalls:sys_exit_read { int x = 3 count(); }' 34 "expected ';'"
	refused 'syscalls:sys_exit_read { count(args->ret / 3); }' 42 "BPF cannot divide numbers with a sign"
	refused 'syscalls:sys_exit_read { if (pid) { count(pid; } }' 42 "this '(' is not closed"
	refused 'syscalls:sys_exit_read { wrong(3); }' 26 "wrong"
	refused 'syscalls:sys_exit_read { count(task.pid); }' 36 "member reference type"
	refused 'syscalls:sys_exit_read { struct nothing n; }' 41 "incomplete type"
	printf 'syscalls:sys_exit_read {\n\tcount(pid);\n\tcount(pidd);\n}\n' >text
	expect_status 2 "$PERF_BPF" run text -- true
	assert_contains err 'text, line 3, column 8:'
	assert_contains err "did you mean 'pid'"
}

test_messages_of_the_verifier_name_the_column() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	expect_status 1 "$PERF_BPF" run 'syscalls:sys_exit_read { count(); while (1) count(); }' -- true
	grep -qE 'program, column 26:' err || { cat err; fail "no column"; }
	assert_contains err 'the loop may never end'
	expect_status 1 "$PERF_BPF" run 'syscalls:sys_exit_read { char *p = (void *)nsecs; count(*p); }' -- true
	assert_contains err 'program, column 57:'
	assert_contains err 'this dereferences a number'
}

run_tests
