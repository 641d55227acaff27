// SPDX-License-Identifier: BSD-2-Clause
/*
 * Samples as perf script writes them (tools/perf/Documentation/perf-script.txt
 * and what linux-perf 6.1 prints). The choice of fields is narrowed once, by
 * the first event of each type, to what its samples hold; after that a sample
 * is a walk over bits. Nothing here calls printf on the way of a tracepoint.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/plain_text.h"
#include "perf/event/sample_regs.h"
#include "perf/resolve/line_text.h"
#include "perf/print/printer.h"
#include "perf/print/put_text.h"
#include "perf/print/sample_access.h"
#include "perf/print/sample_code.h"

#define MAX_STACK 127 /* PERF_MAX_STACK_DEPTH */

/* Of a frame_key: what follows an address, and not a line of a call chain; not a FIELD_*. */
#define FORM_PLACE (1ull << 63)

/* What print_sample() prints without a look at each of the others. */
#define FIELDS_USUAL                                                                               \
	(FIELD_COMM | FIELD_PID | FIELD_TID | FIELD_CPU | FIELD_TIME | FIELD_PERIOD |              \
	 FIELD_EVENT | FIELD_TRACE | FIELD_IP | FIELD_SYM | FIELD_SYMOFF | FIELD_DSO |             \
	 FIELD_DSOFF | FIELD_BPF_OUTPUT)

