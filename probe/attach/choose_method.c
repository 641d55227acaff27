// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which way each point is attached: the first of its kind, cheapest first, that
 * has nothing against it. What was against the cheaper ones is told by -v, each
 * reason once.
 *
 * Points with equal arguments then share a form of the program, as far as
 * their ways allow: fentry programs are each for one function; static data of
 * a process is found by its distance from the point; and without cookies, a
 * counter has its number in the code.
 */
#include <stdarg.h>
#include <string.h>

#include "lib/sys/bpf_syscall.h"
#include "lib/sys/probe_events.h"
#include "probe/attach/internal.h"

enum {
	MAX_FENTRY_WORDS = 12, /* MAX_BPF_FUNC_ARGS of the kernel */
};

/* Why a way is not taken, and by how many points. */
struct reason {
	enum probe_way way;
	char *why;
	const char *first; /* a function that it is true of */
	size_t n;
};

struct chooser {
	struct set_prog *prog;
	bool kernel;
	size_t n_fentry; /* points that fentry would do for */

	bool functions_read;
	struct sys_kfuncs functions; /* those that ftrace knows */
	struct strmap traceable;     /* name to 1 + the index of the first of that name */

	VEC(struct reason) reasons;
};

static void chooser_deinit(struct chooser *c)
{
	struct reason *reason;

	sys_kfuncs_deinit(&c->functions);
	strmap_deinit(&c->traceable);
	vec_for_each (reason, &c->reasons)
		free(reason->why);
	vec_deinit(&c->reasons);
}

struct error *place_refuse(struct place *place, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	free(place->refused);
	place->refused = strbuf_steal(&sb);
	return place->refused ? NULL : error_nomem();
}

void place_values(const struct set_prog *prog, size_t point, struct fetch_value *values)
{
	for (size_t i = 0; i < prog->shape.n; i++)
		values[i] = prog->points.v[point].args[prog->shape.args[i]];
}

bool way_has_cookie(enum probe_way way)
{
	switch (way) {
	case PROBE_WAY_KPROBE_MULTI:
	case PROBE_WAY_UPROBE_MULTI:
		return true;
	case PROBE_WAY_FENTRY:
		return false;
	default:
		return sys_bpf_has(SYS_BPF_COOKIE) && sys_bpf_has(SYS_BPF_PERF_LINK);
	}
}

bool set_prog_counts(const struct set_prog *prog)
{
	return prog->set->opts.count_hits ||
	       (!prog->points.path && prog->shape.prologue.ip_offset >= 0);
}

static bool uses(const struct fetch_value *values, size_t n, enum fetch_op op)
{
	for (size_t i = 0; i < n; i++)
		for (size_t p = 0; p < values[i].n_pieces; p++)
			for (size_t k = 0; k < values[i].pieces[p].n_insns; k++)
				if (values[i].pieces[p].insns[k].op == op)
					return true;
	return false;
}

struct prologue_way place_way(const struct set_prog *prog, size_t i, enum probe_way way)
{
	const struct probe_point *point = &prog->points.v[i];
	const bool user = prog->points.path != NULL;

	return (struct prologue_way){
		.context = way == PROBE_WAY_FENTRY ? PROLOGUE_TYPED : PROLOGUE_PT_REGS,
		.regs = regs_of(prog->points.machine),
		.user = user,
		.at_return = point->at_return,
		.ftrace_regs = way == PROBE_WAY_KPROBE_MULTI,
		.keeps_return = prog->set->opts.events,
		.n_params = point->n_words,
		.has_func_arg = prog->set->trials.func_arg == TRIAL_YES,
		.has_func_ip = prog->set->trials.func_ip == TRIAL_YES,
		.address = point->address,
		.bias = prog->points.bias,
		.entries = prog->set->entries,
		.counter = {.wanted = set_prog_counts(prog),
			    .map_fd = prog->set->counters,
			    .by_cookie = way_has_cookie(way),
			    .index = (uint32_t)prog->places[i].number},
	};
}

struct prologue_way form_way(const struct set_prog *prog, const struct form *form)
{
	struct prologue_way way = place_way(prog, form->point, form->way);

	way.direct = form->direct;
	return way;
}

/* ---- what speaks against a way ---- */

/* Reads ftrace's list for the definition's functions, once. */
static struct error *read_functions(struct chooser *c)
{
	const struct probe_def *def = &c->prog->def;
	if (c->functions_read)
		return NULL;
	c->functions_read = true;
	/* What the compiler made of a function has a name that goes on. */
	_cleanup_free_ char *glob = def->function && !def->is_glob
					    ? text_format("%s*", def->function)
					    : strdup(def->function ? def->function : "*");
	if (!glob)
		return error_nomem();
	TRY(sys_kfuncs_match(NULL, glob, &c->functions));
	/* The first of each name: they are sorted. */
	for (size_t i = c->functions.v.n; i-- > 0;)
		if (!strmap_put(&c->traceable, c->functions.v.v[i].name,
				(void *)(uintptr_t)(i + 1)))
			return error_nomem();
	return NULL;
}

