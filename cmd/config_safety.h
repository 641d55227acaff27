/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a configuration file, which names programs that we run, is the user's or root's: sshd
 * asks the same of its files (StrictModes).
 */
#ifndef PB_CMD_CONFIG_SAFETY_H
#define PB_CMD_CONFIG_SAFETY_H

#include <stdbool.h>

#include "lib/base/log.h"

/*
 * The directories in which path is, up to home, or to the root directory if it is not below home;
 * where links lead to another directory, that one and those above it, too. They belong to root or
 * to the user, and nobody else can write to them. If not, a warning says why the file is ignored.
 */
bool config_dirs_are_safe(const char *path, const char *home, const struct log *log);
/* The same of the open file itself. */
bool config_file_is_safe(const char *path, int fd, const struct log *log);

#endif
