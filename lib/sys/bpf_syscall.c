// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpf(2), a function per command (<bpf/bpf.h>): programs, BTF, what is pinned
 * and what is loaded. Maps are in bpf_map.c, links in bpf_link.c.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/sys/bpf_call.h"

/* The kernel's per-command members of union bpf_attr. */
struct prog_load_attr {
	uint32_t prog_type;
	uint32_t insn_cnt;
	uint64_t insns;
	uint64_t license;
	uint32_t log_level;
	uint32_t log_size;
	uint64_t log_buf;
	uint32_t kern_version;
	uint32_t prog_flags;
	char prog_name[SYS_BPF_NAME_SIZE];
	uint32_t prog_ifindex;
	uint32_t expected_attach_type;
	uint32_t prog_btf_fd;
	uint32_t func_info_rec_size;
	uint64_t func_info;
	uint32_t func_info_cnt;
	uint32_t line_info_rec_size;
	uint64_t line_info;
	uint32_t line_info_cnt;
	uint32_t attach_btf_id;
	uint32_t attach_fd; /* attach_prog_fd or attach_btf_obj_fd */
	uint32_t core_relo_cnt;
	uint64_t fd_array;
	uint64_t core_relos;
	uint32_t core_relo_rec_size;
	uint32_t log_true_size; /* 6.4 */
	int32_t prog_token_fd;	/* 6.9 */
	uint32_t fd_array_cnt;	/* 6.14 */
};

struct btf_load_attr {
	uint64_t btf;
	uint64_t log_buf;
	uint32_t size;
	uint32_t log_size;
	uint32_t log_level;
	uint32_t log_true_size; /* 6.4 */
	uint32_t btf_flags;	/* 6.9 */
	int32_t token_fd;	/* 6.9 */
};

struct obj_attr {
	uint64_t pathname;
	uint32_t fd;
	uint32_t file_flags;
	int32_t path_fd; /* 6.5 */
	uint32_t pad;
};

struct get_id_attr {
	uint32_t id;
	uint32_t next_id;
	uint32_t open_flags;
	int32_t token_fd; /* 6.9 */
};

struct prog_attach_attr {
	uint32_t target;
	uint32_t prog_fd;
	uint32_t attach_type;
	uint32_t attach_flags;
	uint32_t replace_fd;
	uint32_t relative; /* 6.6: a descriptor, or an id */
	uint64_t expected_revision;
};

struct prog_query_attr {
	uint32_t target;
	uint32_t attach_type;
	uint32_t query_flags;
	uint32_t attach_flags;
	uint64_t prog_ids;
	uint32_t count;
	uint32_t pad;
	uint64_t prog_attach_flags; /* 6.0 */
	uint64_t link_ids;	    /* 6.6 */
	uint64_t link_attach_flags;
	uint64_t revision;
};

struct raw_tp_attr {
	uint64_t name;
	uint32_t prog_fd;
	uint32_t pad;
	uint64_t cookie; /* 6.10 */
};

long sys_bpf(int cmd, void *attr, unsigned int size)
{
	long result = syscall(__NR_bpf, cmd, attr, size);

	return result < 0 ? -errno : result;
}

int sys_bpf_fd(int cmd, void *attr, unsigned int size)
{
	long fd = sys_bpf(cmd, attr, size);

	if (fd >= 0 && fd <= 2) {
		int moved = fcntl((int)fd, F_DUPFD_CLOEXEC, 3);
		int saved = errno;

		close((int)fd);
		fd = moved < 0 ? -saved : moved;
	}
	return (int)fd;
}

void sys_bpf_name(const char *name, char out[SYS_BPF_NAME_SIZE])
{
	size_t i = 0;

	for (; name && name[i] && i < SYS_BPF_NAME_SIZE - 1; i++) {
		const char c = name[i];
		const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
				     (c >= '0' && c <= '9') || c == '_' || c == '.';

		out[i] = allowed ? c : '_';
	}
	memset(out + i, 0, SYS_BPF_NAME_SIZE - i);
}

void sys_bpf_bump_memlock(void)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	if (!setrlimit(RLIMIT_MEMLOCK, &limit) || getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	if (limit.rlim_cur != limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_MEMLOCK, &limit);
	}
}

/* ---- programs ---- */

