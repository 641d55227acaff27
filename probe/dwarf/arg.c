// SPDX-License-Identifier: BSD-2-Clause
/*
 * An argument at a place: the location of its base (a variable, a register, a
 * symbol, what is returned), the path from there, the value at its end; and
 * all the variables of a place.
 */
#include "probe/dwarf/dwarf_object.h"

void pb_dwarf_object_deinit(struct dwarf_object *object)
{
	location_deinit(&object->loc);
}

static struct error *no_variable(struct context *ctx, const char *name, const struct probe_arg *arg)
{
	_cleanup_variables_ struct variables vars = {0};
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	struct nearest near = nearest_make(name);
	const char *function = die_name(&ctx->instance);

	TRY(variables_in_scope(ctx, &vars));
	for (size_t i = 0; i < vars.n; i++) {
		const char *other = die_name(&vars.v[i].die);

		if (!other)
			continue;
		nearest_offer(&near, other);
		if (i < 24)
			strbuf_addf(&all, "%s%s", all.len ? ", " : "", other);
		else if (i == 24)
			strbuf_adds(&all, ", ...");
	}
	struct error *err = error_new(ENOENT, "%s has no variable \"%s\" in scope",
				      function ? function : "the function", name);
	if (vars.n)
		err = error_suggest_and(err, &near, "the variables are: %s", strbuf_str(&all));
	else
		err = error_hint(err, "no variables are in scope");
	return error_at_arg(err, arg);
}

static struct error *base_register(struct context *ctx, const struct probe_arg *arg,
				   struct dwarf_object *object)
{
	uint16_t reg, offset;

	if (!regs_by_name(ctx->image->regs, arg->variable, &reg) ||
	    !regs_offset(ctx->image->regs, reg, &offset))
		return error_at_arg(error_new(ENOENT, "unknown register %%%s", arg->variable), arg);
	object->type = (struct type){.is_void = true};
	object->raw = true;
	struct location_part *part = vec_push(&object->loc.parts);
	if (!part)
		return error_nomem();
	part->is = PART_VALUE;
	return insns_add(&part->insns, (struct fetch_insn){.op = FETCH_REG, .reg = reg})
		       ? NULL
		       : error_nomem();
}

/* "@SYMBOL": a global variable, or what stands at a symbol that has no type. */
static struct error *base_symbol(struct context *ctx, const struct probe_arg *arg,
				 struct dwarf_object *object)
{
	struct dwarf_image *image = ctx->image;
	struct nearest near = nearest_make(arg->variable);
	const struct dwarf_symbol *s;
	struct context none = {.image = image};
	struct scope_variable var;
	bool found;

	TRY(global_find(image, NULL, arg->variable, &var, &found));
	if (found) {
		object->type = type_of(&var.die);
		return variable_location(&none, &var.die, &object->loc);
	}
	TRY(image_need_symbols(image));
	vec_for_each (s, &image->symbols) {
		nearest_offer(&near, s->name);
		if (strcmp(s->name, arg->variable))
			continue;
		struct location_part *part = vec_push(&object->loc.parts);
		if (!part)
			return error_nomem();
		part->is = PART_MEMORY;
		object->type = (struct type){.is_void = true};
		object->raw = object->behind = true;
		return insns_add(&part->insns,
				 (struct fetch_insn){.op = FETCH_STATIC, .imm = (int64_t)s->start})
			       ? NULL
			       : error_nomem();
	}
	struct error *err = error_new(ENOENT, "unknown symbol \"%s\"", arg->variable);
	err = error_suggest(err, &near);
	return error_at_arg(err, arg);
}

/* "$argN" */
static struct error *base_param(struct context *ctx, const struct probe_arg *arg,
				struct dwarf_object *object)
{
	_cleanup_variables_ struct variables vars = {0};
	int64_t n = 0;

	TRY(variables_in_scope(ctx, &vars));
	for (size_t i = 0; i < vars.n; i++) {
		if (!vars.v[i].is_parameter || n++ != arg->index)
			continue;
		object->type = type_of(&vars.v[i].die);
		if (vars.v[i].absent)
			return location_block(&object->loc, "optimized out");
		return variable_location(ctx, &vars.v[i].die, &object->loc);
	}
	return error_at_arg(error_new(ENOENT, "the function has %lld parameters", (long long)n),
			    arg);
}

static struct error *base_variable(struct context *ctx, const struct probe_arg *arg,
				   struct dwarf_object *object)
{
	struct scope_variable var, self;
	bool found;

	TRY(scope_variable_find(ctx, arg->variable, &var, &found));
	if (!found) {
		/* A method names its object's members without "this->". */
		struct way way = {.n = 0};

		TRY(local_find(ctx, "this", &self, &found));
		if (!found)
			return no_variable(ctx, arg->variable, arg);
		object->type = type_of(&self.die);
		TRY(self.absent ? location_block(&object->loc, "optimized out")
				: variable_location(ctx, &self.die, &object->loc));
		TRY(object_follow(ctx, object, 0));
		found = false;
		TRY(way_find(ctx, object->type, arg->variable, &way, &found));
		if (!found)
			return no_variable(ctx, arg->variable, arg);
		return object_member(ctx, object, arg, arg->variable);
	}
	object->type = type_of(&var.die);
	if (var.absent)
		return location_block(&object->loc, "optimized out");
	return variable_location(ctx, &var.die, &object->loc);
}

