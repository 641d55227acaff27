/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * script --per-event-dump: the text of each event's samples in a file of its own,
 * RECORDING.EVENT.dump. The files get their names when all is written; events of one name share
 * one.
 */
#ifndef PB_CMD_EVENT_DUMPS_H
#define PB_CMD_EVENT_DUMPS_H

#include "lib/base/error.h"
#include "lib/base/hash.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "lib/sys/open_file.h"

struct event_dump {
	char *name; /* of the file, in its directory; '/' of the event's name is '_' */
	char temporary[TEMPORARY_NAME_SIZE];
	dev_t dev; /* of the file that has the name */
	ino_t ino;
	uint64_t bytes, samples;
};

struct event_dumps {
	const char *path; /* of the recording */
	struct output_path out;
	VEC(struct event_dump) dumps;
};

/* likely: any name in the directory of the recording; path, its own, is borrowed. */
struct error *event_dumps_begin(struct event_dumps *dumps, const char *path, const char *likely);
/* Adds text of n samples of an event; also of none, so that the event has a file. */
struct error *event_dumps_write(struct event_dumps *dumps, const char *event,
				const struct strbuf *text, uint64_t n);
/* Puts the files in their places, and adds a line about each to report. */
struct error *event_dumps_end(struct event_dumps *dumps, struct strbuf *report);
/* Removes files that are not in their places. */
void event_dumps_deinit(struct event_dumps *dumps);

#endif
