/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/sys. */
#ifndef PB_SYS_INTERNAL_H
#define PB_SYS_INTERNAL_H

#include <dirent.h>

#include "lib/base/strbuf.h"
#include "lib/sys/sys.h"

static inline const struct sys_roots *roots_or_default(const struct sys_roots *roots)
{
	return roots ? roots : &sys_roots_default;
}

/*
 * A name that is one component of a path below a folder: not empty, no slash,
 * not "." or "..". What the user typed goes through this before it is opened.
 */
bool sys_is_component(const char *name);

/* What a process with the given tree is called to: "did you mean …?", or the fallback. */
struct error *sys_hint_nearest(struct error *err, const char *want, const struct names *among,
			       const char *fallback);

static inline void closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}
#define _cleanup_closedir_ _cleanup_(closedirp)

#endif
