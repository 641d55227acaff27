// SPDX-License-Identifier: BSD-2-Clause
/*
 * An ELF image and its debug information, opened by libdwfl, which also
 * applies the relocations of a .ko's debug sections, inflates compressed ones
 * (those of zstd unpack_sections.c) and finds shared ones (.gnu_debugaltlink).
 *
 * The files are mapped, not read: a vmlinux has hundreds of megabytes of
 * which a probe needs a few pages. Whoever shortens such a file meanwhile kills
 * the reader; that is the price.
 */
#include "probe/dwarf/internal.h"

#include <fcntl.h>
#include <dirent.h>
#include <gelf.h>
#include <sys/stat.h>

#include "lib/sys/copied_file.h"
#include "lib/sys/open_file.h"
#include "lib/sys/open_in_root.h"
#include "sym/sym.h"

struct error *dw_error(const struct dwarf_image *image, const char *fmt, ...)
{
	const char *why = dwarf_errmsg(-1);
	va_list ap;

	if (why && !strcmp(why, "out of memory")) /* the message of DWARF_E_NOMEM */
		return error_nomem();
	va_start(ap, fmt);
	struct error *err = error_vnew(EBADMSG, fmt, ap);
	va_end(ap);
	if (why)
		err = error_prefix(err, "damaged debug information (%s)", why);
	else
		err = error_prefix(err, "damaged debug information");
	return error_at(err, "%s", image->debug_path ? image->debug_path : image->path);
}

void pb_dwarf_image_free(struct dwarf_image *image)
{
	if (!image)
		return;
	if (image->dwfl)
		dwfl_end(image->dwfl);
	alt_free(image);
	free(image->path);
	free(image->symfs);
	free(image->debug_path);
	closep(&image->debug_fd);
	names_deinit(&image->debug_dirs);
	strbuf_deinit(&image->looked);
	for (size_t i = 0; i < image->units.n; i++)
		unit_code_free(image->units.v[i].code);
	vec_deinit(&image->units);
	vec_deinit(&image->ranges);
	vec_deinit(&image->symbols);
	vec_deinit(&image->dies);
	u64map_deinit(&image->counted_lines);
	free(image->global.name);
	flow_deinit(&image->flow);
	split_free(image);
	free(image->split_missing);
	free(image);
}

uint16_t pb_dwarf_image_machine(const struct dwarf_image *image)
{
	return image->machine;
}

uid_t pb_dwarf_image_author(const struct dwarf_image *image)
{
	return image->author;
}

void image_add_author(struct dwarf_image *image, uid_t owner)
{
	if (user_is_trusted(owner) || owner == image->author)
		return;
	image->author = image->author ? DWARF_AUTHORS : owner;
}

const char *pb_dwarf_image_path(const struct dwarf_image *image)
{
	return image->debug_path;
}

static struct error *check_build_id(const char *path, const struct dwarf_opts *opts)
{
	uint8_t id[20];
	size_t size = 0;

	if (!opts->build_id)
		return NULL;
	TRY(file_build_id(path, id, &size));
	if (!size || size > opts->build_id_size || memcmp(id, opts->build_id, size))
		return error_at(error_new(ESTALE, "has a different build-id than the probed file"),
				"%s", path);
	return NULL;
}

static struct error *image_prepare(const char *path, const struct dwarf_opts *opts,
				   struct dwarf_image **out)
{
	static const char *const usual[] = {"/usr/lib/debug", NULL};
	_cleanup_(pb_dwarf_image_freep) struct dwarf_image *image = calloc(1, sizeof(*image));

	if (!image)
		return error_nomem();
	image->debug_fd = -1;
	image->symfs = strdup(opts->symfs ? opts->symfs : "");
	image->path = image->symfs ? text_format("%s%s", image->symfs, path) : NULL;
	if (!image->path)
		return error_nomem();
	image->no_debuginfod = opts->no_debuginfod;
	image->entry_values = opts->entry_values;
	image->log = opts->log;
	for (const char *const *dir = opts->debug_dirs ? opts->debug_dirs : usual; *dir; dir++) {
		if (!names_add(&image->debug_dirs, *dir))
			return error_nomem();
	}
	*out = steal_ptr(image);
	return NULL;
}

