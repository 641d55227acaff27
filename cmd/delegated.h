/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session of the service that loads what root has approved, for a command whose user may not load
 * programs: what run, trace and record do alike.
 */
#ifndef PB_CMD_DELEGATED_H
#define PB_CMD_DELEGATED_H

#include "delegate/delegate_client.h"
#include "lib/base/log.h"

enum {
	DETACHED = 3, /* the exit status when --max-overhead or the service detached a program */
};

struct delegated {
	struct delegate_client client;
	const struct log *log;
	const char *does, *has_done; /* the service, to say so: "runs", "detached" */
	const char *what;	     /* the program; NULL: that is said already */
	bool ended;		     /* by the service */
};

#define DELEGATED_INIT                                                                             \
	{                                                                                          \
		.client = DELEGATE_CLIENT_INIT                                                     \
	}

/* Whether err is a lack of privileges, and there is a service to ask. */
bool is_delegated(const struct error *err);

/* Adds to the hint of such an error how root can allow it, if there is no service to ask. */
struct error *delegated_advise(struct error *err);
/* delegate_client_open() for the last part of path; the log has the limits of the approval. */
struct error *delegated_open(struct delegated *d, enum delegate_command command, const void *image,
			     size_t size, const char *path, const struct trace_request *trace);
/* The descriptors of the n maps that the service has created; those of other maps stay as they are.
 */
struct error *delegated_take_maps(struct delegated *d, int *fds, size_t n);
/* When the socket can be read: the service has ended the session; the log has the reason. */
void delegated_set_ended(struct delegated *d);
/* Ends the session. */
void delegated_deinit(struct delegated *d);

#endif
