// SPDX-License-Identifier: BSD-2-Clause
/*
 * Entries as a table: a column for each of the spec's, a row for each entry that no filter left
 * out, in their order. Periods and numbers are as they were counted; what they are shares of is
 * in the table's profile. And the stacks of the samples.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/sum.h"
#include "lib/base/vec.h"
#include "perf/hist/hist_samples.h"
#include "perf/hist/internal.h"

#define ADDRESS_DIGITS 16

/* Of PERF_SAMPLE_TRANSACTION: whether the instruction is the cause of an abort, or is not. */
#define TRANSACTION_CAUSES (1u << 2 | 1u << 3)

static enum column_style style_of(enum hist_field field)
{
	switch (field) {
	case HIST_SAMPLE:
	case HIST_PERIOD:
		return COLUMN_NUMBER;
	case HIST_PID:
	case HIST_TID:
		return COLUMN_THREAD;
	case HIST_COMM:
	case HIST_COMM_NODIGIT:
	case HIST_ADDR:
	case HIST_LOCAL_WEIGHT:
	case HIST_WEIGHT:
	case HIST_LOCAL_INS_LAT:
	case HIST_INS_LAT:
	case HIST_LOCAL_RETIRE_LAT:
	case HIST_RETIRE_LAT:
	case HIST_TRANSACTION:
	case HIST_CHAIN_PREDICTED:
	case HIST_CHAIN_ABORT:
	case HIST_CHAIN_CYCLES:
	case HIST_CODE_PAGE_SIZE:
	case HIST_DSO:
	case HIST_PARENT:
	case HIST_DSO_FROM:
	case HIST_DSO_TO:
	case HIST_MISPREDICT:
	case HIST_IN_TX:
	case HIST_ABORT:
	case HIST_CYCLES:
	case HIST_SRCLINE_FROM:
	case HIST_SRCLINE_TO:
	case HIST_CGROUP:
	case HIST_UNIT:
	case HIST_CONTAINER:
	case HIST_POD:
	case HIST_DSO_DADDR:
	case HIST_LOCKED:
	case HIST_TLB:
	case HIST_MEM:
	case HIST_SNOOP:
	case HIST_DATA_PAGE_SIZE:
	case HIST_PHYS_DADDR:
	case HIST_BLOCKED:
		return COLUMN_NAME;
	case HIST_TRACE:
	case HIST_TIME:
	case HIST_SRCLINE:
	case HIST_SRCFILE:
	case HIST_ADDR_FROM:
	case HIST_ADDR_TO:
		return COLUMN_LOOSE;
	case HIST_IPC_NULL:
	case HIST_IPC_LBR:
		return COLUMN_FILLER;
	case HIST_SYMBOL_SIZE:
	case HIST_DSO_SIZE:
	case HIST_PARALLELISM:
	case HIST_SOCKET:
		return COLUMN_RIGHT;
	case HIST_CGROUP_ID:
		return COLUMN_LOOSE;
	default:
		return field < HIST_N_MEASURES ? COLUMN_SHARE
		       : field >= HIST_DYNAMIC ? COLUMN_RIGHT
					       : COLUMN_PLAIN;
	}
}

/* NULL: the event does not have so many fields. */
static const char *title_of(const struct results_maker *m, enum hist_field field)
{
	const struct hist_dynamic *d =
		field >= HIST_DYNAMIC ? &m->spec->dynamic[field - HIST_DYNAMIC] : NULL;

	return d && d->nth ? m->spec->nth_field(m->spec->trace_ctx, d, m->opts->event)
			   : hist_field_title(m->spec, field);
}

/* A field's key as it is written; the same field of two events is two columns. */
static const char *name_of(struct results_maker *m, enum hist_field field)
{
	const struct hist_dynamic *d;

	if (field < HIST_DYNAMIC)
		return hist_field_name(field);
	d = &m->spec->dynamic[field - HIST_DYNAMIC];
	return results_format(m, "%s%s%s%s", d->event, *d->event ? "." : "", title_of(m, field),
			      d->raw ? "/raw" : "");
}

