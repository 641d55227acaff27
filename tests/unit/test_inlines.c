// SPDX-License-Identifier: BSD-2-Clause
/*
 * Inlined functions and source lines, by the debug information of this very program: what
 * probe/dwarf finds at an address, and what perf/resolve and perf/hist make of it.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/util.h"
#include "perf/hist/internal.h"
#include "perf/resolve/line_text.h"
#include "probe/dwarf/dwarf.h"
#include "tests/unit/image.h"

#define NOINLINE __attribute__((noinline, used))
#define INLINE	 inline __attribute__((always_inline))

/* An address within the call of this function. */
NOINLINE static uint64_t pc_here(void)
{
	__asm__ volatile("" ::: "memory"); /* or two calls could be made one */
	return (uintptr_t)__builtin_return_address(0) - 1;
}

/* clang-format off */
#line 101 "shapes/leaf.h"
static INLINE uint64_t leaf(volatile int *n)
{
	*n += 1;
	return pc_here();
}
#line 201 "shapes/middle.c"
static INLINE uint64_t middle(volatile int *n)
{
	return leaf(n);
}
#line 301 "shapes/outer.c"
NOINLINE static uint64_t outer(volatile int *n, uint64_t *own)
{
	uint64_t pc = middle(n);
	*own = pc_here();
	return pc + (*n & 0);
}
#line 401 "shapes/other.c"
NOINLINE static uint64_t other(volatile int *n)
{
	uint64_t pc = leaf(n);
	return pc + (*n & 0);
}
#line 61 "test_inlines.c"
/* clang-format on */

/* ---- this program as a file ---- */

static const Elf64_Phdr *headers(size_t *n)
{
	*n = getauxval(AT_PHNUM);
	return (const Elf64_Phdr *)getauxval(AT_PHDR);
}

/* The address that the file has for one in memory; offset: where it is in the file. */
static uint64_t elf_address(uint64_t address, uint64_t *offset)
{
	size_t n;
	const Elf64_Phdr *ph = headers(&n);
	uint64_t bias = 0;

	for (size_t i = 0; i < n; i++)
		if (ph[i].p_type == PT_PHDR)
			bias = (uintptr_t)ph - ph[i].p_vaddr;
	for (size_t i = 0; i < n; i++)
		if (ph[i].p_type == PT_LOAD && address - bias - ph[i].p_vaddr < ph[i].p_filesz)
			*offset = address - bias - ph[i].p_vaddr + ph[i].p_offset;
	return address - bias;
}

static uint64_t in_file(uint64_t address)
{
	uint64_t offset = 0;

	elf_address(address, &offset);
	return offset;
}

struct addresses {
	uint64_t leaf, own, other;
};

static struct addresses addresses(void)
{
	struct addresses a;
	volatile int n = 0;

	a.leaf = outer(&n, &a.own);
	a.other = other(&n);
	return a;
}

/* ---- probe/dwarf ---- */

static void assert_frame(const struct dwarf_frame *frame, const char *name, const char *file,
			 uint32_t line)
{
	assert_string_equal(frame->name, name);
	assert_string_equal(last_component(frame->file), file);
	assert_int_equal(frame->line, line);
}

TEST(test_frames_of_an_address)
{
	const struct dwarf_opts opts = {.no_debuginfod = true};
	const struct addresses a = addresses();
	struct dwarf_frame frames[DWARF_MAX_FRAMES];
	struct dwarf_image *image;
	uint64_t offset;
	size_t n;

	assert_null(pb_dwarf_image_open("/proc/self/exe", &opts, &image));
	/* Twice: what was read of the function is used again. */
	for (int i = 0; i < 2; i++) {
		assert_null(pb_dwarf_frames_at(image, elf_address(a.leaf, &offset), frames, &n));
		assert_int_equal(n, 3);
		assert_frame(&frames[0], "leaf", "leaf.h", 104);
		assert_frame(&frames[1], "middle", "middle.c", 203);
		assert_frame(&frames[2], "outer", "outer.c", 303);
	}
	assert_null(pb_dwarf_frames_at(image, elf_address(a.own, &offset), frames, &n));
	assert_int_equal(n, 1);
	assert_frame(&frames[0], "outer", "outer.c", 304);
	assert_null(pb_dwarf_frames_at(image, elf_address(a.other, &offset), frames, &n));
	assert_int_equal(n, 2);
	assert_frame(&frames[1], "other", "other.c", 403);
	assert_null(pb_dwarf_frames_at(image, 0, frames, &n));
	assert_int_equal(n, 0);
	assert_null(pb_dwarf_frames_at(image, UINT64_MAX, frames, &n));
	assert_int_equal(n, 0);
	pb_dwarf_image_free(image);
}

