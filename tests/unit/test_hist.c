// SPDX-License-Identifier: BSD-2-Clause
/* perf/hist, perf/resolve and show/: on a made-up process whose names come from a JIT's map. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf/hist/diff.h"
#include "perf/hist/hist_samples.h"
#include "perf/hist/internal.h"
#include "show/perf_text.h"
#include "show/table.h"
#include "show/tree.h"
#include "tests/unit/image.h"

#define BASE 0x10000
enum {
	MAIN = BASE + 0x10,
	A = BASE + 0x110,
	B = BASE + 0x210,
	C = BASE + 0x310,
	NONE = BASE + 0x9010
};

struct world {
	struct session *session;
	struct resolver *resolver;
	char map_path[64];
};

static void fill(struct image *im)
{
	image_comm(im, (int)getpid(), (int)getpid(), "alpha", 0, 0);
	image_mmap2(im, (int)getpid(), BASE, 0x10000, 0, "//anon", 0);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct image im = {0};
	struct session_tool tool = {0};
	struct resolver_opts opts = {.sz = sizeof(opts)};
	char path[64];

	image_file(&im, fill);
	int fd = memfd_create("perf.data", 0);
	assert_int_equal(write(fd, im.sb.str, im.sb.len), im.sb.len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_null(session_open(path, NULL, &w->session));
	assert_null(session_process(w->session, &tool));
	close(fd);
	strbuf_deinit(&im.sb);

	snprintf(w->map_path, sizeof(w->map_path), "/tmp/perf-%d.map", (int)getpid());
	FILE *f = fopen(w->map_path, "we");
	assert_non_null(f);
	fprintf(f, "%x 100 main\n%x 100 a\n%x 100 b\n%x 100 c\n", BASE, BASE + 0x100, BASE + 0x200,
		BASE + 0x300);
	fclose(f);
	assert_null(resolver_new(w->session, &opts, &w->resolver));
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	unlink(w->map_path);
	resolver_free(w->resolver);
	session_free(w->session);
	free(w);
	return 0;
}

static struct thread *thread_of(struct world *w)
{
	return session_thread(w->session, (int)getpid(), (int)getpid());
}

/* A sample whose chain is ips[0 … n), innermost first, all in user space. */
static const struct hist_context alone = {.parallelism = 1};

static struct sample sample_make(const uint64_t *ips, size_t n, uint64_t period, uint64_t *buf)
{
	buf[0] = PERF_CONTEXT_USER;
	memcpy(buf + 1, ips, n * sizeof(*ips));
	return (struct sample){
		.ip = ips[0],
		.period = period,
		.cpumode = PERF_RECORD_MISC_USER,
		.chain = {.bytes = (uint8_t *)buf, .n = n + 1},
		.cpu = 1,
	};
}

static void add(struct world *w, struct hist *h, uint64_t period, bool filtered, size_t n,
		const uint64_t *ips)
{
	uint64_t buf[16];
	struct sample s = sample_make(ips, n, period, buf);
	struct location leaf;

	resolve_addr(w->resolver, thread_of(w), s.cpumode, s.ip, &leaf);
	assert_null(hist_add(h, &s, session_event(w->session, 0), thread_of(w), &leaf, &alone,
			     filtered));
}

#define ADD(w, h, period, filtered, ...)                                                           \
	add(w, h, period, filtered, sizeof((uint64_t[]){__VA_ARGS__}) / 8,                         \
	    (uint64_t[]){__VA_ARGS__})

static struct hist_spec spec_make(const char *sort, bool children, bool caller)
{
	struct hist_spec_opts opts = {.sz = sizeof(opts), .sort = sort, .children = children};
	struct hist_spec spec;

	assert_null(hist_spec_init(&spec, &opts));
	spec.use_chain = true;
	spec.chain.caller = caller;
	return spec;
}

static const struct hist_entry *entry(const struct hist *h, const char *name)
{
	for (size_t i = 0; i < hist_size(h); i++) {
		const struct symbol *sym = hist_at(h, i)->frame->sym;

		if (hist_at(h, i)->filtered)
			continue;
		if (sym ? !strcmp(sym->name, name) : !*name)
			return hist_at(h, i);
	}
	fail_msg("no entry %s", name);
	return NULL;
}

