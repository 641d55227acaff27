// SPDX-License-Identifier: BSD-2-Clause
/*
 * A sample belongs to the last call that its thread began. That of an older call, whose record was
 * lost or not wanted, is dropped; that of a newer one, which was read before the record because the
 * exit of the record's call was not seen, stays.
 */
#include "trace/augmenter.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/attach/attach.h"
#include "lib/base/cursor.h"
#include "lib/base/hash.h"
#include "lib/object/object.h"
#include "trace/other_events.h"
#include "trace/record_check.h"
#include "trace/record_pieces.h"
#include "trace/trace_maps.h"
#include "work/bpf_file.h"

#define OUTPUT_MAP  AUGMENTED_EVENT
#define ENTRY	    "raw_syscalls:sys_enter"
#define UNAUGMENTED "!raw_syscalls:unaugmented"

enum {
	MAX_NOTES = 1 << 16,	 /* threads; above, they are forgotten */
	LATER_NS = 1000000,	 /* samples come at most so long after the record's time */
	STRING_MAX_BYTES = 4096, /* PATH_MAX */
	STRING_HEAD = 2 * sizeof(uint32_t),
};

struct augmenter {
	const char *path;
	struct bpf_file file;
	const struct trace_call *calls;
	struct u64map notes;   /* by thread: struct augmented_note */
	uint64_t forgotten_ns; /* all until then */
};

/* struct syscall_enter_args of augmenters */
struct syscall_entry {
	uint64_t common; /* fields of all tracepoints */
	uint64_t nr;
	uint64_t args[TRACE_ARGS];
};

/* A sample, with the padding behind it. */
struct augmented_note {
	uint64_t time;
	size_t size; /* of data */
	struct syscall_entry entry;
	uint8_t data[];
};

static void free_notes(struct augmenter *a)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(&a->notes, &pos)))
		free(slot->value);
	u64map_deinit(&a->notes);
	a->notes = (struct u64map){0};
}

void augmenter_free(struct augmenter *a)
{
	if (!a)
		return;
	bpf_file_close(&a->file);
	free_notes(a);
	free(a);
}

/* ---- loading ---- */

static bool is_section(const struct bpf_program *prog, const char *section)
{
	return !strcmp(bpf_program__section_name(prog), section);
}

struct error *augmenter_open(const char *path, const struct compile_opts *compile,
			     const struct log *log, struct augmenter **out)
{
	const struct bpf_file_opts opts = {.compile = compile, .log = log};
	_cleanup_(augmenter_freep) struct augmenter *a = calloc(1, sizeof(*a));
	struct bpf_program *prog;
	size_t entries = 0;

	*out = NULL;
	if (!a)
		return error_nomem();
	a->path = path;
	TRY(bpf_file_open(&a->file, path, &opts));
	struct bpf_map *map = bpf_object__find_map_by_name(a->file.obj, OUTPUT_MAP);
	if (!map)
		return NULL;
	if (bpf_map__type(map) != BPF_MAP_TYPE_PERF_EVENT_ARRAY)
		return error_new(EINVAL, "%s: map " OUTPUT_MAP " is not a PERF_EVENT_ARRAY", path);
	if (bpf_map__set_max_entries(map, (uint32_t)libbpf_num_possible_cpus()))
		return error_errno(errno, "%s: cannot set the size of map " OUTPUT_MAP, path);
	bpf_object__for_each_program (prog, a->file.obj) {
		const bool callee = *bpf_program__section_name(prog) == '!';

		/* exits are not needed: trace has the results */
		bpf_program__set_autoload(prog, callee || is_section(prog, ENTRY));
		if (callee && bpf_program__set_type(prog, BPF_PROG_TYPE_TRACEPOINT))
			return error_errno(errno, "%s: cannot set the type of a program", path);
		entries += is_section(prog, ENTRY);
	}
	if (!entries)
		return error_hint(
			error_new(EINVAL, "%s: no program has the section \"" ENTRY "\"", path),
			"map " OUTPUT_MAP " is for programs that run at the entry of system calls");
	*out = steal_ptr(a);
	return NULL;
}

static struct bpf_program *find_program(const struct augmenter *a, const char *section)
{
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, a->file.obj)
		if (is_section(prog, section))
			return prog;
	return NULL;
}

