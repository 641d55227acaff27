#!/usr/bin/env bash
# Maps of programs that were not written for perf-bpf: what they hold is shown, or said to be hidden.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../workload.sh"

# program DECLARATIONS CODE: prog.bpf.c, whose CODE runs at each umask(2) of pbt_maps
program() {
	[ "$(id -u)" = 0 ] || skip "loading a BPF program takes root"
	cat >prog.bpf.c <<-END
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		#include <bpf/bpf_tracing.h>
		#include <bpf/perf_bpf_prog.h>
		$1
		SEC("tracepoint/syscalls/sys_enter_umask")
		int on_call(struct trace_event_raw_sys_enter *ctx)
		{
			__u64 mask = ctx->args[0];
			if (!perf_bpf_wanted())
				return 0;
			$2
			return 0;
		}
		char LICENSE[] SEC("license") = "GPL";
	END
	workload_as pbt_maps
}

# run OPTION... -- MASK...
run() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$PERF_BPF" run prog.bpf.c --comm pbt_maps "${options[@]}" -- ./pbt_maps $(for mask; do echo , call umask 1 "$mask"; done | sed "1s/^, //")
}

test_variables_beside_a_map() {
	program 'PERF_BPF_COUNT(counted, "calls", "calls"); __u64 total; __u64 preset = 7;' \
		'perf_bpf_count(&counted, 1); total += mask; preset++;'
	run -- 3 4 >out 2>err
	assert_equal "$(cat out)" "calls: 2 calls"
	assert_contains err "the global variables in prog.bss are not shown; show them with --map 'prog.bss'"
	assert_contains err "the global variables in prog.data are not shown"
	run --map '*.bss' -- 3 4 >out 2>err
	grep -qE '^total +7$' out || fail "$(cat out err)"
	[ ! -s err ] || fail "$(cat err)"
	run --map 'prog.*' -- 3 4 >out 2>err
	grep -qE '^total +7$' out || fail "$(cat out err)"
	grep -qE '^preset +9$' out || fail "$(cat out err)"
	! grep -q perf_bpf out || fail "$(cat out)"
	expect_status 1 run --map '*.bsss' -- 1
	assert_contains err "unknown map '*.bsss'"
}

test_variables_in_sections_of_their_own() {
	program '__u64 preset SEC(".data.pbt-own") = 7; __u64 total SEC(".bss.pbt");' \
		'total += mask; preset++;'
	run --map '*' -- 3 4 >out 2>err
	grep -qE '^total +7$' out || fail "$(cat out err)"
	grep -qE '^preset +9$' out || fail "$(cat out err)"
	run --map '.bss.*' -- 3 4 >out 2>err
	grep -qE '^total +7$' out || fail "$(cat out err)"
	! grep -q '^preset' out || fail "$(cat out)"
	program 'PERF_BPF_COUNT(counted, "calls", "calls"); __u64 total SEC(".bss.pbt");' \
		'perf_bpf_count(&counted, 1); total += mask;'
	run -- 3 4 >out 2>err
	assert_contains err "the global variables in .bss.pbt are not shown; show them with --map '.bss.pbt'"
	! grep perf_bpf err || fail "what the macros count losses in is named, too"
}

# The iterator writes a line for each process named pbt_walked.
test_iterators() {
	program '__u64 tasks;
		SEC("iter/task") int walk(struct bpf_iter__task *ctx)
		{
			struct task_struct *task = ctx->task;
			static const char name[] = "pbt_walked";
			if (!task)
				return 0;
			tasks++;
			for (int i = 0; i < sizeof(name); i++)
				if (task->comm[i] != name[i])
					return 0;
			BPF_SEQ_PRINTF(ctx->meta->seq, "process %d\n", task->tgid);
			return 0;
		}' ''
	cp "$(command -v sleep)" pbt_walked
	local pids='' i
	for i in 1 2 3; do
		./pbt_walked 1000 &
		pids="$pids $!"
	done
	for i in $pids; do
		soon grep -qx pbt_walked "/proc/$i/comm"
	done
	"$PERF_BPF" run prog.bpf.c -- true >out 2>err
	grep '^process' out | sort >got
	[ "$(wc -l <got)" = 3 ] || fail "$(cat out err)"
	grep -qE '^tasks +[1-9]' out || fail "$(cat out)"
	[ ! -s err ] || fail "$(cat err)"
	"$PERF_BPF" run prog.bpf.c --map walk --top 2 --json -- true >out 2>err
	assert_equal "$(grep -o '"output":"process [0-9]*"' out | wc -l)" 2
	! grep -q tasks out || fail "$(cat out)"
	# each interval is a walk of its own
	"$PERF_BPF" run prog.bpf.c --map walk --interval 50ms -- \
		sh -c 'until [ "$(grep -c ^process out)" -ge 6 ]; do sleep 0.02; done' >out 2>err
	kill $pids
	"$PERF_BPF" run prog.bpf.c --map walk -- true >out 2>err
	! grep -q ^process out || fail "$(cat out)"
}

