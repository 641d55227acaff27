// SPDX-License-Identifier: BSD-2-Clause
/*
 * The program, as the bytes of an ELF object: what a compiler would have made of
 *
 *	struct { … } events SEC("maps"), wanted SEC("maps");
 *
 *	SEC("vfs_write file->f_path.dentry->d_name.name:string count")
 *	int probe_vfs_write(void *ctx, struct args *args)
 *	{
 *		__u64 id = bpf_get_current_pid_tgid();
 *
 *		if (id >> 32 == SELF || !wanted[id])
 *			return 0;
 *		args->common_type = ID;
 *		args->common_pid = id;
 *		bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, args, sizeof(*args));
 *		return 0;
 *	}
 *
 * so that it goes the way of every object: opened from memory, given its
 * prologues, loaded, attached. struct args and the function's type stand in
 * the object's BTF, which is where the prologue's maker looks for them. Maps
 * are defined in the old way, which needs no BTF.
 *
 * Whoever is not recorded is left out here, and not by the perf event: a
 * bpf-output event is one for a CPU, whose program runs for all tasks. The second
 * program stands at the creation of tasks, and lets children follow parents.
 *
 * Of tasks, "wanted" is an array of bytes, one for each id that there can be: it needs no more
 * memory than a hash of 65,536 did, cannot become full, and its reader maps it. A task stays in it
 * when it has ended, since samples of it may be unread, until its id becomes another's.
 *
 * In a PID namespace the ids are those that struct pid has for it, and with cgroups the ancestors
 * of the task's cgroup are looked up instead.
 */
#include "probe/output/output.h"

#include <bpf/btf.h>
#include <elf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#define CLONE_THREAD 0x10000

enum {
	PID_NS_DEPTH = 33, /* MAX_PID_NS_LEVEL of linux/pid_namespace.h, and the initial one */
	CGROUP_DEPTH = 32, /* as PERF_BPF_CGROUP_DEPTH of <bpf/perf_bpf_prog.h> */
	MAX_CGROUPS = 65536,
	MAX_RELOCS = CGROUP_DEPTH + 4,
};

DEFINE_FREEP(struct btf, btf__free)

/* ---- code ---- */

struct object_code {
	VEC(struct bpf_insn) insns;
	VEC(size_t) exits; /* jumps to the end */
	struct {
		size_t at;
		enum { MAP_EVENTS, MAP_WANTED } map;
	} relocs[MAX_RELOCS];
	size_t n_relocs;
	bool failed;
};

static void code_deinit(struct object_code *code)
{
	vec_deinit(&code->insns);
	vec_deinit(&code->exits);
}

static void emit(struct object_code *c, uint8_t op, int dst, int src, int off, int32_t imm)
{
	struct bpf_insn *insn = vec_push(&c->insns);

	if (!insn) {
		c->failed = true;
		return;
	}
	*insn = (struct bpf_insn){.code = op,
				  .dst_reg = (uint8_t)dst & 15,
				  .src_reg = (uint8_t)src & 15,
				  .off = (int16_t)off,
				  .imm = imm};
}

