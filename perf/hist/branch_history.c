// SPDX-License-Identifier: BSD-2-Clause
/*
 * Call chains with the branches before the sample: perf report --branch-history. Each branch is two
 * frames, where it went to and where it is from; behind them is the call chain, without what the
 * branches show already. What perf does (tools/perf/util/machine.c of Linux 7.2) is done in the
 * same order, with its corners:
 *
 *	- a loop is shown once: branches that repeat those since the last branch from the same place
 *	  are left out, and counted as an iteration of the first branch behind them
 *	- with the caller first, the branches come before the call chain, the oldest first
 *	- the call chain is shorter by the number of branches that are shown, at the end that is
 *	  last
 *
 * perf finds the places in a table of 127 slots, and misses a loop where two of them share one.
 */
#include "perf/hist/internal.h"

#include <string.h>

#define MAX_BRANCHES 127 /* more are not of a PMU: perf shows the call chain alone */

struct history_branch {
	struct branch branch;
	uint64_t iterations, cycles; /* of the loop before it */
};

struct history {
	struct hist *h;
	const struct thread *thread;
	const struct sample *sample;
	struct stack_parts *parts;
	size_t n; /* frames */
};

static bool add_frames(struct history *m, uint8_t cpumode, uint64_t ip,
		       const struct branch_counts *counts)
{
	struct stack_parts *parts = m->parts;

	if (m->n + 1 >= HIST_MAX_STACK)
		return true;
	const int n = hist_frames_add(m->h, m->thread, cpumode, ip, 1, parts, m->n);

	if (n < 0)
		return false;
	/* What is inlined is innermost: with the caller first, it comes last. */
	for (size_t i = m->n, j = (size_t)n; m->h->spec->chain.caller && i + 1 < j; i++) {
		const struct result_frame *f = parts->frames[i];

		parts->frames[i] = parts->frames[--j];
		parts->frames[j] = f;
	}
	for (; m->n < (size_t)n; m->n++)
		m->h->history[m->n] = *counts;
	return true;
}

/* Where the mode is not known, an address is one of user space if something is mapped there. */
static bool add_end(struct history *m, uint64_t ip, const struct branch_counts *counts)
{
	static const uint8_t modes[] = {PERF_RECORD_MISC_USER, PERF_RECORD_MISC_KERNEL};
	uint8_t cpumode = PERF_RECORD_MISC_USER;

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (resolver_find_map(m->h->resolver, m->thread, modes[i], ip)) {
			cpumode = modes[i];
			break;
		}
	return add_frames(m, cpumode, ip, counts);
}

static bool add_branch(struct history *m, const struct history_branch *of)
{
	const struct branch *b = &of->branch;
	const struct branch_counts to = {
		.branches = 1,
		.is_to = true,
		.predicted = b->predicted,
		.aborts = b->aborts,
		.types = branch_types(b),
	};
	const struct branch_counts from = {
		.branches = 1,
		.cycles = b->cycles,
		.iterations = of->iterations,
		.iteration_cycles = of->cycles,
		.froms = 1,
	};

	return add_end(m, b->to, &to) && add_end(m, b->from, &from);
}

/* The first branch that is from where v[i] is; i: there is none before it. */
static size_t first_of_place(const struct history_branch *v, size_t i)
{
	size_t at = 0;

	while (at < i && v[at].branch.from != v[i].branch.from)
		at++;
	return at;
}

/* How many are left. */
static size_t remove_loops(struct history_branch *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const size_t first = first_of_place(v, i);
		size_t same = 0;

		/* the last repetition may be cut off by the end */
		while (first + same < i && i + same < n &&
		       v[first + same].branch.from == v[i + same].branch.from)
			same++;
		if (first == i || (first + same < i && i + same < n))
			continue;
		const size_t left = n - i - same;
		if (left) {
			struct history_branch *next = &v[i + same];

			next->iterations++;
			next->cycles = 0;
			for (size_t k = 0; k < same; k++)
				next->cycles += v[i + k].branch.cycles;
			memmove(&v[i], next, left * sizeof(*v));
		}
		n -= same;
	}
	return n;
}

/* The branches in the order of the chain; *skipped: words of the call chain that they show. */
static size_t take_branches(const struct history *m, struct history_branch *v, size_t *skipped)
{
	const struct u64_array *chain = &m->sample->chain;
	const size_t all = m->sample->branches.n / 3;
	const size_t n = min_of(all, m->h->spec->max_stack);
	const bool caller = m->h->spec->chain.caller;

	for (size_t i = 0; i < n; i++) {
		v[i] = (struct history_branch){
			.branch = sample_branch(m->sample, caller ? all - i - 1 : i)};
		if (caller || *skipped >= chain->n)
			continue;
		const uint64_t from = v[i].branch.from, ip = u64_array_at(chain, *skipped);
		/* a return address follows the call, which has at most 8 bytes */
		*skipped += ip >= PERF_CONTEXT_MAX || (from < ip && from >= ip - 8);
	}
	return remove_loops(v, n);
}

