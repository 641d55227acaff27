// SPDX-License-Identifier: BSD-2-Clause
/*
 * A map whose key holds ids of stacks, and the stack trace map that those ids
 * belong to: each entry becomes a stack of functions. The kernel's frames
 * stand before the process's, since they are what it called.
 *
 * Ids are of 4 bytes, the kernel's (bpf_get_stackid()), or of 8: a hash of the
 * addresses, which is the key of an ordinary map, or of two: one for stacks of few
 * frames (perf_bpf_stack_here()). Of these keys, 0 is no stack and 1 one that was lost.
 *
 * A kernel's id below zero is why there is no stack: -EFAULT where there is none to be
 * had (a kernel thread has no user's, and a process none of the kernel while
 * it runs by itself), -EEXIST and -ENOMEM where the map had no room for it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "lib/base/names.h"
#include "run/internal.h"

enum {
	MAX_DEPTH = 1024, /* frames of a stack that are looked at */
};

static const struct record_field *find_role(const struct fields *fields, enum field_role role)
{
	const struct record_field *f;

	vec_for_each (f, fields)
		if (f->role == role)
			return f;
	return NULL;
}

bool fields_have_stacks(const struct fields *fields)
{
	return find_role(fields, ROLE_KSTACK) || find_role(fields, ROLE_USTACK);
}

bool fields_need_frames(const struct fields *fields)
{
	return fields_have_stacks(fields) || find_role(fields, ROLE_USYM);
}

static const struct record_field *find_comm(const struct fields *fields)
{
	const struct record_field *f;

	vec_for_each (f, fields)
		if (f->kind == FIELD_CHARS && !strcmp(f->name, "comm"))
			return f;
	return NULL;
}

bool is_stack_map(const struct bpf_map *map)
{
	const enum bpf_map_type type = bpf_map__type(map);

	if (!bpf_map__value_size(map) || bpf_map__value_size(map) % 8)
		return false;
	return type == BPF_MAP_TYPE_STACK_TRACE ||
	       (type == BPF_MAP_TYPE_HASH && bpf_map__key_size(map) == 8);
}

/* Whether the field's number is a key of the map. */
static bool is_key_of(const struct record_field *f, const struct bpf_map *map)
{
	return !f || f->size == bpf_map__key_size(map);
}

static struct error *check_short_stacks(const struct collector *c)
{
	const struct bpf_map *few = c->short_stacks;

	if (!c->display->short_stacks)
		return NULL;
	if (!few)
		return error_new(ENOENT, "map %s: the object has no map %s (short=)",
				 bpf_map__name(c->map), c->display->short_stacks);
	if (is_stack_map(few) && bpf_map__type(few) == BPF_MAP_TYPE_HASH &&
	    bpf_map__key_size(c->stacks) == bpf_map__key_size(few) &&
	    bpf_map__value_size(few) < bpf_map__value_size(c->stacks))
		return NULL;
	return error_new(EINVAL,
			 "map %s: short=%s is not a stack map with shorter values than stacks=%s",
			 bpf_map__name(c->map), bpf_map__name(few), bpf_map__name(c->stacks));
}

struct error *check_stacks(const struct collector *c)
{
	const char *name = bpf_map__name(c->map);

	if (!c->stacks)
		return error_hint(
			error_new(ENOENT,
				  "map %s is declared as stacks, but the object has no stack map",
				  name),
			"stacks=MAP must name a map of type BPF_MAP_TYPE_STACK_TRACE; "
			"PERF_BPF_STACKS() defines one");
	if (!is_stack_map(c->stacks))
		return error_new(EINVAL, "map %s: stacks=%s is not a stack map", name,
				 bpf_map__name(c->stacks));
	TRY(check_short_stacks(c));
	if (!fields_have_stacks(&c->key))
		return error_hint(
			error_new(EINVAL,
				  "map %s is declared as stacks, but its key has no stack id",
				  name),
			"add a member of type perf_bpf_kstack or perf_bpf_ustack to the key");
	if (!is_key_of(find_role(&c->key, ROLE_KSTACK), c->stacks) ||
	    !is_key_of(find_role(&c->key, ROLE_USTACK), c->stacks))
		return error_hint(
			error_new(EINVAL, "map %s: its stack ids are not keys of stack map %s",
				  name, bpf_map__name(c->stacks)),
			"ids from bpf_get_stackid() belong to a BPF_MAP_TYPE_STACK_TRACE, and "
			"keys from perf_bpf_stack_here() to the map of PERF_BPF_STACKS()");
	if (find_role(&c->key, ROLE_USTACK) && !find_role(&c->key, ROLE_PID))
		return error_hint(error_new(EINVAL,
					    "map %s has user stacks, but its key has no pid", name),
				  "add a member of type perf_bpf_pid to the key");
	return NULL;
}

