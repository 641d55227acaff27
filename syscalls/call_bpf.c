// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpf(2) and perf_event_open(2): attributes that grew with the kernel. The caller says how many
 * bytes its own has; what follows is 0 to the kernel, and is not shown.
 */
#include <inttypes.h>
#include <stdio.h>

#include "syscalls/call_decode.h"

/* A struct of the kernel that has no decoder of its own: its bytes. */
static void show_struct_bytes(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	const struct trace_piece *piece = decode_shown_piece(d, arg, kind);

	if (!d->args[arg] || !piece || !piece->len || decode_strace(d))
		sink_addr(&d->sink, d->args[arg]);
	else
		sink_string(&d->sink, piece->data, piece->len < 64 ? piece->len : 64,
			    piece->len > 64);
}

static const struct {
	const char *command, *type;
} bpf_attrs[] = {
	{"BPF_MAP_CREATE", "bpf_map_create"},
	{"BPF_MAP_LOOKUP_ELEM", "bpf_map_elem"},
	{"BPF_MAP_UPDATE_ELEM", "bpf_map_elem"},
	{"BPF_MAP_DELETE_ELEM", "bpf_map_key"},
	{"BPF_MAP_GET_NEXT_KEY", "bpf_map_next_key"},
	{"BPF_MAP_LOOKUP_AND_DELETE_ELEM", "bpf_map_elem"},
	{"BPF_MAP_FREEZE", "bpf_map_fd"},
	{"BPF_MAP_LOOKUP_BATCH", "bpf_map_batch"},
	{"BPF_MAP_LOOKUP_AND_DELETE_BATCH", "bpf_map_batch"},
	{"BPF_MAP_UPDATE_BATCH", "bpf_map_batch"},
	{"BPF_MAP_DELETE_BATCH", "bpf_map_batch"},
	{"BPF_PROG_LOAD", "bpf_prog_load"},
	{"BPF_PROG_ATTACH", "bpf_prog_attach"},
	{"BPF_PROG_DETACH", "bpf_prog_attach"},
	{"BPF_PROG_TEST_RUN", "bpf_test_run"},
	{"BPF_PROG_BIND_MAP", "bpf_bind_map"},
	{"BPF_OBJ_PIN", "bpf_obj"},
	{"BPF_OBJ_GET", "bpf_obj"},
	{"BPF_PROG_GET_NEXT_ID", "bpf_next_id"},
	{"BPF_MAP_GET_NEXT_ID", "bpf_next_id"},
	{"BPF_BTF_GET_NEXT_ID", "bpf_next_id"},
	{"BPF_LINK_GET_NEXT_ID", "bpf_next_id"},
	{"BPF_PROG_GET_FD_BY_ID", "bpf_prog_id"},
	{"BPF_MAP_GET_FD_BY_ID", "bpf_map_id"},
	{"BPF_BTF_GET_FD_BY_ID", "bpf_btf_id"},
	{"BPF_LINK_GET_FD_BY_ID", "bpf_link_id"},
	{"BPF_OBJ_GET_INFO_BY_FD", "bpf_info"},
	{"BPF_RAW_TRACEPOINT_OPEN", "bpf_raw_tracepoint"},
	{"BPF_BTF_LOAD", "bpf_btf_load"},
	{"BPF_LINK_CREATE", "bpf_link_create"},
	{"BPF_LINK_UPDATE", "bpf_link_update"},
	{"BPF_LINK_DETACH", "bpf_link_fd"},
	{"BPF_ITER_CREATE", "bpf_iter_create"},
	{"BPF_ENABLE_STATS", "bpf_enable_stats"},
};

/* The members of a command that the attribute has. */
void show_bpf_attr(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	enum { ATTR_MAX = 256 }; /* more than any of the structs has */
	const struct trace_piece *piece = decode_shown_piece(d, arg, kind);
	const char *command = flag_set_name(SET_bpf_cmd, (uint32_t)d->args[0]);
	const struct call_struct *type = NULL;
	uint8_t attr[ATTR_MAX] = {0};

	for (size_t i = 0; command && i < ARRAY_SIZE(bpf_attrs); i++)
		if (!strcmp(bpf_attrs[i].command, command))
			type = call_struct_named(bpf_attrs[i].type);
	if (!type || !piece || !piece->len || type->size[d->layout] > sizeof(attr)) {
		show_struct_bytes(d, arg, kind);
		return;
	}
	memcpy(attr, piece->data, piece->len < sizeof(attr) ? piece->len : sizeof(attr));
	show_call_struct_of(d, type, attr, piece->len);
}

