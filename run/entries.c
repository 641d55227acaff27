// SPDX-License-Identifier: BSD-2-Clause
#include "run/entries.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/names.h"

struct error *entries_set(struct bpf_object *obj, const char *text, bool *found)
{
	const char *equals = strchr(text, '=');
	_cleanup_free_ char *name = NULL;
	struct bpf_map *map;
	char *end = NULL;

	errno = 0;
	unsigned long long n =
		equals && isdigit((unsigned char)equals[1]) ? strtoull(equals + 1, &end, 0) : 0;
	if (!n || errno || *end || n > UINT32_MAX)
		return error_hint(
			error_new(EINVAL,
				  "--map-entries %s: expected MAP=N, with N from 1 to 4294967295",
				  text),
			"--map-entries opens=65536");
	name = strndup(text, equals - text);
	if (!name)
		return error_nomem();
	map = bpf_object__find_map_by_name(obj, name);
	if (found)
		*found = map != NULL;
	if (map) {
		int err = bpf_map__set_max_entries(map, (uint32_t)n);

		return err ? error_errno(-err, "--map-entries %s", text) : NULL;
	}
	if (found)
		return NULL;
	struct nearest near = nearest_make(name);
	bpf_object__for_each_map (map, obj)
		nearest_offer(&near, bpf_map__name(map));
	struct error *err = error_new(ENOENT, "--map-entries: unknown map '%s'", name);
	return error_suggest(err, &near);
}
