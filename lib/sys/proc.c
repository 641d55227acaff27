// SPDX-License-Identifier: BSD-2-Clause
/* Processes, out of procfs (man 5 proc). */
#include "lib/sys/proc.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/vec.h"
#include "lib/sys/internal.h"

enum {
	MAX_PROC_FILE = 64 << 20, /* a maps file of half a million mappings */
};

#define INITIAL_PID_NS 0xeffffffc /* PROC_PID_INIT_INO of linux/proc_ns.h */

void sys_pids_deinit(struct sys_pids *pids)
{
	vec_deinit(pids);
}

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* A process that is gone is ESRCH, however it shows. */
static struct error *gone(struct error *err, pid_t pid)
{
	if (!err || (err->code != ENOENT && err->code != ESRCH))
		return err;
	error_free(err);
	return error_new(ESRCH, "process %d does not exist", (int)pid);
}

static struct error *list_numbers(const char *path, struct sys_pids *pids)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		return error_errno(errno, "cannot open %s", path);
	while ((entry = readdir(dir))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (end == entry->d_name || *end || pid <= 0 || pid != (pid_t)pid)
			continue;
		pid_t *v = vec_push(pids);
		if (!v)
			return error_nomem();
		*v = (pid_t)pid;
	}
	if (pids->n)
		qsort(pids->v, pids->n, sizeof(*pids->v), compare_pids);
	return NULL;
}

struct error *sys_proc_pids(const struct sys_roots *roots, struct sys_pids *pids)
{
	return list_numbers(roots_or_default(roots)->proc, pids);
}

struct error *sys_proc_tids(const struct sys_roots *roots, pid_t pid, struct sys_pids *tids)
{
	_cleanup_free_ char *path =
		text_format("%s/%d/task", roots_or_default(roots)->proc, (int)pid);

	return path ? gone(list_numbers(path, tids), pid) : error_nomem();
}

static bool read_pid_ns(const char *path, uint32_t *pid_ns)
{
	struct stat st;

	if (!path || stat(path, &st))
		return false;
	*pid_ns = st.st_ino != INITIAL_PID_NS ? (uint32_t)st.st_ino : 0;
	return true;
}

uint32_t sys_pid_ns(const struct sys_roots *roots)
{
	_cleanup_free_ char *path = text_format("%s/self/ns/pid", roots_or_default(roots)->proc);
	uint32_t pid_ns = 0;

	read_pid_ns(path, &pid_ns);
	return pid_ns;
}

bool sys_pid_ns_of(const struct sys_roots *roots, pid_t pid, uint32_t *pid_ns)
{
	_cleanup_free_ char *path =
		text_format("%s/%d/ns/pid", roots_or_default(roots)->proc, (int)pid);

	return read_pid_ns(path, pid_ns);
}

struct error *sys_proc_check_ns(const struct sys_roots *roots)
{
	const char *proc = roots_or_default(roots)->proc;
	_cleanup_free_ char *path = text_format("%s/self", proc);
	char target[32];

	if (!path)
		return error_nomem();
	const ssize_t n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return NULL; /* not a procfs, as in tests; or what is missing says so itself */
	target[n] = 0;
	if (atol(target) == getpid())
		return NULL;
	return error_hint(error_new(EINVAL, "%s shows the processes of another PID namespace",
				    proc),
			  "mount a procfs of this one: mount -t proc proc %s", proc);
}

/* The value of "NAME:\tVALUE\n", up to the line's end; NULL: no such line. */
static const char *status_value(const char *text, const char *name, size_t *len)
{
	size_t name_len = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, name_len) || line[name_len] != ':')
			continue;
		line += name_len + 1;
		line += strspn(line, " \t");
		*len = strcspn(line, "\n");
		return line;
	}
	return NULL;
}

/* The kernel writes a comm's newline and backslash as \n and \\. */
static void unescape_comm(const char *from, size_t len, char *comm, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < room; i++) {
		char c = from[i];

		if (c == '\\' && i + 1 < len && (from[i + 1] == 'n' || from[i + 1] == '\\'))
			c = from[++i] == 'n' ? '\n' : '\\';
		comm[n++] = c;
	}
	comm[n] = 0;
}

