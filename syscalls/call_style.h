/* SPDX-License-Identifier: BSD-2-Clause */
/* How calls are shown as text. */
#ifndef PB_SYSCALLS_CALL_STYLE_H
#define PB_SYSCALLS_CALL_STYLE_H

#include <stdbool.h>
#include <stdint.h>

enum call_style {
	CALL_STYLE_PERF, /* openat(dfd: CWD, filename: "/etc/passwd", flags: RDONLY|CLOEXEC) = 3 */
	CALL_STYLE_STRACE, /* openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3 */
};

/* How the strace style shows constants. */
enum call_constants {
	CONSTANTS_NAMED,   /* O_RDONLY */
	CONSTANTS_RAW,	   /* 0 */
	CONSTANTS_VERBOSE, /* 0 <slash>* O_RDONLY *<slash> */
};

struct call_text_opts {
	enum call_style style;
	bool raw;	     /* arguments as hexadecimal numbers */
	bool full;	     /* structs and arrays in full, nothing left out for brevity */
	uint32_t max_items;  /* of an array, unless in full; 0: 32 */
	uint8_t hex_strings; /* 1: strings with bytes that are not ASCII in hexadecimal; 2: all */
	enum call_constants constants; /* only of the strace style */
	/*
	 * Of a live trace: the network namespace in which a socket knows the names of interfaces,
	 * and the socket. 0: none; names are not shown.
	 */
	uint32_t net_ns;
	int net_socket;
	/* Only of the perf style. */
	bool hide_names;  /* of arguments and members */
	bool show_prefix; /* O_RDONLY, not RDONLY */
	bool show_zeros;  /* arguments that are 0, else left out */
	bool fd_paths;	  /* of descriptors, as far as the record has them */
};

#endif
