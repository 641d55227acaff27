// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs and their time are the kernel's own count (BPF_ENABLE_STATS). For the
 * CPU's counters two small programs are attached to the watched one, before its
 * first and behind its last instruction (fentry and fexit of a BPF program, 5.5):
 * the first keeps what each counter says, the second adds the difference.
 *
 *	events	a perf event for each metric and CPU, metric * CPUs + CPU
 *	begun	per CPU and metric: the counter when the run began, and that one did
 *	sums	per CPU and metric: differences, and how many
 *
 * A program is on a CPU once only (the kernel leaves out what would be a second
 * run), so that a CPU's "begun" is that of its one run. A run that is on its way
 * when the programs are attached has no begin, and is left out.
 */
#include "inspect/profile.h"

#include <bpf/bpf.h>
#include <bpf/bpf_insn.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/names.h"
#include "lib/base/sum.h"
#include "lib/base/vec.h"
#include "lib/sys/missing_caps.h"
#include "lib/sys/prog_info.h"
#include "lib/sys/sys.h"

#define CACHE(cache, result)                                                                       \
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_READ << 8 |                          \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct metric {
	const char *name; /* bpftool's; what it does not have, as perf has it */
	uint32_t type;
	uint64_t config;
} metrics[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"l1d_loads", PERF_TYPE_HW_CACHE, CACHE(L1D, ACCESS)},
	{"llc_misses", PERF_TYPE_HW_CACHE, CACHE(LL, MISS)},
	{"itlb_misses", PERF_TYPE_HW_CACHE, CACHE(ITLB, MISS)},
	{"dtlb_misses", PERF_TYPE_HW_CACHE, CACHE(DTLB, MISS)},
	{"cpu_clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK}, /* ns */
};

enum {
	N_HARDWARE = 6, /* of the metrics: what is measured when none is named */
	SLOT_WORDS = 4, /* of a value of begun and sums: counter, enabled, running, runs */
	LOG_SIZE = 1 << 14,
};

struct prog_profile {
	int prog_fd;
	const struct metric *chosen[ARRAY_SIZE(metrics)];
	struct profile_value values[ARRAY_SIZE(metrics)];
	size_t n;
	struct profile_counts counts;
	uint64_t begun_at;
	unsigned cpus; /* possible ones */
	int stats_fd, events_fd, begun_fd, sums_fd;
	int entry_fd, exit_fd, entry_link, exit_link;
	VEC(int) event_fds;
};

void profile_free(struct prog_profile *p)
{
	if (!p)
		return;
	int *fds[] = {&p->entry_link, &p->exit_link, &p->entry_fd, &p->exit_fd,
		      &p->stats_fd,   &p->events_fd, &p->begun_fd, &p->sums_fd};
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		closep(fds[i]);
	for (size_t i = 0; i < p->event_fds.n; i++)
		closep(&p->event_fds.v[i]);
	vec_deinit(&p->event_fds);
	for (size_t i = 0; i < p->n; i++)
		free(p->values[i].why_not);
	free(p);
}

static struct error *choose(struct prog_profile *p, const char *name)
{
	struct nearest near = nearest_make(name);

	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		nearest_offer(&near, metrics[i].name);
		if (strcmp(metrics[i].name, name))
			continue;
		for (size_t k = 0; k < p->n; k++)
			if (p->chosen[k] == &metrics[i])
				return NULL; /* it is named twice */
		p->values[p->n].metric = metrics[i].name;
		p->chosen[p->n++] = &metrics[i];
		return NULL;
	}
	struct error *err = error_usage("unknown metric '%s'", name);
	return error_hint(error_suggest(err, &near), "cycles, instructions, l1d_loads, llc_misses, "
						     "itlb_misses, dtlb_misses, cpu_clock");
}

