/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording, read: its events, its processes and their memory maps, and its
 * records in the order of time, handed to a table of callbacks.
 *
 *	struct session *s;
 *	TRY(session_open("perf.data", &opts, &s));	// "-" reads a pipe
 *	TRY(session_process(s, &tool));
 *	session_free(s);
 *
 * Everything the session hands out lives until session_free(), but what a
 * callback gets (record, sample) only until it returns.
 */
#ifndef PB_PERF_SESSION_SESSION_H
#define PB_PERF_SESSION_SESSION_H

#include <sys/uio.h>

#include "lib/base/log.h"
#include "perf/data/data.h"
#include "perf/event/encode.h"
#include "perf/event/event.h"

struct session;

/* One event of the recording (perf calls it an evsel). */
struct session_event {
	int index; /* from 0, in the file's order */
	struct perf_event_attr attr;
	const char *name; /* "syscalls:sys_enter_write", "cpu-clock:u"; never NULL */
	const uint64_t *ids;
	size_t n_ids;
	void *priv; /* the caller's */
};

enum dso_kind {
	DSO_USER,   /* a file; symbols by its path or build-id */
	DSO_KERNEL, /* [kernel.kallsyms] */
	DSO_MODULE, /* a kernel module */
	DSO_VDSO,   /* [vdso] */
	DSO_BPF,    /* the JIT image of one BPF program: bpf_prog_TAG_NAME */
	DSO_ANON,   /* //anon, [heap], [stack], …; with code: path is /tmp/perf-PID.map */
};

/* What was mapped. One object for all maps of the same file: of one path and build-id or inode. */
struct dso {
	enum dso_kind kind;
	const char *path; /* as the record has it; "[kernel.kallsyms]" without the symbol's name */
	/*
	 * What perf shows: a path's last component, "[kernel.kallsyms]",
	 * "[ext4]", "bpf_prog_TAG_NAME", "[JIT] tid PID".
	 */
	const char *short_name;
	uint8_t build_id[20];
	uint8_t build_id_size; /* 0: none known */
	bool build_id_unsure;  /* the recording has several for the path, and does not say which */
	uint32_t maj, min;     /* of a file: its device and inode; ino 0: not known */
	uint64_t ino;
	int32_t pid; /* of a file: the process that mapped it last; 0: none */
	void *priv;  /* perf/resolve keeps the symbols here */
	void (*priv_free)(void *priv);
};

struct map {
	uint64_t start, end; /* [start, end) */
	/*
	 * Of a file: its offset at start. Of DSO_KERNEL: the address of the
	 * symbol that its record's name ends with (_text, _stext), 0 when the
	 * kernel hid it. Of DSO_ANON: start, so that addresses stay what they
	 * are. Of DSO_VDSO, DSO_MODULE and DSO_BPF: 0, or as the record has it.
	 */
	uint64_t pgoff;
	uint32_t prot, flags;
	struct dso *dso;
};

/* A thread as of the record at hand. */
struct thread {
	int32_t pid, tid, ppid;
	/*
	 * ":TID" while unknown, as perf prints it. Equal names are one string: they
	 * may be compared by their address, and live until session_free(). In a live
	 * session each thread has a copy, of up to 15 characters.
	 */
	const char *comm;
	struct map_set *maps; /* shared by the threads of a process */
	void *priv;
};

/* Never NULL but for lack of memory: an unknown tid gives a thread ":TID". */
struct thread *session_thread(struct session *s, int32_t pid, int32_t tid);

/*
 * The last thread of each tid so far, also if it has ended, in no order. The array is the caller's
 * to free().
 */
struct error *session_threads(const struct session *s, struct thread ***out, size_t *n);
/* What is mapped in its process, by address; NULL: no more. */
const struct map *thread_map(const struct thread *thread, size_t index);

/* The map that holds addr; NULL: none. Changes nothing, so several threads may call it at once. */
const struct map *thread_find_map(const struct thread *thread, uint64_t addr);

/*
 * The map that holds addr for this thread in this mode (PERF_RECORD_MISC_USER:
 * the process's maps; _KERNEL: the kernel's, its modules' and BPF programs');
 * NULL: none.
 */
const struct map *session_find_map(struct session *s, const struct thread *thread, uint8_t cpumode,
				   uint64_t addr);

/*
 * Of a recording: changes when what session_find_map() finds for the maps of this thread may be
 * another, unless the thread has other maps by then.
 */
uint64_t session_maps_version(const struct session *s, const struct thread *thread);

/*
 * Of a recording: the path of the jit-PID.dump that the process has mapped last; NULL: none. It
 * lives until session_free().
 */
const char *session_jitdump(struct session *s, int32_t pid);

