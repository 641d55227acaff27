// SPDX-License-Identifier: BSD-2-Clause
/*
 * The text is gathered in a large buffer, which is handed on when it is full: a
 * call for each line would cost more than the line.
 */
#include "perf/print/print_script.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/vec.h"
#include "perf/print/dump_counts.h"
#include "perf/print/print_header.h"
#include "perf/print/sample_reader.h"
#include "perf/print/text_writer.h"

/* Written when this much has gathered: a pipe takes 64 KiB at once. */
#define OUT_FULL (256 * 1024)

/* What is written apart from that of the other events. */
#define EVENT_FULL (64 * 1024)

struct event_text {
	struct strbuf text;
	uint64_t n_samples;
};

struct script {
	const struct script_opts *opts;
	const char *name; /* of the recording */
	const struct opened_recording *recording;
	struct session *session; /* the recording's */
	struct script_printer *printer;
	struct sample_reader reader;
	struct strbuf out;
	struct text_writer writer;
	VEC(struct event_text) events; /* by index; with opts->write_event */
	struct dump dump;
	struct dump_counts counts;
	bool selects_all; /* filter_selects_all() */
	bool is_plain;	  /* a line for each sample, and nothing else */
	bool closed;	  /* nobody reads our output any more */
	bool header_due;  /* of a pipe, where records say what is in it */
};

static struct error *flush(struct script *sc)
{
	if (strbuf_failed(&sc->out))
		return error_nomem();
	TRY(resolver_error(sc->recording->resolver));
	TRY(sample_reader_error(&sc->reader));
	struct error *err = text_writer_put(&sc->writer, &sc->out);
	sc->closed = err == SESSION_STOP;
	return err;
}

/* Until all is written that was flushed. */
static struct error *wait_written(struct script *sc)
{
	struct error *err = text_writer_wait(&sc->writer);

	sc->closed |= err == SESSION_STOP;
	return err;
}

static struct error *flush_event(struct script *sc, size_t i)
{
	struct event_text *et = &sc->events.v[i];

	if (strbuf_failed(&et->text))
		return error_nomem();
	TRY(sample_reader_error(&sc->reader));
	struct error *err = sc->opts->write_event(
		sc->opts->write_ctx, session_event(sc->session, i), &et->text, et->n_samples);
	strbuf_reset(&et->text);
	et->n_samples = 0;
	return err;
}

static struct error *learn_events(struct script *sc)
{
	while (sc->opts->write_event && sc->events.n < session_n_events(sc->session)) {
		struct event_text *et = vec_push(&sc->events);

		if (!et)
			return error_nomem();
		*et = (struct event_text){.text = STRBUF_INIT};
		TRY(flush_event(sc, sc->events.n - 1));
	}
	return NULL;
}

static inline struct error *maybe_flush(struct script *sc)
{
	return sc->out.len >= OUT_FULL || sc->out.failed ? flush(sc) : NULL;
}

/* In a pipe, events and format files come as records before they are needed. */
static struct error *learn(struct script *sc)
{
	TRY(sample_reader_open(&sc->reader));
	printer_set_tracing(sc->printer, sc->reader.tracing);
	TRY(printer_check_events(sc->printer));
	TRY(learn_events(sc));
	return sample_reader_learn(&sc->reader);
}

static enum filter_verdict verdict_of(struct script *sc)
{
	const struct sample_reader *r = &sc->reader;
	struct filter_input in = {
		.sample = r->sample,
		.event = r->event,
		.thread = r->thread,
		.cgroup = session_cgroup_of(sc->session, r->sample),
	};
	struct location leaf;

	if (filter_needs_location(sc->recording->filter)) {
		in.sample = sample_reader_probed(&sc->reader);
		resolve_addr(sc->recording->resolver, r->thread, in.sample->cpumode, in.sample->ip,
			     &leaf);
		in.leaf = &leaf;
	}
	return filter_sample(sc->recording->filter, &in);
}

/* Of a pipe: when the first sample comes, or when no more can. */
static void put_due_header(struct script *sc)
{
	if (sc->header_due)
		print_header(session_header(sc->session), sc->name, sc->opts->topology, &sc->out);
	sc->header_due = false;
}

/* NULL: no memory */
static const struct sample *with_stack(struct script *sc, const struct sample *sample)
{
	return sc->opts->hide_chain ? sample : sample_reader_unwound(&sc->reader, sample);
}

