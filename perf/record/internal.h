/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the recorder. record_file.c runs them in this order:
 *
 *	event_attrs.c	what to open: the command line's events and their attrs
 *	record_probes.c	probes: the events and programs made for them
 *	off_cpu.c, off_cpu.bpf.c	--off-cpu: how long tasks sleep
 *	task_layout.c	the kernel's structs that these programs read
 *	record_bpf.c, terms.c	objects: load them; the events and maps they ask for
 *	sample_filter.c, sample_programs.c, sample_filter.bpf.c	--filter of other events than
 *			tracepoints
 *	event_cgroups.c	-G: which event is for which cgroup
 *	target.c	where to open it: CPUs and threads
 *	task_filter.c	all CPUs, where threads are too many
 *	wanted.c	whom programs of ours record
 *	perf_open.c		the fds, their rings, filters and programs
 *	weak_groups.c	groups that the kernel refuses
 *	write_features.c, write_topology.c, write_tracing.c	what the header says
 *	synth_records.c		what is there already: processes, maps, programs
 *	mapped_ids.c	the build ids of those maps
 *	mapped_files.c	files that only their process can reach
 *	drain.c		the rings to the file, counting what goes by
 *	overwrite.c	rings that the kernel overwrites, to the file
 *	live_events.c	the same without a file
 *	passed_events.c	events that one process opens and another one records
 *	directory.c	--threads: the directory and its files
 *	threads.c	the threads that read the rings
 *	thread_spec.c	which threads, and where they run
 *	enable_times.c	when events are enabled
 *	switch_output.c	one file after the other
 *	control.c	commands from another process
 *	cpu_return.c	CPUs that were offline
 *	cgroup_return.c	cgroups of containers that were started again
 *	strangers.c	programs of others at our tracepoints
 *	ledger.c	what was lost
 *	buildid.c	the build ids of what was hit
 */
#ifndef PB_PERF_RECORD_INTERNAL_H
#define PB_PERF_RECORD_INTERNAL_H

#include <sys/types.h>

#include "lib/attach/attach.h"
#include "lib/base/hash.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "lib/sys/proc.h"
#include "lib/ring/perf_ring.h"
#include "perf/data/writer.h"
#include "perf/record/live_events.h"
#include "perf/record/record.h"
#include "perf/record/sample_filter.h"
#include "perf/resolve/held_files.h"
#include "perf/select/select.h"
#include "probe/attach/probe.h"
#include "probe/output/output.h"
#include "perf/live/program_store.h"
#include "work/bpf_file.h"
#include "work/cpu_watch.h"
#include "work/file_series.h"
#include "work/loop.h"
#include "work/tasks.h"

struct event_fd {
	int fd;
	int cpu;
	pid_t tid;  /* -1: all */
	int cgroup; /* the descriptor of its folder; -1: all */
	uint64_t id;
	uint64_t lost_before; /* of its lost samples: those that other files have */
};

enum event_kind {
	EVENT_SELECTED, /* by -e */
	EVENT_PROGRAM,	/* of a program's section */
	EVENT_OUTPUT,	/* a map's bpf-output */
	EVENT_PROBE,	/* a probe's arguments: bpf-output, a tracepoint in the file */
	EVENT_TRACKING, /* side-band: who mapped what, …; the last event */
};

