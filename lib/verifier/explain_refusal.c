// SPDX-License-Identifier: BSD-2-Clause
/*
 * From the log to the explanation: the kernel's own words behind the last
 * instruction are held against the rules, in the rules' order. What no rule
 * knows is handed on as the kernel says it, with its place.
 *
 * The place is the last instruction that was walked through, unless the rule
 * names another one, and its source line. What CO-RE and the loader know of an
 * instruction comes first: a call of a helper that does not exist is theirs.
 */
#include "lib/verifier/internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

const struct verifier_line *line_of(const struct verifier_input *in, uint32_t insn)
{
	uint32_t low = (uint32_t)count_before(in->n_lines, i, in->lines[i].insn <= insn);
	/* Line 0 is the compiler's own: the line before it says more. */
	while (low && !in->lines[low - 1].line)
		low--;
	return low ? &in->lines[low - 1] : NULL;
}

const struct verifier_note *note_of(const struct verifier_input *in, uint32_t insn,
				    enum verifier_note_kind kind)
{
	for (uint32_t i = 0; i < in->n_notes; i++)
		if (in->notes[i].insn == insn && in->notes[i].kind == kind)
			return &in->notes[i];
	return NULL;
}

const char *function_of(const struct verifier_input *in, uint32_t insn)
{
	const char *name = "";

	for (uint32_t i = 0; i < in->n_funcs && in->funcs[i].insn <= insn; i++)
		name = in->funcs[i].name;
	return name;
}

void add_piece(struct strbuf *sb, struct piece p)
{
	strbuf_add(sb, p.at, p.len);
}

void set_piece(char **to, struct piece p)
{
	free(*to);
	*to = p.at ? strndup(p.at, p.len) : NULL;
}

bool set_expected(struct explain *ex, const char *fmt, ...)
{
	struct strbuf sb = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	free(ex->f->expected);
	ex->f->expected = strbuf_steal(&sb);
	return true;
}

bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

struct piece variable_set_at(const struct explain *ex, long step)
{
	const struct piece none = {0};

	if (step < 0)
		return none;
	const struct verifier_line *line = line_of(ex->in, ex->log.steps.v[step].insn);
	const struct piece callee = step_callee(&ex->log.steps.v[step]);
	const char *equals = line && line->text ? strchr(line->text, '=') : NULL;
	const char *call =
		equals && callee.len ? memmem(equals, strlen(equals), callee.at, callee.len) : NULL;
	/* Of several statements of a line, the one that calls. */
	for (const char *c = equals; call && c < call; c++)
		if (*c == '=')
			equals = c;
	if (!equals || equals == line->text || equals[1] == '=' || strchr("<>!+-*/&|^", equals[-1]))
		return none;
	const char *end = equals;
	while (end > line->text && isspace((unsigned char)end[-1]))
		end--;
	const char *at = end;
	while (at > line->text && is_name_char(at[-1]))
		at--;
	/* "if ((v = lookup()))" too, but no member: its struct would be missing. */
	if (at == end || isdigit((unsigned char)*at) ||
	    (at > line->text && (at[-1] == '.' || at[-1] == '>' || at[-1] == ']')))
		return none;
	return (struct piece){at, (size_t)(end - at)};
}

struct piece index_at(const struct explain *ex)
{
	const struct piece none = {0};
	const struct verifier_line *line =
		ex->insn >= 0 ? line_of(ex->in, (uint32_t)ex->insn) : NULL;
	const char *open = line && line->text ? strchr(line->text, '[') : NULL;

	if (!open || strchr(open + 1, '['))
		return none;
	const size_t n = strcspn(open + 1, "]");
	const struct piece p = {open + 1, n};
	if (!n || !open[1 + n] || isdigit((unsigned char)open[1]))
		return none;
	for (size_t i = 0; i < n; i++)
		if (!is_name_char(p.at[i]))
			return none;
	return p;
}

struct origin explain_register(struct explain *ex, unsigned reg)
{
	struct origin o = {.step = -1, .added_step = -1};
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	char name[16];

	if (ex->step < 0 || reg > 10)
		return o;
	const struct piece state = vlog_state(&ex->log, ex->in, (size_t)ex->step, reg);
	if (reg == BPF_REG_10)
		return o; /* it is always the same */
	state_words(state, &words);
	snprintf(name, sizeof(name), "R%u", reg);
	set_piece(&ex->f->reg, piece_of(name));
	set_piece(&ex->f->state, words.len ? piece_of(strbuf_str(&words)) : (struct piece){0});
	o = trace_origin(&ex->log, ex->in, (size_t)ex->step, reg);
	if (o.step < 0)
		return o;
	const struct verifier_line *line = line_of(ex->in, ex->log.steps.v[o.step].insn);
	if (line) {
		ex->f->since_line = line->line;
		set_piece(&ex->f->since_file, piece_of(line->file));
		set_piece(&ex->f->since_source, piece_of(line->text));
	}
	return o;
}

