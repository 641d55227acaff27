// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a PMU says of the branches before a sample and of its access to memory: words of bits
 * (man 2 perf_event_open, struct perf_branch_entry and union perf_mem_data_src), in the order of
 * perf script's fields brstack, brstacksym, brstackoff and data_src.
 */
#include "perf/print/sample_access.h"

#include "lib/base/branch_types.h"

#include <inttypes.h>
#include <linux/perf_event.h>

#include "lib/base/plain_text.h"

/* Bits [from, from + n) of v. */
static unsigned bits(uint64_t v, unsigned from, unsigned n)
{
	return (unsigned)(v >> from & ((1ull << n) - 1));
}

/* ---- branches ---- */

struct branch sample_branch(const struct sample *sample, uint64_t i)
{
	const uint64_t flags = u64_array_at(&sample->branches, i * 3 + 2);

	return (struct branch){
		.from = u64_array_at(&sample->branches, i * 3),
		.to = u64_array_at(&sample->branches, i * 3 + 1),
		.mispredicted = bits(flags, 0, 1),
		.predicted = bits(flags, 1, 1),
		.in_transaction = bits(flags, 2, 1),
		.aborts = bits(flags, 3, 1),
		.cycles = bits(flags, 4, 16),
		.type = bits(flags, 20, 4),
		.speculation = bits(flags, 24, 2),
		.new_type = bits(flags, 26, 4),
		.not_taken = bits(flags, 33, 1),
	};
}

const char *branch_type(const struct branch *b)
{
	return branch_type_name(b->type, b->new_type);
}

const char *branch_event(const struct branch *b)
{
	if (!b->mispredicted && !b->predicted && !b->not_taken)
		return "-";
	if (b->predicted)
		return b->not_taken ? "PN" : "P";
	return b->not_taken ? "MN" : "M";
}

static const char *speculation(const struct branch *b)
{
	static const char *const names[] = {"-", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH",
					    "SPEC_CORRECT_PATH"};

	return names[b->speculation];
}

/* In the file; of the kernel, behind the start of its code. */
static uint64_t offset_in_dso(const struct map *map, uint64_t addr)
{
	if (!map)
		return addr;
	const bool is_file = map->dso->kind == DSO_USER || map->dso->kind == DSO_VDSO;
	return addr - map->start + (is_file ? map->pgoff : 0);
}

static void add_end(struct script_printer *p, const struct thread *thread, uint64_t addr,
		    uint64_t fields, struct strbuf *out)
{
	struct location at = {.addr = addr};

	if (p->opts.resolver && fields & (FIELD_BRSTACKSYM | FIELD_BRSTACKOFF | FIELD_DSO))
		resolve_addr_any(p->opts.resolver, thread, addr, &at);
	if (fields & FIELD_BRSTACKSYM && !(fields & FIELD_BRSTACK)) {
		plain_adds(out, at.sym ? at.sym->name : "[unknown]");
		if (at.sym)
			strbuf_addf(out, "+0x%" PRIx64, at.offset);
	} else {
		if (fields & FIELD_BRSTACKOFF && !(fields & FIELD_BRSTACK))
			addr = offset_in_dso(at.map, addr);
		strbuf_addf(out, "0x%" PRIx64, addr);
	}
	if (fields & FIELD_DSO) {
		strbuf_adds(out, " (");
		plain_adds(out, printer_dso_name(p, at.map));
		strbuf_addch(out, ')');
	}
}

void print_branches(struct script_printer *p, const struct sample *sample,
		    const struct thread *thread, uint64_t fields, struct strbuf *out)
{
	const bool is_symbolic = fields & FIELD_BRSTACKSYM && !(fields & FIELD_BRSTACK);

	for (uint64_t i = 0; i < sample->branches.n / 3; i++) {
		const struct branch b = sample_branch(sample, i);

		if (!is_symbolic)
			strbuf_addch(out, ' ');
		add_end(p, thread, b.from, fields, out);
		strbuf_addch(out, '/');
		add_end(p, thread, b.to, fields, out);
		strbuf_addf(out, "/%s/%c/%c/%u/%s/%s ", branch_event(&b),
			    b.in_transaction ? 'X' : '-', b.aborts ? 'A' : '-', b.cycles,
			    branch_type(&b), speculation(&b));
	}
}

