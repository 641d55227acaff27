/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that make system calls because we print some: perf-bpf itself, and what carries its
 * output to the user, which is the shell's terminal, sshd, tmux or screen. Tracing them would
 * trace the printing of what was traced, without end.
 */
#ifndef PB_TRACE_BYSTANDERS_H
#define PB_TRACE_BYSTANDERS_H

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/sys/proc.h"

/*
 * Adds self; its ancestors up to the terminal, if one of them is a terminal; and if that is a
 * tmux or screen server, the server's clients with their ancestors up to their terminals. Each is
 * logged with its name.
 */
struct error *bystanders_find(const struct sys_roots *roots, pid_t self, const struct log *log,
			      struct sys_pids *pids);

#endif
