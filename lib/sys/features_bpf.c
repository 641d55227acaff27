// SPDX-License-Identifier: BSD-2-Clause
/* What bpf(2) does here: program types, map types, BTF kinds, what loading needs. */
#include <string.h>
#include <sys/resource.h>

#include "lib/sys/bpf_syscall.h"
#include "lib/sys/features_internal.h"

/* r0 = 0; exit */
static const struct bpf_insn return_0[] = {
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
	{.code = BPF_JMP | BPF_EXIT},
};

static int load(enum bpf_prog_type type)
{
	return bpf_prog_load(type, NULL, "GPL", return_0, ARRAY_SIZE(return_0), NULL);
}

static void probe_syscall(struct sys_features *features, const void *arg,
			  struct sys_feature_result *result)
{
	int fd = load(BPF_PROG_TYPE_SOCKET_FILTER);

	if (fd < 0) {
		feature_no_bpf(features, result, fd, NULL);
		return;
	}
	close(fd);
	feature_yes(result, "%s", "");
}

static void probe_jit(struct sys_features *features, const void *arg,
		      struct sys_feature_result *result)
{
	_cleanup_close_ int fd = load(BPF_PROG_TYPE_SOCKET_FILTER);
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	if (fd < 0) {
		feature_no_bpf(features, result, fd, NULL);
		return;
	}
	int err = bpf_prog_get_info_by_fd(fd, &info, &len);
	if (err) {
		feature_no_bpf(features, result, err, "unknown: programs have no info");
	} else if (!info.jited_prog_len) {
		feature_no(result, 0, "programs are interpreted");
		feature_hint(result, "type: sysctl net.core.bpf_jit_enable=1");
	} else {
		feature_yes(result, "%s", "");
	}
}

/*
 * Kernels before 5.11 charge maps to RLIMIT_MEMLOCK. With the soft limit at 0
 * for a moment, a map tells.
 */
static void probe_memlock(struct sys_features *features, const void *arg,
			  struct sys_feature_result *result)
{
	struct rlimit old, none;

	if (getrlimit(RLIMIT_MEMLOCK, &old)) {
		feature_no(result, errno, "RLIMIT_MEMLOCK cannot be read");
		return;
	}
	none = old;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_MEMLOCK, &none);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, 8, 1, NULL);
	setrlimit(RLIMIT_MEMLOCK, &old);
	if (fd >= 0) {
		close(fd);
		feature_yes(result, "%s", "");
		return;
	}
	/* Is it the limit, or are there no maps for us at all? */
	int again = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, 8, 1, NULL);
	if (again < 0) {
		feature_no_bpf(features, result, again, NULL);
		return;
	}
	close(again);
	feature_no(result, fd, "maps are charged to RLIMIT_MEMLOCK, %llu KiB here",
		   (unsigned long long)old.rlim_max / 1024);
	feature_hint(result, "the limit is raised up to the hard limit; run as root");
}

static void probe_stats(struct sys_features *features, const void *arg,
			struct sys_feature_result *result)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	if (fd >= 0) {
		close(fd);
		feature_yes(result, "%s", "");
		return;
	}
	feature_no_bpf(features, result, fd,
		       fd == -EINVAL ? "this kernel does not support it (it needs Linux 5.8)"
				     : NULL);
}

static void probe_program(struct sys_features *features, const void *arg,
			  struct sys_feature_result *result)
{
	int fd = load((enum bpf_prog_type)(uintptr_t)arg);

	if (fd < 0) {
		feature_no_bpf(features, result, fd,
			       fd == -EINVAL ? "this kernel does not support the type" : NULL);
		return;
	}
	close(fd);
	feature_yes(result, "%s", "");
}

struct map_shape {
	unsigned type;
	__u32 key, value, entries; /* entries 0: a page, for ring buffers */
	__u32 flags;
	bool storage; /* takes the BTF of an int as key and value */
	const char *since;
};

