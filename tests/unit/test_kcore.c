// SPDX-License-Identifier: BSD-2-Clause
/* sym/kcore: code of a made image of memory is read, and nothing else of it. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/kcore.h"

#define TEXT	0xffffffff81000000ull
#define MODULES 0xffffffffc0000000ull
#define MEMORY	0xffff888000000000ull

struct files {
	char kcore[32], kallsyms[32], modules[32];
};

static void write_file(char path[32], const void *bytes, size_t n)
{
	strcpy(path, "/tmp/test_kcore.XXXXXX");
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

static void setup(struct files *f)
{
	static const char kallsyms[] = "ffffffff81000000 T _text\n"
				       "ffffffff81000004 T _stext\n"
				       "ffffffff8100000c T _etext\n"
				       "ffffffffc0000000 t init_it\t[made]\n";
	static const char modules[] = "made 4 0 - Live 0xffffffffc0000002 (OE)\n";
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segments[4];
		char text[16], module[8], memory[16];
	} image = {
		.head = {.e_phoff = sizeof(Elf64_Ehdr),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 4},
		.segments = {{.p_type = PT_NOTE},
			     {.p_type = PT_LOAD, .p_vaddr = MEMORY, .p_memsz = 16},
			     {.p_type = PT_LOAD, .p_vaddr = MODULES, .p_memsz = 8},
			     {.p_type = PT_LOAD, .p_vaddr = TEXT, .p_memsz = 16}},
		.text = "0123456789abcdef",
		.module = "MODULES",
		.memory = "a secret",
	};

	memcpy(image.head.e_ident, ELFMAG, SELFMAG);
	image.head.e_ident[EI_CLASS] = ELFCLASS64;
	image.segments[1].p_offset = offsetof(__typeof__(image), memory);
	image.segments[2].p_offset = offsetof(__typeof__(image), module);
	image.segments[3].p_offset = offsetof(__typeof__(image), text);
	write_file(f->kcore, &image, sizeof(image));
	write_file(f->kallsyms, kallsyms, strlen(kallsyms));
	write_file(f->modules, modules, strlen(modules));
}

static void teardown(struct files *f)
{
	unlink(f->kcore);
	unlink(f->kallsyms);
	unlink(f->modules);
}

static struct kcore *open_files(const struct files *f)
{
	const struct kcore_opts opts = {f->kcore, f->kallsyms, f->modules};
	struct kcore *k = NULL;

	assert_null(kcore_open(&opts, &k));
	return k;
}

static void assert_code(struct kcore *k, uint64_t address, const char *code)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	assert_null(kcore_read(k, address, strlen(code), &out));
	assert_int_equal(out.len, strlen(code));
	assert_memory_equal(out.str, code, out.len);
}

static void assert_refused(struct kcore *k, uint64_t address, uint64_t size, int code)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_error_ struct error *err = kcore_read(k, address, size, &out);

	assert_non_null(err);
	assert_int_equal(err->code, code);
	assert_int_equal(out.len, 0);
}

TEST(test_code_and_nothing_else)
{
	struct files f;

	setup(&f);
	struct kcore *k = open_files(&f);
	assert_code(k, TEXT + 4, "45678");
	assert_code(k, TEXT + 11, "b");
	assert_code(k, MODULES + 2, "DULE");
	assert_refused(k, MEMORY, 8, EPERM);
	assert_refused(k, TEXT + 3, 2, EPERM);
	assert_refused(k, TEXT + 11, 2, EPERM);
	assert_refused(k, MODULES + 1, 2, EPERM);
	assert_refused(k, MODULES + 5, 2, EPERM);
	assert_refused(k, TEXT + 4, UINT64_MAX, EFBIG);
	assert_refused(k, TEXT + 4, KCORE_MAX_READ, EPERM);
	kcore_free(k);
	teardown(&f);
}

/* The copy has the code, and not the memory. */
TEST(test_copy)
{
	char path[32], bytes[16384];
	struct files f;

	setup(&f);
	write_file(path, "", 0);
	const int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	struct kcore *k = open_files(&f);
	assert_null(kcore_copy(k, fd));
	kcore_free(k);
	const ssize_t n = pread(fd, bytes, sizeof(bytes), 0);
	assert_in_range(n, 2 * 4096, sizeof(bytes) - 1);
	assert_null(memmem(bytes, (size_t)n, "secret", 6));
	unlink(f.kcore);
	strcpy(f.kcore, path);
	k = open_files(&f);
	assert_code(k, TEXT + 4, "45678");
	assert_code(k, MODULES + 2, "DULE");
	assert_refused(k, MEMORY, 8, EPERM);
	kcore_free(k);
	/* what is listed is not there */
	assert_int_equal(truncate(path, n - 8), 0);
	const int other = open("/dev/null", O_RDWR | O_CLOEXEC);
	k = open_files(&f);
	struct error *err = kcore_copy(k, other);
	assert_non_null(err);
	assert_int_equal(err->code, ENODATA);
	error_free(err);
	kcore_free(k);
	close(other);
	close(fd);
	teardown(&f);
}

TEST(test_images_that_are_damaged)
{
	struct kcore *k = NULL;
	struct files f;

	setup(&f);
	const struct kcore_opts opts = {f.kcore, f.kallsyms, f.modules};
	assert_int_equal(truncate(f.kcore, sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Phdr) + 8), 0);
	k = open_files(&f);
	assert_refused(k, TEXT + 4, 5, ENODATA);
	kcore_free(k);
	assert_int_equal(truncate(f.kcore, sizeof(Elf64_Ehdr) + 8), 0);
	struct error *err = kcore_open(&opts, &k);
	assert_int_equal(err->code, EBADMSG);
	error_free(err);
	unlink(f.kcore);
	err = kcore_open(&opts, &k);
	assert_int_equal(err->code, ENOENT);
	error_free(err);
	teardown(&f);
}
