// SPDX-License-Identifier: BSD-2-Clause
/*
 * The verifier's log. It walks the program path by path, and writes, on
 * kernels from 5.10 to 7.2 (kernel/bpf/verifier.c, since 6.8 kernel/bpf/log.c):
 *
 *	; v->n[0]++; @ filter.bpf.c:17	the source; the place since 6.8
 *	7: (61) r1 = *(u32 *)(r0 +0)	an instruction, by its number in the program
 *	 R0=inv(id=0) R6_w=ctx(…)	the registers behind it (5.10), or
 *	7: (61) … ; R1_w=scalar()	what it changed (since 5.18)
 *	8: R0=… / 8: frame1: R0=…	the registers before it
 *	from 11 to 15: R0=…		another path begins, behind the jump 11; since 5.18
 *					also on the jump's own line: "… goto pc+3 15: R0=…"
 *	caller: / callee: / returning	a call of a function of the program
 *	last_idx, regs=, mark_precise	the verifier goes back for precision: not a path
 *	R0 invalid mem access 'inv'	the complaint, behind the last instruction
 *	processed 8 insns …		statistics
 *
 * At level 1 the kernel takes back what it wrote of paths that went well: what
 * is left is the path from the program's beginning to the refusal. At level 2
 * all paths stand there, depth first; "from A to B" then means: back to the
 * latest A that no path went on from yet.
 *
 * Steps of a log of 16 MiB, the most a kernel is asked for, are some 400,000.
 * Should there be more than STEPS_MAX, the older half is forgotten; hits are
 * counted for all.
 */
#include "lib/verifier/internal.h"

#include <ctype.h>
#include <stdlib.h>

#define STEPS_MAX 500000

/* How much of the log a line is. */
static struct piece next_line(const char **at)
{
	const char *line = *at;
	const size_t n = strcspn(line, "\n");

	*at = line + n + (line[n] == '\n');
	return (struct piece){line, n && line[n - 1] == '\r' ? n - 1 : n};
}

static struct piece cut(struct piece p, size_t from)
{
	return from <= p.len ? (struct piece){p.at + from, p.len - from} : (struct piece){0};
}

static struct piece trim(struct piece p)
{
	while (p.len && isspace((unsigned char)p.at[p.len - 1]))
		p.len--;
	while (p.len && isspace((unsigned char)p.at[0]))
		p = cut(p, 1);
	return p;
}

/* "12: " at the beginning: its length; 0: there is none. */
static size_t insn_number(struct piece line, uint32_t *insn)
{
	uint64_t v = 0;
	size_t i = 0;

	while (i < line.len && i < 9 && isdigit((unsigned char)line.at[i]))
		v = v * 10 + (uint64_t)(line.at[i++] - '0');
	if (!i || i + 1 >= line.len || line.at[i] != ':' || line.at[i + 1] != ' ')
		return 0;
	*insn = (uint32_t)v;
	return i + 2;
}

/* "(61) ": the code of an instruction. */
static bool has_code(struct piece p)
{
	return p.len >= 4 && p.at[0] == '(' && isxdigit((unsigned char)p.at[1]) &&
	       isxdigit((unsigned char)p.at[2]) && p.at[3] == ')';
}

/* "R0=…", "R1_w=…", "frame1: R…", "fp-8=…", "refs=2" */
static bool has_registers(struct piece p)
{
	p = trim(p);
	if (piece_starts(p, "frame") && p.len > 5 && isdigit((unsigned char)p.at[5]))
		return true;
	if (piece_starts(p, "fp-") || piece_starts(p, "refs="))
		return true;
	return p.len > 2 && p.at[0] == 'R' && isdigit((unsigned char)p.at[1]) &&
	       (p.at[2] == '=' || p.at[2] == '_' || (p.len > 3 && isdigit((unsigned char)p.at[2])));
}

/* What the verifier writes while it goes back for precision, and other asides. */
static bool is_aside(struct piece p)
{
	static const char *const starts[] = {
		"last_idx ",
		"regs=",
		"parent ",
		"mark_precise: ",
		"propagating ",
		"cur state:",
		"old state:",
		"caller:",
		"callee:",
		"returning from callee:",
		"to caller at ",
		"Func#",
		"frame ",
		"arg#0 type is not a struct",
		"Unrecognized arg#0 type ",
		"arg#0 reference type(",
		"reg type unsupported for arg#",
		"func#",
		"subprog#",
		"Live regs before insn:",
		"stack use/def",
		"update insn ",
	};

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (piece_starts(p, starts[i]))
			return true;
	return false;
}

/* Registers that are said behind "last_idx" and its like are those of long ago. */
static bool is_going_back(struct piece p)
{
	return piece_starts(p, "last_idx ") || piece_starts(p, "regs=") ||
	       piece_starts(p, "parent ") || piece_starts(p, "mark_precise: ");
}

static bool is_statistics(struct piece p)
{
	return piece_starts(p, "processed ") || piece_starts(p, "verification time ") ||
	       piece_starts(p, "stack depth ") || piece_starts(p, "insns processed") ||
	       piece_starts(p, "max_states_per_insn ");
}

struct log_reader {
	struct vlog *log;
	uint32_t n_insns;
	struct piece before; /* for the next step */
	bool going_back;
};

static const struct log_step *last_step(const struct vlog *log)
{
	return log->steps.n ? vec_last(&log->steps) : NULL;
}

