// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opening: what the file says becomes programs, maps and relocations, without
 * a BPF system call. The order matters: data sections and map definitions come
 * before programs, because a relocation refers to them by index.
 *
 * An object of the other byte order is opened too, for tools that look into it:
 * instructions, BTF and map definitions are turned to the host's order, and
 * only the bytes of global data stay as they are. Loading it is refused.
 *
 * What it must never do: keep a pointer into a section without having checked
 * the bounds, or spend more than the file's size times a constant on it.
 */
#include "lib/object/open_object.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct error *object_error_at(const struct bpf_object *obj, struct error *err)
{
	const size_t len = strlen(obj->path);

	if (err && err->failure && !err->failure->object)
		err->failure->object = strdup(obj->path);
	if (err && err->failure && err->failure->placed)
		return err;
	/* lib/elf names the file itself. */
	if (err && err->where && !strncmp(err->where, obj->path, len) &&
	    (!err->where[len] || err->where[len] == ':'))
		return err;
	return error_at(err, "%s", obj->path);
}

struct bpf_map *object_add_map(struct bpf_object *obj, enum map_origin origin, const char *name,
			       uint32_t section, uint64_t offset)
{
	const size_t index = obj->maps.n;
	struct bpf_map *map = vec_push(&obj->maps);

	if (!map)
		return NULL;
	map->obj = obj;
	map->origin = origin;
	map->name = map->kernel_name = name;
	map->section = section;
	map->offset = offset;
	map->autocreate = map->autoattach = true;
	map->fd = map->inner_fd = -1;
	if (section && !u64map_put(&obj->map_by_place, place_key(section, offset),
				   (void *)(uintptr_t)(index + 1)))
		return NULL;
	return map;
}

long object_map_at(const struct bpf_object *obj, uint32_t section, uint64_t offset)
{
	return (long)(uintptr_t)u64map_get(&obj->map_by_place, place_key(section, offset)) - 1;
}

/* Debug information is most of an object, and nobody reads it here; nor what moves it. */
static bool is_wanted(const struct elf_file *elf, const struct elf_section *sec)
{
	static const char *const not_read[] = {".debug_", ".zdebug_", ".llvm_addrsig", ".eh_frame"};
	const bool is_rel = sec->type == SHT_REL || sec->type == SHT_RELA;
	const struct elf_section *of = is_rel ? pb_elf_section_at(elf, sec->info) : sec;

	if (!of || (is_rel && !strncmp(of->name, ".BTF", 4)))
		return false;
	if (of->flags & SHF_EXECINSTR) /* code, whatever its section is called */
		return true;
	for (size_t i = 0; of->name[0] == '.' && i < ARRAY_SIZE(not_read); i++)
		if (of->name[1] == not_read[i][1] &&
		    !strncmp(of->name, not_read[i], strlen(not_read[i])))
			return false;
	return true;
}

static struct error *check_header(const struct bpf_object *obj)
{
	const struct elf_file *elf = obj->elf;

	if (pb_elf_file_machine(elf) != EM_BPF && pb_elf_file_machine(elf) != EM_NONE)
		return error_hint(error_new(ENOEXEC,
					    "not a BPF object: it contains code for machine %u",
					    pb_elf_file_machine(elf)),
				  "compile it with clang -O2 -g -target bpf -c");
	if (!pb_elf_file_is64(elf) || pb_elf_file_type(elf) != ET_REL)
		return error_new(ENOEXEC, "not a relocatable 64-bit object");
	return NULL;
}

static struct error *read_license(struct bpf_object *obj, const struct elf_section *sec)
{
	const size_t len = sec->data ? strnlen(sec->data, sec->size) : 0;

	if (len >= sizeof(obj->license))
		return error_new(EINVAL,
				 "section license: %zu bytes of text; at most %zu are allowed", len,
				 sizeof(obj->license) - 1);
	if (len)
		memcpy(obj->license, sec->data, len);
	return NULL;
}

static struct error *read_version(struct bpf_object *obj, const struct elf_section *sec)
{
	struct cursor c = pb_elf_section_cursor(obj->elf, sec);

	if (sec->size != sizeof(uint32_t) || !cursor_u32(&c, &obj->kversion))
		return error_new(EINVAL, "section version: %" PRIu64 " bytes instead of 4",
				 sec->size);
	return NULL;
}

