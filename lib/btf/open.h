/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What other rooms of the library use of BTF beyond <bpf/btf.h>: opening it
 * over bytes that are not copied, with an error that names the place, and
 * walking the types of one name.
 */
#ifndef PB_BTF_OPEN_H
#define PB_BTF_OPEN_H

#include <bpf/btf.h>
#include <stdbool.h>

#include "lib/base/error.h"

DEFINE_FREEP(struct btf, btf__free)
DEFINE_FREEP(struct btf_ext, btf_ext__free)

/* How the bytes are given back: called once, when the BTF no longer needs them. */
struct btf_backing {
	void (*release)(void *data, size_t size); /* NULL: they outlive the BTF */
	bool may_write; /* the bytes are the BTF's: types may be changed in place */
};

/*
 * Parses size bytes at data without copying them (as long as they are in the
 * host's byte order, aligned to 4, and nothing is added to them). name is for errors:
 * "filter.o: section .BTF"; base may be NULL. On failure the bytes are still
 * the caller's.
 */
struct error *btf_open(const void *data, size_t size, const char *name, const struct btf *base,
		       struct btf_backing backing, struct btf **out);

/*
 * The first id of the name's types, 0: none; then the next one of that name
 * after id. `___flavor` endings are ignored on both sides: task_struct finds
 * task_struct___v2 too. Only this BTF's own types, not its base's, and no
 * functions.
 * The first call builds the index; out of memory is reported by
 * btf_index_build(), which may be called before; without it, it finds nothing.
 */
struct error *btf_index_build(const struct btf *btf);
uint32_t btf_find_first(const struct btf *btf, const char *name);
uint32_t btf_find_next(const struct btf *btf, uint32_t id);

/* The length of name without its ___flavor. */
size_t btf_essential_len(const char *name);

/* The own types' first id: the base's type count, or 1. */
uint32_t btf_start_id(const struct btf *btf);

/* Name of a type, "" for none, never NULL. */
const char *btf_name(const struct btf *btf, const struct btf_type *t);

/* Type behind typedefs and modifiers (not behind VAR); *id, may be NULL, becomes its id. */
const struct btf_type *btf_skip_mods_and_typedefs(const struct btf *btf, uint32_t id,
						  uint32_t *res_id);

/* A character, behind typedefs and modifiers: an integer of one byte marked or called so. */
bool btf_is_char(const struct btf *btf, uint32_t id);

/*
 * The i-th name of an ENUM or ENUM64, i below btf_vlen(t): "" for none. The
 * value is sign-extended to 64 bits where the enum is signed.
 */
struct btf_enumerator {
	const char *name;
	uint64_t value;
};
struct btf_enumerator btf_enumerator_at(const struct btf *btf, const struct btf_type *t,
					uint32_t i);

/* "struct task_struct", for messages; "(anon)" where there is no name. */
const char *btf_kind_name(uint32_t kind);

#endif
