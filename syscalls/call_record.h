/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the BPF program of trace and its reader have in common: a record for each system call in
 * the ring, and for each system call the memory that the program copies into it.
 *
 * A record is one call: the program keeps what it saw at the entry for each thread, adds the
 * result at the exit, and sends both together. It has only the bytes that are needed: the head,
 * n_args arguments, and then pieces, each with its data, padded to 8 bytes.
 *
 * This header is included by BPF programs: no includes but <linux/types.h>.
 */
#ifndef PB_SYSCALLS_CALL_RECORD_H
#define PB_SYSCALLS_CALL_RECORD_H

#include <linux/types.h>

enum {
	TRACE_ARGS = 6,
	/* System call numbers of an ABI: x86-64 ends at 472 in 7.2, x32's own are 512 to 547. */
	TRACE_NRS = 1024,
	/* The index of all numbers beyond the table. */
	TRACE_NR_OTHER = TRACE_NRS - 1,
	/*
	 * Copies for one call: pselect6(2) has three sets and a time, at the entry and the exit, a
	 * struct, and the signals that this points to.
	 */
	TRACE_COPIES = 12,
	/* Data of all pieces of a record; more is cut, and the piece says so. */
	TRACE_DATA_MAX = 16384,
};

/* The ABI that a call was made by; the index of call tables is abi * TRACE_NRS + nr. */
enum trace_abi {
	TRACE_ABI_NATIVE,
	TRACE_ABI_32,  /* int $0x80, a 32-bit program */
	TRACE_ABI_X32, /* the number without __X32_SYSCALL_BIT */
	TRACE_ABIS,
};

enum trace_record_flags {
	/* the thread was inside of the call when tracing began; args are what its registers had at
	 * the exit, and nothing was copied that is copied at the entry */
	TRACE_NO_ENTRY = 1 << 0,
	TRACE_NO_EXIT =
		1 << 1, /* exit, exit_group; the thread was killed; or tracing ended first */
	TRACE_RESTARTED = 1 << 2, /* restart_syscall, or a call that the kernel began again */
	TRACE_NO_PIECES = 1 << 3, /* those of the entry are lost */
	TRACE_STACK = 1 << 4,	  /* its call chain was put out as a perf event (trace/source.h) */
	/* the kernel has no entry of it, since a seccomp filter decided; enter_ns is exit_ns */
	TRACE_FILTERED = 1 << 5,
	/*
	 * Not a call: `nr` is an enum trace_event_kind, and exit_ns is enter_ns. There are no
	 * pieces.
	 */
	TRACE_EVENT = 1 << 6,
	TRACE_ENDED = 1 << 7, /* with TRACE_NO_EXIT: the thread ended in the call */
};

/* What happens to a thread between its calls. */
enum trace_event_kind {
	TRACE_EVENT_SIGNAL, /* `ret` is delivered; args: the first bytes of its siginfo_t */
	TRACE_EVENT_END,    /* the thread ends; `ret`: its status, as wait(2) has it */
};

struct trace_record {
	__u32 size;		 /* of the record, a multiple of 8 */
	__u16 nr;		 /* the lower half: see trace_record_nr() */
	__u8 abi;		 /* enum trace_abi */
	__u8 flags;		 /* enum trace_record_flags */
	__u64 enter_ns, exit_ns; /* CLOCK_MONOTONIC; 0: not seen */
	__s64 ret;
	__u32 pid, tid; /* in the initial namespace; at the entry: execve may change the tid */
	char comm[16];	/* of the thread, at the exit */
	__u32 cpu;
	__u8 n_args;
	__u8 n_pieces;
	__u16 nr_high;
	__u64 args[]; /* n_args of them, then the pieces */
};

static inline __u32 trace_record_nr(const struct trace_record *rec)
{
	return (__u32)rec->nr_high << 16 | rec->nr;
}

/* Where tables of calls have it. */
static inline __u32 trace_nr_index(__u32 abi, __u64 nr)
{
	return abi * TRACE_NRS + (nr < TRACE_NRS ? (__u32)nr : TRACE_NR_OTHER);
}

/*
 * Memory of the process that was copied. Pieces are in the order in which they were read. A piece
 * that could not be read at the entry is tried again at the exit, and is then after the others.
 * What has no address (NULL) or no length has no piece.
 */
struct trace_piece {
	__u8 arg;    /* 0 to 5 */
	__u8 copy;   /* which of the call's struct trace_copy it belongs to */
	__u8 exit;   /* 1: read at the exit */
	__u8 flags;  /* enum trace_piece_flags */
	__u8 part;   /* enum trace_part */
	__u8 index;  /* of a string in its array, of a message of mmsghdr, else of the iovec */
	__u16 len;   /* bytes of data[]; of a string without its NUL */
	__u64 addr;  /* where it was read */
	__u64 full;  /* bytes that there were, as far as it is known; of a string 0 */
	__u8 data[]; /* padded to 8 bytes with zeros */
};

enum trace_piece_flags {
	TRACE_PIECE_FAULT = 1 << 0, /* the address could not be read; what could be is in data */
	TRACE_PIECE_CUT = 1 << 1,   /* there was more: the limit of a string, or of the record */
};

