// SPDX-License-Identifier: BSD-2-Clause
/*
 * A look at a map leaves rows: a key and a value that is the sum of all CPUs
 * (or, apart, a row for each CPU, whose key begins with its number). The rows
 * of the last look are kept where differences are wanted, and found by their
 * keys. What is shown is made of the rows alone.
 *
 * Counters that only grow by additions are taken away from each other, everything else of a value
 * is as it is now: the difference of two maxima or last values means nothing. The author declares
 * which they are, or the programs' instructions show it. An entry that was deleted and made anew in
 * between began at 0: its difference would be negative, and it is shown whole.
 */
#include "run/collect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/names.h"
#include "lib/object/object.h"
#include "run/internal.h"
#include "show/columns.h"

enum {
	CPU_BYTES = 8, /* what a CPU's number takes before the key */
};

const struct bpf_map *collector_map(const struct collector *c)
{
	return c->map;
}

const char *collector_name(const struct collector *c)
{
	return bpf_map__name(c->map);
}

static void rows_deinit(struct row_set *rows)
{
	free(rows->v);
	keyset_deinit(&rows->set);
}

void collector_free(struct collector *c)
{
	if (!c)
		return;
	map_reader_free(c->reader);
	fields_deinit(&c->key);
	fields_deinit(&c->value);
	rows_deinit(&c->now);
	rows_deinit(&c->before);
	heat_free(c->heat);
	stream_free(c->stream);
	free(c);
}

/* Global variables, whose types are known. */
bool collector_is_section(const struct collector *c)
{
	return bpf_map__is_internal(c->map) && c->btf && bpf_map__btf_value_type_id(c->map);
}

static bool is_hist(const struct display *d)
{
	return d->kind == DISPLAY_LOG2 || d->kind == DISPLAY_LINEAR || d->kind == DISPLAY_HEATMAP;
}

/*
 * A struct with an array called slots or hist (or its only member is an array of that name) is a
 * histogram by powers of two, as the tools of bcc and libbpf have it: slot i counts values from
 * 2^i on, and slot 0 zeros as well.
 */
static bool find_slots(struct collector *c)
{
	static const char *const names[] = {"slots[", "hist["};
	size_t n = 0;

	for (size_t i = 0; i < c->value.n; i++) {
		const struct record_field *f = &c->value.v[i];
		const char *bracket = strchr(f->name, '[');
		bool is_slot = false;

		for (size_t k = 0; bracket && k < ARRAY_SIZE(names); k++) {
			const size_t len = strlen(names[k]) - 1;

			is_slot |=
				(size_t)(bracket - f->name) >= len &&
				!strncmp(bracket - len, names[k], len) &&
				(bracket - f->name == (ptrdiff_t)len || bracket[-len - 1] == '.');
		}
		is_slot = is_slot && f->kind == FIELD_UINT && !f->bits && f->role == ROLE_NONE &&
			  strtoul(bracket + 1, NULL, 10) == n;
		if (!is_slot)
			continue;
		if (!n)
			c->slots_at = i;
		n++;
	}
	if (n < 2 || n > HIST_LOG2_SLOTS - 1 || c->slots_at + n > c->value.n)
		return false;
	c->n_slots = n;
	return true;
}

/* What is declared must be possible. */
static struct error *check_shape(const struct collector *c)
{
	const struct bpf_map_info *info = map_reader_info(c->reader);
	bool indexed = map_type_indexed(info->type);
	uint64_t slots = indexed && !c->display->floor ? info->max_entries : c->n_slots;

	for (size_t i = c->slots_at; is_hist(c->display) && i < c->slots_at + c->n_slots; i++)
		if (c->value.v[i].kind != FIELD_UINT)
			return error_hint(error_new(EINVAL,
						    "map %s: the slots of a histogram must be "
						    "unsigned integers",
						    info->name),
					  "use an array of __u64, as PERF_BPF_LOG2() does");
	if (c->display->kind == DISPLAY_HEATMAP && !indexed)
		return error_hint(error_new(EINVAL,
					    "map %s is declared as a heat map but is not an array",
					    info->name),
				  "use an array of __u64, as PERF_BPF_HEATMAP() does");
	if (is_hist(c->display) && !c->display->step && slots > HIST_LOG2_SLOTS)
		return error_hint(error_new(EINVAL,
					    "map %s has %" PRIu64
					    " slots; a log2 histogram has at most %d",
					    info->name, slots, HIST_LOG2_SLOTS),
				  "slot 0 counts zeros, slot i counts values from 2^(i-1)");
	if (c->display->kind == DISPLAY_COUNT && (!indexed || info->max_entries != 1))
		return error_new(EINVAL,
				 "map %s is declared as a count but is not an array with one entry",
				 info->name);
	return NULL;
}

