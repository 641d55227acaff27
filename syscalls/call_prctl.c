// SPDX-License-Identifier: BSD-2-Clause
/*
 * prctl(2) and arch_prctl(2): each option has arguments of its own. The options and the names of
 * their values come from the headers of the build machine; here is which arguments an option has,
 * and which set names them. All arguments of an unknown option are shown as numbers.
 */
#include <inttypes.h>
#include <stdio.h>

#include "syscalls/call_decode.h"

enum prctl_as {
	PRCTL_ABSENT, /* the option has no such argument */
	PRCTL_HEX,
	PRCTL_DEC,
	PRCTL_INT, /* of 32 bits */
	PRCTL_ADDR,
	PRCTL_SIGNAL,
	PRCTL_TRACER, /* a process, or PR_SET_PTRACER_ANY */
	PRCTL_ENUM,
	PRCTL_ENUM32,
	PRCTL_ENUM_DEC, /* the number, and the name in a comment */
	PRCTL_FLAGS,
	PRCTL_LENGTH, /* of a vector, in the lower 16 bits; flags above */
	PRCTL_TAGGED, /* flags, a mode and a mask */
	PRCTL_NAME,   /* what it points to: 16 bytes of text */
	PRCTL_TEXT,   /* … up to 80 bytes */
	PRCTL_FILTER, /* … a struct sock_fprog */
	PRCTL_AT_INT, /* … a number that the call writes */
	PRCTL_AT_ADDR,
	PRCTL_AT_SIGNAL,
	PRCTL_AT_ENUM,
	PRCTL_AT_FLAGS,
};

struct prctl_value {
	uint8_t as;   /* enum prctl_as */
	uint16_t set; /* enum flag_set_id */
};

struct prctl_form {
	const char *option;
	struct prctl_value args[4]; /* arg2 to arg5 */
	struct prctl_value ret;	    /* PRCTL_ABSENT: a number */
};

#define HEX3                                                                                       \
	{PRCTL_HEX}, {PRCTL_HEX},                                                                  \
	{                                                                                          \
		PRCTL_HEX                                                                          \
	}
#define HEX4                                                                                       \
	HEX3,                                                                                      \
	{                                                                                          \
		PRCTL_HEX                                                                          \
	}

