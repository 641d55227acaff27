// SPDX-License-Identifier: BSD-2-Clause
/*
 * A source whose program another process has loaded, and that process's side. The reader has
 * descriptors of what it shows: the ring, the sums, the numbers of what was lost, and the states of
 * calls that still run. The maps by which the program selects, and those whose keys or values are
 * addresses of the kernel, are not passed.
 */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/object/object.h"
#include "lib/sys/descriptors.h"
#include "trace/call_recording.h"
#include "trace/internal.h"
#include "trace/trace_request.h"

static bool is_passed(const struct bpf_map *map)
{
	static const char *const names[] = {
		"ring", "lost", "rows", "thread_rows", "cgroup_rows", "errnos", "stores",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(bpf_map__name(map), names[i]))
			return true;
	return false;
}

const void *trace_source_program(size_t *size)
{
	*size = trace_object_size;
	return trace_object;
}

/* ---- the reader ---- */

static struct error *copy_ids(const pid_t *ids, size_t n, const char *what, uint32_t *to,
			      uint32_t *n_to)
{
	if (n > TRACE_REQUEST_IDS)
		return error_new(E2BIG, "at most %d %s can be named without privileges",
				 TRACE_REQUEST_IDS, what);
	for (size_t i = 0; i < n; i++)
		to[i] = (uint32_t)ids[i];
	*n_to = (uint32_t)n;
	return NULL;
}

static struct error *make_request(const struct trace_source *source,
				  const struct trace_source_opts *opts,
				  struct trace_request *request)
{
	const struct trace_config *c = &source->config;

	if (c->where || c->stacks || c->cgroup)
		return error_new(ENOTSUP, "conditions, call chains and cgroups cannot be traced "
					  "without privileges");
	*request = (struct trace_request){
		.min_ns = c->min_ns,
		.string_size = c->string_size,
		.self = c->self,
		.n_uids = c->n_uids,
		.events = c->events,
		.summary = c->summary,
		.fds = opts->fds,
		.signals = c->signals,
		.ends = c->ends,
		.failed_only = c->failed_only,
		.no_inherit = opts->no_inherit,
		.sums_by = c->sums_by,
	};
	memcpy(request->uids, c->uids, sizeof(request->uids));
	TRY(copy_ids(opts->pids, opts->n_pids, "processes", request->pids, &request->n_pids));
	TRY(copy_ids(opts->tids, opts->n_tids, "threads", request->tids, &request->n_tids));
	TRY(copy_ids(opts->exclude, opts->n_exclude, "excluded processes", request->excluded,
		     &request->n_excluded));
	return trace_request_set_calls(request, opts->calls);
}

struct error *trace_source_ask(struct trace_source *source, const struct trace_source_opts *opts)
{
	struct trace_request request;
	_cleanup_free_ int *fds = NULL;
	struct bpf_map *map;
	size_t n = 0;

	TRY(make_request(source, opts, &request));
	bpf_object__for_each_map (map, source->obj)
		n++;
	const size_t all = n + TRACE_PASSED_OTHERS;
	fds = malloc(all * sizeof(*fds));
	if (!fds)
		return error_nomem();
	for (size_t i = 0; i < all; i++)
		fds[i] = -1;
	struct error *err = opts->ask(opts->ask_ctx, &request, fds, all);
	source->iter_fd = fds[n + TRACE_PASSED_RUNNING];
	source->formats_fd = fds[n + TRACE_PASSED_FORMATS];
	source->end_fd = fds[n + TRACE_PASSED_END];
	if (!err && source->iter_fd < 0)
		err = error_new(EPROTO, "nothing was passed that reads calls that still run");
	if (!err)
		err = object_adopt_maps(source->obj, fds, n);
	for (size_t i = 0; i < n; i++)
		closep(&fds[i]);
	return err;
}

struct error *trace_source_end_asked(struct trace_source *source)
{
	struct trace_missed missed;

	TRY(source->ask_end(source->ask_ctx));
	if (pread(source->end_fd, &missed, sizeof(missed), 0) == sizeof(missed))
		source->missed = missed;
	return NULL;
}

struct error *trace_source_formats(const struct trace_source *source, struct strbuf *out)
{
	if (source->formats_fd < 0)
		return error_new(ENOENT, "the formats of the tracepoints are not known");
	return memory_file_read(source->formats_fd, out);
}

/* ---- the process that traces for it ---- */

/* A user without privileges cannot read tracefs. */
static void pass_formats(const struct trace_source *source, int *fd)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *err = call_recording_formats(NULL, &text);

	if (!err)
		err = memory_file_new("formats", text.str, text.len, fd);
	if (err)
		log_info(source->log, "a recording is not possible: %s", err->msg);
	error_free(err);
}

struct error *trace_source_each_program(const struct trace_source *source, trace_program_fn *fn,
					void *ctx)
{
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, source->obj)
		if (bpf_program__fd(prog) >= 0)
			TRY(fn(ctx, prog));
	return NULL;
}

void trace_source_say_missed(const struct trace_source *source)
{
	if (source->end_fd >= 0 &&
	    pwrite(source->end_fd, &source->missed, sizeof(source->missed), 0) < 0)
		log_info(source->log, "cannot pass the losses: %s", strerror(errno));
}

/* A file that is empty until the end. */
static struct error *pass_end(struct trace_source *source, int *fd)
{
	TRY(memory_file_new("end", "", 0, &source->end_fd));
	*fd = fcntl(source->end_fd, F_DUPFD_CLOEXEC, 3);
	return *fd < 0 ? error_errno(errno, "cannot pass a file in memory") : NULL;
}

struct error *trace_source_pass(struct trace_source *source, int *fds, size_t max, size_t *n)
{
	struct bpf_map *map;

	*n = 0;
	bpf_object__for_each_map (map, source->obj) {
		if (*n + TRACE_PASSED_OTHERS >= max)
			return error_new(E2BIG, "the program has more than %zu maps", max);
		fds[*n] = -1;
		if (is_passed(map) && bpf_map__fd(map) >= 0)
			TRY(object_pass_map(map, &fds[*n]));
		++*n;
	}
	int *const others = fds + *n;
	others[TRACE_PASSED_RUNNING] = bpf_iter_create(bpf_link__fd(source->iter));
	if (others[TRACE_PASSED_RUNNING] < 0)
		return error_errno(errno, "cannot read the calls that still run");
	others[TRACE_PASSED_FORMATS] = -1;
	pass_formats(source, &others[TRACE_PASSED_FORMATS]);
	TRY(pass_end(source, &others[TRACE_PASSED_END]));
	*n += TRACE_PASSED_OTHERS;
	return NULL;
}
