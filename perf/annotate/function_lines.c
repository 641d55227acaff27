// SPDX-License-Identifier: BSD-2-Clause
#include "perf/annotate/function_lines.h"

#include <string.h>

#include "disasm/disasm.h"
#include "lib/base/sum.h"
#include "perf/annotate/internal.h"

struct annotation_line *line_maker_push(struct line_maker *m, enum annotation_line_kind kind)
{
	struct annotation_line *line = vec_push(&m->out->lines);

	if (!line)
		return NULL;
	line->kind = kind;
	line->text = arena_text(&m->out->arena, strbuf_str(&m->text), m->text.len);
	return line->text && !strbuf_failed(&m->text) ? line : NULL;
}

/* ---- source lines ---- */

static struct error *add_source_line(struct line_maker *m, const char *file, uid_t author,
				     uint32_t number)
{
	const char *text = source_texts_line(m->opts->texts, file, author, number);

	strbuf_reset(&m->text);
	if (text) {
		strbuf_adds(&m->text, text);
	} else {
		source_prefix_apply(&m->opts->texts->prefix, file, &m->text);
		strbuf_addf(&m->text, ":%u", number);
	}
	struct annotation_line *line = line_maker_push(m, ANNOTATION_SOURCE);
	if (!line)
		return error_nomem();
	line->number = number;
	return NULL;
}

/*
 * A line where the instruction at the offset is of another function than the one before: of one
 * that is inlined there, "leaf() (called by middle() at a.c:12, by main() at a.c:20):", or
 * "main():".
 */
static struct error *find_function(struct line_maker *m, const struct location *at)
{
	const struct inline_frames *inlines = resolve_inlines(m->opts->resolver, at);
	const struct symbol *sym = inlines ? inlines->v[0].sym : m->f->sym;
	const struct inline_frame *caller = inlines ? &inlines->v[1] : NULL;
	const char *file = caller ? caller->file : NULL;
	const uint32_t line = caller ? caller->line : 0;

	if (sym == m->function && file == m->call_file && line == m->call_line)
		return NULL;
	m->function = sym;
	m->call_file = file;
	m->call_line = line;
	/* The line is printed again below. */
	m->file = NULL;
	strbuf_reset(&m->text);
	strbuf_addf(&m->text, "%s()", sym->name);
	for (size_t i = 1; inlines && i < inlines->n; i++) {
		caller = &inlines->v[i];
		strbuf_addf(&m->text, "%s by %s()", i == 1 ? " (called" : ",", caller->sym->name);
		if (caller->file)
			strbuf_addf(&m->text, " at %s:%u", last_component(caller->file),
				    caller->line);
	}
	strbuf_adds(&m->text, inlines ? "):" : ":");
	return line_maker_push(m, ANNOTATION_SOURCE) ? NULL : error_nomem();
}

/* A line where the instruction at the offset is of another source line than the one before. */
static struct error *find_source(struct line_maker *m, uint64_t offset)
{
	const struct location at = {
		.map = m->f->map, .sym = m->f->sym, .dso_addr = m->f->sym->start + offset};
	const char *file;
	uint32_t number;

	if (m->opts->source)
		TRY(find_function(m, &at));
	if (!(m->opts->source || m->opts->places) ||
	    !resolve_line(m->opts->resolver, &at, false, &file, &number)) {
		m->place = NULL;
		m->file = NULL;
		return NULL;
	}
	if (file == m->file && number == m->number)
		return NULL;
	m->file = file;
	m->number = number;
	strbuf_reset(&m->text);
	strbuf_addf(&m->text, "%s:%u", file, number);
	m->place = arena_text(&m->out->arena, strbuf_str(&m->text), m->text.len);
	if (!m->place || strbuf_failed(&m->text))
		return error_nomem();
	return m->opts->source ? add_source_line(m, file, resolve_line_author(&at), number) : NULL;
}

/* ---- instructions ---- */

/* "<memcpy+0x10>" */
static void add_name(struct line_maker *m, uint64_t address)
{
	/* The table's addresses are offsets in the file, in one segment at one distance. */
	const uint64_t own = address - m->code->address + m->f->sym->start;
	struct location at = {.map = m->f->map, .sym = m->f->sym, .dso_addr = own};
	const struct symbol *sym = m->symbols ? symtab_find(m->symbols, own) : NULL;

	if (m->code->module) {
		strbuf_addch(&m->text, ' ');
		if (!module_code_add_name(m->code->module, address, &m->text))
			strbuf_cut(&m->text, m->text.len - 1);
		return;
	}
	/* A BPF program calls the kernel and other programs, a module the kernel. */
	if (m->code->in_kernel) {
		resolve_addr(m->opts->resolver, NULL, PERF_RECORD_MISC_KERNEL, address, &at);
		sym = at.sym;
	} else if (location_elf_address(&at) != address) {
		return;
	}
	if (!sym)
		return;
	strbuf_addf(&m->text, " <%s", sym->name);
	if (own != sym->start)
		strbuf_addf(&m->text, "+0x%llx", (unsigned long long)(own - sym->start));
	strbuf_addch(&m->text, '>');
}

static void add_bytes(struct line_maker *m, const uint8_t *bytes, size_t n)
{
	const size_t from = m->text.len;

	for (size_t i = 0; i < n; i++)
		strbuf_addf(&m->text, "%02x ", bytes[i]);
	/* as objdump, which has room for seven */
	while (m->text.len < from + 24)
		strbuf_addch(&m->text, ' ');
}

