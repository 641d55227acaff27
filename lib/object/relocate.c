// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lays out a program: the program's own instructions, then each subprogram it
 * calls or takes the address of, directly or not, once. The kernel wants a
 * program in one piece, with calls relative to the caller:
 *
 *	imm = target - caller - 1		(in instructions)
 *
 * A subprogram stands behind what its caller had placed when it was first
 * called, and what it calls itself comes next: the order in which libbpf has
 * them, so that the kernel's tag of a program is the same. A list of the
 * functions that are being looked at is kept, not recursion: an object may nest
 * them deeply. A program that calls nothing and refers to nothing keeps the
 * file's bytes.
 *
 * Maps are patched in a second step, when they exist.
 */
#include "lib/object/prepare.h"

#include <string.h>

/* Where a function stands in the program that is laid out. */
struct mark {
	uint32_t program; /* 1 + number of the program that placed it last */
	uint32_t at;
};

/* The relocations of a function: the first, and one past the last. */
static struct relo *relos_begin(const struct bpf_object *obj, const struct function *fn,
				struct relo **end)
{
	const struct code_section *code = &obj->codes.v[fn->code];
	*end = NULL; /* no arithmetic on the NULL of an empty vector */
	if (!code->relos.n)
		return NULL;
	const size_t low = count_before(code->relos.n, i, code->relos.v[i].insn < fn->start);
	struct relo *first = code->relos.v + low, *last = first;
	while (last < code->relos.v + code->relos.n && last->insn - fn->start < fn->n)
		last++;
	*end = last;
	return first;
}

static bool is_local_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL;
}

/* The function that a call without relocation goes to, in the same section; -1: none. */
static long local_call_target(const struct bpf_object *obj, const struct function *fn,
			      uint32_t insn)
{
	const struct code_section *code = &obj->codes.v[fn->code];
	const int64_t target = (int64_t)insn + code->insns[insn].imm + 1;

	if (target < 0 || target >= (int64_t)code->n)
		return -1;
	return function_at(obj, fn->code, (uint32_t)target);
}

/*
 * The kernel ANDs what the programs at a tracepoint or probe return, bit by
 * bit, beginning with 1 (bpf_prog_run_array): an even number would discard the
 * event. Where that matters, each exit of the program's own function becomes a
 * jump to a tail that makes 1 of all that is not 0, or of everything. A jump takes the place of
 * an exit, so that nothing moves but the subprograms behind the tail.
 */
#define TAIL_INSNS 3

static uint32_t tail_insns(const struct bpf_program *prog)
{
	return prog->returns != PROGRAM_RETURN_AS_IS && prog->fn->n < INT16_MAX ? TAIL_INSNS : 0;
}

static void write_tail(const struct bpf_program *prog, struct bpf_insn *insns)
{
	const uint32_t n = prog->fn->n;

	for (uint32_t i = 0; i < n; i++) {
		if (insns[i].code == (BPF_LD | BPF_IMM | BPF_DW)) {
			i++; /* its second half is data */
			continue;
		}
		if (insns[i].code == (BPF_JMP | BPF_EXIT))
			insns[i] = (struct bpf_insn){
				.code = BPF_JMP | BPF_JA,
				.off = (int16_t)(n - i - 1),
			};
	}
	insns[n] = (struct bpf_insn){.code = BPF_JMP32 | BPF_JEQ | BPF_K, .off = 1};
	if (prog->returns == PROGRAM_RETURN_ONE)
		insns[n] = (struct bpf_insn){.code = BPF_JMP | BPF_JA}; /* nothing to ask */
	insns[n + 1] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1};
	insns[n + 2] = (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
}

static struct error *place(struct bpf_program *prog, struct mark *marks, uint32_t generation,
			   uint32_t function, size_t *total)
{
	const struct function *fn = &prog->obj->functions.v[function];

	if (marks[function].program == generation)
		return NULL;
	if (*total + fn->n > PROGRAM_INSNS_MAX)
		return error_kind(error_new(E2BIG,
					    "more than %d instructions, subprograms included",
					    PROGRAM_INSNS_MAX),
				  "too-large");
	struct placed *placed = vec_push(&prog->placed);
	if (!placed)
		return error_nomem();
	placed->function = function;
	placed->at = (uint32_t)*total;
	marks[function] = (struct mark){generation, placed->at};
	*total += fn->n;
	return NULL;
}

/* A function that is being looked at, and from where on. */
struct visit {
	const struct function *fn;
	uint32_t insn; /* of its section */
	struct relo *relo, *end;
};

typedef VEC(struct visit) visits;

static struct error *visit(const struct bpf_object *obj, visits *stack, uint32_t function)
{
	struct visit *v = vec_push(stack);

	if (!v)
		return error_nomem();
	v->fn = &obj->functions.v[function];
	v->insn = v->fn->start;
	v->relo = relos_begin(obj, v->fn, &v->end);
	return NULL;
}

