// SPDX-License-Identifier: BSD-2-Clause
/*
 * Points in a user's binary on which the kernel puts no uprobe, though it lets
 * one attach there: nothing would be recorded, and nobody would be told. Their
 * instructions are read from the file (lib/attach/uprobe_insn.h).
 *
 * The next instruction is no substitute. A loop may jump back to it, so that it
 * runs more often than the point; and what the refused instruction writes,
 * arguments in memory among it, has another value there. It is a hint.
 */
#include "probe/point/internal.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "disasm/disasm.h"
#include "lib/attach/uprobe_insn.h"
#include "lib/sys/open_file.h"

/* Code that is read from a point on, to find an instruction that can be probed. */
#define CODE_AHEAD (8 * UPROBE_INSN_MAX)

/* The instruction as text, or its first bytes if nothing disassembles it; c moves behind it. */
static bool insn_text(struct disasm_machine *m, struct cursor *c, uint64_t address,
		      struct strbuf *out)
{
	struct disasm_machine_insn insn;

	if (m && disasm_machine_next(m, c, address, &insn) && insn.operation[0] != '.') {
		strbuf_addf(out, "%s%s%s", insn.operation, *insn.operands ? " " : "",
			    insn.operands);
		return true;
	}
	for (size_t i = 0; i < 4 && i < c->size; i++)
		strbuf_addf(out, "%s%02x", i ? " " : "", c->base[i]);
	return false;
}

/* How far behind the point's instruction the first one begins that can be probed; 0: not known. */
static uint64_t find_next(struct disasm_machine *m, uint16_t machine, struct cursor *c,
			  uint64_t address)
{
	struct disasm_machine_insn insn;

	while (cursor_left(c) >= UPROBE_INSN_MAX) {
		if (!uprobe_insn_obstacle(machine, c->base + c->pos, cursor_left(c)))
			return c->pos;
		if (!disasm_machine_next(m, c, address + c->pos, &insn) || insn.operation[0] == '.')
			return 0;
	}
	return 0;
}

static struct error *refuse_insn(struct disasm_machine *m, uint16_t machine, const uint8_t *code,
				 size_t n, struct probe_point *point)
{
	const char *why = uprobe_insn_obstacle(machine, code, n);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct cursor c = cursor_make(code, n, "code");

	if (!why)
		return NULL;
	if (insn_text(m, &c, point->address, &text))
		point->next_offset = find_next(m, machine, &c, point->address);
	point->refused =
		text_format("cannot place a uprobe on the %sinstruction '%s': %s",
			    point->at_return ? "function's first " : "", strbuf_str(&text), why);
	return point->refused ? NULL : error_nomem();
}

struct error *user_refuse_points(const struct probe_finder *finder, const struct user *user,
				 struct probe_points *points)
{
	_cleanup_free_ char *path =
		text_format("%s%s", finder->opts.symfs ? finder->opts.symfs : "", user_path(user));
	const struct disasm_machine_opts opts = {.machine = points->machine};
	_cleanup_(disasm_machine_freep) struct disasm_machine *m = NULL;
	_cleanup_close_ int fd = -1;

	if (!path)
		return error_nomem();
	/* Without one, errors have bytes. */
	error_free(disasm_machine_new(&opts, &m));
	TRY(open_regular(path, NULL, &fd));
	for (size_t i = 0; i < points->n; i++) {
		struct probe_point *point = &points->v[i];
		uint8_t code[CODE_AHEAD];

		const char *why = user_no_code(user, point->address);
		if (why) {
			point->refused = strdup(why);
			if (!point->refused)
				return error_nomem();
			continue;
		}
		const ssize_t n = pread(fd, code, sizeof(code), (off_t)point->file_offset);
		if (n > 0)
			TRY(refuse_insn(m, points->machine, code, (size_t)n, point));
	}
	return NULL;
}

static const char *shown_as(const struct probe_point *point)
{
	return point->shown ? point->shown : point->function;
}

struct error *probe_points_refused(const struct probe_points *points)
{
	const struct probe_point *first = points->n ? &points->v[0] : NULL;

	for (size_t i = 0; i < points->n; i++)
		if (!points->v[i].refused)
			return NULL;
	if (!first)
		return NULL;
	struct error *err = error_new(EOPNOTSUPP, "%s: %s", shown_as(first), first->refused);
	if (points->n > 1)
		err = error_prefix(err, "none of the %zu probe points can be used", points->n);
	if (!first->next_offset)
		return err;
	return error_hint(err,
			  "the next instruction that can be probed is %s+%" PRIu64
			  "; jumps may reach it more often than the function is called",
			  shown_as(first), first->offset + first->next_offset);
}

struct error *probe_points_drop_refused(struct probe_points *points, const struct log *log)
{
	_cleanup_left_out_ struct left_out out = {0};
	size_t kept = 0;

	TRY(probe_points_refused(points));
	for (size_t i = 0; i < points->n; i++) {
		const struct probe_point *point = &points->v[i];
		_cleanup_free_ char *name = NULL;

		if (!point->refused)
			continue;
		name = point->offset ? text_format("%s+%" PRIu64, shown_as(point), point->offset)
				     : strdup(shown_as(point));
		if (!name)
			return error_nomem();
		left_out_add(&out, log, name, NULL, point->refused);
	}
	left_out_tell(&out, log, LOG_WARN);
	for (size_t i = 0; i < points->n; i++) {
		if (points->v[i].refused)
			point_deinit(&points->v[i], points->n_args);
		else
			points->v[kept++] = points->v[i];
	}
	points->n = kept;
	return NULL;
}