TEST_WITH(test_resolve, setup, teardown)
{
	struct world *w = *state;
	struct location loc, chain[4];
	uint64_t ips[] = {PERF_CONTEXT_USER, C, B, NONE, MAIN};
	struct sample s = {.chain = {.bytes = (uint8_t *)ips, .n = 5}};

	resolve_addr(w->resolver, thread_of(w), PERF_RECORD_MISC_USER, A, &loc);
	assert_string_equal(loc.sym->name, "a");
	assert_int_equal(loc.offset, 0x10);
	assert_string_equal(loc.map->dso->path, w->map_path);
	resolve_addr(w->resolver, thread_of(w), PERF_RECORD_MISC_USER, 0x50000, &loc);
	assert_null(loc.map);
	assert_null(loc.sym);
	resolve_addr(w->resolver, thread_of(w), PERF_RECORD_MISC_KERNEL, A, &loc);
	assert_null(loc.map);
	resolve_addr_any(w->resolver, thread_of(w), A, &loc);
	assert_non_null(loc.sym);

	assert_int_equal(resolve_chain(w->resolver, thread_of(w), &s, chain, 4), 4);
	assert_string_equal(chain[0].sym->name, "c");
	assert_string_equal(chain[1].sym->name, "b");
	assert_non_null(chain[2].map);
	assert_null(chain[2].sym);
	assert_string_equal(chain[3].sym->name, "main");
	assert_int_equal(resolve_chain(w->resolver, thread_of(w), &s, chain, 2), 2);
	ips[2] = (uint64_t)-4000; /* no context that there is */
	assert_int_equal(resolve_chain(w->resolver, thread_of(w), &s, chain, 4), 0);
}

TEST_WITH(test_children, setup, teardown)
{
	struct world *w = *state;
	struct hist_spec spec = spec_make("comm,dso,sym", true, true);
	struct hist *h;

	assert_null(hist_new(&spec, w->resolver, &h));
	ADD(w, h, 10, false, C, A, MAIN);
	ADD(w, h, 20, false, C, B, MAIN);
	ADD(w, h, 30, false, A, MAIN);
	ADD(w, h, 10, false, C, A, MAIN);
	/* Recursion: counted once for a. */
	ADD(w, h, 5, false, A, A, A, MAIN);
	ADD(w, h, 25, true, B, MAIN);
	assert_null(hist_finish_group(&h, 1));

	const struct result_totals *t = hist_totals(h);
	assert_int_equal(t->period, 100);
	assert_int_equal(t->samples, 6);
	/* Of what is filtered, b and main are entries of their own. */
	assert_int_equal(hist_size(h), 6);
	assert_int_equal(entry(h, "main")->acc, 75);
	assert_int_equal(entry(h, "main")->stat.period, 0);
	assert_int_equal(entry(h, "a")->acc, 55);
	assert_int_equal(entry(h, "a")->stat.period, 35);
	assert_int_equal(entry(h, "a")->stat.n, 2);
	assert_int_equal(entry(h, "c")->acc, 40);
	assert_int_equal(entry(h, "c")->stat.period, 40);
	/* Largest total first. */
	assert_string_equal(hist_at(h, 0)->frame->sym->name, "main");
	assert_string_equal(hist_at(h, 1)->frame->sym->name, "a");

	/* main → a (55), b (20); below a: c 20, a 5. */
	size_t n;
	_cleanup_arena_ struct arena arena = {0};
	const struct stack_node *root = &entry(h, "main")->chain->root;
	const struct stack_node **kids = stack_node_children(root, 0, &arena, &n);
	assert_int_equal(n, 1);
	assert_int_equal(kids[0]->n_frames, 1);
	assert_string_equal(kids[0]->frames[0]->name, "main");
	const struct stack_node **below = stack_node_children(kids[0], 0, &arena, &n);
	assert_int_equal(n, 2);
	assert_int_equal(stack_node_total(below[0]), 55);
	assert_int_equal(stack_node_samples(below[0]), 4);
	assert_int_equal(below[0]->self, 30);
	assert_int_equal(stack_node_total(below[1]), 20);
	assert_ptr_equal(below[1]->parent, kids[0]);
	/* Under the limit. */
	below = stack_node_children(kids[0], 50, &arena, &n);
	assert_int_equal(n, 1);
	hist_free(h);
}

TEST_WITH(test_no_children, setup, teardown)
{
	struct world *w = *state;
	struct hist_spec spec = spec_make("sym", false, false);
	struct hist *h;

	assert_null(hist_new(&spec, w->resolver, &h));
	ADD(w, h, 10, false, C, A, MAIN);
	ADD(w, h, 20, false, C, B, MAIN);
	ADD(w, h, 7, false, NONE, MAIN);
	ADD(w, h, 1, true, NONE + 1, MAIN);
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(hist_size(h), 3);
	assert_int_equal(entry(h, "c")->stat.period, 30);
	assert_int_equal(hist_at(h, 1)->ip, NONE);
	assert_true(hist_at(h, 2)->filtered);
	assert_int_equal(hist_shown_totals(h)->period, 37);
	assert_int_equal(hist_totals(h)->period, 38);
	assert_int_equal(hist_shown_totals(h)->samples, 3);

	/* Callee first: c, then what called it; flat gives whole chains. */
	size_t n;
	_cleanup_arena_ struct arena arena = {0};
	const struct stack_node *root = &entry(h, "c")->chain->root;
	const struct stack_node **nodes = stack_node_children(root, 0, &arena, &n);
	assert_int_equal(n, 1);
	assert_int_equal(nodes[0]->n_frames, 1);
	assert_string_equal(nodes[0]->frames[0]->name, "c");
	nodes = stack_node_ends(root, 0, &arena, &n);
	assert_int_equal(n, 2);
	assert_int_equal(nodes[0]->self, 20);
	assert_int_equal(nodes[1]->self, 10);
	hist_free(h);
}

