#!/usr/bin/env bash
# perf-bpf run: maps of every shape, their values against those that the program put there.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

# The workload is known by its name: one run of these tests at a time.
exec 9<"$0"
flock -w 600 9 || exit 1

PROG=$SRC/tests/cmd/shapes.bpf.c

# "call getpgid N i" calls getpgid(i) for each i below N.
make_workload() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	workload_as pbs_getpgid
}

run() {
	"$PERF_BPF" run "$PROG" --comm pbs_getpgid "$@"
}

# check FILE MAP EXPRESSION: the map's last line of JSON is r.
check() {
	python3 - "$1" "$2" "$3" <<-'END'
		import json, sys
		r, = [l for l in map(json.loads, open(sys.argv[1])) if l["map"] == sys.argv[2] and l.get("last")]
		assert eval(sys.argv[3]), r
	END
}

test_bit_fields_unions_and_wide_integers() {
	make_workload
	expect_status 0 run --json --map bits -- ./pbs_getpgid call getpgid 5 i
	[ ! -s err ] || fail "the headers make the compiler speak: $(cat err)"
	check out bits '[tuple(w.values()) for w in r["rows"]] == [
		(-i, i, 0xabcdef0 + i, -i, bool(i & 1), "abcde"[i], hex((1 << 100) + i)) for i in (4, 3, 2, 1, 0)]'
	run --csv --map bits -- ./pbs_getpgid call getpgid 3 i >out
	assert_equal "$(sed -n '2s/\r//p' out)" bits,-2,2,180150002,-2,false,c,0x10000000000000000000000002
	run --map bits -- ./pbs_getpgid call getpgid 2 i >out
	grep -qE '^ +-1 +1 +180150001 +-1 +true +b +0x10000000000000000000000001$' out ||
		fail "$(cat out)"
}

# By their value: what is not a number comes last, and -0 is 0.
test_floats_are_sorted() {
	local column order='[9, 4, 5, 0, 7, 8, 1, 3, 6, 2]'

	make_workload
	for column in d.value value --; do
		# without --sort by the first number of the value, which a float is
		[ "$column" = -- ] && set -- || set -- --sort "$column"
		run --json --map floats "$@" -- ./pbs_getpgid call getpgid 10 i >out
		check out floats "[8 if w['nr'] == 7 else 7 if w['nr'] == 8 else w['nr']
			for w in r['rows']] == $order or [w['nr'] for w in r['rows']] == $order"
	done
	run --json --map floats --sort f.value -- ./pbs_getpgid call getpgid 5 i >out
	check out floats '[(w["nr"], w["f.value"]) for w in r["rows"]] == [
		(0, 1), (1, 0.5), (2, 0.25), (3, 0.125), (4, 0.0625)]'
}

test_bytes_of_no_type() {
	make_workload
	run --json --map '*bytes' -- taskset -c 0 ./pbs_getpgid call getpgid 7 i >out
	check out bytes '[(w["key"], w["value"]) for w in r["rows"]] == [
		(0, "040203"), (1, "050203"), (2, "060203"), (3, "030203")]'
	# what cannot be summed stands apart for each CPU
	check out cpu_bytes '[(w["cpu"], w["value"]) for w in r["rows"]] == [
		(0, "07".ljust(16, "0") + "15".ljust(16, "0"))]'
	run --json --map bytes -- ./pbs_getpgid call getpgid 0 i >out
	check out bytes 'r["rows"] == []'
}

test_ranges_below_zero() {
	make_workload
	run --json --map around --map by_odd -- ./pbs_getpgid call getpgid 8 i >out
	check out around '[(b["low"], b["high"], b["count"]) for b in r["hists"][0]["buckets"]] == [
		(-2**63, -21, 3), (-20, -11, 1), (-10, -1, 1), (0, 9, 1), (10, 19, 1), (20, 2**63 - 1, 1)]'
	check out by_odd '[h["label"] for h in r["hists"]] == ["false", "true"]'
	run --csv --map around -- ./pbs_getpgid call getpgid 3 i >out
	assert_equal "$(sed -n '2s/\r//p' out)" around,,-9223372036854775808,-21,3
	run --map around -- ./pbs_getpgid call getpgid 4 i >out
	assert_contains out '(..., -20)  3 |@'
	assert_contains out '[-20, -10)  1 |@'
}

