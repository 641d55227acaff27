// SPDX-License-Identifier: BSD-2-Clause
/*
 * From samples to stacks, the first of two steps; hist_entries.c is the second.
 *
 * While samples come in, they are only counted by what makes them different:
 * equal stacks (same leaf, same chain, same other keys) become one record with
 * a sum. That costs a hash of some pointers for each sample, however deep its
 * chain. Addresses become interned frames, and frames of one function are one
 * pointer, so few stacks differ.
 */
#include "perf/hist/internal.h"

#include <stdlib.h>
#include <string.h>

#define TEXTS 2048

/* What an event's format makes of a payload; many are repeated byte by byte. */
struct cached_text {
	const struct session_event *event;
	const char *text; /* NULL: free */
	uint32_t size;
	uint8_t raw[84];
};

struct error *hist_new(const struct hist_spec *spec, struct resolver *r, struct hist **out)
{
	struct hist *h = calloc(1, sizeof(*h));

	if (!h)
		return error_nomem();
	h->spec = spec;
	h->resolver = r;
	h->session = resolver_session(r);
	h->by_address = spec->chain.order != STACK_BY_FUNCTION || spec->has[HIST_SRCLINE] ||
			spec->has[HIST_SRCFILE] || spec->has[HIST_SRCLINE_FROM] ||
			spec->has[HIST_SRCLINE_TO];
	h->knows = hist_known_helps(spec);
	h->texts = calloc(TEXTS, sizeof(*h->texts));
	if (!h->texts || !hist_frames_init(h)) {
		hist_free(h);
		return error_nomem();
	}
	*out = h;
	return NULL;
}

void hist_samples_end(struct hist *h)
{
	free(steal_ptr(h->cache));
	free(steal_ptr(h->leaves));
	free(steal_ptr(h->texts));
	hist_known_free(h);
	u64map_deinit(&h->frames);
	u64map_deinit(&h->inlined);
	free(steal_ptr(h->stack_slots));
	free(steal_ptr(h->chain_slots));
}

void hist_index_free(struct hist *h)
{
	hist_samples_end(h);
	hist_branch_cache_free(steal_ptr(h->branch_cache));
	u64map_deinit(&h->ranks);
	strmap_deinit(&h->build_ids);
	free(steal_ptr(h->next_build_id));
	strmap_deinit(&h->strings);
	strmap_deinit(&h->values);
	strbuf_deinit(&h->text);
	free(steal_ptr(h->entry_slots));
	hist_owned_deinit(&h->owned);
}

void hist_free(struct hist *h)
{
	if (!h)
		return;
	hist_index_free(h);
	result_mappings_deinit(&h->mappings);
	vec_deinit(&h->stacks);
	vec_deinit(&h->sorted);
	u64map_deinit(&h->samples);
	u64map_deinit(&h->histories);
	u64map_deinit(&h->entry_samples);
	arena_deinit(&h->entry_arena);
	arena_deinit(&h->arena);
	hist_blocks_free(h->blocks);
	hist_free(h->shown_before);
	free(h);
}

const char *hist_intern(struct hist *h, const char *s)
{
	const char *known = strmap_get(&h->strings, s);

	if (known)
		return known;
	char *copy = arena_strdup(&h->arena, s);
	if (!copy)
		return NULL;
	return strmap_put(&h->strings, copy, copy) ? copy : NULL;
}

static const char *intern_comm(struct hist *h, const char *comm)
{
	/* In a recording, equal names are one string, which does not change (session.h). */
	if (comm != h->last_comm || (h->spec->live && strcmp(comm, h->last_comm_interned))) {
		h->last_comm_interned = hist_intern(h, comm);
		h->last_comm = h->last_comm_interned ? comm : NULL;
	}
	return h->last_comm_interned;
}

/*
 * The frames of up to max addresses, innermost first, and of what is inlined there; the number of
 * them, up to HIST_MAX_STACK, -1: no memory.
 */
