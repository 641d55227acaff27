// SPDX-License-Identifier: BSD-2-Clause
/*
 * /proc/kcore is an ELF core file (fs/proc/kcore.c): a segment for each part of the address space
 * of the kernel. Opening it takes CAP_SYS_RAWIO, reading it nothing.
 *
 * Code of the kernel is from _stext to _etext of kallsyms, code of modules from the address in
 * /proc/modules; with the size there, data that follows is included, since 6.4 puts the data
 * of modules elsewhere. What is code is found out at the first read: most runs read nothing.
 */
#include "sym/kcore.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/vec.h"
#include "lib/sys/open_file.h"
#include "sym/sym.h"

enum { MAX_SEGMENTS = 4096 };

struct range {
	uint64_t start, end, offset; /* in the image; of segments */
};

struct kcore {
	struct kcore_opts opts;
	int fd;
	Elf64_Ehdr head;
	VEC(struct range) segments;
	VEC(struct range) code;
	bool code_tried;
};

static struct error *add_segment(struct kcore *k, const Elf64_Phdr *segment)
{
	struct range *slot;

	if (segment->p_type != PT_LOAD || segment->p_vaddr + segment->p_memsz < segment->p_vaddr)
		return NULL;
	slot = vec_push(&k->segments);
	if (!slot)
		return error_nomem();
	*slot = (struct range){segment->p_vaddr, segment->p_vaddr + segment->p_memsz,
			       segment->p_offset};
	return NULL;
}

static struct error *read_segments(struct kcore *k)
{
	Elf64_Ehdr head;
	Elf64_Phdr segment;

	if (pread(k->fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(segment) || head.e_phnum > MAX_SEGMENTS)
		return error_new(EBADMSG, "not an image of a 64-bit kernel");
	k->head = head;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		const uint64_t at = head.e_phoff + i * sizeof(segment);

		if (pread(k->fd, &segment, sizeof(segment), (off_t)at) != sizeof(segment))
			return error_new(EBADMSG, "its segments cannot be read");
		TRY(add_segment(k, &segment));
	}
	return NULL;
}

struct error *kcore_open(const struct kcore_opts *opts, struct kcore **out)
{
	_cleanup_(kcore_freep) struct kcore *k = calloc(1, sizeof(*k));

	if (!k)
		return error_nomem();
	k->opts = *opts;
	if (!k->opts.kcore)
		k->opts.kcore = "/proc/kcore";
	if (!k->opts.kallsyms)
		k->opts.kallsyms = "/proc/kallsyms";
	if (!k->opts.modules)
		k->opts.modules = "/proc/modules";
	k->fd = open(k->opts.kcore, O_RDONLY | O_CLOEXEC);
	if (k->fd < 0)
		return error_errno(errno, "cannot open '%s'", k->opts.kcore);
	TRY(error_at(read_segments(k), "%s", k->opts.kcore));
	*out = steal_ptr(k);
	return NULL;
}

void kcore_free(struct kcore *k)
{
	if (!k)
		return;
	closep(&k->fd);
	vec_deinit(&k->segments);
	vec_deinit(&k->code);
	free(k);
}

int kcore_fd(const struct kcore *k)
{
	return k->fd;
}

static struct error *add_code(struct kcore *k, uint64_t start, uint64_t end)
{
	struct range *slot;

	if (!start || start >= end)
		return NULL;
	slot = vec_push(&k->code);
	if (!slot)
		return error_nomem();
	*slot = (struct range){.start = start, .end = end};
	return NULL;
}

static struct error *find_kernel(struct kcore *k)
{
	_cleanup_(kallsyms_freep) struct kallsyms *symbols = NULL;
	uint64_t start, end;

	TRY(kallsyms_load(k->opts.kallsyms, &symbols));
	if (!kallsyms_address(symbols, "_stext", &start) ||
	    !kallsyms_address(symbols, "_etext", &end))
		return error_new(ENODATA, "%s does not say where the kernel's code is",
				 k->opts.kallsyms);
	return add_code(k, start, end);
}

/* "NAME SIZE USES USERS STATE ADDRESS …" */
static struct error *find_modules(struct kcore *k)
{
	_cleanup_fclose_ FILE *in = fopen(k->opts.modules, "re");
	uint64_t size, start;
	char line[16384];

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "%*s %" SCNu64 " %*s %*s %*s %" SCNx64, &size, &start) == 2)
			TRY(add_code(k, start, start + size));
	return NULL;
}

static struct error *find_code(struct kcore *k)
{
	if (k->code_tried)
		return NULL;
	TRY(find_kernel(k));
	TRY(find_modules(k));
	k->code_tried = true;
	return NULL;
}

static bool is_code(const struct kcore *k, uint64_t address, uint64_t size)
{
	const struct range *range;

	vec_for_each (range, &k->code)
		if (address >= range->start && address < range->end && size <= range->end - address)
			return true;
	return false;
}

