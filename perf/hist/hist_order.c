// SPDX-License-Identifier: BSD-2-Clause
/*
 * Entries in the order in which perf has them, by numbers.
 *
 * perf keeps entries in red-black trees. What it compares them by is not always a total order: the
 * addresses of code without a symbol are compared by a difference that wraps around, and of callers
 * with the same period the deeper one comes first, if both are of one thread. So where an entry is
 * depends on the tree, and on what was in it before.
 *
 * Each entry becomes a few words, the first of which is compared first: names are numbered in their
 * order, and what comes first has the smaller word. Where the words are a total order, sorting them
 * has the tree's result; else they are inserted into the tree, in which a comparison looks at one
 * place in memory. Keys that cannot be numbers are left to hist_fields_cmp().
 */
#include "perf/hist/internal.h"

#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 12

enum word_kind {
	WORD_PLAIN,
	WORD_WRAPS, /* by the difference, which wraps around */
	WORD_IF,    /* equal words: the next one is compared; else it is skipped */
};

struct numbered {
	struct u64map numbers; /* of a text, by its address; counted from 1 */
	VEC(const char *) list;
};

struct order {
	const struct hist_spec *spec;
	bool is_report;
	enum word_kind kinds[MAX_WORDS];
	size_t n_words;
	struct numbered names;
	char *all; /* struct ordered, in the order in which they came */
	size_t size, n;
};

struct ordered {
	const struct hist_entry *he;
	struct rb_node in;
	uint64_t words[];
};

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool numbered_add(struct numbered *names, const char *text)
{
	if (!text || u64map_get(&names->numbers, (uintptr_t)text))
		return true;
	const char **slot = vec_push(&names->list);
	if (slot)
		*slot = text;
	return slot && u64map_put(&names->numbers, (uintptr_t)text, (void *)1);
}

static bool numbered_finish(struct numbered *names)
{
	uintptr_t number = 0;
	bool ok = true;

	if (names->list.n)
		qsort(names->list.v, names->list.n, sizeof(*names->list.v), compare_texts);
	for (size_t i = 0; i < names->list.n; i++) {
		const char *text = names->list.v[i];

		number += !i || strcmp(names->list.v[i - 1], text) != 0;
		ok &= u64map_put(&names->numbers, (uintptr_t)text, (void *)number);
	}
	return ok;
}

/* What has no name comes last. */
static uint64_t number_of(const struct order *o, const char *text)
{
	return text ? (uintptr_t)u64map_get(&o->names.numbers, (uintptr_t)text) : UINT64_MAX;
}

static uint64_t signed_word(int64_t value)
{
	return (uint64_t)value ^ 1ull << 63;
}

/* The words of one key of an entry; false: it is not one that becomes words. */
static bool field_words(struct order *o, enum hist_field field, const struct hist_entry *he,
			uint64_t *words)
{
	const struct hist_frame *f = he->frame;
	const struct symbol *sym = f->sym;
	size_t n = o->n_words;

	if (n + 4 > MAX_WORDS)
		return false;
	switch (field) {
	case HIST_OVERHEAD_CHILDREN:
	case HIST_LATENCY_CHILDREN:
		if (!o->is_report || !o->spec->children)
			return true;
		words[n++] = ~hist_entry_measure(he, field);
		if (o->spec->use_chain) {
			const uint64_t depth = he->chain ? he->chain->depth : 0;

			o->kinds[n] = WORD_IF;
			words[n++] = (uintptr_t)he->thread;
			words[n++] = o->spec->chain.caller ? ~depth : depth;
		}
		break;
	case HIST_COMM:
		words[n++] = number_of(o, he->comm);
		break;
	case HIST_DSO:
		words[n++] = number_of(o, f->dso_name);
		break;
	case HIST_PID:
	case HIST_TID:
		words[n++] = signed_word(he->thread->tid);
		break;
	case HIST_CPU:
		words[n++] = signed_word(he->cpu);
		break;
	case HIST_SYMBOL:
		if (o->is_report) {
			words[n++] = number_of(o, f->sym_name);
			break;
		}
		words[n++] = !sym;
		o->kinds[n] = WORD_WRAPS;
		words[n++] = signed_word((int64_t)(sym ? sym->start : he->ip));
		o->kinds[n] = WORD_WRAPS;
		words[n++] = signed_word((int64_t)(sym ? sym->end : 0));
		words[n++] = number_of(o, f->sym_name);
		break;
	default:
		if (field >= HIST_N_MEASURES)
			return false;
		if (o->is_report)
			words[n++] = ~hist_entry_measure(he, field);
		break;
	}
	o->n_words = n;
	return true;
}

/* What is inlined is compared by its name with other symbols, which has no order. */
static bool is_orderly(const struct order *o, const struct hist_entry *he)
{
	return !he->n_members &&
	       (o->is_report || !o->spec->has[HIST_SYMBOL] ||
		(o->spec->has[HIST_DSO] && !(he->frame->sym && he->frame->sym->inlined)));
}

static bool entry_words(struct order *o, const struct hist_entry *he, uint64_t *words)
{
	o->n_words = 0;
	for (size_t i = 0; i < o->spec->n_sort; i++) {
		const enum hist_field field = o->spec->sort[i];

		if (o->is_report && o->spec->elide[field])
			continue;
		if (!field_words(o, field, he, words))
			return false;
	}
	if (!o->is_report)
		words[o->n_words++] = he->filtered;
	return o->n_words <= MAX_WORDS;
}

static bool collect_names(struct order *o, const struct hist_entry *const *v)
{
	for (size_t i = 0; i < o->n; i++)
		if (!numbered_add(&o->names, v[i]->comm) ||
		    !numbered_add(&o->names, v[i]->frame->dso_name) ||
		    !numbered_add(&o->names, v[i]->frame->sym_name))
			return false;
	return numbered_finish(&o->names);
}

