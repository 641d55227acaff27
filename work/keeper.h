/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that are rarely needed, and cannot be forked when they are: the command has given up
 * the right to by then. So it forks one process before, the keeper, which has all privileges and
 * does nothing but wait at sockets, one for each of those processes. A message there has it fork
 * the process, which gives up its own privileges and then takes the message: as inetd does it. The
 * keeper itself reads no message.
 *
 *	TRY(keeper_new(&keeper));
 *	TRY(keeper_add(keeper, &opts, &socket));	// any number of times
 *	TRY(keeper_start(keeper));
 *	… privileges are given up; something is sent to the socket …
 *	close(socket);
 *	keeper_free(keeper);
 */
#ifndef PB_WORK_KEEPER_H
#define PB_WORK_KEEPER_H

#include <stdbool.h>

#include "lib/base/error.h"

struct keeper;

struct late_process {
	const char *name; /* of at most 15 bytes, for ps(1) */
	/*
	 * In the new process, in which all signals are blocked: takes requests from the socket
	 * until it is closed. When it returns, the process has ended well.
	 */
	void (*serve)(void *ctx, int socket);
	/*
	 * In the keeper, when the process has ended with this status of wait(2): whether it is
	 * forked again when there is a message. NULL: it is not, and the socket is closed.
	 */
	bool (*ended)(void *ctx, int socket, int status);
	void *ctx; /* until keeper_start() */
	int keep;  /* a descriptor that the process needs; -1: none. The others are closed. */
};

struct error *keeper_new(struct keeper **out);
/* *socket (SOCK_SEQPACKET) is the caller's. */
struct error *keeper_add(struct keeper *keeper, const struct late_process *process, int *socket);
/* Forks it, if anything was added. */
struct error *keeper_start(struct keeper *keeper);
/* Waits until it has ended: once all sockets are closed. */
void keeper_free(struct keeper *keeper);
DEFINE_FREEP(struct keeper, keeper_free)

#endif
