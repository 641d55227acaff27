// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rules about places and sizes: an access may leave what a pointer points to,
 * or a helper may be given more bytes than there are. The range that the
 * verifier knows and the bound stand in the explanation.
 */
#include "lib/verifier/internal.h"

#include <inttypes.h>
#include <stdlib.h>

#define STACK_SIZE 512 /* MAX_BPF_STACK */

/* The register through which the access at fault goes; -1: there is none. */
static int pointer_register(const struct explain *ex)
{
	const struct bpf_insn *insn = insn_at(ex->in, ex->insn);
	struct match m;

	if (!insn)
		return -1;
	if (insn_calls(insn)) {
		/* "R1 min value is outside …" tells which argument. */
		for (size_t i = 0; i < ex->log.n_complaints; i++)
			if (match_line(ex->log.complaints[i], "R%d ", &m) && m.d[0] >= 0 &&
			    m.d[0] <= 10)
				return (int)m.d[0];
		return -1;
	}
	return insn_stores(insn) ? insn->dst_reg : insn->src_reg;
}

static const char *verb(const struct explain *ex)
{
	const struct bpf_insn *insn = insn_at(ex->in, ex->insn);

	return insn_stores(insn) ? "write" : insn_calls(insn) ? "touch" : "read";
}

/* Back over multiplications by the size of an element; 0: no such thing. */
static uint64_t unscale(const struct explain *ex, long *step, unsigned *reg)
{
	uint64_t scale = 1;

	for (int i = 0; i < 4; i++) {
		const struct origin o = trace_origin(&ex->log, ex->in, (size_t)*step, *reg);
		const struct bpf_insn *insn =
			o.step < 0 ? NULL : insn_at(ex->in, ex->log.steps.v[o.step].insn);

		if (o.kind != ORIGIN_MATH || !insn || BPF_SRC(insn->code) != BPF_K)
			break;
		if (BPF_OP(insn->code) == BPF_LSH && insn->imm >= 0 && insn->imm < 32)
			scale <<= insn->imm;
		else if (BPF_OP(insn->code) == BPF_MUL && insn->imm > 0)
			scale *= (uint64_t)insn->imm;
		else
			break;
		*step = o.step;
		*reg = insn->dst_reg;
	}
	return scale;
}

/* Explains a register that is added before a step as the index that it was made of. */
static uint64_t explain_added(struct explain *ex, long step, unsigned reg)
{
	const long now = ex->step;
	const uint64_t scale = unscale(ex, &step, &reg);

	ex->step = step;
	explain_register(ex, reg);
	ex->step = now;
	return scale;
}

/* The index is what was added to the pointer last: its scale; 0: nothing variable was added. */
static uint64_t explain_index(struct explain *ex, unsigned pointer)
{
	if (ex->step < 0)
		return 0;
	const struct origin o = trace_origin(&ex->log, ex->in, (size_t)ex->step, pointer);

	return o.added_step < 0 ? 0 : explain_added(ex, o.added_step, o.added);
}

/* Whether what explain_index() explained may be negative. */
static bool may_be_negative(struct explain *ex, unsigned pointer)
{
	const struct origin o = trace_origin(&ex->log, ex->in, (size_t)ex->step, pointer);

	if (o.added_step < 0)
		return false;
	const struct value_range r =
		state_range(vlog_state(&ex->log, ex->in, (size_t)o.added_step, o.added));
	return r.is_number && r.may_be_negative;
}

static void hint_index(struct explain *ex, uint64_t elements, bool negative)
{
	const struct piece name = index_at(ex);
	const int len = name.at ? (int)name.len : 1;
	const char *at = name.at ? name.at : "i";

	if (negative)
		strbuf_adds(&ex->hint, "make the index unsigned, and test it first: ");
	else
		strbuf_adds(&ex->hint, "test the index first: ");
	if (elements)
		strbuf_addf(&ex->hint, "if (%.*s >= %" PRIu64 ") return 0;", len, at, elements);
	else
		strbuf_addf(&ex->hint, "if (%.*s >= sizeof(array) / sizeof(array[0])) return 0;",
			    len, at);
}

/* "a value of map 'table'", "'total' (.bss)" */
static void add_map(struct explain *ex, const struct verifier_note *map)
{
	if (map && map->kind == VERIFIER_NOTE_VAR)
		strbuf_addf(&ex->msg, "'%s' (%s)", map->name, map->text);
	else if (map)
		strbuf_addf(&ex->msg, "a value of map '%s'", map->name);
	else
		strbuf_adds(&ex->msg, "the map's value");
}

