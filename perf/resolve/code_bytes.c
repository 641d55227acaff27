// SPDX-License-Identifier: BSD-2-Clause
#include "perf/resolve/code_bytes.h"

#include <stdlib.h>
#include <string.h>

/*
 * A file may say that it has any amount of code. All code of the largest programs (browsers, the
 * kernel) is below the limit.
 */
#define MAX_SECTION ((uint64_t)1 << 30)

static void free_module(struct module_code *module)
{
	module_code_deinit(module);
	free(module);
}

void code_files_deinit(struct code_files *files)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(&files->by_dso, &pos)))
		pb_elf_file_free(slot->value);
	u64map_deinit(&files->by_dso);
	for (pos = 0; (slot = u64map_next(&files->modules, &pos));)
		free_module(slot->value);
	u64map_deinit(&files->modules);
	strbuf_deinit(&files->running);
	bpf_code_deinit(&files->bpf);
}

/* The code, and the notes by which the build-id is checked. */
static bool wants_code(const struct elf_file *file, const struct elf_section *sec)
{
	return ((sec->flags & SHF_EXECINSTR) && sec->size <= MAX_SECTION) || sec->type == SHT_NOTE;
}

static struct error *open_file(struct code_files *files, struct resolver *r, const struct map *map,
			       struct elf_file **out)
{
	const uint64_t key = (uintptr_t)map->dso;
	_cleanup_elf_ struct elf_file *file = NULL;

	*out = u64map_get(&files->by_dso, key);
	if (*out)
		return NULL;
	TRY(resolver_open_code(r, map, wants_code, &file));
	if (!u64map_put(&files->by_dso, key, file))
		return error_nomem();
	*out = steal_ptr(file);
	return NULL;
}

static bool is_code(const struct elf_section *sec)
{
	return sec->data && (sec->flags & SHF_EXECINSTR);
}

/* The section that has the code at an address, or at an offset of the file; NULL: none. */
static const struct elf_section *find_section(const struct elf_file *file, uint64_t at,
					      bool is_offset, uint64_t *skip)
{
	for (size_t i = 0; i < pb_elf_section_count(file); i++) {
		const struct elf_section *sec = pb_elf_section_at(file, i);
		const uint64_t start = is_offset ? sec->offset : sec->addr;

		if (is_code(sec) && at >= start && at - start < sec->size) {
			*skip = at - start;
			return sec;
		}
	}
	return NULL;
}

static struct error *code_of_file(struct code_files *files, struct resolver *r,
				  const struct location *at, struct code_bytes *out)
{
	const bool is_kernel = at->map->dso->kind == DSO_KERNEL;
	struct elf_file *file;
	uint64_t skip = 0;

	resolver_symtab(r, at->map->dso); /* it says where the kernel's image is, and how far off */
	TRY(open_file(files, r, at->map, &file));
	const uint64_t where = is_kernel ? location_elf_address(at) : at->dso_addr;
	const struct elf_section *sec = find_section(file, where, !is_kernel, &skip);
	if (!sec)
		return error_new(ENODATA, "%s has no code at %s0x%llx", pb_elf_file_name(file),
				 is_kernel ? "" : "offset ", (unsigned long long)where);
	*out = (struct code_bytes){
		.bytes = (const uint8_t *)sec->data + skip,
		.size = sec->size - skip,
		.address = sec->addr + skip,
		.machine = pb_elf_file_machine(file),
	};
	return NULL;
}

/* Trampolines of ftrace and BPF, and copies of instructions for kprobes, are not programs. */
static struct error *no_program(const char *name, struct error *err)
{
	if (!err || err->code != ENODATA || !strncmp(name, "bpf_prog_", strlen("bpf_prog_")))
		return err;
	error_free(err);
	return error_new(ENODATA, "recordings contain only the code of BPF programs, not other "
				  "code that the kernel generates");
}

static struct error *code_of_program(struct code_files *files, struct resolver *r,
				     const struct location *at, struct code_bytes *out)
{
	struct bpf_code *bpf = &files->bpf;

	if (!bpf->bytes || at->dso_addr - bpf->address >= bpf->size) {
		bpf_code_deinit(bpf);
		TRY(no_program(at->map->dso->short_name,
			       bpf_code_find(session_header(resolver_session(r)), at->dso_addr,
					     bpf)));
	}
	const uint64_t skip = at->dso_addr - bpf->address;
	*out = (struct code_bytes){
		.bytes = bpf->bytes + skip,
		.size = bpf->size - skip,
		.address = bpf->address + skip,
		.machine = bpf->machine,
		.in_kernel = true,
	};
	return NULL;
}

