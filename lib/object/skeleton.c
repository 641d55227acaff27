// SPDX-License-Identifier: BSD-2-Clause
/*
 * Skeletons: the header that a generator writes for an object fills in tables
 * of names and of pointers into a struct of the program's own; opening the
 * skeleton opens the object that the header holds and fills in the pointers.
 *
 * The tables' elements grow from version to version, so the header says how
 * large its own are (map_skel_sz, …) and nothing beyond that is touched. The
 * first versions' sizes are the least that is taken.
 *
 * A variable's address must not change at load: a data section's bytes move
 * out of the file when they are asked for, into memory whose place the map
 * takes later (global_data.c). Options of the kernel's configuration have no values
 * before load, so their section appears only then.
 *
 * A subskeleton is a library's: it looks for its maps, programs and variables
 * in an object that somebody else opened, from several sources linked.
 */
#include "lib/object/open_object.h"

#include "lib/base/names.h"

/* Up to the member that the first version ended with. */
#define LEAST_SIZE(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

/* Tables are walked with the size that their header was compiled with. */
static void *element_at(void *table, int size, int i)
{
	return (char *)table + (size_t)size * (size_t)i;
}

static struct error *check_table(const char *what, const void *table, int n, int size, size_t least)
{
	if (n < 0 || (n && (!table || size < 0 || (size_t)size < least)))
		return error_new(EINVAL, "the skeleton's table of %s is malformed", what);
	return NULL;
}

static struct error *missing(const struct bpf_object *obj, const char *what, const char *name,
			     const struct nearest *near)
{
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;
	struct error *err = object_error_at(
		obj, error_new(ESRCH, "the skeleton names %s '%s', which the object does not have",
			       what, name));

	if (nearest_text(near, &names) && !strbuf_failed(&names))
		return error_hint(err,
				  "the object has %s; generate the skeleton again from this object",
				  strbuf_str(&names));
	return error_hint(err, "generate the skeleton again from this object");
}

static struct error *find_maps(const struct bpf_object *obj, struct bpf_map_skeleton *table, int n,
			       int size)
{
	TRY(check_table("maps", table, n, size, LEAST_SIZE(bpf_map_skeleton, mmaped)));
	for (int i = 0; i < n; i++) {
		struct bpf_map_skeleton *slot = element_at(table, size, i);
		struct bpf_map *map = bpf_object__find_map_by_name(obj, slot->name);

		if (!map) {
			struct nearest near = nearest_make(slot->name);

			bpf_object__for_each_map (map, obj)
				nearest_offer(&near, map->name);
			return missing(obj, "map", slot->name, &near);
		}
		*slot->map = map;
		if (slot->mmaped && map->origin != MAP_KCONFIG)
			*slot->mmaped = bpf_map__initial_value(map, NULL);
	}
	return NULL;
}

static struct error *find_programs(const struct bpf_object *obj, struct bpf_prog_skeleton *table,
				   int n, int size)
{
	TRY(check_table("programs", table, n, size, LEAST_SIZE(bpf_prog_skeleton, prog)));
	for (int i = 0; i < n; i++) {
		struct bpf_prog_skeleton *slot = element_at(table, size, i);
		struct bpf_program *prog = bpf_object__find_program_by_name(obj, slot->name);

		if (!prog) {
			struct nearest near = nearest_make(slot->name);

			bpf_object__for_each_program (prog, obj)
				nearest_offer(&near, prog->fn->name);
			return missing(obj, "program", slot->name, &near);
		}
		*slot->prog = prog;
	}
	return NULL;
}

static struct error *skeleton_open(struct bpf_object_skeleton *s,
				   const struct bpf_object_open_opts *opts)
{
	LIBBPF_OPTS(bpf_object_open_opts, named);
	struct bpf_object *obj;

	TRY(OPTS_CHECK(opts, bpf_object_open_opts));
	if (opts)
		memcpy(&named, opts, min_of(sizeof(named), opts->sz));
	named.sz = sizeof(named);
	/* The data sections' maps are found by names that begin with the object's. */
	if (!named.object_name)
		named.object_name = s->name;
	TRY(object_open_mem(s->data, s->data_sz, &named, edge_log(), &obj));
	*s->obj = obj; /* closed by bpf_object__destroy_skeleton() whatever comes */
	TRY(find_maps(obj, s->maps, s->map_cnt, s->map_skel_sz));
	return find_programs(obj, s->progs, s->prog_cnt, s->prog_skel_sz);
}

