// SPDX-License-Identifier: BSD-2-Clause
#include "perf/record/passed_events.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/cursor.h"
#include "lib/sys/tracefs.h"
#include "perf/record/internal.h"

enum {
	MAGIC = 0x31504250, /* "PBP1" */
	SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL,
	MAX_PAGES = 1 << 16,
};

static void passed_event_deinit(struct passed_event *event)
{
	free(event->name);
	free(event->system);
	free(event->format);
	vec_deinit(&event->ids);
}

void passed_events_deinit(struct passed_events *passed)
{
	struct passed_event *event;

	vec_for_each (event, &passed->events)
		passed_event_deinit(event);
	vec_deinit(&passed->events);
	vec_deinit(&passed->cpus);
	free(passed->header_page);
	free(passed->header_event);
}
#define _cleanup_passed_ _cleanup_(passed_events_deinit)

/* ---- as bytes ---- */

static void put_u32(struct strbuf *out, uint32_t v)
{
	strbuf_add(out, &v, sizeof(v));
}

static void put_text(struct strbuf *out, const char *text)
{
	put_u32(out, (uint32_t)strlen(text));
	strbuf_adds(out, text);
}

void passed_events_write(const struct passed_events *passed, struct strbuf *out)
{
	const struct passed_event *event;

	put_u32(out, MAGIC);
	put_u32(out, passed->pages);
	put_u32(out, (uint32_t)passed->cpus.n);
	strbuf_add(out, passed->cpus.v, passed->cpus.n * sizeof(*passed->cpus.v));
	put_text(out, passed->header_page);
	put_text(out, passed->header_event);
	put_u32(out, (uint32_t)passed->events.n);
	vec_for_each (event, &passed->events) {
		put_text(out, event->name);
		put_text(out, event->system);
		put_text(out, event->format);
		put_u32(out, sizeof(event->attr));
		strbuf_add(out, &event->attr, sizeof(event->attr));
		put_u32(out, (uint32_t)event->ids.n);
		strbuf_add(out, event->ids.v, event->ids.n * sizeof(*event->ids.v));
	}
}

/* A text without NULs; false also without memory. */
static bool take_text(struct cursor *c, char **out)
{
	uint32_t n;
	const char *text;

	if (!cursor_u32(c, &n) || !(text = cursor_bytes(c, n)) || memchr(text, '\0', n))
		return false;
	*out = strndup(text, n);
	return *out;
}

static bool take_event(struct cursor *c, struct passed_event *event)
{
	uint32_t size, n;

	if (!take_text(c, &event->name) || !take_text(c, &event->system) ||
	    !take_text(c, &event->format))
		return false;
	/* both sides are one program */
	if (!cursor_u32(c, &size) || size != sizeof(event->attr) ||
	    !cursor_copy(c, &event->attr, sizeof(event->attr)) || !cursor_u32(c, &n) || !n ||
	    n > cursor_left(c) / sizeof(uint64_t) || !vec_reserve(&event->ids, n))
		return false;
	event->ids.n = n;
	const uint64_t fixed = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	return *event->name && (event->attr.sample_type & (fixed | PERF_SAMPLE_IP)) == fixed &&
	       cursor_copy(c, event->ids.v, n * sizeof(uint64_t));
}

struct error *passed_events_parse(const void *data, size_t size, struct passed_events *out)
{
	_cleanup_passed_ struct passed_events got = {0};
	struct cursor c = cursor_make(data, size, "the description of events");
	uint32_t magic, n_cpus, n_events = 0;

	bool ok = cursor_u32(&c, &magic) && magic == MAGIC && cursor_u32(&c, &got.pages) &&
		  got.pages && got.pages <= MAX_PAGES && !(got.pages & (got.pages - 1)) &&
		  cursor_u32(&c, &n_cpus) && n_cpus && n_cpus < PASSED_FDS_MAX &&
		  vec_reserve(&got.cpus, n_cpus) &&
		  cursor_copy(&c, got.cpus.v, n_cpus * sizeof(uint32_t));
	got.cpus.n = ok ? n_cpus : 0;
	for (size_t i = 0; i < got.cpus.n; i++)
		ok &= got.cpus.v[i] <= INT32_MAX && (!i || got.cpus.v[i] > got.cpus.v[i - 1]);
	/* one that is recorded, and that of the rings */
	ok = ok && take_text(&c, &got.header_page) && take_text(&c, &got.header_event) &&
	     cursor_u32(&c, &n_events) && n_events > 1 && n_events <= PASSED_EVENTS_MAX;
	for (uint32_t i = 0; ok && i < n_events; i++) {
		struct passed_event *event = vec_push(&got.events);

		ok = event && take_event(&c, event);
	}
	if (!ok || !cursor_end(&c))
		return error_new(EBADMSG, "the description of the events is invalid");
	*out = got;
	got = (struct passed_events){0};
	return NULL;
}