static int chain_resolve(struct hist *h, const struct sample *sample, const struct thread *thread,
			 const struct result_frame *leaf, struct stack_parts *parts, size_t max)
{
	uint8_t cpumode = PERF_RECORD_MISC_USER;
	uint64_t first = 0;
	size_t n = 0, left = max; /* of addresses */

	if (max && sample_has_only_stack(sample)) {
		parts->frames[0] = leaf;
		parts->ips[0] = sample->ip;
		return 1;
	}
	/* With the caller first, perf stops at the innermost frames that are too many. */
	if (h->spec->chain.caller && sample->chain.n > max) {
		size_t outer = max;

		for (first = sample->chain.n; first > 0 && outer; first--)
			outer -= u64_array_at(&sample->chain, first - 1) < PERF_CONTEXT_MAX;
	}
	for (uint64_t i = 0; i < sample->chain.n && left; i++) {
		uint64_t ip = u64_array_at(&sample->chain, i);

		if (ip >= PERF_CONTEXT_MAX) {
			if (ip == PERF_CONTEXT_KERNEL)
				cpumode = PERF_RECORD_MISC_KERNEL;
			else if (ip == PERF_CONTEXT_USER)
				cpumode = PERF_RECORD_MISC_USER;
			else if (ip == PERF_CONTEXT_HV)
				cpumode = PERF_RECORD_MISC_HYPERVISOR;
			else
				return 0; /* not understood: perf drops the whole chain */
			continue;
		}
		if (i < first)
			continue;
		const int added = hist_frames_add(h, thread, cpumode, ip, left - 1, parts, n);
		if (added < 0)
			return -1;
		left -= (size_t)added > n;
		n = (size_t)added;
	}
	return (int)n;
}

/* The value of a dynamic key, interned; *out stays NULL where the sample has none. */
static struct error *value_of(struct hist *h, const struct hist_dynamic *field,
			      const struct session_event *event, const struct sample *sample,
			      const struct hist_value **out)
{
	struct hist_value value = {0};
	bool none = false;

	strbuf_reset(&h->text);
	strbuf_addch(&h->text, ' ');
	TRY(h->spec->field(h->spec->trace_ctx, field, event, sample, &value, &none, &h->text));
	if (strbuf_failed(&h->text))
		return error_nomem();
	if (none)
		return NULL;
	h->text.str[0] = "tus"[value.kind];
	*out = strmap_get(&h->values, h->text.str);
	if (*out)
		return NULL;
	char *text = arena_strdup(&h->arena, h->text.str);
	struct hist_value *copy = arena_alloc(&h->arena, sizeof(*copy));
	if (!text || !copy)
		return error_nomem();
	*copy = value;
	copy->text = text + 1;
	if (!strmap_put(&h->values, text, copy))
		return error_nomem();
	*out = copy;
	return NULL;
}

struct error *hist_trace_text(struct hist *h, const struct session_event *event,
			      const struct sample *sample, const char **out)
{
	struct cached_text *c = NULL;

	/* A live one frees strings. */
	if (!h->spec->live && sample->raw && sample->raw_size <= sizeof(c->raw)) {
		c = &h->texts[hash_bytes(sample->raw, sample->raw_size) % TEXTS];
		if (c->text && c->event == event && c->size == sample->raw_size &&
		    !memcmp(c->raw, sample->raw, c->size)) {
			*out = c->text;
			return NULL;
		}
	}
	strbuf_reset(&h->text);
	TRY(h->spec->trace(h->spec->trace_ctx, event, sample, &h->text));
	const char *text = strbuf_failed(&h->text) ? NULL : hist_intern(h, strbuf_str(&h->text));
	if (!text)
		return error_nomem();
	if (c) {
		*c = (struct cached_text){.event = event, .text = text, .size = sample->raw_size};
		memcpy(c->raw, sample->raw, c->size);
	}
	*out = text;
	return NULL;
}

bool hist_keyed_by_cgroup(const struct hist_spec *spec)
{
	return spec->keeps || spec->has[HIST_CGROUP] || spec->has[HIST_UNIT] ||
	       spec->has[HIST_CONTAINER] || spec->has[HIST_POD];
}

bool hist_has_numbers(const struct hist_spec *spec)
{
	const bool *has = spec->has;

	return has[HIST_ADDR] || has[HIST_DSO_SIZE] || has[HIST_LOCAL_WEIGHT] || has[HIST_WEIGHT] ||
	       has[HIST_LOCAL_INS_LAT] || has[HIST_INS_LAT] || has[HIST_CODE_PAGE_SIZE] ||
	       has[HIST_PARALLELISM] || has[HIST_CGROUP_ID] || has[HIST_SOCKET] ||
	       has[HIST_LOCAL_RETIRE_LAT] || has[HIST_RETIRE_LAT] || has[HIST_TRANSACTION];
}

