/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Convert between network byte order (big endian) and host byte order in BPF programs. */
#ifndef PERF_BPF_ENDIAN_H
#define PERF_BPF_ENDIAN_H

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define __bpf_to_be16(x) __builtin_bswap16(x)
#define __bpf_to_be32(x) __builtin_bswap32(x)
#define __bpf_to_be64(x) __builtin_bswap64(x)
#elif __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define __bpf_to_be16(x) (x)
#define __bpf_to_be32(x) (x)
#define __bpf_to_be64(x) (x)
#else
#error "__BYTE_ORDER__ is neither little nor big endian"
#endif

#define bpf_htons(x)	   ((__u16)__bpf_to_be16((__u16)(x)))
#define bpf_ntohs(x)	   ((__u16)__bpf_to_be16((__u16)(x)))
#define bpf_htonl(x)	   ((__u32)__bpf_to_be32((__u32)(x)))
#define bpf_ntohl(x)	   ((__u32)__bpf_to_be32((__u32)(x)))
#define bpf_cpu_to_be64(x) ((__u64)__bpf_to_be64((__u64)(x)))
#define bpf_be64_to_cpu(x) ((__u64)__bpf_to_be64((__u64)(x)))

/* Other names of these macros; they also convert constants at compile time. */
#define ___bpf_swab16(x)	      __builtin_bswap16(x)
#define ___bpf_swab32(x)	      __builtin_bswap32(x)
#define ___bpf_swab64(x)	      __builtin_bswap64(x)
#define __bpf_htons(x)		      bpf_htons(x)
#define __bpf_ntohs(x)		      bpf_ntohs(x)
#define __bpf_htonl(x)		      bpf_htonl(x)
#define __bpf_ntohl(x)		      bpf_ntohl(x)
#define __bpf_constant_htons(x)	      bpf_htons(x)
#define __bpf_constant_ntohs(x)	      bpf_ntohs(x)
#define __bpf_constant_htonl(x)	      bpf_htonl(x)
#define __bpf_constant_ntohl(x)	      bpf_ntohl(x)
#define __bpf_constant_cpu_to_be64(x) bpf_cpu_to_be64(x)
#define __bpf_constant_be64_to_cpu(x) bpf_be64_to_cpu(x)

#endif
