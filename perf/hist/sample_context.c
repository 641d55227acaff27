// SPDX-License-Identifier: BSD-2-Clause
#include "perf/hist/sample_context.h"

#include <limits.h>

#include "perf/print/print_header.h"

/* In the order of the kernel's links. */
#define CGROUP_NAMESPACE 6

struct cgroup_namespace {
	uint64_t dev, ino;
};

void sample_context_deinit(struct sample_context *c)
{
	u64map_deinit(&c->cgroups);
	arena_deinit(&c->arena);
	vec_deinit(&c->sockets);
}

struct error *sample_context_add(struct sample_context *c, const struct record *rec)
{
	switch (rec->header.type) {
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		c->n_running += rec->header.misc & PERF_RECORD_MISC_SWITCH_OUT ? -1 : 1;
		break;
	case PERF_RECORD_EXIT:
		c->n_running--;
		break;
	}
	return NULL;
}

struct error *sample_context_namespaces(struct sample_context *c,
					const struct record_namespaces *ns)
{
	const uint64_t key = (uint32_t)ns->tid + 1ull;
	struct cgroup_namespace *known = u64map_get(&c->cgroups, key);

	if (ns->links.n < 2 * (CGROUP_NAMESPACE + 1))
		return NULL;
	if (!known) {
		known = arena_alloc(&c->arena, sizeof(*known));
		if (!known || !u64map_put(&c->cgroups, key, known))
			return error_nomem();
	}
	known->dev = u64_array_at(&ns->links, 2 * CGROUP_NAMESPACE);
	known->ino = u64_array_at(&ns->links, 2 * CGROUP_NAMESPACE + 1);
	return NULL;
}

static int32_t socket_of(struct sample_context *c, const struct data_header *header, int32_t cpu)
{
	uint32_t socket;

	/* Of a pipe, the header is known at the first sample. */
	while (!c->knows_sockets && c->sockets.n < header->cpus_available &&
	       topology_socket(header, (uint32_t)c->sockets.n, &socket)) {
		int32_t *slot = vec_push(&c->sockets);

		if (!slot)
			break;
		*slot = (int32_t)socket;
	}
	c->knows_sockets = true;
	return cpu >= 0 && (size_t)cpu < c->sockets.n ? c->sockets.v[cpu] : -1;
}

struct hist_context sample_context_now(struct sample_context *c, const struct data_header *header,
				       const struct sample *sample)
{
	const struct cgroup_namespace *cgroup =
		u64map_get(&c->cgroups, (uint32_t)sample->tid + 1ull);
	const int64_t most = header->cpus_available ? header->cpus_available : INT_MAX;
	/* Records may be out of order, or missing. */
	const int64_t n = max_of(min_of(c->n_running + 1, most), (int64_t)1);

	return (struct hist_context){
		.parallelism = (unsigned)n,
		.cgroup_dev = cgroup ? cgroup->dev : 0,
		.cgroup_ino = cgroup ? cgroup->ino : 0,
		.socket = socket_of(c, header, sample->cpu),
	};
}
