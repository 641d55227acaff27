// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs one tool twice at the same time, over one workload that counts for
 * itself:
 *
 *	tools_pair WORKLOAD KIND COUNT TOOL_A TOOL_B ARGUMENTS...
 *
 * "{pid}" in an argument becomes the workload's process. The workload waits
 * until both tools have attached, so both see all of it and nothing else of
 * that process: what they print of it can be compared number by number. Each
 * has a terminal of its own, because a tool that is ended by SIGINT would lose
 * what stdio holds for a file. The same runner serves in a guest, where no
 * Python is.
 *
 * On stdout: "w|" lines of the workload, "a|" and "b|" lines of the tools, and
 * "a=STATUS b=STATUS": how a tool ended ("early 1": before the workload began).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct tool {
	const char *path;
	pid_t pid;
	int terminal;
	bool ended, early;
	int status;
	char *text;
	size_t len;
};

struct workload {
	pid_t pid;
	int go;
	FILE *says;
};

static struct tool tools[2];

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static int env_ms(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text ? atoi(text) : otherwise;
}

static void take(struct tool *tool, const char *bytes, size_t n)
{
	tool->text = realloc(tool->text, tool->len + n + 1);
	if (!tool->text)
		exit(125);
	memcpy(tool->text + tool->len, bytes, n);
	tool->len += n;
	tool->text[tool->len] = '\0';
}

/* Reads what the tools print, for that long at most; true: both have ended. */
static bool pump(int ms)
{
	long long until = now_ms() + ms;

	for (;;) {
		struct pollfd fds[2] = {{tools[0].terminal, POLLIN}, {tools[1].terminal, POLLIN}};
		long long left = until - now_ms();

		for (int i = 0; i < 2; i++) {
			if (!tools[i].ended && waitpid(tools[i].pid, &tools[i].status, WNOHANG) > 0)
				tools[i].ended = true;
			if (tools[i].ended) {
				char rest[4096];
				ssize_t n;

				while (tools[i].terminal >= 0 &&
				       (n = read(tools[i].terminal, rest, sizeof(rest))) > 0)
					take(&tools[i], rest, n);
				fds[i].fd = -1;
			}
		}
		if (tools[0].ended && tools[1].ended)
			return true;
		if (left <= 0)
			return false;
		if (poll(fds, 2, left < 50 ? left : 50) <= 0)
			continue;
		for (int i = 0; i < 2; i++) {
			char bytes[4096];
			ssize_t n;

			if (!(fds[i].revents & (POLLIN | POLLHUP)))
				continue;
			n = read(tools[i].terminal, bytes, sizeof(bytes));
			if (n > 0)
				take(&tools[i], bytes, n);
			else
				usleep(1000);
		}
	}
}

/* How many things of BPF and perf a process holds open. */
static int count_held(pid_t pid)
{
	char path[64], target[64];
	int held = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	for (struct dirent *e; (e = readdir(dir));) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1);

		if (n <= 0)
			continue;
		target[n] = '\0';
		held += strstr(target, "bpf") || strstr(target, "perf_event") ? 1 : 0;
	}
	closedir(dir);
	return held;
}

/* The clock ticks that a process has used. */
static long used_ticks(pid_t pid)
{
	char path[64], line[1024] = "";
	unsigned long user = 0, kernel = 0;
	const char *rest;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fgets(line, sizeof(line), f) && (rest = strrchr(line, ')')))
		sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
		       &kernel);
	fclose(f);
	return user + kernel;
}

/*
 * Whether it waits for something to happen. Attaching can look idle: the kernel
 * waits for RCU in it, and a loaded machine for its disk.
 */
static bool is_waiting(pid_t pid)
{
	static const long waits[] = {
		SYS_ppoll,
		SYS_epoll_pwait,
		SYS_pselect6,
		SYS_nanosleep,
		SYS_clock_nanosleep,
		SYS_rt_sigsuspend,
		SYS_rt_sigtimedwait,
		SYS_futex,
		SYS_restart_syscall,
#ifdef SYS_poll
		SYS_poll,
		SYS_epoll_wait,
		SYS_select,
		SYS_pause,
#endif
	};
	char path[64], line[256] = "";
	long number;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	f = fopen(path, "r");
	if (!f)
		return true; /* this kernel does not tell */
	if (!fgets(line, sizeof(line), f) || sscanf(line, "%ld", &number) != 1)
		number = -1; /* "running" */
	fclose(f);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		if (number == waits[i])
			return true;
	}
	return false;
}

/*
 * A tool has attached when it holds programs, and neither opened anything nor
 * worked for a while: then it waits for events, or for its interval to end.
 */
static void wait_attached(int quiet_ms, int limit_ms)
{
	long long until = now_ms() + limit_ms;
	int held[2] = {-1, -1};
	long ticks[2] = {0, 0};

	while (now_ms() < until) {
		bool quiet = true;

		for (int i = 0; i < 2; i++) {
			int now_held = tools[i].ended ? 0 : count_held(tools[i].pid);
			long now_ticks = tools[i].ended ? 0 : used_ticks(tools[i].pid);

			if (!tools[i].ended &&
			    (now_held == 0 || now_held != held[i] || now_ticks > ticks[i] + 1 ||
			     !is_waiting(tools[i].pid)))
				quiet = false;
			held[i] = now_held;
			ticks[i] = now_ticks;
		}
		if (quiet || pump(quiet_ms))
			break;
	}
	for (int i = 0; i < 2; i++)
		tools[i].early = tools[i].ended;
}

