// SPDX-License-Identifier: BSD-2-Clause
/*
 * Who ran: threads, as COMM, FORK, EXIT and MMAP records tell, by perf's
 * rules (tools/perf/util/machine.c and thread.c).
 *
 * The threads of a process share the maps of its leader. A forked process
 * begins with its parent's name and, unless the fork was made up at the
 * recording's start, its parent's maps. A fork whose tid exists already means
 * that the tid was used again: the old thread leaves the table, but lives on
 * for those who keep a pointer to it. Exit changes nothing: records of the
 * dying thread may still come.
 *
 * Exec does not empty the maps, as it does not in perf: until the new image is
 * mapped, a call chain still shows whence execve() was called, and what is
 * mapped then cuts the old maps away.
 */
#include <stdio.h>
#include <string.h>

#include "perf/session/internal.h"

void threads_deinit(struct threads_state *t)
{
	for (struct thread_node *n = t->all; n;) {
		struct thread_node *next = n->next;
		free(n);
		n = next;
	}
	u64map_deinit(&t->by_tid);
	strmap_deinit(&t->comms);
}

static size_t cache_slot(int32_t tid)
{
	return (uint32_t)tid % THREAD_CACHE;
}

/* One string for each name, so that names may be compared by their address. */
static const char *comm_intern(struct session *s, const char *comm)
{
	char *known = strmap_get(&s->threads.comms, comm);

	if (known)
		return known;
	known = arena_strdup(&s->maps.arena, comm);
	if (!known || !strmap_put(&s->threads.comms, known, known))
		return NULL;
	return known;
}

static uint64_t tid_key(int32_t tid)
{
	return (uint32_t)tid;
}

static struct thread_node *thread_find(struct session *s, int32_t tid)
{
	struct thread_node **slot = &s->threads.cache[cache_slot(tid)];

	if (*slot && (*slot)->pub.tid == tid)
		return *slot;
	struct thread_node *t = u64map_get(&s->threads.by_tid, tid_key(tid));
	if (t)
		*slot = t;
	return t;
}

static void thread_remove(struct session *s, struct thread_node *t)
{
	u64map_remove(&s->threads.by_tid, tid_key(t->pub.tid));
	s->threads.cache[cache_slot(t->pub.tid)] = NULL;
}

static struct thread_node *thread_findnew(struct session *s, int32_t pid, int32_t tid);

/* The maps of the process; its leader is made when it is not known yet. */
static struct map_set *leader_maps(struct session *s, int32_t pid)
{
	struct thread_node *leader = thread_findnew(s, pid, pid);

	return leader ? leader->pub.maps : NULL;
}

static struct thread_node *thread_new(struct session *s, int32_t pid, int32_t tid)
{
	char name[16];
	struct thread_node *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->pub.pid = pid;
	t->pub.tid = tid;
	t->pub.ppid = -1;
	snprintf(name, sizeof(name), ":%d", tid);
	t->pub.comm = comm_intern(s, name);
	t->pub.maps = pid == tid || pid == -1 ? map_set_new(&s->maps) : leader_maps(s, pid);
	if (!t->pub.comm || !t->pub.maps || !u64map_put(&s->threads.by_tid, tid_key(tid), t)) {
		free(t);
		return NULL;
	}
	t->next = s->threads.all;
	s->threads.all = t;
	s->threads.cache[cache_slot(tid)] = t;
	return t;
}

static struct thread_node *thread_findnew(struct session *s, int32_t pid, int32_t tid)
{
	struct thread_node *t = thread_find(s, tid);

	if (!t)
		return thread_new(s, pid, tid);
	if (t->pub.pid == -1 && pid != -1) {
		/* Now it is known to whom it belongs. */
		t->pub.pid = pid;
		if (pid != tid) {
			struct map_set *maps = leader_maps(s, pid);
			if (!maps)
				return NULL;
			t->pub.maps = maps;
		}
	}
	return t;
}

struct thread *thread_get(struct session *s, int32_t pid, int32_t tid)
{
	struct thread_node *t = thread_findnew(s, pid, tid);

	return t ? &t->pub : NULL;
}

struct thread *session_thread(struct session *s, int32_t pid, int32_t tid)
{
	return thread_get(s, pid, tid);
}

bool threads_init_idle(struct session *s)
{
	return thread_on_comm(s, &(struct record_comm){.comm = "swapper"});
}

bool thread_on_comm(struct session *s, const struct record_comm *c)
{
	struct thread_node *t = thread_findnew(s, c->pid, c->tid);
	const char *comm = comm_intern(s, c->comm);

	if (!t || !comm)
		return false;
	t->pub.comm = comm;
	t->pub.comm_exec = c->exec;
	t->comm_set = true;
	return true;
}

bool thread_on_fork(struct session *s, const struct record_task *f, uint16_t misc)
{
	struct thread_node *old = thread_find(s, f->tid);
	struct thread_node *parent = thread_findnew(s, f->ppid, f->ptid);

	if (!parent)
		return false;
	if (parent->pub.pid != f->ppid) {
		/* Another thread had this tid, and its end was not seen. */
		thread_remove(s, parent);
		if (parent == old)
			old = NULL;
		parent = thread_findnew(s, f->ppid, f->ptid);
		if (!parent)
			return false;
	}
	if (old)
		thread_remove(s, old);
	struct thread_node *t = thread_findnew(s, f->pid, f->tid);
	if (!t)
		return false;
	if (parent->comm_set) {
		t->pub.comm = parent->pub.comm;
		t->comm_set = true;
	}
	t->pub.ppid = parent->pub.tid;
	if (t->pub.pid != parent->pub.pid && !(misc & PERF_RECORD_MISC_FORK_EXEC))
		map_set_share(t->pub.maps, parent->pub.maps);
	return true;
}

bool thread_on_mmap(struct session *s, const struct record_mmap *m)
{
	struct thread_node *t = thread_findnew(s, m->pid, m->tid);

	return t && maps_add_user(s, t->pub.maps, m->pid, m);
}
