// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf probe -F: the functions that can be probed. */
#include <string.h>

#include "lib/base/json.h"
#include "probe/point/name_filter.h"
#include "probe/show/show.h"

struct names_out {
	struct strbuf *out;
	const char *filter; /* NULL: all */
	bool json;
	size_t n;
};

static struct error *add_function(void *ctx, const char *name)
{
	struct names_out *o = ctx;

	if (o->filter && !name_filter_match(o->filter, name))
		return NULL;
	if (o->json) {
		strbuf_adds(o->out, o->n ? ",\n" : "\n");
		json_add_string(o->out, name, strlen(name));
	} else {
		strbuf_addf(o->out, "%s\n", name);
	}
	o->n++;
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
	struct names_out o = {
		.out = out, .json = view->json, .filter = several ? view->filter : NULL};

	if (several)
		TRY(name_filter_check(view->filter));
	if (view->json)
		strbuf_adds(out, "{\"functions\":[");
	TRY(probe_functions(view->finder, view->exec, view->module,
			    view->filter && !several ? view->filter : "*", add_function, &o));
	if (view->json)
		strbuf_adds(out, "]}\n");
	return NULL;
}
