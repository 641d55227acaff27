// SPDX-License-Identifier: BSD-2-Clause
/*
 * A branch record says from where to where, so the code between the end of one branch and the start
 * of the next has run in a line: a block. It is printed instruction by instruction, from the files
 * that ran. Where the instructions do not lead to the start of the next branch, the file is another
 * one, or a branch is missing.
 *
 * A recording may say that anything is a block: what is printed for one sample has a limit.
 */
#include "perf/print/sample_code.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>

#include "disasm/disasm.h"
#include "lib/base/plain_text.h"
#include "perf/print/json_line.h"
#include "perf/print/sample_access.h"
#include "perf/resolve/code_bytes.h"
#include "perf/resolve/line_text.h"
#include "perf/resolve/source_text.h"

#define MAX_INSN  15	/* bytes of one instruction */
#define MAX_BLOCK 16384 /* bytes, as perf has it */
/* Lines of one sample; 32 branches have some hundred. */
#define MAX_LINES 65536

/* The last source line of a thread. */
struct last_line {
	const char *file;
	uint32_t line;
};

struct sample_code {
	struct code_files files;
	struct u64map absent; /* struct dso * of those whose code cannot be read */
	struct disasm_machine *disassembler;
	uint16_t machine; /* that it is for */
	struct source_texts texts;
	struct u64map last_lines; /* of each thread; struct last_line * in arena */
	struct arena arena;
	size_t n_lines; /* that were printed for the sample */
};

struct error *sample_code_new(const struct field_choice *fields, struct sample_code **out)
{
	_cleanup_(disasm_machine_freep) struct disasm_machine *test = NULL;

	if (field_choice_has(fields, FIELD_DISASM | FIELD_BRSTACKDISASM))
		TRY(disasm_machine_new(&(struct disasm_machine_opts){.machine = EM_X86_64}, &test));
	struct sample_code *code = calloc(1, sizeof(*code));
	if (!code)
		return error_nomem();
	*out = code;
	return NULL;
}

void sample_code_free(struct sample_code *code)
{
	if (!code)
		return;
	code_files_deinit(&code->files);
	u64map_deinit(&code->absent);
	disasm_machine_free(code->disassembler);
	source_texts_deinit(&code->texts);
	u64map_deinit(&code->last_lines);
	arena_deinit(&code->arena);
	free(code);
}

/* ---- one instruction ---- */

static uint8_t mode_of(uint64_t addr)
{
	return addr >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
}

/* The code from an address on; false: it is not there. */
static bool find_code(struct script_printer *p, const struct thread *thread, uint64_t addr,
		      struct code_bytes *out)
{
	struct sample_code *code = p->code;
	struct location at;

	if (!addr || !p->opts.resolver)
		return false;
	resolve_addr(p->opts.resolver, thread, mode_of(addr), addr, &at);
	if (!at.map || !at.map->dso)
		return false;
	const uint64_t key = (uintptr_t)at.map->dso;
	if (u64map_get(&code->absent, key))
		return false;
	struct error *err = code_bytes_find(&code->files, p->opts.resolver, &at, out);
	if (!err)
		return true;
	/* Another address of the same program may have code; a file that is not there never has. */
	if (err->code != ENODATA && !u64map_put(&code->absent, key, code))
		log_info(p->opts.log, "out of memory while noting that %s has no code",
			 at.map->dso->path);
	error_free(err);
	return false;
}

static bool is_x86(uint16_t machine)
{
	return machine == EM_X86_64 || machine == EM_386;
}

/* 0: it is not an instruction. */
static size_t insn_length(const struct code_bytes *at)
{
	if (is_x86(at->machine))
		return disasm_x86_length(at->bytes, at->size, at->machine == EM_X86_64);
	return at->size >= 4 ? 4 : 0;
}

static void add_bytes(const uint8_t *bytes, size_t n, struct strbuf *out)
{
	for (size_t i = 0; i < n; i++)
		strbuf_addf(out, "%s%02x", i ? " " : "", bytes[i]);
}

