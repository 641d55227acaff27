// SPDX-License-Identifier: BSD-2-Clause
#include "trace/event_exprs.h"

#include <stdlib.h>
#include <string.h>

static bool is_object(const char *item, size_t n)
{
	return n > 2 && item[n - 2] == '.' && (item[n - 1] == 'c' || item[n - 1] == 'o');
}

/* Where terms begin, behind their '/'; NULL: the item has none. */
static const char *find_terms(const char *item, size_t n)
{
	const char *slash = item;

	while ((slash = memchr(slash, '/', n - (size_t)(slash - item)))) {
		slash++;
		if (is_object(item, (size_t)(slash - item) - 1))
			return slash;
	}
	/* of an event of a PMU; a regular expression begins with '/' */
	slash = *item == '/' || is_object(item, n) ? NULL : memchr(item, '/', n);
	return slash ? slash + 1 : NULL;
}

/* The bytes of the first item. */
static size_t item_length(const char *list)
{
	size_t n = strcspn(list, ",");

	if (!strncmp(list, "probe:", 6))
		return strlen(list);
	if (*list == '{') {
		const char *close = strchr(list, '}');

		return close ? (size_t)(close - list) + strcspn(close, ",") : strlen(list);
	}
	const char *terms = find_terms(list, n);
	if (terms) {
		const char *end = strchr(terms, '/');

		n = end ? (size_t)(end - list) + strcspn(end, ",") : strlen(list);
	}
	return n;
}

static bool is_event(const char *item, size_t n)
{
	return *item == '{' || is_object(item, n) || find_terms(item, n) || memchr(item, ':', n) ||
	       (memchr(item, '-', n) && *item != '/');
}

struct error *event_exprs_split(const char *list, struct names *calls, struct names *events)
{
	if (*list == '!' || *list == '-')
		return names_add(calls, list) ? NULL : error_nomem();
	for (;;) {
		const size_t n = item_length(list);

		if (!names_add_n(is_event(list, n) ? events : calls, list, n))
			return error_nomem();
		if (!list[n])
			return NULL;
		list += n + 1;
	}
}