# What nothing runs is said, once for each program; by a tail call they run nevertheless.
test_programs_that_are_not_attached() {
	program 'int on_two(void *ctx); int on_three(void *ctx);
		struct { __uint(type, BPF_MAP_TYPE_PROG_ARRAY); __uint(max_entries, 4); __uint(key_size, 4);
			__array(values, int(void *)); } jumps SEC(".maps") = {
			.values = {[2] = (void *)&on_two, [3] = (void *)&on_three}};
		__u64 twos, threes;
		SEC("tp") int on_two(void *ctx) { twos++; return 2; }
		SEC("tp") int on_three(void *ctx) { threes++; return 0; }
		SEC("iter/task") int walk(struct bpf_iter__task *ctx) { return 0; }
		SEC("xdp") int on_packet(void *ctx) { return 2; }' \
		'bpf_tail_call(ctx, &jumps, mask);'
	run -- 2 3 3 >out 2>err
	grep -qE '^twos +1$' out || fail "$(cat out err)"
	grep -qE '^threes +2$' out || fail "$(cat out err)"
	for name in on_two on_three on_packet; do
		assert_equal "$(grep -c "program $name (.*) is loaded but not attached: " err)" 1
	done
	assert_contains err "program on_two (tp) is loaded but not attached: the section name has no attach target"
	assert_contains err "program on_packet (xdp) is loaded but not attached: 'run' does not attach this program type"
	! grep -q 'walk' err || fail "$(cat err)"
	"$PERF_BPF" record -o t.data -e prog.bpf.c -- ./pbt_maps call umask 1 2 , call umask 2 3 2>err || fail "$(cat err)"
	for name in on_two on_three on_packet walk; do
		assert_equal "$(grep -c "program $name (.*) is loaded but not attached: " err)" 1
	done
	# the return value of the last program of the chain selects the event
	assert_equal "$("$PERF_BPF" script -i t.data --comm pbt_maps -F trace | grep -c 'mask: 0x0*2')" 1
	assert_equal "$("$PERF_BPF" script -i t.data --comm pbt_maps -F trace | wc -l)" 1
}

test_what_cannot_be_read_is_named() {
	program 'PERF_BPF_COUNT(counted, "calls", "calls");
		struct { __uint(type, BPF_MAP_TYPE_TASK_STORAGE); __uint(map_flags, BPF_F_NO_PREALLOC);
			__type(key, int); __type(value, __u64); } per_task SEC(".maps");
		struct { __uint(type, BPF_MAP_TYPE_BLOOM_FILTER); __uint(max_entries, 64);
			__type(value, __u32); } seen SEC(".maps");
		struct inner { __uint(type, BPF_MAP_TYPE_QUEUE); __uint(max_entries, 1);
			__type(value, __u64); } inner SEC(".maps");
		struct { __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS); __uint(max_entries, 2); __type(key, __u32);
			__array(values, struct inner); } outer SEC(".maps") = {.values = {&inner}};' \
		'perf_bpf_count(&counted, 1);'
	run -- 3 4 >out 2>err
	assert_contains out "calls: 2 calls"
	assert_contains err "map per_task is not shown: its values are stored with kernel objects and cannot be listed"
	assert_contains err "map seen is not shown: a bloom filter has no entries to read"
	assert_contains err "map outer is not shown: the entries of its inner maps cannot be shown; --map shows the ids of these"
	run --map outer -- 3 >out 2>err
	grep -qE '^ +0 +[1-9][0-9]*$' out || fail "$(cat out err)"
}

