#!/usr/bin/env bash
# perf-bpf run: its numbers against those of a workload that counts for itself.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

# The workload is known by its name: one run of these tests at a time.
exec 9<"$0"
flock -w 600 9 || exit 1

PROG=$SRC/tests/cmd/run.bpf.c

make_workload() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	workload_as pbt_umask
}

# umasks N MASK...: a command that calls umask(2) N times with each mask, prints its process id and ends with 7
umasks() {
	local n=$1 mask
	echo "./pbt_umask"
	for mask in "${@:2}"; do
		echo "call umask $n $mask ,"
	done
	echo "pid , exit 7"
}

run() {
	"$PERF_BPF" run "$PROG" --comm pbt_umask "$@"
}

# Writes looked.sh N REGEX FILE: a part of a workload that waits until that is true.
make_looked() {
	cat >looked.sh <<-'END'
		end=$(($(date +%s) + 60))
		until [ "$(grep -cE "$2" "$3")" -ge "$1" ] || [ "$(date +%s)" -gt $end ]; do sleep 0.02; done
	END
}

# check FILE EXPRESSION: the map's last line of JSON is r.
check() {
	python3 - "$1" "$2" "$3" <<-'END'
		import json, sys
		lines = [json.loads(l) for l in open(sys.argv[1]) if l.startswith("{")]
		r, = [l for l in lines if l["map"] == sys.argv[2] and l["last"]]
		assert r["schema"] == "perf-bpf-run/1"
		assert eval(sys.argv[3]), r
	END
}

test_every_kind_counts_right() {
	make_workload
	status=0
	run --json -- $(umasks 3 0 1 2 9 10 49 50 511) >out || status=$?
	assert_equal $status 7 # the command's
	pid=$(grep -x '[0-9]*' out)
	check out calls 'r["count"] == 24 and r["title"] == "umask calls" and r["unit"] == "calls"'
	check out by_log2 '[(b["low"], b["high"], b["count"]) for b in r["hists"][0]["buckets"]] == [
		(0, 0, 3), (1, 1, 3), (2, 3, 3), (8, 15, 6), (32, 63, 6), (256, 511, 3)]'
	check out by_ten '[(b["low"], b["high"], b["count"]) for b in r["hists"][0]["buckets"]] == [
		(-2**63, 9, 12), (10, 19, 3), (40, 49, 3), (50, 2**63 - 1, 6)]'
	check out by_parity '[(h["key"]["key_text"], h["total"]) for h in r["hists"]] == [
		("PBT_EVEN", 12), ("PBT_ODD", 12)]'
	check out by_pid "[(w['pid'], w['calls']) for w in r['rows']] == [($pid, 24)]"
	check out by_key '[(w["uid"], w["uid_text"], w["parity_text"], w["comm"], w["calls"], w["sum"])
		for w in r["rows"]] == [(0, "root(0)", "PBT_EVEN", "pbt_umask", 12, 3 * 62),
		(0, "root(0)", "PBT_ODD", "pbt_umask", 12, 3 * 570)]'
}

# The command has the same file: what it writes must not stand in the middle of a line.
test_lines_are_written_whole() {
	[ -z "${SANITIZED:-}" ] || skip "a process that is traced cannot look for leaks"
	command -v strace >/dev/null || skip "strace is not installed"
	make_workload
	strace -s 10000000 -e trace=write -e signal=none -o trace \
		"$PERF_BPF" run "$PROG" --comm pbt_umask --json -- $(umasks 30 1) >out || true
	[ "$(stat -c %s out)" -gt 4096 ] || fail "it fits into stdio's buffer"
	grep '^write(1, ' trace >writes
	! grep -v '\\n", [0-9]*) *= [0-9]*$' writes
}

test_text() {
	make_workload
	run --map calls --map by_ten --map by_key -- $(umasks 3 10 49 511 511) >out || true
	sed 1d out >got
	cat >want <<-'END'
		umask calls: 12 calls

		masks, by ten (mask):
		[10, 20)   3 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
		[20, 30)   0 |                                                    |
		[30, 40)   0 |                                                    |
		[40, 50)   3 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |
		[50, ...)  6 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|

		by_key:
		uid      parity    comm       calls   sum
		root(0)  PBT_ODD   pbt_umask      9  3213
		root(0)  PBT_EVEN  pbt_umask      3    30
	END
	diff -u want got
}

# The same on a terminal: the ten largest rows, single numbers last; --top says otherwise.
test_a_terminal_shows_the_largest() {
	make_workload
	cat >processes.sh <<-'END'
		for process in 1 2 3 4 5 6 7 8 9 10 11 12; do
			printf 'call umask %s 0\n' "$process" | ./pbt_umask >/dev/null
		done
	END
	terminal() {
		"$SRC/tests/cmd/on_terminal.py" "$PERF_BPF" run "$PROG" --comm pbt_umask --map calls --map by_pid -q \
			"$@" -- sh processes.sh >out
	}
	terminal
	rows() { sed -n '/^by process/,/^$/p' out | grep -cE '^ *[^ ]*[0-9]+[^ ]*( .*)? [0-9]+$'; }
	assert_equal "$(rows)" 10
	assert_equal "$(grep -c '^(2 more; --top 0 shows all)$' out)" 1
	assert_equal "$(tail -1 out)" "umask calls: 78 calls"
	terminal --top 3
	assert_equal "$(grep -c '^(9 more; --top 0 shows all)$' out)" 1
	terminal --top 0
	assert_equal "$(rows)" 12
	! grep -q more out || fail "--top 0 does not show all"
	run --map calls --map by_pid -q -- sh processes.sh >out
	assert_equal "$(rows)" 12
	! grep -q more out || fail "a file does not get all"
	assert_equal "$(head -1 out)" "umask calls: 78 calls"
}

