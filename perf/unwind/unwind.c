// SPDX-License-Identifier: BSD-2-Clause
/*
 * The walk: from the registers that the kernel recorded to the outermost frame, one step for each
 * frame. Where the code has no unwind information (a JIT's, or a file that is not there), the
 * frame pointer is tried, as libunwind does; what it leads to must look like a frame and return
 * into executable memory.
 *
 * Maps are looked up without the session's memory of the last one, so that several threads can
 * walk, each with an unwinder of its own.
 *
 * A row belongs to an address within a function. A return address may be the first one behind its
 * function, if the call never returns, so rows of callers are looked up one byte before it.
 */
#include "perf/unwind/unwind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/vec.h"
#include "perf/unwind/unwind_images.h"

#define DEFAULT_FRAMES 127
#define MAX_FRAMES     1024

/* The kernel's numbers of registers in samples, PERF_REG_* in asm/perf_regs.h. */
enum {
	PERF_X86_SP = 7,
	PERF_X86_IP = 8,
	PERF_ARM64_SP = 31,
	PERF_ARM64_PC = 32,
};

/* PERF_SAMPLE_REGS_ABI_64 */
#define ABI_64 2

/* A stack leads through a program and a few libraries. */
#define N_MAPS 4

struct unwinder {
	struct resolver *resolver;
	struct unwind_images *images; /* NULL: no stack was seen yet */
	bool is_arm64;
	bool no_memory; /* for a frame */
	unsigned max;
	bool keeps_outermost;
	const struct map *maps[N_MAPS]; /* of the walk at hand, found lately; NULL: free */
	unsigned next_map;		/* which one makes room */
	struct sample sample;
	VEC(uint64_t) chain;
	struct unwind_counts counts;
};

struct error *unwinder_new(struct resolver *r, unsigned max, bool keeps_outermost,
			   struct unwinder **out)
{
	struct unwinder *u = calloc(1, sizeof(*u));

	if (!u)
		return error_nomem();
	u->resolver = r;
	u->max = max ? min_of(max, (unsigned)MAX_FRAMES) : DEFAULT_FRAMES;
	u->keeps_outermost = keeps_outermost;
	*out = u;
	return NULL;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	unwind_images_free(u->images);
	vec_deinit(&u->chain);
	free(u);
}

/* The architecture is known once the header was read; a pipe's comes as a record. */
static bool open_images(struct unwinder *u)
{
	if (u->images)
		return true;
	struct error *err = unwind_images_new(u->resolver, &u->images);
	error_free(err);
	if (err)
		return false;
	u->is_arm64 = unwind_images_are_arm64(u->images);
	return true;
}

/* The number in DWARF of a register of the kernel's; -1: it has none that we use. */
static int dwarf_number(bool is_arm64, unsigned reg)
{
	static const int8_t x86[] = {0,	 3,  2,	 1,  4, 5, 6,  7,  -1, -1, -1, -1,
				     -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15};

	if (is_arm64)
		return reg <= PERF_ARM64_SP ? (int)reg : -1;
	return reg < ARRAY_SIZE(x86) ? x86[reg] : -1;
}

/* The registers of the innermost frame; false: too few were recorded. */
static bool first_frame(const struct unwinder *u, const struct sample *sample, uint64_t mask,
			struct frame_regs *regs, uint64_t *sp)
{
	const unsigned pc_reg = u->is_arm64 ? PERF_ARM64_PC : PERF_X86_IP;
	const unsigned sp_reg = u->is_arm64 ? PERF_ARM64_SP : PERF_X86_SP;
	uint64_t i = 0;

	regs->known = 0;
	if (!(mask >> pc_reg & 1) || !(mask >> sp_reg & 1) ||
	    sample->user_regs.n < (uint64_t)__builtin_popcountll(mask))
		return false;
	for (unsigned reg = 0; reg < 64; reg++) {
		if (!(mask >> reg & 1))
			continue;
		const uint64_t v = u64_array_at(&sample->user_regs, i++);
		const int number = dwarf_number(u->is_arm64, reg);

		if (number >= 0) {
			regs->value[number] = v;
			regs->known |= 1ull << number;
		}
		if (reg == pc_reg)
			regs->pc = v;
		if (reg == sp_reg)
			*sp = v;
	}
	return true;
}

