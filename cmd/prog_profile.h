/* SPDX-License-Identifier: BSD-2-Clause */
/* perf-bpf prog profile, an action of cmd/prog.c. */
#ifndef PB_CMD_PROG_PROFILE_H
#define PB_CMD_PROG_PROFILE_H

#include "cmd/actions.h"

struct error *prog_profile(const struct action_args *args, size_t at);

#endif
