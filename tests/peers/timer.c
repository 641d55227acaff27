// SPDX-License-Identifier: BSD-2-Clause
/*
 * How long opening and loading an object take, and how much memory; built
 * twice, against this library and against libbpf, by tests/peers and
 * bench/bench_load.
 *
 *	timer open N FILE		opens and closes it N times
 *	timer load N FILE [PROGRAM...]	opens it and loads the programs, N times;
 *					none are named: those that it would load
 *
 * Prints the nanoseconds of the first and of the fastest time, and the peak of
 * the process's memory in KB. Closing counts for "open" and not for "load".
 */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int be_quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000L + ts.tv_nsec;
}

static long peak_kb(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

static void choose(struct bpf_object *obj, char **names, int n)
{
	struct bpf_program *prog;

	if (!n)
		return;
	bpf_object__for_each_program (prog, obj) {
		int is_wanted = 0;

		for (int i = 0; i < n; i++)
			is_wanted |= !strcmp(bpf_program__name(prog), names[i]);
		bpf_program__set_autoload(prog, is_wanted);
	}
}

/* Maps that pin themselves by name would be found again the next time. */
static void unpin_maps(struct bpf_object *obj)
{
	struct bpf_map *map;

	bpf_object__for_each_map (map, obj)
		if (bpf_map__is_pinned(map))
			bpf_map__unpin(map, NULL);
}

/* Nanoseconds; -1: it cannot. */
static long once(const char *file, int load, char **programs, int n_programs)
{
	const long start = now();
	struct bpf_object *obj = bpf_object__open_file(file, NULL);
	long took = -1;

	if (!obj)
		return -1;
	if (load) {
		choose(obj, programs, n_programs);
		if (!bpf_object__load(obj))
			took = now() - start;
		unpin_maps(obj);
	}
	bpf_object__close(obj);
	return load ? took : now() - start;
}

int main(int argc, char **argv)
{
	long first = 0, fastest = 0;

	if (argc < 4 || (strcmp(argv[1], "open") && strcmp(argv[1], "load")))
		return 2;
	libbpf_set_print(be_quiet);
	for (int i = atoi(argv[2]); i > 0; i--) {
		const long took = once(argv[3], argv[1][0] == 'l', argv + 4, argc - 4);

		if (took < 0)
			return 1;
		first = first ? first : took;
		fastest = fastest && fastest < took ? fastest : took;
	}
	printf("%ld %ld %ld\n", first, fastest, peak_kb());
	return 0;
}
