// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/kernel_errno.h"

#include <string.h>

#include "lib/base/util.h"

enum { FIRST = 512 };

/* include/linux/errno.h of the kernel, from 512 on. */
static const char *const names[] = {
	"ERESTARTSYS",
	"ERESTARTNOINTR",
	"ERESTARTNOHAND",
	"ENOIOCTLCMD",
	"ERESTART_RESTARTBLOCK",
	"EPROBE_DEFER",
	"EOPENSTALE",
	"ENOPARAM",
	NULL,
	"EBADHANDLE",
	"ENOTSYNC",
	"EBADCOOKIE",
	"ENOTSUPP",
	"ETOOSMALL",
	"ESERVERFAULT",
	"EBADTYPE",
	"EJUKEBOX",
	"EIOCBQUEUED",
	"ERECALLCONFLICT",
};

const char *kernel_errno_name(int error)
{
	if (error >= FIRST && (size_t)(error - FIRST) < ARRAY_SIZE(names))
		return names[error - FIRST];
	return error > 0 ? strerrorname_np(error) : NULL;
}
