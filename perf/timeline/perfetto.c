// SPDX-License-Identifier: BSD-2-Clause
/*
 * Perfetto's trace is a list of packets. Those of one sequence share tables of strings, mappings,
 * frames and call stacks ("interned data"): a packet brings the rows that are used for the first
 * time, and everything names them by ids from 1 on. The first packet clears the tables, the others
 * say that they need them.
 *
 * A sample of the CPU is a PerfSample; a tracepoint is an instant on the track of its thread, and a
 * sched_switch is what ftrace would have written, from which the tracks of the CPUs are made. Times
 * are those of the recording, in the trace's default clock.
 *
 * Numbers of fields: protos/perfetto/trace in Perfetto's sources, of the messages named below.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/protobuf.h"
#include "perf/timeline/internal.h"

enum {
	TRACE_PACKET = 1,

	/* TracePacket */
	PACKET_FTRACE_EVENTS = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_PERF_SAMPLE = 66,
	SEQUENCE_CLEARED = 1,
	SEQUENCE_NEEDS_STATE = 2,

	/* InternedData */
	INTERNED_FUNCTION_NAMES = 5,
	INTERNED_FRAMES = 6,
	INTERNED_CALLSTACKS = 7,
	INTERNED_BUILD_IDS = 16,
	INTERNED_MAPPING_PATHS = 17,
	INTERNED_MAPPINGS = 19,

	/* InternedString, Mapping, Frame, Callstack */
	IID = 1,
	STRING_TEXT = 2,
	MAPPING_BUILD_ID = 2,
	MAPPING_PATH = 7,
	FRAME_FUNCTION = 2,
	FRAME_MAPPING = 3,
	FRAME_ADDRESS = 4,
	CALLSTACK_FRAMES = 2,

	/* PerfSample */
	SAMPLE_CPU = 1,
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	SAMPLE_CALLSTACK = 4,
	SAMPLE_MODE = 5,

	/* ProcessTree */
	TREE_PROCESSES = 1,
	TREE_THREADS = 2,
	PROCESS_PID = 1,
	PROCESS_CMDLINE = 3,
	THREAD_TID = 1,
	THREAD_NAME = 2,
	THREAD_TGID = 3,

	/* TrackDescriptor, its ThreadDescriptor; TrackEvent, its DebugAnnotation */
	TRACK_UUID = 1,
	TRACK_THREAD = 4,
	TRACK_THREAD_PID = 1,
	TRACK_THREAD_TID = 2,
	TRACK_THREAD_NAME = 5,
	EVENT_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_TYPE_INSTANT = 3,
	ANNOTATION_TEXT = 6,
	ANNOTATION_NAME = 10,

	/* FtraceEventBundle, FtraceEvent, SchedSwitchFtraceEvent */
	BUNDLE_CPU = 1,
	BUNDLE_EVENT = 2,
	FTRACE_TIMESTAMP = 1,
	FTRACE_PID = 2,
	FTRACE_SCHED_SWITCH = 4,
	SWITCH_PREV_COMM = 1,
	SWITCH_PREV_PID,
	SWITCH_PREV_PRIO,
	SWITCH_PREV_STATE,
	SWITCH_NEXT_COMM,
	SWITCH_NEXT_PID,
	SWITCH_NEXT_PRIO,
};

/* All packets are of one sequence; 0 is not allowed. */
#define SEQUENCE 1

struct perfetto {
	const struct timeline *t;
	struct strbuf *out;
	struct u64map mappings;	       /* of DSOs: their ids */
	bool *funcs, *frames, *stacks; /* were written; the id is the index + 1 */
	bool *tracks;		       /* of threads */
	bool begun;
	VEC(uint32_t) chain;
	struct strbuf packet, interned, message, inner, list; /* at work */
};

/* Also what is 0, where that is a value and not the lack of one. */
static void add_always(struct strbuf *out, unsigned field, uint64_t v)
{
	protobuf_add_varint(out, field << 3);
	protobuf_add_varint(out, v);
}

