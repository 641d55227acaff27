// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which functions contain an address: one out of line, and within it those that the compiler
 * inlined there, one in the other.
 *
 * A unit's functions are listed when the first address of it is asked for, and the copies within a
 * function when the first address of that function is. Copies are flattened: a list of addresses
 * from which on a copy is the innermost one, until the next address. So a DIE is read once, and an
 * address costs two binary searches however many copies there are.
 *
 * The files are anyone's. DIEs may form no circle (die_sibling()), nothing is followed deeper than
 * DEPTH_MAX, and many DIEs may name one long list of ranges, so how many copies and ranges are read
 * of a file is limited; addresses beyond that have no inlined functions.
 */
#include "probe/dwarf/internal.h"

/* A thousand functions with a thousand copies each; some 300 MB. */
#define ROOM_OF_IMAGE ((size_t)4 << 20)

#define NO_COPY UINT32_MAX

struct inlined_copy {
	Dwarf_Die die;
	uint32_t parent; /* the copy that it is in; NO_COPY: the function itself */
};

struct copy_range {
	Dwarf_Addr start, end;
	uint32_t copy;
	int depth;
};

/* From start on, until the next one's, the copy is the innermost one. */
struct copy_segment {
	Dwarf_Addr start;
	uint32_t copy;
};

struct unit_function {
	Dwarf_Die die;
	bool is_read;
	VEC(struct inlined_copy) copies;
	VEC(struct copy_segment) segments; /* by start */
};

struct function_range {
	Dwarf_Addr start, end;
	uint32_t function;
};

struct unit_code {
	VEC(struct unit_function) functions;
	VEC(struct function_range) ranges; /* by start */
	bool is_whole;			   /* also those within functions are listed */
};

void unit_code_free(struct unit_code *code)
{
	struct unit_function *f;

	if (!code)
		return;
	vec_for_each (f, &code->functions) {
		vec_deinit(&f->copies);
		vec_deinit(&f->segments);
	}
	vec_deinit(&code->functions);
	vec_deinit(&code->ranges);
	free(code);
}

/* Takes one of what the image has room for; false: there is none left. */
static bool take_room(struct dwarf_image *image)
{
	if (image->inlines_read == ROOM_OF_IMAGE) {
		log_info(image->log,
			 "%s: too many inlined functions; those of further addresses are not shown",
			 image->debug_path);
		image->inlines_read++;
	}
	if (image->inlines_read > ROOM_OF_IMAGE)
		return false;
	image->inlines_read++;
	return true;
}

/* ---- The functions of a unit ---- */

static struct error *add_function(struct dwarf_image *image, struct unit_code *code, Dwarf_Die *die)
{
	const uint32_t index = (uint32_t)code->functions.n;
	Dwarf_Addr base, start, end;
	ptrdiff_t pos = 0;

	if (!take_room(image))
		return NULL;
	struct unit_function *f = vec_push(&code->functions);
	if (!f)
		return error_nomem();
	f->die = *die;
	while ((pos = dwarf_ranges(die, pos, &base, &start, &end)) > 0 && take_room(image)) {
		if (start >= end)
			continue;
		struct function_range *range = vec_push(&code->ranges);
		if (!range)
			return error_nomem();
		*range = (struct function_range){start, end, index};
	}
	return NULL;
}

/* within: also functions that are within others, as GNU C and Ada have them. */
static struct error *list_functions(struct dwarf_image *image, struct unit_code *code,
				    Dwarf_Die *parent, bool within, int depth)
{
	Dwarf_Die child;
	bool have;

	if (depth > DEPTH_MAX)
		return die_too_deep(image, parent);
	TRY(die_child(image, parent, &child, &have));
	while (have) {
		bool enter = false;

		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			if (die_has_code(&child))
				TRY(add_function(image, code, &child));
			enter = within;
			break;
		case DW_TAG_inlined_subroutine:
			enter = within;
			break;
		default:
			enter = tag_has_functions(dwarf_tag(&child)) ||
				(within && tag_is_block(dwarf_tag(&child)));
		}
		if (enter)
			TRY(list_functions(image, code, &child, within, depth + 1));
		TRY(die_next_of_tree(image, &child, depth, image->deadline, &have));
	}
	return NULL;
}