static struct bpf_program *program_of(const struct augmenter *a, const struct call *call)
{
	_cleanup_free_ char *section = text_format("!syscalls:sys_enter_%s", call->name);

	return section ? find_program(a, section) : NULL;
}

static bool is_pointer(const struct call_arg *arg)
{
	return arg->type && strchr(arg->type, '*');
}

/* As in perf: what the program of the other call copies, this call has, and of the same types. */
static bool is_alike(const struct call *call, const struct call *other)
{
	bool any = false;

	for (int i = 0; i < TRACE_ARGS; i++) {
		if (!is_pointer(&other->args[i]))
			continue;
		if (!is_pointer(&call->args[i]) ||
		    strcmp(call->args[i].type, other->args[i].type) != 0)
			return false;
		any = true;
	}
	return any;
}

/* The program that the PROG_ARRAY gets for the call; NULL: none. */
static struct bpf_program *callee_of(const struct augmenter *a, const struct call_table *table,
				     const struct call *call)
{
	struct bpf_program *prog = program_of(a, call);

	for (uint32_t nr = 0; nr < TRACE_NRS && !prog; nr++) {
		const struct call *other = call_by_nr(table, TRACE_ABI_NATIVE, nr);

		if (other && is_alike(call, other))
			prog = program_of(a, other);
	}
	return prog ? prog : find_program(a, UNAUGMENTED);
}

/* struct syscall: whether it is traced, and how many bytes of each string are copied. */
static struct error *set_call(const struct augmenter *a, uint32_t nr)
{
	struct bpf_map *map = bpf_object__find_map_by_name(a->file.obj, "syscalls");
	const struct trace_call *call = &a->calls[nr];
	uint8_t value[64] = {1};
	const size_t lengths = 2; /* behind a bool */

	if (!map || nr >= bpf_map__max_entries(map))
		return NULL;
	const size_t size = bpf_map__value_size(map);
	if (!size || size > sizeof(value))
		return error_new(EINVAL, "%s: values of map syscalls have %zu bytes", a->path,
				 size);
	for (unsigned i = 0; i < call->n_copies && i < TRACE_COPIES; i++) {
		const struct trace_copy *copy = &call->copies[i];
		const uint16_t length = STRING_MAX_BYTES;
		const size_t at = lengths + copy->arg * sizeof(length);

		if (copy->kind == TRACE_COPY_STRING && !(copy->flags & TRACE_COPY_AT_EXIT) &&
		    at + sizeof(length) <= size)
			memcpy(value + at, &length, sizeof(length));
	}
	if (bpf_map_update_elem(bpf_map__fd(map), &nr, value, BPF_ANY))
		return error_errno(errno, "%s: cannot fill map syscalls", a->path);
	return NULL;
}

static struct error *set_callee(const struct augmenter *a, const struct call_table *table,
				const struct call *call)
{
	struct bpf_map *map = bpf_object__find_map_by_name(a->file.obj, "syscalls_sys_enter");
	const struct bpf_program *prog = map ? callee_of(a, table, call) : NULL;

	if (!prog || call->nr >= bpf_map__max_entries(map))
		return NULL;
	const int fd = bpf_program__fd(prog);
	if (bpf_map_update_elem(bpf_map__fd(map), &call->nr, &fd, BPF_ANY))
		return error_errno(errno,
				   "%s: cannot fill map syscalls_sys_enter with the program "
				   "for %s",
				   a->path, call->name);
	return NULL;
}

static struct error *leave_out(const struct augmenter *a, pid_t pid)
{
	struct bpf_map *map = bpf_object__find_map_by_name(a->file.obj, "pids_filtered");
	uint8_t yes[64] = {1};

	if (!map || bpf_map__value_size(map) > sizeof(yes) || bpf_map__key_size(map) != sizeof(pid))
		return NULL;
	if (bpf_map_update_elem(bpf_map__fd(map), &pid, yes, BPF_ANY))
		return error_errno(errno, "%s: cannot fill map pids_filtered", a->path);
	return NULL;
}