/* The name that the columns of one event have, with its own before it; each once. */
static const char *member_name(struct results_maker *m, enum hist_field field, size_t member)
{
	const char *event = m->opts->members[member].name;
	size_t n = 1;

	for (size_t i = 0; i < member; i++)
		n += !strcmp(m->opts->members[i].name, event);
	return n > 1 ? results_format(m, "%s#%zu:%s", event, n, hist_field_name(field))
		     : results_format(m, "%s:%s", event, hist_field_name(field));
}

/* Which of the levels of a hierarchy has it. */
static unsigned level_of_field(const struct results_maker *m, enum hist_field field)
{
	size_t n;
	const struct hist_level *levels = hist_levels(m->h, &n);

	for (size_t l = 0; levels && l < n; l++)
		for (size_t i = 0; i < levels[l].n; i++)
			if (levels[l].fields[i] == field)
				return (unsigned)l;
	return 0;
}

void results_add_column(struct results_maker *m, enum hist_field field, size_t member)
{
	size_t i = m->table->n_columns++;
	const bool is_measure = field < HIST_N_MEASURES;
	const bool is_share = is_measure && field != HIST_SAMPLE;
	const bool of_group = is_measure && m->opts->n_members;
	const char *unit = of_group ? m->opts->members[member].unit : m->opts->unit;

	m->fields[i] = field;
	m->columns[i] = (struct result_column){
		.name = of_group ? member_name(m, field, member) : name_of(m, field),
		.unit = is_share	     ? unit
			: field == HIST_TIME ? "ns"
			: field == HIST_SYMBOL_SIZE || field == HIST_DSO_SIZE ||
					field == HIST_CODE_PAGE_SIZE || field == HIST_DATA_PAGE_SIZE
				? "bytes"
				: NULL,
		.is_key = !is_measure,
		.narrow = field == HIST_LATENCY_CHILDREN,
		.is_latency = field == HIST_LATENCY || field == HIST_LATENCY_CHILDREN,
		.has_text = field == HIST_PID || field == HIST_TID,
		.style = style_of(field),
		.title = title_of(m, field),
		.fixed = field == HIST_COMM || field == HIST_PID || field == HIST_TID ||
			 field == HIST_CPU || field == HIST_TIME,
		.hidden = m->spec->elide[field],
		.level = level_of_field(m, field),
		.member = member,
		.event = of_group ? m->opts->members[member].name : NULL,
	};
}

/* Of a group, a column for each member. */
static void columns_add(struct results_maker *m, enum hist_field field, bool hidden)
{
	const size_t n = field < HIST_N_MEASURES && m->opts->n_members ? m->opts->n_members : 1;

	if (!title_of(m, field))
		return;
	for (size_t i = 0; i < n; i++) {
		results_add_column(m, field, i);
		m->columns[m->table->n_columns - 1].hidden |= hidden;
	}
}

static void columns_make(struct results_maker *m)
{
	const size_t most = (m->spec->n_out + 1) * max_of(m->opts->n_members, (size_t)1) + 1;
	bool has_samples = false;

	m->table->columns = m->columns = arena_alloc(m->arena, most * sizeof(*m->columns));
	m->fields = arena_alloc(m->arena, most * sizeof(*m->fields));
	if (!m->columns || !m->fields) {
		m->failed = true;
		return;
	}
	for (size_t i = 0; i < m->spec->n_out; i++) {
		columns_add(m, m->spec->out[i], false);
		has_samples |= m->spec->out[i] == HIST_SAMPLE;
	}
	if (m->opts->stacks && !has_samples)
		columns_add(m, HIST_SAMPLE, true);
	if (m->spec->hierarchy) {
		const size_t i = m->table->n_columns++;

		m->fields[i] = RESULTS_NO_FIELD;
		m->columns[i] =
			(struct result_column){.name = "level", .title = "Level", .hidden = true};
	}
}

const char *results_format(struct results_maker *m, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	const char *copy =
		strbuf_failed(&text) ? NULL : arena_text(m->arena, strbuf_str(&text), text.len);
	m->failed |= !copy;
	return copy;
}

