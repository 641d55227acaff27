/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happened around a sample, as script prints it: the same recording is read again, with
 * samples of the same CPU and thread some milliseconds before and after.
 */
#ifndef PB_CMD_SAMPLE_CONTEXT_H
#define PB_CMD_SAMPLE_CONTEXT_H

#include "browse/browser.h"
#include "cmd/recording.h"

struct sample_context_opts {
	const struct recording_opts *recording; /* as it was opened */
	const struct log *log;
	uint64_t around; /* ns before and after; 0: 10 ms */
};

/* As samples.context of the configuration says. */
struct error *sample_context_configure(const struct log *log, uint64_t *around);

/* event: the sample's. */
struct error *sample_context_print(const struct sample_context_opts *opts,
				   const struct browser_sample *of,
				   const struct session_event *event, struct strbuf *out);

#endif
