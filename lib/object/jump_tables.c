// SPDX-License-Identifier: BSD-2-Clause
/*
 * Jump tables: what clang 22 makes of a switch, for kernels with indirect jumps
 * (6.19). A table stands in section .jumptables, under a symbol of its own: for
 * each of its 8-byte entries the place of an instruction, in bytes of the
 * section with the function that jumps. The function loads the table's address
 * by an ld_imm64 that is relocated against that symbol, adds an index, loads the
 * entry, and jumps there ("gotox").
 *
 * The kernel wants a table as a map of type BPF_MAP_TYPE_INSN_ARRAY, frozen,
 * whose values hold the number of an instruction of the whole program; it
 * rewrites them when it changes the program (Documentation/bpf/ and
 * kernel/bpf/bpf_insn_array.c). A function stands elsewhere in each program, so
 * each program has a map of its own for a table. An entry never points out of
 * its function.
 */
#include "lib/object/prepare.h"

#include <inttypes.h>
#include <unistd.h>

#include "lib/sys/uapi.h"

#define ENTRY_SIZE 8

/* struct bpf_insn_array_value (6.19) */
struct insn_array_value {
	uint32_t orig_off;   /* the instruction */
	uint32_t xlated_off; /* where the kernel has put it; */
	uint32_t jitted_off; /* these are the kernel's to fill */
	uint32_t reserved;
};

struct error *jump_table_relo(const struct bpf_object *obj, const struct elf_symbol *sym,
			      struct relo *relo)
{
	const struct elf_section *sec = obj->jump_tables_section;

	if (sym->value % ENTRY_SIZE || sym->size % ENTRY_SIZE || !sym->size ||
	    sym->value > sec->size || sym->size > sec->size - sym->value || sec->size > INT32_MAX)
		return pb_elf_section_error(
			obj->elf, sec, sym->value,
			"jump table '%s' has %" PRIu64
			" bytes, which is not a multiple of the section's entry size",
			relo->name, sym->size);
	relo->kind = RELO_JUMP_TABLE;
	relo->index = (uint32_t)sym->value;
	relo->addend = (int32_t)sym->size;
	return NULL;
}

/* Each entry as an instruction of the program. */
static struct error *fill(const struct bpf_program *prog, const struct placed *placed,
			  const struct relo *relo, int fd)
{
	const struct bpf_object *obj = prog->obj;
	const struct function *fn = &obj->functions.v[placed->function];
	struct cursor c = pb_elf_section_cursor(obj->elf, obj->jump_tables_section);
	struct cursor table;

	if (!cursor_sub(&c, relo->index, (uint32_t)relo->addend, &table))
		return error_new(EBADMSG, "jump table '%s' is truncated", relo->name);
	for (uint32_t i = 0; cursor_left(&table); i++) {
		struct insn_array_value value = {0};
		uint64_t byte;

		if (!cursor_u64(&table, &byte) || byte % sizeof(struct bpf_insn) ||
		    byte / sizeof(struct bpf_insn) < fn->start ||
		    byte / sizeof(struct bpf_insn) - fn->start >= fn->n)
			return error_new(EBADMSG,
					 "entry %u of jump table '%s' is not an instruction of "
					 "function '%s'",
					 i, relo->name, fn->name);
		value.orig_off =
			placed->at + (uint32_t)(byte / sizeof(struct bpf_insn) - fn->start);
		const int err = bpf_map_update_elem(fd, &i, &value, 0);
		if (err)
			return error_errno(-err, "cannot fill jump table '%s'", relo->name);
	}
	const int err = bpf_map_freeze(fd);
	return err ? error_errno(-err, "cannot freeze jump table '%s'", relo->name) : NULL;
}

static struct error *create(const struct bpf_program *prog, const struct placed *placed,
			    const struct relo *relo, int *fd)
{
	const uint32_t n = (uint32_t)relo->addend / ENTRY_SIZE;

	*fd = bpf_map_create(BPF_MAP_TYPE_INSN_ARRAY, ".jumptables", sizeof(uint32_t),
			     sizeof(struct insn_array_value), n, NULL);
	if (*fd < 0)
		return error_hint(error_errno(-*fd, "cannot create jump table '%s'", relo->name),
				  "indirect jumps need Linux 6.19: compile with -mcpu=v3 or "
				  "-fno-jump-tables");
	struct error *err = fill(prog, placed, relo, *fd);
	if (err)
		close(*fd);
	return err;
}

struct error *jump_table_patch(struct bpf_program *prog, const struct placed *placed,
			       const struct relo *relo, struct bpf_insn *insn)
{
	struct bpf_object *obj = prog->obj;
	const struct jump_table *known;
	int fd = -1;

	/* What CO-RE found unreachable is no longer what it was. */
	if (insn->code != (BPF_LD | BPF_IMM | BPF_DW))
		return NULL;
	vec_for_each (known, &obj->jump_tables)
		if (known->prog == prog && known->offset == relo->index)
			fd = known->fd;
	if (fd < 0) {
		struct jump_table *table = vec_push(&obj->jump_tables);

		if (!table)
			return error_nomem();
		obj->jump_tables.n--; /* until there is something to close */
		TRY(create(prog, placed, relo, &fd));
		obj->jump_tables.n++;
		*table = (struct jump_table){.prog = prog, .offset = relo->index, .fd = fd};
	}
	insn->src_reg = BPF_PSEUDO_MAP_VALUE;
	insn->imm = fd;
	insn->off = 0;
	return NULL;
}

void jump_tables_close(struct bpf_object *obj)
{
	const struct jump_table *table;

	vec_for_each (table, &obj->jump_tables)
		close(table->fd);
	obj->jump_tables.n = 0;
}
