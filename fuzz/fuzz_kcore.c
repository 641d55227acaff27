// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel's code in a recording: modules, kallsyms and kcore, the first two with their sizes of
 * two bytes in front, are read as those of record --kcore are.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/kcore.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t size;
};

static struct input take(struct input *from, size_t size)
{
	const struct input part = {from->data, min_of(size, from->size)};

	from->data += part.size;
	from->size -= part.size;
	return part;
}

static struct input take_sized(struct input *from)
{
	const struct input n = take(from, 2);

	return take(from, n.size == 2 ? n.data[0] | (size_t)n.data[1] << 8 : 0);
}

static int open_file(struct input from, char path[32])
{
	const int fd = memfd_create("kcore", MFD_CLOEXEC);

	if (fd < 0 || write(fd, from.data, from.size) != (ssize_t)from.size)
		__builtin_trap();
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static void read_code(struct kcore *k, uint64_t address, uint64_t size)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct error *err = kcore_read(k, address, size, &out);

	if (!err && out.len != size)
		__builtin_trap();
	error_free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input rest = {data, size};
	const struct input place = take(&rest, 12), modules = take_sized(&rest),
			   kallsyms = take_sized(&rest);
	char paths[3][32];
	const int fds[] = {open_file(modules, paths[0]), open_file(kallsyms, paths[1]),
			   open_file(rest, paths[2])};
	_cleanup_(kcore_freep) struct kcore *k = NULL;
	uint64_t address = 0;
	uint32_t n = 0;

	struct error *err = kcore_open(
		&(struct kcore_opts){.kcore = paths[2], .kallsyms = paths[1], .modules = paths[0]},
		&k);
	if (!err && place.size == 12) {
		memcpy(&address, place.data, sizeof(address));
		memcpy(&n, place.data + sizeof(address), sizeof(n));
		read_code(k, address, n);
		read_code(k, 0xffffffff81000000, 16);
	}
	error_free(err);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	return 0;
}
