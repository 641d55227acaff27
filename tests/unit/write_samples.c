// SPDX-License-Identifier: BSD-2-Clause
/*
 * Not a test: writes a recording as a PMU with branch records and data addresses makes it, for
 * tests on machines without one. perf reads it, too.
 *
 *	write-samples OUT <LINES
 *
 * Lines, with numbers in any base of C:
 *
 *	event SAMPLE_TYPE BRANCH_SAMPLE_TYPE [NAME]	first
 *	switches				before it: context switches are recorded
 *	comm PID NAME
 *	map PID ADDRESS LENGTH PGOFF FILE
 *	data PID ADDRESS LENGTH PGOFF FILE	a mapping of data
 *	in PID TIME, out PID TIME		a context switch
 *	namespaces PID TIME DEV INODE		of cgroups
 *	sample PID TIME IP [MEMBER=VALUE]... [chain=ADDRESS,...] [FROM/TO/FLAGS]...
 *
 * MEMBER is addr, cpu, period, weight, data_src, transaction, phys_addr, page. FLAGS are the third
 * word of a branch record: 1 mispredicted, 2 predicted, 4 in a transaction, 8 aborts, 16 for each
 * cycle.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/util.h"
#include "perf/data/writer.h"
#include "perf/event/encode.h"

#define MAX_BRANCHES 64
#define MAX_FRAMES   64

struct state {
	struct perf_event_attr attr;
	struct strbuf records;
};

static uint64_t number(const char *word)
{
	char *end;
	const uint64_t value = word ? strtoull(word, &end, 0) : 0;

	if (!word || *end) {
		fprintf(stderr, "write-samples: '%s' is not a number\n", word ? word : "");
		exit(2);
	}
	return value;
}

static uint64_t next_number(char **line)
{
	return number(strsep(line, " "));
}

static void set_member(struct sample *s, char *word)
{
	const char *name = strsep(&word, "=");
	const uint64_t value = number(word);

	if (!strcmp(name, "addr"))
		s->addr = value;
	else if (!strcmp(name, "cpu"))
		s->cpu = (int32_t)value;
	else if (!strcmp(name, "period"))
		s->period = value;
	else if (!strcmp(name, "weight"))
		s->weight = value;
	else if (!strcmp(name, "data_src"))
		s->data_src = value;
	else if (!strcmp(name, "transaction"))
		s->transaction = value;
	else if (!strcmp(name, "phys_addr"))
		s->phys_addr = value;
	else if (!strcmp(name, "page"))
		s->data_page_size = value;
	else
		number(name);
}

/* Addresses; "user" and "kernel" are what is before those of one. */
static uint64_t read_chain(char *list, uint64_t chain[MAX_FRAMES])
{
	uint64_t n = 0;

	for (char *word; (word = strsep(&list, ",")) && n < MAX_FRAMES;)
		chain[n++] = !strcmp(word, "user")     ? PERF_CONTEXT_USER
			     : !strcmp(word, "kernel") ? PERF_CONTEXT_KERNEL
						       : number(word);
	return n;
}

static void add_sample(struct state *st, char *line)
{
	uint64_t chain[MAX_FRAMES];
	uint64_t words[3 * MAX_BRANCHES];
	uint64_t n = 0;
	struct sample s = {.period = 1};

	s.pid = s.tid = (int32_t)next_number(&line);
	s.time = next_number(&line);
	s.ip = next_number(&line);
	s.misc = s.ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	for (char *word; (word = strsep(&line, " "));) {
		if (!*word)
			continue;
		if (!strncmp(word, "chain=", 6)) {
			s.chain.bytes = (const uint8_t *)chain;
			s.chain.n = read_chain(word + 6, chain);
			continue;
		}
		if (!strchr(word, '/')) {
			set_member(&s, word);
			continue;
		}
		for (int i = 0; i < 3 && n < ARRAY_SIZE(words); i++)
			words[n++] = number(strsep(&word, "/"));
	}
	s.branches = (struct u64_array){.bytes = (const uint8_t *)words, .n = n};
	record_encode_sample(&st->records, &st->attr, &s);
}