void image_keep_file(struct dwarf_image *image, int fd)
{
	closep(&image->debug_fd);
	image->debug_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* What gives debug information, by what the file is. */
static struct error *no_debug_info(struct dwarf_image *image)
{
	struct error *err = error_new(ENODATA, "has no debug information%s%s",
				      image->looked.len ? "; also not found in " : "",
				      strbuf_str(&image->looked));

	err = error_at(err, "%s", image->path);
	if (image->is_rel || strstr(image->path, "vmlinux"))
		return error_hint(err, "install the kernel's debug package "
				       "(linux-image-$(uname -r)-dbg)");
	return error_hint(err, "compile with -g, install the package's debug symbols (-dbgsym, "
			       "-debuginfo), or set DEBUGINFOD_URLS");
}

/*
 * libdw trusts section headers in a few places; what does not lie within the
 * file is refused before.
 */
static struct error *check_sections(const char *path, int fd, bool is_copy,
				    struct dwarf_image *image)
{
	struct error *err = NULL;
	struct stat st;
	size_t shstrndx;
	GElf_Ehdr ehdr;
	GElf_Shdr shdr;
	Elf_Scn *scn = NULL;

	elf_version(EV_CURRENT);
	if (fstat(fd, &st))
		return error_at(error_errno(errno, "cannot be read"), "%s", path);
	if (!S_ISREG(st.st_mode))
		return error_at(error_new(EINVAL, "not a regular file"), "%s", path);
	image_add_author(image,
			 path_is_in_other_root(path) ? AUTHOR_UNKNOWN : file_author(fd, is_copy));
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr) ||
	    elf_getshdrstrndx(elf, &shstrndx)) {
		elf_end(elf);
		return error_at(error_new(EBADMSG, "not a valid ELF file"), "%s", path);
	}
	image->machine = ehdr.e_machine;
	image->is_rel = ehdr.e_type == ET_REL;
	image->is_big = ehdr.e_ident[EI_DATA] == ELFDATA2MSB;
	if (ehdr.e_ident[EI_CLASS] != ELFCLASS64 || image->is_big)
		err = error_new(EOPNOTSUPP, "not a file for a 64-bit little-endian machine");
	while (!err && (scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr))
			err = error_new(EBADMSG, "section %zu has an invalid header",
					elf_ndxscn(scn));
		else if (shdr.sh_type != SHT_NOBITS && shdr.sh_type != SHT_NULL &&
			 (shdr.sh_offset > (uint64_t)st.st_size ||
			  shdr.sh_size > (uint64_t)st.st_size - shdr.sh_offset))
			err = error_new(EBADMSG, "section %zu ends past the end of the file",
					elf_ndxscn(scn));
	}
	elf_end(elf);
	return error_at(err, "%s", path);
}

/* libdw goes on without a section of debug information that it cannot decompress. */
static struct error *sections_error(void)
{
	const int code = elf_errno();
	const char *why = code ? elf_errmsg(code) : NULL;

	if (why && !strcmp(why, "out of memory"))
		return error_nomem();
	if (why && !strcmp(why, "cannot decompress data"))
		return error_new(EBADMSG, "cannot decompress its debug information");
	return NULL;
}

struct error *pb_dwarf_image_open(const char *path, const struct dwarf_opts *given,
				  struct dwarf_image **out)
{
	static const struct dwarf_opts none;
	const struct dwarf_opts *opts = given ? given : &none;
	_cleanup_(pb_dwarf_image_freep) struct dwarf_image *image = NULL;
	_cleanup_close_ int fd = -1;
	const char *main_file = NULL, *debug_file = NULL;
	void **userdata;

