/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors between a process and one that it has forked: those that the other one does not
 * need, and those that the two pass each other. A pair of connected sockets of type SOCK_SEQPACKET
 * keeps the bounds of messages; each has at most one descriptor. Many bytes are passed as a file in
 * memory: the sender never waits for the receiver.
 */
#ifndef PB_SYS_DESCRIPTORS_H
#define PB_SYS_DESCRIPTORS_H

#include <stddef.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/base/strbuf.h"

/* Closes all descriptors above standard error but the n of keep, in any order; -1 among them: none.
 */
void descriptors_close_others(const int *keep, size_t n);

/* As sendmsg(2), without SIGPIPE. fd: -1: none; it stays the caller's. */
ssize_t descriptor_send(int socket, const void *data, size_t size, int fd, int flags);
/* As recvmsg(2). *fd: the caller's; -1: the message has none. */
ssize_t descriptor_receive(int socket, void *data, size_t size, int *fd);

/* A file in memory with these bytes; *fd is the caller's. name: for /proc/PID/fd. */
struct error *memory_file_new(const char *name, const void *data, size_t size, int *fd);
/* Appends all that it has. */
struct error *memory_file_read(int fd, struct strbuf *out);

#endif