/* Zero bytes for a helper: how 5.10 says it. */
static bool explain_size_zero_map(struct explain *ex)
{
	const int reg = pointer_register(ex);

	if (ex->m.d[2] || !insn_calls(insn_at(ex->in, ex->insn)) || reg < 0)
		return false;
	const struct piece callee = step_callee(&ex->log.steps.v[ex->step]);
	explain_register(ex, (unsigned)reg + 1);
	strbuf_addf(&ex->msg, "the size that %.*s() is given may be 0", (int)callee.len, callee.at);
	strbuf_adds(&ex->hint, "test it first: if (!size) return 0;");
	return set_expected(ex, "at least 1");
}

static bool explain_map_bounds(struct explain *ex)
{
	const int64_t value_size = ex->m.d[0], off = ex->m.d[1], size = ex->m.d[2];
	const int reg = pointer_register(ex);
	const struct verifier_note *map = reg < 0 ? NULL : explain_map(ex, (unsigned)reg);
	const bool negative =
		off < 0 || (reg >= 0 && ex->step >= 0 && may_be_negative(ex, (unsigned)reg));

	const uint64_t scale = reg < 0 ? 1 : explain_index(ex, (unsigned)reg);

	if (!scale) {
		explain_register(ex, (unsigned)reg);
		strbuf_addf(&ex->msg, "this would %s %" PRId64 " bytes at byte %" PRId64 " of ",
			    verb(ex), size, off);
		strbuf_adds(&ex->hint, "the value's type has fewer bytes than this line accesses");
	} else if (negative) {
		strbuf_addf(&ex->msg, "the index may be negative: this may %s before the start of ",
			    verb(ex));
		hint_index(ex, 0, true);
	} else {
		const uint64_t elements =
			map && map->kind == VERIFIER_NOTE_VAR ? map->size / scale : 0;

		strbuf_addf(&ex->msg,
			    "the index has no sufficient upper bound: this may %s bytes %" PRId64
			    " to %" PRId64 " of ",
			    verb(ex), off, off + size - 1);
		hint_index(ex, elements, false);
	}
	add_map(ex, map);
	strbuf_addf(&ex->msg, ", which has %" PRId64, value_size);
	return set_expected(ex, "an access within bytes 0 to %" PRId64, value_size - 1);
}

static bool explain_direct_value(struct explain *ex)
{
	strbuf_addf(&ex->msg, "byte %" PRId64 " of a value of %" PRId64 " bytes is accessed",
		    ex->m.d[1], ex->m.d[0]);
	strbuf_adds(&ex->hint,
		    "the object's data section is shorter than its code expects: compile it again");
	return true;
}

/* "R0 unbounded memory access, make sure to bounds check", "R0 min value is negative, …" */
static bool explain_unbounded(struct explain *ex)
{
	const unsigned reg = (unsigned)ex->m.d[0] & 15;
	const struct verifier_note *map = explain_map(ex, reg);
	const bool negative =
		piece_has(ex->line, "negative") || (ex->step >= 0 && may_be_negative(ex, reg));

	if (!explain_index(ex, reg))
		explain_register(ex, reg);
	strbuf_addf(&ex->msg, "the index %s into ",
		    negative ? "may be negative or has no upper bound," : "is not bounded");
	add_map(ex, map);
	hint_index(ex, 0, negative);
	return set_expected(ex, "an index from 0 to the number of elements less one");
}

/* "math between map_value pointer and register with unbounded min value is not allowed" */
static bool explain_unbounded_math(struct explain *ex)
{
	const struct bpf_insn *insn = insn_at(ex->in, ex->insn);
	const struct verifier_note *map = NULL;

	if (insn && BPF_SRC(insn->code) == BPF_X) {
		map = explain_map(ex, insn->dst_reg);
		if (ex->step >= 0)
			explain_added(ex, ex->step, insn->src_reg);
	}
	if (piece_is(ex->m.s[0], "fp")) {
		ex->kind = "stack-bounds";
		strbuf_adds(&ex->msg, "the index into an array on the stack may be negative or has "
				      "no upper bound");
	} else if (piece_starts(ex->m.s[0], "pkt")) {
		ex->kind = "packet-bounds";
		strbuf_adds(&ex->msg,
			    "the offset into the packet may be negative or has no upper bound");
	} else if (piece_starts(ex->m.s[0], "map")) {
		strbuf_adds(&ex->msg,
			    "the index may be negative or has no upper bound; it accesses ");
		add_map(ex, map);
	} else {
		ex->kind = "memory-bounds";
		strbuf_adds(
			&ex->msg,
			"the offset added to the pointer may be negative or has no upper bound");
	}
	hint_index(ex, 0, true);
	return set_expected(ex, "an index from 0 to the number of elements less one");
}

