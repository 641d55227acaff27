/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes, as procfs shows them (man 5 proc): what a recorder must know of
 * those that run already. A process that ends meanwhile gives ESRCH.
 */
#ifndef PB_SYS_PROC_H
#define PB_SYS_PROC_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/sys/sys.h"

struct sys_pids {
	pid_t *v; /* ascending */
	size_t n;
	size_t cap;
};

void sys_pids_deinit(struct sys_pids *pids);
#define _cleanup_pids_ __attribute__((cleanup(sys_pids_deinit)))

/* All processes; the threads of one. Added. */
struct error *sys_proc_pids(const struct sys_roots *roots, struct sys_pids *pids);
struct error *sys_proc_tids(const struct sys_roots *roots, pid_t pid, struct sys_pids *tids);

/* The inode number of our PID namespace (man 7 pid_namespaces); 0: the initial one, or unknown. */
uint32_t sys_pid_ns(const struct sys_roots *roots);
/* The same of a process, which needs the right to trace it; false: unknown. */
bool sys_pid_ns_of(const struct sys_roots *roots, pid_t pid, uint32_t *pid_ns);

/*
 * Whether the ids in procfs are those of our PID namespace. They are not if a container has the
 * host's /proc, or after 'unshare --pid' without --mount-proc. EINVAL: no.
 */
struct error *sys_proc_check_ns(const struct sys_roots *roots);

struct sys_proc_status {
	char comm[16]; /* NUL-terminated */
	pid_t tgid;
	pid_t ppid;
	pid_t ns_pid;	    /* its own id in its own PID namespace; 0: unknown */
	bool kernel_thread; /* it has no memory of its own (no VmPeak line) */
	char state;	    /* 'R', 'S', …; 'Z': it has ended, and nobody has waited for it yet */
};

/*
 * When it was started, in ticks since the boot: of two processes that had the same pid, one after
 * the other, the times differ. 0: not known.
 */
uint64_t sys_proc_start(const struct sys_roots *roots, pid_t pid);
/*
 * Where its stack starts: the start_stack of the kernel's struct mm_struct, which execve(2) chooses
 * anew. 0: not known, or not ours to know.
 */
uint64_t sys_proc_stack(const struct sys_roots *roots, pid_t pid);

/* /proc/PID/task/TID/status; pid 0: /proc/TID/status. */
struct error *sys_proc_status(const struct sys_roots *roots, pid_t pid, pid_t tid,
			      struct sys_proc_status *status);

/* A line of /proc/PID/maps. */
struct sys_map {
	uint64_t start, end, pgoff;
	uint32_t maj, min;
	uint64_t ino;
	uint32_t prot;	/* PROT_* of mmap(2) */
	uint32_t flags; /* MAP_SHARED or MAP_PRIVATE */
	char *path;	/* "" for anonymous memory; "[heap]", "[vdso]", …; a file */
};

/* The text of /proc/PID/FILE ("maps", "cmdline", …); the caller's. size may be NULL. */
struct error *sys_proc_read(const struct sys_roots *roots, pid_t pid, const char *file, char **text,
			    size_t *size);

/*
 * What a file descriptor of the process refers to, from /proc/PID/fd/FD: a path, "socket:[123]" or
 * "pipe:[123]". The caller frees *target. Fails with ESRCH if the process or the descriptor does
 * not exist.
 */
struct error *sys_proc_fd(const struct sys_roots *roots, pid_t pid, int fd, char **target);

/*
 * Takes the next line of a maps text apart; *pos starts at the text, which is
 * changed (the paths get their NULs; octal escapes of newlines are undone).
 * A line that is none of maps is left out. false: the text is at its end.
 */
bool sys_maps_next(char **pos, struct sys_map *map);

#endif
