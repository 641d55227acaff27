/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions that contain an address, where the compiler inlined some. */
#ifndef PB_PERF_RESOLVE_INLINE_FRAMES_H
#define PB_PERF_RESOLVE_INLINE_FRAMES_H

#include "sym/sym.h"

/* One of the functions that contain the address. */
struct inline_frame {
	const struct symbol *sym; /* inlined: the others are the function that is out of line */
	/* The line of the code, or of the call of the frame before; NULL: not known. */
	const char *file;
	uint32_t line;
};

struct inline_frames {
	size_t n;
	struct inline_frame v[]; /* the innermost function first, that of the symbol table last */
};

#endif
