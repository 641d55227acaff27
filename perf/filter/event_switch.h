/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that switch the selection of samples on and off: those between a sample of one event and
 * a sample of another are selected. The rules are those of perf's --switch-on and --switch-off:
 *
 *	- with an event that switches on, samples before its first are not selected
 *	- while the selection is on, further samples of that event are selected as any other
 *	- without an event that switches on, one that switches off only leaves out its own first
 *	  sample: there is nothing to wait for
 *	- the samples that switch are left out, unless they are asked for
 */
#ifndef PB_PERF_FILTER_EVENT_SWITCH_H
#define PB_PERF_FILTER_EVENT_SWITCH_H

#include "perf/session/session.h"

/* Names are borrowed. */
struct event_switch {
	const char *on_name, *off_name; /* NULL: not given */
	bool shows_both;		/* samples that switch are selected */
	int32_t on, off;		/* the events' indices, if known */
	bool has_on, has_off;		/* known */
	bool is_off;			/* samples are not selected now */
};

static inline bool event_switch_is_given(const struct event_switch *s)
{
	return s->on_name || s->off_name;
}

/* An event of the recording: the first of a name counts. */
void event_switch_learn(struct event_switch *s, const struct session_event *ev);

/* Once all events are known: a name of no event. */
struct error *event_switch_check(const struct event_switch *s, struct session *session);

/* Whether a sample of the event is selected; it may switch. */
bool event_switch_selects(struct event_switch *s, const struct session_event *ev);

#endif
