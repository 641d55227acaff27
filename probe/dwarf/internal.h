/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of probe/dwarf share. Only this room includes libdw. */
#ifndef PB_PROBE_DWARF_INTERNAL_H
#define PB_PROBE_DWARF_INTERNAL_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

#include "lib/base/hash.h"
#include "lib/base/names.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "probe/dwarf/dwarf.h"
#include "probe/fetch/regs.h"

/* No chain of types, scopes or origins is followed deeper: damaged DWARF may have cycles. */
#define DEPTH_MAX 128

/* A unit of .debug_info: its own DIE, and where it is a skeleton that of the split unit. */
struct dwarf_unit {
	Dwarf_Die die;	 /* in the file itself: has the lines and the ranges */
	Dwarf_Die split; /* what the DIEs are children of; addr NULL: not looked for yet */
	Dwarf_Off start, end;
	bool split_missing;	/* the .dwo is not there */
	struct unit_code *code; /* NULL: not read yet */
};

/* A unit's code, for addresses that .debug_aranges does not have. */
struct unit_range {
	Dwarf_Addr start, end;
	size_t unit;
};

/* A function's symbol. */
struct dwarf_symbol {
	uint64_t start, size;
	const char *name; /* of libelf */
	uint8_t bind, type;
	bool data;
};

/* What was found of a global variable's name in all units. */
struct known_global {
	char *name; /* NULL: none was asked for */
	Dwarf_Die die;
	bool found, is_external;
};

/* Where a function's code goes on elsewhere than at the next instruction. */
struct flow {
	void *function;	     /* the DIE whose code was read */
	bool known;	     /* there is a disassembler for it */
	bool indirect;	     /* it has jumps whose targets are not known */
	VEC(uint64_t) edges; /* where a stretch of code begins, sorted */
};

struct dwarf_image {
	char *path, *symfs;
	struct names debug_dirs;
	bool no_debuginfod, entry_values;
	const struct log *log;

	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	Dwfl_Module *module;
	Dwarf *dw;
	Dwarf_Addr bias; /* added to DWARF's addresses gives the file's */
	Dwarf_Addr symbol_bias;
	char *debug_path;
	int debug_fd; /* of that file, or of its copy with unpacked sections; -1: none */
	uid_t author; /* pb_dwarf_image_author() */
	uint16_t machine;
	bool is_rel, is_big;
	const struct regs *regs;
	struct strbuf looked; /* where debug information was looked for */

	VEC(struct dwarf_unit) units;
	bool have_units, units_are_checked; /* that their own DIEs can be read */
	VEC(struct unit_range) ranges;	    /* by start */
	bool have_ranges;
	VEC(struct dwarf_symbol) symbols; /* by start */
	bool have_symbols;
	VEC(Dwarf_Die) dies; /* those that places refer to */
	struct known_global global;
	struct flow flow; /* of the last function that a variable was looked for in */
	VEC(struct alt_file *) alts;
	struct dwp *dwp;     /* a package of split units; NULL: none */
	char *dwp_dir;	     /* where its units are unpacked */
	size_t inlines_read; /* functions, inlined copies and their ranges */
	uint64_t time_left;  /* of time_of_walk(), for all of inlines.c */
	uint64_t deadline;   /* of what it reads now */
	bool has_time;
	uint64_t bytes_on_disk;	     /* of the files that it is in */
	uint64_t n_rows;	     /* of all line tables that were read */
	struct u64map counted_lines; /* those, by Dwarf and offset */
	bool rows_warned;
	char *split_missing; /* which split unit was not found, and where it was looked for */
};

/* ---- image.c ---- */

/* libdw's last error as one of ours. */
struct error *dw_error(const struct dwarf_image *image, const char *fmt, ...) _printf_(2, 3) _cold_;
struct error *image_need_symbols(struct dwarf_image *image);
/* Its DWARF, or some of it, is in a file of this owner. */
void image_add_author(struct dwarf_image *image, uid_t owner);
/* The file that libdw reads, for those who search its bytes; its descriptor is copied. */
void image_keep_file(struct dwarf_image *image, int fd);
/* The function's symbol at an address; NULL: none. */
const struct dwarf_symbol *image_symbol_at(struct dwarf_image *image, uint64_t address);
/* An address that the DWARF has, as the ELF file has it. */
static inline uint64_t image_address(const struct dwarf_image *image, Dwarf_Addr address)
{
	return address + image->bias;
}

/* ---- limits.c ---- */

