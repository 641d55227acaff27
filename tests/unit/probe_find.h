/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of probe/point share: a file of their own, the points of a definition, and this
 * very program as the world in which fetch programs run.
 */
#ifndef PROBE_FIND_H
#define PROBE_FIND_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "probe/point/point.h"
#include "tests/unit/fetch_run.h"

/* path: a template of mkstemp(). */
static inline int write_temp(char *path, const void *data, size_t size)
{
	const int fd = mkstemp(path);

	return fd >= 0 && write(fd, data, size) == (ssize_t)size && !close(fd) ? 0 : -1;
}

static inline void find_with(struct probe_finder *finder, const char *text,
			     struct probe_points *points)
{
	_cleanup_probe_def_ struct probe_def def = {0};
	struct error *err = probe_def_parse(text, &def);

	if (!err)
		err = probe_points_find(finder, &def, points);
	if (err)
		fail_msg("%s: %s", text, err->msg);
}

/* ---- this program as the world ---- */

struct here {
	uint64_t words[16];
	uint64_t regs[32];
	bool user_read, kernel_read;
};

static inline uint64_t here_word(void *ctx, uint16_t n)
{
	return n < 16 ? ((struct here *)ctx)->words[n] : 0;
}

static inline uint64_t here_reg(void *ctx, uint16_t n)
{
	return n < 32 ? ((struct here *)ctx)->regs[n] : 0;
}

static inline bool here_read(void *ctx, uint64_t address, void *to, size_t size, bool user)
{
	struct here *here = ctx;

	here->user_read |= user;
	here->kernel_read |= !user;
	memcpy(to, (const void *)(uintptr_t)address, size);
	return true;
}

static inline struct fetch_world world_of(struct here *here)
{
	return (struct fetch_world){
		.reg = here_reg, .word = here_word, .read = here_read, .ctx = here};
}

#endif
