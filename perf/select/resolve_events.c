// SPDX-License-Identifier: BSD-2-Clause
/*
 * From a parsed list to attrs: the numbers of tracepoints come from tracefs,
 * a PMU's type, terms and named events from sysfs
 * (Documentation/ABI/testing/sysfs-bus-event_source-devices-{events,format}).
 *
 * Modifiers follow perf: the first of u, k, h excludes all levels before it
 * lets its own in again, and guests are excluded unless asked for.
 */
#include "perf/select/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/names.h"
#include "lib/base/strbuf.h"
#include "lib/sys/tracefs.h"

struct events_resolver {
	const struct sys_roots *roots;
	const struct select_list *list;
	struct selection *out;
};

static void event_deinit(struct select_event *event)
{
	struct select_term *term;

	free(event->name);
	free(event->system);
	free(event->tracepoint);
	free(event->object);
	free(event->probe);
	free(event->prog.path);
	vec_for_each (term, &event->terms) {
		free(term->name);
		free(term->value);
	}
	vec_deinit(&event->terms);
}

void selection_deinit(struct selection *selection)
{
	struct select_event *event;

	vec_for_each (event, &selection->events)
		event_deinit(event);
	vec_deinit(&selection->events);
}

static struct error *dup_to(const char *from, char **to)
{
	char *s = strdup(from);

	if (!s)
		return error_nomem();
	free(*to);
	*to = s;
	return NULL;
}

static void apply_modifiers(const struct select_modifiers *m, struct perf_event_attr *attr)
{
	if (m->given_levels) {
		attr->exclude_user = !m->user;
		attr->exclude_kernel = !m->kernel;
		attr->exclude_hv = !m->hv;
	}
	attr->exclude_guest = !m->guest;
	attr->exclude_host = m->given_hosts && !m->host;
	attr->exclude_idle = m->idle_excluded;
	attr->precise_ip = m->precise;
	attr->pinned = m->pinned;
	attr->exclusive = m->exclusive;
}

static struct error *bad_term(const struct events_resolver *r, const struct select_term *term,
			      const char *why)
{
	return select_error(r->list->text, term->pos, "%s: %s", term->name, why);
}

static struct error *term_u64(const struct events_resolver *r, const struct select_term *term,
			      uint64_t *value)
{
	char *end;

	if (!term->value)
		return bad_term(r, term, "a value is missing");
	errno = 0;
	*value = strtoull(term->value, &end, 0);
	if (errno || *end || term->value[0] == '-')
		return bad_term(r, term, "the value is not a number");
	return NULL;
}

static const char *const common_terms[] = {"config",	 "config1",	"config2",   "config3",
					   "name",	 "period",	"freq",	     "call-graph",
					   "no-inherit", "inherit",	"max-stack", "stack-size",
					   "overwrite",	 "no-overwrite"};

/* The terms that every event takes. *known: it was one of them. */
static struct error *common_term(const struct events_resolver *r, const struct select_term *term,
				 struct select_event *event, bool *known)
{
	struct perf_event_attr *attr = &event->attr;
	uint64_t v;

