// SPDX-License-Identifier: BSD-2-Clause
#include "perf/hist/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/clock.h"
#include "lib/base/vec.h"
#include "perf/hist/ref_chains.h"
#include "perf/hist/sample_context.h"
#include "perf/hist/trace_keys.h"

#define DEFAULT_PARENT "^sys_|^do_page_fault"

/* Of a live session, all events together; hist_spec.room, which is used up to four times. */
#define LIVE_ROOM  ((size_t)48 << 20)
#define LEAST_ROOM ((size_t)1 << 20) /* of each event */

struct summary {
	struct summary_opts opts;
	struct sample_reader reader;
	struct sample_context context;
	struct ref_chains ref_chains;
	bool no_latency;		   /* its columns are not shown by default */
	uint64_t n_samples, n_alone;	   /* all, and those while one thread ran */
	struct hist_spec spec, first_spec; /* as it is now; as the options say */
	regex_t parent, ignore_callees;
	bool has_parent, has_ignore_callees;
	struct session_tool tool; /* of a live one */
	uint64_t generation;	  /* likewise: of the session's maps */
	bool counts_known;	  /* samples that are like others need no look */
	struct result_only only[RESULTS_MAX_ONLY];
	size_t n_only;
	VEC(struct hist *) hists; /* by the event's index */
	uint64_t first, last;	  /* ns: of the samples */
};

static struct error *compile_regex(const char *option, const char *pattern, regex_t *out)
{
	char text[256];
	const int code = regcomp(out, pattern, REG_EXTENDED);

	if (!code)
		return NULL;
	regerror(code, out, text, sizeof(text));
	return error_usage("%s: '%s': %s", option, pattern, text);
}

static struct error *setup_regexes(struct summary *s)
{
	if (s->spec.has[HIST_PARENT]) {
		TRY(compile_regex("--parent", s->opts.parent ? s->opts.parent : DEFAULT_PARENT,
				  &s->parent));
		s->has_parent = true;
		s->spec.parent = &s->parent;
	}
	if (s->opts.ignore_callees) {
		TRY(compile_regex("--ignore-callees", s->opts.ignore_callees, &s->ignore_callees));
		s->has_ignore_callees = true;
		s->spec.ignore_callees = &s->ignore_callees;
	}
	return NULL;
}

static struct error *check_chains(const struct summary *s, bool any)
{
	const char *what = s->opts.needs_chains ? "--call-graph" : NULL;

	if (s->opts.keys.branch_history)
		what = "--branch-history";
	if (s->opts.ref_chains)
		what = "--show-ref-call-graph";
	if (s->opts.ignore_callees)
		what = "--ignore-callees";
	if (s->spec.has[HIST_PARENT])
		what = s->opts.exclude_other ? "--exclude-other" : "the key parent";
	if (any || !what)
		return NULL;
	return error_hint(error_usage("%s needs call chains, and the recording has none", what),
			  "record with -g");
}

static struct error *check_branches(const struct summary *s)
{
	struct session *session = s->opts.recording->session;

	for (size_t i = 0; i < session_n_events(session); i++)
		if (session_event(session, i)->attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
			return NULL;
	/* The events of a pipe are not known yet. */
	if ((!s->opts.keys.branches && !s->opts.keys.blocks) || session_header(session)->pipe)
		return NULL;
	return error_hint(error_usage("%s needs branch stacks, and the recording has none",
				      s->opts.keys.blocks ? "--total-cycles" : "--branch-stack"),
			  "record with -b or -j");
}

static struct error *check_accesses(const struct summary *s)
{
	struct session *session = s->opts.recording->session;

	if (!s->opts.keys.accesses || session_header(session)->pipe)
		return NULL;
	for (size_t i = 0; i < session_n_events(session); i++)
		if (session_event(session, i)->attr.sample_type & PERF_SAMPLE_DATA_SRC)
			return NULL;
	return error_hint(
		error_usage("--mem-mode needs accesses to memory, and the recording has none"),
		"record with -d");
}

static bool names_latency(const char *keys)
{
	return keys && (strstr(keys, "latency") || strstr(keys, "parallelism"));
}

static struct error *check_latency(const struct summary *s, const struct hist_spec_opts *keys)
{
	const bool wanted = keys->prefer_latency || s->opts.parallelism ||
			    names_latency(keys->sort) || names_latency(keys->fields);

