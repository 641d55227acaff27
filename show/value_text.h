/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A value of a BTF type as JSON. The type is compiled once into a plan, a flat
 * list of steps, which then runs for each of a million values.
 *
 *	{"pid":3237,"comm":"dd","state":"RUNNING","flags":[1,2],"next":"0xffff88800b0a"}
 *
 *	integers        decimal; of 16 bytes "0x…"
 *	_Bool           true, false
 *	char arrays     a string up to the NUL; other arrays [ … ]
 *	enums           the name, or the number where there is none; of enums of
 *			flags "A|B|0x40" (value_enum_is_flags())
 *	pointers        "0x…"
 *	floats          the shortest text that reads back as the same value;
 *			"nan", "inf", "-inf" as strings
 *	structs, unions an object of all members; those of a nameless member
 *			stand in its parent, as C has it
 *	data sections   an object of their variables
 */
#ifndef PB_SHOW_VALUE_H
#define PB_SHOW_VALUE_H

#include <bpf/btf.h>
#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/base/strbuf.h"

struct value_plan;

enum value_style {
	VALUE_COMPACT, /* {"a":1,"b":[1,2]} */
	VALUE_PRETTY,  /* a member per line, four blanks deeper than its parent */
};

/*
 * The plan for a type of btf, which is needed no more afterwards; depth: how
 * deep the place is that the value stands at, in pretty style.
 * EINVAL: no value can be of the type, or a member lies outside of it; E2BIG:
 * more than 10,000 members in all.
 */
struct error *value_plan_new(const struct btf *btf, uint32_t type, enum value_style style,
			     unsigned depth, struct value_plan **plan);
void value_plan_free(struct value_plan *plan);
DEFINE_FREEP(struct value_plan, value_plan_free)

/* Bytes of the type. */
size_t value_plan_size(const struct value_plan *plan);

/* Adds the value at data, of value_plan_size() bytes, in the host's byte order. */
void value_plan_json(const struct value_plan *plan, const void *data, struct strbuf *out);

#endif
