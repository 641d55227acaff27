// SPDX-License-Identifier: BSD-2-Clause
/* delegate/: messages, the text of approvals, and who may run what. */
#include <stdlib.h>
#include <string.h>

#include "delegate/approval_store.h"
#include "delegate/subordinate_uid.h"

static const uint8_t object[SHA256_BYTES] = {1, 2, 3};
static const uint8_t other[SHA256_BYTES] = {4, 5, 6};

TEST(requests)
{
	struct delegate_request good, bad, got;
	struct trace_request trace;

	delegate_request_make(DELEGATE_RUN, object, "a/b c.o", &good);
	assert_string_equal(good.name, "a_b_c.o");
	assert_true(delegate_request_parse(&good, sizeof(good), &got, &trace));
	assert_memory_equal(&good, &got, sizeof(good));
	for (size_t size = 0; size < sizeof(good); size++)
		assert_false(delegate_request_parse(&good, size, &got, &trace));
	assert_false(delegate_request_parse(&good, sizeof(good) + 1, &got, &trace));
	bad = good;
	bad.magic++;
	assert_false(delegate_request_parse(&bad, sizeof(bad), &got, &trace));
	bad = good;
	bad.size--;
	assert_false(delegate_request_parse(&bad, sizeof(bad), &got, &trace));
	bad = good;
	bad.command = DELEGATE_COMMANDS;
	assert_false(delegate_request_parse(&bad, sizeof(bad), &got, &trace));
	bad = good;
	bad.name[0] = '\0';
	assert_false(delegate_request_parse(&bad, sizeof(bad), &got, &trace));
	bad = good;
	bad.name[0] = '/';
	assert_false(delegate_request_parse(&bad, sizeof(bad), &got, &trace));
	bad = good;
	bad.name[DELEGATE_NAME - 1] = 'x';
	assert_false(delegate_request_parse(&bad, sizeof(bad), &got, &trace));
	memset(bad.name, 'x', sizeof(bad.name));
	assert_false(delegate_request_parse(&bad, sizeof(bad), &got, &trace));
}

/* A request of trace as bytes: size of it is in the head. */
struct trace_message {
	struct delegate_request head;
	uint8_t body[sizeof(struct trace_request) + 1];
};

static void make_trace(struct trace_request *trace, struct trace_message *message)
{
	delegate_request_make(DELEGATE_TRACE, object, "trace", &message->head);
	memcpy(message->body, trace, sizeof(*trace));
}

static bool trace_parses(struct trace_request *trace)
{
	struct delegate_request head;
	struct trace_request got;
	struct trace_message message;

	make_trace(trace, &message);
	if (!delegate_request_parse(&message, sizeof(message.head) + sizeof(*trace), &head, &got))
		return false;
	assert_memory_equal(&got, trace, sizeof(got));
	return true;
}

TEST(trace_requests)
{
	struct trace_request good = {.n_pids = 2, .pids = {5, 6}, .events = 1, .calls = {1}};
	struct trace_request bad, got;
	struct trace_message message;
	struct delegate_request head;

	assert_true(trace_parses(&good));
	make_trace(&good, &message);
	const size_t size = sizeof(message.head) + sizeof(good);
	assert_int_equal(delegate_request_size(DELEGATE_TRACE), size);
	for (size_t i = 0; i < size; i++)
		assert_false(delegate_request_parse(&message, i, &head, &got));
	assert_false(delegate_request_parse(&message, size + 1, &head, &got));
	/* another command has no such part, and trace has no other one */
	message.head.command = DELEGATE_RUN;
	assert_false(delegate_request_parse(&message, size, &head, &got));
	delegate_request_make(DELEGATE_RUN, object, "a", &message.head);
	message.head.command = DELEGATE_TRACE;
	assert_false(delegate_request_parse(&message, sizeof(message.head), &head, &got));

#define BAD(change)                                                                                \
	bad = good;                                                                                \
	change;                                                                                    \
	assert_false(trace_parses(&bad))

	BAD(bad.n_pids = TRACE_REQUEST_IDS + 1);
	BAD(bad.n_pids = UINT32_MAX);
	BAD(bad.n_pids = 1); /* an id behind the last one */
	BAD(bad.n_tids = TRACE_REQUEST_IDS + 1);
	BAD(bad.n_excluded = TRACE_REQUEST_IDS + 1);
	BAD(bad.n_uids = TRACE_UIDS + 1);
	BAD(bad.uids[0] = 7);
	BAD(bad.events = 0);
	BAD(bad.events = 2);
	BAD(bad.summary = 2);
	BAD(bad.failed_only = 2);
	BAD(bad.no_inherit = 2);
	BAD(bad.sums_by = TRACE_SUMS_BY_CGROUP + 1);
	BAD(bad.string_size = TRACE_DATA_MAX + 1);
	BAD(bad.fds = 2);
	BAD(bad.unused = 1);
	BAD(bad.ends = 2);
	BAD(bad.calls[0] = 0); /* none */
}

