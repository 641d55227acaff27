// SPDX-License-Identifier: BSD-2-Clause
/*
 * A BPF_EVENT record has the id and the tag. The KSYMBOL records in front of it, of the same CPU,
 * have the name of each of the program's functions, the main one first: "bpf_prog_TAG_NAME"
 * (kernel/events/core.c, perf_event_bpf_event()). That is all that is known of a program that is
 * unloaded before it can be read.
 */
#include "watch/program_watch.h"

#include <bpf/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "lib/sys/proc.h"
#include "perf/event/event.h"
#include "perf/live/live.h"

enum {
	MAX_KNOWN = 1 << 16, /* programs whose details are remembered for their unload */
	MAX_NAMES = 4096,    /* CPUs */
};

struct program_watch {
	struct program_watch_opts opts;
	struct live_source *live;
	struct session_tool tool;
	struct target_names *targets;
	struct u64map known; /* struct program_details *, by id */
	struct u64map names; /* char *, by CPU: of the first KSYMBOL since the last BPF_EVENT */
	struct program_watch_counts counts;
	uint64_t clock_offset; /* from CLOCK_MONOTONIC to CLOCK_REALTIME */
};

void program_watch_free(struct program_watch *w)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	if (!w)
		return;
	live_source_free(w->live);
	while ((slot = u64map_next(&w->known, &pos)))
		program_details_free(slot->value);
	u64map_deinit(&w->known);
	pos = 0;
	while ((slot = u64map_next(&w->names, &pos)))
		free(slot->value);
	u64map_deinit(&w->names);
	target_names_free(w->targets);
	free(w);
}

int program_watch_fd(const struct program_watch *w)
{
	return live_source_fd(w->live);
}

struct program_watch_counts program_watch_counts(const struct program_watch *w)
{
	struct program_watch_counts counts = w->counts;

	counts.lost = live_source_lost(w->live);
	return counts;
}

/* *out is NULL if the program is gone, or *no_right. It is w's. */
static struct error *read_details(struct program_watch *w, uint32_t id,
				  const struct program_details **out, bool *no_right)
{
	_cleanup_(program_details_freep) struct program_details *details = NULL;
	struct error *err = program_details_read(id, w->targets, &details);

	*out = NULL;
	*no_right = err && err->code == EPERM;
	if (*no_right || (err && err->code == ENOENT)) {
		error_free(err);
		return NULL;
	}
	if (err)
		return err;
	program_details_free(u64map_remove(&w->known, id));
	if (w->known.n >= MAX_KNOWN) { /* the unload of one of them will be shown without details */
		size_t pos = 0;
		const struct u64map_slot *any = u64map_next(&w->known, &pos);

		program_details_free(u64map_remove(&w->known, any->key));
	}
	if (!u64map_put(&w->known, id, details))
		return error_nomem();
	*out = steal_ptr(details);
	return NULL;
}

/* The name after "bpf_prog_TAG_", if the symbol is of a program with this tag. */
static const char *name_in_symbol(const char *symbol, const uint8_t tag[BPF_TAG_SIZE])
{
	char prefix[sizeof("bpf_prog_") + 2 * BPF_TAG_SIZE];
	const size_t n = sizeof(prefix) - 1;

	text_bytes(prefix + sprintf(prefix, "bpf_prog_"), tag, BPF_TAG_SIZE);
	return !strncmp(symbol, prefix, n) && symbol[n] == '_' ? symbol + n + 1 : "";
}

static struct error *on_ksymbol(struct session_tool *tool, struct session *s,
				const struct record *rec, const struct record_ksymbol *ksymbol)
{
	struct program_watch *w = tool->ctx;
	const uint64_t cpu = (uint32_t)rec->id.cpu;

	if (strncmp(ksymbol->name, "bpf_prog_", strlen("bpf_prog_")) != 0 ||
	    u64map_get(&w->names, cpu) || w->names.n >= MAX_NAMES)
		return NULL;
	char *name = strdup(ksymbol->name);
	if (!name || !u64map_put(&w->names, cpu, name)) {
		free(name);
		return error_nomem();
	}
	return NULL;
}

/* The thread's name at that time; else what it is called now, if it still runs. */
static struct error *comm_of(struct session *s, const struct record *rec, char comm[16])
{
	const struct thread *thread = session_thread(s, rec->id.pid, rec->id.tid);
	_cleanup_free_ char *now = NULL;
	size_t size = 0;

	if (!thread)
		return error_nomem();
	comm[0] = '\0';
	if (*thread->comm != ':') {
		snprintf(comm, 16, "%s", thread->comm);
		return NULL;
	}
	struct error *err = sys_proc_read(NULL, rec->id.tid, "comm", &now, &size);
	if (!err)
		snprintf(comm, 16, "%.*s", (int)strcspn(now, "\n"), now);
	error_free(err);
	return NULL;
}

static struct error *on_bpf_event(struct session_tool *tool, struct session *s,
				  const struct record *rec, const struct record_bpf_event *ev)
{
	struct program_watch *w = tool->ctx;
	_cleanup_free_ char *symbol = u64map_remove(&w->names, (uint32_t)rec->id.cpu);
	_cleanup_(program_details_freep) struct program_details *last = NULL;
	char comm[16];
	struct program_event event = {
		.time_ns = rec->id.time + w->clock_offset,
		.loaded = ev->type == PERF_BPF_EVENT_PROG_LOAD,
		.id = ev->id,
		.pid = rec->id.pid,
		.tid = rec->id.tid,
		.comm = comm,
	};

	if (!event.loaded && ev->type != PERF_BPF_EVENT_PROG_UNLOAD)
		return NULL;
	memcpy(event.tag, ev->tag, sizeof(event.tag));
	if (event.loaded) {
		TRY(read_details(w, ev->id, &event.details, &event.no_right));
		w->counts.loads++;
		w->counts.gone += !event.details && !event.no_right;
	} else {
		event.details = last = u64map_remove(&w->known, ev->id);
		w->counts.unloads++;
	}
	event.name = symbol ? name_in_symbol(symbol, ev->tag) : "";
	if (!*event.name && event.details)
		event.name = event.details->name;
	TRY(comm_of(s, rec, comm));
	return w->opts.fn(w->opts.ctx, &event);
}

/* What is there already, so that its unload can be shown with its details. */
static struct error *read_loaded(struct program_watch *w)
{
	const struct program_details *details;
	uint32_t id = 0;
	bool no_right = false;

	while (!no_right && w->known.n < MAX_KNOWN && !bpf_prog_get_next_id(id, &id))
		TRY(read_details(w, id, &details, &no_right));
	return NULL;
}

struct error *program_watch_new(const struct program_watch_opts *opts, struct program_watch **out)
{
	_cleanup_(program_watch_freep) struct program_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return error_nomem();
	w->opts = *opts;
	w->tool = (struct session_tool){.ctx = w, .ksymbol = on_ksymbol, .bpf_event = on_bpf_event};
	const struct live_source_opts live = {.sz = sizeof(live),
					      .log = opts->log,
					      .programs = true,
					      .names = true,
					      .tool = &w->tool};
	TRY(target_names_new(&w->targets));
	TRY(live_source_new(&live, &w->live));
	TRY(read_loaded(w));
	*out = steal_ptr(w);
	return NULL;
}

struct error *program_watch_read(struct program_watch *w)
{
	w->clock_offset = (uint64_t)clock_ahead(CLOCK_REALTIME, CLOCK_MONOTONIC);
	TRY(live_source_update(w->live));
	if (live_source_is_full(w->live))
		live_source_forget(w->live, NULL, NULL);
	return NULL;
}
