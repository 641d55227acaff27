// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel finds the caller of a frame through the frame pointer. A function that does not keep
 * it leaves there what its caller had, or any number: then callers are skipped, the walk ends, or
 * it leads to words that are not return addresses. For each address, unwind information says
 * whether the function has set up a frame there: on x86-64 the CFA is relative to rbp, on arm64 x29
 * and x30 are saved next to each other.
 *
 * A chain is broken
 * - where its only frame has none (the walk found no caller);
 * - at a caller that has none: where that was called from is not known;
 * - where it leaves executable memory behind a function that has none.
 *
 * The innermost function may have none, at its start or if it calls nothing: the walk goes on, so
 * that alone does not count. Nor does a chain that has reached main() or the start of a thread: the
 * C library, which has called them, mostly has no frame pointers. Its functions have no names where
 * it is stripped, so a caller without a name counts only if it cannot be that: where a function
 * with frame pointer was called by code without a name, or in a C or C++ library, it does not
 * count.
 *
 * The first chains of a recording are looked at, and then one of 256: a large recording must not
 * take longer for a hint.
 */
#include "perf/unwind/frame_pointers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "perf/unwind/unwind_images.h"

enum {
	N_FIRST = 1024,
	N_OF_OTHERS = 256,
	MAX_DEPTH = 127,
	LEAST_BROKEN = 10,
	LEAST_PERCENT = 10,
};

struct frame_pointers {
	struct resolver *resolver;
	struct unwind_images *images; /* NULL: there are no more stacks */
	bool had_no_memory;
	uint64_t n_stacks;
	struct frame_pointers_counts counts;
};

struct error *frame_pointers_new(struct resolver *r, struct frame_pointers **out)
{
	_cleanup_(frame_pointers_freep) struct frame_pointers *fp = calloc(1, sizeof(*fp));

	if (!fp)
		return error_nomem();
	fp->resolver = r;
	TRY(unwind_images_new(r, &fp->images));
	*out = steal_ptr(fp);
	return NULL;
}

void frame_pointers_free(struct frame_pointers *fp)
{
	if (!fp)
		return;
	unwind_images_free(fp->images);
	free(fp);
}

void frame_pointers_end(struct frame_pointers *fp)
{
	if (!fp)
		return;
	fp->had_no_memory = frame_pointers_had_no_memory(fp);
	unwind_images_free(steal_ptr(fp->images));
}

/* ---- one frame ---- */

enum frame_kind {
	FRAME_UNKNOWN,	/* code without unwind information */
	FRAME_NOT_CODE, /* the walk has left the stack */
	FRAME_KEEPS,	/* it can be left by the frame pointer */
	FRAME_LACKS,
	FRAME_OUTMOST, /* it has no caller */
};

struct frame {
	uint64_t at;
	const struct map *map;
};

static const struct cfi_rule *rule_of(const struct cfi_row *row, unsigned reg)
{
	for (unsigned i = 0; i < row->n; i++)
		if (row->rules[i].reg == reg)
			return &row->rules[i];
	return NULL;
}

static bool keeps_pointer(const struct cfi *cfi, const struct cfi_row *row, bool is_arm64)
{
	const struct cfi_rule *fp = rule_of(row, is_arm64 ? ARM64_REG_FP : X86_REG_BP);
	const struct cfi_rule *lr = rule_of(row, ARM64_REG_LR);
	uint8_t op;

	if (is_arm64)
		return fp && lr && fp->kind == CFI_SAVED_AT && lr->kind == CFI_SAVED_AT &&
		       lr->offset == fp->offset + 8;
	if (row->cfa.kind == CFI_IS_CFA)
		return row->cfa.reg == X86_REG_BP;
	/* Where the stack is aligned: a word at DW_OP_breg6 + offset. */
	struct cursor c = cfi_expression(cfi, row, &row->cfa);
	return cursor_u8(&c, &op) && op == 0x70 + X86_REG_BP;
}

static enum frame_kind kind_of(struct frame_pointers *fp, const struct frame *frame)
{
	if (!frame->map || !(frame->map->prot & PROT_EXEC))
		return FRAME_NOT_CODE;
	const struct code_rule *rule = unwind_images_find(fp->images, frame->map, frame->at);
	if (rule->kind != CODE_WITH_ROW)
		return FRAME_UNKNOWN;
	const struct cfi_rule *ra = rule_of(&rule->row, rule->row.return_reg);
	if (ra && ra->kind == CFI_UNDEFINED)
		return FRAME_OUTMOST;
	return keeps_pointer(rule->cfi, &rule->row, unwind_images_are_arm64(fp->images))
		       ? FRAME_KEEPS
		       : FRAME_LACKS;
}

