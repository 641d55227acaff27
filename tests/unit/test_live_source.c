// SPDX-License-Identifier: BSD-2-Clause
/* perf/live/: the running system as a source, where the kernel refuses some of it. */
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/ring/perf_ring.h"
#include "lib/sys/sys.h"
#include "perf/live/live.h"

int __wrap_sys_perf_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
			       unsigned long flags);
struct error *__wrap_perf_ring_init(struct perf_ring *ring, int fd, size_t pages);

int __wrap_sys_perf_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
			       unsigned long flags)
{
	return eventfd(0, EFD_CLOEXEC);
}

/* The limit of locked memory is reached. */
struct error *__wrap_perf_ring_init(struct perf_ring *ring, int fd, size_t pages)
{
	return error_errno(EPERM, "cannot map a ring of %zu pages", pages);
}

TEST(without_rings_there_is_what_proc_shows)
{
	const struct live_source_opts opts = {.sz = sizeof(opts), .processes = true};
	struct live_source *live = NULL;
	const int free_fd = dup(0);

	close(free_fd);
	assert_null(live_source_new(&opts, &live));
	assert_null(live_source_update(live));
	assert_true(live_source_fd(live) >= 0);
	assert_non_null(session_find_map_at(live_source_session(live), getpid(), 0,
					    PERF_RECORD_MISC_USER,
					    (uintptr_t)without_rings_there_is_what_proc_shows));
	live_source_free(live);
	assert_int_equal(dup(0), free_fd); /* all were closed */
	close(free_fd);
}
