/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DWARF: from a definition to the places in an ELF image where it applies, and
 * to what fetches an argument there. Through libdw, which no other room of
 * probe/ sees.
 *
 * Nothing is read before it is asked for: a function that the symbol table has
 * as a global one costs the unit that .debug_aranges names for its address;
 * other names are looked for in the raw bytes of the sections, and only the units that
 * hold the name are walked. DWARF 2 to 5; split units (.dwo, and packages of
 * them, .dwp), shared ones (.gnu_debugaltlink), compressed sections,
 * relocatable files (.ko).
 *
 * Not for two threads at once.
 */
#ifndef PB_PROBE_DWARF_DWARF_H
#define PB_PROBE_DWARF_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "probe/def/def.h"
#include "probe/fetch/fetch.h"

struct dwarf_opts {
	const char *const *debug_dirs; /* NULL-terminated; NULL: /usr/lib/debug */
	const char *symfs;	       /* put before paths; NULL: "" */
	const uint8_t *build_id;       /* the file must have it; NULL: any */
	size_t build_id_size;
	bool no_debuginfod;
	bool entry_values; /* of a process: a second probe keeps them (FETCH_ENTRY) */
	bool is_copy;	   /* of a build-id cache: see lib/sys/copied_file.h */
	const struct log *log;
};

struct dwarf_image;

/*
 * Opens a binary, a library, a vmlinux or a module, with the debug information
 * in it or beside it: by build-id, .gnu_debuglink, and debuginfod when
 * $DEBUGINFOD_URLS is set. ENOENT: no such file; EBADMSG: it is no sound ELF
 * file; ESTALE: another build-id than asked for; ENODATA: there is no debug
 * information; the message says where it was looked for, the hint what would
 * give it.
 */
struct error *pb_dwarf_image_open(const char *path, const struct dwarf_opts *opts,
				  struct dwarf_image **out);

/*
 * The kernel's image with DWARF, or that of a module ("ext4"), of the release
 * as uname -r prints it: below /usr/lib/debug, /boot, /lib/modules. The same
 * errors; with a build-id in opts (/sys/kernel/notes), a vmlinux of another
 * kernel is passed over.
 */
struct error *pb_dwarf_image_open_kernel(const char *release, const char *module,
					 const struct dwarf_opts *opts, struct dwarf_image **out);
void pb_dwarf_image_free(struct dwarf_image *image);
DEFINE_FREEP(struct dwarf_image, pb_dwarf_image_free)

uint16_t pb_dwarf_image_machine(const struct dwarf_image *image); /* EM_… */
/* Where the debug information was found. */
const char *pb_dwarf_image_path(const struct dwarf_image *image);
/*
 * Who wrote it, and so chose the paths in it: 0: root or the caller; DWARF_AUTHORS: several others.
 */
uid_t pb_dwarf_image_author(const struct dwarf_image *image);
#define DWARF_AUTHORS ((uid_t)-1) /* owns no file */

/*
 * A place. Addresses are those that the ELF file itself has; of a relocatable
 * file (.ko) only symbol and symbol_offset mean something elsewhere.
 */
struct dwarf_place {
	char *function; /* linkage name of the function whose code it is ("_ZN4Shop5orderEi") */
	char *shown;	/* as the source has it: "Shop::order" */
	char *inlined;	/* the function, as shown, whose inlined copy it is; NULL: out of line */
	char *symbol;	/* the symbol that the address lies in; NULL: none */
	uint64_t symbol_offset;
	uint64_t address;
	uint64_t offset; /* from the function's first byte */
	bool at_return;
	/*
	 * The entry of a function that keeps its variables in memory (-O0), when a variable is
	 * wanted that is no parameter: the address is the first one behind the prologue.
	 */
	bool after_prologue;
	char *file; /* the source file's path and line; NULL: not known */
	uint32_t line;
	/* Private: the DIEs of the function and of its copy; which state at the address. */
	uint64_t function_die, scope_die;
	bool is_entry, unsure;
	int view;
};

struct dwarf_places {
	struct dwarf_place *v;
	size_t n, cap;
};