static void add_map(struct state *st, char *line, bool is_data)
{
	const struct sample id = {0};
	struct record_mmap map = {.prot = is_data ? 3 : 5, .flags = 2};

	map.pid = map.tid = (int32_t)next_number(&line);
	map.addr = next_number(&line);
	map.len = next_number(&line);
	map.pgoff = next_number(&line);
	map.filename = line;
	record_encode_mmap2(&st->records, &st->attr,
			    PERF_RECORD_MISC_USER | (is_data ? PERF_RECORD_MISC_MMAP_DATA : 0),
			    &map, &id);
}

static struct sample id_of(char **line)
{
	struct sample id = {0};

	id.pid = id.tid = (int32_t)next_number(line);
	id.time = next_number(line);
	return id;
}

/* The header and the id of another record: a switch has nothing else. */
static void add_switch(struct state *st, char *line, bool is_out)
{
	const struct sample id = id_of(&line);
	struct strbuf record = STRBUF_INIT;
	struct perf_event_header header;

	record_encode_namespaces(&record, &st->attr, &(struct record_namespaces){0}, &id);
	memcpy(&header, record.str, sizeof(header));
	/* pid, tid, and the number of links */
	header.size -= 16;
	header.type = PERF_RECORD_SWITCH;
	header.misc = is_out ? PERF_RECORD_MISC_SWITCH_OUT : 0;
	strbuf_add(&st->records, &header, sizeof(header));
	strbuf_add(&st->records, record.str + sizeof(header) + 16,
		   record.len - sizeof(header) - 16);
	strbuf_deinit(&record);
}

static void add_namespaces(struct state *st, char *line)
{
	const struct sample id = id_of(&line);
	uint64_t links[2 * 7] = {0};

	links[12] = next_number(&line);
	links[13] = next_number(&line);
	const struct record_namespaces ns = {
		.pid = id.pid, .tid = id.tid, .links = {.bytes = (const uint8_t *)links, .n = 14}};
	record_encode_namespaces(&st->records, &st->attr, &ns, &id);
}

static void add_line(struct state *st, struct data_writer *w, char *line)
{
	static const uint64_t id = 1;
	const struct sample none = {0};
	const char *kind = strsep(&line, " ");
	struct error *err = NULL;

	if (!strcmp(kind, "switches")) {
		st->attr.context_switch = 1;
	} else if (!strcmp(kind, "in") || !strcmp(kind, "out")) {
		add_switch(st, line, *kind == 'o');
	} else if (!strcmp(kind, "namespaces")) {
		add_namespaces(st, line);
	} else if (!strcmp(kind, "event")) {
		st->attr.sample_type = next_number(&line);
		st->attr.branch_sample_type = next_number(&line);
		err = data_writer_add_event(w, &st->attr, line ? line : "cycles:u", &id, 1);
		/* As of record -b, but not of record --call-graph lbr. */
		if (!err && st->attr.sample_type & PERF_SAMPLE_BRANCH_STACK &&
		    !(st->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
			err = data_writer_feature(w, DATA_BRANCH_STACK, "", 0);
		err = err ? err : data_writer_start(w);
	} else if (!strcmp(kind, "comm")) {
		struct record_comm comm = {0};

		comm.pid = comm.tid = (int32_t)next_number(&line);
		comm.comm = line;
		record_encode_comm(&st->records, &st->attr, 0, &comm, &none);
	} else if (!strcmp(kind, "map") || !strcmp(kind, "data")) {
		add_map(st, line, *kind == 'd');
	} else if (!strcmp(kind, "sample")) {
		add_sample(st, line);
	} else {
		number(kind);
	}
	if (err) {
		fprintf(stderr, "write-samples: %s\n", err->msg);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct state st = {.attr = {.size = sizeof(st.attr),
				    .type = PERF_TYPE_HARDWARE,
				    .exclude_kernel = 1,
				    .sample_id_all = 1}};
	struct data_writer *w = NULL;
	char line[8192];

	if (argc != 2 || data_writer_open(argv[1], NULL, &w))
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		add_line(&st, w, line);
	}
	struct error *err = data_writer_records(w, strbuf_str(&st.records), st.records.len);
	err = err ? err : data_writer_finish(w);
	if (err)
		fprintf(stderr, "write-samples: %s\n", err->msg);
	data_writer_free(w);
	strbuf_deinit(&st.records);
	return err ? 1 : 0;
}
