// SPDX-License-Identifier: BSD-2-Clause
#include "show/diff_text.h"

#include "lib/base/plain_text.h"
#include "show/perf_cells.h"

static void add_files(const struct diff_text_opts *opts, struct strbuf *out)
{
	strbuf_adds(out, "# Data files:\n");
	for (size_t i = 0; i < opts->n_files; i++) {
		strbuf_addf(out, "#  [%zu] ", i);
		plain_adds(out, opts->files[i]);
		strbuf_addf(out, " %s\n", i ? "" : "(Baseline)");
	}
	strbuf_adds(out, "#\n");
}

static void add_event(const char *name, bool is_first, struct strbuf *out)
{
	strbuf_addf(out, "%s# Event '", is_first ? "" : "\n");
	plain_adds(out, name);
	strbuf_adds(out, "'\n#\n");
}

void diff_text(const struct results *results, const struct diff_text_opts *opts, struct strbuf *out)
{
	for (size_t i = 0; i < results->n; i++) {
		_cleanup_(table_printer_deinit) struct table_printer p;
		const struct result *r = &results->v[i];

		if (r->kind != RESULT_TABLE)
			continue;
		table_printer_init(&p, &r->table, &opts->text);
		const struct show_table table = {p.columns, p.n, opts->text.separator};
		if (!opts->text.quiet)
			add_event(r->name, !i, out);
		if (opts->files)
			add_files(opts, out);
		if (!opts->text.quiet)
			show_table_head(&table, out);
		for (size_t row = 0; row < r->table.n_rows; row++)
			table_printer_row(&p, &table, row, out);
	}
}
