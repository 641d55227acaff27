// SPDX-License-Identifier: BSD-2-Clause
/*
 * -G: the first cgroup of the list is for the first event, the second one for the second event, as
 * perf-record(1) has it. An empty name leaves out an event, which is recorded everywhere. One name
 * alone is for all events before it, and all names are for one event alone. Lists of several -G
 * continue each other.
 *
 * If all events have the same cgroups in the end, they are those of the recording, which BPF
 * programs also know.
 */
#include <stdlib.h>
#include <string.h>

#include "perf/record/internal.h"

static struct error *set_list(struct event *event, const char *list, size_t n)
{
	free(event->cgroups);
	event->cgroups = strndup(list, n);
	return event->cgroups ? NULL : error_nomem();
}

static struct error *too_many(const char *list)
{
	return error_hint(error_usage("-G %s: there are more cgroups than events before it", list),
			  "each cgroup is for one event: -e EVENT1 -e EVENT2 -G CGROUP1,CGROUP2");
}

struct error *event_cgroups_add(struct recording *rec, const char *list, size_t *n_given)
{
	struct event *event;

	if (!*n_given && !strchr(list, ',')) {
		vec_for_each (event, &rec->events)
			TRY(set_list(event, list, strlen(list)));
		++*n_given;
		return NULL;
	}
	if (!*n_given && rec->events.n == 1) {
		*n_given = 1;
		return set_list(rec->events.v, list, strlen(list));
	}
	for (const char *name = list; name; ++*n_given) {
		const size_t len = strcspn(name, ",");

		if (*n_given >= rec->events.n)
			return too_many(list);
		if (len)
			TRY(set_list(&rec->events.v[*n_given], name, len));
		name = name[len] ? name + len + 1 : NULL;
	}
	return NULL;
}

static bool same_list(const struct event *a, const struct event *b)
{
	return a->cgroups && b->cgroups ? !strcmp(a->cgroups, b->cgroups)
					: !a->cgroups && !b->cgroups;
}

static struct error *check_event(const struct recording *rec, const struct event *event)
{
	const struct event *leader = &rec->events.v[event->leader];

	if (!same_list(event, leader))
		return error_usage("-G: '%s' and '%s' are one group, which has one cgroup",
				   leader->name, event->name);
	if (event->cgroups && (event->kind == EVENT_OUTPUT || event->kind == EVENT_PROBE))
		return error_hint(error_usage("-G: the BPF program of '%s' cannot select the "
					      "cgroups of one event",
					      event->name),
				  "use one -G for all events");
	return NULL;
}

struct error *event_cgroups_end(struct recording *rec)
{
	const struct event *event;
	bool any = false, same = true;

	vec_for_each (event, &rec->events) {
		any |= event->cgroups != NULL;
		same &= same_list(event, rec->events.v);
	}
	if (!any)
		return NULL;
	if (rec->opts.cgroups.cgroups || (!same && cgroup_choice_any(&rec->opts.cgroups)))
		return error_usage("-G for some events cannot be used with --container, --pod, or "
				   "a -G before all events");
	if (same) {
		rec->opts.cgroups.cgroups = rec->events.v->cgroups;
		return NULL;
	}
	vec_for_each (event, &rec->events)
		TRY(check_event(rec, event));
	rec->target.cgroups_by_event = true;
	return NULL;
}
