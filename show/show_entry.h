/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A map's entries as text, the look of bpftool's dumps: JSON by BTF, or the
 * bytes in hexadecimal where there is no type.
 *
 *	[{                                  [{"key":3237,"value":true}]
 *	        "key": 3237,
 *	        "value": true
 *	    }
 *	]
 *
 *	key: a5 0c 00 00  value: 01         [{"key":["0xa5",…],"value":["0x01"]}]
 *	Found 1 element
 *
 * A value of a per-CPU map is "values": [{"cpu": 0, "value": …}, …].
 */
#ifndef PB_SHOW_ENTRY_H
#define PB_SHOW_ENTRY_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/base/strbuf.h"
#include "show/value_text.h"

struct entry_layout {
	const struct btf *btf;	       /* NULL: no types are known */
	uint32_t key_type, value_type; /* 0: not known */
	uint32_t key_size, value_size; /* bytes */
	bool index;		       /* a key without a type is a number: an array's */
	unsigned cpus;		       /* parts of a value; 0: it is not per CPU */
	size_t stride;		       /* from one part to the next */
};

struct entry_format;

enum entry_place {
	ENTRY_IN_DUMP, /* entry_dump_*() */
	ENTRY_ALONE,   /* entry_show() */
};

/*
 * A type that does not fit its size is taken for none; *note, the caller's,
 * then says so, else it is NULL. The BTF is needed no more afterwards.
 */
struct error *entry_format_new(const struct entry_layout *layout, enum value_style style,
			       enum entry_place place, struct entry_format **format, char **note);
void entry_format_free(struct entry_format *format);
DEFINE_FREEP(struct entry_format, entry_format_free)

/* A whole dump: begin, each entry, end. */
void entry_dump_begin(struct entry_format *format, struct strbuf *out);
void entry_dump_add(struct entry_format *format, const void *key, const void *value,
		    struct strbuf *out);
void entry_dump_end(struct entry_format *format, struct strbuf *out);

/* One entry by itself, as a lookup shows it. */
void entry_show(struct entry_format *format, const void *key, const void *value,
		struct strbuf *out);

#endif
