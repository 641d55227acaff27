/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Column names that differ. A map's key and value may have fields of one name,
 * and a column "pid" whose numbers have texts is printed with a second one,
 * "pid_text"; but a JSON object or a CSV header must not have a name twice.
 */
#ifndef PB_SHOW_COLUMNS_H
#define PB_SHOW_COLUMNS_H

#include "lib/base/names.h"
#include "show/result.h"

/*
 * Adds the column's name to taken, and NAME_text if its numbers have texts; in
 * place of a name that is taken "key.NAME" or "value.NAME", else that with
 * "_2", "_3" and so on. Returns the name, which taken owns; NULL: no memory.
 */
const char *column_take_name(struct names *taken, const struct result_column *column);

/* Makes the names of n columns differ; new ones are in arena. */
struct error *columns_distinguish(struct arena *arena, struct result_column *columns, size_t n);

#endif
