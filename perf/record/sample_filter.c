// SPDX-License-Identifier: BSD-2-Clause
/*
 * --filter of events that are not tracepoints, whose filters the kernel does not know: perf's
 *
 *	TERM OPERATOR VALUE [, TERM OPERATOR VALUE]... [|| TERM OPERATOR VALUE]...
 *
 * where "||" binds more than ",". A program that is built in (sample_filter.bpf.c) gets the tests
 * as constants; the kernel runs it for each sample and drops those for which it returns 0.
 *
 * A term that the samples do not have is an error, as with perf: the filter does not add anything
 * to what is recorded. The period is always known.
 */
#include "perf/record/sample_filter.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/util.h"
#include "lib/sys/cgroup_paths.h"

struct word {
	const char *name;
	uint64_t value;
};

static const struct word mem_op[] = {
	{"na", 1}, {"load", 2}, {"store", 4}, {"pfetch", 8}, {"exec", 16}, {0},
};

static const struct word mem_lvl[] = {
	{"l1", 1},	   {"l2", 2},	{"l3", 3},   {"l4", 4},	   {"cxl", 9}, {"io", 10},
	{"any_cache", 11}, {"lfb", 12}, {"ram", 13}, {"pmem", 14}, {"na", 15}, {0},
};

/* The last two are of mem_snoopx. */
static const struct word mem_snoop[] = {
	{"na", 1},    {"none", 2}, {"hit", 4},	 {"miss", 8},
	{"hitm", 16}, {"fwd", 32}, {"peer", 64}, {0},
};

static const struct word mem_remote[] = {{"remote", 1}, {0}};

static const struct word mem_lock[] = {{"na", 1}, {"locked", 2}, {0}};

static const struct word mem_dtlb[] = {
	{"na", 1},	     {"l1_hit", 2 | 8},
	{"l1_miss", 4 | 8},  {"l2_hit", 2 | 16},
	{"l2_miss", 4 | 16}, {"any_hit", 2},
	{"any_miss", 4},     {"walk", 32},
	{"fault", 64},	     {0},
};

static const struct word mem_blk[] = {{"na", 1}, {"by_data", 2}, {"by_addr", 4}, {0}};

static const struct word mem_hops[] = {
	{"hops0", 1}, {"hops1", 2}, {"hops2", 3}, {"hops3", 4}, {0},
};

struct term {
	const char *name;
	enum sample_filter_term term;
	uint64_t flags;
	const char *flag_name, *option; /* which adds it; NULL: samples always have it */
	const struct word *words;
	uint8_t shift, bits;
};

#define FLAG(x)	    PERF_SAMPLE_##x, "PERF_SAMPLE_" #x
#define ANY_WEIGHT  PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT", "-W"
#define DATA_SOURCE FLAG(DATA_SRC), "-d"