static void mov(struct object_code *c, int dst, int src)
{
	emit(c, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void alu(struct object_code *c, uint8_t op, int dst, int32_t imm)
{
	emit(c, BPF_ALU64 | op | BPF_K, dst, 0, 0, imm);
}

static void call(struct object_code *c, int32_t helper)
{
	emit(c, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static void load_map(struct object_code *c, int dst, int map)
{
	c->relocs[c->n_relocs].at = c->insns.n;
	c->relocs[c->n_relocs++].map = map;
	emit(c, BPF_LD | BPF_IMM | BPF_DW, dst, 0, 0, 0);
	emit(c, 0, 0, 0, 0, 0);
}

/* A jump forward, to where land() is called with its result. */
static size_t jump(struct object_code *c, uint8_t op, int dst, int32_t imm)
{
	emit(c, BPF_JMP | op | BPF_K, dst, 0, 0, imm);
	return c->insns.n - 1;
}

static void land(struct object_code *c, size_t at)
{
	if (!c->failed)
		c->insns.v[at].off = (int16_t)(c->insns.n - at - 1);
}

/* To the end, where the comparison holds. */
static void leave_if(struct object_code *c, uint8_t op, int dst, int32_t imm)
{
	size_t *at = vec_push(&c->exits);

	if (at)
		*at = c->insns.n;
	else
		c->failed = true;
	emit(c, BPF_JMP | op | BPF_K, dst, 0, 0, imm);
}

/* The program's end, which returns 0 to those that left. */
static void finish(struct object_code *c)
{
	size_t *at;

	vec_for_each (at, &c->exits)
		if (!c->failed)
			c->insns.v[*at].off = (int16_t)(c->insns.n - *at - 1);
	alu(c, BPF_MOV, BPF_REG_0, 0);
	emit(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* To the stack, from the kernel's memory at the address in src. */
static void read_kernel(struct object_code *c, int to, uint32_t size, int src, uint32_t offset)
{
	mov(c, BPF_REG_3, src);
	alu(c, BPF_ADD, BPF_REG_3, (int32_t)offset);
	mov(c, BPF_REG_1, BPF_REG_10);
	alu(c, BPF_ADD, BPF_REG_1, to);
	alu(c, BPF_MOV, BPF_REG_2, (int32_t)size);
	call(c, BPF_FUNC_probe_read_kernel);
}

static void load_stack(struct object_code *c, uint8_t size, int dst, int from)
{
	emit(c, BPF_LDX | BPF_MEM | size, dst, BPF_REG_10, from, 0);
}

/*
 * r8: a task; becomes its process and thread in the namespace, 0 if it is not in it. Both have
 * their ids at the same index of struct pid.numbers, that of the namespace's depth.
 */
static void find_ns_ids(struct object_code *c, const struct output_pid_ns *ns)
{
	enum { THREAD = -16, LEADER = -24, LEVEL = -28, INUM = -32, UPID = INUM - OUTPUT_UPID_MAX };
	size_t ends[2 * PID_NS_DEPTH], n = 0;

	read_kernel(c, THREAD, 8, BPF_REG_8, ns->task_thread_pid);
	read_kernel(c, LEADER, 8, BPF_REG_8, ns->task_group_leader);
	load_stack(c, BPF_DW, BPF_REG_8, LEADER);
	read_kernel(c, LEADER, 8, BPF_REG_8, ns->task_thread_pid);
	load_stack(c, BPF_DW, BPF_REG_8, THREAD);
	emit(c, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, LEVEL, 0);
	read_kernel(c, LEVEL, 4, BPF_REG_8, ns->pid_level);
	for (uint32_t i = 0; i < PID_NS_DEPTH; i++) {
		const uint32_t at = ns->pid_numbers + i * ns->upid_size;

		alu(c, BPF_MOV, BPF_REG_8, 0);
		load_stack(c, BPF_W, BPF_REG_1, LEVEL);
		ends[n++] = jump(c, BPF_JLT, BPF_REG_1, (int32_t)i);
		load_stack(c, BPF_DW, BPF_REG_8, THREAD);
		read_kernel(c, UPID, ns->upid_size, BPF_REG_8, at);
		load_stack(c, BPF_DW, BPF_REG_8, UPID + (int)ns->upid_ns);
		read_kernel(c, INUM, 4, BPF_REG_8, ns->ns_inum);
		load_stack(c, BPF_W, BPF_REG_1, INUM);
		/* as 32 bits: a comparison would extend the sign */
		emit(c, BPF_ALU | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, (int32_t)ns->inode);
		emit(c, BPF_JMP | BPF_JNE | BPF_X, BPF_REG_1, BPF_REG_2, 0, 0);
		const size_t other = c->insns.n - 1;
		load_stack(c, BPF_W, BPF_REG_8, UPID + (int)ns->upid_nr);
		load_stack(c, BPF_DW, BPF_REG_1, LEADER);
		read_kernel(c, UPID, ns->upid_size, BPF_REG_1, at);
		load_stack(c, BPF_W, BPF_REG_1, UPID + (int)ns->upid_nr);
		alu(c, BPF_LSH, BPF_REG_1, 32);
		emit(c, BPF_ALU64 | BPF_OR | BPF_X, BPF_REG_8, BPF_REG_1, 0, 0);
		ends[n++] = jump(c, BPF_JA, 0, 0);
		land(c, other);
	}
	alu(c, BPF_MOV, BPF_REG_8, 0);
	while (n)
		land(c, ends[--n]);
}

/* r8 = process and thread of the current task. */
static void find_ids(struct object_code *c, const struct output_pid_ns *ns)
{
	call(c, ns->inode ? BPF_FUNC_get_current_task : BPF_FUNC_get_current_pid_tgid);
	mov(c, BPF_REG_8, BPF_REG_0);
	if (ns->inode)
		find_ns_ids(c, ns);
}

/* Leaves unless a cgroup of the current task is wanted: its own, or one above it. */
static void ask_cgroups(struct object_code *c)
{
	size_t wanted[CGROUP_DEPTH];

	for (int level = 0; level < CGROUP_DEPTH; level++) {
		alu(c, BPF_MOV, BPF_REG_1, level);
		call(c, BPF_FUNC_get_current_ancestor_cgroup_id);
		leave_if(c, BPF_JEQ, BPF_REG_0, 0); /* its own was the last */
		emit(c, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_0, -8, 0);
		mov(c, BPF_REG_2, BPF_REG_10);
		alu(c, BPF_ADD, BPF_REG_2, -8);
		load_map(c, BPF_REG_1, MAP_WANTED);
		call(c, BPF_FUNC_map_lookup_elem);
		wanted[level] = jump(c, BPF_JNE, BPF_REG_0, 0);
	}
	leave_if(c, BPF_JA, 0, 0);
	for (int level = 0; level < CGROUP_DEPTH; level++)
		land(c, wanted[level]);
}

/* r1 = the process (its thread) of r8 */
static void take_id(struct object_code *c, bool is_process)
{
	if (is_process) {
		mov(c, BPF_REG_1, BPF_REG_8);
		alu(c, BPF_RSH, BPF_REG_1, 32);
	} else {
		emit(c, BPF_ALU | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_8, 0, 0);
	}
}

/*
 * r8 = process and thread; r0 = where "wanted" has the byte of one of them, and leaves if it has
 * none.
 */
static void find_byte(struct object_code *c, bool is_process)
{
	take_id(c, is_process);
	alu(c, BPF_DIV, BPF_REG_1, OUTPUT_WANTED_BLOCK);
	emit(c, BPF_STX | BPF_MEM | BPF_W, BPF_REG_10, BPF_REG_1, -4, 0);
	mov(c, BPF_REG_2, BPF_REG_10);
	alu(c, BPF_ADD, BPF_REG_2, -4);
	load_map(c, BPF_REG_1, MAP_WANTED);
	call(c, BPF_FUNC_map_lookup_elem);
	leave_if(c, BPF_JEQ, BPF_REG_0, 0);
	take_id(c, is_process);
	alu(c, BPF_AND, BPF_REG_1, OUTPUT_WANTED_BLOCK - 1);
	emit(c, BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_0, BPF_REG_1, 0, 0);
}

/* r8 = process and thread; leaves unless it is wanted. */
static void ask_filter(struct object_code *c, enum output_filter filter)
{
	if (filter == OUTPUT_ALL)
		return;
	if (filter == OUTPUT_CGROUPS) {
		ask_cgroups(c);
		return;
	}
	find_byte(c, filter == OUTPUT_PROCESSES);
	emit(c, BPF_LDX | BPF_MEM | BPF_B, BPF_REG_1, BPF_REG_0, 0, 0);
	leave_if(c, BPF_JEQ, BPF_REG_1, 0);
}

static void build_program(struct object_code *c, const struct output_layout *layout,
			  const struct output_opts *opts)
{
	mov(c, BPF_REG_6, BPF_REG_1);
	mov(c, BPF_REG_7, BPF_REG_2);
	find_ids(c, &opts->pid_ns);
	if (opts->self) {
		mov(c, BPF_REG_1, BPF_REG_8);
		alu(c, BPF_RSH, BPF_REG_1, 32);
		leave_if(c, BPF_JEQ, BPF_REG_1, (int32_t)opts->self);
	}
	ask_filter(c, opts->filter);
	alu(c, BPF_MOV, BPF_REG_1, (int32_t)opts->id);
	emit(c, BPF_STX | BPF_MEM | BPF_H, BPF_REG_7, BPF_REG_1, 0, 0);
	emit(c, BPF_STX | BPF_MEM | BPF_W, BPF_REG_7, BPF_REG_8, 4, 0);
	mov(c, BPF_REG_1, BPF_REG_6);
	load_map(c, BPF_REG_2, MAP_EVENTS);
	emit(c, BPF_ALU | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, -1); /* BPF_F_CURRENT_CPU */
	mov(c, BPF_REG_4, BPF_REG_7);
	alu(c, BPF_MOV, BPF_REG_5, (int32_t)layout->size);
	call(c, BPF_FUNC_perf_event_output);
	finish(c);
}

/* perf_event: 1 for the tasks that are wanted. */
static void build_task_filter(struct object_code *c, const struct output_opts *opts)
{
	find_ids(c, &opts->pid_ns);
	ask_filter(c, opts->filter);
	alu(c, BPF_MOV, BPF_REG_0, 1);
	emit(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	finish(c);
}

/* Leaves unless the event that runs the program is that of this CPU. */
static void ask_cpu(struct object_code *c)
{
	call(c, BPF_FUNC_get_attach_cookie);
	alu(c, BPF_RSH, BPF_REG_0, 32);
	mov(c, BPF_REG_7, BPF_REG_0);
	call(c, BPF_FUNC_get_smp_processor_id);
	alu(c, BPF_ADD, BPF_REG_0, 1);
	emit(c, BPF_ALU64 | BPF_SUB | BPF_X, BPF_REG_7, BPF_REG_0, 0, 0);
	leave_if(c, BPF_JNE, BPF_REG_7, 0);
}

static void build_gate(struct object_code *c, const struct output_gate *gate)
{
	mov(c, BPF_REG_6, BPF_REG_1);
	if (gate->by_cookie)
		ask_cpu(c);
	if (gate->opts) {
		find_ids(c, &gate->opts->pid_ns);
		ask_filter(c, gate->opts->filter);
	}
	mov(c, BPF_REG_1, BPF_REG_6);
	const size_t passed = jump(c, BPF_JA, 0, 0);
	finish(c);
	land(c, passed);
}

/*
 * raw_tp/task_newtask: the new task's struct, the flags of clone(2); current is its parent. The
 * byte of the new task becomes that of its parent, also if the parent is not wanted: its id may
 * have been the one of a task that was, and has ended.
 */
static void build_follower(struct object_code *c, const struct output_opts *opts)
{
	mov(c, BPF_REG_6, BPF_REG_1);
	alu(c, BPF_MOV, BPF_REG_7, 0);
	if (opts->follows) {
		find_ids(c, &opts->pid_ns);
		find_byte(c, opts->filter == OUTPUT_PROCESSES);
		emit(c, BPF_LDX | BPF_MEM | BPF_B, BPF_REG_7, BPF_REG_0, 0, 0);
	}
	if (opts->filter == OUTPUT_PROCESSES) {
		emit(c, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_6, 8, 0);
		alu(c, BPF_AND, BPF_REG_1, CLONE_THREAD);
		leave_if(c, BPF_JNE, BPF_REG_1, 0);
	}
	emit(c, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_8, BPF_REG_6, 0, 0);
	if (opts->pid_ns.inode) {
		find_ns_ids(c, &opts->pid_ns);
		leave_if(c, BPF_JEQ, BPF_REG_8, 0);
	} else {
		read_kernel(c, -4, 4, BPF_REG_8, opts->task_pid_offset);
		leave_if(c, BPF_JNE, BPF_REG_0, 0);
		load_stack(c, BPF_W, BPF_REG_8, -4);
	}
	find_byte(c, false);
	emit(c, BPF_STX | BPF_MEM | BPF_B, BPF_REG_0, BPF_REG_7, 0, 0);
	finish(c);
}

/* ---- types ---- */

static int field_type(struct btf *btf, const struct output_field *field, int byte)
{
	const bool has_sign = field->kind == FETCH_INT;

	if (field->kind == FETCH_STRING || field->kind == FETCH_BYTES)
		return btf__add_array(btf, byte, byte, field->size);
	return btf__add_int(btf, has_sign ? "signed" : "unsigned", field->size,
			    has_sign ? BTF_INT_SIGNED : 0);
}

/* Negative when it fails: the caller looks at the last call. */
static int build_types(struct btf *btf, const struct output_layout *layout, const char *name)
{
	const int word = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	const int wide = btf__add_int(btf, "__u64", 8, 0);
	const int byte = btf__add_int(btf, "char", 1, BTF_INT_CHAR);
	const int context = btf__add_ptr(btf, 0);
	const int first = btf__type_cnt(btf);

	for (size_t i = 0; i < layout->fields.n; i++)
		if (field_type(btf, &layout->fields.v[i], byte) < 0)
			return -1;
	const int args = btf__add_struct(btf, "args", layout->size);
	for (size_t i = 0; i < layout->fields.n; i++) {
		const struct output_field *field = &layout->fields.v[i];

		if (btf__add_field(btf, field->name, first + (int)i, field->offset * 8, 0))
			return -1;
	}
	if (btf__add_field(btf, OUTPUT_IP_FIELD, wide, layout->ip_offset * 8, 0) ||
	    btf__add_field(btf, "err_mask", wide, layout->err_offset * 8, 0))
		return -1;
	const int pointer = btf__add_ptr(btf, args);
	const int proto = btf__add_func_proto(btf, word);
	if (btf__add_func_param(btf, "ctx", context) || btf__add_func_param(btf, "args", pointer))
		return -1;
	return btf__add_func(btf, name, BTF_FUNC_GLOBAL, proto);
}

/* ---- the file ---- */

enum {
	SEC_STRTAB = 1,
	SEC_SYMTAB,
	SEC_LICENSE,
	SEC_MAPS,
	SEC_PROGRAM,
	SEC_PROGRAM_RELOCS,
	SEC_FOLLOWER,
	SEC_FOLLOWER_RELOCS,
	SEC_BTF,
	N_SECTIONS,
};

/* Symbols, after the null one. */
enum {
	SYM_EVENTS = 1,
	SYM_WANTED,
	SYM_PROGRAM,
	SYM_FOLLOWER,
	N_SYMBOLS,
};

struct map_def {
	uint32_t type, key_size, value_size, max_entries, flags;
};

struct object_writer {
	struct strbuf strings;
	Elf64_Shdr sections[N_SECTIONS];
	struct strbuf *out;
};

static uint32_t add_string(struct object_writer *w, const char *s)
{
	const uint32_t at = (uint32_t)w->strings.len;

	strbuf_add(&w->strings, s, strlen(s) + 1);
	return at;
}

static void pad(struct strbuf *out, size_t align)
{
	while (out->len & (align - 1) && !out->failed)
		strbuf_addch(out, 0);
}

static Elf64_Shdr *add_section(struct object_writer *w, int index, uint32_t name, uint32_t type,
			       const void *data, size_t size)
{
	pad(w->out, 8);
	w->sections[index] = (Elf64_Shdr){
		.sh_name = name,
		.sh_type = type,
		.sh_offset = w->out->len,
		.sh_size = size,
		.sh_addralign = 8,
	};
	strbuf_add(w->out, data, size);
	return &w->sections[index];
}

static void add_code(struct object_writer *w, int index, const char *name,
		     const struct object_code *code)
{
	_cleanup_free_ char *rel_name = text_format(".rel%s", name);
	Elf64_Rel relocs[ARRAY_SIZE(code->relocs)] = {0};

	for (size_t i = 0; i < code->n_relocs; i++)
		relocs[i] = (Elf64_Rel){
			.r_offset = code->relocs[i].at * sizeof(struct bpf_insn),
			.r_info = ELF64_R_INFO(code->relocs[i].map == MAP_EVENTS ? SYM_EVENTS
										 : SYM_WANTED,
					       R_BPF_64_64),
		};
	w->out->failed |= !rel_name;
	add_section(w, index, add_string(w, name), SHT_PROGBITS, code->insns.v,
		    code->insns.n * sizeof(struct bpf_insn))
		->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	Elf64_Shdr *rel = add_section(w, index + 1, add_string(w, rel_name ? rel_name : ""),
				      SHT_REL, relocs, code->n_relocs * sizeof(*relocs));
	rel->sh_entsize = sizeof(Elf64_Rel);
	rel->sh_link = SEC_SYMTAB;
	rel->sh_info = (uint32_t)index;
}

static Elf64_Sym symbol(uint32_t name, int type, int section, uint64_t value, uint64_t size)
{
	return (Elf64_Sym){
		.st_name = name,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, type),
		.st_shndx = (uint16_t)section,
		.st_value = value,
		.st_size = size,
	};
}

static struct error *write_file(const struct output_opts *opts, const char *section,
				const struct object_code *program,
				const struct object_code *follower, const struct btf *btf,
				struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf strings = STRBUF_INIT;
	struct object_writer w = {.out = out};
	const bool of_tasks = opts->filter == OUTPUT_PROCESSES || opts->filter == OUTPUT_THREADS;
	const struct map_def maps[] = {
		/* As many entries as there are CPUs: the loader sees to it. */
		{.type = BPF_MAP_TYPE_PERF_EVENT_ARRAY, .key_size = 4, .value_size = 4},
		{.type = of_tasks ? BPF_MAP_TYPE_ARRAY : BPF_MAP_TYPE_HASH,
		 .key_size = of_tasks ? 4 : 8,
		 .value_size = of_tasks ? OUTPUT_WANTED_BLOCK : 4,
		 .max_entries = of_tasks ? OUTPUT_WANTED_SIZE / OUTPUT_WANTED_BLOCK
				: opts->filter == OUTPUT_CGROUPS ? MAX_CGROUPS
								 : 1,
		 .flags = of_tasks ? BPF_F_MMAPABLE : 0},
	};
	const bool follows = follower->insns.n;
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB,
			    EV_CURRENT},
		.e_type = ET_REL,
		.e_machine = EM_BPF,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = N_SECTIONS,
		.e_shstrndx = SEC_STRTAB,
	};
	const size_t start = out->len;
	uint32_t btf_size;
	const void *btf_data = btf__raw_data(btf, &btf_size);

	if (!btf_data)
		return error_nomem();
	strbuf_add(out, &header, sizeof(header));
	add_string(&w, "");
	add_section(&w, SEC_LICENSE, add_string(&w, "license"), SHT_PROGBITS, "GPL", 4)->sh_flags =
		SHF_ALLOC | SHF_WRITE;
	add_section(&w, SEC_MAPS, add_string(&w, "maps"), SHT_PROGBITS, maps, sizeof(maps))
		->sh_flags = SHF_ALLOC | SHF_WRITE;
	add_code(&w, SEC_PROGRAM, section, program);
	if (follows)
		add_code(&w, SEC_FOLLOWER, "raw_tp/task_newtask", follower);
	add_section(&w, SEC_BTF, add_string(&w, ".BTF"), SHT_PROGBITS, btf_data, btf_size);

	Elf64_Sym symbols[N_SYMBOLS] = {
		[SYM_EVENTS] =
			symbol(add_string(&w, "events"), STT_OBJECT, SEC_MAPS, 0, sizeof(maps[0])),
		[SYM_WANTED] = symbol(add_string(&w, "wanted"), STT_OBJECT, SEC_MAPS,
				      sizeof(maps[0]), sizeof(maps[0])),
		[SYM_PROGRAM] = symbol(add_string(&w, opts->name), STT_FUNC, SEC_PROGRAM, 0,
				       program->insns.n * sizeof(struct bpf_insn)),
		[SYM_FOLLOWER] = symbol(add_string(&w, "follow"), STT_FUNC, SEC_FOLLOWER, 0,
					follower->insns.n * sizeof(struct bpf_insn)),
	};
	Elf64_Shdr *symtab =
		add_section(&w, SEC_SYMTAB, add_string(&w, ".symtab"), SHT_SYMTAB, symbols,
			    (follows ? N_SYMBOLS : SYM_FOLLOWER) * sizeof(*symbols));
	symtab->sh_entsize = sizeof(Elf64_Sym);
	symtab->sh_link = SEC_STRTAB;
	symtab->sh_info = 1; /* the first that is not local */
	const uint32_t strtab_name = add_string(&w, ".strtab");
	strings = w.strings;
	add_section(&w, SEC_STRTAB, strtab_name, SHT_STRTAB, strings.str, strings.len);
	pad(out, 8);
	header.e_shoff = out->len - start;
	strbuf_add(out, w.sections, sizeof(w.sections));
	if (strbuf_failed(out) || strbuf_failed(&strings))
		return error_nomem();
	memcpy(out->str + start, &header, sizeof(header));
	return NULL;
}

struct error *output_object(const struct output_layout *layout, const struct output_opts *opts,
			    struct strbuf *out)
{
	_cleanup_(code_deinit) struct object_code program = {0}, follower = {0};
	_cleanup_(btf__freep) struct btf *btf = btf__new_empty();
	/* A bare function is no definition to those who look at sections. */
	_cleanup_free_ char *section = text_format(
		"%s%s", probe_def_is(opts->definition) ? "" : "inlines=yes;", opts->definition);

	build_program(&program, layout, opts);
	if (opts->filter != OUTPUT_ALL && opts->task_pid_offset)
		build_follower(&follower, opts);
	if (!btf || !section || program.failed || follower.failed ||
	    build_types(btf, layout, opts->name) < 0)
		return error_nomem();
	return write_file(opts, section, &program, &follower, btf, out);
}

struct error *output_task_filter(const struct output_opts *opts, struct strbuf *out)
{
	_cleanup_(code_deinit) struct object_code program = {0}, follower = {0};
	_cleanup_(btf__freep) struct btf *btf = btf__new_empty();

	build_task_filter(&program, opts);
	if (opts->task_pid_offset)
		build_follower(&follower, opts);
	/* a file needs a type to have types */
	if (!btf || program.failed || follower.failed ||
	    btf__add_int(btf, "int", 4, BTF_INT_SIGNED) < 0)
		return error_nomem();
	return write_file(opts, "perf_event", &program, &follower, btf, out);
}

struct error *output_gate_build(const struct output_gate *gate, struct bpf_insn **insns, size_t *n)
{
	_cleanup_(code_deinit) struct object_code code = {0};

	build_gate(&code, gate);
	if (code.failed)
		return error_nomem();
	for (size_t i = 0; i < code.n_relocs; i++) {
		struct bpf_insn *load = &code.insns.v[code.relocs[i].at];

		load->src_reg = BPF_PSEUDO_MAP_FD;
		load->imm = gate->wanted_fd;
	}
	*n = code.insns.n;
	*insns = steal_ptr(code.insns.v);
	return NULL;
}
