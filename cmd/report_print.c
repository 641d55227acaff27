// SPDX-License-Identifier: BSD-2-Clause
/*
 * A histogram as perf report --stdio writes it: widths of columns from what is
 * to be shown, a row for each entry, its call chains below. Where perf's
 * columns have their quirks (a comm column as wide as the threads' last names,
 * numbers that are filled up behind when a separator is given), so has this.
 */
#include "cmd/report.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/table.h"

#define ADDRESS_DIGITS 16
#define LEFT_MARGIN    12

struct printer {
	const struct report_view *view;
	const struct hist_spec *spec;
	const struct hist_totals *totals;
	struct show_column columns[HIST_MAX_FIELDS];
	enum hist_field fields[HIST_MAX_FIELDS];
	size_t n;
	struct strbuf cells[HIST_MAX_FIELDS];
};

static void printer_deinit(struct printer *p)
{
	for (size_t i = 0; i < HIST_MAX_FIELDS; i++)
		strbuf_deinit(&p->cells[i]);
}

static uint64_t total_period(const struct printer *p)
{
	return p->view->relative ? p->totals->shown_period : p->totals->period;
}

static bool is_measure(enum hist_field field)
{
	return field < HIST_N_MEASURES;
}

static unsigned measure_width(const struct hist_spec *spec, enum hist_field field)
{
	unsigned width = 8, title = (unsigned)strlen(hist_field_title(spec, field));

	if (field == HIST_SAMPLE || field == HIST_PERIOD)
		width = 12;
	else if (field == HIST_OVERHEAD_GUEST_SYS || field == HIST_OVERHEAD_GUEST_US)
		width = 9;
	return max_of(width, title);
}

static void widen(unsigned *width, size_t want)
{
	if (*width < want)
		*width = (unsigned)min_of(want, (size_t)UINT16_MAX);
}

static void symbol_width(const struct printer *p, const struct hist_entry *he, unsigned *width)
{
	size_t len = ADDRESS_DIGITS + 4 + 2;

	if (he->frame->sym) {
		len = strlen(he->frame->sym->name) + 4;
		if (p->view->verbose)
			len += ADDRESS_DIGITS + 2 + 3;
	}
	widen(width, len);
}

/* The widths that entry asks for; index by field. */
static void entry_widths(const struct printer *p, const struct hist_entry *he,
			 unsigned width[HIST_N_FIELDS])
{
	size_t comm = strlen(he->thread->comm);

	symbol_width(p, he, &width[HIST_SYMBOL]);
	if (!he->frame->sym && !p->view->widths && !p->view->separator && !p->view->dso_filter)
		widen(&width[HIST_DSO], ADDRESS_DIGITS);
	if (comm > width[HIST_COMM]) {
		widen(&width[HIST_COMM], comm);
		width[HIST_PID] = width[HIST_TID] = (unsigned)comm + 8;
	}
	if (he->frame->dso)
		widen(&width[HIST_DSO], strlen(he->frame->dso_name));
	if (he->parent)
		widen(&width[HIST_PARENT], strlen(he->parent->name));
	if (he->trace)
		widen(&width[HIST_TRACE], strlen(he->trace));
	for (size_t i = 0; i < p->spec->n_dynamic; i++)
		if (he->values[i])
			widen(&width[HIST_DYNAMIC + i], strlen(he->values[i]->text));
	widen(&width[HIST_CPU], 3);
	widen(&width[HIST_TIME], 12);
}

