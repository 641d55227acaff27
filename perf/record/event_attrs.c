// SPDX-License-Identifier: BSD-2-Clause
/*
 * The events of a recording and their attrs. What an attr must hold so that
 * perf reads the file is perf record's own choice (tools/perf, evsel__config):
 *
 *  - every sample has ip, pid, tid and time; cpu when system-wide; period
 *    when it varies; raw bytes, cpu and period for tracepoints and probes;
 *  - with more than one event, samples begin with an IDENTIFIER, and so do
 *    all other records end (sample_id_all);
 *  - side-band records (mmap2, comm, fork, ksymbol, bpf_event) come from a
 *    dummy. perf records them with the first event where it can, but then the
 *    kernel counts lost side-band records as lost samples of that event. So
 *    that the file has the same events as perf's, the dummy is listed in it
 *    only when system-wide, when the others are enabled late, or when they are overwritten; else
 *    its ids
 *    are further ids of the first event, whose sample_id fields are the same.
 *
 * All events of a recording share the sample_type bits that come before the
 * variable parts, so that drain.c finds them at one place.
 */
#include "perf/record/internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/event/sample_regs.h"

#define DEFAULT_FREQ 4000

#define WAKEUP_FRACTION 8
#define WAKEUP_BYTES	(128 * 1024)

/* Rings of half a MiB are what perf_event_mlock_kb (516) lets everyone have. */
#define DEFAULT_RING_BYTES   (512 * 1024)
#define DEFAULT_RING_OF_ROOT (4096 * 1024)
/* All rings together, of root, where there are many CPUs. */
#define DEFAULT_RINGS_BYTES (64 * 1024 * 1024)

void event_deinit(struct event *event)
{
	struct event_fd *efd;
	int *fd;

	vec_for_each (efd, &event->fds)
		closep(&efd->fd);
	vec_deinit(&event->fds);
	vec_for_each (fd, &event->owned)
		close(*fd);
	vec_deinit(&event->owned);
	vec_deinit(&event->progs);
	vec_deinit(&event->pending);
	attach_event_deinit(&event->probe);
	free(event->name);
	free(event->system);
	free(event->tracepoint);
	free(event->format);
	free(event->prog.path);
	free(event->filter);
	vec_deinit(&event->tests);
	free(event->cgroups);
}

struct event *event_new(struct recording *rec, enum event_kind kind, const char *name)
{
	char *copy = strdup(name);
	struct event *event = copy ? vec_push(&rec->events) : NULL;

	if (!event) {
		free(copy);
		return NULL;
	}
	event->kind = kind;
	event->name = copy;
	event->inherit = -1;
	event->overwrite = -1;
	event->group = -1;
	event->map_fd = -1;
	event->leader = rec->events.n - 1;
	event->n_members = 1;
	event->attr.size = sizeof(event->attr);
	return event;
}

static bool is_tracing(const struct event *event)
{
	return event->tracepoint || event->probe.name;
}

bool event_is_sampled_counter(const struct event *event)
{
	return event->kind == EVENT_SELECTED && !is_tracing(event) &&
	       !(event->attr.type == PERF_TYPE_SOFTWARE &&
		 (event->attr.config == PERF_COUNT_SW_DUMMY ||
		  event->attr.config == PERF_COUNT_SW_BPF_OUTPUT));
}

/* The event that a program has brought along for the same tracepoint. */
static struct event *find_program_event(struct recording *rec, const struct select_event *sel)
{
	struct event *event;

	vec_for_each (event, &rec->events)
		if (event->kind == EVENT_PROGRAM && event->tracepoint && sel->tracepoint &&
		    event->attr.config == sel->attr.config)
			return event;
	return NULL;
}

/* Takes the strings of a selected event. */
static struct error *event_take(struct recording *rec, struct select_event *sel, int group_base)
{
	struct event *event = find_program_event(rec, sel);

