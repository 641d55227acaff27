// SPDX-License-Identifier: BSD-2-Clause
/*
 * A client of the service (perf-bpf delegate) that asks it to trace, and does what a client must
 * not; and processes that it must not see:
 *
 *	trace_attacks SOCKET sees PID TEXT	traces PID (0: all), as root, too; how many records
 *						have TEXT, at the end of the input
 *	trace_attacks SOCKET writes		changes what is passed
 *	trace_attacks SOCKET running		reads the state of a call that still runs
 *	trace_attacks SOCKET other-program	asks for another program by the name "trace"
 *	trace_attacks SOCKET other-calls	asks for other copies of a call
 *	trace_attacks reuse PID COMMAND ARGS	starts a command as the process PID (as root)
 *	trace_attacks secret FILE [COMMAND]	reads FILE and looks for "secret_name" as a
 *						set-user-ID program, then as the user for
 *						"secret_back"; executes the command
 *
 * Prints a line "ok: …" for each attack that failed; ends with 1 if one succeeded.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "delegate/delegate_client.h"
#include "lib/base/cleanup.h"
#include "lib/sys/sys.h"
#include "syscalls/call_table.h"
#include "trace/source.h"
#include "tests/cmd/map_attacks.h"

enum {
	ALL_CALLS = TRACE_ABIS * TRACE_NRS,
	MAX_RECORDS = 1 << 20,
};

struct client {
	const char *socket_path;
	struct delegate_client session;
	bool as_root; /* asks for root's calls besides */
	const void *program;
	size_t program_size;
	/* What was passed: n maps, and what reads the calls that still run. */
	int maps[DELEGATE_FDS], running;
	size_t n;
};

static void check(struct error *err)
{
	if (!err)
		return;
	printf("refused: %s\n", err->msg);
	exit(3);
}

static struct error *ask(void *ctx, const struct trace_request *request, int *fds, size_t n)
{
	struct client *c = ctx;
	struct trace_request changed = *request;
	size_t at = 0;

	if (c->as_root) {
		changed.n_uids = 2;
		changed.uids[0] = 0;
		changed.uids[1] = getuid();
	}
	TRY(delegate_client_open(c->socket_path, DELEGATE_TRACE, c->program, c->program_size,
				 "trace", &changed, &c->session));
	for (size_t i = 0; i < n; i++)
		if (c->session.answer.created[i])
			fds[i] = c->session.fds[at++];
	c->running = fcntl(fds[n - TRACE_PASSED_OTHERS + TRACE_PASSED_RUNNING], F_DUPFD_CLOEXEC, 0);
	for (size_t i = 0; i < n - TRACE_PASSED_OTHERS; i++)
		if (fds[i] >= 0)
			c->maps[c->n++] = fcntl(fds[i], F_DUPFD_CLOEXEC, 0);
	c->session.answer.n_fds = 0;
	return NULL;
}

static struct error *stop(void *ctx)
{
	struct client *c = ctx;

	return delegate_client_stop(&c->session);
}

static void select_calls(struct trace_call *calls)
{
	struct btf *vmlinux = btf__load_vmlinux_btf();
	const struct call_table_opts opts = {.sz = sizeof(opts), .vmlinux = vmlinux};
	struct call_table *table;

	check(call_table_new(&opts, &table));
	check(call_table_select(table, "all", calls));
	call_table_free(table);
	btf__free(vmlinux);
}

static struct trace_source *open_source(struct client *c, pid_t pid, bool other_calls)
{
	_cleanup_free_ struct trace_call *calls = calloc(ALL_CALLS, sizeof(*calls));
	struct trace_source *source;
	const struct trace_source_opts opts = {
		.sz = sizeof(opts),
		.calls = calls,
		.pids = &pid,
		.n_pids = pid != 0,
		.string_size = 4096,
		.events = true,
		.ask = ask,
		.ask_end = stop,
		.ask_ctx = c,
	};

	if (!calls)
		exit(2);
	select_calls(calls);
	if (other_calls)
		calls[0].copies[0].size++;
	check(trace_source_new(&opts, &source));
	check(trace_source_start(source));
	return source;
}

/* ---- what is seen ---- */

struct search {
	const char *text;
	unsigned long records, found;
};

static struct error *look(void *ctx, const struct trace_record *rec)
{
	struct search *s = ctx;

	s->records++;
	s->found += memmem(rec, rec->size, s->text, strlen(s->text)) != NULL;
	return NULL;
}

