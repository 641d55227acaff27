/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process without privileges asks for, when another one traces for it: ids and numbers of
 * fixed sizes. What is copied of each call is not part of it: both sides have that from the
 * kernel's types, and the request has a hash by which they know that it is the same.
 */
#ifndef PB_TRACE_TRACE_REQUEST_H
#define PB_TRACE_TRACE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/sha256.h"
#include "syscalls/call_record.h"
#include "trace/trace_maps.h"

enum {
	TRACE_REQUEST_IDS = 64, /* of each kind */
};

struct trace_request {
	uint64_t min_ns;
	uint64_t signals;
	uint32_t string_size;
	uint32_t self; /* the process that asks, as it knows itself; it is not traced */
	uint32_t n_pids, n_tids, n_excluded, n_uids;
	uint32_t pids[TRACE_REQUEST_IDS], tids[TRACE_REQUEST_IDS], excluded[TRACE_REQUEST_IDS];
	uint32_t uids[TRACE_UIDS];
	uint8_t events, summary, failed_only, no_inherit; /* 0 or 1 */
	uint8_t sums_by;				  /* enum trace_sums_by */
	uint8_t fds;					  /* 0 or 1 */
	uint8_t ends;					  /* 0 or 1 */
	uint8_t unused;					  /* 0 */
	uint8_t calls[TRACE_ABIS * TRACE_NRS / 8];	  /* bits: those that are traced */
	uint8_t table[SHA256_BYTES];			  /* trace_request_set_calls() */
};

/* false: the size or a field is wrong; *out is untouched. */
bool trace_request_parse(const void *data, size_t size, struct trace_request *out);

/* Sets the calls that are traced, and the hash of these and of what is copied of them. */
struct error *trace_request_set_calls(struct trace_request *request,
				      const struct trace_call *calls);

/*
 * The calls as the request has them, by the kernel's types: TRACE_ABIS * TRACE_NRS, the caller's.
 * EBADMSG: who asks has other ones.
 */
struct error *trace_request_calls(const struct trace_request *request, const struct log *log,
				  struct trace_call **calls);

#endif
