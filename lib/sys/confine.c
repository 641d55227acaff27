// SPDX-License-Identifier: BSD-2-Clause
#include "lib/sys/confine_internal.h"

struct error *confine(const struct confine_opts *opts, struct confined *done)
{
	struct confined now = {0};

	TRY(confine_capabilities(opts->keep, &now));
	if (opts->landlock)
		TRY(confine_files(opts, &now));
	now.any_call = opts->calls & CONFINE_ANY;
	if (!now.any_call)
		TRY(confine_calls(opts, &now));
	now.can_write = opts->calls & CONFINE_WRITE;
	*done = now;
	return NULL;
}

void confined_text(const struct confined *done, struct strbuf *out)
{
	if (done->kept) {
		strbuf_adds(out, "capabilities kept: ");
		capabilities_text(done->kept, out);
	} else {
		strbuf_adds(out, "no capabilities");
	}
	strbuf_addf(out, "; system calls are %s; ",
		    done->seccomp    ? "filtered"
		    : done->any_call ? "not filtered"
				     : "not filtered (the kernel has no seccomp)");
	if (done->landlock_abi)
		strbuf_addf(out, "files are read-only%s (Landlock ABI %d)",
			    done->can_write ? " except in the directories of the output files" : "",
			    done->landlock_abi);
	else if (!done->can_write && done->seccomp)
		strbuf_adds(out, "files cannot be opened for writing");
	else
		strbuf_adds(out, "Landlock is not used");
}
