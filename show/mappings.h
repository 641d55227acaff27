/* SPDX-License-Identifier: BSD-2-Clause */
/* The mappings that frames are in: many frames have one, which is kept once. */
#ifndef PB_SHOW_MAPPINGS_H
#define PB_SHOW_MAPPINGS_H

#include "lib/base/arena.h"
#include "lib/base/hash.h"
#include "show/result.h"

struct result_mappings {
	struct arena arena;
	struct u64map by_content;
};

void result_mappings_deinit(struct result_mappings *mappings);

/* One that is equal to *mapping; it lives as long as the mappings. NULL: no memory. */
const struct result_mapping *result_mappings_get(struct result_mappings *mappings,
						 const struct result_mapping *mapping);

#endif
