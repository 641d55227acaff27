// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf approve: what root allows other users to run, through the service (perf-bpf delegate).
 */
#include <argp.h>
#include <bpf/libbpf.h>
#include <ctype.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/config.h"
#include "cmd/options.h"
#include "delegate/approval_store.h"
#include "lib/base/json_writer.h"
#include "lib/object/object.h"
#include "run/run_variables.h"
#include "trace/source.h"
#include "work/bpf_file.h"
#include "work/program_filter.h"

enum {
	OPT_FOR = 256,
	OPT_TARGET,
	OPT_COMMAND,
	OPT_MAX_OVERHEAD,
	OPT_MAX_DURATION,
	OPT_SET,
	OPT_LIST,
	OPT_REVOKE,
	OPT_STORE,
	OPT_CLANG_OPT,
};

struct approve_args {
	struct approval approval; /* its sets are borrowed from argv until it is stored */
	const char *program, *who, *revoke, *store, *clang_opt;
	bool has_command, list, json;
	int verbose;
};

static const struct argp_option options[] = {
	{"for", OPT_FOR, "WHO", 0, "Approve for this user or group: NAME, user:NAME or group:NAME",
	 0},
	{"target", OPT_TARGET, "TARGET", 0,
	 "Processes that the program can see: own (default), cgroup or all", 0},
	{"command", OPT_COMMAND, "COMMAND", 0,
	 "Command that can use the program: run (default) or record", 0},
	{"max-overhead", OPT_MAX_OVERHEAD, "PERCENT", 0,
	 "End it if a program uses more than PERCENT of all CPUs' time (default 2%)", 0},
	{"max-duration", OPT_MAX_DURATION, "TIME", 0, "End it after TIME (default 10m)", 0},
	{"set", OPT_SET, "NAME=VALUE", 0, "Set a global variable of the program; can be repeated",
	 0},
	{"clang-opt", OPT_CLANG_OPT, "OPTIONS", 0, "Options for clang, which compiles FILE.c", 0},
	{"list", OPT_LIST, NULL, 0, "List the approvals", 0},
	{"revoke", OPT_REVOKE, "ID", 0, "Remove an approval", 0},
	{"store", OPT_STORE, "DIR", 0, "Directory of approvals (default " APPROVAL_STORE ")", 0},
	{"json", 'j', NULL, 0, "With --list: print JSON", 0},
	{"verbose", 'v', NULL, 0, "Be verbose (-vv for debugging)", 0},
	{0},
};

