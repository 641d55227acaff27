// SPDX-License-Identifier: BSD-2-Clause
/*
 * perf-bpf script: a recording, line by line, as perf script prints it, or as
 * lines of JSON. The text is gathered in a large buffer and written with
 * write(2) when that is full.
 */
#include <argp.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "lib/base/names.h"
#include "lib/base/vec.h"
#include "perf/print/header.h"
#include "perf/print/print.h"

/* Written when this much has gathered: a pipe takes 64 KiB at once. */
#define OUT_FULL (256 * 1024)

struct time_range {
	uint64_t start, end; /* end 0: open */
};

struct script {
	const char *input;
	struct field_choice fields;
	bool json, ns, hide_chain, header, header_only, dump, force;
	bool show_task, show_mmap, show_lost, show_bpf, show_switch;
	bool no_demangle;
	unsigned max_stack;
	int verbose;
	const char *kallsyms, *vmlinux, *symfs, *time, *cpus, *comms, *pids, *tids;

	VEC(struct time_range) ranges;
	VEC(int) only_pids;
	VEC(int) only_tids;
	struct names only_comms;
	uint64_t *cpu_bits; /* NULL: all */

	struct log log;
	struct session *session;
	struct resolver *resolver;
	struct tracing *tracing;
	const struct thread *thread; /* of the sample that is being written */
	struct printer *printer;
	struct strbuf out;
	bool closed; /* whoever reads our output has gone */
	size_t n_events;
};

enum {
	OPT_HEADER = 256,
	OPT_HEADER_ONLY,
	OPT_JSON,
	OPT_SHOW_TASK,
	OPT_SHOW_MMAP,
	OPT_SHOW_LOST,
	OPT_SHOW_BPF,
	OPT_SHOW_SWITCH,
	OPT_NS,
	OPT_TIME,
	OPT_PID,
	OPT_TID,
	OPT_MAX_STACK,
	OPT_KALLSYMS,
	OPT_SYMFS,
	OPT_NO_DEMANGLE,
};

static const struct argp_option options[] = {
	{"input", 'i', "FILE", 0, "Read FILE instead of perf.data; - is a pipe", 0},
	{"fields", 'F', "[TYPE:][+-]FIELD,...", 0,
	 "Write these fields; +FIELD adds to the defaults, -FIELD takes away, TYPE is hw, sw, "
	 "trace, raw or break",
	 0},
	{"json", OPT_JSON, NULL, 0, "Write one line of JSON per record", 0},
	{"hide-call-graph", 'G', NULL, 0, "Do not write call chains", 0},
	{"max-stack", OPT_MAX_STACK, "N", 0, "At most N entries of a chain (127)", 0},
	{"ns", OPT_NS, NULL, 0, "Write times with nine digits", 0},
	{"time", OPT_TIME, "START,STOP", 0,
	 "Only samples of this span, in seconds; either may be empty", 0},
	{"cpu", 'C', "LIST", 0, "Only samples of these CPUs: 0,2-3", 0},
	{"comms", 'c', "COMM,...", 0, "Only samples of threads of these names", 0},
	{"pid", OPT_PID, "PID,...", 0, "Only samples of these processes", 0},
	{"tid", OPT_TID, "TID,...", 0, "Only samples of these threads", 0},
	{"header", OPT_HEADER, NULL, 0, "Write the recording's header first", 0},
	{"header-only", OPT_HEADER_ONLY, NULL, 0, "Write the recording's header and end", 0},
	{"show-task-events", OPT_SHOW_TASK, NULL, 0, "Write COMM, FORK and EXIT records, too", 0},
	{"show-mmap-events", OPT_SHOW_MMAP, NULL, 0, "Write MMAP and MMAP2 records, too", 0},
	{"show-lost-events", OPT_SHOW_LOST, NULL, 0, "Write LOST records, too", 0},
	{"show-bpf-events", OPT_SHOW_BPF, NULL, 0, "Write KSYMBOL and BPF_EVENT records, too", 0},
	{"show-switch-events", OPT_SHOW_SWITCH, NULL, 0, "Write SWITCH records, too", 0},
	{"dump-raw-trace", 'D', NULL, 0, "Write every record with its bytes", 0},
	{"kallsyms", OPT_KALLSYMS, "FILE", 0, "The kernel's symbols", 0},
	{"vmlinux", 'k', "FILE", 0, "The kernel's image, for symbols", 0},
	{"symfs", OPT_SYMFS, "DIR", 0, "Look for binaries below DIR", 0},
	{"no-demangle", OPT_NO_DEMANGLE, NULL, 0, "Write C++ and Rust names as the linker has them",
	 0},
	{"force", 'f', NULL, 0, "Read a file that belongs to somebody else", 0},
	{"verbose", 'v', NULL, 0, "Say more; twice: for debugging", 0},
	{0},
};

