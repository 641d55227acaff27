/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-256 of bytes in memory (FIPS 180-4). */
#ifndef PB_BASE_SHA256_H
#define PB_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32

void sha256(const void *data, size_t n, uint8_t digest[SHA256_BYTES]);

#endif