TEST_WITH(test_max_stack_and_parent, setup, teardown)
{
	struct world *w = *state;
	struct hist_spec spec = spec_make("parent", false, true);
	regex_t parent;
	struct hist *h;

	assert_int_equal(regcomp(&parent, "^a$", REG_EXTENDED), 0);
	spec.parent = &parent;
	spec.max_stack = 2;
	assert_null(hist_new(&spec, w->resolver, &h));
	ADD(w, h, 10, false, C, A, MAIN);
	ADD(w, h, 20, false, C, B, MAIN);
	/* With the caller first the outermost two are kept: a is not among them. */
	ADD(w, h, 40, false, C, A, B, MAIN);
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(hist_size(h), 2);
	assert_null(hist_at(h, 0)->parent);
	assert_int_equal(hist_at(h, 0)->stat.period, 60);
	assert_string_equal(hist_at(h, 1)->parent->name, "a");
	hist_free(h);
	regfree(&parent);
}

/* What the stacks of all samples add up to, and how many there are. */
static uint64_t stacks_total(const struct hist *h, size_t *n)
{
	const struct hist_results_opts opts = {.name = "cycles", .unit = "events", .stacks = true};
	_cleanup_results_ struct results results = {0};

	assert_null(hist_results(h, &opts, &results));
	/* mappings stay with the frames */
	const struct result *stacks = &results.v[results.n - 1];
	assert_int_equal(stacks->kind, RESULT_STACKS);
	assert_int_equal(stacks->stacks[0].frames[0]->mapping->start, BASE);
	assert_int_equal(results.n, 2);
	assert_int_equal(results.v[1].kind, RESULT_STACKS);
	*n = results.v[1].n_stacks;
	return results.v[1].total;
}

/* A sum of periods that is too large is the largest number, and the results say so. */
TEST_WITH(test_sums_that_are_too_large, setup, teardown)
{
	struct world *w = *state;
	struct hist_spec spec = spec_make("symbol", true, true);
	_cleanup_(hist_freep) struct hist *h = NULL;
	const struct hist_results_opts opts = {.name = "cycles", .unit = "events", .stacks = true};
	const struct chain_opts chain = {.mode = CHAIN_NONE};
	const struct perf_text_opts text_opts = {.chain = &chain};
	_cleanup_results_ struct results results = {0};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	assert_null(hist_new(&spec, w->resolver, &h));
	ADD(w, h, UINT64_MAX - 1, false, A, MAIN);
	ADD(w, h, 10, false, A, MAIN);
	ADD(w, h, 10, false, B, MAIN);
	assert_null(hist_finish_group(&h, 1));
	assert_true(entry(h, "a")->stat.period == UINT64_MAX);
	assert_int_equal(entry(h, "b")->stat.period, 10);
	assert_true(entry(h, "main")->acc == UINT64_MAX);
	assert_true(hist_totals(h)->period == UINT64_MAX);
	assert_null(hist_results(h, &opts, &results));
	assert_int_equal(results.n, 2);
	assert_true(results.v[1].total == UINT64_MAX);
	for (size_t i = 0; i < results.n; i++)
		assert_non_null(strstr(results.v[i].note, "larger than 18446744073709551615"));
	assert_null(perf_text(&results, &text_opts, NULL, &text));
	assert_non_null(strstr(text.str, "(approx.): at least 18446744073709551615\n"));
}

/* The stacks are those that the rows of the table are made of. */
TEST_WITH(test_stacks_of_symbol_filter, setup, teardown)
{
	struct world *w = *state;

	for (int children = 0; children < 2; children++) {
		struct hist_spec spec = spec_make("symbol", children, true);
		_cleanup_(hist_freep) struct hist *h = NULL;
		size_t n;

		spec.symbol_filter = "a";
		assert_null(hist_new(&spec, w->resolver, &h));
		ADD(w, h, 100, false, B, A, MAIN); /* called by "a" and "main" */
		ADD(w, h, 20, false, C);
		ADD(w, h, 3, true, B, A);
		ADD(w, h, 4000, false, A);
		assert_null(hist_finish_group(&h, 1));
		assert_int_equal(stacks_total(h, &n), children ? 4100 : 4000);
		assert_int_equal(n, children ? 2 : 1);
	}
}

/* Without call chains, a stack is its innermost function, with and without children. */
TEST_WITH(test_stacks_without_chains, setup, teardown)
{
	struct world *w = *state;

	for (int children = 0; children < 2; children++) {
		struct hist_spec spec = spec_make("symbol", children, true);
		_cleanup_(hist_freep) struct hist *h = NULL;
		size_t n;

		spec.use_chain = false;
		assert_null(hist_new(&spec, w->resolver, &h));
		ADD(w, h, 100, false, B, A, MAIN);
		ADD(w, h, 20, false, B, C);
		ADD(w, h, 3, false, A, B);
		assert_null(hist_finish_group(&h, 1));
		assert_int_equal(stacks_total(h, &n), 123);
		assert_int_equal(n, 2);
	}
}

