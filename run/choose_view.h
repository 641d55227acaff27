/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of an object's optional programs are loaded: those whose place this kernel has. */
#ifndef PB_RUN_CHOOSE_H
#define PB_RUN_CHOOSE_H

#include <bpf/libbpf.h>

#include "lib/base/error.h"
#include "lib/base/log.h"

/*
 * Switches on the optional programs ("?…" sections) of an object that is open,
 * but of each group (PERF_BPF_ONE_OF() in <bpf/perf_bpf_prog.h>) only the first
 * that can be attached, with the others of its set. What is left out, and why, goes to log. An
 * error: of a group none can be; it says why of each.
 */
struct error *programs_choose(struct bpf_object *obj, const struct log *log);

/* What is behind the prefix in a declaration tag of the program; NULL: it has none with it. */
struct btf;
const char *program_tag(const struct btf *btf, const struct bpf_program *prog, const char *prefix);

#endif
