// SPDX-License-Identifier: BSD-2-Clause
/*
 * The program is loaded with its settings as constants, so that the verifier removes what a
 * session does not need. Only what may change while it runs (a process is added, the workload
 * begins) is in maps, or in the section that both sides share.
 *
 * The ring's records are read at intervals; the program wakes us only when the ring is half
 * full. The wake-up is an edge: a level would wake us again for each record that came meanwhile.
 */
#include "trace/source.h"

#include <bpf/bpf.h>
#include <bpf/perf_bpf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/names.h"
#include "lib/object/object.h"
#include "lib/sys/proc.h"
#include "lib/sys/sys.h"
#include "trace/call_conditions.h"
#include "trace/call_where.h"
#include "trace/internal.h"
#include "trace/record_check.h"

enum {
	DEFAULT_RING = 8 << 20,
	MAX_DEFAULT_RING = 64 << 20,
	RING_PER_CPU = 2 << 20,
	INTERVAL_MS = 100,
	/* Records of one drain while tracing runs: the caller has other things to look after. */
	MAX_DRAIN = 1 << 18,
	/* The most; memory is taken as they are needed. */
	ROWS = 1 << 20, /* by thread or cgroup */
	ERRNOS = 1 << 18,
	STATELESS = 1 << 14, /* traced children without a state */
};

int trace_map_fd(const struct trace_source *source, const char *name)
{
	return bpf_object__find_map_fd_by_name(source->obj, name);
}

struct error *trace_source_map(const struct trace_source *source, const char *name, int *fd)
{
	const char *wanted = strcmp(name, "pids_filtered") ? name : "excluded";
	struct nearest near = nearest_make(name);
	const struct bpf_map *map;

	bpf_object__for_each_map (map, source->obj) {
		if (!bpf_map__autocreate(map) || bpf_map__is_internal(map))
			continue;
		if (!strcmp(bpf_map__name(map), wanted)) {
			*fd = bpf_map__fd(map);
			return NULL;
		}
		nearest_offer(&near, bpf_map__name(map));
	}
	nearest_offer(&near, "pids_filtered");
	return error_suggest(error_new(ENOENT, "the program of trace has no map '%s'", name),
			     &near);
}

void trace_source_free(struct trace_source *source)
{
	if (!source)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(source->links); i++)
		bpf_link__destroy(source->links[i]);
	bpf_link__destroy(source->iter);
	ring_buffer__free(source->ring);
	closep(&source->epoll_fd);
	closep(&source->iter_fd);
	closep(&source->formats_fd);
	closep(&source->end_fd);
	bpf_object__close(source->obj);
	vec_deinit(&source->rows);
	vec_deinit(&source->running);
	free(source);
}

/* ---- settings ---- */

/* A size that a ring can have: a power of two, and pages. */
static uint32_t ring_size(uint32_t wanted)
{
	uint32_t size = (uint32_t)sys_page_size();

	if (!wanted) {
		uint64_t n = (uint64_t)libbpf_num_possible_cpus() * RING_PER_CPU;

		wanted = n < DEFAULT_RING ? DEFAULT_RING : min_of(n, (uint64_t)MAX_DEFAULT_RING);
	}
	while (size < wanted && size < 1u << 31)
		size *= 2;
	return size;
}

/* Runs the program that says so, alone. */
static struct error *has_task_storage(struct trace_source *source)
{
	struct bpf_object_open_opts open = {.sz = sizeof(open), .object_name = "trace"};
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct bpf_program *prog;
	struct bpf_map *map;
	struct bpf_object *obj;

	TRY(object_open_mem(trace_object, trace_object_size, &open, NULL, &obj));
	bpf_object__for_each_program (prog, obj)
		bpf_program__set_autoload(prog, !strcmp(bpf_program__name(prog), "trace_probe"));
	bpf_object__for_each_map (map, obj)
		bpf_map__set_autocreate(map, !strcmp(bpf_map__name(map), "states"));
	struct error *err = object_load(obj);
	if (!err) {
		prog = bpf_object__find_program_by_name(obj, "trace_probe");
		source->config.task_storage =
			!bpf_prog_test_run_opts(bpf_program__fd(prog), &run) && run.retval == 1;
	}
	/* why it is not there does not matter: if it is a missing privilege, the rest says so */
	error_free(err);
	bpf_object__close(obj);
	log_debug(source->log, "trace: the states of threads are in %s",
		  source->config.task_storage ? "the task storage" : "a hash");
	return NULL;
}

