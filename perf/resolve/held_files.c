// SPDX-License-Identifier: BSD-2-Clause
/*
 * A file is known by its device and inode or, where the kernel records build ids in their place, by
 * that. Those that are found here at their path are only noted, so that the path is looked at once
 * and not for each process that maps the file.
 */
#include "perf/resolve/held_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "lib/base/cleanup.h"
#include "lib/base/strbuf.h"
#include "lib/sys/open_file.h"
#include "sym/sym.h"

enum {
	MAX_HELD = 4096,
	MAX_NOTED = 65536,
};

/* build_id_size 0: maj, min, ino; else the build id alone. */
struct file_key {
	uint32_t maj, min;
	uint64_t ino;
	uint8_t build_id_size, build_id[20];
};

struct held_file {
	struct file_key key;
	int fd; /* -1: it is found here */
};

static bool key_equal(const struct file_key *a, const struct file_key *b)
{
	return a->maj == b->maj && a->min == b->min && a->ino == b->ino &&
	       a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size);
}

static uint64_t key_hash(const struct file_key *key)
{
	uint64_t first = 0;

	memcpy(&first, key->build_id, sizeof(first));
	return hash_u64(key->ino ^ first ^ hash_u64((uint64_t)key->maj << 32 | key->min));
}

/* false: the record does not say which file it is. */
static bool key_make(uint32_t maj, uint32_t min, uint64_t ino, const uint8_t *id, size_t id_size,
		     struct file_key *key)
{
	*key = (struct file_key){0};
	if (ino) {
		key->maj = maj;
		key->min = min;
		key->ino = ino;
	} else if (id) {
		key->build_id_size = (uint8_t)min_of(id_size, sizeof(key->build_id));
		memcpy(key->build_id, id, key->build_id_size);
	}
	return ino || key->build_id_size;
}

void held_files_deinit(struct held_files *held)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(&held->files, &pos))) {
		struct held_file *file = slot->value;

		closep(&file->fd);
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
 * Whether a path leads to the mapped file. Of device and inode only the inode is compared: some
 * filesystems have another device in stat(2) than in the records.
 */
static bool is_file(const struct file_key *key, const char *path)
{
	uint8_t id[20];
	size_t size = 0;
	struct stat st;

	if (!key->build_id_size)
		return !stat(path, &st) && st.st_ino == key->ino;
	error_free(file_build_id(path, id, &size));
	return size == key->build_id_size && !memcmp(id, key->build_id, size);
}

/* *out: -1: it is found here, or nowhere. */
static struct error *open_inside(const struct file_key *key, const struct record_mmap *mmap,
				 bool *is_here, int *out)
{
	_cleanup_free_ char *path = text_format("/proc/%d/root%s", mmap->pid, mmap->filename);
	_cleanup_close_ int fd = -1;
	struct stat here, inside;
	char open[32];

	if (!path)
		return error_nomem();
	/* Mostly the process has our root. */
	*is_here = (!stat(path, &inside) && !stat(mmap->filename, &here) &&
		    inside.st_ino == here.st_ino && inside.st_dev == here.st_dev) ||
		   is_file(key, mmap->filename);
	if (*is_here)
		return NULL;
	error_free(open_regular(path, NULL, &fd));
	snprintf(open, sizeof(open), "/proc/self/fd/%d", fd);
	/* The process may have executed another program since. */
	if (!key->build_id_size || is_file(key, open))
		*out = steal_fd(&fd);
	return NULL;
}

struct error *held_files_add(struct held_files *held, const struct record *rec,
			     const struct record_mmap *mmap)
{
	struct file_key key;
	bool is_here;
	int fd = -1;

	if ((rec->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER ||
	    mmap->filename[0] != '/' ||
	    !key_make(mmap->maj, mmap->min, mmap->ino, mmap->build_id, mmap->build_id_size, &key))
		return NULL;
	if (!held->max)
		held->max = max_held();
	if (held->n >= held->max || held->files.n >= MAX_NOTED ||
	    u64map_get(&held->files, key_hash(&key)))
		return NULL;
	TRY(open_inside(&key, mmap, &is_here, &fd));
	if (!is_here && fd < 0)
		return NULL;
	struct held_file *file = calloc(1, sizeof(*file));
	if (!file || !u64map_put(&held->files, key_hash(&key), file)) {
		free(file);
		closep(&fd);
		return error_nomem();
	}
	*file = (struct held_file){.key = key, .fd = fd};
	held->n += fd >= 0;
	return NULL;
}

int held_files_fd(const struct held_files *held, const struct dso *dso)
{
	struct file_key key;

	if (!key_make(dso->maj, dso->min, dso->ino, dso->build_id, dso->build_id_size, &key))
		return -1;
	const struct held_file *file = u64map_get(&held->files, key_hash(&key));
	return file && key_equal(&file->key, &key) ? file->fd : -1;
}

char *held_files_path(const struct held_files *held, const struct dso *dso)
{
	const int fd = held_files_fd(held, dso);

	return fd >= 0 ? text_format("/proc/self/fd/%d", fd) : NULL;
}
