// SPDX-License-Identifier: BSD-2-Clause
/* bpf(2)'s commands for maps: <bpf/bpf.h>. */
#include "lib/sys/bpf_call.h"

/* The kernel's members of union bpf_attr. */
struct map_create_attr {
	uint32_t map_type;
	uint32_t key_size;
	uint32_t value_size;
	uint32_t max_entries;
	uint32_t map_flags;
	uint32_t inner_map_fd;
	uint32_t numa_node;
	char map_name[SYS_BPF_NAME_SIZE];
	uint32_t map_ifindex;
	uint32_t btf_fd;
	uint32_t btf_key_type_id;
	uint32_t btf_value_type_id;
	uint32_t btf_vmlinux_value_type_id;
	uint64_t map_extra;	       /* 5.16 */
	int32_t value_type_btf_obj_fd; /* 6.9 */
	int32_t map_token_fd;	       /* 6.9 */
	uint64_t excl_prog_hash;       /* 6.18 */
	uint32_t excl_prog_hash_size;
	uint32_t pad;
};

int bpf_map_create(enum bpf_map_type map_type, const char *map_name, __u32 key_size,
		   __u32 value_size, __u32 max_entries, const struct bpf_map_create_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_map_create_opts);

	if (err)
		return edge_int(err);
	struct map_create_attr attr = {
		.map_type = map_type,
		.key_size = key_size,
		.value_size = value_size,
		.max_entries = max_entries,
		.btf_fd = OPTS_GET(opts, btf_fd, 0),
		.btf_key_type_id = OPTS_GET(opts, btf_key_type_id, 0),
		.btf_value_type_id = OPTS_GET(opts, btf_value_type_id, 0),
		.btf_vmlinux_value_type_id = OPTS_GET(opts, btf_vmlinux_value_type_id, 0),
		.inner_map_fd = OPTS_GET(opts, inner_map_fd, 0),
		.map_flags = OPTS_GET(opts, map_flags, 0),
		.map_extra = OPTS_GET(opts, map_extra, 0),
		.numa_node = OPTS_GET(opts, numa_node, 0),
		.map_ifindex = OPTS_GET(opts, map_ifindex, 0),
		.value_type_btf_obj_fd = OPTS_GET(opts, value_type_btf_obj_fd, 0),
		.map_token_fd = (int32_t)OPTS_GET(opts, token_fd, 0),
		.excl_prog_hash = ptr_to_u64(OPTS_GET(opts, excl_prog_hash, NULL)),
		.excl_prog_hash_size = OPTS_GET(opts, excl_prog_hash_size, 0),
	};
	sys_bpf_name(map_name, attr.map_name);
	return give(sys_bpf_fd(BPF_MAP_CREATE, &attr, sizeof(attr)));
}

static int map_elem(int cmd, int fd, const void *key, const void *value, __u64 flags)
{
	union bpf_attr attr = {0};

	attr.map_fd = fd;
	attr.key = ptr_to_u64(key);
	attr.value = ptr_to_u64(value);
	attr.flags = flags;
	return give(sys_bpf(cmd, &attr, offsetof(union bpf_attr, flags) + sizeof(attr.flags)));
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	return map_elem(BPF_MAP_UPDATE_ELEM, fd, key, value, flags);
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	return map_elem(BPF_MAP_LOOKUP_ELEM, fd, key, value, 0);
}

int bpf_map_lookup_elem_flags(int fd, const void *key, void *value, __u64 flags)
{
	return map_elem(BPF_MAP_LOOKUP_ELEM, fd, key, value, flags);
}

int bpf_map_lookup_and_delete_elem(int fd, const void *key, void *value)
{
	return map_elem(BPF_MAP_LOOKUP_AND_DELETE_ELEM, fd, key, value, 0);
}

int bpf_map_lookup_and_delete_elem_flags(int fd, const void *key, void *value, __u64 flags)
{
	return map_elem(BPF_MAP_LOOKUP_AND_DELETE_ELEM, fd, key, value, flags);
}

int bpf_map_delete_elem(int fd, const void *key)
{
	return map_elem(BPF_MAP_DELETE_ELEM, fd, key, NULL, 0);
}

int bpf_map_delete_elem_flags(int fd, const void *key, __u64 flags)
{
	return map_elem(BPF_MAP_DELETE_ELEM, fd, key, NULL, flags);
}

int bpf_map_get_next_key(int fd, const void *key, void *next_key)
{
	union bpf_attr attr = {0};

	attr.map_fd = fd;
	attr.key = ptr_to_u64(key);
	attr.next_key = ptr_to_u64(next_key);
	return give(sys_bpf(BPF_MAP_GET_NEXT_KEY, &attr,
			    offsetof(union bpf_attr, next_key) + sizeof(attr.next_key)));
}

int bpf_map_freeze(int fd)
{
	union bpf_attr attr = {0};

	attr.map_fd = fd;
	return give(sys_bpf(BPF_MAP_FREEZE, &attr, sizeof(attr.map_fd)));
}

static int map_batch(int cmd, int fd, void *in_batch, void *out_batch, const void *keys,
		     const void *values, __u32 *count, const struct bpf_map_batch_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_map_batch_opts);
	union bpf_attr attr = {0};

	if (err)
		return edge_int(err);
	attr.batch.map_fd = fd;
	attr.batch.in_batch = ptr_to_u64(in_batch);
	attr.batch.out_batch = ptr_to_u64(out_batch);
	attr.batch.keys = ptr_to_u64(keys);
	attr.batch.values = ptr_to_u64(values);
	attr.batch.count = *count;
	attr.batch.elem_flags = OPTS_GET(opts, elem_flags, 0);
	attr.batch.flags = OPTS_GET(opts, flags, 0);
	long result = sys_bpf(cmd, &attr, offsetof(union bpf_attr, batch) + sizeof(attr.batch));
	*count = attr.batch.count;
	return give(result);
}

int bpf_map_delete_batch(int fd, const void *keys, __u32 *count,
			 const struct bpf_map_batch_opts *opts)
{
	return map_batch(BPF_MAP_DELETE_BATCH, fd, NULL, NULL, keys, NULL, count, opts);
}

int bpf_map_lookup_batch(int fd, void *in_batch, void *out_batch, void *keys, void *values,
			 __u32 *count, const struct bpf_map_batch_opts *opts)
{
	return map_batch(BPF_MAP_LOOKUP_BATCH, fd, in_batch, out_batch, keys, values, count, opts);
}

int bpf_map_lookup_and_delete_batch(int fd, void *in_batch, void *out_batch, void *keys,
				    void *values, __u32 *count,
				    const struct bpf_map_batch_opts *opts)
{
	return map_batch(BPF_MAP_LOOKUP_AND_DELETE_BATCH, fd, in_batch, out_batch, keys, values,
			 count, opts);
}

int bpf_map_update_batch(int fd, const void *keys, const void *values, __u32 *count,
			 const struct bpf_map_batch_opts *opts)
{
	return map_batch(BPF_MAP_UPDATE_BATCH, fd, NULL, NULL, keys, values, count, opts);
}
