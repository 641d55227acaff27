/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of every command that shows the code of functions: an argp child, whose input is a
 * struct code_opts.
 */
#ifndef PB_CMD_CODE_OPTIONS_H
#define PB_CMD_CODE_OPTIONS_H

#include <argp.h>

#include "perf/resolve/source_text.h"
#include "show/annotation.h"

struct code_opts {
	bool no_source, raw, intel;
	struct source_prefix prefix;
	struct annotation_percent percent;
	bool has_strip;
};

extern const struct argp code_argp;
#define CODE_CHILD                                                                                 \
	{                                                                                          \
		&code_argp, 0, "Code of functions:", 1                                             \
	}

#endif