/* Of several functions of a name ftrace may know some. Its addresses may be behind an endbr. */
static bool is_traceable(const struct chooser *c, const struct probe_point *point)
{
	enum {
		MAX_LEAD = 16,
	};
	size_t i = (size_t)(uintptr_t)strmap_get(&c->traceable, point->function);

	if (c->functions.unsure)
		return true;
	for (; i && i <= c->functions.v.n; i++) {
		const struct sys_kfunc *func = &c->functions.v.v[i - 1];

		if (strcmp(func->name, point->function))
			return false;
		if (!func->addr || !point->address || func->ambiguous ||
		    (func->addr >= point->address && func->addr - point->address <= MAX_LEAD))
			return true;
	}
	return false;
}

/* NULL: nothing; else a text, the caller's. */
static char *obstacle(struct chooser *c, size_t i, enum probe_way way)
{
	const struct prologue_way how = place_way(c->prog, i, way);
	_cleanup_free_ struct fetch_value *values = calloc(c->prog->shape.n + 1, sizeof(*values));

	if (!values)
		return strdup("no memory");
	place_values(c->prog, i, values);
	const char *why = prologue_obstacle(values, c->prog->shape.n, &how);
	return why ? strdup(why) : NULL;
}

static bool is_function_edge(const struct probe_point *point)
{
	return !point->inlined && (point->at_return || !point->offset);
}

static struct error *against_untraceable(struct chooser *c, const struct probe_point *point,
					 char **why)
{
	TRY(read_functions(c));
	if (!is_traceable(c, point))
		*why = strdup(
			"the function cannot be traced (it is not in available_filter_functions)");
	return NULL;
}

static struct error *against_ftrace(struct chooser *c, const struct probe_point *point, char **why)
{
	if (!is_function_edge(point)) {
		*why = strdup("it is not at a function's entry or return");
		return NULL;
	}
	return against_untraceable(c, point, why);
}

static struct error *against_fentry(struct chooser *c, size_t i, char **why)
{
	const struct probe_point *point = &c->prog->points.v[i];
	const bool forced = c->prog->set->opts.way == PROBE_WAY_FENTRY;

	TRY(against_ftrace(c, point, why));
	if (*why)
		return NULL;
	*why = obstacle(c, i, PROBE_WAY_FENTRY);
	if (*why)
		return NULL;
	if (!point->btf_id) {
		*why = strdup("the function is not in the kernel's BTF, or not unique there");
		return NULL;
	}
	if (point->n_words > MAX_FENTRY_WORDS) {
		*why = strdup("it has too many parameters");
		return NULL;
	}
	/* Unless nothing else has what is asked for. */
	_cleanup_free_ char *other = obstacle(c, i, PROBE_WAY_KPROBE);
	if (!forced && !other && c->n_fentry > PROBE_FENTRY_MOST) {
		*why = text_format("each function would need a program of its own, and there are "
				   "%zu (at most %d)",
				   c->n_fentry, PROBE_FENTRY_MOST);
		return NULL;
	}
	/* The loader finds a module's function, and says why if it cannot be. */
	if (point->module) {
		if (!forced && !other)
			*why = strdup("it is a function of a module");
		return NULL;
	}
	*why = trial_fentry(&c->prog->set->trials, point->btf_id, point->at_return);
	return NULL;
}

static struct error *against_kprobe_multi(struct chooser *c, size_t i, char **why)
{
	const struct probe_point *point = &c->prog->points.v[i];

	if (!trial_kprobe_multi(&c->prog->set->trials)) {
		const char *reason = c->prog->set->trials.no_kprobe_multi;

		*why = strdup(reason && *reason ? reason : "this kernel does not support it");
		return NULL;
	}
	TRY(against_ftrace(c, point, why));
	if (!*why)
		*why = obstacle(c, i, PROBE_WAY_KPROBE_MULTI);
	return NULL;
}

static bool has_probes(bool kernel)
{
	uint32_t type;
	struct error *err = sys_pmu_type(NULL, kernel ? "kprobe" : "uprobe", &type);

	error_free(err);
	return !err || sys_probe_possible(NULL, kernel);
}

/*
 * The kernel refuses kprobes in functions that ftrace does not know, too (unless built with
 * CONFIG_KPROBE_EVENTS_ON_NOTRACE): those of a glob are not even tried, one by one.
 */
