// SPDX-License-Identifier: BSD-2-Clause
/* What trace prints of made-up records and sums, and who is left out of a trace. */
#include "tree.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "show/result_json.h"
#include "trace/bystanders.h"
#include "trace/call_conditions.h"
#include "trace/call_lines.h"
#include "trace/call_sums.h"
#include "trace/other_events.h"
#include "trace/record_sums.h"
#include "trace/thread_counts.h"
#include "trace/trace_report.h"

static void ok(struct error *err)
{
	if (err)
		fail_msg("%s", err->msg);
}

/* A record with room for arguments and pieces. */
union made_record {
	struct trace_record rec;
	unsigned char bytes[1024];
};

static struct trace_record *make(const struct call_table *table, union made_record *made,
				 const char *name, int64_t ret)
{
	const struct call *call = call_by_name(table, TRACE_ABI_NATIVE, name);

	assert_non_null(call);
	*made = (union made_record){
		.rec =
			{
				.size = sizeof(made->rec) + call->copies.n_args * 8,
				.nr = (uint16_t)call->nr,
				.enter_ns = 1000000000,
				.exit_ns = 1000003000,
				.ret = ret,
				.pid = 100,
				.tid = 101,
				.comm = "work",
				.n_args = call->copies.n_args,
			},
	};
	return &made->rec;
}

static struct call_table *table_new(void)
{
	const struct call_table_opts opts = {.sz = sizeof(opts)};
	struct call_table *table;

	ok(call_table_new(&opts, &table));
	return table;
}

static void check_line(struct call_lines *lines, const struct trace_record *rec, const char *want)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	ok(call_lines_add(lines, rec, NULL, &out));
	assert_string_equal(strbuf_str(&out), want);
}

TEST(test_perf_columns)
{
	struct call_table *table = table_new();
	struct call_lines_opts opts = {.table = table, .threads = true, .alignment = 70};
	struct call_lines *lines;
	union made_record made;

	ok(call_lines_new(&opts, &lines));
	struct trace_record *rec = make(table, &made, "getppid", 7);
	check_line(lines, rec,
		   "     0.000 ( 0.003 ms): work/101 getppid()                               "
		   "                              = 7\n");
	rec->enter_ns += 1500000;
	rec->exit_ns = 0;
	rec->flags = TRACE_NO_EXIT;
	check_line(lines, rec,
		   "     1.500 (         ): work/101 getppid()                               "
		   "                           ...\n");
	rec->exit_ns = rec->enter_ns;
	rec->enter_ns = 0;
	rec->flags = TRACE_NO_ENTRY;
	check_line(lines, rec,
		   "         ? (         ): work/101  ... [continued]: getppid()             "
		   "                              = 7\n");
	call_lines_free(lines);
	opts.threads = false;
	opts.full_time = true;
	ok(call_lines_new(&opts, &lines));
	rec = make(table, &made, "getppid", 7);
	check_line(lines, rec,
		   "  1000.000 ( 0.003 ms): getppid()                                        "
		   "                     = 7\n");
	/* a name from outside cannot move the cursor */
	opts.threads = true;
	opts.full_time = false;
	call_lines_free(lines);
	ok(call_lines_new(&opts, &lines));
	memcpy(rec->comm, "a\033[2Jb", 7);
	check_line(lines, rec,
		   "     0.000 ( 0.003 ms): a\\x1b[2Jb/101 getppid()                        "
		   "                                     = 7\n");
	call_lines_free(lines);
	call_table_free(table);
}