static size_t n_shown(const struct hist *h)
{
	size_t n = 0;

	for (size_t i = 0; i < hist_size(h); i++)
		n += !hist_at(h, i)->filtered;
	return n;
}

/* What was counted once is summed up again by other keys, and in part. */
TEST_WITH(test_again, setup, teardown)
{
	struct world *w = *state;
	struct hist_spec spec = spec_make("comm,dso,sym", true, false);
	struct hist *h;

	spec.keeps = true;
	assert_null(hist_new(&spec, w->resolver, &h));
	ADD(w, h, 50, false, A, MAIN);
	ADD(w, h, 30, false, B, MAIN);
	ADD(w, h, 20, true, C, MAIN);
	for (int round = 0; round < 2; round++) {
		assert_null(hist_finish_group(&h, 1));
		assert_int_equal(entry(h, "main")->acc, 80);
		assert_int_equal(entry(h, "a")->stat.period, 50);
		assert_int_equal(n_shown(h), 3);
		assert_int_equal(hist_totals(h)->period, 100);
		assert_int_equal(hist_shown_totals(h)->period, 80);
		hist_unfinish(h);
	}
	const struct hist_spec first = spec;
	spec = spec_make("comm", false, false);
	spec.keeps = true;
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(n_shown(h), 1);
	assert_int_equal(hist_shown_totals(h)->period, 80);
	hist_unfinish(h);
	spec = first;
	spec.zoom.symbol = "b";
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(n_shown(h), 1);
	assert_int_equal(entry(h, "b")->stat.period, 30);
	hist_unfinish(h);
	spec = first;
	spec.zoom.comm = "beta";
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(n_shown(h), 0);
	assert_int_equal(hist_totals(h)->period, 100);
	hist_unfinish(h);
	spec.zoom = (struct hist_zoom){.tid = (int)getpid(), .dso = w->map_path, .no_kernel = true};
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(n_shown(h), 3);
	hist_unfinish(h);
	spec.zoom.no_user = true;
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(n_shown(h), 0);
	hist_unfinish(h);
	spec.zoom = (struct hist_zoom){.tid = (int)getpid() + 1};
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(n_shown(h), 0);
	hist_free(h);
}

/* Of a live session: what was counted loses weight, and its memory is given back. */
TEST_WITH(test_fade, setup, teardown)
{
	struct world *w = *state;
	struct hist_spec spec = spec_make("comm,dso,sym", true, false);
	struct hist *h;

	spec.keeps = spec.live = true;
	assert_null(hist_new(&spec, w->resolver, &h));
	/* one sample each, of as many CPUs: their sum fades, not each by itself */
	for (int i = 0; i < 4000; i++) {
		uint64_t ips[] = {A, MAIN}, buf[4];
		struct sample s = sample_make(ips, 2, 1, buf);
		struct location leaf;

		s.cpu = (uint32_t)i;
		resolve_addr(w->resolver, thread_of(w), s.cpumode, s.ip, &leaf);
		assert_null(hist_add(h, &s, session_event(w->session, 0), thread_of(w), &leaf,
				     &alone, false));
	}
	ADD(w, h, 800000, false, B, MAIN);
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(entry(h, "a")->stat.period, 4000);
	hist_unfinish(h);
	hist_fade(h, false);
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(entry(h, "a")->stat.period, 3500);
	assert_int_equal(entry(h, "b")->stat.period, 700000);
	assert_int_equal(entry(h, "main")->acc, 703500);
	hist_unfinish(h);
	/* those with a period of 1 fade first */
	for (int i = 0; i < 8; i++)
		hist_fade(h, false);
	assert_null(hist_forget(h));
	assert_int_equal(h->stacks.n, 1); /* the others were forgotten */
	ADD(w, h, 100, false, B, MAIN);
	assert_int_equal(h->stacks.n, 1); /* it is found again */
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(n_shown(h), 2);
	assert_string_equal(entry(h, "b")->frame->dso_name, entry(h, "main")->frame->dso_name);
	assert_int_equal(entry(h, "b")->thread->tid, (int)getpid());
	hist_unfinish(h);
	hist_fade(h, true);
	assert_null(hist_forget(h));
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(n_shown(h), 0);
	assert_int_equal(hist_kept(h).thinned, 0);
	hist_free(h);
}

/* Chains of eight addresses each that no other has; every second sample is one of b. */
static void add_different(struct world *w, struct hist *h, uint64_t first, int n)
{
	for (int i = 0; i < n; i++) {
		const uint64_t at = first + (uint64_t)i * 64;

		ADD(w, h, 1000, false, at, at + 1, at + 2, at + 3, at + 4, at + 5, at + 6, at + 7);
		ADD(w, h, 1000, false, B, MAIN);
	}
}

static size_t stacks_that_count(const struct hist *h, uint64_t *period)
{
	size_t n = 0;

	*period = 0;
	for (size_t i = 0; i < h->stacks.n; i++) {
		*period += h->stacks.v[i]->period;
		n += h->stacks.v[i]->period > 0;
	}
	return n;
}

