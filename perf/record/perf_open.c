// SPDX-License-Identifier: BSD-2-Clause
/*
 * The fds of the events, one per CPU and thread, and what is set on them.
 *
 * What this kernel or PMU does not know is left out and tried again, in the
 * order in which perf gives things up: build ids of mappings (5.12), the counts
 * of lost samples (6.0), exclude_guest, precision step by step, cycles for cpu-clock; without the
 * right to look into the kernel, user space alone is recorded, and the
 * event's name says so (":u").
 *
 * Programs and tracepoints. A program that PERF_EVENT_IOC_SET_BPF gives to a
 * tracepoint's event is kept by the tracepoint itself, not by that fd
 * (kernel/trace/bpf_trace.c, perf_event_attach_bpf_prog): one fd is enough,
 * the same program a second time is EEXIST, and an fd holds one program, so
 * each program gets an fd of its own for that (carrier_fd). While it is attached it filters every
 * perf event of that tracepoint in the system: other recordings of it hold
 * only what all programs let through, as ours does while others have programs
 * there. We cannot change that, so we say so (strangers.c). The probes
 * of kprobes and uprobes are each fd's own: the program goes to every fd and
 * touches nobody else. A perf_event program is an overflow handler: to every
 * fd too, one program to an fd.
 *
 * The recorder itself, in a system-wide recording: tracing events get a
 * filter in the kernel (common_pid), so that what the recorder does cannot
 * feed back into the ring; samples of other events are left out by drain.c.
 */
#include "perf/record/internal.h"

#include <bpf/bpf.h>
#include <stdio.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys/probe_features.h"
#include "lib/sys/tracefs.h"

static bool is_counter(const struct event *event)
{
	return !event->tracepoint && !event->probe.name;
}

/* Gives up what the kernel may have refused; false: there is nothing more. */
static bool fall_back(struct recording *rec, struct event *event, int err)
{
	struct perf_event_attr *attr = &event->attr;
	bool cycles = attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_CPU_CYCLES;
	int paranoid = 0;
	char *name;

	if ((err == EINVAL || err == EOPNOTSUPP) && event->precise_max && attr->precise_ip) {
		attr->precise_ip--;
		return true;
	}
	if (cycles && (err == ENOENT || err == ENXIO || err == ENODEV || err == EOPNOTSUPP)) {
		if (rec->opts.n_args)
			log_warn(rec->log,
				 "this machine has no cycles counter: using cpu-clock instead of "
				 "'%s'",
				 event->name);
		const char *mods = strchr(event->name, ':');
		if (asprintf(&name, "cpu-clock%s", mods ? mods : "") < 0)
			return false;
		free(event->name);
		event->name = name;
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
		attr->precise_ip = 0;
		event->precise_max = false;
		return true;
	}
	if (err == EINVAL && attr->build_id && rec->opts.buildid_mmap != RECORD_BUILDID_MMAP_YES) {
		attr->build_id = 0;
		return true;
	}
	if (err == EINVAL && !rec->no_lost) {
		struct event *it;

		rec->no_lost = true;
		vec_for_each (it, &rec->events)
			it->attr.read_format &= ~PERF_FORMAT_LOST;
		return true;
	}
	if (err == EINVAL && attr->exclude_guest) {
		attr->exclude_guest = 0;
		return true;
	}
	if (err == EINVAL && (attr->ksymbol || attr->bpf_event)) {
		attr->ksymbol = 0;
		attr->bpf_event = 0;
		return true;
	}
	if (err == EACCES && is_counter(event) && !attr->exclude_kernel && !attr->exclude_user) {
		error_free(sys_sysctl(rec->roots, "kernel/perf_event_paranoid", &paranoid));
		if (paranoid <= 1)
			return false;
		const char *mods = strchr(event->name, ':');
		if (asprintf(&name, "%s%su", event->name, mods ? "" : ":") < 0)
			return false;
		if (event->kind != EVENT_TRACKING)
			log_warn(rec->log,
				 "kernel.perf_event_paranoid=%d: recording '%s' only in user space",
				 paranoid, event->name);
		free(event->name);
		event->name = name;
		attr->exclude_kernel = 1;
		attr->exclude_hv = 1;
		return true;
	}
	return false;
}

static bool kernel_has(const struct recording *rec, const char *name)
{
	_cleanup_features_ struct sys_features *features = sys_features_new(rec->roots);
	const struct sys_feature_result *result = features ? sys_feature_get(features, name) : NULL;

	return result && result->works;
}

