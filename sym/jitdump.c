// SPDX-License-Identifier: BSD-2-Clause
/*
 * A dump is a header and records, each with a type, its size and a time. A function is a record
 * CODE_LOAD; its lines are in a record DEBUG_INFO before it. CODE_MOVE gives code that was loaded
 * another address. The magic number tells the byte order.
 *
 * A compiler uses memory again: of functions at overlapping addresses, the last one is taken.
 *
 * Every user can write such a file for a process that root looks at, so all that has been said of
 * perf maps (perfmap.c) is so here.
 */
#include "sym/jitdump.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/base/cursor.h"
#include "lib/base/hash.h"
#include "lib/sys/open_file.h"
#include "sym/internal.h"

enum {
	MAX_SIZE = 256 << 20, /* of the file */
	MAGIC = 0x4a695444,
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	DEBUG_INFO = 2,
};

struct jit_code {
	uint64_t start, size;
	uint64_t loaded; /* its lines have the address that it had at first */
	const char *name;
	const uint8_t *bytes;
	size_t order; /* of the records */
	size_t first_line, n_lines;
};

struct jit_line {
	uint64_t address;
	const char *file;
	uint32_t number;
};

struct jitdump {
	void *owned; /* the bytes; NULL: borrowed */
	size_t size;
	uid_t author;
	uint16_t machine;
	VEC(struct jit_code) codes; /* by address, once all are read; none overlaps another */
	VEC(struct jit_line) lines; /* of each function by address */
};

struct reader {
	struct jitdump *dump;
	struct cursor c;
	struct u64map by_index; /* of CODE_LOAD, to its place in codes, counted from 1 */
	size_t first_line;	/* of the next function */
	uint64_t lines_of;	/* its address */
};

/* A string of the record, which is not copied; NULL: it does not end there. */
static const char *read_string(struct cursor *c)
{
	const char *text = (const char *)c->base + c->pos;
	const char *end = cursor_left(c) ? memchr(text, 0, cursor_left(c)) : NULL;

	return end && cursor_skip(c, (size_t)(end - text) + 1) ? text : NULL;
}

static bool read_header(struct reader *r)
{
	uint32_t magic, version, size, machine, pad;

	if (!cursor_u32(&r->c, &magic))
		return false;
	r->c.swap = magic == bswap_32(MAGIC);
	if ((magic != MAGIC && !r->c.swap) || !cursor_u32(&r->c, &version) ||
	    !cursor_u32(&r->c, &size) || !cursor_u32(&r->c, &machine) || !cursor_u32(&r->c, &pad) ||
	    !cursor_seek(&r->c, size))
		return false;
	r->dump->machine = (uint16_t)machine;
	return size >= 40;
}

static struct error *add_code(struct reader *r, const struct jit_code *code)
{
	struct jit_code *slot;

	if (!code->size || code->start + code->size < code->start)
		return NULL;
	slot = vec_push(&r->dump->codes);
	if (!slot)
		return error_nomem();
	*slot = *code;
	slot->order = r->dump->codes.n;
	return NULL;
}

static struct error *read_load(struct reader *r, struct cursor *c)
{
	struct jitdump *dump = r->dump;
	uint64_t vma, index;
	uint32_t pid, tid;
	struct jit_code code = {0};

	if (!cursor_u32(c, &pid) || !cursor_u32(c, &tid) || !cursor_u64(c, &vma) ||
	    !cursor_u64(c, &code.start) || !cursor_u64(c, &code.size) || !cursor_u64(c, &index))
		return NULL;
	code.name = read_string(c);
	if (!code.name || !*code.name || code.size > cursor_left(c))
		return NULL;
	code.bytes = cursor_bytes(c, (size_t)code.size);
	code.loaded = code.start;
	if (r->lines_of == code.start) {
		code.first_line = r->first_line;
		code.n_lines = dump->lines.n - r->first_line;
	}
	r->first_line = dump->lines.n;
	const size_t n = dump->codes.n;
	TRY(add_code(r, &code));
	if (dump->codes.n == n)
		return NULL;
	return u64map_put(&r->by_index, index, (void *)(uintptr_t)dump->codes.n) ? NULL
										 : error_nomem();
}