/* However many samples differ, so many are kept as there is room for; sums stay what they are. */
TEST_WITH(test_room, setup, teardown)
{
	enum { ROOM = 512 << 10, N = 20000 };
	const uint64_t first = 1 << 20;
	struct world *w = *state;
	struct hist_spec spec = spec_make("pid,dso,sym", true, false);
	struct hist *h;
	uint64_t period;

	spec.keeps = spec.live = true;
	spec.room = ROOM;
	assert_null(hist_new(&spec, w->resolver, &h));
	for (int i = 0; i < N; i += 100) {
		add_different(w, h, first + (uint64_t)i * 64, 100);
		/* a block more than the room, and what the last 200 samples needed */
		assert_in_range(h->arena.total, 1, ROOM + (512 << 10));
		assert_in_range(h->frames.n, 1, ROOM / 100);
		assert_in_range(h->owned.threads.n, 1, 1);
	}
	assert_in_range(stacks_that_count(h, &period), 64, ROOM / 1000);
	assert_in_range(period, 2ull * N * 1000 * 99 / 100, 2ull * N * 1000);
	assert_in_range(hist_kept(h).thinned, N / 2, N);
	/* what there are many samples of is exact, as if all were kept */
	assert_null(hist_finish_group(&h, 1));
	assert_in_range(h->entry_arena.total, 1, ROOM + (256 << 10));
	assert_int_equal(entry(h, "b")->stat.period, N * 1000);
	assert_int_equal(entry(h, "b")->stat.n, N);
	assert_in_range(hist_totals(h)->period, 2ull * N * 1000 * 98 / 100, 2ull * N * 1000);
	assert_in_range(hist_totals(h)->samples, 2ull * N * 97 / 100, 2ull * N * 103 / 100);
	/* what was made of them is there while others are counted, and new memory is used */
	const struct hist_entry *b = entry(h, "b");
	const struct stack_tree *tree = b->chain;
	add_different(w, h, first << 10, N / 10);
	assert_non_null(h->shown_before);
	assert_null(h->shown_before->shown_before);
	assert_int_equal(b->stat.n, N);
	assert_int_equal(tree->depth, 2);
	assert_string_equal(b->comm, "alpha");
	hist_unfinish(h);
	assert_null(h->shown_before);
	hist_free(h);
}

TEST(test_spec)
{
	struct hist_spec_opts opts = {.sz = sizeof(opts), .children = true};
	struct hist_spec spec;

	assert_null(hist_spec_init(&spec, &opts));
	assert_int_equal(spec.n_sort, 5);
	assert_int_equal(spec.sort[0], HIST_OVERHEAD_CHILDREN);
	assert_int_equal(spec.sort[1], HIST_OVERHEAD);
	assert_int_equal(spec.sort[4], HIST_SYMBOL);
	assert_string_equal(hist_field_title(&spec, HIST_OVERHEAD), "Self");
	hist_spec_cancel_children(&spec);
	assert_int_equal(spec.n_out, 4);
	assert_string_equal(hist_field_title(&spec, HIST_OVERHEAD), "Overhead");

	opts = (struct hist_spec_opts){
		.sz = sizeof(opts), .sort = "+cpu", .tracepoints_only = true};
	assert_null(hist_spec_init(&spec, &opts));
	assert_int_equal(spec.n_out, 3);
	assert_int_equal(spec.out[1], HIST_TRACE);
	assert_int_equal(spec.out[2], HIST_CPU);

	opts = (struct hist_spec_opts){.sz = sizeof(opts), .fields = "sym,period"};
	assert_null(hist_spec_init(&spec, &opts));
	assert_int_equal(spec.n_out, 2);
	assert_int_equal(spec.n_sort, 2);

	opts = (struct hist_spec_opts){.sz = sizeof(opts), .sort = "comm,symbo1"};
	struct error *err = hist_spec_init(&spec, &opts);
	assert_non_null(err);
	assert_int_equal(err->code, EINVAL);
	assert_non_null(strstr(err->msg, "symbo1"));
	assert_non_null(strstr(err->hint, "'symbol'"));
	assert_non_null(strstr(err->hint, "comm, comm_nodigit, dso"));
	error_free(err);
	opts = (struct hist_spec_opts){.sz = sizeof(opts), .fields = "+"};
	err = hist_spec_init(&spec, &opts);
	assert_non_null(err);
	error_free(err);
}