static struct error *on_sample(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	struct script *sc = tool->ctx;

	put_due_header(sc);
	if (sample_reader_has_news(&sc->reader))
		TRY(learn(sc));
	sample_reader_set(&sc->reader, sample, event, thread);
	if (sc->is_plain) {
		sample = with_stack(sc, sample);
		if (!sample)
			return error_nomem();
		print_sample(sc->printer, rec, sample, event, thread, &sc->out);
		return maybe_flush(sc);
	}
	if (sc->dump.style == DUMP_STATS)
		return dump_counts_add(&sc->counts, rec, event);
	if (sc->dump.style) {
		/* perf looks for the thread of a sample that --time selects. */
		const bool in_time = filter_has_time(sc->recording->filter, sample->time);

		print_record_raw(sc->printer, &sc->dump, rec, sample, event,
				 in_time ? thread : NULL, &sc->out);
	}
	const enum filter_verdict verdict = sc->selects_all ? FILTER_SHOW : verdict_of(sc);
	if (sc->dump.style == DUMP_REPORT) {
		TRY(dump_counts_add(&sc->counts, rec, verdict == FILTER_DROP ? NULL : event));
		return maybe_flush(sc);
	}
	if (verdict != FILTER_SHOW)
		return maybe_flush(sc);
	sample = with_stack(sc, sample);
	if (!sample)
		return error_nomem();
	if (sc->opts->timeline) {
		struct trace_event *format = sample_reader_format(&sc->reader, event);

		sample = probed_sample(&sc->reader.probed, format, sc->recording->resolver, thread,
				       sample);
		return timeline_add(sc->opts->timeline, sample, event, format, thread);
	}
	struct event_text *et = sc->opts->write_event ? &sc->events.v[event->index] : NULL;
	struct strbuf *out = et ? &et->text : &sc->out;
	if (sc->opts->python)
		print_sample_python(sc->printer, sample, event, thread, out);
	else if (sc->opts->json)
		print_sample_json(sc->printer, rec, sample, event, thread, out);
	else
		print_sample(sc->printer, rec, sample, event, thread, out);
	if (et)
		et->n_samples++;
	if (et && (et->text.len >= EVENT_FULL || et->text.failed))
		TRY(flush_event(sc, (size_t)event->index));
	return maybe_flush(sc);
}

static bool is_shown(const struct script_opts *opts, uint32_t type)
{
	switch (type) {
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return opts->show_task;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return opts->show_mmap;
	case PERF_RECORD_LOST:
		return opts->show_lost || opts->json;
	case PERF_RECORD_LOST_SAMPLES:
		return opts->json;
	case PERF_RECORD_KSYMBOL:
		return opts->show_bpf || opts->show_text_pokes;
	case PERF_RECORD_BPF_EVENT:
		return opts->show_bpf;
	case PERF_RECORD_TEXT_POKE:
		return opts->show_text_pokes;
	case RECORD_FINISHED_ROUND:
		return opts->show_rounds;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return opts->show_switch;
	case PERF_RECORD_CGROUP:
		return opts->show_cgroups;
	case PERF_RECORD_NAMESPACES:
		return opts->show_namespaces;
	default:
		return false;
	}
}

/* pid and tid are of the thread that the record is about. */
static struct error *on_record(struct script *sc, const struct record *rec, int32_t pid,
			       int32_t tid)
{
	struct thread *thread = NULL;

	/* By the events that were known before it. */
	if (sc->dump.style && sc->dump.style != DUMP_STATS)
		print_record_raw(sc->printer, &sc->dump, rec, NULL, NULL, NULL, &sc->out);
	if (sc->dump.style == DUMP_REPORT || sc->dump.style == DUMP_STATS)
		TRY(dump_counts_add(&sc->counts, rec, NULL));
	if (session_n_events(sc->session) != sc->reader.n_events)
		TRY(learn(sc));
	if (sc->opts->python)
		print_record_python(rec, &sc->out);
	if (!is_shown(sc->opts, rec->header.type) ||
	    !filter_has_cpu(sc->recording->filter, rec->id.cpu))
		return maybe_flush(sc);
	if (tid != -1)
		thread = session_thread(sc->session, pid, tid);
	if (sc->opts->json)
		print_record_json(sc->printer, rec, thread, &sc->out);
	else
		print_record(sc->printer, rec, thread, &sc->out);
	return maybe_flush(sc);
}

static struct error *on_mmap(struct session_tool *tool, struct session *s, const struct record *rec,
			     const struct record_mmap *mmap)
{
	return on_record(tool->ctx, rec, mmap->pid, mmap->tid);
}

static struct error *on_comm(struct session_tool *tool, struct session *s, const struct record *rec,
			     const struct record_comm *comm)
{
	return on_record(tool->ctx, rec, comm->pid, comm->tid);
}

static struct error *on_task(struct session_tool *tool, struct session *s, const struct record *rec,
			     const struct record_task *task)
{
	return on_record(tool->ctx, rec, task->pid, task->tid);
}

static struct error *on_namespaces(struct session_tool *tool, struct session *s,
				   const struct record *rec, const struct record_namespaces *ns)
{
	return on_record(tool->ctx, rec, ns->pid, ns->tid);
}

static struct error *on_other(struct session_tool *tool, struct session *s,
			      const struct record *rec)
{
	return on_record(tool->ctx, rec, rec->id.pid, rec->id.tid);
}

