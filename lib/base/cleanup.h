/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cleanup attributes: what a function owns is released at the end of its
 * scope, so that there is one way out of it. A value that leaves the function
 * is handed over with steal_ptr() or steal_fd(), which empties the variable.
 */
#ifndef PB_BASE_CLEANUP_H
#define PB_BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define _cleanup_free_	 _cleanup_(freep)
#define _cleanup_close_	 _cleanup_(closep)
#define _cleanup_fclose_ _cleanup_(fclosep)

/* Defines x_freep() for _cleanup_(x_freep) from x_free(). */
#define DEFINE_FREEP(type, name)                                                                   \
	static inline void name##p(type **p)                                                       \
	{                                                                                          \
		name(*p);                                                                          \
	}

#define steal_ptr(ptr)                                                                             \
	({                                                                                         \
		__typeof__(ptr) stolen_ = (ptr);                                                   \
		(ptr) = NULL;                                                                      \
		stolen_;                                                                           \
	})

static inline int steal_fd(int *fd)
{
	int stolen = *fd;

	*fd = -1;
	return stolen;
}

#endif
