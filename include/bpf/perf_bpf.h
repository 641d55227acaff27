/* SPDX-License-Identifier: BSD-2-Clause */
/* What libperfbpf has and libbpf has not. */
#ifndef PERF_BPF_PERF_BPF_H
#define PERF_BPF_PERF_BPF_H

#include <stddef.h>

#include "libbpf_common.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bpf_object;
struct bpf_program;

/*
 * Why the library's last call that failed in this thread did so: "WHERE: MESSAGE", and
 * what to do about it. The strings live until the thread's next failure.
 * "" and NULL: nothing failed yet, no hint is known.
 */
LIBBPF_API const char *perf_bpf_last_error(void);
LIBBPF_API const char *perf_bpf_last_hint(void);

/* The bytes of the section "config"; NULL: the object has none. The object's. */
LIBBPF_API const void *perf_bpf_object__config(const struct bpf_object *obj, size_t *size);

/*
 * What the program's section names after its kind: "sched:sched_switch" of
 * "tracepoint/sched/sched_switch", "vfs_read" of "kprobe/vfs_read"; "" for
 * nothing. The object's.
 */
LIBBPF_API const char *perf_bpf_program__target(const struct bpf_program *prog);

#ifdef __cplusplus
}
#endif

#endif
