// SPDX-License-Identifier: BSD-2-Clause
/*
 * struct_ops: a variable of section .struct_ops or .struct_ops.link (with a '?'
 * before it: only when it is asked for) is a struct of the kernel's whose
 * members are functions, implemented by programs. It becomes a map of one
 * value; when the map is attached, the kernel calls the programs.
 *
 * At open, the struct is copied: that copy is what bpf_map__initial_value()
 * shows, with a struct bpf_program * at each member that is a function. The
 * user changes it until load.
 *
 * Before load, the struct is matched with the kernel's, member by member, by
 * name: the kernel's may have others, in another order. A member that the
 * kernel lacks must be zero. The map's value is the kernel's struct
 * bpf_struct_ops_NAME, some words of state with the struct itself behind them
 * (kernel/bpf/bpf_struct_ops.c); a program is loaded for the struct's type id
 * (attach_btf_id) and the member's number (expected_attach_type), and its
 * descriptor is what stands in the value. Structs of modules are in their BTF.
 */
#include "lib/object/load_object.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/names.h"
#include "lib/object/btf_load.h"
#include "lib/sys/uapi.h"

#define VALUE_PREFIX "bpf_struct_ops_"

bool is_struct_ops_section(const char *name)
{
	name += name[0] == '?';
	return str_equal(name, ".struct_ops") || str_equal(name, ".struct_ops.link");
}

void struct_ops_free(struct struct_ops *ops)
{
	if (!ops)
		return;
	if (ops->btf_fd >= 0)
		close(ops->btf_fd);
	free(ops->data);
	free(ops->value);
	free(ops->programs);
	free(ops->places);
	free(ops);
}

/* ---- at open ---- */

static struct error *map_add(struct bpf_object *obj, const struct elf_section *sec,
			     const struct btf_var_secinfo *vi)
{
	const struct btf_type *var = btf__type_by_id(obj->btf, vi->type);
	const struct btf_type *t = NULL;
	int id = -1;

	if (var && btf_is_var(var)) {
		id = btf__resolve_type(obj->btf, var->type);
		t = id > 0 ? btf__type_by_id(obj->btf, (uint32_t)id) : NULL;
	}
	if (!t || !btf_is_struct(t) || !btf_name(obj->btf, t)[0])
		return error_new(EINVAL, "the member at offset %u is not a named struct",
				 vi->offset);
	/* In order and apart, so that all of them together are not more than the file. */
	const struct bpf_map *last = obj->maps.n ? vec_last(&obj->maps) : NULL;
	const uint64_t from = last && last->ops && last->section == sec->index
				      ? last->offset + last->ops->size
				      : 0;
	if (vi->offset < from || vi->offset > sec->size || t->size > sec->size - vi->offset ||
	    !sec->data || btf_vlen(t) / 8 > t->size)
		return error_new(EBADMSG, "'%s' is not laid out as a struct in the section",
				 btf_name(obj->btf, var));
	struct bpf_map *map = object_add_map(obj, MAP_STRUCT_OPS, btf_name(obj->btf, var),
					     sec->index, vi->offset);
	if (!map || !(map->ops = calloc(1, sizeof(*map->ops))))
		return error_nomem();
	/* The BTF's strings move when the caller adds some. */
	map->owned_name = strdup(map->name);
	if (!map->owned_name)
		return error_nomem();
	map->name = map->kernel_name = map->owned_name;
	struct struct_ops *ops = map->ops;
	ops->btf_fd = -1;
	ops->type_id = (uint32_t)id;
	ops->size = t->size;
	ops->data = malloc(t->size ? t->size : 1);
	ops->programs = calloc(btf_vlen(t) + 1u, sizeof(struct bpf_program *));
	ops->places = calloc(btf_vlen(t) + 1u, sizeof(*ops->places));
	if (!ops->data || !ops->programs || !ops->places)
		return error_nomem();
	memcpy(ops->data, (const char *)sec->data + vi->offset, t->size);
	map->type = BPF_MAP_TYPE_STRUCT_OPS;
	map->key_size = sizeof(uint32_t);
	map->value_size = t->size;
	map->max_entries = 1;
	map->btf_value_type_id = (uint32_t)id;
	map->flags = strstr(sec->name, ".link") ? BPF_F_LINK : 0;
	map->autocreate = sec->name[0] != '?';
	return NULL;
}

