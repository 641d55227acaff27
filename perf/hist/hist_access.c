// SPDX-License-Identifier: BSD-2-Clause
/*
 * The accesses to memory of samples: report --mem-mode. As in perf, each sample counts as much as
 * its weight, and at least 1; what is read or written is looked for in the mode of the sample, the
 * code that does it among the user's maps first, then among the kernel's.
 *
 * Data that is not shared and of no file is another one in each process, although the address is
 * the same. The length of a cache line is not recorded: 64 bytes, as all x86-64 have and most
 * arm64.
 */
#include "perf/hist/internal.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "perf/print/sample_access.h"

#define LINE_SIZE 64

/* As wide as perf has its columns. */
#define ADDRESS_WIDTH 16
#define LEVEL_WIDTH   4 /* "[.] " */

bool hist_is_of_accesses(enum hist_field field)
{
	return field >= HIST_SYMBOL_DADDR && field <= HIST_BLOCKED;
}

static bool is_private(const struct map *map, uint8_t cpumode)
{
	const struct dso *dso = map->dso;

	return cpumode != PERF_RECORD_MISC_KERNEL && !(map->flags & MAP_SHARED) && !dso->maj &&
	       !dso->min && !dso->ino;
}

/* 's': shared memory; 'X': nobody knows whose it is; 0: the letter of the sample. */
static char line_level(const struct map *map, uint8_t cpumode)
{
	if (!map)
		return 'X';
	return cpumode != PERF_RECORD_MISC_KERNEL && !(map->prot & PROT_EXEC) &&
			       map->flags & MAP_SHARED &&
			       (map->dso->maj || map->dso->min || map->dso->ino)
		       ? 's'
		       : 0;
}

struct error *hist_access_make(struct hist *h, const struct sample *sample,
			       const struct thread *thread, struct hist_access *access)
{
	const bool *has = h->spec->has, keeps = h->spec->keeps;
	struct location loc;

	memset(access, 0, sizeof(*access)); /* with what is between the members */
	if (keeps || has[HIST_SYMBOL_DADDR] || has[HIST_DSO_DADDR] || has[HIST_DCACHELINE]) {
		resolve_addr(h->resolver, thread, sample->cpumode, sample->addr, &loc);
		access->data.frame = hist_frame_of(h, &loc);
		if (!access->data.frame)
			return error_nomem();
		if (keeps || has[HIST_SYMBOL_DADDR])
			access->data.addr = sample->addr;
		if (keeps || has[HIST_SYMBOL_DADDR] || has[HIST_DCACHELINE])
			access->data.dso_addr = loc.dso_addr;
	}
	if (keeps || has[HIST_DCACHELINE]) {
		access->line = loc.dso_addr / LINE_SIZE * LINE_SIZE;
		access->line_level = line_level(loc.map, sample->cpumode);
		access->cpumode = sample->cpumode;
		if (loc.map && is_private(loc.map, sample->cpumode))
			access->pid = sample->pid;
		if (!keeps && !has[HIST_SYMBOL_DADDR])
			access->data.dso_addr = access->line;
	}
	if (keeps || has[HIST_SYMBOL_IADDR]) {
		access->code = hist_find_end(h, thread, sample->ip);
		if (!access->code.frame)
			return error_nomem();
	}
	access->data_src = sample->data_src;
	if (keeps || has[HIST_PHYS_DADDR])
		access->phys_addr = sample->phys_addr;
	if (keeps || has[HIST_DATA_PAGE_SIZE])
		access->data_page_size = sample->data_page_size;
	return NULL;
}

static enum data_src_part part_of(enum hist_field field)
{
	return field == HIST_MEM      ? DATA_SRC_LEVEL
	       : field == HIST_SNOOP  ? DATA_SRC_SNOOP
	       : field == HIST_TLB    ? DATA_SRC_TLB
	       : field == HIST_LOCKED ? DATA_SRC_LOCK
				      : DATA_SRC_BLOCKED;
}

