// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writing perf.data, so that whatever ends the recorder (SIGKILL, a full
 * disk) leaves a file that we and perf can read up to the last full round.
 *
 * A reader finds the table of features right behind the data section, whose
 * size stands in the header; and perf refuses a file with tracepoints whose
 * TRACING_DATA it cannot find. So at every moment a table must stand where
 * the header says that the data end, and yet the data must grow over it.
 *
 * Both are had by a table that is a record, too. What features are known at
 * start is written before the data: a table's entries may point anywhere. At
 * the end of each round this follows:
 *
 *	FINISHED_ROUND record		the data end here, says the header
 *	table of features
 *
 * and the next round is written behind the table. To a reader that comes when
 * the data have grown, the table is a record of the type HEADER_EVENT_TYPE,
 * which perf has skipped since Linux 3.x: its first entry belongs to bit 0 of
 * the features, which is reserved and which nobody looks up, so that entry's
 * offset can be the header of a record as long as the table:
 *
 *	type 65, misc 0, size 16 * n | magic     entry of bit 0: offset, size
 *	offset, size                             entry of bit 1, …
 *
 * (perf tries to seek there, fails, and goes on with the next.) First comes
 * the write of round and table, then one of 8 bytes that moves the data's end
 * in the header: between them the old table is still whole.
 *
 * data_writer_save() writes the same without the FINISHED_ROUND record, for records that are in no
 * order of rounds.
 *
 * So a round costs some 130 bytes in the file, and two short writes. The table
 * names only the features that records cannot be read without.
 *
 * A clean end writes a last table without bit 0, the features that were told
 * late behind it, and the header in one piece. Files of a recorder that was
 * killed can be told by bit 0.
 *
 * Ids that an event gets late are among the records, too, with all the ids that
 * the event had before: the payload of a record of the same type, to which the
 * event's entry in the header then points.
 *
 * The pipe form knows no sections; there all of this comes as records. Its end is a record, too.
 */
#include "perf/data/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "lib/sys/open_file.h"
#include "lib/sys/write_stream.h"
#include "lib/sys/earlier_recording.h"
#include "perf/data/features.h"
#include "perf/data/internal.h"
#include "perf/event/encode.h"

/* Of uncompressed bytes, so that the COMPRESSED record holds them in any case. */
#define PACK_CHUNK     (60 << 10)
#define PACK_MAX       (65528 - sizeof(struct perf_event_header) - sizeof(uint64_t))
#define MMAP_LEN_USUAL (512 << 10)
#define PATIENCE_MS    1000 /* with a reader, when the recording is to end */

struct feature {
	uint8_t *bytes;
	size_t size;
	bool set;
	bool late; /* bytes are newer than what is in the file */
	bool in_file;
	struct data_section where; /* when in_file */
};

struct data_writer {
	char *path;
	int fd;
	bool pipe, started, finished, is_ending, is_part, is_spoilt;
	uint64_t max_size;
	int zstd_level;
	bool compressed2;
	uint32_t mmap_len;
	ZSTD_CCtx *zstd;
	struct strbuf packed; /* scratch of compression */
	VEC(struct data_event) events;
	struct feature features[DATA_LAST_FEATURE];
	struct data_file_header header; /* as it stands in the file */
	uint64_t pos;			/* bytes written */
	uint64_t checkpoint;		/* the end of the last round and its table */
	uint64_t packed_raw, packed_size;
	struct strbuf scratch;
	struct error *failed; /* the first write error */
};

/* ---- bytes out ---- */

static struct error *failed_again(const struct data_writer *w)
{
	struct error *err = error_new(w->failed->code, "%s", w->failed->msg);

	error_at(err, "%s", w->path);
	return w->failed->hint ? error_hint(err, "%s", w->failed->hint) : err;
}

static struct error *fail(struct data_writer *w, int code, const char *what)
{
	w->failed = error_errno(code, "%s", what);
	if (!w->pipe && w->started)
		error_hint(w->failed, "everything up to the last complete round can be read");
	return failed_again(w);
}

/* Ctrl-C must end a recording whose reader has stopped. */
static struct error *write_pipe(struct data_writer *w, const struct iovec *iov, int n)
{
	const struct write_stream_opts opts = {.patience_ms = PATIENCE_MS,
					       .is_ending = w->is_ending};
	enum stream_state state = STREAM_OPEN;