TEST(test_spec_of_branches)
{
	struct hist_spec_opts opts = {.sz = sizeof(opts), .children = true, .branches = true};
	struct hist_spec spec;

	assert_null(hist_spec_init(&spec, &opts));
	assert_false(spec.children);
	assert_int_equal(spec.n_out, 6);
	assert_int_equal(spec.out[0], HIST_OVERHEAD);
	assert_int_equal(spec.out[1], HIST_COMM);
	assert_int_equal(spec.out[2], HIST_DSO_FROM);
	assert_int_equal(spec.out[3], HIST_SYMBOL_FROM);
	assert_int_equal(spec.out[4], HIST_SYMBOL_TO);
	assert_int_equal(spec.out[5], HIST_CYCLES);
	/* "sym" is still the symbol; a key with "symbol" has a column of IPC */
	opts.sort = "sym,symbol_f,mis";
	assert_null(hist_spec_init(&spec, &opts));
	assert_int_equal(spec.out[1], HIST_SYMBOL);
	assert_int_equal(spec.out[2], HIST_SYMBOL_FROM);
	assert_int_equal(spec.out[3], HIST_MISPREDICT);
	assert_int_equal(spec.out[4], HIST_IPC_LBR);

	opts = (struct hist_spec_opts){.sz = sizeof(opts), .sort = "comm,symbol_from"};
	struct error *err = hist_spec_init(&spec, &opts);
	assert_non_null(err);
	assert_non_null(strstr(err->msg, "'symbol_from'"));
	assert_non_null(strstr(err->hint, "--branch-stack"));
	error_free(err);
}

#define OUTSIDE 0x70000000

/* Two samples: branches from main to a and from a to b, and one from a to what is not mapped. */
static void add_branches(struct world *w, struct hist *h)
{
	const uint64_t first[] = {A + 1, B, 7 << 4 | 1, MAIN, A, 2 | 4};
	const uint64_t second[] = {A + 2, B + 3, 7 << 4 | 1, A, OUTSIDE, 2 | 8};
	const uint64_t *const words[] = {first, second, NULL};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const struct sample s = {
			.ip = C,
			.period = 1000,
			.cpumode = PERF_RECORD_MISC_USER,
			.branches = {.bytes = (const uint8_t *)words[i], .n = words[i] ? 6 : 0},
		};
		struct location leaf;

		resolve_addr(w->resolver, thread_of(w), s.cpumode, s.ip, &leaf);
		assert_null(hist_add_branches(h, &s, session_event(w->session, 0), thread_of(w),
					      &leaf, &alone, false));
	}
}

static struct hist_spec spec_of_branches(const char *sort)
{
	const struct hist_spec_opts opts = {.sz = sizeof(opts), .sort = sort, .branches = true};
	struct hist_spec spec;

	assert_null(hist_spec_init(&spec, &opts));
	return spec;
}

TEST_WITH(test_branches, setup, teardown)
{
	struct world *w = *state;
	struct hist_spec spec = spec_of_branches("symbol_from,symbol_to,cycles");
	struct hist *h;

	assert_null(hist_new(&spec, w->resolver, &h));
	add_branches(w, h);
	assert_null(hist_finish_group(&h, 1));
	/* each counts 1; a sample without branches is none */
	assert_int_equal(hist_size(h), 3);
	assert_int_equal(hist_totals(h)->period, 4);
	assert_int_equal(hist_totals(h)->samples, 2);
	assert_int_equal(hist_shown_totals(h)->samples, 2);
	const struct hist_entry *he = hist_at(h, 0);
	assert_int_equal(he->stat.period, 2);
	assert_string_equal(he->branch->from.frame->sym->name, "a");
	assert_string_equal(he->branch->to.frame->sym->name, "b");
	assert_int_equal(he->branch->cycles, 7);
	/* the symbol of other keys is what the branch goes to */
	assert_string_equal(he->frame->sym->name, "b");
	assert_string_equal(hist_at(h, 1)->branch->from.frame->sym->name, "main");
	he = hist_at(h, 2);
	assert_string_equal(he->branch->from.frame->sym->name, "a");
	assert_null(he->branch->to.frame->sym);
	assert_int_equal(he->branch->to.addr, OUTSIDE);
	hist_free(h);

	/* addresses and flags tell them apart only if they are keys */
	spec = spec_of_branches("addr_from,addr_to");
	assert_null(hist_new(&spec, w->resolver, &h));
	add_branches(w, h);
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(hist_size(h), 4);
	hist_free(h);
	spec = spec_of_branches("mispredict");
	assert_null(hist_new(&spec, w->resolver, &h));
	add_branches(w, h);
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(hist_size(h), 2);
	assert_int_equal(hist_at(h, 0)->stat.period, 2);
	hist_free(h);
	spec = spec_of_branches("in_tx,abort");
	assert_null(hist_new(&spec, w->resolver, &h));
	add_branches(w, h);
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(hist_size(h), 3);
	hist_free(h);
	/* both ends have to be known */
	spec = spec_of_branches("symbol_from,symbol_to");
	spec.hide_unresolved = true;
	assert_null(hist_new(&spec, w->resolver, &h));
	add_branches(w, h);
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(hist_totals(h)->period, 3);
	assert_int_equal(hist_totals(h)->samples, 2);
	hist_free(h);
}

