// SPDX-License-Identifier: BSD-2-Clause
/*
 * Creates the maps of an object, or takes pinned ones that fit. The error of a
 * map names its type, because what usually fails is that the kernel lacks it.
 */
#include "lib/object/load_object.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/sys/missing_caps.h"
#include "lib/sys/uapi.h"

/* Types that take no BTF for their keys and values (map_check_btf of none of them). */
static bool takes_no_btf(uint32_t type)
{
	switch (type) {
	case BPF_MAP_TYPE_PERF_EVENT_ARRAY:
	case BPF_MAP_TYPE_CGROUP_ARRAY:
	case BPF_MAP_TYPE_STACK_TRACE:
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_HASH_OF_MAPS:
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
	case BPF_MAP_TYPE_CPUMAP:
	case BPF_MAP_TYPE_XSKMAP:
	case BPF_MAP_TYPE_SOCKMAP:
	case BPF_MAP_TYPE_SOCKHASH:
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
	case BPF_MAP_TYPE_ARENA:
		return true;
	default:
		return false;
	}
}

static bool is_map_of_maps(uint32_t type)
{
	return type == BPF_MAP_TYPE_ARRAY_OF_MAPS || type == BPF_MAP_TYPE_HASH_OF_MAPS;
}

uint32_t ring_size(uint32_t bytes)
{
	uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);

	while (size < bytes && size < UINT32_MAX / 2)
		size *= 2;
	return size < bytes ? bytes : (uint32_t)size;
}

/* "hash", or the number of a type without a name. */
struct type_text {
	char text[32];
};

static struct type_text type_text(uint32_t type)
{
	const char *name = libbpf_bpf_map_type_str(type);
	struct type_text t;

	if (name)
		snprintf(t.text, sizeof(t.text), "%s", name);
	else
		snprintf(t.text, sizeof(t.text), "%u", type);
	return t;
}
#define type_name(type) (type_text(type).text)

/* What the types want of keys, values and entries (the map_alloc_check of each); NULL: unclear. */
static const char *shape_hint(const struct bpf_map *map)
{
	const bool is_ring =
		map->type == BPF_MAP_TYPE_RINGBUF || map->type == BPF_MAP_TYPE_USER_RINGBUF;

	switch (map->type) {
	case BPF_MAP_TYPE_RINGBUF:
	case BPF_MAP_TYPE_USER_RINGBUF:
		if (map->key_size || map->value_size)
			return "a ring buffer has no key and no value: remove them";
		break;
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_PROG_ARRAY:
	case BPF_MAP_TYPE_PERF_EVENT_ARRAY:
	case BPF_MAP_TYPE_CGROUP_ARRAY:
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
		if (map->key_size != 4)
			return "an array's key is its index: __type(key, __u32)";
		break;
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
		if (map->key_size)
			return "a queue or stack has no key: remove it";
		break;
	case BPF_MAP_TYPE_STACK_TRACE:
		if (map->value_size % 8 || !map->value_size)
			return "a stack trace has 8 bytes per frame: __uint(value_size, 127 * "
			       "sizeof(__u64))";
		break;
	case BPF_MAP_TYPE_SK_STORAGE:
	case BPF_MAP_TYPE_INODE_STORAGE:
	case BPF_MAP_TYPE_TASK_STORAGE:
		if (map->max_entries || !(map->flags & BPF_F_NO_PREALLOC))
			return "local storage needs max_entries 0, the flag BPF_F_NO_PREALLOC and "
			       "a key of type int";
		return NULL;
	default:
		if (!map->key_size)
			return "it needs a key: __type(key, …), or __uint(key_size, …)";
	}
	if (!map->max_entries)
		return "max_entries is 0";
	return !is_ring && !map->value_size
		       ? "it needs a value: __type(value, …), or __uint(value_size, …)"
		       : NULL;
}

