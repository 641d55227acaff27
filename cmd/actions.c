// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/actions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "lib/base/names.h"
#include "lib/base/plain_text.h"
#include "lib/base/strbuf.h"
#include "lib/sys/bpf_syscall.h"

enum {
	MAX_WORDS = 4096,
};

#define NUMBER_OPTION(digit)                                                                       \
	{                                                                                          \
		NULL, digit, "N", OPTION_ARG_OPTIONAL | OPTION_HIDDEN, NULL, 0                     \
	}

/* -5 is a number, as a key or a value, not the option -5. */
static error_t add_negative(struct action_args *args, int digit, const char *rest)
{
	char **number = vec_push(&args->numbers);
	char **word = number ? vec_push(&args->words) : NULL;

	if (!word)
		return ENOMEM;
	*number = text_format("-%c%s", digit, rest ? rest : "");
	*word = *number;
	return *word ? 0 : ENOMEM;
}

error_t action_args_parse(int key, char *arg, struct argp_state *state)
{
	struct action_args *args = state->input;
	char **word;

	switch (key) {
	case '0' ... '9':
		return add_negative(args, key, arg);
	case 'j':
		args->json = true;
		return 0;
	case 'v':
		args->verbose++;
		return 0;
	case ARGP_KEY_ARG:
		if (args->words.n >= MAX_WORDS)
			argp_error(state, "too many arguments");
		word = vec_push(&args->words);
		if (!word)
			return ENOMEM;
		*word = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

struct error *action_drop_privileges(const struct action_args *args, unsigned access,
				     const char *output)
{
	const struct log log = cmd_log(args->verbose);

	return privileges_of_inspector(access, output, &log);
}

int run_action(const char *command, const struct action *actions, size_t n,
	       struct action_args *args)
{
	const char *name = args->words.n ? args->words.v[0] : "list";
	struct nearest near = nearest_make(name);
	struct error *err;
	int status = 0;
	char **number;
	size_t i;

	args->status = &status;

	for (i = 0; i < n && strcmp(name, actions[i].name); i++)
		nearest_offer(&near, actions[i].name);
	if (i < n) {
		sys_bpf_bump_memlock();
		err = actions[i].access & ACTION_LATER
			      ? NULL
			      : action_drop_privileges(args, actions[i].access, NULL);
		if (!err)
			err = actions[i].run(args, 1);
	} else {
		err = error_usage("%s has no '%s'", command, name);
		err = error_hint(error_suggest(err, &near),
				 "'perf-bpf %s --help' lists what it has", command);
	}
	vec_deinit(&args->words);
	vec_for_each (number, &args->numbers)
		free(*number);
	vec_deinit(&args->numbers);
	return err ? cmd_fail(err) : status;
}

int run_action_command(const struct action_command *command, int argc, char **argv)
{
	static const struct argp_option options[] = {
		ACTION_OPTIONS,	    NUMBER_OPTION('0'), NUMBER_OPTION('1'), NUMBER_OPTION('2'),
		NUMBER_OPTION('3'), NUMBER_OPTION('4'), NUMBER_OPTION('5'), NUMBER_OPTION('6'),
		NUMBER_OPTION('7'), NUMBER_OPTION('8'), NUMBER_OPTION('9'), {NULL},
	};
	const struct argp argp = {
		.options = options,
		.parser = action_args_parse,
		.args_doc = command->args_doc,
		.doc = command->doc,
	};
	struct action_args args = {0};
	int i = 1;

	/* argp moves the words before "--", but not those after it */
	while (i < argc && strcmp(argv[i], "--"))
		i++;
	if (i < argc) {
		args.command = argv + i + 1;
		args.n_command = (size_t)(argc - i - 1);
	}
	if (cmd_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &args))
		return 2;
	return run_action(command->name, command->actions, command->n_actions, &args);
}

struct error *no_more_words(const struct action_args *args, size_t at)
{
	if (at >= args->words.n)
		return NULL;
	return error_usage("unexpected argument '%s'", args->words.v[at]);
}

struct error *open_object(enum kobj_kind kind, const struct action_args *args, size_t *at, int *fd)
{
	size_t used;

	TRY(kobj_find_one(kind, args->words.v + *at, args->words.n - *at, &used, fd));
	*at += used;
	return NULL;
}

struct error *list_objects(enum kobj_kind kind, const struct action_args *args, size_t at,
			   void (*add)(const struct listed *object, struct strbuf *out),
			   const void *ctx)
{
	_cleanup_kobj_ids_ struct kobj_ids ids = {0};
	_cleanup_owners_ struct owners owners = {0};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct json_writer w = json_writer_make(&out);
	size_t used = 0;

	if (at < args->words.n)
		TRY(kobj_find(kind, args->words.v + at, args->words.n - at, &used, &ids));
	else
		TRY(kobj_ids_all(kind, &ids));
	TRY(no_more_words(args, at + used));
	TRY(owners_find(NULL, &owners));
	if (args->json)
		jw_array(&w, NULL);
	for (size_t i = 0; i < ids.n; i++) {
		_cleanup_close_ int fd = kobj_open(kind, ids.v[i]);

		if (fd < 0)
			continue; /* gone meanwhile */
		add(&(struct listed){kind, ids.v[i], fd, args->json ? &w : NULL, &owners, ctx},
		    &out);
	}
	if (args->json) {
		jw_end(&w);
		strbuf_addch(&out, '\n');
	}
	json_writer_finish(&w);
	if (!args->json)
		plain_since(&out, 0,
			    true); /* processes and targets have the names that they chose */
	return cmd_print(&out);
}

void add_pids(const struct listed *object, struct strbuf *out)
{
	size_t n;
	const struct owner *o = owners_of(object->owners, object->kind, object->id, &n);

	for (size_t k = 0; k < n && !object->json; k++)
		strbuf_addf(out, "%s%s(%d)%s", k ? ", " : "\tpids ", o[k].comm, (int)o[k].pid,
			    k + 1 == n ? "\n" : "");
	if (!n || !object->json)
		return;
	jw_array(object->json, "pids");
	for (size_t k = 0; k < n; k++) {
		jw_object(object->json, NULL);
		jw_i64(object->json, "pid", o[k].pid);
		jw_text(object->json, "comm", o[k].comm);
		jw_end(object->json);
	}
	jw_end(object->json);
}
