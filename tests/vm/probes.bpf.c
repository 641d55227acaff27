// SPDX-License-Identifier: Dual BSD/GPL
/*
 * Probes of the kernel by definitions: what they are handed, summed up under
 * the names that probed.c prints.
 */
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define PORT 4242

struct name {
	char text[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct name);
	__type(value, long);
	__uint(max_entries, 64);
} sums SEC(".maps");

static __always_inline void add(const struct name *name, long v)
{
	long zero = 0, *sum;

	bpf_map_update_elem(&sums, name, &zero, BPF_NOEXIST);
	sum = bpf_map_lookup_elem(&sums, name);
	if (sum)
		__sync_fetch_and_add(sum, v);
}
#define ADD(what, v)                                                                               \
	do {                                                                                       \
		const struct name name_ = {what};                                                  \
		add(&name_, v);                                                                    \
	} while (0)

static __always_inline int is_probed(void)
{
	char comm[16];

	bpf_get_current_comm(comm, sizeof(comm));
	return comm[0] == 'p' && comm[1] == 'r' && comm[2] == 'o' && comm[3] == 'b' &&
	       comm[4] == 'e' && comm[5] == 'd' && !comm[6];
}

/* perfbpf_probed.dat, of which 15 bytes fit */
static __always_inline int is_file(const char *name)
{
	return name[0] == 'p' && name[7] == '_' && name[13] == 'd' && name[14] == '.' && !name[15];
}

#if !defined(MANY) && !defined(AT_RETURN) && !defined(MISSED)
struct file_args {
	int err;
	char name[16];
	unsigned long count;
};

SEC("vfs_write name=file->f_path.dentry->d_name.name:string count")
int on_write(void *ctx, struct file_args *args)
{
	if (!is_probed() || !is_file(args->name) || args->err)
		return 0;
	ADD("writes", 1);
	ADD("written", args->count);
	return 0;
}

SEC("vfs_read name=file->f_path.dentry->d_name.name:string count")
int on_read(void *ctx, struct file_args *args)
{
	if (!is_probed() || !is_file(args->name) || args->err)
		return 0;
	ADD("reads", 1);
	ADD("asked", args->count);
	return 0;
}

SEC("vfs_read%return $retval")
int on_read_return(void *ctx, int err, long retval)
{
	if (is_probed())
		ADD("got", retval);
	return 0;
}

struct state_args {
	__u64 err_mask;
	__u32 daddr, saddr;
	__u16 dport;
	__u16 num;
	int state;
};

SEC("tcp_set_state daddr=sk->__sk_common.skc_daddr saddr=sk->__sk_common.skc_rcv_saddr "
    "dport=sk->__sk_common.skc_dport num=sk->__sk_common.skc_num state")
int on_state(void *ctx, struct state_args *args)
{
	if (args->err_mask || args->daddr != bpf_htonl(0x7f000001) ||
	    args->dport != bpf_htons(PORT))
		return 0;
	if (args->state == 2) /* SYN_SENT */
		ADD("connects", 1);
	if (args->state == 1 && args->saddr == args->daddr) /* ESTABLISHED */
		ADD("ports", args->num);
	return 0;
}

/* All that have both; of which the process uses two. */
SEC("vfs_* name=file->f_path.dentry->d_name.name:string count")
int on_vfs(void *ctx, struct file_args *args)
{
	if (!is_probed() || !is_file(args->name) || args->err)
		return 0;
	ADD("both", 1);
	ADD("bytes", args->count);
	return 0;
}
#endif

#ifdef AT_RETURN
struct return_args {
	int err;
	char name[16];
	unsigned long count;
	long ret;
};

/* Parameters at the return: only fexit has them. */
SEC("vfs_write%return name=file->f_path.dentry->d_name.name:string count ret=$retval")
int on_write_return(void *ctx, struct return_args *args)
{
	if (!is_probed() || !is_file(args->name) || args->err)
		return 0;
	ADD("kept", args->count);
	ADD("returned", args->ret);
	return 0;
}
#endif

#ifdef MISSED
/* The second is hit while the first is at work. */
SEC("outer=vfs_write")
int on_outer(void *ctx)
{
	if (is_probed())
		ADD("outer", 1);
	return 0;
}

SEC("inner=bpf_get_current_comm")
int on_inner(void *ctx)
{
	return 0;
}
#endif

#ifdef MANY
SEC("many=t*")
int on_many(void *ctx)
{
	return 0;
}
#endif