static bool is_per_cpu(enum bpf_map_type type)
{
	return type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH ||
	       type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

/* What its entries take at least: the kernel adds lists, locks and buckets to them. */
static double least_bytes(const struct bpf_map *map)
{
	double value = (map->value_size + 7ull) / 8 * 8;

	if (map->type == BPF_MAP_TYPE_RINGBUF || map->type == BPF_MAP_TYPE_USER_RINGBUF)
		return map->max_entries;
	if (is_per_cpu(map->type))
		value *= libbpf_num_possible_cpus();
	return map->max_entries * ((map->key_size + 7ull) / 8 * 8 + value);
}

static struct error *hint_memory(const struct bpf_map *map, struct error *err)
{
	double gib = 1u << 30, wants = least_bytes(map) / gib;
	double has = (double)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / gib;

	return error_hint(err,
			  "its entries need at least %.*f GiB, but the machine has %.1f GiB: use "
			  "fewer or smaller entries",
			  wants < 10 ? 3 : 0, wants, has);
}

/* Why the kernel may not want it, in the user's terms. */
static struct error *explain(const struct bpf_map *map, int code)
{
	struct error *err = error_kind(
		error_errno(code,
			    "map '%s' (type %s, key %u, value %u, %u entries): cannot create it",
			    map->name, type_name(map->type), map->key_size, map->value_size,
			    map->max_entries),
		code == EPERM ? "not-permitted" : "map-refused");

	if (code == EPERM) {
		_cleanup_free_ char *advice = sys_caps_advice(
			NULL, SYS_CAP(SYS_CAP_BPF) | SYS_CAP(SYS_CAP_PERFMON), NULL);

		return error_hint(err,
				  "%s; on kernels before 5.11 also raise 'ulimit -l', which limits "
				  "map memory",
				  advice ? advice : "run as root");
	}
	if (code == E2BIG && map->exclusive)
		return error_hint(err, "exclusive maps need Linux 6.18");
	if (code == E2BIG || code == ENOMEM)
		return hint_memory(map, err);
	if (code != EINVAL)
		return err;
	if (!libbpf_bpf_map_type_str(map->type))
		return error_hint(err, "unknown map type %u", map->type);
	if (!libbpf_probe_bpf_map_type(map->type, NULL)) {
		err->code = EOPNOTSUPP;
		return error_hint(err, "this kernel has no maps of type %s", type_name(map->type));
	}
	const char *hint = shape_hint(map);
	if (hint)
		return error_hint(err, "%s", hint);
	return error_hint(err,
			  "check key size, value size, max_entries and flags (0x%x): maps of type "
			  "%s do not accept this combination",
			  map->flags, type_name(map->type));
}

/* The kernel's own, which has no name in user space. */
#define KERNEL_ENOTSUPP 524

/*
 * 5.10 reads its own BTF when the first program is verified, and knows no
 * struct_ops before (bpf_struct_ops_find_value()).
 */
static bool any_program_loads(void)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	const int fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, NULL, "GPL", insns,
				     ARRAY_SIZE(insns), NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int create_fd(const struct bpf_map *map, int inner_fd, bool with_btf,
		     const uint8_t *exclusive)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = map->flags, .map_extra = map->extra,
		    .numa_node = map->numa_node, .map_ifindex = map->ifindex,
		    .token_fd = (__u32)map->obj->token_fd);
	uint32_t max_entries = map->max_entries;

	if (is_ring(map->type))
		max_entries = ring_size(max_entries);
	if (exclusive) {
		opts.excl_prog_hash = exclusive;
		opts.excl_prog_hash_size = SHA256_BYTES;
	}
	if (map->obj->token_fd)
		opts.map_flags |= BPF_F_TOKEN_FD;
	if (map->ops) {
		opts.btf_fd = (__u32)map->obj->btf_fd;
		opts.btf_vmlinux_value_type_id = map->ops->value_id;
		if (map->ops->btf_fd >= 0) {
			opts.value_type_btf_obj_fd = map->ops->btf_fd;
			opts.map_flags |= BPF_F_VTYPE_BTF_OBJ_FD;
		}
	} else if (with_btf) {
		opts.btf_fd = (__u32)map->obj->btf_fd;
		opts.btf_key_type_id = map->btf_key_type_id;
		opts.btf_value_type_id = map->btf_value_type_id;
	}
	if (inner_fd >= 0)
		opts.inner_map_fd = (__u32)inner_fd;
	return bpf_map_create(map->type, map->kernel_name, map->key_size, map->value_size,
			      max_entries, &opts);
}

static struct error *map_create(struct bpf_map *map)
{
	_cleanup_close_ int inner_fd = -1;

	if (map->type == BPF_MAP_TYPE_PERF_EVENT_ARRAY && !map->max_entries) {
		const int cpus = libbpf_num_possible_cpus();

		if (cpus < 0)
			return error_errno(-cpus, "map '%s': cannot count the CPUs", map->name);
		map->max_entries = (uint32_t)cpus;
	}
	if (is_map_of_maps(map->type) && map->inner && map->inner_fd < 0) {
		TRY(error_prefix(map_create(map->inner), "inner map"));
		inner_fd = map->inner->fd;
		map->inner->fd = -1;
	}

