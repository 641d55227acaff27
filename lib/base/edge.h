/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The libbpf-compatible edge: where a struct error becomes a negative errno,
 * errno, a line for the print callback, and what perf_bpf_last_error() gives.
 * The print callback is the library's one setting that all threads share.
 *
 *	int bpf_object__load(struct bpf_object *obj)
 *	{
 *		return edge_int(object_load(obj));
 *	}
 */
#ifndef PB_BASE_EDGE_H
#define PB_BASE_EDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/log.h"

/* 0 for NULL; else reports and frees err, sets errno and returns it negated. */
int edge_int(struct error *err);

/* The same for functions that return a pointer. */
void *edge_null(struct error *err);

/* Sets errno and returns -code; code is positive. For failures that need no words. */
int edge_errno(int code);
void *edge_null_errno(int code);

/* A log sink that ends in the print callback. */
const struct log *edge_log(void);

/*
 * EINVAL unless opts is NULL or a well-formed options struct: sz covers at
 * least itself, and what lies beyond the known bytes is zero.
 */
struct error *opts_check(const void *opts, size_t known, const char *type);
#define OPTS_CHECK(opts, type)                                                                     \
	opts_check((opts),                                                                         \
		   offsetof(struct type, type##__last_field) +                                     \
			   sizeof(((struct type *)0)->type##__last_field),                         \
		   #type)

/* Whether the caller's struct has the field; its value or a default. */
#define OPTS_HAS(opts, field)                                                                      \
	((opts) && (opts)->sz >= offsetof(__typeof__(*(opts)), field) + sizeof((opts)->field))
#define OPTS_GET(opts, field, fallback) (OPTS_HAS(opts, field) ? (opts)->field : (fallback))
#define OPTS_SET(opts, field, value)                                                               \
	do {                                                                                       \
		if (OPTS_HAS(opts, field))                                                         \
			(opts)->field = (value);                                                   \
	} while (0)

#endif
