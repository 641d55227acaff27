// SPDX-License-Identifier: BSD-2-Clause
/* What the files of this room share: definitions and points as text and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "probe/show/show.h"

struct error *probe_whole_definition(const struct probe_view *view, const char *text, char **out)
{
	const char *inlines = view->no_inlines ? "inlines=no;" : "";

	if (view->exec) {
		/* A path is quoted, so that it may hold anything but that quote. */
		const char *quote = !strpbrk(view->exec, " ;=@\\\"'") ? ""
				    : strchr(view->exec, '"')	      ? "'"
								      : "\"";

		*out = text_format("exec=%s%s%s;%s%s", quote, view->exec, quote, inlines, text);
	} else if (view->module) {
		*out = text_format("module=%s;%s%s", view->module, inlines, text);
	} else {
		*out = text_format("%s%s", inlines, text);
	}
	return *out ? NULL : error_nomem();
}

/* Within the shell's '...'. */
static void add_quoted(struct strbuf *out, const char *text)
{
	for (; *text; text++)
		if (*text == '\'')
			strbuf_adds(out, "'\\''");
		else
			strbuf_addch(out, *text);
}

struct error *probe_show_command(const struct probe_view *view, const char *text,
				 struct strbuf *out)
{
	_cleanup_free_ char *whole = NULL;

	TRY(probe_whole_definition(view, text, &whole));
	strbuf_adds(out, "\nYou can record it by:\n\n\tperf-bpf record -e 'probe:");
	add_quoted(out, whole);
	strbuf_adds(out, "' -a sleep 1\n\n");
	return NULL;
}

void probe_point_text(const struct probe_point *point, struct strbuf *out)
{
	strbuf_adds(out, point->shown ? point->shown : point->function);
	if (point->at_return)
		strbuf_adds(out, "%return");
	else
		strbuf_addf(out, "+%" PRIu64, point->offset);
	if (point->inlined)
		strbuf_addf(out, ", a copy of %s", point->inlined);
}

void probe_point_json(const struct probe_point *point, struct json_writer *w)
{
	static const char *const sources[] = {
		[POINT_BTF] = "btf",
		[POINT_DWARF] = "dwarf",
		[POINT_SYMBOLS] = "symbols",
	};

	jw_text(w, "function", point->shown ? point->shown : point->function);
	jw_text_if(w, "symbol", point->function);
	jw_u64(w, "offset", point->offset);
	jw_bool(w, "return", point->at_return);
	jw_text_if(w, "inlined", point->inlined);
	jw_text_if(w, "module", point->module);
	if (point->address)
		jw_address(w, "address", point->address);
	jw_text_if(w, "file", point->file);
	if (point->file)
		jw_u64(w, "line", point->line);
	jw_text_if(w, "source", sources[point->source]);
}
