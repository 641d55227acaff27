/* SPDX-License-Identifier: BSD-2-Clause */
/* BTF as C text. See also btf_dump__* in <bpf/btf.h>. */
#ifndef PB_BTF_DUMP_H
#define PB_BTF_DUMP_H

#include "lib/base/strbuf.h"
#include "lib/btf/open.h"

/*
 * Appends a vmlinux.h: all types of btf (and of its base) as one header that
 * compiles, with an include guard, and with preserve_access_index applied to
 * all structs, so that a BPF program's accesses are relocated (CO-RE).
 */
struct error *btf_dump_vmlinux(const struct btf *btf, struct strbuf *out);

#endif
