// SPDX-License-Identifier: BSD-2-Clause
/*
 * --off-cpu: a program (off_cpu.bpf.c) measures how long tasks sleep. What is below the threshold
 * is summed by thread and stack, and written when the recording ends; a longer sleep is put out
 * into the rings. The samples of both are of the event "offcpu-time", and their period is the time
 * in nanoseconds.
 *
 * perf 7.2 leaves the pieces of such a sample in its raw data, as the kernel wrote them, and its
 * report puts them together. We do that before we write them: the file has ordinary samples with
 * call chains, which older versions and other tools know too. The kernel's sample says when the
 * task had a CPU again; whom it shows as running is the task before that one.
 *
 * Sums have no time. As perf does it, they come last, with times behind all others.
 */
#include "perf/record/internal.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/btf/open.h"
#include "lib/object/object.h"
#include "perf/event/encode.h"
#include "perf/record/off_cpu_shared.h"
#include "work/program_filter.h"

extern const char off_cpu_object[];
extern const size_t off_cpu_object_size;

#define EVENT_NAME "offcpu-time"

/* As in <bpf/perf_bpf_prog.h>, which is for BPF programs. */
enum {
	STACK_DEPTH = 127,
	STACK_SHORT = 32,
	STACK_LOST = 1,
};

#define SUMS_TIME (UINT64_MAX << 32) /* of the first one */

static struct bpf_map *map_of(const struct recording *rec, const char *name)
{
	const struct record_object *object = &rec->objects.v[rec->off_cpu - 1];

	return bpf_object__find_map_by_name(object->file.obj, name);
}

/* Since 5.18, the tracepoint has the state of the task as it was when it left. */
static bool switch_has_state(void)
{
	_cleanup_(btf__freep) struct btf *btf = btf__load_vmlinux_btf();
	const int id =
		btf ? btf__find_by_name_kind(btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF) : -1;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	t = t ? btf__type_by_id(btf, t->type) : NULL;
	t = t && btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	/* the first one is the context of the tracepoint */
	return t && btf_is_func_proto(t) && btf_vlen(t) >= 5;
}

static struct error *set_cpus(const struct recording *rec, struct off_cpu_config *config)
{
	_cleanup_cpus_ struct sys_cpus cpus = {0};

	if (!rec->opts.cpus)
		return NULL;
	TRY(sys_cpus_parse(rec->opts.cpus, &cpus));
	config->of_cpus = 1;
	for (size_t i = 0; i < cpus.n; i++)
		if (cpus.v[i] < OFF_CPU_CPUS)
			config->cpus[cpus.v[i] / 64] |= 1ull << cpus.v[i] % 64;
	return NULL;
}

static struct error *configure(const struct recording *rec, struct bpf_object *obj)
{
	static const enum off_cpu_filter filters[] = {
		[OUTPUT_ALL] = OFF_CPU_ALL,
		[OUTPUT_PROCESSES] = OFF_CPU_PROCESSES,
		[OUTPUT_THREADS] = OFF_CPU_THREADS,
		[OUTPUT_CGROUPS] = OFF_CPU_CGROUPS,
	};
	const enum output_filter filter = wanted_filter(rec);
	struct off_cpu_config config = {
		.threshold_ns = rec->opts.off_cpu_ns,
		.filter = filters[filter],
		.follow = wanted_follows(rec, filter),
		.with_cgroup = rec->opts.all_cgroups,
		.has_state = switch_has_state(),
	};
	const struct program_filter self = {.self = rec->opts.track};
	struct bpf_map *wanted = bpf_object__find_map_by_name(obj, "wanted");
	struct bpf_map *settings = bpf_object__find_map_by_name(obj, ".rodata.config");
	struct bpf_map *waits = bpf_object__find_map_by_name(obj, "waits");
	bool honoured;

	TRY(set_cpus(rec, &config));
	TRY(program_filter_apply(obj, &self, &honoured));
	/* the table of PERF_BPF_STACKS() is not used, only its stacks */
	if (bpf_map__set_initial_value(settings, &config, sizeof(config)) ||
	    bpf_map__set_key_size(wanted, filter == OUTPUT_CGROUPS ? 8 : 4) ||
	    bpf_map__set_max_entries(waits, (uint32_t)libbpf_num_possible_cpus()) ||
	    bpf_map__set_max_entries(bpf_object__find_map_by_name(obj, "off_cpu"), 1))
		return error_new(EINVAL, "the program of --off-cpu has other maps than expected");
	return NULL;
}

struct error *off_cpu_open(struct recording *rec)
{
	if (!rec->opts.off_cpu)
		return NULL;
	if (!off_cpu_object_size)
		return error_hint(error_new(ENOTSUP, "this perf-bpf was built without clang, and "
						     "has no program for --off-cpu"),
				  "build it with clang");
	if (rec->target.cgroups_by_event)
		return error_hint(error_usage("--off-cpu cannot be used with different cgroups of "
					      "events"),
				  "use one -G for all events");
	struct record_object *object = vec_push(&rec->objects);
	struct event *event = event_new(rec, EVENT_OUTPUT, EVENT_NAME);
	if (!object || !event)
		return error_nomem();
	rec->off_cpu = rec->objects.n;
	object->is_output = object->asks_filter = true;
	object->filter = wanted_filter(rec);
	object->path = strdup("--off-cpu");
	if (!object->path)
		return error_nomem();
	TRY(object_open_mem_of(off_cpu_object, off_cpu_object_size, object->path, NULL, rec->log,
			       &object->file.obj));
	TRY(configure(rec, object->file.obj));
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	event->is_off_cpu = event->asks_filter = true;
	event->overwrite = 0; /* drain.c puts its samples together */
	event->map = map_of(rec, "waits");
	rec->chains = true;
	return NULL;
}

