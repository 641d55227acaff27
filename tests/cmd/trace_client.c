// SPDX-License-Identifier: BSD-2-Clause
/*
 * The source of trace by itself: prints each record, loss and sum as a line.
 *
 *	trace_client [OPTION]... -- COMMAND [ARG]...
 *
 *	-c ABI/NR/ARGS[/KIND,FLAGS,ARG,COUNT_ARG,SIZE]...   traces a call; -c all: all of them
 *	-a     everybody, not only the command
 *	-x PID leaves a process out
 *	-p PID -t TID -u UID -g CGROUP -n (no children) -f (failed) -m MIN_NS
 *	-s STRING_SIZE -r RING_BYTES -S (sums, no records) -T (by thread) -q (count the records)
 *	-M ROWS (sums by thread, errors) -H THREADS (states in a hash)
 *	-w     does not read the ring until the command has ended
 *	-e     ends when the command has closed its standard output, not when it ends
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/source.h"

static struct trace_call calls[TRACE_ABIS * TRACE_NRS];
static uint64_t n_records, n_by_flags[16];
static bool quiet;

static void die(struct error *err)
{
	fprintf(stderr, "trace_client: %s%s%s%s%s\n", err->where ? err->where : "",
		err->where ? ": " : "", err->msg, err->hint ? "; " : "",
		err->hint ? err->hint : "");
	exit(1);
}

static void check(struct error *err)
{
	if (err)
		die(err);
}

static void add_call(const char *spec)
{
	unsigned abi, nr, n_args;
	int at;

	if (!strcmp(spec, "all")) {
		for (size_t i = 0; i < TRACE_ABIS * TRACE_NRS; i++) {
			calls[i].traced = 1;
			calls[i].n_args = 6;
		}
#ifdef __x86_64__
		calls[60].no_exit = calls[231].no_exit = 1;
#else
		calls[93].no_exit = calls[94].no_exit = 1;
#endif
		return;
	}
	if (sscanf(spec, "%u/%u/%u%n", &abi, &nr, &n_args, &at) != 3 || abi >= TRACE_ABIS ||
	    nr >= TRACE_NRS) {
		fprintf(stderr, "trace_client: %s?\n", spec);
		exit(2);
	}
	struct trace_call *call = &calls[abi * TRACE_NRS + nr];
	call->traced = 1;
	call->n_args = (uint8_t)n_args;
	for (spec += at; *spec == '/'; spec += at) {
		unsigned kind, flags, arg, count_arg, size;

		if (call->n_copies == TRACE_COPIES ||
		    sscanf(spec, "/%u,%u,%u,%u,%u%n", &kind, &flags, &arg, &count_arg, &size,
			   &at) != 5)
			exit(2);
		call->copies[call->n_copies++] = (struct trace_copy){
			(uint8_t)kind, (uint8_t)flags, (uint8_t)arg, (uint8_t)count_arg, size};
	}
	if (!strcmp(spec, "!"))
		call->no_exit = 1;
}

/* Bytes as text where they are letters, else as \x. */
static void print_bytes(const uint8_t *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (data[i] > ' ' && data[i] < 127 && data[i] != '\\')
			putchar(data[i]);
		else
			printf("\\x%02x", data[i]);
}

static struct error *print_record(void *ctx, const struct trace_record *rec)
{
	const uint8_t *at = (const uint8_t *)&rec->args[rec->n_args];

	n_records++;
	n_by_flags[rec->flags & 15]++;
	if (quiet)
		return NULL;
	printf("call abi=%u nr=%u flags=%u pid=%u tid=%u comm=%.16s ret=%" PRId64 " ns=%" PRIu64
	       " args=",
	       rec->abi, rec->nr, rec->flags, rec->pid, rec->tid, rec->comm, (int64_t)rec->ret,
	       (uint64_t)(rec->exit_ns - rec->enter_ns));
	for (unsigned i = 0; i < rec->n_args; i++)
		printf("%s%" PRIx64, i ? "," : "", (uint64_t)rec->args[i]);
	for (unsigned i = 0; i < rec->n_pieces; i++) {
		const struct trace_piece *piece = (const void *)at;

		printf(" piece=%u,%u,%u,%u,%u,%u,%" PRIu64 ":", piece->arg, piece->copy,
		       piece->exit, piece->flags, piece->part, piece->index, (uint64_t)piece->full);
		print_bytes(piece->data, piece->len);
		at += sizeof(*piece) + ((piece->len + 7u) & ~7u);
	}
	putchar('\n');
	return NULL;
}

static void print_loss(void *ctx, const struct trace_loss *loss)
{
	printf("lost kind=%d cpu=%u abi=%d nr=%u n=%" PRIu64 "\n", loss->kind, loss->cpu, loss->abi,
	       loss->nr, loss->n);
}

static struct error *print_sum(void *ctx, const struct trace_sum *sum)
{
	uint64_t in_slots = 0;

