// SPDX-License-Identifier: BSD-2-Clause
/*
 * The text is gathered in a large buffer, which is handed on when it is full: a
 * call for each line would cost more than the line.
 */
#include "perf/print/print_script.h"

#include <inttypes.h>
#include <string.h>

#include "perf/print/print_header.h"
#include "perf/print/probed.h"

/* Written when this much has gathered: a pipe takes 64 KiB at once. */
#define OUT_FULL (256 * 1024)

struct script {
	const struct script_opts *opts;
	const char *name; /* of the recording */
	struct session *session;
	struct tracing *tracing;
	struct script_printer *printer;
	struct probed probed;
	struct {
		const struct sample *sample;
		const struct session_event *event;
		const struct thread *thread;
	} now;		 /* what is being written */
	size_t n_events; /* that the printer and the filter know */
	struct strbuf out;
	bool closed; /* nobody reads our output any more */
};

static struct error *flush(struct script *sc)
{
	if (strbuf_failed(&sc->out))
		return error_nomem();
	struct error *err = sc->opts->write(sc->opts->write_ctx, &sc->out);
	sc->closed = err == SESSION_STOP;
	strbuf_reset(&sc->out);
	return err;
}

static inline struct error *maybe_flush(struct script *sc)
{
	return sc->out.len >= OUT_FULL || sc->out.failed ? flush(sc) : NULL;
}

static struct trace_event *trace_of(const struct script *sc, const struct session_event *event)
{
	return sc->tracing && event->attr.type == PERF_TYPE_TRACEPOINT
		       ? tracing_find(sc->tracing, event->attr.config)
		       : NULL;
}

/*
 * trace_symbol_fn. Only of a probe in a program the address is the process's: others print
 * addresses of a process as such, a name would hide them.
 */
static const char *symbol_at(void *ctx, uint64_t addr, uint64_t *start)
{
	struct script *sc = ctx;
	struct location at;

	resolve_addr(sc->opts->resolver, NULL, PERF_RECORD_MISC_KERNEL, addr, &at);
	if (!at.sym && sc->now.thread && probed_is_one(trace_of(sc, sc->now.event), sc->now.sample))
		resolve_addr(sc->opts->resolver, sc->now.thread, PERF_RECORD_MISC_USER, addr, &at);
	if (!at.sym)
		return NULL;
	*start = addr - at.offset;
	return at.sym->name;
}

/* In a pipe, events and format files come as records before they are needed. */
static struct error *learn(struct script *sc)
{
	const struct data_tracing *data = sc->tracing ? NULL : session_tracing(sc->session);

	sc->n_events = session_n_events(sc->session);
	if (data) {
		TRY(tracing_new(data, sc->opts->log, &sc->tracing));
		tracing_set_symbols(sc->tracing, symbol_at, sc);
		printer_set_tracing(sc->printer, sc->tracing);
	}
	TRY(printer_check_events(sc->printer));
	return filter_check(sc->opts->filter, sc->session, sc->tracing);
}

static bool has_news(const struct script *sc)
{
	return session_n_events(sc->session) != sc->n_events ||
	       (!sc->tracing && session_tracing(sc->session));
}

static bool is_selected(struct script *sc, const struct sample *sample,
			const struct session_event *event, const struct thread *thread)
{
	struct filter_input in = {.sample = sample, .event = event, .thread = thread};
	struct location leaf;

	if (filter_needs_location(sc->opts->filter)) {
		in.sample = probed_sample(&sc->probed, trace_of(sc, event), sc->opts->resolver,
					  thread, sample);
		resolve_addr(sc->opts->resolver, thread, in.sample->cpumode, in.sample->ip, &leaf);
		in.leaf = &leaf;
	}
	return filter_sample(sc->opts->filter, &in) == FILTER_SHOW;
}

static struct error *on_sample(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	struct script *sc = tool->ctx;

	if (has_news(sc))
		TRY(learn(sc));
	if (sc->opts->dump)
		print_record_raw(sc->printer, rec, sample, event, thread, sc->name, &sc->out);
	if (!is_selected(sc, sample, event, thread))
		return maybe_flush(sc);
	sc->now.sample = sample;
	sc->now.event = event;
	sc->now.thread = thread;
	if (sc->opts->json)
		print_sample_json(sc->printer, rec, sample, event, thread, &sc->out);
	else
		print_sample(sc->printer, rec, sample, event, thread, &sc->out);
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
	case PERF_RECORD_BPF_EVENT:
		return opts->show_bpf;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return opts->show_switch;
	default:
		return false;
	}
}

