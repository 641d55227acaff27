/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files that descriptors refer to, read from the kernel's tables at the time of the call: a
 * later look into /proc sees what the process has opened since.
 */
#ifndef PB_TRACE_TRACE_FD_BPF_H
#define PB_TRACE_TRACE_FD_BPF_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct super_block {
	unsigned long s_magic;
};

struct inode {
	unsigned long i_ino;
};

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
};

struct qstr {
	const unsigned char *name;
};

struct dentry_operations {
	void *d_dname;
};

struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	const struct dentry_operations *d_op;
	struct super_block *d_sb;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	unsigned short skc_family;
	possible_net_t skc_net;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
};

struct socket {
	struct sock *sk;
};

struct file {
	struct path f_path;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

#pragma clang attribute pop

enum {
	FD_STEPS = 96, /* names and mount points of a path */
	FD_PATH_BYTES = 4096,
	FD_NAME_BYTES = 256, /* a name has at most 255 bytes and its NUL */
	FD_ARRAY_MAX = 64,   /* descriptors of an array */
	FD_SET_WORDS = 16,   /* of a set of select(2), of 64 descriptors each */
	FD_AF_NETLINK = 16,
};

/* Of linux/magic.h. */
enum {
	FD_PIPEFS = 0x50495045,
	FD_SOCKFS = 0x534f434b,
	FD_ANON_INODE = 0x09041934,
	FD_PIDFS = 0x50494446,
	FD_TMPFS = 0x01021994,
};

/* How the file of a path without a place in the tree is named; TRACE_FD_UNKNOWN: not known. */
static __always_inline __u32 fd_kind_of(struct dentry *dentry)
{
	switch (BPF_CORE_READ(dentry, d_sb, s_magic)) {
	case FD_PIPEFS:
		return TRACE_FD_PIPE;
	case FD_SOCKFS:
		return TRACE_FD_SOCKET;
	case FD_ANON_INODE:
		return TRACE_FD_ANON;
	case FD_PIDFS:
		return TRACE_FD_PIDFD;
	case FD_TMPFS:
		return TRACE_FD_MEMORY;
	}
	return TRACE_FD_UNKNOWN;
}

/* Adds a component of the path, or crosses a mount point; 1: that was the last one, 2: it fails. */
__attribute__((noinline)) int trace_path_step(__u32 where)
{
	struct trace_scratch *s = bpf_map_lookup_elem(&scratches, &where);
	struct dentry *dentry, *parent;
	struct vfsmount *mnt;
	__u64 len, at;
	long n;

	if (!s)
		return 2;
	dentry = (void *)s->walk_dentry;
	mnt = (void *)s->walk_mount;
	parent = BPF_CORE_READ(dentry, d_parent);
	if (s->walk_kind == TRACE_FD_PATH || s->walk_kind == TRACE_FD_DELETED) {
		if (dentry == BPF_CORE_READ(mnt, mnt_root)) {
			struct mount *m = (void *)mnt - bpf_core_field_offset(struct mount, mnt);
			struct mount *above = BPF_CORE_READ(m, mnt_parent);

			if (above == m || !above)
				return 1;
			s->walk_dentry = (__u64)BPF_CORE_READ(m, mnt_mountpoint);
			s->walk_mount = (__u64)above + bpf_core_field_offset(struct mount, mnt);
			return 0;
		}
		if (dentry == parent) /* below no mount */
			return 2;
	}
	len = s->len;
	at = s->walk_len;
	barrier_var(len);
	barrier_var(at);
	if (len > TRACE_RECORD_MAX - sizeof(struct piece_words) ||
	    at > FD_PATH_BYTES - FD_NAME_BYTES)
		return 2;
	n = bpf_probe_read_kernel_str((void *)&s->rec + len + sizeof(struct piece_words) + at,
				      FD_NAME_BYTES, BPF_CORE_READ(dentry, d_name.name));
	if (n <= 0)
		return 2;
	s->walk_len = at + n;
	s->walk_dentry = (__u64)parent;
	return s->walk_kind != TRACE_FD_PATH && s->walk_kind != TRACE_FD_DELETED;
}

/* Where the walk begins; 1: the process has no such descriptor. */
static __always_inline int walk_begin(struct trace_scratch *s, __u64 fd, __u64 *inode)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	const struct dentry_operations *op;
	struct file **files, *file = 0;
	struct dentry *dentry;

	if (!table || fd >= BPF_CORE_READ(table, max_fds))
		return 1;
	files = BPF_CORE_READ(table, fd);
	if (bpf_probe_read_kernel(&file, sizeof(file), files + fd) || !file)
		return 1;
	dentry = BPF_CORE_READ(file, f_path.dentry);
	if (!dentry)
		return 1;
	s->walk_dentry = (__u64)dentry;
	s->walk_mount = (__u64)BPF_CORE_READ(file, f_path.mnt);
	s->walk_len = 0;
	s->walk_kind = TRACE_FD_PATH;
	*inode = BPF_CORE_READ(dentry, d_inode, i_ino);
	if (dentry == BPF_CORE_READ((struct vfsmount *)s->walk_mount, mnt_root))
		return 0;
	op = BPF_CORE_READ(dentry, d_op);
	if (op && BPF_CORE_READ(op, d_dname))
		s->walk_kind = fd_kind_of(dentry);
	else if (!BPF_CORE_READ(dentry, d_hash.pprev)) /* removed */
		s->walk_kind = TRACE_FD_DELETED;
	if (s->walk_kind == TRACE_FD_SOCKET)
		s->walk_mount = (__u64)BPF_CORE_READ(file, private_data);
	return s->walk_kind == TRACE_FD_UNKNOWN;
}