/* BTF of an int of 4 bytes, for maps that insist on types. */
static int load_int_btf(void)
{
	static const struct {
		struct btf_header header;
		struct btf_type type;
		__u32 encoding;
		char strings[8];
	} btf = {
		.header = {.magic = BTF_MAGIC,
			   .version = BTF_VERSION,
			   .hdr_len = sizeof(btf.header),
			   .type_len = sizeof(btf.type) + sizeof(btf.encoding),
			   .str_off = sizeof(btf.type) + sizeof(btf.encoding),
			   .str_len = 5},
		.type = {.name_off = 1, .info = BTF_KIND_INT << 24, .size = 4},
		.encoding = BTF_INT_SIGNED << 24 | 32,
		.strings = "\0int",
	};

	return bpf_btf_load(&btf, sizeof(btf.header) + sizeof(btf.type) + sizeof(btf.encoding) + 5,
			    NULL);
}

static void probe_map(struct sys_features *features, const void *arg,
		      struct sys_feature_result *result)
{
	const struct map_shape *shape = arg;
	__u32 entries = shape->entries ? shape->entries : (__u32)sys_page_size();
	_cleanup_close_ int btf = shape->storage ? load_int_btf() : -1, inner = -1;
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = shape->flags);

	if (shape->storage) {
		if (btf < 0) {
			feature_no_bpf(features, result, btf, "it needs BTF, which does not load");
			return;
		}
		opts.btf_fd = (__u32)btf;
		opts.btf_key_type_id = 1;
		opts.btf_value_type_id = 1;
		entries = 0;
	}
	if (shape->type == BPF_MAP_TYPE_HASH_OF_MAPS) {
		inner = bpf_map_create(BPF_MAP_TYPE_HASH, NULL, 4, 4, 1, NULL);
		opts.inner_map_fd = (__u32)inner;
	}
	int fd = bpf_map_create(shape->type, NULL, shape->key, shape->value, entries, &opts);
	if (fd >= 0) {
		close(fd);
		feature_yes(result, "%s", "");
		return;
	}
	char unknown[96];
	snprintf(unknown, sizeof(unknown), "this kernel does not support it (it needs Linux %s)",
		 shape->since);
	feature_no_bpf(features, result, fd, fd == -EINVAL ? unknown : NULL);
}

static const struct map_shape array = {BPF_MAP_TYPE_ARRAY, 4, 8, 1, .since = "3.19"},
			      hash = {BPF_MAP_TYPE_HASH, 4, 8, 1, .since = "3.19"},
			      percpu_array = {BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 1, .since = "4.6"},
			      percpu_hash = {BPF_MAP_TYPE_PERCPU_HASH, 4, 8, 1, .since = "4.6"},
			      lru_hash = {BPF_MAP_TYPE_LRU_HASH, 4, 8, 1, .since = "4.10"},
			      perf_event_array = {BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 1,
						  .since = "4.3"},
			      stack_trace = {BPF_MAP_TYPE_STACK_TRACE, 4, 8 * 127, 1,
					     .since = "4.6"},
			      hash_of_maps = {BPF_MAP_TYPE_HASH_OF_MAPS, 4, 4, 1, .since = "4.12"},
			      ringbuf = {BPF_MAP_TYPE_RINGBUF, 0, 0, 0, .since = "5.8"},
			      user_ringbuf = {BPF_MAP_TYPE_USER_RINGBUF, 0, 0, 0, .since = "6.1"},
			      bloom_filter = {BPF_MAP_TYPE_BLOOM_FILTER, 0, 4, 1, .since = "5.16"},
			      task_storage = {BPF_MAP_TYPE_TASK_STORAGE, 4,    4,     0,
					      BPF_F_NO_PREALLOC,	 true, "5.11"},
			      arena = {BPF_MAP_TYPE_ARENA, 0, 0, 1, BPF_F_MMAPABLE, .since = "6.9"};

/* The probes of bpf_features.c, which loading an object asks too. */
static void probe_bpf_feature(struct sys_features *features, const void *arg,
			      struct sys_feature_result *result)
{
	if (sys_bpf_has((enum sys_bpf_feature)(uintptr_t)arg)) {
		feature_yes(result, "%s", "");
		return;
	}
	if (!feature_has_cap(features, CAP_BPF)) {
		feature_no_bpf(features, result, EPERM, NULL);
		return;
	}
	feature_no(result, 0, "this kernel does not support it");
}