TEST(test_strace_layout)
{
	struct call_table *table = table_new();
	const struct call_lines_opts opts = {.table = table, .style = CALL_LINES_STRACE};
	struct call_lines_opts with_ends = opts;
	struct call_lines *lines;
	union made_record made;

	ok(call_lines_new(&opts, &lines));
	struct trace_record *rec = make(table, &made, "getppid", 7);
	check_line(lines, rec, "getppid()                               = 7\n");
	rec->tid = 102;
	check_line(lines, rec, "[pid   102] getppid()                   = 7\n");
	rec = make(table, &made, "exit_group", 0);
	rec->args[0] = 3;
	rec->flags = TRACE_NO_EXIT;
	check_line(lines, rec,
		   "[pid   101] exit_group(3)               = ?\n"
		   "[pid   101] +++ exited with 3 +++\n");
	call_lines_free(lines);
	/* the end of a thread has a record of its own */
	with_ends.ends = true;
	ok(call_lines_new(&with_ends, &lines));
	check_line(lines, rec, "exit_group(3)                           = ?\n");
	rec->flags = TRACE_EVENT;
	rec->nr = TRACE_EVENT_END;
	rec->ret = SIGKILL;
	check_line(lines, rec, "+++ killed by SIGKILL +++\n");
	call_lines_free(lines);
	call_table_free(table);
}

TEST(test_json_lines)
{
	struct call_table *table = table_new();
	const struct call_lines_opts opts = {
		.table = table, .style = CALL_LINES_JSON, .clock_diff = 5};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct call_lines *lines;
	union made_record made;

	ok(call_lines_new(&opts, &lines));
	ok(call_lines_add(lines, make(table, &made, "getppid", 7), NULL, &out));
	assert_non_null(strstr(strbuf_str(&out),
			       "{\"type\":\"call\",\"time_ns\":1000000005,\"duration_ns\":3000,"
			       "\"pid\":100,\"tid\":101,\"comm\":\"work\",\"cpu\":0,"));
	assert_non_null(strstr(strbuf_str(&out), "\"syscall\":\"getppid\""));
	assert_int_equal(out.str[out.len - 1], '\n');
	call_lines_free(lines);
	call_table_free(table);
}

/* ---- conditions ---- */

/* The calls that a condition leaves, without -e. */
static struct trace_call *selected_by(const struct call_table *table, const char *condition)
{
	struct trace_call *calls = calloc(TRACE_ABIS * TRACE_NRS, sizeof(*calls));
	struct call_conditions conditions = {0};

	assert_non_null(calls);
	ok(call_table_select(table, "all", calls));
	ok(call_conditions_make(condition, table, calls, &conditions));
	call_conditions_deinit(&conditions);
	return calls;
}

/* Calls without a name have what all calls have, and no arguments. */
TEST(test_conditions_of_calls_without_names)
{
	enum { NAMELESS = 1000, OTHER = 1001, OF_X32 = TRACE_ABI_X32 * TRACE_NRS + 1000 };
	struct call_table *table = table_new();
	const uint32_t openat = call_by_name(table, TRACE_ABI_NATIVE, "openat")->nr;

	struct trace_call *calls = selected_by(table, "openat.flags >= 0");
	assert_true(calls[openat].traced);
	assert_false(calls[NAMELESS].traced || calls[OTHER].traced || calls[OF_X32].traced);
	free(calls);
	calls = selected_by(table, "error == ENOSYS || openat.flags == 0");
	assert_true(calls[openat].traced && calls[NAMELESS].traced && calls[OF_X32].traced);
	assert_true(calls[NAMELESS].where && calls[NAMELESS].where == calls[OTHER].where);
	assert_true(calls[NAMELESS].where != calls[openat].where);
	free(calls);
	call_table_free(table);
}

/* ---- the summary ---- */