/* EFBIG: what is compressed in the file would take far more memory than the file has bytes. */
struct error *debug_sections_fit(int fd);
bool file_is_mostly_hole(int fd);
/*
 * *fd becomes a copy of the file whose sections are not compressed by zstd any more, if some are:
 * of one that debug_sections_fit(). EBADMSG: they are damaged; *fd is unchanged.
 */
struct error *debug_sections_unpack(int *fd);
/* Its DWARF, or some of it, is in this file. */
void image_count_file(struct dwarf_image *image, int fd);
/* EFBIG: with the line table of this unit the image would have too many rows, which was logged. */
struct error *lines_fit(struct dwarf_image *image, Dwarf_Die *unit);

/* ---- find_debug.c: debug information in other files ---- */
int image_find_debuginfo(Dwfl_Module *mod, void **userdata, const char *modname, Dwarf_Addr base,
			 const char *file_name, const char *debuglink_file, GElf_Word crc,
			 char **found);

/* The file that .gnu_debugaltlink of debug_file names, with this build-id; -1: none. */
int image_find_alt(struct dwarf_image *image, const char *debug_file, const char *name,
		   const uint8_t *id, size_t id_size, char **found);

/* ---- alt.c: debug information that files share ---- */

/* Before anything of dw is read. path: the file that it is of; NULL: no file is looked for. */
struct error *alt_set(struct dwarf_image *image, Dwarf *dw, const char *path);
void alt_free(struct dwarf_image *image);

/* ---- split.c: split units ---- */
/* Looks for a package of them. */
struct error *split_prepare(struct dwarf_image *image);
void split_free(struct dwarf_image *image);
/* dwfl_module_getdwarf() of the image, whose own descriptor is fd. */
Dwarf *split_getdwarf(struct dwarf_image *image, int fd);
/* Sets unit->split, or unit->split_missing. */
void split_root(struct dwarf_image *image, struct dwarf_unit *unit);

/* ---- units.c ---- */
/* The bytes of .debug_info, of which each DIE takes at least one. */
uint64_t image_info_size(const struct dwarf_image *image);
struct error *image_need_units(struct dwarf_image *image);
/* What a unit's DIEs are children of: the unit, or its split half. */
struct error *unit_root(struct dwarf_image *image, struct dwarf_unit *unit, Dwarf_Die *root);
/* Of the unit that a DIE stands in, the one with lines. */
bool die_unit_die(Dwarf_Die *die, Dwarf_Die *out);
/* The unit whose code covers an address; NULL in *out: none. */
struct error *unit_by_address(struct dwarf_image *image, Dwarf_Addr address,
			      struct dwarf_unit **out);
/*
 * The units that may hold the name: a true bitmap of image->units.n bytes, the
 * caller's to free(). A superset.
 */
struct error *units_with_name(struct dwarf_image *image, const char *name, bool is_glob,
			      uint8_t **out);
/* Likewise those whose line tables may name the source file ("fs.h", "linux/fs.h"). */
struct error *units_with_file(struct dwarf_image *image, const char *file, uint8_t **out);

/* What DW_AT_GNU_locviews of a DIE is an offset into: the lists of locations; NULL: none. */
const uint8_t *die_locations(Dwarf_Die *die, size_t *size);

/* ---- die.c ---- */
/* Next child or sibling; *have false at the end. */
struct error *die_child(const struct dwarf_image *image, Dwarf_Die *die, Dwarf_Die *child,
			bool *have);
struct error *die_next(const struct dwarf_image *image, Dwarf_Die *die, bool *have);
/*
 * The same within a walk over a whole tree, at this depth. Mostly a DIE does not say where its
 * sibling is, so what it contains is read once for each scope around it: a tree that is 100 deep
 * takes 100 times as long. deadline: of deadline_of(); EFBIG: it is over.
 */
struct error *die_next_of_tree(const struct dwarf_image *image, Dwarf_Die *die, int depth,
			       uint64_t deadline, bool *have);
/* CPU time from now on, in ns, that no walk over sound information needs: linear in its bytes. */
uint64_t time_of_walk(const struct dwarf_image *image);
uint64_t deadline_of(uint64_t time);
/* EFBIG: beyond DEPTH_MAX nothing is read, as each level would have to be skipped. */
struct error *die_too_deep(const struct dwarf_image *image, Dwarf_Die *die);
/*
 * As dwarf_siblingof(die, die): 0, 1 at the end, -1. A sibling that stands
 * before its brother is an error: a damaged DW_AT_sibling may go in circles.
 */
