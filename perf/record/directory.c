// SPDX-License-Identifier: BSD-2-Clause
/*
 * --threads, --kcore: the recording is a directory (perf/session/input_dir.c). Its file data has
 * the header and what exists already, data.N the records of the N-th ring. All files are created
 * before the privileges are dropped, since no file can be created after that. A ring that comes
 * later, of a CPU that was offline, goes to data.
 *
 * An earlier recording stays as PATH.old, as that of a single file does:
 * lib/sys/earlier_recording.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/sys/open_file.h"
#include "lib/sys/earlier_recording.h"
#include "perf/record/internal.h"
#include "sym/kcore.h"

#define DIR_VERSION 1

static struct error *cannot(const struct recording *rec, const char *what)
{
	return error_at(error_errno(errno, "%s", what), "%s", rec->opts.output);
}

static const char *option(const struct recording *rec)
{
	return rec->opts.threads ? "--threads" : "--kcore";
}

static struct error *create(const struct recording *rec, struct output_path *out, int *dir)
{
	if (!strcmp(rec->opts.output, "-"))
		return error_usage("%s does not work with a pipe", option(rec));
	TRY(output_find_dir(rec->opts.output, out));
	if (out->is_special)
		return error_usage("%s: '%s' is not a file or directory", option(rec),
				   rec->opts.output);
	TRY(error_at(earlier_recording_keep(out), "%s", rec->opts.output));
	if (mkdirat(out->dir_fd, out->name, 0700))
		return cannot(rec, "cannot create the directory");
	*dir = openat(out->dir_fd, out->name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return *dir < 0 ? cannot(rec, "cannot open the directory") : NULL;
}

static struct error *create_file(const struct recording *rec, int dir, const char *name,
				 const struct data_writer_opts *opts, struct data_writer **out)
{
	_cleanup_free_ char *path = text_format("%s/%s", rec->opts.output, name);
	_cleanup_close_ int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return cannot(rec, "cannot create a file");
	return path ? data_writer_open_fd(path, &fd, opts, out) : error_nomem();
}

static struct error *create_parts(struct recording *rec, int dir, struct data_writer_opts opts)
{
	struct cpu_ring *ring;

	opts.is_part = true;
	vec_for_each (ring, &rec->rings) {
		_cleanup_free_ char *name = text_format("data.%td", ring - rec->rings.v);

		if (!name)
			return error_nomem();
		TRY(create_file(rec, dir, name, &opts, &ring->part));
		TRY(data_writer_start(ring->part));
	}
	return NULL;
}

static struct error *fill(struct recording *rec, struct kcore *k, int dir)
{
	static const uint64_t version = DIR_VERSION;
	const struct data_writer_opts opts = {
		.sz = sizeof(opts),
		.zstd_level = rec->opts.zstd_level,
		.compressed2 = rec->opts.compressed2,
		.mmap_len = rec->mmap_pages * sys_page_size(),
	};

	TRY(create_file(rec, dir, "data", &opts, &rec->writer));
	if (rec->opts.threads) {
		TRY(data_writer_feature(rec->writer, DATA_DIR_FORMAT, &version, sizeof(version)));
		TRY(create_parts(rec, dir, opts));
	}
	return k ? error_prefix(kernel_copy(k, dir), "--kcore") : NULL;
}

struct error *directory_begin(struct recording *rec)
{
	_cleanup_output_path_ struct output_path out = {.dir_fd = -1};
	_cleanup_(kcore_freep) struct kcore *k = NULL;
	_cleanup_close_ int dir = -1;

	/* before an earlier recording is renamed */
	if (rec->opts.kcore)
		TRY(error_prefix(kcore_open(&(struct kcore_opts){0}, &k), "--kcore"));
	TRY(create(rec, &out, &dir));
	struct error *err = fill(rec, k, dir);
	if (err)
		recording_dir_remove(&out);
	return err;
}

struct error *directory_end(struct recording *rec, bool failed)
{
	struct cpu_ring *ring;
	struct error *first = NULL;

	rec->part_bytes = 0;
	vec_for_each (ring, &rec->rings) {
		if (!ring->part)
			continue;
		if (failed)
			data_writer_spoil(ring->part);
		struct error *err = data_writer_finish(ring->part);
		rec->part_bytes += data_writer_bytes(ring->part);
		if (first)
			error_free(err);
		else
			first = err;
	}
	return first;
}
