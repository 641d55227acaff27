/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A value as the user writes it, turned into bytes by its BTF type:
 *
 *	3237  -1  0x1f  'c'          integers, of up to 128 bits
 *	true  false                  _Bool
 *	RUNNING                      an enum's name
 *	READ|WRITE|0x40              names of flags
 *	lo                           char arrays
 *	{"pid": 3237, "comm": "dd"}  structs: what is not named is 0
 *	[1, 2, 3]                    arrays: what is not given is 0
 *
 * Within JSON, numbers and addresses may be strings.
 */
#ifndef PB_INSPECT_VALUE_INPUT_H
#define PB_INSPECT_VALUE_INPUT_H

#include <bpf/btf.h>
#include <stddef.h>

#include "lib/base/error.h"

/*
 * data, of size bytes, gets the value. EINVAL: the text is no value of the
 * type (the message says where); ERANGE: a number does not fit; ENOENT: no
 * such member or enum name, with near names. On failure data is half written.
 */
struct error *value_input(const struct btf *btf, uint32_t type, const char *text, void *data,
			  size_t size);

/* A number for a value without a type, of 1, 2, 4 or 8 bytes. EINVAL, ERANGE. */
struct error *value_input_number(const char *text, void *data, size_t size);

#endif
