// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the running kernel's bpf(2) knows, found out by trying, never by its
 * version: each entry of the table is a small system call that only a kernel
 * with the feature accepts. An answer is kept for the process: two threads
 * that ask at once both try, and both come to the same answer.
 *
 * A probe must not take a lack of rights for a lack of the feature: EPERM
 * counts as present, so that the real call fails with the real reason.
 */
#include "lib/sys/bpf_syscall.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <linux/btf.h>
#include <bpf/libbpf.h>

#include "lib/base/edge.h"
#include "lib/base/util.h"
#include "lib/sys/uapi.h"

#define INSN(op, dst, src, offset, value)                                                          \
	{                                                                                          \
		.code = (op), .dst_reg = (dst), .src_reg = (src), .off = (offset), .imm = (value)  \
	}
#define MOV_IMM(dst, imm) INSN(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm)
#define EXIT()		  INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static bool accepted(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EPERM;
}

static int load(enum bpf_prog_type type, const char *name, const struct bpf_insn *insns, size_t n,
		struct bpf_prog_load_opts *opts)
{
	return bpf_prog_load(type, name, "GPL", insns, n, opts);
}

static bool probe_prog_name(void)
{
	const struct bpf_insn insns[] = {MOV_IMM(BPF_REG_0, 0), EXIT()};

	return accepted(load(BPF_PROG_TYPE_SOCKET_FILTER, "probe", insns, ARRAY_SIZE(insns), NULL));
}

static bool probe_global_data(void)
{
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, 32, 1, NULL);

	if (map < 0)
		return map == -EPERM;
	const struct bpf_insn insns[] = {
		INSN(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_VALUE, 0, map),
		INSN(0, 0, 0, 0, 16),
		MOV_IMM(BPF_REG_0, 0),
		EXIT(),
	};
	bool has =
		accepted(load(BPF_PROG_TYPE_SOCKET_FILTER, NULL, insns, ARRAY_SIZE(insns), NULL));
	close(map);
	return has;
}

static bool probe_array_mmap(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	return accepted(bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, 4, 1, &opts));
}

static bool probe_exp_attach_type(void)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_CGROUP_INET_SOCK_CREATE);
	const struct bpf_insn insns[] = {MOV_IMM(BPF_REG_0, 0), EXIT()};

	return accepted(load(BPF_PROG_TYPE_CGROUP_SOCK, NULL, insns, ARRAY_SIZE(insns), &opts));
}

static bool probe_read_kernel(void)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, -8),
		MOV_IMM(BPF_REG_2, 8),
		MOV_IMM(BPF_REG_3, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_probe_read_kernel),
		EXIT(),
	};

	return accepted(load(BPF_PROG_TYPE_TRACEPOINT, NULL, insns, ARRAY_SIZE(insns), NULL));
}

static bool probe_cookie(void)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, 174), /* bpf_get_attach_cookie() */
		EXIT(),
	};

	return accepted(load(BPF_PROG_TYPE_TRACEPOINT, NULL, insns, ARRAY_SIZE(insns), NULL));
}

/* A link of a descriptor that is none: EBADF, where an older kernel says EINVAL. */
static bool probe_perf_link(void)
{
	const struct bpf_insn insns[] = {MOV_IMM(BPF_REG_0, 0), EXIT()};
	const int prog = load(BPF_PROG_TYPE_TRACEPOINT, NULL, insns, ARRAY_SIZE(insns), NULL);

	if (prog < 0)
		return prog == -EPERM;
	int link = bpf_link_create(prog, -1, BPF_PERF_EVENT, NULL);
	if (link >= 0)
		close(link);
	close(prog);
	return link == -EBADF;
}

/*
 * BTF of a few words: the types, then strings of which each probe uses what it
 * needs. "" at 0, "x" at 1, "?.data" at 3.
 */