	if (event) {
		free(event->system);
		free(event->tracepoint);
		event->kind = EVENT_SELECTED;
	} else {
		event = event_new(rec, EVENT_SELECTED, sel->name);
	}
	if (!event)
		return error_nomem();
	event->attr = sel->attr;
	event->system = steal_ptr(sel->system);
	event->tracepoint = steal_ptr(sel->tracepoint);
	event->prog = sel->prog;
	sel->prog.path = NULL;
	event->has_period = sel->has_period;
	event->has_freq = sel->has_freq;
	event->callgraph = sel->callgraph;
	event->stack_size = sel->stack_size;
	event->max_stack = sel->max_stack;
	event->inherit = sel->inherit;
	event->overwrite = sel->overwrite;
	event->precise_max = sel->precise_max;
	event->sample_read = sel->sample_read;
	event->is_weak = sel->weak;
	if (sel->group >= 0) {
		size_t index = event - rec->events.v;

		event->group = group_base + sel->group;
		for (size_t i = 0; i < index; i++) {
			if (rec->events.v[i].group != event->group)
				continue;
			event->leader = i;
			rec->events.v[i].n_members++;
			break;
		}
	}
	if (event->prog.kind != SELECT_PROG_NONE)
		TRY(event_prog_open(event));
	return NULL;
}

static struct error *select_arg(struct recording *rec, const char *text, int *groups)
{
	struct selection sel = {0};
	struct select_event *event;
	struct error *err = select_events(rec->roots, text, &sel);

	vec_for_each (event, &sel.events) {
		if (err)
			break;
		err = event->object  ? objects_open(rec, event->object, event)
		      : event->probe ? record_probes_open(rec, event->probe)
				     : event_take(rec, event, *groups);
	}
	*groups += sel.n_groups;
	selection_deinit(&sel);
	return err;
}

struct error *events_add(struct recording *rec, const char *text)
{
	int groups = INT_MAX / 2; /* above all those of the command line */

	return select_arg(rec, text, &groups);
}

/* --filter holds for all events of the -e before it, with what stood there already. */
static struct error *filter_arg(struct recording *rec, const char *filter, size_t first)
{
	if (first == rec->events.n)
		return error_hint(error_new(EINVAL, "--filter '%s' does not follow an event",
					    filter),
				  "write --filter after the -e of an event");
	for (size_t i = first; i < rec->events.n; i++) {
		struct event *event = &rec->events.v[i];
		char *both = NULL;

		if (event->kind == EVENT_OUTPUT)
			continue;
		if (event_is_sampled_counter(event)) {
			TRY(sample_filter_parse(rec->roots, filter, &event->tests));
			continue;
		}
		if (!is_tracing(event))
			return error_new(EINVAL, "--filter does not support the event '%s'",
					 event->name);
		if (asprintf(&both, event->filter ? "(%s) && (%s)" : "%s",
			     event->filter ? event->filter : filter, filter) < 0)
			return error_nomem();
		free(event->filter);
		event->filter = both;
	}
	return NULL;
}

/* A program of the caller puts it out on all CPUs, with the call chain of the task there. */
static struct error *output_add(struct recording *rec, const char *name)
{
	struct event *event = event_new(rec, EVENT_OUTPUT, name);

	if (!event)
		return error_nomem();
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	event->attr.exclude_callchain_kernel = rec->opts.user_chains;
	event->callgraph = rec->opts.callgraph;
	return NULL;
}

/* What perf record does with no -e: cycles, as precise as they come. */
static struct error *default_add(struct recording *rec)
{
	struct event *event = event_new(rec, EVENT_SELECTED, "cycles");

	if (!event)
		return error_nomem();
	event->attr.type = PERF_TYPE_HARDWARE;
	event->attr.config = PERF_COUNT_HW_CPU_CYCLES;
	event->attr.exclude_guest = 1;
	event->precise_max = true;
	return NULL;
}

/* opts.one_group: the events follow one another, as those of each group do. */
static struct error *make_one_group(struct recording *rec)
{
	for (size_t i = 0; i < rec->events.n; i++) {
		struct event *event = &rec->events.v[i];

		if (event->kind != EVENT_SELECTED)
			return error_usage("--group: '%s' cannot be in a group", event->name);
		event->group = event->leader = 0;
		event->n_members = i ? 1 : rec->events.n;
	}
	return NULL;
}

struct error *events_select(struct recording *rec)
{
	size_t first = 0, n_cgroups = 0;
	int groups = 0;