/* ---- perf/resolve, perf/hist ---- */

#define BASE 0x10000000ull

struct world {
	struct session *session;
	struct resolver *resolver;
	struct addresses at; /* in the process of the recording */
};

/* Without an inode, so that any file at the path will do. */
static void fill(struct image *im)
{
	char path[4096];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(n > 0);
	path[n] = 0;
	image_comm(im, 7, 7, "alpha", 0, 0);
	const size_t at = image_begin(im, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
	image_u32(im, 7);
	image_u32(im, 7);
	image_u64(im, BASE);
	image_u64(im, 1 << 28);
	image_u64(im, 0);
	image_string(im, path);
	image_sample_id(im, 7, 7, 0, 0);
	image_end(im, at);
}

static int setup_with(void **state, bool inlines)
{
	struct world *w = calloc(1, sizeof(*w));
	struct image im = {0};
	struct session_tool tool = {0};
	const struct resolver_opts opts = {.sz = sizeof(opts), .lines = true, .inlines = inlines};
	const struct addresses a = addresses();
	char path[64];

	image_file(&im, fill);
	int fd = memfd_create("perf.data", 0);
	assert_int_equal(write(fd, im.sb.str, im.sb.len), im.sb.len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_null(session_open(path, NULL, &w->session));
	assert_null(session_process(w->session, &tool));
	close(fd);
	strbuf_deinit(&im.sb);
	assert_null(resolver_new(w->session, &opts, &w->resolver));
	w->at.leaf = BASE + in_file(a.leaf);
	w->at.own = BASE + in_file(a.own);
	w->at.other = BASE + in_file(a.other);
	*state = w;
	return 0;
}

static int setup(void **state)
{
	return setup_with(state, true);
}

static int setup_without(void **state)
{
	return setup_with(state, false);
}

static int teardown(void **state)
{
	struct world *w = *state;

	resolver_free(w->resolver);
	session_free(w->session);
	free(w);
	return 0;
}

static struct thread *thread_of(struct world *w)
{
	return session_thread(w->session, 7, 7);
}

static struct location locate(struct world *w, uint64_t address)
{
	struct location at;

	resolve_addr(w->resolver, thread_of(w), PERF_RECORD_MISC_USER, address, &at);
	assert_non_null(at.sym);
	return at;
}

TEST_WITH(test_resolve_inlines, setup, teardown)
{
	struct world *w = *state;
	const struct location at = locate(w, w->at.leaf), own = locate(w, w->at.own);
	const struct inline_frames *frames = resolve_inlines(w->resolver, &at);

	assert_non_null(frames);
	assert_int_equal(frames->n, 3);
	assert_string_equal(frames->v[0].sym->name, "leaf");
	assert_true(frames->v[0].sym->inlined);
	assert_int_equal(frames->v[0].sym->start, at.sym->start);
	assert_string_equal(frames->v[1].sym->name, "middle");
	assert_ptr_equal(frames->v[2].sym, at.sym);
	assert_int_equal(frames->v[2].line, 303);
	assert_ptr_equal(resolve_inlines(w->resolver, &at), frames);
	/* Nothing is inlined there. */
	assert_null(resolve_inlines(w->resolver, &own));
}

TEST_WITH(test_no_inlines, setup_without, teardown)
{
	struct world *w = *state;
	const struct location at = locate(w, w->at.leaf);

	assert_null(resolve_inlines(w->resolver, &at));
}

static void assert_text(struct world *w, const struct location *at,
			const struct inline_frame *frame, const char *want)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	line_text(w->resolver, at, frame, false, &text);
	assert_string_equal(strbuf_str(&text), want);
}

TEST_WITH(test_line_text, setup, teardown)
{
	struct world *w = *state;
	struct location at = locate(w, w->at.leaf);
	const struct inline_frames *frames = resolve_inlines(w->resolver, &at);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	assert_text(w, &at, NULL, "leaf.h:104");
	assert_text(w, &at, &frames->v[1], "middle.c:203");
	line_text_file(w->resolver, &at, &frames->v[2], true, &text);
	assert_string_equal(strbuf_str(&text) + text.len - strlen("shapes/outer.c"),
			    "shapes/outer.c");
	/* There is debug information, but not for this. */
	at.dso_addr = 0;
	assert_text(w, &at, NULL, "??:0");
	at.map = NULL;
	assert_text(w, &at, NULL, "??:0");
}

static struct hist *hist_of(struct world *w, struct hist_spec *spec, const char *sort)
{
	const struct hist_spec_opts opts = {.sz = sizeof(opts), .sort = sort, .children = true};
	struct hist *h;

	assert_null(hist_spec_init(spec, &opts));
	spec->use_chain = true;
	assert_null(hist_new(spec, w->resolver, &h));
	return h;
}

static void add(struct world *w, struct hist *h, uint64_t ip, uint64_t period)
{
	uint64_t ips[] = {PERF_CONTEXT_USER, ip};
	const struct sample s = {
		.ip = ip,
		.period = period,
		.cpumode = PERF_RECORD_MISC_USER,
		.chain = {.bytes = (uint8_t *)ips, .n = 2},
	};
	const struct location leaf = locate(w, ip);

	static const struct hist_context alone = {.parallelism = 1};
	assert_null(
		hist_add(h, &s, session_event(w->session, 0), thread_of(w), &leaf, &alone, false));
}

/* The only entry of that function, inlined in the function with these addresses, or not inlined. */
static const struct hist_entry *entry(const struct hist *h, const char *name, uint64_t start)
{
	const struct hist_entry *found = NULL;

	for (size_t i = 0; i < hist_size(h); i++) {
		const struct hist_entry *he = hist_at(h, i);

		if (strcmp(he->frame->sym->name, name) || he->frame->sym->start != start)
			continue;
		assert_null(found);
		found = he;
	}
	assert_non_null(found);
	return found;
}

TEST_WITH(test_entries_of_inlined_functions, setup, teardown)
{
	struct world *w = *state;
	const uint64_t outer_start = locate(w, w->at.leaf).sym->start;
	const uint64_t other_start = locate(w, w->at.other).sym->start;
	struct hist_spec spec;
	struct hist *h = hist_of(w, &spec, "comm,dso,sym");

	add(w, h, w->at.leaf, 10);
	add(w, h, w->at.own, 20);
	add(w, h, w->at.other, 40);
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(hist_size(h), 5);
	/* A sample is of the function that is out of line; those inlined in it called something. */
	assert_int_equal(entry(h, "outer", outer_start)->stat.period, 30);
	assert_int_equal(entry(h, "middle", outer_start)->acc, 10);
	assert_int_equal(entry(h, "middle", outer_start)->stat.period, 0);
	assert_int_equal(entry(h, "leaf", outer_start)->acc, 10);
	assert_int_equal(entry(h, "leaf", other_start)->acc, 40);
	assert_int_equal(entry(h, "outer", outer_start)->chain->depth, 3);
	hist_free(h);
}

TEST_WITH(test_entries_by_line, setup, teardown)
{
	static const struct {
		const char *line;
		uint64_t self, acc;
	} want[] = {
		{"leaf.h:104", 50, 50},	 {"middle.c:203", 0, 10}, {"outer.c:303", 0, 10},
		{"outer.c:304", 20, 20}, {"other.c:403", 0, 40},
	};
	struct world *w = *state;
	struct hist_spec spec;
	struct hist *h = hist_of(w, &spec, "srcline");

	add(w, h, w->at.leaf, 10);
	add(w, h, w->at.own, 20);
	add(w, h, w->at.other, 40);
	assert_null(hist_finish_group(&h, 1));
	assert_int_equal(hist_size(h), ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		size_t k = 0;

		while (k < hist_size(h) && strcmp(hist_at(h, k)->frame->srcline, want[i].line))
			k++;
		assert_true(k < hist_size(h));
		assert_int_equal(hist_at(h, k)->stat.period, want[i].self);
		assert_int_equal(hist_at(h, k)->acc, want[i].acc);
	}
	hist_free(h);
}