static struct disasm_machine *disassembler_for(struct sample_code *code, uint16_t machine)
{
	const struct disasm_machine_opts opts = {.machine = machine};

	if (!machine || (code->disassembler && code->machine == machine))
		return code->disassembler;
	disasm_machine_free(code->disassembler);
	code->disassembler = NULL;
	code->machine = machine;
	error_free(disasm_machine_new(&opts, &code->disassembler));
	return code->disassembler;
}

/* "mov %rsp,%rbp", "callq main+0x10"; with_address also " [0x1234]". false: it is not known. */
static bool add_text(struct script_printer *p, const struct thread *thread,
		     const struct code_bytes *at, uint64_t addr, bool with_address,
		     struct strbuf *out)
{
	struct disasm_machine *m = disassembler_for(p->code, at->machine);
	struct cursor c = cursor_make(at->bytes, min_of(at->size, (size_t)MAX_INSN), "code");
	struct disasm_machine_insn insn;
	struct location target = {0};

	if (!m || !disasm_machine_next(m, &c, addr, &insn) || insn.operation[0] == '.')
		return false;
	strbuf_addf(out, "%s ", insn.operation);
	if (insn.has_target && is_x86(at->machine))
		resolve_addr(p->opts.resolver, thread, mode_of(addr), insn.target, &target);
	if (!target.sym) {
		strbuf_adds(out, insn.operands);
		return true;
	}
	plain_adds(out, target.sym->name);
	if (target.offset)
		strbuf_addf(out, "+0x%" PRIx64, target.offset);
	if (with_address)
		strbuf_addf(out, " [0x%" PRIx64 "]", insn.target);
	return true;
}

/* What is printed of the instruction of a sample; 0: nothing. */
static size_t sample_insn(struct script_printer *p, const struct sample *sample,
			  const struct thread *thread, struct code_bytes *at)
{
	if (!find_code(p, thread, sample->ip, at))
		return 0;
	const size_t len = insn_length(at);
	return len ? len : min_of(at->size, (size_t)MAX_INSN);
}

static void print_sample_insn(struct script_printer *p, const struct sample *sample,
			      const struct thread *thread, uint64_t fields, struct strbuf *out)
{
	struct code_bytes at;
	const size_t len = sample_insn(p, sample, thread, &at);

	if (fields & FIELD_INSNLEN)
		strbuf_addf(out, " ilen: %zu", len);
	if (fields & FIELD_INSN && len) {
		strbuf_adds(out, " insn: ");
		add_bytes(at.bytes, len, out);
	}
	if (fields & FIELD_DISASM && len) {
		strbuf_adds(out, "\t\t");
		if (!add_text(p, thread, &at, sample->ip, false, out))
			add_bytes(at.bytes, len, out);
	}
}

void print_code_json(struct script_printer *p, const struct sample *sample,
		     const struct thread *thread, uint64_t fields, struct json_writer *w)
{
	struct code_bytes at;
	const size_t len = sample_insn(p, sample, thread, &at);

	if (!len)
		return;
	if (fields & FIELD_INSNLEN)
		jw_u64(w, "insn_len", len);
	strbuf_reset(&p->text);
	add_bytes(at.bytes, len, &p->text);
	if (fields & FIELD_INSN)
		jw_text(w, "insn", strbuf_str(&p->text));
	strbuf_reset(&p->text);
	if (fields & FIELD_DISASM && add_text(p, thread, &at, sample->ip, false, &p->text))
		jw_text(w, "disasm", strbuf_str(&p->text));
}

/* ---- source code ---- */