	for (size_t i = 0; i < rec->opts.n_args; i++) {
		const struct record_arg *arg = &rec->opts.args[i];

		switch (arg->kind) {
		case RECORD_EVENTS:
			first = rec->events.n;
			TRY(select_arg(rec, arg->text, &groups));
			break;
		case RECORD_OBJECT:
			first = rec->events.n;
			TRY(objects_open(rec, arg->text, NULL));
			break;
		case RECORD_FILTER:
			TRY(filter_arg(rec, arg->text, first));
			break;
		case RECORD_OUTPUT:
			first = rec->events.n;
			TRY(output_add(rec, arg->text));
			break;
		case RECORD_CGROUPS:
			TRY(event_cgroups_add(rec, arg->text, &n_cgroups));
			break;
		}
	}
	bool wants_samples = false, has_samples = false;
	for (size_t i = 0; i < rec->objects.n; i++) {
		struct bpf_program *prog;

		bpf_object__for_each_program (prog, rec->objects.v[i].file.obj)
			wants_samples |= program_section(prog)->kind == PROGRAM_PERF_EVENT &&
					 bpf_program__autoload(prog) &&
					 !*program_section(prog)->target;
	}
	for (size_t i = 0; i < rec->events.n; i++)
		has_samples |= event_is_sampled_counter(&rec->events.v[i]);
	if ((wants_samples && !has_samples) || (!rec->events.n && !rec->objects.n))
		TRY(default_add(rec));
	if (rec->opts.one_group)
		TRY(make_one_group(rec));
	TRY(terms_want_events(rec));
	TRY(objects_bind(rec));
	TRY(sample_filters_open(rec));
	TRY(event_cgroups_end(rec));
	TRY(off_cpu_open(rec));
	if (!rec->events.n) /* programs without events: only side-band is recorded */
		log_info(rec->log, "the programs give no events: the recording will be empty");
	return NULL;
}

/* -F and -c; a term of the event has the last word. */
static struct error *set_rate(struct recording *rec, struct event *event)
{
	struct perf_event_attr *attr = &event->attr;
	const struct record_opts *o = &rec->opts;

	if (event->has_period || event->has_freq)
		return NULL;
	if (o->period) {
		attr->sample_period = o->period;
		return NULL;
	}
	if (is_tracing(event) && !o->freq) {
		attr->sample_period = 1;
		return NULL;
	}
	/* once for all events, as the warning */
	if (!rec->freq) {
		const struct select_freq_opts opts = {
			.asked = o->freq,
			.otherwise = DEFAULT_FREQ,
			.strict = o->strict_freq,
			.log = rec->log,
		};
		TRY(select_freq(rec->roots, &opts, &rec->freq));
	}
	attr->freq = 1;
	attr->sample_freq = rec->freq;
	return NULL;
}

/*
 * The kernel walks its own frames. User space is left out: it would be walked by frame pointers,
 * which the programs that are recorded like this do not have.
 */
static void set_stack_copy(struct recording *rec, struct event *event)
{
	struct perf_event_attr *attr = &event->attr;

	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user =
		rec->opts.user_regs ? rec->opts.user_regs | sample_regs_least() : sample_regs_all();
	attr->sample_stack_user = event->stack_size	 ? event->stack_size
				  : rec->opts.stack_size ? rec->opts.stack_size
							 : SELECT_STACK_DEFAULT;
	attr->exclude_callchain_user = 1;
	rec->stacks = true;
	rec->data_maps = true;
}

/*
 * The CPU keeps the calls of user space alone, and one kind of branches. As perf, the chain is
 * walked by frame pointers otherwise.
 */
static void set_call_records(struct recording *rec, struct event *event)
{
	struct perf_event_attr *attr = &event->attr;

	if (rec->opts.branches || attr->exclude_user) {
		log_warn(rec->log, "%s: --call-graph lbr needs %s: using frame pointers instead",
			 event->name,
			 attr->exclude_user ? "samples of user space"
					    : "the branch records, which -b and -j use");
		return;
	}
	attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
				   PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS;
}

static void set_callgraph(struct recording *rec, struct event *event)
{
	const enum select_callgraph mode = event->callgraph == SELECT_CALLGRAPH_DEFAULT
						   ? rec->opts.callgraph
						   : event->callgraph;

	if (mode == SELECT_CALLGRAPH_DEFAULT || mode == SELECT_CALLGRAPH_NO)
		return;
	event->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	event->attr.sample_max_stack = event->max_stack;
	event->attr.exclude_callchain_kernel |= rec->opts.no_kernel_chains;
	event->attr.exclude_callchain_user |= rec->opts.no_user_chains;
	if (mode == SELECT_CALLGRAPH_DWARF)
		set_stack_copy(rec, event);
	if (mode == SELECT_CALLGRAPH_LBR)
		set_call_records(rec, event);
	rec->chains = true;
}

