// SPDX-License-Identifier: BSD-2-Clause
#include "perf/resolve/result_mapping.h"

#include <string.h>

const struct result_mapping *result_mapping_of(struct result_mappings *mappings,
					       const struct map *map)
{
	const struct dso *dso = map->dso;
	struct result_mapping mapping = {.start = map->start,
					 .end = map->end,
					 .offset = dso->kind == DSO_USER ? map->pgoff : 0,
					 .build_id_size = dso->build_id_size};

	memcpy(mapping.build_id, dso->build_id, dso->build_id_size);
	return result_mappings_get(mappings, &mapping);
}
