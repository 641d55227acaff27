// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files and sections that are packed: kernel modules (.ko.xz, .ko.zst, .ko.gz), and .gnu_debugdata.
 * What packed them is known by the first bytes, since names can be anything.
 *
 * The bytes are anybody's: a few of them can stand for terabytes, so the result is limited, and so
 * is the memory that a decoder asks for.
 */
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "lib/sys/open_file.h"
#include "sym/internal.h"

/* No binary's names and no module are larger. */
#define UNPACKED_MAX ((size_t)256 << 20)
#define PACKED_MAX   (UNPACKED_MAX / 4)
#define DECODER_MAX  ((uint64_t)128 << 20)
#define ZSTD_WINDOW  27 /* bits of it */

struct unpacked {
	uint8_t *bytes;
	size_t n, cap;
};

static bool is_full(const struct unpacked *u)
{
	return u->n == u->cap;
}

static bool make_room(struct unpacked *u, size_t wanted)
{
	const size_t cap = min_of(wanted, UNPACKED_MAX);
	uint8_t *more;

	if (cap <= u->cap) { /* too large */
		errno = EFBIG;
		return false;
	}
	more = realloc(u->bytes, cap);
	if (!more)
		return false;
	u->bytes = more;
	u->cap = cap;
	return true;
}

static bool begin(struct unpacked *u, size_t size)
{
	return make_room(u, size * 4 + 65536);
}

/* The bytes, if all is well; errno is ENOMEM, or what is packed is damaged or too large. */
static void *end(struct unpacked *u, bool ok, size_t *size)
{
	*size = u->n;
	if (ok)
		return u->bytes;
	free(u->bytes);
	return NULL;
}

void *unpack_xz(const void *data, size_t size, size_t *len)
{
	lzma_stream xz = LZMA_STREAM_INIT;
	struct unpacked u = {0};

	errno = 0;
	lzma_ret ret = lzma_stream_decoder(&xz, DECODER_MAX, 0);
	if (ret == LZMA_MEM_ERROR)
		errno = ENOMEM;
	xz.next_in = data;
	xz.avail_in = size;
	for (bool ok = begin(&u, size); ok && ret == LZMA_OK;) {
		const size_t room = u.cap - u.n;

		xz.next_out = u.bytes + u.n;
		xz.avail_out = room;
		ret = lzma_code(&xz, LZMA_FINISH);
		u.n += room - xz.avail_out;
		ok = ret == LZMA_STREAM_END || (is_full(&u) && make_room(&u, u.cap * 2));
	}
	lzma_end(&xz);
	return end(&u, ret == LZMA_STREAM_END, len);
}

static void *unpack_zstd(const void *data, size_t size, size_t *len)
{
	ZSTD_inBuffer in = {data, size, 0};
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	struct unpacked u = {0};
	size_t left = 1; /* 0: the frame is complete */

	errno = zstd ? 0 : ENOMEM;
	bool ok = zstd &&
		  !ZSTD_isError(ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW)) &&
		  begin(&u, size);
	while (ok && left) {
		ZSTD_outBuffer out = {u.bytes, u.cap, u.n};

		left = ZSTD_decompressStream(zstd, &out, &in);
		u.n = out.pos;
		ok = !ZSTD_isError(left) &&
		     (!left || (is_full(&u) ? make_room(&u, u.cap * 2) : in.pos < in.size));
	}
	ZSTD_freeDCtx(zstd);
	return end(&u, ok, len);
}

static void *unpack_gzip(const void *data, size_t size, size_t *len)
{
	/* Its interface was made before const; it does not write there. */
	z_stream gz = {.next_in = (Bytef *)data, .avail_in = (uInt)size};
	struct unpacked u = {0};

	errno = 0;
	int ret = inflateInit2(&gz, 16 + MAX_WBITS); /* 16: the header is gzip's */
	if (ret == Z_MEM_ERROR)
		errno = ENOMEM;
	for (bool ok = begin(&u, size); ok && ret == Z_OK;) {
		const size_t room = u.cap - u.n;

		gz.next_out = u.bytes + u.n;
		gz.avail_out = (uInt)room;
		ret = inflate(&gz, Z_NO_FLUSH);
		u.n += room - gz.avail_out;
		ok = ret == Z_STREAM_END || (is_full(&u) ? make_room(&u, u.cap * 2) : gz.avail_in);
	}
	inflateEnd(&gz);
	return end(&u, ret == Z_STREAM_END, len);
}

static const struct packing {
	const char *name, *magic;
	size_t n_magic;
	void *(*unpack)(const void *data, size_t size, size_t *len);
} packings[] = {
	{"xz",
	 "\xfd"
	 "7zXZ\0",
	 6, unpack_xz},
	{"zstd", "\x28\xb5\x2f\xfd", 4, unpack_zstd},
	{"gzip", "\x1f\x8b", 2, unpack_gzip},
};

static const struct packing *packing_of(int fd)
{
	char magic[6] = {0};

	if (pread(fd, magic, sizeof(magic), 0) != sizeof(magic))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(packings); i++)
		if (!memcmp(magic, packings[i].magic, packings[i].n_magic))
			return &packings[i];
	return NULL;
}

struct error *file_bytes(int fd, size_t max, void **bytes, size_t *size)
{
	_cleanup_free_ uint8_t *data = NULL;
	struct stat st;
	size_t n = 0;

	if (fstat(fd, &st))
		return error_errno(errno, "cannot read");
	if ((uint64_t)st.st_size > max)
		return error_new(EFBIG, "larger than %zu MB", max >> 20);
	data = malloc((size_t)st.st_size + 1);
	if (!data)
		return error_nomem();
	for (ssize_t got = 1; got && n < (size_t)st.st_size; n += (size_t)got) {
		got = pread(fd, data + n, (size_t)st.st_size - n, (off_t)n);
		if (got < 0)
			return error_errno(errno, "cannot read");
	}
	*bytes = steal_ptr(data);
	*size = n;
	return NULL;
}

struct error *packed_file_read(int fd, void **image, size_t *size)
{
	_cleanup_free_ void *data = NULL;
	const struct packing *packing = packing_of(fd);
	size_t n = 0;

	*image = NULL;
	if (!packing)
		return NULL;
	TRY(file_bytes(fd, (size_t)min_of(file_max_bytes(fd), (uint64_t)PACKED_MAX), &data, &n));
	void *bytes = packing->unpack(data, n, size);
	if (!bytes && errno == ENOMEM)
		return error_nomem();
	if (!bytes)
		return error_new(EBADMSG, "not valid %s data, or larger than %zu MB", packing->name,
				 UNPACKED_MAX >> 20);
	*image = bytes;
	return NULL;
}