static bool is_dummy(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

static bool is_bpf_output(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT;
}

bool addr_is_place(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_PAGE_FAULTS ||
						    attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
						    attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

/* What a field needs in the samples. */
static const struct {
	uint64_t fields, sample_type;
	const char *what;
} needs[] = {
	{FIELD_IP, PERF_SAMPLE_IP, "instruction pointer"},
	{FIELD_ADDR, PERF_SAMPLE_ADDR, "address"},
	{FIELD_WEIGHT, PERF_SAMPLE_WEIGHT_TYPE, "weight"},
	{FIELD_INS_LAT, PERF_SAMPLE_WEIGHT_STRUCT, "latency"},
	{FIELD_RETIRE_LAT, PERF_SAMPLE_WEIGHT_STRUCT, "latency"},
	{FIELD_BRSTACK, PERF_SAMPLE_BRANCH_STACK, "branches"},
	{FIELD_BRSTACKSYM, PERF_SAMPLE_BRANCH_STACK, "branches"},
	{FIELD_BRSTACKOFF, PERF_SAMPLE_BRANCH_STACK, "branches"},
	{FIELD_DATA_SRC, PERF_SAMPLE_DATA_SRC, "source of the data"},
	{FIELD_TID, PERF_SAMPLE_TID, "thread"},
	{FIELD_PID, PERF_SAMPLE_TID, "process"},
	{FIELD_TIME, PERF_SAMPLE_TIME, "time"},
	{FIELD_TOD, PERF_SAMPLE_TIME, "time"},
	{FIELD_CPU, PERF_SAMPLE_CPU, "cpu"},
	{FIELD_IREGS, PERF_SAMPLE_REGS_INTR, "registers"},
	{FIELD_UREGS, PERF_SAMPLE_REGS_USER, "user registers"},
	{FIELD_PHYS_ADDR, PERF_SAMPLE_PHYS_ADDR, "physical address"},
	{FIELD_DATA_PAGE_SIZE, PERF_SAMPLE_DATA_PAGE_SIZE, "size of the data's page"},
	{FIELD_CODE_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE, "size of the code's page"},
	{FIELD_CGROUP, PERF_SAMPLE_CGROUP, "cgroup"},
	{FIELD_UNIT, PERF_SAMPLE_CGROUP, "cgroup"},
	{FIELD_CONTAINER, PERF_SAMPLE_CGROUP, "cgroup"},
	{FIELD_POD, PERF_SAMPLE_CGROUP, "cgroup"},
};

/* Of any event, as in perf. */
static bool has_all_branches(const struct script_printer *p)
{
	for (size_t i = 0; i < session_n_events(p->opts.session); i++)
		if (session_event(p->opts.session, i)->attr.branch_sample_type &
		    PERF_SAMPLE_BRANCH_ANY)
			return true;
	return false;
}

static struct error *check_event(struct script_printer *p, const struct session_event *ev)
{
	enum field_type type = field_type_of(ev->attr.type);
	uint64_t *fields = &p->choice.type[type].fields;
	uint64_t wanted = p->choice.type[type].wanted;

	if (*fields & FIELD_TRACE && ev->attr.type == PERF_TYPE_TRACEPOINT &&
	    !(ev->attr.sample_type & PERF_SAMPLE_RAW) && !p->json) {
		struct error *err = error_new(EINVAL, "samples of '%s' have no raw data", ev->name);
		return error_hint(err, "record with -R, or use -F without 'trace'");
	}
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++) {
		if (!(*fields & needs[i].fields) || ev->attr.sample_type & needs[i].sample_type)
			continue;
		if (wanted & needs[i].fields) {
			struct error *err = error_new(EINVAL, "samples of '%s' have no %s",
						      ev->name, needs[i].what);
			return error_hint(err, "remove field '%s', or record with it",
					  field_name(needs[i].fields));
		}
		*fields &= ~needs[i].fields;
	}
	const struct data_header *header = session_header(p->opts.session);
	if (*fields & FIELD_TOD && !header->pipe && !header->clock_wall_ns)
		return error_hint(error_new(EINVAL,
					    "field 'tod' needs the clock's time of day, which "
					    "the recording does not have"),
				  "record with -k, for example -k monotonic");
	if (p->json)
		return NULL;
	if (*fields & FIELD_SYM && !(ev->attr.sample_type & (PERF_SAMPLE_IP | PERF_SAMPLE_ADDR)))
		return error_new(EINVAL, "samples of '%s' have no address for field 'sym'",
				 ev->name);
	if (*fields & FIELD_DSO && !(ev->attr.sample_type & (PERF_SAMPLE_IP | PERF_SAMPLE_ADDR)))
		return error_new(EINVAL, "samples of '%s' have no address for field 'dso'",
				 ev->name);
	if (*fields & (FIELD_SRCLINE | FIELD_SRCCODE) && !(*fields & FIELD_IP))
		return error_hint(error_new(EINVAL, "field '%s' needs field 'ip'",
					    *fields & FIELD_SRCLINE ? "srcline" : "srccode"),
				  "add 'ip' to -F");
	if (*fields & FIELDS_BRANCH_CODE && !has_all_branches(p))
		return error_hint(error_new(EINVAL, "the instructions between branches need a "
						    "recording of all branches"),
				  "record with -b");
	if (*fields & FIELD_SYMOFF && !(*fields & FIELD_SYM))
		return error_hint(error_new(EINVAL, "field 'symoff' needs field 'sym'"),
				  "add 'sym' to -F");
	return NULL;
}

/* Tracepoints show where they were hit when there are chains. */
static void add_chain_fields(struct script_printer *p)
{
	size_t n = session_n_events(p->opts.session);
	bool any = false;

	for (size_t i = 0; i < n; i++)
		any |= !!(session_event(p->opts.session, i)->attr.sample_type &
			  PERF_SAMPLE_CALLCHAIN);
	p->use_chain = !p->opts.hide_chain && any;
	if (!p->use_chain || p->choice.type[FIELD_TYPE_TRACEPOINT].user_set)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct perf_event_attr *attr = &session_event(p->opts.session, i)->attr;

		if (attr->type == PERF_TYPE_TRACEPOINT && attr->sample_type & PERF_SAMPLE_CALLCHAIN)
			p->choice.type[FIELD_TYPE_TRACEPOINT].fields |=
				FIELD_IP | FIELD_SYM | FIELD_SYMOFF | FIELD_DSO;
	}
}

/*
 * In a pipe the events come as records. perf then looks at each type when its
 * first event comes, and where that one has chains adds ip and sym alone.
 */
static void add_chain_fields_pipe(struct script_printer *p, const struct session_event *ev,
				  uint64_t all)
{
	enum field_type type = field_type_of(ev->attr.type);

	if (!p->use_chain || !(all & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK)))
		return;
	p->choice.type[type].fields |= (FIELD_IP | FIELD_SYM) & ~p->choice.type[type].unwanted;
}

