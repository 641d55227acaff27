// SPDX-License-Identifier: BSD-2-Clause
/*
 * From stacks to entries: for each stack, in the order of first appearance, the
 * leaf's entry, and with children one for each function of the chain, with the
 * rest of the chain below it. perf does this for every sample; as sums know no
 * order and structures depend on first appearances alone, the outcome is the
 * same. (But for addresses without a symbol: perf's search tree orders them by
 * a difference that wraps around, so that it may miss one that it has and make
 * it twice. Here each has one entry.)
 *
 * A function that is twice in a chain is counted once; a chain's addresses
 * without a symbol are kept as recorded, a leaf's as its DSO has them; the
 * level of a frame without a map is that of the frame before: all as in perf
 * (tools/perf/util/hist.c of Linux 6.1, iter_add_next_cumulative_entry).
 */
#include "perf/hist/internal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sum.h"

#define MAX_WORDS (HIST_MAX_FIELDS * 5 + 1)

struct sorted_entry {
	struct hist_entry he; /* first */
	struct rb_node in;    /* as collected; then as reported */
	bool is_linked;	      /* to an entry of its group's leader */
	uint64_t last_stack;
	uint64_t hash; /* of entry_words() */
};

/* A chain holds frames of ours. */
static const struct hist_frame *frame_in(const struct result_frame *const *chain, size_t i)
{
	return container_of(chain[i], const struct hist_frame, frame);
}

static bool parent_matches(const struct hist_spec *spec, const struct hist_frame *frame)
{
	struct hist_frame *f = (struct hist_frame *)frame; /* ours: made in frame_new() */

	return hist_frame_matches(f, spec->parent, &f->parent);
}

/* The name without digits: equal ones are one pointer; 0: no memory. */
static uint64_t comm_word(struct hist *h, const char *comm)
{
	strbuf_reset(&h->text);
	hist_comm_strip_digits(comm, &h->text);
	return strbuf_failed(&h->text) ? 0 : (uintptr_t)hist_intern(h, strbuf_str(&h->text));
}

/* Its function, or its address; how many words. */
static size_t end_words(const struct hist_branch_end *end, uint64_t *words)
{
	const struct symbol *sym = end->frame->sym;

	words[0] = sym != NULL;
	words[1] = sym ? sym->start : end->addr;
	words[2] = sym ? sym->end : 0;
	words[3] = (uintptr_t)end->frame->sym_name;
	return 4;
}

/*
 * The values of the keys as numbers: equal when perf's comparison says 0. Samples that a filter
 * hides have entries of their own; in perf 6.1 they count in the entry of those that it shows, or
 * hide it, whichever came first. 0: no memory.
 */
