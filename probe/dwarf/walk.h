/* SPDX-License-Identifier: BSD-2-Clause */
/* The walk over functions and their inlined copies; private to probe/dwarf/. */
#ifndef PB_PROBE_DWARF_WALK_H
#define PB_PROBE_DWARF_WALK_H

#include "probe/dwarf/internal.h"

/* A function out of line, or a copy of it. */
struct instance {
	Dwarf_Die die;	    /* the subprogram, or the inlined subroutine */
	Dwarf_Die function; /* whose code it is in: die itself when out of line */
	bool inlined;
	/*
	 * gcc's partial inlining: the part of the function behind its first test, which became a
	 * function of its own ("f.part.0") and may have been inlined into f again. Whoever comes
	 * here came by an instance that is whole; a call is one event.
	 */
	bool is_part;
};
typedef struct error *instance_fn(void *ctx, const struct instance *instance);

/* Whose name matches. */
struct matcher {
	struct dwarf_image *image;
	const char *pattern;
	bool is_glob, qualified;
	const char *file;   /* NULL: any */
	struct u64map seen; /* of origins: 1 no, 2 yes */
};

struct matcher matcher_make(struct dwarf_image *image, const char *pattern, bool is_glob,
			    const char *file);
void matcher_deinit(struct matcher *matcher);
bool matcher_takes(struct matcher *matcher, Dwarf_Die *function);

/* What people call it: "ns::Class::method". NULL: no memory, or it has no name. */
char *function_shown(Dwarf_Die *function);

/* All instances of the functions that match, in the units that may have some. */
struct error *instances_find(struct dwarf_image *image, struct matcher *matcher, bool inlines,
			     instance_fn *fn, void *ctx);
/* The same for one unit. */
struct error *instances_in_unit(struct dwarf_image *image, struct dwarf_unit *unit,
				struct matcher *matcher, bool inlines, instance_fn *fn, void *ctx);
/* The innermost instance at an address within a unit; false: none. For the line, not beyond the
 * call that stands on it. line 0: any. */
struct error *instance_at(struct dwarf_image *image, struct dwarf_unit *unit, Dwarf_Addr pc,
			  uint32_t line, struct instance *out, bool *found);
/* The innermost block of the instance that holds the address. */
Dwarf_Off block_at(struct dwarf_image *image, Dwarf_Die *instance, Dwarf_Addr pc);

#endif
