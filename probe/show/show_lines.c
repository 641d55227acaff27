// SPDX-License-Identifier: BSD-2-Clause
/*
 * perf-bpf probe -L: the lines of a function or of a file, with numbers before those that can be
 * probed. As perf-probe(1) has it, LINE SYNTAX:
 *
 *	FUNC[@FILE][:LINE[+COUNT|-LAST]]
 *	FILE[:LINE[+COUNT|-LAST]]
 */
#include "probe/show/show.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/vec.h"
#include "lib/sys/bounded_lines.h"

struct lines_out {
	char *file;
	uid_t author; /* of that path */
	uint32_t first;
	VEC(struct probe_line) lines; /* without their files */
};

static struct error *add_line(void *ctx, const struct probe_line *line)
{
	struct lines_out *o = ctx;

	/* A function's lines may come from headers, too: they are not shown. */
	if (!o->file) {
		o->file = strdup(line->file);
		o->author = line->author;
		o->first = line->first;
		if (!o->file)
			return error_nomem();
	}
	if (strcmp(o->file, line->file))
		return NULL;
	struct probe_line *slot = vec_push(&o->lines);
	if (!slot)
		return error_nomem();
	*slot = *line;
	slot->file = NULL;
	return NULL;
}

static void lines_deinit(struct lines_out *o)
{
	free(o->file);
	vec_deinit(&o->lines);
}

/* The lines that were asked for, counted as they were written. */
struct line_range {
	uint32_t last;	/* 0: to the end */
	uint32_t count; /* of "+COUNT"; 0: not said */
};

static struct error *range_number(const char *text, const char *s, uint32_t *out)
{
	char *end;
	const unsigned long n = strtoul(s, &end, 10);

	if (!isdigit((unsigned char)*s) || *end || n > INT_MAX)
		return error_hint(error_new(EINVAL, "'%s': the line numbers are invalid", text),
				  "FUNC:FROM-LAST or FUNC:FROM+COUNT");
	*out = (uint32_t)n;
	return NULL;
}

/* Cuts "+COUNT" or "-LAST" off; a FILE alone begins with its first line. The caller's. */
static struct error *range_split(const char *text, struct line_range *range, char **rest)
{
	const char *colon = strrchr(text, ':');
	const size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
	const char *tail = digits ? colon + 1 + digits : NULL;

	*range = (struct line_range){0};
	if (tail && (*tail == '+' || *tail == '-')) {
		TRY(range_number(text, tail + 1, *tail == '+' ? &range->count : &range->last));
		if (*tail == '+' ? !range->count : range->last < strtoul(colon + 1, NULL, 10))
			return error_new(EINVAL, "'%s': the last line is before the first", text);
		*rest = strndup(text, (size_t)(tail - text));
	} else if (!colon && probe_is_source(text)) {
		*rest = text_format("%s:1", text);
	} else {
		*rest = strdup(text);
	}
	return *rest ? NULL : error_nomem();
}

/* The last one that is shown, in the file. */
static uint32_t range_end(const struct line_range *range, uint32_t base, uint32_t from,
			  uint32_t last)
{
	if (range->last)
		return min_of(last, base + range->last);
	if (range->count)
		return min_of(last, from + range->count - 1);
	return last;
}

static bool open_one(const struct probe_view *view, const char *path, uid_t author,
		     struct bounded_lines *source)
{
	_cleanup_error_ struct error *err = bounded_lines_open(path, author, source);

	if (err && err->code == EPERM)
		log_warn(view->log, "source lines are not shown: %s: %s", err->where, err->msg);
	return !err;
}

/* Opens PREFIX/FILE, then with fewer and fewer of FILE's first folders; FILE itself without prefix.
 */
static bool open_source(const struct probe_view *view, const char *file, uid_t author,
			struct bounded_lines *source)
{
	if (!view->source)
		return open_one(view, file, author, source);
	for (const char *rest = file; rest; rest = strchr(rest, '/')) {
		rest += strspn(rest, "/");
		_cleanup_free_ char *path = text_format("%s/%s", view->source, rest);

		if (path && open_one(view, path, author, source))
			return true;
	}
	return false;
}

/* A function's own line stands for its entry, code or not. */
static struct error *entry_can(struct lines_out *o, const struct probe_def *def)
{
	if (!def->function)
		return NULL;
	for (size_t i = 0; i < o->lines.n; i++) {
		if (o->lines.v[i].line != o->first)
			continue;
		if (!o->lines.v[i].can)
			o->lines.v[i].n_places = 1;
		o->lines.v[i].can = true;
		return NULL;
	}
	if (!vec_push(&o->lines))
		return error_nomem();
	memmove(o->lines.v + 1, o->lines.v, (o->lines.n - 1) * sizeof(*o->lines.v));
	o->lines.v[0] = (struct probe_line){
		.line = o->first, .first = o->first, .can = true, .n_places = 1};
	return NULL;
}

