/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How often something did not fit into a map: the counters that
 * perf_bpf_failed() of <bpf/perf_bpf_prog.h> leaves in an object, one for each
 * place in its code.
 */
#ifndef PB_RUN_SITES_H
#define PB_RUN_SITES_H

#include <bpf/libbpf.h>
#include <stdint.h>

#include "lib/base/error.h"

struct call_site {
	char map[40]; /* the map's name, NUL-terminated, without the '&' */
	uint64_t failed;
};

struct sites {
	struct call_site *v;
	size_t n, cap;
};

void sites_deinit(struct sites *sites);
#define _cleanup_sites_ __attribute__((cleanup(sites_deinit)))

/* Takes a section's bytes apart; what is no site is left out. Added. */
struct error *sites_parse(const void *data, size_t size, struct sites *sites);

/* Those of a loaded object, as they are now; an object may have none. */
struct error *sites_read(const struct bpf_object *obj, struct sites *sites);

/* The sum of a map's. */
uint64_t sites_failed(const struct sites *sites, const char *map);

#endif
