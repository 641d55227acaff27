// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program of each kind that is no tracing, all of them optional: the client
 * tests/cmd/kinds_client.c loads and attaches one at a time. `seen` counts
 * what came along; `verdict` is what the program answers.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

unsigned int seen;
int verdict = 1;
int only_pid; /* the client, for what the whole machine passes by */

/* What is replaced: a global function of its own. */
__attribute__((noinline)) int answer(int n)
{
	barrier_var(n);
	return n;
}

SEC("?tc") int asks(struct __sk_buff *skb)
{
	return answer(1);
}

SEC("?freplace/answer") int answers(int n)
{
	return n + 41;
}

struct seq_file;
struct task_struct {
	int pid;
	int tgid;
} __attribute__((preserve_access_index));
struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

SEC("?iter/task") int tasks(struct bpf_iter__task *ctx)
{
	static const char format[] = "pid %d\n";
	struct task_struct *task = ctx->task;
	unsigned long long pid;

	if (!task || task->pid != task->tgid)
		return 0;
	pid = task->tgid;
	bpf_seq_printf(ctx->meta->seq, format, sizeof(format), &pid, sizeof(pid));
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8);
	__type(key, int);
	__type(value, long);
} numbers SEC(".maps");

struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	void *key;
	void *value;
} __attribute__((preserve_access_index));

SEC("?iter/bpf_map_elem") int elements(struct bpf_iter__bpf_map_elem *ctx)
{
	static const char format[] = "%d is %d\n";
	unsigned long long args[2];
	long *value = ctx->value;
	int *key = ctx->key;

	if (!key || !value)
		return 0;
	args[0] = *key;
	args[1] = *value;
	bpf_seq_printf(ctx->meta->seq, format, sizeof(format), args, sizeof(args));
	return 0;
}

SEC("?lsm/file_ioctl") int BPF_PROG(ioctls, void *file, unsigned int cmd, unsigned long arg)
{
	if (bpf_get_current_pid_tgid() >> 32 != only_pid || cmd != 0x12345678)
		return 0;
	seen++;
	return -95; /* EOPNOTSUPP */
}

SEC("?lsm_cgroup/socket_bind") int BPF_PROG(binds, void *sock, void *address, int length)
{
	seen++;
	return !!verdict; /* 0 is EPERM */
}

SEC("?xdp") int on_xdp(struct xdp_md *ctx)
{
	__sync_fetch_and_add(&seen, 1);
	return verdict ? XDP_PASS : XDP_DROP;
}

SEC("?tcx/ingress") int on_tcx(struct __sk_buff *skb)
{
	__sync_fetch_and_add(&seen, 1);
	return verdict ? -1 : 2; /* TCX_NEXT, TCX_DROP */
}

SEC("?netkit/primary") int on_netkit(struct __sk_buff *skb)
{
	__sync_fetch_and_add(&seen, 1);
	return verdict ? -1 : 2; /* NETKIT_NEXT, NETKIT_DROP */
}

SEC("?netfilter") int on_netfilter(void *ctx)
{
	__sync_fetch_and_add(&seen, 1);
	return !!verdict; /* NF_ACCEPT, NF_DROP */
}

SEC("?cgroup/connect4") int connects(struct bpf_sock_addr *ctx)
{
	seen++;
	return !!verdict; /* 0 is EPERM */
}

SEC("?cgroup/connect4") int connects_too(struct bpf_sock_addr *ctx)
{
	seen += 100;
	return 1;
}

SEC("?sk_lookup") int on_lookup(struct bpf_sk_lookup *ctx)
{
	__sync_fetch_and_add(&seen, 1);
	return !!verdict; /* SK_PASS, SK_DROP */
}

struct {
	__uint(type, BPF_MAP_TYPE_SOCKMAP);
	__uint(max_entries, 2);
	__type(key, int);
	__type(value, int);
} sockets SEC(".maps");

SEC("?sk_skb/verdict") int on_stream(struct __sk_buff *skb)
{
	__sync_fetch_and_add(&seen, 1);
	return !!verdict; /* SK_PASS, SK_DROP */
}