static void set_regs(struct recording *rec, struct event *event)
{
	if (rec->opts.intr_regs) {
		event->attr.sample_type |= PERF_SAMPLE_REGS_INTR;
		event->attr.sample_regs_intr = rec->opts.intr_regs;
	}
	if (!rec->opts.user_regs || event->attr.sample_type & PERF_SAMPLE_REGS_USER)
		return;
	event->attr.sample_type |= PERF_SAMPLE_REGS_USER;
	event->attr.sample_regs_user = rec->opts.user_regs;
}

void event_set_tracking(const struct recording *rec, struct perf_event_attr *attr)
{
	/* perf unwinds stacks only if it knows where the unwind information was mapped. */
	attr->mmap_data = rec->data_maps;
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
	attr->ksymbol = !rec->opts.track; /* they have addresses of the kernel */
	attr->bpf_event = !rec->opts.no_bpf_events;
	attr->cgroup = rec->opts.all_cgroups || rec->target.cgroups.n;
	attr->namespaces = rec->opts.namespaces;
	attr->context_switch = rec->opts.switches;
}

/* What runs and is mapped is needed for all that is kept. */
static bool is_overwritten(const struct recording *rec, const struct event *event)
{
	return event->kind != EVENT_TRACKING &&
	       (event->overwrite >= 0 ? event->overwrite : rec->opts.overwrite);
}

static struct error *configure(struct recording *rec, struct event *event, bool many)
{
	struct perf_event_attr *attr = &event->attr;
	const struct record_opts *o = &rec->opts;
	bool leader = &rec->events.v[event->leader] == event;

	attr->sample_id_all = 1;
	attr->use_clockid = o->has_clock;
	attr->clockid = o->has_clock ? o->clock : 0;
	/* What children inherit cannot be read through a ring of no CPU. */
	attr->inherit =
		!rec->target.per_thread && (event->inherit >= 0 ? event->inherit : !o->no_inherit);
	attr->read_format = PERF_FORMAT_LOST;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	if (rec->target.system_wide)
		attr->sample_type |= PERF_SAMPLE_CPU;
	if (o->all_cgroups)
		attr->sample_type |= PERF_SAMPLE_CGROUP;
	if (many) {
		attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
		attr->read_format |= PERF_FORMAT_ID;
	}
	if (o->no_buffering) {
		attr->wakeup_events = 1;
	} else {
		/*
		 * Woken early, the recorder has most of the ring's time to come round;
		 * also in a ring that had to be made smaller than was planned.
		 */
		size_t bytes = rec->mmap_pages * sys_page_size();
		attr->watermark = 1;
		attr->wakeup_watermark = min_of(bytes / WAKEUP_FRACTION, (size_t)WAKEUP_BYTES);
	}
	attr->write_backward = is_overwritten(rec, event);
	switch (event->kind) {
	case EVENT_TRACKING:
		attr->sample_period = 1;
		event_set_tracking(rec, attr);
		attr->build_id = o->buildid_mmap != RECORD_BUILDID_MMAP_NO;
		return NULL;
	case EVENT_OUTPUT:
		attr->sample_period = 1;
		attr->sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
		attr->inherit = 0;
		attr->disabled = 1;
		if (event->callgraph != SELECT_CALLGRAPH_DEFAULT)
			set_callgraph(rec, event);
		return NULL;
	case EVENT_PROBE:
		attr->sample_period = 1;
		attr->sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_CPU;
		attr->inherit = 0;
		attr->disabled = 1;
		set_callgraph(rec, event);
		set_regs(rec, event);
		return NULL;
	default:
		break;
	}
	/*
	 * The kernel makes a child's copy of a probe from our attr, whose path it
	 * then reads at that address in the child: fork() would fail with EFAULT.
	 */
	if (event->probe.name) {
		if (attr->inherit && !rec->target.system_wide && !event->is_gated)
			log_warn(rec->log,
				 "%s: probes are not inherited by new threads and children; use -a "
				 "to record all",
				 event->name);
		attr->inherit = 0;
	}
	if (o->only_user || o->only_kernel) {
		attr->exclude_user = o->only_kernel;
		attr->exclude_kernel = o->only_user;
	}
	attr->inherit_stat = o->thread_counts;
	if (o->thread_counts || o->running_time)
		attr->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED |
				     PERF_FORMAT_TOTAL_TIME_RUNNING |
				     PERF_FORMAT_ID; /* perf expects it with LOST */
	attr->sample_type |= o->sample_type;
	if (o->branches) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = o->branches;
	}
	TRY(set_rate(rec, event));
	if (o->no_samples) {
		attr->freq = 0;
		attr->sample_period = 0;
	}
	if (attr->freq)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
	if (is_tracing(event) ||
	    (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT))
		attr->sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	if (event->precise_max)
		attr->precise_ip = 3;
	if (o->data_addresses && event_is_sampled_counter(event)) {
		attr->sample_type |= PERF_SAMPLE_ADDR;
		rec->data_maps = true;
	}
	set_callgraph(rec, event);
	set_regs(rec, event);
	TRY(error_at(sample_filter_check(&event->tests, attr->sample_type), "%s", event->name));
	event->alone.inherit = attr->inherit;
	event->alone.freq = attr->freq;
	event->alone.sample_period = attr->sample_period;
	const struct event *first = &rec->events.v[event->leader];
	if (event->sample_read || first->sample_read) {
		attr->sample_type |= PERF_SAMPLE_READ;
		attr->read_format |= PERF_FORMAT_ID;
		if (first->n_members > 1) {
			attr->read_format |= PERF_FORMAT_GROUP;
			attr->inherit = 0;
		}
		if (!leader) {
			attr->freq = 0;
			attr->sample_period = 0;
		}
	}
	if (leader) {
		attr->disabled = 1;
		/* an event of all tasks sees no exec */
		attr->enable_on_exec = rec->target.has_workload && !event->is_gated &&
				       enable_times_start_at_once(rec);
	}
	return NULL;
}

