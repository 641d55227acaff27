// SPDX-License-Identifier: BSD-2-Clause
#include "perf/filter/event_switch.h"

#include <string.h>

#include "lib/base/names.h"

static void learn_one(const char *name, const struct session_event *ev, int32_t *index, bool *known)
{
	if (!name || *known || strcmp(name, ev->name))
		return;
	*index = ev->index;
	*known = true;
}

void event_switch_learn(struct event_switch *s, const struct session_event *ev)
{
	learn_one(s->on_name, ev, &s->on, &s->has_on);
	learn_one(s->off_name, ev, &s->off, &s->has_off);
}

static struct error *unknown_event(const char *option, const char *name, struct session *session)
{
	struct nearest near = nearest_make(name);

	for (size_t i = 0; i < session_n_events(session); i++)
		nearest_offer(&near, session_event(session, i)->name);
	return error_suggest_and(error_usage("%s: unknown event '%s'", option, name), &near,
				 "script -F event lists the events of a recording");
}

struct error *event_switch_check(const struct event_switch *s, struct session *session)
{
	if (s->on_name && !s->has_on)
		return unknown_event("--switch-on", s->on_name, session);
	if (s->off_name && !s->has_off)
		return unknown_event("--switch-off", s->off_name, session);
	return NULL;
}

bool event_switch_selects(struct event_switch *s, const struct session_event *ev)
{
	if (s->on_name && s->is_off) {
		if (!s->has_on || s->on != ev->index)
			return false;
		s->is_off = false;
		return s->shows_both;
	}
	if (s->has_off && !s->is_off && s->off == ev->index) {
		s->is_off = true;
		return s->shows_both;
	}
	return true;
}
