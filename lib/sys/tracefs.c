// SPDX-License-Identifier: BSD-2-Clause
/*
 * tracefs. The tree is found each time (a statfs), not remembered: a library
 * has no place for it, and a caller with many questions passes its own root.
 */
#include "lib/sys/tracefs.h"

#include <linux/magic.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "lib/base/strbuf.h"
#include "lib/sys/internal.h"
#include "lib/sys/missing_caps.h"

#ifndef TRACEFS_MAGIC
#define TRACEFS_MAGIC 0x74726163
#endif

enum {
	/* The largest format files (of syscalls with flags spelled out) are some 10 KB. */
	MAX_FORMAT = 1 << 20,
	/* Some 60 bytes for each tracepoint, of which distributions' kernels have 2,500. */
	MAX_AVAILABLE = 16 << 20,
};

static bool is_tracefs(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && (unsigned long)fs.f_type == TRACEFS_MAGIC;
}

/*
 * The second one is where debugfs mounts it by itself; asking about a folder
 * in it makes the kernel do so.
 */
static const char *const places[] = {"kernel/tracing", "kernel/debug/tracing"};

static struct error *mount_tracefs(const char *path)
{
	struct error *err;
	struct stat st;

	if (stat(path, &st))
		return error_hint(error_new(ENOENT, "this kernel has no tracefs"),
				  "tracepoints need a kernel with CONFIG_TRACING");
	if (!mount("nodev", path, "tracefs", 0, NULL) || errno == EBUSY)
		return NULL;
	err = error_errno(errno, "tracefs is not mounted, and cannot be mounted at %s", path);
	if (err->code == EPERM || err->code == EACCES)
		return error_hint(err, "as root, type: mount -t tracefs nodev %s", path);
	return err;
}

struct error *sys_tracefs_dir(const struct sys_roots *roots, char **dir)
{
	roots = roots_or_default(roots);
	_cleanup_free_ char *first = NULL;

	if (roots->tracefs) {
		*dir = strdup(roots->tracefs);
		return *dir ? NULL : error_nomem();
	}
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		_cleanup_free_ char *path = text_format("%s/%s", roots->sysfs, places[i]);

		if (!path)
			return error_nomem();
		if (is_tracefs(path)) {
			*dir = steal_ptr(path);
			return NULL;
		}
		if (!first)
			first = steal_ptr(path);
	}
	TRY(mount_tracefs(first));
	*dir = steal_ptr(first);
	return NULL;
}

struct error *sys_hint_tracefs(struct error *err, const struct sys_roots *roots, const char *dir,
			       bool write)
{
	if (!err || (err->code != EACCES && err->code != EPERM))
		return err;
	return error_hint(err,
			  "this user cannot %s %s: %s as root%s, or let a group do so: mount -o "
			  "remount,gid=GROUP,mode=%s %s",
			  write ? "write to" : "read", dir,
			  sys_in_user_namespace(roots) ? SYS_OUTSIDE_OF_USER_NS "," : "run",
			  write ? "" : " or with CAP_DAC_READ_SEARCH", write ? "770" : "750", dir);
}

struct error *sys_tracefs_read(const struct sys_roots *roots, const char *file, size_t max,
			       char **data, size_t *size)
{
	_cleanup_free_ char *dir = NULL, *path = NULL;

	TRY(sys_tracefs_dir(roots, &dir));
	path = text_format("%s/%s", dir, file);
	if (!path)
		return error_nomem();
	return sys_hint_tracefs(sys_read_file(path, max, data, size), roots, dir, false);
}

static char *event_path(const char *dir, const char *system, const char *name, const char *file)
{
	return text_format("%s/events/%s/%s/%s", dir, system, name, file);
}

struct error *sys_tracepoint_systems(const struct sys_roots *roots, struct names *systems)
{
	_cleanup_free_ char *dir = NULL, *path = NULL;

	TRY(sys_tracefs_dir(roots, &dir));
	path = text_format("%s/events", dir);
	if (!path)
		return error_nomem();
	return sys_hint_tracefs(sys_list_dir(path, DT_DIR, systems), roots, dir, false);
}

struct error *sys_tracepoint_events(const struct sys_roots *roots, const char *system,
				    struct names *events)
{
	_cleanup_free_ char *dir = NULL, *path = NULL;

	if (!sys_is_component(system))
		return error_new(ENOENT, "unknown tracepoint system '%s'", system);
	TRY(sys_tracefs_dir(roots, &dir));
	path = text_format("%s/events/%s", dir, system);
	if (!path)
		return error_nomem();
	return sys_hint_tracefs(sys_list_dir(path, DT_DIR, events), roots, dir, false);
}

/*
 * Names near to "system:name": of the same system where there is one of that
 * name, else of all ("syscall:sys_enter_write").
 */
