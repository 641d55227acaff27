// SPDX-License-Identifier: BSD-2-Clause
/*
 * The print callback is swapped atomically and the last error belongs to its
 * thread, so that threads with objects of their own need no lock. Without a
 * callback nothing is printed: the library never writes to stderr by itself.
 */
#include "lib/base/edge.h"

#include <bpf/libbpf.h>
#include <bpf/perf_bpf.h>
#include <stdint.h>
#include <stdio.h>

static libbpf_print_fn_t print_fn;

static __thread struct {
	char text[4096];
	char hint[512];
} last;

libbpf_print_fn_t libbpf_set_print(libbpf_print_fn_t fn)
{
	return __atomic_exchange_n(&print_fn, fn, __ATOMIC_ACQ_REL);
}

static void _printf_(2, 3) print(enum libbpf_print_level level, const char *fmt, ...)
{
	libbpf_print_fn_t fn = __atomic_load_n(&print_fn, __ATOMIC_ACQUIRE);
	va_list ap;

	if (!fn)
		return;
	va_start(ap, fmt);
	fn(level, fmt, ap);
	va_end(ap);
}

static void log_print(void *ctx, enum log_level level, const char *fmt, va_list ap)
{
	static const enum libbpf_print_level levels[] = {
		[LOG_WARN] = LIBBPF_WARN,
		[LOG_INFO] = LIBBPF_INFO,
		[LOG_DEBUG] = LIBBPF_DEBUG,
	};
	char *text = NULL;

	/* libbpf's lines end with a newline, ours do not. */
	if (__atomic_load_n(&print_fn, __ATOMIC_ACQUIRE) && vasprintf(&text, fmt, ap) >= 0) {
		print(levels[level], "libperfbpf: %s\n", text);
		free(text);
	}
}

const struct log *edge_log(void)
{
	static const struct log log = {.level = LOG_DEBUG, .write = log_print};

	return &log;
}

int edge_int(struct error *err)
{
	if (!err)
		return 0;

	int code = err->code;
	snprintf(last.text, sizeof(last.text), "%s%s%s", err->where ? err->where : "",
		 err->where ? ": " : "", err->msg);
	snprintf(last.hint, sizeof(last.hint), "%s", err->hint ? err->hint : "");
	print(LIBBPF_WARN, "libperfbpf: %s\n", last.text);
	if (last.hint[0])
		print(LIBBPF_WARN, "libperfbpf: hint: %s\n", last.hint);
	error_free(err);
	errno = code;
	return -code;
}

void *edge_null(struct error *err)
{
	edge_int(err);
	return NULL;
}

int edge_errno(int code)
{
	errno = code;
	return -code;
}

void *edge_null_errno(int code)
{
	errno = code;
	return NULL;
}

const char *perf_bpf_last_error(void)
{
	return last.text;
}

const char *perf_bpf_last_hint(void)
{
	return last.hint[0] ? last.hint : NULL;
}

struct error *opts_check(const void *opts, size_t known, const char *type)
{
	size_t sz;

	if (!opts)
		return NULL;
	memcpy(&sz, opts, sizeof(sz));
	if (sz < sizeof(sz))
		return error_new(EINVAL, "struct %s: sz is %zu, too small to hold itself", type,
				 sz);
	for (size_t i = known; i < sz; i++) {
		if (!((const uint8_t *)opts)[i])
			continue;
		return error_hint(
			error_new(EINVAL, "struct %s: byte %zu is set and means nothing here", type,
				  i),
			"the program was compiled for a newer library; clear the struct first, as "
			"LIBBPF_OPTS() does");
	}
	return NULL;
}