bool collector_has_stacks(const struct collector *c)
{
	return c->display->kind == DISPLAY_STACKS;
}

bool collector_reads_inner(const struct collector *c)
{
	return c->has_inner;
}

bool collector_needs_frames(const struct collector *c)
{
	if (c->stream)
		return fields_need_frames(stream_fields(c->stream));
	return fields_need_frames(&c->key) || fields_need_frames(&c->value);
}

const struct bpf_map *collector_stacks(const struct collector *c)
{
	return collector_needs_frames(c) ? c->stacks : NULL;
}

const struct bpf_map *collector_short_stacks(const struct collector *c)
{
	return collector_needs_frames(c) ? c->short_stacks : NULL;
}

/* Whether its values are stacks: the kernel's kind of map, or that of PERF_BPF_STACKS(). */
static bool has_stack_values(const struct bpf_object *obj, const struct bpf_map *map)
{
	const struct btf *btf = bpf_object__btf(obj);
	const uint32_t id = btf ? bpf_map__btf_value_type_id(map) : 0;
	const struct btf_type *t = id ? btf__type_by_id(btf, id) : NULL;

	return bpf_map__type(map) == BPF_MAP_TYPE_STACK_TRACE ||
	       (t && btf_is_struct(t) && is_stack_map(map) &&
		!strcmp(btf__name_by_offset(btf, t->name_off), "perf_bpf_stack"));
}

/* The map of stacks that is named, or the object's only one. */
static const struct bpf_map *find_stacks(const struct bpf_object *obj, const char *name)
{
	const struct bpf_map *found = NULL;
	struct bpf_map *map;

	bpf_object__for_each_map (map, obj) {
		if (name ? strcmp(bpf_map__name(map), name) != 0 : !has_stack_values(obj, map))
			continue;
		if (found)
			return NULL; /* which one? */
		found = map;
	}
	return found;
}

/* Which of its numbers are sums: declared, or seen from what the programs do with them. */
static void find_changes(const struct bpf_object *obj, struct collector *c)
{
	const struct map_store *stores;
	size_t n;
	const bool all = object_map_stores(obj, &stores, &n);

	for (size_t i = 0; i < n; i++) {
		const struct map_store *s = &stores[i];

		if (s->map == c->map && (all || !s->adds))
			fields_see_store(&c->value, s->off, s->size, s->varies, s->adds);
	}
	/* what is beside an array of slots may be anything */
	if ((is_hist(c->display) && c->n_slots == c->value.n) ||
	    c->display->kind == DISPLAY_COUNT || c->display->kind == DISPLAY_STACKS)
		fields_set_additive(&c->value);
}

/* The reader of a map, and the fields of its keys and values. */
static struct error *open_entries(struct collector *c)
{
	const struct bpf_map *map = c->map;
	const char *name = bpf_map__name(map);
	const uint32_t key_type = c->btf ? bpf_map__btf_key_type_id(map) : 0;
	const uint32_t value_type = c->btf ? bpf_map__btf_value_type_id(map) : 0;

	TRY(map_reader_new(bpf_map__fd(map), &c->reader));
	TRY(error_prefix(fields_of(c->btf, key_type, bpf_map__key_size(map), &c->key),
			 "the keys of map %s", name));
	return error_prefix(fields_of(c->btf, value_type, bpf_map__value_size(map), &c->value),
			    "the values of map %s", name);
}

struct error *collector_new(const struct bpf_object *obj, const struct bpf_map *map,
			    struct display *display, struct collector **out)
{
	_cleanup_(collector_freep) struct collector *c = calloc(1, sizeof(*c));

