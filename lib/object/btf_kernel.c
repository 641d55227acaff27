// SPDX-License-Identifier: BSD-2-Clause
/* BTF that the kernel holds by id, and giving it ours. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/base/edge.h"
#include "lib/base/failure.h"
#include "lib/btf/open.h"
#include "lib/object/btf_load.h"

#define LOG_SIZE      (64 * 1024)
#define LOG_SIZE_LAST (4 * 1024 * 1024)

static void release_heap(void *data, size_t size)
{
	free(data);
}

struct error *btf_load_by_id(uint32_t id, const struct btf *base, struct btf **out)
{
	_cleanup_close_ int fd = bpf_btf_get_fd_by_id(id);
	struct bpf_btf_info info = {0};
	uint32_t len = sizeof(info);

	if (fd < 0)
		return error_errno(errno, "BTF %u", id);
	if (bpf_btf_get_info_by_fd(fd, &info, &len))
		return error_errno(errno, "BTF %u", id);

	uint32_t size = info.btf_size;
	_cleanup_free_ void *data = malloc(size ? size : 1);
	if (!data)
		return error_nomem();
	info = (struct bpf_btf_info){.btf = (uintptr_t)data, .btf_size = size};
	len = sizeof(info);
	if (bpf_btf_get_info_by_fd(fd, &info, &len))
		return error_errno(errno, "BTF %u", id);
	TRY(error_at(btf_open(data, min_of(size, info.btf_size), NULL, base,
			      (struct btf_backing){.release = release_heap}, out),
		     "BTF %u of the kernel", id));
	steal_ptr(data);
	return NULL;
}

struct btf *btf__load_from_kernel_by_id_split(__u32 id, struct btf *base_btf)
{
	struct btf *btf = NULL;
	struct error *err = btf_load_by_id(id, base_btf, &btf);

	return err ? edge_null(err) : btf;
}

struct btf *btf__load_from_kernel_by_id(__u32 id)
{
	return btf__load_from_kernel_by_id_split(id, NULL);
}

/* The verifier's last line says what it did not like. */
static const char *last_line(char *log)
{
	size_t n = strlen(log);

	while (n && log[n - 1] == '\n')
		log[--n] = 0;
	const char *nl = strrchr(log, '\n');
	return nl ? nl + 1 : log;
}

static struct error *load_into_kernel(struct btf *btf)
{
	uint32_t size;
	const void *raw = btf__raw_data(btf, &size);

	if (!raw)
		return error_nomem();
	if (btf__fd(btf) >= 0)
		return error_new(EEXIST, "the BTF is already loaded");
	int fd = bpf_btf_load(raw, size, NULL);
	int code = -fd;

	/* why not? Asked only then, because writing the log takes time. */
	for (uint32_t log_size = LOG_SIZE; fd < 0 && log_size <= LOG_SIZE_LAST; log_size *= 8) {
		_cleanup_free_ char *log = calloc(1, log_size);
		LIBBPF_OPTS(bpf_btf_load_opts, opts, .log_buf = log, .log_size = log_size,
			    .log_level = 1);

		if (!log)
			return error_nomem();
		fd = bpf_btf_load(raw, size, &opts);
		if (fd >= 0 || errno == ENOSPC)
			continue;
		if (*log)
			return error_kind(error_errno(code, "the kernel rejects the BTF: %s",
						      last_line(log)),
					  "btf-refused");
		break;
	}
	if (fd < 0)
		return error_kind(error_errno(code, "the kernel rejects the BTF"), "btf-refused");
	btf__set_fd(btf, fd);
	return NULL;
}

int btf__load_into_kernel(struct btf *btf)
{
	return edge_int(load_into_kernel(btf));
}