void print_branches_json(struct script_printer *p, const struct sample *sample,
			 const struct thread *thread, uint64_t fields, struct json_writer *w)
{
	jw_array(w, "branches");
	for (uint64_t i = 0; i < sample->branches.n / 3; i++) {
		const struct branch b = sample_branch(sample, i);
		const struct {
			const char *address, *sym, *dso;
			uint64_t addr;
		} ends[] = {{"from", "from_sym", "from_dso", b.from},
			    {"to", "to_sym", "to_dso", b.to}};

		jw_object(w, NULL);
		for (size_t k = 0; k < ARRAY_SIZE(ends); k++) {
			struct location at = {.addr = ends[k].addr};

			jw_address(w, ends[k].address, ends[k].addr);
			if (p->opts.resolver)
				resolve_addr_any(p->opts.resolver, thread, ends[k].addr, &at);
			if (at.sym && fields & FIELD_SYM)
				jw_text(w, ends[k].sym, at.sym->name);
			if (at.map && fields & FIELD_DSO)
				jw_text(w, ends[k].dso, map_dso_name(at.map));
		}
		jw_text(w, "event", branch_event(&b));
		jw_u64(w, "cycles", b.cycles);
		if (*branch_type(&b))
			jw_text(w, "type", branch_type(&b));
		jw_end(w);
	}
	jw_end(w);
}

/* ---- accesses to memory ---- */

/* The members of union perf_mem_data_src. */
struct access {
	unsigned op, level, snoop, lock, tlb, level_number, remote, snoop_x, blocked, hops;
};

static struct access access_of(uint64_t v)
{
	return (struct access){
		.op = bits(v, 0, 5),
		.level = bits(v, 5, 14),
		.snoop = bits(v, 19, 5),
		.lock = bits(v, 24, 2),
		.tlb = bits(v, 26, 7),
		.level_number = bits(v, 33, 4),
		.remote = bits(v, 37, 1),
		.snoop_x = bits(v, 38, 2),
		.blocked = bits(v, 40, 3),
		.hops = bits(v, 43, 3),
	};
}

/* The names of the bits that are set, with " or " between them; how many there are. */
static unsigned add_bits(unsigned v, const char *const *names, size_t n, unsigned before,
			 struct strbuf *out)
{
	for (size_t i = 0; i < n; i++) {
		if (!(v >> i & 1))
			continue;
		strbuf_adds(out, before++ ? " or " : "");
		strbuf_adds(out, names[i]);
	}
	return before;
}

static const char *op_name(unsigned op)
{
	static const char *const names[] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (op >> i & 1)
			return names[i];
	return "No";
}

enum {
	LEVEL_HIT = 1 << 1,
	LEVEL_MISS = 1 << 2,
	LEVEL_NUMBER_NONE = 0xf,
	TLB_HIT = 1 << 1,
	TLB_MISS = 1 << 2,
};

static void add_level(const struct access *a, struct strbuf *out)
{
	static const char *const names[] = {
		"N/A",
		"HIT",
		"MISS",
		"L1",
		"LFB/MAB",
		"L2",
		"L3",
		"Local RAM",
		"Remote RAM (1 hop)",
		"Remote RAM (2 hops)",
		"Remote Cache (1 hop)",
		"Remote Cache (2 hops)",
		"I/O",
		"Uncached",
	};
	static const char *const numbers[16] = {
		[1] = "L1",	    [2] = "L2",	      [3] = "L3",
		[4] = "L4",	    [5] = "L2 MHB",   [6] = "Memory-side Cache",
		[8] = "Uncached",   [9] = "CXL",      [10] = "I/O",
		[11] = "Any cache", [12] = "LFB/MAB", [13] = "RAM",
		[14] = "PMEM",
	};
	static const char *const hops[8] = {"", "core, same node", "node, same socket",
					    "socket, same board", "board"};
	const char *how = a->level & LEVEL_HIT ? " hit" : a->level & LEVEL_MISS ? " miss" : " ";
	const unsigned others = a->level & ~(1u | LEVEL_HIT | LEVEL_MISS);

	if (a->level_number && a->level_number != LEVEL_NUMBER_NONE) {
		strbuf_adds(out, a->remote ? "Remote " : "");
		if (a->hops)
			strbuf_addf(out, "%s ", hops[a->hops] ? hops[a->hops] : "");
		if (numbers[a->level_number])
			strbuf_adds(out, numbers[a->level_number]);
		else
			strbuf_addf(out, "Unknown level %u", a->level_number);
	} else if (others) {
		add_bits(others, names, ARRAY_SIZE(names), 0, out);
	} else {
		strbuf_adds(out, "N/A");
		return;
	}
	strbuf_adds(out, how);
}