	*known = true;
	if (!strcmp(term->name, "config")) {
		TRY(term_u64(r, term, &v));
		attr->config = v;
	} else if (!strcmp(term->name, "config1")) {
		TRY(term_u64(r, term, &v));
		attr->config1 = v;
	} else if (!strcmp(term->name, "config2")) {
		TRY(term_u64(r, term, &v));
		attr->config2 = v;
	} else if (!strcmp(term->name, "name")) {
		if (!term->value)
			return bad_term(r, term, "a value is missing");
		TRY(dup_to(term->value, &event->name));
	} else if (!strcmp(term->name, "period")) {
		TRY(term_u64(r, term, &v));
		if (!v)
			return bad_term(r, term, "a period is at least 1");
		attr->sample_period = v;
		event->has_period = true;
	} else if (!strcmp(term->name, "freq")) {
		TRY(term_u64(r, term, &v));
		if (!v)
			return bad_term(r, term, "a frequency is at least 1");
		attr->sample_freq = v;
		attr->freq = 1;
		event->has_freq = true;
	} else if (!strcmp(term->name, "call-graph")) {
		if (!term->value)
			return bad_term(r, term, "a value is missing");
		if (!strcmp(term->value, "no"))
			event->callgraph = SELECT_CALLGRAPH_NO;
		else if (!strcmp(term->value, "fp"))
			event->callgraph = SELECT_CALLGRAPH_FP;
		else if (!strcmp(term->value, "lbr"))
			event->callgraph = SELECT_CALLGRAPH_LBR;
		else if (!strcmp(term->value, "dwarf"))
			event->callgraph = SELECT_CALLGRAPH_DWARF;
		else
			return bad_term(r, term, "the value must be fp, lbr, dwarf or no");
	} else if (!strcmp(term->name, "stack-size")) {
		TRY(term_u64(r, term, &v));
		if (!v || v > SELECT_STACK_MAX)
			return bad_term(r, term, "the value must be between 1 and 65528");
		event->stack_size = (uint32_t)round_up(v, 8);
	} else if (!strcmp(term->name, "no-inherit")) {
		event->inherit = 0;
	} else if (!strcmp(term->name, "inherit")) {
		event->inherit = 1;
	} else if (!strcmp(term->name, "overwrite")) {
		event->overwrite = 1;
	} else if (!strcmp(term->name, "no-overwrite")) {
		event->overwrite = 0;
	} else if (!strcmp(term->name, "max-stack")) {
		TRY(term_u64(r, term, &v));
		if (!v || v > UINT16_MAX)
			return bad_term(r, term, "the value must be between 1 and 65535");
		event->max_stack = v;
	} else {
		*known = false;
	}
	return NULL;
}

static struct error *unknown_term(const struct events_resolver *r, const struct select_term *term)
{
	struct nearest near = nearest_make(term->name);

	for (size_t i = 0; i < ARRAY_SIZE(common_terms); i++)
		nearest_offer(&near, common_terms[i]);
	struct error *err = bad_term(r, term, "unknown term");
	return error_suggest(err, &near);
}

static struct error *common_terms_of(const struct events_resolver *r,
				     const struct select_item *item, struct select_event *event)
{
	const struct select_term *term;
	bool known;

	vec_for_each (term, &item->terms) {
		TRY(common_term(r, term, event, &known));
		if (!known)
			return unknown_term(r, term);
	}
	if (event->has_period && event->has_freq)
		return select_error(r->list->text, item->pos,
				    "period and freq cannot be used together");
	return NULL;
}

/* Sets the PMU's field of that name. */
static struct error *pmu_term(const struct events_resolver *r, const char *pmu,
			      const struct select_term *term, struct select_event *event)
{
	struct sys_pmu_field field;
	uint64_t value = 1;

	struct error *err = sys_pmu_field(r->roots, pmu, term->name, &field);
	if (err) {
		_cleanup_error_ struct error *inner = err;

		return error_hint(select_error(r->list->text, term->pos, "%s", inner->msg), "%s",
				  inner->hint ? inner->hint
					      : "see the format directory of the PMU in sysfs");
	}
	if (term->value)
		TRY(term_u64(r, term, &value));
	if (!sys_pmu_field_set(&field, &event->attr, value))
		return bad_term(r, term, "the value does not fit into the field");
	return NULL;
}

/* The terms that events/NAME of the PMU stands for. */
static struct error *pmu_alias(const struct events_resolver *r, const char *pmu,
			       const struct select_term *term, struct select_event *event)
{
	_cleanup_free_ char *text = NULL;

	TRY(sys_pmu_event(r->roots, pmu, term->name, &text));
	_cleanup_strbuf_ struct strbuf full = STRBUF_INIT;
	strbuf_addf(&full, "%s/%s", pmu, text);
	full.len -= full.len && full.str[full.len - 1] == '\n';
	strbuf_addch(&full, '/');
	if (strbuf_failed(&full))
		return error_nomem();
	struct select_list list = {0};
	TRY(select_parse(strbuf_str(&full), &list));
	struct events_resolver inner = {r->roots, &list, NULL};
	struct error *err = NULL;
	const struct select_term *t;
	vec_for_each (t, &list.items.v[0].terms) {
		bool known;

		err = common_term(&inner, t, event, &known);
		if (!err && !known)
			err = pmu_term(&inner, pmu, t, event);
		if (err)
			break;
	}
	select_list_deinit(&list);
	return err;
}

