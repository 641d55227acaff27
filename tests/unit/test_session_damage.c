// SPDX-License-Identifier: BSD-2-Clause
/* Recordings that are damaged, cut off, or none. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/unit/session_seen.h"

static void fill_all(struct image *im)
{
	fill_simple(im);
	fill_kernel(im);
	fill_ties(im);
	size_t at = image_begin(im, RECORD_HEADER_TRACING_DATA, 0);
	image_u32(im, 16);
	image_u32(im, 0);
	image_end(im, at);
	image_zeros(im, 16);
	image_fork(im, 20, 10, 20, 10, 100);
}

static void fill_packed(struct image *im)
{
	size_t at = image_begin(im, RECORD_COMPRESSED, 0);

	/* A zstd frame: magic, descriptor, window, a raw block of 8 bytes: FINISHED_ROUND. */
	strbuf_add(&im->sb, "\x28\xb5\x2f\xfd\x00\x58\x41\x00\x00", 9);
	image_round(im);
	image_end(im, at);
}

static void sweep(image_fill_fn fill, bool flip)
{
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		size_t ok = 0, failed = 0;

		image_file(&im, fill);
		struct memfile f = memfile_new(im.sb.str, im.sb.len);
		size_t n = flip ? im.sb.len * 8 : im.sb.len;
		for (size_t i = 0; i < n; i++) {
			struct seen seen = seen_new();
			uint8_t byte = (uint8_t)im.sb.str[i / 8];

			seen.quiet = true;
			if (flip) {
				uint8_t flipped = byte ^ (uint8_t)(1 << i % 8);
				assert_int_equal(pwrite(f.fd, &flipped, 1, (off_t)(i / 8)), 1);
			} else {
				assert_int_equal(ftruncate(f.fd, (off_t)(im.sb.len - 1 - i)), 0);
			}
			struct error *err = read_path(f.path, &seen);
			if (err) {
				failed++;
				assert_non_null(err->where);
				assert_non_null(strstr(err->where, f.path));
			} else {
				ok++;
			}
			error_free(err);
			seen_deinit(&seen);
			if (flip)
				assert_int_equal(pwrite(f.fd, &byte, 1, (off_t)(i / 8)), 1);
		}
		/* Both happen: neither is everything refused nor anything accepted. */
		assert_true(ok > 20);
		assert_true(failed > 20);
		close(f.fd);
		strbuf_deinit(&im.sb);
	}
}

TEST(every_flipped_bit_is_survived)
{
	sweep(fill_all, true);
	sweep(fill_packed, true);
}

TEST(every_truncation_is_survived)
{
	sweep(fill_all, false);
	sweep(fill_packed, false);
}

TEST(a_file_cut_in_its_data_gives_what_is_there)
{
	struct image im = {0};
	struct seen seen = seen_new();

	image_file(&im, fill_simple);
	/* behind the second sample, in the middle of what follows */
	struct memfile f = memfile_new(im.sb.str, im.sb.len);
	struct image data = {0};
	fill_simple(&data);
	size_t start = 104 + 16 + 160;
	assert_int_equal(ftruncate(f.fd, (off_t)(start + data.sb.len - 50)), 0);
	assert_null(read_path(f.path, &seen));
	assert_int_equal(seen.samples, 2);
	close(f.fd);
	seen_deinit(&seen);
	strbuf_deinit(&im.sb);
	strbuf_deinit(&data.sb);
}

TEST(what_is_no_perf_data_is_told)
{
	static const struct {
		const char *bytes;
		size_t size;
		int code;
		const char *part;
	} files[] = {
		{"", 0, ENODATA, "is empty"},
		{"PERF", 4, EBADMSG, "too short"},
		{"ELF and nothing else", 20, EBADMSG, "is not a perf.data file"},
		{"PERFFILE and more than that", 27, EBADMSG, "is not a perf.data file"},
		{"PERFILE2\x68\0\0\0\0\0\0\0", 16, EBADMSG, "truncated"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct memfile f = memfile_new(files[i].bytes, files[i].size);
		struct session *s = NULL;
		struct error *err = session_open(f.path, NULL, &s);

		assert_non_null(err);
		assert_int_equal(err->code, files[i].code);
		assert_non_null(strstr(err->msg, files[i].part));
		assert_non_null(strstr(err->where, f.path));
		assert_null(s);
		error_free(err);
		close(f.fd);
	}
	struct session *s;
	struct error *err = session_open("/proc/nonexistent/perf.data", NULL, &s);
	assert_int_equal(err->code, ENOENT);
	error_free(err);
}

/* Its writer never ends: reading on to the end would take all time and memory. */
TEST(an_endless_stream_of_something_else_is_told)
{
	_cleanup_close_ int from = -1, to = -1;
	int ends[2];
	char path[32];
	struct session *s = NULL;

	assert_int_equal(pipe(ends), 0);
	from = ends[0];
	to = ends[1];
	assert_int_equal(write(to, "neither the one form nor the other", 34), 34);
	snprintf(path, sizeof(path), "/dev/fd/%d", from);
	alarm(120);
	struct error *err = session_open(path, NULL, &s);
	alarm(0);
	assert_non_null(err);
	assert_int_equal(err->code, EBADMSG);
	assert_non_null(strstr(err->msg, "is not a perf.data file"));
	assert_null(s);
	error_free(err);
}

/* 60 GB of ids in a hole, and two events whose ids are the same bytes: there is no memory for all.
 */
TEST(events_have_a_limit_of_ids)
{
	static const uint64_t sizes[][2] = {{(uint64_t)60 << 30, 8},
					    {(uint64_t)20 << 20, (uint64_t)20 << 20}};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct image im = {0};
		struct seen seen = seen_new();

		image_file(&im, fill_simple);
		/* the sections behind the two attrs */
		image_patch_u64(&im, 120 + 64 + 8, sizes[i][0]);
		image_patch_u64(&im, 120 + 80 + 64 + 8, sizes[i][1]);
		struct memfile f = memfile_new(im.sb.str, im.sb.len);
		assert_int_equal(ftruncate(f.fd, (off_t)64 << 30), 0);
		struct error *err = read_path(f.path, &seen);
		assert_non_null(err);
		assert_non_null(strstr(err->msg, "more than 4194304 ids"));
		error_free(err);
		close(f.fd);
		seen_deinit(&seen);
		strbuf_deinit(&im.sb);
	}
}

