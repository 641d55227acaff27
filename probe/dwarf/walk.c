// SPDX-License-Identifier: BSD-2-Clause
/*
 * The walk over a unit's functions.
 *
 * An inlined copy names the abstract function that it is of, out-of-line code
 * of an inlined function does so too, and a method's definition names its
 * declaration within the class. So a DIE is taken by the name at the end of
 * these references, looked up once for each end.
 */
#include "probe/dwarf/walk.h"

#include "sym/sym.h"

struct matcher matcher_make(struct dwarf_image *image, const char *pattern, bool is_glob,
			    const char *file)
{
	return (struct matcher){
		.image = image,
		.pattern = pattern,
		.file = file,
		.is_glob = is_glob,
		/* "fi<long>" is called "fi<long int>" in gcc's DWARF: the linkage name tells */
		.qualified = strstr(pattern, "::") || strchr(pattern, '<'),
	};
}

void matcher_deinit(struct matcher *matcher)
{
	u64map_deinit(&matcher->seen);
}

static bool text_matches(const struct matcher *m, const char *text)
{
	return m->is_glob ? glob_match(m->pattern, text) : !strcmp(m->pattern, text);
}

/* The same without "<…>" at its end. */
static bool plain_matches(const struct matcher *m, const char *text)
{
	const char *angle = strchr(text, '<');

	if (text_matches(m, text))
		return true;
	if (!angle || angle == text || strchr(m->pattern, '<') || !strncmp(text, "operator", 8) ||
	    text[strlen(text) - 1] != '>')
		return false;
	_cleanup_free_ char *plain = strndup(text, (size_t)(angle - text));
	return plain && text_matches(m, plain);
}

/* The scopes around a DIE, where it has no linkage name that tells. */
static char *scoped_name(Dwarf_Die *die, const char *name)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	_cleanup_free_ Dwarf_Die *scopes = NULL;
	Dwarf_Die origin;

	die_origin(die, &origin);
	int n = dwarf_getscopes_die(&origin, &scopes);
	for (int i = n - 1; i > 0; i--) {
		int tag = dwarf_tag(&scopes[i]);
		const char *s = dwarf_diename(&scopes[i]);

		if (tag == DW_TAG_namespace && !s)
			s = "(anonymous namespace)";
		if (s && (tag == DW_TAG_namespace || type_is_struct(tag)))
			strbuf_addf(&sb, "%s::", s);
	}
	strbuf_adds(&sb, name);
	return strbuf_steal(&sb);
}

char *function_shown(Dwarf_Die *function)
{
	const char *linkage = die_linkage_name(function), *name = die_name(function);

	if (linkage) {
		char *shown = symbol_demangle(NULL, linkage, false);

		if (shown)
			return shown;
	}
	if (!name)
		return linkage ? strdup(linkage) : NULL;
	return die_lang_is_c(function) ? strdup(name) : scoped_name(function, name);
}

/* Whole, and without the outer scopes. */
static bool scopes_match(const struct matcher *m, const char *shown)
{
	for (const char *s = shown; s;) {
		if (plain_matches(m, s))
			return true;
		s = strstr(s, "::"); /* at s itself, where a name begins with it */
		if (s)
			s += 2;
	}
	return false;
}

static bool takes(struct matcher *m, Dwarf_Die *function)
{
	const char *name = die_name(function), *linkage = die_linkage_name(function);

	if (m->file) {
		const char *file = die_decl_file(m->image, function);

		if (!file || !path_ends_with(file, m->file))
			return false;
	}
	if (name && plain_matches(m, name))
		return true;
	if (linkage && text_matches(m, linkage))
		return true;
	if (!m->qualified && !(m->is_glob && linkage))
		return false;
	_cleanup_free_ char *shown = function_shown(function);
	if (scopes_match(m, shown))
		return true;
	/*
	 * Rust's newer names are "<shop::Order>::add" and "shop::sum::<u8>": also as written. The
	 * scopes take a walk through the unit, so first whether the name's own part is right.
	 */
	const char *last = m->qualified ? strrchr(m->pattern, ':') : NULL;
	if (!last || !name || !linkage || m->is_glob || !die_lang_is_rust(function))
		return false;
	const struct matcher own = {.pattern = last + 1};
	if (!plain_matches(&own, name))
		return false;
	_cleanup_free_ char *scoped = scoped_name(function, name);
	return scopes_match(m, scoped);
}

bool matcher_takes(struct matcher *m, Dwarf_Die *function)
{
	Dwarf_Die origin;

	die_origin(function, &origin);
	uint64_t key = (uint64_t)(uintptr_t)origin.addr;
	void *known = u64map_get(&m->seen, key);
	if (known)
		return known == (void *)2;
	/* The file and the line of a method are its definition's. */
	bool yes = takes(m, function);
	if (!m->file) /* a declaration in a header has several definitions' files */
		u64map_put(&m->seen, key, (void *)(uintptr_t)(yes ? 2 : 1));
	return yes;
}

/* ---- All of a unit ---- */

