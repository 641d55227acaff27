#!/usr/bin/env bash
# perf-bpf run: what rings and maps have no room for is counted, whatever the program does with
# the return values of its helpers. The workload counts its calls itself.
. "$(dirname "$0")/../tap.sh"

# A workload of an own name that calls umask(2) N times, each time with another mask.
make_workload() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	cat >pbt_losses.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/stat.h>
		int main(int argc, char **argv)
		{
			int n = atoi(argv[1]);
			for (int i = 0; i < n; i++)
				umask(i);
			printf("%d\n", n);
			return 0;
		}
	END
	gcc -O1 -o pbt_losses pbt_losses.c
	cat >losses.h <<-'END'
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		#include <bpf/perf_bpf_prog.h>
		struct pbt_event { __u64 mask; char bytes[100]; };
		const struct pbt_event *pbt_event_type;
		char LICENSE[] SEC("license") = "GPL";
		#define ON_CALL SEC("tracepoint/syscalls/sys_enter_umask") int on_umask(struct trace_event_raw_sys_enter *ctx)
		#define RING(name) struct {					\
			__uint(type, BPF_MAP_TYPE_RINGBUF);			\
			__uint(max_entries, 4096);				\
		} name SEC(".maps") PERF_BPF_SHOW("events,type=struct pbt_event")
	END
}

run_losses() {
	"$PERF_BPF" run --comm pbt_losses --clang-opt "-I$PWD" "$@"
}

# begin_losses OPTIONS: the same in the background, as $reader
begin_losses() {
	"$PERF_BPF" run --comm pbt_losses --clang-opt "-I$PWD" "$@" >out 2>err &
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

# A program that ignores what bpf_ringbuf_output() returns. The reader is not woken up.
make_ring_output() {
	cat >output.bpf.c <<-'END'
		#include "losses.h"
		RING(ring);
		ON_CALL
		{
			struct pbt_event e = {.mask = ctx->args[0]};
			if (perf_bpf_wanted())
				bpf_ringbuf_output(&ring, &e, sizeof(e), BPF_RB_NO_WAKEUP);
			return 0;
		}
	END
}

test_ringbuf_output_that_fails_is_counted() {
	make_workload
	make_ring_output
	run_losses output.bpf.c --json -- ./pbt_losses 1000 >out
	expect_total ring 1000
	run_losses output.bpf.c -- ./pbt_losses 1000 >out
	grep -E 'ring: [0-9]+ events, [0-9]+ lost' out | python3 -c '
import re, sys
shown, lost = map(int, re.findall(r"(\d+) events, (\d+) lost", sys.stdin.read())[0])
assert shown + lost == 1000 and lost > 10, (shown, lost)'
	run_losses output.bpf.c --csv -- ./pbt_losses 1000 >out
	python3 -c '
last = [l.split(",") for l in open("out").read().splitlines() if l.startswith("ring,")][-1]
assert int(last[1]) + int(last[2]) == 1000 and int(last[2]) > 10, last'
}

test_ringbuf_reserve_that_fails_is_counted() {
	make_workload
	cat >reserve.bpf.c <<-'END'
		#include "losses.h"
		RING(ring);
		RING(other);
		static __noinline int fill(struct pbt_event *e, __u64 mask)
		{
			e->mask = mask;
			return 0;
		}
		ON_CALL
		{
			if (!perf_bpf_wanted())
				return 0;
			struct pbt_event *e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);
			if (e) {
				fill(e, ctx->args[0]);
				bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
			}
			if (ctx->args[0] % 2)
				return 0;
			e = bpf_ringbuf_reserve(&other, sizeof(*e), 0);
			if (!e)
				return 0;
			e->mask = 0;
			bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
			return 0;
		}
	END
	run_losses reserve.bpf.c --json -- ./pbt_losses 1000 >out
	expect_total ring 1000
	expect_total other 500
}

# The same by a dynptr, which a program has to give up also where there was no room.
test_ringbuf_reserve_dynptr_that_fails_is_counted() {
	make_workload
	"$PERF_BPF" btf show /sys/kernel/btf/vmlinux -C bpf_dynptr >struct 2>&1 ||
		skip "this kernel has no dynptr"
	cat >dynptr.bpf.c <<-'END'
		#include "losses.h"
		RING(ring);
		ON_CALL
		{
			struct pbt_event e = {.mask = ctx->args[0]};
			struct bpf_dynptr record;
			if (!perf_bpf_wanted())
				return 0;
			bpf_ringbuf_reserve_dynptr(&ring, sizeof(e), 0, &record);
			bpf_dynptr_write(&record, 0, &e, sizeof(e), 0);
			bpf_ringbuf_submit_dynptr(&record, BPF_RB_NO_WAKEUP);
			return 0;
		}
	END
	run_losses dynptr.bpf.c --json -- ./pbt_losses 5000 >out
	expect_total ring 5000
}