	if (!c)
		return error_nomem();
	c->map = map;
	c->btf = bpf_object__btf(obj);
	c->display = display;
	c->stacks = find_stacks(obj, display->stacks);
	if (display->short_stacks)
		c->short_stacks = find_stacks(obj, display->short_stacks);
	if (display->kind == DISPLAY_EVENTS) {
		TRY(stream_new(obj, c));
		*out = steal_ptr(c);
		return NULL;
	}
	const struct bpf_map *inner = map_inner_shown(obj, map);
	TRY(inner ? inner_maps_open(inner, c) : open_entries(c));
	if (c->stacks && bpf_map__type(c->stacks) == BPF_MAP_TYPE_STACK_TRACE && !display->stacks &&
	    !collector_is_section(c)) {
		find_stack_ids(obj, &c->key);
		find_stack_ids(obj, &c->value);
	}
	if (!display->declared && display->kind == DISPLAY_TABLE && c->stacks &&
	    fields_have_stacks(&c->key))
		display->kind = DISPLAY_STACKS;
	c->n_slots = c->value.n;
	if (!display->declared && display->kind == DISPLAY_TABLE && !collector_is_section(c) &&
	    find_slots(c)) {
		display->kind = DISPLAY_LOG2;
		display->floor = true;
	}
	if (display->kind == DISPLAY_STACKS)
		TRY(check_stacks(c));
	TRY(check_shape(c));
	find_changes(obj, c);
	if (display->kind == DISPLAY_HEATMAP)
		TRY(heat_new(map_reader_info(c->reader)->max_entries, &c->heat));
	*out = steal_ptr(c);
	return NULL;
}

/* ---- a look ---- */

uint8_t *row_at(const struct collector *c, const struct row_set *rows, size_t i)
{
	return rows->v + i * c->row_bytes;
}

const uint8_t *row_key(const struct collector *c, const uint8_t *row)
{
	return row + (c->per_cpu ? CPU_BYTES : 0);
}

const uint8_t *row_value(const struct collector *c, const uint8_t *row)
{
	return row + c->key_bytes;
}

static unsigned row_cpu(const uint8_t *row)
{
	uint64_t cpu;

	memcpy(&cpu, row, sizeof(cpu));
	return cpu;
}

/* A zeroed row at the end; NULL: no memory. */
static uint8_t *row_push(struct collector *c)
{
	struct row_set *rows = &c->now;

	if (!vec_reserve(rows, (rows->n + 1) * c->row_bytes))
		return NULL;
	return memset(row_at(c, rows, rows->n++), 0, c->row_bytes);
}

static struct error *add_entry(struct collector *c, const void *key, const uint8_t *value)
{
	unsigned cpus = map_reader_cpus(c->reader);
	size_t stride = map_reader_stride(c->reader);
	uint8_t *row = NULL;

	for (uint64_t cpu = 0; cpu < max_of(cpus, 1u); cpu++) {
		if (!row || c->per_cpu) {
			row = row_push(c);
			if (!row)
				return error_nomem();
			if (c->per_cpu)
				memcpy(row, &cpu, sizeof(cpu));
			memcpy(row + (c->per_cpu ? CPU_BYTES : 0), key, c->key.size);
		}
		fields_add(&c->value, row + c->key_bytes, value + cpu * stride);
	}
	return NULL;
}

struct error *collector_look(struct collector *c, bool per_cpu)
{
	const void *key, *value;

	if (!c->looked || c->per_cpu != per_cpu) {
		c->per_cpu = per_cpu;
		c->key_bytes = round_up(c->key.size + (per_cpu ? CPU_BYTES : 0), 8);
		c->row_bytes = c->key_bytes + round_up(c->value.size, 8);
		c->before.n = 0;
		keyset_deinit(&c->before.set);
		c->before.set = keyset_make(c->row_bytes, c->key_bytes);
		keyset_deinit(&c->now.set);
		c->now.set = keyset_make(c->row_bytes, c->key_bytes);
		c->looked = true;
	}
	c->now.n = 0;
	fields_begin_sums(&c->value);
	map_reader_rewind(c->reader);
	for (;;) {
		TRY(map_reader_next(c->reader, &key, &value));
		if (!key)
			return NULL;
		TRY(add_entry(c, key, value));
	}
}

struct error *collector_each_process(struct collector *c, void (*fn)(void *ctx, uint32_t pid),
				     void *ctx)
{
	const void *key, *value;
	const struct record_field *f;

	if (!c->reader || !collector_needs_frames(c))
		return NULL;
	map_reader_rewind(c->reader);
	for (;;) {
		TRY(map_reader_next(c->reader, &key, &value));
		if (!key)
			return NULL;
		vec_for_each (f, &c->key)
			if (f->role == ROLE_PID)
				fn(ctx, field_number(f, key));
		vec_for_each (f, &c->value)
			if (f->role == ROLE_PID)
				fn(ctx, field_number(f, value));
	}
}

