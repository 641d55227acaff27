/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An object in memory, and how it is opened: private to lib/object/. Arrays of functions,
 * programs and maps are filled at open and do not move afterwards, so pointers into them
 * last as long as the object. Names and section bytes point into the ELF file.
 *
 * prepare.h is what lays programs out and resolves what they refer to, load_object.h what
 * gives them to the kernel.
 */
#ifndef PB_OBJECT_OPEN_H
#define PB_OBJECT_OPEN_H

#include <bpf/btf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/edge.h"
#include "lib/base/failure.h"
#include "lib/base/hash.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "lib/btf/ext.h"
#include "lib/core/core.h"
#include "lib/elf/elf_read.h"
#include "lib/object/object.h"
#include "lib/sys/bpf_syscall.h"
#include "lib/sys/uapi.h"

/* The relocations of BPF objects: Documentation/bpf/llvm_reloc.rst. */
#define R_BPF_64_64    1 /* ld_imm64 */
#define R_BPF_64_ABS64 2
#define R_BPF_64_ABS32 3
#define R_BPF_64_32    10 /* call */

/* The verifier itself takes no longer programs (BPF_COMPLEXITY_LIMIT_INSNS). */
#define PROGRAM_INSNS_MAX 1000000
/* All programs of an object together, subprograms counted for each. */
#define OBJECT_INSNS_MAX 16000000

enum relo_kind {
	RELO_MAP,	 /* ld_imm64 of a map */
	RELO_DATA,	 /* ld_imm64 of a variable in a data section's map */
	RELO_CALL,	 /* call of a function */
	RELO_FUNC,	 /* ld_imm64 of a function's address, for callbacks */
	RELO_KCONFIG,	 /* ld_imm64 of a variable in the .kconfig map */
	RELO_KSYM,	 /* ld_imm64 of a symbol of the kernel */
	RELO_KFUNC,	 /* call of a function of the kernel */
	RELO_ZERO,	 /* ld_imm64 of a weak symbol that is not there */
	RELO_NO_CALL,	 /* call of a weak kernel function that is not there */
	RELO_JUMP_TABLE, /* ld_imm64 of a table of addresses in the program */
};

struct relo {
	uint32_t insn; /* number of the instruction within its section */
	enum relo_kind kind;
	uint32_t index;	  /* of the map, the function, or the extern; of a table's first byte */
	int32_t addend;	  /* RELO_DATA: offset in the section; RELO_JUMP_TABLE: its bytes */
	const char *name; /* the symbol, for messages */
};

/* A section with code. */
struct code_section {
	const struct elf_section *sec;
	const struct bpf_insn *insns; /* aligned */
	void *copy; /* what insns points to when the file's bytes are unaligned, or swapped */
	size_t n;
	VEC(struct relo) relos; /* ascending by insn */
	size_t first_function;	/* of obj->functions, which are sorted by section and place */
	size_t n_functions;
	bool is_text; /* its functions are subprograms */
	const struct btf_ext_section *func_info, *line_info, *core_relos;
};

struct function {
	const char *name;
	uint32_t code;	/* index of its code section */
	uint32_t start; /* its first instruction in the section */
	uint32_t n;
	bool is_global;
	bool is_weak;
};

/* A function's place in a prepared program. */
struct placed {
	uint32_t function;
	uint32_t at; /* its first instruction in the program */
};

/* What the caller has registered for a section; see handlers.c. */
struct program_handler {
	int id; /* 0: none */
	char *section;
	enum bpf_prog_type type;
	enum bpf_attach_type attach_type;
	long cookie;
	libbpf_prog_setup_fn_t setup;
	libbpf_prog_prepare_load_fn_t prepare_load;
	libbpf_prog_attach_fn_t attach;
};

/* What an instance was loaded for. */
struct instance_target {
	enum bpf_prog_type type;
	enum bpf_attach_type attach_type;
	uint32_t btf_id;
};

/* One of a program's instances. */
struct program_instance {
	int fd;	    /* -1: it was skipped */
	bool owner; /* else it is the fd of an equal one before it */
	struct instance_target target;
};

struct bpf_program {
	struct bpf_object *obj;
	const struct function *fn;
	const char *section_name;
	struct section_info section;
	struct program_handler handler;

