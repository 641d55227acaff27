/* SPDX-License-Identifier: BSD-2-Clause */
/* The version of libbpf whose names and semantics this library has. */
#ifndef PERF_BPF_LIBBPF_VERSION_H
#define PERF_BPF_LIBBPF_VERSION_H

#define LIBBPF_MAJOR_VERSION 1
#define LIBBPF_MINOR_VERSION 7

#endif