# Each mask is added to in the inner map of its last bit; the last one is left empty.
test_maps_of_maps_show_their_inner_maps() {
	program 'struct inner { __uint(type, BPF_MAP_TYPE_PERCPU_HASH); __uint(max_entries, 16);
			__type(key, __u32); __type(value, __u64); } even SEC(".maps"), odd SEC(".maps"),
			none SEC(".maps");
		struct { __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS); __uint(max_entries, 4); __type(key, __u32);
			__array(values, struct inner); } outer SEC(".maps") = {.values = {&even, &odd, &none}};
		struct pbt_who { char comm[8]; };
		struct counters { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 3); __uint(map_flags, 0);
			__type(key, __u32); __type(value, __u32); } counters SEC(".maps");
		struct { __uint(type, BPF_MAP_TYPE_HASH_OF_MAPS); __uint(max_entries, 4);
			__type(key, struct pbt_who); __array(values, struct counters); }
			by_name SEC(".maps") = {.values = {}};' \
		'__u32 which = mask & 1, key = mask;
		 __u64 one = 1, *n;
		 void *inner = bpf_map_lookup_elem(&outer, &which);
		 struct pbt_who who = {"anybody"};
		 bpf_map_lookup_elem(&by_name, &who);
		 if (!inner)
			return 0;
		 n = bpf_map_lookup_elem(inner, &key);
		 if (n)
			(*n)++;
		 else
			bpf_map_update_elem(inner, &key, &one, BPF_ANY);'
	run --json -- 2 3 4 5 5 5 >out 2>err || fail "$(cat err)"
	python3 - <<-'END'
		import json
		m = {l["map"]: l for l in map(json.loads, open("out"))}
		outer = m["outer"]
		assert outer["kind"] == "table", outer
		rows = sorted((r["outer_key"], r["key"], r["value"]) for r in outer["rows"])
		assert rows == [(0, 2, 1), (0, 4, 1), (1, 3, 1), (1, 5, 3)], outer
		assert "failed_updates" not in outer, outer
		# filled by nobody; its key is a struct
		assert m["by_name"]["rows"] == [], m["by_name"]
	END
	! grep outer err || fail "$(cat err)"
	run --map outer --sort outer_key --per-cpu -- 2 3 >out 2>err || fail "$(cat err)"
	grep -qE '^cpu +outer_key +key +value' out || fail "$(cat out)"
	assert_equal "$(grep -cE '^ *[0-9]+ +1 +3 +1$' out)" 1
	sed -i 's/} outer SEC(".maps")/& PERF_BPF_SHOW("log2")/' prog.bpf.c
	expect_status 1 run -- 2
	assert_contains err "map outer is a map of maps, which is shown as a table only"
}

# Two CPUs, and two slots, of which the type has no room for the sum.
test_sums_that_are_too_large() {
	[ "$(nproc)" -gt 1 ] || skip "there is one CPU"
	program 'struct pbt_sums { __u32 small; __u32 fits; __u64 large; };
		struct { __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); __uint(max_entries, 2); __type(key, __u32);
			__type(value, struct pbt_sums); } sums SEC(".maps");
		PERF_BPF_LOG2(sizes, "bytes", "sizes");' \
		'__u32 zero = 0, slot = mask;
		 __u64 *n;
		 struct pbt_sums *s = bpf_map_lookup_elem(&sums, &zero);
		 if (!s)
			return 0;
		 s->small += mask * 1500000000;
		 s->fits += 5;
		 s->large += (mask + 1) << 62;
		 n = bpf_map_lookup_elem(&sizes, &slot);
		 if (n)
			__sync_fetch_and_add(n, 1ULL << 63);'
	"$PERF_BPF" run prog.bpf.c --comm pbt_maps --json -- \
		sh -c 'taskset -c 0 ./pbt_maps call umask 1 1; taskset -c 1 ./pbt_maps call umask 1 2' >out 2>err || fail "$(cat err)"
	python3 - <<-'END'
		import json
		m = {l["map"]: l for l in map(json.loads, open("out"))}
		row, = m["sums"]["rows"]
		assert row["small"] == 4294967295 and row["fits"] == 10 and row["large"] == (1 << 64) - 1, row
		assert m["sums"]["note"] == \
		    "small, large: too large for the type of the value, the nearest number is shown", m["sums"]
		hist, = m["sizes"]["hists"]
		assert [b["count"] for b in hist["buckets"]].count(1 << 63) == 2, hist
		assert hist["total"] == (1 << 64) - 1, hist
		assert m["sizes"]["note"] == "a sum is larger than 18446744073709551615 and shown as that", m["sizes"]
	END
}

