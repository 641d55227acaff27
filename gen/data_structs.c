// SPDX-License-Identifier: BSD-2-Clause
/*
 * Data sections as C structs. The object's BTF has a DATASEC per section, with
 * each variable's type, offset and size. A struct with the same members in the
 * order of their offsets lies over the section when C puts each of them where
 * it stands; what static variables leave free, and alignment beyond a type's
 * own, is filled with bytes. The header asserts sizes and offsets, so that a
 * compiler with other ideas refuses it.
 *
 * Types are named as the program names them: what is no type of C or of
 * <linux/types.h> has to be declared before the header is included. Typedefs
 * of numbers, as vmlinux.h's u32, are written as what they stand for instead.
 */
#include "gen/internal.h"

#include <inttypes.h>

#include "lib/base/hash.h"

/* Stands for the name in a declaration that is taken apart; no program's identifier. */
#define NAME_MARK "pb__name__pb"
#define CHAIN_MAX 32

static char *identifier(const char *text)
{
	char *copy = strdup(text);

	for (char *p = copy; p && *p; p++)
		if (!((*p >= '0' && *p <= '9') || ((*p | 32) >= 'a' && (*p | 32) <= 'z')))
			*p = '_';
	return copy;
}

char *gen_name(const char *path)
{
	const char *base = strrchr(path, '/');
	char *name = identifier(base ? base + 1 : path);
	const size_t len = name ? strlen(name) : 0;

	if (len > 2 && name[len - 2] == '_' && (name[len - 1] == 'o' || name[len - 1] == 'c'))
		name[len - 2] = 0;
	return name;
}

static int by_offset(const void *a, const void *b)
{
	const struct gen_var *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static struct error *vars_read(struct generator *g, struct gen_map *map)
{
	const int id = g->btf ? btf__find_by_name_kind(g->btf, map->section, BTF_KIND_DATASEC) : -1;

	if (id < 0)
		return NULL; /* string literals, or no BTF: bytes */
	const struct btf_type *sec = btf__type_by_id(g->btf, (uint32_t)id);
	const struct btf_var_secinfo *vi = btf_var_secinfos(sec);
	for (uint32_t i = 0; i < btf_vlen(sec); i++) {
		const struct btf_type *t = btf__type_by_id(g->btf, vi[i].type);

		if (!btf_is_var(t) || btf_var(t)->linkage == BTF_VAR_STATIC)
			continue;
		struct gen_var *var = vec_push(&map->vars);
		if (!var)
			return error_nomem();
		var->name = identifier(btf__name_by_offset(g->btf, t->name_off));
		var->type = t->type;
		var->offset = vi[i].offset;
		var->size = vi[i].size;
		if (!var->name)
			return error_nomem();
		if ((uint64_t)var->offset + var->size > map->size)
			return error_new(EBADMSG, "variable '%s' ends past the end of section %s",
					 var->name, map->section);
	}
	if (map->vars.n)
		qsort(map->vars.v, map->vars.n, sizeof(*map->vars.v), by_offset);
	return NULL;
}

struct error *gen_maps_read(struct generator *g)
{
	struct strmap seen = {0};
	struct error *err = NULL;
	struct bpf_map *map;

	bpf_object__for_each_map (map, g->obj) {
		const char *name = bpf_map__name(map);
		/* "filter.rodata" and ".data.named" of data, "samples" of others. */
		const char *section = bpf_map__is_internal(map) ? strchr(name, '.') : NULL;
		struct gen_map *m = vec_push(&g->maps);

		if (!m) {
			err = error_nomem();
			break;
		}
		m->map = map;
		m->ident = identifier(section ? section + 1 : name);
		if (!m->ident) {
			err = error_nomem();
			break;
		}
		const char *other = strmap_get(&seen, m->ident);
		if (other) {
			err = error_new(EINVAL, "maps '%s' and '%s' would both get the name '%s'",
					other, name, m->ident);
			break;
		}
		if (!strmap_put(&seen, m->ident, (void *)name)) {
			err = error_nomem();
			break;
		}
		if (section && bpf_map__map_flags(map) & BPF_F_MMAPABLE) {
			m->section = section;
			m->size = bpf_map__value_size(map);
			err = vars_read(g, m);
			if (err)
				break;
		}
	}
	strmap_deinit(&seen);
	return err;
}

void gen_maps_deinit(struct generator *g)
{
	struct gen_map *map;
	struct gen_var *var;

	vec_for_each (map, &g->maps) {
		vec_for_each (var, &map->vars)
			free(var->name);
		vec_deinit(&map->vars);
		free(map->ident);
	}
	vec_deinit(&g->maps);
}

/* ---- declarations ---- */

/* What <linux/types.h>, <stdint.h>, <stddef.h> and <sys/types.h> name; libbpf.h includes them. */
static bool is_known_typedef(const char *name)
{
	static const char *const known[] = {
		"__u8",	    "__u16",	"__u32",     "__u64",	 "__s8",    "__s16",
		"__s32",    "__s64",	"__be16",    "__be32",	 "__be64",  "__le16",
		"__le32",   "__le64",	"__sum16",   "__wsum",	 "uint8_t", "uint16_t",
		"uint32_t", "uint64_t", "int8_t",    "int16_t",	 "int32_t", "int64_t",
		"size_t",   "ssize_t",	"uintptr_t", "intptr_t", "pid_t",   "uid_t",
		"gid_t",    "off_t",	"dev_t",     "mode_t",	 "ino_t",   "ptrdiff_t",
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(name, known[i]))
			return true;
	return false;
}

/* What a reference is written as: behind typedefs of numbers that only a BPF program knows. */
static uint32_t written_type(const struct btf *btf, uint32_t id)
{
	uint32_t at = id;

	for (int i = 0; i < CHAIN_MAX; i++) {
		const struct btf_type *t = btf__type_by_id(btf, at);

		if (!t)
			return id;
		if (btf_is_typedef(t) && is_known_typedef(btf__name_by_offset(btf, t->name_off)))
			return at;
		if (!btf_is_mod(t) && !btf_is_typedef(t))
			return btf_is_int(t) || btf_is_float(t) ? at : id;
		at = t->type;
	}
	return id;
}

/* The references of a type that a declaration follows. */
static void rewrite_references(const struct btf *btf, struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_ARRAY:
		btf_array(t)->type = written_type(btf, btf_array(t)->type);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (uint32_t i = 0; i < btf_vlen(t); i++)
			btf_members(t)[i].type = written_type(btf, btf_members(t)[i].type);
		break;
	case BTF_KIND_FUNC_PROTO:
		for (uint32_t i = 0; i < btf_vlen(t); i++)
			btf_params(t)[i].type = written_type(btf, btf_params(t)[i].type);
		t->type = written_type(btf, t->type);
		break;
	case BTF_KIND_PTR:
	case BTF_KIND_VAR:
		t->type = written_type(btf, t->type);
		break;
	}
}