static size_t entry_words(struct hist *h, const struct hist_entry *he, uint64_t *words)
{
	const struct hist_spec *spec = h->spec;
	size_t n = 0;

	words[n++] = he->filtered;
	for (size_t i = 0; i < spec->n_sort; i++) {
		switch (spec->sort[i]) {
		case HIST_PID:
		case HIST_TID:
			words[n++] = (uint32_t)he->thread->tid;
			break;
		case HIST_COMM:
			words[n++] = (uintptr_t)he->comm;
			break;
		case HIST_COMM_NODIGIT:
			words[n] = comm_word(h, he->comm);
			if (!words[n++])
				return 0;
			break;
		case HIST_DSO:
			words[n++] = (uintptr_t)he->frame->dso_name;
			break;
		case HIST_SYMBOL:
		case HIST_IPC_NULL:
		case HIST_IPC_LBR: {
			const struct symbol *sym = he->frame->sym;

			words[n++] = sym != NULL;
			words[n++] = sym ? sym->start : he->ip;
			words[n++] = sym ? sym->end : 0;
			words[n++] = sym ? (uintptr_t)he->frame->dso_name : 0;
			words[n++] = (uintptr_t)he->frame->sym_name;
			break;
		}
		case HIST_PARENT:
			words[n++] = he->parent ? (uintptr_t)hist_intern(h, he->parent->name) : 0;
			break;
		case HIST_CPU:
			words[n++] = (uint32_t)he->cpu;
			break;
		case HIST_TRACE:
			words[n++] = (uintptr_t)he->trace;
			break;
		case HIST_TIME:
			words[n++] = he->time;
			break;
		case HIST_CGROUP:
			words[n++] = (uintptr_t)he->cgroup;
			break;
		case HIST_ADDR:
			words[n++] = he->numbers->addr;
			break;
		case HIST_DSO_SIZE:
			words[n++] = he->numbers->dso_size;
			break;
		case HIST_LOCAL_WEIGHT:
		case HIST_WEIGHT:
			words[n++] = he->numbers->weight;
			break;
		case HIST_LOCAL_INS_LAT:
		case HIST_INS_LAT:
			words[n++] = he->numbers->ins_lat;
			break;
		case HIST_CODE_PAGE_SIZE:
			words[n++] = he->numbers->code_page_size;
			break;
		case HIST_SOCKET:
			words[n++] = (uint32_t)he->numbers->socket;
			break;
		case HIST_PARALLELISM:
			words[n++] = he->numbers->parallelism;
			break;
		case HIST_TRANSACTION:
			words[n++] = he->numbers->transaction;
			break;
		case HIST_LOCAL_RETIRE_LAT:
		case HIST_RETIRE_LAT:
			words[n++] = he->numbers->retire_lat;
			break;
		case HIST_CGROUP_ID:
			words[n++] = he->numbers->cgroup_dev;
			words[n++] = he->numbers->cgroup_ino;
			break;
		case HIST_DSO_FROM:
			words[n++] = (uintptr_t)he->branch->from.frame->dso_name;
			break;
		case HIST_DSO_TO:
			words[n++] = (uintptr_t)he->branch->to.frame->dso_name;
			break;
		case HIST_SYMBOL_FROM:
			n += end_words(&he->branch->from, words + n);
			break;
		case HIST_SYMBOL_TO:
			n += end_words(&he->branch->to, words + n);
			break;
		case HIST_ADDR_FROM:
			words[n++] = (uintptr_t)he->branch->from.frame->dso_name;
			words[n++] = he->branch->from.addr;
			break;
		case HIST_ADDR_TO:
			words[n++] = (uintptr_t)he->branch->to.frame->dso_name;
			words[n++] = he->branch->to.addr;
			break;
		case HIST_SRCLINE_FROM:
			words[n++] = (uintptr_t)he->branch->from.frame->srcline;
			break;
		case HIST_SRCLINE_TO:
			words[n++] = (uintptr_t)he->branch->to.frame->srcline;
			break;
		case HIST_MISPREDICT:
			words[n++] = he->branch->mispredicted | he->branch->predicted << 1;
			break;
		case HIST_IN_TX:
			words[n++] = he->branch->in_transaction;
			break;
		case HIST_ABORT:
			words[n++] = he->branch->aborts;
			break;
		case HIST_CYCLES:
			words[n++] = he->branch->cycles;
			break;
		case HIST_SYMBOL_SIZE:
			words[n++] = hist_symbol_size(he);
			break;
		case HIST_SRCLINE:
			words[n++] = (uintptr_t)he->frame->srcline;
			break;
		case HIST_SRCFILE:
			words[n++] = (uintptr_t)he->frame->srcfile;
			break;
		case HIST_UNIT:
		case HIST_CONTAINER:
		case HIST_POD: /* equal ones are one string */
			words[n++] = (uintptr_t)hist_cgroup_text(he->cgroup, spec->sort[i]);
			break;
		default:
			if (he->access && hist_is_of_accesses(spec->sort[i]))
				n += hist_access_words(spec->sort[i], he->access, words + n);
			if (spec->sort[i] >= HIST_DYNAMIC)
				words[n++] = (uintptr_t)hist_entry_value(he, spec->sort[i] -
										     HIST_DYNAMIC);
			break;
		}
	}
	return n;
}

static struct sorted_entry *entry_of_in(struct rb_node *rb)
{
	return container_of(rb, struct sorted_entry, in);
}

static void insert_in(struct hist *h, struct sorted_entry *e)
{
	struct rb_node **link = &h->in.root, *parent = NULL;

	while (*link) {
		parent = *link;
		link = hist_entry_cmp(h->spec, &entry_of_in(parent)->he, &e->he) < 0
			       ? &parent->left
			       : &parent->right;
	}
	rb_insert(&h->in, &e->in, parent, link);
}

static void insert_out(struct hist *h, struct rb_tree *out, struct sorted_entry *e)
{
	struct rb_node **link = &out->root, *parent = NULL;

	while (*link) {
		parent = *link;
		link = hist_entry_sort(h->spec, &e->he, &entry_of_in(parent)->he) > 0
			       ? &parent->left
			       : &parent->right;
	}
	rb_insert(out, &e->in, parent, link);
}