	for (int i = 0; i < n; i++) {
		size_t written;
		_cleanup_error_ struct error *err = write_stream(
			w->fd, iov[i].iov_base, iov[i].iov_len, &opts, &written, &state);

		w->pos += written;
		if (err || state == STREAM_CLOSED)
			return fail(w, err ? err->code : EPIPE, "cannot write");
		if (state == STREAM_STALLED) {
			w->failed = error_hint(
				error_new(EPIPE, "the reader of the output does not read it"),
				"its end is missing; run the reader for as long as the recording");
			return failed_again(w);
		}
	}
	return NULL;
}

static struct error *write_iov(struct data_writer *w, const struct iovec *iov, int n)
{
	struct iovec left[8];

	if (w->failed)
		return failed_again(w);
	if (w->pipe)
		return write_pipe(w, iov, n);
	for (; n > 8; iov += 8, n -= 8)
		TRY(write_iov(w, iov, 8));
	memcpy(left, iov, (size_t)n * sizeof(*iov));
	for (int i = 0; i < n;) {
		ssize_t r = writev(w->fd, left + i, n - i);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return fail(w, errno, "cannot write");
		w->pos += (uint64_t)r;
		while (i < n && (size_t)r >= left[i].iov_len)
			r -= (ssize_t)left[i++].iov_len;
		if (i < n) {
			left[i].iov_base = (char *)left[i].iov_base + r;
			left[i].iov_len -= (size_t)r;
		}
	}
	return NULL;
}

static struct error *write_bytes(struct data_writer *w, const void *bytes, size_t size)
{
	struct iovec iov = {(void *)bytes, size};

	return size ? write_iov(w, &iov, 1) : NULL;
}

static struct error *write_buf(struct data_writer *w, const struct strbuf *sb)
{
	return strbuf_failed(sb) ? error_nomem() : write_bytes(w, strbuf_str(sb), sb->len);
}

/* Never in the middle of the header: a reader sees the old one or the new. */
static struct error *write_header(struct data_writer *w, const void *from, size_t offset,
				  size_t size)
{
	ssize_t r;

	do
		r = pwrite(w->fd, from, size, (off_t)offset);
	while (r < 0 && errno == EINTR);
	if (r != (ssize_t)size)
		return fail(w, r < 0 ? errno : ENOSPC, "cannot write the header");
	return NULL;
}

/* ---- open, events, features ---- */

static struct error *open_output(const char *path, int *fd)
{
	_cleanup_output_path_ struct output_path out = {.dir_fd = -1};

	TRY(output_find_dir(path, &out));
	TRY(error_at(earlier_recording_keep(&out), "%s", path));
	/* not for reading: who holds a FIFO open for that never sees that its reader has gone */
	if (out.is_special)
		return error_prefix(open_stream(out.dir_fd, out.name, out.is_magic ? 0 : O_NOFOLLOW,
						fd),
				    "cannot write '%s'", path);
	return output_create(&out, path, O_RDWR, 0600, fd);
}

struct error *data_writer_open(const char *path, const struct data_writer_opts *opts,
			       struct data_writer **out)
{
	_cleanup_close_ int fd = -1;

	if (strcmp(path, "-")) {
		TRY(open_output(path, &fd));
		return data_writer_open_fd(path, &fd, opts, out);
	}
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	TRY(data_writer_open_fd("standard output", &fd, opts, out));
	(*out)->pipe = true;
	return NULL;
}

struct error *data_writer_open_fd(const char *path, int *fd, const struct data_writer_opts *opts,
				  struct data_writer **out)
{
	_cleanup_(data_writer_freep) struct data_writer *w = calloc(1, sizeof(*w));
	struct stat st;

	if (!w)
		return error_nomem();
	w->fd = steal_fd(fd);
	w->path = strdup(path);
	if (!w->path)
		return error_nomem();
	if (opts) {
		w->max_size = opts->max_size;
		w->zstd_level = opts->zstd_level;
		w->compressed2 = opts->compressed2;
		w->is_part = opts->is_part;
		w->mmap_len = opts->mmap_len;
	}
	if (w->fd < 0 || fstat(w->fd, &st))
		return error_at(error_errno(errno, "cannot open for writing"), "%s", w->path);
	if (!S_ISREG(st.st_mode))
		w->pipe = true;
	if (w->zstd_level) {
		w->zstd = ZSTD_createCCtx();
		if (!w->zstd)
			return error_nomem();
		size_t r = ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, w->zstd_level);
		if (ZSTD_isError(r))
			return error_new(EINVAL, "zstd level %d: %s", w->zstd_level,
					 ZSTD_getErrorName(r));
	}
	*out = steal_ptr(w);
	return NULL;
}

