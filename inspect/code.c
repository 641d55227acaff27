// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the verifier leaves of a program differs from what was loaded: calls of
 * helpers have become distances from __bpf_call_base, maps are named by their
 * ids, and the first half of a call of a function says which function of the
 * program it is. The kernel puts these into a dump instead of its addresses
 * (kernel/bpf/syscall.c, bpf_insn_prepare_dump()), and names follow from
 * /proc/kallsyms, where the running programs stand too.
 *
 * Whoever may not see kernel addresses (kernel.kptr_restrict) gets zeros in
 * their place, and no machine code at all.
 */
#include "inspect/code.h"

#include <bpf/bpf.h>
#include <stdio.h>

#include "inspect/code_internal.h"
#include "inspect/find_object.h"
#include "lib/sys/missing_caps.h"
#include "lib/sys/sys.h"

void code_free(struct code *code)
{
	if (!code)
		return;
	bpf_prog_linfo__free(code->lines);
	symtab_free(code->kernel);
	symtab_free(code->programs);
	kallsyms_free(code->kallsyms);
	btf__free(code->vmlinux);
	btf__free(code->btf);
	sys_prog_info_deinit(&code->prog);
	vec_deinit(&code->maps);
	free(code);
}

/* Without them there are numbers. */
static struct error *read_symbols(struct code *code)
{
	TRY(kallsyms_load("/proc/kallsyms", &code->kallsyms));
	TRY(kallsyms_symtab(code->kallsyms, NULL, 0, &code->kernel));
	kallsyms_address(code->kallsyms, "__bpf_call_base", &code->call_base);
	/* ENODATA: no program is compiled */
	error_free(kallsyms_symtab(code->kallsyms, "bpf", 0, &code->programs));
	return NULL;
}

static struct error *read_map_names(struct code *code)
{
	const uint32_t *ids = code->prog.arrays[SYS_PROG_MAP_IDS];

	for (uint32_t i = 0; i < sys_prog_info_count(&code->prog, SYS_PROG_MAP_IDS); i++) {
		_cleanup_close_ int fd = kobj_open(KOBJ_MAP, ids[i]);
		struct bpf_map_info info = {0};
		__u32 len = sizeof(info);

		if (fd < 0 || bpf_map_get_info_by_fd(fd, &info, &len) || !*info.name)
			continue;
		struct map_name *map = vec_push(&code->maps);
		if (!map)
			return error_nomem();
		map->id = ids[i];
		snprintf(map->name, sizeof(map->name), "%s", info.name);
	}
	return NULL;
}

struct error *code_read(int fd, const struct log *log, struct code **out)
{
	_cleanup_(code_freep) struct code *code = calloc(1, sizeof(*code));

	if (!code)
		return error_nomem();
	TRY(sys_prog_info_read(fd, SYS_PROG_ALL, &code->prog));
	const struct bpf_prog_info *info = &code->prog.info;
	if (info->btf_id) {
		code->btf = btf__load_from_kernel_by_id(info->btf_id);
		if (!code->btf)
			log_warn(log,
				 "cannot read BTF %u: functions and source lines are not shown",
				 info->btf_id);
	}
	if (code->btf && sys_prog_info_count(&code->prog, SYS_PROG_LINE_INFO)) {
		struct bpf_prog_info lines = *info;

		if (sys_prog_info_hides(&code->prog, SYS_PROG_JITED_LINE_INFO))
			lines.nr_jited_line_info = 0;
		code->lines = bpf_prog_linfo__new(&lines);
	}
	struct error *err = read_symbols(code);
	if (err)
		log_warn(log, "%s: calls are shown as numbers%s%s", err->msg, err->hint ? "; " : "",
			 err->hint ? err->hint : "");
	error_free(err);
	TRY(read_map_names(code));
	*out = steal_ptr(code);
	return NULL;
}

/* ---- names ---- */

const char *code_symbol(struct code *code, uint64_t addr)
{
	struct symtab *tables[] = {code->programs, code->kernel};

	for (size_t i = 0; addr && i < ARRAY_SIZE(tables); i++) {
		const struct symbol *s = tables[i] ? symtab_find(tables[i], addr) : NULL;

		if (s && s->start == addr)
			return s->name;
	}
	return NULL;
}

