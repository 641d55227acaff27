/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs laid out with their subprograms, and what they refer to, resolved: private to
 * lib/object/.
 */
#ifndef PB_OBJECT_PREPARE_H
#define PB_OBJECT_PREPARE_H

#include "lib/base/sha256.h"
#include "lib/object/open_object.h"

/* relocate.c: lays out each program with its subprograms, and patches it. */
struct error *programs_prepare(struct bpf_object *obj);
/*
 * Descriptors of maps, and symbols of the kernel, into the instructions, which
 * are the program's own, or a copy of them; before_maps: maps are not created
 * yet, and those that will be count as if they were. One that does not
 * leaves a call with MAP_POISON_BASE plus the map's number, below CORE's own. No helper
 * has a number so high.
 */
#define MAP_POISON_BASE 2001000000
struct error *program_patch(struct bpf_program *prog, struct bpf_insn *insns, bool before_maps);

/* exclusive.c: the SHA-256 that the kernel will find for a program that is laid out. */
struct error *exclusive_digest(struct bpf_program *prog, uint8_t digest[SHA256_BYTES]);

/* core_apply.c: CO-RE for all functions of a laid out program. */
struct error *program_apply_core(struct bpf_program *prog);

/* line_info.c: func_info and line_info of a laid out program. */
struct error *program_collect_info(struct bpf_program *prog);

/* attach_target.c: what a program that attaches by BTF attaches to. */
struct error *program_find_target(struct bpf_program *prog);

/* object_btf.c: the running kernel's BTF, loaded once; it is the object's. */
struct error *object_vmlinux(struct bpf_object *obj, const struct btf **btf);

/* module_btf.c: the modules of the running kernel, listed once, without reading their BTF. */
struct error *modules_list(struct bpf_object *obj, struct loaded_modules **modules);
/* The BTF of a module, read once; *btf is NULL where it cannot be read. */
struct error *module_btf(struct bpf_object *obj, struct loaded_module *module,
			 const struct btf **btf);
/* A descriptor of its BTF, which the caller closes. EPERM: that needs CAP_SYS_ADMIN. */
struct error *module_btf_fd(const struct loaded_module *module, int *fd);
/* A core_modules_fn; ctx is the object. */
struct error *modules_for_core(void *ctx, struct core_modules *modules);

/* externs.c: the variables whose values the loader knows, before the maps are created. */
struct error *externs_fill(struct bpf_object *obj);

/* extern_kconfig.c: gives options their values, before the maps are created. */
struct error *kconfig_fill(struct bpf_object *obj);

/* ksyms.c: finds a symbol of the kernel, once; ENOENT: it is nowhere and not weak. */
struct error *ksym_resolve(struct bpf_object *obj, struct extern_var *var);
/* Puts a resolved one into its instructions. */
void ksym_patch(const struct bpf_object *obj, struct extern_var *var, bool is_call,
		struct bpf_insn *insn);
/* A call of no helper: refused only where it can be reached. */
#define NO_SUCH_HELPER 2002000000

/*
 * struct_ops.c: the kernel's side of the structs that will be created, which decides the
 * programs' autoload.
 */
struct error *struct_ops_prepare(struct bpf_object *obj);

/* jump_tables.c: a table's map, and the map's address. */
struct error *jump_table_patch(struct bpf_program *prog, const struct placed *placed,
			       const struct relo *relo, struct bpf_insn *insn);

/* insn_move.c: the records of a program, and how they follow its instructions. */
struct insn_info {
	struct bpf_func_info *funcs;
	uint32_t n_funcs;
	struct bpf_line_info *lines;
	uint32_t n_lines;
};
void insn_info_deinit(struct insn_info *info);
/* Where each of the n old ones is among the m new ones: map[0 … n - 1], -1: nowhere. */
void insns_compare(const struct bpf_insn *old, size_t n, const struct bpf_insn *new, size_t m,
		   int32_t *map);
/* EINVAL: it does not ascend, or leads out of the m new ones. */
struct error *insns_check_map(const int32_t *map, size_t n, size_t m);
struct error *insn_info_move(const struct insn_info *old, const int32_t *map,
			     const struct bpf_insn *new, size_t m, struct insn_info *out);

#endif
