// SPDX-License-Identifier: BSD-2-Clause
/*
 * A BPF program's machine code, with its source lines and BPF instructions in between. The line
 * table is all that connects the three: the machine code of one BPF instruction within a line is
 * not known, so all instructions of a line are before its machine code.
 */
#include <bpf/btf.h>
#include <linux/bpf.h>

#include "disasm/disasm.h"
#include "perf/annotate/internal.h"

/* "NAME" of the kernel's code at an address. */
static bool add_symbol(struct line_maker *m, uint64_t address, struct strbuf *out)
{
	struct location at;

	resolve_addr(m->opts->resolver, NULL, PERF_RECORD_MISC_KERNEL, address, &at);
	if (!address || !at.sym || at.offset)
		return false;
	strbuf_adds(out, at.sym->name);
	return true;
}

/* What calls of helpers count from; 0: the kernel's symbols are not known. */
static uint64_t call_base(struct line_maker *m)
{
	struct resolver *r = m->opts->resolver;
	const struct map *map = session_kernel_map(resolver_session(r));
	const struct symbol *sym;
	struct location at;

	if (m->call_base_tried || !map)
		return m->call_base;
	m->call_base_tried = true;
	resolve_addr_in(r, map, PERF_RECORD_MISC_KERNEL, map->start, &at); /* reads the symbols */
	struct symtab *symbols = resolver_symtab(r, map->dso);
	sym = symbols ? symtab_find_name(symbols, "__bpf_call_base") : NULL;
	return m->call_base = sym ? sym->start : 0;
}

/*
 * What the kernel makes of calls (kernel/bpf/syscall.c, bpf_insn_prepare_dump()): of a function of
 * the program its index, of a helper its distance from a symbol.
 */
static bool name_call(void *ctx, const struct bpf_insn *insn, struct strbuf *out)
{
	struct line_maker *m = ctx;

	if (insn->src_reg != BPF_PSEUDO_CALL) {
		const uint64_t base = call_base(m);

		if (!base || !insn->imm || !add_symbol(m, base + (uint64_t)insn->imm, out))
			return false;
		strbuf_addf(out, "#%d", insn->imm);
		return true;
	}
	if (insn->imm < 0)
		return false;
	strbuf_addf(out, "pc%+d", insn->off);
	const size_t before = out->len;
	strbuf_addch(out, '#');
	if (!add_symbol(m, bpf_code_function(m->code->bpf, (size_t)insn->imm), out))
		strbuf_cut(out, before);
	return true;
}

static bool name_constant(void *ctx, const struct bpf_insn *insn, uint64_t value,
			  struct strbuf *out)
{
	if (insn->src_reg != BPF_PSEUDO_MAP_FD && insn->src_reg != BPF_PSEUDO_MAP_VALUE)
		return false;
	strbuf_addf(out, "map[id:%u]", (uint32_t)value);
	if (insn->src_reg == BPF_PSEUDO_MAP_VALUE)
		strbuf_addf(out, "[0]+%u", (uint32_t)(value >> 32));
	return true;
}

/* The BPF instructions up to one, from where the last line's ended. */
static struct error *add_insns(struct line_maker *m, size_t from, size_t to)
{
	const struct disasm_names names = {name_call, name_constant, m};
	const struct data_bytes *insns = &m->code->bpf->prog->arrays[SYS_PROG_XLATED_INSNS];
	struct cursor c = cursor_make(insns->p, insns->size, "BPF instructions");

	/* Of the other byte order, opcodes alone would be right. */
	if (m->code->bpf->swap || !cursor_seek(&c, from * sizeof(struct bpf_insn)))
		return NULL;
	while (c.pos < to * sizeof(struct bpf_insn)) {
		const size_t slot = c.pos / sizeof(struct bpf_insn);

		strbuf_reset(&m->text);
		if (!disasm_bpf(&c, &names, &m->text))
			break;
		struct annotation_line *line = line_maker_push(m, ANNOTATION_BPF);
		if (!line)
			return error_nomem();
		line->number = (uint32_t)slot;
	}
	m->next_bpf_insn = c.pos / sizeof(struct bpf_insn);
	return NULL;
}

static struct error *add_source(struct line_maker *m, const struct bpf_code_line *line)
{
	strbuf_reset(&m->text);
	if (*line->text)
		strbuf_adds(&m->text, line->text);
	else
		strbuf_addf(&m->text, "%s:%u", line->file, line->number);
	struct annotation_line *source = line_maker_push(m, ANNOTATION_SOURCE);
	if (!source)
		return error_nomem();
	source->number = line->number;
	return NULL;
}

static struct error *set_place(struct line_maker *m, const struct bpf_code_line *line)
{
	m->place = NULL;
	if (!*line->file || !line->number)
		return NULL;
	strbuf_reset(&m->text);
	strbuf_addf(&m->text, "%s:%u", line->file, line->number);
	m->place = arena_text(&m->out->arena, strbuf_str(&m->text), m->text.len);
	return m->place && !strbuf_failed(&m->text) ? NULL : error_nomem();
}

/* A line of the function, with its instructions up to those of the next one. */
static struct error *add_line(struct line_maker *m, const struct bpf_code_line *line)
{
	const struct bpf_code *code = m->code->bpf;
	struct bpf_code_line next;

	/* Parts of one line have entries of their own. */
	const bool is_same = m->file && !strcmp(m->file, line->file) && m->number == line->number;

	m->file = line->file;
	m->number = line->number;
	if (!is_same)
		TRY(set_place(m, line));
	if (!m->opts->source)
		return NULL;
	if (!is_same && (*line->text || line->number))
		TRY(add_source(m, line));
	const size_t end =
		bpf_code_line(code, m->next_bpf_line + 1, &next)
			? next.insn
			: code->prog->arrays[SYS_PROG_XLATED_INSNS].size / sizeof(struct bpf_insn);
	/* Lines in no order would show one instruction again and again. */
	return add_insns(m, max_of(m->next_bpf_insn, (size_t)line->insn), end);
}

struct error *bpf_lines_add(struct line_maker *m, uint64_t address)
{
	struct bpf_code_line line;

	for (; bpf_code_line(m->code->bpf, m->next_bpf_line, &line); m->next_bpf_line++) {
		const uint64_t offset = line.address - m->code->address;

		if (line.address > address && offset < m->code->size)
			break;
		/* of the functions before, or behind: these are skipped, too */
		if (offset < m->code->size)
			TRY(add_line(m, &line));
	}
	return NULL;
}
