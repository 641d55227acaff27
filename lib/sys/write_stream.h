/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing to what somebody else reads: a pipe, a terminal, a socket. A write into a full pipe waits
 * for its reader, and a signal that is blocked (to be read from a signalfd) does not end that. So
 * where signals that end a command are blocked, it is made only when there is room for it, and one
 * that comes meanwhile ends the waiting.
 */
#ifndef PB_SYS_WRITE_STREAM_H
#define PB_SYS_WRITE_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"

/*
 * Opens for writing what is no regular file; flags are added to O_WRONLY | O_CLOEXEC | O_NOCTTY,
 * and for a terminal O_NONBLOCK. A
 * FIFO is opened when another process has it open for reading: that is waited for, OPEN_STREAM_MS
 * at most, or until a signal that ends the command comes, which stays pending if it is blocked.
 * Errors: ENXIO: nobody reads the FIFO; as openat(2), without a name.
 */
enum { OPEN_STREAM_MS = 10000 };
struct error *open_stream(int dir_fd, const char *name, int flags, int *fd);

/*
 * Opens the terminal of fd anew, for writing without waiting in the kernel: unlike a pipe, a
 * terminal that has room may have too little, and a write that has begun waits for the rest. The
 * description that other processes share is left as it is. -1: fd is not a terminal, or the process
 * may not open it. The caller closes it.
 */
int open_terminal_again(int fd);

struct write_stream_opts {
	bool lines; /* each write ends at the end of a line where possible: others may write to it
		     */
	/* After a signal, and with is_ending from the beginning: how long a full pipe is waited
	 * for. */
	unsigned patience_ms;
	bool is_ending;
};

enum stream_state {
	STREAM_OPEN,	/* all was written */
	STREAM_CLOSED,	/* nobody reads it any more; SIGPIPE is ignored */
	STREAM_STALLED, /* it is full, and the command is to end */
};

/*
 * *written: bytes, also if not all. Errors: as write(2), without a name; *state is unchanged then.
 * A regular file is written to at once.
 */
struct error *write_stream(int fd, const void *data, size_t size,
			   const struct write_stream_opts *opts, size_t *written,
			   enum stream_state *state);

#endif
