/* SPDX-License-Identifier: BSD-2-Clause */
/* The unwind information of one file that is mapped. */
#ifndef PB_PERF_UNWIND_UNWIND_IMAGE_H
#define PB_PERF_UNWIND_UNWIND_IMAGE_H

#include "lib/base/vec.h"
#include "lib/elf/elf_read.h"
#include "perf/resolve/resolve.h"
#include "perf/unwind/cfi.h"

/* Entries of a procedure linkage table. */
struct plt_range {
	uint64_t start, size;
	bool is_lazy; /* entries push a number; the first one is the call of the linker */
};

struct unwind_image {
	struct elf_file *file;
	struct cfi *cfi;
	bool is_arm64;
	VEC(struct plt_range) plt;
};

/* Of the file of a DSO. EINVAL: it is of another architecture. */
struct error *unwind_image_open(struct resolver *r, const struct dso *dso, bool is_arm64,
				struct unwind_image **out);
/* Of a file that is open, with the bytes of the sections that unwind_image_wants(). */
struct error *unwind_image_of_file(struct elf_file *file, struct unwind_image **out);
bool unwind_image_wants(const struct elf_file *file, const struct elf_section *sec);
void unwind_image_free(struct unwind_image *image);
DEFINE_FREEP(struct unwind_image, unwind_image_free)

/*
 * Whether an address is in an entry of a PLT; *pushed: the words on the stack above the return
 * address.
 */
bool unwind_image_plt(const struct unwind_image *image, uint64_t addr, uint8_t *pushed);

#endif
