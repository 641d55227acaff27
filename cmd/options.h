/* SPDX-License-Identifier: BSD-2-Clause */
/* Options, read by argp; what argp does not know is named with its neighbours. */
#ifndef PB_CMD_OPTIONS_H
#define PB_CMD_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

/*
 * argp_parse(), but an unknown long option is answered by "did you mean …?",
 * and the status is that of any wrong command line.
 */
error_t cmd_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, int *index,
		  void *input);

/* argp_error() with err, if there is one: "NAME: MESSAGE; HINT". */
void option_check(struct argp_state *state, const char *name, struct error *err);

/* A whole number up to max, in decimal, or in hexadecimal with 0x; false: it is none. */
bool option_number(const char *text, uint64_t max, uint64_t *v);

/* "10", "1.5s", "200ms", "5m" in milliseconds, at least 1; else argp_error(). name: "--timeout" */
void option_time(struct argp_state *state, const char *name, const char *arg, uint64_t *ms);

/* "2%", "0.5" as a share of 1, above 0; else argp_error(). name: "--max-overhead" */
void option_percent(struct argp_state *state, const char *name, const char *arg, double *share);

/* -M, --disassembler-style: whether it is intel, and not att; else the command ends. */
bool option_is_intel(struct argp_state *state, const char *arg);
/* -c, --count: a period; else the command ends. */
uint64_t option_period(struct argp_state *state, const char *arg);
/* -F, --freq: samples per second, SELECT_FREQ_MAX for "max"; else the command ends. */
uint64_t option_frequency(struct argp_state *state, const char *arg);
/* -r, --realtime: a priority of SCHED_FIFO; else the command ends. */
int option_realtime(struct argp_state *state, const char *arg);

/*
 * An option that only sets a member of a struct: a bool becomes true (with OPTION_CLEARS false), a
 * text is the argument, an int counts how often the option is given.
 *
 *	static const struct option_member members[] = {
 *		OPTION_SETS('i', struct mine, input),
 *		{0},
 *	};
 *	if (option_set(members, key, arg, mine))
 *		return 0;
 */
struct option_member {
	int key;
	enum {
		OPTION_TRUE,
		OPTION_FALSE,
		OPTION_TEXT,
		OPTION_COUNT,
	} kind;
	size_t offset;
};

#define OPTION_SETS(key, type, member)                                                               \
	{                                                                                            \
		key,                                                                               \
			_Generic(((type *)0)->member,                                              \
				 bool: OPTION_TRUE,                                                \
				 const char *: OPTION_TEXT,                                        \
				 int: OPTION_COUNT),                                               \
			offsetof(type, member) \
	}
#define OPTION_CLEARS(key, type, member)                                                           \
	{                                                                                          \
		key, _Generic(((type *)0)->member, bool : OPTION_FALSE), offsetof(type, member)    \
	}

/* Sets what the key is listed for in members, which end with an empty one; false: nothing. */
bool option_set(const struct option_member *members, int key, const char *arg, void *object);

#endif
