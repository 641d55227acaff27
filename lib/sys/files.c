// SPDX-License-Identifier: BSD-2-Clause
/* The small files of sysfs and procfs, and what is parsed out of them. */
#include "lib/sys/sys.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/base/cursor.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "lib/sys/internal.h"

const struct sys_roots sys_roots_default = {.tracefs = NULL, .proc = "/proc", .sysfs = "/sys"};

struct error *sys_read_file(const char *path, size_t max, char **data, size_t *size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	if (fd < 0)
		return error_errno(errno, "cannot open %s", path);
	for (;;) {
		if (!strbuf_reserve(&sb, 4096))
			return error_nomem();
		ssize_t n = read(fd, sb.str + sb.len, sb.cap - sb.len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(errno, "cannot read %s", path);
		if (n == 0)
			break;
		sb.len += (size_t)n;
		if (sb.len > max)
			return error_new(EFBIG, "%s has more than %zu bytes", path, max);
	}
	sb.str[sb.len] = 0;
	if (size)
		*size = sb.len;
	*data = strbuf_steal(&sb);
	return NULL;
}

/* A number and nothing else but space around it. */
static bool parse_number(const char *text, bool is_signed, int64_t *value)
{
	char *end;

	errno = 0;
	*value = is_signed ? strtoll(text, &end, 0) : (int64_t)strtoull(text, &end, 0);
	if (errno || end == text)
		return false;
	return end[strspn(end, " \t\n")] == 0;
}

#define LINE_MAX_BYTES (64 * 1024)

struct error *sys_read_lines(const char *path, bool (*on_line)(void *ctx, char *line), void *ctx)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *buf = malloc(LINE_MAX_BYTES + 1);
	size_t len = 0;

	if (fd < 0)
		return error_errno(errno, "cannot open %s", path);
	if (!buf)
		return error_nomem();
	for (;;) {
		const ssize_t n = read(fd, buf + len, LINE_MAX_BYTES - len);
		char *line = buf, *end;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(errno, "cannot read %s", path);
		len += (size_t)n;
		buf[len] = 0;
		while ((end = memchr(line, '\n', len - (size_t)(line - buf)))) {
			*end = 0;
			if (!on_line(ctx, line))
				return NULL;
			line = end + 1;
		}
		len -= (size_t)(line - buf);
		if (!n) {
			if (len)
				on_line(ctx, line);
			return NULL;
		}
		if (len == LINE_MAX_BYTES)
			return error_new(EFBIG, "%s has a line of more than %d bytes", path,
					 LINE_MAX_BYTES);
		memmove(buf, line, len);
	}
}

struct error *sys_read_u64(const char *path, uint64_t *value)
{
	_cleanup_free_ char *text = NULL;
	int64_t v;

	TRY(sys_read_file(path, 4096, &text, NULL));
	if (text[strspn(text, " \t")] == '-' || !parse_number(text, false, &v))
		return error_at(error_new(EBADMSG, "it does not contain a number"), "%s", path);
	*value = (uint64_t)v;
	return NULL;
}

struct error *sys_read_int(const char *path, int *value)
{
	_cleanup_free_ char *text = NULL;
	int64_t v;

	TRY(sys_read_file(path, 4096, &text, NULL));
	if (!parse_number(text, true, &v) || v != (int)v)
		return error_at(error_new(EBADMSG, "it does not contain a number"), "%s", path);
	*value = (int)v;
	return NULL;
}

struct error *sys_sysctl(const struct sys_roots *roots, const char *name, int *value)
{
	_cleanup_free_ char *path = text_format("%s/sys/%s", roots_or_default(roots)->proc, name);

	return path ? sys_read_int(path, value) : error_nomem();
}

enum {
	OTHER_FDS = 128, /* what a command has open beside its events */
};

