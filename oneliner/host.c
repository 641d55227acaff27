// SPDX-License-Identifier: BSD-2-Clause
/* What programs need to know of the running kernel. */
#include "lib/sys/tracefs.h"
#include "oneliner/oneliner.h"
#include "perf/select/select.h"
#include "syscalls/call_constant.h"

static struct error *match(void *ctx, const char *system, const char *name, struct names *found)
{
	(void)ctx;
	if (glob_is_pattern(system) || glob_is_pattern(name))
		return sys_tracepoint_match(NULL, system, name, found);
	uint64_t id;

	TRY(sys_tracepoint_id(NULL, system, name, &id));
	_cleanup_strbuf_ struct strbuf full = STRBUF_INIT;
	strbuf_addf(&full, "%s:%s", system, name);
	return !strbuf_failed(&full) && names_add(found, strbuf_str(&full)) ? NULL : error_nomem();
}

static struct error *format(void *ctx, const char *system, const char *name, char **text,
			    size_t *size)
{
	(void)ctx;
	return sys_tracepoint_format(NULL, system, name, text, size);
}

static bool constant(const char *name, uint64_t *value)
{
	return call_constant_find(name, NULL, value);
}

const struct oneliner_env oneliner_host = {
	.match = match, .format = format, .is_sampled = select_is_name, .constant = constant};