/* "1,2-5" into numbers below limit. */
static struct error *parse_list(const char *text, const char *what, int limit,
				struct error *(*add)(struct script *sc, int from, int to),
				struct script *sc)
{
	const char *p = text;

	while (true) {
		char *end;
		long from = strtol(p, &end, 10), to = from;

		if (end == p || from < 0)
			break;
		if (*end == '-') {
			p = end + 1;
			to = strtol(p, &end, 10);
			if (end == p || to < from)
				break;
		}
		if (to >= limit || (*end && *end != ','))
			break;
		TRY(add(sc, (int)from, (int)to));
		if (!*end)
			return NULL;
		p = end + 1;
	}
	return error_hint(error_new(EINVAL, "%s '%s' is no list of numbers", what, text),
			  "write it as 1,4,7");
}

#define CPU_LIMIT 65536

static struct error *add_cpu(struct script *sc, int from, int to)
{
	if (!sc->cpu_bits)
		sc->cpu_bits = calloc(CPU_LIMIT / 64, sizeof(*sc->cpu_bits));
	if (!sc->cpu_bits)
		return error_nomem();
	for (int i = from; i <= to; i++)
		sc->cpu_bits[i / 64] |= 1ull << (i % 64);
	return NULL;
}

static struct error *add_pid(struct script *sc, int from, int to)
{
	int *at = from == to ? vec_push(&sc->only_pids) : NULL;

	if (!at)
		return error_new(EINVAL, "--pid wants numbers, not ranges");
	*at = from;
	return NULL;
}

static struct error *add_tid(struct script *sc, int from, int to)
{
	int *at = from == to ? vec_push(&sc->only_tids) : NULL;

	if (!at)
		return error_new(EINVAL, "--tid wants numbers, not ranges");
	*at = from;
	return NULL;
}

/* "SECONDS[.FRACTION]" of at most nine digits; *p moves past it. */
static bool parse_seconds(const char **p, uint64_t *ns)
{
	const char *s = *p;
	uint64_t sec = 0, part = 0, scale = 1000000000;

	for (; *s >= '0' && *s <= '9'; s++) {
		if (sec > UINT64_MAX / 1000000000 / 10 - 1)
			return false;
		sec = sec * 10 + (uint64_t)(*s - '0');
	}
	if (s == *p)
		return false;
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9'; s++) {
			scale /= 10;
			if (!scale)
				return false;
			part += (uint64_t)(*s - '0') * scale;
		}
	*ns = sec * 1000000000 + part;
	*p = s;
	return true;
}

/* "a,b", ",b", "a,", and several of them with spaces between, as perf has it. */
static struct error *parse_times(struct script *sc)
{
	for (const char *p = sc->time; *p;) {
		struct time_range *r = vec_push(&sc->ranges);

		if (!r)
			return error_nomem();
		bool good = *p == ',' || parse_seconds(&p, &r->start);
		if (good && *p == ',') {
			p++;
			good = !*p || *p == ' ' || parse_seconds(&p, &r->end);
		}
		if (!good || (*p && *p != ' ') || (r->end && r->end < r->start))
			return error_hint(error_new(EINVAL, "'%s' is no span of time", sc->time),
					  "write --time START,STOP in seconds of the recording's "
					  "clock, as script prints them: --time 1343.307,1343.5");
		while (*p == ' ')
			p++;
	}
	return NULL;
}

static struct error *parse_comms(struct script *sc)
{
	for (const char *p = sc->comms; *p;) {
		size_t n = strcspn(p, ",");

		if (n && !names_add_n(&sc->only_comms, p, n))
			return error_nomem();
		p += n;
		p += *p == ',';
	}
	return NULL;
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct script *sc = state->input;
	struct error *err;
	uint64_t number;

