// SPDX-License-Identifier: BSD-2-Clause
/*
 * Spans of time. Shares of a recording are cut as perf cuts them
 * (tools/perf/util/time-utils.c): of its first sample's time to its last one's,
 * rounded to nanoseconds, and a slice that is not the last one ends one
 * nanosecond before the next one starts.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "perf/filter/internal.h"

#define NS_PER_SEC 1000000000ull

/* The sums that record --off-cpu writes at the end have times above this one, and no other has. */
#define BEFORE_SUMS ((UINT64_MAX << 32) - 1)

static struct error *wrong(const char *option, const char *text)
{
	return error_hint(error_usage("%s: '%s' is not a time span", option, text),
			  "write START,STOP in seconds of the recording's clock, as script prints "
			  "them (1343.307,1343.5), or shares of the recording: 10%%/2 (the second "
			  "tenth), 10%%-20%%");
}

/* "SECONDS[.FRACTION]" of at most nine digits, up to BEFORE_SUMS; *p moves past it. */
static bool read_seconds(const char **p, uint64_t *ns)
{
	const char *s = *p;
	uint64_t sec = 0, part = 0, scale = NS_PER_SEC;
	bool is_beyond = false;

	for (; *s >= '0' && *s <= '9'; s++) {
		sec = sec * 10 + (uint64_t)(*s - '0');
		is_beyond |= sec >= UINT64_MAX / NS_PER_SEC;
		if (is_beyond)
			sec = 0;
	}
	if (s == *p)
		return false;
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9'; s++) {
			scale /= 10;
			if (!scale)
				return false;
			part += (uint64_t)(*s - '0') * scale;
		}
	*ns = is_beyond ? BEFORE_SUMS : sec * NS_PER_SEC + part;
	*p = s;
	return true;
}

/* "a, b" is one span, as perf reads it; in "a, b,c" the second one is b,c. */
static void read_end_behind_space(const char **p, struct time_span *span)
{
	const char *at = *p + strspn(*p, " ");
	uint64_t end;

	if (!read_seconds(&at, &end) || *at == ',')
		return;
	span->end = end;
	span->has_end = true;
	*p = at;
}

/* "a,b", ",b" or "a,"; *p moves past it. */
static bool read_span(const char **p, struct time_span *span)
{
	if (**p != ',') {
		if (!read_seconds(p, &span->start))
			return false;
		span->has_start = true;
	}
	if (**p != ',')
		return false;
	++*p;
	if (**p && **p != ' ') {
		if (!read_seconds(p, &span->end))
			return false;
		span->has_end = true;
	} else {
		read_end_behind_space(p, span);
	}
	return span->has_start || span->has_end;
}

/* "12.5%", up to 100, as a part of 1; *p moves past it. */
static bool read_percent(const char **p, double *share)
{
	const char *s = *p;
	double v = 0, scale = 1;
	size_t digits = 0;

	for (; *s >= '0' && *s <= '9' && digits < 15; s++, digits++)
		v = v * 10 + (*s - '0');
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9' && digits < 15; s++, digits++) {
			v = v * 10 + (*s - '0');
			scale *= 10;
		}
	if (!digits || *s != '%')
		return false;
	*share = v / scale / 100;
	*p = s + 1;
	return *share <= 1;
}

/* "10%", "10%/2" or "10%-20%"; *p moves past it. */
static bool read_share(const char **p, struct time_span *span)
{
	double share;

	if (!read_percent(p, &share))
		return false;
	span->from = 0;
	span->to = share;
	if (**p == '-') {
		++*p;
		span->from = share;
		return read_percent(p, &span->to);
	}
	if (**p == '/') {
		unsigned n = 0;

		for (++*p; **p >= '0' && **p <= '9' && n < 100000000; ++*p)
			n = n * 10 + (unsigned)(**p - '0');
		span->from = share * (n - 1);
		span->to = share * n;
		return n && span->from <= 1 && span->to <= 1;
	}
	return true;
}

struct error *time_spans_parse(const char *option, const char *text, struct time_spans *out)
{
	const char *p = text;

	out->is_share = strchr(text, '%');
	if (!*text)
		return wrong(option, text);
	while (*p) {
		struct time_span *span = vec_push(out);

		if (!span)
			return error_nomem();
		if (!(out->is_share ? read_share(&p, span) : read_span(&p, span)))
			return wrong(option, text);
		if ((span->has_end && span->end < span->start) || span->to < span->from)
			return error_hint(error_usage("%s: '%s' ends before it starts", option,
						      text),
					  "write the earlier time first");
		if (*p && *p != ' ' && !(*p == ',' && out->is_share && p[1]))
			return wrong(option, text);
		p += *p == ',';
		while (*p == ' ')
			p++;
	}
	return NULL;
}

/* share of total, which is up to 2^64 as a double. */
static uint64_t part_of(double total, double share, uint64_t most)
{
	const double part = round(total * share);

	return part < (double)most ? (uint64_t)part : most;
}

void time_spans_set_bounds(struct time_spans *spans, uint64_t first, uint64_t last)
{
	const uint64_t length = last > first ? last - first : 0;
	const double total = (double)length;

	for (size_t i = 0; spans->is_share && i < spans->n; i++) {
		struct time_span *span = &spans->v[i];

		span->start = first + part_of(total, span->from, length);
		span->end = first + part_of(total, span->to, length);
		if (span->end > span->start && span->end != last)
			span->end--;
		span->has_start = span->has_end = true;
	}
}

bool time_spans_have(const struct time_spans *spans, uint64_t time)
{
	for (size_t i = 0; i < spans->n; i++) {
		const struct time_span *span = &spans->v[i];

		if (time >= span->start && (!span->has_end || time <= span->end))
			return true;
	}
	return false;
}
