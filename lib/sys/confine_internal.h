/* SPDX-License-Identifier: BSD-2-Clause */
/* The three walls of lib/sys/confine.h. */
#ifndef PB_SYS_CONFINE_INTERNAL_H
#define PB_SYS_CONFINE_INTERNAL_H

#include "lib/sys/confine.h"

/* confine_caps.c: also sets no_new_privs, without which the two others need privileges. */
struct error *confine_capabilities(uint64_t keep, struct confined *done);
/* "dac_read_search, syslog" */
void capabilities_text(uint64_t caps, struct strbuf *out);

/* confine_files.c */
struct error *confine_files(const struct confine_opts *opts, struct confined *done);

/* confine_calls.c; the last, since the others make system calls. */
struct error *confine_calls(const struct confine_opts *opts, struct confined *done);

#endif