static void setup_columns(struct printer *p, const struct hist *h)
{
	unsigned width[HIST_N_FIELDS] = {0};
	const char *widths = p->view->widths;

	for (size_t i = 0; i < hist_size(h); i++)
		if (!hist_at(h, i)->filtered)
			entry_widths(p, hist_at(h, i), width);
	for (size_t i = 0; i < p->spec->n_out; i++) {
		enum hist_field field = p->spec->out[i];
		const char *title = hist_field_title(p->spec, field);
		unsigned user = 0;

		if (widths) {
			char *end;

			user = (unsigned)strtoul(widths, &end, 10);
			widths = *end == ',' ? end + 1 : NULL;
		}
		/* A field that this event does not have is no column of it. */
		if (p->spec->elide[field] || (field >= HIST_DYNAMIC && !width[field]))
			continue;
		if (is_measure(field))
			width[field] = max_of(user ? user : measure_width(p->spec, field),
					      (unsigned)strlen(title));
		else if (user)
			width[field] = user;
		else
			widen(&width[field], strlen(title));
		p->fields[p->n] = field;
		p->columns[p->n++] = (struct show_column){
			.title = title,
			.width = width[field],
			.right = is_measure(field) || field >= HIST_DYNAMIC,
		};
	}
}

/* Text from the recording must not look like a separator. */
static void replace_separator(const struct printer *p, struct strbuf *cell, size_t from)
{
	if (!p->view->separator)
		return;
	for (size_t i = from; i < cell->len; i++)
		if (cell->str[i] == p->view->separator[0])
			cell->str[i] = '.';
}

static void percent_cell(const struct printer *p, struct strbuf *cell, unsigned width,
			 uint64_t part)
{
	uint64_t total = total_period(p);
	double percent = total ? 100.0 * (double)part / (double)total : 0.0;

	strbuf_addf(cell, " %*.2f%%", p->view->separator ? 1 : (int)width - 2, percent);
}

static void number_cell(const struct printer *p, struct strbuf *cell, unsigned width, uint64_t n)
{
	strbuf_addf(cell, " %*" PRIu64, p->view->separator ? 1 : (int)width - 1, n);
}

static void measure_cell(const struct printer *p, struct strbuf *cell, unsigned width,
			 enum hist_field field, const struct hist_entry *he)
{
	switch (field) {
	case HIST_OVERHEAD_CHILDREN:
		if (p->spec->children)
			percent_cell(p, cell, width, he->acc.period);
		else
			strbuf_addf(cell, " %*s", (int)width - 1, "N/A");
		break;
	case HIST_OVERHEAD:
		percent_cell(p, cell, width, he->stat.period);
		break;
	case HIST_OVERHEAD_SYS:
		percent_cell(p, cell, width, he->stat.sys);
		break;
	case HIST_OVERHEAD_US:
		percent_cell(p, cell, width, he->stat.us);
		break;
	case HIST_OVERHEAD_GUEST_SYS:
		percent_cell(p, cell, width, he->stat.guest_sys);
		break;
	case HIST_OVERHEAD_GUEST_US:
		percent_cell(p, cell, width, he->stat.guest_us);
		break;
	case HIST_SAMPLE:
		number_cell(p, cell, width, he->stat.n);
		break;
	default:
		number_cell(p, cell, width, he->stat.period);
		break;
	}
}

static void symbol_cell(const struct printer *p, struct strbuf *cell, unsigned width,
			const struct hist_entry *he)
{
	const struct symbol *sym = he->frame->sym;

	if (p->view->verbose) {
		struct symtab *st = he->frame->dso ? resolver_symtab(p->view->resolver,
								     (struct dso *)he->frame->dso)
						   : NULL;
		char origin = !he->frame->dso			? '!'
			      : he->frame->dso->kind == DSO_BPF ? '!'
			      : st				? symtab_origin(st)
								: '!';

		strbuf_addf(cell, "%-#*" PRIx64 " %c ", ADDRESS_DIGITS + 2, he->ip, origin);
	}
	strbuf_addf(cell, "[%c] ", he->level);
	if (!sym) {
		strbuf_addf(cell, "%-#.*" PRIx64, ADDRESS_DIGITS, he->ip);
	} else if (sym->type == STT_OBJECT && he->frame->map) {
		strbuf_addf(cell, "%s+0x%" PRIx64, sym->name,
			    he->ip - location_unmap(he->frame->map, sym->start));
	} else {
		size_t room = width > cell->len ? width - cell->len : 0;

		strbuf_add(cell, sym->name, min_of(strlen(sym->name), room));
	}
}

static void key_cell(const struct printer *p, struct strbuf *cell, unsigned width,
		     enum hist_field field, const struct hist_entry *he)
{
	int w = (int)width;

