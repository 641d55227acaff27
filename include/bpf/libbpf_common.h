/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all public headers share: the export mark, the version whose names and
 * semantics are covered, and the options structs.
 *
 * An options struct begins with "size_t sz", the size the caller was compiled
 * with. The library takes the fields it knows within sz; fields beyond sz have
 * their defaults (zero); bytes within sz that it does not know must be zero,
 * else the call fails with EINVAL. A NULL pointer means defaults throughout.
 */
#ifndef PERF_BPF_LIBBPF_COMMON_H
#define PERF_BPF_LIBBPF_COMMON_H

#include <stddef.h>
#include <string.h>

#include "libbpf_version.h"

#ifndef LIBBPF_API
#define LIBBPF_API __attribute__((visibility("default")))
#endif

#define LIBBPF_DEPRECATED(msg) __attribute__((deprecated(msg)))

/*
 * Defines the options struct NAME of type "struct TYPE", padding included all
 * zero but for sz and the fields that are named:
 *
 *	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
 */
#ifdef __cplusplus
#define LIBBPF_OPTS(TYPE, NAME, ...)                                                               \
	struct TYPE NAME = [&]() -> struct TYPE {                                                  \
		struct TYPE fresh_;                                                                \
		memset(&fresh_, 0, sizeof(fresh_));                                                \
		fresh_ = TYPE{sizeof(struct TYPE), ##__VA_ARGS__};                                 \
		return fresh_;                                                                     \
	}()
#else
#define LIBBPF_OPTS(TYPE, NAME, ...)                                                               \
	struct TYPE NAME = ({                                                                      \
		memset(&NAME, 0, sizeof(NAME));                                                    \
		(struct TYPE){.sz = sizeof(NAME), __VA_ARGS__};                                    \
	})
#endif

/* Sets NAME back to defaults but for the fields that are named. */
#define LIBBPF_OPTS_RESET(NAME, ...)                                                               \
	do {                                                                                       \
		__typeof__(NAME) fresh_ = {.sz = sizeof(NAME), __VA_ARGS__};                       \
		memset(&NAME, 0, sizeof(NAME));                                                    \
		NAME = fresh_;                                                                     \
	} while (0)

/* The older name. */
#define DECLARE_LIBBPF_OPTS LIBBPF_OPTS

#endif
