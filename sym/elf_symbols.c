// SPDX-License-Identifier: BSD-2-Clause
/*
 * Symbols of an ELF image: .symtab, then .dynsym, then the names of the PLT's
 * entries, which no table has: the n-th entry belongs to the n-th relocation
 * of .rela.plt. A stripped binary may carry the names of its local functions
 * in .gnu_debugdata, an ELF image within it that xz has packed (Fedora's
 * MiniDebugInfo; gdb manual, 18.4).
 *
 * What counts as a symbol and what its address becomes follow perf
 * (tools/perf/util/symbol-elf.c of Linux 6.1, dso__load_sym): functions and
 * objects, and labels in sections that are called text or data; an address
 * becomes the file offset by the segment it lies in, since a map's record
 * tells offsets. A separate debug file has the symbols but no contents
 * (SHT_NOBITS), so segments, section offsets and the PLT always come from the
 * file that ran.
 *
 * The image is anybody's. libelf reads the sections (and not by mmap: a file
 * that shrinks meanwhile must not kill us), their contents are used by their
 * d_size alone, and names only when they end within their string table.
 */
#include "sym/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "lib/base/cursor.h"
#include "lib/sys/open_file.h"

struct elf_source {
	Elf *elf;
	int fd;
	GElf_Ehdr ehdr;
	size_t shstrndx;
	Elf_Scn *symtab, *dynsym;
	char *path;
	void *image;	 /* what was unpacked, and elf is made of; NULL: nothing */
	bool is_excerpt; /* of .gnu_debugdata: it lacks what .dynsym has */
};

void pb_elf_source_free(struct elf_source *es)
{
	if (!es)
		return;
	if (es->elf)
		elf_end(es->elf);
	if (es->fd >= 0)
		close(es->fd);
	free(es->image);
	free(es->path);
	free(es);
}

static Elf_Scn *section_by_name(const struct elf_source *es, const char *name)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(es->elf, scn))) {
		const char *s = gelf_getshdr(scn, &shdr)
					? elf_strptr(es->elf, es->shstrndx, shdr.sh_name)
					: NULL;
		if (s && !strcmp(s, name))
			return scn;
	}
	return NULL;
}

static Elf_Scn *section_by_type(const struct elf_source *es, const char *name, uint32_t type)
{
	Elf_Scn *scn = section_by_name(es, name);
	GElf_Shdr shdr;

	return scn && gelf_getshdr(scn, &shdr) && shdr.sh_type == type ? scn : NULL;
}

static bool is_table(const GElf_Shdr *shdr)
{
	switch (shdr->sh_type) {
	case SHT_SYMTAB:
	case SHT_DYNSYM:
	case SHT_STRTAB:
	case SHT_SYMTAB_SHNDX:
	case SHT_REL:
	case SHT_RELA:
	case SHT_NOTE:
		return true;
	default:
		return false;
	}
}

/*
 * What libelf reads of a file of another user: symbols, their strings and the copies of these need
 * at most three times as much.
 */
static struct error *check_tables(const struct elf_source *es)
{
	const uint64_t max = es->fd < 0 ? UINT64_MAX : file_max_bytes(es->fd);
	uint64_t left = max;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(es->elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || !is_table(&shdr))
			continue;
		if (shdr.sh_size > left)
			return error_at(error_new(EFBIG,
						  "it belongs to another user, and its symbols are "
						  "larger than %llu MB",
						  (unsigned long long)max >> 20),
					"%s", es->path);
		left -= shdr.sh_size;
	}
	return NULL;
}

/* errno was 0 before es->elf was made. libelf does not say that it had no memory; malloc() does. */
static struct error *pb_elf_source_init(struct elf_source *es)
{
	if (!es->elf || elf_kind(es->elf) != ELF_K_ELF || !gelf_getehdr(es->elf, &es->ehdr) ||
	    elf_getshdrstrndx(es->elf, &es->shstrndx))
		return errno == ENOMEM ? error_nomem()
				       : error_at(error_new(EBADMSG, "not a valid ELF file"), "%s",
						  es->path);
	TRY(check_tables(es));
	es->symtab = section_by_type(es, ".symtab", SHT_SYMTAB);
	es->dynsym = section_by_type(es, ".dynsym", SHT_DYNSYM);
	return errno == ENOMEM ? error_nomem() : NULL;
}

