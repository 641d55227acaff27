// SPDX-License-Identifier: BSD-2-Clause
/*
 * What crosses the borders of the service: a request of a user, an answer and an end as the user
 * gets them, the description of passed events, and the text of an approval. What is accepted must
 * be written again as it was read.
 */
#include <string.h>

#include "delegate/approval_store.h"
#include "perf/record/passed_events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void see_request(const uint8_t *data, size_t size)
{
	struct delegate_request request, again;
	struct trace_request trace;

	if (!delegate_request_parse(data, size, &request, &trace))
		return;
	if (request.command == DELEGATE_TRACE &&
	    (trace.n_pids > TRACE_REQUEST_IDS || trace.n_tids > TRACE_REQUEST_IDS ||
	     trace.n_excluded > TRACE_REQUEST_IDS || trace.n_uids > TRACE_UIDS ||
	     memcmp(data + sizeof(request), &trace, sizeof(trace)) != 0))
		__builtin_trap();
	delegate_request_make(request.command, request.object, request.name, &again);
	if (memcmp(&request, &again, sizeof(request)) != 0)
		__builtin_trap();
}

/* The part behind a request, which the fuzzer does not find by itself. */
static void see_trace(const uint8_t *data, size_t size)
{
	static const uint8_t object[SHA256_BYTES];
	uint8_t message[DELEGATE_MAX_REQUEST];
	struct delegate_request request;

	delegate_request_make(DELEGATE_TRACE, object, "trace", &request);
	if (size > sizeof(message) - sizeof(request))
		return;
	memcpy(message, &request, sizeof(request));
	memcpy(message + sizeof(request), data, size);
	see_request(message, sizeof(request) + size);
}

static void see_answer(const uint8_t *data, size_t size)
{
	struct delegate_answer answer;
	struct delegate_end end;

	for (size_t n_fds = 0; n_fds <= DELEGATE_FDS; n_fds++) {
		size_t created = 0;

		if (!delegate_answer_parse(data, size, n_fds, &answer))
			continue;
		for (size_t i = 0; i < DELEGATE_FDS; i++)
			created += answer.created[i];
		if (created != n_fds || answer.n_maps > DELEGATE_FDS ||
		    strlen(answer.approval) >= DELEGATE_ID ||
		    !delegate_status_text((enum delegate_status)answer.status))
			__builtin_trap();
	}
	if (delegate_end_parse(data, size, &end) &&
	    !delegate_reason_text((enum delegate_reason)end.reason))
		__builtin_trap();
}

static void see_approval(const char *data, size_t size)
{
	_cleanup_approval_ struct approval a = {0};
	_cleanup_approval_ struct approval again = {0};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *err = approval_parse(data, size, &a);

	if (!err) {
		approval_write_text(&a, &text);
		err = approval_parse(strbuf_str(&text), text.len, &again);
		if (err || again.who != a.who || again.for_group != a.for_group ||
		    again.target != a.target || again.command != a.command ||
		    again.sets.n != a.sets.n ||
		    memcmp(again.object, a.object, sizeof(a.object)) != 0)
			__builtin_trap();
	}
	error_free(err);
}

static void see_events(const uint8_t *data, size_t size)
{
	struct passed_events passed = {0};
	_cleanup_strbuf_ struct strbuf again = STRBUF_INIT;
	struct error *err = passed_events_parse(data, size, &passed);

	if (!err) {
		passed_events_write(&passed, &again);
		if (again.len != size || memcmp(again.str, data, size) != 0)
			__builtin_trap();
		passed_events_deinit(&passed);
	}
	error_free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	see_request(data, size);
	see_answer(data, size);
	see_trace(data, size);
	see_approval((const char *)data, size);
	see_events(data, size);
	return 0;
}
