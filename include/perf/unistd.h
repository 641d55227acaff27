/* SPDX-License-Identifier: BSD-2-Clause */
/* See bpf.h. */
#ifndef PERF_BPF_OLD_FORM_UNISTD_H
#define PERF_BPF_OLD_FORM_UNISTD_H

#include <bpf.h>

/* The thread, as perf had it. */
static inline pid_t getpid(void)
{
	return (pid_t)bpf_get_current_pid_tgid();
}

#endif