# The reader is stopped while the workload runs.
test_perf_event_output_that_fails_is_counted() {
	make_workload
	cat >perf.bpf.c <<-'END'
		#include "losses.h"
		struct {
			__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
			__uint(key_size, 4);
			__uint(value_size, 4);
		} buffer SEC(".maps") PERF_BPF_SHOW("events,type=struct pbt_event");
		ON_CALL
		{
			struct pbt_event e = {.mask = ctx->args[0]};
			if (perf_bpf_wanted())
				bpf_perf_event_output(ctx, &buffer, BPF_F_CURRENT_CPU, &e, sizeof(e));
			return 0;
		}
	END
	begin_losses perf.bpf.c --json --verbose
	soon grep -q 'is attached' err
	kill -STOP $reader
	./pbt_losses 20000 >/dev/null
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
	cat >pbt_skb.c <<-'END'
		#include <arpa/inet.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/socket.h>
		int main(int argc, char **argv)
		{
			struct sockaddr_in to = {.sin_family = AF_INET};
			int fd = socket(AF_INET, SOCK_DGRAM, 0), n = atoi(argv[1]);
			socklen_t len = sizeof(to);
			char bytes[1151] = "";
			to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
			if (bind(fd, (void *)&to, len) || getsockname(fd, (void *)&to, &len))
				return 1;
			for (int i = 0; i < n; i++)
				if (sendto(fd, bytes, sizeof(bytes), 0, (void *)&to, len) < 0 ||
				    recv(fd, bytes, sizeof(bytes), 0) != sizeof(bytes))
					return 1;
			return 0;
		}
	END
	gcc -O1 -o pbt_losses pbt_skb.c
	cat >skb.bpf.c <<-'END'
		#include "losses.h"
		#include <bpf/bpf_tracing.h>
		struct {
			__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
			__uint(key_size, 4);
			__uint(value_size, 4);
		} buffer SEC(".maps") PERF_BPF_SHOW("events,type=struct pbt_event");
		SEC("tp_btf/netif_receive_skb") int BPF_PROG(on_packet, struct sk_buff *skb)
		{
			struct pbt_event e = {};
			if (skb->len == 1179)
				bpf_skb_output(skb, &buffer, bpf_get_prandom_u32() & 1 ?
					BPF_F_CURRENT_CPU : 0xfffff, &e, sizeof(e));
			return 0;
		}
	END
	"$PERF_BPF" run skb.bpf.c --clang-opt "-I$PWD" --json --verbose >out 2>err &
	reader=$!
	soon grep -q 'is attached' err
	kill -STOP $reader
	./pbt_losses 20000
	kill -CONT $reader
	kill -TERM $reader
	wait $reader
	expect_total buffer 20000
}

# Masks are kept by a map with fewer entries than there are masks.
test_updates_of_a_full_map_are_counted() {
	make_workload
	cat >full.bpf.c <<-'END'
		#include "losses.h"
		PERF_BPF_TABLE(masks, __u64, __u64, 64, "calls", "masks");
		struct {
			__uint(type, BPF_MAP_TYPE_HASH);
			__uint(max_entries, 16);
			__type(key, __u64);
			__type(value, __u64);
		} hidden SEC(".maps") PERF_BPF_SHOW("none");
		struct {
			__uint(type, BPF_MAP_TYPE_QUEUE);
			__uint(max_entries, 8);
			__uint(value_size, 8);
		} queue SEC(".maps");
		ON_CALL
		{
			__u64 mask = ctx->args[0], one = 1;
			if (!perf_bpf_wanted())
				return 0;
			bpf_map_update_elem(&masks, &mask, &one, BPF_NOEXIST);
			/* an entry that exists is an answer, not a loss */
			mask %= 64;
			bpf_map_update_elem(&masks, &mask, &one, BPF_NOEXIST);
			mask = ctx->args[0] % 20;
			bpf_map_update_elem(&hidden, &mask, &one, BPF_ANY);
			bpf_map_push_elem(&queue, &one, 0);
			return 0;
		}
	END
	run_losses full.bpf.c --json -- ./pbt_losses 1000 >out 2>err
	python3 - <<-'END'
		import json
		masks, = [json.loads(l) for l in open("out") if l.startswith("{")]
		assert len(masks["rows"]) + masks["failed_updates"] == 1000, masks
		assert len(masks["rows"]) == 64 and "full: 936 updates failed" in masks["note"], masks
	END
	assert_contains err "full.bpf.c: 200 updates of map hidden failed; max_entries is 16"
	assert_contains err "full.bpf.c: 992 updates of map queue failed; max_entries is 8"
	run_losses full.bpf.c -- ./pbt_losses 1000 >out 2>/dev/null
	assert_contains out "full: 936 updates failed; max_entries is 64"
}