/* A function of the kernel, called by its BTF id. */
static const char *kfunc_name(struct code *code, const struct bpf_insn *insn)
{
	if (insn->off || insn->imm <= 0)
		return NULL; /* a module's, of which the number that stands here says nothing */
	if (!code->vmlinux)
		code->vmlinux = btf__load_vmlinux_btf();
	if (!code->vmlinux)
		return NULL;
	const struct btf_type *t = btf__type_by_id(code->vmlinux, insn->imm);
	return t && btf_is_func(t) ? btf__name_by_offset(code->vmlinux, t->name_off) : NULL;
}

static bool name_call(void *ctx, const struct bpf_insn *insn, struct strbuf *out)
{
	struct code *code = ctx;
	const uint64_t *functions = code->prog.arrays[SYS_PROG_JITED_KSYMS];
	const uint32_t n = sys_prog_info_count(&code->prog, SYS_PROG_JITED_KSYMS);
	const char *name = NULL;

	if (insn->src_reg == BPF_PSEUDO_CALL) {
		const bool known = (uint32_t)insn->imm < n;

		strbuf_addf(out, "pc%+d", insn->off);
		if (known)
			name = code_symbol(code, functions[insn->imm]);
		if (name)
			strbuf_addf(out, "#%s", name);
		else if (known && functions[insn->imm])
			strbuf_addf(out, "#0x%llx", (unsigned long long)functions[insn->imm]);
		return true;
	}
	/* before 6.1 is a kfunc called by its distance too */
	if (code->call_base && insn->imm)
		name = code_symbol(code, code->call_base + insn->imm);
	if (!name && insn->src_reg == BPF_PSEUDO_KFUNC_CALL)
		name = kfunc_name(code, insn);
	if (!name)
		return false;
	strbuf_addf(out, "%s#%d", name, insn->imm);
	return true;
}

static void add_map(const struct code *code, uint32_t id, struct strbuf *out)
{
	strbuf_addf(out, "map[id:%u", id);
	for (size_t i = 0; i < code->maps.n; i++)
		if (code->maps.v[i].id == id)
			strbuf_addf(out, " %s", code->maps.v[i].name);
	strbuf_addch(out, ']');
}

static bool name_constant(void *ctx, const struct bpf_insn *insn, uint64_t value,
			  struct strbuf *out)
{
	struct code *code = ctx;
	const char *name;

	switch (insn->src_reg) {
	case BPF_PSEUDO_MAP_FD:
		add_map(code, (uint32_t)value, out);
		return true;
	case BPF_PSEUDO_MAP_VALUE:
		add_map(code, (uint32_t)value, out);
		strbuf_addf(out, "[0]+%u", (uint32_t)(value >> 32));
		return true;
	case BPF_PSEUDO_FUNC:
		strbuf_addf(out, "subprog[%+d]", (int32_t)value);
		return true;
	}
	name = code_symbol(code, value);
	if (!name)
		return false;
	strbuf_addf(out, "0x%llx <%s>", (unsigned long long)value, name);
	return true;
}

struct disasm_names code_names(struct code *code)
{
	return (struct disasm_names){name_call, name_constant, code};
}

/* ---- functions and lines ---- */

const struct bpf_func_info *code_function(const struct code *code, uint32_t index)
{
	const uint32_t size = code->prog.info.func_info_rec_size;

	if (index >= sys_prog_info_count(&code->prog, SYS_PROG_FUNC_INFO) ||
	    size < sizeof(struct bpf_func_info))
		return NULL;
	return (const void *)((const char *)code->prog.arrays[SYS_PROG_FUNC_INFO] +
			      (size_t)index * size);
}

const struct bpf_func_info *code_function_at(const struct code *code, uint32_t insn)
{
	const struct bpf_func_info *f;

	for (uint32_t i = 0; (f = code_function(code, i)); i++)
		if (f->insn_off == insn)
			return f;
	return NULL;
}

static void add_text(void *ctx, const char *fmt, va_list ap)
{
	strbuf_vaddf(ctx, fmt, ap);
}

