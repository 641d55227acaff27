// SPDX-License-Identifier: BSD-2-Clause
/* The program: finds the command in the table and runs it. */
#include "cmd/cmd.h"

#include <stdio.h>
#include <string.h>

static const struct command commands[] = {};

static void print_usage(FILE *to)
{
	fprintf(to, "usage: perf-bpf [--version] [--help] COMMAND [ARGS]\n\n");
	fprintf(to, "Commands:\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fprintf(to, "\nSee 'man perf-bpf-COMMAND' or 'perf-bpf COMMAND --help'.\n");
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "--help";

	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		print_usage(stdout);
		return argc > 1 ? 0 : 2;
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-v") || !strcmp(name, "version")) {
		printf("perf-bpf version %s\n", PERF_BPF_VERSION);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "perf-bpf: error: '%s' is not a perf-bpf command\n", name);
	fprintf(stderr, "hint: 'perf-bpf --help' lists the commands\n");
	return 2;
}