/* Two that use `numbers`, and a variable each way. */
SEC("?socket") int owner(struct __sk_buff *skb)
{
	int key = answer(7);
	long *found = bpf_map_lookup_elem(&numbers, &key);

	seen++;
	return found && verdict ? *found : 0;
}

SEC("?socket") int intruder(struct __sk_buff *skb)
{
	int key = 7;

	return bpf_map_lookup_elem(&numbers, &key) != 0;
}

/* Global data that is made larger: sixteen elements, or the verifier refuses it. */
int before_grown SEC(".data.grown") = 1;
int grown[2] SEC(".data.grown") = {5, 6};

SEC("?tc") int grows(struct __sk_buff *skb)
{
	unsigned int i = 15;

	barrier_var(i);
	return grown[i & 15] + grown[1] + before_grown;
}

/* A function that a module may have, called where there is one. */
struct nf_conn {
	unsigned long status;
};
struct bpf_ct_opts___short {
	int netns_id, error;
	unsigned char l4proto, dir, reserved[2];
};
extern struct nf_conn *bpf_skb_ct_lookup(struct __sk_buff *skb, struct bpf_sock_tuple *tuple,
					 __u32 tuple_size, struct bpf_ct_opts___short *opts,
					 __u32 opts_size) __ksym __weak;
extern void bpf_ct_release(struct nf_conn *ct) __ksym __weak;

SEC("?tc") int of_a_module(struct __sk_buff *skb)
{
	struct bpf_ct_opts___short opts = {.netns_id = -1, .l4proto = 17};
	struct bpf_sock_tuple tuple = {};
	struct nf_conn *ct;

	if (!bpf_skb_ct_lookup)
		return 100;
	ct = bpf_skb_ct_lookup(skb, &tuple, sizeof(tuple.ipv4), &opts, sizeof(opts));
	if (ct) {
		bpf_ct_release(ct);
		return 101;
	}
	return -opts.error;
}

SEC("?fentry/nf_conntrack_in") int BPF_PROG(into_a_module)
{
	__sync_fetch_and_add(&seen, 1);
	return 0;
}

/* Where the function above looks for the connection. */
struct nf_conntrack_tuple {
	struct {
		unsigned char protonum;
	} dst;
} __attribute__((preserve_access_index));

SEC("?fentry/nf_conntrack_find_get")
int BPF_PROG(reads_of_a_module, void *net, void *zone, struct nf_conntrack_tuple *tuple)
{
	__sync_fetch_and_add(&seen, tuple->dst.protonum);
	return 0;
}

SEC("?kprobe.multi/nf_conntrack_find_g*") int many_of_a_module(void *ctx)
{
	__sync_fetch_and_add(&seen, 1);
	return 0;
}

SEC("?tp_btf/tls_device_offload_set") int tracepoint_of_a_module(void *ctx)
{
	return 0;
}

/* Types that only a module has: CO-RE finds them there, or says that nothing has them. */
struct flow_ports {
	unsigned short source, dest;
};

SEC("?tc") int type_of_a_module(struct __sk_buff *skb)
{
	if (!bpf_core_type_exists(struct nf_conn))
		return 0;
	return bpf_core_field_offset(struct nf_conn, status);
}

SEC("?tc") int needs_a_module(struct __sk_buff *skb)
{
	return bpf_core_field_offset(struct flow_ports, dest);
}

extern const void nf_conntrack_hash __ksym __weak;

SEC("?tc") int symbol_of_a_module(struct __sk_buff *skb)
{
	return (int)(unsigned long)&nf_conntrack_hash;
}

/* Sections of the client's own. */
SEC("?own/first") int first(void *ctx)
{
	if (bpf_get_current_pid_tgid() >> 32 == only_pid)
		__sync_fetch_and_add(&seen, 1);
	return 0;
}

SEC("?nobodys") int nobodys(void *ctx)
{
	return first(ctx);
}

char LICENSE[] SEC("license") = "GPL";
