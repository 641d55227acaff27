// SPDX-License-Identifier: BSD-2-Clause
#include "run/map_counts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/cleanup.h"

struct error *map_counts_read(const struct map_counts *counts, uint64_t *out)
{
	const int n_cpus = libbpf_num_possible_cpus();

	if (n_cpus < 1)
		return error_errno(-n_cpus, "cannot count the CPUs");
	_cleanup_free_ uint64_t *values = calloc((size_t)n_cpus, sizeof(*values));
	if (!values)
		return error_nomem();
	for (uint32_t i = 0; i < counts->n; i++) {
		out[i] = 0;
		if (bpf_map_lookup_elem(counts->fd, &i, values))
			return error_errno(errno, "cannot read map %s", counts->name);
		for (int cpu = 0; cpu < n_cpus; cpu++)
			out[i] += values[cpu];
	}
	return NULL;
}

struct error *map_counts_describe(const struct map_counts *counts, const char *what,
				  uint64_t *delta, struct strbuf *out, bool *all)
{
	_cleanup_free_ uint64_t *ends = calloc(counts->n, sizeof(*ends));
	const char *separator = ": ";
	uint64_t total = 0;

	if (!ends)
		return error_nomem();
	TRY(map_counts_read(counts, ends));
	for (uint32_t i = 0; i < counts->n; i++) {
		const uint64_t now = ends[i];

		if (delta) {
			ends[i] -= delta[i];
			delta[i] = now;
		}
		total += ends[i];
	}
	if (!total)
		return NULL;
	strbuf_addf(out, "%.1f %% of %" PRIu64 " %s", 100.0 * (double)ends[0] / (double)total,
		    total, what);
	*all &= ends[0] == total;
	for (uint32_t i = 0; i < counts->n; i++)
		if (counts->why[i] && ends[i]) {
			strbuf_addf(out, "%s%" PRIu64 " %s", separator, ends[i], counts->why[i]);
			separator = ", ";
		}
	return NULL;
}
