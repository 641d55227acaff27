/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands. A command is a function in a file of its own, named in the
 * table in main.c. It reads its options with argp, calls the rooms below, and
 * returns the exit status: 0 it went well, 1 it failed, 2 the command line is
 * wrong. This is the only room that prints and exits.
 */
#ifndef PB_CMD_CMD_H
#define PB_CMD_CMD_H

#include <stdio.h>

#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/strbuf.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary; /* one line for --help */
};

int cmd_annotate(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_approve(int argc, char **argv);
int cmd_btf(int argc, char **argv);
int cmd_delegate(int argc, char **argv);
int cmd_features(int argc, char **argv);
int cmd_gen(int argc, char **argv);
int cmd_link(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_map(int argc, char **argv);
int cmd_probe(int argc, char **argv);
int cmd_prog(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_watch(int argc, char **argv);

/* "json": errors are a line of JSON; set by "perf-bpf --errors=json", or by the user. */
#define CMD_ERRORS_VARIABLE "PERF_BPF_ERRORS"

/*
 * Prints "perf-bpf: error: WHERE: MESSAGE", what else is known, and "hint:
 * HINT" to stderr, or all of it as a line of JSON; frees err and returns the
 * exit status, 2 for an error of usage, else 1: return cmd_fail(err).
 */
int cmd_fail(struct error *err);

/*
 * The whole file or none of it: who is interrupted leaves no half one, who
 * reads sees no half one. A pipe or a device (/dev/stdout) is written to. Symbolic links of
 * other users are not followed. is_private: root's new file is for root alone.
 */
struct error *cmd_write_file(const char *path, const struct strbuf *text, bool is_private);

/* Prints what was written to out, unless that failed; main() reports what cannot be printed. */
struct error *cmd_print(const struct strbuf *out);

/*
 * Writes to standard output at once, where SIGPIPE is ignored, by as few calls of write(2) as
 * possible, at the ends of lines. Stdio would make more, and what a workload writes to the same
 * file could be in the middle of a line. *closed becomes true if nobody reads it any more, or if
 * it is full and a signal comes that the command has blocked and would end by. Both are not an
 * error; then nothing is written. cmd/streams.h counts it.
 */
struct error *cmd_write_out(const char *data, size_t size, bool *closed);

/* The same to another file. */
struct error *cmd_write_fd(int fd, const char *data, size_t size, bool *closed);

/* Prints to standard error, in the same way. */
void cmd_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Opens a file to write while the command runs; an old one is emptied. *fd is the caller's. */
struct error *cmd_open_output(const char *path, int *fd);

/* Whether it will be possible, which is worth knowing before the work: a folder, no rights. */
struct error *cmd_check_writable(const char *path);

/*
 * Prints all entries of a map, as "map dump" does. What it takes privileges for, the map's types,
 * is read when it is made; fd remains the caller's.
 */
struct map_dump;
struct error *map_dump_new(int fd, bool json, struct map_dump **out);
struct error *map_dump_write(struct map_dump *dump, int fd);
void map_dump_free(struct map_dump *dump);
DEFINE_FREEP(struct map_dump, map_dump_free)

/* Warnings always, info with verbose >= 1, debug with verbose >= 2; to stderr. */
struct log cmd_log(int verbose);

#endif