static struct error *resolve_pmu(const struct events_resolver *r, const struct select_item *item,
				 struct select_event *event)
{
	const struct select_term *term;
	bool known;

	struct error *err = sys_pmu_type(r->roots, item->name, &event->attr.type);
	if (err) {
		_cleanup_error_ struct error *inner = err;

		err = select_error(r->list->text, item->pos, "%s", inner->msg);
		return inner->hint ? error_hint(err, "%s", inner->hint) : err;
	}
	vec_for_each (term, &item->terms) {
		TRY(common_term(r, term, event, &known));
		if (known)
			continue;
		if (!term->value) {
			_cleanup_error_ struct error *none = NULL;

			none = pmu_alias(r, item->name, term, event);
			if (!none)
				continue;
			if (none->code != ENOENT)
				return steal_ptr(none);
		}
		TRY(pmu_term(r, item->name, term, event));
	}
	return NULL;
}

static void offer_name(void *ctx, const char *name)
{
	struct names *all = ctx;

	names_add(all, name);
}

/* An event of a PMU by its bare name ("mem-loads"), or no event at all. */
static struct error *resolve_bare(const struct events_resolver *r, const struct select_item *item,
				  struct select_event *event)
{
	_cleanup_names_ struct names pmus = {0}, all = {0};

	error_free(sys_pmu_list(r->roots, &pmus));
	for (size_t i = 0; i < pmus.n; i++) {
		struct select_term term = {.name = item->name, .pos = item->pos};
		struct error *err = sys_pmu_type(r->roots, pmus.v[i], &event->attr.type);

		if (!err)
			err = pmu_alias(r, pmus.v[i], &term, event);
		if (!err)
			return common_terms_of(r, item, event);
		bool next = err->code == ENOENT;
		if (!next)
			return err;
		error_free(err);
	}
	struct error *err =
		select_error(r->list->text, item->pos, "unknown event '%s'", item->name);
	err->code = ENOENT;
	select_names_each(offer_name, &all);
	struct nearest near = nearest_make(item->name);
	for (size_t i = 0; i < all.n; i++)
		nearest_offer(&near, all.v[i]);
	return error_hint(error_suggest(err, &near),
			  "a tracepoint is SYSTEM:NAME; 'perf-bpf list' lists the events");
}

/* A new event that takes from the item what all kinds have in common. */
static struct error *event_add(const struct events_resolver *r, const struct select_item *item,
			       const char *name, struct select_event **out)
{
	struct select_event *event = vec_push(&r->out->events);

	if (!event)
		return error_nomem();
	event->attr.size = sizeof(event->attr);
	event->inherit = -1;
	event->overwrite = -1;
	event->pos = item->pos;
	event->group = item->group < 0 ? -1 : r->out->n_groups + item->group;
	event->precise_max = item->modifiers.precise_max;
	event->sample_read = item->modifiers.sample_read;
	event->weak = item->modifiers.weak;
	event->prog = item->prog;
	event->prog.path = NULL;
	if (item->prog.path)
		TRY(dup_to(item->prog.path, &event->prog.path));
	TRY(dup_to(name, &event->name));
	apply_modifiers(&item->modifiers, &event->attr);
	*out = event;
	return NULL;
}

static struct error *tracepoint_add(const struct events_resolver *r, const struct select_item *item,
				    const char *system, const char *name)
{
	_cleanup_strbuf_ struct strbuf full = STRBUF_INIT;
	struct select_event *event;
	uint64_t id;

	struct error *err = sys_tracepoint_id(r->roots, system, name, &id);
	if (err && err->code == ENOENT) {
		_cleanup_error_ struct error *inner = err;

		err = select_error(r->list->text, item->pos, "unknown tracepoint");
		err->code = ENOENT;
		return inner->hint ? error_hint(err, "%s", inner->hint) : err;
	}
	if (err)
		return err;
	/* "sys:name" and the modifiers as they were written. */
	const char *mods = strchr(item->text, ':');
	mods = mods ? strchr(mods + 1, ':') : NULL;
	strbuf_addf(&full, "%s:%s%s", system, name, mods ? mods : "");
	if (strbuf_failed(&full))
		return error_nomem();
	TRY(event_add(r, item, strbuf_str(&full), &event));
	TRY(dup_to(system, &event->system));
	TRY(dup_to(name, &event->tracepoint));
	event->attr.type = PERF_TYPE_TRACEPOINT;
	event->attr.config = id;
	return common_terms_of(r, item, event);
}

