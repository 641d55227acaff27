// SPDX-License-Identifier: BSD-2-Clause
/*
 * The pass over the types of a BTF: where each begins, and whether what it
 * says is possible. The kernel's BTF has 130,000 types and is opened at every
 * start; hence the one pass is also the only check. It keeps the largest type
 * id and the largest string offset seen and compares them once, at the end.
 * (When they are too large, a second, slow pass finds out where, for the
 * message.) That a function's type is a prototype is looked up in a bitmap of
 * the prototypes so far, since they mostly stand before their functions.
 *
 * A type's size is settled by a branch on its kind, not by a table: a processor
 * that guesses the branch need not wait for one type to find the next.
 */
#include "lib/btf/internal.h"

#include <stdlib.h>
#include <string.h>

const struct btf_kind_size btf_kind_sizes[32] = {
	[BTF_KIND_UNKN] = {BTF_NO_KIND},
	[BTF_KIND_INT] = {4},
	[BTF_KIND_PTR] = {0},
	[BTF_KIND_ARRAY] = {sizeof(struct btf_array)},
	[BTF_KIND_STRUCT] = {0, sizeof(struct btf_member)},
	[BTF_KIND_UNION] = {0, sizeof(struct btf_member)},
	[BTF_KIND_ENUM] = {0, sizeof(struct btf_enum)},
	[BTF_KIND_FWD] = {0},
	[BTF_KIND_TYPEDEF] = {0},
	[BTF_KIND_VOLATILE] = {0},
	[BTF_KIND_CONST] = {0},
	[BTF_KIND_RESTRICT] = {0},
	[BTF_KIND_FUNC] = {0},
	[BTF_KIND_FUNC_PROTO] = {0, sizeof(struct btf_param)},
	[BTF_KIND_VAR] = {4},
	[BTF_KIND_DATASEC] = {0, sizeof(struct btf_var_secinfo)},
	[BTF_KIND_FLOAT] = {0},
	[BTF_KIND_DECL_TAG] = {4},
	[BTF_KIND_TYPE_TAG] = {0},
	[BTF_KIND_ENUM64] = {0, sizeof(struct btf_enum64_data)},
	[BTF_KIND_ENUM64 + 1 ... 31] = {BTF_NO_KIND},
};

const char *btf_kind_name(uint32_t kind)
{
	static const char *const names[] = {
		[BTF_KIND_UNKN] = "void",	  [BTF_KIND_INT] = "int",
		[BTF_KIND_PTR] = "pointer",	  [BTF_KIND_ARRAY] = "array",
		[BTF_KIND_STRUCT] = "struct",	  [BTF_KIND_UNION] = "union",
		[BTF_KIND_ENUM] = "enum",	  [BTF_KIND_FWD] = "forward declaration",
		[BTF_KIND_TYPEDEF] = "typedef",	  [BTF_KIND_VOLATILE] = "volatile",
		[BTF_KIND_CONST] = "const",	  [BTF_KIND_RESTRICT] = "restrict",
		[BTF_KIND_FUNC] = "function",	  [BTF_KIND_FUNC_PROTO] = "function prototype",
		[BTF_KIND_VAR] = "variable",	  [BTF_KIND_DATASEC] = "data section",
		[BTF_KIND_FLOAT] = "float",	  [BTF_KIND_DECL_TAG] = "declaration tag",
		[BTF_KIND_TYPE_TAG] = "type tag", [BTF_KIND_ENUM64] = "enum",
	};

	return kind < ARRAY_SIZE(names) ? names[kind] : "unknown kind";
}

/* The largest id and string offset of what was read. */
struct named_extent {
	uint32_t id;
	uint32_t str;
};

static inline void see_id(struct named_extent *e, uint32_t id)
{
	e->id = id > e->id ? id : e->id;
}

static inline void see_str(struct named_extent *e, uint32_t off)
{
	e->str = off > e->str ? off : e->str;
}

