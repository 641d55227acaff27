// SPDX-License-Identifier: BSD-2-Clause
/* Recordings that are damaged, cut off, or none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>

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

static void every_flipped_bit_is_survived(void **state)
{
	sweep(fill_all, true);
	sweep(fill_packed, true);
}

static void every_truncation_is_survived(void **state)
{
	sweep(fill_all, false);
	sweep(fill_packed, false);
}

static void a_file_cut_in_its_data_gives_what_is_there(void **state)
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

static void what_is_no_perf_data_is_told(void **state)
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
static void an_endless_stream_of_something_else_is_told(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_flipped_bit_is_survived),
		cmocka_unit_test(every_truncation_is_survived),
		cmocka_unit_test(a_file_cut_in_its_data_gives_what_is_there),
		cmocka_unit_test(what_is_no_perf_data_is_told),
		cmocka_unit_test(an_endless_stream_of_something_else_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
