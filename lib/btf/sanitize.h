/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the BTF of an object acceptable to the kernel at hand: the sections'
 * sizes and variables' offsets are filled in, which clang leaves at 0, and
 * kinds that an older kernel does not know become ones it knows. Type ids
 * stay as they are, so that .BTF.ext and maps need no change.
 */
#ifndef PB_BTF_SANITIZE_H
#define PB_BTF_SANITIZE_H

#include "lib/btf/open.h"

/* What the kernel's BTF verifier accepts, with the kernel that brought it. */
enum btf_feature {
	BTF_FEAT_FUNC = 1 << 0,		 /* 5.0: FUNC and FUNC_PROTO */
	BTF_FEAT_FUNC_GLOBAL = 1 << 1,	 /* 5.6: FUNC linkage in vlen */
	BTF_FEAT_DATASEC = 1 << 2,	 /* 5.2: VAR and DATASEC */
	BTF_FEAT_FLOAT = 1 << 3,	 /* 5.13 */
	BTF_FEAT_DECL_TAG = 1 << 4,	 /* 5.16 */
	BTF_FEAT_TYPE_TAG = 1 << 5,	 /* 5.17 */
	BTF_FEAT_ENUM64 = 1 << 6,	 /* 6.0, and kind_flag of ENUM */
	BTF_FEAT_QMARK_DATASEC = 1 << 7, /* 6.9: "?" in the name of a DATASEC */
	BTF_FEAT_ALL = (1 << 8) - 1,
};

/*
 * A copy of obj that a kernel with these features accepts; *out is NULL when
 * obj can be loaded as it is.
 */
struct error *btf_sanitize(const struct btf *obj, uint32_t features, struct btf **out);

/* What the object file says of its sections and symbols. */
struct btf_layout {
	/* bytes of a section; false: there is no such section */
	bool (*section_size)(void *ctx, const char *section, uint32_t *size);
	/* where a variable stands in its section; false: no such symbol */
	bool (*symbol_offset)(void *ctx, const char *section, const char *symbol, uint32_t *offset);
	void *ctx;
};

/*
 * Fills in the sizes of btf's DATASECs and the offsets of their variables,
 * and sorts these by offset. DATASECs that have a size are left alone, and so is
 * .ksyms. The variables of .kconfig, which stand nowhere yet, are laid out in
 * libbpf's order, because skeletons know them by their places: descending by
 * alignment, then ascending by size, then by name.
 */
struct error *btf_fix_datasecs(struct btf *btf, const struct btf_layout *layout);

/*
 * Gives a DATASEC another size in bytes, by its last variable, which must be an
 * array: EINVAL, and nothing is changed, where its elements do not end there.
 */
struct error *btf_resize_datasec(struct btf *btf, uint32_t id, uint32_t size);

/* FUNCs that is_hidden names become static: they are verified with their callers. */
struct error *btf_hide_funcs(struct btf *btf, bool (*is_hidden)(void *ctx, const char *name),
			     void *ctx);

#endif