	TRY(image_prepare(path, opts, &image));
	TRY(open_regular(image->path, NULL, &fd));
	TRY(check_sections(image->path, fd, opts->is_copy, image));
	TRY(check_build_id(image->path, opts));
	TRY(error_at(debug_sections_fit(fd), "%s", image->path));
	image_count_file(image, fd);
	TRY(error_at(debug_sections_unpack(&fd), "%s", image->path));
	image_keep_file(image, fd);
	image->regs = regs_of(image->machine);
	if (!image->regs)
		return error_at(error_new(EOPNOTSUPP,
					  "is for an unsupported architecture (ELF machine %u)",
					  image->machine),
				"%s", image->path);
	image->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = image_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	image->dwfl = dwfl_begin(&image->callbacks);
	if (!image->dwfl)
		return error_nomem();
	/* libdw and libelf go on without what they have no memory for: a section, a table */
	errno = 0;
	dwfl_report_begin(image->dwfl);
	/* It takes the descriptor when it went well. */
	image->module = image->is_rel
				? dwfl_report_offline(image->dwfl, "image", image->path, fd)
				: dwfl_report_elf(image->dwfl, "image", image->path, fd, 0, false);
	if (!image->module)
		return errno == ENOMEM ? error_nomem()
				       : error_at(error_new(EBADMSG, "not a valid ELF file: %s",
							    dwfl_errmsg(-1)),
						  "%s", image->path);
	const int own = steal_fd(&fd);
	dwfl_report_end(image->dwfl, NULL, NULL);
	dwfl_module_info(image->module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = image;

	GElf_Addr main_bias = 0;
	const bool is_elf = dwfl_module_getelf(image->module, &main_bias);
	if (errno == ENOMEM)
		return error_nomem();
	if (!is_elf)
		return error_at(error_new(EBADMSG, "not a valid ELF file: %s", dwfl_errmsg(-1)),
				"%s", image->path);
	TRY(split_prepare(image));
	errno = 0;
	elf_errno(); /* of before */
	image->dw = split_getdwarf(image, own);
	if (errno == ENOMEM)
		return error_nomem();
	TRY(error_at(sections_error(), "%s", image->path));
	if (!image->dw) {
		const char *why = dwfl_errmsg(-1);

		if (why && !strstr(why, "No DWARF") && !strstr(why, "no DWARF"))
			return error_at(error_new(EBADMSG, "cannot read its debug information: %s",
						  why),
					"%s", image->path);
		return no_debug_info(image);
	}
	image->bias -= main_bias;
	image->symbol_bias = main_bias;
	dwfl_module_info(image->module, NULL, NULL, NULL, NULL, NULL, &main_file, &debug_file);
	image->debug_path = strdup(debug_file ? debug_file : image->path);
	if (!image->debug_path)
		return error_nomem();
	TRY(alt_set(image, image->dw, image->debug_path));
	log_debug(image->log, "%s: using debug information from %s", image->path,
		  image->debug_path);
	*out = steal_ptr(image);
	return NULL;
}

/* ---- The kernel's image ---- */

/* "snd_hda" is snd-hda.ko as well as snd_hda.ko.debug. */
static bool is_module_file(const char *base, const char *module)
{
	for (; *module; base++, module++) {
		if (*base != *module && !(*base == '-' && *module == '_') &&
		    !(*base == '_' && *module == '-'))
			return false;
	}
	return !strcmp(base, ".ko") || !strcmp(base, ".ko.debug");
}

static bool module_walk(const char *dir, const char *module, struct names *found, int depth)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	struct stat st;
	DIR *d = depth < 12 ? opendir(dir) : NULL;
	struct dirent *e;
	bool ok = true;

	while (d && ok && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		strbuf_reset(&path);
		strbuf_addf(&path, "%s/%s", dir, e->d_name);
		if (is_module_file(e->d_name, module))
			ok = names_add(found, strbuf_str(&path));
		else if (e->d_type == DT_DIR ||
			 (e->d_type == DT_UNKNOWN && !lstat(strbuf_str(&path), &st) &&
			  S_ISDIR(st.st_mode)))
			ok = module_walk(strbuf_str(&path), module, found, depth + 1);
	}
	if (d)
		closedir(d);
	return ok;
}

static bool kernel_candidates(const char *release, const char *module, const char *symfs,
			      const char *const *dirs, const struct dwarf_opts *opts,
			      struct names *out)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	bool ok = true;

#define CANDIDATE(...)                                                                             \
	do {                                                                                       \
		strbuf_reset(&sb);                                                                 \
		strbuf_addf(&sb, __VA_ARGS__);                                                     \
		ok = ok && names_add(out, strbuf_str(&sb));                                        \
	} while (0)
	if (module) {
		_cleanup_strbuf_ struct strbuf dir = STRBUF_INIT;

		for (const char *const *d = dirs; *d; d++) {
			strbuf_reset(&dir);
			strbuf_addf(&dir, "%s%s/lib/modules/%s", symfs, *d, release);
			ok = ok && module_walk(strbuf_str(&dir), module, out, 0);
		}
		strbuf_reset(&dir);
		strbuf_addf(&dir, "%s/lib/modules/%s", symfs, release);
		return ok && module_walk(strbuf_str(&dir), module, out, 0);
	}
	for (const char *const *d = dirs; *d; d++) {
		if (opts->build_id && opts->build_id_size > 1) {
			strbuf_reset(&sb);
			strbuf_addf(&sb, "%s%s/.build-id/%02x/", symfs, *d, opts->build_id[0]);
			strbuf_add_bytes(&sb, opts->build_id + 1, opts->build_id_size - 1);
			strbuf_adds(&sb, ".debug");
			ok = ok && names_add(out, strbuf_str(&sb));
		}
		CANDIDATE("%s%s/boot/vmlinux-%s", symfs, *d, release);
		CANDIDATE("%s%s/boot/vmlinux-%s.debug", symfs, *d, release);
		CANDIDATE("%s%s/lib/modules/%s/vmlinux", symfs, *d, release);
		CANDIDATE("%s%s/lib/modules/%s/vmlinux.debug", symfs, *d, release);
	}
	CANDIDATE("%s/boot/vmlinux-%s", symfs, release);
	CANDIDATE("%s/lib/modules/%s/vmlinux", symfs, release);
	CANDIDATE("%s/lib/modules/%s/build/vmlinux", symfs, release);
