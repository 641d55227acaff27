/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of btf_dump: dump.c (order), dump_decl.c (text), dump_layout.c, dump_data.c. */
#ifndef PB_BTF_DUMP_INTERNAL_H
#define PB_BTF_DUMP_INTERNAL_H

#include "lib/base/arena.h"
#include "lib/base/hash.h"
#include "lib/base/strbuf.h"
#include "lib/btf/dump.h"
#include "lib/btf/internal.h"

/*
 * How deep types are followed: structs by value in structs, prototypes in
 * prototypes. The kernel needs some 40; more than this is an attack.
 */
#define DUMP_MAX_DEPTH 400

/* Per type. */
enum {
	DUMP_REFERENCED = 1 << 0, /* another type refers to it */
	DUMP_FORWARD = 1 << 1,	  /* "struct x;" was written */
	DUMP_DEFINING = 1 << 2,	  /* what it needs is being written */
	DUMP_DEFINED = 1 << 3,
	DUMP_WEAK = 1 << 4,	/* all is written that a pointer to it needs */
	DUMP_FASTCALL = 1 << 5, /* a function that keeps registers */
};

/* How a struct or union must be written so that it gets the layout it has. */
struct dump_layout {
	uint8_t known : 1;
	uint8_t asking : 1;
	uint8_t packed : 1;
	uint8_t aligned : 1; /* by an attribute, to the alignment below */
	uint8_t align_log2 : 4;
};

struct btf_dump {
	const struct btf *btf;
	btf_dump_printf_fn_t print;
	void *ctx;

	struct strbuf *out;
	struct strbuf own;  /* out, when print gets the text */
	uint64_t written;   /* bytes that left own */
	bool strip_mods;    /* of the declaration that is being written */
	uint64_t max_bytes; /* anonymous types are written where they are used: this bounds it */

	uint32_t n;	    /* types there is a state for; more may have been added since */
	bool grows;	    /* the caller may add types, which moves all names */
	struct arena texts; /* copies of names, for that */
	uint8_t *state;
	struct dump_layout *layouts;
	const char **names;   /* with ___2 where another type has the name */
	VEC(char *) owned;    /* those names */
	struct strmap tags;   /* struct, union and enum names -> how often */
	struct strmap idents; /* typedefs and enum values -> how often */
};

struct error *dump_too_deep(uint32_t id);

/* The name under which a type is declared. NULL: no memory. */
const char *dump_type_name(struct btf_dump *d, uint32_t id);
/* name, with '_' for what no C name has. NULL: no memory. */
const char *dump_c_name(struct btf_dump *d, const char *name);
/* The name of an enum's value, unique too. */
const char *dump_ident(struct btf_dump *d, const char *name);

/* The type, a struct or union, that a FWD stands for; the FWD itself: none is known. */
uint32_t dump_fwd_target(const struct btf_dump *d, uint32_t id);

/* The alignment of a type as it is written here, in bytes. */
uint32_t dump_align(struct btf_dump *d, uint32_t id, int depth);
struct dump_layout dump_layout(struct btf_dump *d, uint32_t id, int depth);

/* "struct x {…}" with its members; the caller adds what follows the brace. */
struct error *dump_struct_body(struct btf_dump *d, uint32_t id, int level, int depth);
struct error *dump_enum_body(struct btf_dump *d, uint32_t id, int level);

/* A declaration of name as that type, without the semicolon. name "": just the type. */
struct error *dump_decl(struct btf_dump *d, uint32_t id, const char *name, int level,
			bool strip_mods, int depth);

/* A value as a C initializer. *bytes: what the type takes, or -E2BIG. */
struct error *dump_data(struct btf_dump *d, uint32_t id, const void *data, size_t size,
			const struct btf_dump_type_data_opts *opts, int64_t *bytes);

static inline void dump_tabs(struct btf_dump *d, int level)
{
	for (int i = 0; i < level; i++)
		strbuf_addch(d->out, '\t');
}

#endif