/* An event of the recording, open once per CPU and thread. */
struct event {
	enum event_kind kind;
	char *name;
	struct perf_event_attr attr;
	char *system, *tracepoint; /* NULL: no tracepoint */
	struct attach_event probe; /* attr points into it when this is a kprobe or uprobe */
	struct select_prog prog;
	char *filter;		   /* --filter of a tracepoint or probe; NULL: none */
	struct sample_tests tests; /* --filter of others */
	bool has_cookie;	   /* its programs are attached by links with this cookie */
	uint64_t cookie;
	bool has_period, has_freq;
	enum select_callgraph callgraph;
	uint32_t stack_size;
	uint16_t max_stack;
	bool unlisted; /* EVENT_TRACKING: the file has its ids as the first event's */
	int inherit;   /* -1: as the command line says */
	int overwrite; /* likewise */
	bool precise_max, sample_read;
	int group;     /* -1: none */
	size_t leader; /* index of its group's first event; its own otherwise */
	size_t n_members;
	bool is_weak;	 /* it may be without its group, */
	bool is_refused; /* and has to */
	struct {
		uint64_t sample_period;
		bool freq, inherit;
	} alone;			   /* of attr, without a group */
	char *cgroups;			   /* of -G: a list, of this event alone; NULL */
	size_t first_cgroup, n_cgroups;	   /* these among those of the target */
	VEC(struct bpf_program *) pending; /* its programs, until they are loaded */
	size_t form;			   /* which of the forms of a program with a definition */
	VEC(int) progs;			   /* to attach; borrowed */
	VEC(int) owned;			   /* progs and links that are ours to close */
	char *format;			   /* EVENT_PROBE: as tracefs would have it */
	uint32_t format_id;
	struct bpf_map *map; /* EVENT_OUTPUT, EVENT_PROBE: where its fds go; NULL */
	bool asks_filter;    /* EVENT_OUTPUT: of an object with perf_bpf_filter */
	bool is_off_cpu;     /* EVENT_OUTPUT: the sleeps of --off-cpu */
	int map_fd;	     /* -1: none */
	uint32_t map_entries;
	uint32_t strangers; /* programs of others that filter it: the most that were seen */
	VEC(struct event_fd) fds;
	size_t n_ready;	    /* of fds: those that are attached, and enabled if the recording is */
	bool paused;	    /* events_pause(): samples that come all the same are left out */
	bool selects_tasks; /* target.is_filtered: one of its programs does that */
	bool is_gated;	    /* opened for all tasks: the gate of its programs selects them */
};

struct record_object {
	char *path;
	struct bpf_file file; /* its links are of programs that run beside the recording */
	VEC(struct select_term) terms;
	VEC(struct usdt_places *) usdts; /* of programs that filter USDT probes */
	struct probe_set *probes;	 /* of programs whose sections are definitions; NULL */
	bool is_output;			 /* made by us, with the maps events and wanted */
	bool is_loaded;			 /* objects_load() has nothing to do */
	enum output_filter filter;	 /* of an object made by us: what is in wanted */
	bool asks_filter;		 /* it has perf_bpf_filter */
	uint8_t *wanted;		 /* the map, by id; NULL: there are no tasks in it */
	uint32_t alive;			 /* one of wanted that had not ended; 0: none is known */
};

struct cpu_ring {
	struct data_writer *part; /* the file data.N that it goes to; NULL: the whole recording */
	bool is_threads;	  /* a thread of threads.c reads it */
	struct perf_ring ring;
	struct recording *rec;
	int cpu;	  /* -1: it is of one thread */
	pid_t tid;	  /* of cpu -1 */
	bool overwritten; /* by the kernel: it is read once, at the end of the file */
	bool polled;	  /* some fd of it is watched */
	bool full;	  /* a record may not have fitted since the last one that we have read */
	VEC(int) fds;	  /* that write to it; one at a time is watched */
	size_t polled_fd;
	uint64_t looked; /* up to there, mapped_files.c has looked through it */
};

struct record_target {
	bool system_wide; /* -a, -C: pid -1 */
	bool per_thread;  /* the events of each thread are on no CPU */
	struct sys_cpus cpus;
	bool is_filtered;   /* system_wide, but the samples of tids only: task_filter.c */
	struct tasks tasks; /* -p, -t and -u */
	struct sys_pids tids;
	bool has_workload;	  /* tids is the workload */
	VEC(int) cgroups;	  /* descriptors; system_wide, but the samples of these only */
	VEC(uint64_t) cgroup_ids; /* of these */
	bool cgroups_by_event;	  /* each event has some of them, or none */
};

/* --control */
struct record_control {
	int fd, ack_fd; /* -1: none */
	bool is_ours;	/* to close */
	char line[64];	/* what has come of the next command */
	size_t len;
};

struct losses {
	struct record_loss *v;
	size_t n, cap;
};

/* --switch-output */
struct record_switching {
	struct file_series *series; /* NULL: there is one file */
	struct recording *event;    /* when it has samples, a file is due; NULL: none */
	int timer;
	bool due;
	struct u64map family;	  /* processes that the target has started; not NULL */
	bool finds_newest;	  /* rings_drain() sets newest */
	uint64_t newest;	  /* the time of the newest record */
	struct data_writer *next; /* gets what is newer than that and not a sample; NULL: none */
	uint64_t bytes;		  /* of the files before */
};