/* false: the marker is not understood. */
static bool mode_of_marker(uint64_t marker, uint8_t *cpumode)
{
	switch (marker) {
	case PERF_CONTEXT_HV:
		*cpumode = PERF_RECORD_MISC_HYPERVISOR;
		return true;
	case PERF_CONTEXT_KERNEL:
		*cpumode = PERF_RECORD_MISC_KERNEL;
		return true;
	case PERF_CONTEXT_USER:
		*cpumode = PERF_RECORD_MISC_USER;
		return true;
	default:
		return false;
	}
}

/* Of a word of the chain: by the last marker before it. */
static bool mode_of_word(const struct u64_array *chain, uint64_t at, uint8_t *cpumode)
{
	*cpumode = PERF_RECORD_MISC_USER;
	while (at-- > 0) {
		const uint64_t word = u64_array_at(chain, at);

		if (word >= PERF_CONTEXT_MAX)
			return mode_of_marker(word, cpumode);
	}
	return true;
}

/* Words `first` to `end` of the call chain, in its order or with the caller first. */
static bool add_calls(struct history *m, uint64_t first, uint64_t end)
{
	static const struct branch_counts none = {0};
	const struct u64_array *chain = &m->sample->chain;
	const bool caller = m->h->spec->chain.caller;
	uint8_t cpumode = PERF_RECORD_MISC_USER;
	size_t left = m->h->spec->max_stack;

	for (uint64_t i = first; i < end && left; i++) {
		const uint64_t at = caller ? chain->n - i - 1 : i, ip = u64_array_at(chain, at);
		const bool is_marker = ip >= PERF_CONTEXT_MAX;

		if (!(is_marker ? mode_of_marker(ip, &cpumode)
				: !caller || mode_of_word(chain, at, &cpumode))) {
			m->n = 0; /* perf drops the whole chain */
			return true;
		}
		if (is_marker)
			continue;
		left--;
		if (!add_frames(m, cpumode, ip, &none))
			return false;
	}
	return true;
}

struct error *hist_history_make(struct hist *h, const struct session_event *event,
				const struct sample *sample, const struct thread *thread,
				struct stack_parts *parts, struct hist_stack *s)
{
	struct history m = {.h = h, .thread = thread, .sample = sample, .parts = parts};
	struct history_branch v[MAX_BRANCHES];
	size_t skipped = 0, n = 0;

	if (!h->history) {
		h->history = arena_alloc(&h->arena, HIST_MAX_STACK * sizeof(*h->history));
		if (!h->history)
			return error_nomem();
	}
	/* The branches of a call stack are the call chain already. */
	if (sample->branches.n / 3 <= MAX_BRANCHES &&
	    !(event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
		n = take_branches(&m, v, &skipped);
	for (size_t i = 0; i < n; i++)
		if (!add_branch(&m, &v[i]))
			return error_nomem();
	const uint64_t calls = sample->chain.n > n ? sample->chain.n - n : 0;
	if (!add_calls(&m, skipped, calls))
		return error_nomem();
	s->depth = (uint32_t)m.n;
	s->ips = parts->ips;
	s->chain = hist_chain_intern(h, parts->frames, m.n);
	return s->chain ? NULL : error_nomem();
}

struct error *hist_history_add(struct hist *h, const struct hist_stack *s)
{
	if (!h->spec->branch_history)
		return NULL;
	struct branch_counts *sums = u64map_get(&h->histories, (uintptr_t)s);
	if (!sums) {
		sums = arena_alloc(&h->arena, s->depth * sizeof(*sums) + !s->depth);
		if (!sums || !u64map_put(&h->histories, (uintptr_t)s, sums))
			return error_nomem();
	}
	for (uint32_t i = 0; i < s->depth; i++)
		branch_counts_add(&sums[i], &h->history[i]);
	return NULL;
}

static void sum_node(const struct stack_node *node, struct branch_counts *sum)
{
	for (uint32_t i = 0; node->branches && i < node->n_frames; i++)
		branch_counts_add(sum, &node->branches[i]);
	for (const struct rb_node *rb = rb_first(&node->children); rb; rb = rb_next(rb))
		sum_node(container_of(rb, struct stack_node, in), sum);
}

struct branch_counts hist_history_of(const struct hist_entry *he)
{
	struct branch_counts sum = {0};

	if (he->chain)
		sum_node(&he->chain->root, &sum);
	return sum;
}