/* clang-format off */
static const struct prctl_form forms[] = {
	{"PR_SET_PDEATHSIG", {{PRCTL_SIGNAL}}, {0}},
	{"PR_GET_PDEATHSIG", {{PRCTL_AT_SIGNAL}}, {0}},
	{"PR_SET_DUMPABLE", {{PRCTL_ENUM, SET_prctl_dumpable}}, {0}},
	{"PR_GET_DUMPABLE", {{0}}, {PRCTL_ENUM, SET_prctl_dumpable}},
	{"PR_SET_UNALIGN", {{PRCTL_FLAGS, SET_prctl_unalign}}, {0}},
	{"PR_GET_UNALIGN", {{PRCTL_AT_FLAGS, SET_prctl_unalign}}, {0}},
	{"PR_GET_KEEPCAPS", {{0}}, {0}},
	{"PR_SET_KEEPCAPS", {{PRCTL_DEC}}, {0}},
	{"PR_GET_FPEMU", {{PRCTL_AT_ENUM, SET_prctl_fpemu}}, {0}},
	{"PR_SET_FPEMU", {{PRCTL_ENUM, SET_prctl_fpemu}}, {0}},
	{"PR_GET_FPEXC", {{PRCTL_AT_FLAGS, SET_prctl_fpexc}}, {0}},
	{"PR_SET_FPEXC", {{PRCTL_FLAGS, SET_prctl_fpexc}}, {0}},
	{"PR_GET_TIMING", {{0}}, {0}},
	{"PR_SET_TIMING", {{PRCTL_DEC}}, {0}},
	{"PR_SET_NAME", {{PRCTL_NAME}}, {0}},
	{"PR_GET_NAME", {{PRCTL_NAME}}, {0}},
	{"PR_GET_ENDIAN", {{PRCTL_AT_ENUM, SET_prctl_endian}}, {0}},
	{"PR_SET_ENDIAN", {{PRCTL_ENUM, SET_prctl_endian}}, {0}},
	{"PR_GET_SECCOMP", {{0}}, {0}},
	{"PR_CAPBSET_READ", {{PRCTL_ENUM, SET_capability}}, {0}},
	{"PR_CAPBSET_DROP", {{PRCTL_ENUM, SET_capability}}, {0}},
	{"PR_GET_TSC", {{PRCTL_AT_ENUM, SET_prctl_tsc}}, {0}},
	{"PR_SET_TSC", {{PRCTL_ENUM32, SET_prctl_tsc}}, {0}},
	{"PR_GET_SECUREBITS", {{0}}, {PRCTL_FLAGS, SET_securebits}},
	{"PR_SET_SECUREBITS", {{PRCTL_FLAGS, SET_securebits}}, {0}},
	{"PR_SET_TIMERSLACK", {{PRCTL_DEC}}, {0}},
	{"PR_GET_TIMERSLACK", {{0}}, {0}},
	{"PR_TASK_PERF_EVENTS_DISABLE", {{0}}, {0}},
	{"PR_TASK_PERF_EVENTS_ENABLE", {{0}}, {0}},
	{"PR_MCE_KILL_GET", {HEX4}, {PRCTL_ENUM, SET_prctl_mce_policy}},
	{"PR_SET_MM", {{PRCTL_ENUM, SET_prctl_mm}, {PRCTL_ADDR}, {PRCTL_DEC}, {PRCTL_DEC}}, {0}},
	{"PR_SET_CHILD_SUBREAPER", {{PRCTL_DEC}}, {0}},
	{"PR_GET_CHILD_SUBREAPER", {{PRCTL_AT_INT}}, {0}},
	{"PR_SET_NO_NEW_PRIVS", {{PRCTL_DEC}, HEX3}, {0}},
	{"PR_GET_NO_NEW_PRIVS", {HEX4}, {0}},
	{"PR_GET_TID_ADDRESS", {{PRCTL_AT_ADDR}}, {0}},
	{"PR_SET_THP_DISABLE", {{PRCTL_DEC}, HEX3}, {0}},
	{"PR_GET_THP_DISABLE", {HEX4}, {0}},
	{"PR_SVE_SET_VL", {{PRCTL_LENGTH, SET_prctl_sve}}, {PRCTL_LENGTH, SET_prctl_sve}},
	{"PR_SVE_GET_VL", {{0}}, {PRCTL_LENGTH, SET_prctl_sve}},
	{"PR_SME_SET_VL", {{PRCTL_LENGTH, SET_prctl_sme}}, {PRCTL_LENGTH, SET_prctl_sme}},
	{"PR_SME_GET_VL", {{0}}, {PRCTL_LENGTH, SET_prctl_sme}},
	{"PR_PAC_RESET_KEYS", {{PRCTL_FLAGS, SET_prctl_pac}, HEX3}, {0}},
	{"PR_PAC_SET_ENABLED_KEYS",
	 {{PRCTL_FLAGS, SET_prctl_pac_enabled}, {PRCTL_FLAGS, SET_prctl_pac_enabled}, {PRCTL_HEX},
	  {PRCTL_HEX}}, {0}},
	{"PR_PAC_GET_ENABLED_KEYS", {HEX4}, {PRCTL_FLAGS, SET_prctl_pac_enabled}},
	{"PR_SET_TAGGED_ADDR_CTRL", {{PRCTL_TAGGED}, HEX3}, {0}},
	{"PR_GET_TAGGED_ADDR_CTRL", {HEX4}, {PRCTL_TAGGED}},
	{"PR_SCHED_CORE",
	 {{PRCTL_ENUM32, SET_prctl_sched_core}, {PRCTL_INT}, {PRCTL_ENUM_DEC, SET_pid_type},
	  {PRCTL_AT_ADDR}}, {0}},
	{"PR_SET_PTRACER", {{PRCTL_TRACER}}, {0}},
};

