#!/usr/bin/env bash
# perf-bpf watch: against a program that loads and unloads programs and knows their ids.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

LOADER=$BUILD/tests/cmd/program_loader

need() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

# json EXPRESSION: of the lines of ./out, each as a dict in `events`; `ids` are those of ./ids
json() {
	python3 - "$1" <<-'END' || fail "$1"
		import json, sys
		events = [json.loads(line) for line in open("out")]
		ids = [int(line) for line in open("ids")]
		def of(**want):
		    return [e for e in events if all(e.get(k) == v for k, v in want.items())]
		sys.exit(not eval(sys.argv[1]))
	END
}

# watch_held COUNT NAME OPTION...: watch, of a workload that loads so many programs and unloads each
# when a line of ./out or, with --exec, of ./ran has its name: by then it has been read.
watch_held() {
	local count=$1 name=$2 i pid status=0
	shift 2
	rm -f go
	mkfifo go
	: >ran
	"$PERF_BPF" watch "$@" -- sh -c "'${HELD_LOADER:-$LOADER}' $name $count 100 - <go >ids" >out 2>err &
	pid=$!
	trap "kill $pid 2>/dev/null || :" EXIT
	exec 3>go
	for i in $(seq 0 $((count - 1))); do
		soon grep -q "$name$i\>" out ran
		echo >&3
	done
	exec 3>&-
	wait $pid || status=$?
	return $status
}

# Programs by the thousand in a second, each unloaded at once: none is missed. The records of 600 (240
# bytes each) and of other processes have room in the ring of one CPU (256 KB), so that it does not
# matter when watch reads them.
test_every_load_and_unload() {
	need
	"$PERF_BPF" watch --json -- sh -c "'$LOADER' pbtw 600 1000 0 >ids" >out 2>err || fail "$(cat err)"
	assert_equal "$(wc -l <ids)" 600
	json '[e["id"] for e in events if e.get("name", "").startswith("pbtw") and e["event"] == "load"] == ids'
	json 'sorted(e["id"] for e in of(event="unload") if e["id"] in ids) == sorted(ids)'
	json 'all(e["comm"] == "program_loader" and e["pid"] > 1 for e in of(event="load") if e["id"] in ids)'
	json 'len({e["tag"] for e in events if e["id"] in ids}) == 600'
	json 'all(a["time_ns"] <= b["time_ns"] for a, b in zip(events, events[1:]))'
	grep -q 'loads* (.* gone before they could be read), .* unloads*, 0 records lost' err || fail "$(cat err)"
	# each load has its details, or is counted as one that has none
	local gone
	gone=$(sed -n 's/.* loads* (\([0-9]*\) gone.*/\1/p' err)
	json "len(of(event='load', known=False)) == $gone"
}

# While several events get records of programs, the kernel adds up their sizes, so that they are larger
# than what it wrote into them: two recordings of the system, each with an event on each CPU.
test_beside_recordings() {
	need
	local i pids=()
	for i in 1 2; do
		"$PERF_BPF" record -q -a -e cpu-clock -c 1000000000 -o beside$i.data 2>recorder$i &
		pids+=($!)
	done
	trap 'kill "${pids[@]}" 2>/dev/null || :' EXIT
	records() { ls -l "/proc/$1/fd" | grep -q 'anon_inode:\[perf_event\]' && waits_for_events "$1"; }
	for i in "${pids[@]}"; do
		soon records "$i"
	done
	"$PERF_BPF" watch --json -- sh -c "'$LOADER' pbtb 200 1000 0 >ids" >out 2>err || fail "$(cat err)"
	kill -INT "${pids[@]}"
	wait "${pids[@]}" || :
	trap - EXIT
	assert_equal "$(wc -l <ids)" 200
	json '[e["id"] for e in events if e.get("name", "").startswith("pbtb") and e["event"] == "load"] == ids'
	json 'sorted(e["id"] for e in of(event="unload") if e["id"] in ids) == sorted(ids)'
	json 'all(e["comm"] == "program_loader" and e["pid"] > 1 for e in of(event="load") if e["id"] in ids)'
	json 'all(a["time_ns"] <= b["time_ns"] for a, b in zip(events, events[1:]))'
	json 'events[-1]["time_ns"] - events[0]["time_ns"] < 600e9' # none is of the time of boot
	grep -q 'loads* (.* gone before they could be read), .* unloads*, 0 records lost' err || fail "$(cat err)"
	# what the recordings have of them
	for i in 1 2; do
		"$PERF_BPF" script --show-bpf-events -i beside$i.data >of$i 2>err || fail "$(cat err)"
		while read -r id; do
			grep -q "program_loader.*PERF_RECORD_BPF_EVENT.*type 1, flags 0, id $id\$" of$i ||
				fail "no record of program $id in recording $i"
		done <ids
	done
}

# Programs that stay for a while: all that is known of them, also when they are unloaded.
test_details() {
	need
	watch_held 3 pbtd --json || fail "$(cat err)"
	json 'len([e for e in of(event="load", prog_type="socket_filter", known=True) if e["id"] in ids]) == 3'
	json 'len([e for e in of(event="unload", prog_type="socket_filter", uid=0) if e["id"] in ids]) == 3'
	json 'all(e["bytes_xlated"] == 16 for e in events if e["id"] in ids)'
	json '[e["name"] for e in of(event="load") if e["id"] in ids] == ["pbtd0", "pbtd1", "pbtd2"]'
}

