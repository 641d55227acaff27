// SPDX-License-Identifier: BSD-2-Clause
/*
 * A perf event array as a stream: for each CPU an event of the software PMU
 * ("bpf-output"), its ring mapped, and its descriptor in the map under the
 * CPU's number, where bpf_perf_event_output() with BPF_F_CURRENT_CPU looks for
 * it. A CPU's ring is read up to where its head was when reading began, and
 * given back to the kernel as a whole.
 */
#include <bpf/bpf.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "lib/base/edge.h"
#include "lib/ring/internal.h"
#include "lib/ring/perf_ring.h"
#include "lib/sys/sys.h"

struct cpu_buffer {
	struct perf_buffer *pb;
	struct perf_ring ring;
	int fd;
	int cpu;
	int key;
	bool in_map;
};

struct perf_buffer {
	struct cpu_buffer *cpus; /* as many as are open; room for all from the beginning */
	size_t n;
	struct epoll_event *events;
	int epoll_fd;
	int map_fd;
	uint8_t *scratch;
	perf_buffer_event_fn event_cb; /* NULL: the other two */
	perf_buffer_sample_fn sample_cb;
	perf_buffer_lost_fn lost_cb;
	void *ctx;
};

static enum bpf_perf_event_ret see(struct perf_buffer *pb, int cpu, struct perf_event_header *event)
{
	void *data;
	uint32_t size;
	uint64_t lost;

	if (pb->event_cb)
		return pb->event_cb(pb->ctx, cpu, event);
	if (event->type == PERF_RECORD_SAMPLE && perf_record_raw(event, &data, &size)) {
		if (pb->sample_cb)
			pb->sample_cb(pb->ctx, cpu, data, size);
	} else if (event->type == PERF_RECORD_LOST && perf_record_lost(event, &lost)) {
		if (pb->lost_cb)
			pb->lost_cb(pb->ctx, cpu, lost);
	} else {
		log_warn(edge_log(), "CPU %d: unexpected record of type %u with %u bytes", cpu,
			 event->type, event->size);
		return LIBBPF_PERF_EVENT_ERROR;
	}
	return LIBBPF_PERF_EVENT_CONT;
}

/* 0, LIBBPF_PERF_EVENT_ERROR or -EBADMSG. */
static int buffer_drain(struct cpu_buffer *cpu)
{
	enum bpf_perf_event_ret ret = LIBBPF_PERF_EVENT_CONT;
	struct perf_event_header *event;
	struct iovec iov[2];
	uint64_t done = 0;
	int more = 0;

	int n = perf_ring_peek(&cpu->ring, iov);
	struct perf_records records = perf_records_make(iov, n, cpu->pb->scratch);
	while (ret == LIBBPF_PERF_EVENT_CONT) {
		more = perf_records_next(&records, &event);
		if (more <= 0)
			break;
		done += event->size;
		ret = see(cpu->pb, cpu->cpu, event);
	}
	if (done)
		perf_ring_consume_bytes(&cpu->ring, done);
	if (more < 0)
		return more;
	return ret == LIBBPF_PERF_EVENT_CONT ? 0 : ret;
}

static struct error *buffer_open(struct perf_buffer *pb, const struct perf_event_attr *attr,
				 size_t pages, int cpu, int key)
{
	struct cpu_buffer *buffer = &pb->cpus[pb->n];

	/* Counted from the first moment: what follows is undone by perf_buffer__free(). */
	*buffer = (struct cpu_buffer){.pb = pb, .cpu = cpu, .key = key};
	buffer->fd = sys_perf_event_open(attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	pb->n++;
	if (buffer->fd < 0)
		return error_errno(-buffer->fd, "cannot open a perf event on CPU %d", cpu);
	struct error *err = perf_ring_init(&buffer->ring, buffer->fd, pages);
	if (err && err->code == EPERM)
		err = error_hint(err, "the limit of locked memory is too low: use fewer pages, or "
				      "raise /proc/sys/kernel/perf_event_mlock_kb");
	TRY(error_prefix(err, "CPU %d", cpu));
	TRY(sys_perf_enable(buffer->fd));
	int ret = bpf_map_update_elem(pb->map_fd, &key, &buffer->fd, BPF_ANY);
	if (ret)
		return error_errno(-ret, "cannot store the ring of CPU %d in the map (key %d)", cpu,
				   key);
	buffer->in_map = true;
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = buffer};
	if (epoll_ctl(pb->epoll_fd, EPOLL_CTL_ADD, buffer->fd, &event))
		return error_errno(errno, "cannot wait for CPU %d's ring", cpu);
	return NULL;
}

