// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sort keys and columns. How a list of keys becomes an order and a table is
 * perf's (tools/perf/util/sort.c, ui/hist.c of Linux 6.1), with its corners:
 *
 *	- a key may be abbreviated; the first in the table that fits counts
 *	- the overhead comes before the keys, "overhead_children" before it
 *	- "+key" adds to the default
 *	- what is sorted by is also shown, and the other way round, after what
 *	  was asked for
 *	- a key that is none of them may be a field of a recorded tracepoint
 *	- --sort with "symbol" spelled out gets a column of dashes, which in
 *	  perf holds instructions per cycle when there are branch records
 */
#include "perf/hist/internal.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "lib/base/names.h"

/* In perf's order of look-up: abbreviations depend on it. */
static const struct {
	const char *name;
	enum hist_field field;
} keys[] = {
	{"pid", HIST_PID},
	{"comm", HIST_COMM},
	{"comm_nodigit", HIST_COMM_NODIGIT},
	{"dso", HIST_DSO},
	{"symbol", HIST_SYMBOL},
	{"parent", HIST_PARENT},
	{"cpu", HIST_CPU},
	{"socket", HIST_SOCKET},
	{"srcline", HIST_SRCLINE},
	{"srcfile", HIST_SRCFILE},
	{"local_weight", HIST_LOCAL_WEIGHT},
	{"weight", HIST_WEIGHT},
	{"trace", HIST_TRACE},
	{"symbol_size", HIST_SYMBOL_SIZE},
	{"dso_size", HIST_DSO_SIZE},
	{"ipc_null", HIST_IPC_NULL},
	{"cgroup", HIST_CGROUP},
	{"cgroup_id", HIST_CGROUP_ID},
	{"time", HIST_TIME},
	{"code_page_size", HIST_CODE_PAGE_SIZE},
	{"local_ins_lat", HIST_LOCAL_INS_LAT},
	{"ins_lat", HIST_INS_LAT},
	{"addr", HIST_ADDR},
	{"parallelism", HIST_PARALLELISM},
	{"transaction", HIST_TRANSACTION},
	{"local_retire_lat", HIST_LOCAL_RETIRE_LAT},
	{"retire_lat", HIST_RETIRE_LAT},
	{"local_p_stage_cyc", HIST_LOCAL_RETIRE_LAT}, /* perf has both names */
	{"p_stage_cyc", HIST_RETIRE_LAT},
	{"dso_from", HIST_DSO_FROM},
	{"dso_to", HIST_DSO_TO},
	{"symbol_from", HIST_SYMBOL_FROM},
	{"symbol_to", HIST_SYMBOL_TO},
	{"mispredict", HIST_MISPREDICT},
	{"in_tx", HIST_IN_TX},
	{"abort", HIST_ABORT},
	{"cycles", HIST_CYCLES},
	{"srcline_from", HIST_SRCLINE_FROM},
	{"srcline_to", HIST_SRCLINE_TO},
	{"ipc_lbr", HIST_IPC_LBR},
	{"addr_from", HIST_ADDR_FROM},
	{"addr_to", HIST_ADDR_TO},
	{"callchain_branch_predicted", HIST_CHAIN_PREDICTED},
	{"callchain_branch_abort", HIST_CHAIN_ABORT},
	{"callchain_branch_cycles", HIST_CHAIN_CYCLES},
	{"symbol_daddr", HIST_SYMBOL_DADDR},
	{"dso_daddr", HIST_DSO_DADDR},
	{"locked", HIST_LOCKED},
	{"tlb", HIST_TLB},
	{"mem", HIST_MEM},
	{"snoop", HIST_SNOOP},
	{"dcacheline", HIST_DCACHELINE},
	{"symbol_iaddr", HIST_SYMBOL_IADDR},
	{"phys_daddr", HIST_PHYS_DADDR},
	{"data_page_size", HIST_DATA_PAGE_SIZE},
	{"blocked", HIST_BLOCKED},
	{"tid", HIST_TID},
	{"unit", HIST_UNIT},
	{"container", HIST_CONTAINER},
	{"pod", HIST_POD},
	{"overhead", HIST_OVERHEAD},
	{"latency", HIST_LATENCY},
	{"overhead_sys", HIST_OVERHEAD_SYS},
	{"overhead_us", HIST_OVERHEAD_US},
	{"overhead_guest_sys", HIST_OVERHEAD_GUEST_SYS},
	{"overhead_guest_us", HIST_OVERHEAD_GUEST_US},
	{"overhead_children", HIST_OVERHEAD_CHILDREN},
	{"latency_children", HIST_LATENCY_CHILDREN},
	{"sample", HIST_SAMPLE},
	{"period", HIST_PERIOD},
};

static bool is_of_branches(enum hist_field field)
{
	return field >= HIST_DSO_FROM && field <= HIST_ADDR_TO;
}

static bool is_of_history(enum hist_field field)
{
	return field >= HIST_CHAIN_PREDICTED && field <= HIST_CHAIN_CYCLES;
}

