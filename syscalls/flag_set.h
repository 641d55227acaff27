/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets of flags and enumerators of the kernel's interface, made at build time by
 * tools/gen-call-flags from the build machine's headers; syscalls/flags.in lists them.
 */
#ifndef PB_SYSCALLS_FLAG_SET_H
#define PB_SYSCALLS_FLAG_SET_H

#include <stddef.h>
#include <stdint.h>

#include "call_flags.h"

struct flag_name {
	uint64_t value;
	const char *name;
};

struct flag_set {
	const char *name;
	const char *prefix;	       /* what the perf style leaves out: "O_" */
	const char *unknown;	       /* in the comment after a number without a name; "": none */
	const struct flag_name *names; /* in the order in which they are shown */
	size_t n;
	uint16_t base; /* SET_NONE, or the set of the bits of mask, which are an enumerator */
	uint64_t mask;
	uint8_t base_optional; /* bits of mask without a name are flags */
	uint8_t base_apart;    /* its number is shown by itself */
	/* NULL, or the name of the shift of a number that some of the bits are. */
	const char *shift_name;
	uint8_t shift, shift_mask;
};

extern const struct flag_set flag_sets[SETS];

/* NULL: v has no name in the set. */
const char *flag_set_name(enum flag_set_id set, uint64_t v);

#endif
