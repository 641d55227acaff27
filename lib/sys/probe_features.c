// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of features, its cache, and the words that its probes share. A
 * probe does the thing itself, in small, and undoes it; what it opens is
 * closed when it returns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys/features_internal.h"
#include "lib/sys/missing_caps.h"

static const struct feature_part *const parts[] = {
	&features_host,
	&features_perf,
	&features_bpf,
	&features_attach,
};

const struct sys_feature *sys_feature_at(size_t index)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (index < parts[i]->n)
			return &parts[i]->features[index];
		index -= parts[i]->n;
	}
	return NULL;
}

struct sys_features *sys_features_new(const struct sys_roots *roots)
{
	struct sys_features *features = calloc(1, sizeof(*features));

	if (!features)
		return NULL;
	features->roots = roots_or_default(roots);
	while (sys_feature_at(features->n))
		features->n++;
	features->results = calloc(features->n, sizeof(*features->results));
	features->known = calloc(features->n, sizeof(*features->known));
	if (!features->results || !features->known) {
		sys_features_free(features);
		return NULL;
	}
	error_free(sys_capabilities(features->roots, &features->caps));
	return features;
}

void sys_features_free(struct sys_features *features)
{
	if (!features)
		return;
	free(features->results);
	free(features->known);
	free(features);
}

const struct sys_feature_result *sys_feature_get(struct sys_features *features, const char *name)
{
	for (size_t i = 0; i < features->n; i++) {
		const struct sys_feature *feature = sys_feature_at(i);

		if (strcmp(feature->name, name))
			continue;
		if (!features->known[i]) {
			feature->probe(features, feature->arg, &features->results[i]);
			features->known[i] = true;
		}
		return &features->results[i];
	}
	return NULL;
}

void feature_yes(struct sys_feature_result *result, const char *fmt, ...)
{
	va_list ap;

	*result = (struct sys_feature_result){.works = true};
	va_start(ap, fmt);
	vsnprintf(result->reason, sizeof(result->reason), fmt, ap);
	va_end(ap);
}

void feature_no(struct sys_feature_result *result, int code, const char *fmt, ...)
{
	va_list ap;

	*result = (struct sys_feature_result){.code = abs(code)};
	va_start(ap, fmt);
	vsnprintf(result->reason, sizeof(result->reason), fmt, ap);
	va_end(ap);
}

void feature_hint(struct sys_feature_result *result, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(result->hint, sizeof(result->hint), fmt, ap);
	va_end(ap);
}

void feature_hint_caps(const struct sys_features *features, struct sys_feature_result *result,
		       uint64_t caps, const char *other_way)
{
	_cleanup_free_ char *advice = sys_caps_advice(features->roots, caps, other_way);

	feature_hint(result, "%s", advice ? advice : "run as root");
}

void feature_from_error(struct sys_feature_result *result, struct error *err)
{
	if (!err) {
		feature_yes(result, "%s", "");
		return;
	}
	feature_no(result, err->code, "%s%s%s", err->where ? err->where : "",
		   err->where ? ": " : "", err->msg);
	if (err->hint)
		feature_hint(result, "%s", err->hint);
	error_free(err);
}

void feature_no_bpf(const struct sys_features *features, struct sys_feature_result *result,
		    int code, const char *what)
{
	code = abs(code);
	if (code == ENOSYS) {
		feature_no(result, code, "the kernel has no bpf()");
		feature_hint(result,
			     "this needs CONFIG_BPF_SYSCALL; a container may block the call");
	} else if (code == EPERM && !(feature_has_cap(features, CAP_BPF) &&
				      feature_has_cap(features, CAP_PERFMON))) {
		feature_no(result, code, "this process lacks CAP_BPF or CAP_PERFMON");
		feature_hint_caps(features, result, SYS_CAP(CAP_BPF) | SYS_CAP(CAP_PERFMON), NULL);
	} else if (what) {
		feature_no(result, code, "%s", what);
	} else {
		feature_no(result, code, "refused: %s", strerror(code));
	}
}