	switch (field) {
	case HIST_PID:
	case HIST_TID:
		w = max_of(w, 7) - 8;
		strbuf_addf(cell, "%7d:%-*.*s", he->thread->tid, w, w, he->thread->comm);
		break;
	case HIST_COMM:
		strbuf_addf(cell, "%-*.*s", w, w, he->comm);
		break;
	case HIST_DSO:
		strbuf_addf(cell, "%-*.*s", w, w,
			    he->frame->dso_name ? he->frame->dso_name : "[unknown]");
		break;
	case HIST_SYMBOL:
		symbol_cell(p, cell, width, he);
		break;
	case HIST_PARENT:
		strbuf_addf(cell, "%-*.*s", w, w, he->parent ? he->parent->name : "[other]");
		break;
	case HIST_CPU:
		strbuf_addf(cell, "%*.*d", w, w, he->cpu);
		break;
	case HIST_TIME: {
		char text[40];

		snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, he->time / 1000000000,
			 he->time % 1000000000 / 1000);
		strbuf_addf(cell, "%-.*s", w, text);
		break;
	}
	case HIST_TRACE:
		strbuf_addf(cell, "%-.*s", w, he->trace ? he->trace : "N/A");
		break;
	case HIST_IPC_NULL:
		strbuf_addf(cell, "%-*s", w, "-      -");
		break;
	default:
		if (field >= HIST_DYNAMIC) {
			const struct hist_value *v = he->values[field - HIST_DYNAMIC];

			strbuf_addf(cell, "%*.*s", w, w, v ? v->text : "N/A");
		}
		break;
	}
	replace_separator(p, cell, 0);
}

static void print_chain(struct printer *p, const struct hist_entry *he, struct strbuf *out)
{
	const struct chain_opts *chain = &p->spec->chain;
	struct stack_text_opts opts = {
		.chain = chain,
		.total = p->totals->period,
		.part = p->spec->children ? he->acc.period : he->stat.period,
		.margin = LEFT_MARGIN,
		.skip_first = p->view->first_frame_is_known,
		.as_addresses = true,
		.separator = p->view->separator,
	};
	uint64_t all = p->view->relative ? p->totals->shown_chain_period : p->totals->chain_period;

	if (!he->chain)
		return;
	opts.least = (uint64_t)((double)(chain->mode == CHAIN_FRACTAL ? opts.part : all) *
				(chain->min_percent / 100));
	stack_text(he->chain, &opts, out);
}

static double entry_percent(const struct printer *p, const struct hist_entry *he)
{
	uint64_t total = total_period(p),
		 period = p->spec->children ? he->acc.period : he->stat.period;

	return total ? (float)((double)period * 100.0 / (double)total) : 0;
}

struct error *report_print(const struct report_view *view, const struct hist *h, bool has_chain,
			   struct strbuf *out)
{
	_cleanup_(printer_deinit) struct printer p = {
		.view = view,
		.spec = view->spec,
		.totals = hist_totals(h),
	};
	const char *cells[HIST_MAX_FIELDS];

	setup_columns(&p, h);
	struct show_table table = {p.columns, p.n, view->separator};
	if (!view->quiet)
		show_table_head(&table, out);
	for (size_t i = 0; i < hist_size(h); i++) {
		const struct hist_entry *he = hist_at(h, i);

		if (he->filtered || entry_percent(&p, he) < (float)view->percent_limit)
			continue;
		for (size_t c = 0; c < p.n; c++) {
			strbuf_reset(&p.cells[c]);
			if (is_measure(p.fields[c]))
				measure_cell(&p, &p.cells[c], p.columns[c].width, p.fields[c], he);
			else
				key_cell(&p, &p.cells[c], p.columns[c].width, p.fields[c], he);
			cells[c] = strbuf_str(&p.cells[c]);
		}
		show_table_row(&table, cells, out);
		if (view->show_chain && has_chain)
			print_chain(&p, he, out);
	}
	return strbuf_failed(out) ? error_nomem() : NULL;
}
