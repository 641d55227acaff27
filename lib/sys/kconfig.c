// SPDX-License-Identifier: BSD-2-Clause
/*
 * The running kernel's configuration. The places, in this order:
 *
 *	/boot/config-RELEASE		Debian, Fedora
 *	/proc/config.gz			kernels with CONFIG_IKCONFIG_PROC
 *	/lib/modules/RELEASE/config	openSUSE, Fedora, Debian since 7.x: it is there even where
 *					nobody copied it to /boot, as in a container or an image
 *
 * libbpf reads the first two.
 */
#include "lib/sys/sys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <zlib.h>

#include "lib/base/cleanup.h"
#include "lib/base/util.h"

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
	char paths[3][512], *found = NULL;

	if (!roots)
		roots = &sys_roots_default;
	uname(&host);
	snprintf(paths[0], sizeof(paths[0]), "/boot/config-%s", host.release);
	snprintf(paths[1], sizeof(paths[1]), "%s/config.gz", roots->proc);
	snprintf(paths[2], sizeof(paths[2]), "/lib/modules/%s/config", host.release);
	for (size_t i = 0; i < ARRAY_SIZE(paths) && !found; i++)
		found = read_text(paths[i]);
	if (!found)
		return error_hint(
			error_new(ENOENT,
				  "the kernel's configuration is not available: none of %s, %s and "
				  "%s can be read",
				  paths[0], paths[1], paths[2]),
			"install /boot/config-…, or use a kernel with CONFIG_IKCONFIG_PROC");
	*text = found;
	return NULL;
}
