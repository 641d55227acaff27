// SPDX-License-Identifier: BSD-2-Clause
/*
 * A call of a helper that fails because a ring or a map is full loses what it
 * was to keep, and many programs do not look at what it returns. Behind each of
 * these calls the loader puts code that counts failures, by map:
 *
 *	if w0 == 0 goto next		// it went well
 *	r1 = the map's counter
 *	r2 = 1
 *	lock *(u64 *)(r1 + 0) += r2
 * next:
 *
 * The registers r1 to r5 are free behind a call, so nothing has to be kept, and
 * r0 stays what it was. The counters are one value of an array: no lookup, and
 * no call that would need room on the frame. They are shared by all CPUs, since
 * only failures touch them. All of this is known to kernels since 5.2.
 *
 * The comparisons are of 32 bits: the kernel calls the update function of a map
 * directly, and before 6.4 that returned an int, whose upper half is undefined.
 *
 * -EEXIST and -ENOENT of an update are answers to BPF_NOEXIST and BPF_EXIST, not
 * losses. Of bpf_get_stackid(), -EEXIST and -ENOMEM are stacks for which there
 * was no room; -EFAULT says that there is no stack.
 *
 * A pointer that was compared with 0 is known not to be 0 behind that, but kernels
 * before 5.11 forget this for the memory of a ring, look at the program's own
 * comparison as if it could be 0, and miss its release there. For them there is
 * plainer code: it compares the lower half, of which the verifier concludes
 * nothing. That half is 0 for a pointer only if the ring lies across a multiple of
 * 4 GB and a record begins exactly there.
 *
 * What must never happen is a number that is too small and looks complete. A map
 * is incomplete when a program that uses it cannot be analyzed, is refused with
 * the counting code, or calls helpers with maps that are not known before it
 * runs; and when other processes can write to it. A helper of a later kernel may fill
 * the maps that it gets: their losses are not complete, or those of no map if it may
 * get one that is not known.
 */
#include "lib/object/loss_counters.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/object/insn_flow.h"
#include "lib/object/prepare.h"
#include "lib/sys/uapi.h"

enum {
	COUNTER_INSNS = 4, /* of which the first takes two */
	MAX_PER_CALL = 3 + COUNTER_INSNS,
};

/* When a call has failed. */
enum failure_test {
	FAILS_NEVER,   /* or in ways that lose nothing */
	FAILS_IF_ZERO, /* a pointer */
	FAILS_IF_NOT_ZERO,
	FAILS_IF_NO_ROOM,     /* not 0, -EEXIST or -ENOENT */
	FAILS_IF_STACK_TAKEN, /* -EEXIST or -ENOMEM */
};

static enum failure_test test_of(int32_t helper, unsigned *map_reg)
{
	*map_reg = 1;
	switch (helper) {
	case BPF_FUNC_map_update_elem:
	case BPF_FUNC_map_push_elem:
		return FAILS_IF_NO_ROOM;
	case BPF_FUNC_ringbuf_reserve:
		return FAILS_IF_ZERO;
	case BPF_FUNC_ringbuf_output:
	case BPF_FUNC_ringbuf_reserve_dynptr:
		return FAILS_IF_NOT_ZERO;
	case BPF_FUNC_perf_event_output:
	case BPF_FUNC_skb_output:
	case BPF_FUNC_xdp_output:
		*map_reg = 2;
		return FAILS_IF_NOT_ZERO;
	case BPF_FUNC_get_stackid:
		*map_reg = 2;
		return FAILS_IF_STACK_TAKEN;
	default:
		return FAILS_NEVER;
	}
}

struct counted_call {
	size_t insn;
	enum failure_test test;
	size_t counter; /* the map's number, or that of unknown maps */
};

struct call_search {
	const struct bpf_program *prog;
	bool plain;
	VEC(struct counted_call) calls;
	VEC(struct map_store) stores;
};

/* The number of the map with a descriptor; n_maps: none of the object's. */
static size_t map_of_fd(const struct bpf_object *obj, int fd)
{
	size_t i = 0;

	while (i < obj->maps.n && (obj->maps.v[i].fd < 0 || obj->maps.v[i].fd != fd))
		i++;
	return i;
}

