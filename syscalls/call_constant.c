// SPDX-License-Identifier: BSD-2-Clause
#include "syscalls/call_constant.h"

#include <signal.h>
#include <string.h>

#include "syscalls/arg_kind.h"
#include "syscalls/flag_set.h"

enum {
	ERRNO_MAX = 4095,
};

bool call_constant_find(const char *name, const struct arg_kind *prefer, uint64_t *v)
{
	if (!strcmp(name, "AT_FDCWD")) {
		*v = (uint64_t)-100;
		return true;
	}
	for (int pass = prefer ? 0 : 1; pass < 2; pass++)
		for (unsigned set = 0; set < SETS; set++) {
			if (!pass && set != prefer->set && set != flag_sets[prefer->set].base)
				continue;
			for (size_t i = 0; i < flag_sets[set].n; i++)
				if (!strcmp(flag_sets[set].names[i].name, name)) {
					*v = flag_sets[set].names[i].value;
					return true;
				}
		}
	for (int i = 1; name[0] == 'E' && i <= ERRNO_MAX; i++) {
		const char *err = strerrorname_np(i);

		if (err && !strcmp(err, name)) {
			*v = (uint64_t)i;
			return true;
		}
	}
	for (int i = 1; !strncmp(name, "SIG", 3) && i < NSIG; i++) {
		const char *sig = sigabbrev_np(i);

		if (sig && !strcmp(sig, name + 3)) {
			*v = (uint64_t)i;
			return true;
		}
	}
	return false;
}
