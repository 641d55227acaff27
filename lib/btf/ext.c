// SPDX-License-Identifier: BSD-2-Clause
/*
 * .BTF.ext: a header with up to three parts (func_info, line_info,
 * core_relo). A part is the size of its records, then for each code section
 * its name (an offset into the BTF's strings), the number of records, the
 * records. All fields are 32 bits wide, so a swap of byte order is a swap of
 * words, done on a copy before anything else is read.
 *
 * Compilers write the records in the order of their instructions; a linker may
 * not. Sorting makes a look-up a binary search. Bytes that are in order and in
 * the host's byte order are used where they are.
 */
#include "lib/btf/ext.h"

#include <bpf/libbpf_legacy.h>
#include <stdlib.h>
#include <string.h>

#include "lib/btf/internal.h"

#define EXT_HEADER_MIN 24 /* up to line_info; core_relo came later */

struct btf_ext {
	const void *data; /* as it came, for btf_ext__raw_data() */
	void *owned;	  /* what data is a copy in; NULL: borrowed */
	uint32_t size;
	const uint8_t *words; /* in the host's order, records sorted: data, or */
	uint8_t *own_words;   /* a copy of it; NULL: none is needed yet */
	bool swap;
	VEC(struct btf_ext_section) secs[BTF_EXT_KINDS];
};

static const struct {
	const char *name;
	uint32_t min_rec;
} parts[BTF_EXT_KINDS] = {
	[BTF_EXT_FUNC] = {"func_info", sizeof(struct btf_func_info)},
	[BTF_EXT_LINE] = {"line_info", sizeof(struct btf_line_info)},
	[BTF_EXT_CORE] = {"core_relo", sizeof(struct btf_core_relo)},
};

void btf_ext__free(struct btf_ext *ext)
{
	if (!ext)
		return;
	for (int i = 0; i < BTF_EXT_KINDS; i++)
		vec_deinit(&ext->secs[i]);
	free(ext->own_words);
	free(ext->owned);
	free(ext);
}

static uint32_t rec_off(const void *rec)
{
	return *(const uint32_t *)rec;
}

static int compare_recs(const void *a, const void *b)
{
	uint32_t x = rec_off(a), y = rec_off(b);

	return x < y ? -1 : x > y;
}

/* All but the magic number, the version and the flags is 32 bits wide. */
static void swap_words(uint8_t *bytes, uint32_t size)
{
	for (size_t i = 4; i + 4 <= size; i += 4) {
		uint32_t *word = (uint32_t *)(bytes + i);

		*word = bswap_32(*word);
	}
}

static bool is_sorted(const struct btf_ext_section *sec)
{
	for (uint32_t i = 1; i < sec->n; i++)
		if (rec_off(btf_ext_rec(sec, i - 1)) > rec_off(btf_ext_rec(sec, i)))
			return false;
	return true;
}

static struct error *read_part(struct btf_ext *ext, enum btf_ext_kind kind, struct cursor *c)
{
	uint32_t rec_size;

	if (cursor_end(c))
		return NULL;
	if (!cursor_u32(c, &rec_size))
		return cursor_error(c, "%s is truncated", parts[kind].name);
	if (rec_size < parts[kind].min_rec || rec_size % 4)
		return cursor_error(c, "%s has records of %u bytes; at least %u are required",
				    parts[kind].name, rec_size, parts[kind].min_rec);
	while (!cursor_end(c)) {
		struct btf_ext_section sec = {.rec_size = rec_size};
		struct cursor recs;

		if (!cursor_u32(c, &sec.sec_name_off) || !cursor_u32(c, &sec.n))
			return cursor_error(c, "%s: a section header is truncated",
					    parts[kind].name);
		if (!sec.n)
			return cursor_error(c, "%s: a section without records", parts[kind].name);
		if (!cursor_take(c, (uint64_t)sec.n * rec_size, &recs))
			return cursor_error(c, "%s: %u records of %u bytes are truncated",
					    parts[kind].name, sec.n, rec_size);
		sec.recs = recs.base;
		struct btf_ext_section *slot = vec_push(&ext->secs[kind]);
		if (!slot)
			return error_nomem();
		*slot = sec;
	}
	return NULL;
}

static struct error *read_parts(struct btf_ext *ext, const char *name)
{
	struct cursor c = cursor_make(ext->words, ext->size, name);
	uint32_t hdr_len, off, len;

	cursor_seek(&c, 4);
	if (!cursor_u32(&c, &hdr_len) || hdr_len < EXT_HEADER_MIN || hdr_len > ext->size ||
	    hdr_len % 4)
		return cursor_error(&c, "the .BTF.ext header has a wrong length");
	for (int kind = 0; kind < BTF_EXT_KINDS; kind++) {
		struct cursor part;

		if (kind == BTF_EXT_CORE && hdr_len < EXT_HEADER_MIN + 8)
			break;
		if (!cursor_u32(&c, &off) || !cursor_u32(&c, &len))
			return cursor_error(&c, "the .BTF.ext header is truncated");
		if (off % 4 || len % 4 || !cursor_sub(&c, (uint64_t)hdr_len + off, len, &part))
			return cursor_error(&c, "%s (%u bytes at %u) exceeds the %u bytes",
					    parts[kind].name, len, off, ext->size);
		TRY(read_part(ext, kind, &part));
	}
	return NULL;
}

