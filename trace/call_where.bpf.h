/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Evaluates conditions (call_where.h). Global functions with numbers as arguments, as in
 * trace_copy.bpf.h: the verifier checks each of them once.
 *
 * All stacks of a chain of calls together have 512 bytes, of which those of trace_copy.bpf.h need
 * 384: the caller may have 128. So even what is called once is not inlined here.
 *
 * At the entry of a call its result is not known, so both ways on from a comparison that needs it
 * are followed. If none of them selects, the call is rejected before anything is copied. The texts
 * that are met on the way are compared then, and their results are kept: the process may change its
 * memory before the exit, where the same comparisons are made once more with all values.
 */
#ifndef PB_TRACE_CALL_WHERE_BPF_H
#define PB_TRACE_CALL_WHERE_BPF_H

#include "trace/call_where.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct call_where);
} wheres SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct call_pattern);
} patterns SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* two for each CPU: source.c sets it */
	__type(key, __u32);
	__type(value, struct where_input);
} where_inputs SEC(".maps");

/* Runs the automaton over a chunk of the text; 0: it needs no more. */
__attribute__((noinline)) int trace_match_chunk(__u32 where, __u32 pattern, __u32 from)
{
	struct where_input *in = bpf_map_lookup_elem(&where_inputs, &where);
	const struct call_pattern *p = bpf_map_lookup_elem(&patterns, &pattern);
	__u64 s0, s1, s2, s3;

	if (!in || !p || from > CALL_WHERE_TEXT - CALL_WHERE_CHUNK)
		return 0;
	s0 = in->states[0];
	if (!p->wide) {
		for (__u32 i = 0; i < CALL_WHERE_CHUNK; i++) {
			if (from + i >= in->len || !s0)
				break;
			s0 = ((s0 << 1) & p->next[in->text[from + i]][0]) | (s0 & p->stay[0]);
		}
		in->states[0] = s0;
		return s0 != 0;
	}
	s1 = in->states[1];
	s2 = in->states[2];
	s3 = in->states[3];
	for (__u32 i = 0; i < CALL_WHERE_CHUNK; i++) {
		const __u64 *next;

		if (from + i >= in->len || !(s0 | s1 | s2 | s3))
			break;
		next = p->next[in->text[from + i]];
		s3 = ((s3 << 1 | s2 >> 63) & next[3]) | (s3 & p->stay[3]);
		s2 = ((s2 << 1 | s1 >> 63) & next[2]) | (s2 & p->stay[2]);
		s1 = ((s1 << 1 | s0 >> 63) & next[1]) | (s1 & p->stay[1]);
		s0 = ((s0 << 1) & next[0]) | (s0 & p->stay[0]);
	}
	in->states[0] = s0;
	in->states[1] = s1;
	in->states[2] = s2;
	in->states[3] = s3;
	return (s0 | s1 | s2 | s3) != 0;
}

/* Whether the text of the input matches. */
static __always_inline int match(struct where_input *in, __u32 where, __u32 pattern)
{
	const struct call_pattern *p = bpf_map_lookup_elem(&patterns, &pattern);
	__u32 word, bit;

	if (!p)
		return 0;
	in->states[0] = 1;
	in->states[1] = in->states[2] = in->states[3] = 0;
	for (__u32 from = 0; from < CALL_WHERE_TEXT; from += CALL_WHERE_CHUNK) {
		if (from >= in->len || !trace_match_chunk(where, pattern, from))
			break;
	}
	word = p->n >> 6 & (CALL_WHERE_WORDS - 1);
	bit = p->n & 63;
	/* what is behind the cut is not known: only a star at the end matches it */
	if (in->cut && !(p->stay[word] >> bit & 1))
		return 0;
	return in->states[word] >> bit & 1;
}

enum {
	WHERE_NO,
	WHERE_YES,
	WHERE_UNKNOWN,
};

