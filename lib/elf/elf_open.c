// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opening an ELF file: its header, the table of sections, and the bytes of the
 * sections that are wanted. Layouts: the System V ABI, chapter 4 (gabi), and
 * <elf.h>; a file of more than 65,279 sections keeps their number in section 0.
 *
 * Nine tenths of a BPF object are DWARF, which nobody reads here. Who knows
 * what he wants says so (pb_elf_file_open_parts()): the tables are read first,
 * then the wanted sections, in the order of the file, neighbours by one read.
 * They are read, not mapped: a file that becomes shorter under a mapping kills
 * the reader by SIGBUS, and what is wanted is small. Sections keep their
 * distance to a multiple of 8 from the file, so that what is aligned in the
 * file is aligned in memory.
 *
 * What must never happen: a read beyond the file, whatever the headers say; a
 * name without its NUL; an allocation larger than the file.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/sys/open_file.h"

#include "lib/elf/internal.h"

/* Files up to this are read as a whole where parts would do. */
#define WHOLE_MAX (16 * 1024)
/* What stands between two wanted parts is read too up to this. */
#define GAP_MAX	     4096
#define ALIGN	     8
#define POPULATE_MIN (128 * 1024)

/* The fields of an ELF header that say where things are. */
struct header {
	uint64_t segments; /* offset; 0: none */
	uint64_t sections;
	uint32_t n_segments;
	uint32_t n_sections;
	uint32_t names; /* index of the section with the sections' names */
	uint16_t segment_size;
	uint16_t section_size;
};

static struct error *file_error(const struct elf_file *file, struct error *err)
{
	return error_at(err, "%s", file->name);
}

