// SPDX-License-Identifier: BSD-2-Clause
/* What a set would do, before anything is loaded. */
#include "probe/attach/internal.h"

struct error *probe_set_plan(const struct probe_set *set, probe_report_fn *fn, void *ctx)
{
	for (size_t k = 0; k < set->progs.n; k++) {
		const struct set_prog *prog = set->progs.v[k];

		for (size_t i = 0; i < prog->points.n; i++) {
			const struct place *place = &prog->places[i];
			const struct probe_report report = {
				.prog = prog->prog,
				.points = &prog->points,
				.point = &prog->points.v[i],
				.way = place->way,
				.refused = place->way == PROBE_WAY_ANY ? place->refused : NULL,
				.instance = place->form,
			};

			TRY(fn(ctx, &report));
		}
	}
	return NULL;
}

struct error *probe_set_each_code(const struct probe_set *set, probe_code_fn *fn, void *ctx)
{
	for (size_t k = 0; k < set->progs.n; k++) {
		const struct set_prog *prog = set->progs.v[k];
		_cleanup_free_ struct fetch_value *values =
			calloc(prog->shape.n + 1, sizeof(*values));

		if (!values)
			return error_nomem();
		for (size_t i = 0; i < prog->forms.n; i++) {
			const struct form *form = &prog->forms.v[i];
			const struct prologue_way way = form_way(prog, form);
			_cleanup_prologue_ struct prologue built = {0};

			place_values(prog, form->point, values);
			TRY(prologue_build(values, prog->shape.n, &way, &prog->shape.prologue,
					   &built));
			const struct probe_code code = {
				.prog = prog->prog,
				.instance = i,
				.way = form->way,
				.insns = built.insns,
				.n = built.n,
			};
			TRY(fn(ctx, &code));
		}
	}
	return NULL;
}

static struct error *event_of(const struct set_prog *prog, const struct probe_point *point,
			      struct attach_event *event)
{
	_cleanup_free_ char *address = NULL;

	if (prog->points.path)
		return attach_event_file(prog->points.path, point->file_offset, point->at_return,
					 event);
	if (!point->address)
		return attach_event_kernel(point->function, point->at_return ? 0 : point->offset,
					   point->at_return, event);
	address = text_format("0x%llx", (unsigned long long)point->address);
	if (!address)
		return error_nomem();
	return attach_event_kernel(address, 0, point->at_return, event);
}

struct error *probe_set_each_event(const struct probe_set *set, probe_event_fn *fn, void *ctx)
{
	for (size_t k = 0; k < set->progs.n; k++) {
		const struct set_prog *prog = set->progs.v[k];
		const struct place *refused = NULL;
		bool any = false;

		for (size_t i = 0; i < prog->points.n; i++) {
			_cleanup_attach_event_ struct attach_event event = {0};
			const struct place *place = &prog->places[i];

			if (place->way == PROBE_WAY_ANY) {
				refused = place;
				continue;
			}
			TRY(event_of(prog, &prog->points.v[i], &event));
			const struct probe_event found = {
				.def = &prog->def,
				.points = &prog->points,
				.prog = prog->prog,
				.form = place->form,
				.event = &event,
			};
			TRY(fn(ctx, &found));
			any = true;
		}
		if (!any)
			return program_error_at(prog->prog,
						error_new(EOPNOTSUPP, "it has no perf event: %s",
							  refused && refused->refused
								  ? refused->refused
								  : "its location is not known"));
	}
	return NULL;
}
