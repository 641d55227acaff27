// SPDX-License-Identifier: BSD-2-Clause
/*
 * The layout is computed once, into a flat list of members in the order of
 * the source; those of nested types without a name follow their parent, one
 * level deeper, up to its closing entry. Each level counts its own holes.
 *
 * BTF has offsets in bits from the struct that the member stands in, and no
 * word about packing, alignment or padding: holes are what lies between the
 * end of one member and the start of the next, padding what is left at the
 * end. Bitfields share units: the hole behind one is counted in bits up to the
 * end of the largest unit that a bitfield of the run begins in, the rest in
 * bytes. That is how pahole of dwarves 1.24 counts, so that the numbers agree.
 *
 * The BTF may be anybody's: a type that contains itself, or one that doubles
 * with each level, ends at MAX_DEPTH and MAX_MEMBERS.
 */
#include "show/struct_layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/json_writer.h"
#include "lib/base/vec.h"
#include "lib/btf/open.h"

enum {
	MAX_DEPTH = 32,
	MAX_MEMBERS = 100000,
	COMMENT_COLUMN = 49, /* behind the tabs, which take 8 from it each */
	TYPE_COLUMN = 27,
};

struct layout_member {
	enum { PLAIN, OPEN, CLOSE } place; /* OPEN … CLOSE: a nested type without a name */
	unsigned depth;
	char *type;	       /* "struct list_head *", "struct" */
	char *name;	       /* "next", "(*fn)(int)", "name[16]"; "" */
	uint64_t offset, size; /* bytes, of the whole */
	unsigned bit, bits;    /* bits: 0: no bitfield */
	uint64_t hole;	       /* bytes behind it */
	uint64_t bit_hole;
	uint64_t padding; /* at the end of its own type */
};

/* What one level comes to. */
struct totals {
	unsigned members;
	uint64_t bytes, bits; /* of the members: plain ones', bitfields' */
	unsigned holes, bit_holes, paddings;
	uint64_t sum_holes, sum_bit_holes, sum_paddings;
	uint64_t padding, bit_padding;
};

struct struct_layout {
	bool is_union, packed;
	char *name;
	uint64_t size;
	struct totals totals;
	VEC(struct layout_member) members;
	/* while it is made: a dumper is as dear as the BTF is large */
	struct btf_dump *dump;
	struct strbuf text;
};

void struct_layout_free(struct struct_layout *layout)
{
	struct layout_member *m;

	if (!layout)
		return;
	vec_for_each (m, &layout->members) {
		free(m->type);
		free(m->name);
	}
	vec_deinit(&layout->members);
	btf_dump__free(layout->dump);
	strbuf_deinit(&layout->text);
	free(layout->name);
	free(layout);
}

/* ---- holes of one level ---- */

/* A member as its level sees it; everything in bits from the level's start. */
struct span {
	uint64_t start, end;
	uint64_t unit, unit_end; /* of a bitfield: what its type makes */
	unsigned bits;
	uint64_t hole, bit_hole; /* behind it: bytes, bits */
};

static struct error *span_of(const struct btf *btf, const struct btf_type *t, uint32_t i,
			     struct span *s)
{
	int64_t size = btf__resolve_size(btf, btf_members(t)[i].type);
	const struct btf_type *type = btf_skip_mods_and_typedefs(btf, btf_members(t)[i].type, NULL);

	if (size < 0 || !type)
		return error_new(EINVAL, "member %s has a type without a size",
				 btf__name_by_offset(btf, btf_members(t)[i].name_off));
	*s = (struct span){.start = btf_member_bit_offset(t, i)};
	s->bits = btf_member_bitfield_size(t, i);
	/* clang up to 7 and old pahole: the width and place stand in a type of their own */
	if (!s->bits && btf_is_int(type) && btf_int_bits(type) < size * 8) {
		s->bits = btf_int_bits(type);
		s->start += btf_int_offset(type);
	}
	s->end = s->start + (s->bits ? s->bits : size * 8);
	s->unit = s->start;
	s->unit_end = s->end;
	if (s->bits && size) {
		s->unit = s->start / (size * 8) * (size * 8);
		s->unit_end = s->unit + size * 8;
	}
	return NULL;
}

