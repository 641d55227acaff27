/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CO-RE, compile once run everywhere: an object records, for each instruction
 * that depends on the layout of a kernel type, which type and which field it
 * means. Here these are found in the target's BTF, and the instructions are
 * patched. Pure functions over memory; nothing is asked of the kernel.
 *
 * A relocation that has no match poisons its instruction: it becomes a call
 * of a helper that does not exist, which the verifier refuses only when the
 * instruction can be reached. Programs rely on that to guard accesses by
 * bpf_core_field_exists(). core_explain() turns the verifier's complaint
 * ("invalid func unknown#2003000007") back into words.
 */
#ifndef PB_CORE_CORE_H
#define PB_CORE_CORE_H

#include <linux/bpf.h>

#include "lib/base/strbuf.h"
#include "lib/btf/ext.h"

/* enum bpf_core_relo_kind of the kernel's linux/bpf.h (5.17). */
enum core_relo_kind {
	CORE_FIELD_BYTE_OFFSET = 0,
	CORE_FIELD_BYTE_SIZE = 1,
	CORE_FIELD_EXISTS = 2,
	CORE_FIELD_SIGNED = 3,
	CORE_FIELD_LSHIFT_U64 = 4,
	CORE_FIELD_RSHIFT_U64 = 5,
	CORE_TYPE_ID_LOCAL = 6,
	CORE_TYPE_ID_TARGET = 7,
	CORE_TYPE_EXISTS = 8,
	CORE_TYPE_SIZE = 9,
	CORE_ENUMVAL_EXISTS = 10,
	CORE_ENUMVAL_VALUE = 11,
	CORE_TYPE_MATCHES = 12,
};

/* What a relocation comes to. */
struct core_result {
	uint64_t orig_val; /* what the compiler wrote */
	uint64_t new_val;
	uint32_t orig_size; /* of the field, for loads and stores; 0: not to be adjusted */
	uint32_t new_size;
	bool validate;	   /* the instruction must hold orig_val now */
	bool poison;	   /* no match; new_val means nothing */
	bool resize_fails; /* the field's size changed in a way no load can follow */
};

/* The imm of a poisoned instruction is this plus the number of the record. */
#define CORE_POISON_BASE 2003000000

struct core;

/*
 * The BTF of the kernel's modules: split BTF over the kernel's own. All is
 * borrowed and outlives the core.
 */
struct core_modules {
	const struct btf *const *btfs;
	const char *const *names;
	size_t n;
	size_t unread; /* modules whose BTF exists but could not be read */
};
typedef struct error *core_modules_fn(void *ctx, struct core_modules *modules);

/*
 * local is the object's BTF; target is the kernel's (or the given file's).
 * Both are borrowed and outlive the core. The candidates found for a type are
 * kept, so one core serves a whole object.
 */
struct error *core_new(const struct btf *local, const struct btf *target, struct core **out);
/*
 * Where to look for types that the target does not have. fn is called at the
 * first of these types and not again: reading all modules takes time, and most
 * objects need none of them.
 */
void core_set_modules(struct core *core, core_modules_fn *fn, void *ctx);
void core_free(struct core *core);
DEFINE_FREEP(struct core, core_free)

/*
 * One relocation: result in *out. Fails on malformed input (EINVAL), and when
 * the targets' candidates give different answers (ENOTUNIQ).
 */
struct error *core_resolve(struct core *core, const struct btf_core_relo *relo,
			   struct core_result *out);

/*
 * Resolves relo and patches insns[idx] (of n). prog is for errors and
 * explanations, borrowed for the call.
 */
struct error *core_relocate(struct core *core, const struct btf_core_relo *relo, const char *prog,
			    struct bpf_insn *insns, size_t n, size_t idx);

/*
 * For a poisoned call's imm: "field struct task_struct.foo.bar does not exist
 * in the kernel" and the like; NULL: the imm is none of ours. It is core's.
 */
const char *core_explain(const struct core *core, int32_t imm);
/* Whether the type itself was found neither in the target nor in its modules. */
bool core_lacks_type(const struct core *core, int32_t imm);

/* Names in the target near to what the poisoned instruction means, each in quotes; or nothing. */
struct error *core_nearest(const struct core *core, int32_t imm, struct strbuf *sb);

/*
 * Whether a function or variable that the object declares, of type local_id, is
 * what the kernel has, of type targ_id: the same kinds of types throughout, as
 * many parameters; names count for nothing. Needs no struct core.
 */
struct error *core_declared_compat(const struct btf *local, uint32_t local_id,
				   const struct btf *targ, uint32_t targ_id, bool *yes);

#endif