test_openmetrics_has_what_was_counted() {
	make_workload
	make_ring_output
	begin_losses output.bpf.c --openmetrics 127.0.0.1:0
	soon grep -q 'metrics are at' err
	soon curl -sf "$(sed -n 's/.*metrics are at //p' err)" -o metrics
	grep -qE "^perf_bpf_([a-z]+_)*ring_lost_total(\{.*\})? 0$" metrics || fail "$(cat metrics)"
	kill -STOP $reader # else it reads the ring as often as it gets to it
	./pbt_losses 1000 >/dev/null
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
	cat >inner.bpf.c <<-'END'
		#include "losses.h"
		RING(ring);
		struct {
			__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
			__uint(max_entries, 1);
			__type(key, __u32);
			__array(values, typeof(ring));
		} rings SEC(".maps") = {.values = {&ring}};
		ON_CALL
		{
			struct pbt_event e = {.mask = ctx->args[0]};
			__u32 zero = 0;
			void *found = bpf_map_lookup_elem(&rings, &zero);
			if (found && perf_bpf_wanted())
				bpf_ringbuf_output(found, &e, sizeof(e), BPF_RB_NO_WAKEUP);
			return 0;
		}
	END
	run_losses inner.bpf.c -- ./pbt_losses 1000 >out 2>err
	grep -qE 'ring: [0-9]+ events, losses not counted' out || fail "$(tail -1 out)"
	lost=$(sed -nE 's/.*inner.bpf.c: ([0-9]+) updates failed of maps that .*/\1/p' err)
	shown=$(sed -nE 's/.*ring: ([0-9]+) events.*/\1/p' out)
	assert_equal "$((lost + shown))" 1000
	run_losses inner.bpf.c --json -- ./pbt_losses 1000 >out
	grep '"kind":"events"' out >total
	! grep '"lost"' total || fail "a number of losses"
}

# The kernel keeps one stack for each hash: what finds its slot taken has no stack.
test_stacks_that_are_lost_are_counted() {
	make_workload
	cat >stacks.bpf.c <<-'END'
		#include "losses.h"
		struct pbt_key { perf_bpf_pid pid; perf_bpf_ustack user; perf_bpf_kstack kernel; };
		struct {
			__uint(type, BPF_MAP_TYPE_STACK_TRACE);
			__uint(max_entries, 1);
			__uint(key_size, 4);
			__uint(value_size, 127 * 8);
		} traces SEC(".maps");
		struct {
			__uint(type, BPF_MAP_TYPE_HASH);
			__uint(max_entries, 64);
			__type(key, struct pbt_key);
			__type(value, __u64);
		} calls SEC(".maps") PERF_BPF_SHOW("stacks,stacks=traces,unit=calls");
		__u64 lost;
		ON_CALL
		{
			struct pbt_key key = {.pid = bpf_get_current_pid_tgid() >> 32};
			__u64 zero = 0, *n;
			if (!perf_bpf_wanted())
				return 0;
			key.kernel = bpf_get_stackid(ctx, &traces, 0);
			key.user = bpf_get_stackid(ctx, &traces, BPF_F_USER_STACK);
			if (key.user == -17 || key.kernel == -17)
				__sync_fetch_and_add(&lost, 1);
			bpf_map_update_elem(&calls, &key, &zero, BPF_NOEXIST);
			n = bpf_map_lookup_elem(&calls, &key);
			if (n)
				__sync_fetch_and_add(n, 1);
			return 0;
		}
	END
	run_losses stacks.bpf.c --json --pprof profile.gz -- ./pbt_losses 1000 >out
	python3 - <<-'END'
		import gzip, json
		r, = [json.loads(l) for l in open("out") if l.startswith("{")]
		assert (r["total"], r["lost"], r["lost_stacks"]) == (1000, 1000, 1000), r
		assert r["note"].startswith("1000 of 1000 calls have a stack that was lost"), r
		assert b"1000 of 1000 calls" in gzip.open("profile.gz").read()
	END
	run_losses stacks.bpf.c --folded -- ./pbt_losses 1000 >out 2>err
	assert_contains err "calls: 1000 of 1000 calls have a stack that was lost"
	run_losses stacks.bpf.c -- ./pbt_losses 1000 >out
	assert_contains out "note: 1000 of 1000 calls have a stack that was lost"
}