/* Fills in the holes of n members that lie one behind the other. */
static void find_holes(struct span *spans, size_t n, uint64_t size, struct totals *totals)
{
	uint64_t seen = 0;     /* where the last member ended */
	uint64_t run_end = 0;  /* where the units of a run of bitfields end */
	uint64_t run_unit = 0; /* the largest unit of the run, in bits */

	for (size_t i = 0; i <= n; i++) {
		uint64_t start = i < n ? spans[i].start : size * 8, bit_hole = 0, hole = 0;

		if (run_unit) {
			uint64_t end = min_of(start, run_end);

			bit_hole = end > seen ? end - seen : 0;
			seen = max_of(seen, end);
		}
		if (i == n) {
			totals->bit_padding = bit_hole;
			totals->padding = size > seen / 8 ? size - seen / 8 : 0;
			return;
		}
		if (spans[i].bits) {
			if (seen < spans[i].unit) {
				hole = spans[i].unit / 8 - seen / 8;
				seen = spans[i].unit;
			}
			bit_hole += start > seen ? start - seen : 0;
			uint64_t unit = spans[i].unit_end - spans[i].unit;
			if (!run_unit || spans[i].end > run_end || unit > run_unit) {
				run_unit = unit;
				run_end = spans[i].unit_end;
			}
		} else {
			hole = start / 8 > seen / 8 ? start / 8 - seen / 8 : 0;
			run_unit = 0;
		}
		seen = spans[i].end;
		if (i) {
			spans[i - 1].hole = hole;
			spans[i - 1].bit_hole = bit_hole;
		}
		totals->holes += hole > 0;
		totals->sum_holes += hole;
		totals->bit_holes += bit_hole > 0;
		totals->sum_bit_holes += bit_hole;
	}
}

/* The spans of t, with their holes; the caller frees them. */
static struct error *level_of(const struct btf *btf, const struct btf_type *t, struct span **out,
			      struct totals *totals)
{
	_cleanup_free_ struct span *spans = calloc(btf_vlen(t) + 1, sizeof(*spans));

	if (!spans)
		return error_nomem();
	*totals = (struct totals){.members = btf_vlen(t)};
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		TRY(span_of(btf, t, i, &spans[i]));
		if (spans[i].bits)
			totals->bits += spans[i].bits;
		else
			totals->bytes += (spans[i].end - spans[i].start) / 8;
	}
	if (btf_is_struct(t))
		find_holes(spans, btf_vlen(t), t->size, totals);
	*out = steal_ptr(spans);
	return NULL;
}

static struct error *padding_of(const struct btf *btf, const struct btf_type *t, uint64_t *padding)
{
	_cleanup_free_ struct span *spans = NULL;
	struct totals totals;

	TRY(level_of(btf, t, &spans, &totals));
	*padding = totals.padding;
	return NULL;
}

/* ---- the declaration of a member, in two columns ---- */

static void add_text(void *ctx, const char *fmt, va_list args)
{
	strbuf_vaddf(ctx, fmt, args);
}

#define PLACE "__perf_bpf_declarator"

/*
 * A declaration of a name that no C has shows where the declarator stands:
 * "void (*PLACE)(int)". The type is what comes before the parenthesis.
 */
static struct error *declare(struct struct_layout *layout, uint32_t id, const char *name,
			     unsigned depth, struct layout_member *m)
{
	struct strbuf *text = &layout->text;
	LIBBPF_OPTS(btf_dump_emit_type_decl_opts, opts, .field_name = PLACE,
		    .indent_level = depth + 1);

	strbuf_reset(text);
	int code = btf_dump__emit_type_decl(layout->dump, id, &opts);
	if (code)
		return error_errno(-code, "cannot declare member %s", name);
	if (strbuf_failed(text))
		return error_nomem();
	const char *at = strstr(strbuf_str(text), PLACE);
	if (!at)
		return error_new(EINVAL, "member %s has no declaration", name);
	const char *from = at;
	for (const char *p = at; p > strbuf_str(text) && strchr("(* ", p[-1]); p--)
		if (p[-1] == '(')
			from = p - 1;
	size_t len = from - strbuf_str(text);
	while (len && strbuf_str(text)[len - 1] == ' ')
		len--;
	m->type = strndup(strbuf_str(text), len);
	m->name = text_format("%.*s%s%s", (int)(at - from), from, name, at + strlen(PLACE));
	return m->type && m->name ? NULL : error_nomem();
}

/* ---- the walk ---- */

