/* SPDX-License-Identifier: BSD-2-Clause */
/* A browser (browse/browser.h) on the terminal: what it draws, and the keys that are pressed. */
#ifndef PB_CMD_BROWSE_H
#define PB_CMD_BROWSE_H

#include "browse/browser.h"
#include "cmd/tty.h"
#include "lib/base/log.h"
#include "work/loop.h"

struct browse_opts {
	struct tty *tty; /* tty_begin() was called */
	struct loop *loop;
	struct browser *browser;
	/* Makes what the browser's view asks for, and gives it to the browser. */
	struct error *(*show)(void *ctx);
	/* Gives the browser the code of what is chosen. */
	struct error *(*annotate)(void *ctx, const struct browser_choice *choice);
	/* Adds what the recording says of itself; NULL: there is none. */
	struct error *(*header)(void *ctx, struct strbuf *out);
	/* Adds what happened around a sample, to be shown; NULL: none are kept. */
	struct error *(*sample)(void *ctx, const struct browser_sample *sample, struct strbuf *out);
	void *ctx;
};

struct browse;

/* Watches the terminal; the loop ends when the user quits. */
struct error *browse_new(const struct browse_opts *opts, struct browse **out);
void browse_free(struct browse *browse);
DEFINE_FREEP(struct browse, browse_free)

/* As if a key was pressed. */
struct error *browse_press(struct browse *browse, uint32_t key);

/* Draws what has changed. */
struct error *browse_draw(struct browse *browse);

/* Shows an error as a message, and frees it; but for ENOMEM, which is returned. */
struct error *browse_say(struct browse *browse, struct error *err);

/* A log whose lines are shown as messages, while the screen is taken. */
struct log browse_log(struct browser *browser);

#endif
