// SPDX-License-Identifier: BSD-2-Clause
/*
 * PMUs as sysfs shows them
 * (Documentation/ABI/testing/sysfs-bus-event_source-devices-format): a folder
 * each, with its number for attr.type, and for each term the bits of the
 * attr's config words that it fills.
 */
#include <string.h>

#include "lib/base/strbuf.h"
#include "lib/sys/internal.h"

enum {
	MAX_PMU_FILE = 4096, /* sysfs shows a page at most */
};

static char *pmu_path(const struct sys_roots *roots, const char *pmu, const char *file)
{
	return text_format("%s/bus/event_source/devices/%s%s%s", roots_or_default(roots)->sysfs,
			   pmu, *file ? "/" : "", file);
}

struct error *sys_pmu_list(const struct sys_roots *roots, struct names *pmus)
{
	_cleanup_free_ char *path = pmu_path(roots, "", "");

	return path ? sys_list_dir(path, DT_DIR, pmus) : error_nomem();
}

static struct error *no_such_pmu(const struct sys_roots *roots, const char *pmu)
{
	_cleanup_names_ struct names pmus = {0};
	struct error *err = error_new(ENOENT, "this machine has no PMU '%s'", pmu);

	error_free(sys_pmu_list(roots, &pmus));
	return sys_hint_nearest(err, pmu, &pmus, "'perf-bpf list raw' lists the PMUs");
}

struct error *sys_pmu_type(const struct sys_roots *roots, const char *pmu, uint32_t *type)
{
	_cleanup_free_ char *path = NULL;
	int value;

	if (!sys_is_component(pmu))
		return no_such_pmu(roots, pmu);
	path = pmu_path(roots, pmu, "type");
	if (!path)
		return error_nomem();
	struct error *err = sys_read_int(path, &value);
	if (err && err->code == ENOENT) {
		error_free(err);
		return no_such_pmu(roots, pmu);
	}
	TRY(err);
	*type = (uint32_t)value;
	return NULL;
}

/* A file of pmu/folder; ENOENT names the nearest of the folder's. */
static struct error *read_entry(const struct sys_roots *roots, const char *pmu, const char *folder,
				const char *what, const char *entry, char **text)
{
	_cleanup_free_ char *dir = pmu_path(roots, pmu, folder);
	_cleanup_free_ char *path = text_format("%s/%s", dir ? dir : "", entry);
	struct error *err = NULL;
	uint32_t type;

	if (!dir || !path)
		return error_nomem();
	TRY(sys_pmu_type(roots, pmu, &type));
	if (sys_is_component(entry)) {
		err = sys_read_file(path, MAX_PMU_FILE, text, NULL);
		if (!err || err->code != ENOENT)
			return err;
	}
	_cleanup_names_ struct names names = {0};
	error_free(err);
	error_free(sys_list_dir(dir, DT_REG, &names));
	return sys_hint_nearest(error_new(ENOENT, "PMU '%s' has no %s '%s'", pmu, what, entry),
				entry, &names, NULL);
}

struct error *sys_pmu_event(const struct sys_roots *roots, const char *pmu, const char *event,
			    char **terms)
{
	char *text;

	TRY(read_entry(roots, pmu, "events", "event", event, &text));
	text[strcspn(text, "\n")] = 0;
	*terms = text;
	return NULL;
}

struct error *sys_pmu_entries(const struct sys_roots *roots, const char *pmu, const char *folder,
			      struct names *entries)
{
	_cleanup_free_ char *dir = pmu_path(roots, pmu, folder);
	_cleanup_names_ struct names found = {0};

	if (!dir)
		return error_nomem();
	struct error *err = sys_list_dir(dir, DT_REG, &found);
	if (err && err->code == ENOENT) {
		error_free(err);
		return NULL;
	}
	TRY(err);
	for (size_t i = 0; i < found.n; i++)
		if (!strchr(found.v[i], '.') && !names_add(entries, found.v[i]))
			return error_nomem();
	return NULL;
}

struct error *sys_pmu_format(const struct sys_roots *roots, const char *pmu, const char *term,
			     char **text)
{
	TRY(read_entry(roots, pmu, "format", "term", term, text));
	(*text)[strcspn(*text, "\n")] = 0;
	return NULL;
}

struct error *sys_pmu_field(const struct sys_roots *roots, const char *pmu, const char *term,
			    struct sys_pmu_field *field)
{
	_cleanup_free_ char *text = NULL;

	TRY(read_entry(roots, pmu, "format", "term", term, &text));
	return error_at(sys_pmu_field_parse(text, field), "PMU %s: term %s", pmu, term);
}

static bool parse_bit(const char **pos, unsigned *bit)
{
	const char *p = *pos;

	for (*bit = 0; *p >= '0' && *p <= '9'; p++) {
		*bit = *bit * 10 + (unsigned)(*p - '0');
		if (*bit > 63)
			return false;
	}
	bool any = p != *pos;
	*pos = p;
	return any;
}

struct error *sys_pmu_field_parse(const char *text, struct sys_pmu_field *field)
{
	struct sys_pmu_field got = {0};
	const char *p = text;

	if (strncmp(p, "config", 6))
		goto bad;
	p += 6;
	if (*p >= '1' && *p <= '9')
		got.word = (unsigned)(*p++ - '0');
	if (*p++ != ':')
		goto bad;
	do {
		unsigned from, to;

		if (!parse_bit(&p, &from))
			goto bad;
		to = from;
		if (*p == '-') {
			p++;
			if (!parse_bit(&p, &to) || to < from)
				goto bad;
		}
		for (unsigned bit = from; bit <= to; bit++)
			got.mask |= 1ull << bit;
	} while (*p == ',' && p++);
	if (p[strspn(p, " \n")])
		goto bad;
	*field = got;
	return NULL;
bad:
	return error_new(EBADMSG, "unknown format '%.*s'", (int)strcspn(text, "\n"), text);
}

bool sys_pmu_field_set(const struct sys_pmu_field *field, struct perf_event_attr *attr,
		       uint64_t value)
{
	__u64 *words[] = {&attr->config, &attr->config1, &attr->config2};
	uint64_t spread = 0;

	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(field->mask & 1ull << bit))
			continue;
		if (value & 1)
			spread |= 1ull << bit;
		value >>= 1;
	}
	if (value || field->word >= ARRAY_SIZE(words))
		return false;
	*words[field->word] = (*words[field->word] & ~field->mask) | spread;
	return true;
}