static struct error *buffers_open(struct perf_buffer *pb, const struct perf_event_attr *attr,
				  size_t pages, const struct perf_buffer_raw_opts *opts)
{
	int n = OPTS_GET(opts, cpu_cnt, 0);
	const int *cpus = OPTS_GET(opts, cpus, NULL), *keys = OPTS_GET(opts, map_keys, NULL);
	_cleanup_cpus_ struct sys_cpus online = {0};
	struct bpf_map_info info = {0};
	uint32_t len = sizeof(info);

	int ret = bpf_map_get_info_by_fd(pb->map_fd, &info, &len);
	if (ret)
		return error_errno(-ret, "cannot read the info of map descriptor %d", pb->map_fd);
	if (info.type != BPF_MAP_TYPE_PERF_EVENT_ARRAY)
		return error_hint(error_new(EINVAL, "map '%s' is of type %s", info.name,
					    libbpf_bpf_map_type_str(info.type) ?: "unknown"),
				  "pass a map of type perf_event_array");
	if (n > 0 && (!cpus || !keys))
		return error_new(EINVAL, "cpu_cnt is %d, but cpus or map_keys is NULL", n);
	if (n <= 0)
		TRY(sys_cpus_online(NULL, &online));

	size_t most = n > 0 ? (size_t)n : online.n;
	pb->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (pb->epoll_fd < 0)
		return error_errno(errno, "cannot create an epoll descriptor");
	pb->cpus = calloc(most ?: 1, sizeof(*pb->cpus));
	pb->events = calloc(most ?: 1, sizeof(*pb->events));
	pb->scratch = malloc(PERF_RECORD_MAX);
	if (!pb->cpus || !pb->events || !pb->scratch)
		return error_nomem();
	for (size_t i = 0; i < most; i++) {
		if (n > 0)
			TRY(buffer_open(pb, attr, pages, cpus[i], keys[i]));
		else if (online.v[i] < info.max_entries)
			TRY(buffer_open(pb, attr, pages, online.v[i], online.v[i]));
	}
	return NULL;
}

/* what: the callbacks and ctx. */
static struct perf_buffer *buffer_new(int map_fd, size_t pages, const struct perf_event_attr *attr,
				      const struct perf_buffer_raw_opts *opts,
				      const struct perf_buffer *what)
{
	if (!pages || pages & (pages - 1) || pages > SIZE_MAX / 2 / sys_page_size())
		return edge_null(
			error_hint(error_new(EINVAL, "invalid ring size of %zu pages", pages),
				   "the number of pages must be a power of two"));
	struct perf_buffer *pb = malloc(sizeof(*pb));
	if (!pb)
		return edge_null(error_nomem());
	*pb = *what;
	pb->map_fd = map_fd;
	pb->epoll_fd = -1;
	struct error *err = buffers_open(pb, attr, pages, opts);
	if (!err)
		return pb;
	perf_buffer__free(pb);
	return edge_null(err);
}

struct perf_buffer *perf_buffer__new(int map_fd, size_t page_cnt, perf_buffer_sample_fn sample_cb,
				     perf_buffer_lost_fn lost_cb, void *ctx,
				     const struct perf_buffer_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, perf_buffer_opts);
	if (err)
		return edge_null(err);
	uint32_t period = OPTS_GET(opts, sample_period, 0) ?: 1;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
		.sample_period = period,
		.wakeup_events = period,
	};
	struct perf_buffer what = {.sample_cb = sample_cb, .lost_cb = lost_cb, .ctx = ctx};

	return buffer_new(map_fd, page_cnt, &attr, NULL, &what);
}

struct perf_buffer *perf_buffer__new_raw(int map_fd, size_t page_cnt, struct perf_event_attr *attr,
					 perf_buffer_event_fn event_cb, void *ctx,
					 const struct perf_buffer_raw_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, perf_buffer_raw_opts);
	if (!err && (!attr || !event_cb))
		err = error_new(EINVAL, "attr and event_cb must not be NULL");
	if (err)
		return edge_null(err);
	struct perf_buffer what = {.event_cb = event_cb, .ctx = ctx};

	return buffer_new(map_fd, page_cnt, attr, opts, &what);
}

void perf_buffer__free(struct perf_buffer *pb)
{
	if (!pb)
		return;
	for (size_t i = 0; i < pb->n; i++) {
		struct cpu_buffer *cpu = &pb->cpus[i];

		if (cpu->in_map)
			bpf_map_delete_elem(pb->map_fd, &cpu->key);
		perf_ring_deinit(&cpu->ring);
		closep(&cpu->fd);
	}
	free(pb->cpus);
	free(pb->events);
	free(pb->scratch);
	closep(&pb->epoll_fd);
	free(pb);
}

int perf_buffer__epoll_fd(const struct perf_buffer *pb)
{
	return pb->epoll_fd;
}

static int drained(int ret)
{
	return ret < 0 ? edge_errno(-ret) : ret;
}

int perf_buffer__poll(struct perf_buffer *pb, int timeout_ms)
{
	int n = epoll_wait(pb->epoll_fd, pb->events, pb->n ? (int)pb->n : 1, timeout_ms);

	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		int ret = buffer_drain(pb->events[i].data.ptr);

		if (ret)
			return drained(ret);
	}
	return n;
}

int perf_buffer__consume(struct perf_buffer *pb)
{
	for (size_t i = 0; i < pb->n; i++) {
		int ret = buffer_drain(&pb->cpus[i]);

		if (ret)
			return drained(ret);
	}
	return 0;
}

int perf_buffer__consume_buffer(struct perf_buffer *pb, size_t buf_idx)
{
	if (buf_idx >= pb->n)
		return edge_errno(EINVAL);
	return drained(buffer_drain(&pb->cpus[buf_idx]));
}

size_t perf_buffer__buffer_cnt(const struct perf_buffer *pb)
{
	return pb->n;
}

int perf_buffer__buffer_fd(const struct perf_buffer *pb, size_t buf_idx)
{
	return buf_idx < pb->n ? pb->cpus[buf_idx].fd : edge_errno(EINVAL);
}

int perf_buffer__buffer(struct perf_buffer *pb, int buf_idx, void **buf, size_t *buf_size)
{
	if (buf_idx < 0 || (size_t)buf_idx >= pb->n)
		return edge_errno(EINVAL);
	*buf = pb->cpus[buf_idx].ring.meta;
	*buf_size = pb->cpus[buf_idx].ring.size;
	return 0;
}