/* ---- through a pipe ---- */

/* Writes the image to a pipe, and zeros after it: as many, or with UINT64_MAX until nobody reads.
 */
static pid_t write_to_pipe(const struct image *im, uint64_t zeros, char path[32], int *fd)
{
	static const char nothing[1 << 16];
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(ends[0]);
		signal(SIGPIPE, SIG_DFL);
		if (write(ends[1], im->sb.str, im->sb.len) != (ssize_t)im->sb.len)
			_exit(1);
		while (zeros) {
			const ssize_t n = write(ends[1], nothing, min_of(zeros, sizeof(nothing)));

			if (n < 0)
				_exit(1);
			zeros -= zeros == UINT64_MAX ? 0 : (uint64_t)n;
		}
		_exit(0);
	}
	close(ends[1]);
	*fd = ends[0];
	snprintf(path, 32, "/dev/fd/%d", ends[0]);
	return pid;
}

static struct error *read_pipe(const struct image *im, uint64_t zeros, struct seen *seen)
{
	char path[32];
	int fd, status;
	const pid_t pid = write_to_pipe(im, zeros, path, &fd);

	alarm(120);
	struct error *err = read_path(path, seen);
	alarm(0);
	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return err;
}

/* A whole file is read into memory: its writer never ends. */
TEST(a_file_in_a_pipe_has_a_limit)
{
	struct image im = {0};
	struct seen seen = seen_new();

	image_file(&im, fill_simple);
	struct error *err = read_pipe(&im, 1000, &seen);
	assert_null(err);
	assert_int_equal(seen.samples, 3);
	err = read_pipe(&im, UINT64_MAX, &seen);
	assert_non_null(err);
	assert_int_equal(err->code, EFBIG);
	assert_non_null(strstr(err->msg, "at most 256 MiB"));
	error_free(err);
	seen_deinit(&seen);
	strbuf_deinit(&im.sb);
}

/* The pipe form, with a record of this type and so many bytes after it. */
static void image_pipe(struct image *im, uint32_t type, uint64_t extra)
{
	image_u64(im, 0x32454c4946524550ull);
	image_u64(im, 16);
	size_t at = image_begin(im, RECORD_HEADER_ATTR, 0);
	image_attr(im, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, IMAGE_FLAG_SAMPLE_ID_ALL);
	image_u64(im, 11);
	image_end(im, at);
	image_sample(im, 11, 1, 1, 10, 0);
	at = image_begin(im, type, 0);
	image_u64(im, extra);
	if (type == RECORD_AUXTRACE)
		image_zeros(im, 32);
	image_end(im, at);
}

TEST(what_follows_a_record_in_a_pipe_has_a_limit)
{
	struct image aux = {0}, tracing = {0};
	struct seen seen = seen_new();

	/* More than is read at once: nobody needs it. */
	image_pipe(&aux, RECORD_AUXTRACE, 3000000);
	const size_t size = aux.sb.len;
	image_zeros(&aux, 3000000);
	image_sample(&aux, 11, 1, 1, 20, 0);
	assert_null(read_pipe(&aux, 0, &seen));
	assert_int_equal(seen.samples, 2);
	/* It is not kept: so much there is no memory for. */
	image_patch_u64(&aux, size - 40, (uint64_t)1 << 60);
	char path[32];
	int fd;
	const pid_t pid = write_to_pipe(&aux, (uint64_t)1 << 30, path, &fd);
	struct session *s = NULL;
	seen.tool.ctx = &seen;
	assert_null(session_open(path, NULL, &s));
	assert_null(session_process(s, &seen.tool));
	assert_int_equal(seen.samples, 3);
	assert_false(session_is_complete(s));
	assert_true(s->input.owned < 1 << 20);
	session_free(s);
	close(fd);
	assert_int_equal(waitpid(pid, NULL, 0), pid);

	image_pipe(&tracing, RECORD_HEADER_TRACING_DATA, UINT32_MAX & ~7u);
	struct error *err = read_pipe(&tracing, UINT64_MAX, &seen);
	assert_non_null(err);
	assert_non_null(strstr(err->msg, "has too much data behind it"));
	error_free(err);
	seen_deinit(&seen);
	strbuf_deinit(&aux.sb);
	strbuf_deinit(&tracing.sb);
}