static struct hist_numbers numbers_of(const struct hist_spec *spec, const struct sample *sample,
				      const struct location *leaf,
				      const struct hist_context *context)
{
	const bool *has = spec->has;
	struct hist_numbers n = {0};

	if (has[HIST_ADDR])
		n.addr = leaf->addr;
	if (has[HIST_DSO_SIZE] && leaf->map)
		n.dso_size = leaf->map->end - leaf->map->start;
	if (has[HIST_LOCAL_WEIGHT] || has[HIST_WEIGHT])
		n.weight = sample_weight(sample);
	if (has[HIST_LOCAL_INS_LAT] || has[HIST_INS_LAT])
		n.ins_lat = sample_ins_lat(sample);
	if (has[HIST_LOCAL_RETIRE_LAT] || has[HIST_RETIRE_LAT])
		n.retire_lat = sample_retire_lat(sample);
	if (has[HIST_TRANSACTION])
		n.transaction = sample->transaction;
	if (has[HIST_CODE_PAGE_SIZE])
		n.code_page_size = sample->code_page_size;
	if (has[HIST_PARALLELISM])
		n.parallelism = context->parallelism;
	if (has[HIST_SOCKET])
		n.socket = context->socket;
	if (has[HIST_CGROUP_ID]) {
		n.cgroup_dev = context->cgroup_dev;
		n.cgroup_ino = context->cgroup_ino;
	}
	return n;
}

bool hist_frame_matches(const struct hist_frame *frame, const regex_t *regex, int8_t *known)
{
	if (!*known)
		*known = frame->sym && !frame->sym->inlined &&
					 !regexec(regex, frame->sym->name, 0, NULL, 0)
				 ? 1
				 : -1;
	return *known > 0;
}

/*
 * The first of the n frames, innermost first, that counts: the outermost one whose callees are
 * ignored. The sample is then one of it.
 */
static int skip_callees(struct hist *h, const struct result_frame **frames, int n,
			struct hist_stack *s)
{
	for (int i = n - 1; h->spec->ignore_callees && i >= 0; i--) {
		/* ours: made in frame_new() */
		struct hist_frame *f =
			container_of((struct result_frame *)frames[i], struct hist_frame, frame);

		if (!hist_frame_matches(f, h->spec->ignore_callees, &f->ignores_callees))
			continue;
		s->leaf = f;
		s->ip = f->frame.addr;
		s->level = f->level ? f->level : s->level;
		s->cpumode = f->frame.is_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
		/* What is inlined at its address is part of it. */
		while (i && frames[i - 1]->is_inlined)
			i--;
		return i;
	}
	return 0;
}

/* The factor is perf's: shares of small periods are then not rounded. */
uint64_t hist_latency_of(uint64_t period, unsigned parallelism)
{
	uint64_t product;

	if (__builtin_mul_overflow(period, 1000, &product))
		product = UINT64_MAX;
	return product / parallelism;
}

static struct error *add_chain(struct hist *h, const struct sample *sample,
			       const struct thread *thread, struct stack_parts *parts,
			       struct hist_stack *s)
{
	const struct hist_spec *spec = h->spec;
	const struct result_frame **frames = parts->frames;
	uint64_t *ips = parts->ips;
	/* The limit counts for frames of the kernel and for those that are unwound. */
	const size_t max = sample->is_unwound ? 2 * spec->max_stack : spec->max_stack;
	int n = chain_resolve(h, sample, thread, &s->leaf->frame, parts,
			      min_of(max, (size_t)HIST_MAX_STACK));

	if (n < 0)
		return error_nomem();
	const int skipped = skip_callees(h, frames, n, s);
	n -= skipped;
	memmove(frames, frames + skipped, (size_t)n * sizeof(*frames));
	memmove(ips, ips + skipped, (size_t)n * sizeof(*ips));
	if (spec->chain.caller) {
		for (int i = 0; i < n / 2; i++) {
			const struct result_frame *f = frames[i];
			const uint64_t ip = ips[i];

			frames[i] = frames[n - 1 - i];
			frames[n - 1 - i] = f;
			ips[i] = ips[n - 1 - i];
			ips[n - 1 - i] = ip;
		}
	}
	s->depth = (uint32_t)n;
	s->ips = ips;
	s->chain = hist_chain_intern(h, frames, (size_t)n);
	return s->chain ? NULL : error_nomem();
}

struct error *hist_stack_make(struct hist *h, const struct sample *sample,
			      const struct session_event *event, const struct thread *thread,
			      const struct location *leaf, const struct hist_context *context,
			      struct stack_parts *parts, struct hist_stack *s)
{
	const struct hist_spec *spec = h->spec;
	bool has_values =
		spec->field && spec->n_dynamic && event->attr.type == PERF_TYPE_TRACEPOINT;