static void end_packet(struct perfetto *p)
{
	protobuf_add_number(&p->packet, PACKET_SEQUENCE_ID, SEQUENCE);
	protobuf_add_number(&p->packet, PACKET_SEQUENCE_FLAGS,
			    SEQUENCE_NEEDS_STATE | (p->begun ? 0 : SEQUENCE_CLEARED));
	p->begun = true;
	if (p->interned.len)
		protobuf_add_message(&p->packet, PACKET_INTERNED_DATA, &p->interned);
	protobuf_add_message(p->out, TRACE_PACKET, &p->packet);
	strbuf_reset(&p->packet);
	strbuf_reset(&p->interned);
}

/* ---- interned data ---- */

static void intern_text(struct perfetto *p, unsigned table, uint64_t id, const void *text, size_t n)
{
	strbuf_reset(&p->message);
	protobuf_add_number(&p->message, IID, id);
	protobuf_add_bytes(&p->message, STRING_TEXT, text, n);
	protobuf_add_message(&p->interned, table, &p->message);
}

/* The id of the mapping, and of its path and build id; 0: the file is unknown. */
static uint64_t use_mapping(struct perfetto *p, const struct dso *dso)
{
	if (!dso)
		return 0;
	uint64_t id = (uintptr_t)u64map_get(&p->mappings, (uintptr_t)dso);
	if (id)
		return id;
	id = p->mappings.n + 1;
	if (!u64map_put(&p->mappings, (uintptr_t)dso, (void *)(uintptr_t)id)) {
		p->out->failed = true;
		return 0;
	}
	const char *path = timeline_dso_name(dso);
	intern_text(p, INTERNED_MAPPING_PATHS, id, path, strlen(path));
	if (dso->build_id_size)
		intern_text(p, INTERNED_BUILD_IDS, id, dso->build_id, dso->build_id_size);
	strbuf_reset(&p->message);
	protobuf_add_number(&p->message, IID, id);
	protobuf_add_number(&p->message, MAPPING_BUILD_ID, dso->build_id_size ? id : 0);
	protobuf_add_number(&p->message, MAPPING_PATH, id);
	protobuf_add_message(&p->interned, INTERNED_MAPPINGS, &p->message);
	return id;
}

static void use_frame(struct perfetto *p, uint32_t index)
{
	const struct timeline_frame *frame = &p->t->frames.v[index];
	const struct timeline_func *func = &p->t->funcs.v[frame->func];

	if (p->frames[index])
		return;
	p->frames[index] = true;
	if (!p->funcs[frame->func])
		intern_text(p, INTERNED_FUNCTION_NAMES, frame->func + 1ull, func->name,
			    strlen(func->name));
	p->funcs[frame->func] = true;
	const uint64_t mapping = use_mapping(p, func->dso);
	strbuf_reset(&p->message);
	protobuf_add_number(&p->message, IID, index + 1ull);
	protobuf_add_number(&p->message, FRAME_FUNCTION, frame->func + 1ull);
	protobuf_add_number(&p->message, FRAME_MAPPING, mapping);
	if (mapping)
		add_always(&p->message, FRAME_ADDRESS, frame->address);
	protobuf_add_message(&p->interned, INTERNED_FRAMES, &p->message);
}

/* Frames are listed from the outermost one. */
static void use_stack(struct perfetto *p, uint32_t index)
{
	if (index == NO_STACK || p->stacks[index])
		return;
	p->stacks[index] = true;
	p->chain.n = 0;
	for (uint32_t at = index; at != NO_STACK; at = p->t->stacks.v[at].caller) {
		uint32_t *frame = vec_push(&p->chain);

		if (!frame) {
			p->out->failed = true;
			return;
		}
		*frame = p->t->stacks.v[at].frame;
	}
	for (size_t i = p->chain.n; i-- > 0;)
		use_frame(p, p->chain.v[i]);
	strbuf_reset(&p->message);
	protobuf_add_number(&p->message, IID, index + 1ull);
	for (size_t i = p->chain.n; i-- > 0;)
		protobuf_add_number(&p->message, CALLSTACK_FRAMES, p->chain.v[i] + 1ull);
	protobuf_add_message(&p->interned, INTERNED_CALLSTACKS, &p->message);
}