TEST(test_types_of_branches)
{
	struct branch_stats stats = {0};
	struct strbuf out = STRBUF_INIT;
	const struct branch branches[] = {
		{.type = 1, .from = 0x1000, .to = 0x1010},
		{.type = 1, .from = 0x1010, .to = 0x1000},
		{.type = 4, .from = 0x1010, .to = 0x2000},
		{.type = 15, .new_type = 1, .from = 0x1010, .to = 0x80000000},
		{.type = 0, .from = 0x1010, .to = 0x80000000},
		{.type = 4, .from = 0, .to = 0x80000000},
	};

	branch_stats_print(&stats, &out);
	assert_string_equal(strbuf_str(&out), "");
	for (size_t i = 0; i < ARRAY_SIZE(branches); i++)
		branch_stats_add(&stats, &branches[i]);
	branch_stats_print(&stats, &out);
	assert_string_equal(strbuf_str(&out), "\n#\n# Branch Statistics:\n#\n"
					      "COND_FWD:  33.3%\n"
					      "COND_BWD:  33.3%\n"
					      "CROSS_4K:  33.3%\n"
					      "CROSS_2M:  33.3%\n"
					      "    COND:  66.7%\n"
					      "    CALL:  33.3%\n"
					      "FAULT_DATA:  33.3%\n");
	strbuf_deinit(&out);
}

struct number {
	struct rb_node rb;
	int value;
};

static int check_black(const struct rb_node *rb)
{
	if (!rb)
		return 1;
	int left = check_black(rb->left), right = check_black(rb->right);
	assert_int_equal(left, right);
	if (rb_is_red(rb))
		assert_false(rb_is_red(rb->left) || rb_is_red(rb->right));
	return left + !rb_is_red(rb);
}

/* What makes rows, and what is added up in them. */
TEST_WITH(test_numbers, setup, teardown)
{
	struct world *w = *state;
	struct hist_spec spec = spec_make("sym,weight,ins_lat,code_page_size,addr", true, false);
	static const uint64_t weights[] = {7 | 30ull << 32, 7 | 30ull << 32, 9 | 30ull << 32};
	struct hist *h;

	assert_false(spec.children); /* callers have no addresses */
	assert_null(hist_new(&spec, w->resolver, &h));
	for (size_t i = 0; i < ARRAY_SIZE(weights); i++) {
		uint64_t ips[] = {A, MAIN}, buf[4];
		struct sample s = sample_make(ips, ARRAY_SIZE(ips), 10, buf);
		struct location leaf;

		s.has = PERF_SAMPLE_WEIGHT_STRUCT;
		s.weight = weights[i];
		s.code_page_size = 4096;
		resolve_addr(w->resolver, thread_of(w), s.cpumode, s.ip, &leaf);
		assert_null(hist_add(h, &s, session_event(w->session, 0), thread_of(w), &leaf,
				     &alone, false));
	}
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(hist_size(h), 2);
	const struct hist_entry *he = hist_at(h, 0);
	assert_int_equal(he->stat.n, 2);
	assert_int_equal(he->numbers->weight, 7);
	assert_int_equal(he->numbers->ins_lat, 30);
	assert_int_equal(he->numbers->code_page_size, 4096);
	assert_int_equal(he->numbers->addr, A);
	assert_int_equal(hist_at(h, 1)->numbers->weight, 9);
	hist_free(h);
}

TEST(test_keys_of_a_diff)
{
	struct hist_spec_opts opts = {.sz = sizeof(opts), .diff = true, .children = true};
	struct hist_spec spec;

	assert_null(hist_spec_init(&spec, &opts));
	assert_int_equal(spec.n_out, 2);
	assert_int_equal(spec.out[0], HIST_DSO);
	assert_int_equal(spec.out[1], HIST_SYMBOL);
	opts.sort = "+comm";
	assert_null(hist_spec_init(&spec, &opts));
	assert_int_equal(spec.n_out, 3);
	assert_int_equal(spec.out[2], HIST_COMM);
	/* no column of dashes; "sample" is a measure, but "s" is a beginning of "symbol" */
	opts.sort = "s,symbol";
	assert_null(hist_spec_init(&spec, &opts));
	assert_int_equal(spec.n_out, 1);
	opts.sort = "dso,period";
	struct error *err = hist_spec_init(&spec, &opts);
	assert_non_null(strstr(err->msg, "unknown sort key 'period'"));
	assert_null(strstr(err->hint, "overhead"));
	error_free(err);
}

TEST(test_methods_of_a_diff)
{
	static const char *const wrong[] = {"",		 "Delta",      "delta:1",     "wdiff",
					    "wdiff:1",	 "wdiff:1,",   "wdiff:0,1",   "wdiff:1,0",
					    "wdiff:a,b", "wdiff:1,2x", "wdiff:1,2,3", "cycles"};
	struct diff_opts opts = {0};

	assert_null(diff_method_parse("delta", &opts));
	assert_int_equal(opts.method, DIFF_DELTA);
	assert_null(diff_method_parse("ratio", &opts));
	assert_int_equal(opts.method, DIFF_RATIO);
	assert_null(diff_method_parse("wdiff:-2,3", &opts));
	assert_int_equal(opts.method, DIFF_WEIGHTED);
	assert_true(opts.weights[0] == -2 && opts.weights[1] == 3);
	assert_null(diff_method_parse("delta-abs", &opts));
	assert_int_equal(opts.method, DIFF_DELTA_ABS);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct error *err = diff_method_parse(wrong[i], &opts);

		if (!err || !err->usage)
			fail_msg("'%s' was taken", wrong[i]);
		error_free(err);
	}
}

