// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rules about how a program runs and ends: loops, depth, what it leaves
 * behind, what it returns, and what it attaches to.
 */
#include "lib/verifier/internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* The instruction that the kernel names in its words is the one at fault. */
static void at_insn(struct explain *ex, int64_t insn)
{
	if (insn < 0 || insn > UINT32_MAX)
		return;
	ex->insn = (long)insn;
	while (ex->step >= 0 && ex->log.steps.v[ex->step].insn != (uint64_t)insn)
		ex->step--;
}

static bool explain_endless(struct explain *ex)
{
	at_insn(ex, ex->m.d[0]);
	strbuf_adds(&ex->msg, "the loop may never end: it returns here with the same state");
	strbuf_adds(&ex->hint, "bound it with a counter that the verifier can follow: for (int i = "
			       "0; i < 100; i++) …; or use bpf_loop() or bpf_for()");
	return true;
}

static bool explain_back_edge(struct explain *ex)
{
	ex->step = -1;
	at_insn(ex, ex->m.d[0]);
	if (insn_calls(insn_at(ex->in, ex->insn))) {
		ex->kind = "call-depth";
		strbuf_addf(&ex->msg, "%s() calls itself, perhaps indirectly",
			    function_of(ex->in, (uint32_t)ex->insn));
		strbuf_adds(&ex->hint, "write it as a loop");
		return true;
	}
	strbuf_adds(
		&ex->msg,
		"the program jumps backwards: loops and recursion are not allowed without CAP_BPF");
	strbuf_adds(&ex->hint, "run as root or with CAP_BPF, or unroll the loop: #pragma unroll");
	return true;
}

struct hot {
	const struct verifier_line *line;
	uint64_t hits;
};

static int by_line(const void *a_, const void *b_)
{
	const struct hot *a = a_, *b = b_;

	return a->line->line < b->line->line ? -1 : a->line->line > b->line->line;
}

static int by_hits(const void *a_, const void *b_)
{
	const struct hot *a = a_, *b = b_;

	return a->hits > b->hits ? -1 : a->hits < b->hits;
}

/* The lines with how often they were walked through, most first; *n counts them. NULL: none. */
static struct hot *hot_lines(const struct explain *ex, size_t *n)
{
	const struct verifier_input *in = ex->in;
	struct hot *hot = calloc((size_t)in->n_lines + 1, sizeof(*hot));
	size_t last = 0;

	for (uint32_t i = 0; hot && i < in->n_lines; i++)
		hot[i].line = &in->lines[i];
	for (uint32_t i = 0; hot && i < in->n_insns; i++) {
		const struct verifier_line *line = line_of(in, i);

		if (line)
			hot[line - in->lines].hits += ex->log.hits[i];
	}
	if (!hot || !in->n_lines)
		return hot;
	/* One source line has several runs of instructions. */
	qsort(hot, in->n_lines, sizeof(*hot), by_line);
	for (uint32_t i = 1; i < in->n_lines; i++) {
		if (hot[i].line->line == hot[last].line->line)
			hot[last].hits += hot[i].hits;
		else
			hot[++last] = hot[i];
	}
	*n = last + 1;
	qsort(hot, *n, sizeof(*hot), by_hits);
	return hot;
}

/* The source lines that were walked through most, as ex->detail; the hottest becomes the place. */
static void explain_hot_lines(struct explain *ex)
{
	size_t n = 0;
	_cleanup_free_ struct hot *hot = hot_lines(ex, &n);

	if (!n || !hot[0].hits)
		return;
	ex->step = -1;
	ex->insn = hot[0].line->insn;
	strbuf_reset(&ex->detail);
	strbuf_adds(&ex->detail,
		    "the lines with the most instructions that it processed at the end:");
	for (size_t i = 0; i < 3 && i < n && hot[i].hits > ex->log.total_hits / 100; i++)
		strbuf_addf(&ex->detail, "\n%5.1f%%  line %u: %s",
			    100.0 * (double)hot[i].hits / (double)ex->log.total_hits,
			    hot[i].line->line, hot[i].line->text ? hot[i].line->text : "");
}