struct error *data_writer_add_event(struct data_writer *w, const struct perf_event_attr *attr,
				    const char *name, const uint64_t *ids, size_t n_ids)
{
	struct data_event ev = {.attr = *attr, .n_ids = n_ids};

	ev.attr.size = sizeof(ev.attr);
	ev.name = strdup(name ? name : "");
	ev.ids = calloc(n_ids + 1, sizeof(*ids));
	struct data_event *slot = ev.name && ev.ids ? vec_push(&w->events) : NULL;
	if (!slot) {
		free(ev.name);
		free(ev.ids);
		return error_nomem();
	}
	if (n_ids)
		memcpy(ev.ids, ids, n_ids * sizeof(*ids));
	*slot = ev;
	return NULL;
}

static struct error *set_feature(struct data_writer *w, unsigned int feature, const void *bytes,
				 size_t size)
{
	struct feature *f = &w->features[feature];
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		return error_nomem();
	memcpy(copy, bytes, size);
	free(f->bytes);
	f->bytes = copy;
	f->size = size;
	f->set = f->late = true;
	return NULL;
}

/* A feature of the pipe form; one too large for a record is left out, as perf does. */
static struct error *pipe_feature(struct data_writer *w, unsigned int feature)
{
	struct feature *f = &w->features[feature];

	strbuf_reset(&w->scratch);
	if (feature == DATA_TRACING_DATA)
		record_encode_tracing_data(&w->scratch, f->bytes, (uint32_t)f->size);
	else if (feature == DATA_BUILD_ID)
		strbuf_add(&w->scratch, f->bytes, f->size);
	else if (data_features[feature].record)
		record_encode_header_feature(&w->scratch, feature, f->bytes, f->size);
	return write_buf(w, &w->scratch);
}

struct error *data_writer_feature(struct data_writer *w, enum data_feature feature,
				  const void *bytes, size_t size)
{
	if (!feature || feature >= DATA_LAST_FEATURE)
		return error_new(EINVAL, "unknown feature %u", feature);
	TRY(set_feature(w, feature, bytes, size));
	return w->pipe && w->started ? pipe_feature(w, feature) : NULL;
}

/* ---- start ---- */

static struct error *own_features(struct data_writer *w)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	if (!w->features[DATA_EVENT_DESC].set) {
		feature_build_event_desc(&sb, w->events.v, w->events.n);
		if (strbuf_failed(&sb))
			return error_nomem();
		TRY(set_feature(w, DATA_EVENT_DESC, sb.str, sb.len));
	}
	if (w->zstd) {
		/* version, type zstd, level, ratio, length of a ring */
		uint32_t z[5] = {1, 1, (uint32_t)w->zstd_level,
				 w->packed_size ? (uint32_t)((w->packed_raw + w->packed_size / 2) /
							     w->packed_size)
						: 0,
				 max_of(w->mmap_len, (uint32_t)MMAP_LEN_USUAL)};
		TRY(set_feature(w, DATA_COMPRESSED, z, sizeof(z)));
	}
	return NULL;
}

static void pad_buf(struct strbuf *sb)
{
	static const char zeros[8];

	strbuf_add(sb, zeros, -sb->len & 7);
}

/*
 * The features that are not in the file yet; sb will stand at offset in it. Each begins at a
 * multiple of 8. Nothing is behind the last one: of a file that is cut a feature is missing, and
 * not zeros only.
 */
static void put_features(struct data_writer *w, struct strbuf *sb, uint64_t offset)
{
	for (unsigned int i = 1; i < DATA_LAST_FEATURE; i++) {
		struct feature *f = &w->features[i];

		if (!f->late)
			continue;
		pad_buf(sb);
		f->where = (struct data_section){offset + sb->len, f->size};
		f->late = false;
		f->in_file = true;
		strbuf_add(sb, f->bytes, f->size);
	}
}

/* What the tables between the rounds name: as little as makes the records readable. */
static const uint64_t checkpoint_features =
	1ull << DATA_TRACING_DATA | 1ull << DATA_HOSTNAME | 1ull << DATA_OSRELEASE |
	1ull << DATA_ARCH | 1ull << DATA_NRCPUS | 1ull << DATA_CMDLINE | 1ull << DATA_EVENT_DESC |
	1ull << DATA_BPF_PROG_INFO | 1ull << DATA_BPF_BTF | 1ull << DATA_CLOCKID |
	1ull << DATA_DIR_FORMAT | 1ull << DATA_COMPRESSED;

