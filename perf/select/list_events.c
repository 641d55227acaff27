// SPDX-License-Identifier: BSD-2-Clause
/*
 * The events of this machine, for lists. The names of hardware, software and cache events are the
 * same everywhere, so the kernel is asked which of them it can count; what PMUs count is in sysfs.
 */
#include "perf/select/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/base/names.h"
#include "lib/base/strbuf.h"
#include "lib/sys/uapi.h"

struct known_out {
	select_known_fn *fn;
	void *ctx;
};

/*
 * Whether the kernel has it. A user without the right to count it (EACCES, EPERM) still sees it:
 * the kernel looks for the event only after that.
 */
static bool is_supported(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = sys_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd == -EINVAL || fd == -EOPNOTSUPP) { /* the PMU cannot exclude anything */
		attr.exclude_kernel = attr.exclude_hv = 0;
		fd = sys_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EACCES || fd == -EPERM || fd == -EBUSY || fd == -EMFILE;
}

static struct error *add_named(void *ctx, const char *name, const char *alias, uint32_t type,
			       uint64_t config)
{
	const struct known_out *out = ctx;
	const struct select_known_event event = {
		.kind = type == PERF_TYPE_HARDWARE   ? SELECT_EVENT_HARDWARE
			: type == PERF_TYPE_SOFTWARE ? SELECT_EVENT_SOFTWARE
						     : SELECT_EVENT_CACHE,
		.name = name,
		.alias = alias,
	};

	return is_supported(type, config) ? out->fn(out->ctx, &event) : NULL;
}

static struct error *add_pmu_event(const struct known_out *out, const struct sys_roots *roots,
				   const char *pmu, const char *name)
{
	_cleanup_free_ char *terms = NULL, *text = text_format("%s/%s/", pmu, name);

	if (!text)
		return error_nomem();
	TRY(sys_pmu_event(roots, pmu, name, &terms));
	return out->fn(out->ctx, &(struct select_known_event){
					 .kind = SELECT_EVENT_PMU, .name = text, .detail = terms});
}

/* "cpu/event=N,umask=N/", and where the bits of each go. */
static struct error *add_raw(const struct known_out *out, const struct sys_roots *roots,
			     const char *pmu, const struct names *terms)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT, detail = STRBUF_INIT;

	strbuf_addf(&name, "%s/", pmu);
	for (size_t i = 0; i < terms->n; i++) {
		_cleanup_free_ char *bits = NULL;

		TRY(sys_pmu_format(roots, pmu, terms->v[i], &bits));
		strbuf_addf(&name, "%s%s=N", i ? "," : "", terms->v[i]);
		strbuf_addf(&detail, "%s%s=%s", i ? " " : "", terms->v[i], bits);
	}
	strbuf_addch(&name, '/');
	if (strbuf_failed(&name) || strbuf_failed(&detail))
		return error_nomem();
	return out->fn(out->ctx, &(struct select_known_event){.kind = SELECT_EVENT_RAW,
							      .name = strbuf_str(&name),
							      .detail = strbuf_str(&detail)});
}

/* Of a PMU that is unplugged meanwhile, nothing is left. */
static struct error *unless_gone(struct error *err)
{
	if (!err || (err->code != ENOENT && err->code != ENODEV))
		return err;
	error_free(err);
	return NULL;
}

/* Those of probes are not for -e: a probe has a definition. */
static bool is_for_probes(const char *pmu)
{
	return !strcmp(pmu, "kprobe") || !strcmp(pmu, "uprobe");
}

struct error *select_known_events(const struct sys_roots *roots, select_known_fn *fn, void *ctx)
{
	static const uint32_t types[] = {PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE,
					 PERF_TYPE_HW_CACHE};
	_cleanup_names_ struct names pmus = {0};
	struct known_out out = {.fn = fn, .ctx = ctx};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		TRY(select_names_by_type(types[i], add_named, &out));
	TRY(unless_gone(sys_pmu_list(roots, &pmus)));
	for (size_t i = 0; i < pmus.n; i++) {
		_cleanup_names_ struct names events = {0};

		TRY(sys_pmu_entries(roots, pmus.v[i], "events", &events));
		for (size_t j = 0; j < events.n; j++)
			TRY(unless_gone(add_pmu_event(&out, roots, pmus.v[i], events.v[j])));
	}
	for (size_t i = 0; i < pmus.n; i++) {
		_cleanup_names_ struct names terms = {0};

		TRY(sys_pmu_entries(roots, pmus.v[i], "format", &terms));
		if (terms.n && !is_for_probes(pmus.v[i]))
			TRY(unless_gone(add_raw(&out, roots, pmus.v[i], &terms)));
	}
	return NULL;
}
