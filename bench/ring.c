// SPDX-License-Identifier: BSD-2-Clause
/*
 * ring OBJECT ring|perf ROUNDS: nanoseconds per record of draining a ring that
 * a program has filled, the median of the rounds. Compiles against either library.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS 100 /* of 1000 records: 5.6 MB */

static unsigned long long records, sum;

static int on_record(void *ctx, void *data, size_t size)
{
	records++;
	sum += *(unsigned long long *)data;
	return 0;
}

static void on_sample(void *ctx, int cpu, void *data, __u32 size)
{
	records++;
	sum += *(unsigned long long *)((char *)data + 4) & 1;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	bool perf = !strcmp(argv[2], "perf");
	int rounds = atoi(argv[3]);
	struct ring_buffer *rb = NULL;
	struct perf_buffer *pb = NULL;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return 1;
	struct bpf_object *obj = bpf_object__open(argv[1]);
	if (!obj || bpf_object__load(obj))
		return 1;
	if (perf)
		pb = perf_buffer__new(bpf_object__find_map_fd_by_name(obj, "perf"), 2048, on_sample,
				      NULL, NULL, NULL);
	else
		rb = ring_buffer__new(bpf_object__find_map_fd_by_name(obj, "ring"), on_record, NULL,
				      NULL);
	if (!rb && !pb)
		return 1;
	int fd = bpf_program__fd(
		bpf_object__find_program_by_name(obj, perf ? "fill_perf" : "fill_ring"));
	double *times = calloc(rounds, sizeof(*times));
	if (rounds < 1 || !times)
		return 1;
	for (int i = 0; i < rounds; i++) {
		for (int run = 0; run < RUNS; run++) {
			LIBBPF_OPTS(bpf_test_run_opts, opts);

			if (bpf_prog_test_run_opts(fd, &opts))
				return 1;
		}
		records = 0;
		double start = now();
		if (perf)
			perf_buffer__consume(pb);
		else
			ring_buffer__consume(rb);
		times[i] = (now() - start) / (RUNS * 1000);
		if (records != RUNS * 1000) {
			fprintf(stderr, "%llu records of %d\n", records, RUNS * 1000);
			return 1;
		}
	}
	qsort(times, rounds, sizeof(*times), by_value);
	printf("%.3f\n", times[rounds / 2]);
	return 0;
}
