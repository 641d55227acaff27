// SPDX-License-Identifier: BSD-2-Clause
/*
 * BTF from files. The kernel's own is 5.5 MB in one sysfs file. Since Linux
 * 6.16 that file can be mapped: then nothing is copied, and all processes
 * share the kernel's pages. Other files are read, not mapped, because a file
 * that shrinks under a mapping kills the reader.
 */
#include "lib/object/btf_load.h"

#include <bpf/libbpf_legacy.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/base/edge.h"
#include "lib/base/strbuf.h"
#include "lib/elf/elf_read.h"
#include "lib/sys/open_file.h"
#include "lib/sys/sys.h"

/* No BTF comes near this; a file that does is something else. */
#define BTF_FILE_MAX (1u << 30)

static void release_map(void *data, size_t size)
{
	munmap(data, size);
}

static void release_heap(void *data, size_t size)
{
	free(data);
}

/* The file mapped; NULL: it cannot be. */
static void *map_file(const char *path, size_t *size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return NULL;
	void *map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	*size = st.st_size;
	return map == MAP_FAILED ? NULL : map;
}

static struct error *open_raw(const char *path, const struct btf *base, bool may_map,
			      struct btf **out)
{
	size_t size;
	void *map = may_map ? map_file(path, &size) : NULL;

	if (map) {
		struct error *err = btf_open(map, size, path, base,
					     (struct btf_backing){.release = release_map}, out);

		if (err)
			munmap(map, size);
		return err;
	}
	_cleanup_free_ char *data = NULL;
	TRY(sys_read_file(path, BTF_FILE_MAX, &data, &size));
	TRY(btf_open(data, size, path, base, (struct btf_backing){.release = release_heap}, out));
	steal_ptr(data);
	return NULL;
}

/* "FILE: section .BTF" */
static char *section_place(const char *path, const char *section)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s: section %s", path, section);
	return strbuf_steal(&sb);
}

static struct error *open_elf(struct elf_file *file, const char *path, const struct btf *base,
			      struct btf **out, struct btf_ext **ext)
{
	const struct elf_section *sec = pb_elf_section_find(file, BTF_ELF_SEC);
	const struct elf_section *ext_sec = pb_elf_section_find(file, BTF_EXT_ELF_SEC);
	_cleanup_(btf__freep) struct btf *btf = NULL;
	_cleanup_free_ char *place = section_place(path, BTF_ELF_SEC);
	_cleanup_free_ char *ext_place = section_place(path, BTF_EXT_ELF_SEC);

	if (!place || !ext_place)
		return error_nomem();
	if (!sec || !sec->data)
		return error_hint(error_new(ENODATA, "%s has no .BTF section", path),
				  "compile BPF programs with clang -g; kernels need "
				  "CONFIG_DEBUG_INFO_BTF=y");
	/* the file is closed before the BTF is */
	_cleanup_free_ void *copy = malloc(sec->size ? sec->size : 1);
	if (!copy)
		return error_nomem();
	memcpy(copy, sec->data, sec->size);
	TRY(btf_open(copy, sec->size, place, base, (struct btf_backing){.release = release_heap},
		     &btf));
	steal_ptr(copy);
	btf__set_pointer_size(btf, pb_elf_file_is64(file) ? 8 : 4);
	if (ext && ext_sec && ext_sec->data)
		TRY(btf_ext_open(ext_sec->data, ext_sec->size, ext_place, ext));
	*out = steal_ptr(btf);
	return NULL;
}

/* The first bytes tell; 'e' ELF, 'b' BTF, '?' neither. */
static struct error *file_kind(const char *path, char *kind)
{
	_cleanup_close_ int fd = -1;
	uint8_t head[4] = {0};

	TRY(open_regular(path, NULL, &fd));
	if (read(fd, head, sizeof(head)) < 0)
		return error_errno(errno, "cannot read %s", path);
	if (memcmp(head, "\177ELF", 4) == 0)
		*kind = 'e';
	else if ((head[0] == 0x9f && head[1] == 0xeb) || (head[0] == 0xeb && head[1] == 0x9f))
		*kind = 'b';
	else
		*kind = '?';
	return NULL;
}

static bool is_btf(const struct elf_file *file, const struct elf_section *sec)
{
	return !strcmp(sec->name, BTF_ELF_SEC) || !strcmp(sec->name, BTF_EXT_ELF_SEC);
}

static struct error *load_elf(const char *path, const struct btf *base, struct btf **out,
			      struct btf_ext **ext)
{
	_cleanup_elf_ struct elf_file *file = NULL;

	TRY(pb_elf_file_open_parts(path, is_btf, &file));
	return open_elf(file, path, base, out, ext);
}

struct error *btf_load_file(const char *path, const struct btf *base, struct btf **out,
			    struct btf_ext **ext)
{
	char kind = 0;

