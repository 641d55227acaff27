/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Common definitions of all public headers: the export attribute, the libbpf
 * version that is covered, and options structs.
 *
 * An options struct begins with "size_t sz", the size of the struct that the
 * caller was compiled with. The library uses the fields within sz; fields
 * beyond sz have their default (zero). If bytes within sz that the library does
 * not know are not zero, the call fails with EINVAL. NULL selects all defaults.
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
 * Defines the options struct NAME of type "struct TYPE". All bytes, including
 * padding, are zero, except sz and the given fields:
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

/* Resets NAME to the defaults, except the given fields. */
#define LIBBPF_OPTS_RESET(NAME, ...)                                                               \
	do {                                                                                       \
		__typeof__(NAME) fresh_ = {.sz = sizeof(NAME), __VA_ARGS__};                       \
		memset(&NAME, 0, sizeof(NAME));                                                    \
		NAME = fresh_;                                                                     \
	} while (0)

/* The old name. */
#define DECLARE_LIBBPF_OPTS LIBBPF_OPTS

#endif
