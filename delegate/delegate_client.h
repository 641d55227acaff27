/* SPDX-License-Identifier: BSD-2-Clause */
/* A session of the service as its user has it: see delegate_message.h. */
#ifndef PB_DELEGATE_CLIENT_H
#define PB_DELEGATE_CLIENT_H

#include "delegate/delegate_message.h"
#include "lib/base/error.h"

struct delegate_client {
	int fd; /* the session ends when it is closed */
	struct delegate_answer answer;
	int fds[DELEGATE_FDS]; /* of the maps that were created, or of the events */
};

/* Not connected, and can be closed. */
#define DELEGATE_CLIENT_INIT                                                                       \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/*
 * Asks for the object with these bytes. Fails with what the service says, EACCES if it refuses;
 * ENOENT, ECONNREFUSED: there is no service. trace: for DELEGATE_TRACE, else NULL.
 */
struct error *delegate_client_open(const char *socket_path, enum delegate_command command,
				   const void *image, size_t size, const char *name,
				   const struct trace_request *trace,
				   struct delegate_client *client);
void delegate_client_close(struct delegate_client *client);

/*
 * Asks the service to end the session. When it returns, the programs are detached, and everything
 * that they counted is there. ETIMEDOUT: the service does not answer.
 */
struct error *delegate_client_stop(struct delegate_client *client);

/*
 * When the socket can be read: why the service has ended the session. Nothing is sent before that.
 */
enum delegate_reason delegate_client_end(struct delegate_client *client);

#endif
