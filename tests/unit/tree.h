/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracefs, proc and sysfs made up in a temporary folder, for what is tested
 * with neither the machine's own nor a privilege.
 */
#ifndef TESTS_UNIT_TREE_H
#define TESTS_UNIT_TREE_H

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/sys/sys.h"

struct tree {
	char top[64], tracefs[96], proc[96], sysfs[96];
	char list[128];		/* uprobe_events of its tracefs */
	struct sys_roots roots; /* of the three */
};

/* Writes a file of the tree, and the folders above it. */
static inline void tree_put(const struct tree *tree, const char *path, const char *text)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", tree->top, path);
	for (char *slash = full + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(full, 0755);
		*slash = '/';
	}
	FILE *f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static inline struct tree *tree_new(void)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	assert_non_null(tree);
	strcpy(tree->top, "/tmp/perf-bpf-unit.XXXXXX");
	assert_non_null(mkdtemp(tree->top));
	snprintf(tree->tracefs, sizeof(tree->tracefs), "%s/tracefs", tree->top);
	snprintf(tree->proc, sizeof(tree->proc), "%s/proc", tree->top);
	snprintf(tree->sysfs, sizeof(tree->sysfs), "%s/sys", tree->top);
	snprintf(tree->list, sizeof(tree->list), "%s/uprobe_events", tree->tracefs);
	tree->roots = (struct sys_roots){tree->tracefs, tree->proc, tree->sysfs};
	return tree;
}

static inline int tree_remove_entry(const char *path, const struct stat *st, int flag,
				    struct FTW *ftw)
{
	return remove(path);
}

static inline void tree_free(struct tree *tree)
{
	nftw(tree->top, tree_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(tree);
}

#endif
