// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which addresses of a function are always reached together.
 *
 * A statement's code may have several rows in the line table, one behind the
 * other. Who comes by the first comes by the others too: a probe on each would
 * count one execution twice. Rows that a jump leads to are another matter: a
 * loop's line runs again there.
 *
 * So the function's code is read through once, and its stretches noted: one
 * ends behind an instruction that never goes on to the next (a jump, a return)
 * and before one that a jump leads to. Where a table of jumps leads is not
 * seen; what stands before its targets goes on elsewhere nearly always, which
 * ends a stretch too. Without a disassembler for the machine each row counts.
 */
#include "probe/dwarf/places.h"

#include <string.h>

#include "disasm/disasm.h"

static bool leaves(const char *operation)
{
	static const char *const names[] = {"jmp", "jmpq",	   "ret",	 "retq",
					    "ud2", "hlt",	   "b",		 "br",
					    "udf", "notrack jmpq", "notrack jmp"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(operation, names[i]))
			return true;
	return false;
}

static int address_cmp(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The bytes of [start, end), addresses of the DWARF, in the section of the image that has them. */
static bool code_at(struct dwarf_image *image, uint64_t start, uint64_t end, struct cursor *c)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(image->module, &bias);
	uint64_t from = start + image->bias;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while (elf && (scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_PROGBITS ||
		    !(shdr.sh_flags & SHF_EXECINSTR) || from < shdr.sh_addr ||
		    from - shdr.sh_addr >= shdr.sh_size)
			continue;
		Elf_Data *data = elf_getdata(scn, NULL);
		uint64_t offset = from - shdr.sh_addr;

		if (!data || !data->d_buf || offset >= data->d_size)
			return false;
		*c = cursor_make((const uint8_t *)data->d_buf + offset,
				 (size_t)min_of(end - start, data->d_size - offset), "code");
		return true;
	}
	return false;
}

static bool add_edge(struct flow *flow, uint64_t address)
{
	uint64_t *edge = vec_push(&flow->edges);

	if (edge)
		*edge = address;
	return edge;
}

static struct error *read_range(struct dwarf_image *image, struct disasm_machine *m, uint64_t start,
				uint64_t end, struct flow *flow)
{
	struct disasm_machine_insn insn;
	struct cursor c;

	if (start >= end || !code_at(image, start, end, &c))
		return NULL;
	for (uint64_t at = start; disasm_machine_next(m, &c, at, &insn); at = start + c.pos) {
		if (insn.has_target && !add_edge(flow, insn.target))
			return error_nomem();
		if (!leaves(insn.operation))
			continue;
		if (!add_edge(flow, start + c.pos))
			return error_nomem();
		flow->indirect |= !insn.has_target && strchr("jbn", insn.operation[0]);
	}
	return NULL;
}

void flow_deinit(struct flow *flow)
{
	vec_deinit(&flow->edges);
}

struct error *flow_read(struct dwarf_image *image, Dwarf_Die *function, struct flow *flow)
{
	_cleanup_(disasm_machine_freep) struct disasm_machine *m = NULL;
	Dwarf_Addr base, start, end;
	ptrdiff_t pos = 0;

	flow->function = function->addr;
	flow->known = flow->indirect = false;
	flow->edges.n = 0;
	if (image->regs != regs_of(EM_NONE))
		return NULL;
	struct error *err = disasm_machine_new(NULL, &m);
	if (err && err->code != ENOMEM) {
		error_free(err);
		return NULL;
	}
	if (err)
		return err;
	while ((pos = dwarf_ranges(function, pos, &base, &start, &end)) > 0) {
		if (!add_edge(flow, start))
			return error_nomem();
		TRY(read_range(image, m, start, end, flow));
	}
	if (flow->edges.n)
		qsort(flow->edges.v, flow->edges.n, sizeof(*flow->edges.v), address_cmp);
	flow->known = true;
	return NULL;
}

bool flow_falls_to(const struct flow *flow, uint64_t address)
{
	return flow->known && !flow->indirect &&
	       !(flow->edges.n && bsearch(&address, flow->edges.v, flow->edges.n,
					  sizeof(*flow->edges.v), address_cmp));
}

bool flow_is_one(const struct flow *flow, uint64_t first, uint64_t second)
{
	/* The lowest edge above first. */
	const size_t low = count_before(flow->edges.n, i, flow->edges.v[i] <= first);
	return flow->known && first <= second &&
	       (low == flow->edges.n || flow->edges.v[low] > second);
}