static struct error *against_probe(struct chooser *c, size_t i, enum probe_way way, char **why)
{
	if (!has_probes(c->kernel)) {
		*why = text_format("this kernel has no %ss", c->kernel ? "kprobe" : "uprobe");
		return NULL;
	}
	*why = obstacle(c, i, way);
	if (*why || !c->kernel || !c->prog->def.is_glob)
		return NULL;
	return against_untraceable(c, &c->prog->points.v[i], why);
}

static struct error *against_uprobe_multi(struct chooser *c, size_t i, char **why)
{
	if (!sys_bpf_has(SYS_BPF_UPROBE_MULTI))
		*why = strdup("this kernel does not support it, or its pid filter selects a thread "
			      "(before Linux 6.10)");
	else
		*why = obstacle(c, i, PROBE_WAY_UPROBE_MULTI);
	return NULL;
}

static struct error *against(struct chooser *c, size_t i, enum probe_way way, char **why)
{
	switch (way) {
	case PROBE_WAY_FENTRY:
		return against_fentry(c, i, why);
	case PROBE_WAY_KPROBE_MULTI:
		return against_kprobe_multi(c, i, why);
	case PROBE_WAY_UPROBE_MULTI:
		return against_uprobe_multi(c, i, why);
	default:
		return against_probe(c, i, way, why);
	}
}

/* ---- choosing ---- */

static struct error *note(struct chooser *c, enum probe_way way, const char *why,
			  const char *function)
{
	struct reason *reason;

	vec_for_each (reason, &c->reasons) {
		if (reason->way == way && !strcmp(reason->why, why)) {
			reason->n++;
			return NULL;
		}
	}
	reason = vec_push(&c->reasons);
	if (!reason)
		return error_nomem();
	*reason = (struct reason){.way = way, .why = strdup(why), .first = function, .n = 1};
	return reason->why ? NULL : error_nomem();
}

static const enum probe_way *ways_of(bool kernel, size_t *n)
{
	static const enum probe_way in_kernel[] = {PROBE_WAY_FENTRY, PROBE_WAY_KPROBE_MULTI,
						   PROBE_WAY_KPROBE};
	static const enum probe_way of_users[] = {PROBE_WAY_UPROBE_MULTI, PROBE_WAY_UPROBE};

	*n = kernel ? ARRAY_SIZE(in_kernel) : ARRAY_SIZE(of_users);
	return kernel ? in_kernel : of_users;
}

/* Whether there is a perf event of a probe that is attached so. */
static bool has_event(enum probe_way way)
{
	return way == PROBE_WAY_KPROBE || way == PROBE_WAY_UPROBE;
}

static struct error *choose_one(struct chooser *c, size_t i)
{
	const enum probe_way forced = c->prog->set->opts.way;
	const struct probe_point *point = &c->prog->points.v[i];
	struct place *place = &c->prog->places[i];
	size_t n;
	const enum probe_way *ways = ways_of(c->kernel, &n);

	if (point->refused)
		return place_refuse(place, "%s", point->refused);
	for (size_t k = 0; k < n; k++) {
		_cleanup_free_ char *why = NULL;

		if ((forced && ways[k] != forced) ||
		    (c->prog->set->opts.events && !has_event(ways[k])))
			continue;
		TRY(against(c, i, ways[k], &why));
		if (!why) {
			place->way = ways[k];
			return NULL;
		}
		TRY(note(c, ways[k], why, point->shown ? point->shown : point->function));
		TRY(place_refuse(place, "%s%s%s: %s", place->refused ? place->refused : "",
				 place->refused ? "; " : "", probe_way_name(ways[k]), why));
	}
	return NULL;
}

static struct error *check_forced(const struct chooser *c)
{
	const enum probe_way forced = c->prog->set->opts.way;
	size_t n;
	const enum probe_way *ways = ways_of(c->kernel, &n);

	for (size_t i = 0; i < n; i++)
		if (!forced || ways[i] == forced)
			return NULL;
	return error_hint(error_new(EINVAL, "attach method %s does not work for %s",
				    probe_way_name(forced), c->kernel ? "the kernel" : "a process"),
			  c->kernel ? "use fentry, kprobe.multi or kprobe"
				    : "use uprobe.multi or uprobe");
}

static void count_fentry(struct chooser *c)
{
	for (size_t i = 0; c->kernel && i < c->prog->points.n; i++)
		c->n_fentry +=
			c->prog->points.v[i].btf_id && is_function_edge(&c->prog->points.v[i]);
}

/* ---- forms ---- */

static bool needs_own_form(const struct set_prog *prog, enum probe_way way)
{
	return way == PROBE_WAY_FENTRY || (set_prog_counts(prog) && !way_has_cookie(way));
}