# As bpftool says: name, type, tag, maps.
test_as_bpftool_says() {
	need
	command -v bpftool >/dev/null || skip "bpftool is not installed"
	cp "$OBJECTS/watch_w.bpf.o" w.bpf.o
	# It stays until its load is shown, and the kernel unloads it some time after rm.
	cat >load.sh <<-'END'
		shown() {
			end=$(($(date +%s) + 60))
			until grep "\"event\":\"$1\"" out | grep -q pbtw_a_long || [ "$(date +%s)" -gt $end ]; do
				sleep 0.05
			done
		}
		pin=/sys/fs/bpf/pbtw_$$
		bpftool prog load w.bpf.o $pin && bpftool -j prog show pinned $pin >theirs
		shown load
		rm $pin
		shown unload
	END
	: >out
	"$PERF_BPF" watch --json -- sh load.sh >out 2>err || fail "$(cat err)"
	python3 - <<-'END' || fail "watch and bpftool differ: $(cat theirs out)"
		import json
		theirs = json.load(open("theirs"))
		ours = [e for e in map(json.loads, open("out")) if e["id"] == theirs["id"]]
		load, unload = ours
		assert load["event"] == "load" and unload["event"] == "unload"
		assert load["tag"] == theirs["tag"] and load["prog_type"] == theirs["type"]
		assert load["bytes_xlated"] == theirs["bytes_xlated"] and load["bytes_jited"] == theirs["bytes_jited"]
		assert [m["id"] for m in load["maps"]] == theirs["map_ids"]
		assert load["maps"][0]["name"] == "pbtw_counts" and load["comm"] == "bpftool"
		assert load["name"] == "pbtw_a_long_name_of_a_program" and load["target"] == "btf_trace_task_rename"
		assert unload["name"] == load["name"] and unload["maps"] == load["maps"]
	END
}

test_lines_for_people() {
	need
	watch_held 2 pbtl || fail "$(cat err)"
	head -n 1 out | grep -qE '^TIME +EVENT +ID +TYPE +NAME +PID +COMM$' || fail "$(head -n 1 out)"
	grep -qE '^[0-9:]{8}\.[0-9]{3} load   +[0-9]+ socket_filter  pbtl1 +[0-9]+ program_loader$' out ||
		fail "$(cat out)"
	grep -qE '^[0-9:]{8}\.[0-9]{3} unload +[0-9]+ socket_filter  pbtl1 ' out || fail "$(cat out)"
	# programs of others may have longer names
	! awk '(NR == 1 || / pbtl[01] /) && length > 80' out | grep . || fail "a line does not fit into 80 columns"
	grep -qP '^\ttag [0-9a-f]{16}  uid 0  xlated 16B' out || fail "$(cat out)"
}

# A tag that is not on the list: marked, and the status is 3.
test_allowed() {
	need
	"$PERF_BPF" watch --json -- sh -c "'$LOADER' pbta 2 10 50 >ids" >out 2>err || fail "$(cat err)"
	python3 - <<-'END' >tags
		import json
		ids = [int(line) for line in open("ids")]
		events = [json.loads(line) for line in open("out")]
		print("# what program_loader loads")
		print("\n".join(sorted({e["tag"] + " pbta # known" for e in events if e["id"] in ids})))
	END
	assert_equal "$(wc -l <tags)" 3
	# other tests may load programs at the same time, so only ours are looked at
	"$PERF_BPF" watch --json --allow tags -- sh -c "'$LOADER' pbta 2 10 50 >ids" >out 2>err || :
	json 'not [e for e in of(not_allowed=True) if e["id"] in ids]'
	expect_status 3 "$PERF_BPF" watch --json --allow tags -- sh -c "'$LOADER' pbta 3 10 50 >ids"
	json '[e["name"] for e in of(not_allowed=True) if e["id"] in ids] == ["pbta2"]'
	echo "deadbeef" >tags
	expect_status 1 "$PERF_BPF" watch --allow tags -- true
	assert_contains err "tags:1: expected a tag of 16 hexadecimal digits"
	expect_status 1 "$PERF_BPF" watch --allow /dev/zero -- true
}

# A command for each event, in order, with the event in its environment and not in its text.
test_exec() {
	need
	cp "$LOADER" './$(id)'
	HELD_LOADER='./$(id)'
	watch_held 2 pbte -q --exec \
		'echo "$PERF_BPF_EVENT $PERF_BPF_ID $PERF_BPF_NAME $PERF_BPF_TYPE $PERF_BPF_COMM" >>ran' ||
		fail "$(cat err)"
	local id n=0
	while read -r id; do
		echo "load $id pbte$n socket_filter \$(id)"
		n=$((n + 1))
	done <ids >expected
	assert_equal $n 2
	grep '^load .* pbte' ran | cmp - expected || fail "$(cat ran)"
}

# Ctrl-C ends it well; with a command that never ends, too.
test_ctrl_c() {
	need
	"$PERF_BPF" watch --json --exec 'echo $$ >sleeper; exec sleep 100' >out 2>err &
	local pid=$! status=0
	is_seen() { "$LOADER" pbtc 1 10 0 >/dev/null && grep -q '"name":"pbtc0"' out; }
	soon is_seen
	soon test -s sleeper
	kill -INT $pid
	wait $pid || status=$?
	[ $status = 0 ] || [ $status = 130 ] || fail "ended with $status"
	grep -q 'loads* (' err || fail "$(cat err)"
	! grep -E '[^0-9]1 (loads|unloads|records)' err || fail "a plural of one"
	kill "$(cat sleeper)"
}

test_usage() {
	expect_status 2 "$PERF_BPF" watch --timeout never
	expect_status 2 "$PERF_BPF" watch --alow x
	assert_contains err "allow"
}

test_without_privilege() {
	need
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	expect_status 1 setpriv --reuid=65534 --clear-groups --bounding-set=-all "$PERF_BPF" watch -- true
	assert_contains err "CAP_PERFMON"
}

run_tests
