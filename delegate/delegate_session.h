/* SPDX-License-Identifier: BSD-2-Clause */
/* One session of the service, in a process of its own. */
#ifndef PB_DELEGATE_SESSION_H
#define PB_DELEGATE_SESSION_H

#include <sys/socket.h>

#include "delegate/delegate_opts.h"

/*
 * Reads the request, loads and attaches what is approved, passes the maps, and waits until the
 * session ends. fd is the connection, peer who connected. All that happens is said by opts->say.
 */
void delegate_session_run(int fd, const struct ucred *peer,
			  const struct delegate_service_opts *opts);

#endif
