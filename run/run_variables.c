// SPDX-License-Identifier: BSD-2-Clause
#include "run/run_variables.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "work/bpf_file.h"

struct error *variable_set(struct bpf_object *obj, const char *text, bool *found)
{
	const char *value = strchr(text, '=');
	_cleanup_free_ char *name = value ? strndup(text, value - text) : NULL;

	if (!value || value == text)
		return error_hint(error_new(EINVAL, "--set %s: expected NAME=VALUE", text),
				  "for example --set min_us=50");
	if (!name)
		return error_nomem();
	return error_prefix(object_set_variable(obj, name, value + 1, found), "--set %s", name);
}

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
	struct error *err = object_find_map(obj, name, &map);
	if (found)
		*found = !err;
	if (!err) {
		int code = bpf_map__set_max_entries(map, (uint32_t)n);

		return code ? error_errno(-code, "--map-entries %s", text) : NULL;
	}
	if (found && err->code == ENOENT) {
		error_free(err);
		return NULL;
	}
	return error_prefix(err, "--map-entries");
}