# program DEFINITIONS BODY: from now on that is run, at the workload's getpgid(i)
program() {
	{
		printf '#include "vmlinux.h"\n#include <bpf/perf_bpf_prog.h>\n%s\n' "$1"
		printf 'SEC("tracepoint/syscalls/sys_enter_getpgid")\n'
		printf 'int on_getpgid(struct trace_event_raw_sys_enter *ctx)\n{\n'
		printf '__u32 i = ctx->args[0];\nif (!perf_bpf_wanted())\n\treturn 0;\n%s\nreturn 0;\n}\n' "$2"
		printf 'license(GPL);\n'
	} >prog.bpf.c
	PROG=prog.bpf.c
}

EVENT='struct event { __u32 i; char name[4]; };
const struct event *event_type __attribute__((unused));'

# Of a ring that nothing is declared of the bytes are shown, and how to have more.
test_rings_without_a_type() {
	make_workload
	program "$EVENT"' struct { __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 4096); } ring SEC(".maps");
		struct { __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY); __uint(key_size, 4); __uint(value_size, 4); } old SEC(".maps");' \
		'struct event e = {i, "abc"};
		bpf_ringbuf_output(&ring, &e, sizeof(e), 0);
		bpf_perf_event_output(ctx, &old, BPF_F_CURRENT_CPU, &e, sizeof(e));'
	# on one CPU: each has a ring of its own of the perf event array
	expect_status 0 run --json -- taskset -c 0 ./pbs_getpgid call getpgid 3 i
	for map in ring old; do
		assert_contains err "map $map: the type of its events is not known"
		check out $map 'r["total"] == 3 and r["lost"] == 0'
		assert_equal "$(grep -o "\"$map\",\"kind\":\"event\",.*\"data\":\"0[0-9]00000061626300" out |
			grep -o '.\{16\}$' | tr '\n' ' ')" "0000000061626300 0100000061626300 0200000061626300 "
	done
	assert_contains err 'PERF_BPF_SHOW("events,type=struct NAME") after the map'
	sed -i 's/ ring SEC(".maps")/& PERF_BPF_SHOW("events,type=struct event")/' prog.bpf.c
	expect_status 0 run --json --map ring -- ./pbs_getpgid call getpgid 1 i
	assert_contains out '"event":{"i":0,"name":"abc"}'
	[ ! -s err ] || fail "$(cat err)"
	sed -i 's/type=struct event/type=struct evnet/' prog.bpf.c
	expect_status 1 run -- ./pbs_getpgid call getpgid 1 i
	assert_contains err "type=struct evnet: the object's BTF does not contain this type"
	assert_contains err "did you mean 'event'?"
}

# A program that reads counters has its perf event array for those.
test_an_array_of_counters_is_no_ring() {
	make_workload
	program 'struct { __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY); __uint(key_size, 4); __uint(value_size, 4); } counters SEC(".maps");
		PERF_BPF_COUNT(calls, "calls", "calls");' \
		'bpf_perf_event_read(&counters, BPF_F_CURRENT_CPU); perf_bpf_count(&calls, 1);'
	expect_status 0 run -- ./pbs_getpgid call getpgid 3 i
	assert_equal "$(cat out)" "calls: 3 calls"
}

# Where there is no map, the variables are what was counted.
test_global_variables() {
	make_workload
	program 'static __u64 calls; __s32 least = 100; bool seen; char word[8]; unsigned __int128 wide; __u32 by_two[2];
		const volatile __u32 step = 2; struct { __u16 a; enum { PBS_NO, PBS_YES } answer; } last;' \
		'calls++; least -= step; seen = true; word[0] = 65 + i; wide += (__u64)-1; by_two[i & 1]++;
		last.a = i; last.answer = PBS_YES;'
	expect_status 0 run -- ./pbs_getpgid call getpgid 5 i
	sed 's/  */ /g' out >got
	cat >want <<-'END'
		prog.bss:
		variable value
		by_two[0] 3
		by_two[1] 2
		calls 5
		last.a 4
		last.answer PBS_YES
		seen true
		wide 0x4fffffffffffffffb
		word E
		prog.data:
		variable value
		least 90
	END
	# the order is the compiler's
	grep -v '^$' got | sort >sorted
	sort want | diff -u - sorted
	[ ! -s err ] || fail "$(cat err)"
	expect_status 0 run --json --map prog.bss -- ./pbs_getpgid call getpgid 0 i
	check out prog.bss '{w["variable"]: w["value"] for w in r["rows"]}["calls"] == 0'
	# beside a map they are asked for
	echo 'PERF_BPF_COUNT(counted, "calls", "calls");' >>prog.bpf.c
	expect_status 0 run -- ./pbs_getpgid call getpgid 1 i
	assert_equal "$(cat out)" "calls: 0 calls"
}