static struct result_cell symbol_cell(struct results_maker *m, const struct hist_frame *frame,
				      uint64_t ip, char level)
{
	const struct symbol *sym = frame->sym;
	struct result_cell cell = {
		.kind = CELL_SYMBOL,
		.level = level,
		.origin = m->opts->origins ? hist_dso_origin(m->h, frame->dso) : '!',
		.text = sym ? sym->name : NULL,
		.is_inlined = sym && sym->inlined,
		.u = ip,
	};

	if (sym && sym->type == STT_OBJECT && frame->map) {
		cell.has_offset = true;
		cell.text = results_format(m, "%s+0x%" PRIx64, sym->name,
					   ip - location_unmap(frame->map, sym->start));
	}
	return cell;
}

/* The function that a branch is from or to; an address without a map has no level of its own. */
static struct result_cell end_cell(struct results_maker *m, const struct hist_branch_end *end)
{
	return symbol_cell(m, end->frame, end->dso_addr,
			   end->frame->level ? end->frame->level : 'H');
}

/* "[.] main+0x12", as perf with the level of the sample, but with the whole name. */
static struct result_cell end_address_cell(struct results_maker *m,
					   const struct hist_branch_end *end, char level)
{
	const struct symbol *sym = end->frame->sym;
	struct result_cell cell = cell_of_number(end->addr);
	uint64_t start = sym ? sym->start : 0;

	if (sym && sym->type == STT_OBJECT && end->frame->map)
		start = location_unmap(end->frame->map, start);
	const uint64_t offset = end->dso_addr - start;
	if (!sym)
		cell.text = results_format(m, "[%c] 0x%016" PRIx64, level, end->dso_addr);
	else if (offset)
		cell.text = results_format(m, "[%c] %s+%#" PRIx64, level, sym->name, offset);
	else
		cell.text = results_format(m, "[%c] %s", level, sym->name);
	return cell;
}

struct result_cell results_dso_cell(const struct hist_frame *frame)
{
	return cell_of_text(frame->dso_name ? frame->dso_name : "[unknown]");
}

static struct result_cell value_cell(const struct hist_value *v)
{
	if (!v)
		return (struct result_cell){.kind = CELL_EMPTY};
	return (struct result_cell){
		.kind = v->kind == HIST_VALUE_TEXT     ? CELL_TEXT
			: v->kind == HIST_VALUE_SIGNED ? CELL_INT
						       : CELL_UINT,
		.text = v->text,
		.u = v->number,
	};
}

static struct result_cell name_cell(const char *name)
{
	return *name ? cell_of_text(name) : (struct result_cell){.kind = CELL_EMPTY};
}

/* "kworker/<N>:<N>" */
static struct result_cell comm_cell(struct results_maker *m, const char *comm)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	hist_comm_mark_digits(comm, &text);
	m->failed |= strbuf_failed(&text);
	return cell_of_text(results_format(m, "%s", strbuf_str(&text)));
}

static struct result_cell number_cell(struct results_maker *m, uint64_t number)
{
	struct result_cell cell = cell_of_number(number);

	cell.text = results_format(m, "%" PRIu64, number);
	return cell;
}

static struct result_cell address_cell(struct results_maker *m, uint64_t address)
{
	struct result_cell cell = cell_of_number(address);

	cell.text = results_format(m, "%#" PRIx64, address);
	return cell;
}

static struct result_cell time_cell(struct results_maker *m, uint64_t time)
{
	const uint64_t s = time / 1000000000, ns = time % 1000000000;
	struct result_cell cell = cell_of_number(time);

	cell.text = m->spec->nanoseconds
			    ? results_format(m, "%" PRIu64 ".%09" PRIu64, s, ns)
			    : results_format(m, "%" PRIu64 ".%06" PRIu64, s, ns / 1000);
	return cell;
}

/* "4K", "2M"; the kernel says 0 of a page that is not there any more. */
struct result_cell results_page_size_cell(struct results_maker *m, uint64_t size)
{
	static const char units[] = "BKMGTPE";
	const char *unit = units;
	uint64_t n = size;