/* The sections that are one of a kind. */
static struct error *read_sections(struct bpf_object *obj)
{
	for (size_t i = 1; i < pb_elf_section_count(obj->elf); i++) {
		const struct elf_section *sec = pb_elf_section_at(obj->elf, i);

		if (sec->type == SHT_SYMTAB) {
			if (obj->symtab)
				return error_new(EBADMSG, "the object has two symbol tables");
			obj->symtab = sec;
			continue;
		}
		if (sec->type != SHT_PROGBITS || !sec->size)
			continue;
		if (str_equal(sec->name, "license"))
			TRY(read_license(obj, sec));
		else if (str_equal(sec->name, "version"))
			TRY(read_version(obj, sec));
		else if (str_equal(sec->name, "config"))
			obj->config = sec;
		else if (str_equal(sec->name, "maps"))
			obj->maps_section = sec;
		else if (str_equal(sec->name, ".maps"))
			obj->btf_maps_section = sec;
		else if (!strcmp(sec->name, ".jumptables"))
			obj->jump_tables_section = sec;
	}
	return NULL;
}

static struct error *read_symbols(struct bpf_object *obj)
{
	if (!obj->symtab)
		return error_hint(
			error_new(EINVAL, "the object has no symbol table"),
			"the object was stripped: use the unstripped file, or strip only with -g");
	const size_t n = pb_elf_symbol_count(obj->elf, obj->symtab);
	if (!vec_reserve(&obj->symbols, n ? n : 1))
		return error_nomem();
	for (size_t i = 0; i < n; i++)
		TRY(pb_elf_symbol_at(obj->elf, obj->symtab, i, vec_push(&obj->symbols)));
	return NULL;
}

/* The file's name up to its first dot, which internal maps are named after. */
static char *name_of_path(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	const char *dot = strchr(base, '.');
	return dot ? strndup(base, (size_t)(dot - base)) : strdup(base);
}

static struct error *apply_opts(struct bpf_object *obj, const struct bpf_object_open_opts *opts)
{
	TRY(OPTS_CHECK(opts, bpf_object_open_opts));

	const char *name = OPTS_GET(opts, object_name, NULL);
	const char *btf = OPTS_GET(opts, btf_custom_path, NULL);
	const char *pin_root = OPTS_GET(opts, pin_root_path, NULL);
	const char *kconfig = OPTS_GET(opts, kconfig, NULL);

	TRY(token_path_set(obj, OPTS_GET(opts, bpf_token_path, NULL)));
	obj->relaxed_maps = OPTS_GET(opts, relaxed_maps, false);
	obj->kernel_log_buf = OPTS_GET(opts, kernel_log_buf, NULL);
	obj->kernel_log_size = OPTS_GET(opts, kernel_log_size, 0);
	obj->kernel_log_level = OPTS_GET(opts, kernel_log_level, 0);
	if ((!obj->kernel_log_buf && obj->kernel_log_size) || obj->kernel_log_size > UINT32_MAX)
		return error_new(EINVAL,
				 "kernel_log_buf and kernel_log_size must both be set, or neither");
	if (!obj->kernel_log_size)
		obj->kernel_log_buf = NULL;
	if (kconfig && !(obj->kconfig_text = strdup(kconfig)))
		return error_nomem();
	if (name && !(obj->name = strdup(name)))
		return error_nomem();
	if (btf && !(obj->btf_custom_path = strdup(btf)))
		return error_nomem();
	obj->pin_root = strdup(pin_root ? pin_root : "/sys/fs/bpf");
	return obj->pin_root ? NULL : error_nomem();
}

static struct error *object_parse(struct bpf_object *obj)
{
	TRY(check_header(obj));
	TRY(read_sections(obj));
	TRY(read_symbols(obj));
	TRY(object_btf_open(obj));
	TRY(maps_legacy_find(obj));
	TRY(maps_btf_find(obj));
	TRY(data_maps_find(obj));
	TRY(arena_find(obj));
	TRY(externs_find(obj));
	TRY(struct_ops_find(obj));
	TRY(programs_find(obj));
	TRY(relos_read(obj));
	return handlers_setup(obj);
}

static struct error *object_new(const struct bpf_object_open_opts *opts, const struct log *log,
				struct bpf_object **out)
{
	_cleanup_(bpf_object__closep) struct bpf_object *obj = calloc(1, sizeof(*obj));

	if (!obj)
		return error_nomem();
	obj->log = log;
	obj->btf_fd = -1;
	TRY(apply_opts(obj, opts));
	*out = steal_ptr(obj);
	return NULL;
}

