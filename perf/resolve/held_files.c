// SPDX-License-Identifier: BSD-2-Clause
#include "perf/resolve/held_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "lib/base/cleanup.h"
#include "lib/base/strbuf.h"
#include "lib/sys/open_file.h"

enum {
	MAX_HELD = 4096,
};

struct held_file {
	uint32_t maj, min;
	uint64_t ino;
	int fd;
};

static uint64_t key_of(uint32_t maj, uint32_t min, uint64_t ino)
{
	return hash_u64(ino ^ hash_u64((uint64_t)maj << 32 | min));
}

void held_files_deinit(struct held_files *held)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(&held->files, &pos))) {
		struct held_file *file = slot->value;

		close(file->fd);
		free(file);
	}
	u64map_deinit(&held->files);
	*held = (struct held_files){0};
}

/* Half of the descriptors that the process may have; the others are for its own work. */
static size_t max_held(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	return limit.rlim_cur / 2 < MAX_HELD ? (size_t)limit.rlim_cur / 2 : MAX_HELD;
}

/*
 * Whether the path leads here to the mapped file. Only the inode is compared: some filesystems have
 * another device in stat(2) than in the records.
 */
static bool is_found_here(const struct record_mmap *mmap)
{
	struct stat st;

	return !stat(mmap->filename, &st) && st.st_ino == mmap->ino;
}

static const struct held_file *find(const struct held_files *held, uint32_t maj, uint32_t min,
				    uint64_t ino)
{
	const struct held_file *file = ino ? u64map_get(&held->files, key_of(maj, min, ino)) : NULL;

	return file && file->maj == maj && file->min == min && file->ino == ino ? file : NULL;
}

struct error *held_files_add(struct held_files *held, const struct record *rec,
			     const struct record_mmap *mmap)
{
	_cleanup_close_ int fd = -1;

	if ((rec->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER)
		return NULL;
	if (!held->max)
		held->max = max_held();
	if (mmap->filename[0] != '/' || !mmap->ino || held->n >= held->max ||
	    u64map_get(&held->files, key_of(mmap->maj, mmap->min, mmap->ino)) ||
	    is_found_here(mmap))
		return NULL;
	_cleanup_free_ char *path = text_format("/proc/%d/root%s", mmap->pid, mmap->filename);
	if (!path)
		return error_nomem();
	error_free(open_regular(path, NULL, &fd));
	if (fd < 0)
		return NULL;
	_cleanup_free_ struct held_file *file = calloc(1, sizeof(*file));
	if (!file || !u64map_put(&held->files, key_of(mmap->maj, mmap->min, mmap->ino), file))
		return error_nomem();
	*file = (struct held_file){
		.maj = mmap->maj,
		.min = mmap->min,
		.ino = mmap->ino,
		.fd = steal_fd(&fd),
	};
	steal_ptr(file);
	held->n++;
	return NULL;
}

char *held_files_path(const struct held_files *held, const struct dso *dso)
{
	const struct held_file *file = find(held, dso->maj, dso->min, dso->ino);

	return file ? text_format("/proc/self/fd/%d", file->fd) : NULL;
}