	if (!size)
		return (struct result_cell){.kind = CELL_EMPTY, .text = "N/A"};
	for (; n % 1024 == 0 && unit[1]; unit++)
		n /= 1024;
	return (struct result_cell){
		.kind = CELL_UINT, .text = results_format(m, "%" PRIu64 "%c", n, *unit), .u = size};
}

static struct result_cell measure_cell(const struct results_maker *m, size_t column,
				       const struct hist_entry *he)
{
	const enum hist_field field = m->fields[column];

	if ((field == HIST_OVERHEAD_CHILDREN || field == HIST_LATENCY_CHILDREN) &&
	    !m->spec->children)
		return (struct result_cell){.kind = CELL_EMPTY};
	return cell_of_number(m->opts->n_members
				      ? hist_member_measure(he, m->columns[column].member, field)
				      : hist_entry_measure(he, field));
}

/* What became of a hardware transaction: "EL SYNC RETRY :a"; the code of an abort is the program's.
 */
static struct result_cell transaction_cell(struct results_maker *m, uint64_t transaction)
{
	static const char *const names[] = {
		"EL", "TX", "SYNC", "ASYNC", "RETRY", "CON", "CAP-WRITE", "CAP-READ",
	};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct result_cell cell = cell_of_number(transaction);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (transaction >> i & 1)
			strbuf_addf(&text, "%s ", names[i]);
	if (transaction && !(transaction & TRANSACTION_CAUSES))
		strbuf_adds(&text, "NEITHER ");
	if (transaction >> 32)
		strbuf_addf(&text, ":%" PRIx64, transaction >> 32);
	m->failed |= strbuf_failed(&text);
	cell.text = results_format(m, "%s", strbuf_str(&text));
	return cell;
}

/* Of all branches in the call chains; each has two ends, as in perf. */
static struct result_cell history_cell(struct results_maker *m, enum hist_field field,
				       const struct hist_entry *he)
{
	const struct branch_counts sum = hist_history_of(he);
	const double all = sum.branches ? (double)sum.branches : 1;

	if (field == HIST_CHAIN_PREDICTED)
		return cell_of_text(
			results_format(m, "%.1f%%", (double)sum.predicted * 100.0 / all));
	return number_cell(m, field == HIST_CHAIN_ABORT ? sum.aborts
			      : sum.branches		? sum.cycles / sum.branches
							: 0);
}

struct result_cell results_cell(struct results_maker *m, size_t column, const struct hist_entry *he)
{
	const enum hist_field field = m->fields[column];

