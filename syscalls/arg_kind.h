/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the arguments and results of system calls, and the members of structs, are shown: the kinds
 * of syscalls/args.in and syscalls/structs.in, which tools/gen-call-table turns into C.
 */
#ifndef PB_SYSCALLS_ARG_KIND_H
#define PB_SYSCALLS_ARG_KIND_H

#include <stdint.h>

#include "syscalls/call_record.h"

enum show_as {
	/* Numbers. */
	SHOW_NONE, /* nothing is known: hexadecimal */
	SHOW_INT,
	SHOW_UINT,
	SHOW_LONG,
	SHOW_ULONG,
	SHOW_SIZE,
	SHOW_OFF,
	SHOW_OFF64,
	SHOW_U64,
	SHOW_HEX,
	SHOW_HEX32,
	SHOW_USHORT,
	SHOW_ADDR,
	SHOW_NEW_ADDR, /* of mremap: only with flags that use it */
	SHOW_PAGES,    /* of mmap2: in units of 4096 bytes */
	SHOW_HIDDEN,
	/* Numbers with a meaning. */
	SHOW_FD,
	SHOW_UFD,
	SHOW_DIRFD,
	SHOW_PID,
	SHOW_UID,
	SHOW_SIG,
	SHOW_DEV,
	SHOW_MKNOD_DEV,
	SHOW_CLOCKID,
	SHOW_TICKS, /* clock_t */
	SHOW_DATE,
	SHOW_STATUS, /* of a page: a node, or an error */
	SHOW_REBOOT_ARG,
	SHOW_LOG_LEN,
	SHOW_MODE,
	SHOW_OPEN_MODE, /* only with O_CREAT or O_TMPFILE */
	SHOW_MODET,
	SHOW_OCTAL64,
	SHOW_RLIM,
	SHOW_RLIM64,
	SHOW_IPC_KEY,
	SHOW_IPC_FLAGS,
	SHOW_IPC_CMD,
	SHOW_KEY_SERIAL,
	SHOW_IOPRIO,
	SHOW_PERSONA,
	SHOW_CAP_VERSION,
	SHOW_CLONE_FLAGS,
	SHOW_MEMFD_FLAGS,
	SHOW_OPEN_FLAGS,
	SHOW_OPEN_FLAGS64,
	SHOW_SECCOMP_FLAGS,
	SHOW_FLAGS,
	SHOW_FLAGS64,
	SHOW_ENUM,
	SHOW_ENUM_DEC, /* the number with its name in a comment */
	SHOW_TTY_OFLAG,
	SHOW_TTY_CFLAG,
	SHOW_IFINDEX,	 /* of a network interface */
	SHOW_TCP_STATES, /* bits by their number */
	/* Numbers that depend on another argument. */
	SHOW_SOCK_PROTOCOL,
	SHOW_SOCK_OPTION,
	SHOW_FUTEX_OP,
	SHOW_FUTEX_VAL,
	SHOW_FUTEX_TIMEOUT,
	SHOW_FUTEX_ADDR2,
	SHOW_FUTEX_VAL3,
	SHOW_PTRACE_REQUEST,
	SHOW_PRCTL_OPTION,
	SHOW_PRCTL_ARG,
	SHOW_PRCTL_REST,
	SHOW_PRCTL_TEXT, /* the same, and a string that it may point to */
	SHOW_ARCH_PRCTL_ARG,
	SHOW_KCMP_IDX,
	SHOW_IOCTL_CMD,
	SHOW_IOCTL_ARG,
	SHOW_FCNTL_ARG,
	SHOW_IPC_ARG,
	SHOW_SECCOMP_ARG,
	SHOW_QUOTA_CMD,
	SHOW_QUOTA_ID,
	SHOW_QUOTA_ADDR,
	SHOW_KEYCTL_ARG,
	/* Results. */
	SHOW_FCNTL,
	SHOW_PRCTL,
	SHOW_POLL,
	SHOW_SELECT,
	/* Memory. */
	SHOW_PATH,
	SHOW_STR,
	SHOW_BUF,
	SHOW_LOG_BUF, /* of syslog(2) */
	SHOW_RANDOM,  /* bytes that are no text */
	SHOW_CAP_DATA,
	SHOW_ARGV,
	SHOW_ENVP,
	SHOW_IOVEC,
	SHOW_IOVEC_ADDR, /* only the array: the buffers are another process's */
	SHOW_MSGHDR,
	SHOW_MMSGHDR,
	SHOW_MSGBUF,
	SHOW_SOCKADDR,
	SHOW_SOCKLEN,
	SHOW_SOCK_VALUE,
	SHOW_WAIT_STATUS,
	SHOW_CLONE_ARGS,
	SHOW_OPEN_HOW,
	SHOW_BPF_ATTR,
	SHOW_PERF_ATTR,
	SHOW_DENTS,
	SHOW_DENTS64,
	SHOW_CPU_SET,
	SHOW_CPU_SET_HEX,
	SHOW_MINCORE,
	SHOW_FILE_HANDLE,
	/* What a pointer with kind->is_ptr points to, besides numbers. */
	SHOW_STRUCT, /* of syscalls/structs.in */
	SHOW_STAT,
	SHOW_STATX,
	SHOW_STATFS,
	SHOW_SIGSET,
	SHOW_OLD_SIGSET,
	SHOW_SIGACTION,
	SHOW_SIGINFO,
	SHOW_SIGEVENT,
	SHOW_FD_SET,
	SHOW_EPOLL_DATA,
	SHOW_CHARS, /* char[N]: up to a NUL */
	SHOW_MAC,
	SHOW_TTY_CC, /* control characters of a terminal */
	SHOW_BTF,    /* of a type of the kernel's BTF; also a number */
	SHOW_KINDS,
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
	uint8_t value;	   /* enum show_as; of a pointer: of what it points to */
	uint8_t is_ptr;	   /* to a number or a struct; an array if count_by is not COUNT_NONE */
	uint8_t direction; /* enum arg_direction */
	uint8_t count_by;  /* enum count_kind */
	uint8_t count;
	uint16_t set;		     /* enum flag_set_id */
	uint16_t type;		     /* enum call_struct_id */
	uint32_t btf_type, btf_size; /* of SHOW_BTF: the type, and its bytes */
};

enum { FD_SET_BYTES = 2048 }; /* of a set of select(2), at most */

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
	struct arg_kind ret; /* SHOW_NONE: a number */
};

/* What the argument of an ioctl command is. SHOW_HIDDEN: it has none. */
struct ioctl_def {
	const char *command;
	struct arg_kind arg, arg_after; /* after: when the call has succeeded */
};

/* Made from syscalls/args.in, structs.in and ioctls.in; the calls are sorted by name. */
extern const struct call_struct call_structs[];
extern const struct call_def call_defs[];
extern const unsigned n_call_defs;
extern const struct ioctl_def ioctl_defs[];
extern const unsigned n_ioctl_defs;
extern const char *const call_class_names[]; /* by bit; ends with NULL */

/* The struct of a name in syscalls/structs.in; NULL: there is none. */
const struct call_struct *call_struct_named(const char *name);

/* Bytes of one element of what a kind of a pointer points to; 0: not known. */
uint32_t arg_kind_size(const struct arg_kind *kind, enum call_layout layout);

#endif