static struct layout_member *add_member(struct struct_layout *layout)
{
	return layout->members.n < MAX_MEMBERS ? vec_push(&layout->members) : NULL;
}

static struct error *too_many(const struct struct_layout *layout)
{
	if (layout->members.n < MAX_MEMBERS)
		return error_nomem();
	return error_new(E2BIG, "%s has more than %d members", layout->name, MAX_MEMBERS);
}

/* The nested type without a name that a member is of, or an array of such; NULL: it is none. */
static const struct btf_type *nested(const struct btf *btf, uint32_t id, struct strbuf *dims)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	for (int i = 0; t && btf_is_array(t) && i < MAX_DEPTH; i++) {
		strbuf_addf(dims, "[%u]", btf_array(t)->nelems);
		t = btf__type_by_id(btf, btf_array(t)->type);
	}
	return t && btf_is_composite(t) && !t->name_off ? t : NULL;
}

static struct error *add_level(struct struct_layout *layout, const struct btf *btf,
			       const struct btf_type *t, uint64_t base, unsigned depth,
			       struct totals *totals);

static struct error *add_one(struct struct_layout *layout, const struct btf *btf,
			     const struct btf_type *parent, uint32_t i, const struct span *s,
			     uint64_t base, unsigned depth, struct totals *totals)
{
	const struct btf_member *member = &btf_members(parent)[i];
	_cleanup_strbuf_ struct strbuf dims = STRBUF_INIT;
	const char *name = btf__name_by_offset(btf, member->name_off) ?: "";
	const struct btf_type *inner = nested(btf, member->type, &dims);
	const struct btf_type *type = btf_skip_mods_and_typedefs(btf, member->type, NULL);
	struct layout_member m = {
		.depth = depth,
		.offset = base + s->unit / 8,
		.size = (s->unit_end - s->unit) / 8,
		.bit = s->bits ? s->start - s->unit : 0,
		.bits = s->bits,
	};

	if (strbuf_failed(&dims))
		return error_nomem();
	if (inner) {
		struct layout_member *open = add_member(layout);
		if (!open)
			return too_many(layout);
		*open = m;
		open->place = OPEN;
		open->type = strdup(btf_is_union(inner) ? "union" : "struct");
		open->name = text_format("%s%s", name, strbuf_str(&dims));
		if (!open->type || !open->name)
			return error_nomem();
		struct totals unused;
		TRY(add_level(layout, btf, inner, m.offset, depth + 1, &unused));
	}
	if (type && btf_is_struct(type) && btf_is_struct(parent))
		TRY(padding_of(btf, type, &m.padding));
	totals->paddings += m.padding > 0;
	totals->sum_paddings += m.padding;
	m.hole = s->hole;
	m.bit_hole = s->bit_hole;
	struct layout_member *last = add_member(layout);
	if (!last)
		return too_many(layout);
	*last = m;
	last->place = inner ? CLOSE : PLAIN;
	if (!inner) {
		TRY(declare(layout, member->type, name, depth, last));
		/* a flexible array: BTF has no word for it, but where else is [0] last? */
		size_t len = strlen(last->name);
		if (!depth && i + 1 == btf_vlen(parent) && len > 3 &&
		    !strcmp(last->name + len - 3, "[0]"))
			strcpy(last->name + len - 3, "[]");
		return NULL;
	}
	last->name = text_format("%s%s", name, strbuf_str(&dims));
	return last->name ? NULL : error_nomem();
}

static struct error *add_level(struct struct_layout *layout, const struct btf *btf,
			       const struct btf_type *t, uint64_t base, unsigned depth,
			       struct totals *totals)
{
	_cleanup_free_ struct span *spans = NULL;

	if (depth > MAX_DEPTH)
		return error_new(E2BIG, "%s is nested more than %d deep", layout->name, MAX_DEPTH);
	TRY(level_of(btf, t, &spans, totals));
	for (uint32_t i = 0; i < btf_vlen(t); i++)
		TRY(add_one(layout, btf, t, i, &spans[i], base, depth, totals));
	return NULL;
}

