// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reading a map whole.
 *
 * A batch is about a megabyte: larger ones save nothing, and a hash table's
 * batch must hold at least the fullest bucket (ENOSPC tells that it did not).
 *
 * Without batches all keys are taken first and looked up afterwards. A walk by
 * BPF_MAP_GET_NEXT_KEY begins anew when its key was deleted meanwhile, so a
 * walk that looks up as it goes could give entries twice, and never end; here
 * the keys form a set, and a walk that brings no new key is over.
 *
 * A map of maps gives the ids of its inner maps as values. Its entries by map_reader_new_inner()
 * are those of the inner maps, each read by a reader of its own: an inner map that has gone since
 * its id was read is left out.
 */
#include "inspect/map_reader.h"

#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/keyset.h"
#include "lib/base/vec.h"
#include "lib/sys/missing_caps.h"
#include "lib/sys/uapi.h"

enum {
	BATCH_BYTES = 1 << 20,
	BATCH_MIN = 64,
	BATCH_MAX_BYTES = 64 << 20, /* what ENOSPC may grow a batch to */
};

/* The kernel's own code for "not supported", which no header of ours has. */
#define KERNEL_ENOTSUPP 524

struct map_reader {
	int fd;
	struct bpf_map_info info;
	unsigned cpus;
	size_t stride, value_bytes;

	enum { BY_BATCH, BY_KEY } way;
	bool started, done;
	uint8_t *keys, *values;
	uint32_t room; /* entries in keys and values */
	uint32_t n, at;

	uint8_t *in, *out; /* where the next batch goes on */

	/* by key: all keys that were there */
	VEC(uint8_t) found;
	size_t n_found;

	/* of the inner maps of a map: the readers of that map and of the inner map at work */
	struct map_reader *outer, *inner;
	int inner_fd;
	uint8_t *joined; /* the outer key, and the inner one behind it */
};

const char *map_type_unreadable(enum bpf_map_type type)
{
	switch ((int)type) {
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
		return "queue and stack maps cannot be read without removing entries";
	case BPF_MAP_TYPE_RINGBUF:
	case BPF_MAP_TYPE_USER_RINGBUF:
		return "it is a ring buffer and has no entries";
	case BPF_MAP_TYPE_PERF_EVENT_ARRAY:
		return "it contains perf events, which cannot be read";
	case BPF_MAP_TYPE_CGROUP_ARRAY:
		return "it contains cgroups, which cannot be read";
	case BPF_MAP_TYPE_BLOOM_FILTER:
		return "a bloom filter has no entries to read";
	case BPF_MAP_TYPE_SK_STORAGE:
	case BPF_MAP_TYPE_INODE_STORAGE:
	case BPF_MAP_TYPE_TASK_STORAGE:
	case BPF_MAP_TYPE_CGRP_STORAGE:
		return "its values are stored with kernel objects and cannot be listed";
	case BPF_MAP_TYPE_ARENA:
		return "an arena is memory and has no entries";
	default:
		return NULL;
	}
}

bool map_type_per_cpu(enum bpf_map_type type)
{
	return type == BPF_MAP_TYPE_PERCPU_HASH || type == BPF_MAP_TYPE_PERCPU_ARRAY ||
	       type == BPF_MAP_TYPE_LRU_PERCPU_HASH ||
	       (int)type == BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE;
}

bool map_type_indexed(enum bpf_map_type type)
{
	switch ((int)type) {
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_PROG_ARRAY:
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_STACK_TRACE:
		return true;
	default:
		return false;
	}
}

/* Room for n entries; what was there is lost. */
static struct error *make_room(struct map_reader *r, uint32_t n)
{
	uint8_t *keys = calloc(n, r->info.key_size), *values = calloc(n, r->value_bytes);

	if (!keys || !values) {
		free(keys);
		free(values);
		return error_nomem();
	}
	free(r->keys);
	free(r->values);
	r->keys = keys;
	r->values = values;
	r->room = n;
	return NULL;
}

/* How many bytes a value has, of which CPUs. */
static struct error *set_value_size(struct map_reader *r)
{
	r->stride = r->info.value_size;
	r->value_bytes = r->stride;
	if (!map_type_per_cpu(r->info.type))
		return NULL;
	int cpus = libbpf_num_possible_cpus();
	if (cpus < 0)
		return error_errno(-cpus, "cannot read the number of CPUs");
	r->cpus = cpus;
	r->stride = round_up(r->info.value_size, 8);
	r->value_bytes = r->stride * r->cpus;
	return NULL;
}

