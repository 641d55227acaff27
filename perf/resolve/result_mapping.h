/* SPDX-License-Identifier: BSD-2-Clause */
/* Mappings of processes as results have them. */
#ifndef PB_PERF_RESOLVE_RESULT_MAPPING_H
#define PB_PERF_RESOLVE_RESULT_MAPPING_H

#include "perf/session/session.h"
#include "show/mappings.h"

/* What results say of map, kept by mappings. NULL: no memory. */
const struct result_mapping *result_mapping_of(struct result_mappings *mappings,
					       const struct map *map);

#endif
