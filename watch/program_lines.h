/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads and unloads of programs as lines: for people, or as JSON (one object a line). */
#ifndef PB_WATCH_PROGRAM_LINES_H
#define PB_WATCH_PROGRAM_LINES_H

#include "lib/base/names.h"
#include "lib/base/strbuf.h"
#include "watch/program_watch.h"

#define PROGRAM_LINES_SCHEMA "perf-bpf-watch/1"

void program_lines_head(struct strbuf *out);
/* not_allowed: the program is not on the user's list. */
void program_lines_text(const struct program_event *event, bool not_allowed, struct strbuf *out);
void program_lines_json(const struct program_event *event, bool not_allowed, struct strbuf *out);

/* The tag as 16 hexadecimal digits and a NUL. */
void program_tag_text(const uint8_t tag[BPF_TAG_SIZE], char text[2 * BPF_TAG_SIZE + 1]);
/* "kprobe"; the number of a type that this version does not know is put into unknown. */
const char *program_type_text(uint32_t type, char unknown[TYPE_TEXT_SIZE]);

#endif
