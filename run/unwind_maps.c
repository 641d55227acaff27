// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program that samples a process whose mappings it does not know writes the process's id to a
 * ring. Its mappings are those of the live session that names the frames; the table of a file is
 * compiled when the first process that has it mapped is sampled, and stays. Programs read the
 * arrays while they are written: what is new is written behind what is in use, and becomes visible
 * by the entry of its process, which is written last.
 *
 * A process may map another file where one was mapped before (dlclose(3) and dlopen(3)): its
 * mappings are written again as soon as the kernel's record of that is read. Its previous ones stay
 * as they are until the next time, as a program may be using them.
 *
 * Memory is bounded by the sizes of the maps. What a process has is given back when it ends. When
 * the blocks of rows are used up, further files have no tables, which a warning says. When the
 * mappings or the processes are used up, all processes are forgotten; those that are sampled again
 * ask again. Stacks that are taken before the answer are counted.
 */
#include "run/unwind_maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/perf_bpf_unwind_types.h>

#include "inspect/variable.h"
#include "lib/base/arena.h"
#include "lib/base/cleanup.h"
#include "lib/base/hash.h"
#include "lib/base/util.h"
#include "lib/sys/proc.h"
#include "perf/live/live.h"
#include "perf/unwind/unwind_table.h"
#include "run/map_counts.h"
#include "run/python_maps.h"
#include "run/unwind_ranges.h"

enum {
	N_BLOCKS = 131072, /* 4,194,304 rows: 32 MiB */
	N_RULES = 16384,
	N_MAPPINGS = 65536,
	N_PROCESSES = 8192,
	ASKS_BYTES = 65536,
	N_PYTHONS = 64,
	N_PYTHON_FUNCTIONS = 16384, /* 5 MiB */
	N_PYTHON_THREADS = 4096,
};

/* An array that is mapped into our memory. */
struct shared_array {
	uint8_t *v;
	size_t bytes;
	uint32_t n; /* elements */
};

/* Of the files that are known; a linker makes one executable segment. */
#define MAX_SEGMENTS 4

struct table_place {
	uint64_t base;
	uint32_t first, n; /* blocks; n 0: there is no table */
	uint32_t python;   /* its interpreter's number; 0: none */
	struct elf_segment segments[MAX_SEGMENTS];
	size_t n_segments;
};

struct loaded_process {
	uint32_t pid;
	struct unwind_range now, before; /* its mappings */
	bool has_changed;
};

struct unwind_maps {
	struct run_names *names;
	struct shared_array rows, rules, mappings;
	int tasks_fd;
	int ends_fd;
	struct ring_buffer *asks;
	struct python_maps *python;
	struct unwind_rules *known_rules;
	struct strmap files; /* struct table_place, by path, inode and build-id */
	struct arena arena;
	uint32_t n_rules, n_blocks;  /* that are in use */
	struct unwind_ranges ranges; /* of mappings */
	struct u64map processes;     /* struct loaded_process, by pid */
	uint32_t max_processes;
	VEC(uint32_t) asked;			   /* pids */
	VEC(uint32_t) changed;			   /* likewise */
	VEC(struct perf_bpf_unwind_mapping) found; /* of the process at hand */
	bool no_memory;

	uint64_t n_rows, not_expressible;
	uint64_t no_room; /* files */
	uint64_t told[PERF_BPF_UNWIND_ENDS];
};

/* ---- before the object is loaded ---- */

static const struct {
	const char *name;
	uint32_t n; /* entries; 0: as the header has it */
} unwind_map_sizes[] = {
	{"perf_bpf_unwind_walks", 0},
	{"perf_bpf_unwind_rows", N_BLOCKS},
	{"perf_bpf_unwind_rules", N_RULES},
	{"perf_bpf_unwind_maps", N_MAPPINGS},
	{"perf_bpf_unwind_tasks", N_PROCESSES},
	{"perf_bpf_unwind_ends", 0},
	{"perf_bpf_unwind_asks", ASKS_BYTES},
	{"perf_bpf_pythons", N_PYTHONS},
	{"perf_bpf_python_functions", N_PYTHON_FUNCTIONS},
	{"perf_bpf_python_threads", N_PYTHON_THREADS},
	{"perf_bpf_python_ends", 0},
};

