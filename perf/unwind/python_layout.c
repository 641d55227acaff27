// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where the members of CPython's structures are. They are not part of its interface, but do not
 * change within a version 3.N. Since 3.13, an interpreter publishes them: its variable _PyRuntime
 * begins with a _Py_DebugOffsets, which is in the file as the compiler has written it.
 *
 * The numbers of the table are those of the headers of 3.9.18, 3.10.13, 3.11.2, 3.11.7 and 3.12.1
 * for 64-bit machines (internal/pycore_frame.h, pycore_interp.h, pycore_runtime.h, frameobject.h,
 * cpython/code.h, cpython/pystate.h, cpython/unicodeobject.h), as the compiler sees them with
 * Py_BUILD_CORE: tests/unit/test_python_layout.sh compares them with the headers that it finds.
 * Debug builds (python3.11d) have other structures, and are not supported.
 */
#include "perf/unwind/python_layout.h"

#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/util.h"

#define NONE PERF_BPF_PYTHON_NONE

static const struct {
	unsigned minor;
	struct perf_bpf_python_layout layout;
} layouts[] = {
	{9,
	 {.interpreters_head = 32,
	  .interpreter_next = 0,
	  .interpreter_threads = 8,
	  .thread_next = 8,
	  .thread_id = 176,
	  .thread_frame = 24,
	  .thread_cframe = NONE,
	  .cframe_frame = NONE,
	  .cframe_previous = NONE,
	  .frame_previous = 24,
	  .frame_code = 32,
	  .frame_is_entry = NONE,
	  .frame_owner = NONE,
	  .code_name = 112,
	  .code_file = 104,
	  .code_line = 40,
	  .object_type = 8,
	  .unicode_length = 16,
	  .unicode_state = 32,
	  .unicode_ascii = 48,
	  .unicode_compact = 72}},
	{10,
	 {.interpreters_head = 32,
	  .interpreter_next = 0,
	  .interpreter_threads = 8,
	  .thread_next = 8,
	  .thread_id = 176,
	  .thread_frame = 24,
	  .thread_cframe = 48,
	  .cframe_frame = NONE,
	  .cframe_previous = 8,
	  .frame_previous = 24,
	  .frame_code = 32,
	  .frame_is_entry = NONE,
	  .frame_owner = NONE,
	  .code_name = 112,
	  .code_file = 104,
	  .code_line = 40,
	  .object_type = 8,
	  .unicode_length = 16,
	  .unicode_state = 32,
	  .unicode_ascii = 48,
	  .unicode_compact = 72}},
	{11,
	 {.interpreters_head = 40,
	  .interpreter_next = 0,
	  .interpreter_threads = 16,
	  .thread_next = 8,
	  .thread_id = 152,
	  .thread_frame = NONE,
	  .thread_cframe = 56,
	  .cframe_frame = 8,
	  .cframe_previous = 16,
	  .frame_previous = 48,
	  .frame_code = 32,
	  .frame_is_entry = 68,
	  .frame_owner = NONE,
	  .code_name = 128,
	  .code_file = 112,
	  .code_line = 72,
	  .object_type = 8,
	  .unicode_length = 16,
	  .unicode_state = 32,
	  .unicode_ascii = 48,
	  .unicode_compact = 72}},
	{12,
	 {.interpreters_head = 40,
	  .interpreter_next = 0,
	  .interpreter_threads = 72,
	  .thread_next = 8,
	  .thread_id = 136,
	  .thread_frame = NONE,
	  .thread_cframe = 56,
	  .cframe_frame = 0,
	  .cframe_previous = 8,
	  .frame_previous = 8,
	  .frame_code = 0,
	  .frame_is_entry = NONE,
	  .frame_owner = 70,
	  .code_name = 128,
	  .code_file = 112,
	  .code_line = 68,
	  .object_type = 8,
	  .unicode_length = 16,
	  .unicode_state = 32,
	  .unicode_ascii = 40,
	  .unicode_compact = 56}},
};

bool python_layout_of(unsigned minor, struct perf_bpf_python_layout *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].minor == minor) {
			*out = layouts[i].layout;
			return true;
		}
	return false;
}

/* ---- what an interpreter publishes ---- */

/* The numbers behind the cookie, as struct _Py_DebugOffsets of 3.13 has them. */
enum published {
	VERSION,
	FREE_THREADED,
	RUNTIME_SIZE,
	RUNTIME_FINALIZING,
	RUNTIME_INTERPRETERS,
	INTERPRETER_SIZE,
	INTERPRETER_ID,
	INTERPRETER_NEXT,
	INTERPRETER_THREADS,
	THREAD_SIZE = INTERPRETER_THREADS + 10,
	THREAD_PREV,
	THREAD_NEXT,
	THREAD_INTERPRETER,
	THREAD_FRAME,
	THREAD_ID,
	FRAME_SIZE = THREAD_ID + 4,
	FRAME_PREVIOUS,
	FRAME_EXECUTABLE,
	FRAME_INSTRUCTION,
	FRAME_LOCALS,
	FRAME_OWNER,
	CODE_SIZE,
	CODE_FILE,
	CODE_NAME,
	CODE_QUALIFIED_NAME,
	CODE_LINE_TABLE,
	CODE_LINE,
	OBJECT_SIZE = CODE_LINE + 5,
	OBJECT_TYPE,
	UNICODE_SIZE = OBJECT_TYPE + 22,
	UNICODE_STATE,
	UNICODE_LENGTH,
	UNICODE_ASCII,
	N_PUBLISHED,
};

