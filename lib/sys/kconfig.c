// SPDX-License-Identifier: BSD-2-Clause
/* The running kernel's configuration: /boot/config-RELEASE, else /proc/config.gz. */
#include "lib/sys/sys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <zlib.h>

#include "lib/base/cleanup.h"

/* Ten times what distributions have. */
#define CONFIG_MAX (4 << 20)

/* Plain or compressed; NULL: not there, or not readable. */
static char *read_text(const char *path)
{
	gzFile file = gzopen(path, "re");

	if (!file)
		return NULL;
	_cleanup_free_ char *text = malloc(CONFIG_MAX + 1);
	const int n = text ? gzread(file, text, CONFIG_MAX) : -1;
	gzclose(file);
	if (n < 0)
		return NULL;
	text[n] = 0;
	char *fitted = realloc(text, (size_t)n + 1);
	if (fitted)
		text = NULL;
	return fitted;
}

struct error *sys_kernel_config(const struct sys_roots *roots, char **text)
{
	struct utsname host;
	char path[512];

	if (!roots)
		roots = &sys_roots_default;
	uname(&host);
	snprintf(path, sizeof(path), "/boot/config-%s", host.release);
	char *found = read_text(path);
	if (!found) {
		snprintf(path, sizeof(path), "%s/config.gz", roots->proc);
		found = read_text(path);
	}
	if (!found)
		return error_hint(
			error_new(ENOENT,
				  "the kernel's configuration is not available: neither "
				  "/boot/config-%s nor %s can be read",
				  host.release, path),
			"install /boot/config-…, or use a kernel with CONFIG_IKCONFIG_PROC");
	*text = found;
	return NULL;
}
