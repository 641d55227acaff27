/* SPDX-License-Identifier: BSD-2-Clause */
/* What perf report's options say of its layout. */
#ifndef PB_SHOW_PERF_TEXT_OPTS_H
#define PB_SHOW_PERF_TEXT_OPTS_H

#include "show/result.h"
#include "show/stack_text.h"

struct perf_text_opts {
	const struct chain_opts *chain;
	const char *separator;	   /* between columns, which are not filled up then; NULL: none */
	const char *widths;	   /* "12,8": of the columns; 0 or none: as needed; NULL */
	const char *times;	   /* the time span that was asked for, for the head; NULL: all */
	const char *socket;	   /* of the CPUs whose samples these are, likewise */
	bool quiet;		   /* no heads */
	bool verbose;		   /* addresses, and where symbols are from */
	bool first_frame_is_known; /* sorted by symbol: the chain's first line would repeat it */
};

#endif