/* The metric is given up; err becomes the reason. */
static void give_up(struct prog_profile *p, size_t metric, struct error *err)
{
	struct profile_value *v = &p->values[metric];

	if (!v->why_not)
		v->why_not = strdup(err->msg);
	error_free(err);
}

static size_t n_measurable(const struct prog_profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += !p->values[i].why_not;
	return n;
}

/* ---- the events ---- */

static struct error *open_event(struct prog_profile *p, size_t metric, unsigned cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = p->chosen[metric]->type,
		.config = p->chosen[metric]->config,
	};
	const struct sys_perf_attempt attempt = {
		.attr = &attr,
		.event = p->chosen[metric]->name,
		.pid = -1,
		.cpu = (int)cpu,
	};
	const uint32_t key = (uint32_t)metric * p->cpus + cpu;

	int fd = sys_perf_event_open(&attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return sys_perf_event_explain(NULL, &attempt, fd);
	int *slot = vec_push(&p->event_fds);
	if (!slot) {
		close(fd);
		return error_nomem();
	}
	*slot = fd;
	if (bpf_map_update_elem(p->events_fd, &key, &fd, BPF_ANY))
		return error_errno(errno, "a BPF program cannot read this event");
	return NULL;
}

static struct error *open_events(struct prog_profile *p)
{
	_cleanup_cpus_ struct sys_cpus online = {0};

	TRY(sys_cpus_online(NULL, &online));
	for (size_t m = 0; m < p->n; m++)
		for (size_t i = 0; i < online.n && !p->values[m].why_not; i++) {
			struct error *err = open_event(p, m, online.v[i]);

			if (err)
				give_up(p, m, err);
		}
	return NULL;
}

static struct error *make_map(enum bpf_map_type type, const char *name, uint32_t value_size,
			      uint32_t n, int *fd)
{
	*fd = bpf_map_create(type, name, sizeof(uint32_t), value_size, n, NULL);
	return *fd < 0 ? error_errno(errno, "cannot create a map") : NULL;
}

static struct error *make_maps(struct prog_profile *p)
{
	const uint32_t n = (uint32_t)p->n, size = SLOT_WORDS * sizeof(uint64_t);

	TRY(make_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "profile_events", sizeof(int), n * p->cpus,
		     &p->events_fd));
	TRY(make_map(BPF_MAP_TYPE_PERCPU_ARRAY, "profile_begun", size, n, &p->begun_fd));
	return make_map(BPF_MAP_TYPE_PERCPU_ARRAY, "profile_sums", size, n, &p->sums_fd);
}

/* ---- the programs ---- */

struct measuring_code {
	VEC(struct bpf_insn) insns;
	bool failed;
};

static void emit(struct measuring_code *c, const struct bpf_insn *insns, size_t n)
{
	if (!vec_reserve(&c->insns, c->insns.n + n)) {
		c->failed = true;
		return;
	}
	memcpy(c->insns.v + c->insns.n, insns, n * sizeof(*insns));
	c->insns.n += n;
}
#define EMIT(c, ...)                                                                               \
	do {                                                                                       \
		const struct bpf_insn emitted_[] = {__VA_ARGS__};                                  \
		emit(c, emitted_, ARRAY_SIZE(emitted_));                                           \
	} while (0)

/* Where the frame has what. */
enum {
	FP_COUNTER = -24, /* struct bpf_perf_event_value */
	FP_KEY = -28,
	IS_BEGUN = 24, /* the fourth word of begun: a run is on its way */
};

/* r0 = the metric's value in the map; what follows is done if there is one. */
static void emit_lookup(struct measuring_code *c, int map_fd, size_t metric)
{
	EMIT(c, BPF_ST_MEM(BPF_W, BPF_REG_10, FP_KEY, (int)metric),
	     BPF_LD_MAP_FD(BPF_REG_1, map_fd), BPF_MOV64_REG(BPF_REG_2, BPF_REG_10),
	     BPF_ALU64_IMM(BPF_ADD, BPF_REG_2, FP_KEY), BPF_EMIT_CALL(BPF_FUNC_map_lookup_elem));
}