int bpf_object__open_skeleton(struct bpf_object_skeleton *s,
			      const struct bpf_object_open_opts *opts)
{
	if (!s || !s->obj || !s->data || !s->data_sz)
		return edge_errno(EINVAL);
	return edge_int(skeleton_open(s, opts));
}

int bpf_object__load_skeleton(struct bpf_object_skeleton *s)
{
	if (!s || !s->obj || !*s->obj)
		return edge_errno(EINVAL);
	struct error *err = object_load(*s->obj);
	if (err)
		return edge_int(err);
	for (int i = 0; i < s->map_cnt; i++) {
		struct bpf_map_skeleton *slot = element_at(s->maps, s->map_skel_sz, i);

		/* What is not created has no values that could be looked at. */
		if (slot->mmaped)
			*slot->mmaped = (*slot->map)->fd >= 0
						? bpf_map__initial_value(*slot->map, NULL)
						: NULL;
	}
	return 0;
}

/* ---- subskeletons ---- */

static struct error *find_variable(const struct bpf_object *obj,
				   const struct bpf_var_skeleton *slot)
{
	struct bpf_map *map = *slot->map;
	/* Options have no type that the kernel would take, so their map has none. */
	const int id = map->origin == MAP_KCONFIG
			       ? btf__find_by_name_kind(obj->btf, ".kconfig", BTF_KIND_DATASEC)
			       : (int)map->btf_value_type_id;
	const struct btf_type *sec = id > 0 ? btf__type_by_id(obj->btf, (uint32_t)id) : NULL;
	struct nearest near = nearest_make(slot->name);

	if (!sec || !btf_is_datasec(sec))
		return object_error_at(
			obj,
			error_new(EINVAL, "the object has no BTF for the variables of map '%s'",
				  map->name));
	const struct btf_var_secinfo *vars = btf_var_secinfos(sec);
	for (uint32_t i = 0; i < btf_vlen(sec); i++) {
		const struct btf_type *var = btf__type_by_id(obj->btf, vars[i].type);
		const char *name = btf__name_by_offset(obj->btf, var->name_off);
		char *bytes = NULL;
		size_t size = 0;

		if (strcmp(name, slot->name)) {
			nearest_offer(&near, name);
			continue;
		}
		bytes = bpf_map__initial_value(map, &size);
		if (!bytes)
			return error_nomem();
		if (vars[i].offset > size || vars[i].size > size - vars[i].offset)
			return object_error_at(
				obj,
				error_new(EBADMSG, "variable '%s' ends past the end of its section",
					  name));
		*slot->addr = bytes + vars[i].offset;
		return NULL;
	}
	return missing(obj, "variable", slot->name, &near);
}

static struct error *subskeleton_open(struct bpf_object_subskeleton *s)
{
	if (!s->obj->btf)
		return object_error_at(s->obj,
				       error_hint(error_new(ENOENT, "the object has no BTF"),
						  "compile it with clang -g"));
	TRY(find_maps(s->obj, s->maps, s->map_cnt, s->map_skel_sz));
	TRY(find_programs(s->obj, s->progs, s->prog_cnt, s->prog_skel_sz));
	TRY(check_table("variables", s->vars, s->var_cnt, s->var_skel_sz,
			LEAST_SIZE(bpf_var_skeleton, addr)));
	for (int i = 0; i < s->var_cnt; i++)
		TRY(find_variable(s->obj, element_at(s->vars, s->var_skel_sz, i)));
	return NULL;
}

int bpf_object__open_subskeleton(struct bpf_object_subskeleton *s)
{
	if (!s || !s->obj)
		return edge_errno(EINVAL);
	return edge_int(subskeleton_open(s));
}

void bpf_object__destroy_subskeleton(struct bpf_object_subskeleton *s)
{
	if (!s)
		return;
	free(s->maps);
	free(s->progs);
	free(s->vars);
	free(s);
}