struct error *struct_ops_find(struct bpf_object *obj)
{
	for (size_t i = 1; i < pb_elf_section_count(obj->elf); i++) {
		const struct elf_section *sec = pb_elf_section_at(obj->elf, i);

		if (sec->type != SHT_PROGBITS || !sec->size || !is_struct_ops_section(sec->name))
			continue;
		const int id =
			obj->btf ? btf__find_by_name_kind(obj->btf, sec->name, BTF_KIND_DATASEC)
				 : -1;
		if (id < 0)
			return error_hint(
				error_at(error_new(EINVAL, "the object has no BTF for its structs"),
					 "section %s", sec->name),
				"compile with clang -g, which generates BTF for -target bpf");
		const struct btf_type *datasec = btf__type_by_id(obj->btf, (uint32_t)id);
		for (uint32_t v = 0; v < btf_vlen(datasec); v++)
			TRY(error_at(map_add(obj, sec, &btf_var_secinfos(datasec)[v]), "section %s",
				     sec->name));
	}
	return NULL;
}

/* The map of the struct that holds an offset of a section; NULL: none. */
static struct bpf_map *map_around(struct bpf_object *obj, uint32_t section, uint64_t offset)
{
	size_t low = 0, high = obj->maps.n;

	/* They stand behind all others, in the order of section and offset. */
	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct bpf_map *map = &obj->maps.v[mid];

		if (!map->ops || map->section < section ||
		    (map->section == section && map->offset <= offset))
			low = mid + 1;
		else
			high = mid;
	}
	struct bpf_map *map = low ? &obj->maps.v[low - 1] : NULL;
	return map && map->ops && map->section == section && offset - map->offset < map->ops->size
		       ? map
		       : NULL;
}

static const struct btf_type *struct_of(const struct bpf_map *map)
{
	return btf__type_by_id(map->obj->btf, map->ops->type_id);
}

static const char *member_name(const struct btf *btf, const struct btf_type *t, uint32_t i)
{
	return btf__name_by_offset(btf, btf_members(t)[i].name_off);
}

/* The number of the member at a byte; -1: none begins there. */
static long member_at(const struct btf_type *t, uint64_t byte)
{
	const size_t low =
		count_before(btf_vlen(t), i, btf_member_bit_offset(t, (uint32_t)i) < byte * 8);
	return low < btf_vlen(t) && btf_member_bit_offset(t, (uint32_t)low) == byte * 8 ? (long)low
											: -1;
}

static struct error *member_read(struct bpf_object *obj, const struct elf_section *sec,
				 const struct elf_reloc *reloc)
{
	struct bpf_map *map = map_around(obj, sec->index, reloc->offset);

	if (!map || reloc->symbol >= obj->symbols.n)
		return error_new(EBADMSG, "a pointer is outside of all structs");
	const struct btf_type *t = struct_of(map);
	const struct elf_symbol *sym = &obj->symbols.v[reloc->symbol];
	const long program = program_at(obj, sym->section, sym->value);
	const uint64_t byte = reloc->offset - map->offset;
	const long member = member_at(t, byte);
	if (member < 0 || program < 0 || byte + sizeof(uint64_t) > map->ops->size)
		return error_new(EINVAL, "'%s' of '%s' is not a program that a member can refer to",
				 sym->name, map->name);

	struct bpf_program *prog = &obj->programs.v[program];
	if (prog->type != BPF_PROG_TYPE_STRUCT_OPS) {
		const char *name = member_name(obj->btf, t, (uint32_t)member);

		return error_hint(error_new(EINVAL,
					    "program '%s' is assigned to '%s.%s', but its section "
					    "is not struct_ops",
					    prog->fn->name, btf_name(obj->btf, t), name),
				  "write SEC(\"struct_ops/%s\")", name);
	}
	map->ops->programs[member] = prog;
	memcpy((char *)map->ops->data + byte, &prog, sizeof(prog));
	return NULL;
}

