// SPDX-License-Identifier: BSD-2-Clause
/*
 * What JIT compilers have written about the code that they made: dumps, and /tmp/perf-PID.map. A
 * process with another root directory or mount namespace writes that in its own /tmp, by the id
 * that it has in its PID namespace. Whoever may not look there asks another process to.
 */
#include "perf/resolve/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/sys/open_file.h"
#include "lib/sys/proc.h"

bool is_perf_map(const char *path)
{
	int pid, len = 0;

	return sscanf(path, "/tmp/perf-%d.map%n", &pid, &len) == 1 && len && !path[len];
}

/* The process that a perf map is for. */
static int32_t perf_map_pid(const char *path)
{
	int pid = 0;

	sscanf(path, "/tmp/perf-%d.map", &pid);
	return pid;
}

/* Its user; 0 if it ended. */
static uid_t user_of(int32_t pid)
{
	char proc[32];
	struct stat st;

	snprintf(proc, sizeof(proc), "/proc/%d", pid);
	return stat(proc, &st) ? 0 : st.st_uid;
}

struct error *perf_map_open(int32_t pid, int *fd)
{
	const struct open_regular_opts opts = {.owned = true, .owner = user_of(pid)};
	struct sys_proc_status status = {0};

	TRY(sys_proc_status(NULL, 0, pid, &status));
	_cleanup_free_ char *path = text_format("/proc/%d/root/tmp/perf-%d.map", pid,
						status.ns_pid ? (int)status.ns_pid : pid);
	return path ? open_regular(path, &opts, fd) : error_nomem();
}

/* Whether the process can be the one that was recorded: not a later one with its id. */
static bool is_recorded(struct resolver *r, int32_t pid)
{
	const long ticks = sysconf(_SC_CLK_TCK);
	const uint64_t start = sys_proc_start(NULL, pid);

	if (!start || ticks <= 0 || !resolver_is_of_this_host(r))
		return false;
	if (!r->opts.recorded_until)
		return true;
	const uint64_t age = clock_ns(CLOCK_BOOTTIME) - start * (1000000000 / (uint64_t)ticks);
	return clock_ns(CLOCK_REALTIME) - age <= r->opts.recorded_until;
}

/* The map in the process's own /tmp; -1: it is not there. */
static int open_inside(struct resolver *r, const char *path)
{
	const int32_t pid = perf_map_pid(path);
	int fd = -1;

	if (!is_recorded(r, pid))
		return -1;
	resolver_log(r, path,
		     r->opts.perf_map ? r->opts.perf_map(r->opts.perf_map_ctx, pid, &fd)
				      : perf_map_open(pid, &fd));
	return fd;
}

static off_t size_of(int fd)
{
	struct stat st;

	return fd < 0 || fstat(fd, &st) ? 0 : st.st_size;
}

/* Where everybody sees it, or in the process's own /tmp; -1: nowhere. */
static int find_perf_map(struct resolver *r, const char *path)
{
	const struct open_regular_opts opts = {.owned = true, .owner = user_of(perf_map_pid(path))};
	int fd = -1;
	struct error *err = open_regular(path, &opts, &fd);

	if (err && err->code == ENOENT) {
		error_free(err);
		return open_inside(r, path);
	}
	resolver_log(r, path, err);
	return fd;
}

static struct symtab *load_perf_map(struct resolver *r, const char *path, off_t *size)
{
	_cleanup_close_ int fd = find_perf_map(r, path);
	struct symtab *st = NULL;

	if (fd < 0)
		return NULL;
	*size = size_of(fd);
	struct error *err = symtab_load_perf_map(fd, path, PERF_MAPS_ROOM - r->perf_maps_size, &st);
	r->perf_maps_size += st ? symtab_memory(st) : 0;
	resolver_log(r, path, err);
	return st;
}

/* What the JIT compiler has written for the process of a perf map, with the code; NULL: nothing. */
static struct symtab *load_jitdump(struct resolver *r, const char *perf_map, struct dso_syms *ds)
{
	const int32_t pid = perf_map_pid(perf_map);
	const char *path = session_jitdump(r->session, pid);
	const char *symfs = r->opts.symfs ? r->opts.symfs : "";
	_cleanup_free_ char *file = path ? text_format("%s%s", symfs, path) : NULL;
	struct symtab *st = NULL;

	r->no_memory |= path && !file;
	if (!file)
		return NULL;
	struct error *err =
		jitdump_load(file, user_of(pid), PERF_MAPS_ROOM - r->perf_maps_size, &ds->jitdump);
	if (!err)
		err = jitdump_symtab(ds->jitdump, &st);
	if (!err) {
		r->perf_maps_size += jitdump_memory(ds->jitdump) + symtab_memory(st);
	} else {
		jitdump_free(ds->jitdump);
		ds->jitdump = NULL;
	}
	resolver_log(r, file, err);
	return st;
}

struct symtab *resolver_load_jit(struct resolver *r, const char *path, struct dso_syms *ds)
{
	struct symtab *st = load_jitdump(r, path, ds);

	return st ? st : load_perf_map(r, path, &ds->size);
}

const struct symbol *resolver_find_in_grown(struct resolver *r, const struct map *map,
					    uint64_t addr)
{
	struct dso_syms *ds = map->dso->priv;

	if (!ds || !is_perf_map(map->dso->path) || ds->read_again == r->round)
		return NULL;
	_cleanup_close_ int fd = find_perf_map(r, map->dso->path);
	const off_t size = size_of(fd);
	if (!size || size == ds->size)
		return NULL;
	ds->read_again = r->round;
	struct symtab **slot = ds->st ? vec_push(&r->replaced) : NULL;
	if (ds->st && !slot)
		return NULL;
	if (slot)
		*slot = ds->st;
	ds->st = load_perf_map(r, map->dso->path, &ds->size);
	memset(r->cache, 0, sizeof(r->cache));
	return ds->st ? symtab_find(ds->st, addr) : NULL;
}

void resolver_free_perf_map(struct resolver *r, struct symtab *st)
{
	r->perf_maps_size -= st ? symtab_memory(st) : 0;
	symtab_free(st);
}

void resolver_free_replaced(struct resolver *r)
{
	struct symtab **st;

	vec_for_each (st, &r->replaced)
		resolver_free_perf_map(r, *st);
	r->replaced.n = 0;
}
