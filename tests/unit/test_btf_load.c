// SPDX-License-Identifier: BSD-2-Clause
/* BTF from files: raw, ELF, and a copy of sysfs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "lib/object/btf_load.h"

static char dir[] = "/tmp/perf-bpf-test-btf.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *name, const void *data, size_t n)
{
	FILE *f = fopen(path_of(name), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	fclose(f);
}

static void write_btf(const char *name, const struct btf *btf)
{
	uint32_t size;
	const void *raw = btf__raw_data(btf, &size);

	write_file(name, raw, size);
}

static int print_nothing(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

static int setup(void **state)
{
	libbpf_set_print(print_nothing);
	assert_non_null(mkdtemp(dir));
	mkdir(path_of("kernel"), 0755);
	mkdir(path_of("kernel/btf"), 0755);

	struct btf *base = btf__new_empty(), *mod;
	btf__add_int(base, "int", 4, BTF_INT_SIGNED);
	btf__add_struct(base, "core_thing", 4);
	btf__add_field(base, "x", 1, 0, 0);
	write_btf("kernel/btf/vmlinux", base);
	mod = btf__new_empty_split(base);
	btf__add_struct(mod, "module_thing", 4);
	btf__add_field(mod, "x", 1, 0, 0);
	write_btf("kernel/btf/mod", mod);
	btf__free(mod);
	btf__free(base);
	write_file("nonsense", "hello, world", 12);
	write_file("empty", "", 0);
	write_file("cut", "\x9f\xeb\x01\x00", 4);
	return 0;
}

static int teardown(void **state)
{
	static const char *const files[] = {"kernel/btf/vmlinux", "kernel/btf/mod", "nonsense",
					    "empty", "cut"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(path_of(files[i]));
	rmdir(path_of("kernel/btf"));
	rmdir(path_of("kernel"));
	rmdir(dir);
	return 0;
}

static void reads_a_copied_sysfs(void **state)
{
	struct btf *vmlinux = NULL, *mod = NULL;

	assert_null(btf_load_vmlinux(dir, &vmlinux));
	assert_int_equal(btf__find_by_name(vmlinux, "core_thing"), 2);
	assert_null(btf_load_module(dir, "mod", vmlinux, &mod));
	assert_int_equal(btf__find_by_name(mod, "module_thing"), 3);
	assert_int_equal(btf__find_by_name(mod, "core_thing"), 2);
	btf__free(mod);

	struct error *err = btf_load_module(dir, "absent", vmlinux, &mod);
	assert_non_null(err);
	assert_int_equal(err->code, ENOENT);
	assert_non_null(strstr(err->hint, "modprobe absent"));
	error_free(err);
	err = btf_load_module(dir, "../btf/mod", vmlinux, &mod);
	assert_non_null(err);
	assert_int_equal(err->code, EINVAL);
	error_free(err);
	btf__free(vmlinux);

	err = btf_load_vmlinux("/proc/nonexistent", &vmlinux);
	assert_non_null(err);
	error_free(err);
}

static void reads_files(void **state)
{
	struct btf_ext *ext = (struct btf_ext *)1;
	struct btf *btf = btf__parse(path_of("kernel/btf/vmlinux"), &ext);

	assert_non_null(btf);
	assert_null(ext);
	struct btf *split = btf__parse_split(path_of("kernel/btf/mod"), btf);
	assert_non_null(split);
	assert_int_equal(btf__type_cnt(split), 4);
	btf__free(split);
	split = btf__parse_raw_split(path_of("kernel/btf/mod"), btf);
	assert_non_null(split);
	btf__free(split);
	btf__free(btf);
	btf = btf__parse_raw(path_of("kernel/btf/vmlinux"));
	assert_int_equal(btf__type_cnt(btf), 3);
	btf__free(btf);
}

static void says_why_not(void **state)
{
	assert_null(btf__parse(path_of("absent"), NULL));
	assert_int_equal(errno, ENOENT);
	assert_null(btf__parse(path_of("nonsense"), NULL));
	assert_int_equal(errno, EPROTO);
	assert_null(btf__parse(path_of("empty"), NULL));
	assert_int_equal(errno, EPROTO);
	assert_null(btf__parse(path_of("cut"), NULL));
	assert_int_equal(errno, EINVAL);
	assert_null(btf__parse_raw(path_of("nonsense")));
	assert_int_equal(errno, EINVAL);
	/* the module's alone: its types refer to the base's */
	assert_null(btf__parse_raw(path_of("kernel/btf/mod")));
	/* this program has no .BTF */
	assert_null(btf__parse("/proc/self/exe", NULL));
	assert_int_equal(errno, ENODATA);
	assert_null(btf__parse_elf("/proc/self/exe", NULL));
	assert_int_equal(errno, ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_copied_sysfs),
		cmocka_unit_test(reads_files),
		cmocka_unit_test(says_why_not),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
