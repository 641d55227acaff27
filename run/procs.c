// SPDX-License-Identifier: BSD-2-Clause
/*
 * Each CPU has a ring of its own, and nobody puts their records in order:
 * every map carries its time instead, and of those that hold an address the
 * newest counts. What a process had mapped before an exec stays known; a stack
 * that was taken before it is resolved as well, unless the new program has
 * something at the same place.
 *
 * A fork copies all maps, which is a link to the parent here: a child is asked
 * first, then its parent. The parent may have mapped something meanwhile; what
 * came after the fork is not the child's.
 */
#include "run/procs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#include "lib/base/arena.h"
#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "lib/ring/perf_ring.h"
#include "lib/sys/proc.h"
#include "perf/event/event.h"

enum {
	RING_PAGES = 64,  /* for each CPU */
	MAX_MAPS = 65536, /* of a process: one that maps more loses the rest */
	MAX_FORKS = 64,	  /* generations that are asked */
	MAX_RECORD = 65536,
};

struct proc {
	VEC(struct proc_map) maps;
	uint32_t parent;
	bool has_parent;
	uint64_t forked; /* time */
};

struct cpu_ring {
	int fd;
	struct perf_ring ring;
};

struct procs {
	struct arena arena;
	struct strmap paths; /* interned in the arena */
	struct u64map pids;  /* to struct proc */
	VEC(struct cpu_ring) rings;
	int epoll_fd;
	uint64_t lost;
	struct perf_event_attr attr;
	uint8_t *record; /* of MAX_RECORD bytes: one that wraps around a ring's end */
};

struct procs *procs_new_empty(void)
{
	struct procs *procs = calloc(1, sizeof(*procs));

	if (!procs)
		return NULL;
	procs->epoll_fd = -1;
	procs->attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(procs->attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.task = 1,
		.watermark = 1,
	};
	return procs;
}

void procs_free(struct procs *procs)
{
	struct u64map_slot *slot;
	struct cpu_ring *ring;
	size_t pos = 0;

	if (!procs)
		return;
	while ((slot = u64map_next(&procs->pids, &pos))) {
		struct proc *proc = slot->value;

		vec_deinit(&proc->maps);
	}
	u64map_deinit(&procs->pids);
	strmap_deinit(&procs->paths);
	arena_deinit(&procs->arena);
	vec_for_each (ring, &procs->rings) {
		perf_ring_deinit(&ring->ring);
		closep(&ring->fd);
	}
	vec_deinit(&procs->rings);
	closep(&procs->epoll_fd);
	free(procs->record);
	free(procs);
}

int procs_fd(const struct procs *procs)
{
	return procs->epoll_fd;
}

uint64_t procs_lost(const struct procs *procs)
{
	return procs->lost;
}

static struct proc *proc_of(struct procs *procs, uint32_t pid)
{
	struct proc *proc = u64map_get(&procs->pids, pid);

	if (proc)
		return proc;
	proc = arena_alloc(&procs->arena, sizeof(*proc));
	return proc && u64map_put(&procs->pids, pid, proc) ? proc : NULL;
}

static const char *intern(struct procs *procs, const char *path)
{
	const char *known = strmap_get(&procs->paths, path);
	char *copy;

	if (known)
		return known;
	copy = arena_strdup(&procs->arena, path);
	return copy && strmap_put(&procs->paths, copy, copy) ? copy : NULL;
}

static struct error *add_map(struct procs *procs, uint32_t pid, struct proc_map map)
{
	struct proc *proc = proc_of(procs, pid);
	struct proc_map *it;

	map.path = intern(procs, map.path);
	if (!proc || !map.path)
		return error_nomem();
	if (map.end <= map.start || proc->maps.n >= MAX_MAPS)
		return NULL;
	/* a file that is mapped at the same place again and again is one */
	vec_for_each (it, &proc->maps) {
		if (it->start != map.start || it->end != map.end || it->pgoff != map.pgoff ||
		    it->path != map.path)
			continue;
		it->time = max_of(it->time, map.time);
		return NULL;
	}
	it = vec_push(&proc->maps);
	if (!it)
		return error_nomem();
	*it = map;
	return NULL;
}