const struct verifier_note *explain_map(struct explain *ex, unsigned reg)
{
	if (ex->step < 0)
		return NULL;
	const struct origin o = trace_origin(&ex->log, ex->in, (size_t)ex->step, reg);
	if (o.step < 0)
		return NULL;
	size_t at = (size_t)o.step;
	/* A value is of the map that the helper was given first. */
	if (o.kind == ORIGIN_CALL) {
		const struct origin map = trace_origin(&ex->log, ex->in, at, 1);

		if (map.step < 0)
			return NULL;
		at = (size_t)map.step;
	}
	const uint32_t insn = ex->log.steps.v[at].insn;
	const struct verifier_note *var = note_of(ex->in, insn, VERIFIER_NOTE_VAR);

	return var ? var : note_of(ex->in, insn, VERIFIER_NOTE_MAP);
}

static bool try_rules(struct explain *ex, const struct rule *rules)
{
	for (const struct rule *rule = rules; rule->pattern; rule++) {
		for (size_t i = 0; i < ex->log.n_complaints; i++) {
			ex->line = ex->log.complaints[i];
			if (!match_line(ex->line, rule->pattern, &ex->m))
				continue;
			ex->kind = rule->kind;
			if (rule->fn) {
				strbuf_reset(&ex->msg);
				strbuf_reset(&ex->hint);
				if (!rule->fn(ex))
					continue;
			} else {
				strbuf_adds(&ex->msg, rule->msg);
			}
			if (rule->hint && !ex->hint.len)
				strbuf_adds(&ex->hint, rule->hint);
			return true;
		}
	}
	return false;
}

/* What no rule knows: the kernel's last words. */
static void explain_other(struct explain *ex)
{
	ex->kind = "other";
	ex->line = ex->log.n_complaints ? ex->log.complaints[ex->log.n_complaints - 1]
					: (struct piece){0};
	strbuf_adds(&ex->msg, "the kernel rejects the program");
	if (ex->line.at) {
		strbuf_adds(&ex->msg, ": ");
		add_piece(&ex->msg, ex->line);
	} else if (ex->in->code) {
		strbuf_addf(&ex->msg, ": %s", strerror(ex->in->code));
	}
}

/* "; v->n[0]++; @ filter.bpf.c:17", where the program came without line info. */
static void place_by_comment(struct explain *ex)
{
	struct piece p = ex->log.comment;
	struct match m;

	if (!p.at || p.len < 3)
		return;
	p.at += 2;
	p.len -= 2;
	if (match_line(p, "%s @ %s:%d", &m) && m.d[0] > 0 && m.d[0] < UINT32_MAX) {
		ex->f->line = (unsigned)m.d[0];
		set_piece(&ex->f->file, m.s[1]);
		set_piece(&ex->f->source, m.s[0]);
	} else {
		set_piece(&ex->f->source, p);
	}
}

static void place(struct explain *ex)
{
	struct failure *f = ex->f;

	f->insn = ex->insn;
	if (ex->step >= 0 && ex->log.steps.v[ex->step].insn == (uint64_t)ex->insn)
		set_piece(&f->insn_text, ex->log.steps.v[ex->step].text);
	if (ex->insn < 0)
		return;
	const struct verifier_line *line =
		line_of(ex->in, (uint32_t)(ex->place >= 0 ? ex->place : ex->insn));
	if (line) {
		f->line = line->line;
		set_piece(&f->file, piece_of(line->file));
		set_piece(&f->source, piece_of(line->text));
	} else if (!ex->in->n_lines) {
		place_by_comment(ex);
	}
	if (function_of(ex->in, (uint32_t)ex->insn)[0])
		set_piece(&f->function, piece_of(function_of(ex->in, (uint32_t)ex->insn)));
}

struct error *verifier_explain(const struct verifier_input *in)
{
	static const struct rule *const all[] = {rules_calls, rules_pointers, rules_bounds,
						 rules_flow};
	struct explain ex = {.in = in, .place = -1};
	bool known = false;

	_cleanup_(failure_freep) struct failure *f = failure_new("other");
	if (!f)
		return error_nomem();
	ex.f = f;
	vlog_parse(&ex.log, in->log, in->n_insns);
	ex.step = (long)ex.log.steps.n - 1;
	ex.insn = ex.step >= 0 ? (long)ex.log.steps.v[ex.step].insn : -1;
	for (size_t i = 0; i < ARRAY_SIZE(all) && !known; i++)
		known = try_rules(&ex, all[i]);
	if (!known)
		explain_other(&ex);
	place(&ex);
	f->kind = ex.kind;
	set_piece(&f->kernel, ex.line);
	if (ex.detail.len)
		f->detail = strbuf_steal(&ex.detail);

	struct error *err = NULL;
	if (!ex.log.nomem && !strbuf_failed(&ex.msg) && !strbuf_failed(&ex.hint) &&
	    !strbuf_failed(&ex.detail)) {
		err = error_new(in->code ? in->code : EINVAL, "%s", strbuf_str(&ex.msg));
		if (ex.hint.len)
			error_hint(err, "%s", strbuf_str(&ex.hint));
		if (err != error_nomem())
			err->failure = steal_ptr(f);
	}
	strbuf_deinit(&ex.msg);
	strbuf_deinit(&ex.hint);
	strbuf_deinit(&ex.detail);
	vlog_deinit(&ex.log);
	return err ? err : error_nomem();
}
