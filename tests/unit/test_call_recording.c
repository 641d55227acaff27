// SPDX-License-Identifier: BSD-2-Clause
/* What trace -i reads of a recording is what trace -o wrote. */
#include "tree.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "lib/base/cleanup.h"
#include "perf/event/encode.h"
#include "trace/call_recording.h"
#include "trace/call_replay.h"
#include "trace/call_stack.h"

enum {
	RECORDS = 8,
	RECORD_BYTES = 512,
};

struct made {
	union {
		struct trace_record rec;
		unsigned char bytes[RECORD_BYTES];
	} v[RECORDS];
	size_t n;
};

static void ok(struct error *err)
{
	if (err)
		fail_msg("%s", err->msg);
}

static struct tree *tracefs_new(void)
{
	static const char common[] = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;"
				     "\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;"
				     "\tsigned:1;\n\n\tfield:long id;\toffset:8;\tsize:8;"
				     "\tsigned:1;\n";
	struct tree *tree = tree_new();
	char text[1024];

	tree_put(tree, "tracefs/events/header_page", "page");
	tree_put(tree, "tracefs/events/header_event", "event");
	snprintf(text, sizeof(text),
		 "name: sys_enter\nID: 401\nformat:\n%s\tfield:unsigned long args[6];\toffset:16;"
		 "\tsize:48;\tsigned:0;\n\nprint fmt: \"NR %%ld\", REC->id\n",
		 common);
	tree_put(tree, "tracefs/events/raw_syscalls/sys_enter/format", text);
	snprintf(text, sizeof(text),
		 "name: sys_exit\nID: 400\nformat:\n%s\tfield:long ret;\toffset:16;\tsize:8;"
		 "\tsigned:1;\n\nprint fmt: \"NR %%ld\", REC->id\n",
		 common);
	tree_put(tree, "tracefs/events/raw_syscalls/sys_exit/format", text);
	return tree;
}

/* A call of the thread, from one time to another. */
static struct trace_record *add(struct made *made, uint32_t tid, uint64_t enter_ns,
				uint64_t exit_ns)
{
	struct trace_record *rec = &made->v[made->n++].rec;

	assert_true(made->n <= RECORDS);
	memset(rec, 0, RECORD_BYTES);
	*rec = (struct trace_record){
		.size = sizeof(*rec) + TRACE_ARGS * sizeof(*rec->args),
		.nr = 100,
		.enter_ns = enter_ns,
		.exit_ns = exit_ns,
		.ret = -(int64_t)tid,
		.pid = 7,
		.tid = tid,
		.comm = "work",
		.cpu = 3,
		.n_args = TRACE_ARGS,
	};
	for (unsigned i = 0; i < TRACE_ARGS; i++)
		rec->args[i] = 0x1000 * tid + i;
	return rec;
}

static void add_piece(struct trace_record *rec, const char *text)
{
	struct trace_piece *piece = (void *)((char *)rec + rec->size);

	piece->arg = (uint8_t)(1 + rec->n_pieces);
	piece->len = (uint16_t)strlen(text);
	piece->addr = rec->args[piece->arg];
	memcpy(piece->data, text, piece->len);
	rec->size += (uint32_t)((sizeof(*piece) + piece->len + 7) & ~7ul);
	rec->n_pieces++;
}

static struct error *note(void *ctx, const struct trace_record *rec, struct call_stack *stack)
{
	struct made *made = ctx;

	assert_true(made->n < RECORDS && rec->size <= RECORD_BYTES);
	memcpy(&made->v[made->n++], rec, rec->size);
	return NULL;
}

static void write_records(const struct tree *tree, const char *path, const struct made *made)
{
	struct call_recording *recording;

	ok(call_recording_new(path, &tree->roots, &recording));
	ok(call_recording_start(recording, 0, NULL));
	for (size_t i = 0; i < made->n; i++)
		ok(call_recording_add(recording, &made->v[i].rec, NULL));
	ok(call_recording_finish(recording, 0));
	call_recording_free(recording);
}

