/* SPDX-License-Identifier: BSD-2-Clause */
/* See bpf.h: what a program puts out by puts() is the event __bpf_stdout__. */
#ifndef PERF_BPF_OLD_FORM_STDIO_H
#define PERF_BPF_OLD_FORM_STDIO_H

#include <bpf.h>

bpf_map(__bpf_stdout__, PERF_EVENT_ARRAY, int, u32, __NR_CPUS__);

/* In a program whose context is named args. */
#define puts(from)                                                                                 \
	({                                                                                         \
		char text[sizeof(from)] = from;                                                    \
		bpf_perf_event_output(args, &__bpf_stdout__, BPF_F_CURRENT_CPU, text,              \
				      sizeof(text));                                               \
	})

#endif
