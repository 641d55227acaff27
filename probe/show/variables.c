// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf probe -V: the variables that can be read at the points of a definition. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/point/name_filter.h"
#include "probe/show/show.h"

struct vars_out {
	struct strbuf *out;
	const char *filter;	  /* NULL: all */
	struct json_writer *json; /* to out; NULL: as text */
	bool any;
	struct strbuf *last; /* the last point, as people read it */
	size_t n;	     /* its variables */
};

static void end_point(struct vars_out *o)
{
	if (o->any && o->json) {
		jw_end(o->json);
		jw_end(o->json);
	} else if (o->any && !o->n) {
		strbuf_adds(o->out, "\t\t(No variables)\n");
	}
}

static struct error *begin_point(struct vars_out *o, const struct probe_point *point)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	/* Not by the pointer: the next point may stand where the last one stood. */
	probe_point_text(point, &text);
	strbuf_addf(&text, "@%#" PRIx64, point->address);
	if (strbuf_failed(&text) || strbuf_failed(o->last))
		return error_nomem();
	if (o->any && !strcmp(strbuf_str(o->last), strbuf_str(&text)))
		return NULL;
	end_point(o);
	if (o->json) {
		jw_line(o->json);
		jw_object(o->json, NULL);
		probe_point_json(point, o->json);
		jw_array(o->json, "variables");
	} else {
		strbuf_adds(o->out, "\t@<");
		probe_point_text(point, o->out);
		strbuf_adds(o->out, ">\n");
	}
	strbuf_reset(o->last);
	strbuf_adds(o->last, strbuf_str(&text));
	o->any = true;
	o->n = 0;
	return NULL;
}

static struct error *add_variable(void *ctx, const struct probe_point *point,
				  const struct probe_variable *v)
{
	struct vars_out *o = ctx;

	TRY(begin_point(o, point));
	if (!v || (o->filter && !name_filter_match(o->filter, v->name)))
		return NULL;
	if (o->json) {
		jw_object(o->json, NULL);
		jw_text(o->json, "name", v->name);
		jw_text_if(o->json, "type", v->type);
		jw_text_if(o->json, "obstacle", v->obstacle);
		jw_bool(o->json, "parameter", v->is_parameter);
		jw_end(o->json);
	} else {
		strbuf_addf(o->out, "\t\t%s\t%s", v->type ? v->type : "?", v->name);
		if (v->obstacle)
			strbuf_addf(o->out, "\t(%s)", v->obstacle);
		strbuf_addch(o->out, '\n');
	}
	o->n++;
	return strbuf_failed(o->out) ? error_nomem() : NULL;
}

struct error *probe_show_variables(const struct probe_view *view, const char *text,
				   struct strbuf *out)
{
	_cleanup_probe_def_ struct probe_def def = {0};
	_cleanup_strbuf_ struct strbuf last = STRBUF_INIT;
	_cleanup_free_ char *whole = NULL;
	struct json_writer w = json_writer_make(out);
	struct vars_out o = {
		.out = out, .json = view->json ? &w : NULL, .last = &last, .filter = view->filter};

	if (view->filter)
		TRY(name_filter_check(view->filter));
	TRY(probe_whole_definition(view, text, &whole));
	TRY(probe_def_parse(whole, &def));
	if (view->json) {
		jw_object(&w, NULL);
		jw_array(&w, "points");
	} else {
		strbuf_addf(out, "Available variables at %s\n", text);
	}
	struct error *err = probe_variables(view->finder, &def, view->externs, add_variable, &o);
	if (!err)
		end_point(&o);
	if (!err && view->json) {
		jw_end(&w);
		jw_end(&w);
		strbuf_addch(out, '\n');
	}
	json_writer_finish(&w);
	return err;
}
