// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf delegate: the service that loads what root has approved for other users. */
#include <argp.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/privileges.h"
#include "delegate/approval_store.h"
#include "delegate/delegate_service.h"
#include "lib/sys/bpf_syscall.h"

enum {
	OPT_SOCKET = 256,
	OPT_STORE,
};

struct delegate_args {
	const char *socket_path, *store;
	int verbose;
	struct log log;
};

static const struct argp_option options[] = {
	{"socket", OPT_SOCKET, "PATH", 0,
	 "Listen at PATH, if systemd does not pass a socket (default " DELEGATE_SOCKET ")", 0},
	{"store", OPT_STORE, "DIR", 0, "Directory of approvals (default " APPROVAL_STORE ")", 0},
	{"verbose", 'v', NULL, 0, "Be verbose (-vv for debugging)", 0},
	{0},
};

static const struct option_member members[] = {
	OPTION_SETS(OPT_SOCKET, struct delegate_args, socket_path),
	OPTION_SETS(OPT_STORE, struct delegate_args, store),
	OPTION_SETS('v', struct delegate_args, verbose),
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct delegate_args *args = state->input;

	return option_set(members, key, arg, args) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.doc = "Load and attach BPF programs that root has approved (perf-bpf approve) for users "
	       "without privileges, until SIGTERM. The package has a systemd socket that starts "
	       "this service: systemctl enable --now perf-bpf.socket",
};

static void say(void *ctx, const char *line)
{
	fprintf(stderr, "%s\n", line);
}

static struct error *confine_session(void *ctx, bool opens_events)
{
	const struct delegate_args *args = ctx;

	return privileges_of_run(opens_events, false, &args->log);
}

int cmd_delegate(int argc, char **argv)
{
	struct delegate_args args = {.socket_path = DELEGATE_SOCKET, .store = APPROVAL_STORE};

	cmd_parse(&argp, argc, argv, 0, NULL, &args);
	args.log = cmd_log(args.verbose);
	if (geteuid())
		return cmd_fail(error_hint(error_new(EPERM, "the service must be started by root"),
					   "systemctl enable --now perf-bpf.socket"));
	sys_bpf_bump_memlock();
	const struct delegate_service_opts opts = {
		.store = args.store,
		.socket_path = args.socket_path,
		.log = &args.log,
		.say = say,
		.confine = confine_session,
		.confine_finder = privileges_of_finder,
		.ctx = &args,
	};
	struct error *err = delegate_service_run(&opts);
	return err ? cmd_fail(err) : 0;
}
