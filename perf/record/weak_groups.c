// SPDX-License-Identifier: BSD-2-Clause
/*
 * {a,b}:W is a group if the kernel opens its events together, otherwise they are recorded one by
 * one. The group is the reason for a refusal if the kernel opens the same event without it.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "perf/record/internal.h"

bool weak_group_is_refused(const struct event *event, const struct event_fd *at, int err)
{
	const bool of_cgroup = at->cgroup >= 0;

	/* too many events for the counters of the CPU, or events that cannot be joined */
	if (!event->is_weak || (err != -EINVAL && err != -EBADF))
		return false;
	const int fd = sys_perf_event_open(&event->attr, of_cgroup ? at->cgroup : at->tid, at->cpu,
					   -1, of_cgroup ? PERF_FLAG_PID_CGROUP : 0);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* A leader from now on, which is sampled and enabled by itself. */
static void leave_group(struct recording *rec, size_t i)
{
	struct event *event = &rec->events.v[i];
	struct perf_event_attr *attr = &event->attr;
	struct event_fd *efd;

	vec_for_each (efd, &event->fds) {
		u64map_remove(&rec->ids, efd->id);
		close(efd->fd);
	}
	event->fds.n = 0;
	attr->enable_on_exec = rec->events.v[event->leader].attr.enable_on_exec;
	attr->disabled = 1;
	attr->read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
	attr->inherit = event->alone.inherit;
	attr->freq = event->alone.freq;
	attr->sample_period = event->alone.sample_period;
	event->group = -1;
	event->leader = i;
	event->n_members = 1;
	event->is_weak = event->is_refused = false;
}

size_t weak_group_end(struct recording *rec, size_t refused)
{
	const struct event *event = &rec->events.v[refused];
	const size_t leader = event->leader;

	log_info(rec->log,
		 "the kernel rejects %s in the group of %s: the events of this weak group are "
		 "recorded without a group",
		 event->name, rec->events.v[leader].name);
	/* the leader last: the others look at it */
	for (size_t i = rec->events.n; i-- > 0;)
		if (rec->events.v[i].leader == leader)
			leave_group(rec, i);
	return leader;
}
