// SPDX-License-Identifier: BSD-2-Clause
#include "run/record_fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/strbuf.h"
#include "lib/base/sum.h"
#include "lib/base/vec.h"
#include "lib/btf/open.h"
#include "lib/btf/value.h"

#define TAG_SUM	  "perf-bpf:sum"
#define TAG_LEVEL "perf-bpf:level"

enum {
	MAX_FIELDS = 10000,
	MAX_STEPS = 4 * MAX_FIELDS,
	MAX_DEPTH = 32,
};

void fields_deinit(struct fields *fields)
{
	struct record_field *f;

	vec_for_each (f, fields)
		free(f->name);
	vec_deinit(fields);
}

/* The role that the names of typedefs on the way to a type give it. */
static enum field_role role_of(const struct btf *btf, uint32_t type)
{
	static const struct {
		const char *name;
		enum field_role role;
	} names[] = {
		{"perf_bpf_pid", ROLE_PID},
		{"perf_bpf_uid", ROLE_UID},
		{"perf_bpf_gid", ROLE_GID},
		{"perf_bpf_cgroup", ROLE_CGROUP},
		{"perf_bpf_ksym", ROLE_KSYM},
		{"perf_bpf_ipv4", ROLE_IPV4},
		{"perf_bpf_ipv6", ROLE_IPV6},
		{"perf_bpf_port", ROLE_PORT},
		{"perf_bpf_ns", ROLE_NS},
		{"perf_bpf_time", ROLE_TIME},
		{"perf_bpf_bytes", ROLE_BYTES},
		{"perf_bpf_dev", ROLE_DEV},
		{"perf_bpf_syscall", ROLE_SYSCALL},
		{"perf_bpf_errno", ROLE_ERRNO},
		{"perf_bpf_kstack", ROLE_KSTACK},
		{"perf_bpf_ustack", ROLE_USTACK},
		{"perf_bpf_kstack_key", ROLE_KSTACK},
		{"perf_bpf_ustack_key", ROLE_USTACK},
		{"perf_bpf_usym", ROLE_USYM},
		{"pid_t", ROLE_PID},
		{"uid_t", ROLE_UID},
		{"gid_t", ROLE_GID},
	};

	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		const struct btf_type *t = btf__type_by_id(btf, type);

		if (!t || !(btf_is_mod(t) || btf_is_typedef(t)))
			return ROLE_NONE;
		for (size_t i = 0; btf_is_typedef(t) && i < ARRAY_SIZE(names); i++)
			if (!strcmp(btf_name(btf, t), names[i].name))
				return names[i].role;
		type = t->type;
	}
	return ROLE_NONE;
}

struct fields_walk {
	const struct btf *btf;
	struct fields *fields;
	struct strbuf path;
	struct u64map tags; /* by member_key(): the enum field_change that is declared */
	enum field_change declared;
	uint32_t steps; /* types seen: what holds nothing makes no field, but takes time */
};

static void path_cut(struct fields_walk *w, size_t len)
{
	w->path.len = len;
	if (w->path.str)
		w->path.str[len] = 0;
}

static struct error *add_field(struct fields_walk *w, struct record_field field)
{
	if (w->fields->n >= MAX_FIELDS)
		return error_new(E2BIG, "the type has more than %d fields", MAX_FIELDS);
	if ((uint64_t)field.off + field.size > w->fields->size)
		return error_new(EINVAL, "member %s is outside of its type", strbuf_str(&w->path));
	struct record_field *f = vec_push(w->fields);
	if (!f)
		return error_nomem();
	*f = field;
	f->change = w->declared;
	f->declared = w->declared != CHANGE_UNKNOWN;
	f->name = strdup(strbuf_str(&w->path));
	return f->name ? NULL : error_nomem();
}

static struct error *walk_type(struct fields_walk *w, uint32_t type, uint64_t bit, uint32_t bits,
			       int depth);

