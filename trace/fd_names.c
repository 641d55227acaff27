// SPDX-License-Identifier: BSD-2-Clause
#include "trace/fd_names.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "lib/sys/proc.h"
#include "trace/record_pieces.h"

enum {
	MAX_PROCESSES = 4096,
	MAX_FDS = 4096,	   /* of one process; those above have no name */
	MAX_NAMES = 65536, /* of all */
};

/* What a call does to the descriptors of its process. */
enum fd_effect {
	FD_NOTHING,
	FD_NEW,	   /* the result is a descriptor whose name is not known */
	FD_OPEN,   /* … of the file of argument 0 */
	FD_OPENAT, /* … of argument 1 */
	FD_PAIR,   /* memory has two new ones: pipe, socketpair */
	FD_DUP,	   /* the result is a copy of argument 0 */
	FD_FCNTL,  /* … if argument 1 says so */
	FD_CLOSE,  /* argument 0 */
	FD_CLOSE_RANGE,
	FD_FORK,
	FD_CLONE, /* argument 0 has flags */
	FD_EXEC,
	FD_EXIT,
};

static const struct {
	const char *call;
	enum fd_effect effect;
} effects[] = {
	{"open", FD_OPEN},
	{"creat", FD_OPEN},
	{"openat", FD_OPENAT},
	{"openat2", FD_OPENAT},
	{"pipe", FD_PAIR},
	{"pipe2", FD_PAIR},
	{"socketpair", FD_PAIR},
	{"dup", FD_DUP},
	{"dup2", FD_DUP},
	{"dup3", FD_DUP},
	{"fcntl", FD_FCNTL},
	{"fcntl64", FD_FCNTL},
	{"close", FD_CLOSE},
	{"close_range", FD_CLOSE_RANGE},
	{"fork", FD_FORK},
	{"vfork", FD_FORK},
	{"clone", FD_CLONE},
	{"clone3", FD_FORK},
	{"execve", FD_EXEC},
	{"execveat", FD_EXEC},
	{"exit_group", FD_EXIT},
	{"socket", FD_NEW},
	{"accept", FD_NEW},
	{"accept4", FD_NEW},
	{"bpf", FD_NEW},
	{"epoll_create", FD_NEW},
	{"epoll_create1", FD_NEW},
	{"eventfd", FD_NEW},
	{"eventfd2", FD_NEW},
	{"fanotify_init", FD_NEW},
	{"fsmount", FD_NEW},
	{"fsopen", FD_NEW},
	{"fspick", FD_NEW},
	{"inotify_init", FD_NEW},
	{"inotify_init1", FD_NEW},
	{"io_uring_setup", FD_NEW},
	{"landlock_create_ruleset", FD_NEW},
	{"memfd_create", FD_NEW},
	{"memfd_secret", FD_NEW},
	{"mq_open", FD_NEW},
	{"open_by_handle_at", FD_NEW},
	{"open_tree", FD_NEW},
	{"perf_event_open", FD_NEW},
	{"pidfd_getfd", FD_NEW},
	{"pidfd_open", FD_NEW},
	{"signalfd", FD_NEW},
	{"signalfd4", FD_NEW},
	{"timerfd_create", FD_NEW},
	{"userfaultfd", FD_NEW},
};

/* A process; v[fd] is NULL: not looked up, "": not known. */
struct fd_process {
	VEC(char *) fds;
};

struct fd_names {
	const struct sys_roots *roots;
	bool keep; /* else only the last one is */
	struct u64map processes;
	size_t n; /* names of all of them */
	uint64_t from_records, from_proc;
	uint8_t effects[TRACE_ABIS][TRACE_NRS];
};

static char unknown_name[] = "";

struct error *fd_names_new(const struct call_table *table, const struct trace_call *calls,
			   const struct sys_roots *roots, struct fd_names **out)
{
	struct fd_names *names = calloc(1, sizeof(*names));

	if (!names)
		return error_nomem();
	names->roots = roots;
	names->keep = calls != NULL;
	for (size_t i = 0; i < ARRAY_SIZE(effects); i++)
		for (int abi = 0; abi < TRACE_ABIS; abi++) {
			const struct call *call =
				call_by_name(table, (enum trace_abi)abi, effects[i].call);

			if (!call || call->nr >= TRACE_NRS)
				continue;
			names->effects[abi][call->nr] = effects[i].effect;
			if (calls)
				names->keep &= calls[abi * TRACE_NRS + call->nr].traced != 0;
		}
	*out = names;
	return NULL;
}

