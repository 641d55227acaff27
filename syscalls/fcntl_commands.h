/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands of fcntl(2) whose argument is shown as more than a number; the same everywhere. */
#ifndef PB_SYSCALLS_FCNTL_COMMANDS_H
#define PB_SYSCALLS_FCNTL_COMMANDS_H

#include <stdint.h>

enum fcntl_command {
	FCNTL_DUPFD = 0,
	FCNTL_SETFD = 2,
	FCNTL_SETFL = 4,
	FCNTL_GETLK = 5,
	FCNTL_SETLK = 6,
	FCNTL_SETLKW = 7,
	FCNTL_SETOWN = 8,
	FCNTL_SETSIG = 10,
	FCNTL_SETOWN_EX = 15,
	FCNTL_GETOWN_EX = 16,
	FCNTL_OFD_GETLK = 36,
	FCNTL_OFD_SETLK = 37,
	FCNTL_OFD_SETLKW = 38,
	FCNTL_SETLEASE = 1024,
	FCNTL_NOTIFY = 1026,
	FCNTL_DUPFD_CLOEXEC = 1030,
	FCNTL_SETPIPE_SZ = 1031,
	FCNTL_ADD_SEALS = 1033,
};

/* Those whose argument points to memory, as bits. The argument of the others is no address. */
static inline uint64_t fcntl_commands_with_memory(void)
{
	return 1ull << FCNTL_GETLK | 1ull << FCNTL_SETLK | 1ull << FCNTL_SETLKW |
	       1ull << FCNTL_SETOWN_EX | 1ull << FCNTL_GETOWN_EX | 1ull << FCNTL_OFD_GETLK |
	       1ull << FCNTL_OFD_SETLK | 1ull << FCNTL_OFD_SETLKW;
}

#endif
