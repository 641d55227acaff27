/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs with PERF_BPF_BEGIN: they are not attached, but run once, by the kernel's test run,
 * before the others are attached.
 */
#ifndef PB_RUN_BEGIN_H
#define PB_RUN_BEGIN_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "lib/base/error.h"

bool program_is_begin(const struct bpf_program *prog);
/* Runs those of the object. */
struct error *programs_begin(const struct bpf_object *obj);

#endif
