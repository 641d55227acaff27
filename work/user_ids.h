/* SPDX-License-Identifier: BSD-2-Clause */
/* Users as options name them: "root,1000". */
#ifndef PB_WORK_USER_IDS_H
#define PB_WORK_USER_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/vec.h"

struct user_ids {
	uint32_t *v;
	size_t n, cap;
};

/* A name or a uid. ENOENT: there is no such user. */
struct error *user_id_parse(const char *word, uint32_t *uid);
/* Adds those of a comma-separated list. */
struct error *user_ids_parse(const char *list, struct user_ids *ids);

#endif