static struct error *replay_file(const char *path, struct made *made)
{
	_cleanup_free_ struct trace_call *calls = calloc(TRACE_ABIS * TRACE_NRS, sizeof(*calls));
	const struct call_replay_opts opts = {
		.path = path, .calls = calls, .call = note, .ctx = made};

	assert_non_null(calls);
	for (size_t i = 0; i < TRACE_ABIS * TRACE_NRS; i++)
		calls[i] = (struct trace_call){.traced = 1, .n_args = TRACE_ARGS};
	return call_replay(&opts);
}

static void replay(const char *path, struct made *made)
{
	ok(replay_file(path, made));
}

TEST(every_kind_of_call)
{
	struct tree *tree = tracefs_new();
	struct made made = {0}, read = {0};
	char path[128];

	snprintf(path, sizeof(path), "%s/calls.data", tree->top);
	add(&made, 11, 1000, 2000);
	struct trace_record *rec = add(&made, 12, 1100, 2100);
	add_piece(rec, "/etc/passwd");
	add_piece(rec, "12345678");
	strcpy(rec->comm, "renamed");
	/* of a 32-bit program, with and without memory */
	rec = add(&made, 13, 1200, 2200);
	rec->abi = TRACE_ABI_32;
	rec = add(&made, 13, 2300, 2400);
	rec->abi = TRACE_ABI_32;
	add_piece(rec, "x");
	/* the entry was not seen; then a call that the kernel began again */
	rec = add(&made, 14, 0, 2500);
	rec->flags = TRACE_NO_ENTRY;
	add_piece(rec, "late");
	add(&made, 14, 2550, 2600)->flags = TRACE_RESTARTED;
	/* no exit: the thread ended; and tracing did */
	rec = add(&made, 15, 2700, 0);
	rec->ret = 0;
	rec->flags = TRACE_NO_EXIT;
	add_piece(rec, "unfinished");
	rec = add(&made, 16, 2800, 0);
	rec->ret = 0;
	rec->flags = TRACE_NO_EXIT;
	write_records(tree, path, &made);
	replay(path, &read);
	assert_int_equal(read.n, made.n);
	for (size_t i = 0; i < made.n; i++)
		assert_memory_equal(&read.v[i], &made.v[i], made.v[i].rec.size);
	tree_free(tree);
}

/* Of a recorder that is killed: what was saved, also calls that began long before. */
TEST(killed)
{
	struct tree *tree = tracefs_new();
	struct made made = {0}, read = {0};
	struct call_recording *recording;
	char path[128];

	snprintf(path, sizeof(path), "%s/killed.data", tree->top);
	add(&made, 11, 2000, 2100);
	add(&made, 11, 3000, 3100);
	add(&made, 12, 1000, 4000);
	add(&made, 11, 5000, 5100);
	ok(call_recording_new(path, &tree->roots, &recording));
	ok(call_recording_start(recording, 0, NULL));
	for (size_t i = 0; i < 3; i++) {
		ok(call_recording_add(recording, &made.v[i].rec, NULL));
		ok(call_recording_save(recording));
		ok(call_recording_save(recording));
	}
	ok(call_recording_add(recording, &made.v[3].rec, NULL));
	call_recording_free(recording); /* without finish */
	struct error *err = replay_file(path, &read);
	assert_non_null(err);
	assert_int_equal(err->code, EBADMSG);
	assert_non_null(strstr(err->msg, "not finished"));
	error_free(err);
	assert_int_equal(read.n, 3);
	for (size_t i = 0; i < read.n; i++)
		assert_memory_equal(&read.v[i], &made.v[i], made.v[i].rec.size);
	tree_free(tree);
}

/* The number of calls that could be saved in a file of at most that many bytes. */
static size_t record_limited(const struct tree *tree, const char *path, const struct made *made,
			     rlim_t bytes)
{
	struct call_recording *recording;
	struct rlimit old, limit;
	size_t saved = 0;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){bytes, old.rlim_max};
	ok(call_recording_new(path, &tree->roots, &recording));
	ok(call_recording_start(recording, 0, NULL));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	while (saved < made->n) {
		struct error *err = call_recording_add(recording, &made->v[saved].rec, NULL);
		if (!err)
			err = call_recording_save(recording);
		saved += !err;
		assert_true(!err || err->code == EFBIG);
		if (err) {
			error_free(err);
			break;
		}
	}
	/* it may have room for the end, which says that something is missing before it */
	error_free(call_recording_finish(recording, 0));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	call_recording_free(recording);
	return saved;
}