/* A cgroup, by the id that samples have (record --all-cgroups). */
struct session_cgroup {
	uint64_t id;
	const char *path; /* NULL: no record has named it yet */
	/* lib/sys/cgroup_names.h, "" where the path does not show it; equal texts are one string */
	const char *unit, *container, *pod;
};

/* One object for each id, until session_free(); NULL: no memory. */
const struct session_cgroup *session_cgroup(struct session *s, uint64_t id);
/* Of a sample; NULL: it was not recorded, or no memory. */
static inline const struct session_cgroup *session_cgroup_of(struct session *s,
							     const struct sample *sample)
{
	return sample->has & PERF_SAMPLE_CGROUP ? session_cgroup(s, sample->cgroup) : NULL;
}

/* A record as it is handed to a callback. */
struct record {
	struct perf_event_header header; /* host byte order */
	struct cursor body;		 /* the whole record, header included */
	uint64_t file_offset;
	const struct session_event *event; /* NULL when the file does not say */
	struct sample id;		   /* the sample_id fields of a record that is no sample */
	bool again; /* a sample of a group's further member: the record was handed out before */
	bool stays; /* the bytes live until the tool settles, and so does what a sample points to */
};

/*
 * The callbacks. One left NULL gets the default: the session keeps its own
 * books (threads, maps, events, losses) before any callback runs, whether
 * there is one or not. A callback that returns an error ends
 * session_process(), which returns that error; SESSION_STOP ends it well.
 */
struct session_tool {
	void *ctx;
	bool unordered; /* records as they stand in the file, not by time */
	/*
	 * For a tool that puts samples off whose record stays: called before anything changes that
	 * the session has handed out (threads, maps, events, the bytes of records), before another
	 * callback than sample, and at the end. Until it returns, a thread of the tool's may look
	 * at maps by thread_find_map().
	 */
	struct error *(*settle)(struct session_tool *tool);
	struct error *(*sample)(struct session_tool *tool, struct session *s,
				const struct record *rec, const struct sample *sample,
				const struct session_event *event, struct thread *thread);
	struct error *(*mmap)(struct session_tool *tool, struct session *s,
			      const struct record *rec, const struct record_mmap *mmap);
	struct error *(*comm)(struct session_tool *tool, struct session *s,
			      const struct record *rec, const struct record_comm *comm);
	struct error *(*fork)(struct session_tool *tool, struct session *s,
			      const struct record *rec, const struct record_task *task);
	struct error *(*exit)(struct session_tool *tool, struct session *s,
			      const struct record *rec, const struct record_task *task);
	struct error *(*lost)(struct session_tool *tool, struct session *s,
			      const struct record *rec, const struct record_lost *lost);
	struct error *(*lost_samples)(struct session_tool *tool, struct session *s,
				      const struct record *rec, const struct record_lost *lost);
	struct error *(*ksymbol)(struct session_tool *tool, struct session *s,
				 const struct record *rec, const struct record_ksymbol *ksymbol);
	struct error *(*bpf_event)(struct session_tool *tool, struct session *s,
				   const struct record *rec, const struct record_bpf_event *ev);
	struct error *(*cgroup)(struct session_tool *tool, struct session *s,
				const struct record *rec, const struct record_cgroup *cgroup);
	struct error *(*namespaces)(struct session_tool *tool, struct session *s,
				    const struct record *rec, const struct record_namespaces *ns);
	/* Every other type, and those above that have no callback. */
	struct error *(*other)(struct session_tool *tool, struct session *s,
			       const struct record *rec);
};

/* Returned by a callback that has seen enough. */
extern struct error session_stop;
#define SESSION_STOP (&session_stop)

struct session_opts {
	size_t sz; /* sizeof(struct session_opts) */
	const struct log *log;
	bool force; /* read a file owned by somebody else */
};

struct error *session_open(const char *path, const struct session_opts *opts, struct session **out);
struct error *session_process(struct session *s, struct session_tool *tool);
void session_free(struct session *s);
DEFINE_FREEP(struct session, session_free)

size_t session_n_events(const struct session *s);
struct session_event *session_event(struct session *s, size_t index);
/* Whether samples of any event have copies of stacks, of whose many bytes few are looked at. */
bool session_has_stacks(const struct session *s);
/* Whether it is the event of record --off-cpu, perf's or ours: a BPF program takes its stacks. */
bool session_event_is_off_cpu(const struct session_event *event);

/* The features of the header (hostname, cmdline, BPF_PROG_INFO, TRACING_DATA …). */
const struct data_header *session_header(const struct session *s);
/* The directory of the kernel's symbols and code in that of the recording (record --kcore); NULL:
 * none. */
const char *session_kcore_dir(const struct session *s);