static void add_source_line(struct script_printer *p, const struct location *at,
			    const struct thread *thread, struct strbuf *out)
{
	const uint64_t key = (uint64_t)(uint32_t)thread->pid << 32 | (uint32_t)thread->tid;
	struct sample_code *code = p->code;
	struct last_line *last = u64map_get(&code->last_lines, key);
	struct location place = *at;
	const char *file;
	uint32_t line;

	place.sym = NULL;
	if (!at->map || !resolve_line(p->opts.resolver, &place, false, &file, &line))
		return;
	if (last && last->line == line && !strcmp(last->file, file))
		return;
	const char *text = source_texts_line(&code->texts, file, resolve_line_author(at), line);
	if (!text)
		return;
	strbuf_addf(out, "|%-8" PRIu32 " ", line);
	const size_t from = out->len;
	strbuf_adds(out, text);
	plain_since(out, from, true);
	strbuf_addch(out, '\n');
	if (!last)
		last = arena_alloc(&code->arena, sizeof(*last));
	if (!last || !u64map_put(&code->last_lines, key, last))
		out->failed = true;
	else
		*last = (struct last_line){file, line};
}

static void add_source(struct script_printer *p, const struct sample *sample,
		       const struct thread *thread, struct json_writer *w)
{
	struct location at;
	const char *file, *text;
	uint32_t line;

	resolve_addr(p->opts.resolver, thread, sample->cpumode, sample->ip, &at);
	at.sym = NULL; /* as perf */
	if (!at.map || !resolve_line(p->opts.resolver, &at, false, &file, &line))
		return;
	jw_array(w, "source");
	jw_text(w, NULL, file);
	jw_u64(w, NULL, line);
	if (p->opts.python_fields & FIELD_SRCCODE) {
		text = source_texts_line(&p->code->texts, file, resolve_line_author(&at), line);
		if (text)
			jw_text(w, NULL, text);
	}
	jw_end(w);
}

void print_code_python(struct script_printer *p, const struct sample *sample,
		       const struct thread *thread, struct json_writer *w)
{
	struct code_bytes at;
	size_t len;

	if (!p->opts.resolver || !thread)
		return;
	if (p->opts.python_fields & FIELD_INSN && (len = sample_insn(p, sample, thread, &at)))
		add_hex_bytes(w, "insn", at.bytes, len);
	if (p->opts.python_fields & (FIELD_SRCLINE | FIELD_SRCCODE))
		add_source(p, sample, thread, w);
}

void print_source_code(struct script_printer *p, const struct sample *sample,
		       const struct thread *thread, struct strbuf *out)
{
	struct location at;

	if (!p->opts.resolver || !thread)
		return;
	resolve_addr(p->opts.resolver, thread, sample->cpumode, sample->ip, &at);
	add_source_line(p, &at, thread, out);
}

/* ---- the blocks between branches ---- */

/* What the lines of one sample are made with. */
struct block_printer {
	struct script_printer *p;
	const struct thread *thread;
	uint64_t fields;
	struct strbuf *out;
	const struct symbol *last_sym;
	unsigned cycles; /* of all branches so far */
};

/* The code from start to end and one instruction more. */
enum block { BLOCK_FOUND, BLOCK_ABSENT, BLOCK_CROSSES };

static enum block find_block(const struct block_printer *b, uint64_t start, uint64_t end,
			     struct code_bytes *at)
{
	if (!start || !end)
		return BLOCK_ABSENT;
	if (mode_of(start) != mode_of(end))
		return BLOCK_CROSSES;
	if (end - start > MAX_BLOCK - MAX_INSN || !find_code(b->p, b->thread, start, at))
		return BLOCK_ABSENT;
	at->size = min_of(at->size, (size_t)(end - start) + MAX_INSN);
	return BLOCK_FOUND;
}

static void add_line_of(const struct block_printer *b, const struct location *at,
			const char *before, const char *after)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct location place = *at;

	place.sym = NULL;
	if (!(b->fields & FIELD_SRCLINE))
		return;
	if (at->map)
		line_text(b->p->opts.resolver, &place, NULL, b->p->opts.full_paths, &text);
	if (at->map && strcmp(strbuf_str(&text), "??:0")) {
		strbuf_adds(b->out, before);
		plain_adds(b->out, strbuf_str(&text));
	}
	strbuf_adds(b->out, after);
	b->out->failed |= strbuf_failed(&text);
}

