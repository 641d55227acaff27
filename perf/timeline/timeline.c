// SPDX-License-Identifier: BSD-2-Clause
#include "perf/timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/timeline/internal.h"

#define DEFAULT_MAX_STACK 127 /* perf's PERF_MAX_STACK_DEPTH */

struct error *timeline_new(const struct timeline_opts *opts, struct timeline **out)
{
	_cleanup_(timeline_freep) struct timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return error_nomem();
	t->opts = *opts;
	t->max_stack = opts->max_stack ? opts->max_stack : DEFAULT_MAX_STACK;
	/* a chain that was unwound has both parts in full */
	t->chain = calloc(2 * (size_t)t->max_stack, sizeof(*t->chain));
	if (!t->chain)
		return error_nomem();
	*out = steal_ptr(t);
	return NULL;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	vec_deinit(&t->funcs);
	vec_deinit(&t->frames);
	vec_deinit(&t->stacks);
	vec_deinit(&t->samples);
	vec_deinit(&t->threads);
	u64map_deinit(&t->funcs_by_key);
	u64map_deinit(&t->frames_by_key);
	u64map_deinit(&t->stacks_by_key);
	u64map_deinit(&t->threads_by_tid);
	strmap_deinit(&t->texts);
	strbuf_deinit(&t->text);
	arena_deinit(&t->arena);
	free(t->chain);
	free(t);
}

const char *timeline_dso_name(const struct dso *dso)
{
	if (!dso)
		return "[unknown]";
	return dso->kind == DSO_USER || dso->kind == DSO_ANON ? dso->path : dso->short_name;
}

const char *timeline_process_name(const struct timeline *t, int32_t pid)
{
	const uintptr_t index = (uintptr_t)u64map_get(&t->threads_by_tid, (uint32_t)pid);

	return index ? t->threads.v[index - 1].comm : "";
}

/* ---- each thing once ---- */

/*
 * The index of what has this key, which is mixed from its members: with 64 bits, two of a million
 * things share one with a chance of 1 in 37 million, and would then be shown as one. false: no
 * memory. *is_new: n is its index, and the caller adds it.
 */
static bool index_of(struct u64map *map, uint64_t key, size_t n, uint32_t *index, bool *is_new)
{
	const uintptr_t found = (uintptr_t)u64map_get(map, key);

	*is_new = !found;
	*index = found ? (uint32_t)(found - 1) : (uint32_t)n;
	return found || (n < NO_STACK && u64map_put(map, key, (void *)(uintptr_t)(n + 1)));
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	return hash_u64(hash_u64(a + 1) ^ b);
}

static const char *keep_text(struct timeline *t, const char *text)
{
	const char *kept = strmap_get(&t->texts, text);

	if (kept)
		return kept;
	kept = arena_strdup(&t->arena, text);
	return kept && strmap_put(&t->texts, kept, (void *)(uintptr_t)kept) ? kept : NULL;
}

static bool add_func(struct timeline *t, const struct location *at, uint32_t *index)
{
	const struct dso *dso = at->map ? at->map->dso : NULL;
	const char *name = at->sym ? at->sym->name : NULL;
	char hex[32];
	bool is_new;

	if (!name) {
		snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)at->addr);
		name = hex;
	}
	name = keep_text(t, name); /* equal names are one text */
	if (!name || !index_of(&t->funcs_by_key, mix((uintptr_t)dso, (uintptr_t)name), t->funcs.n,
			       index, &is_new))
		return false;
	if (!is_new)
		return true;
	struct timeline_func *func = vec_push(&t->funcs);
	if (func)
		*func = (struct timeline_func){.name = name, .dso = dso};
	return func;
}

static bool add_frame(struct timeline *t, const struct location *at, uint32_t *index)
{
	const uint64_t address = at->map ? at->dso_addr : at->addr;
	uint32_t func;
	bool is_new;

	if (!add_func(t, at, &func) ||
	    !index_of(&t->frames_by_key, mix(func, address), t->frames.n, index, &is_new))
		return false;
	if (!is_new)
		return true;
	struct timeline_frame *frame = vec_push(&t->frames);
	if (frame)
		*frame = (struct timeline_frame){.func = func,
						 .address = address,
						 .is_kernel =
							 at->cpumode == PERF_RECORD_MISC_KERNEL};
	return frame;
}

static bool add_stack(struct timeline *t, uint32_t caller, const struct location *at,
		      uint32_t *index)
{
	uint32_t frame;
	bool is_new;

	if (!add_frame(t, at, &frame) ||
	    !index_of(&t->stacks_by_key, mix(caller, frame), t->stacks.n, index, &is_new))
		return false;
	if (!is_new)
		return true;
	struct timeline_stack *stack = vec_push(&t->stacks);
	if (stack)
		*stack = (struct timeline_stack){.caller = caller, .frame = frame};
	return stack;
}