/* A diff has no measures among its keys. */
static bool is_offered(const struct hist_spec_opts *opts, size_t i)
{
	return (!opts->diff || keys[i].field >= HIST_N_MEASURES) &&
	       (opts->branches || !is_of_branches(keys[i].field)) &&
	       (opts->branch_history || !is_of_history(keys[i].field)) &&
	       (opts->accesses || !hist_is_of_accesses(keys[i].field));
}

/* For columns that perf adds by itself. */
static bool is_named(const struct hist_spec_opts *opts, size_t i)
{
	return is_offered(opts, i) && keys[i].field != HIST_IPC_NULL &&
	       keys[i].field != HIST_IPC_LBR;
}

/* Lists the valid sort keys, "comm, dso, …", for help texts. */
static void hist_field_names(const struct hist_spec_opts *opts, struct strbuf *sb)
{
	const char *sep = "";

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!is_named(opts, i))
			continue;
		strbuf_addf(sb, "%s%s", sep, keys[i].name);
		sep = ", ";
	}
}

static struct error *unknown_key(const struct hist_spec_opts *opts, const char *token, size_t len,
				 const char *what)
{
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	_cleanup_free_ char *copy = strndup(token, len);

	if (!copy)
		return error_nomem();
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (is_of_branches(keys[i].field) && !strcasecmp(copy, keys[i].name))
			return error_hint(
				error_usage("%s '%s' is of branches", what, copy),
				"use report --branch-stack with a recording of record -b");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (hist_is_of_accesses(keys[i].field) && !strcasecmp(copy, keys[i].name))
			return error_hint(error_usage("%s '%s' is of accesses to memory", what,
						      copy),
					  "use report --mem-mode with a recording of record -d");
	struct nearest near = nearest_make(copy);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (is_named(opts, i))
			nearest_offer(&near, keys[i].name);
	if (opts->each_field)
		opts->each_field(opts->field_ctx, &near);
	hist_field_names(opts, &all);
	return error_suggest_and(error_usage("unknown %s '%s'", what, copy), &near,
				 "the keys are: %s", strbuf_str(&all));
}

/* "[EVENT.]FIELD[/raw]"; false: it is not so. */
static bool dynamic_parse(const char *token, size_t len, struct hist_dynamic *out)
{
	const char *dot = memrchr(token, '.', len), *end = token + len;
	const char *field = dot ? dot + 1 : token;

	*out = (struct hist_dynamic){0};
	if (end - field > 4 && !memcmp(end - 4, "/raw", 4)) {
		out->raw = true;
		end -= 4;
	}
	if (end == field || (size_t)(end - field) >= sizeof(out->field) ||
	    (dot && (size_t)(dot - token) >= sizeof(out->event)))
		return false;
	memcpy(out->field, field, end - field);
	if (dot)
		memcpy(out->event, token, dot - token);
	return true;
}

static struct error *dynamic_push(struct hist_spec *spec, const struct hist_dynamic *d,
				  enum hist_field *field)
{
	for (size_t i = 0; i < spec->n_dynamic; i++) {
		if (memcmp(&spec->dynamic[i], d, sizeof(*d)))
			continue;
		*field = HIST_DYNAMIC + i;
		return NULL;
	}
	if (spec->n_dynamic == HIST_MAX_DYNAMIC)
		return error_new(E2BIG, "more than %d event fields as sort keys", HIST_MAX_DYNAMIC);
	*field = HIST_DYNAMIC + spec->n_dynamic;
	spec->dynamic[spec->n_dynamic++] = *d;
	return NULL;
}

/* A key of the recording's own: a field of one of its events. */
static struct error *dynamic_add(struct hist_spec *spec, const struct hist_spec_opts *opts,
				 const char *token, size_t len, const char *what,
				 enum hist_field *field)
{
	struct hist_dynamic d;

	if (!opts->has_field || !dynamic_parse(token, len, &d) ||
	    !opts->has_field(opts->field_ctx, &d))
		return unknown_key(opts, token, len, what);
	d.raw |= opts->raw_trace;
	return dynamic_push(spec, &d, field);
}

/* "trace_fields[/raw]", "EVENT.*[/raw]": all fields, whatever their names are. */
static bool is_all_fields(const struct hist_spec_opts *opts, const char *token, size_t len,
			  struct hist_dynamic *out)
{
	if (!opts->n_fields || !dynamic_parse(token, len, out))
		return false;
	/* as perf, which then takes no notice of the event */
	if (!strcmp(out->field, "trace_fields"))
		*out->event = 0;
	else if (strcmp(out->field, "*") || !*out->event)
		return false;
	*out->field = 0;
	return true;
}

static bool list_has(const enum hist_field *list, size_t n, enum hist_field field)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == field)
			return true;
	return false;
}

