// SPDX-License-Identifier: BSD-2-Clause
/*
 * Declarations. C writes a type around the declared name: what comes before
 * the name is the innermost type and the stars, what comes after it are array
 * bounds and parameters, and parentheses keep a pointer to an array or to a
 * function together. So a declaration is before(type), name, after(type),
 * where both walk the chain from the outside (what the name is) to the inside
 * (what it is made of):
 *
 *	pointer to array[3] of int	"int (*"  name  ")[3]"
 */
#include <string.h>

#include "lib/btf/dump_internal.h"

struct decl {
	struct btf_dump *d;
	int level;	 /* of indentation, for structs inside */
	bool strip_mods; /* no const, volatile, restrict, tags */
	bool glued;	 /* what was written last takes the name without a blank */
};

static bool is_cv(const struct btf_type *t)
{
	return btf_is_mod(t);
}

/* A FUNC_PROTO or ARRAY behind modifiers: its pointer takes parentheses. */
static bool binds_right(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf_type_at(btf, id);

	for (int i = 0; i < DUMP_MAX_DEPTH && is_cv(t); i++)
		t = btf_type_at(btf, t->type);
	return btf_is_array(t) || btf_is_func_proto(t);
}

/* Only text that stays within the attribute. */
static bool is_plain_tag(const struct btf *btf, const struct btf_type *t)
{
	const char *tag = btf_name(btf, t);

	return strspn(tag, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
			   " :.,-=") == strlen(tag) ||
	       (btf_kflag(t) && strncmp(tag, "address_space(", 14) == 0 &&
		strspn(tag + 14, "0123456789") + 1 == strlen(tag + 14) &&
		tag[strlen(tag) - 1] == ')');
}

static void add_mod(struct decl *c, const struct btf_type *t)
{
	struct strbuf *out = c->d->out;

	if (c->strip_mods)
		return;
	switch (btf_kind(t)) {
	case BTF_KIND_CONST:
		strbuf_adds(out, "const");
		break;
	case BTF_KIND_VOLATILE:
		strbuf_adds(out, "volatile");
		break;
	case BTF_KIND_RESTRICT:
		strbuf_adds(out, "restrict");
		break;
	case BTF_KIND_TYPE_TAG:
		strbuf_adds(out,
			    btf_kflag(t) ? "__attribute__((" : "__attribute__((btf_type_tag(\"");
		strbuf_adds(out, btf_name(c->d->btf, t));
		strbuf_adds(out, btf_kflag(t) ? "))" : "\")))");
		break;
	}
}

/* The innermost type: a name, or a struct, union or enum written out. */
static struct error *write_base(struct decl *c, uint32_t id, int depth)
{
	struct btf_dump *d = c->d;
	const struct btf_type *t = btf_type_at(d->btf, id);
	const char *keyword = "";

	switch (btf_kind(t)) {
	case BTF_KIND_UNKN:
		strbuf_adds(d->out, "void");
		return NULL;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		if (!t->name_off || !*btf_name(d->btf, t))
			return dump_struct_body(d, id, c->level, depth + 1);
		keyword = btf_is_struct(t) ? "struct " : "union ";
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		if (!t->name_off || !*btf_name(d->btf, t))
			return dump_enum_body(d, id, c->level);
		keyword = "enum ";
		break;
	case BTF_KIND_FWD:
		keyword = btf_kflag(t) ? "union " : "struct ";
		break;
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPEDEF:
		break;
	default:
		return error_new(EINVAL, "cannot declare type %u (a %s)", id,
				 btf_kind_name(btf_kind(t)));
	}
	const char *name = dump_type_name(d, id);
	if (!name)
		return error_nomem();
	strbuf_adds(d->out, keyword);
	strbuf_adds(d->out, name);
	return NULL;
}

/* The modifiers from t on, and *id of what they modify. */
static void skip_mods(const struct btf *btf, uint32_t *id)
{
	const struct btf_type *t = btf_type_at(btf, *id);

	for (int i = 0; i < DUMP_MAX_DEPTH && is_cv(t); i++) {
		*id = t->type;
		t = btf_type_at(btf, *id);
	}
}

/* Whether an array's element, seen through further arrays, has that modifier itself. */
static bool element_has(const struct btf *btf, uint32_t id, uint32_t kind)
{
	const struct btf_type *t = btf_type_at(btf, id);

	for (int i = 0; i < DUMP_MAX_DEPTH && (is_cv(t) || btf_is_array(t)); i++) {
		if (btf_kind(t) == kind)
			return true;
		t = btf_type_at(btf, btf_is_array(t) ? btf_array(t)->type : t->type);
	}
	return false;
}

static void add_mods(struct decl *c, uint32_t from, uint32_t to, bool before)
{
	const struct btf *btf = c->d->btf;
	const struct btf_type *what = btf_type_at(btf, to);

	while (from != to) {
		const struct btf_type *t = btf_type_at(btf, from);
		bool twice =
			btf_is_array(what) && element_has(btf, btf_array(what)->type, btf_kind(t));

		if (!c->strip_mods && !twice && (!btf_is_type_tag(t) || is_plain_tag(btf, t))) {
			if (!before && !c->glued)
				strbuf_addch(c->d->out, ' ');
			add_mod(c, t);
			if (before)
				strbuf_addch(c->d->out, ' ');
			c->glued = false;
		}
		from = t->type;
	}
}

static struct error *before(struct decl *c, uint32_t id, int depth)
{
	const struct btf *btf = c->d->btf;
	uint32_t plain = id;