static struct error *open_module(struct code_files *files, struct resolver *r,
				 const struct map *map, struct module_code **out)
{
	const uint64_t key = (uintptr_t)map->dso;
	_cleanup_(module_image_deinit) struct module_image image = {0};

	*out = u64map_get(&files->modules, key);
	if (*out)
		return NULL;
	TRY(resolver_open_module(r, map, module_code_wants, &image));
	struct module_code *module = calloc(1, sizeof(*module));
	if (!module)
		return error_nomem();
	struct error *err = module_code_init(module, &image);
	if (!err && !u64map_put(&files->modules, key, module))
		err = error_nomem();
	if (err)
		free_module(module);
	else
		*out = module;
	return err;
}

static struct error *code_of_module(struct code_files *files, struct resolver *r,
				    const struct location *at, struct code_bytes *out)
{
	struct module_code *module;

	if (!at->sym)
		return error_new(ENODATA, "code of modules is found by the names of functions");
	const uint64_t skip = at->dso_addr - at->sym->start;
	TRY(open_module(files, r, at->map, &module));
	TRY(module_code_find(module, at->sym->name, at->sym->start - at->map->start));
	if (skip >= module->size)
		return error_new(ENODATA, "the function of the file ends before");
	*out = (struct code_bytes){
		.bytes = module->bytes + skip,
		.size = module->size - (size_t)skip,
		.address = module->address + skip,
		.machine = pb_elf_file_machine(module->image.file),
		.module = module,
	};
	return NULL;
}

/* As the running kernel has it: with what was filled in and patched since it was loaded. */
static struct error *code_of_running(struct code_files *files, struct resolver *r,
				     const struct location *at, struct code_bytes *out)
{
	if (!at->sym)
		return error_new(ENOENT, "code of the running kernel is that of functions");
	const uint64_t skip = at->dso_addr - at->sym->start;
	strbuf_reset(&files->running);
	TRY(resolver_running_code(r, at, &files->running));
	if (skip >= files->running.len)
		return error_new(ENODATA, "the function ends before");
	*out = (struct code_bytes){
		.bytes = (const uint8_t *)strbuf_str(&files->running) + skip,
		.size = files->running.len - (size_t)skip,
		.address = at->dso_addr,
		.machine = bpf_code_machine(session_header(resolver_session(r))->arch),
		.in_kernel = true,
	};
	return NULL;
}

static struct error *code_of_jit(const struct location *at, struct code_bytes *out)
{
	struct jit_function function;

	if (!resolver_jit_function(at, &function))
		return error_new(ENODATA,
				 "%s has the names of a JIT compiler's functions, but not their "
				 "code",
				 at->map->dso->path);
	const size_t skip = (size_t)(at->dso_addr - function.start);
	*out = (struct code_bytes){
		.bytes = function.code + skip,
		.size = function.size - skip,
		.address = at->dso_addr,
		.machine = function.machine,
	};
	return NULL;
}

typedef struct error *find_code_fn(struct code_files *files, struct resolver *r,
				   const struct location *at, struct code_bytes *out);

/* The first way, or the second one. If both fail, the error is that of the file. */
static struct error *either(find_code_fn *first, find_code_fn *second, struct code_files *files,
			    struct resolver *r, const struct location *at, struct code_bytes *out)
{
	struct error *err = first(files, r, at, out);

	if (!err || err->code == ENOMEM)
		return err;
	struct error *late = second(files, r, at, out);
	if (!late || late->code == ENOMEM || first == code_of_running) {
		error_free(err);
		return late;
	}
	error_free(late);
	return err;
}

struct error *code_bytes_find(struct code_files *files, struct resolver *r,
			      const struct location *at, struct code_bytes *out)
{
	switch (at->map->dso->kind) {
	case DSO_USER:
	case DSO_VDSO:
		return code_of_file(files, r, at, out);
	case DSO_KERNEL:
		return either(code_of_file, code_of_running, files, r, at, out);
	case DSO_BPF:
		return code_of_program(files, r, at, out);
	case DSO_MODULE:
		return either(code_of_running, code_of_module, files, r, at, out);
	case DSO_ANON:
		break;
	}
	return code_of_jit(at, out);
}
