/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of perf/session share. */
#ifndef PB_PERF_SESSION_INTERNAL_H
#define PB_PERF_SESSION_INTERNAL_H

#include "lib/base/arena.h"
#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "perf/session/session.h"

/* ---- maps.c: what was mapped where ---- */

/*
 * The maps of a process, sorted and disjoint. A map is never changed once it
 * is in a set: what is cut becomes a new map. So sets may share maps, and a
 * forked process shares the whole array until one of both changes it.
 *
 * A session of a file keeps every map to its end. A live one counts who holds
 * a map (arrays and histories) and uses its memory again when nobody does.
 */
struct map_node {
	struct map pub;
	union {
		uint64_t since; /* the time of its record; 0: it was there before */
		struct map_node *next_free;
	};
	unsigned int refs; /* live */
};
struct map_array {
	unsigned int refs;
	size_t n, cap;
	const struct map *maps[];
};
struct past_map {
	const struct map *map;
	uint64_t until; /* the time of the record that cut it */
};
struct past_image {
	struct map_array *array;
	uint64_t until; /* the time of the exec */
};
struct map_set {
	struct map_array *array;       /* NULL: empty */
	const struct map *last;	       /* where the last look-up ended */
	uint64_t changes;	       /* how often what is mapped has changed */
	VEC(struct past_map) past;     /* live: what was cut, the oldest first */
	VEC(struct past_image) images; /* live: of before each exec, the oldest first */
	/* while threads_forget() decides; ended: the last thread; 0: none */
	bool alive, gone;
	uint64_t ended;
	struct map_set *next; /* all sets, for session_free() */
	struct map_set *next_free;
};

/* How a DSO is told from another of the same path. */
/* Which of the files that had the same path. */
struct dso_id {
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint8_t build_id[20];
	uint8_t build_id_size; /* 0: the record has none */
};

struct maps_state {
	struct arena arena;
	bool live;
	uint64_t now;	     /* live: the time of the record at hand */
	uint64_t generation; /* grows when a map is freed */
	struct map_set *sets, *free_sets;
	struct map_node *free_maps;
	struct map_set kernel;
	struct u64map dsos; /* hash of path and id → struct dso_node, chained */
	struct dso_node *all_dsos;
	struct u64map jitdumps;	  /* not live: process → path */
	struct strmap build_ids;  /* filename → which of the header's build_ids, from 1 */
	size_t n_build_ids_known; /* of the header's, in build_ids */
};

void maps_deinit(struct maps_state *m);
struct map_set *map_set_new(struct maps_state *m);
void map_set_free(struct maps_state *m, struct map_set *set);
void map_set_share(struct maps_state *m, struct map_set *to, struct map_set *from);
/* Live: all that was mapped until now belongs to the past. */
void map_set_exec(struct maps_state *m, struct map_set *set);
/* As of a time; 0: the newest that ever held addr. */
const struct map *map_set_find_at(struct map_set *set, uint64_t time, uint64_t addr);
/* pid is the process's, for the maps of JIT code. */
bool maps_add_user(struct session *s, struct map_set *set, int32_t pid,
		   const struct record_mmap *m);
bool maps_add_kernel(struct session *s, const struct record_mmap *m);
bool maps_add_ksymbol(struct session *s, const struct record_ksymbol *k);

/* ---- thread.c ---- */

struct thread_node {
	struct thread pub;
	bool comm_set;
	bool owns_maps;		  /* a process's first thread, whose maps the others share */
	bool gone;		  /* while threads_forget() decides */
	struct u64map counters;	  /* id -> uint64_t, as of its last sample that read counters */
	struct thread_node *next; /* all threads, dead ones too */
	/* live: */
	uint64_t born, ended;	     /* by the records; 0: before all; not yet */
	struct thread_node *earlier; /* the process that had this tid before */
	char comm[16];		     /* not interned: a program may name itself without end */
};

#define THREAD_CACHE 512

struct threads_state {
	struct u64map by_tid;
	struct thread_node *all;
	struct strmap comms; /* interned */
	size_t n;	     /* of all */
	size_t n_ended;	     /* live */
	struct thread_node *cache[THREAD_CACHE];
};
void threads_deinit(struct threads_state *t);
struct thread *thread_get(struct session *s, int32_t pid, int32_t tid);
/* Whether thread_get() would change a thread that is there. */
bool thread_get_changes(struct session *s, int32_t pid, int32_t tid);
bool threads_init_idle(struct session *s);
/* What the counter of this id had counted for the thread; NULL: no memory. */
uint64_t *thread_counter(struct session *s, struct thread *thread, uint64_t id);
bool thread_on_comm(struct session *s, const struct record_comm *c);
bool thread_on_fork(struct session *s, const struct record_task *t, uint16_t misc);
void thread_on_exit(struct session *s, const struct record_task *t);
bool thread_on_mmap(struct session *s, const struct record_mmap *m);
const struct map *threads_find_map(struct session *s, int32_t pid, uint64_t time, uint64_t addr);
void threads_forget(struct session *s, session_keep_fn *keep, void *ctx);