static bool chain_add(struct unwinder *u, uint64_t ip)
{
	uint64_t *slot = vec_push(&u->chain);

	if (slot)
		*slot = ip;
	u->no_memory |= !slot;
	return slot;
}

static const struct map *find_map(struct unwinder *u, const struct thread *thread, uint64_t addr)
{
	for (unsigned i = 0; i < N_MAPS && u->maps[i]; i++)
		if (addr >= u->maps[i]->start && addr < u->maps[i]->end)
			return u->maps[i];
	const struct map *map = thread_find_map(thread, addr);
	if (map)
		u->maps[u->next_map++ % N_MAPS] = map;
	return map;
}

/* Whether code can be at an address. */
static bool is_code(struct unwinder *u, const struct thread *thread, uint64_t addr)
{
	const struct map *map = find_map(u, thread, addr);

	return map && map->prot & PROT_EXEC;
}

static const struct code_rule *rule_at(struct unwinder *u, const struct thread *thread, uint64_t at)
{
	static const struct code_rule unknown = {.kind = CODE_UNKNOWN};
	const struct map *map = find_map(u, thread, at);

	return map ? unwind_images_find(u->images, map, at) : &unknown;
}

/* To the caller; *rule is the one that was used. */
static enum step_result step(struct unwinder *u, const struct thread *thread,
			     struct stack_copy *stack, const struct frame_regs *regs, uint64_t at,
			     struct frame_regs *next, const struct code_rule **rule)
{
	*rule = rule_at(u, thread, at);
	/* In a system call that does not return (rt_sigreturn), it is the byte behind its function.
	 */
	if ((*rule)->kind == CODE_UNKNOWN && at == regs->pc)
		*rule = rule_at(u, thread, at - 1);
	switch ((*rule)->kind) {
	case CODE_WITH_ROW:
		return step_by_row((*rule)->cfi, &(*rule)->row, stack, regs, next);
	case CODE_PLT_ENTRY:
		return step_at_entry(stack, regs, (*rule)->pushed, next);
	}
	const enum step_result result = step_by_frame_pointer(stack, regs, next);
	return result == STEP_CALLER && !is_code(u, thread, next->pc) ? STEP_FAILED : result;
}

static enum unwind_end walk(struct unwinder *u, const struct thread *thread,
			    struct stack_copy *stack, struct frame_regs *regs)
{
	struct frame_regs other, *next = &other;
	const struct code_rule *rule;
	bool was_interrupted = true; /* so is the innermost frame, by the event */

	memset(u->maps, 0, sizeof(u->maps));
	u->next_map = 0;
	for (unsigned n = 0;;) {
		/* A trampoline is where a signal's handler returns to; nobody called it. */
		const uint64_t at = regs->pc - !was_interrupted;

		stack->missed = false;
		const enum step_result result = step(u, thread, stack, regs, at, next, &rule);
		const bool is_trampoline = rule->kind == CODE_WITH_ROW && rule->row.is_signal;

		if (!chain_add(u, is_trampoline ? regs->pc : at) || ++n == u->max)
			return UNWIND_LIMIT;
		if (result == STEP_OUTMOST)
			return UNWIND_COMPLETE;
		if (result == STEP_FAILED && stack->missed)
			return UNWIND_CUT;
		if (result == STEP_FAILED)
			return rule->kind == CODE_UNKNOWN ? UNWIND_NO_RULES : UNWIND_DAMAGED;
		was_interrupted = is_trampoline;
		struct frame_regs *const done = regs;
		regs = next;
		next = done;
	}
}

