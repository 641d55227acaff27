// SPDX-License-Identifier: BSD-2-Clause
/*
 * Damaged debug information: all functions of a file, the places of each, the
 * variables there, an argument, the lines, the functions at addresses. The file lives in memory,
 * under a name in /proc, since libdw opens files.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/names.h"
#include "probe/dwarf/dwarf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct error *take_name(void *ctx, const char *name)
{
	struct names *names = ctx;

	if (names->n >= 8)
		return error_new(ECANCELED, "enough");
	return names_add(names, name) ? NULL : error_nomem();
}

static struct error *take_variable(void *ctx, const struct dwarf_variable *variable)
{
	unsigned int *n = ctx;

	if (!variable->name || !variable->type)
		__builtin_trap();
	return ++*n > 64 ? error_new(ECANCELED, "enough") : NULL;
}

static struct error *take_line(void *ctx, const struct dwarf_line *line)
{
	unsigned int *n = ctx;

	return ++*n > 4096 ? error_new(ECANCELED, "enough") : NULL;
}

/* The functions at the addresses from this one on. */
static void look_at(struct dwarf_image *image, uint64_t address)
{
	struct dwarf_frame frames[DWARF_MAX_FRAMES];
	size_t n = 0;

	for (uint64_t i = 0; i < 256; i += 3) {
		error_free(pb_dwarf_frames_at(image, address + i, frames, &n));
		if (n > DWARF_MAX_FRAMES)
			__builtin_trap();
		for (size_t k = 0; k < n; k++)
			if ((frames[k].name && strlen(frames[k].name) > 1 << 20) ||
			    (frames[k].file && strlen(frames[k].file) > 1 << 22))
				__builtin_trap();
	}
}

static void look(struct dwarf_image *image, const char *text)
{
	_cleanup_probe_def_ struct probe_def def = {0};
	_cleanup_dwarf_places_ struct dwarf_places places = {0};
	unsigned int n = 0;
	struct error *err = probe_def_parse(text, &def);

	if (!err)
		err = pb_dwarf_places_find(image, &def, &places);
	error_free(err);
	for (size_t i = 0; i < places.n && i < 4; i++) {
		look_at(image, places.v[i].address);
		error_free(pb_dwarf_place_variables(image, &places.v[i], true, take_variable, &n));
		for (size_t a = 0; a < def.n_args; a++) {
			struct fetch_value value = {0};

			error_free(pb_dwarf_place_arg(image, &places.v[i], &def.args[a], &value));
			fetch_value_deinit(&value);
		}
	}
	n = 0;
	if (def.text)
		error_free(pb_dwarf_lines(image, &def, take_line, &n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const none[] = {NULL};
	struct dwarf_opts opts = {.debug_dirs = none, .no_debuginfod = true};
	struct dwarf_image *image = NULL;
	_cleanup_names_ struct names names = {0};
	_cleanup_close_ int fd = memfd_create("dwarf", MFD_CLOEXEC);
	char path[64], text[256];

	if (fd < 0 || size > 1 << 20 || write(fd, data, size) != (ssize_t)size)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct error *err = pb_dwarf_image_open(path, &opts, &image);
	if (err) {
		error_free(err);
		return 0;
	}
	error_free(pb_dwarf_functions(image, "*", take_name, &names));
	/* Damaged units may give the same name thousands of times. */
	for (size_t i = 0; i < names.n && i < 16; i++) {
		if (strlen(names.v[i]) > 100)
			continue;
		snprintf(text, sizeof(text), "%s x=order->items[1].price y=flags", names.v[i]);
		look(image, text);
		snprintf(text, sizeof(text), "%s:2 total this->b l=items[0]", names.v[i]);
		look(image, text);
	}
	look(image, "place%return r=$retval m=$retval.id");
	look(image, "shop.c:12 g=stock order");
	look_at(image, 0);
	look_at(image, 0x1100);
	pb_dwarf_image_free(image);
	return 0;
}
