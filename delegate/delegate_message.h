/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a user's perf-bpf and the service say to each other, through a socket that keeps the bounds
 * of messages. Every message has one size and fields of fixed sizes:
 *
 *	user -> service	struct delegate_request, once; for trace, struct trace_request behind it
 *	service -> user	struct delegate_answer, with descriptors of the maps or rings
 *	service -> user	struct delegate_end, if the service ends the session
 *
 * The user ends the session by closing the socket, or by sending anything else. Then, and before it
 * sends a struct delegate_end, the service detaches what it has loaded, and closes the socket at
 * last. Both sides check each field of what they get.
 */
#ifndef PB_DELEGATE_MESSAGE_H
#define PB_DELEGATE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/sha256.h"
#include "trace/trace_request.h"

enum {
	DELEGATE_NAME = 64, /* bytes, with a NUL */
	DELEGATE_ID = 17,   /* of an approval: 16 hexadecimal digits and a NUL */
	DELEGATE_FDS = 250,
	DELEGATE_MAX_REQUEST = 2048, /* bytes; no request is as long */
};

/* What the object is for. */
enum delegate_command {
	DELEGATE_RUN,	 /* the descriptors are those of its maps */
	DELEGATE_RECORD, /* of its events: see perf/record/passed_events.h */
	DELEGATE_TRACE,	 /* of its maps, and one more: see trace_ask_fn in trace/source.h */
	DELEGATE_COMMANDS,
};

#define DELEGATE_SOCKET "/run/perf-bpf/delegate.sock"

enum delegate_status {
	DELEGATE_OK,
	DELEGATE_UNAPPROVED,	/* for this user */
	DELEGATE_OTHER_COMMAND, /* for another command */
	DELEGATE_CHANGED,	/* one of this name is approved, with other content */
	DELEGATE_DAMAGED,	/* what is stored is not what was approved */
	DELEGATE_BUSY,		/* too many sessions, of this user or of all */
	DELEGATE_INVALID,	/* the request */
	DELEGATE_NO_CGROUP,	/* the user's cgroup is not known, or is that of the whole system */
	DELEGATE_OTHER_VERSION, /* of perf-bpf */
	DELEGATE_FAILED,	/* it could not be loaded; the service's log has the reason */
	DELEGATE_STATUSES,
};

enum delegate_reason {
	DELEGATE_END_TIME,
	DELEGATE_END_COST,
	DELEGATE_END_REVOKED,
	DELEGATE_END_STOPPED, /* the service is stopped, or failed */
	DELEGATE_REASONS,
};

struct delegate_request {
	uint32_t magic;
	uint32_t size;		      /* of the message */
	uint32_t command;	      /* enum delegate_command */
	uint8_t object[SHA256_BYTES]; /* of the object's bytes */
	char name[DELEGATE_NAME];     /* for messages: letters, digits, '.', '_', '-' */
};

struct delegate_answer {
	uint32_t magic;
	uint32_t status; /* of the next, all are 0 if it is not DELEGATE_OK */
	uint32_t n_maps; /* else: descriptors; of DELEGATE_RECORD all are there */
	uint32_t n_fds;	 /* that came with the message: of the maps that were created, in order */
	uint64_t max_ms;
	double max_share; /* of all CPUs' time */
	char approval[DELEGATE_ID];
	uint8_t created[DELEGATE_FDS]; /* 1: the map has a descriptor */
	uint8_t unused[5];	       /* 0 */
};

struct delegate_end {
	uint32_t magic;
	uint32_t reason;
};

/* Of a request, with what is behind struct delegate_request. */
size_t delegate_request_size(enum delegate_command command);
/* name is cut, and characters that are not allowed become '_'. */
void delegate_request_make(enum delegate_command command, const uint8_t object[SHA256_BYTES],
			   const char *name, struct delegate_request *out);
void delegate_end_make(enum delegate_reason reason, struct delegate_end *out);

/*
 * false: the size or a field is wrong; *out is untouched. *trace is set if the command is
 * DELEGATE_TRACE.
 */
bool delegate_request_parse(const void *data, size_t size, struct delegate_request *out,
			    struct trace_request *trace);
bool delegate_answer_parse(const void *data, size_t size, size_t n_fds,
			   struct delegate_answer *out);
bool delegate_end_parse(const void *data, size_t size, struct delegate_end *out);

struct delegate_answer delegate_answer_make(enum delegate_status status);

/* "run", "record", "trace", and back. */
const char *delegate_command_text(enum delegate_command command);
bool delegate_command_parse(const char *text, enum delegate_command *command);

/* What a user reads: "it is not approved for this user". */
const char *delegate_status_text(enum delegate_status status);
const char *delegate_reason_text(enum delegate_reason reason);

#endif
