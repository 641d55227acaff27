// SPDX-License-Identifier: BSD-2-Clause
#include "perf/live/program_store.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/base/hash.h"
#include "lib/base/util.h"
#include "lib/base/vec.h"
#include "lib/sys/thread.h"
#include "perf/live/live.h"

enum {
	MAX_BYTES = 256 << 20, /* of code and types */
	MAX_BTF = 64 << 20,    /* of one object's types */
};

struct program_store {
	struct live_source *live;
	struct session_tool tool;
	VEC(struct sys_prog_info *) progs; /* sorted when the thread has ended */
	VEC(struct feature_btf) btfs;
	struct u64map known, known_btfs; /* ids; the values are not NULL */
	uint64_t bytes;
	struct program_store_counts counts;
	pthread_t thread;
	bool running;
	int stop_fd;	   /* the thread ends when it is readable */
	struct error *err; /* of the thread */
};

static uint64_t size_of(const struct sys_prog_info *prog)
{
	uint64_t size = sizeof(*prog);

	for (int i = 0; i < SYS_PROG_ARRAYS; i++) {
		const int each = sys_prog_arrays[i].size;
		uint32_t bytes = each < 0 ? (uint32_t)-each : 0;

		if (each >= 0)
			memcpy(&bytes, (const char *)&prog->info + each, sizeof(bytes));
		size += (uint64_t)bytes * sys_prog_info_count(prog, (enum sys_prog_array)i);
	}
	return size;
}

static void free_prog(struct sys_prog_info *prog)
{
	if (!prog)
		return;
	sys_prog_info_deinit(prog);
	free(prog);
}
DEFINE_FREEP(struct sys_prog_info, free_prog)

/* Types that cannot be read are left out: the code is worth something without them. */
static struct error *add_btf(struct program_store *s, uint32_t id)
{
	struct bpf_btf_info info = {0};
	uint32_t len = sizeof(info);

	if (u64map_get(&s->known_btfs, id))
		return NULL;
	if (!u64map_put(&s->known_btfs, id, s))
		return error_nomem();
	_cleanup_close_ int fd = bpf_btf_get_fd_by_id(id);
	if (fd < 0 || bpf_btf_get_info_by_fd(fd, &info, &len) || !info.btf_size ||
	    info.btf_size > MAX_BTF || s->bytes + info.btf_size > MAX_BYTES)
		return NULL;
	const uint32_t size = info.btf_size;
	_cleanup_free_ void *data = calloc(1, size);
	if (!data)
		return error_nomem();
	info = (struct bpf_btf_info){.btf = (uintptr_t)data, .btf_size = size};
	len = sizeof(info);
	if (bpf_btf_get_info_by_fd(fd, &info, &len))
		return NULL;
	struct feature_btf *btf = vec_push(&s->btfs);
	if (!btf)
		return error_nomem();
	*btf = (struct feature_btf){.id = id, .data = steal_ptr(data), .size = size};
	s->bytes += size;
	return NULL;
}

static struct error *add_program(struct program_store *s, uint32_t id)
{
	_cleanup_(free_progp) struct sys_prog_info *prog = NULL;

	if (u64map_get(&s->known, id))
		return NULL;
	_cleanup_close_ int fd = bpf_prog_get_fd_by_id(id);
	if (fd < 0) {
		s->counts.gone += fd == -ENOENT;
		return NULL;
	}
	prog = calloc(1, sizeof(*prog));
	if (!prog)
		return error_nomem();
	struct error *err = sys_prog_info_read(fd, SYS_PROG_ALL, prog);
	const uint64_t size = err ? 0 : size_of(prog);
	if (err || s->bytes + size > MAX_BYTES) {
		error_free(err);
		s->counts.left_out++;
		return NULL;
	}
	const uint32_t btf_id = prog->info.btf_id;
	struct sys_prog_info **at = vec_push(&s->progs);
	if (!at || !u64map_put(&s->known, id, s)) {
		s->progs.n -= at != NULL;
		return error_nomem();
	}
	*at = steal_ptr(prog);
	s->bytes += size;
	return btf_id ? add_btf(s, btf_id) : NULL;
}