/* What a helper does of which we only know the number. */
static void see_unknown_helper(struct loss_counters *losses, const struct bpf_object *obj,
			       const struct flow_value *regs)
{
	bool any = false;

	for (unsigned reg = 1; reg <= 5; reg++) {
		if (regs[reg].kind != FLOW_MAP)
			continue;
		losses->incomplete[map_of_fd(obj, regs[reg].map)] = true;
		any = true;
	}
	if (!any)
		losses->incomplete[losses->n_maps] = true;
}

static struct error *see_call(void *ctx, size_t insn, const struct flow_value *regs)
{
	struct call_search *s = ctx;
	unsigned reg;
	const int32_t helper = s->prog->insns[insn].imm;
	const enum failure_test test = test_of(helper, &reg);

	/* Code that this kernel cannot reach: the verifier would refuse it. */
	if (helper >= MAP_POISON_BASE)
		return NULL;
	if (helper < 0 || helper >= __BPF_FUNC_MAX_ID)
		see_unknown_helper(s->prog->obj->losses, s->prog->obj, regs);
	if (test == FAILS_NEVER)
		return NULL;
	struct counted_call *call = vec_push(&s->calls);
	if (!call)
		return error_nomem();
	call->insn = insn;
	call->test = test;
	call->counter = regs[reg].kind == FLOW_MAP ? map_of_fd(s->prog->obj, regs[reg].map)
						   : s->prog->obj->losses->n_maps;
	return NULL;
}

static struct error *see_store(void *ctx, const struct flow_value *to, uint32_t size, bool adds)
{
	struct call_search *s = ctx;
	const size_t map = map_of_fd(s->prog->obj, to->map);

	if (map == s->prog->obj->maps.n)
		return NULL;
	struct map_store *store = vec_push(&s->stores);
	if (!store)
		return error_nomem();
	*store = (struct map_store){
		.map = &s->prog->obj->maps.v[map],
		.off = to->off,
		.size = size,
		.varies = to->varies,
		.adds = adds,
	};
	return NULL;
}

/* ---- new instructions ---- */

static size_t add_test(struct bpf_insn *to, enum failure_test test, bool plain)
{
	const uint8_t equal = BPF_JMP32 | BPF_JEQ | BPF_K, unequal = BPF_JMP32 | BPF_JNE | BPF_K;

	switch (test) {
	case FAILS_IF_ZERO:
		to[0] = (struct bpf_insn){.code = plain ? unequal : BPF_JMP | BPF_JNE | BPF_K,
					  .off = COUNTER_INSNS};
		return 1;
	case FAILS_IF_NO_ROOM:
		to[0] = (struct bpf_insn){.code = equal, .off = COUNTER_INSNS + 2};
		to[1] = (struct bpf_insn){.code = equal, .off = COUNTER_INSNS + 1, .imm = -EEXIST};
		to[2] = (struct bpf_insn){.code = equal, .off = COUNTER_INSNS, .imm = -ENOENT};
		return 3;
	case FAILS_IF_STACK_TAKEN:
		to[0] = (struct bpf_insn){.code = equal, .off = 1, .imm = -EEXIST};
		to[1] = (struct bpf_insn){.code = unequal, .off = COUNTER_INSNS, .imm = -ENOMEM};
		return 2;
	default:
		to[0] = (struct bpf_insn){.code = equal, .off = COUNTER_INSNS};
		return 1;
	}
}

static size_t add_code(struct bpf_insn *to, const struct counted_call *call, bool plain, int fd)
{
	const size_t n = add_test(to, call->test, plain);

	to[n] = (struct bpf_insn){
		.code = BPF_LD | BPF_IMM | BPF_DW,
		.dst_reg = 1,
		.src_reg = BPF_PSEUDO_MAP_VALUE,
		.imm = fd,
	};
	to[n + 1] = (struct bpf_insn){.imm = (int32_t)(call->counter * sizeof(uint64_t))};
	to[n + 2] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 1};
	to[n + 3] = (struct bpf_insn){
		.code = BPF_STX | BPF_ATOMIC | BPF_DW,
		.dst_reg = 1,
		.src_reg = 2,
		.imm = BPF_ADD,
	};
	return n + COUNTER_INSNS;
}

/* The distance from the instruction at `from`, which is now at map[from], to its target. */
static struct error *move_target(struct bpf_insn *insn, size_t from, int32_t distance,
				 const int32_t *map, size_t n, bool far)
{
	const int64_t target = (int64_t)from + 1 + distance;

	if (target < 0 || target >= (int64_t)n)
		return error_new(EINVAL, "a jump leads out of the program");
	const int64_t moved = (int64_t)map[target] - map[from] - 1;
	if (!far && moved != (int16_t)moved)
		return error_new(E2BIG, "a jump would be too long");
	if (far)
		insn->imm = (int32_t)moved;
	else
		insn->off = (int16_t)moved;
	return NULL;
}

