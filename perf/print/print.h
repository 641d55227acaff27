/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sample and any other record as text, line by line as perf script writes
 * it, or as one line of JSON. Nothing here writes to a file: the text is added
 * to a string buffer.
 */
#ifndef PB_PERF_PRINT_PRINT_H
#define PB_PERF_PRINT_PRINT_H

#include "lib/base/names.h"
#include "lib/base/strbuf.h"
#include "perf/print/script_fields.h"
#include "perf/format/tracing.h"
#include "perf/resolve/resolve.h"
#include "perf/session/session.h"

struct script_printer;

struct printer_opts {
	size_t sz;
	const struct log *log;
	struct session *session;	   /* lives longer */
	struct resolver *resolver;	   /* NULL: no symbols */
	struct tracing *tracing;	   /* NULL: no format files are known (yet) */
	const struct field_choice *fields; /* copied */
	bool json;	  /* all that a sample holds; fields narrow it where the user chose */
	bool hide_chain;  /* -G */
	bool ns;	  /* nine digits of time */
	bool short_start; /* -L: eight letters of the name, the CPU without brackets */
	/* Times since the first one that is printed, or since the one before. */
	enum time_base { TIME_RECORDED, TIME_SINCE_FIRST, TIME_SINCE_LAST } time_base;
	const struct names *chain_end; /* no frames after one of these functions; NULL: all */
	bool full_paths;	       /* of source lines */
	/* Of FIELD_INSN, FIELD_SRCLINE and FIELD_SRCCODE, what print_sample_python() adds. */
	uint64_t python_fields;
	bool kernel_path;    /* the files of the kernel and of its modules instead of their names */
	unsigned max_stack;  /* 0: 127, perf's PERF_MAX_STACK_DEPTH */
	unsigned max_blocks; /* of field brstackinsn; 0: all */
};

/*
 * Checks the choice of fields against the recording's events: a field that
 * was asked for by name and is in no sample is an error.
 */
struct error *printer_new(const struct printer_opts *opts, struct script_printer **out);
void printer_free(struct script_printer *p);
DEFINE_FREEP(struct script_printer, printer_free)

/* For pipes, where the format files come after the start. */
void printer_set_tracing(struct script_printer *p, struct tracing *tracing);

/* In a pipe the events come one by one: call after the first records were read. */
struct error *printer_check_events(struct script_printer *p);

/* Adds the sample's line or lines, newline included. */
void print_sample(struct script_printer *p, const struct record *rec, const struct sample *sample,
		  const struct session_event *event, struct thread *thread, struct strbuf *out);

/*
 * Adds "  comm  tid … PERF_RECORD_MMAP2 …" for any record that is no sample;
 * thread may be NULL.
 */
void print_record(struct script_printer *p, const struct record *rec, const struct thread *thread,
		  struct strbuf *out);

/*
 * perf script -D and perf report -D: the offset of the record in the file, its bytes, and what it
 * is. sample, event and thread are NULL for a record that is not a sample. perf marks records that
 * the command does not use; the two commands use different ones.
 */
enum dump_style { DUMP_NONE, DUMP_SCRIPT, DUMP_REPORT, DUMP_STATS };

struct dump {
	enum dump_style style;
	const char *file; /* its name */
	bool features;	  /* FEATURE records of a pipe as in the header; topology: as by -I */
	bool topology;
};

void print_record_raw(struct script_printer *p, const struct dump *dump, const struct record *rec,
		      const struct sample *sample, const struct session_event *event,
		      const struct thread *thread, struct strbuf *out);

/* The same as one line of JSON each; the schema stands in doc/script-json.md. */
void print_sample_json(struct script_printer *p, const struct record *rec,
		       const struct sample *sample, const struct session_event *event,
		       struct thread *thread, struct strbuf *out);
void print_record_json(struct script_printer *p, const struct record *rec,
		       const struct thread *thread, struct strbuf *out);
/* A line of the loss ledger that perf-bpf record left in the file. */
void print_ledger_json(struct script_printer *p, const struct record_ledger *ledger,
		       struct strbuf *out);

/* The same for script_driver.py, which runs Python scripts. Most records have nothing for it. */
void print_sample_python(struct script_printer *p, const struct sample *sample,
			 const struct session_event *event, const struct thread *thread,
			 struct strbuf *out);
/* The events that had no sample. */
void print_events_python(struct script_printer *p, struct strbuf *out);
void print_record_python(const struct record *rec, struct strbuf *out);

/* "12345.678901", or with nine digits. */
void print_time(struct strbuf *out, uint64_t ns, bool nine);

#endif