static struct error *walk_array(struct fields_walk *w, const struct btf_type *t, uint64_t bit,
				int depth)
{
	const struct btf_array *a = btf_array(t);
	int64_t size = btf__resolve_size(w->btf, a->type);
	size_t len = w->path.len;

	if (size < 0 || (uint64_t)size * a->nelems > w->fields->size)
		return error_new(EINVAL, "an array is larger than its type");
	if (btf_is_char(w->btf, a->type))
		return add_field(w, (struct record_field){.kind = FIELD_CHARS,
							  .off = bit / 8,
							  .size = a->nelems});
	for (uint32_t i = 0; i < a->nelems && size; i++) {
		size_t n = w->fields->n;

		strbuf_addf(&w->path, "[%u]", i);
		TRY(walk_type(w, a->type, bit + i * (uint64_t)size * 8, 0, depth + 1));
		path_cut(w, len);
		/* as empty as the first one are all the others */
		if (w->fields->n == n)
			break;
	}
	return NULL;
}

/* The members of a union are the same bytes: one that has all of them is enough. */
static uint32_t widest_member(const struct btf *btf, const struct btf_type *t)
{
	uint32_t widest = 0;
	int64_t most = 0;

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		int64_t size = btf__resolve_size(btf, btf_members(t)[i].type);

		if (size > most) {
			most = size;
			widest = i;
		}
	}
	return widest;
}

static uint64_t member_key(uint32_t type, uint32_t member)
{
	return (uint64_t)type << 32 | member;
}

/* What PERF_BPF_SUM and PERF_BPF_LEVEL say of members. */
static struct error *find_tags(struct fields_walk *w)
{
	const struct btf *btf = w->btf;
	const bool any = btf__find_str((struct btf *)btf, TAG_SUM) >= 0 ||
			 btf__find_str((struct btf *)btf, TAG_LEVEL) >= 0;
	const uint32_t n = any ? btf__type_cnt(btf) : 0;

	for (uint32_t id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (!t || !btf_is_decl_tag(t) || btf_decl_tag(t)->component_idx < 0)
			continue;
		const char *name = btf_name(btf, t);
		const enum field_change change = !strcmp(name, TAG_SUM)	    ? CHANGE_ADDED
						 : !strcmp(name, TAG_LEVEL) ? CHANGE_SET
									    : CHANGE_UNKNOWN;
		const uint64_t key = member_key(t->type, (uint32_t)btf_decl_tag(t)->component_idx);
		if (change && !u64map_put(&w->tags, key, (void *)(uintptr_t)change))
			return error_nomem();
	}
	return NULL;
}

static struct error *walk_members(struct fields_walk *w, uint32_t id, const struct btf_type *t,
				  uint64_t bit, int depth)
{
	const enum field_change outer = w->declared;
	size_t len = w->path.len;

	uint32_t begin = btf_is_union(t) ? widest_member(w->btf, t) : 0;
	uint32_t end = btf_is_union(t) ? begin + 1 : btf_vlen(t);

	for (uint32_t i = begin; i < end && i < btf_vlen(t); i++) {
		const struct btf_member *m = btf_members(t) + i;
		const char *name = btf__name_by_offset(w->btf, m->name_off);

		if (name && *name)
			strbuf_addf(&w->path, "%s%s", len ? "." : "", name);
		if (outer == CHANGE_UNKNOWN)
			w->declared = (enum field_change)(uintptr_t)u64map_get(&w->tags,
									       member_key(id, i));
		TRY(walk_type(w, m->type, bit + btf_member_bit_offset(t, i),
			      btf_member_bitfield_size(t, i), depth + 1));
		w->declared = outer;
		path_cut(w, len);
	}
	return NULL;
}

/* Global variables. What has no address of its own there (size 0) is left out. */
static struct error *walk_section(struct fields_walk *w, const struct btf_type *t, uint64_t bit,
				  int depth)
{
	const struct btf_var_secinfo *var = btf_var_secinfos(t);
	size_t len = w->path.len;

	for (uint32_t i = 0; i < btf_vlen(t); i++, var++) {
		const struct btf_type *v = btf__type_by_id(w->btf, var->type);

		if (!v || !btf_is_var(v) || !var->size)
			continue;
		strbuf_adds(&w->path, btf_name(w->btf, v));
		TRY(walk_type(w, v->type, bit + var->offset * (uint64_t)8, 0, depth + 1));
		path_cut(w, len);
	}
	return NULL;
}