/* Some counter is smaller than it was: the entry was made anew. */
static bool began_anew(const struct collector *c, const uint8_t *now, const uint8_t *before)
{
	for (size_t i = 0; i < c->value.n; i++) {
		const struct record_field *f = &c->value.v[i];

		if ((f->kind == FIELD_UINT || (f->kind == FIELD_WIDE && !f->is_signed)) &&
		    field_is_additive(f) && field_order(f, now, before, false) < 0)
			return true;
	}
	return false;
}

/* Takes the last look's counters from this one's, and keeps this one's for the next. */
static struct error *subtract_last(struct collector *c)
{
	struct row_set now = {0};

	/* the whole values are what the next look will be compared with */
	now.set = keyset_make(c->row_bytes, c->key_bytes);
	if (!vec_reserve(&now, c->now.n * c->row_bytes + 1) ||
	    !keyset_reserve(&now.set, now.v, c->now.n)) {
		rows_deinit(&now);
		return error_nomem();
	}
	memcpy(now.v, c->now.v, c->now.n * c->row_bytes);
	now.n = c->now.n;
	for (size_t i = 0; i < now.n; i++)
		keyset_add(&now.set, now.v, i);
	for (size_t i = 0; i < c->now.n; i++) {
		uint8_t *row = row_at(c, &c->now, i);
		size_t at = keyset_find(&c->before.set, c->before.v, row);

		if (at == SIZE_MAX)
			continue;
		const uint8_t *was = row_value(c, row_at(c, &c->before, at));
		if (!began_anew(c, row_value(c, row), was))
			fields_subtract(&c->value, row + c->key_bytes, was);
	}
	rows_deinit(&c->before);
	c->before = now;
	return NULL;
}

/* ---- cells ---- */

struct error *make_text(struct making *m, const char **text)
{
	if (strbuf_failed(&m->text))
		return error_nomem();
	*text = arena_text(m->arena, strbuf_str(&m->text), m->text.len);
	return *text ? NULL : error_nomem();
}

struct error *make_cell(struct making *m, const struct record_field *f, const uint8_t *data,
			struct result_cell *cell)
{
	const uint8_t *p = data + f->off;

	strbuf_reset(&m->text);
	switch (f->kind) {
	case FIELD_CHARS:
		cell->kind = CELL_TEXT;
		strbuf_add(&m->text, p, strnlen((const char *)p, f->size));
		return make_text(m, &cell->text);
	case FIELD_FLOAT:
		cell->kind = CELL_FLOAT;
		cell->f = field_float(f, data);
		return NULL;
	case FIELD_BOOL:
		cell->kind = CELL_BOOL;
		cell->u = field_number(f, data) != 0;
		return NULL;
	case FIELD_WIDE: /* as bpftool and perf-bpf map have it */
		cell->kind = CELL_TEXT;
		unsigned __int128 wide = field_wide(f, data);

		if (wide >> 64)
			strbuf_addf(&m->text, "0x%" PRIx64 "%016" PRIx64, (uint64_t)(wide >> 64),
				    (uint64_t)wide);
		else
			strbuf_addf(&m->text, "0x%" PRIx64, (uint64_t)wide);
		return make_text(m, &cell->text);
	case FIELD_BYTES:
		cell->kind = CELL_TEXT;
		if (!run_name_add(m->names, m->c->btf, f, data, &m->text))
			strbuf_add_bytes(&m->text, p, f->size);
		return make_text(m, &cell->text);
	case FIELD_INT:
		cell->kind = CELL_INT;
		break;
	case FIELD_ENUM:
		cell->kind = f->is_signed ? CELL_INT : CELL_UINT;
		break;
	case FIELD_UINT:
	case FIELD_POINTER:
		cell->kind = CELL_UINT;
		break;
	}
	cell->u = field_number(f, data);
	if (f->role == ROLE_PORT)
		cell->u = __builtin_bswap16((uint16_t)cell->u);
	if (!f->has_comm && run_name_add(m->names, m->c->btf, f, data, &m->text))
		return make_text(m, &cell->text);
	if (f->role == ROLE_KSTACK || f->role == ROLE_USTACK || f->role == ROLE_USYM) {
		TRY(make_frames_text(m, f, data));
		if (m->text.len)
			return make_text(m, &cell->text);
	}
	if (f->kind == FIELD_POINTER || f->role == ROLE_KSYM || f->role == ROLE_USYM) {
		strbuf_addf(&m->text, "0x%" PRIx64, cell->u);
		return make_text(m, &cell->text);
	}
	return NULL;
}