static struct elf_source *pb_elf_source_new(const char *path)
{
	struct elf_source *es = calloc(1, sizeof(*es));

	if (!es)
		return NULL;
	es->fd = -1;
	es->path = strdup(path);
	if (!es->path) {
		pb_elf_source_free(es);
		return NULL;
	}
	elf_version(EV_CURRENT);
	return es;
}

struct error *pb_elf_source_open(const char *path, struct elf_source **out)
{
	_cleanup_(pb_elf_source_freep) struct elf_source *es = pb_elf_source_new(path);
	size_t size;

	if (!es)
		return error_nomem();
	TRY(open_regular(path, NULL, &es->fd));
	TRY(error_at(packed_file_read(es->fd, &es->image, &size), "%s", path));
	errno = 0;
	es->elf = es->image ? elf_memory(es->image, size) : elf_begin(es->fd, ELF_C_READ, NULL);
	TRY(pb_elf_source_init(es));
	*out = steal_ptr(es);
	return NULL;
}

const char *pb_elf_source_path(const struct elf_source *es)
{
	return es->path;
}

struct error *pb_elf_source_open_mem(const void *image, size_t size, struct elf_source **out)
{
	_cleanup_(pb_elf_source_freep) struct elf_source *es = pb_elf_source_new("image");

	if (!es)
		return error_nomem();
	errno = 0;
	es->elf = elf_memory((char *)image, size); /* opened for reading: not written to */
	TRY(pb_elf_source_init(es));
	*out = steal_ptr(es);
	return NULL;
}

#define NOTES_MAX (1u << 20)
/* It is packed, and no binary's names are larger. */
#define DEBUGDATA_MAX (64u << 20)

/* What is larger than anything that makes sense is not read. */
static Elf_Data *raw_data(Elf_Scn *scn, uint64_t max)
{
	GElf_Shdr shdr;

	return scn && gelf_getshdr(scn, &shdr) && shdr.sh_size <= max ? elf_rawdata(scn, NULL)
								      : NULL;
}

struct error *pb_elf_source_open_debugdata(const struct elf_source *of, struct elf_source **out)
{
	_cleanup_(pb_elf_source_freep) struct elf_source *es = NULL;
	Elf_Scn *scn = section_by_type(of, ".gnu_debugdata", SHT_PROGBITS);
	Elf_Data *data = raw_data(scn, DEBUGDATA_MAX);
	size_t size;

	if (!data || !data->d_buf)
		return error_at(error_new(ENOENT, "it has no section .gnu_debugdata"), "%s",
				of->path);
	es = pb_elf_source_new(of->path);
	if (!es)
		return error_nomem();
	es->image = unpack_xz(data->d_buf, data->d_size, &size);
	if (!es->image && errno == ENOMEM)
		return error_nomem();
	if (!es->image)
		return error_at(error_new(EBADMSG, "section .gnu_debugdata is not valid xz data"),
				"%s", of->path);
	es->is_excerpt = true;
	errno = 0;
	es->elf = elf_memory(es->image, size);
	TRY(pb_elf_source_init(es));
	*out = steal_ptr(es);
	return NULL;
}

bool pb_elf_source_has_symtab(const struct elf_source *es)
{
	return es->symtab;
}

bool pb_elf_source_has_dynsym(const struct elf_source *es)
{
	return es->dynsym;
}