static struct error *explain(struct recording *rec, struct event *event, pid_t tid, int cpu,
			     int err)
{
	size_t n = 0;
	struct event *it;

	if (err == -EINVAL && event->attr.build_id)
		return error_hint(error_new(EINVAL, "the kernel does not record build ids with "
						    "mappings"),
				  "--buildid-mmap needs Linux 5.12");
	if (err == -EINVAL && event->attr.sample_type & PERF_SAMPLE_CGROUP &&
	    !kernel_has(rec, "perf.cgroup"))
		return error_hint(error_new(EINVAL, "the kernel does not record cgroups"),
				  "--all-cgroups needs Linux 5.7 with CONFIG_CGROUP_PERF");
	if (event->probe.name)
		return attach_event_explain(&event->probe, tid, cpu, err);
	vec_for_each (it, &rec->events)
		n += it->fds.n;
	struct sys_perf_attempt attempt = {
		.attr = &event->attr,
		.event = event->name,
		.pid = tid,
		.cpu = cpu,
		.open_fds = n,
	};
	return sys_perf_event_explain(rec->roots, &attempt, err);
}

/* The leader's fd on this CPU and thread; the last one, if the CPU was offline since. */
static int group_fd(struct recording *rec, struct event *event, const struct event_fd *at)
{
	struct event *leader = &rec->events.v[event->leader];
	if (leader == event)
		return -1;
	for (size_t i = leader->fds.n; i-- > 0;)
		if (leader->fds.v[i].cpu == at->cpu && leader->fds.v[i].tid == at->tid &&
		    leader->fds.v[i].cgroup == at->cgroup)
			return leader->fds.v[i].fd;
	return -1;
}

/* What programs put out: they select the tasks. */
static bool is_output(const struct event *event)
{
	return event->kind == EVENT_OUTPUT || event->kind == EVENT_PROBE;
}

/* Who is in them has to be known: what others map and fork is recorded, too. */
static bool is_of_cgroups(const struct recording *rec, const struct event *event)
{
	return rec->target.cgroups.n && event->kind != EVENT_TRACKING && !is_output(event) &&
	       (event->n_cgroups || !rec->target.cgroups_by_event);
}

/* at: its CPU, and its thread or cgroup. */
static struct error *open_one(struct recording *rec, struct event *event, struct event_fd at)
{
	const bool of_cgroup = at.cgroup >= 0;
	int fd;

	if (event->is_refused)
		return NULL;
	for (;;) {
		fd = sys_perf_event_open(&event->attr, of_cgroup ? at.cgroup : at.tid, at.cpu,
					 group_fd(rec, event, &at),
					 of_cgroup ? PERF_FLAG_PID_CGROUP : 0);
		if (fd >= 0)
			break;
		/* The thread ended since it was listed. */
		if (fd == -ESRCH && at.tid > 0 && rec->target.tids.n > 1)
			return NULL;
		event->is_refused = event->leader != (size_t)(event - rec->events.v) &&
				    weak_group_is_refused(event, &at, fd);
		if (event->is_refused)
			return NULL;
		if (!fall_back(rec, event, -fd))
			return explain(rec, event, at.tid, at.cpu, fd);
	}
	at.fd = fd;
	struct event_fd *efd = vec_push(&event->fds);
	if (!efd) {
		close(fd);
		return error_nomem();
	}
	*efd = at;
	TRY(sys_perf_id(fd, &efd->id));
	if (!u64map_put(&rec->ids, efd->id, (void *)(event - rec->events.v + 1)))
		return error_nomem();
	return NULL;
}

/* Open on CPUs; else on threads, on each CPU that they may run on. */
static bool is_of_all_tasks(const struct recording *rec, const struct event *event)
{
	return is_output(event) || event->is_gated ||
	       (rec->target.system_wide && !(rec->opts.track && event->kind == EVENT_TRACKING));
}

/* Of all tasks, or of those of each cgroup. */
static struct error *open_on_cpu(struct recording *rec, struct event *event, int cpu)
{
	if (!is_of_cgroups(rec, event))
		return open_one(rec, event, (struct event_fd){.cpu = cpu, .tid = -1, .cgroup = -1});
	const size_t first = event->first_cgroup;
	const size_t end =
		rec->target.cgroups_by_event ? first + event->n_cgroups : rec->target.cgroups.n;
	for (size_t i = first; i < end; i++)
		TRY(open_one(rec, event,
			     (struct event_fd){
				     .cpu = cpu, .tid = -1, .cgroup = rec->target.cgroups.v[i]}));
	return NULL;
}

