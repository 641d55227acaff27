/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this host's kernel can do for us, found out by trying: never by its
 * version, which says little of what distributions took out or put in.
 *
 * A struct sys_features holds the answers given so far: each probe runs when
 * it is first asked for. It is not thread-safe. Probes leave nothing behind.
 */
#ifndef PB_SYS_FEATURES_H
#define PB_SYS_FEATURES_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/sys/sys.h"

struct sys_features;
struct sys_feature_result;

struct sys_feature {
	const char *name;    /* "bpf.map.ringbuf": what --json calls it */
	const char *group;   /* "BPF map types": the heading it stands under */
	const char *purpose; /* what it is for, in the user's terms */
	void (*probe)(struct sys_features *features, const void *arg,
		      struct sys_feature_result *result);
	const void *arg;
};

struct sys_feature_result {
	bool works;
	int code;	  /* the errno of the refusal; 0: it works, or none was given */
	char reason[192]; /* why not; or, when it works, what there is to know ("" if nothing) */
	char hint[320];	  /* what the user can do about it; "" : nothing */
};

struct sys_features *sys_features_new(const struct sys_roots *roots);
void sys_features_free(struct sys_features *features);
DEFINE_FREEP(struct sys_features, sys_features_free)
#define _cleanup_features_ _cleanup_(sys_features_freep)

/* The table, in the order in which it is shown, 0 … ; NULL ends it. */
const struct sys_feature *sys_feature_at(size_t index);

/* The answer, from the cache when it was asked before; NULL: not in the table. */
const struct sys_feature_result *sys_feature_get(struct sys_features *features, const char *name);

#endif
