/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Own types of a BTF in another order, or fewer of them: every reference and,
 * where they were made anew, every name is changed with them, in .BTF.ext too.
 * Nothing is changed before btf_rewrite_commit(), which either does all of it or
 * fails and does nothing.
 */
#ifndef PB_BTF_REWRITE_H
#define PB_BTF_REWRITE_H

#include "lib/btf/open.h"

struct btf_rewrite {
	struct btf *btf;
	struct btf_ext *ext; /* may be NULL */

	/* Filled in by the caller between _init() and _commit(). */
	uint32_t *ids;	 /* per own type: its new id, or that of what stands for it */
	uint32_t *order; /* the n old own types that are kept, in their new order, from 0 */
	uint32_t n;

	/* Strings made anew: the offset of each old own one; NULL: they stay. */
	uint32_t *str_of;
	struct btf *strings; /* holds them */
};

/* Makes the strings anew: each once, and only those that a type or ext refers to. */
struct error *btf_rewrite_strings(struct btf_rewrite *r);
/* A string's new offset. */
uint32_t btf_rewrite_str(const struct btf_rewrite *r, uint32_t off);

/* Room for ids and order. */
struct error *btf_rewrite_init(struct btf_rewrite *r);
struct error *btf_rewrite_commit(struct btf_rewrite *r);
void btf_rewrite_deinit(struct btf_rewrite *r);

#endif
