/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terminal of a command that draws in place, on the second screen, until it ends; then the
 * terminal is as it was, however the command ended.
 *
 *	TRY(tty_new(&tty));		// NULL: there is no such terminal
 *	TRY(tty_begin(tty));		// before privileges are dropped, after the workload's fork
 *	TRY(tty_listen(tty));
 *	… when tty_fd(tty) is readable:
 *		while ((key = tty_key(tty)))
 *			…
 *		if (tty_take(tty))
 *			tty_write(tty, &out);
 *	tty_free(tty);
 */
#ifndef PB_CMD_TTY_H
#define PB_CMD_TTY_H

#include <stdint.h>

#include "browse/keys.h"
#include "cmd/terminal.h"
#include "lib/base/error.h"
#include "lib/base/util.h"

struct tty;

/*
 * *out is NULL where standard output is a file, a pipe, or a terminal on which the cursor cannot
 * be placed.
 */
struct error *tty_new(struct tty **out);
void tty_free(struct tty *tty);
DEFINE_FREEP(struct tty, tty_free)

/* Opens the keys and the output, and forks the process that guards the terminal. */
struct error *tty_begin(struct tty *tty);
/*
 * Whether the buttons of the mouse are keys; at first they are not, and they never are on a
 * terminal without (struct terminal). Returns whether they are now.
 */
bool tty_set_mouse(struct tty *tty, bool on);
bool tty_has_mouse(const struct tty *tty);
/* Waits for keys, changes of the size and Ctrl-Z, which are blocked signals from here on. */
struct error *tty_listen(struct tty *tty);
/* Gives the screen back; may be called twice. */
void tty_end(struct tty *tty);

const struct terminal *tty_terminal(const struct tty *tty);
/* Readable after a key, a change of the size and a continuation. */
int tty_fd(const struct tty *tty);
/* false: there are no keys, since the command does not run in the foreground of a terminal. */
bool tty_has_keys(const struct tty *tty);

struct tty_size {
	size_t rows, columns;
};
struct tty_size tty_size(void);
/* Whether the terminal's characters are those of UTF-8, by the locale. */
bool tty_is_utf8(void);

/* The next key that waits; KEY_NONE: none does. Ctrl-Z stops the process here. */
uint32_t tty_key(struct tty *tty);
/*
 * Whether tty_key() has seen that the terminal was closed. SIGHUP says the same, but may be
 * ignored (nohup).
 */
bool tty_has_hung_up(const struct tty *tty);

/* Takes the screen if it is not taken yet; false: the terminal is another job's now, or stalled. */
bool tty_take(struct tty *tty);
/* Changes with each tty_take() that took the screen, which is empty then. */
unsigned tty_generation(const struct tty *tty);
void tty_write(struct tty *tty, const struct strbuf *out);
/* The terminal took no more when a signal came that ends the command: it will not take the rest. */
bool tty_stalled(const struct tty *tty);

/*
 * Writes the text to a new file in the current directory, perf.hist.N or, of code,
 * perf.annotation.N, also once the process may not write files any more.
 */
struct error *tty_save(struct tty *tty, const struct strbuf *text, bool is_code, unsigned *number);
/* "perf.hist" */
const char *tty_save_name(bool is_code);

#endif