int die_sibling(Dwarf_Die *die);
const char *die_name(Dwarf_Die *die);
const char *die_linkage_name(Dwarf_Die *die);
bool die_flag(Dwarf_Die *die, unsigned int attr);
/* The DIE that an attribute refers to. */
bool die_ref(Dwarf_Die *die, unsigned int attr, Dwarf_Die *out);
/* Follows abstract origins and specifications to the end. */
void die_origin(Dwarf_Die *die, Dwarf_Die *out);
/*
 * The location or frame base of a DIE itself; integrate: or of its origin. A block is an
 * expression, as Go writes them; libdw takes it for one only before DWARF 4.
 */
bool die_location(Dwarf_Die *die, unsigned int attr, bool integrate, Dwarf_Attribute *out);
/* Whether both are the same function or variable, or copies of it. */
bool die_same_origin(Dwarf_Die *a, Dwarf_Die *b);
/*
 * Which DIEs can have functions as children, for all who look for functions: scopes and types, of
 * any language (Rust's enumerations have methods). So can functions, and blocks in them: lambdas,
 * local classes, nested functions of GNU C, Ada, D and Fortran.
 */
bool tag_has_functions(int tag);
/* A block within a function. */
bool tag_is_block(int tag);
/* The address where a function, a scope or an inlined copy begins; false: it has no code. */
bool die_entry(Dwarf_Die *die, Dwarf_Addr *address);
bool die_has_code(Dwarf_Die *die);
bool die_lang_is_c(Dwarf_Die *die);
bool die_lang_is_cxx(Dwarf_Die *die);
bool die_lang_is_rust(Dwarf_Die *die);
bool die_lang_is_go(Dwarf_Die *die);
/* Made by gcc. */
bool die_is_gnu(Dwarf_Die *die);
/* The source file that an attribute names, as DW_AT_call_file does; NULL: not known. */
const char *die_file(struct dwarf_image *image, Dwarf_Die *die, unsigned int attr);
/* The source file that it is declared in; NULL: not known. */
const char *die_decl_file(struct dwarf_image *image, Dwarf_Die *die);
/* The unsigned constant of an attribute. */
bool die_udata(Dwarf_Die *die, unsigned int attr, uint64_t *value);
/* "src/shop.c" matches "/build/src/shop.c". */
bool path_ends_with(const char *path, const char *end);

/* ---- type.c ---- */
struct type {
	Dwarf_Die die;
	bool is_void;
};

/* A DIE's type, as written. */
struct type type_of(Dwarf_Die *die);
/* Without typedefs and qualifiers. */
struct type type_peel(struct type type);
/* The tag; 0 for void. */
int type_tag(const struct type *type);
/* Bytes; false: not known (an incomplete type, an array without an end). */
bool type_size(struct type type, uint64_t *size);
void type_text(struct type type, struct strbuf *sb);
bool type_is_struct(int tag);
bool type_is_pointer(int tag);
/* A number, a pointer, an enumeration: what one value holds. */
bool type_is_scalar(struct type peeled, enum fetch_kind *kind);
/* Whether a peeled type is a character, of one byte. */
bool type_is_char(struct type peeled);
/* An incomplete struct's definition, looked for in other units; else the same. */
struct error *type_complete(struct dwarf_image *image, struct type *type);

struct dimension {
	int64_t lower;
	uint64_t count; /* 0: not known */
};
#define DIMENSIONS_MAX 8
/* An array's dimensions; false: they are no constants, or too many. */
bool array_dimensions(Dwarf_Die *array, struct dimension *dims, size_t *n);

/* ---- expr.c: DWARF expressions to fetch programs ---- */
struct insns {
	struct fetch_insn *v;
	size_t n, cap;
};

enum part_is {
	PART_VALUE,
	PART_MEMORY,
	PART_NOTHING,
	PART_POINTER, /* to a variable that is not in memory: die, offset */
};

/* A part of a location, from its low bits up. */
struct location_part {
	enum part_is is;
	struct insns insns;
	uint64_t bit_offset; /* into the source */
	uint64_t bits;	     /* 0: all that is left */
	Dwarf_Die die;	     /* of PART_POINTER */
	int64_t offset;
};

struct dwarf_location {
	VEC(struct location_part) parts;
	char *obstacle; /* NULL: it can be read */
};

void location_deinit(struct dwarf_location *loc);
#define _cleanup_location_ _cleanup_(location_deinit)
struct error *location_block(struct dwarf_location *loc, const char *fmt, ...) _printf_(2, 3);