	if (field == RESULTS_NO_FIELD)
		return cell_of_number(he->depth + 1);
	if (m->spec->hierarchy && m->columns[column].level > he->depth + 1u)
		return (struct result_cell){.kind = CELL_EMPTY};
	if (field < HIST_N_MEASURES)
		return measure_cell(m, column, he);
	switch (field) {
	case HIST_PID:
	case HIST_TID:
		return (struct result_cell){
			.kind = CELL_INT, .text = he->thread->comm, .i = he->thread->tid};
	case HIST_COMM:
		return cell_of_text(he->comm);
	case HIST_COMM_NODIGIT:
		return comm_cell(m, he->comm);
	case HIST_DSO:
		return results_dso_cell(he->frame);
	case HIST_SYMBOL:
		return symbol_cell(m, he->frame, he->ip, he->level);
	case HIST_DSO_FROM:
		return results_dso_cell(he->branch->from.frame);
	case HIST_DSO_TO:
		return results_dso_cell(he->branch->to.frame);
	case HIST_SYMBOL_FROM:
		return end_cell(m, &he->branch->from);
	case HIST_SYMBOL_TO:
		return end_cell(m, &he->branch->to);
	case HIST_ADDR_FROM:
		return end_address_cell(m, &he->branch->from, he->level);
	case HIST_ADDR_TO:
		return end_address_cell(m, &he->branch->to, he->level);
	case HIST_SRCLINE_FROM:
		return cell_of_text(he->branch->from.frame->srcline);
	case HIST_SRCLINE_TO:
		return cell_of_text(he->branch->to.frame->srcline);
	case HIST_MISPREDICT:
		return cell_of_text(he->branch->predicted      ? "N"
				    : he->branch->mispredicted ? "Y"
							       : "N/A");
	case HIST_IN_TX:
		return cell_of_text(he->branch->in_transaction ? "T" : ".");
	case HIST_ABORT:
		return cell_of_text(he->branch->aborts ? "A" : ".");
	case HIST_CYCLES:
		return he->branch->cycles ? number_cell(m, he->branch->cycles)
					  : (struct result_cell){.kind = CELL_EMPTY, .text = "-"};
	case HIST_CHAIN_PREDICTED:
	case HIST_CHAIN_ABORT:
	case HIST_CHAIN_CYCLES:
		return history_cell(m, field, he);
	case HIST_PARENT:
		return cell_of_text(he->parent ? he->parent->name : "[other]");
	case HIST_CPU:
		return (struct result_cell){.kind = CELL_INT, .i = he->cpu};
	case HIST_TIME:
		return time_cell(m, he->time);
	case HIST_CGROUP: /* as perf */
		return cell_of_text(!he->cgroup		? "N/A"
				    : !he->cgroup->path ? "unknown"
							: he->cgroup->path);
	case HIST_UNIT:
	case HIST_CONTAINER:
	case HIST_POD:
		return name_cell(hist_cgroup_text(he->cgroup, field));
	case HIST_ADDR:
		return address_cell(m, he->numbers->addr);
	case HIST_LOCAL_WEIGHT:
		return number_cell(m, he->numbers->weight);
	case HIST_WEIGHT:
		return number_cell(m, he->numbers->weight * he->stat.n);
	case HIST_LOCAL_INS_LAT:
		return number_cell(m, he->numbers->ins_lat);
	case HIST_INS_LAT:
		return number_cell(m, he->numbers->ins_lat * he->stat.n);
	case HIST_LOCAL_RETIRE_LAT:
		return number_cell(m, he->numbers->retire_lat);
	case HIST_RETIRE_LAT:
		return number_cell(m, he->numbers->retire_lat * he->stat.n);
	case HIST_TRANSACTION:
		return transaction_cell(m, he->numbers->transaction);
	case HIST_CODE_PAGE_SIZE:
		return results_page_size_cell(m, he->numbers->code_page_size);
	case HIST_PARALLELISM:
		return number_cell(m, he->numbers->parallelism);
	case HIST_SOCKET:
		return (struct result_cell){.kind = CELL_INT,
					    .text = results_format(m, "%.3d",
								   (int)he->numbers->socket),
					    .i = he->numbers->socket};
	case HIST_CGROUP_ID:
		return cell_of_text(results_format(m, "%" PRIu64 "/0x%" PRIx64,
						   he->numbers->cgroup_dev,
						   he->numbers->cgroup_ino));
	case HIST_DSO_SIZE:
		return he->numbers->dso_size
			       ? number_cell(m, he->numbers->dso_size)
			       : (struct result_cell){.kind = CELL_EMPTY, .text = "unknown"};
	case HIST_SYMBOL_SIZE:
		return he->frame->sym
			       ? (struct result_cell){.kind = CELL_UINT,
						      .text = results_format(m, "%" PRIu64,
									     hist_symbol_size(he)),
						      .u = hist_symbol_size(he)}
			       : (struct result_cell){.kind = CELL_EMPTY, .text = "unknown"};
	case HIST_SRCLINE:
		return cell_of_text(he->frame->srcline);
	case HIST_SRCFILE:
		return cell_of_text(he->frame->srcfile);
	case HIST_TRACE:
		return he->trace ? cell_of_text(he->trace)
				 : (struct result_cell){.kind = CELL_EMPTY};
	default:
		if (hist_is_of_accesses(field))
			return hist_access_cell(m, field, he);
		return field >= HIST_DYNAMIC
			       ? value_cell(hist_entry_value(he, field - HIST_DYNAMIC))
			       : (struct result_cell){.kind = CELL_EMPTY};
	}
}

/* Whether the row is of an address without a symbol, for which perf makes room. */
static bool is_wide(const struct results_maker *m, const struct hist_entry *he)
{
	if (!m->opts->wide_dso || he->frame->sym)
		return false;
	if (!m->spec->only_dsos || !he->frame->dso)
		return true;
	return !m->has_wide_dso && !resolver_has_symbol(m->h->resolver, he->frame->map, he->ip);
}

