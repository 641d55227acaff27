/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BTF from files and from the kernel: the I/O that lib/btf does without. The
 * btf__parse*() and btf__load*() of <bpf/btf.h> are made of these.
 */
#ifndef PB_OBJECT_BTF_LOAD_H
#define PB_OBJECT_BTF_LOAD_H

#include "lib/btf/ext.h"

/*
 * Raw BTF, or an ELF file with a .BTF section. base may be NULL; ext may be
 * NULL, else it gets the .BTF.ext (NULL: there is none). ENODATA: ELF without
 * .BTF; EPROTO: neither.
 */
struct error *btf_load_file(const char *path, const struct btf *base, struct btf **out,
			    struct btf_ext **ext);

/*
 * The running kernel's, mapped when it can be. sysfs names another root than
 * /sys, NULL: that; what stands in it is then all that is tried.
 */
struct error *btf_load_vmlinux(const char *sysfs, struct btf **out);

/* A module's; ENOENT with near names: it has none, or is not loaded. */
struct error *btf_load_module(const char *sysfs, const char *module, const struct btf *vmlinux,
			      struct btf **out);

/* What the kernel holds by id (needs CAP_SYS_ADMIN); base may be NULL. */
struct error *btf_load_by_id(uint32_t id, const struct btf *base, struct btf **out);

#endif