/* Both sides have the calls of the same kernel; what else is asked for is noticed. */
TEST(trace_calls)
{
	struct trace_request request = {.events = 1};
	struct trace_call *calls = calloc(TRACE_ABIS * TRACE_NRS, sizeof(*calls)), *got;

	assert_non_null(calls);
	calls[0].traced = 1;
	assert_null(trace_request_set_calls(&request, calls));
	assert_int_equal(request.calls[0], 1);
	/* a copy that the service does not make */
	struct error *err = trace_request_calls(&request, NULL, &got);
	assert_non_null(err);
	assert_int_equal(err->code, EBADMSG);
	error_free(err);
	/* what is not traced does not matter */
	struct trace_request other_rest = {.events = 1};
	calls[1].n_args = 5;
	assert_null(trace_request_set_calls(&other_rest, calls));
	assert_memory_equal(&request, &other_rest, sizeof(request));
	free(calls);
}

static struct delegate_answer an_answer(void)
{
	struct delegate_answer answer = delegate_answer_make(DELEGATE_OK);

	answer.n_maps = 3;
	answer.n_fds = 2;
	answer.created[0] = answer.created[2] = 1;
	answer.max_share = 0.5;
	strcpy(answer.approval, "0123456789abcdef");
	return answer;
}

TEST(answers)
{
	const struct delegate_answer good = an_answer();
	struct delegate_answer bad, got;

	assert_true(delegate_answer_parse(&good, sizeof(good), 2, &got));
	assert_false(delegate_answer_parse(&good, sizeof(good), 1, &got));
	assert_false(delegate_answer_parse(&good, sizeof(good) - 1, 2, &got));
	bad = good;
	bad.created[3] = 1; /* beyond n_maps */
	bad.n_fds = 3;
	assert_false(delegate_answer_parse(&bad, sizeof(bad), 3, &got));
	bad = good;
	bad.n_maps = DELEGATE_FDS + 1;
	assert_false(delegate_answer_parse(&bad, sizeof(bad), 2, &got));
	bad = good;
	bad.max_share = 0.0 / 0.0;
	assert_false(delegate_answer_parse(&bad, sizeof(bad), 2, &got));
	bad = delegate_answer_make(DELEGATE_CHANGED);
	assert_true(delegate_answer_parse(&bad, sizeof(bad), 0, &got));
	assert_false(delegate_answer_parse(&bad, sizeof(bad), 1, &got));
	bad.status = DELEGATE_STATUSES;
	assert_false(delegate_answer_parse(&bad, sizeof(bad), 0, &got));
}