struct error *sys_want_fds(const struct sys_roots *roots, size_t n, const char *what)
{
	const rlim_t wanted = n + OTHER_FDS;
	struct rlimit limit;
	int most = 0;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return NULL;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (wanted <= limit.rlim_max)
		return NULL;
	limit.rlim_cur = limit.rlim_max = wanted;
	if (!setrlimit(RLIMIT_NOFILE, &limit))
		return NULL;
	const int code = errno;
	getrlimit(RLIMIT_NOFILE, &limit);
	error_free(sys_sysctl(roots, "fs/nr_open", &most));
	struct error *err =
		error_new(EMFILE, "%s needs %llu open files, but the limit is %llu", what,
			  (unsigned long long)wanted, (unsigned long long)limit.rlim_max);
	if (most > 0 && wanted > (rlim_t)most)
		return error_hint(err,
				  "raise fs.nr_open with sysctl, or select all CPUs or a cgroup "
				  "instead of threads");
	if (code == EPERM)
		return error_hint(
			err,
			"raise it with 'ulimit -Hn %llu' (LimitNOFILE= of a systemd unit), "
			"which needs CAP_SYS_RESOURCE, or select all CPUs or a cgroup instead of "
			"threads",
			(unsigned long long)wanted);
	return error_hint(err, "it cannot be raised: %s", strerror(code));
}

size_t sys_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- CPUs ---- */

enum {
	SYS_MAX_CPUS = 1 << 16, /* no kernel is configured for as many */
};

void sys_cpus_deinit(struct sys_cpus *cpus)
{
	vec_deinit(cpus);
}

static int compare_unsigned(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

static bool parse_cpu(const char **pos, unsigned *cpu)
{
	unsigned v = 0;
	const char *p = *pos;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		v = v * 10 + (unsigned)(*p - '0');
		if (v >= SYS_MAX_CPUS)
			return false;
	}
	*pos = p;
	*cpu = v;
	return true;
}

struct error *sys_cpus_parse(const char *list, struct sys_cpus *cpus)
{
	_cleanup_cpus_ struct sys_cpus got = {0};
	const char *p = list + strspn(list, " \t\n");

	while (*p) {
		unsigned from, to;

		if (!parse_cpu(&p, &from))
			goto bad;
		to = from;
		if (*p == '-') {
			p++;
			if (!parse_cpu(&p, &to) || to < from)
				goto bad;
		}
		if (got.n + (to - from) >= SYS_MAX_CPUS)
			goto bad;
		for (unsigned cpu = from; cpu <= to; cpu++) {
			unsigned *v = vec_push(&got);
			if (!v)
				return error_nomem();
			*v = cpu;
		}
		p += strspn(p, " \t\n");
		if (!*p)
			break;
		if (*p++ != ',')
			goto bad;
		if (!*p)
			goto bad;
	}
	if (got.n) {
		size_t n = 1;

		qsort(got.v, got.n, sizeof(*got.v), compare_unsigned);
		for (size_t i = 1; i < got.n; i++)
			if (got.v[i] != got.v[n - 1])
				got.v[n++] = got.v[i];
		got.n = n;
	}
	sys_cpus_deinit(cpus);
	*cpus = got;
	got = (struct sys_cpus){0};
	return NULL;
bad:
	return error_hint(error_new(EINVAL, "'%s' is not a list of CPUs", list),
			  "write numbers and ranges, as in 0-3,8");
}

bool sys_cpus_has(const struct sys_cpus *cpus, unsigned cpu)
{
	return cpus->n && bsearch(&cpu, cpus->v, cpus->n, sizeof(*cpus->v), compare_unsigned);
}

static struct error *read_cpus(const struct sys_roots *roots, const char *which,
			       struct sys_cpus *cpus)
{
	_cleanup_free_ char *path =
		text_format("%s/devices/system/cpu/%s", roots_or_default(roots)->sysfs, which);
	_cleanup_free_ char *text = NULL;

	if (!path)
		return error_nomem();
	TRY(sys_read_file(path, 65536, &text, NULL));
	return error_at(sys_cpus_parse(text, cpus), "%s", path);
}

struct error *sys_cpus_online(const struct sys_roots *roots, struct sys_cpus *cpus)
{
	return read_cpus(roots, "online", cpus);
}

struct error *sys_cpus_possible(const struct sys_roots *roots, struct sys_cpus *cpus)
{
	return read_cpus(roots, "possible", cpus);
}

struct error *sys_cpus_check(const struct sys_roots *roots, const struct sys_cpus *cpus,
			     const char *list)
{
	_cleanup_cpus_ struct sys_cpus online = {0};

	TRY(sys_cpus_online(roots, &online));
	for (size_t i = 0; i < cpus->n; i++)
		if (!sys_cpus_has(&online, cpus->v[i]))
			return error_new(ENODEV, "CPU %u of -C %s is not online", cpus->v[i], list);
	return NULL;
}
