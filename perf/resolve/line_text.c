// SPDX-License-Identifier: BSD-2-Clause
#include "perf/resolve/line_text.h"

bool line_find(struct resolver *r, const struct location *at, const struct inline_frame *frame,
	       const char **file, uint32_t *line)
{
	if (!frame)
		return resolve_line(r, at, false, file, line);
	*file = frame->file;
	*line = frame->line;
	return frame->file;
}

void line_text(struct resolver *r, const struct location *at, const struct inline_frame *frame,
	       bool full_paths, struct strbuf *out)
{
	const char *file;
	uint32_t line;

	if (line_find(r, at, frame, &file, &line)) {
		strbuf_adds(out, full_paths ? file : last_component(file));
		strbuf_addch(out, ':');
		strbuf_add_u64(out, line);
	} else if (!at->map || resolver_has_lines(r, at)) {
		strbuf_adds(out, "??:0");
	} else if (at->sym) {
		strbuf_adds(out, at->sym->name);
		strbuf_addch(out, '+');
		strbuf_add_u64(out, at->offset);
	} else {
		strbuf_adds(out, at->map->dso->short_name);
		strbuf_addch(out, '[');
		strbuf_add_hex(out, location_elf_address(at));
		strbuf_addch(out, ']');
	}
}

void line_text_file(struct resolver *r, const struct location *at, const struct inline_frame *frame,
		    bool full_paths, struct strbuf *out)
{
	const char *file;
	uint32_t line;

	if (line_find(r, at, frame, &file, &line))
		strbuf_adds(out, full_paths ? file : last_component(file));
}
