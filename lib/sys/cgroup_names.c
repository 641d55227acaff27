// SPDX-License-Identifier: BSD-2-Clause
#include "lib/sys/cgroup_names.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/util.h"

#define ID_DIGITS 64

/* A part of the path; not terminated. */
struct part {
	const char *str;
	size_t n;
};

static bool part_is(const struct part *p, const char *text)
{
	return p->n == strlen(text) && !memcmp(p->str, text, p->n);
}

static bool cut_prefix(struct part *p, const char *prefix)
{
	const size_t n = strlen(prefix);

	if (p->n <= n || memcmp(p->str, prefix, n))
		return false;
	p->str += n;
	p->n -= n;
	return true;
}

static bool cut_suffix(struct part *p, const char *suffix)
{
	const size_t n = strlen(suffix);

	if (p->n <= n || memcmp(p->str + p->n - n, suffix, n))
		return false;
	p->n -= n;
	return true;
}

/* What is longer is not a name of these. */
static bool keep(const struct part *p, char *out, size_t size)
{
	if (!p->n || p->n >= size)
		return false;
	memcpy(out, p->str, p->n);
	out[p->n] = 0;
	return true;
}

static bool is_hex(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isdigit((unsigned char)s[i]) && (s[i] < 'a' || s[i] > 'f'))
			return false;
	return n > 0;
}

/* As systemd has them in names of units: "\x2d" for '-'. */
static void unescape(char *s)
{
	static const char digits[] = "0123456789abcdef";
	char *out = s;

	while (*s) {
		const char *high =
			s[0] == '\\' && s[1] == 'x' && s[2] ? strchr(digits, s[2]) : NULL;
		const char *low = high && s[3] ? strchr(digits, s[3]) : NULL;
		const int c = low ? (int)((high - digits) * 16 + (low - digits)) : 0;

		if (c) {
			*out++ = (char)c;
			s += 4;
		} else {
			*out++ = *s++;
		}
	}
	*out = 0;
}

/*
 * "ID", "docker-ID.scope", "cri-containerd-ID", "crio-ID". The cgroup of conmon has the id of the
 * container that it watches.
 */
static bool find_container_id(struct part p, struct cgroup_names *names)
{
	struct part id;

	cut_suffix(&p, ".scope");
	if (p.n < ID_DIGITS || !is_hex(p.str + p.n - ID_DIGITS, ID_DIGITS))
		return false;
	id = (struct part){p.str + p.n - ID_DIGITS, ID_DIGITS};
	p.n -= ID_DIGITS;
	if (p.n && !cut_suffix(&p, "-"))
		return false;
	for (size_t i = 0; i < p.n; i++)
		if (!isalnum((unsigned char)p.str[i]) && p.str[i] != '-')
			return false;
	if (part_is(&p, "conmon") || cut_suffix(&p, "-conmon"))
		return false;
	return keep(&id, names->container, sizeof(names->container));
}

/* What systemd and LXC give a name of their own. above: the component before. */
static bool find_machine(struct part p, const struct part *above, struct cgroup_names *names)
{
	struct part scope = p;
	bool found = false;

	if (cut_suffix(&scope, ".scope") && cut_prefix(&scope, "machine-"))
		found = !cut_prefix(&scope, "qemu\\x2d") &&
			keep(&scope, names->container, sizeof(names->container));
	else if (cut_suffix(&p, ".service"))
		found = cut_prefix(&p, "systemd-nspawn@") &&
			keep(&p, names->container, sizeof(names->container));
	else
		return (cut_prefix(&p, "lxc.payload.") || part_is(above, "lxc")) &&
		       keep(&p, names->container, sizeof(names->container));
	if (found)
		unescape(names->container);
	return found;
}

