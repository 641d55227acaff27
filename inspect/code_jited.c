// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program's machine code. The image is that of all its functions, one behind
 * the other; jited_func_lens says how long each is, jited_ksyms where it runs,
 * and the lines' addresses are those of the running code. A jump within a
 * function is shown as an offset in it, as the instructions are; a call by the
 * address and the name that kallsyms has for it.
 */
#include "inspect/code.h"

#include "inspect/code_internal.h"

struct jited {
	struct code *code;
	const struct code_opts *opts;
	struct disasm_machine *machine;
	struct strbuf *out;
	struct json_writer json; /* to out */
};

/* One function of it. */
struct jited_part {
	uint32_t index;
	uint64_t addr; /* 0: the kernel does not say */
	const uint8_t *bytes;
	size_t size;
	uint32_t line_at; /* how many of its lines were shown */
};

static void add_name(struct jited *j, const struct jited_part *part, struct strbuf *out)
{
	const char *name = code_symbol(j->code, part->addr);

	if (name)
		strbuf_adds(out, name);
	else
		strbuf_addf(out, "0x%016llx", (unsigned long long)part->addr);
}

static void begin_function(struct jited *j, const struct jited_part *part)
{
	const struct bpf_func_info *function = code_function(j->code, part->index);
	_cleanup_strbuf_ struct strbuf prototype = STRBUF_INIT, name = STRBUF_INIT;

	add_name(j, part, &name);
	if (function)
		code_add_prototype(j->code, function->type_id, &prototype);
	if (!j->opts->json) {
		if (prototype.len)
			strbuf_addf(j->out, "%s:\n", strbuf_str(&prototype));
		strbuf_addf(j->out, "%s:\n", strbuf_str(&name));
		return;
	}
	jw_object(&j->json, NULL);
	if (prototype.len)
		jw_text(&j->json, "proto", strbuf_str(&prototype));
	jw_text(&j->json, "name", strbuf_str(&name));
	jw_array(&j->json, "insns");
}

static void add_line(struct jited *j, struct jited_part *part, size_t at)
{
	const struct bpf_line_info *line =
		!j->code->lines || !part->addr
			? NULL
			: bpf_prog_linfo__lfind_addr_func(j->code->lines, part->addr + at,
							  part->index, part->line_at);

	if (!line)
		return;
	part->line_at++;
	code_add_line(j->code, line, j->opts, &j->json);
}

/* What stands behind the operation. */
static void add_operands(struct jited *j, const struct jited_part *part,
			 const struct disasm_machine_insn *insn, struct strbuf *out)
{
	const uint64_t offset = insn->target - part->addr;

	if (!insn->has_target) {
		strbuf_adds(out, insn->operands);
		return;
	}
	/* on arm64 registers come before the target */
	const char *last = strrchr(insn->operands, ',');
	if (last)
		strbuf_add(out, insn->operands, (size_t)(last - insn->operands) + 2);
	if (offset < part->size) {
		strbuf_addf(out, "0x%llx", (unsigned long long)offset);
		return;
	}
	if (!part->addr) /* the distance is all that is known */
		strbuf_adds(out, ".+");
	strbuf_addf(out, "0x%llx", (unsigned long long)insn->target);
	const char *name = part->addr ? code_symbol(j->code, insn->target) : NULL;
	if (name)
		strbuf_addf(out, " <%s>", name);
}

/* "$0x1, (%rax, %rbx, 8)": an array of what the commas outside of parentheses separate. */
static void add_operands_json(struct json_writer *w, const char *text)
{
	jw_array(w, "operands");
	while (*text) {
		const char *end = text;
		int depth = 0;

		for (; *end && (*end != ',' || depth > 0); end++)
			depth += *end == '(' || *end == '['   ? 1
				 : *end == ')' || *end == ']' ? -1
							      : 0;
		jw_text_n(w, NULL, text, (size_t)(end - text));
		text = end + strspn(end, ", ");
	}
	jw_end(w);
}

static void add_instruction(struct jited *j, const struct jited_part *part, size_t from,
			    size_t size, const struct disasm_machine_insn *insn)
{
	_cleanup_strbuf_ struct strbuf operands = STRBUF_INIT;

	add_operands(j, part, insn, &operands);
	if (!j->opts->json) {
		strbuf_addf(j->out, "%4zx:\t%s%s%s\n", from, insn->operation,
			    operands.len ? " " : "", strbuf_str(&operands));
		if (!j->opts->opcodes)
			return;
		strbuf_addch(j->out, '\t');
		for (size_t i = 0; i < size; i++)
			strbuf_addf(j->out, "%s%02x", i ? " " : "", part->bytes[from + i]);
		strbuf_addch(j->out, '\n');
		return;
	}
	jw_address(&j->json, "pc", from);
	jw_text(&j->json, "operation", insn->operation);
	add_operands_json(&j->json, strbuf_str(&operands));
	if (j->opts->opcodes)
		code_add_bytes_json(&j->json, "opcodes", part->bytes + from, size);
}

static void add_function(struct jited *j, struct jited_part *part)
{
	struct cursor c = cursor_make(part->bytes, part->size, "machine code");
	struct disasm_machine_insn insn;
	size_t from = 0;

	begin_function(j, part);
	while (disasm_machine_next(j->machine, &c, part->addr + from, &insn)) {
		if (j->opts->json)
			jw_object(&j->json, NULL);
		add_line(j, part, from);
		add_instruction(j, part, from, c.pos - from, &insn);
		if (j->opts->json)
			jw_end(&j->json);
		from = c.pos;
	}
	if (j->opts->json) {
		jw_end(&j->json);
		jw_end(&j->json);
	}
}

/* Without a disassembler, the bytes can still be had. */
static struct error *hint_at_file(struct error *err)
{
	return err && err->code == ENOTSUP ? error_hint(err, "write the code to a file with 'file "
							     "FILE', for another disassembler")
					   : err;
}

struct error *code_jited(struct code *code, const struct code_opts *opts, struct strbuf *out)
{
	_cleanup_(disasm_machine_freep) struct disasm_machine *machine = NULL;
	const uint32_t *lens = code->prog.arrays[SYS_PROG_JITED_FUNC_LENS];
	const uint64_t *addrs = code->prog.arrays[SYS_PROG_JITED_KSYMS];
	const void *data;
	struct cursor image;
	size_t size;

	TRY(code_image(code, true, &data, &size));
	TRY(hint_at_file(disasm_machine_new(NULL, &machine)));
	struct jited j = {code, opts, machine, out, json_writer_make(out)};
	image = cursor_make(data, size, "machine code");
	if (opts->json)
		jw_array(&j.json, NULL);
	for (uint32_t i = 0; !cursor_end(&image); i++) {
		const bool known = i < sys_prog_info_count(&code->prog, SYS_PROG_JITED_FUNC_LENS) &&
				   lens[i] && lens[i] <= cursor_left(&image);
		struct jited_part part = {
			.index = i,
			.size = known ? lens[i] : cursor_left(&image), /* the rest, if not told */
		};

		if (i < sys_prog_info_count(&code->prog, SYS_PROG_JITED_KSYMS))
			part.addr = addrs[i];
		part.bytes = cursor_bytes(&image, part.size);
		strbuf_adds(out, i && !opts->json ? "\n" : "");
		add_function(&j, &part);
	}
	if (opts->json) {
		jw_end(&j.json);
		strbuf_addch(out, '\n');
	}
	json_writer_finish(&j.json);
	return strbuf_failed(out) ? error_nomem() : NULL;
}
