// SPDX-License-Identifier: BSD-2-Clause
/*
 * The workload is forked before the events are opened, since they are opened
 * on its pid, and waits at a pipe until they are. A second pipe brings a 0
 * when it has its name and waits, and the errno of an exec that failed; a
 * successful exec closes it.
 *
 * The child must do nothing but async-signal-safe calls between fork and
 * exec, and must not outlive a recorder that dies before the start: then it
 * reads the end of the pipe and exits.
 */
#include "work/workload.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Finds the file as execvp(3) does, so that the child makes one execve(2): those that fail until
 * the right folder of PATH would be traced and counted as the command's. false: only execvp(3)
 * knows what is wrong.
 */
static bool find_file(const char *name, char path[PATH_MAX])
{
	const char *dir = getenv("PATH");
	struct stat st;

	if (!*name || strchr(name, '/'))
		return false;
	for (; dir; dir = strchr(dir, ':')) {
		dir += *dir == ':';
		const int len = (int)strcspn(dir, ":");
		const int n = snprintf(path, PATH_MAX, "%.*s%s%s", len, dir, len ? "/" : "", name);

		if (n < PATH_MAX && !access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode))
			return true;
	}
	return false;
}

static void child(int go_fd, int fail_fd, const char *path, char *const *argv, const sigset_t *mask,
		  int out)
{
	struct sigaction dfl = {.sa_handler = SIG_DFL};
	char c;

	prctl(PR_SET_NAME, WORKLOAD_COMM);
	sigaction(SIGPIPE, &dfl, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (out != STDOUT_FILENO && dup2(out, STDOUT_FILENO) < 0)
		_exit(1);
	int code = 0;
	ssize_t n = write(fail_fd, &code, sizeof(code));
	if (n != sizeof(code))
		_exit(1);
	do {
		n = read(go_fd, &c, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(1);
	if (path)
		execv(path, argv);
	execvp(argv[0], argv);
	code = errno;
	n = write(fail_fd, &code, sizeof(code));
	_exit(n == sizeof(code) ? 127 : 126);
}

static ssize_t read_errno(int fd, int *code)
{
	ssize_t n;

	do {
		n = read(fd, code, sizeof(*code));
	} while (n < 0 && errno == EINTR);
	return n;
}

struct error *workload_prepare(struct workload *workload, char *const *argv, const sigset_t *mask,
			       int out)
{
	int go[2], fail[2];
	char path[PATH_MAX];

	if (pipe2(go, O_CLOEXEC))
		return error_errno(errno, "cannot create a pipe for the workload");
	if (pipe2(fail, O_CLOEXEC)) {
		int code = errno;

		close(go[0]);
		close(go[1]);
		return error_errno(code, "cannot create a pipe for the workload");
	}
	const char *found = find_file(argv[0], path) ? path : NULL;
	pid_t pid = fork();
	if (!pid) {
		close(go[1]);
		close(fail[0]);
		child(go[0], fail[1], found, argv, mask, out);
	}
	int code = errno;
	close(go[0]);
	close(fail[1]);
	if (pid < 0) {
		close(go[1]);
		close(fail[0]);
		return error_errno(code, "cannot fork the workload");
	}
	*workload = (struct workload){.pid = pid, .go_fd = go[1], .fail_fd = fail[0]};
	/* Events that are opened from now on must not see what the child does until its exec. */
	if (read_errno(fail[0], &code) == sizeof(code))
		return NULL;
	int status;
	workload_end(workload, &status);
	*workload = (struct workload)WORKLOAD_INIT;
	return error_new(ECHILD, "the workload '%s' ended before its start", argv[0]);
}

struct error *workload_start(struct workload *workload, const char *name, const char *doing)
{
	int code;
	ssize_t n;

	do {
		n = write(workload->go_fd, "", 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		return error_errno(errno, "cannot start the workload '%s'", name);
	close(workload->go_fd);
	workload->go_fd = -1;
	n = read_errno(workload->fail_fd, &code);
	close(workload->fail_fd);
	workload->fail_fd = -1;
	if (n != sizeof(code))
		return NULL;
	struct error *err = error_new(ECHILD, "Failed to %s the '%s' workload: %s", doing, name,
				      strerror(code));
	if (code == ENOENT)
		return error_hint(err,
				  "no such command in PATH; options must come before the workload");
	return err;
}

void workload_end(struct workload *workload, int *status)
{
	if (workload->go_fd >= 0)
		close(workload->go_fd);
	if (workload->fail_fd >= 0)
		close(workload->fail_fd);
	workload->go_fd = workload->fail_fd = -1;
	if (!workload->pid || workload->reaped)
		return;
	kill(workload->pid, SIGTERM);
	while (waitpid(workload->pid, status, 0) < 0 && errno == EINTR)
		;
	workload->reaped = true;
}

int workload_exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