struct mapped_files;
struct record_threads;

struct recording {
	struct record_opts opts;
	struct record_threads *threads; /* NULL: one thread reads all rings */
	const struct sys_roots *roots;
	const struct log *log;
	pid_t self;
	VEC(struct event) events;
	VEC(struct record_object) objects;
	struct probe_finder *finder; /* NULL: not needed yet */
	struct record_target target;
	struct loop *loop;
	VEC(struct cpu_ring) rings;
	struct cpu_watch *cpu_watch;
	bool enabled;
	bool was_paused; /* events_pause() */
	bool has_paused; /* an event is or was paused: samples of it may be left out */
	struct record_control control;
	struct record_switching switching;
	int edge_timer;	  /* of opts.spans */
	size_t next_edge; /* starts and ends of spans, in order */
	size_t mmap_pages;
	int end_fd;			  /* see recording_watch() */
	char *header_page, *header_event; /* of tracefs, of passed events */
	bool no_lost;			  /* the kernel knows no PERF_FORMAT_LOST */
	bool no_rounds;	      /* the file has records that are older than those before */
	uint64_t drain_least; /* what rings have less of is left there */
	uint64_t part_bytes;  /* in files data.N */
	struct data_writer *writer;
	struct buildid_process *copier; /* NULL: files are not copied */
	struct mapped_files *mapped;	/* NULL: nobody asks for them */
	uint64_t last_round;		/* monotonic ns: when the rings were read */
	bool is_ready;			/* one has much to read */
	struct program_store *programs; /* NULL: loads of BPF programs are not announced to us */
	/* live_events.c: the loop is the caller's, and records go to a function. */
	bool is_live;
	live_records_fn *on_records;
	void *on_records_ctx;
	loop_fn *on_ready; /* a ring has much to read; NULL: nobody waits for that */
	void *on_ready_ctx;
	live_ids_fn *on_ids; /* events were opened again; NULL: they are not */
	void *on_ids_ctx;
	struct u64map ids;     /* sample id → index of the event + 1 */
	struct bpf_insn *gate; /* probe_gate.c: in front of programs that filter probes; NULL */
	size_t n_gate;
	bool gate_has_cpu; /* the attach cookies of probes have the number of the CPU */

	size_t off_cpu;		/* index of the object of --off-cpu + 1; 0: none */
	uint64_t off_cpu_spans; /* how often it was enabled */

	/* What drain.c sees go by. */
	bool drop_self;	       /* samples of the recorder are left out */
	const uint8_t *wanted; /* target.is_filtered: of those to be recorded; else NULL */
	bool wanted_threads;   /* which has threads, not processes */
	bool with_id;	       /* samples begin with an IDENTIFIER */
	bool no_ip;	       /* they have no address */
	uint64_t samples, dropped_self;
	uint64_t first_time, last_time; /* of samples; 0: none */
	uint64_t lost_records;		/* of all events, as LOST records say */
	uint64_t overwritten;		/* bytes of records */
	bool user_hit, kernel_hit, chains, stacks;
	uint64_t freq;	       /* of samples, within the kernel's limit; 0: not known yet */
	bool data_maps;	       /* mappings that are not executable are recorded */
	bool programs_changed; /* some were loaded or unloaded, as BPF_EVENT records say */
	bool cgroups_changed;  /* one was made */
	int64_t strangers_due; /* when to look for programs of others next, in ms */

	struct record_result result;
	struct losses losses;
};

/* perf_open.c: what opts.realtime asks for. */
struct error *become_realtime(const struct recording *rec);
/* event_attrs.c: the selection to events, and their attrs once all events are known. */
struct error *events_select(struct recording *rec);
struct error *events_configure(struct recording *rec);
/* One more of the selected kind, at the end. */
struct error *events_add(struct recording *rec, const char *text);
/* Of the events that the file has in their order; a group's stand one behind the other. */
bool is_group_leader(const struct recording *rec, size_t i);
/* A zeroed event at the end; NULL: no memory. */
struct event *event_new(struct recording *rec, enum event_kind kind, const char *name);
void event_deinit(struct event *event);
/* The side-band records that an event of this attr is to write. */
void event_set_tracking(const struct recording *rec, struct perf_event_attr *attr);
/* One whose samples programs of type perf_event can filter. */
bool event_is_sampled_counter(const struct event *event);

