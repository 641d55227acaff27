// SPDX-License-Identifier: BSD-2-Clause
/*
 * Objects opened and laid out with their first, second, third … allocation
 * failing, until all get through: the error is ENOMEM, and (under the
 * sanitizers) nothing leaks or is used that is not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/object/internal.h"
#include "lib/sys/sys.h"
#include "tests/unit/nomem.h"

static struct error *open_and_lay_out(const char *data, size_t size, const struct btf *types)
{
	_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;
	const long left = countdown;
	uint32_t raw_size;
	const void *raw = btf__raw_data(types, &raw_size);

	TRY(object_open_mem(data, size, NULL, NULL, &obj));
	/* What CO-RE relocates against is made ready without a failure. */
	const long then = countdown;
	countdown = -1;
	obj->btf_custom_path = strdup("types");
	obj->custom_btf = btf__new(raw, raw_size);
	countdown = left < 0 ? -1 : then;
	return programs_prepare(obj);
}

static void run(const char *name)
{
	const char *src = getenv("SRC");
	char path[512];
	char *data;
	size_t size;

	snprintf(path, sizeof(path), "%s/fuzz/corpus/object/%s", src ? src : ".", name);
	assert_null(sys_read_file(path, 1 << 20, &data, &size));
	struct btf *types = btf__parse_elf(path, NULL);
	assert_non_null(types);

	long n = 0;
	do {
		failed = false;
		countdown = n++;
		struct error *err = open_and_lay_out(data, size, types);
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

static void lack_of_memory_is_said(void **state)
{
	run("maps-19.o");
	run("legacy-14.o");
	run("core-19.o");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lack_of_memory_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
