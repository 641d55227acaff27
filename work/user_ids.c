// SPDX-License-Identifier: BSD-2-Clause
#include "work/user_ids.h"

#include <ctype.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

struct error *user_id_parse(const char *word, uint32_t *uid)
{
	const bool is_number = isdigit((unsigned char)*word);
	const struct passwd *pw = is_number ? NULL : getpwnam(word);
	char *end;

	if (pw) {
		*uid = pw->pw_uid;
		return NULL;
	}
	if (!is_number)
		return error_new(ENOENT, "-u: unknown user '%s'", word);
	errno = 0;
	const unsigned long long v = strtoull(word, &end, 10);
	if (*end || errno || v > UINT32_MAX)
		return error_new(EINVAL, "-u: '%s' is not a number", word);
	*uid = (uint32_t)v;
	return NULL;
}

struct error *user_ids_parse(const char *list, struct user_ids *ids)
{
	_cleanup_free_ char *copy = strdup(list);
	char *at = copy, *word;

	if (!copy)
		return error_nomem();
	while ((word = strsep(&at, ","))) {
		uint32_t uid;

		TRY(user_id_parse(word, &uid));
		uint32_t *slot = vec_push(ids);
		if (!slot)
			return error_nomem();
		*slot = uid;
	}
	return NULL;
}