test_an_array_of_slots_is_a_histogram() {
	program 'struct hist { __u32 slots[27]; char comm[16]; };
		struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 16); __type(key, __u32);
			__type(value, struct hist); } hists SEC(".maps");
		struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 1); __type(key, __u32);
			__type(value, struct hist); } one SEC(".maps");
		static struct hist zero;
		static __always_inline void add(void *map, __u32 key, __u32 slot)
		{
			struct hist *h;
			bpf_map_update_elem(map, &key, &zero, BPF_NOEXIST);
			h = bpf_map_lookup_elem(map, &key);
			if (h && slot < 27) {
				h->slots[slot]++;
				bpf_get_current_comm(h->comm, sizeof(h->comm));
			}
		}' \
		'__u32 slot = mask ? perf_bpf_log2_slot(mask) - 1 : 0; /* floor(log2(mask)) */
		 add(&hists, mask % 2, slot); add(&one, 0, slot);'
	run --json -- 0 1 2 3 4 7 8 400 401 >out 2>err
	python3 - <<-'END'
		import json
		m = {l["map"]: l for l in map(json.loads, open("out"))}
		for name in "hists", "one":
		    assert (m[name]["kind"], m[name]["scale"]) == ("histogram", "log2"), m[name]
		def hist(h):
		    return {(b["low"], b["high"]): b["count"] for b in h["buckets"] if b["count"]}
		h, = m["one"]["hists"]
		assert hist(h) == {(0, 1): 2, (2, 3): 2, (4, 7): 2, (8, 15): 1, (256, 511): 2}, h
		assert h["total"] == 9 and h["key"]["comm"] == "pbt_maps", h
		by_key = {h["key"]["key"]: hist(h) for h in m["hists"]["hists"]}
		assert by_key == {0: {(0, 1): 1, (2, 3): 1, (4, 7): 1, (8, 15): 1, (256, 511): 1},
		                  1: {(0, 1): 1, (2, 3): 1, (4, 7): 1, (256, 511): 1}}, by_key
	END
	run --map hists -- 0 1 5 >out 2>err
	assert_equal "$(grep -c 'slots' out)" 0
	assert_contains out "comm pbt_maps"
}

test_plain_stack_ids() {
	# so many that two stacks hardly ever have one slot, whose second one the kernel does not keep
	program 'struct { __uint(type, BPF_MAP_TYPE_STACK_TRACE); __uint(max_entries, 65536);
			__uint(key_size, 4); __uint(value_size, 127 * 8); } stackmap SEC(".maps");
		struct pbt_key { __u32 pid; __u32 tgid; int user_stack_id; int kern_stack_id; };
		struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 16); __type(key, struct pbt_key);
			__type(value, __u64); } counts SEC(".maps");
		struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 16); __type(key, __u32);
			__type(value, __u64); } stack_size SEC(".maps");' \
		'struct pbt_key key = {};
		 __u64 one = 1, *n;
		 key.pid = bpf_get_current_pid_tgid();
		 key.tgid = bpf_get_current_pid_tgid() >> 32;
		 key.user_stack_id = bpf_get_stackid(ctx, &stackmap, BPF_F_USER_STACK);
		 key.kern_stack_id = bpf_get_stackid(ctx, &stackmap, 0);
		 n = bpf_map_lookup_elem(&counts, &key);
		 if (n)
			(*n)++;
		 else
			bpf_map_update_elem(&counts, &key, &one, BPF_ANY);
		 bpf_map_update_elem(&stack_size, &key.pid, &mask, BPF_ANY);'
	run --json -- 1 2 3 >out 2>err || fail "$(cat err)"
	python3 - <<-'END'
		import json
		m = {l["map"]: l for l in map(json.loads, open("out"))}
		assert m["counts"]["kind"] == "stacks", m["counts"]
		stacks = m["counts"]["stacks"]
		assert sum(s["count"] for s in stacks) == 3, stacks
		names = [f["name"] for f in stacks[0]["frames"]]
		assert "work_calls" in names and "main" in names, names
		assert any(f["kernel"] for f in stacks[0]["frames"]), stacks
		assert m["stack_size"]["kind"] == "table", m["stack_size"]
	END
}

# Of the kernel or of the process: the flags are not a constant, and nothing says whose stack it is.
test_stack_ids_of_which_nothing_is_known() {
	program 'struct { __uint(type, BPF_MAP_TYPE_STACK_TRACE); __uint(max_entries, 65536);
			__uint(key_size, 4); __uint(value_size, 127 * 8); } stackmap SEC(".maps");
		struct pbt_key { __u32 stack_id; __u32 stacks; };
		struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 16); __type(key, struct pbt_key);
			__type(value, __u64); } counts SEC(".maps");' \
		'struct pbt_key key = {.stacks = mask};
		 __u64 one = 1;
		 key.stack_id = bpf_get_stackid(ctx, &stackmap, mask & 1 ? BPF_F_USER_STACK : 0);
		 bpf_map_update_elem(&counts, &key, &one, BPF_ANY);'
	run --json -- 2 3 >out 2>err || fail "$(cat err)"
	python3 - <<-'END'
		import json
		m = {l["map"]: l for l in map(json.loads, open("out"))}
		rows = m["counts"]["rows"]
		assert len(rows) == 2, rows
		assert all(r["stack_id_text"] == f"stack id {r['stack_id']}" for r in rows), rows
		assert all("stacks_text" not in r for r in rows), rows
	END
}

run_tests
