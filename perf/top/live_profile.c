// SPDX-License-Identifier: BSD-2-Clause
/*
 * The session keeps threads that have ended until they are forgotten, since their last samples may
 * still be in a ring. Of some the end is never seen: its record was lost, or they ended on a CPU
 * that is not sampled. So those that the kernel does not know any more are looked for first, then
 * the rings are read once more, and what has not ended by then is forgotten as well.
 */
#include "perf/top/live_profile.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "perf/record/live_events.h"

enum {
	MAX_MORE = 4096, /* threads than when those that had ended were forgotten last */
};

struct live_profile {
	struct recording *rec;
	struct opened_recording opened; /* the session, as the sums see it */
	struct summary *summary;
	struct session_tool *tool;
	struct session_tool none; /* before there are sums */
	struct live_profile_opts opts;
	struct live_function *function; /* that is watched; NULL: none */
	uint64_t n_samples;
	size_t n_threads; /* when those that had ended were forgotten last */
};

void live_profile_free(struct live_profile *p)
{
	if (!p)
		return;
	live_function_free(p->function);
	recording_free(p->rec);
	summary_free(p->summary);
	resolver_free(p->opened.resolver);
	filter_free(p->opened.filter);
	session_free(p->opened.session);
	free(p);
}

static struct error *add_event(void *ctx, const struct live_event *event)
{
	struct live_profile *p = ctx;

	TRY(session_add_event(p->opened.session, &event->attr, event->name, event->ids,
			      event->n_ids));
	return event->n_members ? session_begin_group(p->opened.session, event->n_members) : NULL;
}

static struct error *add_ids(void *ctx, size_t event, const uint64_t *ids, size_t n)
{
	struct live_profile *p = ctx;

	return session_add_ids(p->opened.session, event, ids, n);
}

static struct error *push_existing(void *ctx, const void *records, size_t size)
{
	const struct iovec iov = {.iov_base = (void *)records, .iov_len = size};
	struct live_profile *p = ctx;

	return session_push(p->opened.session, &p->none, &iov, 1);
}

static struct error *push(void *ctx, const struct iovec *iov, int n)
{
	struct live_profile *p = ctx;

	return session_push(p->opened.session, p->tool, iov, n);
}

static struct error *count_sample(void *ctx, const struct session_event *event,
				  const struct location *at, const struct sample *sample)
{
	struct live_profile *p = ctx;

	p->n_samples++;
	return p->function ? live_function_add(p->function, event, at, sample->period) : NULL;
}

/* What every ring had at one moment is handed on in order. */
static struct error *drain(struct live_profile *p)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	TRY(live_events_drain(p->rec, push, p));
	return session_advance(p->opened.session, p->tool, now);
}

static bool exists(int32_t pid)
{
	return pid <= 0 || !kill(pid, 0) || errno != ESRCH;
}

/* The processes that are kept and do not exist. */
static struct error *find_missing(const struct session *s, struct u64map *missing)
{
	_cleanup_free_ struct thread **all = NULL;
	size_t n;

	TRY(session_threads(s, &all, &n));
	for (size_t i = 0; i < n; i++)
		if (all[i]->pid == all[i]->tid && !exists(all[i]->pid) &&
		    !u64map_put(missing, (uint32_t)all[i]->pid, missing))
			return error_nomem();
	return NULL;
}

static bool keep(void *ctx, int32_t pid, uint64_t ended)
{
	return !ended && !u64map_get(ctx, (uint32_t)pid);
}

static struct error *forget_ended(struct live_profile *p)
{
	struct u64map missing = {0};
	struct error *err = find_missing(p->opened.session, &missing);

	if (!err)
		err = drain(p);
	if (!err)
		session_forget(p->opened.session, keep, &missing);
	p->n_threads = session_n_threads(p->opened.session);
	u64map_deinit(&missing);
	return err;
}

static struct error *read_rings(struct live_profile *p)
{
	TRY(drain(p));
	return session_n_threads(p->opened.session) > p->n_threads + MAX_MORE ? forget_ended(p)
									      : NULL;
}

static struct error *on_ready(void *ctx, uint32_t events)
{
	return read_rings(ctx);
}

struct error *live_profile_new(const struct live_profile_opts *opts, struct loop *loop,
			       struct live_profile **out)
{
	const struct session_opts session_opts = {.sz = sizeof(session_opts), .log = opts->log};
	struct resolver_opts resolver_opts = {
		.sz = sizeof(resolver_opts),
		.log = opts->log,
		.kallsyms = opts->kallsyms,
		.vmlinux = opts->vmlinux,
		.ignore_vmlinux = opts->ignore_vmlinux,
		.demangler = opts->demangler,
		.demangle = !opts->no_demangle,
		.demangle_kernel = opts->demangle_kernel,
		.lines = opts->code.shown && !opts->code.no_source,
		.kernel_runs = true,
		.kernel_code = opts->kernel_code,
		.kernel_code_ctx = opts->kernel_code_ctx,
	};
	_cleanup_(live_profile_freep) struct live_profile *p = calloc(1, sizeof(*p));
	struct filter_opts filter = opts->filter;
	struct summary_opts sums = opts->sums;

