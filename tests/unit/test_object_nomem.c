// SPDX-License-Identifier: BSD-2-Clause
/*
 * Objects opened and laid out with their first, second, third … allocation
 * failing, until all get through: the error is ENOMEM, and (under the
 * sanitizers) nothing leaks or is used that is not there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/object/prepare.h"
#include "lib/sys/sys.h"
#include "tests/unit/nomem.h"

/* file: the same bytes, of which parts are read; NULL: from memory */
static struct error *open_and_lay_out(const char *data, size_t size, const char *file,
				      const struct btf *types)
{
	_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;
	const long left = countdown;
	uint32_t raw_size;
	const void *raw = btf__raw_data(types, &raw_size);

	TRY(file ? object_open_file(file, NULL, NULL, &obj)
		 : object_open_mem(data, size, NULL, NULL, &obj));
	/* What CO-RE relocates against is made ready without a failure. */
	const long then = countdown;
	countdown = -1;
	obj->btf_custom_path = strdup("types");
	obj->custom_btf = btf__new(raw, raw_size);
	countdown = left < 0 ? -1 : then;
	return programs_prepare(obj);
}

/* Long enough that not all of it is read. */
#define PARTS_FROM (20 * 1024)

static void run(const char *name, bool as_file)
{
	const char *src = getenv("SRC");
	_cleanup_close_ int fd = memfd_create("object", MFD_CLOEXEC);
	char path[512], file[64];
	char *data;
	size_t size;

	snprintf(path, sizeof(path), "%s/fuzz/corpus/object/%s", src ? src : ".", name);
	assert_null(sys_read_file(path, 1 << 20, &data, &size));
	struct btf *types = btf__parse_elf(path, NULL);
	assert_non_null(types);
	/* Of the other byte order it is made now. */
	uint32_t raw_size;
	assert_non_null(btf__raw_data(types, &raw_size));

	assert_int_equal(write(fd, data, size), size);
	assert_int_equal(ftruncate(fd, PARTS_FROM), 0);
	snprintf(file, sizeof(file), "/proc/self/fd/%d", fd);

	long n = 0;
	do {
		failed = false;
		countdown = n++;
		struct error *err = open_and_lay_out(data, size, as_file ? file : NULL, types);
		countdown = -1;
		if (failed && err) {
			if (err->code != ENOMEM)
				fail_msg("allocation %ld: %s: %s", n, err->where, err->msg);
		} else if (err) {
			fail_msg("%s: %s: %s", name, err->where, err->msg);
		}
		error_free(err);
	} while (failed);
	assert_true(n > 20);
	btf__free(types);
	free(data);
}

TEST(lack_of_memory_is_said)
{
	for (int as_file = 0; as_file < 2; as_file++) {
		run("maps-19.o", as_file);
		run("legacy-14.o", as_file);
		run("core-19.o", as_file);
		run("struct_ops-19.o", as_file);
		run("core-big.o", as_file);
	}
}
