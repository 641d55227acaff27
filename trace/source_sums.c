// SPDX-License-Identifier: BSD-2-Clause
/* The sums that the program kept, as rows. */
#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/sum.h"
#include "trace/internal.h"

/* Errors of a call: sorted by thread or cgroup, call and errno. */
struct errno_sum {
	struct trace_errno_key key;
	uint64_t n;
};

struct sums_reader {
	struct trace_source *source;
	trace_sum_fn *fn;
	trace_errno_fn *errno_fn;
	void *ctx;
	VEC(struct errno_sum) errnos;
};

static int compare_errnos(const void *a, const void *b)
{
	const struct trace_errno_key *x = &((const struct errno_sum *)a)->key,
				     *y = &((const struct errno_sum *)b)->key;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (x->err > y->err) - (x->err < y->err);
}

static struct error *read_errnos(struct sums_reader *reader)
{
	int fd = trace_map_fd(reader->source, "errnos");
	struct trace_errno_key key, *last = NULL;
	uint64_t n;

	while (!bpf_map_get_next_key(fd, last, &key)) {
		last = &key;
		if (bpf_map_lookup_elem(fd, &key, &n))
			continue;
		struct errno_sum *e = vec_push(&reader->errnos);
		if (!e)
			return error_nomem();
		*e = (struct errno_sum){key, n};
	}
	if (reader->errnos.n)
		qsort(reader->errnos.v, reader->errnos.n, sizeof(*reader->errnos.v),
		      compare_errnos);
	return NULL;
}

/*
 * Calls that still ran when tracing stopped have no part in the map. Their cgroup is not known:
 * they are in no sums by cgroup.
 */
static uint64_t still_running(const struct trace_source *source, uint32_t tid, uint32_t index)
{
	const struct trace_state *state;
	uint64_t n = 0;

	if (source->config.sums_by == TRACE_SUMS_BY_CGROUP)
		return 0;
	vec_for_each (state, &source->running)
		n += state->index == index && (!tid || state->rec.tid == tid);
	return n;
}

/* The first error of a call of a thread or cgroup, or where it would be. */
static size_t first_errno(const struct sums_reader *reader, uint64_t id, uint32_t row)
{
	struct errno_sum wanted = {.key = {.id = id, .row = (uint16_t)row}};
	return count_before(reader->errnos.n, i, compare_errnos(&reader->errnos.v[i], &wanted) < 0);
}

/* id: of the thread or cgroup; 0 in total. */
static struct error *hand_row(struct sums_reader *reader, uint64_t id, uint32_t row,
			      const struct trace_thread_row *r)
{
	const bool by_cgroup = reader->source->config.sums_by == TRACE_SUMS_BY_CGROUP;
	const uint32_t tid = by_cgroup ? 0 : (uint32_t)id;
	uint32_t index = reader->source->rows.v[row];
	struct trace_sum sum = {
		.tid = tid,
		.pid = r->pid,
		.cgroup = by_cgroup ? id : 0,
		.abi = index / TRACE_NRS,
		.nr = index % TRACE_NRS,
		.calls = r->sums.calls,
		.errors = r->sums.errors,
		.unfinished = r->sums.unfinished + still_running(reader->source, tid, index),
		.total_ns = r->sums.total_ns,
		.min_ns = r->sums.min_ns,
		.max_ns = r->sums.max_ns,
		.sum_of_squares =
			(double)r->sums.squares_high * 0x1p64 + (double)r->sums.squares_low,
	};

	memcpy(sum.comm, r->comm, sizeof(sum.comm) - 1);
	memcpy(sum.slots, r->sums.slots, sizeof(r->sums.slots));
	if (!sum.calls && !sum.unfinished)
		return NULL;
	TRY(reader->fn(reader->ctx, &sum));
	if (!reader->errno_fn)
		return NULL;
	for (size_t i = first_errno(reader, id, row); i < reader->errnos.n; i++) {
		const struct errno_sum *e = &reader->errnos.v[i];

		if (e->key.id != id || e->key.row != row)
			break;
		TRY(reader->errno_fn(reader->ctx, &sum, e->key.err, e->n));
	}
	return NULL;
}