static const struct range *find_segment(const struct kcore *k, uint64_t address, uint64_t size)
{
	const struct range *range;

	vec_for_each (range, &k->segments)
		if (address >= range->start && address < range->end && size <= range->end - address)
			return range;
	return NULL;
}

struct error *kcore_read(struct kcore *k, uint64_t address, uint64_t size, struct strbuf *out)
{
	if (size > KCORE_MAX_READ)
		return error_new(EFBIG, "more than %" PRIu64 " MB of code", KCORE_MAX_READ >> 20);
	TRY(find_code(k));
	if (!is_code(k, address, size))
		return error_new(EPERM, "0x%" PRIx64 " is not code of the kernel", address);
	const struct range *segment = find_segment(k, address, size);
	_cleanup_free_ char *bytes = segment ? malloc((size_t)size) : NULL;
	if (segment && !bytes)
		return error_nomem();
	uint64_t n = 0;
	for (ssize_t got = 1; segment && got > 0 && n < size; n += (uint64_t)got) {
		got = pread(k->fd, bytes + n, (size_t)(size - n),
			    (off_t)(segment->offset + (address - segment->start) + n));
		if (got < 0)
			return error_errno(errno, "cannot read '%s'", k->opts.kcore);
	}
	if (n < size || !segment)
		return error_new(ENODATA, "%s does not have 0x%" PRIx64, k->opts.kcore, address);
	strbuf_add(out, bytes, (size_t)size);
	return strbuf_failed(out) ? error_nomem() : NULL;
}

/* ---- a copy of the code ---- */

#define PAGE 4096u

typedef VEC(struct range) range_vec;

/* The pages of code that the image has; those of one page are not copied twice. */
static struct error *find_pages(const struct kcore *k, range_vec *out)
{
	const struct range *code;

	vec_for_each (code, &k->code) {
		const struct range *segment = find_segment(k, code->start, 1);

		if (!segment)
			continue;
		struct range pages = {
			.start = max_of(code->start & ~(uint64_t)(PAGE - 1), segment->start),
			.end = min_of((code->end + PAGE - 1) & ~(uint64_t)(PAGE - 1), segment->end),
		};
		pages.offset = segment->offset + (pages.start - segment->start);
		struct range *slot = vec_push(out);
		if (!slot)
			return error_nomem();
		*slot = pages;
	}
	return NULL;
}

static struct error *copy_range(const struct kcore *k, const struct range *from, int fd,
				uint64_t at)
{
	enum { CHUNK = 1 << 20 };
	_cleanup_free_ char *bytes = malloc(CHUNK);
	const uint64_t size = from->end - from->start;

	if (!bytes)
		return error_nomem();
	for (uint64_t done = 0; done < size;) {
		const ssize_t got =
			pread(k->fd, bytes, (size_t)min_of(size - done, (uint64_t)CHUNK),
			      (off_t)(from->offset + done));

		if (got <= 0)
			return error_errno(got ? errno : ENODATA, "cannot read '%s'",
					   k->opts.kcore);
		TRY(file_write_at(fd, bytes, (size_t)got, at + done));
		done += (uint64_t)got;
	}
	return NULL;
}

static struct error *copy_pages(const struct kcore *k, const range_vec *pages, int fd)
{
	const Elf64_Half n = (Elf64_Half)pages->n;
	Elf64_Ehdr head = {
		.e_type = ET_CORE,
		.e_machine = k->head.e_machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(head),
		.e_flags = k->head.e_flags,
		.e_ehsize = sizeof(head),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = n,
	};
	uint64_t at = sizeof(head) + n * sizeof(Elf64_Phdr);

	memcpy(head.e_ident, k->head.e_ident, sizeof(head.e_ident));
	TRY(file_write_at(fd, &head, sizeof(head), 0));
	for (Elf64_Half i = 0; i < n; i++) {
		const struct range *from = &pages->v[i];
		const uint64_t size = from->end - from->start;

		at = (at + PAGE - 1) & ~(uint64_t)(PAGE - 1);
		const Elf64_Phdr segment = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_W | PF_X,
			.p_offset = at,
			.p_vaddr = from->start,
			.p_filesz = size,
			.p_memsz = size,
			.p_align = PAGE,
		};
		TRY(file_write_at(fd, &segment, sizeof(segment),
				  sizeof(head) + i * sizeof(segment)));
		TRY(copy_range(k, from, fd, at));
		at += size;
	}
	return NULL;
}

struct error *kcore_copy(struct kcore *k, int fd)
{
	range_vec pages = {0};

	TRY(find_code(k));
	struct error *err = find_pages(k, &pages);
	if (!err && pages.n > MAX_SEGMENTS)
		err = error_new(EFBIG, "the kernel has more than %d modules", MAX_SEGMENTS);
	if (!err)
		err = error_at(copy_pages(k, &pages, fd), "the kernel's code");
	vec_deinit(&pages);
	return err;
}