static struct error *read_move(struct reader *r, struct cursor *c)
{
	uint64_t vma, from, to, size, index;
	uint32_t pid, tid;

	if (!cursor_u32(c, &pid) || !cursor_u32(c, &tid) || !cursor_u64(c, &vma) ||
	    !cursor_u64(c, &from) || !cursor_u64(c, &to) || !cursor_u64(c, &size) ||
	    !cursor_u64(c, &index))
		return NULL;
	const size_t at = (uintptr_t)u64map_get(&r->by_index, index);
	if (!at)
		return NULL;
	struct jit_code code = r->dump->codes.v[at - 1];
	code.start = to;
	return add_code(r, &code);
}

static struct error *read_lines(struct reader *r, struct cursor *c)
{
	struct jitdump *dump = r->dump;
	const char *last = NULL;
	uint64_t n;

	r->first_line = dump->lines.n;
	if (!cursor_u64(c, &r->lines_of) || !cursor_u64(c, &n))
		return NULL;
	for (; n; n--) {
		struct jit_line line, *slot;
		uint32_t discriminator;

		if (!cursor_u64(c, &line.address) || !cursor_u32(c, &line.number) ||
		    !cursor_u32(c, &discriminator))
			break;
		line.file = read_string(c);
		if (line.file && !strcmp(line.file, "\xff")) /* as before */
			line.file = last;
		if (!line.file)
			break;
		last = line.file;
		slot = vec_push(&dump->lines);
		if (!slot)
			return error_nomem();
		*slot = line;
	}
	return NULL;
}

static struct error *read_record(struct reader *r, uint32_t type, struct cursor *c)
{
	switch (type) {
	case CODE_LOAD:
		return read_load(r, c);
	case CODE_MOVE:
		return read_move(r, c);
	case DEBUG_INFO:
		return read_lines(r, c);
	default: /* CODE_CLOSE, unwind information */
		return NULL;
	}
}

static struct error *read_records(struct reader *r, size_t room)
{
	uint32_t type, size;
	uint64_t time;

	while (cursor_u32(&r->c, &type) && cursor_u32(&r->c, &size) && cursor_u64(&r->c, &time)) {
		if (size < 16)
			break;
		const uint8_t *body = cursor_bytes(&r->c, size - 16);
		if (!body)
			break; /* it is not written to its end */
		struct cursor c = cursor_make(body, size - 16, "record");
		c.swap = r->c.swap;
		TRY(read_record(r, type, &c));
		if (jitdump_memory(r->dump) > room)
			return error_new(EFBIG, "its functions need more than %zu MB", room >> 20);
	}
	return NULL;
}

