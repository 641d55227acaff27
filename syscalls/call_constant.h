/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of names: flags, commands, signals and errors. */
#ifndef PB_SYSCALLS_CALL_CONSTANT_H
#define PB_SYSCALLS_CALL_CONSTANT_H

#include <stdbool.h>
#include <stdint.h>

struct arg_kind;

/*
 * "O_CREAT", "SIGKILL", "ENOENT". prefer: the argument that it is compared with, whose names are
 * tried first; NULL: not known. Negative numbers have all 64 bits.
 */
bool call_constant_find(const char *name, const struct arg_kind *prefer, uint64_t *v);

#endif
