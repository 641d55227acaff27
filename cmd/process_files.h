/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes have in their own /tmp, for a command that has given up CAP_SYS_PTRACE and is
 * confined by Landlock: another process, which is forked when it is first asked, opens perf maps
 * there, and nothing else.
 */
#ifndef PB_CMD_PROCESS_FILES_H
#define PB_CMD_PROCESS_FILES_H

#include "lib/base/log.h"
#include "work/keeper.h"

struct process_files;

struct error *process_files_new(struct keeper *keeper, const struct log *log,
				struct process_files **out);
void process_files_free(struct process_files *files);
DEFINE_FREEP(struct process_files, process_files_free)

/* Of struct resolver_opts; ctx is a struct process_files. Errors as perf_map_open(). */
struct error *process_files_perf_map(void *ctx, int32_t pid, int *fd);

#endif
