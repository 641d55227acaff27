/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process gives up what it no longer needs, before it reads what others wrote: recordings,
 * binaries, debug information, HTTP requests. Three walls, each of which holds alone:
 *
 * - Capabilities: none, or the few that the caller keeps in the permitted and effective sets. The
 *   inheritable, ambient and bounding sets become empty, and no_new_privs is set, so that no
 *   execve(2) brings any back.
 * - System calls: a seccomp filter with a list of those that are allowed. Others fail with EPERM;
 *   those that are newer than the list fail with ENOSYS, which the C library knows how to handle.
 *   A call of another architecture, or of x32, kills the process.
 * - Files: with Landlock nothing can be changed but in the directories that the caller names, and
 *   nothing executed. Seccomp cannot see paths; without Landlock it refuses to open any file for
 *   writing unless the caller needs to write.
 *
 * Nothing of it can be undone, and children inherit all of it. What was opened stays open. A
 * process can be confined again, and more narrowly, if it kept CONFINE_AGAIN. The process has one
 * thread; others would not be confined.
 *
 *	const struct confine_opts opts = {.calls = CONFINE_READ};
 *	struct confined done;
 *	TRY(confine(&opts, &done));
 *	confined_text(&done, &text);		// "no capabilities; …"
 */
#ifndef PB_SYS_CONFINE_H
#define PB_SYS_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/strbuf.h"

/* Groups of system calls. Memory, time, signals to itself and the exit are always allowed. */
enum confine_calls {
	CONFINE_READ = 1 << 0,	     /* open files for reading; read and write what is open */
	CONFINE_WRITE = 1 << 1,	     /* create, write, rename and remove files */
	CONFINE_WAIT = 1 << 2,	     /* epoll, timers, children, signals to others, the terminal */
	CONFINE_BPF = 1 << 3,	     /* maps and programs that are loaded, events that are open */
	CONFINE_ATTACH = 1 << 4,     /* open perf events; attach to them what is loaded */
	CONFINE_SERVE = 1 << 5,	     /* accept and answer connections; no new sockets */
	CONFINE_PASS = 1 << 6,	     /* pass memory to a connected process */
	CONFINE_AGAIN = 1 << 7,	     /* confine() again */
	CONFINE_THREAD = 1 << 8,     /* start threads, which are confined as well; no processes */
	CONFINE_LOOK = 1 << 9,	     /* open and read what is loaded, also by its path */
	CONFINE_LOAD = 1 << 10,	     /* load programs, maps and BTF */
	CONFINE_PIN = 1 << 11,	     /* pin what is loaded */
	CONFINE_ANY = 1 << 12,	     /* no filter: what a library of others does is not known */
	CONFINE_TAKE = 1 << 13,	     /* take what a connected process passes */
	CONFINE_CPU_TIMER = 1 << 14, /* limit its own CPU time */
};

#define CONFINE_CAP(name) (1ULL << (name))

struct confine_opts {
	uint64_t keep; /* capabilities that stay, of those that the process has: CONFINE_CAP() */
	unsigned calls;
	/*
	 * Use Landlock. Do not set this for a process that reads maps or files of other processes
	 * in procfs: Landlock denies access to them.
	 */
	bool landlock;
	bool signals; /* Landlock does not forbid signals to other processes */
	const int
		*write_fds; /* O_PATH: directories (with all below) and files that may be written */
	size_t n_write_fds;
	bool creates_folders; /* and symbolic links, in those directories */
};

/* A caller's choice of what this process gives up; log: says what was dropped. */
typedef struct error *confine_fn(const struct log *log);

/* What was done. */
struct confined {
	uint64_t had, kept; /* capabilities: permitted before and now */
	bool seccomp;
	bool any_call;	  /* CONFINE_ANY */
	int landlock_abi; /* 0: not used */
	bool can_write;	  /* in some directories */
};

/*
 * A kernel without seccomp or Landlock is not an error. Errors: the kernel refused what it
 * offers (EPERM, ENOMEM); the process may be confined in part, so it should end.
 */
struct error *confine(const struct confine_opts *opts, struct confined *done);

/* "capabilities kept: dac_read_search; system calls are filtered; Landlock (ABI 7): …" */
void confined_text(const struct confined *done, struct strbuf *out);

/* The kernel's version of Landlock's interface; 0: it has none, or none that is enabled. */
int landlock_abi(void);
/* Whether filters of system calls can be set. */
bool seccomp_works(void);

#endif
