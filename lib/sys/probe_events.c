// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines for uprobe_events and kprobe_events
 * (Documentation/trace/uprobetracer.rst, kprobetrace.rst):
 *
 *	p:GROUP/NAME PATH:0xOFFSET(0xREF_CTR)
 *	r:GROUP/NAME FUNCTION
 *	-:GROUP/NAME
 *
 * A name that exists would get a second place instead of an error, so names
 * are unique: the group tells the process, the name the thread and the time.
 *
 *	perfbpf_PIDNS_PID_START		START: of /proc/PID/stat, in clock ticks
 *	u_LABEL_TID_NANOSECONDS
 *
 * What the group tells is also how a probe is known whose process is dead (its
 * pid is free, or has another start): a janitor that was killed with it could
 * not take it away, and who makes the next one does. Pids of another PID
 * namespace say nothing here, so its number is part of the group. A probe that
 * is in use cannot be taken away: EBUSY.
 */
#include "lib/sys/probe_events.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "lib/base/clock.h"
#include "lib/sys/internal.h"
#include "lib/sys/janitor.h"
#include "lib/sys/proc.h"
#include "lib/sys/tracefs.h"

enum {
	MAX_LIST = 64 << 20,
	MAX_LABEL = 24,
	MAX_LINE = 4000, /* the kernel takes 4,096 with its NUL */
};

struct sys_probe {
	uint64_t id;
	int fd;	      /* of the file, for writing */
	int keep;     /* the janitor's, or -1 */
	char *remove; /* the line that takes it away */
};

static const char *file_of(bool in_kernel)
{
	return in_kernel ? "kprobe_events" : "uprobe_events";
}

static struct error *open_list(const struct sys_roots *roots, bool in_kernel, int *fd)
{
	_cleanup_free_ char *dir = NULL, *path = NULL;

	TRY(sys_tracefs_dir(roots, &dir));
	path = text_format("%s/%s", dir, file_of(in_kernel));
	if (!path)
		return error_nomem();
	/* Without O_APPEND, opening takes all probes away, everybody's. */
	int got = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (got < 0) {
		if (errno == ENOENT)
			return error_hint(error_new(EOPNOTSUPP, "this kernel's tracefs has no %s",
						    file_of(in_kernel)),
					  "it was built without %s",
					  in_kernel ? "CONFIG_KPROBE_EVENTS"
						    : "CONFIG_UPROBE_EVENTS");
		return sys_hint_tracefs(error_errno(errno, "cannot open %s", path), roots, dir,
					true);
	}
	*fd = got;
	return NULL;
}

bool sys_probe_possible(const struct sys_roots *roots, bool in_kernel)
{
	_cleanup_close_ int fd = -1;
	_cleanup_error_ struct error *err = open_list(roots, in_kernel, &fd);

	return !err;
}

/* When the process began, in clock ticks after boot: field 22 of its stat. */
static struct error *start_of(const struct sys_roots *roots, pid_t pid, uint64_t *start)
{
	_cleanup_free_ char *text = NULL;

	TRY(sys_proc_read(roots, pid, "stat", &text, NULL));
	/* The second field is a name in parentheses and may hold anything. */
	char *field = strrchr(text, ')');
	for (int i = 2; field && i < 22; i++)
		field = strchr(field + 1, ' ');
	if (!field || !isdigit((unsigned char)field[1]))
		return error_new(EBADMSG, "/proc/%d/stat has no start time", (int)pid);
	*start = strtoull(field + 1, NULL, 10);
	return NULL;
}

/* 0: the kernel has no PID namespaces. */
static uint64_t pid_namespace(const struct sys_roots *roots)
{
	_cleanup_free_ char *path = text_format("%s/self/ns/pid", roots_or_default(roots)->proc);
	struct stat st;

	return path && !stat(path, &st) ? (uint64_t)st.st_ino : 0;
}

static bool is_dead(const struct sys_roots *roots, pid_t pid, uint64_t start)
{
	uint64_t now;

	if (kill(pid, 0) && errno == ESRCH)
		return true;
	_cleanup_error_ struct error *unread = start_of(roots, pid, &now);
	return !unread && now != start;
}

/* Takes away what dead processes left; what cannot be read or removed stays. */
static void sweep(const struct sys_roots *roots, bool in_kernel, int fd)
{
	_cleanup_free_ char *list = NULL;
	_cleanup_error_ struct error *unread =
		sys_tracefs_read(roots, file_of(in_kernel), MAX_LIST, &list, NULL);
	const uint64_t own_ns = pid_namespace(roots);

	for (char *line = unread ? NULL : list; line; line = strchr(line, '\n')) {
		uint64_t ns, start;
		int pid, group_len = 0;

		line += *line == '\n';
		/* "p:", "r:", or "r64:" with the number of instances */
		char *group = line + strcspn(line, ":\n");
		if (*group != ':' ||
		    sscanf(++group, "perfbpf_%" SCNu64 "_%d_%" SCNu64 "/%n", &ns, &pid, &start,
			   &group_len) != 3 ||
		    !group_len || ns != own_ns || pid <= 0 || !is_dead(roots, pid, start))
			continue;
		_cleanup_free_ char *text =
			text_format("-:%.*s\n", (int)strcspn(group, " \n"), group);
		if (text && write(fd, text, strlen(text)) < 0)
			continue; /* in use, or another took it away */
	}
}