/* Options whose arguments depend on their first one. */
static const struct {
	const char *option, *first;
	struct prctl_form form;
} forms_by_first[] = {
	{"PR_CAP_AMBIENT", "PR_CAP_AMBIENT_CLEAR_ALL",
	 {NULL, {{PRCTL_ENUM, SET_prctl_cap_ambient}, HEX3}, {0}}},
	{"PR_CAP_AMBIENT", "*",
	 {NULL, {{PRCTL_ENUM, SET_prctl_cap_ambient}, {PRCTL_ENUM, SET_capability}, {PRCTL_HEX},
		 {PRCTL_HEX}}, {0}}},
	{"PR_CAP_AMBIENT", NULL, {NULL, {{PRCTL_ENUM, SET_prctl_cap_ambient}, HEX3}, {0}}},
	{"PR_MCE_KILL", "PR_MCE_KILL_SET",
	 {NULL, {{PRCTL_ENUM, SET_prctl_mce_kill}, {PRCTL_ENUM, SET_prctl_mce_policy}, {PRCTL_HEX},
		 {PRCTL_HEX}}, {0}}},
	{"PR_MCE_KILL", NULL, {NULL, {{PRCTL_ENUM, SET_prctl_mce_kill}, HEX3}, {0}}},
	{"PR_SET_SECCOMP", "SECCOMP_MODE_STRICT",
	 {NULL, {{PRCTL_ENUM, SET_seccomp_mode}}, {0}}},
	{"PR_SET_SECCOMP", "SECCOMP_MODE_FILTER",
	 {NULL, {{PRCTL_ENUM, SET_seccomp_mode}, {PRCTL_FILTER}}, {0}}},
	{"PR_SET_SECCOMP", NULL, {NULL, {{PRCTL_ENUM, SET_seccomp_mode}, HEX3}, {0}}},
	{"PR_SET_SYSCALL_USER_DISPATCH", "PR_SYS_DISPATCH_ON",
	 {NULL, {{PRCTL_ENUM, SET_prctl_dispatch}, {PRCTL_HEX}, {PRCTL_HEX}, {PRCTL_ADDR}}, {0}}},
	{"PR_SET_SYSCALL_USER_DISPATCH", NULL,
	 {NULL, {{PRCTL_ENUM, SET_prctl_dispatch}, HEX3}, {0}}},
	{"PR_SET_VMA", "PR_SET_VMA_ANON_NAME",
	 {NULL, {{PRCTL_ENUM, SET_prctl_vma}, {PRCTL_ADDR}, {PRCTL_DEC}, {PRCTL_TEXT}}, {0}}},
	{"PR_SET_VMA", NULL, {NULL, {{PRCTL_ENUM, SET_prctl_vma}, HEX3}, {0}}},
	{"PR_GET_SPECULATION_CTRL", NULL,
	 {NULL, {{PRCTL_ENUM, SET_prctl_spec}, HEX3}, {PRCTL_FLAGS, SET_prctl_spec_state}}},
	{"PR_SET_SPECULATION_CTRL", "*",
	 {NULL, {{PRCTL_ENUM, SET_prctl_spec}, {PRCTL_FLAGS, SET_prctl_spec_state}, {PRCTL_HEX},
		 {PRCTL_HEX}}, {0}}},
	{"PR_SET_SPECULATION_CTRL", NULL, {NULL, {{PRCTL_ENUM, SET_prctl_spec}, HEX3}, {0}}},
};
/* clang-format on */

/* The form of a call; NULL: the option is not known. */
static const struct prctl_form *form_of(const struct call_decoder *d)
{
	const char *option = flag_set_name(SET_prctl_option, (uint32_t)d->args[0]);

	if (!option)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (!strcmp(forms[i].option, option))
			return &forms[i];
	for (size_t i = 0; i < ARRAY_SIZE(forms_by_first); i++) {
		const char *first = forms_by_first[i].first;

		if (strcmp(forms_by_first[i].option, option))
			continue;
		const char *name = flag_set_name(
			(enum flag_set_id)forms_by_first[i].form.args[0].set, d->args[1]);
		if (!first || (name && (!strcmp(first, "*") || !strcmp(first, name))))
			return &forms_by_first[i].form;
	}
	return NULL;
}