	if (!wanted || keys->has_switches)
		return NULL;
	return error_hint(error_usage("latencies and parallelism need context switches, and the "
				      "recording has none"),
			  "record with --latency");
}

/* The branches of a call stack are the call chain already. */
static bool has_history(const struct session_event *event)
{
	return event->attr.sample_type & PERF_SAMPLE_BRANCH_STACK &&
	       !(event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

/* Keys and columns, by the options and by what the recording has. */
static struct error *setup_spec(struct summary *s)
{
	const struct summary_opts *opts = &s->opts;
	struct hist_spec_opts keys = opts->keys;
	struct hist_spec *spec = &s->spec;
	const size_t n = session_n_events(opts->recording->session);
	/* A pipe's events are not known yet: perf then expects chains, but no children. */
	bool is_pipe = session_header(opts->recording->session)->pipe, any_chain = false;
	bool any_branch = is_pipe;
	bool all_branches = is_pipe;

	for (size_t i = 0; i < n; i++)
		keys.has_switches |=
			session_event(opts->recording->session, i)->attr.context_switch;
	TRY(check_latency(s, &keys));
	TRY(check_branches(s));
	TRY(check_accesses(s));
	s->opts.keys.has_switches = keys.has_switches;
	keys.sz = sizeof(keys);
	keys.tracepoints_only = n > 0;
	keys.add_parent = opts->parent != NULL;
	keys.has_field = trace_keys_have;
	keys.n_fields = trace_keys_count;
	keys.each_field = trace_keys_offer;
	keys.field_ctx = &s->reader;
	for (size_t i = 0; i < n; i++) {
		const struct session_event *event = session_event(opts->recording->session, i);

		keys.tracepoints_only &= event->attr.type == PERF_TYPE_TRACEPOINT;
		any_chain |= (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
		any_branch |= has_history(event);
	}
	TRY(hist_spec_init(spec, &keys));
	if (opts->exclude_other && !spec->has[HIST_PARENT]) {
		/* Entries are told apart by their parents, which no column shows. */
		keys.add_parent = true;
		TRY(hist_spec_init(spec, &keys));
		spec->elide[HIST_PARENT] = true;
		spec->level[HIST_PARENT] = spec->level[spec->sort[0]];
	}
	if (!any_chain)
		hist_spec_cancel_children(spec);
	any_chain |= is_pipe || (keys.branch_history && any_branch);
	TRY(check_chains(s, any_chain));
	spec->chain = opts->chain;
	spec->branch_history &= any_branch;
	spec->use_chain = any_chain && !opts->no_chains && !spec->branches;
	/* Between two recorded branches may be others. */
	for (size_t i = 0; i < n; i++)
		all_branches |=
			session_event(opts->recording->session, i)->attr.branch_sample_type &
			PERF_SAMPLE_BRANCH_ANY;
	spec->no_block_starts = !all_branches;
	spec->hide_unresolved = opts->hide_unresolved;
	spec->exclude_other = opts->exclude_other;
	spec->symbol_filter = opts->symbol_filter;
	spec->group_sort = opts->group_sort;
	spec->long_dso = opts->long_dso;
	spec->full_paths = opts->full_paths;
	if (spec->blocks || spec->has[HIST_SRCLINE] || spec->has[HIST_SRCFILE] ||
	    spec->has[HIST_SRCLINE_FROM] || spec->has[HIST_SRCLINE_TO])
		resolver_want_lines(opts->recording->resolver);
	spec->keeps = opts->keeps || opts->live;
	spec->live = opts->live;
	if (opts->live)
		spec->room = max_of(LIVE_ROOM / max_of(n, (size_t)1), LEAST_ROOM);
	spec->max_stack = opts->max_stack ? min_of(opts->max_stack, 1024u) : 127;
	spec->nanoseconds = opts->nanoseconds;
	spec->n_samples = opts->keeps ? opts->n_samples : 0;
	if (opts->time_quantum)
		spec->time_quantum = opts->time_quantum;
	spec->trace = keys.raw_trace ? trace_keys_raw_text : trace_keys_text;
	spec->nth_field = trace_keys_name;
	spec->field = trace_keys_value;
	spec->trace_ctx = &s->reader;
	return setup_regexes(s);
}

/* A filter that leaves one value needs no column, unless no other column is left. */
static void setup_elide(struct summary *s)
{
	const struct {
		enum hist_field field;
		struct result_only only;
	} filters[] = {
		{HIST_COMM, {"comm", filter_only_comm(s->opts.recording->filter)}},
		{HIST_DSO, {"dso", filter_only_dso(s->opts.recording->filter)}},
		{HIST_SYMBOL, {"symbol", filter_only_symbol(s->opts.recording->filter)}},
	};
	bool left = false;

	for (size_t i = 0; i < s->spec.n_out; i++) {
		enum hist_field field = s->spec.out[i];

		if (field < HIST_N_MEASURES)
			continue;
		for (size_t f = 0; f < ARRAY_SIZE(filters); f++) {
			if (filters[f].field != field || !filters[f].only.value)
				continue;
			s->only[s->n_only++] = filters[f].only;
			s->spec.elide[field] = !s->spec.hierarchy;
		}
		left |= !s->spec.elide[field];
	}
	if (!left)
		memset(s->spec.elide, 0, sizeof(s->spec.elide));
}

/* At what a sample is of, one by one. */
static bool opts_look(const struct summary_opts *opts)
{
	return opts->live || opts->each || opts->n_samples || opts->ref_chains ||
	       opts->hide_unresolved || opts->has_socket ||
	       !filter_selects_all(opts->recording->filter);
}

/* Whether no function is among n of the keys or columns. */
static bool lacks_functions(const enum hist_field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fields[i] >= HIST_N_MEASURES && fields[i] != HIST_COMM &&
		    fields[i] != HIST_DSO && fields[i] != HIST_PID && fields[i] != HIST_TID)
			return false;
	return true;
}

static bool asks_only_for_dsos(const struct summary *s)
{
	const struct hist_spec *spec = &s->spec;

	return s->counts_known && lacks_functions(spec->sort, spec->n_sort) &&
	       lacks_functions(spec->out, spec->n_out) && !s->opts.table.stacks &&
	       !spec->use_chain && !spec->keeps && !spec->long_dso && !spec->symbol_filter &&
	       !spec->ignore_callees && !spec->branches && !spec->accesses &&
	       !spec->branch_history && !spec->blocks;
}

struct error *summary_new(const struct summary_opts *opts, struct summary **out)
{
	_cleanup_(summary_freep) struct summary *s = calloc(1, sizeof(*s));

	if (!s)
		return error_nomem();
	memcpy(&s->opts, opts, min_of(opts->sz, sizeof(s->opts)));
	s->reader.recording = s->opts.recording;
	s->reader.max_stack = s->opts.max_stack;
	s->reader.keeps_outermost = s->opts.chain.caller;
	TRY(setup_spec(s));
	setup_elide(s);
	s->counts_known = !opts_look(&s->opts);
	s->spec.only_dsos = asks_only_for_dsos(s);
	s->reader.no_hint = s->spec.only_dsos;
	s->first_spec = s->spec;
	*out = steal_ptr(s);
	return NULL;
}

void summary_free(struct summary *s)
{
	struct hist **h;

	if (!s)
		return;
	vec_for_each (h, &s->hists)
		hist_free(*h);
	vec_deinit(&s->hists);
	sample_reader_deinit(&s->reader);
	sample_context_deinit(&s->context);
	ref_chains_deinit(&s->ref_chains);
	if (s->has_parent)
		regfree(&s->parent);
	if (s->has_ignore_callees)
		regfree(&s->ignore_callees);
	free(s);
}

static struct error *hist_of(struct summary *s, const struct session_event *event,
			     struct hist **out)
{
	while (s->hists.n <= (size_t)event->index)
		if (!vec_push(&s->hists))
			return error_nomem();
	struct hist **slot = &s->hists.v[event->index];
	if (!*slot)
		TRY(hist_new(&s->spec, s->opts.recording->resolver, slot));
	*out = *slot;
	return NULL;
}

static struct error *on_sample(struct session_tool *tool, struct session *session,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	struct summary *s = tool->ctx;
	struct location leaf;
	struct hist *h;

	if (sample_reader_has_news(&s->reader))
		TRY(sample_reader_learn(&s->reader));
	if (s->opts.live && session_generation(session) != s->generation) {
		resolver_refresh(s->opts.recording->resolver);
		s->generation = session_generation(session);
	}
	s->first = s->first ? min_of(s->first, sample->time) : sample->time;
	s->last = max_of(s->last, sample->time);
	sample_reader_set(&s->reader, sample, event, thread);
	sample = sample_reader_probed(&s->reader);
	const struct hist_context context =
		sample_context_now(&s->context, session_header(session), sample);
	const bool wants_chain = hist_spec_wants_chain(&s->spec);
	if (s->counts_known) {
		TRY(hist_of(s, event, &h));
		/* All of them are, so that stacks that are broken are counted. */
		if (wants_chain)
			sample = sample_reader_unwound(&s->reader, sample);
		if (!sample)
			return error_nomem();
		if (hist_add_known(h, sample, event, thread, &context)) {
			s->n_samples++;
			s->n_alone += context.parallelism == 1;
			return NULL;
		}
	}
	if (s->spec.only_dsos)
		resolve_map_in(resolver_find_map(s->opts.recording->resolver, thread,
						 sample->cpumode, sample->ip),
			       sample->cpumode, sample->ip, &leaf);
	else
		resolve_addr(s->opts.recording->resolver, thread, sample->cpumode, sample->ip,
			     &leaf);
	if (s->opts.hide_unresolved && !leaf.sym)
		return NULL;
	const struct filter_input in = {
		.sample = sample,
		.event = event,
		.thread = thread,
		.leaf = &leaf,
		.cgroup = session_cgroup_of(session, sample),
		.parallelism = context.parallelism,
	};
	enum filter_verdict verdict = filter_sample(s->opts.recording->filter, &in);
	if (verdict == FILTER_DROP)
		return NULL;
	if (s->opts.has_socket && s->opts.socket != context.socket)
		verdict = FILTER_HIDE;
	TRY(hist_of(s, event, &h));
	if (wants_chain && !s->counts_known)
		sample = sample_reader_unwound(&s->reader, sample);
	if (sample && s->opts.ref_chains)
		sample = ref_chains_use(&s->ref_chains, event, sample);
	if (!sample)
		return error_nomem();
	if (s->opts.each && verdict == FILTER_SHOW)
		TRY(s->opts.each(s->opts.each_ctx, event, &leaf, sample));
	s->n_samples++;
	s->n_alone += context.parallelism == 1;
	/* Samples that are hidden still count for the totals, as in perf. */
	if (s->spec.branches)
		return hist_add_branches(h, sample, event, thread, &leaf, &context,
					 verdict == FILTER_HIDE);
	return hist_add(h, sample, event, thread, &leaf, &context, verdict == FILTER_HIDE);
}

const struct hist *summary_hist(const struct summary *s, size_t event)
{
	return event < s->hists.n ? s->hists.v[event] : NULL;
}

const struct hist_spec *summary_spec(const struct summary *s)
{
	return &s->spec;
}

struct session *summary_session(const struct summary *s)
{
	return s->opts.recording->session;
}

size_t summary_group_size(struct session *session, enum summary_groups groups, size_t first)
{
	const struct data_header *header = session_header(session);
	const size_t n_events = session_n_events(session);
	const struct data_group *group = session_group_of(session, first);

	if (groups == GROUPS_NONE)
		return 1;
	if (groups == GROUPS_ALL && !header->n_groups)
		return n_events - first;
	return group && group->leader == first && group->n_members <= n_events - first
		       ? group->n_members
		       : 1;
}

static size_t group_size(const struct summary *s, size_t first)
{
	return summary_group_size(s->opts.recording->session, s->opts.groups, first);
}

/* All of them have one, so that groups can be made. */
static struct error *finish(struct summary *s)
{
	const size_t n = session_n_events(s->opts.recording->session);
	struct hist *h;

	TRY(resolver_error(s->opts.recording->resolver));
	TRY(sample_reader_error(&s->reader));
	for (size_t i = 0; i < n; i++)
		TRY(hist_of(s, session_event(s->opts.recording->session, i), &h));
	for (size_t i = 0; i < n; i += group_size(s, i))
		TRY(hist_finish_group(&s->hists.v[i], group_size(s, i)));
	return NULL;
}

static struct error *on_other(struct session_tool *tool, struct session *s,
			      const struct record *rec)
{
	struct summary *sum = tool->ctx;

	if (rec->header.type == PERF_RECORD_READ && sum->opts.counts)
		return read_counts_add(sum->opts.counts, rec);
	return sample_context_add(&sum->context, rec);
}

static struct error *on_exit_record(struct session_tool *tool, struct session *s,
				    const struct record *rec, const struct record_task *task)
{
	return on_other(tool, s, rec);
}

static struct error *on_namespaces(struct session_tool *tool, struct session *s,
				   const struct record *rec, const struct record_namespaces *ns)
{
	struct summary *sum = tool->ctx;

	return sample_context_namespaces(&sum->context, ns);
}

/* perf shows no latencies by default if hardly ever more than one thread ran. */
static void drop_useless_columns(struct summary *s)
{
	if (!s->spec.has[HIST_LATENCY] || s->opts.keys.prefer_latency || !s->n_samples ||
	    s->n_alone * 100 / s->n_samples < 99)
		return;
	s->no_latency = true;
	hist_spec_cancel_latency(&s->spec, s->opts.keys.sort);
	hist_spec_cancel_latency(&s->first_spec, s->opts.keys.sort);
}

/* Whether it looks at the chains of all samples. */
static bool unwinds_all(const struct summary *s)
{
	return hist_spec_wants_chain(&s->spec) && !s->opts.hide_unresolved && !s->opts.live &&
	       filter_selects_all(s->opts.recording->filter);
}

struct error *summary_read(struct summary *s)
{
	struct session_tool tool = {.ctx = s, .sample = on_sample};

	if (s->opts.counts || s->opts.keys.has_switches)
		tool.other = on_other;
	if (s->opts.keys.has_switches)
		tool.exit = on_exit_record;
	if (s->spec.has[HIST_CGROUP_ID])
		tool.namespaces = on_namespaces;
	TRY(sample_reader_learn(&s->reader));
	struct error *err = unwinds_all(s) ? sample_reader_process(&s->reader, &tool)
					   : session_process(s->opts.recording->session, &tool);
	if (!err)
		err = filter_end(s->opts.recording->filter, s->opts.recording->session);
	if (err && err->code != EBADMSG)
		return err;
	sample_reader_end(&s->reader);
	drop_useless_columns(s);
	struct error *late = finish(s);
	if (!late)
		return err;
	error_free(err);
	return late;
}

/* What samples are told apart by even if no key says so. */
static bool is_kept(const struct summary *s, enum hist_field field)
{
	switch (field) {
	case HIST_PID:
	case HIST_TID:
	case HIST_COMM:
	case HIST_COMM_NODIGIT:
	case HIST_DSO:
	case HIST_SYMBOL:
	case HIST_SYMBOL_SIZE:
	case HIST_IPC_NULL:
	case HIST_IPC_LBR:
	case HIST_DSO_FROM:
	case HIST_DSO_TO:
	case HIST_SYMBOL_FROM:
	case HIST_SYMBOL_TO:
	case HIST_MISPREDICT:
	case HIST_IN_TX:
	case HIST_ABORT:
	case HIST_CYCLES:
	case HIST_CPU:
	case HIST_CGROUP:
	case HIST_UNIT:
	case HIST_CONTAINER:
	case HIST_POD:
	case HIST_SYMBOL_DADDR:
	case HIST_DSO_DADDR:
	case HIST_LOCKED:
	case HIST_TLB:
	case HIST_MEM:
	case HIST_SNOOP:
	case HIST_DCACHELINE:
	case HIST_SYMBOL_IADDR:
	case HIST_PHYS_DADDR:
	case HIST_DATA_PAGE_SIZE:
	case HIST_BLOCKED:
		return true;
	default:
		return field < HIST_N_MEASURES || s->first_spec.has[field];
	}
}

/* The spec by other keys, of what was collected. */
static struct error *sort_by(const struct summary *s, const char *sort, struct hist_spec *out)
{
	struct hist_spec_opts keys = s->opts.keys;
	struct hist_spec spec;

	keys.sz = sizeof(keys);
	keys.sort = sort;
	keys.fields = NULL;
	TRY(hist_spec_init(&spec, &keys));
	for (size_t i = 0; i < spec.n_sort; i++)
		if (!is_kept(s, spec.sort[i]))
			return error_usage("'%s' must be among the first keys: --sort",
					   hist_field_name(spec.sort[i]));
	if (!s->spec.children && spec.children)
		hist_spec_cancel_children(&spec);
	if (s->no_latency)
		hist_spec_cancel_latency(&spec, sort);
	memcpy(out->sort, spec.sort, sizeof(spec.sort));
	out->n_sort = spec.n_sort;
	memcpy(out->out, spec.out, sizeof(spec.out));
	out->n_out = spec.n_out;
	out->says_self = spec.says_self;
	memcpy(out->has, spec.has, sizeof(spec.has));
	memcpy(out->level, spec.level, sizeof(spec.level));
	memset(out->elide, 0, sizeof(out->elide));
	return NULL;
}

struct session_tool *summary_tool(struct summary *s)
{
	s->tool = (struct session_tool){.ctx = s, .sample = on_sample};
	return &s->tool;
}

void summary_fade(struct summary *s, bool all)
{
	struct hist **h;

	vec_for_each (h, &s->hists)
		if (*h)
			hist_fade(*h, all);
}

struct hist_kept summary_kept(const struct summary *s)
{
	struct hist_kept sum = {0};
	struct hist *const *h;

	vec_for_each (h, &s->hists) {
		const struct hist_kept kept = *h ? hist_kept(*h) : (struct hist_kept){0};

		sum.stacks += kept.stacks;
		sum.bytes += kept.bytes;
		sum.thinned += kept.thinned;
	}
	return sum;
}

struct error *summary_show(struct summary *s, const struct summary_view *view)
{
	struct hist_spec spec = s->first_spec;
	struct hist **h;

	if (view->sort)
		TRY(sort_by(s, view->sort, &spec));
	spec.zoom = view->zoom;
	if (view->symbol_filter)
		spec.symbol_filter = view->symbol_filter;
	if (view->has_group_sort)
		spec.group_sort = view->group_sort;
	vec_for_each (h, &s->hists) {
		if (!*h)
			continue;
		hist_unfinish(*h);
		if (s->opts.live)
			TRY(hist_forget(*h));
	}
	s->spec = spec;
	s->opts.table.relative = view->relative;
	s->opts.table.least_percent = view->least_percent;
	if (s->opts.live)
		resolver_refresh(s->opts.recording->resolver);
	return finish(s);
}

void summary_warn_of_stacks(const struct summary *s)
{
	sample_reader_warn_of_stacks(&s->reader, s->opts.recording->path);
}

void summary_print_branches(const struct summary *s, struct strbuf *out)
{
	struct branch_stats stats = {0};
	struct hist *const *h;

	vec_for_each (h, &s->hists)
		if (*h)
			branch_stats_sum(&stats, hist_branch_stats(*h));
	branch_stats_print(&stats, out);
}

size_t summary_n_entries(const struct summary *s)
{
	struct hist **h;
	size_t n = 0;

	vec_for_each (h, &s->hists)
		n += *h ? hist_size(*h) : 0;
	return n;
}

/* "cpu-clock" counts nanoseconds. */
const char *summary_unit(const struct session_event *event)
{
	bool is_clock = event->attr.type == PERF_TYPE_SOFTWARE &&
			(event->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
			 event->attr.config == PERF_COUNT_SW_TASK_CLOCK);

	return is_clock ? "ns" : "events";
}

/* When the file was written, which is when the recording ended; a pipe has no such time. */
static void set_time(const struct summary *s, struct results *results)
{
	struct stat st;

	if (s->opts.live) {
		results->time = clock_ns(CLOCK_REALTIME);
		return;
	}
	if (session_header(s->opts.recording->session)->pipe || stat(s->opts.recording->path, &st))
		return;
	results->time = timespec_ns(st.st_mtim);
	results->span = s->last > s->first ? s->last - s->first : 0;
}

void summary_add_group_name(struct session *session, size_t first, size_t n, struct strbuf *out)
{
	const struct data_group *group = session_group_of(session, first);

	if (group)
		strbuf_addf(out, "%s { ", *group->name ? group->name : "anon group");
	for (size_t i = first; i < first + n; i++)
		strbuf_addf(out, "%s%s", i == first ? "" : ", ", session_event(session, i)->name);
	if (group)
		strbuf_adds(out, " }");
}

/* perf makes one group of all events with --no-group, too, and then shows each alone. */
static bool is_leader(const struct summary *s, size_t first, size_t n)
{
	struct session *session = s->opts.recording->session;
	const struct data_group *group = session_group_of(session, first);
	const bool is_forced = s->opts.groups == GROUPS_NONE &&
			       !session_header(session)->n_groups && session_n_events(session) > 1;

	return n > 1 || (group && group->leader == first) || (is_forced && !first);
}

bool summary_is_empty(const struct summary *s, size_t first)
{
	const size_t n = group_size(s, first);

	for (size_t i = first; i < first + n; i++)
		if (hist_totals(s->hists.v[i])->samples)
			return false;
	return !s->opts.show_empty;
}

/* The table of n events, which are a group if there is more than one. */
static struct error *add_result(struct summary *s, size_t first, size_t n, struct results *results)
{
	struct session *session = s->opts.recording->session;
	struct hist_results_opts opts = s->opts.table;
	_cleanup_free_ struct hist_member *members = calloc(n, sizeof(*members));
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	if (!members)
		return error_nomem();
	for (size_t i = 0; i < n; i++) {
		const struct session_event *event = session_event(session, first + i);

		members[i] = (struct hist_member){
			s->hists.v[first + i],
			event->name,
			s->spec.accesses ? "weight" : summary_unit(event),
		};
		opts.unit = i && strcmp(members[i].unit, members[0].unit) ? NULL : members[i].unit;
	}
	summary_add_group_name(session, first, n, &name);
	if (strbuf_failed(&name))
		return error_nomem();
	opts.name = n > 1 ? strbuf_str(&name) : members[0].name;
	opts.event = session_event(session, first);
	opts.ref_chains = s->opts.ref_chains && !event_has_chains(opts.event);
	opts.is_leader = is_leader(s, first, n);
	opts.members = members;
	opts.n_members = n > 1 ? n : 0;
	if (summary_is_empty(s, first))
		return NULL;
	return s->spec.blocks ? hist_block_results(s->hists.v[first], &opts, results)
			      : hist_results(s->hists.v[first], &opts, results);
}

size_t summary_event_of(const struct summary *s, size_t n)
{
	const size_t n_events = session_n_events(s->opts.recording->session);
	size_t i = 0;

	while (i < n_events && (summary_is_empty(s, i) || n--))
		i += group_size(s, i);
	return i;
}

void summary_only(const struct summary *s, struct results *results)
{
	results->n_only = s->n_only;
	memcpy(results->only, s->only, sizeof(s->only));
}

struct error *summary_results(struct summary *s, struct results *results)
{
	const size_t n = session_n_events(s->opts.recording->session);

	results->subject = RESULTS_OF_EVENTS;
	results->lost = session_lost_samples(s->opts.recording->session);
	results->lost_unknown = !session_is_complete(s->opts.recording->session);
	summary_only(s, results);
	set_time(s, results);
	for (size_t i = 0; i < n; i += group_size(s, i))
		TRY(add_result(s, i, group_size(s, i), results));
	return NULL;
}