struct error *printer_check_events(struct script_printer *p)
{
	size_t n = session_n_events(p->opts.session);
	bool pipe = session_header(p->opts.session)->pipe;
	uint64_t all = 0;

	if (n == p->n_checked)
		return NULL;
	if (pipe)
		p->use_chain = !p->opts.hide_chain;
	for (size_t i = 0; i < n; i++) {
		const struct session_event *ev = session_event(p->opts.session, i);
		enum field_type type = field_type_of(ev->attr.type);

		all |= ev->attr.sample_type;
		p->all_sample_types |= ev->attr.sample_type;
		if (i < p->n_checked || (is_dummy(&ev->attr) && !pipe) || p->type_checked[type])
			continue;
		/* Before it is marked: what waits in a pipe is handed out after an error, too. */
		if (p->choice.type[type].fields)
			TRY(check_event(p, ev));
		p->type_checked[type] = true;
		if (pipe)
			add_chain_fields_pipe(p, ev, all);
	}
	if (!p->n_checked)
		for (int i = 0; i < FIELD_N_TYPES; i++)
			if (p->choice.type[i].by_type && !p->type_checked[i] && n)
				return error_hint(error_new(EINVAL,
							    "the recording has no such events"),
						  "remove the -F for that event type");
	if (!pipe)
		add_chain_fields(p);
	p->n_checked = n;
	return NULL;
}

struct error *printer_new(const struct printer_opts *opts, struct script_printer **out)
{
	_cleanup_(printer_freep) struct script_printer *p = calloc(1, sizeof(*p));

	if (!p)
		return error_nomem();
	memcpy(&p->opts, opts, min_of(opts->sz, sizeof(p->opts)));
	p->choice = *p->opts.fields;
	p->json = p->opts.json;
	p->tracing = p->opts.tracing;
	p->max_stack = p->opts.max_stack ? p->opts.max_stack : MAX_STACK;
	if (p->max_stack > 65536)
		return error_new(EINVAL, "a call chain of %u entries is too long", p->max_stack);
	/* Twice: the limit counts for frames of the kernel and for those that are unwound. */
	p->chain = calloc(2 * p->max_stack, sizeof(*p->chain));
	if (!p->chain)
		return error_nomem();
	if (field_choice_has(&p->choice, FIELDS_CODE | FIELD_SRCCODE) || p->opts.python_fields)
		TRY(sample_code_new(&p->choice, &p->code));
	TRY(printer_check_events(p));
	*out = steal_ptr(p);
	return NULL;
}

void printer_free(struct script_printer *p)
{
	if (!p)
		return;
	strbuf_deinit(&p->text);
	probed_deinit(&p->probed);
	sample_code_free(p->code);
	frame_cache_deinit(&p->frames);
	free(p->chain);
	free(p);
}

void printer_set_tracing(struct script_printer *p, struct tracing *tracing)
{
	p->tracing = tracing;
}

void add_hex_row(struct strbuf *out, const uint8_t *bytes, size_t n, size_t width)
{
	for (size_t i = 0; i < width; i++)
		if (i < n)
			strbuf_addf(out, " %02x", bytes[i]);
		else
			strbuf_adds(out, "   ");
	strbuf_adds(out, "  ");
	for (size_t i = 0; i < n; i++)
		strbuf_addch(out, bytes[i] >= 0x20 && bytes[i] < 0x7f ? (char)bytes[i] : '.');
	add_pad(out, width - n);
	strbuf_addch(out, '\n');
}

/* "%*s" */
static void add_right(struct strbuf *out, const char *s, size_t len, size_t width)
{
	if (len < width)
		add_pad(out, width - len);
	strbuf_add(out, s, len);
}

const char *map_dso_name(const struct map *map)
{
	if (!map || !map->dso)
		return "[unknown]";
	return map->dso->kind == DSO_USER || map->dso->kind == DSO_ANON ? map->dso->path
									: map->dso->short_name;
}

