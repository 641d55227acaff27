// SPDX-License-Identifier: BSD-2-Clause
/*
 * perf/print: what the compiled print formats write is what libtraceevent
 * writes, for the formats below and, when $TRACE_EVENTS names a tracefs events
 * folder, for every event in it, over random payloads. The library gets sound
 * formats only, and none that follow a number of the payload to somewhere: it
 * would read there.
 */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "perf/format/tracing.h"

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define WRITE_FORMAT                                                                               \
	"name: sys_enter_write\nID: 700\n" COMMON                                                  \
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"                               \
	"\tfield:unsigned int fd;\toffset:16;\tsize:8;\tsigned:0;\n"                               \
	"\tfield:const char * buf;\toffset:24;\tsize:8;\tsigned:0;\n"                              \
	"\tfield:size_t count;\toffset:32;\tsize:8;\tsigned:0;\n\n"                                \
	"print fmt: \"fd: 0x%08lx, buf: 0x%08lx, count: 0x%08lx\", "                               \
	"((unsigned long)(REC->fd)), ((unsigned long)(REC->buf)), "                                \
	"((unsigned long)(REC->count))\n"

/* Every shape that is compiled, one way or another. */
#define SHAPES_FORMAT                                                                              \
	"name: shapes\nID: 701\n" COMMON                                                           \
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"                                 \
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"                                     \
	"\tfield:u8 small;\toffset:28;\tsize:1;\tsigned:0;\n"                                      \
	"\tfield:s16 mid;\toffset:30;\tsize:2;\tsigned:1;\n"                                       \
	"\tfield:u64 wide;\toffset:32;\tsize:8;\tsigned:0;\n"                                      \
	"\tfield:__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:0;\n"                        \
	"\tfield:unsigned int flags;\toffset:44;\tsize:4;\tsigned:0;\n"                            \
	"\tfield:u32 array[4];\toffset:48;\tsize:16;\tsigned:0;\n"                                 \
	"\tfield:const char * what;\toffset:64;\tsize:8;\tsigned:0;\n\n"                           \
	"print fmt: \"comm=%-16s|%s pid=%d %5d %-5d| %u %hhu %hd %#x %#lx %08llx %lld %o name=%s " \
	"flags=%s sym=%s cond=%s hex=%s dump=%s a1=%u what=%s 100%% %p\\n\", REC->comm, "          \
	"REC->comm, REC->pid, REC->pid, REC->pid, REC->small, REC->small, REC->mid, REC->flags, "  \
	"REC->wide, (unsigned long long)REC->wide, (long long)REC->wide, REC->flags, "             \
	"__get_str(name), __print_flags(REC->flags & 0xff, \"|\", { 0x1, \"ONE\" }, "              \
	"{ 0x2, \"TWO\" }, { 0x40 | 0x80, \"BOTH\" }), __print_symbolic(REC->small & 3, "          \
	"{ 0, \"zero\" }, { 1, \"one\" }), REC->flags & 1 ? \"odd\" : \"even\", "                  \
	"__print_hex(REC->comm, 4), __print_hex_str(REC->array, 6), REC->array[1], REC->what, "    \
	"REC->wide\n"

/* The library's view of the same formats. */
static struct tep_handle *library;

static void add_to_library(const char *system, const char *text, size_t size)
{
	if (!library) {
		library = tep_alloc();
		tep_set_loglevel(TEP_LOG_NONE);
		tep_set_long_size(library, sizeof(long));
		tep_set_page_size(library, 4096);
	}
	if (tep_parse_event(library, text, size, system))
		print_message("# the library refuses an event of %s\n", system);
}

/* A constant from 1 to max. */
static bool is_small(const struct tep_print_arg *arg, uint64_t max)
{
	return arg && arg->type == TEP_PRINT_ATOM && strtoull(arg->atom.atom, NULL, 0) <= max &&
	       strcmp(arg->atom.atom, "0");
}

/*
 * May the library print this argument? Not where it would follow a number of
 * the payload without looking where to: indices, lengths, divisors.
 */
