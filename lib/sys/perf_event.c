// SPDX-License-Identifier: BSD-2-Clause
/* perf_event_open(2) and the ioctls on its fds: the only callers. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "lib/sys/internal.h"

int sys_perf_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
			unsigned long flags)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd,
			  flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static struct error *perf_ioctl(int fd, unsigned long request, unsigned long arg, const char *what)
{
	while (ioctl(fd, request, arg) < 0)
		if (errno != EINTR)
			return error_errno(errno, "cannot %s", what);
	return NULL;
}

struct error *sys_perf_enable(int fd)
{
	return perf_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0, "enable the event");
}

struct error *sys_perf_disable(int fd)
{
	return perf_ioctl(fd, PERF_EVENT_IOC_DISABLE, 0, "disable the event");
}

struct error *sys_perf_set_output(int fd, int to)
{
	return perf_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)(long)to,
			  "redirect the event's output to another ring");
}

struct error *sys_perf_pause_output(int fd, bool pause)
{
	return perf_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, pause,
			  "pause the output to the event's ring");
}

struct error *sys_perf_set_filter(int fd, const char *filter)
{
	struct error *err = perf_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, (unsigned long)filter,
				       "set the event's filter");

	if (err && err->code == EINVAL)
		return error_hint(err, "see the event's fields in tracefs, events/SYSTEM/NAME/"
				       "format; a filter is like 'count > 100 && fd == 1'");
	return err;
}

struct error *sys_perf_set_bpf(int fd, int prog_fd)
{
	struct error *err = perf_ioctl(fd, PERF_EVENT_IOC_SET_BPF, (unsigned long)prog_fd,
				       "attach the BPF program to the event");

	if (!err)
		return NULL;
	switch (err->code) {
	case EINVAL:
		return error_hint(err, "the program type does not match this event type");
	case EEXIST:
		return error_hint(err, "the event already has a program");
	case E2BIG:
		return error_hint(err, "too many programs are attached to this tracepoint");
	case EACCES:
		return error_hint(err, "the program reads beyond the end of this tracepoint's "
				       "record");
	case EPROTO:
		return error_hint(err, "a program that takes call chains needs an event that "
				       "samples them: record with -g");
	}
	return err;
}

struct error *sys_perf_id(int fd, uint64_t *id)
{
	uint64_t got;

	TRY(perf_ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&got, "read the event's id"));
	*id = got;
	return NULL;
}

struct error *sys_perf_query_bpf(int fd, uint32_t *ids, size_t max, size_t *n)
{
	/* The kernel takes no more than BPF_TRACE_MAX_PROGS (64). */
	size_t room = min_of(max, (size_t)64);
	_cleanup_free_ struct perf_event_query_bpf *query =
		calloc(1, sizeof(*query) + room * sizeof(ids[0]));

	if (!query)
		return error_nomem();
	query->ids_len = (uint32_t)room;
	struct error *err = perf_ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, (unsigned long)query,
				       "read which programs are attached");
	if (err && err->code == ENOSPC) { /* more than fit: the first ones are there */
		error_free(err);
		err = NULL;
	}
	TRY(err);
	memcpy(ids, query->ids, min_of((size_t)query->prog_cnt, room) * sizeof(ids[0]));
	*n = query->prog_cnt;
	return NULL;
}