/* Whether a member of so many bytes is in its structure, and where it may be. */
static bool is_inside(const uint64_t *v, enum published member, enum published size, unsigned bytes)
{
	return v[size] <= 1u << 24 && v[member] % bytes == 0 && v[member] <= v[size] &&
	       v[size] - v[member] >= bytes;
}

static bool is_possible(const uint64_t *v)
{
	return is_inside(v, RUNTIME_INTERPRETERS, RUNTIME_SIZE, 8) &&
	       is_inside(v, INTERPRETER_NEXT, INTERPRETER_SIZE, 8) &&
	       is_inside(v, INTERPRETER_THREADS, INTERPRETER_SIZE, 8) &&
	       is_inside(v, THREAD_NEXT, THREAD_SIZE, 8) &&
	       is_inside(v, THREAD_FRAME, THREAD_SIZE, 8) &&
	       is_inside(v, THREAD_ID, THREAD_SIZE, 8) &&
	       is_inside(v, FRAME_PREVIOUS, FRAME_SIZE, 8) &&
	       is_inside(v, FRAME_EXECUTABLE, FRAME_SIZE, 8) &&
	       is_inside(v, FRAME_OWNER, FRAME_SIZE, 1) && is_inside(v, CODE_FILE, CODE_SIZE, 8) &&
	       is_inside(v, CODE_QUALIFIED_NAME, CODE_SIZE, 8) &&
	       is_inside(v, CODE_LINE, CODE_SIZE, 4) && is_inside(v, OBJECT_TYPE, OBJECT_SIZE, 8) &&
	       is_inside(v, UNICODE_STATE, UNICODE_SIZE, 4) &&
	       is_inside(v, UNICODE_LENGTH, UNICODE_SIZE, 8) && v[UNICODE_ASCII] % 8 == 0 &&
	       v[UNICODE_ASCII] >= 16 && v[UNICODE_ASCII] <= 256;
}

bool python_layout_published(struct cursor *at, uint32_t *version,
			     struct perf_bpf_python_layout *out)
{
	const char *cookie = cursor_bytes(at, 8);
	uint64_t v[N_PUBLISHED];

	for (size_t i = 0; cookie && i < N_PUBLISHED; i++)
		if (!cursor_u64(at, &v[i]))
			return false;
	if (!cookie || memcmp(cookie, "xdebugpy", 8) || v[VERSION] >> 16 != 0x030d ||
	    !is_possible(v))
		return false;
	*version = (uint32_t)v[VERSION];
	*out = (struct perf_bpf_python_layout){
		.interpreters_head = (uint32_t)v[RUNTIME_INTERPRETERS],
		.interpreter_next = (uint32_t)v[INTERPRETER_NEXT],
		.interpreter_threads = (uint32_t)v[INTERPRETER_THREADS],
		.thread_next = (uint32_t)v[THREAD_NEXT],
		.thread_id = (uint32_t)v[THREAD_ID],
		.thread_frame = (uint32_t)v[THREAD_FRAME],
		.thread_cframe = NONE,
		.cframe_frame = NONE,
		.cframe_previous = NONE,
		.frame_previous = (uint32_t)v[FRAME_PREVIOUS],
		.frame_code = (uint32_t)v[FRAME_EXECUTABLE],
		.frame_is_entry = NONE,
		.frame_owner = (uint32_t)v[FRAME_OWNER],
		.code_name = (uint32_t)v[CODE_QUALIFIED_NAME],
		.code_file = (uint32_t)v[CODE_FILE],
		.code_line = (uint32_t)v[CODE_LINE],
		.object_type = (uint32_t)v[OBJECT_TYPE],
		.unicode_length = (uint32_t)v[UNICODE_LENGTH],
		.unicode_state = (uint32_t)v[UNICODE_STATE],
		.unicode_ascii = (uint32_t)v[UNICODE_ASCII],
		/* Behind it are the size and the address of a text in UTF-8. */
		.unicode_compact = (uint32_t)v[UNICODE_ASCII] + 16,
	};
	return true;
}

/* ---- files ---- */

#define EVAL	    "_PyEval_EvalFrameDefault"
#define MAX_SECTION (64u << 20)
#define MAX_EVAL    (16u << 20) /* bytes of code */

/* "python3.11", "libpython3.11.so.1.0"; what follows the number is not a letter, as of python3.11d.
 */
