// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program's flow as a graph in the DOT language, as dot(1) draws it: a
 * cluster for each function, a box for each run of instructions that is entered
 * at its first and left at its last, an arrow for each way from one to another.
 *
 * One pass marks where functions and boxes begin: where a jump leads, and behind
 * what jumps or ends. A second one writes boxes, a third the arrows. The code
 * is the kernel's, which verified it; a target that lies outside is left out.
 */
#include "inspect/code.h"

#include "inspect/code_internal.h"

enum {
	AT_FUNCTION = 1,
	AT_BOX = 2,
};

struct graph {
	struct code *code;
	struct cursor c; /* all of the instructions */
	uint8_t *marks;	 /* for each slot */
	size_t n;	 /* slots */
	struct strbuf *out;
};

static struct bpf_insn insn_at(const struct graph *g, size_t slot)
{
	struct bpf_insn insn = {0};
	struct cursor c = g->c;

	cursor_seek(&c, slot * sizeof(insn));
	cursor_copy(&c, &insn, sizeof(insn));
	return insn;
}

static size_t slots_of(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW) ? 2 : 1;
}

/* Where an instruction leads besides to the next one. */
struct ways {
	bool jumps;  /* to target */
	bool falls;  /* to the next one too */
	long target; /* a slot */
};

static struct ways ways_from(const struct bpf_insn *insn, size_t slot)
{
	const uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);
	struct ways ways = {.falls = true};

	if ((class != BPF_JMP && class != BPF_JMP32) || op == BPF_CALL)
		return ways;
	ways.jumps = op != BPF_EXIT && insn->code != (BPF_JMP | BPF_JA | BPF_X);
	ways.falls = op != BPF_EXIT && op != BPF_JA;
	ways.target = (long)slot + 1 + (insn->code == (BPF_JMP32 | BPF_JA) ? insn->imm : insn->off);
	return ways;
}

static void mark(struct graph *g, long slot, uint8_t mark)
{
	if (slot >= 0 && (size_t)slot < g->n)
		g->marks[slot] |= mark;
}

static void mark_all(struct graph *g)
{
	const struct bpf_func_info *f;
	struct bpf_insn insn;

	mark(g, 0, AT_FUNCTION | AT_BOX);
	for (uint32_t i = 0; (f = code_function(g->code, i)); i++)
		mark(g, f->insn_off, AT_FUNCTION | AT_BOX);
	for (size_t slot = 0; slot < g->n; slot += slots_of(&insn)) {
		insn = insn_at(g, slot);
		const struct ways ways = ways_from(&insn, slot);

		if (ways.jumps)
			mark(g, ways.target, AT_BOX);
		if (ways.jumps || !ways.falls)
			mark(g, (long)slot + 1, AT_BOX);
		if (insn.code == (BPF_JMP | BPF_CALL) && insn.src_reg == BPF_PSEUDO_CALL)
			mark(g, (long)slot + 1 + insn.off, AT_FUNCTION | AT_BOX);
	}
}

/* As text within a record's label. */
static void add_escaped(const char *text, struct strbuf *out)
{
	for (; *text; text++) {
		if (strchr("<>{}|\"\\&", *text))
			strbuf_addch(out, '\\');
		strbuf_addch(out, *text);
	}
}

/* The box that begins at slot; where the next one does. */
static size_t add_box(struct graph *g, size_t slot)
{
	const struct disasm_names names = code_names(g->code);
	struct cursor c = g->c;
	const size_t begin = slot;

	strbuf_addf(g->out, "\tbox_%zu [shape=record,style=filled,label=\"{", slot);
	cursor_seek(&c, slot * sizeof(struct bpf_insn));
	do {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		if (!disasm_bpf(&c, &names, &text))
			break;
		strbuf_addf(g->out, "%s%4zu: ", slot > begin ? "|" : "", slot);
		add_escaped(strbuf_str(&text), g->out);
		strbuf_adds(g->out, "\\l");
		slot = c.pos / sizeof(struct bpf_insn);
	} while (slot < g->n && !(g->marks[slot] & AT_BOX));
	strbuf_adds(g->out, "}\"];\n");
	return slot > begin ? slot : g->n;
}

static void add_arrow(struct graph *g, size_t from, long to, const char *style)
{
	if (to >= 0 && (size_t)to < g->n)
		strbuf_addf(g->out, "\tbox_%zu:s -> box_%ld:n [style=\"%s\"];\n", from, to, style);
}

/* The arrows out of the boxes in [begin, end). */
static void add_arrows(struct graph *g, size_t begin, size_t end)
{
	size_t box = begin;
	struct bpf_insn insn;

	for (size_t slot = begin; slot < end; slot += slots_of(&insn)) {
		if (g->marks[slot] & AT_BOX)
			box = slot;
		insn = insn_at(g, slot);
		const struct ways ways = ways_from(&insn, slot);
		const size_t next = slot + slots_of(&insn);
		const bool last = next >= end || g->marks[next] & AT_BOX;

		if (ways.jumps)
			add_arrow(g, box, ways.target, ways.falls ? "solid" : "bold");
		if (ways.falls && last && next < end)
			add_arrow(g, box, (long)next, "solid,bold");
		if (!ways.jumps && !ways.falls)
			strbuf_addf(g->out, "\tbox_%zu:s -> exit_%zu:n [style=\"bold\"];\n", box,
				    begin);
	}
}

static void add_function(struct graph *g, size_t begin, size_t end)
{
	const struct bpf_func_info *f = code_function_at(g->code, (uint32_t)begin);
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	if (!f || !code_add_prototype(g->code, f->type_id, &name))
		strbuf_addf(&name, "function at %zu", begin);
	strbuf_addf(g->out, "subgraph \"cluster_%zu\" {\n\tlabel=\"", begin);
	add_escaped(strbuf_str(&name), g->out);
	strbuf_addf(g->out,
		    "\";\n\tstyle=dashed;\n"
		    "\tentry_%zu [shape=Mdiamond,style=filled,label=\"ENTRY\"];\n"
		    "\texit_%zu [shape=Mdiamond,style=filled,label=\"EXIT\"];\n",
		    begin, begin);
	for (size_t slot = begin; slot < end;)
		slot = add_box(g, slot);
	strbuf_addf(g->out, "\tentry_%zu:s -> box_%zu:n [style=\"bold\"];\n", begin, begin);
	add_arrows(g, begin, end);
	strbuf_adds(g->out, "}\n");
}

struct error *code_xlated_dot(struct code *code, struct strbuf *out)
{
	const void *data;
	size_t size;

	TRY(code_image(code, false, &data, &size));
	const size_t n = size / sizeof(struct bpf_insn);
	_cleanup_free_ uint8_t *marks = calloc(n + 1, 1);
	if (!marks)
		return error_nomem();
	struct graph g = {code, cursor_make(data, size, "program"), marks, n, out};
	mark_all(&g);
	strbuf_adds(out, "digraph \"BPF program\" {\n");
	for (size_t begin = 0, end; begin < n; begin = end) {
		for (end = begin + 1; end < n && !(marks[end] & AT_FUNCTION); end++)
			;
		add_function(&g, begin, end);
	}
	strbuf_adds(out, "}\n");
	return strbuf_failed(out) ? error_nomem() : NULL;
}
