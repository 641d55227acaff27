/* SPDX-License-Identifier: BSD-2-Clause */
/* What is shown of a loaded BPF program besides its id, tag and name. */
#ifndef PB_WATCH_PROGRAM_DETAILS_H
#define PB_WATCH_PROGRAM_DETAILS_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

struct used_map {
	uint32_t id;
	char name[BPF_OBJ_NAME_LEN]; /* "": it has none, or was gone */
};

struct program_details {
	uint32_t type;
	char name[BPF_OBJ_NAME_LEN]; /* as the loader gave it: at most 15 characters */
	uint8_t tag[BPF_TAG_SIZE];
	uint32_t uid;
	uint32_t bytes_xlated, bytes_jited; /* jited 0: it is interpreted, or hidden from us */
	char *target; /* the function or type that it was loaded for; NULL: none, or not known */
	struct used_map *maps;
	size_t n_maps;
};

struct target_names;

/* Names of targets, by BTF that is read once and kept. */
struct error *target_names_new(struct target_names **out);
void target_names_free(struct target_names *names);
DEFINE_FREEP(struct target_names, target_names_free)

/* Fails with ENOENT if the program is gone. */
struct error *program_details_read(uint32_t id, struct target_names *names,
				   struct program_details **out);
void program_details_free(struct program_details *details);
DEFINE_FREEP(struct program_details, program_details_free)

#endif
