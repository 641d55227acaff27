// SPDX-License-Identifier: BSD-2-Clause
/*
 * A relocation from its record to its result: read the local spec, find the
 * candidates (types of the target with the same name and kind, flavors
 * ignored), match the spec against each, calculate. Several candidates are
 * fine as long as they agree: a struct may be there twice, from two units, or
 * from two modules. Modules are asked only for types that the kernel proper
 * does not have.
 *
 * The target's name index makes the search one lookup, and two caches keep an
 * object with thousands of relocations cheap: candidates per local type, and
 * results per (type, access, kind), because inlined code repeats them. A
 * candidate that did not match once is dropped for the type's later
 * relocations, as libbpf does: all are about the same struct.
 */
#include "lib/core/internal.h"

#include <stdlib.h>
#include <string.h>

struct error *core_new(const struct btf *local, const struct btf *target, struct core **out)
{
	_cleanup_(core_freep) struct core *core = calloc(1, sizeof(*core));

	if (!core)
		return error_nomem();
	core->local = local;
	core->target = target;
	*out = steal_ptr(core);
	return NULL;
}

void core_set_modules(struct core *core, core_modules_fn *fn, void *ctx)
{
	core->modules_fn = fn;
	core->modules_ctx = ctx;
}

void core_free(struct core *core)
{
	struct u64map_slot *slot;
	struct core_poison *poison;

	if (!core)
		return;
	for (size_t pos = 0; (slot = u64map_next(&core->cands, &pos));) {
		struct core_cands *cands = slot->value;

		vec_deinit(&cands->v);
		free(cands);
	}
	for (size_t pos = 0; (slot = u64map_next(&core->known, &pos));)
		for (struct core_known *k = slot->value, *next; k; k = next) {
			next = k->next;
			free(k);
		}
	u64map_deinit(&core->cands);
	u64map_deinit(&core->known);
	vec_for_each (poison, &core->poisons)
		free(poison->why);
	vec_deinit(&core->poisons);
	free(core);
}

/* Adds what btf's own types have of the name. */
static struct error *add_cands(struct core_cands *cands, const struct btf *btf,
			       const struct btf_type *local_t, const char *name)
{
	TRY(btf_index_build(btf));
	for (uint32_t id = btf_find_first(btf, name); id; id = btf_find_next(btf, id)) {
		if (!btf_kind_core_compat(local_t, btf__type_by_id(btf, id)))
			continue;
		struct core_cand *cand = vec_push(&cands->v);
		if (!cand)
			return error_nomem();
		*cand = (struct core_cand){btf, id};
	}
	return NULL;
}

static void cands_freep(struct core_cands **cands)
{
	if (*cands)
		vec_deinit(&(*cands)->v);
	free(*cands);
}

/* What the kernel's modules have of the name. */
static struct error *add_module_cands(struct core *core, struct core_cands *cands,
				      const struct btf_type *local_t, const char *name)
{
	if (core->modules_fn) {
		TRY(core->modules_fn(core->modules_ctx, &core->modules));
		core->modules_fn = NULL;
		core->has_modules = true;
	}
	for (size_t i = 0; i < core->modules.n; i++)
		TRY(add_cands(cands, core->modules.btfs[i], local_t, name));
	return NULL;
}

static struct error *find_cands(struct core *core, uint32_t local_id, struct core_cands **out)
{
	struct core_cands *known = u64map_get(&core->cands, local_id);

	if (known) {
		*out = known;
		return NULL;
	}
	const struct btf_type *t = btf__type_by_id(core->local, local_id);
	const char *name = btf_name(core->local, t);
	_cleanup_(cands_freep) struct core_cands *cands = calloc(1, sizeof(*cands));
	if (!cands)
		return error_nomem();
	for (const struct btf *base = btf__base_btf(core->target); base; base = btf__base_btf(base))
		TRY(add_cands(cands, base, t, name));
	TRY(add_cands(cands, core->target, t, name));
	/* A type of the kernel proper hides those of modules that have its name, as in libbpf. */
	if (!cands->v.n)
		TRY(add_module_cands(core, cands, t, name));
	cands->nowhere = !cands->v.n;
	if (!u64map_put(&core->cands, local_id, cands))
		return error_nomem();
	*out = steal_ptr(cands);
	return NULL;
}

/* "size of field struct foo.bar: " before err's message. */
static struct error *about(struct error *err, const struct btf_core_relo *relo,
			   const struct core_spec *spec)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	if (!err || err->code == ENOMEM)
		return err;
	core_spec_describe(spec, relo->kind, &sb);
	return error_prefix(err, "CO-RE, %s %s", core_kind_name(relo->kind), strbuf_str(&sb));
}

