// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf probe -F: the functions that can be probed. */
#include <string.h>

#include "lib/base/json_writer.h"
#include "probe/point/name_filter.h"
#include "probe/show/show.h"

struct names_out {
	struct strbuf *out;
	const char *filter;	  /* NULL: all */
	struct json_writer *json; /* NULL: as text */
};

static struct error *add_function(void *ctx, const char *name)
{
	struct names_out *o = ctx;

	if (o->filter && !name_filter_match(o->filter, name))
		return NULL;
	if (o->json) {
		jw_line(o->json);
		jw_text(o->json, NULL, name);
	} else {
		strbuf_addf(o->out, "%s\n", name);
	}
	return strbuf_failed(o->out) ? error_nomem() : NULL;
}

/* Several globs, not a name of C++ with such characters. */
static bool is_filter(const char *text)
{
	return *text == '!' || (strpbrk(text, "|&") && !strstr(text, "operator"));
}

struct error *probe_show_functions(const struct probe_view *view, struct strbuf *out)
{
	const bool several = view->filter && is_filter(view->filter);
	struct json_writer w = json_writer_make(out);
	struct names_out o = {.out = out,
			      .json = view->json ? &w : NULL,
			      .filter = several ? view->filter : NULL};

	if (several)
		TRY(name_filter_check(view->filter));
	if (view->json) {
		jw_object(&w, NULL);
		jw_array(&w, "functions");
	}
	struct error *err =
		probe_functions(view->finder, view->exec, view->module,
				view->filter && !several ? view->filter : "*", add_function, &o);
	if (view->json && !err) {
		jw_end(&w);
		jw_end(&w);
		strbuf_addch(out, '\n');
	}
	json_writer_finish(&w);
	return err;
}
