// SPDX-License-Identifier: BSD-2-Clause
#include "delegate/delegate_message.h"

#include <string.h>

enum {
	MAGIC = 0x32444250, /* "PBD2" */
};

/* Part of log lines and file names: nothing that a shell or a terminal understands. */
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

/* Plain characters and then nothing but NULs, one at least. */
static bool is_name(const char *name, size_t size)
{
	size_t n = 0;

	while (n < size && is_plain(name[n]))
		n++;
	if (!n || n == size)
		return false;
	while (n < size && !name[n])
		n++;
	return n == size;
}

size_t delegate_request_size(enum delegate_command command)
{
	return sizeof(struct delegate_request) +
	       (command == DELEGATE_TRACE ? sizeof(struct trace_request) : 0);
}
_Static_assert(sizeof(struct delegate_request) + sizeof(struct trace_request) <=
		       DELEGATE_MAX_REQUEST,
	       "requests");

void delegate_request_make(enum delegate_command command, const uint8_t object[SHA256_BYTES],
			   const char *name, struct delegate_request *out)
{
	*out = (struct delegate_request){.magic = MAGIC,
					 .size = (uint32_t)delegate_request_size(command),
					 .command = command};
	memcpy(out->object, object, SHA256_BYTES);
	for (size_t i = 0; name[i] && i < DELEGATE_NAME - 1; i++)
		out->name[i] = is_plain(name[i]) ? name[i] : '_';
	if (!out->name[0])
		out->name[0] = '_';
}

void delegate_end_make(enum delegate_reason reason, struct delegate_end *out)
{
	*out = (struct delegate_end){.magic = MAGIC, .reason = reason};
}

struct delegate_answer delegate_answer_make(enum delegate_status status)
{
	return (struct delegate_answer){.magic = MAGIC, .status = status};
}

bool delegate_request_parse(const void *data, size_t size, struct delegate_request *out,
			    struct trace_request *trace)
{
	struct delegate_request got;

	if (size < sizeof(got))
		return false;
	memcpy(&got, data, sizeof(got));
	if (got.magic != MAGIC || got.size != size || got.command >= DELEGATE_COMMANDS ||
	    size != delegate_request_size((enum delegate_command)got.command) ||
	    !is_name(got.name, sizeof(got.name)))
		return false;
	if (got.command == DELEGATE_TRACE &&
	    !trace_request_parse((const char *)data + sizeof(got), size - sizeof(got), trace))
		return false;
	*out = got;
	return true;
}

static bool is_zero(const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

bool delegate_answer_parse(const void *data, size_t size, size_t n_fds, struct delegate_answer *out)
{
	struct delegate_answer got;
	size_t created = 0;

	if (size != sizeof(got))
		return false;
	memcpy(&got, data, sizeof(got));
	if (got.magic != MAGIC || got.status >= DELEGATE_STATUSES || got.n_fds != n_fds ||
	    got.n_maps > DELEGATE_FDS)
		return false;
	const size_t rest = offsetof(struct delegate_answer, n_maps);
	if (got.status != DELEGATE_OK) {
		if (!is_zero((const uint8_t *)&got + rest, sizeof(got) - rest))
			return false;
		*out = got;
		return true;
	}
	for (size_t i = 0; i < DELEGATE_FDS; i++) {
		if (got.created[i] > (i < got.n_maps))
			return false;
		created += got.created[i];
	}
	if (created != n_fds || !is_name(got.approval, sizeof(got.approval)) ||
	    !(got.max_share > 0 && got.max_share <= 1) || !is_zero(got.unused, sizeof(got.unused)))
		return false;
	*out = got;
	return true;
}

bool delegate_end_parse(const void *data, size_t size, struct delegate_end *out)
{
	struct delegate_end got;

	if (size != sizeof(got))
		return false;
	memcpy(&got, data, sizeof(got));
	if (got.magic != MAGIC || got.reason >= DELEGATE_REASONS)
		return false;
	*out = got;
	return true;
}

static const char *const command_names[DELEGATE_COMMANDS] = {
	[DELEGATE_RUN] = "run",
	[DELEGATE_RECORD] = "record",
	[DELEGATE_TRACE] = "trace",
};

const char *delegate_command_text(enum delegate_command command)
{
	return command < DELEGATE_COMMANDS ? command_names[command] : "unknown";
}

bool delegate_command_parse(const char *text, enum delegate_command *command)
{
	for (size_t i = 0; i < DELEGATE_COMMANDS; i++)
		if (!strcmp(text, command_names[i])) {
			*command = (enum delegate_command)i;
			return true;
		}
	return false;
}

const char *delegate_status_text(enum delegate_status status)
{
	static const char *const texts[DELEGATE_STATUSES] = {
		[DELEGATE_OK] = "it is approved",
		[DELEGATE_UNAPPROVED] = "it is not approved for this user",
		[DELEGATE_OTHER_COMMAND] = "it is approved for another command",
		[DELEGATE_CHANGED] = "it has changed since it was approved",
		[DELEGATE_DAMAGED] = "the stored object is not the one that was approved",
		[DELEGATE_BUSY] = "too many sessions are running",
		[DELEGATE_INVALID] = "the service does not understand the request",
		[DELEGATE_NO_CGROUP] = "this process has no cgroup of its own",
		[DELEGATE_OTHER_VERSION] = "the service is another version of perf-bpf",
		[DELEGATE_FAILED] = "the service cannot load it; its log has the reason",
	};

	return status < DELEGATE_STATUSES ? texts[status] : "unknown status";
}

const char *delegate_reason_text(enum delegate_reason reason)
{
	static const char *const texts[DELEGATE_REASONS] = {
		[DELEGATE_END_TIME] = "the approved time is over",
		[DELEGATE_END_COST] = "it used more CPU time than approved",
		[DELEGATE_END_REVOKED] = "the approval was revoked",
		[DELEGATE_END_STOPPED] = "the service has ended",
	};

	return reason < DELEGATE_REASONS ? texts[reason] : "unknown reason";
}
