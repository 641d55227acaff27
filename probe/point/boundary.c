// SPDX-License-Identifier: BSD-2-Clause
/*
 * FUNC+OFFSET in a user's binary: the kernel puts its breakpoint wherever it is told, and one in
 * the middle of an instruction changes what the program does. So the function's code is read up to
 * there. Where the disassembler does not know an instruction, or there is none, nothing is said.
 */
#include "probe/point/internal.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include "disasm/disasm.h"
#include "lib/sys/open_file.h"

/* Instructions are no longer (Intel SDM, volume 2, 2.3.11). */
#define INSN_MAX 15
/* Functions are rarely so long. */
#define CODE_MAX (1u << 20)

/* The instruction that holds the byte at offset begins at *start, the next one at *end. */
static bool find_insn(const uint8_t *code, size_t n, uint64_t offset, uint64_t *start,
		      uint64_t *end)
{
	_cleanup_(disasm_machine_freep) struct disasm_machine *m = NULL;
	struct disasm_machine_insn insn;
	struct cursor c = cursor_make(code, n, "code");

	_cleanup_error_ struct error *none = disasm_machine_new(NULL, &m);
	if (none)
		return false;
	while (c.pos <= offset) {
		*start = c.pos;
		if (!disasm_machine_next(m, &c, c.pos, &insn) || insn.operation[0] == '.')
			return false;
		*end = c.pos;
	}
	return true;
}

/* The first bytes of a function, which are the caller's; *n 0: they cannot be read, or are too
 * many. */
static struct error *read_code(const struct probe_finder *finder, const struct user *user,
			       const struct user_func *func, uint8_t **out, size_t *n)
{
	_cleanup_free_ char *path =
		text_format("%s%s", finder->opts.symfs ? finder->opts.symfs : "", user_path(user));
	_cleanup_free_ uint8_t *code = NULL;
	_cleanup_close_ int fd = -1;

	*n = 0;
	if (!func->size || func->size > CODE_MAX)
		return NULL;
	code = malloc(func->size);
	if (!path || !code)
		return error_nomem();
	TRY(open_regular(path, NULL, &fd));
	const ssize_t got = pread(fd, code, func->size, (off_t)func->file_offset);
	if (got != (ssize_t)func->size)
		return NULL;
	*n = func->size;
	*out = steal_ptr(code);
	return NULL;
}

struct error *user_return_offsets(const struct probe_finder *finder, const struct user *user,
				  const struct user_func *func, struct return_offsets *out)
{
	_cleanup_(disasm_machine_freep) struct disasm_machine *m = NULL;
	_cleanup_free_ uint8_t *code = NULL;
	struct disasm_machine_insn insn;
	size_t n;

	if (regs_of(user_machine(user)) != regs_of(EM_NONE))
		return error_new(EOPNOTSUPP, "its code is of another machine");
	TRY(read_code(finder, user, func, &code, &n));
	TRY(disasm_machine_new(NULL, &m));
	for (struct cursor c = cursor_make(code, n, func->name); cursor_left(&c);) {
		const size_t at = c.pos;

		/* What is not known may be longer or shorter: all behind it is not sure. */
		if (!disasm_machine_next(m, &c, c.pos, &insn) || insn.operation[0] == '.')
			return error_new(EOPNOTSUPP, "the instruction at %s+%#zx is not known",
					 func->name, at);
		if (strcmp(insn.operation, "ret") && strcmp(insn.operation, "retq"))
			continue;
		uint64_t *slot = vec_push(out);
		if (!slot)
			return error_nomem();
		*slot = at;
	}
	if (!out->n)
		return error_new(ENOENT, "%s has no return instruction", func->name);
	return NULL;
}

struct error *user_check_boundary(const struct probe_finder *finder, const struct user *user,
				  const struct probe_point *point)
{
	_cleanup_free_ char *path =
		text_format("%s%s", finder->opts.symfs ? finder->opts.symfs : "", user_path(user));
	uint64_t start = 0, end = 0;

	if (!path)
		return error_nomem();
	if (regs_of(user_machine(user)) != regs_of(EM_NONE) || !point->offset ||
	    point->offset > CODE_MAX || point->offset > point->file_offset)
		return NULL;
	const size_t size = (size_t)point->offset + INSN_MAX;
	_cleanup_free_ uint8_t *code = malloc(size);
	if (!code)
		return error_nomem();
	_cleanup_close_ int fd = -1;
	TRY(open_regular(path, NULL, &fd));
	const ssize_t n = pread(fd, code, size, (off_t)(point->file_offset - point->offset));
	if (n <= 0 || !find_insn(code, (size_t)n, point->offset, &start, &end) ||
	    start == point->offset)
		return NULL;
	return error_hint(error_new(EILSEQ,
				    "%s+%llu is in the middle of an instruction: a probe there "
				    "would change the program's behavior",
				    point->shown ? point->shown : point->function,
				    (unsigned long long)point->offset),
			  "the nearest instructions begin at +%llu and +%llu",
			  (unsigned long long)start, (unsigned long long)end);
}