/* Where expressions are evaluated. */
struct context {
	struct dwarf_image *image;
	Dwarf_Addr pc; /* DWARF's own */
	bool at_entry; /* pc is the first instruction of function: no register has changed */
	bool at_return;
	Dwarf_Die function;  /* out of line; addr NULL: none */
	Dwarf_Die instance;  /* function, or the inlined copy */
	bool instance_entry; /* pc is where the instance begins */
	int view;	     /* which of the states at pc (location views); -1: not known */
	bool unsure;	     /* also what may have been stored in memory only later */
	bool wide;	     /* what is evaluated is a variable of eight bytes */
	int depth;
};

bool insns_add(struct insns *insns, struct fetch_insn insn);
bool insns_copy(const struct insns *from, struct insns *to);
/* Adds to the address on top. */
bool insns_plus(struct insns *insns, int64_t n);

/*
 * An expression as a location. object: the address that stands on the stack
 * before (of members), or NULL.
 */
struct error *expr_location(struct context *ctx, Dwarf_Attribute *attr, Dwarf_Op *ops, size_t n,
			    const struct insns *object, struct dwarf_location *loc);

/* ---- loc.c ---- */
/* Where a variable is at the context's pc. */
struct error *variable_location(struct context *ctx, Dwarf_Die *die, struct dwarf_location *loc);
/* A constant's bytes as parts. */
struct error *location_bytes(struct dwarf_location *loc, const void *bytes, size_t n);
/* Whether a location is memory in the function's own frame, given by one expression for all
 * of the function: what holds a value only behind the prologue. */
bool variable_in_slot(struct context *ctx, Dwarf_Die *die);
struct error *place_context(struct dwarf_image *image, const struct dwarf_place *place,
			    struct context *ctx);

/* ---- abi.c ---- */
/* Where the calling convention has the function's parameter at its first instruction; the
 * location is untouched and *known false where that is not sure. */
struct error *abi_parameter(struct context *ctx, Dwarf_Die *param, struct dwarf_location *loc,
			    bool *known);
/* Where what a function returns is, at its return. */
struct error *abi_returned(struct context *ctx, struct type type, struct dwarf_location *loc);

/* ---- vars.c ---- */
struct scope_variable {
	Dwarf_Die die;
	bool is_parameter, is_global;
	bool absent; /* known to the abstract function only: optimized out here */
};
struct variables {
	struct scope_variable *v;
	size_t n, cap;
};
/* Those in sight, innermost scope last; hidden ones are left out. */
struct error *variables_in_scope(struct context *ctx, struct variables *out);
struct error *variables_of_unit(struct dwarf_image *image, Dwarf_Die *unit, struct variables *out);
void variables_deinit(struct variables *vars);
#define _cleanup_variables_ _cleanup_(variables_deinit)
/* The unit's first; unit NULL: no unit is nearer than others. */
struct error *global_find(struct dwarf_image *image, Dwarf_Die *unit, const char *name,
			  struct scope_variable *out, bool *found);
/* Of the function alone; and, when it has none of that name, a global one. */
struct error *local_find(struct context *ctx, const char *name, struct scope_variable *out,
			 bool *found);
struct error *scope_variable_find(struct context *ctx, const char *name, struct scope_variable *out,
				  bool *found);

/* ---- code_flow.c ---- */
/* The function's code, read through; flow is used again for another one. */
struct error *flow_read(struct dwarf_image *image, Dwarf_Die *function, struct flow *flow);
void flow_deinit(struct flow *flow);
/* Whether nothing jumps to the address: who comes there executed the instruction before. */
bool flow_falls_to(const struct flow *flow, uint64_t address);

/* ---- inlines.c ---- */
void unit_code_free(struct unit_code *code);

/* ---- lines.c ---- */
struct error *lines_of(struct dwarf_image *image, Dwarf_Die *die, Dwarf_Lines **lines, size_t *n);
/* The row that covers an address; NULL: none. */
Dwarf_Line *line_at(Dwarf_Lines *lines, size_t n, Dwarf_Addr address);
/* The index of the first row at or above an address; n: none. */
size_t line_lower_bound(Dwarf_Lines *lines, size_t n, Dwarf_Addr address);
/* Whether the view-th row at an address begins a statement. */
bool view_begins_statement(Dwarf_Lines *lines, size_t n, Dwarf_Addr address, uint64_t view);
/* The first address behind a function's prologue; false: not known. */
bool prologue_end(Dwarf_Lines *lines, size_t n, Dwarf_Die *function, Dwarf_Addr low,
		  Dwarf_Addr *address);
char *line_source_path(Dwarf_Die *unit, const char *file);

#endif
