/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The types of a BTF as they are stored, one by one, in the words of
 * "bpftool btf dump":
 *
 *	[4] STRUCT 'in' size=8 vlen=2
 *		'x' type_id=5 bits_offset=0
 *		'c' type_id=6 bits_offset=32
 */
#ifndef PB_SHOW_BTF_TYPES_H
#define PB_SHOW_BTF_TYPES_H

#include <bpf/btf.h>

#include "lib/base/json_writer.h"

/* Adds a type of btf: an object to json, or without it some lines of text to out. */
void btf_type_show(const struct btf *btf, uint32_t id, struct json_writer *json,
		   struct strbuf *out);

#endif
