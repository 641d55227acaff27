/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf-bpf run --live: the results are drawn in place, on the terminal's
 * second screen, until the run ends; then the terminal is as it was, however
 * it ended.
 */
#ifndef PB_CMD_RUN_LIVE_H
#define PB_CMD_RUN_LIVE_H

#include "lib/base/error.h"
#include "run/run_session.h"
#include "show/text_tables.h"

struct live;

/*
 * text is how results are rendered; its width is the screen's, always. title
 * stands on top. *out is NULL where standard output is a file, a pipe, or a
 * terminal on which the cursor cannot be placed.
 */
struct error *live_new(const struct text_opts *text, const char *title, struct live **out);
void live_free(struct live *live);
DEFINE_FREEP(struct live, live_free)

/*
 * Takes the screen, and watches for keys and changes of its size; after run_new(), since the
 * command inherits signal masks.
 */
struct error *live_begin(struct live *live, struct run *run);
/* Gives it back; may be called twice. */
void live_end(struct live *live);
/* What stands on the terminal after it is not to be waited for; see tty_stalled(). */
bool live_stalled(const struct live *live);

struct error *live_show(struct live *live, const struct results *results);

#endif
