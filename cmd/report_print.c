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

#include "lib/base/vec.h"
#include "show/table.h"
#include "show/tree.h"

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

/* A frame's line; text is used where there is no symbol. */
static const char *frame_line(const struct hist_frame *f, struct strbuf *names)
{
	if (f->sym)
		return f->sym->name;
	strbuf_addf(names, "%#" PRIx64, f->ip);
	strbuf_addch(names, 0);
	return NULL;
}

static void chain_value(const struct chain_opts *opts, uint64_t hits, uint64_t count,
			uint64_t total, struct strbuf *out)
{
	switch (opts->value) {
	case CHAIN_PERIOD:
		strbuf_add_u64(out, hits);
		break;
	case CHAIN_COUNT:
		strbuf_add_u64(out, count);
		break;
	default:
		strbuf_addf(out, "%.2f%%", total ? (double)hits * 100.0 / (double)total : 0.0);
		break;
	}
}

/* A tree to show, made from an entry's chains, in memory of its own. */
struct tree {
	const struct chain_opts *opts;
	uint64_t min_hits;
	VEC(void *) blocks;
	bool failed;
};

static void tree_deinit(struct tree *t)
{
	void **block;

	vec_for_each (block, &t->blocks)
		free(*block);
	vec_deinit(&t->blocks);
}

/* Takes what malloc() gave; NULL in, NULL out. */
static void *tree_own(struct tree *t, void *block)
{
	void **slot = block ? vec_push(&t->blocks) : NULL;

	if (!slot) {
		t->failed = true;
		free(block);
		return NULL;
	}
	return *slot = block;
}

static const char *tree_value(struct tree *t, uint64_t hits, uint64_t count, uint64_t total)
{
	struct strbuf sb = STRBUF_INIT;

	chain_value(t->opts, hits, count, total, &sb);
	return tree_own(t, strbuf_steal(&sb));
}

static void tree_fill(struct tree *t, const struct chain_node *from, uint64_t total,
		      struct show_node *to)
{
	uint64_t rest = total, rest_count = chain_node_children_count(from);
	size_t n = 0;
	const struct chain_node **children =
		tree_own(t, chain_node_sorted(from, t->opts, t->min_hits, &n));
	struct show_node *nodes = n ? tree_own(t, calloc(n, sizeof(*nodes))) : NULL;

	for (size_t i = 0; nodes && i < n && !t->failed; i++) {
		const struct chain_node *child = children[i];
		const struct hist_frame *const *frames;
		struct strbuf text = STRBUF_INIT;
		size_t n_frames = chain_node_frames(child, &frames), off = 0;
		const char **lines = tree_own(t, calloc(n_frames + 1, sizeof(*lines)));

		for (size_t j = 0; lines && j < n_frames; j++)
			lines[j] = frame_line(frames[j], &text);
		char *addresses = text.len ? tree_own(t, strbuf_steal(&text)) : NULL;
		for (size_t j = 0; addresses && lines && j < n_frames; j++) {
			if (!lines[j]) {
				lines[j] = addresses + off;
				off += strlen(lines[j]) + 1;
			}
		}
		if (t->failed)
			return;
		nodes[i].lines = lines;
		nodes[i].n_lines = n_frames;
		nodes[i].value =
			tree_value(t, chain_node_hits(child), chain_node_count(child), total);
		if (!t->opts->print_limit || i < t->opts->print_limit) {
			rest -= chain_node_hits(child);
			rest_count -= chain_node_count(child);
		}
		tree_fill(t, child,
			  t->opts->mode == CHAIN_FRACTAL ? chain_node_children_hits(child) : total,
			  &nodes[i]);
	}
	to->children = nodes;
	to->n_children = nodes ? n : 0;
	to->open = t->opts->mode == CHAIN_FRACTAL && rest;
	if (t->opts->mode == CHAIN_FRACTAL && rest && rest != total &&
	    (t->opts->value != CHAIN_COUNT || rest_count))
		to->rest = tree_value(t, rest, rest_count, total);
}