	enum bpf_prog_type type;
	enum bpf_attach_type attach_type;
	uint32_t flags;
	uint32_t ifindex;
	bool autoload;
	bool patched;  /* what it refers to is in its instructions */
	bool kept_out; /* bpf_program__set_autoload(…, false): a struct goes without it */
	bool autoattach;
	uint32_t exception_callback; /* 1 + index of the function; 0: none */
	bool one_place;		     /* see choose_attach_type() */
	enum program_return returns; /* see relocate.c */

	/* Until prepare the file's; then, where anything was to be done, owned. */
	const struct bpf_insn *insns;
	size_t n_insns;
	struct bpf_insn *owned_insns;
	struct bpf_insn *set_insns; /* the caller's, in place of the file's; owned; NULL: none */
	VEC(struct placed) placed;  /* ascending by place; the program itself is the first */

	struct bpf_func_info *func_info;
	uint32_t n_func_info;
	struct bpf_line_info *line_info;
	uint32_t n_line_info;

	char *attach_target;   /* set by the user; NULL: what the section says */
	int attach_prog_fd;    /* 0: the kernel */
	int attach_btf_obj_fd; /* of a module; 0: vmlinux */
	uint32_t attach_btf_id;
	bool ops_used; /* struct_ops: a struct has it */

	uint32_t log_level;
	char *log_buf; /* the user's */
	size_t log_size;

	bpf_program_prep_t prep; /* NULL: one instance, as it is; or: */
	program_form_fn *form;
	void *form_ctx;
	int n_instances;
	const struct bpf_insn *gate; /* borrowed; n_gate */
	size_t n_gate;
	struct program_instance *instances; /* n_instances, once loaded so; else NULL */

	int fd; /* of the first instance */
};

enum map_origin {
	MAP_LEGACY, /* struct bpf_map_def SEC("maps") */
	MAP_BTF,    /* .maps */
	MAP_DATA,   /* .data, .bss and named ones */
	MAP_RODATA,
	MAP_KCONFIG,
	MAP_INNER, /* the shape of a map's inner maps */
	MAP_STRUCT_OPS,
};

/* A struct of the kernel's whose members are programs; see struct_ops.c. */
struct struct_ops {
	uint32_t type_id; /* of the struct, in the object's BTF */
	uint32_t size;
	void *data;		       /* the struct as the user sees it */
	struct bpf_program **programs; /* of each member; NULL: none */

	void *value;	   /* the kernel's, once it was matched */
	uint32_t value_id; /* of its type in the kernel's BTF, or a module's: */
	int btf_fd;	   /* -1: the kernel itself */
	uint32_t *places;  /* of each member's program, as byte of the value; 0: nowhere */
};

struct bpf_map {
	struct bpf_object *obj;
	const char *name;	 /* what the user calls it */
	const char *kernel_name; /* what the kernel is told, at most 15 bytes of it */
	char *owned_name;
	enum map_origin origin;
	uint32_t section; /* ELF section; 0: none */
	uint64_t offset;  /* of the definition in it */

	uint32_t type;
	uint32_t key_size;
	uint32_t value_size;
	uint32_t max_entries;
	uint32_t flags;
	uint32_t numa_node;
	uint32_t ifindex;
	uint64_t extra;
	uint32_t btf_key_type_id;
	uint32_t btf_value_type_id;

	const void *file_data; /* data maps: the section's bytes; NULL: zeros */
	void *mapped;	       /* the initial value once it was asked for; later the map itself */
	size_t mapped_size;

	const void *arena_data; /* what the variables of an arena begin with; NULL: zeros */
	uint32_t arena_data_size;
	struct struct_ops *ops;	       /* MAP_STRUCT_OPS: owned; else NULL */
	struct bpf_map *inner;	       /* owned */
	struct bpf_program *exclusive; /* the only one that may use it; NULL: all may */
	int inner_fd;		       /* set by the user, owned; -1: none */
	char *pin_path;
	bool pinned;
	bool pinned_by_load; /* when that fails, the name goes again */
	bool autocreate;
	bool autoattach;
	bool reused;
	bool is_new;		/* created by us, not found */
	uint32_t values_offset; /* of the member `values` in the definition; 0: none */
	int fd;
};