const char *printer_dso_name(const struct script_printer *p, const struct map *map)
{
	if (!p->opts.kernel_path || !map || !map->dso)
		return map_dso_name(map);
	if (map->dso->kind == DSO_MODULE)
		return map->dso->path;
	if (map->dso->kind == DSO_KERNEL && p->opts.resolver) {
		const struct symtab *symbols = resolver_symtab(p->opts.resolver, map->dso);
		const char *file = symbols ? symtab_file(symbols) : NULL;

		return file ? file : map_dso_name(map);
	}
	return map_dso_name(map);
}

static bool is_in_file(const struct map *map)
{
	return map && (map->dso->kind == DSO_USER || map->dso->kind == DSO_VDSO);
}

static uint64_t file_offset(const struct location *at)
{
	return at->addr - at->map->start + at->map->pgoff;
}

/* As perf: of the kernel's code there is none, and of what no file holds it is the address. */
static void add_dso_offset(const struct location *at, struct strbuf *out)
{
	const bool is_anonymous = at->map && at->map->dso->kind == DSO_ANON;

	if (!is_in_file(at->map) && !is_anonymous)
		return;
	strbuf_add(out, "+0x", 3);
	strbuf_add_hex(out, is_anonymous ? at->addr : file_offset(at));
}

static void add_place(const struct script_printer *p, struct strbuf *out, const struct location *at,
		      uint64_t fields)
{
	if (fields & FIELD_SYM) {
		strbuf_addch(out, ' ');
		if (at->sym) {
			plain_adds(out, at->sym->name);
			if (fields & FIELD_SYMOFF) {
				strbuf_add(out, "+0x", 3);
				strbuf_add_hex(out, at->offset);
			}
		} else {
			strbuf_add(out, "[unknown]", 9);
		}
	}
	if (fields & FIELD_DSO && !(at->sym && at->sym->inlined)) {
		strbuf_add(out, " (", 2);
		plain_adds(out, printer_dso_name(p, at->map));
		if (fields & FIELD_DSOFF)
			add_dso_offset(at, out);
		strbuf_addch(out, ')');
	}
}

/* In a line of its own. */
static void add_srcline(struct script_printer *p, const struct location *at,
			const struct inline_frame *frame, struct strbuf *out)
{
	/* perf asks without the symbol. */
	struct location place = *at;

	place.sym = NULL;
	if (!at->map)
		return;
	strbuf_add(out, "\n  ", 3);
	const size_t from = out->len;
	line_text(p->opts.resolver, frame ? at : &place, frame, p->opts.full_paths, out);
	plain_since(out, from, false);
}

static size_t max_chain(const struct script_printer *p, const struct sample *sample)
{
	return sample->is_unwound ? 2 * p->max_stack : p->max_stack;
}

size_t printer_resolve_chain(struct script_printer *p, const struct sample *sample,
			     const struct thread *thread)
{
	return p->opts.resolver ? resolve_chain(p->opts.resolver, thread, sample, p->chain,
						max_chain(p, sample))
				: 0;
}

bool printer_frame(struct script_printer *p, size_t i, size_t k, struct location *at,
		   const struct inline_frame **frame)
{
	const struct inline_frames *inlines = resolve_inlines(p->opts.resolver, &p->chain[i]);

	if (k >= (inlines ? inlines->n : 1))
		return false;
	*frame = inlines ? &inlines->v[k] : NULL;
	*at = p->chain[i];
	if (inlines)
		at->sym = inlines->v[k].sym;
	return true;
}

/* What follows is not of interest. */
static bool ends_chain(const struct script_printer *p, const struct location *at)
{
	const struct names *ends = p->opts.chain_end;

	for (size_t i = 0; ends && at->sym && i < ends->n; i++)
		if (!strcmp(ends->v[i], at->sym->name))
			return true;
	return false;
}

/* frame: one of the functions at the address; NULL: there is one alone. */
static void add_frame(struct script_printer *p, const struct location *at,
		      const struct inline_frame *frame, uint64_t fields, struct strbuf *out)
{
	strbuf_addch(out, '\t');
	add_hex16(out, is_in_file(at->map) ? file_offset(at) : at->addr);
	add_place(p, out, at, fields);
	if (fields & FIELD_SRCLINE)
		add_srcline(p, at, frame, out);
	if (at->sym && at->sym->inlined)
		strbuf_adds(out, " (inlined)");
	strbuf_addch(out, '\n');
}