static struct error *read_at(const struct elf_file *file, int fd, void *to, uint64_t off,
			     uint64_t len)
{
	for (uint64_t got = 0; got < len;) {
		const ssize_t n = pread(fd, (char *)to + got, len - got, (off_t)(off + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return file_error(file, error_errno(errno, "cannot read"));
		if (!n)
			return file_error(file,
					  error_new(EBADMSG,
						    "the file was truncated while it was read"));
		got += (uint64_t)n;
	}
	return NULL;
}

/* Before memory is taken for bytes of the file. */
static struct error *take_room(struct elf_file *file, uint64_t len)
{
	if (len > file->room)
		return file_error(file,
				  error_new(EFBIG,
					    "it belongs to another user, and its sections are "
					    "larger than %" PRIu64 " MB",
					    (uint64_t)OTHERS_MAX_BYTES >> 20));
	file->room -= len;
	return NULL;
}

/*
 * The bytes [off, off + len), which lie within the file: as they stand in
 * memory, or read into *owned, which is the caller's.
 */
static struct error *bytes_at(struct elf_file *file, int fd, uint64_t off, uint64_t len,
			      void **owned, const void **bytes)
{
	if (file->data) {
		*bytes = file->data + off;
		return NULL;
	}
	TRY(take_room(file, len));
	void *to = malloc(len ? len : 1);
	if (!to)
		return error_nomem();
	struct error *err = read_at(file, fd, to, off, len);
	if (err) {
		free(to);
		return err;
	}
	*bytes = *owned = to;
	return NULL;
}

static bool is_within(const struct elf_file *file, uint64_t off, uint64_t len)
{
	return off <= file->size && len <= file->size - off;
}

static struct error *header_error(const struct elf_file *file)
{
	return file_error(file, error_new(EBADMSG, "the ELF header is truncated or malformed"));
}

static struct error *read_header(struct elf_file *file, int fd, struct header *h)
{
	uint8_t bytes[sizeof(Elf64_Ehdr)] = {0};
	const size_t n = min_of((size_t)file->size, sizeof(bytes));
	uint32_t version = 0, flags = 0;
	uint16_t names = 0, n_segments = 0, n_sections = 0, size = 0;
	uint64_t entry = 0;

	if (file->data)
		memcpy(bytes, file->data, n);
	else
		TRY(read_at(file, fd, bytes, 0, n));
	if (n < EI_NIDENT || memcmp(bytes, ELFMAG, SELFMAG))
		return file_error(file, error_new(ENOEXEC, "not an ELF file"));

	const uint8_t class = bytes[EI_CLASS], order = bytes[EI_DATA];
	if ((class != ELFCLASS32 && class != ELFCLASS64) ||
	    (order != ELFDATA2LSB && order != ELFDATA2MSB) ||
	    n < (class == ELFCLASS64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
		return header_error(file);
	file->is64 = class == ELFCLASS64;
	file->swap =
		order != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);

	struct cursor c = cursor_make(bytes, n, file->name);
	c.swap = file->swap;
	/* The bounds were checked: none of these reads fails. */
	cursor_seek(&c, EI_NIDENT);
	cursor_u16(&c, &file->type);
	cursor_u16(&c, &file->machine);
	cursor_u32(&c, &version);
	if (file->is64) {
		cursor_u64(&c, &entry);
		cursor_u64(&c, &h->segments);
		cursor_u64(&c, &h->sections);
	} else {
		uint32_t word = 0;

		cursor_u32(&c, &word);
		cursor_u32(&c, &word);
		h->segments = word;
		cursor_u32(&c, &word);
		h->sections = word;
	}
	cursor_u32(&c, &flags);
	cursor_u16(&c, &size);
	cursor_u16(&c, &h->segment_size);
	cursor_u16(&c, &n_segments);
	cursor_u16(&c, &h->section_size);
	cursor_u16(&c, &n_sections);
	cursor_u16(&c, &names);
	h->n_segments = n_segments;
	h->n_sections = n_sections;
	h->names = names;
	return version == EV_CURRENT ? NULL : header_error(file);
}

/* One section's header; *name is the offset of its name. */
static void read_section(const struct elf_file *file, const void *table, size_t index,
			 struct elf_section *sec, uint32_t *name)
{
	const size_t size = file->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	struct cursor c = cursor_make((const char *)table + index * size, size, file->name);

	if (file->is64 && !file->swap) {
		Elf64_Shdr h;

		memcpy(&h, (const char *)table + index * size, sizeof(h));
		*name = h.sh_name;
		*sec = (struct elf_section){
			.name = "",
			.index = (uint32_t)index,
			.type = h.sh_type,
			.link = h.sh_link,
			.info = h.sh_info,
			.flags = h.sh_flags,
			.addr = h.sh_addr,
			.offset = h.sh_offset,
			.size = h.sh_size,
			.entsize = h.sh_entsize,
		};
		return;
	}
	c.swap = file->swap;
	*sec = (struct elf_section){.name = "", .index = (uint32_t)index};
	cursor_u32(&c, name);
	cursor_u32(&c, &sec->type);
	if (file->is64) {
		uint64_t align;

		cursor_u64(&c, &sec->flags);
		cursor_u64(&c, &sec->addr);
		cursor_u64(&c, &sec->offset);
		cursor_u64(&c, &sec->size);
		cursor_u32(&c, &sec->link);
		cursor_u32(&c, &sec->info);
		cursor_u64(&c, &align);
		cursor_u64(&c, &sec->entsize);
	} else {
		uint32_t words[8] = {0};

		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			cursor_u32(&c, &words[i]);
		sec->flags = words[0];
		sec->addr = words[1];
		sec->offset = words[2];
		sec->size = words[3];
		sec->link = words[4];
		sec->info = words[5];
		sec->entsize = words[7];
	}
}

static bool has_bytes(const struct elf_section *sec)
{
	return sec->type != SHT_NULL && sec->type != SHT_NOBITS;
}

/* Numbers that do not fit into the header stand in section 0. */
static struct error *read_large_numbers(struct elf_file *file, int fd, struct header *h)
{
	const size_t size = file->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	_cleanup_free_ void *owned = NULL;
	const void *bytes = NULL;
	struct elf_section zero;
	uint32_t name;

	if (!h->sections || (h->n_sections && h->names != SHN_XINDEX && h->n_segments != PN_XNUM))
		return NULL;
	if (h->section_size != size || !is_within(file, h->sections, size))
		return header_error(file);
	TRY(bytes_at(file, fd, h->sections, size, &owned, &bytes));
	read_section(file, bytes, 0, &zero, &name);
	if (!h->n_sections) {
		if (zero.size > UINT32_MAX)
			return header_error(file);
		h->n_sections = (uint32_t)zero.size;
	}
	if (h->names == SHN_XINDEX)
		h->names = zero.link;
	if (h->n_segments == PN_XNUM)
		h->n_segments = zero.info;
	return NULL;
}

static struct error *read_names(struct elf_file *file, int fd, uint32_t index,
				const uint32_t *offsets)
{
	/* Nothing has a name then. An earlier section may be the one that is told of as too long.
	 */
	if (index >= file->n_sections || !has_bytes(&file->sections[index]) ||
	    !is_within(file, file->sections[index].offset, file->sections[index].size))
		return NULL;

	struct elf_section *names = &file->sections[index];
	TRY(bytes_at(file, fd, names->offset, names->size, &file->names, &names->data));
	for (size_t i = 1; i < file->n_sections; i++)
		file->sections[i].name = pb_elf_string_at(names, offsets[i]);
	return NULL;
}

static struct error *reaches_beyond(const struct elf_file *file, size_t index, const char *name)
{
	const struct elf_section *sec = &file->sections[index];

	return file_error(file,
			  error_new(EBADMSG,
				    "section %zu%s%s%s: 0x%" PRIx64 " bytes at offset 0x%" PRIx64
				    " exceed the file's %" PRIu64 " bytes",
				    index, *name ? " (" : "", name, *name ? ")" : "", sec->size,
				    sec->offset, file->size));
}

static struct error *read_sections(struct elf_file *file, int fd, const struct header *h)
{
	const size_t size = file->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	_cleanup_free_ uint32_t *names = NULL;
	_cleanup_free_ void *owned = NULL;
	const void *table;
	size_t beyond; /* the first section that is not all in the file */

	if (!h->sections || !h->n_sections)
		return NULL;
	if (h->section_size != size)
		return header_error(file);
	/* No more than the file has room for, whatever it claims. */
	if (!is_within(file, h->sections, (uint64_t)h->n_sections * size))
		return file_error(file, error_new(EBADMSG,
						  "%u sections do not fit into the file's %" PRIu64
						  " bytes",
						  h->n_sections, file->size));
	TRY(bytes_at(file, fd, h->sections, (uint64_t)h->n_sections * size, &owned, &table));
	TRY(take_room(file, h->n_sections * (sizeof(*file->sections) + sizeof(*names))));
	file->sections = malloc(h->n_sections * sizeof(*file->sections));
	names = malloc(h->n_sections * sizeof(*names));
	if (!file->sections || !names)
		return error_nomem();
	beyond = file->n_sections = h->n_sections;
	for (size_t i = file->n_sections; i-- > 0;) {
		struct elf_section *sec = &file->sections[i];

		read_section(file, table, i, sec, &names[i]);
		if (has_bytes(sec) && !is_within(file, sec->offset, sec->size))
			beyond = i;
	}
	/* It is told by its name, too, unless it is the one that holds the names. */
	if (beyond < file->n_sections && beyond == h->names)
		return reaches_beyond(file, beyond, "");
	TRY(read_names(file, fd, h->names, names));
	return beyond < file->n_sections ? reaches_beyond(file, beyond, file->sections[beyond].name)
					 : NULL;
}

static struct error *read_segments(struct elf_file *file, int fd, const struct header *h)
{
	const size_t size = file->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	const uint64_t len = (uint64_t)h->n_segments * size;

	/* Whoever asks where an address stands finds none. */
	if (!h->segments || !len || h->segment_size != size || !is_within(file, h->segments, len))
		return NULL;
	TRY(bytes_at(file, fd, h->segments, len, &file->owned_segments, &file->segments));
	file->n_segments = h->n_segments;
	return NULL;
}

static int section_order(const void *a_, const void *b_)
{
	const struct elf_section *const *a = a_, *const *b = b_;

	return (*a)->offset < (*b)->offset ? -1 : (*a)->offset > (*b)->offset;
}

/* A stretch of the file that is read at once. */
struct stretch {
	uint64_t begin;
	uint64_t end;
	uint64_t at; /* in the memory for all of them */
};

typedef VEC(struct stretch) stretches;

/* The stretches that hold the sections, which are in the order of the file; their bytes. */
static struct error *plan_stretches(struct elf_section **secs, size_t n, stretches *plan,
				    uint64_t *total)
{
	struct stretch *s = NULL;

	*total = 0;
	for (size_t i = 0; i < n; i++) {
		const uint64_t begin = secs[i]->offset, end = begin + secs[i]->size;

		if (s && begin <= s->end + GAP_MAX) {
			s->end = max_of(s->end, end);
			continue;
		}
		s = vec_push(plan);
		if (!s)
			return error_nomem();
		*s = (struct stretch){.begin = begin & ~(uint64_t)(ALIGN - 1), .end = end};
	}
	vec_for_each (s, plan) {
		s->at = *total;
		*total += round_up(s->end - s->begin, ALIGN);
	}
	return NULL;
}

/*
 * Memory that will be filled is asked for at once: a fault for each page takes
 * longer than reading into it does. A kernel before 5.14 refuses, which is fine.
 */
static void populate(void *mem, uint64_t size)
{
#ifdef MADV_POPULATE_WRITE
	if (size < POPULATE_MIN)
		return;
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t begin = round_up((uintptr_t)mem, page);
	const uintptr_t end = ((uintptr_t)mem + size) & ~(page - 1);
	const int saved = errno;

	madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
	errno = saved;
#endif
}

static struct error *read_stretches(struct elf_file *file, int fd, struct elf_section **secs,
				    size_t n, stretches *plan)
{
	uint64_t total;

	TRY(plan_stretches(secs, n, plan, &total));
	TRY(take_room(file, total));
	file->owned = malloc(total ? total : 1);
	if (!file->owned)
		return error_nomem();

	uint8_t *to = file->owned;
	struct stretch *s;
	populate(to, total);
	vec_for_each (s, plan)
		TRY(read_at(file, fd, to + s->at, s->begin, s->end - s->begin));
	s = plan->v;
	for (size_t i = 0; i < n; i++) {
		/* not by s->end: a section without bytes may stand there */
		while (s < vec_last(plan) && secs[i]->offset >= s[1].begin)
			s++;
		secs[i]->data = to + s->at + (secs[i]->offset - s->begin);
	}
	return NULL;
}

/* The bytes of the wanted sections (NULL: of all). */
static struct error *read_data(struct elf_file *file, int fd, pb_elf_wants *wants)
{
	_cleanup_free_ struct elf_section **secs = NULL;
	stretches plan = {0};
	size_t n = 0;

	if (!file->data && file->n_sections && !(secs = malloc(file->n_sections * sizeof(*secs))))
		return error_nomem();
	for (size_t i = 0; i < file->n_sections; i++) {
		struct elf_section *sec = &file->sections[i];

		if (!has_bytes(sec) || (wants && !wants(file, sec)))
			continue;
		if (file->data)
			sec->data = file->data + sec->offset;
		else if (!sec->data)
			secs[n++] = sec;
	}
	if (!n)
		return NULL;
	qsort(secs, n, sizeof(*secs), section_order);
	struct error *err = read_stretches(file, fd, secs, n, &plan);
	vec_deinit(&plan);
	return err;
}

static struct error *file_parse(struct elf_file *file, int fd, pb_elf_wants *wants)
{
	struct header h = {0};

	TRY(read_header(file, fd, &h));
	TRY(read_large_numbers(file, fd, &h));
	TRY(read_sections(file, fd, &h));
	TRY(read_segments(file, fd, &h));
	return read_data(file, fd, wants);
}

/* All of fd. */
static struct error *file_fill(struct elf_file *file, int fd)
{
	TRY(take_room(file, file->size));
	file->owned = malloc(file->size ? file->size : 1);
	if (!file->owned)
		return error_nomem();
	file->data = file->owned;
	return read_at(file, fd, file->owned, 0, file->size);
}

static struct error *file_open(const char *path, pb_elf_wants *wants, struct elf_file **out)
{
	_cleanup_elf_ struct elf_file *file = calloc(1, sizeof(*file));
	struct stat st;

	if (!file || !(file->name = strdup(path)))
		return error_nomem();
	_cleanup_close_ int fd = -1;
	TRY(open_regular(path, NULL, &fd));
	if (fstat(fd, &st) < 0)
		return file_error(file, error_errno(errno, "cannot read"));
	file->size = (uint64_t)st.st_size;
	file->room = file_max_bytes(fd);
	if (!wants || file->size <= WHOLE_MAX)
		TRY(file_fill(file, fd));
	TRY(file_parse(file, fd, wants));
	*out = steal_ptr(file);
	return NULL;
}

struct error *pb_elf_file_open(const char *path, struct elf_file **out)
{
	return file_open(path, NULL, out);
}

struct error *pb_elf_file_open_parts(const char *path, pb_elf_wants *wants, struct elf_file **out)
{
	return file_open(path, wants, out);
}

struct error *pb_elf_file_open_mem(const void *data, size_t size, const char *name,
				   struct elf_file **out)
{
	_cleanup_elf_ struct elf_file *file = calloc(1, sizeof(*file));

	if (!file || !(file->name = strdup(name)))
		return error_nomem();
	file->data = data;
	file->size = size;
	file->room = UINT64_MAX;
	TRY(file_parse(file, -1, NULL));
	*out = steal_ptr(file);
	return NULL;
}

void pb_elf_file_free(struct elf_file *file)
{
	if (!file)
		return;
	free(file->owned);
	free(file->names);
	free(file->owned_segments);
	free(file->sections);
	free(file->name);
	free(file);
}