/* false: it is there already. */
static bool list_add(enum hist_field *list, size_t *n, enum hist_field field)
{
	if (list_has(list, *n, field) || *n == HIST_MAX_FIELDS)
		return false;
	list[(*n)++] = field;
	return true;
}

/* "ret" is a field of many events, and was one before there was a key retire_lat. */
static bool yields_to_field(const struct hist_spec_opts *opts, size_t i, const char *token,
			    size_t len)
{
	struct hist_dynamic d;

	return keys[i].field == HIST_RETIRE_LAT && len < strlen(keys[i].name) && opts->has_field &&
	       dynamic_parse(token, len, &d) && opts->has_field(opts->field_ctx, &d);
}

static struct error *add_all_fields(struct hist_spec *spec, const struct hist_spec_opts *opts,
				    const struct hist_dynamic *all, enum hist_field *list,
				    size_t *n, int level)
{
	struct hist_dynamic d = *all;
	enum hist_field field = HIST_N_FIELDS;

	d.raw |= opts->raw_trace;
	for (d.nth = 1; d.nth <= opts->n_fields(opts->field_ctx, all); d.nth++) {
		TRY(dynamic_push(spec, &d, &field));
		if (list_add(list, n, field))
			spec->level[field] = (int8_t)level;
	}
	return NULL;
}

static struct error *parse_keys(struct hist_spec *spec, const struct hist_spec_opts *opts,
				const char *text, const char *what, enum hist_field *list,
				size_t *n, int level)
{
	bool is_level = false; /* within braces, whose keys are one */
	struct hist_dynamic all;

	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "{}, "), i;

		for (i = 0; len && i < ARRAY_SIZE(keys); i++)
			if (!strncasecmp(p, keys[i].name, len) && is_offered(opts, i) &&
			    !yields_to_field(opts, i, p, len))
				break;
		if (len && i == ARRAY_SIZE(keys) && is_all_fields(opts, p, len, &all)) {
			TRY(add_all_fields(spec, opts, &all, list, n, level));
		} else if (len) {
			enum hist_field field = HIST_N_FIELDS;

			if (i < ARRAY_SIZE(keys))
				field = keys[i].field;
			else
				TRY(dynamic_add(spec, opts, p, len, what, &field));
			if (list_add(list, n, field))
				spec->level[field] = (int8_t)level;
		}
		p += len;
		level = min_of(level + !is_level, INT8_MAX);
		is_level = *p == '{' || (is_level && *p != '}');
		p += *p != 0;
	}
	return NULL;
}

static bool is_strict(const char *order)
{
	return order && *order != '+';
}

static const char *default_order(const struct hist_spec_opts *opts)
{
	return opts->diff	? "dso,symbol"
	       : opts->accesses ? "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,"
				  "locked,blocked,local_ins_lat,local_p_stage_cyc"
	       : opts->branches ? "comm,dso_from,symbol_from,symbol_to,cycles"
	       : opts->tracepoints_only ? (opts->raw_trace ? "trace_fields" : "trace")
					: "comm,dso,symbol";
}

static struct error *check_plus(const char *order, const char *option)
{
	if (order && order[0] == '+' && !order[1])
		return error_hint(error_usage("%s '+' is not followed by a key", option),
				  "write '+KEY' to add a key to the default ones");
	return NULL;
}

/*
 * perf 7.2's, where latencies are known: what is preferred comes first, and a key that names the
 * one or the other is enough.
 */
static void add_measures(struct hist_spec *spec, const struct hist_spec_opts *opts,
			 const char *order, bool *has_overhead)
{
	const bool has_latency = strstr(order, "latency");
	const bool prefer = opts->prefer_latency;

	if (!prefer && (*has_overhead || has_latency)) {
		*has_overhead = true;
		return;
	}
	if (prefer && opts->children && !strstr(order, "latency_children"))
		list_add(spec->sort, &spec->n_sort, HIST_LATENCY_CHILDREN);
	if (opts->children && !strstr(order, "overhead_children"))
		list_add(spec->sort, &spec->n_sort, HIST_OVERHEAD_CHILDREN);
	if (!prefer && opts->children)
		list_add(spec->sort, &spec->n_sort, HIST_LATENCY_CHILDREN);
	if (prefer && !has_latency)
		list_add(spec->sort, &spec->n_sort, HIST_LATENCY);
	if (!*has_overhead)
		list_add(spec->sort, &spec->n_sort, HIST_OVERHEAD);
	if (!prefer)
		list_add(spec->sort, &spec->n_sort, HIST_LATENCY);
}

static struct error *setup_sort(struct hist_spec *spec, const struct hist_spec_opts *opts)
{
	_cleanup_strbuf_ struct strbuf order = STRBUF_INIT;

