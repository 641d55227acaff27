// SPDX-License-Identifier: BSD-2-Clause
/* Types moved within a BTF; see rewrite.h. And the one public call that does only that. */
#include "lib/btf/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "lib/btf/ext.h"
#include "lib/btf/internal.h"

#define STR_UNSEEN UINT32_MAX

/* ---- strings ---- */

static struct error *note_str(struct btf_rewrite *r, uint32_t off)
{
	const struct btf *btf = r->btf;

	if (off < btf->start_str || r->str_of[off - btf->start_str] != STR_UNSEEN)
		return NULL;
	const char *s = btf__str_by_offset(btf, off);
	const int new_off = s ? btf__add_str(r->strings, s) : -EINVAL;
	if (new_off < 0)
		return error_errno(-new_off, "the string at %u", off);
	r->str_of[off - btf->start_str] = (uint32_t)new_off;
	return NULL;
}

struct note_ctx {
	struct btf_rewrite *r;
	struct error *err;
};

static uint32_t note_ext_str(void *ctx_, uint32_t off)
{
	struct note_ctx *ctx = ctx_;
	const struct btf *btf = ctx->r->btf;

	/* .BTF.ext is not checked against the strings when it is opened. */
	if (!ctx->err && off < btf->start_str + btf->strs_len)
		ctx->err = note_str(ctx->r, off);
	return off;
}

struct error *btf_rewrite_strings(struct btf_rewrite *r)
{
	struct btf *btf = r->btf;
	struct note_ctx ctx = {r, NULL};

	r->strings = btf__new_empty_split((struct btf *)btf->base);
	r->str_of = malloc(((size_t)btf->strs_len + 1) * sizeof(*r->str_of));
	if (!r->strings || !r->str_of)
		return error_nomem();
	memset(r->str_of, 0xff, ((size_t)btf->strs_len + 1) * sizeof(*r->str_of));
	if (!btf->base)
		r->str_of[0] = 0; /* "" */
	for (uint32_t i = 0; i < btf->n; i++) {
		struct btf_fields strs =
			btf_strs_of((struct btf_type *)(btf->types + btf->offs[i])); /* only read */

		for (uint32_t *off; (off = btf_fields_next(&strs));)
			TRY(note_str(r, *off));
	}
	if (r->ext) {
		TRY(btf_ext_make_writable(r->ext));
		btf_ext_map(r->ext, NULL, note_ext_str, &ctx);
	}
	return ctx.err;
}

uint32_t btf_rewrite_str(const struct btf_rewrite *r, uint32_t off)
{
	const struct btf *btf = r->btf;

	if (!r->str_of || off < btf->start_str || off - btf->start_str >= btf->strs_len ||
	    r->str_of[off - btf->start_str] == STR_UNSEEN)
		return off;
	return r->str_of[off - btf->start_str];
}

/* ---- types ---- */

struct error *btf_rewrite_init(struct btf_rewrite *r)
{
	const size_t n = r->btf->n ? r->btf->n : 1;

	r->ids = calloc(n, sizeof(*r->ids));
	r->order = calloc(n, sizeof(*r->order));
	return r->ids && r->order ? NULL : error_nomem();
}

void btf_rewrite_deinit(struct btf_rewrite *r)
{
	free(r->ids);
	free(r->order);
	free(r->str_of);
	btf__free(r->strings);
}

static uint32_t new_id(const struct btf_rewrite *r, uint32_t id)
{
	const struct btf *btf = r->btf;

	return id < btf->start_id || id - btf->start_id >= btf->n ? id : r->ids[id - btf->start_id];
}

static uint32_t ext_id(void *ctx, uint32_t id)
{
	return new_id(ctx, id);
}

static uint32_t ext_str(void *ctx, uint32_t off)
{
	return btf_rewrite_str(ctx, off);
}

struct error *btf_rewrite_commit(struct btf_rewrite *r)
{
	struct btf *btf = r->btf;

	TRY(btf_make_writable(btf));
	if (r->ext)
		TRY(btf_ext_make_writable(r->ext));
	_cleanup_free_ uint8_t *types = malloc((size_t)btf->types_len + 1);
	_cleanup_free_ uint32_t *offs = malloc(((size_t)r->n + 1) * sizeof(*offs));
	uint32_t len = 0;

	if (!types || !offs)
		return error_nomem();
	for (uint32_t i = 0; i < r->n; i++) {
		const struct btf_type *old =
			(const struct btf_type *)(btf->types + btf->offs[r->order[i]]);
		const size_t size =
			sizeof(*old) + (size_t)btf_extra_size(btf_kind(old), btf_vlen(old));
		struct btf_type *t = memcpy(types + len, old, size);
		struct btf_fields ids = btf_ids_of(t), strs = btf_strs_of(t);

		for (uint32_t *id; (id = btf_fields_next(&ids));)
			*id = new_id(r, *id);
		for (uint32_t *off; (off = btf_fields_next(&strs));)
			*off = btf_rewrite_str(r, *off);
		offs[i] = len;
		len += (uint32_t)size;
	}

	/* From here on nothing can fail. */
	if (r->ext)
		btf_ext_map(r->ext, ext_id, ext_str, r);
	btf_forget_derived(btf);
	free((void *)btf->types);
	btf->types_cap = (size_t)btf->types_len + 1;
	btf->types = steal_ptr(types);
	btf->types_len = len;
	free(btf->offs);
	btf->offs = steal_ptr(offs);
	btf->offs_cap = (size_t)r->n + 1;
	btf->n = r->n;
	if (r->strings) {
		btf_strset_free(btf->strset);
		btf->strset = NULL;
		free((void *)btf->strs);
		btf->strs = r->strings->strs;
		btf->strs_len = r->strings->strs_len;
		btf->strs_cap = r->strings->strs_cap;
		r->strings->strs = NULL;
	}
	return NULL;
}

/* ---- in the order that the caller wants ---- */

static struct error *permute(struct btf *btf, const uint32_t *id_map, uint32_t n,
			     struct btf_ext *ext)
{
	_cleanup_(btf_rewrite_deinit) struct btf_rewrite r = {.btf = btf, .ext = ext, .n = btf->n};

	if (!id_map || n != btf->n)
		return error_new(EINVAL,
				 "the map of ids has %2$u entries, but there are %1$u types",
				 btf->n, n);
	TRY(btf_rewrite_init(&r));
	/* order holds the old number + 1 until all are there. */
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t to = id_map[i] - btf->start_id;

		if (id_map[i] < btf->start_id || to >= n || r.order[to])
			return error_new(EINVAL, "type %u cannot become %u: %s", btf->start_id + i,
					 id_map[i],
					 id_map[i] < btf->start_id || to >= n
						 ? "the id does not exist"
						 : "another type has that id");
		r.order[to] = i + 1;
		r.ids[i] = id_map[i];
	}
	for (uint32_t i = 0; i < n; i++)
		r.order[i]--;
	return btf_rewrite_commit(&r);
}

int btf__permute(struct btf *btf, __u32 *id_map, __u32 id_map_cnt,
		 const struct btf_permute_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, btf_permute_opts);

	if (!err)
		err = permute(btf, id_map, id_map_cnt, OPTS_GET(opts, btf_ext, NULL));
	return edge_int(err);
}
