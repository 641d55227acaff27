#!/usr/bin/env bash
# perf-bpf run: what rings and maps have no room for is counted, whatever the program does with
# the return values of its helpers. The workload counts its calls itself.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

# A copy of the workload: "call umask N i" calls umask(2) N times, each time with another mask.
make_workload() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	workload_as pbt_losses
}

# run_losses PROGRAM OPTIONS
run_losses() {
	"$PERF_BPF" run --comm pbt_losses "$OBJECTS/losses_$1.bpf.o" "${@:2}"
}

# begin_losses OPTIONS: the same in the background, as $reader
begin_losses() {
	"$PERF_BPF" run --comm pbt_losses "$OBJECTS/losses_$1.bpf.o" "${@:2}" >out 2>err &
	reader=$!
}

# expect_total MAP N: events that were shown and those that were lost are N
expect_total() {
	python3 - "$@" <<-'END'
		import json, sys
		lines = [json.loads(l) for l in open("out") if l.startswith("{")]
		shown = [l for l in lines if l["kind"] == "event" and l["map"] == sys.argv[1]]
		total, = [l for l in lines if l["kind"] == "events" and l["map"] == sys.argv[1]]
		assert total["total"] == len(shown) > 10, (total, len(shown))
		assert total["lost"] > 10, total
		assert total["total"] + total["lost"] == int(sys.argv[2]), total
	END
}

test_ringbuf_output_that_fails_is_counted() {
	make_workload
	run_losses output --json -- ./pbt_losses call umask 1000 i >out
	expect_total ring 1000
	run_losses output -- ./pbt_losses call umask 1000 i >out
	grep -E 'ring: [0-9]+ events, [0-9]+ lost' out | python3 -c '
import re, sys
shown, lost = map(int, re.findall(r"(\d+) events, (\d+) lost", sys.stdin.read())[0])
assert shown + lost == 1000 and lost > 10, (shown, lost)'
	run_losses output --csv -- ./pbt_losses call umask 1000 i >out
	python3 -c '
last = [l.split(",") for l in open("out").read().splitlines() if l.startswith("ring,")][-1]
assert int(last[1]) + int(last[2]) == 1000 and int(last[2]) > 10, last'
}

test_ringbuf_reserve_that_fails_is_counted() {
	make_workload
	run_losses reserve --json -- ./pbt_losses call umask 1000 i >out
	expect_total ring 1000
	expect_total other 500
}

# The same by a dynptr, which a program has to give up also where there was no room.
test_ringbuf_reserve_dynptr_that_fails_is_counted() {
	make_workload
	"$PERF_BPF" btf show /sys/kernel/btf/vmlinux -C bpf_dynptr >struct 2>&1 ||
		skip "this kernel has no dynptr"
	run_losses dynptr --json -- ./pbt_losses call umask 5000 i >out
	expect_total ring 5000
}

# The reader is stopped while the workload runs.
test_perf_event_output_that_fails_is_counted() {
	make_workload
	begin_losses perf --json --verbose
	soon grep -q 'is attached' err
	kill -STOP $reader
	./pbt_losses call umask 20000 i >/dev/null
	kill -CONT $reader
	kill -TERM $reader
	wait $reader
	expect_total buffer 20000
}

# A packet of the workload is an event; 1,179 bytes with the headers of IP and UDP. Of a full ring the
# kernel tells itself; about half of the packets are for the ring of a CPU that is not there, of
# which only the counter behind the call knows.
test_skb_output_that_fails_is_counted() {
	make_workload
	"$PERF_BPF" run "$OBJECTS/losses_skb.bpf.o" --json --verbose >out 2>err &
	reader=$!
	soon grep -q 'is attached' err
	kill -STOP $reader
	./pbt_losses sends 20000 1151
	kill -CONT $reader
	kill -TERM $reader
	wait $reader
	expect_total buffer 20000
}

# Masks are kept by a map with fewer entries than there are masks.
test_updates_of_a_full_map_are_counted() {
	make_workload
	run_losses full --json -- ./pbt_losses call umask 1000 i >out 2>err
	python3 - <<-'END'
		import json
		masks, = [json.loads(l) for l in open("out") if l.startswith("{")]
		assert len(masks["rows"]) + masks["failed_updates"] == 1000, masks
		assert len(masks["rows"]) == 64 and "full: 936 updates failed" in masks["note"], masks
	END
	assert_contains err "losses_full.bpf.o: 200 updates of map hidden failed; max_entries is 16"
	assert_contains err "losses_full.bpf.o: 992 updates of map queue failed; max_entries is 8"
	run_losses full -- ./pbt_losses call umask 1000 i >out 2>/dev/null
	assert_contains out "full: 936 updates failed; max_entries is 64"
}