/* The frames at p->chain[i], with those that are inlined there; true: no more are wanted. */
static bool add_frames(struct script_printer *p, size_t i, uint64_t fields, struct strbuf *out)
{
	const struct inline_frame *frame;
	struct location at;
	bool ends = false;

	for (size_t k = 0; !ends && printer_frame(p, i, k, &at, &frame); k++) {
		add_frame(p, &at, frame, fields, out);
		ends = ends_chain(p, &at);
	}
	return ends;
}

/* Of a file, processes that map it at different addresses share the text. */
static struct frame_key frame_key(const struct location *at, uint64_t form)
{
	if (is_in_file(at->map))
		return (struct frame_key){at->map->dso, file_offset(at), form};
	return (struct frame_key){at->map, at->addr, form};
}

static void add_chain(struct script_printer *p, const struct sample *sample,
		      const struct thread *thread, uint64_t fields, struct strbuf *out)
{
	const bool is_kept = !p->opts.chain_end && !(fields & FIELD_SRCLINE);
	const size_t n = p->opts.resolver ? resolver_find_chain(p->opts.resolver, thread, sample,
								p->chain, max_chain(p, sample))
					  : 0;
	bool ends = false;

	strbuf_addch(out, '\n');
	for (size_t i = 0; i < n && !ends; i++) {
		struct location *at = &p->chain[i];
		const struct frame_key key = frame_key(at, fields);
		const size_t from = out->len;

		if (is_kept && frame_cache_add(&p->frames, &key, out))
			continue;
		resolve_addr_in(p->opts.resolver, at->map, at->cpumode, at->addr, at);
		ends = add_frames(p, i, fields, out);
		if (is_kept)
			frame_cache_keep(&p->frames, &key, out, from);
	}
}

static void add_ip(struct script_printer *p, const struct sample *sample, struct thread *thread,
		   uint64_t fields, struct strbuf *out)
{
	const bool is_named = p->opts.resolver && fields & (FIELD_SYM | FIELD_DSO | FIELD_SRCLINE);
	struct location at = {.addr = sample->ip};

	if (p->use_chain && sample->has & PERF_SAMPLE_CALLCHAIN) {
		add_chain(p, sample, thread, fields, out);
		return;
	}
	strbuf_addch(out, ' ');
	add_hex16(out, sample->ip);
	if (is_named)
		at.map = resolver_find_map(p->opts.resolver, thread, sample->cpumode, sample->ip);
	const struct frame_key key = frame_key(&at, fields | FORM_PLACE);
	if (is_named && !(fields & FIELD_SRCLINE) && frame_cache_add(&p->frames, &key, out))
		return;
	const size_t from = out->len;
	if (is_named)
		resolve_addr_in(p->opts.resolver, at.map, sample->cpumode, sample->ip, &at);
	add_place(p, out, &at, fields);
	if (fields & FIELD_SRCLINE)
		add_srcline(p, &at, NULL, out);
	else if (is_named)
		frame_cache_keep(&p->frames, &key, out, from);
}

static void add_addr(struct script_printer *p, const struct sample *sample,
		     const struct session_event *event, const struct thread *thread,
		     uint64_t fields, struct strbuf *out)
{
	struct location at = {.addr = sample->addr};

	add_hex16(out, sample->addr);
	if (!addr_is_place(&event->attr))
		return;
	if (p->opts.resolver && fields & (FIELD_SYM | FIELD_DSO))
		resolve_addr_any(p->opts.resolver, thread, sample->addr, &at);
	add_place(p, out, &at, fields);
}

