// SPDX-License-Identifier: BSD-2-Clause
#include "inspect/owners.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/vec.h"

void owners_deinit(struct owners *owners)
{
	vec_deinit(owners);
}

static int by_object(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* The number after "FIELD:" at a line's start. */
static bool field_of(const char *text, const char *field, uint64_t *value)
{
	size_t n = strlen(field);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, field, n) || line[n] != ':')
			continue;
		*value = strtoull(line + n + 1, NULL, 0);
		return true;
	}
	return false;
}

static struct error *look_at(const char *text, pid_t pid, const char *comm, struct owners *owners)
{
	static const struct {
		const char *field;
		enum kobj_kind kind;
	} fields[] = {
		/* a link's fdinfo names its program too: only the link is held */
		{"link_id", KOBJ_LINK},
		{"map_id", KOBJ_MAP},
		{"prog_id", KOBJ_PROG},
		{"btf_id", KOBJ_BTF},
	};
	uint64_t id;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!field_of(text, fields[i].field, &id))
			continue;
		struct owner *o = vec_push(owners);
		if (!o)
			return error_nomem();
		o->kind = fields[i].kind;
		o->id = id;
		o->pid = pid;
		snprintf(o->comm, sizeof(o->comm), "%s", comm);
		break;
	}
	return NULL;
}

/* Only descriptors of anonymous inodes ("anon_inode:bpf-map") are worth reading about. */
static bool is_bpf(const char *proc, pid_t pid, const char *fd)
{
	char path[300], target[64];

	snprintf(path, sizeof(path), "%s/%d/fd/%s", proc, pid, fd);
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = 0;
	return !strncmp(target, "anon_inode:", 11) &&
	       (strstr(target, "bpf") || strstr(target, "btf"));
}

static struct error *look_into(const struct sys_roots *roots, pid_t pid, struct owners *owners)
{
	const char *proc = roots && roots->proc ? roots->proc : sys_roots_default.proc;
	struct sys_proc_status status;
	char path[300];
	bool known = false;

	snprintf(path, sizeof(path), "%s/%d/fd", proc, pid);
	DIR *dir = opendir(path);
	if (!dir)
		return NULL;
	struct error *err = NULL;
	for (struct dirent *e; !err && (e = readdir(dir));) {
		_cleanup_free_ char *text = NULL;

		if (e->d_name[0] == '.' || !is_bpf(proc, pid, e->d_name))
			continue;
		snprintf(path, sizeof(path), "fdinfo/%s", e->d_name);
		struct error *gone = sys_proc_read(roots, pid, path, &text, NULL);
		if (!gone && !known) {
			gone = sys_proc_status(roots, pid, pid, &status);
			known = !gone;
		}
		if (gone)
			error_free(gone); /* it ended or closed the file meanwhile */
		else
			err = look_at(text, pid, status.comm, owners);
	}
	closedir(dir);
	return err;
}

struct error *owners_find(const struct sys_roots *roots, struct owners *owners)
{
	_cleanup_pids_ struct sys_pids pids = {0};

	TRY(sys_proc_pids(roots, &pids));
	for (size_t i = 0; i < pids.n; i++)
		if (pids.v[i] != getpid())
			TRY(look_into(roots, pids.v[i], owners));
	if (!owners->n)
		return NULL;
	qsort(owners->v, owners->n, sizeof(*owners->v), by_object);
	size_t n = 1;
	for (size_t i = 1; i < owners->n; i++)
		if (by_object(&owners->v[n - 1], &owners->v[i]))
			owners->v[n++] = owners->v[i];
	owners->n = n;
	return NULL;
}

const struct owner *owners_of(const struct owners *owners, enum kobj_kind kind, uint32_t id,
			      size_t *n)
{
	size_t first = 0;

	*n = 0;
	while (first < owners->n && (owners->v[first].kind != kind || owners->v[first].id != id))
		first++;
	while (first + *n < owners->n && owners->v[first + *n].kind == kind &&
	       owners->v[first + *n].id == id)
		++*n;
	return *n ? &owners->v[first] : NULL;
}

bool fdinfo_u64(int fd, const char *field, uint64_t *value)
{
	_cleanup_free_ char *text = NULL;
	char path[40];

	snprintf(path, sizeof(path), "fdinfo/%d", fd);
	struct error *err = sys_proc_read(NULL, getpid(), path, &text, NULL);
	if (err) {
		error_free(err);
		return false;
	}
	return field_of(text, field, value);
}