/* ---- records ---- */

static struct error *add_record(struct procs *procs, struct cursor c, uint32_t type)
{
	struct record_mmap mmap;
	struct record_task task;
	struct record_lost lost;
	struct sample id = {0};

	switch (type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		TRY(record_mmap_decode(c, &mmap));
		TRY(sample_id_decode(&procs->attr, c, &id));
		if (mmap.pid < 0 || !(mmap.prot & PROT_EXEC))
			return NULL;
		return add_map(procs, mmap.pid,
			       (struct proc_map){
				       .start = mmap.addr,
				       .end = mmap.addr + mmap.len,
				       .pgoff = mmap.pgoff,
				       .time = id.time,
				       .path = mmap.filename,
			       });
	case PERF_RECORD_FORK:
		TRY(record_task_decode(c, &task));
		if (task.pid != task.ppid && task.pid >= 0 && task.ppid >= 0) {
			struct proc *proc = proc_of(procs, task.pid);

			if (!proc)
				return error_nomem();
			/* the id may have been somebody else's; an exec may be read before this */
			for (size_t i = 0; i < proc->maps.n;) {
				if (proc->maps.v[i].time < task.time)
					proc->maps.v[i] = proc->maps.v[--proc->maps.n];
				else
					i++;
			}
			proc->parent = task.ppid;
			proc->has_parent = true;
			proc->forked = task.time;
		}
		return NULL;
	case PERF_RECORD_LOST:
		TRY(record_lost_decode(c, &lost));
		procs->lost += lost.lost;
		return NULL;
	default:
		return NULL;
	}
}

struct error *procs_add_records(struct procs *procs, struct cursor c)
{
	struct perf_event_header header;
	struct cursor rec;

	while (record_header_peek(&c, &header)) {
		if (!cursor_take(&c, header.size, &rec) || header.size < sizeof(header))
			return NULL; /* cut off, or no records at all */
		struct error *err = add_record(procs, rec, header.type);
		if (err && err->code == ENOMEM)
			return err;
		error_free(err);
	}
	return NULL;
}

/* All but the record that wraps is read where it stands. */
static struct error *update_ring(struct procs *procs, struct perf_ring *ring)
{
	struct iovec iov[2];
	int n = perf_ring_peek(ring, iov);
	size_t used = 0;

	if (!n)
		return NULL;
	if (n == 1) {
		TRY(procs_add_records(procs, cursor_make(iov[0].iov_base, iov[0].iov_len, "ring")));
		perf_ring_consume(ring);
		return NULL;
	}
	/* up to the wrap, that record in a copy, and behind it */
	const uint8_t *base = iov[0].iov_base;
	while (iov[0].iov_len - used >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;

		memcpy(&header, base + used, sizeof(header));
		if (header.size < sizeof(header) || header.size > iov[0].iov_len - used)
			break;
		used += header.size;
	}
	TRY(procs_add_records(procs, cursor_make(base, used, "ring")));
	size_t head = iov[0].iov_len - used, skip = 0;
	if (head) {
		struct perf_event_header header;
		size_t tail = min_of(iov[1].iov_len, MAX_RECORD - head);

		if (!procs->record)
			procs->record = malloc(MAX_RECORD);
		if (!procs->record)
			return error_nomem();
		memcpy(procs->record, base + used, head);
		memcpy(procs->record + head, iov[1].iov_base, tail);
		memcpy(&header, procs->record, sizeof(header));
		if (header.size > head && header.size - head <= tail) {
			skip = header.size - head;
			TRY(procs_add_records(procs,
					      cursor_make(procs->record, header.size, "ring")));
		}
	}
	TRY(procs_add_records(procs, cursor_make((const uint8_t *)iov[1].iov_base + skip,
						 iov[1].iov_len - skip, "ring")));
	perf_ring_consume(ring);
	return NULL;
}

