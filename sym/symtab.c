// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table: symbols in an array by address. It is filled by a backend, sorted
 * once (stably: the order of arrival decides between equals, as in perf's
 * tree), and searched by bisection.
 *
 * The rules for symbols without a length and for several symbols at one
 * address are those of perf (tools/perf/util/symbol.c of Linux 6.1,
 * symbols__fixup_end and choose_best_symbol), because a report that names
 * another alias than perf does would be a different report.
 *
 * Symbols may overlap (a function with labels inside it). Then a look-up must
 * not stop at the nearest start: max_end tells how far back a symbol may reach
 * over the address. perf's answer in such a case depends on the shape of its
 * tree; here it is the innermost symbol. In a program, a label without a length
 * is not a symbol where a function has its length: the time spent behind the
 * label is the function's.
 *
 * Demangling costs more than all the rest, so it waits until a name is asked
 * for: of a million symbols a report shows some hundred.
 */
#include "sym/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the copied names; the next block is twice as large. Most tables have a few names. */
#define FIRST_BLOCK   256
#define LARGEST_BLOCK 32768

struct symtab *symtab_new(void)
{
	return calloc(1, sizeof(struct symtab));
}

void symtab_free(struct symtab *st)
{
	if (!st)
		return;
	void **block;

	vec_for_each (block, &st->blocks)
		free(*block);
	vec_deinit(&st->blocks);
	vec_deinit(&st->syms);
	vec_deinit(&st->segments);
	kallsyms_free(st->kallsyms);
	free(st->max_end);
	free(st);
}

bool symtab_own(struct symtab *st, void *block)
{
	void **slot = vec_push(&st->blocks);

	if (!slot) {
		free(block);
		return false;
	}
	*slot = block;
	return true;
}

const char *symtab_strdup(struct symtab *st, const char *name, size_t len)
{
	if (len + 1 > st->arena_left) {
		const size_t block_size =
			st->arena_block ? min_of(2 * st->arena_block, (size_t)LARGEST_BLOCK)
					: FIRST_BLOCK;
		size_t size = max_of(block_size, len + 1);
		char *block = malloc(size);

		if (!block || !symtab_own(st, block))
			return NULL;
		st->arena_block = block_size;
		st->arena = block;
		st->arena_left = size;
		st->arena_size += size;
	}
	char *copy = st->arena;
	memcpy(copy, name, len);
	copy[len] = 0;
	st->arena += len + 1;
	st->arena_left -= len + 1;
	return copy;
}

bool symtab_add(struct symtab *st, uint64_t start, uint64_t len, uint8_t binding, uint8_t type,
		const char *name)
{
	if (st->syms.n == st->syms.cap && !vec_reserve(&st->syms, st->syms.n + 1))
		return false;
	st->syms.v[st->syms.n++] = (struct symbol){
		.start = start,
		.end = start + len < start ? UINT64_MAX : start + len,
		.name = name,
		.binding = binding,
		.type = type,
		.lazy = st->demangle && name_may_be_mangled(name) ? LAZY_DEMANGLE : 0,
	};
	return true;
}

/* A bottom-up merge sort: stable, and one pass over what is sorted already. */
bool symtab_sort(struct symtab *st)
{
	size_t n = st->syms.n;
	struct symbol *from = st->syms.v;
	size_t sorted = 1;

	while (sorted < n && from[sorted - 1].start <= from[sorted].start)
		sorted++;
	if (sorted >= n)
		return true;

	struct symbol *to = malloc(n * sizeof(*to));
	if (!to)
		return false;
	for (size_t width = 1; width < n; width *= 2) {
		for (size_t lo = 0; lo < n; lo += 2 * width) {
			size_t mid = min_of(lo + width, n), hi = min_of(lo + 2 * width, n);
			size_t a = lo, b = mid, k = lo;

			if (mid == hi || from[mid - 1].start <= from[mid].start) {
				memcpy(to + lo, from + lo, (hi - lo) * sizeof(*to));
				continue;
			}
			while (a < mid && b < hi)
				to[k++] = from[b].start < from[a].start ? from[b++] : from[a++];
			memcpy(to + k, from + a, (mid - a) * sizeof(*to));
			k += mid - a;
			memcpy(to + k, from + b, (hi - b) * sizeof(*to));
		}
		struct symbol *swap = from;
		from = to;
		to = swap;
	}
	free(to);
	st->syms.v = from;
	st->syms.cap = n;
	return true;
}