	if (ext)
		*ext = NULL;
	TRY(file_kind(path, &kind));
	switch (kind) {
	case 'e':
		return load_elf(path, base, out, ext);
	case 'b':
		return open_raw(path, base, false, out);
	default:
		return error_new(EPROTO, "%s is neither an ELF file nor BTF", path);
	}
}

/* Where distributions keep the kernel's image with debug information. */
static struct error *load_vmlinux_image(struct btf **out)
{
	static const char *const places[] = {
		"/boot/vmlinux-%s",
		"/lib/modules/%s/vmlinux-%s",
		"/lib/modules/%s/build/vmlinux",
		"/usr/lib/modules/%s/kernel/vmlinux",
		"/usr/lib/debug/boot/vmlinux-%s",
		"/usr/lib/debug/boot/vmlinux-%s.debug",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
	};
	struct utsname host;

	uname(&host);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
		_cleanup_error_ struct error *err = NULL;

		for (const char *p = places[i]; *p; p++) {
			if (p[0] == '%' && p[1] == 's') {
				strbuf_adds(&path, host.release);
				p++;
			} else {
				strbuf_addch(&path, *p);
			}
		}
		if (strbuf_failed(&path))
			return error_nomem();
		if (access(path.str, R_OK))
			continue;
		err = load_elf(path.str, NULL, out, NULL);
		if (!err)
			return NULL;
	}
	return error_hint(error_new(ENOENT, "the kernel's BTF was not found: there is no "
					    "/sys/kernel/btf/vmlinux and no vmlinux image with "
					    "a .BTF section"),
			  "use a kernel with CONFIG_DEBUG_INFO_BTF=y");
}

struct error *btf_load_vmlinux(const char *sysfs, struct btf **out)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

	strbuf_addf(&path, "%s/kernel/btf/vmlinux", sysfs ? sysfs : "/sys");
	if (strbuf_failed(&path))
		return error_nomem();
	if (!sysfs && access(path.str, R_OK))
		return load_vmlinux_image(out);
	return open_raw(path.str, NULL, !sysfs, out);
}

struct error *btf_load_module(const char *sysfs, const char *module, const struct btf *vmlinux,
			      struct btf **out)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

	if (!*module || strchr(module, '/'))
		return error_new(EINVAL, "'%s' is not a module name", module);
	strbuf_addf(&path, "%s/kernel/btf/%s", sysfs ? sysfs : "/sys", module);
	if (strbuf_failed(&path))
		return error_nomem();
	if (access(path.str, F_OK))
		return error_hint(error_new(ENOENT, "BTF of module %s is not available", module),
				  "load the module with 'modprobe %s'; /sys/kernel/btf lists the "
				  "modules with BTF",
				  module);
	return open_raw(path.str, vmlinux, !sysfs, out);
}

/* ---- the libbpf-compatible functions ---- */

static struct btf *edge_btf(struct error *err, struct btf **btf)
{
	/* libbpf's word for malformed BTF */
	if (err && err->code == EBADMSG)
		err->code = EINVAL;
	return err ? edge_null(err) : *btf;
}

struct btf *btf__parse(const char *path, struct btf_ext **btf_ext)
{
	struct btf *btf = NULL;

	return edge_btf(btf_load_file(path, NULL, &btf, btf_ext), &btf);
}

struct btf *btf__parse_split(const char *path, struct btf *base_btf)
{
	struct btf *btf = NULL;

	return edge_btf(btf_load_file(path, base_btf, &btf, NULL), &btf);
}

struct btf *btf__parse_elf(const char *path, struct btf_ext **btf_ext)
{
	struct btf *btf = NULL;

	if (btf_ext)
		*btf_ext = NULL;
	return edge_btf(load_elf(path, NULL, &btf, btf_ext), &btf);
}

struct btf *btf__parse_elf_split(const char *path, struct btf *base_btf)
{
	struct btf *btf = NULL;

	return edge_btf(load_elf(path, base_btf, &btf, NULL), &btf);
}

struct btf *btf__parse_raw(const char *path)
{
	return btf__parse_raw_split(path, NULL);
}

struct btf *btf__parse_raw_split(const char *path, struct btf *base_btf)
{
	struct btf *btf = NULL;

	return edge_btf(open_raw(path, base_btf, false, &btf), &btf);
}

struct btf *btf__load_vmlinux_btf(void)
{
	struct btf *btf = NULL;

	return edge_btf(btf_load_vmlinux(NULL, &btf), &btf);
}

struct btf *libbpf_find_kernel_btf(void)
{
	return btf__load_vmlinux_btf();
}

struct btf *btf__load_module_btf(const char *module_name, struct btf *vmlinux_btf)
{
	struct btf *btf = NULL;

	return edge_btf(btf_load_module(NULL, module_name, vmlinux_btf, &btf), &btf);
}