/* pid and tid are of the thread that the record is about. */
static struct error *on_record(struct script *sc, const struct record *rec, int32_t pid,
			       int32_t tid)
{
	struct thread *thread = NULL;

	if (session_n_events(sc->session) != sc->n_events)
		TRY(learn(sc));
	if (sc->opts->dump)
		print_record_raw(sc->printer, rec, NULL, NULL, NULL, sc->name, &sc->out);
	if (!is_shown(sc->opts, rec->header.type) || !filter_has_cpu(sc->opts->filter, rec->id.cpu))
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

static struct error *on_other(struct session_tool *tool, struct session *s,
			      const struct record *rec)
{
	return on_record(tool->ctx, rec, rec->id.pid, rec->id.tid);
}

/* record --call-graph dwarf keeps stacks for the reader to unwind, which we do not. */
static void warn_of_stacks(const struct script *sc)
{
	for (size_t i = 0; !sc->opts->hide_chain && i < session_n_events(sc->session); i++) {
		const struct session_event *ev = session_event(sc->session, i);

		if (!(ev->attr.sample_type & PERF_SAMPLE_STACK_USER))
			continue;
		log_warn(sc->opts->log,
			 "%s: samples of '%s' hold stacks that only perf script unwinds; the "
			 "user part of a call chain is not printed",
			 sc->name, ev->name);
		return;
	}
}

/* What the recorder could not keep is not in the output. */
static void warn_of_losses(const struct script *sc)
{
	const struct session_losses l = session_losses(sc->session);

	if (l.lost_samples)
		log_warn(sc->opts->log, "%s: %" PRIu64 " samples were lost while recording",
			 sc->name, l.lost_samples);
	else if (l.lost)
		log_warn(sc->opts->log,
			 "%s: %" PRIu64 " records were lost while recording, in %" PRIu64 " chunks",
			 sc->name, l.lost, l.chunks);
}

static struct error *print_records(struct script *sc)
{
	const struct script_opts *opts = sc->opts;
	struct session_tool tool = {.ctx = sc, .sample = on_sample};

	if (opts->show_mmap || opts->dump)
		tool.mmap = on_mmap;
	if (opts->show_task || opts->dump) {
		tool.comm = on_comm;
		tool.fork = on_task;
		tool.exit = on_task;
	}
	if (opts->show_lost || opts->show_bpf || opts->show_switch || opts->json || opts->dump)
		tool.other = on_other;
	TRY(session_process(sc->session, &tool));
	if (opts->json && !sc->closed) {
		const struct session_losses losses = session_losses(sc->session);

		for (size_t i = 0; i < losses.n_ledger; i++)
			print_ledger_json(sc->printer, &losses.ledger[i], &sc->out);
	}
	return filter_end(opts->filter);
}

static struct error *print_all(struct script *sc)
{
	const struct script_opts *opts = sc->opts;
	const struct printer_opts printer_opts = {
		.sz = sizeof(printer_opts),
		.log = opts->log,
		.session = opts->session,
		.resolver = opts->resolver,
		.fields = opts->fields,
		.json = opts->json,
		.hide_chain = opts->hide_chain,
		.ns = opts->ns,
		.max_stack = opts->max_stack,
	};

	if (opts->header)
		print_header(session_header(sc->session), sc->name, &sc->out);
	if (opts->header_only)
		return flush(sc);
	TRY(printer_new(&printer_opts, &sc->printer));
	TRY(learn(sc));
	warn_of_stacks(sc);
	struct error *err = print_records(sc);
	if (sc->closed)
		return err;
	warn_of_losses(sc);
	/* What came before an error is worth having. */
	struct error *late = flush(sc);
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
		.session = opts->session,
		.name = strcmp(opts->path, "-") ? opts->path : "PIPE",
	};
	struct error *err = print_all(&sc);

	printer_free(sc.printer);
	tracing_free(sc.tracing);
	probed_deinit(&sc.probed);
	strbuf_deinit(&sc.out);
	return err == SESSION_STOP ? NULL : err;
}