/* ---- perf_event_open(2) ---- */

enum attr_offset {
	ATTR_TYPE = 0,
	ATTR_SIZE = 4,
	ATTR_CONFIG = 8,
	ATTR_PERIOD = 16,
	ATTR_SAMPLE_TYPE = 24,
	ATTR_READ_FORMAT = 32,
	ATTR_BITS = 40,
	ATTR_WAKEUP = 48,
	ATTR_BP_TYPE = 52,
	ATTR_CONFIG1 = 56,
	ATTR_CONFIG2 = 64,
	ATTR_BRANCH = 72,
	ATTR_REGS_USER = 80,
	ATTR_STACK_USER = 88,
	ATTR_CLOCKID = 92,
	ATTR_REGS_INTR = 96,
	ATTR_AUX_WATERMARK = 104,
	ATTR_MAX_STACK = 108,
	ATTR_AUX_SAMPLE = 112,
	ATTR_SIG_DATA = 120,
	ATTR_LEAST = 64, /* bytes of the first version */
	ATTR_KNOWN = 128,
};

/* The bits of the fifth word, by their number; NULL: one more of precise_ip. */
static const char *const attr_bits[] = {
	"disabled",
	"inherit",
	"pinned",
	"exclusive",
	"exclude_user",
	"exclude_kernel",
	"exclude_hv",
	"exclude_idle",
	"mmap",
	"comm",
	"freq",
	"inherit_stat",
	"enable_on_exec",
	"task",
	"watermark",
	"precise_ip",
	NULL,
	"mmap_data",
	"sample_id_all",
	"exclude_host",
	"exclude_guest",
	"exclude_callchain_kernel",
	"exclude_callchain_user",
	"mmap2",
	"comm_exec",
	"use_clockid",
	"context_switch",
	"write_backward",
	"namespaces",
	"ksymbol",
	"bpf_event",
	"aux_output",
	"cgroup",
	"text_poke",
	"build_id",
	"inherit_thread",
	"remove_on_exec",
	"sigtrap",
};

enum {
	BIT_FREQ = 10,
	BIT_WATERMARK = 14,
	BIT_PRECISE = 15, /* and 16 */
};

static void member_u64(struct call_decoder *d, const char *name, uint64_t v)
{
	sink_member(&d->sink, name);
	sink_u64(&d->sink, v);
}

static void member_hex(struct call_decoder *d, const char *name, uint64_t v)
{
	sink_member(&d->sink, name);
	sink_hex(&d->sink, v);
}

/* What config is, the type of the event says. */
static void show_config(struct call_decoder *d, uint32_t type, uint64_t config)
{
	static const uint16_t sets[] = {SET_perf_hardware, SET_perf_software};

	if (type < ARRAY_SIZE(sets))
		sink_enum(&d->sink, (enum flag_set_id)sets[type], config);
	else
		sink_hex(&d->sink, config);
}

static void show_bits(struct call_decoder *d, uint64_t bits, bool full)
{
	static const char *const skids[] = {"arbitrary skid", "constant skid",
					    "requested to have 0 skid", "must have 0 skid"};
	const uint64_t known = (1ull << ARRAY_SIZE(attr_bits)) - 1;

	for (size_t i = 0; i < ARRAY_SIZE(attr_bits); i++) {
		if (i == BIT_PRECISE) {
			const unsigned precise = bits >> BIT_PRECISE & 3;

			member_u64(d, attr_bits[i], precise);
			if (decode_strace(d))
				sink_comment(&d->sink, "%s", skids[precise]);
		} else if (attr_bits[i] && (full || bits >> i & 1)) {
			member_u64(d, attr_bits[i], bits >> i & 1);
		}
	}
	if (bits & ~known)
		member_hex(d, "reserved", bits & ~known);
}