/* ---- packets ---- */

/* Profiling.CpuMode has the kernel's numbers of PERF_RECORD_MISC_*, from 1 on. */
static void add_cpu_sample(struct perfetto *p, const struct timeline_sample *s)
{
	const struct timeline_thread *thread = &p->t->threads.v[s->thread];

	use_stack(p, s->stack);
	strbuf_reset(&p->message);
	if (s->cpu >= 0)
		add_always(&p->message, SAMPLE_CPU, (uint64_t)s->cpu);
	add_always(&p->message, SAMPLE_PID, (uint32_t)thread->pid);
	add_always(&p->message, SAMPLE_TID, (uint32_t)thread->tid);
	if (s->stack != NO_STACK)
		protobuf_add_number(&p->message, SAMPLE_CALLSTACK, s->stack + 1ull);
	protobuf_add_number(&p->message, SAMPLE_MODE, s->cpumode);
	protobuf_add_number(&p->packet, PACKET_TIMESTAMP, s->time);
	protobuf_add_message(&p->packet, PACKET_PERF_SAMPLE, &p->message);
	end_packet(p);
}

static void describe_track(struct perfetto *p, uint32_t index)
{
	const struct timeline_thread *thread = &p->t->threads.v[index];

	if (p->tracks[index])
		return;
	p->tracks[index] = true;
	strbuf_reset(&p->inner);
	add_always(&p->inner, TRACK_THREAD_PID, (uint32_t)thread->pid);
	add_always(&p->inner, TRACK_THREAD_TID, (uint32_t)thread->tid);
	protobuf_add_text(&p->inner, TRACK_THREAD_NAME, thread->comm);
	strbuf_reset(&p->message);
	protobuf_add_number(&p->message, TRACK_UUID, index + 1ull);
	protobuf_add_message(&p->message, TRACK_THREAD, &p->inner);
	protobuf_add_message(&p->packet, PACKET_TRACK_DESCRIPTOR, &p->message);
	end_packet(p);
}

static void add_instant(struct perfetto *p, const struct timeline_sample *s)
{
	const char *name = session_event(p->t->opts.session, s->event)->name;
	const size_t len = strcspn(name, ":"); /* the subsystem is the category */

	describe_track(p, s->thread);
	strbuf_reset(&p->inner);
	protobuf_add_text(&p->inner, ANNOTATION_NAME, "fields");
	protobuf_add_text(&p->inner, ANNOTATION_TEXT, s->text);
	strbuf_reset(&p->message);
	protobuf_add_message(&p->message, EVENT_ANNOTATIONS, &p->inner);
	protobuf_add_number(&p->message, EVENT_TYPE, EVENT_TYPE_INSTANT);
	protobuf_add_number(&p->message, EVENT_TRACK, s->thread + 1ull);
	protobuf_add_bytes(&p->message, EVENT_CATEGORY, name, len);
	protobuf_add_text(&p->message, EVENT_NAME, name);
	protobuf_add_number(&p->packet, PACKET_TIMESTAMP, s->time);
	protobuf_add_message(&p->packet, PACKET_TRACK_EVENT, &p->message);
	end_packet(p);
}