	for (size_t i = 0; i < 64; i++)
		in_slots += sum->slots[i];
	printf("sum tid=%u pid=%u comm=%.16s abi=%d nr=%u calls=%" PRIu64 " errors=%" PRIu64
	       " unfinished=%" PRIu64 " total=%" PRIu64 " min=%" PRIu64 " max=%" PRIu64
	       " squares=%.17g slots=%" PRIu64 "\n",
	       sum->tid, sum->pid, sum->comm, sum->abi, sum->nr, sum->calls, sum->errors,
	       sum->unfinished, sum->total_ns, sum->min_ns, sum->max_ns, sum->sum_of_squares,
	       in_slots);
	return NULL;
}

static struct error *print_errno(void *ctx, const struct trace_sum *sum, int err, uint64_t n)
{
	printf("errno tid=%u abi=%d nr=%u err=%d n=%" PRIu64 "\n", sum->tid, sum->abi, sum->nr, err,
	       n);
	return NULL;
}

/* The command, which waits until *go is written to. */
static pid_t begin(char **argv, int *go, int *gone)
{
	int wait_fd[2], out[2];
	char byte;

	if (pipe(wait_fd) || pipe(out))
		exit(1);
	pid_t pid = fork();
	if (!pid) {
		close(wait_fd[1]);
		close(out[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* ready: what it has called so far is not traced in part */
		if (write(out[1], "", 1) != 1 || read(wait_fd[0], &byte, 1) != 1)
			_exit(1);
		close(wait_fd[0]);
		if (dup2(out[1], 9) != 9)
			_exit(1);
		close(out[1]);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(wait_fd[0]);
	close(out[1]);
	if (read(out[0], &byte, 1) != 1)
		exit(1);
	*go = wait_fd[1];
	*gone = out[0];
	return pid;
}

int main(int argc, char **argv)
{
	struct trace_source_opts opts = {
		.sz = sizeof(opts), .calls = calls, .string_size = 32, .events = true};
	pid_t pids[64], tids[64], excluded[64];
	bool everybody = false, wait_first = false, until_closed = false;
	struct trace_source *source;
	uint32_t uids[16];
	int c, go, gone;

	opts.pids = pids;
	opts.tids = tids;
	opts.uids = uids;
	opts.exclude = excluded;
	while ((c = getopt(argc, argv, "+c:ax:p:t:u:g:nfm:s:r:STqweM:H:")) != -1) {
		switch (c) {
		case 'c':
			add_call(optarg);
			break;
		case 'a':
			everybody = true;
			break;
		case 'x':
			excluded[opts.n_exclude++] = atoi(optarg);
			break;
		case 'p':
			pids[opts.n_pids++] = atoi(optarg);
			break;
		case 't':
			tids[opts.n_tids++] = atoi(optarg);
			break;
		case 'u':
			uids[opts.n_uids++] = (uint32_t)atoi(optarg);
			break;
		case 'g':
			opts.cgroup = optarg;
			break;
		case 'n':
			opts.no_inherit = true;
			break;
		case 'f':
			opts.failed_only = true;
			break;
		case 'm':
			opts.min_ns = strtoull(optarg, NULL, 0);
			break;
		case 's':
			opts.string_size = (uint32_t)atoi(optarg);
			break;
		case 'r':
			opts.ring_bytes = (uint32_t)atoi(optarg);
			break;
		case 'S':
			opts.summary = true;
			opts.events = false;
			break;
		case 'T':
			opts.summary = true, opts.sums_by = TRACE_SUMS_BY_THREAD;
			break;
		case 'M':
			opts.max_rows = (uint32_t)atoi(optarg);
			break;
		case 'H':
			opts.max_states = (uint32_t)atoi(optarg);
			break;
		case 'q':
			quiet = true;
			break;
		case 'w':
			wait_first = true;
			break;
		case 'e':
			until_closed = true;
			break;
		default:
			return 2;
		}
	}
	check(trace_source_new(&opts, &source));
	pid_t pid = begin(argv + optind, &go, &gone);
	if (!everybody && !opts.n_pids && !opts.n_tids)
		check(trace_source_add_pid(source, pid));
	check(trace_source_start(source));
	if (write(go, "", 1) != 1)
		return 1;
	struct pollfd poll_fds[2] = {{.fd = gone, .events = POLLIN},
				     {.fd = trace_source_fd(source), .events = POLLIN}};
	/* whoever inherited the pipe has ended, or the command has closed it */
	while (!(poll_fds[0].revents & POLLHUP)) {
		poll(poll_fds, wait_first ? 1 : 2, (int)trace_source_interval_ms(source));
		if (!wait_first)
			check(trace_source_drain(source, print_record, NULL));
		if (!until_closed && waitpid(pid, NULL, WNOHANG) == pid)
			break;
	}
	check(trace_source_stop(source));
	check(trace_source_drain(source, print_record, NULL));
	trace_source_losses(source, print_loss, NULL);
	check(trace_source_sums(source, print_sum, print_errno, NULL));
	printf("records n=%" PRIu64 " unseen_entry=%" PRIu64 " unseen_exit=%" PRIu64 "\n",
	       n_records, n_by_flags[1] + n_by_flags[5], n_by_flags[2] + n_by_flags[6]);
	trace_source_free(source);
	return 0;
}
