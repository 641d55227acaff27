/* SPDX-License-Identifier: BSD-2-Clause */
/* An interpreter of fetch programs over a stopped process: what a prologue does, done by ptrace. */
#ifndef PB_TESTS_FETCH_EVAL_H
#define PB_TESTS_FETCH_EVAL_H

#include <sys/types.h>

#include "lib/base/strbuf.h"
#include "probe/fetch/fetch.h"
#include "probe/fetch/regs.h"

struct fetch_process {
	pid_t pid;
	int mem;       /* /proc/PID/mem */
	uint64_t base; /* added to the image's addresses */
	const struct regs *machine;
	uint64_t regs[33]; /* by their DWARF numbers: all that a machine has */
};

/* Reads the process's memory; false: it cannot be read. */
bool fetch_read(const struct fetch_process *p, uint64_t address, void *to, size_t n);

/*
 * The value's bytes: value->size of them, of a bit field the field alone from bit 0 on, of a
 * string its characters. false: a read failed, which *why says.
 */
bool fetch_eval(const struct fetch_process *p, const struct fetch_value *value, struct strbuf *out,
		const char **why);

#endif
