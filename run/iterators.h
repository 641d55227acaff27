/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs in SEC("iter/TYPE"): the kernel runs one for each object of a type, such as each task,
 * only when somebody reads the iterator. Each read is one walk over all objects. What the program
 * writes with BPF_SEQ_PRINTF() is shown as a table of lines.
 *
 *	TRY(iterators_add(&iterators, prog, link));
 *	TRY(iterators_read(&iterators));
 *	TRY(iterators_add_results(&iterators, top, results));
 *	iterators_deinit(&iterators);
 */
#ifndef PB_RUN_ITERATORS_H
#define PB_RUN_ITERATORS_H

#include <bpf/libbpf.h>

#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "show/result.h"

struct iterator {
	const struct bpf_program *prog;
	const struct bpf_link *link; /* borrowed; NULL: it was detached */
	struct strbuf output;	     /* of the last read */
	bool is_cut;		     /* the output was longer than is kept */
};

struct iterators {
	VEC(struct iterator) list;
};

struct error *iterators_add(struct iterators *iterators, const struct bpf_program *prog,
			    const struct bpf_link *link);
/* The link is about to be destroyed. */
void iterators_forget(struct iterators *iterators, const struct bpf_link *link);
/* Runs each program once over all objects. */
struct error *iterators_read(struct iterators *iterators);
/* Adds the output of the last read, one table per program; top: at most this many lines, 0: all. */
struct error *iterators_add_results(const struct iterators *iterators, size_t top,
				    struct results *results);
void iterators_deinit(struct iterators *iterators);

#endif
