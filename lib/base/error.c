// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/error.h"

#include <ctype.h>
#include <string.h>

#include "lib/base/failure.h"
#include "lib/base/strbuf.h"
#include "lib/base/util.h"

static struct error nomem = {.code = ENOMEM, .msg = "out of memory"};

struct error *error_nomem(void)
{
	return &nomem;
}

struct error *error_vnew(int code, const char *fmt, va_list ap)
{
	struct error *err = calloc(1, sizeof(*err));

	if (!err)
		return &nomem;
	err->code = code > 0 ? code : EINVAL;
	if (vasprintf(&err->msg, fmt, ap) < 0) {
		free(err);
		return &nomem;
	}
	return err;
}

struct error *error_new(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	struct error *err = error_vnew(code, fmt, ap);
	va_end(ap);
	return err;
}

struct error *error_mark_usage(struct error *err)
{
	if (err && err != &nomem)
		err->usage = true;
	return err;
}

struct error *error_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	struct error *err = error_vnew(EINVAL, fmt, ap);
	va_end(ap);
	return error_mark_usage(err);
}

struct error *error_in_text(int code, const char *title, const char *text, size_t at,
			    const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf what = STRBUF_INIT, shown = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&what, fmt, ap);
	va_end(ap);
	for (const char *s = text; *s; s++)
		strbuf_addch(&shown, iscntrl((unsigned char)*s) ? ' ' : *s);
	if (strbuf_failed(&what) || strbuf_failed(&shown))
		return &nomem;
	at = min_of(at, shown.len);
	return error_new(code, "%s, column %zu:\n  '%s'\n   %*s\\___ %s", title, at + 1,
			 strbuf_str(&shown), (int)at, "", strbuf_str(&what));
}

/* Puts "front: " before *text; on lack of memory the text stays as it was. */
static void put_before(char **text, const char *front)
{
	char *joined = NULL;

	if (!*text)
		joined = strdup(front);
	else if (asprintf(&joined, "%s: %s", front, *text) < 0)
		joined = NULL;
	if (!joined)
		return;
	free(*text);
	*text = joined;
}

struct error *error_errno(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	struct error *err = error_vnew(code, fmt, ap);
	va_end(ap);
	if (err == &nomem)
		return err;

	char *joined = NULL;
	if (asprintf(&joined, "%s: %s", err->msg, strerror(err->code)) >= 0) {
		free(err->msg);
		err->msg = joined;
	}
	return err;
}

/* Formats into *text; NULL when there is nothing to change or no memory. */
static char *format_for(struct error *err, const char *fmt, va_list ap)
{
	char *text = NULL;

	if (!err || err == &nomem || vasprintf(&text, fmt, ap) < 0)
		return NULL;
	return text;
}

struct error *error_at(struct error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *front = format_for(err, fmt, ap);
	va_end(ap);
	if (front)
		put_before(&err->where, front);
	return err;
}

struct error *error_prefix(struct error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *front = format_for(err, fmt, ap);
	va_end(ap);
	if (front)
		put_before(&err->msg, front);
	return err;
}

struct error *error_hint(struct error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *hint = format_for(err, fmt, ap);
	va_end(ap);
	if (hint && !err->hint)
		err->hint = steal_ptr(hint);
	return err;
}

struct error *error_either(struct error *first, struct error *second)
{
	if (!first)
		return second;
	error_free(second);
	return first;
}

int error_to_errno(const struct error *err)
{
	return err ? -err->code : 0;
}

void error_free(struct error *err)
{
	if (!err || err == &nomem)
		return;
	free(err->msg);
	free(err->where);
	free(err->hint);
	failure_free(err->failure);
	free(err);
}