/* What a field without a name of its own is called. */
static const char *column_name(const struct record_field *f, bool is_key, const char *unit)
{
	static const char *const roles[] = {
		[ROLE_PID] = "pid",	    [ROLE_UID] = "uid",	      [ROLE_GID] = "gid",
		[ROLE_CGROUP] = "cgroup",   [ROLE_KSYM] = "function", [ROLE_IPV4] = "address",
		[ROLE_IPV6] = "address",    [ROLE_PORT] = "port",     [ROLE_DEV] = "device",
		[ROLE_SYSCALL] = "syscall", [ROLE_ERRNO] = "error",
	};

	if (*f->name)
		return f->name;
	if (!is_key && unit)
		return unit;
	if (f->role < ARRAY_SIZE(roles) && roles[f->role])
		return roles[f->role];
	return is_key ? "key" : "value";
}

struct error *make_columns(struct making *m, bool values, struct result_column **out, size_t *n)
{
	const struct collector *c = m->c;
	size_t total = c->per_cpu + c->key.n + (values ? c->value.n : 0), at = 0;
	struct result_column *columns =
		arena_alloc(m->arena, max_of(total, (size_t)1) * sizeof(*columns));

	if (!columns)
		return error_nomem();
	if (c->per_cpu)
		columns[at++] = (struct result_column){.name = "cpu", .is_key = true};
	for (size_t i = 0; i < c->key.n; i++)
		columns[at++] = (struct result_column){
			.name = column_name(&c->key.v[i], true, NULL),
			.is_key = true,
			.has_text = field_has_text(&c->key.v[i]),
			.text_changes = c->key.v[i].role == ROLE_PID,
			.subject = field_subject(&c->key.v[i]),
		};
	for (size_t i = 0; values && i < c->value.n; i++) {
		const struct record_field *f = &c->value.v[i];

		columns[at] = (struct result_column){
			.name = column_name(f, false, c->display->unit),
			.unit = field_unit(f),
			.has_text = field_has_text(f),
			.text_changes = f->role == ROLE_PID,
			.subject = field_subject(f),
		};
		if (!columns[at].unit && !*f->name)
			columns[at].unit = c->display->unit;
		at++;
	}
	for (size_t i = 0; i < at; i++) {
		columns[i].name = arena_strdup(m->arena, columns[i].name);
		if (columns[i].unit)
			columns[i].unit = arena_strdup(m->arena, columns[i].unit);
		if (!columns[i].name)
			return error_nomem();
	}
	TRY(columns_distinguish(m->arena, columns, at));
	*out = columns;
	*n = at;
	return NULL;
}

/* The cells of a row's key; n_keys of them. */
static struct error *make_key(struct making *m, const uint8_t *row, struct result_cell *cells)
{
	const struct collector *c = m->c;

	if (c->per_cpu)
		*cells++ = (struct result_cell){.kind = CELL_UINT, .u = row_cpu(row)};
	m->fields = &c->key;
	for (size_t i = 0; i < c->key.n; i++)
		TRY(make_cell(m, &c->key.v[i], row_key(c, row), cells++));
	return NULL;
}

/* ---- order ---- */

struct row_order {
	const struct collector *c;
	const struct record_field *field; /* NULL: by the keys alone */
	bool by_key;
};

/* The largest value first, then by key. */
static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct row_order *o = ctx;
	const struct collector *c = o->c;
	const uint8_t *x = *(const uint8_t *const *)a, *y = *(const uint8_t *const *)b;
	int order = 0;

	if (o->field && o->by_key)
		order = field_order(o->field, row_key(c, x), row_key(c, y), true);
	else if (o->field)
		order = field_order(o->field, row_value(c, x), row_value(c, y), true);
	for (size_t i = 0; !order && i < c->key.n; i++)
		order = field_order(&c->key.v[i], row_key(c, x), row_key(c, y), false);
	if (!order && c->per_cpu)
		order = row_cpu(x) < row_cpu(y) ? -1 : 1;
	return order;
}

static struct error *choose_order(struct collector *c, const char *sort, struct row_order *order)
{
	struct nearest near = nearest_make(sort ? sort : "");
	_cleanup_arena_ struct arena arena = {0};
	struct result_column *columns;
	size_t n;

