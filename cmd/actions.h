/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the commands share that look at what is loaded and are made of actions:
 * "perf-bpf map dump ID", "perf-bpf btf list". The words are an action and its
 * arguments; options may stand anywhere between them.
 */
#ifndef PB_CMD_ACTIONS_H
#define PB_CMD_ACTIONS_H

#include <argp.h>

#include "cmd/privileges.h"
#include "inspect/find_object.h"
#include "inspect/owners.h"
#include "lib/base/json_writer.h"
#include "lib/base/names.h"
#include "lib/base/vec.h"

/* A command's options begin with it, when it has more of them. */
struct action_args {
	bool json;
	int verbose;
	VEC(char *) words;   /* the first is the action's name; none: "list" */
	VEC(char *) numbers; /* those of the words that were read as options, such as "-5" */
	/* What follows "--", which are the last words also; it ends with NULL. */
	char *const *command;
	size_t n_command;
	int *status; /* the exit status of an action that succeeds */
};

/* The first options of every such command. */
#define ACTION_OPTIONS                                                                             \
	{"json", 'j', NULL, 0, "Print JSON", 0},                                                   \
	{                                                                                          \
		"verbose", 'v', NULL, 0, "Be verbose (-vv for debugging)", 0                       \
	}

/* argp's parser of the words and ACTION_OPTIONS; state->input begins with struct action_args. */
error_t action_args_parse(int key, char *arg, struct argp_state *state);

struct action {
	const char *name;
	/* The action's arguments begin at args->words.v[at]. */
	struct error *(*run)(const struct action_args *args, size_t at);
	/* What it keeps the privileges for, before it runs: enum inspect_access, or ACTION_LATER.
	 */
	unsigned access;
};

enum {
	ACTION_LATER = 1 << 31, /* it calls action_drop_privileges(), or another of that kind */
};

/* See privileges_of_inspector(). */
struct error *action_drop_privileges(const struct action_args *args, unsigned access,
				     const char *output);

/* Runs the action that the words name, says what failed, frees the words; the exit status. */
int run_action(const char *command, const struct action *actions, size_t n,
	       struct action_args *args);

/* A command of actions without other options than ACTION_OPTIONS. */
struct action_command {
	const char *name, *args_doc, *doc; /* the last two as argp has them */
	const struct action *actions;
	size_t n_actions;
};

int run_action_command(const struct action_command *command, int argc, char **argv);

/* An error of usage when there are words from at on. */
struct error *no_more_words(const struct action_args *args, size_t at);

/* The object that the words name, opened; *at moves behind them. */
struct error *open_object(enum kobj_kind kind, const struct action_args *args, size_t *at, int *fd);

/* One object of a list. */
struct listed {
	enum kobj_kind kind;
	uint32_t id;
	int fd;
	struct json_writer *json; /* NULL: as text */
	const struct owners *owners;
	const void *ctx;
};

/*
 * Prints those objects of a kind that the words name, or all; with --json as
 * an array. add adds one of them, to object->json or as text to out, or nothing if the
 * object is gone meanwhile; ctx is for it.
 */
struct error *list_objects(enum kobj_kind kind, const struct action_args *args, size_t at,
			   void (*add)(const struct listed *object, struct strbuf *out),
			   const void *ctx);

/* Adds the processes that hold the object, if there are any: "\tpids dd(17), cat(18)\n" or
 * "pids":[…] */
void add_pids(const struct listed *object, struct strbuf *out);

#endif