/*
 * The verifier gives up when a signal waits. A process with a timer would never load what takes
 * longer to verify than the timer's interval, so after the first try signals wait until it has an
 * answer.
 */
static int load_uninterrupted(void *attr, unsigned int size, int attempts)
{
	int fd = sys_bpf_fd(BPF_PROG_LOAD, attr, size);
	sigset_t all, before;

	if (fd != -EAGAIN || attempts <= 1)
		return fd;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (fd == -EAGAIN && --attempts > 0)
		fd = sys_bpf_fd(BPF_PROG_LOAD, attr, size);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return fd;
}

int bpf_prog_load(enum bpf_prog_type prog_type, const char *prog_name, const char *license,
		  const struct bpf_insn *insns, size_t insn_cnt, struct bpf_prog_load_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_prog_load_opts);

	if (err)
		return edge_int(err);

	int attempts = OPTS_GET(opts, attempts, 0);
	const __u32 prog_fd = OPTS_GET(opts, attach_prog_fd, 0);
	const __u32 btf_obj_fd = OPTS_GET(opts, attach_btf_obj_fd, 0);
	const __u32 log_level = OPTS_GET(opts, log_level, 0);
	char *log_buf = OPTS_GET(opts, log_buf, NULL);
	const __u32 log_size = OPTS_GET(opts, log_size, 0);

	if (attempts < 0 || insn_cnt > UINT32_MAX || (prog_fd && btf_obj_fd) ||
	    (!!log_buf != !!log_size) || (log_level && !log_buf))
		return edge_errno(EINVAL);
	if (!attempts)
		attempts = 5;

	struct prog_load_attr attr = {
		.prog_type = prog_type,
		.insn_cnt = (uint32_t)insn_cnt,
		.insns = ptr_to_u64(insns),
		.license = ptr_to_u64(license),
		.kern_version = OPTS_GET(opts, kern_version, 0),
		.prog_flags = OPTS_GET(opts, prog_flags, 0),
		.prog_ifindex = OPTS_GET(opts, prog_ifindex, 0),
		.expected_attach_type = OPTS_GET(opts, expected_attach_type, 0),
		.prog_btf_fd = OPTS_GET(opts, prog_btf_fd, 0),
		.func_info_rec_size = OPTS_GET(opts, func_info_rec_size, 0),
		.func_info = ptr_to_u64(OPTS_GET(opts, func_info, NULL)),
		.func_info_cnt = OPTS_GET(opts, func_info_cnt, 0),
		.line_info_rec_size = OPTS_GET(opts, line_info_rec_size, 0),
		.line_info = ptr_to_u64(OPTS_GET(opts, line_info, NULL)),
		.line_info_cnt = OPTS_GET(opts, line_info_cnt, 0),
		.attach_btf_id = OPTS_GET(opts, attach_btf_id, 0),
		.attach_fd = prog_fd ? prog_fd : btf_obj_fd,
		.fd_array = ptr_to_u64(OPTS_GET(opts, fd_array, NULL)),
		.fd_array_cnt = OPTS_GET(opts, fd_array_cnt, 0),
		.prog_token_fd = (int32_t)OPTS_GET(opts, token_fd, 0),
	};
	sys_bpf_name(prog_name, attr.prog_name);
	if (log_level) {
		attr.log_level = log_level;
		attr.log_buf = ptr_to_u64(log_buf);
		attr.log_size = log_size;
	}

	int fd = load_uninterrupted(&attr, sizeof(attr), attempts);
	if (fd < 0 && !log_level && log_buf) {
		attr.log_level = 1;
		attr.log_buf = ptr_to_u64(log_buf);
		attr.log_size = log_size;
		fd = load_uninterrupted(&attr, sizeof(attr), attempts);
	}
	OPTS_SET(opts, log_true_size, attr.log_true_size);
	return give(fd);
}

