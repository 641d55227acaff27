// SPDX-License-Identifier: BSD-2-Clause
/*
 * -F as perf script reads it. "comm,ip" replaces the fields of every type of
 * event, "+addr,-dso" changes them, "sw:comm,ip" speaks of one type only. A
 * field that a type cannot have is left out for that type when all types are
 * spoken of, and an error when that type is.
 */
#include "perf/print/script_fields.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/names.h"
#include "lib/base/strbuf.h"

static const struct {
	const char *name;
	uint64_t field;
} names[] = {
	{"comm", FIELD_COMM},
	{"tid", FIELD_TID},
	{"pid", FIELD_PID},
	{"time", FIELD_TIME},
	{"tod", FIELD_TOD},
	{"cpu", FIELD_CPU},
	{"event", FIELD_EVENT},
	{"trace", FIELD_TRACE},
	{"ip", FIELD_IP},
	{"sym", FIELD_SYM},
	{"dso", FIELD_DSO},
	{"dsoff", FIELD_DSOFF},
	{"addr", FIELD_ADDR},
	{"symoff", FIELD_SYMOFF},
	{"period", FIELD_PERIOD},
	{"iregs", FIELD_IREGS},
	{"uregs", FIELD_UREGS},
	{"weight", FIELD_WEIGHT},
	{"ins_lat", FIELD_INS_LAT},
	{"retire_lat", FIELD_RETIRE_LAT},
	{"brstack", FIELD_BRSTACK},
	{"brstacksym", FIELD_BRSTACKSYM},
	{"brstackoff", FIELD_BRSTACKOFF},
	{"data_src", FIELD_DATA_SRC},
	{"bpf-output", FIELD_BPF_OUTPUT},
	{"phys_addr", FIELD_PHYS_ADDR},
	{"misc", FIELD_MISC},
	{"data_page_size", FIELD_DATA_PAGE_SIZE},
	{"code_page_size", FIELD_CODE_PAGE_SIZE},
	{"flags", FIELD_FLAGS},
	{"cgroup", FIELD_CGROUP},
	{"unit", FIELD_UNIT},
	{"container", FIELD_CONTAINER},
	{"pod", FIELD_POD},
	{"srcline", FIELD_SRCLINE},
	{"insn", FIELD_INSN},
	{"insnlen", FIELD_INSNLEN},
	{"disasm", FIELD_DISASM},
	{"brstackinsn", FIELD_BRSTACKINSN},
	{"brstackinsnlen", FIELD_BRSTACKINSNLEN},
	{"brstackdisasm", FIELD_BRSTACKDISASM},
	{"srccode", FIELD_SRCCODE},
	{"ipc", FIELD_IPC},
};

/* Fields of perf script that need what perf-bpf does not record. */
static const char *const foreign[] = {
	"callindent", "synth", "metric", "machine_pid", "vcpu",
};

static const struct {
	const char *prefix;
	enum field_type type;
	const char *events;
} types[] = {
	{"hw", FIELD_TYPE_HARDWARE, "hardware"},	{"sw", FIELD_TYPE_SOFTWARE, "software"},
	{"trace", FIELD_TYPE_TRACEPOINT, "tracepoint"}, {"raw", FIELD_TYPE_RAW, "raw"},
	{"break", FIELD_TYPE_BREAKPOINT, "breakpoint"},
};

enum field_type field_type_of(uint32_t attr_type)
{
	return attr_type < FIELD_TYPE_OTHER ? (enum field_type)attr_type : FIELD_TYPE_OTHER;
}

const char *field_name(uint64_t field)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].field == field)
			return names[i].name;
	return "?";
}

bool field_choice_has(const struct field_choice *c, uint64_t field)
{
	uint64_t fields = 0;

	for (size_t i = 0; i < FIELD_N_TYPES; i++)
		fields |= c->type[i].fields;
	return fields & field;
}

static uint64_t invalid_fields(enum field_type type)
{
	switch (type) {
	case FIELD_TYPE_TRACEPOINT:
		return 0;
	case FIELD_TYPE_SOFTWARE:
		return FIELD_TRACE;
	default:
		return FIELD_TRACE | FIELD_BPF_OUTPUT;
	}
}

void field_choice_init(struct field_choice *c)
{
	const uint64_t all = FIELD_COMM | FIELD_TID | FIELD_CPU | FIELD_TIME | FIELD_EVENT;
	const uint64_t place = FIELD_IP | FIELD_SYM | FIELD_SYMOFF | FIELD_DSO | FIELD_PERIOD;

	*c = (struct field_choice){0};
	for (int i = 0; i < FIELD_N_TYPES; i++)
		c->type[i].fields = all | place;
	c->type[FIELD_TYPE_SOFTWARE].fields |= FIELD_BPF_OUTPUT;
	c->type[FIELD_TYPE_TRACEPOINT].fields = all | FIELD_TRACE;
	c->type[FIELD_TYPE_RAW].fields |= FIELD_ADDR | FIELD_DATA_SRC | FIELD_WEIGHT |
					  FIELD_INS_LAT | FIELD_PHYS_ADDR | FIELD_DATA_PAGE_SIZE |
					  FIELD_CODE_PAGE_SIZE;
}