/* A copy of the object's BTF for the header's words. */
struct error *gen_types_copy(struct generator *g, const struct btf *btf)
{
	uint32_t size;
	const void *raw = btf__raw_data(btf, &size);

	g->btf = raw ? btf__new(raw, size) : NULL;
	if (!g->btf)
		return raw ? error_errno(errno, "cannot copy the BTF") : error_nomem();
	/* _Bool is none of C++'s words. */
	const int name = btf__add_str(g->btf, "bool");
	if (name < 0)
		return error_nomem();
	for (uint32_t id = 1; id < btf__type_cnt(g->btf); id++) {
		/* The copy is ours: nobody else sees what is changed in it. */
		struct btf_type *t = (struct btf_type *)btf__type_by_id(g->btf, id);

		if (btf_is_int(t) && !strcmp(btf__name_by_offset(g->btf, t->name_off), "_Bool"))
			t->name_off = (uint32_t)name;
		rewrite_references(g->btf, t);
	}
	return NULL;
}

static void dump_printf(void *ctx, const char *fmt, va_list args)
{
	strbuf_vaddf(&((struct generator *)ctx)->decl, fmt, args);
}

struct error *gen_declare(struct generator *g, const struct gen_var *var, bool pointer)
{
	LIBBPF_OPTS(btf_dump_emit_type_decl_opts, opts, .field_name = NAME_MARK, .indent_level = 2,
		    .strip_mods = true);
	if (!g->dump)
		g->dump = btf_dump__new(g->btf, dump_printf, g, NULL);
	if (!g->dump)
		return error_nomem();
	strbuf_reset(&g->decl);
	const int err = btf_dump__emit_type_decl(g->dump, var->type, &opts);
	if (err)
		return error_errno(-err, "variable '%s': cannot declare its type", var->name);
	if (strbuf_failed(&g->decl))
		return error_nomem();
	const char *text = strbuf_str(&g->decl), *mark = strstr(text, NAME_MARK);
	if (!mark)
		return error_new(EINVAL, "variable '%s': cannot declare its type", var->name);
	const char *after = mark + strlen(NAME_MARK);
	const bool closed = pointer && (*after == '[' || *after == '(');
	strbuf_add(g->out, text, (size_t)(mark - text));
	strbuf_addf(g->out, "%s%s%s%s%s", closed ? "(" : "", pointer ? "*" : "", var->name,
		    closed ? ")" : "", after);
	return NULL;
}

struct error *gen_data_members(struct generator *g, const struct gen_map *map)
{
	const struct gen_var *var;
	uint32_t at = 0, align_max = 1;
	int pads = 0;

	vec_for_each (var, &map->vars) {
		const int align = btf__align_of(g->btf, var->type);

		if (align <= 0 || var->offset < at)
			return error_new(EINVAL,
					 "variable '%s' of section %s cannot be a struct member",
					 var->name, map->section);
		align_max = max_of(align_max, (uint32_t)align);
		if (round_up(at, (uint64_t)align) != var->offset && at != var->offset)
			strbuf_addf(g->out, "\t\tchar __pad%d[%u];\n", pads++, var->offset - at);
		strbuf_adds(g->out, "\t\t");
		TRY(gen_declare(g, var, false));
		/* A packed one, where C would leave a gap. */
		strbuf_adds(g->out,
			    var->offset % (uint32_t)align ? " __attribute__((packed));\n" : ";\n");
		at = var->offset + var->size;
	}
	/* The struct is as large as the section, and never empty. */
	if (at < map->size && (round_up(at, align_max) != map->size || !at))
		strbuf_addf(g->out, "\t\tchar __pad%d[%u];\n", pads, map->size - at);
	return NULL;
}

struct error *gen_data_pointers(struct generator *g, const struct gen_map *map)
{
	const struct gen_var *var;

	vec_for_each (var, &map->vars) {
		strbuf_adds(g->out, "\t\t");
		TRY(gen_declare(g, var, true));
		strbuf_adds(g->out, ";\n");
	}
	return NULL;
}