static int function_range_cmp(const void *a, const void *b)
{
	const struct function_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

/* All that is read of an image has a limit. */
static void begin_time(struct dwarf_image *image)
{
	if (!image->has_time)
		image->time_left = time_of_walk(image);
	image->has_time = true;
	image->deadline = deadline_of(image->time_left);
}

static void end_time(struct dwarf_image *image)
{
	const uint64_t now = deadline_of(0);

	image->time_left = image->deadline > now ? image->deadline - now : 0;
}

static struct error *read_unit(struct dwarf_image *image, struct dwarf_unit *unit, bool within)
{
	struct unit_code *code = calloc(1, sizeof(*code));
	Dwarf_Die root;

	if (!code)
		return error_nomem();
	unit_code_free(unit->code);
	unit->code = code;
	code->is_whole = within;
	begin_time(image);
	struct error *err = unit_root(image, unit, &root);
	if (!err)
		err = list_functions(image, code, &root, within, 0);
	end_time(image);
	/* What comes before damage is used. */
	if (code->ranges.n)
		qsort(code->ranges.v, code->ranges.n, sizeof(*code->ranges.v), function_range_cmp);
	return err;
}

static struct unit_function *function_at(struct unit_code *code, Dwarf_Addr pc)
{
	const size_t low = count_before(code->ranges.n, i, code->ranges.v[i].start <= pc);
	struct function_range *found = NULL;

	/* Functions do not overlap, but several of equal code may be one. */
	for (size_t i = low, tries = 0; i-- && tries < 16; tries++) {
		struct function_range *range = &code->ranges.v[i];

		if (found && range->start != found->start)
			break;
		if (pc < range->end)
			found = range;
	}
	return found ? &code->functions.v[found->function] : NULL;
}

static struct error *find_function(struct dwarf_image *image, Dwarf_Addr pc,
				   struct dwarf_unit **unit, struct unit_function **out)
{
	*out = NULL;
	TRY(unit_by_address(image, pc, unit));
	if (!*unit)
		return NULL;
	if (!(*unit)->code)
		TRY(read_unit(image, *unit, false));
	*out = function_at((*unit)->code, pc);
	if (!*out && !(*unit)->code->is_whole) {
		TRY(read_unit(image, *unit, true));
		*out = function_at((*unit)->code, pc);
	}
	return NULL;
}

/* ---- The copies within a function ---- */

struct copies_reader {
	struct dwarf_image *image;
	struct unit_function *f;
	VEC(struct copy_range) ranges;
};

static struct error *add_copy(struct copies_reader *r, Dwarf_Die *die, uint32_t parent, int depth)
{
	const uint32_t index = (uint32_t)r->f->copies.n;
	Dwarf_Addr base, start, end;
	ptrdiff_t pos = 0;

	struct inlined_copy *copy = vec_push(&r->f->copies);
	if (!copy)
		return error_nomem();
	*copy = (struct inlined_copy){*die, parent};
	while ((pos = dwarf_ranges(die, pos, &base, &start, &end)) > 0 && take_room(r->image)) {
		if (start >= end)
			continue;
		struct copy_range *range = vec_push(&r->ranges);
		if (!range)
			return error_nomem();
		*range = (struct copy_range){start, end, index, depth};
	}
	return NULL;
}

static struct error *list_copies(struct copies_reader *r, Dwarf_Die *scope, uint32_t parent,
				 int depth)
{
	Dwarf_Die child;
	bool have;

	if (depth >= DEPTH_MAX)
		return die_too_deep(r->image, scope);
	TRY(die_child(r->image, scope, &child, &have));
	while (have) {
		uint32_t inner = parent;

		switch (dwarf_tag(&child)) {
		case DW_TAG_inlined_subroutine:
			if (!take_room(r->image))
				return NULL;
			inner = (uint32_t)r->f->copies.n;
			TRY(add_copy(r, &child, parent, depth));
			TRY(list_copies(r, &child, inner, depth + 1));
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			TRY(list_copies(r, &child, parent, depth + 1));
			break;
		}
		TRY(die_next_of_tree(r->image, &child, depth, r->image->deadline, &have));
	}
	return NULL;
}

/* Those around come before those within. */
static int copy_range_cmp(const void *a, const void *b)
{
	const struct copy_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth - y->depth;
	return x->copy < y->copy ? -1 : x->copy > y->copy;
}

static bool add_segment(struct unit_function *f, Dwarf_Addr start, uint32_t copy)
{
	struct copy_segment *last = f->segments.n ? vec_last(&f->segments) : NULL;

	if (!last || last->start != start)
		last = vec_push(&f->segments);
	if (last)
		*last = (struct copy_segment){start, copy};
	return last;
}

/* Ranges are within each other or apart; what is not is cut. */
static struct error *flatten(struct copies_reader *r)
{
	VEC(struct copy_range) around = {0};
	struct copy_range *range;
	bool ok = true;

	if (r->ranges.n)
		qsort(r->ranges.v, r->ranges.n, sizeof(*r->ranges.v), copy_range_cmp);
	for (size_t i = 0; ok && i <= r->ranges.n; i++) {
		const Dwarf_Addr start = i < r->ranges.n ? r->ranges.v[i].start : UINT64_MAX;

		while (ok && around.n && vec_last(&around)->end <= start) {
			const Dwarf_Addr end = vec_last(&around)->end;

			around.n--;
			ok = add_segment(r->f, end, around.n ? vec_last(&around)->copy : NO_COPY);
		}
		if (i == r->ranges.n || !ok)
			break;
		const Dwarf_Addr limit = around.n ? vec_last(&around)->end : UINT64_MAX;
		range = vec_push(&around);
		ok = range && add_segment(r->f, start, r->ranges.v[i].copy);
		if (ok)
			*range = r->ranges.v[i];
		if (ok)
			range->end = min_of(range->end, limit);
	}
	vec_deinit(&around);
	return ok ? NULL : error_nomem();
}

static struct error *read_function(struct dwarf_image *image, struct unit_function *f)
{
	struct copies_reader r = {.image = image, .f = f};

	f->is_read = true;
	begin_time(image);
	struct error *err = list_copies(&r, &f->die, NO_COPY, 0);
	end_time(image);
	/* What comes before damage is used. */
	struct error *late = flatten(&r);
	vec_deinit(&r.ranges);
	return error_either(err, late);
}

static const char *function_name(Dwarf_Die *die)
{
	const char *linkage = die_linkage_name(die);

	return linkage ? linkage : die_name(die);
}

struct error *pb_dwarf_frames_at(struct dwarf_image *image, uint64_t address,
				 struct dwarf_frame frames[DWARF_MAX_FRAMES], size_t *n)
{
	const Dwarf_Addr pc = address - image->bias;
	struct unit_function *f;
	struct dwarf_unit *unit;
	size_t made = 0;
	uint64_t line;

	*n = 0;
	TRY(find_function(image, pc, &unit, &f));
	if (!f)
		return NULL;
	if (!f->is_read)
		TRY(read_function(image, f));
	const size_t low = count_before(f->segments.n, i, f->segments.v[i].start <= pc);
	uint32_t at = low ? f->segments.v[low - 1].copy : NO_COPY;

	frames[0] = (struct dwarf_frame){0};
	struct error *err = pb_dwarf_line_at(image, address, &frames[0].file, &frames[0].line);
	if (err && err->code == ENOMEM)
		return err;
	error_free(err);
	for (; at != NO_COPY && made + 1 < DWARF_MAX_FRAMES; at = f->copies.v[at].parent) {
		Dwarf_Die *die = &f->copies.v[at].die;

		frames[made++].name = function_name(die);
		frames[made] = (struct dwarf_frame){.file = die_file(image, die, DW_AT_call_file)};
		if (die_udata(die, DW_AT_call_line, &line) && line <= UINT32_MAX)
			frames[made].line = (uint32_t)line;
	}
	frames[made++].name = function_name(&f->die);
	*n = made;
	return NULL;
}