	switch (key) {
	case 'i':
		sc->input = arg;
		break;
	case 'F':
		err = field_choice_parse(&sc->fields, arg, &sc->log);
		if (err) {
			cmd_fail(err);
			exit(2);
		}
		break;
	case OPT_JSON:
		sc->json = true;
		break;
	case 'G':
		sc->hide_chain = true;
		break;
	case OPT_MAX_STACK:
		if (!option_number(arg, UINT_MAX, &number) || !number)
			argp_error(state, "--max-stack wants a number from 1 on, not '%s'", arg);
		sc->max_stack = (unsigned)number;
		break;
	case OPT_NS:
		sc->ns = true;
		break;
	case OPT_TIME:
		sc->time = arg;
		break;
	case 'C':
		sc->cpus = arg;
		break;
	case 'c':
		sc->comms = arg;
		break;
	case OPT_PID:
		sc->pids = arg;
		break;
	case OPT_TID:
		sc->tids = arg;
		break;
	case OPT_HEADER_ONLY:
		sc->header_only = true;
		/* fallthrough */
	case OPT_HEADER:
		sc->header = true;
		break;
	case OPT_SHOW_TASK:
		sc->show_task = true;
		break;
	case OPT_SHOW_MMAP:
		sc->show_mmap = true;
		break;
	case OPT_SHOW_LOST:
		sc->show_lost = true;
		break;
	case OPT_SHOW_BPF:
		sc->show_bpf = true;
		break;
	case OPT_SHOW_SWITCH:
		sc->show_switch = true;
		break;
	case 'D':
		sc->dump = true;
		break;
	case OPT_KALLSYMS:
		sc->kallsyms = arg;
		break;
	case 'k':
		sc->vmlinux = arg;
		break;
	case OPT_SYMFS:
		sc->symfs = arg;
		break;
	case OPT_NO_DEMANGLE:
		sc->no_demangle = true;
		break;
	case 'f':
		sc->force = true;
		break;
	case 'v':
		sc->verbose++;
		sc->log = cmd_log(sc->verbose);
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s': script takes no argument; a file is given with -i", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse_opt,
	.doc = "Print a recording, line by line, as perf script does.\v"
	       "See perf-bpf-script(1) for the fields and the schema of --json.",
};

/* Writes what has gathered. A reader that has gone ends the command quietly. */
static struct error *flush_out(struct script *sc)
{
	size_t done = 0;

	if (strbuf_failed(&sc->out))
		return error_nomem();
	while (done < sc->out.len) {
		ssize_t n = write(STDOUT_FILENO, sc->out.str + done, sc->out.len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EPIPE) {
			sc->closed = true;
			return SESSION_STOP;
		}
		if (n < 0)
			return error_errno(errno, "cannot write the output");
		done += (size_t)n;
	}
	strbuf_reset(&sc->out);
	return NULL;
}

static inline struct error *maybe_flush(struct script *sc)
{
	return sc->out.len >= OUT_FULL || sc->out.failed ? flush_out(sc) : NULL;
}

static bool has_number(const int *v, size_t n, int want)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == want)
			return true;
	return false;
}

static bool wants_thread(const struct script *sc, const struct thread *thread, int32_t pid,
			 int32_t tid)
{
	if (sc->only_pids.n && !has_number(sc->only_pids.v, sc->only_pids.n, pid))
		return false;
	if (sc->only_tids.n && !has_number(sc->only_tids.v, sc->only_tids.n, tid))
		return false;
	if (!sc->only_comms.n)
		return true;
	for (size_t i = 0; thread && i < sc->only_comms.n; i++)
		if (!strcmp(thread->comm, sc->only_comms.v[i]))
			return true;
	return false;
}

static bool wants_cpu(const struct script *sc, int32_t cpu)
{
	if (!sc->cpu_bits || cpu < 0)
		return true;
	return cpu < CPU_LIMIT && sc->cpu_bits[cpu / 64] >> (cpu % 64) & 1;
}

static bool wants_time(const struct script *sc, uint64_t time)
{
	const struct time_range *r;

	if (!sc->ranges.n || !time)
		return true;
	vec_for_each (r, &sc->ranges)
		if (time >= r->start && (!r->end || time <= r->end))
			return true;
	return false;
}

/* trace_symbol_fn; of a probe in a program the address is the process's. */
static const char *symbol_at(void *ctx, uint64_t addr, uint64_t *start)
{
	struct script *sc = ctx;
	struct location at;

	resolve_addr(sc->resolver, NULL, PERF_RECORD_MISC_KERNEL, addr, &at);
	if (!at.sym && sc->thread)
		resolve_addr(sc->resolver, sc->thread, PERF_RECORD_MISC_USER, addr, &at);
	if (!at.sym)
		return NULL;
	*start = addr - at.offset;
	return at.sym->name;
}

/* In a pipe, events and format files come as records before they are needed. */
static struct error *look_again(struct script *sc)
{
	const struct data_tracing *data = sc->tracing ? NULL : session_tracing(sc->session);

