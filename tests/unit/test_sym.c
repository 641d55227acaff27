// SPDX-License-Identifier: BSD-2-Clause
/* sym/: kallsyms, the fix-ups, look-ups, ELF files (this program itself), hostile images. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <lzma.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/base/strbuf.h"
#include "lib/sys/open_file.h"
#include "sym/internal.h"

static struct kallsyms *parse(const char *text)
{
	struct kallsyms *k = NULL;

	assert_null(kallsyms_parse(text, strlen(text), "kallsyms", &k));
	return k;
}

static const char *name_at(struct symtab *st, uint64_t addr)
{
	const struct symbol *sym = symtab_find(st, addr);

	return sym ? sym->name : "-";
}

static void test_kallsyms(void **state)
{
	/* Aliases: the last; R is not wanted; the kernel ends a page on, where modules begin. */
	struct kallsyms *k = parse("ffffffff81000000 T first\n"
				   "ffffffff81000000 T _stext\n"
				   "ffffffff81000040 t second\n"
				   "ffffffff81000050 R table\n"
				   "garbage\n"
				   "ffffffff81000100 W last\n"
				   "ffffffffc0001000 t init_module\t[ext4]\n"
				   "ffffffffc0001080 t helper\t[ext4]\n"
				   "ffffffffc0002000 t bpf_prog_1\t[bpf]");
	struct symtab *st = NULL, *mod = NULL, *none = NULL;

	assert_null(kallsyms_symtab(k, NULL, 0, &st));
	assert_int_equal(symtab_size(st), 3);
	assert_string_equal(name_at(st, 0xffffffff81000000), "_stext");
	assert_string_equal(name_at(st, 0xffffffff8100003f), "_stext");
	assert_string_equal(name_at(st, 0xffffffff81000040), "second");
	assert_string_equal(name_at(st, 0xffffffff810000ff), "second");
	assert_int_equal(symtab_at(st, 2)->binding, STB_WEAK);
	assert_string_equal(name_at(st, 0xffffffff81001fff), "last");
	assert_string_equal(name_at(st, 0xffffffff81002000), "-");
	assert_string_equal(name_at(st, 0xffffffff80ffffff), "-");

	assert_null(kallsyms_symtab(k, "ext4", 0x1000, &mod));
	assert_int_equal(symtab_size(mod), 2);
	assert_string_equal(name_at(mod, 0xffffffffc0000000), "init_module");
	assert_string_equal(name_at(mod, 0xffffffffc0000fff), "helper");
	assert_string_equal(name_at(mod, 0xffffffffc0001000), "-");

	struct error *err = kallsyms_symtab(k, "xfs", 0, &none);
	assert_non_null(err);
	assert_int_equal(err->code, ENODATA);
	error_free(err);

	uint64_t addr;
	assert_true(kallsyms_address(k, "second", &addr));
	assert_int_equal(addr, 0xffffffff81000040);
	assert_false(kallsyms_address(k, "helper", &addr));
	symtab_free(st);
	symtab_free(mod);
	kallsyms_free(k);
}

static void test_kallsyms_unsorted(void **state)
{
	struct kallsyms *k = parse("3000 t c\n1000 t a\n2000 t b\n1000 T a2\n");
	struct symtab *st = NULL;

	assert_null(kallsyms_symtab(k, NULL, 0, &st));
	assert_int_equal(symtab_size(st), 3);
	assert_string_equal(name_at(st, 0x1000), "a2");
	assert_string_equal(name_at(st, 0x2fff), "b");
	assert_string_equal(name_at(st, 0x4fff), "-");
	assert_string_equal(name_at(st, 0x3fff), "c");
	symtab_free(st);
	kallsyms_free(k);
}

static void test_kallsyms_hidden(void **state)
{
	static const char text[] = "0000000000000000 T _stext\n0000000000000000 t f\n";
	struct kallsyms *k = NULL;
	struct error *err = kallsyms_parse(text, sizeof(text) - 1, "/proc/kallsyms", &k);

	assert_non_null(err);
	assert_int_equal(err->code, EPERM);
	assert_string_equal(err->where, "/proc/kallsyms");
	assert_non_null(strstr(err->msg, "kptr_restrict"));
	assert_non_null(err->hint);
	assert_null(k);
	error_free(err);

	err = kallsyms_parse("\n\n", 2, "x", &k);
	assert_non_null(err);
	assert_int_equal(err->code, ENODATA);
	error_free(err);
}

