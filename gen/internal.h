/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of gen/. */
#ifndef PB_GEN_INTERNAL_H
#define PB_GEN_INTERNAL_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "gen/gen.h"
#include "lib/base/vec.h"

/* A variable that the header names: static ones are the program's own. */
struct gen_var {
	char *name;
	uint32_t type;
	uint32_t offset;
	uint32_t size;
};

struct gen_map {
	const struct bpf_map *map;
	char *ident;	     /* the member's name: "samples", "rodata", "data_named" */
	const char *section; /* of data: ".rodata"; else NULL */
	uint32_t size;	     /* of data: its bytes */
	VEC(struct gen_var) vars;
};

struct generator {
	enum gen_kind kind;
	const struct gen_input *in;
	struct bpf_object *obj;
	struct btf *btf; /* owned; NULL: the object has none */
	struct btf_dump *dump;
	struct strbuf decl; /* what the dump wrote */
	VEC(struct gen_map) maps;
	size_t n_progs;
	struct strbuf *out;
};

/* data_structs.c: g->btf. */
struct error *gen_types_copy(struct generator *g, const struct btf *btf);
/* The maps of the object, and the variables of data sections in order. */
struct error *gen_maps_read(struct generator *g);
void gen_maps_deinit(struct generator *g);
/* The members of a data section's struct, with padding, each behind two tabs. */
struct error *gen_data_members(struct generator *g, const struct gen_map *map);
/* The same as pointers, without padding. */
struct error *gen_data_pointers(struct generator *g, const struct gen_map *map);
/* Adds "TYPE NAME" as C has it, or "TYPE *NAME". */
struct error *gen_declare(struct generator *g, const struct gen_var *var, bool pointer);

/* struct_ops_shadow.c: the members of a struct_ops map's struct, each behind three tabs. */
struct error *gen_struct_ops_members(struct generator *g, const struct gen_map *map);

#endif
