// SPDX-License-Identifier: BSD-2-Clause
#include "tests/cmd/map_attacks.h"

#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int failures;

void expect(bool failed, const char *attack)
{
	printf("%s: %s\n", failed ? "ok" : "SUCCEEDED", attack);
	failures += !failed;
}

int attacks_succeeded(void)
{
	return failures;
}

/*
 * $PINS: a BPF file system where users can write, as without systemd; names have no dots. A ring
 * has no entries.
 */
static void write_by_pin(int fd, bool is_ring, const void *key, const void *value)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/map_attacks-%d", getenv("PINS"), (int)getpid());
	if (bpf_obj_pin(fd, path)) {
		perror(path);
		exit(2);
	}
	const int again = bpf_obj_get(path);
	unlink(path);
	expect(is_ring || bpf_map_update_elem(again, key, value, BPF_ANY) < 0,
	       "pin, open and update");
	close(again);
}

void write_map(int fd)
{
	struct bpf_map_info info = {0};
	__u32 len = sizeof(info);
	static char key[4096], value[1 << 20];

	if (bpf_map_get_info_by_fd(fd, &info, &len)) {
		perror("a map");
		exit(2);
	}
	printf("map %s\n", info.name);
	expect(bpf_map_update_elem(fd, key, value, BPF_ANY) < 0, "update");
	expect(bpf_map_delete_elem(fd, key) < 0, "delete");
	write_by_pin(fd, info.type == BPF_MAP_TYPE_RINGBUF, key, value);
	expect(bpf_map_get_fd_by_id(info.id) < 0, "open for writing by its id");
	if (info.type == BPF_MAP_TYPE_RINGBUF)
		return;
	expect(bpf_map_freeze(fd) < 0, "freeze");
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	__u32 count = 1;
	expect(bpf_map_update_batch(fd, key, value, &count, &opts) < 0, "update by batch");
	expect(bpf_map_lookup_and_delete_elem(fd, key, value) < 0, "take");
	void *mapping = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	expect(mapping == MAP_FAILED, "map it for writing");
	mapping = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	expect(mapping == MAP_FAILED || mprotect(mapping, 4096, PROT_READ | PROT_WRITE),
	       "make a mapping writable");
}