test_what_cannot_be_shown_is_told() {
	make_workload
	program 'struct { __uint(type, BPF_MAP_TYPE_QUEUE); __uint(max_entries, 4); __type(value, __u32); } waiting SEC(".maps");' \
		'bpf_map_push_elem(&waiting, &i, 0); bpf_printk("%d", i);'
	expect_status 0 run -- ./pbs_getpgid call getpgid 1 i
	[ ! -s out ] || fail "$(cat out)"
	assert_contains err "map waiting is not shown: queue and stack maps cannot be read without removing entries"
	assert_contains err "nothing to show: the programs have no maps and no global variables"
	expect_status 1 run --map waiting -- ./pbs_getpgid call getpgid 1 i
	assert_contains err "map waiting cannot be dumped: queue and stack maps cannot be read without removing entries"
}

# The command has ended when its name is asked for.
test_the_commands_name() {
	make_workload
	program 'PERF_BPF_TABLE(calls, perf_bpf_pid, __u64, 8, "calls", "calls");' \
		'__u32 pid = bpf_get_current_pid_tgid() >> 32; perf_bpf_table_add(&calls, &pid, 1);'
	run -- ./pbs_getpgid call getpgid 4 i >out
	grep -qE '^pbs_getpgid\([0-9]+\)  +4$' out || fail "$(cat out)"
}

# --folded printed nothing and exited with 0.
test_no_map_has_stacks() {
	make_workload
	program 'PERF_BPF_COUNT(calls, "calls", "calls");' 'perf_bpf_count(&calls, 1);'
	expect_status 1 run --folded -- touch began
	assert_contains err "--folded: none of the maps that are shown has stacks"
	expect_status 1 run --pprof p.gz -- touch began
	assert_contains err "--pprof: none of the maps that are shown has stacks"
	[ ! -e began ] || fail "the command was started"
	[ ! -e p.gz ] || fail "a profile without stacks was written"
}

# Before anything runs.
test_files_that_cannot_be_written() {
	make_workload
	mkdir folder
	for option in --html --pprof; do
		expect_status 1 run $option folder -- touch began
		assert_contains err "cannot write 'folder': Is a directory"
		expect_status 1 run $option none/x -- touch began
		assert_contains err "cannot write 'none/x': No such file or directory"
	done
	[ ! -e began ] || fail "the command was started"
	# what is no file stays what it is; a link, too
	mkfifo pipe
	touch page
	ln -s page link
	cat pipe >got &
	run --html pipe -- true >out
	wait $!
	[ -p pipe ] || fail "the pipe is gone"
	grep -q '<!doctype html>' got || fail "no page came through the pipe"
	run --html link -- true >out
	[ -h link ] || fail "the link is gone"
	grep -q '<!doctype html>' page || fail "no page behind the link"
}

# Links and files that another user put where root writes.
test_files_that_others_planted() {
	make_workload
	umask 022
	echo kept >target
	ln -s target link
	chown -h 4242 link
	for option in --html --pprof; do
		expect_status 1 run $option link -- touch began
		assert_contains err "cannot write 'link': the symbolic link 'link' belongs to user 4242"
		assert_contains err "hint: remove the link, or write to a directory of your own"
	done
	expect_status 1 "$PERF_BPF" record -o link -e cpu-clock -- touch began
	assert_contains err "the symbolic link 'link' belongs to user 4242"
	[ ! -e began ] || fail "the command was started"
	assert_equal "$(cat target)" kept
	# a file of theirs is replaced; root's is for root alone, and keeps its mode
	echo theirs >page
	chown 4242 page
	run --html page -- true >out
	assert_equal "$(stat -c '%u %a' page)" "0 600"
	chmod 644 page
	run --html page -- true >out
	assert_equal "$(stat -c '%u %a' page)" "0 644"
	: >data
	chmod 666 data
	chown 4242 data
	"$PERF_BPF" record -o data -e cpu-clock -- true 2>err
	assert_equal "$(stat -c '%u %a' data)" "0 600"
}

run_tests
