/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the feature table. */
#ifndef PB_SYS_FEATURES_INTERNAL_H
#define PB_SYS_FEATURES_INTERNAL_H

#include <linux/capability.h>

#include "lib/sys/missing_caps.h"
#include "lib/sys/probe_features.h"
#include "lib/sys/internal.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38 /* 5.8 */
#endif
#ifndef CAP_BPF
#define CAP_BPF 39 /* 5.8 */
#endif

struct sys_features {
	const struct sys_roots *roots;
	uint64_t caps; /* this process's, effective */
	size_t n;
	struct sys_feature_result *results;
	bool *known;
};

/* A part of the table. */
struct feature_part {
	const struct sys_feature *features;
	size_t n;
};
extern const struct feature_part features_host, features_perf, features_bpf, features_attach;

/* It works; the text, if any, is what there is to know. */
void feature_yes(struct sys_feature_result *result, const char *fmt, ...) _printf_(2, 3);

/* It does not: why, with the errno (sign does not matter, 0: none). */
void feature_no(struct sys_feature_result *result, int code, const char *fmt, ...) _printf_(3, 4);
void feature_hint(struct sys_feature_result *result, const char *fmt, ...) _printf_(2, 3);
/* How to get capabilities, as sys_caps_advice() has it. */
void feature_hint_caps(const struct sys_features *features, struct sys_feature_result *result,
		       uint64_t caps, const char *other_way);

/* The refusal of an error, which is freed; NULL: it works. */
void feature_from_error(struct sys_feature_result *result, struct error *err);

/*
 * The refusal of bpf(2) with this errno. EPERM without the capabilities names
 * those; what else it means is the caller's to say (NULL: strerror).
 */
void feature_no_bpf(const struct sys_features *features, struct sys_feature_result *result,
		    int code, const char *what);

static inline bool feature_has_cap(const struct sys_features *features, unsigned cap)
{
	return (features->caps >> cap & 1) || (features->caps >> CAP_SYS_ADMIN & 1);
}

/* The id of a type in the kernel's BTF by name and kind; ENOENT: none of that name. */
struct error *kernel_btf_id(const struct sys_roots *roots, const char *name, unsigned kind,
			    uint32_t *id);

#endif