/* The number of the network namespace; 0: the kernel has none. */
static __always_inline __u32 net_ns_of(const struct socket *socket)
{
	struct sock *sk = BPF_CORE_READ(socket, sk);

	if (!bpf_core_field_exists(sk->__sk_common.skc_net.net))
		return 0;
	return BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
}

/* Whether argument 0 is a socket of AF_NETLINK, whose messages are copied in full. */
static __always_inline int is_netlink(struct trace_scratch *s)
{
	const struct socket *socket;
	__u64 inode;

	if (walk_begin(s, (__u32)s->args[0], &inode) || s->walk_kind != TRACE_FD_SOCKET)
		return 0;
	socket = (void *)s->walk_mount;
	return BPF_CORE_READ(socket, sk, __sk_common.skc_family) == FD_AF_NETLINK;
}

/* The file of a descriptor. */
__attribute__((noinline)) int trace_copy_fd(__u32 where, __u64 tag, __u64 fd)
{
	struct trace_scratch *s = bpf_map_lookup_elem(&scratches, &where);
	struct piece_words *p;
	__u64 inode = 0, len;
	int step = 0;

	fd = (__u32)fd;
	if (!s || s->data > TRACE_DATA_MAX - FD_PATH_BYTES || walk_begin(s, fd, &inode))
		return 0;
	p = piece_begin(s);
	if (!p)
		return 0;
	if (s->walk_kind == TRACE_FD_SOCKET) {
		const struct socket *socket = (void *)s->walk_mount;

		*(__u64 *)p->data = BPF_CORE_READ(socket, sk, __sk_common.skc_family) |
				    (__u32)BPF_CORE_READ(socket, sk, sk_protocol) << 16 |
				    (__u64)net_ns_of(socket) << 32;
		piece_end(s, p, TAG_INDEX(TAG_PART(tag, TRACE_PART_FD), (__u64)TRACE_FD_SOCKET), 0,
			  fd, inode, 8);
		return 0;
	}
	for (int i = 0; i < FD_STEPS; i++) {
		step = trace_path_step(where);
		if (step)
			break;
	}
	/* what is known of it is the end of the path */
	len = s->walk_len;
	barrier_var(len);
	if (len > FD_PATH_BYTES)
		return 0;
	if (len & 7) {
		__u64 *last = (void *)p->data + (len & (FD_PATH_BYTES - 8));

		*last &= ~0ull >> (64 - 8 * (len & 7));
	}
	piece_end(s, p, TAG_INDEX(TAG_PART(tag, TRACE_PART_FD), (__u64)s->walk_kind),
		  step == 1 ? 0 : TRACE_PIECE_CUT, fd, inode, len);
	return 0;
}

/* The files of descriptors in memory, `step` bytes apart. */
__attribute__((noinline)) int trace_copy_fd_array(__u32 where, __u64 tag, __u64 addr, __u32 count,
						  __u32 step)
{
	for (__u32 i = 0; i < FD_ARRAY_MAX && i < count; i++) {
		__u32 fd;

		if (bpf_probe_read_user(&fd, sizeof(fd), (void *)(addr + i * step)))
			break;
		trace_copy_fd(where, tag, fd);
	}
	return 0;
}

/* The files of the descriptors from `base` on whose bits are set in a word. */
__attribute__((noinline)) int trace_copy_fd_word(__u32 where, __u64 tag, __u64 word, __u32 base)
{
	for (__u32 i = 0; i < 64; i++)
		if (word >> i & 1)
			trace_copy_fd(where, tag, base + i);
	return 0;
}

/* The files of a set of select(2), of `count` bits. */
__attribute__((noinline)) int trace_copy_fd_set(__u32 where, __u64 tag, __u64 addr, __u32 count)
{
	if (!addr)
		return 0;
	for (__u32 i = 0; i < FD_SET_WORDS && i * 64 < count; i++) {
		__u64 word;

		if (bpf_probe_read_user(&word, sizeof(word), (void *)(addr + i * 8)))
			break;
		if (count - i * 64 < 64)
			word &= (1ull << (count - i * 64)) - 1;
		if (word)
			trace_copy_fd_word(where, tag, word, i * 64);
	}
	return 0;
}

/* The files of the descriptors of the call. */
__attribute__((noinline)) int trace_copy_fds(__u32 where, __u32 exit)
{
	struct trace_scratch *s = bpf_map_lookup_elem(&scratches, &where);
	const struct trace_call *call;
	__u64 tag = TAG(0, TRACE_FD_OF_ARG, !!exit);
	__u32 array;

	if (!s)
		return 0;
	call = bpf_map_lookup_elem(&calls, &s->index);
	if (!call)
		return 0;
	for (__u32 i = 0; i < TRACE_ARGS && !exit; i++)
		if (call->fd_args >> i & 1)
			trace_copy_fd(where, tag | i, s->args[i]);
	if (!exit && call->fd_sets)
		for (__u32 i = 1; i <= 3; i++)
			trace_copy_fd_set(where, tag | i, s->args[i],
					  (__s32)s->args[0] < 0 ? 0 : (__u32)s->args[0]);
	if (exit && (__s64)s->ret < 0)
		return 0;
	if (exit && call->fd_ret)
		trace_copy_fd(where, TAG(0, TRACE_FD_OF_RESULT, 1), s->ret);
	array = call->fd_array - 1;
	if (array >= TRACE_ARGS || exit != (call->fd_array_n != 0))
		return 0;
	if (exit)
		trace_copy_fd_array(where, tag | array, s->args[array], call->fd_array_n, 4);
	else
		trace_copy_fd_array(where, tag | array, s->args[array], s->args[1], 8);
	return 0;
}

#endif