	if (!opts->sort && is_strict(opts->fields))
		return NULL;
	if (!is_strict(opts->sort))
		strbuf_adds(&order, default_order(opts));
	if (opts->sort && !is_strict(opts->sort))
		strbuf_addf(&order, ",%s", opts->sort + 1);
	else if (opts->sort)
		strbuf_adds(&order, opts->sort);
	if (opts->sort && strstr(opts->sort, "symbol") && !opts->diff)
		strbuf_adds(&order, opts->branches ? ",ipc_lbr" : ",ipc_null");
	if (strbuf_failed(&order))
		return error_nomem();
	bool has_overhead = strstr(strbuf_str(&order), "overhead") || opts->diff;
	if (opts->has_switches && !opts->diff) {
		/* perf adds measures to the keys even if the columns are given. */
		add_measures(spec, opts, strbuf_str(&order), &has_overhead);
	} else if (!is_strict(opts->fields)) {
		bool children = opts->children && !opts->diff &&
				!strstr(strbuf_str(&order), "overhead_children");

		if (children)
			list_add(spec->sort, &spec->n_sort, HIST_OVERHEAD_CHILDREN);
		if (!has_overhead)
			list_add(spec->sort, &spec->n_sort, HIST_OVERHEAD);
	}
	return parse_keys(spec, opts, strbuf_str(&order), "sort key", spec->sort, &spec->n_sort,
			  !has_overhead);
}

/* The measures that add_measures() has added. */
static void show_measures(struct hist_spec *spec, const struct hist_spec_opts *opts)
{
	static const enum hist_field overhead_first[] = {
		HIST_OVERHEAD_CHILDREN, HIST_LATENCY_CHILDREN, HIST_OVERHEAD, HIST_LATENCY};
	static const enum hist_field latency_first[] = {
		HIST_LATENCY_CHILDREN, HIST_OVERHEAD_CHILDREN, HIST_LATENCY, HIST_OVERHEAD};
	const enum hist_field *order = opts->prefer_latency ? latency_first : overhead_first;

	for (size_t i = 0; i < ARRAY_SIZE(overhead_first); i++)
		if (list_has(spec->sort, spec->n_sort, order[i]))
			list_add(spec->out, &spec->n_out, order[i]);
}

static struct error *setup_columns(struct hist_spec *spec, const struct hist_spec_opts *opts)
{
	if (!is_strict(opts->fields) && !opts->diff) {
		spec->says_self = opts->children;
		if (opts->has_switches) {
			show_measures(spec, opts);
		} else {
			if (opts->children)
				list_add(spec->out, &spec->n_out, HIST_OVERHEAD_CHILDREN);
			list_add(spec->out, &spec->n_out, HIST_OVERHEAD);
		}
		if (opts->show_cpu_utilization) {
			list_add(spec->out, &spec->n_out, HIST_OVERHEAD_SYS);
			list_add(spec->out, &spec->n_out, HIST_OVERHEAD_US);
		}
		if (opts->show_nr_samples)
			list_add(spec->out, &spec->n_out, HIST_SAMPLE);
		if (opts->show_total_period)
			list_add(spec->out, &spec->n_out, HIST_PERIOD);
	}
	if (opts->fields)
		TRY(parse_keys(spec, opts, opts->fields + !is_strict(opts->fields), "field",
			       spec->out, &spec->n_out, 0));
	for (size_t i = 0; i < spec->n_sort; i++)
		list_add(spec->out, &spec->n_out, spec->sort[i]);
	for (size_t i = 0; i < spec->n_out; i++)
		list_add(spec->sort, &spec->n_sort, spec->out[i]);
	return NULL;
}

struct error *hist_spec_init(struct hist_spec *spec, const struct hist_spec_opts *given)
{
	struct hist_spec_opts opts = {0};
	struct hist_spec made = {
		.max_stack = 127,
		.time_quantum = 100000000,
		.chain = {.mode = CHAIN_GRAPH, .min_percent = 0.5},
	};

	memcpy(&opts, given, min_of(given->sz, sizeof(opts)));
	made.hierarchy = opts.hierarchy;
	made.as_collected = opts.diff;
	made.branches = opts.branches;
	made.blocks = opts.blocks;
	made.branch_history = opts.branch_history;
	made.accesses = opts.accesses;
	made.order = is_strict(opts.sort) ? opts.sort : default_order(&opts);
	made.more_order = opts.sort && !is_strict(opts.sort) ? opts.sort + 1 : NULL;
	made.children = opts.children &= !opts.hierarchy && !opts.branches && !opts.accesses;
	made.strict_fields = is_strict(opts.fields);
	TRY(check_plus(opts.sort, "--sort"));
	TRY(check_plus(opts.fields, "--fields"));
	TRY(setup_sort(&made, &opts));
	if (opts.add_parent)
		if (list_add(made.sort, &made.n_sort, HIST_PARENT))
			made.level[HIST_PARENT] = -1;
	TRY(setup_columns(&made, &opts));
	for (size_t i = 0; i < made.n_sort; i++)
		made.has[made.sort[i]] = true;
	/* Callers are frames of functions, whose addresses are not kept. */
	if (made.has[HIST_ADDR])
		hist_spec_cancel_children(&made);
	*spec = made;
	return NULL;
}

