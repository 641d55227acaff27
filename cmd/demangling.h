/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that demangles names of anybody's binaries (sym/demangler.h), confined. */
#ifndef PB_CMD_DEMANGLING_H
#define PB_CMD_DEMANGLING_H

#include "sym/demangler.h"
#include "work/keeper.h"

/* Is forked when a name needs it. log outlives it; NULL: nothing is said. */
struct error *demangling_begin(struct keeper *keeper, const struct log *log,
			       struct demangler **out);

#endif