int bpf_btf_load(const void *btf_data, size_t btf_size, struct bpf_btf_load_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_btf_load_opts);

	if (err)
		return edge_int(err);

	const __u32 log_level = OPTS_GET(opts, log_level, 0);
	char *log_buf = OPTS_GET(opts, log_buf, NULL);
	const __u32 log_size = OPTS_GET(opts, log_size, 0);
	if (btf_size > UINT32_MAX || (log_size && !log_buf) || (log_level && !log_buf))
		return edge_errno(EINVAL);

	struct btf_load_attr attr = {
		.btf = ptr_to_u64(btf_data),
		.size = (uint32_t)btf_size,
		.btf_flags = OPTS_GET(opts, btf_flags, 0),
		.token_fd = (int32_t)OPTS_GET(opts, token_fd, 0),
	};
	if (log_level) {
		attr.log_level = log_level;
		attr.log_buf = ptr_to_u64(log_buf);
		attr.log_size = log_size;
	}
	int fd = sys_bpf_fd(BPF_BTF_LOAD, &attr, sizeof(attr));
	if (fd < 0 && !log_level && log_buf) {
		attr.log_level = 1;
		attr.log_buf = ptr_to_u64(log_buf);
		attr.log_size = log_size;
		fd = sys_bpf_fd(BPF_BTF_LOAD, &attr, sizeof(attr));
	}
	OPTS_SET(opts, log_true_size, attr.log_true_size);
	return give(fd);
}

int bpf_prog_bind_map(int prog_fd, int map_fd, const struct bpf_prog_bind_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_prog_bind_opts);
	struct {
		uint32_t prog_fd;
		uint32_t map_fd;
		uint32_t flags;
	} attr = {(uint32_t)prog_fd, (uint32_t)map_fd, OPTS_GET(opts, flags, 0)};

	if (err)
		return edge_int(err);
	return give(sys_bpf(BPF_PROG_BIND_MAP, &attr, sizeof(attr)));
}

int bpf_prog_assoc_struct_ops(int prog_fd, int map_fd, struct bpf_prog_assoc_struct_ops_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_prog_assoc_struct_ops_opts);
	struct {
		uint32_t map_fd;
		uint32_t prog_fd;
		uint32_t flags;
	} attr = {(uint32_t)map_fd, (uint32_t)prog_fd, OPTS_GET(opts, flags, 0)};

	if (err)
		return edge_int(err);
	return give(sys_bpf(BPF_PROG_ASSOC_STRUCT_OPS, &attr, sizeof(attr)));
}

int bpf_prog_stream_read(int prog_fd, __u32 stream_id, void *buf, __u32 buf_len,
			 struct bpf_prog_stream_read_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_prog_stream_read_opts);
	struct {
		uint64_t buf;
		uint32_t buf_len;
		uint32_t stream_id;
		uint32_t prog_fd;
		uint32_t pad;
	} attr = {ptr_to_u64(buf), buf_len, stream_id, (uint32_t)prog_fd};

	if (err)
		return edge_int(err);
	return give(sys_bpf(BPF_PROG_STREAM_READ_BY_FD, &attr, sizeof(attr)));
}

int bpf_token_create(int bpffs_fd, struct bpf_token_create_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_token_create_opts);
	uint32_t attr[] = {OPTS_GET(opts, flags, 0), (uint32_t)bpffs_fd};

	if (err)
		return edge_int(err);
	return give(sys_bpf_fd(BPF_TOKEN_CREATE, attr, sizeof(attr)));
}

int bpf_prog_test_run_opts(int prog_fd, struct bpf_test_run_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_test_run_opts);
	struct {
		uint32_t prog_fd;
		uint32_t retval;
		uint32_t data_size_in;
		uint32_t data_size_out;
		uint64_t data_in;
		uint64_t data_out;
		uint32_t repeat;
		uint32_t duration;
		uint32_t ctx_size_in;
		uint32_t ctx_size_out;
		uint64_t ctx_in;
		uint64_t ctx_out;
		uint32_t flags;
		uint32_t cpu;
		uint32_t batch_size;
		uint32_t pad;
	} attr = {
		.prog_fd = (uint32_t)prog_fd,
		.data_size_in = OPTS_GET(opts, data_size_in, 0),
		.data_size_out = OPTS_GET(opts, data_size_out, 0),
		.data_in = ptr_to_u64(OPTS_GET(opts, data_in, NULL)),
		.data_out = ptr_to_u64(OPTS_GET(opts, data_out, NULL)),
		.repeat = (uint32_t)OPTS_GET(opts, repeat, 0),
		.ctx_size_in = OPTS_GET(opts, ctx_size_in, 0),
		.ctx_size_out = OPTS_GET(opts, ctx_size_out, 0),
		.ctx_in = ptr_to_u64(OPTS_GET(opts, ctx_in, NULL)),
		.ctx_out = ptr_to_u64(OPTS_GET(opts, ctx_out, NULL)),
		.flags = OPTS_GET(opts, flags, 0),
		.cpu = OPTS_GET(opts, cpu, 0),
		.batch_size = OPTS_GET(opts, batch_size, 0),
	};

	if (err)
		return edge_int(err);
	long result = sys_bpf(BPF_PROG_TEST_RUN, &attr, sizeof(attr));
	OPTS_SET(opts, data_size_out, attr.data_size_out);
	OPTS_SET(opts, ctx_size_out, attr.ctx_size_out);
	OPTS_SET(opts, duration, attr.duration);
	OPTS_SET(opts, retval, attr.retval);
	return give(result);
}

