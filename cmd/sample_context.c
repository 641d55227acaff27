// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/sample_context.h"

#include <inttypes.h>
#include <stdio.h>

#include "cmd/config.h"
#include "cmd/options.h"
#include "perf/print/print_script.h"

#define AROUND	 10000000u /* ns, as perf has it */
#define MAX_TEXT ((size_t)8 << 20)

struct error *sample_context_configure(const struct log *log, uint64_t *around)
{
	_cleanup_config_ struct config *config = NULL;

	TRY(config_load(log, &config));
	const char *value = config_get(config, "samples.context");
	if (value && !option_number(value, UINT64_MAX / 2, around))
		return error_new(EINVAL, "samples.context: '%s' is not a number of nanoseconds",
				 value);
	return NULL;
}

/* As perf: what the event has besides. */
static struct error *choose_fields(enum browser_context context, const struct session_event *event,
				   const struct log *log, struct field_choice *fields)
{
	const uint64_t has = event->attr.sample_type;
	const struct {
		bool wanted;
		const char *fields;
	} more[] = {
		{has & PERF_SAMPLE_BRANCH_STACK, "+brstackinsn"},
		{has & PERF_SAMPLE_REGS_INTR, "+iregs"},
		{has & PERF_SAMPLE_REGS_USER, "+uregs"},
		{has & PERF_SAMPLE_PHYS_ADDR, "+phys_addr"},
		{context != BROWSER_CONTEXT, "+ip,+sym"}, /* tracepoints have none at first */
		{context == BROWSER_CONTEXT_CODE, "+disasm"},
		{context == BROWSER_CONTEXT_SOURCE, "+srcline,+srccode"},
	};

	field_choice_init(fields);
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		if (more[i].wanted)
			TRY(field_choice_parse(fields, more[i].fields, log));
	return NULL;
}

static struct error *keep(void *ctx, const struct strbuf *text)
{
	struct strbuf *out = ctx;

	strbuf_add(out, text->str, text->len);
	if (out->len <= MAX_TEXT)
		return NULL;
	strbuf_adds(out, "\n[more is not shown]\n");
	return SESSION_STOP;
}

struct error *sample_context_print(const struct sample_context_opts *opts,
				   const struct browser_sample *of,
				   const struct session_event *event, struct strbuf *out)
{
	const uint64_t around = opts->around ? opts->around : AROUND, s = 1000000000;
	const uint64_t time = of->sample.time, last = time + around;
	const uint64_t first = time > around ? time - around : 0;
	_cleanup_recording_ struct opened_recording r = {0};
	struct recording_opts recording = *opts->recording;
	char span[64], cpu[16], tid[16];
	struct field_choice fields;

	if (recording_is_input(opts->recording))
		return error_new(ESPIPE,
				 "a recording that was read from a pipe cannot be read again");
	if (!(event->attr.sample_type & PERF_SAMPLE_TIME))
		return error_new(ENODATA, "samples of %s have no time", event->name);
	snprintf(span, sizeof(span), "%" PRIu64 ".%09" PRIu64 ",%" PRIu64 ".%09" PRIu64, first / s,
		 first % s, last / s, last % s);
	snprintf(cpu, sizeof(cpu), "%d", of->sample.cpu);
	snprintf(tid, sizeof(tid), "%d", of->sample.tid);
	recording.filter = (struct filter_opts){
		.time = span,
		.cpus = of->sample.cpu >= 0 ? cpu : NULL,
		.tids = of->sample.tid > 0 ? tid : NULL,
	};
	recording.confined = true;
	recording.lines = of->context == BROWSER_CONTEXT_SOURCE;
	TRY(choose_fields(of->context, event, opts->log, &fields));
	TRY(recording_open(&recording, opts->log, &r));
	const struct script_opts script = {
		.sz = sizeof(script),
		.recording = &r,
		.fields = &fields,
		.ns = true,
		.show_lost = true,
		.show_switch = of->sample.tid > 0,
		.show_task = of->sample.tid > 0,
		.max_stack = recording.max_stack,
		.write = keep,
		.write_ctx = out,
	};
	return script_print(&script);
}
