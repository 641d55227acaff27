/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can be probed, as text or JSON: functions, variables, lines of source, and what a
 * definition comes to. Nothing is loaded, and nothing is added to the kernel.
 */
#ifndef PB_PROBE_SHOW_SHOW_H
#define PB_PROBE_SHOW_SHOW_H

#include "lib/base/json_writer.h"
#include "probe/attach/probe.h"

struct probe_view {
	struct probe_finder *finder;
	const char *exec, *module; /* of that binary or module; NULL: the kernel */
	bool no_inlines;	   /* not where a function has been inlined */
	const char *filter;	   /* of functions and variables, as perf probe has it; NULL: all */
	bool externs;		   /* of variables: global ones, too */
	const char *source;	   /* of lines: where it is; NULL: where the debug info says */
	enum probe_way way;	   /* of definitions: how they are attached */
	bool code;		   /* of definitions: the prologues, too */
	bool json, verbose;
	const struct log *log;
};

/* The functions that can be probed, one a line. */
struct error *probe_show_functions(const struct probe_view *view, struct strbuf *out);

/* The variables that can be read where a definition's points are. */
struct error *probe_show_variables(const struct probe_view *view, const char *text,
				   struct strbuf *out);

/* Lines of source: text is FUNC or FILE and maybe a range of lines. */
struct error *probe_show_lines(const struct probe_view *view, const char *text, struct strbuf *out);

/* The points of a definition, where each argument is there, and how it would be attached. */
struct error *probe_show_points(const struct probe_view *view, const char *text,
				struct strbuf *out);

/* The command that records a definition, as text below its points. */
struct error *probe_show_command(const struct probe_view *view, const char *text,
				 struct strbuf *out);

/* A definition with exec, module and no_inlines as its keys; the caller's to free(). */
struct error *probe_whole_definition(const struct probe_view *view, const char *text, char **out);

/* "vfs_write+12", "Shop::order+0 (inlined in main)", "vfs_read%return" */
void probe_point_text(const struct probe_point *point, struct strbuf *out);

/* The members of a point's object: "function", "offset" and others. */
void probe_point_json(const struct probe_point *point, struct json_writer *w);

#endif