static enum field_kind kind_of_scalar(const struct value_scalar *v)
{
	switch (v->kind) {
	case VALUE_BOOL:
		return FIELD_BOOL;
	case VALUE_ENUM:
		return FIELD_ENUM;
	case VALUE_POINTER:
		return FIELD_POINTER;
	case VALUE_FLOAT:
		return !v->bits && value_is_float_size(v->size) ? FIELD_FLOAT : FIELD_BYTES;
	case VALUE_WIDE:
		return v->size == 16 ? FIELD_WIDE : FIELD_BYTES;
	default:
		return v->is_signed ? FIELD_INT : FIELD_UINT;
	}
}

static struct error *walk_type(struct fields_walk *w, uint32_t type, uint64_t bit, uint32_t bits,
			       int depth)
{
	uint32_t id = 0;
	const struct btf_type *t = btf_skip_mods_and_typedefs(w->btf, type, &id);
	struct record_field f = {.off = bit / 8, .role = role_of(w->btf, type), .size = t->size};

	if (depth > MAX_DEPTH)
		return error_new(E2BIG, "the types are nested more than %d deep", MAX_DEPTH);
	if (++w->steps > MAX_STEPS)
		return error_new(E2BIG, "the type has more than %d parts", MAX_STEPS);
	if (strbuf_failed(&w->path))
		return error_nomem();
	if (f.role == ROLE_IPV6) {
		f.kind = FIELD_BYTES;
		return add_field(w, f);
	}
	const struct value_scalar v = value_scalar_of(w->btf, t, bit, bits);
	if (v.bits > 64)
		return error_new(EINVAL, "bit fields of %u bits are not supported", v.bits);
	if (v.kind) {
		f.kind = kind_of_scalar(&v);
		f.is_signed = v.is_signed;
		f.bit = v.bit;
		f.bits = v.bits;
		f.size = value_scalar_bytes(&v);
		f.type = id;
		return v.size ? add_field(w, f) : NULL; /* "enum e;" alone has no size */
	}
	switch (btf_kind(t)) {
	case BTF_KIND_ARRAY:
		return walk_array(w, t, bit, depth);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return walk_members(w, id, t, bit, depth);
	case BTF_KIND_DATASEC:
		return walk_section(w, t, bit, depth);
	default:
		return error_new(EINVAL, "a %s has no value", btf_kind_name(btf_kind(t)));
	}
}

/* Whether comm names the process of pid: "pid" and "comm", "parent" and "parent_comm". */
static bool names_process(const char *comm, const char *pid)
{
	static const char *const ids[] = {"pid", "tgid", "tid"};
	const char *tail = comm + strlen(comm) - strlen("comm");
	const size_t len = strlen(pid);

	if (tail < comm || strcmp(tail, "comm") != 0)
		return false;
	const size_t stem = tail - comm; /* with its '_' or '.' */
	if (strncmp(comm, pid, stem) == 0)
		for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
			if (!strcmp(pid + stem, ids[i]))
				return true;
	return stem == len + 1 && comm[len] == '_' && !strncmp(comm, pid, len);
}

/* A name in the record is that of the time; what the process is called now may differ. */
static void find_comms(struct fields *fields)
{
	struct record_field *f, *comm;

	vec_for_each (f, fields)
		if (f->role == ROLE_PID)
			vec_for_each (comm, fields)
				f->has_comm |= comm->kind == FIELD_CHARS &&
					       names_process(comm->name, f->name);
}

struct error *fields_of(const struct btf *btf, uint32_t type, uint32_t size, struct fields *fields)
{
	struct fields_walk w = {.btf = btf, .fields = fields};

	fields->size = size;
	if (!btf || !type) {
		bool number = size == 1 || size == 2 || size == 4 || size == 8;

		return add_field(&w,
				 (struct record_field){.kind = number ? FIELD_UINT : FIELD_BYTES,
						       .size = size});
	}
	int64_t has = btf__resolve_size(btf, type);
	if (has != size)
		return error_new(EINVAL, "the type has %lld bytes, but the map has %u",
				 (long long)has, size);
	struct error *err = find_tags(&w);
	if (!err)
		err = walk_type(&w, type, 0, 0, 0);
	strbuf_deinit(&w.path);
	u64map_deinit(&w.tags);
	if (!err && !btf_is_datasec(btf__type_by_id(btf, type)))
		find_comms(fields);
	return err;
}