/* cpu: -1, wherever they run. */
static struct error *open_on_threads(struct recording *rec, struct event *event, int cpu)
{
	for (size_t t = 0; t < rec->target.tids.n; t++)
		TRY(open_one(
			rec, event,
			(struct event_fd){.cpu = cpu, .tid = rec->target.tids.v[t], .cgroup = -1}));
	return NULL;
}

static struct error *open_event(struct recording *rec, struct event *event,
				const struct sys_cpus *online)
{
	/* A task on the CPUs of -C may have mapped its files, or begun, on another one. */
	const bool everywhere = event->kind == EVENT_OUTPUT ||
				(event->kind == EVENT_TRACKING && rec->target.system_wide);
	const struct sys_cpus *cpus = everywhere ? online : &rec->target.cpus;
	const bool all_tasks = is_of_all_tasks(rec, event);

	if (rec->target.per_thread && !all_tasks)
		TRY(open_on_threads(rec, event, -1));
	else
		for (size_t c = 0; c < cpus->n; c++)
			TRY(all_tasks ? open_on_cpu(rec, event, cpus->v[c])
				      : open_on_threads(rec, event, (int)cpus->v[c]));
	if (!event->fds.n && !event->is_refused)
		return error_new(ESRCH, "'%s': all threads to record have ended", event->name);
	return NULL;
}

/* One fd for each event on each CPU, and of tasks for each thread on each CPU. */
struct error *events_want_fds(const struct recording *rec)
{
	const size_t n_threads = rec->target.tids.n, n_cpus = rec->target.cpus.n;
	const size_t per_thread = rec->target.per_thread ? 1 : n_cpus;
	_cleanup_cpus_ struct sys_cpus online = {0};
	const struct event *event;

	TRY(sys_cpus_online(rec->roots, &online));
	const size_t n_online = online.n;
	size_t n = rec->target.system_wide ? n_online : n_threads * per_thread; /* tracking */
	vec_for_each (event, &rec->events)
		n += is_of_cgroups(rec, event)	   ? n_online * rec->target.cgroups.n
		     : is_of_all_tasks(rec, event) ? n_online
						   : n_threads * per_thread;
	_cleanup_free_ char *what =
		rec->target.system_wide
			? text_format("recording %zu events on %zu CPUs", (size_t)rec->events.n,
				      n_cpus)
			: text_format("recording %zu threads on %zu CPUs", n_threads, per_thread);
	return sys_want_fds(rec->roots, n, what ? what : "recording");
}

struct error *events_open(struct recording *rec)
{
	_cleanup_cpus_ struct sys_cpus online = {0};

	TRY(sys_cpus_online(rec->roots, &online));
	for (size_t i = 0; i < rec->events.n;) {
		TRY(open_event(rec, &rec->events.v[i], &online));
		/* then its events are opened again, one by one */
		i = rec->events.v[i].is_refused ? weak_group_end(rec, i) : i + 1;
	}
	/* new threads are recorded because theirs are, unless all are */
	if (!rec->target.system_wide && !rec->target.per_thread && !rec->opts.no_inherit)
		tasks_warn_of_new(&rec->target.tasks, rec->roots, &rec->target.tids, rec->log);
	return NULL;
}

struct cpu_ring *ring_of(struct recording *rec, const struct event *event,
			 const struct event_fd *efd)
{
	struct cpu_ring *ring;

	vec_for_each (ring, &rec->rings)
		if (ring->cpu == efd->cpu && (efd->cpu >= 0 || ring->tid == efd->tid) &&
		    ring->overwritten == event->attr.write_backward)
			return ring;
	return NULL;
}

/* A smaller ring where the size was not the user's choice. */
static struct error *ring_map(struct recording *rec, struct cpu_ring *ring, int fd)
{
	for (;;) {
		struct error *err =
			ring->overwritten
				? perf_ring_init_overwritten(&ring->ring, fd, rec->mmap_pages)
				: perf_ring_init(&ring->ring, fd, rec->mmap_pages);

		if (!err || err->code != EPERM)
			return err;
		if (rec->opts.mmap_pages || rec->mmap_pages <= 1)
			return error_hint(
				err, "the limit of locked memory is too low: use smaller rings "
				     "(-m), or raise /proc/sys/kernel/perf_event_mlock_kb");
		error_free(err);
		rec->mmap_pages /= 2;
	}
}