/*
 * What was lost, as the records say: the sums over LOST and LOST_SAMPLES, and
 * the loss ledger that perf-bpf record writes (struct record_ledger).
 * Complete after session_process().
 */
struct session_losses {
	uint64_t lost;	       /* records, PERF_RECORD_LOST */
	uint64_t lost_samples; /* PERF_RECORD_LOST_SAMPLES */
	uint64_t chunks;       /* how many LOST records */
	const struct record_ledger *ledger;
	size_t n_ledger;
};
struct session_losses session_losses(const struct session *s);
/*
 * The samples that were lost, as far as records say. The kernel counts what found no room in a ring
 * twice: by LOST records, which count records of other types too, and since 6.0 by event, which
 * record writes at its end as LOST_SAMPLES. A recording before 6.0, or one that was not finished,
 * has LOST alone.
 */
uint64_t session_lost_samples(const struct session *s);
/*
 * An error, to be returned once everything that there is has been shown, if the recording ends
 * too early: it was not finished, or was cut off later. Such a recording has no LOST_SAMPLES
 * records, so its losses were not counted. Also if damaged records or samples of unknown events
 * were skipped. EBADMSG.
 */
struct error *session_check_complete(const struct session *s, const char *name);
bool session_is_complete(const struct session *s);
/*
 * How many records of this type, COMPRESSED or COMPRESSED2, were unpacked. Callbacks get what they
 * hold in their place.
 */
uint64_t session_n_compressed(const struct session *s, uint32_t type);
/* Warns of what was lost; name is the recording's. */
void session_warn_of_losses(const struct session *s, const char *name, const struct log *log);

/* The group that an event is in; NULL: none. */
const struct data_group *session_group_of(const struct session *s, size_t event);

/* TRACING_DATA, taken apart; NULL: the recording has none, or (in a pipe) not yet. */
const struct data_tracing *session_tracing(const struct session *s);

/* ---- a live source ---- */

/*
 * A session of what happens now. The caller reads the rings of its events and
 * hands over what they hold; the session orders it by time, keeps its books and
 * calls the tool as for a recording. tool NULL: the books alone.
 *
 *	TRY(session_new_live(&opts, &s));
 *	TRY(session_add_event(s, &attr, "dummy", ids, n_ids));
 *	for (;;) {
 *		now = …;			// by the clock of the records
 *		for each ring:
 *			TRY(session_push(s, tool, iov, n));
 *		TRY(session_advance(s, tool, now));
 *	}
 *
 * Records without a time, as synthesized ones, are handed on at once. Memory
 * is bounded: by what happens between `now` and the last ring's turn, by the
 * threads that run, and by those that have ended and were not forgotten yet.
 *
 * Maps, threads and DSOs are valid until the next session_push(),
 * session_advance() or session_forget().
 */
struct error *session_new_live(const struct session_opts *opts, struct session **out);
/* ids may be empty for the only event. Everything is copied. */
struct error *session_add_event(struct session *s, const struct perf_event_attr *attr,
				const char *name, const uint64_t *ids, size_t n_ids);

/* More ids of the n-th event that was added, from 0: the kernel opened it again. */
struct error *session_add_ids(struct session *s, size_t event, const uint64_t *ids, size_t n_ids);

/* The last event and the following ones, n in all, are a group. */
struct error *session_begin_group(struct session *s, size_t n);

/* Whole records, in one piece or in the two that a ring shows; they are copied. */
struct error *session_push(struct session *s, struct session_tool *tool, const struct iovec *iov,
			   int n);
/* Hands on, in order, what is no younger than that; UINT64_MAX: all. */
struct error *session_advance(struct session *s, struct session_tool *tool, uint64_t until);

/*
 * As session_find_map(), of a process, as of a time (of the records' clock; 0:
 * unknown, then the newest map that was ever there), also when it has ended,
 * exec'd or unmapped it since.
 */
const struct map *session_find_map_at(struct session *s, int32_t pid, uint64_t time,
				      uint8_t cpumode, uint64_t addr);

/* The first map of the kernel's own text; NULL: it is not known. */
const struct map *session_kernel_map(struct session *s);

/* How many threads are kept; how many of them have ended. */
size_t session_n_threads(const struct session *s);
size_t session_n_ended(const struct session *s);
/*
 * Whether a process is kept that ended at that time; 0: it runs, as far as is
 * known, since the record of an end may be lost.
 */
typedef bool session_keep_fn(void *ctx, int32_t pid, uint64_t ended);
/* keep NULL: those that run. */
void session_forget(struct session *s, session_keep_fn *keep, void *ctx);
/* Changes when maps were freed: another may have the address of one that was kept elsewhere. */
uint64_t session_generation(const struct session *s);

#endif