test_csv() {
	make_workload
	run --csv -- $(umasks 3 0 10 511) >out || true
	# events come while the command runs, before and after what it prints
	pid=$(grep -x '[0-9]*' out)
	grep -vx '[0-9]*' out >csv
	python3 - "$pid" <<-'END'
		import csv, sys
		text = open("csv", newline="").read()
		assert text.count("\n") == text.count("\r\n")
		tables = {}
		for part in text.split("\r\n\r\n"):
		    for row in csv.DictReader(part.splitlines(), strict=True):
		        assert None not in row and None not in row.values(), row
		        tables.setdefault(row.pop("map"), []).append(row)
		assert tables["calls"] == [{"count": "9"}], tables
		assert tables["by_log2"] == [{"key": "", "low": l, "high": h, "count": "3"}
		    for l, h in (("0", "0"), ("8", "15"), ("256", "511"))], tables
		name = tables["by_pid"][0].pop("pid_text") # empty, if it ended before it was asked for
		assert name in ("", "pbt_umask(%s)" % sys.argv[1]), tables
		assert tables["by_pid"] == [{"pid": sys.argv[1], "calls": "9"}], tables
		assert [(r["uid"], r["uid_text"], r["parity_text"], r["sum"]) for r in tables["by_key"]] == [
		    ("0", "root(0)", "PBT_EVEN", "30"), ("0", "root(0)", "PBT_ODD", "1533")], tables
	END
	make_looked
	: >csv
	run --csv --interval 50ms --map calls -- sh -c "$(umasks 3 1 | xargs); sh looked.sh 3 ,3 csv" >csv
	python3 - <<-'END'
		import csv
		rows = list(csv.DictReader([l for l in open("csv") if "," in l], strict=True))
		counts = [int(r["count"]) for r in rows]
		assert counts == sorted(counts) and counts[-1] == 3 and len(counts) > 2, rows
		looks = [r["look"] for r in rows]
		assert looks == sorted(set(looks)) and looks[0].endswith("Z"), looks
	END
	expect_status 2 run --csv --json -- true
	assert_contains err "--json, --csv, --folded and --live"
}

test_constants_and_filters() {
	make_workload
	run --json --set below=10 --map calls -- $(umasks 5 1 9 10 11) >out || true
	check out calls 'r["count"] == 10'
	"$PERF_BPF" run "$PROG" --json --map calls -p 1 --comm pbt_umask -- $(umasks 5 1) >out || true
	check out calls 'r["count"] == 0'
	"$PERF_BPF" run "$PROG" --json --map calls -u root --comm pbt_umask -- $(umasks 5 1) >out || true
	check out calls 'r["count"] == 5'
	"$PERF_BPF" run "$PROG" --json --map calls -u 54321 --comm pbt_umask -- $(umasks 5 1) >out || true
	check out calls 'r["count"] == 0'
}

# Objects that were linked have the filter's variable once for each of them.
# Names of 0.1.0 that have others now.
test_old_names_of_options() {
	for options in "--timeout 10ms --comms pbt_none" "--duration 10ms --comm pbt_none"; do
		expect_status 0 "$PERF_BPF" run "$SRC/tests/cmd/run.bpf.c" $options --json
		assert_contains out '"last":true'
	done
	"$PERF_BPF" run --help >help
	assert_contains help --timeout
	assert_contains help --comms
	! grep -E -- '--duration|--comm[^s]' help || fail "the help has an old name"
}

test_filters_of_linked_objects() {
	make_workload
	command -v clang >/dev/null || skip "clang is not installed"
	command -v bpftool >/dev/null || skip "bpftool is not installed"
	for name in first second; do
		cat >$name.bpf.c <<-END
			#include <linux/bpf.h>
			#include <bpf/bpf_helpers.h>
			#include <bpf/perf_bpf_prog.h>
			PERF_BPF_COUNT(pbt_$name, "calls", "umask calls");
			SEC("tracepoint/syscalls/sys_enter_umask") int pbt_${name}_call(void *ctx)
			{
				if (perf_bpf_wanted())
					perf_bpf_count(&pbt_$name, 1);
				return 0;
			}
			char LICENSE[] SEC("license") = "GPL";
		END
		compile_bpf $name.bpf.c $name.o
	done
	bpftool gen object linked.bpf.o first.o second.o
	"$PERF_BPF" run linked.bpf.o --json --comm pbt_umask -- $(umasks 5 1) >out || true
	check out pbt_first 'r["count"] == 5'
	check out pbt_second 'r["count"] == 5'
	"$PERF_BPF" run linked.bpf.o --json --comm pbt_nobody -- $(umasks 5 1) >out || true
	check out pbt_first 'r["count"] == 0'
	check out pbt_second 'r["count"] == 0'
}

