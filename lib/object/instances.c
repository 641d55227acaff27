// SPDX-License-Identifier: BSD-2-Clause
/*
 * Instances: one program loaded several times, each time with instructions of
 * its own, which a preprocessor of the user's makes of the final ones. So a
 * probe on functions that keep an argument in different places has a prologue
 * for each place and one program behind it.
 *
 * Forms are the same for the rooms above: code in front that calls the program,
 * and a target, which is part of what makes two of them equal.
 *
 * The preprocessor may use one buffer for all instances, so each is loaded
 * before the next is asked for. Equal ones are loaded once: the instructions of
 * those that were loaded are kept until the last one is.
 *
 * While one is loaded its instructions and records stand in the program, so
 * that what loads programs, and what explains a refusal, sees them.
 */
#include "lib/object/load_object.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "lib/btf/sanitize.h"

/* One that was loaded. */
struct variant {
	struct bpf_insn *insns; /* owned */
	size_t n;
	struct instance_target target;
	char *where; /* owned: the target's name, with its module; NULL: none */
	int fd;
};

struct variants {
	VEC(struct variant) v;
	struct u64map by_hash; /* to 1 + its number */
	size_t total;	       /* instructions */
};

static void variants_deinit(struct variants *variants)
{
	struct variant *v;

	vec_for_each (v, &variants->v) {
		free(v->insns);
		free(v->where);
	}
	vec_deinit(&variants->v);
	u64map_deinit(&variants->by_hash);
}

static bool targets_equal(const struct instance_target *a, const struct instance_target *b)
{
	return a->type == b->type && a->attach_type == b->attach_type && a->btf_id == b->btf_id;
}