static struct error *on_bpf_event(struct session_tool *tool, struct session *session,
				  const struct record *rec, const struct record_bpf_event *ev)
{
	return ev->type == PERF_BPF_EVENT_PROG_LOAD ? add_program(tool->ctx, ev->id) : NULL;
}

static struct error *update(struct program_store *s)
{
	TRY(live_source_update(s->live));
	if (live_source_is_full(s->live))
		live_source_forget(s->live, NULL, NULL);
	return NULL;
}

static struct error *add_loaded(struct program_store *s)
{
	uint32_t id = 0;

	while (!bpf_prog_get_next_id(id, &id))
		TRY(add_program(s, id));
	return NULL;
}

static struct error *read_programs(struct program_store *s)
{
	struct pollfd fds[] = {
		{.fd = live_source_fd(s->live), .events = POLLIN},
		{.fd = s->stop_fd, .events = POLLIN},
	};

	TRY(add_loaded(s));
	while (!fds[1].revents) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			return error_errno(errno, "poll");
		TRY(update(s));
	}
	/* those whose announcements were lost */
	return add_loaded(s);
}

static void *thread_main(void *arg)
{
	struct program_store *s = arg;

	s->err = read_programs(s);
	return NULL;
}

struct error *program_store_new(const struct log *log, struct program_store **out)
{
	_cleanup_(program_store_freep) struct program_store *s = calloc(1, sizeof(*s));

	if (!s)
		return error_nomem();
	s->tool = (struct session_tool){.ctx = s, .bpf_event = on_bpf_event};
	s->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (s->stop_fd < 0)
		return error_errno(errno, "eventfd");
	const struct live_source_opts live = {
		.sz = sizeof(live), .log = log, .programs = true, .tool = &s->tool};
	TRY(live_source_new(&live, &s->live));
	*out = steal_ptr(s);
	return NULL;
}

struct error *program_store_start(struct program_store *s)
{
	TRY(error_prefix(thread_start(thread_main, s, &s->thread),
			 "cannot read BPF programs as they are loaded"));
	s->running = true;
	return NULL;
}

static int compare_ids(const void *x, const void *y)
{
	const struct sys_prog_info *a = *(void *const *)x, *b = *(void *const *)y;

	return (a->info.id > b->info.id) - (a->info.id < b->info.id);
}

static void end_thread(struct program_store *s)
{
	uint64_t one = 1;

	if (!s->running)
		return;
	while (write(s->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(s->thread, NULL);
	while (read(s->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	s->running = false;
}

struct error *program_store_stop(struct program_store *s)
{
	struct error *err;

	end_thread(s);
	if (s->progs.n)
		qsort(s->progs.v, s->progs.n, sizeof(*s->progs.v), compare_ids);
	err = s->err;
	s->err = NULL;
	return err;
}

void program_store_forget(struct program_store *s)
{
	struct sys_prog_info **prog;
	struct feature_btf *btf;

	vec_for_each (prog, &s->progs)
		free_prog(*prog);
	vec_for_each (btf, &s->btfs)
		free((void *)btf->data);
	vec_deinit(&s->progs);
	vec_deinit(&s->btfs);
	u64map_deinit(&s->known);
	u64map_deinit(&s->known_btfs);
	s->bytes = 0;
}

void program_store_free(struct program_store *s)
{
	if (!s)
		return;
	end_thread(s);
	error_free(s->err);
	live_source_free(s->live);
	closep(&s->stop_fd);
	program_store_forget(s);
	free(s);
}

const struct sys_prog_info *const *program_store_programs(const struct program_store *s, size_t *n)
{
	*n = s->progs.n;
	return (const struct sys_prog_info *const *)s->progs.v;
}

const struct feature_btf *program_store_btfs(const struct program_store *s, size_t *n)
{
	*n = s->btfs.n;
	return s->btfs.v;
}

struct program_store_counts program_store_counts(const struct program_store *s)
{
	struct program_store_counts counts = s->counts;

	counts.lost = live_source_lost(s->live);
	return counts;
}
