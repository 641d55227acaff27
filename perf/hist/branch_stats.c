// SPDX-License-Identifier: BSD-2-Clause
/* The types, their names and their order are those of perf report. */
#include "perf/hist/branch_stats.h"

#include "lib/base/branch_types.h"
#include "lib/base/util.h"

#define PAGE	   4096
#define LARGE_PAGE (2ull << 20)

void branch_stats_add(struct branch_stats *stats, const struct branch *b)
{
	if (!b->type || !b->from)
		return;
	if (b->type == BRANCH_TYPE_EXTEND_ABI)
		stats->new_types[b->new_type % ARRAY_SIZE(stats->new_types)]++;
	else
		stats->types[b->type % ARRAY_SIZE(stats->types)]++;
	if (b->type == BRANCH_TYPE_COND) {
		stats->forward += b->to > b->from;
		stats->backward += b->to <= b->from;
	}
	if (b->from / LARGE_PAGE != b->to / LARGE_PAGE)
		stats->cross_2m++;
	else if (b->from / PAGE != b->to / PAGE)
		stats->cross_4k++;
}

uint64_t branch_types(const struct branch *b)
{
	uint64_t types = 0;

	if (!b->type || !b->from)
		return 0;
	types |= b->type == BRANCH_TYPE_EXTEND_ABI ? BRANCH_OF_NEW(b->new_type % N_BRANCH_TYPES)
						   : BRANCH_OF_TYPE(b->type % N_BRANCH_TYPES);
	if (b->type == BRANCH_TYPE_COND)
		types |= b->to > b->from ? BRANCH_FORWARD : BRANCH_BACKWARD;
	if (b->from / LARGE_PAGE != b->to / LARGE_PAGE)
		types |= BRANCH_TO_2M;
	else if (b->from / PAGE != b->to / PAGE)
		types |= BRANCH_TO_PAGE;
	return types;
}

void branch_stats_sum(struct branch_stats *stats, const struct branch_stats *other)
{
	for (size_t i = 0; i < ARRAY_SIZE(stats->types); i++) {
		stats->types[i] += other->types[i];
		stats->new_types[i] += other->new_types[i];
	}
	stats->forward += other->forward;
	stats->backward += other->backward;
	stats->cross_4k += other->cross_4k;
	stats->cross_2m += other->cross_2m;
}

static void add_line(struct strbuf *out, const char *name, uint64_t n, uint64_t of)
{
	if (n)
		strbuf_addf(out, "%8s: %5.1f%%\n", name, 100.0 * (double)n / (double)of);
}

void branch_stats_print(const struct branch_stats *stats, struct strbuf *out)
{
	struct branch b = {0};
	uint64_t all = 0;

	for (size_t i = 0; i < ARRAY_SIZE(stats->types); i++)
		all += stats->types[i];
	if (!all)
		return;
	strbuf_adds(out, "\n#\n# Branch Statistics:\n#\n");
	add_line(out, "COND_FWD", stats->forward, all);
	add_line(out, "COND_BWD", stats->backward, all);
	add_line(out, "CROSS_4K", stats->cross_4k, all);
	add_line(out, "CROSS_2M", stats->cross_2m, all);
	for (b.type = 0; b.type < BRANCH_TYPE_EXTEND_ABI; b.type++)
		add_line(out, branch_type(&b), stats->types[b.type], all);
	for (; b.new_type < ARRAY_SIZE(stats->new_types); b.new_type++)
		add_line(out, branch_type(&b), stats->new_types[b.new_type], all);
}