/* What a map of maps or a program array holds from the start. */
struct map_value {
	uint32_t map; /* index of the map that holds it */
	uint32_t key;
	uint32_t target; /* index of the program or the map */
	bool is_prog;
};

/* The map of a jump table, as one program has it. */
struct jump_table {
	const struct bpf_program *prog;
	uint32_t offset; /* in its section */
	int fd;
};

/* A module of the kernel that is loaded and has BTF; see module_btf.c. */
struct loaded_module {
	char *name;	   /* "": it was unloaded meanwhile */
	uint32_t id;	   /* of its BTF; 0: not known, it is read from sysfs */
	uint32_t fd_index; /* in the object's module_fds; 0: none yet */
	struct btf *btf;   /* NULL: not read yet; or: */
	bool tried;	   /* it could not be read */
};

struct loaded_modules {
	VEC(struct loaded_module) v;
	bool listed;
	const struct btf **btfs; /* of those that could be read */
	const char **names;
};

struct bpf_object {
	char *name;
	char *path; /* for messages */
	const struct log *log;
	struct elf_file *elf;
	const struct elf_section *symtab;
	VEC(struct elf_symbol) symbols;

	char license[64];
	uint32_t kversion;
	const struct elf_section *config;
	const struct elf_section *maps_section;
	const struct elf_section *btf_maps_section;
	const struct elf_section *jump_tables_section;

	struct btf *btf; /* NULL: none */
	struct btf_ext *btf_ext;
	int btf_fd;

	VEC(struct code_section) codes;
	uint32_t *code_of_section; /* by ELF section: 1 + index of codes; 0: no code */
	VEC(struct function) functions;
	VEC(struct bpf_program) programs;
	VEC(struct bpf_map) maps;
	uint32_t *map_of_section;   /* by ELF section: 1 + index of the data map; 0: none */
	struct u64map map_by_place; /* place_key() to 1 + index of the map */
	VEC(struct map_value) map_values;
	VEC(struct jump_table) jump_tables;
	uint32_t kconfig_map;  /* 1 + index; 0: none */
	struct strmap externs; /* name to struct extern_var */
	struct extern_var *extern_vars;
	size_t n_extern_vars;
	char *kconfig_text; /* lines CONFIG_…=… of the user's */
	bool kallsyms_read;
	VEC(int) module_fds; /* BTF of modules that kernel functions are in; the first is none */

	char *token_path; /* NULL: the usual one; "": none */
	int token_fd;	  /* 0: none */
	bool relaxed_maps;
	char *pin_root;
	char *btf_custom_path;
	char *kernel_log_buf;
	size_t kernel_log_size;
	uint32_t kernel_log_level;

	struct btf *vmlinux;	       /* loaded when first needed */
	struct loaded_modules modules; /* the same */
	struct btf *custom_btf;
	struct core *core;

	struct loss_counters *losses; /* NULL: not wanted */

	void *attach_data; /* lib/attach's */
	void (*free_attach_data)(void *data);

	enum {
		OBJECT_OPEN,
		OBJECT_PREPARED,
		OBJECT_LOADED,
		OBJECT_FAILED,
	} state;
};

/* An extern variable or function that the object's BTF declares. */
struct extern_var {
	const char *name;
	uint32_t type_id; /* of the variable's type, or the function's prototype */
	bool is_kconfig;  /* else a kernel symbol */
	bool is_func;
	bool is_weak;
	bool is_used;	  /* a relocation refers to it */
	bool is_known;	  /* kconfig: it has a value */
	bool is_resolved; /* ksym: it was looked for; found when one of these is not 0: */
	uint32_t btf_id;
	uint64_t address;
	bool is_at_zero;	  /* or this is true */
	bool is_asked, is_number; /* ksym: a function whose address the kernel refuses */
	uint32_t module;	  /* ksym: index in module_fds; 0: the kernel itself */
	uint32_t offset;	  /* kconfig: in the .kconfig map */
	uint32_t size;
};

static inline uint64_t place_key(uint32_t section, uint64_t offset)
{
	return (uint64_t)section << 40 ^ offset;
}

/* "filter.o: MESSAGE" */
struct error *object_error_at(const struct bpf_object *obj, struct error *err);