static bool btf_accepted(const uint32_t *types, size_t size)
{
	static const char strings[] = "\0x\0?.data";
	struct {
		struct btf_header header;
		uint8_t room[128];
	} raw = {
		.header =
			{
				.magic = BTF_MAGIC,
				.version = BTF_VERSION,
				.hdr_len = sizeof(struct btf_header),
				.type_len = (uint32_t)size,
				.str_off = (uint32_t)size,
				.str_len = sizeof(strings),
			},
	};

	memcpy(raw.room, types, size);
	memcpy(raw.room + size, strings, sizeof(strings));
	return accepted(bpf_btf_load(&raw, sizeof(raw.header) + size + sizeof(strings), NULL));
}

#define INFO(kind, vlen) ((uint32_t)(kind) << 24 | (vlen))
/* [1] int x: 4 bytes, signed */
#define BTF_INT 1, INFO(BTF_KIND_INT, 0), 4, BTF_INT_SIGNED << 24 | 32

static bool probe_btf(void)
{
	const uint32_t types[] = {BTF_INT};

	return btf_accepted(types, sizeof(types));
}

static bool probe_btf_func(void)
{
	const uint32_t types[] = {
		BTF_INT,
		0,
		INFO(BTF_KIND_FUNC_PROTO, 1),
		1,
		1,
		1, /* [2] int (int x) */
		1,
		INFO(BTF_KIND_FUNC, 0),
		2,
	};

	return btf_accepted(types, sizeof(types));
}

static bool probe_btf_func_global(void)
{
	const uint32_t types[] = {
		BTF_INT, 0, INFO(BTF_KIND_FUNC_PROTO, 1), 1, 1, 1, 1, INFO(BTF_KIND_FUNC, 1), 2,
	};

	return btf_accepted(types, sizeof(types));
}

static bool probe_btf_datasec(void)
{
	const uint32_t types[] = {
		BTF_INT, 1, INFO(BTF_KIND_VAR, 0), 1, 0, 1, INFO(BTF_KIND_DATASEC, 1), 4, 2, 0, 4,
	};

	return btf_accepted(types, sizeof(types));
}

static bool probe_btf_qmark(void)
{
	const uint32_t types[] = {
		BTF_INT, 1, INFO(BTF_KIND_VAR, 0), 1, 0, 3, INFO(BTF_KIND_DATASEC, 1), 4, 2, 0, 4,
	};

	return btf_accepted(types, sizeof(types));
}

static bool probe_btf_float(void)
{
	const uint32_t types[] = {1, INFO(BTF_KIND_FLOAT, 0), 4};

	return btf_accepted(types, sizeof(types));
}

static bool probe_btf_decl_tag(void)
{
	const uint32_t types[] = {
		BTF_INT,      1, INFO(BTF_KIND_VAR, 0), 1, 0, 1, INFO(BTF_KIND_DECL_TAG, 0), 2,
		(uint32_t)-1,
	};

	return btf_accepted(types, sizeof(types));
}

static bool probe_btf_type_tag(void)
{
	const uint32_t types[] = {
		BTF_INT, 1, INFO(BTF_KIND_TYPE_TAG, 0), 1, 0, INFO(BTF_KIND_PTR, 0), 2,
	};

	return btf_accepted(types, sizeof(types));
}

static bool probe_btf_enum64(void)
{
	const uint32_t types[] = {1, INFO(BTF_KIND_ENUM64, 1), 8, 1, 0, 0};

	return btf_accepted(types, sizeof(types));
}

/*
 * A folder has no probes: EBADF from a kernel that has come as far as looking
 * at the path. The first ones took the pid for a thread's; those that take it
 * for a process's refuse a negative one before that.
 */
