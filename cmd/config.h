/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration: files in git-config syntax, as perf's ~/.perfconfig.
 * Read in this order, a later one wins key by key:
 *
 *	/etc/perfconfig, /etc/perf-bpf.conf
 *	~/.perfconfig
 *	$XDG_CONFIG_HOME/perf-bpf/config, else ~/.config/perf-bpf/config
 *
 * $PERF_CONFIG names the one file that is read instead. A file in the home
 * folder that belongs neither to the user nor to root is not read (it names
 * programs to run); the log says so. perf-bpf-config(5) lists the keys; keys
 * of perf that mean nothing here are skipped without a word.
 */
#ifndef PB_CMD_CONFIG_H
#define PB_CMD_CONFIG_H

#include <stdbool.h>

#include "compile/compile_object.h"
#include "lib/base/error.h"
#include "lib/base/log.h"

struct config;

/*
 * The files that are there, read. Errors name FILE:LINE; a file that is not
 * there is no error. log (may be NULL) gets the warnings. The caller frees.
 */
struct error *config_load(const struct log *log, struct config **out);
/* One text, for tests and for config_load(); name is for errors. Adds to cfg. */
struct error *config_parse(struct config *cfg, const char *name, const char *text);
struct config *config_new(void); /* empty; NULL: no memory */
void config_free(struct config *cfg);
DEFINE_FREEP(struct config, config_free)
#define _cleanup_config_ _cleanup_(config_freep)

/* The value of "section.key" (case does not matter); NULL: not set. Borrowed. */
const char *config_get(const struct config *cfg, const char *key);
/* true, yes, on, 1 and a bare key; false, no, off, 0 and ""; else an EINVAL error. */
struct error *config_get_bool(const struct config *cfg, const char *key, bool unset, bool *out);

/*
 * Sets clang_path, clang_opt and dump_obj of opts where the [llvm] section
 * does; they are borrowed from cfg.
 */
struct error *config_compile_opts(const struct config *cfg, struct compile_opts *opts);

/*
 * All that a command does before it compiles: the files are read, and *opts is
 * filled from them, with the log and what --clang-opt said (NULL: nothing).
 */
struct error *config_load_compile(const struct log *log, const char *clang_opt, struct config **out,
				  struct compile_opts *opts);

#endif
