/* SPDX-License-Identifier: BSD-2-Clause */
/* What the service and its sessions are told by the command. */
#ifndef PB_DELEGATE_OPTS_H
#define PB_DELEGATE_OPTS_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/sys/confine.h"

struct delegate_service_opts {
	const char *store;
	const char *socket_path; /* to listen at, if systemd does not pass a socket */
	const struct log *log;
	/* A line for the journal: who runs what, and how it ends. */
	void (*say)(void *ctx, const char *line);
	/* Called in a session's process, once the programs are attached: gives up privileges. */
	struct error *(*confine)(void *ctx, bool opens_events);
	/* In the process that finds probe points; NULL: in this process. */
	confine_fn *confine_finder;
	void *ctx;
};

#endif