/* In the order of perf: > 0, a comes first. */
static int64_t lower_first(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int64_t dso_cmp(const struct hist_frame *a, const struct hist_frame *b)
{
	if (!a->dso_name || !b->dso_name)
		return !b->dso_name - !a->dso_name;
	return a->dso_name == b->dso_name ? 0 : strcmp(a->dso_name, b->dso_name);
}

static int64_t file_cmp(const struct dso *a, const struct dso *b)
{
	if (!a || !b)
		return !b - !a;
	if (a->maj != b->maj)
		return lower_first(a->maj, b->maj);
	return a->min != b->min ? lower_first(a->min, b->min) : lower_first(a->ino, b->ino);
}

static int64_t line_cmp(const struct hist_access *a, const struct hist_access *b)
{
	int64_t cmp = lower_first(a->cpumode, b->cpumode);

	cmp = cmp ? cmp : file_cmp(a->data.frame->dso, b->data.frame->dso);
	cmp = cmp ? cmp : lower_first((uint32_t)a->pid, (uint32_t)b->pid);
	return cmp ? cmp : lower_first(a->line, b->line);
}

int64_t hist_access_cmp(enum hist_field field, const struct hist_access *a,
			const struct hist_access *b)
{
	switch (field) {
	case HIST_SYMBOL_DADDR:
		return (int64_t)(b->data.addr - a->data.addr);
	case HIST_SYMBOL_IADDR:
		return (int64_t)(b->code.addr - a->code.addr);
	case HIST_DSO_DADDR:
		return dso_cmp(a->data.frame, b->data.frame);
	case HIST_DCACHELINE:
		return line_cmp(a, b);
	case HIST_PHYS_DADDR:
		return (int64_t)(b->phys_addr - a->phys_addr);
	case HIST_DATA_PAGE_SIZE:
		return (int64_t)(b->data_page_size - a->data_page_size);
	default:
		return (int64_t)data_src_bits(b->data_src, part_of(field)) -
		       (int64_t)data_src_bits(a->data_src, part_of(field));
	}
}

size_t hist_access_words(enum hist_field field, const struct hist_access *a, uint64_t *words)
{
	const struct dso *dso;

	switch (field) {
	case HIST_SYMBOL_DADDR:
		words[0] = a->data.addr;
		return 1;
	case HIST_SYMBOL_IADDR:
		words[0] = a->code.addr;
		return 1;
	case HIST_DSO_DADDR:
		words[0] = (uintptr_t)a->data.frame->dso_name;
		return 1;
	case HIST_DCACHELINE:
		dso = a->data.frame->dso;
		words[0] = a->line;
		words[1] = (uint64_t)a->cpumode << 32 | (uint32_t)a->pid;
		words[2] = dso ? (uint64_t)dso->maj << 32 | dso->min : UINT64_MAX;
		words[3] = dso ? dso->ino : UINT64_MAX;
		return 4;
	case HIST_PHYS_DADDR:
		words[0] = a->phys_addr;
		return 1;
	case HIST_DATA_PAGE_SIZE:
		words[0] = a->data_page_size;
		return 1;
	default:
		words[0] = data_src_bits(a->data_src, part_of(field));
		return 1;
	}
}

/* The function or the variable at an address; of a variable with the offset. */
static struct result_cell place_cell(struct results_maker *m, const struct hist_branch_end *at,
				     uint64_t addr, uint64_t dso_addr, char level)
{
	const struct symbol *sym = at->frame->sym;
	struct result_cell cell = {
		.kind = CELL_SYMBOL,
		.level = level,
		.origin = m->opts->origins ? hist_dso_origin(m->h, at->frame->dso) : '!',
		.text = sym ? sym->name : NULL,
		.u = addr,
	};

	if (sym && sym->type == STT_OBJECT) {
		const char sign = dso_addr < sym->start ? '-' : '+';

		/* A cache line can start before the variable. */
		cell.has_offset = true;
		cell.text =
			results_format(m, "%s%c0x%" PRIx64, sym->name, sign,
				       sign == '+' ? dso_addr - sym->start : sym->start - dso_addr);
	}
	return cell;
}

static struct result_cell part_cell(struct results_maker *m, enum hist_field field,
				    const struct hist_access *a)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	data_src_part_text(a->data_src, part_of(field), &text);
	m->failed |= strbuf_failed(&text);
	return cell_of_text(results_format(m, "%s", strbuf_str(&text)));
}

struct result_cell hist_access_cell(struct results_maker *m, enum hist_field field,
				    const struct hist_entry *he)
{
	const struct hist_access *a = he->access;
	struct result_cell cell;

	switch (field) {
	case HIST_SYMBOL_DADDR:
		return place_cell(m, &a->data, a->data.addr, a->data.dso_addr, he->level);
	case HIST_SYMBOL_IADDR:
		return place_cell(m, &a->code, a->code.addr, a->code.dso_addr, he->level);
	case HIST_DCACHELINE:
		return place_cell(m, &a->data, a->line, a->line,
				  a->line_level ? a->line_level : he->level);
	case HIST_DSO_DADDR:
		return results_dso_cell(a->data.frame);
	case HIST_PHYS_DADDR:
		cell = cell_of_number(a->phys_addr);
		cell.text =
			results_format(m, a->phys_addr ? "[%c] 0x%016" PRIx64 : "[%c] %016" PRIx64,
				       he->level, a->phys_addr);
		return cell;
	case HIST_DATA_PAGE_SIZE:
		return results_page_size_cell(m, a->data_page_size);
	default:
		return part_cell(m, field, a);
	}
}

static size_t place_width(const struct hist_frame *frame, size_t more)
{
	return frame->sym ? strlen(frame->sym->name) + ADDRESS_WIDTH + 2 + LEVEL_WIDTH + more
			  : ADDRESS_WIDTH + 2 + LEVEL_WIDTH;
}

size_t hist_access_width(enum hist_field field, const struct hist_access *a)
{
	switch (field) {
	case HIST_SYMBOL_DADDR:
		return place_width(a->data.frame, 0);
	case HIST_SYMBOL_IADDR:
		return place_width(a->code.frame, 0);
	case HIST_DCACHELINE:
		return place_width(a->data.frame, 1);
	case HIST_DSO_DADDR:
		return a->data.frame->dso_name ? 0 : ADDRESS_WIDTH + 2 + LEVEL_WIDTH;
	case HIST_PHYS_DADDR:
	case HIST_DATA_PAGE_SIZE:
		return ADDRESS_WIDTH + 2 + LEVEL_WIDTH;
	case HIST_LOCKED:
		return 6;
	case HIST_TLB:
		return 22;
	case HIST_MEM:
		return 39;
	case HIST_SNOOP:
		return 12;
	case HIST_BLOCKED:
		return 10;
	default:
		return 0;
	}
}
