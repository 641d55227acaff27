// SPDX-License-Identifier: BSD-2-Clause
/*
 * Debug information in other files, in this order:
 *
 *	DIR/.build-id/xx/yyyy.debug for each debug directory
 *	what .gnu_debuglink names: beside the file, in .debug/ beside it, in DIR
 *		followed by the file's own directory; by its checksum, or the build-id
 *	debuginfod, when $DEBUGINFOD_URLS is set
 *
 * A file with another build-id is never used: wrong variables are worse than
 * none. The file that .gnu_debugaltlink names is absolute, relative to the debug
 * file, or below DIR/.dwz.
 */
#include "probe/dwarf/internal.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "lib/elf/elf_read.h"
#include "lib/sys/open_file.h"
#include "lib/sys/open_in_root.h"
#include "sym/sym.h"

struct want {
	const uint8_t *id;
	size_t id_size;
	bool by_crc; /* no build-id: the checksum of the file decides */
	uint32_t crc;
};

#define MOST_CRC_BYTES_OF_OTHERS ((off_t)1 << 30) /* some seconds */

/* CRC-32 of .gnu_debuglink: polynomial 0xedb88320, reflected (gdb manual, 18.3). */
static uint32_t debuglink_crc(const uint8_t *data, size_t n)
{
	uint32_t table[256], crc = 0xffffffff;

	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? 0xedb88320 ^ (c >> 1) : c >> 1;
		table[i] = c;
	}
	for (size_t i = 0; i < n; i++)
		crc = table[(crc ^ data[i]) & 0xff] ^ (crc >> 8);
	return ~crc;
}

static bool file_has_crc(int fd, uint32_t crc)
{
	struct stat st;

	if (fstat(fd, &st) || !st.st_size)
		return false;
	void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return false;
	bool same = debuglink_crc(data, (size_t)st.st_size) == crc;
	munmap(data, (size_t)st.st_size);
	return same;
}

/* The checksum is of all bytes: those of a hole cost nothing but our time. */
static bool fits_crc_limit(const struct dwarf_image *image, const char *path, const struct stat *st,
			   int fd)
{
	const char *why = NULL;

	if (file_is_mostly_hole(fd))
		why = "it is mostly a hole";
	else if (!user_is_trusted(st->st_uid) && st->st_size > MOST_CRC_BYTES_OF_OTHERS)
		why = "it is larger than 1 GB, and of another user";
	if (why)
		log_warn(image->log, "%s: not used: %s", path, why);
	return !why;
}

static int try_file(struct dwarf_image *image, const char *path, const struct want *want,
		    char **found)
{
	uint8_t id[20];
	size_t size = 0;
	struct stat own, st;
	int fd = -1;
	_cleanup_error_ struct error *failed = open_regular(path, NULL, &fd);

	strbuf_addf(&image->looked, "%s%s", image->looked.len ? ", " : "", path);
	if (failed)
		return -1;
	bool ok = !fstat(fd, &st);
	/* A link that names the file itself leads nowhere. */
	if (ok && !stat(image->path, &own))
		ok = own.st_dev != st.st_dev || own.st_ino != st.st_ino;
	if (ok && want->id_size) {
		struct error *err = file_build_id(path, id, &size);

		ok = !err && size == min_of(want->id_size, sizeof(id)) &&
		     !memcmp(id, want->id, size);
		error_free(err);
	} else if (ok && want->by_crc) {
		ok = fits_crc_limit(image, path, &st, fd) && file_has_crc(fd, want->crc);
	}
	struct error *large = ok ? debug_sections_fit(fd) : NULL;
	if (ok && !large) {
		image_count_file(image, fd);
		large = debug_sections_unpack(&fd);
	}
	if (large)
		log_warn(image->log, "%s: not used: %s", path, large->msg);
	ok = ok && !large;
	error_free(large);
	char *copy = ok ? strdup(path) : NULL;
	if (!copy) {
		if (!ok)
			strbuf_adds(&image->looked, " (of another build)");
		close(fd);
		return -1;
	}
	image_add_author(image, st.st_uid);
	*found = copy;
	return fd;
}

static int try_filef(struct dwarf_image *image, const struct want *want, char **found,
		     const char *fmt, ...) _printf_(4, 5);
static int try_filef(struct dwarf_image *image, const struct want *want, char **found,
		     const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&path, fmt, ap);
	va_end(ap);
	return strbuf_failed(&path) ? -1 : try_file(image, strbuf_str(&path), want, found);
}

static int by_build_id(struct dwarf_image *image, const struct want *want, char **found)
{
	_cleanup_strbuf_ struct strbuf hex = STRBUF_INIT;
	int fd = -1;

	if (want->id_size < 2)
		return -1;
	strbuf_add_bytes(&hex, want->id + 1, want->id_size - 1);
	for (size_t i = 0; fd < 0 && i < image->debug_dirs.n; i++)
		fd = try_filef(image, want, found, "%s%s/.build-id/%02x/%s.debug", image->symfs,
			       image->debug_dirs.v[i], want->id[0], strbuf_str(&hex));
	return fd;
}