static struct error *ring_add(struct recording *rec, const struct event *event,
			      const struct event_fd *efd)
{
	struct cpu_ring *ring = ring_of(rec, event, efd);

	if (ring) {
		TRY(sys_perf_set_output(efd->fd, ring->fds.v[0]));
	} else {
		/* The loop refers to rings, which must not move. */
		if (rec->rings.n == rec->rings.cap)
			return error_new(ENOSPC, "CPU %d is not among the possible CPUs", efd->cpu);
		ring = vec_push(&rec->rings);
		ring->cpu = efd->cpu;
		ring->tid = efd->tid;
		ring->overwritten = event->attr.write_backward;
		TRY(ring_map(rec, ring, efd->fd));
	}
	int *fd = vec_push(&ring->fds);
	if (!fd)
		return error_nomem();
	*fd = efd->fd;
	return NULL;
}

static struct error *rings_add(struct recording *rec, const struct event *event)
{
	const struct event_fd *efd;

	vec_for_each (efd, &event->fds)
		TRY(ring_add(rec, event, efd));
	return NULL;
}

struct error *rings_open(struct recording *rec)
{
	_cleanup_cpus_ struct sys_cpus possible = {0};
	struct event *event;

	TRY(sys_cpus_possible(rec->roots, &possible));
	const size_t n_threads = rec->target.per_thread ? rec->target.tids.n : 0;
	const size_t n_rings = max_of(possible.n, rec->target.cpus.n) + n_threads;
	if (!vec_reserve(&rec->rings, n_rings * (rec->result.overwrites ? 2 : 1)))
		return error_nomem();
	/* who is passed the rings has no other event by them */
	if (rec->opts.track)
		TRY(rings_add(rec, vec_last(&rec->events)));
	vec_for_each (event, &rec->events)
		if (!(rec->opts.track && event->kind == EVENT_TRACKING))
			TRY(rings_add(rec, event));
	return NULL;
}

void rings_close(struct recording *rec)
{
	struct cpu_ring *ring;

	vec_for_each (ring, &rec->rings) {
		perf_ring_deinit(&ring->ring);
		vec_deinit(&ring->fds);
		data_writer_free(ring->part);
	}
	vec_deinit(&rec->rings);
}

/* "count, fd, buf, …": what a filter may speak of. */
static void field_names(struct recording *rec, const struct event *event, struct strbuf *out)
{
	_cleanup_free_ char *text = NULL;
	char *line, *save = NULL;

	error_free(
		sys_tracepoint_format(rec->roots, event->system, event->tracepoint, &text, NULL));
	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *field = strstr(line, "field:"), *end;

		if (!field || !(end = strchr(field, ';')))
			continue;
		char *bracket = memchr(field, '[', end - field);
		end = bracket ? bracket : end;
		char *start = end;
		while (start > field && start[-1] != ' ' && start[-1] != '*')
			start--;
		if (!strncmp(start, "common_", 7))
			continue;
		strbuf_addf(out, "%s%.*s", out->len ? ", " : "", (int)(end - start), start);
	}
}

static struct error *set_filter(struct recording *rec, struct event *event, const char *filter)
{
	for (size_t i = event->n_ready; i < event->fds.n; i++) {
		_cleanup_error_ struct error *err = sys_perf_set_filter(event->fds.v[i].fd, filter);

		if (!err)
			continue;
		if (!event->filter)
			return steal_ptr(err);
		_cleanup_strbuf_ struct strbuf fields = STRBUF_INIT;
		struct error *e =
			error_new(err->code, "the kernel rejects --filter '%s' for %s: %s",
				  event->filter, event->name, strerror(err->code));
		if (event->tracepoint)
			field_names(rec, event, &fields);
		return fields.len ? error_hint(e, "the event's fields: %s", strbuf_str(&fields))
				  : e;
	}
	return NULL;
}

static struct error *set_filters(struct recording *rec)
{
	struct event *event;

