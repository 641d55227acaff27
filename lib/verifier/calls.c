// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rules about what a program asks for: helpers, functions and fields that this
 * kernel, this kind of program or this licence has not, and arguments of the
 * wrong type. CO-RE and the loader leave calls of helpers that cannot exist
 * where something is missing; their notes say what.
 */
#include "lib/verifier/internal.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
	HELPER_PROBE_WRITE_USER = 36,
	HELPER_COPY_FROM_USER = 148, /* 5.10 */
	HELPER_INODE_STORAGE_IMA = 161,
	HELPER_COPY_FROM_USER_TASK = 191,
	HELPER_IMA_FILE_HASH = 193,
};

static void add_type(struct explain *ex)
{
	if (ex->in->type_name)
		strbuf_addf(&ex->msg, " in programs of type %s", ex->in->type_name);
}

/* Whether text has name with nothing of a name on either side. */
static bool has_word(const char *text, const char *name)
{
	const size_t n = strlen(name);

	for (const char *at = text; (at = strstr(at, name)); at++)
		if ((at == text || !is_name_char(at[-1])) && !is_name_char(at[n]))
			return true;
	return false;
}

/* The compiler moves such instructions: the line is one behind it that has the field's name. */
static void place_by_name(struct explain *ex, const char *what)
{
	const struct verifier_input *in = ex->in;
	const char *end = what + strcspn(what, " ");
	char name[64];

	/* "struct task_struct.se.load does …", "enum pid_type PIDTYPE_X does …" */
	while (*end == ' ' && strncmp(end, " does ", 6) != 0 && strncmp(end, " has ", 5) != 0)
		end += 1 + strcspn(end + 1, " ");
	const char *at = end;
	while (at > what && at[-1] != '.' && at[-1] != ' ')
		at--;
	if (end == at || (size_t)(end - at) >= sizeof(name))
		return;
	memcpy(name, at, (size_t)(end - at));
	name[end - at] = 0;
	const struct verifier_line *now = line_of(in, (uint32_t)ex->insn);
	if (now && now->text && has_word(now->text, name))
		return;
	for (uint32_t i = 0; i < in->n_lines; i++) {
		if (in->lines[i].insn <= (uint32_t)ex->insn || !in->lines[i].text ||
		    !in->lines[i].line || !has_word(in->lines[i].text, name))
			continue;
		ex->place = in->lines[i].insn;
		return;
	}
}

/* What CO-RE did not find, behind an instruction that can be reached. */
static bool explain_core(struct explain *ex)
{
	const struct verifier_note *note =
		ex->insn < 0 ? NULL : note_of(ex->in, (uint32_t)ex->insn, VERIFIER_NOTE_CORE);

	if (!note)
		return false;
	place_by_name(ex, note->text);
	strbuf_adds(&ex->msg, note->text);
	if (note->hint)
		strbuf_addf(&ex->hint, "did you mean %s? Or ", note->hint);
	if (note->lacks_type)
		strbuf_adds(&ex->hint, "load the module that has the type (modprobe), or ");
	strbuf_adds(&ex->hint, "guard the access: ");
	if (!strncmp(note->text, "enum ", 5))
		strbuf_adds(&ex->hint, "if (bpf_core_enum_value_exists(enum type, VALUE)) …");
	else if (strchr(note->text, '.'))
		strbuf_adds(&ex->hint, "if (bpf_core_field_exists(ptr->field)) …");
	else
		strbuf_adds(&ex->hint, "if (bpf_core_type_exists(struct type)) …");
	return set_expected(ex, "what this kernel has");
}

static bool explain_no_map(struct explain *ex)
{
	const struct verifier_note *note =
		ex->insn < 0 ? NULL : note_of(ex->in, (uint32_t)ex->insn, VERIFIER_NOTE_GONE);

	if (!note)
		return false;
	strbuf_addf(&ex->msg, "it uses map '%s', which is not created", note->name);
	strbuf_adds(&ex->hint,
		    "enable autocreate for the map, or disable autoload for the program");
	return true;
}

static bool explain_weak(struct explain *ex)
{
	const struct verifier_note *note =
		ex->insn < 0 ? NULL : note_of(ex->in, (uint32_t)ex->insn, VERIFIER_NOTE_KSYM);

	if (!note)
		return false;
	strbuf_addf(&ex->msg, "the kernel has no function '%s', but the program calls it",
		    note->name);
	strbuf_addf(&ex->hint, "test it first: if (%s) … (or bpf_ksym_exists(%s))", note->name,
		    note->name);
	return true;
}

static bool may_sleep(int64_t helper)
{
	return helper == HELPER_COPY_FROM_USER || helper == HELPER_INODE_STORAGE_IMA ||
	       helper == HELPER_COPY_FROM_USER_TASK || helper == HELPER_IMA_FILE_HASH;
}