struct instance_walk {
	struct dwarf_image *image;
	struct matcher *matcher;
	bool inlines, c;
	instance_fn *fn;
	void *ctx;
	uint64_t left;	   /* DIEs that may still be looked at */
	uint64_t deadline; /* of die_next_of_tree() */
};

/*
 * A DIE is a byte at least, so a walk of sound information never looks at more
 * of them than there are bytes. In a damaged one, whose siblings lead into
 * children or whose units import each other, it would be without end.
 */
#define DIES_MIN (1 << 24) /* for what other files hold */

static struct error *take_one(struct instance_walk *w, Dwarf_Die *die)
{
	if (w->left--)
		return NULL;
	w->left = 0;
	return error_new(EBADMSG, "%s: DWARF: DIE reference loop at %#llx", w->image->debug_path,
			 (unsigned long long)dwarf_dieoffset(die));
}

/* Code that the linker dropped has address 0, or one at the end of all. */
static bool is_dropped(const struct dwarf_image *image, Dwarf_Addr address)
{
	return (!address && !image->is_rel) || address >= (Dwarf_Addr)-4096;
}

/*
 * Whether an inlined copy of a function, within code of the same function, is a part of it. gcc
 * gives the call of the part the place where the function is declared; that of a recursion is where
 * it is written.
 */
static bool is_inlined_part(Dwarf_Die *inlined, Dwarf_Die *scope)
{
	uint64_t call, column, declared, declared_column;
	Dwarf_Die origin;

	if (!scope || !die_same_origin(inlined, scope))
		return false;
	die_origin(inlined, &origin);
	if (!die_udata(inlined, DW_AT_call_line, &call) ||
	    !die_udata(&origin, DW_AT_decl_line, &declared) || call != declared)
		return false;
	return !die_udata(inlined, DW_AT_call_column, &column) ||
	       !die_udata(&origin, DW_AT_decl_column, &declared_column) ||
	       column == declared_column;
}

/* The same of a function out of line, whose symbol tells. */
static struct error *is_part_symbol(struct dwarf_image *image, Dwarf_Addr address, bool *is_part)
{
	TRY(image_need_symbols(image));
	const struct dwarf_symbol *symbol = image_symbol_at(image, image_address(image, address));

	*is_part = symbol && strstr(symbol->name, ".part.");
	return NULL;
}

/* scope: the instance that parent is in. */
static struct error *walk(struct instance_walk *w, Dwarf_Die *parent, Dwarf_Die *function,
			  Dwarf_Die *scope, int depth)
{
	Dwarf_Die child, other;
	Dwarf_Addr address;
	bool have;

	if (depth > DEPTH_MAX)
		return die_too_deep(w->image, parent);
	TRY(die_child(w->image, parent, &child, &have));
	while (have) {
		TRY(take_one(w, &child));
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			if (die_has_code(&child) && die_entry(&child, &address) &&
			    !is_dropped(w->image, address)) {
				if (matcher_takes(w->matcher, &child)) {
					struct instance i = {.die = child, .function = child};

					TRY(is_part_symbol(w->image, address, &i.is_part));
					TRY(w->fn(w->ctx, &i));
				}
				if (w->inlines)
					TRY(walk(w, &child, &child, &child, depth + 1));
			} else if (!w->c) {
				/* Methods of a function's own classes have code of their own. */
				TRY(walk(w, &child, NULL, NULL, depth + 1));
			}
			break;
		case DW_TAG_inlined_subroutine:
			if (w->inlines && function && matcher_takes(w->matcher, &child) &&
			    die_entry(&child, &address) && !is_dropped(w->image, address)) {
				struct instance i = {.die = child,
						     .function = *function,
						     .inlined = true,
						     .is_part = is_inlined_part(&child, scope)};

				TRY(w->fn(w->ctx, &i));
			}
			TRY(walk(w, &child, function, &child, depth + 1));
			break;
		case DW_TAG_imported_unit:
			if (die_ref(&child, DW_AT_import, &other))
				TRY(walk(w, &other, function, scope, depth + 1));
			break;
		default:
			/* In C, types have no functions; there are many. */
			if (tag_is_block(dwarf_tag(&child)) ||
			    (tag_has_functions(dwarf_tag(&child)) &&
			     !(w->c && type_is_struct(dwarf_tag(&child)))))
				TRY(walk(w, &child, function, scope, depth + 1));
		}
		TRY(die_next_of_tree(w->image, &child, depth, w->deadline, &have));
	}
	return NULL;
}

struct error *instances_in_unit(struct dwarf_image *image, struct dwarf_unit *unit,
				struct matcher *matcher, bool inlines, instance_fn *fn, void *ctx)
{
	struct instance_walk w = {
		.image = image, .matcher = matcher, .inlines = inlines, .fn = fn, .ctx = ctx};
	Dwarf_Die root;

	TRY(unit_root(image, unit, &root));
	w.c = die_lang_is_c(&root);
	w.left = DIES_MIN + image_info_size(image);
	w.deadline = deadline_of(time_of_walk(image));
	return walk(&w, &root, NULL, NULL, 0);
}

/* The unit of the one global function of that name; NULL: there is none, or several. */
static struct error *unit_of_global(struct dwarf_image *image, const char *name,
				    struct dwarf_unit **out)
{
	const struct dwarf_symbol *one = NULL, *s;