/*
 * The table: where each feature of a set is in the file, the lowest bit first. An unfinished
 * recording has the bit of checkpoints, so that readers know that events are missing.
 */
static void add_table(struct data_writer *w, struct strbuf *sb, uint64_t features, bool unfinished)
{
	struct data_section table[DATA_LAST_FEATURE];
	size_t n = 0;

	memset(w->header.features, 0, sizeof(w->header.features));
	if (unfinished) {
		w->header.features[0] |= 1ull << DATA_CHECKPOINT_BIT;
		n++;
	}
	for (unsigned int i = 1; i < DATA_LAST_FEATURE; i++) {
		if (!w->features[i].in_file || !(features >> i & 1))
			continue;
		w->header.features[0] |= 1ull << i;
		table[n++] = w->features[i].where;
	}
	if (unfinished) {
		struct perf_event_header h = {
			.type = RECORD_HEADER_EVENT_TYPE,
			.size = (uint16_t)(n * sizeof(*table)),
		};
		memcpy(&table[0].offset, &h, sizeof(h));
		table[0].size = DATA_CHECKPOINT_MAGIC;
	}
	strbuf_add(sb, table, n * sizeof(*table));
}

static struct error *file_start(struct data_writer *w)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	w->header = (struct data_file_header){
		.magic = DATA_MAGIC,
		.size = sizeof(w->header),
		.attr_size = sizeof(struct perf_event_attr) + sizeof(struct data_section),
	};
	strbuf_add(&sb, &w->header, sizeof(w->header));
	uint64_t ids = sb.len;
	for (size_t i = 0; i < w->events.n; i++)
		strbuf_add(&sb, w->events.v[i].ids, w->events.v[i].n_ids * sizeof(uint64_t));
	w->header.attrs.offset = sb.len;
	for (size_t i = 0; i < w->events.n; i++) {
		struct data_section s = {ids, w->events.v[i].n_ids * sizeof(uint64_t)};

		strbuf_add(&sb, &w->events.v[i].attr, sizeof(struct perf_event_attr));
		strbuf_add(&sb, &s, sizeof(s));
		ids += s.size;
	}
	w->header.attrs.size = sb.len - w->header.attrs.offset;
	put_features(w, &sb, 0);
	pad_buf(&sb);
	w->header.data.offset = sb.len;
	/* A round without records, so that the data are not of size 0. */
	record_encode_finished_round(&sb);
	w->header.data.size = sb.len - w->header.data.offset;
	add_table(w, &sb, checkpoint_features, true);
	if (strbuf_failed(&sb))
		return error_nomem();
	memcpy(sb.str, &w->header, sizeof(w->header));
	TRY(write_buf(w, &sb));
	w->checkpoint = w->pos;
	return NULL;
}

/* A reader that has seen the first and not the second knows that the end is missing. */
static void add_mark(struct strbuf *sb, bool is_end)
{
	const struct record_ledger mark = {.kind = LEDGER_PIPE, .count = is_end};

	record_encode_ledger(sb, &mark);
}

static struct error *pipe_start(struct data_writer *w)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	uint64_t header[2] = {DATA_MAGIC, DATA_PIPE_HEADER_SIZE};

	strbuf_add(&sb, header, sizeof(header));
	add_mark(&sb, false);
	for (size_t i = 0; i < w->events.n; i++) {
		const struct data_event *ev = &w->events.v[i];
		record_encode_header_attr(&sb, &ev->attr, ev->ids, ev->n_ids);
	}
	TRY(write_buf(w, &sb));
	for (unsigned int i = DATA_BUILD_ID; i < DATA_LAST_FEATURE; i++)
		if (w->features[i].set)
			TRY(pipe_feature(w, i));
	strbuf_reset(&sb);
	for (size_t i = 0; i < w->events.n; i++) {
		const struct data_event *ev = &w->events.v[i];
		if (*ev->name && ev->n_ids)
			record_encode_event_name(&sb, ev->ids[0], ev->name);
	}
	TRY(write_buf(w, &sb));
	if (w->features[DATA_TRACING_DATA].set)
		TRY(pipe_feature(w, DATA_TRACING_DATA));
	w->header.data.offset = w->pos;
	return NULL;
}

struct error *data_writer_start(struct data_writer *w)
{
	if (!w->is_part) {
		TRY(own_features(w));
		TRY(w->pipe ? pipe_start(w) : file_start(w));
	}
	w->started = true;
	return NULL;
}

/* ---- records ---- */