const char *field_unit(const struct record_field *field)
{
	switch (field->role) {
	case ROLE_NS:
		return "ns";
	case ROLE_BYTES:
		return "bytes";
	default:
		return NULL;
	}
}

bool field_has_text(const struct record_field *field)
{
	return field->kind == FIELD_ENUM || field->kind == FIELD_POINTER ||
	       (!field->has_comm && field->role != ROLE_NONE && field->role != ROLE_BYTES &&
		field->role != ROLE_IPV6);
}

bool field_is_number(const struct record_field *f)
{
	return f->kind == FIELD_UINT || f->kind == FIELD_INT || f->kind == FIELD_WIDE ||
	       f->kind == FIELD_FLOAT;
}

static bool is_signed(const struct record_field *f)
{
	return f->kind == FIELD_INT || (f->kind == FIELD_ENUM && f->is_signed);
}

uint64_t field_number(const struct record_field *f, const void *data)
{
	const struct value_scalar v = {
		.is_signed = is_signed(f), .size = f->size, .bit = f->bit, .bits = f->bits};

	return value_number(&v, (const uint8_t *)data + f->off);
}

unsigned __int128 field_wide(const struct record_field *f, const void *data)
{
	return value_wide((const uint8_t *)data + f->off);
}

double field_float(const struct record_field *f, const void *data)
{
	return (double)value_float((const uint8_t *)data + f->off, f->size);
}

static int compare_ints(const struct record_field *f, const void *a, const void *b)
{
	const uint64_t x = field_number(f, a), y = field_number(f, b);

	if (is_signed(f))
		return ((int64_t)x > (int64_t)y) - ((int64_t)x < (int64_t)y);
	return (x > y) - (x < y);
}

static int compare(const struct record_field *f, const void *a, const void *b)
{
	const uint8_t *p = (const uint8_t *)a + f->off, *q = (const uint8_t *)b + f->off;

	switch (f->kind) {
	case FIELD_WIDE: {
		const unsigned __int128 x = field_wide(f, a), y = field_wide(f, b);

		if (f->is_signed)
			return ((__int128)x > (__int128)y) - ((__int128)x < (__int128)y);
		return (x > y) - (x < y);
	}
	case FIELD_FLOAT:
		return value_compare_floats(p, q, f->size);
	case FIELD_CHARS: { /* what is behind the NUL is not shown */
		const int order = strncmp((const char *)p, (const char *)q, f->size);

		return order ? order : memcmp(p, q, f->size);
	}
	case FIELD_BYTES:
		return memcmp(p, q, f->size);
	default:
		return compare_ints(f, a, b);
	}
}

int field_order(const struct record_field *f, const void *a, const void *b, bool largest_first)
{
	const int order = compare(f, a, b);

	/* value_compare_floats() has what is not a number as the least */
	if (f->kind == FIELD_FLOAT && (isnan(field_float(f, a)) || isnan(field_float(f, b))))
		return -order;
	return largest_first ? -order : order;
}

bool field_is_counter(const struct record_field *f)
{
	return (f->kind == FIELD_UINT || f->kind == FIELD_INT || f->kind == FIELD_WIDE) &&
	       !f->bits && (f->role == ROLE_NONE || f->role == ROLE_NS || f->role == ROLE_BYTES);
}

static __int128 number_of(const struct record_field *f, const void *data)
{
	const uint64_t v = field_number(f, data);

	return is_signed(f) ? (__int128)(int64_t)v : (__int128)v;
}

/* Adds a counter to another, or takes it away. */
static void change(struct record_field *f, void *to, const void *by, bool add)
{
	uint8_t *p = (uint8_t *)to + f->off;
	uint64_t sum;

	if (f->kind == FIELD_WIDE) {
		unsigned __int128 v = field_wide(f, to);

		f->too_large |= !sum_wide(&v, field_wide(f, by), add, f->is_signed);
		memcpy(p, &v, sizeof(v));
		return;
	}
	const __int128 v = number_of(f, by);

	f->too_large |= !sum_fit(number_of(f, to) + (add ? v : -v), f->size, is_signed(f), &sum);
	value_put_uint(p, f->size, sum);
}