/* "\tmain+12:\n", if it is not the function of the line before. */
static void add_function(struct block_printer *b, uint64_t addr)
{
	struct location at;

	resolve_addr(b->p->opts.resolver, b->thread, mode_of(addr), addr, &at);
	if (!at.sym || at.sym == b->last_sym)
		return;
	strbuf_addch(b->out, '\t');
	plain_adds(b->out, at.sym->name);
	if (at.offset)
		strbuf_addf(b->out, "+%" PRIu64, at.offset);
	strbuf_addch(b->out, ':');
	add_line_of(b, &at, "\t", "");
	strbuf_addch(b->out, '\n');
	b->last_sym = at.sym;
}

/* "\t0000000000401136\tinsn: 74 21 "; the length of the instruction, 0: not known. */
static size_t add_insn(struct block_printer *b, const struct code_bytes *at, uint64_t addr,
		       size_t width)
{
	const size_t len = insn_length(at);

	b->p->code->n_lines++;
	strbuf_addf(b->out, "\t%016" PRIx64 "\t", addr);
	const size_t from = b->out->len;
	if (!(b->fields & FIELD_BRSTACKDISASM) ||
	    !add_text(b->p, b->thread, at, addr, true, b->out)) {
		strbuf_adds(b->out, len ? "insn: " : "<bad>");
		for (size_t i = 0; i < len; i++)
			strbuf_addf(b->out, "%02x ", at->bytes[i]);
	}
	while (!strbuf_failed(b->out) && b->out->len - from < width)
		strbuf_addch(b->out, ' ');
	return len;
}

static void add_block_source(struct block_printer *b, uint64_t addr)
{
	struct location at;

	if (!(b->fields & FIELD_SRCCODE))
		return;
	resolve_addr(b->p->opts.resolver, b->thread, mode_of(addr), addr, &at);
	add_source_line(b->p, &at, b->thread, b->out);
}

/* The line of an instruction that does not branch; its length. */
static size_t add_plain_insn(struct block_printer *b, const struct code_bytes *at, uint64_t addr)
{
	const size_t len = add_insn(b, at, addr, 0);

	if (b->fields & FIELD_BRSTACKINSNLEN)
		strbuf_addf(b->out, "\tilen: %zu", len);
	strbuf_addch(b->out, '\n');
	return len;
}

/* The line of a branch; n: instructions of its block, 0: not known. */
static void add_branch(struct block_printer *b, const struct code_bytes *at,
		       const struct branch *branch, unsigned n)
{
	struct location place;
	const size_t len = add_insn(b, at, branch->from, 30);

	strbuf_addch(b->out, '\t');
	if (b->fields & FIELD_BRSTACKINSNLEN)
		strbuf_addf(b->out, "ilen: %zu\t", len);
	resolve_addr(b->p->opts.resolver, b->thread, mode_of(branch->from), branch->from, &place);
	add_line_of(b, &place, " srcline: ", "\t");
	strbuf_addf(b->out, "#%s%s%s%s", branch->predicted ? " PRED" : "",
		    branch->mispredicted ? " MISPRED" : "", branch->in_transaction ? " INTX" : "",
		    branch->aborts ? " ABORT" : "");
	if (branch->cycles) {
		b->cycles += branch->cycles;
		strbuf_addf(b->out, " %u cycles [%u]", branch->cycles, b->cycles);
		if (n)
			strbuf_addf(b->out, " %.2f IPC",
				    (double)((float)n / (float)branch->cycles));
	}
	strbuf_addch(b->out, '\n');
	add_block_source(b, branch->from);
}

static void skip_code(struct code_bytes *at, size_t n)
{
	at->bytes += n;
	at->size -= n;
}