/* Names by the order of enum perf_event_x86_regs and perf_event_arm_regs. */
static void add_regs(struct script_printer *p, uint64_t abi, const struct u64_array *regs,
		     uint64_t mask, struct strbuf *out)
{
	const char *arch = session_header(p->opts.session)->arch;
	char name[16];
	uint64_t i = 0;

	if (!regs->n)
		return;
	strbuf_adds(out, " ABI:");
	strbuf_add_u64(out, abi);
	strbuf_addch(out, ' ');
	for (unsigned r = 0; r < 64 && i < regs->n; r++) {
		if (!(mask >> r & 1))
			continue;
		sample_reg_name(arch, r, name);
		add_right(out, name, strlen(name), 5);
		strbuf_add(out, ":0x", 3);
		strbuf_add_hex(out, u64_array_at(regs, i++));
		strbuf_addch(out, ' ');
	}
}

/* Printable up to its NUL, with nothing but NULs behind. */
static bool is_text(const uint8_t *raw, uint32_t size)
{
	uint32_t n = 0;

	while (n < size && raw[n] >= 0x20 && raw[n] < 0x7f)
		n++;
	for (uint32_t i = n; i < size; i++)
		if (raw[i])
			return false;
	return n < size;
}

/* Lines of 8 bytes, then the text when it is one. */
static void add_bpf_output(const struct sample *sample, struct strbuf *out)
{
	const uint8_t *raw = sample->raw;
	uint32_t size = sample->raw_size;

	strbuf_addch(out, '\n');
	for (uint32_t line = 0; line < size; line += 8) {
		strbuf_addf(out, "%17s %04x:", line ? "           " : "BPF output:", line);
		add_hex_row(out, raw + line, min_of(size - line, 8u), 8);
	}
	if (is_text(raw, size))
		strbuf_addf(out, "%17s \"%s\"\n", "BPF string:", (const char *)raw);
}

static void add_page_size(struct strbuf *out, uint64_t size)
{
	size_t unit = 0;

	if (!size) {
		strbuf_adds(out, " N/A");
		return;
	}
	for (; size / 1024 > 1 && unit < 3; unit++)
		size /= 1024;
	strbuf_addf(out, " %" PRIu64 "%c", size, "BKMG"[unit]);
}

/* The cgroup as perf 6.6 and later have it; what its path shows, or '-'. */
static void add_cgroup(struct script_printer *p, uint64_t id, uint64_t fields, struct strbuf *out)
{
	const struct session_cgroup *cgroup = session_cgroup(p->opts.session, id);
	const bool is_named = cgroup && cgroup->path;
	const struct {
		uint64_t field;
		const char *text;
	} parts[] = {
		{FIELD_CGROUP, is_named ? cgroup->path : "unknown"},
		{FIELD_UNIT, is_named ? cgroup->unit : ""},
		{FIELD_CONTAINER, is_named ? cgroup->container : ""},
		{FIELD_POD, is_named ? cgroup->pod : ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!(fields & parts[i].field))
			continue;
		strbuf_addch(out, ' ');
		plain_adds(out, *parts[i].text ? parts[i].text : "-");
	}
}

struct trace_event *printer_trace_event(struct script_printer *p, const struct session_event *event)
{
	if (!p->tracing || event->attr.type != PERF_TYPE_TRACEPOINT)
		return NULL;
	if (p->last_event != event) {
		p->last_event = event;
		p->last_trace = tracing_find(p->tracing, event->attr.config);
	}
	return p->last_trace;
}

/* Of the longest name of an event. In a pipe, names may come after the events. */
static size_t name_width(struct script_printer *p)
{
	for (size_t i = 0; !p->n_named && i < session_n_events(p->opts.session); i++)
		p->name_width =
			max_of(p->name_width, strlen(session_event(p->opts.session, i)->name));
	p->n_named = session_n_events(p->opts.session);
	return p->name_width;
}

static void add_event(struct script_printer *p, const struct line_event *event, struct strbuf *out)
{
	if (event->fields & FIELD_PERIOD) {
		add_int(out, (int64_t)event->period, 10);
		strbuf_addch(out, ' ');
	}
	if (event->fields & FIELD_EVENT) {
		add_right(out, event->name, strlen(event->name), name_width(p));
		strbuf_add(out, ": ", 2);
	}
}