static struct error *move_jumps(const struct bpf_insn *old, size_t n, const int32_t *map,
				struct bpf_insn *new)
{
	for (size_t i = 0; i < n; i++) {
		const struct bpf_insn *insn = &old[i];
		const uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);
		const bool wide = insn->code == (BPF_LD | BPF_IMM | BPF_DW);
		const bool call = insn->code == (BPF_JMP | BPF_CALL);

		if (wide || call) {
			if (insn->src_reg == (wide ? BPF_PSEUDO_FUNC : BPF_PSEUDO_CALL))
				TRY(move_target(&new[map[i]], i, insn->imm, map, n, true));
			i += wide;
			continue;
		}
		if ((class != BPF_JMP && class != BPF_JMP32) || op == BPF_EXIT || op == BPF_CALL)
			continue;
		const bool far = insn->code == (BPF_JMP32 | BPF_JA);
		TRY(move_target(&new[map[i]], i, far ? insn->imm : insn->off, map, n, far));
	}
	return NULL;
}

static struct error *write_counted(const struct bpf_program *prog, const struct call_search *s,
				   struct counted_insns *counted)
{
	const struct insn_info info = {prog->func_info, prog->n_func_info, prog->line_info,
				       prog->n_line_info};
	_cleanup_free_ int32_t *map = malloc(prog->n_insns * sizeof(*map));
	const struct counted_call *call = s->calls.v, *end = call + s->calls.n;
	size_t at = 0;

	counted->insns =
		malloc((prog->n_insns + s->calls.n * MAX_PER_CALL) * sizeof(*counted->insns));
	if (!map || !counted->insns)
		return error_nomem();
	for (size_t i = 0; i < prog->n_insns; i++) {
		map[i] = (int32_t)at;
		counted->insns[at++] = prog->insns[i];
		if (call < end && call->insn == i)
			at += add_code(&counted->insns[at], call++, s->plain,
				       prog->obj->losses->fd);
	}
	counted->n = at;
	TRY(move_jumps(prog->insns, prog->n_insns, map, counted->insns));
	return insn_info_move(&info, map, counted->insns, at, &counted->info);
}

void counted_insns_deinit(struct counted_insns *counted)
{
	free(counted->insns);
	insn_info_deinit(&counted->info);
}

/* ---- an object's ---- */

struct error *loss_counters_create(struct bpf_object *obj)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	struct loss_counters *losses = obj->losses;

	if (!losses || losses->incomplete)
		return NULL;
	losses->n_maps = obj->maps.n;
	losses->incomplete = calloc(obj->maps.n + 1, sizeof(*losses->incomplete));
	if (!losses->incomplete)
		return error_nomem();
	opts.token_fd = (__u32)obj->token_fd;
	opts.map_flags = obj->token_fd ? BPF_F_TOKEN_FD : 0;
	losses->fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "perf_bpf_losses", sizeof(uint32_t),
				    (uint32_t)((obj->maps.n + 1) * sizeof(uint64_t)), 1, &opts);
	if (losses->fd < 0)
		log_debug(obj->log, "%s: losses are not counted: cannot create a map: %s",
			  obj->path, strerror(errno));
	return NULL;
}

void loss_counters_free(struct loss_counters *losses)
{
	if (!losses)
		return;
	if (losses->fd >= 0)
		close(losses->fd);
	free(losses->incomplete);
	vec_deinit(&losses->stores);
	free(losses);
}

static void mark_all(struct loss_counters *losses)
{
	for (size_t i = 0; i <= losses->n_maps; i++)
		losses->incomplete[i] = true;
}

/* Exclusive maps and maps of jump tables are made for the instructions as they are. */
static bool must_stay(const struct bpf_program *prog)
{
	const struct jump_table *table;
	const struct bpf_map *map;

	vec_for_each (map, &prog->obj->maps)
		if (map->exclusive == prog)
			return true;
	vec_for_each (table, &prog->obj->jump_tables)
		if (table->prog == prog)
			return true;
	return prog->ifindex || prog->handler.prepare_load;
}