#undef CANDIDATE
	return ok;
}

struct error *pb_dwarf_image_open_kernel(const char *release, const char *module,
					 const struct dwarf_opts *given, struct dwarf_image **out)
{
	static const char *const usual[] = {"/usr/lib/debug", NULL};
	static const struct dwarf_opts none;
	const struct dwarf_opts *opts = given ? given : &none;
	struct dwarf_opts inner = *opts;
	_cleanup_names_ struct names paths = {0};
	_cleanup_strbuf_ struct strbuf looked = STRBUF_INIT;
	_cleanup_error_ struct error *first = NULL;

	inner.symfs = NULL; /* the paths have it already */
	if (!kernel_candidates(release, module, opts->symfs ? opts->symfs : "",
			       opts->debug_dirs ? opts->debug_dirs : usual, opts, &paths))
		return error_nomem();
	for (size_t i = 0; i < paths.n; i++) {
		struct error *err = pb_dwarf_image_open(paths.v[i], &inner, out);

		if (!err)
			return NULL;
		strbuf_addf(&looked, "%s%s", looked.len ? ", " : "", paths.v[i]);
		if (err->code == ENOENT || first)
			error_free(err);
		else
			first = err;
	}
	if (first && first->code != ENODATA)
		return steal_ptr(first);
	struct error *err =
		looked.len ? error_new(ENODATA,
				       "no kernel image with debug information found; tried %s",
				       strbuf_str(&looked))
			   : error_new(ENODATA, "not found below /lib/modules/%s", release);
	return error_hint(error_at(err, "%s", module ? module : "vmlinux"),
			  "install the kernel's debug package (linux-image-%s-dbg)", release);
}

/* ---- Symbols ---- */

static int symbol_cmp(const void *a, const void *b)
{
	const struct dwarf_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* Of several at one address a global one with a size comes first. */
	if (!x->size != !y->size)
		return x->size ? -1 : 1;
	int bind_x = x->bind == STB_GLOBAL ? 0 : x->bind == STB_WEAK ? 1 : 2;
	int bind_y = y->bind == STB_GLOBAL ? 0 : y->bind == STB_WEAK ? 1 : 2;
	return bind_x != bind_y ? bind_x - bind_y : strcmp(x->name, y->name);
}

struct error *image_need_symbols(struct dwarf_image *image)
{
	if (image->have_symbols)
		return NULL;
	int n = dwfl_module_getsymtab(image->module);

	for (int i = 0; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr addr = 0;
		GElf_Word shndx = 0;
		const char *name =
			dwfl_module_getsym_info(image->module, i, &sym, &addr, &shndx, NULL, NULL);
		uint8_t type = name ? GELF_ST_TYPE(sym.st_info) : STT_FILE;

		if (!name || !*name || sym.st_shndx == SHN_UNDEF ||
		    (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_OBJECT &&
		     type != STT_NOTYPE))
			continue;
		if (sym.st_shndx == SHN_ABS)
			continue;
		struct dwarf_symbol *s = vec_push(&image->symbols);
		if (!s)
			return error_nomem();
		/* Of a relocatable file the sum with its section, as the DWARF has it. */
		s->start = image->is_rel ? addr : sym.st_value;
		s->size = sym.st_size;
		s->name = name;
		s->bind = GELF_ST_BIND(sym.st_info);
		s->type = type;
		s->data = type == STT_OBJECT;
	}
	if (image->symbols.n)
		qsort(image->symbols.v, image->symbols.n, sizeof(*image->symbols.v), symbol_cmp);
	image->have_symbols = true;
	return NULL;
}

const struct dwarf_symbol *image_symbol_at(struct dwarf_image *image, uint64_t address)
{
	const struct dwarf_symbol *best = NULL;

	const size_t low = count_before(image->symbols.n, i, image->symbols.v[i].start <= address);
	/* Back over data and labels within a function, but not for ever. */
	for (size_t i = low, tries = 0; i-- && tries < 64; tries++) {
		const struct dwarf_symbol *s = &image->symbols.v[i];

		if (s->data || s->type == STT_NOTYPE)
			continue;
		if (best && s->start != best->start)
			break;
		if (address - s->start < s->size || (s->start == address && !s->size))
			best = s; /* the first of those at this address, by the order above */
	}
	return best;
}