static struct ordered *ordered_at(const struct order *o, size_t i)
{
	return (struct ordered *)(o->all + i * o->size);
}

/* < 0: a comes first. */
static inline int words_cmp(const struct order *o, const uint64_t *a, const uint64_t *b)
{
	for (size_t i = 0; i < o->n_words; i++) {
		if (a[i] == b[i])
			continue;
		if (o->kinds[i] == WORD_IF) {
			i++;
			continue;
		}
		if (o->kinds[i] == WORD_WRAPS)
			return (int64_t)(a[i] - b[i]) < 0 ? -1 : 1;
		return a[i] < b[i] ? -1 : 1;
	}
	return 0;
}

static bool plainly_after(const struct order *o, const struct ordered *a, const struct ordered *b)
{
	for (size_t i = 0; i < o->n_words; i++)
		if (a->words[i] != b->words[i])
			return a->words[i] > b->words[i];
	return false;
}

/* A bottom-up merge sort: stable. to: room for as many. Which of both has the result. */
static struct ordered **merge_sort(const struct order *o, struct ordered **from,
				   struct ordered **to, size_t n)
{
	for (size_t width = 1; width < n; width *= 2) {
		for (size_t lo = 0; lo < n; lo += 2 * width) {
			const size_t mid = min_of(lo + width, n), hi = min_of(lo + 2 * width, n);
			size_t a = lo, b = mid;

			for (size_t k = lo; k < hi; k++)
				to[k] = b == hi || (a < mid && !plainly_after(o, from[a], from[b]))
						? from[a++]
						: from[b++];
		}
		struct ordered **swap = from;
		from = to;
		to = swap;
	}
	return from;
}

/* Whether the differences of what is compared by them have not wrapped around. */
static bool is_total(const struct order *o, struct ordered *const *v, size_t n)
{
	const size_t size = sizeof(*v[0]->words);

	for (size_t w = 0; w < o->n_words; w++) {
		if (o->kinds[w] != WORD_WRAPS)
			continue;
		for (size_t i = 1, first = 0; i < n; i++) {
			if (memcmp(v[first]->words, v[i]->words, w * size))
				first = i;
			if (v[i]->words[w] - v[first]->words[w] > INT64_MAX)
				return false;
		}
	}
	return true;
}

/* By the tree, into which they come one after another. */
static void insert_all(const struct order *o, struct ordered **v, size_t n)
{
	struct rb_tree tree = {0};

	for (size_t i = 0; i < n; i++) {
		struct rb_node **link = &tree.root, *parent = NULL;

		while (*link) {
			parent = *link;
			link = words_cmp(o, v[i]->words,
					 container_of(parent, struct ordered, in)->words) < 0
				       ? &parent->left
				       : &parent->right;
		}
		rb_insert(&tree, &v[i]->in, parent, link);
	}
	size_t i = 0;
	for (struct rb_node *rb = rb_first(&tree); rb; rb = rb_next(rb))
		v[i++] = container_of(rb, struct ordered, in);
}

static bool has_kind(const struct order *o, enum word_kind kind)
{
	for (size_t i = 0; i < o->n_words; i++)
		if (o->kinds[i] == kind)
			return true;
	return false;
}

/* Sorts by v, which has room for two pointers to each; the result is in one half of it. */
static struct ordered **put_in_order(const struct order *o, struct ordered **v, unsigned times)
{
	struct ordered **sorted = v;

	for (size_t i = 0; i < o->n; i++)
		v[i] = ordered_at(o, i);
	if (!has_kind(o, WORD_IF)) {
		sorted = merge_sort(o, v, v + o->n, o->n);
		if (is_total(o, sorted, o->n))
			return sorted;
		for (size_t i = 0; i < o->n; i++)
			sorted[i] = ordered_at(o, i);
	}
	while (times--)
		insert_all(o, sorted, o->n);
	return sorted;
}

/* *ok: all of them have words. */
static bool make_words(struct order *o, const struct hist_entry *const *v, bool *ok)
{
	uint64_t words[MAX_WORDS];

	*ok = true;
	for (size_t i = 0; i < o->n && *ok; i++) {
		*ok = is_orderly(o, v[i]) && entry_words(o, v[i], words);
		if (!*ok)
			break;
		if (!o->all) {
			o->size = sizeof(struct ordered) + o->n_words * sizeof(*words);
			o->all = malloc(o->n * o->size);
			if (!o->all)
				return false;
		}
		struct ordered *to = ordered_at(o, i);
		to->he = v[i];
		memcpy(to->words, words, o->n_words * sizeof(*words));
	}
	return true;
}

static bool order_by(struct order *o, const struct hist_entry **v, unsigned times, bool *done)
{
	*done = false;
	if (!collect_names(o, v) || !make_words(o, v, done))
		return false;
	if (!*done)
		return true;
	_cleanup_free_ struct ordered **work = malloc(2 * o->n * sizeof(*work));
	if (!work)
		return false;
	struct ordered **sorted = put_in_order(o, work, times);
	for (size_t i = 0; i < o->n; i++)
		v[i] = sorted[i]->he;
	return true;
}

bool hist_order(const struct hist_spec *spec, bool is_report, const struct hist_entry **v, size_t n,
		unsigned times, bool *done)
{
	struct order o = {.spec = spec, .is_report = is_report, .n = n};
	bool ok = true;

	*done = !n;
	if (n)
		ok = order_by(&o, v, times, done);
	free(o.all);
	u64map_deinit(&o.names.numbers);
	vec_deinit(&o.names.list);
	return ok;
}