/* The errors of each of many threads are its own, and found without a look at all of them. */
TEST(test_sums_of_many)
{
	enum { THREADS = 20000 };
	struct call_table *table = table_new();
	const uint32_t openat = call_by_name(table, TRACE_ABI_NATIVE, "openat")->nr;
	const uint32_t nr[] = {openat, call_by_name(table, TRACE_ABI_NATIVE, "close")->nr};
	struct thread_counts counts = {.faults = true};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_results_ struct results results = {.subject = RESULTS_OF_CALLS};
	struct call_sums *sums;
	struct page_fault fault = {0};

	ok(call_sums_new(table, TRACE_SUMS_BY_THREAD, &sums));
	for (uint32_t tid = THREADS; tid > 0; tid--) {
		const struct other_event event = {.tid = tid, .pid = 1, .fault = &fault};

		for (size_t i = 0; i < ARRAY_SIZE(nr); i++) {
			const struct trace_sum sum = {
				.tid = tid, .pid = 1, .nr = nr[i], .calls = 3, .errors = 3};

			ok(call_sums_add(sums, &sum));
			ok(call_sums_add_errno(sums, &sum, ENOENT, 1));
			ok(call_sums_add_errno(sums, &sum, EBADF, tid));
		}
		ok(thread_counts_add(&counts, &event));
	}
	ok(call_sums_text(sums, true, &counts, &text));
	assert_non_null(strstr(strbuf_str(&text), " (1), 6 events, 0.0%, 1 minfaults\n"));
	assert_non_null(strstr(strbuf_str(&text), "\t\t\t\tENOENT: 1\n\t\t\t\tEBADF: 19999\n"));
	ok(call_sums_results(sums, true, false, &counts, &results));
	assert_int_equal(results.v[1].table.n_rows, THREADS * 4);
	thread_counts_deinit(&counts);
	call_sums_free(sums);
	call_table_free(table);
}

TEST(test_sums)
{
	struct call_table *table = table_new();
	const uint32_t getppid = call_by_name(table, TRACE_ABI_NATIVE, "getppid")->nr;
	const uint32_t openat = call_by_name(table, TRACE_ABI_NATIVE, "openat")->nr;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, json = STRBUF_INIT;
	_cleanup_results_ struct results results = {.subject = RESULTS_OF_CALLS};
	struct trace_sum sum = {
		.tid = 101,
		.pid = 100,
		.comm = "work",
		.nr = getppid,
		.calls = 2,
		.total_ns = 4000,
		.min_ns = 1000,
		.max_ns = 3000,
		.sum_of_squares = 1e6 + 9e6,
		.slots = {[9] = 1, [11] = 1},
	};
	struct call_sums *sums;

	ok(call_sums_new(table, TRACE_SUMS_BY_THREAD, &sums));
	ok(call_sums_add(sums, &sum));
	sum = (struct trace_sum){
		.tid = 101,
		.pid = 100,
		.comm = "work",
		.nr = openat,
		.calls = 1,
		.errors = 1,
		.total_ns = 5000000,
		.min_ns = 5000000,
		.max_ns = 5000000,
		.sum_of_squares = 25e12,
	};
	ok(call_sums_add(sums, &sum));
	ok(call_sums_add_errno(sums, &sum, ENOENT, 1));
	sum.calls = 0; /* nothing was counted: nothing is shown */
	sum.tid = 102;
	ok(call_sums_add(sums, &sum));
	ok(call_sums_text(sums, true, &(struct thread_counts){0}, &text));
	/* the deviation: sqrt(2e6 / 1 / 2) is 1000, of a mean of 2000 */
	assert_string_equal(
		strbuf_str(&text),
		"\n Summary of events:\n\n work (101), 3 events, 100.0%\n\n"
		"   syscall            calls  errors  total       min       avg       max       "
		"stddev\n"
		"                                     (msec)    (msec)    (msec)    (msec)        "
		"(%)\n"
		"   --------------- --------  ------ -------- --------- --------- ---------     "
		"------\n"
		"   openat                 1      1     5.000     5.000     5.000     5.000      "
		"0.00%\n"
		"\t\t\t\tENOENT: 1\n"
		"   getppid                2      0     0.004     0.001     0.002     0.003     "
		"50.00%\n\n\n");
	ok(call_sums_results(sums, true, true, &(struct thread_counts){0}, &results));
	results_json(&results, true, &json);
	assert_non_null(strstr(strbuf_str(&json), "\"schema\":\"perf-bpf-trace/1\""));
	assert_non_null(strstr(strbuf_str(&json), "\"summary\":\"calls\""));
	assert_non_null(strstr(strbuf_str(&json), "\"errno_text\":\"ENOENT\""));
	assert_non_null(strstr(strbuf_str(&json), "\"stddev_percent\":50"));
	assert_non_null(strstr(strbuf_str(&json), "{\"low\":512,\"high\":1023,\"count\":1}"));
	call_sums_free(sums);
	call_table_free(table);
}