struct error *struct_ops_read(struct bpf_object *obj, const struct elf_section *sec,
			      const struct elf_section *rel)
{
	for (size_t i = 0; i < pb_elf_reloc_count(obj->elf, rel); i++) {
		struct elf_reloc reloc;

		TRY(pb_elf_reloc_at(obj->elf, rel, i, &reloc));
		TRY(error_at(error_at(member_read(obj, sec, &reloc), "offset 0x%" PRIx64,
				      reloc.offset),
			     "section %s", sec->name));
	}
	return NULL;
}

/* ---- before load: the kernel's struct ---- */

/* The kernel's side of a struct: the struct, and the value it stands in. */
struct kernel_struct {
	const struct btf *btf;
	const char *name;
	uint32_t id;
	const struct btf_type *type;
	uint32_t value_id;
	const struct btf_type *value;
	uint32_t data_offset; /* of the struct in the value, in bytes */
};

/* ENOENT with the near names of those that there are. */
static struct error *no_such_struct(const struct btf *vmlinux, const char *name)
{
	struct nearest near = nearest_make(name);
	const size_t prefix = strlen(VALUE_PREFIX);

	for (uint32_t id = 1; id < btf__type_cnt(vmlinux); id++) {
		const struct btf_type *t = btf__type_by_id(vmlinux, id);
		const char *value = btf_is_struct(t) ? btf_name(vmlinux, t) : "";

		if (!strncmp(value, VALUE_PREFIX, prefix))
			nearest_offer(&near, value + prefix);
	}
	struct error *err = error_new(ENOENT, "this kernel has no struct_ops '%s'", name);
	return error_hint(error_suggest(err, &near),
			  "it may need a module or a newer kernel; to make it "
			  "optional, write SEC(\"?.struct_ops\")");
}

/* false: the BTF does not have both. */
static bool find_in(const struct btf *btf, const char *name, struct kernel_struct *kernel)
{
	char value[256];

	if (snprintf(value, sizeof(value), VALUE_PREFIX "%s", name) >= (int)sizeof(value))
		return false;
	const int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);
	const int value_id = btf__find_by_name_kind(btf, value, BTF_KIND_STRUCT);
	if (id <= 0 || value_id <= 0)
		return false;
	*kernel = (struct kernel_struct){
		.btf = btf,
		.name = name,
		.id = (uint32_t)id,
		.type = btf__type_by_id(btf, (uint32_t)id),
		.value_id = (uint32_t)value_id,
		.value = btf__type_by_id(btf, (uint32_t)value_id),
	};
	for (uint32_t i = 0; i < btf_vlen(kernel->value); i++) {
		if (btf_members(kernel->value)[i].type != kernel->id)
			continue;
		kernel->data_offset = btf_member_bit_offset(kernel->value, i) / 8;
		return kernel->data_offset <= kernel->value->size &&
		       kernel->type->size <= kernel->value->size - kernel->data_offset;
	}
	return false;
}

/* A module's comes with a descriptor of the module's BTF in ops->btf_fd. */
static struct error *find_kernel_struct(struct bpf_map *map, const char *name,
					struct kernel_struct *kernel)
{
	struct loaded_modules *modules;
	struct loaded_module *module;
	const struct btf *btf;

	TRY(object_vmlinux(map->obj, &btf));
	if (find_in(btf, name, kernel))
		return NULL;
	TRY(modules_list(map->obj, &modules));
	vec_for_each (module, &modules->v) {
		TRY(module_btf(map->obj, module, &btf));
		if (btf && find_in(btf, name, kernel))
			return module_btf_fd(module, &map->ops->btf_fd);
	}
	return no_such_struct(map->obj->vmlinux, name);
}

static bool is_zero(const char *bytes, size_t n)
{
	while (n && !bytes[n - 1])
		n--;
	return !n;
}

/* The program that a pointer of the user's is; NULL: it is none. */
static struct bpf_program *program_of(const struct bpf_object *obj, const void *pointer)
{
	const uintptr_t at = (uintptr_t)pointer - (uintptr_t)obj->programs.v;

	return pointer && at % sizeof(struct bpf_program) == 0 &&
			       at / sizeof(struct bpf_program) < obj->programs.n
		       ? (struct bpf_program *)pointer
		       : NULL;
}

static bool is_function_pointer(const struct btf *btf, const struct btf_type *t)
{
	t = btf_is_ptr(t) ? btf_skip_mods_and_typedefs(btf, t->type, NULL) : NULL;
	return t && btf_is_func_proto(t);
}