static void fix(struct symtab *st)
{
	assert_true(symtab_sort(st));
	symtab_fix_ends(st);
	symtab_fix_duplicates(st);
	assert_true(symtab_finish(st));
}

static void test_aliases(void **state)
{
	struct symtab *st = symtab_new();

	/* Non-weak, global, fewer underscores, longer; a length before all. */
	symtab_add(st, 0x100, 8, STB_WEAK, STT_FUNC, "weak_and_long");
	symtab_add(st, 0x100, 8, STB_LOCAL, STT_FUNC, "strong");
	symtab_add(st, 0x200, 8, STB_LOCAL, STT_FUNC, "a_local_name");
	symtab_add(st, 0x200, 8, STB_GLOBAL, STT_FUNC, "global");
	symtab_add(st, 0x300, 8, STB_GLOBAL, STT_FUNC, "__libc_write");
	symtab_add(st, 0x300, 8, STB_GLOBAL, STT_FUNC, "_write");
	symtab_add(st, 0x300, 8, STB_GLOBAL, STT_FUNC, "__write");
	symtab_add(st, 0x400, 8, STB_GLOBAL, STT_FUNC, "open");
	symtab_add(st, 0x400, 8, STB_GLOBAL, STT_FUNC, "open64");
	symtab_add(st, 0x500, 8, STB_WEAK, STT_FUNC, "sized");
	symtab_add(st, 0x500, 0, STB_GLOBAL, STT_FUNC, "without");
	symtab_add(st, 0x600, 0, STB_GLOBAL, STT_FUNC, "to_the_page");
	fix(st);
	assert_string_equal(name_at(st, 0x100), "strong");
	assert_string_equal(name_at(st, 0x200), "global");
	assert_string_equal(name_at(st, 0x300), "_write");
	assert_string_equal(name_at(st, 0x400), "open64");
	/* "without" reaches to 0x600: it has a length too, and is not weak. */
	assert_string_equal(name_at(st, 0x500), "without");
	assert_string_equal(name_at(st, 0x5ff), "without");
	assert_string_equal(name_at(st, 0x600), "to_the_page");
	assert_string_equal(name_at(st, 0x1fff), "to_the_page");
	assert_string_equal(name_at(st, 0x2000), "-");
	assert_string_equal(name_at(st, 0x108), "-");
	symtab_free(st);
}

static void test_overlap(void **state)
{
	struct symtab *st = symtab_new();

	symtab_add(st, 0x1000, 0x1000, STB_GLOBAL, STT_FUNC, "outer");
	symtab_add(st, 0x1100, 0x10, STB_LOCAL, STT_NOTYPE, "label");
	symtab_add(st, 0x1200, 0x10, STB_LOCAL, STT_NOTYPE, "label2");
	symtab_add(st, 0x3000, 0x10, STB_LOCAL, STT_FUNC, "far");
	fix(st);
	assert_string_equal(name_at(st, 0x1000), "outer");
	assert_string_equal(name_at(st, 0x1105), "label");
	assert_string_equal(name_at(st, 0x1110), "outer");
	assert_string_equal(name_at(st, 0x1fff), "outer");
	assert_string_equal(name_at(st, 0x2000), "-");
	assert_string_equal(name_at(st, 0x3001), "far");
	symtab_free(st);
}

/* Of a label without a length, the time is the function's that it is in. */
static void test_labels_in_functions(void **state)
{
	struct symtab *st = symtab_new();

	symtab_add(st, 0x1000, 0x1000, STB_GLOBAL, STT_FUNC, "outer");
	symtab_add(st, 0x1100, 0, STB_LOCAL, STT_NOTYPE, "label");
	symtab_add(st, 0x1200, 0x10, STB_LOCAL, STT_NOTYPE, "sized");
	symtab_add(st, 0x1f00, 0, STB_LOCAL, STT_NOTYPE, "last");
	symtab_add(st, 0x3000, 0, STB_GLOBAL, STT_NOTYPE, "alone");
	symtab_add(st, 0x4000, 0, STB_GLOBAL, STT_FUNC, "no_length");
	symtab_add(st, 0x4100, 0, STB_GLOBAL, STT_NOTYPE, "behind");
	assert_true(symtab_sort(st));
	symtab_fix_ends(st);
	symtab_fix_duplicates(st);
	symtab_drop_labels(st);
	assert_true(symtab_finish(st));
	assert_string_equal(name_at(st, 0x1150), "outer");
	assert_string_equal(name_at(st, 0x1205), "sized");
	assert_string_equal(name_at(st, 0x1f80), "outer");
	assert_string_equal(name_at(st, 0x2800), "-");
	assert_string_equal(name_at(st, 0x3100), "alone");
	assert_string_equal(name_at(st, 0x4150), "behind");
	symtab_free(st);
}

