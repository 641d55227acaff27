// SPDX-License-Identifier: BSD-2-Clause
#include "delegate/subordinate_uid.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/sys/sys.h"

#define MOST_BYTES (1 << 20)

/* A whole word of digits, at most UINT32_MAX. */
static bool parse_id(const char *word, uint32_t *id)
{
	char *end;

	if (word[0] < '0' || word[0] > '9')
		return false;
	const unsigned long long number = strtoull(word, &end, 10);
	if (*end || number > UINT32_MAX)
		return false;
	*id = (uint32_t)number;
	return true;
}

static bool owner_of_name(const char *name, uid_t *owner)
{
	const struct passwd *user;

	if (parse_id(name, owner))
		return true;
	user = getpwnam(name);
	if (user)
		*owner = user->pw_uid;
	return user != NULL;
}

/* A line, which becomes words. */
static bool range_has(char *line, uid_t uid, uid_t *owner)
{
	const char *name = strsep(&line, ":"), *first = strsep(&line, ":"), *count = line;
	uint32_t from, n;

	return first && count && parse_id(first, &from) && parse_id(count, &n) && uid >= from &&
	       uid - from < n && owner_of_name(name, owner);
}

uid_t subordinate_uid_owner(const char *text, uid_t uid)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy;
	uid_t owner;

	while (rest)
		if (range_has(strsep(&rest, "\n"), uid, &owner))
			return owner;
	return uid;
}

uid_t subordinate_uid_owner_at(const char *path, uid_t uid)
{
	_cleanup_free_ char *text = NULL;
	struct error *err = sys_read_file(path, MOST_BYTES, &text, NULL);

	error_free(err);
	return text ? subordinate_uid_owner(text, uid) : uid;
}
