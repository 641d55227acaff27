// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens and loads objects; tests/peers/test_selftests.py builds it twice,
 * against this library and against libbpf, and compares what the two print.
 *
 *	loader load [-t SECONDS] [-x LIST] FILE...
 *				each program of each object by itself, in a process
 *				of its own, which is ended after so many seconds
 *				(none: 0); but those that stand in LIST, lines
 *				"object program", are left out; and then each object as it
 *				is, as the program "(all)"
 *	loader describe FILE...	what opening finds: programs and maps
 *
 * Lines of "load", their fields parted by tabs:
 *
 *	object	NAME
 *	open	ERRNO COMPLAINT		it does not open
 *	program	NAME SECTION TYPE ATTACH-TYPE RESULT...
 *
 * The types are those after loading, "-" where that did not come to its end.
 * and of "describe":
 *
 *	holds	NAME kversion N btf types N
 *	program	NAME section S type T ...
 *	map	NAME type T ...
 *
 * RESULT is "ok" and, of what was loaded, the kernel's tag (the hash of its
 * instructions), the number of functions, of lines and of maps (of "(all)": the
 * number of programs and of maps, 0 and 0); or the errno and the first
 * complaint; or "timeout", "skipped", "signal N".
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

struct settings {
	unsigned seconds;
	char *left_out; /* lines "object program" between newlines; NULL: none */
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
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

/* In a process of its own: all but one program are left out, and the object is loaded. */
static int load_one(struct bpf_object *obj, const struct bpf_program *wanted)
{
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, obj)
		bpf_program__set_autoload(prog, prog == wanted);
	const int err = bpf_object__load(obj);
	printf("%d\t%d\t", bpf_program__type(wanted), bpf_program__expected_attach_type(wanted));
	if (err) {
		printf("%d\t%s\n", -err, complaint);
	} else {
		printf("ok\t");
		show_loaded(wanted);
	}
	fflush(stdout);
	unpin_maps(obj);
	return 0;
}

/* In a process of its own: the object as it is. */
static int load_all(struct bpf_object *obj)
{
	const struct bpf_program *prog;
	const struct bpf_map *map;
	int programs = 0, maps = 0;
	const int err = bpf_object__load(obj);

	if (err) {
		printf("-\t-\t%d\t%s\n", -err, complaint);
	} else {
		bpf_object__for_each_program (prog, obj)
			programs += bpf_program__fd(prog) >= 0;
		bpf_object__for_each_map (map, obj)
			maps += bpf_map__fd(map) >= 0;
		printf("-\t-\tok\t%d\t%d\t0\t0\n", programs, maps);
	}
	fflush(stdout);
	unpin_maps(obj);
	return 0;
}

/* Waits for a process; ends it when its time is over. */
static void wait_for(pid_t pid, const struct settings *set)
{
	sigset_t child;
	int status = 0;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	const struct timespec limit = {.tv_sec = set->seconds};
	while (!waitpid(pid, &status, WNOHANG)) {
		if (!set->seconds) {
			waitpid(pid, &status, 0);
			break;
		}
		if (sigtimedwait(&child, NULL, &limit) < 0 && errno == EAGAIN) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			printf("-\t-\ttimeout\t%u s\n", set->seconds);
			return;
		}
	}
	if (WIFSIGNALED(status))
		printf("-\t-\tsignal %d\t\n", WTERMSIG(status));
}

static int is_left_out(const struct settings *set, const char *object, const char *program)
{
	char line[512];

	if (!set->left_out)
		return 0;
	snprintf(line, sizeof(line), "\n%s %s\n", object, program);
	return strstr(set->left_out, line) != NULL;
}

/* Loads one program, or with NULL the object as it is. */
static void try_apart(const char *file, const struct settings *set, struct bpf_object *obj,
		      const struct bpf_program *prog)
{
	const char *name = prog ? bpf_program__name(prog) : "(all)";

	printf("program\t%s\t%s\t", name, prog ? bpf_program__section_name(prog) : "-");
	if (is_left_out(set, base_name(file), name)) {
		printf("-\t-\tskipped\t\n");
		return;
	}
	fflush(stdout);
	complaint[0] = 0;
	const pid_t pid = fork();
	if (!pid)
		_exit(prog ? load_one(obj, prog) : load_all(obj));
	wait_for(pid, set);
}