/*
 * Whether raw tracepoints of system calls run programs with preemption enabled. The kernel that
 * this function came with does; nothing that could be tried tells: kernels before 6.12 load
 * sleepable programs for raw tracepoints, but run them with preemption disabled.
 */
static bool is_preemptible(void)
{
	return libbpf_find_vmlinux_btf_id("trace_call_bpf_faultable", BPF_TRACE_FENTRY) > 0;
}

static struct error *set_config(struct trace_source *source, const struct trace_source_opts *opts,
				uint32_t ring)
{
	struct trace_config *c = &source->config;

	if (opts->n_uids > TRACE_UIDS)
		return error_new(E2BIG, "at most %d users can be traced at a time", TRACE_UIDS);
	if (!opts->events && !opts->summary)
		return error_new(EINVAL, "neither events nor a summary are to be traced");
	c->where = opts->where && opts->where->n_wheres;
	c->pid_ns = sys_pid_ns(NULL);
	c->self = (uint32_t)getpid();
	if (opts->reader) {
		c->pid_ns = opts->reader->pid_ns;
		c->self = (uint32_t)opts->reader->self;
		c->own = opts->reader->own;
		c->own_uid = opts->reader->uid;
		c->own_gid = opts->reader->gid;
	}
	c->min_ns = opts->min_ns;
	c->string_size = min_of(opts->string_size, (uint32_t)TRACE_DATA_MAX);
	c->wake_bytes = ring / 2;
	c->wake_step = ring / 8;
	c->n_uids = (uint32_t)opts->n_uids;
	for (size_t i = 0; i < opts->n_uids; i++)
		c->uids[i] = opts->uids[i];
	c->events = opts->events;
	c->summary = opts->summary;
	c->sums_by = (uint8_t)opts->sums_by;
	c->failed_only = opts->failed_only;
	c->signals = opts->events ? opts->signals : 0;
	c->ends = opts->events && opts->ends;
	c->stacks = opts->events && opts->stacks;
	c->fds = opts->events && opts->fds;
	c->copies = c->fds;
	c->cgroup = opts->cgroup != NULL;
	c->exclude = opts->n_exclude > 0;
	c->task_storage = opts->ask != NULL; /* trace_source_pass() wants it */
	if (opts->ask)
		return NULL;
	source->by_events = is_preemptible();
	log_debug(source->log, "trace: programs are attached to %s",
		  source->by_events ? "perf events of tracepoints" : "raw tracepoints");
	return opts->max_states ? NULL : has_task_storage(source);
}

/* The table for the program: opts->calls, and which copies are read when. */
static struct error *make_calls(struct trace_source *source, const struct trace_source_opts *opts,
				struct trace_call **out)
{
	_cleanup_free_ struct trace_call *calls = calloc(TRACE_ABIS * TRACE_NRS, sizeof(*calls));

	if (!calls)
		return error_nomem();
	memcpy(calls, opts->calls, TRACE_ABIS * TRACE_NRS * sizeof(*calls));
	for (uint32_t i = 0; i < TRACE_ABIS * TRACE_NRS; i++) {
		struct trace_call *call = &calls[i];

		if (!call->traced)
			continue;
		if (call->n_args > TRACE_ARGS || call->n_copies > TRACE_COPIES)
			return error_new(EINVAL,
					 "system call %u has %u arguments and %u copies; %d and %d "
					 "is the most",
					 i % TRACE_NRS, call->n_args, call->n_copies, TRACE_ARGS,
					 TRACE_COPIES);
		if (!opts->fds) {
			call->fd_args = call->fd_args & TRACE_FD_NEEDED ? TRACE_FD_NEEDED | 1 : 0;
			call->fd_ret = call->fd_sets = call->fd_array = call->fd_array_n = 0;
		}
		source->config.fds |= opts->events && call->fd_args;
		call->at_entry = call->at_exit = 0;
		for (unsigned k = 0; k < call->n_copies; k++) {
			if (call->copies[k].kind == TRACE_COPY_NONE)
				continue;
			if (call->copies[k].flags & TRACE_COPY_AT_EXIT)
				call->at_exit |= 1 << k;
			else
				call->at_entry |= 1 << k;
			source->config.copies = opts->events;
		}
		uint32_t *row = vec_push(&source->rows);
		if (!row)
			return error_nomem();
		*row = i;
		call->row = (uint16_t)(source->rows.n - 1);
	}
	if (!source->rows.n && !source->config.signals && !source->config.ends)
		return error_new(EINVAL, "no system call is to be traced");
	*out = steal_ptr(calls);
	return NULL;
}