static bool entries_grow(struct hist *h)
{
	size_t slots = h->entry_mask ? (h->entry_mask + 1) * 2 : 1024;
	struct sorted_entry **grown = calloc(slots, sizeof(*grown));

	if (!grown)
		return false;
	for (size_t i = 0; h->entry_mask && i <= h->entry_mask; i++) {
		struct sorted_entry *e = h->entry_slots[i];
		size_t at = e ? e->hash & (slots - 1) : 0;

		while (e && grown[at])
			at = (at + 1) & (slots - 1);
		if (e)
			grown[at] = e;
	}
	free(h->entry_slots);
	h->entry_slots = grown;
	h->entry_mask = slots - 1;
	return true;
}

/* A copy of the numbers, which are the caller's. */
static bool keep_numbers(struct hist *h, struct hist_entry *he)
{
	struct hist_numbers *numbers = arena_alloc(&h->entry_arena, sizeof(*numbers));

	if (numbers) {
		*numbers = *he->numbers;
		he->numbers = numbers;
	}
	return numbers;
}

static struct sorted_entry *entry_new(struct hist *h, const struct hist_entry *want)
{
	struct sorted_entry *e = arena_alloc(&h->entry_arena, sizeof(*e));

	if (!e)
		return NULL;
	e->he = *want;
	if (want->numbers && !keep_numbers(h, &e->he))
		return NULL;
	if (h->spec->use_chain) {
		e->he.chain = arena_alloc(&h->entry_arena, sizeof(*e->he.chain));
		if (!e->he.chain)
			return NULL;
	}
	return e;
}

/* The words are those of want. Other entries with their hash are rare. */
static bool has_words(struct hist *h, const struct hist_entry *he, const struct hist_entry *want,
		      const uint64_t *words, size_t n)
{
	uint64_t others[MAX_WORDS];

	return entry_words(h, he, others) == n && !memcmp(others, words, n * sizeof(*words));
}

/* The entry with the keys of want, made if need be; NULL: no memory. */
static struct sorted_entry *entry_get(struct hist *h, const struct hist_entry *want)
{
	uint64_t words[MAX_WORDS], hash = 0;
	size_t n = entry_words(h, want, words);

	if (!n)
		return NULL;
	for (size_t i = 0; i < n; i++)
		hash = hash_u64(hash ^ words[i]) + i;
	if (h->n_entries * 4 >= h->entry_mask * 3 && !entries_grow(h))
		return NULL;
	for (size_t at = hash & h->entry_mask;; at = (at + 1) & h->entry_mask) {
		struct sorted_entry *e = h->entry_slots[at];

		if (!e) {
			e = entry_new(h, want);
			if (!e)
				return NULL;
			const struct hist_entry **slot = vec_push(&h->sorted);
			if (!slot)
				return NULL;
			*slot = &e->he;
			e->hash = hash;
			h->entry_slots[at] = e;
			h->n_entries++;
			return e;
		}
		if (e->hash == hash && has_words(h, &e->he, want, words, n))
			return e;
	}
}

static void stat_add(struct hist_stat *stat, const struct hist_stack *s)
{
	const uint64_t period = s->period;

	sum_add(&stat->period, period);
	sum_add(&stat->latency, s->latency);
	stat->n += s->n;
	switch (s->cpumode) {
	case PERF_RECORD_MISC_KERNEL:
		sum_add(&stat->sys, period);
		break;
	case PERF_RECORD_MISC_USER:
		sum_add(&stat->us, period);
		break;
	case PERF_RECORD_MISC_GUEST_KERNEL:
		sum_add(&stat->guest_sys, period);
		break;
	case PERF_RECORD_MISC_GUEST_USER:
		sum_add(&stat->guest_us, period);
		break;
	default:
		break;
	}
}

static bool entry_add_chain(struct hist *h, struct sorted_entry *e, const struct hist_stack *s,
			    size_t from)
{
	const struct branch_counts *branches = u64map_get(&h->histories, (uintptr_t)s);

	return !h->spec->use_chain || from == s->depth ||
	       stack_tree_add_branches(e->he.chain, &h->entry_arena, h->spec->chain.order,
				       s->chain + from, branches ? branches + from : NULL,
				       s->depth - from, s->period, s->n);
}

static bool entry_add_samples(struct hist *h, const struct sorted_entry *e,
			      const struct hist_stack *s)
{
	return hist_entry_keep(h, &e->he, u64map_get(&h->samples, (uintptr_t)s));
}

