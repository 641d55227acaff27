// SPDX-License-Identifier: BSD-2-Clause
/* run --call-graph dwarf: all objects share the unwind tables of the first one that supports it. */
#include <errno.h>

#include "lib/object/object.h"
#include "lib/sys/proc.h"
#include "perf/live/live.h"
#include "run/run_state.h"
#include "work/loop.h"

struct error *run_prepare_unwinding(struct run *run, struct bpf_object *obj)
{
	bool supported;

	if (!run->opts.unwinds)
		return NULL;
	TRY(error_at(unwind_maps_prepare(obj, run->unwinds, &supported), "%s", object_path(obj)));
	if (supported && !run->unwinds)
		run->unwinds = obj;
	return NULL;
}

struct error *run_check_unwinding(const struct run *run)
{
	if (!run->opts.unwinds || run->unwinds)
		return NULL;
	return error_hint(error_new(ENOTSUP, "none of the programs supports --call-graph dwarf"),
			  "include <bpf/perf_bpf_unwind.h> before <bpf/perf_bpf_prog.h>");
}

/* The processes of -p and -t. */
static struct error *load_targets(struct run *run)
{
	const struct task *task;

	vec_for_each (task, &run->tasks.list) {
		struct sys_proc_status status;
		struct error *ended = sys_proc_status(NULL, 0, task->id, &status);

		if (!ended)
			TRY(unwind_maps_load(run->unwind, (uint32_t)status.tgid));
		error_free(ended);
	}
	return NULL;
}

struct error *run_begin_unwinding(struct run *run)
{
	if (!run->unwinds)
		return NULL;
	TRY(unwind_maps_new(run->unwinds, run->names, &run->unwind));
	TRY(run_names_follow_maps(run->names, run->opts.log, unwind_maps_see, run->unwind));
	run->live = run_names_live(run->names);
	return load_targets(run);
}

static struct error *on_asks(void *ctx, uint32_t events)
{
	struct run *run = ctx;

	return unwind_maps_answer(run->unwind);
}

struct error *run_watch_unwinding(struct run *run)
{
	return run->unwind ? loop_watch(run->loop, unwind_maps_fd(run->unwind), on_asks, run)
			   : NULL;
}

struct error *run_update_unwinding(struct run *run)
{
	return run->unwind ? unwind_maps_update(run->unwind) : NULL;
}

bool run_unwinds(const struct run *run, const struct bpf_object *obj)
{
	return run->unwind && unwind_maps_has(obj);
}

struct error *run_note_unwinding(struct run *run, bool delta, struct results *results, size_t at)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (at >= results->n)
		return NULL;
	struct result *r = &results->v[at];
	TRY(unwind_maps_describe(run->unwind, delta, &text, &r->note_is_good));
	if (!text.len)
		return NULL;
	r->note_is_good &= !r->note;
	if (r->note)
		strbuf_addf(&text, "; %s", r->note);
	r->note = strbuf_failed(&text) ? NULL : arena_strdup(&results->arena, text.str);
	return r->note ? NULL : error_nomem();
}