struct error *map_reader_new(int fd, struct map_reader **reader)
{
	_cleanup_(map_reader_freep) struct map_reader *r = calloc(1, sizeof(*r));
	if (!r)
		return error_nomem();
	r->fd = fd;
	r->inner_fd = -1;
	uint32_t len = sizeof(r->info);
	if (bpf_map_get_info_by_fd(fd, &r->info, &len))
		return error_errno(errno, "cannot read the map's info");
	const char *why = map_type_unreadable(r->info.type);
	if (why)
		return error_new(ENOTSUP, "map %s cannot be dumped: %s", r->info.name, why);
	if (!r->info.key_size || !r->info.value_size)
		return error_new(ENOTSUP, "map %s has no %s", r->info.name,
				 r->info.key_size ? "values" : "keys");
	TRY(set_value_size(r));
	size_t entry = r->info.key_size + r->value_bytes;
	uint32_t n = min_of(max_of(BATCH_BYTES / entry, (size_t)BATCH_MIN),
			    (size_t)max_of(r->info.max_entries, 1u));
	TRY(make_room(r, n));
	size_t cursor = max_of(r->info.key_size, (uint32_t)sizeof(uint32_t));
	r->in = calloc(1, cursor);
	r->out = calloc(1, cursor);
	if (!r->in || !r->out)
		return error_nomem();
	*reader = steal_ptr(r);
	return NULL;
}

struct error *map_reader_new_inner(int fd, const struct bpf_map_info *inner,
				   struct map_reader **reader)
{
	_cleanup_(map_reader_freep) struct map_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return error_nomem();
	r->fd = r->inner_fd = -1;
	TRY(map_reader_new(fd, &r->outer));
	r->info = r->outer->info;
	r->info.type = inner->type;
	r->info.value_size = inner->value_size;
	r->info.max_entries = inner->max_entries;
	r->info.key_size += inner->key_size;
	TRY(set_value_size(r));
	r->joined = calloc(1, r->info.key_size);
	if (!r->joined)
		return error_nomem();
	*reader = steal_ptr(r);
	return NULL;
}

static void close_inner(struct map_reader *r)
{
	map_reader_free(r->inner);
	r->inner = NULL;
	closep(&r->inner_fd);
	r->inner_fd = -1;
}

void map_reader_free(struct map_reader *r)
{
	if (!r)
		return;
	close_inner(r);
	map_reader_free(r->outer);
	free(r->joined);
	free(r->keys);
	free(r->values);
	free(r->in);
	free(r->out);
	vec_deinit(&r->found);
	free(r);
}

const struct bpf_map_info *map_reader_info(const struct map_reader *r)
{
	return &r->info;
}

unsigned map_reader_cpus(const struct map_reader *r)
{
	return r->cpus;
}

size_t map_reader_stride(const struct map_reader *r)
{
	return r->stride;
}

void map_reader_rewind(struct map_reader *r)
{
	r->started = r->done = false;
	r->n = r->at = 0;
	r->n_found = r->found.n = 0;
	close_inner(r);
	if (r->outer)
		map_reader_rewind(r->outer);
}

static struct error *cannot_read(const struct map_reader *r, int code)
{
	struct error *err =
		error_errno(code, "cannot read map %s (id %u)", r->info.name, r->info.id);

	if (code == EPERM)
		return sys_caps_missing(NULL, SYS_CAP(SYS_CAP_BPF))
			       ? sys_hint_caps(err, NULL, SYS_CAP(SYS_CAP_BPF), NULL)
			       : error_hint(err, "a map with BPF_F_WRONLY cannot be read at all");
	return err;
}

/* ---- by batches ---- */

static bool no_batches(int code)
{
	return code == EINVAL || code == KERNEL_ENOTSUPP || code == ENOTSUP || code == EOPNOTSUPP;
}

static struct error *fill_by_batch(struct map_reader *r)
{
	for (;;) {
		uint32_t count = r->room;
		int code = -bpf_map_lookup_batch(r->fd, r->started ? r->in : NULL, r->out, r->keys,
						 r->values, &count, NULL);

		if (code == ENOSPC) {
			size_t entry = r->info.key_size + r->value_bytes;

			if (r->room > BATCH_MAX_BYTES / entry)
				return cannot_read(r, ENOSPC);
			TRY(make_room(r, r->room * 2));
			continue;
		}
		if (code == EINTR || code == EAGAIN)
			continue;
		if (!r->started && no_batches(code)) {
			r->way = BY_KEY;
			return NULL;
		}
		if (code && code != ENOENT)
			return cannot_read(r, code);
		r->started = true;
		r->done = code == ENOENT;
		r->n = min_of(count, r->room);
		r->at = 0;
		uint8_t *swap = r->in;
		r->in = r->out;
		r->out = swap;
		return NULL;
	}
}

