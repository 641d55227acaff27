// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf prog profile: what a program costs during a time or a command. */
#include "cmd/prog_profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/job.h"
#include "inspect/profile.h"
#include "lib/base/json_writer.h"
#include "work/loop.h"
#include "work/workload.h"

static const struct profile_value *measured(const struct profile_value *v, size_t n,
					    const char *metric)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].metric, metric) && !v[i].why_not)
			return &v[i];
	return NULL;
}

/* What the number means beside the others. */
static void add_ratio(const struct profile_value *all, size_t n, const struct profile_value *v,
		      struct strbuf *out)
{
	const struct profile_value *cycles = measured(all, n, "cycles");
	const struct profile_value *instructions = measured(all, n, "instructions");

	if (!strcmp(v->metric, "instructions") && cycles && cycles->value)
		strbuf_addf(out, "  # %.2f insns per cycle", (double)v->value / cycles->value);
	else if (strstr(v->metric, "_misses") && instructions && instructions->value)
		strbuf_addf(out, "  # %.2f per million insns",
			    1e6 * v->value / instructions->value);
	else if (v->runs)
		strbuf_addf(out, "  # %.1f per run", (double)v->value / v->runs);
	if (v->enabled > v->running)
		strbuf_addf(out, "  (%.2f%%)", 100.0 * v->running / v->enabled);
}

static void show_text(const struct prog_profile *profile, struct strbuf *out)
{
	const struct profile_counts *c = profile_counts(profile);
	size_t n;
	const struct profile_value *v = profile_values(profile, &n);

	strbuf_addf(out, "%18" PRIu64 " run_cnt\n%18" PRIu64 " run_time_ns", c->runs, c->ns);
	if (c->runs)
		strbuf_addf(out, "  # %.1f per run, %.3f %% of a CPU", (double)c->ns / c->runs,
			    100.0 * c->ns / c->span_ns);
	strbuf_addch(out, '\n');
	if (c->missed)
		strbuf_addf(out, "%18" PRIu64 " recursion_misses\n", c->missed);
	for (size_t i = 0; i < n; i++) {
		if (v[i].why_not) {
			strbuf_addf(out, "%18s %s  # %s\n", "<not measured>", v[i].metric,
				    v[i].why_not);
			continue;
		}
		strbuf_addf(out, "%18" PRIu64 " %s", v[i].value, v[i].metric);
		if (v[i].value == UINT64_MAX)
			strbuf_adds(out, " or more");
		add_ratio(v, n, &v[i], out);
		strbuf_addch(out, '\n');
	}
}

static void show_json(const struct prog_profile *profile, struct strbuf *out)
{
	const struct profile_counts *c = profile_counts(profile);
	size_t n;
	const struct profile_value *v = profile_values(profile, &n);

	struct json_writer w = json_writer_make(out);

	jw_object(&w, NULL);
	jw_u64(&w, "duration_ns", c->span_ns);
	jw_u64(&w, "run_cnt", c->runs);
	jw_u64(&w, "run_time_ns", c->ns);
	jw_u64(&w, "recursion_misses", c->missed);
	jw_array(&w, "metrics");
	for (size_t i = 0; i < n; i++) {
		jw_object(&w, NULL);
		jw_text(&w, "metric", v[i].metric);
		if (v[i].why_not) {
			jw_text(&w, "not_measured", v[i].why_not);
		} else {
			jw_u64(&w, "run_cnt", v[i].runs);
			jw_u64(&w, "value", v[i].value);
			jw_u64(&w, "enabled", v[i].enabled);
			jw_u64(&w, "running", v[i].running);
		}
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	json_writer_finish(&w);
	strbuf_addch(out, '\n');
}

/* "duration SECONDS" at *at, in ms; without it 0. */
static struct error *read_duration(const struct action_args *args, size_t *at, uint64_t *ms)
{
	char *end;

	if (*at >= args->words.n || strcmp(args->words.v[*at], "duration"))
		return NULL;
	const char *word = *at + 1 < args->words.n ? args->words.v[*at + 1] : "";
	const double seconds = strtod(word, &end);
	if (end == word || *end || !(seconds > 0) || seconds > 1e9)
		return error_usage("'duration' needs a number of seconds");
	*ms = max_of((uint64_t)(seconds * 1000), UINT64_C(1));
	*at += 2;
	return NULL;
}

/* Until the time is over (0: never), the command ends, or a signal comes. */
static struct error *measure(int fd, uint64_t ms, const struct action_args *args, size_t at,
			     struct prog_profile **profile)
{
	_cleanup_(loop_freep) struct loop *loop = NULL;
	int status;

	TRY(loop_new(&loop));
	TRY(loop_end_if_busy(loop));
	if (args->n_command)
		TRY(loop_prepare(loop, args->command));
	TRY(profile_begin(fd, args->words.v + at, args->words.n - at, profile));
	TRY(loop_duration(loop, ms));
	TRY(action_drop_privileges(args, INSPECT_KILL | INSPECT_WAIT, NULL));
	TRY(loop_start(loop, "run"));
	while (!loop_ended(loop))
		TRY(loop_turn(loop, -1));
	if (loop_workload_status(loop, &status))
		*args->status = workload_exit_status(status);
	return profile_end(*profile);
}

struct error *prog_profile(const struct action_args *all, size_t at)
{
	struct action_args own = *all;
	const struct action_args *args = &own;
	_cleanup_(profile_freep) struct prog_profile *profile = NULL;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_close_ int fd = -1;
	uint64_t ms = 0;

	if (own.n_command < own.words.n) /* else "--" is before "profile" */
		own.words.n -= own.n_command;
	else
		own.n_command = 0;
	TRY(open_object(KOBJ_PROG, args, &at, &fd));
	TRY(read_duration(args, &at, &ms));
	job_begin();
	TRY(measure(fd, ms, args, at, &profile));
	(args->json ? show_json : show_text)(profile, &out);
	return cmd_print(&out);
}