	if (depth > DUMP_MAX_DEPTH)
		return dump_too_deep(id);
	skip_mods(btf, &plain);
	const struct btf_type *t = btf_type_at(btf, plain);
	if (is_cv(t))
		return dump_too_deep(id);
	switch (btf_kind(t)) {
	case BTF_KIND_PTR:
		TRY(before(c, t->type, depth + 1));
		if (!c->glued)
			strbuf_addch(c->d->out, ' ');
		strbuf_adds(c->d->out, binds_right(btf, t->type) ? "(*" : "*");
		c->glued = true;
		/* const after the star: the pointer is */
		add_mods(c, id, plain, false);
		return NULL;
	case BTF_KIND_ARRAY:
		/* a const array is an array of const elements */
		add_mods(c, id, plain, true);
		return before(c, btf_array(t)->type, depth + 1);
	case BTF_KIND_FUNC_PROTO:
		return before(c, t->type, depth + 1);
	default:
		add_mods(c, id, plain, true);
		c->glued = false;
		return write_base(c, plain, depth);
	}
}

static struct error *write_params(struct decl *c, const struct btf_type *proto, int depth)
{
	struct btf_dump *d = c->d;
	const struct btf_param *p = btf_params(proto);
	uint32_t n = btf_vlen(proto);

	if (d->out->len + d->written > d->max_bytes)
		return error_new(E2BIG, "the C text of the types is too large");
	if (!n || (n == 1 && !p->type)) {
		strbuf_adds(d->out, "(void)");
		return NULL;
	}
	strbuf_addch(d->out, '(');
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			strbuf_adds(d->out, ", ");
		if (i + 1 == n && !p[i].type) {
			strbuf_adds(d->out, "...");
			break;
		}
		const char *name = btf__name_by_offset(d->btf, p[i].name_off);
		TRY(dump_decl(d, p[i].type, name ? name : "", c->level, false, depth + 1));
	}
	strbuf_addch(d->out, ')');
	return NULL;
}

static struct error *after(struct decl *c, uint32_t id, int depth)
{
	const struct btf *btf = c->d->btf;

	for (;; depth++) {
		if (depth > DUMP_MAX_DEPTH)
			return dump_too_deep(id);
		skip_mods(btf, &id);
		const struct btf_type *t = btf_type_at(btf, id);
		switch (btf_kind(t)) {
		case BTF_KIND_PTR:
			if (binds_right(btf, t->type))
				strbuf_addch(c->d->out, ')');
			id = t->type;
			break;
		case BTF_KIND_ARRAY:
			strbuf_addch(c->d->out, '[');
			strbuf_add_u64(c->d->out, btf_array(t)->nelems);
			strbuf_addch(c->d->out, ']');
			id = btf_array(t)->type;
			break;
		case BTF_KIND_FUNC_PROTO:
			TRY(write_params(c, t, depth));
			id = t->type;
			break;
		default:
			return NULL;
		}
	}
}

static struct error *write_decl(struct decl *c, uint32_t id, const char *name, int depth)
{
	name = dump_c_name(c->d, name);
	if (!name)
		return error_nomem();
	TRY(before(c, id, depth));
	if (*name) {
		if (!c->glued)
			strbuf_addch(c->d->out, ' ');
		strbuf_adds(c->d->out, name);
	}
	return after(c, id, depth);
}

struct error *dump_decl(struct btf_dump *d, uint32_t id, const char *name, int level,
			bool strip_mods, int depth)
{
	const bool outer = d->strip_mods;
	struct decl c = {.d = d, .level = level, .strip_mods = strip_mods || outer};

	d->strip_mods = c.strip_mods; /* members and parameters too */
	struct error *err = write_decl(&c, id, name, depth);
	d->strip_mods = outer;
	return err;
}

static void write_enum_value(struct btf_dump *d, const struct btf_type *t, uint32_t i)
{
	const bool is_signed = btf_kflag(t);
	const char *suffix = btf_is_enum(t) ? "" : is_signed ? "LL" : "ULL";
	const uint64_t v = btf_enumerator_at(d->btf, t, i).value;

	if (is_signed && v == 1ull << 63) {
		/* C has no literal for it */
		strbuf_adds(d->out, "-9223372036854775807LL - 1");
		return;
	}
	if (is_signed && v >> 63)
		strbuf_addch(d->out, '-');
	strbuf_add_u64(d->out, is_signed && v >> 63 ? -v : v);
	strbuf_adds(d->out, suffix);
}

struct error *dump_enum_body(struct btf_dump *d, uint32_t id, int level)
{
	const struct btf_type *t = btf_type_at(d->btf, id);
	const char *name = dump_type_name(d, id);

	if (!name)
		return error_nomem();
	if (d->out->len + d->written > d->max_bytes)
		return error_new(E2BIG, "the C text of the types is too large");
	strbuf_adds(d->out, "enum");
	if (*name) {
		strbuf_addch(d->out, ' ');
		strbuf_adds(d->out, name);
	}
	if (!btf_vlen(t))
		return NULL; /* a forward declaration: there is no other for enums */
	strbuf_adds(d->out, " {\n");
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		uint32_t words = btf_is_enum(t) ? 2 : 3;
		const char *value =
			btf__name_by_offset(d->btf, ((const uint32_t *)(t + 1))[i * words]);

		value = dump_ident(d, value ? value : "");
		if (!value)
			return error_nomem();
		dump_tabs(d, level + 1);
		strbuf_adds(d->out, value);
		strbuf_adds(d->out, " = ");
		write_enum_value(d, t, i);
		strbuf_adds(d->out, ",\n");
	}
	dump_tabs(d, level);
	strbuf_addch(d->out, '}');
	/* other sizes than an int's; one of 8 bytes may have small values only */
	if (t->size != 4)
		strbuf_addf(d->out, " __attribute__((mode(%s)))",
			    t->size == 1   ? "byte"
			    : t->size == 2 ? "HI"
					   : "DI");
	return NULL;
}