size_t results_width(const struct results_maker *m, enum hist_field field,
		     const struct hist_entry *he)
{
	size_t comm;

	switch (field) {
	case HIST_COMM: /* the last name of the thread */
		return strlen(he->thread->comm);
	case HIST_PID:
	case HIST_TID:
		comm = strlen(he->thread->comm);
		return comm ? comm + 8 : 0;
	case HIST_DSO:
		return is_wide(m, he) ? ADDRESS_DIGITS : 0;
	case HIST_DSO_FROM:
		return m->opts->wide_dso && !he->branch->from.frame->sym ? ADDRESS_DIGITS : 0;
	case HIST_DSO_TO:
		return m->opts->wide_dso && !he->branch->to.frame->sym ? ADDRESS_DIGITS : 0;
	case HIST_CPU:
		return 3;
	case HIST_SOCKET:
		return 6;
	case HIST_LOCAL_WEIGHT:
	case HIST_WEIGHT:
		return 12;
	case HIST_LOCAL_INS_LAT:
	case HIST_INS_LAT:
	case HIST_LOCAL_RETIRE_LAT:
	case HIST_RETIRE_LAT:
		return 13;
	case HIST_TRANSACTION:
		return 27;
	case HIST_ADDR:
		return ADDRESS_DIGITS + 2;
	case HIST_CODE_PAGE_SIZE:
		return 6;
	case HIST_TIME:
		return m->spec->nanoseconds ? 16 : 12;
	default:
		return he->access ? hist_access_width(field, he->access) : 0;
	}
}

static void row_add(struct results_maker *m, const struct hist_entry *he, struct result_sum *sum)
{
	struct result_table *t = m->table;
	struct result_cell *cells = &t->cells[t->n_rows++ * t->n_columns];

	for (size_t c = 0; c < t->n_columns; c++) {
		size_t width = min_of(results_width(m, m->fields[c], he), (size_t)UINT16_MAX);

		cells[c] = results_cell(m, c, he);
		m->columns[c].width = max_of(m->columns[c].width, (unsigned)width);
	}
	const struct hist_samples *samples = hist_entry_samples(m->h, he);
	if (samples) {
		sum->samples = hist_samples_sorted(samples, m->arena, &sum->n_samples);
		m->failed |= !sum->samples;
	}
	sum->period = m->spec->children ? he->acc : he->stat.period;
	sum->tree = he->chain;
	sum->depth = he->depth;
	sum->is_leaf = he->is_leaf;
	sum->tid = he->thread->tid;
	sum->comm = he->comm;
	sum->module = he->frame->dso ? he->frame->dso->path : NULL;
	sum->function = he->frame->sym ? he->frame->sym->name : NULL;
}

static const struct result_member *members_make(struct results_maker *m)
{
	const size_t n = m->opts->n_members;
	struct result_member *members = arena_alloc(m->arena, n * sizeof(*members) + !n);

	m->failed |= !members;
	for (size_t i = 0; members && i < n; i++) {
		const struct hist_member *from = &m->opts->members[i];

		members[i] = (struct result_member){
			.event = from->name,
			.all = *hist_totals(from->hist),
			.shown = *hist_shown_totals(from->hist),
		};
	}
	return members;
}

static bool is_listed(const struct results_maker *m, const struct hist_entry *he)
{
	return !he->filtered && he->stat.n >= m->spec->zoom.least_samples;
}

/* The keys of accesses, with what perf adds to them. */
static const char *order_text(struct results_maker *m)
{
	const struct hist_spec *spec = m->spec;
	const bool has_more = spec->more_order;

	return results_format(m, "%s%s%s%s", spec->order, has_more ? "," : "",
			      has_more ? spec->more_order : "",
			      spec->has[HIST_IPC_NULL] ? ",ipc_null" : "");
}