struct stack_reading {
	struct making *m;
	uint64_t time; /* when the stack was taken; 0: unknown */
	uint64_t *ips; /* of one stack */
	VEC(struct result_frame) v;
	uint64_t lost; /* stacks that the map had no room for */
};

/* What the kernel went through to run the program that took the stack. */
static bool is_of_watching(const char *name)
{
	static const char *const begins[] = {"bpf_prog_", "bpf_trace_run", "__bpf_trace_",
					     "__traceiter_", "bpf_trampoline_"};

	for (size_t i = 0; name && i < ARRAY_SIZE(begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static struct error *add_lost(struct stack_reading *r, bool is_kernel)
{
	struct result_frame *frame = vec_push(&r->v);

	if (!frame)
		return error_nomem();
	r->lost++;
	frame->name = "[lost]";
	frame->is_kernel = is_kernel;
	return NULL;
}

enum stack_state {
	STACK_NONE, /* there was none */
	STACK_LOST,
	STACK_READ,
};

/* Whether the stack is one of few frames: their addresses, with a 0 behind them. */
static bool read_short(struct stack_reading *r, const void *key)
{
	const struct bpf_map *map = r->m->c->short_stacks;

	if (!map || bpf_map_lookup_elem(bpf_map__fd(map), key, r->ips)) {
		errno = ENOENT;
		return false;
	}
	r->ips[bpf_map__value_size(map) / 8] = 0;
	return true;
}

/* The addresses of a stack, to r->ips. */
static struct error *read_stack(struct stack_reading *r, const struct record_field *f,
				const uint8_t *key, enum stack_state *state)
{
	const struct bpf_map *stacks = r->m->c->stacks;
	const uint64_t id = f ? field_number(f, key) : 0;
	const int32_t kernel_id = (int32_t)id;
	const bool by_hash = f && f->size == 8;

	*state = STACK_NONE;
	if (!f || !is_key_of(f, stacks) || (by_hash && !id))
		return NULL;
	if (by_hash ? id == 1 : kernel_id == -EEXIST || kernel_id == -ENOMEM)
		*state = STACK_LOST;
	if (*state == STACK_LOST || (!by_hash && kernel_id < 0))
		return NULL;
	const void *found = by_hash ? (const void *)&id : &kernel_id;
	if (!bpf_map_lookup_elem(bpf_map__fd(stacks), found, r->ips))
		*state = STACK_READ;
	else if (errno == ENOENT && read_short(r, found))
		*state = STACK_READ;
	else if (errno != ENOENT)
		return error_errno(errno, "cannot read a stack of map %s", bpf_map__name(stacks));
	else if (by_hash)
		*state = STACK_LOST;
	return NULL;
}

static struct error *add_frames(struct stack_reading *r, const struct record_field *f,
				const uint8_t *key, const uint32_t *pid)
{
	size_t n = min_of(bpf_map__value_size(r->m->c->stacks) / 8, (uint32_t)MAX_DEPTH);
	bool watched = !pid; /* only the innermost frames */
	enum stack_state state;

	TRY(read_stack(r, f, key, &state));
	if (state == STACK_LOST)
		return add_lost(r, !pid);
	for (size_t i = 0; state == STACK_READ && i < n && r->ips[i]; i++) {
		struct result_frame *frame = vec_push(&r->v);

		if (!frame)
			return error_nomem();
		if (!run_frame_find(r->m->names, pid, r->time, r->ips[i], i > 0, frame))
			return error_nomem();
		watched = watched && is_of_watching(frame->name);
		if (watched)
			r->v.n--;
	}
	return NULL;
}

/* "vfs_write+0x1f" */
static void add_address(const struct making *m, uint32_t pid, uint64_t time, uint64_t addr,
			struct strbuf *out)
{
	struct result_frame frame;

	run_frame_find(m->names, &pid, time, addr, false, &frame);
	if (*frame.name == '[')
		strbuf_addf(out, "0x%" PRIx64, addr);
	else
		strbuf_addf(out, "%s+0x%" PRIx64, frame.name, frame.offset);
}

struct error *make_frames_text(struct making *m, const struct record_field *f, const uint8_t *data)
{
	const struct record_field *who = m->fields ? find_role(m->fields, ROLE_PID) : NULL;
	const struct record_field *when = m->fields ? find_role(m->fields, ROLE_TIME) : NULL;
	uint32_t pid = who ? (uint32_t)field_number(who, data) : 0;
	struct stack_reading r = {.m = m, .time = when ? field_number(when, data) : 0};
	struct error *err = NULL;

	if (!run_names_live(m->names) || (f->role != ROLE_KSTACK && !who))
		return NULL;
	if (f->role == ROLE_USYM) {
		add_address(m, pid, r.time, field_number(f, data), &m->text);
		return NULL;
	}
	if (!m->c->stacks)
		return NULL;
	r.ips = calloc(max_of(bpf_map__value_size(m->c->stacks), 8u), 1);
	err = r.ips ? add_frames(&r, f, data, f->role == ROLE_USTACK ? &pid : NULL) : error_nomem();
	for (size_t i = r.v.n; !err && i--;) {
		strbuf_adds(&m->text, r.v.v[i].name);
		if (i)
			strbuf_addch(&m->text, ';');
	}
	vec_deinit(&r.v);
	free(r.ips);
	return err;
}

/* The labels of the cgroup that the key has, or of its process. */
static void add_group(struct making *m, const uint8_t *key, struct strbuf *text)
{
	const struct record_field *cgroup = find_role(&m->c->key, ROLE_CGROUP);
	const struct record_field *pid = find_role(&m->c->key, ROLE_PID);
	const char *path = NULL;

	if (!m->labels || !m->labels->n)
		return;
	if (cgroup)
		path = run_names_cgroup(m->names, field_number(cgroup, key));
	else if (pid)
		path = run_names_cgroup_of(m->names, (uint32_t)field_number(pid, key));
	group_labels_add_text(m->labels, path, text);
}

/*
 * Who it was: "dd", and what else the key holds. by_number: processes by their pids, whose
 * names change.
 */
static struct error *make_who(struct making *m, const uint8_t *key, bool by_number,
			      const char **label)
{
	const struct fields *fields = &m->c->key;
	const struct record_field *comm = find_comm(fields), *f;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (comm)
		strbuf_add(&text, key + comm->off,
			   strnlen((const char *)key + comm->off, comm->size));
	vec_for_each (f, fields) {
		struct result_cell cell = {0};

		if (f == comm || f->role == ROLE_KSTACK || f->role == ROLE_USTACK ||
		    (comm && f->role == ROLE_PID))
			continue;
		TRY(make_cell(m, f, key, &cell));
		if (text.len)
			strbuf_adds(&text, ", ");
		if (f->role != ROLE_PID && *f->name)
			strbuf_addf(&text, "%s ", f->name);
		if (cell.text && !(by_number && f->role == ROLE_PID))
			strbuf_adds(&text, cell.text);
		else if (cell.kind == CELL_INT)
			strbuf_addf(&text, "%" PRId64, cell.i);
		else
			strbuf_add_u64(&text, cell.u);
	}
	add_group(m, key, &text);
	if (strbuf_failed(&text))
		return error_nomem();
	*label = text.len ? arena_text(m->arena, text.str, text.len) : NULL;
	return text.len && !*label ? error_nomem() : NULL;
}

static int compare_texts(const char *a, const char *b)
{
	return a == b ? 0 : !a ? -1 : !b ? 1 : strcmp(a, b);
}

static int compare_stacks(const void *a, const void *b)
{
	const struct result_stack *x = a, *y = b;
	int order = compare_texts(x->label, y->label);

	if (!order && x->n_frames != y->n_frames)
		order = x->n_frames < y->n_frames ? -1 : 1;
	for (size_t i = 0; !order && i < x->n_frames; i++) {
		const struct result_frame *f = x->frames[i], *g = y->frames[i];

		order = compare_texts(f->name, g->name);
		if (!order)
			order = compare_texts(f->module, g->module);
		if (!order)
			order = (f->offset > g->offset) - (f->offset < g->offset);
	}
	return order;
}

static int compare_counts(const void *a, const void *b)
{
	const struct result_stack *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return compare_stacks(a, b);
}

/* A copy of the frames that were read. */
static struct error *keep_frames(struct stack_reading *r, struct result_stack *stack)
{
	struct arena *arena = r->m->arena;
	struct result_frame *frames = arena_alloc(arena, r->v.n * sizeof(*frames));
	const struct result_frame **list = arena_alloc(arena, r->v.n * sizeof(*list));

	if (!frames || !list)
		return error_nomem();
	for (size_t i = 0; i < r->v.n; i++) {
		frames[i] = r->v.v[i];
		list[i] = &frames[i];
	}
	stack->frames = list;
	stack->n_frames = r->v.n;
	return NULL;
}

static struct error *read_stacks(struct stack_reading *r, const struct collect_opts *opts,
				 struct result *out)
{
	struct making *m = r->m;
	struct collector *c = m->c;
	const struct record_field *pid_field = find_role(&c->key, ROLE_PID);
	_cleanup_free_ const uint8_t **rows = NULL;
	size_t n, kept = 0;

	TRY(sort_rows(c, opts, &rows, &n));
	out->stacks = arena_alloc(m->arena, (n + 1) * sizeof(*out->stacks));
	if (!out->stacks)
		return error_nomem();
	for (size_t i = 0; i < n; i++) {
		const uint8_t *key = row_key(c, rows[i]);
		struct result_stack *stack = &out->stacks[i];
		uint32_t pid = pid_field ? (uint32_t)field_number(pid_field, key) : 0;

		const uint64_t lost = r->lost;

		*stack = (struct result_stack){0};
		r->v.n = 0;
		TRY(add_frames(r, find_role(&c->key, ROLE_KSTACK), key, NULL));
		TRY(add_frames(r, find_role(&c->key, ROLE_USTACK), key, &pid));
		TRY(make_who(m, key, false, &stack->label));
		if (pid_field && !find_comm(&c->key))
			TRY(make_who(m, key, true, &stack->key));
		TRY(keep_frames(r, stack));
		stack->count = row_sum(c, rows[i], &m->too_large);
		making_add(m, &out->total, stack->count);
		if (r->lost != lost)
			making_add(m, &out->lost, stack->count);
	}
	/* several ids, or processes, with one and the same stack */
	qsort(out->stacks, n, sizeof(*out->stacks), compare_stacks);
	for (size_t i = 0; i < n; i++) {
		if (kept && !compare_stacks(&out->stacks[kept - 1], &out->stacks[i]))
			making_add(m, &out->stacks[kept - 1].count, out->stacks[i].count);
		else
			out->stacks[kept++] = out->stacks[i];
	}
	qsort(out->stacks, kept, sizeof(*out->stacks), compare_counts);
	out->n_stacks = opts->top ? min_of(kept, opts->top) : kept;
	out->stacks_left_out = kept - out->n_stacks;
	return NULL;
}

struct error *make_stacks(struct making *m, const struct collect_opts *opts, struct result *out)
{
	struct stack_reading r = {.m = m};

	r.ips = calloc(max_of(bpf_map__value_size(m->c->stacks), 8u), 1);
	struct error *err = r.ips ? read_stacks(&r, opts, out) : error_nomem();
	vec_deinit(&r.v);
	free(r.ips);
	return err;
}
