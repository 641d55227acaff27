/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks as folded lines, which flamegraph.pl and others read: "dd;main;read 12". */
#ifndef PB_SHOW_FOLDED_H
#define PB_SHOW_FOLDED_H

#include "lib/base/strbuf.h"
#include "show/result.h"

/*
 * Adds a line for each stack of functions, the outermost first, in the order
 * of the text; a ';' or a line's end in a name becomes ':'. Results that are no
 * stacks add nothing. Lines of a recording with several events begin with the event's name. Offsets
 * are left out, so that a function is one frame.
 */
void results_folded(const struct results *results, struct strbuf *out);

#endif