/* record_bpf.c */
struct error *objects_open(struct recording *rec, const char *path, const struct select_event *sel);
/* perf_event programs find their events, once all are known. */
struct error *objects_bind(struct recording *rec);
struct error *objects_load(struct recording *rec);
/* Programs that run beside the recording begin. */
struct error *objects_attach(struct recording *rec);
/* Opens |bpf_fd=N| and its like; adds it to the event's programs. */
struct error *event_prog_open(struct event *event);
void object_deinit(struct record_object *object);
/* sample_programs.c: the programs of event->tests; once all events are known. */
struct error *sample_filters_open(struct recording *rec);
/* terms.c: sets constants before load, maps after it. */
struct error *terms_set_constants(struct record_object *object);
struct error *terms_set_maps(struct record_object *object);
/* map:NAME.event: before the events are configured, and once they are open. */
struct error *terms_want_events(struct recording *rec);
struct error *terms_bind_events(struct recording *rec);

/* record_probes.c */
struct error *record_probes_open(struct recording *rec, const char *text);
/* The programs of an opened object whose sections are definitions. */
struct error *record_probes_of(struct recording *rec, struct record_object *object);
/* Of an object that was named: events that its programs with definitions filter. */
struct error *record_probes_events(struct recording *rec, struct record_object *object);
struct error *record_probes_attach(struct recording *rec, struct record_object *object);
/* Tells the log of their points: hits and misses. */
struct error *record_probes_tell(struct recording *rec);
/* The attr as the file has it. */
void event_file_attr(const struct event *event, struct perf_event_attr *attr);

/* wanted.c: what the command line selects */
enum output_filter wanted_filter(const struct recording *rec);
/* Whether children and new threads of what is selected so are recorded. */
bool wanted_follows(const struct recording *rec, enum output_filter filter);
/* The map of tasks of an object made by us, if wanted_set() has mapped it. */
void wanted_unmap(struct record_object *object);
/* Once it is loaded: the target. */
struct error *wanted_set(struct recording *rec, struct record_object *object);
/* A cgroup that was made meanwhile is recorded, too. */
struct error *wanted_add_cgroup(struct recording *rec, uint64_t id);
/*
 * -p and -t: whether all that our programs are to record has ended. Their events are everyone's,
 * and do not tell.
 */
bool wanted_ended(struct recording *rec);

/* task_filter.c: EMFILE: there cannot be as many descriptors, nor is there another way. */
struct error *task_filter_choose(struct recording *rec);
/* The object with the map "wanted", which has the tasks of the target. ENOTSUP: no BTF. */
struct error *task_filter_begin(struct recording *rec, size_t *index);

/* probe_gate.c: once the target is known, and before events_want_fds(). */
struct error *probe_gates_set(struct recording *rec);

/* off_cpu.c: all other events are selected. */
struct error *off_cpu_open(struct recording *rec);
void off_cpu_enable(struct recording *rec, bool on);
void off_cpu_file_attr(struct perf_event_attr *attr);
/* One sleep, as the ring has it: writes it as the file has it. */
struct error *off_cpu_write_wait(struct recording *rec, const struct event *event,
				 const void *record, size_t size);
/* The events are disabled: what was summed, as samples. */
struct error *off_cpu_write_sums(struct recording *rec);
/* Sleeps that are in no sample. */
uint64_t off_cpu_lost(const struct recording *rec);

/* task_layout.c: opts->pid_ns, and task_pid_offset if its filter is of tasks. */
struct error *task_layout_find(const struct recording *rec, struct output_opts *opts);

/* target.c */
struct error *target_init(struct recording *rec);
void target_deinit(struct record_target *target);

/* record_file.c: opens the output, or takes *fd if that is not -1; writes events and features. */
struct error *writer_open(struct recording *rec, int *fd);
struct error *writer_start(struct recording *rec);
/* waits at this fd of the ring, and no longer at another one. */
struct error *ring_watch(struct recording *rec, struct cpu_ring *ring, size_t fd);

