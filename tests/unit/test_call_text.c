// SPDX-License-Identifier: BSD-2-Clause
/* System calls as text: records made by hand, and what strace and perf trace print of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "syscalls/call_text.h"

/* A record under construction; its pieces follow the arguments. */
struct test_record {
	union {
		struct trace_record rec;
		uint8_t bytes[4096];
	};
};

static struct call_table *table;

static int setup(void **state)
{
	const struct call_table_opts opts = {.sz = sizeof(opts)};

	assert_null(call_table_new(&opts, &table));
	return 0;
}

static int teardown(void **state)
{
	call_table_free(table);
	return 0;
}

static struct test_record record(uint16_t nr, int64_t ret, uint8_t n, const uint64_t *args)
{
	struct test_record r = {0};

	r.rec = (struct trace_record){.nr = nr, .ret = ret, .n_args = n, .pid = 1, .tid = 1};
	memcpy(r.rec.args, args, n * sizeof(*args));
	r.rec.size = (uint32_t)(sizeof(r.rec) + n * sizeof(*args));
	return r;
}
#define RECORD(name, ret, ...)                                                                     \
	record(SYS_##name, ret, ARRAY_SIZE(((const uint64_t[]){__VA_ARGS__})),                     \
	       (const uint64_t[]){__VA_ARGS__})

static void add_piece(struct test_record *r, uint8_t arg, bool at_exit, uint8_t flags,
		      const void *data, uint32_t len)
{
	struct trace_piece piece = {.arg = arg, .exit = at_exit, .flags = flags, .len = len};

	piece.addr = r->rec.args[arg];
	assert_true(r->rec.size + sizeof(piece) + len + 8 <= sizeof(r->bytes));
	memcpy(r->bytes + r->rec.size, &piece, sizeof(piece));
	memcpy(r->bytes + r->rec.size + sizeof(piece), data, len);
	r->rec.size += (uint32_t)(sizeof(piece) + ((len + 7) & ~7u));
	r->rec.n_pieces++;
}

static void add_text(struct test_record *r, uint8_t arg, const char *text)
{
	add_piece(r, arg, false, 0, text, (uint32_t)strlen(text) + 1);
}

static void check(const struct test_record *r, enum call_style style, const char *want)
{
	const struct call_text_opts opts = {.style = style};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	assert_null(call_text_add(&out, table, &r->rec, &opts));
	assert_string_equal(strbuf_str(&out), want);
}

static void check_strace(const struct test_record *r, const char *want)
{
	check(r, CALL_STYLE_STRACE, want);
}

static void check_json(const struct test_record *r, const char *want)
{
	const struct call_text_opts opts = {0};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct json_writer w = json_writer_make(&out);

	jw_object(&w, NULL);
	assert_null(call_json_add(&w, table, &r->rec, &opts));
	jw_end(&w);
	json_writer_finish(&w);
	assert_string_equal(strbuf_str(&out), want);
}

static void test_open(void **state)
{
	struct test_record r = RECORD(openat, 3, (uint64_t)-100, 0x1000, 02000000, 0);

	add_text(&r, 1, "/etc/passwd");
	check_strace(&r, "openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY|O_CLOEXEC) = 3");
	check(&r, CALL_STYLE_PERF,
	      "openat(dfd: CWD, filename: \"/etc/passwd\", flags: RDONLY|CLOEXEC) = 3");
	check_json(&r, "{\"syscall\":\"openat\",\"args\":{\"dfd\":\"AT_FDCWD\",\"filename\":"
		       "\"/etc/passwd\",\"flags\":\"O_RDONLY|O_CLOEXEC\"},\"ret\":3}");
	r = RECORD(openat, -2, (uint64_t)-100, 0, 01101, 0644);
	check_strace(&r, "openat(AT_FDCWD, NULL, O_WRONLY|O_CREAT|O_TRUNC, 0644) = "
			 "-1 ENOENT (No such file or directory)");
	check_json(&r, "{\"syscall\":\"openat\",\"args\":{\"dfd\":\"AT_FDCWD\",\"filename\":null,"
		       "\"flags\":\"O_WRONLY|O_CREAT|O_TRUNC\",\"mode\":\"0644\"},\"ret\":-2,"
		       "\"error\":\"ENOENT\"}");
	r = RECORD(openat, 3, 5, 0x1000, 0x80000001, 0);
	check_strace(&r, "openat(5, 0x1000, O_WRONLY|0x80000000) = 3");
}

static void test_strings(void **state)
{
	struct test_record r = RECORD(write, 14, 1, 0x1000, 14);

	add_piece(&r, 1, false, 0, "a\"\\\n\t\033[1\0012\0xyz", 14);
	check_strace(&r, "write(1, \"a\\\"\\\\\\n\\t\\33[1\\0012\\0xyz\", 14) = 14");
	r = RECORD(write, 100, 1, 0x1000, 100);
	add_piece(&r, 1, false, TRACE_PIECE_CUT, "0123", 4);
	check_strace(&r, "write(1, \"0123\"..., 100) = 100");
	r = RECORD(read, 0, 1, 0x1000, 100);
	check_strace(&r, "read(1, \"\", 100) = 0");
	r = RECORD(read, -11, 1, 0x1000, 100);
	check_strace(&r, "read(1, 0x1000, 100) = -1 EAGAIN (Resource temporarily unavailable)");
	r = RECORD(read, -512, 1, 0x1000, 100);
	check_strace(&r,
		     "read(1, 0x1000, 100) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_strings),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