/* Reads the text of a test and compares it. */
__attribute__((noinline)) int trace_where_text(__u32 where, __u32 index, __u32 at)
{
	struct where_input *in = bpf_map_lookup_elem(&where_inputs, &where);
	const struct call_where *w = bpf_map_lookup_elem(&wheres, &index);
	const struct call_where_test *t;
	__u64 addr, len;
	long n;

	if (!in || !w || at >= CALL_WHERE_TESTS)
		return WHERE_UNKNOWN;
	t = &w->tests[at];
	addr = in->values[t->left.value & (WHERE_VALUES - 1)];
	in->cut = 0;
	if (t->kind == WHERE_TEXT_COMM) {
		bpf_get_current_comm(in->text, 16);
		for (len = 0; len < 16; len++)
			if (!in->text[len])
				break;
	} else if (t->kind == WHERE_TEXT_AT) {
		n = bpf_probe_read_user_str(in->text, CALL_WHERE_TEXT, (void *)addr);
		if (n <= 0)
			return WHERE_UNKNOWN;
		len = n - 1;
		in->cut = len == CALL_WHERE_TEXT - 1;
	} else {
		len = in->values[t->length & (WHERE_VALUES - 1)];
		if (len > CALL_WHERE_TEXT) {
			len = CALL_WHERE_TEXT;
			in->cut = 1;
		}
		barrier_var(len);
		if (len > CALL_WHERE_TEXT)
			return WHERE_UNKNOWN;
		if (len && bpf_probe_read_user(in->text, len, (void *)addr))
			return WHERE_UNKNOWN;
	}
	in->len = len;
	return match(in, where, t->literal) != t->negate ? WHERE_YES : WHERE_NO;
}

static __always_inline __u64 where_side(const struct where_input *in,
					const struct call_where_test *t,
					const struct call_where_side *side, __u32 *negative)
{
	__u64 v, shift = side->shift & 63;

	if (side->value == WHERE_LITERAL) {
		*negative = t->literal_is_negative;
		return t->literal;
	}
	v = in->values[side->value & (WHERE_VALUES - 1)] << shift;
	v = side->is_signed ? (__u64)((__s64)v >> shift) : v >> shift;
	*negative = side->is_signed && !side->masked && (__s64)v < 0;
	return side->masked ? v & side->mask : v;
}

/* Makes a comparison, and marks where it goes on. `have`: enum call_where_needs that are there. */
__attribute__((noinline)) int trace_where_test(__u32 where, __u32 index, __u32 at, __u32 have)
{
	struct where_input *in = bpf_map_lookup_elem(&where_inputs, &where);
	const struct call_where *w = bpf_map_lookup_elem(&wheres, &index);
	const struct call_where_test *t;
	__u32 is, yes, no;

	if (!in || !w || at >= CALL_WHERE_TESTS)
		return 0;
	t = &w->tests[at];
	yes = t->yes & 63;
	no = t->no & 63;
	if (t->kind != WHERE_NUMBERS && (in->known >> at & 1)) {
		is = in->matched >> at & 1 ? WHERE_YES : WHERE_NO;
	} else if (t->needs & ~have) {
		is = WHERE_UNKNOWN;
	} else if (t->kind == WHERE_NUMBERS) {
		__u32 left_negative, right_negative, order;
		__u64 left = where_side(in, t, &t->left, &left_negative),
		      right = where_side(in, t, &t->right, &right_negative);

		if (left_negative != right_negative)
			order = left_negative ? WHERE_LESS : WHERE_GREATER;
		else /* of one sign: two's complement has the order of unsigned numbers */
			order = left < right	? WHERE_LESS
				: left == right ? WHERE_EQUAL
						: WHERE_GREATER;
		is = t->order & order ? WHERE_YES : WHERE_NO;
	} else {
		is = trace_where_text(where, index, at);
		if (is == WHERE_UNKNOWN) {
			in->unread = 1;
		} else {
			in->known |= 1u << at;
			in->matched |= (__u32)(is == WHERE_YES) << at;
		}
	}
	if (is != WHERE_NO)
		in->may |= 1ull << yes;
	if (is != WHERE_YES)
		in->may |= 1ull << no;
	if (in->sure >> at & 1)
		in->sure |= 1ull << (is == WHERE_YES ? yes : no);
	return 0;
}

