// SPDX-License-Identifier: BSD-2-Clause
/*
 * BTF: a header, a section of types, a section of strings
 * (Documentation/bpf/btf.rst, include/uapi/linux/btf.h of the kernel).
 *
 * A type is 12 bytes, followed by what its kind brings: members, values,
 * parameters. Types have no index in the file, so one pass finds where each
 * begins, and checks it (check.c). The bytes are used where they are, a mapping
 * of /sys/kernel/btf/vmlinux say; only BTF of the other byte order, or that
 * is added to, is copied.
 *
 * What is not checked here: that chains of references end, and that members
 * lie within their struct. Whoever follows references bounds the walk.
 */
#include "lib/btf/internal.h"

#include <bpf/libbpf_legacy.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STR_MAX 0x7fffffff

static const struct btf_type void_type;

/* struct btf_header, with the byte order found out by its magic. */
static struct error *read_header(struct cursor *c, struct btf_header *h)
{
	uint8_t version, flags;

	if (!cursor_u16(c, &h->magic))
		return cursor_error(c, "too short for BTF");
	if (h->magic == __builtin_bswap16(BTF_MAGIC))
		c->swap = true;
	else if (h->magic != BTF_MAGIC) {
		cursor_seek(c, 0);
		return cursor_error(c, "not BTF: the magic number is 0x%04x, not 0x%04x", h->magic,
				    BTF_MAGIC);
	}
	if (!cursor_u8(c, &version) || !cursor_u8(c, &flags) || !cursor_u32(c, &h->hdr_len) ||
	    !cursor_u32(c, &h->type_off) || !cursor_u32(c, &h->type_len) ||
	    !cursor_u32(c, &h->str_off) || !cursor_u32(c, &h->str_len))
		return cursor_error(c, "the BTF header is truncated");
	if (version != BTF_VERSION)
		return cursor_error(c, "BTF version %u is not supported (only %u)", version,
				    BTF_VERSION);
	if (h->hdr_len < sizeof(*h) || !cursor_seek(c, h->hdr_len))
		return cursor_error(c, "the BTF header has %u bytes, but there are only %zu",
				    h->hdr_len, c->size);
	return NULL;
}

static struct error *read_sections(struct cursor *c, const struct btf_header *h, struct btf *btf)
{
	struct cursor types, strs;

	if (h->type_off % 4 || h->hdr_len % 4)
		return cursor_error(c, "the types begin at offset %u, which is not a multiple of 4",
				    h->type_off);
	if (!cursor_sub(c, (uint64_t)h->hdr_len + h->type_off, h->type_len, &types))
		return cursor_error(c, "the types (%u bytes at %u) exceed the %zu bytes",
				    h->type_len, h->type_off, c->size);
	if (!cursor_sub(c, (uint64_t)h->hdr_len + h->str_off, h->str_len, &strs))
		return cursor_error(c, "the strings (%u bytes at %u) exceed the %zu bytes",
				    h->str_len, h->str_off, c->size);

	const char *s = cursor_bytes(&strs, h->str_len);
	if ((!h->str_len && !btf->base) || h->str_len > STR_MAX - btf->start_str ||
	    (h->str_len && s[h->str_len - 1]) || (h->str_len && !btf->base && s[0]))
		return cursor_error(&strs, "the strings do not begin and end with a zero byte");
	btf->types = cursor_bytes(&types, h->type_len);
	btf->types_len = h->type_len;
	btf->strs = s;
	btf->strs_len = h->str_len;
	return NULL;
}

static struct btf *btf_alloc(const struct btf *base)
{
	struct btf *btf = calloc(1, sizeof(*btf));

	if (!btf)
		return NULL;
	btf->fd = -1;
	btf->base = base;
	btf->start_id = base ? btf__type_cnt(base) : 1;
	btf->start_str = base ? base->start_str + base->strs_len : 0;
	btf->swap = base && base->swap;
	return btf;
}

struct error *btf_open(const void *data, size_t size, const char *name, const struct btf *base,
		       struct btf_backing backing, struct btf **out)
{
	struct cursor c = cursor_make(data, size, name);
	struct btf_header h = {0};

	if (size > UINT32_MAX)
		return cursor_error(&c, "too large for BTF: %zu bytes", size);
	TRY(read_header(&c, &h));

	_cleanup_(btf__freep) struct btf *btf = btf_alloc(base);
	if (!btf)
		return error_nomem();
	TRY(read_sections(&c, &h, btf));
	btf->swap = c.swap;
	if (c.swap || ((uintptr_t)btf->types & 3)) {
		TRY(btf_make_writable(btf));
		if (c.swap && !btf_swap_types((uint8_t *)btf->types, btf->types_len, true))
			return cursor_error(&c,
					    "the types (of the other byte order) are malformed");
	}
	TRY(btf_index_types(btf, name, h.hdr_len + h.type_off));

