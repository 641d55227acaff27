// SPDX-License-Identifier: BSD-2-Clause
/*
 * A register's state in words. The verifier writes a type, and in parentheses
 * what it knows more (print_verifier_state(), print_reg_state()):
 *
 *	inv5, invP5, P5, 5, 0xff	a number that is known	(inv: before 5.18)
 *	inv(id=0,umax_value=4,…)	a range; since 5.18
 *	scalar(umax=4,…), since 6.7 with several names for one value:
 *	scalar(smin=smin32=0,smax=umax=4,var_off=(0x0; 0x7))
 *	map_value_or_null(id=1,map=table,ks=4,vs=16)
 *	fp-8, fp(off=-16,umax=31,…)	the stack
 *	trusted_ptr_task_struct()	a pointer into the kernel
 */
#include "lib/verifier/internal.h"

#include <ctype.h>
#include <inttypes.h>

static bool is_digit(char c)
{
	return isdigit((unsigned char)c);
}

/* "inv", "P" and their like before a number; the rest. */
static struct piece bare_number(struct piece state)
{
	if (piece_starts(state, "inv")) {
		state.at += 3;
		state.len -= 3;
	}
	if (piece_starts(state, "P")) {
		state.at++;
		state.len--;
	}
	return state;
}

static bool is_known_number(struct piece state, int64_t *value)
{
	state = bare_number(state);
	return state.len && (is_digit(state.at[0]) || state.at[0] == '-') &&
	       piece_number(state, value);
}

struct piece state_type(struct piece state)
{
	int64_t value;
	struct piece p = bare_number(state);

	if (!state.at)
		return state;
	if (is_known_number(state, &value) || piece_starts(p, "(") || !p.len)
		return piece_of("scalar");
	if (piece_starts(p, "Pscalar"))
		return piece_of("scalar");
	size_t n = 0;
	while (n < p.len && p.at[n] != '(' && p.at[n] != '-' && !is_digit(p.at[n]))
		n++;
	/* "ptr_task_struct", "fp0": digits belong to a struct's name, not to fp. */
	if (!piece_starts(p, "fp"))
		for (n = 0; n < p.len && p.at[n] != '('; n++)
			;
	p.len = n;
	return p;
}

bool state_param_text(struct piece state, const char *key, struct piece *value)
{
	const size_t n_key = strlen(key);
	const char *open = state.at ? memchr(state.at, '(', state.len) : NULL;

	if (!open)
		return false;
	size_t i = (size_t)(open - state.at) + 1;
	while (i + n_key < state.len) {
		/* At the beginning of a name: "smax=umax=4" has two. */
		if (!memcmp(state.at + i, key, n_key) && state.at[i + n_key] == '=') {
			size_t from = i, end = i;

			while (end < state.len && state.at[end] != ',' && state.at[end] != ')') {
				if (state.at[end] == '=')
					from = end + 1;
				end++;
			}
			*value = (struct piece){state.at + from, end - from};
			return true;
		}
		while (i < state.len && state.at[i] != ',' && state.at[i] != '=')
			i++;
		i++;
	}
	return false;
}

bool state_param(struct piece state, const char *key, int64_t *value)
{
	struct piece text;

	return state_param_text(state, key, &text) && piece_number(text, value);
}

/* "umax" of newer kernels is "umax_value" of older ones. */
static bool bound(struct piece state, const char *name, int64_t *value)
{
	char older[16];
	size_t n = strlen(name);

	memcpy(older, name, n);
	memcpy(older + n, "_value", 7);
	return state_param(state, name, value) || state_param(state, older, value);
}

struct value_range state_range(struct piece state)
{
	struct value_range r = {0};
	int64_t value, umin = 0, umax = 0, smin = 0, smax = 0;

	if (!state.at)
		return r;
	r.is_number = piece_is(state_type(state), "scalar");
	if (is_known_number(state, &value)) {
		r.is_const = r.has_min = r.has_max = true;
		r.may_be_negative = value < 0;
		r.min = value;
		r.max = (uint64_t)value;
		return r;
	}
	const bool has_umin = bound(state, "umin", &umin), has_umax = bound(state, "umax", &umax);
	const bool has_smin = bound(state, "smin", &smin), has_smax = bound(state, "smax", &smax);
	if ((has_umax && umax >= 0) || (has_smin && smin >= 0)) {
		/* As good as unsigned. */
		r.has_min = true;
		r.min = has_umin ? umin : has_smin && smin > 0 ? smin : 0;
		r.has_max = has_umax || has_smax;
		r.max = (uint64_t)(has_umax ? umax : smax);
		return r;
	}
	r.may_be_negative = r.is_number || has_smin || has_smax;
	r.has_min = has_smin;
	r.min = smin;
	r.has_max = has_smax && smax >= 0;
	r.max = (uint64_t)smax;
	return r;
}

