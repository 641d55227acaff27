/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz targets that run whole commands with a file as input: the first byte chooses one of a table
 * of command lines, the rest is the file. Output goes to /dev/null. Nothing is forked and nothing
 * confined, so that one process can run thousands; command.c has what main.c, privileges.c and
 * kernel_code.c have in the program.
 */
#ifndef PB_FUZZ_COMMAND_H
#define PB_FUZZ_COMMAND_H

#include <stddef.h>
#include <stdint.h>

enum {
	COMMAND_WORDS = 12,
};

struct command_line {
	int (*run)(int argc, char **argv);
	const char *words[COMMAND_WORDS]; /* "@": the file; "@/": a folder that has nothing else */
};

int run_command_line(const struct command_line *lines, size_t n, const uint8_t *data, size_t size);

#endif
