// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel sends a uevent when a CPU goes or comes; one that is offline for a moment only is not
 * missed. A container whose network namespace belongs to another user namespace gets no uevents,
 * and a full socket drops them, so the list of CPUs that are online is read once a second, too.
 *
 * Only the kernel and processes with CAP_NET_ADMIN can send uevents.
 */
#include "work/cpu_watch.h"

#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/vec.h"

enum {
	INTERVAL_MS = 1000,
	UEVENT_BYTES = 4096, /* the kernel's have at most 2048 bytes of variables */
	KERNEL_EVENTS = 1,   /* the multicast group */
};

struct cpu_watch {
	struct cpu_watch_opts opts;
	struct sys_cpus online; /* as of the last look */
	uint64_t looked;	/* monotonic ns */
	VEC(struct cpu_gap) gaps;
	int uevents; /* -1: not available */
	int timer;
};

static struct cpu_gap *gap_of(struct cpu_watch *watch, unsigned cpu)
{
	struct cpu_gap *gap;

	vec_for_each (gap, &watch->gaps)
		if (gap->cpu == cpu)
			return gap;
	gap = vec_push(&watch->gaps);
	if (gap)
		gap->cpu = cpu;
	return gap;
}

static bool is_watched(const struct cpu_watch *watch, unsigned cpu)
{
	return !watch->opts.only || sys_cpus_has(watch->opts.only, cpu);
}

static struct error *went(struct cpu_watch *watch, unsigned cpu, uint64_t when)
{
	struct cpu_gap *gap = is_watched(watch, cpu) ? gap_of(watch, cpu) : NULL;

	if (!is_watched(watch, cpu))
		return NULL;
	if (!gap)
		return error_nomem();
	if (gap->since)
		return NULL;
	gap->since = when;
	log_info(watch->opts.log, "CPU %u is offline", cpu);
	return NULL;
}

static struct error *came(struct cpu_watch *watch, unsigned cpu)
{
	if (!is_watched(watch, cpu))
		return NULL;
	struct cpu_gap *gap = gap_of(watch, cpu);
	if (!gap)
		return error_nomem();
	_cleanup_error_ struct error *err = watch->opts.fn(watch->opts.ctx, cpu);
	if (err) {
		if (!gap->told)
			log_warn(watch->opts.log, "CPU %u is online again, but cannot be used: %s",
				 cpu, err->msg);
		gap->told = true;
		if (!gap->since)
			gap->since = clock_ns(CLOCK_MONOTONIC);
		return NULL;
	}
	log_info(watch->opts.log, "CPU %u is online again", cpu);
	if (gap->since)
		gap->ns += clock_ns(CLOCK_MONOTONIC) - gap->since;
	gap->since = 0;
	gap->told = false;
	return NULL;
}

static bool is_away(const struct cpu_watch *watch, unsigned cpu)
{
	const struct cpu_gap *gap;

	vec_for_each (gap, &watch->gaps)
		if (gap->cpu == cpu)
			return gap->since;
	return false;
}

/* What has changed since the last look. */
static struct error *look(struct cpu_watch *watch)
{
	_cleanup_cpus_ struct sys_cpus now = {0};
	const uint64_t before = watch->looked;

	TRY(sys_cpus_online(watch->opts.roots, &now));
	watch->looked = clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < watch->online.n; i++)
		if (!sys_cpus_has(&now, watch->online.v[i]))
			TRY(went(watch, watch->online.v[i], before));
	for (size_t i = 0; i < now.n; i++)
		if (!sys_cpus_has(&watch->online, now.v[i]) || is_away(watch, now.v[i]))
			TRY(came(watch, now.v[i]));
	sys_cpus_deinit(&watch->online);
	watch->online = now;
	now = (struct sys_cpus){0};
	return NULL;
}

static struct error *on_timer(void *ctx, uint32_t events)
{
	return look(ctx);
}

/* "offline@/devices/system/cpu/cpu1", and its variables behind it, each with a NUL. */
static struct error *on_message(struct cpu_watch *watch, const char *text)
{
	unsigned cpu;
	int end = 0;

	if (sscanf(text, "offline@/devices/system/cpu/cpu%u%n", &cpu, &end) == 1 && !text[end])
		return went(watch, cpu, clock_ns(CLOCK_MONOTONIC));
	if (sscanf(text, "online@/devices/system/cpu/cpu%u%n", &cpu, &end) == 1 && !text[end])
		return look(watch);
	return NULL;
}

static struct error *on_uevents(void *ctx, uint32_t events)
{
	struct cpu_watch *watch = ctx;
	char text[UEVENT_BYTES + 1];

	for (;;) {
		const ssize_t n = read(watch->uevents, text, UEVENT_BYTES);

		if (n < 0 && (errno == EINTR || errno == ENOBUFS))
			continue;
		if (n < 0 && errno != EAGAIN)
			loop_unwatch(watch->opts.loop, watch->uevents); /* the timer must do */
		if (n < 0)
			return NULL;
		text[n] = 0;
		TRY(on_message(watch, text));
	}
}

/* Without uevents, looking once a second must do. */
static void open_uevents(struct cpu_watch *watch)
{
	const struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = KERNEL_EVENTS};
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
					NETLINK_KOBJECT_UEVENT);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)))
		return;
	struct error *err = loop_watch(watch->opts.loop, fd, on_uevents, watch);
	if (!err)
		watch->uevents = steal_fd(&fd);
	error_free(err);
}

struct error *cpu_watch_new(const struct cpu_watch_opts *opts, struct cpu_watch **out)
{
	_cleanup_(cpu_watch_freep) struct cpu_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return error_nomem();
	watch->opts = *opts;
	watch->uevents = -1;
	TRY(sys_cpus_online(opts->roots, &watch->online));
	watch->looked = clock_ns(CLOCK_MONOTONIC);
	open_uevents(watch);
	TRY(loop_timer(opts->loop, on_timer, watch, &watch->timer));
	TRY(loop_timer_set(watch->timer, INTERVAL_MS * 1000000ull, true));
	*out = steal_ptr(watch);
	return NULL;
}

void cpu_watch_free(struct cpu_watch *watch)
{
	if (!watch)
		return;
	if (watch->uevents >= 0)
		loop_unwatch(watch->opts.loop, watch->uevents);
	closep(&watch->uevents);
	if (watch->timer)
		error_free(loop_timer_set(watch->timer, 0, false));
	sys_cpus_deinit(&watch->online);
	vec_deinit(&watch->gaps);
	free(watch);
}

const struct cpu_gap *cpu_watch_gaps(struct cpu_watch *watch, size_t *n)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct cpu_gap *gap;

	vec_for_each (gap, &watch->gaps)
		if (gap->since) {
			gap->ns += now - gap->since;
			gap->since = now;
		}
	*n = watch->gaps.n;
	return watch->gaps.v;
}

void cpu_watch_warn(struct cpu_watch *watch, const struct log *log)
{
	size_t n = 0;
	const struct cpu_gap *gaps = watch ? cpu_watch_gaps(watch, &n) : NULL;

	for (size_t i = 0; i < n; i++)
		log_warn(log,
			 "CPU %u was not traced for %.3f s: it was offline, and events from the "
			 "moment of its return may be missing",
			 gaps[i].cpu, gaps[i].ns / 1e9);
}
