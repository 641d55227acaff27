/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The build-id cache is filled by a process of its own (work/writer_process.h): the recorder reads
 * binaries of other users, and must not be able to open files for writing then.
 */
#ifndef PB_PERF_RECORD_BUILDID_PROCESS_H
#define PB_PERF_RECORD_BUILDID_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"

struct buildid_process;

/*
 * Opens the cache, see buildid_cache_open(), and forks the process. confine: called in it; NULL: it
 * is not confined.
 */
struct error *buildid_process_new(const char *dir, struct error *(*confine)(void *ctx), void *ctx,
				  struct buildid_process **out);
void buildid_process_free(struct buildid_process *process);
DEFINE_FREEP(struct buildid_process, buildid_process_free)

/* As the functions of buildid_cache.h. process: NULL: nothing is copied. */
struct error *buildid_process_add(struct buildid_process *process, const char *path, int fd,
				  uid_t author, const uint8_t *id, size_t id_size);
struct error *buildid_process_add_kallsyms(struct buildid_process *process, const uint8_t *id,
					   size_t id_size);

#endif