/* A field of /proc/PID/stat, behind the name, which may hold anything; 0: there is none. */
static uint64_t stat_number(const struct sys_roots *roots, pid_t pid, int number)
{
	_cleanup_free_ char *text = NULL;

	error_free(sys_proc_read(roots, pid, "stat", &text, NULL));
	char *at = text ? strrchr(text, ')') : NULL;
	for (int field = 3; at && field <= number; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

uint64_t sys_proc_start(const struct sys_roots *roots, pid_t pid)
{
	return stat_number(roots, pid, 22);
}

uint64_t sys_proc_stack(const struct sys_roots *roots, pid_t pid)
{
	return stat_number(roots, pid, 28);
}

struct error *sys_proc_status(const struct sys_roots *roots, pid_t pid, pid_t tid,
			      struct sys_proc_status *status)
{
	const char *proc = roots_or_default(roots)->proc;
	_cleanup_free_ char *path =
		pid ? text_format("%s/%d/task/%d/status", proc, (int)pid, (int)tid)
		    : text_format("%s/%d/status", proc, (int)tid);
	_cleanup_free_ char *text = NULL;
	struct sys_proc_status got = {0};
	const char *v;
	size_t len;

	if (!path)
		return error_nomem();
	TRY(gone(sys_read_file(path, 65536, &text, NULL), tid));
	v = status_value(text, "Name", &len);
	if (!v)
		return error_at(error_new(EBADMSG, "it does not contain a process id"), "%s", path);
	unescape_comm(v, len, got.comm, sizeof(got.comm));
	v = status_value(text, "Tgid", &len);
	got.tgid = v ? (pid_t)strtol(v, NULL, 10) : tid;
	v = status_value(text, "State", &len);
	got.state = v ? *v : 0;
	v = status_value(text, "PPid", &len);
	got.ppid = v ? (pid_t)strtol(v, NULL, 10) : 0;
	v = status_value(text, "NSpid", &len);
	while (v && len && isspace((unsigned char)v[len - 1]))
		len--;
	for (size_t i = len; v && i-- > 0 && !got.ns_pid;)
		if (!i || isspace((unsigned char)v[i - 1]))
			got.ns_pid = (pid_t)strtol(v + i, NULL, 10);
	got.kernel_thread =
		!status_value(text, "VmPeak", &len) && !status_value(text, "VmSize", &len);
	*status = got;
	return NULL;
}

struct error *sys_capabilities(const struct sys_roots *roots, uint64_t *effective)
{
	_cleanup_free_ char *path = text_format("%s/self/status", roots_or_default(roots)->proc);
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (!path)
		return error_nomem();
	TRY(sys_read_file(path, 65536, &text, NULL));
	const char *v = status_value(text, "CapEff", &len);
	if (!v)
		return error_at(error_new(EBADMSG, "it does not contain capabilities"), "%s", path);
	*effective = strtoull(v, NULL, 16);
	return NULL;
}

struct error *sys_proc_read(const struct sys_roots *roots, pid_t pid, const char *file, char **text,
			    size_t *size)
{
	_cleanup_free_ char *path =
		text_format("%s/%d/%s", roots_or_default(roots)->proc, (int)pid, file);

	if (!path)
		return error_nomem();
	return gone(sys_read_file(path, MAX_PROC_FILE, text, size), pid);
}

struct error *sys_proc_fd(const struct sys_roots *roots, pid_t pid, int fd, char **target)
{
	_cleanup_free_ char *path =
		text_format("%s/%d/fd/%d", roots_or_default(roots)->proc, (int)pid, fd);
	char text[PATH_MAX];

	if (!path)
		return error_nomem();
	const ssize_t n = readlink(path, text, sizeof(text) - 1);
	if (n < 0)
		return gone(error_errno(errno, "cannot read %s", path), pid);
	text[n] = 0;
	char *copy = strdup(text);
	if (!copy)
		return error_nomem();
	*target = copy;
	return NULL;
}

static bool take_number(char **pos, int base, uint64_t *value, char then)
{
	char *end;

	if (!isxdigit((unsigned char)**pos))
		return false;
	*value = strtoull(*pos, &end, base);
	if (*end != then)
		return false;
	*pos = end + 1;
	return true;
}

/* seq_file writes a newline in a path as \012 (d_path's "\n" escape). */
static void unescape_path(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		if (!strncmp(from, "\\012", 4)) {
			*to = '\n';
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = 0;
}

static bool parse_map(char *line, struct sys_map *map)
{
	uint64_t maj, min;
	char *p = line;

	/* 7f52c6200000-7f52c6226000 r--p 00001000 fe:00 4243   /usr/lib/libc.so.6 */
	if (!take_number(&p, 16, &map->start, '-') || !take_number(&p, 16, &map->end, ' '))
		return false;
	if (strnlen(p, 5) < 5 || p[4] != ' ')
		return false;
	map->prot = (p[0] == 'r' ? PROT_READ : 0) | (p[1] == 'w' ? PROT_WRITE : 0) |
		    (p[2] == 'x' ? PROT_EXEC : 0);
	map->flags = p[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	p += 5;
	if (!take_number(&p, 16, &map->pgoff, ' ') || !take_number(&p, 16, &maj, ':') ||
	    !take_number(&p, 16, &min, ' '))
		return false;
	if (!isdigit((unsigned char)*p))
		return false;
	map->ino = strtoull(p, &p, 10);
	map->maj = (uint32_t)maj;
	map->min = (uint32_t)min;
	map->path = p + strspn(p, " ");
	unescape_path(map->path);
	return map->start <= map->end;
}

bool sys_maps_next(char **pos, struct sys_map *map)
{
	while (**pos) {
		char *line = *pos;
		char *end = line + strcspn(line, "\n");

		*pos = *end ? end + 1 : end;
		*end = 0;
		struct sys_map got;
		if (parse_map(line, &got)) {
			*map = got;
			return true;
		}
	}
	return false;
}