static void add_kept_event(struct script_printer *p, const struct session_event *of,
			   const struct sample *sample, uint64_t fields, struct strbuf *out)
{
	struct kept_event *kept = &p->events[(size_t)of->index % KEPT_EVENTS];
	const struct line_event event = {
		.name = of->name,
		.fields = fields & (FIELD_PERIOD | FIELD_EVENT),
		.period = sample->period,
	};

	if (kept->of.name != event.name || kept->of.fields != event.fields ||
	    kept->of.period != event.period) {
		strbuf_reset(&p->text);
		add_event(p, &event, &p->text);
		kept->of = event;
		if (!kept_text_set(&kept->text, &p->text)) {
			kept->of.name = NULL;
			out->failed |= strbuf_failed(&p->text);
			strbuf_add(out, strbuf_str(&p->text), p->text.len);
			return;
		}
	}
	if (!strbuf_reserve(out, KEPT_TEXT_MAX))
		return;
	strbuf_cut(out, (size_t)(put_kept(out->str + out->len, &kept->text) - out->str));
}

void print_sample(struct script_printer *p, const struct record *rec, const struct sample *sample,
		  const struct session_event *event, struct thread *thread, struct strbuf *out)
{
	uint64_t fields = p->choice.type[field_type_of(event->attr.type)].fields;

	if (!fields)
		return;
	struct trace_event *trace = printer_trace_event(p, event);
	if (trace)
		sample = probed_sample(&p->probed, trace, p->opts.resolver, thread, sample);
	print_start(p, event, PERF_RECORD_SAMPLE, sample, thread, out);
	if (fields & (FIELD_PERIOD | FIELD_EVENT))
		add_kept_event(p, event, sample, fields, out);
	if (p->choice.flags)
		add_pad(out, 24); /* "  %-21s ": only a decoded hardware trace has them */
	if (fields & FIELD_TRACE && sample->raw) {
		const size_t from = out->len;

		if (trace)
			trace_event_print(trace, sample->raw, sample->raw_size, out);
		if (trace && !trace_event_is_plain(trace))
			plain_since(out, from, false);
	}
	const bool has_output = fields & FIELD_BPF_OUTPUT && is_bpf_output(&event->attr);
	if (!(fields & ~FIELDS_USUAL) && !has_output) {
		if (fields & FIELD_IP)
			add_ip(p, sample, thread, fields, out);
		strbuf_addch(out, '\n');
		return;
	}
	if (fields & FIELD_ADDR)
		add_addr(p, sample, event, thread, fields, out);
	if (fields & FIELD_DATA_SRC)
		print_data_src(p, sample->data_src, out);
	if (fields & FIELD_WEIGHT)
		add_int(out, (int64_t)sample_weight(sample), 16);
	if (fields & FIELD_INS_LAT)
		add_int(out, sample_ins_lat(sample), 16);
	if (fields & FIELD_RETIRE_LAT)
		add_int(out, sample_retire_lat(sample), 16);
	if (fields & FIELD_IP)
		add_ip(p, sample, thread, fields, out);
	if (fields & FIELD_IREGS)
		add_regs(p, sample->intr_regs_abi, &sample->intr_regs, event->attr.sample_regs_intr,
			 out);
	if (fields & FIELD_UREGS)
		add_regs(p, sample->user_regs_abi, &sample->user_regs, event->attr.sample_regs_user,
			 out);
	if (fields & (FIELD_BRSTACK | FIELD_BRSTACKSYM | FIELD_BRSTACKOFF))
		print_branches(p, sample, thread, fields, out);
	if (has_output && sample->raw)
		add_bpf_output(sample, out);
	if (fields & FIELDS_CODE)
		print_code(p, sample, event, thread, fields, out);
	if (fields & FIELD_PHYS_ADDR)
		add_hex16(out, sample->phys_addr);
	if (fields & FIELD_DATA_PAGE_SIZE)
		add_page_size(out, sample->data_page_size);
	if (fields & FIELD_CODE_PAGE_SIZE)
		add_page_size(out, sample->code_page_size);
	if (fields & (FIELD_CGROUP | FIELD_UNIT | FIELD_CONTAINER | FIELD_POD))
		add_cgroup(p, sample->cgroup, fields, out);
	strbuf_addch(out, '\n');
	if (fields & FIELD_SRCCODE)
		print_source_code(p, sample, thread, out);
}