static struct error *keep_sum(void *ctx, const struct trace_sum *sum)
{
	*(struct trace_sum *)ctx = *sum;
	return NULL;
}

static struct error *no_errno(void *ctx, const struct trace_sum *sum, int err, uint64_t n)
{
	return NULL;
}

/* Two calls of a recording, together longer than a total can be: what is shown says so. */
TEST(test_totals_do_not_wrap)
{
	static const char note[] = "a total is larger than 18446744073709551615 ns";
	struct call_table *table = table_new();
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, json = STRBUF_INIT;
	_cleanup_results_ struct results results = {.subject = RESULTS_OF_CALLS};
	_cleanup_(record_sums_freep) struct record_sums *of_records = NULL;
	_cleanup_(call_sums_freep) struct call_sums *sums = NULL;
	union made_record made;
	struct trace_sum sum = {0};

	struct trace_record *rec = make(table, &made, "getppid", 0);
	rec->enter_ns = 1;
	rec->exit_ns = UINT64_MAX / 2 + 6;
	ok(record_sums_new(true, &of_records));
	ok(record_sums_add(of_records, rec));
	ok(record_sums_read(of_records, keep_sum, no_errno, &sum));
	assert_int_equal(sum.total_ns, UINT64_MAX / 2 + 5);
	ok(record_sums_add(of_records, rec));
	ok(record_sums_read(of_records, keep_sum, no_errno, &sum));
	assert_int_equal(sum.calls, 2);
	assert_int_equal(sum.total_ns, UINT64_MAX);

	ok(call_sums_new(table, TRACE_SUMS_BY_THREAD, &sums));
	ok(call_sums_add(sums, &sum));
	/* a second row, so that the sum of the calls has no room either */
	sum.nr++;
	sum.calls = UINT64_MAX;
	ok(call_sums_add(sums, &sum));
	ok(call_sums_text(sums, false, &(struct thread_counts){0}, &text));
	assert_non_null(strstr(strbuf_str(&text), note));
	assert_non_null(strstr(strbuf_str(&text), "18446744073709551615 events, 100.0%"));
	ok(call_sums_results(sums, false, false, &(struct thread_counts){0}, &results));
	results_json(&results, true, &json);
	assert_non_null(strstr(strbuf_str(&json), note));
	call_table_free(table);
}

/* ---- bystanders ---- */

static void put_process(const struct tree *tree, int pid, int ppid, const char *comm)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "proc/%d/status", pid);
	snprintf(text, sizeof(text), "Name:\t%s\nState:\tS (sleeping)\nTgid:\t%d\nPPid:\t%d\n",
		 comm, pid, ppid);
	tree_put(tree, path, text);
}

