// SPDX-License-Identifier: BSD-2-Clause
/* Interpreters of Python in hostile files: ELF files, else what _PyRuntime begins with. */
#include <string.h>

#include "perf/unwind/python_layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_layout(const struct perf_bpf_python_layout *layout)
{
	const __u32 *member = (const __u32 *)layout;

	for (size_t i = 0; i < PYTHON_LAYOUT_MEMBERS; i++)
		if (member[i] > 1u << 24 && member[i] != PERF_BPF_PYTHON_NONE)
			__builtin_trap();
}

static void find(const uint8_t *data, size_t size)
{
	_cleanup_elf_ struct elf_file *file = NULL;
	struct python_interpreter python = {0};
	bool found = false;
	struct error *err = pb_elf_file_open_mem(data, size, "python3.11", &file);

	if (!err && python_may_be_in(file, "python3.11"))
		err = python_find(file, "python3.11", &found, &python);
	error_free(err);
	if (!found)
		return;
	if (python.eval[0].end - python.eval[0].start > 16u << 20 ||
	    python.eval[1].end - python.eval[1].start > 16u << 20)
		__builtin_trap();
	if (python.is_supported)
		check_layout(&python.layout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_bpf_python_layout layout;
	uint32_t version;

	if (size >= 4 && !memcmp(data, ELFMAG, 4)) {
		find(data, size);
		return 0;
	}
	struct cursor c = cursor_make(data, size, NULL);
	if (python_layout_published(&c, &version, &layout))
		check_layout(&layout);
	return 0;
}