/*
 * Two parts that share bytes would be sorted under each other's feet; no
 * compiler writes such. The parts must follow one another.
 */
static struct error *check_overlap(const struct btf_ext *ext, const char *name)
{
	const uint8_t *end = ext->words;

	for (int kind = 0; kind < BTF_EXT_KINDS; kind++) {
		const struct btf_ext_section *sec;

		vec_for_each (sec, &ext->secs[kind]) {
			const uint8_t *recs = sec->recs;

			if (recs < end)
				return error_new(EBADMSG, "%s: %s overlaps the data before it",
						 name ? name : ".BTF.ext", parts[kind].name);
			end = recs + (size_t)sec->n * sec->rec_size;
		}
	}
	return NULL;
}

/* words becomes a copy that may be changed; sections point into it. */
static struct error *own_words(struct btf_ext *ext)
{
	if (ext->own_words)
		return NULL;
	uint8_t *copy = malloc(ext->size);
	if (!copy)
		return error_nomem();
	memcpy(copy, ext->words, ext->size);
	for (int kind = 0; kind < BTF_EXT_KINDS; kind++) {
		struct btf_ext_section *sec;

		vec_for_each (sec, &ext->secs[kind])
			sec->recs = copy + ((const uint8_t *)sec->recs - ext->words);
	}
	ext->words = ext->own_words = copy;
	return NULL;
}

static struct error *sort_sections(struct btf_ext *ext)
{
	for (int kind = 0; kind < BTF_EXT_KINDS; kind++)
		for (size_t i = 0; i < ext->secs[kind].n; i++) {
			struct btf_ext_section *sec = &ext->secs[kind].v[i];

			if (is_sorted(sec))
				continue;
			TRY(own_words(ext));
			qsort((void *)sec->recs, sec->n, sec->rec_size, compare_recs);
		}
	return NULL;
}

/* Over ext->data; words is set up. */
static struct error *ext_parse(struct btf_ext *ext, const char *name)
{
	struct cursor c = cursor_make(ext->data, ext->size, name);
	uint16_t magic;
	uint8_t version;

	if (!cursor_u16(&c, &magic) || !cursor_u8(&c, &version) || ext->size < EXT_HEADER_MIN)
		return cursor_error(&c, "%u bytes are too few for a .BTF.ext section", ext->size);
	if (magic != BTF_MAGIC && magic != bswap_16(BTF_MAGIC))
		return cursor_error(&c, "not .BTF.ext: the magic number is 0x%04x, not 0x%04x",
				    magic, BTF_MAGIC);
	if (version != BTF_VERSION)
		return cursor_error(&c, ".BTF.ext version %u is not supported (only %u)", version,
				    BTF_VERSION);
	ext->swap = magic != BTF_MAGIC;
	if (ext->swap || (uintptr_t)ext->words % sizeof(uint32_t))
		TRY(own_words(ext));
	if (ext->swap)
		swap_words(ext->own_words, ext->size);
	TRY(read_parts(ext, name));
	TRY(check_overlap(ext, name));
	return sort_sections(ext);
}

static struct error *ext_open(const void *data, size_t size, void *owned, const char *name,
			      struct btf_ext **out)
{
	struct cursor c = cursor_make(data, size, name);
	struct btf_ext *ext = size > UINT32_MAX ? NULL : calloc(1, sizeof(*ext));

	if (size > UINT32_MAX)
		return cursor_error(&c, "%zu bytes are too many for a .BTF.ext section", size);
	if (!ext)
		return error_nomem();
	ext->data = data;
	ext->words = data;
	ext->size = (uint32_t)size;
	struct error *err = ext_parse(ext, name);
	if (err) {
		btf_ext__free(ext);
		return err;
	}
	ext->owned = owned;
	*out = ext;
	return NULL;
}

struct error *btf_ext_open_borrowed(const void *data, size_t size, const char *name,
				    struct btf_ext **out)
{
	return ext_open(data, size, NULL, name, out);
}

struct error *btf_ext_open(const void *data, size_t size, const char *name, struct btf_ext **out)
{
	_cleanup_free_ void *copy = malloc(size ? size : 1);

	if (!copy)
		return error_nomem();
	if (size)
		memcpy(copy, data, size);
	TRY(ext_open(copy, size, copy, name, out));
	steal_ptr(copy);
	return NULL;
}

struct btf_ext *btf_ext__new(const __u8 *data, __u32 size)
{
	struct btf_ext *ext = NULL;
	struct error *err = data ? btf_ext_open(data, size, NULL, &ext) : error_new(EINVAL, "NULL");