size_t notes_find_build_id(const void *notes, size_t size, bool swap, uint8_t id[20])
{
	struct cursor c = cursor_make(notes, size, "notes");
	uint32_t namesz, descsz, type;

	c.swap = swap;
	while (cursor_u32(&c, &namesz) && cursor_u32(&c, &descsz) && cursor_u32(&c, &type)) {
		const char *name = cursor_bytes(&c, round_up(namesz, 4));
		const void *desc = name ? cursor_bytes(&c, descsz) : NULL;

		if (!desc)
			return 0;
		if (type == NT_GNU_BUILD_ID && namesz == 4 && !memcmp(name, "GNU", 4)) {
			size_t n = min_of((size_t)descsz, (size_t)20);

			memset(id, 0, 20);
			memcpy(id, desc, n);
			return n;
		}
		cursor_skip(&c, min_of(round_up(descsz, 4) - descsz, cursor_left(&c)));
	}
	return 0;
}

size_t pb_elf_source_build_id(const struct elf_source *es, uint8_t id[20])
{
	static const char *const names[] = {".note.gnu.build-id", ".notes", ".note"};
	bool swap = es->ehdr.e_ident[EI_DATA] !=
		    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		Elf_Scn *scn = section_by_name(es, names[i]);
		Elf_Data *data = raw_data(scn, NOTES_MAX);

		if (data && data->d_buf)
			return notes_find_build_id(data->d_buf, data->d_size, swap, id);
	}
	return 0;
}

const char *pb_elf_source_debuglink(const struct elf_source *es)
{
	Elf_Scn *scn = section_by_name(es, ".gnu_debuglink");
	Elf_Data *data = raw_data(scn, NOTES_MAX);

	if (!data || !data->d_buf)
		return NULL;
	struct cursor c = cursor_make(data->d_buf, data->d_size, ".gnu_debuglink");
	const char *name = cursor_cstr(&c);
	return name && *name && !strchr(name, '/') ? name : NULL;
}

static const struct segment *segment_of(const struct symtab *st, uint64_t vaddr)
{
	const struct segment *seg;

	vec_for_each (seg, &st->segments) {
		uint64_t size = max_of(seg->memsz, seg->filesz);

		if (vaddr >= seg->vaddr && vaddr - seg->vaddr < size)
			return seg;
	}
	return NULL;
}

/*
 * A mapping of the file ends with a whole page, of 64 KiB at most. What comes after it in the
 * segment
 * (.bss) is anonymous memory. Its addresses minus the segment's are the offsets of other bytes in
 * the file, which must not get its names.
 */
static void leave_out_anonymous_memory(struct symtab *st)
{
	enum { LARGEST_PAGE = 1 << 16 };
	struct segment *seg;

	vec_for_each (seg, &st->segments) {
		uint64_t mapped = seg->filesz ? (seg->filesz | (LARGEST_PAGE - 1)) + 1 : 0;

		seg->memsz = min_of(seg->memsz, mapped);
	}
}

static struct error *read_segments(struct elf_source *es, struct symtab *st)
{
	/* The segments of a file of debug information have no bytes of the program's. */
	bool has_code = false;
	size_t n;
	GElf_Phdr phdr;

	if (elf_getphdrnum(es->elf, &n))
		return NULL;
	for (size_t i = 0; i < n && gelf_getphdr(es->elf, (int)i, &phdr); i++) {
		if (phdr.p_type != PT_LOAD)
			continue;
		struct segment *seg = vec_push(&st->segments);
		if (!seg)
			return error_nomem();
		*seg = (struct segment){phdr.p_vaddr, phdr.p_offset, phdr.p_filesz, phdr.p_memsz};
		has_code |= phdr.p_flags & PF_X && phdr.p_filesz;
	}
	if (has_code)
		leave_out_anonymous_memory(st);
	return NULL;
}

/* size bytes of the file, with room for one more; NULL: it has less, or there is no memory. */
static char *read_file_part(int fd, uint64_t offset, uint64_t size)
{
	struct stat file;
	size_t n = 0;

	if (fstat(fd, &file) || offset > (uint64_t)file.st_size ||
	    size > (uint64_t)file.st_size - offset)
		return NULL;
	_cleanup_free_ char *bytes = malloc(size + 1);
	for (ssize_t got = 1; bytes && got > 0 && n < size; n += (size_t)max_of(got, (ssize_t)0))
		got = pread(fd, bytes + n, size - n, (off_t)(offset + n));
	return n == size ? steal_ptr(bytes) : NULL;
}

