// SPDX-License-Identifier: BSD-2-Clause
/*
 * Variables in sight of a place: those of the function or of the inlined copy,
 * of the blocks around the address from the innermost outwards, then those of
 * the unit, then those of other units.
 *
 * An inlined copy's DIEs are copies of the abstract function's; compilers
 * leave out those that nothing is left of, so the abstract ones are looked at
 * too, and named as optimized out.
 */
#include "probe/dwarf/internal.h"
#include "probe/dwarf/walk.h"

void variables_deinit(struct variables *vars)
{
	vec_deinit(vars);
}

static bool is_variable(int tag)
{
	return tag == DW_TAG_formal_parameter || tag == DW_TAG_variable || tag == DW_TAG_constant;
}

static struct error *add(struct variables *out, Dwarf_Die *die, bool is_global, bool absent)
{
	const char *name = die_name(die);

	if (!name)
		return NULL;
	/* A name in an inner block hides the outer one; a definition its declaration. */
	for (size_t i = 0; i < out->n; i++) {
		const char *other = die_name(&out->v[i].die);

		if (!other || strcmp(other, name))
			continue;
		/* The flag of its own: a definition refers to its declaration, which has it. */
		if (absent || (is_global && dwarf_hasattr(die, DW_AT_declaration)))
			return NULL;
		memmove(&out->v[i], &out->v[i + 1], (out->n - i - 1) * sizeof(*out->v));
		out->n--;
		break;
	}
	struct scope_variable *var = vec_push(out);
	if (!var)
		return error_nomem();
	*var = (struct scope_variable){
		.die = *die,
		.is_parameter = dwarf_tag(die) == DW_TAG_formal_parameter,
		.is_global = is_global,
		.absent = absent,
	};
	return NULL;
}

/* The scope's own variables, then those of the blocks that hold pc. */
static struct error *scope_walk(struct context *ctx, Dwarf_Die *scope, struct variables *out,
				int depth)
{
	Dwarf_Die child, inner;
	bool have, deeper = false;

	if (depth > DEPTH_MAX)
		return die_too_deep(ctx->image, scope);
	TRY(die_child(ctx->image, scope, &child, &have));
	while (have) {
		int tag = dwarf_tag(&child);

		if (is_variable(tag)) {
			TRY(add(out, &child, false, false));
		} else if (tag_is_block(tag) && !deeper && dwarf_haspc(&child, ctx->pc) > 0) {
			inner = child;
			deeper = true;
		}
		TRY(die_next(ctx->image, &child, &have));
	}
	return deeper ? scope_walk(ctx, &inner, out, depth + 1) : NULL;
}

/* Parameters and outermost locals that only the abstract function has. */
static struct error *add_absent(struct context *ctx, struct variables *out)
{
	Dwarf_Die origin, child;
	bool have;

	if (!die_ref(&ctx->instance, DW_AT_abstract_origin, &origin))
		return NULL;
	TRY(die_child(ctx->image, &origin, &child, &have));
	while (have) {
		if (is_variable(dwarf_tag(&child)))
			TRY(add(out, &child, false,
				!dwarf_hasattr(&child, DW_AT_const_value) &&
					!dwarf_hasattr(&child, DW_AT_location)));
		TRY(die_next(ctx->image, &child, &have));
	}
	return NULL;
}

struct error *variables_in_scope(struct context *ctx, struct variables *out)
{
	_cleanup_variables_ struct variables vars = {0};

	TRY(scope_walk(ctx, &ctx->instance, &vars, 0));
	TRY(add_absent(ctx, &vars));
	for (int params = 1; params >= 0; params--) {
		for (size_t i = 0; i < vars.n; i++) {
			if (vars.v[i].is_parameter != params)
				continue;
			struct scope_variable *var = vec_push(out);
			if (!var)
				return error_nomem();
			*var = vars.v[i];
		}
	}
	return NULL;
}

/* Without its scopes. */
static const char *last_name(const char *name)
{
	for (const char *s = name; (s = strstr(s, "::")); s += 2)
		name = s + 2;
	return name;
}

/* "Shop::count" is "ns::Shop::count", not "Cart::count". */
static bool is_called(Dwarf_Die *die, const char *wanted)
{
	const char *name = die_name(die), *linkage, *last = last_name(wanted);

	if (name && !strcmp(name, last)) {
		if (last == wanted)
			return true;
		_cleanup_free_ char *shown = function_shown(die);
		for (const char *s = shown; s;) {
			if (!strcmp(s, wanted))
				return true;
			s = strstr(s, "::");
			s = s ? s + 2 : NULL;
		}
		return false;
	}
	linkage = name ? die_linkage_name(die) : NULL;
	return linkage && !strcmp(linkage, wanted);
}