/* From r0, which may be NULL; r7 keeps it. */
static void emit_keep(struct measuring_code *c)
{
	EMIT(c, BPF_JMP_IMM(BPF_JEQ, BPF_REG_0, 0, 7));
	for (int word = 0; word < 3; word++)
		EMIT(c, BPF_LDX_MEM(BPF_DW, BPF_REG_1, BPF_REG_10, FP_COUNTER + 8 * word),
		     BPF_STX_MEM(BPF_DW, BPF_REG_0, BPF_REG_1, 8 * word));
	EMIT(c, BPF_ST_MEM(BPF_DW, BPF_REG_0, IS_BEGUN, 1));
}

/* What the counter grew by since r7's run began goes to the sums. */
static void emit_add(struct measuring_code *c, int sums_fd, size_t metric)
{
	struct measuring_code add = {0};

	emit_lookup(&add, sums_fd, metric);
	EMIT(&add, BPF_JMP_IMM(BPF_JEQ, BPF_REG_0, 0, 6 * 3 + 3));
	for (int word = 0; word < 3; word++)
		EMIT(&add, BPF_LDX_MEM(BPF_DW, BPF_REG_1, BPF_REG_10, FP_COUNTER + 8 * word),
		     BPF_LDX_MEM(BPF_DW, BPF_REG_2, BPF_REG_7, 8 * word),
		     BPF_ALU64_REG(BPF_SUB, BPF_REG_1, BPF_REG_2),
		     BPF_LDX_MEM(BPF_DW, BPF_REG_2, BPF_REG_0, 8 * word),
		     BPF_ALU64_REG(BPF_ADD, BPF_REG_2, BPF_REG_1),
		     BPF_STX_MEM(BPF_DW, BPF_REG_0, BPF_REG_2, 8 * word));
	EMIT(&add, BPF_LDX_MEM(BPF_DW, BPF_REG_1, BPF_REG_0, 24),
	     BPF_ALU64_IMM(BPF_ADD, BPF_REG_1, 1), BPF_STX_MEM(BPF_DW, BPF_REG_0, BPF_REG_1, 24));

	EMIT(c, BPF_JMP_IMM(BPF_JEQ, BPF_REG_0, 0, (int)add.insns.n + 4),
	     BPF_MOV64_REG(BPF_REG_7, BPF_REG_0),
	     BPF_LDX_MEM(BPF_DW, BPF_REG_1, BPF_REG_7, IS_BEGUN),
	     BPF_JMP_IMM(BPF_JEQ, BPF_REG_1, 0, (int)add.insns.n + 1),
	     BPF_ST_MEM(BPF_DW, BPF_REG_7, IS_BEGUN, 0));
	emit(c, add.insns.v, add.insns.n);
	c->failed |= add.failed;
	vec_deinit(&add.insns);
}

/* One metric: the counter is read first, so that little of ours is counted. */
static void emit_metric(struct measuring_code *c, const struct prog_profile *p, size_t metric,
			bool at_exit)
{
	struct measuring_code behind = {0};

	emit_lookup(&behind, p->begun_fd, metric);
	if (at_exit)
		emit_add(&behind, p->sums_fd, metric);
	else
		emit_keep(&behind);
	EMIT(c, BPF_MOV64_REG(BPF_REG_2, BPF_REG_6),
	     BPF_ALU64_IMM(BPF_ADD, BPF_REG_2, (int)(metric * p->cpus)),
	     BPF_LD_MAP_FD(BPF_REG_1, p->events_fd), BPF_MOV64_REG(BPF_REG_3, BPF_REG_10),
	     BPF_ALU64_IMM(BPF_ADD, BPF_REG_3, FP_COUNTER),
	     BPF_MOV64_IMM(BPF_REG_4, sizeof(struct bpf_perf_event_value)),
	     BPF_EMIT_CALL(BPF_FUNC_perf_event_read_value),
	     BPF_JMP_IMM(BPF_JNE, BPF_REG_0, 0, (int)behind.insns.n));
	emit(c, behind.insns.v, behind.insns.n);
	c->failed |= behind.failed;
	vec_deinit(&behind.insns);
}