/* COMPRESSED2 tells how many bytes it has, so that records behind it can begin at a multiple of 8.
 */
static void pack_record(struct data_writer *w, const uint8_t *bytes, size_t size)
{
	const uint64_t data_size = size;
	struct perf_event_header h = {
		.type = w->compressed2 ? RECORD_COMPRESSED2 : RECORD_COMPRESSED,
		.size = (uint16_t)(w->compressed2
					   ? sizeof(h) + sizeof(data_size) + round_up(size, 8)
					   : sizeof(h) + size),
	};

	strbuf_add(&w->packed, &h, sizeof(h));
	if (w->compressed2)
		strbuf_add(&w->packed, &data_size, sizeof(data_size));
	strbuf_add(&w->packed, bytes, size);
	if (w->compressed2)
		pad_buf(&w->packed);
	w->packed_size += h.size;
}

/* One piece, flushed, so that the record can be unpacked when it is read. */
static struct error *pack_piece(struct data_writer *w, const void *bytes, size_t size)
{
	uint8_t buf[PACK_MAX];
	ZSTD_inBuffer in = {bytes, size, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {buf, sizeof(buf), 0};
		left = ZSTD_compressStream2(w->zstd, &out, &in, ZSTD_e_flush);
		if (ZSTD_isError(left))
			return error_new(EIO, "cannot compress: %s", ZSTD_getErrorName(left));
		if (out.pos)
			pack_record(w, buf, out.pos);
	} while (left);
	w->packed_raw += size;
	return NULL;
}

static struct error *write_packed(struct data_writer *w, const struct iovec *iov, int n)
{
	if (w->failed)
		return failed_again(w);
	strbuf_reset(&w->packed);
	for (int i = 0; i < n; i++) {
		const uint8_t *p = iov[i].iov_base;
		for (size_t left = iov[i].iov_len; left;) {
			size_t now = min_of(left, (size_t)PACK_CHUNK);
			TRY(pack_piece(w, p, now));
			p += now;
			left -= now;
		}
	}
	return write_buf(w, &w->packed);
}

struct error *data_writer_write(struct data_writer *w, const struct iovec *iov, int n)
{
	return w->zstd ? write_packed(w, iov, n) : write_iov(w, iov, n);
}

struct error *data_writer_records(struct data_writer *w, const void *bytes, size_t size)
{
	return write_bytes(w, bytes, size);
}

static struct error *pipe_add_ids(struct data_writer *w, const struct data_event *ev,
				  const uint64_t *ids, size_t n_ids)
{
	strbuf_reset(&w->scratch);
	record_encode_header_attr(&w->scratch, &ev->attr, ids, n_ids);
	record_encode_event_name(&w->scratch, ids[0], ev->name);
	return write_buf(w, &w->scratch);
}

static struct error *file_add_ids(struct data_writer *w, size_t event)
{
	const struct data_event *ev = &w->events.v[event];
	struct data_section ids = {.size = ev->n_ids * sizeof(uint64_t)};
	struct perf_event_header h = {.type = RECORD_HEADER_EVENT_TYPE};
	const uint64_t entry = w->header.attrs.offset + event * w->header.attr_size;

	if (sizeof(h) + ids.size > UINT16_MAX)
		return error_new(E2BIG, "event '%s' has too many ids", ev->name);
	h.size = (uint16_t)(sizeof(h) + ids.size);
	ids.offset = w->pos + sizeof(h);
	strbuf_reset(&w->scratch);
	strbuf_add(&w->scratch, &h, sizeof(h));
	strbuf_add(&w->scratch, ev->ids, ids.size);
	TRY(write_buf(w, &w->scratch));
	return write_header(w, &ids, entry + sizeof(ev->attr), sizeof(ids));
}

struct error *data_writer_add_ids(struct data_writer *w, size_t event, const uint64_t *ids,
				  size_t n_ids)
{
	struct data_event *ev = &w->events.v[event];
	uint64_t *all = realloc(ev->ids, (ev->n_ids + n_ids) * sizeof(*all));

	if (!all)
		return error_nomem();
	memcpy(all + ev->n_ids, ids, n_ids * sizeof(*ids));
	ev->ids = all;
	ev->n_ids += n_ids;
	return w->pipe ? pipe_add_ids(w, ev, ids, n_ids) : file_add_ids(w, event);
}

/* Moves the data's end behind what is in scratch, which comes first. */
static struct error *write_checkpoint(struct data_writer *w)
{
	const uint64_t end = w->pos + w->scratch.len;