static bool differs(const char *wanted, const char *is)
{
	return wanted && (!is || strcmp(wanted, is) != 0);
}

static bool hides_entries(const struct hist_spec *spec)
{
	return spec->symbol_filter || spec->zoom.dso || spec->zoom.symbol;
}

/*
 * A text that names have to hold, a DSO and a symbol hide entries, not samples: with children, a
 * caller is shown for its own name, whatever it called.
 */
static bool hides_entry(const struct hist *h, const struct hist_frame *f)
{
	const char *text = h->spec->symbol_filter;

	return (text && (!f->sym || !strstr(f->sym->name, text))) ||
	       differs(h->spec->zoom.dso, f->dso ? f->dso->path : NULL) ||
	       differs(h->spec->zoom.symbol, f->sym ? f->sym->name : NULL);
}

/* The rest of the zoom is of samples. */
static bool hides_stack(const struct hist_zoom *zoom, const struct hist_stack *s)
{
	return differs(zoom->comm, s->comm) || (zoom->tid && zoom->tid != s->thread->tid) ||
	       (zoom->has_socket && (!s->numbers || zoom->socket != s->numbers->socket)) ||
	       (zoom->no_kernel && s->cpumode == PERF_RECORD_MISC_KERNEL) ||
	       (zoom->no_user && s->cpumode == PERF_RECORD_MISC_USER);
}

/* Of data the offset is shown, which is from the map of the frame. */
static uint64_t ip_in(const struct hist *h, const struct hist_stack *s, size_t i)
{
	const struct hist_frame *f = frame_in(s->chain, i);
	const bool is_own = h->spec->only_dsos || (f->sym && f->sym->type != STT_OBJECT);

	return s->ips && is_own ? s->ips[i] : f->frame.addr;
}

/* The frames of the chain, each of which called the sample's place. */
static struct error *add_children(struct hist *h, struct hist_stack *s, uint64_t number,
				  const struct hist_entry *leaf)
{
	struct hist_entry want = *leaf;
	struct hist_numbers numbers;

	for (uint32_t i = 0; i < s->depth; i++) {
		const struct hist_frame *f = frame_in(s->chain, i);

		if (!f->sym && h->spec->hide_unresolved)
			break;
		want.frame = f;
		if (h->spec->has[HIST_DSO_SIZE]) {
			numbers = *leaf->numbers;
			numbers.dso_size = f->map ? f->map->end - f->map->start : 0;
			want.numbers = &numbers;
		}
		want.filtered = leaf->filtered || hides_entry(h, f);
		want.ip = ip_in(h, s, i);
		if (f->level)
			want.level = f->level;
		struct sorted_entry *e = entry_get(h, &want);
		if (!e)
			return error_nomem();
		/* A stack is shown when a row that it counts for is. */
		if (hides_entries(h->spec) && !leaf->filtered)
			s->hidden &= e->he.filtered;
		/* perf compares with a time of 0, so that with "time" none is a repetition. */
		if (e->last_stack == number && !(h->spec->has[HIST_TIME] && s->time))
			continue;
		e->last_stack = number;
		sum_add(&e->he.acc, s->period);
		sum_add(&e->he.acc_latency, s->latency);
		if (!entry_add_chain(h, e, s, i) || !entry_add_samples(h, e, s))
			return error_nomem();
	}
	return NULL;
}

static struct error *stack_finish(struct hist *h, struct hist_stack *s, uint64_t number)
{
	struct hist_entry want = {
		.comm = s->comm,
		.thread = s->thread,
		.frame = s->leaf,
		.ip = s->ip,
		.level = s->level,
		.cpu = s->cpu,
		.time = s->time,
		.trace = s->trace,
		.cgroup = s->cgroup,
		.values = s->values,
		.numbers = s->numbers,
		.branch = s->branch,
		.access = s->access,
		.filtered = s->filtered || hides_stack(&h->spec->zoom, s),
	};

	if (h->spec->has[HIST_PARENT] && h->spec->parent) {
		for (uint32_t i = 0; i < s->depth && !want.parent; i++)
			if (parent_matches(h->spec, frame_in(s->chain, i)))
				want.parent = frame_in(s->chain, i)->sym;
		want.filtered |= h->spec->exclude_other && !want.parent;
	}
	const struct hist_entry of_sample = want;
	const bool misses = hides_entry(h, s->leaf);
	want.filtered |= misses;
	struct sorted_entry *e = entry_get(h, &want);
	if (!e)
		return error_nomem();
	e->last_stack = number;
	stat_add(&e->he.stat, s);
	sum_add(&e->he.acc, s->period);
	sum_add(&e->he.acc_latency, s->latency);
	if (!entry_add_chain(h, e, s, 0) || !entry_add_samples(h, e, s))
		return error_nomem();

