// SPDX-License-Identifier: BSD-2-Clause
/*
 * The symbols of a stripped binary, which are in a file of their own or packed in the binary. These
 * places are tried, and the first that has a .symtab is used:
 *
 *	/usr/lib/debug/.build-id/xx/yyyy.debug
 *	what .gnu_debuglink names: beside the binary, in .debug/ beside it, below /usr/lib/debug
 *	.gnu_debugdata, an ELF image that xz has packed
 *
 * A file counts only if it has the binary's build-id. A binary without one has the CRC of its debug
 * file in .gnu_debuglink (gdb manual, "Debugging Information in Separate Files"). What is read is
 * limited as of every other ELF file, and what xz unpacks by its size.
 *
 * liblzma is loaded when it is needed: programs that use the library rarely need it.
 */
#include <dlfcn.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/attach/internal.h"
#include "lib/sys/open_file.h"

#define DEBUG_ROOT "/usr/lib/debug"

enum {
	MOST_PACKED = 64 << 20,
	MOST_UNPACKED = 256 << 20,
	LZMA_MEMORY = 128 << 20,
	MOST_ID = 20,
};

struct separate_search {
	const struct elf_file *of; /* the sections below are of it */
	const char *path;
	uint8_t id[MOST_ID];
	size_t id_size;
	struct elf_file *found;
};

static bool is_of_search(const struct elf_file *file, const struct elf_section *sec)
{
	(void)file;
	return sec->type == SHT_NOTE || !strcmp(sec->name, ".gnu_debuglink") ||
	       (!strcmp(sec->name, ".gnu_debugdata") && sec->size <= MOST_PACKED);
}

static bool is_symbols(const struct elf_file *file, const struct elf_section *sec)
{
	(void)file;
	return sec->type == SHT_SYMTAB || sec->type == SHT_STRTAB || sec->type == SHT_NOTE;
}

static size_t id_in_notes(struct cursor c, uint8_t id[MOST_ID])
{
	uint32_t name_size, size, type;

	while (cursor_u32(&c, &name_size) && cursor_u32(&c, &size) && cursor_u32(&c, &type)) {
		const char *name = cursor_bytes(&c, round_up((size_t)name_size, 4));
		const void *desc = name ? cursor_bytes(&c, size) : NULL;

		if (!desc)
			return 0;
		if (type == NT_GNU_BUILD_ID && name_size == 4 && !memcmp(name, "GNU", 4)) {
			const size_t n = min_of((size_t)size, (size_t)MOST_ID);

			memcpy(id, desc, n);
			return n;
		}
		cursor_skip(&c, min_of(round_up((size_t)size, 4) - size, cursor_left(&c)));
	}
	return 0;
}

static size_t build_id(const struct elf_file *file, uint8_t id[MOST_ID])
{
	size_t n = 0;

	for (size_t i = 0; !n && i < pb_elf_section_count(file); i++) {
		const struct elf_section *sec = pb_elf_section_at(file, i);

		if (sec->type == SHT_NOTE && sec->data)
			n = id_in_notes(pb_elf_section_cursor(file, sec), id);
	}
	return n;
}

/* Only as many bytes are read as may be kept of a file, though none are. */
static bool has_crc(const char *path, uint32_t wanted)
{
	_cleanup_close_ int fd = -1;
	_cleanup_error_ struct error *err = open_regular(path, NULL, &fd);
	_cleanup_free_ uint8_t *buffer = malloc(1 << 16);
	struct stat st;
	uLong crc = 0;
	ssize_t n = 0;

	if (err || !buffer || fstat(fd, &st) || (uint64_t)st.st_size > file_max_bytes(fd) ||
	    (uint64_t)st.st_blocks * 512 < (uint64_t)st.st_size / 16)
		return false;
	for (off_t at = 0; at < st.st_size && (n = pread(fd, buffer, 1 << 16, at)) > 0; at += n)
		crc = crc32(crc, buffer, (uInt)n);
	return n > 0 && crc == wanted;
}

/* crc: what the file must have if the binary has no build-id. */
static void try_file(struct separate_search *s, const char *path, const uint32_t *crc)
{
	_cleanup_elf_ struct elf_file *file = NULL;
	_cleanup_error_ struct error *err = NULL;
	uint8_t id[MOST_ID];

	if (!s->found)
		err = pb_elf_file_open_parts(path, is_symbols, &file);
	if (err || !file || !pb_elf_section_by_type(file, SHT_SYMTAB))
		return;
	if (s->id_size ? build_id(file, id) == s->id_size && !memcmp(id, s->id, s->id_size)
		       : crc && has_crc(path, *crc))
		s->found = steal_ptr(file);
}