# A stack that finds the slot of its hash taken is kept all the same: the map is keyed by content.
test_stacks_do_not_collide() {
	make_workload
	cat >pbt_deep.c <<-'END'
		#include <sys/stat.h>
		#define CALLS(name, next) static __attribute__((noinline)) void name(int bits) \
			{ if (bits & 1) next(bits >> 1); else next(bits >> 1); __asm__ volatile(""); }
		static __attribute__((noinline)) void ask(int bits) { umask(bits); __asm__ volatile(""); }
		CALLS(f1, ask) CALLS(f2, f1) CALLS(f3, f2) CALLS(f4, f3) CALLS(f5, f4)
		CALLS(f6, f5) CALLS(f7, f6) CALLS(f8, f7) CALLS(f9, f8) CALLS(f10, f9)
		int main(void)
		{
			for (int i = 0; i < 1024; i++)
				f10(i);
			return 0;
		}
	END
	gcc -O0 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -o pbt_losses pbt_deep.c
	cat >deep.bpf.c <<-'END'
		#include "losses.h"
		PERF_BPF_STACKS(calls, 2048, "calls", "who calls umask");
		ON_CALL
		{
			if (perf_bpf_wanted())
				perf_bpf_user_stack_add(ctx, calls, 1);
			return 0;
		}
	END
	run_losses deep.bpf.c --json -- ./pbt_losses >out
	python3 - <<-'END'
		import json
		r, = [json.loads(l) for l in open("out") if l.startswith("{")]
		asked = [s for s in r["stacks"] if any(f["name"] == "f10" for f in s["frames"])]
		# 1024 ways lead to umask(); each is met once, and the frames tell them apart
		assert sum(s["count"] for s in asked) == 1024 and len(asked) == 1024, len(asked)
		assert r["lost_stacks"] == 0 and "lost" not in r and "note" not in r, r.get("note")
	END
}

# With --clear, what programs add to is a difference, and all else is as it is.
test_clear_subtracts_sums_only() {
	make_workload
	cat >clear.bpf.c <<-'END'
		#include "losses.h"
		struct pbt_value {
			__u64 calls, sum, max, last, level;
			__s64 average;
			__u64 declared PERF_BPF_SUM, kept PERF_BPF_LEVEL;
			__u64 parts[4];
		};
		struct {
			__uint(type, BPF_MAP_TYPE_HASH);
			__uint(max_entries, 8);
			__type(key, __u64);
			__type(value, struct pbt_value);
		} values SEC(".maps");
		struct {
			__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
			__uint(max_entries, 1);
			__type(key, __u32);
			__type(value, struct pbt_value);
		} by_cpu SEC(".maps");
		static void see(struct pbt_value *v, __u64 mask)
		{
			v->calls++;
			__sync_fetch_and_add(&v->sum, mask);
			if (mask > v->max)
				v->max = mask;
			v->last = mask;
			v->level += mask & 1 ? 3 : -1;
			v->average += ((__s64)mask - v->average) >> 3;
			v->declared = v->calls * 2;
			v->kept++;
			v->parts[mask & 3]++;
		}
		ON_CALL
		{
			__u64 key = 7, mask = ctx->args[0];
			struct pbt_value zero = {}, *v;
			__u32 first = 0;
			if (!perf_bpf_wanted())
				return 0;
			v = bpf_map_lookup_elem(&values, &key);
			if (!v) {
				bpf_map_update_elem(&values, &key, &zero, BPF_NOEXIST);
				v = bpf_map_lookup_elem(&values, &key);
			}
			if (v)
				see(v, mask);
			v = bpf_map_lookup_elem(&by_cpu, &first);
			if (v)
				see(v, mask);
			return 0;
		}
	END
	cat >again.sh <<-'END'
		./pbt_losses 500 >/dev/null
		end=$(($(date +%s) + 60))
		until grep -q '"kept":500' out || [ "$(date +%s)" -gt $end ]; do sleep 0.02; done
		./pbt_losses 300 >/dev/null
	END
	: >out
	run_losses clear.bpf.c --json --clear --interval 50ms -- sh again.sh >out
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
	run_losses clear.bpf.c --clear --interval 1h -- ./pbt_losses 10 >out
	assert_contains out "note: max, last, level, average, kept: current, not the change"
}

run_tests
