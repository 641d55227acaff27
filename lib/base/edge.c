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
#include <string.h>

#include "lib/base/failure.h"

static libbpf_print_fn_t print_fn;

/*
 * The last failure is kept without a heap of its own: a thread that ends leaves nothing behind.
 * Strings that do not fit are cut.
 */
#define STRING_MAX 1000

static __thread struct {
	char text[4096];
	char hint[512];
	struct perf_bpf_failure failure;
	char strings[8192];
	size_t used;
	char where[512];
} last;

static const char *keep(const char *s)
{
	const size_t room = sizeof(last.strings) - last.used;
	size_t n = s ? strnlen(s, STRING_MAX) : 0;

	if (!s || room < 2)
		return NULL;
	n = min_of(n, room - 1);
	char *kept = last.strings + last.used;
	memcpy(kept, s, n);
	kept[n] = 0;
	last.used += n + 1;
	return kept;
}

static void keep_failure(const struct error *err)
{
	static const struct failure unknown = {.kind = "other", .insn = -1};
	const struct failure *f = err->failure ? err->failure : &unknown;

	last.used = 0;
	snprintf(last.where, sizeof(last.where), "%s", err->where ? err->where : "");
	last.failure = (struct perf_bpf_failure){
		.sz = sizeof(last.failure),
		.code = err->code,
		.kind = f->kind,
		.message = keep(err->msg),
		.hint = keep(err->hint),
		.object = keep(f->object),
		.program = keep(f->program),
		.section = keep(f->section),
		.function = keep(f->function),
		.file = keep(f->file),
		.source = keep(f->source),
		.line = f->line,
		.insn = f->insn,
		.insn_text = keep(f->insn_text),
		.reg = keep(f->reg),
		.state = keep(f->state),
		.expected = keep(f->expected),
		.since_file = keep(f->since_file),
		.since_source = keep(f->since_source),
		.since_line = f->since_line,
		.detail = keep(f->detail),
		.kernel = keep(f->kernel),
	};
}

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
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	error_text(err, &text);
	snprintf(last.text, sizeof(last.text), "%s",
		 strbuf_failed(&text) ? err->msg : strbuf_str(&text));
	keep_failure(err);
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

int perf_bpf_last_failure(struct perf_bpf_failure *failure)
{
	const size_t least = offsetof(struct perf_bpf_failure, kernel) + sizeof(failure->kernel);

	if (!failure || failure->sz < least)
		return edge_errno(EINVAL);
	if (!last.failure.sz)
		return edge_errno(ENOENT);
	const size_t sz = failure->sz;
	memset(failure, 0, sz);
	memcpy(failure, &last.failure, min_of(sz, sizeof(last.failure)));
	failure->sz = sz;
	return 0;
}

char *perf_bpf_last_failure_json(void)
{
	const struct perf_bpf_failure *kept = &last.failure;

	if (!kept->sz)
		return edge_null_errno(ENOENT);
	/* Borrowed for the call; nothing of them is changed or freed. */
	struct failure f = {
		.kind = kept->kind,
		.object = (char *)kept->object,
		.program = (char *)kept->program,
		.section = (char *)kept->section,
		.function = (char *)kept->function,
		.file = (char *)kept->file,
		.source = (char *)kept->source,
		.line = kept->line,
		.insn = kept->insn,
		.insn_text = (char *)kept->insn_text,
		.reg = (char *)kept->reg,
		.state = (char *)kept->state,
		.expected = (char *)kept->expected,
		.since_file = (char *)kept->since_file,
		.since_source = (char *)kept->since_source,
		.since_line = kept->since_line,
		.detail = (char *)kept->detail,
		.kernel = (char *)kept->kernel,
	};
	const struct error err = {
		.code = kept->code,
		.msg = (char *)(kept->message ? kept->message : ""),
		.where = last.where[0] ? last.where : NULL,
		.hint = (char *)kept->hint,
		.failure = &f,
	};
	struct strbuf sb = STRBUF_INIT;

	error_json(&err, &sb);
	char *json = strbuf_steal(&sb);
	return json ? json : edge_null_errno(ENOMEM);
}

struct error *opts_check(const void *opts, size_t known, const char *type)
{
	size_t sz;

	if (!opts)
		return NULL;
	memcpy(&sz, opts, sizeof(sz));
	if (sz < sizeof(sz))
		return error_new(EINVAL, "struct %s: sz is %zu, smaller than the member sz itself",
				 type, sz);
	for (size_t i = known; i < sz; i++) {
		if (!((const uint8_t *)opts)[i])
			continue;
		return error_hint(error_new(EINVAL,
					    "struct %s: byte %zu is not zero, but this version of "
					    "the library does not know it",
					    type, i),
				  "the program was compiled for a newer library, or did not clear "
				  "the struct; LIBBPF_OPTS() clears it");
	}
	return NULL;
}
