/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which capability a process lacks, for hints. The kernel checks capabilities against its initial
 * user namespace; those of root in any other one (rootless containers, unshare -r) do not count,
 * although /proc/self/status shows them.
 */
#ifndef PB_SYS_MISSING_CAPS_H
#define PB_SYS_MISSING_CAPS_H

#include "lib/sys/sys.h"

/* As in <linux/capability.h>, which has the last two since 5.8. */
enum sys_cap {
	SYS_CAP_DAC_READ_SEARCH = 2,
	SYS_CAP_SYS_ADMIN = 21,
	SYS_CAP_SYSLOG = 34,
	SYS_CAP_PERFMON = 38,
	SYS_CAP_BPF = 39,
};

#define SYS_CAP(cap) (1ull << (cap))

bool sys_in_user_namespace(const struct sys_roots *roots);

/* In hints; "as root" follows. */
#define SYS_OUTSIDE_OF_USER_NS                                                                     \
	"this process is in a user namespace, whose capabilities do not count here: run perf-bpf " \
	"outside of the namespace"

/* Those of "wanted" (SYS_CAP() | …) that this process lacks; CAP_SYS_ADMIN replaces the last two.
 */
uint64_t sys_caps_missing(const struct sys_roots *roots, uint64_t wanted);

/*
 * Hints how to get what is missing of "wanted": "run as root or with CAP_BPF", then ", or " and the
 * other way, if that is not NULL. If nothing is missing: what else may refuse.
 */
struct error *sys_hint_caps(struct error *err, const struct sys_roots *roots, uint64_t wanted,
			    const char *other_way);

/* The same text alone, for the hint of a feature; NULL: no memory. The caller frees it. */
char *sys_caps_advice(const struct sys_roots *roots, uint64_t wanted, const char *other_way);

#endif