TEST(test_rbtree)
{
	static struct number numbers[1000];
	struct rb_tree tree = {0};
	int seen = 0, last = -1;

	for (int i = 0; i < 1000; i++) {
		struct rb_node **link = &tree.root, *parent = NULL;

		numbers[i].value = i * 7919 % 1000;
		while (*link) {
			parent = *link;
			link = numbers[i].value < container_of(parent, struct number, rb)->value
				       ? &parent->left
				       : &parent->right;
		}
		rb_insert(&tree, &numbers[i].rb, parent, link);
		check_black(tree.root);
	}
	for (struct rb_node *rb = rb_first(&tree); rb; rb = rb_next(rb), seen++) {
		assert_true(container_of(rb, struct number, rb)->value > last);
		last = container_of(rb, struct number, rb)->value;
	}
	assert_int_equal(seen, 1000);
}

TEST(test_table)
{
	const struct show_column columns[] = {
		{"Share", 7, true}, {"Name", 6, false}, {"X", 1, false}};
	struct show_table t = {columns, 3, NULL};
	struct strbuf sb = STRBUF_INIT;

	show_table_head(&t, &sb);
	show_table_row(&t, (const char *[]){" 12.50%", "dd", "y"}, &sb);
	assert_string_equal(strbuf_str(&sb), "#   Share  Name    X\n"
					     "# .......  ......  .\n#\n"
					     "   12.50%  dd      y\n");
	strbuf_reset(&sb);
	t.separator = ";";
	show_table_head(&t, &sb);
	show_table_row(&t, (const char *[]){" 1%", "dd", "y"}, &sb);
	assert_string_equal(strbuf_str(&sb), "#   Share;Name  ;X\n 1%    ;dd    ;y\n");
	strbuf_deinit(&sb);
}

TEST(test_tree)
{
	const char *main_lines[] = {"main", "run"}, *x[] = {"x"}, *y[] = {"y", "z"};
	struct show_node kids[] = {{.value = "70.00%", .lines = x, .n_lines = 1},
				   {.value = "30.00%", .lines = y, .n_lines = 2}};
	struct show_node top = {.value = "100.00%",
				.lines = main_lines,
				.n_lines = 2,
				.children = kids,
				.n_children = 2};
	struct show_node root = {.children = &top, .n_children = 1};
	struct show_tree_opts opts = {.margin = 2};
	struct strbuf sb = STRBUF_INIT;

	show_tree(&root, true, &opts, &sb);
	assert_string_equal(strbuf_str(&sb), "  |\n"
					     "  ---main\n"
					     "     run\n"
					     "     |          \n"
					     "     |--70.00%--x\n"
					     "     |          \n"
					     "      --30.00%--y\n"
					     "                z\n"
					     "\n");
	strbuf_reset(&sb);
	opts.limit = 1;
	top.rest = "30.00%";
	top.open = true;
	show_tree(&top, false, &opts, &sb);
	assert_string_equal(strbuf_str(&sb), "  |          \n"
					     "  |--70.00%--x\n"
					     "   --30.00%--[...]\n"
					     "\n");
	strbuf_reset(&sb);
	show_tree(&kids[0], false, &opts, &sb);
	assert_string_equal(strbuf_str(&sb), "");
	strbuf_deinit(&sb);
}

/* As many as are wanted, of all of the time, each of those that there were at most once. */
TEST(test_samples_that_are_kept)
{
	struct arena arena = {0};
	size_t in_first_half = 0, n = 0;

	for (uint64_t run = 0; run < 50; run++) {
		struct hist_samples *kept = NULL, *merged = NULL;

		for (uint64_t i = 0; i < 1000; i++) {
			const struct result_sample s = {run * 1000 + i, 1, (int32_t)i};

			assert_true(hist_samples_add(&kept, &arena, 10, &s, 1));
			assert_int_equal(kept->n, i < 10 ? i + 1 : 10);
		}
		assert_int_equal(kept->seen, 1000);
		const struct result_sample *v = hist_samples_sorted(kept, &arena, &n);
		assert_int_equal(n, 10);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(v[i].time, run * 1000 + (uint64_t)v[i].tid);
			assert_true(!i || v[i - 1].time < v[i].time);
			in_first_half += v[i].tid < 500;
		}
		assert_true(hist_samples_merge(&merged, &arena, 10, NULL));
		assert_null(merged);
		assert_true(hist_samples_merge(&merged, &arena, 4, kept));
		assert_int_equal(merged->n, 4);
		assert_int_equal(merged->seen, 1000);
	}
	/* of 500; what is kept depends on the times alone */
	assert_in_range(in_first_half, 200, 300);
	arena_deinit(&arena);
}