/* "type 5 of the kernel", "type 130210 of module nf_nat" */
static void describe_cand(const struct core *core, const struct core_cand *cand, struct strbuf *sb)
{
	strbuf_addf(sb, "type %u of ", cand->id);
	for (size_t i = 0; i < core->modules.n; i++)
		if (core->modules.btfs[i] == cand->btf) {
			strbuf_addf(sb, "module %s", core->modules.names[i]);
			return;
		}
	strbuf_adds(sb, "the target");
}

static struct error *ambiguous(const struct core *core, const struct core_cand *a, uint64_t a_val,
			       const struct core_cand *b, uint64_t b_val)
{
	_cleanup_strbuf_ struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;

	describe_cand(core, a, &first);
	describe_cand(core, b, &second);
	return error_hint(error_new(ENOTUNIQ,
				    "ambiguous: %s and %s give different values, "
				    "%llu and %llu",
				    strbuf_str(&first), strbuf_str(&second),
				    (unsigned long long)a_val, (unsigned long long)b_val),
			  "to select one, use a ___flavor of the struct with a field that only "
			  "that type has");
}

/* Matches all candidates, and drops those that do not. */
static struct error *match_cands(struct core *core, const struct core_spec *local,
				 struct core_cands *cands, uint32_t kind, struct core_result *res)
{
	struct core_spec *spec = NULL, *first = NULL;
	_cleanup_free_ struct core_spec *specs = malloc(2 * sizeof(*specs));
	struct core_result one;
	size_t matches = 0;

	if (!specs)
		return error_nomem();
	first = &specs[0];
	spec = &specs[1];
	for (size_t i = 0; i < cands->v.n; i++) {
		bool matched = false;

		TRY(core_spec_match(core, local, &cands->v.v[i], kind, matches ? spec : first,
				    &matched));
		if (!matched)
			continue;
		TRY(core_calculate(kind, local, matches ? spec : first, &one));
		if (!matches) {
			*res = one;
		} else if (spec->bit_offset != first->bit_offset || one.poison != res->poison ||
			   one.new_val != res->new_val) {
			return ambiguous(core, &cands->v.v[0], res->new_val, &cands->v.v[i],
					 one.new_val);
		}
		cands->v.v[matches++] = cands->v.v[i];
	}
	if (matches)
		cands->v.n = matches;
	else
		TRY(core_calculate(kind, local, NULL, res));
	return NULL;
}

static struct error *resolve(struct core *core, const struct btf_core_relo *relo,
			     struct core_spec *local, struct core_result *out)
{
	const struct btf_type *t = btf__type_by_id(core->local, relo->type_id);
	const char *access = btf__str_by_offset(core->local, relo->access_str_off);
	struct core_cands *cands = NULL;

	core->work = CORE_MAX_WORK;
	if (!t || !relo->type_id)
		return error_new(EINVAL, "CO-RE: the BTF has no type %u", relo->type_id);
	if (!access)
		return error_new(EINVAL, "CO-RE: offset %u has no access string",
				 relo->access_str_off);
	if (relo->kind > CORE_TYPE_MATCHES)
		return error_hint(error_new(EINVAL, "CO-RE: unknown relocation kind %u",
					    relo->kind),
				  "the compiler is newer than this version of perf-bpf");
	TRY(about(core_spec_parse(core->local, relo->type_id, relo->kind, access, local), relo,
		  local));
	if (relo->kind == CORE_TYPE_ID_LOCAL) {
		*out = (struct core_result){.orig_val = relo->type_id, .new_val = relo->type_id};
		return NULL;
	}
	if (!*btf_name(core->local, t))
		return error_hint(about(error_new(EINVAL, "the type has no name"), relo, local),
				  "give the type a name: types are matched by name");
	TRY(find_cands(core, relo->type_id, &cands));
	return about(match_cands(core, local, cands, relo->kind, out), relo, local);
}

static uint64_t known_key(const struct btf_core_relo *relo)
{
	return (uint64_t)relo->type_id << 32 | relo->access_str_off;
}

struct error *core_resolve(struct core *core, const struct btf_core_relo *relo,
			   struct core_result *out)
{
	struct core_known *same = u64map_get(&core->known, known_key(relo));

	for (struct core_known *k = same; k; k = k->next)
		if (k->relo.kind == relo->kind) {
			*out = k->result;
			return NULL;
		}

	_cleanup_free_ struct core_spec *local = malloc(sizeof(*local));
	_cleanup_free_ struct core_known *known = malloc(sizeof(*known));
	struct core_result res;
	if (!local || !known)
		return error_nomem();
	TRY(resolve(core, relo, local, &res));
	*known = (struct core_known){*relo, res, same};
	if (!u64map_put(&core->known, known_key(relo), known))
		return error_nomem();
	steal_ptr(known);
	*out = res;
	return NULL;
}