/* The records while it waits are read, too: the ring has no room for all. */
static void sees(struct client *c, pid_t pid, const char *text)
{
	struct trace_source *source = open_source(c, pid, false);
	struct search s = {.text = text};
	char byte;

	printf("holds\n");
	fflush(stdout);
	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EAGAIN && s.records < MAX_RECORDS) {
		check(trace_source_drain(source, look, &s));
		usleep(10000);
	}
	check(trace_source_stop(source));
	check(trace_source_drain(source, look, &s));
	printf("records: %lu\nfound: %lu\n", s.records, s.found);
	trace_source_free(source);
}

/* ---- what is passed ---- */

static void writes(struct client *c)
{
	struct trace_source *source = open_source(c, 0, false);
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	for (size_t i = 0; i < c->n; i++)
		write_map(c->maps[i]);
	expect(bpf_prog_get_info_by_fd(c->running, &info, &len) < 0,
	       "use the iterator as a program");
	expect(bpf_link_detach(c->running) < 0, "detach by the iterator");
	expect(bpf_link_update(c->running, c->running, NULL) < 0, "change the iterator");
	expect(write(c->running, "", 1) < 0, "write to the iterator");
	printf("maps: %zu\n", c->n);
	trace_source_free(source);
}

/* Writes from an address that cannot be read to a pipe that is full. */
static void block_in_write(void)
{
	static char page[4096];
	int ends[2];

	if (pipe(ends) || fcntl(ends[1], F_SETFL, O_NONBLOCK) < 0)
		_exit(1);
	while (write(ends[1], page, sizeof(page)) > 0)
		;
	fcntl(ends[1], F_SETFL, 0);
	syscall(SYS_write, ends[1], (void *)8, 1000);
	_exit(1);
}

static bool is_in_write(pid_t pid)
{
	char path[64];
	long nr = -1, fd, address = 0;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	FILE *f = fopen(path, "r");
	if (!f) {
		perror(path);
		exit(2);
	}
	if (fscanf(f, "%ld 0x%lx 0x%lx", &nr, &fd, &address) != 3)
		nr = -1;
	fclose(f);
	return nr == SYS_write && address == 8;
}

static void running(struct client *c)
{
	struct trace_source *source = open_source(c, 0, false);
	struct trace_state state = {0};
	const pid_t pid = fork();
	size_t writes = 0;

	if (!pid)
		block_in_write();
	while (!is_in_write(pid))
		usleep(1000);
	while (read(c->running, &state, sizeof(state)) == sizeof(state)) {
		expect(!state.mm, "an address of the kernel in a state");
		writes += state.rec.tid == (uint32_t)pid && state.rec.nr == SYS_write;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("writes: %zu\n", writes);
	trace_source_free(source);
}

/* ---- processes ---- */

static int reuse(pid_t pid, char **argv)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&pid,
		.set_tid_size = 1,
	};
	int status;

	fflush(stdout);
	const long got = syscall(SYS_clone3, &args, sizeof(args));
	if (got < 0) {
		perror("clone3");
		return errno == EEXIST ? 4 : 5;
	}
	if (!got) {
		execvp(argv[0], argv);
		_exit(127);
	}
	return waitpid(pid, &status, 0) != pid || status;
}

static int secret(const char *path, char **command)
{
	char text[64];
	const int fd = open(path, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text)) <= 0) {
		perror(path);
		return 1;
	}
	close(fd);
	memset(text, 0, sizeof(text));
	if (open("/nonexistent/secret_name", O_RDONLY) >= 0)
		return 1;
	if (!*command)
		return 0;
	if (setresuid(getuid(), getuid(), getuid()))
		return 1;
	if (open("/nonexistent/secret_back", O_RDONLY) >= 0)
		return 1;
	execvp(command[0], command);
	return 127;
}

int main(int argc, char **argv)
{
	struct client c = {.session = DELEGATE_CLIENT_INIT};

	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "secret"))
		return secret(argv[2], argv + 3);
	if (!strcmp(argv[1], "reuse") && argc > 3)
		return reuse(atoi(argv[2]), argv + 3);
	c.socket_path = argv[1];
	c.program = trace_source_program(&c.program_size);
	if (!strcmp(argv[2], "sees") && argc > 4) {
		c.as_root = true;
		sees(&c, atoi(argv[3]), argv[4]);
	} else if (!strcmp(argv[2], "writes")) {
		writes(&c);
	} else if (!strcmp(argv[2], "running")) {
		running(&c);
	} else if (!strcmp(argv[2], "other-program")) {
		c.program_size--;
		open_source(&c, 0, false);
		expect(false, "another program");
	} else if (!strcmp(argv[2], "other-calls")) {
		open_source(&c, 0, true);
		expect(false, "other copies of calls");
	} else {
		return 2;
	}
	delegate_client_close(&c.session);
	return attacks_succeeded() ? 1 : 0;
}