static void add_sched_switch(struct perfetto *p, const struct timeline_sample *s)
{
	const struct timeline_switch *sched = s->sched;

	strbuf_reset(&p->list);
	protobuf_add_text(&p->list, SWITCH_PREV_COMM, sched->prev_comm);
	add_always(&p->list, SWITCH_PREV_PID, sched->prev_pid);
	add_always(&p->list, SWITCH_PREV_PRIO, sched->prev_prio);
	add_always(&p->list, SWITCH_PREV_STATE, sched->prev_state);
	protobuf_add_text(&p->list, SWITCH_NEXT_COMM, sched->next_comm);
	add_always(&p->list, SWITCH_NEXT_PID, sched->next_pid);
	add_always(&p->list, SWITCH_NEXT_PRIO, sched->next_prio);
	strbuf_reset(&p->inner);
	protobuf_add_number(&p->inner, FTRACE_TIMESTAMP, s->time);
	add_always(&p->inner, FTRACE_PID, sched->prev_pid);
	protobuf_add_message(&p->inner, FTRACE_SCHED_SWITCH, &p->list);
	strbuf_reset(&p->message);
	add_always(&p->message, BUNDLE_CPU, (uint64_t)s->cpu);
	protobuf_add_message(&p->message, BUNDLE_EVENT, &p->inner);
	protobuf_add_message(&p->packet, PACKET_FTRACE_EVENTS, &p->message);
	end_packet(p);
}

/* The names of processes and threads. */
static void add_process_tree(struct perfetto *p)
{
	const struct timeline *t = p->t;

	strbuf_reset(&p->message);
	for (size_t i = 0; i < t->threads.n; i++) {
		const struct timeline_thread *thread = &t->threads.v[i];
		const bool is_main = thread->pid == thread->tid;

		strbuf_reset(&p->inner);
		if (is_main) {
			add_always(&p->inner, PROCESS_PID, (uint32_t)thread->pid);
			protobuf_add_text(&p->inner, PROCESS_CMDLINE, thread->comm);
		} else {
			add_always(&p->inner, THREAD_TID, (uint32_t)thread->tid);
			protobuf_add_text(&p->inner, THREAD_NAME, thread->comm);
			add_always(&p->inner, THREAD_TGID, (uint32_t)thread->pid);
		}
		protobuf_add_message(&p->message, is_main ? TREE_PROCESSES : TREE_THREADS,
				     &p->inner);
	}
	if (t->samples.n)
		protobuf_add_number(&p->packet, PACKET_TIMESTAMP, t->samples.v[0].time);
	protobuf_add_message(&p->packet, PACKET_PROCESS_TREE, &p->message);
	end_packet(p);
}

struct error *timeline_perfetto(const struct timeline *t, struct strbuf *out)
{
	struct perfetto p = {
		.t = t,
		.out = out,
		.funcs = calloc(t->funcs.n + 1, 1),
		.frames = calloc(t->frames.n + 1, 1),
		.stacks = calloc(t->stacks.n + 1, 1),
		.tracks = calloc(t->threads.n + 1, 1),
	};
	const bool has_memory = p.funcs && p.frames && p.stacks && p.tracks;

	if (has_memory)
		add_process_tree(&p);
	for (size_t i = 0; has_memory && i < t->samples.n; i++) {
		const struct timeline_sample *s = &t->samples.v[i];

		if (s->sched && s->cpu >= 0)
			add_sched_switch(&p, s);
		else if (s->text)
			add_instant(&p, s);
		else
			add_cpu_sample(&p, s);
	}
	/* also of one that is empty for that, and was not added */
	out->failed |= strbuf_failed(&p.packet) || strbuf_failed(&p.message) ||
		       strbuf_failed(&p.inner) || strbuf_failed(&p.interned) ||
		       strbuf_failed(&p.list);
	u64map_deinit(&p.mappings);
	free(p.funcs);
	free(p.frames);
	free(p.stacks);
	free(p.tracks);
	vec_deinit(&p.chain);
	strbuf_deinit(&p.packet);
	strbuf_deinit(&p.interned);
	strbuf_deinit(&p.message);
	strbuf_deinit(&p.inner);
	strbuf_deinit(&p.list);
	return has_memory && !strbuf_failed(out) ? NULL : error_nomem();
}
