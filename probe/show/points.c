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
#include "lib/object/object.h"
#include "probe/fetch/regs.h"
#include "probe/output/output.h"

struct shown_points {
	const struct probe_view *view;
	struct strbuf *out;
	struct json_writer json;	    /* to out */
	size_t first_instance, n_instances; /* instances of earlier layouts; of all so far */
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

static void show_text(const struct probe_report *r, size_t instance, struct strbuf *out)
{
	strbuf_adds(out, "  ");
	probe_point_text(r->point, out);
	if (r->point->file)
		strbuf_addf(out, " (%s:%u)", r->point->file, r->point->line);
	if (r->refused)
		strbuf_addf(out, ": cannot be attached: %s\n", r->refused);
	else
		strbuf_addf(out, ": by %s, instance %zu\n", probe_way_name(r->way), instance);
	show_args_text(r->points, r->point, out);
}

static void show_args_json(const struct probe_points *points, const struct probe_point *point,
			   struct json_writer *w)
{
	jw_array(w, "args");
	for (size_t i = 0; i < points->n_args; i++) {
		const struct fetch_value *v = &point->args[i];
		_cleanup_strbuf_ struct strbuf place = STRBUF_INIT;

		jw_object(w, NULL);
		jw_text(w, "name", points->names[i]);
		jw_text_if(w, "type", v->type);
		if (!v->obstacle)
			fetch_value_text(v, regs_of(points->machine), &place);
		jw_text(w, v->obstacle ? "obstacle" : "place",
			v->obstacle ? v->obstacle : strbuf_str(&place));
		jw_end(w);
	}
	jw_end(w);
}

static void show_json(const struct probe_report *r, size_t instance, struct json_writer *w)
{
	jw_line(w);
	jw_object(w, NULL);
	probe_point_json(r->point, w);
	if (r->refused) {
		jw_text(w, "refused", r->refused);
	} else {
		jw_text(w, "way", probe_way_name(r->way));
		jw_u64(w, "instance", instance);
	}
	show_args_json(r->points, r->point, w);
	jw_end(w);
}

static struct error *show_point(void *ctx, const struct probe_report *r)
{
	struct shown_points *shown = ctx;
	const size_t instance = shown->first_instance + r->instance;

	if (!r->refused)
		shown->n_instances = max_of(shown->n_instances, instance + 1);
	if (shown->view->json)
		show_json(r, instance, &shown->json);
	else
		show_text(r, instance, shown->out);
	return strbuf_failed(shown->out) ? error_nomem() : NULL;
}

static struct error *show_code(void *ctx, const struct probe_code *code)
{
	struct shown_points *shown = ctx;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	disasm_bpf_list(code->insns, code->n, NULL, &text);
	if (!shown->view->json) {
		strbuf_addf(shown->out, "  instance %zu, by %s:\n",
			    shown->first_instance + code->instance, probe_way_name(code->way));
		for (const char *p = strbuf_str(&text); *p;) {
			const size_t n = strcspn(p, "\n");

			strbuf_addf(shown->out, "    %.*s\n", (int)n, p);
			p += n + (p[n] == '\n');
		}
		return NULL;
	}
	jw_line(&shown->json);
	jw_array(&shown->json, NULL);
	for (const char *p = strbuf_str(&text); *p;) {
		const size_t n = strcspn(p, "\n"), blanks = strspn(p, " ");

		jw_text_n(&shown->json, NULL, p + blanks, n - blanks);
		p += n + (p[n] == '\n');
	}
	jw_end(&shown->json);
	return NULL;
}

/* The points that have one layout: what record would load for them. */
struct shown_part {
	struct bpf_object *obj;
	struct probe_set *set;
	char *image;
	size_t first_instance;
};

struct shown_parts {
	VEC(struct shown_part) v;
};

static void shown_parts_deinit(struct shown_parts *parts)
{
	struct shown_part *part;

	vec_for_each (part, &parts->v) {
		probe_set_free(part->set);
		bpf_object__close(part->obj);
		free(part->image);
	}
	vec_deinit(&parts->v);
}

static struct error *plan_part(const struct probe_view *view, const struct probe_def *def,
			       const struct probe_points *points,
			       const struct output_layouts *layouts, uint32_t number,
			       struct shown_part *part)
{
	const struct probe_opts opts = {
		.way = view->way,
		.only_plan = true,
		.part_of = layouts->of,
		.n_points = points->n,
		.part = number,
		.log = view->log,
	};
	const struct output_opts output = {.definition = def->text, .name = "probe"};
	_cleanup_strbuf_ struct strbuf image = STRBUF_INIT;

	TRY(output_object(&layouts->v.v[number], &output, &image));
	const size_t size = image.len;
	part->image = strbuf_steal(&image);
	if (!part->image)
		return error_nomem();
	TRY(object_open_mem_of(part->image, size, def->text, NULL, view->log, &part->obj));
	return probe_set_new(view->finder, part->obj, &opts, &part->set);
}

static struct error *show_parts(struct shown_parts *parts, struct shown_points *shown)
{
	const struct probe_view *view = shown->view;
	struct shown_part *part;

	vec_for_each (part, &parts->v) {
		part->first_instance = shown->first_instance = shown->n_instances;
		TRY(probe_set_plan(part->set, show_point, shown));
	}
	if (!view->code)
		return NULL;
	if (view->json) {
		jw_end(&shown->json);
		jw_array(&shown->json, "instances");
	}
	vec_for_each (part, &parts->v) {
		shown->first_instance = part->first_instance;
		TRY(probe_set_each_code(part->set, show_code, shown));
	}
	return NULL;
}

static struct error *show_definition(const struct probe_view *view, const struct probe_def *def,
				     struct strbuf *out)
{
	_cleanup_probe_points_ struct probe_points points = {0};
	_cleanup_output_layouts_ struct output_layouts layouts = {0};
	_cleanup_(shown_parts_deinit) struct shown_parts parts = {0};
	struct shown_points shown = {.view = view, .out = out, .json = json_writer_make(out)};

	TRY(probe_points_find(view->finder, def, &points));
	TRY(output_layouts_of(&points, &layouts));
	for (uint32_t i = 0; i < layouts.v.n; i++) {
		struct shown_part *part = vec_push(&parts.v);

		if (!part)
			return error_nomem();
		TRY(plan_part(view, def, &points, &layouts, i, part));
	}
	if (view->json) {
		jw_object(&shown.json, NULL);
		jw_text(&shown.json, "definition", def->text);
		jw_array(&shown.json, "points");
	} else {
		strbuf_addf(out, "%s: %zu point%s\n", def->text, points.n,
			    points.n == 1 ? "" : "s");
	}
	struct error *err = show_parts(&parts, &shown);
	if (view->json && !err) {
		jw_end(&shown.json);
		jw_end(&shown.json);
		strbuf_addch(out, '\n');
	}
	json_writer_finish(&shown.json);
	return err;
}

struct error *probe_show_points(const struct probe_view *view, const char *text, struct strbuf *out)
{
	_cleanup_probe_def_ struct probe_def def = {0};
	_cleanup_free_ char *whole = NULL;

	TRY(probe_whole_definition(view, text, &whole));
	TRY(probe_def_parse(whole, &def));
	return show_definition(view, &def, out);
}