static bool explain_too_many(struct explain *ex)
{
	explain_hot_lines(ex);
	strbuf_adds(&ex->msg, "the verifier gave up after a million instructions: every loop "
			      "iteration and every path counts");
	strbuf_adds(&ex->hint, "use fewer iterations, or move the loop's body into bpf_loop() or a "
			       "global function (__noinline, not static), which is verified once");
	return set_expected(ex, "1000000 instructions at most, over all paths");
}

static bool explain_too_complex(struct explain *ex)
{
	explain_hot_lines(ex);
	strbuf_addf(&ex->msg, "the verifier gave up: %" PRId64 " branches are pending",
		    ex->m.d[0] ? ex->m.d[0] - 1 : 8192);
	strbuf_adds(&ex->hint,
		    "each condition in a loop doubles the number of paths: move the loop's body "
		    "into bpf_loop() or a global function (__noinline, not static)");
	return set_expected(ex, "at most 8192 pending branches");
}

static bool explain_stack_sum(struct explain *ex)
{
	strbuf_addf(&ex->msg,
		    "a call chain of %" PRId64 " functions needs %" PRId64
		    " bytes of stack, but there are 512",
		    ex->m.d[0], ex->m.d[1]);
	strbuf_adds(&ex->hint, "keep large data in a map: BPF_MAP_TYPE_PERCPU_ARRAY with one "
			       "element; or make the call chain shorter");
	return set_expected(ex, "512 bytes together");
}

static bool explain_stack_tail_call(struct explain *ex)
{
	strbuf_addf(&ex->msg,
		    "a function with a tail call has callers with %" PRId64
		    " bytes of stack, but there are 256",
		    ex->m.d[0]);
	strbuf_adds(&ex->hint, "call bpf_tail_call() from the program itself, or use less stack");
	return true;
}

static bool explain_depth(struct explain *ex)
{
	const char *last = ex->insn < 0 ? "" : function_of(ex->in, (uint32_t)ex->insn);
	const char *before = "";

	for (long i = ex->step; i >= 0 && !before[0]; i--)
		if (ex->log.steps.v[i].depth < ex->log.steps.v[ex->step].depth)
			before = function_of(ex->in, ex->log.steps.v[i].insn);
	if (last[0] && !strcmp(last, before)) {
		strbuf_addf(&ex->msg, "%s() calls itself; calls can be at most 8 deep", last);
		strbuf_adds(&ex->hint, "write it as a loop");
		return true;
	}
	strbuf_addf(&ex->msg, "calls are %" PRId64 " deep; the limit is 8", ex->m.d[0]);
	strbuf_adds(&ex->hint, "inline some functions: static __always_inline");
	return set_expected(ex, "8 frames at most");
}

static bool explain_recursion(struct explain *ex)
{
	strbuf_addf(&ex->msg, "%.*s() calls itself, perhaps indirectly: %.*s()",
		    (int)ex->m.s[0].len, ex->m.s[0].at, (int)ex->m.s[1].len, ex->m.s[1].at);
	strbuf_adds(&ex->hint, "write it as a loop");
	return true;
}

static bool explain_unreachable(struct explain *ex)
{
	ex->step = -1;
	at_insn(ex, ex->m.d[0]);
	strbuf_addf(&ex->msg, "instruction %" PRId64 " can never be reached", ex->m.d[0]);
	strbuf_adds(&ex->hint, "remove the code; it may come from inline assembly");
	return true;
}

/* ---- what is left behind ---- */

static bool explain_unreleased(struct explain *ex)
{
	const int64_t alloc = ex->m.d[1];
	const struct verifier_line *line = NULL;
	struct piece callee = {0}, var = {0};

	for (size_t i = ex->log.steps.n; i-- > 0 && alloc >= 0 && alloc <= UINT32_MAX;) {
		if (ex->log.steps.v[i].insn != (uint64_t)alloc)
			continue;
		callee = step_callee(&ex->log.steps.v[i]);
		var = variable_set_at(ex, (long)i);
		line = line_of(ex->in, (uint32_t)alloc);
		break;
	}
	if (callee.at)
		strbuf_addf(&ex->msg,
			    "the reference from %.*s() is not released when the program ends on "
			    "this path",
			    (int)callee.len, callee.at);
	else
		strbuf_adds(&ex->msg,
			    "a reference is not released when the program ends on this path");
	if (line) {
		set_piece(&ex->f->reg, var.at ? var : piece_of("it"));
		set_piece(&ex->f->state, piece_of("held"));
		ex->f->since_line = line->line;
		set_piece(&ex->f->since_file, piece_of(line->file));
		set_piece(&ex->f->since_source, piece_of(line->text));
	}
	if (piece_is(callee, "bpf_ringbuf_reserve"))
		strbuf_addf(&ex->hint,
			    "call bpf_ringbuf_submit(%.*s, 0) or bpf_ringbuf_discard() "
			    "on every path",
			    var.at ? (int)var.len : 6, var.at ? var.at : "record");
	else if (piece_starts(callee, "bpf_sk"))
		strbuf_adds(&ex->hint, "call bpf_sk_release() on every path");
	else
		strbuf_adds(&ex->hint, "release it on every path, also where the program returns "
				       "early");
	return set_expected(ex, "no unreleased references");
}

