/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What script and report share when they go through the samples of a recording: the formats of
 * its tracepoints, which a pipe brings as records, and the sample that is being read, by whose
 * process an address in a payload gets a name.
 *
 *	struct sample_reader reader = {.recording = recording};
 *	... for each sample:
 *	if (sample_reader_has_news(&reader))
 *		TRY(sample_reader_learn(&reader));
 *	sample = sample_reader_set(&reader, sample, event, thread);
 */
#ifndef PB_PERF_PRINT_SAMPLE_READER_H
#define PB_PERF_PRINT_SAMPLE_READER_H

#include "perf/filter/filter.h"
#include "perf/print/probed.h"
#include "perf/unwind/frame_pointers.h"
#include "perf/unwind/unwind.h"

enum { READER_FORMATS = 16 };

struct sample_reader {
	const struct opened_recording *recording; /* borrowed; set by the caller */
	unsigned max_stack;	 /* the most frames of a stack that is unwound; 0: 127 */
	bool keeps_outermost;	 /* of its frames in the kernel; see unwinder_new() */
	struct tracing *tracing; /* NULL: the recording has no formats, or they come later */
	bool no_memory;		 /* to open them */
	size_t n_events;	 /* that the filter knows */
	/* The sample that is being read. */
	const struct sample *sample;
	const struct session_event *event;
	const struct thread *thread;
	/* That were found, by the number of the event. */
	struct known_format {
		const struct session_event *event; /* NULL: none */
		struct trace_event *format;
	} formats[READER_FORMATS];
	struct probed probed;
	struct unwinder *unwinder;	       /* NULL: no sample had a copy of its stack yet */
	struct frame_pointers *frame_pointers; /* NULL: all of them had one */
	bool no_hint; /* stacks that lack frame pointers are not counted: that needs symbols */
};

void sample_reader_deinit(struct sample_reader *reader);

/* Whether events or formats were added since sample_reader_learn(). */
bool sample_reader_has_news(const struct sample_reader *reader);
/* Opens the formats once they are there. */
struct error *sample_reader_open(struct sample_reader *reader);
/* The same, and checks the filter against them and the events. */
struct error *sample_reader_learn(struct sample_reader *reader);

/* The format of a tracepoint; NULL: there is none, or (in a pipe) not yet. */
struct trace_event *sample_reader_format(struct sample_reader *reader,
					 const struct session_event *event);

/* There was no memory for formats: what was made of their events so far is not whole. */
struct error *sample_reader_error(const struct sample_reader *reader);

/* From here on this is the sample that is read. */
void sample_reader_set(struct sample_reader *reader, const struct sample *sample,
		       const struct session_event *event, const struct thread *thread);

/* It as its probe has it (perf/print/probed.h); lasts until the next. */
const struct sample *sample_reader_probed(struct sample_reader *reader);

/*
 * A sample of the event that is being read, with the frames of its stack, if it has a copy of it
 * (perf/unwind/unwind.h); lasts until the next. NULL: no memory.
 */
const struct sample *sample_reader_unwound(struct sample_reader *reader,
					   const struct sample *sample);
/*
 * session_process(), with stacks unwound by other threads where that helps: for a tool that calls
 * sample_reader_unwound() for each sample that it gets.
 */
struct error *sample_reader_process(struct sample_reader *reader, struct session_tool *tool);

/* After the last sample: frees what only these need. */
void sample_reader_end(struct sample_reader *reader);

/* Warns of stacks that are incomplete, also for want of frame pointers. */
void sample_reader_warn_of_stacks(const struct sample_reader *reader, const char *name);

#endif
