/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between probe.c, the command, probe_points.c, which says what a probe would be, and
 * probe_lines.c, which shows source.
 */
#ifndef PB_CMD_PROBE_H
#define PB_CMD_PROBE_H

#include "lib/base/strbuf.h"
#include "probe/attach/probe.h"

struct probe_view {
	struct probe_finder *finder;
	enum probe_way way;
	bool json, code;
	const struct log *log;
};

/*
 * What -n tells of a definition: its points, where each argument is there, how it would
 * be attached, and with code the prologues. Nothing is loaded.
 */
struct error *probe_points_show(const struct probe_view *view, const struct probe_def *def,
				struct strbuf *out);

struct probe_lines_view {
	struct probe_finder *finder;
	const char *source; /* where it is; NULL: where the debug information says */
	bool json, verbose;
};

/* -L: text is FUNC or FILE and maybe a range of lines; keys, "exec=./shop;", stand before it. */
struct error *probe_lines_show(const struct probe_lines_view *view, const char *keys,
			       const char *text, struct strbuf *out);

/* "vfs_write+12", "Shop::order+0 (inlined in main)", "vfs_read%return" */
void probe_point_text(const struct probe_point *point, struct strbuf *out);

/* "function":…,"offset":… of a point. */
void probe_point_json(const struct probe_point *point, struct strbuf *out);

#endif