	vec_for_each (event, &rec->events) {
		_cleanup_free_ char *filter = NULL;

		if (is_counter(event))
			continue;
		if (event->filter)
			TRY(set_filter(rec, event, event->filter));
		if (!rec->drop_self)
			continue;
		if (asprintf(&filter,
			     event->filter ? "(%s) && common_pid != %d" : "%scommon_pid != %d",
			     event->filter ? event->filter : "", rec->self) < 0)
			return error_nomem();
		struct error *err = set_filter(rec, event, filter);
		/* ftrace's own events take no filter; drain.c sees to it. */
		if (err)
			log_info(rec->log,
				 "%s: cannot exclude perf-bpf in the kernel, so its samples are "
				 "dropped while recording: %s",
				 event->name, err->msg);
		error_free(err);
	}
	return NULL;
}

/*
 * An fd of the tracepoint that carries a program, and no more: it is off, and
 * is not handed on to children. Since 6.10 a child's copy of an event holds the
 * event's program too, and takes it away from the tracepoint when the child
 * exits; events that are inherited must have none.
 */
static struct error *carrier_fd(struct recording *rec, struct event *event, int *fd)
{
	struct perf_event_attr attr = event->attr;

	attr.sample_period = 0;
	attr.freq = 0;
	attr.inherit = 0;
	attr.disabled = 1;
	attr.enable_on_exec = 0;
	int extra = sys_perf_event_open(&attr, event->fds.v[0].tid, event->fds.v[0].cpu, -1, 0);
	if (extra < 0)
		return explain(rec, event, event->fds.v[0].tid, event->fds.v[0].cpu, extra);
	int *owned = vec_push(&event->owned);
	if (!owned) {
		close(extra);
		return error_nomem();
	}
	*fd = *owned = extra;
	return NULL;
}

/*
 * The link's cookie tells the program at a USDT probe which probe point it is, and the gate of
 * programs at probes which CPU the event is of.
 */
static struct error *attach_by_link(const struct recording *rec, struct event *event, int prog)
{
	for (size_t i = event->n_ready; i < event->fds.n; i++) {
		const uint64_t cpu = rec->gate_has_cpu ? (uint64_t)event->fds.v[i].cpu + 1 : 0;
		LIBBPF_OPTS(bpf_link_create_opts, opts,
			    .perf_event.bpf_cookie = event->cookie | cpu << 32);
		int *link = vec_push(&event->owned);

		if (!link)
			return error_nomem();
		*link = bpf_link_create(prog, event->fds.v[i].fd, BPF_PERF_EVENT, &opts);
		if (*link >= 0)
			continue;
		event->owned.n--;
		return error_errno(errno, "%s: cannot attach the program", event->name);
	}
	return NULL;
}

static struct error *attach_progs(struct recording *rec, struct event *event)
{
	for (size_t i = 0; i < event->progs.n; i++) {
		if (event->has_cookie || (rec->gate_has_cpu && event->probe.name)) {
			TRY(attach_by_link(rec, event, event->progs.v[i]));
			continue;
		}
		if (event->tracepoint && event->n_ready)
			continue; /* the tracepoint has it already */
		if (event->tracepoint) {
			struct error *err;
			int fd = -1;

			TRY(carrier_fd(rec, event, &fd));
			err = sys_perf_set_bpf(fd, event->progs.v[i]);
			if (err && err->code != EEXIST)
				return error_at(err, "%s", event->name);
			error_free(err);
			continue;
		}
		for (size_t k = event->n_ready; k < event->fds.n; k++) {
			struct error *err = sys_perf_set_bpf(event->fds.v[k].fd, event->progs.v[i]);

			if (err && err->code == EEXIST)
				error_hint(err, "an event of this type can have only one program");
			if (err)
				return error_at(err, "%s", event->name);
		}
	}
	return NULL;
}

struct error *event_fill_map(struct event *event, int map_fd, uint32_t entries)
{
	struct event_fd *efd;

	vec_for_each (efd, &event->fds) {
		uint32_t key = efd->cpu;

		if (key >= entries)
			return error_new(
				ENOSPC,
				"the map has %u entries, which is too few for '%s' on %u CPUs",
				entries, event->name, (unsigned)event->fds.n);
		if (bpf_map_update_elem(map_fd, &key, &efd->fd, BPF_ANY))
			return error_errno(errno, "cannot store '%s' of CPU %u in the map",
					   event->name, key);
	}
	return NULL;
}

/* What is opened later is attached and enabled by itself. */
static void events_ready(struct recording *rec)
{
	struct event *event;

	vec_for_each (event, &rec->events)
		event->n_ready = event->fds.n;
}

