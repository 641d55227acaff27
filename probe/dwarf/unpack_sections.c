// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sections that zstd has compressed (SHF_COMPRESSED with ELFCOMPRESS_ZSTD), which libelf reads only
 * from 0.189 on. A file that has some is copied into memory, with these sections unpacked behind
 * its other bytes, and libdw gets the copy:
 *
 *	the file as it is | unpacked sections | a new table of section headers
 *
 * How much that may be, debug_sections_fit() has checked: it is linear in what the file has on
 *disk. Holes stay holes. The sizes that the headers claim are checked against what zstd writes.
 */
#include "probe/dwarf/internal.h"

#include <gelf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <zstd.h>

#include "lib/sys/open_file.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

struct unpacking {
	Elf *elf;
	int in, out;
	uint64_t end; /* of the copy */
	GElf_Ehdr ehdr;
	Elf64_Shdr *headers;
	size_t n;
};

static bool is_zstd(Elf_Scn *scn, GElf_Chdr *chdr)
{
	GElf_Shdr shdr;

	return gelf_getshdr(scn, &shdr) && shdr.sh_flags & SHF_COMPRESSED &&
	       shdr.sh_type != SHT_NOBITS && gelf_getchdr(scn, chdr) &&
	       chdr->ch_type == ELFCOMPRESS_ZSTD;
}

static bool has_zstd(Elf *elf)
{
	GElf_Chdr chdr;
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)))
		if (is_zstd(scn, &chdr))
			return true;
	return false;
}

/* What the file has, without its holes. */
static struct error *copy_file(struct unpacking *u)
{
	_cleanup_free_ uint8_t *buffer = malloc(1 << 16);
	struct stat st;

	if (!buffer)
		return error_nomem();
	if (fstat(u->in, &st) || ftruncate(u->out, st.st_size))
		return error_errno(errno, "cannot copy it");
	for (off_t at = 0; (at = lseek(u->in, at, SEEK_DATA)) >= 0 && at < st.st_size;) {
		off_t hole = lseek(u->in, at, SEEK_HOLE);

		hole = hole < 0 || hole > st.st_size ? st.st_size : hole;
		while (at < hole) {
			const ssize_t n =
				pread(u->in, buffer, (size_t)min_of((off_t)1 << 16, hole - at), at);

			if (n <= 0)
				return error_errno(n ? errno : EIO, "cannot read it");
			TRY(file_write_at(u->out, buffer, (size_t)n, (uint64_t)at));
			at += n;
		}
	}
	u->end = round_up((uint64_t)st.st_size, 16);
	return NULL;
}

static struct error *unpack_section(struct unpacking *u, Elf_Scn *scn, const GElf_Chdr *chdr)
{
	Elf64_Shdr *header = &u->headers[elf_ndxscn(scn)];
	Elf_Data *raw = elf_rawdata(scn, NULL);

	if (!raw || raw->d_size < sizeof(Elf64_Chdr) || chdr->ch_size > SIZE_MAX - 1)
		return error_new(EBADMSG, "section %zu has no compressed data", elf_ndxscn(scn));
	_cleanup_free_ void *bytes = malloc(chdr->ch_size + 1);
	if (!bytes)
		return error_nomem();
	const size_t n =
		ZSTD_decompress(bytes, chdr->ch_size, (const char *)raw->d_buf + sizeof(Elf64_Chdr),
				raw->d_size - sizeof(Elf64_Chdr));
	if (ZSTD_isError(n) || n != chdr->ch_size)
		return error_new(EBADMSG, "cannot decompress its debug information (section %zu)",
				 elf_ndxscn(scn));
	TRY(file_write_at(u->out, bytes, n, u->end));
	header->sh_offset = u->end;
	header->sh_size = n;
	header->sh_flags &= ~(uint64_t)SHF_COMPRESSED;
	header->sh_addralign = chdr->ch_addralign;
	u->end = round_up(u->end + n, 16);
	return NULL;
}

static struct error *unpack_sections(struct unpacking *u)
{
	Elf_Scn *scn = NULL;
	GElf_Chdr chdr;
	GElf_Shdr shdr;
	size_t n;

	if (elf_getshdrnum(u->elf, &n) || !n)
		return error_new(EBADMSG, "it has no sections");
	u->n = n;
	u->headers = calloc(n, sizeof(*u->headers));
	if (!u->headers)
		return error_nomem();
	/* The first, which elf_nextscn() leaves out, may have the number of sections. */
	for (scn = elf_getscn(u->elf, 0); scn; scn = elf_nextscn(u->elf, scn))
		if (gelf_getshdr(scn, &shdr))
			u->headers[elf_ndxscn(scn)] = shdr;
	while ((scn = elf_nextscn(u->elf, scn)))
		if (is_zstd(scn, &chdr))
			TRY(unpack_section(u, scn, &chdr));
	TRY(file_write_at(u->out, u->headers, n * sizeof(*u->headers), u->end));
	u->ehdr.e_shoff = u->end;
	u->ehdr.e_shentsize = sizeof(*u->headers);
	return file_write_at(u->out, &u->ehdr, sizeof(Elf64_Ehdr), 0);
}

struct error *debug_sections_unpack(int *fd)
{
	struct unpacking u = {.in = *fd, .out = -1};
	struct error *err = NULL;

	elf_version(EV_CURRENT);
	u.elf = elf_begin(*fd, ELF_C_READ, NULL);
	/* Files of other machines are refused by those who read them. */
	const bool is_needed = u.elf && gelf_getehdr(u.elf, &u.ehdr) &&
			       u.ehdr.e_ident[EI_CLASS] == ELFCLASS64 &&
			       u.ehdr.e_ident[EI_DATA] == ELFDATA2LSB && has_zstd(u.elf);
	if (is_needed) {
		u.out = memfd_create("debug", MFD_CLOEXEC);
		err = u.out < 0 ? error_errno(errno, "cannot unpack it") : copy_file(&u);
		if (!err)
			err = unpack_sections(&u);
	}
	elf_end(u.elf);
	free(u.headers);
	if (err) {
		closep(&u.out);
		return err;
	}
	if (is_needed) {
		close(*fd);
		*fd = u.out;
	}
	return NULL;
}
