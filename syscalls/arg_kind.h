/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the arguments and results of system calls, and the members of structs, are shown: the kinds
 * of syscalls/args.in and syscalls/structs.in, which tools/gen-call-table turns into C.
 */
#ifndef PB_SYSCALLS_ARG_KIND_H
#define PB_SYSCALLS_ARG_KIND_H

#include <stdint.h>

#include "syscalls/call_record.h"

enum value_kind {
	/* Numbers. */
	VALUE_NONE, /* nothing is known: hexadecimal */
	VALUE_INT,
	VALUE_UINT,
	VALUE_LONG,
	VALUE_ULONG,
	VALUE_SIZE,
	VALUE_OFF,
	VALUE_OFF64,
	VALUE_U64,
	VALUE_HEX,
	VALUE_HEX32,
	VALUE_ADDR,
	VALUE_NEW_ADDR, /* of mremap: only with flags that use it */
	VALUE_PAGES,	/* of mmap2: in units of 4096 bytes */
	VALUE_HIDDEN,
	/* Numbers with a meaning. */
	VALUE_FD,
	VALUE_UFD,
	VALUE_DIRFD,
	VALUE_PID,
	VALUE_UID,
	VALUE_SIG,
	VALUE_DEV,
	VALUE_MKNOD_DEV,
	VALUE_CLOCKID,
	VALUE_MODE,
	VALUE_OPEN_MODE, /* only with O_CREAT or O_TMPFILE */
	VALUE_MODET,
	VALUE_OCTAL64,
	VALUE_RLIM,
	VALUE_RLIM64,
	VALUE_IPC_KEY,
	VALUE_IPC_FLAGS,
	VALUE_IPC_CMD,
	VALUE_KEY_SERIAL,
	VALUE_IOPRIO,
	VALUE_PERSONA,
	VALUE_CAP_VERSION,
	VALUE_CLONE_FLAGS,
	VALUE_MEMFD_FLAGS,
	VALUE_OPEN_FLAGS,
	VALUE_OPEN_FLAGS64,
	VALUE_SECCOMP_FLAGS,
	VALUE_FLAGS,
	VALUE_FLAGS64,
	VALUE_FLAGS_DEC,
	VALUE_ENUM,
	VALUE_ENUM_DEC, /* the number with its name in a comment */
	/* Numbers that depend on another argument. */
	VALUE_SOCK_PROTOCOL,
	VALUE_SOCK_OPTION,
	VALUE_FUTEX_OP,
	VALUE_FUTEX_VAL,
	VALUE_FUTEX_TIMEOUT,
	VALUE_FUTEX_ADDR2,
	VALUE_FUTEX_VAL3,
	VALUE_PTRACE_REQUEST,
	VALUE_PRCTL_OPTION,
	VALUE_PRCTL_ARG,
	VALUE_PRCTL_REST,
	VALUE_ARCH_PRCTL_ARG,
	VALUE_KCMP_IDX,
	VALUE_IOCTL_CMD,
	VALUE_IOCTL_ARG,
	VALUE_FCNTL_ARG,
	VALUE_SEMCTL_ARG,
	VALUE_SECCOMP_ARG,
	/* Results. */
	VALUE_FCNTL,
	VALUE_POLL,
	VALUE_SELECT,
	/* Memory. */
	VALUE_PATH,
	VALUE_STR,
	VALUE_BUF,
	VALUE_ARGV,
	VALUE_ENVP,
	VALUE_IOVEC,
	VALUE_IOVEC_ADDR, /* only the array: the buffers are another process's */
	VALUE_MSGHDR,
	VALUE_MMSGHDR,
	VALUE_MSGBUF,
	VALUE_SOCKADDR,
	VALUE_SOCKLEN,
	VALUE_SOCK_VALUE,
	VALUE_SIGMASK_ARG,
	VALUE_WAIT_STATUS,
	VALUE_CLONE_ARGS,
	VALUE_OPEN_HOW,
	VALUE_BPF_ATTR,
	VALUE_PERF_ATTR,
	VALUE_DENTS,
	VALUE_DENTS64,
	VALUE_CPU_SET,
	VALUE_CPU_SET_HEX,
	VALUE_MINCORE,
	VALUE_FILE_HANDLE,
	/* What a pointer with kind->is_ptr points to, besides numbers. */
	VALUE_STRUCT, /* of syscalls/structs.in */
	VALUE_STAT,
	VALUE_STATX,
	VALUE_STATFS,
	VALUE_SIGSET,
	VALUE_OLD_SIGSET,
	VALUE_SIGACTION,
	VALUE_SIGINFO,
	VALUE_SIGEVENT,
	VALUE_SHMID_DS,
	VALUE_MSQID_DS,
	VALUE_FD_SET,
	VALUE_EPOLL_DATA,
	VALUE_CHARS, /* char[N]: up to a NUL */
	VALUE_KINDS,
};

enum count_kind {
	COUNT_NONE,
	COUNT_ARG,    /* argument `count` */
	COUNT_AT_ARG, /* the number that argument `count` points to */
	COUNT_RET,
	COUNT_FIXED, /* `count` */
};

enum arg_direction {
	ARG_READ = 1 << 0,    /* the call reads it */
	ARG_WRITTEN = 1 << 1, /* the call writes it */
	ARG_ALWAYS = 1 << 2,  /* also when it fails */
};

struct arg_kind {
	uint8_t value;	   /* enum value_kind; of a pointer: of what it points to */
	uint8_t is_ptr;	   /* to a number or a struct; an array if count_by is not COUNT_NONE */
	uint8_t direction; /* enum arg_direction */
	uint8_t count_by;  /* enum count_kind */
	uint8_t count;
	uint16_t set;  /* enum flag_set_id */
	uint16_t type; /* enum call_struct_id */
};

/* By which layout the structs of a call lie in memory. */
enum call_layout {
	LAYOUT_64,
	LAYOUT_32,
	LAYOUT_X32, /* and the calls of 32-bit programs with 64-bit times */
	LAYOUTS,
};

struct call_member {
	const char *name;
	struct arg_kind kind;
	uint8_t is_signed;
	uint8_t is_array;
	uint8_t hidden;
	uint8_t rest; /* follows the "|": only in full */
	struct {
		uint16_t off, size, n; /* of one element; elements */
	} at[LAYOUTS];
};

struct call_struct {
	const char *name;
	const struct call_member *members;
	uint16_t n;
	uint16_t size[LAYOUTS];
};

struct call_def {
	const char *name;
	uint64_t classes;
	uint8_t n_args;
	struct {
		const char *name;
		struct arg_kind kind;
	} args[TRACE_ARGS];
	struct arg_kind ret; /* VALUE_NONE: a number */
};

/* Made from syscalls/args.in and syscalls/structs.in; the calls are sorted by name. */
extern const struct call_struct call_structs[];
extern const struct call_def call_defs[];
extern const unsigned n_call_defs;
extern const char *const call_class_names[]; /* by bit; ends with NULL */

/* Bytes of one element of what a kind of a pointer points to; 0: not known. */
uint32_t arg_kind_size(const struct arg_kind *kind, enum call_layout layout);

#endif