/* ---- pinning ---- */

int bpf_obj_pin_opts(int fd, const char *pathname, const struct bpf_obj_pin_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_obj_pin_opts);
	struct obj_attr attr = {
		.pathname = ptr_to_u64(pathname),
		.fd = (uint32_t)fd,
		.file_flags = OPTS_GET(opts, file_flags, 0),
		.path_fd = OPTS_GET(opts, path_fd, 0),
	};

	if (err)
		return edge_int(err);
	return give(sys_bpf(BPF_OBJ_PIN, &attr, sizeof(attr)));
}

int bpf_obj_pin(int fd, const char *pathname)
{
	return bpf_obj_pin_opts(fd, pathname, NULL);
}

int bpf_obj_get_opts(const char *pathname, const struct bpf_obj_get_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_obj_get_opts);
	struct obj_attr attr = {
		.pathname = ptr_to_u64(pathname),
		.file_flags = OPTS_GET(opts, file_flags, 0),
		.path_fd = OPTS_GET(opts, path_fd, 0),
	};

	if (err)
		return edge_int(err);
	return give(sys_bpf_fd(BPF_OBJ_GET, &attr, sizeof(attr)));
}

int bpf_obj_get(const char *pathname)
{
	return bpf_obj_get_opts(pathname, NULL);
}

/* ---- attaching ---- */

int bpf_prog_attach_opts(int prog_fd, int target, enum bpf_attach_type type,
			 const struct bpf_prog_attach_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_prog_attach_opts);

	if (err)
		return edge_int(err);

	const int relative_fd = OPTS_GET(opts, relative_fd, 0);
	const __u32 relative_id = OPTS_GET(opts, relative_id, 0);
	if (relative_fd && relative_id)
		return edge_errno(EINVAL);
	struct prog_attach_attr attr = {
		.target = (uint32_t)target,
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = type,
		.attach_flags = OPTS_GET(opts, flags, 0),
		.replace_fd = (uint32_t)OPTS_GET(opts, replace_fd, 0),
		.relative = relative_id ? relative_id : (uint32_t)relative_fd,
		.expected_revision = OPTS_GET(opts, expected_revision, 0),
	};
	if (relative_id)
		attr.attach_flags |= BPF_F_ID;
	return give(sys_bpf(BPF_PROG_ATTACH, &attr, sizeof(attr)));
}

int bpf_prog_attach(int prog_fd, int attachable_fd, enum bpf_attach_type type, unsigned int flags)
{
	LIBBPF_OPTS(bpf_prog_attach_opts, opts, .flags = flags);

	return bpf_prog_attach_opts(prog_fd, attachable_fd, type, &opts);
}

int bpf_prog_detach_opts(int prog_fd, int target, enum bpf_attach_type type,
			 const struct bpf_prog_detach_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_prog_detach_opts);

	if (err)
		return edge_int(err);

	const int relative_fd = OPTS_GET(opts, relative_fd, 0);
	const __u32 relative_id = OPTS_GET(opts, relative_id, 0);
	if (relative_fd && relative_id)
		return edge_errno(EINVAL);
	struct prog_attach_attr attr = {
		.target = (uint32_t)target,
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = type,
		.attach_flags = OPTS_GET(opts, flags, 0),
		.relative = relative_id ? relative_id : (uint32_t)relative_fd,
		.expected_revision = OPTS_GET(opts, expected_revision, 0),
	};
	if (relative_id)
		attr.attach_flags |= BPF_F_ID;
	return give(sys_bpf(BPF_PROG_DETACH, &attr, sizeof(attr)));
}