/* The bits of data_src are those of union perf_mem_data_src, from the lowest. */
static const struct term terms[] = {
	{"ip", SAMPLE_IP, FLAG(IP), NULL, NULL, 0, 0},
	{"id", SAMPLE_ID, PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER, "PERF_SAMPLE_ID",
	 "--sample-identifier", NULL, 0, 0},
	{"tid", SAMPLE_TID, FLAG(TID), NULL, NULL, 0, 0},
	{"pid", SAMPLE_PID, FLAG(TID), NULL, NULL, 0, 0},
	{"cpu", SAMPLE_CPU, FLAG(CPU), "--sample-cpu", NULL, 0, 0},
	{"time", SAMPLE_TIME, FLAG(TIME), "-T", NULL, 0, 0},
	{"addr", SAMPLE_ADDR, FLAG(ADDR), "-d", NULL, 0, 0},
	{"period", SAMPLE_PERIOD, 0, NULL, NULL, NULL, 0, 0},
	{"txn", SAMPLE_TXN, FLAG(TRANSACTION), "--transaction", NULL, 0, 0},
	{"weight", SAMPLE_WEIGHT, ANY_WEIGHT, NULL, 0, 0},
	{"weight1", SAMPLE_WEIGHT1, ANY_WEIGHT, NULL, 0, 0},
	{"weight2", SAMPLE_WEIGHT2, ANY_WEIGHT, NULL, 0, 0},
	{"weight3", SAMPLE_WEIGHT3, ANY_WEIGHT, NULL, 0, 0},
	{"ins_lat", SAMPLE_WEIGHT2, ANY_WEIGHT, NULL, 0, 0},
	{"retire_lat", SAMPLE_WEIGHT3, ANY_WEIGHT, NULL, 0, 0},
	{"p_stage_cyc", SAMPLE_WEIGHT3, ANY_WEIGHT, NULL, 0, 0},
	{"phys_addr", SAMPLE_PHYS_ADDR, FLAG(PHYS_ADDR), "--phys-data", NULL, 0, 0},
	{"code_pgsz", SAMPLE_CODE_PAGE_SIZE, FLAG(CODE_PAGE_SIZE), "--code-page-size", NULL, 0, 0},
	{"data_pgsz", SAMPLE_DATA_PAGE_SIZE, FLAG(DATA_PAGE_SIZE), "--data-page-size", NULL, 0, 0},
	{"cgroup", SAMPLE_CGROUP, FLAG(CGROUP), "--all-cgroups", NULL, 0, 0},
	{"mem_op", SAMPLE_MEMORY, DATA_SOURCE, mem_op, 0, 5},
	{"mem_lvl", SAMPLE_MEMORY, DATA_SOURCE, mem_lvl, 33, 4},
	{"mem_snoop", SAMPLE_SNOOP, DATA_SOURCE, mem_snoop, 0, 0},
	{"mem_remote", SAMPLE_MEMORY, DATA_SOURCE, mem_remote, 37, 1},
	{"mem_lock", SAMPLE_MEMORY, DATA_SOURCE, mem_lock, 24, 2},
	{"mem_dtlb", SAMPLE_MEMORY, DATA_SOURCE, mem_dtlb, 26, 7},
	{"mem_blk", SAMPLE_MEMORY, DATA_SOURCE, mem_blk, 40, 3},
	{"mem_hops", SAMPLE_MEMORY, DATA_SOURCE, mem_hops, 43, 3},
	{"uid", SAMPLE_UID, 0, NULL, NULL, NULL, 0, 0},
	{"gid", SAMPLE_GID, 0, NULL, NULL, NULL, 0, 0},
};

/* ---- the text ---- */

static const char *skip_space(const char *at)
{
	return at + strspn(at, " \t\n");
}

static size_t name_len(const char *at)
{
	return strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
}

static bool is_word(const char *name, const char *at, size_t len)
{
	return strlen(name) == len && !strncmp(name, at, len);
}

static struct error *parse_term(const char **at, const struct term **out)
{
	const size_t len = name_len(*at);
	_cleanup_strbuf_ struct strbuf known = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(terms); i++) {
		if (is_word(terms[i].name, *at, len)) {
			*at += len;
			*out = &terms[i];
			return NULL;
		}
		strbuf_addf(&known, "%s%s", i ? ", " : "", terms[i].name);
	}
	return error_hint(error_usage("'%s' does not begin with a field of samples", *at),
			  "fields are %s", strbuf_str(&known));
}

static struct error *parse_op(const char **at, enum sample_filter_op *out)
{
	/* the longer ones first */
	static const struct word ops[] = {
		{"==", SAMPLE_EQUAL},	{"!=", SAMPLE_DIFFERS}, {">=", SAMPLE_AT_LEAST},
		{"<=", SAMPLE_AT_MOST}, {">", SAMPLE_ABOVE},	{"<", SAMPLE_BELOW},
		{"&", SAMPLE_HAS_BITS},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		const size_t len = strlen(ops[i].name);

		if (strncmp(*at, ops[i].name, len))
			continue;
		*at += len;
		*out = (enum sample_filter_op)ops[i].value;
		return NULL;
	}
	return error_hint(error_usage("'%s' does not begin with an operator", *at),
			  "operators are ==, !=, >, >=, <, <= and &");
}

