// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpf_link: what holds a program attached. There are three things in the
 * kernel that do: a BPF link (an object of its own, which can be pinned), the
 * fd of a raw tracepoint (which is a BPF link since 5.7), and a perf event to
 * which the program was given by ioctl. All of them end with their last fd, so
 * that nothing stays behind when a process is killed. A link may also be made
 * of others, where a kernel takes one place at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/attach/internal.h"

struct bpf_link {
	int fd;	     /* the BPF link, or the perf event where there is none */
	int perf_fd; /* the perf event below a BPF link, or itself; -1: none */
	char *pin_path;
	bool disconnected;

	struct bpf_link **parts; /* a link made of others has no descriptor of its own */
	size_t n_parts;
	void (*done)(void *ctx, bool detached);
	void *ctx;
};

struct bpf_link *link_new(int fd)
{
	struct bpf_link *link = calloc(1, sizeof(*link));

	if (link) {
		link->fd = fd;
		link->perf_fd = -1;
	}
	return link;
}

struct bpf_link *link_of_parts(struct bpf_link **parts, size_t n)
{
	struct bpf_link *link = link_new(-1);

	if (link) {
		link->parts = parts;
		link->n_parts = n;
	}
	return link;
}

void link_on_destroy(struct bpf_link *link, void (*done)(void *ctx, bool detached), void *ctx)
{
	link->done = done;
	link->ctx = ctx;
}

struct error *link_of(int fd, struct bpf_link **link)
{
	*link = link_new(fd);
	if (!*link) {
		close(fd);
		return error_nomem();
	}
	return NULL;
}

struct error *link_attach(const struct bpf_program *prog, int target, const char *where,
			  const struct bpf_link_create_opts *opts, struct bpf_link **link)
{
	int prog_fd;

	TRY(program_fd(prog, &prog_fd));
	const int fd =
		bpf_link_create(prog_fd, target, bpf_program__expected_attach_type(prog), opts);
	if (fd < 0)
		return error_errno(-fd, "cannot attach to %s", where);
	return link_of(fd, link);
}

int bpf_link__fd(const struct bpf_link *link)
{
	return link->fd;
}

const char *bpf_link__pin_path(const struct bpf_link *link)
{
	return link->pin_path;
}

struct bpf_link *bpf_link__open(const char *path)
{
	int fd = bpf_obj_get(path);

	if (fd < 0)
		return edge_null(error_errno(-fd, "cannot open the pinned link %s", path));
	struct bpf_link *link = link_new(fd);
	if (link)
		link->pin_path = strdup(path);
	if (!link || !link->pin_path) {
		free(link);
		close(fd);
		return edge_null(error_nomem());
	}
	return link;
}

static struct error *link_pin(struct bpf_link *link, const char *path)
{
	if (link->pin_path)
		return error_new(EBUSY, "the link is already pinned at %s", link->pin_path);
	if (link->parts)
		return error_new(
			EOPNOTSUPP,
			"on this kernel the link consists of %zu links and cannot be pinned",
			link->n_parts);
	_cleanup_free_ char *copy = strdup(path);
	if (!copy)
		return error_nomem();
	struct error *err = error_prefix(pin_fd(link->fd, path), "the link");
	if (err && link->fd == link->perf_fd && err->code == EINVAL && !err->hint)
		return error_hint(err, "kernels before 5.15 attach to perf events without a BPF "
				       "link, and a perf event cannot be pinned");
	if (err)
		return err;
	link->pin_path = steal_ptr(copy);
	return NULL;
}

int bpf_link__pin(struct bpf_link *link, const char *path)
{
	return edge_int(link_pin(link, path));
}

int bpf_link__unpin(struct bpf_link *link)
{
	if (!link->pin_path)
		return edge_errno(EINVAL);
	if (unlink(link->pin_path))
		return edge_int(error_errno(errno, "cannot unpin %s", link->pin_path));
	free(link->pin_path);
	link->pin_path = NULL;
	return 0;
}

/* Links of tracing; those of cgroups, networks and iterators take another program. */
static bool keeps_program(const struct bpf_link *link)
{
	struct bpf_link_info info = {0};
	__u32 len = sizeof(info);

	if (link->fd == link->perf_fd || bpf_link_get_info_by_fd(link->fd, &info, &len))
		return true; /* a perf event without a link */
	switch ((int)info.type) {
	case BPF_LINK_TYPE_RAW_TRACEPOINT:
	case BPF_LINK_TYPE_TRACING:
	case BPF_LINK_TYPE_PERF_EVENT:
	case BPF_LINK_TYPE_KPROBE_MULTI:
	case BPF_LINK_TYPE_UPROBE_MULTI:
		return true;
	default:
		return false;
	}
}

int bpf_link__update_program(struct bpf_link *link, struct bpf_program *prog)
{
	int fd;
	struct error *err = program_fd(prog, &fd);

	if (!err && link->parts)
		err = error_new(EOPNOTSUPP,
				"on this kernel the link consists of %zu links and cannot change "
				"its program",
				link->n_parts);
	if (!err) {
		int ret = bpf_link_update(link->fd, fd, NULL);
		if (ret < 0)
			err = error_errno(-ret, "cannot replace the link's program");
		if (ret < 0 && keeps_program(link))
			err = error_hint(err, "a tracing link cannot change its program: attach "
					      "the new program, then destroy this link");
	}
	return edge_int(attach_error_at(prog, err));
}