static struct error *print_records(struct script *sc)
{
	const struct script_opts *opts = sc->opts;
	/* rounds are where they are in the file, and so is all else, as in perf */
	struct session_tool tool = {.ctx = sc, .sample = on_sample, .unordered = opts->show_rounds};

	sc->counts.of_lost = opts->dump == DUMP_STATS;
	sc->is_plain = sc->selects_all && !sc->dump.style && !opts->timeline &&
		       !opts->write_event && !opts->python && !opts->json;
	if (opts->show_mmap || opts->dump)
		tool.mmap = on_mmap;
	if (opts->show_task || opts->dump) {
		tool.comm = on_comm;
		tool.fork = on_task;
		tool.exit = on_task;
	}
	if (opts->show_namespaces)
		tool.namespaces = on_namespaces;
	if (opts->show_lost || opts->show_bpf || opts->show_switch || opts->show_cgroups ||
	    opts->show_rounds || opts->show_text_pokes || opts->json || opts->python || opts->dump)
		tool.other = on_other;
	if (sc->selects_all && !opts->hide_chain && !opts->dump)
		TRY(sample_reader_process(&sc->reader, &tool));
	else
		TRY(session_process(sc->session, &tool));
	if (opts->dump == DUMP_REPORT || opts->dump == DUMP_STATS)
		dump_counts_print(&sc->counts, sc->session, opts->count_empty, &sc->out);
	if (opts->python)
		print_events_python(sc->printer, &sc->out);
	if (opts->json && !sc->closed) {
		const struct session_losses losses = session_losses(sc->session);

		for (size_t i = 0; i < losses.n_ledger; i++)
			print_ledger_json(sc->printer, &losses.ledger[i], &sc->out);
	}
	return filter_end(opts->recording->filter, sc->session);
}

static struct error *print_all(struct script *sc)
{
	const struct script_opts *opts = sc->opts;
	const struct printer_opts printer_opts = {
		.sz = sizeof(printer_opts),
		.log = opts->recording->log,
		.session = opts->recording->session,
		.resolver = opts->recording->resolver,
		.fields = opts->fields,
		.json = opts->json || opts->python,
		.hide_chain = opts->hide_chain,
		.ns = opts->ns,
		.full_paths = opts->full_paths,
		.python_fields = opts->python_fields,
		.short_start = opts->short_start,
		.kernel_path = opts->kernel_path,
		.time_base = opts->time_base,
		.chain_end = opts->chain_end,
		.max_stack = opts->max_stack,
		.max_blocks = opts->max_blocks,
	};

	/* A dump has what is in a pipe at the records that say so. */
	sc->header_due = opts->header && !opts->header_only && !opts->dump &&
			 session_header(sc->session)->pipe;
	if (opts->header && !sc->header_due)
		print_header(session_header(sc->session), sc->name, sc->opts->topology, &sc->out);
	if (opts->header_only) {
		TRY(flush(sc));
		return session_check_complete(sc->session, sc->name);
	}
	TRY(printer_new(&printer_opts, &sc->printer));
	TRY(learn(sc));
	strbuf_adds(&sc->out, opts->head ? opts->head : "");
	struct error *err = print_records(sc);
	put_due_header(sc);
	struct error *late = wait_written(sc);
	if (sc->closed)
		return err;
	err = error_either(err, late);
	session_warn_of_losses(sc->session, sc->name, sc->recording->log);
	sample_reader_warn_of_stacks(&sc->reader, sc->name);
	/* What came before an error is worth having. */
	late = flush(sc);
	if (!late)
		late = wait_written(sc);
	for (size_t i = 0; !late && i < sc->events.n; i++)
		late = flush_event(sc, i);
	if (!err && !late)
		return session_check_complete(sc->session, sc->name);
	if (!err)
		return late;
	if (late && late != SESSION_STOP)
		error_free(late);
	return err;
}

struct error *script_print(const struct script_opts *opts)
{
	struct script sc = {
		.opts = opts,
		.recording = opts->recording,
		.session = opts->recording->session,
		.selects_all = filter_selects_all(opts->recording->filter),
		.name = strcmp(opts->recording->path, "-") ? opts->recording->path : "PIPE",
		.reader = {.recording = opts->recording, .max_stack = opts->max_stack},
		.dump.style = opts->dump,
		.dump.features = opts->dump_features,
		.dump.topology = opts->topology,
	};

	sc.dump.file = sc.name;
	text_writer_init(&sc.writer, opts->write, opts->write_ctx);
	struct error *err = print_all(&sc);

	printer_free(sc.printer);
	sample_reader_deinit(&sc.reader);
	dump_counts_deinit(&sc.counts);
	text_writer_deinit(&sc.writer);
	strbuf_deinit(&sc.out);
	for (size_t i = 0; i < sc.events.n; i++)
		strbuf_deinit(&sc.events.v[i].text);
	vec_deinit(&sc.events);
	return err == SESSION_STOP ? NULL : err;
}
