// SPDX-License-Identifier: BSD-2-Clause
/* Probe points that a process of its own finds, and points as bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/base/strbuf.h"
#include "probe/point/points_codec.h"
#include "tests/unit/probe_find.h"

#define FOUND "found_by_the_process"

/* A function of this program that probes are about. */
int found_by_the_process(int n);
__attribute__((noinline, used)) int found_by_the_process(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static pid_t asked;

static struct error *confine_nothing(const struct log *log)
{
	assert_true(getpid() != asked);
	log_warn(log, "now in process %s", "two");
	return NULL;
}

static struct error *confine_fails(const struct log *log)
{
	(void)log;
	return error_hint(error_at(error_new(EPERM, "not today"), "confine"), "try again");
}

static struct error *confine_dies(const struct log *log)
{
	(void)log;
	raise(SIGKILL);
	return NULL;
}

/* Keeps the last message. */
static void keep(void *ctx, enum log_level level, const char *fmt, va_list ap)
{
	(void)level;
	vsnprintf(ctx, 64, fmt, ap);
}

/* text: behind "exec=this program;"; confine: NULL: in this process. */
static struct error *find(confine_fn *confine, const char *text, char said[64],
			  struct probe_points *points)
{
	_cleanup_free_ char *path = realpath("/proc/self/exe", NULL);
	_cleanup_free_ char *whole = text_format("exec=\"%s\";%s", path, text);
	_cleanup_(probe_finder_freep) struct probe_finder *finder = NULL;
	_cleanup_probe_def_ struct probe_def def = {0};
	const struct log log = {.level = LOG_WARN, .write = keep, .ctx = said};
	const struct finder_opts opts = {.no_debuginfod = true, .confine = confine, .log = &log};

	asked = getpid();
	assert_null(probe_finder_new(&opts, &finder));
	assert_null(probe_def_parse(whole, &def));
	for (int i = 0; i < 2; i++) { /* the second answer is by the same process */
		probe_points_deinit(points);
		TRY(probe_points_find(finder, &def, points));
	}
	return NULL;
}

TEST(the_same_points_are_found)
{
	static const char *const texts[] = {
		FOUND,
		FOUND " a=%di b=%si:string c=+8(%di):u32 $stack1 $comm",
		FOUND "%return $retval:s32",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_probe_points_ struct probe_points here = {0}, there = {0};
		_cleanup_strbuf_ struct strbuf one = STRBUF_INIT, other = STRBUF_INIT;
		char said[64] = "";

		assert_null(find(NULL, texts[i], said, &here));
		assert_string_equal(said, "");
		assert_null(find(confine_nothing, texts[i], said, &there));
		assert_string_equal(said, "now in process two");
		encode_points(&one, &here);
		encode_points(&other, &there);
		assert_int_equal(one.len, other.len);
		assert_memory_equal(one.str, other.str, one.len);
	}
}

TEST(errors_are_the_same)
{
	_cleanup_probe_points_ struct probe_points points = {0};
	char said[64] = "";
	_cleanup_error_ struct error *here = find(NULL, "found_by_the_proces", said, &points);
	_cleanup_error_ struct error *there =
		find(confine_nothing, "found_by_the_proces", said, &points);

	assert_non_null(here);
	assert_int_equal(there->code, here->code);
	assert_string_equal(there->msg, here->msg);
	assert_string_equal(there->hint, here->hint);
	assert_string_equal(there->where ? there->where : "", here->where ? here->where : "");
	assert_int_equal(points.n, 0);
}

TEST(what_cannot_be_confined_finds_nothing)
{
	_cleanup_probe_points_ struct probe_points points = {0};
	char said[64] = "";
	_cleanup_error_ struct error *err = find(confine_fails, FOUND, said, &points);

	assert_int_equal(err->code, EPERM);
	assert_string_equal(err->msg, "not today");
	assert_string_equal(err->where, "confine");
	assert_string_equal(err->hint, "try again");
}

TEST(its_end_is_an_error)
{
	_cleanup_probe_points_ struct probe_points points = {0};
	char said[64] = "";
	_cleanup_error_ struct error *err = find(confine_dies, FOUND, said, &points);

	assert_int_equal(err->code, EPROTO);
	assert_non_null(strstr(err->msg, "ended (Killed)"));
}

static struct error *decode(const void *data, size_t size)
{
	_cleanup_probe_points_ struct probe_points points = {0};
	struct cursor c = cursor_make(data, size, "points");

	return decode_points(&c, &points);
}

TEST(damaged_points_are_refused)
{
	_cleanup_probe_points_ struct probe_points points = {0};
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	char said[64] = "";

	assert_null(find(NULL, FOUND " a=%di b=+8(%di):string", said, &points));
	encode_points(&bytes, &points);
	assert_null(decode(bytes.str, bytes.len));
	for (size_t size = 0; size < bytes.len; size++) {
		_cleanup_error_ struct error *err = decode(bytes.str, size);

		assert_int_equal(err->code, EBADMSG);
	}
	strbuf_addch(&bytes, 0);
	_cleanup_error_ struct error *longer = decode(bytes.str, bytes.len);
	assert_int_equal(longer->code, EBADMSG);
	bytes.len--;
	/* Whatever a byte becomes: no crash, and no memory beyond that of the bytes. */
	for (size_t i = 0; i < bytes.len; i++)
		for (int bit = 0; bit < 8; bit++) {
			bytes.str[i] ^= (char)(1 << bit);
			error_free(decode(bytes.str, bytes.len));
			bytes.str[i] ^= (char)(1 << bit);
		}
}
