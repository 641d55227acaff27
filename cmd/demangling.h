/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that demangles names of anybody's binaries (sym/demangler.h), confined. */
#ifndef PB_CMD_DEMANGLING_H
#define PB_CMD_DEMANGLING_H

#include "sym/demangler.h"

/* Forks it; before the command drops its privileges. log outlives it; NULL: nothing is said. */
struct error *demangling_begin(const struct log *log, struct demangler **out);

#endif
