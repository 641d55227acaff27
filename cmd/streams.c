// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/streams.h"

#include <inttypes.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "lib/sys/write_stream.h"

enum {
	PATIENCE_MS = 300, /* so long a file that takes no more is waited for at the end */
	MAX_STALLED = 3,   /* standard output, standard error, and a log */
};

/* A process has one standard output; who writes to it cannot pass this along. */
static struct {
	int again[STDERR_FILENO + 1]; /* terminals that were opened anew; 0: none */
	struct stat stalled[MAX_STALLED];
	size_t n_stalled;
	uint64_t lines, bytes; /* that were not written */
} streams;

void streams_begin(void)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		const int again = open_terminal_again(fd);

		streams.again[fd] = again > STDERR_FILENO ? again : 0;
	}
}

static bool is_stalled(const struct stat *st)
{
	size_t i = 0;

	while (i < streams.n_stalled &&
	       (streams.stalled[i].st_dev != st->st_dev || streams.stalled[i].st_ino != st->st_ino))
		i++;
	return i < streams.n_stalled;
}

static void count_unwritten(const char *data, size_t size)
{
	streams.bytes += size;
	for (size_t i = 0; i < size; i++)
		streams.lines += data[i] == '\n';
}

struct error *streams_write(int fd, const char *data, size_t size, bool *closed)
{
	const struct write_stream_opts opts = {
		.lines = true, .patience_ms = PATIENCE_MS, .is_ending = streams.n_stalled};
	const bool is_standard = fd == STDOUT_FILENO || fd == STDERR_FILENO;
	enum stream_state state = STREAM_OPEN;
	struct stat st = {0};
	size_t written = 0;

	if (*closed && !streams.n_stalled)
		return NULL;
	if (streams.n_stalled && !fstat(fd, &st) && is_stalled(&st)) {
		count_unwritten(data, size);
		*closed = true;
		return NULL;
	}
	TRY(write_stream(is_standard && streams.again[fd] ? streams.again[fd] : fd, data, size,
			 &opts, &written, &state));
	*closed = state != STREAM_OPEN;
	if (state != STREAM_STALLED)
		return NULL;
	count_unwritten(data + written, size - written);
	if (streams.n_stalled < MAX_STALLED && !fstat(fd, &st))
		streams.stalled[streams.n_stalled++] = st;
	return NULL;
}

void streams_report(void)
{
	if (streams.bytes)
		cmd_say("perf-bpf: warning: %" PRIu64 " lines of output (%" PRIu64
			" bytes) were not written: nobody read them\n",
			streams.lines, streams.bytes);
}
