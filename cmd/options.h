/* SPDX-License-Identifier: BSD-2-Clause */
/* Options, read by argp; what argp does not know is named with its neighbours. */
#ifndef PB_CMD_OPTIONS_H
#define PB_CMD_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * argp_parse(), but an unknown long option is answered by "did you mean …?",
 * and the status is that of any wrong command line.
 */
error_t cmd_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, int *index,
		  void *input);

/* A whole number up to max, in decimal, or in hexadecimal with 0x; false: it is none. */
bool option_number(const char *text, uint64_t max, uint64_t *v);

#endif