static void sleepable_words(struct explain *ex, struct piece callee)
{
	ex->kind = "sleepable";
	strbuf_addf(&ex->msg, "%.*s() may sleep, but this program is not sleepable",
		    (int)callee.len, callee.at);
	strbuf_adds(&ex->hint, "use a sleepable section: SEC(\"fentry.s/…\"), lsm.s, uprobe.s, "
			       "iter.s or syscall; bpf_probe_read_user() does not sleep");
}

static bool explain_helper(struct explain *ex)
{
	const struct piece name = ex->m.s[0];
	const int64_t id = ex->m.d[0];

	if (may_sleep(id) && !ex->in->sleepable) {
		sleepable_words(ex, name);
		return true;
	}
	if (id == HELPER_PROBE_WRITE_USER) {
		ex->kind = "not-permitted";
		strbuf_adds(&ex->msg, "bpf_probe_write_user() is not permitted");
		strbuf_adds(&ex->hint, "it needs CAP_SYS_ADMIN and a kernel that is not locked "
				       "down (see /sys/kernel/security/lockdown)");
		return true;
	}
	if (piece_is(name, "unknown")) {
		strbuf_addf(&ex->msg, "this kernel has no helper number %" PRId64, id);
		strbuf_adds(&ex->hint, "the program was written for a newer kernel: test with "
				       "bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_…) "
				       "before the call");
		return true;
	}
	strbuf_addf(&ex->msg, "%.*s() cannot be called", (int)name.len, name.at);
	add_type(ex);
	strbuf_adds(&ex->hint, "'perf-bpf features' shows what this kernel has; bpf-helpers(7) "
			       "lists which program types can call which helper");
	return true;
}

static bool explain_helper_here(struct explain *ex)
{
	const struct piece callee =
		ex->step >= 0 ? step_callee(&ex->log.steps.v[ex->step]) : (struct piece){0};

	strbuf_addf(&ex->msg, "%.*s() cannot be called from here", (int)callee.len,
		    callee.at ? callee.at : "");
	return true;
}

static bool explain_kfunc(struct explain *ex)
{
	strbuf_addf(&ex->msg, "kernel function %.*s() cannot be called", (int)ex->m.s[0].len,
		    ex->m.s[0].at);
	add_type(ex);
	strbuf_adds(&ex->hint, "only functions that the kernel exports to this program type "
			       "(kfuncs) can be called; helpers need no declaration with __ksym");
	return true;
}

/* 5.10 does not know such calls at all, and says so in its own way. */
static bool explain_no_kfuncs(struct explain *ex)
{
	const struct bpf_insn *insn = insn_at(ex->in, ex->insn);

	if (!insn_calls(insn) || insn->src_reg != BPF_PSEUDO_KFUNC_CALL)
		return false;
	strbuf_adds(&ex->msg, "this kernel does not allow programs to call kernel functions");
	strbuf_adds(&ex->hint,
		    "kfuncs need Linux 5.13: declare it __weak and test it before the call");
	return true;
}

static bool explain_gpl(struct explain *ex)
{
	const struct piece callee =
		ex->step >= 0 ? step_callee(&ex->log.steps.v[ex->step]) : (struct piece){0};

	if (callee.at)
		strbuf_addf(&ex->msg, "%.*s() is only for GPL programs", (int)callee.len,
			    callee.at);
	else
		strbuf_adds(&ex->msg, "this is only for GPL programs");
	if (ex->in->license)
		strbuf_addf(&ex->msg, ", but the license of this one is '%s'", ex->in->license);
	strbuf_adds(&ex->hint, "write: char LICENSE[] SEC(\"license\") = \"GPL\"; (or \"Dual "
			       "BSD/GPL\", \"Dual MIT/GPL\")");
	return set_expected(ex, "a GPL-compatible license");
}

static bool explain_sleepable(struct explain *ex)
{
	struct piece callee =
		ex->step >= 0 ? step_callee(&ex->log.steps.v[ex->step]) : (struct piece){0};

	if (!callee.at)
		callee = piece_of("a helper");
	sleepable_words(ex, callee);
	return true;
}

/* ---- the context ---- */