# Elements of an array, and all of them by one value; without attaching anything.
test_array_variables() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	"$PERF_BPF" run "$OBJECTS/run_array.bpf.o" --set limits[1-2]=7 --set sums[1]=40 --json -- true >out
	assert_contains out 40
	"$PERF_BPF" run "$OBJECTS/run_array.bpf.o" --set sums=9 --csv -- true >out
	assert_contains out "9"
	expect_status 1 "$PERF_BPF" run "$OBJECTS/run_array.bpf.o" --set limits[4]=7 -- true
	assert_contains err "--set limits[4]: index 4 is beyond the array's 4 elements"
	expect_status 1 "$PERF_BPF" run "$OBJECTS/run_array.bpf.o" --set limits[=7 -- true
	assert_contains err "an index is missing in 'limits['"
}

# What a heat map counted over all times is what its histogram would have.
test_heat_maps() {
	make_workload
	# in between it waits until the parent, which looks, has slept some times
	cat >slow.sh <<-'END'
		slept() { sed -n 's/^voluntary_ctxt_switches:\t//p' /proc/$PPID/status; }
		for i in 1 2 3; do
			./pbt_umask call umask 10 1 , call umask 10 12
			until=$(($(slept) + 8))
			sleep 0.05
			until [ $(slept) -ge $until ]; do sleep 0.02; done
		done
		exit 0
	END
	began=$(date +%s%N)
	run --json --map 'heat*' -- sh slow.sh >out
	ended=$(date +%s%N)
	check out heat 'r["kind"] == "heatmap" and r["scale"] == "log2" and r["unit"] == "mask"'
	check out heat '[(w["low"], w["high"], w["count"]) for w in r["ranges"] if w["count"]] == [
		(1, 1, 30), (8, 15, 30)]'
	check out heat '[sum(c) for c in zip(*r["counts"])] == [w["count"] for w in r["ranges"]]'
	check out heat 'len(r["counts"]) > 5 and len([1 for t in r["counts"] if sum(t)]) > 1'
	check out heat "150e6 <= r['span_ns'] and \
		150e6 <= (len(r['counts']) + 1) * r['step_ns'] <= $ended - $began + 2 * r['step_ns']"
	check out heat_ten 'r["scale"] == "linear" and [(w["low"], w["high"], w["count"])
		for w in r["ranges"]] == [(-2**63, 9, 30), (10, 19, 30)]'
	# with --clear a look has only what came since the last one
	run --json --map heat --interval 30ms --clear -- sh slow.sh >out
	python3 - <<-'END'
		import json
		looks = [json.loads(l) for l in open("out")]
		assert sum(w["count"] for l in looks for w in l["ranges"]) == 60, looks
		assert sum(sum(t) for l in looks for t in l["counts"]) == 60, looks
		starts = [l["start_ns"] for l in looks]
		assert starts == sorted(starts) and len(starts) > 3, starts
	END
	run --map heat -- $(umasks 4 1) >out || true
	assert_contains out 'masks by time (mask):'
	# in one slot as a rule; a process that waits for its CPU in between is in several
	sed -nE 's/^[0-9:.]+ .*\| *([0-9]+)$/\1/p' out >slots
	assert_equal "$(awk '{ n += $1 } END { print n }' slots)" 4
}

test_events() {
	make_workload
	run --json --map events -- $(umasks 3 0 1 511) >out || true
	pid=$(grep -v '{' out)
	python3 - $pid <<-'END'
		import json, sys
		lines = [json.loads(l) for l in open("out") if l.startswith("{")]
		events = [l["event"] for l in lines if l["kind"] == "event"]
		times = [l["time_ns"] for l in lines if l["kind"] == "event"]
		assert [(e["mask"], e["parity_text"]) for e in events] == (
		    [(0, "PBT_EVEN")] * 3 + [(1, "PBT_ODD")] * 3 + [(511, "PBT_ODD")] * 3), events
		assert all(e["pid"] == int(sys.argv[1]) and e["comm"] == "pbt_umask" for e in events)
		assert times == sorted(times)
		total, = [l for l in lines if l["kind"] == "events"]
		assert (total["total"], total["lost"], total["last"]) == (9, 0, True), total
	END
	run --map events -- $(umasks 3 7) >out || true
	assert_equal "$(grep -c '^time_read  *pid  *mask  *parity  *comm$' out)" 1
	assert_equal "$(grep -cE '^[0-9:]{8}\.[0-9]{6}  .* 7  PBT_ODD +pbt_umask$' out)" 3
	assert_contains out 'masks as they come: 3 events, 0 lost'
}

# 30 calls below work_left(), 10 below work_right(), and 5 of a JIT, which tells its name as JITs do. The
# addresses are the same each time, so that the stacks have the same slots in their map, and none is lost
# one time in a hundred.
STACKS='./pbt_umask repeat 10 in work_left call umask 3 18 + in work_right call umask 1 18 , jit 5 pbt_jitted'

# Stacks of each depth, in a mixed order: deep ones after short ones and the other way round.
test_stacks_of_all_depths() {
	make_workload
	for k in $(seq 0 219); do
		echo "deep $((1 + k * 37 % 110)) call umask 1 18 ,"
	done >depths
	run --json --map user_stacks --map stacks -- ./pbt_umask $(cat depths) exit 0 >out
	check out user_stacks 'sorted(sum(f["name"] == "work_deep" for f in s["frames"]) for s in r["stacks"]) == \
		list(range(1, 111)) and {s["count"] for s in r["stacks"]} == {2}'
	check out stacks '{sum(f["name"] == "work_deep" for f in s["frames"]) for s in r["stacks"]} == \
		set(range(1, 111)) and r["total"] == 220'
}

