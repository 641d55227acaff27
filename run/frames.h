/* SPDX-License-Identifier: BSD-2-Clause */
/* From the addresses of a stack to functions: of the kernel, of files, of JITs. */
#ifndef PB_RUN_FRAMES_H
#define PB_RUN_FRAMES_H

#include "run/names.h"
#include "run/procs.h"
#include "show/result.h"

struct frames;

/* All are borrowed. */
struct error *frames_new(struct procs *procs, struct run_names *names, struct frames **out);
void frames_free(struct frames *frames);
DEFINE_FREEP(struct frames, frames_free)

/*
 * The function of an address. Where there is none the name is "[unknown]" and
 * the offset the address. The texts live until frames_free().
 */
void frame_of_kernel(struct frames *frames, uint64_t addr, struct result_frame *frame);
void frame_of_process(struct frames *frames, uint32_t pid, uint64_t addr,
		      struct result_frame *frame);

#endif
