// SPDX-License-Identifier: BSD-2-Clause
#include "trace/event_reader.h"

#include <string.h>

#include "perf/format/tracing.h"

/* The number in a field; 0: there is none. */
static uint64_t number_of(const struct other_event *event, const char *field)
{
	const struct trace_field *f =
		event->format ? trace_event_find_field(event->format, field) : NULL;
	uint64_t v;

	return f && trace_field_number(event->format, f, event->raw, event->raw_size, &v) ? v : 0;
}

static bool is_fault(const struct event_reader *reader, const struct sample *sample,
		     const struct session_event *ev)
{
	return reader->faults && sample->has & PERF_SAMPLE_ADDR &&
	       ev->attr.type == PERF_TYPE_SOFTWARE &&
	       (ev->attr.config == PERF_COUNT_SW_PAGE_FAULTS_MAJ ||
		ev->attr.config == PERF_COUNT_SW_PAGE_FAULTS_MIN);
}

static struct page_fault fault_of(const struct event_reader *reader, const struct sample *sample,
				  const struct session_event *ev, const struct thread *thread)
{
	struct page_fault fault = {
		.major = ev->attr.config == PERF_COUNT_SW_PAGE_FAULTS_MAJ,
		.in_kernel = sample->cpumode == PERF_RECORD_MISC_KERNEL,
	};

	if (!reader->stacks)
		return fault;
	struct resolver *r = stack_reader_resolver(reader->stacks);
	resolver_refresh(r);
	resolve_addr(r, thread, sample->cpumode, sample->ip, &fault.code);
	/* also where the kernel touched it */
	resolve_addr(r, thread, PERF_RECORD_MISC_USER, sample->addr, &fault.data);
	return fault;
}

struct error *event_reader_read(const struct event_reader *reader, const struct sample *sample,
				const struct session_event *ev, const struct thread *thread,
				struct other_event *event, struct page_fault *fault)
{
	*event = (struct other_event){
		.time = sample->time,
		.pid = (uint32_t)sample->pid,
		.tid = (uint32_t)sample->tid,
		.cpu = sample->cpu,
		.name = ev->name,
		.raw = sample->raw,
		.raw_size = sample->raw_size,
	};
	if (reader->stacks)
		TRY(stack_reader_read(reader->stacks, sample, ev, thread, &event->stack));
	if (reader->tracing && ev->attr.type == PERF_TYPE_TRACEPOINT)
		event->format = tracing_find(reader->tracing, ev->attr.config);
	if (thread && thread->comm[0] != ':' && event->tid)
		strncpy(event->comm, thread->comm, sizeof(event->comm) - 1);
	if (is_fault(reader, sample, ev)) {
		*fault = fault_of(reader, sample, ev, thread);
		event->fault = fault;
	}
	if (reader->runtime && !strcmp(ev->name, RUNTIME_EVENT))
		event->runtime_ns = number_of(event, "runtime");
	return NULL;
}