	TRY(make_columns(&(struct making){.c = c, .arena = &arena}, true, &columns, &n));
	columns += c->per_cpu;
	order->c = c;
	for (int values = 1; values >= 0; values--) {
		const struct fields *fields = values ? &c->value : &c->key;

		for (size_t i = 0; i < fields->n; i++) {
			const struct record_field *f = &fields->v[i];
			const char *name = columns[values ? c->key.n + i : i].name;

			if (sort ? strcmp(name, sort) != 0 : !values || !field_is_number(f)) {
				nearest_offer(&near, name);
				continue;
			}
			order->field = f;
			order->by_key = !values;
			return NULL;
		}
	}
	if (!sort)
		return NULL; /* nothing that counts: by the keys */
	struct error *err =
		error_new(ENOENT, "map %s has no column '%s'", bpf_map__name(c->map), sort);
	return error_suggest(err, &near);
}

/* Pointers to the rows worth showing, in order; the caller's. */
struct error *sort_rows(struct collector *c, const struct collect_opts *opts, const uint8_t ***out,
			size_t *n)
{
	bool indexed = map_type_indexed(map_reader_info(c->reader)->type);
	const uint8_t **rows = calloc(c->now.n + 1, sizeof(*rows));
	struct row_order order = {0};

	if (!rows)
		return error_nomem();
	*n = 0;
	for (size_t i = 0; i < c->now.n; i++) {
		const uint8_t *row = row_at(c, &c->now, i);

		/* an array has all its entries from the start; a difference may be none */
		if (!(indexed || opts->delta || c->per_cpu) ||
		    (opts->delta && fields_any_additive(&c->value)
			     ? fields_any_added(&c->value, row_value(c, row))
			     : fields_any(&c->value, row_value(c, row))))
			rows[(*n)++] = row;
	}
	struct error *err = choose_order(c, opts->sort, &order);
	if (err && opts->sort_if_any) {
		error_free(err);
		err = choose_order(c, NULL, &order);
	}
	if (err) {
		free(rows);
		return err;
	}
	qsort_r(rows, *n, sizeof(*rows), compare_rows, &order);
	*out = rows;
	return NULL;
}

/* ---- what is shown ---- */

static struct error *make_table(struct making *m, const struct collect_opts *opts, struct result *r)
{
	struct collector *c = m->c;
	struct result_table *t = &r->table;
	struct result_column *columns;
	_cleanup_free_ const uint8_t **rows = NULL;
	size_t n;

	TRY(sort_rows(c, opts, &rows, &n));
	TRY(make_columns(m, true, &columns, &t->n_columns));
	t->columns = columns;
	t->n_rows = opts->top ? min_of(n, opts->top) : n;
	t->left_out = n - t->n_rows;
	t->cells = arena_alloc(m->arena, (t->n_rows * t->n_columns + 1) * sizeof(*t->cells));
	if (!t->cells)
		return error_nomem();
	for (size_t i = 0; i < t->n_rows; i++) {
		struct result_cell *cells = t->cells + i * t->n_columns;

		TRY(make_key(m, rows[i], cells));
		cells += c->per_cpu + c->key.n;
		m->fields = &c->value;
		for (size_t k = 0; k < c->value.n; k++)
			TRY(make_cell(m, &c->value.v[k], row_value(c, rows[i]), cells++));
	}
	return NULL;
}

/* A row for each global variable, whatever it holds. */
static struct error *make_variables(struct making *m, struct result *r)
{
	static const struct result_column columns[] = {{"variable", NULL, true, false},
						       {"value", NULL, false, true}};
	const struct collector *c = m->c;
	struct result_table *t = &r->table;
	size_t n = c->now.n ? c->value.n : 0;

	t->columns = columns;
	t->n_columns = ARRAY_SIZE(columns);
	t->n_rows = n;
	t->cells = arena_alloc(m->arena, (n * t->n_columns + 1) * sizeof(*t->cells));
	if (!t->cells)
		return error_nomem();
	m->fields = &c->value;
	for (size_t i = 0; i < n; i++) {
		struct result_cell *cells = t->cells + i * t->n_columns;

		cells[0] = (struct result_cell){.kind = CELL_TEXT,
						.text = arena_strdup(m->arena, c->value.v[i].name)};
		if (!cells[0].text)
			return error_nomem();
		TRY(make_cell(m, &c->value.v[i], row_value(c, row_at(c, &c->now, 0)), &cells[1]));
	}
	return NULL;
}

/* `less` than low and i steps; the largest number where that would be larger. */
static int64_t linear_bound(const struct display *d, size_t i, unsigned less)
{
	__int128 bound = d->low + (__int128)i * d->step - less;

	return bound > INT64_MAX ? INT64_MAX : bound < INT64_MIN ? INT64_MIN : (int64_t)bound;
}