	if (err) {
		if (err->code == EBADMSG)
			err->code = EINVAL;
		return edge_null(err);
	}
	return ext;
}

const void *btf_ext__raw_data(const struct btf_ext *ext, __u32 *size)
{
	*size = ext->size;
	return ext->data;
}

const void *btf_ext__get_raw_data(const struct btf_ext *ext, __u32 *size)
{
	return btf_ext__raw_data(ext, size);
}

enum btf_endianness btf_ext__endianness(const struct btf_ext *ext)
{
	bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	return big != ext->swap ? BTF_BIG_ENDIAN : BTF_LITTLE_ENDIAN;
}

static struct error *turn_data(struct btf_ext *ext)
{
	uint8_t *copy = malloc(ext->size);

	if (!copy)
		return error_nomem();
	memcpy(copy, ext->data, ext->size);
	const uint8_t first = copy[0];
	copy[0] = copy[1];
	copy[1] = first;
	swap_words(copy, ext->size);
	/* the records may stand in what goes */
	struct error *err = own_words(ext);
	if (err) {
		free(copy);
		return err;
	}
	free(ext->owned);
	ext->data = ext->owned = copy;
	ext->swap = !ext->swap;
	return NULL;
}

struct error *btf_ext_make_writable(struct btf_ext *ext)
{
	TRY(own_words(ext));
	if (ext->owned)
		return NULL;
	void *copy = malloc(ext->size);
	if (!copy)
		return error_nomem();
	ext->data = ext->owned = memcpy(copy, ext->data, ext->size);
	return NULL;
}

/* data anew from words, in the order that is asked for. */
static void write_data(struct btf_ext *ext)
{
	uint8_t *bytes = ext->owned;
	const uint16_t magic = ext->swap ? bswap_16(BTF_MAGIC) : BTF_MAGIC;

	memcpy(bytes, ext->words, ext->size);
	memcpy(bytes, &magic, sizeof(magic));
	if (ext->swap)
		for (size_t i = 4; i + 4 <= ext->size; i += 4)
			*(uint32_t *)(bytes + i) = bswap_32(*(uint32_t *)(bytes + i));
}

int btf_ext__set_endianness(struct btf_ext *ext, enum btf_endianness endian)
{
	if (endian != BTF_LITTLE_ENDIAN && endian != BTF_BIG_ENDIAN)
		return edge_errno(EINVAL);
	return btf_ext__endianness(ext) == endian ? 0 : edge_int(turn_data(ext));
}

/* Which words of a record are a type id and offsets of strings; 0, insn_off: none. */
static const struct {
	uint8_t id, strs[2];
} fields[BTF_EXT_KINDS] = {
	[BTF_EXT_FUNC] = {1, {0, 0}},
	[BTF_EXT_LINE] = {0, {1, 2}},
	[BTF_EXT_CORE] = {1, {2, 0}},
};

void btf_ext_map(struct btf_ext *ext, uint32_t (*id)(void *ctx, uint32_t id),
		 uint32_t (*str)(void *ctx, uint32_t off), void *ctx)
{
	for (int kind = 0; kind < BTF_EXT_KINDS; kind++) {
		struct btf_ext_section *sec;

		vec_for_each (sec, &ext->secs[kind]) {
			/* The head stands before the records: a name and their number. */
			uint32_t *name = (uint32_t *)sec->recs - 2;

			if (str)
				sec->sec_name_off = *name = str(ctx, *name);
			for (uint32_t i = 0; i < sec->n; i++) {
				uint32_t *rec = (uint32_t *)btf_ext_rec(sec, i);

				if (id && fields[kind].id)
					rec[fields[kind].id] = id(ctx, rec[fields[kind].id]);
				for (int k = 0; str && k < 2; k++)
					if (fields[kind].strs[k])
						rec[fields[kind].strs[k]] =
							str(ctx, rec[fields[kind].strs[k]]);
			}
		}
	}
	if (ext->own_words && ext->owned)
		write_data(ext);
}

const struct btf_ext_section *btf_ext_sections(const struct btf_ext *ext, enum btf_ext_kind kind,
					       size_t *n)
{
	*n = ext->secs[kind].n;
	return ext->secs[kind].v;
}

const struct btf_ext_section *btf_ext_find(const struct btf_ext *ext, enum btf_ext_kind kind,
					   const struct btf *btf, const char *sec_name)
{
	const struct btf_ext_section *sec;

	vec_for_each (sec, &ext->secs[kind]) {
		const char *name = btf__str_by_offset(btf, sec->sec_name_off);

		if (name && str_equal(name, sec_name))
			return sec;
	}
	return NULL;
}

uint32_t btf_ext_lower_bound(const struct btf_ext_section *sec, uint32_t insn_off)
{
	return (uint32_t)count_before(sec->n, i, rec_off(btf_ext_rec(sec, (uint32_t)i)) < insn_off);
}