/* Of a full disk, wherever it is full: what was saved before, and it says that the end is missing.
 */
TEST(full_disk)
{
	struct tree *tree = tracefs_new();
	struct made made = {0};
	struct stat start, whole;
	char path[128];

	snprintf(path, sizeof(path), "%s/full.data", tree->top);
	write_records(tree, path, &made);
	assert_int_equal(stat(path, &start), 0);
	for (uint64_t time = 1000; time < 5000; time += 1000)
		add(&made, 11, time, time + 100);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(record_limited(tree, path, &made, RLIM_INFINITY), made.n);
	assert_int_equal(stat(path, &whole), 0);
	for (off_t bytes = start.st_size; bytes < whole.st_size; bytes += 8) {
		struct made read = {0};
		const size_t saved = record_limited(tree, path, &made, (rlim_t)bytes);
		struct error *err = replay_file(path, &read);

		assert_true(read.n >= saved && read.n <= made.n);
		for (size_t i = 0; i < read.n; i++)
			assert_memory_equal(&read.v[i], &made.v[i], made.v[i].rec.size);
		assert_non_null(err);
		assert_int_equal(err->code, EBADMSG);
		assert_non_null(strstr(err->msg, "not finished"));
		error_free(err);
	}
	signal(SIGXFSZ, SIG_DFL);
	tree_free(tree);
}

/* ---- other events, and call chains ---- */

struct seen {
	size_t n_calls, n_events, n_asked;
};

static struct error *see_call(void *ctx, const struct trace_record *rec, struct call_stack *stack)
{
	struct seen *seen = ctx;

	seen->n_calls++;
	if (rec->tid == 12) { /* it has none */
		assert_true(!stack || !stack->n);
		return NULL;
	}
	assert_int_equal(seen->n_events, 1); /* that came while the call ran */
	assert_non_null(stack);
	assert_int_equal(stack->n, 2);
	assert_int_equal(stack->frames[0].addr, 0x401000);
	assert_int_equal(stack->frames[1].addr, 0x402000);
	assert_int_equal(rec->n_pieces, 1);
	return NULL;
}

static struct error *see_event(void *ctx, struct other_event *event)
{
	struct seen *seen = ctx;

	seen->n_events++;
	assert_string_equal(event->name, "sched:sched_wakeup");
	assert_string_equal(event->comm, "work");
	assert_int_equal(event->time, 1500);
	assert_int_equal(event->tid, 11);
	assert_non_null(event->format);
	assert_int_equal(event->raw_size, 20); /* padded */
	return NULL;
}

static bool wants(void *ctx, const char *event)
{
	struct seen *seen = ctx;

	seen->n_asked++;
	return !strcmp(event, "sched:sched_wakeup");
}

#define COMMON_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW)