static struct error *resolve_probe(const struct events_resolver *r, const struct select_item *item)
{
	struct select_event *event;

	if (item->group >= 0)
		return select_error(r->list->text, item->pos, "a probe cannot be in a group");
	TRY(event_add(r, item, item->text, &event));
	return dup_to(item->name, &event->probe);
}

static struct error *resolve_tracepoint(const struct events_resolver *r,
					const struct select_item *item)
{
	_cleanup_names_ struct names found = {0};

	if (!glob_is_pattern(item->system) && !glob_is_pattern(item->name))
		return tracepoint_add(r, item, item->system, item->name);
	struct error *err = sys_tracepoint_match(r->roots, item->system, item->name, &found);
	if (err && err->code == ENOENT) {
		_cleanup_error_ struct error *inner = err;

		err = select_error(r->list->text, item->pos, "no tracepoint matches");
		err->code = ENOENT;
		return inner->hint ? error_hint(err, "%s", inner->hint) : err;
	}
	if (err)
		return err;
	for (size_t i = 0; i < found.n; i++) {
		char *name = strchr(found.v[i], ':');

		*name++ = 0;
		TRY(tracepoint_add(r, item, found.v[i], name));
	}
	return NULL;
}

static struct error *resolve_object(const struct events_resolver *r, const struct select_item *item)
{
	struct select_event *event;
	const struct select_term *term;

	TRY(event_add(r, item, item->text, &event));
	TRY(dup_to(item->name, &event->object));
	vec_for_each (term, &item->terms) {
		struct select_term *copy = vec_push(&event->terms);

		if (!copy)
			return error_nomem();
		copy->pos = term->pos;
		TRY(dup_to(term->name, &copy->name));
		if (term->value)
			TRY(dup_to(term->value, &copy->value));
	}
	return NULL;
}

static struct error *resolve_item(const struct events_resolver *r, const struct select_item *item)
{
	struct select_event *event;

	if (item->kind == SELECT_PROBE)
		return resolve_probe(r, item);
	if (item->kind == SELECT_TRACEPOINT) {
		size_t before = r->out->events.n;
		struct error *err = resolve_tracepoint(r, item);

		/* "probe:vfs_read" is a definition, too. */
		if (!err || strcmp(item->system, "probe") || before != r->out->events.n ||
		    item->terms.n || item->prog.kind != SELECT_PROG_NONE)
			return err;
		error_free(err);
		return resolve_probe(r, item);
	}
	if (item->kind == SELECT_OBJECT)
		return resolve_object(r, item);
	TRY(event_add(r, item, item->text, &event));
	if (item->kind == SELECT_PMU)
		return resolve_pmu(r, item, event);
	if (item->kind == SELECT_RAW) {
		event->attr.type = PERF_TYPE_RAW;
		event->attr.config = item->raw;
	} else {
		uint32_t type;
		uint64_t config;

		if (!select_name_find(item->name, &type, &config))
			return resolve_bare(r, item, event);
		event->attr.type = type;
		event->attr.config = config;
	}
	return common_terms_of(r, item, event);
}

struct error *select_events(const struct sys_roots *roots, const char *text,
			    struct selection *selection)
{
	_cleanup_(select_list_deinit) struct select_list list = {0};
	struct events_resolver r = {roots, &list, selection};
	const struct select_item *item;
	size_t before = selection->events.n;

	TRY(select_parse(text, &list));
	vec_for_each (item, &list.items) {
		struct error *err = resolve_item(&r, item);

		if (!err)
			continue;
		while (selection->events.n > before)
			event_deinit(&selection->events.v[--selection->events.n]);
		return err;
	}
	selection->n_groups += list.n_groups;
	return NULL;
}
