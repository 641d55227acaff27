// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/delegated.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/sys/missing_caps.h"

/* Where the service listens. */
static const char *socket_path(void)
{
	const char *path = secure_getenv("PERF_BPF_DELEGATE_SOCKET");

	return path && *path ? path : DELEGATE_SOCKET;
}

static bool lacks_privileges(const struct error *err)
{
	return err && (err->code == EPERM || err->code == EACCES) &&
	       sys_caps_missing(NULL, SYS_CAP(SYS_CAP_BPF) | SYS_CAP(SYS_CAP_PERFMON));
}

bool is_delegated(const struct error *err)
{
	return lacks_privileges(err) && access(socket_path(), F_OK) == 0;
}

struct error *delegated_advise(struct error *err)
{
	if (!lacks_privileges(err) || !geteuid() || sys_in_user_namespace(NULL) ||
	    access(socket_path(), F_OK) == 0)
		return err;
	char *hint = text_format("%s%sask root to approve the program: man perf-bpf-approve",
				 err->hint ? err->hint : "", err->hint ? "; or " : "");

	if (hint) {
		free(err->hint);
		err->hint = hint;
	}
	return err;
}

struct error *delegated_open(struct delegated *d, enum delegate_command command, const void *image,
			     size_t size, const char *path, const struct trace_request *trace)
{
	const struct delegate_answer *answer = &d->client.answer;
	const char *slash = strrchr(path, '/');

	TRY(delegate_client_open(socket_path(), command, image, size, slash ? slash + 1 : path,
				 trace, &d->client));
	log_info(d->log,
		 "the service %s%s%s by approval %s, for at most %g s and %g %% of all CPUs' time",
		 d->does, d->what ? " " : "", d->what ? d->what : "", answer->approval,
		 (double)answer->max_ms / 1000, answer->max_share * 100);
	return NULL;
}

struct error *delegated_take_maps(struct delegated *d, int *fds, size_t n)
{
	const struct delegate_answer *answer = &d->client.answer;
	size_t at = 0;

	if (answer->n_maps != n)
		return error_new(EPROTO, "the service has loaded another program");
	for (size_t i = 0; i < n; i++)
		if (answer->created[i])
			fds[i] = d->client.fds[at++];
	d->client.answer.n_fds = 0; /* they are the caller's now */
	return NULL;
}

void delegated_set_ended(struct delegated *d)
{
	d->ended = true;
	log_at(d->log, LOG_WARN, "the service has %s%s%s: %s", d->has_done, d->what ? " " : "",
	       d->what ? d->what : "", delegate_reason_text(delegate_client_end(&d->client)));
}

void delegated_deinit(struct delegated *d)
{
	delegate_client_close(&d->client);
}