# The workload has ended when its stacks are resolved.
test_stacks() {
	[ "$(uname -m)" = x86_64 ] || skip "its machine code is of x86-64"
	make_workload
	run --json --map user_stacks --map stacks --pprof profile.gz -- setarch -R $STACKS , pid >out
	rm -f "/tmp/perf-$(head -1 out).map"
	check out user_stacks 'r["total"] == 45 and r["unit"] == "calls" and "note" not in r'
	check out user_stacks '[(s["label"], [f["name"] for f in s["frames"] if f["name"][:5] in ("work_", "main")], s["count"])
		for s in r["stacks"]][:2] == [("pbt_umask", ["work_calls", "work_left", "main"], 30),
		("pbt_umask", ["work_calls", "work_right", "main"], 10)]'
	check out user_stacks '[(s["frames"][0]["name"], s["frames"][0]["module"], s["count"])
		for s in r["stacks"]][2] == ("pbt_jitted", "[JIT]", 5)'
	check out user_stacks 'all(s["frames"][1]["module"].endswith("/pbt_umask") for s in r["stacks"][:2])'
	# of both sides: the kernel has called nothing of the process
	check out stacks 'sum(s["count"] for s in r["stacks"]) == 45'
	check out stacks 'all([f.get("kernel", False) for f in s["frames"]] ==
		sorted((f.get("kernel", False) for f in s["frames"]), reverse=True) for s in r["stacks"])'
	check out stacks 'all(any(f["name"] == "[lost]" or (f["module"] == "[kernel]" and
		f["name"].startswith("do_syscall_64")) for f in s["frames"]) for s in r["stacks"])'

	run --folded --map user_stacks -- setarch -R $STACKS , pid >folded
	rm -f "/tmp/perf-$(head -1 folded).map"
	assert_equal "$(grep -c '^pbt_umask;.*main;.*;work_left;.*;work_calls 30$' folded)" 1
	assert_equal "$(grep -c '^pbt_umask;.*main;.*;work_right;.*;work_calls 10$' folded)" 1
	run --map user_stacks -- setarch -R $STACKS , pid >text
	rm -f "/tmp/perf-$(head -1 text).map"
	assert_contains text '   100.00%  pbt_umask  45 calls'
	grep -qE -- '--66\.67%--work_left$' text || fail "no share of left"
	grep -qE -- '--22\.22%--work_right$' text || fail "no share of right"
	run --callee --top 1 --map user_stacks -- setarch -R $STACKS , pid >text
	rm -f "/tmp/perf-$(head -1 text).map"
	grep -qE -- '^ +66\.67%  pbt_umask  30 calls$' text || fail "the top one is not there"
	grep -A4 -- '---work_calls' text | grep -q ' work_left$' || fail "the tree is not from the leaf on"
	assert_contains text '(2 more)'
	# the symbols of a root process, by another user
	run --map user_stacks -- setarch -R $STACKS 4242 , pid >text 2>err
	grep -q '/tmp/perf-[0-9]*.map: not used: it belongs to user 4242$' err || { cat err; fail "no warning"; }
	! grep pbt_jitted text || fail "the names are used"
	rm -f "/tmp/perf-$(head -1 text).map"
}

# In tables and events stacks are a column, and so are addresses of processes.
test_stacks_in_tables_and_events() {
	[ "$(uname -m)" = x86_64 ] || skip "its machine code is of x86-64"
	make_workload
	"$PERF_BPF" run "$OBJECTS/run_cells.bpf.o" --comm pbt_umask --json -- setarch -R $STACKS , pid >out
	rm -f "/tmp/perf-$(grep -v '{' out).map"
	check out by_stack '[(w["stack_text"].endswith("work_calls") and ";work_left;" in w["stack_text"], w["calls"], w["sum"])
		for w in r["rows"]][0] == (True, 30, 30 * 18)'
	check out by_stack 'sum(w["calls"] for w in r["rows"]) == 45'
	python3 - <<-'END'
		import json
		events = [e["event"] for e in map(json.loads, (l for l in open("out") if l[0] == "{"))
		          if e["kind"] == "event"]
		assert len(events) == 45, events
		assert sum(";work_right;" in e["stack_text"] for e in events) == 10, events
		assert sum(e["ip_text"].startswith("work_calls+0x") for e in events) == 40, events
		assert sum(e["ip_text"].startswith("pbt_jitted+0x") for e in events) == 5, events
	END
}

