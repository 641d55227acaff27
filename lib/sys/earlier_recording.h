/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording that is where a new one will be: it stays as PATH.old. The one before it, of that
 * name, is removed. Both may be files or the directories of record --threads.
 */
#ifndef PB_SYS_EARLIER_RECORDING_H
#define PB_SYS_EARLIER_RECORDING_H

#include "lib/base/error.h"
#include "lib/sys/open_file.h"

/*
 * Nothing is then at the place that was found (output_find_dir()), but for an empty file or what is
 * special. Errors: as renameat(2); ENOTEMPTY: a directory there, or the one to be removed, has
 * other files than those of a recording, and stays as it is.
 */
struct error *earlier_recording_keep(struct output_path *out);

/*
 * Removes a directory that was made at that place, in which nothing could be recorded: the next
 * recording would rename it, and remove PATH.old. It stays if it has other files.
 */
void recording_dir_remove(const struct output_path *out);

#endif
