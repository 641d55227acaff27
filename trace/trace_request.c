// SPDX-License-Identifier: BSD-2-Clause
#include "trace/trace_request.h"

#include <bpf/btf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "syscalls/call_table.h"

enum {
	CALLS = TRACE_ABIS * TRACE_NRS,
};

/* n ids, and nothing behind them. */
static bool are_ids(const uint32_t *ids, uint32_t n, uint32_t max)
{
	if (n > max)
		return false;
	for (uint32_t i = n; i < max; i++)
		if (ids[i])
			return false;
	return true;
}

bool trace_request_parse(const void *data, size_t size, struct trace_request *out)
{
	struct trace_request got;
	uint8_t any = 0;

	if (size != sizeof(got))
		return false;
	memcpy(&got, data, sizeof(got));
	if (!are_ids(got.pids, got.n_pids, TRACE_REQUEST_IDS) ||
	    !are_ids(got.tids, got.n_tids, TRACE_REQUEST_IDS) ||
	    !are_ids(got.excluded, got.n_excluded, TRACE_REQUEST_IDS) ||
	    !are_ids(got.uids, got.n_uids, TRACE_UIDS))
		return false;
	if (got.events > 1 || got.summary > 1 || got.failed_only > 1 || got.no_inherit > 1 ||
	    !(got.events || got.summary) || got.sums_by > TRACE_SUMS_BY_CGROUP ||
	    got.string_size > TRACE_DATA_MAX || got.fds > 1 || got.ends > 1 || got.unused)
		return false;
	for (size_t i = 0; i < sizeof(got.calls); i++)
		any |= got.calls[i];
	if (!any)
		return false;
	*out = got;
	return true;
}

struct error *trace_request_set_calls(struct trace_request *request, const struct trace_call *calls)
{
	_cleanup_free_ struct trace_call *traced = calloc(CALLS, sizeof(*traced));

	if (!traced)
		return error_nomem();
	memset(request->calls, 0, sizeof(request->calls));
	for (uint32_t i = 0; i < CALLS; i++) {
		if (!calls[i].traced)
			continue;
		request->calls[i / 8] |= (uint8_t)(1 << i % 8);
		traced[i] = calls[i];
	}
	sha256(traced, CALLS * sizeof(*traced), request->table);
	return NULL;
}

static struct error *select_all(const struct log *log, struct trace_call *calls)
{
	struct btf *vmlinux = btf__load_vmlinux_btf();
	const struct call_table_opts opts = {.sz = sizeof(opts), .log = log, .vmlinux = vmlinux};
	struct call_table *table = NULL;
	struct error *err = call_table_new(&opts, &table);

	if (!err)
		err = call_table_select(table, "all", calls);
	call_table_free(table);
	btf__free(vmlinux);
	return err;
}

struct error *trace_request_calls(const struct trace_request *request, const struct log *log,
				  struct trace_call **calls)
{
	_cleanup_free_ struct trace_call *got = calloc(CALLS, sizeof(*got));
	struct trace_request ours = {0};

	if (!got)
		return error_nomem();
	TRY(select_all(log, got));
	for (uint32_t i = 0; i < CALLS; i++)
		if (!(request->calls[i / 8] >> i % 8 & 1))
			got[i].traced = 0;
	TRY(trace_request_set_calls(&ours, got));
	if (memcmp(ours.calls, request->calls, sizeof(ours.calls)) != 0 ||
	    memcmp(ours.table, request->table, sizeof(ours.table)) != 0)
		return error_new(EBADMSG, "the user's perf-bpf knows other system calls");
	*calls = steal_ptr(got);
	return NULL;
}