static bool library_is_safe(const struct tep_print_arg *arg, unsigned depth)
{
	if (depth > 100)
		return false;
	for (; arg; arg = arg->next) {
		switch (arg->type) {
		case TEP_PRINT_NULL:
		case TEP_PRINT_ATOM:
		case TEP_PRINT_FIELD:
		case TEP_PRINT_STRING:
		case TEP_PRINT_BSTRING:
		case TEP_PRINT_BITMASK:
		case TEP_PRINT_DYNAMIC_ARRAY_LEN:
			break;
		case TEP_PRINT_TYPE:
			if (!library_is_safe(arg->typecast.item, depth + 1))
				return false;
			break;
		case TEP_PRINT_FLAGS:
			if (!library_is_safe(arg->flags.field, depth + 1))
				return false;
			break;
		case TEP_PRINT_SYMBOL:
			if (!library_is_safe(arg->symbol.field, depth + 1))
				return false;
			break;
		case TEP_PRINT_HEX:
		case TEP_PRINT_HEX_STR:
			if (arg->hex.field->type != TEP_PRINT_FIELD ||
			    !is_small(arg->hex.size, 65536))
				return false;
			break;
		case TEP_PRINT_OP:
			if (strchr("[/%", arg->op.op[0]) && !is_small(arg->op.right, 64))
				return false;
			if (!library_is_safe(arg->op.left, depth + 1) ||
			    !library_is_safe(arg->op.right, depth + 1))
				return false;
			break;
		case TEP_PRINT_DYNAMIC_ARRAY:
			/* An address of our own memory: never to be printed. */
			return false;
		default:
			return false;
		}
	}
	return true;
}

/* Conversions that read no memory but the field's own and 16 bits' reach. */
static bool format_is_safe(const char *fmt)
{
	for (; (fmt = strchr(fmt, '%')) != NULL; fmt++) {
		if (fmt[1] == '%') {
			fmt++;
			continue;
		}
		const char *p = fmt + 1;
		while (*p && strchr("-#0123456789.hlLzZ", *p))
			p++;
		if (*p == '*' || !*p || !strchr("diuxXospc", *p))
			return false;
		if (*p == 'p' && isalnum((unsigned char)p[1]) && !strchr("sSfFMmUIi", p[1]))
			return false;
	}
	return true;
}

static bool library_print(const struct trace_event *ev, const void *raw, int size,
			  struct strbuf *out)
{
	struct tep_event *tep =
		tep_find_event_by_name(library, trace_event_system(ev), trace_event_name(ev));
	struct tep_record record = {.size = size, .data = (void *)raw};
	struct trace_seq seq;

	/* What the library cannot parse we may. */
	if (!tep || tep->flags & TEP_EVENT_FL_FAILED || !format_is_safe(tep->print_fmt.format) ||
	    !library_is_safe(tep->print_fmt.args, 0))
		return false;
	memcpy((void *)raw, &tep->id, 2);
	trace_seq_init(&seq);
	tep_print_event(library, &seq, &record, "%s", TEP_PRINT_INFO);
	strbuf_add(out, seq.buffer, seq.len);
	trace_seq_destroy(&seq);
	return true;
}

static void add(struct tracing *t, const char *system, const char *text)
{
	struct error *err = tracing_add_format(t, system, text, strlen(text));

	if (err)
		fail_msg("%s", err->msg);
	add_to_library(system, text, strlen(text));
}

static int setup(void **state)
{
	struct tracing *t;

	if (tracing_new_empty(&t))
		return -1;
	add(t, "syscalls", WRITE_FORMAT);
	add(t, "test", SHAPES_FORMAT);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	tracing_free(*state);
	if (library)
		tep_free(library);
	library = NULL;
	return 0;
}

static void put(uint8_t *raw, size_t off, uint64_t v, size_t n)
{
	memcpy(raw + off, &v, n);
}