static bool probe_uprobe_multi(void)
{
	const struct bpf_insn insns[] = {MOV_IMM(BPF_REG_0, 0), EXIT()};
	const unsigned long offset = 0;
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_UPROBE_MULTI);
	LIBBPF_OPTS(bpf_link_create_opts, link, .uprobe_multi.path = "/",
		    .uprobe_multi.offsets = &offset, .uprobe_multi.cnt = 1);
	int prog = load(BPF_PROG_TYPE_KPROBE, NULL, insns, ARRAY_SIZE(insns), &opts);

	if (prog < 0)
		return false;
	int first = bpf_link_create(prog, -1, BPF_TRACE_UPROBE_MULTI, &link);
	link.uprobe_multi.pid = (uint32_t)-1;
	int second = bpf_link_create(prog, -1, BPF_TRACE_UPROBE_MULTI, &link);
	if (first >= 0)
		close(first);
	if (second >= 0)
		close(second);
	close(prog);
	return first == -EBADF && second == -EINVAL;
}

static bool probe_func_ip(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = 173}, /* bpf_get_func_ip() */
		MOV_IMM(BPF_REG_0, 0),
		EXIT(),
	};
	const int prog = load(BPF_PROG_TYPE_KPROBE, NULL, insns, ARRAY_SIZE(insns), NULL);

	if (prog >= 0)
		close(prog);
	return prog >= 0;
}

static bool (*const probes[SYS_BPF_FEATURES])(void) = {
	[SYS_BPF_PROG_NAME] = probe_prog_name,
	[SYS_BPF_GLOBAL_DATA] = probe_global_data,
	[SYS_BPF_ARRAY_MMAP] = probe_array_mmap,
	[SYS_BPF_EXP_ATTACH_TYPE] = probe_exp_attach_type,
	[SYS_BPF_PROBE_READ_KERN] = probe_read_kernel,
	[SYS_BPF_BTF] = probe_btf,
	[SYS_BPF_BTF_FUNC] = probe_btf_func,
	[SYS_BPF_BTF_FUNC_GLOBAL] = probe_btf_func_global,
	[SYS_BPF_BTF_DATASEC] = probe_btf_datasec,
	[SYS_BPF_BTF_FLOAT] = probe_btf_float,
	[SYS_BPF_BTF_DECL_TAG] = probe_btf_decl_tag,
	[SYS_BPF_BTF_TYPE_TAG] = probe_btf_type_tag,
	[SYS_BPF_BTF_ENUM64] = probe_btf_enum64,
	[SYS_BPF_BTF_QMARK] = probe_btf_qmark,
	[SYS_BPF_PERF_LINK] = probe_perf_link,
	[SYS_BPF_COOKIE] = probe_cookie,
	[SYS_BPF_UPROBE_MULTI] = probe_uprobe_multi,
	[SYS_BPF_FUNC_IP] = probe_func_ip,
};

bool sys_bpf_has(enum sys_bpf_feature feature)
{
	/* 0: not asked yet, else 1 + the answer. Written once, to one value. */
	static uint8_t answers[SYS_BPF_FEATURES];
	uint8_t answer = __atomic_load_n(&answers[feature], __ATOMIC_RELAXED);

	if (!answer) {
		const int saved = errno;

		answer = probes[feature]() ? 2 : 1;
		errno = saved;
		__atomic_store_n(&answers[feature], answer, __ATOMIC_RELAXED);
	}
	return answer == 2;
}

/* Refused as "isn't KIND_VAR" (EINVAL) by kernels that know addresses of variables only. */
bool sys_bpf_takes_func_address(uint32_t btf_id, int btf_fd)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_LD | BPF_DW | BPF_IMM,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_PSEUDO_BTF_ID,
		 .imm = (int32_t)btf_id},
		{.imm = btf_fd},
		MOV_IMM(BPF_REG_0, 0),
		EXIT(),
	};
	const int saved = errno;
	const int fd = load(BPF_PROG_TYPE_SOCKET_FILTER, NULL, insns, ARRAY_SIZE(insns), NULL);

	if (fd >= 0)
		close(fd);
	errno = saved;
	return fd != -EINVAL;
}

/* ---- the public probes ---- */