/* ---- giving ---- */

static struct error *describe(void *ctx, const struct live_event *live)
{
	struct passed_events *passed = ctx;
	struct passed_event *event = vec_push(&passed->events);

	if (!event)
		return error_nomem();
	event->name = strdup(live->name);
	event->system = strdup(live->system ? live->system : "");
	event->format = live->format ? strndup(live->format, live->format_size) : strdup("");
	event->attr = live->attr;
	if (!event->name || !event->system || !event->format ||
	    !vec_reserve(&event->ids, live->n_ids))
		return error_nomem();
	for (size_t i = 0; i < live->n_ids; i++)
		event->ids.v[event->ids.n++] = live->ids[i];
	return NULL;
}

/* What tracepoints need; all events are those of programs. */
static struct error *read_headers(const struct recording *rec, struct passed_events *passed)
{
	const struct event *event;
	bool any = false;

	vec_for_each (event, &rec->events) {
		if (event->kind == EVENT_SELECTED)
			return error_new(EINVAL, "event '%s' is not that of a program",
					 event->name);
		any |= event->tracepoint != NULL;
	}
	if (any) {
		TRY(sys_tracefs_read(rec->roots, "events/header_page", 1 << 16,
				     &passed->header_page, NULL));
		TRY(sys_tracefs_read(rec->roots, "events/header_event", 1 << 16,
				     &passed->header_event, NULL));
		return NULL;
	}
	passed->header_page = strdup("");
	passed->header_event = strdup("");
	return passed->header_page && passed->header_event ? NULL : error_nomem();
}

static struct error *put_description(const struct passed_events *passed, int *fd)
{
	_cleanup_close_ int got = memfd_create("events", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	passed_events_write(passed, &text);
	if (strbuf_failed(&text))
		return error_nomem();
	if (text.len > PASSED_BYTES_MAX)
		return error_new(E2BIG, "the events have descriptions of %zu bytes", text.len);
	if (got < 0 || write(got, text.str, text.len) != (ssize_t)text.len ||
	    fcntl(got, F_ADD_SEALS, SEALS))
		return error_errno(errno, "cannot describe the events");
	*fd = steal_fd(&got);
	return NULL;
}

struct error *passed_events_give(struct recording *rec, int *fds, size_t max, size_t *n)
{
	_cleanup_passed_ struct passed_events passed = {.pages = (uint32_t)rec->mmap_pages};
	const struct event *tracking = vec_last(&rec->events);
	const struct event_fd *efd;
	size_t k = 1;

	TRY(read_headers(rec, &passed));
	TRY(live_events_each(rec, describe, &passed));
	if (tracking->fds.n + 1 > max)
		return error_new(E2BIG, "the rings of %zu CPUs cannot be passed; %zu can",
				 (size_t)tracking->fds.n, max - 1);
	vec_for_each (efd, &tracking->fds) {
		uint32_t *cpu = vec_push(&passed.cpus);

		if (!cpu)
			return error_nomem();
		*cpu = (uint32_t)efd->cpu;
	}
	int description = -1;
	TRY(put_description(&passed, &description));
	fds[0] = description;
	vec_for_each (efd, &tracking->fds) {
		fds[k] = fcntl(efd->fd, F_DUPFD_CLOEXEC, 3);
		if (fds[k] < 0) {
			struct error *err = error_errno(errno, "cannot pass the rings");

			while (k)
				close(fds[--k]);
			return err;
		}
		k++;
	}
	*n = k;
	return NULL;
}

struct error *passed_events_each_program(const struct recording *rec,
					 struct error *(*fn)(void *ctx,
							     const struct bpf_program *prog),
					 void *ctx)
{
	const struct record_object *object;
	struct bpf_program *prog;

	vec_for_each (object, &rec->objects)
		bpf_object__for_each_program (prog, object->file.obj)
			if (bpf_program__fd(prog) >= 0)
				TRY(fn(ctx, prog));
	return NULL;
}

/* ---- taking ---- */

static struct error *read_description(int fd, struct passed_events *passed)
{
	_cleanup_free_ void *data = NULL;
	struct stat st;