/* passed_events.c: opts.adopt's events and rings. */
struct error *passed_events_take(struct recording *rec);

/* perf_open.c */
/* Before any is open, and before the tracking event is there: EMFILE, they are too many. */
struct error *events_want_fds(const struct recording *rec);
struct error *events_open(struct recording *rec);
struct error *rings_open(struct recording *rec);
/* The ring that it writes to; NULL: there is none yet. */
struct cpu_ring *ring_of(struct recording *rec, const struct event *event,
			 const struct event_fd *efd);
/* What is not ready yet: all, or what was opened again. */
struct error *events_attach(struct recording *rec);
void events_warn_of_several(const struct recording *rec);
/* A CPU is back that was offline: its events, attached and enabled. All or none of them. */
struct error *events_open_again(struct recording *rec, int cpu);
/* The same of a cgroup; its descriptor is among those of the target. */
struct error *events_open_cgroup(struct recording *rec, int cgroup);
/* The map's slot of each CPU gets that CPU's fd. */
struct error *event_fill_map(struct event *event, int map_fd, uint32_t entries);
struct error *events_enable(struct recording *rec);
/* For good, with the records of mappings and tasks; pause leaves those, and can be undone. */
void events_disable(struct recording *rec);
struct error *events_pause(struct recording *rec);
/* The events of this name alone. */
struct error *events_switch(struct recording *rec, const char *name, bool on, bool *found);
void rings_close(struct recording *rec);

/* write_features.c */
struct error *features_begin(struct recording *rec);
struct error *topology_begin(struct recording *rec);
struct error *features_end(struct recording *rec);
/* The times of the samples so far; then the same of a file that another one follows. */
struct error *features_put_times(struct recording *rec);
struct error *features_switch(struct recording *rec);
/* write_tracing.c */
struct error *tracing_build(struct recording *rec, struct strbuf *out);

/* synth_records.c: appends to the file. */
struct error *synthesize(struct recording *rec);
/* To another file, what runs now; the rings are read meanwhile. */
struct error *synthesize_again(struct recording *rec, struct data_writer *to);
/* The target's processes, and the kernel, as records for a function. */
struct error *synthesize_target(struct recording *rec, bool kernel,
				struct error *(*write)(void *ctx, const void *records, size_t size),
				void *ctx);

/* mapped_ids.c: the build id of the file at path, which is mapped; 0: it has none. */
size_t mapped_id_find(struct u64map *ids, const struct sys_map *map, const char *path,
		      uint8_t id[20]);
void mapped_ids_deinit(struct u64map *ids);

/* mapped_files.c: without mapped_files_new(), the others do nothing. */
struct error *mapped_files_new(struct recording *rec);
void mapped_files_free(struct recording *rec);

/* The rings are looked through from now on, while the loop runs. */
struct error *mapped_files_begin(struct recording *rec);
/* Whether they were in the last turn of the loop. */
bool mapped_files_take_turn(struct recording *rec);

/* A record in the ring, before it is consumed; any thread that reads the ring may call it. */
void mapped_files_see(struct recording *rec, struct cpu_ring *cpu_ring, uint64_t at,
		      const struct perf_event_header *header);
/* Whole records. */
void mapped_files_see_records(struct recording *rec, const void *records, size_t size);

/* NULL: none. */
const struct held_files *mapped_files_held(const struct recording *rec);

/* enable_times.c: what -D says */
bool enable_times_start_at_once(const struct recording *rec);
struct error *enable_times_begin(struct recording *rec);

/* control.c: opened before privileges are dropped */
struct error *control_open(struct recording *rec);
struct error *control_begin(struct recording *rec);
void control_close(struct record_control *control);

/* switch_output.c: opened before privileges are dropped */
struct error *switch_prepare(struct recording *rec);
/* opts.switch_output.event, once the target is known; then whether it has happened. */
struct error *switch_open_event(struct recording *rec);
struct error *switch_see_event(struct recording *rec);
struct error *switch_begin(struct recording *rec);
bool switch_is_due(const struct recording *rec);
struct error *switch_output(struct recording *rec);
/* When the last file is complete. */
struct error *switch_end(struct recording *rec);
void switching_deinit(struct record_switching *s);
/* For drain.c: the time of a record, 0 if it has none; whether it tells what runs or is mapped. */
uint64_t switch_record_time(const struct recording *rec, const struct perf_ring *ring, uint64_t at,
			    const struct perf_event_header *header);