/* The user's program for member number i becomes the kernel's for member k. */
static struct error *match_program(struct bpf_map *map, const struct kernel_struct *kernel,
				   uint32_t i, uint32_t k, const void *bytes)
{
	struct struct_ops *ops = map->ops;
	void *pointer;

	memcpy(&pointer, bytes, sizeof(pointer));
	struct bpf_program *prog = program_of(map->obj, pointer);
	if (pointer && !prog)
		return error_new(EINVAL, "the member refers to a program of another object");
	if (ops->programs[i] && ops->programs[i] != prog)
		ops->programs[i]->autoload = false; /* unless another struct has it, see below */
	ops->programs[i] = prog;
	if (!prog)
		return NULL;
	if (prog->type != BPF_PROG_TYPE_STRUCT_OPS)
		return error_hint(error_new(EINVAL, "the section of program '%s' is not struct_ops",
					    prog->fn->name),
				  "write SEC(\"struct_ops\")");
	if (!is_function_pointer(kernel->btf,
				 btf_skip_mods_and_typedefs(
					 kernel->btf, btf_members(kernel->type)[k].type, NULL)))
		return error_new(ENOTSUP, "the member is not a function in this kernel");
	if (prog->attach_btf_id && (prog->attach_btf_id != kernel->id || prog->attach_type != k))
		return error_hint(error_new(EINVAL,
					    "program '%s' is already assigned to another member",
					    prog->fn->name),
				  "write a second program that calls the same function");
	if (!prog->attach_btf_id && ops->btf_fd >= 0) {
		prog->attach_btf_obj_fd = fcntl(ops->btf_fd, F_DUPFD_CLOEXEC, 3);
		if (prog->attach_btf_obj_fd < 0)
			return error_errno(errno, "the program has no file descriptor");
	}
	prog->attach_btf_id = kernel->id;
	prog->attach_type = (enum bpf_attach_type)k;
	ops->places[i] = kernel->data_offset + btf_member_bit_offset(kernel->type, k) / 8;
	return NULL;
}

static struct error *no_such_member(const struct kernel_struct *kernel, const char *name)
{
	struct nearest near = nearest_make(name);

	for (uint32_t k = 0; k < btf_vlen(kernel->type); k++)
		nearest_offer(&near, member_name(kernel->btf, kernel->type, k));
	struct error *err =
		error_new(ENOTSUP, "the kernel's struct %s has no member '%s'", kernel->name, name);
	return error_hint(error_suggest(err, &near),
			  "for this kernel, set the member to zero before loading: "
			  "bpf_map__initial_value()");
}

static struct error *match_member(struct bpf_map *map, const struct kernel_struct *kernel,
				  uint32_t i)
{
	const struct btf *btf = map->obj->btf;
	const struct btf_type *t = struct_of(map);
	const char *name = member_name(btf, t, i);
	const uint32_t offset = btf_member_bit_offset(t, i) / 8;
	const struct btf_type *mine = btf_skip_mods_and_typedefs(btf, btf_members(t)[i].type, NULL);
	const int64_t size = btf__resolve_size(btf, btf_members(t)[i].type);
	uint32_t k = 0;

	if (!mine || size < 0 || offset > map->ops->size || size > map->ops->size - offset)
		return error_new(EBADMSG, "it has no usable size");
	const char *bytes = (const char *)map->ops->data + offset;
	while (k < btf_vlen(kernel->type) &&
	       strcmp(member_name(kernel->btf, kernel->type, k), name))
		k++;
	if (k == btf_vlen(kernel->type)) {
		if (!is_zero(bytes, (size_t)size))
			return no_such_member(kernel, name);
		if (map->ops->programs[i])
			map->ops->programs[i]->autoload = false;
		map->ops->programs[i] = NULL;
		return NULL;
	}

	const uint32_t kernel_type = btf_members(kernel->type)[k].type;
	const struct btf_type *its = btf_skip_mods_and_typedefs(kernel->btf, kernel_type, NULL);
	if (btf_member_bitfield_size(t, i) || btf_member_bitfield_size(kernel->type, k))
		return is_zero(bytes, (size_t)size)
			       ? NULL
			       : error_new(ENOTSUP, "it is a bit field and not zero");
	if (!its || btf_kind(its) != btf_kind(mine))
		return error_new(ENOTSUP, "the member has another kind in this kernel");
	if (btf_is_ptr(mine))
		return match_program(map, kernel, i, k, bytes);
	const int64_t its_size = btf__resolve_size(kernel->btf, kernel_type);
	const uint32_t place = btf_member_bit_offset(kernel->type, k) / 8;
	if (its_size != size)
		return error_new(ENOTSUP,
				 "the member has %" PRId64 " bytes in this kernel, not %" PRId64,
				 its_size, size);
	if (place > kernel->type->size || size > kernel->type->size - place)
		return error_new(EBADMSG, "in this kernel the member is outside of its struct");
	memcpy((char *)map->ops->value + kernel->data_offset + place, bytes, (size_t)size);
	return NULL;
}