static bool explain_far(struct explain *ex)
{
	const struct bpf_insn *insn = insn_at(ex->in, ex->insn);

	if (insn)
		explain_register(ex, insn->dst_reg);
	strbuf_adds(&ex->msg,
		    "the offset added to the pointer is larger than any object it could point to");
	strbuf_adds(&ex->hint, "test the index before it is used");
	return true;
}

/* ---- the stack ---- */

/* A helper gets a place on the stack, and more bytes than are there. */
static bool explain_stack_argument(struct explain *ex, int64_t reg, int64_t off, int64_t size)
{
	const struct piece callee = step_callee(&ex->log.steps.v[ex->step]);

	ex->kind = "size-argument";
	if (reg >= 1 && reg < 5)
		explain_register(ex, (unsigned)reg + 1);
	strbuf_addf(&ex->msg, "%.*s() may touch %" PRId64 " bytes at argument %" PRId64,
		    (int)callee.len, callee.at, size, reg);
	if (off < 0 && off >= -STACK_SIZE)
		strbuf_addf(&ex->msg, ", and the stack ends after %" PRId64, -off);
	strbuf_adds(&ex->hint, "bound the size first: if (n > sizeof(buf)) n = sizeof(buf);");
	if (off < 0)
		return set_expected(ex, "a size from 1 to %" PRId64, -off);
	return true;
}

static bool stack_common(struct explain *ex, int64_t reg, int64_t off, int64_t size)
{
	if (ex->step >= 0 && insn_calls(insn_at(ex->in, ex->insn)))
		return explain_stack_argument(ex, reg, off, size);
	if (reg >= 0 && reg <= 10)
		explain_register(ex, (unsigned)reg);
	if (off < -STACK_SIZE) {
		ex->kind = "stack-too-large";
		strbuf_addf(&ex->msg,
			    "the function needs %" PRId64 " bytes of stack, but there are 512",
			    -off);
		strbuf_adds(&ex->hint, "keep large data in a map: BPF_MAP_TYPE_PERCPU_ARRAY with "
				       "one element");
		return set_expected(ex, "a stack of 512 bytes at most");
	}
	strbuf_addf(&ex->msg,
		    "this would %s %" PRId64 " bytes at %" PRId64
		    " of the stack, which is from -512 to -1",
		    verb(ex), size, off);
	strbuf_adds(&ex->hint, "stay within the array on the stack");
	return set_expected(ex, "an access within the stack's bytes -512 to -1");
}

static bool explain_stack(struct explain *ex)
{
	return stack_common(ex, ex->m.d[0], ex->m.d[1], ex->m.d[2]);
}

/* "invalid stack off=8 size=4": without a register. */
static bool explain_stack_plain(struct explain *ex)
{
	return stack_common(ex, -1, ex->m.d[0], ex->m.d[1]);
}

static bool explain_stack_index(struct explain *ex)
{
	struct match m;

	if (!match_line(ex->line, "*R%d", &m))
		return false;
	if (insn_calls(insn_at(ex->in, ex->insn)))
		explain_register(ex, (unsigned)m.d[0]);
	else if (!explain_index(ex, (unsigned)m.d[0]))
		explain_register(ex, (unsigned)m.d[0]);
	strbuf_addf(&ex->msg,
		    "the index has no sufficient bound for the array on the stack: this may %s "
		    "outside of it",
		    verb(ex));
	hint_index(ex, 0, false);
	return set_expected(ex, "an index from 0 to the number of elements less one");
}