static bool add_declaration(const struct btf *btf, uint32_t type, const char *name,
			    struct strbuf *out)
{
	DECLARE_LIBBPF_OPTS(btf_dump_emit_type_decl_opts, opts, .field_name = name);
	struct btf_dump *dump = btf_dump__new(btf, add_text, out, NULL);
	int code = dump ? btf_dump__emit_type_decl(dump, type, &opts) : -1;

	btf_dump__free(dump);
	return !code;
}

bool code_add_prototype(const struct code *code, uint32_t type, struct strbuf *out)
{
	const struct btf_type *t = code->btf ? btf__type_by_id(code->btf, type) : NULL;
	const size_t before = out->len;

	if (!t || !btf_is_func(t))
		return false;
	const struct btf_type *proto = btf__type_by_id(code->btf, t->type);
	if (!proto || !btf_is_func_proto(proto))
		return false;
	bool whole = add_declaration(code->btf, proto->type, NULL, out);
	if (whole && out->len && out->str[out->len - 1] != '*')
		strbuf_addch(out, ' ');
	strbuf_addf(out, "%s(", btf__name_by_offset(code->btf, t->name_off));
	const struct btf_param *p = btf_params(proto);
	for (uint32_t i = 0; whole && i < btf_vlen(proto); i++, p++) {
		strbuf_adds(out, i ? ", " : "");
		if (!p->type && !p->name_off)
			strbuf_adds(out, "...");
		else
			whole = add_declaration(code->btf, p->type,
						btf__name_by_offset(code->btf, p->name_off), out);
	}
	strbuf_adds(out, btf_vlen(proto) ? ")" : "void)");
	if (!whole)
		strbuf_cut(out, before);
	return whole;
}

void code_add_line(const struct code *code, const struct bpf_line_info *line,
		   const struct code_opts *opts, struct json_writer *w)
{
	const char *source = btf__name_by_offset(code->btf, line->line_off);
	const char *file = btf__name_by_offset(code->btf, line->file_name_off);
	const unsigned number = BPF_LINE_INFO_LINE_NUM(line->line_col);
	const unsigned column = BPF_LINE_INFO_LINE_COL(line->line_col);

	source = source ? source + strspn(source, " \t") : "";
	if (!*source && !number)
		return; /* the compiler's own doing */
	if (!opts->json) {
		strbuf_addf(w->out, "; %s", source);
		if (opts->linum && file && *file)
			strbuf_addf(w->out, " [file:%s line_num:%u line_col:%u]", file, number,
				    column);
		strbuf_addch(w->out, '\n');
		return;
	}
	jw_text(w, "src", source);
	if (!opts->linum)
		return;
	if (file && *file)
		jw_text(w, "file", file);
	if (number)
		jw_u64(w, "line_num", number);
	if (column)
		jw_u64(w, "line_col", column);
}

/* ---- BPF instructions ---- */

struct error *code_image(const struct code *code, bool jited, const void **data, size_t *size)
{
	const enum sys_prog_array which = jited ? SYS_PROG_JITED_INSNS : SYS_PROG_XLATED_INSNS;
	int enabled = 1;

	if (!sys_prog_info_count(&code->prog, which)) {
		struct error *err = error_new(ENODATA, "program %u has no %s code",
					      code->prog.info.id, jited ? "machine" : "BPF");

		error_free(sys_sysctl(NULL, "net/core/bpf_jit_enable", &enabled));
		if (!jited)
			return sys_hint_caps(err, NULL, SYS_CAP(SYS_CAP_BPF), NULL);
		return enabled ? error_hint(err, "it is interpreted or offloaded to a network "
						 "card; 'dump xlated' shows its BPF instructions")
			       : error_hint(
					 err,
					 "the JIT is disabled: type 'sysctl "
					 "net.core.bpf_jit_enable=1' and load the program again");
	}
	if (sys_prog_info_hides(&code->prog, which)) {
		int restricted = 0;

		error_free(sys_sysctl(NULL, "kernel/kptr_restrict", &restricted));
		struct error *err = error_new(
			EPERM,
			jited ? "the kernel does not show the machine code of program %u"
			      : "the kernel does not show program %u, whose constants are blinded "
				"(net.core.bpf_jit_harden)",
			code->prog.info.id);
		return error_hint(err,
				  "the kernel hides its addresses (kernel.kptr_restrict is %d); as "
				  "root, type: sysctl kernel.kptr_restrict=%d",
				  restricted, restricted > 1 ? 1 : 0);
	}
	*data = code->prog.arrays[which];
	*size = sys_prog_info_count(&code->prog, which);
	return NULL;
}