void range_words(const struct value_range *r, struct strbuf *sb)
{
	if (r->is_const) {
		strbuf_addf(sb, "the number %" PRId64, r->min);
		return;
	}
	if (r->has_min && r->has_max)
		strbuf_addf(sb, "a number from %" PRId64 " to %" PRIu64, r->min, r->max);
	else if (r->has_max)
		strbuf_addf(sb, "a number of at most %" PRIu64 "%s", r->max,
			    r->may_be_negative ? " that may be negative" : "");
	else if (r->has_min)
		strbuf_addf(sb, "a number of at least %" PRId64, r->min);
	else
		strbuf_adds(sb, "any number");
}

static bool take_prefix(struct piece *p, const char *prefix)
{
	const size_t n = strlen(prefix);

	if (!piece_starts(*p, prefix))
		return false;
	p->at += n;
	p->len -= n;
	return true;
}

static bool take_suffix(struct piece *p, const char *suffix)
{
	const size_t n = strlen(suffix);

	if (p->len < n || memcmp(p->at + p->len - n, suffix, n) != 0)
		return false;
	p->len -= n;
	return true;
}

void type_words(struct piece type, struct strbuf *sb)
{
	static const struct {
		const char *name, *words;
	} table[] = {
		{"scalar", "a number"},
		{"inv", "a number"},
		{"?", "an uninitialized value"},
		{"ctx", "the context"},
		{"map_ptr", "a map"},
		{"map_value", "a pointer to a map's value"},
		{"map_key", "a pointer to a map's key"},
		{"fp", "a pointer to the stack"},
		{"pkt", "a pointer into the packet"},
		{"pkt_meta", "a pointer to the packet's metadata"},
		{"pkt_end", "the packet's end"},
		{"flow_keys", "a pointer to flow keys"},
		{"mem", "a pointer to memory"},
		{"buf", "a pointer to a buffer"},
		{"rdwr_buf", "a pointer to a buffer"},
		{"tp_buffer", "a tracepoint's buffer"},
		{"sock", "a pointer to a socket"},
		{"sock_common", "a pointer to a socket"},
		{"tcp_sock", "a pointer to a TCP socket"},
		{"xdp_sock", "a pointer to an XDP socket"},
		{"func", "a function"},
		{"dynptr_ptr", "a dynptr"},
		{"arena", "a pointer into an arena"},
		{"iter", "an iterator"},
	};
	bool or_null = false, rdonly = false, ring = false, user = false, untrusted = false;

	if (!type.at)
		return;
	for (bool more = true; more;) {
		more = take_prefix(&type, "trusted_") || take_prefix(&type, "rcu_") ||
		       take_prefix(&type, "percpu_");
		if (take_prefix(&type, "rdonly_"))
			more = rdonly = true;
		if (take_prefix(&type, "ringbuf_") || take_prefix(&type, "alloc_"))
			more = ring = true;
		if (take_prefix(&type, "user_"))
			more = user = true;
		if (take_prefix(&type, "untrusted_"))
			more = untrusted = true;
	}
	or_null = take_suffix(&type, "_or_null");
	if (take_prefix(&type, "ptr_or_null_")) {
		or_null = true;
		strbuf_addf(sb, "a pointer to the kernel's struct %.*s", (int)type.len, type.at);
	} else if (take_prefix(&type, "ptr_")) {
		if (type.len)
			strbuf_addf(sb, "a pointer to the kernel's struct %.*s", (int)type.len,
				    type.at);
		else
			strbuf_adds(sb, "a pointer into the kernel");
	} else if (ring && piece_is(type, "mem")) {
		strbuf_adds(sb, "a pointer to a ring buffer's record");
	} else {
		size_t i = 0;

		while (i < ARRAY_SIZE(table) && !piece_is(type, table[i].name))
			i++;
		if (i < ARRAY_SIZE(table))
			strbuf_adds(sb, table[i].words);
		else
			strbuf_addf(sb, "'%.*s'", (int)type.len, type.at);
	}
	if (rdonly)
		strbuf_adds(sb, " that can only be read");
	if (user)
		strbuf_adds(sb, " of user space");
	if (untrusted)
		strbuf_adds(sb, " that may no longer be valid");
	if (or_null)
		strbuf_adds(sb, ", or NULL");
}

void state_words(struct piece state, struct strbuf *sb)
{
	const struct piece type = state_type(state);
	const struct value_range r = state_range(state);
	struct piece name;
	int64_t off;

	if (r.is_number) {
		range_words(&r, sb);
		return;
	}
	if ((piece_starts(type, "map_value") || piece_is(type, "map_ptr")) &&
	    state_param_text(state, "map", &name)) {
		strbuf_addf(sb, "%s map '%.*s'%s",
			    piece_is(type, "map_ptr") ? "the" : "a pointer to a value of",
			    (int)name.len, name.at,
			    piece_is(type, "map_value_or_null") ? ", or NULL" : "");
		return;
	}
	type_words(type, sb);
	if (piece_is(type, "fp") && !state_param(state, "off", &off) && state.len > 2) {
		struct match m;

		if (match_line(state, "fp%d", &m) && m.d[0])
			strbuf_addf(sb, ", at %" PRId64, m.d[0]);
	}
}