/* Evaluates a condition. Its results are in the input. */
static __always_inline void evaluate(struct where_input *in, __u32 where, __u32 index, __u32 have)
{
	const struct call_where *w = bpf_map_lookup_elem(&wheres, &index);

	if (!w)
		return;
	in->may = in->sure = 1;
	for (__u32 at = 0; at < CALL_WHERE_TESTS; at++) {
		if (at >= w->n)
			break;
		if (*(volatile __u64 *)&in->may >> at & 1)
			trace_where_test(where, index, at, have);
	}
}

static __always_inline struct where_input *where_begin(const struct trace_state *state, __u32 where)
{
	struct where_input *in = bpf_map_lookup_elem(&where_inputs, &where);
	__u64 both;

	if (!in)
		return 0;
	for (int i = 0; i < TRACE_ARGS; i++)
		in->values[WHERE_ARG + i] = state->args[i];
	in->values[WHERE_PID] = state->rec.pid;
	in->values[WHERE_TID] = state->rec.tid;
	both = bpf_get_current_uid_gid();
	in->values[WHERE_UID] = (__u32)both;
	in->values[WHERE_GID] = both >> 32;
	in->known = state->where_known;
	in->matched = state->where_matched;
	in->unread = 0;
	return in;
}

/* At the entry; 0: whatever its result will be, the call is not selected. */
static __attribute__((noinline)) int where_enter(struct trace_state *state,
						 const struct trace_call *call)
{
	__u32 where = bpf_get_smp_processor_id() * 2;
	struct where_input *in;

	in = where_begin(state, where);
	if (!in)
		return 1;
	evaluate(in, where, call->where - 1, WHERE_NEEDS_ENTRY);
	state->where_known = in->known;
	state->where_matched = in->matched;
	state->where_sure = in->sure >> CALL_WHERE_SELECT & 1;
	state->where_open = in->may >> CALL_WHERE_REJECT & 1;
	if (in->unread)
		state->mm = current_mm();
	return in->may >> CALL_WHERE_SELECT & 1;
}

/* At an exit, with the result; 0: the call is not selected. */
static __attribute__((noinline)) int where_exit(struct trace_state *state,
						const struct trace_call *call, __u32 have)
{
	__u32 where = bpf_get_smp_processor_id() * 2 + 1;
	struct where_input *in = where_begin(state, where);
	__s64 ret = state->rec.ret;

	if (!in)
		return 1;
	in->values[WHERE_RET] = ret;
	in->values[WHERE_ERRNO] = ret < 0 && ret >= -4095 ? -ret : 0;
	in->values[WHERE_DURATION] = state->rec.exit_ns - state->rec.enter_ns;
	if (ret >= 0)
		have |= WHERE_NEEDS_SUCCESS;
	evaluate(in, where, call->where - 1, have | WHERE_NEEDS_RET);
	return in->sure >> CALL_WHERE_SELECT & 1;
}

static __always_inline int where_leave(struct trace_state *state, const struct trace_call *call)
{
	__u32 have = WHERE_NEEDS_DURATION;

	if (!state->where_open)
		return 1;
	/* a text that could not be read before; execve replaced the memory of its own */
	if (state->mm && state->mm == current_mm())
		have |= WHERE_NEEDS_ENTRY;
	return where_exit(state, call, have);
}

/* Whether a call is selected that will not end. */
static __always_inline int where_unfinished(const struct trace_state *state)
{
	return !state->where_open || state->where_sure;
}

#endif
