#!/usr/bin/env bash
# script --firefox and --perfetto: each sample of script --json, with its time, thread and call chain.
. "$(dirname "$0")/../tap.sh"

. "$(dirname "$0")/../golden/golden.sh"

# cpu: three events with call chains; sched: tracepoints of several threads. With what script has of
# them.
recordings() {
	cp "$FILES/kallsyms" .
	cp "$FILES/multi" cpu.data
	cp "$FILES/many" sched.data
	for name in cpu sched; do
		"$PERF_BPF" script --kallsyms kallsyms -i $name.data --json >$name.json 2>err || fail "script: $(cat err)"
		grep -c '"type":"sample"' $name.json >count
		[ "$(cat count)" -gt 20 ] || fail "$name has $(cat count) samples"
	done
	cat >wanted.py <<-'END'
		import collections, json, sys
		def wanted(path):
		    """(event, pid, tid, time, chain from the inside, text) of each sample"""
		    for line in map(json.loads, open(path)):
		        if line["type"] == "sample":
		            chain = line.get("chain") or [line]
		            yield (line["event"], line["pid"], line["tid"], line["time"],
		                   tuple(f.get("sym", f["ip"]) for f in chain), line.get("trace"))
		def compare(want, got):
		    want, got = collections.Counter(want), collections.Counter(got)
		    print(sum(want.values()), "samples")
		    for what, n in ((want - got) + (got - want)).most_common(3):
		        print("missing" if what in want - got else "wrong", n, what)
		    sys.exit(want != got)
	END
}

test_firefox() {
	recordings
	cat >read.py <<-'END'
		from wanted import *
		profile = json.load(open(sys.argv[1]))
		assert profile["meta"]["preprocessedProfileVersion"] == 48
		first = min(w[3] for w in wanted(sys.argv[2]))
		def ns(ms):
		    return first + round(ms * 1e6)
		def rows(table):
		    """As dictionaries; each column has the length that the table says."""
		    columns = {k: v for k, v in table.items() if isinstance(v, list)}
		    for name, column in columns.items():
		        assert len(column) == table["length"], (name, len(column), table["length"])
		    return [dict(zip(columns, values)) for values in zip(*columns.values())]
		def got():
		    for t in profile["threads"]:
		        text = t["stringArray"]
		        stacks, frames, funcs, resources = (rows(t[name]) for name in (
		            "stackTable", "frameTable", "funcTable", "resourceTable"))
		        rows(t["nativeSymbols"])
		        for r in resources:
		            assert profile["libs"][r["lib"]]["path"] == text[r["name"]]
		        def chain(at):
		            names = []
		            while at is not None:
		                assert stacks[at]["prefix"] is None or stacks[at]["prefix"] < at
		                frame = frames[stacks[at]["frame"]]
		                func = funcs[frame["func"]]
		                assert func["resource"] == -1 or resources[func["resource"]]
		                assert profile["meta"]["categories"][frame["category"]]["name"] in (
		                    "User", "Kernel")
		                names.append(text[func["name"]])
		                at = stacks[at]["prefix"]
		            return tuple(names)
		        s = t["samples"]
		        assert len(s["stack"]) == len(s["time"]) == s["length"]
		        times = s["time"]
		        assert times == sorted(times)
		        for stack, time in zip(s["stack"], times):
		            yield None, int(t["pid"]), t["tid"], ns(time), chain(stack), None
		        for m in rows(t["markers"]):
		            yield (text[m["name"]], int(t["pid"]), t["tid"], ns(m["startTime"]),
		                   chain(m["data"]["cause"]["stack"]), m["data"]["fields"])
		# the event of a sample is that of its row; which one is in no member
		compare([(w[0] if w[5] else None, *w[1:]) for w in wanted(sys.argv[2])], got())
	END
	for name in cpu sched; do
		expect_status 0 "$PERF_BPF" script --kallsyms kallsyms -i $name.data --firefox $name.profile
		assert_equal "$(cat out)" ""
		python3 read.py $name.profile $name.json >out || fail "$name: $(tail -5 out | cut -c1-600)"
	done
	grep -q ' (page-faults\| (cpu-clock' cpu.profile || fail "the events of a thread are not apart"
}

