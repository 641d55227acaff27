// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf run --list and --source. */
#include "cmd/run_list.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/base/json.h"
#include "lib/base/strbuf.h"
#include "lib/base/util.h"
#include "run/builtin.h"

static int print(struct strbuf *out)
{
	if (strbuf_failed(out))
		return cmd_fail(error_nomem());
	fwrite(strbuf_str(out), 1, out->len, stdout);
	return fflush(stdout) ? cmd_fail(error_errno(errno, "cannot write the output")) : 0;
}

static void add_member(struct strbuf *out, const char *head, const char *text)
{
	strbuf_adds(out, head);
	json_add_string(out, text, strlen(text));
}

int run_list(bool json)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	size_t width = 0;

	for (const struct builtin *b = builtins; b->name; b++)
		width = max_of(width, strlen(b->name));
	for (const struct builtin *b = builtins; b->name; b++) {
		if (json) {
			add_member(&out, "{\"name\":", b->name);
			add_member(&out, ",\"answers\":", b->summary);
			add_member(&out, ",\"needs\":", b->needs);
			strbuf_adds(&out, "}\n");
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
	const struct builtin *builtin;
	struct error *err = builtin_find(name, &builtin);

	if (err)
		return cmd_fail(err);
	strbuf_add(&out, builtin->source, builtin->source_size);
	return print(&out);
}