/* The number of the kernel's frames that are more than the limit. */
static uint64_t too_many_frames(const struct unwinder *u, const struct u64_array *chain)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < chain->n; i++)
		n += u64_array_at(chain, i) < PERF_CONTEXT_MAX;
	return n > u->max ? n - u->max : 0;
}

/*
 * The frames that the kernel walked, which have a limit of their own; false: among them are those
 * of user space already.
 */
static bool add_kernel_chain(struct unwinder *u, const struct u64_array *chain)
{
	const uint64_t first = u->keeps_outermost ? too_many_frames(u, chain) : 0;
	bool is_user = false;
	uint64_t n = 0;

	u->chain.n = 0;
	for (uint64_t i = 0; i < chain->n; i++) {
		const uint64_t ip = u64_array_at(chain, i);

		if (is_user && ip < PERF_CONTEXT_MAX)
			return false;
		if (ip >= PERF_CONTEXT_MAX)
			is_user = ip == PERF_CONTEXT_USER;
		if (is_user)
			continue;
		if (ip < PERF_CONTEXT_MAX && (n++ < first || n > first + u->max))
			continue;
		if (!chain_add(u, ip))
			return false;
	}
	return chain_add(u, PERF_CONTEXT_USER);
}

const struct sample *unwinder_sample(struct unwinder *u, const struct sample *sample,
				     const struct session_event *event, const struct thread *thread)
{
	struct stack_copy stack = {0};
	struct frame_regs regs;
	enum unwind_end end = UNWIND_32_BIT;

	if (!(sample->has & PERF_SAMPLE_STACK_USER) || !sample->user_stack_size ||
	    !sample->user_regs_abi)
		return sample;
	if (!open_images(u))
		return NULL;
	if (!add_kernel_chain(u, &sample->chain))
		return u->no_memory ? NULL : sample;
	u->counts.n++;
	if (!unwind_images_know_arch(u->images)) {
		end = UNWIND_ARCH;
		chain_add(u, sample->ip);
	} else if (sample->user_regs_abi == ABI_64 &&
		   first_frame(u, sample, event->attr.sample_regs_user, &regs, &stack.start)) {
		stack.bytes = cursor_make(sample->user_stack, sample->user_stack_size, NULL);
		stack.bytes.swap = sample->user_regs.swap;
		stack.is_arm64 = u->is_arm64;
		end = walk(u, thread, &stack, &regs);
	} else {
		chain_add(u, sample->ip);
	}
	if (u->no_memory || unwind_images_had_no_memory(u->images))
		return NULL;
	u->counts.ends[end]++;
	copy_block(&u->sample, sample, sizeof(*sample));
	u->sample.is_unwound = true;
	u->sample.chain = (struct u64_array){.bytes = (const uint8_t *)u->chain.v, .n = u->chain.n};
	return &u->sample;
}

void unwinder_add_counts(struct unwinder *u, const struct unwinder *from)
{
	u->counts.n += from->counts.n;
	for (unsigned end = 0; end < UNWIND_ENDS; end++)
		u->counts.ends[end] += from->counts.ends[end];
}

struct unwind_counts unwinder_counts(const struct unwinder *u)
{
	return u->counts;
}

void unwinder_warn(const struct unwinder *u, const char *name, const struct log *log)
{
	static const char *const why[UNWIND_ENDS] = {
		[UNWIND_CUT] = "need more of the stack (record with --call-graph dwarf,SIZE)",
		[UNWIND_NO_RULES] = "lead to code without unwind information",
		[UNWIND_DAMAGED] = "do not fit the unwind information",
		[UNWIND_32_BIT] = "are of 32-bit processes, which are not unwound",
		[UNWIND_ARCH] = "are of an architecture that is not unwound",
	};

	for (unsigned end = 0; end < UNWIND_ENDS; end++)
		if (why[end] && u->counts.ends[end])
			log_warn(log,
				 "%s: %" PRIu64 " of %" PRIu64 " stacks are incomplete: they %s",
				 name, u->counts.ends[end], u->counts.n, why[end]);
}