/* The function that the next instruction calls or takes the address of; -1: none. */
static struct error *next_callee(const struct bpf_object *obj, struct visit *v, bool *simple,
				 long *callee)
{
	const uint32_t i = v->insn++;

	*callee = -1;
	if (v->relo < v->end && v->relo->insn == i) {
		const struct relo *relo = v->relo++;

		*simple = false;
		if (relo->kind == RELO_CALL || relo->kind == RELO_FUNC)
			*callee = (long)relo->index;
		return NULL;
	}
	if (!is_local_call(&obj->codes.v[v->fn->code].insns[i]))
		return NULL;
	*simple = false;
	*callee = local_call_target(obj, v->fn, i);
	if (*callee < 0)
		return error_new(
			EBADMSG,
			"function '%s': the call at instruction %u does not go to a function",
			v->fn->name, i - v->fn->start);
	return NULL;
}

static struct error *walk(struct bpf_program *prog, struct mark *marks, uint32_t generation,
			  visits *stack, size_t *total, bool *simple)
{
	const struct bpf_object *obj = prog->obj;

	while (stack->n) {
		struct visit *v = vec_last(stack);
		long callee;

		if (v->insn == v->fn->start + v->fn->n) {
			stack->n--;
			continue;
		}
		TRY(next_callee(obj, v, simple, &callee));
		if (callee < 0 || marks[callee].program == generation)
			continue;
		TRY(place(prog, marks, generation, (uint32_t)callee, total));
		TRY(visit(obj, stack, (uint32_t)callee));
	}
	return NULL;
}

/* Places what a placed function calls; *simple stays true when there is nothing to patch. */
static struct error *place_callees(struct bpf_program *prog, struct mark *marks,
				   uint32_t generation, uint32_t function, size_t *total,
				   bool *simple)
{
	visits stack = {0};
	struct error *err = visit(prog->obj, &stack, function);

	if (!err)
		err = walk(prog, marks, generation, &stack, total, simple);
	vec_deinit(&stack);
	return err;
}

/* A program's exception callback stands in it without being called. */
static struct error *place_exception_callback(struct bpf_program *prog, struct mark *marks,
					      uint32_t generation, size_t *total, bool *simple)
{
	const uint32_t function = prog->exception_callback - 1;

	if (!prog->exception_callback || marks[function].program == generation)
		return NULL;
	*simple = false;
	TRY(place(prog, marks, generation, function, total));
	return place_callees(prog, marks, generation, function, total, simple);
}

static void patch_function(struct bpf_program *prog, const struct mark *marks,
			   const struct placed *placed)
{
	const struct bpf_object *obj = prog->obj;
	const struct function *fn = &obj->functions.v[placed->function];
	struct relo *end, *relo = relos_begin(obj, fn, &end);

	for (uint32_t i = 0; i < fn->n; i++) {
		const uint32_t at = placed->at + i;
		struct bpf_insn *insn = &prog->owned_insns[at];

		if (relo == end || relo->insn != fn->start + i) {
			/* as the file has it: the caller may have set other instructions */
			if (is_local_call(&obj->codes.v[fn->code].insns[fn->start + i])) {
				const long target = local_call_target(obj, fn, fn->start + i);

				insn->imm = (int32_t)marks[target].at - (int32_t)at - 1;
			}
			continue;
		}
		switch (relo->kind) {
		case RELO_CALL:
			insn->imm = (int32_t)marks[relo->index].at - (int32_t)at - 1;
			break;
		case RELO_FUNC:
			insn->src_reg = BPF_PSEUDO_FUNC;
			insn[0].imm = (int32_t)marks[relo->index].at - (int32_t)at - 1;
			insn[1].imm = 0;
			break;
		case RELO_ZERO:
			insn->src_reg = 0;
			insn[0].imm = insn[1].imm = 0;
			break;
		case RELO_NO_CALL:
			insn->src_reg = 0;
			insn->imm = NO_SUCH_HELPER;
			break;
		case RELO_MAP:
		case RELO_DATA:
		case RELO_KCONFIG:
		case RELO_KSYM:
		case RELO_KFUNC:
		case RELO_JUMP_TABLE:
			break; /* program_patch() */
		}
		relo++;
	}
}

static bool has_core_relos(const struct bpf_program *prog)
{
	const struct placed *placed;

	vec_for_each (placed, &prog->placed) {
		const struct function *fn = &prog->obj->functions.v[placed->function];

		if (prog->obj->codes.v[fn->code].core_relos)
			return true;
	}
	return false;
}