static bool names_equal(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static struct instance_target target_of(const struct bpf_program *prog)
{
	return (struct instance_target){
		.type = prog->type,
		.attach_type = prog->attach_type,
		.btf_id = prog->attach_btf_id,
	};
}

static uint64_t variant_hash(const struct instance_target *target, const struct bpf_insn *insns,
			     size_t n)
{
	return hash_bytes(insns, n * sizeof(*insns)) ^
	       hash_u64((uint64_t)target->attach_type << 32 | target->btf_id);
}

static const struct variant *find_equal(const struct variants *variants, uint64_t hash,
					const struct instance_target *target, const char *where,
					const struct bpf_insn *insns, size_t n)
{
	const size_t number = (size_t)(uintptr_t)u64map_get(&variants->by_hash, hash);
	const struct variant *v = number ? &variants->v.v[number - 1] : NULL;

	if (!v || !v->insns || v->n != n || !targets_equal(&v->target, target) ||
	    !names_equal(v->where, where))
		return NULL;
	return memcmp(v->insns, insns, n * sizeof(*insns)) ? NULL : v;
}

/* What a program is loaded with. */
struct body {
	const struct bpf_insn *insns;
	struct bpf_insn *owned; /* insns, or NULL */
	size_t n;
	struct insn_info info;
};

/* Its instructions and records change places with the program's. */
static void body_swap(struct body *body, struct bpf_program *prog)
{
	const struct body was = {
		.insns = prog->insns,
		.owned = prog->owned_insns,
		.n = prog->n_insns,
		.info = {prog->func_info, prog->n_func_info, prog->line_info, prog->n_line_info},
	};

	prog->insns = body->insns;
	prog->owned_insns = body->owned;
	prog->n_insns = body->n;
	prog->func_info = body->info.funcs;
	prog->n_func_info = body->info.n_funcs;
	prog->line_info = body->info.lines;
	prog->n_line_info = body->info.n_lines;
	*body = was;
}

static void body_deinit(struct body *body)
{
	free(body->owned);
	insn_info_deinit(&body->info);
}

static struct error *find_places(const struct bpf_program *prog,
				 const struct bpf_prog_prep_result *res, int32_t *map)
{
	const size_t m = (size_t)res->new_insn_cnt;

	if (!res->new_insn_at) {
		insns_compare(prog->insns, prog->n_insns, res->new_insn_ptr, m, map);
		return NULL;
	}
	memcpy(map, res->new_insn_at, prog->n_insns * sizeof(*map));
	return insns_check_map(map, prog->n_insns, m);
}

static struct error *load_variant(struct bpf_program *prog, const struct bpf_prog_prep_result *res,
				  struct variant *variant)
{
	const struct insn_info old = {prog->func_info, prog->n_func_info, prog->line_info,
				      prog->n_line_info};
	_cleanup_(body_deinit) struct body body = {.n = variant->n};
	_cleanup_free_ int32_t *map = calloc(prog->n_insns, sizeof(*map));
	struct bpf_insn *copy = body.owned = malloc(variant->n * sizeof(*copy));

	if (!map || !copy)
		return error_nomem();
	body.insns = copy;
	memcpy(copy, res->new_insn_ptr, variant->n * sizeof(*copy));
	TRY(find_places(prog, res, map));
	TRY(insn_info_move(&old, map, copy, variant->n, &body.info));

	body_swap(&body, prog);
	struct error *err = program_load_insns(prog, &variant->fd);
	body_swap(&body, prog);
	/* Unless a handler put others in their place: then it is not compared with. */
	if (!err && body.owned == copy)
		variant->insns = steal_ptr(body.owned);
	return err;
}

static struct error *load_instance(struct bpf_program *prog, struct variants *variants,
				   const struct bpf_prog_prep_result *res,
				   struct program_instance *instance)
{
	const size_t n = (size_t)res->new_insn_cnt;

	if (n > PROGRAM_INSNS_MAX || variants->total + n > OBJECT_INSNS_MAX)
		return error_new(E2BIG,
				 "it has %zu instructions, but the earlier instances have %zu", n,
				 variants->total);
	instance->target = target_of(prog);
	const uint64_t hash = variant_hash(&instance->target, res->new_insn_ptr, n);
	const struct variant *equal = find_equal(variants, hash, &instance->target,
						 prog->attach_target, res->new_insn_ptr, n);
	if (equal) {
		instance->fd = equal->fd;
		return NULL;
	}
	struct variant *variant = vec_push(&variants->v);
	if (!variant)
		return error_nomem();
	variant->n = n;
	variant->target = instance->target;
	variant->where = prog->attach_target ? strdup(prog->attach_target) : NULL;
	struct error *err = prog->attach_target && !variant->where
				    ? error_nomem()
				    : load_variant(prog, res, variant);
	if (err) {
		free(variant->where);
		variants->v.n--;
		return err;
	}
	instance->fd = variant->fd;
	instance->owner = true;
	variants->total += n;
	if (!u64map_get(&variants->by_hash, hash) &&
	    !u64map_put(&variants->by_hash, hash, (void *)(uintptr_t)variants->v.n))
		return error_nomem();
	return NULL;
}

static struct error *make_instance(struct bpf_program *prog, struct variants *variants,
				   struct bpf_insn *scratch, int number)
{
	struct program_instance *instance = &prog->instances[number];
	struct bpf_prog_prep_result res = {0};

	/* A preprocessor may work in place. */
	memcpy(scratch, prog->insns, prog->n_insns * sizeof(*scratch));
	const int ret = prog->prep(prog, number, scratch, (int)prog->n_insns, &res);
	if (ret)
		return error_errno(ret < 0 && ret > INT_MIN ? -ret : ECANCELED,
				   "its preprocessor failed");
	if (res.new_insn_ptr && res.new_insn_cnt > 0)
		TRY(load_instance(prog, variants, &res, instance));
	if (res.pfd)
		*res.pfd = instance->fd;
	return NULL;
}

static struct error *set_target(struct bpf_program *prog, const struct program_form *form)
{
	prog->type = form->type;
	prog->attach_type = form->attach_type;
	if (!form->target) {
		free(prog->attach_target);
		prog->attach_target = NULL;
		if (prog->attach_btf_obj_fd > 0)
			close(prog->attach_btf_obj_fd);
		prog->attach_btf_obj_fd = 0;
		prog->attach_btf_id = 0;
		return NULL;
	}
	if (bpf_program__set_attach_target(prog, 0, form->target))
		return error_errno(errno, "cannot attach to %s", form->target);
	if (form->btf_id)
		prog->attach_btf_id = form->btf_id;
	return program_find_target(prog);
}

static struct error *load_form(struct bpf_program *prog, struct variants *variants, int number,
			       struct program_form *form)
{
	_cleanup_free_ struct bpf_insn *both = NULL;
	_cleanup_free_ int32_t *map = NULL;

	TRY(prog->form(prog->form_ctx, (size_t)number, form));
	TRY(set_target(prog, form));
	const size_t before = prog->n_gate + form->n_front, n = before + prog->n_insns;
	if (n > PROGRAM_INSNS_MAX)
		return error_new(E2BIG, "it has %zu instructions", n);
	both = malloc(n * sizeof(*both));
	map = malloc(prog->n_insns * sizeof(*map));
	if (!both || !map)
		return error_nomem();
	if (prog->n_gate)
		memcpy(both, prog->gate, prog->n_gate * sizeof(*both));
	if (form->n_front)
		memcpy(both + prog->n_gate, form->front, form->n_front * sizeof(*both));
	memcpy(both + before, prog->insns, prog->n_insns * sizeof(*both));
	for (size_t i = 0; i < prog->n_insns; i++)
		map[i] = (int32_t)(before + i);
	const struct bpf_prog_prep_result res = {
		.new_insn_ptr = both, .new_insn_cnt = (int)n, .new_insn_at = map};
	return load_instance(prog, variants, &res, &prog->instances[number]);
}

static struct error *make_form(struct bpf_program *prog, struct variants *variants, int number)
{
	struct program_form form = {0};
	struct error *err = load_form(prog, variants, number, &form);

	if (!err || !form.has_plain)
		return err;
	error_free(err);
	form = (struct program_form){.plain = true};
	return load_form(prog, variants, number, &form);
}

struct error *instances_load(struct bpf_program *prog)
{
	_cleanup_(variants_deinit) struct variants variants = {0};
	_cleanup_free_ struct bpf_insn *scratch = malloc(prog->n_insns * sizeof(*scratch));

	prog->instances = calloc((size_t)prog->n_instances, sizeof(*prog->instances));
	if (!scratch || !prog->instances)
		return error_nomem();
	for (int i = 0; i < prog->n_instances; i++)
		prog->instances[i].fd = -1;
	for (int i = 0; i < prog->n_instances; i++)
		TRY(error_at(prog->form ? make_form(prog, &variants, i)
					: make_instance(prog, &variants, scratch, i),
			     "instance %d", i));
	prog->fd = prog->instances[0].fd;
	return NULL;
}

void instances_unload(struct bpf_program *prog)
{
	for (int i = 0; prog->instances && i < prog->n_instances; i++)
		if (prog->instances[i].owner)
			close(prog->instances[i].fd);
	free(prog->instances);
	prog->instances = NULL;
	prog->fd = -1;
}

int bpf_program__set_prep(struct bpf_program *prog, int nr_instance, bpf_program_prep_t prep)
{
	if (!prog || nr_instance <= 0 || !prep)
		return edge_errno(EINVAL);
	if (prog->fd >= 0 || prog->instances || prog->form || prog->obj->state == OBJECT_LOADED)
		return edge_errno(EBUSY);
	prog->prep = prep;
	prog->n_instances = nr_instance;
	return 0;
}

static bool is_name(void *name, const char *other)
{
	return !strcmp(name, other);
}

struct error *program_set_forms(struct bpf_program *prog, size_t n, program_form_fn *fn, void *ctx)
{
	if (prog->prep || prog->obj->state != OBJECT_OPEN)
		return error_new(EBUSY, "the program already has a preprocessor or is loaded");
	if (!n || n > INT_MAX)
		return error_new(EINVAL, "%zu instances", n);
	/* A global function would be verified for any arguments; this one gets those it is given.
	 */
	if (prog->obj->btf)
		TRY(btf_hide_funcs(prog->obj->btf, is_name, (void *)(uintptr_t)prog->fn->name));
	prog->form = fn;
	prog->form_ctx = ctx;
	prog->n_instances = (int)n;
	return NULL;
}

/* program_form_fn of a program that has a gate and no forms; ctx: the program */
static struct error *plain_form(void *ctx, size_t i, struct program_form *form)
{
	const struct bpf_program *prog = ctx;

	(void)i;
	form->type = prog->type;
	form->attach_type = prog->attach_type;
	return NULL;
}

struct error *program_set_gate(struct bpf_program *prog, const struct bpf_insn *insns, size_t n)
{
	if (prog->prep || prog->obj->state != OBJECT_OPEN)
		return error_new(EBUSY, "the program already has a preprocessor or is loaded");
	if (!prog->form) {
		prog->form = plain_form;
		prog->form_ctx = prog;
		prog->n_instances = 1;
	}
	prog->gate = insns;
	prog->n_gate = n;
	return NULL;
}

void program_use_form(struct bpf_program *prog, size_t i)
{
	const struct program_instance *instance = &prog->instances[i];

	prog->fd = instance->fd;
	prog->type = instance->target.type;
	prog->attach_type = instance->target.attach_type;
}

int bpf_program__nth_fd(const struct bpf_program *prog, int n)
{
	if (!prog || n < 0 || n >= max_of(prog->n_instances, 1))
		return edge_errno(EINVAL);
	if (!prog->prep && !prog->form)
		return bpf_program__fd(prog);
	if (!prog->instances || prog->instances[n].fd < 0)
		return edge_errno(ENOENT);
	return prog->instances[n].fd;
}

/* Whether nothing in it leads out of it but to its end, and it ends between instructions. */
static bool is_whole(const struct bpf_insn *insns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct bpf_insn *insn = &insns[i];
		const uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);
		int64_t target = (int64_t)i + 1;

		if (insn->code == (BPF_LD | BPF_IMM | BPF_DW)) {
			if (insn->src_reg == BPF_PSEUDO_FUNC || ++i == n)
				return false;
			continue;
		}
		if ((class != BPF_JMP && class != BPF_JMP32) || op == BPF_EXIT)
			continue;
		if (op == BPF_CALL) {
			if (insn->src_reg == BPF_PSEUDO_CALL)
				return false;
			continue;
		}
		target += insn->code == (BPF_JMP32 | BPF_JA) ? insn->imm : insn->off;
		if (target < 0 || target > (int64_t)n)
			return false;
	}
	return true;
}

int perf_bpf_prepend_insns(const struct bpf_insn *prologue, size_t prologue_cnt,
			   const struct bpf_insn *insns, size_t insn_cnt, struct bpf_insn **out)
{
	if (!prologue || !insns || !insn_cnt || prologue_cnt > PROGRAM_INSNS_MAX ||
	    insn_cnt > PROGRAM_INSNS_MAX - prologue_cnt || !is_whole(prologue, prologue_cnt))
		return edge_errno(EINVAL);
	struct bpf_insn *both = malloc((prologue_cnt + insn_cnt) * sizeof(*both));
	if (!both)
		return edge_errno(ENOMEM);
	memcpy(both, prologue, prologue_cnt * sizeof(*both));
	memcpy(both + prologue_cnt, insns, insn_cnt * sizeof(*both));
	*out = both;
	return (int)(prologue_cnt + insn_cnt);
}