static int by_debuglink(struct dwarf_image *image, const struct want *want, const char *link,
			char **found)
{
	const char *path = image->path + strlen(image->symfs);
	_cleanup_free_ char *real = realpath(image->path, NULL);
	if (real && !*image->symfs)
		path = real;
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash - path) : 0;
	const char *here = slash ? "" : ".";

	if (strchr(link, '/'))
		return -1;
	int fd = try_filef(image, want, found, "%s%s%.*s/%s", image->symfs, here, dir, path, link);
	if (fd < 0)
		fd = try_filef(image, want, found, "%s%s%.*s/.debug/%s", image->symfs, here, dir,
			       path, link);
	for (size_t i = 0; fd < 0 && i < image->debug_dirs.n; i++)
		fd = try_filef(image, want, found, "%s%s%.*s/%s", image->symfs,
			       image->debug_dirs.v[i], dir, path, link);
	return fd;
}

/* debuginfod's client, when the machine has it: it brings a whole HTTP library along. */
static int by_debuginfod(struct dwarf_image *image, const struct want *want, char **found)
{
	const char *urls = secure_getenv("DEBUGINFOD_URLS");

	if (image->no_debuginfod || !urls || !*urls || !want->id_size)
		return -1;
	void *lib = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		log_warn(image->log,
			 "DEBUGINFOD_URLS is set, but libdebuginfod.so.1 is not installed");
		return -1;
	}
	void *(*begin)(void) = (void *(*)(void))dlsym(lib, "debuginfod_begin");
	void (*end)(void *) = (void (*)(void *))dlsym(lib, "debuginfod_end");
	int (*find)(void *, const unsigned char *, int, char **) =
		(int (*)(void *, const unsigned char *, int,
			 char **))dlsym(lib, "debuginfod_find_debuginfo");
	int fd = -1;
	void *client = begin && end && find ? begin() : NULL;

	if (client) {
		strbuf_addf(&image->looked, "%sdebuginfod at %s", image->looked.len ? ", " : "",
			    urls);
		fd = find(client, want->id, (int)want->id_size, found);
		if (fd < 0)
			log_info(image->log, "%s: debuginfod: %s", image->path, strerror(-fd));
		end(client);
	}
	/* Its HTTP library leaves threads' data behind: it stays loaded. */
	return fd < 0 ? -1 : fd;
}

int image_find_alt(struct dwarf_image *image, const char *debug_file, const char *name,
		   const uint8_t *id, size_t id_size, char **found)
{
	const struct want want = {.id = id, .id_size = id_size};
	const char *slash = strrchr(debug_file, '/');
	const char *base = strrchr(name, '/');
	int fd = name[0] == '/'
			 ? try_filef(image, &want, found, "%s%s", image->symfs, name)
			 : try_filef(image, &want, found, "%.*s%s",
				     slash ? (int)(slash - debug_file) + 1 : 0, debug_file, name);
	for (size_t i = 0; fd < 0 && i < image->debug_dirs.n; i++)
		fd = try_filef(image, &want, found, "%s%s/.dwz/%s", image->symfs,
			       image->debug_dirs.v[i], base ? base + 1 : name);
	if (fd < 0)
		fd = by_build_id(image, &want, found);
	if (fd < 0)
		fd = by_debuginfod(image, &want, found);
	if (fd < 0)
		log_warn(image->log,
			 "%s: %s, which has a part of its debug information, does not exist",
			 debug_file, name);
	return fd;
}

int image_find_debuginfo(Dwfl_Module *mod, void **userdata, const char *modname, Dwarf_Addr base,
			 const char *file_name, const char *debuglink_file, GElf_Word crc,
			 char **found)
{
	struct dwarf_image *image = *userdata;
	const unsigned char *id = NULL;
	GElf_Addr addr;

	if (!image)
		return -1;
	/* The second time: for the file that .gnu_debugaltlink names; see alt.c. */
	const char *debug_file = NULL;
	dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, NULL, &debug_file);
	if (debug_file && debuglink_file)
		return -1;
	int n = dwfl_module_build_id(mod, &id, &addr);
	struct want want = {.id = id, .id_size = n > 0 ? (size_t)n : 0, .crc = crc};
	int fd = by_build_id(image, &want, found);

	if (fd < 0 && debuglink_file) {
		want.by_crc = true;
		fd = by_debuglink(image, &want, debuglink_file, found);
	}
	if (fd < 0)
		fd = by_debuginfod(image, &want, found);
	if (fd >= 0)
		image_keep_file(image, fd);
	return fd;
}