static bool explain_context(struct explain *ex)
{
	const int64_t off = ex->m.d[0], size = ex->m.d[1];
	const bool write = insn_stores(insn_at(ex->in, ex->insn));
	_cleanup_strbuf_ struct strbuf field = STRBUF_INIT;

	if (insn_at(ex->in, ex->insn))
		explain_register(ex, write ? insn_at(ex->in, ex->insn)->dst_reg
					   : insn_at(ex->in, ex->insn)->src_reg);
	if (off >= 0 && off <= UINT32_MAX && ex->in->ctx_field)
		ex->in->ctx_field(ex->in->ctx, (uint32_t)off, &field);
	if (field.len)
		strbuf_addf(&ex->msg, "the context's field %s cannot be %s", strbuf_str(&field),
			    write ? "written" : "read");
	else
		strbuf_addf(&ex->msg,
			    "%" PRId64 " bytes at byte %" PRId64 " of the context cannot be %s",
			    size, off, write ? "written" : "read");
	add_type(ex);
	strbuf_adds(&ex->hint,
		    write ? "most program types can only read their context: copy what is needed"
			  : "the field is for another program type, the access has another size "
			    "than the field, or it is past the end of the context");
	return set_expected(ex, "a field that programs of this type can %s",
			    write ? "write" : "read");
}

static bool explain_context_moved(struct explain *ex)
{
	if (!piece_is(ex->m.s[0], "ctx"))
		return false;
	explain_register(ex, (unsigned)ex->m.d[0]);
	strbuf_addf(&ex->msg,
		    "the context is read through a modified pointer (by %" PRId64
		    " bytes): its offsets must be constants",
		    ex->m.d[1]);
	strbuf_adds(&ex->hint, "read the field directly from the context: ctx->field, without a "
			       "pointer to a field or a variable index (#pragma unroll)");
	return true;
}

static bool explain_context_index(struct explain *ex)
{
	if (!piece_starts(ex->m.s[0], "ctx"))
		return false;
	strbuf_adds(&ex->msg, "the context is read at a variable offset");
	strbuf_adds(&ex->hint, "read its fields one by one, or unroll the loop: #pragma unroll");
	return true;
}

static bool explain_arguments(struct explain *ex)
{
	const struct bpf_insn *insn = insn_at(ex->in, ex->insn);

	if (insn)
		explain_register(ex, insn->src_reg);
	strbuf_addf(&ex->msg, "%.*s has no argument ", (int)ex->m.s[0].len, ex->m.s[0].at);
	/* The number in the kernel's words was wrong for years. */
	if (insn && insn->off >= 0)
		strbuf_addf(&ex->msg, "%d", insn->off / 8 + 1);
	else
		strbuf_addf(&ex->msg, "%" PRId64, ex->m.d[0]);
	strbuf_adds(&ex->hint, "compare with its prototype: bpftool btf dump file "
			       "/sys/kernel/btf/vmlinux");
	return true;
}

/* ---- arguments ---- */

bool explain_argument(struct explain *ex)
{
	const unsigned reg = (unsigned)ex->m.d[0];
	const struct piece callee =
		ex->step >= 0 ? step_callee(&ex->log.steps.v[ex->step]) : (struct piece){0};
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf wanted = STRBUF_INIT;
	struct piece list = ex->m.s[1];

	explain_register(ex, reg);
	type_words(ex->m.s[0], &words);
	if (!ex->f->state)
		set_piece(&ex->f->state, piece_of(strbuf_str(&words)));
	/* "fp, pkt, map_value": a few of them in words. */
	for (unsigned n = 0; list.len && n < 4; n++) {
		const char *comma = memchr(list.at, ',', list.len);
		const size_t len = comma ? (size_t)(comma - list.at) : list.len;

		if (n)
			strbuf_adds(&wanted, ", or ");
		type_words((struct piece){list.at, len}, &wanted);
		list.at += len;
		list.len -= len;
		while (list.len && (*list.at == ',' || *list.at == ' ')) {
			list.at++;
			list.len--;
		}
	}
	strbuf_addf(&ex->msg, "argument %u of %.*s() is %s", reg, (int)callee.len,
		    callee.at ? callee.at : "", strbuf_str(&words));
	strbuf_addf(&ex->hint, "it needs %s", strbuf_str(&wanted));
	return set_expected(ex, "%s", strbuf_str(&wanted));
}

static bool explain_map_type(struct explain *ex)
{
	const struct verifier_note *map = explain_map(ex, 1);

	if (!map)
		map = explain_map(ex, 2);
	if (map)
		strbuf_addf(&ex->msg, "%.*s() does not accept the type of map '%s'",
			    (int)ex->m.s[0].len, ex->m.s[0].at, map->name);
	else
		strbuf_addf(&ex->msg,
			    "a map of type %" PRId64
			    " is passed to %.*s(), which does not accept it",
			    ex->m.d[0], (int)ex->m.s[0].len, ex->m.s[0].at);
	strbuf_adds(&ex->hint, "each helper supports certain map types, for example "
			       "bpf_ringbuf_output() ring buffers: see bpf-helpers(7)");
	return true;
}