static bool add_thread(struct timeline *t, const struct sample *sample, const struct thread *thread,
		       uint32_t *index)
{
	bool is_new;

	if (!index_of(&t->threads_by_tid, (uint32_t)sample->tid, t->threads.n, index, &is_new))
		return false;
	if (is_new && !vec_push(&t->threads))
		return false;
	struct timeline_thread *at = &t->threads.v[*index];
	at->pid = sample->pid;
	at->tid = sample->tid;
	const char *comm = keep_text(t, thread ? thread->comm : "");
	/* what there is without memory for more is still written */
	if (comm || !at->comm)
		at->comm = comm ? comm : "";
	return comm;
}

/* ---- a sample ---- */

/* Of functions that are inlined at an address, the outermost first. */
static bool add_inlined(struct timeline *t, const struct location *at, uint32_t *index)
{
	const struct inline_frames *inlines = resolve_inlines(t->opts.resolver, at);
	struct location frame = *at;

	if (!inlines)
		return add_stack(t, *index, at, index);
	for (size_t k = inlines->n; k-- > 0;) {
		frame.sym = inlines->v[k].sym;
		if (!add_stack(t, *index, &frame, index))
			return false;
	}
	return true;
}

static bool add_chain(struct timeline *t, const struct sample *sample, const struct thread *thread,
		      uint32_t *index)
{
	const size_t max = sample->is_unwound ? 2 * (size_t)t->max_stack : t->max_stack;
	size_t n = 0;

	*index = NO_STACK;
	if (sample->has & PERF_SAMPLE_CALLCHAIN)
		n = resolve_chain(t->opts.resolver, thread, sample, t->chain, max);
	if (!n && sample->has & PERF_SAMPLE_IP) {
		resolve_addr(t->opts.resolver, thread, sample->cpumode, sample->ip, &t->chain[0]);
		return add_stack(t, *index, &t->chain[0], index);
	}
	while (n-- > 0)
		if (!add_inlined(t, &t->chain[n], index))
			return false;
	return true;
}

static uint64_t number_of(const struct trace_event *format, const char *name,
			  const struct sample *sample)
{
	const struct trace_field *field = trace_event_find_field(format, name);
	uint64_t v = 0;

	if (field)
		trace_field_number(format, field, sample->raw, sample->raw_size, &v);
	return v;
}

static const char *text_of(struct timeline *t, const struct trace_event *format, const char *name,
			   const struct sample *sample)
{
	const struct trace_field *field = trace_event_find_field(format, name);
	const uint8_t *bytes;
	uint32_t len;

	strbuf_reset(&t->text);
	if (field && field->kind == TRACE_FIELD_STRING &&
	    trace_field_bytes(format, field, sample->raw, sample->raw_size, &bytes, &len))
		strbuf_add(&t->text, bytes, len);
	return strbuf_failed(&t->text) ? NULL : keep_text(t, strbuf_str(&t->text));
}

static bool add_switch(struct timeline *t, const struct sample *sample,
		       const struct trace_event *format, struct timeline_sample *out)
{
	struct timeline_switch *s = arena_alloc(&t->arena, sizeof(*s));

	if (!s)
		return false;
	*s = (struct timeline_switch){
		.prev_comm = text_of(t, format, "prev_comm", sample),
		.next_comm = text_of(t, format, "next_comm", sample),
		.prev_pid = number_of(format, "prev_pid", sample),
		.prev_prio = number_of(format, "prev_prio", sample),
		.prev_state = number_of(format, "prev_state", sample),
		.next_pid = number_of(format, "next_pid", sample),
		.next_prio = number_of(format, "next_prio", sample),
	};
	out->sched = s;
	return s->prev_comm && s->next_comm;
}

static bool add_text(struct timeline *t, const struct sample *sample, struct trace_event *format,
		     struct timeline_sample *out)
{
	strbuf_reset(&t->text);
	trace_event_print(format, sample->raw, sample->raw_size, &t->text);
	out->text = strbuf_failed(&t->text) ? NULL : keep_text(t, strbuf_str(&t->text));
	if (!out->text)
		return false;
	return strcmp(trace_event_system(format), "sched") ||
	       strcmp(trace_event_name(format), "sched_switch") ||
	       add_switch(t, sample, format, out);
}

struct error *timeline_add(struct timeline *t, const struct sample *sample,
			   const struct session_event *event, struct trace_event *format,
			   const struct thread *thread)
{
	struct timeline_sample s = {
		.time = sample->time,
		.period = sample->period,
		.event = (uint32_t)event->index,
		.cpu = sample->has & PERF_SAMPLE_CPU ? sample->cpu : -1,
		.cpumode = sample->cpumode,
	};

	if (!add_thread(t, sample, thread, &s.thread) || !add_chain(t, sample, thread, &s.stack) ||
	    (format && sample->raw && !add_text(t, sample, format, &s)))
		return error_nomem();
	struct timeline_sample *to = vec_push(&t->samples);
	if (!to)
		return error_nomem();
	*to = s;
	return NULL;
}