	*out = NULL;
	TRY(image_need_symbols(image));
	vec_for_each (s, &image->symbols) {
		if (s->data || s->type == STT_NOTYPE || strcmp(s->name, name))
			continue;
		if (s->bind != STB_GLOBAL || (one && one->start != s->start))
			return NULL;
		one = s;
	}
	return one ? unit_by_address(image, one->start - image->bias, out) : NULL;
}

struct counted_instances {
	instance_fn *fn;
	void *ctx;
	size_t n;
	bool elsewhere; /* its abstract function is another unit's */
};

static struct error *count_instance(void *ctx, const struct instance *instance)
{
	struct counted_instances *c = ctx;
	Dwarf_Die origin;

	c->n++;
	die_origin((Dwarf_Die *)&instance->die, &origin);
	c->elsewhere = c->elsewhere || origin.cu != instance->die.cu;
	return c->fn(c->ctx, instance);
}

static struct error *note_instance(void *ctx, const struct instance *instance)
{
	return NULL;
}

struct error *instances_find(struct dwarf_image *image, struct matcher *matcher, bool inlines,
			     instance_fn *fn, void *ctx)
{
	_cleanup_free_ uint8_t *units = NULL;
	struct dwarf_unit *unit = NULL;

	TRY(image_need_units(image));
	if (!matcher->is_glob && !matcher->file && !matcher->qualified)
		TRY(unit_of_global(image, matcher->pattern, &unit));
	if (unit) {
		struct counted_instances look = {.fn = note_instance};

		TRY(instances_in_unit(image, unit, matcher, inlines, count_instance, &look));
		if (look.n && !look.elsewhere)
			return instances_in_unit(image, unit, matcher, inlines, fn, ctx);
	}
	TRY(units_with_name(image, matcher->pattern, matcher->is_glob, &units));
	for (size_t i = 0; i < image->units.n; i++) {
		if (units[i])
			TRY(instances_in_unit(image, &image->units.v[i], matcher, inlines, fn,
					      ctx));
	}
	return NULL;
}

/* ---- By address ---- */

/* Whether the row of this file and line is before the copy's own code: the call stands on it. */
static bool is_call_line(Dwarf_Die *inlined, uint32_t line)
{
	uint64_t call;

	return line && die_udata(inlined, DW_AT_call_line, &call) && call == line;
}

struct innermost {
	struct dwarf_image *image;
	Dwarf_Addr pc;
	uint32_t line;
	bool within; /* also functions within others: see tag_has_functions() */
	struct instance *out;
	bool found;
	uint64_t deadline; /* of die_next_of_tree() */
};

static struct error *innermost(struct innermost *w, Dwarf_Die *parent, int depth)
{
	Dwarf_Die child;
	bool have;

	if (depth > DEPTH_MAX)
		return die_too_deep(w->image, parent);
	TRY(die_child(w->image, parent, &child, &have));
	while (have) {
		const int tag = dwarf_tag(&child);
		const bool is_code = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
				     tag_is_block(tag);
		bool into = false;

		if (is_code)
			into = (tag != DW_TAG_subprogram || die_has_code(&child)) &&
			       dwarf_haspc(&child, w->pc) > 0;
		if (into && tag == DW_TAG_subprogram) {
			*w->out = (struct instance){.die = child, .function = child};
			w->found = true;
		} else if (into && w->found && tag == DW_TAG_inlined_subroutine) {
			if (is_call_line(&child, w->line))
				return NULL;
			w->out->die = child;
			w->out->inlined = true;
		}
		if (!w->found && (is_code ? w->within : tag_has_functions(tag)))
			into = true;
		if (into) {
			TRY(innermost(w, &child, depth + 1));
			if (w->found)
				return NULL;
		}
		TRY(die_next_of_tree(w->image, &child, depth, w->deadline, &have));
	}
	return NULL;
}

struct error *instance_at(struct dwarf_image *image, struct dwarf_unit *unit, Dwarf_Addr pc,
			  uint32_t line, struct instance *out, bool *found)
{
	struct innermost w = {.image = image, .pc = pc, .line = line, .out = out};
	w.deadline = deadline_of(time_of_walk(image));
	Dwarf_Die root;

	*found = false;
	TRY(unit_root(image, unit, &root));
	TRY(innermost(&w, &root, 0));
	/* Most functions are not within others, and need no look into all. */
	w.within = true;
	if (!w.found)
		TRY(innermost(&w, &root, 0));
	*found = w.found;
	return NULL;
}

Dwarf_Off block_at(struct dwarf_image *image, Dwarf_Die *instance, Dwarf_Addr pc)
{
	Dwarf_Die scope = *instance, child;

	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		bool deeper = false;

		if (dwarf_child(&scope, &child))
			break;
		do {
			if (dwarf_tag(&child) == DW_TAG_lexical_block &&
			    dwarf_haspc(&child, pc) > 0) {
				scope = child;
				deeper = true;
				break;
			}
		} while (!die_sibling(&child));
		if (!deeper)
			break;
	}
	return dwarf_dieoffset(&scope);
}