	if (btf->writable) {
		/* all was copied */
		if (backing.release)
			backing.release((void *)data, size);
	} else {
		btf->data = (void *)data;
		btf->data_size = size;
		btf->backing = backing;
	}
	*out = steal_ptr(btf);
	return NULL;
}

static void release_free(void *data, size_t size)
{
	free(data);
}

static struct btf *btf_new(const void *data, uint32_t size, const struct btf *base)
{
	struct btf *btf = NULL;
	_cleanup_free_ void *copy = malloc(size ? size : 1);

	if (!data && size)
		return edge_null_errno(EINVAL);
	if (!copy)
		return edge_null_errno(ENOMEM);
	if (size)
		memcpy(copy, data, size);

	struct error *err = btf_open(copy, size, NULL, base,
				     (struct btf_backing){.release = release_free}, &btf);
	if (err) {
		/* libbpf reports what is malformed so */
		if (err->code == EBADMSG)
			err->code = EINVAL;
		return edge_null(err);
	}
	steal_ptr(copy);
	return btf;
}

struct btf *btf__new(const void *data, __u32 size)
{
	return btf_new(data, size, NULL);
}

struct btf *btf__new_split(const void *data, __u32 size, struct btf *base_btf)
{
	return btf_new(data, size, base_btf);
}

struct btf *btf__new_empty_split(struct btf *base_btf)
{
	_cleanup_(btf__freep) struct btf *btf = btf_alloc(base_btf);

	if (!btf)
		return edge_null_errno(ENOMEM);
	btf->types = (const uint8_t *)"";
	btf->strs = "";
	btf->strs_len = base_btf ? 0 : 1;
	struct error *err = btf_make_writable(btf);
	return err ? edge_null(err) : steal_ptr(btf);
}

struct btf *btf__new_empty(void)
{
	return btf__new_empty_split(NULL);
}

/* The opened bytes are not needed any more. */
static void drop_data(struct btf *btf)
{
	if (btf->data && btf->backing.release)
		btf->backing.release(btf->data, btf->data_size);
	btf->data = NULL;
	btf->data_size = 0;
}

void btf_forget_derived(struct btf *btf)
{
	for (int i = 0; i < 2; i++) {
		btf_index_free(btf->index[i]);
		btf->index[i] = NULL;
	}
	free(btf->aligns);
	btf->aligns = NULL;
	free(btf->raw);
	btf->raw = NULL;
	if (!btf->ptr_size_set)
		btf->ptr_size = 0;
}

void btf__free(struct btf *btf)
{
	if (!btf)
		return;
	btf_forget_derived(btf);
	btf_strset_free(btf->strset);
	if (btf->writable) {
		free((void *)btf->types);
		free((void *)btf->strs);
	}
	drop_data(btf);
	free(btf->offs);
	if (btf->fd >= 0)
		close(btf->fd);
	free(btf);
}

struct error *btf_make_writable(struct btf *btf)
{
	if (btf->writable)
		return NULL;

	size_t types_cap = btf->types_len + 64, strs_cap = btf->strs_len + 64;
	_cleanup_free_ uint8_t *types = malloc(types_cap);
	_cleanup_free_ char *strs = malloc(strs_cap);
	if (!types || !strs)
		return error_nomem();
	memcpy(types, btf->types, btf->types_len);
	memcpy(strs, btf->strs, btf->strs_len);

	btf->types = steal_ptr(types);
	btf->strs = steal_ptr(strs);
	btf->types_cap = types_cap;
	btf->strs_cap = strs_cap;
	btf->writable = true;
	drop_data(btf);
	return NULL;
}

struct error *btf_make_types_writable(struct btf *btf)
{
	const uint8_t *strs = (const uint8_t *)btf->strs;

	/* Strings within the types could lose their end. */
	if (!btf->writable && btf->data && btf->backing.may_write &&
	    (strs + btf->strs_len <= btf->types || btf->types + btf->types_len <= strs))
		return NULL;
	return btf_make_writable(btf);
}

/* ---- the plain questions ---- */

__u32 btf__type_cnt(const struct btf *btf)
{
	return btf->start_id + btf->n;
}

uint32_t btf_start_id(const struct btf *btf)
{
	return btf->start_id;
}

const struct btf *btf__base_btf(const struct btf *btf)
{
	return btf->base;
}

const struct btf_type *btf__type_by_id(const struct btf *btf, __u32 id)
{
	if (id == 0)
		return &void_type;
	if (id >= btf__type_cnt(btf))
		return edge_null_errno(EINVAL);
	return btf_type_at(btf, id);
}

int btf__fd(const struct btf *btf)
{
	return btf->fd;
}

void btf__set_fd(struct btf *btf, int fd)
{
	btf->fd = fd;
}