/*
 * A copy of a string table that surely ends in NUL, owned by the table. libelf would keep another
 * one until the file is closed.
 */
static const char *copy_strings(struct elf_source *es, size_t index, struct symtab *st, size_t *len)
{
	Elf_Scn *scn = elf_getscn(es->elf, index);
	GElf_Shdr shdr;
	char *copy = NULL;

	if (!scn || !gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS || !shdr.sh_size)
		return NULL;
	if (es->fd >= 0 && !es->image) {
		copy = read_file_part(es->fd, shdr.sh_offset, shdr.sh_size);
	} else {
		Elf_Data *data = elf_rawdata(scn, NULL);

		if (!data || !data->d_buf || data->d_size != shdr.sh_size)
			return NULL;
		copy = malloc(shdr.sh_size + 1);
		if (copy)
			memcpy(copy, data->d_buf, shdr.sh_size);
	}
	if (!copy)
		return NULL;
	copy[shdr.sh_size] = 0;
	*len = shdr.sh_size;
	return symtab_own(st, copy) ? copy : NULL;
}

/* What of a section matters to its symbols; read once for each section. */
struct section_facts {
	uint64_t addr, offset;
	bool known, alloc, label_ok, text;
};

struct symbol_reader {
	struct elf_source *syms, *runtime;
	const struct sym_opts *opts;
	struct symtab *st;
	struct section_facts *sections;
	size_t n_sections;
};

static const struct section_facts *reader_section(struct symbol_reader *r, size_t index)
{
	if (index >= r->n_sections)
		return NULL;
	struct section_facts *info = &r->sections[index];
	if (info->known)
		return info;

	struct elf_source *es = r->syms;
	Elf_Scn *scn = elf_getscn(es->elf, index);
	GElf_Shdr shdr;

	info->known = true;
	if (!scn || !gelf_getshdr(scn, &shdr))
		return info;
	info->alloc = shdr.sh_flags & SHF_ALLOC;
	if (shdr.sh_type == SHT_NOBITS && r->runtime != r->syms) {
		es = r->runtime;
		scn = elf_getscn(es->elf, index);
		if (!scn || !gelf_getshdr(scn, &shdr)) {
			info->alloc = false;
			return info;
		}
	}
	const char *name = elf_strptr(es->elf, es->shstrndx, shdr.sh_name);
	info->addr = shdr.sh_addr;
	info->offset = shdr.sh_offset;
	info->label_ok = name && (strstr(name, "text") || strstr(name, "data"));
	info->text = name && !strcmp(name, ".text");
	return info;
}

static bool symbol_is_wanted(const GElf_Sym *sym)
{
	uint8_t visibility = GELF_ST_VISIBILITY(sym->st_other);

	if (!sym->st_name || sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS)
		return false;
	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_OBJECT:
		return true;
	case STT_NOTYPE:
		return visibility != STV_HIDDEN && visibility != STV_INTERNAL;
	default:
		return false;
	}
}