static void test_sort_is_stable(void **state)
{
	struct symtab *st = symtab_new();
	char names[1000][8];

	for (int i = 0; i < 1000; i++) {
		snprintf(names[i], sizeof(names[i]), "s%d", i);
		assert_true(symtab_add(st, (uint64_t)(i * 7919 % 250), 1, STB_GLOBAL, STT_FUNC,
				       names[i]));
	}
	assert_true(symtab_sort(st));
	for (int i = 1; i < 1000; i++) {
		const struct symbol *a = &st->syms.v[i - 1], *b = &st->syms.v[i];

		assert_true(a->start < b->start ||
			    (a->start == b->start && atoi(a->name + 1) < atoi(b->name + 1)));
	}
	symtab_free(st);
}

static void test_demangle(void **state)
{
	struct symtab *st = symtab_new();

	st->demangle = true;
	symtab_add(st, 0x10, 8, STB_GLOBAL, STT_FUNC, "_ZN3foo3barEi");
	symtab_add(st, 0x20, 8, STB_GLOBAL, STT_FUNC,
		   "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE");
	symtab_add(st, 0x30, 8, STB_GLOBAL, STT_FUNC, "_Zmangled_not");
	fix(st);
#ifdef HAVE_LIBIBERTY
	assert_string_equal(name_at(st, 0x10), "foo::bar");
	assert_string_equal(name_at(st, 0x20), "core::fmt::Write::write_fmt");
#endif
	assert_string_equal(name_at(st, 0x30), "_Zmangled_not");
	assert_non_null(symtab_find_name(st, name_at(st, 0x10)));
	assert_null(symtab_find_name(st, "no_such"));
	symtab_free(st);
}

int sym_test_function(int x);

__attribute__((noinline, used)) int sym_test_function(int x)
{
	return x * 3 + 1;
}

static void test_own_elf(void **state)
{
	struct sym_opts opts = {.sz = sizeof(opts)};
	struct symtab *st = NULL;
	Dl_info info;

	assert_null(symtab_load_elf("/proc/self/exe", &opts, &st));
	const struct symbol *sym = symtab_find_name(st, "sym_test_function");
	assert_non_null(sym);
	assert_true(dladdr((void *)sym_test_function, &info));
	assert_int_equal(symtab_offset_to_addr(st, sym->start),
			 (uintptr_t)sym_test_function - (uintptr_t)info.dli_fbase);
	assert_ptr_equal(symtab_find(st, sym->start + 1), sym);
	symtab_free(st);

	/* Another build-id: refused, and said where. */
	uint8_t id[20] = {1, 2, 3};
	opts.build_id = id;
	opts.build_id_size = 20;
	struct error *err = symtab_load_elf("/proc/self/exe", &opts, &st);
	assert_non_null(err);
	assert_int_equal(err->code, ESTALE);
	assert_non_null(strstr(err->where, "/proc/self/exe"));
	error_free(err);

	size_t size = 0;
	assert_null(file_build_id("/proc/self/exe", id, &size));
	if (size) {
		opts.build_id_size = size;
		assert_null(symtab_load_elf("/proc/self/exe", &opts, &st));
		symtab_free(st);
	}
	/* By its build id, a copy of this program might be found that was recorded. */
	opts.build_id = NULL;
	opts.build_id_size = 0;
	err = symtab_load_elf("/proc/nonexistent/file", &opts, &st);
	assert_non_null(err);
	assert_int_equal(err->code, ENOENT);
	error_free(err);
	err = symtab_load_elf("/dev/null", &opts, &st);
	assert_non_null(err);
	error_free(err);
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *path)
{
	if (!strstr(info->dlpi_name, "/libc.so"))
		return 0;
	snprintf(path, 256, "%s", info->dlpi_name);
	return 1;
}