void hist_spec_cancel_children(struct hist_spec *spec)
{
	size_t n = 0;
	bool strict = !spec->says_self;

	spec->children = spec->says_self = false;
	/* Columns that were asked for by name stay, with nothing to tell. */
	if (strict)
		return;
	for (size_t i = 0; i < spec->n_out; i++)
		if (spec->out[i] != HIST_OVERHEAD_CHILDREN && spec->out[i] != HIST_LATENCY_CHILDREN)
			spec->out[n++] = spec->out[i];
	spec->n_out = n;
}

void hist_spec_cancel_latency(struct hist_spec *spec, const char *sort)
{
	size_t n = 0;

	if (spec->strict_fields || (sort && strstr(sort, "latency")))
		return;
	for (size_t i = 0; i < spec->n_out; i++)
		if (spec->out[i] != HIST_LATENCY && spec->out[i] != HIST_LATENCY_CHILDREN)
			spec->out[n++] = spec->out[i];
	spec->n_out = n;
}

const char *hist_field_name(enum hist_field field)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].field == field)
			return keys[i].name;
	return "";
}

const char *hist_field_title(const struct hist_spec *spec, enum hist_field field)
{
	static const char *const titles[] = {
		[HIST_OVERHEAD] = "Overhead",
		[HIST_OVERHEAD_SYS] = "sys",
		[HIST_OVERHEAD_US] = "usr",
		[HIST_OVERHEAD_GUEST_SYS] = "guest sys",
		[HIST_OVERHEAD_GUEST_US] = "guest usr",
		[HIST_OVERHEAD_CHILDREN] = "Children",
		[HIST_LATENCY] = "Latency",
		[HIST_LATENCY_CHILDREN] = "Latency",
		[HIST_SAMPLE] = "Samples",
		[HIST_PERIOD] = "Period",
		[HIST_PID] = "    Pid:Command",
		[HIST_TID] = "    Tid:Command",
		[HIST_COMM] = "Command",
		[HIST_DSO] = "Shared Object",
		[HIST_SYMBOL] = "Symbol",
		[HIST_PARENT] = "Parent symbol",
		[HIST_CPU] = "CPU",
		[HIST_TRACE] = "Trace output",
		[HIST_CHAIN_PREDICTED] = "Predicted",
		[HIST_CHAIN_ABORT] = "Abort",
		[HIST_CHAIN_CYCLES] = "Cycles",
		[HIST_IPC_NULL] = "IPC   [IPC Coverage]",
		[HIST_TIME] = "Time",
		[HIST_CGROUP] = "Cgroup",
		[HIST_UNIT] = "Unit",
		[HIST_CONTAINER] = "Container",
		[HIST_POD] = "Pod",
		[HIST_SYMBOL_SIZE] = "Symbol size",
		[HIST_ADDR] = "Address",
		[HIST_DSO_SIZE] = "DSO size",
		[HIST_LOCAL_WEIGHT] = "Local Weight",
		[HIST_WEIGHT] = "Weight",
		[HIST_LOCAL_INS_LAT] = "Local INSTR Latency",
		[HIST_INS_LAT] = "INSTR Latency",
		[HIST_CODE_PAGE_SIZE] = "Code Page Size",
		[HIST_COMM_NODIGIT] = "CommandNoDigit",
		[HIST_SRCLINE] = "Source:Line",
		[HIST_SRCFILE] = "Source File",
		[HIST_SOCKET] = "Socket",
		[HIST_CGROUP_ID] = "cgroup id (dev/inode)",
		[HIST_PARALLELISM] = "Parallelism",
		[HIST_TRANSACTION] = "Transaction",
		[HIST_LOCAL_RETIRE_LAT] = "Local Retire Latency",
		[HIST_RETIRE_LAT] = "Retire Latency",
		[HIST_DSO_FROM] = "Source Shared Object",
		[HIST_DSO_TO] = "Target Shared Object",
		[HIST_SYMBOL_FROM] = "Source Symbol",
		[HIST_SYMBOL_TO] = "Target Symbol",
		[HIST_MISPREDICT] = "Branch Mispredicted",
		[HIST_IN_TX] = "Branch in transaction",
		[HIST_ABORT] = "Transaction abort",
		[HIST_CYCLES] = "Basic Block Cycles",
		[HIST_SRCLINE_FROM] = "From Source:Line",
		[HIST_SRCLINE_TO] = "To Source:Line",
		[HIST_IPC_LBR] = "IPC   [IPC Coverage]",
		[HIST_ADDR_FROM] = "Source Address",
		[HIST_ADDR_TO] = "Target Address",
		[HIST_SYMBOL_DADDR] = "Data Symbol",
		[HIST_DSO_DADDR] = "Data Object",
		[HIST_LOCKED] = "Locked",
		[HIST_TLB] = "TLB access",
		[HIST_MEM] = "Memory access",
		[HIST_SNOOP] = "Snoop",
		[HIST_DCACHELINE] = "Data Cacheline",
		[HIST_SYMBOL_IADDR] = "Code Symbol",
		[HIST_PHYS_DADDR] = "Data Physical Address",
		[HIST_DATA_PAGE_SIZE] = "Data Page Size",
		[HIST_BLOCKED] = "Blocked",
	};

	if (field >= HIST_DYNAMIC)
		return spec->dynamic[field - HIST_DYNAMIC].field;
	return field == HIST_OVERHEAD && spec->says_self ? "Self" : titles[field];
}