void code_add_bytes_json(struct json_writer *w, const char *name, const uint8_t *data, size_t n)
{
	jw_array(w, name);
	for (size_t i = 0; i < n; i++)
		jw_textf(w, NULL, "0x%02x", data[i]);
	jw_end(w);
}

/* An instruction's fields; those of a 64-bit constant have the second slot in "imm". */
static void add_fields_json(struct json_writer *w, const uint8_t *bytes, size_t n)
{
	struct bpf_insn insn;

	memcpy(&insn, bytes, sizeof(insn));
	jw_object(w, "opcodes");
	jw_textf(w, "code", "0x%02x", insn.code);
	jw_textf(w, "src_reg", "0x%x", insn.src_reg);
	jw_textf(w, "dst_reg", "0x%x", insn.dst_reg);
	code_add_bytes_json(w, "off", bytes + offsetof(struct bpf_insn, off), sizeof(insn.off));
	code_add_bytes_json(w, "imm", bytes + offsetof(struct bpf_insn, imm),
			    n - offsetof(struct bpf_insn, imm));
	jw_end(w);
}

static void add_bytes(const uint8_t *bytes, size_t n, struct strbuf *out)
{
	strbuf_adds(out, "      ");
	for (size_t i = 0; i < n; i++)
		strbuf_addf(out, " %02x", bytes[i]);
	strbuf_addch(out, '\n');
}

/* The line that begins at the instruction, once; *at goes through the lines. */
static const struct bpf_line_info *next_line(const struct code *code, uint32_t insn, uint32_t *at)
{
	const struct bpf_line_info *line =
		code->lines ? bpf_prog_linfo__lfind(code->lines, insn, *at) : NULL;

	/* what lies between two lines goes with the last of them, and is no new one */
	if (!line || line->insn_off != insn)
		return NULL;
	++*at;
	return line;
}

static void add_instruction(struct code *code, const struct code_opts *opts, struct cursor *c,
			    uint32_t *line_at, struct json_writer *w)
{
	const struct disasm_names names = code_names(code);
	const uint32_t slot = (uint32_t)(c->pos / sizeof(struct bpf_insn));
	const struct bpf_func_info *function = code_function_at(code, slot);
	const struct bpf_line_info *line = next_line(code, slot, line_at);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const size_t from = c->pos;

	if (function && code_add_prototype(code, function->type_id, &text)) {
		if (opts->json)
			jw_text(w, "proto", strbuf_str(&text));
		else
			strbuf_addf(w->out, "%s:\n", strbuf_str(&text));
	}
	if (line)
		code_add_line(code, line, opts, w);
	strbuf_reset(&text);
	disasm_bpf(c, &names, &text);
	const uint8_t *bytes = c->base + from;
	if (opts->json) {
		jw_text(w, "disasm", strbuf_str(&text));
		if (opts->opcodes)
			add_fields_json(w, bytes, c->pos - from);
		return;
	}
	strbuf_addf(w->out, "%4u: %s\n", slot, strbuf_str(&text));
	if (opts->opcodes)
		add_bytes(bytes, c->pos - from, w->out);
}

struct error *code_xlated(struct code *code, const struct code_opts *opts, struct strbuf *out)
{
	const void *data;
	size_t size;
	uint32_t line_at = 0;

	TRY(code_image(code, false, &data, &size));
	struct cursor c = cursor_make(data, size, "program");
	struct json_writer w = json_writer_make(out);
	if (opts->json)
		jw_array(&w, NULL);
	while (cursor_left(&c) >= sizeof(struct bpf_insn)) {
		if (opts->json)
			jw_object(&w, NULL);
		add_instruction(code, opts, &c, &line_at, &w);
		if (opts->json)
			jw_end(&w);
	}
	if (opts->json) {
		jw_end(&w);
		strbuf_addch(out, '\n');
	}
	json_writer_finish(&w);
	return strbuf_failed(out) ? error_nomem() : NULL;
}
