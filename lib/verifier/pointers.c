// SPDX-License-Identifier: BSD-2-Clause
/* Rules about what a register holds: NULL, numbers, pointers where they must not go. */
#include "lib/verifier/internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* "what bpf_map_lookup_elem() returned", or what else the value is. */
static void add_what(struct explain *ex, const struct origin *o)
{
	if (o->kind == ORIGIN_CALL && o->callee.len && !piece_starts(o->callee, "pc"))
		strbuf_addf(&ex->msg, "the value from %.*s()", (int)o->callee.len, o->callee.at);
	else if (o->kind == ORIGIN_ARG)
		strbuf_adds(&ex->msg, "the function's argument");
	else
		strbuf_adds(&ex->msg, "the pointer");
}

static void hint_null(struct explain *ex, const struct origin *o)
{
	const struct piece var =
		o->kind == ORIGIN_ARG ? (struct piece){0} : variable_set_at(ex, o->step);

	if (var.at)
		strbuf_addf(&ex->hint, "check it first: if (!%.*s) return 0;", (int)var.len,
			    var.at);
	else
		strbuf_adds(&ex->hint, "check the pointer first: if (!p) return 0;");
}

static bool explain_null(struct explain *ex)
{
	if (!piece_has(ex->m.s[0], "or_null"))
		return false;
	const struct origin o = explain_register(ex, (unsigned)ex->m.d[0]);

	if (!ex->f->state) {
		struct strbuf words = STRBUF_INIT;

		type_words(ex->m.s[0], &words);
		ex->f->state = strbuf_steal(&words);
	}
	add_what(ex, &o);
	strbuf_adds(&ex->msg, " may be NULL here");
	set_expected(ex, "a pointer that was compared with NULL");
	hint_null(ex, &o);
	return true;
}

/* The pointer is NULL on this path: it was tested, and followed all the same. */
static bool explain_is_null(struct explain *ex)
{
	if (!piece_is(ex->m.s[0], "scalar") && !piece_is(ex->m.s[0], "inv"))
		return false;
	const struct piece state =
		ex->step < 0 ? (struct piece){0}
			     : vlog_state(&ex->log, ex->in, (size_t)ex->step, (unsigned)ex->m.d[0]);
	const struct value_range r = state_range(state);
	if (!r.is_const || r.min)
		return false;
	const struct origin o = explain_register(ex, (unsigned)ex->m.d[0]);
	add_what(ex, &o);
	strbuf_adds(&ex->msg, " is NULL on this path");
	set_expected(ex, "a pointer that is not NULL");
	strbuf_adds(&ex->hint, "on one path it is NULL here, or was set to 0: return before this "
			       "line on that path");
	return true;
}

static bool explain_scalar(struct explain *ex)
{
	if (!piece_is(ex->m.s[0], "scalar") && !piece_is(ex->m.s[0], "inv"))
		return false;
	const struct origin o = explain_register(ex, (unsigned)ex->m.d[0]);

	strbuf_adds(
		&ex->msg,
		insn_stores(insn_at(ex->in, ex->insn))
			? "this writes through a number: the verifier does not know it as a pointer"
			: "this dereferences a number: the verifier does not know it as a pointer");
	set_expected(ex, "a pointer that the verifier knows");
	if (insn_stores(insn_at(ex->in, ex->insn)))
		strbuf_adds(&ex->hint,
			    "a program can write only to its stack, to maps and to ring buffers");
	else if (o.kind == ORIGIN_LOAD)
		strbuf_adds(&ex->hint,
			    "pointers read from memory are numbers to the verifier: read what they "
			    "point to with BPF_CORE_READ() or bpf_probe_read_kernel(&copy, "
			    "sizeof(copy), p), and user memory with bpf_probe_read_user()");
	else
		strbuf_adds(&ex->hint,
			    "read what it points to with BPF_CORE_READ() or "
			    "bpf_probe_read_kernel(), and user memory with bpf_probe_read_user()");
	return true;
}

/* "R1 invalid mem access 'map_ptr'", 'pkt_end' and whatever else cannot be followed. */
static bool explain_not_followed(struct explain *ex)
{
	struct strbuf words = STRBUF_INIT;

	explain_register(ex, (unsigned)ex->m.d[0]);
	type_words(ex->m.s[0], &words);
	strbuf_addf(&ex->msg, "memory cannot be accessed through %s", strbuf_str(&words));
	if (!ex->f->state)
		ex->f->state = strbuf_steal(&words);
	strbuf_deinit(&words);
	if (piece_has(ex->m.s[0], "map_ptr"))
		strbuf_adds(&ex->hint,
			    "call bpf_map_lookup_elem() to get a pointer to a map's value");
	return true;
}

