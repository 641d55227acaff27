/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results as one page for a browser: everything is in it, and nothing is
 * fetched. The numbers stand in it as JSON (doc/run-json.md), and its scripts
 * (show/html/) draw them.
 *
 * What came from outside is data of that JSON and never markup; the page's
 * policy (Content-Security-Policy) lets a browser run those scripts only, by
 * their hashes.
 */
#ifndef PB_SHOW_HTML_H
#define PB_SHOW_HTML_H

#include "lib/base/strbuf.h"
#include "show/result.h"

/* What stands above the results; NULL: not known. */
struct html_about {
	const char *title;
	const char *command, *host, *kernel, *version;
};

/* The events that came last, as JSON, for the page. All zero at first. */
struct html_events {
	struct strbuf lines;
	size_t n;
};

enum {
	HTML_MAX_EVENTS = 10000, /* so many are kept, up to twice of that in between */
};

/* Keeps events (results->events). */
void html_events_add(struct html_events *events, const struct results *results);
void html_events_deinit(struct html_events *events);

/* The page, which is UTF-8. */
void results_html(const struct results *results, const struct html_about *about,
		  const struct html_events *events, struct strbuf *out);

/* The page's pieces: before the title, behind it, and behind the data; of tools/embed. */
extern const char html_begin[], html_title[], html_data[];

#endif
