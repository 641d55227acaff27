// SPDX-License-Identifier: BSD-2-Clause
/*
 * Of a kprobe's sample the address is a byte behind the point, at a return it
 * is the caller's, and that of a fentry program is within the program, whose
 * call chain then goes through the trampoline to the function:
 *
 *	bpf_prog_6deef7357e7b4530_probe_vfs_write
 *	bpf_trampoline_6442497781
 *	vfs_write
 *	ksys_write
 */
#include "perf/print/probed.h"

#include <stdlib.h>

void probed_deinit(struct probed *p)
{
	vec_deinit(&p->chain);
}

/* A program's code, or behind one what nobody knows: kernels do not tell of all trampolines. */
static bool is_bpf(struct resolver *resolver, const struct thread *thread, uint64_t ip,
		   bool is_first)
{
	const struct map *map = resolver_find_map(resolver, thread, PERF_RECORD_MISC_KERNEL, ip);

	return map ? map->dso && map->dso->kind == DSO_BPF : !is_first;
}

/* How many addresses at the chain's head, behind the first marker, are BPF's; not all of them. */
static uint64_t n_bpf(struct resolver *resolver, const struct thread *thread,
		      const struct u64_array *chain)
{
	uint64_t n = 0;

	if (!resolver || !chain->n || u64_array_at(chain, 0) != PERF_CONTEXT_KERNEL)
		return 0;
	while (n + 1 < chain->n && is_bpf(resolver, thread, u64_array_at(chain, n + 1), !n))
		n++;
	return n + 1 < chain->n && u64_array_at(chain, n + 1) < PERF_CONTEXT_MAX ? n : 0;
}

/* false: no memory, the chain stays. */
static bool chain_cut(struct probed *p, const struct u64_array *chain, uint64_t n)
{
	p->chain.n = 0;
	for (uint64_t i = 0; i < chain->n; i++) {
		if (i >= 1 && i <= n)
			continue;
		uint64_t *slot = vec_push(&p->chain);
		if (!slot)
			return false;
		*slot = u64_array_at(chain, i);
	}
	p->sample.chain = (struct u64_array){
		.bytes = (const uint8_t *)p->chain.v,
		.n = p->chain.n,
	};
	return true;
}

bool probed_is_one(const struct trace_event *trace, const struct sample *sample)
{
	uint64_t ip;

	return trace && sample->raw &&
	       trace_event_probe_ip(trace, sample->raw, sample->raw_size, &ip);
}

const struct sample *probed_sample(struct probed *p, const struct trace_event *trace,
				   struct resolver *resolver, const struct thread *thread,
				   const struct sample *sample)
{
	uint64_t ip;

	if (!trace || !sample->raw ||
	    !trace_event_probe_ip(trace, sample->raw, sample->raw_size, &ip))
		return sample;
	const uint64_t n = n_bpf(resolver, thread, &sample->chain);
	copy_block(&p->sample, sample, sizeof(*sample));
	if (ip)
		p->sample.ip = ip;
	if (n)
		chain_cut(p, &sample->chain, n);
	return &p->sample;
}