static bool version_of_name(const char *path, unsigned *minor)
{
	const char *slash = strrchr(path, '/');
	const char *at = slash ? slash + 1 : path;

	at += strncmp(at, "lib", 3) ? 0 : 3;
	if (strncmp(at, "python3.", 8))
		return false;
	at += 8;
	for (*minor = 0; *at >= '0' && *at <= '9' && *minor < 100; at++)
		*minor = *minor * 10 + (unsigned)(*at - '0');
	return *minor && (!*at || *at == '.');
}

bool python_may_be_in(const struct elf_file *file, const char *path)
{
	unsigned minor;

	/* Where _PyRuntime is since 3.10. */
	return pb_elf_section_find(file, ".PyRuntime") || version_of_name(path, &minor);
}

bool python_wants(const struct elf_file *file, const struct elf_section *sec)
{
	static const char *const names[] = {".symtab", ".strtab", ".dynsym",
					    ".dynstr", ".rodata", ".PyRuntime"};

	if (sec->size > MAX_SECTION || sec->flags & SHF_COMPRESSED)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(sec->name, names[i]))
			return true;
	return sec->type == SHT_NOTE;
}

struct python_symbols {
	struct elf_symbol eval, cold, runtime, code_type, text_type, version;
};

static void take_symbol(const struct elf_symbol *sym, struct python_symbols *out)
{
	static const struct {
		const char *name;
		size_t offset;
	} names[] = {
		{EVAL, offsetof(struct python_symbols, eval)},
		{"_PyRuntime", offsetof(struct python_symbols, runtime)},
		{"PyCode_Type", offsetof(struct python_symbols, code_type)},
		{"PyUnicode_Type", offsetof(struct python_symbols, text_type)},
		{"Py_Version", offsetof(struct python_symbols, version)},
	};

	/* There are many symbols. */
	if (sym->name[0] != 'P' && sym->name[0] != '_')
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(sym->name, names[i].name))
			*(struct elf_symbol *)((char *)out + names[i].offset) = *sym;
	if (!strncmp(sym->name, EVAL ".cold", strlen(EVAL ".cold")))
		out->cold = *sym;
}

static struct error *find_symbols(const struct elf_file *file, uint32_t type,
				  struct python_symbols *out)
{
	const struct elf_section *symtab = pb_elf_section_by_type(file, type);
	struct elf_symbol sym;

	if (!symtab || !symtab->data)
		return NULL;
	const size_t n = pb_elf_symbol_count(file, symtab);
	for (size_t i = 0; i < n; i++) {
		TRY(pb_elf_symbol_at(file, symtab, i, &sym));
		if (sym.section != SHN_UNDEF)
			take_symbol(&sym, out);
	}
	return NULL;
}

/* The bytes of a variable. */
static struct cursor bytes_at(const struct elf_file *file, const struct elf_symbol *sym)
{
	for (size_t i = 0; sym->value && i < pb_elf_section_count(file); i++) {
		const struct elf_section *sec = pb_elf_section_at(file, i);
		struct cursor c = pb_elf_section_cursor(file, sec);

		if (sec->data && sec->flags & SHF_ALLOC && sym->value >= sec->addr &&
		    sym->value - sec->addr < sec->size &&
		    cursor_seek(&c, (size_t)(sym->value - sec->addr)))
			return c;
	}
	return cursor_make(NULL, 0, NULL);
}

static bool find_layout(const struct elf_file *file, const char *path,
			const struct python_symbols *symbols, struct python_interpreter *out)
{
	struct cursor published = bytes_at(file, &symbols->runtime);
	struct cursor at = bytes_at(file, &symbols->version);
	uint32_t version = 0;

	if (python_layout_published(&published, &version, &out->layout)) {
		out->minor = version >> 16 & 0xff;
		return true;
	}
	if (cursor_u32(&at, &version))
		out->minor = version >> 24 == 3 ? version >> 16 & 0xff : 0;
	else if (!version_of_name(path, &out->minor))
		out->minor = 0;
	return python_layout_of(out->minor, &out->layout);
}

struct error *python_find(const struct elf_file *file, const char *path, bool *found,
			  struct python_interpreter *out)
{
	struct python_symbols symbols = {0};
	struct python_interpreter python = {0};

	TRY(find_symbols(file, SHT_DYNSYM, &symbols));
	TRY(find_symbols(file, SHT_SYMTAB, &symbols));
	*found = symbols.eval.size && symbols.eval.size <= MAX_EVAL && symbols.runtime.value &&
		 symbols.code_type.value && symbols.text_type.value;
	if (!*found)
		return NULL;
	python.is_supported = find_layout(file, path, &symbols, &python);
	python.runtime = symbols.runtime.value;
	python.code_type = symbols.code_type.value;
	python.text_type = symbols.text_type.value;
	python.eval[0].start = symbols.eval.value;
	python.eval[0].end = symbols.eval.value + symbols.eval.size;
	if (symbols.cold.size <= MAX_EVAL) {
		python.eval[1].start = symbols.cold.value;
		python.eval[1].end = symbols.cold.value + symbols.cold.size;
	}
	*out = python;
	return NULL;
}