/* 36 characters with '-' (with '_' in the name of a slice), or 32 digits of a static pod. */
static bool keep_uid(const struct part *p, struct cgroup_names *names)
{
	static const size_t dashes[] = {8, 13, 18, 23};
	char uid[37];

	if ((p->n != 36 && p->n != 32) || !keep(p, uid, sizeof(uid)))
		return false;
	for (size_t i = 0; p->n == 36 && i < ARRAY_SIZE(dashes); i++) {
		if (uid[dashes[i]] != '-' && uid[dashes[i]] != '_')
			return false;
		uid[dashes[i]] = '0';
	}
	if (!is_hex(uid, p->n))
		return false;
	for (size_t i = 0; p->n == 36 && i < ARRAY_SIZE(dashes); i++)
		uid[dashes[i]] = '-';
	memcpy(names->pod, uid, sizeof(uid));
	return true;
}

static bool find_pod(struct part p, struct cgroup_names *names)
{
	struct part uid = p;

	if (cut_prefix(&uid, "pod"))
		return keep_uid(&uid, names);
	if (cut_suffix(&p, ".slice")) {
		for (size_t i = 0; i + 4 < p.n; i++) {
			uid = (struct part){p.str + i, p.n - i};
			if (cut_prefix(&uid, "-pod") && keep_uid(&uid, names))
				return true;
		}
		cut_prefix(&p, "machine-");
	}
	return cut_prefix(&p, "libpod_pod_") && p.n == ID_DIGITS && is_hex(p.str, p.n) &&
	       keep(&p, names->pod, sizeof(names->pod));
}

static void find_unit(struct part p, struct cgroup_names *names)
{
	static const char *const types[] = {".service", ".scope", ".socket", ".mount", ".swap"};

	/* systemd puts '_' before what could be taken for a file of the kernel's. */
	if (p.n > 1 && *p.str == '_')
		p = (struct part){p.str + 1, p.n - 1};
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct part name = p;

		if (cut_suffix(&name, types[i])) {
			keep(&p, names->unit, sizeof(names->unit));
			return;
		}
	}
}

static void take_component(struct part p, const struct part *above, struct cgroup_names *names)
{
	find_unit(p, names);
	names->ends_container = names->ends_pod = false;
	/* "SLICE:RUNTIME:ID" */
	for (const char *colon; (colon = memchr(p.str, ':', p.n));) {
		struct part first = {p.str, (size_t)(colon - p.str)};

		names->ends_pod |= find_pod(first, names);
		p = (struct part){colon + 1, p.n - first.n - 1};
	}
	names->ends_pod |= find_pod(p, names);
	names->ends_container = find_container_id(p, names) || find_machine(p, above, names);
}

/* Component by component, until `is_end` says so of what the path shows up to there. */
static bool walk(const char *path, struct cgroup_names *names,
		 bool (*is_end)(const struct cgroup_names *names, const char *want),
		 const char *want)
{
	struct part above = {"", 0};

	*names = (struct cgroup_names){0};
	while (*path) {
		struct part p = {path, strcspn(path, "/")};

		path += p.n;
		path += *path == '/';
		if (!p.n)
			continue;
		take_component(p, &above, names);
		if (is_end && is_end(names, want))
			return true;
		above = p;
	}
	return false;
}

void cgroup_names_of(const char *path, struct cgroup_names *names)
{
	walk(path, names, NULL, NULL);
}

static bool is_container(const struct cgroup_names *names, const char *prefix)
{
	return names->ends_container && !strncmp(names->container, prefix, strlen(prefix));
}

static bool is_pod(const struct cgroup_names *names, const char *uid)
{
	return names->ends_pod && !strcmp(names->pod, uid);
}

bool cgroup_is_in_container(const char *path, const char *id_prefix)
{
	struct cgroup_names names;

	return walk(path, &names, is_container, id_prefix);
}

bool cgroup_is_in_pod(const char *path, const char *uid)
{
	struct cgroup_names names;

	return walk(path, &names, is_pod, uid);
}

bool cgroup_is_below(const char *path, const char *above)
{
	size_t n = strlen(above);

	while (n && above[n - 1] == '/')
		n--;
	return !strncmp(path, above, n) && (!path[n] || path[n] == '/');
}