/* A read within the stack that is refused: nothing was written there. */
static bool explain_stack_unset(struct explain *ex)
{
	struct match m;
	int64_t off = 0, size = 0;

	if (match_line(ex->line, "*off %d+%d size %d", &m)) {
		off = m.d[0] + m.d[1];
		size = m.d[2];
	} else if (match_line(ex->line, "*off=%d size=%d", &m)) {
		off = m.d[0];
		size = m.d[1];
	} else if (!match_line(ex->line, "*var_off", &m)) {
		return false;
	}
	if (off < -STACK_SIZE || off + size > 0)
		return false;
	const struct bpf_insn *insn = insn_at(ex->in, ex->insn);
	if (insn_calls(insn)) {
		const struct piece callee = step_callee(&ex->log.steps.v[ex->step]);

		if (match_line(ex->line, "*R%d ", &m))
			explain_register(ex, (unsigned)m.d[0]);
		strbuf_addf(
			&ex->msg,
			"%.*s() would read a variable on the stack that is not fully initialized",
			(int)callee.len, callee.at);
	} else {
		strbuf_addf(&ex->msg,
			    "%" PRId64 " bytes at %" PRId64
			    " of the stack are read before they are initialized",
			    size, off);
	}
	strbuf_adds(&ex->hint, "initialize all bytes of the variable, padding included: struct key "
			       "k = {}; or memset(&k, 0, sizeof(k));");
	return set_expected(ex, "bytes that were written before");
}

/* ---- packets, records, structures ---- */

static bool explain_packet(struct explain *ex)
{
	const int64_t off = ex->m.d[0], size = ex->m.d[1], range = ex->m.d[5];

	explain_register(ex, (unsigned)ex->m.d[2]);
	if (off < 0)
		strbuf_addf(&ex->msg, "this would %s before the start of the packet", verb(ex));
	else if (range)
		strbuf_addf(&ex->msg,
			    "only %" PRId64 " bytes of the packet were compared with "
			    "data_end, and this may %s bytes %" PRId64 " to %" PRId64,
			    range, verb(ex), off, off + size - 1);
	else
		strbuf_addf(&ex->msg,
			    "byte %" PRId64 " of the packet is %s, and was not compared "
			    "with data_end",
			    off, insn_stores(insn_at(ex->in, ex->insn)) ? "written" : "read");
	strbuf_addf(&ex->hint, "test it first: if (data + %" PRId64 " > data_end) return 0;",
		    off + size);
	return set_expected(ex, "data + %" PRId64 " <= data_end", off + size);
}

static bool explain_packet_helper(struct explain *ex)
{
	strbuf_adds(&ex->msg, "a pointer into the packet cannot be passed to helpers here");
	strbuf_adds(&ex->hint, "copy the bytes to the stack first: bpf_skb_load_bytes()");
	return true;
}

static bool explain_memory(struct explain *ex)
{
	const int64_t mem_size = ex->m.d[0], off = ex->m.d[1], size = ex->m.d[2];
	const int reg = pointer_register(ex);

	if (reg >= 0 && !explain_index(ex, (unsigned)reg))
		explain_register(ex, (unsigned)reg);
	strbuf_addf(&ex->msg,
		    "this may %s bytes %" PRId64 " to %" PRId64 " of memory that has only %" PRId64
		    " bytes",
		    verb(ex), off, off + size - 1, mem_size);
	strbuf_adds(&ex->hint, "reserve as many bytes as the type has: sizeof(*record); test "
			       "indexes first");
	return set_expected(ex, "an access within bytes 0 to %" PRId64, mem_size - 1);
}

static bool explain_struct(struct explain *ex)
{
	const int reg = pointer_register(ex);

	if (reg >= 0)
		explain_register(ex, (unsigned)reg);
	strbuf_addf(&ex->msg, "byte %" PRId64 " is past the end of the kernel's struct %.*s",
		    ex->m.d[0], (int)ex->m.s[0].len, ex->m.s[0].at);
	strbuf_adds(&ex->hint, "access fields by name, with vmlinux.h and CO-RE, so that the "
			       "offset is right on every kernel");
	return true;
}

static bool explain_buffer(struct explain *ex)
{
	const int reg = pointer_register(ex);

	if (reg >= 0)
		explain_register(ex, (unsigned)reg);
	strbuf_adds(&ex->msg, "the access may leave the buffer");
	strbuf_adds(&ex->hint, "test the offset against the buffer's size first");
	return true;
}

/* ---- sizes for helpers ---- */