/* --map-entries has set it already if it is not what the header says. */
static bool is_default_size(const struct bpf_map *map)
{
	return bpf_map__max_entries(map) == 1 ||
	       (bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF && bpf_map__max_entries(map) == 4096);
}

static struct error *prepare_map(struct bpf_map *map, uint32_t n, const struct bpf_map *shared)
{
	int err = 0;

	if (shared)
		err = bpf_map__reuse_fd(map, bpf_map__fd(shared));
	else if (n && is_default_size(map))
		err = bpf_map__set_max_entries(map, n);
	return err ? error_errno(-err, "map %s", bpf_map__name(map)) : NULL;
}

struct error *unwind_maps_prepare(struct bpf_object *obj, const struct bpf_object *first,
				  bool *supported)
{
	static const uint32_t on = 1;
	struct map_variable v;
	struct error *err = object_variable_find(obj, "perf_bpf_unwind_on", &v);

	*supported = !err;
	if (err && err->code != ENOENT)
		return err;
	error_free(err);
	if (!*supported)
		return NULL;
	if (v.size != sizeof(on))
		return error_new(EINVAL, "perf_bpf_unwind_on has %u bytes, not %zu", v.size,
				 sizeof(on));
	for (size_t i = 0; i < ARRAY_SIZE(unwind_map_sizes); i++) {
		const char *name = unwind_map_sizes[i].name;
		struct bpf_map *map = bpf_object__find_map_by_name(obj, name);
		const struct bpf_map *shared =
			first ? bpf_object__find_map_by_name(first, name) : NULL;

		if (!map || (first && !shared))
			return error_hint(error_new(EINVAL, "the object has no map %s", name),
					  "it was compiled with <bpf/perf_bpf_unwind.h> of another "
					  "version");
		TRY(prepare_map(map, unwind_map_sizes[i].n, shared));
	}
	memcpy(v.data, &on, sizeof(on));
	return NULL;
}

/* ---- once it is loaded ---- */

_Static_assert(sizeof(struct perf_bpf_unwind_rule) % 8 == 0, "as in the kernel's array");
_Static_assert(sizeof(struct perf_bpf_unwind_mapping) % 8 == 0, "likewise");

static struct error *share_array(const struct bpf_object *obj, const char *name, size_t size,
				 struct shared_array *out)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(obj, name);
	const size_t bytes = size * bpf_map__max_entries(map);

	if (bpf_map__value_size(map) != size)
		return error_new(EINVAL, "map %s has values of %u bytes, not %zu", name,
				 bpf_map__value_size(map), size);
	void *v = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (v == MAP_FAILED)
		return error_errno(errno, "cannot map %s", name);
	*out = (struct shared_array){v, bytes, bpf_map__max_entries(map)};
	return NULL;
}

static int take_ask(void *ctx, void *data, size_t size)
{
	struct unwind_maps *u = ctx;
	uint32_t pid;

	if (size != sizeof(pid))
		return 0;
	memcpy(&pid, data, sizeof(pid));
	for (size_t i = 0; i < u->asked.n; i++)
		if (u->asked.v[i] == pid)
			return 0;
	uint32_t *slot = vec_push(&u->asked);
	u->no_memory |= !slot;
	if (slot)
		*slot = pid;
	return 0;
}

static int map_fd(const struct bpf_object *obj, const char *name)
{
	return bpf_map__fd(bpf_object__find_map_by_name(obj, name));
}

struct error *unwind_maps_new(const struct bpf_object *obj, struct run_names *names,
			      struct unwind_maps **out)
{
	_cleanup_(unwind_maps_freep) struct unwind_maps *u = calloc(1, sizeof(*u));

