// SPDX-License-Identifier: BSD-2-Clause
/*
 * Split units: .dwo files, which libdw finds by itself, and packages of them.
 *
 * libdw looks for NAME.dwo in the folder of the file that its descriptor is of,
 * then where it was compiled. For a program with a package (PROGRAM.dwp) the
 * descriptor is another file's while libdw asks: one in an empty folder of
 * ours, in which a unit that is wanted is written as NAME.dwo just before libdw
 * looks there, and removed when it has it open. Only the units that are looked
 * into are unpacked.
 */
#include "probe/dwarf/internal.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "lib/sys/open_file.h"
#include "probe/dwarf/dwp.h"

static struct error *try_package(struct dwarf_image *image, const char *of)
{
	_cleanup_free_ char *path = text_format("%s.dwp", of);

	if (!path)
		return error_nomem();
	struct error *err = image->dwp ? NULL : dwp_open(path, &image->dwp);
	if (err && err->code != ENOMEM) {
		if (err->code != ENOENT)
			log_warn(image->log, "%s: %s", err->where, err->msg);
		error_free(err);
		err = NULL;
	}
	return err;
}

struct error *split_prepare(struct dwarf_image *image)
{
	_cleanup_free_ char *real = realpath(image->path, NULL);
	const char *temp = secure_getenv("TMPDIR");

	TRY(try_package(image, image->path));
	if (real && strcmp(real, image->path))
		TRY(try_package(image, real));
	for (size_t i = 0; real && i < image->debug_dirs.n; i++) {
		_cleanup_free_ char *path =
			text_format("%s%s%s", image->symfs, image->debug_dirs.v[i], real);

		TRY(path ? try_package(image, path) : error_nomem());
	}
	if (!image->dwp)
		return NULL;
	image_add_author(image, dwp_owner(image->dwp));
	image->dwp_dir = text_format("%s/perf-bpf-dwp-XXXXXX", temp && *temp ? temp : "/tmp");
	if (!image->dwp_dir)
		return error_nomem();
	if (!mkdtemp(image->dwp_dir)) {
		struct error *err =
			error_at(error_errno(errno, "cannot be made"), "%s", image->dwp_dir);

		free(image->dwp_dir);
		image->dwp_dir = NULL;
		return error_hint(err, "%s is unpacked there; set TMPDIR to use another directory",
				  dwp_path(image->dwp));
	}
	log_debug(image->log, "%s: split units in %s", image->path, dwp_path(image->dwp));
	return NULL;
}

void split_free(struct dwarf_image *image)
{
	dwp_free(image->dwp);
	if (image->dwp_dir)
		rmdir(image->dwp_dir);
	free(image->dwp_dir);
}

Dwarf *split_getdwarf(struct dwarf_image *image, int fd)
{
	if (!image->dwp_dir)
		return dwfl_module_getdwarf(image->module, &image->bias);

	_cleanup_free_ char *path = text_format("%s/image", image->dwp_dir);
	_cleanup_close_ int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	_cleanup_close_ int other =
		path ? open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	struct stat now, was;
	/* Of a file that libdw inflated as a whole the descriptor is gone already. */
	bool moved = own >= 0 && other >= 0 && !fstat(fd, &now) && !stat(image->path, &was) &&
		     now.st_ino == was.st_ino && now.st_dev == was.st_dev &&
		     dup3(other, fd, O_CLOEXEC) == fd;
	Dwarf *dw = dwfl_module_getdwarf(image->module, &image->bias);

	if (moved)
		dup3(own, fd, O_CLOEXEC);
	if (other >= 0)
		unlink(path);
	return dw;
}

/* Makes the folders of a relative name; or removes those that are empty. */
static void folders(const char *dir, const char *name, bool make)
{
	_cleanup_free_ char *path = text_format("%s/%s", dir, name);
	const size_t first = strlen(dir) + 1;

	if (!path)
		return;
	if (make) {
		for (char *slash = strchr(path + first, '/'); slash;
		     slash = strchr(slash + 1, '/')) {
			*slash = 0;
			mkdir(path, 0700);
			*slash = '/';
		}
		return;
	}
	for (char *slash; (slash = strrchr(path + first, '/'));) {
		*slash = 0;
		rmdir(path);
	}
}

static const char *split_name(Dwarf_Die *skeleton)
{
	Dwarf_Attribute attr;

	return dwarf_attr(skeleton, DW_AT_dwo_name, &attr) ||
			       dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &attr)
		       ? dwarf_formstring(&attr)
		       : NULL;
}