static struct error *load(const struct prog_profile *p, uint32_t function, bool at_exit, int *fd)
{
	_cleanup_free_ char *log = calloc(1, LOG_SIZE);
	DECLARE_LIBBPF_OPTS(bpf_prog_load_opts, opts,
			    .expected_attach_type = at_exit ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY,
			    .attach_prog_fd = p->prog_fd, .attach_btf_id = function, .log_buf = log,
			    .log_size = LOG_SIZE, .log_level = 1);
	struct measuring_code code = {0};

	EMIT(&code, BPF_EMIT_CALL(BPF_FUNC_get_smp_processor_id),
	     BPF_MOV64_REG(BPF_REG_6, BPF_REG_0));
	/* in the other order behind it: what is between a metric's two readings nests */
	for (size_t i = 0; i < p->n; i++) {
		const size_t metric = at_exit ? p->n - 1 - i : i;

		if (!p->values[metric].why_not)
			emit_metric(&code, p, metric, at_exit);
	}
	EMIT(&code, BPF_MOV64_IMM(BPF_REG_0, 0), BPF_EXIT_INSN());
	if (code.failed || !log) {
		vec_deinit(&code.insns);
		return error_nomem();
	}
	*fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, at_exit ? "profile_exit" : "profile_entry",
			    "GPL", code.insns.v, code.insns.n, &opts);
	const int failed = errno;
	vec_deinit(&code.insns);
	if (*fd >= 0)
		return NULL;
	log[strcspn(log, "\n")] = 0;
	return error_errno(failed, "the kernel rejects %s on this program%s%s",
			   at_exit ? "fexit" : "fentry", *log ? ": " : "", log);
}

static struct error *attach_programs(struct prog_profile *p)
{
	_cleanup_prog_info_ struct sys_prog_info prog = {0};
	struct bpf_func_info function;

	TRY(sys_prog_info_read(p->prog_fd, 1u << SYS_PROG_FUNC_INFO, &prog));
	if (!prog.info.btf_id || !sys_prog_info_count(&prog, SYS_PROG_FUNC_INFO) ||
	    prog.info.func_info_rec_size < sizeof(function))
		return error_new(ENOTSUP, "fentry needs BTF, and the program has none");
	if (!prog.info.jited_prog_len)
		return error_new(ENOTSUP,
				 "fentry needs machine code, and the program is not JIT-compiled");
	memcpy(&function, prog.arrays[SYS_PROG_FUNC_INFO], sizeof(function));
	TRY(load(p, function.type_id, false, &p->entry_fd));
	TRY(load(p, function.type_id, true, &p->exit_fd));
	p->exit_link = bpf_raw_tracepoint_open(NULL, p->exit_fd);
	if (p->exit_link >= 0)
		p->entry_link = bpf_raw_tracepoint_open(NULL, p->entry_fd);
	if (p->exit_link < 0 || p->entry_link < 0)
		return error_errno(errno, "fentry and fexit cannot be attached to it");
	return NULL;
}

/* ---- begin and end ---- */

static struct error *count_runs(struct prog_profile *p)
{
	int enabled = 0;

	p->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	const int code = errno;
	if (p->stats_fd >= 0)
		return NULL;
	error_free(sys_sysctl(NULL, "kernel/bpf_stats_enabled", &enabled));
	if (enabled)
		return NULL;
	struct error *err = error_errno(code == EINVAL ? ENOTSUP : code,
					"the kernel does not collect run statistics of programs");
	if (code == EPERM || code == EACCES)
		return sys_hint_caps(err, NULL, SYS_CAP(SYS_CAP_SYS_ADMIN),
				     "type: sysctl kernel.bpf_stats_enabled=1");
	return error_hint(err, "type: sysctl kernel.bpf_stats_enabled=1 (Linux 5.1)");
}

