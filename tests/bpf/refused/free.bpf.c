/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that lack a licence, or a privilege; see values.bpf.c. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("?raw_tp/sys_enter")
int helper_for_gpl(void *ctx)
{
	char buf[8];

	/* refused: helper_for_gpl gpl-only: bpf_probe_read_kernel */
	return bpf_probe_read_kernel(buf, sizeof(buf), ctx);
}

SEC("?raw_tp/sys_enter")
int of_nobody(void *ctx)
{
	/* refused at all: of_nobody not-permitted as nobody: CAP_BPF */
	return 0;
}

char LICENSE[] SEC("license") = "BSD";
