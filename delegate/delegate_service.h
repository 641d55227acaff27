/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service that loads approved programs for users who may not. The process that listens reads
 * nothing from users: it forks a process for each session, which does, and which keeps the programs
 * attached while the session lasts. What is attached hangs on the descriptors of that process.
 */
#ifndef PB_DELEGATE_SERVICE_H
#define PB_DELEGATE_SERVICE_H

#include "delegate/delegate_opts.h"

/* Until SIGTERM or SIGINT; passed by systemd also if nobody has asked for a minute. */
struct error *delegate_service_run(const struct delegate_service_opts *opts);

#endif