static uint64_t page_up(uint64_t addr)
{
	return addr > UINT64_MAX - 4095 ? UINT64_MAX - 4095 : round_up(addr, 4096);
}

void symtab_fix_ends(struct symtab *st)
{
	struct symbol *syms = st->syms.v;
	size_t n = st->syms.n;

	for (size_t i = 1; i < n; i++) {
		if (syms[i - 1].end == syms[i - 1].start) {
			syms[i - 1].end = syms[i].start;
			syms[i - 1].guessed = true;
		}
	}
	if (n && syms[n - 1].end == syms[n - 1].start) {
		uint64_t page = page_up(syms[n - 1].start);

		syms[n - 1].end = page > UINT64_MAX - 4096 ? UINT64_MAX : page + 4096;
	}
}

void symtab_cut_guessed(struct symtab *st)
{
	struct symbol *syms = st->syms.v;

	for (size_t i = 0; i + 1 < st->syms.n; i++)
		if (syms[i].guessed && syms[i].end > syms[i + 1].start)
			syms[i].end = syms[i + 1].start;
}

/* Makes the name final. Without memory it stays as it was. */
static void symbol_settle(struct symtab *st, struct symbol *sym)
{
	_cleanup_free_ char *demangled = NULL;
	const int before = errno;

	errno = 0;
	if (sym->lazy & LAZY_DEMANGLE)
		demangled = symbol_demangle(st->demangler, sym->name, st->parameters);
	const char *name = demangled ? demangled : sym->name;
	const char *settled = NULL;

	if (sym->lazy & LAZY_PLT) {
		_cleanup_free_ char *plt = NULL;

		if (asprintf(&plt, "%s@plt", name) >= 0)
			settled = symtab_strdup(st, plt, strlen(plt));
	} else if (demangled) {
		settled = symtab_strdup(st, demangled, strlen(demangled));
	}
	if (settled)
		sym->name = settled;
	else
		st->no_memory |= errno == ENOMEM;
	errno = errno ? errno : before;
	sym->lazy = 0;
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* Whether b, which came later, is preferred to a at the same address. */
static bool symbol_is_better(struct symtab *st, struct symbol *a, struct symbol *b)
{
	if ((a->end == a->start) != (b->end == b->start))
		return a->end == a->start;
	if ((a->binding == STB_WEAK) != (b->binding == STB_WEAK))
		return a->binding == STB_WEAK;
	if ((a->binding == STB_GLOBAL) != (b->binding == STB_GLOBAL))
		return b->binding == STB_GLOBAL;
	if (a->lazy)
		symbol_settle(st, a);
	if (b->lazy)
		symbol_settle(st, b);
	size_t ua = underscores(a->name), ub = underscores(b->name);
	if (ua != ub)
		return ub < ua;
	size_t la = strlen(a->name), lb = strlen(b->name);
	if (la != lb)
		return lb > la;
	/* The old names of system calls. */
	return !strncmp(a->name, "SyS", 3) || !strncmp(a->name, "compat_SyS", 10);
}

void symtab_fix_duplicates(struct symtab *st)
{
	struct symbol *syms = st->syms.v;
	size_t kept = 0;

	for (size_t i = 0; i < st->syms.n; i++) {
		if (kept && syms[kept - 1].start == syms[i].start) {
			if (symbol_is_better(st, &syms[kept - 1], &syms[i]))
				syms[kept - 1] = syms[i];
		} else {
			syms[kept++] = syms[i];
		}
	}
	st->syms.n = kept;
}

void symtab_drop_labels(struct symtab *st)
{
	struct symbol *syms = st->syms.v;
	size_t kept = 0;
	uint64_t end = 0; /* of the functions so far */

	for (size_t i = 0; i < st->syms.n; i++) {
		const struct symbol sym = syms[i];

		if (sym.type == STT_NOTYPE && sym.guessed && sym.start < end)
			continue;
		if (!sym.guessed && (sym.type == STT_FUNC || sym.type == STT_GNU_IFUNC))
			end = max_of(end, sym.end);
		syms[kept++] = sym;
	}
	st->syms.n = kept;
}

bool symtab_finish(struct symtab *st)
{
	struct symbol *syms = st->syms.v;
	size_t n = st->syms.n;
	uint64_t end = 0;
	bool overlap = false;

	for (size_t i = 0; i < n && !overlap; i++) {
		overlap = i && syms[i].start < end;
		end = max_of(end, syms[i].end);
	}
	if (overlap) {
		st->max_end = malloc(n * sizeof(*st->max_end));
		if (!st->max_end)
			return false;
		end = 0;
		for (size_t i = 0; i < n; i++)
			st->max_end[i] = end = max_of(end, syms[i].end);
	}
	if (st->syms.cap > n + n / 8) {
		struct symbol *fit = realloc(syms, max_of(n, (size_t)1) * sizeof(*syms));

		if (fit) {
			st->syms.v = fit;
			st->syms.cap = max_of(n, (size_t)1);
		}
	}
	return true;
}

static bool symbol_covers(const struct symbol *sym, uint64_t addr)
{
	return addr >= sym->start && (addr < sym->end || addr == sym->start);
}

static const struct symbol *symtab_hit(struct symtab *st, size_t i)
{
	struct symbol *sym = &st->syms.v[i];

	st->last = i;
	if (sym->lazy)
		symbol_settle(st, sym);
	return sym;
}

const struct symbol *symtab_find(struct symtab *st, uint64_t addr)
{
	const struct symbol *syms = st->syms.v;
	size_t n = st->syms.n;

	if (!n)
		return NULL;
	if (!st->max_end && symbol_covers(&syms[st->last], addr))
		return symtab_hit(st, st->last);

	/* The last symbol that starts at or before addr. */
	const size_t lo = count_before(n, i, syms[i].start <= addr);
	for (size_t i = lo; i-- > 0;) {
		if (symbol_covers(&syms[i], addr))
			return symtab_hit(st, i);
		if (!st->max_end || st->max_end[i] <= addr)
			return NULL;
	}
	return NULL;
}

const struct symbol *symtab_find_name(struct symtab *st, const char *name)
{
	for (size_t i = 0; i < st->syms.n; i++)
		if (!strcmp(symtab_at(st, i)->name, name))
			return &st->syms.v[i];
	return NULL;
}

size_t symtab_memory(const struct symtab *st)
{
	return st->syms.n * (sizeof(*st->syms.v) + sizeof(*st->max_end)) + st->arena_size;
}

size_t symtab_size(const struct symtab *st)
{
	return st->syms.n;
}

const struct symbol *symtab_at(struct symtab *st, size_t i)
{
	if (st->syms.v[i].lazy)
		symbol_settle(st, &st->syms.v[i]);
	return &st->syms.v[i];
}

const char *symtab_file(const struct symtab *st)
{
	return st->file;
}

void symtab_demangle(struct symtab *st, struct demangler *demangler, bool parameters)
{
	struct symbol *sym;

	st->demangle = true;
	st->demangler = demangler;
	st->parameters = parameters;
	vec_for_each (sym, &st->syms)
		if (name_may_be_mangled(sym->name))
			sym->lazy |= LAZY_DEMANGLE;
}

bool symtab_had_no_memory(const struct symtab *st)
{
	return st->no_memory;
}

bool symtab_is_cut(const struct symtab *st)
{
	return st->is_cut;
}

char symtab_origin(const struct symtab *st)
{
	return st->origin ? st->origin : 'd';
}

uint64_t symtab_offset_to_addr(const struct symtab *st, uint64_t offset)
{
	const struct segment *seg;

	vec_for_each (seg, &st->segments) {
		if (offset >= seg->offset && offset - seg->offset < seg->filesz)
			return offset - seg->offset + seg->vaddr;
	}
	return offset;
}

struct error *symtab_new_one(uint64_t start, uint64_t len, const char *name, struct symtab **out)
{
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	const char *copy = st ? symtab_strdup(st, name, strlen(name)) : NULL;

	if (!copy || !symtab_add(st, start, len, STB_LOCAL, STT_FUNC, copy) || !symtab_finish(st))
		return error_nomem();
	st->syms.v[0].lazy = 0;
	*out = steal_ptr(st);
	return NULL;
}
