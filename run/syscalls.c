// SPDX-License-Identifier: BSD-2-Clause
#include "run/syscalls.h"

#include "syscalls/call_names.h"

enum {
	CALL_32_BIT = 1u << 31, /* PERF_BPF_SYSCALL_32 of <bpf/perf_bpf_prog.h> */
	CALL_X32 = 1 << 30,	/* the kernel's __X32_SYSCALL_BIT */
};

bool syscall_add_name(uint32_t nr, struct strbuf *out)
{
	const uint32_t low = nr & ~(uint32_t)(CALL_32_BIT | CALL_X32);
	const char *name;

	if (nr == UINT32_MAX)
		return false; /* -1: a tracer skipped the call */
	if (nr & CALL_32_BIT) {
		name = call_name(TRACE_ABI_32, low);
		strbuf_adds(out, "32-bit ");
	} else if (nr & CALL_X32) {
		name = call_name(TRACE_ABI_X32, low);
		strbuf_adds(out, "x32 ");
	} else {
		name = call_name(TRACE_ABI_NATIVE, low);
		if (!name)
			return false;
	}
	if (name)
		strbuf_adds(out, name);
	else
		strbuf_add_u64(out, low);
	return true;
}
