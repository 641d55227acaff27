/* SPDX-License-Identifier: BSD-2-Clause */
/* The few macros that every room uses. */
#ifndef PB_BASE_UTIL_H
#define PB_BASE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#define min_of(a, b)                                                                               \
	({                                                                                         \
		__typeof__(a) a_ = (a);                                                            \
		__typeof__(b) b_ = (b);                                                            \
		a_ < b_ ? a_ : b_;                                                                 \
	})
#define max_of(a, b)                                                                               \
	({                                                                                         \
		__typeof__(a) a_ = (a);                                                            \
		__typeof__(b) b_ = (b);                                                            \
		a_ > b_ ? a_ : b_;                                                                 \
	})

/*
 * A binary search: how many of n elements are before a point. `before` says whether element i is;
 * the elements for which it is true are the first ones.
 */
#define count_before(n, i, before)                                                                 \
	({                                                                                         \
		size_t low_ = 0, high_ = (n);                                                      \
		while (low_ < high_) {                                                             \
			const size_t i = low_ + (high_ - low_) / 2;                                \
			if (before)                                                                \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})

/*
 * memset() to 0 and memcpy() of some hundred bytes. Where gcc knows the size, it makes "rep stos"
 * and "rep movs" of them, which take longer to begin than the C library takes for all.
 */
static inline void zero_block(void *to, size_t n)
{
	__asm__("" : "+r"(n));
	memset(to, 0, n);
}

static inline void copy_block(void *to, const void *from, size_t n)
{
	__asm__("" : "+r"(n));
	memcpy(to, from, n);
}

/* v rounded up to a multiple of align, which is a power of two. */
static inline uint64_t round_up(uint64_t v, uint64_t align)
{
	return (v + align - 1) & ~(align - 1);
}

/* Whether two strings are the same; most that are compared differ in the first two bytes. */
static inline bool str_equal(const char *a, const char *b)
{
	return a[0] == b[0] && (!a[0] || (a[1] == b[1] && !strcmp(a + 1, b + 1)));
}

/* "c.h" of "/a/b/c.h"; the path itself where nothing follows its last slash. */
static inline const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

#define _printf_(fmt, args) __attribute__((format(printf, fmt, args)))
/* Called only where something failed: whatever leads there is kept out of the way. */
#define _cold_	     __attribute__((cold))
#define _must_check_ __attribute__((warn_unused_result))
#define _unused_     __attribute__((unused))

#endif
