/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of probe/point share. */
#ifndef PB_PROBE_POINT_INTERNAL_H
#define PB_PROBE_POINT_INTERNAL_H

#include "lib/base/hash.h"
#include "lib/base/names.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "lib/btf/open.h"
#include "lib/elf/elf_read.h"
#include "probe/fetch/regs.h"
#include "probe/point/point.h"
#include "sym/sym.h"

/* No chain of types is followed deeper: BTF that was made by hand may have cycles. */
#define TYPE_DEPTH_MAX 32

/* ---- spot.c: a fetch program under construction ---- */

/* Where a value is: what the program pushes. */
enum spot_is {
	SPOT_VALUE,   /* the value itself, from bit_offset on */
	SPOT_ADDRESS, /* its address, to which offset is to be added */
	SPOT_WORDS,   /* a struct in registers: a word each, the value begins at byte offset */
};

#define SPOT_MAX_WORDS 2

struct spot {
	enum spot_is is;
	VEC(struct fetch_insn) code;
	struct fetch_insn words[SPOT_MAX_WORDS];
	uint8_t n_words;
	bool user;  /* the memory is the process's */
	bool typed; /* of SPOT_ADDRESS: within a struct to which the kernel types the pointer */
	int64_t offset;
	uint32_t bit_offset;
	uint32_t bit_size; /* of a bit field, else 0 */
};

void spot_deinit(struct spot *spot);
#define _cleanup_spot_ _cleanup_(spot_deinit)

struct error *spot_push(struct spot *spot, struct fetch_insn insn);
/* A word or a value becomes the address that it holds. */
struct error *spot_follow(struct spot *spot, bool typed);

/* What a value is, as its type says. */
struct arg_shape {
	enum fetch_kind kind;
	uint32_t size; /* 0: not known */
	bool is_known; /* false: no type says anything */
	bool is_signed;
	bool is_array;	  /* of FETCH_BYTES, and char arrays: the bytes are the string's */
	bool is_text;	  /* a char array */
	bool is_ended;	  /* and a 0 is always within it */
	bool user;	  /* a pointer to the process's memory */
	const char *type; /* its text; NULL: not known */
};

/*
 * The argument's value out of where it is, what it is, and the type that was asked for; the name is
 * the argument's. value is all zero. text is the definition's, for errors. The spot is used up.
 */
struct error *spot_finish(struct spot *spot, const struct arg_shape *shape, const char *text,
			  const struct probe_arg *arg, struct fetch_value *value);

/* Arguments that need no type: registers, the stack, $comm, $argN, a symbol's address. */
struct untyped {
	const struct regs *regs;
	const char *text; /* the definition's */
	bool at_entry, at_return;
	bool user; /* the image is a process's */
	/* A symbol's address: of the image, or where it is in the kernel; false: there is none. */
	bool (*symbol)(void *ctx, const char *name, uint64_t *address);
	void *ctx;
};
/* Whether the base is one of them; $argN and $retval are without types. */
bool arg_is_untyped(const struct probe_arg *arg);
struct error *untyped_value(const struct untyped *where, const struct probe_arg *arg,
			    struct fetch_value *value);

/* An argument's name that stands for it in the recording. */
struct error *value_name(struct fetch_value *value, const char *name);
struct error *value_obstacle(struct fetch_value *value, const char *fmt, ...) _printf_(2, 3);

/* ---- btf_params.c: where the parameters of a function are ---- */

struct param {
	const char *name; /* "" has none */
	uint32_t type;
	bool in_memory; /* code pushes its address: the stack, or by reference */
	struct fetch_insn words[SPOT_MAX_WORDS];
	uint8_t n_words;
	const char *obstacle; /* static; NULL: none */
};

struct params {
	VEC(struct param) v;
	uint16_t n_words; /* as fentry counts them */
};

/* proto is a FUNC_PROTO's id; params is all zero. */
struct error *params_place(const struct btf *btf, uint32_t proto, uint16_t machine,
			   struct params *params);
/* What the function returns; an obstacle where that cannot be told. */
struct param params_returned(const struct btf *btf, uint32_t proto, uint16_t machine);

/* ---- btf_path.c: along a path through BTF's types ---- */

/* "struct file *", as C has it. */
void btf_type_text(const struct btf *btf, uint32_t id, struct strbuf *out);

/* The value of a parameter, along arg's steps; text is the definition's. */
struct error *btf_value(const struct btf *btf, const struct param *param, const char *text,
			const struct probe_arg *arg, struct fetch_value *value);

/* ---- kernel.c: kallsyms and the kernel's BTF ---- */

struct kernel;
struct error *kernel_new(const struct finder_opts *opts, struct kernel **out);
void kernel_free(struct kernel *kernel);
DEFINE_FREEP(struct kernel, kernel_free)

/* A function of the kernel. */
struct kfunc {
	const char *name;
	const char *module; /* NULL: the kernel proper */
	uint64_t address;   /* 0: hidden */
	uint32_t same;	    /* how many have this name, in the kernel and all modules */
};