/* "perfbpf_…/u_malloc_…" */
static struct error *name_of(const struct sys_roots *roots, const struct sys_probe_spec *spec,
			     char **name)
{
	char label[MAX_LABEL + 1] = "";
	uint64_t start;

	TRY(start_of(roots, getpid(), &start));
	for (size_t i = 0; spec->label && spec->label[i] && i < MAX_LABEL; i++)
		label[i] = isalnum((unsigned char)spec->label[i]) ? spec->label[i] : '_';
	*name = text_format("perfbpf_%" PRIu64 "_%d_%" PRIu64 "/%c_%s_%ld_%" PRIx64,
			    pid_namespace(roots), (int)getpid(), start, spec->in_kernel ? 'k' : 'u',
			    label, syscall(SYS_gettid), clock_ns(CLOCK_MONOTONIC));
	return *name ? NULL : error_nomem();
}

/* What stands after the name; alias is a descriptor of the file, or -1. */
static void add_place(const struct sys_probe_spec *spec, int alias, struct strbuf *sb)
{
	if (alias >= 0)
		strbuf_addf(sb, "/proc/self/fd/%d", alias);
	else
		strbuf_adds(sb, spec->place);
	if (spec->in_kernel) {
		if (spec->offset)
			strbuf_addf(sb, "+0x%" PRIx64, spec->offset);
		return;
	}
	strbuf_addf(sb, ":0x%" PRIx64, spec->offset);
	if (spec->ref_ctr_offset)
		strbuf_addf(sb, "(0x%" PRIx64 ")", spec->ref_ctr_offset);
}

/*
 * A line is taken apart at blanks, and is bounded: a path with blanks, or a
 * long one, is named by a descriptor of the file, which the kernel follows.
 */
static struct error *line_of(const struct sys_probe_spec *spec, const char *name, int *alias,
			     struct strbuf *sb)
{
	if (!spec->in_kernel &&
	    (strpbrk(spec->place, " \t\n;#\"'\\") || strlen(spec->place) > MAX_LINE - 256)) {
		*alias = open(spec->place, O_RDONLY | O_CLOEXEC);
		if (*alias < 0)
			return error_errno(errno, "cannot open %s", spec->place);
	}
	strbuf_addf(sb, "%c:%s ", spec->at_return ? 'r' : 'p', name);
	add_place(spec, *alias, sb);
	strbuf_addch(sb, '\n');
	if (strbuf_failed(sb))
		return error_nomem();
	return sb->len > MAX_LINE ? error_new(ENAMETOOLONG, "the name %s is too long", spec->place)
				  : NULL;
}

static struct error *id_of(const struct sys_roots *roots, char *name, uint64_t *id)
{
	char *slash = strchr(name, '/');

	*slash = 0;
	struct error *err = sys_tracepoint_id(roots, name, slash + 1, id);
	*slash = '/';
	return err;
}

struct error *sys_probe_make(const struct sys_roots *roots, const struct sys_probe_spec *spec,
			     struct sys_probe **out)
{
	_cleanup_probe_ struct sys_probe *probe = calloc(1, sizeof(*probe));
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	_cleanup_free_ char *name = NULL;
	_cleanup_close_ int alias = -1;

	if (!probe)
		return error_nomem();
	probe->fd = probe->keep = -1;
	TRY(open_list(roots, spec->in_kernel, &probe->fd));
	sweep(roots, spec->in_kernel, probe->fd);
	TRY(name_of(roots, spec, &name));
	TRY(line_of(spec, name, &alias, &line));
	probe->remove = text_format("-:%s\n", name);
	if (!probe->remove)
		return error_nomem();
	/* Before there is anything to clean up, so that there is no moment without him. */
	TRY(sys_janitor_start(probe->fd, probe->remove, &probe->keep));
	if (write(probe->fd, strbuf_str(&line), line.len) != (ssize_t)line.len)
		return error_errno(errno, "%s does not accept a probe at %s",
				   file_of(spec->in_kernel), spec->place);
	TRY(id_of(roots, name, &probe->id));
	*out = steal_ptr(probe);
	return NULL;
}

uint64_t sys_probe_id(const struct sys_probe *probe)
{
	return probe->id;
}

void sys_probe_free(struct sys_probe *probe)
{
	const int saved = errno;

	if (!probe)
		return;
	/* When it was not made, or is in use elsewhere, the kernel says so; the rest is his. */
	if (probe->remove && probe->keep >= 0 &&
	    write(probe->fd, probe->remove, strlen(probe->remove)) < 0)
		errno = saved;
	closep(&probe->keep);
	closep(&probe->fd);
	free(probe->remove);
	free(probe);
	errno = saved;
}

void sys_probe_leave(struct sys_probe *probe)
{
	probe->keep = -1;
	closep(&probe->fd);
	free(probe->remove);
	free(probe);
}
