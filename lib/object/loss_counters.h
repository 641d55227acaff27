/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting the calls of helpers that fail for lack of room, without the
 * program's help. Private to lib/object/; object.h has what other rooms use.
 */
#ifndef PB_OBJECT_LOSS_COUNTERS_H
#define PB_OBJECT_LOSS_COUNTERS_H

#include "lib/object/prepare.h"

/* What an object has of it: obj->losses. */
struct loss_counters {
	int fd;		  /* of the array of counters; -1: it could not be created */
	bool *incomplete; /* by map: some calls are not counted; the last one: of unknown maps */
	size_t n_maps;
	VEC(struct map_store) stores;
	bool stores_incomplete; /* some program could not be analyzed */
};

/* Before the first program is loaded, once the maps are created. */
struct error *loss_counters_create(struct bpf_object *obj);

/* A program's instructions with code that counts, and the records that belong to them. */
struct counted_insns {
	struct bpf_insn *insns; /* owned; NULL: nothing to count */
	size_t n;
	struct insn_info info;
	bool has_plain; /* there is plainer code, should this be refused */
};
void counted_insns_deinit(struct counted_insns *counted);

/* From prog->insns as they are now; plain: the plainer code. */
struct error *loss_counters_add(const struct bpf_program *prog, bool plain,
				struct counted_insns *counted);
/* The kernel did not take them: the program is loaded without. */
void loss_counters_refused(const struct bpf_program *prog);

#endif