TEST(texts_of_approvals)
{
	static const char *const wrong[] = {
		"",
		"perf-bpf approval 2\n",
		"perf-bpf approval 1\nobject 00\n",
		NULL,
	};
	struct approval a = {.target = APPROVAL_CGROUP, .max_share = 0.02, .max_ms = 10, .who = 7};
	_cleanup_approval_ struct approval got = {0};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	memcpy(a.object, object, sizeof(object));
	strcpy(a.name, "runqlat");
	*vec_push(&a.sets) = strdup("x=1");
	approval_write_text(&a, &text);
	assert_null(approval_parse(strbuf_str(&text), text.len, &got));
	assert_memory_equal(got.object, object, sizeof(object));
	assert_string_equal(got.name, "runqlat");
	assert_int_equal(got.who, 7);
	assert_int_equal(got.target, APPROVAL_CGROUP);
	assert_int_equal(got.max_ms, 10);
	assert_int_equal(got.sets.n, 1);
	assert_string_equal(got.sets.v[0], "x=1");
	assert_int_equal(strlen(got.id), 16);
	approval_deinit(&a);
	/* no part of it is one, but that without the last line */
	for (size_t size = 0; size < text.len; size++) {
		_cleanup_approval_ struct approval part = {0};
		struct error *err = approval_parse(strbuf_str(&text), size, &part);

		assert_true(size == text.len - strlen("set x=1\n") ? !err : err != NULL);
		error_free(err);
	}
	for (size_t i = 0; wrong[i]; i++) {
		_cleanup_approval_ struct approval part = {0};
		struct error *err = approval_parse(wrong[i], strlen(wrong[i]), &part);

		assert_int_equal(err->code, EBADMSG);
		error_free(err);
	}
}

static struct approval *add(struct approvals *list, const uint8_t *of, const char *name, bool group,
			    uint32_t who)
{
	struct approval *a = vec_push(list);

	memcpy(a->object, of, SHA256_BYTES);
	strcpy(a->name, name);
	a->for_group = group;
	a->who = who;
	a->max_share = 0.1;
	return a;
}

TEST(who_may)
{
	_cleanup_approvals_ struct approvals list = {0};
	const uint32_t gids[] = {100, 50}, none[] = {100};
	struct delegate_request request;
	enum delegate_status why;

	add(&list, object, "runqlat", false, 1000);
	add(&list, object, "runqlat", true, 50);
	list.v[1].target = APPROVAL_ALL;
	delegate_request_make(DELEGATE_RUN, object, "runqlat", &request);
	assert_ptr_equal(approvals_find(&list, &request, 1000, none, 1, &why), &list.v[0]);
	/* the one for more processes */
	assert_ptr_equal(approvals_find(&list, &request, 1000, gids, 2, &why), &list.v[1]);
	assert_ptr_equal(approvals_find(&list, &request, 1001, gids, 2, &why), &list.v[1]);
	assert_int_equal(why, DELEGATE_OK);
	/* a uid is no gid */
	assert_null(approvals_find(&list, &request, 50, none, 1, &why));
	assert_int_equal(why, DELEGATE_UNAPPROVED);
	/* that others have it approved is not told */
	assert_null(approvals_find(&list, &request, 1001, none, 1, &why));
	assert_int_equal(why, DELEGATE_UNAPPROVED);
	delegate_request_make(DELEGATE_RUN, other, "runqlat", &request);
	assert_null(approvals_find(&list, &request, 1000, none, 1, &why));
	assert_int_equal(why, DELEGATE_CHANGED);
	/* the name does not count, the content does */
	delegate_request_make(DELEGATE_RUN, object, "harmless", &request);
	assert_ptr_equal(approvals_find(&list, &request, 1000, none, 1, &why), &list.v[0]);
}

/* subuid(5) */
TEST(subordinate_ids)
{
	static const char text[] =
		"# a comment\n"
		"nobody-has-this-name:5000:10\n"
		"root:100000:65536\n"
		"1000:200000:2\n"
		"1001:200001:2\n"
		"1002:x:2\n1002:300000\n1002:-1:5\n1002:300000:99999999999\n:7:1\n"
		"1003:4294967295:10";
	static const struct {
		uid_t uid, owner;
	} cases[] = {
		{5001, 5001},	    {99999, 99999},   {100000, 0},    {165535, 0},
		{165536, 165536},   {200000, 1000},   {200001, 1000}, {200002, 1001},
		{200003, 200003},   {300000, 300000}, {4, 4},	      {7, 7},
		{UINT32_MAX, 1003},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(subordinate_uid_owner(text, cases[i].uid), cases[i].owner);
	assert_int_equal(subordinate_uid_owner("", 5), 5);
	assert_int_equal(subordinate_uid_owner_at("/nonexistent", 5), 5);
	assert_int_equal(subordinate_uid_owner_at("/dev/zero", 5), 5);
}
