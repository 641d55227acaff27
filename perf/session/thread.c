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
 * In a recording exec does not empty the maps, as it does not in perf: until the
 * new image is mapped, a call chain still shows whence execve() was called, and
 * what is mapped then cuts the old maps away.
 *
 * In a live session exit counts: a thread that has ended is kept until
 * threads_forget() finds that nobody refers to its process. A process whose
 * tid is used again hangs behind the new one, and is found by its time.
 */
#include <stdio.h>
#include <string.h>

#include "perf/session/internal.h"

enum {
	MAX_EARLIER = 8, /* processes of one tid that are kept */
};

static void thread_free(struct thread_node *t)
{
	u64map_deinit(&t->counters);
	free(t);
}

void threads_deinit(struct threads_state *t)
{
	for (struct thread_node *n = t->all; n;) {
		struct thread_node *next = n->next;
		thread_free(n);
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

static bool thread_set_comm(struct session *s, struct thread_node *t, const char *comm)
{
	if (s->maps.live) {
		snprintf(t->comm, sizeof(t->comm), "%s", comm);
		t->pub.comm = t->comm;
	} else {
		t->pub.comm = comm_intern(s, comm);
	}
	return t->pub.comm != NULL;
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

static void thread_end(struct session *s, struct thread_node *t, uint64_t time)
{
	if (t->ended || !s->maps.live)
		return;
	t->ended = max_of(time, (uint64_t)1);
	s->threads.n_ended++;
}

static void thread_remove(struct session *s, struct thread_node *t)
{
	thread_end(s, t, s->maps.now);
	u64map_remove(&s->threads.by_tid, tid_key(t->pub.tid));
	s->threads.cache[cache_slot(t->pub.tid)] = NULL;
}

static struct thread_node *thread_findnew(struct session *s, int32_t pid, int32_t tid,
					  const char *comm);

/* The maps of the process; its leader is made when it is not known yet. */
static struct map_set *leader_maps(struct session *s, int32_t pid)
{
	struct thread_node *leader = thread_findnew(s, pid, pid, NULL);

	return leader ? leader->pub.maps : NULL;
}

/* comm NULL: it is not known. */
static struct thread_node *thread_new(struct session *s, int32_t pid, int32_t tid, const char *comm)
{
	char name[16] = "";
	struct thread_node *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->pub.pid = pid;
	t->pub.tid = tid;
	t->pub.ppid = -1;
	t->born = s->maps.now;
	if (!comm)
		snprintf(name, sizeof(name), ":%d", tid);
	t->owns_maps = pid == tid || pid == -1;
	t->pub.maps = t->owns_maps ? map_set_new(&s->maps) : leader_maps(s, pid);
	if (!thread_set_comm(s, t, comm ? comm : name) || !t->pub.maps ||
	    !u64map_put(&s->threads.by_tid, tid_key(tid), t)) {
		free(t);
		return NULL;
	}
	t->next = s->threads.all;
	s->threads.all = t;
	s->threads.n++;
	s->threads.cache[cache_slot(tid)] = t;
	return t;
}

static struct thread_node *thread_findnew(struct session *s, int32_t pid, int32_t tid,
					  const char *comm)
{
	struct thread_node *t = thread_find(s, tid);

	if (!t)
		return thread_new(s, pid, tid, comm);
	if (t->pub.pid == -1 && pid != -1) {
		/* Now it is known to whom it belongs. */
		t->pub.pid = pid;
		if (pid != tid) {
			struct map_set *maps = leader_maps(s, pid);
			if (!maps)
				return NULL;
			if (s->maps.live)
				map_set_free(&s->maps, t->pub.maps);
			t->pub.maps = maps;
			t->owns_maps = false;
		}
	}
	return t;
}

struct thread *thread_get(struct session *s, int32_t pid, int32_t tid)
{
	struct thread_node *t = thread_findnew(s, pid, tid, NULL);

	return t ? &t->pub : NULL;
}

/* The process of a thread becomes known, or of the leader of a thread. */
bool thread_get_changes(struct session *s, int32_t pid, int32_t tid)
{
	const struct thread_node *t = thread_find(s, tid);

	if (pid == -1 || (t && t->pub.pid != -1))
		return false;
	t = (t || pid == tid) ? t : thread_find(s, pid);
	return t && t->pub.pid == -1;
}

struct thread *session_thread(struct session *s, int32_t pid, int32_t tid)
{
	return thread_get(s, pid, tid);
}

struct error *session_threads(const struct session *s, struct thread ***out, size_t *n)
{
	const struct u64map *map = &s->threads.by_tid;
	struct u64map_slot *slot;
	size_t pos = 0;

	struct thread **all = calloc(map->n + 1, sizeof(struct thread *));
	if (!all)
		return error_nomem();
	for (*n = 0; (slot = u64map_next(map, &pos));)
		all[(*n)++] = &((struct thread_node *)slot->value)->pub;
	*out = all;
	return NULL;
}

const struct map *thread_map(const struct thread *thread, size_t index)
{
	const struct map_array *a = thread->maps->array;

	return a && index < a->n ? a->maps[index] : NULL;
}

uint64_t *thread_counter(struct session *s, struct thread *thread, uint64_t id)
{
	struct thread_node *t = container_of(thread, struct thread_node, pub);
	uint64_t *value = u64map_get(&t->counters, id);

	if (value)
		return value;
	value = arena_alloc(&s->maps.arena, sizeof(*value));
	if (!value || !u64map_put(&t->counters, id, value))
		return NULL;
	return value;
}

bool threads_init_idle(struct session *s)
{
	return thread_on_comm(s, &(struct record_comm){.comm = "swapper"});
}

bool thread_on_comm(struct session *s, const struct record_comm *c)
{
	struct thread_node *t = thread_findnew(s, c->pid, c->tid, c->comm);

	if (!t || !thread_set_comm(s, t, c->comm))
		return false;
	t->comm_set = true;
	if (c->exec && s->maps.live && t->owns_maps)
		map_set_exec(&s->maps, t->pub.maps);
	return true;
}

bool thread_on_fork(struct session *s, const struct record_task *f, uint16_t misc)
{
	struct thread_node *old = thread_find(s, f->tid);
	struct thread_node *parent = thread_findnew(s, f->ppid, f->ptid, NULL);

	if (!parent)
		return false;
	if (parent->pub.pid != f->ppid) {
		/* Another thread had this tid, and its end was not seen. */
		thread_remove(s, parent);
		if (parent == old)
			old = NULL;
		parent = thread_findnew(s, f->ppid, f->ptid, NULL);
		if (!parent)
			return false;
	}
	if (old)
		thread_remove(s, old);
	struct thread_node *t =
		thread_findnew(s, f->pid, f->tid, parent->comm_set ? parent->pub.comm : NULL);
	if (!t)
		return false;
	if (old && old->owns_maps && s->maps.live)
		t->earlier = old;
	if (parent->comm_set) {
		if (!thread_set_comm(s, t, parent->pub.comm))
			return false;
		t->comm_set = true;
	}
	t->pub.ppid = parent->pub.tid;
	if (t->pub.pid != parent->pub.pid && !(misc & PERF_RECORD_MISC_FORK_EXEC))
		map_set_share(&s->maps, t->pub.maps, parent->pub.maps);
	return true;
}

bool thread_on_mmap(struct session *s, const struct record_mmap *m)
{
	struct thread_node *t = thread_findnew(s, m->pid, m->tid, NULL);

	return t && maps_add_user(s, t->pub.maps, m->pid, m);
}

/* ---- live ---- */

void thread_on_exit(struct session *s, const struct record_task *f)
{
	struct thread_node *t = thread_find(s, f->tid);

	if (t && t->pub.pid == f->pid)
		thread_end(s, t, s->maps.now);
}

const struct map *threads_find_map(struct session *s, int32_t pid, uint64_t time, uint64_t addr)
{
	for (struct thread_node *t = thread_find(s, pid); t; t = t->earlier) {
		if (t->pub.pid != pid || (time && time < t->born))
			continue;
		const struct map *map = map_set_find_at(t->pub.maps, time, addr);
		if (map)
			return map;
		/* Its own time may be that of something before it: what the process had since. */
		if (time)
			return map_set_find_at(t->pub.maps, 0, addr);
	}
	return NULL;
}

/*
 * Which are gone: processes that nobody keeps, with all their threads, and
 * threads that ended. A process lives as long as one of its threads.
 */
static void decide(struct threads_state *t, session_keep_fn *keep, void *ctx)
{
	for (struct thread_node *n = t->all; n; n = n->next) {
		n->pub.maps->alive = n->pub.maps->gone = false;
		n->pub.maps->ended = 0;
	}
	for (struct thread_node *n = t->all; n; n = n->next) {
		n->pub.maps->alive |= !n->ended;
		n->pub.maps->ended = max_of(n->pub.maps->ended, n->ended);
	}
	for (struct thread_node *n = t->all; n; n = n->next) {
		struct map_set *maps = n->pub.maps;

		if (n->owns_maps)
			maps->gone = !keep(ctx, n->pub.tid, maps->alive ? 0 : maps->ended);
	}
	for (struct thread_node *n = t->all; n; n = n->next) {
		size_t depth = 0;

		n->gone = n->pub.maps->gone || (n->ended && !n->owns_maps);
		for (struct thread_node *e = n; e; e = e->earlier)
			if (++depth > MAX_EARLIER && !e->pub.maps->alive)
				e->gone = e->pub.maps->gone = true;
	}
}

void threads_forget(struct session *s, session_keep_fn *keep, void *ctx)
{
	struct threads_state *t = &s->threads;
	struct thread_node **link = &t->all, *n;

	decide(t, keep, ctx);
	memset(t->cache, 0, sizeof(t->cache));
	for (n = t->all; n; n = n->next) {
		struct thread_node *e = n;

		while (n->earlier && n->earlier->gone)
			n->earlier = n->earlier->earlier;
		if (!n->gone || u64map_get(&t->by_tid, tid_key(n->pub.tid)) != n)
			continue;
		while (e && e->gone)
			e = e->earlier;
		if (!e || !u64map_put(&t->by_tid, tid_key(n->pub.tid), e))
			u64map_remove(&t->by_tid, tid_key(n->pub.tid));
	}
	/* A set is freed with its owner, which the threads of the process may stand before. */
	t->n_ended = 0;
	while ((n = *link)) {
		if (!n->gone) {
			t->n_ended += n->ended != 0;
			link = &n->next;
			continue;
		}
		*link = n->next;
		if (n->owns_maps)
			map_set_free(&s->maps, n->pub.maps);
		thread_free(n);
		t->n--;
	}
}