/* What a piece is, where a copy has several. */
enum trace_part {
	TRACE_PART_SELF,    /* the string, the bytes, the msghdr or mmsghdr, the array of iovecs */
	TRACE_PART_STRING,  /* of STRINGS */
	TRACE_PART_NAME,    /* msg_name */
	TRACE_PART_IOVEC,   /* msg_iov */
	TRACE_PART_BUFFER,  /* of an iovec; those of a message follow its iovecs in order */
	TRACE_PART_CONTROL, /* msg_control */
	/*
	 * The file of a descriptor. `addr` is the descriptor, `copy` says whose it is (enum
	 * trace_fd_of), `index` is an enum trace_fd_kind, and `full` the number of the inode.
	 * data[] has the names of the path from the last to the first, each with its NUL; CUT: the
	 * first ones are missing. Of a socket, data[] has its family and its protocol, of 2 bytes
	 * each, and the number of its network namespace, of 4.
	 */
	TRACE_PART_FD,
	/* The strings of the new program, each with its NUL, from its own memory: execve(2). */
	TRACE_PART_AREA,
	/* Of POINTED; `index` is the number of the pointer. */
	TRACE_PART_POINTED,
};

enum trace_fd_of {
	TRACE_FD_OF_ARG,
	TRACE_FD_OF_RESULT,
};

/* What a file is, by which it is named. */
enum trace_fd_kind {
	TRACE_FD_UNKNOWN,
	TRACE_FD_PATH,
	TRACE_FD_DELETED, /* … that was removed */
	TRACE_FD_PIPE,
	TRACE_FD_SOCKET,
	TRACE_FD_ANON,	 /* anon_inode:NAME */
	TRACE_FD_PIDFD,	 /* a pidfd, which has no name */
	TRACE_FD_MEMORY, /* memfd_create(2), shared memory */
};

/* How the program finds the bytes to copy. */
enum trace_copy_kind {
	TRACE_COPY_NONE,
	TRACE_COPY_STRING, /* up to a NUL; at most `size` bytes, 0: 4096 */
	TRACE_COPY_BYTES,  /* `size` bytes */
	TRACE_COPY_COUNT,  /* argument `count_arg` times `size` bytes */
	/* the __u32 that argument count_arg points to: a socklen_t; at most `size` bytes, if not 0
	 */
	TRACE_COPY_COUNT_PTR,
	TRACE_COPY_RET, /* the result times `size` bytes: what read(2) read */
	/*
	 * An array of strings that ends with NULL: argv. First a piece without data, whose `full`
	 * is the number of strings (CUT: there are more), then a piece for each of the first
	 * `size`.
	 */
	TRACE_COPY_STRINGS,
	TRACE_COPY_IOVEC,   /* count_arg iovecs: a piece for the array, then one for each buffer */
	TRACE_COPY_MSGHDR,  /* a struct msghdr: itself, name, iovec array, buffers, control */
	TRACE_COPY_MMSGHDR, /* count_arg struct mmsghdr, or at the exit as many as the result */
	TRACE_COPY_POINTED, /* `size` bytes where pointer number count_arg of a struct points */
};

enum trace_copy_flags {
	TRACE_COPY_AT_EXIT = 1 << 0,  /* else at the entry */
	TRACE_COPY_IF_OK = 1 << 1,    /* at the exit: not if the call failed */
	TRACE_COPY_LIMITED = 1 << 2,  /* content: up to --string-size bytes */
	TRACE_COPY_BY_RET = 1 << 3,   /* buffers of an iovec or msghdr: no more than the result */
	TRACE_COPY_COUNT_32 = 1 << 4, /* the argument with the count is an int: its lower half */
	TRACE_COPY_BITS = 1 << 5,     /* COUNT of bits, in words of 64; at most `size` bytes */
};

struct trace_copy {
	__u8 kind, flags, arg, count_arg;
	__u32 size;
};

/* In fd_args: the first argument is read even if no paths are shown, to decode the others. */
#define TRACE_FD_NEEDED 0x80

/* A value of the map "calls", an array of TRACE_ABIS * TRACE_NRS. */
struct trace_call {
	__u8 traced; /* 0: neither recorded nor counted */
	__u8 n_args;
	__u8 n_copies;
	__u8 no_exit; /* it does not return: exit, exit_group; sent at the entry */
	/* trace_source_new() sets these: */
	__u16 at_entry, at_exit; /* bits: which copies */
	__u16 row;		 /* of the sums */
	/* The condition that selects it, plus 1: an index of the map "wheres"; 0: none. */
	__u16 where;
	/*
	 * The argument that says whether there is memory to copy, if by_command is set: bit i of
	 * `commands` is set if there is some for its value i; from 64 on there is none.
	 */
	__u8 by_command, command_arg;
	/* Descriptors: bits of the arguments, and TRACE_FD_NEEDED; whether the result is one. */
	__u8 fd_args, fd_ret;
	/*
	 * The argument, plus 1, that points to descriptors: fd_array_n of them after the call, or
	 * struct pollfd, as many as argument 1 says, before it if fd_array_n is 0.
	 */
	__u8 fd_array, fd_array_n;
	__u8 fd_sets;	/* 1: arguments 1 to 3 are sets of argument 0 descriptors */
	__u8 sigreturn; /* 1: argument 0 is where the stack has the signals to block */
	__u64 commands;
	struct trace_copy copies[TRACE_COPIES];
};

/* What was lost, in the order of the program's counters. */
enum trace_loss_kind {
	TRACE_LOST_RECORD, /* the ring had no room for the call */
	TRACE_LOST_THREAD, /* no memory for the thread's state: neither a record nor a sum */
	TRACE_LOST_PIECES, /* no memory for the pieces of the entry: sent as TRACE_NO_PIECES */
	TRACE_LOST_ROW,	   /* no memory for a row: a call that is missing in the sums */
	TRACE_LOST_ERRNO,  /* no memory for an error: it is in the sums, but not by its number */
	TRACE_LOST_STACK,  /* no room for the call chain; the record has no TRACE_STACK */
	TRACE_LOST_KINDS,
};

#endif
