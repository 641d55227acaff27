// SPDX-License-Identifier: BSD-2-Clause
/*
 * The filter of system calls: a classic BPF program over struct seccomp_data (seccomp(2)). It sees
 * the number and the six arguments, never what a pointer leads to.
 *
 *	architecture is not ours, or x32:	kill the process
 *	number is in the list:			allow, where its check passes
 *	number is higher than all we know:	ENOSYS, as clone3
 *	else:					EPERM
 *
 * The list is the calls of our own code, of libelf, libdw, zlib, zstd, and of glibc from Debian 12
 * on, which prefers newer calls (rseq, clone3, faccessat2) and goes back to older ones where they
 * fail with ENOSYS. So a call that is newer than this file must fail like that, and not with
 * EPERM. The list is searched from its beginning: what is called most comes first. Since 5.11 the
 * kernel remembers the numbers that are always allowed and does not run the program for them.
 *
 * A number that the build's headers do not know is written out here: from 424 on they are the same
 * on every architecture.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/sanitized.h"
#include "lib/sys/bpf_syscall.h"
#include "lib/sys/confine_internal.h"

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

enum {
	X32_BIT = 0x40000000,
	MAX_INSNS = 1024,
	ALWAYS = 0, /* in the place of a group */

	NR_PIDFD_SEND_SIGNAL = 424,
	NR_PIDFD_OPEN = 434,
	NR_CLONE3 = 435,
	NR_CLOSE_RANGE = 436,
	NR_FACCESSAT2 = 439,
	NR_EPOLL_PWAIT2 = 441,
	NR_LANDLOCK_CREATE_RULESET = 444,
	NR_LANDLOCK_ADD_RULE = 445,
	NR_LANDLOCK_RESTRICT_SELF = 446,
	NR_FUTEX_WAITV = 449,
	NR_NEWEST = 469, /* file_setattr, Linux 6.17: what is newer was not considered */
};

/* What an argument must be; only its lower half is looked at, as the kernel does with an int. */
enum arg_check {
	ANY,
	BITS_CLEAR, /* none of the bits of value */
	BITS_SET,   /* all of them */
	ONE_OF,	    /* one of values */
	OWN_PID,
	IS_NULL, /* a pointer */
};

struct call_rule {
	unsigned group, nr;
	enum arg_check check;
	unsigned arg;
	uint32_t value;
	const uint32_t *values; /* ended by END_OF_VALUES */
};

#define END_OF_VALUES UINT32_MAX
#define WRITE_FLAGS   (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

static const uint32_t query_ioctls[] = {TCGETS, TIOCGWINSZ, TIOCGPGRP, END_OF_VALUES};

/* The name of a network device, which a link or a netlink message has by its number. */
static const uint32_t look_ioctls[] = {SIOCGIFNAME, END_OF_VALUES};

static const uint32_t wait_ioctls[] = {
	TIOCSPGRP, TCSETS, TCSETSW, TCSETSF, FIONREAD, END_OF_VALUES,
};

static const uint32_t perf_ioctls[] = {
	PERF_EVENT_IOC_ENABLE,	   PERF_EVENT_IOC_DISABLE,	PERF_EVENT_IOC_ID,
	PERF_EVENT_IOC_SET_OUTPUT, PERF_EVENT_IOC_SET_FILTER,	PERF_EVENT_IOC_SET_BPF,
	PERF_EVENT_IOC_QUERY_BPF,  PERF_EVENT_IOC_PAUSE_OUTPUT, END_OF_VALUES,
};

/* Nothing is loaded, created or pinned any more. */
static const uint32_t bpf_commands[] = {
	BPF_MAP_LOOKUP_ELEM,
	BPF_MAP_UPDATE_ELEM,
	BPF_MAP_DELETE_ELEM,
	BPF_MAP_GET_NEXT_KEY,
	BPF_MAP_LOOKUP_AND_DELETE_ELEM,
	BPF_MAP_LOOKUP_BATCH,
	BPF_MAP_LOOKUP_AND_DELETE_BATCH,
	BPF_MAP_UPDATE_BATCH,
	BPF_MAP_DELETE_BATCH,
	BPF_PROG_GET_NEXT_ID,
	BPF_MAP_GET_NEXT_ID,
	BPF_BTF_GET_NEXT_ID,
	BPF_LINK_GET_NEXT_ID,
	BPF_PROG_GET_FD_BY_ID,
	BPF_MAP_GET_FD_BY_ID,
	BPF_BTF_GET_FD_BY_ID,
	BPF_LINK_GET_FD_BY_ID,
	BPF_OBJ_GET_INFO_BY_FD,
	BPF_TASK_FD_QUERY,
	BPF_PROG_QUERY,
	BPF_LINK_DETACH,
	BPF_ITER_CREATE,
	END_OF_VALUES,
};

