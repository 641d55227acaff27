// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program as one writes it for libbpf 1.1 and later; tests/cmd/test_object.sh
 * builds it against both libraries and compares what it prints.
 *
 *	object_client describe FILE		what the object holds, loaded
 *	object_client run FILE PROGRAM		one run of a raw_tp program: its
 *						result and the maps afterwards;
 *						runall: all are loaded for it
 *	object_client load FILE [PROGRAM]	load only that program
 *
 * Maps whose names begin with "absent" are not created.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, fmt, ap) : 0;
}

static struct bpf_object *open_for(const char *file, const char *only)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "client");
	struct bpf_object *obj = bpf_object__open_file(file, &opts);
	struct bpf_program *prog;
	struct bpf_map *map;

	if (!obj) {
		fprintf(stderr, "open: %s\n", strerror(errno));
		exit(1);
	}
	bpf_object__for_each_program (prog, obj) {
		if (only)
			bpf_program__set_autoload(prog, !strcmp(bpf_program__name(prog), only));
	}
	bpf_object__for_each_map (map, obj) {
		if (!strncmp(bpf_map__name(map), "absent", 6))
			bpf_map__set_autocreate(map, false);
	}
	return obj;
}

static void load(struct bpf_object *obj)
{
	int err = bpf_object__load(obj);

	if (err) {
		fprintf(stderr, "load: %s\n", strerror(-err));
		bpf_object__close(obj);
		exit(1);
	}
}

static int describe(const char *file)
{
	struct bpf_object *obj = open_for(file, NULL);
	struct bpf_program *prog;
	struct bpf_map *map;

	load(obj);
	printf("object %s version %#x\n", bpf_object__name(obj), bpf_object__kversion(obj));
	bpf_object__for_each_map (map, obj) {
		struct bpf_map_info info = {0};
		__u32 len = sizeof(info);

		if (bpf_obj_get_info_by_fd(bpf_map__fd(map), &info, &len))
			return 1;
		printf("map %s type %s key %u value %u entries %u flags %#x internal %d kernel "
		       "'%s' "
		       "btf %d\n",
		       bpf_map__name(map), libbpf_bpf_map_type_str(bpf_map__type(map)),
		       info.key_size, info.value_size, info.max_entries, info.map_flags,
		       bpf_map__is_internal(map), info.name, info.btf_value_type_id != 0);
	}
	bpf_object__for_each_program (prog, obj) {
		struct bpf_prog_info info = {0};
		__u32 len = sizeof(info);

		printf("program %s section %s type %s autoload %d", bpf_program__name(prog),
		       bpf_program__section_name(prog),
		       libbpf_bpf_prog_type_str(bpf_program__type(prog)),
		       bpf_program__autoload(prog));
		if (bpf_program__autoload(prog)) {
			if (bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len))
				return 1;
			printf(" insns %zu kernel '%s' translated %u functions %u maps %u btf %d",
			       bpf_program__insn_cnt(prog), info.name, info.xlated_prog_len,
			       info.nr_func_info, info.nr_map_ids, info.btf_id != 0);
		}
		printf("\n");
	}
	bpf_object__close(obj);
	return 0;
}

static void hex(const char *name, const void *data, size_t size)
{
	printf("%s", name);
	for (size_t i = 0; i < size; i++)
		printf("%s%02x", i % 8 ? "" : " ", ((const unsigned char *)data)[i]);
	printf("\n");
}

static int run(const char *file, const char *name, const char *only)
{
	struct bpf_object *obj = open_for(file, only);
	struct bpf_map *map;

	/* Constants and variables can be set until the object is loaded. */
	map = bpf_object__find_map_by_name(obj, ".rodata");
	if (map && bpf_map__value_size(map) == 8) {
		__u64 wanted = 4321;

		if (bpf_map__set_initial_value(map, &wanted, sizeof(wanted)))
			return 1;
	}
	load(obj);

	struct bpf_program *prog = bpf_object__find_program_by_name(obj, name);
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int err = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
	if (err) {
		fprintf(stderr, "run: %s\n", strerror(-err));
		return 1;
	}
	printf("result %d\n", (int)opts.retval);
	bpf_object__for_each_map (map, obj) {
		size_t size = 0;
		__u32 key = 0;
		char value[4096];
		const void *data = bpf_map__initial_value(map, &size);

		if (data && bpf_map__type(map) == BPF_MAP_TYPE_ARRAY) {
			hex(bpf_map__name(map), data, size);
			/* What is mapped is what the kernel has. */
			if (bpf_map_lookup_elem(bpf_map__fd(map), &key, value) ||
			    memcmp(value, data, size))
				return 1;
		} else if (bpf_map__type(map) == BPF_MAP_TYPE_HASH) {
			while (!bpf_map__get_next_key(map, NULL, &key, sizeof(key))) {
				if (bpf_map__lookup_elem(map, &key, sizeof(key), value,
							 bpf_map__value_size(map), 0))
					return 1;
				printf("key %u ", key);
				hex(bpf_map__name(map), value, bpf_map__value_size(map));
				bpf_map__delete_elem(map, &key, sizeof(key), 0);
			}
		}
	}
	bpf_object__close(obj);
	return 0;
}

int main(int argc, char **argv)
{
	libbpf_set_print(print);
	if (argc == 3 && !strcmp(argv[1], "describe"))
		return describe(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "run"))
		return run(argv[2], argv[3], argv[3]);
	if (argc == 4 && !strcmp(argv[1], "runall"))
		return run(argv[2], argv[3], NULL);
	if (argc >= 3 && !strcmp(argv[1], "load")) {
		struct bpf_object *obj = open_for(argv[2], argv[3]);

		load(obj);
		bpf_object__close(obj);
		return 0;
	}
	return 2;
}