/* The unit's file, there for libdw; NULL: it has none in a package. */
static char *unpack(struct dwarf_image *image, Dwarf_Die *skeleton, const char *name, bool *found)
{
	Dwarf_Half version = 4;
	uint64_t id = 0;

	if (!image->dwp_dir || !name || name[0] == '/' || strstr(name, "..") ||
	    dwarf_cu_info(skeleton->cu, &version, NULL, NULL, NULL, &id, NULL, NULL))
		return NULL;
	char *path = text_format("%s/%s", image->dwp_dir, name);
	if (!path)
		return NULL;
	folders(image->dwp_dir, name, true);
	struct error *err = dwp_write_unit(image->dwp, id, version, path, found);
	if (err) {
		log_warn(image->log, "%s: %s", err->where, err->msg);
		error_free(err);
	}
	return path;
}

static void note_missing(struct dwarf_image *image, const char *name, bool found)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "%s, which has a part of its debug information, does not exist",
		    name ? name : "a split unit");
	if (image->dwp && name && (name[0] == '/' || strstr(name, "..")))
		strbuf_addf(&text, ", and a unit with this name cannot be unpacked from %s",
			    dwp_path(image->dwp));
	else if (found)
		strbuf_addf(&text,
			    "; %s has it, but it is not used for debug information in a separate "
			    "file: unpack it next to %s",
			    dwp_path(image->dwp), image->debug_path);
	else if (image->dwp)
		strbuf_addf(&text, ", nor in %s", dwp_path(image->dwp));
	else
		strbuf_addf(&text, ", or in a package %s.dwp", image->path);
	log_warn(image->log, "%s: %s", image->debug_path, strbuf_str(&text));
	if (!image->split_missing)
		image->split_missing = strbuf_steal(&text);
}

/* Not a regular file, or one that would take too much memory. */
static bool is_refused(struct dwarf_image *image, const char *dir, const char *name)
{
	_cleanup_free_ char *path = dir ? text_format("%s/%s", dir, name) : strdup(name);
	struct stat st;

	if (!path || stat(path, &st))
		return false;
	image_add_author(image, st.st_uid);
	if (!S_ISREG(st.st_mode))
		return true;
	_cleanup_close_ int fd = -1;
	error_free(open_regular(path, NULL, &fd));
	if (fd < 0)
		return false;
	struct error *large = debug_sections_fit(fd);
	const bool fits = !large;
	if (large)
		log_warn(image->log, "%s: not used: %s", path, large->msg);
	else
		image_count_file(image, fd);
	error_free(large);
	return !fits;
}

/*
 * Where libdw will look for the file, which it opens, whatever it is: next to the skeleton's
 * file, and in the compilation directory. A FIFO would make it wait.
 */
static bool is_trap(struct dwarf_image *image, Dwarf_Die *skeleton, const char *name)
{
	_cleanup_free_ char *real = realpath(image->debug_path, NULL);
	const char *comp_dir = NULL;
	Dwarf_Attribute attr;

	if (!name)
		return false;
	if (name[0] == '/')
		return is_refused(image, NULL, name);
	if (dwarf_attr(skeleton, DW_AT_comp_dir, &attr))
		comp_dir = dwarf_formstring(&attr);
	if (real)
		*strrchr(real, '/') = 0;
	return (real && is_refused(image, real, name)) ||
	       (comp_dir && is_refused(image, comp_dir, name));
}

/* A .dwo has no part of its debug information elsewhere; libdw would open what it names. */
static bool block_alt(struct dwarf_image *image, Dwarf_Die *unit)
{
	struct error *err = alt_set(image, dwarf_cu_getdwarf(unit->cu), NULL);
	const bool is_blocked = !err;

	error_free(err);
	return is_blocked;
}

void split_root(struct dwarf_image *image, struct dwarf_unit *unit)
{
	const char *name = split_name(&unit->die);
	bool found = false;
	char *path = unpack(image, &unit->die, name, &found);
	Dwarf_Die sub;

	memset(&sub, 0, sizeof(sub));
	if (is_trap(image, &unit->die, name)) {
		unit->split_missing = true;
		log_warn(image->log,
			 "%s: %s, which has a part of its debug information, is not a "
			 "regular file",
			 image->debug_path, name);
	} else if (!dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, &sub, NULL, NULL, NULL) &&
		   sub.cu && block_alt(image, &sub) && dwarf_tag(&sub) != DW_TAG_invalid) {
		unit->split = sub;
	} else {
		unit->split_missing = true;
		note_missing(image, name, found);
	}
	if (path) {
		unlink(path);
		folders(image->dwp_dir, name, false);
	}
	free(path);
}