test_stacks_for_pprof() {
	command -v protoc >/dev/null || skip "needs protoc (protobuf-compiler)"
	[ "$(uname -m)" = x86_64 ] || skip "its machine code is of x86-64"
	make_workload
	run --quiet --map user_stacks --pprof profile.gz -- setarch -R $STACKS , pid >out
	rm -f "/tmp/perf-$(head -1 out).map"
	cat >profile.proto <<-'END'
		syntax = "proto3";
		message Profile {
			repeated ValueType sample_type = 1;
			repeated Sample sample = 2;
			repeated Mapping mapping = 3;
			repeated Location location = 4;
			repeated Function function = 5;
			repeated string string_table = 6;
			int64 time_nanos = 9;
			int64 duration_nanos = 10;
		}
		message ValueType { int64 type = 1; int64 unit = 2; }
		message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; repeated Label label = 3; }
		message Label { int64 key = 1; int64 str = 2; }
		message Mapping { uint64 id = 1; uint64 start = 2; uint64 limit = 3; uint64 offset = 4; int64 filename = 5; int64 build_id = 6; bool has_functions = 7; }
		message Location { uint64 id = 1; uint64 mapping_id = 2; uint64 address = 3; repeated Line line = 4; }
		message Line { uint64 function_id = 1; int64 line = 2; }
		message Function { uint64 id = 1; int64 name = 2; int64 system_name = 3; int64 filename = 4; }
	END
	zcat profile.gz | protoc --decode=Profile profile.proto >text
	python3 - "$SRC" <<-'END'
		import re, sys
		def parse(lines):
		    out = {}
		    for line in lines:
		        line = line.strip()
		        if line == "}":
		            return out
		        if line.endswith("{"):
		            out.setdefault(line[:-1].strip(), []).append(parse(lines))
		        else:
		            key, value = line.split(": ", 1)
		            out.setdefault(key, []).append(value.strip('"') if value[0] == '"' else
		                                           value == "true" or int(value))
		    return out
		p = parse(iter(open("text")))
		s = p["string_table"]
		assert s[0] == ""
		t, = p["sample_type"]
		assert (s[t["type"][0]], s[t["unit"][0]]) == ("user_stacks", "count")
		functions = {f["id"][0]: s[f["name"][0]] for f in p["function"]}
		mappings = {m["id"][0]: s[m["filename"][0]] for m in p["mapping"]}
		places = {l["id"][0]: l for l in p["location"]}
		got = {}
		for sample in p["sample"]:
		    names = [functions[places[i]["line"][0]["function_id"][0]] for i in sample["location_id"]]
		    got[tuple(n for n in names if n.startswith("work_") or n == "main")] = sample["value"]
		    label, = sample["label"]
		    assert (s[label["key"][0]], s[label["str"][0]]) == ("who", "pbt_umask")
		assert got[("work_calls", "work_left", "main")] == [30], got
		assert got[("work_calls", "work_right", "main")] == [10], got
		assert sum(v[0] for v in got.values()) == 45, got
		leaf = [l for l in p["location"] if functions[l["line"][0]["function_id"][0]] == "work_calls"]
		assert leaf and all(mappings[l["mapping_id"][0]].endswith("/pbt_umask") for l in leaf)
		mapped = {m["id"][0]: m for m in p["mapping"]}
		for l in p["location"]:
		    m = mapped.get(l.get("mapping_id", [0])[0])
		    assert not m or not m.get("limit") or m["start"][0] <= l["address"][0] < m["limit"][0], (l, m)
		assert all(mapped[l["mapping_id"][0]]["limit"][0] for l in leaf)
		files = {f["id"][0]: s[f["filename"][0]] for f in p["function"]}
		source = open(f"{sys.argv[1]}/tests/workload/workload.c").read().split("\n")
		lines = {}
		for l in p["location"]:
		    line = l["line"][0]
		    name = functions[line["function_id"][0]]
		    if "line" in line:
		        assert files[line["function_id"][0]].endswith("/workload.c") or name not in (
		            "work_calls", "work_left", "work_right", "main"), l
		        lines.setdefault(name, set()).add(line["line"][0])
		# the call, not the line after it
		for name, text in [("do_call", "work_calls("), ("do_repeat", "run("), ("run", ".fn(w)"), ("main", "run((")]:
		    assert lines.get(name), (name, lines)
		    for n in lines[name]:
		        assert text in source[n - 1], (name, n, source[n - 1])
		assert {len(m.get("build_id", [])) for m in p["mapping"] if s[m["filename"][0]].endswith("/pbt_umask")} == {1}, p["mapping"]
		import subprocess
		notes = subprocess.run(["readelf", "-n", "pbt_umask"], capture_output=True, text=True).stdout
		assert {s[m["build_id"][0]] for m in p["mapping"] if s[m["filename"][0]].endswith("/pbt_umask")} == \
			{re.search("Build ID: (.*)", notes)[1]}
		assert p["time_nanos"][0] > 1e18 and p["duration_nanos"][0] > 0
	END
}

# A full map says how many updates it did not take; nothing is counted twice.
test_what_did_not_fit_is_told() {
	[ "$(uname -m)" = x86_64 ] || skip "its machine code is of x86-64"
	make_workload
	cat >many.sh <<-END
		for i in 1 2 3; do $STACKS , pid >many.out; rm -f /tmp/perf-\$(cat many.out).map; done
	END
	run --json --map by_pid --map user_stacks --map-entries by_pid=1 \
		--map-entries user_stacks_stacks=1 --map-entries user_stacks_short=1 -- sh many.sh >out
	check out by_pid '[w["calls"] for w in r["rows"]] == [45]'
	check out by_pid 'r["note"] == "full: 90 updates failed; max_entries is 1; to make it larger " \
		"use --map-entries by_pid=4"'
	check out user_stacks 'r["total"] == 135'
	check out user_stacks 'sum(s["count"] for s in r["stacks"] if s["frames"][0]["name"] == "[lost]") == \
		int(r["note"].split()[0]) > 0'
	check out user_stacks '"--map-entries user_stacks_short=4" in r["note"]'
	# and of a map that is not shown
	run --map calls --map-entries by_pid=1 -- sh many.sh >out 2>err
	assert_contains err "run.bpf.c: 90 updates of map by_pid failed; max_entries is 1; to make it larger use --map-entries by_pid=4"
	expect_status 1 run --map-entries by_pit=3 -- true
	assert_contains err "--map-entries: unknown map 'by_pit'"
	assert_contains err "did you mean 'by_pid'?"
	expect_status 1 run --map-entries by_pid=0 -- true
	assert_contains err "--map-entries by_pid=0: expected MAP=N, with N from 1 to"
}

