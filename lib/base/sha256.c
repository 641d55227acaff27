// SPDX-License-Identifier: BSD-2-Clause
/*
 * SHA-256 as FIPS 180-4 gives it, section 6.2: blocks of 64 bytes, each
 * expanded to 64 words and mixed into eight words of state in 64 rounds. The
 * message ends with a one bit, zeros, and its length in bits, big-endian. The
 * constants are the first 32 bits of the fractional parts of the cube roots of
 * the first 64 primes, the initial state those of the square roots of the first
 * eight.
 *
 * For digests that others compare, not for speed: no instruction of its own.
 */
#include "lib/base/sha256.h"

#include <string.h>

static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t turn(uint32_t v, unsigned right)
{
	return v >> right | v << (32 - right);
}

static uint32_t get_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put_be32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

static void mix(uint32_t state[8], const uint8_t block[64])
{
	uint32_t w[64], v[8];

	for (int i = 0; i < 16; i++)
		w[i] = get_be32(block + 4 * i);
	for (int i = 16; i < 64; i++) {
		const uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] +
		       (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
	}
	memcpy(v, state, sizeof(v));
	for (int i = 0; i < 64; i++) {
		const uint32_t e = v[4], a = v[0];
		const uint32_t t1 = v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
				    ((e & v[5]) ^ (~e & v[6])) + constants[i] + w[i];
		const uint32_t t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
				    ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		state[i] += v[i];
}

void sha256(const void *data, size_t n, uint8_t digest[SHA256_BYTES])
{
	uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	const uint64_t bits = (uint64_t)n * 8;
	const uint8_t *p = data;
	uint8_t tail[128] = {0};

	for (; n >= 64; n -= 64, p += 64)
		mix(state, p);
	if (n)
		memcpy(tail, p, n);
	tail[n] = 0x80;
	const size_t blocks = n + 1 + 8 <= 64 ? 1 : 2;
	put_be32(tail + blocks * 64 - 8, (uint32_t)(bits >> 32));
	put_be32(tail + blocks * 64 - 4, (uint32_t)bits);
	for (size_t i = 0; i < blocks; i++)
		mix(state, tail + 64 * i);
	for (int i = 0; i < 8; i++)
		put_be32(digest + 4 * i, state[i]);
}
