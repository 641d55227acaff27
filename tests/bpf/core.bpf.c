/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CO-RE against the running kernel, and externs. */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

struct task_struct {
	int pid;
	int tgid;
	struct task_struct *real_parent;
	char comm[16];
	int no_such_field;
} __attribute__((preserve_access_index));

struct no_such_struct {
	int x;
} __attribute__((preserve_access_index));

extern int LINUX_KERNEL_VERSION __kconfig;
extern int CONFIG_NO_SUCH_OPTION __kconfig __weak;
extern const void no_such_symbol __ksym __weak;

int pid, parent_tgid, version, option = -1, exists = -1, type_exists = -1, symbol = -1;
char comm[16];
unsigned offset, size;

SEC("raw_tp/sys_enter")
int on_enter(void *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	pid = BPF_CORE_READ(task, pid);
	parent_tgid = BPF_CORE_READ(task, real_parent, tgid);
	bpf_core_read_str(comm, sizeof(comm), &task->comm);
	exists = bpf_core_field_exists(task->no_such_field);
	type_exists = bpf_core_type_exists(struct no_such_struct);
	size = bpf_core_field_size(task->comm);
	offset = bpf_core_field_offset(struct task_struct, comm);
	if (exists)
		pid = BPF_CORE_READ(task, no_such_field);
	version = LINUX_KERNEL_VERSION;
	option = CONFIG_NO_SUCH_OPTION;
	symbol = &no_such_symbol != NULL;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