static const struct probe_line *line_at(const struct lines_out *o, uint32_t number)
{
	for (size_t i = 0; i < o->lines.n; i++)
		if (o->lines.v[i].line == number)
			return &o->lines.v[i];
	return NULL;
}

static uint32_t lines_last(const struct lines_out *o)
{
	uint32_t last = 0;

	for (size_t i = 0; i < o->lines.n; i++)
		last = max_of(last, o->lines.v[i].line);
	return last;
}

static void show_json(const struct lines_out *o, bool is_function, struct strbuf *out)
{
	struct json_writer w = json_writer_make(out);

	jw_object(&w, NULL);
	jw_text(&w, "file", o->file);
	jw_u64(&w, "first", o->first);
	jw_array(&w, "lines");
	for (size_t i = 0; i < o->lines.n; i++)
		if (o->lines.v[i].can)
			jw_u64(&w, NULL, o->lines.v[i].line);
	jw_end(&w);
	if (is_function) {
		jw_array(&w, "points");
		for (size_t i = 0; i < o->lines.n; i++)
			if (o->lines.v[i].can)
				jw_u64(&w, NULL, o->lines.v[i].n_places);
		jw_end(&w);
	}
	jw_end(&w);
	json_writer_finish(&w);
	strbuf_addch(out, '\n');
}

/* Numbers stand before the lines that can be probed, counted as definitions count them. */
static void show_text(const struct probe_view *view, const struct lines_out *o,
		      const struct probe_def *def, const struct line_range *range,
		      struct strbuf *out)
{
	_cleanup_bounded_lines_ struct bounded_lines source = {0};
	const bool is_there = open_source(view, o->file, o->author, &source);
	const uint32_t base = def->function ? o->first : 0;
	uint32_t last = lines_last(o), from = o->first, number = 0;
	const char *text;

	if (def->where == PROBE_LINE || def->where == PROBE_FILE_LINE)
		from = base + def->line;
	last = range_end(range, base, from, last);
	if (def->function)
		strbuf_addf(out, "<%s@%s:%u>\n", def->function, o->file, from - base);
	else
		strbuf_addf(out, "<%s:%u>\n", o->file, from);
	if (!is_there) {
		for (size_t i = 0; i < o->lines.n; i++)
			if (o->lines.v[i].can && o->lines.v[i].line >= from &&
			    o->lines.v[i].line <= last)
				strbuf_addf(out, "%7" PRId64 "\n",
					    (int64_t)o->lines.v[i].line - base);
		return;
	}
	while (number < last && (text = bounded_lines_next(&source))) {
		const struct probe_line *line = line_at(o, ++number);

		if (number < from)
			continue;
		if (line && line->can && line->n_places > 1 && view->verbose)
			strbuf_addf(out, "%7" PRId64 "  %s  [%u points]\n", (int64_t)number - base,
				    text, line->n_places);
		else if (line && line->can)
			strbuf_addf(out, "%7" PRId64 "  %s\n", (int64_t)number - base, text);
		else
			strbuf_addf(out, "         %s\n", text);
	}
}

struct error *probe_show_lines(const struct probe_view *view, const char *text, struct strbuf *out)
{
	_cleanup_probe_def_ struct probe_def def = {0};
	_cleanup_(lines_deinit) struct lines_out o = {0};
	_cleanup_free_ char *place = NULL, *whole = NULL;
	struct line_range range;
	bool is_function;

	TRY(range_split(text, &range, &place));
	TRY(probe_whole_definition(view, place, &whole));
	TRY(probe_def_parse(whole, &def));
	TRY(probe_resolve(view->finder, &def, &is_function));
	/* range_split() took it for a file. */
	if (is_function && !strchr(text, ':')) {
		def.where = PROBE_ENTRY;
		def.line = 0;
	}
	TRY(probe_lines(view->finder, &def, add_line, &o));
	if (!o.lines.n)
		return error_new(ENOENT, "'%s' has no lines that can be probed", text);
	TRY(entry_can(&o, &def));
	const uint32_t base = def.function ? o.first : 0, last = lines_last(&o);
	if (base + def.line > last)
		return error_hint(error_new(ENOENT, "'%s': past the last line that can be probed",
					    text),
				  "the last line is %u", last - base);
	if (view->json)
		show_json(&o, def.function, out);
	else
		show_text(view, &o, &def, &range, out);
	return NULL;
}