/* From the end of one branch to the start of the next. */
static void add_block(struct block_printer *b, struct code_bytes *at, uint64_t start,
		      const struct branch *branch)
{
	uint64_t addr = start;
	unsigned n = 0;

	while (at->size && b->p->code->n_lines < MAX_LINES) {
		add_function(b, addr);
		if (addr == branch->from) {
			add_branch(b, at, branch, ++n);
			break;
		}
		const size_t len = add_plain_insn(b, at, addr);
		if (!len)
			break;
		add_block_source(b, addr);
		n++;
		addr += len;
		skip_code(at, len);
	}
	if (addr != branch->from)
		strbuf_adds(b->out, "\tmismatch of LBR data and executable\n");
}

/* From the end of the last branch to the sample. */
static void add_last_block(struct block_printer *b, const struct sample *sample,
			   const struct session_event *event, uint64_t start)
{
	const uint64_t kinds = event->attr.branch_sample_type;
	/* A branch is missing: look for the next. */
	const uint64_t end = sample->ip < start ? start + 128 : sample->ip;
	struct code_bytes at;

	const enum block found = find_block(b, start, end, &at);
	add_function(b, start);
	if (found != BLOCK_FOUND) {
		if (find_block(b, sample->ip, sample->ip, &at) != BLOCK_FOUND)
			return;
		add_plain_insn(b, &at, sample->ip);
		add_block_source(b, sample->ip);
		return;
	}
	for (uint64_t addr = start; addr <= end && at.size && b->p->code->n_lines < MAX_LINES;) {
		const size_t len = add_plain_insn(b, &at, addr);

		if (!len)
			return;
		if ((!kinds || kinds & PERF_SAMPLE_BRANCH_ANY) && is_x86(at.machine) &&
		    addr != sample->ip &&
		    disasm_x86_always_branches(at.bytes, at.size, at.machine == EM_X86_64)) {
			strbuf_adds(b->out, "\t... not reaching sample ...\n");
			return;
		}
		add_block_source(b, addr);
		addr += len;
		skip_code(&at, len);
	}
}

static void print_blocks(struct block_printer *b, const struct sample *sample,
			 const struct session_event *event)
{
	const unsigned max = b->p->opts.max_blocks;
	uint64_t n = sample->branches.n / 3;
	struct code_bytes at;

	if (!n || !b->p->opts.resolver)
		return;
	if (max && n > (uint64_t)max + 1)
		n = (uint64_t)max + 1;
	b->p->code->n_lines = 0;
	strbuf_addch(b->out, '\n');
	/* Where the first block begins is not known. */
	const struct branch first = sample_branch(sample, n - 1);
	if (find_block(b, first.from, first.from, &at) == BLOCK_FOUND) {
		add_function(b, first.from);
		add_branch(b, &at, &first, 0);
	}
	for (uint64_t i = n - 1; i-- > 0;) {
		const uint64_t start = sample_branch(sample, i + 1).to;
		struct branch branch = sample_branch(sample, i);
		enum block found = find_block(b, start, branch.from, &at);

		/* The PMU leaves out some branches into the kernel. */
		if (found == BLOCK_CROSSES && i > 0) {
			branch = sample_branch(sample, --i);
			found = find_block(b, start, branch.from, &at);
		}
		if (found == BLOCK_FOUND)
			add_block(b, &at, start, &branch);
	}
	const struct branch last = sample_branch(sample, 0);
	if (last.from != sample->ip && !last.aborts)
		add_last_block(b, sample, event, last.to);
	if (b->p->code->n_lines >= MAX_LINES)
		strbuf_adds(b->out, "\t... too many instructions ...\n");
}

void print_code(struct script_printer *p, const struct sample *sample,
		const struct session_event *event, const struct thread *thread, uint64_t fields,
		struct strbuf *out)
{
	struct block_printer b = {.p = p, .thread = thread, .fields = fields, .out = out};

	if (!thread)
		return;
	print_sample_insn(p, sample, thread, fields, out);
	if (fields & FIELDS_BRANCH_CODE)
		print_blocks(&b, sample, event);
}