static const uint32_t look_commands[] = {
	BPF_MAP_LOOKUP_ELEM,	BPF_MAP_GET_NEXT_KEY, BPF_MAP_LOOKUP_BATCH,  BPF_PROG_GET_NEXT_ID,
	BPF_MAP_GET_NEXT_ID,	BPF_BTF_GET_NEXT_ID,  BPF_LINK_GET_NEXT_ID,  BPF_PROG_GET_FD_BY_ID,
	BPF_MAP_GET_FD_BY_ID,	BPF_BTF_GET_FD_BY_ID, BPF_LINK_GET_FD_BY_ID, BPF_OBJ_GET,
	BPF_OBJ_GET_INFO_BY_FD, BPF_TASK_FD_QUERY,    BPF_PROG_QUERY,	     BPF_ITER_CREATE,
	END_OF_VALUES,
};

static const uint32_t load_commands[] = {BPF_PROG_LOAD, BPF_MAP_CREATE, BPF_MAP_UPDATE_ELEM,
					 BPF_BTF_LOAD, END_OF_VALUES};

static const uint32_t pin_commands[] = {BPF_OBJ_PIN, END_OF_VALUES};

static const uint32_t attach_commands[] = {BPF_LINK_CREATE, BPF_RAW_TRACEPOINT_OPEN, END_OF_VALUES};

/* The names of memory are set by newer C libraries, if the kernel has them. */
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
static const uint32_t own_prctls[] = {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_SET_VMA,
				      END_OF_VALUES};
static const uint32_t again_prctls[] = {PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_CAP_AMBIENT,
					PR_SET_NO_NEW_PRIVS, END_OF_VALUES};

