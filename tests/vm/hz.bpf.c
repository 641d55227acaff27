// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An option of the kernel that has to be known: guest/run-tests puts it where distributions do. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

extern int CONFIG_HZ __kconfig;

SEC("raw_tp/sys_enter") int hz(void *ctx)
{
	return CONFIG_HZ;
}

char LICENSE[] SEC("license") = "GPL";