	add_table(w, &w->scratch, checkpoint_features, true);
	TRY(write_buf(w, &w->scratch));
	w->header.data.size = end - w->header.data.offset;
	TRY(write_header(w, &w->header.data.size, offsetof(struct data_file_header, data.size),
			 sizeof(w->header.data.size)));
	w->checkpoint = w->pos;
	return NULL;
}

/* A part is whole up to here. */
static struct error *part_save(struct data_writer *w)
{
	if (w->failed)
		return failed_again(w);
	w->checkpoint = w->pos;
	return NULL;
}

struct error *data_writer_round(struct data_writer *w)
{
	if (w->is_part)
		return part_save(w);
	if (w->pos == w->checkpoint)
		return w->failed ? failed_again(w) : NULL;
	strbuf_reset(&w->scratch);
	record_encode_finished_round(&w->scratch);
	return w->pipe ? write_buf(w, &w->scratch) : write_checkpoint(w);
}

struct error *data_writer_save(struct data_writer *w)
{
	if (w->is_part)
		return part_save(w);
	if (w->pos == w->checkpoint || w->pipe)
		return w->failed ? failed_again(w) : NULL;
	strbuf_reset(&w->scratch);
	return write_checkpoint(w);
}

/* ---- finish ---- */

static struct error *file_finish(struct data_writer *w, bool unfinished)
{
	_cleanup_strbuf_ struct strbuf table = STRBUF_INIT, late = STRBUF_INIT;
	size_t n = unfinished;

	for (unsigned int i = 1; i < DATA_LAST_FEATURE; i++)
		n += w->features[i].set;
	uint64_t end = w->pos, offset = end + n * sizeof(struct data_section);
	put_features(w, &late, offset);
	add_table(w, &table, UINT64_MAX, unfinished);
	if (strbuf_failed(&late) || strbuf_failed(&table))
		return error_nomem();
	TRY(write_buf(w, &table));
	TRY(write_buf(w, &late));
	w->header.data.size = end - w->header.data.offset;
	return write_header(w, &w->header, 0, sizeof(w->header));
}

static struct error *pipe_end(struct data_writer *w)
{
	strbuf_reset(&w->scratch);
	add_mark(&w->scratch, true);
	return write_buf(w, &w->scratch);
}

struct error *data_writer_finish(struct data_writer *w)
{
	if (w->finished || !w->started)
		return NULL;
	const bool unfinished = w->failed || w->is_spoilt;

	w->finished = true;
	if (w->pipe)
		return unfinished ? NULL : pipe_end(w);
	if (w->is_part) /* what is behind the checkpoint is not whole */
		return unfinished && ftruncate(w->fd, (off_t)w->checkpoint)
			       ? fail(w, errno, "cannot truncate")
			       : NULL;
	if (w->failed) {
		/* Back to the last round; there may be room for the features now. */
		_cleanup_error_ struct error *first = w->failed;
		w->failed = NULL;
		if (ftruncate(w->fd, (off_t)w->checkpoint) ||
		    lseek(w->fd, (off_t)w->checkpoint, SEEK_SET) < 0) {
			w->failed = steal_ptr(first);
			return NULL;
		}
		w->pos = w->checkpoint;
	}
	if (w->zstd)
		TRY(own_features(w));
	struct error *err = file_finish(w, unfinished);
	if (err && ftruncate(w->fd, (off_t)w->checkpoint))
		return err; /* what stands behind the checkpoint does no harm */
	return err;
}

void data_writer_spoil(struct data_writer *w)
{
	w->is_spoilt = true;
}

void data_writer_free(struct data_writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->events.n; i++) {
		free(w->events.v[i].name);
		free(w->events.v[i].ids);
	}
	vec_deinit(&w->events);
	for (unsigned int i = 0; i < DATA_LAST_FEATURE; i++)
		free(w->features[i].bytes);
	ZSTD_freeCCtx(w->zstd);
	strbuf_deinit(&w->packed);
	strbuf_deinit(&w->scratch);
	error_free(w->failed);
	closep(&w->fd);
	free(w->path);
	free(w);
}

uint64_t data_writer_bytes(const struct data_writer *w)
{
	return w->pos;
}

bool data_writer_is_full(const struct data_writer *w)
{
	return w->max_size && w->pos >= w->max_size;
}

void data_writer_end_soon(struct data_writer *w)
{
	w->is_ending = true;
}

bool data_writer_is_pipe(const struct data_writer *w)
{
	return w->pipe;
}