	h->totals.samples += s->n;
	s->hidden = e->he.filtered; /* as the first sample of the entry */
	const bool counts = misses ? !of_sample.filtered : !s->hidden;
	if (counts)
		h->shown.samples += s->n;
	if (h->spec->use_chain) {
		sum_add(&h->totals.chain_period, s->period);
		if (counts)
			sum_add(&h->shown.chain_period, s->period);
	}
	return h->spec->children ? add_children(h, s, number, &of_sample) : NULL;
}

/*
 * Where "comm" is among the keys, perf goes over all entries once more and
 * puts them into a second tree. Addresses without a symbol compare by a
 * difference that wraps around, which is no total order, so that this may
 * change their places.
 */
static unsigned times_inserted(const struct hist_spec *spec)
{
	return spec->has[HIST_COMM] || spec->has[HIST_SRCLINE_FROM] || spec->has[HIST_SRCLINE_TO]
		       ? 2
		       : 1;
}

static struct sorted_entry *sorted_at(const struct hist *h, size_t i)
{
	return container_of(h->sorted.v[i], struct sorted_entry, he);
}

/* From h->sorted to the tree, and back in its order. */
static void insert_sorted(struct hist *h)
{
	for (unsigned times = times_inserted(h->spec); times; times--) {
		h->in = (struct rb_tree){0};
		for (size_t i = 0; i < h->sorted.n; i++)
			insert_in(h, sorted_at(h, i));
		h->sorted.n = 0;
		for (struct rb_node *rb = rb_first(&h->in); rb; rb = rb_next(rb))
			*vec_push(&h->sorted) = &entry_of_in(rb)->he;
	}
}

/* The entries of a live session take too much room, and fewer stacks would need less. */
static bool is_full(const struct hist *h)
{
	return h->spec->room && h->entry_arena.total > h->spec->room && hist_can_halve(h);
}

/* The entries, as they come. */
static struct error *collect(struct hist *h)
{
	for (size_t i = 0; i < h->stacks.n && !is_full(h); i++)
		if (!h->spec->live || h->stacks.v[i]->period || h->stacks.v[i]->n)
			TRY(stack_finish(h, h->stacks.v[i], i + 1));
	return NULL;
}

static struct error *collect_what_fits(struct hist *h)
{
	TRY(collect(h));
	while (is_full(h)) {
		hist_unfinish(h);
		TRY(hist_halve(h));
		TRY(collect(h));
	}
	return NULL;
}

/* By perf's search, as addresses without a symbol have no total order; NULL: none. */
static struct sorted_entry *find_equal(const struct hist *h, const struct hist_entry *he)
{
	struct rb_node *rb = h->in.root;

	while (rb) {
		const int64_t cmp = hist_entry_cmp(h->spec, &entry_of_in(rb)->he, he);

		if (!cmp)
			return entry_of_in(rb);
		rb = cmp < 0 ? rb->left : rb->right;
	}
	return NULL;
}

bool hist_entry_lead(struct hist *h, struct hist_entry *he, size_t n)
{
	he->members = arena_alloc(&h->entry_arena, n * sizeof(*he->members));
	he->n_members = n;
	if (he->members)
		he->members[0] = he;
	return he->members;
}

/* An entry of the leader's for one that only a member has. */
static struct sorted_entry *add_empty(struct hist *h, const struct hist_entry *of, size_t n)
{
	struct hist_entry want = *of;

	want.stat = (struct hist_stat){0};
	want.acc = want.acc_latency = 0;
	want.chain = NULL;
	struct sorted_entry *e = entry_new(h, &want);
	if (!e || !hist_entry_lead(h, &e->he, n))
		return NULL;
	insert_in(h, e);
	h->n_entries++;
	return e;
}

/* The i-th of n members: its entries go to the leader's that have their keys. */
static struct error *link_member(struct hist *leader, const struct hist *member, size_t i, size_t n)
{
	struct rb_node *rb;