static struct error *read_counts(const struct prog_profile *p, struct profile_counts *counts)
{
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(p->prog_fd, &info, &len))
		return error_errno(errno, "cannot read the program's counters");
	*counts = (struct profile_counts){info.run_cnt, info.run_time_ns, info.recursion_misses, 0};
	return NULL;
}

static struct error *measure_metrics(struct prog_profile *p)
{
	struct error *err;

	if (!p->n)
		return NULL;
	err = make_maps(p);
	if (!err)
		err = open_events(p);
	if (!err && n_measurable(p))
		err = attach_programs(p);
	for (size_t i = 0; err && i < p->n; i++)
		if (!p->values[i].why_not)
			give_up(p, i, error_new(err->code, "%s", err->msg));
	error_free(err);
	return NULL;
}

struct error *profile_begin(int prog_fd, char *const *names, size_t n, struct prog_profile **out)
{
	_cleanup_(profile_freep) struct prog_profile *p = calloc(1, sizeof(*p));
	int cpus = libbpf_num_possible_cpus();

	if (!p)
		return error_nomem();
	p->prog_fd = prog_fd;
	p->stats_fd = p->events_fd = p->begun_fd = p->sums_fd = -1;
	p->entry_fd = p->exit_fd = p->entry_link = p->exit_link = -1;
	if (cpus <= 0)
		return error_errno(-cpus, "cannot determine the number of CPUs");
	p->cpus = (unsigned)cpus;
	for (size_t i = 0; i < n; i++)
		TRY(choose(p, names[i]));
	for (size_t i = 0; !n && i < N_HARDWARE; i++)
		TRY(choose(p, metrics[i].name));
	TRY(count_runs(p));
	TRY(measure_metrics(p));
	TRY(read_counts(p, &p->counts));
	p->begun_at = clock_ns(CLOCK_MONOTONIC);
	*out = steal_ptr(p);
	return NULL;
}

static struct error *read_sums(struct prog_profile *p)
{
	const size_t words = (size_t)p->cpus * SLOT_WORDS;
	_cleanup_free_ uint64_t *slots = calloc(words, sizeof(*slots));

	if (!slots)
		return error_nomem();
	for (uint32_t m = 0; m < p->n; m++) {
		struct profile_value *v = &p->values[m];

		if (v->why_not)
			continue;
		if (bpf_map_lookup_elem(p->sums_fd, &m, slots))
			return error_errno(errno, "cannot read %s", v->metric);
		for (size_t i = 0; i < words; i += SLOT_WORDS) {
			sum_add(&v->value, slots[i]);
			sum_add(&v->enabled, slots[i + 1]);
			sum_add(&v->running, slots[i + 2]);
			sum_add(&v->runs, slots[i + 3]);
		}
	}
	return NULL;
}

struct error *profile_end(struct prog_profile *p)
{
	struct profile_counts end = {0};

	p->counts.span_ns = clock_ns(CLOCK_MONOTONIC) - p->begun_at;
	TRY(read_counts(p, &end));
	closep(&p->entry_link);
	closep(&p->exit_link);
	p->entry_link = p->exit_link = -1;
	p->counts.runs = end.runs - p->counts.runs;
	p->counts.ns = end.ns - p->counts.ns;
	p->counts.missed = end.missed - p->counts.missed;
	return n_measurable(p) ? read_sums(p) : NULL;
}

const struct profile_counts *profile_counts(const struct prog_profile *p)
{
	return &p->counts;
}

const struct profile_value *profile_values(const struct prog_profile *p, size_t *n)
{
	*n = p->n;
	return p->values;
}