static void tree_path(const struct chain_node *node, const char *before, const char *between,
		      const char *after, struct strbuf *out, bool *first)
{
	const struct hist_frame *const *frames;

	if (chain_node_parent(node))
		tree_path(chain_node_parent(node), before, between, after, out, first);
	size_t n = chain_node_frames(node, &frames);
	for (size_t i = 0; i < n; i++) {
		strbuf_adds(out, *first ? "" : between);
		strbuf_adds(out, before);
		if (frames[i]->sym)
			strbuf_adds(out, frames[i]->sym->name);
		else
			strbuf_addf(out, "%#" PRIx64, frames[i]->ip);
		strbuf_adds(out, after);
		*first = false;
	}
}

/* The chains one by one, without a tree. */
static void print_paths(struct printer *p, struct tree *t, const struct chain_node *root,
			struct strbuf *out)
{
	const struct chain_opts *opts = t->opts;
	bool folded = opts->mode == CHAIN_FOLDED;
	uint64_t total = p->totals->period;
	size_t n = 0;
	const struct chain_node **nodes =
		tree_own(t, chain_node_sorted(root, opts, t->min_hits, &n));

	for (size_t i = 0; nodes && i < n; i++) {
		uint64_t hits = folded ? chain_node_self_hits(nodes[i]) : chain_node_hits(nodes[i]);
		uint64_t count =
			folded ? chain_node_self_count(nodes[i]) : chain_node_count(nodes[i]);
		bool first = true;

		strbuf_adds(out, folded ? "" : "           ");
		chain_value(opts, hits, count, total, out);
		strbuf_adds(out, folded ? " " : "\n");
		if (folded)
			tree_path(nodes[i], "", p->view->separator ? p->view->separator : ";", "",
				  out, &first);
		else
			tree_path(nodes[i], "                ", "", "\n", out, &first);
		strbuf_addch(out, '\n');
		if (i + 1 == opts->print_limit)
			break;
	}
}

static struct error *print_chain(struct printer *p, const struct hist_entry *he, struct strbuf *out)
{
	_cleanup_(tree_deinit) struct tree t = {.opts = &p->spec->chain};
	const struct chain_node *root = hist_entry_chain(he);
	uint64_t parent = p->spec->children ? he->acc.period : he->stat.period;
	uint64_t total =
		p->view->relative ? p->totals->shown_chain_period : p->totals->chain_period;

	if (!root || t.opts->mode == CHAIN_NONE)
		return NULL;
	if (t.opts->mode == CHAIN_FRACTAL)
		total = parent;
	t.min_hits = (uint64_t)((double)total * (t.opts->min_percent / 100));
	if (t.opts->mode == CHAIN_FLAT || t.opts->mode == CHAIN_FOLDED) {
		print_paths(p, &t, root, out);
		return t.failed ? error_nomem() : NULL;
	}

	struct show_node top = {0};
	struct show_tree_opts tree_opts = {
		.margin = LEFT_MARGIN,
		.limit = t.opts->print_limit,
		.skip_first = p->view->first_frame_is_known,
	};
	size_t n = 0;
	const struct chain_node **one =
		tree_own(&t, chain_node_sorted(root, t.opts, t.min_hits, &n));
	bool lone = one && n == 1 && chain_node_hits(one[0]) == parent;
	total = t.opts->mode == CHAIN_FRACTAL ? parent : p->totals->period;
	tree_fill(&t, root, total, &top);
	/* The branches of a lone root are shares of the entry, not of the root. */
	if (lone && !t.failed)
		tree_fill(&t, one[0], total, (struct show_node *)top.children);
	if (t.failed)
		return error_nomem();
	show_tree(&top, lone, &tree_opts, out);
	return NULL;
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
			TRY(print_chain(&p, he, out));
	}
	return strbuf_failed(out) ? error_nomem() : NULL;
}