/* A call is followed by another function's first instruction, an exit by the caller's next. */
static uint32_t depth_of_next(const struct vlog *log, uint32_t insn)
{
	const struct log_step *last = last_step(log);

	if (!last)
		return 0;
	if (piece_starts(last->text, "call ") && insn != last->insn + 1)
		return last->depth + 1;
	if (piece_starts(last->text, "exit") && last->depth)
		return last->depth - 1;
	return last->depth;
}

static void forget_half(struct vlog *log)
{
	const size_t half = log->steps.n / 2;

	memmove(log->steps.v, log->steps.v + half, (log->steps.n - half) * sizeof(*log->steps.v));
	log->steps.n -= half;
}

/* "(61) r1 = *(u32 *)(r0 +0) ; R1=…", perhaps with " 15: R0=…" behind it. */
static void add_step(struct log_reader *r, uint32_t insn, struct piece text)
{
	struct vlog *log = r->log;
	const uint32_t depth = depth_of_next(log, insn);

	if (log->steps.n >= STEPS_MAX)
		forget_half(log);
	struct log_step *step = vec_push(&log->steps);
	if (!step) {
		log->nomem = true;
		return;
	}
	step->insn = insn;
	step->depth = depth;
	step->before = r->before;
	r->before = log->last_state = (struct piece){0};
	log->n_complaints = 0;
	log->total_hits++;
	if (insn < r->n_insns)
		log->hits[insn]++;

	text = trim(cut(text, 4));
	const char *semicolon = memmem(text.at, text.len, "; ", 2);
	for (size_t i = 0; !semicolon && i + 4 < text.len; i++) {
		uint32_t next;
		const struct piece tail = cut(text, i + 1);
		const size_t n = text.at[i] == ' ' ? insn_number(tail, &next) : 0;

		if (n && has_registers(cut(tail, n))) {
			r->before = log->last_state = trim(cut(tail, n));
			text.len = i;
		}
	}
	if (semicolon) {
		step->after = trim(cut(text, (size_t)(semicolon - text.at) + 2));
		text.len = (size_t)(semicolon - text.at);
	}
	step->text = trim(text);
}

/* "from 11 to 15: R0=…": back to where that path branched off. */
static bool take_from(struct log_reader *r, struct piece line)
{
	struct vlog *log = r->log;
	struct match m;

	if (!match_line(line, "from %d to %d%s:", &m))
		return false;
	const struct piece state = trim(cut(line, (size_t)(m.s[0].at + m.s[0].len - line.at) + 1));
	if (piece_starts(state, "safe"))
		return true;
	for (size_t i = log->steps.n; i-- > 0;) {
		struct log_step *step = &log->steps.v[i];

		if (step->insn != (uint64_t)m.d[0] || step->popped)
			continue;
		step->popped = true;
		log->steps.n = i + 1;
		break;
	}
	r->before = log->last_state = state;
	log->n_complaints = 0;
	return true;
}

static void add_complaint(struct vlog *log, struct piece line)
{
	if (log->n_complaints == COMPLAINTS_MAX) {
		memmove(log->complaints, log->complaints + 1,
			(COMPLAINTS_MAX - 1) * sizeof(*log->complaints));
		log->n_complaints--;
	}
	log->complaints[log->n_complaints++] = line;
}

static void take_line(struct log_reader *r, struct piece line)
{
	struct vlog *log = r->log;
	struct match m;
	uint32_t insn = 0;
	const size_t n = insn_number(line, &insn);
	const struct piece behind = cut(line, n);

	if (!line.len)
		return;
	if (n && has_code(behind)) {
		r->going_back = false;
		add_step(r, insn, behind);
		return;
	}
	if (n && has_registers(behind)) {
		r->going_back = false;
		r->before = log->last_state = trim(behind);
		return;
	}
	if (isspace((unsigned char)line.at[0]) && has_registers(line)) {
		if (!r->going_back)
			r->before = log->last_state = trim(line);
		return;
	}
	if (line.at[0] == ';') {
		log->comment = line;
		return;
	}
	if (match_line(line, "processed %d insns", &m))
		log->processed = (uint64_t)m.d[0];
	if (is_going_back(line))
		r->going_back = true;
	if (is_aside(line) || is_statistics(line) || take_from(r, line))
		return;
	/* A global function is verified by itself, from its own beginning. */
	if (piece_starts(line, "Validating ")) {
		log->steps.n = 0;
		log->n_complaints = 0;
		return;
	}
	/* "10: return f(v);": where a back-edge is, in source lines. */
	if (n)
		return;
	add_complaint(log, trim(line));
}

void vlog_parse(struct vlog *log, const char *text, uint32_t n_insns)
{
	struct log_reader r = {.log = log, .n_insns = n_insns};

	*log = (struct vlog){0};
	log->hits = calloc((size_t)n_insns + 1, sizeof(*log->hits));
	if (!log->hits) {
		log->nomem = true;
		return;
	}
	while (*text && !log->nomem)
		take_line(&r, next_line(&text));
}

void vlog_deinit(struct vlog *log)
{
	vec_deinit(&log->steps);
	free(log->hits);
	log->hits = NULL;
}

bool verifier_log_has_words(const char *log)
{
	while (*log) {
		const struct piece line = next_line(&log);

		if (line.len && !is_statistics(line))
			return true;
	}
	return false;
}
