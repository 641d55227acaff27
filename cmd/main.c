// SPDX-License-Identifier: BSD-2-Clause
/*
 * The program: finds the command in the table and runs it. perf finds it by
 * its name, perf-bpf, on PATH: "perf bpf record …" runs "perf-bpf record …".
 */
#include "cmd/cmd.h"
#include "cmd/streams.h"

#include <argp.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/names.h"

extern char **environ;

static int cmd_help(int argc, char **argv);

static const struct command commands[] = {
	{"record", cmd_record, "Record events, filtered by BPF programs"},
	{"script", cmd_script, "Print a recording, line by line"},
	{"report", cmd_report, "Summarize a recording by command, binary and function"},
	{"top", cmd_top, "Show the most active functions, continuously updated"},
	{"annotate", cmd_annotate, "Show the samples of each instruction of a function"},
	{"diff", cmd_diff, "Compare recordings by binary and function"},
	{"trace", cmd_trace, "Trace system calls with their arguments"},
	{"run", cmd_run, "Run BPF programs and show their maps"},
	{"watch", cmd_watch, "Show BPF programs as they are loaded and unloaded"},
	{"map", cmd_map, "Show loaded maps and their entries"},
	{"prog", cmd_prog, "Show, dump, profile and pin loaded programs"},
	{"link", cmd_link, "Show and detach BPF links"},
	{"btf", cmd_btf, "Show BTF types, and the memory layout of structs"},
	{"gen", cmd_gen, "Write a C header from a BPF object: a skeleton"},
	{"list", cmd_list, "List events, functions and built-in programs"},
	{"probe", cmd_probe, "Show what can be probed: functions, lines, variables"},
	{"approve", cmd_approve, "Approve BPF programs for users without privileges"},
	{"delegate", cmd_delegate, "Load approved programs for other users: a service"},
	{"features", cmd_features, "Show which features this host supports"},
	{"help", cmd_help, "Show the manual page of a command"},
};

