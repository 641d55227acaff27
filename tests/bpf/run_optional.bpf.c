// SPDX-License-Identifier: BSD-2-Clause
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>

PERF_BPF_COUNT(calls, "calls", "umask calls");

static int count(void)
{
	if (perf_bpf_wanted())
		perf_bpf_count(&calls, 1);
	return 0;
}

/* clang-format off */
#define ONE_OF(section, group, name) SEC(section) PERF_BPF_ONE_OF(group) int name(void *ctx) { return count(); }
#define OPTIONAL(section, name) SEC(section) int name(void *ctx) { return count(); }
ONE_OF("?tracepoint/syscalls/sys_enter_nosuch", "call", no_tracepoint)
ONE_OF("?raw_tp/no_such_tracepoint", "call", no_raw_tp)
ONE_OF("?tp_btf/no_such_tracepoint", "call", no_tp_btf)
ONE_OF("?fentry/no_such_function", "call", no_fentry)
ONE_OF("?kprobe/no_such_function", "call", no_kprobe)
ONE_OF("?uprobe/libc.so.6:no_such_function", "call", no_uprobe)
#ifndef NO_PLACE
ONE_OF("?tracepoint/syscalls/sys_enter_umask", "call", on_umask)
ONE_OF("?tracepoint/syscalls/sys_exit_umask", "call", left_out)
#endif
ONE_OF("?tracepoint/syscalls/sys_enter_nosuch", "set=a", not_a)
ONE_OF("?tracepoint/syscalls/sys_enter_umask", "set=b", one_b)
ONE_OF("?tracepoint/syscalls/sys_exit_umask", "set=c", not_c)
ONE_OF("?tracepoint/syscalls/sys_exit_umask", "set=b", two_b)
ONE_OF("?tracepoint/syscalls/sys_enter_nosuch", "set=b", not_b)
OPTIONAL("?tracepoint/syscalls/sys_enter_nosuch", optional)
OPTIONAL("?tracepoint/syscalls/sys_exit_umask", is_there)
/* clang-format on */
char LICENSE[] SEC("license") = "GPL";
