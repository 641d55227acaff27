/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file of the tags of programs that may be loaded: one of 16 hexadecimal digits a line, then
 * anything; blank lines, and what follows '#', are left out.
 */
#ifndef PB_WATCH_TAG_LIST_H
#define PB_WATCH_TAG_LIST_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"

struct tag_list;

/* Fails with EINVAL if a line does not begin with a tag: FILE:LINE. */
struct error *tag_list_read(const char *path, struct tag_list **out);
void tag_list_free(struct tag_list *list);
DEFINE_FREEP(struct tag_list, tag_list_free)

bool tag_list_has(const struct tag_list *list, const uint8_t tag[BPF_TAG_SIZE]);

#endif