struct wanted_cgroup {
	const char *path;
	size_t len;
	uint64_t id; /* 0: not found yet */
};

static bool see_cgroup(void *ctx, uint64_t id, const char *path)
{
	struct wanted_cgroup *wanted = ctx;

	if (!is_word(path, wanted->path, wanted->len))
		return true;
	wanted->id = id;
	return false;
}

static struct error *find_cgroup(const struct sys_roots *roots, const char **at, uint64_t *out)
{
	struct wanted_cgroup wanted = {.path = *at, .len = strcspn(*at, " \t\n,|")};
	_cleanup_free_ char *root = cgroup_root_of_perf(roots);

	if (root)
		cgroup_walk(root, see_cgroup, &wanted);
	if (!wanted.id)
		return error_usage("cgroup '%.*s' does not exist", (int)wanted.len, *at);
	*at += wanted.len;
	*out = wanted.id;
	return NULL;
}

static struct error *parse_value(const struct sys_roots *roots, const struct term *term,
				 const char **at, uint64_t *out)
{
	const size_t len = name_len(*at);
	char *end;

	if (term->term == SAMPLE_CGROUP && **at == '/')
		return find_cgroup(roots, at, out);
	for (const struct word *word = term->words; word && word->name; word++) {
		if (!is_word(word->name, *at, len))
			continue;
		*at += len;
		*out = word->value;
		return NULL;
	}
	errno = 0;
	const bool hex = !strncmp(*at, "0x", 2) || !strncmp(*at, "0X", 2);
	*out = strtoull(*at, &end, hex ? 16 : 10);
	if (**at < '0' || **at > '9' || errno || name_len(end))
		return error_usage("'%s' does not begin with a value of %s", *at, term->name);
	*at = end;
	return NULL;
}

static struct error *parse_test(const struct sys_roots *roots, const char **at,
				struct sample_filter_test *out)
{
	const struct term *term = NULL;
	enum sample_filter_op op = SAMPLE_EQUAL;
	uint64_t value = 0;

	TRY(parse_term(at, &term));
	*at = skip_space(*at);
	TRY(parse_op(at, &op));
	*at = skip_space(*at);
	TRY(parse_value(roots, term, at, &value));
	*out = (struct sample_filter_test){
		.value = value,
		.flags = term->flags,
		.term = term->term,
		.op = op,
		.shift = term->shift,
		.bits = term->bits,
	};
	return NULL;
}

static struct error *parse(const struct sys_roots *roots, const char *text,
			   struct sample_tests *out)
{
	const char *at = skip_space(text);

	for (;;) {
		struct sample_filter_test *test = vec_push(out);

		if (!test)
			return error_nomem();
		TRY(parse_test(roots, &at, test));
		at = skip_space(at);
		test->is_last = strncmp(at, "||", 2) != 0;
		if (!*at)
			break;
		if (*at != ',' && test->is_last)
			return error_hint(error_usage("unexpected text '%s'", at),
					  "join conditions with ',' (and) or '||' (or)");
		at = skip_space(at + (*at == ',' ? 1 : 2));
	}
	if (out->n > SAMPLE_FILTER_TESTS)
		return error_usage("more than %d conditions", SAMPLE_FILTER_TESTS);
	return NULL;
}

struct error *sample_filter_parse(const struct sys_roots *roots, const char *text,
				  struct sample_tests *out)
{
	return error_at(parse(roots, text, out), "--filter '%s'", text);
}

struct error *sample_filter_check(const struct sample_tests *tests, uint64_t sample_type)
{
	const struct sample_filter_test *test;

	vec_for_each (test, tests) {
		if (!test->flags || sample_type & test->flags)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(terms); i++)
			if (terms[i].flags == test->flags)
				return error_hint(error_usage("the samples do not have %s, which "
							      "--filter asks for",
							      terms[i].flag_name),
						  "add the option %s", terms[i].option);
	}
	return NULL;
}
