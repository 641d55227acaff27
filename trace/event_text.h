/* SPDX-License-Identifier: BSD-2-Clause */
/* An event that is not a system call, as perf trace prints it, and as JSON. */
#ifndef PB_TRACE_EVENT_TEXT_H
#define PB_TRACE_EVENT_TEXT_H

#include <stdbool.h>

#include "lib/base/json_writer.h"
#include "lib/base/strbuf.h"
#include "trace/other_events.h"

struct event_text_opts {
	bool hide_names;			      /* of fields */
	bool show_zeros;			      /* numbers that are 0 */
	const char *(*comm)(void *ctx, uint32_t tid); /* NULL: none */
	void *ctx;
	const struct btf *btf; /* the kernel's, for the names of enumerators; NULL: none */
};

/*
 * "sched:sched_switch(prev_comm: "sh", prev_pid: 17 (sh), …)"; what a program put out:
 * "__bpf_stdout__("Hello, world")"
 */
void event_text_add(struct strbuf *out, const struct other_event *event,
		    const struct event_text_opts *opts);

/* As perf trace: "minfault [main+0x12] => /usr/bin/ls@0x4018 (d.)" */
void fault_text_add(struct strbuf *out, const struct page_fault *fault);

/* The members "code" and "data": objects. */
void fault_json_add(struct json_writer *w, const struct page_fault *fault);

/* The member "fields": an object with the event's fields; or "output": what a program put out. */
void event_json_add(struct json_writer *w, const struct other_event *event);

#endif