const char *hist_dso_name(const struct hist_spec *spec, const struct dso *dso)
{
	return !dso ? "[unknown]" : spec->long_dso ? dso->path : dso->short_name;
}

static int cmp_null(const void *a, const void *b)
{
	return !a && !b ? 0 : !a ? -1 : 1;
}

static int64_t dso_cmp(const struct hist_entry *a, const struct hist_entry *b)
{
	const char *na = a->frame->dso_name, *nb = b->frame->dso_name;

	if (!na || !nb)
		return cmp_null(na, nb);
	return na == nb ? 0 : strcmp(nb, na);
}

/* In the other order than DSOs of samples. */
static int64_t end_dso_cmp(const struct hist_branch_end *a, const struct hist_branch_end *b)
{
	const char *na = a->frame->dso_name, *nb = b->frame->dso_name;

	if (!na || !nb)
		return cmp_null(nb, na);
	return na == nb ? 0 : strcmp(na, nb);
}

static int64_t end_addr_cmp(const struct hist_branch_end *a, const struct hist_branch_end *b)
{
	const int64_t cmp = end_dso_cmp(a, b);

	return cmp ? cmp : (int64_t)(b->addr - a->addr);
}

static int64_t end_symbol_cmp(const struct hist_branch_end *a, const struct hist_branch_end *b)
{
	const struct symbol *sa = a->frame->sym, *sb = b->frame->sym;

	if (!sa && !sb)
		return (int64_t)(b->addr - a->addr);
	if (!sa || !sb)
		return cmp_null(sa, sb);
	if (sa->start != sb->start)
		return (int64_t)(sb->start - sa->start);
	if (sa->end != sb->end || a->frame->sym_name == b->frame->sym_name)
		return (int64_t)(sb->end - sa->end);
	/* As of samples: perf takes them for one. */
	return strcmp(b->frame->sym_name, a->frame->sym_name);
}

static int64_t symbol_cmp(const struct hist_spec *spec, const struct hist_entry *a,
			  const struct hist_entry *b)
{
	const struct symbol *sa = a->frame->sym, *sb = b->frame->sym;

	if (!sa && !sb)
		return (int64_t)(b->ip - a->ip);
	if (!spec->has[HIST_DSO]) {
		int64_t cmp = dso_cmp(a, b);

		if (cmp)
			return cmp;
	}
	if (!sa || !sb)
		return cmp_null(sa, sb);
	/* What is inlined has the addresses of what it is inlined in. */
	if ((sa->inlined || sb->inlined) && a->frame->sym_name != b->frame->sym_name)
		return strcmp(a->frame->sym_name, b->frame->sym_name);
	if (sa->start != sb->start)
		return (int64_t)(sb->start - sa->start);
	if (sa->end != sb->end || a->frame->sym_name == b->frame->sym_name)
		return (int64_t)(sb->end - sa->end);
	/* perf takes them for one, but another build at the same path has other names there. */
	return strcmp(b->frame->sym_name, a->frame->sym_name);
}

static int u64_cmp(uint64_t a, uint64_t b)
{
	return a > b ? 1 : a < b ? -1 : 0;
}

static int64_t value_cmp(const struct hist_value *a, const struct hist_value *b)
{
	if (!a || !b || a == b)
		return a == b ? 0 : cmp_null(a, b);
	if (a->kind == HIST_VALUE_TEXT || b->kind == HIST_VALUE_TEXT)
		return strcmp(a->text, b->text);
	if (a->kind == HIST_VALUE_SIGNED && b->kind == HIST_VALUE_SIGNED)
		return u64_cmp(a->number ^ 1ull << 63, b->number ^ 1ull << 63);
	return u64_cmp(a->number, b->number);
}

const char *hist_cgroup_text(const struct session_cgroup *cgroup, enum hist_field field)
{
	if (!cgroup)
		return "";
	return field == HIST_UNIT  ? cgroup->unit
	       : field == HIST_POD ? cgroup->pod
				   : cgroup->container;
}

void hist_comm_strip_digits(const char *comm, struct strbuf *out)
{
	for (const char *c = comm; *c; c++)
		if (!isdigit((unsigned char)*c))
			strbuf_addch(out, *c);
}

void hist_comm_mark_digits(const char *comm, struct strbuf *out)
{
	for (const char *c = comm; *c; c++)
		if (!isdigit((unsigned char)*c))
			strbuf_addch(out, *c);
		else if (c == comm || !isdigit((unsigned char)c[-1]))
			strbuf_adds(out, "<N>");
}