/* ---- order.c ---- */

/* Bytes that hold records. Freed when nothing waits in it and it was read to its end. */
struct chunk {
	const uint8_t *base;
	uint64_t file_offset; /* of base */
	bool unpacked;	      /* decompressed: file_offset is that of the compressed record */
	uint8_t *mem;	      /* NULL: part of the mapped file */
	size_t mem_size;
	bool is_piece;	   /* mem belongs to the session's pieces */
	unsigned int refs; /* waiting runs, and the reader */
};

/* Records that lie one behind the other in the order of time, and wait. */
struct sorted_run {
	const uint8_t *pos, *end;
	uint64_t ts;	  /* of the record at pos */
	uint64_t last_ts; /* of the last record */
	uint64_t seq;	  /* in the file's order */
	struct chunk *chunk;
};

struct time_order {
	VEC(struct sorted_run) runs;
	VEC(uint32_t) heap; /* indices of runs; scratch of a flush */
	uint64_t next_seq;
	uint64_t n_waiting; /* records */
	uint64_t max_ts;
	uint64_t next_flush;
};
void order_deinit(struct session *s, struct time_order *o);
/* Of the runs that wait, not of the records in them. */
static inline uint64_t order_memory(const struct time_order *o)
{
	return (uint64_t)o->runs.n * (sizeof(*o->runs.v) + sizeof(*o->heap.v));
}
bool order_queue(struct session *s, struct chunk *chunk, const uint8_t *rec, size_t size,
		 uint64_t ts);
/* FINISHED_ROUND: hands on what is no younger than the round before had. */
struct error *order_round(struct session *s);
/* Hands on what is no younger than that; all that waits. */
struct error *order_advance(struct session *s, uint64_t until);
struct error *order_flush(struct session *s);
/* The lowest byte of the mapped file that a run waits at; fallback: none does. */
const uint8_t *order_lowest(const struct session *s, const uint8_t *fallback);

/* ---- input.c ---- */

/* A file data.N of a directory (input_dir.c). */
struct input_part {
	unsigned long number;
	char *path;
	const uint8_t *base;
	size_t size;
};

/* Memory that the file is read into, piece by piece (pieces.c). */
struct pieces {
	size_t size; /* of each; 0: nothing was read yet */
	size_t n;    /* how many there are */
	VEC(uint8_t *) free;
	size_t n_settled;   /* the first ones of free, which the tool does not need any more */
	bool reads_mapping; /* some of the file was read where it is mapped */
};

struct session_input {
	const char *name;	      /* of the file that is read; NULL: the session's path */
	VEC(struct input_part) parts; /* the lowest number first; none: there is one file */
	char *kcore_dir;	      /* session_kcore_dir() */
	int fd;			      /* of a pipe; -1 */
	uint64_t skip;		      /* bytes of the pipe that are to be read past */
	size_t wanted;		      /* of a record that is cut, with what is behind it; or 0 */
	const uint8_t *base;	      /* the mapped or slurped file */
	size_t size;
	bool mapped;
	size_t dropped;	    /* bytes from base on that were given back to the system */
	uint64_t owned;	    /* bytes of chunks in memory */
	uint64_t owned_max; /* of them and of the runs of records that wait */
	bool owned_warned;
	struct unpack *unpack; /* the zstd stream; NULL: none yet */
	int file;	       /* what is mapped; -1 */
	struct pieces pieces;
};
struct error *input_open(struct session *s, const char *path, bool force);
/* With an open file, which is taken. */
struct error *input_open_fd(struct session *s, const char *path, int *fd, bool force);
/* data, and the files data.N, of a directory. */
struct error *input_open_dir(struct session *s, const char *path, bool force);
void input_parts_deinit(struct session *s);
/* Before a file is mapped: that it belongs to root or to the caller. */
struct error *input_check_owner(const char *path, int fd, bool force, uint64_t *size);
struct error *input_map(const char *path, int fd, uint64_t size, const uint8_t **base);
struct error *input_process(struct session *s);
/* Takes records in memory, which are copied; a record that is cut at the end is left out. */
struct error *input_push(struct session *s, const struct iovec *iov, int n);
void input_deinit(struct session *s);
/* A chunk that owns mem, and starts with one reference. */
struct chunk *chunk_new(struct session *s, uint8_t *mem, size_t size);
void chunk_put(struct session *s, struct chunk *chunk);

/* ---- pieces.c ---- */