/* sum_add() for the type of the maps. */
static void add(__u64 *sum, uint64_t by)
{
	uint64_t all = *sum;

	sum_add(&all, by);
	*sum = all;
}

static void add_row(struct trace_row *to, const struct trace_row *from)
{
	unsigned __int128 squares = (unsigned __int128)to->squares_high << 64 | to->squares_low;

	to->min_ns = to->calls && (!from->calls || to->min_ns < from->min_ns) ? to->min_ns
									      : from->min_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	add(&to->calls, from->calls);
	add(&to->errors, from->errors);
	add(&to->unfinished, from->unfinished);
	add(&to->total_ns, from->total_ns);
	sum_wide(&squares, (unsigned __int128)from->squares_high << 64 | from->squares_low, true,
		 false);
	to->squares_low = (uint64_t)squares;
	to->squares_high = (uint64_t)(squares >> 64);
	for (int i = 0; i < TRACE_SLOTS; i++)
		add(&to->slots[i], from->slots[i]);
}

/* Each row is the sum of all CPUs' parts. */
static struct error *read_rows(struct sums_reader *reader)
{
	int fd = trace_map_fd(reader->source, "rows"), cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct trace_row *parts = calloc((size_t)cpus, sizeof(*parts));

	if (!parts)
		return error_nomem();
	for (uint32_t row = 0; row < reader->source->rows.n; row++) {
		struct trace_thread_row all = {0};

		if (bpf_map_lookup_elem(fd, &row, parts))
			return error_errno(errno, "cannot read the sums of system calls");
		for (int cpu = 0; cpu < cpus; cpu++)
			add_row(&all.sums, &parts[cpu]);
		TRY(hand_row(reader, 0, row, &all));
	}
	return NULL;
}

static struct error *read_thread_rows(struct sums_reader *reader)
{
	int fd = trace_map_fd(reader->source, "thread_rows");
	struct trace_thread_key key, *last = NULL;
	struct trace_thread_row row;

	while (!bpf_map_get_next_key(fd, last, &key)) {
		last = &key;
		if (bpf_map_lookup_elem(fd, &key, &row) || key.row >= reader->source->rows.n)
			continue;
		TRY(hand_row(reader, key.tid, key.row, &row));
	}
	return NULL;
}

/* The sum of the rows of all CPUs; false: a CPU before that of the key has one, which adds them. */
static bool sum_of_cpus(int fd, const struct trace_cgroup_key *first, struct trace_row *sum)
{
	const uint32_t cpus = (uint32_t)libbpf_num_possible_cpus();
	struct trace_cgroup_key key = *first;
	struct trace_row part;

	*sum = (struct trace_row){0};
	for (key.cpu = 0; key.cpu < cpus; key.cpu++) {
		if (bpf_map_lookup_elem(fd, &key, &part))
			continue;
		if (key.cpu < first->cpu)
			return false;
		add_row(sum, &part);
	}
	return true;
}

static struct error *read_cgroup_rows(struct sums_reader *reader)
{
	int fd = trace_map_fd(reader->source, "cgroup_rows");
	struct trace_cgroup_key key, *last = NULL;
	struct trace_thread_row row = {0};

	while (!bpf_map_get_next_key(fd, last, &key)) {
		last = &key;
		if (key.row < reader->source->rows.n && sum_of_cpus(fd, &key, &row.sums))
			TRY(hand_row(reader, key.cgroup, key.row, &row));
	}
	return NULL;
}

struct error *trace_source_sums(struct trace_source *source, trace_sum_fn *fn,
				trace_errno_fn *errno_fn, void *ctx)
{
	struct sums_reader reader = {.source = source, .fn = fn, .errno_fn = errno_fn, .ctx = ctx};
	struct error *err;

	if (!source->config.summary)
		return NULL;
	err = read_errnos(&reader);
	if (!err)
		err = source->config.sums_by == TRACE_SUMS_BY_THREAD   ? read_thread_rows(&reader)
		      : source->config.sums_by == TRACE_SUMS_BY_CGROUP ? read_cgroup_rows(&reader)
								       : read_rows(&reader);
	vec_deinit(&reader.errnos);
	return err;
}