/* As strcmp() of the names without their digits. */
static int cmp_without_digits(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (isdigit((unsigned char)*a))
			a++;
		while (isdigit((unsigned char)*b))
			b++;
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	}
}

uint64_t hist_symbol_size(const struct hist_entry *he)
{
	const struct symbol *sym = he->frame->sym;

	return sym ? sym->end - sym->start : 0;
}

static int64_t cgroup_cmp(const struct session_cgroup *a, const struct session_cgroup *b)
{
	return u64_cmp(b ? b->id : 0, a ? a->id : 0);
}

static int64_t field_cmp(const struct hist_spec *spec, enum hist_field field,
			 const struct hist_entry *a, const struct hist_entry *b)
{
	switch (field) {
	case HIST_PID:
		return (int64_t)b->thread->tid - a->thread->tid;
	case HIST_TID:
		return (int64_t)b->thread->tid - a->thread->tid;
	case HIST_COMM:
		return a->comm == b->comm ? 0 : strcmp(b->comm, a->comm);
	case HIST_COMM_NODIGIT:
		return cmp_without_digits(b->comm, a->comm);
	case HIST_DSO:
		return dso_cmp(a, b);
	case HIST_SYMBOL:
	case HIST_IPC_NULL:
	case HIST_IPC_LBR:
		return symbol_cmp(spec, a, b);
	case HIST_PARENT:
		if (!a->parent || !b->parent)
			return cmp_null(a->parent, b->parent);
		return strcmp(b->parent->name, a->parent->name);
	case HIST_CPU:
		return (int64_t)b->cpu - a->cpu;
	case HIST_TRACE:
		return !a->trace || !b->trace || a->trace == b->trace ? 0
								      : strcmp(b->trace, a->trace);
	case HIST_TIME:
		return (int64_t)(b->time - a->time);
	case HIST_CGROUP:
		return cgroup_cmp(a->cgroup, b->cgroup);
	case HIST_SOCKET:
		return (int64_t)b->numbers->socket - a->numbers->socket;
	case HIST_PARALLELISM:
		return (int64_t)(b->numbers->parallelism - a->numbers->parallelism);
	case HIST_CGROUP_ID:
		if (a->numbers->cgroup_dev != b->numbers->cgroup_dev)
			return (int64_t)(b->numbers->cgroup_dev - a->numbers->cgroup_dev);
		return (int64_t)(b->numbers->cgroup_ino - a->numbers->cgroup_ino);
	case HIST_ADDR:
		return (int64_t)(b->numbers->addr - a->numbers->addr);
	case HIST_DSO_SIZE:
		return u64_cmp(b->numbers->dso_size, a->numbers->dso_size);
	case HIST_LOCAL_WEIGHT:
	case HIST_WEIGHT:
		return (int64_t)(a->numbers->weight - b->numbers->weight);
	case HIST_LOCAL_INS_LAT:
	case HIST_INS_LAT:
		return (int64_t)(a->numbers->ins_lat - b->numbers->ins_lat);
	case HIST_LOCAL_RETIRE_LAT:
	case HIST_RETIRE_LAT:
		return (int64_t)(a->numbers->retire_lat - b->numbers->retire_lat);
	case HIST_TRANSACTION:
		return (int64_t)(a->numbers->transaction - b->numbers->transaction);
	case HIST_CODE_PAGE_SIZE:
		return (int64_t)(b->numbers->code_page_size - a->numbers->code_page_size);
	case HIST_DSO_FROM:
		return end_dso_cmp(&a->branch->from, &b->branch->from);
	case HIST_DSO_TO:
		return end_dso_cmp(&a->branch->to, &b->branch->to);
	case HIST_SYMBOL_FROM:
		return end_symbol_cmp(&a->branch->from, &b->branch->from);
	case HIST_SYMBOL_TO:
		return end_symbol_cmp(&a->branch->to, &b->branch->to);
	case HIST_ADDR_FROM:
		return end_addr_cmp(&a->branch->from, &b->branch->from);
	case HIST_ADDR_TO:
		return end_addr_cmp(&a->branch->to, &b->branch->to);
	case HIST_SRCLINE_FROM:
		return strcmp(b->branch->from.frame->srcline, a->branch->from.frame->srcline);
	case HIST_SRCLINE_TO:
		return strcmp(b->branch->to.frame->srcline, a->branch->to.frame->srcline);
	/* What differs has no order in perf: the later one is first in the report. */
	case HIST_MISPREDICT:
		return a->branch->mispredicted != b->branch->mispredicted ||
		       a->branch->predicted != b->branch->predicted;
	case HIST_IN_TX:
		return a->branch->in_transaction != b->branch->in_transaction;
	case HIST_ABORT:
		return a->branch->aborts != b->branch->aborts;
	case HIST_CYCLES:
		return (int64_t)a->branch->cycles - b->branch->cycles;
	case HIST_SYMBOL_SIZE:
		return u64_cmp(hist_symbol_size(b), hist_symbol_size(a));
	case HIST_SRCLINE:
		return strcmp(b->frame->srcline, a->frame->srcline);
	case HIST_SRCFILE:
		return strcmp(b->frame->srcfile, a->frame->srcfile);
	case HIST_UNIT:
	case HIST_CONTAINER:
	case HIST_POD:
		return strcmp(hist_cgroup_text(b->cgroup, field),
			      hist_cgroup_text(a->cgroup, field));
	default:
		if (hist_is_of_accesses(field))
			return hist_access_cmp(field, a->access, b->access);
		if (field >= HIST_DYNAMIC)
			return value_cmp(hist_entry_value(a, field - HIST_DYNAMIC),
					 hist_entry_value(b, field - HIST_DYNAMIC));
		return 0;
	}
}