static void start_tool(struct tool *tool, char *const *arguments)
{
	tool->pid = forkpty(&tool->terminal, NULL, NULL, NULL);
	if (tool->pid < 0) {
		perror("forkpty");
		exit(125);
	}
	if (!tool->pid) {
		setenv("TERM", "dumb", 1);
		execv(tool->path, arguments);
		perror(tool->path);
		_exit(127);
	}
	fcntl(tool->terminal, F_SETFL, O_NONBLOCK);
	fcntl(tool->terminal, F_SETFD, FD_CLOEXEC);
}

static void start_workload(struct workload *work, const char *path, const char *kind,
			   const char *count)
{
	int in[2], out[2];
	char line[256];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || (work->pid = fork()) < 0) {
		perror("workload");
		exit(125);
	}
	if (!work->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(path, path, kind, count, NULL);
		perror(path);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	work->go = in[1];
	work->says = fdopen(out[0], "r");
	if (!work->says || !fgets(line, sizeof(line), work->says) || strcmp(line, "ready\n") != 0) {
		fprintf(stderr, "the workload '%s' cannot begin\n", kind);
		exit(125);
	}
}

/* Lets it run, and passes on what it counted. */
static void run_workload(struct workload *work)
{
	int fd = fileno(work->says);
	char line[256] = "";
	size_t n = 0;
	bool done = false;

	if (write(work->go, "go\n", 3) != 3)
		perror("workload");
	fcntl(fd, F_SETFL, O_NONBLOCK);
	for (long long until = now_ms() + 60000; !done && now_ms() < until;) {
		char c;
		ssize_t got = read(fd, &c, 1);

		if (got < 0 && errno == EAGAIN) {
			pump(20);
			continue;
		}
		if (got <= 0)
			break;
		if (c != '\n') {
			if (n < sizeof(line) - 1)
				line[n++] = c;
			continue;
		}
		line[n] = '\0';
		n = 0;
		done = !strcmp(line, "done");
		if (!done)
			printf("w|%s\n", line);
	}
	if (!done)
		printf("w|the workload did not end\n");
}

static void print_tool(char letter, const struct tool *tool)
{
	char *save = NULL;

	for (char *line = tool->text ? strtok_r(tool->text, "\r\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\r\n", &save))
		printf("%c|%s\n", letter, line);
}

static void print_status(char letter, const struct tool *tool)
{
	printf("%c=%s", letter, tool->early ? "early " : "");
	if (!tool->ended)
		printf("hangs");
	else if (WIFSIGNALED(tool->status))
		printf("signal %d", WTERMSIG(tool->status));
	else
		printf("%d", WEXITSTATUS(tool->status));
	printf("%c", letter == 'a' ? ' ' : '\n');
}

int main(int argc, char **argv)
{
	int settle = env_ms("PAIR_SETTLE_MS", 300), limit = env_ms("PAIR_LIMIT_MS", 30000);
	struct workload work;
	char pid[16], *arguments[64];
	int n = 1;

	if (argc < 6 || argc > 60) {
		fprintf(stderr,
			"usage: tools_pair WORKLOAD KIND COUNT TOOL_A TOOL_B ARGUMENTS...\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	tools[0].path = argv[4];
	tools[1].path = argv[5];
	start_workload(&work, argv[1], argv[2], argv[3]);
	snprintf(pid, sizeof(pid), "%d", work.pid);
	for (int i = 6; i < argc; i++)
		arguments[n++] = !strcmp(argv[i], "{pid}") ? pid : argv[i];
	arguments[n] = NULL;
	for (int i = 0; i < 2; i++) {
		arguments[0] = strrchr(tools[i].path, '/') ? strrchr(tools[i].path, '/') + 1
							   : (char *)tools[i].path;
		start_tool(&tools[i], arguments);
	}
	wait_attached(settle, limit);
	if (!tools[0].ended || !tools[1].ended) {
		run_workload(&work);
		pump(settle + 200); /* a tool polls its buffer ten times a second */
		for (int i = 0; i < 2; i++) {
			if (!tools[i].ended)
				kill(tools[i].pid, SIGINT);
		}
		pump(limit);
	}
	for (int i = 0; i < 2; i++) {
		if (!tools[i].ended) {
			kill(tools[i].pid, SIGKILL);
			waitpid(tools[i].pid, NULL, 0);
		}
	}
	close(work.go); /* which ends it: a tool may have read its symbols until now */
	waitpid(work.pid, NULL, 0);
	print_tool('a', &tools[0]);
	print_tool('b', &tools[1]);
	print_status('a', &tools[0]);
	print_status('b', &tools[1]);
	return 0;
}