static bool explain_size(struct explain *ex)
{
	const unsigned reg = (unsigned)ex->m.d[0];

	if (ex->step < 0)
		return false;
	const struct piece callee = step_callee(&ex->log.steps.v[ex->step]);
	explain_register(ex, reg);
	strbuf_addf(&ex->msg, "argument %u of %.*s(), a size, ", reg, (int)callee.len, callee.at);
	if (piece_has(ex->line, "negative")) {
		strbuf_adds(&ex->msg, "may be negative");
		strbuf_adds(&ex->hint, "make it unsigned, and bound it: if (n > sizeof(buf)) n = "
				       "sizeof(buf);");
		return set_expected(ex, "a size from 0 to the buffer's");
	}
	if (piece_has(ex->line, "zero-sized")) {
		strbuf_adds(&ex->msg, "may be 0");
		strbuf_adds(&ex->hint, "test it first: if (!n) return 0;");
		return set_expected(ex, "at least 1");
	}
	strbuf_adds(&ex->msg, "is not bounded");
	strbuf_adds(&ex->hint, "bound it first: if (n > sizeof(buf)) n = sizeof(buf); or n &= "
			       "sizeof(buf) - 1;");
	return set_expected(ex, "a size from 0 to the buffer's");
}

const struct rule rules_bounds[] = {
	{"invalid access to packet, off=%d size=%d, R%d(id=%d,off=%d,r=%d)", "packet-bounds",
	 explain_packet},
	{"helper access to the packet is not allowed", "packet-bounds", explain_packet_helper},
	{"R%d offset is outside of the packet", "packet-bounds", NULL,
	 "the access may leave the packet", "compare with data_end first"},
	{"invalid access to map value, value_size=%d off=%d size=%d", "size-argument",
	 explain_size_zero_map},
	{"invalid access to map value, value_size=%d off=%d size=%d", "map-bounds",
	 explain_map_bounds},
	{"invalid access to map key, key_size=%d off=%d size=%d", "map-bounds", explain_map_bounds},
	{"invalid access to map value pointer, value_size=%d off=%d", "map-bounds",
	 explain_direct_value},
	{"direct value offset of %d is not allowed", "map-bounds", NULL,
	 "an offset into a data section is too large", "compile the object again"},
	{"invalid access to memory, mem_size=%d off=%d size=%d", "memory-bounds", explain_memory},
	{"access beyond struct %s at off %d size %d", "memory-bounds", explain_struct},
	{"access beyond the end of member", "memory-bounds", NULL,
	 "the access goes over the end of a field of the kernel's",
	 "access fields by name, with vmlinux.h and CO-RE"},
	{"R%d invalid %s buffer access: off=%d, size=%d", "memory-bounds", explain_buffer},
	{"R%d invalid variable buffer offset", "memory-bounds", explain_buffer},
	{"R%d is ptr_%s invalid negative access: off=%d", "memory-bounds", explain_buffer},
	{"R%d is ptr_%s invalid variable offset", "memory-bounds", explain_buffer},
	{"R%d unbounded memory access, use 'var &= const'", "size-argument", explain_size},
	{"R%d min value is negative, either use unsigned or", "size-argument", explain_size},
	{"R%d invalid zero-sized read", "size-argument", explain_size},
	{"R%d invalid zero-size", "size-argument", explain_size},
	{"R%d unbounded memory access, make sure", "map-bounds", explain_unbounded},
	{"R%d min value is negative, either use unsigned index", "map-bounds", explain_unbounded},
	{"math between %s pointer and register with unbounded", "map-bounds",
	 explain_unbounded_math},
	{"math between %s pointer and %d is not allowed", "map-bounds", explain_far},
	{"value %d makes %s pointer be out of bounds", "map-bounds", explain_far},
	{"invalid indirect read from stack", "uninit-stack", explain_stack_unset},
	{"invalid read from stack", "uninit-stack", explain_stack_unset},
	{"invalid stack type R%d off=%d access_size=%d", "size-argument", explain_stack},
	{"invalid %s stack R%d off=%d size=%d", "stack-bounds", explain_stack},
	{"invalid stack off=%d size=%d", "stack-bounds", explain_stack_plain},
	{"invalid variable-offset", "stack-bounds", explain_stack_index},
	{"invalid unbounded variable-offset", "stack-bounds", explain_stack_index},
	{"R%d unbounded indirect variable offset stack access", "stack-bounds",
	 explain_stack_index},
	{"variable stack access var_off", "stack-bounds", NULL,
	 "the index into an array on the stack is not a constant",
	 "this kernel accepts only constant indexes: keep the array in a map"},
	{"R%d variable stack access prohibited", "stack-bounds", explain_stack_index},
	{"R%d stack pointer arithmetic goes out of range", "stack-bounds", explain_stack_index},
	{"R%d pointer arithmetic of map value goes out of range", "map-bounds", explain_unbounded},
	{"R%d max value is outside of the allowed memory range", "map-bounds", explain_unbounded},
	{"R%d min value is outside of the allowed memory range", "map-bounds", explain_unbounded},
	{0},
};
