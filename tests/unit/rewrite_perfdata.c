// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies a recording record by record through the reader and the writer:
 *
 *	rewrite-perfdata IN OUT [zstd=LEVEL] [rounds=RECORDS] [kill-after=N] [ledger]
 *
 * With "dump" instead of OUT, it prints where each record stands and what it is.
 * With rounds, rounds of so many records take the place of the recording's own.
 * With kill-after, it ends without a word after N rounds, as SIGKILL would.
 * For the tests that show perf what our writer writes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/strbuf.h"
#include "perf/data/writer.h"
#include "perf/session/session.h"

struct rewrite {
	struct session_tool tool;
	struct data_writer *w;
	bool started;
	long rounds, kill_after;
	long records, per_round; /* 0: the recording's own rounds */
};

static struct error *round_ends(struct rewrite *rw)
{
	if (rw->kill_after && ++rw->rounds > rw->kill_after)
		_exit(9);
	return data_writer_round(rw->w);
}

static struct error *start(struct rewrite *rw, struct session *s)
{
	const struct data_header *h = session_header(s);

	for (size_t i = 0; i < session_n_events(s); i++) {
		const struct session_event *ev = session_event(s, i);
		TRY(data_writer_add_event(rw->w, &ev->attr, ev->name, ev->ids, ev->n_ids));
	}
	for (unsigned int f = 1; f < DATA_LAST_FEATURE; f++)
		if (h->features[f].p && f != DATA_BUILD_ID && f != DATA_COMPRESSED)
			TRY(data_writer_feature(rw->w, f, h->features[f].p, h->features[f].size));
	rw->started = true;
	return data_writer_start(rw->w);
}

static struct error *on_record(struct session_tool *tool, struct session *s,
			       const struct record *rec)
{
	struct rewrite *rw = tool->ctx;

	switch (rec->header.type) {
	case RECORD_HEADER_ATTR:
	case RECORD_HEADER_EVENT_TYPE:
	case RECORD_HEADER_TRACING_DATA:
	case RECORD_HEADER_BUILD_ID:
	case RECORD_HEADER_FEATURE:
	case RECORD_EVENT_UPDATE:
		return NULL;
	case RECORD_FINISHED_ROUND:
		if (!rw->started)
			TRY(start(rw, s));
		return rw->per_round ? NULL : round_ends(rw);
	default:
		break;
	}
	if (!rw->started)
		TRY(start(rw, s));
	/* In two pieces, as a ring that wraps around has it. */
	size_t half = rec->header.size / 2 & ~7u;
	struct iovec iov[2] = {
		{(void *)rec->body.base, half},
		{(void *)(rec->body.base + half), rec->header.size - half},
	};
	TRY(data_writer_write(rw->w, iov, 2));
	return rw->per_round && ++rw->records % rw->per_round == 0 ? round_ends(rw) : NULL;
}

static struct error *dump_record(struct session_tool *tool, struct session *s,
				 const struct record *rec)
{
	printf("0x%llx [0x%x] %u\n", (unsigned long long)rec->file_offset, rec->header.size,
	       rec->header.type);
	return NULL;
}

static struct error *dump(const char *in)
{
	_cleanup_(session_freep) struct session *s = NULL;
	struct session_tool tool = {.unordered = true, .other = dump_record};

	TRY(session_open(in, NULL, &s));
	return session_process(s, &tool);
}

static struct error *rewrite(const char *in, const char *out, int argc, char **argv)
{
	_cleanup_(session_freep) struct session *s = NULL;
	_cleanup_(data_writer_freep) struct data_writer *w = NULL;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct data_writer_opts opts = {.sz = sizeof(opts)};
	struct rewrite rw = {.tool = {.unordered = true, .other = on_record}};
	bool ledger = false;

	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "zstd=", 5))
			opts.zstd_level = atoi(argv[i] + 5);
		else if (!strncmp(argv[i], "rounds=", 7))
			rw.per_round = atol(argv[i] + 7);
		else if (!strncmp(argv[i], "kill-after=", 11))
			rw.kill_after = atol(argv[i] + 11);
		else if (!strcmp(argv[i], "ledger"))
			ledger = true;
	}
	rw.tool.ctx = &rw;
	TRY(session_open(in, NULL, &s));
	TRY(data_writer_open(out, &opts, &w));
	rw.w = w;
	struct error *err = session_process(s, &rw.tool);
	if (err) {
		error_free(data_writer_finish(w));
		return err;
	}
	if (!rw.started)
		TRY(start(&rw, s));
	if (ledger) {
		record_encode_ledger(&sb,
				     &(struct record_ledger){LEDGER_PROG_MISSED, 42, 7, "prog"});
		TRY(data_writer_records(w, sb.str, sb.len));
	}
	const struct data_bytes *ids = &session_header(s)->features[DATA_BUILD_ID];
	if (ids->p)
		TRY(data_writer_feature(w, DATA_BUILD_ID, ids->p, ids->size));
	return data_writer_finish(w);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	struct error *err = strcmp(argv[2], "dump") ? rewrite(argv[1], argv[2], argc - 3, argv + 3)
						    : dump(argv[1]);
	if (!err)
		return 0;
	fprintf(stderr, "rewrite-perfdata: %s: %s\n", err->where ? err->where : "", err->msg);
	error_free(err);
	return 1;
}