/* The labels that mark ARM code and data, not names of anything. */
static bool is_mapping_symbol(const GElf_Ehdr *ehdr, const char *name)
{
	return (ehdr->e_machine == EM_ARM || ehdr->e_machine == EM_AARCH64) && name[0] == '$' &&
	       name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

static struct error *read_symbol(struct symbol_reader *r, const GElf_Sym *sym, size_t shndx,
				 const char *name)
{
	const struct section_facts *info = reader_section(r, shndx);
	uint64_t value = sym->st_value;
	uint8_t type = GELF_ST_TYPE(sym->st_info);

	if (!info || !info->alloc || (type == STT_NOTYPE && !info->label_ok))
		return NULL;
	if (r->syms->ehdr.e_machine == EM_ARM && type == STT_FUNC)
		value &= ~(uint64_t)1; /* Thumb */
	switch (r->opts->space) {
	case SYM_FILE_OFFSET: {
		const struct segment *seg = segment_of(r->st, value);

		value -= seg ? seg->vaddr - seg->offset : info->addr - info->offset;
		break;
	}
	case SYM_ADDRESS:
		break;
	case SYM_TEXT_RELATIVE:
		if (!info->text)
			return NULL;
		value -= info->addr;
		break;
	}
	value += r->opts->base;
	if (!symtab_add(r->st, value, sym->st_size, GELF_ST_BIND(sym->st_info), type, name))
		return error_nomem();
	return NULL;
}

static struct error *read_symbols(struct symbol_reader *r, Elf_Scn *scn)
{
	GElf_Shdr shdr;
	GElf_Sym sym;
	Elf_Data *data = gelf_getshdr(scn, &shdr) ? elf_getdata(scn, NULL) : NULL;
	size_t strings_len = 0;
	size_t entry = gelf_fsize(r->syms->elf, ELF_T_SYM, 1, EV_CURRENT);

	if (!data || !data->d_buf || !entry)
		return NULL;
	const char *strings = copy_strings(r->syms, shdr.sh_link, r->st, &strings_len);
	if (!strings)
		return NULL;
	/* Symbols of sections beyond 65280 name them in a table of their own. */
	Elf_Data *xndx = NULL;
	int xindex = elf_scnshndx(scn);
	if (xindex > 0)
		xndx = elf_getdata(elf_getscn(r->syms->elf, (size_t)xindex), NULL);

	/* Symbols can share one long name, and each is read: linkers share short ends of names. */
	size_t n = data->d_size / entry, names_left = 8 * strings_len + (1 << 20);
	for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
		Elf32_Word extended = 0;

		if (!gelf_getsymshndx(data, xndx, (int)i, &sym, &extended))
			break;
		if (!symbol_is_wanted(&sym) || sym.st_name >= strings_len)
			continue;
		const char *name = strings + sym.st_name;
		const size_t length = strnlen(name, names_left);
		if (length == names_left) {
			r->st->is_cut = true;
			break;
		}
		names_left -= length;
		if (is_mapping_symbol(&r->syms->ehdr, name))
			continue;
		TRY(read_symbol(r, &sym, sym.st_shndx == SHN_XINDEX ? extended : sym.st_shndx,
				name));
	}
	if (!symtab_sort(r->st))
		return error_nomem();
	symtab_fix_ends(r->st);
	symtab_fix_duplicates(r->st);
	return NULL;
}

/* Where the PLT's entries stand and how long they are; false: it has none. */
static bool plt_layout(struct elf_source *es, uint64_t *offset, uint64_t *entry)
{
	Elf_Scn *sec = section_by_name(es, ".plt.sec"); /* with IBT the calls go there */
	Elf_Scn *scn = sec ? sec : section_by_name(es, ".plt");
	GElf_Shdr shdr;
	uint64_t header;

	if (!scn || !gelf_getshdr(scn, &shdr))
		return false;
	switch (es->ehdr.e_machine) {
	case EM_ARM:
		header = 20, *entry = 12;
		break;
	case EM_AARCH64:
		header = 32, *entry = 16;
		break;
	case EM_SPARC:
		header = 48, *entry = 12;
		break;
	case EM_SPARCV9:
		header = 128, *entry = 32;
		break;
	default:
		header = *entry = shdr.sh_entsize;
		break;
	}
	*offset = shdr.sh_offset + (sec ? 0 : header);
	return *entry > 0 && *entry <= 256;
}

static struct error *read_plt(struct elf_source *es, struct symtab *st)
{
	Elf_Scn *rel = section_by_name(es, ".rela.plt");
	uint64_t offset, entry;
	GElf_Shdr rel_shdr, sym_shdr;
	size_t strings_len;

	if (!rel)
		rel = section_by_name(es, ".rel.plt");
	if (!rel || !es->dynsym || !gelf_getshdr(rel, &rel_shdr) ||
	    rel_shdr.sh_link != elf_ndxscn(es->dynsym) || !gelf_getshdr(es->dynsym, &sym_shdr) ||
	    !plt_layout(es, &offset, &entry))
		return NULL;
	Elf_Data *rels = elf_getdata(rel, NULL), *syms = elf_getdata(es->dynsym, NULL);
	const char *strings = copy_strings(es, sym_shdr.sh_link, st, &strings_len);
	if (!rels || !syms || !strings)
		return NULL;

