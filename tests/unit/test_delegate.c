// SPDX-License-Identifier: BSD-2-Clause
/* delegate/: messages, the text of approvals, and who may run what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "delegate/approval_store.h"

static const uint8_t object[SHA256_BYTES] = {1, 2, 3};
static const uint8_t other[SHA256_BYTES] = {4, 5, 6};

static void requests(void **state)
{
	struct delegate_request good, bad, got;

	delegate_request_make(DELEGATE_RUN, object, "a/b c.o", &good);
	assert_string_equal(good.name, "a_b_c.o");
	assert_true(delegate_request_parse(&good, sizeof(good), &got));
	assert_memory_equal(&good, &got, sizeof(good));
	for (size_t size = 0; size < sizeof(good); size++)
		assert_false(delegate_request_parse(&good, size, &got));
	assert_false(delegate_request_parse(&good, sizeof(good) + 1, &got));
	bad = good;
	bad.magic++;
	assert_false(delegate_request_parse(&bad, sizeof(bad), &got));
	bad = good;
	bad.size--;
	assert_false(delegate_request_parse(&bad, sizeof(bad), &got));
	bad = good;
	bad.command = DELEGATE_COMMANDS;
	assert_false(delegate_request_parse(&bad, sizeof(bad), &got));
	bad = good;
	bad.name[0] = '\0';
	assert_false(delegate_request_parse(&bad, sizeof(bad), &got));
	bad = good;
	bad.name[0] = '/';
	assert_false(delegate_request_parse(&bad, sizeof(bad), &got));
	bad = good;
	bad.name[DELEGATE_NAME - 1] = 'x';
	assert_false(delegate_request_parse(&bad, sizeof(bad), &got));
	memset(bad.name, 'x', sizeof(bad.name));
	assert_false(delegate_request_parse(&bad, sizeof(bad), &got));
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

static void answers(void **state)
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

static void texts_of_approvals(void **state)
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

static void who_may(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),
		cmocka_unit_test(answers),
		cmocka_unit_test(texts_of_approvals),
		cmocka_unit_test(who_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
