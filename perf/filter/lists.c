// SPDX-License-Identifier: BSD-2-Clause
/* Lists of CPUs, ids and names. What cannot be meant is refused, never read as 0 or as "all". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perf/filter/internal.h"

/* The text up to the next comma. */
struct element {
	const char *str;
	size_t len;
};

/* The next element of a list; false: there are no more. *p is NULL past the last one. */
static bool next_element(const char **p, struct element *e)
{
	if (!*p)
		return false;
	e->str = *p;
	e->len = strcspn(*p, ",");
	*p = e->str[e->len] ? e->str + e->len + 1 : NULL;
	return true;
}

static struct error *check_empty(const char *option, const char *text, const struct element *e)
{
	if (!*text)
		return error_usage("%s: the list is empty", option);
	if (!e->len)
		return error_usage("%s: '%s' has an empty element", option, text);
	return NULL;
}

/* Digits alone, below limit; *p moves past them. */
static bool read_number(const char **p, const char *end, uint64_t limit, uint64_t *number)
{
	const char *s = *p;
	uint64_t v = 0;

	for (; s < end && *s >= '0' && *s <= '9'; s++) {
		v = v * 10 + (uint64_t)(*s - '0');
		if (v >= limit)
			return false;
	}
	if (s == *p)
		return false;
	*p = s;
	*number = v;
	return true;
}

static struct error *add_cpus(const char *option, const struct element *e, uint64_t *bits)
{
	const char *p = e->str, *end = p + e->len;
	uint64_t from = 0, to = 0;
	bool good = read_number(&p, end, FILTER_CPUS_MAX, &from);

	to = from;
	if (good && p < end && *p == '-') {
		p++;
		good = read_number(&p, end, FILTER_CPUS_MAX, &to);
	}
	if (!good || p != end)
		return error_hint(error_usage("%s: '%.*s' is not a CPU or a range of CPUs", option,
					      (int)e->len, e->str),
				  "write numbers below %d: 0,2-3", FILTER_CPUS_MAX);
	if (to < from)
		return error_hint(error_usage("%s: '%.*s' ends before it starts", option,
					      (int)e->len, e->str),
				  "write %.*s as %llu-%llu", (int)e->len, e->str,
				  (unsigned long long)to, (unsigned long long)from);
	for (; from <= to; from++)
		bits[from / 64] |= 1ull << from % 64;
	return NULL;
}

struct error *cpus_parse(const char *option, const char *text, uint64_t **bits)
{
	_cleanup_free_ uint64_t *new = calloc(FILTER_CPUS_MAX / 64, sizeof(*new));
	const char *p = text;
	struct element e;

	if (!new)
		return error_nomem();
	while (next_element(&p, &e)) {
		TRY(check_empty(option, text, &e));
		TRY(add_cpus(option, &e, new));
	}
	*bits = steal_ptr(new);
	return NULL;
}

static int compare_numbers(const void *a, const void *b)
{
	const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

struct error *numbers_parse(const char *option, const char *text, struct filter_numbers *out)
{
	const char *p = text;
	struct element e;

	while (next_element(&p, &e)) {
		const char *digits = e.str;
		uint64_t number;

		TRY(check_empty(option, text, &e));
		if (!read_number(&digits, e.str + e.len, (uint64_t)INT32_MAX + 1, &number) ||
		    digits != e.str + e.len)
			return error_hint(error_usage("%s: '%.*s' is not a number", option,
						      (int)e.len, e.str),
					  "write ids with commas between: 17,1234");
		int32_t *slot = vec_push(out);
		if (!slot)
			return error_nomem();
		*slot = (int32_t)number;
	}
	qsort(out->v, out->n, sizeof(*out->v), compare_numbers);
	return NULL;
}

bool numbers_have(const struct filter_numbers *numbers, int32_t number)
{
	return bsearch(&number, numbers->v, numbers->n, sizeof(*numbers->v), compare_numbers);
}

struct error *names_parse(const char *option, const char *text, struct names *out)
{
	const char *p = text;
	struct element e;

	while (next_element(&p, &e)) {
		TRY(check_empty(option, text, &e));
		if (!names_add_n(out, e.str, e.len))
			return error_nomem();
	}
	return NULL;
}

bool names_have(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(names->v[i], name))
			return true;
	return false;
}
