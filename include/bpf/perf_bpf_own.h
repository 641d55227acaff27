/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For BPF programs: whether a process is one whose memory a user without privileges may see, one
 * that this user could trace with ptrace(2). The uid alone does not say that: passwd and sudo have
 * it, and read /etc/shadow. So it is what __ptrace_may_access() of kernel/ptrace.c and
 * cap_ptrace_access_check() of security/commoncap.c ask:
 *
 *	- all uids are the user's, and all gids the one of the process that asked
 *	- it is dumpable: not since it executed a set-user-ID program, one with file capabilities or
 *	  one that the user cannot read, or changed its ids, or asked for that (ssh-agent)
 *	- it has no capability, unless in a user namespace of that user
 *
 * Other security modules are not asked (Yama, for example, which knows only of the parent). The
 * answer changes while a process lives, so each call asks, at its entry and at its exit, before
 * anything is read. What the kernel does not have under these names fails to load.
 */
#ifndef PERF_BPF_OWN_H
#define PERF_BPF_OWN_H

#include "bpf_core_read.h"
#include "bpf_helpers.h"

enum {
	___PERF_BPF_USER_NS_DEPTH = 34,	  /* create_user_ns() allows 33 below the initial one */
	___PERF_BPF_DUMPABLE_MASK = 3,	  /* MMF_DUMPABLE_MASK */
	___PERF_BPF_DUMPABLE_BY_USER = 1, /* SUID_DUMP_USER */
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernel_id___own {
	__u32 val;
};

struct user_namespace___own {
	struct user_namespace___own *parent;
	int level;
	struct kernel_id___own owner;
};

struct cap_set___own {
	__u64 val; /* before 6.3: two of 32 bits */
};

struct cred___own {
	struct kernel_id___own uid, gid, suid, sgid, euid, egid, fsuid, fsgid;
	struct cap_set___own cap_permitted;
	struct user_namespace___own *user_ns;
};

struct mm_struct___flags {
	unsigned long flags;
};

/* 6.18 */
struct mm_struct___bitmap {
	struct {
		unsigned long __mm_flags[1];
	} flags;
};

struct task_struct___own {
	const struct cred___own *real_cred;
	void *mm;
};

#pragma clang attribute pop

static __always_inline __attribute__((unused)) int
___perf_bpf_is_dumpable(const struct task_struct___own *task)
{
	const void *mm = BPF_CORE_READ(task, mm);
	unsigned long flags = 0;

	if (!mm)
		return 0;
	if (bpf_core_field_exists(struct mm_struct___bitmap, flags.__mm_flags))
		bpf_core_read(&flags, sizeof(flags),
			      &((const struct mm_struct___bitmap *)mm)->flags.__mm_flags);
	else
		bpf_core_read(&flags, sizeof(flags),
			      &((const struct mm_struct___flags *)mm)->flags);
	return (flags & ___PERF_BPF_DUMPABLE_MASK) == ___PERF_BPF_DUMPABLE_BY_USER;
}

/* Capabilities count in a user namespace and those below it; its owner has them all. */
static __always_inline __attribute__((unused)) int
___perf_bpf_has_no_more_rights(const struct cred___own *cred, __u32 uid)
{
	const struct user_namespace___own *ns = BPF_CORE_READ(cred, user_ns);
	int level = BPF_CORE_READ(ns, level);

	if (level <= 0) {
		__u64 caps = ~0ull;

		bpf_core_read(&caps, sizeof(caps), &cred->cap_permitted);
		return !caps;
	}
	for (int i = 0; i < ___PERF_BPF_USER_NS_DEPTH && level > 1; i++) {
		ns = BPF_CORE_READ(ns, parent);
		level = BPF_CORE_READ(ns, level);
		barrier_var(i);
	}
	return level == 1 && BPF_CORE_READ(ns, owner.val) == uid;
}

/* of: a struct task_struct *. The user, and the gid of the process that asked. */
static __always_inline __attribute__((unused)) int perf_bpf_is_own(const void *of, __u32 uid,
								   __u32 gid)
{
	const struct task_struct___own *task = of;
	const struct cred___own *cred = BPF_CORE_READ(task, real_cred);

	return BPF_CORE_READ(cred, uid.val) == uid && BPF_CORE_READ(cred, euid.val) == uid &&
	       BPF_CORE_READ(cred, suid.val) == uid && BPF_CORE_READ(cred, fsuid.val) == uid &&
	       BPF_CORE_READ(cred, gid.val) == gid && BPF_CORE_READ(cred, egid.val) == gid &&
	       BPF_CORE_READ(cred, sgid.val) == gid && BPF_CORE_READ(cred, fsgid.val) == gid &&
	       ___perf_bpf_has_no_more_rights(cred, uid) && ___perf_bpf_is_dumpable(task);
}

#endif
