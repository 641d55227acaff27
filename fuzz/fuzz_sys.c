// SPDX-License-Identifier: BSD-2-Clause
/*
 * What lib/sys and lib/attach parse out of text (maps of a process, formats of
 * a PMU, lists of CPUs, globs, paths of cgroups), and functions looked up in hostile binaries.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/attach/internal.h"
#include "lib/sys/cgroup_names.h"
#include "lib/sys/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void maps(char *text)
{
	struct sys_map map;
	size_t paths = 0;

	for (char *pos = text; sys_maps_next(&pos, &map);) {
		if (map.start > map.end)
			__builtin_trap();
		paths += strlen(map.path);
	}
	if (paths > 1 << 24)
		__builtin_trap();
}

static void lists(const char *text)
{
	_cleanup_cpus_ struct sys_cpus cpus = {0};
	struct perf_event_attr attr = {0};
	struct sys_pmu_field field;
	uint64_t offset;
	size_t len;

	error_free(sys_cpus_parse(text, &cpus));
	for (size_t i = 0; i < cpus.n; i++)
		if (!sys_cpus_has(&cpus, cpus.v[i]) || (i && cpus.v[i] <= cpus.v[i - 1]))
			__builtin_trap();
	struct error *err = sys_pmu_field_parse(text, &field);
	if (!err && (!field.mask || !sys_pmu_field_set(&field, &attr, 1)) && field.word < 3)
		__builtin_trap();
	error_free(err);
	if (split_offset(text, &len, &offset) && len > strlen(text))
		__builtin_trap();
}

/* The pattern is what stands before the first newline. */
static void globs(char *text)
{
	char *name = strchr(text, '\n');

	if (!name)
		return;
	*name++ = 0;
	bool matches = glob_match(text, name);
	if (!glob_is_pattern(text) && !strchr(text, '\\') && matches != !strcmp(text, name))
		__builtin_trap();
	unsigned there = name_distance(text, name, 5), back = name_distance(name, text, 5);
	if (there != back)
		__builtin_trap();
}

static void binary(const char *bytes, size_t size)
{
	_cleanup_elf_ struct elf_file *file = NULL;
	struct error *err = pb_elf_file_open_mem(bytes, size, "fuzz", &file);
	const char *names[] = {"main", "f", "main"};
	_cleanup_free_ uint64_t *found = NULL;
	uint64_t offsets[3];
	size_t n = 0;

	if (err) {
		error_free(err);
		return;
	}
	err = binary_symbols_offsets(file, names, 3, offsets);
	if (!err && offsets[0] != offsets[2])
		__builtin_trap();
	error_free(err);
	err = binary_symbols_match(file, "[!x]*", &found, &n);
	if (!err && !n)
		__builtin_trap();
	for (size_t i = 1; i < n; i++)
		if (found[i] <= found[i - 1])
			__builtin_trap();
	error_free(err);
}

/* Twice, the second time with what may be left of the first one. */
static void cgroups(const char *path)
{
	struct cgroup_names names, again;

	memset(&again, 0xff, sizeof(again));
	cgroup_names_of(path, &names);
	cgroup_names_of(path, &again);
	if (strcmp(names.unit, again.unit) || strcmp(names.container, again.container) ||
	    strcmp(names.pod, again.pod))
		__builtin_trap();
	if ((names.ends_container && !*names.container) || (names.ends_pod && !*names.pod))
		__builtin_trap();
	if (strlen(names.unit) > strlen(path) || strlen(names.container) > strlen(path))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	_cleanup_free_ char *text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	switch (data[0]) {
	case 'm':
		maps(text);
		break;
	case 'l':
		lists(text);
		break;
	case 'g':
		globs(text);
		break;
	case 'c':
		cgroups(text);
		break;
	case 'b':
		binary(text, size - 1);
		break;
	}
	return 0;
}