static void check_bystanders(const struct tree *tree, pid_t self, const pid_t *want, size_t n)
{
	_cleanup_pids_ struct sys_pids pids = {0};

	ok(bystanders_find(&tree->roots, self, NULL, &pids));
	assert_int_equal(pids.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(pids.v[i], want[i]);
}

static int setup(void **state)
{
	*state = tree_new();
	return 0;
}

static int teardown(void **state)
{
	tree_free(*state);
	return 0;
}

TEST_WITH(test_bystanders, setup, teardown)
{
	const struct tree *tree = *state;

	put_process(tree, 1, 0, "systemd");
	put_process(tree, 10, 1, "sshd");
	put_process(tree, 11, 10, "sshd");
	put_process(tree, 12, 11, "bash");
	put_process(tree, 13, 12, "perf-bpf");
	check_bystanders(tree, 13, (const pid_t[]){13, 12, 11}, 3);
	/* under tmux: the server, and its client with what that is shown by */
	put_process(tree, 20, 1, "tmux: server");
	put_process(tree, 21, 20, "zsh");
	put_process(tree, 22, 21, "perf-bpf");
	put_process(tree, 23, 12, "tmux: client");
	check_bystanders(tree, 22, (const pid_t[]){22, 21, 20, 23, 12, 11}, 6);
	/* no terminal: a service traces itself alone out */
	put_process(tree, 30, 1, "cron");
	put_process(tree, 31, 30, "perf-bpf");
	check_bystanders(tree, 31, (const pid_t[]){31}, 1);
	/* a chain that does not end */
	put_process(tree, 40, 41, "a");
	put_process(tree, 41, 40, "b");
	check_bystanders(tree, 40, (const pid_t[]){40}, 1);
}

TEST(test_each_kind_of_loss_has_its_line)
{
	const struct lost_calls losses[] = {
		{TRACE_LOST_RECORD, 0, TRACE_ABI_NATIVE, 0, "read", 2},
		{TRACE_LOST_RECORD, 0, TRACE_ABI_NATIVE, 257, "openat", 4},
		{TRACE_LOST_RECORD, 1, TRACE_ABI_NATIVE, 257, "openat", 6},
		{TRACE_LOST_THREAD, 1, TRACE_ABI_NATIVE, 999, NULL, 3},
		{TRACE_LOST_PIECES, 0, TRACE_ABI_NATIVE, 1, "write", 5},
		{TRACE_LOST_ROW, 0, TRACE_ABI_NATIVE, 0, "read", 7},
		{TRACE_LOST_ERRNO, 0, TRACE_ABI_NATIVE, 0, "read", 8},
	};
	const struct trace_stats stats = {.losses = losses, .n_losses = ARRAY_SIZE(losses)};
	const struct trace_stats none = {.lost = 0}, others = {.lost_events = {9, 2, 0}};
	const struct trace_stats unknown = {.lost_events.accuracy = LOST_NOT_COUNTED};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	trace_report_losses(&none, &out);
	trace_report_losses_json(&none, &out);
	assert_int_equal(out.len, 0);
	trace_report_losses_json(&others, &out);
	trace_report_losses_json(&unknown, &out);
	trace_report_losses(&unknown, &out);
	assert_string_equal(
		strbuf_str(&out),
		"{\"type\":\"lost\",\"n\":9,\"kind\":\"other-events\"}\n"
		"{\"type\":\"lost\",\"n\":2,\"kind\":\"side-band\"}\n"
		"{\"type\":\"lost\",\"n\":0,\"kind\":\"other-events\",\"more\":true}\n"
		"LOST 0 or more events that are not system calls; fewer events (-e) or larger "
		"buffers (-m) may help\n");
	strbuf_reset(&out);
	trace_report_losses(&stats, &out);
	assert_string_equal(
		strbuf_str(&out),
		"LOST 12 events: 10 openat, 2 read; a larger ring (-m) or fewer calls (-e) may "
		"help\n"
		"LOST 3 calls: 3 syscall_999; out of memory for the state of their threads\n"
		"LOST 5 calls' strings and buffers: 5 write; too many calls with large arguments "
		"ran at the same time\n"
		"LOST 7 calls of the summary: 7 read; out of memory for more rows\n"
		"LOST 8 errors of the error summary: 8 read; out of memory for more rows\n");
	strbuf_reset(&out);
	trace_report_losses_json(&stats, &out);
	assert_string_equal(strbuf_str(&out),
			    "{\"type\":\"lost\",\"n\":12,\"kind\":\"events\",\"calls\":["
			    "{\"syscall\":\"read\",\"cpu\":0,\"n\":2},"
			    "{\"syscall\":\"openat\",\"cpu\":0,\"n\":4},"
			    "{\"syscall\":\"openat\",\"cpu\":1,\"n\":6}]}\n"
			    "{\"type\":\"lost\",\"n\":3,\"kind\":\"threads\",\"calls\":["
			    "{\"syscall\":\"syscall_999\",\"cpu\":1,\"n\":3}]}\n"
			    "{\"type\":\"lost\",\"n\":5,\"kind\":\"arguments\",\"calls\":["
			    "{\"syscall\":\"write\",\"cpu\":0,\"n\":5}]}\n"
			    "{\"type\":\"lost\",\"n\":7,\"kind\":\"sums\",\"calls\":["
			    "{\"syscall\":\"read\",\"cpu\":0,\"n\":7}]}\n"
			    "{\"type\":\"lost\",\"n\":8,\"kind\":\"errors\",\"calls\":["
			    "{\"syscall\":\"read\",\"cpu\":0,\"n\":8}]}\n");
}