struct error *struct_layout_new(const struct btf *btf, uint32_t type, struct struct_layout **out)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(btf, type, &type);

	if (!t || !btf_is_composite(t))
		return error_usage("type %u is neither a struct nor a union", type);
	_cleanup_(struct_layout_freep) struct struct_layout *layout = calloc(1, sizeof(*layout));
	if (!layout)
		return error_nomem();
	layout->name = strdup(btf_name(btf, t));
	if (!layout->name)
		return error_nomem();
	layout->dump = btf_dump__new(btf, add_text, &layout->text, NULL);
	if (!layout->dump)
		return error_errno(errno, "cannot declare %s", layout->name);
	layout->is_union = btf_is_union(t);
	layout->size = t->size;
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		int align = btf__align_of(btf, btf_members(t)[i].type);

		if (align > 0 && !btf_member_bitfield_size(t, i))
			layout->packed |=
				btf_member_bit_offset(t, i) % (8 * align) || t->size % align;
	}
	TRY(add_level(layout, btf, t, 0, 0, &layout->totals));
	btf_dump__free(layout->dump); /* it borrows the BTF */
	layout->dump = NULL;
	*out = steal_ptr(layout);
	return NULL;
}

/* ---- as text ---- */

static void add_tabs(struct strbuf *out, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		strbuf_addch(out, '\t');
}

/* Blanks up to a column counted from start, one at least. */
static void fill_up(struct strbuf *out, size_t start, int column)
{
	do
		strbuf_addch(out, ' ');
	while ((int)(out->len - start) < column);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void add_boundary(const struct layout_member *m, unsigned cache_line, uint64_t *line,
			 struct strbuf *out)
{
	uint64_t ago = m->offset % cache_line;

	if (m->offset / cache_line <= *line)
		return;
	*line = m->offset / cache_line;
	add_tabs(out, m->depth + 1);
	strbuf_addf(out, "/* --- cacheline %" PRIu64 " boundary (%" PRIu64 " bytes)", *line,
		    *line * cache_line);
	if (ago)
		strbuf_addf(out, " was %" PRIu64 " bytes ago", ago);
	strbuf_adds(out, " --- */\n");
}

/* What is lost at a place, between empty lines. */
static void add_losses(const struct layout_member *m, struct strbuf *out)
{
	const struct {
		uint64_t n;
		const char *before, *unit, *after;
	} losses[] = {
		{m->padding, "last struct has ", "byte", " of padding"},
		{m->bit_hole, "", "bit", " hole, try to pack"},
		{m->hole, "", "byte", " hole, try to pack"},
	};
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		if (!losses[i].n)
			continue;
		if (!any)
			strbuf_addch(out, '\n');
		add_tabs(out, m->depth + 1);
		strbuf_addf(out, "/* XXX %s%" PRIu64 " %s%s%s */\n", losses[i].before, losses[i].n,
			    losses[i].unit, plural(losses[i].n), losses[i].after);
		any = true;
	}
	if (any)
		strbuf_addch(out, '\n');
}

static void add_totals(const struct struct_layout *layout, unsigned cache_line, struct strbuf *out)
{
	const struct totals *t = &layout->totals;
	uint64_t lines = (layout->size + cache_line - 1) / cache_line;

	strbuf_addf(out, "\n\t/* size: %" PRIu64 ", cachelines: %" PRIu64 ", members: %u */\n",
		    layout->size, lines, t->members);
	if (t->bytes && (t->holes || t->bit_holes)) {
		strbuf_addf(out, "\t/* sum members: %" PRIu64, t->bytes);
		if (t->holes)
			strbuf_addf(out, ", holes: %u, sum holes: %" PRIu64, t->holes,
				    t->sum_holes);
		strbuf_adds(out, " */\n");
	}
	if (t->bit_holes)
		strbuf_addf(out,
			    "\t/* sum bitfield members: %" PRIu64
			    " bits, bit holes: %u, sum bit holes: %" PRIu64 " bits */\n",
			    t->bits, t->bit_holes, t->sum_bit_holes);
	else if (t->bits && t->holes)
		strbuf_addf(out,
			    "\t/* sum bitfield members: %" PRIu64 " bits (%" PRIu64 " bytes) */\n",
			    t->bits, t->bits / 8);
	if (t->padding)
		strbuf_addf(out, "\t/* padding: %" PRIu64 " */\n", t->padding);
	if (t->paddings)
		strbuf_addf(out, "\t/* paddings: %u, sum paddings: %" PRIu64 " */\n", t->paddings,
			    t->sum_paddings);
	if (t->bit_padding)
		strbuf_addf(out, "\t/* bit_padding: %" PRIu64 " bit%s */\n", t->bit_padding,
			    plural(t->bit_padding));
	if (layout->size % cache_line)
		strbuf_addf(out, "\t/* last cacheline: %" PRIu64 " bytes */\n",
			    layout->size % cache_line);
}

