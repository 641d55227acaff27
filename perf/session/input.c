// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where the bytes come from: a file, a pipe, or records unpacked from
 * COMPRESSED ones. All three are chunks of memory that is scanned record by
 * record; what is left at a chunk's end, a record cut in the middle, begins
 * the next chunk. A chunk stays as long as one of its records waits for its
 * turn.
 *
 * A file is mapped, for its header, but its records are read (pieces.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/sys/open_file.h"
#include "perf/session/internal.h"

#define PIPE_CHUNK	 (256 << 10)
#define UNPACK_CHUNK	 (256 << 10)
#define UNPACK_CHUNK_MIN 4096
/*
 * Of records that wait for the end of a round: their bytes that are in memory, and the runs that
 * say where they are. A sane round is far smaller. In a file whose times go backwards, each record
 * is a run and takes more memory than the record itself, and a few kilobytes of zstd are millions.
 * The rings of 500 CPUs have 256 MiB by default, and all that is read stays below 512 MiB.
 */
#define OWNED_MAX (384ull << 20)
/* What is read into memory: a recording file from a pipe; bytes behind a TRACING_DATA record. */
#define SLURP_MAX ((size_t)256 << 20)
#define EXTRA_MAX ((size_t)64 << 20)

struct unpack {
	ZSTD_DStream *stream;
	uint8_t *rest; /* a record cut at the end of the last chunk */
	size_t rest_size;
};

void chunk_put(struct session *s, struct chunk *chunk)
{
	if (--chunk->refs)
		return;
	s->input.owned -= chunk->mem_size;
	if (chunk->is_piece)
		pieces_give(&s->input.pieces, chunk->mem);
	else
		free(chunk->mem);
	free(chunk);
}

struct chunk *chunk_new(struct session *s, uint8_t *mem, size_t size)
{
	struct chunk *chunk = calloc(1, sizeof(*chunk));

	if (!chunk)
		return NULL;
	chunk->base = chunk->mem = mem;
	chunk->mem_size = mem ? size : 0;
	chunk->refs = 1;
	s->input.owned += chunk->mem_size;
	return chunk;
}

static const char *input_name(const struct session *s)
{
	return s->input.name ? s->input.name : s->path;
}

static struct error *bad_record(struct session *s, uint64_t offset, const char *what,
				unsigned int size)
{
	struct error *err = error_new(EBADMSG, "a record of %u bytes %s", size, what);

	error_at(err, "offset 0x%" PRIx64, offset);
	return error_at(err, "%s", input_name(s));
}

/* What stands behind a record of these types, outside it. */
static bool trailing_bytes(const struct session *s, uint32_t type, const uint8_t *rec, size_t size,
			   uint64_t *extra)
{
	struct cursor c = {.base = rec, .size = size, .pos = 8, .swap = s->header.swap};
	uint32_t v;

	*extra = 0;
	if (type == RECORD_HEADER_TRACING_DATA) {
		if (!cursor_u32(&c, &v))
			return false;
		*extra = v;
	} else if (type == RECORD_AUXTRACE) {
		return cursor_u64(&c, extra);
	}
	return true;
}

/* After these records of the file itself: what was unpacked is not in the file. */
static void give_back(struct session *s, const struct chunk *chunk, uint32_t type,
		      const uint8_t *read_to)
{
	const bool ends = type == RECORD_FINISHED_ROUND || type == RECORD_COMPRESSED ||
			  type == RECORD_COMPRESSED2;

	if (ends && !chunk->unpacked && s->input.pieces.reads_mapping)
		pieces_give_back(&s->input,
				 order_lowest(s, s->input.base + chunk_offset(chunk, read_to)));
}

/* Hands on all that waits if it takes too much memory. */
static struct error *limit_waiting(struct session *s)
{
	if (s->input.owned + order_memory(&s->order) <= s->input.owned_max)
		return NULL;
	if (!s->input.owned_warned)
		log_warn(s->log,
			 "%s: more than %" PRIu64 " MiB of records wait for their turn: "
			 "the order of time may suffer",
			 input_name(s), s->input.owned_max >> 20);
	s->input.owned_warned = true;
	return order_flush(s);
}

/* A record of the pipe at pos, which is followed by more than the left bytes that were read. */
static struct error *want(struct session *s, const struct chunk *chunk, const uint8_t *pos,
			  const struct perf_event_header *h, uint64_t extra, size_t left)
{
	if (h->type == RECORD_AUXTRACE) {
		s->input.skip = extra - left;
		return NULL;
	}
	if (extra > EXTRA_MAX)
		return bad_record(s, chunk_offset(chunk, pos), "has too much data behind it",
				  h->size);
	s->input.wanted = (size_t)(h->size + extra);
	return NULL;
}

/*
 * Takes whole records from [pos, end) of a chunk; *rest is where a cut one
 * begins, or end.
 */
static struct error *scan(struct session *s, struct chunk *chunk, const uint8_t *pos,
			  const uint8_t *end, const uint8_t **rest)
{
	const bool swap = s->header.swap, ordered = !s->tool->unordered;
	struct error *err = NULL;

	while ((size_t)(end - pos) >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;
		uint64_t extra, ts;

		memcpy(&h, pos, sizeof(h));
		if (swap) {
			h.type = bswap_32(h.type);
			h.size = bswap_16(h.size);
		}
		if (h.size < sizeof(h)) {
			err = bad_record(
				s, chunk_offset(chunk, pos),
				"is smaller than a record header; the file is damaged here",
				h.size);
			break;
		}
		if (h.size > (size_t)(end - pos))
			break;
		if (h.type >= RECORD_HEADER_ATTR) {
			if (!trailing_bytes(s, h.type, pos, h.size, &extra)) {
				err = bad_record(s, chunk_offset(chunk, pos),
						 "is too short for its type", h.size);
				break;
			}
			const size_t left = (size_t)(end - pos) - h.size;
			if (extra > left && s->input.fd >= 0 && !chunk->unpacked) {
				err = want(s, chunk, pos, &h, extra, left);
				if (err || s->input.wanted)
					break;
				extra = left;
			}
			if (extra > left)
				break;
			const uint8_t *rec = pos;
			pos += h.size + extra;
			err = session_user_record(s, chunk, rec, h.size, (size_t)extra);
			if (err)
				break;
			give_back(s, chunk, h.type, pos);
			continue;
		}
		if (ordered && record_time(s, h.type, pos, h.size, &ts)) {
			if (!order_queue(s, chunk, pos, h.size, ts)) {
				err = error_nomem();
				break;
			}
			err = limit_waiting(s);
		} else {
			err = session_deliver(s, chunk, pos, h.size);
		}
		if (err)
			break;
		pos += h.size;
	}
	*rest = pos;
	return err;
}

/* The bytes behind the last whole record, where the input ends. */
static struct error *cut_off(struct session *s, uint64_t offset, size_t left)
{
	if (!left)
		return NULL;
	if (!s->header.pipe && !s->header.unclean) {
		struct error *err = error_new(EBADMSG, "a record ends past the end of the data");
		error_at(err, "offset 0x%" PRIx64, offset);
		return error_at(err, "%s", input_name(s));
	}
	s->cut_off = true;
	log_warn(s->log, "%s: offset 0x%" PRIx64 ": the recording ends in the middle of a record",
		 input_name(s), offset);
	return NULL;
}

/* Of the file that is mapped at base. */
static struct error *process_bytes(struct session *s, const uint8_t *base, uint64_t offset,
				   uint64_t size)
{
	struct chunk *chunk = chunk_new(s, NULL, 0);
	const uint8_t *rest;

	if (!chunk)
		return error_nomem();
	chunk->base = base + offset;
	chunk->file_offset = offset;
	struct error *err = scan(s, chunk, chunk->base, chunk->base + size, &rest);
	if (!err)
		err = cut_off(s, chunk_offset(chunk, rest), (size_t)(chunk->base + size - rest));
	chunk_put(s, chunk);
	return err;
}

/*
 * Of the mapped file. Stacks, and a record that is larger than a piece, are read where they are
 * mapped.
 */
static struct error *process_file(struct session *s, uint64_t offset, uint64_t size)
{
	const uint64_t end = offset + size;
	const size_t most = pieces_size(&s->input, size);
	const uint8_t *rest;

	if (session_has_stacks(s)) {
		s->input.pieces.reads_mapping = true;
		return process_bytes(s, s->input.base, offset, size);
	}
	while (offset < end) {
		const size_t n = min_of((uint64_t)most, end - offset);
		struct chunk *chunk;

		TRY(pieces_read(s, offset, n, &chunk));
		struct error *err = scan(s, chunk, chunk->base, chunk->base + n, &rest);
		const size_t done = (size_t)(rest - chunk->base);
		chunk_put(s, chunk);
		if (err)
			return err;
		offset += done;
		if (n - done == end - offset)
			return cut_off(s, offset, n - done);
		if (!done) {
			s->input.pieces.reads_mapping = true;
			return process_bytes(s, s->input.base, offset, end - offset);
		}
	}
	return NULL;
}

struct error *input_push(struct session *s, const struct iovec *iov, int n)
{
	const uint8_t *rest;
	size_t size = 0, at = 0;

	for (int i = 0; i < n; i++)
		size += iov[i].iov_len;
	uint8_t *mem = malloc(size + 1);
	struct chunk *chunk = mem ? chunk_new(s, mem, size) : NULL;
	if (!chunk) {
		free(mem);
		return error_nomem();
	}
	for (int i = 0; i < n; at += iov[i++].iov_len)
		memcpy(mem + at, iov[i].iov_base, iov[i].iov_len);
	struct error *err = scan(s, chunk, mem, mem + size, &rest);
	if (!err && rest != mem + size)
		err = bad_record(s, (uint64_t)(rest - mem), "the rest of a truncated record",
				 (unsigned int)(mem + size - rest));
	chunk_put(s, chunk);
	return err;
}

/* Reads at least min and at most max bytes, unless the pipe ends. */
static struct error *read_some(struct session *s, uint8_t *to, size_t min, size_t max, size_t *got)
{
	size_t n = 0;

	while (n < min) {
		ssize_t r = read(s->input.fd, to + n, max - n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return error_at(error_errno(errno, "cannot read"), "%s", input_name(s));
		if (!r)
			break;
		n += (size_t)r;
	}
	*got = n;
	return NULL;
}

/* Behind an AUXTRACE record, which nobody reads. */
static struct error *skip_bytes(struct session *s, uint64_t *offset)
{
	uint8_t bytes[1 << 14];
	size_t got = 1;

	while (s->input.skip && got) {
		TRY(read_some(s, bytes, 1, min_of(s->input.skip, (uint64_t)sizeof(bytes)), &got));
		s->input.skip -= got;
		*offset += got;
	}
	return s->input.skip ? cut_off(s, *offset, (size_t)min_of(s->input.skip, SIZE_MAX)) : NULL;
}

static struct error *process_pipe(struct session *s)
{
	_cleanup_free_ uint8_t *rest = NULL; /* the record that is cut, so far */
	size_t rest_size = 0, cap;
	uint64_t offset = DATA_PIPE_HEADER_SIZE;

	for (;;) {
		size_t got, missing;
		const uint8_t *end;

		/* TRACING_DATA may be larger than any chunk. All of it is read, then it is scanned.
		 */
		cap = max_of((size_t)PIPE_CHUNK, s->input.wanted);
		missing = s->input.wanted > rest_size ? s->input.wanted - rest_size : 1;
		s->input.wanted = 0;
		uint8_t *mem = malloc(cap);
		if (!mem)
			return error_nomem();
		if (rest_size)
			memcpy(mem, rest, rest_size);
		struct error *err = read_some(s, mem + rest_size, missing, cap - rest_size, &got);
		if (err || got < missing) {
			free(mem);
			return err ? err : cut_off(s, offset, rest_size + got);
		}
		/* A pipe gives little at a time; what waits takes no more than it needs. */
		size_t size = cap;
		if (rest_size + got < cap / 2) {
			uint8_t *smaller = realloc(mem, rest_size + got);
			if (smaller) {
				mem = smaller;
				size = rest_size + got;
			}
		}
		struct chunk *chunk = chunk_new(s, mem, size);
		if (!chunk) {
			free(mem);
			return error_nomem();
		}
		chunk->file_offset = offset;
		err = scan(s, chunk, mem, mem + rest_size + got, &end);
		if (!err) {
			rest_size = (size_t)(mem + rest_size + got - end);
			free(rest);
			rest = malloc(rest_size + 1);
			if (rest)
				memcpy(rest, end, rest_size);
			else
				err = error_nomem();
			offset += (uint64_t)(end - mem);
		}
		chunk_put(s, chunk);
		if (!err)
			err = skip_bytes(s, &offset);
		if (err)
			return err;
	}
}

static void unpack_end(struct session_input *in)
{
	if (!in->unpack)
		return;
	ZSTD_freeDStream(in->unpack->stream);
	free(in->unpack->rest);
	free(in->unpack);
	in->unpack = NULL;
}

/* One part that is damaged does not hide the others. */
static struct error *process_parts(struct session *s, struct error *err)
{
	struct input_part *part;

	vec_for_each (part, &s->input.parts) {
		if (err == SESSION_STOP)
			break;
		unpack_end(&s->input);
		s->input.name = part->path;
		struct error *next = process_bytes(s, part->base, 0, part->size);
		s->input.name = NULL;
		if (err && next != SESSION_STOP)
			error_free(next);
		else if (next == SESSION_STOP) {
			error_free(err);
			err = next;
		} else
			err = next;
	}
	return err;
}

struct error *input_process(struct session *s)
{
	struct error *err;

	if (s->input.fd >= 0)
		err = process_pipe(s);
	else if (s->header.pipe && s->input.mapped)
		err = process_file(s, DATA_PIPE_HEADER_SIZE, s->input.size - DATA_PIPE_HEADER_SIZE);
	else if (s->header.pipe)
		err = process_bytes(s, s->input.base, DATA_PIPE_HEADER_SIZE,
				    s->input.size - DATA_PIPE_HEADER_SIZE);
	else if (s->input.mapped && !s->input.parts.n)
		err = process_file(s, s->header.data_offset, s->header.data_size);
	else
		err = process_parts(s, process_bytes(s, s->input.base, s->header.data_offset,
						     s->header.data_size));
	if (err == SESSION_STOP)
		return err;
	s->header.unclean = s->header.unclean || s->awaits_end;
	/* What could be read is worth showing before the error is. */
	struct error *flushed = order_flush(s);
	if (!err)
		return flushed;
	if (flushed != SESSION_STOP)
		error_free(flushed);
	return err;
}

/*
 * COMPRESSED: the payloads are one zstd stream through the whole file. Each
 * is unpacked into chunks of its own; a record may straddle two of them.
 */
static struct error *unpack_error(struct session *s, const struct chunk *chunk, const uint8_t *rec,
				  const char *why)
{
	struct error *err = error_new(EBADMSG, "cannot decompress a COMPRESSED record: %s", why);

	error_at(err, "offset 0x%" PRIx64, chunk_offset(chunk, rec));
	return error_at(err, "%s", input_name(s));
}

static struct error *unpack_scan(struct session *s, uint8_t *mem, size_t cap, size_t size,
				 uint64_t file_offset)
{
	struct unpack *u = s->input.unpack;
	struct chunk *chunk = chunk_new(s, mem, cap);
	const uint8_t *end;

	if (!chunk) {
		free(mem);
		return error_nomem();
	}
	chunk->unpacked = true;
	chunk->file_offset = file_offset;
	struct error *err = scan(s, chunk, mem, mem + size, &end);
	u->rest_size = (size_t)(mem + size - end);
	free(u->rest);
	u->rest = NULL;
	if (u->rest_size) {
		u->rest = malloc(u->rest_size);
		if (u->rest)
			memcpy(u->rest, end, u->rest_size);
		else if (!err)
			err = error_nomem();
		if (!u->rest)
			u->rest_size = 0;
	}
	chunk_put(s, chunk);
	return err;
}

struct error *session_unpack(struct session *s, struct chunk *chunk, const uint8_t *rec,
			     size_t size)
{
	struct unpack *u = s->input.unpack;
	/* As in perf, what it holds is where the record is. */
	uint64_t offset = s->rec.file_offset;

	if (chunk->unpacked)
		return unpack_error(s, chunk, rec, "it is nested in another one");
	if (!u) {
		u = s->input.unpack = calloc(1, sizeof(*u));
		if (!u)
			return error_nomem();
	}
	if (!u->stream && !(u->stream = ZSTD_createDStream()))
		return error_nomem();
	ZSTD_inBuffer in = {rec, size, 0};
	for (;;) {
		/* A record with trailing bytes cannot be in here: 64 KiB hold every one. */
		size_t room = max_of((in.size - in.pos) * 8, (size_t)UNPACK_CHUNK_MIN);
		size_t cap = u->rest_size + min_of(room, (size_t)UNPACK_CHUNK);
		uint8_t *mem = malloc(cap);

		if (!mem)
			return error_nomem();
		if (u->rest_size)
			memcpy(mem, u->rest, u->rest_size);
		ZSTD_outBuffer out = {mem, cap, u->rest_size};
		size_t r = ZSTD_decompressStream(u->stream, &out, &in);
		if (ZSTD_isError(r)) {
			free(mem);
			return unpack_error(s, chunk, rec, ZSTD_getErrorName(r));
		}
		bool full = out.pos == out.size;
		if (out.pos == u->rest_size) {
			free(mem);
			if (in.pos == in.size)
				return NULL;
			continue;
		}
		if (out.pos < cap / 2) {
			uint8_t *smaller = realloc(mem, out.pos);
			if (smaller) {
				mem = smaller;
				cap = out.pos;
			}
		}
		TRY(unpack_scan(s, mem, cap, out.pos, offset));
		if (u->rest_size > UINT16_MAX)
			return unpack_error(s, chunk, rec,
					    "it contains a record that is too large");
		if (!full && in.pos == in.size)
			return NULL;
	}
}

static struct error *slurp_error(const struct session *s)
{
	struct error *err = error_new(EFBIG,
				      "a recording file that comes through a pipe may have "
				      "at most %zu MiB",
				      SLURP_MAX >> 20);

	error_at(err, "%s", input_name(s));
	return error_hint(err, "save it to a file, or record with 'record -o -'");
}

/* A file form that came through a pipe: read it all. It may have no end. */
static struct error *slurp(struct session *s, const uint8_t *start, size_t n)
{
	size_t cap = 1 << 20, size = n, got;
	uint8_t *mem = malloc(cap);

	if (!mem)
		return error_nomem();
	memcpy(mem, start, n);
	do {
		if (size == SLURP_MAX) {
			free(mem);
			return slurp_error(s);
		}
		if (size == cap) {
			uint8_t *bigger = realloc(mem, cap * 2);
			if (!bigger) {
				free(mem);
				return error_nomem();
			}
			mem = bigger;
			cap *= 2;
		}
		struct error *err = read_some(s, mem + size, 1, cap - size, &got);
		if (err) {
			free(mem);
			return err;
		}
		size += got;
	} while (got);
	s->input.base = mem;
	s->input.size = size;
	s->input.owned += size;
	return NULL;
}

struct error *input_map(const char *path, int fd, uint64_t size, const uint8_t **base)
{
	if (size != (size_t)size)
		return error_at(error_new(EFBIG, "is too large for this machine"), "%s", path);
	void *p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return error_at(error_errno(errno, "cannot map"), "%s", path);
	*base = p;
	return NULL;
}

static struct error *open_error(const char *path, int code)
{
	return error_at(error_errno(code, "cannot open"), "%s", path);
}

static struct error *check_owner(const char *path, const struct stat *st, bool force)
{
	if (force || !st->st_uid || st->st_uid == geteuid())
		return NULL;
	struct error *err =
		error_at(error_new(EPERM, "belongs to neither you nor root"), "%s", path);
	return error_hint(err, "use -f to read it anyway");
}

struct error *input_check_owner(const char *path, int fd, bool force, uint64_t *size)
{
	struct stat st;

	if (fstat(fd, &st))
		return open_error(path, errno);
	TRY(check_owner(path, &st, force));
	*size = (uint64_t)st.st_size;
	return NULL;
}

struct error *input_open_fd(struct session *s, const char *path, int *fd, bool force)
{
	struct stat st;

	s->input.owned_max = OWNED_MAX;
	if (fstat(*fd, &st))
		return open_error(path, errno);
	if (S_ISREG(st.st_mode)) {
		TRY(check_owner(path, &st, force));
		if (!st.st_size)
			return error_at(error_new(ENODATA, "is empty"), "%s", path);
		TRY(input_map(path, *fd, (uint64_t)st.st_size, &s->input.base));
		s->input.size = (size_t)st.st_size;
		s->input.mapped = true;
		s->input.file = steal_fd(fd);
	} else {
		uint8_t start[DATA_PIPE_HEADER_SIZE];
		size_t got;

		s->input.fd = steal_fd(fd);
		TRY(read_some(s, start, sizeof(start), sizeof(start), &got));
		if (!got)
			return error_at(error_new(ENODATA, "is empty"), "%s", path);
		if (data_is_pipe(start, got)) {
			struct cursor c = cursor_make(start, got, s->path);
			return data_header_decode_pipe(&c, &s->header);
		}
		/* Anything else may have no end: /dev/zero, a log that is followed. */
		if (!data_is_perf_data(start, got))
			return data_header_decode(start, got, s->path, s->log, &s->header);
		TRY(slurp(s, start, got));
		close(s->input.fd);
		s->input.fd = -1;
	}
	if (data_is_pipe(s->input.base, s->input.size)) {
		struct cursor c = cursor_make(s->input.base, s->input.size, s->path);
		return data_header_decode_pipe(&c, &s->header);
	}
	return data_header_decode(s->input.base, s->input.size, s->path, s->log, &s->header);
}

/* In a directory that others can write to, perf.data may be anything. */
static struct error *open_path(const char *path, bool force, int *fd)
{
	struct error *err = open_input(path, force, fd);

	if (err && err->code == ENOENT && !strcmp(path, "perf.data"))
		error_hint(err, "record one first: perf-bpf record -a -- sleep 4");
	else if (err && (err->code == EPERM || err->code == EINVAL))
		error_hint(err, "use -f to read it anyway");
	return err;
}

struct error *input_open(struct session *s, const char *path, bool force)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (strcmp(path, "-"))
		TRY(open_path(path, force, &fd));
	else
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd < 0 || fstat(fd, &st))
		return open_error(path, errno);
	if (S_ISDIR(st.st_mode))
		return input_open_dir(s, path, force);
	TRY(input_open_fd(s, path, &fd, force));
	if (!s->header.dir_version)
		return NULL;
	return error_hint(
		error_at(error_new(EINVAL, "its events are in other files of the directory"), "%s",
			 path),
		"name the directory");
}

void input_deinit(struct session *s)
{
	struct session_input *in = &s->input;

	unpack_end(in);
	input_parts_deinit(s);
	pieces_deinit(&in->pieces);
	if (in->mapped)
		munmap((void *)in->base, in->size);
	else
		free((void *)in->base);
	if (in->fd >= 0)
		close(in->fd);
	if (in->file >= 0)
		close(in->file);
}