static void clear_fd(struct fd_names *names, struct fd_process *p, size_t fd)
{
	if (fd >= p->fds.n || !p->fds.v[fd])
		return;
	if (p->fds.v[fd] != unknown_name)
		free(p->fds.v[fd]);
	p->fds.v[fd] = NULL;
	names->n--;
}

static void process_free(struct fd_names *names, struct fd_process *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->fds.n; i++)
		clear_fd(names, p, i);
	vec_deinit(&p->fds);
	free(p);
}

static void forget_all(struct fd_names *names)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(&names->processes, &pos)))
		process_free(names, slot->value);
	u64map_deinit(&names->processes);
	names->processes = (struct u64map){0};
}

void fd_names_free(struct fd_names *names)
{
	if (!names)
		return;
	forget_all(names);
	free(names);
}

void fd_names_counts(const struct fd_names *names, uint64_t *from_records, uint64_t *from_proc)
{
	*from_records = names->from_records;
	*from_proc = names->from_proc;
}

/* The process's names, new ones if it has none; NULL: no memory. */
static struct fd_process *process_of(struct fd_names *names, uint32_t pid)
{
	struct fd_process *p = u64map_get(&names->processes, pid);

	if (p)
		return p;
	if (names->processes.n >= MAX_PROCESSES || names->n >= MAX_NAMES)
		forget_all(names);
	p = calloc(1, sizeof(*p));
	if (p && !u64map_put(&names->processes, pid, p)) {
		free(p);
		p = NULL;
	}
	return p;
}

/* name becomes the table's; NULL: no memory. false: no memory. */
static bool set_fd(struct fd_names *names, struct fd_process *p, int64_t fd, char *name)
{
	if (!name)
		return false;
	if (fd < 0 || fd >= MAX_FDS) {
		if (name != unknown_name)
			free(name);
		return true;
	}
	while (p->fds.n <= (size_t)fd)
		if (!vec_push(&p->fds)) {
			if (name != unknown_name)
				free(name);
			return false;
		}
	clear_fd(names, p, (size_t)fd);
	p->fds.v[fd] = name;
	names->n++;
	return true;
}

const char *fd_names_get(void *ctx, uint32_t pid, int fd)
{
	struct fd_names *names = ctx;
	struct fd_process *p = fd < 0 || fd >= MAX_FDS ? NULL : process_of(names, pid);
	char *name = unknown_name;

	if (!p)
		return NULL;
	if (names->keep && (size_t)fd < p->fds.n && p->fds.v[fd])
		return *p->fds.v[fd] ? p->fds.v[fd] : NULL;
	/* a failure is remembered, so that each descriptor is looked up once */
	error_free(sys_proc_fd(names->roots, (pid_t)pid, fd, &name));
	names->from_proc += name != unknown_name;
	if (!set_fd(names, p, fd, name))
		return NULL;
	return *p->fds.v[fd] ? p->fds.v[fd] : NULL;
}

/* An absolute path is the name; what a relative one is relative to only the kernel knows. */
static bool note_open(struct fd_names *names, struct fd_process *p, const struct trace_record *rec,
		      unsigned arg)
{
	struct record_pieces pieces = record_pieces_of(rec);
	const struct trace_piece *piece;

	clear_fd(names, p, (size_t)rec->ret);
	while ((piece = record_pieces_next(&pieces))) {
		if (piece->arg != arg || piece->flags || !piece->len || piece->data[0] != '/')
			continue;
		names->from_records++;
		return set_fd(names, p, rec->ret, strndup((const char *)piece->data, piece->len));
	}
	return true;
}

static void note_pair(struct fd_names *names, struct fd_process *p, const struct trace_record *rec)
{
	struct record_pieces pieces = record_pieces_of(rec);
	const struct trace_piece *piece;
	int32_t pair[2];

	while ((piece = record_pieces_next(&pieces))) {
		if (!piece->exit || piece->len < sizeof(pair))
			continue;
		memcpy(pair, piece->data, sizeof(pair));
		for (size_t i = 0; i < 2; i++)
			if (pair[i] >= 0)
				clear_fd(names, p, (size_t)pair[i]);
	}
}