/* The fds that are not ready yet. again: they were disabled since the workload began. */
static struct error *enable(struct event *event, bool again)
{
	if (event->attr.disabled && (again || !event->attr.enable_on_exec))
		for (size_t i = event->n_ready; i < event->fds.n; i++)
			TRY(sys_perf_enable(event->fds.v[i].fd));
	return NULL;
}

struct error *events_attach(struct recording *rec)
{
	struct event *event;

	TRY(set_filters(rec));
	vec_for_each (event, &rec->events) {
		TRY(attach_progs(rec, event));
		if (event->map_fd >= 0)
			TRY(event_fill_map(event, event->map_fd, event->map_entries));
	}
	TRY(terms_bind_events(rec));
	if (rec->enabled)
		vec_for_each (event, &rec->events)
			TRY(enable(event, false));
	events_ready(rec);
	return NULL;
}

void events_warn_of_several(const struct recording *rec)
{
	const struct event *event;

	vec_for_each (event, &rec->events)
		if (event->tracepoint && event->progs.n > 1)
			log_warn(rec->log,
				 "%zu programs filter %s: an event is recorded only if every "
				 "program returns non-zero",
				 (size_t)event->progs.n, event->name);
}

/* ---- a CPU that is back ---- */

/* The fds that are not ready are of no use. */
static void close_unready(struct recording *rec, struct event *event, size_t n_owned)
{
	while (event->owned.n > n_owned)
		close(event->owned.v[--event->owned.n]);
	while (event->fds.n > event->n_ready) {
		const int fd = event->fds.v[--event->fds.n].fd;
		struct cpu_ring *ring;

		vec_for_each (ring, &rec->rings)
			if (ring->fds.n && ring->fds.v[ring->fds.n - 1] == fd)
				ring->fds.n--;
		close(fd);
	}
}

static struct error *make_ready(struct recording *rec)
{
	struct event *event;

	vec_for_each (event, &rec->events)
		for (size_t i = event->n_ready; i < event->fds.n; i++)
			TRY(ring_add(rec, event, &event->fds.v[i]));
	return events_attach(rec);
}

static struct error *open_again(struct recording *rec, int cpu)
{
	struct event *event;

	vec_for_each (event, &rec->events)
		if (is_of_all_tasks(rec, event))
			TRY(open_on_cpu(rec, event, cpu));
	return make_ready(rec);
}

/* All or none of them. */
static struct error *open_all_again(struct recording *rec,
				    struct error *(*open)(struct recording *rec, int at), int at)
{
	_cleanup_free_ size_t *owned = calloc(rec->events.n, sizeof(*owned));

	if (!owned)
		return error_nomem();
	for (size_t i = 0; i < rec->events.n; i++)
		owned[i] = rec->events.v[i].owned.n;
	struct error *err = open(rec, at);
	for (size_t i = rec->events.n; err && i-- > 0;)
		close_unready(rec, &rec->events.v[i], owned[i]);
	return err;
}

struct error *events_open_again(struct recording *rec, int cpu)
{
	return open_all_again(rec, open_again, cpu);
}

/* Side-band records come from other CPUs, too. */
static bool is_recorded(const struct recording *rec, int cpu)
{
	return !rec->opts.cpus || sys_cpus_has(&rec->target.cpus, cpu);
}

static struct error *open_cgroup(struct recording *rec, int cgroup)
{
	struct event *event;
	struct cpu_ring *ring;

	vec_for_each (event, &rec->events)
		vec_for_each (ring, &rec->rings)
			if (is_of_cgroups(rec, event) && is_recorded(rec, ring->cpu) &&
			    !ring->overwritten)
				TRY(open_one(rec, event,
					     (struct event_fd){.cpu = ring->cpu,
							       .tid = -1,
							       .cgroup = cgroup}));
	return make_ready(rec);
}

static struct error *open_events_of(struct recording *rec, int cgroup)
{
	_cleanup_free_ size_t *first = calloc(rec->events.n, sizeof(*first));

	if (!first)
		return error_nomem();
	for (size_t i = 0; i < rec->events.n; i++)
		first[i] = rec->events.v[i].fds.n;
	TRY(open_all_again(rec, open_cgroup, cgroup));
	return new_ids_write(rec, first);
}

struct error *events_open_cgroup(struct recording *rec, int cgroup)
{
	threads_hold(rec);
	struct error *err = open_events_of(rec, cgroup);
	threads_release(rec);
	return err;
}

