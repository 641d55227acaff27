/* SPDX-License-Identifier: BSD-2-Clause */
/* The socket of the service, as both sides make it. */
#ifndef PB_DELEGATE_DELEGATE_SOCKET_H
#define PB_DELEGATE_DELEGATE_SOCKET_H

#include <sys/socket.h>
#include <sys/un.h>

#include "lib/base/error.h"

/* *fd is the caller's, neither bound nor connected. ENAMETOOLONG: no address holds the path. */
struct error *delegate_socket_new(const char *path, struct sockaddr_un *address, int *fd);

#endif
