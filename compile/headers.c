// SPDX-License-Identifier: BSD-2-Clause
/*
 * The headers a BPF program may include: the program's own, which are built
 * into the binary, and the running kernel's vmlinux.h. Both lie in the cache,
 * in folders named by their content.
 *
 * vmlinux.h is named without reading the 5 MB of BTF it is written from: by
 * the kernel's build id (/sys/kernel/notes), which the linker made from the
 * whole image, its BTF included, and the BTF's size; and by this program's own
 * file, because a newer version may write it in another way. Where there is
 * no build id the BTF is hashed.
 */
#include "compile/internal.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "lib/base/cursor.h"
#include "lib/btf/dump.h"
#include "lib/sys/open_file.h"

#define KERNEL_BTF	"/sys/kernel/btf/vmlinux"
#define KERNEL_NOTES	"/sys/kernel/notes"
#define NT_GNU_BUILD_ID 3
#define BTF_MAX		(512u << 20)

struct error *headers_path(const struct cache *c, char **path)
{
	_cleanup_hasher_ struct hasher *h = hasher_new();

	if (!h)
		return error_nomem();
	for (const struct embedded_header *e = embedded_headers; e->name; e++) {
		hasher_add_str(h, e->name);
		hasher_add(h, e->data, e->size);
	}
	char *made;
	if (asprintf(&made, "%s/headers/%s", c->path, hasher_end(h).hex) < 0)
		return error_nomem();
	*path = made;
	return NULL;
}

/* The part of path below the cache. */
static const char *below(const struct cache *c, const char *path)
{
	return path + strlen(c->path) + 1;
}

/* Whether the folder holds the file with these very bytes. */
static bool holds_file(int folder, const char *name, const void *data, size_t size)
{
	_cleanup_free_ char *is = NULL;
	size_t n;
	_cleanup_error_ struct error *err = file_read(folder, name, size, &is, &n);

	return !err && n == size && !memcmp(is, data, size);
}

struct error *headers_write(const struct cache *c, const char *path)
{
	for (const struct embedded_header *e = embedded_headers; e->name; e++) {
		const char *base = strrchr(e->name, '/');
		_cleanup_free_ char *sub = NULL;
		_cleanup_close_ int folder = -1;

		if (asprintf(&sub, "%s/%.*s", below(c, path), (int)(base - e->name), e->name) < 0) {
			sub = NULL;
			return error_nomem();
		}
		TRY(cache_folder(c, sub, &folder));
		if (!holds_file(folder, base + 1, e->data, e->size))
			TRY(file_replace(folder, base + 1, e->data, e->size, 0600));
	}
	cache_prune(c, "headers", 8);
	return NULL;
}

/* Adds the running kernel's build id; false: it tells none. */
static bool add_build_id(struct hasher *h)
{
	_cleanup_free_ char *notes = NULL;
	size_t size;
	_cleanup_error_ struct error *err =
		file_read(AT_FDCWD, KERNEL_NOTES, 1u << 20, &notes, &size);

	if (err)
		return false;
	struct cursor c = cursor_make(notes, size, KERNEL_NOTES);
	uint32_t name_len, desc_len, type;
	while (cursor_u32(&c, &name_len) && cursor_u32(&c, &desc_len) && cursor_u32(&c, &type)) {
		const char *name = cursor_bytes(&c, name_len);
		if (!name || !cursor_skip(&c, min_of(-name_len % 4u, cursor_left(&c))))
			return false;
		const void *desc = cursor_bytes(&c, desc_len);
		if (!desc || !cursor_skip(&c, min_of(-desc_len % 4u, cursor_left(&c))))
			return false;
		if (type == NT_GNU_BUILD_ID && name_len == 4 && !memcmp(name, "GNU", 4)) {
			hasher_add(h, desc, desc_len);
			return true;
		}
	}
	return false;
}

struct error *vmlinux_path(const struct cache *c, const char *btf, char **path)
{
	_cleanup_hasher_ struct hasher *h = hasher_new();
	const char *file = btf ? btf : KERNEL_BTF;
	struct stat st;

	if (!h)
		return error_nomem();
	if (stat("/proc/self/exe", &st) == 0) {
		hasher_add(h, &st.st_size, sizeof(st.st_size));
		hasher_add(h, &st.st_mtim.tv_sec, sizeof(st.st_mtim.tv_sec));
		hasher_add(h, &st.st_mtim.tv_nsec, sizeof(st.st_mtim.tv_nsec));
	}
	hasher_add_str(h, PERF_BPF_VERSION);
	if (access(file, R_OK) < 0) {
		hasher_add_str(h, "none");
		hasher_add_str(h, file);
	} else if (!btf && stat(file, &st) == 0 && add_build_id(h)) {
		hasher_add(h, &st.st_size, sizeof(st.st_size));
	} else {
		_cleanup_free_ char *data = NULL;
		size_t size;
		TRY(file_read(AT_FDCWD, file, BTF_MAX, &data, &size));
		hasher_add(h, data, size);
	}
	char *made;
	if (asprintf(&made, "%s/vmlinux/%s", c->path, hasher_end(h).hex) < 0)
		return error_nomem();
	*path = made;
	return NULL;
}

static struct error *dump_kernel(const char *file, struct strbuf *out)
{
	_cleanup_free_ char *data = NULL;
	_cleanup_(btf__freep) struct btf *btf = NULL;
	size_t size;

	TRY(file_read(AT_FDCWD, file, BTF_MAX, &data, &size));
	TRY(btf_open(data, size, file, NULL, (struct btf_backing){0}, &btf));
	TRY(btf_dump_vmlinux(btf, out));
	return strbuf_failed(out) ? error_nomem() : NULL;
}

struct error *vmlinux_write(const struct cache *c, const char *btf, const char *path)
{
	const char *file = btf ? btf : KERNEL_BTF;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_close_ int folder = -1;
	struct stat st;

	TRY(cache_folder(c, below(c, path), &folder));
	if (fstatat(folder, "vmlinux.h", &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size > 0)
		return NULL;

	_cleanup_error_ struct error *err = dump_kernel(file, &text);
	if (err) {
		log_info(c->log, "no vmlinux.h: %s: %s", err->where ?: file, err->msg);
		strbuf_reset(&text);
		strbuf_addf(&text,
			    "#error \"no vmlinux.h: %s: %s; a kernel built with "
			    "CONFIG_DEBUG_INFO_BTF=y has it; without it include <linux/bpf.h>\"\n",
			    err->where ?: file, err->msg);
	} else {
		log_info(c->log, "wrote vmlinux.h from %s (%zu bytes)", file, text.len);
	}
	if (strbuf_failed(&text))
		return error_nomem();
	TRY(file_replace(folder, "vmlinux.h", text.str, text.len, 0600));
	cache_prune(c, "vmlinux", 8);
	return NULL;
}