static void test_libc_plt(void **state)
{
	struct sym_opts opts = {.sz = sizeof(opts)};
	struct symtab *st = NULL;
	char path[256];

	assert_int_equal(dl_iterate_phdr(find_libc, path), 1);
	assert_null(symtab_load_elf(path, &opts, &st));
	assert_non_null(symtab_find_name(st, "qsort"));
	bool plt = false;
	for (size_t i = 0; i < symtab_size(st); i++)
		plt |= strstr(symtab_at(st, i)->name, "@plt") != NULL;
	assert_true(plt);
	symtab_free(st);
}

/* ---- an image made by hand ---- */

struct made {
	struct strbuf sb;
	Elf64_Shdr sections[8];
	size_t n;
	struct strbuf names;
};

static void made_section(struct made *m, const char *name, uint32_t type, const void *data,
			 size_t size)
{
	Elf64_Shdr *s = &m->sections[m->n++];

	while (m->sb.len % 8)
		strbuf_addch(&m->sb, 0);
	*s = (Elf64_Shdr){.sh_name = (uint32_t)m->names.len,
			  .sh_type = type,
			  .sh_offset = m->sb.len,
			  .sh_size = size,
			  .sh_addralign = 1};
	strbuf_add(&m->names, name, strlen(name) + 1);
	if (type != SHT_NOBITS)
		strbuf_add(&m->sb, data, size);
}

/* Code at 0x1000 with one symbol, in a table of that type; extra may be NULL. */
static void made_image(struct made *m, bool dynamic, const char *symbol, uint64_t value,
		       const void *extra, size_t extra_size)
{
	char strings[64] = "";
	const Elf64_Sym syms[2] = {[1] = {.st_name = 1,
					  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					  .st_shndx = 1,
					  .st_value = value,
					  .st_size = 16}};
	Elf64_Ehdr header = {.e_type = ET_DYN,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_ehsize = sizeof(header),
			     .e_phoff = sizeof(header),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = 1,
			     .e_shentsize = sizeof(Elf64_Shdr)};
	const Elf64_Phdr load = {.p_type = PT_LOAD,
				 .p_flags = PF_R | PF_X,
				 .p_vaddr = 0x1000,
				 .p_filesz = 0x100,
				 .p_memsz = 0x100};

	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_ident[EI_VERSION] = EV_CURRENT;
	strcpy(strings + 1, symbol);
	strbuf_add(&m->sb, &header, sizeof(header));
	strbuf_add(&m->sb, &load, sizeof(load));
	made_section(m, "", SHT_NULL, NULL, 0);
	made_section(m, ".text", dynamic ? SHT_PROGBITS : SHT_NOBITS,
		     "0123456789abcdef0123456789abcdef", 32);
	m->sections[1].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	m->sections[1].sh_addr = 0x1000;
	made_section(m, dynamic ? ".dynsym" : ".symtab", dynamic ? SHT_DYNSYM : SHT_SYMTAB, syms,
		     sizeof(syms));
	m->sections[2].sh_link = 3;
	m->sections[2].sh_entsize = sizeof(Elf64_Sym);
	m->sections[2].sh_info = 1;
	made_section(m, dynamic ? ".dynstr" : ".strtab", SHT_STRTAB, strings, sizeof(strings));
	if (extra)
		made_section(m, ".gnu_debugdata", SHT_PROGBITS, extra, extra_size);
	const uint16_t shstrndx = (uint16_t)m->n;
	strbuf_adds(&m->names, ".shstrtab");
	strbuf_addch(&m->names, 0);
	const uint32_t name = (uint32_t)(m->names.len - sizeof(".shstrtab"));
	made_section(m, "", SHT_STRTAB, m->names.str, m->names.len);
	m->sections[shstrndx].sh_name = name;
	while (m->sb.len % 8)
		strbuf_addch(&m->sb, 0);
	Elf64_Ehdr *at = (Elf64_Ehdr *)m->sb.str;
	at->e_shoff = m->sb.len;
	at->e_shnum = (uint16_t)m->n;
	at->e_shstrndx = shstrndx;
	strbuf_add(&m->sb, m->sections, m->n * sizeof(m->sections[0]));
}

