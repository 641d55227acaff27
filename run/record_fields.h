/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A BTF type as a flat list of fields, for tables and sums: the members of
 * structs within structs by their path ("addr.port"), of unions the widest
 * one, each element of an array but of char arrays ("slots[3]"), and of a data
 * section its variables. A type that is no struct is one field without a name.
 */
#ifndef PB_RUN_FIELDS_H
#define PB_RUN_FIELDS_H

#include <bpf/btf.h>
#include <stdbool.h>

#include "lib/base/error.h"

/* What a number means, told by the name of its type: see <bpf/perf_bpf_prog.h>. */
enum field_role {
	ROLE_NONE,
	ROLE_PID,
	ROLE_UID,
	ROLE_GID,
	ROLE_CGROUP,
	ROLE_KSYM,
	ROLE_IPV4,
	ROLE_IPV6,
	ROLE_PORT,
	ROLE_NS,
	ROLE_TIME,
	ROLE_BYTES,
	ROLE_DEV,
	ROLE_SYSCALL,
	ROLE_ERRNO,
	ROLE_KSTACK,
	ROLE_USTACK,
	ROLE_USYM,
	ROLE_STACK_ID, /* the id of a stack; not known whether of the kernel or which process */
};

enum field_kind {
	FIELD_UINT,
	FIELD_INT,
	FIELD_BOOL,
	FIELD_ENUM,
	FIELD_POINTER,
	FIELD_FLOAT,
	FIELD_CHARS,
	FIELD_WIDE,  /* an integer of 16 bytes: field_wide() */
	FIELD_BYTES, /* what is none of these */
};

/* What a program does with a number over time, as far as it is known. */
enum field_change {
	CHANGE_UNKNOWN,
	CHANGE_ADDED, /* it only adds: the difference of two values is what was added meanwhile */
	CHANGE_SET,   /* a maximum, a last value, a level: a difference means nothing */
};

struct record_field {
	char *name; /* "" for a type that is no struct */
	enum field_kind kind;
	enum field_role role;
	uint32_t off, size; /* bytes */
	uint32_t bit, bits; /* of a bit field: from off on; bits 0: it is none */
	bool is_signed;	    /* of enums and integers of 16 bytes */
	uint32_t type;	    /* the enum's id */
	bool has_comm;	    /* a pid whose name is in the same struct, as it was at the time */
	bool hidden;	    /* not shown: the time column of events shows it */
	enum field_change change;
	bool declared;	/* change is what the author says */
	bool too_large; /* a sum since fields_begin_sums() is not exact */
};

struct fields {
	struct record_field *v;
	size_t n;
	size_t cap;
	uint32_t size; /* of the type */
};

void fields_deinit(struct fields *fields);
#define _cleanup_fields_ __attribute__((cleanup(fields_deinit)))

/*
 * The fields of a type; btf NULL or type 0: one field of bytes, a number where
 * size is 1, 2, 4 or 8. E2BIG: more than 10,000 of them. EINVAL: no value can
 * be of the type, or its size is not the one said.
 */
struct error *fields_of(const struct btf *btf, uint32_t type, uint32_t size, struct fields *fields);

/* "ns", "bytes"; NULL: its type says none. */
const char *field_unit(const struct record_field *field);
/* Whether run_name_add() may have a text for its number. */
bool field_has_text(const struct record_field *field);

/* Whether it counts or measures: an integer or a float, not an enum, a pointer or a truth. */
bool field_is_number(const struct record_field *field);

/* The number at data, sign-extended where it is signed. */
uint64_t field_number(const struct record_field *field, const void *data);

/* The same of a FIELD_WIDE. */
unsigned __int128 field_wide(const struct record_field *field, const void *data);

/* The number of a FIELD_FLOAT. */
double field_float(const struct record_field *field, const void *data);

/*
 * Below, at or above 0: a goes before b, is the same, or goes after it. Numbers
 * go by their value, text and bytes by their bytes; a float that is not a number
 * goes last either way.
 */
int field_order(const struct record_field *field, const void *a, const void *b, bool largest_first);

/* Whether its numbers can be added up: a whole integer that means nothing else. */
bool field_is_counter(const struct record_field *field);
/* Whether it is one to which programs only add, so that it may be subtracted. */
bool field_is_additive(const struct record_field *field);

/*
 * Records a store that a program makes to the value: `size` bytes at `off`. adds: the store adds
 * to the old content, otherwise it replaces it; varies: it is to some element of the array that
 * begins at `off`.
 */
void fields_see_store(struct fields *fields, int32_t off, uint32_t size, bool varies, bool adds);
/* All counters are added to: slots of a histogram, weights of stacks. */
void fields_set_additive(struct fields *fields);

/*
 * Adds the counters of the value at `from` to those at `to`; what is none is kept. A sum that the
 * field has no room for is the nearest number that it has, and the field is marked (too_large).
 */
void fields_add(struct fields *fields, void *to, const void *from);
/* Takes additive ones away: those of one time from those of a later one. */
void fields_subtract(struct fields *fields, void *to, const void *from);
/* Forgets which sums were too large. */
void fields_begin_sums(struct fields *fields);
/* Whether there are counters among them; additive ones, which differences can be made of. */
bool fields_count(const struct fields *fields);
bool fields_any_additive(const struct fields *fields);
/* Whether some counter is not a sum, so that those of several CPUs cannot be added up. */
bool fields_any_set(const struct fields *fields);
/* Whether any additive counter is not 0; whether anything is not. */
bool fields_any_added(const struct fields *fields, const void *data);
bool fields_any(const struct fields *fields, const void *data);

#endif