/* clang-format off */
#define CALL(group, name) {group, SYS_##name, ANY, 0, 0, NULL}
static const struct call_rule rules[] = {
	CALL(ALWAYS, read),
	CALL(ALWAYS, write),
	CALL(ALWAYS, brk),
	CALL(ALWAYS, munmap),
	CALL(ALWAYS, mremap),
	CALL(ALWAYS, madvise),
	CALL(ALWAYS, close),
#if SANITIZED
	CALL(ALWAYS, mmap),
	CALL(ALWAYS, mprotect),
#else
	{ALWAYS, SYS_mmap, BITS_CLEAR, 2, PROT_EXEC, NULL},
	{ALWAYS, SYS_mprotect, BITS_CLEAR, 2, PROT_EXEC, NULL},
#endif
	CALL(CONFINE_WAIT | CONFINE_SERVE, epoll_pwait),
#ifdef SYS_epoll_wait
	CALL(CONFINE_WAIT | CONFINE_SERVE, epoll_wait),
#endif
	{CONFINE_WAIT | CONFINE_SERVE, NR_EPOLL_PWAIT2, ANY, 0, 0, NULL},

	/* files that are open */
	CALL(ALWAYS, readv),
	{ALWAYS, SYS_sendto, IS_NULL, 4, 0, NULL}, /* to whom it is connected */
	CALL(ALWAYS, writev),
	CALL(ALWAYS, pread64),
	CALL(ALWAYS, pwrite64),
	CALL(ALWAYS, ftruncate),
	CALL(ALWAYS, lseek),
	CALL(ALWAYS, fcntl),
	CALL(ALWAYS, dup),
	CALL(ALWAYS, dup3),
#ifdef SYS_dup2
	CALL(ALWAYS, dup2),
#endif
	CALL(ALWAYS, fstat),
	CALL(ALWAYS, fstatfs),
	CALL(ALWAYS, fadvise64),
	CALL(ALWAYS, fsync),
	CALL(ALWAYS, fdatasync),
	CALL(ALWAYS, newfstatat), /* of "" by glibc's fstat() */
	CALL(ALWAYS, ppoll),
#ifdef SYS_poll
	CALL(ALWAYS, poll),
#endif
	{ALWAYS, NR_CLOSE_RANGE, ANY, 0, 0, NULL},
	{ALWAYS, SYS_ioctl, ONE_OF, 1, 0, query_ioctls},

	/* the process itself */
	CALL(ALWAYS, futex),
	{ALWAYS, NR_FUTEX_WAITV, ANY, 0, 0, NULL},
	CALL(ALWAYS, clock_gettime),
	CALL(ALWAYS, clock_getres),
	CALL(ALWAYS, clock_nanosleep),
	CALL(ALWAYS, nanosleep),
	CALL(ALWAYS, gettimeofday),
#ifdef SYS_time
	CALL(ALWAYS, time),
#endif
	CALL(ALWAYS, times),
	CALL(ALWAYS, getrusage),
	CALL(ALWAYS, sysinfo),
	CALL(ALWAYS, uname),
	CALL(ALWAYS, getrandom),
	CALL(ALWAYS, membarrier),
	CALL(ALWAYS, mincore),
	CALL(ALWAYS, rseq),
	CALL(ALWAYS, set_robust_list),
	CALL(ALWAYS, set_tid_address),
	CALL(ALWAYS, sched_yield),
	CALL(ALWAYS, sched_getaffinity),
	CALL(ALWAYS, getcpu),
	CALL(ALWAYS, getpid),
	CALL(ALWAYS, gettid),
	CALL(ALWAYS, getppid),
	CALL(ALWAYS, getpgid),
#ifdef SYS_getpgrp
	CALL(ALWAYS, getpgrp),
#endif
	CALL(ALWAYS, getsid),
	CALL(ALWAYS, getuid),
	CALL(ALWAYS, geteuid),
	CALL(ALWAYS, getgid),
	CALL(ALWAYS, getegid),
	CALL(ALWAYS, getresuid),
	CALL(ALWAYS, getresgid),
	CALL(ALWAYS, getgroups),
	CALL(ALWAYS, capget),
	CALL(ALWAYS, rt_sigaction),
	CALL(ALWAYS, rt_sigprocmask),
	CALL(ALWAYS, rt_sigreturn),
	CALL(ALWAYS, rt_sigpending),
	CALL(ALWAYS, sigaltstack),
	CALL(ALWAYS, restart_syscall),
	CALL(ALWAYS, exit),
	CALL(ALWAYS, exit_group),
	/* reading limits only: the new one is NULL */
	{ALWAYS, SYS_prlimit64, IS_NULL, 2, 0, NULL},
#ifdef SYS_getrlimit
	CALL(ALWAYS, getrlimit),
#endif
	{ALWAYS, SYS_kill, OWN_PID, 0, 0, NULL},
	{ALWAYS, SYS_tgkill, OWN_PID, 0, 0, NULL},
	{ALWAYS, SYS_prctl, ONE_OF, 0, 0, own_prctls},

	CALL(CONFINE_WRITE, openat), /* before the check of CONFINE_READ, which then does not matter */
	{CONFINE_READ, SYS_openat, BITS_CLEAR, 2, WRITE_FLAGS, NULL},
#ifdef SYS_open
	CALL(CONFINE_WRITE, open),
	{CONFINE_READ, SYS_open, BITS_CLEAR, 1, WRITE_FLAGS, NULL},
#endif
#ifdef SYS_stat
	CALL(CONFINE_READ, stat),
	CALL(CONFINE_READ, lstat),
	CALL(CONFINE_READ, access),
	CALL(CONFINE_READ, readlink),
	CALL(CONFINE_READ, getdents),
#endif
	CALL(CONFINE_READ, statx),
	CALL(CONFINE_READ, statfs),
	CALL(CONFINE_READ, faccessat),
	{CONFINE_READ, NR_FACCESSAT2, ANY, 0, 0, NULL},
	CALL(CONFINE_READ, readlinkat),
	CALL(CONFINE_READ, getdents64),
	CALL(CONFINE_READ, getcwd),
	CALL(CONFINE_READ, readahead),
	CALL(CONFINE_READ, fgetxattr),

	CALL(CONFINE_CPU_TIMER, setitimer),

	CALL(CONFINE_WRITE, pwritev),
	CALL(CONFINE_WRITE, fallocate),
	CALL(CONFINE_WRITE, sync_file_range),
	CALL(CONFINE_WRITE, copy_file_range),
	CALL(CONFINE_WRITE, sendfile),
	CALL(CONFINE_WRITE, flock),
	CALL(CONFINE_WRITE, fchmod),
	CALL(CONFINE_WRITE, fsetxattr),
	CALL(CONFINE_WRITE, umask),
	CALL(CONFINE_WRITE, utimensat),
	CALL(CONFINE_WRITE, mkdirat),
	CALL(CONFINE_WRITE, unlinkat),
	CALL(CONFINE_WRITE, linkat),
	CALL(CONFINE_WRITE, symlinkat),
	CALL(CONFINE_WRITE, renameat2),
#ifdef SYS_renameat
	CALL(CONFINE_WRITE, renameat),
#endif
#ifdef SYS_rename
	CALL(CONFINE_WRITE, rename),
	CALL(CONFINE_WRITE, unlink),
	CALL(CONFINE_WRITE, mkdir),
	CALL(CONFINE_WRITE, rmdir),
	CALL(CONFINE_WRITE, link),
	CALL(CONFINE_WRITE, symlink),
#endif

	CALL(CONFINE_WAIT | CONFINE_SERVE, epoll_create1),
	CALL(CONFINE_WAIT | CONFINE_SERVE, epoll_ctl),
	CALL(CONFINE_WAIT | CONFINE_SERVE, timerfd_create),
	CALL(CONFINE_WAIT | CONFINE_SERVE, timerfd_settime),
	CALL(CONFINE_WAIT, signalfd4),
	CALL(CONFINE_WAIT, eventfd2),
	CALL(CONFINE_WAIT, pipe2),
	CALL(CONFINE_WAIT, pselect6),
	CALL(CONFINE_WAIT, wait4),
	CALL(CONFINE_WAIT, waitid),
	CALL(CONFINE_WAIT, kill),
	{CONFINE_WAIT, NR_PIDFD_OPEN, ANY, 0, 0, NULL},
	{CONFINE_WAIT, NR_PIDFD_SEND_SIGNAL, ANY, 0, 0, NULL},
	CALL(CONFINE_WAIT, setpgid),
	CALL(CONFINE_WAIT, timer_create),
	CALL(CONFINE_WAIT, timer_settime),
	CALL(CONFINE_WAIT, timer_delete),
	{CONFINE_WAIT, SYS_ioctl, ONE_OF, 1, 0, wait_ioctls},

	{CONFINE_BPF, SYS_bpf, ONE_OF, 0, 0, bpf_commands},
	{CONFINE_LOOK, SYS_bpf, ONE_OF, 0, 0, look_commands},
	{CONFINE_LOAD, SYS_bpf, ONE_OF, 0, 0, load_commands},
	{CONFINE_PIN, SYS_bpf, ONE_OF, 0, 0, pin_commands},
	{CONFINE_ATTACH, SYS_bpf, ONE_OF, 0, 0, attach_commands},
	CALL(CONFINE_ATTACH, perf_event_open),
	{CONFINE_BPF | CONFINE_LOOK | CONFINE_ATTACH, SYS_ioctl, ONE_OF, 1, 0, perf_ioctls},
	{CONFINE_LOOK | CONFINE_BPF, SYS_ioctl, ONE_OF, 1, 0, look_ioctls},

	CALL(CONFINE_SERVE, accept4),
	CALL(CONFINE_SERVE | CONFINE_PASS, recvfrom),
	CALL(CONFINE_SERVE, sendto),
	CALL(CONFINE_SERVE | CONFINE_TAKE, recvmsg),
	CALL(CONFINE_PASS, sendmsg),
	CALL(CONFINE_READ | CONFINE_PASS, memfd_create),

	/* no processes: clone3, whose flags the filter cannot see, has none */
	{CONFINE_THREAD, SYS_clone, BITS_SET, 0, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, NULL},

	/* of the calling thread */
	{CONFINE_THREAD, SYS_sched_setaffinity, IS_NULL, 0, 0, NULL},

	CALL(CONFINE_AGAIN, capset),
	CALL(CONFINE_AGAIN, seccomp),
	{CONFINE_AGAIN, NR_LANDLOCK_CREATE_RULESET, ANY, 0, 0, NULL},
	{CONFINE_AGAIN, NR_LANDLOCK_ADD_RULE, ANY, 0, 0, NULL},
	{CONFINE_AGAIN, NR_LANDLOCK_RESTRICT_SELF, ANY, 0, 0, NULL},
	{CONFINE_AGAIN, SYS_prctl, ONE_OF, 0, 0, again_prctls},

#if SANITIZED
	/* The leak checker stops the process by a child that traces it; builds for tests only. */
	CALL(ALWAYS, clone),
	CALL(ALWAYS, ptrace),
	CALL(ALWAYS, wait4),
	CALL(ALWAYS, kill),
	CALL(ALWAYS, prctl),
	CALL(ALWAYS, openat),
	CALL(ALWAYS, readlinkat),
	CALL(ALWAYS, getdents64),
#ifdef SYS_open
	CALL(ALWAYS, open),
	CALL(ALWAYS, readlink),
	CALL(ALWAYS, stat),
#endif
#endif
};
#undef CALL
/* clang-format on */