static void made_deinit(struct made *m)
{
	strbuf_deinit(&m->sb);
	strbuf_deinit(&m->names);
}

/* A stripped binary names its local functions in an image that xz has packed. */
static void test_debugdata(void **state)
{
	const struct sym_opts opts = {.sz = sizeof(opts), .space = SYM_FILE_OFFSET};
	_cleanup_(made_deinit) struct made excerpt = {0}, whole = {0}, broken = {0};
	_cleanup_(symtab_freep) struct symtab *st = NULL, *without = NULL;
	uint8_t packed[8192];
	size_t size = 0;

	made_image(&excerpt, false, "hidden", 0x1000, NULL, 0);
	assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL,
						 (const uint8_t *)excerpt.sb.str, excerpt.sb.len,
						 packed, &size, sizeof(packed)),
			 LZMA_OK);
	made_image(&whole, true, "shown", 0x1010, packed, size);
	assert_null(symtab_load_elf_mem(whole.sb.str, whole.sb.len, &opts, &st));
	assert_int_equal(symtab_size(st), 2);
	assert_string_equal(name_at(st, 0x8), "hidden");
	assert_string_equal(name_at(st, 0x18), "shown");

	/* Damaged, it is as if it were not there. */
	packed[size / 2] ^= 0x55;
	made_image(&broken, true, "shown", 0x1010, packed, size);
	assert_null(symtab_load_elf_mem(broken.sb.str, broken.sb.len, &opts, &without));
	assert_int_equal(symtab_size(without), 1);
}

#if defined(__aarch64__)
#define VDSO_GETTIMEOFDAY "__kernel_gettimeofday"
#else
#define VDSO_GETTIMEOFDAY "__vdso_gettimeofday"
#endif

static void test_vdso(void **state)
{
	struct sym_opts opts = {.sz = sizeof(opts)};
	struct symtab *st = NULL;
	struct error *err = symtab_load_vdso(&opts, &st);

	if (err) { /* vdso=0, or an emulator */
		print_message("# no vdso: %s\n", err->msg);
		error_free(err);
		skip();
	}
	assert_non_null(symtab_find_name(st, VDSO_GETTIMEOFDAY));
	symtab_free(st);
}

static void test_notes(void **state)
{
	static const uint8_t notes[] = {4, 0, 0,   0,	1,   0, 0,    0,    9,	  0,
					0, 0, 'A', 'B', 'C', 0, 7,    0,    0,	  0,
					4, 0, 0,   0,	4,   0, 0,    0,    3,	  0,
					0, 0, 'G', 'N', 'U', 0, 0xde, 0xad, 0xbe, 0xef};
	uint8_t id[20];

	assert_int_equal(notes_find_build_id(notes, sizeof(notes), false, id), 4);
	assert_memory_equal(id, "\xde\xad\xbe\xef\0\0", 6);
	for (size_t n = 0; n < sizeof(notes); n++) {
		uint8_t *copy = malloc(n + !n);

		memcpy(copy, notes, n);
		assert_int_equal(notes_find_build_id(copy, n, false, id), 0);
		free(copy);
	}
}

static struct error *load_perf_map(const char *path, struct symtab **st)
{
	_cleanup_close_ int fd = -1;

	TRY(open_regular(path, NULL, &fd));
	return symtab_load_perf_map(fd, path, SIZE_MAX, st);
}

static void test_perf_map(void **state)
{
	char path[] = "/tmp/perf-bpf-unit-XXXXXX";
	int fd = mkstemp(path);
	static const char text[] = "1000 20 jitted one\nnonsense\n1020 10 two\n zz\n3000 10 \n";
	struct symtab *st = NULL;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	struct error *err = load_perf_map(path, &st);
	unlink(path);
	assert_null(err);
	assert_int_equal(symtab_size(st), 2);
	assert_string_equal(name_at(st, 0x101f), "jitted one");
	assert_string_equal(name_at(st, 0x1020), "two");
	symtab_free(st);
}

