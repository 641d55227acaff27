// SPDX-License-Identifier: BSD-2-Clause
/*
 * Structs that come out with the layout that BTF records. BTF has offsets and
 * sizes, but not the attributes that led to them. So the compiler's rules
 * (the System V ABI, which BPF follows) are played through member by member:
 * where a member would stand elsewhere, unnamed bitfields ("long: 24;") fill
 * the gap; where it would not fit, the struct is packed; where a union is
 * larger than its members, it is aligned.
 *
 * A struct that was aligned beyond its members is written with padding only:
 * its own alignment is then smaller than the kernel's, and the padding before
 * it makes up for that.
 */
#include <string.h>

#include "lib/btf/dump_internal.h"

/* A gap of more bytes than this becomes an array: the output stays in proportion. */
#define PAD_MAX 512

static uint32_t log2_of(uint32_t v)
{
	uint32_t n = 0;

	while (n < 15 && (2u << n) <= v)
		n++;
	return n;
}

static uint32_t type_bytes(const struct btf *btf, uint32_t id)
{
	int64_t size = btf__resolve_size(btf, id);

	return size < 0 ? 0 : size;
}

/* Whether a bitfield lies within one unit of its type. */
static bool bitfield_fits(uint32_t off, uint32_t bits, uint32_t unit_bits)
{
	return unit_bits && off % unit_bits + bits <= unit_bits;
}

static struct dump_layout work_out_layout(struct btf_dump *d, const struct btf_type *t, int depth)
{
	uint32_t max_align = 1, max_bytes = 0;
	bool packed = false;

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		uint32_t type = btf_members(t)[i].type, off = btf_member_bit_offset(t, i);
		uint32_t bits = btf_member_bitfield_size(t, i), bytes = type_bytes(d->btf, type);
		uint32_t align = dump_align(d, type, depth + 1);

		max_align = max_of(max_align, align);
		max_bytes = max_of(max_bytes, bits ? (bits + 7) / 8 : bytes);
		packed |= bits ? !bitfield_fits(off, bits, bytes * 8) : off % (8 * align) != 0;
	}
	packed |= t->size % max_align != 0;

	struct dump_layout l = {.known = 1, .packed = packed};
	uint32_t align = packed ? 1 : max_align;
	if (btf_is_union(t) && round_up(max_bytes, align) != t->size) {
		uint32_t by = align;

		while (by < 4096 && round_up(max_bytes, by) != t->size)
			by *= 2;
		if (round_up(max_bytes, by) == t->size) {
			l.aligned = 1;
			align = by;
		}
	}
	l.align_log2 = log2_of(align);
	return l;
}

struct dump_layout dump_layout(struct btf_dump *d, uint32_t id, int depth)
{
	/* in a cycle by value, which the walk that orders types refuses */
	if (d->layouts[id].asking || depth > DUMP_MAX_DEPTH)
		return (struct dump_layout){.known = 1};
	if (!d->layouts[id].known) {
		d->layouts[id].asking = 1;
		d->layouts[id] = work_out_layout(d, btf_type_at(d->btf, id), depth);
	}
	return d->layouts[id];
}

uint32_t dump_align(struct btf_dump *d, uint32_t id, int depth)
{
	const struct btf_type *t = btf_type_at(d->btf, id);

	for (int i = 0; i < BTF_MAX_CHAIN; i++) {
		switch (btf_kind(t)) {
		case BTF_KIND_PTR:
			return btf_ptr_bytes(d->btf);
		case BTF_KIND_INT:
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64:
		case BTF_KIND_FLOAT:
			/* BPF and x86-64 align a 16-byte integer to 16 */
			return t->size && !(t->size & (t->size - 1)) ? t->size : 4;
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
			return 1u << dump_layout(d, id, depth + 1).align_log2;
		case BTF_KIND_ARRAY:
			id = btf_array(t)->type;
			break;
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
			id = t->type;
			break;
		default:
			return 1;
		}
		t = btf_type_at(d->btf, id);
	}
	return 1;
}

/* ---- writing ---- */