# Stops the reader while the workload is at work: what has no room is lost, and each
# event is either printed or counted as lost.
overflow() {
	"$@" --json --verbose >out 2>err &
	reader=$!
	soon grep -q 'is attached' err
	kill -STOP $reader
	./pbt_umask call umask $CALLS 7
	kill -CONT $reader
	kill -TERM $reader
	wait $reader
	python3 - $CALLS <<-'END'
		import json, sys
		lines = [json.loads(l) for l in open("out")]
		events = [l for l in lines if l["kind"] == "event"]
		total, = [l for l in lines if l["kind"] == "events"]
		assert total["total"] == len(events) > 10, (total, len(events))
		assert total["lost"] > 10 and total["total"] + total["lost"] == int(sys.argv[1]), total
		assert all(l["event"]["mask"] == 7 and l["event"]["comm"] == "pbt_umask" for l in events)
		if "note" in total:
		    assert "--map-entries events=" in total["note"], total
	END
}

test_lost_events_are_counted() {
	make_workload
	CALLS=2000
	overflow "$PERF_BPF" run "$PROG" --comm pbt_umask --map events --map-entries events=4096
}

test_events_of_a_perf_event_array() {
	make_workload
	# on one CPU: each has a ring of its own, and the events have no time
	"$PERF_BPF" run "$OBJECTS/run_perf.bpf.o" --comm pbt_umask --json -- taskset -c 0 $(umasks 3 1 2) >out || true
	python3 - <<-'END'
		import json
		lines = [json.loads(l) for l in open("out") if l.startswith("{")]
		assert [l["event"] for l in lines if l["kind"] == "event"] == [
		    {"mask": m, "comm": "pbt_umask"} for m in (1, 1, 1, 2, 2, 2)], lines
		assert [(l["total"], l["lost"]) for l in lines if l["kind"] == "events"] == [(6, 0)], lines
	END
	# a kernel before 6.0 does not tell of the last losses
	CALLS=20000
	overflow "$PERF_BPF" run "$OBJECTS/run_perf.bpf.o" --comm pbt_umask
	sed 's/type=struct pbt_event/type=struct pbt_evend/' "$SRC/tests/bpf/run_perf.bpf.c" >wrong.bpf.c
	expect_status 1 "$PERF_BPF" run wrong.bpf.c -- true
	assert_contains err "map events: type=struct pbt_evend: the object's BTF does not contain this type"
	assert_contains err "did you mean 'pbt_event'?"
	sed 's/,type=struct pbt_event//' "$SRC/tests/bpf/run_perf.bpf.c" >bytes.bpf.c
	"$PERF_BPF" run bytes.bpf.c --comm pbt_umask -- $(umasks 1 3) >out || true
	grep -qE '^[0-9:.]+  03000000000000007062745f756d61736b000000' out || fail "no bytes"
}

test_a_glob_takes_the_maps_that_are_shown() {
	make_workload
	run --json --map '*' -- $(umasks 2 1) >all || true
	run --json -- $(umasks 2 1) >plain || true
	maps() { grep -o '^{"schema":"perf-bpf-run/1","map":"[a-z_0-9.]*"' "$1" | sort -u; }
	maps all >names
	maps plain | diff - names || fail "--map '*' shows others than no --map"
	expect_status 1 run --map 'nothing*' -- true
	assert_contains err "unknown map 'nothing*'"
}

test_top_and_sort() {
	make_workload
	cat >many.sh <<-'END'
		for i in 1 2 3 4 5; do ./pbt_umask call umask $i 1; done
		exit 0
	END
	run --json --map by_pid --top 2 -- sh many.sh >out
	check out by_pid '[w["calls"] for w in r["rows"]] == [5, 4] and r["left_out"] == 3'
	run --json --map by_pid --sort pid -- sh many.sh >out
	check out by_pid '(lambda p: p == sorted(p, reverse=True) and len(p) == 5)([w["pid"] for w in r["rows"]])'
	expect_status 1 run --map by_pid --sort cals -- $(umasks 1 1)
	assert_contains err "map by_pid has no column 'cals'"
	assert_contains err "did you mean 'calls'?"
}

test_cpus_apart() {
	make_workload
	run --json --per-cpu --map by_log2 --map calls -- taskset -c 0 $(umasks 4 3) >out || true
	check out by_log2 '[(h["label"], h["total"]) for h in r["hists"]][0] == ("cpu 0", 4)'
	check out by_log2 'sum(h["total"] for h in r["hists"]) == 4'
	check out calls '[(w["cpu"], w["calls"]) for w in r["rows"]] == [(0, 4)]'
}

