// SPDX-License-Identifier: BSD-2-Clause
/*
 * As trace/call_where.bpf.h, which has the memory of the process where there are pieces here, and
 * has to decide at the entry of the call.
 */
#include "trace/record_where.h"

#include <string.h>

#include "trace/call_where.h"
#include "trace/record_pieces.h"

enum answer {
	ANSWER_NO,
	ANSWER_YES,
	ANSWER_UNKNOWN,
};

struct record_input {
	const struct trace_record *rec;
	uint64_t values[WHERE_VALUES];
	unsigned have; /* enum call_where_needs */
};

struct record_text {
	const uint8_t *bytes;
	size_t len;
	bool cut; /* there was more */
};

struct error *record_where_check(const struct call_conditions *conditions)
{
	for (size_t i = 0; i < conditions->n_wheres; i++) {
		const struct call_where *w = &conditions->wheres[i];

		for (uint32_t k = 0; k < w->n; k++) {
			const struct call_where_test *t = &w->tests[k];
			const uint8_t left = t->left.value, right = t->right.value;

			if (t->kind == WHERE_NUMBERS && (left == WHERE_UID || left == WHERE_GID ||
							 right == WHERE_UID || right == WHERE_GID))
				return error_usage("a recording does not have uid and gid");
		}
	}
	return NULL;
}

static struct record_input input_of(const struct trace_record *rec)
{
	const bool ended = rec->exit_ns && !(rec->flags & TRACE_NO_EXIT);
	struct record_input in = {.rec = rec, .have = WHERE_NEEDS_ENTRY};

	memcpy(&in.values[WHERE_ARG], rec->args,
	       min_of((unsigned)rec->n_args, (unsigned)TRACE_ARGS) * sizeof(*rec->args));
	in.values[WHERE_PID] = rec->pid;
	in.values[WHERE_TID] = rec->tid;
	if (!ended)
		return in;
	in.have |= WHERE_NEEDS_RET | (rec->ret >= 0 ? WHERE_NEEDS_SUCCESS : 0);
	in.values[WHERE_RET] = (uint64_t)rec->ret;
	in.values[WHERE_ERRNO] = rec->ret < 0 && rec->ret >= -4095 ? (uint64_t)-rec->ret : 0;
	if (rec->enter_ns) {
		in.have |= WHERE_NEEDS_DURATION;
		in.values[WHERE_DURATION] = rec->exit_ns - rec->enter_ns;
	}
	return in;
}

/* What was copied of an argument: what a call reads at its entry, or later if that was too early.
 */
static const struct trace_piece *piece_of(const struct record_input *in, uint8_t arg, bool read)
{
	struct record_pieces pieces = record_pieces_of(in->rec);
	const struct trace_piece *piece;

	while ((piece = record_pieces_next(&pieces)))
		if (piece->arg == arg && piece->part == TRACE_PART_SELF &&
		    !(piece->flags & TRACE_PIECE_FAULT) && (read || piece->exit))
			return piece;
	return NULL;
}

/* false: it is not known. */
static bool text_of(const struct record_input *in, const struct call_where_test *t,
		    struct record_text *text)
{
	const struct trace_record *rec = in->rec;

	if (t->kind == WHERE_TEXT_COMM) {
		*text = (struct record_text){(const uint8_t *)rec->comm,
					     strnlen(rec->comm, sizeof(rec->comm)), false};
		return true;
	}
	const uint64_t wanted =
		t->kind == WHERE_TEXT_BYTES ? in->values[t->length % WHERE_VALUES] : UINT64_MAX;
	const struct trace_piece *piece =
		piece_of(in, t->left.value, (t->needs & WHERE_NEEDS_ENTRY) != 0);
	*text = (struct record_text){0};
	if (!wanted)
		return true;
	if (!piece)
		return false;
	text->bytes = piece->data;
	text->len = min_of((uint64_t)piece->len, wanted);
	text->cut = piece->flags & TRACE_PIECE_CUT;
	return true;
}

/* Runs the automaton (trace/call_where.h) over the text. */
static enum answer match(const struct call_pattern *p, const struct record_text *text)
{
	uint64_t state[CALL_WHERE_WORDS] = {1}, any = 1;
	const unsigned word = p->n / 64, bit = p->n % 64;

	for (size_t i = 0; i < text->len && any; i++) {
		const __u64 *next = p->next[text->bytes[i]];
		uint64_t carry = 0;

		any = 0;
		for (unsigned k = 0; k < CALL_WHERE_WORDS; k++) {
			const uint64_t shifted = state[k] << 1 | carry;

			carry = state[k] >> 63;
			state[k] = (shifted & next[k]) | (state[k] & p->stay[k]);
			any |= state[k];
		}
	}
	const bool matches = state[word] >> bit & 1;
	if (!text->cut || !any)
		return matches ? ANSWER_YES : ANSWER_NO;
	/* a star at the end matches what is not there */
	return matches && p->stay[word] >> bit & 1 ? ANSWER_YES : ANSWER_UNKNOWN;
}

static uint64_t side_of(const struct record_input *in, const struct call_where_test *t,
			const struct call_where_side *side, bool *negative)
{
	const unsigned shift = side->shift % 64;

	if (side->value == WHERE_LITERAL) {
		*negative = t->literal_is_negative;
		return t->literal;
	}
	uint64_t v = in->values[side->value % WHERE_VALUES] << shift;
	v = side->is_signed ? (uint64_t)((int64_t)v >> shift) : v >> shift;
	*negative = side->is_signed && !side->masked && (int64_t)v < 0;
	return side->masked ? v & side->mask : v;
}

static enum answer compare(const struct record_input *in, const struct call_where_test *t)
{
	bool left_negative, right_negative;
	const uint64_t left = side_of(in, t, &t->left, &left_negative),
		       right = side_of(in, t, &t->right, &right_negative);
	enum call_where_order order;

	if (left_negative != right_negative)
		order = left_negative ? WHERE_LESS : WHERE_GREATER;
	else /* of one sign: two's complement has the order of unsigned numbers */
		order = left < right ? WHERE_LESS : left == right ? WHERE_EQUAL : WHERE_GREATER;
	return t->order & order ? ANSWER_YES : ANSWER_NO;
}

static enum answer answer_of(const struct call_conditions *conditions,
			     const struct record_input *in, const struct call_where_test *t)
{
	struct record_text text;

	if (t->needs & ~in->have)
		return ANSWER_UNKNOWN;
	if (t->kind == WHERE_NUMBERS)
		return compare(in, t);
	if (t->literal >= conditions->n_patterns || !text_of(in, t, &text))
		return ANSWER_UNKNOWN;
	const enum answer matches = match(&conditions->patterns[t->literal], &text);
	if (matches == ANSWER_UNKNOWN || !t->negate)
		return matches;
	return matches == ANSWER_YES ? ANSWER_NO : ANSWER_YES;
}

bool record_where_selects(const struct call_conditions *conditions, uint16_t where,
			  const struct trace_record *rec)
{
	const struct record_input in = input_of(rec);
	uint32_t at = 0;

	if (!where || where > conditions->n_wheres)
		return true;
	const struct call_where *w = &conditions->wheres[where - 1];
	/* the next comparison is later in the list */
	while (at < w->n) {
		const struct call_where_test *t = &w->tests[at];

		at = answer_of(conditions, &in, t) == ANSWER_YES ? t->yes : t->no;
	}
	return at == CALL_WHERE_SELECT;
}
