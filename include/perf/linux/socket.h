/* SPDX-License-Identifier: BSD-2-Clause */
/* See ../bpf.h: files of that form name the struct as the kernel does. */
#ifndef PERF_BPF_OLD_FORM_SOCKET_H
#define PERF_BPF_OLD_FORM_SOCKET_H

#include_next <linux/socket.h>

#define sockaddr_storage __kernel_sockaddr_storage

#endif