	sc->n_events = session_n_events(sc->session);
	if (data) {
		TRY(tracing_new(data, &sc->log, &sc->tracing));
		tracing_set_symbols(sc->tracing, symbol_at, sc);
		printer_set_tracing(sc->printer, sc->tracing);
	}
	return printer_check_events(sc->printer);
}

static const char *input_name(const struct script *sc)
{
	return strcmp(sc->input, "-") ? sc->input : "PIPE";
}

static struct error *on_sample(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	struct script *sc = tool->ctx;

	if (session_n_events(s) != sc->n_events || (!sc->tracing && session_tracing(s)))
		TRY(look_again(sc));
	if (sc->dump)
		print_record_raw(sc->printer, rec, sample, event, thread, input_name(sc), &sc->out);
	if (!wants_time(sc, sample->time) || !wants_cpu(sc, sample->cpu) ||
	    !wants_thread(sc, thread, sample->pid, sample->tid))
		return maybe_flush(sc);
	sc->thread = thread;
	if (sc->json)
		print_sample_json(sc->printer, rec, sample, event, thread, &sc->out);
	else
		print_sample(sc->printer, rec, sample, event, thread, &sc->out);
	return maybe_flush(sc);
}

static bool shows(const struct script *sc, uint32_t type)
{
	switch (type) {
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return sc->show_task;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return sc->show_mmap;
	case PERF_RECORD_LOST:
		return sc->show_lost || sc->json;
	case PERF_RECORD_LOST_SAMPLES:
		return sc->json;
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_BPF_EVENT:
		return sc->show_bpf;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return sc->show_switch;
	default:
		return false;
	}
}

/* pid and tid: of the thread that the record speaks of. */
static struct error *show(struct script *sc, const struct record *rec, int32_t pid, int32_t tid)
{
	struct thread *thread = NULL;

	if (session_n_events(sc->session) != sc->n_events)
		TRY(look_again(sc));
	if (sc->dump)
		print_record_raw(sc->printer, rec, NULL, NULL, NULL, input_name(sc), &sc->out);
	if (!shows(sc, rec->header.type) || !wants_cpu(sc, rec->id.cpu))
		return maybe_flush(sc);
	if (tid != -1)
		thread = session_thread(sc->session, pid, tid);
	if (sc->json)
		print_record_json(sc->printer, rec, thread, &sc->out);
	else
		print_record(sc->printer, rec, thread, &sc->out);
	return maybe_flush(sc);
}

static struct error *on_mmap(struct session_tool *tool, struct session *s, const struct record *rec,
			     const struct record_mmap *mmap)
{
	return show(tool->ctx, rec, mmap->pid, mmap->tid);
}

static struct error *on_comm(struct session_tool *tool, struct session *s, const struct record *rec,
			     const struct record_comm *comm)
{
	return show(tool->ctx, rec, comm->pid, comm->tid);
}

static struct error *on_task(struct session_tool *tool, struct session *s, const struct record *rec,
			     const struct record_task *task)
{
	return show(tool->ctx, rec, task->pid, task->tid);
}

static struct error *on_other(struct session_tool *tool, struct session *s,
			      const struct record *rec)
{
	return show(tool->ctx, rec, rec->id.pid, rec->id.tid);
}

static struct error *check_cpus(struct script *sc)
{
	for (size_t i = 0; sc->cpu_bits && i < session_n_events(sc->session); i++) {
		const struct session_event *ev = session_event(sc->session, i);
		bool dummy = ev->attr.type == PERF_TYPE_SOFTWARE &&
			     ev->attr.config == PERF_COUNT_SW_DUMMY;

		if (!(ev->attr.sample_type & PERF_SAMPLE_CPU) && !dummy)
			return error_hint(error_new(EINVAL, "samples of '%s' do not tell their CPU",
						    ev->name),
					  "leave out -C, or record with -a or --sample-cpu");
	}
	return NULL;
}

static struct error *prepare(struct script *sc)
{
	struct stat st;

	if (sc->time)
		TRY(parse_times(sc));
	if (sc->cpus)
		TRY(parse_list(sc->cpus, "-C", CPU_LIMIT, add_cpu, sc));
	if (sc->pids)
		TRY(parse_list(sc->pids, "--pid", INT_MAX, add_pid, sc));
	if (sc->tids)
		TRY(parse_list(sc->tids, "--tid", INT_MAX, add_tid, sc));
	if (sc->comms)
		TRY(parse_comms(sc));
	if (!sc->input) /* as perf: a pipe on stdin is read when there is one */
		sc->input = !fstat(STDIN_FILENO, &st) && S_ISFIFO(st.st_mode) &&
					    access("perf.data", F_OK)
				    ? "-"
				    : "perf.data";
	return NULL;
}

