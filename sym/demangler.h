/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Demangling of names that anybody may have made. A mangled name refers to its own parts, so that
 * 280 bytes can stand for gigabytes, or for hours of work without any output. Names for which that
 * is impossible are demangled at once. The others are sent to a process of its own, which has no
 * privileges, little memory, and a tenth of a second for each; if it ends, the name is shown as it
 * is, and the process is started again. It is started by somebody else, with the first such name:
 *
 *	TRY(demangler_new(socket, log, &demangler));	// of a pair; there, demangler_serve()
 *	char *shown = symbol_demangle(demangler, "_ZN4Shop5orderEi", false);
 */
#ifndef PB_SYM_DEMANGLER_H
#define PB_SYM_DEMANGLER_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/log.h"

struct demangler;

struct demangler_opts {
	/* In the other process, before the first name. NULL: it is not confined. */
	struct error *(*confine)(void *ctx);
	void *ctx;
};

/* In a process of its own: answers until the other socket is closed, or a limit ends the process.
 */
void demangler_serve(const struct demangler_opts *opts, int socket);
/*
 * When that process has ended with this status of wait(2): whether another one is to go on, with
 * the next message. The request that it was killed at has its answer then.
 */
bool demangler_ended(int socket, int status);

/*
 * socket: of type SOCK_SEQPACKET; *out closes it. log: where it is said, once, that a limit was
 * met.
 */
struct error *demangler_new(int socket, const struct log *log, struct demangler **out);
void demangler_free(struct demangler *demangler);
DEFINE_FREEP(struct demangler, demangler_free)

/*
 * A demangled C++ or Rust name, as perf prints it, or with its parameters ("Shop::order(int)
 * const"); from malloc(). NULL: the name is not mangled, or a limit was met, or (ENOMEM) there is
 * no memory. demangler NULL: names that might be harmful are not demangled. For any thread.
 */
char *symbol_demangle(struct demangler *demangler, const char *name, bool parameters);

/* Whether the name can be demangled at once, whoever made it. For tests. */
bool name_is_harmless(const char *name, size_t length);

#endif