/*
 * The kernel reads the state of a parent's event when a task is being forked, and adds the child's
 * to those that it disables only later: a child that is being forked when events are disabled keeps
 * its own enabled. What comes from it is left out by the event's flag, which is changed when the
 * rings are empty: what is in them was recorded before.
 */
static struct error *empty_rings(struct recording *rec)
{
	bool any;

	return rings_drain(rec, &any);
}

static struct error *enable_all(struct recording *rec)
{
	struct event *event;

	if (rec->has_paused)
		TRY(empty_rings(rec));
	vec_for_each (event, &rec->events) {
		event->n_ready = 0;
		event->paused &= !event->attr.disabled;
	}
	vec_for_each (event, &rec->events)
		TRY(enable(event, rec->was_paused));
	rec->enabled = true;
	off_cpu_enable(rec, true);
	events_ready(rec);
	return NULL;
}

struct error *events_enable(struct recording *rec)
{
	threads_hold(rec);
	struct error *err = enable_all(rec);
	threads_release(rec);
	return err;
}

void events_disable(struct recording *rec)
{
	struct event *event;
	struct event_fd *efd;

	off_cpu_enable(rec, false);
	vec_for_each (event, &rec->events)
		if (event->leader == (size_t)(event - rec->events.v))
			vec_for_each (efd, &event->fds)
				error_free(sys_perf_disable(efd->fd));
}

static void pause_event(struct event *event)
{
	struct event_fd *efd;

	vec_for_each (efd, &event->fds)
		error_free(sys_perf_disable(efd->fd));
}

static struct error *pause_all(struct recording *rec)
{
	struct event *event;

	off_cpu_enable(rec, false);
	vec_for_each (event, &rec->events)
		if (event->attr.disabled)
			pause_event(event);
	rec->enabled = false;
	rec->was_paused = rec->has_paused = true;
	TRY(empty_rings(rec));
	vec_for_each (event, &rec->events)
		event->paused |= event->attr.disabled;
	return NULL;
}

struct error *events_pause(struct recording *rec)
{
	threads_hold(rec);
	struct error *err = pause_all(rec);
	threads_release(rec);
	return err;
}

static struct error *switch_event(struct recording *rec, const char *name, bool on, bool *found)
{
	struct event *event;

	vec_for_each (event, &rec->events) {
		if (event->kind == EVENT_TRACKING || strcmp(event->name, name))
			continue;
		*found = true;
		if (event->is_off_cpu)
			off_cpu_enable(rec, on);
		if (!on)
			pause_event(event);
		TRY(empty_rings(rec));
		event->paused = !on;
		rec->has_paused |= !on;
		for (size_t i = 0; on && i < event->fds.n; i++)
			TRY(sys_perf_enable(event->fds.v[i].fd));
	}
	return NULL;
}

struct error *events_switch(struct recording *rec, const char *name, bool on, bool *found)
{
	threads_hold(rec);
	struct error *err = switch_event(rec, name, on, found);
	threads_release(rec);
	return err;
}

struct error *record_pages_parse(const char *text, size_t page_size, size_t *pages)
{
	static const char units[] = "BKMG";
	char *end;

	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	bool ok = !errno && end != text && text[0] != '-' && n;
	if (ok && *end) {
		const char *unit = strchr(units, *end);

		ok = unit && (!end[1] || (!strcmp(end + 1, "B") && *end != 'B'));
		if (ok && n <= UINT64_MAX >> 40) {
			n <<= 10 * (unit - units);
			n = (n + page_size - 1) / page_size;
		}
	}
	if (!ok)
		return error_hint(error_new(EINVAL, "invalid ring size '%s'", text),
				  "give a number of pages, or a size like 512K or 4M");
	size_t rounded = 1;
	while (rounded < n && rounded < (size_t)1 << 31)
		rounded <<= 1;
	if (rounded < n || rounded > SIZE_MAX / 2 / page_size || rounded >= (size_t)1 << 31)
		return error_new(EINVAL, "a ring of '%s' is too large", text);
	*pages = rounded;
	return NULL;
}

struct error *become_realtime(const struct recording *rec)
{
	const struct sched_param param = {.sched_priority = rec->opts.realtime};

	if (!rec->opts.realtime || !sched_setscheduler(0, SCHED_FIFO, &param))
		return NULL;
	return error_hint(error_errno(errno, "cannot become a realtime process of priority %d",
				      rec->opts.realtime),
			  "--realtime needs CAP_SYS_NICE or a higher limit (ulimit -r)");
}