/* How a program of a type must look to be accepted. */
static void shape_prog(enum bpf_prog_type type, struct bpf_prog_load_opts *opts)
{
	switch ((int)type) {
	case BPF_PROG_TYPE_CGROUP_SOCK_ADDR:
		opts->expected_attach_type = BPF_CGROUP_INET4_CONNECT;
		break;
	case BPF_PROG_TYPE_CGROUP_SOCKOPT:
		opts->expected_attach_type = BPF_CGROUP_GETSOCKOPT;
		break;
	case BPF_PROG_TYPE_SK_LOOKUP:
		opts->expected_attach_type = BPF_SK_LOOKUP;
		break;
	case BPF_PROG_TYPE_SYSCALL:
		opts->prog_flags = BPF_F_SLEEPABLE;
		break;
	case BPF_PROG_TYPE_NETFILTER:
		opts->expected_attach_type = BPF_NETFILTER;
		break;
	default:
		break;
	}
}

/*
 * Types that attach to something in BTF are refused without one, but not as
 * an unknown type would be: the verifier has a word to say on these.
 */
static bool is_btf_type(enum bpf_prog_type type)
{
	return type == BPF_PROG_TYPE_TRACING || type == BPF_PROG_TYPE_EXT ||
	       type == BPF_PROG_TYPE_LSM || type == BPF_PROG_TYPE_STRUCT_OPS;
}

/* Of a type that is newer than this library nothing is known. */
static bool is_known_type(enum bpf_prog_type type)
{
	return (int)type >= BPF_PROG_TYPE_UNSPEC && (int)type <= BPF_PROG_TYPE_NETFILTER;
}

int libbpf_probe_bpf_prog_type(enum bpf_prog_type prog_type, const void *opts)
{
	const struct bpf_insn insns[] = {MOV_IMM(BPF_REG_0, 0), EXIT()};
	char log[512] = "";
	LIBBPF_OPTS(bpf_prog_load_opts, load_opts);

	if (opts || !is_known_type(prog_type))
		return edge_errno(opts ? EINVAL : EOPNOTSUPP);
	if (prog_type == BPF_PROG_TYPE_UNSPEC)
		return 0;
	shape_prog(prog_type, &load_opts);
	if (is_btf_type(prog_type)) {
		load_opts.log_buf = log;
		load_opts.log_size = sizeof(log);
		load_opts.log_level = 1;
		if (prog_type == BPF_PROG_TYPE_TRACING)
			load_opts.expected_attach_type = BPF_TRACE_FENTRY;
		if (prog_type == BPF_PROG_TYPE_LSM)
			load_opts.expected_attach_type = BPF_LSM_MAC;
		load_opts.attach_btf_id = 1;
	}
	int fd = load(prog_type, NULL, insns, ARRAY_SIZE(insns), &load_opts);
	if (fd >= 0) {
		close(fd);
		return 1;
	}
	if (is_btf_type(prog_type))
		return log[0] != 0 || fd == -ENOTSUP;
	return fd == -EPERM ? fd : 0;
}

