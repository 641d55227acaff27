/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of CO-RE: specs (core_spec.c), type comparison (compat.c), core.c, patch.c. */
#ifndef PB_CORE_INTERNAL_H
#define PB_CORE_INTERNAL_H

#include "lib/base/hash.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "lib/core/core.h"

/* Steps into an access string at most: "0:1:2" has three. clang's own limit is lower. */
#define CORE_MAX_ACCESS 64

/*
 * What one relocation may cost in visited types. Real ones take some tens; a
 * hostile graph of types would branch without end.
 */
#define CORE_MAX_WORK 200000

/* One step: a member (name set), an array element or an enum value. */
struct core_access {
	uint32_t type_id; /* of the struct that has the member; of the element */
	uint32_t idx;
	const char *name; /* NULL: an array element */
};

/*
 * A type and a way into it. Members without a name are walked through and
 * not kept: what counts is the names, so that a field may move into or out
 * of an anonymous struct.
 */
struct core_spec {
	const struct btf *btf;
	uint32_t root_id;
	uint64_t bit_offset;
	uint32_t len;
	struct core_access acc[CORE_MAX_ACCESS];
};

/* Types of the targets that share the local type's essential name and kind. */
struct core_cand {
	const struct btf *btf;
	uint32_t id;
};

struct core_cands {
	VEC(struct core_cand) v;
	bool nowhere; /* the modules do not have one either */
};

/* A relocation that was resolved before. */
struct core_known {
	struct btf_core_relo relo;
	struct core_result result;
	struct core_known *next; /* of the same type and access, another kind */
};

/* An instruction that was poisoned. */
struct core_poison {
	char *why;
	bool lacks_type;
	struct btf_core_relo relo;
};

struct core {
	const struct btf *local;
	const struct btf *target;
	core_modules_fn *modules_fn; /* NULL: there are no modules, or they were asked for */
	void *modules_ctx;
	bool has_modules;
	struct core_modules modules;
	struct u64map cands;		 /* local type id -> struct core_cands */
	struct u64map known;		 /* type id << 32 | access_str_off -> struct core_known */
	VEC(struct core_poison) poisons; /* by imm - CORE_POISON_BASE */
	uint32_t work;			 /* left for the relocation at hand */
};

static inline bool core_kind_is_field(uint32_t kind)
{
	return kind <= CORE_FIELD_RSHIFT_U64;
}

static inline bool core_kind_is_enum(uint32_t kind)
{
	return kind == CORE_ENUMVAL_EXISTS || kind == CORE_ENUMVAL_VALUE;
}

/* False when this relocation has cost too much. */
static inline bool core_step(struct core *core)
{
	return core->work && core->work--;
}

struct error *core_too_much(void);

/* The names are equal but for their ___flavor. */
bool core_same_essential(const char *a, const char *b);

/* Reads an access string against the local type. */
struct error *core_spec_parse(const struct btf *btf, uint32_t type_id, uint32_t kind,
			      const char *access, struct core_spec *spec);
/*
 * Finds in a candidate what local means. *matched false: the candidate does
 * not have it.
 */
struct error *core_spec_match(struct core *core, const struct core_spec *local,
			      const struct core_cand *cand, uint32_t kind, struct core_spec *spec,
			      bool *matched);

/* "struct task_struct.se.load[1]" */
void core_spec_describe(const struct core_spec *spec, uint32_t kind, struct strbuf *sb);

/* "field offset", "type size", … */
const char *core_kind_name(uint32_t kind);

/* compat.c: each *yes tells; they fail only on malformed or endless types. */
struct error *core_fields_compat(struct core *core, const struct btf *local, uint32_t local_id,
				 const struct btf *targ, uint32_t targ_id, bool *yes);
struct error *core_types_compat(struct core *core, const struct btf *local, uint32_t local_id,
				const struct btf *targ, uint32_t targ_id, bool *yes);
struct error *core_types_match(struct core *core, const struct btf *local, uint32_t local_id,
			       const struct btf *targ, uint32_t targ_id, bool *yes);

/* core_value.c: what a relocation of the kind means for both; targ NULL: there is no match. */
struct error *core_calculate(uint32_t kind, const struct core_spec *local,
			     const struct core_spec *targ, struct core_result *res);

#endif