TEST_WITH(test_write, setup, teardown)
{
	struct trace_event *ev = tracing_find(*state, 700);
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	uint8_t raw[44] = {0};

	assert_non_null(ev);
	assert_string_equal(trace_event_name(ev), "sys_enter_write");
	assert_string_equal(trace_event_system(ev), "syscalls");
	put(raw, 0, 700, 2);
	put(raw, 16, 1, 8);
	put(raw, 24, 0x7f0123456789, 8);
	put(raw, 32, 1234, 8);
	trace_event_print(ev, raw, sizeof(raw), &out);
	assert_string_equal(strbuf_str(&out),
			    "fd: 0x00000001, buf: 0x7f0123456789, count: 0x000004d2");

	/* A payload that ends early reads as zeroes behind its end. */
	strbuf_reset(&out);
	trace_event_print(ev, raw, 30, &out);
	assert_string_equal(strbuf_str(&out), "fd: 0x00000001, buf: 0x00000000, count: 0x00000000");
	strbuf_reset(&out);
	trace_event_print(ev, raw, 0, &out);
	assert_string_equal(strbuf_str(&out), "fd: 0x00000000, buf: 0x00000000, count: 0x00000000");
}

static bool describes(const struct trace_event *ev, const char *text)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct json_writer w = json_writer_make(&out);

	jw_object(&w, NULL);
	trace_event_describe(ev, &w);
	jw_end(&w);
	json_writer_finish(&w);
	assert_null(w.fault);
	if (strstr(strbuf_str(&out), text))
		return true;
	print_message("# no %s in %s\n", text, strbuf_str(&out));
	return false;
}

TEST_WITH(test_description, setup, teardown)
{
	const struct trace_event *ev = tracing_find(*state, 701);

	assert_true(describes(ev, "{\"system\":\"test\",\"tracepoint\":\"shapes\","));
	assert_true(describes(ev, "{\"name\":\"common_pid\",\"declaration\":\"int "
				  "common_pid\",\"offset\":4,\"size\":4,"
				  "\"common\":true,\"array\":false,\"string\":false,"
				  "\"signed\":true,\"dynamic\":false,\"relative\":false}"));
	assert_true(describes(ev, "{\"name\":\"name\",\"declaration\":\"char name[]\","
				  "\"offset\":40,\"size\":4,"
				  "\"common\":false,\"array\":true,\"string\":true,"
				  "\"signed\":false,\"dynamic\":true,\"relative\":false}"));
	assert_true(describes(ev, "\"symbols\":[{\"field\":\"flags\",\"delimiter\":\"|\","
				  "\"values\":[[1,\"ONE\"],[2,\"TWO\"],[192,\"BOTH\"]]},"
				  "{\"field\":\"small\",\"values\":[[0,\"zero\"],[1,\"one\"]]}]"));
}

TEST_WITH(test_shapes, setup, teardown)
{
	struct trace_event *ev = tracing_find(*state, 701);
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	uint8_t raw[80] = {0};

	assert_non_null(ev);
	memcpy(raw + 8, "cat", 4);
	put(raw, 24, (uint64_t)-7, 4);
	put(raw, 28, 5, 1);
	put(raw, 30, (uint64_t)-2, 2);
	put(raw, 32, 0xdeadbeef, 8);
	put(raw, 40, 72 | 6 << 16, 4);
	put(raw, 44, 0xc5, 4);
	put(raw, 52, 99, 4);
	put(raw, 64, 0xffff800012345678, 8);
	memcpy(raw + 72, "/etc/", 6);
	trace_event_print(ev, raw, sizeof(raw), &out);
	assert_string_equal(
		strbuf_str(&out),
		"comm=cat             |cat pid=-7    -7 -7   | 5 5 -2 0xc5 0xdeadbeef "
		"deadbeef 3735928559 305 name=/etc/ flags=ONE|BOTH|0x4 sym=one cond=odd "
		"hex=63 61 74 00 dump=000000006300 a1=99 what=ffff800012345678 100% "
		"0xdeadbeef\n");
}