void struct_layout_text(const struct struct_layout *layout, unsigned cache_line, struct strbuf *out)
{
	const struct layout_member *m;
	uint64_t line = 0;

	strbuf_addf(out, "%s%s%s {\n", layout->is_union ? "union" : "struct",
		    *layout->name ? " " : "", layout->name);
	vec_for_each (m, &layout->members) {
		if (m->place != CLOSE)
			add_boundary(m, cache_line, &line, out);
		add_tabs(out, m->depth + 1);
		size_t start = out->len;
		if (m->place == OPEN) {
			strbuf_addf(out, "%s {\n", m->type);
			continue;
		}
		if (m->place == CLOSE) {
			strbuf_addf(out, "}%s%s;", *m->name ? " " : "", m->name);
		} else {
			strbuf_adds(out, m->type);
			fill_up(out, start, TYPE_COLUMN - 8 * (int)m->depth);
			strbuf_adds(out, m->name);
			if (m->bits)
				strbuf_addf(out, ":%u", m->bits);
			strbuf_addch(out, ';');
		}
		fill_up(out, start, COMMENT_COLUMN - 8 * (int)m->depth);
		strbuf_addf(out, "/* %5" PRIu64, m->offset);
		if (m->bits)
			strbuf_addf(out, ":%2u %2" PRIu64 " */\n", m->bit, m->size);
		else
			strbuf_addf(out, " %5" PRIu64 " */\n", m->size);
		add_losses(m, out);
	}
	add_totals(layout, cache_line, out);
	strbuf_addf(out, "}%s;\n", layout->packed ? " __attribute__((__packed__))" : "");
}

/* ---- as JSON ---- */

static void add_member_json(struct json_writer *w, const struct layout_member *m)
{
	if (m->place != CLOSE) {
		jw_object(w, NULL);
		jw_u64(w, "offset", m->offset);
		jw_u64(w, "size", m->size);
		jw_text(w, "type", m->type);
		jw_text(w, "name", m->name);
		if (m->bits) {
			jw_u64(w, "bit_offset", m->bit);
			jw_u64(w, "bits", m->bits);
		}
	}
	if (m->place == OPEN) {
		jw_array(w, "members");
		return;
	}
	if (m->place == CLOSE)
		jw_end(w);
	if (m->padding)
		jw_u64(w, "padding", m->padding);
	if (m->hole)
		jw_u64(w, "hole", m->hole);
	if (m->bit_hole)
		jw_u64(w, "bit_hole", m->bit_hole);
	jw_end(w);
}

void struct_layout_json(const struct struct_layout *layout, unsigned cache_line, struct strbuf *out)
{
	/* a nested struct is an object in an array */
	_Static_assert(2 * (MAX_DEPTH + 2) <= JSON_DEPTH,
		       "the layouts are nested too deep for JSON");
	struct json_writer w = json_writer_make(out);
	const struct totals *t = &layout->totals;
	const struct layout_member *m;

	jw_object(&w, NULL);
	jw_text(&w, "kind", layout->is_union ? "union" : "struct");
	jw_text(&w, "name", layout->name);
	jw_u64(&w, "size", layout->size);
	jw_u64(&w, "cacheline", cache_line);
	jw_u64(&w, "cachelines", (layout->size + cache_line - 1) / cache_line);
	jw_bool(&w, "packed", layout->packed);
	jw_array(&w, "members");
	vec_for_each (m, &layout->members)
		add_member_json(&w, m);
	jw_end(&w);
	jw_u64(&w, "sum_members", t->bytes);
	jw_u64(&w, "holes", t->holes);
	jw_u64(&w, "sum_holes", t->sum_holes);
	jw_u64(&w, "sum_bitfield_members", t->bits);
	jw_u64(&w, "bit_holes", t->bit_holes);
	jw_u64(&w, "sum_bit_holes", t->sum_bit_holes);
	jw_u64(&w, "padding", t->padding);
	jw_u64(&w, "bit_padding", t->bit_padding);
	jw_u64(&w, "paddings", t->paddings);
	jw_u64(&w, "sum_paddings", t->sum_paddings);
	jw_end(&w);
	json_writer_finish(&w);
	strbuf_addch(out, '\n');
}
