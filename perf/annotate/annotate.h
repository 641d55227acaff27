/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of a recording with their code: what was counted at each address, and the
 * instructions and source lines that are there.
 *
 *	TRY(annotator_new(&opts, &annotator));
 *	TRY(annotator_read(annotator));			// all samples
 *	for (size_t i = 0; i < annotator_size(annotator); i++) {
 *		err = annotator_function(annotator, i, &annotation);
 *		...
 *		annotation_deinit(&annotation);
 *	}
 *	annotator_free(annotator);
 */
#ifndef PB_PERF_ANNOTATE_ANNOTATE_H
#define PB_PERF_ANNOTATE_ANNOTATE_H

#include "perf/filter/filter.h"
#include "perf/hist/summary.h"
#include "perf/resolve/source_text.h"
#include "show/annotation.h"

struct annotator;

struct annotator_opts {
	size_t sz;				  /* sizeof(struct annotator_opts) */
	const struct opened_recording *recording; /* borrowed */
	const char *symbol;			  /* only functions of this name; NULL: all */
	enum summary_groups groups;
	double least_percent; /* functions with less of the samples are skipped */
	bool source;	      /* lines between the instructions */
	bool places;	      /* struct annotation_line.place */
	bool raw;	      /* the bytes of each instruction */
	bool intel;	      /* notation of x86 */
	struct source_prefix prefix;
};

struct error *annotator_new(const struct annotator_opts *opts, struct annotator **out);
void annotator_free(struct annotator *a);
DEFINE_FREEP(struct annotator, annotator_free)

/* EBADMSG: the recording is damaged; what is before the damage was read. */
struct error *annotator_read(struct annotator *a);

/* The same by someone else who reads the recording: each sample, and once there are no more. */
struct error *annotator_add(struct annotator *a, const struct session_event *event,
			    const struct location *at, uint64_t period);
struct error *annotator_end(struct annotator *a);

/* How many functions have samples, for each event or group of events, those with the most first. */
size_t annotator_size(const struct annotator *a);
/* Samples that were selected, and those of them whose address has no symbol. */
uint64_t annotator_n_samples(const struct annotator *a);
uint64_t annotator_n_unknown(const struct annotator *a);

const char *annotator_name(const struct annotator *a, size_t i);

/*
 * Which of the functions has this name, in the DSO with this path, and samples of the event (of
 * its group, if it is its first one); annotator_size(): none.
 */
size_t annotator_find(const struct annotator *a, size_t event, const char *module,
		      const char *function);

/*
 * The function that the i-th one calls at an address, as its annotation has addresses. It is added
 * to the functions if it has no samples. annotator_size(): it is not known, and none was added.
 */
struct error *annotator_called(struct annotator *a, size_t i, uint64_t address, size_t *out);

/*
 * The code of the i-th function; out is all zero, and released before the annotator. ENOENT,
 * ENODATA, ESTALE and others: the code cannot be had; the message does not name the function.
 */
struct error *annotator_function(struct annotator *a, size_t i, struct annotation *out);

#endif