static int load_object(const char *file, const struct settings *set)
{
	struct bpf_program *prog;

	complaint[0] = 0;
	struct bpf_object *obj = bpf_object__open_file(file, NULL);
	if (!obj) {
		printf("open\t%d\t%s\n", errno, complaint);
		return 0;
	}
	bpf_object__for_each_program (prog, obj)
		try_apart(file, set, obj, prog);
	try_apart(file, set, obj, NULL);
	bpf_object__close(obj);
	return 0;
}

/* A checksum: whether two have the same bytes is all there is to know. */
static unsigned long long sum(const void *data, size_t n)
{
	unsigned long long h = 14695981039346656037ull; /* FNV-1a */

	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const unsigned char *)data)[i]) * 1099511628211ull;
	return h;
}

static void describe_map(const struct bpf_map *map)
{
	size_t size = 0;
	const void *data = bpf_map__initial_value((struct bpf_map *)map, &size);

	printf("map\t%s\ttype %d key %u value %u entries %u flags %#x numa %u extra %llu "
	       "internal %d autocreate %d pin %s data %zu %llx\n",
	       bpf_map__name(map), bpf_map__type(map), bpf_map__key_size(map),
	       bpf_map__value_size(map), bpf_map__max_entries(map), bpf_map__map_flags(map),
	       bpf_map__numa_node(map), (unsigned long long)bpf_map__map_extra(map),
	       bpf_map__is_internal(map), bpf_map__autocreate(map), bpf_map__pin_path(map) ?: "-",
	       data ? size : 0, data ? sum(data, size) : 0);
}

static int describe(const char *file)
{
	struct bpf_program *prog;
	struct bpf_map *map;

	complaint[0] = 0;
	struct bpf_object *obj = bpf_object__open_file(file, NULL);
	if (!obj) {
		printf("open\t%d\t%s\n", errno, complaint);
		return 0;
	}
	printf("holds\t%s\tkversion %u btf types %d\n", bpf_object__name(obj),
	       bpf_object__kversion(obj),
	       bpf_object__btf(obj) ? (int)btf__type_cnt(bpf_object__btf(obj)) : 0);
	bpf_object__for_each_program (prog, obj)
		printf("program\t%s\tsection %s type %d attach %d flags %#x insns %zu %llx "
		       "autoload %d\n",
		       bpf_program__name(prog), bpf_program__section_name(prog),
		       bpf_program__type(prog), bpf_program__expected_attach_type(prog),
		       bpf_program__flags(prog), bpf_program__insn_cnt(prog),
		       sum(bpf_program__insns(prog),
			   bpf_program__insn_cnt(prog) * sizeof(struct bpf_insn)),
		       bpf_program__autoload(prog));
	bpf_object__for_each_map (map, obj)
		describe_map(map);
	bpf_object__close(obj);
	return 0;
}

/* What a process of its own says and does, so that a crash is one object's. set NULL: describes. */
static void load_apart(const char *file, const struct settings *set)
{
	printf("object\t%s\n", base_name(file));
	fflush(stdout);
	const pid_t pid = fork();
	if (!pid) {
		const int status = set ? load_object(file, set) : describe(file);

		fflush(stdout);
		_exit(status);
	}
	int status;
	waitpid(pid, &status, 0);
	if (status)
		printf("open\tthe client ended with %d\t\n", status);
}

static char *read_list(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n = 1, space = 1 << 20;
	char *text = malloc(space);

	if (!f || !text) {
		perror(path);
		exit(2);
	}
	text[0] = '\n';
	n += fread(text + 1, 1, space - 2, f);
	text[n] = 0;
	fclose(f);
	return text;
}

int main(int argc, char **argv)
{
	libbpf_set_print(keep);
	if (argc >= 3 && !strcmp(argv[1], "describe")) {
		for (int i = 2; i < argc; i++)
			load_apart(argv[i], NULL);
		return 0;
	}
	if (argc < 3 || strcmp(argv[1], "load"))
		return 2;

	struct settings set = {0};
	sigset_t child;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "-t") && i + 1 < argc)
			set.seconds = (unsigned)atoi(argv[++i]);
		else if (!strcmp(argv[i], "-x") && i + 1 < argc)
			set.left_out = read_list(argv[++i]);
		else
			load_apart(argv[i], &set);
	}
	free(set.left_out);
	return 0;
}