static struct error *add_counts(const struct counted_function *f, size_t first_event, size_t n,
				uint64_t offset, struct arena *arena, struct annotation_line *line)
{
	struct annotation_count *counts = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct address_counts *event = counted_event(f, first_event + i);

		/* A sample may be anywhere in an instruction. */
		for (uint32_t at = 0; event && at < line->size; at++) {
			const struct annotation_count *count =
				u64map_get(&event->by_offset, offset + at);

			if (!count)
				continue;
			if (!counts)
				counts = arena_alloc(arena, n * sizeof(*counts));
			if (!counts)
				return error_nomem();
			counts[i].samples += count->samples;
			sum_add(&counts[i].period, count->period);
		}
	}
	line->counts = counts;
	return NULL;
}

struct error *function_lines_count(const struct counted_function *f, size_t first_event,
				   struct arena *arena, struct annotation *a)
{
	struct annotation_line *line;

	vec_for_each (line, &a->lines)
		if (line->kind == ANNOTATION_CODE)
			TRY(add_counts(f, first_event, a->n_events, line->address - a->address,
				       arena, line));
	return NULL;
}

static void add_names(struct line_maker *m, const struct disasm_machine_insn *insn)
{
	if (insn->has_target)
		add_name(m, insn->target);
	if (insn->has_data) {
		strbuf_addf(&m->text, " # 0x%llx", (unsigned long long)insn->data);
		add_name(m, insn->data);
	}
}

/* What the kernel fills in when it loads the module; false: nothing. */
static bool add_reference(struct line_maker *m, uint64_t offset, size_t size)
{
	const size_t before = m->text.len;

	strbuf_addch(&m->text, ' ');
	if (m->code->module && module_code_add_reference(m->code->module, offset, size, &m->text))
		return true;
	strbuf_cut(&m->text, before);
	return false;
}

/* The name in " <name+0x10>", which add_name() adds; NULL: there is none, or no memory. */
static const char *name_of(struct line_maker *m, uint64_t address)
{
	const size_t from = m->text.len;
	const char *name = NULL;

	add_name(m, address);
	if (m->text.len > from + 2 && !strbuf_failed(&m->text)) {
		const char *text = strbuf_str(&m->text) + from + 2;
		const size_t n = m->text.len - from - 3;
		const char *plus = memrchr(text, '+', n);

		/* "operator+" is a name */
		name = arena_text(&m->out->arena, text,
				  plus && !strncmp(plus, "+0x", 3) ? (size_t)(plus - text) : n);
	}
	strbuf_cut(&m->text, from);
	return name;
}

static struct error *add_insn(struct line_maker *m, uint64_t offset, size_t size,
			      const struct disasm_machine_insn *insn)
{
	static const enum annotation_flow flows[] = {
		[DISASM_NEXT] = FLOW_NEXT,
		[DISASM_JUMP] = FLOW_JUMP,
		[DISASM_CALL] = FLOW_CALL,
		[DISASM_RETURN] = FLOW_RETURN,
	};
	const char *called = NULL;
	size_t operands = 0;

	strbuf_reset(&m->text);
	if (m->opts->raw)
		add_bytes(m, m->code->bytes + offset, size);
	strbuf_adds(&m->text, insn->operation);
	if (*insn->operands) {
		for (size_t i = strlen(insn->operation); i < 6; i++)
			strbuf_addch(&m->text, ' ');
		strbuf_addch(&m->text, ' ');
		operands = m->text.len;
		strbuf_adds(&m->text, insn->operands);
	}
	/* what the loader fills in, the operand does not say yet */
	const bool is_open = add_reference(m, offset, size);
	if (!is_open) {
		if (insn->has_target)
			called = name_of(m, insn->target);
		add_names(m, insn);
	}
	struct annotation_line *line = line_maker_push(m, ANNOTATION_CODE);
	if (!line)
		return error_nomem();
	line->address = m->code->address + offset;
	line->size = (uint32_t)size;
	line->place = m->place;
	line->flow = flows[insn->flow];
	line->has_target = insn->has_target && !is_open;
	line->target = insn->target;
	line->operands = (uint32_t)operands;
	line->called = called;
	return add_counts(m->f, m->opts->first_event, m->out->n_events, offset, &m->out->arena,
			  line);
}

static struct error *add_lines(struct line_maker *m)
{
	const struct disasm_machine_opts opts = {m->code->machine, m->opts->intel};
	_cleanup_(disasm_machine_freep) struct disasm_machine *machine = NULL;
	struct cursor c = cursor_make(m->code->bytes, m->code->size, "code");
	struct disasm_machine_insn insn;
	size_t at = 0;

	TRY(disasm_machine_new(&opts, &machine));
	while (disasm_machine_next(machine, &c, m->code->address + at, &insn)) {
		if (m->code->bpf)
			TRY(bpf_lines_add(m, m->code->address + at));
		else
			TRY(find_source(m, at));
		TRY(add_insn(m, at, c.pos - at, &insn));
		at = c.pos;
	}
	return NULL;
}

struct error *function_lines_add(const struct function_lines_opts *opts,
				 const struct counted_function *f, const struct function_code *code,
				 struct annotation *out)
{
	struct line_maker m = {
		.opts = opts,
		.f = f,
		.code = code,
		.out = out,
		.symbols = resolver_symtab(opts->resolver, f->map->dso),
		.function = f->sym,
	};
	struct error *err = add_lines(&m);

	strbuf_deinit(&m.text);
	return err;
}
