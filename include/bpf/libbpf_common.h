/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the library's headers share: visibility, and the options structs that
 * may grow. Such a struct begins with size_t sz, the size the caller was
 * compiled with. The library reads what both sides know; bytes past what it
 * knows must be zero, else the call fails with EINVAL.
 */
#ifndef PERFBPF_LIBBPF_COMMON_H
#define PERFBPF_LIBBPF_COMMON_H

#include <string.h>

#ifndef LIBBPF_API
#define LIBBPF_API __attribute__((visibility("default")))
#endif

#define LIBBPF_DEPRECATED(msg) __attribute__((deprecated(msg)))

/*
 * Declares NAME, an options struct of the given type, with sz set and all that
 * is not named zero: LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "x");
 */
#define LIBBPF_OPTS(TYPE, NAME, ...)	     struct TYPE NAME = {.sz = sizeof(struct TYPE), __VA_ARGS__}
#define DECLARE_LIBBPF_OPTS(TYPE, NAME, ...) LIBBPF_OPTS(TYPE, NAME, __VA_ARGS__)

/* Sets a declared options struct anew. */
#define LIBBPF_OPTS_RESET(NAME, ...)                                                               \
	do {                                                                                       \
		memset(&(NAME), 0, sizeof(NAME));                                                  \
		(NAME) = (__typeof__(NAME)){.sz = sizeof(NAME), __VA_ARGS__};                      \
	} while (0)

#endif
