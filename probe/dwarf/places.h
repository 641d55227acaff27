/* SPDX-License-Identifier: BSD-2-Clause */
/* What finds places, and what lists them; private to probe/dwarf/. */
#ifndef PB_PROBE_DWARF_PLACES_H
#define PB_PROBE_DWARF_PLACES_H

#include "probe/dwarf/walk.h"

/* A row of a line table. */
struct row {
	Dwarf_Addr address;
	int view;     /* how many rows are before it at the address */
	size_t index; /* in the table */
	const char *file;
	uint32_t line;
};

/* ---- code_flow.c ---- */
/* Whether who comes by the first address comes by the second. */
bool flow_is_one(const struct flow *flow, uint64_t first, uint64_t second);

/* ---- places.c ---- */
/* Where a part of a function begins (struct instance), and the line that it is said to be on. */
struct part_entry {
	uint64_t address;
	uint32_t line;
};

struct places_search {
	struct dwarf_image *image;
	const struct probe_def *def;
	struct dwarf_places *places;
	size_t n_instances, n_inlined;
	VEC(struct part_entry) parts;
	/* For errors about lines. */
	uint32_t near_below, near_above, first, last;
};

/* row: the one whose line it is; NULL: what the table has at the address. */
struct error *place_add(struct places_search *s, const struct instance *instance, Dwarf_Addr pc,
			bool is_entry, bool after_prologue, bool at_return, int view,
			const struct row *row);
/* ---- copy_entries.c ---- */
/* Adds the entries of an inlined copy besides the one that its DIE names. */
struct error *copy_entries(struct places_search *s, const struct instance *instance,
			   Dwarf_Addr entry);

/* ---- places.c ---- */
/* There is none of the definition's name: near ones. */
struct error *error_no_function(struct dwarf_image *image, const struct probe_def *def);

/* ---- place_lines.c ---- */
/* A row that a point is made of. */
struct chosen {
	struct row row;
	void *scope;
	Dwarf_Off block;
	struct instance instance;
	bool empty;
};
typedef VEC(struct chosen) chosen_vec;
struct error *chosen_add(struct dwarf_image *image, const struct instance *instance,
			 const struct row *row, bool empty, chosen_vec *chosen);
/* Leaves one for each time that a line is run through. */
struct error *chosen_settle(struct dwarf_image *image, chosen_vec *chosen);
struct error *line_place(struct places_search *s, const struct instance *instance);
struct error *pattern_place(struct places_search *s, const struct instance *instance);
struct error *file_line_places(struct places_search *s);

/* ---- rows.c ---- */
/* A row that begins a statement; false: another one. */
bool row_of(Dwarf_Lines *lines, size_t i, struct row *row);
/* The code at its address belongs to another line's row: its own stands elsewhere. */
bool row_is_empty(Dwarf_Lines *lines, size_t n, size_t i, const struct row *row);
/* Whether a copy of another function, inlined into the instance, holds the address. */
bool in_inner_copy(Dwarf_Die *parent, Dwarf_Addr pc, int depth);

struct instance_lines {
	const char *file;      /* where the function is defined */
	uint32_t first, limit; /* its line; that of the next function in the file */
};

/* *known false: nothing tells where it is defined. */
struct error *instance_lines(struct dwarf_image *image, const struct instance *instance,
			     struct instance_lines *out, bool *known);
typedef struct error *row_fn(void *ctx, const struct instance *instance, const struct row *row,
			     bool empty);
/* The rows of an instance that are lines of the function itself. */
struct error *instance_rows(struct dwarf_image *image, const struct instance *instance,
			    const struct instance_lines *own, row_fn *fn, void *ctx);
/* Whether the unit is made of the file itself; headers are looked for in all. */
bool unit_is_of_file(struct dwarf_unit *unit, const char *file);

#endif
