// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
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

#ifdef DIRECT
struct direct_args {
	__u64 err_mask;
	__u64 ino, magic, count;
	long long size, pos;
	__u32 flags, uid, acl;
	__u16 mode;
	__u8 bits;
	char type[8], id[8];
};

/*
 * All sizes, strings at the end of a walk and of a pointer, what is 0, and a pointer that is
 * NULL (tmpfs) or -1 (pipes: ACL_NOT_CACHED).
 */
SEC("vfs_write ino=file->f_inode->i_ino magic=file->f_inode->i_sb->s_magic count "
    "size=file->f_inode->i_size pos=file->f_pos flags=file->f_flags "
    "uid=file->f_inode->i_uid.val acl=file->f_inode->i_acl->a_count "
    "mode=file->f_inode->i_mode bits=file->f_inode->i_sb->s_blocksize_bits "
    "type=file->f_inode->i_sb->s_type->name:string id=file->f_inode->i_sb->s_id:string")
int on_write_direct(void *ctx, struct direct_args *args)
{
	if (!is_probed() || args->err_mask != 1 << 7)
		return 0;
	if (args->magic == 0x50495045 && args->count == 12) /* a pipe's */
		ADD("piped", args->count);
	if (args->magic != 0x01021994 || args->bits != 12 || args->mode != 0100600 || args->uid ||
	    args->acl || args->type[0] != 't' || args->type[4] != 's' || args->type[5] ||
	    args->id[0] != 't' || args->id[4] != 's' || args->id[5])
		return 0;
	ADD("inodes", args->ino);
	ADD("sizes", args->size);
	ADD("positions", args->pos);
	ADD("flags", args->flags);
	return 0;
}
#endif

#if !defined(MANY) && !defined(AT_RETURN) && !defined(DIRECT) && !defined(MISSED)
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