int64_t hist_fields_cmp(const struct hist_spec *spec, const enum hist_field *fields, size_t n,
			const struct hist_entry *a, const struct hist_entry *b)
{
	int64_t cmp = 0;

	for (size_t i = 0; i < n && !cmp; i++)
		cmp = field_cmp(spec, fields[i], a, b);
	return cmp ? cmp : b->filtered - a->filtered;
}

int64_t hist_entry_cmp(const struct hist_spec *spec, const struct hist_entry *a,
		       const struct hist_entry *b)
{
	return hist_fields_cmp(spec, spec->sort, spec->n_sort, a, b);
}

/* Of entries with the same total the caller comes first. */
static int64_t children_cmp(const struct hist_spec *spec, enum hist_field field,
			    const struct hist_entry *a, const struct hist_entry *b)
{
	if (!spec->children)
		return 0;
	int cmp = u64_cmp(hist_entry_measure(a, field), hist_entry_measure(b, field));
	if (cmp || a->thread != b->thread || !spec->use_chain)
		return cmp;
	int64_t da = a->chain ? a->chain->depth : 0, db = b->chain ? b->chain->depth : 0;
	return spec->chain.caller ? da - db : db - da;
}

uint64_t hist_entry_measure(const struct hist_entry *he, enum hist_field field)
{
	switch (field) {
	case HIST_OVERHEAD_CHILDREN:
		return he->acc;
	case HIST_LATENCY:
		return he->stat.latency;
	case HIST_LATENCY_CHILDREN:
		return he->acc_latency;
	case HIST_OVERHEAD_SYS:
		return he->stat.sys;
	case HIST_OVERHEAD_US:
		return he->stat.us;
	case HIST_OVERHEAD_GUEST_SYS:
		return he->stat.guest_sys;
	case HIST_OVERHEAD_GUEST_US:
		return he->stat.guest_us;
	case HIST_SAMPLE:
		return he->stat.n;
	default:
		return he->stat.period;
	}
}

uint64_t hist_member_measure(const struct hist_entry *he, size_t member, enum hist_field field)
{
	const struct hist_entry *of = member < he->n_members ? he->members[member] : NULL;

	return of ? hist_entry_measure(of, field) : 0;
}

/* Of entries whose leaders are equal, the members of the group decide; or one of them first. */
static int measure_cmp(const struct hist_spec *spec, const struct hist_entry *a,
		       const struct hist_entry *b, enum hist_field field)
{
	const size_t first = spec->group_sort;
	int cmp = first && first < a->n_members
			  ? u64_cmp(hist_member_measure(a, first, field),
				    hist_member_measure(b, first, field))
			  : u64_cmp(hist_entry_measure(a, field), hist_entry_measure(b, field));

	/* As perf: a member that is not there leaves the leader alone. */
	if (first && first >= a->n_members)
		return cmp;
	for (size_t i = 1; i < a->n_members && !cmp; i++)
		cmp = u64_cmp(hist_member_measure(a, i, field), hist_member_measure(b, i, field));
	return cmp;
}

int64_t hist_entry_sort(const struct hist_spec *spec, const struct hist_entry *a,
			const struct hist_entry *b)
{
	int64_t cmp = 0;

	for (size_t i = 0; i < spec->n_sort && !cmp; i++) {
		enum hist_field field = spec->sort[i];

		if (spec->elide[field])
			continue;
		switch (field) {
		case HIST_OVERHEAD_CHILDREN:
		case HIST_LATENCY_CHILDREN:
			cmp = children_cmp(spec, field, a, b);
			break;
		case HIST_SYMBOL:
			if (!a->frame->sym || !b->frame->sym)
				cmp = cmp_null(a->frame->sym, b->frame->sym);
			else
				cmp = strcmp(b->frame->sym->name, a->frame->sym->name);
			break;
		default:
			cmp = field < HIST_N_MEASURES ? measure_cmp(spec, a, b, field)
						      : field_cmp(spec, field, a, b);
			break;
		}
	}
	return cmp;
}
