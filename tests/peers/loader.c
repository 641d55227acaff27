// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens and loads objects; tests/peers/test_selftests.py builds it twice,
 * against this library and against libbpf, and compares what the two print.
 *
 *	loader load FILE	each program of the object by itself: the object
 *				is opened anew for each, loaded and closed
 *	loader open N FILE	the nanoseconds of the fastest of N times opening
 *				and closing
 *
 * A line of "load", its fields parted by tabs: program, name, section, type,
 * attach type, "ok" or the errno, and of what was loaded the kernel's tag (the
 * hash of its instructions), the number of functions, of lines and of maps; of
 * what was not, the first complaint.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char complaint[512];

/* Keeps the first warning, as one line. */
static int keep(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level != LIBBPF_WARN || complaint[0])
		return 0;
	vsnprintf(complaint, sizeof(complaint), fmt, ap);
	for (char *c = complaint; *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = ' ';
	return 0;
}

static struct bpf_program *nth(struct bpf_object *obj, int n)
{
	struct bpf_program *prog, *found = NULL;

	bpf_object__for_each_program (prog, obj) {
		const int is_it = n-- == 0;

		bpf_program__set_autoload(prog, is_it);
		if (is_it)
			found = prog;
	}
	return found;
}

static void show_loaded(const struct bpf_program *prog)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len)) {
		printf("no info\n");
		return;
	}
	for (size_t i = 0; i < sizeof(info.tag); i++)
		printf("%02x", info.tag[i]);
	printf("\t%u\t%u\t%u\n", info.nr_func_info, info.nr_line_info, info.nr_map_ids);
}

/* Maps that pin themselves by name would stay when the object is closed. */
static void unpin_maps(struct bpf_object *obj)
{
	struct bpf_map *map;

	bpf_object__for_each_map (map, obj)
		if (bpf_map__is_pinned(map))
			bpf_map__unpin(map, NULL);
}

/* Whether there is an nth program. */
static int load_nth(const char *file, int n)
{
	complaint[0] = 0;
	struct bpf_object *obj = bpf_object__open_file(file, NULL);

	if (!obj) {
		printf("open\t%d\t%s\n", errno, complaint);
		return 0;
	}
	struct bpf_program *prog = nth(obj, n);
	if (prog) {
		printf("program\t%s\t%s\t%d\t%d\t", bpf_program__name(prog),
		       bpf_program__section_name(prog), bpf_program__type(prog),
		       bpf_program__expected_attach_type(prog));
		const int err = bpf_object__load(obj);
		if (err) {
			printf("%d\t%s\n", -err, complaint);
		} else {
			printf("ok\t");
			show_loaded(prog);
		}
		fflush(stdout);
		unpin_maps(obj);
	}
	bpf_object__close(obj);
	return prog != NULL;
}

static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000L + ts.tv_nsec;
}

static int time_open(const char *file, int n)
{
	long best = 0;

	while (n-- > 0) {
		const long start = now();
		struct bpf_object *obj = bpf_object__open_file(file, NULL);

		if (!obj)
			return 1;
		bpf_object__close(obj);
		const long took = now() - start;
		if (!best || took < best)
			best = took;
	}
	printf("%ld\n", best);
	return 0;
}

int main(int argc, char **argv)
{
	libbpf_set_print(keep);
	if (argc == 4 && !strcmp(argv[1], "open"))
		return time_open(argv[3], atoi(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "load")) {
		for (int n = 0; load_nth(argv[2], n); n++)
			continue;
		return 0;
	}
	return 2;
}
