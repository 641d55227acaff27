// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf prog profile: what a program costs while one waits. */
#include "cmd/prog_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/job.h"
#include "inspect/profile.h"
#include "lib/base/json_writer.h"

/* Until the time is over (0: never) or a signal comes. */
static void wait_for(double seconds)
{
	struct timespec start, now;
	sigset_t mask, before;
	int sig;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, &before);
	clock_gettime(CLOCK_MONOTONIC, &start);
	double left = seconds;
	do { /* after Ctrl-Z and fg, too */
		struct timespec time = {.tv_sec = (time_t)left};

		time.tv_nsec = (long)((left - time.tv_sec) * 1e9);
		sig = seconds > 0 ? sigtimedwait(&mask, NULL, &time) : sigwaitinfo(&mask, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		left = seconds - (now.tv_sec - start.tv_sec) - (now.tv_nsec - start.tv_nsec) / 1e9;
	} while (sig < 0 && errno == EINTR && (seconds == 0 || left > 0));
	sigprocmask(SIG_SETMASK, &before, NULL);
}

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

/* "duration N" at *at, in seconds; without it 0. */
static struct error *read_duration(const struct action_args *args, size_t *at, double *seconds)
{
	char *end;

	if (*at >= args->words.n || strcmp(args->words.v[*at], "duration"))
		return NULL;
	const char *word = *at + 1 < args->words.n ? args->words.v[*at + 1] : "";
	*seconds = strtod(word, &end);
	if (end == word || *end || !(*seconds > 0) || *seconds > 1e9)
		return error_usage("'duration' needs a number of seconds");
	*at += 2;
	return NULL;
}

struct error *prog_profile(const struct action_args *args, size_t at)
{
	_cleanup_(profile_freep) struct prog_profile *profile = NULL;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_close_ int fd = -1;
	double seconds = 0;

	TRY(open_object(KOBJ_PROG, args, &at, &fd));
	TRY(read_duration(args, &at, &seconds));
	job_begin();
	TRY(profile_begin(fd, args->words.v + at, args->words.n - at, &profile));
	wait_for(seconds);
	TRY(profile_end(profile));
	(args->json ? show_json : show_text)(profile, &out);
	if (strbuf_failed(&out))
		return error_nomem();
	fputs(strbuf_str(&out), stdout);
	return NULL;
}