/* The values that slot i of n counts. */
void slot_range(const struct display *d, size_t i, size_t n, struct result_bucket *b)
{
	if (d->floor) {
		b->low = i ? 1ull << i : 0;
		b->high = i >= 63 ? UINT64_MAX : (2ull << i) - 1;
		return;
	}
	if (!d->step) {
		b->low = i ? 1ull << (i - 1) : 0;
		b->high = i == 64 ? UINT64_MAX : i ? (1ull << (i - 1)) * 2 - 1 : 0;
		return;
	}
	/* all below low, n - 2 of step values each, all above */
	b->low = i ? linear_bound(d, i - 1, 0) : INT64_MIN;
	b->high = i + 1 == n ? INT64_MAX : linear_bound(d, i, 1);
}

static struct error *make_hist(struct making *m, size_t n_slots, struct result_hist *hist)
{
	hist->buckets = arena_alloc(m->arena, max_of(n_slots, (size_t)1) * sizeof(*hist->buckets));
	if (!hist->buckets)
		return error_nomem();
	hist->n_buckets = n_slots;
	for (size_t i = 0; i < n_slots; i++)
		slot_range(m->c->display, i, n_slots, &hist->buckets[i]);
	return NULL;
}

static void hist_count(struct making *m, struct result_hist *hist, size_t slot, uint64_t count)
{
	if (slot >= hist->n_buckets)
		return;
	making_add(m, &hist->buckets[slot].count, count);
	making_add(m, &hist->total, count);
}

/* A histogram whose slots are the entries of an array; one for each CPU where they are apart. */
static struct error *make_array_hists(struct making *m, struct result *r)
{
	struct collector *c = m->c;
	unsigned n = c->per_cpu ? map_reader_cpus(c->reader) : 1;

	r->hists = arena_alloc(m->arena, n * sizeof(*r->hists));
	if (!r->hists)
		return error_nomem();
	r->n_hists = n;
	for (unsigned i = 0; i < n; i++) {
		TRY(make_hist(m, map_reader_info(c->reader)->max_entries, &r->hists[i]));
		if (!c->per_cpu)
			continue;
		strbuf_reset(&m->text);
		strbuf_addf(&m->text, "cpu %u", i);
		TRY(make_text(m, &r->hists[i].label));
	}
	for (size_t i = 0; i < c->now.n; i++) {
		const uint8_t *row = row_at(c, &c->now, i);
		uint32_t slot;

		memcpy(&slot, row_key(c, row), sizeof(slot));
		hist_count(m, &r->hists[c->per_cpu ? row_cpu(row) : 0], slot,
			   field_number(&c->value.v[0], row_value(c, row)));
	}
	return NULL;
}

/* "pid dd(3237), cpu 1": a key in one line. */
static struct error *make_label(struct making *m, const struct result *r,
				const struct result_cell *keys, const char **label)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < r->n_keys; i++) {
		strbuf_adds(&text, i ? ", " : "");
		if (strcmp(r->keys[i].name, "key"))
			strbuf_addf(&text, "%s ", r->keys[i].name);
		if (keys[i].text)
			strbuf_adds(&text, keys[i].text);
		else if (keys[i].kind == CELL_INT)
			strbuf_addf(&text, "%" PRId64, keys[i].i);
		else if (keys[i].kind == CELL_BOOL)
			strbuf_adds(&text, keys[i].u ? "true" : "false");
		else
			strbuf_add_u64(&text, keys[i].u);
	}
	*label = strbuf_failed(&text) ? NULL : arena_text(m->arena, strbuf_str(&text), text.len);
	return *label ? NULL : error_nomem();
}

uint64_t row_sum(const struct collector *c, const uint8_t *row, bool *too_large)
{
	uint64_t sum = 0;

	for (size_t i = c->slots_at; i < c->slots_at + c->n_slots; i++)
		*too_large |= !sum_add(&sum, field_number(&c->value.v[i], row_value(c, row)));
	return sum;
}

/* The fullest histogram first. */
static int compare_sums(const void *a, const void *b, void *ctx)
{
	const uint8_t *x = *(const uint8_t *const *)a, *y = *(const uint8_t *const *)b;
	bool too_large = false;
	const uint64_t p = row_sum(ctx, x, &too_large), q = row_sum(ctx, y, &too_large);

	if (p != q)
		return p < q ? 1 : -1;
	return memcmp(x, y, ((const struct collector *)ctx)->key_bytes);
}

/* A histogram for each key, whose slots are the fields of the value. */
static struct error *make_key_hists(struct making *m, const struct collect_opts *opts,
				    struct result *r)
{
	struct collector *c = m->c;
	_cleanup_free_ const uint8_t **rows = NULL;
	struct result_column *keys;
	size_t n;