static struct error *map_match(struct bpf_map *map)
{
	const struct btf_type *t = struct_of(map);
	const char *type = btf_name(map->obj->btf, t);
	const char *flavour = strstr(type, "___");
	_cleanup_free_ char *name =
		strndup(type, flavour && flavour != type ? (size_t)(flavour - type) : strlen(type));
	struct kernel_struct kernel;

	if (!name)
		return error_nomem();
	TRY(find_kernel_struct(map, name, &kernel));
	map->ops->value = calloc(1, kernel.value->size);
	if (!map->ops->value)
		return error_nomem();
	map->value_size = kernel.value->size;
	map->ops->value_id = kernel.value_id;
	for (uint32_t i = 0; i < btf_vlen(t); i++)
		TRY(error_at(match_member(map, &kernel, i), "member '%s'",
			     member_name(map->obj->btf, t, i)));
	return NULL;
}

struct error *struct_ops_prepare(struct bpf_object *obj)
{
	struct bpf_program *prog;
	struct bpf_map *map;

	vec_for_each (map, &obj->maps)
		if (map->ops && map->autocreate && !map->reused)
			TRY(error_at(map_match(map), "struct '%s'", map->name));

	/*
	 * Programs of structs are loaded when a struct that has them is created,
	 * "?struct_ops" too; but for those that the caller wants left out.
	 */
	vec_for_each (map, &obj->maps) {
		const uint32_t n = map->ops ? btf_vlen(struct_of(map)) : 0;

		for (uint32_t i = 0; i < n; i++) {
			prog = map->ops->programs[i];
			if (!prog)
				continue;
			prog->autoload = !prog->kept_out &&
					 ((prog->ops_used && prog->autoload) || map->autocreate);
			prog->ops_used = true;
		}
	}
	return NULL;
}

/* ---- after load ---- */

void struct_ops_finish(struct bpf_object *obj)
{
	struct bpf_map *map;

	vec_for_each (map, &obj->maps) {
		const uint32_t n = map->ops && map->ops->value ? btf_vlen(struct_of(map)) : 0;

		for (uint32_t i = 0; i < n; i++) {
			const struct bpf_program *prog = map->ops->programs[i];
			const uint64_t fd = prog && prog->fd >= 0 ? (uint64_t)prog->fd : 0;

			if (prog && map->ops->places[i])
				memcpy((char *)map->ops->value + map->ops->places[i], &fd,
				       sizeof(fd));
		}
	}
}

struct error *struct_ops_set(const struct bpf_map *map)
{
	const uint32_t zero = 0;

	if (!map->ops)
		return error_new(EINVAL, "map '%s' is not a struct_ops map", map->name);
	if (map->fd < 0 || !map->ops->value)
		return error_hint(error_new(EINVAL, "struct '%s' is not created", map->name),
				  "load the object first; for section \"?.struct_ops\", call "
				  "bpf_map__set_autocreate() before that");
	/* A value is set once; a second link is made of the same one. */
	if (!bpf_map_update_elem(map->fd, &zero, map->ops->value, 0) ||
	    (errno == EBUSY && map->flags & BPF_F_LINK))
		return NULL;
	struct error *err = error_errno(errno, "struct '%s': the kernel rejects it", map->name);
	if (err->code == EEXIST)
		return error_hint(err, "one with this name is already registered");
	if (err->code == EINVAL)
		return error_hint(err, "a required member is not set, or a name is invalid");
	return err;
}