static struct error *program_lay_out(struct bpf_program *prog, struct mark *marks,
				     uint32_t generation, size_t *object_total)
{
	struct bpf_object *obj = prog->obj;
	bool simple = true;
	size_t total = 0;

	prog->placed.n = 0;
	TRY(place(prog, marks, generation, (uint32_t)(prog->fn - obj->functions.v), &total));
	total += tail_insns(prog);
	if (tail_insns(prog))
		simple = false;
	TRY(place_callees(prog, marks, generation, prog->placed.v[0].function, &total, &simple));
	TRY(place_exception_callback(prog, marks, generation, &total, &simple));
	*object_total += total;
	if (*object_total > OBJECT_INSNS_MAX)
		return error_new(E2BIG, "the object's programs have more than %d instructions",
				 OBJECT_INSNS_MAX);
	if (simple && !has_core_relos(prog))
		return NULL;

	struct bpf_insn *insns = malloc(total * sizeof(*insns));
	if (!insns)
		return error_nomem();
	const struct placed *placed;
	vec_for_each (placed, &prog->placed) {
		const struct function *fn = &obj->functions.v[placed->function];

		memcpy(insns + placed->at,
		       placed->at || !prog->set_insns ? obj->codes.v[fn->code].insns + fn->start
						      : prog->set_insns,
		       fn->n * sizeof(*insns));
	}
	if (tail_insns(prog))
		write_tail(prog, insns);
	free(prog->owned_insns);
	prog->insns = prog->owned_insns = insns;
	prog->n_insns = total;
	vec_for_each (placed, &prog->placed)
		patch_function(prog, marks, placed);
	return NULL;
}

struct error *programs_prepare(struct bpf_object *obj)
{
	_cleanup_free_ struct mark *marks =
		calloc(obj->functions.n ? obj->functions.n : 1, sizeof(*marks));
	uint32_t generation = 0;
	size_t total = 0;
	struct bpf_program *prog;

	if (!marks)
		return error_nomem();
	TRY(exception_callbacks_find(obj));
	vec_for_each (prog, &obj->programs) {
		if (!prog->autoload || prog->placed.n)
			continue;
		TRY(program_error_at(prog, program_lay_out(prog, marks, ++generation, &total)));
		TRY(program_error_at(prog, program_apply_core(prog)));
		TRY(program_error_at(prog, program_collect_info(prog)));
	}
	return NULL;
}

static struct error *patch_ksym(struct bpf_object *obj, const struct relo *relo,
				struct bpf_insn *insn)
{
	const bool is_call = relo->kind == RELO_KFUNC;
	struct extern_var *var = &obj->extern_vars[relo->index];

	/* What CO-RE found unreachable is no longer what it was. */
	if (insn->code != (is_call ? BPF_JMP | BPF_CALL : BPF_LD | BPF_IMM | BPF_DW))
		return NULL;
	TRY(ksym_resolve(obj, var));
	ksym_patch(obj, var, is_call, insn);
	return NULL;
}

/*
 * A map that the caller did not have created may be used by what is never
 * reached (a constant says so): both halves become a call of a helper that is
 * not there, which the verifier refuses only where it gets to.
 */
static void poison_map(uint32_t map, struct bpf_insn *insn)
{
	const struct bpf_insn call = {
		.code = BPF_JMP | BPF_CALL,
		.imm = MAP_POISON_BASE + (int32_t)map,
	};

	insn[0] = insn[1] = call;
}

struct error *program_patch(struct bpf_program *prog, struct bpf_insn *insns, bool before_maps)
{
	struct bpf_object *obj = prog->obj;
	const struct placed *placed;

	vec_for_each (placed, &prog->placed) {
		const struct function *fn = &obj->functions.v[placed->function];
		struct relo *end;

		for (struct relo *relo = relos_begin(obj, fn, &end); relo < end; relo++) {
			struct bpf_insn *insn = &insns[placed->at + relo->insn - fn->start];

			if (relo->kind == RELO_KSYM || relo->kind == RELO_KFUNC) {
				TRY(patch_ksym(obj, relo, insn));
				continue;
			}
			if (relo->kind == RELO_JUMP_TABLE) {
				TRY(jump_table_patch(prog, placed, relo, insn));
				continue;
			}
			if (relo->kind != RELO_MAP && relo->kind != RELO_DATA &&
			    relo->kind != RELO_KCONFIG)
				continue;
			/* What CO-RE found unreachable is no longer what it was. */
			if (insn->code != (BPF_LD | BPF_IMM | BPF_DW))
				continue;

			const struct bpf_map *map = &obj->maps.v[relo->index];
			if (map->fd < 0 && !(before_maps && map->autocreate)) {
				poison_map(relo->index, insn);
				continue;
			}
			if (relo->kind == RELO_MAP) {
				insn[0].src_reg = BPF_PSEUDO_MAP_FD;
				insn[1].imm = 0;
			} else {
				insn[0].src_reg = BPF_PSEUDO_MAP_VALUE;
				insn[1].imm =
					(int32_t)((uint32_t)insn[0].imm + (uint32_t)relo->addend);
			}
			insn[0].imm = map->fd;
		}
	}
	return NULL;
}
