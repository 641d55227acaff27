// SPDX-License-Identifier: BSD-2-Clause
/*
 * A configuration file. It is read or refused as a whole, with the number of a line that is there.
 * What was read does not keep a further section from being read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/config.h"
#include "lib/base/strbuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const keys[] = {
	"llvm.clang-path", "llvm.clang-opt", "llvm.dump-obj", "buildid.dir", "a.b", "trace.a",
};

static void ask(const struct config *cfg)
{
	struct compile_opts opts = {0};
	bool value;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		config_get(cfg, keys[i]);
		error_free(config_get_bool(cfg, keys[i], true, &value));
	}
	error_free(config_compile_opts(cfg, &opts));
	if ((opts.clang_path && !*opts.clang_path) || (opts.clang_opt && !*opts.clang_opt))
		abort();
}

/* "conf:LINE" */
static void check_error(const struct error *err, const char *text)
{
	unsigned line = 0, lines = 1;

	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	if (err->code != EINVAL || !err->where || sscanf(err->where, "conf:%u", &line) != 1 ||
	    !line || line > lines)
		abort();
}

static void go_on(const char *text)
{
	_cleanup_config_ struct config *cfg = config_new();
	_cleanup_strbuf_ struct strbuf more = STRBUF_INIT;

	strbuf_addf(&more, "%s\n[last]\nkey = \"its value\"\n", text);
	if (!cfg || strbuf_failed(&more))
		return;
	if (config_parse(cfg, "conf", strbuf_str(&more)))
		abort();
	const char *value = config_get(cfg, "last.key");
	if (!value || strcmp(value, "its value") != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_config_ struct config *cfg = config_new();
	_cleanup_free_ char *text = malloc(size + 1);

	if (!cfg || !text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0; /* read_file() refuses NULs; here they end the text */
	struct error *err = config_parse(cfg, "conf", text);
	if (err)
		check_error(err, text);
	else
		go_on(text);
	error_free(err);
	ask(cfg);
	return 0;
}
