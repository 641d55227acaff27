// SPDX-License-Identifier: BSD-2-Clause
/* hist_order() against red-black trees that are searched by perf's comparisons. */
#include <stdlib.h>

#include "perf/hist/internal.h"

#define N 3000

struct world {
	struct hist_spec spec;
	struct hist_frame frames[40];
	struct symbol symbols[40];
	struct dso dso;
	struct thread threads[3];
	struct stack_tree trees[4];
	struct hist_entry entries[N];
	const struct hist_entry *in_order[N], *expected[N];
	struct {
		struct rb_node rb;
		const struct hist_entry *he;
	} nodes[N];
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 16 ^ *state << 32;
}

static struct world *world_new(const char *sort, bool garbage)
{
	static const char *const comms[] = {"sh", "cc1", "ninja", "as"};
	static const char *const dsos[] = {"libc.so.6", "cc1", "[kernel.kallsyms]"};
	static const char *const names[] = {"main", "a", "b", "_init", "zz"};
	struct hist_spec_opts opts = {.sz = sizeof(opts), .sort = sort, .children = true};
	struct world *w = calloc(1, sizeof(*w));
	uint64_t state = 1;

	assert_non_null(w);
	assert_null(hist_spec_init(&w->spec, &opts));
	w->spec.use_chain = true;
	for (size_t i = 0; i < ARRAY_SIZE(w->frames); i++) {
		w->symbols[i].start = next_random(&state) % 64 * 16;
		w->symbols[i].end = w->symbols[i].start + 16;
		w->symbols[i].name = names[i % ARRAY_SIZE(names)];
		w->frames[i].dso_name = i % 7 ? dsos[i % ARRAY_SIZE(dsos)] : NULL;
		if (i % 2) {
			w->frames[i].sym = &w->symbols[i];
			w->frames[i].sym_name = w->symbols[i].name;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(w->trees); i++)
		w->trees[i].depth = (uint32_t)i;
	for (size_t i = 0; i < N; i++) {
		const uint64_t r = next_random(&state);

		w->entries[i] = (struct hist_entry){
			.comm = comms[r % ARRAY_SIZE(comms)],
			.frame = &w->frames[r / 16 % ARRAY_SIZE(w->frames)],
			.thread = &w->threads[r / 4 % ARRAY_SIZE(w->threads)],
			.ip = garbage ? next_random(&state) : next_random(&state) >> 20,
			.acc = r / 1024 % 8,
			.stat.period = r / 4096 % 3,
			.chain = &w->trees[r / 65536 % ARRAY_SIZE(w->trees)],
		};
		w->in_order[i] = &w->entries[i];
	}
	return w;
}

/* As perf does, once more in the order of the first tree if times is 2. */
static void expect(struct world *w, bool is_report, unsigned times)
{
	for (size_t i = 0; i < N; i++)
		w->expected[i] = &w->entries[i];
	while (times--) {
		struct rb_tree tree = {0};
		size_t n = 0;

		for (size_t i = 0; i < N; i++) {
			struct rb_node **link = &tree.root, *parent = NULL;
			const struct hist_entry *he = w->expected[i];

			while (*link) {
				parent = *link;
				const struct hist_entry *at =
					w->nodes[container_of(parent, typeof(w->nodes[0]), rb) -
						 w->nodes]
						.he;
				const bool first = is_report ? hist_entry_sort(&w->spec, he, at) > 0
							     : hist_entry_cmp(&w->spec, at, he) < 0;
				link = first ? &parent->left : &parent->right;
			}
			w->nodes[i].he = he;
			rb_insert(&tree, &w->nodes[i].rb, parent, link);
		}
		for (struct rb_node *rb = rb_first(&tree); rb; rb = rb_next(rb))
			w->expected[n++] = container_of(rb, typeof(w->nodes[0]), rb)->he;
	}
}

static void check(const char *sort, bool garbage, bool is_report, unsigned times)
{
	struct world *w = world_new(sort, garbage);
	bool done;

	expect(w, is_report, times);
	assert_true(hist_order(&w->spec, is_report, w->in_order, N, times, &done));
	assert_true(done);
	for (size_t i = 0; i < N; i++)
		assert_ptr_equal(w->in_order[i], w->expected[i]);
	free(w);
}

TEST(test_order_of_perfs_trees)
{
	for (int garbage = 0; garbage < 2; garbage++) {
		check("comm,dso,sym", garbage, false, 2);
		check("dso,sym", garbage, false, 1);
		check("sym,dso,comm", garbage, false, 2);
		check("comm,dso,sym", garbage, true, 1);
		check("comm,dso", garbage, true, 1);
	}
}

/* Keys without numbers, and names of what is inlined, are left to the comparison. */
TEST(test_keys_without_order)
{
	struct world *w = world_new("comm,sym", false);
	bool done = true;

	assert_true(hist_order(&w->spec, false, w->in_order, N, 2, &done));
	assert_false(done);
	free(w);
	w = world_new("comm,dso,sym", false);
	w->symbols[1].inlined = true;
	assert_true(hist_order(&w->spec, false, w->in_order, N, 2, &done));
	assert_false(done);
	for (size_t i = 0; i < N; i++)
		assert_ptr_equal(w->in_order[i], &w->entries[i]);
	free(w);
}
