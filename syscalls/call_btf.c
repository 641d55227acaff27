// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values by the kernel's BTF: what has no form of its own in syscalls/args.in, or, with
 * --force-btf, although it has. Which type an argument has is known from the C declaration in the
 * tracepoint's format ("const struct landlock_ruleset_attr *"), because the prototypes in BTF have
 * lost it: the functions that are left there take registers.
 *
 * A const struct is read at the entry. Of one that is not const it is not known whether the call
 * reads or writes it: it stays an address.
 */
#include <stdio.h>

#include "lib/btf/open.h"
#include "syscalls/call_decode.h"
#include "syscalls/call_table_internal.h"

enum {
	BTF_BYTES_MAX = 4096, /* of a struct */
	BTF_DEPTH_MAX = 8,    /* structs in structs */
	BTF_ITEMS_MAX = 32,   /* of an array */
};

/* ---- the type of an argument ---- */

/* The type that a C declaration without "const" names; 0: it is not known. */
static uint32_t find_type(const struct btf *btf, const char *decl, size_t len)
{
	static const struct {
		const char *word;
		uint32_t kind;
	} kinds[] = {
		{"struct ", BTF_KIND_STRUCT},
		{"union ", BTF_KIND_UNION},
		{"enum ", BTF_KIND_ENUM},
		{"", BTF_KIND_TYPEDEF},
	};
	char name[128];

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const size_t skip = strlen(kinds[i].word);

		if (len < skip || strncmp(decl, kinds[i].word, skip))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(len - skip), decl + skip);
		const int id = btf__find_by_name_kind(btf, name, kinds[i].kind);
		return id > 0 ? (uint32_t)id : 0;
	}
	return 0;
}

const struct arg_kind *call_btf_kind(struct arena *arena, const struct btf *btf, const char *type)
{
	static const char const_word[] = "const ";
	const bool is_const = !strncmp(type, const_word, sizeof(const_word) - 1);
	const char *decl = is_const ? type + sizeof(const_word) - 1 : type;
	const bool is_ptr = strchr(decl, '*') != NULL;
	const size_t len = strcspn(decl, "*");
	const size_t name_len = len && decl[len - 1] == ' ' ? len - 1 : len;

	if (is_ptr && (!is_const || decl[len + 1]))
		return NULL;
	const uint32_t id = find_type(btf, decl, name_len);
	const struct btf_type *t = id ? btf_skip_mods_and_typedefs(btf, id, NULL) : NULL;
	const int64_t size = id ? btf__resolve_size(btf, id) : 0;
	if (!t || size <= 0 || size > BTF_BYTES_MAX)
		return NULL;
	const bool is_number = btf_is_int(t) || btf_is_any_enum(t);
	if (is_ptr ? is_number : !is_number || size > 8)
		return NULL;
	struct arg_kind *kind = arena_alloc(arena, sizeof(*kind));
	if (kind)
		*kind = (struct arg_kind){
			.value = SHOW_BTF,
			.is_ptr = is_ptr,
			.direction = ARG_READ,
			.btf_type = id,
			.btf_size = (uint32_t)size,
		};
	return kind;
}

/* ---- values ---- */

/* A value to be shown: it starts at this bit of the len bytes at p. */
struct btf_value {
	const uint8_t *p;
	size_t len;
	uint64_t bit;
	uint32_t bits; /* of a bit field; 0: of the type's size */
};

static void show_type(struct call_decoder *d, uint32_t id, const struct btf_value *v, int depth);

static void show_scalar(struct call_decoder *d, const struct btf_type *t, const struct btf_value *v)
{
	const struct btf *btf = d->table->vmlinux;
	const struct value_scalar s = value_scalar_of(btf, t, v->bit % 8, v->bits);
	const uint64_t from = v->bit / 8, bytes = value_scalar_bytes(&s);
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	if (s.kind == VALUE_NONE || s.kind == VALUE_WIDE || s.kind == VALUE_FLOAT || bytes > 9 ||
	    s.bits > 64 || from > v->len || v->len - from < bytes) {
		sink_word(&d->sink, "?");
		return;
	}
	const uint64_t number = value_number(&s, v->p + from);
	if (s.kind == VALUE_POINTER)
		sink_addr(&d->sink, number);
	else if (s.kind == VALUE_ENUM && value_enum_add(btf, t, number, &name))
		sink_word(&d->sink, strbuf_str(&name));
	else if (s.is_signed)
		sink_i64(&d->sink, (int64_t)number);
	else
		sink_u64(&d->sink, number);
}

static void show_btf_array(struct call_decoder *d, const struct btf_type *t,
			   const struct btf_value *v, int depth)
{
	const struct btf_array *array = btf_array(t);
	const int64_t size = btf__resolve_size(d->table->vmlinux, array->type);
	struct btf_value item = *v;

	sink_array(&d->sink);
	for (uint32_t i = 0; i < array->nelems; i++) {
		if (i == BTF_ITEMS_MAX || size <= 0) {
			sink_more(&d->sink);
			break;
		}
		sink_item(&d->sink);
		show_type(d, array->type, &item, depth + 1);
		item.bit += (uint64_t)size * 8;
	}
	sink_end_array(&d->sink);
}

static void show_members(struct call_decoder *d, const struct btf_type *t,
			 const struct btf_value *v, int depth)
{
	const struct btf *btf = d->table->vmlinux;
	const uint32_t n = btf_vlen(t);

	sink_struct(&d->sink);
	for (uint32_t i = 0; i < n; i++) {
		const struct btf_member *m = btf_members(t) + i;
		const char *name = btf__name_by_offset(btf, m->name_off);
		const struct btf_value member = {
			.p = v->p,
			.len = v->len,
			.bit = v->bit + btf_member_bit_offset(t, i),
			.bits = btf_member_bitfield_size(t, i),
		};

		/* padding and bit fields without a name have no value */
		if (!name || (!*name && member.bits))
			continue;
		sink_member(&d->sink, *name ? name : "(anon)");
		show_type(d, m->type, &member, depth + 1);
	}
	sink_end_struct(&d->sink);
}

static void show_type(struct call_decoder *d, uint32_t id, const struct btf_value *v, int depth)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(d->table->vmlinux, id, NULL);

	if (!t || depth == BTF_DEPTH_MAX)
		sink_word(&d->sink, "...");
	else if (btf_is_composite(t))
		show_members(d, t, v, depth);
	else if (btf_is_array(t))
		show_btf_array(d, t, v, depth);
	else
		show_scalar(d, t, v);
}

void show_btf(struct call_decoder *d, uint32_t type, const void *p, size_t len)
{
	const struct btf_value v = {.p = p, .len = len};

	show_type(d, type, &v, 0);
}