/* What follows the bits, as far as the attribute goes. */
static void show_attr_rest(struct call_decoder *d, const uint8_t *p, uint32_t size)
{
	enum { BREAKPOINT = 5 };
	const bool bp = value_uint(p + ATTR_TYPE, 4) == BREAKPOINT;
	const uint64_t bits = value_uint(p + ATTR_BITS, 8);
	const struct {
		const char *name;
		uint8_t at, size;
		bool hex;
	} members[] = {
		{bits >> BIT_WATERMARK & 1 ? "wakeup_watermark" : "wakeup_events", ATTR_WAKEUP, 4,
		 false},
		{bp ? "bp_type" : NULL, ATTR_BP_TYPE, 4, true},
		{bp ? "bp_addr" : "config1", ATTR_CONFIG1, 8, true},
		{bp ? "bp_len" : "config2", ATTR_CONFIG2, 8, !bp},
		{"branch_sample_type", ATTR_BRANCH, 8, true},
		{"sample_regs_user", ATTR_REGS_USER, 8, true},
		{"sample_stack_user", ATTR_STACK_USER, 4, true},
		{"clockid", ATTR_CLOCKID, 4, false},
		{"sample_regs_intr", ATTR_REGS_INTR, 8, true},
		{"aux_watermark", ATTR_AUX_WATERMARK, 4, false},
		{"sample_max_stack", ATTR_MAX_STACK, 2, false},
		{"aux_sample_size", ATTR_AUX_SAMPLE, 4, false},
		{"sig_data", ATTR_SIG_DATA, 8, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const uint64_t v = value_uint(p + members[i].at, members[i].size);

		if (!members[i].name || members[i].at + members[i].size > size)
			continue;
		if (members[i].at == ATTR_CLOCKID) {
			sink_member(&d->sink, members[i].name);
			show_number(d, &(struct arg_kind){.value = SHOW_CLOCKID}, v);
		} else if (members[i].hex) {
			member_hex(d, members[i].name, v);
		} else {
			member_u64(d, members[i].name, v);
		}
	}
}

void show_perf_attr(struct call_decoder *d, int arg)
{
	const struct trace_piece *piece = decode_piece(d, arg, false);
	struct value_sink *s = &d->sink;
	const bool full = d->opts->full || s->w;

	if (!d->args[arg] || !piece || piece->len < ATTR_LEAST) {
		sink_addr(s, d->args[arg]);
		return;
	}
	const uint8_t *p = piece->data;
	const uint32_t type = (uint32_t)value_uint(p + ATTR_TYPE, 4);
	const uint32_t size = (uint32_t)value_uint(p + ATTR_SIZE, 4);
	const uint64_t bits = value_uint(p + ATTR_BITS, 8);
	if (size && size < ATTR_LEAST) { /* the kernel does not look at the others */
		sink_addr(s, d->args[arg]);
		return;
	}
	sink_struct(s);
	sink_member(s, "type");
	sink_enum(s, SET_perf_type, type);
	sink_member(s, "size");
	sink_enum(s, SET_perf_attr_size, size);
	sink_member(s, "config");
	show_config(d, type, value_uint(p + ATTR_CONFIG, 8));
	member_u64(d, bits >> BIT_FREQ & 1 ? "sample_freq" : "sample_period",
		   value_uint(p + ATTR_PERIOD, 8));
	sink_member(s, "sample_type");
	sink_flags(s, SET_perf_sample_type, value_uint(p + ATTR_SAMPLE_TYPE, 8));
	sink_member(s, "read_format");
	sink_flags(s, SET_perf_read_format, value_uint(p + ATTR_READ_FORMAT, 8));
	show_bits(d, bits, d->opts->full);
	if (full) {
		uint8_t attr[ATTR_KNOWN] = {0};
		const uint32_t there = piece->len < ATTR_KNOWN ? piece->len : ATTR_KNOWN;

		memcpy(attr, p, there);
		show_attr_rest(d, attr, size && size < there ? size : there);
	}
	if (!full || size > ATTR_KNOWN)
		sink_more(s);
	sink_end_struct(s);
}