#define BPF_FEATURE(name, purpose, feature)                                                        \
	{                                                                                          \
		name, "BPF", purpose, probe_bpf_feature, (void *)(uintptr_t)feature                \
	}
#define BTF_FEATURE(name, purpose, feature)                                                        \
	{                                                                                          \
		name, "BTF of programs", purpose, probe_bpf_feature, (void *)(uintptr_t)feature    \
	}
#define PROGRAM(name, purpose, type)                                                               \
	{                                                                                          \
		name, "BPF program types", purpose, probe_program, (void *)(uintptr_t)type         \
	}
#define MAP(name, purpose, shape)                                                                  \
	{                                                                                          \
		name, "BPF map types", purpose, probe_map, &shape                                  \
	}

static const struct sys_feature table[] = {
	{"bpf.syscall", "BPF", "loading programs", probe_syscall},
	{"bpf.jit", "BPF", "programs are JIT-compiled", probe_jit},
	{"bpf.memlock_free", "BPF", "maps are not charged to RLIMIT_MEMLOCK", probe_memlock},
	{"bpf.stats", "BPF", "time spent in programs", probe_stats},
	BPF_FEATURE("bpf.global_data", "global variables", SYS_BPF_GLOBAL_DATA),
	BPF_FEATURE("bpf.array_mmap", "global variables, shared live", SYS_BPF_ARRAY_MMAP),
	BPF_FEATURE("bpf.perf_link", "BPF links to perf events", SYS_BPF_PERF_LINK),
	BPF_FEATURE("bpf.cookie", "BPF cookies: one program, many attach points", SYS_BPF_COOKIE),
	PROGRAM("prog.kprobe", "kprobe and uprobe programs", BPF_PROG_TYPE_KPROBE),
	PROGRAM("prog.tracepoint", "tracepoint programs", BPF_PROG_TYPE_TRACEPOINT),
	PROGRAM("prog.raw_tracepoint", "raw tracepoint programs", BPF_PROG_TYPE_RAW_TRACEPOINT),
	PROGRAM("prog.perf_event", "programs for sampled events", BPF_PROG_TYPE_PERF_EVENT),
	MAP("map.array", "tables by number", array),
	MAP("map.hash", "tables by key", hash),
	MAP("map.percpu_array", "tables by number, a part per CPU", percpu_array),
	MAP("map.percpu_hash", "tables by key, a part per CPU", percpu_hash),
	MAP("map.lru_hash", "tables that drop the oldest", lru_hash),
	MAP("map.perf_event_array", "bpf-output, counters", perf_event_array),
	MAP("map.stack_trace", "stacks by number", stack_trace),
	MAP("map.hash_of_maps", "tables of tables", hash_of_maps),
	MAP("map.ringbuf", "one ring for all CPUs", ringbuf),
	MAP("map.user_ringbuf", "a ring from user space to the program", user_ringbuf),
	MAP("map.task_storage", "values that live with a task", task_storage),
	MAP("map.bloom_filter", "approximate sets", bloom_filter),
	MAP("map.arena", "memory shared with the program", arena),
	BTF_FEATURE("btf.load", "types of programs and maps", SYS_BPF_BTF),
	BTF_FEATURE("btf.func", "functions", SYS_BPF_BTF_FUNC),
	BTF_FEATURE("btf.func_global", "global functions", SYS_BPF_BTF_FUNC_GLOBAL),
	BTF_FEATURE("btf.datasec", "variables", SYS_BPF_BTF_DATASEC),
	BTF_FEATURE("btf.float", "floats", SYS_BPF_BTF_FLOAT),
	BTF_FEATURE("btf.decl_tag", "tags of declarations", SYS_BPF_BTF_DECL_TAG),
	BTF_FEATURE("btf.type_tag", "tags of types", SYS_BPF_BTF_TYPE_TAG),
	BTF_FEATURE("btf.enum64", "enums of 64 bits", SYS_BPF_BTF_ENUM64),
};

const struct feature_part features_bpf = {table, ARRAY_SIZE(table)};
