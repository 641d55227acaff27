/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an argument's path leads through, and its end as a value; private to
 * probe/dwarf/.
 */
#ifndef PB_PROBE_DWARF_OBJECT_H
#define PB_PROBE_DWARF_OBJECT_H

#include "probe/dwarf/internal.h"

struct dwarf_object {
	struct dwarf_location loc;
	struct type type;
	uint64_t bit;	   /* where it begins in the location */
	uint64_t bit_size; /* of a bit field; 0: the type's size */
	bool user;	   /* memory reached from here on is the process's */
	bool is_user;	   /* this object stands in it */
	bool followed;	   /* a pointer led to it */
	bool raw;	   /* a word without a type: a register, what +OFFSET(…) reads */
	bool behind;	   /* it is what stands behind an address, of +OFFSET(…) */
};

void pb_dwarf_object_deinit(struct dwarf_object *object);

/* ---- path.c ---- */

/* The way to a member: itself last, the nameless ones and bases around it before. */
struct way {
	Dwarf_Die steps[16];
	int n;
};
struct error *way_find(struct context *ctx, struct type type, const char *name, struct way *way,
		       bool *found);
/* The object becomes its member, also one of what is nameless in it and of its bases. */
struct error *object_member(struct context *ctx, struct dwarf_object *object,
			    const struct probe_arg *arg, const char *name);
/*
 * Goes to what the pointer points to: the new location is the memory there,
 * plus offset bytes.
 */
struct error *object_follow(struct context *ctx, struct dwarf_object *object, int64_t plus);
struct error *object_through_references(struct context *ctx, struct dwarf_object *object);
/* All of the argument's steps. */
struct error *object_walk(struct context *ctx, struct dwarf_object *object,
			  const struct probe_arg *arg);
/* The place of an error: the argument as it was written. */
struct error *error_at_arg(struct error *err, const struct probe_arg *arg);
struct error *error_wrong_type(const struct dwarf_object *object, const struct probe_arg *arg,
			       const char *what, const char *hint);

/* ---- dwarf_value.c ---- */

/* The value gets an obstacle; its pieces go. */
struct error *value_block(struct fetch_value *value, const char *text);
/* A zeroed piece at the end; *cap: how many there is room for. NULL: no memory. */
struct fetch_piece *value_add_piece(struct fetch_value *value, size_t *cap);
/* The object's bits, from all the parts that hold some. */
struct error *value_pieces(const struct dwarf_object *object, uint64_t bits, bool scalar,
			   struct fetch_value *value);
/* By a type that was written: the number's low bits, or the memory's. */
struct error *value_typed(struct dwarf_object *object, const struct probe_arg *arg,
			  struct fetch_value *value);
/* By its own type. */
struct error *value_natural(struct context *ctx, struct dwarf_object *object,
			    struct fetch_value *value);

/* ---- string_value.c ---- */

/* Of characters: the text that a pointer, an array or a string of the language holds. */
struct error *value_string(struct context *ctx, struct dwarf_object *object,
			   const struct probe_arg *arg, struct fetch_value *value);
/* The same of a Fortran character whose length is a variable. */
struct error *value_fortran_string(struct context *ctx, struct dwarf_object *object,
				   struct fetch_value *value);

#endif