static bool note_dup(struct fd_names *names, struct fd_process *p, uint64_t from, int64_t to)
{
	if (from == (uint64_t)to)
		return true;
	clear_fd(names, p, (size_t)to);
	if (from >= p->fds.n || !p->fds.v[from] || p->fds.v[from] == unknown_name)
		return true;
	names->from_records++;
	return set_fd(names, p, to, strdup(p->fds.v[from]));
}

/* A child begins with its parent's descriptors, if it is a process and was not seen before. */
static bool note_fork(struct fd_names *names, const struct fd_process *p,
		      const struct trace_record *rec, bool is_clone)
{
	if (is_clone && rec->n_args && (rec->args[0] & (CLONE_FILES | CLONE_THREAD)))
		return true;
	if (rec->ret <= 0 || rec->ret > INT32_MAX || u64map_get(&names->processes, rec->ret) ||
	    names->processes.n + 1 >= MAX_PROCESSES || names->n + p->fds.n >= MAX_NAMES)
		return true;
	struct fd_process *child = process_of(names, (uint32_t)rec->ret);
	if (!child)
		return false;
	for (size_t i = 0; i < p->fds.n; i++)
		if (p->fds.v[i] && p->fds.v[i] != unknown_name &&
		    !set_fd(names, child, (int64_t)i, strdup(p->fds.v[i])))
			return false;
	return true;
}

struct error *fd_names_note(struct fd_names *names, const struct trace_record *rec)
{
	const enum fd_effect effect = rec->abi < TRACE_ABIS && rec->nr < TRACE_NRS
					      ? names->effects[rec->abi][rec->nr]
					      : FD_NOTHING;
	const bool failed = rec->ret < 0 && effect != FD_CLOSE; /* close() closes even then */
	bool ok = true;

	if (effect == FD_EXIT) { /* the next process with this number begins with nothing */
		process_free(names, u64map_remove(&names->processes, rec->pid));
		return NULL;
	}
	if (!names->keep || effect == FD_NOTHING || failed || (rec->flags & TRACE_NO_EXIT))
		return NULL;
	struct fd_process *p = process_of(names, rec->pid);
	const bool args = !(rec->flags & TRACE_NO_ENTRY);
	/* the kernel takes descriptors and commands as numbers of 32 bits */
	const uint32_t first = args && rec->n_args >= 1 ? (uint32_t)rec->args[0] : UINT32_MAX;
	const uint32_t second = args && rec->n_args >= 2 ? (uint32_t)rec->args[1] : UINT32_MAX;
	if (!p)
		return error_nomem();
	switch (effect) {
	case FD_NOTHING:
	case FD_EXIT:
		break;
	case FD_NEW:
		clear_fd(names, p, (size_t)rec->ret);
		break;
	case FD_OPEN:
	case FD_OPENAT:
		ok = note_open(names, p, rec, effect == FD_OPENAT);
		break;
	case FD_PAIR:
		note_pair(names, p, rec);
		break;
	case FD_DUP:
		ok = note_dup(names, p, first, rec->ret);
		break;
	case FD_FCNTL:
		if (second == F_DUPFD || second == F_DUPFD_CLOEXEC)
			ok = note_dup(names, p, first, rec->ret);
		break;
	case FD_CLOSE:
		clear_fd(names, p, first);
		break;
	case FD_CLOSE_RANGE:
		for (size_t i = first; i < p->fds.n && i <= second; i++)
			clear_fd(names, p, i);
		break;
	case FD_FORK:
	case FD_CLONE:
		ok = note_fork(names, p, rec, effect == FD_CLONE);
		break;
	case FD_EXEC: /* those with FD_CLOEXEC are closed; which ones these are is not known */
		for (size_t i = 0; i < p->fds.n; i++)
			clear_fd(names, p, i);
		break;
	}
	return ok ? NULL : error_nomem();
}

struct error *fd_names_inherit(struct fd_names *names, uint32_t pid)
{
	struct fd_process *p = names->keep ? process_of(names, pid) : NULL;

	if (!p)
		return names->keep ? error_nomem() : NULL;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		char *name = NULL;

		error_free(sys_proc_fd(names->roots, getpid(), fd, &name));
		if (!name)
			continue;
		names->from_proc++;
		if (!set_fd(names, p, fd, name))
			return error_nomem();
	}
	return NULL;
}