static bool form_fits(const struct set_prog *prog, const struct form *form, size_t i,
		      const struct fetch_value *values, struct fetch_value *others)
{
	const struct probe_point *point = &prog->points.v[i], *first = &prog->points.v[form->point];

	if (form->way != prog->places[i].way || form->at_return != point->at_return)
		return false;
	place_values(prog, form->point, others);
	if (!fetch_values_equal(values, others, prog->shape.n))
		return false;
	return !prog->points.path || point->address == first->address ||
	       !uses(values, prog->shape.n, FETCH_STATIC);
}

static struct error *form_for(struct set_prog *prog, size_t i, struct u64map *known,
			      struct fetch_value *values)
{
	const struct probe_point *point = &prog->points.v[i];
	struct place *place = &prog->places[i];

	place_values(prog, i, values);
	uint64_t key = hash_u64(fetch_values_hash(values, prog->shape.n) ^
				((uint64_t)place->way << 1 | point->at_return));
	const bool is_static = prog->points.path && uses(values, prog->shape.n, FETCH_STATIC);
	if (is_static)
		key ^= hash_u64(point->address);
	if (point->at_return && (is_static || prog->shape.prologue.ip_offset >= 0))
		trial_func_ip(&prog->set->trials);
	const size_t seen = (size_t)(uintptr_t)u64map_get(known, key);
	const bool own = needs_own_form(prog, place->way);
	if (!own && seen &&
	    form_fits(prog, &prog->forms.v[seen - 1], i, values, values + prog->shape.n)) {
		place->form = seen - 1;
		prog->forms.v[place->form].n_points++;
		return NULL;
	}
	struct form *form = vec_push(&prog->forms);
	if (!form)
		return error_nomem();
	*form = (struct form){
		.way = place->way, .at_return = point->at_return, .point = i, .n_points = 1};
	place->form = prog->forms.n - 1;
	if (!own && !u64map_put(known, key, (void *)(uintptr_t)prog->forms.n))
		return error_nomem();
	return NULL;
}

static struct error *find_forms(struct set_prog *prog)
{
	_cleanup_(u64map_deinit) struct u64map known = {0};
	_cleanup_free_ struct fetch_value *values = calloc(prog->shape.n * 2 + 1, sizeof(*values));

	if (!values)
		return error_nomem();
	for (size_t i = 0; i < prog->points.n; i++)
		if (prog->places[i].way)
			TRY(form_for(prog, i, &known, values));
	return NULL;
}

static void tell(const struct chooser *c)
{
	const struct set_prog *prog = c->prog;
	const struct log *log = prog->set->opts.log;
	const char *name = bpf_program__name(prog->prog);
	size_t by_way[PROBE_WAY_UPROBE + 1] = {0};
	const struct reason *reason;

	for (size_t i = 0; i < prog->points.n; i++)
		by_way[prog->places[i].way]++;
	for (int way = PROBE_WAY_FENTRY; way <= PROBE_WAY_UPROBE; way++)
		if (by_way[way])
			log_info(log, "program %s: %zu probe point%s by %s", name, by_way[way],
				 by_way[way] == 1 ? "" : "s", probe_way_name((enum probe_way)way));
	vec_for_each (reason, &c->reasons) {
		if (reason->n == 1)
			log_info(log, "program %s: %s not by %s: %s", name, reason->first,
				 probe_way_name(reason->way), reason->why);
		else
			log_info(log, "program %s: %s and %zu more not by %s: %s", name,
				 reason->first, reason->n - 1, probe_way_name(reason->way),
				 reason->why);
	}
	log_info(log, "program %s: %zu probe point%s, %zu program instance%s", name, prog->points.n,
		 prog->points.n == 1 ? "" : "s", prog->forms.n, prog->forms.n == 1 ? "" : "s");
}

struct error *places_choose(struct set_prog *prog)
{
	_cleanup_(chooser_deinit) struct chooser c = {.prog = prog, .kernel = !prog->points.path};

	if (!regs_of(prog->points.machine))
		return error_new(EOPNOTSUPP,
				 "the binary is for an unsupported architecture (ELF machine %u)",
				 prog->points.machine);
	TRY(check_forced(&c));
	count_fentry(&c);
	for (size_t i = 0; i < prog->points.n; i++)
		TRY(choose_one(&c, i));
	TRY(find_forms(prog));
	TRY(forms_try_direct(prog));
	tell(&c);
	if (prog->forms.n || prog->set->opts.only_plan)
		return NULL;
	return error_new(EOPNOTSUPP, "none of its probe points can be attached: %s",
			 prog->places[0].refused);
}
