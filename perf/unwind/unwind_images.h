/* SPDX-License-Identifier: BSD-2-Clause */
/* The unwind information of each file that is mapped, opened when it is first asked for. */
#ifndef PB_PERF_UNWIND_UNWIND_IMAGES_H
#define PB_PERF_UNWIND_UNWIND_IMAGES_H

#include "perf/resolve/resolve.h"
#include "perf/unwind/step.h"

enum code_kind {
	CODE_UNKNOWN,	/* without unwind information */
	CODE_WITH_ROW,	/* .row says how to get to the caller */
	CODE_PLT_ENTRY, /* of a linker that makes no unwind information for the PLT */
};

/* What is known of one address. */
struct code_rule {
	uint8_t kind;	/* enum code_kind */
	uint8_t pushed; /* by an entry of the PLT: words above the return address */
	const struct cfi *cfi;
	struct cfi_row row;
};

struct unwind_images;
/* Of the architecture that the session's header has, which was read; else of this one. */
struct error *unwind_images_new(struct resolver *r, struct unwind_images **out);
void unwind_images_free(struct unwind_images *all);
DEFINE_FREEP(struct unwind_images, unwind_images_free)

/* The rule for an address in a map; it lasts until the next. */
const struct code_rule *unwind_images_find(struct unwind_images *all, const struct map *map,
					   uint64_t addr);
bool unwind_images_are_arm64(const struct unwind_images *all);
/* Whether the recording is of x86-64 or arm64; if it does not say so, it is of this machine. */
bool unwind_images_know_arch(const struct unwind_images *all);
/* How many files are known. */
size_t unwind_images_count(const struct unwind_images *all);
/* Whether rules may be missing because there was no memory for them. */
bool unwind_images_had_no_memory(const struct unwind_images *all);

#endif
