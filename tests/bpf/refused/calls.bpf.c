/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that ask for what the kernel has not, or not for them; see values.bpf.c. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} one SEC(".maps");

SEC("?raw_tp/sys_enter")
int helper_of_others(void *ctx)
{
	/* refused: helper_of_others no-helper: bpf_xdp_adjust_head */
	return bpf_xdp_adjust_head(ctx, 4);
}

static long (*not_yet)(void) = (void *)9999;

SEC("?raw_tp/sys_enter")
int helper_of_the_future(void *ctx)
{
	/* refused: helper_of_the_future no-helper: 9999 */
	return not_yet();
}

SEC("?raw_tp/sys_enter")
int probe_write(void *ctx)
{
	int n = 1;

	/* refused: probe_write not-permitted|loads: bpf_probe_write_user */
	return bpf_probe_write_user((void *)8, &n, sizeof(n));
}

extern void schedule(void) __ksym;

SEC("?raw_tp/sys_enter")
int function_not_for_bpf(void *ctx)
{
	/* refused: function_not_for_bpf no-kfunc: kernel */
	schedule();
	return 0;
}

extern int vfs_fsyncs(void *file, int datasync) __ksym;

SEC("?raw_tp/sys_enter")
int function_misspelt(void *ctx)
{
	/* refused at all: function_misspelt no-ksym: vfs_fsync */
	return vfs_fsyncs(ctx, 1);
}

extern const int runqueuess __ksym;

SEC("?raw_tp/sys_enter")
int variable_misspelt(void *ctx)
{
	/* refused at all: variable_misspelt no-ksym: runqueues */
	return (long)&runqueuess;
}

extern int maybe_there(int n) __ksym __weak;

SEC("?raw_tp/sys_enter")
int weak_unguarded(void *ctx)
{
	/* refused: weak_unguarded no-ksym: maybe_there */
	return maybe_there(1);
}

struct task_struct___mine {
	int pid;
	int tgidd;
} __attribute__((preserve_access_index));

SEC("?raw_tp/sys_enter")
int field_not_there(void *ctx)
{
	struct task_struct___mine *task = (void *)bpf_get_current_task();

	/* refused: field_not_there no-core-field: struct task_struct.tgidd */
	return BPF_CORE_READ(task, tgidd);
}

struct no_such_struct {
	int n;
} __attribute__((preserve_access_index));

SEC("?raw_tp/sys_enter")
int struct_not_there(void *ctx)
{
	struct no_such_struct *at = (void *)bpf_get_current_task();

	/* refused: struct_not_there no-core-field: no_such_struct */
	return BPF_CORE_READ(at, n);
}

enum pid_type {
	PIDTYPE_NONE_SUCH = 3,
};

SEC("?raw_tp/sys_enter")
int value_not_there(void *ctx)
{
	/* refused: value_not_there no-core-field: PIDTYPE_NONE_SUCH */
	return bpf_core_enum_value(enum pid_type, PIDTYPE_NONE_SUCH);
}

SEC("?raw_tp/sys_enter")
int context_beyond(unsigned long long *ctx)
{
	/* refused: context_beyond context-access: 1600 */
	return ctx[200];
}

SEC("?socket")
int context_field(struct __sk_buff *skb)
{
	/* refused: context_field context-access: __sk_buff.data */
	return skb->data;
}

SEC("?perf_event")
int context_modified(struct bpf_perf_event_data *ctx)
{
	__u64 *at = &ctx->sample_period;

	/* refused: context_modified context-access: */
	asm volatile("%0 += 8; %0 = *(u64 *)(%0 + 0)" : "+r"(at));
	return (long)at;
}

SEC("?tp_btf/sched_switch")
int tracepoint_argument(unsigned long long *ctx)
{
	/* refused: tracepoint_argument context-access: argument */
	return ctx[9];
}

SEC("?tp_btf/sched_switch")
int struct_beyond(unsigned long long *ctx)
{
	/* refused: struct_beyond memory-bounds: task_struct */
	return *((int *)ctx[1] + 100000);
}

SEC("?fentry/vfs_fsyncs")
int target_misspelt(void *ctx)
{
	/* refused at all: target_misspelt attach-target: vfs_fsync */
	return 0;
}

SEC("?lsm/bprm_check_securit")
int hook_misspelt(void *ctx)
{
	/* refused at all: hook_misspelt attach-target: bprm_check_security */
	return 0;
}

SEC("?fmod_ret/vfs_fsync")
int not_modifiable(void *ctx)
{
	/* refused at all: not_modifiable attach-target: vfs_fsync */
	return 0;
}

#ifdef __TARGET_ARCH_x86
SEC("?fentry.s/__x64_sys_getpid")
#else
SEC("?fentry.s/__arm64_sys_getpid")
#endif
int target_of_fentry(void *ctx)
{
	/* refused at all: target_of_fentry attach-target|not-permitted|loads: */
	return 0;
}

SEC("?lirc_mode2")
int of_a_kind_not_there(void *ctx)
{
	/* refused at all: of_a_kind_not_there no-program-type|loads: lirc_mode2 */
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