/* ---- loading ---- */

static struct error *set_size(struct bpf_object *obj, const char *name, uint32_t entries)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, name);
	int err = map ? bpf_map__set_max_entries(map, entries) : -ENOENT;

	return err ? error_errno(-err, "cannot set the size of map %s", name) : NULL;
}

/* The program for it on this kernel. */
static const char *program_of(const struct trace_source *source, enum trace_role role)
{
	/* at raw tracepoints; the same, with states in a hash; at perf events */
	static const char *const names[TRACE_ROLES][3] = {
		[TRACE_ROLE_THREAD_EXIT] = {"trace_thread_exit", "trace_thread_exit",
					    "trace_thread_exit_event"},
		[TRACE_ROLE_FORK] = {"trace_fork", "trace_fork_hash", "trace_fork_event"},
		[TRACE_ROLE_SIGNAL] = {"trace_signal", "trace_signal", "trace_signal"},
		[TRACE_ROLE_EXIT] = {"trace_exit", "trace_exit", "trace_exit_event"},
		[TRACE_ROLE_ENTER] = {"trace_enter", "trace_enter", "trace_enter_event"},
	};

	return names[role][source->by_events ? 2 : !source->config.task_storage];
}

static bool is_needed(const struct trace_source *source, const char *program)
{
	bool needed = source->config.task_storage && !strcmp(program, "trace_running");

	for (int role = 0; role < TRACE_ROLES; role++)
		needed |= (role != TRACE_ROLE_SIGNAL || source->config.signals) &&
			  !strcmp(program, program_of(source, role));
	return needed;
}

/* What this kernel, or these settings, do not need. */
static void leave_out(const struct trace_source *source)
{
	const char *states = source->config.task_storage ? "states_by_task" : "states";
	struct bpf_program *prog;

	bpf_map__set_autocreate(bpf_object__find_map_by_name(source->obj, states), false);
	bpf_object__for_each_program (prog, source->obj)
		bpf_program__set_autoload(prog, is_needed(source, bpf_program__name(prog)));
}

static bool sums_by(const struct trace_config *c, enum trace_sums_by by)
{
	return c->summary && c->sums_by == by;
}