static const char *name_of(struct frame_pointers *fp, const struct frame *frame)
{
	struct location at;

	if (!frame->map)
		return NULL;
	resolve_addr_in(fp->resolver, frame->map, PERF_RECORD_MISC_USER, frame->at, &at);
	return at.sym ? at.sym->name : NULL;
}

/* main, also Rust's, and what calls it or the function of a thread. */
static bool is_start(const char *name)
{
	static const char *const names[] = {
		"main",
		"_start",
		"__libc_start_call_main",
		"__libc_start_main",
		"__libc_start_main_impl",
		"start_thread",
		"execute_native_thread_routine",
		"clone",
		"clone3",
		"__clone",
		"__clone3",
		"thread_start",
		"_dl_start_user",
	};
	const char *rust = name ? strstr(name, "::main") : NULL;

	for (size_t i = 0; name && i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]) ||
		    (!strncmp(name, names[i], strlen(names[i])) && name[strlen(names[i])] == '@'))
			return true;
	return name && ((rust && (!rust[6] || !strncmp(rust + 6, "::h", 3))) ||
			!strncmp(name, "std::rt::lang_start", 19));
}

/* Which calls main(), or the function of a thread. */
static bool is_of_library(const struct map *map)
{
	static const char *const begins[] = {"libc.", "libc-", "libpthread", "libstdc++", "ld-"};
	const char *slash = strrchr(map->dso->path, '/');
	const char *base = slash ? slash + 1 : map->dso->path;

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (!strncmp(base, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* ---- a chain ---- */

static bool reaches_start(struct frame_pointers *fp, const struct frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_start(name_of(fp, &frames[i])))
			return true;
	return false;
}

static bool is_broken(struct frame_pointers *fp, const struct frame *frames, size_t n)
{
	enum frame_kind kind = FRAME_UNKNOWN, before;
	bool has_lacked = false;

	for (size_t i = 0; i < n; i++) {
		before = kind;
		kind = kind_of(fp, &frames[i]);
		if (kind == FRAME_OUTMOST)
			return false;
		if (kind == FRAME_NOT_CODE)
			return has_lacked && !reaches_start(fp, frames, i);
		if (kind != FRAME_LACKS)
			continue;
		has_lacked = true;
		if (i && !name_of(fp, &frames[i]) &&
		    (before == FRAME_KEEPS || is_of_library(frames[i].map)))
			return false;
		if (i)
			return !reaches_start(fp, frames, i + 1);
	}
	return n == 1 && has_lacked && !reaches_start(fp, frames, 1);
}

/* The frames of user space. */
static size_t find_frames(struct frame_pointers *fp, const struct sample *sample,
			  const struct thread *thread, struct frame *frames, size_t max)
{
	bool is_user = sample->cpumode == PERF_RECORD_MISC_USER;
	size_t n = 0;

	for (uint64_t i = 0; i < sample->chain.n && n < max; i++) {
		const uint64_t ip = u64_array_at(&sample->chain, i);

		if (ip >= PERF_CONTEXT_MAX) {
			is_user = ip == PERF_CONTEXT_USER;
			continue;
		}
		if (!is_user)
			continue;
		/* A call may be the last instruction of a function. */
		frames[n].at = ip - (n > 0);
		frames[n].map = resolver_find_map(fp->resolver, thread, PERF_RECORD_MISC_USER,
						  frames[n].at);
		n++;
	}
	return n;
}

bool frame_pointers_matter(const struct session_event *event, const struct sample *sample)
{
	return !(sample->has & PERF_SAMPLE_STACK_USER) &&
	       !(event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) &&
	       !session_event_is_off_cpu(event);
}

void frame_pointers_see(struct frame_pointers *fp, const struct sample *sample,
			const struct thread *thread)
{
	struct frame frames[MAX_DEPTH];

	if (!(sample->has & PERF_SAMPLE_CALLCHAIN) || !sample->chain.n ||
	    (fp->n_stacks++ >= N_FIRST && fp->n_stacks % N_OF_OTHERS))
		return;
	const size_t n = find_frames(fp, sample, thread, frames, ARRAY_SIZE(frames));
	fp->counts.n += n > 0;
	fp->counts.broken += is_broken(fp, frames, n);
}

bool frame_pointers_had_no_memory(const struct frame_pointers *fp)
{
	return fp && (fp->images ? unwind_images_had_no_memory(fp->images) : fp->had_no_memory);
}

bool frame_pointers_missing(const struct frame_pointers *fp, struct frame_pointers_counts *out)
{
	if (!fp)
		return false;
	*out = fp->counts;
	return out->broken >= LEAST_BROKEN && out->broken * 100 >= out->n * LEAST_PERCENT;
}
