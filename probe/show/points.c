// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a definition comes to. The program that record would make for it is
 * made and given its points, but not loaded: what is told of the ways of attaching and
 * of the code is what those who attach have decided.
 */
#include "probe/show/show.h"

#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>

#include "disasm/disasm.h"
#include "lib/base/json.h"
#include "lib/object/object.h"
#include "probe/fetch/regs.h"
#include "probe/output/output.h"

struct shown_points {
	const struct probe_view *view;
	struct strbuf *out;
	size_t n; /* points */
};

static void show_args_text(const struct probe_points *points, const struct probe_point *point,
			   struct strbuf *out)
{
	for (size_t i = 0; i < points->n_args; i++) {
		const struct fetch_value *v = &point->args[i];

		strbuf_addf(out, "      %-16s %-24s ", points->names[i], v->type ? v->type : "?");
		if (v->obstacle)
			strbuf_addf(out, "cannot be read: %s", v->obstacle);
		else
			fetch_value_text(v, regs_of(points->machine), out);
		strbuf_addch(out, '\n');
	}
}

static void show_text(const struct probe_report *r, struct strbuf *out)
{
	strbuf_adds(out, "  ");
	probe_point_text(r->point, out);
	if (r->point->file)
		strbuf_addf(out, " (%s:%u)", r->point->file, r->point->line);
	if (r->refused)
		strbuf_addf(out, ": cannot be attached: %s\n", r->refused);
	else
		strbuf_addf(out, ": by %s, instance %zu\n", probe_way_name(r->way), r->instance);
	show_args_text(r->points, r->point, out);
}

static void show_args_json(const struct probe_points *points, const struct probe_point *point,
			   struct strbuf *out)
{
	strbuf_adds(out, ",\"args\":[");
	for (size_t i = 0; i < points->n_args; i++) {
		const struct fetch_value *v = &point->args[i];
		_cleanup_strbuf_ struct strbuf place = STRBUF_INIT;

		strbuf_adds(out, i ? ",{\"name\":" : "{\"name\":");
		json_add_string(out, points->names[i], strlen(points->names[i]));
		probe_json_string(out, "type", v->type);
		if (!v->obstacle)
			fetch_value_text(v, regs_of(points->machine), &place);
		probe_json_string(out, v->obstacle ? "obstacle" : "place",
				  v->obstacle ? v->obstacle : strbuf_str(&place));
		strbuf_addch(out, '}');
	}
	strbuf_addch(out, ']');
}

static void show_json(const struct probe_report *r, struct strbuf *out)
{
	strbuf_addch(out, '{');
	probe_point_json(r->point, out);
	if (r->refused) {
		probe_json_string(out, "refused", r->refused);
	} else {
		probe_json_string(out, "way", probe_way_name(r->way));
		strbuf_addf(out, ",\"instance\":%zu", r->instance);
	}
	show_args_json(r->points, r->point, out);
	strbuf_addch(out, '}');
}

static struct error *show_point(void *ctx, const struct probe_report *r)
{
	struct shown_points *shown = ctx;

	if (shown->view->json) {
		strbuf_adds(shown->out, shown->n ? ",\n" : "\n");
		show_json(r, shown->out);
	} else {
		show_text(r, shown->out);
	}
	shown->n++;
	return strbuf_failed(shown->out) ? error_nomem() : NULL;
}

static struct error *show_code(void *ctx, const struct probe_code *code)
{
	struct shown_points *shown = ctx;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	disasm_bpf_list(code->insns, code->n, NULL, &text);
	if (!shown->view->json) {
		strbuf_addf(shown->out, "  instance %zu, by %s:\n", code->instance,
			    probe_way_name(code->way));
		for (const char *p = strbuf_str(&text); *p;) {
			const size_t n = strcspn(p, "\n");

			strbuf_addf(shown->out, "    %.*s\n", (int)n, p);
			p += n + (p[n] == '\n');
		}
		return NULL;
	}
	strbuf_addf(shown->out, "%s\n[", shown->n ? "," : "");
	for (const char *p = strbuf_str(&text); *p;) {
		const size_t n = strcspn(p, "\n"), blanks = strspn(p, " ");

		strbuf_adds(shown->out, p == strbuf_str(&text) ? "" : ",");
		json_add_string(shown->out, p + blanks, n - blanks);
		p += n + (p[n] == '\n');
	}
	strbuf_addch(shown->out, ']');
	shown->n++;
	return NULL;
}

static struct error *show_definition(const struct probe_view *view, const struct probe_def *def,
				     struct strbuf *out)
{
	const struct probe_opts opts = {.way = view->way, .only_plan = true, .log = view->log};
	const struct output_opts output = {.definition = def->text, .name = "probe"};
	_cleanup_probe_points_ struct probe_points points = {0};
	_cleanup_output_layout_ struct output_layout layout = {0};
	_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;
	_cleanup_(probe_set_freep) struct probe_set *set = NULL;
	_cleanup_strbuf_ struct strbuf image = STRBUF_INIT;
	struct shown_points shown = {.view = view, .out = out};

	TRY(probe_points_find(view->finder, def, &points));
	TRY(output_layout_of(&points, &layout));
	TRY(output_object(&layout, &output, &image));
	TRY(object_open_mem_of(image.str, image.len, def->text, NULL, view->log, &obj));
	TRY(probe_set_new(view->finder, obj, &opts, &set));
	if (view->json) {
		strbuf_adds(out, "{\"definition\":");
		json_add_string(out, def->text, strlen(def->text));
		strbuf_adds(out, ",\"points\":[");
	} else {
		strbuf_addf(out, "%s: %zu point%s\n", def->text, points.n,
			    points.n == 1 ? "" : "s");
	}
	TRY(probe_set_plan(set, show_point, &shown));
	shown.n = 0;
	if (view->json && view->code)
		strbuf_adds(out, "],\"instances\":[");
	if (view->code)
		TRY(probe_set_each_code(set, show_code, &shown));
	if (view->json)
		strbuf_adds(out, "]}\n");
	return NULL;
}

struct error *probe_show_points(const struct probe_view *view, const char *text, struct strbuf *out)
{
	_cleanup_probe_def_ struct probe_def def = {0};
	_cleanup_free_ char *whole = NULL;

	TRY(probe_whole_definition(view, text, &whole));
	TRY(probe_def_parse(whole, &def));
	return show_definition(view, &def, out);
}