struct error *object_open_file(const char *path, const struct bpf_object_open_opts *opts,
			       const struct log *log, struct bpf_object **out)
{
	_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;

	TRY(object_new(opts, log, &obj));
	obj->path = strdup(path);
	if (!obj->name)
		obj->name = name_of_path(path);
	if (!obj->path || !obj->name)
		return error_nomem();
	TRY(pb_elf_file_open_parts(path, is_wanted, &obj->elf));
	TRY(object_error_at(obj, object_parse(obj)));
	*out = steal_ptr(obj);
	return NULL;
}

struct error *object_open_mem(const void *data, size_t size,
			      const struct bpf_object_open_opts *opts, const struct log *log,
			      struct bpf_object **out)
{
	return object_open_mem_of(data, size, NULL, opts, log, out);
}

struct error *object_open_mem_of(const void *data, size_t size, const char *path,
				 const struct bpf_object_open_opts *opts, const struct log *log,
				 struct bpf_object **out)
{
	_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;

	TRY(object_new(opts, log, &obj));
	if (!obj->name && path)
		obj->name = name_of_path(path);
	else if (!obj->name &&
		 asprintf(&obj->name, "%lx-%zx", (unsigned long)(uintptr_t)data, size) < 0)
		obj->name = NULL;
	if (!obj->name)
		return error_nomem();
	obj->path = strdup(path ? path : obj->name);
	if (!obj->path)
		return error_nomem();
	TRY(pb_elf_file_open_mem(data, size, obj->path, &obj->elf));
	TRY(object_error_at(obj, object_parse(obj)));
	*out = steal_ptr(obj);
	return NULL;
}

static void program_deinit(struct bpf_program *prog)
{
	bpf_program__unload(prog);
	if (prog->attach_btf_obj_fd > 0)
		close(prog->attach_btf_obj_fd);
	free(prog->owned_insns);
	free(prog->set_insns);
	vec_deinit(&prog->placed);
	free(prog->func_info);
	free(prog->line_info);
	free(prog->attach_target);
}

void bpf_object__close(struct bpf_object *obj)
{
	struct bpf_program *prog;
	struct code_section *code;
	struct bpf_map *map;

	if (!obj)
		return;
	if (obj->free_attach_data)
		obj->free_attach_data(obj->attach_data);
	loss_counters_free(obj->losses);
	vec_for_each (prog, &obj->programs)
		program_deinit(prog);
	vec_deinit(&obj->programs);
	vec_for_each (map, &obj->maps)
		map_deinit(map);
	vec_deinit(&obj->maps);
	vec_for_each (code, &obj->codes) {
		free(code->copy);
		vec_deinit(&code->relos);
	}
	vec_deinit(&obj->codes);
	vec_deinit(&obj->functions);
	vec_deinit(&obj->symbols);
	free(obj->code_of_section);
	free(obj->map_of_section);
	u64map_deinit(&obj->map_by_place);
	strmap_deinit(&obj->externs);
	free(obj->extern_vars);
	for (size_t i = 1; i < obj->module_fds.n; i++)
		close(obj->module_fds.v[i]);
	vec_deinit(&obj->module_fds);
	free(obj->kconfig_text);
	vec_deinit(&obj->map_values);
	jump_tables_close(obj);
	vec_deinit(&obj->jump_tables);
	core_free(obj->core);
	btf_ext__free(obj->btf_ext);
	btf__free(obj->btf);
	modules_deinit(&obj->modules);
	btf__free(obj->vmlinux);
	btf__free(obj->custom_btf);
	if (obj->btf_fd >= 0)
		close(obj->btf_fd);
	pb_elf_file_free(obj->elf);
	if (obj->token_fd > 0)
		close(obj->token_fd);
	free(obj->token_path);
	free(obj->pin_root);
	free(obj->btf_custom_path);
	free(obj->name);
	free(obj->path);
	free(obj);
}

/* ---- the public edge ---- */

struct bpf_object *bpf_object__open_file(const char *path, const struct bpf_object_open_opts *opts)
{
	struct bpf_object *obj = NULL;

	if (!path)
		return edge_null_errno(EINVAL);
	struct error *err = object_open_file(path, opts, edge_log(), &obj);
	return err ? edge_null(err) : obj;
}

struct bpf_object *bpf_object__open(const char *path)
{
	return bpf_object__open_file(path, NULL);
}

struct bpf_object *bpf_object__open_mem(const void *obj_buf, size_t obj_buf_sz,
					const struct bpf_object_open_opts *opts)
{
	struct bpf_object *obj = NULL;

	if (!obj_buf || !obj_buf_sz)
		return edge_null_errno(EINVAL);
	struct error *err = object_open_mem(obj_buf, obj_buf_sz, opts, edge_log(), &obj);
	return err ? edge_null(err) : obj;
}