static struct error *unit_walk(struct dwarf_image *image, Dwarf_Die *parent, const char *only,
			       struct variables *out, int depth)
{
	Dwarf_Die child, other;
	bool have;

	if (depth > 16)
		return NULL;
	TRY(die_child(image, parent, &child, &have));
	while (have) {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_variable) {
			if (!only || is_called(&child, only))
				TRY(add(out, &child, true, false));
		} else if (tag == DW_TAG_namespace || tag == DW_TAG_module) {
			TRY(unit_walk(image, &child, only, out, depth + 1));
		} else if (tag == DW_TAG_imported_unit && die_ref(&child, DW_AT_import, &other)) {
			TRY(unit_walk(image, &other, only, out, depth + 1));
		}
		TRY(die_next(image, &child, &have));
	}
	return NULL;
}

struct error *variables_of_unit(struct dwarf_image *image, Dwarf_Die *unit, struct variables *out)
{
	return unit_walk(image, unit, NULL, out, 0);
}

/* The one with a location, else the first. */
static bool best_of(struct variables *vars, struct scope_variable *out)
{
	for (size_t i = 0; i < vars->n; i++) {
		if (dwarf_hasattr_integrate(&vars->v[i].die, DW_AT_location) ||
		    dwarf_hasattr_integrate(&vars->v[i].die, DW_AT_const_value)) {
			*out = vars->v[i];
			return true;
		}
	}
	if (vars->n)
		*out = vars->v[0];
	return vars->n;
}

struct error *local_find(struct context *ctx, const char *name, struct scope_variable *out,
			 bool *found)
{
	_cleanup_variables_ struct variables vars = {0};

	*found = false;
	TRY(variables_in_scope(ctx, &vars));
	for (size_t i = 0; i < vars.n; i++) {
		const char *other = die_name(&vars.v[i].die);

		if (other && !strcmp(other, name)) {
			*out = vars.v[i];
			*found = true;
			break;
		}
	}
	return NULL;
}

struct error *scope_variable_find(struct context *ctx, const char *name, struct scope_variable *out,
				  bool *found)
{
	Dwarf_Die unit;

	TRY(local_find(ctx, name, out, found));
	if (*found)
		return NULL;
	bool have_unit = dwarf_diecu(&ctx->instance, &unit, NULL, NULL);
	return global_find(ctx->image, have_unit ? &unit : NULL, name, out, found);
}

static bool has_place(struct scope_variable *var)
{
	return dwarf_hasattr_integrate(&var->die, DW_AT_location) ||
	       dwarf_hasattr_integrate(&var->die, DW_AT_const_value);
}

/*
 * Of all units: an external variable with a location, else the first static one. It is asked for
 * at each place of a definition, with the same name: the last answer is kept.
 */
static struct error *global_of_all(struct dwarf_image *image, const char *name)
{
	struct known_global *known = &image->global;
	_cleanup_free_ uint8_t *units = NULL;

	if (known->name && !strcmp(known->name, name))
		return NULL;
	free(known->name);
	*known = (struct known_global){0};
	TRY(units_with_name(image, last_name(name), false, &units));
	for (size_t i = 0; i < image->units.n && !known->is_external; i++) {
		_cleanup_variables_ struct variables others = {0};
		struct scope_variable one;
		Dwarf_Die root;

		if (!units[i])
			continue;
		TRY(unit_root(image, &image->units.v[i], &root));
		TRY(unit_walk(image, &root, name, &others, 0));
		if (!best_of(&others, &one) || !dwarf_hasattr_integrate(&one.die, DW_AT_location))
			continue;
		known->is_external = die_flag(&one.die, DW_AT_external);
		if (known->is_external || !known->found)
			known->die = one.die;
		known->found = true;
	}
	known->name = strdup(name);
	return known->name ? NULL : error_nomem();
}

struct error *global_find(struct dwarf_image *image, Dwarf_Die *unit, const char *name,
			  struct scope_variable *out, bool *found)
{
	struct scope_variable declared = {0};
	bool have_declared = false;

	*found = false;
	if (unit) {
		_cleanup_variables_ struct variables globals = {0};

		TRY(unit_walk(image, unit, name, &globals, 0));
		have_declared = best_of(&globals, &declared);
		if (have_declared && has_place(&declared)) {
			*out = declared;
			*found = true;
			return NULL;
		}
	}
	TRY(global_of_all(image, name));
	const struct known_global *known = &image->global;
	/* Another unit's static variable is not in sight, unless it is all there is. */
	if (known->is_external || (known->found && !have_declared)) {
		*out = (struct scope_variable){.die = known->die, .is_global = true};
		*found = true;
	} else if (have_declared) {
		*out = declared;
		*found = true;
	}
	return NULL;
}