static void try_build_id(struct separate_search *s)
{
	char hex[2 * MOST_ID + 1] = "", path[sizeof(DEBUG_ROOT) + 80];

	if (s->id_size < 2)
		return;
	for (size_t i = 0; i < s->id_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", s->id[i]);
	snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%.2s/%s.debug", hex, hex + 2);
	try_file(s, path, NULL);
}

static struct error *try_debuglink(struct separate_search *s)
{
	const struct elf_section *sec = pb_elf_section_find(s->of, ".gnu_debuglink");
	_cleanup_free_ char *real = realpath(s->path, NULL);
	const char *slash = real ? strrchr(real, '/') : NULL;
	uint32_t crc;

	if (!sec || !sec->data || !slash)
		return NULL;
	struct cursor c = pb_elf_section_cursor(s->of, sec);
	const char *link = cursor_cstr(&c);
	if (!link || !*link || strchr(link, '/') ||
	    !cursor_seek(&c, round_up(strlen(link) + 1, (size_t)4)) || !cursor_u32(&c, &crc))
		return NULL;
	const char *const formats[][2] = {{"", ""}, {"", "/.debug"}, {DEBUG_ROOT, ""}};
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		_cleanup_free_ char *path =
			text_format("%s%.*s%s/%s", formats[i][0], (int)(slash - real), real,
				    formats[i][1], link);

		if (!path)
			return error_nomem();
		try_file(s, path, &crc);
	}
	return NULL;
}

static struct error *unpack(const void *packed, size_t size, void **bytes, size_t *n)
{
	lzma_ret (*decode)(uint64_t *, uint32_t, const lzma_allocator *, const uint8_t *, size_t *,
			   size_t, uint8_t *, size_t *, size_t) = NULL;
	void *lib = dlopen("liblzma.so.5", RTLD_NOW | RTLD_LOCAL);
	lzma_ret ret = LZMA_BUF_ERROR;

	*bytes = NULL;
	if (lib)
		decode = (__typeof__(decode))dlsym(lib, "lzma_stream_buffer_decode");
	for (size_t cap = size * 4 + 65536; decode && ret == LZMA_BUF_ERROR; cap *= 2) {
		uint64_t memory = LZMA_MEMORY;
		size_t in = 0;

		if (cap > MOST_UNPACKED)
			break;
		free(*bytes);
		*bytes = malloc(cap);
		if (!*bytes) {
			dlclose(lib);
			return error_nomem();
		}
		*n = 0;
		ret = decode(&memory, 0, NULL, packed, &in, size, *bytes, n, cap);
	}
	if (ret != LZMA_OK) {
		free(*bytes);
		*bytes = NULL;
	}
	if (lib)
		dlclose(lib);
	return NULL;
}

/* owned: what the file's bytes are in. */
static struct error *try_debugdata(struct separate_search *s, void **owned)
{
	const struct elf_section *sec = pb_elf_section_find(s->of, ".gnu_debugdata");
	size_t n;

	if (s->found || !sec || !sec->data)
		return NULL;
	TRY(unpack(sec->data, sec->size, owned, &n));
	_cleanup_error_ struct error *err =
		*owned ? pb_elf_file_open_mem(*owned, n, s->path, &s->found) : NULL;
	if (err && err->code == ENOMEM)
		return steal_ptr(err);
	return NULL;
}

void separate_symbols_deinit(struct separate_symbols *symbols)
{
	pb_elf_file_free(symbols->file);
	free(symbols->owned);
	*symbols = (struct separate_symbols){0};
}

struct error *separate_symbols_open(const struct elf_file *binary, struct separate_symbols *out)
{
	_cleanup_elf_ struct elf_file *of = NULL;
	struct separate_search s = {.path = pb_elf_file_name(binary)};

	*out = (struct separate_symbols){.tried = true};
	if (pb_elf_section_by_type(binary, SHT_SYMTAB))
		return NULL;
	_cleanup_error_ struct error *unread = pb_elf_file_open_parts(s.path, is_of_search, &of);
	if (unread)
		return unread->code == ENOMEM ? steal_ptr(unread) : NULL;
	s.of = of;
	s.id_size = build_id(of, s.id);
	try_build_id(&s);
	struct error *err = try_debuglink(&s);
	if (!err)
		err = try_debugdata(&s, &out->owned);
	out->file = s.found;
	return err;
}