static void table_make(struct results_maker *m)
{
	struct result_profile *profile = arena_alloc(m->arena, sizeof(*profile));
	size_t n = 0, n_levels = 0;

	hist_levels(m->h, &n_levels);
	columns_make(m);
	for (size_t i = 0; i < hist_size(m->h); i++) {
		const struct hist_entry *he = hist_at(m->h, i);

		n += is_listed(m, he);
		m->has_wide_dso |= is_listed(m, he) && he->frame->dso_name &&
				   strlen(he->frame->dso_name) >= ADDRESS_DIGITS;
	}
	struct result_sum *sums = arena_alloc(m->arena, n * sizeof(*sums));
	m->table->cells = arena_alloc(m->arena, n * m->table->n_columns * sizeof(*m->table->cells));
	m->failed |= !profile || !sums || !m->table->cells;
	if (m->failed)
		return;
	*profile = (struct result_profile){
		.all = *hist_totals(m->h),
		.shown = *hist_shown_totals(m->h),
		.relative = m->opts->relative,
		.least_percent = m->opts->least_percent,
		.n_levels = n_levels,
		.rows = sums,
		.members = members_make(m),
		.n_members = m->opts->n_members,
		.is_leader = m->opts->is_leader,
		.ref_chains = m->opts->ref_chains,
		.weights_by = m->spec->accesses ? order_text(m) : NULL,
	};
	m->table->profile = profile;
	for (size_t i = 0; i < hist_size(m->h); i++)
		if (is_listed(m, hist_at(m->h, i)))
			row_add(m, hist_at(m->h, i), sums++);
}

/* The sample's call chain; its own frame alone where it has none, or none is asked for. */
static const struct result_frame *const *
frames_of(struct results_maker *m, const struct hist_stack *s, struct result_stack *out)
{
	const struct result_frame **frames;
	const uint32_t depth = m->spec->use_chain ? s->depth : 0;

	out->n_frames = depth ? depth : 1;
	if (depth && !m->spec->chain.caller)
		return s->chain;
	frames = arena_alloc(m->arena, out->n_frames * sizeof(*frames));
	m->failed |= !frames;
	for (size_t i = 0; frames && i < out->n_frames; i++)
		frames[i] = depth ? s->chain[depth - 1 - i] : &s->leaf->frame;
	return frames;
}

static int compare_equal_stacks(const void *a, const void *b)
{
	const struct hist_stack *x = *(struct hist_stack *const *)a;
	const struct hist_stack *y = *(struct hist_stack *const *)b;

	if (x->comm != y->comm)
		return (uintptr_t)x->comm < (uintptr_t)y->comm ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	uintptr_t p = (uintptr_t)(x->depth ? (void *)x->chain : (void *)x->leaf);
	uintptr_t q = (uintptr_t)(y->depth ? (void *)y->chain : (void *)y->leaf);
	return p == q ? 0 : p < q ? -1 : 1;
}

/* The same without call chains: --children collects them even if they are not shown. */
static int compare_equal_leaves(const void *a, const void *b)
{
	const struct hist_stack *x = *(struct hist_stack *const *)a;
	const struct hist_stack *y = *(struct hist_stack *const *)b;

	if (x->comm != y->comm)
		return (uintptr_t)x->comm < (uintptr_t)y->comm ? -1 : 1;
	uintptr_t p = (uintptr_t)x->leaf, q = (uintptr_t)y->leaf;
	return p == q ? 0 : p < q ? -1 : 1;
}

static int compare_text(const char *a, const char *b)
{
	return a == b ? 0 : !a ? -1 : !b ? 1 : strcmp(a, b);
}

/* The largest first. */
static int compare_stacks(const void *a, const void *b)
{
	const struct result_stack *x = a, *y = b;
	int cmp = x->count != y->count ? (x->count < y->count ? 1 : -1)
				       : compare_text(x->label, y->label);

	for (size_t i = 0; !cmp && i < x->n_frames && i < y->n_frames; i++) {
		cmp = compare_text(x->frames[i]->name, y->frames[i]->name);
		if (!cmp)
			cmp = compare_text(x->frames[i]->module, y->frames[i]->module);
		if (!cmp)
			cmp = (x->frames[i]->addr > y->frames[i]->addr) -
			      (x->frames[i]->addr < y->frames[i]->addr);
	}
	return cmp ? cmp : (x->n_frames > y->n_frames) - (x->n_frames < y->n_frames);
}