# The workload says when it is done with a part; a look with --clear holds what came since.
test_intervals_and_differences() {
	make_workload
	make_looked
	cat >slow.sh <<-'END'
		./pbt_umask call umask 10 1
		sh looked.sh $2 "\"map\":\"calls\".*\"count\":$3[,}]" $1
		./pbt_umask call umask 20 1
		sh looked.sh $4 "\"map\":\"calls\".*\"count\":$5[,}]" $1
	END
	: >plain
	run --json --interval 50ms --map calls --map by_pid -- sh slow.sh plain 3 10 3 30 >plain
	: >clear
	run --json --interval 50ms --clear --map calls --map by_pid -- sh slow.sh clear 1 '[1-9][0-9]*' 2 '[1-9][0-9]*' >clear
	python3 - <<-'END'
		import json
		def read(name, map):
		    return [l for l in map_lines(name) if l["map"] == map]
		def map_lines(name):
		    return [json.loads(l) for l in open(name)]
		plain = [l["count"] for l in read("plain", "calls")]
		assert plain == sorted(plain) and plain[-1] == 30 and len(plain) > 5, plain
		clear = [l["count"] for l in read("clear", "calls")]
		assert sum(clear) == 30 and len([c for c in clear if c]) >= 2, clear
		rows = [w["calls"] for l in read("clear", "by_pid") for w in l["rows"]]
		assert sum(rows) == 30 and all(rows), rows
	END
}

test_signals_and_duration_end_it() {
	make_workload
	run --json --map calls --duration 300ms >out
	check out calls 'r["count"] == 0'
	"$PERF_BPF" run "$PROG" --comm pbt_umask --json --map calls --verbose >out 2>err &
	pid=$!
	soon grep -q 'is attached' err
	"$PERF_BPF" prog list | grep -q "pids perf-bpf($pid)" || fail "the process holds none"
	./pbt_umask call umask 6 1
	kill -TERM $pid # a background job does not get SIGINT
	status=0
	wait $pid || status=$?
	assert_equal $status 0
	check out calls 'r["count"] == 6'
	! "$PERF_BPF" prog list | grep -q "pids perf-bpf($pid)" || fail "left behind"
}

# The program returns 0: as a filter it would let nothing through.
test_who_records_meanwhile_loses_nothing() {
	make_workload
	"$PERF_BPF" run "$OBJECTS/run_hides.bpf.o" -- \
		"$PERF_BPF" record -e syscalls:sys_exit_umask -o data -- $(umasks 9 1) 2>err || true
	"$PERF_BPF" script -i data >script
	assert_equal "$(grep -c 'pbt_umask.*sys_exit_umask' script)" 9
}

test_plain_maps_of_an_object_with_config() {
	make_workload
	cat >plain.bpf.c <<-'END'
		#include <linux/types.h>
		#include <bpf/bpf.h>
		bpf_map(slots, ARRAY, int, __u64, 65);
		bpf_map(other, HASH, int, __u64, 16);
		char looks[] SEC("config") = "# how it looks\nslots: log2,unit=bytes,title=by hand\n";
		SEC("tracepoint/syscalls/sys_enter_umask")
		int on_umask(struct syscall_enter_args *args)
		{
			char comm[16] = {};
			int slot = 3, key = 4;
			__u64 *v, one = 1;
			bpf_get_current_comm(comm, sizeof(comm));
			if (comm[0] != 'p' || comm[1] != 'b' || comm[2] != 't' || comm[4] != 'u')
				return 0;
			v = bpf_map_lookup_elem(&slots, &slot);
			if (v)
				__sync_fetch_and_add(v, 1);
			bpf_map_update_elem(&other, &key, &one, 0);
			return 0;
		}
		license(GPL);
	END
	clang -O2 --target=bpf -I"$SRC/include" -I"$BUILD/include" \
		-I"/usr/include/$(gcc -print-multiarch)" -c plain.bpf.c -o plain.o # no -g: no BTF
	"$PERF_BPF" run plain.o --json -- $(umasks 5 1) >out || true
	check out slots 'r["title"] == "by hand" and r["hists"][0]["buckets"] == [{"low": 4, "high": 7, "count": 5}]'
	check out other 'r["rows"] == [{"key": 4, "value": 1}]'
	sed 's/log2,unit/lgo2,unit/' plain.bpf.c >wrong.bpf.c
	expect_status 1 "$PERF_BPF" run wrong.bpf.c -- true
	assert_contains err "how map slots is shown: unknown view 'lgo2'"
	assert_contains err "did you mean 'log2'?"
}