test_openmetrics_has_what_was_counted() {
	make_workload
	begin_losses output --openmetrics 127.0.0.1:0
	soon grep -q 'metrics are at' err
	soon curl -sf "$(sed -n 's/.*metrics are at //p' err)" -o metrics
	grep -qE "^perf_bpf_([a-z]+_)*ring_lost_total(\{.*\})? 0$" metrics || fail "$(cat metrics)"
	kill -STOP $reader # else it reads the ring as often as it gets to it
	./pbt_losses call umask 1000 i >/dev/null
	kill -CONT $reader
	curl -sf "$(sed -n 's/.*metrics are at //p' err)" -o metrics
	kill -TERM $reader
	wait $reader
	lost=$(sed -nE "s/^perf_bpf_([a-z]+_)*ring_lost_total(\{.*\})? //p" metrics)
	[ "$lost" -gt 900 ] || fail "$lost lost"
	assert_contains out "ring: $((1000 - lost)) events, $lost lost"
}

# Of a ring that is found while the program runs, losses are not counted, and no number is shown.
test_what_is_not_counted_is_not_claimed() {
	make_workload
	run_losses inner -- ./pbt_losses call umask 1000 i >out 2>err
	grep -qE 'ring: [0-9]+ events, losses not counted' out || fail "$(tail -1 out)"
	lost=$(sed -nE 's/.*losses_inner.bpf.o: ([0-9]+) updates failed of maps that .*/\1/p' err)
	shown=$(sed -nE 's/.*ring: ([0-9]+) events.*/\1/p' out)
	assert_equal "$((lost + shown))" 1000
	run_losses inner --json -- ./pbt_losses call umask 1000 i >out
	grep '"kind":"events"' out >total
	! grep '"lost"' total || fail "a number of losses"
}

# The kernel keeps one stack for each hash: what finds its slot taken has no stack.
test_stacks_that_are_lost_are_counted() {
	make_workload
	run_losses stacks --json --pprof profile.gz -- ./pbt_losses call umask 1000 i >out
	python3 - <<-'END'
		import gzip, json
		r, = [json.loads(l) for l in open("out") if l.startswith("{")]
		assert (r["total"], r["lost"], r["lost_stacks"]) == (1000, 1000, 1000), r
		assert r["note"].startswith("1000 of 1000 calls have a stack that was lost"), r
		assert b"1000 of 1000 calls" in gzip.open("profile.gz").read()
	END
	run_losses stacks --folded -- ./pbt_losses call umask 1000 i >out 2>err
	assert_contains err "calls: 1000 of 1000 calls have a stack that was lost"
	run_losses stacks -- ./pbt_losses call umask 1000 i >out
	assert_contains out "note: 1000 of 1000 calls have a stack that was lost"
}

# A stack that finds the slot of its hash taken is kept all the same: the map is keyed by content.
test_stacks_do_not_collide() {
	make_workload
	run_losses deep --json -- ./pbt_losses ways 10 call umask 1 18 >out
	python3 - <<-'END'
		import json
		r, = [json.loads(l) for l in open("out") if l.startswith("{")]
		asked = [s for s in r["stacks"] if sum(f["name"] == "work_way" for f in s["frames"]) == 11]
		# 1024 ways lead to umask(); each is met once, and the frames tell them apart
		assert sum(s["count"] for s in asked) == 1024 and len(asked) == 1024, len(asked)
		assert r["lost_stacks"] == 0 and "lost" not in r and "note" not in r, r.get("note")
	END
}

# With --clear, what programs add to is a difference, and all else is as it is.
test_clear_subtracts_sums_only() {
	make_workload
	cat >again.sh <<-'END'
		./pbt_losses call umask 500 i >/dev/null
		end=$(($(date +%s) + 60))
		until grep -q '"kept":500' out || [ "$(date +%s)" -gt $end ]; do sleep 0.02; done
		./pbt_losses call umask 300 i >/dev/null
	END
	: >out
	run_losses clear --json --clear --interval 50ms -- sh again.sh >out
	python3 - <<-'END'
		import json
		lines = [json.loads(l) for l in open("out") if l.startswith("{")]
		rows = [w for l in lines if l["map"] == "values" for w in l["rows"]]
		total = lambda name: sum(w[name] for w in rows)
		# sums: the differences add up
		assert total("calls") == 800 and total("declared") == 1600, rows
		assert total("sum") == 499 * 500 // 2 + 299 * 300 // 2, rows
		assert [total(f"parts[{i}]") for i in range(4)] == [200] * 4, rows
		# the second part's largest mask is smaller than the first one's
		assert rows[-1]["max"] == 499 and rows[-1]["last"] == 299, rows
		assert rows[-1]["kept"] == 800, rows
		assert all(0 <= w["max"] <= 499 and 0 <= w["last"] <= 499 for w in rows), rows
		# 3 more and 1 less in turn: as it is, not its difference
		assert rows[-1]["level"] == 800, rows
		notes = {l["note"] for l in lines if l["map"] == "values"}
		assert notes == {"max, last, level, average, kept: current, not the change"}, notes
		# maxima of CPUs are not added up
		cpus = [w for l in lines if l["map"] == "by_cpu" for w in l["rows"]]
		assert all("cpu" in w and w["max"] <= 499 for w in cpus), cpus
		assert sum(w["calls"] for w in cpus) == 800, cpus
	END
	run_losses clear --clear --interval 1h -- ./pbt_losses call umask 10 i >out
	assert_contains out "note: max, last, level, average, kept: current, not the change"
}

run_tests
