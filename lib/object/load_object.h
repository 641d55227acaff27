/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An object's BTF, maps and programs, given to the kernel: private to lib/object/.
 */
#ifndef PB_OBJECT_LOAD_H
#define PB_OBJECT_LOAD_H

#include "lib/object/prepare.h"

/*
 * token.c: before anything is created: a token where there is one to be had; an error where
 * one was asked for.
 */
struct error *token_create(struct bpf_object *obj);

/* object_btf.c */
struct error *object_btf_load(struct bpf_object *obj);

/* map_create.c */
struct error *maps_create(struct bpf_object *obj);
/* global_data.c: a map's first value, once it is created. */
struct error *data_map_fill(struct bpf_map *map);
/* map_arena.c: maps an arena, once it is created, and moves its variables there. */
struct error *arena_map(struct bpf_map *map);
/* map_values.c: fills in the maps of maps (programs: the program arrays). */
struct error *map_values_fill(struct bpf_object *obj, bool programs);

/* load_object.c: with all its instances; the instructions that it has now, *fd is the caller's. */
struct error *program_load(struct bpf_program *prog);
struct error *program_load_insns(struct bpf_program *prog, int *fd);

/* instances.c */
struct error *instances_load(struct bpf_program *prog);

/* struct_ops.c: the programs' descriptors, once they are loaded. */
void struct_ops_finish(struct bpf_object *obj);

#endif