	if (!u)
		return error_nomem();
	u->names = names;
	TRY(share_array(obj, "perf_bpf_unwind_rows", sizeof(struct perf_bpf_unwind_block),
			&u->rows));
	TRY(share_array(obj, "perf_bpf_unwind_rules", sizeof(struct perf_bpf_unwind_rule),
			&u->rules));
	TRY(share_array(obj, "perf_bpf_unwind_maps", sizeof(struct perf_bpf_unwind_mapping),
			&u->mappings));
	u->tasks_fd = map_fd(obj, "perf_bpf_unwind_tasks");
	u->ends_fd = map_fd(obj, "perf_bpf_unwind_ends");
	TRY(python_maps_new(obj, &u->python));
	run_names_set_python(names, u->python);
	TRY(unwind_rules_new(u->rules.n, &u->known_rules));
	u->n_rules = 1;
	unwind_ranges_init(&u->ranges, u->mappings.n);
	u->max_processes = max_of(1u, bpf_map__max_entries(bpf_object__find_map_by_name(
					      obj, "perf_bpf_unwind_tasks")) /
					      4 * 3);
	u->asks = ring_buffer__new(map_fd(obj, "perf_bpf_unwind_asks"), take_ask, u, NULL);
	if (!u->asks)
		return error_errno(errno, "cannot read the ring perf_bpf_unwind_asks");
	*out = steal_ptr(u);
	return NULL;
}

static void forget_loaded(struct unwind_maps *u)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(&u->processes, &pos)))
		free(slot->value);
	u64map_deinit(&u->processes);
}

static void unshare_array(struct shared_array *a)
{
	if (a->v)
		munmap(a->v, a->bytes);
}

void unwind_maps_free(struct unwind_maps *u)
{
	if (!u)
		return;
	strmap_deinit(&u->files);
	arena_deinit(&u->arena);
	unwind_rules_free(u->known_rules);
	ring_buffer__free(u->asks);
	run_names_set_python(u->names, NULL);
	python_maps_free(u->python);
	unshare_array(&u->rows);
	unshare_array(&u->rules);
	unshare_array(&u->mappings);
	vec_deinit(&u->asked);
	vec_deinit(&u->changed);
	vec_deinit(&u->found);
	unwind_ranges_deinit(&u->ranges);
	forget_loaded(u);
	u64map_deinit(&u->processes);
	free(u);
}

int unwind_maps_fd(const struct unwind_maps *u)
{
	return ring_buffer__epoll_fd(u->asks);
}

/* ---- tables ---- */

/* Writes the table behind the others. */
static void write_table(struct unwind_maps *u, const struct unwind_table *table,
			struct table_place *place)
{
	const size_t n = (table->rows.n + PERF_BPF_UNWIND_BLOCK - 1) / PERF_BPF_UNWIND_BLOCK;
	struct perf_bpf_unwind_row *rows;

	if (n > u->rows.n - u->n_blocks) {
		u->no_room++;
		return;
	}
	rows = (void *)(u->rows.v + (size_t)u->n_blocks * sizeof(struct perf_bpf_unwind_block));
	memset(rows, 0xff, n * sizeof(struct perf_bpf_unwind_block));
	memcpy(rows, table->rows.v, table->rows.n * sizeof(*rows));
	memcpy(u->rules.v + u->n_rules * sizeof(struct perf_bpf_unwind_rule),
	       u->known_rules->rules.v + u->n_rules,
	       (u->known_rules->rules.n - u->n_rules) * sizeof(struct perf_bpf_unwind_rule));
	u->n_rules = (uint32_t)u->known_rules->rules.n;
	place->base = table->base;
	place->first = u->n_blocks;
	place->n = (uint32_t)n;
	u->n_blocks += (uint32_t)n;
	u->n_rows += table->rows.n;
	u->not_expressible += table->not_expressible;
}

/* The segments that have rows. */
static void find_segments(const struct elf_file *file, const struct unwind_table *table,
			  struct table_place *place)
{
	for (size_t i = 0; i < table->rows.n && place->n_segments < MAX_SEGMENTS;) {
		struct elf_segment *s = &place->segments[place->n_segments];
		const uint64_t addr = table->base + table->rows.v[i].pc;

		if (pb_elf_segment_at(file, addr, s)) {
			const uint64_t end = s->addr + s->size;

			place->n_segments++;
			i = count_before(table->rows.n, k, table->base + table->rows.v[k].pc < end);
			if (end > addr)
				continue;
		}
		return;
	}
}

static struct error *load_table(struct unwind_maps *u, const struct dso *dso,
				struct table_place *place)
{
	_cleanup_(unwind_image_freep) struct unwind_image *image = NULL;
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;
#ifdef __aarch64__
	const bool is_arm64 = true;
#else
	const bool is_arm64 = false;
#endif