TEST_WITH(test_fields, setup, teardown)
{
	struct trace_event *ev = tracing_find(*state, 701);
	const struct trace_field *f;
	const uint8_t *bytes;
	uint8_t raw[80] = {0};
	uint64_t v;
	uint32_t len;

	assert_int_equal(trace_event_n_fields(ev), 9);
	put(raw, 24, (uint64_t)-7, 4);
	put(raw, 30, (uint64_t)-2, 2);
	put(raw, 40, 72 | 6 << 16, 4);
	memcpy(raw + 72, "/etc/", 6);
	put(raw, 56, 0x80000001, 4);

	f = trace_event_find_field(ev, "pid");
	assert_int_equal(f->kind, TRACE_FIELD_SIGNED);
	assert_true(trace_field_number(ev, f, raw, sizeof(raw), &v));
	assert_int_equal((int64_t)v, -7);
	assert_false(trace_field_number(ev, f, raw, 27, &v));
	f = trace_event_find_field(ev, "mid");
	assert_true(trace_field_number(ev, f, raw, sizeof(raw), &v));
	assert_int_equal((int64_t)v, -2);

	f = trace_event_find_field(ev, "name");
	assert_int_equal(f->kind, TRACE_FIELD_STRING);
	assert_true(f->dynamic);
	assert_true(trace_field_bytes(ev, f, raw, sizeof(raw), &bytes, &len));
	assert_int_equal(len, 5);
	assert_memory_equal(bytes, "/etc/", 5);
	put(raw, 40, 76 | 6 << 16, 4); /* past the end by two */
	assert_false(trace_field_bytes(ev, f, raw, sizeof(raw), &bytes, &len));

	f = trace_event_find_field(ev, "array");
	assert_int_equal(f->kind, TRACE_FIELD_ARRAY);
	assert_true(trace_field_bytes(ev, f, raw, sizeof(raw), &bytes, &len));
	assert_int_equal(len, 16);
	assert_int_equal(trace_field_elem(ev, f, bytes, 2), 0x80000001);
	assert_int_equal(trace_event_find_field(ev, "what")->kind, TRACE_FIELD_POINTER);
	assert_null(trace_event_find_field(ev, "nothing"));
}

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Payloads with what matters in them: small numbers, all ones, text, offsets. */
static void random_fill(struct trace_event *ev, uint8_t *raw, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		raw[i] = (uint8_t)random_u64();
	for (size_t i = 0; i < trace_event_n_fields(ev); i++) {
		const struct trace_field *f = trace_event_field(ev, i);

		if (f->offset + f->size > size)
			continue;
		if (f->dynamic && f->size == 4) {
			/* A string with its NUL, at the end, as the kernel writes them. */
			uint32_t len = (uint32_t)(1 + random_u64() % 12);
			memcpy(raw + size - len, "abcdefghijkl", len);
			raw[size - 1] = 0;
			put(raw, f->offset, (size - len) | len << 16, 4);
		} else if (f->kind == TRACE_FIELD_STRING) {
			for (uint32_t k = 0; k < f->size; k++)
				raw[f->offset + k] = (uint8_t)('a' + random_u64() % 26);
			raw[f->offset + random_u64() % f->size] = 0;
		} else if (f->size <= 8) {
			switch (random_u64() % 4) {
			case 0:
				put(raw, f->offset, random_u64() % 16, f->size);
				break;
			case 1:
				put(raw, f->offset, ~0ull, f->size);
				break;
			case 2:
				put(raw, f->offset, 1ull << random_u64() % 64, f->size);
				break;
			}
		}
	}
}