/* ---- what is returned ---- */

static bool explain_return(struct explain *ex)
{
	struct match m;

	explain_register(ex, 0);
	strbuf_adds(&ex->msg, "the return value is out of range");
	if (match_line(ex->line, "*has value (%d; %d)", &m) && !m.d[1])
		strbuf_addf(&ex->msg, ": %" PRId64, m.d[0]);
	else if (match_line(ex->line, "*has smin=%d smax=%d", &m) && m.d[0] == m.d[1])
		strbuf_addf(&ex->msg, ": %" PRId64, m.d[0]);
	if (match_line(ex->line, "*should have been in [%d, %d]", &m)) {
		set_expected(ex, "%" PRId64 " to %" PRId64, m.d[0], m.d[1]);
	} else if (match_line(ex->line, "*should have been in (%d; %d)", &m)) {
		/* What is known, and which bits may be set besides. */
		set_expected(ex, "%" PRId64 " to %" PRId64, m.d[0], m.d[0] | m.d[1]);
	}
	if (ex->f->expected)
		strbuf_addf(&ex->msg, "; it must be %s", ex->f->expected);
	strbuf_adds(&ex->hint, "return constants on every path: if (x) return 1; return 0;");
	return true;
}

static bool explain_lock(struct explain *ex)
{
	if (piece_has(ex->line, "missing") || piece_has(ex->line, "BPF_EXIT")) {
		strbuf_adds(&ex->msg, "the program ends with a bpf_spin_lock held");
		strbuf_adds(&ex->hint, "call bpf_spin_unlock() on every path");
	} else if (piece_has(ex->line, "function calls are not allowed")) {
		strbuf_adds(&ex->msg, "a function is called while a bpf_spin_lock is held");
		strbuf_adds(&ex->hint, "call it before taking the lock and keep its result");
	} else if (piece_has(ex->line, "directly")) {
		strbuf_adds(&ex->msg, "the bytes of a bpf_spin_lock are read or written as data");
		strbuf_adds(&ex->hint, "set the value's other fields one by one");
	} else if (piece_has(ex->line, "cannot use bpf_spin_lock")) {
		strbuf_adds(&ex->msg, "programs of this type cannot take a bpf_spin_lock");
		strbuf_adds(&ex->hint, "use atomic operations, or a per-CPU map");
	} else {
		strbuf_adds(&ex->msg, "a bpf_spin_lock is used incorrectly");
		strbuf_adds(&ex->hint, "take one lock at a time, from a map value with BTF, and "
				       "release the same lock");
	}
	return true;
}

/* ---- what it attaches to ---- */

static bool explain_target(struct explain *ex)
{
	ex->insn = -1;
	ex->step = -1;
	strbuf_adds(&ex->msg, "it cannot be attached there: ");
	add_piece(&ex->msg, ex->line);
	if (piece_has(ex->line, "modifiable") || piece_has(ex->line, "modify"))
		strbuf_adds(&ex->hint,
			    "fmod_ret works only on functions that allow error injection and on "
			    "security hooks (security_…); use fentry or fexit for others");
	else
		strbuf_adds(&ex->hint, "choose another function, or a kprobe on the same one");
	return true;
}