/*
 * open_object.c: an empty map at the end of obj->maps, defined at a place (section 0:
 * nowhere); name is borrowed. NULL: no memory. Valid until the next one.
 */
struct bpf_map *object_add_map(struct bpf_object *obj, enum map_origin origin, const char *name,
			       uint32_t section, uint64_t offset);
/* The map defined at a place: its index; -1: none. */
long object_map_at(const struct bpf_object *obj, uint32_t section, uint64_t offset);

/* maps_legacy.c, maps_btf.c, global_data.c: find maps. */
struct error *maps_legacy_find(struct bpf_object *obj);
struct error *maps_btf_find(struct bpf_object *obj);
struct error *data_maps_find(struct bpf_object *obj);
/* global_data.c: the name of a section's map; the caller's. NULL: no memory. */
char *data_map_name(const struct bpf_object *obj, const char *section);
/* global_data.c: bytes that a map's value takes when it is mapped. */
size_t map_data_size(const struct bpf_map *map);

/*
 * map_arena.c: the variables in an arena; their bytes (NULL: no memory, or
 * there are none), which move when it is mapped.
 */
struct error *arena_find(struct bpf_object *obj);
void *arena_initial_value(struct bpf_map *map, size_t *size);

/* map_create.c: a ring buffer's size must be a power of two pages. */
static inline bool is_ring(uint32_t type)
{
	return type == BPF_MAP_TYPE_RINGBUF || type == BPF_MAP_TYPE_USER_RINGBUF;
}
uint32_t ring_size(uint32_t bytes);
void map_deinit(struct bpf_map *map);

/* externs.c */
struct error *externs_find(struct bpf_object *obj);
/* What an undefined symbol is; relo's kind, index and addend are filled in. */
struct error *extern_relo(struct bpf_object *obj, const struct elf_symbol *sym, bool is_call,
			  struct relo *relo);

/* map_values.c: reads the relocations of .maps. */
struct error *map_values_read(struct bpf_object *obj, const struct elf_section *rel);
/* map_values.c: the program that begins at a byte of a section, as its index; -1: none. */
long program_at(const struct bpf_object *obj, uint32_t section, uint64_t place);

/* struct_ops.c: the structs, and the programs they refer to. */
bool is_struct_ops_section(const char *name);
struct error *struct_ops_find(struct bpf_object *obj);
struct error *struct_ops_read(struct bpf_object *obj, const struct elf_section *sec,
			      const struct elf_section *rel);
void struct_ops_free(struct struct_ops *ops);

/* sections.c: adds the kinds whose names are near to a section's; false: none. */
bool section_nearest(const char *name, struct strbuf *sb);

/*
 * handlers.c: the handler of a section, and the one for sections that nobody
 * knows; false: there is none. Their setup, at the end of open.
 */
bool handler_find(const char *section, struct program_handler *found);
bool handler_fallback(struct program_handler *found);
struct error *handlers_setup(struct bpf_object *obj);

/* programs.c: functions and programs. */
struct error *programs_find(struct bpf_object *obj);
/* The function that starts at an instruction of a code section; -1: none. */
long function_at(const struct bpf_object *obj, uint32_t code, uint32_t insn);

/* exceptions.c: the functions that programs' tags name. */
struct error *exception_callbacks_find(struct bpf_object *obj);

/* relos.c: reads the relocations of all code sections. */
struct error *relos_read(struct bpf_object *obj);
/* jump_tables.c: what an ld_imm64 of a table is. */
struct error *jump_table_relo(const struct bpf_object *obj, const struct elf_symbol *sym,
			      struct relo *relo);

/* What an object that is closed has from later: module_btf.c, jump_tables.c, instances.c. */
void modules_deinit(struct loaded_modules *modules);
void jump_tables_close(struct bpf_object *obj);
void loss_counters_free(struct loss_counters *losses);
void instances_unload(struct bpf_program *prog);

/* object_btf.c */
struct error *object_btf_open(struct bpf_object *obj);

/* token.c: path is bpf_token_path of the options. */
struct error *token_path_set(struct bpf_object *obj, const char *path);

/* accessors.c: KERNEL_VERSION(a, b, c) of the running kernel. */
uint32_t host_kernel_version(void);

#endif