void off_cpu_file_attr(struct perf_event_attr *attr)
{
	attr->sample_type &= ~(uint64_t)PERF_SAMPLE_RAW;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_kernel = 1;
}

static struct off_cpu_live *live_of(const struct recording *rec)
{
	return rec->off_cpu ? bpf_map__initial_value(map_of(rec, ".data.live"), NULL) : NULL;
}

void off_cpu_enable(struct recording *rec, bool on)
{
	struct off_cpu_live *live = live_of(rec);

	if (!live || on == (live->enabled != 0))
		return;
	rec->off_cpu_spans += on;
	__atomic_store_n(&live->enabled, on ? rec->off_cpu_spans : 0, __ATOMIC_RELAXED);
}

/* The frames of a stack, without those that are 0 behind it. */
static size_t read_stack(const struct recording *rec, uint64_t id, uint64_t ips[STACK_DEPTH])
{
	size_t n = 0;

	memset(ips, 0, STACK_DEPTH * sizeof(*ips));
	if (id > STACK_LOST &&
	    bpf_map_lookup_elem(bpf_map__fd(map_of(rec, "off_cpu_short")), &id, ips))
		bpf_map_lookup_elem(bpf_map__fd(map_of(rec, "off_cpu_stacks")), &id, ips);
	while (n < STACK_DEPTH && ips[n])
		n++;
	return n;
}

static const struct event *event_of(const struct recording *rec)
{
	const struct event *event;

	vec_for_each (event, &rec->events)
		if (event->is_off_cpu)
			return event;
	return NULL;
}

/* at: its id, time and CPU. */
static void encode(const struct recording *rec, const struct event *event,
		   const struct off_cpu_wait *wait, const struct sample *at, struct strbuf *out)
{
	uint64_t chain[1 + STACK_DEPTH] = {PERF_CONTEXT_USER};
	const size_t n = read_stack(rec, wait->key.stack, chain + 1);
	const struct sample sample = {
		.misc = PERF_RECORD_MISC_USER,
		.id = at->id,
		.ip = chain[1],
		.pid = (int32_t)wait->key.tgid,
		.tid = (int32_t)wait->key.tid,
		.time = at->time,
		.cpu = at->cpu,
		.period = wait->ns,
		.cgroup = wait->key.cgroup,
		.chain = {.bytes = (const uint8_t *)chain, .n = 1 + n},
	};
	struct perf_event_attr attr;

	event_file_attr(event, &attr);
	record_encode_sample(out, &attr, &sample);
}

struct error *off_cpu_write_wait(struct recording *rec, const struct event *event,
				 const void *record, size_t size)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct off_cpu_wait wait;
	struct sample sample;

	TRY(sample_decode(&event->attr, cursor_make(record, size, "a ring"), &sample));
	if (sample.raw_size < sizeof(wait))
		return error_new(EPROTO, "a sample of --off-cpu is too short");
	memcpy(&wait, sample.raw, sizeof(wait));
	encode(rec, event, &wait, &sample, &out);
	return strbuf_failed(&out) ? error_nomem()
				   : data_writer_records(rec->writer, out.str, out.len);
}

static void tell_losses(const struct recording *rec, const struct off_cpu_live *live)
{
	if (live->lost_stacks)
		log_warn(rec->log,
			 "--off-cpu: %llu times the map of stacks was full: these samples have no "
			 "call chain",
			 (unsigned long long)live->lost_stacks);
	if (live->unseen_returns)
		log_warn(rec->log,
			 "--off-cpu: %llu sleeps are lost: the kernel did not run the program when "
			 "they ended",
			 (unsigned long long)live->unseen_returns);
	if (live->lost_children)
		log_warn(rec->log,
			 "--off-cpu: %llu new tasks are not recorded: the map of tasks was full",
			 (unsigned long long)live->lost_children);
}

struct error *off_cpu_write_sums(struct recording *rec)
{
	const struct event *event = event_of(rec);
	const struct off_cpu_live *live = live_of(rec);
	struct off_cpu_wait sum;
	const struct off_cpu_key *before = NULL;
	struct sample at = {.time = SUMS_TIME};

	if (!event || !live)
		return NULL;
	const int fd = bpf_map__fd(map_of(rec, "sums"));
	at.id = event->fds.n ? event->fds.v[0].id : 0;
	for (struct off_cpu_key key; !bpf_map_get_next_key(fd, before, &key); before = &sum.key) {
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		sum.key = key;
		if (bpf_map_lookup_elem(fd, &key, &sum.ns))
			continue;
		encode(rec, event, &sum, &at, &out);
		if (strbuf_failed(&out))
			return error_nomem();
		TRY(data_writer_records(rec->writer, out.str, out.len));
		at.time++;
		rec->samples++;
		rec->user_hit = true;
	}
	rec->result.samples = rec->samples;
	tell_losses(rec, live);
	return NULL;
}

uint64_t off_cpu_lost(const struct recording *rec)
{
	const struct off_cpu_live *live = live_of(rec);

	return live ? live->lost_waits + live->lost_sums + live->unseen_returns : 0;
}
