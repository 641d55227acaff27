/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sums of calls. Those of the whole system are in a map with a part for each CPU, those by
 * thread in rows that nobody but the thread itself changes, and those by cgroup in rows of each
 * CPU, so none of them needs a lock. A hash with a part for each CPU would not do: it takes its
 * memory from the kernel's per-CPU allocator, which may fail in a tracepoint, and then calls are
 * missing.
 */
#ifndef PB_TRACE_TRACE_SUMS_BPF_H
#define PB_TRACE_TRACE_SUMS_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1); /* the calls that are traced: source.c sets it */
	__type(key, __u32);
	__type(value, struct trace_row);
} rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); /* source.c sets it */
	__type(key, struct trace_thread_key);
	__type(value, struct trace_thread_row);
} thread_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); /* source.c sets it */
	__type(key, struct trace_cgroup_key);
	__type(value, struct trace_row);
} cgroup_rows SEC(".maps");

/* What a new row of a hash is made of: it is too large for a stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trace_thread_row);
} empty_row SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); /* source.c sets it */
	__type(key, struct trace_errno_key);
	__type(value, __u64);
} errnos SEC(".maps");

static __always_inline void lose(__u32 index, enum trace_loss_kind kind);

static __always_inline struct trace_row *cgroup_row_of(const struct trace_state *state,
						       const struct trace_call *call)
{
	struct trace_cgroup_key key = {
		.cgroup = bpf_get_current_cgroup_id(),
		.row = call->row,
		.cpu = bpf_get_smp_processor_id(),
	};
	struct trace_row *row = bpf_map_lookup_elem(&cgroup_rows, &key);
	struct trace_thread_row *empty;
	__u32 zero = 0;

	if (row)
		return row;
	empty = bpf_map_lookup_elem(&empty_row, &zero);
	if (empty)
		bpf_map_update_elem(&cgroup_rows, &key, &empty->sums, BPF_NOEXIST);
	row = bpf_map_lookup_elem(&cgroup_rows, &key);
	if (!row)
		lose(state->index, TRACE_LOST_ROW);
	return row;
}

static __always_inline struct trace_row *row_of(const struct trace_state *state,
						const struct trace_call *call)
{
	struct trace_thread_key key = {.tid = state->rec.tid, .row = call->row};
	struct trace_thread_row *row;
	__u32 at = call->row, zero = 0;

	if (config.sums_by == TRACE_SUMS_TOTAL)
		return bpf_map_lookup_elem(&rows, &at);
	if (config.sums_by == TRACE_SUMS_BY_CGROUP)
		return cgroup_row_of(state, call);
	row = bpf_map_lookup_elem(&thread_rows, &key);
	if (!row) {
		row = bpf_map_lookup_elem(&empty_row, &zero);
		if (row)
			bpf_map_update_elem(&thread_rows, &key, row, BPF_NOEXIST);
		row = bpf_map_lookup_elem(&thread_rows, &key);
		if (!row) {
			lose(state->index, TRACE_LOST_ROW);
			return 0;
		}
		row->pid = state->rec.pid;
	}
	/* the name may change; the last one stays */
	bpf_get_current_comm(row->comm, sizeof(row->comm));
	return &row->sums;
}

/* Adds v * v to the 128 bits. */
static __always_inline void add_square(struct trace_row *row, __u64 v)
{
	__u64 high = v >> 32, low = (__u32)v, add = low * low;

	row->squares_low += add;
	if (row->squares_low < add)
		row->squares_high++;
	if (!high)
		return;
	/* 2 * high * low * 2^32 + high * high * 2^64 */
	__u64 middle = high * low; /* less than 2^63, unless a call takes 68 years */

	add = middle << 33;
	row->squares_low += add;
	if (row->squares_low < add)
		row->squares_high++;
	row->squares_high += (middle >> 31) + high * high;
}

#define SLOT_STEP(v, slot, bits)                                                                   \
	if ((v) >> (bits)) {                                                                       \
		(v) >>= (bits);                                                                    \
		(slot) += (bits);                                                                  \
		barrier_var(slot);                                                                 \
	}

static __always_inline __u32 log2_of(__u64 v)
{
	__u32 slot = 0;

	SLOT_STEP(v, slot, 32);
	SLOT_STEP(v, slot, 16);
	SLOT_STEP(v, slot, 8);
	SLOT_STEP(v, slot, 4);
	SLOT_STEP(v, slot, 2);
	SLOT_STEP(v, slot, 1);
	return slot;
}

static __always_inline void count_errno(const struct trace_state *state,
					const struct trace_call *call, __u32 err)
{
	struct trace_errno_key key = {.row = call->row, .err = err};
	__u64 *n, zero = 0;

	if (config.sums_by == TRACE_SUMS_BY_THREAD)
		key.id = state->rec.tid;
	if (config.sums_by == TRACE_SUMS_BY_CGROUP)
		key.id = bpf_get_current_cgroup_id();
	n = bpf_map_lookup_elem(&errnos, &key);
	if (!n) {
		bpf_map_update_elem(&errnos, &key, &zero, BPF_NOEXIST);
		n = bpf_map_lookup_elem(&errnos, &key);
	}
	if (n)
		__sync_fetch_and_add(n, 1);
	else
		lose(state->index, TRACE_LOST_ERRNO);
}

/* err: 0 for a call that succeeded */
static __always_inline void sum_add(const struct trace_state *state, const struct trace_call *call,
				    __u64 ns, __u32 err)
{
	struct trace_row *row = row_of(state, call);
	__u32 slot;

	if (!row)
		return;
	if (!row->calls || ns < row->min_ns)
		row->min_ns = ns;
	if (ns > row->max_ns)
		row->max_ns = ns;
	row->calls++;
	row->total_ns += ns;
	add_square(row, ns);
	slot = log2_of(ns);
	if (slot >= TRACE_SLOTS)
		slot = TRACE_SLOTS - 1;
	row->slots[slot]++;
	if (err) {
		row->errors++;
		count_errno(state, call, err);
	}
}

static __always_inline void sum_unfinished(const struct trace_state *state,
					   const struct trace_call *call)
{
	struct trace_row *row = row_of(state, call);

	if (row)
		row->unfinished++;
}

#endif