	const int inner = inner_fd >= 0 ? inner_fd : map->inner_fd;
	const bool with_btf = map->obj->btf_fd >= 0 && map->btf_value_type_id &&
			      !takes_no_btf(map->type) && !map->ops;
	if (map->ops && map->obj->btf_fd < 0)
		return error_hint(error_new(ENOTSUP,
					    "struct '%s': struct_ops needs the object's BTF, which "
					    "the kernel rejected",
					    map->name),
				  "see the warning above");
	uint8_t digest[SHA256_BYTES];
	const uint8_t *exclusive = map->exclusive ? digest : NULL;
	if (exclusive)
		TRY(exclusive_digest(map->exclusive, digest));
	int fd = create_fd(map, inner, with_btf, exclusive);
	/* Types that came later refuse BTF here or there: no map should fail for it. */
	if (fd < 0 && with_btf && fd != -EPERM)
		fd = create_fd(map, inner, false, exclusive);
	if (fd == -KERNEL_ENOTSUPP && map->ops && any_program_loads())
		fd = create_fd(map, inner, with_btf, exclusive);
	/* Mapping of arrays came in 5.5. */
	if (fd == -EINVAL && map->origin != MAP_BTF && (map->flags & BPF_F_MMAPABLE) &&
	    !sys_bpf_has(SYS_BPF_ARRAY_MMAP)) {
		map->flags &= ~(uint32_t)BPF_F_MMAPABLE;
		fd = create_fd(map, inner, false, exclusive);
	}
	if (fd < 0)
		return explain(map, -fd);
	map->fd = fd;
	map->is_new = true;
	if (map->origin == MAP_DATA || map->origin == MAP_RODATA || map->origin == MAP_KCONFIG)
		return data_map_fill(map);
	return map->type == BPF_MAP_TYPE_ARENA ? arena_map(map) : NULL;
}

/* A map that is pinned already must be as this one would be. */
static struct error *map_reuse_pinned(struct bpf_map *map, bool *found)
{
	_cleanup_close_ int fd = bpf_obj_get(map->pin_path);
	struct bpf_map_info info = {0};
	__u32 len = sizeof(info);

	*found = false;
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return NULL;
	if (fd < 0)
		return error_errno(errno, "map '%s': cannot open '%s'", map->name, map->pin_path);
	if (bpf_map_get_info_by_fd(fd, &info, &len))
		return error_errno(errno,
				   "map '%s': cannot read the info of the object pinned at '%s'",
				   map->name, map->pin_path);
	if (info.type != map->type || info.key_size != map->key_size ||
	    info.value_size != map->value_size || info.max_entries != map->max_entries ||
	    (info.map_flags & ~BPF_F_RDONLY_PROG) != (map->flags & ~BPF_F_RDONLY_PROG))
		return error_hint(error_new(EINVAL,
					    "map '%s': a different map is pinned at '%s': type %s, "
					    "key %u, value %u, %u entries, flags 0x%x",
					    map->name, map->pin_path, type_name(info.type),
					    info.key_size, info.value_size, info.max_entries,
					    info.map_flags),
				  "remove that file or rename the map");
	if (map->fd >= 0)
		close(map->fd);
	map->is_new = map->reused = false;
	map->fd = steal_fd(&fd);
	map->pinned = true;
	*found = true;
	return NULL;
}

/* Its name, once there is a map. *taken: another process was faster. */
static struct error *map_pin(struct bpf_map *map, bool *taken)
{
	*taken = false;
	if (!map->pin_path || map->pinned || !bpf_map__pin(map, NULL)) {
		map->pinned_by_load = map->pinned;
		return NULL;
	}
	/* A map whose bytes are mapped already cannot be another one any more. */
	*taken = errno == EEXIST && !map->mapped;
	return *taken ? NULL
		      : error_errno(errno, "map '%s': cannot pin it at '%s'", map->name,
				    map->pin_path);
}

/* What is pinned, what the caller gave, or a new map, which then gets its name. */
static struct error *map_provide(struct bpf_map *map)
{
	const bool given = map->fd >= 0;
	bool found = false, taken = false;

	if (map->pin_path && !map->pinned)
		TRY(map_reuse_pinned(map, &found));
	if (found)
		return NULL;
	if (!given)
		TRY(map_create(map));
	TRY(map_pin(map, &taken));
	if (!taken)
		return NULL;
	TRY(map_reuse_pinned(map, &found));
	return found ? NULL
		     : error_new(EEXIST, "map '%s': '%s' keeps appearing and disappearing",
				 map->name, map->pin_path);
}

struct error *maps_create(struct bpf_object *obj)
{
	struct bpf_map *map;

	vec_for_each (map, &obj->maps)
		if (map->autocreate)
			TRY(map_provide(map));
	return NULL;
}

void map_deinit(struct bpf_map *map)
{
	if (map->inner) {
		map_deinit(map->inner);
		free(map->inner);
	}
	if (map->fd >= 0)
		close(map->fd);
	if (map->inner_fd >= 0)
		close(map->inner_fd);
	if (map->mapped)
		munmap(map->mapped, map->mapped_size);
	struct_ops_free(map->ops);
	free(map->pin_path);
	free(map->owned_name);
}