/* On a busy machine, a ring of 4 MiB loses nothing where one of 512 KiB loses a few percent. */
static void choose_ring_size(struct recording *rec)
{
	const struct record_target *target = &rec->target;
	const size_t n_rings = target->per_thread ? target->tids.n : target->cpus.n;
	size_t bytes = DEFAULT_RING_BYTES;

	rec->mmap_pages = rec->opts.mmap_pages;
	if (rec->mmap_pages)
		return;
	if (!geteuid())
		for (bytes = DEFAULT_RING_OF_ROOT;
		     bytes > DEFAULT_RING_BYTES && bytes * n_rings > DEFAULT_RINGS_BYTES;)
			bytes /= 2;
	rec->mmap_pages = max_of(bytes / sys_page_size(), (size_t)1);
}

struct error *events_configure(struct recording *rec)
{
	bool listed = rec->target.system_wide || rec->opts.delay_ms || rec->opts.n_spans ||
		      rec->opts.control || !rec->events.n;
	struct event *event;

	/* Side-band records come from an event of the target. */
	if (!listed &&
	    (rec->events.v[0].kind == EVENT_OUTPUT || rec->events.v[0].kind == EVENT_PROBE))
		listed = true;
	vec_for_each (event, &rec->events)
		rec->result.overwrites |= is_overwritten(rec, event);
	listed |= rec->result.overwrites;
	rec->no_rounds = rec->result.overwrites || rec->opts.tail_synthesize || rec->opts.threads;
	event = event_new(rec, EVENT_TRACKING, "dummy:HG");
	if (!event)
		return error_nomem();
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_DUMMY;
	event->unlisted = !listed;
	rec->data_maps = rec->opts.data_maps;
	choose_ring_size(rec);
	rec->opts.mmap_flush =
		min_of(rec->opts.mmap_flush, (uint64_t)(rec->mmap_pages * sys_page_size() / 4));
	rec->with_id = rec->opts.with_ids || rec->events.n - event->unlisted > 1;
	vec_for_each (event, &rec->events)
		TRY(configure(rec, event, rec->with_id));
	/*
	 * The sample_id fields are the same for all: a record without an id, as
	 * those we synthesise, is read by the first event's.
	 */
	uint64_t cpu = 0;
	vec_for_each (event, &rec->events)
		cpu |= event->attr.sample_type & PERF_SAMPLE_CPU;
	vec_for_each (event, &rec->events) {
		event->attr.sample_type |= cpu;
		/*
		 * Of what a program puts out it is an address of the kernel. The other address is
		 * 0; perf script wants one of the two.
		 */
		if (rec->opts.track) {
			event->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_IP;
			event->attr.sample_type |= PERF_SAMPLE_ADDR;
		}
	}
	return NULL;
}

bool is_group_leader(const struct recording *rec, size_t i)
{
	const struct event *leader = &rec->events.v[i];

	if (leader->leader != i || leader->n_members < 2 || leader->n_members > rec->events.n - i)
		return false;
	for (size_t m = 1; m < leader->n_members; m++)
		if (leader[m].leader != i)
			return false;
	return true;
}