TEST(events_and_call_chains)
{
	static const char format[] = "name: sched_wakeup\nID: 300\nformat:\n"
				     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;"
				     "\tsigned:0;\n\n\tfield:pid_t pid;\toffset:8;\tsize:4;"
				     "\tsigned:1;\n\nprint fmt: \"%d\", REC->pid\n";
	static const uint64_t chain[] = {PERF_CONTEXT_USER, 0x401000, 0x402000};
	static const uint64_t id = 5;
	const char payload[16] = {44, 1};
	const struct live_event event = {
		.name = "sched:sched_wakeup",
		.attr = {.type = PERF_TYPE_TRACEPOINT,
			 .size = sizeof(event.attr),
			 .config = 300,
			 .sample_type = COMMON_TYPE,
			 .sample_id_all = 1},
		.ids = &id,
		.n_ids = 1,
		.system = "sched",
		.format = format,
		.format_size = sizeof(format) - 1,
	};
	const struct perf_event_attr stacks = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(stacks),
		.sample_type = COMMON_TYPE | PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
		.sample_id_all = 1,
	};
	struct sample sample = {.id = id,
				.pid = 7,
				.tid = 11,
				.time = 1500,
				.raw = payload,
				.raw_size = sizeof(payload),
				.chain = {.bytes = (const uint8_t *)chain, .n = 3}};
	_cleanup_strbuf_ struct strbuf record = STRBUF_INIT, stack_record = STRBUF_INIT;
	struct tree *tree = tracefs_new();
	struct call_recording *recording;
	struct call_stack *stack;
	struct made made = {0};
	struct seen seen = {0};
	char path[128];

	snprintf(path, sizeof(path), "%s/calls.data", tree->top);
	record_encode_sample(&record, &event.attr, &sample);
	record_encode_sample(&stack_record, &stacks, &sample);
	ok(call_stack_of_record(stack_record.str, stack_record.len, &stack));
	ok(call_recording_new(path, &tree->roots, &recording));
	ok(call_recording_add_event(recording, &event));
	call_recording_add_stacks(recording, &stacks);
	ok(call_recording_start(recording, 0, NULL));
	add_piece(add(&made, 11, 1000, 2000), "path");
	ok(call_recording_add(recording, &made.v[0].rec, stack));
	ok(call_recording_add(recording, add(&made, 12, 1000, 2100), NULL));
	ok(call_recording_add_record(recording, record.str, record.len, sample.time));
	ok(call_recording_finish(recording, 0));
	call_recording_free(recording);
	free(stack);

	_cleanup_free_ struct trace_call *calls = calloc(TRACE_ABIS * TRACE_NRS, sizeof(*calls));
	assert_non_null(calls);
	calls[100].traced = 1;
	const struct call_replay_opts opts = {
		.path = path,
		.calls = calls,
		.max_stack = 100,
		.call = see_call,
		.event = see_event,
		.wants = wants,
		.ctx = &seen,
	};
	ok(call_replay(&opts));
	assert_int_equal(seen.n_calls, 2);
	assert_int_equal(seen.n_events, 1);
	assert_int_equal(seen.n_asked, 1 + 3);
	tree_free(tree);
}

static void read_whole(const char *path, char **data, size_t *size)
{
	ok(sys_read_file(path, 1 << 20, data, size));
}

/* Where tracefs cannot be read, another process says what is in it. */
TEST(formats_of_another_process)
{
	const struct sys_roots nothing = {
		.proc = "/nonexistent", .sysfs = "/nonexistent", .tracefs = "/nonexistent"};
	_cleanup_strbuf_ struct strbuf formats = STRBUF_INIT;
	_cleanup_free_ char *one = NULL, *other = NULL;
	struct call_recording *recording;
	struct tree *tree = tracefs_new();
	struct made made = {0};
	char path[128], again[128];
	size_t size, other_size;

	snprintf(path, sizeof(path), "%s/calls.data", tree->top);
	snprintf(again, sizeof(again), "%s/again.data", tree->top);
	add(&made, 11, 1000, 2000);
	write_records(tree, path, &made);
	ok(call_recording_formats(&tree->roots, &formats));
	ok(call_recording_new(again, &nothing, &recording));
	ok(call_recording_use_formats(recording, formats.str, formats.len));
	ok(call_recording_start(recording, 0, NULL));
	ok(call_recording_add(recording, &made.v[0].rec, NULL));
	ok(call_recording_finish(recording, 0));
	call_recording_free(recording);
	read_whole(path, &one, &size);
	read_whole(again, &other, &other_size);
	assert_int_equal(size, other_size);
	assert_memory_equal(one, other, size);

	/* what is cut, and what is more */
	ok(call_recording_new(again, &nothing, &recording));
	for (size_t n = 0; n < formats.len; n += n + 16 < formats.len ? 16 : 1) {
		_cleanup_error_ struct error *err =
			call_recording_use_formats(recording, formats.str, n);
		assert_non_null(err);
		assert_int_equal(err->code, EBADMSG);
	}
	strbuf_addch(&formats, '\0');
	_cleanup_error_ struct error *err =
		call_recording_use_formats(recording, formats.str, formats.len);
	assert_int_equal(err->code, EBADMSG);
	call_recording_free(recording);
	tree_free(tree);
}