bool switch_is_state(uint32_t type);
struct error *switch_see_fork(struct recording *rec, pid_t pid);

/* drain.c */
struct error *rings_drain(struct recording *rec, bool *any);
/* Looks at a record that goes to the file; false: it is left out. */
bool record_see(struct recording *rec, const struct perf_ring *ring, uint64_t at,
		const struct perf_event_header *header);
/* After a failure to write: what the last round and the rings held is lost. */
void rings_count_unwritten(struct recording *rec);

/* Without overwritten rings. rec->writer gets it; *left: it had too little, see drain_least. */
struct error *cpu_ring_drain(struct recording *rec, struct cpu_ring *ring, bool *any, bool *left);

/* directory.c: creates the directory; the recording's writer is that of its file data. */
struct error *directory_begin(struct recording *rec);
/* --kcore: into the directory of the recording. */
struct kcore;
struct error *kernel_copy(struct kcore *k, int recording_dir);
/* Completes the files of the rings; failed: what is not whole in them is removed. */
struct error *directory_end(struct recording *rec, bool failed);

/* thread_spec.c: which CPUs' rings a thread reads, and on which CPUs it runs. */
struct thread_spec {
	struct sys_cpus rings, runs;
};
struct thread_specs {
	VEC(struct thread_spec) v;
};
struct error *thread_specs_find(const struct recording *rec, struct thread_specs *out);
void thread_specs_deinit(struct thread_specs *specs);

/* threads.c: before privileges are dropped, and once they are. */
struct error *threads_prepare(struct recording *rec);
struct error *threads_start(struct recording *rec);
/* What they have counted so far. */
void threads_collect(struct recording *rec);
/* They have read all that there was when they were told; the first error of one. */
struct error *threads_stop(struct recording *rec);
void threads_free(struct record_threads *threads);
/* In between no thread reads a ring, and the recording can be changed. */
void threads_hold(struct recording *rec);
void threads_release(struct recording *rec);
bool threads_read(const struct recording *rec, const struct cpu_ring *ring);

/* overwrite.c: what the rings have that the kernel overwrites, in the order of time. */
struct error *overwritten_drain(struct recording *rec);
/* After a failure to write: counts the samples that they have. */
void overwritten_count(struct recording *rec);

/* cpu_return.c: adds the ids of the descriptors from first[i] on of each event i to the file. */
struct error *new_ids_write(struct recording *rec, const size_t *first);
/* From now on, a CPU that comes online is recorded. */
struct error *cpu_return_begin(struct recording *rec);

/* weak_groups.c: whether it is the group that the kernel refuses, with this error. */
bool weak_group_is_refused(const struct event *event, const struct event_fd *at, int err);
/* The group of this event is none from now on, and nothing of it is open; returns its first one. */
size_t weak_group_end(struct recording *rec, size_t refused);

/* event_cgroups.c: a list of -G after events; *n_given: 0 before the first one. */
struct error *event_cgroups_add(struct recording *rec, const char *list, size_t *n_given);
/* All events are known: opts.cgroups, or target.cgroups_by_event. */
struct error *event_cgroups_end(struct recording *rec);

/* cgroup_return.c: opens events for cgroups that were made since and are named. */
struct error *cgroups_find_new(struct recording *rec);

/* strangers.c: warns of programs of others that filter an event. */
void strangers_find(struct recording *rec);
/* The same, if programs changed or a second has gone by. */
void strangers_find_if_due(struct recording *rec);

/* ledger.c: what was lost since the last file */
struct error *ledger_close(struct recording *rec);
/* As live_events_lost() (live_events.h). */
struct record_no_room ledger_no_room(const struct recording *rec);

/* buildid.c */
/* Before privileges are dropped: starts the process that copies files. */
void build_ids_begin(struct recording *rec);
struct error *build_ids_write(struct recording *rec);

#endif