static struct error *unknown_field(const char *name)
{
	_cleanup_strbuf_ struct strbuf list = STRBUF_INIT;
	struct nearest near = nearest_make(name);

	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++)
		if (!strcmp(foreign[i], name))
			return error_hint(error_new(EOPNOTSUPP,
						    "perf-bpf script does not support field '%s'",
						    name),
					  "'perf script -F' supports it for the same file");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		nearest_offer(&near, names[i].name);
		strbuf_addf(&list, "%s%s", i ? ", " : "", names[i].name);
	}
	struct error *err = error_new(EINVAL, "unknown field '%s'", name);
	return error_suggest_and(err, &near, "the fields are %s", strbuf_str(&list));
}

static struct error *find_field(const char *name, uint64_t *field)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i].name, name)) {
			*field = names[i].field;
			return NULL;
		}
	return unknown_field(name);
}

/* "sw:" and so on; *arg moves past it. FIELD_N_TYPES: all types. */
static struct error *take_type(const char **arg, enum field_type *type, const char **events)
{
	const char *colon = strchr(*arg, ':');

	*type = FIELD_N_TYPES;
	if (!colon)
		return NULL;
	size_t len = (size_t)(colon - *arg);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (strlen(types[i].prefix) == len && !strncmp(*arg, types[i].prefix, len)) {
			*type = types[i].type;
			*events = types[i].events;
			*arg = colon + 1;
			return NULL;
		}
	struct error *err = error_new(EINVAL, "unknown event type '%.*s'", (int)len, *arg);
	return error_hint(err, "the types are hw, sw, trace, raw and break");
}

static struct error *apply(struct field_choice *c, enum field_type type, const char *events,
			   uint64_t field, const char *name, bool remove, const struct log *log)
{
	if (field == FIELD_FLAGS) {
		c->flags = !remove;
		return NULL;
	}
	for (int i = 0; i < FIELD_N_TYPES; i++) {
		if (type != FIELD_N_TYPES && i != (int)type)
			continue;
		if (invalid_fields((enum field_type)i) & field) {
			if (type != FIELD_N_TYPES)
				return error_new(EINVAL,
						 "field '%s' is not available for %s events", name,
						 events);
			log_info(log,
				 "field '%s' is not available for events of type %d and is skipped "
				 "there",
				 name, i);
			continue;
		}
		if (remove) {
			c->type[i].fields &= ~field;
			c->type[i].wanted &= ~field;
			c->type[i].unwanted |= field;
		} else {
			c->type[i].fields |= field;
			c->type[i].unwanted &= ~field;
			if (type == FIELD_N_TYPES)
				c->type[i].wanted |= field;
		}
		c->type[i].user_set = true;
	}
	return NULL;
}

struct error *field_choice_parse(struct field_choice *c, const char *arg, const struct log *log)
{
	enum field_type type;
	const char *events = NULL;
	enum { DEFAULT, SET, ADD, REMOVE } change = DEFAULT;

	if (!*arg)
		return error_new(EINVAL, "at least one field is required");
	TRY(take_type(&arg, &type, &events));
	/* A sign anywhere keeps the defaults; perf takes the one in bpf-output for one, too. */
	for (int i = 0; i < FIELD_N_TYPES && !strpbrk(arg, "+-"); i++)
		if (type == FIELD_N_TYPES || i == (int)type) {
			c->type[i].fields = 0;
			c->type[i].user_set = true;
			c->type[i].by_type = type != FIELD_N_TYPES && !*arg;
		}

	_cleanup_free_ char *copy = strdup(arg);
	char *save = NULL;
	if (!copy)
		return error_nomem();
	for (char *tok = strtok_r(copy, ",", &save); tok; tok = strtok_r(NULL, ",", &save)) {
		uint64_t field = 0;
		int before = change;

		if (*tok == '+' || *tok == '-') {
			change = *tok == '+' ? ADD : REMOVE;
			tok++;
			if (before == SET)
				return error_new(
					EINVAL,
					"+%s or -%s cannot be mixed with fields without a sign",
					tok, tok);
		} else {
			if (before != SET && before != DEFAULT)
				return error_new(EINVAL,
						 "'%s' without a sign cannot be mixed with +fields "
						 "or -fields",
						 tok);
			change = SET;
		}
		TRY(find_field(tok, &field));
		if (field == FIELD_DSOFF && change != REMOVE)
			field |= FIELD_DSO;
		TRY(apply(c, type, events, field, tok, change == REMOVE, log));
	}
	return NULL;
}