	parts->thread = thread;
	parts->numbers = numbers_of(spec, sample, leaf, context);
	if (spec->live) {
		TRY(hist_make_room(h));
		h->generation = session_generation(h->session);
		parts->thread = owned_thread(&h->owned, &h->arena, thread);
		if (!parts->thread)
			return error_nomem();
	}
	*s = (struct hist_stack){
		.thread = hist_keyed_by_thread(spec) ? parts->thread : NULL,
		.comm = intern_comm(h, thread->comm),
		.leaf = hist_leaf_frame(h, leaf),
		.period = sample->period,
		.latency = hist_latency_of(sample->period, context->parallelism),
		.n = 1,
		.cpu = spec->keeps || spec->has[HIST_CPU] ? sample->cpu : 0,
		.level = hist_level_of(leaf->cpumode),
		.cpumode = leaf->cpumode,
		.values = has_values ? parts->values : NULL,
		.numbers = hist_has_numbers(spec) ? &parts->numbers : NULL,
	};

	if (!s->comm || !s->leaf)
		return error_nomem();
	if (spec->accesses) {
		TRY(hist_access_make(h, sample, thread, &parts->access));
		s->access = &parts->access;
		s->period = max_of(sample_weight(sample), (uint64_t)1);
		s->latency = hist_latency_of(s->period, context->parallelism);
	}
	/* perf counts within the image of a BPF program. */
	s->ip = leaf->map && leaf->map->dso->kind == DSO_BPF ? leaf->addr - leaf->map->start
							     : leaf->dso_addr;
	if (spec->has[HIST_TIME])
		s->time = spec->time_quantum
				  ? sample->time / spec->time_quantum * spec->time_quantum
				  : sample->time;
	if (hist_keyed_by_cgroup(spec))
		s->cgroup = session_cgroup_of(h->session, sample);
	if (hist_wants_trace(h, event))
		TRY(hist_trace_text(h, event, sample, &s->trace));
	for (size_t i = 0; s->values && i < spec->n_dynamic; i++) {
		parts->values[i] = NULL;
		TRY(value_of(h, &spec->dynamic[i], event, sample, &parts->values[i]));
	}
	if (spec->branch_history)
		return hist_history_make(h, event, sample, thread, parts, s);
	return hist_spec_wants_chain(spec) && (sample->chain.n || sample_has_only_stack(sample))
		       ? add_chain(h, sample, thread, parts, s)
		       : NULL;
}

struct error *hist_add(struct hist *h, const struct sample *sample,
		       const struct session_event *event, const struct thread *thread,
		       const struct location *leaf, const struct hist_context *context,
		       bool filtered)
{
	struct stack_parts parts;
	struct hist_stack s, *stack;

	TRY(hist_stack_make(h, sample, event, thread, leaf, context, &parts, &s));
	s.filtered = filtered;
	TRY(hist_stack_add(h, &s, parts.thread, &stack));
	TRY(hist_stack_keep(h, stack, sample));
	TRY(hist_history_add(h, stack));
	if (h->knows && !filtered && !h->is_unsure)
		hist_known_keep(h, sample, thread, stack);
	return NULL;
}

size_t hist_size(const struct hist *h)
{
	return h->sorted.n;
}

const struct hist_entry *hist_at(const struct hist *h, size_t i)
{
	return h->sorted.v[i];
}

const struct result_totals *hist_totals(const struct hist *h)
{
	return &h->totals;
}

const struct result_totals *hist_shown_totals(const struct hist *h)
{
	return &h->shown;
}

const struct hist_level *hist_levels(const struct hist *h, size_t *n)
{
	*n = h->n_levels; /* 0: no hierarchy */
	return h->spec->hierarchy ? h->levels : NULL;
}

const struct hist_spec *hist_spec_of(const struct hist *h)
{
	return h->spec;
}

struct hist_stack *const *hist_stacks(const struct hist *h, size_t *n)
{
	*n = h->stacks.n;
	return h->stacks.v;
}

char hist_dso_origin(const struct hist *h, const struct dso *dso)
{
	struct symtab *st = dso && dso->kind != DSO_BPF && !h->spec->live
				    ? resolver_symtab(h->resolver, (struct dso *)dso)
				    : NULL;

	return st ? symtab_origin(st) : '!';
}