test_what_is_wrong_is_named() {
	make_workload
	expect_status 2 "$PERF_BPF" run
	assert_contains err "the program is missing"
	expect_status 1 "$PERF_BPF" run nothing.bpf.c
	assert_contains err "nothing.bpf.c"
	expect_status 1 run --set bellow=3 -- true
	assert_contains err "--set bellow: the program has no global variable 'bellow'"
	assert_contains err "did you mean 'below'?"
	expect_status 1 run --set below=-1 -- true
	assert_contains err "--set below: -1 is negative"
	expect_status 1 run --map call -- true
	assert_contains err "unknown map 'call'"
	assert_contains err "did you mean 'calls'?"
	expect_status 255 run -- ./no_such_command
	assert_contains err "Failed to run the './no_such_command' workload: No such file"
	expect_status 2 run --interval 0 -- true
	assert_contains err "--interval 0: expected a time such as"
	expect_status 1 run -p 12x -- true
	assert_contains err "-p: '12x' is not a list of process ids"
	expect_status 1 run -u nobody-of-that-name -- true
	assert_contains err "unknown user"
	expect_status 1 run --cgroup no/such/group -- true
	assert_contains err "unknown cgroup 'no/such/group'"
	expect_status 1 "$PERF_BPF" run "$OBJECTS/run_unasked.bpf.o" -p 1 -- true
	assert_contains err "none of the programs supports -p"
	assert_contains err "perf_bpf_wanted()"
	expect_status 0 "$PERF_BPF" run "$OBJECTS/run_unasked.bpf.o" -- true
}

# What cannot be is said with its place; what can be shown is shown.
test_bad_objects() {
	make_workload
	cat >plain.bpf.c <<-'END'
		#include <linux/types.h>
		#include <bpf/bpf.h>
		struct key { int mask; char text[8]; };
		bpf_map(seen, HASH, struct key, __u64, 64);
		char looks[] SEC("config") = "other: log2,unit=bytes,title=of another map\n";
		SEC("tracepoint/syscalls/sys_enter_umask")
		int on_umask(struct syscall_enter_args *args)
		{
			struct key key = {.mask = args->args[0], .text = "abc"};
			char comm[16] = {};
			__u64 one = 1;
			bpf_get_current_comm(comm, sizeof(comm));
			if (comm[0] == 'p' && comm[1] == 'b' && comm[2] == 't' && comm[4] == 'u')
				bpf_map_update_elem(&seen, &key, &one, 0);
			return 0;
		}
		license(GPL);
	END
	clang -O2 --target=bpf -I"$SRC/include" -I"$BUILD/include" \
		-I"/usr/include/$(gcc -print-multiarch)" -c plain.bpf.c -o plain.o # no -g: no BTF

	# A map without BTF: its bytes.
	run_plain() { "$PERF_BPF" run "$1" --json -- $(umasks 1 5) >out 2>err || true; }
	run_plain plain.o
	check out seen 'r["rows"] == [{"key": "050000006162630000000000", "value": 1}]'
	[ ! -s err ] || fail "$(cat err)"

	# The section "config": bytes that are no text; a place that the file does not have.
	cat >patch.py <<-'END'
		import struct, sys
		data = bytearray(open("plain.o", "rb").read())
		table, = struct.unpack_from("<Q", data, 40)
		number, names = struct.unpack_from("<HH", data, 60)
		offset = lambda i: struct.unpack_from("<Q", data, table + 64 * i + 24)[0]
		for i in range(number):
		    at = offset(names) + struct.unpack_from("<I", data, table + 64 * i)[0]
		    if data[at:at + 7] != b"config\0":
		        continue
		    if sys.argv[1] == "binary":
		        data[offset(i) + 3] = 0x80
		    else:
		        struct.pack_into("<Q", data, table + 64 * i + 24, 1 << 40)
		open(sys.argv[1] + ".o", "wb").write(data)
	END
	python3 patch.py binary
	run_plain binary.o
	assert_contains err "binary.o: section config is not text: byte 0x80 at offset 3"
	check out seen 'len(r["rows"]) == 1'
	python3 patch.py beyond
	expect_status 1 "$PERF_BPF" run beyond.o -- true
	assert_contains err "beyond.o: section "
	assert_contains err "(config): "
	assert_contains err "exceed the file's"
}

# 64 TiB: no machine has them.
test_a_map_that_is_too_large() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	expect_status 1 "$PERF_BPF" run "$OBJECTS/run_large.bpf.o" -- true
	assert_contains err "run_large.bpf.o: map 'large' (type hash, key 8, value 65536, 1073741824 entries): cannot create it"
	assert_contains err "hint: its entries need at least 65544 GiB, but the machine has"
}

# A timer's signal, too, ends the verifier's work.
test_a_program_that_is_verified_for_long() {
	make_workload
	"$PERF_BPF" run "$OBJECTS/run_long_verified.bpf.o" --json -- $(umasks 1 1) >out 2>err || true
	check out run_long.bss 'r["rows"] == [{"variable": "odd", "value": 45000}]'
}

# Of a group the first whose place is there; an optional program alone may be missing.
test_optional_programs() {
	make_workload
	"$PERF_BPF" run "$OBJECTS/run_optional.bpf.o" --comm pbt_umask -v --json -- $(umasks 7 1) >out 2>err || true
	check out calls 'r["count"] == 28'
	assert_contains err "program left_out is skipped: on_umask is available"
	assert_contains err "program not_c is skipped: one_b is available"
	for program in no_tracepoint no_raw_tp no_tp_btf no_fentry no_kprobe no_uprobe optional; do
		assert_contains err "program $program is skipped: "
	done
	expect_status 1 "$PERF_BPF" run "$SRC/tests/bpf/run_optional.bpf.c" --clang-opt -DNO_PLACE -- true
	assert_contains err "run_optional.bpf.c: none of its call programs can be attached on this kernel: "
	assert_contains err "fentry/no_such_function: the kernel has no function no_such_function; "
}

run_tests
