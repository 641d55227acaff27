/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What trace.bpf.c and source.c have in common beyond the records: settings, the state of a
 * thread, and the rows of the sums. Included by BPF programs: no includes but <linux/types.h>.
 */
#ifndef PB_TRACE_TRACE_MAPS_H
#define PB_TRACE_TRACE_MAPS_H

#include <linux/types.h>

#include "syscalls/call_record.h"

enum {
	/* What was copied at the entry and is kept with the thread; more goes to a store. */
	TRACE_INLINE = 320,
	TRACE_PIECES = 127,
	TRACE_HEAD = sizeof(struct trace_record) + TRACE_ARGS * 8,
	/* A record: the head, data, and for each piece its head and up to 7 bytes of padding. */
	TRACE_RECORD_MAX = TRACE_HEAD + TRACE_DATA_MAX + TRACE_PIECES * 32,
	/* Entries whose copies are larger than TRACE_INLINE, at the same time. */
	TRACE_STORES = 512,
	/* Powers of two that the sums count apart: 2^47 ns are 39 hours. */
	TRACE_SLOTS = 48,
	TRACE_UIDS = 16,
};

/* What has sums of its own. */
enum trace_sums_by {
	TRACE_SUMS_TOTAL,
	TRACE_SUMS_BY_THREAD,
	TRACE_SUMS_BY_CGROUP, /* of cgroup2, by the cgroup in which the call ended */
};

/* Constant once the program is loaded; the verifier removes what is not needed. */
struct trace_config {
	__u64 min_ns;
	__u64 signals; /* bit N - 1: records of signal N */
	__u32 string_size;
	__u32 wake_bytes; /* in the ring: half of it */
	__u32 wake_step;  /* bytes from one wake-up to the next */
	__u32 pid_ns; /* the ids here and in records are of this PID namespace; 0: the initial */
	__u32 self;   /* the process of perf-bpf */
	__u32 n_uids;
	__u32 uids[TRACE_UIDS];
	__u32 own_uid, own_gid; /* see own */
	__u8 task_storage;	/* states are in the task storage, else in the hash */
	__u8 events, summary;
	__u8 sums_by; /* enum trace_sums_by */
	__u8 failed_only;
	__u8 cgroup;
	__u8 exclude; /* the map has processes */
	__u8 copies;  /* some call has memory to copy */
	__u8 where;   /* some call has a condition */
	__u8 own;     /* only processes that the user own_uid may trace: <bpf/perf_bpf_own.h> */
	__u8 fds;     /* the files of descriptors */
	__u8 stacks;  /* call chains of the calls that are sent, at their exit */
	__u8 ends;    /* records of threads that end */
};

/* Changes while the program runs. */
struct trace_live {
	__u64 last_wake;    /* where the ring ended at the last wake-up */
	__u32 targeted;	    /* only the threads of pids and tids, and who descends from them */
	__u32 stateless;    /* 1: the map of that name has, or had, threads */
	__u64 not_followed; /* children for which that map had no room, either */
	__u32 ending;	    /* 1: the program at the entries is no longer attached */
	__u32 started;	    /* 1: all programs are attached */
};

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"
#endif

/*
 * The state of a thread. Who has one is traced. The record is kept as it is sent: the head,
 * n_args arguments, and behind them the pieces that were read at the entry, unless those are
 * in a store.
 */
struct trace_state {
	__u32 index;   /* of the call, in the map "calls" */
	__u32 len;     /* of the record so far */
	__u16 faulted; /* bits: copies that are read again at the exit */
	__u16 again;   /* the call that was interrupted, plus 1; 0: none was */
	__u32 store;   /* the store that has the record's bytes, plus 1; 0: none */
	__u64 mm;      /* of the entry, if something faulted: execve replaces the memory */
	/* The condition's texts at the entry (call_where.h): bits of what is known and true. */
	__u32 where_known, where_matched;
	__u8 rejected;	      /* by the condition, at the entry: its exit is nobody's */
	__u8 where_open;      /* the exit decides */
	__u8 where_sure;      /* the call is selected if it has no exit */
	__u8 late;	      /* an exit without an entry was sent, and no entry seen since */
	__u8 settled;	      /* an entry or exit was seen since all programs are attached */
	__u8 skipped;	      /* the entry was not selected, which may differ at the exit */
	__u8 strings_faulted; /* of execve's arrays */
	__u8 in_call;
	__u8 netlink; /* the call's socket is of AF_NETLINK */
	__u8 reserved[7];
	struct trace_record rec;
	__u64 args[TRACE_ARGS];
	/*
	 * One word more than is used: Linux 5.10 forgets that there are at most TRACE_ARGS
	 * arguments before it, where it knows that they are 7 at most.
	 */
	__u8 data[TRACE_INLINE + 8];
};

/* A CPU's place to put a record together: one for entries, one for exits. */
struct trace_scratch {
	__u32 index;	      /* of the call */
	__u32 len;	      /* of the record so far */
	__u32 data;	      /* bytes of data in it */
	__u8 compat;	      /* pointers have 4 bytes */
	__u8 strings_faulted; /* some string of an array could not be read */
	__u8 buffer_faulted;  /* some buffer of the copy at hand could not be read */
	__u8 netlink;
	__u32 limit;   /* of the contents of the copy at hand */
	__u32 faulted; /* bits: copies that are read again at the exit */
	/* The file of a descriptor: where its path is followed, and the bytes of names so far. */
	__u64 walk_dentry, walk_mount;
	__u32 walk_len, walk_kind; /* enum trace_fd_kind */
	__u64 ret;
	__u64 left;	/* bytes of buffers that the result lets us copy */
	__u64 words[2]; /* of the process, where the stack has no room for them */
	__u64 args[TRACE_ARGS];
	struct trace_record rec;
	__u64 rec_args[TRACE_ARGS];
	/* Room behind the largest record: the verifier adds up the limits of offset and length. */
	__u8 rest[TRACE_RECORD_MAX - TRACE_HEAD + TRACE_DATA_MAX + 64];
};

#ifdef __clang__
#pragma clang diagnostic pop
#endif

/*
 * What the perf event with the call chain of a call has of its record: the bytes from exit_ns on,
 * which no two calls have in common.
 */
struct trace_stack_key {
	__u64 exit_ns;
	__s64 ret;
	__u32 pid, tid;
};

struct trace_store {
	__u8 rec[TRACE_RECORD_MAX + 8];
};

/* The sums of a call. */
struct trace_row {
	__u64 calls, errors, unfinished;
	__u64 total_ns, min_ns, max_ns;
	__u64 squares_low, squares_high; /* 128 bits of ns^2 */
	__u64 slots[TRACE_SLOTS];
};

struct trace_thread_key {
	__u32 tid;
	__u32 row;
};

struct trace_thread_row {
	__u32 pid;
	__u32 reserved;
	char comm[16];
	struct trace_row sums;
};

struct trace_cgroup_key {
	__u64 cgroup; /* its id */
	__u32 row;
	__u32 cpu;
};

struct trace_errno_key {
	__u64 id; /* of the thread or cgroup; 0 in total */
	__u16 row;
	__u16 err;
	__u32 reserved;
};

/* Counted on each CPU by call. */
struct trace_lost {
	__u64 n[TRACE_LOST_KINDS];
};

#endif