/* ---- by keys ---- */

static struct error *find_keys(struct map_reader *r)
{
	size_t size = r->info.key_size;
	struct keyset set = keyset_make(size, size);
	struct error *err = NULL;

	while (!err) {
		if (!vec_reserve(&r->found, (r->n_found + 1) * size) ||
		    !keyset_reserve(&set, r->found.v, 1)) {
			err = error_nomem();
			break;
		}
		uint8_t *next = r->found.v + r->n_found * size;
		int code = -bpf_map_get_next_key(r->fd, r->n_found ? next - size : NULL, next);
		if (code && code != ENOENT)
			err = cannot_read(r, code);
		/* a key known already: the walk began anew, and ends here */
		if (code || keyset_add(&set, r->found.v, r->n_found) != r->n_found)
			break;
		r->n_found++;
	}
	keyset_deinit(&set);
	return err;
}

static struct error *fill_by_key(struct map_reader *r)
{
	size_t size = r->info.key_size;

	if (!r->started) {
		TRY(find_keys(r));
		r->started = true;
		r->found.n = 0; /* from here on: how many were looked up */
	}
	r->n = r->at = 0;
	while (r->n < r->room && r->found.n < r->n_found) {
		const uint8_t *key = r->found.v + r->found.n++ * size;
		int code = -bpf_map_lookup_elem(r->fd, key, r->values + r->n * r->value_bytes);

		if (code == ENOENT) /* deleted since, or an empty slot */
			continue;
		if (code)
			return cannot_read(r, code);
		memcpy(r->keys + r->n++ * size, key, size);
	}
	r->done = r->found.n == r->n_found;
	return NULL;
}

/* ---- inner maps ---- */

/* Opens the next inner map; r->inner NULL: there are no more. */
static struct error *open_inner(struct map_reader *r)
{
	const struct bpf_map_info *outer = &r->outer->info;
	const void *key, *value;
	uint32_t id;

	close_inner(r);
	do {
		TRY(map_reader_next(r->outer, &key, &value));
		if (!key)
			return NULL;
		memcpy(&id, value, sizeof(id));
		r->inner_fd = bpf_map_get_fd_by_id(id);
	} while (r->inner_fd < 0 && errno == ENOENT);
	if (r->inner_fd < 0)
		return error_hint(error_errno(errno, "cannot open the inner map %u of map %s", id,
					      outer->name),
				  "run as root or with CAP_SYS_ADMIN");
	TRY(map_reader_new(r->inner_fd, &r->inner));
	const struct bpf_map_info *inner = &r->inner->info;
	if (inner->type != r->info.type || inner->value_size != r->info.value_size ||
	    inner->key_size != r->info.key_size - outer->key_size)
		return error_new(EINVAL, "the inner map %u of map %s is not as the others", id,
				 outer->name);
	memcpy(r->joined, key, outer->key_size);
	return NULL;
}

static struct error *next_of_inner(struct map_reader *r, const void **key, const void **value)
{
	const void *inner_key = NULL;

	while (!inner_key) {
		if (!r->inner)
			TRY(open_inner(r));
		if (!r->inner)
			break;
		TRY(map_reader_next(r->inner, &inner_key, value));
		if (!inner_key)
			close_inner(r);
	}
	if (inner_key)
		memcpy(r->joined + r->outer->info.key_size, inner_key, r->inner->info.key_size);
	*key = inner_key ? r->joined : NULL;
	return NULL;
}

struct error *map_reader_next(struct map_reader *r, const void **key, const void **value)
{
	if (r->outer)
		return next_of_inner(r, key, value);
	while (r->at == r->n) {
		if (r->done) {
			*key = NULL;
			return NULL;
		}
		if (r->way == BY_BATCH)
			TRY(fill_by_batch(r));
		if (r->way == BY_KEY)
			TRY(fill_by_key(r));
	}
	*key = r->keys + (size_t)r->at * r->info.key_size;
	*value = r->values + (size_t)r->at * r->value_bytes;
	r->at++;
	return NULL;
}
