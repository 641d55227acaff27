/* SPDX-License-Identifier: BSD-2-Clause */
/* The header of a recording as text, as perf script --header writes it. */
#ifndef PB_PERF_PRINT_HEADER_H
#define PB_PERF_PRINT_HEADER_H

#include "lib/base/strbuf.h"
#include "perf/data/data.h"

/*
 * path is the file's, for its time and layout; "-" is a pipe. The features of a pipe are known once
 * its first sample was read.
 */
void print_header(const struct data_header *h, const char *path, struct strbuf *out);

#endif