static bool explain_kernels_words(struct explain *ex)
{
	strbuf_adds(&ex->msg, "an argument does not match the called function: ");
	add_piece(&ex->msg, ex->line);
	strbuf_adds(&ex->hint, "compare with the function's prototype and its documentation");
	return true;
}

static bool explain_global_argument(struct explain *ex)
{
	strbuf_addf(&ex->msg,
		    "function '%.*s' is global, and this kernel does not support the type of an "
		    "argument",
		    (int)ex->m.s[1].len, ex->m.s[1].at);
	strbuf_adds(&ex->hint, "make it static, so that it is verified together with its callers");
	return true;
}

static bool explain_possibly_null(struct explain *ex)
{
	strbuf_addf(&ex->msg, "argument %" PRId64 " may be NULL", ex->m.d[0]);
	if (ex->m.d[0] >= 1 && ex->m.d[0] <= 5)
		explain_register(ex, (unsigned)ex->m.d[0]);
	strbuf_adds(&ex->hint, "check it first: if (!p) return 0;");
	return true;
}

const struct rule rules_calls[] = {
	{"invalid func %s#%d", "no-core-field", explain_core},
	{"*", "no-core-field", explain_core},
	{"*", "no-map", explain_no_map},
	{"*", "no-ksym", explain_weak},
	{"BPF_CALL uses reserved fields", "no-kfunc", explain_no_kfuncs},
	{"unknown func %s#%d", "no-helper", explain_helper},
	{"program of this type cannot use helper %s#%d", "no-helper", explain_helper},
	{"invalid func %s#%d", "no-helper", explain_helper},
	{"func %s#%d not supported for program type", "no-helper", explain_helper},
	{"func %s#%d supported only for", "no-helper", explain_helper},
	{"helper call is not allowed in probe", "no-helper", explain_helper_here, NULL,
	 "call it from another program type"},
	{"calling kernel function %s is not allowed", "no-kfunc", explain_kfunc},
	{"calling kernel function%s", "no-kfunc", explain_no_kfuncs},
	{"kernel btf_id %d is not a function", "no-kfunc", explain_no_kfuncs},
	{"cannot find address for kernel function %s", "no-kfunc", explain_kfunc},
	{"cannot call GPL-restricted function", "gpl-only", explain_gpl},
	{"cannot call GPL only function", "gpl-only", explain_gpl},
	{"cannot call kernel function from non-GPL", "gpl-only", explain_gpl},
	{"struct ops programs must have a GPL", "gpl-only", explain_gpl},
	{"*GPL compatible license", "gpl-only", explain_gpl},
	{"helper call might sleep in a non-sleepable prog", "sleepable", explain_sleepable},
	{"sleepable helper %s in ", "sleepable", explain_sleepable},
	{"program must be sleepable to call sleepable kfunc", "sleepable", explain_sleepable},
	{"kernel func %s is sleepable within", "sleepable", explain_sleepable},
	{"Sleepable programs can only use", "sleepable", NULL,
	 "sleepable programs cannot use this map type", "use an array, a hash or a ring buffer"},
	{"*programs can be sleepable", "sleepable", NULL,
	 "programs of this type cannot be sleepable", "remove the .s from the section name"},
	{"Syscall programs can only be sleepable", "sleepable", NULL,
	 "programs of type syscall must be sleepable", "write SEC(\"syscall\")"},
	{"func %s doesn't have %d-th argument", "context-access", explain_arguments},
	{"func %s offset %d is not multiple of 8", "context-access", explain_arguments},
	{"invalid bpf_context access off=%d size=%d", "context-access", explain_context},
	{"dereference of modified %s ptr R%d off=%d disallowed", "context-access",
	 explain_context_moved},
	{"negative offset %s ptr R%d off=%d disallowed", "context-access", explain_context_moved},
	{"variable %s access var_off=", "context-access", explain_context_index},
	{"cannot pass map_type %d into func %s#%d", "argument-type", explain_map_type},
	{"Arg#%d type %s in %s() is not supported yet", "argument-type", explain_global_argument},
	{"Possibly NULL pointer passed to trusted arg%d", "null-pointer", explain_possibly_null},
	{"Possibly NULL pointer passed to helper arg%d", "null-pointer", explain_possibly_null},
	{"Caller passes invalid args into func#%d", "argument-type", explain_kernels_words},
	{"Expected %s arg #%d", "argument-type", explain_kernels_words},
	{"arg#%d %s", "argument-type", explain_kernels_words},
	{"arg %d %s", "argument-type", explain_kernels_words},
	{"R%d must be ", "argument-type", explain_kernels_words},
	{"R%d is of type %s but %s is expected", "argument-type", explain_kernels_words},
	{0},
};