static struct error *no_such_tracepoint(const struct sys_roots *roots, const char *system,
					const char *name)
{
	struct error *err = error_new(ENOENT, "unknown tracepoint %s:%s", system, name);
	_cleanup_names_ struct names systems = {0}, found = {0};
	_cleanup_error_ struct error *unread = sys_tracepoint_systems(roots, &systems);
	struct nearest near = nearest_make(name);
	bool has_system = false;

	if (unread)
		return err;
	for (size_t i = 0; i < systems.n; i++)
		has_system |= !strcmp(systems.v[i], system);
	for (size_t i = 0; i < systems.n; i++) {
		_cleanup_names_ struct names events = {0};
		_cleanup_strbuf_ struct strbuf full = STRBUF_INIT;

		if (has_system && strcmp(systems.v[i], system))
			continue;
		error_free(sys_tracepoint_events(roots, systems.v[i], &events));
		for (size_t j = 0; j < events.n; j++) {
			strbuf_reset(&full);
			strbuf_addf(&full, "%s:%s", systems.v[i], events.v[j]);
			if (strbuf_failed(&full) || !names_add(&found, strbuf_str(&full)))
				return err;
		}
	}
	_cleanup_free_ char *want = text_format("%s:%s", system, name);
	if (!want)
		return err;
	if (!has_system) {
		near = nearest_make(want);
		for (size_t i = 0; i < found.n; i++)
			nearest_offer(&near, found.v[i]);
	}
	if (has_system || !near.n) { /* the system is right, or far off: the event alone tells */
		near = nearest_make(name);
		for (size_t i = 0; i < found.n; i++)
			nearest_offer_as(&near, strchr(found.v[i], ':') + 1, found.v[i]);
	}
	err = error_suggest(err, &near);
	if (!has_system)
		return sys_hint_nearest(err, system, &systems,
					"'perf-bpf list tracepoint' lists the tracepoints");
	return error_hint(err, "perf-bpf list '%s:*' lists the tracepoints of that system", system);
}

struct error *sys_tracepoint_id(const struct sys_roots *roots, const char *system, const char *name,
				uint64_t *id)
{
	_cleanup_free_ char *dir = NULL, *path = NULL;

	if (!sys_is_component(system) || !sys_is_component(name))
		return no_such_tracepoint(roots, system, name);
	TRY(sys_tracefs_dir(roots, &dir));
	path = event_path(dir, system, name, "id");
	if (!path)
		return error_nomem();
	struct error *err = sys_read_u64(path, id);
	if (err && err->code == ENOENT) {
		error_free(err);
		return no_such_tracepoint(roots, system, name);
	}
	return sys_hint_tracefs(err, roots, dir, false);
}

bool sys_tracepoint_exists(const struct sys_roots *roots, const char *system, const char *name)
{
	_cleanup_free_ char *dir = NULL, *path = NULL;
	_cleanup_error_ struct error *err = NULL;

	if (!sys_is_component(system) || !sys_is_component(name))
		return false;
	err = sys_tracefs_dir(roots, &dir);
	if (err)
		return false;
	path = event_path(dir, system, name, "id");
	return path && !access(path, F_OK);
}

struct error *sys_tracepoint_format(const struct sys_roots *roots, const char *system,
				    const char *name, char **text, size_t *size)
{
	_cleanup_free_ char *file = NULL;

	if (!sys_is_component(system) || !sys_is_component(name))
		return no_such_tracepoint(roots, system, name);
	file = text_format("events/%s/%s/format", system, name);
	if (!file)
		return error_nomem();
	struct error *err = sys_tracefs_read(roots, file, MAX_FORMAT, text, size);
	if (err && err->code == ENOENT) {
		error_free(err);
		return no_such_tracepoint(roots, system, name);
	}
	return err;
}

struct error *sys_tracepoint_all(const struct sys_roots *roots, struct names *found)
{
	_cleanup_names_ struct names got = {0};
	_cleanup_free_ char *text = NULL;

	TRY(sys_tracefs_read(roots, "available_events", MAX_AVAILABLE, &text, NULL));
	for (const char *line = text; *line;) {
		const size_t len = strcspn(line, "\n");

		if (len && !names_add_n(&got, line, len))
			return error_nomem();
		line += len + (line[len] != 0);
	}
	names_sort(&got);
	for (size_t i = 0; i < got.n; i++)
		if (!names_add(found, got.v[i]))
			return error_nomem();
	return NULL;
}

struct error *sys_tracepoint_match(const struct sys_roots *roots, const char *system_glob,
				   const char *name_glob, struct names *found)
{
	_cleanup_names_ struct names systems = {0}, got = {0};

	TRY(sys_tracepoint_systems(roots, &systems));
	for (size_t i = 0; i < systems.n; i++) {
		_cleanup_names_ struct names events = {0};

		if (!glob_match(system_glob, systems.v[i]))
			continue;
		TRY(sys_tracepoint_events(roots, systems.v[i], &events));
		for (size_t j = 0; j < events.n; j++) {
			if (!glob_match(name_glob, events.v[j]))
				continue;
			/* ftrace's own formats ("ftrace:function") are no perf events. */
			if (!sys_tracepoint_exists(roots, systems.v[i], events.v[j]))
				continue;
			_cleanup_free_ char *full = text_format("%s:%s", systems.v[i], events.v[j]);
			if (!full || !names_add(&got, full))
				return error_nomem();
		}
	}
	if (!got.n)
		return no_such_tracepoint(roots, system_glob, name_glob);
	names_sort(&got);
	for (size_t i = 0; i < got.n; i++)
		if (!names_add(found, got.v[i]))
			return error_nomem();
	return NULL;
}