struct error *augmenter_load(struct augmenter *a, const struct call_table *table,
			     const struct trace_call *calls, const pid_t *exclude, size_t n_exclude)
{
	a->calls = calls;
	TRY(object_load(a->file.obj));
	for (uint32_t nr = 0; nr < TRACE_NRS; nr++) {
		const struct call *call = call_by_nr(table, TRACE_ABI_NATIVE, nr);

		if (!call || !calls[nr].traced)
			continue;
		TRY(set_call(a, nr));
		TRY(set_callee(a, table, call));
	}
	TRY(leave_out(a, getpid()));
	for (size_t i = 0; i < n_exclude; i++)
		TRY(leave_out(a, exclude[i]));
	return NULL;
}

int augmenter_map(const struct augmenter *a, uint32_t *entries)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(a->file.obj, OUTPUT_MAP);

	*entries = bpf_map__max_entries(map);
	return bpf_map__fd(map);
}

struct error *augmenter_start(struct augmenter *a)
{
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, a->file.obj)
		if (is_section(prog, ENTRY))
			TRY(error_at(bpf_file_attach(&a->file, prog, NULL), "%s", a->path));
	return NULL;
}

void augmenter_stop(struct augmenter *a)
{
	bpf_file_detach(&a->file);
}

/* ---- samples and records ---- */

/* args: n_args * 8 bytes */
static bool is_same_entry(const struct augmented_note *note, uint64_t nr, const void *args,
			  size_t n_args)
{
	return note->entry.nr == nr &&
	       !memcmp(note->entry.args, args, n_args * sizeof(*note->entry.args));
}

struct error *augmenter_note(struct augmenter *a, uint32_t tid, uint64_t time, const void *payload,
			     size_t size)
{
	struct cursor c = cursor_make(payload, size, "output of an augmenter");
	const struct augmented_note *before = u64map_get(&a->notes, tid);
	struct syscall_entry entry;
	const void *head = payload ? cursor_bytes(&c, sizeof(entry)) : NULL;

	if (!head)
		return NULL;
	memcpy(&entry, head, sizeof(entry));
	/* the program put the call out, and let it through as well */
	if (before && cursor_left(&c) < STRING_HEAD &&
	    is_same_entry(before, entry.nr, entry.args, TRACE_ARGS))
		return NULL;
	struct augmented_note *note = malloc(sizeof(*note) + cursor_left(&c));
	if (!note)
		return error_nomem();
	note->time = time;
	note->size = cursor_left(&c);
	note->entry = entry;
	memcpy(note->data, cursor_bytes(&c, note->size), note->size);
	if (a->notes.n >= MAX_NOTES) {
		free_notes(a);
		a->forgotten_ns = time;
	}
	free(u64map_remove(&a->notes, tid));
	if (u64map_put(&a->notes, tid, note))
		return NULL;
	free(note);
	return error_nomem();
}

/* A record that is put together: what there is room for. */
struct augmented_record {
	struct trace_record *rec;
	size_t room;
};

static void put_piece(struct augmented_record *out, const struct trace_piece *head,
		      const void *data, size_t len)
{
	struct trace_piece *piece = (void *)((char *)out->rec + out->rec->size);
	const size_t size = (sizeof(*piece) + len + 7) & ~(size_t)7;

	if (out->rec->size + size > out->room || out->rec->n_pieces >= TRACE_PIECES)
		return;
	memset(piece, 0, size);
	*piece = *head;
	piece->len = (uint16_t)len;
	memcpy(piece->data, data, len);
	out->rec->size += (uint32_t)size;
	out->rec->n_pieces++;
}

/* A string: its size with the NUL, an error, the bytes. false: there is no more. */
static bool put_string(struct augmented_record *out, struct cursor *c, struct trace_piece *head)
{
	const void *words = cursor_bytes(c, STRING_HEAD);
	uint32_t size[2];

	if (!words)
		return false;
	memcpy(size, words, sizeof(size));
	const uint32_t len = min_of(size[0], (uint32_t)TRACE_DATA_MAX);
	const void *bytes = cursor_bytes(c, len);
	if (!bytes)
		return false;
	if (size[1])
		head->flags = TRACE_PIECE_FAULT;
	put_piece(out, head, bytes, len ? len - 1 : 0);
	return true;
}