static void print_usage(FILE *to)
{
	fprintf(to, "Usage: perf-bpf [--version] [--help] [--errors=text|json] COMMAND [ARGS]\n\n");
	fprintf(to, "Records, prints and summarizes events filtered by BPF programs, or shows\n"
		    "the programs' maps.\n\n");
	fprintf(to, "Commands:\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fprintf(to, "\nSee 'perf-bpf help COMMAND' or 'perf-bpf COMMAND --help'.\n");
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

static int refuse(const char *name)
{
	struct nearest near = nearest_make(name);

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		nearest_offer(&near, commands[i].name);
	struct error *err = error_usage("'%s' is not a perf-bpf command", name);
	return cmd_fail(
		error_hint(error_suggest(err, &near), "'perf-bpf --help' lists the commands"));
}

/* argv[0] is what argp and getopt call the program in their messages. */
static int run_command(const struct command *cmd, int argc, char **argv)
{
	char title[64];

	snprintf(title, sizeof(title), "perf-bpf %s", cmd->name);
	argv[0] = title;
	argp_err_exit_status = 2;
	const int status = cmd->run(argc, argv);
	streams_report();
	return status;
}

/* Runs man; its exit status, or -1: it is not there. With quiet it prints nothing. */
static int run_man(char *const argv[], bool quiet)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status;

	posix_spawn_file_actions_init(&actions);
	if (quiet) {
		posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
		posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	}
	int code = posix_spawnp(&pid, "man", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (code || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* The manual page where it is installed, else what --help prints. */
static int cmd_help(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	char page[64];

	if (!name || !strcmp(name, "--help") || !strcmp(name, "-h")) {
		print_usage(stdout);
		return 0;
	}
	const struct command *cmd = find_command(name);
	if (!cmd)
		return refuse(name);
	if (cmd->run == cmd_help)
		snprintf(page, sizeof(page), "perf-bpf");
	else
		snprintf(page, sizeof(page), "perf-bpf-%s", name);
	if (run_man((char *[]){(char *)"man", (char *)"-w", page, NULL}, true) == 0)
		return run_man((char *[]){(char *)"man", page, NULL}, false) == 0 ? 0 : 1;
	return run_command(cmd, 2, (char *[]){argv[1], (char *)"--help", NULL});
}

/* At the exit, argp's own included: what could not be written is a failure. */
static void flush_stdout(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return;
	fprintf(stderr, "perf-bpf: error: cannot write the output: %s\n", strerror(errno));
	_exit(1);
}

/*
 * Whoever reads the output has seen enough ("| head"): end quietly. Not by the signal, since perf
 * takes that for a failure to run perf-bpf. record, run and script ignore SIGPIPE: they have
 * something to finish. Everything in the kernel goes with the process.
 */
static void on_broken_pipe(int sig)
{
	struct pollfd out = {.fd = STDOUT_FILENO};

	/* else it is the pipe of stderr or of a child, and write(2) fails with EPIPE */
	if (poll(&out, 1, 0) == 1 && out.revents & (POLLERR | POLLHUP))
		_exit(0);
}

/*
 * Recordings and binaries are read through mappings. If somebody makes such a file shorter
 * meanwhile, what is missing reads as zeros, which every reader recognizes as damage; at the exit
 * the command says so and fails. Everything here may be called in a signal handler.
 */
static volatile sig_atomic_t file_shrank;

static void on_missing_page(int sig, siginfo_t *info, void *context)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *at = (void *)((uintptr_t)info->si_addr & ~(page - 1));

	file_shrank = 1;
	if (info->si_code != BUS_ADRERR ||
	    mmap(at, page, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		signal(SIGBUS, SIG_DFL); /* it happens again at once */
}

static void fail_if_file_shrank(void)
{
	if (!file_shrank)
		return;
	fflush(stdout);
	fprintf(stderr, "perf-bpf: error: a file became shorter while it was read; the output is "
			"not complete\n"
			"hint: do not copy over a recording or binary that is being read\n");
	_exit(1);
}

/*
 * With file capabilities, descriptions of terminals that the user wrote are not read. What else
 * names files or programs is read by secure_getenv(), which finds nothing then; doc/security.md
 * lists it. The workload keeps its environment otherwise.
 */
static void ignore_terminfo_of_user(void)
{
	static const char *const names[] = {"TERMINFO", "TERMINFO_DIRS", "TERMCAP"};

	for (size_t i = 0; getauxval(AT_SECURE) && i < ARRAY_SIZE(names); i++)
		unsetenv(names[i]);
}

/* RLIMIT_FSIZE: write(2) fails with EFBIG instead. Unlike SIG_IGN, it is not inherited by exec. */
static void on_file_size_limit(int sig)
{
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const struct sigaction broken_pipe = {
		.sa_handler = on_broken_pipe,
		.sa_flags = SA_RESTART,
	};

	const struct sigaction missing_page = {
		.sa_sigaction = on_missing_page,
		.sa_flags = SA_SIGINFO,
	};
	const struct sigaction file_size_limit = {
		.sa_handler = on_file_size_limit,
		.sa_flags = SA_RESTART,
	};

	ignore_terminfo_of_user();
	sigaction(SIGPIPE, &broken_pipe, NULL);
	sigaction(SIGBUS, &missing_page, NULL);
	sigaction(SIGXFSZ, &file_size_limit, NULL);
	atexit(fail_if_file_shrank); /* after flush_stdout() */
	atexit(flush_stdout);

	/* An option of all commands; the variable is what cmd_fail() looks at. */
	if (!strncmp(name, "--errors=", 9)) {
		if (strcmp(name + 9, "text") != 0 && strcmp(name + 9, "json") != 0) {
			fprintf(stderr,
				"perf-bpf: error: unknown error format '%s' (text or json)\n",
				name + 9);
			fprintf(stderr, "hint: use --errors=text or --errors=json\n");
			return 2;
		}
		setenv(CMD_ERRORS_VARIABLE, name + 9, 1);
		argc--;
		argv++;
		name = argc > 1 ? argv[1] : "";
	}
	if (!*name) {
		print_usage(stderr);
		return 2;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
		print_usage(stdout);
		return 0;
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-v") || !strcmp(name, "version")) {
		printf("perf-bpf version %s\n", PERF_BPF_VERSION);
		return 0;
	}
	const struct command *cmd = find_command(name);
	return cmd ? run_command(cmd, argc - 1, argv + 1) : refuse(name);
}
