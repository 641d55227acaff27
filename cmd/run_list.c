// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf run --list and --source. */
#include "cmd/run_list.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/typed_programs.h"
#include "lib/base/json_writer.h"
#include "lib/base/strbuf.h"
#include "lib/base/util.h"
#include "work/builtin.h"

static int print(struct strbuf *out)
{
	struct error *err = cmd_print(out);

	return err ? cmd_fail(err) : 0;
}

static void add_json(const struct builtin *b, struct strbuf *out)
{
	struct json_writer w = json_writer_make(out);

	jw_object(&w, NULL);
	jw_text(&w, "name", b->name);
	jw_text(&w, "answers", b->summary);
	jw_text(&w, "needs", b->needs);
	jw_end(&w);
	json_writer_finish(&w);
	strbuf_addch(out, '\n');
}

int run_list(bool json)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	size_t width = 0;

	for (const struct builtin *b = builtins; b->name; b++)
		width = max_of(width, strlen(b->name));
	for (const struct builtin *b = builtins; b->name; b++) {
		if (json) {
			add_json(b, &out);
		} else {
			strbuf_addf(&out, "%-*s  %s\n%*s  needs %s\n", (int)width, b->name,
				    b->summary, (int)width, "", b->needs);
		}
	}
	return print(&out);
}

int run_source(const char *name)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_free_ char *source = NULL;
	const struct builtin *builtin;
	bool is_program;
	struct error *err = typed_program_source(name, &source, &is_program);

	if (!err && is_program) {
		strbuf_adds(&out, source);
		return print(&out);
	}
	if (!err)
		err = builtin_find(name, &builtin);
	if (err)
		return cmd_fail(err);
	strbuf_add(&out, builtin->source, builtin->source_size);
	return print(&out);
}