struct call_filter {
	struct sock_filter insns[MAX_INSNS];
	size_t n;
	bool full;
};

static void emit(struct call_filter *f, uint16_t code, uint32_t k, size_t yes, size_t no)
{
	if (f->n == MAX_INSNS || yes > UINT8_MAX || no > UINT8_MAX) {
		f->full = true;
		return;
	}
	f->insns[f->n++] = (struct sock_filter){code, (uint8_t)yes, (uint8_t)no, k};
}

static void emit_return(struct call_filter *f, uint32_t action)
{
	emit(f, BPF_RET | BPF_K, action, 0, 0);
}

static void emit_load(struct call_filter *f, size_t offset)
{
	emit(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the halves of an argument are in the other order"
#endif
static size_t arg_low(unsigned arg)
{
	return offsetof(struct seccomp_data, args) + 8 * arg;
}

/*
 * A rule: if the number is another one, or the check fails, the program continues behind it with
 * the number in the accumulator.
 */
static void emit_rule(struct call_filter *f, const struct call_rule *rule)
{
	const uint16_t is_equal = BPF_JMP | BPF_JEQ | BPF_K, has_bits = BPF_JMP | BPF_JSET | BPF_K;
	const size_t number = offsetof(struct seccomp_data, nr);
	size_t n = 0;

	switch (rule->check) {
	case ANY:
		emit(f, is_equal, rule->nr, 0, 1);
		emit_return(f, SECCOMP_RET_ALLOW);
		return;
	case BITS_CLEAR:
		emit(f, is_equal, rule->nr, 0, 4);
		emit_load(f, arg_low(rule->arg));
		emit(f, has_bits, rule->value, 1, 0);
		emit_return(f, SECCOMP_RET_ALLOW);
		break;
	case BITS_SET:
		emit(f, is_equal, rule->nr, 0, 5);
		emit_load(f, arg_low(rule->arg));
		emit(f, BPF_ALU | BPF_AND | BPF_K, rule->value, 0, 0);
		emit(f, is_equal, rule->value, 0, 1);
		emit_return(f, SECCOMP_RET_ALLOW);
		break;
	case OWN_PID:
		emit(f, is_equal, rule->nr, 0, 4);
		emit_load(f, arg_low(rule->arg));
		emit(f, is_equal, (uint32_t)getpid(), 0, 1);
		emit_return(f, SECCOMP_RET_ALLOW);
		break;
	case IS_NULL:
		emit(f, is_equal, rule->nr, 0, 6);
		emit_load(f, arg_low(rule->arg));
		emit(f, is_equal, 0, 0, 3);
		emit_load(f, arg_low(rule->arg) + 4);
		emit(f, is_equal, 0, 0, 1);
		emit_return(f, SECCOMP_RET_ALLOW);
		break;
	case ONE_OF:
		while (rule->values[n] != END_OF_VALUES)
			n++;
		emit(f, is_equal, rule->nr, 0, n + 4);
		emit_load(f, arg_low(rule->arg));
		for (size_t i = 0; i < n; i++)
			emit(f, is_equal, rule->values[i], n - i, 0);
		emit(f, BPF_JMP | BPF_JA, 1, 0, 0);
		emit_return(f, SECCOMP_RET_ALLOW);
		break;
	}
	emit_load(f, number);
}

static void make_filter(struct call_filter *f, unsigned groups)
{
	emit_load(f, offsetof(struct seccomp_data, arch));
	emit(f, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
	emit_return(f, SECCOMP_RET_KILL_PROCESS);
	emit_load(f, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
	emit(f, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
	emit_return(f, SECCOMP_RET_KILL_PROCESS);
#endif
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (!rules[i].group || rules[i].group & groups)
			emit_rule(f, &rules[i]);
	emit(f, BPF_JMP | BPF_JEQ | BPF_K, NR_CLONE3, 1, 0);
	emit(f, BPF_JMP | BPF_JGT | BPF_K, NR_NEWEST, 0, 1);
	emit_return(f, SECCOMP_RET_ERRNO | ENOSYS);
	emit_return(f, SECCOMP_RET_ERRNO | EPERM);
}

bool seccomp_works(void)
{
	const uint32_t action = SECCOMP_RET_KILL_PROCESS;

	return !syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
}

struct error *confine_calls(const struct confine_opts *opts, struct confined *done)
{
	struct call_filter *f;

	if (!seccomp_works())
		return NULL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return error_nomem();
	make_filter(f, opts->calls);
	const struct sock_fprog program = {.len = (unsigned short)f->n, .filter = f->insns};
	const long code = f->full ? -1 : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	struct error *err =
		code ? error_errno(f->full ? E2BIG : errno, "cannot filter the system calls")
		     : NULL;
	free(f);
	done->seccomp = !err;
	return err;
}