/* Fills the bits from `from` to `to` with unnamed bitfields. */
static void write_padding(struct btf_dump *d, uint64_t from, uint64_t to, int level, bool wide)
{
	static const struct {
		const char *name;
		uint32_t bits;
	} units[] = {{"long", 64}, {"int", 32}, {"short", 16}, {"char", 8}};

	if (to - from > PAD_MAX * 8) {
		uint64_t start = round_up(from, 8);

		dump_tabs(d, level);
		strbuf_addf(d->out, "char __padding_%llu[%llu];\n", (unsigned long long)(start / 8),
			    (unsigned long long)((to - start) / 8));
		from = start + (to - start) / 8 * 8;
	}
	while (from < to) {
		/* the smallest unit that holds all, else the rest of a long */
		size_t u = wide ? 0 : ARRAY_SIZE(units) - 1;

		while (u > 0 && from / units[u].bits != (to - 1) / units[u].bits)
			u--;
		uint64_t end = min_of(to, (from / units[u].bits + 1) * units[u].bits);
		dump_tabs(d, level);
		strbuf_adds(d->out, units[u].name);
		strbuf_adds(d->out, ": ");
		strbuf_add_u64(d->out, end - from);
		strbuf_adds(d->out, ";\n");
		from = end;
	}
}

/* Where the compiler puts the next member when nothing else is said. */
static uint64_t natural_offset(uint64_t at, uint32_t bits, uint32_t unit_bits, uint32_t align,
			       bool packed)
{
	if (bits)
		return packed || bitfield_fits(at % unit_bits, bits, unit_bits)
			       ? at
			       : round_up(at, unit_bits);
	return round_up(at, packed ? 8 : 8 * align);
}

static struct error *write_member(struct btf_dump *d, const struct btf_type *t, uint32_t i,
				  int level, int depth)
{
	const struct btf_member *m = btf_members(t) + i;
	uint32_t bits = btf_member_bitfield_size(t, i);
	const char *name = btf__name_by_offset(d->btf, m->name_off);

	dump_tabs(d, level);
	TRY(dump_decl(d, m->type, name ? name : "", level, false, depth + 1));
	if (bits) {
		strbuf_adds(d->out, ": ");
		strbuf_add_u64(d->out, bits);
	}
	strbuf_adds(d->out, ";\n");
	return NULL;
}

static struct error *write_members(struct btf_dump *d, const struct btf_type *t,
				   struct dump_layout l, int level, int depth)
{
	bool is_struct = btf_is_struct(t);
	uint64_t at = 0; /* the bit after the last member */

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		uint32_t type = btf_members(t)[i].type, off = btf_member_bit_offset(t, i);
		uint32_t bits = btf_member_bitfield_size(t, i);
		uint64_t bytes = type_bytes(d->btf, type);

		if (is_struct && off < at) {
			/* no C compiler makes such; other languages do */
			dump_tabs(d, level);
			strbuf_adds(d->out, "/* one more member overlaps the last one */\n");
			continue;
		}
		if (bits && !bytes)
			return error_new(EINVAL, "bitfield type %u has no size", type);
		if (is_struct) {
			uint32_t align = dump_align(d, type, depth);

			if (natural_offset(at, bits, bytes * 8, align, l.packed) != off)
				write_padding(d, at, off, level, false);
		}
		TRY(write_member(d, t, i, level, depth));
		at = off + (bits ? bits : bytes * 8);
	}
	uint64_t end = (uint64_t)t->size * 8;
	uint32_t align = l.packed ? 1 : 1u << l.align_log2;
	if (is_struct && at < end && round_up(at, 8 * align) != end)
		write_padding(d, at, end, level, false);
	return NULL;
}

struct error *dump_struct_body(struct btf_dump *d, uint32_t id, int level, int depth)
{
	const struct btf_type *t = btf_type_at(d->btf, id);
	struct dump_layout l = dump_layout(d, id, 0);
	const char *name = dump_type_name(d, id);

	if (!name)
		return error_nomem();
	if (depth > DUMP_MAX_DEPTH)
		return dump_too_deep(id);
	if (d->out->len + d->written > d->max_bytes)
		return error_new(E2BIG, "the C text of the types is too large");
	strbuf_adds(d->out, btf_is_union(t) ? "union " : "struct ");
	if (*name) {
		strbuf_adds(d->out, name);
		strbuf_addch(d->out, ' ');
	}
	if (!btf_vlen(t) && !t->size) {
		strbuf_adds(d->out, "{}");
	} else {
		strbuf_adds(d->out, "{\n");
		TRY(write_members(d, t, l, level + 1, depth));
		dump_tabs(d, level);
		strbuf_addch(d->out, '}');
	}
	if (l.packed)
		strbuf_adds(d->out, " __attribute__((packed))");
	if (l.aligned)
		strbuf_addf(d->out, " __attribute__((aligned(%u)))", 1u << l.align_log2);
	return NULL;
}