static bool size_is_enum(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

#define CUT_OFF "is truncated"

/*
 * Checks one type, of whose bytes left are there, at least struct btf_type;
 * *size becomes what it takes. What it refers to goes to e. What is wrong with
 * it, or NULL.
 */
static inline __attribute__((always_inline)) const char *
check_type(const struct btf_type *t, size_t left, struct named_extent *e, size_t *size)
{
	const uint32_t vlen = btf_vlen(t);
	const uint32_t *words = (const uint32_t *)(t + 1);

	left -= sizeof(*t);
	*size = sizeof(*t);
	see_str(e, t->name_off);
	switch (btf_kind(t)) {
	case BTF_KIND_FUNC:
	case BTF_KIND_PTR:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		see_id(e, t->type);
		return NULL;
	case BTF_KIND_FWD:
		return NULL;
	case BTF_KIND_FUNC_PROTO:
		if (left < vlen * sizeof(struct btf_param))
			return CUT_OFF;
		*size += vlen * sizeof(struct btf_param);
		see_id(e, t->type);
		for (uint32_t i = 0; i < vlen; i++) {
			see_str(e, words[2 * i]);
			see_id(e, words[2 * i + 1]);
		}
		return NULL;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		if (left < vlen * sizeof(struct btf_member))
			return CUT_OFF;
		*size += vlen * sizeof(struct btf_member);
		for (uint32_t i = 0; i < vlen; i++) {
			see_str(e, words[3 * i]);
			see_id(e, words[3 * i + 1]);
		}
		return NULL;
	case BTF_KIND_ARRAY:
		if (left < sizeof(struct btf_array))
			return CUT_OFF;
		*size += sizeof(struct btf_array);
		see_id(e, words[0]);
		see_id(e, words[1]);
		return NULL;
	case BTF_KIND_ENUM:
		if (left < vlen * sizeof(struct btf_enum))
			return CUT_OFF;
		*size += vlen * sizeof(struct btf_enum);
		/* "enum e;" alone has neither values nor a size. */
		if (!size_is_enum(t->size) && (t->size || vlen))
			return "the size of an enum must be 1, 2, 4 or 8 bytes";
		for (uint32_t i = 0; i < vlen; i++)
			see_str(e, words[2 * i]);
		return NULL;
	case BTF_KIND_ENUM64:
		if (left < vlen * sizeof(struct btf_enum64_data))
			return CUT_OFF;
		*size += vlen * sizeof(struct btf_enum64_data);
		if (!size_is_enum(t->size))
			return "the size of an enum must be 1, 2, 4 or 8 bytes";
		for (uint32_t i = 0; i < vlen; i++)
			see_str(e, words[3 * i]);
		return NULL;
	case BTF_KIND_DATASEC:
		if (left < vlen * sizeof(struct btf_var_secinfo))
			return CUT_OFF;
		*size += vlen * sizeof(struct btf_var_secinfo);
		for (uint32_t i = 0; i < vlen; i++)
			see_id(e, words[3 * i]);
		return NULL;
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		if (left < sizeof(uint32_t))
			return CUT_OFF;
		*size += sizeof(uint32_t);
		see_id(e, t->type);
		return NULL;
	case BTF_KIND_INT: {
		if (left < sizeof(uint32_t))
			return CUT_OFF;
		*size += sizeof(uint32_t);
		uint32_t bits = BTF_INT_BITS(words[0]) + BTF_INT_OFFSET(words[0]);

		if (bits > 128 || (bits + 7) / 8 > t->size || t->size > 16)
			return "the integer's bits exceed its size";
		return NULL;
	}
	case BTF_KIND_FLOAT:
		if (t->size != 2 && t->size != 4 && t->size != 8 && t->size != 12 && t->size != 16)
			return "the size of a float must be 2, 4, 8, 12 or 16 bytes";
		return NULL;
	default:
		return "has an unknown kind";
	}
}

/* The error of a type that check_type() refused, or that has less than struct btf_type. */
static struct error *type_error(const struct btf *btf, struct cursor *c, const char *wrong)
{
	const struct btf_type *t = (const struct btf_type *)(btf->types + c->pos);

	if (cursor_left(c) < sizeof(*t))
		return cursor_error(c, "a type is truncated after %zu bytes", cursor_left(c));
	if (btf_extra_size(btf_kind(t), btf_vlen(t)) < 0)
		return error_hint(cursor_error(c, "unknown type kind %u", btf_kind(t)),
				  "the BTF is newer than this version of perf-bpf, or damaged");
	if (!strcmp(wrong, CUT_OFF))
		return cursor_error(c, "%s with %u entries is truncated",
				    btf_kind_name(btf_kind(t)), btf_vlen(t));
	return cursor_error(c, "type %u: %s", btf->start_id + btf->n, wrong);
}

/* The first type that refers to an id or a string that does not exist. */
static struct error *find_bad_type(const struct btf *btf, struct cursor *c, uint32_t max_id,
				   uint32_t max_str)
{
	for (uint32_t i = 0; i < btf->n; i++) {
		const struct btf_type *t = (const struct btf_type *)(btf->types + btf->offs[i]);
		struct named_extent e = {0};
		size_t size;

		check_type(t, btf->types_len - btf->offs[i], &e, &size);
		cursor_seek(c, btf->offs[i]);
		if (e.id > max_id)
			return cursor_error(
				c, "type %u (%s) refers to type %u, but the last type is %u",
				btf->start_id + i, btf_kind_name(btf_kind(t)), e.id, max_id);
		if (e.str > max_str)
			return cursor_error(
				c,
				"type %u (%s) has its name at offset %u, but the strings end at %u",
				btf->start_id + i, btf_kind_name(btf_kind(t)), e.str, max_str);
	}
	return cursor_error(c, "malformed types");
}

/*
 * FUNC refers to FUNC_PROTO, DATASEC to VARs: whoever has one of these takes
 * that for granted. They are few beside the rest, or at the end of it.
 */
static struct error *check_kinds(const struct btf *btf, const struct btf_type *t, uint32_t id)
{
	if (btf_is_func(t) && !btf_is_func_proto(btf_type_at(btf, t->type)))
		return error_new(EBADMSG, "type %u (function %s) has no function prototype", id,
				 btf_name(btf, t));
	if (btf_is_datasec(t))
		for (uint32_t i = 0; i < btf_vlen(t); i++) {
			uint32_t kind = btf_kind(btf_type_at(btf, btf_var_secinfos(t)[i].type));

			/* a section of code or of extern functions holds FUNCs */
			if (kind != BTF_KIND_VAR && kind != BTF_KIND_FUNC)
				return error_new(
					EBADMSG,
					"type %u (section %s) contains a %s that is not a variable",
					id, btf_name(btf, t), btf_kind_name(kind));
		}
	return NULL;
}

/* A bit per own type: it is a FUNC_PROTO. */
struct protos {
	uint64_t few[32];
	uint64_t *many; /* few, or allocated */
};

static bool protos_init(struct protos *protos, size_t max)
{
	protos->many = protos->few;
	if (max < sizeof(protos->few) * 8) {
		memset(protos->few, 0, max / 8 + 1);
		return true;
	}
	protos->many = calloc(max / 64 + 1, sizeof(*protos->many));
	return protos->many != NULL;
}

static void protos_deinit(struct protos *protos)
{
	if (protos->many != protos->few)
		free(protos->many);
}

static struct error *make_room(struct btf *btf)
{
	/* the kernel's types take 25 bytes on average */
	const size_t want = btf->offs_cap ? btf->offs_cap * 2 : btf->types_len / 20 + 16;

	return vec_grow((void **)&btf->offs, &btf->offs_cap, want, sizeof(*btf->offs))
		       ? NULL
		       : error_nomem();
}

/* Which own types, by number from 1, were not checked altogether; 0: all were. */
struct later {
	uint32_t first;
	uint32_t last;
};

/* The pass itself. c stands at what is wrong. */
static struct error *read_types(struct btf *btf, struct cursor *c, struct named_extent *all,
				struct protos *protos, struct later *later)
{
	struct named_extent e = {0};
	uint32_t n = 0;

	for (size_t at = 0, size; at != btf->types_len; at += size) {
		const struct btf_type *t = (const struct btf_type *)(btf->types + at);
		const size_t left = btf->types_len - at;
		const char *wrong = left < sizeof(*t) ? CUT_OFF : check_type(t, left, &e, &size);

		if (wrong) {
			btf->n = n;
			cursor_seek(c, at);
			return type_error(btf, c, wrong);
		}
		if (n == btf->offs_cap)
			TRY(make_room(btf));
		btf->offs[n] = (uint32_t)at;

		const uint32_t kind = btf_kind(t), proto = t->type - btf->start_id;
		if (kind == BTF_KIND_FUNC_PROTO)
			protos->many[n / 64] |= UINT64_C(1) << n % 64;
		n++;
		if (kind == BTF_KIND_DATASEC ||
		    (kind == BTF_KIND_FUNC &&
		     (proto >= n || !(protos->many[proto / 64] >> proto % 64 & 1)))) {
			later->first = later->first ? later->first : n;
			later->last = n;
		}
	}
	btf->n = n;
	*all = e;
	return NULL;
}

struct error *btf_index_types(struct btf *btf, const char *name, uint64_t origin)
{
	struct cursor c = cursor_make(btf->types, btf->types_len, name);
	struct named_extent all = {0};
	struct later later = {0};
	struct protos protos;

	c.origin = origin;
	btf->n = 0;
	if (!protos_init(&protos, btf->types_len / sizeof(struct btf_type)))
		return error_nomem();
	struct error *err = read_types(btf, &c, &all, &protos, &later);
	protos_deinit(&protos);
	if (err)
		return err;

	const uint32_t max_id = btf->start_id + btf->n - 1;
	const uint32_t max_str = btf->start_str + btf->strs_len - 1;
	if (all.id > max_id || all.str > max_str)
		return find_bad_type(btf, &c, max_id, max_str);
	for (uint32_t i = later.first; i && i <= later.last; i++) {
		const struct btf_type *t = (const struct btf_type *)(btf->types + btf->offs[i - 1]);

		err = check_kinds(btf, t, btf->start_id + i - 1);
		if (err)
			return error_at(err, "%s", name ? name : "BTF");
	}
	return NULL;
}
