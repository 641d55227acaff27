/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Standard output and standard error of commands that go on until a signal ends them. Whoever is to
 * read them may have stopped: a pager, a terminal after Ctrl-S, a connection that hangs. Then the
 * command waits for room; a signal ends it all the same, and what it could not write is counted.
 */
#ifndef PB_CMD_STREAMS_H
#define PB_CMD_STREAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"

/*
 * Called before the signals that end the command are blocked, and before privileges are dropped.
 * Terminals are opened anew, for writing without waiting in the kernel; see open_terminal_again().
 * Other processes, and stdio, use them as before.
 */
void streams_begin(void);

/*
 * write_stream() to any descriptor, at the ends of lines. *closed: nobody reads it any more, or it
 * did not take this in time. What is written to it after that is counted and not tried. Other files
 * are given some time then, since the command is to end.
 */
struct error *streams_write(int fd, const char *data, size_t size, bool *closed);

/* At the end: says on standard error how much was not written; where that cannot be said, nothing.
 */
void streams_report(void);

#endif
