// SPDX-License-Identifier: BSD-2-Clause
/*
 * Objects: opened, and their programs laid out, without a BPF system call:
 * CO-RE, lines and functions of .BTF.ext included. From memory, and from a
 * file, of which only parts are read, and BTF is filled in where it was read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/object/prepare.h"

/* Padded beyond what is read as a whole: the file may be longer than the object. */
#define PARTS_FROM (20 * 1024)

static struct error *open_as_file(const uint8_t *data, size_t size, struct bpf_object **obj)
{
	_cleanup_close_ int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    ftruncate(fd, (off_t)max_of(size, (size_t)PARTS_FROM)))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return object_open_file(path, NULL, NULL, obj);
}

static void lay_out(struct bpf_object *obj)
{
	struct bpf_program *prog;
	struct bpf_map *map;

	/* CO-RE against the object's own types, so that nothing of the machine's is read. */
	uint32_t btf_size;
	const void *raw = obj->btf ? btf__raw_data(obj->btf, &btf_size) : NULL;
	obj->btf_custom_path = strdup("itself");
	obj->custom_btf = raw ? btf__new(raw, btf_size) : btf__new_empty();
	bpf_object__for_each_program (prog, obj) {
		char *system, *name;

		bpf_program__set_autoload(prog, true);
		struct error *failed = program_tracepoint(prog, &system, &name);
		if (!failed) {
			free(system);
			free(name);
		}
		error_free(failed);
	}
	bpf_object__for_each_map (map, obj)
		if (bpf_map__is_internal(map) && bpf_map__value_size(map) < 1 << 20)
			bpf_map__initial_value(map, NULL);
	error_free(programs_prepare(obj));
	bpf_object__close(obj);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bpf_object *obj = NULL;
	struct error *err = object_open_mem(data, size, NULL, NULL, &obj);

	error_free(err);
	if (!err)
		lay_out(obj);
	err = open_as_file(data, size, &obj);
	error_free(err);
	if (!err)
		lay_out(obj);
	return 0;
}
