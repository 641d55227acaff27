// SPDX-License-Identifier: BSD-2-Clause
#include "delegate/delegate_socket.h"

#include <string.h>

struct error *delegate_socket_new(const char *path, struct sockaddr_un *address, int *fd)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address->sun_path))
		return error_hint(error_new(ENAMETOOLONG,
					    "%s: the path of a socket has at most %zu bytes", path,
					    sizeof(address->sun_path) - 1),
				  "use a shorter path, or one relative to the current directory");
	strcpy(address->sun_path, path);
	*fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	return *fd < 0 ? error_errno(errno, "cannot create a socket") : NULL;
}