/* Samples that differ in other keys only, a CPU or a time, are one stack. */
static void stacks_make(struct results_maker *m, struct result *r)
{
	size_t n = 0, all;
	struct hist_stack *const *stacks = hist_stacks(m->h, &all);
	int (*compare)(const void *a, const void *b) =
		m->spec->use_chain ? compare_equal_stacks : compare_equal_leaves;
	_cleanup_free_ const struct hist_stack **sorted = calloc(all + 1, sizeof(*sorted));

	r->stacks = arena_alloc(m->arena, all * sizeof(*r->stacks));
	m->failed |= !sorted || !r->stacks;
	for (size_t i = 0; !m->failed && i < all; i++)
		if (!stacks[i]->hidden)
			sorted[n++] = stacks[i];
	if (m->failed)
		return;
	qsort(sorted, n, sizeof(*sorted), compare);
	for (size_t i = 0; i < n; i++) {
		const struct hist_stack *s = sorted[i];

		if (!i || compare(&sorted[i - 1], &s)) {
			struct result_stack *out = &r->stacks[r->n_stacks++];

			out->label = s->comm;
			out->frames = frames_of(m, s, out);
		}
		struct result_stack *out = &r->stacks[r->n_stacks - 1];
		sum_add(&out->count, s->period);
		out->samples += s->n;
		sum_add(&r->total, s->period);
	}
	if (!m->failed)
		qsort(r->stacks, r->n_stacks, sizeof(*r->stacks), compare_stacks);
}

/* A sum that is too large is the largest number: shares of it are not exact. */
static const char *note_sum(uint64_t sum)
{
	return sum == UINT64_MAX ? "the sum of the periods is larger than 18446744073709551615, "
				   "which is shown instead; shares are not exact"
				 : NULL;
}

static struct error *stacks_add(const struct hist_member *of, struct results *results)
{
	struct result *r = results_add(results, RESULT_STACKS, of->name);
	struct results_maker m = {
		.h = of->hist,
		.spec = hist_spec_of(of->hist),
		.arena = &results->arena,
	};

	if (!r)
		return error_nomem();
	r->unit = of->unit;
	r->title = results_format(&m, "%s: stacks", of->name);
	stacks_make(&m, r);
	r->note = note_sum(r->total);
	return m.failed ? error_nomem() : NULL;
}

struct error *hist_stacks_against(const struct hist_member *of, const struct hist *base,
				  const char *title, struct results *results)
{
	struct result none = {0};

	TRY(stacks_add(of, results));
	struct result *r = &results->v[results->n - 1];
	struct results_maker m = {
		.h = base,
		.spec = base ? hist_spec_of(base) : NULL,
		.arena = &results->arena,
	};
	if (base)
		stacks_make(&m, &none);
	else
		none.stacks = arena_alloc(m.arena, sizeof(*none.stacks));
	r->base_stacks = none.stacks;
	r->n_base_stacks = none.n_stacks;
	r->title = results_format(&m, "%s", title);
	return m.failed || !none.stacks ? error_nomem() : NULL;
}

struct error *hist_results(const struct hist *h, const struct hist_results_opts *opts,
			   struct results *results)
{
	struct result *r = results_add(results, RESULT_TABLE, opts->name);
	const struct hist_member alone = {h, opts->name, opts->unit};
	struct results_maker m = {
		.h = h,
		.spec = hist_spec_of(h),
		.opts = opts,
		.arena = &results->arena,
	};

	if (!r)
		return error_nomem();
	r->unit = opts->unit;
	m.table = &r->table;
	table_make(&m);
	r->note = note_sum(hist_totals(h)->period);
	for (size_t i = 0; i < opts->n_members && !r->note; i++)
		r->note = note_sum(hist_totals(opts->members[i].hist)->period);
	if (m.failed)
		return error_nomem();
	if (!opts->stacks)
		return NULL;
	if (!opts->n_members)
		return stacks_add(&alone, results);
	for (size_t i = 0; i < opts->n_members; i++)
		TRY(stacks_add(&opts->members[i], results));
	return NULL;
}