const char *btf__str_by_offset(const struct btf *btf, __u32 offset)
{
	while (offset < btf->start_str && btf->base)
		btf = btf->base;
	if (offset - btf->start_str >= btf->strs_len)
		return edge_null_errno(EINVAL);
	return btf->strs + (offset - btf->start_str);
}

const char *btf__name_by_offset(const struct btf *btf, __u32 offset)
{
	return btf__str_by_offset(btf, offset);
}

const char *btf_name(const struct btf *btf, const struct btf_type *t)
{
	const char *name = btf__str_by_offset(btf, t->name_off);

	return name ? name : "";
}

bool btf_is_char(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(btf, id, NULL);

	return btf_is_int(t) && t->size == 1 &&
	       (btf_int_encoding(t) & BTF_INT_CHAR || !strcmp(btf_name(btf, t), "char"));
}

struct btf_enumerator btf_enumerator_at(const struct btf *btf, const struct btf_type *t, uint32_t i)
{
	/* A name and a value of one or two words, the low one first. */
	const bool wide = btf_is_enum64(t);
	const uint32_t *e = (const uint32_t *)(t + 1) + (size_t)i * (wide ? 3 : 2);
	const char *name = btf__name_by_offset(btf, e[0]);
	struct btf_enumerator got = {.name = name ? name : "", .value = e[1]};

	if (wide)
		got.value |= (uint64_t)e[2] << 32;
	else if (btf_kflag(t))
		got.value = (uint64_t)(int64_t)(int32_t)e[1];
	return got;
}

enum btf_endianness btf__endianness(const struct btf *btf)
{
	bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	return big != btf->swap ? BTF_BIG_ENDIAN : BTF_LITTLE_ENDIAN;
}

int btf__set_endianness(struct btf *btf, enum btf_endianness endian)
{
	if (endian != BTF_LITTLE_ENDIAN && endian != BTF_BIG_ENDIAN)
		return edge_errno(EINVAL);
	if (btf__endianness(btf) != endian) {
		/* the bytes it was opened over are of no use as raw data any more */
		struct error *err = btf_make_writable(btf);

		if (err)
			return edge_int(err);
		btf->swap = !btf->swap;
		free(btf->raw);
		btf->raw = NULL;
	}
	return 0;
}

/* Types and strings behind a header, in the byte order that was asked for. */
static bool compose_raw(struct btf *btf)
{
	struct btf_header h = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(h),
		.type_len = btf->types_len,
		.str_off = btf->types_len,
		.str_len = btf->strs_len,
	};
	uint64_t size = sizeof(h) + (uint64_t)btf->types_len + btf->strs_len;
	uint8_t *raw = size <= UINT32_MAX ? malloc(size) : NULL;

	if (!raw)
		return false;
	memcpy(raw + sizeof(h), btf->types, btf->types_len);
	memcpy(raw + sizeof(h) + btf->types_len, btf->strs, btf->strs_len);
	if (btf->swap) {
		btf_swap_types(raw + sizeof(h), btf->types_len, false);
		h.magic = bswap_16(h.magic);
		h.hdr_len = bswap_32(h.hdr_len);
		h.type_len = bswap_32(h.type_len);
		h.str_off = bswap_32(h.str_off);
		h.str_len = bswap_32(h.str_len);
	}
	memcpy(raw, &h, sizeof(h));
	btf->raw = raw;
	btf->raw_size = size;
	return true;
}

const void *btf__raw_data(const struct btf *btf, __u32 *size)
{
	if (btf->data) {
		*size = btf->data_size;
		return btf->data;
	}
	/* a cache: the types are the same before and after */
	if (!btf->raw && !compose_raw((struct btf *)btf))
		return edge_null_errno(ENOMEM);
	*size = btf->raw_size;
	return btf->raw;
}

const void *btf__get_raw_data(const struct btf *btf, __u32 *size)
{
	return btf__raw_data(btf, size);
}

/* ---- the other byte order ---- */

static void swap_words(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++, p += 4) {
		uint32_t v;

		memcpy(&v, p, 4);
		v = bswap_32(v);
		memcpy(p, &v, 4);
	}
}

bool btf_swap_types(uint8_t *types, size_t len, bool to_host)
{
	struct cursor c = cursor_make(types, len, NULL);

	while (!cursor_end(&c)) {
		uint8_t *p = types + c.pos;
		uint32_t info;

		if (cursor_left(&c) < sizeof(struct btf_type))
			return false;
		memcpy(&info, p + 4, 4);
		if (to_host)
			info = bswap_32(info);
		int extra = btf_extra_size(BTF_INFO_KIND(info), BTF_INFO_VLEN(info));
		if (extra < 0 || !cursor_skip(&c, sizeof(struct btf_type) + extra))
			return false;
		/* every field of every kind is 32 bits wide */
		swap_words(p, (sizeof(struct btf_type) + extra) / 4);
	}
	return true;
}