	/* it cannot shrink while it is read */
	if (fcntl(fd, F_GET_SEALS) != SEALS || fstat(fd, &st) || st.st_size > PASSED_BYTES_MAX)
		return error_new(EBADMSG, "the description of the events is invalid");
	data = malloc((size_t)st.st_size + 1);
	if (!data)
		return error_nomem();
	if (pread(fd, data, (size_t)st.st_size, 0) != st.st_size)
		return error_errno(errno, "cannot read the description of the events");
	return passed_events_parse(data, (size_t)st.st_size, passed);
}

/* An event whose descriptors the other process has. */
static struct error *take_passed(struct recording *rec, struct passed_event *passed, bool last)
{
	const struct perf_event_attr *attr = &passed->attr;
	const bool output =
		attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT;
	struct event *event = event_new(rec,
					last	 ? EVENT_TRACKING
					: output ? EVENT_OUTPUT
						 : EVENT_PROGRAM,
					passed->name);

	if (!event || !vec_reserve(&event->fds, passed->ids.n))
		return error_nomem();
	event->attr = *attr;
	if (*passed->format) {
		event->system = steal_ptr(passed->system);
		event->format = steal_ptr(passed->format);
	}
	for (size_t i = 0; i < passed->ids.n; i++) {
		event->fds.v[event->fds.n++] = (struct event_fd){
			.fd = -1, .cpu = -1, .tid = -1, .cgroup = -1, .id = passed->ids.v[i]};
		if (!u64map_put(&rec->ids, passed->ids.v[i], (void *)(event - rec->events.v + 1)))
			return error_nomem();
	}
	return NULL;
}

/* The descriptors are the rings'. */
static struct error *take_rings(struct recording *rec, const struct passed_events *passed, int *fds)
{
	struct event *tracking = vec_last(&rec->events);

	if (tracking->fds.n != passed->cpus.n || !vec_reserve(&rec->rings, passed->cpus.n))
		return error_new(EBADMSG, "the description of the events is invalid");
	rec->mmap_pages = passed->pages;
	for (size_t i = 0; i < passed->cpus.n; i++) {
		struct cpu_ring *ring = vec_push(&rec->rings);
		int *fd = vec_push(&ring->fds);

		if (!fd)
			return error_nomem();
		*fd = tracking->fds.v[i].fd = fds[i];
		fds[i] = -1;
		tracking->fds.v[i].cpu = ring->cpu = (int)passed->cpus.v[i];
		ring->tid = -1;
		TRY(perf_ring_init(&ring->ring, *fd, rec->mmap_pages));
	}
	return NULL;
}

static struct error *on_end(void *ctx, uint32_t events)
{
	struct recording *rec = ctx;

	loop_unwatch(rec->loop, rec->end_fd);
	rec->opts.adopted_end(rec->opts.adopt_ctx);
	loop_end(rec->loop);
	return NULL;
}

struct error *recording_watch(struct recording *rec, int fd)
{
	rec->end_fd = fd;
	return loop_watch(rec->loop, fd, on_end, rec);
}

struct error *passed_events_take(struct recording *rec)
{
	_cleanup_passed_ struct passed_events passed = {0};
	int fds[PASSED_FDS_MAX];
	size_t n = 0;

	TRY(rec->opts.adopt(rec->opts.adopt_ctx, fds, PASSED_FDS_MAX, &n));
	struct error *err =
		n ? read_description(fds[0], &passed) : error_new(EBADMSG, "no events were passed");
	if (!err && passed.cpus.n != n - 1)
		err = error_new(EBADMSG, "the description of the events is invalid");
	for (size_t i = 0; !err && i < passed.events.n; i++)
		err = take_passed(rec, &passed.events.v[i], i + 1 == passed.events.n);
	if (!err)
		err = take_rings(rec, &passed, fds + 1);
	rec->header_page = steal_ptr(passed.header_page);
	rec->header_event = steal_ptr(passed.header_event);
	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	rec->with_id = rec->no_ip = true;
	rec->no_lost = true; /* only the other process could read the counts */
	return err;
}