int bpf_prog_detach(int attachable_fd, enum bpf_attach_type type)
{
	return bpf_prog_detach_opts(0, attachable_fd, type, NULL);
}

int bpf_prog_detach2(int prog_fd, int attachable_fd, enum bpf_attach_type type)
{
	return bpf_prog_detach_opts(prog_fd, attachable_fd, type, NULL);
}

int bpf_raw_tracepoint_open_opts(int prog_fd, struct bpf_raw_tp_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_raw_tp_opts);
	struct raw_tp_attr attr = {
		.name = ptr_to_u64(OPTS_GET(opts, tp_name, NULL)),
		.prog_fd = (uint32_t)prog_fd,
		.cookie = OPTS_GET(opts, cookie, 0),
	};

	if (err)
		return edge_int(err);
	return give(sys_bpf_fd(BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr)));
}

int bpf_raw_tracepoint_open(const char *name, int prog_fd)
{
	LIBBPF_OPTS(bpf_raw_tp_opts, opts, .tp_name = name);

	return bpf_raw_tracepoint_open_opts(prog_fd, &opts);
}

int bpf_prog_query_opts(int target, enum bpf_attach_type type, struct bpf_prog_query_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_prog_query_opts);
	struct prog_query_attr attr = {
		.target = (uint32_t)target,
		.attach_type = type,
		.query_flags = OPTS_GET(opts, query_flags, 0),
		.count = OPTS_GET(opts, count, 0),
		.prog_ids = ptr_to_u64(OPTS_GET(opts, prog_ids, NULL)),
		.prog_attach_flags = ptr_to_u64(OPTS_GET(opts, prog_attach_flags, NULL)),
		.link_ids = ptr_to_u64(OPTS_GET(opts, link_ids, NULL)),
		.link_attach_flags = ptr_to_u64(OPTS_GET(opts, link_attach_flags, NULL)),
	};

	if (err)
		return edge_int(err);
	long result = sys_bpf(BPF_PROG_QUERY, &attr, sizeof(attr));
	OPTS_SET(opts, attach_flags, attr.attach_flags);
	OPTS_SET(opts, count, attr.count);
	OPTS_SET(opts, revision, attr.revision);
	return give(result);
}

int bpf_prog_query(int target_fd, enum bpf_attach_type type, __u32 query_flags, __u32 *attach_flags,
		   __u32 *prog_ids, __u32 *prog_cnt)
{
	LIBBPF_OPTS(bpf_prog_query_opts, opts, .query_flags = query_flags, .prog_ids = prog_ids,
		    .prog_cnt = *prog_cnt);
	int result = bpf_prog_query_opts(target_fd, type, &opts);

	if (attach_flags)
		*attach_flags = opts.attach_flags;
	*prog_cnt = opts.prog_cnt;
	return result;
}

int bpf_task_fd_query(int pid, int fd, __u32 flags, char *buf, __u32 *buf_len, __u32 *prog_id,
		      __u32 *fd_type, __u64 *probe_offset, __u64 *probe_addr)
{
	union bpf_attr attr = {0};

	attr.task_fd_query.pid = pid;
	attr.task_fd_query.fd = fd;
	attr.task_fd_query.flags = flags;
	attr.task_fd_query.buf = ptr_to_u64(buf);
	attr.task_fd_query.buf_len = *buf_len;
	long result = sys_bpf(BPF_TASK_FD_QUERY, &attr,
			      offsetof(union bpf_attr, task_fd_query) + sizeof(attr.task_fd_query));
	*buf_len = attr.task_fd_query.buf_len;
	*prog_id = attr.task_fd_query.prog_id;
	*fd_type = attr.task_fd_query.fd_type;
	*probe_offset = attr.task_fd_query.probe_offset;
	*probe_addr = attr.task_fd_query.probe_addr;
	return give(result);
}

int bpf_enable_stats(enum bpf_stats_type type)
{
	uint32_t attr = type;

	return give(sys_bpf_fd(BPF_ENABLE_STATS, &attr, sizeof(attr)));
}

