// SPDX-License-Identifier: BSD-2-Clause
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
SEC("tracepoint/syscalls/sys_exit_umask") int nothing(void *ctx)
{
	return 0;
}
char LICENSE[] SEC("license") = "GPL";
