// SPDX-License-Identifier: BSD-2-Clause
/* How large a ring users ask for. The ring itself is lib/ring's. */
#include "perf/ring/ring.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct error *ring_pages_parse(const char *text, size_t page_size, size_t *pages)
{
	static const char units[] = "BKMG";
	char *end;

	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	bool ok = !errno && end != text && text[0] != '-' && n;
	if (ok && *end) {
		const char *unit = strchr(units, *end);

		ok = unit && (!end[1] || (!strcmp(end + 1, "B") && *end != 'B'));
		if (ok && n <= UINT64_MAX >> 40) {
			n <<= 10 * (unit - units);
			n = (n + page_size - 1) / page_size;
		}
	}
	if (!ok)
		return error_hint(error_new(EINVAL, "'%s' is no ring size", text),
				  "a number of pages, or a size as 512K, 4M");
	size_t rounded = 1;
	while (rounded < n && rounded < (size_t)1 << 31)
		rounded <<= 1;
	if (rounded < n || rounded > SIZE_MAX / 2 / page_size || rounded >= (size_t)1 << 31)
		return error_new(EINVAL, "a ring of '%s' is too large", text);
	*pages = rounded;
	return NULL;
}