	TRY(unwind_image_open(run_names_resolver(u->names), dso, is_arm64, &image));
	TRY(unwind_table_new(image, u->known_rules, &table));
	find_segments(image->file, table, place);
	write_table(u, table, place);
	if (!place->n)
		return NULL;
	return python_maps_add(u->python, run_names_resolver(u->names), image, dso, place->base,
			       &place->python);
}

/* What tells one file from another, also after the session has forgotten it. */
static void add_file_key(const struct dso *dso, struct strbuf *key)
{
	strbuf_addf(key, "%u:%u:%" PRIu64 ":", dso->maj, dso->min, dso->ino);
	for (unsigned i = 0; i < dso->build_id_size; i++)
		strbuf_addf(key, "%02x", dso->build_id[i]);
	strbuf_addf(key, ":%s", dso->path);
}

static struct error *add_file(struct unwind_maps *u, const char *key, const struct dso *dso,
			      struct table_place **out)
{
	struct table_place *place = arena_alloc(&u->arena, sizeof(*place));
	const char *copy = arena_strdup(&u->arena, key);

	if (!place || !copy)
		return error_nomem();
	*place = (struct table_place){0};
	if (!strmap_put(&u->files, copy, place))
		return error_nomem();
	*out = place;
	struct error *err = load_table(u, dso, place);
	if (err && err->code == ENOMEM)
		return err;
	error_free(err);
	return NULL;
}

/* The table of a file; one that cannot be made is not tried again. */
static struct error *find_table(struct unwind_maps *u, const struct dso *dso,
				struct table_place **out)
{
	_cleanup_strbuf_ struct strbuf key = STRBUF_INIT;

	add_file_key(dso, &key);
	if (strbuf_failed(&key))
		return error_nomem();
	*out = strmap_get(&u->files, key.str);
	return *out ? NULL : add_file(u, key.str, dso, out);
}

/*
 * The virtual address in the file of what is mapped first, which may be before its segment, as that
 * begins within a page; false: it is not known.
 */
static bool first_address(const struct table_place *place, const struct map *map, uint64_t *addr)
{
	for (size_t i = 0; i < place->n_segments; i++) {
		const struct elf_segment *s = &place->segments[i];

		if ((map->pgoff | 0xfff) < s->offset || map->pgoff >= s->offset + s->size)
			continue;
		*addr = s->addr + map->pgoff - s->offset;
		return true;
	}
	return false;
}

static struct error *describe_mapping(struct unwind_maps *u, uint32_t pid, const struct map *map,
				      struct perf_bpf_unwind_mapping *out)
{
	struct table_place *place;
	uint64_t addr;

	*out = (struct perf_bpf_unwind_mapping){.start = map->start, .end = map->end, .pid = pid};
	if (map->dso->kind != DSO_USER && map->dso->kind != DSO_VDSO)
		return NULL;
	TRY(find_table(u, map->dso, &place));
	if (!place->n || !first_address(place, map, &addr))
		return NULL;
	out->base = map->start - addr + place->base;
	out->first_block = place->first;
	out->n_blocks = place->n;
	out->python = place->python;
	return NULL;
}

/* ---- processes ---- */

/* All of them: those that are sampled again ask again. */
static void forget_processes(struct unwind_maps *u)
{
	uint32_t pid;

	/* Programs may add others at the same time. */
	for (size_t i = 0; i < 2 * N_PROCESSES; i++)
		if (bpf_map_get_next_key(u->tasks_fd, NULL, &pid) ||
		    bpf_map_delete_elem(u->tasks_fd, &pid))
			break;
	forget_loaded(u);
	unwind_ranges_deinit(&u->ranges);
	unwind_ranges_init(&u->ranges, u->mappings.n);
}

static void forget_process(struct unwind_maps *u, uint32_t pid)
{
	struct loaded_process *p = u64map_remove(&u->processes, pid);

	bpf_map_delete_elem(u->tasks_fd, &pid);
	if (!p)
		return;
	unwind_ranges_give(&u->ranges, p->now);
	unwind_ranges_give(&u->ranges, p->before);
	free(p);
}

static bool is_code(const struct map *map)
{
	return map->prot & PROT_EXEC;
}

/* The mappings of a process, to u->found. */
static struct error *find_mappings(struct unwind_maps *u, uint32_t pid, const struct thread *thread)
{
	const struct map *map;