bool prctl_has_arg(const struct call_decoder *d, int arg)
{
	const struct prctl_form *form = arg >= 1 && arg <= 4 ? form_of(d) : NULL;

	return !form || form->args[arg - 1].as != PRCTL_ABSENT;
}

/* Flags above a number of 16 bits: "PR_SVE_VL_INHERIT|0xff". */
static void show_length(struct call_decoder *d, enum flag_set_id set, uint64_t v)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const uint64_t flags = v & ~(uint64_t)0xffff;

	if (!flags) {
		sink_hex(&d->sink, v);
		return;
	}
	if (!flags_text(&d->sink, set, flags, &text))
		strbuf_addf(&text, "%#" PRIx64, flags);
	strbuf_addf(&text, "|%#" PRIx64, v & 0xffff);
	sink_constf(&d->sink, strbuf_str(&text), "%#" PRIx64, v);
}

/* "!PR_TAGGED_ADDR_ENABLE|PR_MTE_TCF_SYNC|0x1<<PR_MTE_TAG_SHIFT" */
static void show_tagged(struct call_decoder *d, uint64_t v)
{
	enum { ENABLE = 1, MODE = 6, TAG_SHIFT = 3 };
	static const uint64_t tag_mask = 0xffff;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const uint64_t tags = v >> TAG_SHIFT & tag_mask;
	const uint64_t rest = v & ~(ENABLE | MODE | tag_mask << TAG_SHIFT);

	strbuf_addf(&text, "%sPR_TAGGED_ADDR_ENABLE|%s", v & ENABLE ? "" : "!",
		    flag_set_name(SET_prctl_mte_mode, v & MODE) ?: "PR_MTE_TCF_???");
	if (tags)
		strbuf_addf(&text, "|%#" PRIx64 "<<PR_MTE_TAG_SHIFT", tags);
	if (rest)
		strbuf_addf(&text, "|%#" PRIx64, rest);
	sink_constf(&d->sink, strbuf_str(&text), "%#" PRIx64, v);
}

static void show_value(struct call_decoder *d, const struct prctl_value *value, uint64_t v)
{
	const enum flag_set_id set = (enum flag_set_id)value->set;
	struct value_sink *s = &d->sink;

	switch ((enum prctl_as)value->as) {
	case PRCTL_DEC:
		sink_u64(s, v);
		break;
	case PRCTL_INT:
	case PRCTL_AT_INT:
		sink_i64(s, (int32_t)v);
		break;
	case PRCTL_ADDR:
	case PRCTL_AT_ADDR:
		sink_addr(s, v);
		break;
	case PRCTL_SIGNAL:
		if (v <= INT32_MAX && v)
			show_signal(d, (int)v);
		else
			sink_u64(s, v);
		break;
	case PRCTL_AT_SIGNAL:
		show_signal(d, (int)v);
		break;
	case PRCTL_TRACER:
		if (v == UINT64_MAX)
			sink_constf(s, "PR_SET_PTRACER_ANY", "%#" PRIx64, v);
		else
			sink_i64(s, (int32_t)v);
		break;
	case PRCTL_ENUM32:
	case PRCTL_AT_ENUM:
		sink_enum(s, set, (uint32_t)v);
		break;
	case PRCTL_ENUM:
		sink_enum(s, set, v);
		break;
	case PRCTL_ENUM_DEC:
		sink_hex(s, (uint32_t)v);
		if (decode_strace(d) && d->opts->constants != CONSTANTS_RAW)
			sink_comment(s, "%s",
				     flag_set_name(set, (uint32_t)v) ?: flag_sets[set].unknown);
		break;
	case PRCTL_FLAGS:
		sink_flags(s, set, v);
		break;
	case PRCTL_AT_FLAGS:
		sink_flags(s, set, (uint32_t)v);
		break;
	case PRCTL_LENGTH:
		show_length(d, set, v);
		break;
	case PRCTL_TAGGED:
		show_tagged(d, v);
		break;
	default:
		sink_hex(s, v);
	}
}