test_perfetto() {
	recordings
	command -v protoc >/dev/null || skip "needs protoc (protobuf-compiler)"
	# The fields that are written, as protos/perfetto/trace of Perfetto has them.
	cat >trace.proto <<-'END'
		syntax = "proto2";
		message Trace { repeated Packet packet = 1; }
		message Packet {
		  optional Bundle ftrace_events = 1; optional Tree process_tree = 2;
		  optional uint64 timestamp = 8; optional uint32 sequence = 10;
		  optional Event track_event = 11; optional Interned interned_data = 12;
		  optional uint32 flags = 13; optional Track track = 60; optional Sample sample = 66;
		}
		message Bundle { optional uint32 cpu = 1; repeated Ftrace event = 2; }
		message Ftrace { optional uint64 timestamp = 1; optional uint32 pid = 2;
		  optional Switch sched_switch = 4; }
		message Switch { optional string prev_comm = 1; optional int32 prev_pid = 2;
		  optional int32 prev_prio = 3; optional int64 prev_state = 4;
		  optional string next_comm = 5; optional int32 next_pid = 6;
		  optional int32 next_prio = 7; }
		message Tree { repeated Process processes = 1; repeated Thread threads = 2; }
		message Process { optional int32 pid = 1; repeated string cmdline = 3; }
		message Thread { optional int32 tid = 1; optional string name = 2; optional int32 tgid = 3; }
		message Event { repeated Annotation annotations = 4; optional int32 type = 9;
		  optional uint64 uuid = 11; repeated string categories = 22; optional string name = 23; }
		message Annotation { optional string text = 6; optional string name = 10; }
		message Track { optional uint64 uuid = 1; optional TrackThread thread = 4; }
		message TrackThread { optional int32 pid = 1; optional int32 tid = 2;
		  optional string name = 5; }
		message Interned { repeated Str functions = 5; repeated Frame frames = 6;
		  repeated Callstack callstacks = 7; repeated Str build_ids = 16; repeated Str paths = 17;
		  repeated Mapping mappings = 19; }
		message Str { optional uint64 iid = 1; optional bytes str = 2; }
		message Mapping { optional uint64 iid = 1; optional uint64 build_id = 2;
		  repeated uint64 path = 7; }
		message Frame { optional uint64 iid = 1; optional uint64 function = 2;
		  optional uint64 mapping = 3; optional uint64 rel_pc = 4; }
		message Callstack { optional uint64 iid = 1; repeated uint64 frames = 2; }
		message Sample { optional uint32 cpu = 1; optional uint32 pid = 2; optional uint32 tid = 3;
		  optional uint64 callstack = 4; optional uint32 mode = 5; }
	END
	cat >read.py <<-'END'
		import ast, re
		from wanted import *
		def parse(lines):
		    """protoc's text: each message as {field: [values]}"""
		    message = collections.defaultdict(list)
		    for line in lines:
		        line = line.strip()
		        if line == "}":
		            break
		        name, _, value = line.partition(" ")
		        if value == "{":
		            message[name].append(parse(lines))
		        else:
		            if value.startswith('"'):
		                value = ast.literal_eval("b" + value).decode(errors="replace")
		            else:
		                value = int(value)
		            message[name.rstrip(":")].append(value)
		    assert not any(re.match(r"\d", name) for name in message), message  # an unknown field
		    return message
		def one(message, name):
		    (value,) = message[name]
		    return value
		def got():
		    tables = collections.defaultdict(dict)
		    tracks = {}
		    for n, packet in enumerate(parse(iter(sys.stdin))["packet"]):
		        assert one(packet, "sequence") == 1
		        assert one(packet, "flags") == (2 if n else 3)
		        for interned in packet["interned_data"]:
		            for name, entries in interned.items():
		                for e in entries:
		                    assert one(e, "iid") not in tables[name]
		                    tables[name][one(e, "iid")] = e
		        for track in packet["track"]:
		            tracks[one(track, "uuid")] = one(track, "thread")
		        for sample in packet["sample"]:
		            names = []
		            for iid in tables["callstacks"][one(sample, "callstack")]["frames"]:
		                frame = tables["frames"][iid]
		                for mapping in frame["mapping"]:
		                    path = tables["paths"][one(tables["mappings"][mapping], "path")]
		                    assert one(path, "str")
		                    assert frame["rel_pc"]
		                names.append(one(tables["functions"][one(frame, "function")], "str"))
		            yield (None, one(sample, "pid"), one(sample, "tid"), one(packet, "timestamp"),
		                   tuple(reversed(names)), None)
		        for event in packet["track_event"]:
		            thread = tracks[one(event, "uuid")]
		            yield (one(event, "name"), one(thread, "pid"), one(thread, "tid"),
		                   one(packet, "timestamp"), None, one(one(event, "annotations"), "text"))
		        for bundle in packet["ftrace_events"]:
		            event = one(bundle, "event")
		            s = {k: v[0] for k, v in one(event, "sched_switch").items()}
		            yield ("sched:sched_switch", s["prev_pid"], one(event, "timestamp"),
		                   one(bundle, "cpu"), s["prev_comm"], s["next_comm"], s["next_pid"],
		                   s["prev_prio"], s["next_prio"])
		def want():
		    for line in map(json.loads, open(sys.argv[1])):
		        if line.get("event") == "sched:sched_switch":
		            f = line["fields"]
		            yield ("sched:sched_switch", f["prev_pid"], line["time"], line["cpu"],
		                   f["prev_comm"], f["next_comm"], f["next_pid"], f["prev_prio"],
		                   f["next_prio"])
		    for w in wanted(sys.argv[1]):
		        if w[0] != "sched:sched_switch":
		            yield (w[0], *w[1:4], None, w[5]) if w[5] else (None, *w[1:5], None)
		compare(want(), got())
	END
	for name in cpu sched; do
		expect_status 0 "$PERF_BPF" script --kallsyms kallsyms -i $name.data --perfetto $name.trace
		assert_equal "$(cat out)" ""
		protoc --decode=Trace trace.proto <$name.trace >$name.text || fail "protoc cannot read it"
		python3 read.py $name.json <$name.text >out || fail "$name: $(tail -5 out | cut -c1-600)"
	done
}

test_filters_and_errors() {
	recordings
	expect_status 0 "$PERF_BPF" script --kallsyms kallsyms -i sched.data --perfetto both.trace --firefox both.profile \
		--comms rbpf_twin
	for thread in $(python3 -c '
import json
print(*{t["name"].split(" (")[0] for t in json.load(open("both.profile"))["threads"]})'); do
		assert_equal "$thread" rbpf_twin
	done
	head -c 30000 cpu.data >cut.data
	expect_status 1 "$PERF_BPF" script --kallsyms kallsyms -i cut.data --firefox cut.profile
	assert_contains err "truncated"
	python3 -c 'import json; assert json.load(open("cut.profile"))["threads"]' ||
		fail "what could be read was not written"
	expect_status 2 "$PERF_BPF" script --kallsyms kallsyms -i cpu.data --firefox x --json
	assert_contains err "--firefox and --perfetto cannot be used with --json"
	expect_status 1 "$PERF_BPF" script --kallsyms kallsyms -i cpu.data --firefox none/x
	assert_contains err "none/x"
}

run_tests
