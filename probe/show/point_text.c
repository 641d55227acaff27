// SPDX-License-Identifier: BSD-2-Clause
/* What the files of this room share: definitions and points as text and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "lib/base/json.h"
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

static void add_key(struct strbuf *out, const char *key)
{
	strbuf_addf(out, ",\"%s\":", key);
}

void probe_json_string(struct strbuf *out, const char *key, const char *s)
{
	if (!s)
		return;
	add_key(out, key);
	json_add_string(out, s, strlen(s));
}

void probe_point_json(const struct probe_point *point, struct strbuf *out)
{
	static const char *const sources[] = {
		[POINT_BTF] = "btf",
		[POINT_DWARF] = "dwarf",
		[POINT_SYMBOLS] = "symbols",
	};

	const char *name = point->shown ? point->shown : point->function;

	strbuf_adds(out, "\"function\":");
	json_add_string(out, name, strlen(name));
	probe_json_string(out, "symbol", point->function);
	strbuf_addf(out, ",\"offset\":%" PRIu64 ",\"return\":%s", point->offset,
		    point->at_return ? "true" : "false");
	probe_json_string(out, "inlined", point->inlined);
	probe_json_string(out, "module", point->module);
	if (point->address) {
		add_key(out, "address");
		json_add_address(out, point->address);
	}
	probe_json_string(out, "file", point->file);
	if (point->file)
		strbuf_addf(out, ",\"line\":%u", point->line);
	probe_json_string(out, "source", sources[point->source]);
}