struct kfuncs {
	VEC(struct kfunc) v;
};

/*
 * The functions of that name or pattern, of the kernel and of its modules or of one module. None
 * at all is no error.
 */
struct error *kernel_functions(struct kernel *kernel, const char *module, const char *name,
			       bool is_glob, struct kfuncs *funcs);
/* Names that are near to one that there is none of, for a hint; false: none. */
bool kernel_near(struct kernel *kernel, const char *module, const char *name, struct strbuf *out);
/* "vfs_read.isra.0", "vfs_read.cold": what the compiler made of the function; false: nothing. */
bool kernel_variants(struct kernel *kernel, const char *name, struct strbuf *out);
/*
 * The address of a symbol of the kernel proper or of a module, of data too; how many there are
 * (n_same may be NULL). false: none, or the addresses are hidden.
 */
bool kernel_symbol(struct kernel *kernel, const char *name, const char *module, uint64_t *address,
		   size_t *n_same);

/* Where the next symbol begins, after a function's first byte; 0: not known. */
uint64_t kernel_function_end(struct kernel *kernel, uint64_t address);

struct kernel_func {
	const struct btf *btf;
	uint32_t id;	/* of the FUNC */
	uint32_t proto; /* of its FUNC_PROTO */
	bool ambiguous; /* BTF has several of that name, with different parameters */
};
/* *found false: BTF does not have the function, or there is no BTF. */
struct error *kernel_func_find(struct kernel *kernel, const char *module, const char *name,
			       struct kernel_func *func, bool *found);

/* ---- user.c: the functions of a binary ---- */

struct user;
struct error *user_open(const char *name, const struct finder_opts *opts, struct user **out);
void user_free(struct user *user);
DEFINE_FREEP(struct user, user_free)
/* A stripped binary's symbols are also in the file with its debug information, aliases too. */
struct error *user_read_debug(struct user *user, const char *path);
const char *user_path(const struct user *user);
uint16_t user_machine(const struct user *user);

struct user_func {
	const char *name;  /* the symbol's, mangled */
	const char *shown; /* demangled; NULL: it is not mangled */
	uint64_t address, size;
	uint64_t file_offset;
};

struct user_funcs {
	VEC(struct user_func) v;
};
/* By address, one for each address; shown is the user's. */
struct error *user_functions(struct user *user, const char *name, bool is_glob,
			     struct user_funcs *funcs);
/* The one that contains the address; its name is the symbol's. False: none. */
bool user_function_at(const struct user *user, uint64_t address, struct user_func *func);
/* The i-th name of the function at an address; NULL: there are no more. */
const char *user_name_at(const struct user *user, uint64_t address, size_t i);
bool user_near(struct user *user, const char *name, struct strbuf *out);
bool user_file_offset(const struct user *user, uint64_t address, uint64_t *offset);
/* Why the file has no code at the address that could be probed; static. NULL: it has. */
const char *user_no_code(const struct user *user, uint64_t address);
/* The name is that of an indirect function: its symbol is what chooses the code, not the code. */
bool user_is_indirect(const struct user *user, const char *name);
/* As binary_implementations() of lib/attach/attach.h. */
struct error *user_implementations(const struct user *user, const char *name, struct strbuf *out);
/* EOPNOTSUPP as of binary_check_returns() (lib/attach/attach.h). */
struct error *user_check_returns(const struct user *user);
/* Of functions and data. */
bool user_symbol(struct user *user, const char *name, uint64_t *address);
/* Whether there is a table of symbols beyond the dynamic ones. */
bool user_has_symtab(const struct user *user);

struct probe_finder;
struct return_offsets {
	uint64_t *v;
	size_t n, cap;
};
/* A definition of the return of a function of Go becomes one of its first return instruction. */
struct error *user_go_return(const struct probe_finder *finder, struct user *user,
			     struct probe_def *def);
/* Where a function's return instructions are, from its first byte. EOPNOTSUPP: that is not sure. */
struct error *user_return_offsets(const struct probe_finder *finder, const struct user *user,
				  const struct user_func *func, struct return_offsets *out);
/* boundary.c. EILSEQ: no instruction begins at the point, as far as that can be told. */
struct error *user_check_boundary(const struct probe_finder *finder, const struct user *user,
				  const struct probe_point *point);

/* refused.c: of all the points, which the kernel refuses. */
struct error *user_refuse_points(const struct probe_finder *finder, const struct user *user,
				 struct probe_points *points);

/* ---- arg_columns.c: arguments become the columns of all points ---- */

struct columns;
struct error *columns_new(const struct probe_def *def, struct columns **out);
void columns_free(struct columns *columns);
DEFINE_FREEP(struct columns, columns_free)
/*
 * Takes a value of a point (its number in the list) for the arg-th argument of the definition. The
 * name tells values of $params and $vars apart. value is emptied.
 */