struct error *pb_dwarf_place_arg(struct dwarf_image *image, const struct dwarf_place *place,
				 const struct probe_arg *arg, struct fetch_value *value)
{
	_cleanup_(pb_dwarf_object_deinit) struct dwarf_object object = {0};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_(fetch_value_deinit) struct fetch_value made = {0};
	struct context ctx;

	TRY(place_context(image, place, &ctx));
	object.user = arg->user;
	made.name = strdup(arg->name ? arg->name : arg->variable ? arg->variable : "arg");
	if (!made.name)
		return error_nomem();
	switch (arg->base) {
	case PROBE_REGISTER:
		TRY(base_register(&ctx, arg, &object));
		break;
	case PROBE_SYMBOL:
		TRY(base_symbol(&ctx, arg, &object));
		break;
	case PROBE_PARAM:
		TRY(base_param(&ctx, arg, &object));
		break;
	case PROBE_VARIABLE:
		TRY(base_variable(&ctx, arg, &object));
		break;
	case PROBE_RETVAL:
		if (!place->at_return)
			return error_at_arg(
				error_new(EINVAL, "$retval is available only with %%return"), arg);
		object.type = type_of(&ctx.function);
		if (object.type.is_void)
			return error_at_arg(error_new(ENOENT, "%s returns nothing", place->shown),
					    arg);
		TRY(abi_returned(&ctx, object.type, &object.loc));
		break;
	default:
		return error_at_arg(error_new(EINVAL, "the variable is missing"), arg);
	}
	TRY(object_walk(&ctx, &object, arg));
	if (!object.raw) {
		type_text(object.type, &text);
		made.type = strbuf_steal(&text);
		if (!made.type)
			return error_nomem();
	}
	if (object.loc.obstacle)
		TRY(value_block(&made, object.loc.obstacle));
	if (arg->type == PROBE_TYPE_STRING || arg->type == PROBE_TYPE_USTRING) {
		if (!made.obstacle)
			TRY(value_string(&ctx, &object, arg, &made));
		made.kind = FETCH_STRING;
	} else if (arg->type != PROBE_TYPE_NONE || object.raw) {
		_cleanup_free_ char *why = steal_ptr(made.obstacle);

		TRY(value_typed(&object, arg, &made));
		if (why)
			TRY(value_block(&made, why));
	} else {
		_cleanup_free_ char *why = steal_ptr(made.obstacle);

		TRY(value_natural(&ctx, &object, &made));
		if (why)
			TRY(value_block(&made, why));
	}
	*value = made;
	made = (struct fetch_value){0};
	return NULL;
}

struct error *pb_dwarf_place_variables(struct dwarf_image *image, const struct dwarf_place *place,
				       bool with_globals, pb_dwarf_variable_fn *fn, void *ctx_)
{
	_cleanup_variables_ struct variables vars = {0};
	struct context ctx;
	Dwarf_Die unit;

	TRY(place_context(image, place, &ctx));
	TRY(variables_in_scope(&ctx, &vars));
	size_t n_local = vars.n;
	if (with_globals && dwarf_diecu(&ctx.instance, &unit, NULL, NULL)) {
		_cleanup_variables_ struct variables globals = {0};

		TRY(variables_of_unit(image, &unit, &globals));
		for (size_t i = 0; i < globals.n; i++) {
			struct scope_variable *var = vec_push(&vars);

			if (!var)
				return error_nomem();
			*var = globals.v[i];
		}
	}
	for (size_t i = 0; i < vars.n; i++) {
		_cleanup_(pb_dwarf_object_deinit) struct dwarf_object object = {
			.type = type_of(&vars.v[i].die)};
		_cleanup_(fetch_value_deinit) struct fetch_value value = {0};
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		if (vars.v[i].absent)
			TRY(location_block(&object.loc, "optimized out"));
		else
			TRY(variable_location(&ctx, &vars.v[i].die, &object.loc));
		type_text(object.type, &text);
		if (strbuf_failed(&text))
			return error_nomem();
		TRY(object_through_references(&ctx, &object));
		if (object.loc.obstacle)
			TRY(value_block(&value, object.loc.obstacle));
		else
			TRY(value_natural(&ctx, &object, &value));
		struct dwarf_variable shown = {
			.name = die_name(&vars.v[i].die),
			.type = strbuf_str(&text),
			.obstacle = value.obstacle,
			.is_parameter = vars.v[i].is_parameter,
			.is_global = i >= n_local,
		};
		TRY(fn(ctx_, &shown));
	}
	return NULL;
}
