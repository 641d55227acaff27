/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is loaded in the kernel (maps, programs, links, BTF), found as
 * bpftool's users name it: "id 12", "name counts", "pinned /sys/fs/bpf/m",
 * "tag 196688fc503e5a05" of a program; and, shorter, 12, counts or a path.
 */
#ifndef PB_INSPECT_FIND_H
#define PB_INSPECT_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/names.h"

enum kobj_kind {
	KOBJ_MAP,
	KOBJ_PROG,
	KOBJ_LINK,
	KOBJ_BTF,
	KOBJ_KINDS,
};

struct kobj_ids {
	uint32_t *v; /* ascending */
	size_t n;
	size_t cap;
};

void kobj_ids_deinit(struct kobj_ids *ids);
#define _cleanup_kobj_ids_ __attribute__((cleanup(kobj_ids_deinit)))

/* All of a kind. EPERM, with a hint: it takes root. */
struct error *kobj_ids_all(enum kobj_kind kind, struct kobj_ids *ids);

/* A descriptor, the caller's to close. ENOENT: it is gone; that is not an error worth a hint. */
int kobj_open(enum kobj_kind kind, uint32_t id);

/*
 * What the words name, at least one; *used: how many of the n words it took.
 * ENOENT: nothing is called so, with near names; an error of usage: the words are wrong.
 */
struct error *kobj_find(enum kobj_kind kind, char *const *words, size_t n, size_t *used,
			struct kobj_ids *ids);

/* The same, for what takes exactly one. ENOTUNIQ: several are called so, with their ids. */
struct error *kobj_find_one(enum kobj_kind kind, char *const *words, size_t n, size_t *used,
			    int *fd);

#endif
