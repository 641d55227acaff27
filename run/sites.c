// SPDX-License-Identifier: BSD-2-Clause
/*
 * The section .data.perf_bpf is an array of struct perf_bpf_site, 48 bytes
 * each: 40 of text, and a counter. PERF_BPF_EVENTS() has one as well, for the sake
 * of the type that hangs on it.
 */
#include "run/sites.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cursor.h"
#include "lib/base/vec.h"

#define SECTION ".data.perf_bpf"

void sites_deinit(struct sites *sites)
{
	vec_deinit(sites);
}

struct error *sites_parse(const void *data, size_t size, struct sites *sites)
{
	struct cursor c = cursor_make(data, size, SECTION);
	const char *name;
	uint64_t failed;

	while ((name = cursor_bytes(&c, 40)) && cursor_u64(&c, &failed)) {
		size_t skip = *name == '&';

		if (!failed)
			continue;
		struct call_site *site = vec_push(sites);
		if (!site)
			return error_nomem();
		memcpy(site->map, name + skip, strnlen(name + skip, 39 - skip));
		site->failed = failed;
	}
	return NULL;
}

struct error *sites_read(const struct bpf_object *obj, struct sites *sites)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(obj, SECTION);
	uint32_t zero = 0;

	if (!map || bpf_map__fd(map) < 0)
		return NULL;
	size_t size = bpf_map__value_size(map);
	_cleanup_free_ void *data = malloc(size + 1);
	if (!data)
		return error_nomem();
	if (bpf_map_lookup_elem(bpf_map__fd(map), &zero, data))
		return error_errno(errno, "cannot read the counters of %s", SECTION);
	return sites_parse(data, size, sites);
}

uint64_t sites_failed(const struct sites *sites, const char *map)
{
	const struct call_site *site;
	uint64_t sum = 0;

	vec_for_each (site, sites)
		if (!strcmp(site->map, map))
			sum += site->failed;
	return sum;
}
