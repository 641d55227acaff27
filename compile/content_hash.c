// SPDX-License-Identifier: BSD-2-Clause
/* Content hashes: XXH3 of 128 bits (libxxhash), written as hex. */
#include "compile/internal.h"

#include <xxhash.h>

struct hasher {
	XXH3_state_t *state;
};

struct hasher *hasher_new(void)
{
	struct hasher *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->state = XXH3_createState();
	if (!h->state || XXH3_128bits_reset(h->state) != XXH_OK) {
		hasher_free(h);
		return NULL;
	}
	return h;
}

void hasher_free(struct hasher *h)
{
	if (h)
		XXH3_freeState(h->state);
	free(h);
}

void hasher_add(struct hasher *h, const void *data, size_t n)
{
	uint64_t length = n;

	XXH3_128bits_update(h->state, &length, sizeof(length));
	XXH3_128bits_update(h->state, data, n);
}

void hasher_add_str(struct hasher *h, const char *s)
{
	uint64_t none = UINT64_MAX;

	if (s)
		hasher_add(h, s, strlen(s));
	else
		XXH3_128bits_update(h->state, &none, sizeof(none));
}

static struct digest digest_make(XXH128_hash_t hash)
{
	struct digest d;

	snprintf(d.hex, sizeof(d.hex), "%016llx%016llx", (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
	return d;
}

struct digest hasher_end(const struct hasher *h)
{
	return digest_make(XXH3_128bits_digest(h->state));
}

struct digest digest_of(const void *data, size_t n)
{
	return digest_make(XXH3_128bits(data, n));
}