static size_t compare_event(struct trace_event *ev)
{
	struct strbuf ours = STRBUF_INIT, theirs = STRBUF_INIT;
	uint8_t raw[1024];
	size_t compared = 0;

	for (int round = 0; round < 40; round++) {
		uint32_t size = (uint32_t)sizeof(raw) - 16;

		random_fill(ev, raw, size);
		memset(raw + size, 0, 16);
		strbuf_reset(&ours);
		strbuf_reset(&theirs);
		trace_event_print(ev, raw, sizeof(raw), &ours);
		if (!library_print(ev, raw, sizeof(raw), &theirs))
			break;
		if (strcmp(strbuf_str(&ours), strbuf_str(&theirs)))
			fail_msg("%s:%s:\n  ours   %s\n  theirs %s", trace_event_system(ev),
				 trace_event_name(ev), strbuf_str(&ours), strbuf_str(&theirs));
		compared++;
	}
	strbuf_deinit(&ours);
	strbuf_deinit(&theirs);
	return compared;
}

TEST_WITH(test_as_library, setup, teardown)
{
	struct tracing *t = *state;

	assert_int_equal(compare_event(tracing_find(t, 700)), 40);
	assert_int_equal(compare_event(tracing_find(t, 701)), 40);
}

static size_t add_folder(struct tracing *t, const char *system, const char *path)
{
	size_t n = 0;
	DIR *dir = opendir(path);
	struct dirent *d;

	while (dir && (d = readdir(dir)) != NULL) {
		char file[PATH_MAX];
		static char text[65536];
		struct stat st;

		if (d->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, d->d_name);
		if (stat(file, &st) || !S_ISDIR(st.st_mode))
			continue;
		if (!system) {
			n += add_folder(t, d->d_name, file);
			continue;
		}
		strncat(file, "/format", sizeof(file) - strlen(file) - 1);
		FILE *f = fopen(file, "r");
		if (!f)
			continue;
		size_t len = fread(text, 1, sizeof(text), f);
		fclose(f);
		_cleanup_error_ struct error *err = tracing_add_format(t, system, text, len);
		if (err)
			fail_msg("%s: %s", file, err->msg);
		add_to_library(system, text, len);
		n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

/* A print format that cannot be compiled: the payload is printed field by field. */
static bool is_by_fields(struct trace_event *ev)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	trace_event_print(ev, "", 0, &out);
	return !strncmp(strbuf_str(&out), "[FAILED TO PARSE]", 17);
}

/* Every event of the running kernel; counts go to the log. */
TEST_WITH(test_kernel_events, setup, teardown)
{
	const char *folder = getenv("TRACE_EVENTS");
	struct tracing *t;
	size_t compiled = 0, compared = 0, n;

	if (!folder)
		return; /* tests/cmd/test_script.sh names it, as root */
	assert_null(tracing_new_empty(&t));
	n = add_folder(t, NULL, folder);
	assert_true(n > 100);
	for (uint64_t id = 1; id <= UINT16_MAX; id++) { /* as common_type has it */
		struct trace_event *ev = tracing_find(t, id);

		if (!ev || !strcmp(trace_event_system(ev), "ftrace"))
			continue;
		if (!is_by_fields(ev))
			compiled++;
		else
			print_message("# field by field: %s:%s\n", trace_event_system(ev),
				      trace_event_name(ev));
		compared += compare_event(ev) > 0;
	}
	print_message("# %zu events, %zu compiled, %zu compared\n", n, compiled, compared);
	assert_true(compiled > n * 9 / 10);
	assert_true(compared > n * 8 / 10);
	tracing_free(t);
}

static void expect_bad(struct tracing *t, const char *text, const char *message)
{
	struct error *err = tracing_add_format(t, "bad", text, strlen(text));

	if (!err)
		fail_msg("taken as good: %.40s", text);
	if (!strstr(err->msg, message))
		fail_msg("'%s' lacks '%s'", err->msg, message);
	error_free(err);
}

TEST_WITH(test_bad_formats, setup, teardown)
{
	struct tracing *t = *state;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	expect_bad(t, "", "lacks its name or ID");
	expect_bad(t, "what is this", "lacks its name or ID");
	expect_bad(t,
		   "name: far\nID: 900\n" COMMON
		   "\tfield:int x;\toffset:2000000000;\tsize:4;\tsigned:1;\n\n"
		   "print fmt: \"%d\", REC->x\n",
		   "outside of any payload");
	/* A print format that is not understood leaves the event without one. */
	strbuf_adds(&text, "name: deep\nID: 902\n" COMMON "print fmt: \"%d\", ");
	for (int i = 0; i < 100000; i++)
		strbuf_addch(&text, i % 2 ? '(' : '!');
	assert_null(tracing_add_format(t, "bad", strbuf_str(&text), text.len));
	assert_true(is_by_fields(tracing_find(t, 902)));
	/* Two fields of one name: the second is marked, so that no object has a member twice. */
	add(t, "bad",
	    "name: twins\nID: 904\n" COMMON "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
	    "\tfield:int b;\toffset:12;\tsize:4;\tsigned:1;\n"
	    "\tfield:int a;\toffset:16;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->a\n");
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(trace_event_field(tracing_find(t, 904), i)->repeats, i == 2);
	strbuf_reset(&text);
	for (int i = 0; i < 300000; i++)
		strbuf_addch(&text, 'x');
	expect_bad(t, strbuf_str(&text), "not a format file");
}

/* A payload's number may be an index, a length or a divisor: never followed blindly. */
TEST_WITH(test_hostile_payload, setup, teardown)
{
	struct tracing *t = *state;
	struct trace_event *ev;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	uint8_t raw[24];

	add(t, "bad",
	    "name: hostile\nID: 903\n" COMMON "\tfield:u32 i;\toffset:8;\tsize:4;\tsigned:0;\n"
	    "\tfield:u32 a[2];\toffset:12;\tsize:8;\tsigned:0;\n\n"
	    "print fmt: \"%d %d %s %.*s|\", REC->a[REC->i], 1 / REC->i, "
	    "__print_hex(REC->a, REC->i), REC->i, \"abc\"\n");
	ev = tracing_find(t, 903);
	memset(raw, 0xff, sizeof(raw));
	trace_event_print(ev, raw, 20, &out);
	assert_non_null(strstr(strbuf_str(&out), "0 0 "));
	strbuf_reset(&out);
	memset(raw, 0, sizeof(raw));
	put(raw, 12, 77, 4);
	trace_event_print(ev, raw, 20, &out);
	assert_string_equal(strbuf_str(&out), "77 0  |");
}

/* In the other byte order with other set. */
static void blob_number(struct strbuf *b, uint64_t v, size_t n, bool other)
{
	uint8_t bytes[8];

	memcpy(bytes, &v, 8);
	for (size_t i = 0; i < n; i++)
		strbuf_addch(b, (char)bytes[other ? n - 1 - i : i]);
}

static void make_blob(struct strbuf *b, bool other)
{
	static const char printks[] = "0xffff800012345678 : \"a known text\\n\"\n";

	strbuf_add(b, "\x17\x08\x44tracing0.6\0", 14);
	blob_number(b, (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != other, 1, other);
	blob_number(b, 8, 1, other);
	blob_number(b, 4096, 4, other);
	strbuf_add(b, "header_page\0", 12);
	blob_number(b, 0, 8, other);
	strbuf_add(b, "header_event\0", 13);
	blob_number(b, 3, 8, other);
	strbuf_add(b, "abc", 3);
	blob_number(b, 0, 4, other);
	blob_number(b, 1, 4, other);
	strbuf_add(b, "test\0", 5);
	blob_number(b, 1, 4, other);
	blob_number(b, strlen(SHAPES_FORMAT), 8, other);
	strbuf_adds(b, SHAPES_FORMAT);
	blob_number(b, 0, 4, other);
	blob_number(b, strlen(printks), 4, other);
	strbuf_adds(b, printks);
	blob_number(b, 0, 8, other);
}

TEST(test_blob)
{
	_cleanup_strbuf_ struct strbuf blob = STRBUF_INIT, out = STRBUF_INIT;
	uint8_t raw[80] = {0};
	struct tracing *t;

	make_blob(&blob, false);
	struct data_tracing data;
	assert_null(data_tracing_decode(cursor_make(blob.str, blob.len, "test"), &data));
	assert_null(tracing_new(&data, NULL, &t));
	assert_null(tracing_find(t, 702));
	assert_null(tracing_find(t, 702));
	struct trace_event *ev = tracing_find(t, 701);
	assert_non_null(ev);
	assert_ptr_equal(tracing_find(t, 701), ev);
	put(raw, 64, 0xffff800012345678, 8);
	trace_event_print(ev, raw, sizeof(raw), &out);
	assert_non_null(strstr(strbuf_str(&out), "what=a known text 100%"));
	tracing_free(t);
	data_tracing_deinit(&data);
}

/* A recording of a machine of the other byte order. */
TEST(test_other_byte_order)
{
	_cleanup_strbuf_ struct strbuf blob = STRBUF_INIT, out = STRBUF_INIT, raw = STRBUF_INIT;
	struct data_tracing data;
	struct tracing *t;
	uint64_t v;

	make_blob(&blob, true);
	assert_null(data_tracing_decode(cursor_make(blob.str, blob.len, "test"), &data));
	assert_null(tracing_new(&data, NULL, &t));
	struct trace_event *ev = tracing_find(t, 701);
	assert_non_null(ev);
	strbuf_add(&raw, "12345678cat\0............", 24);
	blob_number(&raw, (uint64_t)-7, 4, true);
	blob_number(&raw, 0, 4, true);
	blob_number(&raw, 0x123456789a, 8, true);
	blob_number(&raw, 60 | 4 << 16, 4, true);
	blob_number(&raw, 2, 4, true);
	blob_number(&raw, 5, 4, true);
	blob_number(&raw, 6, 4, true);
	strbuf_add(&raw, "\0\0\0\0/x\0", 8);
	trace_event_print(ev, raw.str, (uint32_t)raw.len, &out);
	assert_non_null(strstr(strbuf_str(&out), "comm=cat             |cat pid=-7 "));
	assert_non_null(strstr(strbuf_str(&out), " 0x123456789a 123456789a "));
	assert_non_null(strstr(strbuf_str(&out), " name=/x flags=TWO "));
	assert_non_null(strstr(strbuf_str(&out), " a1=6 "));
	assert_true(trace_field_number(ev, trace_event_find_field(ev, "pid"), raw.str,
				       (uint32_t)raw.len, &v));
	assert_int_equal((int64_t)v, -7);
	tracing_free(t);
	data_tracing_deinit(&data);
}

static void use_blob(const char *bytes, size_t size)
{
	struct data_tracing data;
	struct tracing *t = NULL;
	struct strbuf out = STRBUF_INIT;
	uint8_t raw[80];
	struct error *err = data_tracing_decode(cursor_make(bytes, size, "flipped"), &data);

	if (err) {
		error_free(err);
		return;
	}
	memset(raw, 0x41, sizeof(raw));
	err = tracing_new(&data, NULL, &t);
	if (err)
		error_free(err);
	for (size_t i = 0; t && i < data.n_events; i++) {
		struct trace_event *ev = tracing_find(t, data.events[i].id);

		if (ev)
			trace_event_print(ev, raw, sizeof(raw), &out);
	}
	strbuf_deinit(&out);
	tracing_free(t);
	data_tracing_deinit(&data);
}

/* Every byte of the tracing data, damaged in three ways, and every prefix of them. */
TEST(test_damage)
{
	_cleanup_strbuf_ struct strbuf blob = STRBUF_INIT;

	make_blob(&blob, false);
	for (size_t i = 0; i < blob.len; i++) {
		static const char flips[] = {0x01, 0x20, (char)0x80};

		for (size_t k = 0; k < sizeof(flips); k++) {
			blob.str[i] ^= flips[k];
			use_blob(blob.str, blob.len);
			blob.str[i] ^= flips[k];
		}
		char *copy = malloc(i ? i : 1); /* so that the sanitizer sees its end */
		memcpy(copy, blob.str, i);
		use_blob(copy, i);
		free(copy);
	}
}
