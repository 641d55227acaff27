// SPDX-License-Identifier: BSD-2-Clause
#include "perf/resolve/code_bytes.h"

/*
 * A file may say that it has any amount of code. All code of the largest programs (browsers, the
 * kernel) is below the limit.
 */
#define MAX_SECTION ((uint64_t)1 << 30)

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

static struct error *code_of_program(struct code_files *files, struct resolver *r,
				     const struct location *at, struct code_bytes *out)
{
	struct bpf_code *bpf = &files->bpf;

	if (!bpf->bytes || at->dso_addr - bpf->address >= bpf->size) {
		bpf_code_deinit(bpf);
		TRY(bpf_code_find(session_header(resolver_session(r)), at->dso_addr, bpf));
	}
	const uint64_t skip = at->dso_addr - bpf->address;
	*out = (struct code_bytes){
		.bytes = bpf->bytes + skip,
		.size = bpf->size - skip,
		.address = bpf->address + skip,
		.machine = bpf->machine,
	};
	return NULL;
}

struct error *code_bytes_find(struct code_files *files, struct resolver *r,
			      const struct location *at, struct code_bytes *out)
{
	switch (at->map->dso->kind) {
	case DSO_USER:
	case DSO_VDSO:
	case DSO_KERNEL:
		return code_of_file(files, r, at, out);
	case DSO_BPF:
		return code_of_program(files, r, at, out);
	case DSO_MODULE:
		return error_new(ENODATA, "the code of kernel modules is not read");
	case DSO_ANON:
		break;
	}
	return error_new(ENODATA,
			 "%s has the names of a JIT compiler's functions, but not their code",
			 at->map->dso->path);
}
