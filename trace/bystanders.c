// SPDX-License-Identifier: BSD-2-Clause
#include "trace/bystanders.h"

#include "lib/base/names.h"
#include "lib/base/vec.h"

enum {
	MAX_ANCESTORS = 64,
};

/* Names of processes that show what others print; the kernel keeps 15 characters. */
static const char *const terminals[] = {
	"sshd*",     "mosh-server", "dropbear",	  "telnetd",	"in.telnetd", "login",
	"tmux*",     "screen",	    "SCREEN",	  "*terminal*", "*term",      "konsole",
	"alacritty", "kitty*",	    "foot*",	  "wezterm*",	"ptyxis*",    "kgx",
	"tilix",     "yakuake",	    "terminator", "script",	"ttyd",	      "code",
};

/* Those whose client is another process, with a terminal of its own. */
static const char *const servers[] = {"tmux*", "screen", "SCREEN"};

static bool is_among(const char *const *patterns, size_t n, const char *comm)
{
	for (size_t i = 0; i < n; i++)
		if (glob_match(patterns[i], comm))
			return true;
	return false;
}

static bool has_pid(const struct sys_pids *pids, pid_t pid)
{
	for (size_t i = 0; i < pids->n; i++)
		if (pids->v[i] == pid)
			return true;
	return false;
}

static struct error *add_pid(struct sys_pids *pids, pid_t pid, const char *comm,
			     const struct log *log)
{
	if (has_pid(pids, pid))
		return NULL;
	pid_t *slot = vec_push(pids);
	if (!slot)
		return error_nomem();
	*slot = pid;
	log_info(log, "not traced: process %d (%s)", (int)pid, comm);
	return NULL;
}

/* From pid up to its terminal. Nothing but pid where there is none. *server: it has clients. */
static struct error *add_chain(const struct sys_roots *roots, pid_t pid, const struct log *log,
			       struct sys_pids *pids, bool *server)
{
	struct {
		pid_t pid;
		char comm[16];
	} chain[MAX_ANCESTORS];
	size_t n = 0, wanted = 1;

	for (; n < MAX_ANCESTORS && pid > 1; n++) {
		struct sys_proc_status status;
		_cleanup_error_ struct error *err = sys_proc_status(roots, 0, pid, &status);

		if (err) /* it has ended meanwhile */
			break;
		chain[n].pid = pid;
		memcpy(chain[n].comm, status.comm, sizeof(chain[n].comm));
		if (n && is_among(terminals, ARRAY_SIZE(terminals), status.comm)) {
			*server |= is_among(servers, ARRAY_SIZE(servers), status.comm);
			wanted = ++n;
			break;
		}
		pid = status.ppid;
	}
	for (size_t i = 0; i < n && i < wanted; i++)
		TRY(add_pid(pids, chain[i].pid, chain[i].comm, log));
	return NULL;
}

struct error *bystanders_find(const struct sys_roots *roots, pid_t self, const struct log *log,
			      struct sys_pids *pids)
{
	_cleanup_pids_ struct sys_pids all = {0};
	bool server = false, again = false;

	TRY(add_chain(roots, self, log, pids, &server));
	if (!server)
		return NULL;
	TRY(sys_proc_pids(roots, &all));
	for (size_t i = 0; i < all.n; i++) {
		struct sys_proc_status status;
		_cleanup_error_ struct error *err = sys_proc_status(roots, 0, all.v[i], &status);

		if (!err && is_among(servers, ARRAY_SIZE(servers), status.comm))
			TRY(add_chain(roots, all.v[i], log, pids, &again));
	}
	return NULL;
}
