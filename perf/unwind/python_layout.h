/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interpreters of Python in files: where the walk of stacks in the kernel finds the frames of
 * Python
 * (<bpf/perf_bpf_python.h>).
 */
#ifndef PB_PERF_UNWIND_PYTHON_LAYOUT_H
#define PB_PERF_UNWIND_PYTHON_LAYOUT_H

#include <bpf/perf_bpf_python_types.h>
#include <stdbool.h>

#include "lib/base/cursor.h"
#include "lib/elf/elf_read.h"

/* The members of perf_bpf_python_layout as numbers. */
#define PYTHON_LAYOUT_MEMBERS (sizeof(struct perf_bpf_python_layout) / sizeof(__u32))

/* Of CPython 3.minor; false: it is not in the table. */
bool python_layout_of(unsigned minor, struct perf_bpf_python_layout *out);

/*
 * From the _Py_DebugOffsets with which _PyRuntime begins since 3.13. *version is that of
 * PY_VERSION_HEX. false: there are none, of this version, that can be right.
 */
bool python_layout_published(struct cursor *at, uint32_t *version,
			     struct perf_bpf_python_layout *out);

struct python_interpreter {
	unsigned minor; /* of 3.minor */
	bool is_supported;
	/* Virtual addresses of the file. */
	uint64_t runtime, code_type, text_type;
	struct {
		uint64_t start, end;
	} eval[2]; /* the second one is empty if it is not known */
	struct perf_bpf_python_layout layout;
};

/* Whether the file is worth a look; by its sections and its name. */
bool python_may_be_in(const struct elf_file *file, const char *path);
/* The bytes that python_find() needs. */
bool python_wants(const struct elf_file *file, const struct elf_section *sec);
/* false: it does not have an interpreter. */
struct error *python_find(const struct elf_file *file, const char *path, bool *found,
			  struct python_interpreter *out);

#endif