static void add_snoop(const struct access *a, struct strbuf *out)
{
	static const char *const names[] = {"N/A", "None", "Hit", "Miss", "HitM"};
	static const char *const more[] = {"Fwd", "Peer"};
	unsigned n = add_bits(a->snoop, names, ARRAY_SIZE(names), 0, out);

	n = add_bits(a->snoop_x, more, ARRAY_SIZE(more), n, out);
	strbuf_adds(out, n ? "" : "N/A");
}

static void add_tlb(const struct access *a, struct strbuf *out)
{
	static const char *const names[] = {"N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault"};

	if (!add_bits(a->tlb & ~(unsigned)(TLB_HIT | TLB_MISS), names, ARRAY_SIZE(names), 0, out))
		strbuf_adds(out, "N/A");
	strbuf_adds(out, a->tlb & TLB_HIT ? " hit" : a->tlb & TLB_MISS ? " miss" : "");
}

static void add_blocked(const struct access *a, struct strbuf *out)
{
	if (!a->blocked || a->blocked & 1)
		strbuf_adds(out, " N/A");
	strbuf_adds(out, !(a->blocked & 1) && a->blocked & 2 ? " Data" : "");
	strbuf_adds(out, !(a->blocked & 1) && a->blocked & 4 ? " Addr" : "");
}

unsigned data_src_bits(uint64_t data_src, enum data_src_part part)
{
	const struct access a = access_of(data_src);

	return part == DATA_SRC_LEVEL	? a.level
	       : part == DATA_SRC_SNOOP ? a.snoop
	       : part == DATA_SRC_TLB	? a.tlb
	       : part == DATA_SRC_LOCK	? a.lock
					: a.blocked;
}

void data_src_part_text(uint64_t data_src, enum data_src_part part, struct strbuf *out)
{
	const struct access a = access_of(data_src);

	switch (part) {
	case DATA_SRC_LEVEL:
		add_level(&a, out);
		break;
	case DATA_SRC_SNOOP:
		add_snoop(&a, out);
		break;
	case DATA_SRC_TLB:
		add_tlb(&a, out);
		break;
	case DATA_SRC_LOCK:
		strbuf_adds(out, a.lock & 1 ? "N/A" : a.lock & 2 ? "Yes" : "No");
		break;
	case DATA_SRC_BLOCKED:
		add_blocked(&a, out);
		break;
	}
}

void data_src_text(uint64_t data_src, struct strbuf *out)
{
	static const char *const names[] = {"LVL", "SNP", "TLB", "LCK", "BLK"};

	strbuf_addf(out, "|OP %s", op_name(access_of(data_src).op));
	for (unsigned part = 0; part < ARRAY_SIZE(names); part++) {
		strbuf_addf(out, "|%s ", names[part]);
		data_src_part_text(data_src, (enum data_src_part)part, out);
	}
}

/* The columns are as wide as the widest one before, as perf's. */
void print_data_src(struct script_printer *p, uint64_t data_src, struct strbuf *out)
{
	const size_t from = out->len;

	strbuf_addf(out, "%16" PRIx64 " ", data_src);
	data_src_text(data_src, out);
	p->data_src_width = max_of(p->data_src_width, out->len - from);
	while (!strbuf_failed(out) && out->len - from < p->data_src_width)
		strbuf_addch(out, ' ');
}
