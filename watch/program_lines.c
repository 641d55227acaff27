// SPDX-License-Identifier: BSD-2-Clause
#include "watch/program_lines.h"

#include <bpf/libbpf.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "lib/base/json_writer.h"
#include "lib/base/plain_text.h"

void program_tag_text(const uint8_t tag[BPF_TAG_SIZE], char text[2 * BPF_TAG_SIZE + 1])
{
	text_bytes(text, tag, BPF_TAG_SIZE);
}

const char *program_type_text(uint32_t type, char unknown[TYPE_TEXT_SIZE])
{
	return type_or_number(libbpf_bpf_prog_type_str(type), type, unknown);
}

/* With COMM of 15 bytes 80 columns, but for long names and numbers. */
void program_lines_head(struct strbuf *out)
{
	strbuf_addf(out, "%-12s %-6s %6s %-14s %-15s %6s %s\n", "TIME", "EVENT", "ID", "TYPE",
		    "NAME", "PID", "COMM");
}

/* Text from outside, filled up to a width with blanks. */
static void add_padded(struct strbuf *out, const char *text, size_t width)
{
	const size_t from = out->len;

	plain_adds(out, text);
	while (!strbuf_failed(out) && out->len - from < width)
		strbuf_addch(out, ' ');
}

static void add_time(struct strbuf *out, uint64_t time_ns)
{
	const time_t seconds = (time_t)(time_ns / 1000000000);
	char text[16] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%T", &tm);
	strbuf_addf(out, "%s.%03" PRIu64, text, time_ns % 1000000000 / 1000000);
}

/* What does not fit into the columns, on a line of its own. */
static void add_details(struct strbuf *out, const struct program_event *event)
{
	const struct program_details *d = event->details;
	char tag[2 * BPF_TAG_SIZE + 1];

	program_tag_text(event->tag, tag);
	strbuf_addf(out, "\ttag %s", tag);
	if (!d) {
		if (event->loaded)
			strbuf_adds(out, event->no_right ? "  reading it needs CAP_SYS_ADMIN"
							 : "  unloaded before it could be read");
		strbuf_addch(out, '\n');
		return;
	}
	strbuf_addf(out, "  uid %" PRIu32 "  xlated %" PRIu32 "B", d->uid, d->bytes_xlated);
	if (d->bytes_jited)
		strbuf_addf(out, "  jited %" PRIu32 "B", d->bytes_jited);
	if (d->target) {
		strbuf_adds(out, "  target ");
		plain_adds(out, d->target);
	}
	for (size_t i = 0; i < d->n_maps; i++) {
		strbuf_addf(out, "%s%" PRIu32, i ? "," : "  maps ", d->maps[i].id);
		if (*d->maps[i].name) {
			strbuf_addch(out, '(');
			plain_adds(out, d->maps[i].name);
			strbuf_addch(out, ')');
		}
	}
	strbuf_addch(out, '\n');
}

void program_lines_text(const struct program_event *event, bool not_allowed, struct strbuf *out)
{
	char unknown[TYPE_TEXT_SIZE];

	add_time(out, event->time_ns);
	strbuf_addf(out, " %-6s %6" PRIu32 " %-14s ", event->loaded ? "load" : "unload", event->id,
		    event->details ? program_type_text(event->details->type, unknown) : "?");
	add_padded(out, *event->name ? event->name : "-", 15);
	strbuf_addf(out, " %6d ", (int)event->pid);
	plain_adds(out, *event->comm ? event->comm : "?");
	if (not_allowed)
		strbuf_adds(out, "  NOT ALLOWED");
	strbuf_addch(out, '\n');
	if (event->loaded)
		add_details(out, event);
}

static void add_json_details(struct json_writer *w, const struct program_details *d)
{
	char unknown[TYPE_TEXT_SIZE];

	jw_text(w, "prog_type", program_type_text(d->type, unknown));
	jw_u64(w, "uid", d->uid);
	jw_u64(w, "bytes_xlated", d->bytes_xlated);
	if (d->bytes_jited)
		jw_u64(w, "bytes_jited", d->bytes_jited);
	jw_text_if(w, "target", d->target);
	jw_array(w, "maps");
	for (size_t i = 0; i < d->n_maps; i++) {
		jw_object(w, NULL);
		jw_u64(w, "id", d->maps[i].id);
		jw_text_if(w, "name", *d->maps[i].name ? d->maps[i].name : NULL);
		jw_end(w);
	}
	jw_end(w);
}

void program_lines_json(const struct program_event *event, bool not_allowed, struct strbuf *out)
{
	struct json_writer w = json_writer_make(out);
	char tag[2 * BPF_TAG_SIZE + 1];

	program_tag_text(event->tag, tag);
	jw_object(&w, NULL);
	jw_text(&w, "schema", PROGRAM_LINES_SCHEMA);
	jw_text(&w, "event", event->loaded ? "load" : "unload");
	jw_u64(&w, "time_ns", event->time_ns);
	jw_u64(&w, "id", event->id);
	jw_text(&w, "tag", tag);
	jw_text_if(&w, "name", *event->name ? event->name : NULL);
	jw_i64(&w, "pid", event->pid);
	jw_i64(&w, "tid", event->tid);
	jw_text_if(&w, "comm", *event->comm ? event->comm : NULL);
	jw_bool(&w, "known", event->details);
	if (event->details)
		add_json_details(&w, event->details);
	if (not_allowed)
		jw_bool(&w, "not_allowed", true);
	jw_end(&w);
	json_writer_finish(&w);
	strbuf_addch(out, '\n');
}