	u->found.n = 0;
	for (size_t i = 0; (map = thread_map(thread, i)); i++) {
		if (!is_code(map))
			continue;
		struct perf_bpf_unwind_mapping *m = vec_push(&u->found);
		if (!m)
			return error_nomem();
		TRY(describe_mapping(u, pid, map, m));
	}
	return NULL;
}

static const struct perf_bpf_unwind_mapping *mappings_at(const struct unwind_maps *u,
							 uint32_t first)
{
	return (const struct perf_bpf_unwind_mapping *)u->mappings.v + first;
}

/* Whether the mappings are those that were written before. */
static bool are_written(const struct unwind_maps *u, const struct loaded_process *p)
{
	return p && p->now.n == u->found.n &&
	       !memcmp(mappings_at(u, p->now.first), u->found.v, u->found.n * sizeof(*u->found.v));
}

static struct loaded_process *add_process(struct unwind_maps *u, uint32_t pid)
{
	struct loaded_process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pid = pid;
	if (u64map_put(&u->processes, pid, p))
		return p;
	free(p);
	return NULL;
}

/* Writes the mappings that were found; NULL: there was no room, and all are forgotten. */
static struct error *write_mappings(struct unwind_maps *u, uint32_t pid,
				    struct loaded_process **out)
{
	struct loaded_process *p = u64map_get(&u->processes, pid);
	uint32_t first;

	*out = p;
	if (are_written(u, p))
		return NULL;
	*out = NULL;
	if (p) {
		unwind_ranges_give(&u->ranges, p->before);
		p->before = (struct unwind_range){0};
	}
	const uint32_t n = (uint32_t)u->found.n;
	if ((!p && u->processes.n >= u->max_processes) ||
	    !unwind_ranges_take(&u->ranges, n, &first)) {
		forget_processes(u);
		return NULL;
	}
	if (!p)
		p = add_process(u, pid);
	if (!p)
		return error_nomem();
	memcpy((struct perf_bpf_unwind_mapping *)u->mappings.v + first, u->found.v,
	       n * sizeof(*u->found.v));
	p->before = p->now;
	p->now = (struct unwind_range){first, n};
	*out = p;
	return NULL;
}

static struct error *load_process(struct unwind_maps *u, uint32_t pid)
{
	struct session *session = live_source_session(run_names_live(u->names));
	struct perf_bpf_unwind_process task, now;
	struct loaded_process *p;

	/* First the kernel's identity of its memory, then what is mapped there. */
	if (bpf_map_lookup_elem(u->tasks_fd, &pid, &task))
		return NULL;
	TRY(run_names_update(u->names));
	const struct thread *thread = session_thread(session, (int32_t)pid, (int32_t)pid);
	if (!thread)
		return error_nomem();
	TRY(find_mappings(u, pid, thread));
	/* It may have ended: nobody would give back what it gets now. */
	if (!u->found.n || bpf_map_lookup_elem(u->tasks_fd, &pid, &now))
		return NULL;
	TRY(write_mappings(u, pid, &p));
	if (!p || (task.first == p->now.first && task.n == p->now.n))
		return NULL;
	task.first = p->now.first;
	task.n = p->now.n;
	bpf_map_update_elem(u->tasks_fd, &pid, &task, BPF_EXIST);
	return NULL;
}

/*
 * Whether a new mapping may take the place of one that was written. Memory that JIT compilers make
 * executable again and again has no table before and after.
 */
static bool replaces(const struct unwind_maps *u, const struct loaded_process *p,
		     const struct record_mmap *map)
{
	const struct perf_bpf_unwind_mapping *m = mappings_at(u, p->now.first);

	for (uint32_t i = 0; i < p->now.n; i++)
		if (map->addr < m[i].end && map->addr + map->len > m[i].start &&
		    (m[i].n_blocks || map->filename[0] == '/'))
			return true;
	return false;
}

struct error *unwind_maps_see(void *ctx, uint32_t pid, const struct record_mmap *map)
{
	struct unwind_maps *u = ctx;
	struct loaded_process *p = u64map_get(&u->processes, pid);