struct error *columns_add(struct columns *columns, size_t point, size_t arg,
			  struct fetch_value *value);
/* Gives each point its args; drops those with obstacles, unless force. */
struct error *columns_close(struct columns *columns, bool force, const struct log *log,
			    struct probe_points *points);

/* ---- gather.c: points as they are found ---- */

struct probe_finder;

/* By address. Of the names of one function the public one is first: with fewer '_' before it. */
int function_order(uint64_t a, const char *a_name, uint64_t b, const char *b_name);

/* Points that are none, since something could not be read there: how many, and -vv has each. */
struct left_out {
	size_t n;
	VEC(char *) names;
	struct strmap seen; /* of names: one may be tried again by another source */
	struct strbuf some; /* the first few, and why */
};
void left_out_deinit(struct left_out *out);
#define _cleanup_left_out_ _cleanup_(left_out_deinit)
/* function is where it has been inlined, or NULL. */
void left_out_add(struct left_out *out, const struct log *log, const char *name,
		  const char *function, const char *why);
void left_out_tell(const struct left_out *out, const struct log *log, enum log_level level);

struct gather {
	struct probe_finder *finder;
	const struct probe_def *def;
	struct probe_points *points;
	struct columns *columns;
	size_t n_places;   /* that DWARF had, also those that lack an argument */
	uint64_t from, to; /* of DWARF's places only those at these addresses; 0, 0: all */
	struct left_out left_out;
};

/* The values of one point, before it is known that it becomes one. */
struct pending_value {
	size_t arg;
	struct fetch_value value;
};
struct pending {
	VEC(struct pending_value) v;
};
void pending_deinit(struct pending *pending);
#define _cleanup_pending_ _cleanup_(pending_deinit)
/* A value to be filled; NULL: no memory. */
struct fetch_value *pending_add(struct pending *pending, size_t arg);

/* Takes the point, whose args are NULL yet, and its values. Both are emptied, on failure too. */
struct error *gather_point(struct gather *g, struct probe_point *point, struct pending *pending);
void point_deinit(struct probe_point *point, size_t n_args);
#define _cleanup_point_ _cleanup_(point_release)
static inline void point_release(struct probe_point *point)
{
	point_deinit(point, 0);
}

/* ---- what a finder holds ---- */

struct dwarf_image;
struct image_entry {
	char *key; /* of a user's binary its path, of a module its name, "" is the kernel */
	bool is_user;
	struct dwarf_image *image; /* NULL: there is no debug information */
	int code;		   /* then why */
	char *msg, *hint;
};

struct user_entry {
	char *name;
	struct user *user;
};

struct probe_finder {
	struct finder_opts opts;
	struct kernel *kernel;
	uint16_t machine; /* of the kernel */
	VEC(struct user_entry) users;
	VEC(struct image_entry) images;
	bool have_bias;
	uint64_t bias;			/* KASLR: kallsyms' addresses less vmlinux's */
	struct finder_process *process; /* with opts.confine, from the first question on */
};

struct error *finder_user(struct probe_finder *finder, const char *exec, struct user **out);

/* ---- kernel_points.c, user_points.c, pb_dwarf_points.c ---- */

struct error *kernel_points(struct gather *g);
struct error *user_points(struct gather *g);
/*
 * A word before ':' that looks like a file may be a function of the binary (Go's "main.many"): then
 * def->file becomes def->function.
 */
struct error *user_resolve(struct user *user, struct probe_def *def, bool *changed);
/*
 * Whether the definition's FUNC is the name of a function as it stands, whatever of a glob is in it
 * ("operator*", "<[u8]>::len"), and what the linker calls that function, if otherwise; else NULL.
 */
struct error *user_literal(struct user *user, const struct probe_def *def, bool *is_literal,
			   const char **linkage);

/*
 * The image with debug information of a user's binary, or (NULL) of the kernel or a module. ENODATA
 * and the like as of pb_dwarf_image_open(), each time anew.
 */
struct error *finder_image(struct probe_finder *finder, const struct user *user, const char *module,
			   struct dwarf_image **out);
/* The same, when there is one; NULL in *out: there is none, which the log tells. */
struct error *finder_image_if_any(struct probe_finder *finder, const struct user *user,
				  const char *module, struct dwarf_image **out);
/* All places of the definition, or (inlined_only) its inlined copies. */
struct error *pb_dwarf_points(struct gather *g, struct dwarf_image *image, struct user *user,
			      const char *module, bool inlined_only);
struct error *pb_dwarf_point_variables(struct probe_finder *finder, struct dwarf_image *image,
				       struct user *user, const char *module,
				       const struct probe_def *def, bool with_globals,
				       probe_variable_fn *fn, void *ctx);
void images_deinit(struct probe_finder *finder);

/* The parameters of the functions that the definition names, by BTF. ENODATA: it has none. */
struct error *kernel_variables(struct probe_finder *finder, const struct probe_def *def,
			       probe_variable_fn *fn, void *ctx);

#endif