	/* As perf: those that the leader has, in its order; then those that it lacks. */
	for (rb = rb_first(&leader->in); rb; rb = rb_next(rb)) {
		struct sorted_entry *e = entry_of_in(rb);
		struct sorted_entry *other = find_equal(member, &e->he);

		if (other) {
			e->he.members[i] = &other->he;
			other->is_linked = true;
		}
	}
	for (rb = rb_first(&member->in); rb; rb = rb_next(rb)) {
		struct sorted_entry *other = entry_of_in(rb);

		if (other->is_linked)
			continue;
		struct sorted_entry *e = find_equal(leader, &other->he);
		if (!e)
			e = add_empty(leader, &other->he, n);
		if (!e)
			return error_nomem();
		e->he.members[i] = &other->he;
	}
	return NULL;
}

/* Links the entries of a group; the leader comes first. */
static struct error *link_members(struct hist *const *hists, size_t n)
{
	struct hist *leader = hists[0];

	for (struct rb_node *rb = n > 1 ? rb_first(&leader->in) : NULL; rb; rb = rb_next(rb))
		if (!hist_entry_lead(leader, &entry_of_in(rb)->he, n))
			return error_nomem();
	for (size_t i = 1; i < n; i++)
		TRY(link_member(leader, hists[i], i, n));
	return NULL;
}

/* In the order in which they are collected, and the totals. in_tree: h->in has the order. */
static struct error *list_entries(struct hist *h, bool in_tree)
{
	bool done = false;

	if (in_tree) {
		h->sorted.n = 0;
		if (!vec_reserve(&h->sorted, h->n_entries + 1))
			return error_nomem();
		for (struct rb_node *rb = rb_first(&h->in); rb; rb = rb_next(rb))
			*vec_push(&h->sorted) = &entry_of_in(rb)->he;
	} else {
		if (!hist_order(h->spec, false, h->sorted.v, h->sorted.n, times_inserted(h->spec),
				&done))
			return error_nomem();
		if (!done)
			insert_sorted(h);
	}
	for (size_t i = 0; i < h->sorted.n; i++) {
		const struct hist_entry *he = h->sorted.v[i];

		sum_add(&h->totals.period, he->stat.period);
		sum_add(&h->totals.latency, he->stat.latency);
		if (he->filtered)
			continue;
		sum_add(&h->shown.period, he->stat.period);
		sum_add(&h->shown.latency, he->stat.latency);
	}
	h->in = (struct rb_tree){0};
	hist_count_branched(h);
	return NULL;
}

/* The order of the report. */
static struct error *put_in_order(struct hist *h)
{
	struct rb_tree out = {0};
	bool done;

	if (!hist_order(h->spec, true, h->sorted.v, h->sorted.n, 1, &done))
		return error_nomem();
	if (done)
		return NULL;
	for (size_t i = 0; i < h->sorted.n; i++)
		insert_out(h, &out, sorted_at(h, i));
	h->sorted.n = 0;
	for (struct rb_node *rb = rb_first(&out); rb; rb = rb_next(rb))
		*vec_push(&h->sorted) = &entry_of_in(rb)->he;
	return NULL;
}

struct error *hist_finish_group(struct hist *const *hists, size_t n)
{
	const bool hierarchy = hists[0]->spec->hierarchy;

	const bool links = n > 1 && !hierarchy;

	for (size_t i = 0; i < n; i++) {
		if (!hists[i]->spec->keeps)
			hist_samples_end(hists[i]);
		TRY(collect_what_fits(hists[i]));
		if (links)
			insert_sorted(hists[i]);
	}
	if (links)
		TRY(link_members(hists, n));
	for (size_t i = 0; i < n; i++)
		TRY(list_entries(hists[i], links));
	if (hierarchy)
		TRY(hist_make_levels(hists, n));
	for (size_t i = 0; i < n; i++) {
		if (!hierarchy && !hists[i]->spec->as_collected)
			TRY(put_in_order(hists[i]));
		if (!hists[i]->spec->keeps)
			hist_index_free(hists[i]);
	}
	return NULL;
}

void hist_unfinish(struct hist *h)
{
	free(steal_ptr(h->entry_slots));
	h->entry_mask = h->n_entries = h->n_levels = 0;
	memset(h->levels, 0, sizeof(h->levels));
	h->in = (struct rb_tree){0};
	h->sorted.n = 0;
	h->totals = h->shown = (struct result_totals){0};
	arena_deinit(&h->entry_arena);
	u64map_deinit(&h->entry_samples);
	hist_free(steal_ptr(h->shown_before));
}