static bool explain_not_set(struct explain *ex)
{
	const unsigned reg = (unsigned)ex->m.d[0];
	const struct bpf_insn *insn = insn_at(ex->in, ex->insn);
	const struct origin o = explain_register(ex, reg);

	if (insn && insn->code == (BPF_JMP | BPF_EXIT)) {
		strbuf_adds(&ex->msg, "this path does not return a value");
		strbuf_adds(&ex->hint, "return a value on every path");
		return set_expected(ex, "a value that is returned");
	}
	if (insn_calls(insn) && reg >= 1 && reg <= 5) {
		const struct piece callee = step_callee(&ex->log.steps.v[ex->step]);

		strbuf_addf(&ex->msg, "argument %u of %.*s() is not initialized", reg,
			    (int)callee.len, callee.at);
		strbuf_adds(&ex->hint, "pass all arguments; a prototype with fewer arguments "
				       "leaves the rest uninitialized");
		return set_expected(ex, "a value");
	}
	if (o.kind == ORIGIN_CLOBBER)
		strbuf_addf(&ex->msg,
			    "R%u has no value any more: %.*s() was called after it was set", reg,
			    (int)o.callee.len, o.callee.at);
	else
		strbuf_addf(&ex->msg, "R%u is used before it is set", reg);
	strbuf_adds(&ex->hint, o.kind == ORIGIN_CLOBBER
				       ? "a call preserves only R6 to R10: keep the value in one "
					 "of those or on the stack"
				       : "set the variable on every path before it is used");
	return set_expected(ex, "a value");
}

/* ---- arithmetic ---- */

static bool explain_math(struct explain *ex)
{
	struct strbuf words = STRBUF_INIT;

	explain_register(ex, (unsigned)ex->m.d[0]);
	type_words(ex->m.s[0], &words);
	strbuf_addf(&ex->msg, "arithmetic on %s is not allowed", strbuf_str(&words));
	strbuf_deinit(&words);
	if (piece_has(ex->m.s[0], "map_ptr"))
		strbuf_adds(&ex->hint, "a map is not memory: look up a value with "
				       "bpf_map_lookup_elem(), and add to that pointer");
	else if (piece_has(ex->m.s[0], "pkt_end"))
		strbuf_adds(&ex->hint, "compare it with data + size instead");
	else
		strbuf_adds(&ex->hint, "use the pointer as it is");
	return true;
}

static bool explain_operator(struct explain *ex)
{
	struct piece op = ex->m.s[0];

	explain_register(ex, (unsigned)ex->m.d[0]);
	strbuf_addf(&ex->msg,
		    "pointer arithmetic with %.*s is not allowed: only adding and subtracting a "
		    "number is",
		    (int)op.len, op.at);
	strbuf_adds(&ex->hint, "compute the offset first, and add it to the pointer last");
	return true;
}

static bool explain_narrow(struct explain *ex)
{
	explain_register(ex, (unsigned)ex->m.d[0]);
	strbuf_adds(&ex->msg, "32-bit pointer arithmetic would truncate the pointer");
	strbuf_adds(&ex->hint, "keep pointers in pointer variables or in 64-bit integers");
	return true;
}

/* ---- leaks ---- */

static bool explain_leak(struct explain *ex)
{
	explain_register(ex, (unsigned)ex->m.d[0]);
	if (piece_has(ex->line, "return value"))
		strbuf_adds(&ex->msg, "this would return a kernel address");
	else if (piece_has(ex->line, "into map"))
		strbuf_adds(&ex->msg, "this would store a kernel address in a map");
	else
		strbuf_adds(&ex->msg, "this would leak a kernel address");
	strbuf_adds(&ex->hint,
		    "store what it points to instead; CAP_PERFMON allows storing addresses");
	return true;
}

/* ---- what may not be written ---- */

static bool explain_map_read_only(struct explain *ex)
{
	const struct bpf_insn *insn = insn_at(ex->in, ex->insn);
	const struct verifier_note *map = NULL;

	if (insn_stores(insn)) {
		explain_register(ex, insn->dst_reg);
		map = explain_map(ex, insn->dst_reg);
	} else if (insn_calls(insn)) {
		map = explain_map(ex, 1);
	}
	if (map && map->kind == VERIFIER_NOTE_VAR) {
		strbuf_addf(&ex->msg, "'%s' of %s is constant: programs cannot write it", map->name,
			    map->text);
		strbuf_adds(&ex->hint, "remove const from its definition; user space can set it "
				       "before loading in either case");
	} else {
		strbuf_addf(&ex->msg, "%s%s%s is read-only for programs", map ? "map '" : "the map",
			    map ? map->name : "", map ? "'" : "");
		strbuf_adds(&ex->hint, "constants (.rodata) and maps with BPF_F_RDONLY_PROG can be "
				       "written only by user space");
	}
	return set_expected(ex, "memory that may be written");
}

static bool explain_map_write_only(struct explain *ex)
{
	strbuf_adds(&ex->msg, "the map is write-only for programs");
	strbuf_adds(&ex->hint, "create it without BPF_F_WRONLY_PROG");
	return true;
}

static bool explain_no_write(struct explain *ex)
{
	struct strbuf words = STRBUF_INIT;

	explain_register(ex, (unsigned)ex->m.d[0]);
	type_words(ex->m.s[0], &words);
	strbuf_addf(&ex->msg, "memory cannot be written through %s", strbuf_str(&words));
	strbuf_deinit(&words);
	strbuf_adds(&ex->hint, "copy what it points to and change the copy");
	return true;
}