static int by_insn(const void *a, const void *b)
{
	const struct counted_call *x = a, *y = b;

	return x->insn < y->insn ? -1 : x->insn > y->insn;
}

static struct error *search(struct call_search *s)
{
	const struct flow_visitor visitor = {.ctx = s, .call = see_call, .store = see_store};
	struct loss_counters *losses = s->prog->obj->losses;

	TRY(insn_flow_visit(s->prog->insns, s->prog->n_insns, &visitor));
	for (size_t i = 0; i < s->stores.n && !s->plain; i++) {
		struct map_store *store = vec_push(&losses->stores);

		if (!store)
			return error_nomem();
		*store = s->stores.v[i];
	}
	if (s->calls.n)
		qsort(s->calls.v, s->calls.n, sizeof(*s->calls.v), by_insn);
	return NULL;
}

static struct error *count_calls(const struct bpf_program *prog, struct call_search *s,
				 struct counted_insns *counted)
{
	struct loss_counters *losses = prog->obj->losses;
	struct error *err = search(s);

	if (err) {
		losses->stores_incomplete = true;
		return err;
	}
	if (!s->calls.n)
		return NULL;
	if (losses->fd < 0 || must_stay(prog))
		return error_new(ENOTSUP, "its instructions cannot be changed");
	for (size_t i = 0; i < s->calls.n; i++) {
		if (s->calls.v[i].counter == losses->n_maps)
			losses->incomplete[losses->n_maps] = true;
		if (s->calls.v[i].test == FAILS_IF_ZERO)
			counted->has_plain = !s->plain;
	}
	return write_counted(prog, s, counted);
}

struct error *loss_counters_add(const struct bpf_program *prog, bool plain,
				struct counted_insns *counted)
{
	struct call_search s = {.prog = prog, .plain = plain};
	struct error *err = count_calls(prog, &s, counted);

	vec_deinit(&s.calls);
	vec_deinit(&s.stores);
	if (!err)
		return NULL;
	counted_insns_deinit(counted);
	*counted = (struct counted_insns){0};
	if (err->code == ENOMEM)
		return err;
	log_debug(prog->obj->log, "%s: program %s: losses are not counted: %s", prog->obj->path,
		  prog->fn->name, err->msg);
	error_free(err);
	mark_all(prog->obj->losses);
	return NULL;
}

void loss_counters_refused(const struct bpf_program *prog)
{
	log_debug(prog->obj->log,
		  "%s: program %s: losses are not counted: the kernel refused the code that counts",
		  prog->obj->path, prog->fn->name);
	mark_all(prog->obj->losses);
}

struct error *object_count_losses(struct bpf_object *obj)
{
	if (obj->state != OBJECT_OPEN)
		return error_new(EINVAL, "the object is already prepared");
	if (obj->losses)
		return NULL;
	obj->losses = calloc(1, sizeof(*obj->losses));
	if (!obj->losses)
		return error_nomem();
	obj->losses->fd = -1;
	return NULL;
}

static uint64_t read_counter(const struct bpf_object *obj, size_t i)
{
	const struct loss_counters *losses = obj->losses;
	const uint32_t zero = 0;
	_cleanup_free_ uint64_t *counters = calloc(losses->n_maps + 1, sizeof(*counters));

	if (!counters || bpf_map_lookup_elem(losses->fd, &zero, counters))
		return 0;
	return counters[i];
}

bool object_losses(const struct bpf_object *obj, const struct bpf_map *map, uint64_t *n)
{
	const struct loss_counters *losses = obj->losses;
	const size_t i = (size_t)(map - obj->maps.v);

	*n = 0;
	if (!losses || losses->fd < 0 || obj->state != OBJECT_LOADED)
		return false;
	*n = read_counter(obj, i);
	return !losses->incomplete[i] && !losses->incomplete[losses->n_maps] && !map->reused &&
	       !map->pinned;
}

uint64_t object_losses_elsewhere(const struct bpf_object *obj)
{
	const struct loss_counters *losses = obj->losses;

	return losses && losses->fd >= 0 ? read_counter(obj, losses->n_maps) : 0;
}

bool object_map_stores(const struct bpf_object *obj, const struct map_store **stores, size_t *n)
{
	const struct loss_counters *losses = obj->losses;

	*stores = losses ? losses->stores.v : NULL;
	*n = losses ? losses->stores.n : 0;
	return losses && !losses->stores_incomplete;
}