int libbpf_probe_bpf_map_type(enum bpf_map_type map_type, const void *opts)
{
	__u32 key_size = 4, value_size = 4, max_entries = 1;
	int inner = -1, btf_fd = -1;
	LIBBPF_OPTS(bpf_map_create_opts, create);

	if (opts)
		return edge_errno(EINVAL);
	if ((int)map_type <= BPF_MAP_TYPE_UNSPEC || (int)map_type > BPF_MAP_TYPE_INSN_ARRAY)
		return edge_errno(EOPNOTSUPP);
	switch ((int)map_type) {
	case BPF_MAP_TYPE_STACK_TRACE:
		value_size = 8;
		break;
	case BPF_MAP_TYPE_LPM_TRIE:
		key_size = 8;
		value_size = 8;
		create.map_flags = BPF_F_NO_PREALLOC;
		break;
	case BPF_MAP_TYPE_CGROUP_STORAGE:
	case BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE:
		key_size = sizeof(struct bpf_cgroup_storage_key);
		value_size = 8;
		max_entries = 0;
		break;
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
	case BPF_MAP_TYPE_BLOOM_FILTER:
		key_size = 0;
		break;
	case BPF_MAP_TYPE_SK_STORAGE:
	case BPF_MAP_TYPE_INODE_STORAGE:
	case BPF_MAP_TYPE_TASK_STORAGE:
	case BPF_MAP_TYPE_CGRP_STORAGE: {
		/* These want BTF: int and int. */
		const struct {
			struct btf_header header;
			uint32_t types[4];
			char strings[3];
		} raw = {
			.header =
				{
					.magic = BTF_MAGIC,
					.version = BTF_VERSION,
					.hdr_len = sizeof(struct btf_header),
					.type_len = sizeof(raw.types),
					.str_off = sizeof(raw.types),
					.str_len = sizeof(raw.strings),
				},
			.types = {BTF_INT},
			.strings = "\0x",
		};
		btf_fd = bpf_btf_load(&raw, offsetof(__typeof__(raw), strings) + 3, NULL);
		if (btf_fd < 0)
			return btf_fd == -EPERM ? btf_fd : 0;
		create.btf_fd = (__u32)btf_fd;
		create.btf_key_type_id = create.btf_value_type_id = 1;
		create.map_flags = BPF_F_NO_PREALLOC;
		max_entries = 0;
		break;
	}
	case BPF_MAP_TYPE_RINGBUF:
	case BPF_MAP_TYPE_USER_RINGBUF:
		key_size = value_size = 0;
		max_entries = (__u32)sysconf(_SC_PAGESIZE);
		break;
	case BPF_MAP_TYPE_ARENA:
		key_size = value_size = 0;
		create.map_flags = BPF_F_MMAPABLE;
		break;
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_HASH_OF_MAPS:
		inner = bpf_map_create(BPF_MAP_TYPE_HASH, NULL, 4, 4, 1, NULL);
		if (inner < 0)
			return inner == -EPERM ? inner : 0;
		create.inner_map_fd = (__u32)inner;
		break;
	case BPF_MAP_TYPE_STRUCT_OPS:
		/* Refused for its made-up type, as ENOTSUPP (524) where it is known. */
		create.btf_vmlinux_value_type_id = 1;
		value_size = 4;
		int made = bpf_map_create(map_type, NULL, 4, 4, 1, &create);
		if (made >= 0)
			close(made);
		return made == -524 || made >= 0;
	default:
		break;
	}

	int fd = bpf_map_create(map_type, NULL, key_size, value_size, max_entries, &create);
	if (inner >= 0)
		close(inner);
	if (btf_fd >= 0)
		close(btf_fd);
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 1 : fd == -EPERM ? fd : 0;
}

int libbpf_probe_bpf_helper(enum bpf_prog_type prog_type, enum bpf_func_id helper_id,
			    const void *opts)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, (__s32)helper_id),
		EXIT(),
	};
	char log[4096] = "";
	LIBBPF_OPTS(bpf_prog_load_opts, load_opts, .log_buf = log, .log_size = sizeof(log),
		    .log_level = 1);

	if (opts || is_btf_type(prog_type) || !is_known_type(prog_type))
		return edge_errno(opts ? EINVAL : ENOTSUP);
	shape_prog(prog_type, &load_opts);
	int fd = load(prog_type, NULL, insns, ARRAY_SIZE(insns), &load_opts);
	if (fd >= 0) {
		close(fd);
		return 1;
	}
	if (!log[0])
		return fd == -EPERM ? fd : 0;
	/* What the verifier says of a helper that it has not, or not for this type. */
	return !strstr(log, "invalid func ") && !strstr(log, "unknown func ") &&
	       !strstr(log, "cannot use helper ");
}