/* Text of at most most bytes, or its address: without its end it is not known to be one. */
static void show_text(struct call_decoder *d, const struct trace_piece *piece, size_t most,
		      uint64_t addr)
{
	const size_t len = piece ? strnlen((const char *)piece->data, piece->len) : 0;
	const bool ends = piece && (len < piece->len || piece->len >= most ||
				    !(piece->flags & TRACE_PIECE_FAULT));

	if (addr && ends)
		sink_string(&d->sink, piece->data, len < most ? len : most,
			    len >= most || piece->flags & TRACE_PIECE_CUT);
	else
		sink_addr(&d->sink, addr);
}

static void show_filter(struct call_decoder *d, const struct trace_piece *piece, uint64_t addr)
{
	const struct call_struct *s = call_struct_named("sock_fprog");

	if (addr && piece && piece->len >= s->size[d->layout])
		show_call_struct(d, s, piece->data);
	else
		sink_addr(&d->sink, addr);
}

void show_prctl_arg(struct call_decoder *d, int arg)
{
	enum { NAME_SET = 15, NAME_GET = 16 };
	const struct prctl_form *form = form_of(d);
	const struct prctl_value *value = form ? &form->args[arg - 1] : NULL;
	const bool is_name = value && value->as == PRCTL_NAME;
	const bool gets = value && (value->as >= PRCTL_AT_INT ||
				    (is_name && !strcmp(form->option, "PR_GET_NAME")));
	const struct trace_piece *piece =
		gets && (d->failed || !d->ended) ? NULL : decode_piece(d, arg, gets);
	const uint64_t v = d->args[arg];
	struct value_sink *s = &d->sink;

	if (!value) {
		sink_hex(s, v);
	} else if (is_name || value->as == PRCTL_TEXT) {
		show_text(d, piece, !is_name ? SIZE_MAX : gets ? NAME_GET : NAME_SET, v);
	} else if (value->as == PRCTL_FILTER) {
		show_filter(d, piece, v);
	} else if (value->as < PRCTL_AT_INT) {
		show_value(d, value, v);
	} else if (!v || !piece || piece->len < (value->as == PRCTL_AT_ADDR ? 8 : 4)) {
		sink_addr(s, v);
	} else {
		sink_array(s);
		sink_item(s);
		show_value(d, value, value_uint(piece->data, value->as == PRCTL_AT_ADDR ? 8 : 4));
		sink_end_array(s);
	}
}

/* The base of a segment is set, or written to memory; other codes have numbers. */
void show_arch_prctl_arg(struct call_decoder *d, int arg)
{
	const char *code = flag_set_name(SET_arch_prctl_code, (uint32_t)d->args[0]);
	const bool gets = code && (!strcmp(code, "ARCH_GET_FS") || !strcmp(code, "ARCH_GET_GS"));
	const struct trace_piece *piece = gets && !d->failed ? decode_piece(d, arg, true) : NULL;

	if (piece && piece->len >= 8) {
		sink_array(&d->sink);
		sink_item(&d->sink);
		sink_addr(&d->sink, value_uint(piece->data, 8));
		sink_end_array(&d->sink);
	} else if (gets) {
		sink_addr(&d->sink, d->args[arg]);
	} else {
		sink_hex(&d->sink, d->args[arg]);
	}
}

void add_prctl_result(struct call_decoder *d)
{
	const struct prctl_form *form = form_of(d);
	const uint64_t ret = (uint64_t)d->rec->ret;
	struct strbuf *out = d->sink.out;

	if (!form || form->ret.as == PRCTL_ABSENT) {
		strbuf_addf(out, "%" PRId64, (int64_t)ret);
		return;
	}
	if (form->ret.as == PRCTL_ENUM)
		strbuf_add_u64(out, ret);
	else
		strbuf_addf(out, "%#" PRIx64, ret);
	/* a number of which nothing has a name is not said twice */
	if (!ret && form->ret.as != PRCTL_ENUM)
		return;
	strbuf_adds(out, " (");
	show_value(d, &form->ret, ret);
	strbuf_addch(out, ')');
}
