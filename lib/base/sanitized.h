/* SPDX-License-Identifier: BSD-2-Clause */
/* SANITIZED: 1 under the address sanitizer, which makes calls of its own and is slower; else 0. */
#ifndef PB_BASE_SANITIZED_H
#define PB_BASE_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