static const struct option_member members[] = {
	OPTION_SETS(OPT_FOR, struct approve_args, who),
	OPTION_SETS(OPT_REVOKE, struct approve_args, revoke),
	OPTION_SETS(OPT_STORE, struct approve_args, store),
	OPTION_SETS(OPT_CLANG_OPT, struct approve_args, clang_opt),
	OPTION_SETS(OPT_LIST, struct approve_args, list),
	OPTION_SETS('j', struct approve_args, json),
	OPTION_SETS('v', struct approve_args, verbose),
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct approve_args *args = state->input;

	switch (key) {
	case OPT_TARGET:
		if (!approval_target_parse(arg, &args->approval.target))
			argp_error(state, "--target %s: expected own, cgroup or all", arg);
		return 0;
	case OPT_COMMAND:
		if (!delegate_command_parse(arg, &args->approval.command))
			argp_error(state, "--command %s: expected run, record or trace", arg);
		args->has_command = true;
		return 0;
	case OPT_MAX_OVERHEAD:
		option_percent(state, "--max-overhead", arg, &args->approval.max_share);
		return 0;
	case OPT_MAX_DURATION:
		option_time(state, "--max-duration", arg, &args->approval.max_ms);
		return 0;
	case OPT_SET: {
		char **slot = vec_push(&args->approval.sets);

		if (strchr(arg, '\n'))
			argp_error(state, "--set: the value contains a line break");
		if (!slot || !(*slot = strdup(arg)))
			argp_failure(state, 1, ENOMEM, "options");
		return 0;
	}
	case ARGP_KEY_ARG:
		if (args->program)
			argp_error(state, "'%s': one program is approved at a time", arg);
		args->program = arg;
		return 0;
	default:
		return option_set(members, key, arg, args) ? 0 : ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "FILE|NAME|trace --for=WHO\n--list\n--revoke=ID",
	.doc = "Approve a BPF program for a user without privileges, who runs it with 'perf-bpf "
	       "run' "
	       "through the service 'perf-bpf delegate'.\vFILE and NAME are those of 'perf-bpf "
	       "run'; 'trace' is the command 'perf-bpf trace'. "
	       "The approval is for the current content: a changed program is rejected.",
};

/* ---- for whom ---- */

static bool is_number(const char *text)
{
	return *text && strlen(text) < 10 && text[strspn(text, "0123456789")] == '\0';
}

static struct error *find_who(const char *word, struct approval *a)
{
	const bool only_user = !strncmp(word, "user:", 5);
	const bool only_group = !strncmp(word, "group:", 6);
	const char *name = word + (only_user ? 5 : only_group ? 6 : 0);
	const struct passwd *pw = only_group ? NULL : getpwnam(name);
	const struct group *gr = only_user || pw ? NULL : getgrnam(name);

	a->for_group = !pw && (gr || only_group);
	if (pw)
		a->who = pw->pw_uid;
	else if (gr)
		a->who = gr->gr_gid;
	else if (is_number(name))
		a->who = (uint32_t)strtoul(name, NULL, 10);
	else
		return error_usage("--for: there is no %s '%s'",
				   only_user	? "user"
				   : only_group ? "group"
						: "user or group",
				   name);
	return NULL;
}

/* ---- what ---- */

/* Of `record` no map is passed: perf buffers are events of the recording. */
static struct error *check_maps(struct bpf_object *obj, const struct approval *a)
{
	const bool passed = a->command == DELEGATE_RUN;
	struct bpf_map *map;
	size_t n = 0;

	bpf_object__for_each_map (map, obj) {
		const enum bpf_map_type type = bpf_map__type(map);

		if (passed && type == BPF_MAP_TYPE_PERF_EVENT_ARRAY)
			return error_hint(error_new(ENOTSUP,
						    "map %s is a perf buffer, which cannot "
						    "be passed to another user",
						    bpf_map__name(map)),
					  "use a ring buffer: PERF_BPF_EVENTS()");
		if (passed &&
		    (type == BPF_MAP_TYPE_HASH_OF_MAPS || type == BPF_MAP_TYPE_ARRAY_OF_MAPS))
			return error_new(ENOTSUP,
					 "map %s is a map of maps: users without "
					 "privileges cannot read its inner maps",
					 bpf_map__name(map));
		if (bpf_map__pin_path(map))
			return error_new(ENOTSUP,
					 "map %s is pinned, so it would stay after the session",
					 bpf_map__name(map));
		n++;
	}
	if (passed && n > DELEGATE_FDS)
		return error_new(ENOTSUP, "it has %zu maps, and at most %d can be passed", n,
				 DELEGATE_FDS);
	return NULL;
}

/* Whether it can restrict itself: what counts for one user must not count others. */
static struct error *check_target(struct bpf_object *obj, const struct approval *a)
{
	const struct program_owner owner = {0};
	const struct program_filter filter = {.uids = "0",
					      .owner = a->target == APPROVAL_OWN ? &owner : NULL};
	bool honoured;

	if (a->target == APPROVAL_ALL)
		return NULL;
	TRY(program_filter_apply(obj, &filter, &honoured));
	if (honoured)
		return NULL;
	return error_hint(error_new(ENOTSUP, "it cannot be restricted to some processes: it does "
					     "not call perf_bpf_wanted()"),
			  "call it at the start of each program, or approve it for all processes: "
			  "--target=all");
}

static struct error *check_sets(struct bpf_object *obj, const struct approval *a)
{
	for (size_t i = 0; i < a->sets.n; i++)
		TRY(variable_set(obj, a->sets.v[i], NULL));
	return NULL;
}

static bool is_trace(const struct approve_args *args)
{
	return !strcmp(args->program, "trace");
}

/* The program of perf-bpf trace, which is an object of its own, and restricts itself. */
static struct error *add_trace(struct approve_args *args)
{
	struct approval *a = &args->approval;
	size_t size;
	const void *program = trace_source_program(&size);

	if (!size)
		return error_new(ENOTSUP,
				 "this perf-bpf was built without clang, and cannot trace");
	TRY(find_who(args->who, a));
	a->command = DELEGATE_TRACE;
	strcpy(a->name, "trace");
	TRY(approval_add(args->store, program, size, a));
	printf("%s\n", a->id);
	return NULL;
}

static struct error *add(struct approve_args *args, const struct log *log)
{
	_cleanup_config_ struct config *config = NULL;
	_cleanup_(bpf_file_close) struct bpf_file file = {0};
	struct compile_opts compile = {0};
	struct approval *a = &args->approval;
	struct delegate_request named;
	const char *slash = strrchr(args->program, '/');
	size_t size;

	TRY(find_who(args->who, a));
	TRY(config_load_compile(log, args->clang_opt, &config, &compile));
	const struct bpf_file_opts opts = {
		.compile = &compile, .builtins = true, .whole = true, .log = log};
	TRY(bpf_file_open(&file, args->program, &opts));
	TRY(error_at(check_maps(file.obj, a), "%s", args->program));
	TRY(error_at(check_target(file.obj, a), "%s", args->program));
	TRY(check_sets(file.obj, a));
	const void *image = object_image(file.obj, &size);
	/* the name as users ask for it */
	delegate_request_make(a->command, a->object, slash ? slash + 1 : args->program, &named);
	memcpy(a->name, named.name, sizeof(a->name));
	TRY(approval_add(args->store, image, size, a));
	printf("%s\n", a->id);
	return NULL;
}

/* ---- the list ---- */

static void who_text(const struct approval *a, char *text, size_t size)
{
	const struct passwd *pw = a->for_group ? NULL : getpwuid(a->who);
	const struct group *gr = a->for_group ? getgrgid(a->who) : NULL;
	const char *kind = a->for_group ? "group" : "user";

	if (pw || gr)
		snprintf(text, size, "%s:%s", kind, pw ? pw->pw_name : gr->gr_name);
	else
		snprintf(text, size, "%s:%" PRIu32, kind, a->who);
}

static void list_json(const struct approvals *list, struct strbuf *out)
{
	struct json_writer w = json_writer_make(out);
	const struct approval *a;
	char who[300];

	jw_array(&w, NULL);
	vec_for_each (a, list) {
		who_text(a, who, sizeof(who));
		jw_object(&w, NULL);
		jw_text(&w, "id", a->id);
		jw_text(&w, "name", a->name);
		jw_text(&w, "for", who);
		jw_text(&w, "command", delegate_command_text(a->command));
		jw_text(&w, "target", approval_target_text(a->target));
		jw_double(&w, "max_overhead_percent", a->max_share * 100);
		jw_u64(&w, "max_duration_ms", a->max_ms);
		jw_array(&w, "set");
		for (size_t i = 0; i < a->sets.n; i++)
			jw_text(&w, NULL, a->sets.v[i]);
		jw_end(&w);
		jw_end(&w);
	}
	jw_end(&w);
	json_writer_finish(&w);
	strbuf_adds(out, "\n");
}

static void list_text(const struct approvals *list, struct strbuf *out)
{
	const struct approval *a;
	char who[300];

	vec_for_each (a, list) {
		who_text(a, who, sizeof(who));
		strbuf_addf(out, "%s  %s  for %s  ", a->id, a->name, who);
		if (a->command != DELEGATE_RUN)
			strbuf_addf(out, "command %s  ", delegate_command_text(a->command));
		strbuf_addf(out, "target %s  max-overhead %g%%  max-duration %g s",
			    approval_target_text(a->target), a->max_share * 100,
			    (double)a->max_ms / 1000);
		for (size_t i = 0; i < a->sets.n; i++)
			strbuf_addf(out, "  %s", a->sets.v[i]);
		strbuf_adds(out, "\n");
	}
}

static struct error *list(const struct approve_args *args)
{
	_cleanup_approvals_ struct approvals approvals = {0};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	TRY(approvals_read(args->store, &approvals));
	(args->json ? list_json : list_text)(&approvals, &out);
	return cmd_print(&out);
}

static struct error *check_usage(const struct approve_args *args)
{
	if (args->list + !!args->revoke + !!args->program != 1)
		return error_hint(error_usage("expected one program, --list or --revoke"),
				  "perf-bpf approve runqlat --for alice");
	if (args->program && !args->who)
		return error_hint(error_usage("--for is missing: who may run '%s'?", args->program),
				  "perf-bpf approve %s --for USER", args->program);
	const bool for_trace = args->approval.command == DELEGATE_TRACE;
	if (args->program && args->has_command && is_trace(args) != for_trace)
		return error_hint(
			error_usage("--command: 'trace' has none; other programs are approved "
				    "for run or record"),
			"perf-bpf approve trace --for USER");
	if (args->program && is_trace(args) && args->approval.sets.n)
		return error_usage("--set: 'trace' has no variables to set");
	if (geteuid())
		return error_hint(error_new(EPERM, "only root can approve programs and see what is "
						   "approved"),
				  "run it with sudo");
	return NULL;
}

int cmd_approve(int argc, char **argv)
{
	struct approve_args args = {
		.store = APPROVAL_STORE,
		.approval = {.max_share = 0.02, .max_ms = 600000},
	};

	cmd_parse(&argp, argc, argv, 0, NULL, &args);
	const struct log log = cmd_log(args.verbose);
	struct error *err = check_usage(&args);
	if (!err)
		err = args.list		? list(&args)
		      : args.revoke	? approval_revoke(args.store, args.revoke)
		      : is_trace(&args) ? add_trace(&args)
					: add(&args, &log);
	approval_deinit(&args.approval);
	return err ? cmd_fail(err) : 0;
}