void pb_dwarf_place_deinit(struct dwarf_place *place);
void pb_dwarf_places_deinit(struct dwarf_places *places);
#define _cleanup_dwarf_places_ _cleanup_(pb_dwarf_places_deinit)

/*
 * All places of a definition, by address, at least one; places is all zero.
 * FUNC is compared with the name, with the linkage name, and with the name and
 * the scopes around it ("ns::Class::method", also without the outer ones);
 * patterns alike. ENOENT: no such function, file or line, or no code on it
 * (near names, the lines next to it); EINVAL: an offset past the function's
 * end; EBADMSG: damaged DWARF.
 */
struct error *pb_dwarf_places_find(struct dwarf_image *image, const struct probe_def *def,
				   struct dwarf_places *places);

/*
 * How an argument is fetched at a place; value is all zero. Of its bases these
 * are known here: PROBE_VARIABLE, PROBE_PARAM, PROBE_SYMBOL, PROBE_RETVAL,
 * PROBE_REGISTER; the others are EINVAL ($params and $vars are written out by
 * pb_dwarf_place_variables()).
 *
 * ENOENT: no such variable, or member (near names, those that there are);
 * EINVAL: a path that the types do not allow. Otherwise value is filled: with
 * pieces, or with the obstacle.
 *
 * Integers come as their raw bits: who reads them extends the sign from
 * value->bit_size or value->size.
 */
struct error *pb_dwarf_place_arg(struct dwarf_image *image, const struct dwarf_place *place,
				 const struct probe_arg *arg, struct fetch_value *value);

struct dwarf_variable {
	const char *name, *type;
	const char *obstacle; /* why it cannot be read there; NULL: it can */
	bool is_parameter;
	bool is_global; /* of the unit, not of the function: never part of $vars */
};
typedef struct error *pb_dwarf_variable_fn(void *ctx, const struct dwarf_variable *variable);
/* Parameters in their order, then locals from the outermost scope to the innermost; a name that
 * hides another comes alone. with_globals: then the unit's variables. */
struct error *pb_dwarf_place_variables(struct dwarf_image *image, const struct dwarf_place *place,
				       bool with_globals, pb_dwarf_variable_fn *fn, void *ctx);

typedef struct error *pb_dwarf_name_fn(void *ctx, const char *name);
/* The functions that have code and whose names match the glob; each name once, in no order. */
struct error *pb_dwarf_functions(struct dwarf_image *image, const char *glob, pb_dwarf_name_fn *fn,
				 void *ctx);

struct dwarf_line {
	const char *file;
	uint32_t line;
	uint32_t first;	   /* the line of the definition's function; 1 for a file */
	bool can;	   /* code begins on it */
	uint32_t n_places; /* how many a definition of it has; 0: not counted (of a file) */
};
/*
 * The source line of the code at an address of the ELF file. The path is as the line table has it,
 * and belongs to the image; NULL: not known. ENOMEM: it may be known.
 */
struct error *pb_dwarf_line_at(struct dwarf_image *image, uint64_t address, const char **file,
			       uint32_t *line);

/* A function that has the code at an address, or has it by a copy that is inlined there. */
struct dwarf_frame {
	const char *name; /* its linkage name, if it has one; of the image; NULL: not known */
	/*
	 * Of the innermost function the line of the code, of others the line at which the one
	 * before is called; a path as of pb_dwarf_line_at(); NULL: not known.
	 */
	const char *file;
	uint32_t line;
};
#define DWARF_MAX_FRAMES 129
/*
 * The functions at an address of the ELF file: the innermost inlined one first, the function that
 * is out of line last; *n 0: not known.
 */
struct error *pb_dwarf_frames_at(struct dwarf_image *image, uint64_t address,
				 struct dwarf_frame frames[DWARF_MAX_FRAMES], size_t *n);

typedef struct error *pb_dwarf_line_fn(void *ctx, const struct dwarf_line *line);
/* The lines of the definition's function from first to last, or those of its file. */
struct error *pb_dwarf_lines(struct dwarf_image *image, const struct probe_def *def,
			     pb_dwarf_line_fn *fn, void *ctx);

#endif