struct error *procs_update(struct procs *procs)
{
	struct cpu_ring *ring;

	vec_for_each (ring, &procs->rings)
		TRY(update_ring(procs, &ring->ring));
	return NULL;
}

/* ---- the system ---- */

static struct error *listen_on(struct procs *procs, unsigned cpu)
{
	struct cpu_ring *ring = vec_push(&procs->rings);
	struct epoll_event event = {.events = EPOLLIN};

	if (!ring)
		return error_nomem();
	ring->fd = sys_perf_event_open(&procs->attr, -1, (int)cpu, -1, 0);
	if (ring->fd < 0) {
		struct sys_perf_attempt attempt = {.attr = &procs->attr, .pid = -1, .cpu = cpu};
		int err = ring->fd;

		procs->rings.n--;
		return sys_perf_event_explain(NULL, &attempt, err);
	}
	TRY(perf_ring_init(&ring->ring, ring->fd, RING_PAGES));
	if (epoll_ctl(procs->epoll_fd, EPOLL_CTL_ADD, ring->fd, &event))
		return error_errno(errno, "cannot wait for the records of processes");
	return NULL;
}

static struct error *begin_to_listen(struct procs *procs)
{
	_cleanup_cpus_ struct sys_cpus cpus = {0};

	procs->attr.wakeup_watermark = RING_PAGES * sys_page_size() / 4;
	procs->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (procs->epoll_fd < 0)
		return error_errno(errno, "cannot wait for the records of processes");
	TRY(sys_cpus_online(NULL, &cpus));
	for (size_t i = 0; i < cpus.n; i++)
		TRY(listen_on(procs, cpus.v[i]));
	return NULL;
}

/* What a process has mapped now; one that has ended has nothing. */
static struct error *read_process(struct procs *procs, pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	struct sys_map map;

	error_free(sys_proc_read(NULL, pid, "maps", &text, NULL));
	for (char *pos = text; pos && sys_maps_next(&pos, &map);) {
		if (!(map.prot & PROT_EXEC))
			continue;
		TRY(add_map(procs, pid,
			    (struct proc_map){
				    .start = map.start,
				    .end = map.end,
				    .pgoff = map.pgoff,
				    .path = *map.path ? map.path : "//anon",
			    }));
	}
	return NULL;
}

struct error *procs_new(const struct log *log, struct procs **out)
{
	_cleanup_(procs_freep) struct procs *procs = procs_new_empty();
	_cleanup_pids_ struct sys_pids pids = {0};

	if (!procs)
		return error_nomem();
	struct error *err = begin_to_listen(procs);
	if (err)
		log_warn(log, "stacks of processes that end meanwhile may stay without names: %s",
			 err->msg);
	error_free(err);
	TRY(sys_proc_pids(NULL, &pids));
	for (size_t i = 0; i < pids.n; i++)
		TRY(read_process(procs, pids.v[i]));
	*out = steal_ptr(procs);
	return NULL;
}

/* ---- asking ---- */

const struct proc_map *procs_find(struct procs *procs, uint32_t pid, uint64_t addr)
{
	uint64_t until = UINT64_MAX;

	for (int depth = 0; depth < MAX_FORKS; depth++) {
		const struct proc *proc = u64map_get(&procs->pids, pid);
		const struct proc_map *best = NULL, *map;

		if (!proc)
			return NULL;
		vec_for_each (map, &proc->maps)
			if (addr >= map->start && addr < map->end && map->time <= until &&
			    (!best || map->time > best->time))
				best = map;
		if (best || !proc->has_parent)
			return best;
		pid = proc->parent;
		until = min_of(until, proc->forked);
	}
	return NULL;
}