/* The bytes of a structure are all that is left, but no more than the argument has. */
static bool put_struct(struct augmented_record *out, struct cursor *c,
		       const struct trace_copy *copy, struct trace_piece *head)
{
	const uint64_t count =
		copy->kind == TRACE_COPY_COUNT ? out->rec->args[copy->count_arg % TRACE_ARGS] : 1;
	const size_t wanted = min_of(count, (uint64_t)TRACE_DATA_MAX) * copy->size;
	const size_t len = min_of(min_of(cursor_left(c), wanted), (size_t)TRACE_DATA_MAX);

	if (!len)
		return false;
	head->full = wanted;
	head->flags = len < wanted ? TRACE_PIECE_CUT : 0;
	put_piece(out, head, cursor_bytes(c, len), len);
	return true;
}

/* Augmenters put out strings and structures, but not the contents of buffers. */
static bool put_copy(struct augmented_record *out, struct cursor *c, const struct trace_copy *copy,
		     struct trace_piece *head)
{
	if (copy->kind == TRACE_COPY_STRING)
		return put_string(out, c, head);
	return !(copy->flags & TRACE_COPY_LIMITED) &&
	       (copy->kind == TRACE_COPY_BYTES || copy->kind == TRACE_COPY_COUNT) &&
	       put_struct(out, c, copy, head);
}

/* Bits of the arguments that the note has. */
static unsigned put_noted(struct augmented_record *out, const struct trace_call *call,
			  const struct augmented_note *note)
{
	struct cursor c = cursor_make(note->data, note->size, "output of an augmenter");
	unsigned have = 0;

	for (uint8_t arg = 0; arg < out->rec->n_args && arg < TRACE_ARGS; arg++)
		for (unsigned i = 0; i < call->n_copies && i < TRACE_COPIES; i++) {
			const struct trace_copy *copy = &call->copies[i];
			struct trace_piece head = {
				.arg = arg, .copy = (uint8_t)i, .addr = out->rec->args[arg]};

			if (copy->arg == arg && !(copy->flags & TRACE_COPY_AT_EXIT) &&
			    put_copy(out, &c, copy, &head))
				have |= 1u << arg;
		}
	return have;
}

/* The record with the note's texts and structures; *out is left as it is if it has none. */
static struct error *put_together(const struct augmenter *a, const struct trace_record *rec,
				  const struct augmented_note *note, struct trace_record **out)
{
	const size_t head = sizeof(*rec) + rec->n_args * sizeof(*rec->args);
	const size_t room = rec->size + note->size + TRACE_ARGS * (sizeof(struct trace_piece) + 8);
	_cleanup_free_ struct trace_record *whole = calloc(1, room);

	if (!whole)
		return error_nomem();
	memcpy(whole, rec, head);
	whole->size = (uint32_t)head;
	whole->n_pieces = 0;
	struct augmented_record put = {whole, room};
	const unsigned have =
		put_noted(&put, &a->calls[trace_nr_index(0, trace_record_nr(rec))], note);
	if (!have)
		return NULL;
	struct record_pieces pieces = record_pieces_of(rec);
	const struct trace_piece *piece;
	while ((piece = record_pieces_next(&pieces)))
		if (piece->arg >= TRACE_ARGS || !(have >> piece->arg & 1))
			put_piece(&put, piece, piece->data, piece->len);
	TRY(trace_record_check(whole, whole->size));
	*out = steal_ptr(whole);
	return NULL;
}

struct error *augmenter_apply(struct augmenter *a, const struct trace_record *rec,
			      struct trace_record **out, bool *filtered)
{
	const struct augmented_note *note = u64map_get(&a->notes, rec->tid);
	const size_t n_args = min_of((size_t)rec->n_args, (size_t)TRACE_ARGS);

	*filtered = false;
	/* programs do not see which table the number is of */
	if (rec->abi != TRACE_ABI_NATIVE || !rec->enter_ns)
		return NULL;
	if (note && is_same_entry(note, rec->nr, rec->args, n_args)) {
		struct error *err = put_together(a, rec, note, out);

		free(u64map_remove(&a->notes, rec->tid));
		return err;
	}
	*filtered = note ? note->time <= rec->enter_ns + LATER_NS : rec->enter_ns > a->forgotten_ns;
	return NULL;
}