static struct error *configure(struct trace_source *source, const struct trace_source_opts *opts,
			       uint32_t ring)
{
	const struct trace_config *c = &source->config;
	const struct call_conditions *where = opts->where;
	struct bpf_object *obj = source->obj;
	uint32_t cpus = (uint32_t)libbpf_num_possible_cpus();
	uint32_t max_rows = opts->max_rows ? opts->max_rows : ROWS;
	uint32_t max_errnos = opts->max_rows ? opts->max_rows : ERRNOS;
	bool copies = c->events && c->copies;
	const struct {
		const char *map;
		uint32_t entries;
	} sizes[] = {
		{"ring", c->events ? ring : (uint32_t)sys_page_size()},
		{"scratches", c->events ? 2 * cpus : 1},
		{"stores", copies ? TRACE_STORES : 1},
		{"free_stores", copies ? TRACE_STORES : 1},
		{"stateless", source->no_inherit ? 1 : STATELESS},
		{"rows",
		 sums_by(c, TRACE_SUMS_TOTAL) && source->rows.n ? (uint32_t)source->rows.n : 1},
		{"thread_rows", sums_by(c, TRACE_SUMS_BY_THREAD) ? max_rows : 1},
		{"cgroup_rows", sums_by(c, TRACE_SUMS_BY_CGROUP) ? max_rows : 1},
		{"errnos", c->summary ? max_errnos : 1},
		{"stacks", c->stacks ? cpus : 1},
		{"wheres", c->where ? (uint32_t)where->n_wheres : 1},
		{"patterns", c->where && where->n_patterns ? (uint32_t)where->n_patterns : 1},
		{"where_inputs", c->where ? 2 * cpus : 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		TRY(set_size(obj, sizes[i].map, sizes[i].entries));
	if (opts->max_states)
		TRY(set_size(obj, "states_by_task", opts->max_states));
	leave_out(source);

	struct bpf_map *map = bpf_object__find_map_by_name(obj, ".rodata.config");
	int err = map ? bpf_map__set_initial_value(map, c, sizeof(*c)) : -ENOENT;
	return err ? error_errno(-err, "cannot set what is traced") : NULL;
}

static struct error *fill_calls(struct trace_source *source, const struct trace_call *calls)
{
	int fd = trace_map_fd(source, "calls");

	for (uint32_t i = 0; i < TRACE_ABIS * TRACE_NRS; i++)
		if (calls[i].traced && bpf_map_update_elem(fd, &i, &calls[i], BPF_ANY))
			return error_errno(errno, "cannot say which system calls are traced");
	return NULL;
}

static struct error *fill_conditions(struct trace_source *source,
				     const struct call_conditions *where)
{
	int wheres = trace_map_fd(source, "wheres"), patterns = trace_map_fd(source, "patterns");

	for (uint32_t i = 0; where && i < where->n_wheres; i++)
		if (bpf_map_update_elem(wheres, &i, &where->wheres[i], BPF_ANY))
			return error_errno(errno, "cannot set the condition");
	for (uint32_t i = 0; where && i < where->n_patterns; i++)
		if (bpf_map_update_elem(patterns, &i, &where->patterns[i], BPF_ANY))
			return error_errno(errno, "cannot set the patterns of the condition");
	return NULL;
}

static struct error *fill_stores(struct trace_source *source)
{
	int fd = trace_map_fd(source, "free_stores");

	if (!source->config.events || !source->config.copies)
		return NULL;
	for (uint32_t i = 0; i < TRACE_STORES; i++)
		if (bpf_map_update_elem(fd, NULL, &i, BPF_ANY))
			return error_errno(errno, "cannot prepare the memory for large arguments");
	return NULL;
}

static struct error *add_id(const struct trace_source *source, const char *map, pid_t id)
{
	uint32_t key = (uint32_t)id;
	uint8_t yes = 1;

	if (!bpf_map_update_elem(trace_map_fd(source, map), &key, &yes, BPF_ANY))
		return NULL;
	if (errno == E2BIG)
		return error_new(E2BIG, "at most 1024 processes or threads can be named");
	return error_errno(errno, "cannot trace process or thread %d", id);
}

static struct error *add_ids(const struct trace_source *source, const char *map, const pid_t *ids,
			     size_t n)
{
	for (size_t i = 0; i < n; i++)
		TRY(add_id(source, map, ids[i]));
	return NULL;
}

static struct error *set_cgroup(const struct trace_source *source, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint32_t zero = 0;

	if (fd < 0)
		return error_errno(errno, "cannot open the cgroup %s", path);
	if (!bpf_map_update_elem(trace_map_fd(source, "cgroup"), &zero, &fd, BPF_ANY))
		return NULL;
	if (errno == EBADF)
		return error_hint(error_new(EINVAL, "'%s' is not a cgroup of version 2", path),
				  "they are below /sys/fs/cgroup, or /sys/fs/cgroup/unified");
	return error_errno(errno, "cannot filter for the cgroup %s", path);
}

static int see_record(void *ctx, void *data, size_t size);

static struct error *open_ring(struct trace_source *source)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};
	int fd = trace_map_fd(source, "ring");

	source->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (source->epoll_fd < 0 || epoll_ctl(source->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		return error_errno(errno, "cannot wait for system calls");
	source->ring = ring_buffer__new(fd, see_record, source, NULL);
	return source->ring ? NULL : error_errno(errno, "cannot read system calls");
}

static struct error *load(struct trace_source *source, const struct trace_source_opts *opts)
{
	struct bpf_object_open_opts open = {.sz = sizeof(open), .object_name = "trace"};
	_cleanup_free_ struct trace_call *calls = NULL;
	uint32_t ring = ring_size(opts->ring_bytes);

	if (!trace_object_size)
		return error_hint(error_new(ENOTSUP,
					    "this perf-bpf was built without clang, and has no "
					    "program to trace system calls"),
				  "build it with clang");
	TRY(set_config(source, opts, ring));
	/* the states in a hash have addresses of the kernel as keys */
	if (opts->reader && !source->config.task_storage)
		return error_new(ENOTSUP, "this kernel has no task storage for tracing programs");
	TRY(make_calls(source, opts, &calls));
	TRY(object_open_mem(trace_object, trace_object_size, &open, opts->log, &source->obj));
	TRY(configure(source, opts, ring));
	if (opts->ask) {
		TRY(trace_source_ask(source, opts));
		return open_ring(source);
	}
	TRY(object_load(source->obj));
	TRY(fill_calls(source, calls));
	TRY(fill_conditions(source, opts->where));
	TRY(fill_stores(source));
	TRY(add_ids(source, "pids", opts->pids, opts->n_pids));
	TRY(add_ids(source, "tids", opts->tids, opts->n_tids));
	TRY(add_ids(source, "excluded", opts->exclude, opts->n_exclude));
	if (opts->cgroup)
		TRY(set_cgroup(source, opts->cgroup));
	source->live = bpf_map__initial_value(
		bpf_object__find_map_by_name(source->obj, ".data.live"), NULL);
	if (!source->live)
		return error_new(EINVAL, "the program has no section .data.live");
	source->live->targeted = opts->n_pids || opts->n_tids;
	return open_ring(source);
}

struct error *trace_source_new(const struct trace_source_opts *opts, struct trace_source **out)
{
	struct trace_source_opts all = {0};
	_cleanup_(trace_source_freep) struct trace_source *source = calloc(1, sizeof(*source));

	if (!source)
		return error_nomem();
	source->epoll_fd = source->iter_fd = source->formats_fd = source->end_fd = -1;
	memcpy(&all, opts, min_of(opts->sz, sizeof(all)));
	source->log = all.log;
	source->no_inherit = all.no_inherit;
	source->ask = all.ask;
	source->ask_end = all.ask_end;
	source->ask_ctx = all.ask_ctx;
	TRY(load(source, &all));
	*out = steal_ptr(source);
	return NULL;
}

/* ---- running ---- */

struct error *trace_source_add_pid(struct trace_source *source, pid_t pid)
{
	TRY(add_id(source, "pids", pid));
	/* once it runs, everybody stays everybody */
	if (!source->links[0])
		source->live->targeted = 1;
	return NULL;
}

int trace_source_stacks(const struct trace_source *source, uint32_t *entries)
{
	*entries = (uint32_t)libbpf_num_possible_cpus();
	return trace_map_fd(source, "stacks");
}

/* Made now, when links can still be made. */
static struct error *attach_iter(struct trace_source *source)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(source->obj, "trace_running");

	if (!source->config.task_storage)
		return NULL;
	source->iter = bpf_program__attach_iter(prog, NULL);
	return source->iter ? NULL : error_errno(errno, "cannot read the calls that still run");
}

struct error *trace_source_start(struct trace_source *source)
{
	if (source->ask)
		return NULL;
	TRY(attach_iter(source));
	for (int role = 0; role < TRACE_ROLES; role++) {
		const char *name = program_of(source, role);

		if (role == TRACE_ROLE_FORK && (!source->live->targeted || source->no_inherit))
			continue;
		if (role == TRACE_ROLE_SIGNAL && !source->config.signals)
			continue;
		source->links[role] =
			bpf_program__attach(bpf_object__find_program_by_name(source->obj, name));
		if (!source->links[role])
			return error_errno(errno, "cannot attach the program %s", name);
	}
	source->live->started = 1;
	return NULL;
}

/* A call that still runs, unless its condition wants to know its result. */
static struct error *keep_running(struct trace_source *source, const struct trace_state *state)
{
	if (state->where_open && !state->where_sure)
		return NULL;
	struct trace_state *kept = vec_push(&source->running);
	if (!kept)
		return error_nomem();
	*kept = *state;
	return NULL;
}

/* Reads the states that the iterator writes, one after the other. */
static struct error *read_running(struct trace_source *source)
{
	_cleanup_close_ int fd = source->iter ? bpf_iter_create(bpf_link__fd(source->iter))
					      : steal_fd(&source->iter_fd);

	if (fd < 0)
		return error_errno(errno, "cannot read the calls that still run");
	struct trace_state state;
	size_t have = 0;
	for (;;) {
		ssize_t n = read(fd, (char *)&state + have, sizeof(state) - have);

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return error_errno(errno, "cannot read the calls that still run");
		if (!n)
			return NULL;
		have += (size_t)n;
		if (have < sizeof(state))
			continue;
		have = 0;
		TRY(keep_running(source, &state));
	}
}

static struct error *walk_running(struct trace_source *source)
{
	int fd = trace_map_fd(source, "states_by_task");
	uint64_t key, *last = NULL;
	struct trace_state state;

	while (!bpf_map_get_next_key(fd, last, &key)) {
		last = &key;
		if (!bpf_map_lookup_elem(fd, &key, &state) && state.in_call)
			TRY(keep_running(source, &state));
	}
	return NULL;
}

/* Runs of the programs that the kernel left out: see trace.bpf.c. */
static uint64_t count_missed(const struct trace_source *source)
{
	uint64_t missed = 0;

	for (int role = 0; role < TRACE_ROLES; role++) {
		struct bpf_program *prog =
			bpf_object__find_program_by_name(source->obj, program_of(source, role));
		struct bpf_prog_info info = {0};
		__u32 size = sizeof(info);

		if (!bpf_prog_get_info_by_fd(bpf_program__fd(prog), &info, &size))
			missed += info.recursion_misses;
	}
	return missed;
}

/* These, and children whose calls nothing counts. */
static void warn_of_missed(const struct trace_source *source)
{
	const struct trace_missed *missed = &source->missed;

	if (missed->runs)
		log_warn(source->log,
			 "%" PRIu64 " entries or exits of system calls were not seen: the kernel "
			 "did not run the program of trace, which was running on that CPU",
			 missed->runs);
	if (missed->threads)
		log_warn(source->log,
			 "%" PRIu64 " threads were not followed, for lack of memory: their calls "
			 "are not counted",
			 missed->threads);
}

void trace_source_detach(struct trace_source *source)
{
	/* the entries first: what is in between has an exit */
	source->live->ending = 1;
	for (int i = TRACE_ROLES; i-- > 0;) {
		bpf_link__destroy(source->links[i]);
		source->links[i] = NULL;
	}
	/* Waits for programs that run on other CPUs: it waits for all readers of RCU. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0);
	source->missed = (struct trace_missed){count_missed(source), source->live->not_followed};
	trace_source_say_missed(source);
}

struct error *trace_source_stop(struct trace_source *source)
{
	if (source->stopped || !(source->links[0] || source->ask))
		return NULL;
	source->stopped = true;
	source->stopped_ns = clock_ns(CLOCK_MONOTONIC);
	if (source->ask)
		TRY(trace_source_end_asked(source));
	else
		trace_source_detach(source);
	warn_of_missed(source);
	return source->config.task_storage ? read_running(source) : walk_running(source);
}

int trace_source_fd(const struct trace_source *source)
{
	return source->epoll_fd;
}

unsigned trace_source_interval_ms(const struct trace_source *source)
{
	return INTERVAL_MS;
}

/* ---- reading ---- */

struct trace_drain {
	trace_record_fn *fn;
	void *ctx;
	struct error *err;
};

static int see_record(void *ctx, void *data, size_t size)
{
	struct trace_source *source = ctx;
	struct trace_drain *drain = source->drain;

	drain->err = trace_record_check(data, size);
	if (!drain->err)
		drain->err = drain->fn(drain->ctx, data);
	return drain->err ? -1 : 0;
}

/* Whether the filters of records let a call pass that has not ended. */
static bool running_wanted(const struct trace_source *source, const struct trace_state *state)
{
	return !source->config.failed_only &&
	       source->stopped_ns - state->rec.enter_ns >= source->config.min_ns;
}

/* A record of a call that still ran: its pieces may be in a store. */
static struct error *hand_running(struct trace_source *source, const struct trace_state *state,
				  struct trace_drain *drain)
{
	size_t head = sizeof(state->rec) + min_of(state->rec.n_args, TRACE_ARGS) * 8u;
	_cleanup_free_ struct trace_store *store = calloc(1, sizeof(*store));
	struct trace_record *rec;
	uint32_t at = state->store - 1;

	if (!store)
		return error_nomem();
	if (state->store) {
		if (state->len > TRACE_RECORD_MAX ||
		    bpf_map_lookup_elem(trace_map_fd(source, "stores"), &at, store))
			return error_errno(errno, "cannot read the arguments of a call");
		memcpy(store->rec, &state->rec, head);
	} else {
		memcpy(store->rec, &state->rec,
		       min_of(state->len, (uint32_t)(TRACE_HEAD + TRACE_INLINE)));
	}
	rec = (struct trace_record *)store->rec;
	rec->size = state->len;
	rec->flags |= TRACE_NO_EXIT;
	rec->exit_ns = 0;
	if (!*rec->comm) {
		struct sys_proc_status status;
		struct error *err =
			sys_proc_status(NULL, (pid_t)rec->pid, (pid_t)rec->tid, &status);

		if (!err)
			memcpy(rec->comm, status.comm, sizeof(rec->comm));
		error_free(err);
	}
	TRY(trace_record_check(rec, min_of(state->len, (uint32_t)TRACE_RECORD_MAX)));
	return drain->fn(drain->ctx, rec);
}

struct error *trace_source_drain(struct trace_source *source, trace_record_fn *fn, void *ctx)
{
	struct trace_drain drain = {.fn = fn, .ctx = ctx};
	struct epoll_event event;
	int n;

	if (!source->config.events)
		return NULL;
	epoll_wait(source->epoll_fd, &event, 1, 0);
	source->drain = &drain;
	do
		n = ring_buffer__consume_n(source->ring, MAX_DRAIN);
	while (source->stopped && n > 0);
	source->drain = NULL;
	if (drain.err)
		return drain.err;
	if (n < 0)
		return error_errno(-n, "cannot read system calls");
	while (source->n_handed < source->running.n) {
		const struct trace_state *state = &source->running.v[source->n_handed++];

		if (running_wanted(source, state))
			TRY(hand_running(source, state, &drain));
	}
	return NULL;
}

/* Calls that still ran: the program counts the lost pieces of those that it sends. */
static void lost_pieces_of_running(const struct trace_source *source, trace_loss_fn *fn, void *ctx)
{
	const struct trace_state *state;

	vec_for_each (state, &source->running) {
		const struct trace_loss loss = {
			.kind = TRACE_LOST_PIECES,
			.cpu = state->rec.cpu,
			.abi = state->rec.abi,
			.nr = state->rec.nr,
			.n = 1,
		};

		if (source->config.events && (state->rec.flags & TRACE_NO_PIECES) &&
		    running_wanted(source, state))
			fn(ctx, &loss);
	}
}

struct error *trace_source_losses(struct trace_source *source, trace_loss_fn *fn, void *ctx)
{
	int fd = trace_map_fd(source, "lost"), cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct trace_lost *lost = calloc((size_t)cpus, sizeof(*lost));

	if (!lost)
		return error_nomem();
	for (uint32_t row = 0; row < source->rows.n; row++) {
		uint32_t i = source->rows.v[row];

		if (bpf_map_lookup_elem(fd, &i, lost))
			return error_errno(errno, "cannot read the number of lost calls");
		for (int cpu = 0; cpu < cpus; cpu++)
			for (uint32_t kind = 0; kind < TRACE_LOST_KINDS; kind++) {
				struct trace_loss loss = {
					.kind = kind,
					.cpu = (uint32_t)cpu,
					.abi = i / TRACE_NRS,
					.nr = i % TRACE_NRS,
					.n = lost[cpu].n[kind],
				};
				if (loss.n)
					fn(ctx, &loss);
			}
	}
	lost_pieces_of_running(source, fn, ctx);
	return NULL;
}
