// SPDX-License-Identifier: BSD-2-Clause
/*
 * A sample belongs to the last call that its thread began: that of another call was of one whose
 * record was lost or not wanted, and is dropped.
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
	STRING_MAX_BYTES = 4096, /* PATH_MAX */
};

struct augmenter {
	const char *path;
	struct bpf_file file;
	const struct trace_call *calls;
	struct u64map notes; /* by thread: struct augmented_note */
};

/* struct syscall_enter_args of augmenters */
struct syscall_entry {
	uint64_t common; /* fields of all tracepoints */
	uint64_t nr;
	uint64_t args[TRACE_ARGS];
};

/* A sample, with the padding behind it. */
struct augmented_note {
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

/* The program that a PROG_ARRAY gets for the call; -1: none. */
static int callee_of(const struct augmenter *a, const char *call)
{
	_cleanup_free_ char *section = text_format("!syscalls:sys_enter_%s", call);
	struct bpf_program *prog;
	int fd = -1;

	bpf_object__for_each_program (prog, a->file.obj) {
		if (section && is_section(prog, section))
			return bpf_program__fd(prog);
		if (is_section(prog, UNAUGMENTED))
			fd = bpf_program__fd(prog);
	}
	return fd;
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

static struct error *set_callee(const struct augmenter *a, const struct call *call)
{
	struct bpf_map *map = bpf_object__find_map_by_name(a->file.obj, "syscalls_sys_enter");
	const int fd = map ? callee_of(a, call->name) : -1;

	if (fd < 0 || call->nr >= bpf_map__max_entries(map))
		return NULL;
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
		TRY(set_callee(a, call));
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

struct error *augmenter_note(struct augmenter *a, uint32_t tid, const void *payload, size_t size)
{
	struct cursor c = cursor_make(payload, size, "output of an augmenter");
	struct augmented_note *note;
	const struct syscall_entry *entry = cursor_bytes(&c, sizeof(*entry));

	if (!payload || !entry)
		return NULL;
	note = malloc(sizeof(*note) + cursor_left(&c));
	if (!note)
		return error_nomem();
	note->size = cursor_left(&c);
	memcpy(&note->entry, entry, sizeof(note->entry));
	memcpy(note->data, cursor_bytes(&c, note->size), note->size);
	if (a->notes.n >= MAX_NOTES)
		free_notes(a);
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
	const void *words = cursor_bytes(c, 2 * sizeof(uint32_t));
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

struct error *augmenter_apply(struct augmenter *a, const struct trace_record *rec,
			      struct trace_record **out)
{
	_cleanup_free_ struct augmented_note *note = u64map_remove(&a->notes, rec->tid);
	const unsigned n_args = min_of((unsigned)rec->n_args, (unsigned)TRACE_ARGS);

	*out = NULL;
	if (!note || rec->abi != TRACE_ABI_NATIVE || note->entry.nr != rec->nr ||
	    memcmp(note->entry.args, rec->args, n_args * sizeof(*rec->args)) != 0)
		return NULL;
	const size_t head = sizeof(*rec) + n_args * sizeof(*rec->args);
	const size_t room = rec->size + note->size + TRACE_ARGS * (sizeof(struct trace_piece) + 8);
	_cleanup_free_ struct trace_record *whole = calloc(1, room);
	if (!whole)
		return error_nomem();
	memcpy(whole, rec, head);
	whole->size = (uint32_t)head;
	whole->n_pieces = 0;
	struct augmented_record put = {whole, room};
	const unsigned have = put_noted(&put, &a->calls[rec->nr], note);
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
