// SPDX-License-Identifier: BSD-2-Clause
#include "perf/print/print_tasks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/base/hash.h"
#include "lib/base/plain_text.h"
#include "lib/base/vec.h"

enum {
	NAMES_AT = 30,	  /* "%10d %8d %8d |" */
	MAX_INDENT = 100, /* a process may start the next one without end */
};

/* A thread of the tree, by the index of others; NONE: there is none. */
#define NONE SIZE_MAX

struct task {
	const struct thread *thread;
	size_t parent;
	size_t first, next; /* child; sibling */
	bool printed;
};

struct tasks {
	struct task *v;
	size_t n;
};

static int by_tid(const void *pa, const void *pb)
{
	const struct task *a = pa, *b = pb;

	return a->thread->tid < b->thread->tid ? -1 : a->thread->tid > b->thread->tid;
}

/* Sorted by tid, so from the last on, each becomes the first child. */
static struct error *find_parents(struct tasks *t)
{
	struct u64map known = {0}; /* tid → index + 1 */
	bool ok = true;

	for (size_t i = 0; i < t->n && ok; i++)
		ok = u64map_put(&known, (uint32_t)t->v[i].thread->tid, (void *)(uintptr_t)(i + 1));
	for (size_t i = t->n; i-- > 0 && ok;) {
		const int32_t ppid = t->v[i].thread->ppid;
		const uintptr_t at = ppid < 0 ? 0 : (uintptr_t)u64map_get(&known, (uint32_t)ppid);

		t->v[i].parent = at && at - 1 != i ? at - 1 : NONE;
		if (t->v[i].parent == NONE)
			continue;
		struct task *parent = &t->v[at - 1];
		t->v[i].next = parent->first;
		parent->first = i;
	}
	u64map_deinit(&known);
	return ok ? NULL : error_nomem();
}

static int indent(size_t level)
{
	return (int)min_of(level, (size_t)MAX_INDENT);
}

static void add_maps(const struct thread *thread, int width, struct strbuf *out)
{
	const struct map *map;

	for (size_t i = 0; (map = thread_map(thread, i)); i++) {
		const struct dso *dso = map->dso;

		strbuf_addf(out, "%*s  %" PRIx64 "-%" PRIx64 " %c%c%c%c %08" PRIx64 " ",
			    NAMES_AT + width, "", map->start, map->end,
			    map->prot & PROT_READ ? 'r' : '-', map->prot & PROT_WRITE ? 'w' : '-',
			    map->prot & PROT_EXEC ? 'x' : '-', map->flags & MAP_SHARED ? 's' : 'p',
			    dso->kind == DSO_ANON ? map->pgoff - map->start : map->pgoff);
		if (!dso->ino && dso->build_id_size && dso->kind == DSO_USER)
			strbuf_add_bytes(out, dso->build_id, dso->build_id_size);
		else
			strbuf_add_u64(out, dso->ino);
		strbuf_addch(out, ' ');
		plain_adds(out, dso->path);
		strbuf_addch(out, '\n');
	}
}

/* Down to the children and up again without recursion: a chain of forks may be of any length. */
static void add_tree(struct tasks *t, size_t root, bool maps, struct strbuf *out)
{
	size_t at = root;
	size_t level = 0;

	for (;;) {
		struct task *task = &t->v[at];

		if (!task->printed) {
			const struct thread *thread = task->thread;

			task->printed = true;
			strbuf_addf(out, "%10d %8d %8d |%*s", thread->pid, thread->tid,
				    thread->ppid, indent(level), "");
			plain_adds(out, thread->comm);
			strbuf_addch(out, '\n');
			if (maps)
				add_maps(thread, indent(level), out);
			if (task->first != NONE && !t->v[task->first].printed) {
				at = task->first;
				level++;
				continue;
			}
		}
		while (at != root && (t->v[at].next == NONE || t->v[t->v[at].next].printed)) {
			at = t->v[at].parent;
			level--;
		}
		if (at == root)
			return;
		at = t->v[at].next;
	}
}

struct error *print_tasks(struct session *session, bool maps, struct strbuf *out)
{
	_cleanup_free_ struct thread **threads = NULL;
	_cleanup_free_ struct task *tasks = NULL;
	struct tasks t = {0};

	TRY(session_threads(session, &threads, &t.n));
	t.v = tasks = calloc(t.n + 1, sizeof(*tasks));
	if (!tasks)
		return error_nomem();
	for (size_t i = 0; i < t.n; i++)
		tasks[i] = (struct task){.thread = threads[i], .first = NONE, .next = NONE};
	qsort(tasks, t.n, sizeof(*tasks), by_tid);
	TRY(find_parents(&t));
	strbuf_adds(out, "#      pid      tid     ppid  comm\n");
	for (size_t i = 0; i < t.n; i++)
		if (tasks[i].parent == NONE)
			add_tree(&t, i, maps, out);
	/* since tids are used again, threads may be the parents of each other */
	for (size_t i = 0; i < t.n; i++)
		if (!tasks[i].printed)
			add_tree(&t, i, maps, out);
	return strbuf_failed(out) ? error_nomem() : NULL;
}