void fields_begin_sums(struct fields *fields)
{
	struct record_field *f;

	vec_for_each (f, fields)
		f->too_large = false;
}

/* Whether a field is 0: no CPU wrote to it yet. */
static bool is_zero(const struct record_field *f, const uint8_t *data)
{
	const uint8_t *p = data + f->off;

	if (f->bits)
		return !field_number(f, data);
	for (uint32_t i = 0; i < f->size; i++)
		if (p[i])
			return false;
	return true;
}

void fields_add(struct fields *fields, void *to, const void *from)
{
	for (size_t i = 0; i < fields->n; i++) {
		struct record_field *f = &fields->v[i];
		uint8_t *p = (uint8_t *)to + f->off;

		if (field_is_counter(f))
			change(f, to, from, true);
		else if (!is_zero(f, to))
			continue;
		else if (f->bits)
			value_put_bits(p, f->bit, f->bits, field_number(f, from));
		else
			memcpy(p, (const uint8_t *)from + f->off, f->size);
	}
}

bool field_is_additive(const struct record_field *f)
{
	return field_is_counter(f) && f->change == CHANGE_ADDED;
}

void fields_subtract(struct fields *fields, void *to, const void *from)
{
	for (size_t i = 0; i < fields->n; i++) {
		struct record_field *f = &fields->v[i];

		if (field_is_additive(f))
			change(f, to, from, false);
	}
}

void fields_set_additive(struct fields *fields)
{
	struct record_field *f;

	vec_for_each (f, fields)
		if (f->change == CHANGE_UNKNOWN)
			f->change = CHANGE_ADDED;
}

/* What is set once is not a sum, whatever else is done with it. */
static void see_change(struct record_field *f, bool adds)
{
	if (f->declared)
		return;
	if (!adds)
		f->change = CHANGE_SET;
	else if (f->change == CHANGE_UNKNOWN)
		f->change = CHANGE_ADDED;
}

/* "a.slots[3]" and "a.slots[4]" are elements of one array. */
static bool same_array(const struct record_field *a, const struct record_field *b)
{
	const char *x = strrchr(a->name, '['), *y = strrchr(b->name, '[');

	return x && y && x - a->name == y - b->name &&
	       !strncmp(a->name, b->name, (size_t)(x - a->name));
}

static const struct record_field *field_at(const struct fields *fields, int64_t off)
{
	const struct record_field *f;

	vec_for_each (f, fields)
		if (off >= f->off && off < (int64_t)f->off + f->size)
			return f;
	return NULL;
}

void fields_see_store(struct fields *fields, int32_t off, uint32_t size, bool varies, bool adds)
{
	const struct record_field *first = varies ? field_at(fields, off) : NULL;
	struct record_field *f;

	vec_for_each (f, fields) {
		const bool hit =
			(int64_t)f->off < (int64_t)off + size && off < (int64_t)f->off + f->size;

		if (varies && first && strchr(first->name, '[')) {
			if (same_array(first, f))
				see_change(f, adds);
		} else if (varies) {
			if (!adds)
				see_change(f, false); /* it may be anywhere */
		} else if (hit) {
			see_change(f, adds && f->off == (uint32_t)off && f->size == size);
		}
	}
}

bool fields_count(const struct fields *fields)
{
	for (size_t i = 0; i < fields->n; i++)
		if (field_is_counter(&fields->v[i]))
			return true;
	return false;
}

bool fields_any_additive(const struct fields *fields)
{
	for (size_t i = 0; i < fields->n; i++)
		if (field_is_additive(&fields->v[i]))
			return true;
	return false;
}

bool fields_any_set(const struct fields *fields)
{
	for (size_t i = 0; i < fields->n; i++)
		if (field_is_counter(&fields->v[i]) && fields->v[i].change == CHANGE_SET)
			return true;
	return false;
}

bool fields_any_added(const struct fields *fields, const void *data)
{
	for (size_t i = 0; i < fields->n; i++)
		if (field_is_additive(&fields->v[i]) && !is_zero(&fields->v[i], data))
			return true;
	return false;
}

bool fields_any(const struct fields *fields, const void *data)
{
	for (size_t i = 0; i < fields->n; i++)
		if (!is_zero(&fields->v[i], data))
			return true;
	return false;
}