	TRY(sort_rows(c, opts, &rows, &n));
	qsort_r(rows, n, sizeof(*rows), compare_sums, c);
	TRY(make_columns(m, c->n_slots < c->value.n, &keys, &r->n_keys));
	if (c->n_slots < c->value.n) { /* what is beside the slots belongs to the key */
		struct result_column *slots = keys + c->per_cpu + c->key.n + c->slots_at;

		r->n_keys -= c->n_slots;
		memmove(slots, slots + c->n_slots, (keys + r->n_keys - slots) * sizeof(*slots));
	}
	r->keys = keys;
	r->n_hists = opts->top ? min_of(n, opts->top) : n;
	r->hists = arena_alloc(m->arena, (r->n_hists + 1) * sizeof(*r->hists));
	if (!r->hists)
		return error_nomem();
	for (size_t i = 0; i < r->n_hists; i++) {
		struct result_hist *hist = &r->hists[i];
		struct result_cell *cells = arena_alloc(m->arena, (r->n_keys + 1) * sizeof(*cells));

		if (!cells)
			return error_nomem();
		TRY(make_hist(m, c->n_slots, hist));
		TRY(make_key(m, rows[i], cells));
		hist->keys = cells;
		cells += c->per_cpu + c->key.n;
		m->fields = &c->value;
		for (size_t k = 0; k < c->value.n; k++) {
			const struct record_field *f = &c->value.v[k];

			if (k >= c->slots_at && k < c->slots_at + c->n_slots)
				hist_count(m, hist, k - c->slots_at,
					   field_number(f, row_value(c, rows[i])));
			else
				TRY(make_cell(m, f, row_value(c, rows[i]), cells++));
		}
		TRY(make_label(m, r, hist->keys, &hist->label));
	}
	return NULL;
}

static struct error *make_result(struct making *m, const struct collect_opts *opts,
				 struct results *results)
{
	struct collector *c = m->c;
	const struct display *d = c->display;
	bool indexed = c->reader && map_type_indexed(map_reader_info(c->reader)->type);
	enum result_kind kind = c->stream				  ? RESULT_EVENTS
				: collector_has_stacks(c)		  ? RESULT_STACKS
				: c->heat				  ? RESULT_HEAT
				: is_hist(d)				  ? RESULT_HIST
				: d->kind == DISPLAY_COUNT && !c->per_cpu ? RESULT_COUNT
									  : RESULT_TABLE;
	struct result *r = results_add(results, kind, collector_name(c));

	if (!r)
		return error_nomem();
	r->declared = d->declared;
	r->log2 = is_hist(d) && !d->step;
	r->title = d->title ? arena_strdup(m->arena, d->title) : NULL;
	r->unit = d->unit ? arena_strdup(m->arena, d->unit) : NULL;
	if (kind == RESULT_EVENTS) {
		make_events(c, r);
		return NULL;
	}
	if (kind == RESULT_STACKS)
		return make_stacks(m, opts, r);
	if (kind == RESULT_HEAT)
		return make_heat(m, opts, r);
	if (kind == RESULT_TABLE)
		return collector_is_section(c) ? make_variables(m, r) : make_table(m, opts, r);
	if (kind == RESULT_HIST)
		return indexed && !d->floor ? make_array_hists(m, r) : make_key_hists(m, opts, r);
	for (size_t i = 0; i < c->now.n; i++)
		making_add(m, &r->count, row_sum(c, row_at(c, &c->now, i), &m->too_large));
	return NULL;
}

struct error *collector_collect(struct collector *c, const struct collect_opts *opts,
				struct run_names *names, struct results *results)
{
	struct making m = {.c = c, .names = names, .arena = &results->arena};

	if (c->heat) {
		TRY(collector_sample(c, clock_ns(CLOCK_MONOTONIC)));
	} else if (!c->stream) {
		bool apart = opts->per_cpu || (!fields_count(&c->value) && !is_hist(c->display)) ||
			     fields_any_set(&c->value);

		TRY(collector_look(c, apart && map_reader_cpus(c->reader) &&
					      !collector_has_stacks(c)));
		if (opts->delta)
			TRY(subtract_last(c));
	}
	m.labels = &opts->labels;
	struct error *err = make_result(&m, opts, results);
	if (!err)
		err = note_values(&m, opts, &results->v[results->n - 1]);
	strbuf_deinit(&m.text);
	return err;
}