/* Two hexadecimal digits: the first instruction of that code. */
static void at_opcode(struct explain *ex, struct piece hex)
{
	char digits[3] = "";

	if (hex.len < 2)
		return;
	memcpy(digits, hex.at, 2);
	const unsigned long code = strtoul(digits, NULL, 16);
	for (uint32_t i = 0; i < ex->in->n_insns; i++) {
		if (ex->in->insns[i].code == code) {
			at_insn(ex, i);
			return;
		}
		if (ex->in->insns[i].code == (BPF_LD | BPF_IMM | BPF_DW))
			i++; /* its second half has no code */
	}
}

static bool explain_code(struct explain *ex)
{
	struct match m;

	if (match_line(ex->line, "*insn %d", &m))
		at_insn(ex, m.d[0]);
	else if (match_line(ex->line, "unknown opcode %s", &m))
		at_opcode(ex, m.s[0]);
	strbuf_adds(&ex->msg, "the program's code is malformed: ");
	add_piece(&ex->msg, ex->line);
	strbuf_adds(&ex->hint, "compilers do not generate such code: check for inline assembly, a "
			       "modified file, or a kernel older than -mcpu requires");
	return true;
}

const struct rule rules_flow[] = {
	{"infinite loop detected at insn %d", "endless-loop", explain_endless},
	{"back-edge from insn %d to %d", "back-edge", explain_back_edge},
	{"BPF program is too large. Processed %d insn", "too-many-insns", explain_too_many},
	{"The sequence of %d jumps is too complex", "too-complex", explain_too_complex},
	{"combined stack size of %d calls is %d. Too large", "stack-too-large", explain_stack_sum},
	{"tail_calls are not allowed when call stack of previous frames is %d bytes",
	 "stack-too-large", explain_stack_tail_call},
	{"the call stack of %d frames is too deep", "call-depth", explain_depth},
	{"recursive call from %s() to %s()", "call-depth", explain_recursion},
	{"unreachable insn %d", "unreachable", explain_unreachable},
	{"Unreleased reference id=%d alloc_insn=%d", "unreleased", explain_unreleased},
	{"tail_call would lead to reference leak", "unreleased", NULL,
	 "a reference is not released before the tail call", "release it before bpf_tail_call()"},
	{"At program exit the register R0 ", "return-range", explain_return},
	{"At async callback the register R0 ", "return-range", explain_return},
	{"At callback return the register R0 ", "return-range", explain_return},
	{"R0 not a scalar value", "return-range", explain_return},
	{"function calls are not allowed while holding a lock", "lock", explain_lock},
	{"*bpf_spin_lock", "lock", explain_lock},
	{"*bpf_spin_unlock", "lock", explain_lock},
	{"*is not modifiable", "attach-target", explain_target},
	{"*can't modify return codes", "attach-target", explain_target},
	{"*is not sleepable", "attach-target", explain_target},
	{"attach_btf_id %d is not", "attach-target", explain_target},
	{"attach to %s member", "attach-target", explain_target},
	{"Attaching %s rejected", "attach-target", explain_target},
	{"*programs must provide btf_id", "attach-target", explain_target},
	{"*cannot be attached", "attach-target", explain_target},
	{"Cannot recursively attach", "attach-target", explain_target},
	{"Can't attach", "attach-target", explain_target},
	{"missing btf func_info", "debug-info", NULL, "the program has no function information",
	 "compile it with -g, and do not strip .BTF and .BTF.ext"},
	{"missing bpf_line_info", "debug-info", NULL, "the program has no line information",
	 "compile it with -g, and do not strip .BTF and .BTF.ext"},
	{"*in func info", "debug-info", NULL, "the kernel rejects the function information",
	 "strip the section .BTF.ext, or compile with another clang"},
	{"Invalid line_info", "debug-info", NULL, "the kernel rejects the line information",
	 "strip the section .BTF.ext, or compile with another clang"},
	{"unknown opcode", "bad-code", explain_code},
	{"jump out of range", "bad-code", explain_code},
	{"jump into the middle", "bad-code", explain_code},
	{"last insn is not an exit or jmp", "bad-code", explain_code},
	{"invalid BPF_LD_IMM insn", "bad-code", explain_code},
	{"invalid bpf_ld_imm64 insn", "bad-code", explain_code},
	{"*uses reserved fields", "bad-code", explain_code},
	{"div by zero", "bad-code", explain_code},
	{"invalid shift %d", "bad-code", explain_code},
	{"*is not pointing to valid bpf_map", "bad-code", explain_code},
	{0},
};