/* ---- ids ---- */

static int next_id(int cmd, __u32 start_id, __u32 *next)
{
	struct get_id_attr attr = {.id = start_id};
	long result = sys_bpf(cmd, &attr, sizeof(attr));

	if (!result)
		*next = attr.next_id;
	return give(result);
}

int bpf_prog_get_next_id(__u32 start_id, __u32 *next)
{
	return next_id(BPF_PROG_GET_NEXT_ID, start_id, next);
}

int bpf_map_get_next_id(__u32 start_id, __u32 *next)
{
	return next_id(BPF_MAP_GET_NEXT_ID, start_id, next);
}

int bpf_btf_get_next_id(__u32 start_id, __u32 *next)
{
	return next_id(BPF_BTF_GET_NEXT_ID, start_id, next);
}

int bpf_link_get_next_id(__u32 start_id, __u32 *next)
{
	return next_id(BPF_LINK_GET_NEXT_ID, start_id, next);
}

static int fd_by_id(int cmd, __u32 id, const struct bpf_get_fd_by_id_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_get_fd_by_id_opts);
	struct get_id_attr attr = {
		.id = id,
		.open_flags = OPTS_GET(opts, open_flags, 0),
		.token_fd = (int32_t)OPTS_GET(opts, token_fd, 0),
	};

	if (err)
		return edge_int(err);
	return give(sys_bpf_fd(cmd, &attr, sizeof(attr)));
}

int bpf_prog_get_fd_by_id_opts(__u32 id, const struct bpf_get_fd_by_id_opts *opts)
{
	return fd_by_id(BPF_PROG_GET_FD_BY_ID, id, opts);
}

int bpf_prog_get_fd_by_id(__u32 id)
{
	return fd_by_id(BPF_PROG_GET_FD_BY_ID, id, NULL);
}

int bpf_map_get_fd_by_id_opts(__u32 id, const struct bpf_get_fd_by_id_opts *opts)
{
	return fd_by_id(BPF_MAP_GET_FD_BY_ID, id, opts);
}

int bpf_map_get_fd_by_id(__u32 id)
{
	return fd_by_id(BPF_MAP_GET_FD_BY_ID, id, NULL);
}

int bpf_btf_get_fd_by_id_opts(__u32 id, const struct bpf_get_fd_by_id_opts *opts)
{
	return fd_by_id(BPF_BTF_GET_FD_BY_ID, id, opts);
}

int bpf_btf_get_fd_by_id(__u32 id)
{
	return fd_by_id(BPF_BTF_GET_FD_BY_ID, id, NULL);
}

int bpf_link_get_fd_by_id_opts(__u32 id, const struct bpf_get_fd_by_id_opts *opts)
{
	return fd_by_id(BPF_LINK_GET_FD_BY_ID, id, opts);
}

int bpf_link_get_fd_by_id(__u32 id)
{
	return fd_by_id(BPF_LINK_GET_FD_BY_ID, id, NULL);
}

int bpf_obj_get_info_by_fd(int bpf_fd_, void *info, __u32 *info_len)
{
	union bpf_attr attr = {0};

	attr.info.bpf_fd = bpf_fd_;
	attr.info.info_len = *info_len;
	attr.info.info = ptr_to_u64(info);
	long result = sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr,
			      offsetof(union bpf_attr, info) + sizeof(attr.info));
	if (!result)
		*info_len = attr.info.info_len;
	return give(result);
}

int bpf_prog_get_info_by_fd(int prog_fd, struct bpf_prog_info *info, __u32 *info_len)
{
	return bpf_obj_get_info_by_fd(prog_fd, info, info_len);
}

int bpf_map_get_info_by_fd(int map_fd, struct bpf_map_info *info, __u32 *info_len)
{
	return bpf_obj_get_info_by_fd(map_fd, info, info_len);
}

int bpf_btf_get_info_by_fd(int btf_fd, struct bpf_btf_info *info, __u32 *info_len)
{
	return bpf_obj_get_info_by_fd(btf_fd, info, info_len);
}

int bpf_link_get_info_by_fd(int link_fd, struct bpf_link_info *info, __u32 *info_len)
{
	return bpf_obj_get_info_by_fd(link_fd, info, info_len);
}
