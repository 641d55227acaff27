/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a struct or union of a BTF lies in memory: where each member is, how
 * large it is, what is lost between and behind them, and where cache lines
 * begin; written as pahole does.
 *
 *	char                       state;                0     1
 *
 *	XXX 3 bytes hole, try to pack
 *
 *	int                        pid;                  4     4
 *	unsigned int               dead:1;               8: 0  4
 *
 * A bitfield has the offset and size of the unit that its type makes (an int:
 * the four bytes at a multiple of four) and the bit in it. A hole is counted in
 * bits as far as the unit of the bitfield before it reaches, then in bytes.
 * Members of nested structs without a name have offsets from the outermost.
 */
#ifndef PB_SHOW_STRUCT_LAYOUT_H
#define PB_SHOW_STRUCT_LAYOUT_H

#include <bpf/btf.h>
#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/base/strbuf.h"

struct struct_layout;

/*
 * The layout of a struct or union of btf, which is needed no more afterwards.
 * EINVAL: it is neither, or its members do not fit together; E2BIG: it nests
 * more than 32 deep or has more than 100,000 members in all.
 */
struct error *struct_layout_new(const struct btf *btf, uint32_t type,
				struct struct_layout **layout);
void struct_layout_free(struct struct_layout *layout);
DEFINE_FREEP(struct struct_layout, struct_layout_free)

/* cache_line: its bytes, at least 1. */
void struct_layout_text(const struct struct_layout *layout, unsigned cache_line,
			struct strbuf *out);
void struct_layout_json(const struct struct_layout *layout, unsigned cache_line,
			struct strbuf *out);

#endif
