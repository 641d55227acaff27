// SPDX-License-Identifier: BSD-2-Clause
#include "lib/sys/missing_caps.h"

#include <string.h>
#include <unistd.h>

#include "lib/base/strbuf.h"
#include "lib/sys/internal.h"

static const struct {
	enum sys_cap cap;
	const char *name;
} cap_names[] = {
	{SYS_CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"},
	{SYS_CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
	{SYS_CAP_SYSLOG, "CAP_SYSLOG"},
	{SYS_CAP_BPF, "CAP_BPF"},
	{SYS_CAP_PERFMON, "CAP_PERFMON"},
};

bool sys_in_user_namespace(const struct sys_roots *roots)
{
	/* PROC_USER_INIT_INO of include/linux/proc_ns.h, part of the ABI since 6.18. */
	static const char initial[] = "user:[4026531837]";
	_cleanup_free_ char *path = text_format("%s/self/ns/user", roots_or_default(roots)->proc);
	char name[64];

	if (!path)
		return false;
	ssize_t n = readlink(path, name, sizeof(name) - 1);
	if (n <= 0) /* without user namespaces there is only one */
		return false;
	name[n] = '\0';
	return strcmp(name, initial) != 0;
}

uint64_t sys_caps_missing(const struct sys_roots *roots, uint64_t wanted)
{
	uint64_t caps = 0;

	if (sys_in_user_namespace(roots))
		return wanted;
	error_free(sys_capabilities(roots, &caps));
	if (caps & SYS_CAP(SYS_CAP_SYS_ADMIN))
		caps |= SYS_CAP(SYS_CAP_PERFMON) | SYS_CAP(SYS_CAP_BPF);
	return wanted & ~caps;
}

static void add_names(struct strbuf *text, uint64_t caps)
{
	const char *between = "";

	for (size_t i = 0; i < ARRAY_SIZE(cap_names); i++) {
		if (!(caps & SYS_CAP(cap_names[i].cap)))
			continue;
		strbuf_addf(text, "%s%s", between, cap_names[i].name);
		between = " and ";
	}
}

char *sys_caps_advice(const struct sys_roots *roots, uint64_t wanted, const char *other_way)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const uint64_t missing = sys_caps_missing(roots, wanted);

	if (!missing) {
		strbuf_adds(&text, "this process has ");
		add_names(&text, wanted);
		strbuf_adds(&text, ": the kernel's lockdown, a security module or a container's "
				   "seccomp filter denies it");
	} else if (sys_in_user_namespace(roots)) {
		strbuf_adds(&text, SYS_OUTSIDE_OF_USER_NS ", as root or with ");
		add_names(&text, missing);
	} else {
		strbuf_adds(&text, "run as root or with ");
		add_names(&text, missing);
	}
	if (other_way)
		strbuf_addf(&text, ", or %s", other_way);
	return strbuf_steal(&text);
}

struct error *sys_hint_caps(struct error *err, const struct sys_roots *roots, uint64_t wanted,
			    const char *other_way)
{
	if (!err)
		return NULL;
	_cleanup_free_ char *advice = sys_caps_advice(roots, wanted, other_way);

	return advice ? error_hint(err, "%s", advice) : err;
}