void bpf_link__disconnect(struct bpf_link *link)
{
	link->disconnected = true;
	for (size_t i = 0; i < link->n_parts; i++)
		bpf_link__disconnect(link->parts[i]);
}

int bpf_link__detach(struct bpf_link *link)
{
	int failed = 0;

	if (link->parts) {
		for (size_t i = 0; i < link->n_parts; i++) {
			int ret = bpf_link__detach(link->parts[i]);

			failed = ret && !failed ? ret : failed;
		}
		return failed;
	}
	int ret = bpf_link_detach(link->fd);

	if (ret >= 0)
		return 0;
	struct error *err = error_errno(-ret, "cannot detach the link");
	return edge_int(ret == -EOPNOTSUPP || ret == -EINVAL
				? error_hint(err, "a tracing link cannot be detached by force: "
						  "call bpf_link__destroy()")
				: err);
}

int bpf_link__destroy(struct bpf_link *link)
{
	struct error *err = NULL;
	int saved = errno;

	if (!link)
		return 0;
	for (size_t i = 0; i < link->n_parts; i++)
		bpf_link__destroy(link->parts[i]);
	free(link->parts);
	if (!link->disconnected && link->fd >= 0) {
		if (link->perf_fd >= 0)
			err = sys_perf_disable(link->perf_fd);
		if (link->fd != link->perf_fd)
			close(link->fd);
		if (link->perf_fd >= 0)
			close(link->perf_fd);
	}
	if (link->done)
		link->done(link->ctx, !link->disconnected && !link->pin_path);
	free(link->pin_path);
	free(link);
	if (err)
		return edge_int(err);
	errno = saved;
	return 0;
}

struct error *perf_fd_attach(const struct bpf_program *prog, int perf_fd,
			     const struct bpf_perf_event_opts *opts, struct bpf_link **out)
{
	const bool force_ioctl = OPTS_GET(opts, force_ioctl_attach, false);
	const uint64_t cookie = OPTS_GET(opts, bpf_cookie, 0);
	int fd, link_fd = -1;

	TRY(program_fd(prog, &fd));
	struct bpf_link *link = link_new(perf_fd);
	if (!link)
		return error_nomem();
	struct error *err = NULL;
	if (!force_ioctl && sys_bpf_has(SYS_BPF_PERF_LINK)) {
		LIBBPF_OPTS(bpf_link_create_opts, create, .perf_event.bpf_cookie = cookie);
		link_fd = bpf_link_create(fd, perf_fd, BPF_PERF_EVENT, &create);
		if (link_fd < 0)
			err = error_errno(-link_fd, "cannot attach the program to the perf event");
	} else if (cookie && force_ioctl) {
		err = error_hint(error_new(EOPNOTSUPP, "a cookie needs a BPF link, and this attach "
						       "mode does not create one"),
				 "attach with PROBE_ATTACH_MODE_LINK, or without a cookie");
	} else if (cookie) {
		err = error_new(
			EOPNOTSUPP,
			"a cookie needs a BPF link to the perf event, which needs Linux 5.15");
	} else {
		err = sys_perf_set_bpf(perf_fd, fd);
	}
	if (!err && !OPTS_GET(opts, dont_enable, false))
		err = sys_perf_enable(perf_fd);
	if (err) {
		if (link_fd >= 0)
			close(link_fd);
		free(link);
		return err;
	}
	if (link_fd >= 0)
		link->fd = link_fd;
	link->perf_fd = perf_fd;
	*out = link;
	return NULL;
}

void link_close_event(struct bpf_link *link)
{
	if (link->perf_fd < 0 || link->perf_fd == link->fd)
		return;
	close(link->perf_fd);
	link->perf_fd = -1;
}

struct bpf_link *bpf_program__attach_perf_event_opts(const struct bpf_program *prog, int pfd,
						     const struct bpf_perf_event_opts *opts)
{
	struct bpf_link *link = NULL;
	struct error *err = OPTS_CHECK(opts, bpf_perf_event_opts);

	if (!err && pfd < 0)
		err = error_new(EINVAL, "%d is not the file descriptor of a perf event", pfd);
	if (!err)
		err = perf_fd_attach(prog, pfd, opts, &link);
	return err ? edge_null(attach_error_at(prog, err)) : link;
}

struct bpf_link *bpf_program__attach_perf_event(const struct bpf_program *prog, int pfd)
{
	return bpf_program__attach_perf_event_opts(prog, pfd, NULL);
}

uint64_t link_missed(const struct bpf_link *link)
{
	struct sys_link_info info = {0};
	uint32_t len = sizeof(info);

	if (link->fd < 0 || bpf_obj_get_info_by_fd(link->fd, &info, &len))
		return 0; /* no link of the kernel's */
	if (info.type == BPF_LINK_TYPE_KPROBE_MULTI)
		return info.kprobe_multi.missed;
	if (info.type == BPF_LINK_TYPE_PERF_EVENT &&
	    (info.perf_event.type == SYS_PERF_LINK_KPROBE ||
	     info.perf_event.type == SYS_PERF_LINK_KRETPROBE))
		return info.perf_event.missed;
	return 0;
}
