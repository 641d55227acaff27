// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf gen: C headers from BPF objects. */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/config.h"
#include "compile/compile_object.h"
#include "gen/gen.h"
#include "lib/base/names.h"
#include "lib/sys/sys.h"

/* More than a compiler reads as one string. */
#define OBJECT_MAX (256 << 20)

enum {
	OPT_CLANG_OPT = 256,
};

struct gen_args {
	const char *words[5]; /* skeleton FILE [name NAME] */
	size_t n_words;
	const char *output;
	const char *clang_opt;
	int verbose;
};

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "Write to FILE instead of standard output"},
	{"clang-opt", OPT_CLANG_OPT, "OPTIONS", 0, "Options for clang, which compiles FILE.c"},
	{"verbose", 'v', NULL, 0, "Be verbose"},
	{NULL},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct gen_args *args = state->input;

	switch (key) {
	case 'o':
		args->output = arg;
		return 0;
	case OPT_CLANG_OPT:
		args->clang_opt = arg;
		return 0;
	case 'v':
		args->verbose++;
		return 0;
	case ARGP_KEY_ARG:
		if (args->n_words == 4)
			argp_error(state, "unexpected argument '%s'", arg);
		args->words[args->n_words++] = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "skeleton FILE [name NAME]\nsubskeleton FILE [name NAME]",
	.doc = "Write a C header that contains a BPF object and declares its maps, programs and "
	       "variables.\vFILE is an object, or a C file, which is compiled.",
};

static const struct {
	const char *name;
	enum gen_kind kind;
} kinds[] = {
	{"skeleton", GEN_SKELETON},
	{"subskeleton", GEN_SUBSKELETON},
};

static struct error *find_kind(const char *word, enum gen_kind *kind)
{
	if (!word)
		return error_usage("what to write is missing");
	struct nearest near = nearest_make(word);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(word, kinds[i].name)) {
			*kind = kinds[i].kind;
			return NULL;
		}
		nearest_offer(&near, kinds[i].name);
	}
	return error_suggest(error_usage("unknown kind '%s'", word), &near);
}

static struct error *check_words(const char *const *words, enum gen_kind *kind)
{
	TRY(error_hint(find_kind(words[0], kind), "perf-bpf gen skeleton FILE"));
	if (!words[1])
		return error_hint(error_usage("gen %s: the file is missing", words[0]),
				  "perf-bpf gen %s FILE", words[0]);
	if (words[2] && (strcmp(words[2], "name") || !words[3]))
		return error_hint(error_usage("unexpected argument '%s'", words[2]),
				  "perf-bpf gen %s FILE name NAME", words[0]);
	return NULL;
}

static struct error *read_object(const struct gen_args *args, const struct log *log,
				 const char *path, struct compiled *out)
{
	struct compile_opts compile = {0};
	_cleanup_config_ struct config *config = NULL;

	if (!compile_is_source(path))
		return sys_read_file(path, OBJECT_MAX, (char **)&out->data, &out->size);
	TRY(config_load_compile(log, args->clang_opt, &config, &compile));
	return compile_object(path, &compile, out);
}

static struct error *write_output(const char *path, const struct strbuf *text)
{
	return path && strcmp(path, "-") ? cmd_write_file(path, text, false) : cmd_print(text);
}

int cmd_gen(int argc, char **argv)
{
	struct gen_args args = {0};
	_cleanup_compiled_ struct compiled object = {0};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_free_ char *own_name = NULL;

	if (cmd_parse(&argp, argc, argv, 0, NULL, &args))
		return 2;
	const struct log log = cmd_log(args.verbose);
	enum gen_kind kind = GEN_SKELETON;
	struct error *err = check_words(args.words, &kind);
	if (err)
		return cmd_fail(err);
	const char *path = args.words[1];
	err = read_object(&args, &log, path, &object);
	if (!err && !args.words[3] && !(own_name = gen_name(path)))
		err = error_nomem();
	const struct gen_input in = {.elf = object.data,
				     .size = object.size,
				     .path = path,
				     .name = args.words[3] ? args.words[3] : own_name,
				     .log = &log};
	if (!err)
		err = gen_header(kind, &in, &text);
	if (!err)
		err = write_output(args.output, &text);
	return err ? cmd_fail(err) : 0;
}
