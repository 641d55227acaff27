// SPDX-License-Identifier: BSD-2-Clause
/*
 * Probe definitions, taken apart. A definition is words between blanks: the first is
 * the probe point, each further one an argument. Every allocation belongs to the
 * definition from the start; one that failed to parse is emptied as a whole.
 */
#include <stdlib.h>

#include "probe/def/internal.h"

static void arg_deinit(struct probe_arg *arg)
{
	free(arg->name);
	free(arg->text);
	free(arg->variable);
	for (size_t i = 0; i < arg->n_steps; i++)
		free(arg->steps[i].name);
	free(arg->steps);
}

void probe_def_deinit(struct probe_def *def)
{
	free(def->text);
	free(def->exec);
	free(def->module);
	free(def->group);
	free(def->event);
	free(def->function);
	free(def->file);
	free(def->pattern);
	for (size_t i = 0; i < def->n_args; i++)
		arg_deinit(&def->args[i]);
	free(def->args);
	*def = (struct probe_def){0};
}

static struct error *parse(struct def_parser *p)
{
	TRY(def_parse_keys(p));
	if (!peek(p))
		return fail(p, p->pos, "expected a function here");
	TRY(def_parse_point(p));
	for (;;) {
		skip_blanks(p);
		if (!peek(p))
			break;
		TRY(def_parse_arg(p));
	}
	return def_name_args(p);
}

struct error *probe_def_parse(const char *text, struct probe_def *def)
{
	struct probe_def new = {.inlines = true};
	struct def_parser p = {.text = text, .def = &new};

	new.text = strdup(text);
	if (!new.text)
		return error_nomem();
	struct error *err = strlen(text) > 1 << 16
				    ? error_new(E2BIG, "the probe definition is larger than 64 KiB")
				    : parse(&p);
	if (err) {
		probe_def_deinit(&new);
		return err;
	}
	*def = new;
	return NULL;
}
