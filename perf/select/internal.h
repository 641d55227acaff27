/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the grammar (parse_events.c), the names (event_names.c) and the look-ups
 * (resolve_events.c). */
#ifndef PB_PERF_SELECT_INTERNAL_H
#define PB_PERF_SELECT_INTERNAL_H

#include "perf/select/select.h"

/* The events that perf knows by name: type and config of attr. false: none of them. */
bool select_name_find(const char *name, uint32_t *type, uint64_t *config);
bool select_name_known(const char *name);
/* Calls fn for each such name (cache events in their usual spelling). */
void select_names_each(void (*fn)(void *ctx, const char *name), void *ctx);

/* Likewise, but an alias comes with its name, and type and config with both. */
typedef struct error *select_name_fn(void *ctx, const char *name, const char *alias, uint32_t type,
				     uint64_t config);
struct error *select_names_by_type(uint32_t type, select_name_fn *fn, void *ctx);

#endif