	for (int i = 0;; i++, offset += entry) {
		GElf_Sym sym;
		uint64_t info;

		if (rel_shdr.sh_type == SHT_RELA) {
			GElf_Rela rela;

			if (!gelf_getrela(rels, i, &rela))
				break;
			info = rela.r_info;
		} else if (rel_shdr.sh_type == SHT_REL) {
			GElf_Rel r;

			if (!gelf_getrel(rels, i, &r))
				break;
			info = r.r_info;
		} else {
			break;
		}
		if (GELF_R_SYM(info) > INT32_MAX ||
		    !gelf_getsym(syms, (int)GELF_R_SYM(info), &sym) || sym.st_name >= strings_len)
			continue;
		if (!symtab_add(st, offset, entry, STB_GLOBAL, STT_FUNC, strings + sym.st_name))
			return error_nomem();
		vec_last(&st->syms)->lazy |= LAZY_PLT;
	}
	if (!symtab_sort(st))
		return error_nomem();
	/* _init, often without a length, must not reach over the PLT behind it. */
	symtab_cut_guessed(st);
	return NULL;
}

/* What .gnu_debugdata leaves out, since the binary itself has it. */
static struct error *read_rest(const struct symbol_reader *of)
{
	_cleanup_free_ struct section_facts *sections = NULL;
	struct symbol_reader r = {
		.syms = of->runtime, .runtime = of->runtime, .opts = of->opts, .st = of->st};

	if (elf_getshdrnum(r.syms->elf, &r.n_sections))
		r.n_sections = 0;
	r.sections = sections = calloc(r.n_sections + 1, sizeof(*sections));
	return sections ? read_symbols(&r, r.syms->dynsym) : error_nomem();
}

struct error *pb_elf_source_read(struct elf_source *syms, struct elf_source *runtime,
				 const struct sym_opts *opts, struct symtab *st)
{
	_cleanup_free_ struct section_facts *sections = NULL;
	struct symbol_reader r = {.syms = syms, .runtime = runtime, .opts = opts, .st = st};

	errno = 0;
	if (elf_getshdrnum(syms->elf, &r.n_sections))
		r.n_sections = 0;
	r.sections = sections = calloc(r.n_sections + 1, sizeof(*sections));
	if (!sections)
		return error_nomem();
	TRY(read_segments(runtime, st));
	if (syms->symtab)
		TRY(read_symbols(&r, syms->symtab));
	if (syms->dynsym)
		TRY(read_symbols(&r, syms->dynsym));
	if (syms->is_excerpt && runtime->dynsym && runtime != syms)
		TRY(read_rest(&r));
	if (opts->space == SYM_FILE_OFFSET)
		symtab_drop_labels(st);
	if (st->syms.n && opts->space == SYM_FILE_OFFSET)
		TRY(read_plt(runtime, st));
	/* A section that libelf had no memory for is left out. */
	return errno == ENOMEM ? error_nomem() : NULL;
}

struct error *file_build_id(const char *path, uint8_t id[20], size_t *size)
{
	_cleanup_(pb_elf_source_freep) struct elf_source *es = NULL;

	TRY(pb_elf_source_open(path, &es));
	errno = 0;
	const size_t n = pb_elf_source_build_id(es, id);
	if (!n && errno == ENOMEM)
		return error_nomem();
	*size = n;
	return NULL;
}

struct error *notes_build_id(const char *path, uint8_t id[20], size_t *size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t notes[8192];

	if (fd < 0)
		return error_at(error_errno(errno, "cannot be opened"), "%s", path);
	ssize_t n = read(fd, notes, sizeof(notes));
	if (n < 0)
		return error_at(error_errno(errno, "cannot be read"), "%s", path);
	*size = notes_find_build_id(notes, (size_t)n, false, id);
	return NULL;
}
