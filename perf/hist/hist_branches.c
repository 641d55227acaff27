// SPDX-License-Identifier: BSD-2-Clause
/*
 * The branches before a sample as stacks: report --branch-stack. As in perf, each counts 1 whatever
 * the sample's period is, and has the thread, the CPU and the mode of the sample; the address that
 * it goes to is what other keys call the sample's own. The weight of all branches of a sample is
 * the number of cycles of the newest.
 *
 * PMUs do not say in which mode the ends of a branch are: the user's maps come first, then the
 * kernel's.
 */
#include "perf/hist/internal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "perf/print/sample_access.h"

/* Few branches of a program are taken most of the time. */
#define CACHE_SIZE 4096

struct branch_cache {
	struct cached_end {
		const struct map *map; /* NULL: free */
		uint64_t addr, dso_addr;
		const struct hist_frame *frame;
	} v[CACHE_SIZE];
};

void hist_branch_cache_free(struct branch_cache *cache)
{
	free(cache);
}

struct hist_branch_end hist_find_end(struct hist *h, const struct thread *thread, uint64_t addr)
{
	struct location loc;

	if (!h->branch_cache)
		h->branch_cache = calloc(1, sizeof(*h->branch_cache));
	if (!h->branch_cache)
		return (struct hist_branch_end){0};
	const struct map *map = resolver_find_map(h->resolver, thread, PERF_RECORD_MISC_USER, addr);

	loc.cpumode = PERF_RECORD_MISC_USER;
	if (!map) {
		map = resolver_find_map(h->resolver, thread, PERF_RECORD_MISC_KERNEL, addr);
		loc.cpumode = PERF_RECORD_MISC_KERNEL;
	}
	struct cached_end *c = &h->branch_cache->v[hash_u64(addr ^ (uintptr_t)map) % CACHE_SIZE];
	if (!map || c->map != map || c->addr != addr) {
		resolve_addr_in(h->resolver, map, loc.cpumode, addr, &loc);
		const struct hist_frame *frame = hist_frame_of(h, &loc);

		if (!map || !frame)
			return (struct hist_branch_end){frame, addr, addr};
		*c = (struct cached_end){map, addr, loc.dso_addr, frame};
	}
	return (struct hist_branch_end){c->frame, addr, c->dso_addr};
}

/* Whether its addresses tell branches apart, or are shown. */
static bool needs_addresses(const struct hist_spec *spec, const struct hist_branch_end *end,
			    enum hist_field key)
{
	const struct symbol *sym = end->frame->sym;

	return spec->has[key] || spec->long_dso || !sym || sym->type == STT_OBJECT;
}

static void make_branch(const struct hist_spec *spec, const struct branch *of,
			struct hist_branch *branch)
{
	if (!needs_addresses(spec, &branch->from, HIST_ADDR_FROM))
		branch->from.addr = branch->from.dso_addr = 0;
	if (!needs_addresses(spec, &branch->to, HIST_ADDR_TO))
		branch->to.addr = branch->to.dso_addr = 0;
	if (spec->keeps || spec->has[HIST_CYCLES])
		branch->cycles = of->cycles;
	if (spec->keeps || spec->has[HIST_MISPREDICT]) {
		branch->mispredicted = of->mispredicted;
		branch->predicted = of->predicted;
	}
	if (spec->keeps || spec->has[HIST_IN_TX])
		branch->in_transaction = of->in_transaction;
	if (spec->keeps || spec->has[HIST_ABORT])
		branch->aborts = of->aborts;
}

/* *added: it is not one that is hidden because it has no symbol. */
static struct error *add_branch(struct hist *h, const struct sample *sample,
				const struct branch *of, struct hist_branch *branch,
				struct stack_parts *parts, struct hist_stack *s, bool *added)
{
	struct hist_stack *stack;

	if (h->spec->hide_unresolved && (!branch->from.frame->sym || !branch->to.frame->sym))
		return NULL;
	s->leaf = branch->to.frame;
	s->ip = of->to;
	if (h->spec->has[HIST_ADDR])
		parts->numbers.addr = of->to;
	if (h->spec->has[HIST_DSO_SIZE])
		parts->numbers.dso_size =
			s->leaf->map ? s->leaf->map->end - s->leaf->map->start : 0;
	make_branch(h->spec, of, branch);
	s->branch = branch;
	TRY(hist_stack_add(h, s, parts->thread, &stack));
	TRY(hist_stack_keep(h, stack, sample));
	branch_stats_add(&h->branched.stats, of);
	h->branched.branches_shown += !s->filtered;
	*added = true;
	return NULL;
}

struct error *hist_add_branches(struct hist *h, const struct sample *sample,
				const struct session_event *event, const struct thread *thread,
				const struct location *leaf, const struct hist_context *context,
				bool filtered)
{
	const size_t n = sample->branches.n / 3;
	struct stack_parts parts;
	struct hist_stack s;
	/* The newest comes first: what the end of a block is known with is next. */
	struct hist_branch_end block_end = {0};
	unsigned block_cycles = 0;
	const bool counts_blocks =
		n && h->spec->blocks && !filtered && sample_branch(sample, 0).cycles;
	bool any = false;

	if (!n)
		return NULL;
	TRY(hist_stack_make(h, sample, event, thread, leaf, context, &parts, &s));
	s.filtered = filtered;
	s.period = 1;
	s.latency = 1000 / context->parallelism;
	if (h->spec->has[HIST_LOCAL_WEIGHT] || h->spec->has[HIST_WEIGHT])
		parts.numbers.weight = max_of(sample_branch(sample, 0).cycles, 1u);
	for (size_t i = 0; i < n; i++) {
		const struct branch of = sample_branch(sample, i);
		struct hist_branch branch;

		memset(&branch, 0, sizeof(branch)); /* with what is between the members */
		branch.from = hist_find_end(h, thread, of.from);
		branch.to = hist_find_end(h, thread, of.to);
		if (!branch.from.frame || !branch.to.frame)
			return error_nomem();
		if (counts_blocks && i)
			TRY(hist_blocks_add(h, &block_end,
					    h->spec->no_block_starts ? NULL : &branch.to,
					    block_cycles));
		block_end = branch.from;
		block_cycles = of.cycles;
		TRY(add_branch(h, sample, &of, &branch, &parts, &s, &any));
	}
	if (counts_blocks)
		TRY(hist_blocks_add(h, &block_end, NULL, block_cycles));
	h->branched.all += any;
	h->branched.shown += any && !filtered;
	return NULL;
}

const struct branch_stats *hist_branch_stats(const struct hist *h)
{
	return &h->branched.stats;
}

/* As perf, which counts the entries that are left when some of them are hidden later. */
void hist_count_branched(struct hist *h)
{
	if (!h->spec->branches)
		return;
	h->totals.samples = h->branched.all;
	if (h->shown.samples == h->branched.branches_shown)
		h->shown.samples = h->branched.shown;
}
