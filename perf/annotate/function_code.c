// SPDX-License-Identifier: BSD-2-Clause
#include "perf/annotate/function_code.h"

/*
 * A file may say that it has any amount of code. All code of the largest programs (browsers, the
 * kernel) is below the first limit; functions are below the second by far.
 */
#define MAX_SECTION  ((uint64_t)1 << 30)
#define MAX_FUNCTION ((uint64_t)16 << 20)

void code_files_deinit(struct code_files *files)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(&files->by_dso, &pos)))
		pb_elf_file_free(slot->value);
	u64map_deinit(&files->by_dso);
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

/* The section that has the code at an address; NULL: none. */
static const struct elf_section *find_section(const struct elf_file *file, uint64_t address)
{
	for (size_t i = 0; i < pb_elf_section_count(file); i++) {
		const struct elf_section *sec = pb_elf_section_at(file, i);

		if (sec->data && (sec->flags & SHF_EXECINSTR) && address >= sec->addr &&
		    address - sec->addr < sec->size)
			return sec;
	}
	return NULL;
}

static struct error *code_of_file(struct code_files *files, struct resolver *r,
				  const struct counted_function *f, struct function_code *out)
{
	const struct location start = {.map = f->map, .sym = f->sym, .dso_addr = f->sym->start};
	const uint64_t size = f->sym->end - f->sym->start;
	struct elf_file *file;

	TRY(open_file(files, r, f->map, &file));
	out->address = location_elf_address(&start);
	const struct elf_section *sec = find_section(file, out->address);
	if (!sec)
		return error_new(ENODATA, "%s has no code at 0x%llx", pb_elf_file_name(file),
				 (unsigned long long)out->address);
	const uint64_t skip = out->address - sec->addr;
	out->bytes = (const uint8_t *)sec->data + skip;
	out->size = min_of(size, sec->size - skip);
	out->machine = pb_elf_file_machine(file);
	return NULL;
}

static struct error *code_of_program(struct code_files *files, struct resolver *r,
				     const struct counted_function *f, struct function_code *out)
{
	const struct data_header *header = session_header(resolver_session(r));

	bpf_code_deinit(&files->bpf);
	TRY(bpf_code_find(header, f->sym->start, &files->bpf));
	*out = (struct function_code){
		.bytes = files->bpf.bytes,
		.size = files->bpf.size,
		.address = files->bpf.address,
		.machine = files->bpf.machine,
		.bpf = &files->bpf,
	};
	return NULL;
}

struct error *function_code_find(struct code_files *files, struct resolver *r,
				 const struct counted_function *f, struct function_code *out)
{
	const uint64_t size = f->sym->end - f->sym->start;
	struct function_code code = {0};

	if (size > MAX_FUNCTION)
		return error_new(EFBIG, "it has %llu bytes, more than %llu",
				 (unsigned long long)size, (unsigned long long)MAX_FUNCTION);
	switch (f->map->dso->kind) {
	case DSO_USER:
	case DSO_VDSO:
	case DSO_KERNEL:
		TRY(code_of_file(files, r, f, &code));
		break;
	case DSO_ANON:
		return error_new(ENODATA,
				 "%s has the names of a JIT compiler's functions, but not "
				 "their code",
				 f->map->dso->path);
	case DSO_MODULE:
		return error_new(ENODATA, "the code of kernel modules is not read");
	case DSO_BPF:
		TRY(code_of_program(files, r, f, &code));
		break;
	}
	*out = code;
	return NULL;
}