static int line_cmp(const void *a, const void *b)
{
	const struct jit_line *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int code_cmp(const void *a, const void *b)
{
	const struct jit_code *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Sorts, and of functions that overlap keeps the last one. */
static void finish(struct jitdump *dump)
{
	const struct jit_code *code;
	size_t n = 0;

	vec_for_each (code, &dump->codes)
		if (code->n_lines && code->start == code->loaded)
			qsort(dump->lines.v + code->first_line, code->n_lines,
			      sizeof(*dump->lines.v), line_cmp);
	qsort(dump->codes.v, dump->codes.n, sizeof(*dump->codes.v), code_cmp);
	vec_for_each (code, &dump->codes) {
		const struct jit_code this = *code;

		while (n && dump->codes.v[n - 1].start + dump->codes.v[n - 1].size > this.start &&
		       dump->codes.v[n - 1].order < this.order)
			n--;
		if (!n || dump->codes.v[n - 1].start + dump->codes.v[n - 1].size <= this.start)
			dump->codes.v[n++] = this;
	}
	dump->codes.n = n;
}

static struct error *parse(struct jitdump *dump, const void *bytes, size_t size, size_t room)
{
	struct reader r = {.dump = dump, .c = cursor_make(bytes, size, "dump")};

	dump->size = size;
	if (!read_header(&r))
		return error_new(EBADMSG, "not a dump of a JIT compiler");
	struct error *err = read_records(&r, room);
	u64map_deinit(&r.by_index);
	TRY(err);
	if (!dump->codes.n)
		return error_new(ENODATA, "it has no code");
	finish(dump);
	return NULL;
}

struct error *jitdump_parse(const void *bytes, size_t size, uid_t author, struct jitdump **out)
{
	_cleanup_(jitdump_freep) struct jitdump *dump = calloc(1, sizeof(*dump));

	if (!dump)
		return error_nomem();
	dump->author = author;
	TRY(parse(dump, bytes, size, SIZE_MAX));
	*out = steal_ptr(dump);
	return NULL;
}

static struct error *load(struct jitdump *dump, int fd, size_t room)
{
	struct stat st;
	size_t size;

	if (fstat(fd, &st))
		return error_errno(errno, "cannot read");
	dump->author = st.st_uid;
	TRY(file_bytes(fd, min_of(room, (size_t)MAX_SIZE), &dump->owned, &size));
	return parse(dump, dump->owned, size, room);
}

struct error *jitdump_load(const char *path, uid_t owner, size_t room, struct jitdump **out)
{
	const struct open_regular_opts opts = {
		.owned = true, .owner = owner, .max_bytes = MAX_SIZE};
	_cleanup_(jitdump_freep) struct jitdump *dump = calloc(1, sizeof(*dump));
	_cleanup_close_ int fd = -1;

	if (!dump)
		return error_nomem();
	TRY(open_regular(path, &opts, &fd));
	TRY(error_at(load(dump, fd, room), "%s", path));
	*out = steal_ptr(dump);
	return NULL;
}

void jitdump_free(struct jitdump *dump)
{
	if (!dump)
		return;
	vec_deinit(&dump->codes);
	vec_deinit(&dump->lines);
	free(dump->owned);
	free(dump);
}

size_t jitdump_memory(const struct jitdump *dump)
{
	return dump->size + dump->codes.n * sizeof(*dump->codes.v) +
	       dump->lines.n * sizeof(*dump->lines.v);
}

uid_t jitdump_author(const struct jitdump *dump)
{
	return dump->author;
}

struct error *jitdump_symtab(const struct jitdump *dump, struct symtab **out)
{
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	const struct jit_code *code;

	if (!st)
		return error_nomem();
	vec_for_each (code, &dump->codes) {
		const char *name = symtab_strdup(st, code->name, strlen(code->name));

		if (!name || !symtab_add(st, code->start, code->size, STB_GLOBAL, STT_FUNC, name))
			return error_nomem();
		vec_last(&st->syms)->lazy = 0;
	}
	st->origin = 'j';
	if (!symtab_sort(st) || !symtab_finish(st))
		return error_nomem();
	*out = steal_ptr(st);
	return NULL;
}

static const struct jit_code *find_code(const struct jitdump *dump, uint64_t address)
{
	size_t low = 0, high = dump->codes.n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (dump->codes.v[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	const struct jit_code *code = low ? &dump->codes.v[low - 1] : NULL;

	return code && address - code->start < code->size ? code : NULL;
}

bool jitdump_function(const struct jitdump *dump, uint64_t address, struct jit_function *out)
{
	const struct jit_code *code = find_code(dump, address);

	if (!code)
		return false;
	*out = (struct jit_function){code->start, code->bytes, (size_t)code->size, dump->machine};
	return true;
}

bool jitdump_line(const struct jitdump *dump, uint64_t address, const char **file, uint32_t *line)
{
	const struct jit_code *code = find_code(dump, address);
	const struct jit_line *found = NULL;

	if (!code)
		return false;
	address = address - code->start + code->loaded;
	for (size_t i = 0; i < code->n_lines; i++) {
		const struct jit_line *at = &dump->lines.v[code->first_line + i];

		if (at->address > address)
			break;
		found = at;
	}
	if (!found)
		return false;
	*file = found->file;
	*line = found->number;
	return true;
}