	if (!map) {
		forget_process(u, pid);
		return NULL;
	}
	if (!p || p->has_changed || !replaces(u, p, map))
		return NULL;
	uint32_t *slot = vec_push(&u->changed);
	if (!slot)
		return error_nomem();
	*slot = pid;
	p->has_changed = true;
	return NULL;
}

struct error *unwind_maps_update(struct unwind_maps *u)
{
	for (size_t i = 0; i < u->changed.n; i++) {
		struct loaded_process *p = u64map_get(&u->processes, u->changed.v[i]);

		if (!p || !p->has_changed)
			continue;
		p->has_changed = false;
		TRY(load_process(u, p->pid));
	}
	u->changed.n = 0;
	return NULL;
}

struct error *unwind_maps_load(struct unwind_maps *u, uint32_t pid)
{
	const struct perf_bpf_unwind_process task = {.stack = sys_proc_stack(NULL, (pid_t)pid)};

	if (!task.stack)
		return NULL;
	if (bpf_map_update_elem(u->tasks_fd, &pid, &task, BPF_NOEXIST) && errno != EEXIST)
		return error_errno(errno, "cannot write to map perf_bpf_unwind_tasks");
	return load_process(u, pid);
}

struct error *unwind_maps_answer(struct unwind_maps *u)
{
	u->asked.n = 0;
	const int n = ring_buffer__consume(u->asks);
	if (n < 0)
		return error_errno(-n, "cannot read the ring perf_bpf_unwind_asks");
	if (u->no_memory)
		return error_nomem();
	for (size_t i = 0; i < u->asked.n; i++) {
		if (u->asked.v[i] == PERF_BPF_UNWIND_NO_ROOM)
			forget_processes(u);
		else
			TRY(load_process(u, u->asked.v[i]));
	}
	return unwind_maps_update(u);
}

/* ---- shares and losses ---- */

static const char *const why_incomplete[PERF_BPF_UNWIND_ENDS] = {
	[PERF_BPF_UNWIND_LIMIT] = "have more than 127 frames",
	[PERF_BPF_UNWIND_NOT_LOADED] = "were taken before the unwind tables were loaded",
	[PERF_BPF_UNWIND_NO_RULES] = "lead to code without unwind information",
	[PERF_BPF_UNWIND_DAMAGED] = "do not fit the unwind information",
	[PERF_BPF_UNWIND_32_BIT] = "are of 32-bit processes",
	[PERF_BPF_UNWIND_BUSY] = "were taken while another one was walked",
};

bool unwind_maps_has(const struct bpf_object *obj)
{
	return bpf_object__find_map_by_name(obj, unwind_map_sizes[0].name) != NULL;
}

struct error *unwind_maps_describe(struct unwind_maps *u, bool delta, struct strbuf *out, bool *all)
{
	const struct map_counts counts = {u->ends_fd, "perf_bpf_unwind_ends", why_incomplete,
					  PERF_BPF_UNWIND_ENDS};
	_cleanup_strbuf_ struct strbuf python = STRBUF_INIT;

	*all = true;
	TRY(map_counts_describe(&counts, "user stacks are complete", delta ? u->told : NULL, out,
				all));
	TRY(python_maps_describe(u->python, delta, &python, all));
	if (python.len)
		strbuf_addf(out, "; %s", python.str);
	return strbuf_failed(&python) ? error_nomem() : NULL;
}

void unwind_maps_tell(const struct unwind_maps *u, const struct log *log)
{
	log_info(log,
		 "unwind tables: %" PRIu64 " rows in %u of %u blocks, %u rules; %" PRIu64
		 " rows cannot be expressed",
		 u->n_rows, u->n_blocks, u->rows.n, u->n_rules, u->not_expressible);
	if (u->no_room)
		log_warn(log,
			 "the unwind tables of %" PRIu64 " files had no room; for more room use "
			 "--map-entries perf_bpf_unwind_rows=%" PRIu64,
			 u->no_room, (uint64_t)u->rows.n * 4);
	python_maps_tell(u->python, log);
	if (u->known_rules->left_out)
		log_warn(log,
			 "%" PRIu64 " rows of unwind tables had no room for their rule; for more "
			 "room use --map-entries perf_bpf_unwind_rules=%" PRIu64,
			 u->known_rules->left_out, (uint64_t)u->rules.n * 4);
}