/* A chunk of size bytes at offset of the mapped file; size is at most pieces_size(). */
struct error *pieces_read(struct session *s, uint64_t offset, size_t size, struct chunk **out);
/* How much is read at once of a file with so many bytes of records. */
size_t pieces_size(struct session_input *in, uint64_t size);
/* What no record is waiting in any more. */
void pieces_give(struct pieces *pieces, uint8_t *mem);
void pieces_deinit(struct pieces *pieces);
/* Pages of the mapping before keep_from are not needed any more. */
void pieces_give_back(struct session_input *in, const uint8_t *keep_from);

/* ---- session_cgroups.c ---- */

struct cgroups_state {
	struct u64map by_id; /* → struct session_cgroup */
	struct strmap names; /* their texts, each once */
};
void cgroups_deinit(struct cgroups_state *cgroups);
/* false: no memory. */
bool cgroups_add(struct session *s, const struct record_cgroup *record);

/* ---- session.c ---- */

struct event_node {
	struct session_event pub;
	struct sample_layout layout;
};

struct id_node {
	struct event_node *event;
	uint64_t value; /* of a counter that threads share, in the last sample that read it */
};

enum { RECENT_IDS = 16 };

struct session {
	char *path;
	const struct log *log;
	struct data_header header;
	struct data_tracing tracing;
	bool has_tracing;
	bool awaits_end; /* of the pipe form: the recorder has said that it will mark the end */

	VEC(struct event_node *) events;
	VEC(struct data_group) live_groups;
	struct u64map by_id; /* → struct id_node */
	struct recent_id {
		uint64_t id;
		struct event_node *event; /* NULL: none */
	} recent[RECENT_IDS];		  /* by the low bits of the id: a recorder's are in a row */
	int id_pos, id_pos_back;
	bool same_time;	       /* time stands at the same place in all events' records */
	size_t sample_time_at; /* in all samples, from the start of the record; 0: it differs */

	struct maps_state maps;
	struct threads_state threads;
	struct cgroups_state cgroups;
	struct time_order order;
	struct session_input input;
	VEC(uint8_t *) kept; /* bytes from a pipe that the header points into */

	struct session_tool *tool;
	struct record rec;
	struct cursor fields; /* of rec, without the sample_id fields */
	struct sample sample;
	uint64_t *branch_chain; /* of sample, if branch_chain_use() made it */
	uint64_t branch_chain_room;
	struct session_losses losses;
	VEC(struct record_ledger) ledger;
	struct {
		bool aux, stat, deferred;
	} warned; /* that they are skipped */
	uint64_t n_unknown_id, n_unknown_type, n_damaged, n_compressed, n_compressed2;
	bool cut_off; /* the last record is not whole */
};

struct error *session_add_data_event(struct session *s, const struct data_event *from);
struct error *session_add_event_ids(struct session *s, struct event_node *ev, const uint64_t *ids,
				    size_t n_ids);
/* Warns of a damaged record, once, and frees err. */
void session_damaged(struct session *s, struct error *err);
/* The time of a kernel record; false: it has none, and is handed on at once. */
bool session_record_time(struct session *s, uint32_t type, const uint8_t *rec, size_t size,
			 uint64_t *ts);
/* The same; most records are samples, whose time is at one place. */
static inline bool record_time(struct session *s, uint32_t type, const uint8_t *rec, size_t size,
			       uint64_t *ts)
{
	const size_t at = s->sample_time_at;
	uint64_t t;

	if (type != PERF_RECORD_SAMPLE || !at || size < at + sizeof(t))
		return session_record_time(s, type, rec, size, ts);
	memcpy(&t, rec + at, sizeof(t));
	if (s->header.swap)
		t = bswap_64(t);
	if (!t || t == UINT64_MAX)
		return false;
	*ts = t;
	return true;
}
/* A kernel record, in its turn. */
/* The tool has got all samples that it put off. */
struct error *session_settle(struct session *s);
struct error *session_deliver(struct session *s, const struct chunk *chunk, const uint8_t *rec,
			      size_t size);
/* A record of type 64 and on, with its trailing bytes, as soon as it is read. */
struct error *session_user_record(struct session *s, struct chunk *chunk, const uint8_t *rec,
				  size_t size, size_t extra);
struct error *session_unpack(struct session *s, struct chunk *chunk, const uint8_t *rec,
			     size_t size);
static inline uint64_t chunk_offset(const struct chunk *chunk, const uint8_t *rec)
{
	return chunk->unpacked ? chunk->file_offset
			       : chunk->file_offset + (uint64_t)(rec - chunk->base);
}

/*
 * branch_chains.c: makes the sample's call chain of its branch records, which are calls. It is
 * valid until the next one is made.
 */
struct error *branch_chain_use(struct session *s, struct sample *sample);

/* off_cpu_samples.c: what perf record --off-cpu leaves in raw data. Errors: EPROTO. */
struct error *off_cpu_sample_use(const struct session *s, struct sample *sample);

#endif