	if (!p)
		return error_nomem();
	p->opts = *opts;
	filter.sz = sizeof(filter);
	TRY(filter_new(&filter, &p->opened.filter));
	TRY(live_events_new(&opts->record, loop, &p->rec));
	TRY(session_new_live(&session_opts, &p->opened.session));
	TRY(live_events_each(p->rec, add_event, p));
	TRY(error_mark_usage(filter_check(p->opened.filter, p->opened.session, NULL)));
	TRY(live_events_follow_cpus(p->rec, add_ids, p));
	TRY(live_events_hold_files(p->rec, &resolver_opts.held));
	TRY(resolver_new(p->opened.session, &resolver_opts, &p->opened.resolver));
	p->opened.path = "live events";
	p->opened.log = opts->log;
	sums.recording = &p->opened;
	sums.live = true;
	sums.each = count_sample;
	sums.each_ctx = p;
	TRY(summary_new(&sums, &p->summary));
	p->tool = summary_tool(p->summary);
	/* Records of new processes come since the events were opened: none is missed in between. */
	TRY(live_events_existing(p->rec, true, push_existing, p));
	p->n_threads = session_n_threads(p->opened.session);
	TRY(live_events_watch(p->rec, on_ready, p));
	*out = steal_ptr(p);
	return NULL;
}

struct error *live_profile_start(struct live_profile *p)
{
	return live_events_start(p->rec);
}

void live_profile_fade(struct live_profile *p, bool all)
{
	summary_fade(p->summary, all);
	if (p->function)
		live_function_fade(p->function, all);
}

struct error *live_profile_show(struct live_profile *p, const struct summary_view *view,
				struct results *results)
{
	TRY(read_rings(p));
	TRY(summary_show(p->summary, view));
	return summary_results(p->summary, results);
}

bool live_profile_opens_later(const struct live_profile *p)
{
	return live_events_open_later(p->rec);
}

bool live_profile_filters_tasks(const struct live_profile *p)
{
	return live_events_filter_tasks(p->rec);
}

struct cpu_watch *live_profile_cpus(const struct live_profile *p)
{
	return live_events_cpus(p->rec);
}

static uint64_t offline_ns(const struct live_profile *p)
{
	struct cpu_watch *watch = live_profile_cpus(p);
	size_t n = 0;
	const struct cpu_gap *gaps = watch ? cpu_watch_gaps(watch, &n) : NULL;
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += gaps[i].ns;
	return sum;
}

struct error *live_profile_watch(struct live_profile *p, size_t result, const char *module,
				 const char *function)
{
	struct session *session = p->opened.session;
	_cleanup_strbuf_ struct strbuf event = STRBUF_INIT;

	live_function_free(p->function);
	p->function = NULL;
	if (!function)
		return NULL;
	const size_t first = summary_event_of(p->summary, result);
	if (first >= session_n_events(session))
		return error_new(ENOENT, "the row does not belong to an event of this profile");
	const size_t n = summary_group_size(session, GROUPS_OF_RECORDING, first);
	if (n > 1)
		summary_add_group_name(session, first, n, &event);
	else
		strbuf_adds(&event, session_event(session, first)->name);
	const struct live_function_opts opts = {
		.source = !p->opts.code.no_source,
		.raw = p->opts.code.raw,
		.intel = p->opts.code.intel,
		.prefix = p->opts.code.prefix,
		.resolver = p->opened.resolver,
		.module = module,
		.name = function,
		.first_event = first,
		.n_events = n,
		.event = strbuf_str(&event),
	};
	return strbuf_failed(&event) ? error_nomem() : live_function_new(&opts, &p->function);
}

struct error *live_profile_code(struct live_profile *p, const struct annotation **out)
{
	TRY(read_rings(p));
	struct error *err = live_function_show(p->function, out);
	if (err) {
		live_function_free(p->function);
		p->function = NULL;
	}
	return err;
}

struct live_profile_counts live_profile_counts(const struct live_profile *p)
{
	const struct hist_kept kept = summary_kept(p->summary);

	return (struct live_profile_counts){
		.samples = p->n_samples,
		.lost = live_events_lost(p->rec),
		.thinned = kept.thinned,
		.threads = session_n_threads(p->opened.session),
		.stacks = kept.stacks,
		.bytes = kept.bytes,
		.offline_ns = offline_ns(p),
	};
}