/* What another user may leave there for us. */
static void test_hostile_perf_map(void **state)
{
	char dir[] = "/tmp/perf-bpf-unit-XXXXXX", path[64];
	static char nuls[70000];
	static const int codes[] = {EINVAL, EFBIG, ENODATA};
	struct symtab *st = NULL;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/perf-1.map", dir);
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		/* a FIFO without a writer; a sparse file of a terabyte; one of a single line */
		if (!i)
			assert_int_equal(mkfifo(path, 0600), 0);
		else
			assert_int_equal(close(creat(path, 0600)), 0);
		if (i)
			assert_int_equal(truncate(path, i == 1 ? 1ll << 40 : 100 << 20), 0);
		alarm(120);
		struct error *err = load_perf_map(path, &st);
		alarm(0);
		unlink(path);
		assert_non_null(err);
		assert_int_equal(err->code, codes[i]);
		error_free(err);
	}
	/* too long a line is skipped as a whole, a last one needs no end */
	FILE *f = fopen(path, "we");
	memset(nuls, 'n', sizeof(nuls) - 1);
	fprintf(f, "1000 10 one\n2000 10 %.65523s3000 10 %s\n4000 10 four", nuls, nuls);
	fclose(f);
	assert_null(load_perf_map(path, &st));
	unlink(path);
	rmdir(dir);
	assert_int_equal(symtab_size(st), 2);
	assert_string_equal(name_at(st, 0x1000), "one");
	assert_string_equal(name_at(st, 0x4000), "four");
	symtab_free(st);
}

/* Short lines: the table is several times as large as the file. */
static void test_memory_of_a_perf_map(void **state)
{
	enum { LINES = 100000 };
	static char text[6 * LINES + 1];
	const size_t enough = LINES * (sizeof(struct symbol) + 8) + sizeof(text);
	struct symtab *st = NULL;

	for (size_t i = 0; i < LINES; i++)
		memcpy(text + 6 * i, "0 1 a\n", 6);
	FILE *f = fmemopen(text, sizeof(text) - 1, "r");
	struct error *err = symtab_read_perf_map(f, enough / 2, &st);
	assert_non_null(err);
	assert_int_equal(err->code, EFBIG);
	error_free(err);
	assert_null(st);
	rewind(f);
	assert_null(symtab_read_perf_map(f, enough, &st));
	fclose(f);
	assert_int_equal(symtab_size(st), LINES);
	assert_in_range(symtab_memory(st), enough / 2, enough);
	symtab_free(st);
}

static void test_one(void **state)
{
	struct symtab *st = NULL;

	assert_null(symtab_new_one(0xffffffffc0000000, 0x40, "bpf_prog_0123_x", &st));
	assert_string_equal(name_at(st, 0xffffffffc000003f), "bpf_prog_0123_x");
	assert_string_equal(name_at(st, 0xffffffffc0000040), "-");
	symtab_free(st);
}

/* This program's head cut and flipped: no crash, no endless loop. */
static void test_hostile_elf(void **state)
{
	struct sym_opts opts = {.sz = sizeof(opts), .demangle = true};
	struct elf_source *es = NULL;
	size_t size = 0;
	FILE *f = fopen("/proc/self/exe", "re");
	uint8_t *image = malloc(1 << 16);

	assert_non_null(f);
	/* The headers are read from the whole file's start; sections lie beyond the cut. */
	size = fread(image, 1, 1 << 16, f);
	fclose(f);
	assert_true(size > 4096);
	for (size_t i = 0; i < size; i += i < 1024 ? 1 : 97) {
		struct symtab *st = NULL;

		error_free(symtab_load_elf_mem(image, i, &opts, &st));
		symtab_free(st);
		image[i] ^= 0xff;
		st = NULL;
		error_free(symtab_load_elf_mem(image, size, &opts, &st));
		symtab_free(st);
		image[i] ^= 0xff;
	}
	struct error *err = pb_elf_source_open_mem("not an ELF", 10, &es);
	assert_non_null(err);
	assert_int_equal(err->code, EBADMSG);
	error_free(err);
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kallsyms),
		cmocka_unit_test(test_kallsyms_unsorted),
		cmocka_unit_test(test_kallsyms_hidden),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_labels_in_functions),
		cmocka_unit_test(test_sort_is_stable),
		cmocka_unit_test(test_demangle),
		cmocka_unit_test(test_own_elf),
		cmocka_unit_test(test_libc_plt),
		cmocka_unit_test(test_debugdata),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_perf_map),
		cmocka_unit_test(test_hostile_perf_map),
		cmocka_unit_test(test_memory_of_a_perf_map),
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_hostile_elf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