/* record --call-graph dwarf keeps stacks for the reader to unwind, which we do not. */
static void say_unwound(const struct script *sc)
{
	for (size_t i = 0; !sc->hide_chain && i < session_n_events(sc->session); i++) {
		const struct session_event *ev = session_event(sc->session, i);

		if (!(ev->attr.sample_type & PERF_SAMPLE_STACK_USER))
			continue;
		log_warn(&sc->log,
			 "%s: samples of '%s' hold stacks that only perf script unwinds; the "
			 "part of a chain that lies in the program is not printed",
			 input_name(sc), ev->name);
		return;
	}
}

/* What the recorder could not keep is no part of what was printed: say so. */
static void say_losses(const struct script *sc)
{
	struct session_losses l = session_losses(sc->session);

	if (l.lost_samples)
		log_warn(&sc->log, "%s: %" PRIu64 " samples were lost while recording",
			 input_name(sc), l.lost_samples);
	else if (l.lost)
		log_warn(&sc->log,
			 "%s: %" PRIu64 " records were lost while recording, in %" PRIu64 " places",
			 input_name(sc), l.lost, l.chunks);
}

static struct error *run(struct script *sc)
{
	struct session_opts session_opts = {
		.sz = sizeof(session_opts), .log = &sc->log, .force = sc->force};
	struct resolver_opts resolver_opts = {
		.sz = sizeof(resolver_opts),
		.log = &sc->log,
		.kallsyms = sc->kallsyms,
		.vmlinux = sc->vmlinux,
		.symfs = sc->symfs,
		.demangle = !sc->no_demangle,
	};
	struct printer_opts printer_opts = {
		.sz = sizeof(printer_opts),
		.log = &sc->log,
		.fields = &sc->fields,
		.json = sc->json,
		.hide_chain = sc->hide_chain,
		.ns = sc->ns,
		.max_stack = sc->max_stack,
	};

	TRY(prepare(sc));
	struct error *err = session_open(sc->input, &session_opts, &sc->session);
	if (err && err->code == ENOENT)
		error_hint(err, "perf-bpf record writes one; -i names another");
	TRY(err);
	TRY(check_cpus(sc));
	if (sc->header)
		print_header(session_header(sc->session), input_name(sc), &sc->out);
	if (sc->header_only)
		return flush_out(sc);

	TRY(resolver_new(sc->session, &resolver_opts, &sc->resolver));
	printer_opts.session = sc->session;
	printer_opts.resolver = sc->resolver;
	TRY(printer_new(&printer_opts, &sc->printer));
	TRY(look_again(sc));
	say_unwound(sc);

	struct session_tool tool = {.ctx = sc, .sample = on_sample};
	if (sc->show_mmap || sc->dump)
		tool.mmap = on_mmap;
	if (sc->show_task || sc->dump) {
		tool.comm = on_comm;
		tool.fork = on_task;
		tool.exit = on_task;
	}
	if (sc->show_lost || sc->show_bpf || sc->show_switch || sc->json || sc->dump)
		tool.other = on_other;
	err = session_process(sc->session, &tool);
	if (!err && sc->json) {
		struct session_losses losses = session_losses(sc->session);

		for (size_t i = 0; i < losses.n_ledger; i++)
			print_ledger_json(sc->printer, &losses.ledger[i], &sc->out);
	}
	if (!sc->closed)
		say_losses(sc);
	/* What came before an error is worth having. */
	if (!sc->closed) {
		struct error *late = flush_out(sc);

		if (late && late != SESSION_STOP && !err)
			err = late;
		else if (late && late != SESSION_STOP)
			error_free(late);
	}
	return err;
}

int cmd_script(int argc, char **argv)
{
	struct script sc = {.log = cmd_log(0)};
	char name[] = "perf-bpf script";

	field_choice_init(&sc.fields);
	argv[0] = name;
	cmd_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &sc);
	signal(SIGPIPE, SIG_IGN);

	struct error *err = run(&sc);
	printer_free(sc.printer);
	tracing_free(sc.tracing);
	resolver_free(sc.resolver);
	session_free(sc.session);
	strbuf_deinit(&sc.out);
	vec_deinit(&sc.ranges);
	vec_deinit(&sc.only_pids);
	vec_deinit(&sc.only_tids);
	names_deinit(&sc.only_comms);
	free(sc.cpu_bits);
	return err && err != SESSION_STOP ? cmd_fail(err) : 0;
}