/* ---- misaligned ---- */

static bool explain_misaligned(struct explain *ex)
{
	const struct bpf_insn *insn = insn_at(ex->in, ex->insn);
	struct match m;
	int64_t size = 0;

	if (match_line(ex->line, "*size %d", &m))
		size = m.d[0];
	if (insn)
		explain_register(ex, insn_stores(insn) ? insn->dst_reg : insn->src_reg);
	strbuf_addf(&ex->msg, "an access of %" PRId64 " bytes must be at a multiple of %" PRId64,
		    size, size);
	strbuf_adds(&ex->hint, "align the variable (__attribute__((aligned(8)))), or copy the "
			       "bytes one by one; atomic operations need it always");
	return set_expected(ex, "an address that is a multiple of %" PRId64, size);
}

const struct rule rules_pointers[] = {
	{"R%d pointer arithmetic on %s prohibited, null-check it first", "null-pointer",
	 explain_null},
	{"R%d pointer arithmetic on %s prohibited", "null-pointer", explain_null},
	{"R%d invalid mem access '%s'", "null-pointer", explain_null},
	{"R%d invalid mem access '%s'", "null-pointer", explain_is_null},
	{"R%d invalid mem access '%s'", "scalar-pointer", explain_scalar},
	{"R%d invalid mem access '%s'", "argument-type", explain_not_followed},
	{"R%d type=%s expected=", "null-pointer", explain_null},
	{"R%d type=%s expected=%s", "argument-type", explain_argument},
	{"R%d !read_ok", "uninit-register", explain_not_set},
	{"R%d pointer arithmetic on %s prohibited", "pointer-arithmetic", explain_math},
	{"R%d pointer arithmetic with %s operator prohibited", "pointer-arithmetic",
	 explain_operator},
	{"R%d bitwise operator %s on pointer prohibited", "pointer-arithmetic", explain_operator},
	{"R%d 32-bit pointer arithmetic prohibited", "pointer-arithmetic", explain_narrow},
	{"R%d partial copy of pointer", "pointer-arithmetic", explain_narrow},
	{"R%d pointer %s pointer prohibited", "pointer-arithmetic", NULL,
	 "arithmetic with two pointers is not allowed",
	 "only pointers into the same packet can be subtracted"},
	{"R%d tried to subtract pointer from scalar", "pointer-arithmetic", NULL,
	 "a pointer is subtracted from a number", "swap the operands, or compute with numbers"},
	{"R%d subtraction from stack pointer prohibited", "pointer-arithmetic", NULL,
	 "a variable offset is subtracted from the stack pointer",
	 "index an array on the stack instead"},
	{"R%d pointer comparison prohibited", "pointer-arithmetic", NULL,
	 "the pointer cannot be compared with this value",
	 "compare pointers only with NULL; CAP_PERFMON allows other comparisons"},
	{"R%d pointer arithmetic prohibited", "pointer-arithmetic", NULL,
	 "pointer arithmetic is not allowed here", "it needs root or CAP_PERFMON"},
	{"R%d has pointer with unsupported alu operation", "pointer-arithmetic", NULL,
	 "this pointer arithmetic is not safe under speculative execution",
	 "load the program with CAP_PERFMON, or mask the index"},
	{"R%d tried to %s from different maps", "pointer-arithmetic", NULL,
	 "one line does arithmetic with pointers to different maps",
	 "use a separate line for each map; CAP_PERFMON also allows it"},
	{"R%d leaks addr", "pointer-leak", explain_leak},
	{"attempt to corrupt spilled pointer on stack", "pointer-leak", NULL,
	 "part of a pointer on the stack would be overwritten",
	 "store all eight bytes at once; CAP_PERFMON allows partial stores"},
	{"leaking pointer from stack", "pointer-leak", NULL,
	 "a pointer on the stack would be read as a number",
	 "read it as a pointer; CAP_PERFMON allows reading it as a number"},
	{"write into map forbidden", "read-only", explain_map_read_only},
	{"read from map forbidden", "read-only", explain_map_write_only},
	{"R%d cannot write into %s", "read-only", explain_no_write},
	{"BPF_STX stores into R%d %s is not allowed", "read-only", explain_no_write},
	{"BPF_ST stores into R%d %s is not allowed", "read-only", explain_no_write},
	{"BPF_ATOMIC stores into R%d %s is not allowed", "read-only", explain_no_write},
	{"cannot write into packet", "read-only", NULL,
	 "programs of this type cannot write to the packet",
	 "use bpf_skb_store_bytes(), or a program of type tc or xdp"},
	{"only read is supported", "read-only", NULL, "kernel structures are read-only",
	 "copy what is needed and change the copy"},
	{"only read from %s is supported", "read-only", NULL, "kernel structures are read-only",
	 "copy what is needed and change the copy"},
	{"write to change key R%d not allowed", "read-only", NULL, "a map's key cannot be changed",
	 "delete the element and add one with the new key"},
	{"misaligned %saccess", "misaligned", explain_misaligned},
	{0},
};
